//! What decided about a failure or the end of a run: one word that text and JSON share, and the option that allows
//! more. Programs compare the words in JSON, so they are part of the interface.

use std::time::Duration;

use super::failure::survivors;
use crate::policy::classifier::{Rule, RuleKind, Verdict, Why};
use crate::policy::limits::{GiveUp, Limits, Until};
use crate::policy::outcome::{End, Outcome};
use crate::run::event::JudgedAttempt;
use crate::run::plan::Plan;
use crate::text::{exact, length, printable};

/// No rule applied, so the default did: a failure is transient, unless the command could not start.
const DEFAULT: &str = "default";
/// `--timeout`, `--idle-timeout` or `--deadline` ended the attempt, and no rule applied.
const TIMEOUT: &str = "timeout";
/// Retry rules were given, and none matched.
const NONE_MATCHED: &str = "none matched";
/// Output was lost, or its reader is gone.
const NOT_READ: &str = "output not read";
/// Processes of the attempt could not be killed.
const SURVIVORS: &str = "survivors";

/// A reason to give up, as it is named everywhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// The word in JSON. Reasons that a program would treat alike share one. `option` tells them apart.
    pub(super) word: &'static str,
    pub(super) option: &'static str,
    /// The option's value, if it is a time.
    value: Option<Duration>,
    /// The option to raise to allow more, or None.
    raised_by: Option<&'static str>,
}

impl Limit {
    fn new(word: &'static str, option: &'static str) -> Limit {
        Limit {
            word,
            option,
            value: None,
            raised_by: Some(option),
        }
    }

    fn of_time(self, value: Option<Duration>) -> Limit {
        Limit { value, ..self }
    }

    /// Raising it allows no further attempt.
    fn fixed(self) -> Limit {
        Limit {
            raised_by: None,
            ..self
        }
    }

    /// Returns the option as a command line would have it: `--deadline 5m`. Leaves out a value that is not a time.
    pub(super) fn option_with_time(&self) -> String {
        let option = self.option;
        match self.value.map(exact) {
            // Its optional value has to be in the same word.
            Some(value) if option == "--retry-after" => format!("{option}={value}"),
            Some(value) => format!("{option} {value}"),
            None => option.to_owned(),
        }
    }
}

/// Returns the names of a reason to give up.
pub(super) fn limit(limits: &Limits, why: GiveUp) -> Limit {
    match why {
        GiveUp::Permanent => Limit::new("permanent", DEFAULT).fixed(),
        GiveUp::Attempts => Limit::new("attempts", "--attempts"),
        GiveUp::Deadline => Limit::new("deadline", "--deadline").of_time(limits.deadline),
        GiveUp::StopAfter => Limit::new("stop_after", "--stop-after").of_time(limits.stop_after),
        GiveUp::Delay => Limit::new("delay", "--stop-at-delay").of_time(limits.stop_at_delay),
        GiveUp::RetryAfterTooLong => {
            Limit::new("delay", "--retry-after").of_time(limits.max_retry_after)
        }
        GiveUp::Budget { .. } => Limit {
            raised_by: Some("--budget-ratio"),
            ..Limit::new("budget", "--budget")
        },
        GiveUp::StoreDown => Limit::new("budget", "--store-down").fixed(),
        GiveUp::NotIdempotent => Limit::new("not_idempotent", "--idempotent").fixed(),
        GiveUp::Nested => Limit::new("nested", "--nested").fixed(),
        GiveUp::Stdin => Limit::new("stdin", "--stdin-limit"),
    }
}

/// Returns the word for what decided whether a failure is retried, None for a success. If the command is not idempotent
/// (by `--idempotent no` or its words), this overrides a rule that would allow a retry, unless the failure is safe to
/// repeat because it had no effect or the user allows a retry.
pub(super) fn rule_of_attempt(plan: &Plan, outcome: &Outcome, verdict: &Verdict) -> Option<String> {
    let reason = verdict.reason()?;
    let must_not_repeat = !plan.limits.idempotent && !reason.is_safe_to_repeat;
    if must_not_repeat && matches!(verdict, Verdict::Transient(_)) {
        return Some(limit(&plan.limits, GiveUp::NotIdempotent).option.to_owned());
    }
    let seen = &outcome.seen;
    let rule = match &reason.why {
        Why::Rule(name) => name.as_str(),
        Why::Failed { option, .. } => option,
        Why::NoneMatched => NONE_MATCHED,
        Why::NotRead if seen.unread || seen.reader_gone => NOT_READ,
        Why::Survivors => SURVIVORS,
        Why::Default if matches!(outcome.end, End::TimedOut(_)) => TIMEOUT,
        // SIGPIPE from another pipe or socket killed the command, or nothing special happened.
        Why::NotRead | Why::Default => DEFAULT,
    };
    Some(rule.to_owned())
}

/// Returns the word for what made the run give up after an attempt.
pub(super) fn rule_of_end(plan: &Plan, why: GiveUp, attempt: &JudgedAttempt) -> String {
    if why != GiveUp::Permanent {
        return limit(&plan.limits, why).option.to_owned();
    }
    // A success gets here only with `--until failure`, if its output has no reader.
    rule_of_attempt(plan, &attempt.outcome, &attempt.verdict).unwrap_or(NOT_READ.to_owned())
}

/// Returns why the run gave up after an attempt, in the same words: `the next wait would reach --stop-at-delay 5m`.
/// Foreign text is escaped.
pub(super) fn reason(plan: &Plan, why: GiveUp, attempt: &JudgedAttempt) -> String {
    let JudgedAttempt { outcome, verdict } = attempt;
    let limit = limit(&plan.limits, why).option_with_time();
    // If success is the goal, a run only continues after one to confirm it (`--consecutive`).
    let lacks_successes = *verdict == Verdict::Success && plan.limits.until == Until::Success;
    match why {
        GiveUp::Permanent => permanent(plan, attempt),
        GiveUp::Attempts if lacks_successes => "too few successes in a row".to_owned(),
        GiveUp::Attempts => "attempt limit reached".to_owned(),
        GiveUp::Deadline | GiveUp::StopAfter => match verdict.why().and_then(Why::failure) {
            // The deadline ended the predicate. After any other failure of one, the end is `Permanent`.
            Some(failure) => format!("{failure}: {limit}"),
            None if outcome.ended_by_deadline() => limit,
            None => format!("the next attempt would begin after {limit}"),
        },
        GiveUp::Delay => format!("the next wait would reach {limit}"),
        GiveUp::RetryAfterTooLong => {
            let asked = length(outcome.seen.wait_asked.unwrap_or_default());
            format!("the output asked to wait {asked}, longer than {limit}")
        }
        GiveUp::Budget { retries_per_mille } => {
            let budget = budget(plan);
            let percent = f64::from(retries_per_mille) / 10.0;
            format!("{budget} exhausted: {percent:.1}% of recent attempts were retries")
        }
        GiveUp::StoreDown => {
            let budget = budget(plan);
            format!("the store of {budget} cannot be used: {limit} deny")
        }
        GiveUp::NotIdempotent => {
            let reason = plan.not_idempotent.as_ref();
            let why = printable(reason.map_or("", |reason| &reason.why));
            format!("it may have taken effect, and is not idempotent: {why}")
        }
        GiveUp::Nested => format!("{limit} once leaves retries to the outer backoff"),
        GiveUp::Stdin => {
            let error = outcome.seen.input_error.as_deref();
            let error = error.unwrap_or("more was read than --stdin-limit allows");
            format!("standard input cannot be replayed: {error}")
        }
    }
}

/// Returns why no retry can fix the failure. A success gets here only with `--until failure`, if its output has no
/// reader.
fn permanent(plan: &Plan, attempt: &JudgedAttempt) -> String {
    let JudgedAttempt { outcome, verdict } = attempt;
    let rule = rule_of_end(plan, GiveUp::Permanent, attempt);
    let what = match verdict.why() {
        Some(Why::NoneMatched) => match only_preset(plan) {
            Some(preset) => format!("none of the rules of {preset} matched"),
            None => "none of the retry rules matched".to_owned(),
        },
        Some(Why::Survivors) => format!("{rule}: {}", survivors(outcome)),
        Some(Why::Failed { how, .. }) => format!("{rule} failed: {how}"),
        Some(Why::Default) => return "permanent".to_owned(),
        Some(Why::NotRead) if rule == DEFAULT => return "permanent".to_owned(),
        Some(Why::NotRead) if outcome.seen.unread => {
            format!("{rule}, as its reader stopped reading")
        }
        Some(Why::NotRead) | None => format!("{rule}, as its reader is gone"),
        Some(Why::Rule(_)) => rule,
    };
    format!("permanent: {what}")
}

/// Returns advice about the option that allows more, to append to a sentence. Empty if none would help.
pub(super) fn advice(plan: &Plan, why: GiveUp, attempt: &JudgedAttempt) -> String {
    let outcome = &attempt.outcome;
    let is_useless = match why {
        // The deadline ended the attempt, which may hang, or the output, which has no reader. More time may not help.
        GiveUp::Deadline => outcome.ended_by_deadline(),
        // The input could not be kept, which `--stdin-limit` does not change.
        GiveUp::Stdin => outcome.seen.input_error.is_some(),
        // The user asked for a single attempt.
        GiveUp::Attempts => plan.limits.attempts == Some(1),
        // Advising the opposite would contradict the user.
        GiveUp::NotIdempotent => {
            let reason = plan.not_idempotent.as_ref();
            reason.is_some_and(|reason| reason.is_by_option)
        }
        _ => false,
    };
    if is_useless {
        return String::new();
    }
    match why {
        GiveUp::NotIdempotent => {
            "; use --idempotent yes if running it twice is harmless".to_owned()
        }
        GiveUp::Permanent if matches!(attempt.verdict.why(), Some(Why::NoneMatched)) => {
            advice_on_rules(plan, outcome).to_owned()
        }
        _ => match limit(&plan.limits, why).raised_by {
            Some(option) => format!("; raise {option} to allow more"),
            None => String::new(),
        },
    }
}

/// Returns advice for a failure that no retry rule matches: on the locale if only the text of a preset's rule is
/// missing, or on another rule, but not to users who wrote some of their own.
fn advice_on_rules(plan: &Plan, outcome: &Outcome) -> &'static str {
    let lacks_only_text = |rule: &Rule| {
        rule.kind == RuleKind::Retry
            && rule
                .codes
                .is_none_or(|codes| codes.contains_end(&outcome.end))
    };
    let mut of_presets = plan.classifier.rules_of_presets().iter();
    if plan.may_be_translated && of_presets.any(lacks_only_text) {
        "; its messages may not be in English: try env LC_ALL=C.UTF-8 COMMAND"
    } else if only_preset(plan).is_some() {
        "; add -r TEXT, or --for NAME, to retry this"
    } else {
        ""
    }
}

/// Returns `--for NAME` if the rules of this preset are the only ones that can retry, None otherwise.
fn only_preset(plan: &Plan) -> Option<&str> {
    let classifier = &plan.classifier;
    let mut own_rules = classifier.rules.iter();
    if own_rules.any(|rule| rule.kind == RuleKind::Retry) {
        return None;
    }
    let mut names = classifier.rules_of_presets().iter().map(|rule| &*rule.name);
    let first = names.next()?;
    names.all(|name| name == first).then_some(first)
}

/// Returns the name of the budget: `budget "api"`. Only runs with a budget (`--budget`) have such messages.
fn budget(plan: &Plan) -> String {
    let name = plan.budget.as_ref().map(|budget| printable(&budget.name));
    format!("budget \"{}\"", name.unwrap_or_default())
}
