//! Finds the outer runs of backoff inside of which this one runs, from variables that they set. Retries of runs within
//! runs multiply: three attempts around three are nine.

use std::ffi::OsStr;

use crate::cli::options::Nested;
use crate::config::settings::Variables;
use crate::presets::program::is_backoff;
use crate::run::plan::Nesting;
use crate::run::variables::{AROUND, COUNTED};

/// Describes the outer runs from the variables that the innermost of them has set, and decides if this run has to warn
/// that attempts multiply. `nested` is the option `--nested`, `words` are the command. Without outer runs, as when
/// `BACKOFF_DEPTH` is no positive number, the depth is 0, and nothing else is set.
pub(crate) fn nesting(variables: &Variables, nested: Nested, words: &[&str]) -> Nesting {
    let Some(depth) = positive(variables, "BACKOFF_DEPTH") else {
        return Nesting::default();
    };
    let outer_attempts = outer_attempts(variables, depth);
    // One warning is enough for all attempts of the outer run.
    let is_first = positive(variables, "BACKOFF_ATTEMPT").is_none_or(|attempt| attempt == 1);
    // Only with a single outer attempt nothing multiplies; None means that their number is unlimited or unknown.
    let multiplies_attempts = outer_attempts != Some(1);
    Nesting {
        depth,
        // An inner backoff warns by itself; checked last, as it is the slowest step of a start.
        warns: nested == Nested::Warn && is_first && multiplies_attempts && !is_backoff(words),
        outer_attempts,
        // Name and store of the budget that has counted the outer attempt, by which the first attempt of this run, the
        // same call, is not counted again. The variable is empty, which gives None, if no budget has counted it.
        counted_budget: text(variables, COUNTED).map(str::to_owned),
        // Commands send it to servers as a key, so that anything but an ID is left out.
        root_id: text(variables, "BACKOFF_ROOT_ID")
            .filter(|id| is_uuid(id))
            .map(str::to_owned),
    }
}

/// Returns how often the outer runs may start this one: the product of the attempt limits of all of them. Returns None
/// if one has no limit, if a variable is missing or wrong, or if the product is beyond 64 bits. `depth` is their
/// number.
fn outer_attempts(variables: &Variables, depth: u64) -> Option<u64> {
    let limit_of_innermost = positive(variables, "BACKOFF_ATTEMPT_LIMIT");
    if depth == 1 {
        return limit_of_innermost;
    }
    // The product for the runs around the innermost one, which sets it only if there are any.
    let limits_around_innermost = positive(variables, AROUND)?;
    limits_around_innermost.checked_mul(limit_of_innermost?)
}

/// Returns a variable's value by its full name; an empty variable counts as unset.
pub(super) fn variable<'v>(variables: &'v Variables, name: &str) -> Option<&'v OsStr> {
    let (_, value) = variables.iter().find(|(known, _)| known == name)?;
    Some(&**value).filter(|value| !value.is_empty())
}

fn text<'v>(variables: &'v Variables, name: &str) -> Option<&'v str> {
    variable(variables, name)?.to_str()
}

/// Returns the number in a variable; None if the variable is missing, holds no number, or 0.
fn positive(variables: &Variables, name: &str) -> Option<u64> {
    text(variables, name)?
        .parse()
        .ok()
        .filter(|number| *number > 0)
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36 && id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}
