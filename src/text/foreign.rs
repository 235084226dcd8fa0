//! Text of commands, servers and users, made harmless.

use std::ffi::OsStr;

use os_display::Quotable;

/// Returns true if a terminal only shows the character: it is neither a control character nor an invisible one, such as
/// a joiner.
pub(crate) fn is_printable(c: char) -> bool {
    let is_unseen = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !c.is_control() && !is_unseen
}

/// Escapes every character that a terminal would act on.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_printable(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}

/// Returns a word of the command line as text, with bytes that are not UTF-8 as `\xff`.
pub(crate) fn name(word: impl AsRef<OsStr>) -> String {
    let mut shown = String::new();
    for chunk in word.as_ref().as_encoded_bytes().utf8_chunks() {
        shown.push_str(chunk.valid());
        shown.push_str(&chunk.invalid().escape_ascii().to_string());
    }
    shown
}

/// Returns a word of the command line as a shell reads it, escaping characters that a terminal would act on.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    // The crate does not escape joiners and other invisible characters.
    printable(&word.as_ref().quote().to_string())
}

/// Puts a space into each `::` that begins a line, and into each `##[`, `##vso[` and the like, so that no CI runner takes
/// them for a command.
pub(crate) fn without_runner_commands(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(without_leading_colons).collect();
    let mut text = lines.join("\n");
    while let Some(at) = runner_command(&text) {
        text.insert(at + 2, ' ');
    }
    text
}

/// Puts a space into a `::` that begins a line.
fn without_leading_colons(line: &str) -> String {
    if line.trim_start().starts_with("::") {
        line.replacen("::", ": :", 1)
    } else {
        line.to_owned()
    }
}

/// Returns the place of the first `##`, name and `[`; the name may be empty.
fn runner_command(text: &str) -> Option<usize> {
    // At each `#`: of three, the last two begin a command.
    for (at, _) in text.match_indices('#') {
        if let Some(name) = text[at..].strip_prefix("##")
            && name
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric())
                .starts_with('[')
        {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests;
