//! Real curl and wget, and a server that counts what it carries out: what must happen once does not happen twice.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::tools::Test;
use crate::common::words::Words;
use crate::common::{Shown, backoff, run};

pub const TESTS: &[Test] = &[
    ("a_post_of_curl_is_carried_out_once", &["curl"], post_of_curl),
    ("a_post_with_a_key_is_sent_again", &["curl"], post_with_key),
    ("what_is_idempotent_is_sent_again", &["curl"], idempotent),
    ("a_refused_post_is_sent_again", &["curl"], refused_post),
    ("a_post_that_is_redirected_is_sent_once", &["curl"], redirected_post),
    ("a_post_of_wget_is_carried_out_once", &["wget"], post_of_wget),
];

/// `METHOD /path`, and the key if there was one.
type Order = (String, Option<String>);

/// What the server has been asked to do.
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

#[track_caller]
fn tried(args: impl Words) -> Shown {
    let words = words!("-n 2 -b 1ms {..}", args);
    run(backoff(words).env("no_proxy", "*").env("HOME", "/nonexistent"))
}

#[track_caller]
fn is_final(shown: Shown, code: i32) {
    shown
        .expect_code(code)
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr("(it may have been carried out, and is not idempotent: POST without an Idempotency-Key header)");
}

/// How the server answers, and curl's exit code for it.
const MAYBE_DONE: [(&str, i32); 6] = [
    ("500", 22),
    ("503", 22),
    ("504", 22),
    ("reset", 56),
    ("close", 52),
    ("silent", 28),
];

fn post_of_curl() {
    let (url, orders) = shop();
    for (path, code) in MAYBE_DONE {
        for data in ["-d x", "-X POST", "--json {}", "-F a=b"] {
            let shown = tried(words!(
                "--for curl -- curl -qsSf -m 1 {..} {}",
                data,
                format!("{url}/{path}")
            ));
            is_final(shown, code);
            assert_eq!(orders.take(), [(format!("POST /{path}"), None)], "{data}");
        }
    }
    // backoff's own bound tells no more.
    let shown = tried(words!(
        "-t 1s --for auto -- sh -c {}",
        format!("curl -qsSf -d x {url}/silent")
    ));
    is_final(shown, 124);
    assert_eq!(orders.take().len(), 1);
}

fn post_with_key() {
    let (url, orders) = shop();
    for (path, code) in MAYBE_DONE {
        let key = "idempotency-KEY: 17";
        let shown = tried(words!(
            "--for curl -- curl -qsSf -m 2 -d x -H {} {}",
            key,
            format!("{url}/{path}")
        ));
        shown.expect_code(code).expect_stderr("gave up after 2 attempts in ");
        let order = (format!("POST /{path}"), Some("17".to_owned()));
        assert_eq!(orders.take(), [order.clone(), order]);
    }
    // The key of the run is the same in both.
    let script = "exec curl -qsSf -d x -H \"Idempotency-Key: $BACKOFF_ROOT_ID\" $URL";
    let mut command = backoff(words!("-n 2 -b 1ms --for curl -- sh -c {}", script));
    run(command.env("URL", format!("{url}/500")).env("no_proxy", "*")).expect_code(22);
    let orders = orders.take();
    assert!(
        orders.len() == 2 && orders[0] == orders[1] && orders[0].1.as_ref().is_some_and(|key| key.len() == 36),
        "{orders:?}"
    );
}

fn idempotent() {
    let (url, orders) = shop();
    for (path, code) in MAYBE_DONE {
        for (options, method) in [("", "GET"), ("-X DELETE", "DELETE"), ("-X PUT -d x", "PUT")] {
            let shown = tried(words!(
                "--for curl -- curl -qsSf -m 2 {..} {}",
                options,
                format!("{url}/{path}")
            ));
            shown.expect_code(code).expect_stderr("gave up after 2 attempts in ");
            let order = (format!("{method} /{path}"), None);
            assert_eq!(orders.take(), [order.clone(), order]);
        }
    }
}

fn refused_post() {
    let (url, orders) = shop();
    tried(words!("--for curl -- curl -qsSf -d x {}", format!("{url}/429")))
        .expect_code(22)
        .expect_stderr("gave up after 2 attempts in ");
    orders.take();
    tried(words!("--for curl -- curl -qsSf -d x {}", format!("{url}/busy"))).expect_code(0);
    assert_eq!(orders.take().len(), 2);
    // Nothing is there; a name that does not exist; one that closes during the handshake.
    let closes = TcpListener::bind("127.0.0.1:0").unwrap();
    let secure = format!("https://{}/", closes.local_addr().unwrap());
    std::thread::spawn(move || closes.incoming().flatten().for_each(drop));
    for (url, code) in [("http://127.0.0.1:1/", 7), ("http://nosuch.invalid/", 6), (&secure, 35)] {
        tried(words!("--for curl -- curl -qsSf -m 10 -d x {}", url))
            .expect_code(code)
            .expect_stderr("gave up after 2 attempts in ");
    }
    // Nothing gets through where nobody accepts: the queue of the listener is full.
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&full, 0).unwrap();
    let address = full.local_addr().unwrap();
    let queue: Vec<_> = (0..4)
        .map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(100)))
        .collect();
    tried(words!(
        "--for curl -- curl -qsSf --connect-timeout 0.3 -d x {}",
        format!("http://{address}/")
    ))
    .expect_code(28)
    .expect_stderr("gave up after 2 attempts in ");
    drop(queue);
}

/// The refusal is of the second request; the first has been carried out.
fn redirected_post() {
    let (url, orders) = shop();
    is_final(
        tried(words!("--for curl -- curl -qsSfL -d x {}", format!("{url}/moved"))),
        7,
    );
    assert_eq!(orders.take(), [("POST /moved".to_owned(), None)]);
}

fn post_of_wget() {
    let (url, orders) = shop();
    let options = "--for wget -- wget --no-config -nv -O /dev/null --max-redirect=0";
    for (path, code) in [("500", 8), ("reset", 4), ("silent", 4)] {
        let post = words!("{..} -t1 -T1 --post-data=x {}", options, format!("{url}/{path}"));
        is_final(tried(post), code);
        assert_eq!(orders.take(), [(format!("POST /{path}"), None)]);
    }
    for (path, method) in [
        ("500", "--header Idempotency-Key:1 --post-data=x"),
        ("reset", "--method=PUT"),
    ] {
        tried(words!("{..} -t1 {..} {}", options, method, format!("{url}/{path}")))
            .expect_stderr("gave up after 2 attempts in ");
    }
    orders.take();
    let post = words!("{..} --post-data=x {}", options, format!("{url}/429"));
    tried(words!("{..} -t1", &post)).expect_stderr("gave up after 2 attempts in ");
    // It might have tried before.
    is_final(tried(words!("{..} -t2", &post)), 8);
    // It says that of each address, also where the next one takes the request.
    is_final(tried(words!("{..} -t1 --post-data=x http://127.0.0.1:1/", options)), 4);
}
