//! What is measured can run before whatever else the machine does.

use std::process::{Command, Stdio};

use crate::Result;

/// From now on this program and all that it starts, or no longer.
pub fn set(first: bool) -> Result<()> {
    let (policy, priority) = if first { ("--fifo", "1") } else { ("--other", "0") };
    let own = std::process::id().to_string();
    let done = Command::new("chrt")
        .args(["--all-tasks", policy, "--pid", priority, &own])
        .stdout(Stdio::null())
        .status()?;
    match done.success() {
        true => Ok(()),
        false => Err("--first needs the right to set priorities".into()),
    }
}
