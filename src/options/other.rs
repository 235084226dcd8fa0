//! Options that replace running the command, and `--config`.

use std::path::PathBuf;

use super::opt::{Completion, Heading, Kind, Opt, Reader, Sources, Spec, TOPICS};
use super::values;

/// The document that `--generate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

/// `--plan`
pub(crate) static PLAN: Opt<bool> = Opt {
    reader: Reader::Text(values::switch),
    spec: Spec {
        kind: Kind::Switch,
        about: "Print the waits of these options and run nothing",
        more: "One line per retry if every attempt fails at once. See PLAN in the manual.",
        sources: Sources::CommandLine,
        ..Spec::named(Heading::Other, "plan")
    },
};

/// `--list-presets`
pub(crate) static LIST_PRESETS: Opt<bool> = Opt {
    reader: Reader::Text(values::switch),
    spec: Spec {
        kind: Kind::Switch,
        about: "List the presets of --for, or the rules of each NAME",
        more: "NAME is a preset or a program. Rules are shown with their exit codes, expressions \
            and sources. --log-format json prints them as data, one object on a line for each preset.",
        sources: Sources::CommandLine,
        ..Spec::named(Heading::Other, "list-presets")
    },
};

/// `--list-policies`
pub(crate) static LIST_POLICIES: Opt<bool> = Opt {
    reader: Reader::Text(values::switch),
    spec: Spec {
        kind: Kind::Switch,
        about: "List policies with their origin and settings",
        sources: Sources::CommandLine,
        ..Spec::named(Heading::Other, "list-policies")
    },
};

/// `--config`
pub(crate) static CONFIG: Opt<PathBuf> = Opt {
    reader: Reader::Path(values::path),
    spec: Spec {
        kind: Kind::One("PATH|none"),
        about: "Configuration file, or none",
        more: "By default $XDG_CONFIG_HOME/backoff/config.toml, else ~/.config/backoff/config.toml, \
            if it exists; relative directories are ignored. See FILES in \
            the manual.",
        example: "none",
        sources: Sources::CommandLineAndVariable,
        completion: Completion::Files,
        ..Spec::named(Heading::Other, "config")
    },
};

static GENERATE_WORDS: [(&str, Document); 4] = [
    ("man", Document::Man),
    ("complete-bash", Document::CompleteBash),
    ("complete-zsh", Document::CompleteZsh),
    ("complete-fish", Document::CompleteFish),
];

/// `--generate`
pub(crate) static GENERATE: Opt<Document> = Opt {
    reader: Reader::Text(|text| values::word(&GENERATE_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&GENERATE_WORDS)),
        about: "Print the man page or completions for a shell",
        sources: Sources::CommandLine,
        ..Spec::named(Heading::Other, "generate")
    },
};

/// `--help`
pub(crate) static HELP: Opt<String> = Opt {
    reader: Reader::Text(values::any_text),
    spec: Spec {
        kind: Kind::Topic(&TOPICS),
        about: "Print all options, a section, one option, or examples",
        example: "time",
        sources: Sources::CommandLine,
        ..Spec::named(Heading::Other, "help")
    },
};

/// `--version`
pub(crate) static VERSION: Opt<bool> = Opt {
    reader: Reader::Text(values::switch),
    spec: Spec {
        short: Some('V'),
        kind: Kind::Switch,
        about: "Print version, C library and features",
        sources: Sources::CommandLine,
        ..Spec::named(Heading::Other, "version")
    },
};
