//! The standard streams of the command: passing on, looking at, keeping, replaying.

mod feed;
pub mod input;
pub mod output;
pub mod plumbing;
pub mod sink;
pub mod spool;
