//! What rules see of the command's output: lines, as a person reads them.
//!
//! The user's patterns see every line as it passes ([`watch`]). Presets and `--retry-after` see the end of each output
//! ([`tail`]) once an attempt has failed, because a tool prints last what ended it, and a success costs no search.
//! Bytes go in, and [`examined::Examined`] tells what a pattern matched.

pub mod examined;
pub mod pattern;
pub mod tail;
pub mod visible;
pub mod watch;
