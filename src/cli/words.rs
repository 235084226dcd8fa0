//! Options that take one of a few words: the words, and what each means.

use crate::policy::session::Until;
use crate::run::output::{Format, When};
use crate::run::streams::{InputMode, OutputMode};

/// How the un-jittered wait grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrowthKind {
    Exponential,
    Linear,
    Fibonacci,
    Constant,
}

/// What randomness does to a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JitterKind {
    Decorrelated,
    None,
    Full,
    Equal,
    Additive,
    Proportional,
    /// Its exponent stops growing there; None is the default.
    Slotted(Option<u32>),
}

/// What to do under an outer backoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestedMode {
    Allow,
    Once,
    Warn,
}

/// What takes the place of a store that gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreDown {
    Local,
    Deny,
}

/// What `--generate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

pub(crate) const GROWTHS: [(&str, GrowthKind); 4] = [
    ("exponential", GrowthKind::Exponential),
    ("linear", GrowthKind::Linear),
    ("fibonacci", GrowthKind::Fibonacci),
    ("constant", GrowthKind::Constant),
];
pub(crate) const JITTERS: [(&str, JitterKind); 7] = [
    ("none", JitterKind::None),
    ("full", JitterKind::Full),
    ("equal", JitterKind::Equal),
    ("decorrelated", JitterKind::Decorrelated),
    ("additive", JitterKind::Additive),
    ("proportional", JitterKind::Proportional),
    ("slotted", JitterKind::Slotted(None)),
];
pub(crate) const UNTILS: [(&str, Until); 3] = [
    ("success", Until::Success),
    ("failure", Until::Failure),
    ("never", Until::Never),
];
/// Standard output and standard error.
pub(crate) const STREAM_CHOICES: [(&str, [bool; 2]); 3] = [
    ("stdout", [true, false]),
    ("stderr", [false, true]),
    ("both", [true, true]),
];
pub(crate) const INPUTS: [(&str, InputMode); 4] = [
    ("auto", InputMode::Auto),
    ("inherit", InputMode::Inherit),
    ("replay", InputMode::Replay),
    ("null", InputMode::Null),
];
pub(crate) const STDOUTS: [(&str, OutputMode); 5] = [
    ("stream", OutputMode::Stream),
    ("final", OutputMode::Final),
    ("success", OutputMode::Success),
    ("failure", OutputMode::Failure),
    ("null", OutputMode::Null),
];
pub(crate) const STDERRS: [(&str, OutputMode); 4] = [
    ("stream", OutputMode::Stream),
    ("final", OutputMode::Final),
    ("failure", OutputMode::Failure),
    ("null", OutputMode::Null),
];
pub(crate) const STORE_DOWN: [(&str, StoreDown); 2] = [("local", StoreDown::Local), ("deny", StoreDown::Deny)];
pub(crate) const NESTED: [(&str, NestedMode); 3] = [
    ("allow", NestedMode::Allow),
    ("once", NestedMode::Once),
    ("warn", NestedMode::Warn),
];
/// `--idempotent`
pub(crate) const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];
pub(crate) const FORMATS: [(&str, Format); 4] = [
    ("text", Format::Text),
    ("json", Format::Json),
    ("github", Format::GitHub),
    ("github-groups", Format::GitHubGroups),
];
pub(crate) const WHEN: [(&str, When); 3] = [("auto", When::Auto), ("always", When::Always), ("never", When::Never)];
pub(crate) const DOCUMENTS: [(&str, Document); 4] = [
    ("man", Document::Man),
    ("complete-bash", Document::CompleteBash),
    ("complete-zsh", Document::CompleteZsh),
    ("complete-fish", Document::CompleteFish),
];

/// How a jitter is written: `full`, `slotted:4`.
pub(crate) fn jitter_word(jitter: JitterKind) -> String {
    match jitter {
        JitterKind::Slotted(Some(ceiling)) => format!("slotted:{ceiling}"),
        other => word(&JITTERS, other),
    }
}

/// The words alone.
pub(crate) const fn names<T, const N: usize>(words: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = words[i].0;
        i += 1;
    }
    names
}

/// The word for a value, for help and messages.
pub(crate) fn word<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> String {
    let found = words.iter().find(|(_, known)| *known == value);
    found.map_or_else(String::new, |(word, _)| (*word).to_owned())
}
