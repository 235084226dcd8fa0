//! Finds the outer runs, which are known from variables.

use super::program::is_backoff;
use crate::config::settings::{Variables, variable};
use crate::run::plan::Nesting;
use crate::run::variables::{AROUND, COUNTED};

/// Describes the outer runs from the variables of the innermost one. `warns` is `--nested warn`.
pub(crate) fn nesting(variables: &Variables, warns: bool, words: &[&str]) -> Nesting {
    let text = |name| variable(variables, name)?.to_str();
    let number = |name| text(name)?.parse().ok().filter(|number: &u64| *number > 0);
    let Some(depth) = number("BACKOFF_DEPTH") else {
        return Nesting::default();
    };
    // The outermost run sets no `BACKOFF_AROUND`, as no other limit multiplies its own.
    let around = if depth == 1 { Some(1) } else { number(AROUND) };
    let outer_attempts =
        around.and_then(|around| around.checked_mul(number("BACKOFF_ATTEMPT_LIMIT")?));
    let is_uuid =
        |id: &&str| id.len() == 36 && id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    // One warning is enough for all attempts of the outer run.
    let is_first = number("BACKOFF_ATTEMPT").is_none_or(|attempt| attempt == 1);
    Nesting {
        depth,
        // A single outer attempt multiplies nothing. An inner backoff warns by itself; checked last, as it is the
        // slowest step of a start.
        warn: warns && is_first && outer_attempts != Some(1) && !is_backoff(words),
        outer_attempts,
        counted: text(COUNTED).map(str::to_owned),
        root_id: text("BACKOFF_ROOT_ID").filter(is_uuid).map(str::to_owned),
    }
}
