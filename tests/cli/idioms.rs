//! Requests in whatever shape of shell they stand: run by the real shells, with programs for curl and wget that record
//! their arguments.

use std::fs;
use std::path::Path;
use std::process::Output;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tempfile::TempDir;

use crate::common::{BIN, Ends, clean, executable, path_with, side_by_side, within, words};

const TABLE: &str = include_str!("../idioms/idioms.tsv");
const PARTS: &str = include_str!("../idioms/parts.txt");

/// Records its arguments: fields end with \037, calls with \036.
const CLIENT: &str = r#"#!/bin/sh
{ printf '%s\037' "${0##*/}" "$@"; printf '\036'; } >>"$CALLS"
exit 28
"#;

/// Runs the command behind its options, as ssh, docker, kubectl and sudo would.
const STAND_INS: [(&str, &str); 5] = [
    (
        "docker",
        r#"#!/bin/sh
shift; while case $1 in -e) shift;; -*) true;; *) false;; esac; do shift; done
image=$1; shift
case $image in *curl*) exec curl "$@";; *) exec "$@";; esac
"#,
    ),
    (
        "kubectl",
        r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done; shift; exec "$@"
"#,
    ),
    (
        "ssh",
        r#"#!/bin/sh
[ "$1" != -p ] || shift 2; shift; [ $# -gt 0 ] || exec sh; exec sh -c "$*"
"#,
    ),
    (
        "sudo",
        r#"#!/bin/sh
while case $1 in -u) shift;; -*) true;; *) false;; esac; do shift; done; [ $# -gt 0 ] || exec sh; exec "$@"
"#,
    ),
    (
        "busybox",
        r#"#!/bin/sh
exec "$@"
"#,
    ),
];

/// A directory with the programs.
fn playground() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("bin")).unwrap();
    for client in ["curl", "wget"] {
        executable(&within(&dir, &format!("bin/{client}")), CLIENT);
    }
    for (name, text) in STAND_INS {
        executable(&within(&dir, &format!("bin/{name}")), text);
    }
    executable(&within(&dir, "bin/podman"), STAND_INS[0].1);
    executable(&within(&dir, "bin/ssh-agent"), "#!/bin/sh\necho A=b\n");
    dir
}

/// A call of a client that was made.
#[derive(Debug)]
struct Call {
    arguments: Vec<String>,
}

impl Call {
    /// Returns true if the call has an Idempotency-Key.
    fn has_key(&self) -> bool {
        let is_key = |argument: &String| argument.to_lowercase().contains("idempotency-key:");
        self.arguments.iter().any(is_key)
    }

    /// Returns true if the call sends something that is not idempotent without a key.
    fn sends(&self) -> bool {
        let mut sent = Sent::default();
        let mut arguments = self.arguments.iter().skip(1);
        while let Some(argument) = arguments.next() {
            if let Some(long) = argument.strip_prefix("--") {
                sent.read_long(long, &mut arguments);
            } else if let Some(letters) = argument.strip_prefix('-') {
                sent.read_letters(letters, &mut arguments);
            }
        }
        match sent.method.as_str() {
            "" => sent.has_form || sent.has_data && !sent.is_get,
            method => !["GET", "HEAD", "PUT", "DELETE"].contains(&method),
        }
    }
}

/// What the arguments of a call ask for.
#[derive(Default)]
struct Sent {
    method: String,
    has_data: bool,
    is_get: bool,
    has_form: bool,
}

impl Sent {
    /// Reads an option without its dashes; the next argument may be its value.
    fn read_long<'a>(&mut self, long: &str, arguments: &mut impl Iterator<Item = &'a String>) {
        let begins = |names: &[&str], name: &str| names.iter().any(|it| name.starts_with(it));
        let takes = [
            "data", "json", "form", "method", "post", "body", "request", "header", "max",
        ];
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None if begins(&takes, long) => (long, arguments.next().cloned()),
            None => (long, None),
        };
        self.has_data |= begins(&["data", "json", "post", "body"], name);
        self.has_form |= name.starts_with("form");
        if name == "method" || name == "request" {
            self.method = value.unwrap_or_default();
        }
    }

    /// Reads the letters after a dash up to one that takes a value: the rest, or the next argument.
    fn read_letters<'a>(
        &mut self,
        letters: &str,
        arguments: &mut impl Iterator<Item = &'a String>,
    ) {
        self.is_get |= letters
            .split(|letter| "dXFTKoHAmwuP".contains(letter))
            .next()
            .is_some_and(|before| before.contains('G'));
        let Some(at) = letters.find(|letter| "dXFTKoHAmwuP".contains(letter)) else {
            return;
        };
        let value = match &letters[at + 1..] {
            "" => arguments.next().cloned().unwrap_or_default(),
            rest => rest.to_owned(),
        };
        match &letters[at..=at] {
            "d" => self.has_data = true,
            "F" => self.has_form = true,
            "X" => self.method = value,
            _ => {}
        }
    }
}

/// The end of a run, and the calls that were made.
struct Run {
    said: String,
    calls: Vec<Call>,
}

impl Run {
    fn is_refused(&self) -> bool {
        self.said.contains("backoff: --idempotent no: ")
    }
}

/// Runs backoff with these options and this command in a playground.
fn run(
    dir: &TempDir,
    calls: &str,
    options: &str,
    command: &[String],
    variables: &[(String, String)],
) -> Run {
    let calls = within(dir, calls);
    let path = path_with(&within(dir, "bin"));
    let mut backoff = clean(*BIN);
    backoff
        .args(words(options))
        .args(["-b", "1ms", "-v", "--"])
        .args(command)
        .current_dir(dir.path())
        .env("PATH", path)
        .env("CALLS", &calls)
        .envs(variables.iter().cloned());
    let Output { stderr, .. } = backoff.output().unwrap();
    let recorded = fs::read(&calls).unwrap_or_default();
    let recorded = String::from_utf8_lossy(&recorded);
    let calls = recorded.split('\u{1e}').filter(|call| !call.is_empty());
    let parsed = calls.map(|call| Call {
        arguments: call.split_terminator('\u{1f}').map(str::to_owned).collect(),
    });
    Run {
        said: String::from_utf8_lossy(&stderr).into_owned(),
        calls: parsed.collect(),
    }
}

/// A row of the table.
struct Row {
    number: usize,
    is_once: bool,
    sends: bool,
    variables: Vec<(String, String)>,
    line: String,
}

fn rows(dir: &TempDir) -> Vec<Row> {
    let mut rows = Vec::new();
    for (number, line) in TABLE.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        match cells.as_slice() {
            ["file", name, text] => {
                let path = within(dir, name);
                fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
                executable(&path, &text.replace("\\n", "\n"));
            }
            [verdict, sends, variables, line] => rows.push(Row {
                number,
                is_once: *verdict == "once",
                sends: *sends == "yes",
                variables: variables
                    .split(' ')
                    .filter_map(|variable| variable.split_once('='))
                    .map(|(name, value)| (name.to_owned(), value.replace('_', " ")))
                    .collect(),
                line: line.replace("\\n", "\n"),
            }),
            _ => assert!(line.starts_with('#'), "{line}"),
        }
    }
    rows
}

/// Returns what is wrong with the run of a row.
fn problem(dir: &TempDir, row: &Row) -> Option<String> {
    let calls = format!("calls.{}", row.number);
    let run = run(
        dir,
        &calls,
        "-n 2 --for curl,wget",
        &words(&row.line),
        &row.variables,
    );
    let sending = run.calls.iter().filter(|call| call.sends()).count();
    let is_right = if row.is_once {
        run.is_refused() && (!row.sends || sending == 1)
    } else {
        let keyed = run.calls.iter().filter(|call| call.has_key()).count();
        !run.is_refused() && run.calls.len() >= 2 && sending <= keyed
    };
    (!is_right).then(|| format!("{}: {:?}\n{}", row.line, run.calls, run.said))
}

#[test]
fn each_idiom_is_sent_as_often_as_the_table_says() {
    let dir = playground();
    let rows = rows(&dir);
    let problems = side_by_side(&rows, |row| problem(&dir, row));
    let problems: Vec<String> = problems.into_iter().flatten().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A comment in an old encoding, or a long one, hides no request of a script.
#[test]
fn scripts_of_odd_bytes_and_of_any_length_are_sent_once() {
    let dir = playground();
    // The comment is a format of printf. Another process writes the script, as `executable` does.
    let write = r#"printf '#!/bin/sh\ncurl -d x URL; exit 28 # '"$0" 0 >odd.sh; chmod 755 odd.sh"#;
    for comment in [r"caf\351", r"\n\000", "%070000d"] {
        let mut shell = clean("sh");
        shell.current_dir(dir.path());
        shell.args(["-c", write, comment]).code(0);
        for command in ["./odd.sh", "sh odd.sh", "bash -c ./odd.sh"] {
            for options in ["-n 2 --for curl,wget", "-n 2 --for auto"] {
                let _ = fs::remove_file(within(&dir, "calls"));
                let run = run(&dir, "calls", options, &words(command), &[]);
                assert!(run.is_refused(), "{command}: {}", run.said);
                assert_eq!(run.calls.len(), 1, "{command}");
            }
        }
    }
}

// --- random scripts ----------------------------------------------------------------------------

/// Variables of the environment.
const VARIABLES: [(&str, &str); 8] = [
    ("E_D", "-d"),
    ("E_DX", "-d x"),
    ("E_S", "-s"),
    ("E_URL", "http://h/a-d"),
    ("E_POST", "POST"),
    ("E_AD", "a-d"),
    ("E_CURL", "curl"),
    ("E_EMPTY", ""),
];

/// Returns the parts of scripts in this section.
fn parts(section: &str) -> Vec<String> {
    let mut sections = PARTS.split("\n=== ");
    let found = sections.find_map(|text| text.strip_prefix(section)?.strip_prefix('\n'));
    let lines = found.unwrap_or_else(|| panic!("no section {section}"));
    let lines = lines.strip_suffix('\n').unwrap_or(lines);
    lines
        .split('\n')
        .map(|line| line.replace('⏎', "\n"))
        .collect()
}

/// Draws a part of this section.
fn one_of(section: &str) -> impl Strategy<Value = String> + use<> {
    prop::sample::select(parts(section))
}

/// Generates a word for curl. Some values are not known before the script runs: those of `u`, which is never quoted as
/// its text may begin with `-`, and of `q`, whose text does not.
fn word() -> BoxedStrategy<String> {
    prop_oneof![
        6 => one_of("plain"),
        1 => one_of("quoted"),
        2 => one_of("expanded"),
        2 => one_of("of_script"),
        1 => one_of("substituted"),
        1 => one_of("braces"),
    ]
    .boxed()
}

fn words_of_call() -> BoxedStrategy<String> {
    let separator = prop::sample::select(vec![" ", " ", " ", "  ", " \\\n ", "\t"]);
    prop::collection::vec((separator, word()), 1..4)
        .prop_map(|words| {
            words
                .into_iter()
                .flat_map(|(separator, word)| [separator.to_owned(), word])
                .collect()
        })
        .boxed()
}

/// Generates a call of curl.
fn call() -> BoxedStrategy<String> {
    (one_of("clients"), words_of_call(), one_of("ends"))
        .prop_map(|(name, words, end)| format!("{name}{words}{end}"))
        .boxed()
}

/// Generates an assignment, or another command that may change what a call sends.
fn change() -> BoxedStrategy<String> {
    let names = vec![
        "v",
        "w",
        "v",
        "export v",
        "readonly w",
        "declare v",
        "A=b v",
        "v+",
    ];
    let assigned = (prop::sample::select(names), one_of("values"));
    let assigned = assigned.prop_map(|(name, value)| format!("{name}={value}"));
    prop_oneof![2 => assigned, 3 => one_of("changes")].boxed()
}

/// Generates a command around others.
fn statement() -> BoxedStrategy<String> {
    let simple = prop_oneof![3 => call(), 2 => change()];
    simple
        .prop_recursive(2, 6, 2, |inner| {
            let of_one = (one_of("frames"), inner.clone())
                .prop_map(|(frame, inner)| frame.replacen("COMMAND", &inner, 1));
            let operator = prop::sample::select(vec!["; ", "\n", " && ", " | "]);
            let of_two = (inner.clone(), operator, inner).prop_map(|(first, operator, second)| {
                let operator = operator.trim_start_matches(['&', '|', ' ', ';']);
                format!("{first}\n{operator}{second}")
            });
            prop_oneof![3 => of_one, 1 => of_two]
        })
        .boxed()
}

/// Returns what is wrong with a script: it sent something, and backoff would have run it again.
fn mistake(dir: &TempDir, shell: &str, script: &str, arguments: &[String]) -> Option<String> {
    let mut command = vec![
        shell.to_owned(),
        "-c".to_owned(),
        script.to_owned(),
        "zero".to_owned(),
    ];
    command.extend_from_slice(arguments);
    let variables = VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let calls = format!("calls.{shell}");
    let _ = fs::remove_file(within(dir, &calls));
    let run = run(
        dir,
        &calls,
        "-n 1 -t 10s --for curl,wget",
        &command,
        &variables,
    );
    let sending = run.calls.iter().find(|call| call.sends());
    let sending = sending.filter(|_| !run.is_refused())?;
    Some(format!(
        "{shell}: {script}\n{arguments:?}\n{sending:?}\n{}",
        run.said
    ))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 300, rng_seed: seed(), ..ProptestConfig::default() })]

    #[test]
    fn no_random_script_that_sends_is_run_again(
        statements in prop::collection::vec(prop_oneof![2 => statement(), 1 => call(), 1 => change()], 1..5),
        arguments in prop::sample::select(vec![vec![], vec!["-d", "x"], vec!["-s", "-d", "x"], vec!["-s", "URL"]]),
    ) {
        thread_local! {
            static DIR: TempDir = playground();
        }
        let script = statements.join("\n");
        let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
        DIR.with(|dir| {
            for shell in ["bash", "sh"] {
                if let Some(problem) = mistake(dir, shell, &script, &arguments) {
                    return Err(TestCaseError::fail(problem));
                }
            }
            Ok(())
        })?;
    }
}

/// Returns the number of scripts; PROPTEST_CASES asks for another.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(150)
}

/// Returns the same scripts for each run, and random ones if a number of scripts is asked for.
fn seed() -> RngSeed {
    match std::env::var("PROPTEST_CASES") {
        Ok(_) => RngSeed::Random,
        Err(_) => RngSeed::Fixed(47),
    }
}
