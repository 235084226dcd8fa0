//! `--generate`: documents that are made from the table of options.

use super::words::Document;
use super::{completions, man};

/// A generated document. Completions have these presets of `--for` in them.
pub(crate) fn document(document: Document, presets: &[&'static str]) -> String {
    match document {
        Document::Man => man::page(),
        Document::CompleteBash => completions::bash(presets),
        Document::CompleteZsh => completions::zsh(presets),
        Document::CompleteFish => completions::fish(presets),
    }
}
