//! The byte streams of the command: passing on, looking at, keeping, printing again.

pub mod destination;
mod feed;
pub mod input;
mod kept;
mod observer;
mod pipe_input;
mod pump;
pub mod release;
mod replay_input;
pub mod sink;
mod spool;
pub mod standard;
