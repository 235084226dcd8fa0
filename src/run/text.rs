//! Text for several modules: the system's text of errors, and foreign text made harmless.

use nix::errno::Errno;

pub(crate) fn describe(errno: Errno) -> String {
    describe_error(&std::io::Error::from_raw_os_error(errno as i32))
}

/// Returns the system's text of an error, without its number.
pub(crate) fn describe_error(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

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

/// Puts a space into each `::` that begins a line, and into each `##[`, `##vso[` and the like, so that no CI runner takes
/// them for a command.
pub(crate) fn without_runner_commands(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(without_line_command).collect();
    let mut text = lines.join("\n");
    while let Some(at) = runner_command(&text) {
        text.insert(at + 2, ' ');
    }
    text
}

fn without_line_command(line: &str) -> String {
    if line.trim_start().starts_with("::") {
        return line.replacen("::", ": :", 1);
    }
    line.to_owned()
}

/// Returns the place of the first `##`, name and `[`; the name may be empty.
fn runner_command(text: &str) -> Option<usize> {
    text.char_indices()
        .map(|(at, _)| at)
        .find(|at| begins_runner_command(&text[*at..]))
}

fn begins_runner_command(text: &str) -> bool {
    let Some(name) = text.strip_prefix("##") else {
        return false;
    };
    name.trim_start_matches(|c: char| c.is_ascii_alphanumeric())
        .starts_with('[')
}
