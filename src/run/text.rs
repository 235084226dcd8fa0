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
    let shown = |c: char| match is_printable(c) {
        true => c.to_string(),
        false => c.escape_default().to_string(),
    };
    text.chars().map(shown).collect()
}

/// Puts a space into each `::` that begins a line, and into each `##[`, `##vso[` and the like, so that no CI runner takes
/// them for a command.
pub(crate) fn without_runner_commands(text: &str) -> String {
    let harmless = |line: &str| match line.trim_start().starts_with("::") {
        true => line.replacen("::", ": :", 1),
        false => line.to_owned(),
    };
    let lines = text.split('\n').map(harmless);
    let mut text = lines.collect::<Vec<_>>().join("\n");
    while let Some(at) = runner_command(&text) {
        text.insert(at + 2, ' ');
    }
    text
}

/// Returns the place of the first `##`, name and `[`; the name may be empty.
fn runner_command(text: &str) -> Option<usize> {
    let begins_command = |at: &usize| {
        let name = text[*at..].strip_prefix("##");
        name.is_some_and(|name| {
            name.trim_start_matches(|c: char| c.is_ascii_alphanumeric())
                .starts_with('[')
        })
    };
    let mut places = text.char_indices().map(|(at, _)| at);
    places.find(begins_command)
}
