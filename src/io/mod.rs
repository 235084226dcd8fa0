//! The byte streams of the command: passing on, looking at, keeping, replaying. No decisions.
#![allow(unsafe_code)]

pub mod fd;
mod feed;
pub mod flow;
pub mod input;
mod lanes;
pub mod lines;
pub mod pattern;
pub mod plumbing;
pub mod pty;
pub mod replace;
pub mod scan;
pub mod sink;
pub mod spool;
