//! Options on success and on what is retried.

use super::opt::{Completion, Heading, Kind, Opt, Reader, Spec};
use super::values::{self, SuccessCodes};
use crate::policy::session::Until;
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;

/// The streams that rules and predicates examine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchOn {
    Stdout,
    Stderr,
    Both,
}

/// A list of presets, separated by commas. `presets` knows which names exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PresetList(String);

impl PresetList {
    /// Returns the list as it is written.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split(',').map(str::trim)
    }
}

static UNTIL_WORDS: [(&str, Until); 3] = [
    ("success", Until::Success),
    ("failure", Until::Failure),
    ("never", Until::Never),
];

/// `--until`
pub(crate) static UNTIL: Opt<Until> = Opt {
    reader: Reader::Text(|text| values::word(&UNTIL_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&UNTIL_WORDS)),
        about: "Goal that ends the run",
        default: "success",
        more: "The goal, not a limit (--deadline, --stop-after) or a rule (--stop-exit). success: \
            after a success. failure: a failure of any kind ends the run with status 0, without \
            waits unless --base, --every or --delays sets some; it is accepted on the command line \
            only. never: a signal or a limit ends the run. See LOOPS in the manual.",
        ..Spec::named(Heading::Rules, "until")
    },
};

/// `--success-exit`
pub(crate) static SUCCESS_EXIT: Opt<SuccessCodes> = Opt {
    reader: Reader::Text(values::success_codes),
    spec: Spec {
        kind: Kind::Repeatable("CODES"),
        about: "Exit codes to read as success",
        default: "0",
        more: "Repeatable. CODES is a list such as 7, 1,2,75, 100-110 or SIGKILL. With \
            CODE=0, as in 0,24=0, the run ends with status 0; without it a success keeps its \
            code. A list without 0 makes 0 a failure.",
        example: "0,24=0",
        completion: Completion::Codes,
        ..Spec::named(Heading::Rules, "success-exit")
    },
};

/// `--success-match`
pub(crate) static SUCCESS_MATCH: Opt<Pattern> = Opt {
    reader: Reader::Text(values::regex),
    spec: Spec {
        kind: Kind::Repeatable("REGEX"),
        about: "Succeed only if a line of output matches",
        more: "Repeatable; one match is enough. REGEX is searched for in each line, without colors \
            and other escape sequences. Upper and lower case differ, unless it begins with (?i).",
        example: "ready",
        ..Spec::named(Heading::Rules, "success-match")
    },
};

/// `--fail-match`
pub(crate) static FAIL_MATCH: Opt<Pattern> = Opt {
    reader: Reader::Text(values::regex),
    spec: Spec {
        kind: Kind::Repeatable("REGEX"),
        about: "Fail if a line of output matches, whatever the exit code",
        more: "Repeatable. Upper and lower case differ, unless REGEX begins with (?i).",
        example: "failed",
        ..Spec::named(Heading::Rules, "fail-match")
    },
};

/// `--consecutive`
pub(crate) static CONSECUTIVE: Opt<u64> = Opt {
    reader: Reader::Text(|text| values::whole(text, 1, u64::MAX)),
    spec: Spec {
        kind: Kind::One("N"),
        about: "Successful attempts in a row to succeed",
        default: "1",
        more: "The wait between them is --base.",
        ..Spec::named(Heading::Rules, "consecutive")
    },
};

/// `--retry-exit`
pub(crate) static RETRY_EXIT: Opt<CodeSet> = Opt {
    reader: Reader::Text(values::codes),
    spec: Spec {
        short: Some('e'),
        kind: Kind::Repeatable("CODES"),
        about: "Exit codes to read as transient; others are permanent",
        more: "Repeatable. If -r, --retry-if or --for is given, too, one that fits is enough. CODES \
            may include signals (SIGKILL or 137; 129-192 is any) and timeout; timeouts are \
            transient in any case unless --stop-exit lists them. With 126 or 127, a command that \
            cannot be executed or found is a transient failure.",
        example: "75",
        completion: Completion::Codes,
        ..Spec::named(Heading::Rules, "retry-exit")
    },
};

/// `--stop-exit`
pub(crate) static STOP_EXIT: Opt<CodeSet> = Opt {
    reader: Reader::Text(values::codes),
    spec: Spec {
        kind: Kind::Repeatable("CODES"),
        about: "Exit codes to read as permanent; overrides retry rules",
        more: "Repeatable. A failure with one of these codes ends the run; --stop-after is a time \
            limit.",
        example: "2",
        completion: Completion::Codes,
        ..Spec::named(Heading::Rules, "stop-exit")
    },
};

/// `--retry-match`
pub(crate) static RETRY_MATCH: Opt<Pattern> = Opt {
    reader: Reader::Text(values::regex),
    spec: Spec {
        short: Some('r'),
        kind: Kind::Repeatable("REGEX"),
        about: "Transient if a line of output matches, else permanent",
        more: "Repeatable. If -e, --retry-if or --for is given, too, one that fits is enough. REGEX \
            is searched for in each line, without colors and other escape sequences. Upper and \
            lower case differ, unless it begins with (?i).",
        example: "timed out",
        ..Spec::named(Heading::Rules, "retry-match")
    },
};

/// `--stop-match`
pub(crate) static STOP_MATCH: Opt<Pattern> = Opt {
    reader: Reader::Text(values::regex),
    spec: Spec {
        kind: Kind::Repeatable("REGEX"),
        about: "Permanent if a line of output matches",
        more: "Repeatable. Upper and lower case differ, unless REGEX begins with (?i).",
        example: "denied",
        ..Spec::named(Heading::Rules, "stop-match")
    },
};

/// `--retry-if`
pub(crate) static RETRY_IF: Opt<String> = Opt {
    reader: Reader::Text(values::predicate),
    spec: Spec {
        kind: Kind::One("SHELL"),
        about: "Shell command that decides if a failure is transient",
        more: "Run after a failed attempt, except a timeout or SIGPIPE, that no other rule decides, \
            with the attempt's output on standard input. Exit status 0 means transient, 1 \
            permanent, any other an error and permanent. The deadline limits it.",
        example: "grep -q busy",
        completion: Completion::Files,
        ..Spec::named(Heading::Rules, "retry-if")
    },
};

/// `--success-if`
pub(crate) static SUCCESS_IF: Opt<String> = Opt {
    reader: Reader::Text(values::predicate),
    spec: Spec {
        kind: Kind::One("SHELL"),
        about: "Shell command that decides if an attempt succeeded",
        more: "Like --retry-if, for an attempt that would be a success: 0 confirms it, 1 makes it a \
            failure, transient unless a stop rule or --retry-if says otherwise. Any other status \
            is an error and a permanent failure.",
        example: "grep -q done",
        completion: Completion::Files,
        ..Spec::named(Heading::Rules, "success-if")
    },
};

/// `--for`
pub(crate) static FOR: Opt<PresetList> = Opt {
    reader: Reader::Text(|text| Ok(PresetList(text.to_owned()))),
    spec: Spec {
        kind: Kind::List("PRESET,..."),
        about: "Known rules for a tool: curl, ssh, ...; auto: for COMMAND",
        more: "--list-presets shows all presets. They judge the last MiB of each output, after a \
            failed attempt. Rules of your own win: --stop-exit and --stop-match over all, -r over \
            what a preset stops. -e and --retry-if only add to what it retries. auto selects by COMMAND's name, also behind sudo, env, \
            timeout, and sh -c if the script is plain words.",
        example: "curl",
        completion: Completion::Presets,
        ..Spec::named(Heading::Rules, "for")
    },
};

static MATCH_ON_WORDS: [(&str, MatchOn); 3] = [
    ("stdout", MatchOn::Stdout),
    ("stderr", MatchOn::Stderr),
    ("both", MatchOn::Both),
];

/// `--match-on`
pub(crate) static MATCH_ON: Opt<MatchOn> = Opt {
    reader: Reader::Text(|text| values::word(&MATCH_ON_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&MATCH_ON_WORDS)),
        about: "Streams that rules and predicates examine",
        default: "both",
        more: "Applies to regular expressions, --retry-if, --success-if, --retry-after and \
            --hook-output.",
        ..Spec::named(Heading::Rules, "match-on")
    },
};

static IDEMPOTENT_WORDS: [(&str, bool); 2] = [("yes", true), ("no", false)];

/// `--idempotent`
pub(crate) static IDEMPOTENT: Opt<bool> = Opt {
    reader: Reader::Text(|text| values::word(&IDEMPOTENT_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&IDEMPOTENT_WORDS)),
        about: "Declare if COMMAND is safe to run twice",
        default: "yes",
        more: "no: retry only failures that certainly had no effect, as a preset, a matching retry \
            rule or --retry-if says. With --for, requests of curl or wget that may send data \
            mean no. See IDEMPOTENCE in the manual.",
        ..Spec::named(Heading::Rules, "idempotent")
    },
};
