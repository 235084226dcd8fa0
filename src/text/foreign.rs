//! Text of commands, servers and users, made harmless before it is printed: it may hold escape sequences that change a
//! terminal, or lines that a CI runner takes for commands.

use std::ffi::OsStr;

use os_display::Quotable;

/// Returns true if a terminal only shows the character: it is neither a control character nor an invisible one
/// (joiners, changes of the writing direction), by which a text could look like another.
pub(crate) fn is_printable(c: char) -> bool {
    let is_unseen = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !c.is_control() && !is_unseen
}

/// Returns the text with every character escaped that a terminal would act on, line feeds too: `\n`, `\u{1b}`. For
/// people: a backslash of the text itself stays as it is.
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

/// Returns a word of the command line as text, with bytes that are not UTF-8 as `\xff`. Characters that a terminal acts
/// on stay: [`printable`] escapes them, as does the writer of JSON.
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

/// Puts a space into each `::` that begins a line, and after the `##` of each `##[`, `##vso[` and the like, so that no
/// CI runner (GitHub Actions, Azure Pipelines, TeamCity) takes them for a command: the text may come from others. Other
/// text stays as it is.
pub(crate) fn without_runner_commands(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(without_leading_colons).collect();
    let mut text = lines.join("\n");
    while let Some(hashes) = find_runner_command(&text) {
        text.insert(hashes + "##".len(), ' ');
    }
    text
}

/// Puts a space into a `::` that begins a line, after blanks or not; returns other lines as they are.
fn without_leading_colons(line: &str) -> String {
    if line.trim_start().starts_with("::") {
        line.replacen("::", ": :", 1)
    } else {
        line.to_owned()
    }
}

/// Returns the position of the `##` of the first command to a CI runner that has the form `##`, a name that may be
/// empty, and `[`, as in `##vso[`. None if there is none; a `::` is not looked for.
fn find_runner_command(text: &str) -> Option<usize> {
    // Each `#` is tried: of three, the last two begin a command.
    for (start, _) in text.match_indices('#') {
        let Some(after_hashes) = text[start..].strip_prefix("##") else {
            continue;
        };
        let after_name = after_hashes.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        if after_name.starts_with('[') {
            return Some(start);
        }
    }
    None
}

#[cfg(test)]
mod tests;
