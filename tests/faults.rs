//! Failing system calls, full disks and limits. backoff never panics or hangs, leaves nothing behind, and exits with 0
//! only if the command did its work.

use std::process::ExitStatus;

use serde_json::Value;
use tempfile::TempDir;

use crate::util::{BIN, Ends, PATIENCE, clean, side_by_side};

tests! {
    one_call_fails ["strace"]
    every_disk_is_full ["unshare"]
    few_descriptors ["bash"]
    standard_streams_are_closed_or_full ["bash"]
}

// --- Modes ---

/// Name, options (with `DIR` for the run's directory), bytes of output before each attempt's line, input, and the
/// output without a fault.
const MODES: &str = r"
plain | --report DIR/report --log-file DIR/log -v | 0 | | out 1\nout 2\n
observed | -r nothing --retry-if 'exit 0' --success-if 'exit 0' --on-retry true --before-retry true --hook-output --retry-after | 0 | in\nmore\n | out 1 in\nout 2 in\n
held | --stdout final --stderr failure --stdin replay --log-format json | 1200000 | in\nmore\n | out 2 in\n
pty | --pty -r out --report DIR/report | 0 | | out 1\nout 2\n
budget | --budget b --store DIR/store --stderr null --stdin null | 0 | | out 1\nout 2\n
";

struct Mode {
    name: &'static str,
    options: &'static str,
    bulk: &'static str,
    input: &'static str,
    output: String,
}

fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let cells = |row: &'static str| row.split('|').map(str::trim).collect::<Vec<_>>();
    let rows = table.lines().filter(|row| row.contains('|'));
    rows.map(move |row| {
        cells(row)
            .try_into()
            .expect("as many cells as the table has")
    })
}

fn modes() -> impl Iterator<Item = Mode> {
    rows(MODES).map(|[name, options, bulk, input, output]| Mode {
        name,
        options,
        bulk,
        input,
        output: output.replace(r"\r", "\r").replace(r"\n", "\n"),
    })
}

/// Fails on the first attempt and succeeds on the second, which creates `done`.
const COMMAND: &str = r#"read line; test $1 = 0 || head -c $1 /dev/zero
echo out $BACKOFF_ATTEMPT $line; test $BACKOFF_ATTEMPT = 2 || exit 1; echo >"$0/done""#;

impl Mode {
    /// Returns a shell command that runs backoff in this mode. `LINE` in `around` stands for backoff's command line.
    fn script(&self, around: &str, command: &str) -> String {
        let (from, input) = match self.input {
            "" => ("</dev/null", String::new()),
            input => ("", format!("printf '{input}' |")),
        };
        let limit = PATIENCE.as_secs();
        let line = around.replace(
            "LINE",
            &format!("{} -n 2 -b 1ms {} -- {command}", *BIN, self.options),
        );
        format!("{input} timeout --signal=KILL {limit} {line} {from}")
    }

    fn two_attempts(&self, around: &str) -> String {
        self.script(around, &format!("sh -c '{COMMAND}' DIR {}", self.bulk))
    }

    /// Returns an error if the result of two attempts under a fault is wrong.
    fn judge(&self, shown: &Shown, dir: &TempDir) -> Result<(), String> {
        let said = log_of(dir) + &shown.stderr;
        let says_why = |why: &&str| said.contains(why);
        match shown.status.code() {
            _ if has_panicked(&said) => return Err("a panic".into()),
            Some(0) if !dir.path().join("done").exists() => return Err("a false success".into()),
            Some(0) if shown.stdout.trim_start_matches('\0') != self.output => {
                return Err("another output".into());
            }
            Some(0) => {}
            Some(125) => {
                let says = |line: &str| !line.contains("warning") && !line.contains("attempt");
                let is_error = |line: &&str| line.starts_with("backoff: ") && says(line);
                let errors = shown.stderr.lines().filter(is_error).count();
                if errors != 1 && !shown.stderr.is_empty() {
                    return Err(format!("{errors} lines say what is wrong"));
                }
            }
            // The command's own status, or a failed start.
            Some(1 | 126) if ["gave up", "gave_up", "cannot run"].iter().any(says_why) => {}
            // `timeout` ends a hang with SIGKILL.
            _ => return Err("another end".into()),
        }
        nothing_is_left(dir, &shown.stderr)
    }

    /// Returns an error if the fault changed anything.
    fn judge_same(&self, shown: &Shown, dir: &TempDir) -> Result<(), String> {
        self.judge(shown, dir)?;
        let warns = (log_of(dir) + &shown.stderr).contains("warning");
        let has_report = report_of(dir).is_some() == self.options.contains("report");
        let is_same = shown.status.success() && !warns && has_report;
        is_same.then_some(()).ok_or("something has changed".into())
    }
}

fn has_panicked(said: &str) -> bool {
    said.contains("internal error") || said.contains("panicked")
}

/// Returns an error if a run left unknown files that it did not mention. Panics if the report is incomplete.
fn nothing_is_left(dir: &TempDir, told: &str) -> Result<(), String> {
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !["log", "report", "store", "done", "trace"].contains(&name.as_str())
            && !told.contains(&name)
        {
            return Err(format!("{name} is left"));
        }
    }
    report_of(dir);
    Ok(())
}

fn log_of(dir: &TempDir) -> String {
    std::fs::read_to_string(dir.path().join("log")).unwrap_or_default()
}

fn report_of(dir: &TempDir) -> Option<Value> {
    let text = std::fs::read_to_string(dir.path().join("report")).ok()?;
    Some(serde_json::from_str(&text).expect("a whole report"))
}

/// The result of a run, however it ended.
struct Shown {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

/// Runs a script, in which `DIR` stands for a new directory.
fn ran(script: &str) -> (Shown, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let mut command = clean("bash");
    command
        .args(["-c", &script.replace("DIR", path)])
        .env("TMPDIR", path);
    let mut live = command.env("LC_ALL", "C").live();
    // The timeout in the script fires first.
    live.patience *= 2;
    let output = live.output();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let shown = Shown {
        status: output.status,
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    };
    (shown, dir)
}

/// Returns a description of what is wrong with a run.
fn finding(what: &str, shown: &Shown, result: Result<(), String>) -> Option<String> {
    let [output, errors] = [&shown.stdout, &shown.stderr].map(|text| {
        let text = text.trim_start_matches('\0');
        text.chars()
            .skip(text.chars().count().saturating_sub(200))
            .collect::<String>()
    });
    let why = result.err()?;
    Some(format!(
        "{what}: {why} ({})\n  {output:?}\n  {errors:?}",
        shown.status
    ))
}

/// Fails with a list of all findings.
#[track_caller]
fn expect_none(findings: &[String]) {
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// Asserts that no mode has a finding. Runs the modes in parallel.
fn expect_none_in_any_mode(findings_in: impl Fn(&Mode) -> Vec<String> + Sync) {
    let modes: Vec<Mode> = modes().collect();
    expect_none(&side_by_side(&modes, findings_in).concat());
}

/// Makes two attempts in a mode while `strace` makes calls fail.
fn injected(mode: &Mode, filter: &str, [calls, error, when]: [&str; 3]) -> Option<String> {
    let before =
        format!("strace -o /dev/null {filter} -e inject={calls}:error={error}:when={when}");
    let (shown, dir) = ran(&mode.two_attempts(&format!("{before} LINE")));
    let judge = if error == "EINTR" {
        Mode::judge_same
    } else {
        Mode::judge
    };
    finding(
        &format!("{} with {before}", mode.name),
        &shown,
        judge(mode, &shown, &dir),
    )
}

// --- Calls that fail ---

/// Modes, options of `strace`, calls, the errors that they return, and which of the calls fail.
const FAULTS: &str = "
all | | clone,clone3,fork,vfork | EAGAIN ENOMEM ENOSPC EPERM | 1+ 2+
# Between clone and exec, where no message can be made. The first call of each name in a process precedes exec.
all | -f -P /bin/sh -P SHELL | execve | EIO ENOMEM EAGAIN ETXTBSY E2BIG | 1+
all | -f | setpgid setsid prctl dup2 | EIO | 1
budget | -f STORE | openat mkdir fstat newfstatat statx flock read pwrite64 ftruncate close | EIO ENOSPC EDQUOT | 1 2 3 4 5 6
budget | -f STORE | openat read pwrite64 | EINTR | 1
budget | -f -P DIR/store/b.budget | pwrite64 | ENOSPC EIO EDQUOT EFBIG | 1+
plain | -P DIR/log | write | ENOSPC EIO EDQUOT EFBIG | 1+
# The report is the only file that is renamed.
pty | | renameat,rename | ENOSPC EIO EDQUOT EFBIG | 1+
observed held | | pwrite64 | ENOSPC EIO EDQUOT EFBIG | 1+
held | | ftruncate,pwrite64 | ENOSPC EIO EDQUOT EFBIG | 1+
";

fn one_call_fails() {
    let shell = std::fs::canonicalize("/bin/sh").unwrap();
    expect_none_in_any_mode(|mode| {
        let mut findings = Vec::new();
        for [names, filter, calls, errors, times] in rows(FAULTS) {
            if !names.contains("all") && !names.contains(mode.name) {
                continue;
            }
            let filter = filter.replace("STORE", "-P DIR/store -P DIR/store/b.budget");
            let filter = filter.replace("SHELL", shell.to_str().unwrap());
            for calls in calls.split(' ') {
                for error in errors.split(' ') {
                    for when in times.split(' ') {
                        findings.extend(injected(mode, &filter, [calls, error, when]));
                    }
                }
            }
        }
        findings
    });
}

/// Fills the run's directory, so the log, the report, the store and temporary files have no room.
fn every_disk_is_full() {
    let mut findings = Vec::new();
    for mode in modes() {
        let inner = mode
            .two_attempts("LINE")
            .replace(r#"echo >"$0/done""#, "true");
        let (shown, dir) = ran(&format!(
            "unshare --mount --map-root-user bash <<'END'
mount -t tmpfs -o size=64k none DIR && {{ cat /dev/zero >DIR/filler 2>/dev/null; {inner}; }}
s=$?; ls -A DIR | grep -q .backoff-report && exit 99; exit $s
END"
        ));
        // The command cannot create `done` on the full disk.
        std::fs::write(dir.path().join("done"), "").unwrap();
        let result = mode.judge(&shown, &dir);
        findings.extend(finding(
            &format!("{} with a full disk", mode.name),
            &shown,
            result,
        ));
    }
    expect_none(&findings);
}

// --- Limits ---

/// Makes two successful attempts that print their input, after a shell command that sets limits.
fn limited(mode: &Mode, limit: &str) -> (Shown, Option<String>) {
    let reads = !mode.input.is_empty();
    let command = if reads { "head -n 1" } else { "echo in" };
    let script = mode.script(
        &format!("bash -c \"ulimit -c 0; {limit}; exec LINE\""),
        command,
    );
    let (shown, dir) = ran(&script.replace(" -n 2 ", " -n 2 --consecutive 2 "));
    let output = if mode.name == "held" {
        "in\n"
    } else {
        "in\nin\n"
    };
    let redirects =
        |sign| limit.starts_with("exec") && limit.split(' ').any(|word| word.starts_with(sign));
    let by_loader = shown.stderr.contains("shared librar") || shown.stderr.contains("timeout: ");
    let is_told = by_loader || shown.stderr.contains("backoff: ") || limit.starts_with("exec");
    let result = match shown.status.code() {
        _ if has_panicked(&shown.stderr) => Err("a panic".into()),
        Some(0) if redirects('>') => Err("output was lost without a message".into()),
        Some(0) if !limit.contains('<') && shown.stdout.replace('\r', "") != output => {
            Err("a false success".into())
        }
        Some(0) => Ok(()),
        Some(125) if is_told => Ok(()),
        // The loader of backoff or of the command failed. `echo` and `head` exit with 1.
        Some(126 | 127) if by_loader => Ok(()),
        Some(1) if by_loader || limit.starts_with("exec") => Ok(()),
        _ => Err("another end".into()),
    };
    let result = result.and_then(|()| nothing_is_left(&dir, &shown.stderr));
    let finding = finding(&format!("{} with {limit}", mode.name), &shown, result);
    (shown, finding)
}

fn few_descriptors() {
    expect_none_in_any_mode(|mode| {
        let mut findings = Vec::new();
        let mut works_from = None;
        for number in 3..40 {
            let (shown, finding) = limited(mode, &format!("ulimit -n {number}"));
            findings.extend(finding);
            let works = shown.status.code() == Some(0) && !shown.stderr.contains("warning");
            works_from = works_from.or(Some(number)).filter(|_| works);
        }
        let name = mode.name;
        assert!(
            works_from.is_some_and(|from| from < 30),
            "{name}: {works_from:?}"
        );
        findings
    });
}

fn standard_streams_are_closed_or_full() {
    let redirects =
        ">/dev/full,2>/dev/full,>&-,2>&-,<&-,<&- >&-,>&- 2>&-,<&- >&- 2>&-,>/dev/full 2>/dev/full";
    let mut findings = Vec::new();
    for mode in modes() {
        for redirect in redirects.split(',') {
            findings.extend(limited(&mode, &format!("exec {redirect}")).1);
        }
    }
    expect_none(&findings);
}
