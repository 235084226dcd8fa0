//! Text for several modules: the system's text of errors, and foreign text made harmless.

use nix::errno::Errno;

/// Returns the system's text of an error, without its number.
pub(crate) fn describe(errno: Errno) -> String {
    describe_error(&std::io::Error::from_raw_os_error(errno as i32))
}

/// Returns the system's text of an error, without its number.
pub(crate) fn describe_error(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Returns true if a terminal only shows the character: no control character, and no invisible one that changes how
/// other characters are shown (directions, joiners, byte order marks).
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

/// Breaks up everything that a CI runner would take for a command: a line that begins with `::`, or anything from `##[`
/// on.
pub(crate) fn without_commands(text: &str) -> String {
    let harmless = |line: &str| {
        if line.trim_start().starts_with("::") {
            line.replacen("::", ": :", 1)
        } else {
            line.to_owned()
        }
    };
    let text = text.replace("##[", "## [");
    text.split('\n').map(harmless).collect::<Vec<_>>().join("\n")
}
