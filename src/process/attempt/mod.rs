//! One attempt: started, run to its end, and what is left of it cleared away.

mod after_exit;
mod deadlines;
pub(crate) mod event_loop;
pub(crate) mod on_signal;
pub(crate) mod run;
mod running;
mod tree;
