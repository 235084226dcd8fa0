//! As much of a shell as job control takes: it runs one command as a job in the foreground of its terminal, continues it
//! whenever it has stopped, and notes what it sees in a file. Another program than the attack, as it leads a session.

use std::fs::OpenOptions;
use std::io::{Write, stdin};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid, tcsetpgrp};

use crate::Result;

#[derive(Args)]
pub struct Options {
    /// Where it notes what it sees
    notes: PathBuf,
    /// Milliseconds in which a stopped job stays so
    nap: u64,
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

pub fn run(options: &Options) -> Result<()> {
    let signals = [
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGTSTP,
        Signal::SIGTTIN,
        Signal::SIGTTOU,
    ];
    // They are for the job. What it is started with has none blocked: the standard library sees to that.
    signals.into_iter().collect::<SigSet>().thread_block()?;
    let mut notes = OpenOptions::new().create(true).append(true).open(&options.notes)?;
    let modes = tcgetattr(stdin())?;
    let (program, words) = options.command.split_first().ok_or("no command")?;
    // It is waited for below, stops included.
    let child = Command::new(program).args(words).process_group(0).spawn()?;
    let job = Pid::from_raw(child.id() as i32);
    tcsetpgrp(stdin(), job)?;
    writeln!(notes, "pid {job}")?;
    loop {
        let status = waitpid(job, Some(WaitPidFlag::WUNTRACED))?;
        tcsetpgrp(stdin(), getpid())?;
        if !are_same(&modes, &tcgetattr(stdin())?) {
            writeln!(notes, "modes differ after {status:?}")?;
            tcsetattr(stdin(), SetArg::TCSANOW, &modes)?;
        }
        match status {
            WaitStatus::Exited(_, code) => return Ok(writeln!(notes, "code {code}")?),
            WaitStatus::Signaled(_, signal, _) => return Ok(writeln!(notes, "signal {}", signal as i32)?),
            _ => {}
        }
        sleep(Duration::from_millis(options.nap));
        tcsetpgrp(stdin(), job)?;
        kill(Pid::from_raw(-job.as_raw()), Signal::SIGCONT)?;
    }
}

fn are_same(one: &Termios, other: &Termios) -> bool {
    one.input_flags == other.input_flags
        && one.output_flags == other.output_flags
        && one.control_flags == other.control_flags
        && one.local_flags == other.local_flags
        && one.control_chars == other.control_chars
}
