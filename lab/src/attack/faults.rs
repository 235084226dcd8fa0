//! A system call of backoff's fails, by strace. Permitted is the right output and status, or one line that says what is
//! wrong.

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use nix::libc;
use rand::RngExt;

use super::numbered::{Numbered, expect_input, written};
use super::outcome::{Loss, Outcome, ensure};
use super::round::{Round, Shown};

struct Scene {
    options: &'static str,
    reads: bool,
    /// Lines of a kilobyte.
    lines: u64,
    /// The calls that it makes of its own: name and number, counted as strace does.
    calls: OnceLock<Vec<(String, usize)>>,
}

impl Scene {
    const fn new(options: &'static str, reads: bool, lines: u64) -> Scene {
        Scene {
            options,
            reads,
            lines,
            calls: OnceLock::new(),
        }
    }
}

static SCENES: [Scene; 8] = [
    Scene::new("--report DIR/report --log-file DIR/log --log-format json -v", false, 3),
    Scene::new("-r nothing --retry-if true --on-retry true --retry-after", true, 3),
    Scene::new(
        "--stdout final --stderr failure --stdin replay --log-format json",
        true,
        3,
    ),
    Scene::new("--stdout final --stdin replay", true, 1200),
    Scene::new("-r <1 -t 10s -i 5s", false, 1200),
    Scene::new("--pty -r <1 --report DIR/report", false, 3),
    Scene::new(STORE, false, 3),
    Scene::new("-d 10s -t 5s --success-match <2", false, 3),
];

const STORE: &str = "--budget b --store DIR/store --cool-off --store-timeout 15s --stderr null --stdin null";

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
    "exit",
    "rt_sigreturn",
    "restart_syscall",
    // The kernel gives the old end for an error, which strace cannot.
    "brk",
    // Linux closes whatever it answers; strace leaves it open.
    "close",
    // A wake-up always arrives; strace would lose it.
    "futex",
];

const ERRORS: &[&str] = &[
    "EIO", "ENOMEM", "EINTR", "ENOSPC", "EPERM", "EACCES", "EMFILE", "EAGAIN",
];

/// What the kernel makes of a call, where it cannot be anything.
fn errors(call: &str, is_pty: bool) -> &'static [&'static str] {
    match call {
        "mmap" | "mremap" | "munmap" | "madvise" | "mprotect" => &["ENOMEM"],
        "getrandom" => &["ENOSYS", "EPERM"],
        // EIO is the end of a pseudo-terminal.
        "read" if is_pty => &["ENOMEM", "EINTR"],
        "clone" | "clone3" | "vfork" | "fork" => &["EAGAIN", "ENOMEM"],
        "openat" => &["EMFILE", "EACCES", "ENOSPC"],
        "ppoll" | "poll" => &["EINTR", "ENOMEM"],
        // Would be taken for an empty queue, or for a pipe that is full.
        "tee" | "read" => &["EIO", "ENOMEM", "EINTR"],
        "write" | "pwrite64" | "ftruncate" | "fallocate" => &["EIO", "ENOSPC", "EINTR", "EFBIG", "EDQUOT"],
        "waitid" | "wait4" => &["EINTR"],
        _ => ERRORS,
    }
}

impl Scene {
    fn command(&self) -> Numbered {
        Numbered {
            lines: self.lines,
            padding: if self.lines > 3 { 1000 } else { 1 },
            reads: self.reads,
            ..Numbered::default()
        }
    }

    fn input(&self) -> Option<Vec<u8>> {
        self.reads.then(|| vec![b'i'; 20_000])
    }

    /// One run, with these options of strace.
    fn run(&self, round: &mut Round, strace: &str) -> Outcome<Shown> {
        let mut words = round.options(strace);
        words.push(round.binary.clone());
        words.extend(round.options(&format!("-n 2 -b 1ms {}", self.options)));
        words.extend(self.command().words(round));
        // strace waits for what it started, in a session of its own.
        let mut line = round.command("setsid");
        line.arg("strace").args(words);
        round.run(&mut line, self.input())
    }

    fn calls(&self, round: &mut Round) -> Outcome<&[(String, usize)]> {
        if let Some(calls) = self.calls.get() {
            return Ok(calls);
        }
        let shown = self.run(round, "-o DIR/trace")?;
        ensure!(shown.status.success(), "it fails without a fault\n{shown}");
        let trace = fs::read_to_string(round.dir().join("trace"))?;
        for name in ["trace", "starts", "written", "errors", "in.1", "in.2", "report", "log"] {
            let _ = fs::remove_file(round.dir().join(name));
        }
        let _ = fs::remove_dir_all(round.dir().join("store"));
        Ok(self.calls.get_or_init(|| own_calls(&trace)))
    }
}

/// Without those of the loader, which end as it protects what it has relocated.
fn own_calls(trace: &str) -> Vec<(String, usize)> {
    let names = trace
        .lines()
        .filter_map(|line| line.split_once('(').map(|(name, _)| name));
    let names: Vec<&str> = names
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    let heard = names.iter().position(|name| *name == "signalfd4").unwrap_or(0);
    let loaded = names[..heard].iter().rposition(|name| *name == "mprotect").unwrap_or(0);
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut calls = Vec::new();
    for (i, name) in names.into_iter().enumerate() {
        let count = counts.entry(name).or_default();
        *count += 1;
        if i > loaded && !INFALLIBLE.contains(&name) {
            calls.push((name.to_owned(), *count));
        }
    }
    calls
}

pub fn play(round: &mut Round) -> Outcome {
    let scene = &SCENES[round.rng.random_range(0..SCENES.len())];
    let calls = scene.calls(round)?;
    let strace = if scene.options == STORE && round.is(0.5) {
        store_fault(round)
    } else {
        let (call, number) = &calls[round.rng.random_range(0..calls.len())];
        // The later ones are those of the C library when it makes a thread; it does not look what they say.
        let number = if call == "rt_sigprocmask" { 1 } else { *number };
        let error = round.pick(errors(call, scene.options.contains("--pty")));
        // Signals are read as well, which no kernel refuses for ever.
        let may_last = error != "EINTR" && call != "read";
        let all = if may_last && round.is(0.2) { "+" } else { "" };
        format!("-o /dev/null -e trace={call} -e inject={call}:error={error}:when={number}{all}")
    };
    let shown = scene.run(round, &strace)?;
    let is_mute = strace.contains("inject=write:") && strace.ends_with('+');
    judge(scene, round, &shown, is_mute)?;
    super::signals::expect_whole_files(round, None)
}

/// Of the thread that asks the store, in calls that it makes of the store's files.
fn store_fault(round: &mut Round) -> String {
    let call = round.pick(&["openat", "mkdir", "flock", "pread64", "pwrite64", "ftruncate", "fstat"]);
    let error = round.pick(&["EIO", "ENOSPC", "EDQUOT", "EINTR", "EACCES"]);
    let number = round.rng.random_range(1..=6);
    format!(
        "-f -o /dev/null -P DIR/store -P DIR/store/b.budget -e trace={call} -e inject={call}:error={error}:when={number}"
    )
}

/// `is_mute`: nothing can be said.
fn judge(scene: &Scene, round: &Round, shown: &Shown, is_mute: bool) -> Outcome {
    let command = scene.command();
    let log = fs::read_to_string(round.dir().join("log")).unwrap_or_default();
    let says_why = |text: &str| {
        ["gave up", "gave_up", "cannot run"]
            .iter()
            .any(|words| text.contains(words))
    };
    ensure!(!log.contains("internal error"), "a panic, by the log: {log}\n{shown}");
    match (shown.code(), shown.signal()) {
        (Some(0), _) => {
            ensure!(written(round).contains(&2), "a false success\n{shown}");
            let outcome = if scene.options.contains("--stdout final") {
                command.expect_final(&shown.stdout, true)
            } else {
                command.expect_stream(round, &shown.stdout)
            };
            let seen = |Loss(what)| Loss(format!("{what}\n{shown}"));
            outcome.map_err(seen)?;
            if let Some(input) = scene.input() {
                expect_input(round, &input).map_err(seen)?;
            }
        }
        (Some(125), _) => {
            let lines = shown.stderr.lines().filter(|line| line.starts_with("backoff: "));
            let errors = lines
                .filter(|line| !line.contains("warning") && !line.contains("attempt"))
                .count();
            ensure!(
                errors == 1 || is_mute && errors == 0,
                "{errors} lines say what is wrong\n{shown}"
            );
            command.lines_of_attempts(&shown.stdout)?;
        }
        // The command's own, or that it could not be started.
        (Some(1 | 126), _) => {
            ensure!(
                says_why(&shown.stderr) || says_why(&log) || is_mute,
                "a failure that nothing explains\n{shown}"
            );
            command.lines_of_attempts(&shown.stdout)?;
        }
        // Nothing can be done about memory.
        (None, Some(libc::SIGABRT)) if shown.stderr.contains("memory allocation of") => {}
        _ => return Err(Loss(format!("a status that nothing explains\n{shown}"))),
    }
    Ok(())
}
