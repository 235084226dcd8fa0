//! Finds the outer runs, which are known from variables.

use std::ffi::OsString;

use super::program::wrapped_program;
use crate::config::settings::variable;
use crate::run::plan::Nesting;
use crate::run::variables::{AROUND, COUNTED};

/// Returns this run's place among nested ones. `warns` is `--nested warn`.
pub(super) fn nesting(variables: &[(OsString, OsString)], warns: bool, words: &[&str]) -> Nesting {
    let text = |name| variable(variables, name)?.to_str();
    let number = |name| text(name)?.parse().ok().filter(|number: &u64| *number > 0);
    let Some(outer) = number("BACKOFF_DEPTH") else {
        return Nesting {
            depth: 1,
            ..Nesting::default()
        };
    };
    let around = if outer == 1 { Some(1) } else { number(AROUND) };
    let limits = around.zip(number("BACKOFF_ATTEMPT_LIMIT"));
    let outer_attempts = limits.and_then(|(around, limit)| around.checked_mul(limit));
    let is_first = number("BACKOFF_ATTEMPT").is_none_or(|attempt| attempt == 1);
    // Checked last: finding the wrapped program is the slowest step of a start.
    let is_innermost = || wrapped_program(words).first() != Some(&"backoff");
    Nesting {
        depth: outer.saturating_add(1),
        warn: warns && is_first && outer_attempts != Some(1) && is_innermost(),
        outer_attempts,
        counted: text(COUNTED).map(str::to_owned),
        root_id: text("BACKOFF_ROOT_ID").filter(|id| is_uuid(id)).map(str::to_owned),
    }
}

fn is_uuid(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    text.split('-').all(is_hex) && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}
