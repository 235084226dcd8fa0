//! Small safe functions over single system calls.

pub(crate) mod clock;
pub(crate) mod environment;
pub(crate) mod fd;
#[cfg_attr(not(portable), path = "linux.rs")]
#[cfg_attr(portable, path = "elsewhere.rs")]
pub(crate) mod native;
pub(crate) mod processes;
pub(crate) mod random;
pub(crate) mod stdio;
