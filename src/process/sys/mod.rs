//! Small safe functions around single system calls. They know nothing about attempts and retries.

pub(crate) mod clock;
pub(crate) mod color;
pub(crate) mod environment;
pub(crate) mod exit_now;
pub(crate) mod fd;
pub(crate) mod random;
pub(crate) mod small_files;
pub(crate) mod stdio;
pub(crate) mod tty;

/// The only seam between systems. Both files have the same functions.
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
pub(crate) mod system;
