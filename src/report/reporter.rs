//! Observers of events: they may speak of a run and change nothing about it.

use std::time::Duration;

use crate::policy::classifier::Verdict;
use crate::policy::outcome::Outcome;
use crate::run::event::{Event, Moment};
use crate::run::observer::Observer;
use crate::run::output::{Format, When};
use crate::run::plan::Identity;
use crate::run::plan::Plan;

use super::log::Log;
use super::summary::Report;
use super::text::Text;
use super::{github, words};

/// All that backoff says of a run.
#[derive(Debug)]
pub struct Reporter<'a> {
    text: Text<'a>,
    log: Log<'a>,
    format: Format,
    colour: Colour,
    report: Option<Report>,
}

/// Whether to colour.
#[derive(Debug, Clone, Copy)]
enum Colour {
    Known(bool),
    /// This says it; asked before the first line.
    Ask(fn() -> bool),
}

impl Observer for Reporter<'_> {
    fn line(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        if let Some(report) = &mut self.report {
            report.see(moment, event);
        }
        match self.format {
            Format::Json => self.log.lines(moment, event),
            Format::GitHub => Some(github::line(event, &self.text.sentence(moment, event)?)),
            Format::Text => {
                let sentence = self.text.sentence(moment, event)?;
                Some(format!("backoff: {}\n", self.painted(event, &sentence)))
            }
        }
    }

    fn countdown(&self, moment: &Moment, outcome: &Outcome, verdict: &Verdict, left: Duration) -> String {
        self.text.countdown(moment, outcome, verdict, left)
    }
}

impl<'a> Reporter<'a> {
    /// As the plan has it; `takes_colour` says whether standard error does.
    pub fn new(plan: &'a Plan, identity: &'a Identity, takes_colour: fn() -> bool) -> Reporter<'a> {
        let speech = &plan.output;
        Reporter {
            text: Text {
                verbosity: speech.verbosity,
                attempts: plan.limits.attempts,
                streams: &plan.streams,
                command: &plan.command,
                budget: plan.budget.as_ref(),
                is_filed: speech.log_file.is_some(),
            },
            log: Log::new(identity, speech.verbosity),
            format: speech.format,
            colour: match (speech.colour, &speech.log_file) {
                (When::Always, _) => Colour::Known(true),
                (When::Auto, None) => Colour::Ask(takes_colour),
                (When::Auto, Some(_)) | (When::Never, _) => Colour::Known(false),
            },
            report: speech.report.as_ref().map(|_| {
                let name = plan.command.first().map(words::name).unwrap_or_default();
                Report::new(&identity.run_id, &name)
            }),
        }
    }

    /// What the report is made of, once the run is over.
    pub fn report(self) -> Option<Report> {
        self.report
    }

    /// Green is well, yellow goes on, red has ended badly (ECMA-48, SGR).
    fn painted(&mut self, event: &Event<'_>, sentence: &str) -> String {
        let colour = match event {
            Event::Succeeded { .. } => 32,
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
