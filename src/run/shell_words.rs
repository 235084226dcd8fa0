//! What a shell does itself. Whoever types it may take it for a program.

/// POSIX, XCU 2.15 and 1.7, and those programs that shells do themselves as well.
#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "times", "trap",
    "unset", "alias", "bg", "cd", "command", "fc", "fg", "getopts", "hash", "jobs", "read", "type", "ulimit", "umask",
    "unalias", "wait", "echo", "false", "kill", "printf", "pwd", "test", "true", "[",
];
#[rustfmt::skip]
const BUILT_INTO_BASH: &[&str] = &[
    "bind", "builtin", "caller", "compgen", "complete", "compopt", "declare", "dirs", "disown", "enable", "help",
    "history", "let", "local", "logout", "mapfile", "popd", "pushd", "readarray", "shopt", "source", "suspend", "typeset",
];
/// Built-ins that only change the shell they run in: in one that does nothing else they are of no use.
#[rustfmt::skip]
const ONLY_CHANGE_THE_SHELL: &[&str] = &[
    "alias", "bg", "break", "continue", "export", "fc", "fg", "getopts", "hash", "jobs", "readonly", "return", "set", "shift",
    "trap", "umask", "unalias", "unset", "wait",
    "bind", "complete", "compopt", "declare", "dirs", "disown", "enable", "history", "local", "logout", "mapfile", "popd",
    "pushd", "readarray", "shopt", "suspend", "typeset",
];
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "!", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "until", "while",
];
const KEYWORDS_OF_BASH: &[&str] = &["[[", "coproc", "function", "select", "time"];

/// What a word is to a shell, and a shell that knows it.
pub(crate) fn shell_word(word: &str) -> Option<(&'static str, &'static str)> {
    [
        (BUILT_IN, "built-in", "sh"),
        (BUILT_INTO_BASH, "built-in", "bash"),
        (KEYWORDS, "keyword", "sh"),
        (KEYWORDS_OF_BASH, "keyword", "bash"),
    ]
    .into_iter()
    .find_map(|(words, what, shell)| words.contains(&word).then_some((what, shell)))
}

/// Whether a built-in does nothing that outlives its shell.
pub(crate) fn only_changes_the_shell(word: &str) -> bool {
    ONLY_CHANGE_THE_SHELL.contains(&word)
}
