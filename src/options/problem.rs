//! What is wrong with a command line, a variable or a file.

use std::fmt;

/// Usage error: one line that quotes the input and its source, and suggests a valid form. The exit status is 125.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

impl<T: Into<String>> From<T> for UsageError {
    fn from(problem: T) -> UsageError {
        UsageError(problem.into())
    }
}
