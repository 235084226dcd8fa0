//! Completion in real shells.

use crate::util::pty::Terminal;
use crate::util::{Ends, clean, path_with_backoff, within};

tests! {
    bash_completes ["bash"]
    zsh_completes ["zsh"]
    fish_completes ["fish"]
}

/// What is typed after `backoff`, and how the completed line ends.
const COMPLETED: &[(&str, &str)] = &[
    // Options, only before the command.
    ("--att", "--attempts"),
    ("-n 3 --timeo", "--timeout"),
    ("-n3 --retry-after --timeo", "--timeout"),
    // The command.
    ("unshar", "unshare"),
    ("-- unshar", "unshare"),
    ("-n3 unshar", "unshare"),
    ("-n 3 --base 1s -qj full unshar", "unshare"),
    ("--base=1s unshar", "unshare"),
    ("--store redis://host:1/2 unshar", "unshare"),
    ("--retry-after unshar", "unshare"),
    ("--retry-after=1m -- unshar", "unshare"),
    // Arguments of the command.
    ("-n 3 cat /etc/hostn", "/etc/hostname"),
    ("-- cat /etc/hostn", "/etc/hostname"),
    // Values.
    ("--jitter dec", "decorrelated"),
    ("--jitter=ful", "full"),
    ("-qj ful", "full"),
    ("-g lin", "linear"),
    ("--until nev", "never"),
    ("--stdin rep", "replay"),
    ("--stdout fin", "final"),
    ("--stderr fai", "failure"),
    ("--match-on bo", "both"),
    ("--nested on", "once"),
    ("--idempotent n", "no"),
    ("--color=alw", "always"),
    ("--log-format js", "json"),
    ("--generate complete-z", "complete-zsh"),
    ("--for ansib", "ansible-playbook"),
    ("--for=cur", "curl"),
    ("--for curl,ansib", "curl,ansible-playbook"),
    ("--list-presets ansib", "ansible-playbook"),
    ("--list-presets curl ansib", "ansible-playbook"),
    ("--list-presets -q curl git ansib", "ansible-playbook"),
    ("--list-presets -- curl ansib", "ansible-playbook"),
    ("--list-presets --for cur", "curl"),
    ("--help str", "streams"),
    ("-s TER", "TERM"),
    ("-sTER", "-sTERM"),
    ("--signal=TER", "TERM"),
    ("-e timeout,HU", "timeout,HUP"),
    ("--stop-exit=time", "timeout"),
    ("--for aut", "auto"),
    ("--for curl,aut", "curl,auto"),
    ("--config other.toml -p thei", "theirs"),
    ("--config=other.toml -n 3 --policy thei", "theirs"),
    ("--help exam", "examples"),
    ("--help hoo", "hooks"),
    ("-p cro", "cron"),
    ("-p min", "mine"),
    ("--policy=min", "mine"),
    ("--log-file /etc/hostn", "/etc/hostname"),
];

/// Like [`COMPLETED`], in a shell with a completion for `tool`.
const COMPLETED_BY_TOOL: &[(&str, &str)] = &[
    ("tool che", "checkout"),
    ("-- tool che", "checkout"),
    ("-n 3 tool che", "checkout"),
    ("-n3 tool che", "checkout"),
    ("-qn 3 tool che", "checkout"),
    ("-n 3 -- tool che", "checkout"),
    ("--for curl,apt --base=1s tool che", "checkout"),
];

/// Lines that are not completed. After the command there are no options of backoff, and files are offered only where
/// one is expected. The directory contains a file `full-disk`.
const LEFT_ALONE: &[&str] = &[
    "tool --att",
    "-- --att",
    "-- tool --att",
    "-- -",
    "--list-presets unshar",
    "--list-presets curl unshar",
    "--list-presets -- unshar",
    "--help unshar",
    "-n 3 tool --att",
    "-n ful",
    "--base=ful",
];

fn completions(file: &str) -> String {
    format!("{}/completions/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns a directory with a file `full-disk`, and with two config files that have a policy each.
fn place() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(within(&dir, "backoff")).unwrap();
    std::fs::write(
        within(&dir, "backoff/config.toml"),
        "[policy.mine]\nattempts = 3\n",
    )
    .unwrap();
    std::fs::write(
        within(&dir, "other.toml"),
        "[policy.theirs]\nattempts = 3\n",
    )
    .unwrap();
    std::fs::write(within(&dir, "full-disk"), "").unwrap();
    dir
}

/// Returns true if a displayed line ends with this word, apart from a suffix that more typing would remove.
fn ends(shown: &str, word: &str) -> bool {
    shown
        .trim_end_matches([' ', '=', ',', '\u{7}', '\u{8}'])
        .ends_with(word)
}

fn bash_completes() {
    // With and without the bash-completion library (if installed), and with and without `=` as a word break.
    for library in ["/usr/share/bash-completion/bash_completion", "/dev/null"] {
        for breaks in ["$COMP_WORDBREAKS", "${COMP_WORDBREAKS//=/}"] {
            bash_completes_with(library, breaks);
        }
    }
}

fn bash_completes_with(library: &str, breaks: &str) {
    let dir = place();
    let mut bash = Terminal::start("bash", &["--norc", "--noprofile", "-i"]);
    bash.expect("prompt> ");
    let setup = [
        "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'",
        &format!(
            "source {library}; source {}; COMP_WORDBREAKS={breaks}",
            completions("backoff.bash")
        ),
        &format!(
            "unset BACKOFF_CONFIG; cd {0}; export XDG_CONFIG_HOME={0}",
            dir.path().display()
        ),
        "complete -W checkout tool; PS1=go\"\":",
    ];
    bash.command(&setup.join("; "));
    // From now on bash edits the line.
    bash.expect("go:");
    let mut type_line = |line: &str, expected: &str| {
        bash.send(&format!("\x15backoff {line}\t@"));
        let shown = bash.expect("@");
        assert!(
            ends(&shown, expected),
            "{library}, {breaks}: {line:?} became {shown:?}"
        );
    };
    for (line, word) in COMPLETED {
        type_line(line, word);
    }
    let has_library = std::path::Path::new(library).is_file();
    for (line, word) in COMPLETED_BY_TOOL.iter().filter(|_| has_library) {
        type_line(line, word);
    }
    for line in LEFT_ALONE {
        type_line(line, line);
    }
}

fn zsh_completes() {
    let dir = place();
    let alone = LEFT_ALONE.iter().map(|line| (*line, *line));
    let lines: Vec<_> = COMPLETED
        .iter()
        .chain(COMPLETED_BY_TOOL)
        .copied()
        .chain(alone)
        .collect();
    let mut script = format!(
        // Once the prompt appears, zsh edits the line.
        "zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z 'fpath=({} $fpath); autoload -U compinit; compinit -u -D; \
         bindkey \"^I\" complete-word; unsetopt auto_menu; _tool() {{ compadd checkout }}; compdef _tool tool; \
         PS1=\"go\"\":\"'; zpty -r -m z x '*go:*'
         complete() {{ zpty -w -n z $'\\x15'\"backoff $1\"$'\\t@'; zpty -r -m z x '*@'; print -rn -- \"$x\" }}\n",
        completions("").trim_end_matches('/')
    );
    for (line, _) in &lines {
        script += &format!("complete '{line}'\n");
    }
    let mut command = clean("zsh");
    command.args(["-f", "-c", &script]).current_dir(dir.path());
    command.env("TERM", "dumb").env("PATH", path_with_backoff());
    command
        .env("XDG_CONFIG_HOME", dir.path())
        .env_remove("BACKOFF_CONFIG");
    let shown = command.code(0).out();
    let shown: Vec<&str> = shown.split_terminator('@').collect();
    assert_eq!(shown.len(), lines.len(), "{shown:?}");
    for (shown, (line, word)) in shown.into_iter().zip(lines) {
        assert!(ends(shown, word), "{line:?} became {shown:?}");
    }
}

fn fish_completes() {
    let dir = place();
    for (line, word) in COMPLETED.iter().chain(COMPLETED_BY_TOOL) {
        let shown = fish_replies(&dir, line);
        let mut words = shown.lines().filter_map(|reply| reply.split('\t').next());
        assert!(
            words.any(|reply| reply.contains(word)),
            "no {word:?} for {line:?} in {shown:?}"
        );
    }
    for line in LEFT_ALONE {
        assert_eq!(fish_replies(&dir, line), "", "{line}");
    }
}

/// Returns what fish offers for the last word: one completion per line, with a tab before its description.
fn fish_replies(dir: &tempfile::TempDir, line: &str) -> String {
    let script = format!(
        "source {}; complete -c tool -f -a checkout; complete -C 'backoff {line}'",
        completions("backoff.fish")
    );
    let mut fish = clean("fish");
    fish.args(["--no-config", "-c", &script])
        .current_dir(dir.path())
        .env("HOME", dir.path())
        .env("XDG_CONFIG_HOME", dir.path())
        .env("PATH", path_with_backoff())
        .env_remove("BACKOFF_CONFIG");
    fish.code(0).out()
}
