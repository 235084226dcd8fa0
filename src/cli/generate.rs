//! `--generate`: documents that are made from the table of options.

use super::{completions, man};

/// What `--generate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Document {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

pub const DOCUMENTS: &[(&str, Document)] = &[
    ("man", Document::Man),
    ("complete-bash", Document::CompleteBash),
    ("complete-zsh", Document::CompleteZsh),
    ("complete-fish", Document::CompleteFish),
];

/// A generated document.
pub fn document(document: Document) -> String {
    match document {
        Document::Man => man::page(),
        Document::CompleteBash => completions::bash(),
        Document::CompleteZsh => completions::zsh(),
        Document::CompleteFish => completions::fish(),
    }
}
