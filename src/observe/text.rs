//! Lines for a person at 3 a.m.: what happened, what backoff does now.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::Duration;

use super::Observer;
use crate::budget::Budget;
use crate::outcome::{End, Outcome, StartFailure};
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::session::GiveUp;
use crate::run::{Event, Moment};
use crate::streams::Streams;

/// Text lines, `backoff: ...`.
#[derive(Debug)]
pub struct Text<'a> {
    /// -1 quiet, 0, 1 or 2 verbose.
    pub verbosity: i16,
    /// The limit of attempts, for "of 5".
    pub attempts: Option<u64>,
    /// What the command's streams are, for `-vv`.
    pub streams: &'a Streams,
    /// The command; its arguments are shown only with `-vv`, as they may hold secrets.
    pub command: &'a [OsString],
    /// The budget that the run shares.
    pub budget: Option<&'a Budget>,
}

impl Observer for Text<'_> {
    fn line(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        self.sentence(moment, event)
            .map(|sentence| format!("backoff: {sentence}\n"))
    }
}

impl Text<'_> {
    fn sentence(&self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        let attempt = self.attempt(moment);
        let verbose = self.verbosity >= 1;
        match event {
            // A command that cannot be started is an error of its own, said even when quiet.
            Event::GaveUp {
                outcome:
                    Outcome {
                        end: End::NotStarted(failure),
                        ..
                    },
                ..
            } if moment.total == 1 || self.verbosity < 0 => Some(self.cannot_run(failure)),
            // The protection that was asked for is off: an error of backoff's own.
            Event::Warning(text) => Some(format!("warning: {text}")),
            _ if self.verbosity < 0 => None,
            Event::Settings(effective) => {
                let lines: Vec<String> = effective.iter().map(|one| harmless(&one.to_string())).collect();
                Some(lines.join("\nbackoff: "))
            }
            Event::Started => verbose.then(|| format!("{attempt}: starting {}", self.shown_command())),
            Event::Retrying {
                outcome,
                verdict,
                delay,
            } => Some(format!(
                "{attempt} failed: {}; retrying in {}",
                self.how(outcome, verdict),
                span(*delay)
            )),
            Event::Confirming { delay } => {
                verbose.then(|| format!("{attempt} succeeded; confirming in {}", span(*delay)))
            }
            Event::Nested(nesting) => {
                let calls = match (nesting.outer_attempts, self.attempts) {
                    (Some(outer), Some(own)) => {
                        format!(" (up to {outer} x {own} = {} calls)", outer.saturating_mul(own))
                    }
                    _ => String::new(),
                };
                Some(format!(
                    "running under another backoff, so retries multiply{calls}; --nested once leaves them to the outer one"
                ))
            }
            Event::Succeeded { flaky } => {
                (*flaky || verbose).then(|| format!("succeeded on {attempt} after {}", span(moment.elapsed)))
            }
            // Silent as in a shell: the reader of a pipeline has seen enough.
            Event::GaveUp {
                verdict: Verdict::Permanent(Reason {
                    why: Why::ReaderGone, ..
                }),
                ..
            } if !verbose => None,
            Event::GaveUp { why, outcome, verdict } => {
                let attempts = if moment.total == 1 { "attempt" } else { "attempts" };
                let mut line = format!(
                    "gave up after {} {attempts} in {}: {}",
                    moment.total,
                    span(moment.elapsed),
                    self.what(outcome, verdict)
                );
                line.push_str(&self.because(*why, verdict, outcome));
                Some(line)
            }
            Event::CoolingOff(wait) => Some(format!(
                "waiting {} before the first attempt: the last run of {} gave up",
                span(*wait),
                self.budget()
            )),
            Event::NoTime { cool_off: Some(wait) } => Some(format!(
                "gave up before the first attempt: the last run of {} gave up, and to wait {} would pass the deadline",
                self.budget(),
                span(*wait)
            )),
            Event::NoTime { cool_off: None } => {
                Some("gave up before the first attempt: the deadline has passed".into())
            }
            Event::Interrupted(signal) => {
                verbose.then(|| format!("interrupted by {signal} at {attempt}; no further attempt"))
            }
        }
    }

    /// "attempt 2 of 5", or "attempt 2" without a limit.
    fn attempt(&self, moment: &Moment) -> String {
        match self.attempts {
            Some(limit) => format!("attempt {} of {limit}", moment.attempt),
            None => format!("attempt {}", moment.attempt),
        }
    }

    /// "exit 7", or "matched \"queue capacity\" (exit 1)"
    fn what(&self, outcome: &Outcome, verdict: &Verdict) -> String {
        let end = &outcome.end;
        match verdict {
            Verdict::Transient(reason) | Verdict::Permanent(reason) | Verdict::Ask(reason) => match &reason.matched {
                Some(text) => format!("matched \"{}\" ({end})", harmless(text)),
                None if reason.unproven => format!("no line matches --success-match ({end})"),
                None => end.to_string(),
            },
            Verdict::Success => end.to_string(),
        }
    }

    /// "exit 7 after 0.21s"
    fn how(&self, outcome: &Outcome, verdict: &Verdict) -> String {
        let rule = match verdict {
            Verdict::Transient(Reason {
                why: Why::Rule(rule), ..
            }) if self.verbosity >= 1 => format!(" ({rule})"),
            _ => String::new(),
        };
        match &outcome.end {
            End::NotStarted(failure) => format!("{}{rule}", self.cannot_run(failure)),
            _ => format!("{}{rule} after {}", self.what(outcome, verdict), span(outcome.ran)),
        }
    }

    fn cannot_run(&self, failure: &StartFailure) -> String {
        format!("cannot run {}: {}", self.name(), failure.message)
    }

    fn because(&self, why: GiveUp, verdict: &Verdict, outcome: &Outcome) -> String {
        match (why, verdict) {
            (GiveUp::Permanent, Verdict::Permanent(reason)) => match &reason.why {
                Why::Rule(rule) => format!(" (permanent: {rule})"),
                Why::ReaderGone => " (its reader is gone)".into(),
                Why::PredicateFailed(how) => format!(" (permanent: --retry-if failed: {how})"),
                _ => " (permanent: no retry rule matches)".into(),
            },
            (GiveUp::Permanent, _) => String::new(),
            (
                GiveUp::AttemptsOfClass,
                Verdict::Transient(Reason {
                    why: Why::Rule(rule), ..
                }),
            ) => {
                format!(" (no attempt is left for {rule})")
            }
            (GiveUp::Attempts, Verdict::Success) => " (too few successes in a row)".into(),
            (GiveUp::Deadline, _) if !matches!(outcome.end, End::TimedOut(_)) => {
                " (the next wait would pass the deadline)".into()
            }
            (GiveUp::Delay, _) => " (the next wait would reach --stop-at-delay)".into(),
            (GiveUp::AskedTooLong, _) => {
                let asked = outcome.seen.wait_asked.unwrap_or_default();
                format!(" (asked to wait {}, longer than --max-retry-after)", span(asked))
            }
            (GiveUp::Budget(counts), _) => format!(
                " ({} is spent: {} of {} attempts in {} were retries)",
                self.budget(),
                counts.retries,
                counts.attempts,
                span(self.budget.map_or(Duration::ZERO, |budget| budget.terms.window))
            ),
            (GiveUp::Nested, _) => " (left to the outer backoff: --nested once)".into(),
            (GiveUp::Stdin, _) => match &outcome.seen.input_error {
                Some(error) => format!(" (standard input cannot be given again: {error})"),
                None => {
                    " (standard input cannot be given again: more was read than --stdin-limit lets backoff keep)".into()
                }
            },
            (GiveUp::Attempts | GiveUp::AttemptsOfClass | GiveUp::Deadline, _) => String::new(),
        }
    }

    /// "budget "api""
    fn budget(&self) -> String {
        let name = self.budget.map(|budget| harmless(&budget.name));
        format!("budget \"{}\"", name.unwrap_or_default())
    }

    fn name(&self) -> String {
        self.command.first().map(quoted).unwrap_or_default()
    }

    fn shown_command(&self) -> String {
        if self.verbosity < 2 {
            return self.name();
        }
        let words: Vec<String> = self.command.iter().map(quoted).collect();
        format!("{} ({})", words.join(" "), self.streams)
    }
}

/// A word of the command line in single quotes, with nothing in it that a terminal would act on.
fn quoted(word: &OsString) -> String {
    let mut shown = String::from("'");
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || c == '\\' || c == '\'' {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown.push('\'');
    shown
}

/// Characters that change how the others are shown: directions, joiners, marks of order.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A text with nothing in it that a terminal would act on.
pub fn harmless(text: &str) -> String {
    let shown = |c: char| {
        if c.is_control() || is_unseen(c) {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().map(shown).collect()
}

/// A length of time with the digits a person needs: `51us`, `20ms`, `0.21s`, `4.1s`, `2m05s`, `3h20m`.
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    let whole = seconds.round() as u64;
    match length {
        Duration::ZERO => "0s".into(),
        _ if length < Duration::from_micros(1) => format!("{}ns", length.as_nanos()),
        _ if length < Duration::from_millis(1) => format!("{}us", length.as_micros()),
        _ if length < Duration::from_millis(100) => format!("{}ms", length.as_millis()),
        _ if length < Duration::from_millis(995) => format!("{seconds:.2}s"),
        _ if length < Duration::from_millis(59_950) => format!("{seconds:.1}s"),
        _ if whole < 3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn lengths_of_time() {
        for (nanos, shown) in [
            (0, "0s"),
            (7, "7ns"),
            (51_200, "51us"),
            (20_000_000, "20ms"),
            (210_000_000, "0.21s"),
            (999_000_000, "1.0s"),
            (4_100_000_000, "4.1s"),
            (59_960_000_000, "1m00s"),
            (125_000_000_000, "2m05s"),
            (12_000_000_000_000, "3h20m"),
        ] {
            assert_eq!(span(Duration::from_nanos(nanos)), shown);
        }
        assert!(!span(Duration::MAX).is_empty());
    }

    #[test]
    fn a_name_cannot_write_to_the_terminal() {
        let name = OsString::from_vec(b"a\x1b[31m\n'\xff\\".to_vec());
        assert_eq!(quoted(&name), r"'a\u{1b}[31m\n\'\xff\\'");
    }
}
