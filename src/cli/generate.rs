//! `--generate`: documents that are made from the table of options.

use super::words::Document;
use super::{completions, man};

/// A generated document.
pub(crate) fn document(document: Document) -> String {
    match document {
        Document::Man => man::page(),
        Document::CompleteBash => completions::bash(),
        Document::CompleteZsh => completions::zsh(),
        Document::CompleteFish => completions::fish(),
    }
}
