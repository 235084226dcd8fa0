//! Small safe functions over single system calls: descriptors, the clock, the environment, randomness.

pub mod clock;
pub mod environment;
pub mod fd;
pub mod random;
pub mod stdio;
pub mod timer;
