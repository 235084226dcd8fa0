//! What is printed for those who read: `-h`, `--help`, sections, `--version`, presets.

use crate::common::options::{OPTIONS, Takes};
use crate::common::pty::Terminal;
use crate::common::{BIN, backoff, ran, run};

const SECTIONS: [&str; 7] = ["time", "wait", "judge", "streams", "protect", "say", "other"];

fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// The words alone, wherever lines end.
fn unbroken(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// What a terminal of this width is shown, with its lines' ends as they were written.
fn on_a_terminal(columns: u16, setting: &str, args: &str) -> String {
    let script = format!("stty cols {columns}; {setting} {} {args}", *BIN);
    Terminal::start("sh", ["-c", &script]).rest().replace("\r\n", "\n")
}

#[test]
fn the_summary_fits_a_screen() {
    let help = run!("-h").expect_code(0).expect_silence().stdout;
    assert!(help.lines().count() <= 25 && width(&help) <= 80, "{help}");
    let examples = help.lines().filter(|line| line.starts_with("  backoff ")).count();
    let options: Vec<&str> = help
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('-'))
        .collect();
    assert_eq!((examples, options.len()), (3, 12), "{help}");
    for part in [
        "Runs COMMAND",
        "Usage: backoff ",
        "--help SECTION",
        "man backoff",
        "[default: 5]",
    ] {
        assert!(help.contains(part), "no {part:?} in {help}");
    }
    // What stands before and after it does not matter.
    for line in ["-n 3 -h", "-qh", "-h time", "-h -- true", "-h --no-such"] {
        assert_eq!(ran(line).expect_code(0).stdout, help, "{line}");
    }
}

#[test]
fn examples_of_the_summary_are_command_lines_that_backoff_takes() {
    let help = run!("-h").stdout;
    for line in help.lines().filter_map(|line| line.strip_prefix("  backoff ")) {
        let words = line.split(" # ").next().unwrap().trim();
        run!("--plan {..}", words).expect_code(0);
    }
}

#[test]
fn help_names_every_option_and_its_heading() {
    let help = run!("--help").expect_code(0).expect_silence().stdout;
    assert!(width(&help) <= 80, "{help}");
    for opt in OPTIONS.iter() {
        let name = help.lines().any(|line| {
            let names = line.trim_start();
            names.starts_with('-') && names.split([' ', '[']).any(|word| word == format!("--{}", opt.long))
        });
        assert!(name && help.contains(&opt.heading), "{}", opt.long);
        if let Takes::Word(words) = &opt.takes {
            for word in words {
                assert!(help.contains(word), "--{} {word}", opt.long);
            }
        }
    }
    assert!(help.contains("--stdout stream|final|success|failure|null\n"), "{help}");
}

#[test]
fn a_section_is_a_part_of_all() {
    let all = run!("--help").stdout;
    let mut found = 0;
    for section in SECTIONS {
        let text = run!("--help {}", section).expect_code(0).expect_silence().stdout;
        assert!(all.contains(&text), "{section}: {text}");
        let heading = text.lines().next().unwrap();
        assert!(heading.ends_with(&format!(" ({section})")), "{heading}");
        for opt in OPTIONS.iter() {
            let is_here = text.contains(&format!("--{}", opt.long)) && opt.heading == heading;
            found += usize::from(is_here);
        }
        assert_eq!(run!("--help={}", section).expect_code(0).stdout, text);
        assert_eq!(run!("-n 3 --help {} -- true", section).stdout, text);
    }
    assert_eq!(found, OPTIONS.len());
}

#[test]
fn a_word_after_help_is_a_section_and_no_command() {
    for (words, says) in [
        ("--help tiem", "did you mean \"time\"?"),
        ("--help=stream", "did you mean \"streams\"?"),
        (
            "--help echo started",
            "is neither an option nor one of time, wait, judge, streams, protect, say, other",
        ),
        ("--help timout", "did you mean \"timeout\"?"),
        ("--help ''", "is neither an option nor one of time"),
    ] {
        let shown = ran(words).expect_code(125).expect_stderr(says);
        assert!(
            shown.stdout.is_empty() && shown.stderr.lines().count() == 1,
            "{shown:?}"
        );
    }
    let all = run!("--help").stdout;
    for words in ["--help -- echo started", "--help -n 3 echo", "--help --no-such"] {
        assert_eq!(ran(words).expect_code(0).stdout, all, "{words}");
    }
    let one = run!("--help timeout").expect_code(0).stdout;
    assert!(one.starts_with("  -t, --timeout ") && all.contains(&one), "{one}");
    // Here it is a value, and here the command's.
    run!("--label=--help -- echo started").expect_code(0).expect_silence();
    assert_eq!(run!("echo --help time").stdout, "--help time\n");
}

#[test]
fn help_is_as_wide_as_the_terminal_and_breaks_no_word() {
    let plain = run!("--help").stdout;
    let summary = run!("-h").stdout;
    for columns in [20, 40, 79, 100, 132] {
        let shown = on_a_terminal(columns, "TERM=dumb", "--help");
        assert_eq!(unbroken(&shown), unbroken(&plain), "{columns}");
        let columns = usize::from(columns);
        for line in shown.lines().filter(|line| line.chars().count() > columns) {
            assert_eq!(line.split_whitespace().count(), 1, "{columns}: {line}");
        }
        assert!(
            columns < 79 || width(&shown) > columns - 12,
            "{columns}: {}",
            width(&shown)
        );
        let shown = on_a_terminal(columns as u16, "TERM=dumb", "-h");
        assert!(columns < 79 || width(&shown) <= columns, "{shown}");
        // Comments of examples are left out where there is no room for them.
        assert!(columns < 79 || unbroken(&shown) == unbroken(&summary), "{shown}");
    }
}

#[test]
fn help_is_coloured_on_a_terminal_alone() {
    for word in ["-h", "--help", "--help say"] {
        let coloured = |setting: &str, word: &str| on_a_terminal(80, setting, word).contains('\x1b');
        assert!(coloured("TERM=xterm", word), "{word}");
        assert!(!coloured("TERM=dumb", word), "{word}");
        assert!(!coloured("TERM=xterm NO_COLOR=1", word), "{word}");
        assert!(!coloured("TERM=xterm BACKOFF_COLOR=never", word), "{word}");
        assert!(!coloured("TERM=xterm", &format!("--color never {word}")), "{word}");
        let plain = run(backoff(word).env("TERM", "xterm")).stdout;
        assert!(!plain.contains('\x1b'), "{word}");
        let forced = run(backoff(word).env("CLICOLOR_FORCE", "1")).stdout;
        assert!(forced.contains("\x1b[1m") && forced.contains("\x1b[36m"), "{word}");
        assert!(run!("--color always {..}", word).stdout.contains('\x1b'), "{word}");
        let uncoloured = forced
            .replace("\x1b[1m", "")
            .replace("\x1b[36m", "")
            .replace("\x1b[0m", "");
        assert_eq!(uncoloured, plain);
    }
}

#[test]
fn the_version_comes_first_and_then_what_it_was_built_for() {
    for word in ["-V", "--version"] {
        let shown = run!("{}", word).expect_code(0).expect_silence().stdout;
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], concat!("backoff ", env!("CARGO_PKG_VERSION")));
        let value = |name: &str| {
            let line = lines.iter().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("no {name} in {shown}")).to_owned()
        };
        assert!(value("target: ").starts_with(std::env::consts::ARCH), "{shown}");
        assert!(
            value("libc: ").ends_with("static") || value("libc: ").ends_with("dynamic"),
            "{shown}"
        );
        assert!(!value("features: ").is_empty(), "{shown}");
        assert_eq!(lines.len(), 4);
    }
}

#[test]
fn presets_are_a_table_of_80_columns() {
    let shown = run!("--list-presets").expect_code(0).expect_silence().stdout;
    assert!(width(&shown) <= 80, "{shown}");
    for name in ["curl", "ssh", "rsync", "apt", "network", "ansible-playbook"] {
        assert!(shown.lines().any(|line| line.split(' ').next() == Some(name)), "{name}");
    }
    assert!(shown.contains("--list-presets NAME"), "{shown}");
}

#[test]
fn the_rules_of_a_preset_can_be_read() {
    let curl = run!("--list-presets curl").expect_code(0).expect_silence().stdout;
    for part in [
        "curl: exit codes of curl",
        "\nretry     exit   16,92\n          from   curl(1) EXIT CODES: HTTP/2\n",
        "\nrefused   exit   22\n          match  ^curl: \\(22\\) The requested URL returned error: 429\\b\n",
        "\nstop      exit   35,56\n",
        "nothing was done",
    ] {
        assert!(curl.contains(part), "no {part:?} in {curl}");
    }
    // By the name of a program, with what it includes, and several of them.
    let apt = run!("--list-presets apt-get").expect_code(0).stdout;
    assert!(apt.starts_with("apt: "), "{apt}");
    assert_eq!(run!("--list-presets apt-get curl").stdout, apt + &curl);
    let git = run!("--list-presets git").stdout;
    assert!(git.contains("git-lfs lfshttp"), "{git}");
    run!("--list-presets curl crul").expect_code(125).expect_stderr(
        "--list-presets: \"crul\" names no preset; --list-presets alone shows them; did you mean \"curl\"?",
    );
    run!("--list-presets=curl")
        .expect_code(125)
        .expect_stderr("try --list-presets curl");
}

#[test]
fn very_verbose_shows_the_rules_of_presets() {
    let shown = run!("-vv --for curl,flock -- true").expect_code(0);
    for line in [
        "backoff: for curl = retry exit 16,92 (curl(1) EXIT CODES: HTTP/2)\n",
        "backoff: for flock = retry exit 75 (flock(1) -E; seen: flock -n -E 75)\n",
        "backoff: for curl = refused exit 22, match ^curl: \\(22\\) The requested URL returned error: 429\\b (",
    ] {
        assert!(shown.stderr.contains(line), "no {line:?} in {shown:#?}");
    }
    let shown = run!("-v --for curl -- true");
    assert!(!shown.stderr.contains("for curl"), "{shown:?}");
    run!("-vv --for auto -- /usr/bin/env -- flock -V").expect_stderr("backoff: for flock = retry exit 75 ");
}

#[test]
fn the_manual_enumerates_with_commas() {
    let page = run!("--generate man").stdout;
    // Names of options in a row, each in a line or in quotes of its own.
    let lines: Vec<&str> = page.lines().collect();
    for pair in lines.windows(2) {
        let name = |line: &str| line.strip_prefix(".B \\-\\-").is_some_and(|rest| !rest.contains(' '));
        assert!(!(name(pair[0]) && name(pair[1])), "{pair:?}");
    }
    let sentence = ".BR \\-\\-timeout \", \" \\-\\-idle\\-timeout \" or \" \\-\\-deadline\nhas passed";
    assert!(page.contains(sentence));
}
