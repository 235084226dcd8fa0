//! One attempt: started, run to its end, and what is left of it cleared away.

mod aftermath;
mod deadlines;
pub mod event_loop;
pub mod on_signal;
pub mod run;
mod running;
mod tree;
