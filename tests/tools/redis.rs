//! Budgets on real Redis servers: counts, permissions, and runs whose server is wrong, slow or gone.

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
use tempfile::{TempDir, tempdir};

use crate::common::ledger::{BudgetLimits, Ledger, MOST_SLOTS, Question, counted, ledger};
use crate::common::process::{children_of, descriptors, state};
use crate::common::redis::{Server, counts, free_port, numbers};
use crate::common::{
    BIN, Ends, PATIENCE, backoff, clean, eventually, executable, in_time, path_with_backoff, shell,
    side_by_side, within, words,
};

const SCRIPT: &str = include_str!("../../src/budget/budget.lua");

tests! {
    a_refused_retry_alone_leaves_no_key ["redis-server"] this_machines_own_budget_takes_its_place ["redis-server"]
    this_machines_own_budget_hangs ["redis-server"] a_server_that_is_back_is_asked ["redis-server"]
    ports_that_do_not_speak_redis [] a_port_that_says_nothing [] a_server_that_never_stops_talking []
    a_server_that_talks_slowly [] any_text_is_a_name ["redis-server"]
    tls_with_a_certificate_that_is_trusted ["redis-server", "openssl"]
    tls_with_a_certificate_that_is_not ["redis-server", "openssl"]
    tls_with_files_of_the_address ["redis-server", "openssl"]
    no_write_waits_for_the_one_before ["redis-server", "openssl", "strace"]
    the_recipe_for_containers ["redis-server", "openssl"] any_node_of_a_cluster_will_do ["redis-server"]
    a_node_of_a_cluster_is_gone ["redis-server"]
    a_name_that_is_being_moved ["redis-server"] term_while_the_store_is_asked []
    stopped_while_the_store_is_asked []
    no_store_is_asked_without_a_budget [] nothing_is_held_during_a_wait ["redis-server"]
    the_script_is_the_ledger ["redis-server"] the_script_has_as_many_slots ["redis-server"]
}

fn asking(store: &str, line: &str) -> Command {
    backoff(format!(
        "-b 1ms -j none --store {store} --budget api {line}"
    ))
}

/// Asserts that `-n 3 -- false` continues without its budget, with one warning.
#[track_caller]
fn goes_on(command: &mut Command, why: &str) {
    command.code(1).stderr(&format!(
        "backoff: ...{why}...going on without the budget \"api\"\n\
         backoff: false: attempt 1 of 3 failed: ...\n\
         backoff: false: attempt 2 of 3 failed: ...\n\
         backoff: false: gave up after 3 attempts in ...: exit 1 (attempt limit reached)...\n"
    ));
}

#[track_caller]
fn fails_open(store: &str, why: &str) {
    goes_on(&mut asking(store, "-n 3 -- false"), why);
}

// --- Counts ---

fn a_refused_retry_alone_leaves_no_key() {
    let server = Server::start("");
    let mut twins = Twins::on(&server);
    let terms = limits(100_000, 0, 60_000);
    assert_eq!(
        twins.answers(&terms, Question::Retry, 1_700_000_000_000),
        [[0; 3]; 2]
    );
    assert_eq!(server.keys(), 0);
}

// --- Servers in trouble ---

/// Starts a server and ends it. Returns it and its address.
fn killed() -> (Server, String) {
    let mut server = Server::start("");
    let url = server.url();
    server.kill();
    (server, url)
}

fn this_machines_own_budget_takes_its_place() {
    let (_server, url) = killed();
    let refused = "cannot be reached: Connection refused";
    fails_open(&url, &format!("warning: {url}: {refused}; "));
    let home = tempdir().unwrap();
    let mut command = asking(&url, "--budget-min 3 -n 9 -- false");
    command.env("XDG_STATE_HOME", home.path()).code(1).stderr(&format!(
        "backoff: warning: {url}: {refused}; going on with this machine's own budget \"api\"\n\
         backoff: false: attempt 1 of 9 failed: ...\n\
         backoff: false: attempt 2 of 9 failed: ...\n\
         backoff: false: gave up after 3 attempts in ...: exit 1 (budget \"api\" exhausted: 2 of 3 attempts...\n"
    ));
    let file = home.path().join("backoff/api.budget");
    assert_eq!(counted(&ledger(&file)), (3, 2));
}

/// Asserts that a local store that hangs as well delays the run no longer than the server.
fn this_machines_own_budget_hangs() {
    let (_server, url) = killed();
    let home = tempdir().unwrap();
    let mut command = asking(&url, "-- true");
    let ended = command.env("XDG_STATE_HOME", home.path()).code(0);
    ended.says("going on with this machine's own budget");
    let locked = std::fs::File::open(home.path().join("backoff/api.budget")).unwrap();
    locked.lock().unwrap();
    in_time(Duration::from_secs(3), || {
        let mut command = backoff(format!("--budget api --store {url} -- true"));
        let began = Instant::now();
        let ended = command.env("XDG_STATE_HOME", home.path()).code(0);
        ended.stderr(
            "backoff: warning: ...gives no answer within ...going on without the budget \"api\"\n",
        );
        (began.elapsed(), ())
    });
}

/// Asserts that backoff asks the server again before each retry. It is back, and empty, when the second attempt ends.
fn a_server_that_is_back_is_asked() {
    let (mut server, url) = killed();
    let home = tempdir().unwrap();
    let go = within(&home, "go");
    nix::unistd::mkfifo(&*go, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let script = "echo $BACKOFF_ATTEMPT; read -r answer <$GO; exit 1";
    let mut command = asking(&url, "--budget-min 3 -n 9 -- sh -c");
    command
        .arg(script)
        .env("XDG_STATE_HOME", home.path())
        .env("GO", &go);
    let mut live = command.live();
    for attempt in 1..=5 {
        live.expect_line(&attempt.to_string());
        if attempt == 2 {
            server.start_again("");
        }
        std::fs::write(&go, "go\n").unwrap();
    }
    live.code(1).says("exhausted: 3 of 3 attempts");
    assert_eq!(server.counts("api"), (3, 3));
}

/// Starts a server that handles each connection on a thread. Returns its address.
fn serve(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = format!("redis://{}", listener.local_addr().unwrap());
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || {
                // Unread data at close would reset the connection.
                let _ = stream.read(&mut [0; 1 << 16]);
                serve(stream);
            });
        }
    });
    store
}

/// Starts a server that replies with `first`, and then again and again with `then` and a pause.
fn talker(first: &'static str, then: &'static str, pause: Duration) -> String {
    let more = if pause.is_zero() {
        then.repeat(1000)
    } else {
        then.to_owned()
    };
    serve(move |mut stream| {
        let _ = stream.write_all(first.as_bytes());
        while stream.write_all(more.as_bytes()).is_ok() {
            std::thread::sleep(pause);
        }
    })
}

fn ports_that_do_not_speak_redis() {
    let http = serve(|mut stream| {
        drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"));
    });
    fails_open(&http, "does not speak the protocol of Redis");
    fails_open(
        &http.replace("redis:", "rediss:"),
        "cannot be reached: received corrupt message",
    );
    fails_open(&serve(drop), "cannot be reached: unexpected end of file; ");
    // No message quotes a server's text.
    let pause = Duration::from_secs(1);
    let denied = talker("-DENIED \x1b[2J\r\n", "", pause);
    fails_open(&denied, &format!("{denied}: refuses (DENIED);"));
    let other = talker("-ERR \x1b[2J\r\n", "", pause);
    fails_open(&other, &format!("{other}: refuses (ERR);"));
    let other_reply = talker("*2\r\n:1\r\n:0\r\n", "", pause);
    fails_open(&other_reply, "does not speak the protocol of Redis");
}

fn a_port_that_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for scheme in [
        "redis://",
        "rediss://",
        "redis://jane:word@",
        "rediss://jane:word@",
    ] {
        fails_open(
            &format!("{scheme}{address}"),
            "gives no answer within 250ms",
        );
    }
}

fn a_server_that_never_stops_talking() {
    let replies = [
        ("$100000000000\r\n", "aaaaaaaaaaaaaaaa"),
        ("*2147483647\r\n", ":1\r\n"),
        ("*2147483647\r\n", "*2147483647\r\n"),
        ("+", "aaaaaaaaaaaaaaaa"),
        ("*5\r\n:1\r\n", "1111111111111111"),
        ("", "-MOVED 1 :1"),
    ];
    side_by_side(&replies, |(first, then)| {
        let store = talker(first, then, Duration::ZERO);
        let script = "ulimit -v 1000000; exec backoff -n 1 --budget api --store \"$STORE\" -- \
                      sh -c 'sleep 1.5; grep -E \"VmHWM|Threads\" /proc/$PPID/status; exit 7'";
        let (facts, said) = shell(script).env("STORE", &store).code(7).texts();
        assert!(
            said.contains("going on without the budget \"api\""),
            "{said}"
        );
        let number = |key: &str| -> u64 {
            let line = facts.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap()
                .split_whitespace()
                .next()
                .unwrap()
                .parse()
                .unwrap()
        };
        assert_eq!(number("Threads:"), 1, "{first:?}, {then:?}");
        assert!(number("VmHWM:") < 50_000, "{first:?}, {then:?}: {facts}");
    });
}

/// Each byte arrives in time, but the whole reply never does.
fn a_server_that_talks_slowly() {
    let store = talker("*5\r\n:", "1", Duration::from_millis(50));
    let script = "for i in $(seq 300); do sleep 0.1; grep -q 'Threads:.1$' /proc/$PPID/status && echo over && exit 7; done";
    let mut command = backoff(format!("-n 1 --budget api --store {store} -- sh -c"));
    let ended = command.arg(script).code(7).stdout("over\n");
    ended.says("gives no answer within");
}

// --- Keys ---

const ODD_NAMES: [&str; 9] = [
    "a b", "{", "{}", "a{b}c", "{}{x}", "é\n\r\n", "'\"\\", "*:?[a]", "-n",
];

/// Makes two attempts; the variable allows a name that looks like an option.
fn asked_by_variable(store: &str, name: &str) {
    let mut command = backoff(format!("-b 1ms -qq -n 2 --store {store} -- false"));
    command.env("BACKOFF_BUDGET", name).code(1);
}

fn any_text_is_a_name() {
    let server = Server::start("");
    let long = "n".repeat(80);
    for (i, name) in ODD_NAMES.into_iter().chain([&*long]).enumerate() {
        asked_by_variable(&server.url(), name);
        assert_eq!(server.counts(name), (2, 1), "{name:?}");
        assert_eq!(server.keys(), i + 1);
    }
    use std::os::unix::ffi::OsStrExt;
    let bytes = std::ffi::OsStr::from_bytes(b"\xff");
    let mut command = backoff(format!("--store {} -- true", server.url()));
    let ended = command.env("BACKOFF_BUDGET", bytes).code(125);
    ended.stderr("backoff: BACKOFF_BUDGET: ... is not UTF-8\n");
}

// --- TLS ---

/// Returns a directory with an authority, and a server's certificate for these names, signed by the authority.
fn certificates(names: &str) -> TempDir {
    let dir = tempdir().unwrap();
    let script = format!(
        "set -e
        curve='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
        openssl req -x509 $curve -keyout ca.key -out ca.pem -days 2 -subj '/CN=Authority of {names}'
        openssl req $curve -keyout server.key -out server.csr -subj /CN=server
        echo subjectAltName={names} >names
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem"
    );
    let mut openssl = clean("sh");
    openssl
        .args(["-c", &script])
        .current_dir(dir.path())
        .code(0)
        .stderr("...");
    dir
}

/// By default, a server requires a certificate of its clients.
const WITH_TLS: &str = "--port 0 --tls-port '{port}' --tls-cert-file '{dir}/server.pem' \
                        --tls-key-file '{dir}/server.key' --tls-ca-cert-file '{dir}/ca.pem'";

/// Starts a server that speaks only TLS on its port.
pub fn tls_server(names: &str) -> Server {
    Server::start_in(
        certificates(names),
        &format!("{WITH_TLS} --tls-auth-clients no"),
    )
}

fn tls_with_a_certificate_that_is_trusted() {
    let server = tls_server("IP:127.0.0.1,DNS:localhost");
    let authority = within(&server.dir, "ca.pem");
    for (host, counts) in [("127.0.0.1", (2, 1)), ("localhost", (4, 2))] {
        let store = format!("rediss://{host}:{}", server.port);
        let mut command = asking(&store, "-qq -n 2 -- false");
        command.env("SSL_CERT_FILE", &authority).code(1);
        assert_eq!(server.counts("api"), counts, "{host}");
    }
}

fn tls_with_a_certificate_that_is_not() {
    let server = tls_server("DNS:other.example");
    let stranger = certificates("IP:127.0.0.1");
    let store = format!("rediss://127.0.0.1:{}", server.port);
    let unknown = "cannot be reached: invalid peer certificate: ";
    for (dir, why) in [
        (&stranger, unknown),
        (
            &server.dir,
            "cannot be reached: invalid peer certificate: certificate not valid for name",
        ),
    ] {
        let mut command = asking(&store, "-n 3 -- false");
        goes_on(command.env("SSL_CERT_FILE", within(dir, "ca.pem")), why);
    }
    // Without TLS, the server ends or resets the connection, so the message varies.
    fails_open(&server.url(), &server.url());
    assert_eq!(server.counts("api"), (0, 0));
}

fn tls_with_files_of_the_address() {
    let server = Server::start_in(certificates("IP:127.0.0.1"), WITH_TLS);
    let stranger = certificates("IP:127.0.0.1");
    let (ours, theirs) = (server.dir.path().display(), stranger.path().display());
    let store = |query: String| format!("rediss://127.0.0.1:{}?{query}", server.port);
    let whole = store(format!(
        "ca={ours}/ca.pem&cert={ours}/server.pem&key={ours}/server.key"
    ));
    // The system's authorities do not count, and the command inherits nothing.
    let script = "[ -z \"$SSL_CERT_FILE\" ] || echo inherited; exit 1";
    let mut command = asking(&whole, "-n 2 -- sh -c");
    let said = command
        .arg(script)
        .env_remove("SSL_CERT_FILE")
        .code(1)
        .err();
    assert!(!said.contains("warning"), "{said}");
    for (query, why) in [
        (
            format!("ca={ours}/ca.pem"),
            "cannot be reached: received fatal alert",
        ),
        (
            format!("ca={theirs}/ca.pem"),
            "cannot be reached: invalid peer certificate: ",
        ),
        (
            format!("ca={ours}/ca.pem&cert={theirs}/server.pem&key={theirs}/server.key"),
            "cannot be reached: received fatal alert",
        ),
    ] {
        fails_open(&store(query), why);
    }
    assert_eq!(server.counts("api"), (2, 1));
}

/// Asserts that connections have TCP_NODELAY. Otherwise the kernel would hold each small write, for 40 ms, until the
/// previous write is acknowledged.
fn no_write_waits_for_the_one_before() {
    let server = tls_server("IP:127.0.0.1");
    let store = format!("rediss://127.0.0.1:{}", server.port);
    let trace = within(&server.dir, "trace");
    let mut command = clean("strace");
    command.args(["-f", "-e", "trace=setsockopt,connect", "-o", &trace, *BIN]);
    command.args(words(&format!(
        "-qq -n 1 --budget api --store {store} -- true"
    )));
    command
        .env("SSL_CERT_FILE", within(&server.dir, "ca.pem"))
        .code(0);
    let trace = std::fs::read_to_string(trace).unwrap();
    let connections = trace.matches("connect(").count();
    assert!(connections > 0, "{trace}");
    assert_eq!(
        trace.matches("TCP_NODELAY, [1]").count(),
        connections,
        "{trace}"
    );
}

/// Runs the line of docs/recipes.md, with another host and file.
fn the_recipe_for_containers() {
    const LINE: &str = "backoff --budget api --store 'rediss://cache:6379?ca=/etc/ssl/cache.pem' --store-down deny -- call";
    assert!(include_str!("../../docs/recipes.md").contains(LINE));
    let mut server = tls_server("DNS:localhost");
    let line = LINE
        .replace("cache:6379", &format!("localhost:{}", server.port))
        .replace("/etc/ssl/cache.pem", &within(&server.dir, "ca.pem"));
    let dir = tempdir().unwrap();
    executable(&within(&dir, "call"), "#!/bin/sh\necho call\nexit 1\n");
    let path = format!("{}:{}", dir.path().display(), path_with_backoff());
    // Each container has its own home.
    let container = || {
        let home = tempdir().unwrap();
        let mut command = shell(&line);
        command
            .env("PATH", &path)
            .env("HOME", home.path())
            .env_remove("XDG_STATE_HOME");
        command
            .env("BACKOFF_BASE", "1ms")
            .env("BACKOFF_BUDGET_MIN", "6");
        let (calls, _) = command.code(1).texts();
        calls.lines().count()
    };
    assert_eq!([container(), container(), container()], [5, 1, 1]);
    server.kill();
    assert_eq!([container(), container()], [1, 1]);
}

// --- Clusters ---

fn cluster() -> [Server; 3] {
    let start = |()| {
        Server::start(&format!(
            "--cluster-enabled yes --cluster-port {}",
            free_port()
        ))
    };
    let nodes = [(); 3].map(start);
    for (node, (slots, epoch)) in
        nodes
            .iter()
            .zip([("0 5460", "1"), ("5461 10922", "2"), ("10923 16383", "3")])
    {
        node.run::<()>(&format!("CLUSTER ADDSLOTSRANGE {slots}"));
        node.run::<()>(&format!("CLUSTER SET-CONFIG-EPOCH {epoch}"));
        let bus: Vec<String> = node.run("CONFIG GET cluster-port");
        nodes[0].run::<()>(&format!("CLUSTER MEET 127.0.0.1 {} {}", node.port, bus[1]));
    }
    for node in &nodes {
        eventually("the cluster is whole", || {
            let info: String = node.run("CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
        });
    }
    nodes
}

/// Returns the node that holds the only key.
fn owner(nodes: &[Server]) -> usize {
    nodes.iter().position(|node| node.keys() == 1).unwrap()
}

fn any_node_of_a_cluster_will_do() {
    let nodes = cluster();
    let counts_on_all = |name: &str| -> Vec<(u64, u64)> {
        let counts = nodes.iter().map(|node| node.counts_here(name));
        counts.flatten().collect()
    };
    for name in ODD_NAMES.into_iter().chain(["api", "b", "c"]) {
        for node in &nodes {
            asked_by_variable(&node.url(), name);
        }
        assert_eq!(counts_on_all(name), [(6, 3)], "{name:?}");
    }
    // A node that does not know the names of the others redirects to a port alone.
    for node in &nodes {
        node.run::<()>("CONFIG SET cluster-preferred-endpoint-type unknown-endpoint");
        asking(&node.url(), "-- true").code(0);
    }
    assert_eq!(counts_on_all("api"), [(9, 3)]);
}

/// Asserts that the message names the server that failed, not the server that redirected to it.
fn a_node_of_a_cluster_is_gone() {
    let mut nodes = cluster();
    asking(&nodes[0].url(), "-- true").code(0);
    let owner = owner(&nodes);
    let (gone, other) = (nodes[owner].url(), nodes[(owner + 1) % 3].url());
    nodes[owner].kill();
    fails_open(
        &other,
        &format!("warning: {gone}: cannot be reached: Connection refused;"),
    );
    // The message also does not name a text that cannot be a host.
    for host in ["\x1b[2J", &"a".repeat(50_000)] {
        let store = talker(
            format!("-MOVED 1 {host}:6379\r\n").leak(),
            "",
            Duration::from_secs(1),
        );
        fails_open(&store, &format!("warning: {store}: refuses (MOVED);"));
    }
}

fn a_name_that_is_being_moved() {
    let nodes = cluster();
    let slot: u16 = nodes[0].run("CLUSTER KEYSLOT backoff:budget:api");
    let from = usize::from(slot / 5461).min(2);
    let to = (from + 1) % 3;
    let id = |node: usize| -> String { nodes[node].run("CLUSTER MYID") };
    let set_slot = |node: usize, state: &str, other: usize| {
        nodes[node].run::<()>(&format!("CLUSTER SETSLOT {slot} {state} {}", id(other)));
    };
    set_slot(to, "IMPORTING", from);
    set_slot(from, "MIGRATING", to);
    // The old node lacks the key, and redirects to the new one for this step (ASK).
    for node in &nodes {
        asking(&node.url(), "-qq -n 2 -- false").code(1);
    }
    assert_eq!((nodes[from].keys(), nodes[to].keys()), (0, 1));
    set_slot(to, "NODE", to);
    assert_eq!(nodes[to].counts("api"), (6, 3));
}

// --- A run and its store ---

fn term_while_the_store_is_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let store = format!("redis://{}", listener.local_addr().unwrap());
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let live = backoff(format!(
            "-n 2 -b 5s -j none --budget api --store {store} -- false"
        ))
        .live();
        let mut held = None;
        eventually("a connection", || {
            held = listener.accept().ok();
            held.is_some()
        });
        eventually("the command has ended", || {
            children_of(live.pid()).len() == 1
        });
        live.signal(signal);
        live.killed_by(signal).err();
    }
}

/// Starts a server that answers as many questions as the counter allows. Returns its address, an event for each
/// question, and the counter.
fn slow_server() -> (String, Receiver<()>, Arc<AtomicUsize>) {
    let (asked, questions) = channel();
    let may_answer = Arc::new(AtomicUsize::new(0));
    let (answers, earlier) = (Arc::clone(&may_answer), AtomicUsize::new(0));
    let store = serve(move |mut stream| {
        let earlier = earlier.fetch_add(1, Ordering::SeqCst);
        let _ = asked.send(());
        // Threads of questions that are never answered end with the tests.
        while answers.load(Ordering::SeqCst) <= earlier {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = stream.write_all(b"*3\r\n:1\r\n:1\r\n:0\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    (store, questions, may_answer)
}

/// Asserts that a server which answers while backoff is stopped has answered in time.
fn stopped_while_the_store_is_asked() {
    let (store, questions, may_answer) = slow_server();
    let line = format!("-n 1 --budget api --store {store} -- false");
    let live = backoff(line).live();
    questions.recv_timeout(PATIENCE).unwrap();
    live.signal(Signal::SIGTSTP);
    eventually("it stops", || state(live.pid()) == Some('T'));
    may_answer.store(usize::MAX, Ordering::SeqCst);
    let stopped = Instant::now();
    eventually("the timeout passes", || {
        stopped.elapsed() > Duration::from_secs(1)
    });
    live.signal(Signal::SIGCONT);
    let said = live.code(1).err();
    assert!(!said.contains("warning"), "{said}");
}

fn no_store_is_asked_without_a_budget() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let store = format!("redis://{}", listener.local_addr().unwrap());
    let mut command = backoff("-qq -n 2 -b 1ms -- false");
    command.env("BACKOFF_STORE", &store).code(1);
    backoff(format!("--plan --budget api --store {store}"))
        .code(0)
        .out();
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    // A run that asks has connected before its end.
    backoff(format!("--budget api --store {store} -- true")).ends();
    listener.accept().unwrap();
}

fn nothing_is_held_during_a_wait() {
    let server = Server::start("--requirepass word");
    let store = format!("redis://:word@127.0.0.1:{}", server.port);
    for is_paused in [false, true] {
        if is_paused {
            // The connection ends soon after the timeout.
            server.pause();
        }
        let script = format!(
            "exec {} -b 1h -m 1h -j none --budget api --store {store} -- sh -c 'echo ready; false' 2>&1",
            *BIN
        );
        let mut live = shell(&script).live();
        live.expect_line("ready");
        if is_paused {
            assert!(live.line().contains("gives no answer within "));
        }
        assert!(live.line().contains("retrying in "));
        let pid = live.pid();
        let has_socket = || descriptors(pid).iter().any(|open| open.contains("socket:"));
        eventually("no child and no socket", || {
            children_of(pid).is_empty() && !has_socket()
        });
        live.signal(Signal::SIGTERM);
        live.killed_by(Signal::SIGTERM).stdout("...");
    }
    server.resume();
    // The question of the second run may have been answered after the run had ended.
    let retries = counts(&mut server.admin_as("?pass=word"), "api").1;
    assert!((1..=2).contains(&retries), "{retries}");
}

// --- The script and the ledger ---

/// Returns the script with the time as its last argument, and with a lifetime longer than a test, as the test's clock
/// is not the server's.
fn timeless_script() -> String {
    let time = "local time = redis.call('TIME')\n\
                local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)\n";
    let life = "math.min(ttl, LONGEST_TTL)";
    assert_eq!(
        (SCRIPT.matches(time).count(), SCRIPT.matches(life).count()),
        (1, 1)
    );
    SCRIPT
        .replace(time, "local now = tonumber(ARGV[5])\n")
        .replace(life, "3600000")
}

/// One budget, kept by the ledger and by the script.
struct Twins {
    ledger: Ledger,
    connection: redis::Connection,
    script: String,
}

impl Twins {
    fn on(server: &Server) -> Twins {
        server.run::<()>("FLUSHALL");
        Twins {
            ledger: Ledger::default(),
            connection: server.admin(),
            script: timeless_script(),
        }
    }

    /// Returns the answers of the ledger and of the script.
    fn answers(&mut self, terms: &BudgetLimits, question: Question, now: u64) -> [[u64; 3]; 2] {
        let answer = self
            .ledger
            .answer(terms, question, Duration::from_millis(now));
        let word = match question {
            Question::Attempt => "attempt",
            Question::Retry => "retry",
        };
        let limits = (terms.window.as_millis() as u64, terms.min, terms.ratio);
        let mut call = redis::cmd("EVAL");
        call.arg(&self.script)
            .arg(1)
            .arg("backoff:budget:twin")
            .arg(limits);
        let script = call.arg((word, now)).query(&mut self.connection);
        let ledger = [
            answer.allowed.into(),
            answer.counts.attempts,
            answer.counts.retries,
        ];
        [ledger, script.unwrap()]
    }

    /// Returns the numbers of the ledger and of the script.
    fn numbers(&mut self) -> [Vec<u64>; 2] {
        let mut ledger = vec![self.ledger.span];
        for slot in &self.ledger.slots {
            ledger.extend([slot.until, slot.counts.attempts, slot.counts.retries]);
        }
        // Without a key, the longest window does not matter.
        let script = numbers(&mut self.connection, "twin").unwrap_or(vec![self.ledger.span]);
        [ledger, script]
    }

    /// Asks the ledger and the script, asserts that they agree, and returns the numbers.
    fn step(
        &mut self,
        terms: &BudgetLimits,
        question: Question,
        now: u64,
    ) -> Result<Vec<u64>, TestCaseError> {
        let [ledger, script] = self.answers(terms, question, now);
        prop_assert_eq!(ledger, script, "{:?} at {}", question, now);
        let [ledger, script] = self.numbers();
        prop_assert_eq!(&ledger, &script, "after {:?} at {}", question, now);
        Ok(ledger)
    }
}

fn limits(ratio: u32, min: u64, window: u64) -> BudgetLimits {
    let window = Duration::from_millis(window);
    BudgetLimits { ratio, min, window }
}

/// A question, the index of its limits, and the advance of the clock.
fn a_step() -> impl Strategy<Value = (Question, usize, i64)> {
    let question = prop_oneof![
        4 => Just(Question::Attempt),
        6 => Just(Question::Retry),
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
    let ratio = prop_oneof![
        Just(0),
        Just(100_000),
        Just(500_000),
        Just(1_000_000),
        0..=1_000_000_u32
    ];
    let window = prop_oneof![1..100_u64, 100..20_000_u64, 20_000..2_000_000_u64];
    (ratio, 0..12_u64, window).prop_map(|(ratio, min, window)| limits(ratio, min, window))
}

fn the_script_is_the_ledger() {
    let server = Server::start("");
    let config = Config {
        cases: 150,
        failure_persistence: None,
        ..Config::default()
    };
    let steps = prop::collection::vec(a_step(), 1..120);
    let strategy = (
        [some_terms(), some_terms()],
        0..3_000_000_000_000_u64,
        steps,
    );
    let result = TestRunner::new(config).run(&strategy, |(terms, mut now, steps)| {
        let mut twins = Twins::on(&server);
        for (question, which, advance) in steps {
            now = now.saturating_add_signed(advance);
            twins.step(&terms[which], question, now)?;
        }
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.unwrap_err());
}

/// The windows grow: each window leaves nearly sixty slots to the next one.
fn the_script_has_as_many_slots() {
    let server = Server::start("");
    let mut twins = Twins::on(&server);
    let mut now = 1_700_000_000_000;
    let mut most = 0;
    for window in [600, 36_000, 2_160_000] {
        for i in 0..59 {
            // The longer window begins before the slots of the shorter window are past.
            now += if i == 0 { 1 } else { window / 60 };
            let question = if i % 2 == 0 {
                Question::Attempt
            } else {
                Question::Retry
            };
            let numbers = twins
                .step(&limits(500_000, 1, window), question, now)
                .unwrap();
            most = most.max((numbers.len() - 1) / 3);
        }
    }
    assert_eq!(most, MOST_SLOTS);
}
