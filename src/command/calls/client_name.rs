//! Recognizes the name of a client, curl or wget, in a word, so that calls are found. A word that is taken for a
//! call without being one costs a retry at worst, while a call that is not seen may send data twice.

use crate::command::http::tables::CLIENTS;
use crate::command::text::{Symbol, Symbols, exact, known, may_hold_code, mentions, shown};

/// Returns true if a word names any client ([`is_named`]), or is a script of one command with such a name. Callers take
/// what such a command prints for a download, which they trust: so here, unlike elsewhere, a wrong "true" hides
/// unknown code.
pub(super) fn begins_with_client(text: &[Symbol]) -> bool {
    let is_blank = |symbol: &Symbol| matches!(symbol, Symbol::Known(' ' | '\n'));
    let first = text.split(is_blank).next().unwrap_or_default();
    let separates = |symbol: &Symbol| matches!(symbol, Symbol::Known(';' | '&' | '|' | '\n' | '`'));
    let is_single = !text[first.len()..].iter().any(separates);
    is_single && CLIENTS.iter().any(|client| is_named(first, client.name))
}

/// Returns true if a word names this client: `curl`, `/usr/bin/curl`, `curl.exe`, `curl-8.5`, or an image of a
/// container, `curlimages/curl:8.5`. An unknown end may be a version: `curl$VERSION`. A URL of a file with this name is
/// no call.
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
    // An empty suffix counts as a version.
    begins_tag || exact(suffix).as_deref() == Some(".exe") || suffix.iter().all(may_be_of_version)
}

/// Returns true if a symbol may be part of a version such as `-8.5`. An unknown part may be.
fn may_be_of_version(symbol: &Symbol) -> bool {
    match symbol {
        Symbol::Known(c) => c.is_ascii_digit() || ".-".contains(*c),
        Symbol::Unknown(_) => true,
    }
}

/// Returns the part of a path after its last slash, or all of a text without one. In zsh `=curl` is the path of curl.
fn file_name(text: &[Symbol]) -> &[Symbol] {
    let text = match text {
        [Symbol::Known('='), path @ ..] => path,
        _ => text,
    };
    let mut parts = text.rsplit(|symbol| *symbol == Symbol::Known('/'));
    parts.next().unwrap_or_default()
}

/// Returns true if a word is not certain to name this client ([`is_named`]), but may do so, as a part of it is unknown
/// and the known characters before and behind that part fit: `$CMD`, `cu$X`, `/usr/bin/$X`, `$X-8.5`, `$X.exe`, but not
/// `git$X`. If there are several such parts, the text before the first and behind the last counts. An unknown part that
/// is only a number or the like is no name.
pub(super) fn may_be_named(text: &[Symbol], client: &str) -> bool {
    let name = file_name(text);
    let name = name.strip_suffix(known(".exe").as_slice()).unwrap_or(name);
    if !may_hold_code(name) || is_named(text, client) {
        return false;
    }
    let beginning: Symbols = name.iter().take_while(is_known).copied().collect();
    let mut ending: Symbols = name.iter().rev().take_while(is_known).copied().collect();
    ending.reverse();
    let client = known(client);
    // True for an empty ending as well. Letters would belong to another name.
    let is_version = ending
        .iter()
        .all(|symbol| matches!(symbol, Symbol::Known(c) if !c.is_alphabetic()));
    client.starts_with(&beginning) && (client.ends_with(&ending) || is_version)
}

fn is_known(symbol: &&Symbol) -> bool {
    matches!(symbol, Symbol::Known(_))
}

/// Returns the file name of a program, without its directories, which may be unknown, and with `...` for unknown parts,
/// so that a file name with such a part is no known one.
pub(super) fn base_name(text: &[Symbol]) -> String {
    let shown = shown(text);
    shown.rsplit('/').next().unwrap_or_default().to_owned()
}
