//! How every module prints: harmless foreign text, quoted words, lengths of time, columns and escape sequences. Pure,
//! and imports no other module.

mod columns;
mod errors;
pub(crate) mod escapes;
mod foreign;
mod lengths;
mod similar;

pub(crate) use columns::{cut, width};
pub(crate) use errors::{describe, describe_error};
pub(crate) use foreign::{is_printable, name, printable, quoted};
pub(crate) use lengths::{exact, length, timestamp};
pub(crate) use similar::{normal, similar, tip};
