//! What rules see of the command's output: lines, as a person reads them.
//!
//! Patterns of the user see every line as it passes ([`watch`]). Those of presets see the end of each output ([`tail`]),
//! once an attempt has failed: a tool says last what ended it, and a success costs no search. Bytes go in, and
//! [`examined::Examined`] answers what a pattern has matched.

pub mod examined;
pub mod pattern;
pub mod tail;
pub mod visible;
pub mod watch;
