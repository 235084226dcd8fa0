//! The table of idioms, judged without running them.

use std::collections::HashMap;

use super::requests::{Requests, Selection};
use super::{ScriptFile, Surroundings};

const TABLE: &str = include_str!("../../tests/idioms/idioms.tsv");
const CI_LINES: &str = include_str!("../../tests/idioms/ci_lines.txt");

/// Variables and script files.
#[derive(Default)]
pub(super) struct Sample {
    pub(super) variables: HashMap<String, String>,
    pub(super) files: HashMap<String, String>,
}

impl Surroundings for Sample {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn script(&self, path: &str) -> ScriptFile {
        let path = path.replace("/./", "/");
        match self.files.get(path.trim_start_matches("./")) {
            Some(text) => ScriptFile::Text(text.clone()),
            None => ScriptFile::NotThere,
        }
    }
}

/// Returns why a command is not idempotent.
pub(super) fn why_not(command: &[&str], sample: &Sample) -> Option<String> {
    let requests = Requests::find(command, sample);
    let curl = requests.first_unsafe("curl", Selection::Named);
    let finding = curl.or_else(|| requests.first_unsafe("wget", Selection::Named));
    finding.map(|finding| finding.to_string())
}

/// Returns the problem of a row of the table.
fn problem(row: &[&str], files: &HashMap<String, String>) -> Option<String> {
    let [verdict, _, variables, line] = row else {
        return Some(format!("{row:?}"));
    };
    let mut sample = Sample {
        files: files.clone(),
        ..Sample::default()
    };
    for variable in variables.split(' ').filter(|variable| *variable != "-") {
        let (name, value) = variable.split_once('=').unwrap();
        let value = value.replace('_', " ");
        sample.variables.insert(name.to_owned(), value);
    }
    let words = shlex::split(&line.replace("\\n", "\n")).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = why_not(&words, &sample);
    let expected = if found.is_some() { "once" } else { "again" };
    (expected != *verdict).then(|| format!("{verdict}: {variables} {line}: {found:?}"))
}

#[test]
fn idioms() {
    let mut files = HashMap::new();
    let mut problems = Vec::new();
    let mut count = 0;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let row: Vec<&str> = line.split('\t').collect();
        if let ["file", name, text] = row.as_slice() {
            files.insert((*name).to_owned(), text.replace("\\n", "\n"));
            continue;
        }
        count += 1;
        problems.extend(problem(&row, &files));
    }
    assert!(count >= 150);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Asserts that real command lines of CI are retried, except one in twenty.
#[test]
fn lines_of_ci() {
    let mut refused = Vec::new();
    let mut count = 0;
    for line in CI_LINES.lines().filter(|line| !line.starts_with('#')) {
        count += 1;
        if let Some(why) = why_not(&["bash", "-ec", line], &Sample::default()) {
            refused.push(format!("{line}: {why}"));
        }
    }
    assert!(count >= 60, "{count}");
    assert!(refused.len() * 20 <= count, "{}", refused.join("\n"));
}

/// Returns a text of 8 KiB that repeats another.
fn repeated(text: &str) -> String {
    text.repeat((8 << 10) / text.len())
}

/// Returns true if a command line may not run twice.
fn is_doubted(line: &str) -> bool {
    let words = shlex::split(line).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    why_not(&words, &Sample::default()).is_some()
}

/// Asserts which command lines may not run twice, and which may.
fn expect_judged(doubted: &[&str], trusted: &[&str]) {
    for line in doubted {
        assert!(is_doubted(line), "{line}");
    }
    for line in trusted {
        assert!(!is_doubted(line), "{line}");
    }
}

#[test]
fn words_that_xargs_and_parallel_add_are_doubted() {
    let doubted = [
        "xargs -I '' curl x",
        "xargs --replace= curl x",
        "sh -c 'echo a | xargs -I \"\" curl x'",
        "sh -c 'read M; xargs -I \"$M\" curl M x'",
        "sh -c 'M=; xargs -I\"$M\" curl x'",
        // The mark of `-I X` is not `-x`, so parallel adds words at the end.
        "parallel -I X curl -x p http://h/",
        "parallel -I u curl -sSf -U x",
        "parallel curl -sSf",
        "parallel curl 'http://h/{}' '{1}'",
        "xargs -I X curl X http://h/",
        // Options that take the mark back, are another program's, or name it twice.
        "xargs -I{} -n2 curl 'http://h/{}'",
        "xargs -I{} -L1 curl 'http://h/{}'",
        "xargs env -i curl -sS",
        "xargs docker run -i curlimages/curl -sS",
        "xargs stdbuf -i0 curl",
        "xargs -I A -I B curl A B",
        // Words in the place of a mark, or added ones, become code.
        "xargs -I{} sh -c 'curl {}'",
        "parallel 'curl {} http://h/' ::: -dx",
        "xargs sh -c 'exec curl \"$0\" \"$1\" http://h/'",
        "xargs -n1 sh",
        "parallel sh ::: post.sh",
        "parallel -j 4",
        "parallel -I X sh ::: data.sh",
        "parallel -IX ./X ::: data.sh",
        "parallel ./{} ::: data.sh",
        "parallel --bar -j 4 --delay 1 nice ./{.} ::: data.sh",
        "parallel 'cd x; ./{1}'",
        "parallel 'sh {}'",
        "parallel eval",
        "parallel source",
        "sh -c 'read X; parallel ::: \"$X\"'",
        "parallel -j 4 :::: jobs",
        // Words behind the end of a call are no proof for it.
        "find . -exec curl -d x http://h/ ';' -exec curl -X GET http://h/ ';'",
        "find . -exec curl -d x http://h/ ';' -exec curl -G http://h/ ';'",
        "find . -exec curl -d x http://h/ ';' -exec curl -H 'Idempotency-Key: k' http://h/ ';'",
    ];
    let trusted = [
        "xargs -I X curl -x p http://h/",
        "xargs -I X curl http://h/X",
        "parallel -I X curl http://h/X",
        "xargs -0rI{} -P 4 curl -fsSO 'http://h/{}'",
        "xargs -d x -P4 -I{} curl -fsSO 'http://h/{}'",
        "parallel -j4 curl -fsSO 'http://h/{}'",
        "parallel --bar -j 4 --delay 1 curl -fsSO 'http://h/{.}'",
        "sh -c 'parallel ssh {} uptime; parallel \"gzip {}\"; curl -fsS URL'",
        "find . -exec curl -fsS http://h/ ';'",
        "find . -name '*.txt' -exec curl -fsSO http://h/ '{}' +",
    ];
    expect_judged(&doubted, &trusted);
}

#[test]
fn scripts_that_a_program_reads_from_its_input_are_doubted() {
    let mut sample = Sample::default();
    let mut add = |name: &str, text: &str| sample.files.insert(name.to_owned(), text.to_owned());
    add("post.sh", "curl -d x URL");
    let why = |script: &str| why_not(&["sh", "-c", script], &sample);
    for reader in [
        "at now",
        "at -m now + 5 minutes",
        "nice batch",
        "newgrp app",
        "sg app",
        "runuser - app",
        "runuser",
    ] {
        let script = format!("{reader} <post.sh");
        assert!(why(&script).is_some(), "{script}");
        let script = format!("cat post.sh | {reader}");
        assert!(why(&script).is_some(), "{script}");
    }
    for reader in ["at -l", "grep at", "runuser -u app cat", "sg app -c true"] {
        let script = format!("{reader} <post.sh");
        assert!(why(&script).is_none(), "{script}");
    }
}

#[test]
fn unknown_code_is_named_with_its_place_and_cut() {
    let mut sample = Sample::default();
    sample
        .files
        .insert("f.sh".to_owned(), "bash <(sort a)".to_owned());
    let code = [
        (
            r#"X=$(cat x); bash "$X""#,
            r#"the script "$X" in the script of sh -c"#,
        ),
        ("bash f.sh", "the script <(sort a) in f.sh"),
        (
            "curl -fsS URL; bash -s",
            "the input of bash in the script of sh -c",
        ),
        (
            "curl -fsS URL; docker exec -i web sh",
            "the input of sh in the command of docker",
        ),
        (
            "bash <(sort a-file-with-a-long-name another-one)",
            "the script <(sort a-file-with-a-long-name another-o... in the script of sh -c",
        ),
    ];
    for (script, what) in code {
        let why = why_not(&["sh", "-c", script], &sample).unwrap();
        assert_eq!(why, format!("{what} is not known and may send a request"));
    }
}

#[test]
fn values_that_differ_between_shells_are_doubted() {
    let doubted = [
        // zsh counts from 1, and takes `$a` for all elements.
        "zsh -c 'a=(-d x); curl ${a[1]} URL'",
        "zsh -c 'a=(x -d); curl $a URL'",
        "sh -c 'a=(-d x); curl \"${a[01]}\" URL'",
        "bash -c 'a=(\"$(cmd)\" x); curl \"${a[$i]}\" URL'",
        "zsh -c 'x=\"-d foo\"; curl ${=x} URL'",
        "zsh -c 'x=\"-d foo\"; curl $=x URL'",
        "zsh -c 'x=\"-d foo\"; curl ${(z)x} URL'",
        "zsh -c 'curl ${:--d} x URL'",
        "zsh -c 'curl -d x -H \"Idempotency-Key: k-${(j:-:)$(date)}\" URL'",
        "zsh -c 'curl $argv URL' zsh -d x",
        "zsh -c 'curl \"$argv[1]\" x URL' zsh -d",
        "zsh -c '=curl -d x URL'",
        "zsh -c 'c=curl; =$c -d x URL'",
        "zsh -c 'alias -g D=\"-d x\"; eval \"curl D URL\"'",
        "curl -a -T f --url ftp://h/x http://h/",
        "docker run --entrypoint=curl img -d x URL",
        "git -c 'alias.p=!curl -d x URL' p",
        // A `/` that is quoted does not separate.
        "bash -c 'x=a/b; curl ${x/a\\/b/-d} URL'",
        "bash -c 'x=-a/bd; curl ${x/a\\/b} URL'",
        "bash -c 'x=-a/bd; curl ${x/\"a/b\"} URL'",
        "bash -c 'y=a/b; x=-a/bd; curl ${x/$y} URL'",
    ];
    let trusted = [
        "bash -c 'a=(x y); curl -fsS \"http://h/${a[1]}\"'",
        "bash -c 'a=(x y); curl -fsS \"http://h/$a\"'",
        "bash -c 'x=a/b; curl -fsS http://h/${x/b/c}'",
        "bash -c 'x=a.b; curl -fsS \"http://h/${x//./-}\"'",
    ];
    expect_judged(&doubted, &trusted);
}

/// A script that stands in the last of very many directories runs another one beside it.
#[test]
fn of_too_many_directories_none_is_passed_over() {
    let mut sample = Sample::default();
    let mut script = String::from("curl URL");
    for number in 0..300 {
        let path = format!("d{number}/go.sh");
        script.push_str(&format!("; sh {path}"));
        let text = "cd \"$(dirname \"$0\")\"; ./send.sh";
        sample.files.insert(path, text.to_owned());
    }
    let send = "curl -d x URL".to_owned();
    sample.files.insert("d299/send.sh".to_owned(), send);
    assert!(why_not(&["sh", "-c", &script], &sample).is_some());
}

/// Reads texts that would take minutes if their parts were read again and again.
#[test]
fn long_scripts_do_not_take_long() {
    for text in [
        "$(",
        "${x:-",
        "`",
        "\"$(",
        "((",
        "$((",
        "$(($(",
        "'",
        "\"",
        "\\",
        "{",
        "{a,b}",
        "{a,{b,",
        "<<E\n",
        "<<<",
        "<(",
        "case x in a) ",
        "case x in ",
        "x=(",
        "a[",
        "${a[",
        "$'\\x",
        "curl ",
        "curl\n",
        "curl -d x;",
        "x curl=$x;",
        "curl $1;",
        "sh -c ",
        "sh -c 'curl ",
        "eval ",
        "eval '$x';",
        "xargs curl ",
        "f() { f \"$@\"; };",
        "$x",
        "curl $x $x;",
        "a=$a$b;b=$b$a;",
        "a=\"$a x\";",
        "a+=(-x $b);b+=($a);curl ${a[@]};",
        "f() { a=\"$a $1\"; f \"$a\"; };",
        "a=x$b$b b=x$c$c c=x$d$d d=x$e$e e=x$f$f;curl $a;",
        "alias c='curl '\n",
        "for x in a b c; do curl $x; done;",
        "cat <<E | sh\ncurl\nE\n",
        "* ",
        "[",
        "curl*",
        ". ./x;",
        "ssh h \"curl\";",
        "\"curl -d \\\"",
        "-Scurl=curl\\ ",
        "cd x;sh y;",
    ] {
        for prefix in ["", "curl "] {
            let script = format!("{prefix}{}", repeated(text));
            why_not(&["sh", "-c", &script, "sh", "-d"], &Sample::default());
        }
    }
}
