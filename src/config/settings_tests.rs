use proptest::prelude::*;

use super::*;
use crate::config::implied;

fn layer(source: &Source, settings: &[(&str, &str)]) -> Settings {
    let mut layer = Settings::default();
    for (long, text) in settings {
        layer.set(long, vec![text.into()], source.clone());
    }
    layer
}

fn merged(flags: &[(&str, &str)], variables: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    settings.overlay(layer(&Source::Variable, variables));
    settings.overlay(layer(&Source::Flag, flags));
    implied::add(&mut settings);
    settings
}

/// Returns an option's text and source, as `-vv` shows them.
fn shown(settings: &Settings, long: &str) -> String {
    settings.find(long).map_or(String::new(), |setting| {
        format!("{} {}", setting.shown(), setting.source_name())
    })
}

#[test]
fn a_variable_that_is_empty_is_unset_and_one_that_a_flag_overrides_is_not_read() {
    let variables = [
        ("BACKOFF_BASE".into(), "nonsense".into()),
        ("BACKOFF_FACTOR".into(), "".into()),
        ("BACKOFF_PLAN".into(), "1".into()),
        ("BACKOFF_base".into(), "1".into()),
    ];
    let declared = Declared::all_options();
    let mut settings = Settings::from_variables(&variables, &declared);
    assert_eq!(settings.iter().count(), 1);
    let error = settings.options(&declared).unwrap_err();
    assert!(error.starts_with("BACKOFF_BASE: \"nonsense\" "), "{error}");
    settings.overlay(layer(&Source::Flag, &[("base", "2s")]));
    assert!(settings.options(&declared).is_ok());
}

#[test]
fn of_two_options_that_exclude_each_other_the_higher_stays() {
    for (one, other) in [
        (("growth", "linear"), ("delays", "1s")),
        (("base", "2s"), ("delays", "1s")),
        (("factor", "2"), ("delays", "1s")),
        (("quiet", "1"), ("verbose", "2")),
    ] {
        for (strong, weak) in [(one, other), (other, one)] {
            let both = merged(&[strong], &[weak]);
            assert!(
                shown(&both, strong.0).starts_with(strong.1),
                "{strong:?} {weak:?}"
            );
            let weak_is_set = both.find(weak.0).map(|setting| &setting.source);
            assert_ne!(weak_is_set, Some(&Source::Variable), "{strong:?} {weak:?}");
        }
    }
}

#[test]
fn every_is_three_options_of_its_source() {
    let both = merged(&[("jitter", "full")], &[("every", "3s")]);
    let found = ["base", "growth", "jitter", "every"].map(|long| shown(&both, long));
    assert_eq!(
        found,
        [
            "3s BACKOFF_EVERY",
            "constant BACKOFF_EVERY",
            "full --jitter",
            ""
        ]
    );
    let longer = merged(&[("every", "3s")], &[("base", "1s"), ("growth", "linear")]);
    assert_eq!(shown(&longer, "growth"), "constant --every");
}

#[test]
fn a_wait_before_the_first_attempt_gives_way_to_a_higher_limit_only() {
    let (wait, limit) = (("initial-delay", "5"), ("deadline", "5s"));
    assert_eq!(shown(&merged(&[limit], &[wait]), wait.0), "0 by --deadline");
    assert_eq!(
        shown(&merged(&[wait], &[limit]), wait.0),
        "5 --initial-delay"
    );
}

#[test]
fn a_limit_on_time_lifts_a_lower_limit_on_attempts() {
    let (time, attempts) = (("deadline", "5s"), ("attempts", "3"));
    for (flags, variables, expected) in [
        (&[time][..], &[attempts][..], "unlimited by --deadline"),
        (&[attempts], &[time], "3 --attempts"),
        (&[attempts, time], &[], "3 --attempts"),
        (&[("deadline", "0")], &[attempts], "3 BACKOFF_ATTEMPTS"),
        (&[("until", "never")], &[], "unlimited by --until"),
    ] {
        assert_eq!(
            shown(&merged(flags, variables), "attempts"),
            expected,
            "{flags:?}"
        );
    }
}

#[test]
fn what_options_imply_about_waits() {
    for (flags, variables, long, expected) in [
        (
            &[("delays", "1s,50s")][..],
            &[][..],
            "jitter",
            "none by --delays",
        ),
        (&[("delays", "1s,50s")], &[], "max-delay", "50s by --delays"),
        (
            &[("base", "1m")],
            &[("max-delay", "1s")],
            "max-delay",
            "1m by --base",
        ),
        (
            &[("max-delay", "1s")],
            &[("base", "1m")],
            "max-delay",
            "1s --max-delay",
        ),
        (&[("every", "1m")], &[], "max-delay", "1m by --every"),
        (&[("growth", "linear")], &[], "jitter", "full by --growth"),
        (
            &[("growth", "linear")],
            &[("jitter", "slotted:3")],
            "jitter",
            "full by --growth",
        ),
        (
            &[("growth", "linear")],
            &[("jitter", "equal")],
            "jitter",
            "equal BACKOFF_JITTER",
        ),
        (&[("jitter", "full")], &[], "factor", "2 by --jitter"),
        (
            &[("jitter", "slotted")],
            &[],
            "max-delay",
            "unlimited by --jitter",
        ),
        (&[("until", "failure")], &[], "base", "0 by --until"),
        (
            &[("until", "failure")],
            &[("base", "2s")],
            "base",
            "2s BACKOFF_BASE",
        ),
    ] {
        assert_eq!(
            shown(&merged(flags, variables), long),
            expected,
            "{flags:?} {variables:?}"
        );
    }
}

proptest! {
    #[test]
    fn the_highest_source_of_an_option_holds(
        layers in prop::collection::vec(prop::collection::vec(("(seed|label|stdin|budget|splay)", "[a-z]{1,3}"), 0..4), 4),
    ) {
        let sources = [Source::Defaults("f".into()), Source::Policy { name: "p".into(), file: "f".into() }, Source::Variable, Source::Flag];
        let mut settings = Settings::default();
        for (layer_of, source) in layers.iter().zip(&sources) {
            let texts: Vec<(&str, &str)> = layer_of.iter().map(|(long, text)| (&**long, &**text)).collect();
            settings.overlay(layer(source, &texts));
        }
        for long in ["seed", "label", "stdin", "budget", "splay"] {
            let last = layers.iter().zip(&sources).rev().find_map(|(layer, source)| {
                let (_, text) = layer.iter().rev().find(|(found, _)| found == long)?;
                Some((text.clone(), source.clone()))
            });
            let found = settings.find(long).map(|setting| (setting.shown(), setting.source.clone()));
            prop_assert_eq!(found, last);
        }
    }
}
