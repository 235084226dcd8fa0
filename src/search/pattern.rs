//! Regular expressions in the syntax of the `regex` crate.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// Longest excerpt of a match in messages, in characters.
const EXCERPT: usize = 80;

/// Size limit of a preset's compiled expression, in bytes. Most are far smaller, and a test compiles each one.
const SIZE_LIMIT: usize = 64 << 20;

/// A regular expression to search for in a line.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    is_of_preset: bool,
    /// Empty until the first search for a preset's expression. Contains None if the expression is wrong.
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Compiles the user's expression, case-sensitive and with Unicode. The error shows where the mistake is, or says
    /// that the expression is too large.
    pub fn parse(text: &str) -> Result<Pattern, regex::Error> {
        let regex = Regex::new(text)?;
        Ok(Pattern {
            text: text.to_owned(),
            is_of_preset: false,
            regex: OnceLock::from(Some(regex)),
        })
    }

    /// Returns a preset's expression, case-insensitive and with ASCII classes only. It is compiled at the first search.
    pub fn of_preset(text: String) -> Pattern {
        Pattern {
            text,
            is_of_preset: true,
            regex: OnceLock::new(),
        }
    }

    pub fn is_of_preset(&self) -> bool {
        self.is_of_preset
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the beginning of the first match in a line, for a message.
    pub fn find(&self, line: &[u8]) -> Option<String> {
        let found = self.compiled()?.find(line)?;
        let text = String::from_utf8_lossy(found.as_bytes());
        Some(text.chars().take(EXCERPT).collect())
    }

    fn compiled(&self) -> Option<&Regex> {
        let compile = || {
            let mut builder = RegexBuilder::new(&self.text);
            builder.unicode(false).case_insensitive(true);
            builder.size_limit(SIZE_LIMIT).build().ok()
        };
        self.regex.get_or_init(compile).as_ref()
    }
}
