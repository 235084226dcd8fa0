//! Turns the events of a run into lines and the report, in the format that the user chose.

use std::path::Path;

use super::github;
use super::log::JsonLog;
use super::report_file::Report;
use super::text::Sentences;
use super::verbosity::{Level, level};
use crate::run::event::{Event, Moment};
use crate::run::plan::{Format, When};
use crate::run::plan::{Identity, Plan};
use crate::text::{escapes, timestamp, without_runner_commands};

/// Makes the output about one run, of all its events.
#[derive(Debug)]
pub(crate) struct Reporter<'a> {
    text: Sentences<'a>,
    log: JsonLog,
    /// Returns true if standard error takes color, by terminal and variables.
    takes_color: fn() -> bool,
    /// Returns true if a CI runner reads commands on standard error.
    is_read_by_runner: fn() -> bool,
    /// The report, with `--report`.
    pub(crate) report: Option<Report<'a>>,
}

impl<'a> Reporter<'a> {
    /// Returns the reporter of a run that has not begun. The functions, which look at terminal and environment, are
    /// called only if a line depends on them.
    pub(crate) fn new(
        plan: &'a Plan,
        identity: &'a Identity,
        takes_color: fn() -> bool,
        is_read_by_runner: fn() -> bool,
    ) -> Reporter<'a> {
        let report = if plan.output.report.is_some() {
            Some(Report::new(plan, identity))
        } else {
            None
        };
        Reporter {
            text: Sentences { plan, identity },
            log: JsonLog::default(),
            takes_color,
            is_read_by_runner,
            report,
        }
    }

    /// Returns the lines about an event, each with its line feed, or the text of a countdown, without one; None if
    /// nothing is to be printed. Must see each event once and in order: it adds to the report, also what has no line,
    /// and holds back JSON lines.
    pub(crate) fn lines(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        if let Event::Countdown {
            wait,
            left,
            columns,
        } = event
        {
            return Some(self.text.countdown(moment, *wait, *left, *columns));
        }
        if let Some(report) = &mut self.report {
            report.observe(&self.text, moment, event);
        }
        match self.text.plan.output.format {
            Format::Json => self.log.lines(&self.text, moment, event),
            Format::Text => {
                let sentence = self.text.sentence(moment, event)?;
                Some(self.line(moment, level(event), sentence))
            }
            Format::GitHub => {
                let sentence = self.text.sentence(moment, event)?;
                Some(github::annotation(level(event), &sentence))
            }
        }
    }

    /// Returns a sentence as lines for people: colored on a terminal, with time and run in a log file. Commands to a CI
    /// runner that foreign text may hold are disarmed, unless a plain log file keeps them from the runner.
    fn line(&self, moment: &Moment, level: Level, mut sentence: String) -> String {
        let log_file = self.text.plan.output.log_file.as_ref();
        let may_reach_runner = match log_file {
            Some(path) => may_be_descriptor(path),
            None => true,
        };
        if may_reach_runner && (self.is_read_by_runner)() {
            sentence = without_runner_commands(&sentence);
        }
        let color = if self.has_color() {
            color_of(level)
        } else {
            ""
        };
        let reset = if color.is_empty() { "" } else { escapes::RESET };
        let lines = format!("backoff: {color}{sentence}{reset}\n");
        if log_file.is_none() {
            return lines;
        }
        // Several runs may share the log file, so each line names its run, by the begin of its id (a UUID).
        let time = timestamp(moment.time_of_day);
        let id = &self.text.identity.run_id[..8];
        lines
            .lines()
            .map(|line| format!("{time} {id} {line}\n"))
            .collect()
    }

    /// Returns true if lines are colored: with `--color always` even in a log file, by default if they go to standard
    /// error and it takes color. A log file may be read by other programs.
    fn has_color(&self) -> bool {
        let output = &self.text.plan.output;
        match output.color {
            When::Always => true,
            When::Auto => output.log_file.is_none() && (self.takes_color)(),
            When::Never => false,
        }
    }
}

/// Returns the escape sequence of a level; empty for none.
fn color_of(level: Level) -> &'static str {
    match level {
        Level::Success => escapes::GREEN,
        Level::Warning => escapes::BOLD_YELLOW,
        Level::Error => escapes::RED,
        Level::Plain => "",
    }
}

/// Returns true if a path may lead to an open descriptor, as `/dev/stderr` does, which a CI runner may read; false for
/// that of a plain file.
fn may_be_descriptor(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}
