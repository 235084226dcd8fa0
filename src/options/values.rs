//! The grammars of option values. Each function takes the text and returns the value.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use super::duration::is_word_for_no_limit;
pub use super::duration::{duration, durations};
use super::problem::UsageError;
use super::similar::tip;
use crate::policy::delay::Jitter;
use crate::policy::sets::CodeSet;
use crate::policy::signal::Signal;
use crate::search::pattern::Pattern;
use crate::text::is_printable;

/// A value, or an error that follows the rejected text in a sentence: the problem, then a valid example.
pub type Parsed<T> = Result<T, UsageError>;

/// Returns the number of a text, or None unless all of it is digits. A number too large for u128 saturates.
fn digits(text: &str) -> Option<u128> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
        .then(|| text.parse().unwrap_or(u128::MAX))
}

/// Parses a whole number from `least` to `most`; plain ASCII digits only.
pub fn whole(text: &str, least: u64, most: u64) -> Parsed<u64> {
    let example = least.max(3).min(most);
    let number =
        digits(text).ok_or_else(|| format!("is not a whole number; tip: try {example}"))?;
    let range = match u64::try_from(number) {
        Ok(n) if (least..=most).contains(&n) => return Ok(n),
        Err(_) if most == u64::MAX => format!("at most {most}"),
        _ if most == u64::MAX => format!("at least {least}"),
        _ => format!("from {least} to {most}"),
    };
    Err(format!("is out of range; it must be {range}").into())
}

/// Parses a number of at least 1, or `unlimited`.
pub fn attempts(text: &str) -> Parsed<Option<u64>> {
    match digits(text) {
        Some(_) => match whole(text, 1, u64::MAX) {
            Ok(attempts) => Ok(Some(attempts)),
            Err(problem) => Err(format!("{problem}, or unlimited").into()),
        },
        None if text.eq_ignore_ascii_case("unlimited") => Ok(None),
        None => {
            let means_unlimited = is_word_for_no_limit(text) || text == "-1";
            let examples = if means_unlimited {
                "unlimited"
            } else {
                "3 or unlimited"
            };
            let tip = tip(text, ["unlimited"].into_iter(), examples);
            Err(format!("is not a whole number{tip}").into())
        }
    }
}

/// Parses a growth factor: a finite number of at least 1.
pub fn factor(text: &str) -> Parsed<f64> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 1.0 => Ok(factor),
        _ => Err("is not a number of at least 1; tip: try 2 or 1.5".into()),
    }
}

/// Parses `25%` or `0.25` as a fraction in [0, 1].
pub fn percent(text: &str) -> Parsed<f64> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(n) if (0.0..=unit).contains(&n) => Ok(n / unit),
        Ok(n) if unit == 1.0 && (0.0..=100.0).contains(&n) => {
            Err(format!("is above 1, which is 100%; tip: try {n}%").into())
        }
        Ok(_) => Err("is out of range; it must be from 0% to 100%".into()),
        Err(_) => Err("is not a percentage; tip: try 25% or 0.25".into()),
    }
}

/// Parses a duration of at least one millisecond.
pub fn period(text: &str, example: &str) -> Parsed<Duration> {
    let duration = duration(text)?;
    if duration < Duration::from_millis(1) {
        let why = format!("is out of range; it must be at least 1ms; tip: try {example}");
        return Err(why.into());
    }
    Ok(duration)
}

/// Parses a size in bytes: `64KiB`, `1.5GiB`, `10MB`, `1G`. Units are powers of 1024, except kB, KB, MB, GB and TB.
pub fn size(text: &str) -> Parsed<u64> {
    const WRONG: &str = "is not a size; tip: try 64KiB, 10MB or 1GiB";
    let digits = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "k" | "K" | "KiB" => 1024.0,
        "M" | "MiB" => 1024.0 * 1024.0,
        "G" | "GiB" => 1024.0 * 1024.0 * 1024.0,
        "T" | "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(WRONG.into()),
    };
    let number: f64 = number.parse().map_err(|_| WRONG)?;
    Ok((number * scale) as u64)
}

#[rustfmt::skip]
/// Names of `sysexits.h`, from 64 on.
pub(crate) const SYSEXITS: [&str; 15] = [
    "usage", "dataerr", "noinput", "nouser", "nohost", "unavailable", "software", "oserr", "osfile", "cantcreat", "ioerr",
    "tempfail", "protocol", "noperm", "config",
];

/// Parses an exit code: 0 to 255 or a name of `sysexits.h` (`tempfail`, `EX_TEMPFAIL`).
pub fn code(text: &str) -> Parsed<u8> {
    let name = text.to_ascii_lowercase();
    let name = name.strip_prefix("ex_").unwrap_or(&name);
    let code = match digits(text) {
        Some(number) => u8::try_from(number).ok(),
        None if name == "ok" => Some(0),
        None => SYSEXITS
            .iter()
            .position(|known| *known == name)
            .map(|i| 64 + i as u8),
    };
    code.ok_or_else(|| {
        let examples = "a number from 0 to 255 or a sysexits name such as tempfail";
        format!(
            "is not an exit code{}",
            tip(text, SYSEXITS.into_iter(), examples)
        )
        .into()
    })
}

/// Parses CODES: `7`, `1,2,75`, `100-110`, `tempfail`, `SIGKILL`, `timeout`, mixed. A signal stands for the code of a
/// death by the signal.
pub fn codes(text: &str) -> Parsed<CodeSet> {
    let mut set = CodeSet::default();
    for part in text.split(',').map(str::trim) {
        add_codes(&mut set, part)?;
    }
    Ok(set)
}

fn add_codes(set: &mut CodeSet, part: &str) -> Parsed<()> {
    if part == "timeout" {
        set.add_timeout();
        return Ok(());
    }
    let range = part
        .split_once('-')
        .and_then(|(first, last)| one_code(first.trim()).zip(one_code(last.trim())));
    // RTMAX-1 is a single signal, not a range.
    let problem = match one_code(part).map(|only| (only, only)).or(range) {
        Some((first, last)) if first <= last => {
            set.add(first..=last);
            return Ok(());
        }
        Some(_) => "runs backwards",
        None if part.is_empty() => "is empty",
        None => "is neither from 0 to 255 nor a name",
    };
    if ["all", "any", "*"].contains(&part) {
        let tip = "leave --retry-exit out to retry every failure, or try 1-255";
        return Err(format!("is not a list of exit codes; tip: {tip}").into());
    }
    let names = SYSEXITS
        .into_iter()
        .chain(["timeout"])
        .chain(signal_names());
    let tip = tip(part, names, "7, 1,2,75 or 100-110");
    Err(format!("is not a list of exit codes ({part:?} {problem}){tip}").into())
}

/// Returns the exit code of a number, a name or a signal.
fn one_code(text: &str) -> Option<u8> {
    let code = code(text).or_else(|_| signal(text).map(Signal::shell_status));
    code.ok()
}

/// Codes of `--success-exit`, and the subset whose status becomes 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SuccessCodes {
    pub all: CodeSet,
    pub zero: CodeSet,
}

/// Parses CODES, each optionally followed by `=0`.
pub fn success_codes(text: &str) -> Parsed<SuccessCodes> {
    let mut codes = SuccessCodes::default();
    for part in text.split(',') {
        let (part, status) = part
            .split_once('=')
            .map_or((part, None), |(part, status)| (part, Some(status.trim())));
        let part = part.trim();
        add_codes(&mut codes.all, part)?;
        match status {
            None => {}
            Some("0") => add_codes(&mut codes.zero, part)?,
            Some(other) => {
                return Err(
                    format!("maps {part:?} to {other:?}; only {part}=0 is possible").into(),
                );
            }
        }
    }
    if codes.all.contains_timeout() {
        return Err("names timeout, and an attempt that timed out is no success; tip: try a longer --timeout".into());
    }
    Ok(codes)
}

/// Parses a signal: `TERM`, `SIGTERM`, `15`, `RTMIN+1`. The error suggests a similar name, if there is one.
pub fn signal(text: &str) -> Parsed<Signal> {
    let name = text.trim();
    name.parse().map_err(|()| {
        let tip = tip(name, signal_names(), "TERM, SIGINT, 15 or RTMIN+1");
        format!("is not a signal{tip}").into()
    })
}

fn signal_names() -> impl Iterator<Item = &'static str> {
    let names = nix::sys::signal::Signal::iterator().map(nix::sys::signal::Signal::as_str);
    names.flat_map(|name| [name.trim_start_matches("SIG"), name])
}

/// Parses a regular expression; rejects an empty one, as it would match every line.
pub(crate) fn regex(text: &str) -> Parsed<Pattern> {
    if text.is_empty() {
        return Err("is empty, so it would match every line; tip: try 'timed out|refused'".into());
    }
    if Pattern::names_escape(text) {
        let why = "escape sequences are removed before patterns see a line";
        return Err(format!("names ESC, but {why}; tip: leave out what colors the text").into());
    }
    Pattern::parse(text).map_err(|error| {
        // The message draws the expression on several lines before it names the error.
        let message = error.to_string();
        let kind = message.rsplit("error: ").next().unwrap_or_default();
        format!("is not a regular expression ({kind}); tip: try 'connection (refused|reset)'")
            .into()
    })
}

pub fn any_text(text: &str) -> Parsed<String> {
    Ok(text.to_owned())
}

/// Parses a predicate's shell command; rejects an empty one, as it would always succeed.
pub fn predicate(text: &str) -> Parsed<String> {
    match text.trim() {
        "" => Err("is empty; tip: try a command for the shell, such as 'grep -q done'".into()),
        _ => Ok(text.to_owned()),
    }
}

/// Parses the name of a budget. Percent-encoded, it must fit into the name of a file: 255 bytes.
pub fn budget_name(text: &str) -> Parsed<String> {
    match text {
        "" => Err("is empty; tip: try the name of what is called, such as api.example.org".into()),
        name if name.len() > 80 => Err("is longer than 80 bytes; tip: try a shorter name".into()),
        name => Ok(name.to_owned()),
    }
}

/// Parses the label that begins each line.
pub fn label(text: &str) -> Parsed<String> {
    const MOST: usize = 64;
    let problem = match text {
        _ if text.trim().is_empty() => "is empty".to_owned(),
        _ if !text.chars().all(is_printable) => {
            "holds a control character or an invisible one".to_owned()
        }
        _ if text.chars().count() > MOST => format!("is longer than {MOST} characters"),
        _ => return Ok(text.to_owned()),
    };
    Err(format!("{problem}; tip: try a name such as nightly-sync").into())
}

/// Parses a switch.
pub fn switch(text: &str) -> Parsed<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("is not on or off; tip: try 1 or 0".into()),
    }
}

/// Parses a repeatable switch as a number.
pub fn count(text: &str) -> Parsed<u8> {
    match whole(text, 0, u64::from(u8::MAX)) {
        Ok(count) => Ok(count as u8),
        Err(_) => switch(text).map(u8::from),
    }
}

/// Parses the amount of output that hooks get: a size, on or off. None is off.
pub fn hook_output(text: &str) -> Parsed<Option<usize>> {
    const DEFAULT: usize = 64 << 10;
    /// The output is kept in memory.
    const MOST: u64 = 1 << 20;
    match switch(text) {
        Ok(is_on) => Ok(is_on.then_some(DEFAULT)),
        Err(_) => match size(text)? {
            size @ 1..=MOST => Ok(Some(size as usize)),
            _ => Err("is out of range; it must be from 1B to 1MiB".into()),
        },
    }
}

/// The mode of `--cool-off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoolOffMode {
    /// A run that is too early starts at once.
    Off,
    /// A run that is too early waits.
    Wait,
    /// A run that is too early ends at once with this exit status.
    Skip(u8),
}

/// Parses the mode of the cool-off: on, off, `skip` or `skip:CODE`.
pub fn cool_off(text: &str) -> Parsed<CoolOffMode> {
    /// EX_TEMPFAIL of sysexits.h: try again later.
    const TEMPFAIL: u8 = 75;
    if text == "skip" {
        return Ok(CoolOffMode::Skip(TEMPFAIL));
    }
    if let Some(status) = text.strip_prefix("skip:") {
        let status = code(status).map_err(|problem| format!("has a status that {problem}"))?;
        return Ok(CoolOffMode::Skip(status));
    }
    match switch(text) {
        Ok(true) => Ok(CoolOffMode::Wait),
        Ok(false) => Ok(CoolOffMode::Off),
        Err(_) => {
            let words = ["on", "off", "skip"].into_iter();
            let tip = tip(text, words, "--cool-off or --cool-off=skip");
            Err(format!("is not on, off, skip or skip:CODE{tip}").into())
        }
    }
}

/// Parses the longest wait to accept from the output; None is off.
pub fn retry_after(text: &str) -> Parsed<Option<Duration>> {
    const DEFAULT: Duration = Duration::from_secs(5 * 60);
    if let Ok(is_on) = switch(text) {
        return Ok(is_on.then_some(DEFAULT));
    }
    // 1 is on, so another bare number would mislead.
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(format!("has no unit; tip: try {text}s, or 1 for on").into());
    }
    let longest = duration(text).map_err(|problem| format!("is not on or off, and {problem}"))?;
    if longest.is_zero() {
        return Err("accepts no wait at all; tip: try off, or a limit such as 2m".into());
    }
    Ok(Some(longest))
}

/// The form of `--plan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanForm {
    Table,
    Plot,
}

/// Parses the form of a plan; None is off.
pub fn plan(text: &str) -> Parsed<Option<PlanForm>> {
    match (text, switch(text)) {
        ("plot", _) => Ok(Some(PlanForm::Plot)),
        (_, Ok(true)) => Ok(Some(PlanForm::Table)),
        (_, Ok(false)) => Ok(None),
        _ => {
            let tip = tip(text, ["plot"].into_iter(), "--plan or --plan=plot");
            Err(format!("is not plot{tip}").into())
        }
    }
}

/// Returns true for a word that is rather the mode of `--cool-off` than the name of a command.
pub(super) fn is_cool_off(text: &str) -> bool {
    text.starts_with("skip:") || cool_off(text).is_ok()
}

/// Returns true for a word that is rather the limit of `--retry-after` than the name of a command.
pub(super) fn is_wait(text: &str) -> bool {
    retry_after(text).is_ok() || digits(text).is_some()
}

/// Parses a path, which need not be UTF-8.
pub(super) fn path(text: &OsStr) -> Parsed<PathBuf> {
    if text.is_empty() {
        return Err("is not a path; tip: try a file name".into());
    }
    Ok(PathBuf::from(text))
}

pub(crate) const DEFAULT_JITTER: Jitter = Jitter::Decorrelated { factor: 3.0 };

/// The words of `--jitter`; jitters have their default parameters.
pub(super) static JITTERS: [(&str, Jitter); 7] = [
    ("none", Jitter::None),
    ("full", Jitter::Full),
    ("equal", Jitter::Equal),
    ("decorrelated", DEFAULT_JITTER),
    (
        "additive",
        Jitter::Additive {
            spread: Duration::from_secs(1),
        },
    ),
    ("proportional", Jitter::Proportional { spread: 0.25 }),
    ("slotted", Jitter::Slotted { ceiling: 10 }),
];

/// Parses a jitter: one of the words, `additive:WIDTH`, `proportional:PERCENT` or `slotted:CEILING`.
pub(crate) fn jitter(text: &str) -> Parsed<Jitter> {
    let Some((name, parameter)) = text.split_once(':') else {
        return word(&JITTERS, text);
    };
    match name {
        "additive" => additive(parameter),
        "proportional" => proportional(parameter),
        "slotted" => slotted(parameter),
        name => {
            // A word without a parameter, or no word at all.
            word(&JITTERS, name)?;
            let why = format!("has a parameter that {name} does not take; tip: try {name}");
            Err(why.into())
        }
    }
}

fn additive(width: &str) -> Parsed<Jitter> {
    match duration(width) {
        Ok(spread) => Ok(Jitter::Additive { spread }),
        Err(_) if percent(width).is_ok() => {
            Err(format!("has a percentage as its width; tip: try proportional:{width}").into())
        }
        Err(problem) => Err(format!("has a width that {problem}").into()),
    }
}

fn proportional(share: &str) -> Parsed<Jitter> {
    match percent(share) {
        Ok(spread) => Ok(Jitter::Proportional { spread }),
        Err(_) if duration(share).is_ok() && digits(share).is_none() => {
            Err(format!("has a duration as its share; tip: try additive:{share}").into())
        }
        Err(problem) => Err(format!("has a share that {problem}").into()),
    }
}

fn slotted(ceiling: &str) -> Parsed<Jitter> {
    match whole(ceiling, 1, 62) {
        Ok(ceiling) => Ok(Jitter::Slotted {
            ceiling: ceiling as u32,
        }),
        Err(problem) => Err(format!("has a ceiling that {problem}").into()),
    }
}

/// Returns the words of pairs.
pub(super) const fn names<T, const N: usize>(pairs: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = pairs[at].0;
        at += 1;
    }
    names
}

/// Returns the value of a word.
pub(super) fn word<T: Clone>(pairs: &[(&'static str, T)], text: &str) -> Parsed<T> {
    let known = pairs.iter().find(|(word, _)| *word == text);
    if let Some((_, value)) = known {
        return Ok(value.clone());
    }
    let words: Vec<&str> = pairs.iter().map(|(word, _)| *word).collect();
    let tip = tip(text, words.iter().copied(), similar(&words, text));
    Err(format!("is not one of {}{tip}", words.join(", ")).into())
}

/// Returns the word that a text may mean: another word for on or off, a beginning (`exp`), or an end (`bash`). Returns
/// an empty string if there is none.
fn similar<'w>(words: &[&'w str], text: &str) -> &'w str {
    const ON: [&str; 6] = ["yes", "always", "true", "on", "1", "enabled"];
    const OFF: [&str; 10] = [
        "no",
        "never",
        "none",
        "null",
        "false",
        "off",
        "0",
        "disabled",
        "forever",
        "/dev/null",
    ];
    let text = text.to_lowercase();
    let of_group = [&ON[..], &OFF[..]]
        .into_iter()
        .filter(|group| group.contains(&&*text))
        .find_map(|group| words.iter().find(|word| group.contains(*word)));
    of_group
        .or_else(|| words.iter().find(|word| is_part(&text, word)))
        .copied()
        .unwrap_or_default()
}

/// Returns true for the beginning of a word (`exp`), or its end after a dash (`bash`).
fn is_part(text: &str, word: &str) -> bool {
    text.len() > 2 && (word.starts_with(text) || word.ends_with(&format!("-{text}")))
}

#[cfg(test)]
mod tests;
