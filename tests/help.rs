//! `-h`, `--help` and its sections, and `--version`.

use crate::util::options::OPTIONS;
use crate::util::pty::Terminal;
use crate::util::{Ends, backoff};

tests! {
    the_summary_fits_a_screen
    help_shows_ten_examples_that_backoff_takes
    help_names_every_option_and_its_heading
    each_option_has_one_line_of_at_most_60_columns
    a_word_after_help_is_a_section_and_no_command
    help_is_coloured_on_a_terminal_alone
    the_version_comes_first_and_then_what_it_was_built_for
}

fn width(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

/// Asserts that a run succeeds, and returns its output.
#[track_caller]
fn shown(line: &str) -> String {
    backoff(line).code(0).out()
}

/// Returns the output on a terminal of this width, with newlines as line ends.
fn on_a_terminal(columns: u16, setting: &str, args: &str) -> String {
    let terminal = Terminal::sh(&format!(
        "stty rows 24 cols {columns}; {setting} backoff {args}"
    ));
    terminal.rest().replace("\r\n", "\n")
}

fn the_summary_fits_a_screen() {
    let help = shown("-h");
    assert!(help.lines().count() <= 25 && width(&help) <= 80, "{help}");
    let examples = help
        .lines()
        .filter(|line| line.starts_with("  backoff "))
        .count();
    let options: Vec<&str> = help
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('-'))
        .collect();
    assert_eq!((examples, options.len()), (3, 12), "{help}");
    for part in [
        "Run COMMAND",
        "failure is retried, up to 5 attempts, unless rules are given.",
        "Usage: backoff ",
        "--help NAME",
        "man backoff",
        "[default: 5]",
    ] {
        assert!(help.contains(part), "no {part:?} in {help}");
    }
    // Words before and after `-h` do not matter.
    for line in ["-n 3 -h", "-qh", "-h time", "-h -- true"] {
        assert_eq!(shown(line), help, "{line}");
    }
}

fn help_shows_ten_examples_that_backoff_takes() {
    let examples = shown("--help examples");
    assert!(
        examples.lines().count() == 10 && width(&examples) <= 80,
        "{examples}"
    );
    for line in examples.lines() {
        let (words, comment) = line.split_once(" # ").expect(line);
        assert!(comment.len() < 40, "{line}");
        let words = words.trim().strip_prefix("backoff ").expect(line);
        shown(&format!("--plan {words}"));
    }
}

fn help_names_every_option_and_its_heading() {
    let help = shown("--help");
    assert!(width(&help) <= 80 && help.lines().count() <= 260, "{help}");
    for opt in OPTIONS.iter() {
        let name = help.lines().any(|line| {
            let names = line.trim_start();
            names.starts_with('-')
                && names
                    .split([' ', '[', '.'])
                    .any(|word| word == format!("--{}", opt.long))
        });
        assert!(
            name && help.contains(&format!("\n{}:\n", opt.heading)),
            "{}",
            opt.long
        );
    }
    assert!(
        help.contains("--stdout <stream|final|success|failure|null>\n"),
        "{help}"
    );
}

/// Shell completions show each line on its own.
fn each_option_has_one_line_of_at_most_60_columns() {
    let help = shown("--help");
    let options = help
        .lines()
        .filter(|line| line.trim_start().starts_with('-'));
    let texts: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("          "))
        .collect();
    assert_eq!(texts.len(), options.count(), "{help}");
    for text in texts {
        assert!(
            text.len() <= 60 && text.starts_with(char::is_uppercase),
            "{text}"
        );
    }
}

fn a_word_after_help_is_a_section_and_no_command() {
    for (words, says) in [
        ("--help tiem", "; tip: try time"),
        ("--help=stream", "; tip: try streams"),
        (
            "--help RETRIES",
            "; tip: try attempts, which counts the first attempt",
        ),
        (
            "--help echo started",
            "is neither an option nor one of time, rules, waits, streams, hooks, budgets, output, other, examples",
        ),
        ("--help timout", "; tip: try timeout"),
        ("--help nope", "; nothing was run"),
    ] {
        backoff(words)
            .code(125)
            .stderr(&format!("backoff: ...{says}...\n"));
    }
    let all = shown("--help");
    assert_eq!(shown("--help -- echo started"), all);
    let one = shown("--help timeout");
    for words in [
        "--help --timeout",
        "--help -t",
        "--help TimeOut",
        "--help BACKOFF_TIMEOUT",
    ] {
        assert_eq!(shown(words), one, "{words}");
    }
    // A line may end anywhere.
    let words: Vec<&str> = one.split_whitespace().collect();
    assert!(
        one.contains("\n  -t, --timeout <DURATION,...>\n")
            && words.join(" ").contains("SIGKILL after --kill-after"),
        "{one}"
    );
    // `--help` is first a value, then an argument of the command.
    assert_eq!(shown("--label=--help -- echo started"), "started\n");
    assert_eq!(shown("echo --help time"), "--help time\n");
}

fn help_is_coloured_on_a_terminal_alone() {
    for word in ["--help", "--help output"] {
        let colored = |setting: &str, word: &str| on_a_terminal(80, setting, word).contains('\x1b');
        assert!(colored("TERM=xterm", word), "{word}");
        assert!(!colored("TERM=dumb", word), "{word}");
        assert!(!colored("TERM=xterm NO_COLOR=1", word), "{word}");
        assert!(
            !colored("TERM=xterm", &format!("--color never {word}")),
            "{word}"
        );
        let plain = backoff(word).env("TERM", "xterm").code(0).out();
        assert!(!plain.contains('\x1b'), "{word}");
        let forced = backoff(word).env("CLICOLOR_FORCE", "1").code(0).out();
        assert!(
            forced.contains("\x1b[1m") && forced.contains("\x1b[36m"),
            "{word}"
        );
        assert!(
            shown(&format!("--color always {word}")).contains('\x1b'),
            "{word}"
        );
        let uncoloured = forced
            .replace("\x1b[1m", "")
            .replace("\x1b[36m", "")
            .replace("\x1b[0m", "");
        assert_eq!(uncoloured, plain);
    }
}

fn the_version_comes_first_and_then_what_it_was_built_for() {
    for word in ["-V", "--version"] {
        let text = shown(word);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], concat!("backoff ", env!("CARGO_PKG_VERSION")));
        let value = |name: &str| {
            let line = lines.iter().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("no {name} in {text}"))
                .to_owned()
        };
        assert!(
            value("libc: ").ends_with("static") || value("libc: ").ends_with("dynamic"),
            "{text}"
        );
        assert!(!value("features: ").is_empty(), "{text}");
        assert_eq!(lines.len(), 3);
    }
}
