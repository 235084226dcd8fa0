//! Options on waits.

use std::ffi::OsString;
use std::time::Duration;

use super::opt::{Completion, Heading, Kind, Opt, Reader, Spec};
use super::values;
use crate::policy::delay::Jitter;

/// The name of a policy. The configuration knows which names exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PolicyName(pub(crate) OsString);

/// A growth of the wait, without its factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrowthName {
    Exponential,
    Linear,
    Fibonacci,
    Constant,
}

/// `--every`
pub(crate) static EVERY: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        kind: Kind::One("DURATION"),
        about: "Fixed wait between attempts",
        more: "Short for -b DURATION -g constant -j none.",
        example: "5s",
        ..Spec::named(Heading::Waits, "every")
    },
};

/// `--base`
pub(crate) static BASE: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        short: Some('b'),
        kind: Kind::One("DURATION"),
        about: "Base delay: waits grow from it",
        default: "500ms",
        exceptions: "0 with --until failure",
        more: "With decorrelated jitter, the default, the first wait is one to three times as long. \
            With slotted jitter, this is the slot time. A shorter --max-delay of higher \
            precedence overrides it.",
        ..Spec::named(Heading::Waits, "base")
    },
};

/// `--factor`
pub(crate) static FACTOR: Opt<f64> = Opt {
    reader: Reader::Text(values::factor),
    spec: Spec {
        short: Some('f'),
        kind: Kind::One("NUMBER"),
        about: "Growth factor per retry, at least 1",
        default: "3",
        exceptions: "2 with other jitter",
        ..Spec::named(Heading::Waits, "factor")
    },
};

/// `--max-delay`
pub(crate) static MAX_DELAY: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        short: Some('m'),
        kind: Kind::One("DURATION"),
        about: "Maximum wait, jitter included",
        default: "30s",
        exceptions: "raised by a longer --base, --delays or --stop-at-delay",
        more: "--retry-after may ask for longer waits. Unless given, slotted jitter \
            has no maximum.",
        ..Spec::named(Heading::Waits, "max-delay")
    },
};

static GROWTH_WORDS: [(&str, GrowthName); 4] = [
    ("exponential", GrowthName::Exponential),
    ("linear", GrowthName::Linear),
    ("fibonacci", GrowthName::Fibonacci),
    ("constant", GrowthName::Constant),
];

/// `--growth`
pub(crate) static GROWTH: Opt<GrowthName> = Opt {
    reader: Reader::Text(|text| values::word(&GROWTH_WORDS, text)),
    spec: Spec {
        short: Some('g'),
        kind: Kind::Word(&values::names(&GROWTH_WORDS)),
        about: "Growth of the wait before jitter",
        default: "exponential",
        exceptions: "constant with --until failure",
        more: "See WAITS AND JITTER in the manual. Decorrelated and slotted jitter have their own \
            growth.",
        ..Spec::named(Heading::Waits, "growth")
    },
};

/// `--delays`
pub(crate) static DELAYS: Opt<Vec<Duration>> = Opt {
    reader: Reader::Text(values::durations),
    spec: Spec {
        kind: Kind::List("DURATION,..."),
        about: "List of waits instead of growth; the last one repeats",
        more: "Without jitter, unless --jitter has the same precedence or a higher one.",
        example: "1s,5s",
        ..Spec::named(Heading::Waits, "delays")
    },
};

/// `--jitter`
pub(crate) static JITTER: Opt<Jitter> = Opt {
    reader: Reader::Text(values::jitter),
    spec: Spec {
        short: Some('j'),
        kind: Kind::Word(&values::names(&values::JITTERS)),
        about: "Jitter strategy",
        default: "decorrelated",
        exceptions: "full with --growth; none with --delays or --until failure",
        more: "additive:WIDTH sets the longest random part, by default 1s; proportional:PERCENT the \
            share, by default 25%; slotted:CEILING the ceiling of the exponent, by default 10. \
            See WAITS AND JITTER in the manual.",
        ..Spec::named(Heading::Waits, "jitter")
    },
};

/// `--stop-at-delay`
pub(crate) static STOP_AT_DELAY: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        kind: Kind::One("DURATION"),
        about: "Give up once the wait before jitter would reach this",
        more: "For decorrelated jitter, this wait is base * factor^i; for slotted jitter, the \
            longest possible one.",
        example: "1m",
        ..Spec::named(Heading::Waits, "stop-at-delay")
    },
};

/// `--initial-delay`
pub(crate) static INITIAL_DELAY: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        kind: Kind::One("DURATION"),
        about: "Wait before the first attempt",
        default: "0",
        ..Spec::named(Heading::Waits, "initial-delay")
    },
};

/// `--splay`
pub(crate) static SPLAY: Opt<Duration> = Opt {
    reader: Reader::Text(values::duration),
    spec: Spec {
        kind: Kind::One("DURATION"),
        about: "Maximum random wait before the first attempt",
        default: "0",
        more: "Comes on top of --initial-delay. Keeps the cron jobs of many machines from starting \
            in the same second.",
        ..Spec::named(Heading::Waits, "splay")
    },
};

/// `--reset-after`
pub(crate) static RESET_AFTER: Opt<Duration> = Opt {
    reader: Reader::Text(values::period),
    spec: Spec {
        kind: Kind::One("DURATION"),
        about: "Reset waits and attempts if an attempt ran this long",
        more: "For long-running commands that backoff supervises: such an attempt counts as the \
            first. With --until never, every success resets the waits, however short it was.",
        example: "10m",
        ..Spec::named(Heading::Waits, "reset-after")
    },
};

/// `--retry-after`
pub(crate) static RETRY_AFTER: Opt<Option<Duration>> = Opt {
    reader: Reader::Text(values::retry_after),
    spec: Spec {
        kind: Kind::Optional {
            name: "MAX",
            is_text: values::is_wait,
        },
        about: "Honor Retry-After in the output, up to MAX",
        default: "off",
        exceptions: "MAX is 5m",
        more: "If the output names a wait (Retry-After: 30, try again in 5s), wait at least that \
            long, plus a random part unless --jitter none is also on the command line. If the \
            output names a longer one than MAX, the run ends.",
        example: "2m",
        ..Spec::named(Heading::Waits, "retry-after")
    },
};

/// `--seed`
pub(crate) static SEED: Opt<u64> = Opt {
    reader: Reader::Text(|text| values::whole(text, 0, u64::MAX)),
    spec: Spec {
        kind: Kind::One("N"),
        about: "Seed for reproducible waits (with the same build)",
        example: "7",
        ..Spec::named(Heading::Waits, "seed")
    },
};

/// `--policy`
pub(crate) static POLICY: Opt<PolicyName> = Opt {
    reader: Reader::Path(|text| Ok(PolicyName(text.to_owned()))),
    spec: Spec {
        short: Some('p'),
        kind: Kind::One("NAME"),
        about: "Named set of options; explicit options override it",
        more: "wait, cron, or one of the configuration file. --list-policies shows their settings. \
            wait runs COMMAND every second for a minute, and \
            prints only its last standard error, at the end; what a probe prints on standard output \
            needs --stdout final. cron holds output back and waits up to 30s first (--splay).",
        example: "wait",
        completion: Completion::Policies,
        ..Spec::named(Heading::Waits, "policy")
    },
};
