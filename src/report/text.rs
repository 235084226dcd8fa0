//! Lines for people: the event, backoff's next step, and the option that changes the step. `endings` has the reasons
//! for giving up, and `verbosity` tells which events have a line at all.

use std::path::Path;
use std::time::Duration;

use super::endings::{advice, limit, reason};
use super::failure::{how_it_failed, survivors, with_detail};
use super::shell_words::tip_about_shell;
use crate::policy::classifier::{Verdict, Why};
use crate::policy::limits::{GiveUp, Until};
use crate::policy::outcome::{End, NEEDED_KILL, Outcome};
use crate::policy::session::Stop;
use crate::policy::signal::Signal;
use crate::run::event::{Event, Interruption, JudgedAttempt, Moment, Wait};
use crate::run::plan::{Identity, Nesting, Plan};
use crate::text::{cut, length, name, printable, quoted, width};

/// Turns events of a run into sentences.
#[derive(Debug)]
pub(crate) struct Sentences<'a> {
    pub(super) plan: &'a Plan,
    pub(super) identity: &'a Identity,
}

impl Sentences<'_> {
    /// Returns the line about an event without `backoff: ` and newline, or None if the event has no line, or none at
    /// this verbosity. Text from the command, a server or the user is escaped.
    pub(super) fn sentence(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        if self.plan.output.verbosity < self.least_verbosity(moment, event) {
            return None;
        }
        match event {
            Event::Warning(text) => Some(format!("warning: {}", printable(text))),
            // The caller of the run prints the failure on standard error, so a line is only for a log file. Not
            // escaped, because the text is backoff's own.
            Event::Failed(why) => {
                if self.plan.output.log_file.is_some() {
                    Some((*why).to_owned())
                } else {
                    None
                }
            }
            Event::Remark(text) => Some(printable(text)),
            Event::ReadAhead => Some(
                "standard input cannot be duplicated here: backoff reads ahead of the command, so less may remain for others"
                    .to_owned(),
            ),
            Event::Nested(nesting) => Some(nested_warning(nesting, self.plan.limits.attempts)),
            Event::Stopped { attempt, .. } if self.never_started(moment, &attempt.outcome) => {
                let outcome = &attempt.outcome;
                Some(self.cannot_run(outcome) + &self.tip_to_start(outcome))
            }
            _ => Some(format!("{}: {}", self.label(), self.after_label(moment, event)?)),
        }
    }

    /// Returns the part of a sentence after the label (`curl: `). None for an event whose sentence has no label
    /// (`sentence` makes it) or that has no sentence. The end of an attempt has one only in JSON, because the next
    /// event tells it together with what follows.
    fn after_label(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        let number = self.numbered(moment.attempt);
        Some(match event {
            Event::Started => format!("{number}: starting {}", self.command()),
            Event::Retrying {
                attempt,
                delay,
                is_asked,
            } => self.retrying(&number, attempt, *delay, *is_asked),
            Event::Confirming { outcome, delay } => {
                let ran = length(outcome.ran);
                let delay = length(*delay);
                format!("{number} succeeded after {ran}; confirming in {delay}")
            }
            Event::WaitSkipped => "SIGUSR1 ended the wait".to_owned(),
            Event::Stopped { stop, attempt } => self.stopped(moment, *stop, attempt),
            Event::NoTimeToStart(why) => {
                let limit = limit(&self.plan.limits, *why).option_with_time();
                format!("gave up before the first attempt: {limit} has passed")
            }
            Event::Interrupted {
                by: Interruption::OfCommand,
                outcome: Some(outcome),
                ..
            } => {
                // SIGINT or SIGQUIT killed the command, but backoff did not receive it. Most likely the user pressed
                // Ctrl-C or Ctrl-\ on a terminal of the command's own, and wants no retry.
                format!("interrupted: {outcome}; no further attempt")
            }
            Event::Interrupted {
                signal, outcome, ..
            } => interrupted(*signal, *outcome),
            _ => return None,
        })
    }

    /// Returns what follows the label about the end of the run: success, the expected failure (`--until failure`), or
    /// giving up, with reason and advice. A limit that ends the run after a success (`--until never`) is not a failure,
    /// but also has a reason. If the deadline cut off the kept output of a good end, `stop` is a `GaveUp`, and
    /// `attempt` ended by the deadline, whatever its own end was.
    fn stopped(&self, moment: &Moment, stop: Stop, attempt: &JudgedAttempt) -> String {
        let number = self.numbered(moment.attempt);
        let elapsed = length(moment.elapsed);
        match stop {
            Stop::Succeeded { .. } => format!("succeeded on {number} after {elapsed}"),
            Stop::EndedOnSuccess(why) => {
                let done = format!("succeeded on {number} after {elapsed}");
                self.explained(done, why, attempt)
            }
            Stop::FailureCame => {
                let failure = shown_failure(attempt);
                format!("the failure came on {number} after {elapsed}: {failure}")
            }
            Stop::GaveUp(why) => {
                let how = self.how_it_gave_up(why, attempt);
                let total = moment.total;
                let attempts = if total == 1 { "attempt" } else { "attempts" };
                format!("gave up after {total} {attempts} in {elapsed}: {how}")
            }
        }
    }

    /// Returns how the last attempt failed, why the run gave up, and advice. A run may also give up after a success.
    /// With `--until failure`, it found no failure. With `--consecutive`, the success is named by its end (`exit 0`).
    fn how_it_gave_up(&self, why: GiveUp, attempt: &JudgedAttempt) -> String {
        let is_goal_a_failure = self.plan.limits.until == Until::Failure;
        let how = if is_goal_a_failure && attempt.verdict == Verdict::Success {
            "no failure came".to_owned()
        } else {
            shown_failure(attempt)
        };
        self.explained(how, why, attempt)
    }

    /// Returns what follows the label about an attempt before a retry: `attempt 2 of 5 failed: exit 7 (--retry-exit)
    /// after 3s; retrying in 2s`. Names the rule that allows the retry. Shorter after a success (`--until`). `number`
    /// is `attempt 2 of 5`. `is_asked` is true if the output made `delay` longer, possibly up to the limit of
    /// `--retry-after`, and false after a success or a failed start. A failed start has no duration to report.
    fn retrying(
        &self,
        number: &str,
        attempt: &JudgedAttempt,
        delay: Duration,
        is_asked: bool,
    ) -> String {
        let JudgedAttempt { outcome, verdict } = attempt;
        let ran = length(outcome.ran);
        let delay = length(delay);
        if *verdict == Verdict::Success {
            return format!("{number} succeeded after {ran}; running it again in {delay}");
        }
        if outcome.could_not_start() {
            let how = with_detail(self.cannot_run(outcome), retry_rule(verdict));
            let tip = self.tip_to_start(outcome);
            return format!("{number} failed: {how}; retrying in {delay}{tip}");
        }
        let failure = with_detail(shown_failure(attempt), retry_rule(verdict));
        let how = format!("{failure} after {ran}{}", self.note_on_reset(outcome));
        let asked_note = if is_asked {
            self.note_on_asked_wait(outcome)
        } else {
            ""
        };
        format!("{number} failed: {how}; retrying in {delay}{asked_note}")
    }

    /// Returns the note that the output asked for the wait, which is then longer than the one drawn. Only for such a
    /// wait: both it and the limit of `--retry-after` must be set.
    fn note_on_asked_wait(&self, outcome: &Outcome) -> &'static str {
        // The wait was cut to the limit. Only with `--until never`, because any other run gives up.
        if outcome.seen.wait_asked > self.plan.limits.max_retry_after {
            ", as the output asked for more than --retry-after allows"
        } else {
            ", as the output asked"
        }
    }

    /// Returns the note that the failed attempt was long enough for `--reset-after`, or nothing. Such an attempt counts
    /// as the first, and without the note, `attempt 2` would come as a surprise.
    fn note_on_reset(&self, outcome: &Outcome) -> &'static str {
        match self.plan.limits.reset_after {
            Some(healthy) if outcome.ran >= healthy => ", longer than --reset-after",
            _ => "",
        }
    }

    /// Returns the countdown of the wait for the attempt of `moment`, which is still to come. `left` is the rest of the
    /// wait, and `wait` its reason. Cut to `columns`, the width of the terminal without its last column. A longer text
    /// would leave lines behind, because only the last line of the terminal is overwritten.
    pub(super) fn countdown(
        &self,
        moment: &Moment,
        wait: Wait<'_>,
        left: Duration,
        columns: usize,
    ) -> String {
        let why = match wait {
            Wait::Start => "initial delay".to_owned(),
            Wait::Confirm => "to confirm the success".to_owned(),
            Wait::Retry(attempt) => shown_failure(attempt),
        };
        let deadline = self.time_to_deadline(moment);
        let next = self.numbered(moment.attempt);
        let label = self.label();
        let left = length(left);
        let start = format!("backoff: {label}: starting {next} in {left}");
        let line = format!("{start}{deadline}: {why}");
        // The time at the end of `start` must not be cut off or be next to dots, because it would look cut. A narrow
        // terminal gets a line that begins with it.
        let columns_before_dots = columns.saturating_sub("...".len());
        if width(&line) > columns && width(&start) > columns_before_dots {
            return cut(&format!("{left} until {next} ({why})"), columns);
        }
        cut(&line, columns)
    }

    /// Returns `, deadline in 5m`, or nothing without `--deadline`. In whole seconds, rounded down, because the
    /// countdown is drawn every second.
    fn time_to_deadline(&self, moment: &Moment) -> String {
        match self.plan.limits.deadline {
            Some(deadline) => {
                let left = deadline.saturating_sub(moment.elapsed);
                let in_seconds = Duration::from_secs(left.as_secs());
                format!(", deadline in {}", length(in_seconds))
            }
            None => String::new(),
        }
    }

    /// Returns `--label`, or the command's name without its directory, which tells the lines of several runs apart. A
    /// path without a last part, such as `..`, is quoted whole. `--label` itself rejects unprintable text.
    fn label(&self) -> String {
        if let Some(label) = &self.plan.output.label {
            return label.clone();
        }
        let command = self.plan.command.first().map_or(Path::new(""), Path::new);
        match command.file_name() {
            Some(base) => printable(&name(base)),
            None => quoted(command),
        }
    }

    /// Returns `how`, which tells how the last attempt ended, with the reason for the end of the run in parentheses and
    /// advice after it: `exit 7 (attempt limit reached); raise --attempts to allow more`.
    fn explained(&self, how: String, why: GiveUp, attempt: &JudgedAttempt) -> String {
        with_detail(how, &reason(self.plan, why, attempt)) + &advice(self.plan, why, attempt)
    }

    /// Returns `attempt 2 of 5`, or `attempt 2` without a limit.
    fn numbered(&self, attempt: u64) -> String {
        match self.plan.limits.attempts {
            Some(limit) => format!("attempt {attempt} of {limit}"),
            None => format!("attempt {attempt}"),
        }
    }

    /// Returns why the command could not start. Only for an attempt that did not start.
    fn cannot_run(&self, outcome: &Outcome) -> String {
        let command = self.plan.command.first().map(quoted).unwrap_or_default();
        format!("cannot run {command}: {outcome}")
    }

    /// Returns the tip about a command that could not start, to append to the whole sentence. Empty if a file of that
    /// name exists, but may not be executed or lacks its interpreter.
    fn tip_to_start(&self, outcome: &Outcome) -> String {
        match &outcome.end {
            End::NotStarted(why) if why.is_about_name() => tip_about_shell(&self.plan.command),
            _ => String::new(),
        }
    }

    /// Returns the command as a shell reads it. With `-vv`, adds the arguments, which may contain secrets, and how the
    /// streams are connected.
    fn command(&self) -> String {
        let words: Vec<String> = self.plan.command.iter().map(quoted).collect();
        if self.plan.output.verbosity >= 2 {
            format!("{} ({})", words.join(" "), self.plan.streams)
        } else {
            words.into_iter().next().unwrap_or_default()
        }
    }
}

/// Returns how an attempt failed, for a terminal: `exit 7`. For a success, returns its end.
fn shown_failure(attempt: &JudgedAttempt) -> String {
    how_it_failed(&attempt.outcome, &attempt.verdict, printable)
}

/// Returns what allows the retry: a rule of an option or preset (`--retry-exit`, `--for curl`), or a predicate that
/// said yes (`--retry-if`). Empty if no rule does, because a failure is retried by default, or by `--until` whatever
/// the verdict.
fn retry_rule(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Transient(reason) => match &reason.why {
            Why::Rule(rule) => rule,
            _ => "",
        },
        _ => "",
    }
}

/// Returns what follows the label about a signal that backoff received, during an attempt with this outcome or while
/// none ran (None). Also tells if the attempt needed SIGKILL, and which processes are still running.
fn interrupted(signal: Signal, outcome: Option<&Outcome>) -> String {
    let how = match outcome {
        Some(outcome) => {
            let kill_note = if outcome.forced_end.took_kill {
                NEEDED_KILL
            } else {
                ""
            };
            let interrupted = format!("interrupted by {signal}{kill_note}");
            with_detail(interrupted, &survivors(outcome))
        }
        None => format!("interrupted by {signal}"),
    };
    format!("{how}; no further attempt")
}

/// Returns the warning that retries multiply, because an outer run repeats this run with all its retries. `attempts` is
/// this run's own limit. None (unlimited, or not to be shown) leaves out the number of calls.
pub(super) fn nested_warning(nesting: &Nesting, attempts: Option<u64>) -> String {
    let calls = number_of_calls(nesting, attempts).unwrap_or_default();
    format!(
        "running under another backoff, so retries multiply{calls}; use --nested once to retry in the outer one only"
    )
}

/// Returns ` (up to 3 x 5 = 15 calls)`, the outer limit first. None if a limit is unknown or unlimited, or the product
/// too large.
fn number_of_calls(nesting: &Nesting, attempts: Option<u64>) -> Option<String> {
    let outer = nesting.outer_attempts?;
    let own = attempts?;
    let calls = outer.checked_mul(own)?;
    Some(format!(" (up to {outer} x {own} = {calls} calls)"))
}
