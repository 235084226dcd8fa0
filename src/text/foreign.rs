//! Makes text from commands, servers and users harmless before it is printed. It may contain escape sequences that
//! change a terminal, or lines that a CI runner takes for commands.

use std::ffi::OsStr;

use os_display::Quotable;

/// Returns true if a terminal only shows the character. It is neither a control character nor an invisible one
/// (joiners, changes of the writing direction), with which a text could look like another.
pub(crate) fn is_printable(c: char) -> bool {
    let is_unseen = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !c.is_control() && !is_unseen
}

/// Escapes every character that a terminal would act on, including newlines (`\n`, `\u{1b}`), and splits commands to a
/// CI runner. The text is for people, so its own backslashes remain.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_printable(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    without_runner_commands(&shown)
}

/// Returns a word of the command line as text, with bytes that are not UTF-8 as `\xff`. Characters that a terminal acts
/// on remain. [`printable`] escapes them, and so does the JSON writer.
pub(crate) fn name(word: impl AsRef<OsStr>) -> String {
    let mut shown = String::new();
    for chunk in word.as_ref().as_encoded_bytes().utf8_chunks() {
        shown.push_str(chunk.valid());
        shown.push_str(&chunk.invalid().escape_ascii().to_string());
    }
    shown
}

/// Quotes a word of the command line for a shell, and escapes characters that a terminal would act on.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    // The crate does not escape joiners and other invisible characters.
    printable(&word.as_ref().quote().to_string())
}

/// Puts a space before the `[` of `##[`, `##vso[` and the like, so that no CI runner (GitHub Actions, Azure Pipelines,
/// TeamCity) takes them for a command. The other form, `::`, counts only at the start of a line, and no line of ours
/// starts with it.
fn without_runner_commands(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive('[') {
        let before = part.trim_end_matches('[');
        let before_name = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
        shown.push_str(before);
        if before.len() < part.len() {
            shown.push_str(if before_name.ends_with("##") {
                " ["
            } else {
                "["
            });
        }
    }
    shown
}

#[cfg(test)]
#[path = "foreign_tests.rs"]
mod tests;
