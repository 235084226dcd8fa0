//! The words of options for types of lower modules, which know nothing about the command line.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::policy::limits::Until;
use crate::run::plan::{Format, When};
use crate::run::streams::{InputMode, OutputMode};

macro_rules! words {
    ($type:ty: $($word:literal = $value:expr),*) => {
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &[$($value),*]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                [$(($value, $word)),*]
                    .into_iter()
                    .find_map(|(value, word)| (value == *self).then(|| PossibleValue::new(word)))
            }
        }
    };
}

words!(Until: "success" = Until::Success, "failure" = Until::Failure, "never" = Until::Never);
words!(
    InputMode:
    "auto" = InputMode::Auto,
    "inherit" = InputMode::Inherit,
    "replay" = InputMode::Replay,
    "null" = InputMode::Null
);
words!(
    OutputMode:
    "stream" = OutputMode::Stream,
    "final" = OutputMode::Final,
    "success" = OutputMode::Success,
    "failure" = OutputMode::Failure,
    "null" = OutputMode::Null
);
words!(Format: "text" = Format::Text, "json" = Format::Json, "github" = Format::GitHub);
words!(When: "auto" = When::Auto, "always" = When::Always, "never" = When::Never);

/// Returns the parser of `--stderr`. It has no `success`, because messages of a late success would be lost.
pub(super) fn error_mode() -> impl TypedValueParser<Value = OutputMode> {
    PossibleValuesParser::new(["stream", "final", "failure", "null"])
        .try_map(|word| OutputMode::from_str(&word, false))
}
