//! The table of options: one row has everything about an option. The parser, `--help`, the man page, the completions,
//! the `BACKOFF_*` variables and the keys of the configuration file come from [`OPTIONS`].

type Text = &'static str;

#[derive(Debug, PartialEq, Eq)]
pub struct Opt {
    /// The heading in help.
    pub heading: Text,
    pub short: Option<char>,
    /// The long name without dashes.
    pub long: Text,
    pub kind: Kind,
    /// A one-line description that stands alone.
    pub about: Text,
    /// The default text, then exceptions after a semicolon; may be empty.
    pub default: Text,
    /// Details for `--help NAME` and the man page; may be empty.
    pub more: Text,
}

/// The number of an option's texts, and the name of their grammar, which help shows: `DURATION`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Switch,
    /// A switch that may be repeated; a variable or a file gives a number.
    Count,
    One(Text),
    /// One text, which is a list separated by commas.
    List(Text),
    /// One text or several, which add up.
    Repeatable(Text),
    /// One of a list of words.
    Word(&'static [Text]),
    /// On, off or this text, after `=`; on if given alone.
    Optional(Text),
    /// A section or an option; all of them if given alone.
    Topic,
}

use Kind::{Count, List, One, Optional, Repeatable, Switch, Topic, Word};

const DURATION: Kind = One("DURATION");
const CODES: Kind = Repeatable("CODES");
const REGEX: Kind = Repeatable("REGEX");
const SHELL: Kind = One("SHELL");
const WHEN: Kind = Word(&["auto", "always", "never"]);
/// A directory or an address, which may hold a password.
pub(crate) const STORE: Kind = One("URL");

impl Kind {
    /// Returns true if the option takes no text.
    pub fn is_switch(self) -> bool {
        matches!(self, Switch | Count)
    }

    /// Returns true if the next word is the option's text, or its topic.
    pub(super) fn takes_next(self) -> bool {
        matches!(self, One(_) | List(_) | Repeatable(_) | Word(_) | Topic)
    }

    /// Returns the accepted words, if the option takes one of a few.
    pub fn words(self) -> &'static [Text] {
        match self {
            Word(words) => words,
            Topic => &TOPICS,
            _ => &[],
        }
    }

    /// Returns the name of the text in help: `DURATION`, `auto|always|never`.
    pub fn placeholder(self) -> String {
        match self {
            One(name) | List(name) | Repeatable(name) | Optional(name) => name.to_owned(),
            Topic => "SECTION|OPTION|examples".to_owned(),
            Switch | Count | Word(_) => self.words().join("|"),
        }
    }
}

const TIME: &str = "Attempts and time";
const RULES: &str = "Success and retry rules";
const WAITS: &str = "Waits";
const STREAMS: &str = "Streams";
const HOOKS: &str = "Hooks";
const BUDGETS: &str = "Budgets";
const OUTPUT: &str = "Output and exit status";
pub(super) const OTHER: &str = "Other";

/// The word by which `--help` selects each heading.
pub(super) const SECTIONS: [&str; 8] = [
    "time", "rules", "waits", "streams", "hooks", "budgets", "output", "other",
];

/// The topic of `--help` that is no section: a few command lines.
pub(super) const EXAMPLES: &str = "examples";

/// All topics of `--help` but the options.
const TOPICS: [&str; 9] = [
    "time", "rules", "waits", "streams", "hooks", "budgets", "output", "other", EXAMPLES,
];

#[rustfmt::skip]
const fn opt(heading: Text, short: Option<char>, long: Text, kind: Kind, about: Text, default: Text, more: Text) -> Opt {
    Opt { heading, short, long, kind, about, default, more }
}

/// All options, in the order of `--help`.
#[rustfmt::skip]
pub const OPTIONS: &[Opt] = &[
    opt(TIME, Some('n'), "attempts", One("N|unlimited"), "Maximum number of attempts, including the first",
        "5; unlimited with --deadline, --stop-after or --until never", ""),
    opt(TIME, Some('d'), "deadline", DURATION, "Maximum time for the whole run", "",
        "Lifts the attempt limit of a weaker source: on the command line, that of a variable, of the file or by default. \
         A wait that would end past the deadline is not started: then the status is that of the last attempt. Ends a \
         running attempt as --timeout does: then it is 124. --exhausted-exit 124 makes it 124 in both cases. Time while \
         stopped (Ctrl-Z) counts. 0 disables."),
    opt(TIME, None, "stop-after", DURATION, "Time limit for starting attempts; a running one may finish", "",
        "A limit, unlike --stop-exit and --stop-match, which make a failure permanent. A wait that would end past this time is not started. Time while stopped (Ctrl-Z) counts. 0 disables."),
    opt(TIME, Some('t'), "timeout", List("DURATION,..."), "Maximum time for one attempt", "",
        "30s,1m,2m gives the first attempt 30s, the second 1m, all later ones 2m. The process tree gets --signal, then \
         SIGKILL after --kill-after. A timeout is transient unless --stop-exit lists it. 0 disables."),
    opt(TIME, Some('i'), "idle-timeout", DURATION, "Maximum time without output", "",
        "Ends an attempt that writes nothing for this long, as --timeout does. 0 disables."),
    opt(TIME, Some('s'), "signal", One("SIGNAL"), "Signal sent on timeout", "TERM", ""),
    opt(TIME, Some('k'), "kill-after", DURATION, "Send SIGKILL this long after the signal", "5s",
        "0 disables. If given, SIGKILL also follows a SIGTERM, SIGINT, SIGHUP or SIGQUIT that the attempt gets, Ctrl-C included."),
    opt(TIME, None, "nested", Word(&["allow", "once", "warn"]), "How to retry under an outer backoff", "warn",
        "Nested retries multiply: 3 x 3 = 9 calls. allow: retry; warn: retry, and print how many calls that allows; \
         once: run COMMAND once and leave retries to the outer run, which is known by BACKOFF_DEPTH (env -i and ssh remove it)."),

    opt(RULES, None, "until", Word(&["success", "failure", "never"]), "Goal that ends the run", "success",
        "The goal, not a limit (--deadline, --stop-after) or a rule (--stop-exit). success: after a success. failure: a failure of any kind ends the run with status 0, without waits unless --base or --every sets one; \
         it is accepted on the command line only. never: a signal or a limit ends the run. See LOOPS in the manual."),
    opt(RULES, None, "success-exit", CODES, "Exit codes to read as success", "0",
        "Repeatable. CODES is a list such as 7, 1,2,75, 100-110, tempfail (names of sysexits.h) or SIGKILL. With CODE=0, as in \
         0,24=0, the run ends with status 0; without it a success keeps its code. A list without 0 makes 0 a failure."),
    opt(RULES, None, "success-match", REGEX, "Succeed only if a line of output matches", "",
        "Repeatable; one match is enough. REGEX is searched for in each line, as bytes."),
    opt(RULES, None, "fail-match", REGEX, "Fail if a line of output matches, whatever the exit code", "", "Repeatable."),
    opt(RULES, None, "consecutive", One("N"), "Successful attempts in a row to succeed", "1", "The wait between them is --base."),
    opt(RULES, Some('e'), "retry-exit", CODES, "Exit codes to read as transient; others are permanent", "",
        "Repeatable. CODES may include timeout; timeouts are transient in any case unless --stop-exit lists them. With 126 or \
         127, a command that cannot be executed or found is a transient failure."),
    opt(RULES, None, "stop-exit", CODES, "Exit codes to read as permanent; overrides retry rules", "",
        "Repeatable. A failure with one of these codes ends the run; --stop-after is a time limit."),
    opt(RULES, Some('r'), "retry-match", REGEX, "Transient if a line of output matches, else permanent", "", "Repeatable."),
    opt(RULES, None, "stop-match", REGEX, "Permanent if a line of output matches", "", "Repeatable."),
    opt(RULES, None, "retry-if", SHELL, "Shell command that decides if a failure is transient", "",
        "Run after a failed attempt, except a timeout or SIGPIPE, that no other rule decides, with the attempt's output on standard \
         input. Exit status 0 means transient, 1 permanent, any other an error and permanent. The deadline limits it."),
    opt(RULES, None, "success-if", SHELL, "Shell command that decides if an attempt succeeded", "",
        "Like --retry-if, for an attempt that would be a success: 0 confirms it, 1 makes it a failure, transient \
         unless a stop rule or --retry-if says otherwise. Any other status is an error and a permanent failure."),
    opt(RULES, None, "for", List("PRESET,..."), "Known rules for a tool: curl, ssh, ...; auto: for COMMAND", "",
        "--list-presets shows all presets. auto selects by COMMAND's name, also behind sudo, env, timeout, \
         and sh -c if the script is plain words."),
    opt(RULES, None, "match-on", Word(&["stdout", "stderr", "both"]), "Streams that rules and predicates examine", "both",
        "Applies to regular expressions, --retry-if, --success-if, --retry-after and --hook-output."),
    opt(RULES, None, "idempotent", Word(&["yes", "no"]), "Declare if COMMAND is safe to run twice", "yes",
        "no: retry only failures that certainly had no effect, as a preset, a matching retry rule or --retry-if says. \
         With --for, requests of curl or wget that may send data mean no. See IDEMPOTENCE in the manual."),
    opt(RULES, None, "c-locale", Switch, "Run COMMAND with LC_ALL=C.UTF-8 for English messages", "", ""),

    opt(WAITS, None, "every", DURATION, "Fixed wait between attempts", "", "Short for -b DURATION -g constant -j none."),
    opt(WAITS, Some('b'), "base", DURATION, "Base delay: waits grow from it", "500ms; 0 with --until failure",
        "With decorrelated jitter, the default, the first wait is one to three times as long. With slotted jitter, \
         this is the slot time. A shorter --max-delay of higher precedence overrides it."),
    opt(WAITS, Some('f'), "factor", One("NUMBER"), "Growth factor per retry, at least 1", "3; 2 with other jitter", ""),
    opt(WAITS, Some('m'), "max-delay", DURATION, "Maximum wait, jitter included",
        "30s; raised by a longer --base, --delays or --stop-at-delay",
        "--retry-after and --cool-off may ask for longer waits. Unless given, slotted jitter has no maximum."),
    opt(WAITS, Some('g'), "growth", Word(&["exponential", "linear", "fibonacci", "constant"]), "Growth of the wait before jitter",
        "exponential; constant with --until failure",
        "See WAITS AND JITTER in the manual. Decorrelated and slotted jitter have their own growth."),
    opt(WAITS, None, "delays", List("DURATION,..."), "List of waits instead of growth; the last one repeats", "",
        "Without jitter, unless --jitter has the same precedence or a higher one."),
    opt(WAITS, Some('j'), "jitter",
        Word(&["none", "full", "equal", "decorrelated", "additive", "proportional", "slotted"]), "Jitter strategy",
        "decorrelated; full with --growth; none with --delays or --until failure",
        "additive:WIDTH sets the longest random part, by default 1s; proportional:PERCENT the share, by default 25%; \
         slotted:CEILING the ceiling of the exponent, by default 10. See WAITS AND JITTER in the manual."),
    opt(WAITS, None, "stop-at-delay", DURATION, "Give up once the wait before jitter would reach this", "",
        "For decorrelated jitter, this wait is base * factor^i; for slotted jitter, the longest possible one."),
    opt(WAITS, None, "initial-delay", DURATION, "Wait before the first attempt", "0", ""),
    opt(WAITS, None, "splay", DURATION, "Maximum random wait before the first attempt", "0",
        "Comes on top of --initial-delay. Keeps the cron jobs of many machines from starting in the same second."),
    opt(WAITS, None, "reset-after", DURATION, "Reset waits and attempts if an attempt ran this long", "",
        "For long-running commands that backoff supervises. With --until never, a success counts, too."),
    opt(WAITS, None, "retry-after", Optional("MAX"), "Honor Retry-After in the output, up to MAX", "off; MAX is 5m",
        "If the output names a wait (Retry-After: 30, try again in 5s), wait at least that long, plus a random part \
         unless --jitter none is also on the command line. If the output names a longer one than MAX, the run ends."),
    opt(WAITS, None, "seed", One("N"), "Seed for reproducible waits (with the same build)", "", ""),
    opt(WAITS, Some('p'), "policy", One("NAME"), "Named set of options; explicit options override it", "",
        "sip, google, ethernet, aws, clojure, cron, or one of the configuration file. --list-policies shows their settings. \
         cron holds output back and waits up to 30s first (--splay)."),

    opt(STREAMS, None, "stdin", Word(&["auto", "inherit", "replay", "null"]), "How to provide standard input", "auto",
        "auto: a file is rewound; a pipe is replayed, and only what COMMAND reads is taken from it; all else is \
         inherited. replay: read it to the end, then feed it to each attempt. null: provide none."),
    opt(STREAMS, None, "stdin-limit", One("SIZE"), "Maximum amount of input kept for replay", "1GiB",
        "Past it the input still flows, but a failure is then final."),
    opt(STREAMS, None, "stdout", Word(&["stream", "final", "success", "failure", "null"]), "How to handle standard output", "stream",
        "stream: print as it comes. final: print that of the last attempt; success: only if it succeeds. failure: \
         print that of all attempts, in order, if the run fails: for cron. null: drop."),
    opt(STREAMS, None, "stderr", Word(&["stream", "final", "failure", "null"]), "How to handle standard error", "stream",
        "As --stdout. failure also holds back messages of backoff and the standard error of predicates and hooks, so \
         that a run that succeeds prints nothing. If --stdout is kept as well, all of standard output comes first."),
    opt(STREAMS, None, "pty", Switch, "Run each attempt on a pseudo-terminal to keep colors", "",
        "Standard output and standard error are then one stream with CR LF line ends, on standard output. If standard \
         input and output are a terminal, COMMAND gets what is typed."),

    opt(HOOKS, None, "on-retry", SHELL, "Shell command to run before each wait", "",
        "See BACKOFF_EXIT and others under ENVIRONMENT in the manual. Its output goes to standard error; it has no \
         terminal, and input only with --hook-output. Its failure is reported and changes nothing."),
    opt(HOOKS, None, "before-retry", SHELL, "Shell command that must succeed after each wait", "",
        "If it fails, the run ends with the status of the last attempt. Lines KEY=VALUE that it appends to the file \
         $BACKOFF_ENV are variables of all later attempts, at most 64 KiB in all."),
    opt(HOOKS, None, "on-give-up", SHELL, "Shell command to run when giving up", "",
        "Like --on-retry, but with at least five seconds, as the deadline may have passed. BACKOFF_FAILED_RUNS is the \
         number of runs of --budget that gave up in a row, this one included."),
    opt(HOOKS, None, "hook-output", Optional("SIZE"), "Pass the last output of a failed attempt to hooks", "",
        "As their standard input, by default 64KiB, at most 1MiB. Longer output is cut at the beginning of a line."),

    opt(BUDGETS, None, "budget", One("NAME"), "Limit the share of retries of all runs with this NAME", "",
        "A retry is allowed while the window holds fewer than --budget-min attempts, or retries / attempts is below \
         --budget-ratio; else the failure is final. Take the name of the service that is called."),
    opt(BUDGETS, None, "budget-ratio", One("PERCENT"), "Maximum share of retries among attempts", "10%", ""),
    opt(BUDGETS, None, "budget-min", One("N"), "Attempts below which every retry is allowed", "10", ""),
    opt(BUDGETS, None, "budget-window", DURATION, "Time during which an attempt counts", "10m",
        "Kept in sixty steps: an attempt may count for up to a sixtieth longer."),
    opt(BUDGETS, None, "cool-off", Optional("skip[:CODE]"), "Wait first if this budget's last run gave up", "off; CODE is 75",
        "For jobs that are started again and again; needs --budget. Waits as long as that run would have waited next, \
         less the time since. With =skip, a run that is too early ends at once with the exit status CODE; 0 is accepted on \
         the command line only. See COOL-OFF in the manual."),
    opt(BUDGETS, None, "store", STORE, "Directory or Redis address that keeps budgets", "",
        "By default $XDG_STATE_HOME/backoff, else ~/.local/state/backoff, if absolute; for a fleet redis://, rediss:// or \
         redis+unix://. ?timeout=250ms of an address limits an answer; during a wait, up to 5s are accepted. Set an \
         address with a password by BACKOFF_STORE, as all users can read a command line."),
    opt(BUDGETS, None, "store-down", Word(&["local", "deny"]), "Fallback if the store does not answer", "local",
        "Both print a warning. local: use a budget of the same name in ~/.local/state/backoff or, if that is \
         not available either, none; deny: make a transient failure final, for containers with a directory each."),

    opt(OUTPUT, Some('q'), "quiet", Count, "Print only the last line of a failed run, and warnings", "",
        "Twice: only warnings and backoff's own errors, for conditions (if backoff -qq ...)."),
    opt(OUTPUT, Some('v'), "verbose", Count, "Print more; twice: all settings, rules and arguments", "",
        "Once: also starts, successes, unknown BACKOFF_* variables. Twice: also each setting and rule with its origin."),
    opt(OUTPUT, None, "log-format", Word(&["text", "json", "github", "github-groups"]), "Format of messages", "text",
        "json: one object per line. github: commands of GitHub Actions; github-groups: also a group for each attempt."),
    opt(OUTPUT, None, "log-file", One("PATH"), "Append messages to this file, not standard error", "",
        "- is standard output. Each line is one write, so that runs can share a file. -q does not apply."),
    opt(OUTPUT, None, "label", One("TEXT"), "Name of COMMAND in messages", "",
        "One line of up to 64 characters. JSON lines and the report have it beside the name."),
    opt(OUTPUT, None, "report", One("PATH"), "Write a JSON summary of the run to this file", "",
        "- is standard output. The file is complete or not written at all, also if the run is interrupted."),
    opt(OUTPUT, None, "color", WHEN, "When to use color", "auto",
        "auto: on a terminal, unless TERM is dumb; with CLICOLOR_FORCE, always; with NO_COLOR, never, even with CLICOLOR_FORCE."),
    opt(OUTPUT, None, "progress", WHEN, "When to show a countdown during waits", "auto",
        "auto: on a terminal, for waits of a second and more. always: also if TERM is dumb."),
    opt(OUTPUT, None, "exhausted-exit", One("CODE"), "Exit status to return if retries run out", "",
        "By default, the command's own. Applies if a limit or a budget ended the run, not to a permanent failure. 75 tells a scheduler to try later. 0 is accepted on the command line only."),
    opt(OUTPUT, None, "flaky-exit", One("CODE"), "Exit status to return on a late success", "0", ""),

    opt(OTHER, None, "plan", Optional("plot"), "Print the waits of these options and run nothing", "",
        "One line per retry if every attempt fails at once; with --seed, the waits of the run that has this seed. With \
         =plot, draws them, as wide as the terminal, with block characters in a UTF-8 locale. See PLAN in the manual."),
    opt(OTHER, None, "list-presets", Switch, "List the presets of --for, or the rules of each NAME", "",
        "NAME is a preset or a program. Rules are shown with their exit codes, expressions and sources. --log-format json prints \
         them as data, one object on a line for each preset."),
    opt(OTHER, None, "list-policies", Switch, "List policies with their origin and settings", "", ""),
    opt(OTHER, None, "config", One("PATH|none"), "Configuration file, or none", "",
        "By default $XDG_CONFIG_HOME/backoff/config.toml, else ~/.config/backoff/config.toml, if it exists; relative \
         directories are ignored. From a file that others can write to, or that belongs to another user, only attempts, \
         times, waits, budget numbers, log-format, verbose and quiet are taken. See FILES in the manual."),
    opt(OTHER, None, "generate", Word(&["man", "complete-bash", "complete-zsh", "complete-fish"]), "Print the man page or completions for a shell", "", ""),
    opt(OTHER, None, "help", Topic, "Print all options, a section, one option, or examples", "", ""),
    opt(OTHER, Some('V'), "version", Switch, "Print version, target, C library and features", "", ""),
];

impl Opt {
    /// Returns the default text without exceptions; empty if there is none.
    pub fn default_value(&self) -> &'static str {
        self.default.split(';').next().unwrap_or_default()
    }

    /// Returns the option's variable, such as `BACKOFF_SOME_OPTION`.
    pub fn variable(&self) -> String {
        format!(
            "BACKOFF_{}",
            self.long.to_ascii_uppercase().replace('-', "_")
        )
    }

    /// Returns true if `name` is the option's variable. Allocates nothing, as every start calls it for every option.
    pub(crate) fn has_variable(&self, name: &[u8]) -> bool {
        let upper = |letter: u8| match letter {
            b'-' => b'_',
            letter => letter.to_ascii_uppercase(),
        };
        let key = name.strip_prefix(b"BACKOFF_").unwrap_or_default();
        key.len() == self.long.len() && self.long.bytes().map(upper).eq(key.iter().copied())
    }

    /// Returns true if the option replaces running COMMAND. Only the command line accepts such an option: a forgotten
    /// variable or a file must not make a run exit with 0 without running the command.
    pub fn is_action(&self) -> bool {
        self.heading == OTHER && self.long != "config"
    }

    /// Returns true if the option configures how COMMAND runs.
    pub fn is_setting(&self) -> bool {
        self.heading != OTHER
    }
}

/// Returns the option with this long name.
///
/// # Panics
/// Panics if the name is unknown; every run of the test suite checks the names in the code.
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

#[cfg(test)]
mod tests;
