//! Faults of the system and ends at any moment: in every case backoff does not panic, does not hang, leaves nothing
//! behind, and exits with 0 only if the command has done its work.
//!
//! Slow tests run in part. `BACKOFF_TEST_ROUNDS=500 cargo test --test tools faults::` runs all: 500 times KILL and 500
//! times TERM at a random moment (60 otherwise), a soak of 20,000 attempts (40 for each round), and a failure of every
//! single call, while otherwise the first and the last of each name fail.
#![allow(clippy::print_stdout, reason = "what the long runs have found is wanted as figures")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::common::process::with_variable;
use crate::common::{BIN, PATIENCE, Shown, backoff, clean, end_of, eventually, run, within};

tests! {
    any_call_may_fail ["strace"]
    a_pipe_that_cannot_be_read ["strace"]
    an_interrupted_call_changes_nothing ["strace"]
    calls_of_the_store_may_fail ["strace"]
    calls_of_the_child_may_fail ["strace"]
    a_pipe_that_cannot_be_duplicated ["strace"]
    no_random_numbers ["strace"]
    no_file_can_be_written ["strace"]
    kept_input_cannot_be_read ["strace"]
    every_disk_is_full ["unshare"]
    no_process_can_be_made ["strace"]
    few_descriptors ["bash"]
    standard_streams_are_closed_or_full ["bash"]
    killed_at_a_random_moment ["setsid"]
    ended_at_a_random_moment ["setsid"]
    a_soak ["false"]
    a_soak_with_everything ["false"]
}

fn rounds() -> usize {
    let rounds = std::env::var("BACKOFF_TEST_ROUNDS").ok();
    rounds.map_or(60, |rounds| rounds.parse().unwrap())
}

fn is_thorough() -> bool {
    rounds() >= 500
}

// --- Modes ---

/// A way of running backoff. `DIR` stands for the directory of the run.
struct Mode {
    name: &'static str,
    options: &'static str,
    /// Bytes of output, in front of a line, of each attempt.
    bulk: usize,
    has_input: bool,
    /// The output if nothing fails.
    output: &'static str,
}

const MODES: &[Mode] = &[
    Mode {
        name: "plain",
        options: "--report DIR/report --log-file DIR/log -v",
        bulk: 0,
        has_input: false,
        output: "out 1\nout 2\n",
    },
    Mode {
        name: "observed",
        options: "-r nothing --retry-if 'exit 0' --success-if 'exit 0' --on-retry true --before-retry true --hook-output --retry-after",
        bulk: 0,
        has_input: true,
        output: "out 1 in\nout 2 in\n",
    },
    Mode {
        name: "held",
        options: "--stdout final --stderr failure --stdin replay --log-format json",
        bulk: 1_200_000,
        has_input: true,
        output: "out 2 in\n",
    },
    Mode {
        name: "pty",
        options: "--pty -r out --report DIR/report",
        bulk: 0,
        has_input: false,
        output: "out 1\r\nout 2\r\n",
    },
    Mode {
        name: "budget",
        options: "--budget b --store DIR/store --cool-off --stderr null --stdin null",
        bulk: 0,
        has_input: false,
        output: "out 1\nout 2\n",
    },
];

/// Fails first and then succeeds; notes what it does.
const COMMAND: &str = r#"read line; test $1 = 0 || head -c $1 /dev/zero
echo out $BACKOFF_ATTEMPT $line; test $BACKOFF_ATTEMPT = 2 || exit 1; echo >"$0/done""#;

impl Mode {
    /// A shell's words for a run in a mode, with `before` in front of backoff.
    fn script(&self, before: &str, dir: &TempDir) -> String {
        let dir = dir.path().to_str().unwrap();
        let options = self.options.replace("DIR", dir);
        let input = if self.has_input { r"printf 'in\nmore\n' |" } else { "" };
        let nothing = if self.has_input { "" } else { "</dev/null" };
        let limit = PATIENCE.as_secs() / 2;
        format!(
            "{input} timeout --signal=KILL {limit} {before} {bin} -n 2 -b 1ms {options} -- \
             sh -c '{COMMAND}' {dir} {} {nothing}",
            self.bulk,
            bin = *BIN
        )
    }

    fn run(&self, before: &str, dir: &TempDir) -> Shown {
        let mut command = clean("bash");
        command.arg("-c").arg(self.script(before, dir));
        command.env("TMPDIR", dir.path()).env("LC_ALL", "C");
        run(&mut command)
    }

    /// Returns an error if the result of a run under a fault is wrong.
    fn judge(&self, shown: &Shown, dir: &TempDir) -> Result<(), String> {
        let is_done = dir.path().join("done").exists();
        let log = std::fs::read_to_string(dir.path().join("log")).unwrap_or_default();
        if shown.stderr.contains("internal error")
            || shown.stderr.contains("panicked")
            || log.contains("internal error")
        {
            return Err("a panic".into());
        }
        match (shown.code(), shown.signal()) {
            (Some(0), _) if !is_done => return Err("a false success".into()),
            (Some(0), _) if shown.stdout.trim_start_matches('\0') != self.output => {
                return Err(format!("a success, but the output is {:?}", tail(&shown.stdout)));
            }
            (Some(0), _) => {}
            (Some(125), _) => {
                let lines = shown.stderr.lines().filter(|line| line.starts_with("backoff: "));
                let errors = lines
                    .filter(|line| !line.contains("warning") && !line.contains("attempt"))
                    .count();
                let can_be_said = !shown.stderr.is_empty();
                if errors != 1 && can_be_said {
                    return Err(format!("{errors} lines say what is wrong"));
                }
            }
            // The command's own, or that it could not be started.
            (Some(1 | 126), _) if [&shown.stderr, &log].iter().any(|text| says_why(text)) => {}
            (Some(137), _) | (None, Some(9)) => return Err("a hang".into()),
            other => return Err(format!("it ended as {other:?}")),
        }
        self.nothing_is_left(dir, &shown.stderr)
    }

    /// But for what was told.
    fn nothing_is_left(&self, dir: &TempDir, told: &str) -> Result<(), String> {
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if !["log", "report", "store", "done", "trace"].contains(&name.as_str()) && !told.contains(&name) {
                return Err(format!("{name} is left"));
            }
        }
        let report = dir.path().join("report");
        if let Ok(text) = std::fs::read_to_string(report)
            && serde_json::from_str::<serde_json::Value>(&text).is_err()
        {
            return Err(format!("half a report: {text:?}"));
        }
        Ok(())
    }
}

fn says_why(text: &str) -> bool {
    ["gave up", "gave_up", "cannot run"]
        .iter()
        .any(|words| text.contains(words))
}

fn tail(text: &str) -> &str {
    let text = text.trim_start_matches('\0');
    let start = text.len().saturating_sub(200);
    text.get(start..).unwrap_or(text)
}

/// Runs modes under faults and gathers what is wrong, so that one run of the test tells all.
#[derive(Default)]
struct Findings {
    text: String,
    runs: usize,
}

impl Findings {
    fn add(&mut self, mode: &Mode, what: &str, result: Result<(), String>, shown: &Shown) {
        self.runs += 1;
        if let Err(why) = result {
            let (output, errors) = (tail(&shown.stdout), tail(&shown.stderr));
            let status = shown.status;
            let _ = writeln!(
                self.text,
                "{} with {what}: {why} ({status})\n  {output:?}\n  {errors:?}",
                mode.name
            );
        }
    }

    fn run(&mut self, mode: &Mode, what: &str, before: &str) {
        let dir = tempfile::tempdir().unwrap();
        let shown = mode.run(&before.replace("DIR", dir.path().to_str().unwrap()), &dir);
        self.add(mode, what, mode.judge(&shown, &dir), &shown);
    }

    #[track_caller]
    fn end(self) {
        assert!(
            self.runs > 0 && self.text.is_empty(),
            "of {} runs:\n{}",
            self.runs,
            self.text
        );
    }
}

// --- Calls that fail ---

/// The calls that backoff makes of its own in a mode, by name, as `strace` counts them: from 1, those of the loader
/// included.
fn calls(mode: &Mode) -> BTreeMap<String, Vec<usize>> {
    let dir = tempfile::tempdir().unwrap();
    let trace = within(&dir, "trace");
    let shown = mode.run(&format!("strace -o {trace}"), &dir);
    let judged = mode.judge(&shown, &dir);
    assert!(
        shown.status.success() && judged.is_ok(),
        "{}: {judged:?} {shown:?}",
        mode.name
    );
    let text = std::fs::read_to_string(&trace).unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('(')?.0)).collect();
    let heard = names.iter().position(|name| *name == "pipe2").unwrap();
    // The last thing the loader does is to protect what it has relocated.
    let own = names[..heard].iter().rposition(|name| *name == "mprotect").unwrap_or(0);
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut calls = BTreeMap::<String, Vec<usize>>::new();
    for (i, name) in names.into_iter().enumerate() {
        let count = counts.entry(name).or_default();
        *count += 1;
        if i > own {
            calls.entry(name.to_owned()).or_default().push(*count);
        }
    }
    // `strace` leaves open what no system would, and the end of a pipe is waited for.
    calls.remove("close");
    calls
}

/// These have no way to fail, or do not come back.
const INFALLIBLE: &[&str] = &[
    "getpid",
    "getppid",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "exit_group",
    "rt_sigreturn",
    "restart_syscall",
    "+++ exited with 0 +++",
];

/// Returns the first and the last number, or all of them in a thorough test.
fn some(numbers: &[usize]) -> Vec<usize> {
    if is_thorough() {
        return numbers.to_vec();
    }
    let mut some = vec![numbers[0], numbers[numbers.len() - 1]];
    some.dedup();
    some
}

fn any_call_may_fail() {
    let mut findings = Findings::default();
    for mode in MODES {
        for (name, numbers) in calls(mode) {
            if INFALLIBLE.contains(&name.as_str()) {
                continue;
            }
            let errors: &[&str] = match name.as_str() {
                // The kernel gives the old end for an error, which `strace` cannot.
                "brk" => &[],
                "mmap" | "mremap" | "munmap" | "madvise" | "mprotect" => &["ENOMEM"],
                // EIO is the end of a pseudo-terminal.
                "read" if mode.name == "pty" => &["ENOMEM"],
                "clone" | "clone3" => &["EAGAIN", "ENOMEM"],
                "openat" => &["EMFILE", "EACCES"],
                _ => &["EIO"],
            };
            // One of them, and all from the first on.
            let all = format!("{}+", numbers[0]);
            // As a sandbox has it, which refuses a call from the start.
            for error in ["ENOSYS", "EPERM", "EACCES"] {
                let what = format!("inject={name}:error={error}:when={all}");
                findings.run(mode, &what, &format!("strace -o /dev/null -e {what}"));
            }
            for error in errors {
                // The later ones are those of the C library when it makes a thread; it does not look what they say.
                let numbers = if name == "rt_sigprocmask" {
                    &numbers[..1]
                } else {
                    &numbers
                };
                for when in some(numbers).iter().map(usize::to_string).chain([all.clone()]) {
                    let what = format!("inject={name}:error={error}:when={when}");
                    findings.run(mode, &what, &format!("strace -o /dev/null -e {what}"));
                }
            }
        }
    }
    findings.end();
}

fn an_interrupted_call_changes_nothing() {
    /// All that signal(7) says may be interrupted.
    const INTERRUPTIBLE: &[&str] = &[
        "read",
        "write",
        "pread64",
        "pwrite64",
        "openat",
        "ppoll",
        "poll",
        "waitid",
        "wait4",
        "flock",
        "tee",
        "sendto",
        "ftruncate",
        "dup3",
        "close",
        "getrandom",
        "fallocate",
    ];
    let mut findings = Findings::default();
    for mode in MODES {
        for (name, numbers) in calls(mode) {
            if !INTERRUPTIBLE.contains(&name.as_str()) {
                continue;
            }
            for number in some(&numbers) {
                let what = format!("inject={name}:error=EINTR:when={number}");
                let dir = tempfile::tempdir().unwrap();
                let shown = mode.run(&format!("strace -o /dev/null -e {what}"), &dir);
                let log = std::fs::read_to_string(dir.path().join("log")).unwrap_or_default();
                let has_report = dir.path().join("report").exists();
                let result = mode.judge(&shown, &dir).and_then(|()| {
                    let is_same = shown.status.success()
                        && !shown.stderr.contains("warning")
                        && !log.contains("warning")
                        && has_report == mode.options.contains("report");
                    if is_same {
                        Ok(())
                    } else {
                        Err("something has changed".into())
                    }
                });
                findings.add(mode, &what, result, &shown);
            }
        }
    }
    findings.end();
}

fn calls_of_the_store_may_fail() {
    let mode = &MODES[4];
    let mut findings = Findings::default();
    for name in [
        "openat",
        "mkdir",
        "fstat",
        "newfstatat",
        "statx",
        "flock",
        "pread64",
        "pwrite64",
        "close",
    ] {
        for error in ["EIO", "ENOSPC", "EDQUOT"] {
            for number in 1..=if is_thorough() { 6 } else { 2 } {
                let what = format!("inject={name}:error={error}:when={number}");
                let paths = "-P DIR/store -P DIR/store/b.budget";
                findings.run(mode, &what, &format!("strace -f -o /dev/null {paths} -e {what}"));
            }
        }
        let what = format!("inject={name}:error=EINTR:when=1");
        if ["openat", "flock", "pread64", "pwrite64"].contains(&name) {
            let dir = tempfile::tempdir().unwrap();
            let paths = "-P DIR/store -P DIR/store/b.budget".replace("DIR", dir.path().to_str().unwrap());
            let shown = mode.run(&format!("strace -f -o /dev/null {paths} -e {what}"), &dir);
            let result = mode.judge(&shown, &dir);
            let is_same = shown.status.success() && !shown.stderr.contains("warning");
            let changed = || Err("something has changed".to_owned());
            findings.add(
                mode,
                &what,
                result.and_then(|()| if is_same { Ok(()) } else { changed() }),
                &shown,
            );
        }
    }
    findings.end();
}

/// Between clone and exec, where no message can be made.
fn calls_of_the_child_may_fail() {
    let mut findings = Findings::default();
    for mode in MODES {
        let shell = std::fs::canonicalize("/bin/sh").unwrap();
        for error in ["EIO", "ENOMEM", "EAGAIN", "ETXTBSY", "E2BIG"] {
            let what = format!("inject=execve:error={error}");
            let paths = format!("-P /bin/sh -P /usr/bin/sh -P {}", shell.display());
            findings.run(mode, &what, &format!("strace -f -o /dev/null {paths} -e {what}"));
        }
        // The first call of each name in a process precedes exec.
        for name in ["setpgid", "setsid", "prctl", "dup2"] {
            let what = format!("inject={name}:error=EIO:when=1");
            findings.run(mode, &what, &format!("strace -f -o /dev/null -e {what}"));
        }
    }
    findings.end();
}

/// Input offered to the command that cannot be removed from the caller's pipe is not offered again.
fn a_pipe_that_cannot_be_read() {
    let script = format!(
        "head -c 20000 /dev/zero | strace -o /dev/null -e inject=read:error=EIO:when=4+ {bin} -n 2 -b 1ms -k 100ms \
         -r nothing -- sh -c 'dd bs=100000 iflag=fullblock count=1 2>/dev/null | wc -c >&2; exit 1' 2>&1",
        bin = *BIN
    );
    let shown = run(clean("bash").args(["-c", &script]));
    let lines: Vec<&str> = shown.stdout.lines().collect();
    let [read @ .., said] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!(*said, "backoff: standard input: Input/output error");
    for count in read {
        assert!(count.trim().parse::<u64>().unwrap() <= 20_000, "{lines:?}");
    }
    assert_eq!(shown.code(), Some(125));
}

/// As a sandbox has it that refuses `tee`, or to say how much is in a pipe: what the command reads is the same each time.
fn a_pipe_that_cannot_be_duplicated() {
    for refused in [
        "tee:error=ENOSYS",
        "tee:error=EPERM",
        "tee:error=EINVAL",
        "tee:error=EIO",
        "ioctl:error=ENOSYS",
    ] {
        let b = format!("strace -o /dev/null -e inject={refused} {bin} -b 1ms", bin = *BIN);
        let run = |text: &str| run(clean("bash").args(["-c", text]));
        let prints = |text: &str, expected: &str| {
            let shown = run(text);
            assert_eq!(shown.stdout, expected, "{refused}: {text}\n{}", shown.stderr);
            shown.stderr
        };

        let said = prints(
            &format!("seq 3 | {b} -n 2 -v -- sh -c 'cat; exit 1'"),
            "1\n2\n3\n1\n2\n3\n",
        );
        assert_eq!(said.matches("read ahead of the command").count(), 1, "{said}");
        let said = prints(&format!(": | {b} -n 2 -- sh -c 'wc -c; exit 1'"), "0\n0\n");
        assert!(!said.contains("read ahead"), "{said}");
        // More than any pipe holds, and each attempt reads more or less of it.
        let long = "seq 300000 | head -c 1900000";
        prints(
            &format!("cmp <({long} | {b} -n 2 -- sh -c 'cat; exit 1') <({long}; {long}); echo $?"),
            "0\n",
        );
        for take in ["$((900000 * BACKOFF_ATTEMPT))", "$((900000 * (3 - BACKOFF_ATTEMPT)))"] {
            let both = format!("for BACKOFF_ATTEMPT in 1 2; do {long} | head -c {take}; done");
            let script = format!("{long} | {b} -q -n 2 -- sh -c 'head -c {take}; exit 1'");
            prints(&format!("cmp <({script}) <({both}); echo $?"), "0\n");
        }
        // It comes as it is written: the writer waits for what the command makes of it.
        let dir = tempfile::tempdir().unwrap();
        let script = format!(
            "cd {}; mkfifo answer; (echo one; read x <answer; echo two $x) | {b} -q -n 2 -- sh -c 'read l; \
             test $BACKOFF_ATTEMPT = 2 || echo $l >answer; read m; echo $l $m; test $BACKOFF_ATTEMPT = 2'",
            dir.path().display()
        );
        prints(&script, "one two one\none two one\n");

        let shown = run(&format!(
            "seq 9999 | {b} -n 3 --stdin-limit 1KiB -- sh -c 'wc -l; exit 1'"
        ));
        assert_eq!(
            (shown.stdout.as_str(), shown.code()),
            ("9999\n", Some(1)),
            "{}",
            shown.stderr
        );
        assert!(shown.stderr.contains("--stdin-limit"), "{}", shown.stderr);
        // Nothing is taken for a command that cannot be started, or for backoff itself.
        prints(
            &format!("echo left | {{ {b} -q -n 2 -- ./missing 2>/dev/null; cat; }}"),
            "left\n",
        );
        // Only written to, it stays the command's own.
        prints(&format!("{b} -n 2 -- sh -c 'echo written >&0' 0>&1 | cat"), "written\n");
    }
}

/// Not as a filter has it, but as nobody expects it.
fn no_random_numbers() {
    for error in ["ENOSYS", "EPERM", "EACCES", "EIO"] {
        let script = format!(
            "for options in '' '-r some.*thing' '--budget b --store redis://127.0.0.1:1'; do \
                 strace -f -o /dev/null -e inject=getrandom:error={error} {bin} -q -b 1ms $options -- echo out; echo $?; done",
            bin = *BIN
        );
        let shown = run(clean("bash").args(["-c", &script]));
        let is_final = !matches!(error, "ENOSYS" | "EPERM");
        let (mut stdout, no_numbers) = ("out\n0\nout\n0\nout\n0\n", "gives no random numbers");
        if is_final {
            // Patterns need a seed, the store does not.
            stdout = "out\n0\n125\nout\n0\n";
        }
        assert_eq!(shown.stdout, stdout, "{error}: {}", shown.stderr);
        assert_eq!(shown.stderr.contains(no_numbers), is_final, "{error}: {}", shown.stderr);
        assert!(!shown.stderr.contains("internal error"), "{error}: {}", shown.stderr);
    }
}

// --- Files that cannot be written ---

fn no_file_can_be_written() {
    let mut findings = Findings::default();
    for error in ["ENOSPC", "EIO", "EDQUOT", "EFBIG"] {
        for (mode, inject) in [
            (&MODES[0], "-P DIR/log -e inject=write"),
            // The report is the only thing that goes out by `write` where nothing is said.
            (&MODES[3], "-e trace=renameat,rename -e inject=renameat,rename"),
            (&MODES[2], "-e inject=pwrite64"),
            (&MODES[2], "-e inject=ftruncate,pwrite64"),
            (&MODES[1], "-e inject=pwrite64"),
            (&MODES[4], "-f -P DIR/store/b.budget -e inject=pwrite64"),
        ] {
            let what = format!("{inject}:error={error}");
            findings.run(mode, &what, &format!("strace -o /dev/null {what}"));
        }
        // A report, and nothing else that is written.
        let dir = tempfile::tempdir().unwrap();
        let quiet = Mode {
            name: "report",
            options: "-q --report DIR/report",
            ..MODES[4]
        };
        let what = format!("inject=write:error={error}");
        let shown = quiet.run(&format!("strace -o /dev/null -e {what}"), &dir);
        let judged = quiet.judge(&shown, &dir);
        findings.add(&quiet, &what, judged, &shown);
        assert!(
            shown.status.success() && !dir.path().join("report").exists(),
            "{shown:?}"
        );
    }
    findings.end();
}

/// The command waits for more input, which cannot be given to it, and must not be told that this was all.
fn kept_input_cannot_be_read() {
    let mut findings = Findings::default();
    for number in 4..10 {
        let dir = tempfile::tempdir().unwrap();
        let what = format!("inject=pread64:error=EIO:when={number}+");
        let script = format!(
            "head -c 3000000 /dev/zero | timeout --signal=KILL 15 strace -o /dev/null -e {what} \
             {bin} -n 2 -b 1ms --stdin replay -- sh -c 'cat >/dev/null && echo >\"$0/done\"' {}",
            dir.path().to_str().unwrap(),
            bin = *BIN
        );
        let mut command = clean("bash");
        let shown = run(command.args(["-c", &script]).env("TMPDIR", dir.path()));
        let result = match shown.code() {
            Some(125) if dir.path().join("done").exists() => Err("a false end".into()),
            Some(125) if shown.stderr.contains("Input/output error") => Ok(()),
            other => Err(format!("it ended with {other:?}")),
        };
        findings.add(&MODES[2], &what, result, &shown);
    }
    findings.end();
}

fn every_disk_is_full() {
    let mut findings = Findings::default();
    for mode in MODES {
        let dir = tempfile::tempdir().unwrap();
        // The directory of the run, with the log, the report, the store and the temporary files, has no room.
        let path = dir.path().to_str().unwrap();
        let inner = mode.script("", &dir).replace(r#"echo >"$0/done""#, "true");
        let script = format!(
            "mount -t tmpfs -o size=64k none '{path}' && {{ cat /dev/zero >'{path}/filler' 2>/dev/null; {inner}; }}; \
             s=$?; ls -A '{path}' | grep -v -e filler -e log -e store >&2; exit $s"
        );
        let mut command = clean("unshare");
        command.args(["--mount", "--map-root-user", "bash", "-c", &script]);
        command.env("TMPDIR", path).env("LC_ALL", "C");
        let shown = run(&mut command);
        // On that file system, which is gone; the command has nothing to write there.
        std::fs::write(dir.path().join("done"), "").unwrap();
        let mut result = mode.judge(&shown, &dir);
        if shown.stderr.contains(".backoff-report") {
            result = Err("a part of a report is left".into());
        }
        findings.add(mode, "a full disk", result, &shown);
    }
    findings.end();
}

fn no_process_can_be_made() {
    let mut findings = Findings::default();
    for mode in MODES {
        for error in ["EAGAIN", "ENOMEM", "ENOSPC", "EPERM"] {
            for when in ["1+", "2+"] {
                let what = format!("inject=clone,clone3,fork,vfork:error={error}:when={when}");
                findings.run(mode, &what, &format!("strace -o /dev/null -e {what}"));
            }
        }
    }
    findings.end();
}

// --- Limits ---

/// Succeeds twice; prints its input.
fn limited(mode: &Mode, limit: &str, dir: &TempDir) -> Shown {
    let options = mode.options.replace("DIR", dir.path().to_str().unwrap());
    let input = if mode.has_input { r"printf 'in\n' |" } else { "" };
    let nothing = if mode.has_input { "" } else { "</dev/null" };
    let command = if mode.has_input { "/bin/cat" } else { "/bin/echo in" };
    let script = format!(
        "{input} (ulimit -c 0; {limit}; exec {bin} --consecutive 2 -n 2 -b 1ms {options} -- {command}) {nothing}",
        bin = *BIN
    );
    let mut shell = clean("timeout");
    shell
        .args(["--signal=KILL", "15", "bash", "-c", &script])
        .env("TMPDIR", dir.path())
        .env("LC_ALL", "C");
    run(&mut shell)
}

fn judge_limited(mode: &Mode, shown: &Shown, dir: &TempDir) -> Result<(), String> {
    let expected = if mode.name == "held" { "in\n" } else { "in\nin\n" };
    let by_loader = shown.stderr.contains("shared librar") || shown.stderr.contains("timeout: ");
    let result = match (shown.code(), shown.signal()) {
        _ if shown.stderr.contains("internal error") || shown.stderr.contains("panicked") => Err("a panic".into()),
        (Some(0), _) if shown.stdout.replace('\r', "") != expected => Err("a false success".into()),
        (Some(137), _) | (None, Some(9)) => Err("a hang".into()),
        (Some(0), _) => Ok(()),
        (Some(125), _) if by_loader || shown.stderr.contains("backoff: ") => Ok(()),
        // The loader's of backoff, or of the command.
        (Some(1 | 126 | 127), _) if by_loader => Ok(()),
        other => Err(format!("it ended as {other:?}")),
    };
    result.and_then(|()| mode.nothing_is_left(dir, &shown.stderr))
}

fn few_descriptors() {
    let mut findings = Findings::default();
    for mode in MODES {
        let mut works_from = None;
        for number in 3..40 {
            let dir = tempfile::tempdir().unwrap();
            let shown = limited(mode, &format!("ulimit -n {number}"), &dir);
            findings.add(
                mode,
                &format!("{number} descriptors"),
                judge_limited(mode, &shown, &dir),
                &shown,
            );
            if shown.code() == Some(0) && !shown.stderr.contains("warning") {
                works_from.get_or_insert(number);
            } else {
                works_from = None;
            }
        }
        assert!(
            works_from.is_some_and(|from| from < 30),
            "{}: {works_from:?}",
            mode.name
        );
    }
    findings.end();
}

fn standard_streams_are_closed_or_full() {
    let mut findings = Findings::default();
    for mode in MODES {
        for redirect in [
            ">/dev/full",
            "2>/dev/full",
            ">&-",
            "2>&-",
            "<&-",
            "<&- >&-",
            ">&- 2>&-",
            "<&- >&- 2>&-",
            ">/dev/full 2>/dev/full",
        ] {
            let dir = tempfile::tempdir().unwrap();
            let shown = limited(mode, &format!("exec {redirect}"), &dir);
            let loses_output = redirect.split(' ').any(|word| word.starts_with('>'));
            let result = match shown.code() {
                _ if shown.stderr.contains("internal error") => Err("a panic".into()),
                Some(0) if loses_output => Err("output was lost, and nobody is told".into()),
                Some(0) if !redirect.contains('<') => judge_limited(mode, &shown, &dir),
                // `echo` and `cat` fail with 1.
                Some(0 | 1 | 125) => mode.nothing_is_left(&dir, ""),
                other => Err(format!("it ended with {other:?}")),
            };
            findings.add(mode, redirect, result, &shown);
        }
    }
    findings.end();
}

// --- Ended at any moment ---

/// A number in [0, 1) that differs from round to round, by the golden ratio: spread evenly, whatever the rounds.
fn spread(round: usize) -> f64 {
    (round as f64 * 0.618_033_988_749_895).fract()
}

/// Runs whose attempts take 4 ms and fail.
const FAILING: &[&str] = &[
    "--report DIR/report --log-file DIR/log --log-format json -v",
    "--report DIR/report --log-file DIR/log --log-format json -v --stop-match x --retry-if 'exit 0' --on-retry 'exit 0' --before-retry 'exit 0' --hook-output",
    "--report DIR/report --log-file DIR/log --log-format json -v --stdout final --stderr failure --stdin null",
    "--report DIR/report --log-file DIR/log --log-format json -v --budget b --budget-min 1000 --store DIR/store",
    "--report DIR/report --log-file DIR/log --log-format json -v --pty --stop-match x",
];

fn start_failing(round: usize, attempts: &str, dir: &TempDir) -> Child {
    let path = dir.path().to_str().unwrap();
    let options = FAILING[round % FAILING.len()].replace("DIR", path);
    let script = format!(
        "exec setsid {bin} --success-exit 77 -n {attempts} -b 2ms -m 4ms {options} -- sleep 0.004",
        bin = *BIN
    );
    let mut command = clean("sh");
    command
        .args(["-c", &script])
        .env("TMPDIR", path)
        .env("FAULTS_MARK", path);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The processes that a run has left.
fn left_by(dir: &TempDir) -> Vec<i32> {
    with_variable("FAULTS_MARK", dir.path().to_str().unwrap())
}

/// Lines of JSON, all of them whole.
fn log_of(dir: &TempDir) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(dir.path().join("log")).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "half a line: {text:?}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn report_of(dir: &TempDir) -> Option<serde_json::Value> {
    let text = std::fs::read_to_string(dir.path().join("report")).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

fn end_with(child: &mut Child, signal: Signal, after: Duration) {
    let began = Instant::now();
    while began.elapsed() < after {
        std::thread::sleep(after.saturating_sub(began.elapsed()).min(Duration::from_millis(1)));
    }
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

fn killed_at_a_random_moment() {
    let mut reports = 0;
    for round in 0..rounds() {
        let dir = tempfile::tempdir().unwrap();
        // Three attempts, so that the end of the run is hit as well.
        let mut child = start_failing(round, "3", &dir);
        end_with(
            &mut child,
            Signal::SIGKILL,
            Duration::from_micros((spread(round) * 80_000.0) as u64),
        );
        let status = end_of("KILL", &mut child);
        assert!(
            status.signal() == Some(9) || status.code() == Some(0) || status.code() == Some(1),
            "{status:?}"
        );
        eventually("all that it started is gone", || left_by(&dir).is_empty());
        log_of(&dir);
        reports += usize::from(report_of(&dir).is_some());
        // Nobody holds the lock, and what is in the file is whole.
        if dir.path().join("store").exists() {
            let options = words!("--budget b --store {}", within(&dir, "store"));
            let shown = run(backoff(&options).args(["--", "true"]));
            assert!(shown.status.success() && shown.stderr.is_empty(), "{shown:?}");
        }
    }
    println!("killed: {} runs, {reports} of them with a report", rounds());
}

fn ended_at_a_random_moment() {
    let mut as_it_ended = 0;
    for round in 0..rounds() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = start_failing(round, "unlimited", &dir);
        end_with(
            &mut child,
            Signal::SIGTERM,
            Duration::from_micros((spread(round) * 100_000.0) as u64),
        );
        let sent = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        let status = end_of("TERM", &mut child);
        // An attempt that ends by itself in that moment has ended as it did, and was judged a failure by its code, 0.
        assert!(
            status.signal() == Some(15) || status.code() == Some(0),
            "round {round}: {status:?} {:#?}",
            log_of(&dir)
        );
        as_it_ended += usize::from(status.signal().is_none());
        assert_eq!(left_by(&dir), [0; 0], "round {round}");
        let log = log_of(&dir);
        // One may have been on its way when the signal was sent.
        let after = log
            .iter()
            .filter(|line| line["event"] == "attempt_started" && time(&line["ts"]) > sent);
        assert!(after.count() <= 1, "round {round}: {log:#?}");
        let report = report_of(&dir);
        if !log.is_empty() {
            assert_eq!(log.last().unwrap()["event"], "interrupted", "round {round}: {log:#?}");
            assert_eq!(report.as_ref().unwrap()["result"], "interrupted", "round {round}");
        }
        if let Some(report) = report {
            assert_eq!(report["exit_status"], status.code().unwrap_or(128 + 15));
        }
        MODES[0].nothing_is_left(&dir, "").unwrap();
    }
    println!(
        "TERM: {} runs, {as_it_ended} of them ended as an attempt that ended by itself",
        rounds()
    );
}

/// A time of RFC 3339, to the millisecond.
fn time(text: &serde_json::Value) -> Duration {
    let time = humantime::parse_rfc3339(text.as_str().unwrap()).unwrap();
    time.duration_since(std::time::UNIX_EPOCH).unwrap()
}

// --- For a long time ---

fn a_soak() {
    soak("-q --report DIR/report");
}

fn a_soak_with_everything() {
    soak(
        "-v --log-format json --log-file DIR/log --report DIR/report --stop-match x --stdout final --stdin null --retry-after",
    );
}

/// The resources of a process.
#[derive(Debug, Clone, Copy)]
struct Held {
    kilobytes: usize,
    descriptors: usize,
    children: usize,
}

fn held(pid: u32) -> Option<Held> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    Some(Held {
        kilobytes: resident.trim().split(' ').next()?.parse().ok()?,
        descriptors: std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count(),
        children: children.split_whitespace().count(),
    })
}

fn soak(options: &str) {
    let dir = tempfile::tempdir().unwrap();
    let options = options.replace("DIR", dir.path().to_str().unwrap());
    let attempts = rounds() * 40;
    let script = format!("exec {bin} -n {attempts} -b 0 -m 0 {options} -- false", bin = *BIN);
    let mut child = clean("sh").args(["-c", &script]).spawn().unwrap();
    let mut samples = Vec::new();
    while child.try_wait().unwrap().is_none() {
        if Path::new(&format!("/proc/{}/exe", child.id()))
            .canonicalize()
            .is_ok_and(|exe| exe == Path::new(*BIN).canonicalize().unwrap())
        {
            samples.extend(held(child.id()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // The text of the report, at the very end, is not what is meant.
    samples.truncate(samples.len() * 98 / 100);
    let report = report_of(&dir).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(
        report["result"] == "gave_up" || report["exit_status"] == 1,
        "{}",
        report["result"]
    );
    // The report keeps the last 10,000 attempts; from then on nothing grows.
    let settled = samples.len() * 6 / 10;
    let (early, late) = (&samples[samples.len() / 10..settled], &samples[settled..]);
    let most = |samples: &[Held], what: fn(&Held) -> usize| samples.iter().map(what).max().unwrap();
    let [memory, memory_late] = [early, late].map(|samples| most(samples, |held| held.kilobytes));
    let [descriptors, descriptors_late] = [early, late].map(|samples| most(samples, |held| held.descriptors));
    let children = most(&samples, |held| held.children);
    println!(
        "soak of {attempts}: {} samples; memory {memory} KiB, then {memory_late}; descriptors {descriptors}, then \
         {descriptors_late}; at most {children} children",
        samples.len()
    );
    let growth = if attempts < 20_000 { 2048 } else { 512 };
    assert!(memory_late <= memory + growth, "{memory} KiB, then {memory_late}");
    assert!(
        descriptors_late <= descriptors && descriptors <= 16,
        "{descriptors}, then {descriptors_late}"
    );
    assert!(children <= 1);
}
