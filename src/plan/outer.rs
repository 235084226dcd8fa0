//! Outer runs, as known from variables.

use std::ffi::OsString;

use super::program::wrapped_program;
use crate::config::settings::variable;
use crate::run::nesting::{self, Nesting};

/// The `--nested` mode: the action under an outer backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NestedMode {
    Allow,
    Once,
    Warn,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Outer {
    /// The number of outer runs.
    pub(super) depth: u64,
    /// The attempt number of the innermost outer run; None if unknown.
    attempt: Option<u64>,
    /// The product of all outer runs' attempt limits; None if unlimited or unknown.
    attempts: Option<u64>,
    /// The budget that has counted the current attempt.
    pub(super) counted: Option<String>,
    pub(super) root_id: Option<String>,
}

impl From<&[(OsString, OsString)]> for Outer {
    fn from(variables: &[(OsString, OsString)]) -> Outer {
        let text = |name| variable(variables, name)?.to_str();
        let depth = text("BACKOFF_DEPTH").and_then(|depth| depth.parse().ok()).unwrap_or(0);
        if depth == 0 {
            return Outer::default();
        }
        let number = |name| text(name)?.parse().ok().filter(|number: &u64| *number > 0);
        let around = if depth == 1 { Some(1) } else { number(nesting::AROUND) };
        let limit = number("BACKOFF_ATTEMPT_LIMIT");
        Outer {
            depth,
            attempt: number("BACKOFF_ATTEMPT"),
            attempts: around.zip(limit).and_then(|(around, limit)| around.checked_mul(limit)),
            counted: text(nesting::COUNTED).map(str::to_owned),
            root_id: text("BACKOFF_ROOT_ID").filter(|id| is_uuid(id)).map(str::to_owned),
        }
    }
}

impl Outer {
    pub(super) fn nesting(&self, mode: NestedMode, command: &[OsString]) -> Nesting {
        Nesting {
            depth: self.depth.saturating_add(1),
            warn: mode == NestedMode::Warn && self.warns(command),
            outer_attempts: self.attempts,
            counted: self.counted.clone(),
        }
    }

    /// Returns true if this run must warn that retries multiply: the innermost run, in the first attempt of the outer
    /// one.
    fn warns(&self, command: &[OsString]) -> bool {
        let is_first = self.attempt.is_none_or(|attempt| attempt == 1);
        // Checked last: finding the wrapped program is the slowest step of a start.
        let is_innermost = || wrapped_program(command).first() != Some(&"backoff");
        self.depth > 0 && is_first && self.attempts != Some(1) && is_innermost()
    }
}

fn is_uuid(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    text.split('-').all(is_hex) && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}
