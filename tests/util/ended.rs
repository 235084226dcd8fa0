//! Checks how a run ended, with assert_cmd. Output that a test does not mention must be empty: `backoff("-n 2 -b 1ms --
//! false").code(1).stderr("...")`.
//!
//! In expected text, `...` stands for any text within a line. A line `...` stands for any number of lines.

use std::panic::Location;
use std::process::{Command, Output};
use std::sync::LazyLock;

use assert_cmd::assert::{Assert, OutputAssertExt};
use nix::sys::signal::Signal;
use regex::Regex;

use super::live::Live;

/// A time in a message, such as `1m30s` or `<1ms`.
pub const TIME: &str = r"<?(?:[0-9]+(?:\.[0-9]+)?(?:us|ms|s|m|h|d))+";

pub trait Ends {
    /// Runs the command and asserts this exit code.
    fn code(&mut self, code: i32) -> Ended;

    /// Runs the command and asserts that this signal killed it.
    fn killed_by(&mut self, signal: Signal) -> Ended;

    /// Runs the command, which may exit with any status.
    fn ends(&mut self) -> Output;

    /// Starts the command and reads its output.
    fn live(&mut self) -> Live;

    /// Starts the command without redirecting its output.
    fn unread(&mut self) -> Live;
}

impl Ends for Command {
    #[track_caller]
    fn code(&mut self, code: i32) -> Ended {
        self.live().code(code)
    }

    #[track_caller]
    fn killed_by(&mut self, signal: Signal) -> Ended {
        self.live().killed_by(signal)
    }

    #[track_caller]
    fn ends(&mut self) -> Output {
        self.live().output()
    }

    #[track_caller]
    fn live(&mut self) -> Live {
        Live::start(self)
    }

    #[track_caller]
    fn unread(&mut self) -> Live {
        Live::unread(self)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stream {
    Out,
    Err,
}

/// A run that ended as expected.
pub struct Ended {
    assert: Option<Assert>,
    unmentioned: Vec<Stream>,
}

impl Ended {
    #[track_caller]
    pub fn with_code(command: &str, output: Output, code: i32) -> Ended {
        Ended::checked(command, output.assert().code(code))
    }

    #[track_caller]
    pub fn by_signal(command: &str, output: Output, signal: Signal) -> Ended {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(
            output.status.signal(),
            Some(signal as i32),
            "{command}: {output:?}"
        );
        Ended::checked(command, output.assert())
    }

    #[track_caller]
    fn checked(command: &str, assert: Assert) -> Ended {
        let place = Location::caller();
        Ended {
            assert: Some(assert.append_context("command", format!("{command}\nplace: {place}"))),
            unmentioned: vec![Stream::Out, Stream::Err],
        }
    }

    #[track_caller]
    fn check(mut self, stream: Stream, expected: &str, fits: impl Fn(&str) -> bool) -> Ended {
        let fits = str::from_utf8(self.bytes(stream)).is_ok_and(fits);
        let run = self.assert.as_ref().unwrap();
        assert!(fits, "{stream:?} is not {expected:?} in this run:\n{run}");
        self
    }

    #[track_caller]
    pub fn stdout(self, expected: &str) -> Ended {
        self.check(Stream::Out, expected, |text| text_matches(expected, text))
    }

    #[track_caller]
    pub fn stderr(self, expected: &str) -> Ended {
        self.check(Stream::Err, expected, |text| text_matches(expected, text))
    }

    /// Asserts that standard error contains this text.
    #[track_caller]
    pub fn says(self, part: &str) -> Ended {
        self.check(Stream::Err, part, |text| text.contains(part))
    }

    /// Returns an output, which a test thereby mentions.
    fn bytes(&mut self, stream: Stream) -> &[u8] {
        self.unmentioned
            .retain(|unmentioned| *unmentioned != stream);
        let output = self.assert.as_ref().unwrap().get_output();
        match stream {
            Stream::Out => &output.stdout,
            Stream::Err => &output.stderr,
        }
    }

    fn text(&mut self, stream: Stream) -> String {
        String::from_utf8_lossy(self.bytes(stream)).into_owned()
    }

    /// Returns standard output.
    pub fn out(mut self) -> String {
        self.text(Stream::Out)
    }

    /// Returns standard error.
    pub fn err(mut self) -> String {
        self.text(Stream::Err)
    }

    /// Returns standard output and standard error.
    pub fn texts(mut self) -> (String, String) {
        (self.text(Stream::Out), self.text(Stream::Err))
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let Some(mut assert) = self.assert.take().filter(|_| !std::thread::panicking()) else {
            return;
        };
        for stream in &self.unmentioned {
            assert = match stream {
                Stream::Out => assert.stdout(""),
                Stream::Err => assert.stderr(""),
            };
        }
    }
}

fn text_matches(expected: &str, text: &str) -> bool {
    let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
    lines_match(&lines(expected), &text.split('\n').collect::<Vec<_>>())
}

pub fn lines_match(expected: &[String], lines: &[&str]) -> bool {
    match expected {
        [] => lines.is_empty(),
        [any, rest @ ..] if any == "..." => {
            (0..=lines.len()).any(|i| lines_match(rest, &lines[i..]))
        }
        [first, rest @ ..] => lines
            .split_first()
            .is_some_and(|(line, lines)| line_matches(first, line) && lines_match(rest, lines)),
    }
}

/// Returns true if a line matches. After "in" and "after", the wildcard matches only a time.
fn line_matches(expected: &str, line: &str) -> bool {
    static ONLY_A_TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(&format!("^{TIME}$")).unwrap());
    let Some((start, rest)) = expected.split_once("...") else {
        return expected == line;
    };
    let is_time = [" in ", " after "].iter().any(|word| start.ends_with(word));
    let Some(line) = line.strip_prefix(start) else {
        return false;
    };
    let matched = |end: usize| !is_time || ONLY_A_TIME.is_match(&line[..end]);
    (0..=line.len())
        .any(|end| line.is_char_boundary(end) && matched(end) && line_matches(rest, &line[end..]))
}
