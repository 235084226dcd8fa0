//! Where runs meet: a directory of this machine, or a Redis server. Knows bytes and numbers, not what
//! they mean.

pub mod directory;
pub mod page;
#[cfg(feature = "redis")]
pub mod redis;
