//! Programs that run another program. Finds the program that a command runs in the end, for `--for auto`.

/// Names, letters and long names of options with a value, and number of operands before the command. From the manuals
/// of sudo 1.9, doas(1), GNU coreutils 9, util-linux 2.39, GNU time 1.9, npx(1), POSIX.
#[rustfmt::skip]
const WRAPPERS: &[(&str, &str, &str, usize)] = &[
    ("sudo", "CDghpRrTtUu",
        "chdir chroot close-from command-timeout group host other-user prompt role type user", 0),
    ("doas", "aCu", "", 0),
    ("env", "aCSu", "argv0 chdir split-string unset", 0),
    ("nice", "n", "adjustment", 0),
    ("ionice", "cnpPu", "class classdata pid pgid uid", 0),
    ("timeout", "ks", "kill-after signal", 1),
    ("time", "fo", "format output", 0),
    ("stdbuf", "eio", "error input output", 0),
    ("chrt", "DPT", "sched-deadline sched-period sched-runtime", 1),
    ("taskset", "", "", 1),
    ("nohup setsid command busybox toybox", "", "", 0),
    ("exec", "a", "", 0),
    ("corepack", "", "", 0),
    ("npx pnpx bunx uvx", "cpw", "call from package python with workspace", 0),
];

const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh"];

/// Characters that a shell may act on; a script without any is only words.
const METACHARACTERS: &str = "|&;<>()$`\\\"'\n*?[#~{}!";

/// Limit on nested wrappers.
pub(crate) const DEEPEST: usize = 16;

/// Returns the command that a program of this name runs, given these words.
pub(crate) fn inner_command<'a>(name: &str, words: &[&'a str]) -> Option<Vec<&'a str>> {
    if SHELLS.contains(&name) {
        return script_of_shell(words);
    }
    if let Some(module) = module_of_python(name, words) {
        return Some(module);
    }
    let (_, letters, long_names, operands) =
        WRAPPERS.iter().find(|(names, ..)| is_in(name, names))?;
    let rest = skip_options(words, letters, long_names)?;
    let options = &words[..words.len() - rest.len()];
    // `command -v` only prints a path.
    let only_prints = name == "command" && options.iter().any(|word| word.contains(['v', 'V']));
    let inner = skip_assignments(rest).get(*operands..)?;
    (!only_prints).then(|| inner.to_vec())
}

/// Returns the program that `python3 -m MODULE` runs, and its arguments.
fn module_of_python<'a>(name: &str, words: &[&'a str]) -> Option<Vec<&'a str>> {
    let version = name.strip_prefix("python").or(name.strip_prefix("pypy"))?;
    if !version.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let mut rest = words;
    let (module, arguments) = loop {
        let (option, after) = rest.split_first()?;
        let letters = option.strip_prefix('-')?;
        match letters.find(['c', 'm', '-']) {
            // `-Im pip`, `-mpip`
            Some(at) if letters[at..].starts_with('m') && at + 1 < letters.len() => {
                break (&letters[at + 1..], after);
            }
            Some(at) if letters[at..].starts_with('m') => {
                let (module, arguments) = after.split_first()?;
                break (module, arguments);
            }
            // A script, or a long option.
            Some(_) => return None,
            None => rest = after.get(usize::from(letters.ends_with(['W', 'X']))..)?,
        }
    };
    // The command of the package `build`.
    let program = if module == "build" {
        "pyproject-build"
    } else {
        module
    };
    Some([&[program], arguments].concat())
}

fn is_in(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Skips options. Those of `letters` and `long_names` have a value.
fn skip_options<'w, 'a>(
    mut words: &'w [&'a str],
    letters: &str,
    long_names: &str,
) -> Option<&'w [&'a str]> {
    while let Some((word, rest)) = words.split_first() {
        let value_follows = match word.strip_prefix('-') {
            None => return Some(words),
            // `--` ends the options.
            Some("-") => return Some(rest),
            Some(option) => match option.strip_prefix('-') {
                Some(name) => is_in(name, long_names),
                // `-n5` holds its value. `env -` has no letter.
                None => option
                    .find(|letter| letters.contains(letter))
                    .is_some_and(|at| at + 1 == option.len()),
            },
        };
        words = rest.get(usize::from(value_follows)..)?;
    }
    Some(words)
}

/// Skips leading assignments, as in `A=b curl`.
fn skip_assignments<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_assignment = |word: &&&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    &words[words.iter().take_while(is_assignment).count()..]
}

/// Returns the words of `-c 'curl -fsS URL'`, if the script is one simple command without metacharacters.
fn script_of_shell<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut words = words.iter();
    let (mut word, mut is_script) = (*words.next()?, false);
    // Options may stand between `-c` and the script.
    while let Some(letters) = word.strip_prefix(['-', '+']) {
        // A long option, such as `--norc`, is not a group of letters.
        let has = |letter| !letters.starts_with('-') && letters.contains(letter);
        is_script |= has('c');
        // `-o pipefail`, `-O extglob`, `-ceuo pipefail`
        let values = usize::from(has('o') || has('O'));
        word = words.nth(values)?;
    }
    let is_plain_script = is_script && !word.contains(|c| METACHARACTERS.contains(c));
    is_plain_script.then(|| skip_assignments(&word.split_whitespace().collect::<Vec<_>>()).to_vec())
}
