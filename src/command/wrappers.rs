//! Programs that run another program: `sudo`, `env`, `timeout`, `sh -c` and the like. By their options and operands,
//! these functions find where the command of the other program begins: that program is the one whose failures `--for`
//! judges. The search for calls of curl and wget finds these at any word, and only asks here which word is the program.

use super::words::MODIFIERS;

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

/// Programs that run the command behind their options for words of their input, from the manuals of GNU findutils 4.9,
/// FreeBSD and GNU parallel 2023. They are no [`WRAPPERS`], as their failures are their own.
const FEEDERS: &[Wrapper] = &[
    Wrapper {
        names: &["xargs", "gxargs"],
        letters: "adEIJLnPRsS",
        long_names: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-chars",
            "max-procs",
            "process-slot-var",
        ],
        operands: 0,
    },
    Wrapper {
        names: &["parallel"],
        letters: "aCdEIJjLNnPSsU",
        long_names: &[
            "arg-file",
            "arg-file-sep",
            "arg-sep",
            "basefile",
            "bf",
            "block",
            "block-size",
            "colsep",
            "delay",
            "delimiter",
            "env",
            "filter",
            "group-by",
            "halt",
            "halt-on-error",
            "header",
            "id",
            "joblog",
            "jobs",
            "limit",
            "load",
            "max-args",
            "max-chars",
            "max-procs",
            "max-replace-args",
            "memfree",
            "memsuspend",
            "nice",
            "parens",
            "process-slot-var",
            "profile",
            "recend",
            "recstart",
            "res",
            "results",
            "retries",
            "return",
            "rpl",
            "semaphorename",
            "slf",
            "sql",
            "sqlmaster",
            "sqlworker",
            "ssh",
            "sshdelay",
            "sshlogin",
            "sshloginfile",
            "tagstring",
            "tempdir",
            "termseq",
            "tf",
            "timeout",
            "tmpdir",
            "transferfile",
            "trc",
            "trim",
            "wd",
            "workdir",
        ],
        operands: 0,
    },
];

/// Shells whose `-c` script may name the program that presets judge.
const SHELLS_FOR_PRESETS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh"];

/// Characters that a shell may act on; a script without any is only words.
const METACHARACTERS: &str = "|&;<>()$`\\\"'\n*?[#~{}!";

/// Words of a shell before a command.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "builtin", "coproc",
];

/// Limit on nested wrappers.
pub(super) const DEEPEST: usize = 16;

/// Returns the words of the command that a wrapper, shell or Python runs, given its name without a directory and the
/// words after it; empty if it runs none. Returns None for any other program, and if the words cannot be followed.
/// By it, callers find the innermost program, whose failures presets judge.
pub(super) fn inner_command<'a>(name: &str, words: &[&'a str]) -> Option<Vec<&'a str>> {
    if SHELLS_FOR_PRESETS.contains(&name) {
        return script_of_shell(words);
    }
    if let Some(module) = module_of_python(name, words) {
        return Some(module);
    }
    behind_wrapper(name, words).map(<[&str]>::to_vec)
}

/// Returns the command that stands for `python3 -m MODULE ARGUMENTS`: the module, such as `pip`, which presets know as
/// a program, and its arguments. `words` follow the name. Returns None for another program, and without `-m`.
fn module_of_python<'a>(name: &str, words: &[&'a str]) -> Option<Vec<&'a str>> {
    let version = name.strip_prefix("python").or(name.strip_prefix("pypy"))?;
    if !version.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let mut unread = words;
    loop {
        let (option, after) = unread.split_first()?;
        // Without a `-`, it is a script file.
        let letters = option.strip_prefix('-')?;
        if letters.is_empty() {
            // The script is standard input.
            return None;
        }
        // The first letter that takes a value, or the second dash of a long option.
        let Some(decisive) = letters.find(['c', 'm', 'W', 'X', '-']) else {
            unread = after;
            continue;
        };
        if letters[decisive..].starts_with(['W', 'X']) {
            // `-Xdev`, or `-X dev`
            let value_follows = decisive + 1 == letters.len();
            unread = after.get(usize::from(value_follows)..)?;
            continue;
        }
        let Some(module) = letters[decisive..].strip_prefix('m') else {
            // `-c SCRIPT`, or a long option.
            return None;
        };
        if module.is_empty() {
            // `-Im pip`
            let (module, arguments) = after.split_first()?;
            return Some([&[program_of_module(module)], arguments].concat());
        }
        // `-mpip`
        return Some([&[program_of_module(module)], after].concat());
    }
}

/// Returns the name of the program that presets know for a module of Python. Only that of `build` differs.
fn program_of_module(module: &str) -> &str {
    if module == "build" {
        "pyproject-build"
    } else {
        module
    }
}

/// Returns the words of the command behind a wrapper of this name, given the words after the name; empty if nothing
/// follows. They reach to the end of `words`. Returns None if the name is no known wrapper, or if the wrapper runs no
/// command with these words.
fn behind_wrapper<'w, 'a>(name: &str, words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    let wrapper = WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&name))?;
    let after_options = skip_options(words, wrapper)?;
    let options = &words[..words.len() - after_options.len()];
    // `command -v` only prints a path.
    let only_prints = name == "command" && options.iter().any(|word| word.contains(['v', 'V']));
    if only_prints {
        return None;
    }
    // The operands of the wrapper itself, such as the duration of `timeout`. None if one is missing.
    skip_assignments(after_options).get(wrapper.operands..)
}

/// Returns true if these words are a wrapper and its own options and operands, without a command: `nice -n 5`, so that
/// the next word would be the program. False for `nice -n`, as the next word would be the value.
pub(super) fn lacks_command(words: &[&str]) -> bool {
    let Some((program, behind)) = words.split_first() else {
        return false;
    };
    let name = program.rsplit('/').next().unwrap_or_default();
    behind_wrapper(name, behind).is_some_and(<[&str]>::is_empty)
}

/// Returns true if this letter is an option of xargs with a value, the rest of the word or the next one.
pub(super) fn takes_value_of_xargs(letter: char) -> bool {
    let mut feeders = FEEDERS.iter();
    feeders.any(|it| it.names.contains(&"xargs") && it.letters.contains(letter))
}

/// Returns how many words are the options of `xargs` or `parallel` and their values, given the words after that name,
/// which has no directory: all of them if the last value is missing.
pub(super) fn option_count_of_feeder(name: &str, words: &[&str]) -> usize {
    let feeder = FEEDERS.iter().find(|feeder| feeder.names.contains(&name));
    let command = feeder.and_then(|feeder| skip_options(words, feeder));
    words.len() - command.unwrap_or_default().len()
}

/// Returns the words behind the options of a wrapper and their values: all words if they begin with no option. Returns
/// None if the value of the last option is missing.
fn skip_options<'w, 'a>(mut words: &'w [&'a str], wrapper: &Wrapper) -> Option<&'w [&'a str]> {
    while let Some((word, after)) = words.split_first() {
        let value_follows = match word.strip_prefix('-') {
            None => return Some(words),
            // `--` ends the options.
            Some("-") => return Some(after),
            Some(option) => match option.strip_prefix('-') {
                // `--name=value` is not in the list, as it holds its value.
                Some(name) => wrapper.long_names.contains(&name),
                // `-n5` holds its value: the letter is not the last one. `env -` has no letter.
                None => option
                    .find(|letter| wrapper.letters.contains(letter))
                    .is_some_and(|letter_index| letter_index + 1 == option.len()),
            },
        };
        words = after.get(usize::from(value_follows)..)?;
    }
    Some(words)
}

/// Skips leading assignments, as in `A=b curl`. Behind any wrapper, although only some take them: no program has a name
/// with `=`.
fn skip_assignments<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    &words[count..]
}

/// Returns true for `NAME=value`, with any text as the value.
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns the words of the script in `-c 'curl -fsS URL'`, without assignments before them, given the words after the
/// shell's name. Returns None without `-c`, and if the script holds a character that a shell acts on: which program a
/// longer script finally runs is not known.
fn script_of_shell<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut words = words.iter();
    let mut word = *words.next()?;
    let mut has_c = false;
    // Options may stand between `-c` and the script.
    while let Some(letters) = word.strip_prefix(['-', '+']) {
        // A long option, such as `--norc`, is not a group of letters.
        let has = |letter| !letters.starts_with('-') && letters.contains(letter);
        has_c |= has('c');
        // `-o pipefail`, `-O extglob`, `-ceuo pipefail`
        let value_count = usize::from(has('o') || has('O'));
        // The next word behind these values.
        word = words.nth(value_count)?;
    }
    let is_plain_script = has_c && !word.contains(|c| METACHARACTERS.contains(c));
    if !is_plain_script {
        return None;
    }
    let script_words: Vec<&str> = word.split_whitespace().collect();
    Some(skip_assignments(&script_words).to_vec())
}

/// Returns the index of the program that a command of a script runs in the end, behind reserved words, assignments and
/// wrappers: that of `curl` in `then A=b sudo curl`. A shell or Python is the program itself, unlike in
/// [`inner_command`]. Returns the number of words if there is none.
pub(super) fn program_index(words: &[&str]) -> usize {
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let name = word.rsplit('/').next().unwrap_or_default();
        if RESERVED.contains(word) || MODIFIERS.contains(word) || is_assignment(word) {
            index += 1;
        } else if let Some(inner) = behind_wrapper(name, &words[index + 1..]) {
            // The inner command reaches to the end of the words.
            index = words.len() - inner.len();
        } else {
            break;
        }
    }
    index
}
