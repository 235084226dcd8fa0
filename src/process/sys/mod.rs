//! Small safe functions over single system calls.

pub(crate) mod clock;
pub(crate) mod environment;
pub(crate) mod fd;
pub(crate) mod processes;
pub(crate) mod random;
pub(crate) mod stdio;
