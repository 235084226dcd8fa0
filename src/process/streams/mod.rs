//! The byte streams of the command: passing on, looking at, keeping, printing again.

pub(crate) mod destination;
mod observer;
mod pump;
pub(crate) mod release;
mod replay;
pub(crate) mod sink;
pub(crate) mod spool;
pub(crate) mod standard;
pub(crate) mod stdin;
mod stdin_pipe;
mod tail;
mod tee;
