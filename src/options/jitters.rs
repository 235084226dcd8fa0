//! Parses the strategy of `--jitter`, with a parameter or without one.

use std::time::Duration;

use super::duration::duration;
use super::numbers::{percent, whole};
use super::problem::{Parsed, Problem};
use super::words::word;
use crate::policy::delay::Jitter;

pub(crate) const DEFAULT_JITTER: Jitter = Jitter::Decorrelated { factor: 3.0 };

/// The words of `--jitter`; jitters have their default parameters.
pub(super) static JITTERS: [(&str, Jitter); 7] = [
    ("none", Jitter::None),
    ("full", Jitter::Full),
    ("equal", Jitter::Equal),
    ("decorrelated", DEFAULT_JITTER),
    (
        "additive",
        Jitter::Additive {
            spread: Duration::from_secs(1),
        },
    ),
    ("proportional", Jitter::Proportional { spread: 0.25 }),
    ("slotted", Jitter::Slotted { ceiling: 10 }),
];

/// Parses a jitter: one of the words, `additive:WIDTH`, `proportional:PERCENT` or `slotted:CEILING`.
pub(crate) fn jitter(text: &str) -> Parsed<Jitter> {
    let Some((name, parameter)) = text.split_once(':') else {
        return word(&JITTERS, text);
    };
    match name {
        "additive" => additive(parameter),
        "proportional" => proportional(parameter),
        "slotted" => slotted(parameter),
        name => {
            // An unknown word ends here with its problem; a known one takes no parameter.
            word(&JITTERS, name)?;
            let why = format!("has a parameter that {name} does not take");
            Err(Problem::new(why))
        }
    }
}

/// Parses the width of `additive:WIDTH`, a duration.
fn additive(width: &str) -> Parsed<Jitter> {
    match duration(width) {
        Ok(spread) => Ok(Jitter::Additive { spread }),
        Err(problem) => Err(Problem::new(format!("has a width that {problem}"))),
    }
}

/// Parses the share of `proportional:PERCENT`.
fn proportional(share: &str) -> Parsed<Jitter> {
    match percent(share) {
        Ok(spread) => Ok(Jitter::Proportional { spread }),
        Err(problem) => Err(Problem::new(format!("has a share that {problem}"))),
    }
}

/// Parses the ceiling of `slotted:CEILING`: an exponent of 2, so that 62 is the largest that fits.
fn slotted(ceiling: &str) -> Parsed<Jitter> {
    match whole(ceiling, 1, 62) {
        Ok(ceiling) => Ok(Jitter::Slotted {
            ceiling: ceiling as u32,
        }),
        Err(problem) => Err(Problem::new(format!("has a ceiling that {problem}"))),
    }
}
