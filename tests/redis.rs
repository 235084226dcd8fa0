//! Budgets on real Redis servers: names, TLS, clusters, and servers that are wrong, slow or gone.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use backoff_cli::policy::budget::{Answer, BudgetLimits, Counts, Question};
use nix::sys::signal::Signal;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::{TempDir, tempdir};

use crate::util::counts::counted;
use crate::util::process::{children_of, descriptors, threads_of};
use crate::util::redis::{Server, counts, free_port, numbers};
use crate::util::{
    BIN, Ends, backoff, clean, eventually, shell, within,
};

const SCRIPT: &str = include_str!("../src/budget/budget.lua");

tests! {
    any_node_of_a_cluster_will_do ["redis-server"]
    this_machines_own_budget_takes_its_place ["redis-server"]
    a_server_that_is_back_is_asked ["redis-server"]
    ports_that_do_not_speak_redis [] a_port_that_says_nothing []
    a_server_that_talks_slowly [] any_text_is_a_name ["redis-server"]
    tls_with_a_certificate_that_is_trusted ["redis-server", "openssl"]
    tls_with_a_certificate_that_is_not ["redis-server", "openssl"]
    tls_with_files_of_the_address ["redis-server", "openssl"]
    term_while_the_store_is_asked []
    no_store_is_asked_without_a_budget [] nothing_is_held_during_a_wait ["redis-server"]
    the_script_is_the_formula ["redis-server"]
}

pub mod root {
    use super::*;

    tests! {
        an_image_without_authorities ["redis-server", "openssl", "root", "unshare"]
    }
}

fn asking(store: &str, line: &str) -> Command {
    backoff(format!(
        "-b 1ms -j none --store {store} --budget api {line}"
    ))
}

/// Asserts that `-n 3 -- false` continues without its budget after one warning.
#[track_caller]
fn goes_on(command: &mut Command, why: &str) {
    command.code(1).stderr(&format!(
        "backoff: ...{why}...continuing without budget \"api\"\n\
         backoff: false: attempt 1 of 3 failed: ...\n\
         backoff: false: attempt 2 of 3 failed: ...\n\
         backoff: false: gave up after 3 attempts in ...: exit 1 (attempt limit reached)...\n"
    ));
}

#[track_caller]
fn fails_open(store: &str, why: &str) {
    goes_on(&mut asking(store, "-n 3 -- false"), why);
}

// --- Servers in trouble ---

/// Starts a server and kills it. Returns the server and its address.
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
        "backoff: warning: {url}: {refused}; using this machine's own budget \"api\"\n\
         backoff: false: attempt 1 of 9 failed: ...\n\
         backoff: false: attempt 2 of 9 failed: ...\n\
         backoff: false: gave up after 3 attempts in ...: exit 1 (budget \"api\" exhausted: 66.7% of ...\n"
    ));
    let file = home.path().join("backoff/api.budget");
    assert_eq!(counted(file), (3, 2));
}

/// Asserts that backoff asks the server before each retry. The server is back, but empty, when the second attempt ends.
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
    live.code(1).says("exhausted: 100.0% of");
    assert_eq!(server.counts("api"), (3, 3));
}

/// Starts a server that handles each connection in a thread. Returns its address.
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

/// Starts a server that sends `first`, and then repeats `then` with a pause.
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
    let other_reply = talker("*3\r\n:1\r\n:0\r\n:0\r\n", "", pause);
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
            "no answer within 250ms",
        );
    }
}

/// Each byte arrives in time, but the whole reply never does.
fn a_server_that_talks_slowly() {
    let store = talker("*5\r\n:", "1", Duration::from_millis(50));
    fails_open(&store, "no answer within 250ms");
}

// --- Keys ---

const ODD_NAMES: [&str; 9] = [
    "a b", "{", "{}", "a{b}c", "{}{x}", "é\n\r\n", "'\"\\", "*:?[a]", "-n",
];

/// Makes two attempts. A variable, unlike a flag, allows a name that looks like an option.
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

/// Returns a directory with a CA, and a server certificate for these names that the CA signed.
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

/// By default, a server requires client certificates.
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
    // The server closes or resets a connection without TLS, so the message varies.
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
    // The system's CAs are ignored, and the command inherits nothing.
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

/// Asserts that `?ca=` is enough on a machine without CA certificates.
fn an_image_without_authorities() {
    let server = tls_server("IP:127.0.0.1");
    let store = format!(
        "rediss://127.0.0.1:{}?ca={}",
        server.port,
        within(&server.dir, "ca.pem")
    );
    let script = format!(
        "mount -t tmpfs none /etc/ssl; exec {} -qq -n 2 -b 1ms --budget api --store '{store}' -- false",
        *BIN
    );
    clean("unshare").args(["-m", "sh", "-c", &script]).code(1);
    assert_eq!(server.counts("api"), (2, 1));
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
    // A node that does not know the hosts of the others redirects to a port alone.
    for node in &nodes {
        node.run::<()>("CONFIG SET cluster-preferred-endpoint-type unknown-endpoint");
        asking(&node.url(), "-- true").code(0);
    }
    assert_eq!(counts_on_all("api"), [(9, 3)]);
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
            children_of(live.pid()).is_empty()
        });
        live.signal(signal);
        live.killed_by(signal).err();
    }
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
    // A run with a budget has connected by the time it exits.
    backoff(format!("--budget api --store {store} -- true")).ends();
    listener.accept().unwrap();
}

fn nothing_is_held_during_a_wait() {
    let server = Server::start("--requirepass word");
    let store = format!("redis://:word@127.0.0.1:{}", server.port);
    for is_paused in [false, true] {
        if is_paused {
            // The connection closes soon after the timeout.
            server.pause();
        }
        let script = format!(
            "exec {} -b 1h -m 1h -j none --budget api --store {store} -- sh -c 'echo ready; false' 2>&1",
            *BIN
        );
        let mut live = shell(&script).live();
        live.expect_line("ready");
        if is_paused {
            assert!(live.line().contains("no answer within "));
        }
        assert!(live.line().contains("retrying in "));
        let pid = live.pid();
        let sockets = || {
            let open = descriptors(pid);
            open.iter().filter(|open| open.contains("socket:")).count()
        };
        // Signals arrive through a pair of sockets.
        eventually("no thread and no connection", || {
            threads_of(pid) == 1 && sockets() == 2
        });
        live.signal(Signal::SIGTERM);
        live.killed_by(Signal::SIGTERM).stdout("...");
    }
    server.resume();
    // The server may have answered the second run after that run ended.
    let retries = counts(&mut server.admin_as("?pass=word"), "api").1;
    assert!((1..=2).contains(&retries), "{retries}");
}

// --- The script and the formula ---

/// Returns the script with the time as its last argument.
fn timeless_script() -> String {
    let time = "local time = redis.call('TIME')\nlocal now = time[1] * 1000 + time[2] / 1000\n";
    assert_eq!(SCRIPT.matches(time).count(), 1);
    SCRIPT.replace(time, "local now = tonumber(ARGV[5])\n")
}

/// A question, the index of its limits, and how far the clock advances in milliseconds.
fn a_step() -> impl Strategy<Value = (Question, usize, i64)> {
    let question = prop_oneof![Just(Question::Attempt), Just(Question::Retry)];
    let clock = prop_oneof![
        4 => 0..3_i64,
        6 => 0..500_i64,
        2 => 0..20_000_i64,
        1 => -20_000..0_i64,
        1 => 0..2_000_000_i64,
    ];
    (question, 0..2_usize, clock)
}

fn some_limits() -> impl Strategy<Value = BudgetLimits> {
    let window = prop_oneof![1_000..20_000_u64, 20_000..2_000_000_u64];
    (0.0..=1.0_f64, 0..12_u64, window).prop_map(|(ratio, min, window)| BudgetLimits {
        ratio,
        min,
        window: Duration::from_millis(window),
    })
}

/// Returns the script's answer and the numbers that it stores.
fn scripted(
    connection: &mut redis::Connection,
    limits: &BudgetLimits,
    question: Question,
    now: u64,
) -> (Answer, [f64; 3]) {
    let word = match question {
        Question::Attempt => "attempt",
        Question::Retry => "retry",
    };
    let mut call = redis::cmd("EVAL");
    call.arg(timeless_script())
        .arg(1)
        .arg("backoff:budget:twin");
    call.arg((limits.window.as_millis() as u64, limits.min))
        .arg(limits.ratio)
        .arg((word, now));
    let (allowed, retries_per_mille) = call.query(connection).unwrap();
    let answer = Answer {
        allowed,
        retries_per_mille,
    };
    (answer, numbers(connection, "twin").unwrap())
}

/// Gives both the same random history. Their numbers differ in the last digits, so answers at the very limit may also
/// differ. Each step continues with the script's counts.
fn the_script_is_the_formula() {
    let server = Server::start("");
    let config = Config {
        cases: 150,
        failure_persistence: None,
        ..Config::default()
    };
    let steps = prop::collection::vec(a_step(), 1..120);
    let strategy = (
        [some_limits(), some_limits()],
        1_000_000_000_000..3_000_000_000_000_u64,
        steps,
    );
    let result = TestRunner::new(config).run(&strategy, |(limits, mut now, steps)| {
        server.run::<()>("FLUSHALL");
        let mut connection = server.admin();
        let mut counts = Counts::default();
        for (question, which, advance) in steps {
            now = now.saturating_add_signed(advance);
            let limits = &limits[which];
            let time = Duration::from_millis(now);
            let mut rest = counts;
            // Fades the counts and adds an attempt, which is subtracted below.
            rest.answer(limits, Question::Attempt, time);
            let is_close = (rest.retries - limits.ratio * (rest.attempts - 1.0)).abs() < 1e-6
                || ((rest.attempts - 1.0).fract() - 0.5).abs() < 1e-6;
            let answer = counts.answer(limits, question, time);
            let (of_script, kept) = scripted(&mut connection, limits, question, now);
            let ours = [counts.at, counts.attempts, counts.retries];
            let is_same = ours.iter().zip(kept).all(|(a, b)| (a - b).abs() < 1e-3);
            prop_assert!(
                is_close || is_same && answer.allowed == of_script.allowed,
                "{ours:?} {kept:?}"
            );
            let share = answer
                .retries_per_mille
                .abs_diff(of_script.retries_per_mille);
            prop_assert!(share <= 1, "{answer:?} {of_script:?}");
            [counts.at, counts.attempts, counts.retries] = kept;
        }
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.unwrap_err());
}
