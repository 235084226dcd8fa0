//! The tools, and how each is told the same thing.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::{Result, builds, child};

pub const NO_WAIT: Duration = Duration::ZERO;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    StaticBackoff,
    Backoff,
    Timeout,
    Loop,
    Debian,
    RecurPython,
    RecurGo,
    Attempt,
    Eb,
}

/// The loop that people write, with a status that it does not forget.
const LOOP: &str = r#"tries=$1 wait=$2; shift 2; n=1
until "$@"; do
    status=$?
    [ "$n" -lt "$tries" ] || exit "$status"
    n=$((n + 1)); sleep "$wait"
done"#;

#[derive(Clone)]
pub struct Tool {
    pub title: &'static str,
    kind: Kind,
    program: String,
}

/// Those that are here and work, and the titles of those that are not.
pub fn find() -> Result<(Vec<Tool>, Vec<&'static str>)> {
    let static_one = builds::static_one()?.map(|path| as_after_a_restart(&path, "static"));
    let static_one = static_one.transpose()?.unwrap_or_default();
    let recur = named("RECUR", "recur");
    let (recur_title, recur_kind) = match located(&recur).map(|path| is_script(&path)) {
        Some(true) => ("recur (Python)", Kind::RecurPython),
        Some(false) => ("recur (Go)", Kind::RecurGo),
        None => ("recur", Kind::RecurGo),
    };
    let candidates = [
        ("backoff, static", Kind::StaticBackoff, static_one),
        (
            "backoff",
            Kind::Backoff,
            as_after_a_restart(&builds::plain()?, "plain")?,
        ),
        ("timeout", Kind::Timeout, named("TIMEOUT", "timeout")),
        ("loop in bash", Kind::Loop, "bash".to_owned()),
        ("retry (Debian)", Kind::Debian, named("DEBIAN_RETRY", "/usr/bin/retry")),
        (recur_title, recur_kind, recur),
        ("attempt", Kind::Attempt, named("ATTEMPT", "attempt")),
        ("eb", Kind::Eb, named("EB", "eb")),
    ];
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (title, kind, program) in candidates {
        let tool = located(&program).map(|program| Tool { title, kind, program });
        match tool.filter(Tool::works) {
            Some(tool) => found.push(tool),
            None => missing.push(title),
        }
    }
    Ok((found, missing))
}

/// As all other tools are: read from the disk.
fn as_after_a_restart(program: &str, name: &str) -> Result<String> {
    let path = builds::installed(program, name)?;
    builds::forget_pages(&path)?;
    Ok(path)
}

fn named(variable: &str, usual: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| usual.to_owned())
}

/// By its whole path, so that nobody has to search PATH while the clock runs.
fn located(program: &str) -> Option<String> {
    if program.contains('/') {
        return Path::new(program).is_file().then(|| program.to_owned());
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut places = path.split(':').map(|dir| format!("{dir}/{program}"));
    places.find(|place| !program.is_empty() && Path::new(place).is_file())
}

fn is_script(path: &str) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"#!"))
}

impl Tool {
    /// This tool in front of a command, with so many attempts and a wait after each that failed. None if it cannot be told
    /// that.
    pub fn wrap(&self, attempts: usize, wait: Duration, command: &[&str]) -> Option<Vec<String>> {
        let n = attempts.to_string();
        let seconds = format!("{}", wait.as_secs_f64());
        let with_unit = format!("{seconds}s");
        let options: &[&str] = match self.kind {
            Kind::StaticBackoff | Kind::Backoff => {
                &["-q", "-n", &n, "-b", &with_unit, "-m", &with_unit, "-j", "none", "--"]
            }
            Kind::Timeout if attempts == 1 => &["60"],
            Kind::Loop => &["-c", LOOP, "loop", &n, &seconds],
            // Whole seconds only.
            Kind::Debian if wait.subsec_nanos() != 0 => return None,
            Kind::Debian | Kind::RecurPython => &["-t", &n, "-d", &seconds, "--"],
            Kind::RecurGo => &["-a", &n, "-d", &with_unit, "--"],
            Kind::Attempt => &["fixed", "-w", &seconds, "-a", &n, "--"],
            // Its waits are as long as the command took, so many times as it draws.
            Kind::Eb if attempts == 1 => &["-x", &n, "--"],
            Kind::Timeout | Kind::Eb => return None,
        };
        let words = [&self.program as &str].into_iter().chain(options.iter().copied());
        Some(words.chain(command.iter().copied()).map(str::to_owned).collect())
    }

    /// This tool, copied once more.
    pub fn just_installed(&self) -> Result<Tool> {
        let name = if self.is_static() { "static-new" } else { "plain-new" };
        let program = builds::installed(&self.program, name)?;
        // To be copied it was read in one go, which leaves larger pages, too.
        builds::forget_pages(&self.program)?;
        Ok(Tool {
            program,
            ..self.clone()
        })
    }

    pub fn is_backoff(&self) -> bool {
        matches!(self.kind, Kind::Backoff | Kind::StaticBackoff)
    }

    pub fn is_static(&self) -> bool {
        self.kind == Kind::StaticBackoff
    }

    pub fn program(&self) -> &str {
        &self.program
    }

    fn works(&self) -> bool {
        let words = self.wrap(1, NO_WAIT, &["true"]);
        words.is_some_and(|words| child::of_words(&words).status().is_ok_and(|status| status.success()))
    }

    /// As it tells it, or nothing.
    pub fn version(&self) -> String {
        let output = child::command(&self.program)
            .arg("--version")
            .stdout(Stdio::piped())
            .output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut words = text.split([' ', ',', '\n', '(']);
        let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'));
        version.unwrap_or_default().to_owned()
    }
}
