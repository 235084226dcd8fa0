//! What is known of a process.

use nix::libc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: libc::pid_t,
    pub(crate) parent: libc::pid_t,
    pub(crate) group: libc::pid_t,
    /// The device that is its controlling terminal, as `stat(2)` numbers it; 0 if it has none.
    pub(crate) terminal: u64,
    /// With the number it names a process for good. In what unit differs.
    pub(crate) started: u64,
    pub(crate) is_zombie: bool,
    pub(crate) is_stopped: bool,
}
