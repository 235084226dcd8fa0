//! Turns the events of a run into lines and the report, in the format that the user chose.

use super::records;
use super::report_file::Report;
use super::text::Sentences;
use super::verbosity::{Level, level};
use crate::run::event::{Event, Moment};
use crate::run::plan::{Format, Identity, Plan, When};
use crate::text::{escapes, timestamp};

/// Makes the output about one run from all its events.
#[derive(Debug)]
pub(crate) struct Reporter<'a> {
    text: Sentences<'a>,
    has_color: bool,
    /// The report, with `--report`.
    pub(crate) report: Option<Report<'a>>,
}

impl<'a> Reporter<'a> {
    /// Returns the reporter of a run that has not begun. `takes_color` is about standard error, by terminal and
    /// variables.
    pub(crate) fn new(plan: &'a Plan, identity: &'a Identity, takes_color: bool) -> Reporter<'a> {
        let output = &plan.output;
        let report = if output.report.is_some() {
            Some(Report::new(plan, identity))
        } else {
            None
        };
        let has_color = match output.color {
            When::Always => true,
            // Other programs may read a log file.
            When::Auto => output.log_file.is_none() && takes_color,
            When::Never => false,
        };
        Reporter {
            text: Sentences { plan, identity },
            has_color,
            report,
        }
    }

    /// Returns the lines about an event with newlines, or the text of a countdown without one. None if nothing is to be
    /// printed. Must see each event once and in order, because events without a line are also added to the report.
    pub(crate) fn lines(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        if let Event::Countdown {
            wait,
            left,
            columns,
        } = event
        {
            return Some(self.text.countdown(moment, *wait, *left, *columns));
        }
        let plan = self.text.plan;
        if let Some(report) = &mut self.report {
            report.observe(plan, moment, event);
        }
        if plan.output.format == Format::Json {
            return records::line(&self.text, moment, event);
        }
        let sentence = self.text.sentence(moment, event)?;
        Some(if plan.output.format == Format::GitHub {
            annotation(level(event), &sentence)
        } else {
            self.line(moment, level(event), &sentence)
        })
    }

    /// Returns a sentence as lines for people, colored on a terminal, and with time and run in a log file.
    fn line(&self, moment: &Moment, level: Level, sentence: &str) -> String {
        let color = color_of(level);
        let lines = if self.has_color && !color.is_empty() {
            format!("backoff: {color}{sentence}{}\n", escapes::RESET)
        } else {
            format!("backoff: {sentence}\n")
        };
        if self.text.plan.output.log_file.is_none() {
            return lines;
        }
        // Several runs may share the log file, so each line names its run by the start of its ID (a UUID).
        let time = timestamp(moment.time_of_day);
        let id = &self.text.identity.run_id[..8];
        lines
            .lines()
            .map(|line| format!("{time} {id} {line}\n"))
            .collect()
    }
}

/// Returns the escape sequence of a level, empty if it has no color.
fn color_of(level: Level) -> &'static str {
    match level {
        Level::Success => escapes::GREEN,
        Level::Warning => escapes::BOLD_YELLOW,
        Level::Error => escapes::RED,
        Level::Plain => "",
    }
}

/// Returns a sentence as a workflow command, which GitHub Actions shows next to the job. A plain sentence remains a log
/// line. Source: GitHub Docs, "Workflow commands for GitHub Actions": `%`, CR and LF are escaped.
fn annotation(level: Level, sentence: &str) -> String {
    let command = match level {
        Level::Plain => return format!("backoff: {sentence}\n"),
        Level::Success => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let escaped = sentence
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    format!("::{command} title=backoff::{escaped}\n")
}
