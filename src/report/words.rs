//! Parts of lines that text and JSON share or that need no state: failures, names, limits, and tips about a command
//! that was not found, which is most often one that was typed wrong.

use std::time::Duration;

use crate::policy::classifier::{Classifier, Verdict};
use crate::policy::outcome::{End, Outcome, Survivor};
use crate::policy::session::{GiveUp, Limits};
use crate::run::plan::Plan;
use crate::text::{exact, name, printable, quoted};

/// Built-ins and keywords of `sh`, and of `bash` alone.
const WORDS_OF_SH: &str = ". : alias bg break case cd command continue do done elif else esac eval exec exit export fc fg fi \
     for getopts hash if jobs read readonly return set shift then times trap type ulimit umask unalias unset until wait while";
const WORDS_OF_BASH: &str = "[[ bind builtin declare dirs disown enable function help history let local mapfile popd pushd \
     readarray select shopt source time typeset";

/// Characters that a shell acts on.
const SYNTAX_OF_SHELLS: [char; 16] = [
    ' ', '\t', '\n', '|', '&', ';', '<', '>', '$', '`', '(', ')', '{', '}', '*', '?',
];

/// Describes the failure of an attempt: `exit 7`; `matched "bad" (exit 0; --fail-match)` if a pattern matched; `no line
/// matches --success-match (exit 0)` if the end alone would be no failure. For a success, returns its end. `shown`
/// escapes the matched text for where it goes: a terminal needs that, JSON escapes by itself.
pub(super) fn how_it_failed(
    outcome: &Outcome,
    verdict: &Verdict,
    shown: fn(&str) -> String,
) -> String {
    let Some(reason) = verdict.reason() else {
        return outcome.to_string();
    };
    // Without brackets of its own, as it stands in brackets: `timed out: --timeout 5s`.
    let end_for_brackets = outcome.to_string().replace(" (", ": ").replace(')', "");
    match (&reason.matched, reason.cause) {
        (Some(text), Some(cause)) => {
            format!("matched \"{}\" ({end_for_brackets}; {cause})", shown(text))
        }
        (Some(text), None) => format!("matched \"{}\" ({end_for_brackets})", shown(text)),
        (None, Some(cause)) => format!("{cause} ({outcome})"),
        // A hint only, as programs other than shells may exit with 127, too.
        (None, None) if outcome.end == End::Exited(127) => {
            format!("{outcome} (\"command not found\", in a shell)")
        }
        (None, None) => outcome_without_tip(outcome),
    }
}

/// Returns how an attempt ended, without the tip that the message about a failed start may end with: what follows would
/// look like a part of the tip.
pub(super) fn outcome_without_tip(outcome: &Outcome) -> String {
    match &outcome.end {
        End::NotStarted(why) => why.problem_and_tip().0.to_owned(),
        _ => outcome.to_string(),
    }
}

/// Returns the processes of the attempt that could not be ended, beside which no further attempt may run, and why: `PID
/// 42 (rsync) does not die of KILL`. Empty if there are none.
pub(super) fn survivors(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome.survivors.iter().map(Survivor::to_string).collect();
    printable(&names.join(", "))
}

/// Returns the text with a detail in brackets: `exit 7 (detail)`, or `timed out (--timeout 5s; detail)` if it ends with
/// brackets, as a line has one pair at most. An empty detail adds nothing.
pub(super) fn with_detail(text: String, detail: &str) -> String {
    if detail.is_empty() {
        return text;
    }
    match text.strip_suffix(')') {
        Some(open) => format!("{open}; {detail})"),
        None => format!("{text} ({detail})"),
    }
}

/// Returns a tip about the likely mistake in a command that was not found, `; tip: ...`, or nothing if none is likely.
/// The first guess that fits counts, so the surest come first.
pub(super) fn likely_mistake(plan: &Plan) -> String {
    let Some(first) = plan.command.first() else {
        return String::new();
    };
    if let Some(tip) = unquoted_pattern(plan) {
        return tip;
    }
    let word = first.to_string_lossy();
    if let Some(tip) = mistaken_word(&word) {
        return tip;
    }
    if word.contains('=') {
        let variable = quoted(first);
        return format!("; tip: to set a variable, try backoff env {variable} ...");
    }
    // `backoff 5 -- cmd`: the 5 was meant for backoff.
    let is_followed_by_dashes = plan.command.get(1).is_some_and(|next| next == "--");
    let begins_as_number = word.starts_with(|c: char| c.is_ascii_digit());
    if begins_as_number && is_followed_by_dashes && !plan.has_dashes {
        return "; tip: only options of backoff stand before --".to_owned();
    }
    if may_be_function(&word) {
        return format!(
            "; tip: a function of the shell? try export -f {word}; backoff bash -c {word}"
        );
    }
    String::new()
}

/// Returns a tip about a first word that no program has as its name: of a shell's language, an option, a unit of time
/// ...; None if the word may be a program. Not for a program that exists, as some words of shells do (`time`).
fn mistaken_word(word: &str) -> Option<String> {
    if is_in(WORDS_OF_SH, word) {
        return Some(format!(
            "; {word} is a word of the shell; tip: try backoff sh -c '{word} ...'"
        ));
    }
    // Bash has `help`, too, but here the user wants this program's.
    if word == "help" {
        return Some("; tip: try backoff --help".to_owned());
    }
    if is_in(WORDS_OF_BASH, word) {
        return Some(format!(
            "; {word} is a word of the shell; tip: try backoff bash -c '{word} ...'"
        ));
    }
    if word == "--" {
        return Some("; tip: one -- before the command is enough".to_owned());
    }
    if word.starts_with('-') {
        return Some("; tip: options of backoff stand before --".to_owned());
    }
    if word.starts_with(is_other_dash) {
        return Some("; tip: begin it with -, not a typographic dash".to_owned());
    }
    if word.starts_with('~') || word.contains(SYNTAX_OF_SHELLS) {
        return Some("; a command line needs a shell; tip: try backoff sh -c '...'".to_owned());
    }
    // `5 s` in place of `5s`.
    if is_in("ns us ms s m h d", word) {
        return Some(format!("; tip: a duration is one word, such as 5{word}"));
    }
    None
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Returns true for a dash of web pages and word processors: from HYPHEN to HORIZONTAL BAR, and MINUS SIGN.
fn is_other_dash(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Returns true for a name such as `my_login` or `waitFor`, which few programs have and many functions of shells. A
/// function that the user calls in a shell is unknown to backoff, which runs programs.
fn may_be_function(word: &str) -> bool {
    let begins_as_name = word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let has_parts = word.contains(|c: char| c == '_' || c.is_ascii_uppercase());
    begins_as_name && is_plain && has_parts
}

/// Returns a tip if a pattern of several words was probably not quoted: in `-r connection refused -- cmd` the pattern
/// is `connection`, and `refused -- cmd` was taken for the command. None without such an option, without words before a
/// `--` in the command, or if another `--` stands before the command. The pattern's first word is not known here, so
/// that the tip has dots for it.
fn unquoted_pattern(plan: &Plan) -> Option<String> {
    if plan.has_dashes {
        return None;
    }
    let dashes = plan.command.iter().position(|word| word == "--")?;
    let option = option_with_pattern(&plan.classifier)?;
    let words: Vec<String> = plan.command[..dashes].iter().map(name).collect();
    let expression = quoted(format!("... {}", words.join(" ")));
    Some(format!(
        "; tip: quote the expression: {option} {expression}"
    ))
}

/// Returns an option such as `--retry-match` that was given an expression, if one was; of several, any may be the one
/// that was not quoted. Rules of presets have expressions, too, but other names (`--for curl`).
fn option_with_pattern(classifier: &Classifier) -> Option<String> {
    for rule in &classifier.rules {
        if rule.pattern.is_some() && rule.name.ends_with("-match") {
            return Some(rule.name.to_string());
        }
    }
    if !classifier.success_match.is_empty() {
        return Some("--success-match".to_owned());
    }
    if !classifier.fail_match.is_empty() {
        return Some("--fail-match".to_owned());
    }
    None
}

/// Returns the command's own name, without its arguments.
pub(super) fn command_name(plan: &Plan) -> String {
    plan.command.first().map(name).unwrap_or_default()
}

/// Returns a limit on time as the user sets it, `--deadline 5m`. `why` tells which of the limits; nothing if it is no
/// limit. A limit that is no time, such as `--attempts`, has no value here: callers use the text only for those on
/// time.
pub(super) fn typed_limit(limits: &Limits, why: GiveUp) -> String {
    let Some(limit) = limiting_option(limits, why) else {
        return String::new();
    };
    let option = limit.option;
    let value = limit.value.map(exact).unwrap_or_default();
    if why == GiveUp::RetryAfterTooLong {
        // The value of this option is optional, and so stands in the same word.
        format!("--{option}={value}")
    } else {
        format!("--{option} {value}")
    }
}

/// An option that limits a run.
pub(super) struct LimitingOption {
    pub(super) option: &'static str,
    /// Its value, if that is a time.
    value: Option<Duration>,
}

/// Returns the option whose limit made the run give up, and that can be raised to allow more (so `budget-ratio`, not
/// `budget`), with its value if that is a time; None if the reason is no limit that can be raised.
pub(super) fn limiting_option(limits: &Limits, why: GiveUp) -> Option<LimitingOption> {
    let option = match why {
        GiveUp::Attempts => "attempts",
        GiveUp::Deadline => "deadline",
        GiveUp::StopAfter => "stop-after",
        GiveUp::Delay => "stop-at-delay",
        GiveUp::RetryAfterTooLong => "retry-after",
        GiveUp::Budget(_) => "budget-ratio",
        GiveUp::Stdin => "stdin-limit",
        GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::StoreDown => {
            return None;
        }
    };
    let value = match why {
        GiveUp::Deadline => limits.deadline,
        GiveUp::StopAfter => limits.stop_after,
        GiveUp::Delay => limits.stop_at_delay,
        GiveUp::RetryAfterTooLong => limits.max_retry_after,
        _ => None,
    };
    Some(LimitingOption { option, value })
}
