//! The byte streams of the command: passing on, looking at, keeping, printing again.

pub(crate) mod destination;
mod feed;
pub(crate) mod input;
mod kept;
mod observer;
mod pipe_input;
mod pump;
pub(crate) mod release;
mod replay_input;
pub(crate) mod sink;
pub(crate) mod spool;
pub(crate) mod standard;
mod tail;
