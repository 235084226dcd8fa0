//! The observer of a run: makes lines of events, and keeps what the report is made of.

use std::path::PathBuf;
use std::time::Duration;

use crate::policy::classifier::Verdict;
use crate::run::event::{Event, Moment, Wait};
use crate::run::observer::Observer;
use crate::run::output::{Format, When};
use crate::run::plan::Identity;
use crate::run::plan::Plan;
use crate::run::text::without_commands;

use super::github;
use super::github::Groups;
use super::log::JsonLog;
use super::report_file::Report;
use super::text::Text;
use super::words::timestamp;

#[derive(Debug)]
pub(crate) struct Reporter<'a> {
    text: Text<'a>,
    log: JsonLog<'a>,
    format: Format,
    groups: Groups,
    /// What lines for people name the run by in a file, where those of several runs may stand.
    short_id: Option<&'a str>,
    colour: Colour,
    /// Whether a CI runner acts on what it reads on standard error; None where the lines go to a file.
    is_read_by_runner: Option<fn() -> bool>,
    report: Option<Report<'a>>,
}

#[derive(Debug, Clone, Copy)]
enum Colour {
    Known(bool),
    /// Asked before the first line.
    Ask(fn() -> bool),
}

impl Observer for Reporter<'_> {
    fn line(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        if let Some(report) = &mut self.report {
            report.observe(moment, event);
        }
        match self.format {
            Format::Json => self.log.lines(moment, event),
            Format::GitHub => self.annotation(moment, event),
            Format::GitHubGroups => {
                let line = self.annotation(moment, event);
                self.groups.around(event, || self.text.title(moment), line)
            }
            Format::Text => {
                let mut sentence = self.text.sentence(moment, event)?;
                let harmless = without_commands(&sentence);
                if harmless != sentence && self.is_read_by_runner.is_some_and(|ask| ask()) {
                    sentence = harmless;
                }
                let lines = format!("backoff: {}\n", self.coloured(event, &sentence));
                Some(match self.short_id {
                    Some(id) => in_a_file(&lines, id, moment),
                    None => lines,
                })
            }
        }
    }

    fn countdown(&self, moment: &Moment, wait: Wait<'_>, left: Duration, columns: usize) -> String {
        self.text.countdown(moment, wait, left, columns)
    }
}

impl<'a> Reporter<'a> {
    /// `takes_colour` says whether standard error does, and `is_read_by_runner` whether a CI runner reads it.
    pub(crate) fn new(
        plan: &'a Plan,
        identity: &'a Identity,
        takes_colour: fn() -> bool,
        is_read_by_runner: fn() -> bool,
    ) -> Reporter<'a> {
        let output = &plan.output;
        // Others may be a descriptor that the runner reads.
        let is_file = |path: &PathBuf| !path.starts_with("/dev") && !path.starts_with("/proc");
        let has_own_file = output.log_file.as_ref().is_some_and(is_file);
        Reporter {
            text: Text {
                verbosity: output.verbosity,
                limits: &plan.limits,
                streams: &plan.streams,
                command: &plan.command,
                label: output.label.as_deref(),
                budget: plan.budget.as_ref(),
                not_idempotent: plan.not_idempotent.as_deref(),
                has_log_file: output.log_file.is_some(),
            },
            log: JsonLog::new(plan, identity),
            format: output.format,
            groups: Groups::default(),
            short_id: output.log_file.as_ref().and_then(|_| identity.run_id.get(..8)),
            colour: match (output.colour, &output.log_file) {
                (When::Always, _) => Colour::Known(true),
                (When::Auto, None) => Colour::Ask(takes_colour),
                (When::Auto, Some(_)) | (When::Never, _) => Colour::Known(false),
            },
            is_read_by_runner: (!has_own_file).then_some(is_read_by_runner),
            report: output.report.as_ref().map(|_| Report::new(plan, identity)),
        }
    }

    fn annotation(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        Some(github::line(event, &self.text.sentence(moment, event)?))
    }

    /// None without `--report`.
    pub(crate) fn report(self) -> Option<Report<'a>> {
        self.report
    }

    /// Green is success, yellow goes on, red is failure (ECMA-48, SGR).
    fn coloured(&mut self, event: &Event<'_>, sentence: &str) -> String {
        let colour = match event {
            Event::Succeeded { .. } | Event::FailureCame { .. } => 32,
            Event::Retrying {
                verdict: Verdict::Success,
                ..
            } => return sentence.to_owned(),
            Event::Retrying { .. } | Event::Warning(_) | Event::CoolingOff(_) | Event::Nested(_) => 33,
            Event::GaveUp { .. } | Event::NoTime { .. } | Event::Failed(_) => 31,
            _ => return sentence.to_owned(),
        };
        if let Colour::Ask(ask) = self.colour {
            self.colour = Colour::Known(ask());
        }
        match self.colour {
            Colour::Known(true) => format!("\x1b[{colour}m{sentence}\x1b[0m"),
            _ => sentence.to_owned(),
        }
    }
}

/// Each line with the time and the run that it is about.
fn in_a_file(lines: &str, id: &str, moment: &Moment) -> String {
    let time = timestamp(moment.time_of_day);
    lines.lines().map(|line| format!("{time} {id} {line}\n")).collect()
}
