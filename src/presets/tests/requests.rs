use std::collections::BTreeMap;

use super::*;
use proptest::prelude::*;

/// Files and variables by name.
#[derive(Default)]
struct World {
    files: BTreeMap<&'static str, &'static str>,
    variables: BTreeMap<&'static str, &'static str>,
}

impl Surroundings for World {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| (*value).to_owned())
    }

    fn text_file(&self, path: &str) -> Option<String> {
        self.files.get(path).map(|text| (*text).to_owned())
    }
}

fn found(line: &str, world: &World) -> Option<String> {
    let words = shlex::split(line).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    not_idempotent(&words, world)
}

#[test]
fn ordinary_commands_are_judged_rightly() {
    let mut rows = 0;
    for row in include_str!("requests.tsv").lines() {
        let Some((verdict, line)) = row.split_once('\t') else {
            continue;
        };
        let found = found(&line.replace("\\n", "\n"), &World::default());
        assert_eq!(found.is_some(), verdict == "sends", "{line}: {found:?}");
        rows += 1;
    }
    assert!(rows >= 80);
}

#[test]
fn the_word_that_decided_is_named() {
    for (line, word) in [
        ("curl -fsSdx URL", "curl -d"),
        (
            "env A=b timeout 9 nice curl --data-binary x URL",
            "curl --data-binary",
        ),
        ("curl -X PUT -X POST URL", "curl -X POST"),
        ("curl URL -X", "curl -X"),
        ("wget --post-file=f URL", "wget --post-file"),
        ("sh -c 'curl -F a=b URL | cat'", "curl -F"),
        ("sh -c 'OPTS=-d; curl $OPTS x URL'", "-d"),
    ] {
        assert_eq!(
            found(line, &World::default()).as_deref(),
            Some(word),
            "{line}"
        );
    }
}

#[test]
fn script_files_are_looked_at() {
    let mut world = World::default();
    world.files.extend([
        ("post.sh", "curl -d x URL\n"),
        ("ci/post.sh", "curl -fsS -d x URL\n"),
        (
            "ci/all.sh",
            "#!/bin/sh\n. \"$(dirname \"$0\")/lib/log.sh\"\n\"$DIR/post.sh\"\n",
        ),
        ("ci/lib/log.sh", "log() { echo \"$@\"; }\n"),
        ("get.sh", "curl -fsS \"$1\"\n"),
        (
            "ci/sub/run.sh",
            "cd \"$(dirname \"$0\")/..\"\n. ./post.sh\n",
        ),
        ("deploy", "#!/bin/sh\nsource ci/post.sh\n"),
    ]);
    for (line, expected) in [
        ("./post.sh", Some("curl -d in post.sh")),
        ("sh post.sh", Some("curl -d in post.sh")),
        ("bash -e ci/post.sh arg", Some("curl -d in ci/post.sh")),
        ("sudo -u www ci/all.sh", Some("curl -d in ci/post.sh")),
        (
            "sh -c 'cd /srv && . ci/post.sh'",
            Some("curl -d in ci/post.sh"),
        ),
        ("bash deploy", Some("curl -d in ci/post.sh")),
        ("sh get.sh URL", None),
        ("sh get.sh -d", Some("-d")),
        (
            "bash -c 'cd ci && ./post.sh'",
            Some("curl -d in ci/post.sh"),
        ),
        ("env -C ci bash post.sh", Some("curl -d in ci/post.sh")),
        ("bash ci/sub/run.sh", Some("curl -d in ci/post.sh")),
    ] {
        assert_eq!(found(line, &world).as_deref(), expected, "{line}");
    }
}

#[test]
fn no_value_is_named() {
    let found = found("sh -c 'X=\"-dsecret\"; curl $X URL'", &World::default());
    assert_eq!(found.as_deref(), Some("-d"));
}

#[test]
fn variables_that_are_mentioned_are_looked_at() {
    let mut world = World::default();
    world.variables.extend([
        ("OPTS", "-sS -d x"),
        ("CURL", "curl -X POST"),
        ("TOKEN", "ab-dF"),
    ]);
    for (line, expected) in [
        ("sh -c 'curl $OPTS URL'", Some("-d")),
        ("sh -c '$CURL URL'", Some("curl -X POST")),
        ("sh -c 'curl -H \"A: $TOKEN\" $X URL'", None),
        ("sh -c 'curl URL'", None),
    ] {
        assert_eq!(found(line, &world).as_deref(), expected, "{line}");
    }
}

#[test]
fn only_some_files_are_read() {
    let mut world = World::default();
    // Each names the next one.
    world.files.extend([
        ("1.sh", "sh 2.sh # curl"),
        ("2.sh", "sh 3.sh"),
        ("3.sh", "sh 4.sh"),
        ("4.sh", "curl -d x URL"),
    ]);
    assert_eq!(found("sh 1.sh", &world), None);
    assert!(found("sh 2.sh", &world).is_some());
}

proptest! {
    #[test]
    fn any_text_is_looked_at(text in any::<String>(), signs in "[curlwget $(){}|;&'\"`\\\\\n#=<>@dX-]{0,300}") {
        for text in [text, signs] {
            let _ = not_idempotent(&["sh", "-c", &format!("curl {text}")], &World::default());
        }
    }
}

/// Asserts that texts in which quotes, brackets and functions begin again and again take linear time. Otherwise the
/// largest file would take minutes.
#[test]
fn the_largest_text_is_looked_at_at_once() {
    for part in [
        "\"curl \\\"$(",
        "f() { ",
        "$(",
        "'",
        "`curl $x`",
        "sh a.sh;",
        "a=b ",
        "\\\n",
        "-d",
        "${x:-",
        "curl \"$@\" ",
    ] {
        let text = part.repeat((64 << 10) / part.len());
        let _ = not_idempotent(&["sh", "-c", &text], &World::default());
    }
}
