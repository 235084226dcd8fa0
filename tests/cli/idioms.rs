//! Requests in whatever shape of shell they stand: run by the real shells, with programs for curl and wget that record
//! their arguments.

use std::fs;
use std::process::Output;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tempfile::TempDir;

use crate::common::{BIN, clean, executable, side_by_side, within, words};

const TABLE: &str = include_str!("../idioms/idioms.tsv");

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
[ "$1" != -p ] || shift 2; shift; exec sh -c "$*"
"#,
    ),
    (
        "sudo",
        r#"#!/bin/sh
while case $1 in -u) shift;; -*) true;; *) false;; esac; do shift; done; exec "$@"
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
    fs::create_dir_all(dir.path().join("dir")).unwrap();
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
        let mut method = String::new();
        let mut has_data = false;
        let mut is_get = false;
        let mut has_form = false;
        let mut arguments = self.arguments.iter().skip(1);
        while let Some(argument) = arguments.next() {
            if let Some(long) = argument.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                let takes = [
                    "data", "json", "form", "method", "post", "body", "request", "header", "max",
                ];
                let takes_value = takes.iter().any(|it| name.starts_with(it));
                let value = if takes_value {
                    value.or_else(|| arguments.next().cloned())
                } else {
                    value
                };
                let value = value.unwrap_or_default();
                has_data |= ["data", "json", "post", "body"]
                    .iter()
                    .any(|it| name.starts_with(it));
                has_form |= name.starts_with("form");
                if name == "method" || name == "request" {
                    method = value;
                }
                continue;
            }
            let Some(letters) = argument.strip_prefix('-') else {
                continue;
            };
            for (at, letter) in letters.char_indices() {
                is_get |= letter == 'G';
                if !"dXFTKoHAmwuP".contains(letter) {
                    continue;
                }
                let rest = &letters[at + 1..];
                let value = if rest.is_empty() {
                    arguments.next().cloned().unwrap_or_default()
                } else {
                    rest.to_owned()
                };
                has_data |= letter == 'd';
                has_form |= letter == 'F';
                if letter == 'X' {
                    method = value;
                }
                break;
            }
        }
        match method.as_str() {
            "" => has_form || has_data && !is_get,
            method => !["GET", "HEAD", "PUT", "DELETE"].contains(&method),
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
    let path = format!("{}:{}", within(dir, "bin"), std::env::var("PATH").unwrap());
    let mut backoff = clean(*BIN);
    backoff
        .args(words(options))
        .args(["-b", "1ms", "-v", "--for", "curl,wget", "--"])
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
                executable(&within(dir, name), &text.replace("\\n", "\n"));
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
    let run = run(dir, &calls, "-n 2", &words(&row.line), &row.variables);
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

/// Returns one of these texts.
fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(texts).prop_map(str::to_owned)
}

/// Generates a word for curl. Some values are not known before the script runs: those of `u`, which is never quoted as
/// its text may begin with `-`, and of `q`, whose text does not.
fn word() -> BoxedStrategy<String> {
    let plain = one_of(&[
        "-s",
        "-s",
        "-fsS",
        "URL",
        "URL",
        "http://h/f",
        "-o",
        "out",
        "x",
        "-H",
        "'a: b'",
        "-G",
        "-X",
        "PUT",
        "GET",
        "--max-time",
        "5",
        "-d",
        "--data",
        "POST",
        "-XPOST",
        "--data=x",
        "-dx",
        "--json",
        "-F",
    ]);
    let quoted = one_of(&[
        "'-d'",
        "\"-d\"",
        "\\-d",
        "-\\d",
        "$'-d'",
        "$'\\x2dd'",
        "-'d'x",
        "\"--data\"=x",
        "-\\\nd",
        "'URL'",
        "\"URL\"",
        "''",
        "\"\"",
        "$\"-d\"",
    ]);
    let expanded = one_of(&[
        "$E_D",
        "\"$E_D\"",
        "${E_D}",
        "$E_DX",
        "$E_S",
        "\"$E_S\"",
        "$E_URL",
        "\"$E_URL\"",
        "$E_POST",
        "\"$E_POST\"",
        "$E_EMPTY",
        "\"$E_EMPTY\"",
        "$UNSET",
        "${UNSET:--d}",
        "${UNSET:-URL}",
        "\"${UNSET:-URL}\"",
        "${E_S:+-d}",
        "${E_S:+-d x}",
        "${UNSET:+-d}",
        "\"${E_S:+--data=x}\"",
        "\"${UNSET:+-d}\"",
        "${E_AD#a}",
        "\"${E_AD#a}\"",
        "${E_AD%-d}",
        "\"${E_AD:1}\"",
        "${E_AD/a/}",
        "${E_AD:0:1}",
        "${#E_AD}",
        "$((1 + 2))",
        "${E_AD##*-}",
        "\"${E_URL%/*}\"",
        "${!N}",
        "${E_AD^^}",
        "$E_EMPTY-d",
        "-$E_EMPTY\"d\"",
        "\"${E_EMPTY}-d\"",
        "-${E_AD:2}",
    ]);
    let of_script = one_of(&[
        "$v",
        "\"$v\"",
        "$v",
        "$w",
        "\"$w\"",
        "${v:+-d}",
        "${w:-$v}",
        "\"${w:-$v}\"",
        "$v$w",
        "\"$v$w\"",
        "$u",
        "${u:+-d}",
        "$u",
        "\"$q\"",
        "\"$q/f\"",
        "http://h/\"$q\"",
        "$q",
        "\"$@\"",
        "$*",
        "$1",
        "\"$1\"",
        "\"${a[@]}\"",
        "${a[*]}",
        "\"${a[0]}\"",
        "\"${a[1]}\"",
        "\"${@:2}\"",
        "\"${a[@]:1}\"",
        "${1+\"$@\"}",
        "\"$f\"",
        "$f",
    ]);
    let substituted = one_of(&[
        "$(echo -d)",
        "\"$(echo -d)\"",
        "`echo -d`",
        "$(echo URL)",
        "\"$(echo URL)\"",
        "$(echo -d x)",
        "$(printf %s -d)",
        "-$(echo d)",
        "http://h/$(uname -s)",
        "$(echo $v)",
        "\"$(echo \"$v\")\"",
        "$(uname -s)",
        "$(case a in a) echo -d;; esac)",
    ]);
    let braces = one_of(&[
        "{-d,x}",
        "-{d,s}",
        "{-s,-fsS}",
        "http://h/{a,b}",
        "{URL,}",
        "-{d..d}",
        "\"{-d,x}\"",
        "{x,{-d,y}}",
        "*.none",
        "?x",
    ]);
    prop_oneof![6 => plain, 1 => quoted, 2 => expanded, 2 => of_script, 1 => substituted, 1 => braces].boxed()
}

fn words_of_call() -> BoxedStrategy<String> {
    let separator = one_of(&[" ", " ", " ", "  ", " \\\n ", "\t"]);
    prop::collection::vec((separator, word()), 1..4)
        .prop_map(|words| {
            words
                .into_iter()
                .flat_map(|(separator, word)| [separator, word])
                .collect()
        })
        .boxed()
}

/// Generates a call of curl.
fn call() -> BoxedStrategy<String> {
    let name = one_of(&[
        "curl",
        "curl",
        "curl",
        "curl",
        "cu''rl",
        "\"curl\"",
        "c\\url",
        "$E_CURL",
        "\"$E_CURL\"",
        "command curl",
        "env curl",
        "env A=b curl",
        "A=b curl",
        "exec curl",
        "$(which curl)",
        "nice curl",
        "$'curl'",
        "cu\\\nrl",
        "$c",
        "\"$c\"",
        "time curl",
        "! curl",
        ">out curl",
        "$E_EMPTY curl",
        "eval curl",
        "{curl,-s}",
        "xargs curl",
        "xargs -n 1 curl -s",
        "curl 2>&1",
        "curl >out",
        "sh -c 'curl \"$@\"' sh",
        "sh -c 'curl $1 x' sh",
        "fetch",
        "busybox curl",
    ]);
    let end = one_of(&[
        "",
        "",
        "",
        " # -d",
        " | cat",
        " || true",
        " &",
        " >out",
        " 2>&1",
        " </dev/null",
        " |& cat",
        " <<<x",
        " &>out",
    ]);
    (name, words_of_call(), end)
        .prop_map(|(name, words, end)| format!("{name}{words}{end}"))
        .boxed()
}

/// Generates an assignment, or another command that may change what a call sends.
fn change() -> BoxedStrategy<String> {
    let value = || {
        one_of(&[
            "-s",
            "-d",
            "'-d x'",
            "\"-s -d\"",
            "URL",
            "\"$E_DX\"",
            "$E_S",
            "$v",
            "$w",
            "${E_S:+-d}",
            "-\"d\"",
            "$'-d'",
            "",
            "\"$(echo -d)\"",
            "${v#-}",
        ])
    };
    let other = one_of(&[
        "u=$(echo -d)",
        "read u <<<'-d x'",
        "u=`echo -s`",
        "q=$(echo http://h)",
        "read -r q <<<'a -d'",
        "a=(-d x)",
        "a=(-s URL)",
        "a+=(-d x)",
        "a=()",
        "a=($v \"$w\")",
        "set -- -d x",
        "set -- -s",
        "set -e",
        "shift",
        "c=curl",
        "c='curl -d'",
        "c=cu; c=${c}rl",
        "IFS=,; v=-s,-d",
        "fetch() { curl \"$@\"; }",
        "fetch() { curl $1 x; }",
        "fetch() { curl -s \"$1\"; }",
        "function fetch { curl -d x; }",
        "N=E_D",
        "N=E_S",
        "eval 'v=-d'",
        "eval v=-s",
        "printf -v v %s -d",
        "declare -l v=-D",
        "local v=-d",
        "export v",
        "unset v",
        ": ${v:=-d}",
        "(( v = 1 ))",
        "alias curl='curl -d x'",
        "shopt -s expand_aliases",
        "[[ $v =~ ^(a|b)$ ]]",
        "(( 1 << 2 ))",
        ": $(( 1 << 2 ))",
        "# it's",
        "declare -n w=E_D",
        "for f in -s -d; do :; done",
        "for f in URL; do :; done",
        "while read -r f; do :; done <<<'-d'",
        "cat <<EOF\nit's $(echo a)\nEOF",
        "cat <<'EOF' >/dev/null\n$( ' \nEOF",
        "case a in a) v=-d;; esac",
        "case $v in -d) : ;; (b|c) : ;; esac",
        "getopts d v -d",
        "true && w=-d",
        "x=$(case a in a) echo b;; esac)",
    ]);
    let assigned = (
        one_of(&[
            "v",
            "w",
            "v",
            "export v",
            "readonly w",
            "declare v",
            "A=b v",
            "v+",
        ]),
        value(),
    )
        .prop_map(|(name, value)| format!("{name}={value}"));
    prop_oneof![2 => assigned, 3 => other].boxed()
}

/// Generates a command around others.
fn statement() -> BoxedStrategy<String> {
    let simple = prop_oneof![3 => call(), 2 => change()];
    simple
        .prop_recursive(2, 6, 2, |inner| {
            let of_one = (
                prop::sample::select(vec![
                    ("(", ")"),
                    ("{ ", "\n}"),
                    ("if true; then ", "\nfi"),
                    ("for f in -d URL; do ", "\ndone"),
                    ("for v in -s; do ", "\ndone"),
                    ("case a in a) ", "\n;; esac"),
                    ("case b in (a|b)\n", "\nesac"),
                    ("x=$(", "\n)"),
                    ("x=\"$(", "\n)\""),
                    ("g() { ", "\n}; g"),
                    ("g() { ", "\n}; g -d x"),
                    ("true && ", ""),
                    ("false || ", ""),
                    ("cat <(", "\n)"),
                    ("sh <<EOF\n", "\nEOF"),
                    ("bash <<'EOF'\n", "\nEOF"),
                    ("cat <<EOF | bash\n", "\nEOF"),
                    ("while ", "\ndo break; done"),
                    ("until ", "\ndo break; done"),
                    (": ${x:-$(", "\n)}"),
                    ("echo -d x | while read -r u; do ", "\ndone"),
                    ("if [[ -n a && ( b == b ) ]]; then ", "\nfi"),
                ]),
                inner.clone(),
            )
                .prop_map(|((before, after), inner)| format!("{before}{inner}{after}"));
            let of_two = (inner.clone(), one_of(&["; ", "\n", " && ", " | "]), inner).prop_map(
                |(first, operator, second)| {
                    format!(
                        "{first}\n{}{second}",
                        operator.trim_start_matches(['&', '|', ' ', ';'])
                    )
                },
            );
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
    let run = run(dir, &calls, "-n 1 -t 10s", &command, &variables);
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
