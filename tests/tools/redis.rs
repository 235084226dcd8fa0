//! Budgets on real Redis servers: what is counted, who may ask, and what a run does when the server is
//! wrong, slow or gone.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use redis::Commands;

use crate::common::ledger::{BudgetLimits, Ledger, MOST_SLOTS, Question};
use crate::common::process::state;
use crate::common::redis::{Server, counts, free_port, numbers};
use crate::common::tools::Test;
use crate::common::words::Words;
use crate::common::{
    BIN, Live, PATIENCE, Shown, backoff, clean, eventually, executable, path_with_backoff, run, shell, within,
};

const SERVER: &[&str] = &["redis-server"];

const SCRIPT: &str = include_str!("../../src/budget/budget.lua");

pub const TESTS: &[Test] = &[
    (
        "a_budget_is_counted_exactly_and_shared",
        SERVER,
        a_budget_is_counted_exactly_and_shared,
    ),
    (
        "a_call_of_nested_runs_is_counted_once",
        SERVER,
        a_call_of_nested_runs_is_counted_once,
    ),
    ("a_spent_budget_gives_up", SERVER, a_spent_budget_gives_up),
    ("a_window_passes", SERVER, a_window_passes),
    ("questions_alone_leave_no_key", SERVER, questions_alone_leave_no_key),
    ("a_unix_socket", SERVER, a_unix_socket),
    ("a_database_of_its_own", SERVER, a_database_of_its_own),
    (
        "users_and_passwords_by_address_and_by_variable",
        SERVER,
        users_and_passwords_by_address_and_by_variable,
    ),
    ("no_password_is_ever_printed", SERVER, no_password_is_ever_printed),
    ("a_user_without_a_password", SERVER, a_user_without_a_password),
    ("the_least_rights_that_do", SERVER, the_least_rights_that_do),
    ("nobody_listens", SERVER, nobody_listens),
    (
        "this_machines_own_budget_takes_its_place",
        SERVER,
        this_machines_own_budget_takes_its_place,
    ),
    ("a_server_that_hangs", SERVER, a_server_that_hangs),
    (
        "a_server_killed_and_started_again",
        SERVER,
        a_server_killed_and_started_again,
    ),
    ("a_server_whose_memory_is_full", SERVER, a_server_whose_memory_is_full),
    ("a_replica", SERVER, a_replica),
    ("a_password_that_was_changed", SERVER, a_password_that_was_changed),
    (
        "a_server_that_is_down_denies_retries",
        SERVER,
        a_server_that_is_down_denies_retries,
    ),
    ("the_script_is_sent_once", SERVER, the_script_is_sent_once),
    ("a_server_that_refuses", SERVER, a_server_that_refuses),
    ("a_server_that_is_loading", SERVER, a_server_that_is_loading),
    ("a_port_that_talks_http", &[], a_port_that_talks_http),
    ("a_port_that_hangs_up", &[], a_port_that_hangs_up),
    ("a_port_that_says_nothing", &[], a_port_that_says_nothing),
    (
        "a_server_that_never_stops_talking",
        &[],
        a_server_that_never_stops_talking,
    ),
    ("a_server_that_makes_one_wait", &[], a_server_that_makes_one_wait),
    ("a_server_that_talks_slowly", &[], a_server_that_talks_slowly),
    ("a_name_that_does_not_resolve", &[], a_name_that_does_not_resolve),
    (
        "what_others_wrote_is_left_alone",
        SERVER,
        what_others_wrote_is_left_alone,
    ),
    ("any_text_is_a_name", SERVER, any_text_is_a_name),
    (
        "tls_with_a_certificate_that_is_trusted",
        &["redis-server", "openssl"],
        tls_with_a_certificate_that_is_trusted,
    ),
    (
        "tls_with_a_certificate_that_is_not",
        &["redis-server", "openssl"],
        tls_with_a_certificate_that_is_not,
    ),
    (
        "tls_with_files_of_the_address",
        &["redis-server", "openssl"],
        tls_with_files_of_the_address,
    ),
    (
        "the_recipe_for_containers",
        &["redis-server", "openssl"],
        the_recipe_for_containers,
    ),
    (
        "files_that_cannot_be_used_are_usage_errors",
        &["openssl"],
        files_that_cannot_be_used_are_usage_errors,
    ),
    ("any_node_of_a_cluster_will_do", SERVER, any_node_of_a_cluster_will_do),
    ("the_first_server_that_answers", SERVER, the_first_server_that_answers),
    (
        "no_write_waits_for_the_one_before",
        &["redis-server", "openssl", "strace"],
        no_write_waits_for_the_one_before,
    ),
    ("a_node_of_a_cluster_is_gone", SERVER, a_node_of_a_cluster_is_gone),
    ("a_name_that_is_being_moved", SERVER, a_name_that_is_being_moved),
    ("term_while_the_store_is_asked", &[], term_while_the_store_is_asked),
    (
        "term_while_the_store_is_told_of_the_end",
        &[],
        term_while_the_store_is_told_of_the_end,
    ),
    (
        "stopped_while_the_store_is_asked",
        &[],
        stopped_while_the_store_is_asked,
    ),
    (
        "no_store_is_asked_without_a_budget",
        &[],
        no_store_is_asked_without_a_budget,
    ),
    ("nothing_is_held_during_a_wait", SERVER, nothing_is_held_during_a_wait),
    ("cool_off", SERVER, cool_off),
    ("the_script_is_the_ledger", SERVER, the_script_is_the_ledger),
    ("the_script_has_as_many_slots", SERVER, the_script_has_as_many_slots),
];

const FAILING: &str = "-- false";

/// A store that has time for its answers.
fn patient(store: &str) -> String {
    with_timeout(store, "20s")
}

/// The address with a time-out of its own, unless it has one, or is to be an error.
fn with_timeout(store: &str, timeout: &str) -> String {
    match store.split_once('#') {
        _ if store.contains("timeout=") => store.to_owned(),
        Some((store, fragment)) => format!("{}#{fragment}", with_timeout(store, timeout)),
        None if store.contains('?') => format!("{store}&timeout={timeout}"),
        None => format!("{store}?timeout={timeout}"),
    }
}

/// A run that asks this store, and has time for the answer.
fn asking(store: &str, name: &str, options: impl Words) -> Command {
    backoff(words!(
        "-b 1ms -j none --store {} --budget {} {..}",
        patient(store),
        name,
        options
    ))
}

fn asked(store: &str, name: &str, options: impl Words) -> Shown {
    run(&mut asking(store, name, options))
}

/// The run went on without its budget and said why, once; nothing else was special.
#[track_caller]
fn goes_on(shown: Shown, why: &str) {
    let warnings = shown.stderr.matches("warning").count();
    assert_eq!(warnings, 1, "{shown:#?}");
    shown
        .expect_stderr(why)
        .expect_stderr("going on without the budget \"api\"")
        .expect_stderr("gave up after 3 attempts")
        .expect_code(1);
}

#[track_caller]
fn fails_open(store: &str, why: &str) {
    goes_on(asked(store, "api", "-n 3 -- false"), why);
}

// --- counting ---

fn a_budget_is_counted_exactly_and_shared() {
    let server = Server::start("");
    for round in 1..=2 {
        asked(&server.url(), "api", "-q -n 3 --budget-min 100 -- false")
            .expect_code(1)
            .expect_silence();
        assert_eq!(server.counts("api"), (3 * round, 2 * round));
    }
    asked(&server.url(), "other", "-- true").expect_code(0).expect_silence();
    assert_eq!((server.counts("api"), server.counts("other")), ((6, 4), (1, 0)));

    let mut admin = server.admin();
    let mut keys: Vec<String> = admin.keys("*").unwrap();
    keys.sort();
    assert_eq!(keys, ["backoff:budget:api", "backoff:budget:other"]);
    // Gone when nothing counts any more: after the window and a sixtieth.
    let left: u64 = admin.pttl("backoff:budget:api").unwrap();
    assert!((570_000..=610_000).contains(&left), "{left} ms");
}

fn a_call_of_nested_runs_is_counted_once() {
    let server = Server::start("--requirepass hunter22");
    let url = format!("redis://:hunter22@127.0.0.1:{}/3", server.port);
    let script = "backoff -n 2 -- sh -c 'backoff -n 2 -- sh -c \"env; exit 7\"; backoff -n 1 -- false'";
    let mut command = shell(script);
    command
        .env("BACKOFF_BUDGET", "api")
        .env("BACKOFF_BUDGET_MIN", "100")
        .env("BACKOFF_STORE", patient(&url));
    command.env("BACKOFF_BASE", "1ms");
    let shown = run(&mut command).expect_code(1);
    let said: Vec<&str> = shown
        .stdout
        .lines()
        .filter(|line| line.starts_with("BACKOFF_COUNTED="))
        .collect();
    assert_eq!(said.len(), 4);
    let place = format!("\"api\" in redis://127.0.0.1:{}/3", server.port);
    assert!(
        said.iter().all(|said| said.split_once('=').unwrap().1 == place),
        "{said:?}"
    );
    let mut admin = redis::Client::open(url).unwrap().get_connection().unwrap();
    assert_eq!(counts(&mut admin, "api"), (4, 3));
}

fn a_spent_budget_gives_up() {
    let server = Server::start("");
    let options = "-n 9 --budget-min 3 --exhausted-exit 75 -- false";
    asked(&server.url(), "api", options)
        .expect_code(75)
        .expect_stderr("gave up after 3 attempts")
        .expect_stderr("budget \"api\" exhausted: 2 of 3 attempts");
    asked(&server.url(), "api", options)
        .expect_code(75)
        .expect_stderr("gave up after 1 attempt ")
        .expect_stderr("budget \"api\" exhausted: 2 of 4 attempts");
    assert_eq!(server.counts("api"), (4, 2));
    // A ratio of its own sees the same counts.
    let ample = "-q -n 2 --budget-min 0 --budget-ratio 90%";
    asked(&server.url(), "api", words!("{..} {..}", ample, FAILING)).expect_silence();
    assert_eq!(server.counts("api"), (6, 3));
}

fn a_window_passes() {
    let server = Server::start("");
    let options = "--budget-window 3s --budget-min 2 -n 9 -- false";
    asked(&server.url(), "api", options).expect_stderr("exhausted: 1 of 2 attempts in 3s");
    let left: u64 = server.admin().pttl("backoff:budget:api").unwrap();
    assert!((1..=3_050).contains(&left), "{left} ms");
    eventually("it is forgotten", || server.keys() == 0);
    asked(&server.url(), "api", options).expect_stderr("gave up after 2 attempts");
}

fn questions_alone_leave_no_key() {
    let server = Server::start("");
    let mut twins = Twins::on(&server);
    let terms = BudgetLimits {
        ratio: 100_000,
        min: 0,
        window: Duration::from_secs(60),
    };
    for question in [Question::CoolOff, Question::Succeeded, Question::Retry] {
        assert_eq!(twins.answers(&terms, question, 1_700_000_000_000), [[0; 5]; 2]);
        assert_eq!(server.keys(), 0, "{question:?}");
    }
}

fn a_unix_socket() {
    let server = Server::start("");
    let store = format!("redis+unix://{}", server.socket());
    asked(&store, "api", "-q -n 2 -- false").expect_silence();
    assert_eq!(server.counts("api"), (2, 1));
    fails_open(
        "redis+unix:///no-such/socket",
        "redis+unix:///no-such/socket: cannot be reached: No such file",
    );
}

fn a_database_of_its_own() {
    let server = Server::start("--databases 4");
    asked(&format!("{}/3", server.url()), "api", "-- true").expect_silence();
    assert_eq!(server.counts("api"), (0, 0));
    assert_eq!(counts(&mut server.admin_as("?db=3"), "api"), (1, 0));
    fails_open(&format!("{}/4", server.url()), "has no database of this number");
}

// --- who may ask ---

/// Signs that mean something in an address, in a shell and on a terminal.
const PASSWORD: &str = "s3cr3t/?#@:%&";
const ESCAPED: &str = "s3cr3t%2F%3F%23%40%3A%25%26";

fn users_and_passwords_by_address_and_by_variable() {
    let server = Server::start(words!("--requirepass {}", PASSWORD));
    let admin = || server.admin_as(&format!("?pass={ESCAPED}"));
    let () = redis::cmd("ACL")
        .arg(&["SETUSER", "jane@home", "on", &format!(">{PASSWORD}"), "~*", "+@all"])
        .query(&mut admin())
        .unwrap();
    let port = server.port;
    let addresses = [
        format!("redis://:{ESCAPED}@127.0.0.1:{port}"),
        format!("redis://default:{ESCAPED}@127.0.0.1:{port}"),
        format!("redis://jane%40home:{ESCAPED}@127.0.0.1:{port}/0"),
        format!("redis+unix://{}?user=jane%40home&pass={ESCAPED}", server.socket()),
    ];
    for (i, address) in addresses.iter().enumerate() {
        let name = format!("user-{i}");
        asked(address, &name, "-n 2 -q -- false").expect_silence();
        run(backoff(words!("--budget {} -q -n 1 -- false", name)).env("BACKOFF_STORE", patient(address)))
            .expect_silence();
        assert_eq!(counts(&mut admin(), &name), (3, 1), "{address}");
    }
}

fn no_password_is_ever_printed() {
    const SECRET: &str = "hunter22";
    let open = Server::start("");
    let closed = Server::start("--requirepass other");
    let (o, c) = (open.port, closed.port);
    let refused = "refuses the user or the password";
    let no_address = "is not a Redis address";
    let unknown = "has a setting that is unknown here";
    // A part of the warning or of the error that each one must bring.
    let cases = [
        (format!("redis://127.0.0.1:{c}"), "wants a password (NOAUTH)"),
        (format!("redis://:{SECRET}@127.0.0.1:{c}"), refused),
        (format!("redis://jane:{SECRET}@127.0.0.1:{c}"), refused),
        (format!("redis://jane:{SECRET}@127.0.0.1:{o}"), refused),
        (format!("redis://:{SECRET}@127.0.0.1:{o}"), "wants no password"),
        (format!("redis://{SECRET}@127.0.0.1:{c}"), refused),
        (format!("redis://127.0.0.1:{c}?password={SECRET}"), unknown),
        (format!("redis://127.0.0.1:{c}/0?auth={SECRET}&db=0"), unknown),
        (format!("redis://127.0.0.1:{c}#{SECRET}"), "has a # in it"),
        (format!("redis://:{SECRET}"), no_address),
        (format!("redis://jane:{SECRET}"), no_address),
        (format!("redis://:{SECRET}:6379/0"), no_address),
        (format!("redis://host/{SECRET}"), "not a number"),
        (format!("redis://:a/{SECRET}"), no_address),
        (format!("redis://:{SECRET}@127.0.0.1:1"), "Connection refused"),
        (format!("rediss://:{SECRET}@127.0.0.1:1"), "Connection refused"),
        (format!("redis+unix://{}?pass={SECRET}", closed.socket()), refused),
        (format!("redis+unix:///nosuch?user=a&pass={SECRET}"), "No such file"),
        (format!("redis://:{SECRET}@127.0.0.1:99999"), no_address),
        (format!("redis://:{SECRET}@"), no_address),
        (format!("redis://a:b/{SECRET}@host"), no_address),
        (format!("redis://a:b#{SECRET}@host"), "has a # in it"),
        (format!("redis://:{SECRET}@host/x"), "not a number"),
        (format!("redis+unix:///nosuch?pass={SECRET}&db=x"), "not a number"),
        (format!("rediss://:{SECRET}@host#insecure"), "has a # in it"),
        (format!("redsi://:{SECRET}@host"), "is not a store"),
        (format!("redis:/:{SECRET}@host"), "lacks its beginning"),
        (format!("redis::{SECRET}@host"), "lacks its beginning"),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (address, why) in &cases {
        let address = &patient(address);
        for by_variable in [false, true] {
            let mut command = backoff("-vvv -n 2 -b 1ms --budget api --cool-off");
            command.current_dir(dir.path());
            if by_variable {
                command.env("BACKOFF_STORE", address);
            } else {
                command.args(["--store", address]);
            }
            let shown = run(command.args(FAILING.words())).expect_stderr(why);
            assert!(
                !shown.stderr.contains(SECRET) && !shown.stdout.contains(SECRET),
                "{address}: {shown:#?}"
            );
        }
        let plan = run(backoff("--plan --budget api").args(["--store", address]));
        assert!(!format!("{plan:?}").contains(SECRET), "{address}: {plan:#?}");
    }
    // None was taken for a directory.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A name that has no password is not left out: the default user may be allowed more, or less.
fn a_user_without_a_password() {
    let server = Server::start("");
    let () = redis::cmd("ACL")
        .arg(&["SETUSER", "jane", "on", "nopass", "~*", "+@all"])
        .query(&mut server.admin())
        .unwrap();
    let store = |user: &str| format!("redis://{user}@127.0.0.1:{}", server.port);
    asked(&store("jane"), "api", "-q -n 2 -- false").expect_silence();
    asked(&store("jane:"), "api", "-q -n 2 -- false").expect_silence();
    for nobody in ["nosuchuser", "nosuchuser:"] {
        fails_open(&store(nobody), "refuses the user or the password (WRONGPASS)");
    }
    assert_eq!(server.counts("api"), (4, 2));
}

/// The manual says what a user needs; not one of these may be spared.
fn the_least_rights_that_do() {
    const RIGHTS: [&str; 6] = ["~backoff:budget:*", "+eval", "+evalsha", "+get", "+set", "+time"];
    let server = Server::start("");
    let store = format!("redis://jane:word@127.0.0.1:{}", server.port);
    let allow = |rights: &[&str]| {
        let () = redis::cmd("ACL")
            .arg(&["SETUSER", "jane", "reset", "on", ">word"])
            .arg(rights)
            .query(&mut server.admin())
            .unwrap();
    };
    allow(&RIGHTS);
    asked(&store, "api", "-q --cool-off -n 2 -- false").expect_silence();
    assert_eq!(server.counts("api"), (2, 1));
    for spared in RIGHTS {
        let rights: Vec<&str> = RIGHTS.into_iter().filter(|right| *right != spared).collect();
        allow(&rights);
        // A script that the server knows takes no EVAL.
        let () = redis::cmd("SCRIPT").arg("FLUSH").query(&mut server.admin()).unwrap();
        goes_on(
            asked(&store, "api", "-n 3 -- false"),
            "does not let this user do it (NOPERM)",
        );
    }
    assert_eq!(server.counts("api"), (2, 1));
}

// --- servers in trouble ---

fn nobody_listens() {
    let mut server = Server::start("");
    server.kill();
    fails_open(
        &server.url(),
        &format!("{}: cannot be reached: Connection refused", server.url()),
    );
}

/// A budget of this machine takes the place of one that cannot be asked, and the other is asked again before each retry.
fn this_machines_own_budget_takes_its_place() {
    let mut server = Server::start("");
    let url = server.url();
    server.kill();
    let state = tempfile::tempdir().unwrap();
    let asked = |options: &str| {
        run(asking(&url, "api", format!("--budget-min 3 -n 9 {options}").as_str()).env("XDG_STATE_HOME", state.path()))
    };
    let shown = asked("-- false")
        .expect_code(1)
        .expect_stderr("budget \"api\" exhausted: 2 of 3 attempts");
    let why = format!(
        "backoff: warning: {url}: cannot be reached: Connection refused; going on with this machine's own budget \"api\"\n"
    );
    assert_eq!(shown.stderr.matches(&why).count(), 1, "{shown:?}");
    assert_eq!(shown.stderr.matches("warning").count(), 1, "{shown:?}");
    let file = state.path().join("backoff/api.budget");
    assert_eq!(
        crate::common::ledger::counted(&crate::common::ledger::ledger(&file)),
        (3, 2)
    );

    // If the local store hangs as well, it holds up the run no longer than the server.
    let locked = std::fs::File::open(&file).unwrap();
    let locked = nix::fcntl::Flock::lock(locked, nix::fcntl::FlockArg::LockExclusive).unwrap();
    let mut command = backoff(words!("--budget api --store {} -- true", url));
    let began = Instant::now();
    run(command.env("XDG_STATE_HOME", state.path()))
        .expect_code(0)
        .expect_stderr("gives no answer within 250ms; going on without the budget \"api\"");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    drop(locked);

    // It is back when the second attempt ends, and knows of nothing.
    std::fs::remove_file(&file).unwrap();
    let go = within(&state, "go");
    let mut command = asking(&url, "api", "--budget-min 3 -n 9 --");
    command.env("XDG_STATE_HOME", state.path()).env("GO", &go);
    command.args(["sh", "-c", "echo $BACKOFF_ATTEMPT; read -r answer <$GO; exit 1"]);
    nix::unistd::mkfifo(&*go, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut live = Live::start(&mut command);
    for attempt in 1..=4 {
        live.expect_line(&attempt.to_string());
        if attempt == 2 {
            server.start_again("");
        }
        std::fs::write(&go, "go\n").unwrap();
    }
    live.expect_line("5");
    std::fs::write(&go, "go\n").unwrap();
    live.finish().expect_stderr("exhausted: 3 of 3 attempts");
    assert_eq!(server.counts("api"), (3, 3));
}

fn a_server_that_hangs() {
    let server = Server::start("");
    server.pause();
    let began = Instant::now();
    let mut command = backoff("-n 3 -b 1ms --budget api");
    goes_on(
        run(command
            .args(["--store", &with_timeout(&server.url(), "300ms")])
            .args(FAILING.words())),
        "gives no answer within 300ms",
    );
    let took = began.elapsed();
    // It is asked once, not before each attempt.
    assert!(
        took >= Duration::from_millis(300) && took < Duration::from_secs(5),
        "{took:?}"
    );
    server.resume();
}

fn a_server_killed_and_started_again() {
    let mut server = Server::start("");
    let url = server.url();
    let options = "-q -n 2 -- false";
    asked(&url, "api", options).expect_silence();
    assert_eq!(server.counts("api"), (2, 1));
    // In the middle of a run, too: what comes after goes on without it.
    let mut live = Live::start(asking(&url, "api", "-b 300ms -n 3 --").args(["sh", "-c", "echo ready; false"]));
    live.expect_line("ready");
    server.kill();
    let shown = live.finish();
    assert_eq!(shown.stdout, "ready\nready\n");
    shown
        .expect_stderr("going on without the budget")
        .expect_stderr("gave up after 3 attempts");
    server.start_again("");
    // Nothing was saved, and so it counts from the start.
    asked(&url, "api", options).expect_silence();
    assert_eq!(server.counts("api"), (2, 1));
}

fn a_server_whose_memory_is_full() {
    let server = Server::start("");
    let mut admin = server.admin();
    let () = redis::cmd("CONFIG")
        .arg(&["SET", "maxmemory", "1", "maxmemory-policy", "noeviction"])
        .query(&mut admin)
        .unwrap();
    fails_open(&server.url(), "is out of memory (OOM)");
}

fn a_replica() {
    let server = Server::start("--replicaof 127.0.0.1 1");
    fails_open(&server.url(), "is a read-only replica (READONLY)");
}

fn a_password_that_was_changed() {
    let server = Server::start("--requirepass old");
    let url = format!("redis://:old@127.0.0.1:{}", server.port);
    let mut live = Live::start(asking(&url, "api", "-b 300ms -n 2 --").args(["sh", "-c", "echo ready; false"]));
    live.expect_line("ready");
    // The attempt is counted by then.
    let mut admin = server.admin_as("?pass=old");
    eventually("it is counted", || counts(&mut admin, "api").0 == 2);
    let () = redis::cmd("CONFIG")
        .arg(&["SET", "requirepass", "new"])
        .query(&mut admin)
        .unwrap();
    live.finish()
        .expect_stderr("refuses the user or the password (WRONGPASS)")
        .expect_stderr("gave up after 2 attempts");
}

/// `--store-down deny`, while the server is away, paused and back.
fn a_server_that_is_down_denies_retries() {
    let mut server = Server::start("");
    let state = tempfile::tempdir().unwrap();
    let url = with_timeout(&server.url(), "300ms");
    let deny = |name: &str| {
        let mut command = asking(&url, name, "--store-down deny -n 4 -- sh -c");
        run(command.arg("echo out; exit 7").env("XDG_STATE_HOME", state.path())).expect_code(7)
    };
    let is_denied = |why: &str| {
        let shown = deny("api")
            .expect_stderr(why)
            .expect_stderr("; without the budget \"api\" no retry is made (--store-down deny)")
            .expect_stderr("gave up after 1 attempt ")
            .expect_stderr("the store of budget \"api\" gives no answer");
        assert_eq!(shown.stdout, "out\n");
    };
    server.pause();
    is_denied("gives no answer within 300ms");
    server.resume();
    server.kill();
    is_denied("cannot be reached: Connection refused");
    // Nothing has taken its place.
    assert_eq!(std::fs::read_dir(&state).unwrap().count(), 0);
    server.start_again("");
    deny("api").expect_stderr("gave up after 4 attempts");
    assert_eq!(server.counts("api"), (4, 3));
}

/// A server that knows the script is told its name alone.
fn the_script_is_sent_once() {
    let server = Server::start("");
    let hash: String = redis::cmd("SCRIPT")
        .arg("LOAD")
        .arg(SCRIPT)
        .query(&mut server.admin())
        .unwrap();
    assert!(include_str!("../../src/budget/redis.rs").contains(&hash), "{hash}");
    let () = redis::cmd("SCRIPT").arg("FLUSH").query(&mut server.admin()).unwrap();
    for _ in 0..3 {
        asked(&server.url(), "api", "-q -n 2 -- false").expect_silence();
    }
    let stats: String = redis::cmd("INFO")
        .arg("commandstats")
        .query(&mut server.admin())
        .unwrap();
    // The first attempt and the question about a retry may be under way at once.
    assert!(stats.contains("cmdstat_eval:calls=1,"), "{stats}");
    assert!(stats.contains("cmdstat_evalsha:calls=9,"), "{stats}");
    assert_eq!(server.counts("api"), (6, 3));
}

/// Faults are reported without the server's own words.
fn a_server_that_refuses() {
    let set = |server: &Server, key: &str, value: &str| {
        let () = redis::cmd("CONFIG")
            .arg(&["SET", key, value])
            .query(&mut server.admin())
            .unwrap();
    };
    let full = Server::start("");
    let _admin = full.admin();
    set(&full, "maxclients", "1");
    let unsaved = Server::start("--save '3600 1' --dbfilename nosuch.rdb");
    std::fs::create_dir(unsaved.dir.path().join("nosuch.rdb")).unwrap();
    let () = redis::cmd("BGSAVE").query(&mut unsaved.admin()).unwrap();
    eventually("saving has failed", || {
        let info: String = redis::cmd("INFO").query(&mut unsaved.admin()).unwrap();
        info.contains("rdb_last_bgsave_status:err")
    });
    let busy = Server::start("--busy-reply-threshold 1");
    let mut admin = busy.admin();
    let endless = std::thread::spawn(move || {
        let _: redis::RedisResult<()> = redis::cmd("EVAL").arg("while true do end").arg(0).query(&mut admin);
    });
    eventually("it is busy", || {
        let pong: redis::RedisResult<String> = redis::cmd("PING").query(&mut busy.admin());
        pong.is_err()
    });
    let renamed = Server::start("--rename-command EVAL ''");
    let alone = Server::start("--cluster-enabled yes");
    for (store, why) in [
        (full.url(), "has reached its limit of clients (maxclients)"),
        (
            unsaved.url(),
            "takes no writes until it can save its data again (MISCONF)",
        ),
        (busy.url(), "is busy with another script (BUSY)"),
        (renamed.url(), "does not run scripts: EVAL is disabled or renamed"),
        (
            alone.url(),
            "is part of a cluster that is down or incomplete (CLUSTERDOWN)",
        ),
        (
            talker("-DENIED \x1b[2J\r\n", "", Duration::from_secs(1)),
            "takes clients of its own machine alone until it has a password (DENIED)",
        ),
        (talker("-ERR \x1b[2J\r\n", "", Duration::from_secs(1)), "refuses (ERR)"),
    ] {
        fails_open(&store, &format!("{store}: {why};"));
    }
    let () = redis::cmd("SCRIPT").arg("KILL").query(&mut busy.admin()).unwrap();
    endless.join().unwrap();
}

fn a_server_that_is_loading() {
    let mut server = Server::start("");
    let mut admin = server.admin();
    for i in 0..2000 {
        let () = admin.set(format!("key {i}"), "value").unwrap();
    }
    let () = redis::cmd("SAVE").query(&mut admin).unwrap();
    server.kill();
    // 2,000 keys of 30 ms: a minute. It answers in between.
    server.start_again("--key-load-delay 30000 --loading-process-events-interval-bytes 1024");
    fails_open(&server.url(), "is still loading its data (LOADING)");
}

fn a_port_that_talks_http() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Unread data at close would reset the connection.
            let mut request = [0; 1 << 16];
            let _ = (&stream).read(&mut request);
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    fails_open(&url, "does not speak the protocol of Redis");
}

fn a_port_that_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Unread data at close would reset the connection.
            let _ = stream.read(&mut [0; 1 << 16]);
        }
    });
    fails_open(&url, "closes the connection; ");
}

fn a_port_that_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for scheme in ["redis", "rediss"] {
        for user in ["", "jane:word@"] {
            let store = format!("{scheme}://{user}{address}?timeout=200ms");
            let mut command = backoff("-n 3 -b 1ms --budget api");
            goes_on(
                run(command.args(["--store", &store]).args(FAILING.words())),
                "gives no answer within 200ms",
            );
        }
    }
}

/// A server that says this, and then that again and again, with a pause: its address.
fn talker(first: &'static str, then: &'static str, pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 1 << 16]);
                let _ = stream.write_all(first.as_bytes());
                let more = if pause.is_zero() {
                    then.repeat(1000)
                } else {
                    then.to_owned()
                };
                while stream.write_all(more.as_bytes()).is_ok() {
                    std::thread::sleep(pause);
                }
            });
        }
    });
    format!("redis://{address}")
}

fn a_server_that_never_stops_talking() {
    for (first, then) in [
        ("$100000000000\r\n", "aaaaaaaaaaaaaaaa"),
        ("*2147483647\r\n", ":1\r\n"),
        ("*2147483647\r\n", "*2147483647\r\n"),
        ("+", "aaaaaaaaaaaaaaaa"),
        ("*4\r\n:1\r\n", "1111111111111111"),
        ("", "-MOVED 1 :1"),
    ] {
        let store = talker(first, then, Duration::ZERO);
        let script = "ulimit -v 1000000; exec backoff -n 1 --budget api --store \"$STORE?timeout=500ms\" -- \
                      sh -c 'sleep 1.5; grep -E \"VmHWM|Threads\" /proc/$PPID/status; exit 7'";
        let shown = run(shell(script).env("STORE", &store))
            .expect_code(7)
            .expect_stderr("going on without the budget \"api\"");
        let number = |key: &str| -> u64 {
            let line = shown.stdout.lines().find_map(|line| line.strip_prefix(key));
            let word = line.and_then(|line| line.split_whitespace().next());
            word.unwrap_or_else(|| panic!("no {key} in {shown:?}")).parse().unwrap()
        };
        assert_eq!(number("Threads:"), 1, "{first:?}, {then:?}");
        assert!(number("VmHWM:") < 50_000, "{first:?}, {then:?}: {shown:?}");
    }
}

/// A cool-off of a length that no run leaves.
fn a_server_that_makes_one_wait() {
    let store = talker(
        "*5\r\n:1\r\n:0\r\n:0\r\n:9007199254740991\r\n:0\r\n",
        "",
        Duration::from_secs(1),
    );
    let options = "--cool-off -m 99999999h -d 1h -n 3 -- false";
    goes_on(asked(&store, "api", options), "does not speak the protocol of Redis");
}

/// Each word comes in time, and the whole never does.
fn a_server_that_talks_slowly() {
    let store = talker("*5\r\n:", "1", Duration::from_millis(50));
    let mut command = backoff("-n 1 --budget api");
    command.args(["--store", &with_timeout(&store, "50ms"), "--", "sh", "-c"]);
    let shown = run(command.arg(
        "for i in $(seq 300); do sleep 0.1; grep -q 'Threads:.1$' /proc/$PPID/status && echo over && exit 7; done",
    ))
    .expect_code(7)
    .expect_stderr("gives no answer within");
    assert_eq!(shown.stdout, "over\n");
}

fn a_name_that_does_not_resolve() {
    // Without a network the resolver may take its time.
    let shown = asked("redis://nosuch.invalid", "api", "-n 3 -- false");
    let quick = shown.stderr.contains("cannot be reached: failed to lookup address");
    goes_on(
        shown,
        if quick {
            "redis://nosuch.invalid:6379: cannot be reached"
        } else {
            "gives no answer within"
        },
    );
}

// --- keys ---

fn what_others_wrote_is_left_alone() {
    let server = Server::start("");
    let mut admin = server.admin();
    let key = "backoff:budget:api";
    for text in [
        "",
        " ",
        "hello",
        "1 2",
        "1 2 3 4 5",
        "1 2 3\n",
        "-1 2 3",
        "1.5 2 3",
        "600000 0 0 x 1 1",
        "\0",
    ] {
        let () = admin.set(key, text).unwrap();
        if text.is_empty() {
            // The same as none.
            asked(&server.url(), "api", "-- true").expect_silence();
            continue;
        }
        fails_open(&server.url(), "holds something else than backoff's");
        assert_eq!(admin.get::<_, String>(key).unwrap(), text);
        assert_eq!(admin.ttl::<_, i64>(key).unwrap(), -1, "{text:?}");
    }
    let () = admin.del(key).unwrap();
    let () = admin.rpush(key, "hello").unwrap();
    fails_open(&server.url(), "holds something else than backoff's");
    assert_eq!(admin.lrange::<_, Vec<String>>(key, 0, -1).unwrap(), ["hello"]);
}

const ODD_NAMES: [&str; 9] = ["a b", "{", "{}", "a{b}c", "{}{x}", "é\n\r\n", "'\"\\", "*:?[a]", "-n"];

/// Two attempts, with a name that would look like an option.
fn asking_by_variable(store: &str, name: &str) -> Shown {
    let mut command = backoff(words!("-b 1ms -q -n 2 --store {}", patient(store)));
    run(command.args(FAILING.words()).env("BACKOFF_BUDGET", name))
}

fn any_text_is_a_name() {
    let server = Server::start("");
    let long = "n".repeat(100);
    for (i, name) in ODD_NAMES.into_iter().chain([&*long]).enumerate() {
        asking_by_variable(&server.url(), name).expect_silence().expect_code(1);
        assert_eq!(server.counts(name), (2, 1), "{name:?}");
        assert_eq!(server.keys(), i + 1);
    }
    use std::os::unix::ffi::OsStrExt;
    let bytes = std::ffi::OsStr::from_bytes(b"\xff");
    run(backoff(words!("--store {} -- true", server.url())).env("BACKOFF_BUDGET", bytes))
        .expect_code(125)
        .expect_stderr("is not UTF-8");
}

// --- TLS ---

/// A directory with an authority, and a server's certificate that it has signed for these names.
fn certificates(names: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "set -e
        curve='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
        openssl req -x509 $curve -keyout ca.key -out ca.pem -days 2 -subj '/CN=Authority of {names}'
        openssl req $curve -keyout server.key -out server.csr -subj /CN=server
        echo subjectAltName={names} >names
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem"
    );
    run(clean("sh").args(["-c", &script]).current_dir(dir.path())).expect_code(0);
    dir
}

/// A server that speaks nothing else on its port.
pub fn tls_server(names: &str) -> Server {
    Server::start_in(
        certificates(names),
        "--port 0 --tls-port '{port}' --tls-cert-file '{dir}/server.pem' --tls-key-file '{dir}/server.key' --tls-ca-cert-file '{dir}/ca.pem' --tls-auth-clients no",
    )
}

fn tls_with_a_certificate_that_is_trusted() {
    let server = tls_server("IP:127.0.0.1,DNS:localhost");
    let authority = within(&server.dir, "ca.pem");
    for (i, host) in ["127.0.0.1", "localhost"].into_iter().enumerate() {
        let store = format!("rediss://{host}:{}", server.port);
        let mut command = asking(&store, "api", "-q -n 2 -- false");
        run(command.env("SSL_CERT_FILE", &authority)).expect_silence();
        assert_eq!(server.counts("api"), (2 * (i as u64 + 1), i as u64 + 1), "{host}");
    }
}

fn tls_with_a_certificate_that_is_not() {
    let server = tls_server("DNS:other.example");
    let stranger = certificates("IP:127.0.0.1");
    let store = format!("rediss://127.0.0.1:{}", server.port);
    let failing = "-n 3 -- false";
    for (authority, why) in [
        (
            within(&stranger, "ca.pem"),
            "has a certificate of an unknown authority; ?ca=FILE names another one",
        ),
        (within(&server.dir, "ca.pem"), "certificate not valid for name"),
    ] {
        goes_on(run(asking(&store, "api", failing).env("SSL_CERT_FILE", authority)), why);
    }
    // Without TLS there is no sense to be made of it; whether by an end or by a reset is up to the system.
    fails_open(&server.url(), &server.url());
    assert_eq!(server.counts("api"), (0, 0));
}

/// The kernel would hold each small write until the one before is acknowledged, for 40 ms.
fn no_write_waits_for_the_one_before() {
    let server = tls_server("IP:127.0.0.1");
    let store = format!("rediss://127.0.0.1:{}", server.port);
    let trace = within(&server.dir, "trace");
    let mut command = clean("strace");
    command.args(["-f", "-e", "trace=setsockopt,connect", "-o", &trace, *BIN]);
    command.args(words!("-q -n 1 --budget api --store {} -- true", patient(&store)));
    run(command.env("SSL_CERT_FILE", within(&server.dir, "ca.pem"))).expect_silence();
    let trace = std::fs::read_to_string(trace).unwrap();
    let number = |call: &str| trace.lines().filter(|line| line.contains(call)).count();
    assert_eq!(number("TCP_NODELAY, [1]"), number("connect("), "{trace}");
}

/// Own authority and client certificates, as a server of default settings wants them.
fn tls_with_files_of_the_address() {
    let server = Server::start_in(
        certificates("IP:127.0.0.1"),
        "--port 0 --tls-port '{port}' --tls-cert-file '{dir}/server.pem' --tls-key-file '{dir}/server.key' --tls-ca-cert-file '{dir}/ca.pem'",
    );
    let stranger = certificates("IP:127.0.0.1");
    let (ours, theirs) = (server.dir.path().display(), stranger.path().display());
    let store = |query: String| format!("rediss://127.0.0.1:{}?{query}", server.port);
    let whole = store(format!("ca={ours}/ca.pem&cert={ours}/server.pem&key={ours}/server.key"));
    // The system's authorities do not count, and the command inherits nothing.
    let mut command = asking(&whole, "api", "-n 2 -- sh -c");
    command.arg("[ -z \"$SSL_CERT_FILE\" ] || echo inherited; exit 1");
    let shown = run(command.env_remove("SSL_CERT_FILE")).expect_code(1);
    assert!(
        !shown.stderr.contains("warning") && shown.stdout.is_empty(),
        "{shown:?}"
    );
    for (query, why) in [
        (
            format!("ca={ours}/ca.pem"),
            "wants a certificate; ?cert=FILE&key=FILE gives one",
        ),
        (
            format!("ca={theirs}/ca.pem"),
            "has a certificate of an unknown authority; ?ca=FILE names another one",
        ),
        (
            format!("ca={ours}/ca.pem&cert={theirs}/server.pem&key={theirs}/server.key"),
            "refuses the certificate of ?cert=FILE",
        ),
    ] {
        fails_open(&store(query), why);
    }
    assert_eq!(server.counts("api"), (2, 1));
}

/// As docs/recipes.md has it, with another host and file.
fn the_recipe_for_containers() {
    const LINE: &str =
        "backoff --budget api --store 'rediss://cache:6379?ca=/etc/ssl/cache.pem' --store-down deny -- call";
    assert!(include_str!("../../docs/recipes.md").contains(LINE));
    let mut server = tls_server("DNS:localhost");
    let host = format!("localhost:{}", server.port);
    let line = LINE
        .replace("cache:6379", &host)
        .replace("/etc/ssl/cache.pem", &within(&server.dir, "ca.pem"));
    let dir = tempfile::tempdir().unwrap();
    executable(&within(&dir, "call"), "#!/bin/sh\necho call\nexit 1\n");
    let path = format!("{}:{}", dir.path().display(), path_with_backoff());
    // Containers have a directory each.
    let container = || {
        let home = tempfile::tempdir().unwrap();
        let mut command = shell(&line);
        command
            .env("PATH", &path)
            .env("HOME", home.path())
            .env_remove("XDG_STATE_HOME");
        let shown = run(command.env("BACKOFF_BASE", "1ms").env("BACKOFF_BUDGET_MIN", "6")).expect_code(1);
        shown.stdout.lines().count()
    };
    assert_eq!([container(), container(), container()], [5, 1, 1]);
    server.kill();
    assert_eq!([container(), container()], [1, 1]);
}

fn files_that_cannot_be_used_are_usage_errors() {
    let dir = certificates("IP:127.0.0.1");
    std::fs::write(dir.path().join("empty"), "").unwrap();
    std::fs::write(dir.path().join("my file+%"), "hello").unwrap();
    let other = certificates("IP:127.0.0.1");
    std::fs::copy(other.path().join("server.key"), dir.path().join("other.key")).unwrap();
    for (store, why) in [
        (
            "rediss://h?ca=nosuch",
            "names nosuch, which cannot be read: No such file or directory",
        ),
        ("rediss://h?ca=.", "names ., which cannot be read: Is a directory"),
        ("rediss://h?ca=empty", "names empty, which holds no certificate"),
        (
            "rediss://h?ca=my%20file+%25",
            "names my file+%, which holds no certificate",
        ),
        (
            "rediss://h?ca=server.key",
            "names server.key, which holds no certificate",
        ),
        (
            "rediss://h?cert=server.pem&key=ca.pem",
            "names ca.pem, which holds no certificate or no key",
        ),
        (
            "rediss://h?cert=server.pem&key=other.key",
            "names a certificate and a key that do not fit",
        ),
        (
            "rediss://h?cert=server.pem",
            "names a certificate or a key without the other",
        ),
        (
            "rediss://h?key=server.key",
            "names a certificate or a key without the other",
        ),
        ("redis://h?ca=ca.pem", "has a setting that is unknown here"),
        ("rediss://h?cacert=ca.pem", "has a setting that is unknown here"),
        ("rediss://h?ca", "has a setting that is unknown here"),
    ] {
        let mut command = backoff(words!("--budget api --store {} -- echo started", store));
        let shown = run(command.current_dir(&dir)).expect_code(125).expect_stderr(why);
        assert!(shown.stdout.is_empty(), "{shown:?}");
        // Nobody reads them without a budget.
        if store.starts_with("rediss://h?ca=") {
            run(backoff(words!("--store {} -- true", store)).current_dir(&dir)).expect_code(0);
        }
    }
}

// --- clusters ---

fn cluster() -> [Server; 3] {
    let nodes = [(); 3].map(|()| {
        let bus = free_port().to_string();
        Server::start(words!("--cluster-enabled yes --cluster-port {}", bus))
    });
    let slots = [0, 5461, 10923, 16384];
    for (i, node) in nodes.iter().enumerate() {
        let slots: Vec<u16> = (slots[i]..slots[i + 1]).collect();
        let mut admin = node.admin();
        let () = redis::cmd("CLUSTER")
            .arg("ADDSLOTS")
            .arg(slots)
            .query(&mut admin)
            .unwrap();
        let () = redis::cmd("CLUSTER")
            .arg("SET-CONFIG-EPOCH")
            .arg(i + 1)
            .query(&mut admin)
            .unwrap();
        if i > 0 {
            let mut first = nodes[0].admin();
            let bus: Vec<String> = redis::cmd("CONFIG")
                .arg("GET")
                .arg("cluster-port")
                .query(&mut admin)
                .unwrap();
            let () = redis::cmd("CLUSTER")
                .arg("MEET")
                .arg("127.0.0.1")
                .arg(node.port)
                .arg(&bus[1])
                .query(&mut first)
                .unwrap();
        }
    }
    for node in &nodes {
        eventually("the cluster is whole", || {
            let info: String = redis::cmd("CLUSTER").arg("INFO").query(&mut node.admin()).unwrap();
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
        });
    }
    nodes
}

/// Returns the counts of a name on each node; a node without the key says so.
fn counts_on(nodes: &[Server], name: &str) -> Vec<(u64, u64)> {
    let key = format!("backoff:budget:{name}");
    let has = |node: &&Server| node.admin().keys::<_, Vec<String>>("*").unwrap().contains(&key);
    nodes.iter().filter(has).map(|node| node.counts(name)).collect()
}

fn any_node_of_a_cluster_will_do() {
    let nodes = cluster();
    for name in ODD_NAMES.into_iter().chain(["api", "b", "c"]) {
        for node in &nodes {
            asking_by_variable(&node.url(), name).expect_silence();
        }
        assert_eq!(counts_on(&nodes, name), [(6, 3)], "{name:?}");
    }
    // A node of which the others know no name gives the port alone.
    for node in &nodes {
        let () = redis::cmd("CONFIG")
            .arg(&["SET", "cluster-preferred-endpoint-type", "unknown-endpoint"])
            .query(&mut node.admin())
            .unwrap();
        asked(&node.url(), "api", "-- true").expect_silence();
    }
    assert_eq!(counts_on(&nodes, "api"), [(9, 3)]);
}

/// A cluster, or a service of several servers, stays shared while some of them are gone.
fn the_first_server_that_answers() {
    let mut nodes = cluster();
    asked(&nodes[0].url(), "api", "-- true").expect_silence();
    let owner = nodes.iter().position(|node| node.keys() == 1).unwrap();
    let hosts = [1, 2, 0].map(|i| format!("127.0.0.1:{}", nodes[(owner + i) % 3].port));
    let store = format!("redis://{}", hosts.join(","));
    let name = format!("redis://{}/0", hosts.join(","));
    let counted = |nodes: &[Server; 3]| nodes[owner].counts("api");
    // It listens, and does not answer.
    nodes[(owner + 1) % 3].pause();
    let env = asked(&with_timeout(&store, "3s"), "api", "-q -n 1 -- env").expect_silence();
    assert!(
        env.stdout.contains(&format!("BACKOFF_COUNTED=\"api\" in {name}\n")),
        "{env:?}"
    );
    assert_eq!(counted(&nodes), (2, 0));
    nodes[(owner + 1) % 3].resume();
    nodes[(owner + 1) % 3].kill();
    asked(&store, "api", "-q -n 3 -- false").expect_silence();
    assert_eq!(counted(&nodes), (5, 2));
    // With a password, and as a replica is listed before its master.
    let replica = Server::start("--replicaof 127.0.0.1 1 --requirepass word");
    let master = Server::start("--requirepass word");
    let store = format!("redis://:word@127.0.0.1:{},127.0.0.1:{}/0", replica.port, master.port);
    asked(&store, "api", "-q -n 2 -- false").expect_silence();
    assert_eq!(counts(&mut master.admin_as("?pass=word"), "api"), (2, 1));
    // None answers: each is named.
    drop(master);
    let shown = asked(&store, "api", "-n 3 -- false");
    let replica = format!(
        "redis://127.0.0.1:{}: is a read-only replica (READONLY); redis://127.0.0.1:",
        replica.port
    );
    goes_on(
        shown.expect_stderr(&replica),
        ": cannot be reached: Connection refused; ",
    );
}

/// The server that failed is named, and not the one that sent us there.
fn a_node_of_a_cluster_is_gone() {
    let mut nodes = cluster();
    let counted = |node: &Server| node.admin().keys::<_, Vec<String>>("*").unwrap().len() == 1;
    asked(&nodes[0].url(), "api", "-- true").expect_silence();
    let owner = nodes.iter().position(counted).unwrap();
    let gone = nodes[owner].url();
    let other = nodes[(owner + 1) % 3].url();
    nodes[owner].kill();
    fails_open(
        &other,
        &format!("warning: {gone}: cannot be reached: Connection refused;"),
    );
    // Nor is what no host can be called.
    let store = talker("-MOVED 1 \x1b[2J:6379\r\n", "", Duration::from_secs(1));
    fails_open(&store, &format!("warning: {store}: refuses (MOVED);"));
}

fn a_name_that_is_being_moved() {
    let nodes = cluster();
    let slot: u16 = redis::cmd("CLUSTER")
        .arg(&["KEYSLOT", "backoff:budget:api"])
        .query(&mut nodes[0].admin())
        .unwrap();
    let from = usize::from(slot / 5461).min(2);
    let to = (from + 1) % 3;
    let id = |node: &Server| -> String { redis::cmd("CLUSTER").arg("MYID").query(&mut node.admin()).unwrap() };
    for (node, word, other) in [(to, "IMPORTING", from), (from, "MIGRATING", to)] {
        let () = redis::cmd("CLUSTER")
            .arg("SETSLOT")
            .arg(slot)
            .arg(word)
            .arg(id(&nodes[other]))
            .query(&mut nodes[node].admin())
            .unwrap();
    }
    // The old node has nothing of it, and sends us to the new one for this once (ASK).
    for node in &nodes {
        asked(&node.url(), "api", "-q -n 2 -- false").expect_silence();
    }
    assert_eq!(nodes[from].keys(), 0);
    assert_eq!(nodes[to].keys(), 1);
    let () = redis::cmd("CLUSTER")
        .arg("SETSLOT")
        .arg(slot)
        .arg("NODE")
        .arg(id(&nodes[to]))
        .query(&mut nodes[to].admin())
        .unwrap();
    assert_eq!(nodes[to].counts("api"), (6, 3));
}

// --- a run and its store ---

/// The next connection, of which nobody has read yet.
#[track_caller]
fn accepted(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let mut stream = None;
    eventually("a connection", || {
        stream = listener.accept().ok();
        stream.is_some()
    });
    stream.unwrap().0
}

fn term_while_the_store_is_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("redis://{}", listener.local_addr().unwrap());
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut command = backoff(words!("--budget api --cool-off --store {}?timeout=1h", store));
        let live = Live::start(command.args(["--", "echo", "started"]));
        let held = accepted(&listener);
        let began = Instant::now();
        live.signal(signal);
        let shown = live.finish();
        assert_eq!((shown.signal(), &*shown.stdout), (Some(signal as i32), ""));
        assert!(began.elapsed() < Duration::from_secs(10));
        drop(held);
    }
}

/// A server that answers anything, and as many questions as it has leave to: its address, what tells of each
/// question, and the leave.
fn slow_server() -> (String, Receiver<()>, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("redis://{}", listener.local_addr().unwrap());
    let (asked, questions) = channel();
    let may_answer = Arc::new(AtomicUsize::new(0));
    let leave = Arc::clone(&may_answer);
    std::thread::spawn(move || {
        for (earlier, mut stream) in listener.incoming().flatten().enumerate() {
            let (asked, leave) = (asked.clone(), Arc::clone(&leave));
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 1 << 16]);
                let _ = asked.send(());
                // Some never get it; their threads end with the tests.
                while leave.load(Ordering::SeqCst) <= earlier {
                    std::thread::sleep(Duration::from_millis(2));
                }
                let _ = stream.write_all(b"*5\r\n:1\r\n:1\r\n:0\r\n:0\r\n:0\r\n");
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
    (store, questions, may_answer)
}

fn stopped_while_the_store_is_asked() {
    const LIMIT: Duration = Duration::from_secs(2);
    let (store, questions, may_answer) = slow_server();
    let mut command = backoff(words!("-n 1 --budget api --cool-off --store {}?timeout=2s", store));
    let live = Live::start(command.args(["--", "false"]));
    questions.recv_timeout(PATIENCE).unwrap();
    eventually("it waits for the answer", || {
        tasks(live.pid()).iter().all(|task| state(*task) == Some('S'))
    });
    live.signal(Signal::SIGTSTP);
    eventually("it stops", || state(live.pid()) == Some('T'));
    let stopped = Instant::now();
    // Longer than the store may take.
    eventually("time passes", || stopped.elapsed() > LIMIT);
    may_answer.store(usize::MAX, Ordering::SeqCst);
    live.signal(Signal::SIGCONT);
    let shown = live.finish().expect_code(1);
    assert!(!shown.stderr.contains("warning"), "{shown:?}");
}

fn term_while_the_store_is_told_of_the_end() {
    for (keep, command, code, signal) in [
        ("success", "echo out", Some(0), None),
        ("final", "echo out; exit 3", None, Some(15)),
    ] {
        let (store, questions, may_answer) = slow_server();
        // The server answers the step of the attempt, and not the step at the end.
        may_answer.store(1, Ordering::SeqCst);
        let mut run = backoff(words!("--budget api --store {}?timeout=1h", store));
        let live = Live::start(run.args(["--stdout", keep, "--stop-exit", "3", "--", "sh", "-c", command]));
        for _ in 0..2 {
            questions.recv_timeout(PATIENCE).unwrap();
        }
        live.signal(Signal::SIGTERM);
        let shown = live.finish();
        assert_eq!(
            (shown.code(), shown.signal(), &*shown.stdout),
            (code, signal, "out\n"),
            "{shown:?}"
        );
    }
}

fn no_store_is_asked_without_a_budget() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let store = format!("redis://{}", listener.local_addr().unwrap());
    run(backoff(words!("-q -n 2 -b 1ms --store {} -- false", store)).env("BACKOFF_COOL_OFF", "1"))
        .expect_code(1)
        .expect_silence();
    run!("--plan --budget api --store {}", store).expect_code(0);
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    // A run that asks has connected by the time it ends.
    run!("--budget api --store {}?timeout=1ms -- true", store);
    listener.accept().unwrap();
}

fn open_sockets(pid: i32) -> usize {
    let links = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    links
        .filter_map(|link| std::fs::read_link(link.unwrap().path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}

/// The numbers of a process's threads.
fn tasks(pid: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let number = |task: std::io::Result<std::fs::DirEntry>| task.unwrap().file_name().to_str()?.parse().ok();
    tasks.filter_map(number).collect()
}

fn nothing_is_held_during_a_wait() {
    let server = Server::start("--requirepass word");
    let store = format!("redis://:word@127.0.0.1:{}", server.port);
    let bin = *BIN;
    for paused in [false, true] {
        if paused {
            // Here the connection outlives the answer's time, but not by much.
            server.pause();
        }
        let timeout = if paused { "100ms" } else { "20s" };
        let script = format!(
            "exec {bin} -b 1h -m 1h -j none --budget api --store {store}?timeout={timeout} -- sh -c 'echo ready; false' 2>&1"
        );
        let mut live = Live::start(&mut shell(&script));
        live.expect_line("ready");
        if paused {
            assert!(live.line().contains("gives no answer within "));
        }
        assert!(live.line().contains("retrying in "));
        let pid = live.pid();
        eventually("one thread and no socket", || {
            tasks(pid).len() == 1 && open_sockets(pid) == 0
        });
        live.signal(Signal::SIGTERM);
        assert_eq!(live.finish().signal(), Some(15));
    }
    server.resume();
    // The second one's question may have been answered when nobody listened any more.
    let retries = counts(&mut server.admin_as("?pass=word"), "api").1;
    assert!((1..=2).contains(&retries), "{retries}");
}

fn cool_off() {
    let server = Server::start("");
    let url = server.url();
    let options = "--cool-off -b 700ms -n 1 --";
    let with = |command: &str| asked(&url, "api", words!("{..} {..}", options, command));

    let shown = with("false").expect_code(1);
    assert!(!shown.stderr.contains("waiting"), "{shown:?}");
    let began = Instant::now();
    with("true")
        .expect_code(0)
        .expect_stderr("before the first attempt: the last run of budget \"api\" gave up");
    let took = began.elapsed();
    // Less than the whole wait is left, as the first run ended earlier.
    assert!(
        took > Duration::from_millis(300) && took < PATIENCE / 2,
        "waited {took:?}"
    );
    // A success ends it.
    with("true").expect_silence();
    assert_eq!(numbers(&mut server.admin(), "api").unwrap()[1..3], [0, 0]);
    // As does a failure that waiting does not cure.
    with("false");
    asked(&url, "api", "--stop-exit 1 -n 1 -- false");
    with("true").expect_silence();
    // Past the deadline: no attempt at all.
    asked(&url, "api", "-b 1h -m 1h -n 1 -- false");
    let shown = asked(&url, "api", "--cool-off -d 1m -- echo started");
    assert_eq!((shown.code(), &*shown.stdout), (Some(124), ""), "{shown:?}");
}

// --- the script and the ledger ---

/// The script, with the time as its last argument, and with a lifetime that does not end while a test runs
/// whose clock is not the server's.
fn timeless_script() -> String {
    let time = "local time = redis.call('TIME')\n\
                local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)\n";
    let life = "math.min(ttl, LONGEST_TTL)";
    for part in [time, life] {
        assert_eq!(SCRIPT.matches(part).count(), 1, "{part}");
    }
    SCRIPT
        .replace(time, "local now = tonumber(ARGV[7])\n")
        .replace(life, "3600000")
}

/// One budget, kept twice.
struct Twins {
    ledger: Ledger,
    connection: redis::Connection,
    script: String,
}

impl Twins {
    fn on(server: &Server) -> Twins {
        let mut connection = server.admin();
        let () = redis::cmd("FLUSHALL").query(&mut connection).unwrap();
        Twins {
            ledger: Ledger::default(),
            connection,
            script: timeless_script(),
        }
    }

    /// Asks both: attempts and so on as the ledger says, and as the script says.
    fn answers(&mut self, terms: &BudgetLimits, question: Question, now: u64) -> [[u64; 5]; 2] {
        let answer = self.ledger.answer(terms, question, Duration::from_millis(now));
        let (word, length, earlier) = match question {
            Question::Attempt => ("attempt", 0, None),
            Question::Retry => ("retry", 0, None),
            Question::CoolOff => ("cool-off", 0, None),
            Question::GaveUp { cool_off, earlier } => ("gave-up", cool_off.as_millis() as u64, earlier),
            Question::Succeeded => ("succeeded", 0, None),
        };
        let mut script: Vec<u64> = redis::cmd("EVAL")
            .arg(&self.script)
            .arg(1)
            .arg("backoff:budget:twin")
            .arg(terms.window.as_millis() as u64)
            .arg(terms.min)
            .arg(terms.ratio)
            .arg(word)
            .arg(length)
            .arg(earlier.map_or(-1, |earlier| earlier as i64))
            .arg(now)
            .query(&mut self.connection)
            .unwrap();
        let ledger = [
            answer.allowed.into(),
            answer.counts.attempts,
            answer.counts.retries,
            answer.cool_off.as_millis() as u64,
            answer.failed_runs,
        ];
        script.resize(5, 0);
        [ledger, script.try_into().unwrap()]
    }

    /// All that is kept, of both; no cool-off and one of no length are the same.
    fn numbers(&mut self) -> [Vec<u64>; 2] {
        let cool_off = self.ledger.cool_off.filter(|cool_off| cool_off.length > 0);
        let mut ledger = vec![self.ledger.span];
        ledger.extend(cool_off.map_or([0, 0], |cool_off| [cool_off.until, cool_off.length]));
        ledger.push(self.ledger.failed_runs);
        for slot in &self.ledger.slots {
            ledger.extend([slot.until, slot.counts.attempts, slot.counts.retries]);
        }
        let mut script = match numbers(&mut self.connection, "twin") {
            Some(numbers) => numbers,
            // Nothing was worth keeping; the longest window has no meaning then.
            None => vec![self.ledger.span, 0, 0, 0],
        };
        if script[2] == 0 {
            script[1] = 0;
        }
        [ledger, script]
    }
}

/// A question, which of the terms it is asked with, and how far the clock has gone on since the last one.
fn a_step() -> impl Strategy<Value = (Question, usize, i64)> {
    let question = prop_oneof![
        4 => Just(Question::Attempt),
        6 => Just(Question::Retry),
        1 => Just(Question::CoolOff),
        1 => (0..5_000_u64, prop::option::of(0..4_u64)).prop_map(|(length, earlier)| Question::GaveUp {
            cool_off: Duration::from_millis(length),
            earlier,
        }),
        1 => Just(Question::Succeeded),
    ];
    let clock = prop_oneof![
        4 => 0..3_i64,
        6 => 0..500_i64,
        2 => 0..20_000_i64,
        1 => -20_000..0_i64,
        1 => 0..2_000_000_i64,
    ];
    (question, 0..2_usize, clock)
}

fn some_terms() -> impl Strategy<Value = BudgetLimits> {
    let window = prop_oneof![1..100_u64, 100..20_000_u64, 20_000..2_000_000_u64];
    let ratio = prop_oneof![
        Just(0),
        Just(100_000),
        Just(500_000),
        Just(1_000_000),
        0..=1_000_000_u32
    ];
    (ratio, 0..12_u64, window).prop_map(|(ratio, min, window)| BudgetLimits {
        ratio,
        min,
        window: Duration::from_millis(window),
    })
}

fn the_script_is_the_ledger() {
    let server = Server::start("");
    let config = Config {
        cases: 150,
        failure_persistence: None,
        ..Config::default()
    };
    let steps = prop::collection::vec(a_step(), 1..120);
    let strategy = ([some_terms(), some_terms()], 0..3_000_000_000_000_u64, steps);
    let result = TestRunner::new(config).run(&strategy, |(terms, start, steps)| {
        let mut twins = Twins::on(&server);
        let mut now = start;
        for (i, (question, which, advance)) in steps.into_iter().enumerate() {
            now = now.saturating_add_signed(advance);
            let [ledger, script] = twins.answers(&terms[which], question, now);
            prop_assert_eq!(ledger, script, "step {}: {:?} at {}", i, question, now);
            let [ledger, script] = twins.numbers();
            prop_assert_eq!(ledger, script, "after step {}: {:?} at {}", i, question, now);
        }
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.unwrap_err());
}

/// Windows that grow: each leaves nearly sixty slots to the next one.
fn the_script_has_as_many_slots() {
    let server = Server::start("");
    let mut twins = Twins::on(&server);
    let mut now = 1_700_000_000_000;
    let mut most = 0;
    for window in [600, 36_000, 2_160_000] {
        let terms = BudgetLimits {
            ratio: 500_000,
            min: 1,
            window: Duration::from_millis(window),
        };
        for i in 0..59 {
            // The longer window is asked for before the slots of the shorter one are past.
            now += if i == 0 { 1 } else { window / 60 };
            let question = if i % 2 == 0 { Question::Attempt } else { Question::Retry };
            let [ledger, script] = twins.answers(&terms, question, now);
            assert_eq!(ledger, script, "{window} ms, step {i}");
            let [ledger, script] = twins.numbers();
            assert_eq!(ledger, script, "{window} ms, after step {i}");
            most = most.max((ledger.len() - 4) / 3);
        }
    }
    assert_eq!(most, MOST_SLOTS);
}
