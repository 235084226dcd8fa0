//! Substitutions of commands of which the output is known, or is at least one word.

use std::rc::Rc;

use crate::command::scope::{Frame, Scope};
use crate::command::syntax::Script;
use crate::command::text::{Doubt, Symbols, Word, exact, known, unknown};

/// Returns the texts that a script may print, or None if they are not known.
pub(super) fn printed(
    scope: &Scope<'_>,
    script: &Rc<Script>,
    frame: &Frame,
) -> Option<Vec<Symbols>> {
    let [command] = script.commands.as_slice() else {
        return None;
    };
    if command.words.len() > 8 || !command.input.is_empty() {
        return None;
    }
    let mut texts = Vec::new();
    for words in scope.expand.commands(scope, &command.words, frame) {
        let name = words.first().and_then(|word| exact(&word.text))?;
        if scope.may_be_function(&name) {
            return None;
        }
        texts.push(printed_by(&words)?);
    }
    Some(texts)
}

/// Returns the output of a command that is known to print one word, or its own words.
fn printed_by(words: &[Word]) -> Option<Symbols> {
    let exact: Option<Vec<String>> = words.iter().map(|word| exact(&word.text)).collect();
    let exact = exact?;
    let words: Vec<&str> = exact.iter().map(String::as_str).collect();
    let one_word = Some(unknown(Doubt::PlainPart));
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
            let name = program.rsplit('/').next().unwrap_or_default();
            Some(known(&format!("/bin/{name}")))
        }
        ["echo", rest @ ..] => {
            let is_plain = |word: &&str| !word.contains('\\');
            // `-n` and `-e` are options.
            let is_option = rest.first().is_some_and(|word| {
                word.strip_prefix('-')
                    .is_some_and(|letters| letters.contains(['n', 'e', 'E']))
            });
            let text = rest.join(" ");
            (rest.iter().all(is_plain) && !is_option).then(|| known(text.trim_end_matches('\n')))
        }
        ["printf", "%s" | "%s\\n" | "%s\n", text] => Some(known(text.trim_end_matches('\n'))),
        _ => None,
    }
}

/// Returns true if a format of `date` prints neither blanks nor a `-` at its beginning.
fn is_one_word(format: &str) -> bool {
    let letters = format.replace("%%", "");
    !format.starts_with("+-")
        && !format.contains([' ', '\t', '\n'])
        && letters
            .split('%')
            .skip(1)
            .all(|part| part.starts_with(|c| "YymdHMSsjFTuVUeNz".contains(c)))
}
