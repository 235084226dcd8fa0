//! Problems of a value, and of a command line, a variable or a file.

use std::fmt;

/// The problem of an option's text, as the rest of a sentence that begins with the text: `is not a size`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(String);

/// The value of a text, or the problem of the text.
pub type Parsed<T> = Result<T, Problem>;

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Problem {
        Problem(text.into())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

/// Usage error: one line that quotes the input and its source, and suggests a valid form. The exit status is 125.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError(pub String);

/// A value, or the usage error that ends the start.
pub(crate) type Checked<T> = Result<T, UsageError>;

impl UsageError {
    pub(crate) fn new(line: impl Into<String>) -> UsageError {
        UsageError(line.into())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
