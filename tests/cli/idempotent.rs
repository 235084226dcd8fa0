//! A command that must not be carried out twice: `--idempotent`, what presets know of it, and the id of the outermost run.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::words::Words;
use crate::common::{Shown, backoff, executable, path_with_backoff, run, shell, within};

const FINAL: &str = "it may have taken effect, and is not idempotent";

#[track_caller]
fn is_retried(shown: Shown) {
    shown
        .expect_stderr("attempt 1 of 2 failed")
        .expect_stderr("gave up after 2 attempts in ");
}

#[track_caller]
fn is_final(shown: Shown, why: &str) {
    assert!(!shown.stderr.contains("attempt 1 of 2 failed"), "{shown:#?}");
    assert_eq!(shown.stderr.matches(FINAL).count(), 1, "{shown:#?}");
    shown
        .expect_stderr(": gave up after 1 attempt in ")
        .expect_stderr(&format!("{FINAL}: {why})\n"));
}

#[track_caller]
fn once(args: impl Words) -> Shown {
    run!("-n 2 -b 1ms --idempotent no {..}", args)
}

// --- what the user says ---

#[test]
fn what_is_not_known_to_be_undone_is_final() {
    let cases = [
        ("-- sh -c 'exit 7'", 7),
        ("-t 50ms -- sleep 9", 124),
        ("-i 50ms -- sleep 9", 124),
        ("-d 50ms -- sleep 9", 124),
        ("--fail-match no -- echo no", 1),
        ("--success-match yes -- echo no", 1),
        ("--stdout final -- sh -c 'exit 7'", 7),
        // The user speaks of other failures.
        ("-t 50ms -e 7 -- sleep 9", 124),
        // Nobody outside is told to try later, either.
        ("--exhausted-exit 75 -- sh -c 'exit 7'", 7),
        ("-n 1 --exhausted-exit 75 -- sh -c 'exit 7'", 7),
    ];
    for (args, code) in cases {
        is_final(once(args).expect_code(code), "--idempotent no");
    }
    assert_eq!(once("-- sh -c 'kill $$'").signal(), Some(15));
    once("-- sh -c 'echo done'").expect_code(0).expect_silence();
    // A failure that is permanent anyway is reported so.
    once("-e 7 -- sh -c 'exit 8'").expect_stderr("permanent: no retry rule matches");
}

#[test]
fn a_rule_of_the_user_says_that_it_may_be_retried() {
    for args in [
        "-e 7 -- sh -c 'exit 7'",
        "-r again -- sh -c 'echo again; exit 7'",
        "--retry-exit TERM -- sh -c 'kill $$'",
        "--retry-if 'exit 0' -- sh -c 'exit 7'",
        // Nothing was run.
        "-e 126,127 -- /no/such/command",
        // If both apply, the preset's rule changes nothing.
        "--for network -e 7 -- sh -c 'echo x: Connection refused; exit 7'",
    ] {
        is_retried(once(args));
    }
    is_final(
        once("--for network -- sh -c 'echo x: Connection refused; exit 7'"),
        "--idempotent no",
    );
    once("--retry-if 'exit 1' -- sh -c 'exit 7'").expect_stderr("permanent: --retry-if");
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "config.toml");
    std::fs::write(&file, "[policy.x]\nidempotent = \"no\"\n").unwrap();
    let policy = |args: &str| {
        let words = words!("--config {} -p x -n 2 -b 1ms {..}", &file, args);
        run(backoff(words).env_remove("BACKOFF_CONFIG"))
    };
    is_retried(policy("-e 7 -- sh -c 'exit 7'"));
    is_final(
        policy("-- sh -c 'exit 8'"),
        &format!("--idempotent no (policy x, {file}:2:14)"),
    );
    is_retried(policy("--idempotent yes -- sh -c 'exit 8'"));
    // As TOML has it.
    std::fs::write(&file, "[policy.x]\nidempotent = false\n").unwrap();
    is_final(
        policy("-- sh -c 'exit 8'"),
        &format!("--idempotent no (policy x, {file}:2:14)"),
    );
}

#[test]
fn it_may_be_said_by_a_variable_and_must_fit() {
    let variable = |args: &str, value: &str| run(backoff(args).env("BACKOFF_IDEMPOTENT", value));
    is_final(variable("-n 2 -b 1ms -- false", "no"), "BACKOFF_IDEMPOTENT=no");
    is_retried(variable("-n 2 -b 1ms -- false", "yes"));
    is_retried(variable("-n 2 -b 1ms --idempotent yes -- false", "no"));
    variable("-- true", "perhaps")
        .expect_code(125)
        .expect_stderr("BACKOFF_IDEMPOTENT: \"perhaps\" is not one of yes, no");
    // A success would be carried out again. Who types that knows what holds otherwise.
    run!("--idempotent no --consecutive 2 -- true")
        .expect_code(125)
        .expect_stderr("--idempotent no cannot go with --consecutive 2");
    variable("-b 1ms --consecutive 2 -- true", "no").expect_code(0);
}

#[test]
fn programs_are_told_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let report = within(&dir, "report");
    let shown = once(words!("--log-format json --report {} -- sh -c 'exit 7'", &report)).expect_code(7);
    let last: Value = serde_json::from_str(shown.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["event"], &last["reason"]),
        (&"gave_up".into(), &"not_idempotent".into())
    );
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!(report["gave_up"], "not_idempotent");
    assert_eq!(report["attempts"][0]["verdict"], "transient");
    once("-q --on-give-up 'echo hook $BACKOFF_EXIT' -- sh -c 'exit 7'").expect_stderr("hook 7\n");
    once("-vv -- true").expect_stderr("backoff: idempotent = no (--idempotent)\n");
    run!("-vv -- true").expect_stderr("backoff: idempotent = yes (default)\n");
}

/// The other side may be in trouble all the same.
#[test]
fn it_leaves_a_cool_off_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = within(&dir, "store");
    let budget = words!("--store {} --budget api -j none -b 1h -m 1h", &store);
    run!("{..} --idempotent no -- false", &budget).expect_code(1);
    run!("{..} --cool-off -d 1m -- true", &budget)
        .expect_code(124)
        .expect_stderr("gave up before the first attempt");
}

// --- what presets know ---

/// A machine on which these programs fail with `$CODE` and say `$TEXT`.
fn failing(programs: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for program in programs {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$TEXT\" >&2\nexit $CODE\n";
        executable(&within(&dir, program), script);
    }
    dir
}

#[track_caller]
fn failed(dir: &TempDir, code: u8, text: &str, args: impl Words) -> Shown {
    let path = format!("{}:{}", dir.path().display(), path_with_backoff());
    let words = words!("-n 2 -b 1ms {..}", args);
    let shown = run(backoff(words)
        .env("PATH", path)
        .env("CODE", code.to_string())
        .env("TEXT", text));
    shown.expect_code(code.into())
}

#[test]
fn what_a_preset_knows_to_be_undone_is_retried() {
    let dir = failing(&["curl", "psql", "script"]);
    let (busy, broken) = (
        "curl: (22) The requested URL returned error: 429",
        "curl: (22) The requested URL returned error: 503",
    );
    let not_connected = "curl: (28) Failed to connect to h port 80 after 500 ms: Timeout was reached";
    for (code, text) in [(5, ""), (6, ""), (7, ""), (35, ""), (22, busy), (28, not_connected)] {
        is_retried(failed(&dir, code, text, "--idempotent no --for curl -- curl URL"));
        is_retried(failed(
            &dir,
            code,
            text,
            "--idempotent no --for auto -- env A=b curl URL",
        ));
    }
    for (code, text) in [(22, broken), (22, ""), (28, ""), (52, ""), (56, ""), (92, "")] {
        let shown = failed(&dir, code, text, "--idempotent no --for curl -- curl URL");
        is_final(shown, "--idempotent no");
        is_retried(failed(&dir, code, text, "--for curl -- curl URL"));
    }
    let refused = "psql: error: connection to server at \"h\", port 5432 failed: Connection refused";
    is_retried(failed(&dir, 2, refused, "--idempotent no --for psql -- psql"));
    is_final(
        failed(&dir, 2, "lost", "--idempotent no --for psql -- psql"),
        "--idempotent no",
    );
    // The actions of a script before its call of curl are unknown.
    is_final(
        failed(&dir, 7, "", "--idempotent no --for curl -- script"),
        "--idempotent no",
    );
    // Attempts run out on a failure that nobody has to fear.
    run(
        backoff("-n 2 -b 1ms --idempotent no --exhausted-exit 75 --for curl -- curl URL")
            .env("PATH", dir.path())
            .env("CODE", "7"),
    )
    .expect_code(75);
}

/// The verdict goes by all that was printed, and not by what was found first.
#[test]
fn what_is_found_first_hides_nothing() {
    let dir = failing(&["apk"]);
    let midway = "WARNING: fetching https://h/main: HTTP 502: Bad Gateway";
    let refused = "ERROR: https://h/main: DNS: transient error (try again later)";
    for text in [format!("{midway}\n{refused}"), format!("{refused}\n{midway}")] {
        is_retried(failed(&dir, 1, &text, "--idempotent no --for apk -- apk update"));
    }
    is_final(
        failed(&dir, 1, midway, "--idempotent no --for apk -- apk update"),
        "--idempotent no",
    );
}

/// Command lines of curl and wget that may send what must not be sent twice, and the option that tells so.
#[rustfmt::skip]
const NOT_IDEMPOTENT: &[(&str, &str)] = &[
    // In any way in which it may be written.
    ("curl -d x URL", "curl -d"), ("curl -fsSdx URL", "curl -d"), ("curl --data-bin x URL", "curl --data-bin"),
    ("curl --DATA x URL", "curl --DATA"), ("curl --json {} URL", "curl --json"), ("curl --expand-data x URL", "curl --expand-data"),
    ("curl -F a=b URL", "curl -F"), ("curl --form-string a=b URL", "curl --form-string"), ("curl URL -sXPOST", "curl -X POST"),
    ("curl --request PATCH URL", "curl --request PATCH"), ("curl -X 'POST ' URL", "curl -X POST "), ("curl -X post URL", "curl -X post"),
    ("curl -X PUT -X POST URL", "curl -X POST"), ("curl -G -X POST -d x URL", "curl -X POST"), ("curl -K file", "curl -K"),
    ("curl --ftp-ssl -d x URL", "curl -d"), ("curl --get --no-get -d x URL", "curl -d"), ("curl -T mail imap://h/", "curl -T"),
    ("curl -aT f ftp://h/f", "curl -T"), ("curl -X 'DELE 1' pop3://h/", "curl -X DELE 1"), ("curl --config file", "curl --config"),
    ("wget --post-data=x URL", "wget --post-data"), ("wget --post-f file URL", "wget --post-f"), ("wget --method=post URL", "wget --method post"),
    ("wget -e POST_DATA=x URL", "wget -e"), ("wget -e 'PostData = x' URL", "wget -e"), ("wget -e METHOD=POST URL", "wget -e"),
    ("wget -e tries=3 --post-data=x URL", "wget --post-data"), ("wget --backups --post-data=x URL", "wget --post-data"),
    ("wget --body-file=f URL", "wget --body-file"), ("wget -i urls", "wget -i"),
    // Behind other programs, and in scripts.
    ("env A=b timeout 9 nice curl -d x URL", "curl -d"), ("env -S 'curl -d x URL'", "curl -d"), ("env '-Scurl -d x URL'", "curl -d"),
    ("sh -c 'curl -d \"$X\" URL'", "curl -d"), ("bash -c 'set -e; curl -d x URL'", "curl -d"), ("backoff -n 1 -- curl -d x URL", "curl -d"),
    ("bash -o pipefail -c 'set -e; curl -fsS -d \"$DATA\" URL | cat'", "curl -d"), ("sh -c \"sh -c 'curl -d x URL'\"", "curl -d"),
    ("bash -c 'X=\"$(curl -H \"A: b\" -d \"$X\" \"$URL\")\"'", "curl -d"), ("bash -c 'curl -H \"$(echo a | tr a b)\" -d x URL'", "curl -d"),
    ("bash -c 'curl \\\n -H \"a; b\" \\\n -d x URL'", "curl -d"), ("bash -c 'curl $(echo a | tr a b) -d x'", "curl -d"),
    ("bash -c \"# don't\ncurl URL -H 'a' -d x\"", "curl -d"), ("bash -c 'curl `echo a | cat` -d x'", "curl -d"),
    ("bash -c 'curl -H \"x: (\" -d y'", "curl -d"), ("sh -c 'curl \"$@\"' sh -d x URL", "curl \"$@\""),
    ("bash -c 'a=(-d x URL); curl \"${a[@]}\"'", "curl \"$@\""), ("sh -c 'CURL=curl; $CURL -d x'", "curl -d"),
    ("sh -c 'curl\\\n -d x URL'", "curl -d"), ("sh -c 'curl>/dev/null -d x URL'", "curl -d"),
    // Headers that are no key, or a different key each time.
    ("curl -d x -H 'Idempotency-Key:' URL", "curl -d"), ("curl -d x -H 'Idempotency-Key : 1' URL", "curl -d"),
    ("curl -d x -H 'X-Idempotency-Key: 1' URL", "curl -d"), ("curl -d x -e 'Idempotency-Key: 1' URL", "curl -d"),
    ("bash -c 'curl -d x -H \"Idempotency-Key: $(echo $$)\" URL'", "curl -d"),
    ("curl -H 'Idempotency-Key: 1' -d x URL --next -d x URL", "curl -d"),
    ("wget --header 'Idempotency-Key: 1' --header= --post-data=x URL", "wget --post-data"),
];

const IDEMPOTENT: &[&str] = &[
    "curl URL",
    "curl -fsSL -o out -uadmin:x -A agent --max-time 5 --compressed URL",
    "curl -sI URL",
    "curl -X PUT -d x URL",
    "curl -X DELETE URL",
    "curl -T file http://h/f",
    "curl -fsSG --data-urlencode q=x URL",
    "curl --head --netrc --url-query a=b URL",
    "curl -d x -H 'idempotency-key:1' URL",
    "curl -X PATCH -d x -HIDEMPOTENCY-KEY:1 URL",
    "wget -qO- URL",
    "wget --method=PUT --body-data=x URL",
    "wget --header=Idempotency-Key:1 --post-data=x URL",
    "wget --mirror --no-verbose --page-requisites URL",
    "sh -c 'exec curl -X POST URL -H \"Idempotency-Key: $BACKOFF_ROOT_ID\" -d x'",
    // Options of other programs.
    "bash -o pipefail -c 'curl -fsS URL | base64 -d'",
    "bash -c '(curl -fsS URL) || (cut -d: x; exit 28)'",
    "bash -c 'x=\"$(curl -fsS \"$URL\")\" || { cut -d: x; exit 28; }'",
    "bash -c 'curl -fsS URL >/dev/null\ncut -d: x; exit 28'",
    "env -u TZ sh -c 'curl -fsS URL'",
    "other -d x",
    "./post-curl.sh -d x",
];

#[test]
fn a_look_at_the_words_finds_what_may_be_sent_twice() {
    let dir = failing(&["curl", "wget", "other", "post-curl.sh"]);
    let ran = |args: &str, line: &str| {
        let line = line.replace("./", &format!("{}/", dir.path().display()));
        let code = if line.starts_with("wget") { 4 } else { 28 };
        failed(&dir, code, "", words!("{..} -- {..}", args, &line))
    };
    for (line, option) in NOT_IDEMPOTENT {
        is_final(
            ran("--for curl,wget", line),
            &format!("{option} without an Idempotency-Key header"),
        );
    }
    for line in IDEMPOTENT {
        is_retried(ran("--for curl,wget", line));
    }
    let post = "curl -d x URL";
    is_final(ran("--for auto", post), "curl -d without an Idempotency-Key header");
    is_retried(ran("--for curl --idempotent yes", post));
    // The user's word, a preset for another program, and none at all.
    is_retried(ran("--for curl -e 28", post));
    is_retried(ran("--for wget -e 28", post));
    is_retried(ran("", post));
    let seen = "curl -d without an Idempotency-Key header";
    ran("-v --for auto", post).expect_stderr(&format!("backoff: --idempotent no: {seen}\n"));
}

#[test]
fn a_remark_says_that_a_request_is_repeated_which_no_preset_judges() {
    let dir = failing(&["curl", "post.sh"]);
    let remark = "backoff: curl -d: a retry sends the request again, even if it took effect; \
                  --for curl or --idempotent no prevents that, --idempotent yes hides this remark\n";
    for (line, count) in [
        ("-n 3 -- curl -d x URL", 1),
        ("-- sh -c 'curl -d \"$X\" URL'", 1),
        ("--for network -- curl -d x URL", 1),
        ("-n 1 -- curl -d x URL", 0),
        ("-q -- curl -d x URL", 0),
        ("--idempotent yes -- curl -d x URL", 0),
        ("--idempotent no -- curl -d x URL", 0),
        ("--for curl -- curl -d x URL", 0),
        ("-e 28 -- curl -d x URL", 0),
        ("--retry-if true -- curl -d x URL", 0),
        ("-- curl URL", 0),
        ("-- curl -K file", 0),
        ("-- post.sh -d x", 0),
    ] {
        let shown = failed(&dir, 28, "x: Connection refused", words!("{..}", line));
        assert_eq!(shown.stderr.matches(remark).count(), count, "{line}: {shown:#?}");
    }
}

/// A refusal is of the last request.
#[test]
fn a_refusal_allows_a_retry_only_of_a_single_request() {
    let dir = failing(&["curl", "redis-cli"]);
    for (line, is_single) in [
        ("curl -fsS -m 5 -H 'A: b' --json '{\"a\":1}' URL", true),
        ("env A=b curl -d x URL", true),
        ("curl -L -d x URL", false),
        ("curl -d x URL URL", false),
        ("curl --silent h/a -d x h/b", false),
        ("curl --retry 3 -d x URL", false),
        ("curl -K file -d x", false),
        ("curl -d x 'http://h/{a,b}'", false),
        ("sh -c 'curl -d x URL; curl -d y URL'", false),
    ] {
        let shown = failed(&dir, 7, "", words!("--for curl -- {..}", line));
        match is_single {
            true => is_retried(shown),
            false => drop(shown.expect_stderr("gave up after 1 attempt in ").expect_stderr(FINAL)),
        }
    }
    let busy = "LOADING Redis is loading the dataset in memory";
    for (line, is_single) in [
        ("redis-cli -e INCR x", true),
        ("redis-cli -h host PING", true),
        ("redis-cli -e", false),
        ("redis-cli -r 3 INCR x", false),
    ] {
        let shown = failed(&dir, 1, busy, words!("--idempotent no --for auto -- {..}", line));
        match is_single {
            true => is_retried(shown),
            false => is_final(shown, "--idempotent no"),
        }
    }
}

// --- BACKOFF_ROOT_ID ---

#[test]
fn the_outermost_run_gives_its_id_to_all_below() {
    // Attempts of both, hooks, predicates.
    let inner = "backoff -q -n 2 -b 1ms --retry-if 'echo $BACKOFF_ROOT_ID >&3' --on-retry 'echo $BACKOFF_ROOT_ID >&3' -- \
                 sh -c 'echo $BACKOFF_ROOT_ID >&3; exit 1'";
    let told = |script: &str| {
        let shown = run(shell(script).env("INNER", inner));
        let ids: Vec<String> = shown.stdout.split_whitespace().map(str::to_owned).collect();
        assert!(ids.len() > 1 && ids.iter().all(|id| id.len() == 36), "{shown:?}");
        ids
    };
    let outer = "exec 3>&1; backoff -q -n 2 -b 1ms -- sh -c 'echo $BACKOFF_RUN_ID >&3; eval \"$INNER\"'";
    let ids = told(outer);
    assert!(ids.len() > 8 && ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    // Another run has another, and that of an outermost one is its own.
    let ids = told("for i in 1 2; do backoff -- sh -c 'echo $BACKOFF_ROOT_ID $BACKOFF_RUN_ID'; done");
    assert!(ids[0] == ids[1] && ids[2] == ids[3] && ids[0] != ids[2], "{ids:?}");
}

#[test]
fn an_id_that_is_none_is_not_kept() {
    let id = "11111111-2222-4333-8444-555555555555";
    let told = |depth: &str, id: &str| {
        let mut command = backoff("-- sh -c 'echo $BACKOFF_ROOT_ID $BACKOFF_RUN_ID'");
        let shown = run(command.env("BACKOFF_DEPTH", depth).env("BACKOFF_ROOT_ID", id));
        let (root, own) = shown.stdout.trim().split_once(' ').unwrap();
        assert!(root == id || root == own, "{shown:?}");
        root == id
    };
    assert!(told("1", id));
    // Left in the environment, or made up.
    assert!(!told("", id));
    assert!(!told("0", id));
    assert!(!told("one", id));
    assert!(!told("1", ""));
    assert!(!told("1", "11111111-2222-4333-8444-55555555555"));
    assert!(!told("1", "1111111122224333844455555555555x"));
    assert!(!told("1", "a\u{e9}111111-2222-4333-8444-555555555555"));
}
