//! The grammars of option values. Each function takes the text and returns the value, or one
//! sentence that says what is wrong with the text and shows a good one.

use std::time::Duration;

pub use super::duration::{at_least_a_millisecond, duration, durations};
use crate::cli::suggest::closest;
use crate::cli::words::{JITTERS, JitterKind};
use crate::policy::sets::CodeSet;
use crate::policy::signal::Signal;
use crate::run::text::is_printable;
use crate::search::pattern::Pattern;

/// What is wrong with a value and what would be right; the caller adds where it came from.
pub type Parsed<T> = Result<T, String>;

/// A whole number from `least` up to `most`, plain ASCII digits only.
pub fn whole(text: &str, least: u64, most: u64) -> Parsed<u64> {
    let number = digits(text).ok_or_else(|| format!("is not a whole number; try {}", least.max(3).min(most)))?;
    match number {
        Some(n) if (least..=most).contains(&n) => Ok(n),
        None if most == u64::MAX => Err(format!("is out of range; it must be at most {most}")),
        _ if most == u64::MAX => Err(format!("is out of range; it must be at least {least}")),
        _ => Err(format!("is out of range; it must be from {least} to {most}")),
    }
}

/// `N` or `unlimited`; N is at least 1.
pub fn attempts(text: &str) -> Parsed<Option<u64>> {
    if text.eq_ignore_ascii_case("unlimited") {
        return Ok(None);
    }
    let words = ["unlimited"].into_iter();
    match digits(text) {
        None if text.starts_with('-') => Err("is negative; try 3, or \"unlimited\" for no limit".into()),
        None => Err(format!(
            "is not a whole number; try 3 or \"unlimited\"{}",
            closest(text, words)
        )),
        Some(None) => Err(format!(
            "is out of range; it must be at most {}, or \"unlimited\"",
            u64::MAX
        )),
        Some(Some(0)) => Err("is out of range; it must be at least 1, or \"unlimited\"".into()),
        Some(attempts) => Ok(attempts),
    }
}

/// None: not digits. Some(None): digits that no u64 holds.
fn digits(text: &str) -> Option<Option<u64>> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())
}

/// A growth factor: a finite number of at least 1.
pub fn factor(text: &str) -> Parsed<f64> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 1.0 => Ok(factor),
        Ok(_) => Err("is out of range; it must be finite and at least 1; try 2 or 1.5".into()),
        Err(_) => Err("is not a number; try 2 or 1.5".into()),
    }
}

/// `25%` or `0.25` as a fraction in [0, 1].
pub fn percent(text: &str) -> Parsed<f64> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(n) if (0.0..=unit).contains(&n) => Ok(n / unit),
        Ok(n) if unit == 1.0 && (0.0..=100.0).contains(&n) => {
            Err(format!("is above 1, which is 100%; did you mean {n}%?"))
        }
        Ok(_) => Err("is out of range; it must be from 0% to 100%".into()),
        Err(_) => Err("is not a percentage; try 25% or 0.25".into()),
    }
}

/// SIZE: a number of bytes, `64KiB`, `1.5GiB`, `10MB`, `1G` (powers of 1024 but for kB, MB, GB).
pub fn size(text: &str) -> Parsed<u64> {
    let wrong = || "is not a size; try 64KiB, 10MB or 1GiB".to_owned();
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let scale: f64 = match unit.trim() {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "k" | "K" | "KiB" => 1024.0,
        "M" | "MiB" => 1024.0 * 1024.0,
        "G" | "GiB" => 1024.0 * 1024.0 * 1024.0,
        "T" | "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    Ok((number * scale) as u64)
}

/// `--hook-output`: a size, or whether it is on at all. None is off.
pub fn hook_output(text: &str) -> Parsed<Option<usize>> {
    const DEFAULT: usize = 64 << 10;
    /// It is kept in memory.
    const MOST: u64 = 1 << 20;
    match switch(text) {
        Ok(is_on) => Ok(is_on.then_some(DEFAULT)),
        Err(_) => match size(text)? {
            size @ 1..=MOST => Ok(Some(size as usize)),
            _ => Err("is out of range; it must be from 1B to 1MiB".into()),
        },
    }
}

const SYSEXITS: [&str; 15] = [
    "usage",
    "dataerr",
    "noinput",
    "nouser",
    "nohost",
    "unavailable",
    "software",
    "oserr",
    "osfile",
    "cantcreat",
    "ioerr",
    "tempfail",
    "protocol",
    "noperm",
    "config",
];

/// One exit code: 0 to 255 or a name of `sysexits.h` (`tempfail`, `EX_TEMPFAIL`).
pub fn code(text: &str) -> Parsed<u8> {
    match digits(text) {
        Some(number) => number.and_then(|n| u8::try_from(n).ok()),
        None => {
            let name = text.to_ascii_lowercase();
            let name = name.strip_prefix("ex_").unwrap_or(&name);
            if name == "ok" {
                Some(0)
            } else {
                SYSEXITS.iter().position(|known| *known == name).map(|i| 64 + i as u8)
            }
        }
    }
    .ok_or_else(|| {
        let hint = like_sysexits(text);
        format!("is not an exit code; try a number from 0 to 255 or a sysexits name such as tempfail{hint}")
    })
}

fn like_sysexits(text: &str) -> String {
    closest(text, SYSEXITS.into_iter().chain(["timeout"]))
}

/// CODES: `7`, `1,2,75`, `100-110`, `tempfail`, `SIGKILL`, `timeout`, mixed. A signal is the code of a death by it.
pub fn codes(text: &str) -> Parsed<CodeSet> {
    let mut set = CodeSet::default();
    for part in text.split(',').map(str::trim) {
        add_codes(&mut set, part)?;
    }
    Ok(set)
}

fn add_codes(set: &mut CodeSet, part: &str) -> Parsed<()> {
    let wrong = |problem: &str| format!("is not a list of exit codes ({part:?} {problem}); try 7, 1,2,75 or 100-110");
    if part.is_empty() {
        return Err(wrong("is empty"));
    }
    if part == "timeout" {
        set.add_timeout();
        return Ok(());
    }
    let one = |text: &str| code(text).or_else(|_| signal(text).map(Signal::shell_status));
    // RTMAX-1 is one, too.
    if let Ok(only) = one(part) {
        set.add(only..=only);
        return Ok(());
    }
    let range = part
        .split_once('-')
        .map(|(first, last)| (one(first.trim()), one(last.trim())));
    match range {
        Some((Ok(first), Ok(last))) if first > last => Err(wrong("runs backwards")),
        Some((Ok(first), Ok(last))) => {
            set.add(first..=last);
            Ok(())
        }
        _ => {
            let hint = Some(like_sysexits(part)).filter(|hint| !hint.is_empty());
            Err(wrong("is neither from 0 to 255 nor a name") + &hint.unwrap_or_else(|| like_signals(part)))
        }
    }
}

/// `--success-exit`: codes, and those of them whose status becomes 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuccessCodes {
    pub all: CodeSet,
    pub zero: CodeSet,
}

/// CODES, each of which may be `CODE=0`.
pub fn success_codes(text: &str) -> Parsed<SuccessCodes> {
    let (mut all, mut zero) = (CodeSet::default(), CodeSet::default());
    for part in text.split(',').map(str::trim) {
        let (part, status) = part
            .split_once('=')
            .map_or((part, None), |(part, status)| (part.trim(), Some(status.trim())));
        add_codes(&mut all, part)?;
        match status {
            None => {}
            Some("0") => add_codes(&mut zero, part)?,
            Some(other) => return Err(format!("maps {part:?} to {other:?}; only {part}=0 is possible")),
        }
    }
    if all.contains_timeout() {
        return Err("names timeout, and an attempt that timed out is no success; try a longer --timeout".to_owned());
    }
    Ok(SuccessCodes { all, zero })
}

/// One signal: `TERM`, `SIGTERM`, `15`, `RTMIN+1`.
pub fn signal(text: &str) -> Parsed<Signal> {
    text.trim()
        .parse()
        .map_err(|()| format!("is not a signal; try TERM, SIGINT, 15 or RTMIN+1{}", like_signals(text)))
}

fn like_signals(text: &str) -> String {
    let text = text.trim().to_ascii_uppercase();
    let text = text.strip_prefix("SIG").unwrap_or(&text);
    let names = nix::sys::signal::Signal::iterator().map(|signal| signal.as_str().trim_start_matches("SIG"));
    closest(text, names)
}

/// `--spread`: which of the two it is, the jitter says.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    pub duration: Parsed<Duration>,
    pub fraction: Parsed<f64>,
}

/// Which of the two is of use is not known here.
pub fn spread(text: &str) -> Parsed<Spread> {
    match (duration(text), percent(text)) {
        (Err(_), Err(_)) if !text.ends_with('%') => {
            Err("is neither a duration nor a percentage; try 1s or 25%".to_owned())
        }
        (Err(_), Err(wrong)) => Err(wrong),
        (duration, fraction) => Ok(Spread { duration, fraction }),
    }
}

/// Any text.
pub fn any_text(text: &str) -> Parsed<String> {
    Ok(text.to_owned())
}

/// A shell command that decides something: an empty one would always say yes.
pub fn predicate(text: &str) -> Parsed<String> {
    match text.trim() {
        "" => Err("is empty; try a command for the shell, such as 'grep -q done'".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// A regular expression: an empty one would match every line.
pub(crate) fn regex(text: &str) -> Parsed<Pattern> {
    match text {
        "" => Err("is empty, so it would match every line; try an expression such as 'timed out|refused'".to_owned()),
        text => Pattern::parse(text),
    }
}

pub fn budget_name(text: &str) -> Parsed<String> {
    match text {
        "" => Err("is empty; try the name of what is called, such as api.example.org".to_owned()),
        name if name.len() > 100 => Err("is longer than 100 bytes; try a shorter name".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// `--label`: what stands at the beginning of each line.
pub fn label(text: &str) -> Parsed<String> {
    const MOST: usize = 64;
    if text.trim().is_empty() {
        return Err("is empty; try a name such as nightly-sync".to_owned());
    }
    if !text.chars().all(is_printable) {
        return Err("holds a control character, or one that nobody sees; try a name such as nightly-sync".to_owned());
    }
    if text.chars().count() > MOST {
        return Err(format!(
            "is longer than {MOST} characters; try a name such as nightly-sync"
        ));
    }
    Ok(text.to_owned())
}

/// A switch set by a variable.
pub fn switch(text: &str) -> Parsed<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("is not on or off; try 1 or 0".into()),
    }
}

/// What a run does that comes while the last one's wait is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoolOffMode {
    Off,
    Wait,
    Skip,
}

/// `--cool-off`
pub fn cool_off(text: &str) -> Parsed<CoolOffMode> {
    match (text, switch(text)) {
        ("skip", _) => Ok(CoolOffMode::Skip),
        (_, Ok(true)) => Ok(CoolOffMode::Wait),
        (_, Ok(false)) => Ok(CoolOffMode::Off),
        (_, Err(_)) => {
            let hint = closest(text, ["on", "off", "skip"].into_iter());
            Err(format!(
                "is not on, off or skip; try --cool-off or --cool-off=skip{hint}"
            ))
        }
    }
}

/// STRATEGY: one of the words, or `slotted:CEILING`.
pub(crate) fn jitter(text: &str) -> Parsed<JitterKind> {
    match text.split_once(':') {
        Some(("slotted", ceiling)) => match whole(ceiling, 1, 62) {
            Ok(ceiling) => Ok(JitterKind::Slotted(Some(ceiling as u32))),
            Err(why) => Err(format!("has a ceiling that {why}")),
        },
        _ => one_of(text, &JITTERS),
    }
}

/// The same as a number.
pub fn switch_count(text: &str) -> Parsed<u8> {
    switch(text).map(u8::from)
}

/// A switch that counts.
pub fn count(text: &str) -> Parsed<u8> {
    match whole(text, 0, u64::from(u8::MAX)) {
        Ok(count) => Ok(count as u8),
        Err(_) => switch_count(text),
    }
}

/// One word of a fixed list.
pub fn one_of<T: Copy>(text: &str, words: &[(&str, T)]) -> Parsed<T> {
    words
        .iter()
        .find(|(word, _)| *word == text)
        .map(|(_, value)| *value)
        .ok_or_else(|| {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let hint = closest(text, known.iter().copied());
            format!("is not one of {}{hint}", known.join(", "))
        })
}

#[cfg(test)]
mod tests;
