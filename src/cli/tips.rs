//! Tips for options that people know from other tools.

use super::declared::variable;
use crate::text::{normal, similar, tip};

const COUNTS_FIRST: &str = ", which counts the first attempt";

/// Another tool's name, the option, and what differs.
const FOREIGN: [(&str, &str, &str); 12] = [
    ("retry", "attempts", COUNTS_FIRST),
    ("retries", "attempts", COUNTS_FIRST),
    ("max-retries", "attempts", COUNTS_FIRST),
    ("tries", "attempts", COUNTS_FIRST),
    ("max-attempts", "attempts", COUNTS_FIRST),
    ("delay", "every", ""),
    ("retry-delay", "every", ""),
    ("interval", "every", ""),
    ("wait", "every", ""),
    ("sleep", "every", ""),
    ("max-time", "deadline", ", which limits the whole run"),
    ("dry-run", "plan", ""),
];

fn foreign(name: &str) -> Option<(&'static str, &'static str)> {
    let name = normal(name);
    FOREIGN
        .iter()
        .find(|(foreign, ..)| *foreign == name)
        .map(|(_, long, difference)| (*long, *difference))
}

/// Returns a tip such as `; tip: try --every` for an unknown option that another tool has, or that is similar to one of
/// `known`.
pub(super) fn tip_for_flag<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let Some((long, difference)) = foreign(name) else {
        return Some(format!("; tip: try --{}", similar(name, known)?));
    };
    let flag = match long {
        "attempts" => "-n".to_owned(),
        "deadline" => "-d".to_owned(),
        long => format!("--{long}"),
    };
    Some(format!("; tip: try {flag}{difference}"))
}

/// Returns a tip such as `; tip: try timeout` for an unknown key of a file or topic of `--help`, or an empty string.
pub(crate) fn tip_for_name<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    match foreign(name) {
        Some((long, difference)) => format!("; tip: try {long}{difference}"),
        None => tip(name, known),
    }
}

/// Returns a tip for a variable that is named after another tool's option. `name` lacks `BACKOFF_`.
pub(crate) fn tip_for_variable(name: &str) -> Option<String> {
    let (long, difference) = foreign(name)?;
    Some(format!("try {}{difference}", variable(long)))
}
