//! Finds the outer runs, which are known from variables.

use super::program::is_backoff;
use crate::config::settings::{Variables, variable};
use crate::options::Nested;
use crate::run::plan::Nesting;
use crate::run::variables::{AROUND, COUNTED};

/// Describes the outer runs from the variables that the innermost of them has set. `words` are the command.
pub(crate) fn nesting(variables: &Variables, nested: Nested, words: &[&str]) -> Nesting {
    let Some(depth) = positive(variables, "BACKOFF_DEPTH") else {
        return Nesting::default();
    };
    let outer_attempts = outer_attempts(variables, depth);
    // One warning is enough for all attempts of the outer run.
    let is_first = positive(variables, "BACKOFF_ATTEMPT").is_none_or(|attempt| attempt == 1);
    let multiplies_attempts = outer_attempts != Some(1);
    Nesting {
        depth,
        // An inner backoff warns by itself; checked last, as it is the slowest step of a start.
        warns: nested == Nested::Warn && is_first && multiplies_attempts && !is_backoff(words),
        outer_attempts,
        counted_budget: text(variables, COUNTED).map(str::to_owned),
        root_id: text(variables, "BACKOFF_ROOT_ID")
            .filter(|id| is_uuid(id))
            .map(str::to_owned),
    }
}

/// Returns the product of the attempt limits of all outer runs; None if it is unlimited or unknown.
fn outer_attempts(variables: &Variables, depth: u64) -> Option<u64> {
    let of_innermost = positive(variables, "BACKOFF_ATTEMPT_LIMIT");
    if depth == 1 {
        return of_innermost;
    }
    // The outermost run does not set this variable, as no other limit multiplies its own.
    let around_innermost = positive(variables, AROUND)?;
    around_innermost.checked_mul(of_innermost?)
}

fn text<'v>(variables: &'v Variables, name: &str) -> Option<&'v str> {
    variable(variables, name)?.to_str()
}

/// Returns the number in a variable, unless it is 0.
fn positive(variables: &Variables, name: &str) -> Option<u64> {
    text(variables, name)?
        .parse()
        .ok()
        .filter(|number| *number > 0)
}

fn is_uuid(id: &str) -> bool {
    id.len() == 36 && id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}
