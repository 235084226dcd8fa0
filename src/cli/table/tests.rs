use super::*;

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
    for opt in OPTIONS {
        assert!(!opt.about.ends_with('.'), "{}", opt.about);
        assert_eq!(
            opt.more.contains("Repeatable"),
            matches!(opt.kind, Repeatable(_)),
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
    let is_in = |opt: &Opt, section: &str| {
        opt.heading
            .to_lowercase()
            .split(' ')
            .any(|word| word == section)
    };
    for section in SECTIONS {
        assert!(OPTIONS.iter().any(|opt| is_in(opt, section)), "{section}");
    }
    let found = |opt: &Opt| {
        SECTIONS
            .iter()
            .filter(|section| is_in(opt, section))
            .count()
    };
    assert!(OPTIONS.iter().all(|opt| found(opt) == 1));
}
