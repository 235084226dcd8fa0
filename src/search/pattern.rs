//! Regular expressions, in the syntax of the crate `regex`.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// Longest excerpt of a match in messages, in characters.
const EXCERPT: usize = 80;

/// Size of a preset's compiled expression, in bytes. Most are far smaller, and a test compiles each one.
const SIZE_LIMIT: usize = 64 << 20;

/// An expression that is searched for in a line.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    is_of_preset: bool,
    /// Empty until the first search for an expression of a preset; None in it if the expression is wrong.
    regex: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Compiles an expression of the user: with Unicode, and the case of letters counts. The error shows the place of
    /// the mistake, or says that the expression is too large.
    pub fn parse(text: &str) -> Result<Pattern, regex::Error> {
        let regex = Regex::new(text)?;
        Ok(Pattern {
            text: text.to_owned(),
            is_of_preset: false,
            regex: OnceLock::from(Some(regex)),
        })
    }

    /// Returns an expression of a preset, which ignores case and knows only the classes of ASCII. It is compiled at the
    /// first search.
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

    /// Returns the first match in a line, for a message: its beginning.
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
