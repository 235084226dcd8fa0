//! Decides if output is colored.

use std::os::fd::RawFd;

use super::environment::nonempty;
use super::stdio::is_terminal;

/// Returns true if output on `fd` is to be colored: on a terminal that can, unless the user's environment decides:
/// NO_COLOR forbids colors (no-color.org), or else CLICOLOR_FORCE demands them (bixense.com/clicolors).
pub(crate) fn takes_color(fd: RawFd) -> bool {
    if nonempty("NO_COLOR").is_some() {
        return false;
    }
    let is_forced = nonempty("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    let is_capable = nonempty("TERM").is_some_and(|term| term != "dumb");
    is_forced || (is_capable && is_terminal(fd))
}
