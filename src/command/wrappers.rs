//! Programs that run another program: `sudo`, `env`, `timeout`, `sh -c` and the like.

/// A program that runs the command after its options and operands.
struct Wrapper {
    names: &'static [&'static str],
    /// Letters of options with a value.
    letters: &'static str,
    /// Long names of options with a value.
    long_names: &'static [&'static str],
    /// Number of operands before the command.
    operands: usize,
}

/// From the manuals of sudo 1.9, doas(1), GNU coreutils 9, util-linux 2.39, GNU time 1.9, npx(1), POSIX.
const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo"],
        letters: "CDghpRrTtUu",
        long_names: &[
            "chdir",
            "chroot",
            "close-from",
            "command-timeout",
            "group",
            "host",
            "other-user",
            "prompt",
            "role",
            "type",
            "user",
        ],
        operands: 0,
    },
    Wrapper {
        names: &["doas"],
        letters: "aCu",
        long_names: &[],
        operands: 0,
    },
    Wrapper {
        names: &["env"],
        letters: "aCSu",
        long_names: &["argv0", "chdir", "split-string", "unset"],
        operands: 0,
    },
    Wrapper {
        names: &["nice"],
        letters: "n",
        long_names: &["adjustment"],
        operands: 0,
    },
    Wrapper {
        names: &["ionice"],
        letters: "cnpPu",
        long_names: &["class", "classdata", "pid", "pgid", "uid"],
        operands: 0,
    },
    Wrapper {
        names: &["timeout"],
        letters: "ks",
        long_names: &["kill-after", "signal"],
        operands: 1,
    },
    Wrapper {
        names: &["time"],
        letters: "fo",
        long_names: &["format", "output"],
        operands: 0,
    },
    Wrapper {
        names: &["stdbuf"],
        letters: "eio",
        long_names: &["error", "input", "output"],
        operands: 0,
    },
    Wrapper {
        names: &["chrt"],
        letters: "DPT",
        long_names: &["sched-deadline", "sched-period", "sched-runtime"],
        operands: 1,
    },
    Wrapper {
        names: &["taskset"],
        letters: "",
        long_names: &[],
        operands: 1,
    },
    Wrapper {
        names: &["nohup", "setsid", "command", "busybox", "toybox"],
        letters: "",
        long_names: &[],
        operands: 0,
    },
    Wrapper {
        names: &["exec"],
        letters: "a",
        long_names: &[],
        operands: 0,
    },
    Wrapper {
        names: &["corepack"],
        letters: "",
        long_names: &[],
        operands: 0,
    },
    Wrapper {
        names: &["npx", "pnpx", "bunx", "uvx"],
        letters: "cpw",
        long_names: &["call", "from", "package", "python", "with", "workspace"],
        operands: 0,
    },
];

/// Shells whose `-c` script names the program for `--for auto`.
const SHELLS_FOR_PRESETS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh"];

/// Characters that a shell may act on; a script without any is only words.
const METACHARACTERS: &str = "|&;<>()$`\\\"'\n*?[#~{}!";

/// Words of a shell before a command.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "builtin", "coproc",
];

/// Limit on nested wrappers.
pub(super) const DEEPEST: usize = 16;

/// Returns the command that a program of this name runs, given these words.
pub(super) fn inner_command<'a>(name: &str, words: &[&'a str]) -> Option<Vec<&'a str>> {
    if SHELLS_FOR_PRESETS.contains(&name) {
        return script_of_shell(words);
    }
    if let Some(module) = module_of_python(name, words) {
        return Some(module);
    }
    behind_wrapper(name, words).map(<[&str]>::to_vec)
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
                break (*module, arguments);
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

/// Returns the words of the command behind a wrapper.
fn behind_wrapper<'w, 'a>(name: &str, words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    let wrapper = WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&name))?;
    let rest = skip_options(words, wrapper)?;
    let options = &words[..words.len() - rest.len()];
    // `command -v` only prints a path.
    let only_prints = name == "command" && options.iter().any(|word| word.contains(['v', 'V']));
    if only_prints {
        return None;
    }
    skip_assignments(rest).get(wrapper.operands..)
}

/// Skips options.
fn skip_options<'w, 'a>(mut words: &'w [&'a str], wrapper: &Wrapper) -> Option<&'w [&'a str]> {
    while let Some((word, rest)) = words.split_first() {
        let value_follows = match word.strip_prefix('-') {
            None => return Some(words),
            // `--` ends the options.
            Some("-") => return Some(rest),
            Some(option) => match option.strip_prefix('-') {
                Some(name) => wrapper.long_names.contains(&name),
                // `-n5` holds its value. `env -` has no letter.
                None => option
                    .find(|letter| wrapper.letters.contains(letter))
                    .is_some_and(|at| at + 1 == option.len()),
            },
        };
        words = rest.get(usize::from(value_follows)..)?;
    }
    Some(words)
}

/// Skips leading assignments, as in `A=b curl`.
fn skip_assignments<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    &words[count..]
}

/// Returns true for `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns the words of `-c 'curl -fsS URL'`, if the script is one simple command without metacharacters.
fn script_of_shell<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut words = words.iter();
    let mut word = *words.next()?;
    let mut is_script = false;
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

/// Returns the index of the program that a command runs in the end, behind reserved words, assignments and wrappers.
pub(super) fn program_at(words: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let name = word.rsplit('/').next().unwrap_or_default();
        if RESERVED.contains(word) || is_assignment(word) {
            at += 1;
        } else if let Some(inner) = behind_wrapper(name, &words[at + 1..]) {
            at = words.len() - inner.len();
        } else {
            break;
        }
    }
    at
}
