//! Finds the program that the command runs, behind `sudo`, `env`, `timeout`, `sh -c` and the like. Presets judge its
//! failures, and messages name it. Only names decide. At an unknown word, the search ends with the program found so
//! far.

use super::for_program;
use super::names::PresetName;

/// A program that runs a command after its own options and operands.
struct Wrapper {
    /// Separated by spaces, as in all fields.
    names: &'static str,
    /// Letters of options with a value.
    letters: &'static str,
    /// Long names of options with a value.
    long_names: &'static str,
    /// Number of operands before the command.
    operands: usize,
}

const fn wrapper(
    names: &'static str,
    letters: &'static str,
    long_names: &'static str,
    operands: usize,
) -> Wrapper {
    Wrapper {
        names,
        letters,
        long_names,
        operands,
    }
}

/// From the manuals of sudo 1.9, doas(1), GNU coreutils 9, util-linux 2.39, GNU time 1.9, moreutils, xvfb-run(1),
/// npx(1), POSIX.
#[rustfmt::skip]
const WRAPPERS: &[Wrapper] = &[
    wrapper("sudo", "CDghpRrTtUu", "chdir chroot close-from command-timeout group host other-user prompt role type user", 0),
    wrapper("doas", "aCu", "", 0),
    wrapper("env", "aCSu", "argv0 chdir split-string unset", 0),
    wrapper("nice", "n", "adjustment", 0),
    wrapper("ionice", "cnpPu", "class classdata pid pgid uid", 0),
    wrapper("timeout", "ks", "kill-after signal", 1),
    wrapper("time", "fo", "format output", 0),
    wrapper("stdbuf", "eio", "error input output", 0),
    wrapper("chrt", "DPT", "sched-deadline sched-period sched-runtime", 1),
    wrapper("taskset", "", "", 1),
    wrapper("flock", "wE", "timeout wait conflict-exit-code", 1),
    wrapper("nohup setsid command busybox toybox chronic unbuffer corepack", "", "", 0),
    wrapper("xvfb-run", "efnpsw", "auth-file error-file server-args server-num wait xauth-protocol", 0),
    wrapper("exec", "a", "", 0),
    wrapper("npx pnpx bunx uvx", "cpw", "call from package python with workspace", 0),
];

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"];

/// Characters that a shell may act on. A script without any is only words.
const METACHARACTERS: &str = "|&;<>()$`\\\"'\n*?[#~{}!";

/// Limit on nested wrappers.
pub(super) const DEEPEST: usize = 16;

/// What a command runs.
pub(super) enum Inner<'c> {
    /// The words of another command, empty if the wrapper has none.
    Command(Vec<&'c str>),
    /// `sh -c TEXT`, and the words after it, from `$0` on.
    Script {
        text: &'c str,
        arguments: Vec<&'c str>,
    },
    /// Nothing, or nothing that is known.
    Nothing,
}

/// Facts about the command for rules and checks.
pub(crate) struct WrappedCommand<'c> {
    /// The names of `--for`, including `auto`.
    pub(crate) presets: Vec<PresetName>,
    /// Name and arguments of the program that presets judge ([`wrapped_program`]). Empty without presets, and if there
    /// is no command.
    pub(crate) wrapped: Vec<&'c str>,
}

impl<'c> WrappedCommand<'c> {
    /// Finds the wrapped program behind `sudo` and the like. `presets` are those of `--for`. Without any, nothing asks
    /// for the program, so it is not searched for.
    pub(crate) fn new(words: &[&'c str], presets: Vec<PresetName>) -> WrappedCommand<'c> {
        let wrapped = if presets.is_empty() {
            Vec::new()
        } else {
            wrapped_program(words)
        };
        WrappedCommand { presets, wrapped }
    }

    /// Returns true if a preset of `--for` judges failures of this program, named or by `auto`, which covers each
    /// program that has a preset. Whether the command runs this program is another question.
    pub(crate) fn is_judged(&self, program: &str) -> bool {
        self.presets.iter().any(|preset| preset.is_for(program))
    }
}

/// Returns the name and arguments of the program that presets judge: the innermost one that has a preset, or else the
/// innermost of all. `sudo curl URL` is `curl URL`, and `npx cowsay` is `npx cowsay`, because only npx has a preset.
/// The name is the one that presets know ([`name_for_presets`]). Empty if there is no command.
fn wrapped_program<'c>(command: &[&'c str]) -> Vec<&'c str> {
    let mut words = command.to_vec();
    // The innermost so far that has a preset.
    let mut last_known = None;
    for _ in 0..DEEPEST {
        let Some(program) = words.first_mut() else {
            break;
        };
        *program = name_for_presets(program);
        if for_program(words[0]).is_some() {
            last_known = Some(words.clone());
        }
        words = match inner_command(&words) {
            Inner::Command(inner) if !inner.is_empty() => inner,
            Inner::Script { text, .. } if !text.contains(|c| METACHARACTERS.contains(c)) => {
                let plain: Vec<&str> = text.split_whitespace().collect();
                skip_assignments(&plain).to_vec()
            }
            _ => break,
        };
    }
    last_known.unwrap_or(words)
}

/// Returns the name by which presets know the program at this path: without its directory and, if only the shorter name
/// has a preset, without its version: `pip` for `/usr/bin/pip3.11`. A name that itself has a preset keeps its version.
pub(super) fn name_for_presets(word: &str) -> &str {
    let name = file_name(word);
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c));
    let is_versioned =
        unversioned != name && for_program(name).is_none() && for_program(unversioned).is_some();
    if is_versioned { unversioned } else { name }
}

/// Returns true if the command is backoff itself, even behind wrappers. Behind one that has a preset (`npx`), it is not
/// found.
pub(crate) fn is_backoff(words: &[&str]) -> bool {
    wrapped_program(words).first() == Some(&"backoff")
}

pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns what a wrapper, shell or Python runs, given all words of its command.
pub(super) fn inner_command<'c>(command: &[&'c str]) -> Inner<'c> {
    let Some((program, words)) = command.split_first() else {
        return Inner::Nothing;
    };
    let name = file_name(program);
    if is_shell(name) {
        return script_of_shell(words);
    }
    if let Some(module) = module_of_python(name, words) {
        return Inner::Command(module);
    }
    let mut wrappers = WRAPPERS.iter();
    let Some(wrapper) = wrappers.find(|wrapper| lists(wrapper.names, name)) else {
        return Inner::Nothing;
    };
    let Some(after_options) = skip_options(words, wrapper.letters, wrapper.long_names) else {
        return Inner::Nothing;
    };
    let options = &words[..words.len() - after_options.len()];
    // `command -v` only prints a path.
    if name == "command" && options.iter().any(|word| word.contains(['v', 'V'])) {
        return Inner::Nothing;
    }
    match skip_assignments(after_options).get(wrapper.operands..) {
        // `flock FILE -c TEXT`
        Some(["-c", text, ..]) if name == "flock" => Inner::Script {
            text,
            arguments: Vec::new(),
        },
        Some(inner) => Inner::Command(inner.to_vec()),
        // An operand is missing.
        None => Inner::Nothing,
    }
}

/// Returns what a program runs on another machine or in a container, given all words of its command. Presets know these
/// tools themselves, but requests are looked for behind them.
pub(super) fn remote_command<'c>(command: &[&'c str]) -> Option<Vec<&'c str>> {
    let (program, words) = command.split_first()?;
    let inner = match file_name(program) {
        "ssh" => skip_options(words, "BbcDEeFIiJLlmOopQRSWw", "")?.get(1..)?,
        "kubectl" | "oc" => {
            let end = words.iter().position(|word| *word == "--")?;
            &words[end + 1..]
        }
        "docker" | "podman" | "nerdctl" => in_container(words)?,
        _ => return None,
    };
    Some(inner.to_vec())
}

/// Returns the command of `docker run` or `docker exec`: the words after the image or container, or from the image on
/// if it is one of curl or wget.
fn in_container<'w, 'c>(words: &'w [&'c str]) -> Option<&'w [&'c str]> {
    const SWITCHES: &str = "detach disable-content-trust init interactive no-healthcheck no-TTY privileged publish-all quiet read-only rm sig-proxy tty";
    let start = words
        .iter()
        .position(|word| ["run", "exec"].contains(word))?;
    let mut rest = &words[start + 1..];
    while let Some((option, after)) = rest.split_first() {
        let takes_value = match option.strip_prefix("--") {
            Some(name) => !name.contains('=') && !lists(SWITCHES, name),
            // `-p80:80` contains its value, and `-it` has none.
            None if option.starts_with('-') => {
                option.len() == 2 && !option.ends_with(['d', 'i', 't', 'P', 'q', 'T'])
            }
            None => break,
        };
        rest = after.get(usize::from(takes_value)..)?;
    }
    let (image, command) = rest.split_first()?;
    // The program of `curlimages/curl:8.5` is curl.
    let name = file_name(image).split([':', '@']).next();
    if ["curl", "wget"].map(Some).contains(&name) {
        Some(rest)
    } else {
        Some(command)
    }
}

/// Returns what a shell runs: the text after `-c`. Nothing for a script file or without a script. `words` follow the
/// shell's name.
fn script_of_shell<'c>(words: &[&'c str]) -> Inner<'c> {
    let mut has_c = false;
    let mut index = 0;
    // Options may appear between `-c` and the script.
    while let Some(option) = words
        .get(index)
        .and_then(|word| word.strip_prefix(['-', '+']))
    {
        // A long option, such as `--norc`, is not a group of letters.
        let has = |letter| !option.starts_with('-') && option.contains(letter);
        has_c |= has('c');
        // `-o pipefail`, `-O extglob`, `-ceuo pipefail`
        index += 1 + usize::from(has('o') || has('O'));
    }
    match words.get(index..) {
        Some([text, arguments @ ..]) if has_c => Inner::Script {
            text,
            arguments: arguments.to_vec(),
        },
        _ => Inner::Nothing,
    }
}

/// Returns the command that `python3 -m MODULE ARGUMENTS` stands for: the module, such as `pip`, which presets know as
/// a program, and its arguments. `words` follow the name. None for another program, and without `-m`.
fn module_of_python<'c>(name: &str, words: &[&'c str]) -> Option<Vec<&'c str>> {
    let version = name.strip_prefix("python").or(name.strip_prefix("pypy"))?;
    if !version.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let mut unread = words;
    loop {
        let (option, after) = unread.split_first()?;
        let letters = option.strip_prefix('-')?;
        // The first letter that takes a value. A lone `-`, or the second dash of a long option, ends the search.
        let Some(decisive) = letters.find(['c', 'm', 'W', 'X', '-']) else {
            unread = if letters.is_empty() { &[] } else { after };
            continue;
        };
        let value = &letters[decisive + 1..];
        match (letters.as_bytes()[decisive], value) {
            // `-Xdev`, or `-X dev`
            (b'W' | b'X', _) => unread = after.get(usize::from(value.is_empty())..)?,
            // `-Im pip`
            (b'm', "") => {
                let (module, arguments) = after.split_first()?;
                return Some([&[program_of_module(module)], arguments].concat());
            }
            // `-mpip`
            (b'm', module) => return Some([&[program_of_module(module)], after].concat()),
            _ => return None,
        }
    }
}

/// Returns the program that presets know for a Python module. Only that of `build` has another name.
fn program_of_module(module: &str) -> &str {
    if module == "build" {
        "pyproject-build"
    } else {
        module
    }
}

/// Returns the words after options and their values, or None if the value of the last option is missing.
fn skip_options<'w, 'c>(
    mut words: &'w [&'c str],
    letters: &str,
    long_names: &str,
) -> Option<&'w [&'c str]> {
    while let Some((word, after)) = words.split_first() {
        let value_follows = match word.strip_prefix('-') {
            None => return Some(words),
            // `--` ends the options.
            Some("-") => return Some(after),
            Some(option) => match option.strip_prefix('-') {
                // `--name=value` contains its value, so it is not in the list.
                Some(name) => lists(long_names, name),
                // `-n5` contains its value, because the letter is not the last one. `env -` has no letter.
                None => option
                    .find(|letter| letters.contains(letter))
                    .is_some_and(|index| index + 1 == option.len()),
            },
        };
        words = after.get(usize::from(value_follows)..)?;
    }
    Some(words)
}

/// Skips leading assignments, as in `A=b curl`. After any wrapper, although only some take them, because no program has
/// a name with `=`.
fn skip_assignments<'w, 'c>(words: &'w [&'c str]) -> &'w [&'c str] {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    &words[count..]
}

/// Returns true for `NAME=value`, with any value.
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns the name at the beginning of what follows a `$`: `A` for `{A:-x}`. Empty if there is none.
pub(super) fn variable_name(behind: &str) -> &str {
    let name = behind.strip_prefix('{').unwrap_or(behind);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &name[..end.unwrap_or(name.len())]
}

/// Returns true if a list of words, separated by spaces, contains this one.
pub(super) fn lists(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
#[path = "tests/program.rs"]
mod tests;
