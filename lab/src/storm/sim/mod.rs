//! Many clients against one service, in virtual time. A client is a `Session` of backoff; future events are in one
//! queue of [`events`]. All of it is pure: a generator comes in, and a seed decides everything.

mod answer;
pub mod cap;
pub mod contention;
pub mod events;
pub mod spread;
pub mod storm;
