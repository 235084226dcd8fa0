//! The meaning of the command's words: only who understands them can choose a preset, and see that a retry sends no
//! order twice. Pure: variables and script files come in from outside.
//!
//! `plan` asks four questions: which tool is it ([`program`]), may it run twice ([`requests`]), is it one request
//! ([`http`]), and which runs are around it ([`nesting`]).
//!
//! A text of a shell goes through [`words`] (a tokenizer), [`scope`] (what variables may hold), [`expansion`] (the
//! words that a command may consist of) and [`calls`] (calls of curl and wget among them), and [`http`] judges each
//! call. Each part of a word is known or unknown; an unknown part always counts as one that may send.

mod calls;
mod expansion;
pub(crate) mod http;
pub(crate) mod nesting;
pub(crate) mod program;
pub(crate) mod requests;
mod scope;
pub(crate) mod shells;
mod syntax;
mod text;
mod word;
pub(crate) mod words;
mod wrappers;

/// The variables and files that the command will find when it runs.
pub(crate) trait Surroundings {
    /// Returns the value of a variable in backoff's environment, which the command inherits; None if it is not set.
    fn variable(&self, name: &str) -> Option<String>;

    /// Reads a file that may be a script, or tells why it is not read. A relative path begins at backoff's directory.
    fn script(&self, path: &str) -> ScriptFile;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScriptFile {
    Text(String),
    /// The file is missing, or no text.
    NotThere,
    /// The beginning of a text that is longer than 64 KiB.
    TooLong(String),
    /// The file is not a regular one, or cannot be read.
    NotRead,
}

#[cfg(test)]
mod tests;
