//! Finds the outer runs of backoff that this one is nested in, from variables that they set. Retries of nested runs
//! multiply: three attempts within three are nine.

use std::ffi::OsStr;

use crate::cli::options::Nested;
use crate::config::settings::Variables;
use crate::presets::program::is_backoff;
use crate::run::plan::Nesting;
use crate::run::variables::{AROUND, COUNTED};

/// Describes the outer runs from the variables that the innermost of them set, and decides whether this run has to warn
/// that attempts multiply. `nested` is the option `--nested`, `words` are the command. Without outer runs, or if
/// `BACKOFF_DEPTH` is not a positive number, the depth is 0 and nothing else is set.
pub(crate) fn nesting(variables: &Variables, nested: Nested, words: &[&str]) -> Nesting {
    let Some(depth) = positive(variables, "BACKOFF_DEPTH") else {
        return Nesting::default();
    };
    let outer_attempts = outer_attempts(variables, depth);
    // One warning is enough for all attempts of the outer run.
    let is_first = positive(variables, "BACKOFF_ATTEMPT").is_none_or(|attempt| attempt == 1);
    // Nothing multiplies if there is only one outer attempt. None means that their number is unlimited or unknown.
    let multiplies_attempts = outer_attempts != Some(1);
    Nesting {
        depth,
        // A nested backoff warns by itself. Checked last, because it is the slowest step of a start.
        warns: nested == Nested::Warn && is_first && multiplies_attempts && !is_backoff(words),
        outer_attempts,
        // Name and store of the budget that counted the outer attempt, so that the first attempt of this run, which is
        // the same call, is not counted again. If no budget counted it, the variable is empty, which gives None.
        counted_budget: text(variables, COUNTED).map(str::to_owned),
        // Commands send it to servers as a key, so anything but an ID is dropped.
        root_id: text(variables, "BACKOFF_ROOT_ID")
            .filter(|id| is_uuid(id))
            .map(str::to_owned),
    }
}

/// Returns how often the outer runs may start this one, which is the product of all their attempt limits. None if one
/// has no limit, if a variable is missing or wrong, or if the product exceeds 64 bits. `depth` is their number.
fn outer_attempts(variables: &Variables, depth: u64) -> Option<u64> {
    let limit_of_innermost = positive(variables, "BACKOFF_ATTEMPT_LIMIT");
    if depth == 1 {
        return limit_of_innermost;
    }
    // The product for the runs around the innermost one, which sets it only if there are any.
    let limits_around_innermost = positive(variables, AROUND)?;
    limits_around_innermost.checked_mul(limit_of_innermost?)
}

/// Returns a variable's value by its full name. An empty variable counts as unset.
pub(super) fn variable<'v>(variables: &'v Variables, name: &str) -> Option<&'v OsStr> {
    let (_, value) = variables.iter().find(|(known, _)| known == name)?;
    Some(&**value).filter(|value| !value.is_empty())
}

fn text<'v>(variables: &'v Variables, name: &str) -> Option<&'v str> {
    variable(variables, name)?.to_str()
}

/// Returns the number in a variable. None if the variable is missing, not a number, or 0.
fn positive(variables: &Variables, name: &str) -> Option<u64> {
    text(variables, name)?
        .parse()
        .ok()
        .filter(|number| *number > 0)
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36 && id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}
