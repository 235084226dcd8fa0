//! Suggestions for misspelled names, and for names that other tools use.

use super::table::{Kind, option};

/// Returns `; tip: try ...` with the known word that is one typo away, or else with `examples`. Returns an empty string
/// if both are missing.
pub(crate) fn tip<'n>(word: &str, known: impl Iterator<Item = &'n str>, examples: &str) -> String {
    match one_slip_away(word, known).unwrap_or(examples) {
        "" => String::new(),
        tip => format!("; tip: try {tip}"),
    }
}

/// Returns a tip for the name of an option, which may come from another tool or an earlier version.
pub(crate) fn tip_for_option<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
    examples: &str,
) -> String {
    if let Some((long, _)) = replacement(name, None) {
        return format!("; tip: try {long}");
    }
    foreign(name).map_or_else(
        || tip(name, known, examples),
        |known| format!("; tip: try {known}"),
    )
}

/// Returns a tip for an unknown option on the command line. `value` is the word after it.
pub(crate) fn tip_for_flag(name: &str, value: Option<&str>) -> Option<String> {
    if let Some((long, value)) = replacement(name, value) {
        let opt = option(long);
        return Some(match (opt.kind, opt.short) {
            (Kind::Optional(_), _) => format!("try --{long}={value}"),
            (_, Some(short)) => format!("try -{short} {value}"),
            (_, None) => format!("try --{long} {value}"),
        });
    }
    let normal = normal(name);
    if let Some((_, advice)) = ADVICE
        .iter()
        .find(|(names, _)| names.split(' ').any(|known| known == normal))
    {
        return Some((*advice).to_owned());
    }
    foreign(name).map(|known| format!("try --{known}"))
}

/// Returns the option that took the place of one that is gone, and its value for the old value.
pub(crate) fn replacement(name: &str, value: Option<&str>) -> Option<(&'static str, String)> {
    let value_or = |default| value.unwrap_or(default);
    Some(match normal(name).as_str() {
        "spread" if value.is_some_and(|value| value.ends_with('%')) => {
            ("jitter", format!("proportional:{}", value_or("25%")))
        }
        "spread" => ("jitter", format!("additive:{}", value_or("1s"))),
        "slot-ceiling" => ("jitter", format!("slotted:{}", value_or("10"))),
        "max-retry-after" => ("retry-after", value_or("5m").to_owned()),
        "skipped-exit" => ("cool-off", format!("skip:{}", value_or("75"))),
        "plot" => ("plan", "plot".to_owned()),
        "no-config" => ("config", "none".to_owned()),
        "retry-signal" => ("retry-exit", value_or("SIGKILL").to_owned()),
        "stop-signal" => ("stop-exit", value_or("SIGKILL").to_owned()),
        "stop-on-timeout" => ("stop-exit", "timeout".to_owned()),
        _ => return None,
    })
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
const FOREIGN: [(&str, &str); 30] = [
    ("retries retry max-retries tries max-tries max-attempts times count number-of-attempts", "attempts, which counts the first one, too"),
    ("forever infinite loop until-success until-succeeds", "attempts unlimited"),
    ("until-fail until-failure until-error", "until failure"),
    ("always restart respawn", "until never"),
    ("interval sleep wait delay pause retry-delay poll-interval retry-interval retry-wait fixed-delay", "every"),
    ("min-delay min-wait initial-backoff base-delay initial-interval", "base"),
    ("max-wait max-interval max-backoff cap", "max-delay"),
    ("multiplier exponent backoff-factor", "factor"),
    ("max-time time-limit max-elapsed-time retry-max-time total-timeout", "deadline, or timeout for each attempt"),
    ("attempt-timeout timeout-per-attempt per-try-timeout", "timeout"),
    ("dry-run simulate preview", "plan"),
    ("retry-on retry-codes retry-code exit-code exit-codes retry-exit-code", "retry-exit"),
    ("stop-on stop-code no-retry-on", "stop-exit"),
    ("retry-on-output match grep pattern regex", "retry-match"),
    ("ignore-exit ignore-exit-code ok-exit success-code accept", "success-exit"),
    ("retry-on-timeout", "retry-exit timeout"),
    ("on-error on-fail on-failure", "on-retry, or on-give-up at the end"),
    ("before-attempt", "before-retry"),
    ("silent no-output", "quiet"),
    ("debug trace", "verbose"),
    ("log output", "log-file"),
    ("json", "log-format json"),
    ("exponential linear fibonacci constant", "growth"),
    ("no-jitter", "jitter none"),
    ("full-jitter randomize random", "jitter full"),
    ("no-color no-colour", "color never"),
    ("colour", "color"),
    ("no-progress", "progress never"),
    ("no-stdin", "stdin null"),
    ("preset tool", "for"),
];

/// Names of options that no option of backoff replaces, with advice.
const ADVICE: [(&str, &str); 7] = [
    ("on-success", "use the shell: backoff ... && COMMAND"),
    (
        "retry-all-errors retry-all all-errors",
        "leave it out: every failure is retried unless rules say otherwise",
    ),
    (
        "exec command cmd run",
        "put the command at the end: backoff [OPTION]... -- COMMAND",
    ),
    ("shell sh", "give the shell as the command: -- sh -c '...'"),
    ("env", "give env as the command: -- env NAME=VALUE COMMAND"),
    (
        "cwd workdir chdir",
        "give env as the command: -- env -C DIRECTORY COMMAND",
    ),
    ("background daemon", "use the shell: backoff ... &"),
];

#[cfg(test)]
mod tests;
