//! Tips for names that are no options of backoff: other tools have the option under that name, or it is misspelled.

use crate::options::opt::Spec;
use crate::options::similar::{normal, tip};
use crate::options::{ATTEMPTS, DEADLINE, EVERY, PLAN};

/// Another tool's name of an option.
pub(crate) struct Foreign {
    name: &'static str,
    pub(crate) opt: &'static Spec,
    /// Follows the name of backoff's option in a tip; empty if both mean the same.
    pub(crate) difference: &'static str,
}

const COUNTS_FIRST: &str = ", which counts the first attempt";

/// The names that people type on their first day.
static FOREIGN: [Foreign; 12] = [
    foreign_name("retry", &ATTEMPTS.spec, COUNTS_FIRST),
    foreign_name("retries", &ATTEMPTS.spec, COUNTS_FIRST),
    foreign_name("max-retries", &ATTEMPTS.spec, COUNTS_FIRST),
    foreign_name("tries", &ATTEMPTS.spec, COUNTS_FIRST),
    foreign_name("max-attempts", &ATTEMPTS.spec, COUNTS_FIRST),
    foreign_name("delay", &EVERY.spec, ""),
    foreign_name("retry-delay", &EVERY.spec, ""),
    foreign_name("interval", &EVERY.spec, ""),
    foreign_name("wait", &EVERY.spec, ""),
    foreign_name("sleep", &EVERY.spec, ""),
    foreign_name("max-time", &DEADLINE.spec, ", which limits the whole run"),
    foreign_name("dry-run", &PLAN.spec, ""),
];

const fn foreign_name(name: &'static str, opt: &'static Spec, difference: &'static str) -> Foreign {
    Foreign {
        name,
        opt,
        difference,
    }
}

/// Returns backoff's option for another tool's name; None if the name is not listed.
pub(crate) fn foreign(name: &str) -> Option<&'static Foreign> {
    let name = normal(name);
    FOREIGN.iter().find(|foreign| foreign.name == name)
}

/// Returns a tip such as `; tip: try --every` for another tool's option on the command line, whose name has no dashes
/// before it. None for any other name: clap then looks for a similar one.
pub(crate) fn tip_for_flag(name: &str) -> Option<String> {
    let Foreign {
        opt, difference, ..
    } = foreign(name)?;
    let flag = match opt.short {
        Some(letter) => format!("-{letter}"),
        None => format!("--{}", opt.long),
    };
    Some(format!("; tip: try {flag}{difference}"))
}

/// Returns a tip such as `; tip: try timeout` for an unknown key of a file or topic of `--help`: backoff's option for
/// another tool's name, or else a similar one of `known`. Empty if there is none.
pub(crate) fn tip_for_option<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
) -> String {
    match foreign(name) {
        Some(foreign) if known.clone().any(|known| known == foreign.opt.long) => {
            format!("; tip: try {}{}", foreign.opt.long, foreign.difference)
        }
        _ => tip(name, known),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OPTIONS;

    #[test]
    fn a_foreign_name_is_no_option_of_backoff() {
        for Foreign { name, .. } in &FOREIGN {
            assert!(OPTIONS.iter().all(|opt| opt.long != *name), "{name}");
        }
    }
}
