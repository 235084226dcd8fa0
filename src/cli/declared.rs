//! What other sources than the command line have to know of an option.

use clap::{Arg, ArgAction, Command};

use crate::text::normal;

/// An option of the command line.
#[derive(Debug)]
pub(crate) struct Declared {
    /// The name without dashes, by which all sources know the option.
    pub(crate) long: String,
    pub(crate) takes: Takes,
    /// The grammar of the value: `DURATION`, `auto|always|never`; empty for a switch.
    pub(crate) placeholder: String,
    /// The text that the option has if no source sets it.
    pub(crate) default: Option<String>,
}

/// The texts that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// None: it is on if it is given.
    Nothing,
    /// None, but it counts how often it is given.
    Count,
    One,
    /// One, which is a list separated by commas.
    List,
    /// Several, which add up.
    Several,
    /// One behind `=`, or none.
    Optional,
}

/// Options that print something in place of a run. No other source may set one: a forgotten variable must not make a run
/// exit with 0 without running its command.
const ACTIONS: [&str; 6] = [
    "plan",
    "list-presets",
    "list-policies",
    "generate",
    "help",
    "version",
];

/// Options that exclude others, and why. Together on the command line they are an error; of two sources, the option of
/// the higher one removes the other.
pub(crate) const EXCLUSIVE: [(&str, &[&str], &str); 3] = [
    (
        "every",
        &["base", "factor", "growth", "jitter", "delays"],
        "it is a fixed wait without jitter",
    ),
    (
        "delays",
        &["base", "factor", "growth", "every"],
        "a list of waits takes the place of base, factor and growth",
    ),
    ("quiet", &["verbose"], "one silences what the other prints"),
];

/// Returns why two options exclude each other, as the end of a line; None if they do not.
pub(super) fn exclusion(one: &str, other: &str) -> Option<String> {
    EXCLUSIVE.iter().find_map(|(option, others, why)| {
        let is_pair = |a, b| *option == a && others.contains(&b);
        (is_pair(one, other) || is_pair(other, one)).then(|| format!(": {why}"))
    })
}

impl Declared {
    /// Returns all options, in the order of help.
    pub(crate) fn all(command: &Command) -> Vec<Declared> {
        command.get_arguments().filter_map(Declared::new).collect()
    }

    fn new(arg: &Arg) -> Option<Declared> {
        Some(Declared {
            long: arg.get_long()?.to_owned(),
            takes: takes(arg),
            placeholder: placeholder(arg),
            default: arg
                .get_default_values()
                .first()
                .map(|text| text.to_string_lossy().into_owned()),
        })
    }

    /// Returns all options, for tests.
    #[cfg(test)]
    pub(crate) fn all_options() -> Vec<Declared> {
        use clap::CommandFactory;
        Declared::all(&super::options::Options::command())
    }

    /// Returns the name of the option's variable: `BACKOFF_MAX_DELAY` for `max-delay`.
    pub(crate) fn variable(&self) -> String {
        variable(&self.long)
    }

    /// Returns true if a variable may set the option.
    pub(crate) fn has_variable(&self) -> bool {
        !ACTIONS.contains(&&*self.long)
    }

    /// Returns true if the option says how COMMAND runs, so that a file may set it, too.
    pub(crate) fn is_setting(&self) -> bool {
        self.has_variable() && self.long != "config"
    }
}

/// Returns the option that a topic of help or a key of a file names: in any case, with `-` or `_`.
pub(crate) fn find<'d>(declared: &'d [Declared], name: &str) -> Option<&'d Declared> {
    let name = normal(name);
    declared.iter().find(|option| option.long == name)
}

pub(crate) fn variable(long: &str) -> String {
    format!("BACKOFF_{}", long.to_uppercase().replace('-', "_"))
}

pub(super) fn takes(arg: &Arg) -> Takes {
    match arg.get_action() {
        ArgAction::SetTrue => Takes::Nothing,
        ArgAction::Count => Takes::Count,
        ArgAction::Append => Takes::Several,
        _ if arg.is_require_equals_set() => Takes::Optional,
        _ if placeholder(arg).ends_with(",...") => Takes::List,
        _ => Takes::One,
    }
}

/// Returns true if the word after the option is not its text or topic, but may be the command.
pub(super) fn takes_no_word(arg: &Arg) -> bool {
    matches!(takes(arg), Takes::Nothing | Takes::Count | Takes::Optional)
}

fn placeholder(arg: &Arg) -> String {
    arg.get_value_names()
        .and_then(|names| names.first())
        .map(ToString::to_string)
        .unwrap_or_default()
}
