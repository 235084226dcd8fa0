//! Parts of lines: failures, names, tips, lengths of time.

use std::time::Duration;

use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome, Survivor};
use crate::policy::session::{GiveUp, Limits};
use crate::run::plan::Plan;
use crate::text::{exact, name, printable, quoted};

/// Built-ins and keywords of `sh`, and of `bash` alone.
const WORDS_OF_SH: &str = ". : alias bg break case cd command continue do done elif else esac eval exec exit export fc fg fi \
     for getopts hash if jobs read readonly return set shift then times trap type ulimit umask unalias unset until wait while";
const WORDS_OF_BASH: &str = "[[ bind builtin declare dirs disown enable function help history let local mapfile popd pushd \
     readarray select shopt source time typeset";

/// Describes the failure of an attempt: `exit 7`, or `matched "bad" (exit 0; --fail-match)`. `shown` escapes the
/// command's output.
pub(super) fn how_it_failed(
    outcome: &Outcome,
    verdict: &Verdict,
    shown: fn(&str) -> String,
) -> String {
    let Some(reason) = verdict.reason() else {
        return outcome.to_string();
    };
    // For use in brackets: `timed out: --timeout 5s`.
    let end = outcome.to_string().replace(" (", ": ").replace(')', "");
    match (&reason.matched, reason.cause) {
        (Some(text), Some(cause)) => format!("matched \"{}\" ({end}; {cause})", shown(text)),
        (Some(text), None) => format!("matched \"{}\" ({end})", shown(text)),
        (None, Some(cause)) => format!("{cause} ({outcome})"),
        // Programs other than shells may exit with 127, too.
        (None, None) if outcome.end == End::Exited(127) => {
            format!("{outcome} (\"command not found\", in a shell)")
        }
        (None, None) => outcome.to_string(),
    }
}

/// Names the processes of the attempt that could not be ended, so that no further attempt may run beside them.
pub(super) fn still_run(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome.survivors.iter().map(Survivor::to_string).collect();
    printable(&names.join(", "))
}

/// Adds a detail in brackets: `exit 7 (detail)`, or `timed out (--timeout 5s; detail)` if the text ends with brackets.
pub(super) fn with_detail(text: String, detail: &str) -> String {
    match text.strip_suffix(')') {
        _ if detail.is_empty() => text,
        Some(open) => format!("{open}; {detail})"),
        None => format!("{text} ({detail})"),
    }
}

/// Returns a tip about the likely mistake in a command that was not found.
pub(super) fn likely_mistake(plan: &Plan) -> String {
    let command = &plan.command;
    let Some(name) = command.first() else {
        return String::new();
    };
    if let Some(tip) = unquoted_pattern(plan) {
        return tip;
    }
    let word = name.to_string_lossy();
    let next_is = |text: &str| command.get(1).is_some_and(|next| next == text);
    let is_in = |words: &str| words.split_whitespace().any(|known| known == word);
    // Dashes of web pages and word processors: from HYPHEN to HORIZONTAL BAR, and MINUS SIGN.
    let has_other_dash = word.starts_with(|c| matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}'));
    match &*word {
        _ if is_in(WORDS_OF_SH) => {
            format!("; {word} is a word of the shell; tip: try backoff sh -c '{word} ...'")
        }
        "help" => "; tip: try backoff --help".to_owned(),
        _ if is_in(WORDS_OF_BASH) => {
            format!("; {word} is a word of the shell; tip: try backoff bash -c '{word} ...'")
        }
        _ if word.starts_with('-') => "; tip: options of backoff stand before --".to_owned(),
        _ if has_other_dash => "; tip: begin it with -, not a typographic dash".to_owned(),
        _ if word.starts_with('~') || word.contains(|c| " \t\n|&;<>$`(){}*?".contains(c)) => {
            "; a command line needs a shell; tip: try backoff sh -c '...'".to_owned()
        }
        _ if is_in("ns us ms s m h d") => format!("; tip: a duration is one word, such as 5{word}"),
        _ if word.contains('=') => format!(
            "; tip: to set a variable, try backoff env {} ...",
            quoted(name)
        ),
        _ if word.starts_with(|c: char| c.is_ascii_digit()) && next_is("--") => {
            "; tip: only options of backoff stand before --".to_owned()
        }
        _ if may_be_function(&word) => {
            format!("; tip: a function of the shell? try export -f {word}; backoff bash -c {word}")
        }
        _ => String::new(),
    }
}

/// Returns true for a name such as `my_login` or `waitFor`, which few programs have and many functions of shells.
fn may_be_function(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = word.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && word.chars().all(is_plain);
    is_name && word.contains(|c: char| c == '_' || c.is_ascii_uppercase())
}

/// Returns a tip if a pattern of several words was probably not quoted: `-r connection refused -- cmd`.
fn unquoted_pattern(plan: &Plan) -> Option<String> {
    let end = plan.command.iter().position(|word| word == "--")?;
    let classifier = &plan.classifier;
    let by_rule = classifier
        .rules
        .iter()
        .find(|rule| rule.pattern.is_some() && rule.name.ends_with("-match"));
    let option = match by_rule {
        Some(rule) => rule.name.to_string(),
        None if !classifier.success_match.is_empty() => "--success-match".to_owned(),
        None if !classifier.fail_match.is_empty() => "--fail-match".to_owned(),
        None => return None,
    };
    let words: Vec<String> = plan.command[..end].iter().map(name).collect();
    let expression = format!("... {}", words.join(" "));
    Some(format!(
        "; tip: quote the expression: {option} {}",
        quoted(&expression)
    ))
}

/// Returns the command's own name, without its arguments.
pub(super) fn command_name(plan: &Plan) -> String {
    plan.command.first().map(name).unwrap_or_default()
}

/// Returns a limit on time as the user sets it: `--deadline 5m`.
pub(super) fn typed_limit(limits: &Limits, why: GiveUp) -> String {
    let (option, value) = limiting_option(limits, why).unwrap_or_default();
    let separator = match why {
        // The option takes its value in the same word only.
        GiveUp::RetryAfterTooLong => '=',
        _ => ' ',
    };
    format!(
        "--{option}{separator}{}",
        value.map(exact).unwrap_or_default()
    )
}

/// Returns the option that set the limit on the run, and its value if that is a time.
pub(super) fn limiting_option(
    limits: &Limits,
    why: GiveUp,
) -> Option<(&'static str, Option<Duration>)> {
    match why {
        GiveUp::Attempts => Some(("attempts", None)),
        GiveUp::Deadline => Some(("deadline", limits.deadline)),
        GiveUp::StopAfter => Some(("stop-after", limits.stop_after)),
        GiveUp::Delay => Some(("stop-at-delay", limits.stop_at_delay)),
        GiveUp::RetryAfterTooLong => Some(("retry-after", limits.max_retry_after)),
        GiveUp::Budget(_) => Some(("budget-ratio", None)),
        GiveUp::Stdin => Some(("stdin-limit", None)),
        GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::StoreDown => None,
    }
}
