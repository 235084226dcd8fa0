//! Text that several rooms show: what the system says of an error, and what others wrote, made harmless.

use nix::errno::Errno;

/// Returns the text of the system for an error, as people search for it.
pub(crate) fn describe(errno: Errno) -> String {
    describe_error(&std::io::Error::from_raw_os_error(errno as i32))
}

/// Returns the text of the system for an error, without its number.
pub(crate) fn describe_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Returns true if a terminal only shows the character: it is no control, and no invisible one that changes how
/// others are shown (directions, joiners, marks of order).
pub(crate) fn is_printable(c: char) -> bool {
    let is_unseen = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !c.is_control() && !is_unseen
}

/// Escapes all that a terminal would act on.
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

/// Breaks up all that a CI runner would take for a command: a line that begins with `::`, or anything from `##[` on.
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
