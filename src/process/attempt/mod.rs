//! One attempt while it runs, and the process tree that it may leave.

pub mod running;
pub mod tree;
