//! The attacked command: records its actions, and prints lines that name their attempt and position.

use std::collections::BTreeMap;
use std::fs;

use super::round::Round;
use crate::Result;

/// Keeps its input in `in.ATTEMPT`; prints lines; notes the finished attempt in `written`; naps; and fails, or succeeds
/// from some attempt on. The shell's own messages on signals go to a file, so that they do not mix with the lines.
/// Programs run in subshells, as dash starts a plain command by vfork(2): a TSTP that stops the child before exec
/// leaves the shell waiting forever, with backoff and without.
const SCRIPT: &str = r#"exec 2>>"$0/errors"; a=$BACKOFF_ATTEMPT; test -z "$6" || trap "exit 7" $6
test $5 = - || (exec cat >"$0/in.$a"); i=0; p=$(printf %0$7d 0)
while test $i -lt $1; do echo "<$a $i $(( (a * 7919 + i * 104729) % 65521 )) $p>"; i=$((i + 1)); done
echo $a >>"$0/written"; test $a -lt $4 || exit 0; test $2 = 0 || (exec sleep $2); exit $3"#;

/// The exit status of the script's trap.
pub const TRAPPED: i32 = 7;

#[derive(Clone, Copy)]
pub struct Numbered {
    pub lines: u64,
    /// In seconds.
    pub nap: &'static str,
    pub code: i32,
    /// The first attempt that succeeds.
    pub first_success: u64,
    pub reads_input: bool,
    /// Signals after which the command ends in an orderly way.
    pub trap: &'static str,
    /// The padding of each line.
    pub padding: usize,
}

impl Default for Numbered {
    fn default() -> Numbered {
        Numbered {
            lines: 3,
            nap: "0",
            code: 1,
            first_success: 2,
            reads_input: false,
            trap: "",
            padding: 1,
        }
    }
}

impl Numbered {
    pub fn words(&self, round: &Round) -> Vec<String> {
        let dir = round.dir().display().to_string();
        let input = if self.reads_input { "in" } else { "-" };
        let lines = self.lines.to_string();
        let code = self.code.to_string();
        let first_success = self.first_success.to_string();
        let padding = self.padding.to_string();
        let words = [
            "--",
            "sh",
            "-c",
            SCRIPT,
            &dir,
            &lines,
            self.nap,
            &code,
            &first_success,
            input,
            self.trap,
            &padding,
        ];
        words.map(str::to_owned).into()
    }

    /// Returns the number of lines of each attempt in the output. All must be whole and in order, except the last of an
    /// attempt.
    pub fn lines_of_attempts(&self, output: &[u8]) -> Result<BTreeMap<u64, u64>> {
        let text = String::from_utf8_lossy(output).replace('\r', "");
        let mut attempts = BTreeMap::new();
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(text) = lines.next() {
            let Some(line) = self.parse(text) else {
                let is_cut = lines.peek().is_none() && !text.ends_with('\n');
                if is_cut {
                    break;
                }
                return Err(format!("a line that the command did not print: {text:?}").into());
            };
            let expected = attempts.entry(line.attempt).or_insert(0);
            ensure!(
                line.number == *expected,
                "line {} of attempt {}, not {expected}",
                line.number,
                line.attempt
            );
            *expected += 1;
        }
        Ok(attempts)
    }

    /// Returns None if the command prints no such line.
    fn parse(&self, line: &str) -> Option<Line> {
        let line = line.strip_prefix('<')?.strip_suffix(">\n")?;
        let mut parts = line.split(' ');
        let attempt: u64 = parts.next()?.parse().ok()?;
        let number: u64 = parts.next()?.parse().ok()?;
        let sum: u64 = parts.next()?.parse().ok()?;
        let padding = parts.next()?;
        let is_right = sum == (attempt * 7919 + number * 104_729) % 65521
            && padding.len() == self.padding
            && number < self.lines;
        is_right.then_some(Line { attempt, number })
    }

    /// Fails unless the output of all finished attempts arrived, once.
    pub fn expect_stream(&self, round: &Round, output: &[u8]) -> Result<()> {
        let arrived = self.lines_of_attempts(output)?;
        if self.lines == 0 {
            return Ok(());
        }
        for attempt in written(round) {
            let lines = arrived.get(&attempt).copied().unwrap_or(0);
            ensure!(
                lines == self.lines,
                "{lines} of {} lines of attempt {attempt}",
                self.lines
            );
        }
        Ok(())
    }

    /// Fails unless the output is all of one attempt.
    pub fn expect_whole_attempt(&self, output: &[u8]) -> Result<()> {
        let lines = self.lines_of_one_attempt(output)?;
        ensure!(lines == self.lines, "{lines} of {} lines", self.lines);
        Ok(())
    }

    /// Returns the number of lines in the output; fails if the lines are of several attempts.
    pub fn lines_of_one_attempt(&self, output: &[u8]) -> Result<u64> {
        let arrived = self.lines_of_attempts(output)?;
        ensure!(
            arrived.len() <= 1,
            "output of several attempts: {arrived:?}"
        );
        Ok(arrived.values().sum())
    }
}

/// A line that the command has printed.
struct Line {
    attempt: u64,
    /// Counted from 0 in each attempt.
    number: u64,
}

/// Returns the attempts that have written all of their output.
pub fn written(round: &Round) -> Vec<u64> {
    let text = fs::read_to_string(round.dir().join("written")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Fails unless each finished attempt has read all of the input.
pub fn expect_input(round: &Round, input: &[u8]) -> Result<()> {
    for attempt in written(round) {
        let read = fs::read(round.dir().join(format!("in.{attempt}"))).unwrap_or_default();
        ensure!(
            read == input,
            "attempt {attempt} has read {} bytes, which are not the {} of the input",
            read.len(),
            input.len()
        );
    }
    Ok(())
}
