//! Every option, once: name, value, heading, help. The parser, `--help`, the man page, the
//! completions and the `BACKOFF_*` variables all come from [`OPTIONS`].

use super::defaults;
use super::words::{
    DOCUMENTS, FORMATS, GROWTHS, INPUTS, JITTERS, NESTED, STDERRS, STDOUTS, STORE_DOWN, STREAM_CHOICES, UNTILS, WHEN,
    YES_NO, names, word,
};
use crate::policy::outcome::exact as duration;

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A value, shown as this.
    Value(&'static str),
    /// A value out of this list. The list is for help and completions; `config` judges the value.
    Word(&'static str, &'static [&'static str]),
    /// A value; given more than once, the values add up.
    Values(&'static str),
    /// Nothing, or `=` and a value, shown as this.
    Optional(&'static str),
    /// Nothing: on or off.
    Nothing,
    /// Nothing, but it counts.
    Count,
}

/// What backoff does in place of running a command. It is asked for on the command line alone: a variable that is left over
/// somewhere, or a file, must not end a run with 0 whose command was never run.
const ACTIONS: [&str; 5] = ["plan", "plot", "list-presets", "list-policies", "generate"];

/// How the text of an option is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Switch,
    /// A switch that may be repeated, or a number.
    Count,
    /// A number of at least 1, or `unlimited`.
    Attempts,
    /// A whole number of at least this.
    Number(u64),
    /// A number of at least 1, with decimals.
    Factor,
    Percent,
    /// A duration or a percentage.
    Spread,
    Size,
    Duration,
    /// A duration of at least a millisecond.
    Period,
    /// Durations with commas between them.
    Durations,
    Signal,
    Code,
    /// Exit codes, signals and `timeout`, with commas between them; repeatable.
    Codes,
    /// Exit codes, each of which may have `=0` after it; repeatable.
    SuccessCodes,
    /// An expression that is not empty; repeatable.
    Regex,
    /// A shell command that is not empty.
    Predicate,
    /// A shell command; empty means none.
    Shell,
    /// Names of presets with commas between them, or `auto`.
    Presets,
    Policy,
    Jitter,
    /// One of the words of a list, after the name that help gives the value.
    Word(&'static str, &'static [&'static str]),
    /// The name of a budget: text that is not empty.
    Budget,
    /// Up to 64 printable characters.
    Label,
    Path,
    /// A path or `none`.
    Config,
    /// A directory or an address.
    Store,
    /// On, off or `skip`; alone it is on.
    CoolOff,
    /// On, off or a size; alone it is on.
    HookOutput,
}

impl Kind {
    const fn takes(self) -> Takes {
        match self {
            Switch => Takes::Nothing,
            Count => Takes::Count,
            Attempts => Takes::Value("N|unlimited"),
            Number(_) => Takes::Value("N"),
            Factor => Takes::Value("NUMBER"),
            Percent => Takes::Value("PERCENT"),
            Spread => Takes::Value("DURATION|PERCENT"),
            Size => Takes::Value("SIZE"),
            Duration | Period => Takes::Value("DURATION"),
            Durations => Takes::Value("DURATION,..."),
            Signal => Takes::Value("SIGNAL"),
            Code => Takes::Value("CODE"),
            Codes | SuccessCodes => Takes::Values("CODES"),
            Regex => Takes::Values("REGEX"),
            Predicate | Shell => Takes::Value("SHELL"),
            Presets => Takes::Value("PRESET,..."),
            Policy => Takes::Word("NAME", &["sip", "google", "ethernet", "aws", "clojure", "cron"]),
            Jitter => Takes::Word("STRATEGY", JITTER_NAMES),
            Word(name, words) => Takes::Word(name, words),
            Budget => Takes::Value("NAME"),
            Label => Takes::Value("TEXT"),
            Path => Takes::Value("PATH"),
            Config => Takes::Value("PATH|none"),
            Store => Takes::Value("URL"),
            CoolOff => Takes::Optional("skip"),
            HookOutput => Takes::Optional("SIZE"),
        }
    }
}

/// One option.
#[derive(Debug)]
pub struct Opt {
    /// The long name without dashes.
    pub long: &'static str,
    /// The short name, if it has one.
    pub short: Option<char>,
    /// How its text is read.
    pub kind: Kind,
    /// What it takes.
    pub takes: Takes,
    /// The heading it stands under.
    pub heading: &'static str,
    /// One line.
    pub about: &'static str,
    /// What holds where it is not given, for help.
    pub default: Option<fn() -> String>,
    /// What more there is to say, for `--help` and the man page; may be empty.
    pub more: &'static str,
}

/// What `--help` calls a section, and its heading.
pub(super) const SECTIONS: [(&str, &str); 7] = [
    ("time", TIME),
    ("wait", WAIT),
    ("judge", JUDGE),
    ("streams", STREAMS),
    ("protect", PROTECT),
    ("say", SAY),
    ("other", OTHER),
];

const TIME: &str = "Attempts and time";
const WAIT: &str = "The wait between attempts";
const JUDGE: &str = "Which outcome is what";
const STREAMS: &str = "Standard streams";
const PROTECT: &str = "Protecting the other side";
const SAY: &str = "What backoff says and returns";
pub(super) const OTHER: &str = "Other";

const fn opt(
    heading: &'static str,
    short: Option<char>,
    long: &'static str,
    kind: Kind,
    about: &'static str,
    more: &'static str,
) -> Opt {
    Opt {
        long,
        short,
        kind,
        takes: kind.takes(),
        heading,
        about,
        default: None,
        more,
    }
}

use Kind::{
    Attempts, Budget, Code, Codes, Config, CoolOff, Count, Duration, Durations, Factor, HookOutput, Jitter, Label,
    Number, Path, Percent, Period, Policy, Predicate, Presets, Regex, Shell, Signal, Size, Spread, Store, SuccessCodes,
    Switch, Word,
};

const GROWTH_NAMES: &[&str] = &names(&GROWTHS);
const JITTER_NAMES: &[&str] = &names(&JITTERS);
const UNTIL_NAMES: &[&str] = &names(&UNTILS);
const STREAM_NAMES: &[&str] = &names(&STREAM_CHOICES);
const INPUT_NAMES: &[&str] = &names(&INPUTS);
const STDOUT_NAMES: &[&str] = &names(&STDOUTS);
const STDERR_NAMES: &[&str] = &names(&STDERRS);
const YES_NO_NAMES: &[&str] = &names(&YES_NO);
const NESTED_NAMES: &[&str] = &names(&NESTED);
const STORE_DOWN_NAMES: &[&str] = &names(&STORE_DOWN);
const FORMAT_NAMES: &[&str] = &names(&FORMATS);
const WHEN_NAMES: &[&str] = &names(&WHEN);
const DOCUMENT_NAMES: &[&str] = &names(&DOCUMENTS);

/// All options in the order of `--help`, but for `--help` and `--version`, which are the parser's own.
#[rustfmt::skip]
pub const OPTIONS: &[Opt] = &[
    opt(TIME, Some('n'), "attempts", Attempts,
        "Attempts in all, the first included",
        "With the default waits that is about 10 s of waiting in all, 4 to 24 s in nine runs of ten.")
        .or(|| format!("{}; unlimited with --deadline, --stop-after or --until never, and where a --policy says so", defaults::ATTEMPTS)),
    opt(TIME, Some('d'), "deadline", Duration,
        "Bound on the whole run",
        "It lifts a limit of attempts from a weaker source, so that attempts are unlimited unless --attempts is given with it. A wait that would end past it is not started: backoff gives up at once. An attempt still running at the \
         deadline is ended as by --timeout. Time in which backoff was stopped (Ctrl-Z) counts. After the deadline, whoever reads what \
         backoff writes has one more second; output of the command that is unread then is a time-out. What --kill-after, --on-give-up and --store allow may come on top. 0 is no bound."),
    opt(TIME, None, "stop-after", Duration,
        "Begin no further attempt after this time",
        "The running attempt may finish, unlike with --deadline. A wait that would end past it is not started: backoff gives up at \
         once. Without --attempts these are unlimited. Time in which backoff was stopped (Ctrl-Z) counts. 0 disables."),
    opt(TIME, Some('t'), "timeout", Durations,
        "Bound on one attempt; of a list the last entry repeats",
        "Of 30s,1m,2m the first attempt has 30s, the second 1m, all others 2m. When it passes, the attempt's process tree \
         gets the signal of --signal, and KILL after --kill-after. Such a failure is transient unless it is given to \
         --stop-exit timeout. Time in which backoff was stopped (Ctrl-Z) does not count. 0 is no bound."),
    opt(TIME, Some('i'), "idle-timeout", Duration,
        "Bound on silence: an attempt that prints nothing for so long is ended",
        "As by --timeout, and with the same verdict. Standard output and error are looked at for this. 0 is no bound."),
    opt(TIME, Some('s'), "signal", Signal,
        "What these bounds send first", "")
        .or(|| defaults::SIGNAL.to_string().replace("SIG", "")),
    opt(TIME, Some('k'), "kill-after", Duration,
        "Time from that signal to KILL; 0 is never",
        "If given, KILL also follows a TERM, INT, HUP or QUIT to the attempt after this time, typed (Ctrl-C, Ctrl-\\) or not; \
         so it is not for a program that goes on after Ctrl-C.")
        .or(|| duration(defaults::KILL_AFTER)),

    opt(WAIT, None, "every", Duration,
        "A fixed wait: constant growth, no jitter",
        "The same as -b DURATION -g constant -j none."),
    opt(WAIT, Some('b'), "base", Duration,
        "The first wait's scale",
        "With decorrelated jitter, as by default, the first wait is one to three times as long; with slotted jitter this is \
         the slot time. Lowered to a --max-delay from a stronger source.")
        .or(|| format!("{}; 0 with --until failure", duration(defaults::BASE))),
    opt(WAIT, Some('f'), "factor", Factor,
        "Growth per retry, at least 1", "")
        .or(|| format!("{}; {} with decorrelated jitter", defaults::FACTOR, defaults::FACTOR_OF_DECORRELATED)),
    opt(WAIT, Some('m'), "max-delay", Duration,
        "The cap: no wait is longer, jitter included",
        "But for what --retry-after or --cool-off asks for. Where it is not given, slotted jitter has no cap, an entry of --delays may be longer, and --base and --stop-at-delay \
         raise it.")
        .or(|| duration(defaults::MAX_DELAY)),
    opt(WAIT, Some('g'), "growth", Word("GROWTH", GROWTH_NAMES),
        "How the un-jittered wait grows",
        "exponential: base * factor^i; linear: base * (i + 1); fibonacci: base * 1, 1, 2, 3, 5, ...; constant: base, without jitter only for a single caller. \
         Not with decorrelated or slotted jitter, which grow by themselves.")
        .or(|| format!("{}; constant with --until failure", word(&GROWTHS, defaults::GROWTH))),
    opt(WAIT, None, "delays", Durations,
        "An explicit list of waits instead of growth; its last entry repeats",
        "Without jitter, unless --jitter comes from the same source or a stronger one."),
    opt(WAIT, Some('j'), "jitter",
        Jitter,
        "The randomness",
        "With e the un-jittered wait: none: e; full: uniform in [0, e]; equal: e/2 + uniform in [0, e/2]; decorrelated: \
         uniform in [base, min(max-delay, previous * factor)]; additive: e + uniform in [0, spread]; proportional: e * \
         uniform in [1 - spread, 1 + spread]; slotted: k * base, k a uniform integer in [0, 2^min(c, ceiling) - 1] \
         after the c-th failure; slotted:CEILING sets the ceiling, 1 to 62, which is 10.")
        .or(|| format!("{}; {} with --growth; none with --delays or --until failure", word(&JITTERS, defaults::JITTER), word(&JITTERS, defaults::JITTER_OF_GROWTH))),
    opt(WAIT, None, "spread", Spread,
        "The width of additive (a duration) or proportional (a percentage) jitter", "")
        .or(|| format!("{}; {}", duration(defaults::SPREAD), percent(defaults::SPREAD_FRACTION))),
    opt(WAIT, None, "stop-at-delay", Duration,
        "Give up once the next un-jittered wait would reach this",
        "With decorrelated jitter the un-jittered wait is base * factor^i, with slotted jitter the longest possible one."),
    opt(WAIT, None, "initial-delay", Duration,
        "Wait before the first attempt", "")
        .or(|| duration(defaults::INITIAL_DELAY)),
    opt(WAIT, None, "splay", Duration,
        "A further uniform random wait in [0, DURATION] before the first attempt",
        "Keeps the cron jobs of many machines from starting in the same second.")
        .or(|| duration(defaults::SPLAY)),
    opt(WAIT, None, "reset-after", Duration,
        "An attempt that ran at least this long before it failed starts the growth and the attempt count again",
        "For commands that are meant to run for long and are supervised by backoff. With --until never, however it ended."),
    opt(WAIT, None, "seed", Number(0),
        "Reproducible waits: same build, same seed, same waits", ""),
    opt(WAIT, Some('p'), "policy", Policy,
        "A named set of options; those given explicitly win",
        "Those of the configuration file, and: sip: 500ms doubling to 4s, no jitter (RFC 3261). google: 1s doubling to 64s, additive jitter of 1s. ethernet: \
         slots of 51.2us, ceiling 10, 16 attempts (IEEE 802.3). aws: 100ms doubling to 20s, full jitter, 3 attempts. \
         clojure: 1s doubling, no jitter, giving up at 10s. cron: for a job of cron, which mails what is printed: \
         --stdout failure --stderr failure --splay 30s --c-locale."),

    opt(JUDGE, None, "until", Word("WHAT", UNTIL_NAMES),
        "What to go on until: a success, a failure, or neither",
        "failure: a success is followed by another attempt; a failure of any kind, a signal or a time-out too, ends the run \
         with status 0, and --retry-if is not asked; if attempts or deadline run out first, the status is 1. No wait grows, and there is \
         none unless --base or --every names it. never: whatever its end, an attempt is followed by another, until a \
         signal or a limit (--attempts, --deadline, --stop-at-delay, a budget) ends the run, with the status of the last \
         attempt; a success starts the growth of the waits again. A command that cannot be started ends any run, unless -e lists 126 or 127. failure is taken from the command line alone.")
        .or(|| word(&UNTILS, defaults::UNTIL)),
    opt(JUDGE, None, "success-exit", SuccessCodes,
        "Exit codes that are not a failure",
        "CODES is a list such as 7, 1,2,75, 100-110, tempfail (the names of sysexits.h) or SIGKILL. As in a shell, 128+N is also a \
         death by signal N: 143 is that by TERM. With CODE=0, as in 0,24=0, the run ends with 0; without it a success keeps its code.")
        .or(|| defaults::SUCCESS_EXIT.to_string()),
    opt(JUDGE, None, "success-match", Regex,
        "Success takes a line of output that matches",
        "Any of several will do. REGEX is searched for in each line, as bytes."),
    opt(JUDGE, None, "fail-match", Regex,
        "A line of output that matches is a failure, whatever the exit code", ""),
    opt(JUDGE, None, "consecutive", Number(1),
        "Success means N successful attempts in a row, --base apart", "")
        .or(|| defaults::CONSECUTIVE.to_string()),
    opt(JUDGE, Some('e'), "retry-exit", Codes,
        "Exit codes of transient failures; all others are then permanent",
        "CODES may also be timeout; timeouts are transient unless given to --stop-exit, so that timeout alone makes all other \
         failures permanent. Listing 126 or 127 makes a command that cannot be executed or found a transient failure."),
    opt(JUDGE, None, "stop-exit", Codes,
        "Exit codes of permanent failures; wins over every retry rule", "CODES may also be timeout."),
    opt(JUDGE, Some('r'), "retry-match", Regex,
        "A failure whose output has a matching line is transient; all others are then permanent", ""),
    opt(JUDGE, None, "stop-match", Regex,
        "A failure whose output has a matching line is permanent", ""),

    opt(JUDGE, None, "retry-if", Predicate,
        "Ask this shell command whether a failure is transient: exit 0 is yes, 1 is no",
        "It is run by /bin/sh after a failed attempt that no other rule decides, with the attempt's output on its standard \
         input. Its standard output is dropped. Any other exit is an error, reported and treated as no. The deadline bounds it."),
    opt(JUDGE, None, "success-if", Predicate,
        "Ask this shell command whether a success is one: exit 0 is yes, 1 is no",
        "As --retry-if, but about an attempt that would count as a success. With no it has failed: a stop rule may make that permanent, \
         and --retry-if is asked if it is given; otherwise it is transient. Any other exit is an error, reported, and a permanent \
         failure."),
    opt(JUDGE, None, "for", Presets,
        "Rules known for a tool: curl, ssh, apt-get, ...; auto goes by COMMAND's name",
        "--list-presets shows all of them. auto looks behind sudo, env, nice, timeout and their like, and into sh -c 'COMMAND' where \
         the shell has nothing else to do."),
    opt(JUDGE, None, "match-on", Word("STREAM", STREAM_NAMES),
        "What the regexes, --retry-if, --success-if, --retry-after and --hook-output look at", "")
        .or(|| word(&STREAM_CHOICES, defaults::MATCH_ON)),
    opt(JUDGE, None, "retry-after", Switch,
        "Where the output names a wait (Retry-After: 30, try again in 5s), wait at least that long",
        "Many may have been told the same. So a random part is added: up to a tenth of the wait that is named or, if that is more, \
         the run's own next wait; but no more than a quarter of the named one, nor than --max-delay. None is added where both \
         --retry-after and --jitter none are typed."),
    opt(JUDGE, None, "max-retry-after", Duration,
        "The longest wait that the output may ask for; past it, give up", "")
        .or(|| duration(defaults::MAX_RETRY_AFTER)),

    opt(STREAMS, None, "stdin", Word("MODE", INPUT_NAMES),
        "What each attempt gets as standard input",
        "auto: a file is rewound; a pipe is replayed, and nothing is taken from it that the command did not read; a \
         terminal or anything else is inherited. replay: read to its end first, then fed to each attempt. null: nothing.")
        .or(|| word(&INPUTS, defaults::STDIN)),
    opt(STREAMS, None, "stdin-limit", Size,
        "The most that is kept for replay",
        "Past it the input still flows, but a failure is then final.")
        .or(|| format!("{}GiB", defaults::STDIN_LIMIT >> 30)),
    opt(STREAMS, None, "stdout", Word("MODE", STDOUT_NAMES),
        "stream it, print only the last attempt's, only that of a success, only that of a failed run, or drop it",
        "success prints that of the last attempt. failure prints that of all attempts, in order, once the whole run has failed: \
         for cron.")
        .or(|| word(&STDOUTS, defaults::OUTPUT)),
    opt(STREAMS, None, "stderr", Word("MODE", STDERR_NAMES),
        "stream it, print only the last attempt's, only that of a failed run, or drop it",
        "failure prints the errors of all attempts, in order, once the whole run has failed: for cron. What backoff itself, --retry-if and \
         hooks say on standard error is held back with them, and a run that succeeds says nothing at all; --log-file gets \
         its lines as ever. If --stdout is kept as well, all of standard output comes first.")
        .or(|| word(&STDERRS, defaults::OUTPUT)),
    opt(STREAMS, None, "pty", Switch,
        "Run each attempt on a pseudo-terminal, so that colours survive while output is looked at",
        "Standard output and error are then one, lines end in CR LF, and all goes to standard output; --stderr sees \
         nothing. Where standard input and output are a terminal, what is typed is the command's."),

    opt(PROTECT, None, "idempotent", Word("yes|no", YES_NO_NAMES),
        "Whether COMMAND is idempotent: whether it may be carried out twice",
        "no: a failure is retried only if it is known that nothing was done. A preset of --for knows that of some \
         failures (an unknown name, a refused connection, failed TLS, 429, a lock that is not obtained). A retry rule of \
         yours that matches, and --retry-if, mark the failure as safe to retry. All else is final, timeouts and silence \
         included, with the command's own status. If the option is not given and --for judges curl or wget, anything in \
         COMMAND or its scripts that may send data, or a method other than GET, HEAD, OPTIONS, PUT, DELETE and TRACE, \
         means no, unless the request has an Idempotency-Key header; -v says what was seen. If one run makes several \
         requests (redirects, the tool's own retries, more than one URL), a refusal of the last one does not tell that \
         the others did nothing, and no preset allows a retry.")
        .or(|| word(&YES_NO, defaults::IDEMPOTENT)),
    opt(PROTECT, None, "budget", Budget,
        "Retries of all runs that share NAME may be at most a fraction of their attempts",
        "A retry is allowed while the window holds fewer than --budget-min attempts, or retries / attempts is below \
         --budget-ratio. Once the budget is spent a transient failure is final. NAME is any text; that of the service which \
         is called is a good one."),
    opt(PROTECT, None, "budget-ratio", Percent,
        "That fraction", "")
        .or(|| percent(defaults::BUDGET_RATIO)),
    opt(PROTECT, None, "budget-min", Number(0),
        "Attempts in the window below which every retry is allowed", "")
        .or(|| defaults::BUDGET_MIN.to_string()),
    opt(PROTECT, None, "budget-window", Period,
        "How long an attempt counts",
        "Kept in sixty steps: an attempt may count for up to a sixtieth longer.")
        .or(|| duration(defaults::BUDGET_WINDOW)),
    opt(PROTECT, None, "cool-off", CoolOff,
        "Wait before the first attempt if the last run of this budget gave up on a transient failure",
        "The wait is the one that would have come next in that run, less the time since. With each further run with --cool-off \
         or --on-give-up that gives up it grows by a step. It is at most --max-delay or, if that is longer, \
         --max-retry-after; and up to a quarter more, at random. A success or a permanent failure clears it. With =skip a run that comes too early ends at once, without a word and without running COMMAND. \
         For jobs that are started again and again (cron); needs --budget."),
    opt(PROTECT, None, "skipped-exit", Code,
        "Status of a run that --cool-off=skip ends",
        "0 is taken from the command line alone.")
        .or(|| defaults::SKIPPED_EXIT.to_string()),
    opt(PROTECT, None, "store", Store,
        "Where budgets are kept: a directory, or redis://, rediss://, redis+unix:// for a fleet",
        "By default $XDG_STATE_HOME/backoff, else ~/.local/state/backoff. An answer is waited for 250ms, or as long as \
         ?timeout= of an address says; during the wait for a retry as long as that wait, up to 5s. An address with a password \
         is better given by BACKOFF_STORE: a command line can be read by every user of the machine."),
    opt(PROTECT, None, "store-down", Word("WHAT", STORE_DOWN_NAMES),
        "Without an answer of the store: use this machine's own budget, or deny retries",
        "There is a warning in any case. With local, a budget of the same name in ~/.local/state/backoff takes the place of a \
         Redis server; if that is not available either, the run goes on without a budget. With deny a transient failure is final \
         unless the store allows the retry: for containers, which have a directory each.")
        .or(|| word(&STORE_DOWN, defaults::STORE_DOWN)),
    opt(PROTECT, None, "nested", Word("WHAT", NESTED_NAMES),
        "What to do under an outer backoff: retry, run once, or retry and say so",
        "Retries under retries multiply: 3 x 3 = 9 calls. A run knows those around it by BACKOFF_DEPTH: what empties the \
         environment (env -i, ssh) makes it an outermost one.")
        .or(|| word(&NESTED, defaults::NESTED)),

    opt(SAY, Some('q'), "quiet", Switch,
        "Say nothing but backoff's own errors and warnings", ""),
    opt(SAY, Some('v'), "verbose", Count,
        "Also say starts and successes; twice: also arguments and streams",
        "Also which BACKOFF_* variables have no meaning (one that looks like a slip is warned of in any case). Twice: also every setting \
         and the rules of presets and policies, with where each comes from."),
    opt(SAY, None, "log-format", Word("FORMAT", FORMAT_NAMES),
        "The form of what backoff says: lines for people, JSON lines, annotations",
        "The log in JSON is complete once an attempt has failed; a run that succeeds at once says nothing, unless -v is \
         given. github: commands to the runner of GitHub Actions; github-groups: the same, and each attempt is a group of the \
         log that can be folded away. With --plan, json prints one object.")
        .or(|| word(&FORMATS, defaults::LOG_FORMAT)),
    opt(SAY, None, "log-file", Path,
        "Append to this file what backoff says, instead of printing it on standard error",
        "- is standard output. Made with mode 0600 if it is not there. A line for people begins with the time and the first eight digits of the run's id. Each line is one write, so that many runs may share a file. -q does not \
         apply to it. If it cannot be opened or written, one warning says so."),
    opt(SAY, None, "label", Label,
        "What lines about COMMAND name it, in place of its own name",
        "One line of up to 64 characters. JSON lines and the report have it beside the name."),
    opt(SAY, None, "report", Path,
        "Write a summary of the run in JSON to this file, at the end",
        "- is standard output. Complete or not at all, also when the run is interrupted. Of more than 10,000 attempts the last ones are in it."),
    opt(SAY, None, "color", Word("WHEN", WHEN_NAMES),
        "Colour",
        "auto: on a terminal, unless NO_COLOR is set or TERM is dumb; with CLICOLOR_FORCE, always.")
        .or(|| word(&WHEN, defaults::COLOR)),
    opt(SAY, None, "progress", Word("WHEN", WHEN_NAMES),
        "The countdown to the next attempt, on a terminal",
        "Only for waits of a second and more. always: also where TERM is dumb.")
        .or(|| word(&WHEN, defaults::PROGRESS)),
    opt(SAY, None, "on-retry", Shell,
        "Run this shell command before each wait",
        "It sees how the attempt ended in BACKOFF_EXIT, BACKOFF_EXIT_SIGNAL, BACKOFF_REASON and BACKOFF_RAN_MS, and the wait in \
         BACKOFF_DELAY. Its output goes to standard error; it has no input (but see --hook-output) and no terminal. Its failure is \
         reported and changes nothing. It is bounded by the deadline."),
    opt(SAY, None, "before-retry", Predicate,
        "Run this shell command after each wait; the next attempt is made only if it succeeds",
        "Its failure ends the run with the status of the last attempt, as a permanent failure. Lines KEY=VALUE that it appends to \
         the file $BACKOFF_ENV are variables of all later attempts; a value ends with its line, and all together may be 64 KiB. It \
         sees what --on-retry sees, but for BACKOFF_DELAY, and shares the terminal, if there is one, as COMMAND does."),
    opt(SAY, None, "on-give-up", Shell,
        "Run this shell command when giving up",
        "As --on-retry, but it has five seconds at least, as the deadline may have passed. Not where retrying is left to an outer backoff (--nested once)."),
    opt(SAY, None, "hook-output", HookOutput,
        "Give the three commands above the end of the failed attempt's output on standard input",
        "SIZE is 64KiB if it is not given, and 1MiB at most. What is longer is cut so that it begins with a line, unless that line is \
         longer than half of SIZE. As a variable or in a file, also on and off."),
    opt(SAY, None, "exhausted-exit", Code,
        "Status when attempts, time, delay or budget ran out on a transient failure, or --max-retry-after was too short",
        "By default the command's own. 75 (tempfail) tells an outer scheduler to try later. 0 is taken from the command line alone."),
    opt(SAY, None, "flaky-exit", Code,
        "Status when the command succeeded after a failure", "")
        .or(|| defaults::FLAKY_EXIT.to_string()),
    opt(SAY, None, "c-locale", Switch,
        "Set LC_ALL=C.UTF-8 for the command, so that its messages are English", ""),

    opt(OTHER, None, "plan", Switch,
        "Print the waits these options give and run nothing",
        "The waits are those of a run in which every attempt fails at once: a line about the wait before the first attempt, \
         then one a retry, with the least, mean and most of its wait, the sum of the means, the range of 90 of 100 totals (the \
         5th and the 95th percentile), and the sum of the longest waits. Lengths are rounded to three digits; \
         --log-format json gives them in full. The table stops where the sum of the means reaches --deadline or --stop-after, \
         and says after how many retries that ends 90 of 100 runs. It shows 20 retries if attempts are unlimited, and at most \
         1,000. The percentiles, and the means of decorrelated jitter that the cap can shorten, are those of 10,000 sampled \
         runs, always the same ones; all else is exact."),
    opt(OTHER, None, "plot", Switch,
        "Draw the waits of --plan, as wide as the terminal",
        "With block characters where the locale is one of UTF-8, in ASCII elsewhere."),
    opt(OTHER, None, "list-presets", Switch,
        "Print the presets of --for",
        "Of each NAME that follows, a preset or a program, its rules: what a failure is, the exit codes and the line of output that \
         tell, and where that is known from."),
    opt(OTHER, None, "list-policies", Switch,
        "Print the policies: where each comes from and what it sets", ""),
    opt(OTHER, None, "config", Config,
        "Read this configuration file, or none",
        "By default $XDG_CONFIG_HOME/backoff/config.toml, else ~/.config/backoff/config.toml, if it is there."),
    opt(OTHER, None, "generate",
        Word("KIND", DOCUMENT_NAMES),
        "Print the man page or a shell's completions",
        "KIND is man, complete-bash, complete-zsh or complete-fish."),
];

impl Opt {
    const fn or(self, default: fn() -> String) -> Opt {
        Opt {
            default: Some(default),
            ..self
        }
    }

    /// One line for help: what it does, and what holds where it is not given.
    pub fn help(&self) -> String {
        let adds_up = match self.takes {
            Takes::Values(_) => "; may be repeated",
            _ => "",
        };
        let default = self.default.map(|default| format!(" [default: {}]", default()));
        format!("{}{adds_up}{}", self.about, default.unwrap_or_default())
    }

    /// The words that it takes, where they are few enough to stand in for the name of its value.
    pub(super) fn few_words(&self) -> Option<String> {
        match self.takes {
            Takes::Word(_, words) => Some(words.join("|")).filter(|words| words.len() <= 44),
            _ => None,
        }
    }

    /// `BACKOFF_SOME_OPTION`
    pub fn variable(&self) -> String {
        format!("BACKOFF_{}", self.long.to_ascii_uppercase().replace('-', "_"))
    }

    /// Whether its variable has this name. Asked of every option at a start, so that nothing is built.
    pub(crate) fn has_variable(&self, name: &[u8]) -> bool {
        let upper = |letter: u8| match letter {
            b'-' => b'_',
            letter => letter.to_ascii_uppercase(),
        };
        let key = name.strip_prefix(b"BACKOFF_").unwrap_or_default();
        key.len() == self.long.len() && self.long.bytes().map(upper).eq(key.iter().copied())
    }

    /// Whether it has backoff do something else than to run a command.
    pub fn is_action(&self) -> bool {
        ACTIONS.contains(&self.long)
    }

    /// Whether it says how to run a command, and not what to do in place of that.
    pub fn is_setting(&self) -> bool {
        self.heading != OTHER
    }
}

/// A heading, and what `--help` calls its section: `Attempts and time (time)`.
pub(super) fn titled(heading: &str) -> String {
    let section = SECTIONS.iter().find(|(_, known)| *known == heading);
    section.map_or_else(String::new, |(word, _)| format!("{heading} ({word})"))
}

pub fn percent(fraction: f64) -> String {
    // 0.07 * 100.0 is 7.000000000000001.
    format!("{}%", (fraction * 1e14).round() / 1e12)
}

/// The option with this long name.
///
/// # Panics
/// If there is none: names in the code are checked by every run of the test suite.
#[allow(
    clippy::panic,
    reason = "a name that is not in the table is a defect of the code, not of its input"
)]
pub fn option(long: &str) -> &'static Opt {
    OPTIONS
        .iter()
        .find(|opt| opt.long == long)
        .unwrap_or_else(|| panic!("no option --{long}"))
}
