//! Suggestions for misspelled names, and for names that other tools use.

/// Returns `; tip: try ...` with the known word that is one typo away, or else with `examples`. Returns an empty string
/// if both are missing.
pub(crate) fn tip<'n>(word: &str, known: impl Iterator<Item = &'n str>, examples: &str) -> String {
    match one_slip_away(word, known).unwrap_or(examples) {
        "" => String::new(),
        tip => format!("; tip: try {tip}"),
    }
}

/// Returns a tip for the name of an option, which may come from another tool.
pub(crate) fn tip_for_option<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
    examples: &str,
) -> String {
    foreign(name).map_or_else(
        || tip(name, known, examples),
        |known| format!("; tip: try {known}"),
    )
}

/// Returns the known name that is one typo away: a letter too many, too few, wrong or swapped, or in another case.
pub(crate) fn one_slip_away<'n>(
    name: &str,
    mut known: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let name = normal(name);
    known.find(|known| {
        let known = normal(known);
        let begin = name
            .bytes()
            .zip(known.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let (rest, known_rest) = (&name.as_bytes()[begin..], &known.as_bytes()[begin..]);
        let from_end = rest.iter().rev().zip(known_rest.iter().rev());
        let end = from_end.take_while(|(a, b)| a == b).count();
        // The parts that differ.
        match (
            &rest[..rest.len() - end],
            &known_rest[..known_rest.len() - end],
        ) {
            ([], []) => true,
            // Two letters swapped.
            ([a, b], [c, d]) => a == d && b == c,
            // A name of up to three letters resembles too many words.
            ([], [_]) | ([_], [] | [_]) => known.len() > 3,
            _ => false,
        }
    })
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Returns the option for another tool's name, with a value or a remark.
pub(crate) fn foreign(name: &str) -> Option<&'static str> {
    let name = normal(name);
    let found = FOREIGN
        .iter()
        .find(|(names, _)| names.split(' ').any(|known| known == name));
    found.map(|(_, tip)| *tip)
}

/// Other tools' names of options, with backoff's.
#[rustfmt::skip]
const FOREIGN: [(&str, &str); 17] = [
    ("retries retry max-retries tries max-tries max-attempts times count", "attempts, which counts the first one, too"),
    ("forever infinite loop until-success until-succeeds", "attempts unlimited"),
    ("until-fail until-failure until-error", "until failure"),
    ("always restart respawn", "until never"),
    ("interval sleep wait delay pause retry-delay poll-interval", "every"),
    ("min-delay min-wait initial-backoff base-delay", "base"),
    ("max-wait max-interval max-backoff cap", "max-delay"),
    ("multiplier exponent backoff-factor", "factor"),
    ("max-time time-limit max-elapsed-time retry-max-time", "deadline, or timeout for each attempt"),
    ("dry-run simulate preview", "plan"),
    ("retry-on retry-codes exit-code retry-signal", "retry-exit"),
    ("retry-on-output match grep pattern", "retry-match"),
    ("on-error on-fail on-failure", "on-retry, or on-give-up at the end"),
    ("silent no-output", "quiet"),
    ("debug trace", "verbose"),
    ("json", "log-format json"),
    ("exponential linear fibonacci constant", "growth"),
];

#[cfg(test)]
mod tests;
