//! Suggestions for misspelled names.

/// Returns `; did you mean "full"?` if a known word resembles `word`.
pub(crate) fn closest<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> String {
    most_like(word, known).map_or_else(String::new, |known| format!("; did you mean {known:?}?"))
}

/// Returns a suggestion for the name of an option, which may come from another tool.
pub(crate) fn did_you_mean<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    match foreign(name) {
        Some(tip) => format!("; did you mean {tip}?"),
        None => closest(name, known),
    }
}

fn most_like<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let word = normal(word);
    let likeness = |name: &str| {
        let name = normal(name);
        // Jaro rates three letters low if two of them are swapped.
        let is_a_slip = name.len() >= 3 && strsim::osa_distance(&word, &name) <= 1;
        strsim::jaro(&word, &name).max(if is_a_slip { 0.9 } else { 0.0 })
    };
    let best = known.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.75).then_some(best)
}

/// Returns the known name that is one typo away: a letter too many, too few, wrong or swapped, or in another case.
pub(crate) fn one_slip_away<'n>(name: &str, mut known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = normal(name);
    known.find(|known| match strsim::osa_distance(&name, known) {
        0 => true,
        // Everything resembles a short word, except its own letters in another order.
        1 => known.len() > 3 || strsim::levenshtein(&name, known) == 2,
        _ => false,
    })
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Returns the option for another tool's name.
pub(super) fn foreign(name: &str) -> Option<&'static str> {
    let name = normal(name);
    let found = FOREIGN
        .iter()
        .find(|(names, _)| names.split(' ').any(|known| known == name));
    found.map(|(_, tip)| *tip)
}

/// Other tools' names of options, with backoff's.
const FOREIGN: [(&str, &str); 18] = [
    (
        "retries retry max-retries tries max-tries max-attempts times count",
        "attempts, which counts the first one, too",
    ),
    (
        "forever infinite loop until-success until-succeeds",
        "attempts unlimited",
    ),
    ("until-fail until-failure until-error", "until failure"),
    ("always restart respawn", "until never"),
    ("interval sleep wait delay pause retry-delay poll-interval", "every"),
    ("min-delay min-wait initial-backoff base-delay", "base"),
    ("max-wait max-interval max-backoff cap", "max-delay"),
    ("multiplier exponent backoff-factor", "factor"),
    ("exponential linear fibonacci constant", "growth"),
    ("no-jitter random full-jitter", "jitter"),
    (
        "max-time time-limit max-elapsed-time retry-max-time",
        "deadline, or timeout for each attempt",
    ),
    ("dry-run simulate preview", "plan"),
    ("retry-on retry-codes exit-code retry-signal", "retry-exit"),
    ("retry-on-output match grep pattern", "retry-match"),
    ("on-error on-fail on-failure", "on-retry, or on-give-up at the end"),
    ("silent no-output", "quiet"),
    ("debug trace", "verbose"),
    ("json", "log-format json"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::OPTIONS;

    #[test]
    fn a_foreign_name_is_answered_with_an_option() {
        for (names, tip) in FOREIGN {
            let option = tip.split([' ', ',']).next().unwrap();
            assert!(OPTIONS.iter().any(|opt| opt.long == option), "{tip}");
            for name in names.split(' ') {
                assert!(OPTIONS.iter().all(|opt| opt.long != name), "--{name} is an option");
                assert_eq!(foreign(name), Some(tip), "--{name} stands there twice");
            }
        }
    }

    #[test]
    fn a_slip_is_one_letter() {
        let known = ["max-delay", "timeout", "for", "pty", "attempts"];
        let near = |name| one_slip_away(name, known.into_iter());
        for (slip, meant) in [
            ("MAX_DELY", "max-delay"),
            ("TIMEOUTS", "timeout"),
            ("ATTEMTPS", "attempts"),
            ("MAXDELAY", "max-delay"),
            ("Timeout", "timeout"),
            ("PYT", "pty"),
            ("FRO", "for"),
            ("For", "for"),
        ] {
            assert_eq!(near(slip), Some(meant));
        }
        for other in ["MIN_DELAY", "TIME", "FORT", "FOO", "OR", "TTY", "RETRIES", ""] {
            assert_eq!(near(other), None, "{other}");
        }
    }
}
