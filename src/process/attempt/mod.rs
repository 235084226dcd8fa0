//! One attempt: start, event loop, timeouts, process tree, draining.

mod after_exit;
mod deadlines;
pub(crate) mod event_loop;
pub(crate) mod on_signal;
pub(crate) mod run;
mod running;
mod tree;
