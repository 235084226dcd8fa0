//! A loopback server. The path of a request determines the response.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

use nix::libc::linger;
use nix::sys::socket::sockopt::Linger;
use nix::sys::socket::{Backlog, setsockopt};

/// Listens on a port without digits that a tool may take for an HTTP status in a message.
fn listen() -> (TcpListener, String) {
    let listeners = std::iter::repeat_with(|| TcpListener::bind("127.0.0.1:0").unwrap());
    let with_address =
        listeners.map(|listener| (listener.local_addr().unwrap().to_string(), listener));
    let (address, listener) = with_address
        .take(100)
        .find(|(address, _)| !["40", "50"].iter().any(|digits| address.contains(digits)))
        .unwrap();
    (listener, address)
}

/// Starts a server that closes every connection at once, and returns its address.
pub fn closes() -> String {
    let (listener, address) = listen();
    std::thread::spawn(move || listener.incoming().flatten().for_each(drop));
    address
}

/// The address of a server that accepts no connection, its listener, and the connections that fill its queue, so that
/// no other gets through.
pub static FULL: LazyLock<(String, TcpListener, Vec<TcpStream>)> = LazyLock::new(|| {
    let (listener, address) = listen();
    nix::sys::socket::listen(&listener, Backlog::new(0).unwrap()).unwrap();
    let to = address.parse().unwrap();
    let connect = |_| TcpStream::connect_timeout(&to, Duration::from_millis(100)).ok();
    (address, listener, (0..4).filter_map(connect).collect())
});

/// Starts a server, and returns its address. The first part of a request's path determines the response:
/// `/503-200/file` gets 503 the first time and 200 from then on, and `/requests` gets all requests since the last time.
/// A Redis command gets its name as an error.
pub fn start() -> String {
    let (listener, address) = listen();
    std::thread::spawn(move || {
        let (mut requests, mut counts) = (String::new(), HashMap::<String, usize>::new());
        for connection in listener.incoming().flatten() {
            let Some(request) = read(&connection) else {
                continue;
            };
            let path = request.split(['/', ' ']).nth(2).unwrap_or_default();
            if path == "requests" {
                answer(&connection, "200", &std::mem::take(&mut requests));
                continue;
            }
            let count = counts.entry(path.to_owned()).or_default();
            let how = path.split('-').nth(*count).or(path.split('-').next_back());
            *count += 1;
            answer(&connection, how.unwrap_or_default(), "0123456789\n");
            requests += &(request + "\n");
        }
    });
    address
}

/// Returns the reason phrase, which some tools print instead of the number.
fn reason(status: &str) -> &'static str {
    match status {
        "404" => "Not Found",
        "429" => "Too Many Requests",
        "503" => "Service Unavailable",
        _ => "Said",
    }
}

fn answer(mut connection: &TcpStream, how: &str, body: &str) {
    let length = body.len();
    let end = format!("Content-Length: {length}\r\nConnection: close\r\n\r\n");
    let head = |status: &str| format!("HTTP/1.1 {status} {}\r\n{end}", reason(status));
    let _ = match how {
        "close" => Ok(()),
        "reset" => {
            let at_once = linger {
                l_onoff: 1,
                l_linger: 0,
            };
            setsockopt(&connection, Linger, &at_once).map_err(Into::into)
        }
        // Waits until the client closes the connection.
        "silent" => connection.read(&mut [0]).map(drop),
        "half" => connection.write_all((head("200") + &body[..length / 2]).as_bytes()),
        "moved" => connection.write_all(
            format!("HTTP/1.1 303 Said\r\nLocation: http://127.0.0.1:1/\r\n{end}").as_bytes(),
        ),
        status => connection.write_all((head(status) + body).as_bytes()),
    };
}

/// Reads a whole request, and returns its method, path and idempotency key.
fn read(connection: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(connection);
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let first = lines.next()?;
    if first.starts_with('*') {
        let text = lines.nth(1)?;
        let _ = (&*connection).write_all(format!("-{text}\r\n").as_bytes());
        return None;
    }
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        let found = headers
            .iter()
            .find(|line| line.to_ascii_lowercase().starts_with(name));
        found.map(|line| line[name.len()..].trim())
    };
    let length = header("content-length:").map_or(0, |length| length.parse().unwrap());
    reader.take(length).read_to_end(&mut Vec::new()).unwrap();
    let request = first.rsplit_once(' ')?.0;
    Some(header("idempotency-key:").map_or(request.to_owned(), |key| format!("{request} {key}")))
}
