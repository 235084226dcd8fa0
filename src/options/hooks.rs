//! Options on hooks.

use super::opt::{Completion, Heading, Kind, Opt, Reader, Spec};
use super::values;

/// `--on-retry`
pub(crate) static ON_RETRY: Opt<String> = Opt {
    reader: Reader::Text(values::any_text),
    spec: Spec {
        kind: Kind::One("SHELL"),
        about: "Shell command to run before each wait",
        more: "Run by /bin/sh, with BACKOFF_EXIT and the other variables under ENVIRONMENT in the \
            manual. Its output goes to standard error; it has no terminal, and input only with \
            --hook-output. Its failure is reported and changes nothing.",
        example: "true",
        completion: Completion::Files,
        ..Spec::named(Heading::Hooks, "on-retry")
    },
};

/// `--before-retry`
pub(crate) static BEFORE_RETRY: Opt<String> = Opt {
    reader: Reader::Text(values::predicate),
    spec: Spec {
        kind: Kind::One("SHELL"),
        about: "Shell command that must succeed after each wait",
        more: "Run by /bin/sh; its output goes to standard error. If it fails, the run ends with \
            the status of the last attempt.",
        example: "true",
        completion: Completion::Files,
        ..Spec::named(Heading::Hooks, "before-retry")
    },
};

/// `--on-give-up`
pub(crate) static ON_GIVE_UP: Opt<String> = Opt {
    reader: Reader::Text(values::any_text),
    spec: Spec {
        kind: Kind::One("SHELL"),
        about: "Shell command to run when giving up",
        more: "Like --on-retry, but with at least five seconds, as the deadline may have passed.",
        example: "true",
        completion: Completion::Files,
        ..Spec::named(Heading::Hooks, "on-give-up")
    },
};

/// `--hook-output`
pub(crate) static HOOK_OUTPUT: Opt<bool> = Opt {
    reader: Reader::Text(values::switch),
    spec: Spec {
        kind: Kind::Switch,
        about: "Pass the last output of a failed attempt to hooks",
        more: "As their standard input: the last 64KiB, from the beginning of a line.",
        ..Spec::named(Heading::Hooks, "hook-output")
    },
};
