//! Substitutions such as `$(uname -m)` and `$(echo x)`, whose output is known, or is at least one word that is no
//! option. Nearly every script has some. If they counted as any words, as other substitutions do, most scripts would be
//! taken for ones that may send data, and not be repeated.

use std::rc::Rc;

use crate::command::scope::value::is_plain_word;
use crate::command::scope::{Frame, Scope};
use crate::command::syntax::Script;
use crate::command::text::{Doubt, Symbols, exact, known, unknown};
use crate::command::word::Word;

/// Returns the texts that the script of a substitution may print, one for each combination of the values of its
/// variables (`frame` holds its arguments and environment). Returns None if any of them is not known: the caller then
/// counts the output as unknown. Only scripts of one short command are looked at.
pub(super) fn printed(
    scope: &Scope<'_>,
    script: &Rc<Script>,
    frame: &Frame,
) -> Option<Vec<Symbols>> {
    let [command] = script.commands.as_slice() else {
        return None;
    };
    // Only `echo` among the commands below may have more words, and none reads an input.
    if command.words.len() > 8 || !command.input.is_empty() || command.redirects_output {
        return None;
    }
    let mut texts = Vec::new();
    for words in scope.expand.commands(scope, &command.words, frame) {
        let name = words.first().and_then(|word| exact(&word.text))?;
        // A function of this name runs in place of the program.
        if scope.may_be_function(&name) {
            return None;
        }
        texts.extend(printed_by(&words)?);
    }
    Some(texts)
}

/// Returns what a command may print, without its last line ends: the text for one that prints its own words, a harmless
/// unknown part for one that prints a single word, or both a path and an empty text for one that looks for a program.
/// Returns None for any other command, or if a word is not known.
fn printed_by(words: &[Word]) -> Option<Vec<Symbols>> {
    let texts: Option<Vec<String>> = words.iter().map(|word| exact(&word.text)).collect();
    let texts = texts?;
    let words: Vec<&str> = texts.iter().map(String::as_str).collect();
    let one_word = Some(vec![unknown(Doubt::HarmlessPart)]);
    match words.as_slice() {
        ["uname", "-s" | "-m" | "-r" | "-n" | "-p" | "-i" | "-o"] => one_word,
        ["uname" | "arch" | "nproc" | "whoami" | "hostname"] => one_word,
        ["id", "-u" | "-g" | "-un" | "-gn"] => one_word,
        ["date", format] if format.starts_with('+') && is_one_word(format) => one_word,
        ["date", "-u", format] if format.starts_with('+') && is_one_word(format) => one_word,
        ["dpkg", "--print-architecture"] => one_word,
        ["lsb_release", "-cs" | "-is" | "-rs" | "-sc"] => one_word,
        ["rpm", "-E", "%fedora" | "%rhel"] => one_word,
        ["git", "rev-parse", "HEAD"] | ["git", "rev-parse", "--short", "HEAD"] => one_word,
        ["which", program] | ["command", "-v", program] | ["type", "-P" | "-p", program] => {
            // The path of the program. Only its name counts, by which a client is found; the directory may be any.
            let name = program.rsplit('/').next().unwrap_or_default();
            let path = known(&format!("/bin/{name}"));
            // Nothing if there is no such program.
            Some(vec![path, Symbols::new()])
        }
        ["echo", arguments @ ..] => Some(vec![printed_by_echo(arguments)?]),
        ["printf", "%s" | "%s\\n" | "%s\n", text] => Some(vec![known(text.trim_end_matches('\n'))]),
        _ => None,
    }
}

/// Returns the output of `echo` with these arguments, without its last line ends. Returns None if there is an option or
/// a backslash, which differ between shells.
fn printed_by_echo(arguments: &[&str]) -> Option<Symbols> {
    let has_backslash = arguments.iter().any(|word| word.contains('\\'));
    let has_option = arguments.first().is_some_and(|word| {
        word.strip_prefix('-')
            .is_some_and(|letters| letters.contains(['n', 'e', 'E']))
    });
    if has_backslash || has_option {
        return None;
    }
    let text = arguments.join(" ");
    Some(known(text.trim_end_matches('\n')))
}

/// Returns true if this format of `date` (`+%F`) prints one word that begins no option that sends: it has no blanks, no
/// sign on which a shell acts and no `-` at its beginning, and its conversions print none. Two do, but harmless ones:
/// `%z` may print `-0500`, and `%e` a blank before a digit, so that the word behind it is no option.
fn is_one_word(format: &str) -> bool {
    // `%%` prints `%`, and begins no conversion.
    let without_percent_signs = format.replace("%%", "");
    !format.starts_with("+-")
        && is_plain_word(&known(format))
        && without_percent_signs
            .split('%')
            .skip(1)
            .all(|part| part.starts_with(|c| "YymdHMSsjFTuVUeNz".contains(c)))
}
