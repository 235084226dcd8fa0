//! What the arguments of a client tell of its request: whether it is idempotent, and whether it is the only one.

/// The methods of which the registry of RFC 9110, 16.1.1, says that they are not idempotent.
const NOT_IDEMPOTENT: [&str; 4] = ["CONNECT", "LOCK", "PATCH", "POST"];

/// What one run of the client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Why it is not idempotent; None where it is.
    pub(super) not_idempotent: Option<String>,
    /// No other request goes before it or follows it in the same run. Otherwise a refusal at the end tells nothing of what
    /// went before.
    pub(super) is_alone: bool,
}

/// An option, by its letter or its long name, and its value, which is empty where it takes none. An operand has no name.
type Word<'a> = (&'a str, &'a str);

/// Which options take a value.
struct Syntax {
    letters: &'static str,
    long: &'static [&'static str],
    /// Those without one that count here, or that begin as one above.
    flags: &'static [&'static str],
    names: Names,
}

/// How long names are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    AsTheyAre,
    /// As by getopt_long(3): `--name=value`, and a beginning will do.
    Getopt,
    /// A beginning will do, in any case.
    AnyCase,
}

/// curl(1), of 7.88 to 8.17.
#[rustfmt::skip]
const CURL: Syntax = Syntax {
    letters: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    long: &[
        "abstract-unix-socket", "alt-svc", "aws-sigv4", "cacert", "capath", "cert", "cert-type", "ciphers", "config",
        "connect-timeout", "connect-to", "continue-at", "cookie", "cookie-jar", "create-file-mode", "crlfile", "curves",
        "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "delegation", "dns-interface", "dns-ipv4-addr",
        "dns-ipv6-addr", "dns-servers", "doh-url", "dump-header", "ech", "egd-file", "engine", "etag-compare",
        "etag-save", "expect100-timeout", "form", "form-string", "ftp-account", "ftp-alternative-to-user", "ftp-method",
        "ftp-port", "ftp-ssl-ccc-mode", "happy-eyeballs-timeout-ms", "haproxy-clientip", "header", "help", "hostpubmd5",
        "hostpubsha256", "hsts", "interface", "ip-tos", "ipfs-gateway", "json", "keepalive-cnt", "keepalive-time", "key",
        "key-type", "knownhosts", "krb", "libcurl", "limit-rate", "local-port", "login-options", "mail-auth", "mail-from",
        "mail-rcpt", "max-filesize", "max-redirs", "max-time", "netrc-file", "noproxy", "oauth2-bearer", "output",
        "output-dir", "parallel-max", "parallel-max-host", "pass", "pinnedpubkey", "preproxy", "proto", "proto-default",
        "proto-redir", "proxy", "proxy-cacert", "proxy-capath", "proxy-cert", "proxy-cert-type", "proxy-ciphers",
        "proxy-crlfile", "proxy-header", "proxy-key", "proxy-key-type", "proxy-pass", "proxy-pinnedpubkey",
        "proxy-service-name", "proxy-tls13-ciphers", "proxy-tlsauthtype", "proxy-tlspassword", "proxy-tlsuser",
        "proxy-user", "proxy1.0", "pubkey", "quote", "random-file", "range", "rate", "referer", "request",
        "request-target", "resolve", "retry", "retry-delay", "retry-max-time", "sasl-authzid", "service-name",
        "sigalgs", "signature-algorithms", "socks4", "socks4a", "socks5", "socks5-gssapi-service", "socks5-hostname",
        "speed-limit", "speed-time", "ssl-sessions", "stderr", "telnet-option", "tftp-blksize", "time-cond", "tls-max", "tls13-ciphers",
        "tlsauthtype", "tlspassword", "tlsuser", "trace", "trace-ascii", "trace-config", "unix-socket", "upload-file",
        "upload-flags", "url", "url-query", "user", "user-agent", "variable", "vlan-priority", "write-out",
    ],
    flags: &[
        "append", "crlf", "follow", "ftp-ssl-ccc", "get", "globoff", "head", "keepalive", "location", "location-trusted",
        "netrc", "next", "parallel",
        "show-error", "silent", "socks5-gssapi", "ssl",
    ],
    names: Names::AnyCase,
};

/// wget(1) of 1.21; `-n` starts `-nv` and its like.
#[rustfmt::skip]
const WGET: Syntax = Syntax {
    letters: "eoaiBtOTwQPUlARDIXn",
    long: &[
        "accept", "accept-regex", "append-output", "backups", "base", "bind-address", "bind-dns-address", "body-data",
        "body-file", "ca-certificate", "ca-directory", "certificate", "certificate-type", "ciphers", "compression",
        "config", "connect-timeout", "crl-file", "cut-dirs", "default-page", "directory-prefix", "dns-servers",
        "dns-timeout", "domains", "egd-file", "exclude-directories", "exclude-domains", "execute", "follow-tags", "ftp-password",
        "ftp-user", "header", "hsts-file", "http-passwd", "http-password", "http-user", "ignore-tags",
        "include-directories", "input-file", "level", "limit-rate", "load-cookies", "local-encoding", "max-redirect",
        "method", "output-document", "output-file", "password", "pinnedpubkey", "post-data", "post-file",
        "prefer-family", "preferred-location", "private-key", "private-key-type", "progress", "proxy-password",
        "proxy-user", "quota", "random-file", "read-timeout", "referer", "regex-type", "reject", "reject-regex", "rejected-log",
        "remote-encoding", "report-speed", "restrict-file-names", "retry-on-http-error", "save-cookies",
        "secure-protocol", "start-pos", "timeout", "tries", "use-askpass", "user", "user-agent", "wait", "waitretry",
        "warc-dedup", "warc-file", "warc-header", "warc-max-size", "warc-tempdir",
    ],
    flags: &["mirror", "page-requisites", "proxy", "recursive", "warc-cdx"],
    names: Names::Getopt,
};

/// redis-cli(1) of 7.0. Its first operand begins a command, whose words may look like options.
#[rustfmt::skip]
const REDIS_CLI: Syntax = Syntax {
    letters: "hpsatuirndDX",
    long: &[
        "cacert", "cacertdir", "cert", "cluster", "eval", "functions-rdb", "intrinsic-latency", "key", "lru-test",
        "memkeys-samples", "pass", "pattern", "pipe-timeout", "quoted-pattern", "rdb", "show-pushes", "sni",
        "tls-ciphers", "tls-ciphersuites", "user",
    ],
    flags: &[],
    names: Names::AsTheyAre,
};

/// What a program of this name asks for; None where nothing is known of its arguments.
pub(super) fn of(program: &str, arguments: &[&str]) -> Option<Request> {
    match program {
        "curl" => Some(of_curl(&CURL.read(arguments))),
        "wget" | "wget2" => Some(of_wget(&WGET.read(arguments))),
        "redis-cli" | "valkey-cli" | "keydb-cli" => Some(of_redis_cli(&REDIS_CLI.read(arguments))),
        _ => None,
    }
}

/// `curl -s` without `-S`, which does not say what a server has answered.
pub(super) fn curl_hides_status(arguments: &[&str]) -> bool {
    let words = CURL.read(arguments);
    has(&words, &["s", "silent"]) && !has(&words, &["S", "show-error"])
}

impl Syntax {
    /// Options and operands in any order, as both clients take them.
    fn read<'a>(&self, arguments: &[&'a str]) -> Vec<Word<'a>> {
        let mut words = Vec::new();
        let mut rest = arguments.iter().copied();
        while let Some(word) = rest.next() {
            match word.strip_prefix('-') {
                None | Some("") => words.push(("", word)),
                Some("-") => {
                    words.extend(rest.map(|operand| ("", operand)));
                    break;
                }
                Some(name) => match name.strip_prefix('-') {
                    Some(long) => words.push(self.long(long, &mut rest)),
                    None => self.add_letters(name, &mut rest, &mut words),
                },
            }
        }
        words
    }

    fn long<'a>(&self, word: &'a str, rest: &mut impl Iterator<Item = &'a str>) -> Word<'a> {
        if let Some((name, value)) = word.split_once('=').filter(|_| self.names == Names::Getopt) {
            return (self.full(self.long, name).unwrap_or(name), value);
        }
        // `--expand-data` of curl is `--data`.
        let name = word.strip_prefix("expand-").unwrap_or(word);
        let is_flag = self.flags.iter().any(|flag| self.is(flag, name));
        match self.full(self.long, name).filter(|_| !is_flag) {
            Some(name) => (name, rest.next().unwrap_or_default()),
            None => (self.full(self.flags, name).unwrap_or(word), ""),
        }
    }

    fn full(&self, names: &[&'static str], word: &str) -> Option<&'static str> {
        let exact = names.iter().find(|name| self.is(name, word));
        let begun = || {
            let begins = |name: &&&str| name.get(..word.len()).is_some_and(|begin| self.is(begin, word));
            names.iter().find(|name| self.names != Names::AsTheyAre && begins(name))
        };
        exact.or_else(begun).copied()
    }

    fn is(&self, name: &str, word: &str) -> bool {
        match self.names {
            Names::AnyCase => name.eq_ignore_ascii_case(word),
            Names::AsTheyAre | Names::Getopt => name == word,
        }
    }

    /// `-sXPOST`, `-sX POST`
    fn add_letters<'a>(&self, letters: &'a str, rest: &mut impl Iterator<Item = &'a str>, words: &mut Vec<Word<'a>>) {
        for (at, letter) in letters.char_indices() {
            let (name, value) = letters[at..].split_at(letter.len_utf8());
            if !self.letters.contains(letter) {
                words.push((name, ""));
                continue;
            }
            let value = if value.is_empty() {
                rest.next().unwrap_or_default()
            } else {
                value
            };
            words.push((name, value));
            return;
        }
    }
}

fn values<'w, 'a>(words: &'w [Word<'a>], names: &'w [&str]) -> impl Iterator<Item = &'a str> + 'w {
    words
        .iter()
        .filter(|(name, _)| names.contains(name))
        .map(|(_, value)| *value)
}

fn has(words: &[Word<'_>], names: &[&str]) -> bool {
    values(words, names).next().is_some()
}

fn of_curl(words: &[Word<'_>]) -> Request {
    // Each part has options of its own.
    let parts = words.split(|(name, _)| [":", "next"].contains(name));
    let goes_on = [
        ":",
        "next",
        "L",
        "location",
        "location-trusted",
        "follow",
        "K",
        "config",
    ];
    let tries_again = values(words, &["retry"]).any(|times| times != "0");
    let urls: Vec<&str> = values(words, &["", "url"]).collect();
    let files: Vec<&str> = values(words, &["T", "upload-file"]).collect();
    let is_literal = has(words, &["g", "globoff"]);
    let is_one = |url: &&str| !url.starts_with('@') && (is_literal || !url.contains(['{', '[']));
    Request {
        not_idempotent: parts.into_iter().find_map(part_of_curl),
        is_alone: !has(words, &goes_on) && !tries_again && urls.len() == 1 && urls.iter().chain(&files).all(is_one),
    }
}

fn part_of_curl(words: &[Word<'_>]) -> Option<String> {
    let has = |names: &[&str]| has(words, names);
    if has(&["mail-from", "mail-rcpt"]) {
        return Some("mail".to_owned());
    }
    if has(&["a", "append"]) {
        return Some("--append".to_owned());
    }
    let sends_data = [
        "d",
        "data",
        "data-ascii",
        "data-binary",
        "data-raw",
        "data-urlencode",
        "json",
        "F",
        "form",
        "form-string",
    ];
    let method = match values(words, &["X", "request"]).last() {
        Some(method) => method,
        None if has(&["T", "upload-file"]) => "PUT",
        None if has(&["I", "head"]) => "HEAD",
        None if has(&["G", "get"]) => "GET",
        None if has(&sends_data) => "POST",
        None => "GET",
    };
    why_not(method, values(words, &["H", "header"]))
}

fn of_wget(words: &[Word<'_>]) -> Request {
    let has = |names: &[&str]| has(words, names);
    let method = match values(words, &["method"]).last() {
        Some(method) => method,
        None if has(&["post-data", "post-file"]) => "POST",
        None => "GET",
    };
    // A line as in its configuration file: `post_data = a=b`.
    let is_of_a_request = |line: &&str| ["post", "method", "body"].iter().any(|part| line.contains(part));
    let by_line = values(words, &["e", "execute"]).find(is_of_a_request);
    let goes_on = [
        "i",
        "input-file",
        "r",
        "recursive",
        "m",
        "mirror",
        "p",
        "page-requisites",
    ];
    // By itself it tries twenty times and follows twenty redirects.
    let is = |names: &[&str], number: &str| values(words, names).last() == Some(number);
    let tries_once = is(&["t", "tries"], "1") && is(&["max-redirect"], "0");
    Request {
        not_idempotent: by_line
            .map(|line| format!("-e {line}"))
            .or_else(|| why_not(method, values(words, &["header"]))),
        is_alone: tries_once && !has(&goes_on) && values(words, &[""]).count() == 1,
    }
}

/// Without a command in its arguments it reads a list of them.
fn of_redis_cli(words: &[Word<'_>]) -> Request {
    Request {
        not_idempotent: None,
        is_alone: has(words, &[""]) && !has(words, &["r"]),
    }
}

fn why_not<'a>(method: &str, mut headers: impl Iterator<Item = &'a str>) -> Option<String> {
    let method = method.to_ascii_uppercase();
    // A header without a value is not sent (`name:`), or sent empty (`name;`).
    let is_key = |header: &str| {
        let (name, value) = header.split_once(':').unwrap_or_default();
        name.trim().eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty()
    };
    let is_not = NOT_IDEMPOTENT.contains(&&*method) && !headers.any(is_key);
    is_not.then(|| format!("{method} without an Idempotency-Key header"))
}

#[cfg(test)]
mod tests;
