//! Lines for a person at 3 a.m.: what happened, what backoff does now.

mod explanation;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use super::words::{failure, fitted, name, quoted, seconds, span};
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::outcome::{End, NEEDED_KILL, Outcome, StartFailure};
use crate::policy::session::{GiveUp, Limits, Until};
use crate::policy::signal::Signal;
use crate::run::event::{Event, Moment, Wait};
use crate::run::nesting::Nesting;
use crate::run::plan::SharedBudget;
use crate::run::shell_words::{only_changes_the_shell, shell_word};
use crate::run::streams::StreamOptions;
use crate::run::text::printable;

#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// -1 quiet, 0, 1 or 2 verbose.
    pub(crate) verbosity: i16,
    pub(crate) limits: &'a Limits,
    /// For `-vv`.
    pub(crate) streams: &'a StreamOptions,
    /// The command; its arguments are shown only with `-vv`, as they may hold secrets.
    pub(crate) command: &'a [OsString],
    /// What stands for the command's name.
    pub(crate) label: Option<&'a str>,
    pub(crate) budget: Option<&'a SharedBudget>,
    /// Why the command must not be carried out twice.
    pub(crate) not_idempotent: Option<&'a str>,
    /// The lines go elsewhere than to standard error.
    pub(crate) has_log_file: bool,
}

const READ_AHEAD: &str =
    "standard input cannot be duplicated here: it is read ahead of the command, which may leave less of it for others";

/// What may be wrong with the name of a command that cannot be found, and the word that follows.
fn likely_mistake(name: &OsStr, next: Option<&OsStr>) -> String {
    if name == "help" {
        return "; for help, try backoff --help".to_owned();
    }
    if let Some(word) = name.to_str()
        && let Some((what, shell)) = shell_word(word)
    {
        return match only_changes_the_shell(word) {
            true => format!("; {word} is a shell {what}, and does nothing outside of the shell that runs it"),
            false => format!("; {word} is a shell {what}; try backoff {shell} -c '{word} ...'"),
        };
    }
    // As web pages and word processors print it: from HYPHEN to HORIZONTAL BAR, and MINUS SIGN.
    let is_other_dash = |text: &str| text.starts_with(|c| matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}'));
    let has_other_dash = name.to_str().is_some_and(is_other_dash);
    let bytes = name.as_encoded_bytes();
    let has = |any: &[u8]| bytes.iter().any(|byte| any.contains(byte));
    let hint = if bytes.starts_with(b"-") {
        "; options of backoff stand before --"
    } else if has_other_dash {
        "; it begins with a dash that is not \"-\"; try the one of the keyboard"
    } else if has(b" \t\n|&;<>$`(){}*?") || bytes.starts_with(b"~") {
        "; a command line needs a shell; try backoff sh -c '...'"
    } else if has(b"=") {
        return format!("; to set a variable, try backoff env {} ...", quoted(name));
    } else if bytes.first().is_some_and(u8::is_ascii_digit) && next.is_some_and(|next| next == "--") {
        "; only options of backoff stand before --"
    } else {
        ""
    };
    hint.to_owned()
}

/// For a terminal.
fn shown_failure(outcome: &Outcome, verdict: &Verdict) -> String {
    failure(outcome, verdict, printable)
}

impl Text<'_> {
    /// What to say about an event; None is nothing.
    pub(crate) fn sentence(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        let sentence = self.without_name(moment, event)?;
        Some(if self.is_about_the_run(moment, event) {
            format!("{}: {sentence}", self.speaker())
        } else {
            sentence
        })
    }

    fn without_name(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        let attempt = || self.numbered(moment.attempt);
        match event {
            Event::GaveUp { why, outcome, verdict } => self.gave_up(moment, *why, outcome, verdict),
            // Said even when quiet: the protection that was asked for is off.
            Event::Warning(text) => Some(format!("warning: {text}")),
            Event::Failed(why) => self.has_log_file.then(|| (*why).to_owned()),
            _ if self.is_quiet() => None,
            Event::Settings(effective) => {
                let lines: Vec<String> = effective.iter().map(|one| printable(&one.to_string())).collect();
                Some(lines.join("\nbackoff: "))
            }
            Event::Remark(text) => Some(printable(text)),
            Event::Started => self
                .is_verbose()
                .then(|| format!("{}: starting {}", attempt(), self.shown_command())),
            Event::ReadAhead => self.is_verbose().then(|| READ_AHEAD.to_owned()),
            Event::Ended { .. } => None,
            Event::Retrying {
                outcome,
                verdict: Verdict::Success,
                delay,
                ..
            } => Some(format!(
                "{} succeeded after {}; running it again in {}",
                attempt(),
                span(outcome.ran),
                span(*delay)
            )),
            Event::Retrying {
                outcome,
                verdict,
                delay,
                is_asked,
            } => Some(format!(
                "{} failed: {}; retrying in {}{}",
                attempt(),
                self.how(outcome, verdict),
                span(*delay),
                self.who_asked(*is_asked, outcome)
            )),
            Event::WaitEnded => self.is_verbose().then(|| "SIGUSR1 ended the wait".to_owned()),
            Event::Confirming { outcome, delay } => self.is_verbose().then(|| {
                format!(
                    "{} succeeded after {}; confirming in {}",
                    attempt(),
                    span(outcome.ran),
                    span(*delay)
                )
            }),
            Event::Nested(nesting) => Some(Self::nested(nesting, self.limits.attempts)),
            Event::Succeeded { flaky, ended_by } => (*flaky || ended_by.is_some() || self.is_verbose()).then(|| {
                let bound = ended_by.map(|(why, outcome)| self.explanation(why, &Verdict::Success, outcome));
                let bound = bound.unwrap_or_default();
                format!("succeeded on {} after {}{bound}", attempt(), span(moment.elapsed))
            }),
            Event::FailureCame { outcome, verdict } => Some(format!(
                "the failure came on {} after {}: {}",
                attempt(),
                span(moment.elapsed),
                shown_failure(outcome, verdict)
            )),
            Event::CoolingOff(wait) => Some(format!(
                "waiting {} before the first attempt: the last run of {} gave up (--cool-off)",
                span(*wait),
                self.budget()
            )),
            Event::Skipped { left } => self.is_verbose().then(|| {
                format!(
                    "not run: the last run of {} gave up, and {} of the wait after it are left (--cool-off=skip)",
                    self.budget(),
                    span(*left)
                )
            }),
            Event::NoTime { why, cool_off } => Some(self.no_time(*why, *cool_off)),
            Event::Interrupted { signal, outcome } => {
                (self.is_verbose() || outcome.is_some_and(|outcome| self.hides_a_signal(*signal, outcome))).then(|| {
                    let took_kill = outcome.is_some_and(|outcome| outcome.cut.took_kill);
                    let and = if took_kill { NEEDED_KILL } else { "" };
                    format!("interrupted by {signal}{and}; no further attempt")
                })
            }
        }
    }

    /// Several runs may write to one place: whose line this is. Others speak of backoff, or name the command themselves.
    fn is_about_the_run(&self, moment: &Moment, event: &Event<'_>) -> bool {
        match event {
            Event::Settings(_)
            | Event::Remark(_)
            | Event::ReadAhead
            | Event::Nested(_)
            | Event::Warning(_)
            | Event::Failed(_) => false,
            Event::GaveUp { outcome, .. } => !self.is_only_about_the_start(moment, outcome),
            _ => true,
        }
    }

    /// `--label`, or the command's own name without its directory.
    fn speaker(&self) -> String {
        let Some(command) = self.command.first() else {
            return String::new();
        };
        match (self.label, Path::new(command).file_name()) {
            (Some(label), _) => label.to_owned(),
            (None, Some(base)) => printable(&name(base)),
            (None, None) => quoted(command),
        }
    }

    /// "curl: attempt 2 of 5"
    pub(crate) fn title(&self, moment: &Moment) -> Option<String> {
        (!self.is_quiet()).then(|| format!("{}: {}", self.speaker(), self.numbered(moment.attempt)))
    }

    /// A command that cannot be started at all is an error of its own, said even when quiet.
    fn is_only_about_the_start(&self, moment: &Moment, outcome: &Outcome) -> bool {
        matches!(outcome.end, End::NotStarted(_)) && (moment.total == 1 || self.is_quiet())
    }

    fn is_quiet(&self) -> bool {
        self.verbosity < 0
    }

    fn is_verbose(&self) -> bool {
        self.verbosity >= 1
    }

    fn gave_up(&self, moment: &Moment, why: GiveUp, outcome: &Outcome, verdict: &Verdict) -> Option<String> {
        if let End::NotStarted(failure) = &outcome.end
            && self.is_only_about_the_start(moment, outcome)
        {
            let hint = match self.command.first() {
                Some(name) if failure.message == StartFailure::NOT_FOUND => {
                    likely_mistake(name, self.command.get(1).map(OsString::as_os_str))
                }
                _ => String::new(),
            };
            return Some(format!("{}{hint}", self.cannot_run(failure)));
        }
        if self.is_quiet() || (verdict.is_silent_end(outcome) && !self.is_verbose()) {
            return None;
        }
        let attempts = if moment.total == 1 { "attempt" } else { "attempts" };
        let how = match (self.limits.until, verdict) {
            (Until::Failure, Verdict::Success) => "no failure came".to_owned(),
            _ => shown_failure(outcome, verdict),
        };
        Some(format!(
            "gave up after {} {attempts} in {}: {how}{}",
            moment.total,
            span(moment.elapsed),
            self.explanation(why, verdict, outcome)
        ))
    }

    fn no_time(&self, why: GiveUp, cool_off: Option<Duration>) -> String {
        let option = self.option(why);
        match cool_off {
            Some(wait) => format!(
                "gave up before the first attempt: the last run of {} gave up, and a wait of {} would pass {option}",
                self.budget(),
                span(wait)
            ),
            None => format!("gave up before the first attempt: {option} has passed"),
        }
    }

    /// Says that retries multiply.
    pub(crate) fn nested(nesting: &Nesting, attempts: Option<u64>) -> String {
        let factors = nesting.outer_attempts.zip(attempts);
        let calls = factors.and_then(|(outer, own)| Some((outer, own, outer.checked_mul(own)?)));
        let calls = calls.map_or_else(String::new, |(outer, own, calls)| {
            format!(" (up to {outer} x {own} = {calls} calls)")
        });
        format!("running under another backoff, so retries multiply{calls}; --nested once leaves them to the outer one")
    }

    /// What is waited for, on a terminal; the time in any case.
    pub(crate) fn countdown(&self, moment: &Moment, wait: Wait<'_>, left: Duration, columns: usize) -> String {
        let (next, why) = match wait {
            Wait::Start => (1, "the delay before it".to_owned()),
            Wait::CoolOff => (1, "cooling off".to_owned()),
            Wait::Confirm => (moment.attempt.saturating_add(1), "to confirm the success".to_owned()),
            Wait::Retry(outcome, verdict) => (moment.attempt.saturating_add(1), shown_failure(outcome, verdict)),
        };
        let deadline = self.limits.deadline.map(|deadline| {
            let left = deadline.saturating_sub(moment.elapsed);
            format!(", deadline in {}", seconds(left))
        });
        fitted(
            &format!("backoff: {}: {}", self.speaker(), self.numbered(next)),
            &format!(" in {}", seconds(left)),
            &format!("{} ({why})", deadline.unwrap_or_default()),
            columns,
        )
    }

    /// "attempt 2 of 5", or "attempt 2" without a limit.
    fn numbered(&self, attempt: u64) -> String {
        match self.limits.attempts {
            Some(limit) => format!("attempt {attempt} of {limit}"),
            None => format!("attempt {attempt}"),
        }
    }

    /// Whether nobody can see from how the command ended that a signal is why there is no further attempt.
    fn hides_a_signal(&self, signal: Signal, outcome: &Outcome) -> bool {
        let was_the_last = outcome.end == End::Exited(0) && self.limits.until == Until::Success;
        !was_the_last && outcome.end.code() != Some(signal.shell_status())
    }

    /// "exit 7 after 0.21s"
    fn how(&self, outcome: &Outcome, verdict: &Verdict) -> String {
        let rule = match verdict {
            Verdict::Transient(Reason {
                why: Why::Rule(rule), ..
            }) => format!(" ({rule})"),
            _ => String::new(),
        };
        match &outcome.end {
            End::NotStarted(failure) => format!("{}{rule}", self.cannot_run(failure)),
            _ => format!("{}{rule} after {}", shown_failure(outcome, verdict), span(outcome.ran)),
        }
    }

    fn who_asked(&self, is_asked: bool, outcome: &Outcome) -> &'static str {
        match is_asked {
            true if outcome.seen.wait_asked > self.limits.max_retry_after => {
                ", as the output asked for more than --max-retry-after"
            }
            true => ", as the output asked",
            false => "",
        }
    }

    fn cannot_run(&self, failure: &StartFailure) -> String {
        format!("cannot run {}: {}", self.quoted_name(), failure.message)
    }

    /// "budget "api""
    fn budget(&self) -> String {
        let name = self.budget.map(|budget| printable(&budget.name));
        format!("budget \"{}\"", name.unwrap_or_default())
    }

    fn quoted_name(&self) -> String {
        self.command.first().map(quoted).unwrap_or_default()
    }

    fn shown_command(&self) -> String {
        if self.verbosity < 2 {
            return self.quoted_name();
        }
        let words: Vec<String> = self.command.iter().map(quoted).collect();
        format!("{} ({})", words.join(" "), self.streams)
    }
}
