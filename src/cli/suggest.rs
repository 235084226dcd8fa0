//! What a mistyped name may have meant.

/// `; did you mean "full"?`, where one of the known words is like this one.
pub(crate) fn closest<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> String {
    most_like(word, known).map_or_else(String::new, |known| format!("; did you mean {known:?}?"))
}

/// The same of the name of an option. `shown` is how a name and a value, which may be empty, are written there; `given` is
/// the value that stands there, if that is known.
pub(crate) fn did_you_mean<'n>(
    key: &str,
    given: Option<&str>,
    known: impl Iterator<Item = &'n str> + Clone,
    shown: impl Fn(&str, &str) -> String,
) -> String {
    if normal(key) == "on-success" {
        return "; there is none: let the shell do it, backoff -- COMMAND && NEXT".to_owned();
    }
    if let Some(guess) = guess(key)
        && known.clone().any(|name| name == guess.option)
    {
        let value = guess.value(given);
        let note = match guess.note {
            "" => "?".to_owned(),
            note => format!(", {note}?"),
        };
        return format!("; did you mean {}{note}", shown(guess.option, &value));
    }
    let likely = most_like(key, known);
    likely.map_or_else(String::new, |name| format!("; did you mean {}?", shown(name, "")))
}

fn most_like<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let word = normal(word);
    let likeness = |name: &str| {
        let name = normal(name);
        // Of three letters, two of which changed places, that measure thinks little.
        let is_a_slip = name.len() >= 3 && strsim::osa_distance(&word, &name) <= 1;
        strsim::jaro(&word, &name).max(if is_a_slip { 0.9 } else { 0.0 })
    };
    let best = known.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.75).then_some(best)
}

/// The one of these names from which this one is a single slip of the keyboard away: a letter too many, too few, wrong or
/// swapped with its neighbour, or any in the wrong case.
pub(crate) fn one_slip_away<'n>(name: &str, mut known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = normal(name);
    known.find(|known| match strsim::osa_distance(&name, known) {
        0 => true,
        // Everything is near a short word, but for its own letters in another order.
        1 => known.len() > 3 || strsim::levenshtein(&name, known) == 2,
        _ => false,
    })
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// What people call an option who know another tool.
struct Guess {
    option: &'static str,
    value: Value,
    note: &'static str,
    /// With spaces in between: as one text it costs a start nothing, where each would be an address to relocate.
    names: &'static str,
}

#[derive(Clone, Copy)]
enum Value {
    /// To be said with it; empty where nothing is.
    Is(&'static str),
    /// What was given.
    Same,
    /// The same, and one more.
    OneMore,
}

impl Guess {
    fn has(&self, name: &str) -> bool {
        self.names.split(' ').any(|known| known == name)
    }

    fn value(&self, given: Option<&str>) -> String {
        let number = given.and_then(|given| given.parse::<u64>().ok());
        let number = match self.value {
            Value::Is(value) => return value.to_owned(),
            Value::Same => number,
            Value::OneMore => number.map(|number| number.saturating_add(1)),
        };
        number.map_or_else(String::new, |number| number.to_string())
    }
}

const fn is(option: &'static str, names: &'static str) -> Guess {
    with(option, "", "", names)
}

const fn with(option: &'static str, value: &'static str, note: &'static str, names: &'static str) -> Guess {
    Guess {
        option,
        value: Value::Is(value),
        note,
        names,
    }
}

const fn attempts(value: Value, names: &'static str) -> Guess {
    Guess {
        option: "attempts",
        value,
        note: "which counts the first one as well",
        names,
    }
}

fn guess(name: &str) -> Option<&'static Guess> {
    let name = normal(name);
    GUESSES.iter().find(|guess| guess.has(&name))
}

#[rustfmt::skip]
const GUESSES: &[Guess] = &[
    attempts(Value::OneMore, "retries retry max-retries max-retry num-retries retry-count retry-max retry-limit"),
    attempts(Value::Same, "tries max-tries max-attempts num-attempts times count repeat limit"),
    with("attempts", "unlimited", "which ends with the first success",
        "until-success until-succeeds until-success-only forever infinite infinity unlimited no-limit indefinitely endless loop"),
    with("until", "failure", "", "until-failure until-fail until-fails until-error while-success invert"),
    with("until", "never", "", "always keep-going restart respawn"),
    is("every", "interval sleep wait delay pause period retry-delay retry-interval retry-wait wait-retry waitretry poll-interval wait-time fixed fixed-delay"),
    is("base", "min-delay min-wait min-interval start-delay initial-interval initial-wait initial-backoff base-delay first-delay min"),
    is("max-delay", "max-wait max-interval max-sleep max-backoff cap delay-max maximum-delay retry-max-delay"),
    is("factor", "multiplier multiply exponent backoff-factor growth-factor coefficient"),
    with("growth", "exponential", "which is the default", "exponential exponential-backoff exp backoff"),
    with("growth", "linear", "", "linear linear-backoff"),
    with("growth", "fibonacci", "", "fibonacci fib"),
    with("growth", "constant", "", "constant const"),
    with("jitter", "none", "", "no-jitter"),
    with("jitter", "full", "", "random randomize randomise full-jitter"),
    with("deadline", "", "or --timeout for each attempt",
        "max-time time-limit max-duration duration total-timeout overall-timeout max-elapsed max-elapsed-time retry-max-time total wall-time"),
    is("timeout", "attempt-timeout try-timeout per-try-timeout command-timeout max-runtime"),
    is("plan", "dry-run dryrun simulate preview explain no-op noop just-print"),
    is("retry-exit", "retry-signal retry-on retry-codes retry-code retry-on-exit retry-on-exit-code exit-code exit-codes on-exit-code"),
    with("retry-exit", "timeout", "", "retry-on-timeout"),
    with("stop-exit", "timeout", "", "stop-on-timeout no-retry-on-timeout"),
    is("stop-exit", "stop-signal stop-on abort-on fail-on no-retry-exit fatal-exit"),
    is("success-exit", "ignore-exit ignore-exit-code ok-exit success-codes success-code expect-exit"),
    is("retry-match", "retry-on-output retry-regex match grep pattern"),
    is("for", "preset presets tool"),
    with("on-retry", "", "or --on-give-up at the end", "on-error on-fail on-failure"),
    is("quiet", "silent no-output"),
    is("verbose", "debug trace"),
    with("log-format", "json", "", "json"),
    is("log-file", "log logfile"),
    with("color", "never", "", "no-color no-colour monochrome"),
    with("progress", "never", "", "no-progress"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::{OPTIONS, Takes};

    #[test]
    fn a_guess_is_answered_with_what_there_is() {
        for guess in GUESSES {
            let opt = OPTIONS.iter().find(|opt| opt.long == guess.option).expect(guess.option);
            if let (Takes::Word(_, words), Value::Is(value)) = (opt.takes, guess.value) {
                assert!(words.contains(&value), "--{} {value}", opt.long);
            }
            for name in guess.names.split(' ') {
                assert!(OPTIONS.iter().all(|opt| opt.long != name), "--{name} is an option");
                let first = GUESSES.iter().find(|other| other.has(name));
                assert!(
                    first.is_some_and(|first| std::ptr::eq(first, guess)),
                    "--{name} stands there twice"
                );
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
