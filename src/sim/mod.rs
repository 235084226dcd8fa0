//! A world without processes in which time is a number.
//!
//! [`contention`] and [`storm`] are many runs at once against one service: a client is a [`Session`](crate::policy::session::Session) and what happens next is in one queue of
//! [`events`]. They are pure: a generator comes in, and a seed decides everything. `examples/storm` drives
//! them; what they show is in `docs/storm.md`.

mod answer;
pub mod cap;
pub mod contention;
pub mod events;
pub mod spread;
pub mod storm;
