//! Which program a command runs in the end, for `--for auto`: behind `sudo`, `env`, `timeout`, `sh -c` and their like.
//!
//! Only names decide. Where a word is not understood, the program found so far stands.

use std::ffi::OsString;
use std::path::Path;

use crate::config::presets;

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
const DEEPEST: usize = 16;

/// The program in the end, or one before it that has a preset itself: the name by which presets are looked for, and its
/// arguments.
pub(super) fn in_the_end(command: &[OsString]) -> Vec<&str> {
    let mut words: Vec<&str> = command.iter().map(text).collect();
    let mut last_known = None;
    for _ in 0..DEEPEST {
        let Some(first) = words.first_mut() else { break };
        *first = name(first);
        let name = *first;
        let inner = behind(name, &words[1..]).filter(|inner| !inner.is_empty());
        if presets::is_known(name) {
            last_known = Some(words.clone());
        }
        match inner {
            Some(inner) => words = inner,
            None => break,
        }
    }
    last_known.unwrap_or(words)
}

/// Of a path that is no text the file name, if that is; else what can be read of it.
fn text(word: &OsString) -> &str {
    let name = || Path::new(word).file_name().and_then(|name| name.to_str());
    let is_option = word.as_encoded_bytes().starts_with(b"-");
    // There is one command, and it lasts as long as the run.
    let readable = || &*word.to_string_lossy().into_owned().leak();
    word.to_str()
        .or_else(|| name().filter(|_| !is_option))
        .unwrap_or_else(readable)
}

/// The file's name, without a version where only so there is a preset: `pip3.11`, `psql-15`.
fn name(word: &str) -> &str {
    let name = Path::new(word)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let plain = name
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
        .trim_end_matches('-');
    let is_versioned = plain != name && !presets::is_known(name) && presets::is_known(plain);
    if is_versioned { plain } else { name }
}

/// The command that a program of this name runs, given these words.
fn behind<'a>(name: &str, words: &[&'a str]) -> Option<Vec<&'a str>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> String {
        let words = shlex::split(line).unwrap();
        let command: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        in_the_end(&command).first().copied().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_program_behind_others() {
        for line in [
            "curl -fsS URL",
            "/usr/bin/curl URL",
            "curl-8.5 URL",
            "sudo curl",
            "sudo -u www -E curl",
            "sudo -uwww A=b curl",
            "sudo --user www -- curl",
            "sudo --user=www curl",
            "doas -u www curl",
            "env A=b C=d curl",
            "env -i -u HOME curl",
            "env - A=b curl",
            "sh -c -- 'curl URL'",
            "sh -c -e 'curl URL'",
            "nice curl",
            "nice -n 5 curl",
            "nice -5 curl",
            "ionice -c 3 curl",
            "ionice -c3 curl",
            "timeout 5 curl",
            "timeout -k 1 -s TERM 5s curl",
            "timeout --kill-after=1 5s curl",
            "time -p curl",
            "time -f %e -o file curl",
            "nohup curl",
            "setsid -w curl",
            "stdbuf -oL curl",
            "stdbuf -o L -e 0 curl",
            "chrt -f 10 curl",
            "taskset -c 0,1 curl",
            "command curl",
            "command -p curl",
            "exec -a name curl",
            "busybox curl",
            "npx -y curl",
            "npx -p curl curl",
            "sh -c 'curl -fsS URL'",
            "bash -lc 'curl URL'",
            "bash -e -o pipefail -c 'A=b exec curl URL'",
            "sudo sh -c 'timeout 5 curl URL'",
            "sudo -n env A=b nice timeout 5 setsid -w curl",
        ] {
            assert_eq!(found(line), "curl", "{line}");
        }
        assert_eq!(found("pip3.11 install x"), "pip");
        assert_eq!(found("psql-15"), "psql");
        // The runner is known itself.
        assert_eq!(found("npx cowsay"), "npx");
    }

    #[test]
    fn words_need_not_be_text() {
        use std::os::unix::ffi::OsStringExt;
        let words = [&b"/\xff/curl"[..], b"-sd\xff", b"--data=\xff/x", b"\xff"];
        let command = words.map(|word| OsString::from_vec(word.to_vec()));
        assert_eq!(
            in_the_end(&command),
            ["curl", "-sd\u{fffd}", "--data=\u{fffd}/x", "\u{fffd}"]
        );
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for (line, name) in [
            ("sh -c 'curl URL | jq'", "sh"),
            ("sh -c 'curl \"$URL\"'", "sh"),
            ("sh -c 'if curl; then x; fi'", "sh"),
            ("sh script curl", "sh"),
            ("sh", "sh"),
            ("sudo", "sudo"),
            ("sudo -u", "sudo"),
            ("timeout 5", "timeout"),
            ("command -v curl", "command"),
            ("env -S 'curl URL'", "env"),
            // Arguments decide nothing.
            ("echo curl", "echo"),
            ("sudo -u curl id", "id"),
            ("timeout curl id", "id"),
            ("my-tool-2.1 curl", "my-tool-2.1"),
        ] {
            assert_eq!(found(line), name, "{line}");
        }
    }
}
