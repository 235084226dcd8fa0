//! Values of a variable before a script sets it: its value in the environment, or one that a shell gives it.
//!
//! In all of them, `AnyWords` stands for a value that is not known, which in quotes is trusted to be no option,
//! `AnyPart` for one that is not trusted, and `HarmlessPart` for one that is known to be harmless: a number or a name,
//! which is no option and is not split.

use super::{Frame, Inherited, LONGEST_TEXT, Scope};
use crate::command::text::{Doubt, Symbols, known, unknown};
use crate::run::variables::SET_BY_BACKOFF;

/// Variables that shells set to a number or a name: first those of bash, then those that only zsh and ksh set.
#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "RANDOM", "SRANDOM", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME", "PPID",
    "UID", "EUID", "HOSTNAME", "OSTYPE", "MACHTYPE", "HOSTTYPE", "BASH_VERSION", "OPTIND",
    "HISTCMD", "BASH_SUBSHELL", "BASH_MONOSECONDS", "BASH_VERSINFO", "BASH_LINENO", "BASH_ARGC",
    "BASHOPTS", "SHELLOPTS", "SHLVL", "OPTERR", "TERM",
    "ARGC", "CPUTYPE", "EGID", "ERRNO", "GID", "HOST", "LOGNAME", "USERNAME", "VENDOR", "ZSH_NAME",
    "ZSH_VERSION", "ZSH_PATCHLEVEL", "ZSH_SUBSHELL", "KSH_VERSION", "NULLCMD", "READNULLCMD",
    "status", "pipestatus",
];

/// Variables that hold what a prompt shows, or what the script itself has read or run, which may be any text.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "_", "PS1", "PS2", "PS3", "PS4", "PROMPT", "WORDCHARS", "TTY", "BASH_ARGV0", "COMP_WORDBREAKS",
    "REPLY", "OPTARG", "MAPFILE", "COPROC", "PIPESTATUS", "FUNCNAME", "BASH_ARGV", "BASH_SOURCE",
    "BASH_COMMAND", "BASH_EXECUTION_STRING", "DIRSTACK", "GROUPS", "BASH_REMATCH",
];

impl Scope<'_> {
    /// Returns the values that a variable may have before a script sets it. An unset variable has the empty one.
    /// `frame` tells how much of backoff's environment the script has.
    pub(super) fn inherited(&self, name: &str, frame: &Frame) -> Vec<Symbols> {
        if SET_BY_BACKOFF.contains(&name) {
            return match frame.environment {
                Inherited::All => set_by_backoff(name),
                // Or it does not reach the script.
                Inherited::Part => [set_by_backoff(name), vec![Symbols::new()]].concat(),
                Inherited::Unknown => {
                    let others = vec![Symbols::new(), unknown(Doubt::AnyWords)];
                    [set_by_backoff(name), others].concat()
                }
                Inherited::None => vec![unknown(Doubt::AnyWords)],
            };
        }
        match set_by_shell(name) {
            Some(SetByShell::Always(text)) => vec![text],
            Some(SetByShell::Perhaps(text)) => self.with_environment(vec![text], name, frame),
            Some(SetByShell::OrUnset(text)) => {
                self.with_environment(vec![text, Symbols::new()], name, frame)
            }
            None => self.with_environment(Vec::new(), name, frame),
        }
    }

    /// Returns `texts`, which the shell may give to a variable, and behind them the values that the variable may have
    /// in the environment of the script. The value is unknown on another machine. It is empty if the variable is unset and the shell gives it none either. If the script may run
    /// elsewhere, all of these are possible.
    fn with_environment(&self, mut texts: Vec<Symbols>, name: &str, frame: &Frame) -> Vec<Symbols> {
        if frame.environment == Inherited::None {
            texts.push(unknown(Doubt::AnyWords));
            return texts;
        }
        let value = self.surroundings.variable(name);
        let is_unset = value.is_none() && texts.is_empty();
        // Unset, or perhaps: with a part of the environment, the variable may be missing.
        if is_unset || frame.environment >= Inherited::Part {
            texts.push(Symbols::new());
        }
        if frame.environment == Inherited::Unknown {
            texts.push(unknown(Doubt::AnyWords));
        }
        texts.extend(value.map(|value| value_text(&value)));
        texts
    }
}

/// Returns the value of a variable in the environment as a text; an unknown one if it is too long to be looked at.
fn value_text(value: &str) -> Symbols {
    if value.len() > LONGEST_TEXT {
        return unknown(Doubt::AnyWords);
    }
    known(value)
}

/// Returns the values of a variable that backoff itself sets for each attempt. They are not known yet, but of what
/// kind: only the IDs are the same in each attempt, so that a request with one of them as its key may be repeated.
fn set_by_backoff(name: &str) -> Vec<Symbols> {
    match name {
        "BACKOFF_ROOT_ID" | "BACKOFF_RUN_ID" => vec![unknown(Doubt::RunId)],
        // Texts that may hold anything.
        "BACKOFF_REASON" | "BACKOFF_COUNTED" => vec![unknown(Doubt::AnyWords)],
        // Numbers; some are empty until an attempt has failed.
        _ => vec![Symbols::new(), unknown(Doubt::HarmlessPart)],
    }
}

/// A parameter that shells set by themselves.
enum SetByShell {
    Always(Symbols),
    /// Some shells set it; in others it is an ordinary variable.
    Perhaps(Symbols),
    /// The same for a text that is not empty, while the variable may also be unset.
    OrUnset(Symbols),
}

/// Returns the value that a shell itself gives to a parameter; None for a parameter that no shell sets.
fn set_by_shell(name: &str) -> Option<SetByShell> {
    let path = || [known("/"), unknown(Doubt::AnyWords)].concat();
    let set = match name {
        "?" | "#" | "$" | "!" | "-" => SetByShell::Always(unknown(Doubt::HarmlessPart)),
        // All shells set it, and none takes it from the environment.
        "IFS" => SetByShell::Always(known(" \t\n")),
        // An absolute path, which is no option.
        "PWD" => SetByShell::Perhaps(path()),
        "OLDPWD" => SetByShell::OrUnset(path()),
        "BASH" => SetByShell::OrUnset(known("/bin/bash")),
        // Bash sets it to the user's shell, which is one of those that run scripts.
        "SHELL" => SetByShell::OrUnset(known("/bin/sh")),
        // In zsh: the arguments, and what was matched or returned. In quotes, too, they may be options.
        "argv" | "MATCH" | "match" | "reply" => SetByShell::Perhaps(unknown(Doubt::AnyPart)),
        _ if HARMLESS.contains(&name) => SetByShell::Perhaps(unknown(Doubt::HarmlessPart)),
        _ if TEXTS.contains(&name) => SetByShell::Perhaps(unknown(Doubt::AnyWords)),
        _ => return None,
    };
    Some(set)
}
