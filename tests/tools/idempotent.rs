//! Real curl and wget, and a server that counts what it carries out: what must happen once does not happen twice.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::tools::Test;
use crate::common::{Shown, backoff, run};

pub const TESTS: &[Test] = &[
    ("what_must_happen_once_is_sent_once", &["curl", "wget"], sent_once),
    ("what_may_happen_twice_is_sent_again", &["curl", "wget"], sent_again),
    ("a_refused_post_is_sent_again", &["curl"], refused_post),
];

/// `METHOD /path`, and the key if there was one.
type Order = (String, Option<String>);

/// Requests that the server received.
#[derive(Clone, Default)]
struct Orders(Arc<Mutex<Vec<Order>>>);

impl Orders {
    fn take(&self) -> Vec<Order> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A server whose paths say how it answers: a status, `reset`, `close` or `silent`. `busy` is 429 once, and then 200.
fn shop() -> (String, Orders) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let orders = Orders::default();
    let seen = orders.clone();
    std::thread::spawn(move || {
        let mut was_busy = false;
        for connection in listener.incoming().flatten() {
            let Some((line, key)) = request(&connection) else {
                continue;
            };
            let path = line.rsplit('/').next().unwrap_or_default().to_owned();
            seen.0.lock().unwrap().push((line, key));
            let status = match &*path {
                "busy" if !std::mem::replace(&mut was_busy, true) => "429 Too Many Requests",
                "busy" => "200 OK",
                "reset" => {
                    rustix::net::sockopt::set_socket_linger(&connection, Some(Duration::ZERO)).unwrap();
                    continue;
                }
                "silent" => {
                    // Until the client has had enough.
                    let _ = (&connection).read(&mut [0]);
                    continue;
                }
                "moved" => "303 See Other\r\nLocation: http://127.0.0.1:1/",
                "close" => continue,
                status => &format!("{status} Said"),
            };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = (&connection).write_all(answer.as_bytes());
        }
    });
    (url, orders)
}

/// Reads all of a request.
fn request(connection: &TcpStream) -> Option<Order> {
    let mut reader = BufReader::new(connection);
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let line = lines.next()?;
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        let lower = |line: &&String| line.to_ascii_lowercase().starts_with(name);
        headers
            .iter()
            .find(lower)
            .map(|line| line[name.len()..].trim().to_owned())
    };
    let length = header("content-length:").map_or(0, |length| length.parse().unwrap());
    reader.take(length).read_to_end(&mut Vec::new()).unwrap();
    let line = line.rsplit_once(' ')?.0.to_owned();
    Some((line, header("idempotency-key:")))
}

/// Two attempts with a command in which `URL` is the server's.
#[track_caller]
fn tried(url: &str, args: &str) -> Shown {
    let words = words!("-n 2 -b 1ms {..}", args.replace("URL", url));
    run(backoff(words)
        .envs([("no_proxy", "*"), ("HOME", "/nonexistent"), ("WGETRC", "/dev/null")])
        .envs([("DATA", "x"), ("U", url)]))
}

#[track_caller]
fn expect_orders(orders: &Orders, line: &str, methods: &[&str]) {
    let taken = orders.take();
    let found: Vec<&str> = taken.iter().map(|(line, _)| line.split(' ').next().unwrap()).collect();
    assert_eq!(found, methods, "{line}");
}

/// How the server answers, and the exit codes of curl and wget for it.
const MAYBE_DONE: [(&str, i32, i32); 6] = [
    ("500", 22, 8),
    ("503", 22, 8),
    ("504", 22, 4),
    ("reset", 56, 4),
    ("close", 52, 4),
    ("silent", 28, 4),
];

/// `CURL` and `WGET` stand for the client with options that make it fail soon.
fn with_clients(line: &str) -> String {
    line.replace("CURL", "curl -qsSf -m 1")
        .replace("WGET", "wget --no-config -nv -O /dev/null -t1 -T1 --max-redirect=0")
}

fn sent_once() {
    let (url, orders) = shop();
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("config");
    std::fs::write(&config, "data = x\n").unwrap();
    let key = "--header 'Idempotency-Key: 1' --header=";
    for line in [
        "--for curl -- CURL -d x URL/500",
        "--for curl -- CURL --json {} URL/reset",
        "--for curl -- CURL -F a=b URL/503",
        "--for curl -- CURL --ftp-ssl -d x URL/500",
        "--for curl -- CURL --get --no-get -d x URL/500",
        "--for curl -- CURL -d x -H 'Idempotency-Key : 1' URL/500",
        "--for curl -- CURL -K CONFIG URL/500",
        // Another one might be sent by a later part.
        "--for curl -- CURL -L -d x URL/moved",
        "--for curl -- CURL -d x URL/200 http://127.0.0.1:1/",
        "--for curl -- sh -c 'CURL -d \"$DATA\" URL/500'",
        "--for curl -- bash -c 'set -e; CURL -d x URL/reset'",
        "--for curl -- bash -o pipefail -c 'CURL -d x URL/500 | cat'",
        "--for curl -- bash -o pipefail -c 'set -e; CURL -d \"$DATA\" \"$U/503\" | cat'",
        "--for auto -- env -S 'CURL -d x URL/500'",
        // backoff's own limit tells no more.
        "-t 300ms --for auto -- sh -c 'curl -qsSf -d x URL/silent'",
        "--for wget -- WGET --post-data=x URL/500",
        "--for wget -- WGET --backups --post-data=x URL/reset",
        "--for wget -- WGET -e POST_DATA=x URL/500",
        "--for wget -- WGET -e 'PostData = x' URL/reset",
        "--for wget -- WGET -e METHOD=POST URL/reset",
        "--for wget -- WGET KEY --post-data=x URL/reset",
    ] {
        let args = with_clients(line)
            .replace("CONFIG", config.to_str().unwrap())
            .replace("KEY", key);
        tried(&url, &args)
            .expect_stderr("gave up after 1 attempt in ")
            .expect_stderr("it may have taken effect, and is not idempotent: ");
        expect_orders(&orders, line, &["POST"]);
    }
    let shown = tried(&url, &with_clients("--for curl -- CURL -X 'POST ' URL/reset"));
    shown.expect_stderr("gave up after 1 attempt in ");
    assert_eq!(orders.take().len(), 1);
}

fn sent_again() {
    let (url, orders) = shop();
    for (path, curl, wget) in MAYBE_DONE {
        for (line, code, method) in [
            ("--for curl -- CURL URL/PATH", curl, "GET"),
            ("--for curl -- CURL -I URL/PATH", curl, "HEAD"),
            ("--for curl -- CURL -X PUT -d x URL/PATH", curl, "PUT"),
            (
                "--for curl -- CURL -d x -H 'idempotency-KEY: 17' URL/PATH",
                curl,
                "POST",
            ),
            ("--for curl --idempotent yes -- CURL -d x URL/PATH", curl, "POST"),
            ("--for wget -- WGET --method=PUT URL/PATH", wget, "PUT"),
        ] {
            let shown = tried(&url, &with_clients(line).replace("PATH", path));
            shown.expect_code(code).expect_stderr("gave up after 2 attempts in ");
            expect_orders(&orders, line, &[method, method]);
        }
    }
    // The key of the run is the same in both.
    let line = "--for curl -- sh -c 'exec CURL -d x -H \"Idempotency-Key: $BACKOFF_ROOT_ID\" URL/500'";
    tried(&url, &with_clients(line)).expect_code(22);
    let orders = orders.take();
    let key = orders[0].1.as_ref();
    assert!(
        orders.len() == 2 && orders[0] == orders[1] && key.is_some_and(|key| key.len() == 36),
        "{orders:?}"
    );
}

fn refused_post() {
    let (url, orders) = shop();
    tried(&url, "--for curl -- curl -qsSf -d x URL/busy").expect_code(0);
    expect_orders(&orders, "busy", &["POST", "POST"]);
    // Nothing is there; a name that does not exist; one that closes during the handshake.
    let closes = TcpListener::bind("127.0.0.1:0").unwrap();
    let secure = format!("https://{}/", closes.local_addr().unwrap());
    std::thread::spawn(move || closes.incoming().flatten().for_each(drop));
    // Nothing gets through where nobody accepts: the queue of the listener is full.
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&full, 0).unwrap();
    let address = full.local_addr().unwrap();
    let queue: Vec<_> = (0..4)
        .map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(100)))
        .collect();
    for (url, code) in [
        ("http://127.0.0.1:1/", 7),
        ("http://nosuch.invalid/", 6),
        (&secure, 35),
        (&format!("http://{address}/"), 28),
    ] {
        tried(url, "--for curl -- curl -qsSf -m 10 --connect-timeout 0.3 -d x URL")
            .expect_code(code)
            .expect_stderr("gave up after 2 attempts in ");
    }
    drop(queue);
}
