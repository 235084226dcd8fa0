//! Decides whether output is colored.

use std::os::fd::RawFd;

use super::environment::nonempty;
use super::stdio::is_terminal;

/// Returns true if output on `fd` should be colored. NO_COLOR forbids colors (no-color.org). Otherwise CLICOLOR_FORCE
/// forces them (bixense.com/clicolors). Without either, a terminal that supports them gets them.
pub(crate) fn takes_color(fd: RawFd) -> bool {
    if nonempty("NO_COLOR").is_some() {
        return false;
    }
    let is_forced = nonempty("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let is_capable = nonempty("TERM").is_some_and(|term| term != "dumb");
    is_forced || (is_capable && is_terminal(fd))
}
