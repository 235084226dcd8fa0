//! Options: one constant for each, with everything about the option. The parser, `--help`, the man page, the
//! completions, the `BACKOFF_*` variables, the keys of the configuration file and the values of a plan come from these
//! constants.

mod budgets;
mod codes;
mod duration;
mod hooks;
mod jitters;
mod numbers;
pub(crate) mod opt;
mod other;
mod output;
pub(crate) mod problem;
mod rules;
pub(crate) mod similar;
mod streams;
mod time;
pub(crate) mod values;
mod waits;
mod words;

pub(crate) use self::budgets::*;
pub(crate) use self::hooks::*;
use self::opt::Spec;
pub(crate) use self::other::*;
pub(crate) use self::output::*;
pub(crate) use self::rules::*;
pub(crate) use self::streams::*;
pub(crate) use self::time::*;
pub(crate) use self::waits::*;

/// All options, in the order of `--help`.
pub(crate) static OPTIONS: [&Spec; 68] = [
    &ATTEMPTS.spec,
    &DEADLINE.spec,
    &STOP_AFTER.spec,
    &TIMEOUT.spec,
    &IDLE_TIMEOUT.spec,
    &SIGNAL.spec,
    &KILL_AFTER.spec,
    &NESTED.spec,
    &UNTIL.spec,
    &SUCCESS_EXIT.spec,
    &SUCCESS_MATCH.spec,
    &FAIL_MATCH.spec,
    &CONSECUTIVE.spec,
    &RETRY_EXIT.spec,
    &STOP_EXIT.spec,
    &RETRY_MATCH.spec,
    &STOP_MATCH.spec,
    &RETRY_IF.spec,
    &SUCCESS_IF.spec,
    &FOR.spec,
    &MATCH_ON.spec,
    &IDEMPOTENT.spec,
    &EVERY.spec,
    &BASE.spec,
    &FACTOR.spec,
    &MAX_DELAY.spec,
    &GROWTH.spec,
    &DELAYS.spec,
    &JITTER.spec,
    &STOP_AT_DELAY.spec,
    &INITIAL_DELAY.spec,
    &SPLAY.spec,
    &RESET_AFTER.spec,
    &RETRY_AFTER.spec,
    &SEED.spec,
    &POLICY.spec,
    &STDIN.spec,
    &STDIN_LIMIT.spec,
    &STDOUT.spec,
    &STDERR.spec,
    &PTY.spec,
    &ON_RETRY.spec,
    &BEFORE_RETRY.spec,
    &ON_GIVE_UP.spec,
    &HOOK_OUTPUT.spec,
    &BUDGET.spec,
    &BUDGET_RATIO.spec,
    &BUDGET_MIN.spec,
    &BUDGET_WINDOW.spec,
    &STORE.spec,
    &STORE_DOWN.spec,
    &QUIET.spec,
    &VERBOSE.spec,
    &LOG_FORMAT.spec,
    &LOG_FILE.spec,
    &LABEL.spec,
    &REPORT.spec,
    &COLOR.spec,
    &PROGRESS.spec,
    &EXHAUSTED_EXIT.spec,
    &FLAKY_EXIT.spec,
    &PLAN.spec,
    &LIST_PRESETS.spec,
    &LIST_POLICIES.spec,
    &CONFIG.spec,
    &GENERATE.spec,
    &HELP.spec,
    &VERSION.spec,
];

#[cfg(test)]
mod tests;
