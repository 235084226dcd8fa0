//! Small safe functions over single system calls.

pub mod clock;
pub mod current;
pub mod deadline;
pub mod environment;
pub mod fd;
pub mod leaf;
pub mod random;
pub mod stdio;
pub mod strings;
pub mod timer;
