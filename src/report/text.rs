//! Lines for people: the event, backoff's next step, and the option that changes the step.

use std::path::Path;
use std::time::Duration;

use super::words::{LINES_LOST, cut, how_it_failed, length, likely_mistake, name, quoted, with_detail};
use crate::policy::classifier::{Verdict, Why};
use crate::policy::outcome::{End, NEEDED_KILL, Outcome, StartFailure};
use crate::policy::session::Until;
use crate::policy::signal::Signal;
use crate::run::before_retry_env::{Refused, RefusedLines};
use crate::run::event::{Event, JudgedAttempt, Moment, Wait, Warning};
use crate::run::nesting::Nesting;
use crate::run::plan::Plan;
use crate::run::text::printable;

#[derive(Debug)]
pub(crate) struct Text<'a> {
    pub(super) plan: &'a Plan,
}

/// Severity of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Plain,
    Success,
    Warning,
    Error,
}

pub(super) fn level(event: &Event<'_>) -> Level {
    match event {
        Event::Retrying { attempt, .. } if attempt.verdict == Verdict::Success => Level::Plain,
        Event::Retrying { .. } | Event::Warning(_) | Event::CoolingOff(_) | Event::Nested(_) => Level::Warning,
        Event::Succeeded { .. } | Event::FailureCame(_) => Level::Success,
        Event::GaveUp { .. } | Event::NoTime { .. } | Event::Failed(_) => Level::Error,
        _ => Level::Plain,
    }
}

impl Text<'_> {
    /// Returns the line about an event without `backoff: `, or None if it is not shown.
    pub(super) fn sentence(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        if self.plan.output.verbosity < self.least_verbosity(moment, event) {
            return None;
        }
        match event {
            Event::Warning(text) => Some(format!("warning: {}", warning(text))),
            // Standard error always gets this line.
            Event::Failed(why) => self.plan.output.log_file.as_ref().map(|_| (*why).to_owned()),
            Event::Remark(text) => Some(printable(text)),
            Event::ReadAhead => Some(
                "standard input cannot be duplicated here: it is read ahead of the command, so that less may be left for others"
                    .to_owned(),
            ),
            Event::Nested(nesting) => Some(nested(nesting, self.plan.limits.attempts)),
            Event::GaveUp { attempt, .. } if self.never_started(moment, &attempt.outcome) => {
                Some(self.cannot_run(&attempt.outcome) + &self.hint(&attempt.outcome))
            }
            _ => Some(format!("{}: {}", self.speaker(), self.of_run(moment, event)?)),
        }
    }

    /// Returns the verbosity from which on an event is shown: -1 is `--quiet`, 1 `--verbose`.
    pub(super) fn least_verbosity(&self, moment: &Moment, event: &Event<'_>) -> i16 {
        match event {
            Event::Warning(_) | Event::Failed(_) => i16::MIN,
            Event::Ended { outcome, .. } if outcome.could_not_start() => i16::MIN,
            Event::GaveUp { attempt, .. } if self.never_started(moment, &attempt.outcome) => i16::MIN,
            Event::GaveUp { attempt, .. } => i16::from(attempt.verdict.is_silent_end(&attempt.outcome)),
            Event::Started | Event::ReadAhead | Event::Confirming { .. } | Event::WaitEnded | Event::Skipped(_) => 1,
            Event::Succeeded { flaky, ended_by } => i16::from(!flaky && ended_by.is_none()),
            Event::Interrupted { signal, outcome } => {
                i16::from(outcome.is_none_or(|outcome| self.shows_signal(*signal, outcome)))
            }
            _ => 0,
        }
    }

    /// Returns true if no attempt could be started. With `--quiet`, the user knows of no earlier attempt.
    fn never_started(&self, moment: &Moment, outcome: &Outcome) -> bool {
        outcome.could_not_start() && (moment.total == 1 || self.plan.output.verbosity < 0)
    }

    /// Returns true if the end of the command shows that a signal prevents a further attempt.
    fn shows_signal(&self, signal: Signal, outcome: &Outcome) -> bool {
        let was_the_last = outcome.end == End::Exited(0) && self.plan.limits.until == Until::Success;
        was_the_last || outcome.end.code() == Some(signal.shell_status())
    }

    fn of_run(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        let (number, elapsed, budget) = (self.numbered(moment.attempt), length(moment.elapsed), self.budget());
        Some(match event {
            Event::Started => format!("{number}: starting {}", self.command()),
            Event::Retrying {
                attempt,
                delay,
                is_asked,
            } => self.retrying(&number, attempt, *delay, *is_asked),
            Event::Confirming { outcome, delay } => {
                let (ran, delay) = (length(outcome.ran), length(*delay));
                format!("{number} succeeded after {ran}; confirming in {delay}")
            }
            Event::WaitEnded => "SIGUSR1 ended the wait".to_owned(),
            Event::Succeeded { ended_by, .. } => {
                let done = format!("succeeded on {number} after {elapsed}");
                match ended_by {
                    Some((why, attempt)) => self.explained(done, *why, attempt),
                    None => done,
                }
            }
            Event::FailureCame(attempt) => {
                let failure = shown_failure(attempt);
                format!("the failure came on {number} after {elapsed}: {failure}")
            }
            Event::GaveUp { why, attempt } => {
                let attempts = if moment.total == 1 { "attempt" } else { "attempts" };
                let how = match (self.plan.limits.until, &attempt.verdict) {
                    (Until::Failure, Verdict::Success) => "no failure came".to_owned(),
                    _ => shown_failure(attempt),
                };
                let how = self.explained(how, *why, attempt);
                format!("gave up after {} {attempts} in {elapsed}: {how}", moment.total)
            }
            Event::NoTime { why, cool_off } => {
                let limit = self.limit(*why);
                let why = match cool_off.map(length) {
                    Some(wait) => format!("the last run of {budget} gave up, and a wait of {wait} would pass {limit}"),
                    None => format!("{limit} has passed"),
                };
                format!("gave up before the first attempt: {why}")
            }
            Event::CoolingOff(wait) => {
                let wait = length(*wait);
                format!("waiting {wait} before the first attempt: the last run of {budget} gave up (--cool-off)")
            }
            Event::Skipped(left) => {
                let left = length(*left);
                format!(
                    "not run: the last run of {budget} gave up, and its cool-off lasts another {left} (--cool-off=skip)"
                )
            }
            Event::Interrupted { signal, outcome } => {
                let took_kill = outcome.is_some_and(|outcome| outcome.cut.took_kill);
                let and = if took_kill { NEEDED_KILL } else { "" };
                format!("interrupted by {signal}{and}; no further attempt")
            }
            _ => return None,
        })
    }

    fn retrying(&self, number: &str, attempt: &JudgedAttempt, delay: Duration, is_asked: bool) -> String {
        let JudgedAttempt { outcome, verdict } = attempt;
        let (ran, delay) = (length(outcome.ran), length(delay));
        if *verdict == Verdict::Success {
            return format!("{number} succeeded after {ran}; running it again in {delay}");
        }
        let (how, after) = match outcome.could_not_start() {
            true => (self.cannot_run(outcome), String::new()),
            false => (shown_failure(attempt), format!(" after {ran}")),
        };
        let how = match verdict {
            Verdict::Transient(reason) => match &reason.why {
                Why::Rule(rule) => with_detail(how, rule),
                _ => how,
            },
            _ => how,
        };
        let asked = match is_asked {
            true if outcome.seen.wait_asked > self.plan.limits.max_retry_after => {
                ", as the output asked for more than --max-retry-after"
            }
            true => ", as the output asked",
            false => "",
        };
        format!("{number} failed: {how}{after}; retrying in {delay}{asked}")
    }

    /// Returns the countdown of a wait, cut to `columns`.
    pub(super) fn countdown(&self, moment: &Moment, wait: Wait<'_>, left: Duration, columns: usize) -> String {
        let (next, why) = match wait {
            Wait::Start => (1, "initial delay".to_owned()),
            Wait::CoolOff => (1, "cool-off".to_owned()),
            Wait::Confirm => (moment.attempt.saturating_add(1), "to confirm the success".to_owned()),
            Wait::Retry(attempt) => (moment.attempt.saturating_add(1), shown_failure(attempt)),
        };
        let deadline = self.plan.limits.deadline.map_or_else(String::new, |deadline| {
            let left = Duration::from_secs(deadline.saturating_sub(moment.elapsed).as_secs());
            format!(", deadline in {}", length(left))
        });
        let (speaker, next, left) = (self.speaker(), self.numbered(next), length(left));
        cut(
            &format!("backoff: {speaker}: starting {next} in {left}{deadline} ({why})"),
            columns,
        )
    }

    /// Returns the title of an attempt: `curl: attempt 2 of 5`.
    pub(super) fn title(&self, moment: &Moment) -> Option<String> {
        let is_shown = self.plan.output.verbosity >= 0;
        is_shown.then(|| format!("{}: {}", self.speaker(), self.numbered(moment.attempt)))
    }

    /// Returns `--label`, or the command's own name without its directory.
    fn speaker(&self) -> String {
        let Some(command) = self.plan.command.first() else {
            return String::new();
        };
        match (&self.plan.output.label, Path::new(command).file_name()) {
            (Some(label), _) => label.clone(),
            (None, Some(base)) => printable(&name(base)),
            (None, None) => quoted(command),
        }
    }

    /// Returns `attempt 2 of 5`, or `attempt 2` without a limit.
    fn numbered(&self, attempt: u64) -> String {
        match self.plan.limits.attempts {
            Some(limit) => format!("attempt {attempt} of {limit}"),
            None => format!("attempt {attempt}"),
        }
    }

    fn cannot_run(&self, outcome: &Outcome) -> String {
        let command = self.plan.command.first().map(quoted).unwrap_or_default();
        format!("cannot run {command}: {}", outcome.end)
    }

    fn hint(&self, outcome: &Outcome) -> String {
        match &outcome.end {
            End::NotStarted(failure) if failure.message == StartFailure::NOT_FOUND => {
                likely_mistake(&self.plan.command)
            }
            _ => String::new(),
        }
    }

    /// Returns the name of the budget: `budget "api"`.
    pub(super) fn budget(&self) -> String {
        let name = self.plan.budget.as_ref().map(|budget| printable(&budget.name));
        format!("budget \"{}\"", name.unwrap_or_default())
    }

    /// Returns the command as a shell reads it, with arguments only for `-vv`, as they may hold secrets.
    fn command(&self) -> String {
        let words: Vec<String> = self.plan.command.iter().map(quoted).collect();
        match self.plan.output.verbosity {
            ..2 => words.into_iter().next().unwrap_or_default(),
            _ => format!("{} ({})", words.join(" "), self.plan.streams),
        }
    }
}

fn shown_failure(attempt: &JudgedAttempt) -> String {
    how_it_failed(&attempt.outcome, &attempt.verdict, printable)
}

/// Returns the warning that retries multiply. `attempts` is this run's own limit.
pub(super) fn nested(nesting: &Nesting, attempts: Option<u64>) -> String {
    let factors = nesting.outer_attempts.zip(attempts);
    let calls = factors.and_then(|(outer, own)| Some((outer, own, outer.checked_mul(own)?)));
    let calls = calls.map_or_else(String::new, |(outer, own, calls)| {
        format!(" (up to {outer} x {own} = {calls} calls)")
    });
    format!(
        "running under another backoff, so retries multiply{calls}; use --nested once to retry in the outer one only"
    )
}

pub(super) fn warning(warning: &Warning<'_>) -> String {
    match warning {
        Warning::Text(text) => printable(text),
        Warning::LinesLost => LINES_LOST.to_owned(),
        Warning::OutputCutOff => "kept output is cut off, as it was not read to its end before the deadline".to_owned(),
        Warning::HookFailed(option, how) => format!("{option} failed: {how}"),
        Warning::BeforeRetry(why) => format!("--before-retry: {}", printable(why)),
        Warning::EnvLine(refused) => format!("--before-retry: {}", ignored(refused)),
    }
}

fn ignored(lines: &RefusedLines) -> String {
    let why = match lines.why {
        Refused::NotKeyValue => "it is not KEY=VALUE",
        Refused::NotAName => "what stands before \"=\" is not a name of a variable",
        Refused::OwnName => "variables whose names begin with BACKOFF_ are backoff's own",
        Refused::Nul => "its value holds a NUL",
        Refused::TooLarge => "all variables together are larger than 64KiB",
    };
    let more = match lines.more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("ignored line {}{more} of $BACKOFF_ENV: {why}", lines.first)
}
