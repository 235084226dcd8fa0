//! Parts of lines: failures, names, tips, lengths of time.

use std::ffi::OsStr;
use std::time::Duration;

use os_display::Quotable;

use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome, Survivor, exact};
use crate::policy::session::{GiveUp, Limits};
use crate::run::plan::Plan;
use crate::run::text::printable;

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

/// Returns the command's own name as text, with bytes that are not UTF-8 as `\xff`.
pub(crate) fn name(word: impl AsRef<OsStr>) -> String {
    let chunks = word.as_ref().as_encoded_bytes().utf8_chunks();
    let shown = chunks.map(|chunk| format!("{}{}", chunk.valid(), chunk.invalid().escape_ascii()));
    shown.collect()
}

/// Returns a word of the command line as a shell reads it, escaping characters that a terminal would act on.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    // The crate does not escape joiners and other invisible characters.
    printable(&word.as_ref().quote().to_string())
}

/// Returns a length of time in three digits or two units: `51.2us`, `31s`, `2m5s`.
pub(crate) fn length(length: Duration) -> String {
    let (value, unit) = match length.as_secs_f64() {
        0.0 => (0.0, "s"),
        seconds @ ..999.5e-9 => (seconds * 1e9, "ns"),
        seconds @ ..999.5e-6 => (seconds * 1e6, "us"),
        seconds @ ..999.5e-3 => (seconds * 1e3, "ms"),
        seconds @ ..59.95 => (seconds, "s"),
        seconds => return in_two_units(seconds.round() as u64),
    };
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let digits = format!("{value:.decimals$}");
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => &digits,
    };
    format!("{digits}{unit}")
}

fn in_two_units(seconds: u64) -> String {
    let (many, large, few, small) = match seconds {
        ..3_600 => (seconds / 60, "m", seconds % 60, "s"),
        3_600..86_400 => (seconds / 3_600, "h", seconds % 3_600 / 60, "m"),
        _ => (seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    };
    match few {
        0 => format!("{many}{large}"),
        _ => format!("{many}{large}{few}{small}"),
    }
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

/// Returns a time since the UNIX epoch in UTC (RFC 3339), down to the millisecond.
pub(super) fn timestamp(time: Duration) -> String {
    // humantime writes times up to the year 9999.
    let time = time.min(Duration::from_secs(253_402_300_799));
    humantime::format_rfc3339_millis(std::time::UNIX_EPOCH + time).to_string()
}

/// Returns the columns of a text on a terminal, at most.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// Returns 2 for all but ASCII, as characters of some scripts are two columns wide.
fn width_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// Returns a line cut to `columns`. `...` replaces the rest.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    // Columns up to `c`, and of `...`.
    let mut used = "...".len();
    let fits = text.chars().take_while(|c| {
        used += width_of(*c);
        used <= columns
    });
    fits.collect::<String>() + &"..."[..columns.min(3)]
}

#[cfg(test)]
mod tests;
