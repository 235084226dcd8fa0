//! A command that must not be carried out twice: `--idempotent`, what presets know of it, and the id of the outermost run.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::words::Words;
use crate::common::{Shown, backoff, executable, path_with_backoff, run, shell, within};

const FINAL: &str = "it may have been carried out, and is not idempotent";

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
        .expect_stderr(&format!(" ({FINAL}: {why})\n"));
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
    // What is permanent anyway says so.
    once("-e 7 -- sh -c 'exit 8'").expect_stderr("permanent: no retry rule matches");
}

#[test]
fn a_rule_of_the_user_says_that_it_may_be_retried() {
    for args in [
        "-e 7 -- sh -c 'exit 7'",
        "-r again -- sh -c 'echo again; exit 7'",
        "--retry-signal TERM -- sh -c 'kill $$'",
        "--retry-if 'exit 0' -- sh -c 'exit 7'",
        // Nothing was run.
        "-e 126,127 -- /no/such/command",
        // Where both apply, the rule of the preset changes nothing.
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
    std::fs::write(
        &file,
        "[policy.x]\nidempotent = \"no\"\n[[policy.x.rule]]\nexit = 7\n[[policy.x.rule]]\ntimed_out = true\n",
    )
    .unwrap();
    let policy = |args: &str| {
        let words = words!("--config {} -p x -n 2 -b 1ms {..}", &file, args);
        run(backoff(words).env_remove("BACKOFF_NO_CONFIG"))
    };
    is_retried(policy("-- sh -c 'exit 7'"));
    is_retried(policy("-t 50ms -- sleep 9"));
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
    // What a script has done before it called curl is not known.
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

#[test]
fn the_method_is_read_from_the_arguments() {
    let dir = failing(&["curl", "wget", "other"]);
    let post = "POST without an Idempotency-Key header";
    for command in [
        "curl -sSfX POST URL",
        "curl -d x URL",
        "sudo-like curl -d x URL",
        "timeout 9 curl --json {} URL",
        "sh -c 'curl -sXPOST URL'",
    ] {
        let command = command.replace("sudo-like", "env A=b");
        is_final(failed(&dir, 28, "", words!("--for auto -- {..}", &command)), post);
        is_retried(failed(&dir, 7, "", words!("--for auto -- {..}", &command)));
        is_retried(failed(
            &dir,
            28,
            "",
            words!("--idempotent yes --for auto -- {..}", &command),
        ));
        is_retried(failed(&dir, 28, "", words!("-- {..}", &command)));
    }
    is_final(failed(&dir, 4, "", "--for wget -- wget --post-data=x URL"), post);
    for command in [
        "curl URL",
        "curl -G -d x URL",
        "curl -T file URL",
        "curl -d x -H 'idempotency-key: 1' URL",
        "wget URL",
    ] {
        is_retried(failed(
            &dir,
            if command.starts_with('w') { 4 } else { 28 },
            "",
            words!("--for auto -- {..}", command),
        ));
    }
    // The preset is for another program, or is none at all.
    is_retried(failed(&dir, 28, "", "--for curl -- other -d x URL"));
    is_retried(failed(&dir, 28, "", "--for sysexits,curl -- other -d x URL"));
    let shown = failed(&dir, 28, "", "-v --for auto -- curl -d x URL");
    assert!(
        shown.stderr.starts_with(&format!("backoff: --idempotent no: {post}\n")),
        "{shown:?}"
    );
    failed(&dir, 28, "", "-vv --for auto -- curl -d x URL")
        .expect_stderr(&format!("backoff: idempotent = no ({post})\n"));
}

#[test]
fn a_refusal_of_one_request_among_several_tells_nothing() {
    let dir = failing(&["curl", "wget", "redis-cli"]);
    let post = "POST without an Idempotency-Key header";
    for command in [
        "curl -L -d x URL",
        "curl -d x URL URL",
        "curl --retry 3 -d x URL",
        "curl -K file -d x",
    ] {
        is_final(failed(&dir, 7, "", words!("--for auto -- {..}", command)), post);
        is_retried(failed(&dir, 7, "", words!("--for auto -e 7 -- {..}", command)));
    }
    is_final(
        failed(&dir, 7, "", "--idempotent no --for auto -- curl -L URL"),
        "--idempotent no",
    );
    // By itself wget goes on.
    let refused = "wget: unable to resolve host address 'h'";
    is_final(failed(&dir, 4, refused, "--for auto -- wget --post-data=x URL"), post);
    is_retried(failed(
        &dir,
        4,
        refused,
        "--for auto -- wget -t1 --max-redirect=0 --post-data=x URL",
    ));
    let busy = "LOADING Redis is loading the dataset in memory";
    is_retried(failed(
        &dir,
        1,
        busy,
        "--idempotent no --for auto -- redis-cli -e INCR x",
    ));
    is_final(
        failed(&dir, 1, busy, "--idempotent no --for auto -- redis-cli -e"),
        "--idempotent no",
    );
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
