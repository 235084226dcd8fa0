//! What variables, the config file and the documents need to know about an option.

use clap::{Arg, ArgAction, Command};

/// An option of the command line.
#[derive(Debug)]
pub(crate) struct Declared {
    /// The name without dashes, by which all sources know the option.
    pub(crate) long: String,
    pub(crate) takes: Takes,
    /// The grammar of the value, such as `DURATION` or `auto|always|never`. Empty for a switch.
    pub(crate) placeholder: String,
    /// The default value.
    pub(crate) default: Option<String>,
}

/// How many values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// No value. The option is on if it is given.
    Nothing,
    /// No value. It counts how often it is given.
    Count,
    One,
    /// A comma-separated list.
    List,
    /// Repeatable. The values add up.
    Several,
    /// One value after `=`, or none.
    Optional,
}

/// Options that print something instead of running the command. Only the command line may set them. A forgotten
/// variable must not make a run exit with 0 without running its command.
const ACTIONS: [&str; 6] = [
    "plan",
    "list-presets",
    "list-policies",
    "generate",
    "help",
    "version",
];

/// Options that exclude others, and why. Together on the command line they are an error. Otherwise the source with
/// higher precedence removes the other option.
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

/// Returns why two options exclude each other, as the end of a message, or None if they do not.
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

    /// Returns true if the option affects how COMMAND runs, so that a file may also set it.
    pub(crate) fn is_setting(&self) -> bool {
        self.has_variable() && self.long != "config"
    }
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

/// Returns true if the word after the option is not its value, so it may be the command.
pub(super) fn takes_no_word(arg: &Arg) -> bool {
    matches!(takes(arg), Takes::Nothing | Takes::Count | Takes::Optional)
}

fn placeholder(arg: &Arg) -> String {
    arg.get_value_names()
        .and_then(|names| names.first())
        .map(ToString::to_string)
        .unwrap_or_default()
}
