//! Which parts of a `--store` may be shown. It is often given with a password, and as often with a slip in it.

use std::time::Duration;

/// The longest that an answer may take, unless an address says otherwise.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(250);

/// Reads a DURATION.
pub(crate) type ReadDuration = fn(&str) -> Result<Duration, String>;

/// Returns what may be shown of a `--store`: a directory as it is; of an address, or of a slip in one, the parts that are
/// known to be no password.
pub(crate) fn redacted(store: &str) -> String {
    let is_scheme = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let (scheme, rest) = match store.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (format!("{scheme}://"), rest),
        None if !is_a_slip(store) => return store.to_owned(),
        _ => (String::new(), store),
    };
    // A password may hold any character, escaped or not.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => ("***@", rest),
        None => ("", rest),
    };
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, "insecure")) => (rest, "#insecure"),
        Some((rest, _)) => (rest, "#***"),
        None => (rest, ""),
    };
    let (place, query) = match rest.split_once('?') {
        Some((place, query)) => (place, redacted_query(query)),
        None => (rest, String::new()),
    };
    let place = match place {
        path if scheme.ends_with("+unix://") && path.starts_with('/') => path.to_owned(),
        place => redacted_place(place),
    };
    format!("{scheme}{user}{place}{query}{fragment}")
}

/// Returns `HOST:PORT,HOST:PORT/DB` with stars in place of everything else.
fn redacted_place(place: &str) -> String {
    let (servers, database) = match place.split_once('/') {
        Some((servers, database)) if is_number(database) => (servers, format!("/{database}")),
        Some((servers, _)) => (servers, "/***".to_owned()),
        None => (place, String::new()),
    };
    let servers: Vec<String> = servers.split(',').map(redacted_server).collect();
    servers.join(",") + &database
}

fn redacted_server(server: &str) -> String {
    let is_whole = match server.rsplit_once(':') {
        Some((host, port)) => is_host(host) && is_number(port),
        None => is_host(server) || server.is_empty(),
    };
    match server.split_once(':') {
        _ if is_whole || is_host(server) => server.to_owned(),
        Some((host, _)) if is_host(host) => format!("{host}:***"),
        _ => "***".to_owned(),
    }
}

/// Returns a query up to the first setting that is not known to be harmless.
fn redacted_query(query: &str) -> String {
    const HARMLESS: [&str; 5] = ["db", "timeout", "ca", "cert", "key"];
    let mut shown = Vec::new();
    for setting in query.split('&') {
        let (key, _) = setting.split_once('=').unwrap_or_default();
        if !HARMLESS.contains(&key) {
            shown.push("***");
            break;
        }
        shown.push(setting);
    }
    format!("?{}", shown.join("&"))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns true if this is a host's name or address, in brackets if it has colons.
pub(super) fn is_host(text: &str) -> bool {
    let (text, others) = match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(text) => (text, ":.%"),
        None => (text, "-._"),
    };
    (1..=255).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

/// Returns true if a path is more likely to be an address with a slip in it, which may hold a password: `redis//u:PW@h`,
/// `u:PW@h`, `//h:6379`. A path that begins with `/`, `./` or `../` is none.
pub(super) fn is_a_slip(path: &str) -> bool {
    if path.starts_with("//") {
        return path.contains([':', '@']);
    }
    let first = path.split('/').next().unwrap_or_default();
    let is_scheme = ["redis", "valkey"]
        .iter()
        .any(|name| first.to_ascii_lowercase().starts_with(name));
    match first {
        "" | "." | ".." => false,
        _ => first.contains(':') || path.contains('@') || is_scheme && path[first.len()..].starts_with("//"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_password_is_shown() {
        for store in [
            "/var/lib/backoff",
            "./a:b@c",
            "budgets/of:jane",
            "redis://h:6379/0",
            "rediss://10.0.0.1,[::1]:7000,h_2/3?timeout=1s&ca=/etc/ca.pem",
            "redis+unix:///run/redis.sock?db=1",
            "localhost:6379",
        ] {
            assert_eq!(redacted(store), store);
        }
    }

    proptest! {
        #[test]
        fn no_password_is_shown(
            scheme in "redis://|rediss://|x://|redis:/|redis:|redis//",
            before in "|u:|:|u|h/0\\?pass=|h\\?timeout=1s&password=|h\\?|h#|h/|h:1:|,|h:",
            secret in "S[^@]{0,9}S",
            after in "|@h|@h:6379/0|@"
        ) {
            let store = format!("{scheme}{before}{secret}{after}");
            // Without a sign that anything is secret it is the name of a host or of a file.
            prop_assume!(!before.is_empty() && before != "," && before != "u" || !after.is_empty());
            let shown = redacted(&store);
            prop_assert!(!shown.contains(&secret), "{} becomes {}", store, shown);
        }
    }
}
