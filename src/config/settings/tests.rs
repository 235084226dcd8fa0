use std::time::Duration;

use super::*;
use crate::options::problem::UsageError;
use crate::options::{DEADLINE, FACTOR, INITIAL_DELAY};

/// Returns the option with this long name.
fn option(long: &str) -> &'static Spec {
    OPTIONS.iter().find(|opt| opt.long == long).expect(long)
}

fn layer(source: &Source, settings: &[(&str, &str)]) -> Vec<Setting> {
    let settings = settings.iter();
    settings
        .map(|(long, text)| Setting::new(option(long), text, source.clone(), String::new()))
        .collect()
}

fn settings(flags: &[(&str, &str)], variables: &[(&str, &str)]) -> Result<Settings, UsageError> {
    let mut settings = Settings::default();
    settings.add(layer(&Source::Flag, flags))?;
    settings.add(layer(&Source::Variable, variables))?;
    Ok(settings)
}

#[test]
fn a_variable_has_the_name_of_its_option() {
    for opt in &OPTIONS {
        let name = opt.variable();
        let named = |name: &str| {
            OPTIONS
                .iter()
                .filter(|opt| opt.has_variable(name.as_bytes()))
                .count()
        };
        assert!(
            opt.has_variable(name.as_bytes()) && named(&name) == 1,
            "{name}"
        );
        for other in [
            name.to_lowercase(),
            format!("{name}S"),
            name.replace("BACKOFF_", ""),
        ] {
            assert_eq!(named(&other), 0, "{other}");
        }
    }
}

#[test]
fn a_variable_that_a_flag_overrides_is_not_read() {
    let variables = [
        ("BACKOFF_BASE".into(), "nonsense".into()),
        ("BACKOFF_FACTOR".into(), "".into()),
    ];
    let mut both = settings(&[("base", "2s")], &[]).unwrap();
    both.add_variables(&variables).unwrap();
    assert_eq!(both.get(&BASE), Ok(Some(Duration::from_secs(2))));
    let mut alone = Settings::default();
    alone.add_variables(&variables).unwrap();
    let error = alone.get(&BASE).unwrap_err();
    assert!(
        error.0.starts_with("BACKOFF_BASE: \"nonsense\" "),
        "{error}"
    );
    assert!(alone.find(&FACTOR).is_none());
}

#[test]
fn of_two_options_that_exclude_each_other_the_higher_stays() {
    for (one, other) in [
        (("growth", "linear"), ("delays", "1s")),
        (("base", "2s"), ("delays", "1s")),
        (("factor", "2"), ("delays", "1s")),
        (("jitter", "slotted:3"), ("growth", "linear")),
        (("jitter", "decorrelated"), ("delays", "1s")),
        (("quiet", "1"), ("verbose", "2")),
    ] {
        for (strong, weak) in [(one, other), (other, one)] {
            let both = settings(&[strong], &[weak]).unwrap();
            assert!(
                both.has(option(strong.0)) && !both.has(option(weak.0)),
                "{strong:?} {weak:?}"
            );
            assert!(both.shown(option(weak.0)).is_some(), "{weak:?}");
            assert!(
                settings(&[], &[strong, weak]).is_err(),
                "{strong:?} {weak:?}"
            );
        }
    }
}

#[test]
fn a_wait_before_the_first_attempt_gives_way_to_a_limit() {
    let (wait, limit) = (("initial-delay", "5"), ("deadline", "5s"));
    assert!(settings(&[wait], &[limit]).is_err() && settings(&[wait, limit], &[]).is_err());
    let both = settings(&[limit], &[wait]).unwrap();
    assert!(both.has(&DEADLINE) && !both.has(&INITIAL_DELAY));
}

#[test]
fn every_is_three_options_of_its_source() {
    let both = settings(&[("jitter", "full")], &[("every", "3s")]).unwrap();
    let shown = ["base", "growth", "jitter", "every"].map(|long| {
        both.shown(option(long))
            .map(|shown| format!("{} {}", shown.text, shown.source))
    });
    let expected = [
        Some("3s BACKOFF_EVERY"),
        Some("constant BACKOFF_EVERY"),
        Some("full --jitter"),
        None,
    ];
    assert_eq!(
        shown.map(Option::unwrap_or_default),
        expected.map(Option::unwrap_or_default)
    );
    assert_eq!(both.find(&GROWTH).unwrap().to_string(), "BACKOFF_EVERY=3s");
}
