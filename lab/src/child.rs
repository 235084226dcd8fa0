//! Commands that are measured, in surroundings that are the same for all of them.

use std::env;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use crate::Result;

/// Silent, with nothing to read, in the locale C. backoff looks for its configuration as usual, and finds none.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("BACKOFF_") {
            command.env_remove(name);
        }
    }
    command
        // Cargo sets it, and what is linked dynamically would start slower than it does for anybody else.
        .env_remove("LD_LIBRARY_PATH")
        .env("XDG_CONFIG_HOME", "/var/empty/none")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// What a command prints that goes well: as many bytes.
pub fn kilobyte() -> String {
    let line = "Get:1 http://deb.example.org/debian stable/main amd64 Packages [8,788 kB]\n";
    line.chars().cycle().take(1024).collect()
}

/// The same of a program and its arguments.
pub fn of_words(words: &[String]) -> Command {
    let (program, arguments) = words
        .split_first()
        .map_or(("", words), |(first, rest)| (first.as_str(), rest));
    let mut command = command(program);
    command.args(arguments);
    command
}

/// How long a command takes, in seconds. How it ends does not matter.
pub fn time(command: &mut Command) -> Result<f64> {
    Ok(timed(command)?.0)
}

/// The same of one that has to succeed.
pub fn time_of_success(command: &mut Command) -> Result<f64> {
    let (took, status) = timed(command)?;
    if status.success() {
        Ok(took)
    } else {
        Err(format!("{command:?}: {status}").into())
    }
}

fn timed(command: &mut Command) -> Result<(f64, ExitStatus)> {
    let began = Instant::now();
    let status = command.status();
    let took = began.elapsed();
    match status {
        Ok(status) => Ok((took.as_secs_f64(), status)),
        Err(error) => Err(format!("{}: {error}", command.get_program().display()).into()),
    }
}
