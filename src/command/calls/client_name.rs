//! Recognizes the name of a client in a word.

use crate::command::text::{Symbol, Symbols, exact, known, may_hold_code, mentions, shown};

/// Returns true if a word names this client: `curl`, `/usr/bin/curl`, `curl.exe`, `curl-8.5`, or an image of a
/// container, `curlimages/curl:8.5`.
pub(super) fn is_named(text: &[Symbol], client: &str) -> bool {
    let name = file_name(text);
    let is_url = mentions(text, "://");
    if is_url {
        return false;
    }
    let Some(suffix) = name.strip_prefix(known(client).as_slice()) else {
        return false;
    };
    // `curl:8.5`, `curl@sha256:...`
    let begins_tag = matches!(suffix.first(), Some(Symbol::Known(':' | '@')));
    begins_tag || exact(suffix).as_deref() == Some(".exe") || suffix.iter().all(may_be_of_version)
}

/// Returns true if a symbol may be part of a version: `-8.5`.
fn may_be_of_version(symbol: &Symbol) -> bool {
    match symbol {
        Symbol::Known(c) => c.is_ascii_digit() || ".-".contains(*c),
        Symbol::Unknown(_) => true,
    }
}

/// Returns the part after the last slash, not counting slashes in the digest of an image (`@sha256:a/b`).
fn file_name(text: &[Symbol]) -> &[Symbol] {
    let end = text
        .iter()
        .position(|symbol| *symbol == Symbol::Known('@'))
        .unwrap_or(text.len());
    let slash = text[..end]
        .iter()
        .rposition(|symbol| *symbol == Symbol::Known('/'));
    match slash {
        Some(at) => &text[at + 1..],
        None => text,
    }
}

/// Returns true if a word is not certain to name this client, but may do so, as a part of it is unknown.
pub(super) fn may_be_named(text: &[Symbol], client: &str) -> bool {
    let name = file_name(text);
    if !may_hold_code(name) || is_named(text, client) {
        return false;
    }
    let beginning: Symbols = name.iter().take_while(is_known).copied().collect();
    let mut ending: Symbols = name.iter().rev().take_while(is_known).copied().collect();
    ending.reverse();
    let client = known(client);
    let is_version = ending
        .iter()
        .all(|symbol| matches!(symbol, Symbol::Known(c) if !c.is_alphabetic()));
    client.starts_with(&beginning) && (client.ends_with(&ending) || is_version)
}

fn is_known(symbol: &&Symbol) -> bool {
    matches!(symbol, Symbol::Known(_))
}

/// Returns a word without directories.
pub(super) fn base_name(text: &[Symbol]) -> String {
    let shown = shown(text);
    shown.rsplit('/').next().unwrap_or_default().to_owned()
}
