//! Makes a system call of backoff fail, by strace. The output and the status must be right, or one line must state the
//! fault.

use std::fs;

use nix::libc;
use rand::RngExt;

use super::numbered::{Numbered, expect_input, written};
use super::round::{Round, Shown};
use crate::Result;

/// Options, true if the command reads its input, and its number of lines.
type Scene = (&'static str, bool, u64);

const SCENES: &[Scene] = &[
    (
        "--report DIR/report --log-file DIR/log --log-format json -v",
        false,
        3,
    ),
    (
        "-r nothing --retry-if true --on-retry true --retry-after",
        true,
        3,
    ),
    (
        "--stdout final --stderr failure --stdin replay --log-format json",
        true,
        3,
    ),
    ("--stdout final --stdin replay", true, 1200),
    ("-r <1 -t 10s -i 5s", false, 1200),
    ("--pty -r <1 --report DIR/report", false, 3),
    ("--budget b --store DIR/store --cool-off", false, 3),
    ("-d 10s -t 5s --success-match <2", false, 3),
];

const MEMORY: &[&str] = &["ENOMEM"];
const PROCESSES: &[&str] = &["EAGAIN", "ENOMEM"];
const WAITS: &[&str] = &["EINTR", "ENOMEM"];
const WRITES: &[&str] = &["EIO", "ENOSPC", "EINTR", "EFBIG", "EDQUOT"];
const ANY: &[&str] = &[
    "EIO", "ENOMEM", "EINTR", "ENOSPC", "EPERM", "EACCES", "EMFILE",
];

/// Calls, and the errors that a kernel returns for them.
const CALLS: &[(&str, &[&str])] = &[
    ("mmap", MEMORY),
    ("clone", PROCESSES),
    ("clone3", PROCESSES),
    ("vfork", PROCESSES),
    ("ppoll", WAITS),
    ("poll", WAITS),
    ("waitid", &["EINTR"]),
    ("getrandom", &["ENOSYS", "EPERM"]),
    // EAGAIN would mean an empty queue or a full pipe, and EIO the end of a pseudo-terminal.
    ("read", &["ENOMEM", "EINTR"]),
    ("tee", &["EIO", "ENOMEM", "EINTR"]),
    ("openat", &["EMFILE", "EACCES", "ENOSPC"]),
    ("write", WRITES),
    ("pwrite64", WRITES),
    ("ftruncate", WRITES),
    ("pipe2", &["EMFILE", "ENFILE"]),
    ("fcntl", &["EPERM", "EMFILE"]),
    ("ioctl", ANY),
    ("flock", ANY),
    ("fstat", ANY),
    ("statx", ANY),
    ("lseek", ANY),
    ("mkdir", ANY),
    ("pread64", ANY),
    ("splice", ANY),
    ("rename", ANY),
];

pub fn play(round: &mut Round) -> Result<()> {
    let (options, reads, lines) = round.pick(SCENES);
    let command = Numbered {
        lines,
        reads,
        padding: if lines > 3 { 1000 } else { 1 },
        ..Numbered::default()
    };
    let input = reads.then(|| vec![b'i'; 20_000]);
    let (call, errors) = round.pick(CALLS);
    let (error, number) = (round.pick(errors), round.rng.random_range(1..=12));
    // No kernel interrupts or refuses a read forever.
    let may_last = error != "EINTR" && call != "read";
    let all = if may_last && round.is(0.2) { "+" } else { "" };
    let strace = format!(
        "strace -o /dev/null -e trace={call} -e inject={call}:error={error}:when={number}{all}"
    );
    let options = format!("-n 2 -b 1ms {options}");
    let run = round.start(&strace, &options, command.words(round), input.clone())?;
    let shown = run.end(round)?;
    let is_mute = call == "write" && all == "+";
    let is_final = options.contains("--stdout final");
    judge(command, is_final, input, round, &shown, is_mute)
        .map_err(|what| format!("{what}\n{shown}"))?;
    super::signals::expect_whole_files(round, None)
}

/// Fails if the output or the status of a run is wrong. `is_mute`: backoff can print nothing.
fn judge(
    command: Numbered,
    is_final: bool,
    input: Option<Vec<u8>>,
    round: &Round,
    shown: &Shown,
    is_mute: bool,
) -> Result<()> {
    let log = fs::read_to_string(round.dir().join("log")).unwrap_or_default();
    let is_explained = ["gave up", "gave_up", "cannot run"]
        .iter()
        .any(|words| shown.stderr.contains(words) || log.contains(words));
    ensure!(
        !log.contains("internal error"),
        "a panic, by the log: {log}"
    );
    match (shown.code(), shown.signal()) {
        (Some(0), _) => {
            ensure!(written(round).contains(&2), "a false success");
            if is_final {
                command.expect_final(&shown.stdout, true)?;
            } else {
                command.expect_stream(round, &shown.stdout)?;
            }
            input.map_or(Ok(()), |input| expect_input(round, &input))?;
        }
        (Some(125), _) => {
            let lines = shown
                .stderr
                .lines()
                .filter(|line| line.starts_with("backoff: "));
            let errors = lines
                .filter(|line| !line.contains("warning") && !line.contains("attempt"))
                .count();
            ensure!(
                errors == 1 || is_mute && errors == 0,
                "{errors} lines say what is wrong"
            );
            command.lines_of_attempts(&shown.stdout)?;
        }
        // The command's own status, or a failed start.
        (Some(1 | 126), _) => {
            ensure!(is_explained || is_mute, "a failure that nothing explains");
            command.lines_of_attempts(&shown.stdout)?;
        }
        // A call of the loader may fail, too, and running out of memory has no remedy.
        (Some(127), _)
            if shown
                .stderr
                .contains("error while loading shared libraries") => {}
        (None, Some(libc::SIGABRT)) if shown.stderr.contains("memory allocation of") => {}
        _ => return Err("an unexplained status".into()),
    }
    Ok(())
}
