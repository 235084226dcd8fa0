//! A tip for a command that was not found and looks like shell code.

use std::ffi::OsString;

use crate::text::quoted;

/// Built-ins and keywords of `sh`, and those of `bash` only.
const WORDS_OF_SH: &str = ". : alias bg break case cd command continue do done elif else esac eval exec exit export fc fg fi \
     for getopts hash if jobs read readonly return set shift then times trap type ulimit umask unalias unset until wait while";
const WORDS_OF_BASH: &str = "[[ bind builtin declare dirs disown enable function history let local mapfile popd pushd \
     readarray select shopt source time typeset";

/// Characters that a shell acts on.
const SYNTAX_OF_SHELLS: [char; 16] = [
    ' ', '\t', '\n', '|', '&', ';', '<', '>', '$', '`', '(', ')', '{', '}', '*', '?',
];

/// Returns a tip about a command that was not found if its first word belongs to a shell: a word of its language, a
/// line of shell, or an assignment. Empty for any other word. Not for existing programs, as some shell words are
/// (`time`).
pub(super) fn tip_about_shell(command: &[OsString]) -> String {
    let Some(first) = command.first() else {
        return String::new();
    };
    let word = first.to_string_lossy();
    for (shell, words) in [("sh", WORDS_OF_SH), ("bash", WORDS_OF_BASH)] {
        if words.split_whitespace().any(|known| known == word) {
            return format!("; {word} is a shell word; tip: try backoff {shell} -c '{word} ...'");
        }
    }
    if word.starts_with('~') || word.contains(SYNTAX_OF_SHELLS) {
        return "; a command line needs a shell; tip: try backoff sh -c '...'".to_owned();
    }
    if word.contains('=') {
        let variable = quoted(first);
        return format!("; tip: to set a variable, try backoff env {variable} ...");
    }
    String::new()
}
