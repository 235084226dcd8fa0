//! The types of an option: what is said about it, and how its text becomes a value.

use std::ffi::OsStr;
use std::ops::Deref;

use super::problem::{Parsed, Problem};
use super::values;

/// An option whose values are of type `T`.
#[derive(Debug)]
pub(crate) struct Opt<T: 'static> {
    pub(crate) reader: Reader<T>,
    pub(crate) spec: Spec,
}

/// The function that reads an option's text.
#[derive(Debug)]
pub(crate) enum Reader<T> {
    Text(fn(&str) -> Parsed<T>),
    /// Reads a path, which need not be UTF-8.
    Path(fn(&OsStr) -> Parsed<T>),
}

impl<T> Opt<T> {
    /// Returns the value of a text, or the text's problem, to which the caller adds where the text comes from.
    pub(crate) fn read(&self, text: &OsStr) -> Parsed<T> {
        match self.reader {
            Reader::Text(read) => read(text.to_str().ok_or_else(|| Problem::new("is not UTF-8"))?),
            Reader::Path(read) => read(text),
        }
    }
}

impl<T> Deref for Opt<T> {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

/// An option without the type of its values.
#[derive(Debug)]
pub struct Spec {
    pub heading: Heading,
    pub short: Option<char>,
    /// The long name without dashes.
    pub long: &'static str,
    pub kind: Kind,
    /// A one-line description that stands alone.
    pub about: &'static str,
    /// The text that the option has if no source sets it; may be empty.
    pub default: &'static str,
    /// When the default is another one; may be empty.
    pub exceptions: &'static str,
    /// Details for `--help NAME` and the man page; may be empty.
    pub more: &'static str,
    /// A text that the option accepts; may be empty if it takes none, or has words or a default.
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "tests set each option from its constant alone")
    )]
    pub example: &'static str,
    /// The sources that may set the option.
    pub sources: Sources,
    /// The texts that completions offer, unless the option takes one of a few words.
    pub completion: Completion,
    /// Returns a text without its secrets, if there may be some.
    pub redact: Option<fn(&str) -> String>,
}

/// An option is known by its name.
impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        self.long == other.long
    }
}

/// The sources that may set an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sources {
    All,
    CommandLineAndVariable,
    /// The option replaces running COMMAND: a forgotten variable or a file must not make a run exit with 0 without
    /// running the command.
    CommandLine,
}

/// The texts that completions offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    Nothing,
    Files,
    Signals,
    Policies,
    Presets,
    /// Signals and `timeout`.
    Codes,
}

/// The number of an option's texts, and the name of their grammar, which help shows: `DURATION`.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// On or off.
    Switch,
    /// A switch that may be repeated; a variable or a file gives a number.
    Count,
    One(&'static str),
    /// One text, which is a list separated by commas.
    List(&'static str),
    /// One text or several, which add up.
    Repeatable(&'static str),
    /// One of a list of words.
    Word(&'static [&'static str]),
    /// On, off or a text, after `=`; on if given alone.
    Optional {
        name: &'static str,
        /// Returns true if the word after the option is rather meant as its value than as the name of a command.
        is_text: fn(&str) -> bool,
    },
    /// A section or an option; all of them if given alone.
    Topic(&'static [&'static str]),
}

impl Kind {
    /// Returns true if the option takes no text.
    pub fn is_switch(self) -> bool {
        matches!(self, Kind::Switch | Kind::Count)
    }

    /// Returns true if the word after the option is its text, or its topic, and not the command: `--base 5s`. The text
    /// of other options stands in the same word, `--retry-after=5m`, if they take one.
    pub fn takes_next(self) -> bool {
        match self {
            Kind::One(_) | Kind::List(_) | Kind::Repeatable(_) | Kind::Word(_) => true,
            Kind::Topic(_) => true,
            Kind::Switch | Kind::Count | Kind::Optional { .. } => false,
        }
    }

    /// Returns the words that completions offer for an option with a list of words, which may accept other texts, too
    /// (`--help` an option's name, `--jitter` a parameter); none for any other option.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Kind::Word(words) | Kind::Topic(words) => words,
            _ => &[],
        }
    }

    /// Returns what stands for the value in help and messages: the name of its grammar (`DURATION`), or its words
    /// (`auto|always|never`); nothing for a switch.
    pub fn placeholder(self) -> String {
        match self {
            Kind::One(name) | Kind::List(name) | Kind::Repeatable(name) => name.to_owned(),
            Kind::Optional { name, .. } => name.to_owned(),
            Kind::Topic(_) => "SECTION|OPTION|examples".to_owned(),
            Kind::Word(words) => words.join("|"),
            Kind::Switch | Kind::Count => String::new(),
        }
    }
}

/// The headings of help, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    Time,
    Rules,
    Waits,
    Streams,
    Hooks,
    Budgets,
    Output,
    Other,
}

impl Heading {
    pub const ALL: [Heading; 8] = [
        Heading::Time,
        Heading::Rules,
        Heading::Waits,
        Heading::Streams,
        Heading::Hooks,
        Heading::Budgets,
        Heading::Output,
        Heading::Other,
    ];

    /// Returns the heading as help and the man page print it.
    pub const fn title(self) -> &'static str {
        match self {
            Heading::Time => "Attempts and time",
            Heading::Rules => "Success and retry rules",
            Heading::Waits => "Waits",
            Heading::Streams => "Streams",
            Heading::Hooks => "Hooks",
            Heading::Budgets => "Budgets",
            Heading::Output => "Output and exit status",
            Heading::Other => "Other",
        }
    }

    /// Returns the word by which `--help` selects the heading.
    pub const fn word(self) -> &'static str {
        match self {
            Heading::Time => "time",
            Heading::Rules => "rules",
            Heading::Waits => "waits",
            Heading::Streams => "streams",
            Heading::Hooks => "hooks",
            Heading::Budgets => "budgets",
            Heading::Output => "output",
            Heading::Other => "other",
        }
    }
}

/// The topic of `--help` that is no section: a few command lines.
pub const EXAMPLES: &str = "examples";

/// All topics of `--help` but the options: the words of headings, and [`EXAMPLES`] as the last one.
pub const TOPICS: [&str; 9] = {
    let mut topics = [EXAMPLES; 9];
    let mut index = 0;
    while index < Heading::ALL.len() {
        topics[index] = Heading::ALL[index].word();
        index += 1;
    }
    topics
};

impl Spec {
    /// Returns a switch of this name, its other texts empty. The constant of an option takes from it the fields that it
    /// does not set itself.
    pub(super) const fn named(heading: Heading, long: &'static str) -> Spec {
        Spec {
            heading,
            short: None,
            long,
            kind: Kind::Switch,
            about: "",
            default: "",
            exceptions: "",
            more: "",
            example: "",
            sources: Sources::All,
            completion: Completion::Nothing,
            redact: None,
        }
    }

    /// Returns the default with its exceptions, for help; empty if there is none.
    pub fn all_defaults(&self) -> String {
        if self.exceptions.is_empty() {
            return self.default.to_owned();
        }
        format!("{}; {}", self.default, self.exceptions)
    }

    /// Returns the name of the option's variable: `BACKOFF_MAX_DELAY` for `max-delay`.
    pub fn variable(&self) -> String {
        format!(
            "BACKOFF_{}",
            self.long.to_ascii_uppercase().replace('-', "_")
        )
    }

    /// Returns true if `name` is the option's [`variable`](Spec::variable). Allocates nothing, as every start calls it
    /// for every option.
    pub(crate) fn has_variable(&self, name: &[u8]) -> bool {
        let key = name.strip_prefix(b"BACKOFF_").unwrap_or_default();
        key.len() == self.long.len()
            && self
                .long
                .bytes()
                .map(letter_of_variable)
                .eq(key.iter().copied())
    }

    /// Returns true if the option replaces running COMMAND.
    pub fn is_action(&self) -> bool {
        self.sources == Sources::CommandLine
    }

    /// Returns true if the option configures how COMMAND runs, so that a file may set it, too.
    pub fn is_setting(&self) -> bool {
        self.sources == Sources::All
    }

    /// Returns true if the option takes no text, or takes it after `=`, and this one looks like its value: a variable
    /// would accept it, or a similar one (`30s` for `30`). As the word after such an option, the text is hardly the
    /// name of a command (`--pty yes make`), and the command line is refused.
    pub(crate) fn is_value_of_switch(&self, text: &str) -> bool {
        match self.kind {
            Kind::Switch => values::switch(text).is_ok(),
            Kind::Count => values::count(text).is_ok(),
            Kind::Optional { is_text, .. } => is_text(text),
            _ => false,
        }
    }
}

/// Returns the letter in a variable's name for a letter of an option's name.
fn letter_of_variable(letter: u8) -> u8 {
    match letter {
        b'-' => b'_',
        letter => letter.to_ascii_uppercase(),
    }
}
