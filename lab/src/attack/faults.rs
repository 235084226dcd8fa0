//! Makes a system call of backoff fail, by strace. The output and the status must be right, or one line must state the
//! fault.

use nix::libc;
use rand::RngExt;

use super::files::{expect_whole_files, log};
use super::numbered::{Numbered, expect_input, written};
use super::round::{Invocation, Round};
use super::run::Ended;
use crate::Result;

#[derive(Clone, Copy)]
struct Scene {
    options: &'static str,
    /// The number of lines that the command prints.
    lines: u64,
    reads_input: bool,
}

const fn without_input(lines: u64, options: &'static str) -> Scene {
    Scene {
        options,
        lines,
        reads_input: false,
    }
}

const fn with_input(lines: u64, options: &'static str) -> Scene {
    Scene {
        options,
        lines,
        reads_input: true,
    }
}

const SCENES: &[Scene] = &[
    without_input(
        3,
        "--report DIR/report --log-file DIR/log --log-format json -v",
    ),
    with_input(
        3,
        "-r nothing --retry-if true --on-retry true --retry-after",
    ),
    with_input(
        3,
        "--stdout final --stderr failure --stdin replay --log-format json",
    ),
    with_input(1200, "--stdout final --stdin replay"),
    without_input(1200, "-r <1 -t 10s -i 5s"),
    without_input(3, "--pty -r <1 --report DIR/report"),
    without_input(3, "--budget b --store DIR/store --cool-off"),
    without_input(3, "-d 10s -t 5s --success-match <2"),
];

const MEMORY: &[&str] = &["ENOMEM"];
const PROCESSES: &[&str] = &["EAGAIN", "ENOMEM"];
const WAITS: &[&str] = &["EINTR", "ENOMEM"];
const WRITES: &[&str] = &["EIO", "ENOSPC", "EINTR", "EFBIG", "EDQUOT"];
const ANY: &[&str] = &[
    "EIO", "ENOMEM", "EINTR", "ENOSPC", "EPERM", "EACCES", "EMFILE",
];

/// A system call, and the errors that a kernel returns for it.
#[derive(Clone, Copy)]
struct Call {
    name: &'static str,
    errors: &'static [&'static str],
}

const fn call(name: &'static str, errors: &'static [&'static str]) -> Call {
    Call { name, errors }
}

/// Calls of `mmap` by the dynamic loader: if one fails, any program ends, some by SIGSEGV.
const MMAPS_OF_LOADER: i32 = 8;

const CALLS: &[Call] = &[
    call("mmap", MEMORY),
    call("clone", PROCESSES),
    call("clone3", PROCESSES),
    call("vfork", PROCESSES),
    call("ppoll", WAITS),
    call("poll", WAITS),
    call("waitid", &["EINTR"]),
    call("getrandom", &["ENOSYS", "EPERM"]),
    // EAGAIN would mean an empty queue or a full pipe, and EIO the end of a pseudo-terminal.
    call("read", &["ENOMEM", "EINTR"]),
    call("tee", &["EIO", "ENOMEM", "EINTR"]),
    call("openat", &["EMFILE", "EACCES", "ENOSPC"]),
    call("write", WRITES),
    call("pwrite64", WRITES),
    call("ftruncate", WRITES),
    call("pipe2", &["EMFILE", "ENFILE"]),
    call("fcntl", &["EPERM", "EMFILE"]),
    call("ioctl", ANY),
    call("flock", ANY),
    call("fstat", ANY),
    call("statx", ANY),
    call("lseek", ANY),
    call("mkdir", ANY),
    call("pread64", ANY),
    call("splice", ANY),
    call("rename", ANY),
];

pub fn play(round: &mut Round) -> Result<()> {
    let scene = round.pick(SCENES);
    let call = round.pick(CALLS);
    let error = round.pick(call.errors);
    let mut first = round.rng.random_range(1..=12);
    if call.name == "mmap" {
        first += MMAPS_OF_LOADER;
    }
    // No kernel interrupts or refuses a read forever.
    let may_last = error != "EINTR" && call.name != "read";
    let lasts = may_last && round.chance(0.2);
    let trial = Trial {
        command: Numbered {
            lines: scene.lines,
            reads_input: scene.reads_input,
            padding: if scene.lines > 3 { 1000 } else { 1 },
            ..Numbered::default()
        },
        input: scene.reads_input.then(|| vec![b'i'; 20_000]),
        is_final: scene.options.contains("--stdout final"),
        is_mute: call.name == "write" && lasts,
    };
    let run = round.start(Invocation {
        tracer: &strace(call.name, error, first, lasts),
        options: &format!("-n 2 -b 1ms {}", scene.options),
        command: trial.command.words(round),
        input: trial.input.clone(),
    })?;
    let ended = run.end(round)?;
    trial
        .judge(round, &ended)
        .map_err(|what| format!("{what}\n{ended}"))?;
    expect_whole_files(round)
}

/// Returns the words of a tracer that lets the call of number `first` fail, and all later ones if the error `lasts`.
fn strace(call: &str, error: &str, first: i32, lasts: bool) -> String {
    let later = if lasts { "+" } else { "" };
    format!(
        "strace -o /dev/null -e trace={call} -e inject={call}:error={error}:when={first}{later}"
    )
}

/// A run in which a call fails.
struct Trial {
    command: Numbered,
    input: Option<Vec<u8>>,
    /// True if backoff prints only the output of the last attempt.
    is_final: bool,
    /// True if backoff can print nothing.
    is_mute: bool,
}

impl Trial {
    /// Fails if the output or the status of the run is wrong.
    fn judge(&self, round: &Round, ended: &Ended) -> Result<()> {
        let log = log(round);
        ensure!(
            !log.contains("internal error"),
            "a panic, by the log: {log}"
        );
        match ended.code() {
            Some(0) => self.judge_success(round, ended),
            Some(125) => self.judge_fault(ended),
            // The command's own status, or a failed start.
            Some(1 | 126) => self.judge_failure(ended, &log),
            _ => {
                ensure!(is_beyond_remedy(ended), "an unexplained status");
                Ok(())
            }
        }
    }

    fn judge_success(&self, round: &Round, ended: &Ended) -> Result<()> {
        ensure!(written(round).contains(&2), "a false success");
        if self.is_final {
            self.command.expect_whole_attempt(&ended.stdout)?;
        } else {
            self.command.expect_stream(round, &ended.stdout)?;
        }
        match &self.input {
            Some(input) => expect_input(round, input),
            None => Ok(()),
        }
    }

    /// Fails unless one line states the fault.
    fn judge_fault(&self, ended: &Ended) -> Result<()> {
        let errors = ended.stderr.lines().filter(|line| states_fault(line));
        let errors = errors.count();
        ensure!(
            errors == 1 || self.is_mute && errors == 0,
            "{errors} lines say what is wrong"
        );
        self.command.lines_of_attempts(&ended.stdout)?;
        Ok(())
    }

    fn judge_failure(&self, ended: &Ended, log: &str) -> Result<()> {
        let is_explained = ["gave up", "gave_up", "cannot run"]
            .iter()
            .any(|words| ended.stderr.contains(words) || log.contains(words));
        ensure!(
            is_explained || self.is_mute,
            "a failure that nothing explains"
        );
        self.command.lines_of_attempts(&ended.stdout)?;
        Ok(())
    }
}

fn states_fault(line: &str) -> bool {
    line.starts_with("backoff: ") && !line.contains("warning") && !line.contains("attempt")
}

/// Returns true if a call of the loader has failed, or if backoff has run out of memory.
fn is_beyond_remedy(ended: &Ended) -> bool {
    match ended.code() {
        Some(127) => ended
            .stderr
            .contains("error while loading shared libraries"),
        None => {
            ended.signal() == Some(libc::SIGABRT) && ended.stderr.contains("memory allocation of")
        }
        Some(_) => false,
    }
}
