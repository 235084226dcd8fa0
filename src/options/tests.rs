use super::*;
use crate::options::opt::{Heading, Kind, TOPICS};

#[test]
fn names_are_unique() {
    for (i, opt) in OPTIONS.iter().enumerate() {
        for other in &OPTIONS[i + 1..] {
            assert_ne!(opt.long, other.long);
            assert!(
                opt.short.is_none() || opt.short != other.short,
                "{}",
                opt.long
            );
        }
    }
}

#[test]
fn details_are_sentences() {
    for opt in &OPTIONS {
        assert!(!opt.about.ends_with('.'), "{}", opt.about);
        assert_eq!(
            opt.more.contains("Repeatable"),
            matches!(opt.kind, Kind::Repeatable(_)),
            "{}",
            opt.long
        );
        assert!(
            opt.more.is_empty() || opt.more.ends_with('.'),
            "{}",
            opt.long
        );
    }
}

#[test]
fn a_section_is_a_word_of_its_heading() {
    for section in Heading::ALL {
        let names = |heading: &Heading| {
            let title = heading.title().to_lowercase();
            title.split(' ').any(|word| word == section.word())
        };
        let named: Vec<Heading> = Heading::ALL.into_iter().filter(names).collect();
        assert_eq!(named, [section]);
        assert!(
            OPTIONS.iter().any(|opt| opt.heading == section),
            "{section:?}"
        );
        assert!(TOPICS.contains(&section.word()), "{section:?}");
    }
}
