//! Programs that run another one: which program a command comes to in the end.

use std::path::Path;

use super::shell_words::shell_word;

/// A program that runs the command that follows its own options and operands.
struct Runner {
    name: &'static str,
    /// Its options that take a value.
    letters: &'static str,
    long: &'static [&'static str],
    /// How many words stand between the options and the command.
    operands: usize,
}

const fn runner(name: &'static str, letters: &'static str, long: &'static [&'static str], operands: usize) -> Runner {
    Runner {
        name,
        letters,
        long,
        operands,
    }
}

/// From the manuals of sudo 1.9, doas(1), GNU coreutils 9, util-linux 2.39, GNU time 1.9, npx(1), POSIX.
const RUNNERS: &[Runner] = &[
    runner(
        "sudo",
        "CDghpRrTtUu",
        &[
            "--chdir",
            "--chroot",
            "--close-from",
            "--command-timeout",
            "--group",
            "--host",
            "--other-user",
            "--prompt",
            "--role",
            "--type",
            "--user",
        ],
        0,
    ),
    runner("doas", "aCu", &[], 0),
    runner("env", "aCSu", &["--argv0", "--chdir", "--split-string", "--unset"], 0),
    runner("nice", "n", &["--adjustment"], 0),
    runner(
        "ionice",
        "cnpPu",
        &["--class", "--classdata", "--pid", "--pgid", "--uid"],
        0,
    ),
    runner("timeout", "ks", &["--kill-after", "--signal"], 1),
    runner("time", "fo", &["--format", "--output"], 0),
    runner("nohup", "", &[], 0),
    runner("setsid", "", &[], 0),
    runner("stdbuf", "eio", &["--error", "--input", "--output"], 0),
    runner(
        "chrt",
        "DPT",
        &["--sched-deadline", "--sched-period", "--sched-runtime"],
        1,
    ),
    runner("taskset", "", &[], 1),
    runner("command", "", &[], 0),
    runner("exec", "a", &[], 0),
    runner("busybox", "", &[], 0),
    runner("toybox", "", &[], 0),
    runner("npx", "cpw", &["--call", "--package", "--workspace"], 0),
    runner("pnpx", "", &["--package"], 0),
    runner("bunx", "p", &["--package"], 0),
    runner("uvx", "cpw", &["--from", "--python", "--with"], 0),
];

const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh"];

/// What a shell may act on; a command without them is its words.
const METACHARACTERS: &[char] = &[
    '|', '&', ';', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '\n', '*', '?', '[', '#', '~', '{', '}', '!',
];

/// No command is wrapped more often.
pub(crate) const DEEPEST: usize = 16;

/// Shells that read nothing before a command of `-c`, unless a variable tells them to.
const PLAIN_SHELLS: &[&str] = &["sh", "bash", "dash", "ash"];

/// Programs that look for the command as a shell does: in PATH as it is, as the same user, in the same directory.
const PLAIN_RUNNERS: &[&str] = &[
    "nice", "ionice", "timeout", "time", "nohup", "setsid", "stdbuf", "chrt", "taskset",
];

/// The same, as long as they have no options; of `env` some are known.
const PLAIN_WITHOUT_OPTIONS: &[&str] = &["env", "command", "exec"];

/// The command that a program of this name runs, given these words.
pub(crate) fn behind<'a>(name: &str, words: &[&'a str]) -> Option<Vec<&'a str>> {
    if SHELLS.contains(&name) {
        return of_shell(words);
    }
    let runner = RUNNERS.iter().find(|runner| runner.name == name)?;
    let rest = runner.after_options(words)?;
    let rest = after_assignments(rest).get(runner.operands..)?;
    // `command -v` only looks for it.
    let is_run = name != "command"
        || !words
            .iter()
            .take_while(|word| word.starts_with('-'))
            .any(|word| word.contains(['v', 'V']));
    is_run.then(|| rest.to_vec())
}

impl Runner {
    fn after_options<'w, 'a>(&self, mut words: &'w [&'a str]) -> Option<&'w [&'a str]> {
        while let Some((word, rest)) = words.split_first() {
            let takes_next = match word.strip_prefix('-') {
                None => return Some(words),
                // `env -`
                Some("") => false,
                Some("-") => return Some(rest),
                Some(long) if long.starts_with('-') => self.long.contains(word),
                // The value may stand in the same word.
                Some(letters) => letters.find(|letter| self.letters.contains(letter)) == Some(letters.len() - 1),
            };
            words = rest.get(usize::from(takes_next)..)?;
        }
        Some(words)
    }

    /// Whether it is sure where its options end: a long name may be cut short, and have its value in the next word.
    fn knows_options_of(&self, words: &[&str]) -> bool {
        let after = self.after_options(words).map_or(0, <[&str]>::len);
        let mut options = words[..words.len() - after].iter();
        options.all(|word| !word.starts_with("--") || *word == "--" || word.contains('=') || self.long.contains(word))
    }
}

/// `A=b curl`
fn after_assignments<'w, 'a>(words: &'w [&'a str]) -> &'w [&'a str] {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_assignment = |word: &&&str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    &words[words.iter().take_while(is_assignment).count()..]
}

/// `-c 'curl -fsS URL'`: one simple command, without anything that a shell would act on.
fn of_shell<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut words = words.iter();
    loop {
        let word = words.next()?;
        let letters = word.strip_prefix(['-', '+'])?;
        match letters {
            _ if letters.starts_with('-') => {}
            _ if letters.contains('c') => break,
            _ if letters.ends_with(['o', 'O']) => drop(words.next()),
            _ => {}
        }
    }
    let script: &str = words.find(|word| !word.starts_with(['-', '+']))?;
    if script.contains(METACHARACTERS) {
        return None;
    }
    let words: Vec<&str> = script.split_whitespace().collect();
    Some(after_assignments(&words).to_vec())
}

/// The programs that a command names beside the first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Inner<'a> {
    /// In the order in which they are started.
    pub(crate) names: Vec<&'a str>,
    /// A shell is among those that look for them.
    pub(crate) in_a_shell: bool,
    /// They may be looked for without PATH (`env -i`).
    pub(crate) path_is_unset: bool,
    /// The file that a shell is to read in the end (`sh FILE`).
    pub(crate) script: Option<&'a str>,
}

/// Which other programs this command has to find, if that is beyond doubt: each of them by PATH as the command has it.
pub(crate) fn looked_for<'a>(command: &[&'a str]) -> Option<Inner<'a>> {
    let mut words = command.to_vec();
    let mut inner = Inner::default();
    let mut has_built_ins = false;
    for depth in 0..DEEPEST {
        let (word, rest) = words.split_first()?;
        if word.contains('=') {
            // `A+=b`, `env A.B=c`: hardly a program's name.
            return None;
        }
        let is_built_in = has_built_ins && shell_word(word).is_some();
        if depth > 0 && !is_built_in {
            inner.names.push(word);
        }
        let name = Path::new(word).file_name()?.to_str()?;
        let is_shell = SHELLS.contains(&name);
        let is_runner = RUNNERS.iter().any(|runner| runner.name == name);
        if !is_shell && !is_runner {
            // What a shell does itself may end so as well.
            return (depth > 0 && !is_built_in).then_some(inner);
        }
        inner.in_a_shell |= is_shell;
        inner.path_is_unset |= name == "env" && rest.first().is_some_and(|word| word.starts_with('-'));
        inner.script = script(name, rest);
        if inner.script.is_some() {
            return Some(inner);
        }
        if !is_plain(name, rest) {
            return None;
        }
        // `exec cd` looks for a program.
        has_built_ins = is_shell || has_built_ins && is_built_in && name != "exec";
        words = behind(name, rest)?;
    }
    None
}

/// Whether a wrapper with these words is sure to look for the command in PATH as it is.
fn is_plain(name: &str, words: &[&str]) -> bool {
    if PLAIN_SHELLS.contains(&name) {
        return match words {
            [options, script, ..] => {
                let letters = options.strip_prefix('-').unwrap_or_default();
                let is_alone = letters.contains('c') && letters.chars().all(|letter| "ceux".contains(letter));
                let is_plain_text = |c: char| !c.is_whitespace() || matches!(c, ' ' | '\t');
                let words: Vec<&str> = script.split_whitespace().collect();
                is_alone && !script.starts_with(['-', '+']) && script.chars().all(is_plain_text) && keeps_path(&words)
            }
            _ => false,
        };
    }
    if name == "env" {
        return after_options_of_env(words).is_some_and(keeps_path);
    }
    if PLAIN_WITHOUT_OPTIONS.contains(&name) {
        return words.first().is_some_and(|word| !word.starts_with('-')) && keeps_path(words);
    }
    let runner = RUNNERS.iter().find(|runner| runner.name == name);
    runner.is_some_and(|runner| PLAIN_RUNNERS.contains(&name) && runner.knows_options_of(words))
}

/// `sh -eu FILE`
fn script<'a>(name: &str, words: &[&'a str]) -> Option<&'a str> {
    let is_plain = |word: &&&str| word.len() > 1 && word.strip_prefix('-').is_some_and(has_only_simple_letters);
    let file = words[words.iter().take_while(is_plain).count()..].first()?;
    let is_file = !file.is_empty() && !file.starts_with(['-', '+']);
    (is_file && PLAIN_SHELLS.contains(&name)).then_some(file)
}

fn has_only_simple_letters(options: &str) -> bool {
    options.chars().all(|letter| "eux".contains(letter))
}

/// After `-i` and `-u NAME`. None where there are other options.
fn after_options_of_env<'w, 'a>(mut words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    loop {
        words = match words {
            ["-u" | "--unset", _, rest @ ..] | ["-" | "-i" | "--ignore-environment", rest @ ..] => rest,
            [word, rest @ ..] if word.starts_with("--unset=") => rest,
            [word, ..] if word.starts_with('-') => return None,
            [_, ..] => return Some(words),
            [] => return None,
        }
    }
}

/// Whether no assignment in front of the command changes where programs are looked for.
fn keeps_path(words: &[&str]) -> bool {
    let assignments = &words[..words.len() - after_assignments(words).len()];
    let changes = |word: &&str| ["PATH=", "BASH_ENV="].iter().any(|name| word.starts_with(name));
    !assignments.iter().any(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script, which is the last, in brackets.
    fn names(line: &str) -> Option<String> {
        let words = shlex::split(line).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let inner = looked_for(&words)?;
        let script = inner.script.map(|script| format!("[{script}]"));
        let names: Vec<&str> = inner.names.into_iter().chain(script.as_deref()).collect();
        Some(names.join(" "))
    }

    #[test]
    fn what_is_looked_for() {
        for (line, expected) in [
            ("sh -c x", "x"),
            ("sh -c './x y'", "./x"),
            ("bash -euc 'A=b x y' name", "x"),
            ("/bin/sh -c 'exec x'", "x"),
            ("sh -c 'command x'", "x"),
            ("sh -c 'exec cd'", "cd"),
            ("env x y", "x"),
            ("env A=b x", "x"),
            ("timeout -k 1 5 x", "x"),
            ("timeout --kill-after 1 --signal=INT 5 x", "x"),
            ("timeout -s INT -- 5 x --long", "x"),
            ("timeout 5 x --long y", "x"),
            ("nice -n 5 env A=b x", "env x"),
            ("sh -c 'timeout 5 sh -c x'", "timeout sh x"),
            ("timeout 5 cd /", "cd"),
            ("env -i -u y --unset z --unset=z A=b x", "x"),
            ("env - x", "x"),
            ("env A=b -i x", "-i"),
            ("sh x", "[x]"),
            ("bash -e -ux ./x -y", "[./x]"),
            ("env -i timeout 5 sh -c 'dash x'", "timeout sh dash [x]"),
        ] {
            assert_eq!(names(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_is_not_certain() {
        for line in [
            "x",
            "x y",
            "sh",
            "sh -s x",
            "sh -",
            "bash -o x y",
            "zsh x",
            "sh -c ''",
            "sh -lc x",
            "bash -c --norc x",
            "bash --norc -c x",
            "zsh -c x",
            "sh -c 'x | y'",
            "sh -c 'x; y'",
            "sh -c '$x'",
            "sh -c 'x\u{a0}y'",
            "sh -c 'PATH=/x y'",
            "sh -c 'wait 99'",
            "sh -c 'command wait 99'",
            "sh -c '. ./x'",
            "sh -c 'command -p x'",
            "env",
            "env -iv x",
            "env -C y x",
            "env -S x",
            "env -i PATH=y x",
            "env -u",
            "env PATH=/y x",
            "env BASH_ENV=y bash -c x",
            "sudo x",
            "sudo -u y x",
            "npx x",
            "busybox x",
            "sh -c 'sudo x'",
            "timeout 5",
            "timeout --sig TERM 5 x",
            "env A.B=c x",
            "bash -c 'A+=b x'",
        ] {
            assert_eq!(names(line), None, "{line}");
        }
    }
}
