//! Many clients against one service, in virtual time. A client is a `Session` of backoff; future events are in one
//! queue of [`events`]. The code is pure: the caller passes the random generator, so the seed determines the result.

mod answer;
pub mod cap;
pub mod contention;
pub mod course;
pub mod events;
mod service;
mod shared_budget;
pub mod spread;
pub mod storm;
pub mod strategy;
