//! A textual look at the words of HTTP clients: may they send what must not be sent twice, and may they make more than
//! one request? It knows little of their grammars, and errs towards yes.

use std::borrow::Cow;
use std::ffi::OsString;

/// Methods whose requests may be repeated (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// Long options with a value in the next word. After any other, the next word may be a URL.
#[rustfmt::skip]
const WITH_VALUE: [&str; 18] = [
    "cacert", "cert", "connect-timeout", "data", "data-binary", "data-raw", "data-urlencode", "dump-header", "form",
    "header", "json", "key", "max-time", "output", "request", "user", "user-agent", "write-out",
];

/// Options of a client, by letter or long name.
struct Client {
    name: &'static str,
    /// Letters of options with a value, which may stand in the same word.
    with_value: &'static str,
    header: &'static [&'static str],
    method: &'static [&'static str],
    /// Make the request a POST unless a method is given.
    data: &'static [&'static str],
    /// Makes it a PUT over HTTP, and may append over other protocols.
    upload: &'static [&'static str],
    /// Take further options, commands or URLs from elsewhere.
    hidden: &'static [&'static str],
}

const CURL: Client = Client {
    name: "curl",
    with_value: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    header: &["H", "header"],
    method: &["X", "request"],
    data: &["d", "F", "data", "form", "json"],
    upload: &["T", "upload-file"],
    hidden: &["K", "Q", ":", "config", "quote", "next"],
};

const WGET: Client = Client {
    name: "wget",
    with_value: "eoaiBtOTwQPUlARDIXn",
    header: &["header"],
    method: &["method"],
    data: &["post", "body"],
    upload: &[],
    hidden: &["e", "i", "execute", "input-file"],
};

/// An option by which a client may send what must not be sent twice.
pub(super) struct Sent {
    pub(super) client: &'static str,
    /// `-d`
    pub(super) option: String,
    /// The option may as well send nothing.
    pub(super) is_hidden: bool,
}

/// Returns the first such option of a judged client in the command, or in a script among its words.
pub(super) fn sent_by(command: &[OsString], is_judged: impl Fn(&str) -> bool) -> Option<Sent> {
    let text: Vec<Cow<'_, str>> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = text.iter().map(|word| &**word).collect();
    let in_word = |client: &Client, at: usize| {
        client.calls(words[at]).find_map(|rest| match rest {
            "" => client.sent(&words[at + 1..]),
            script => {
                let words = first_command(script);
                client.sent(&words.iter().map(String::as_str).collect::<Vec<_>>())
            }
        })
    };
    let mut clients = [CURL, WGET].into_iter().filter(|client| is_judged(client.name));
    clients.find_map(|client| (0..words.len()).find_map(|at| in_word(&client, at)))
}

/// Returns true if a program with these arguments may make more than one request, so that a refusal of the last one says
/// nothing of the others.
pub(super) fn makes_several(program: &str, words: &[&str]) -> bool {
    match program {
        "curl" => {
            let options = CURL.options(words);
            let names = ["L", "location", "follow", "retry"];
            let follows = |(name, _): &(&str, &str)| {
                [&names, CURL.upload, CURL.hidden]
                    .iter()
                    .any(|names| is_any(name, names))
            };
            let urls: Vec<&str> = options
                .iter()
                .filter(|(name, _)| name.is_empty())
                .map(|(_, url)| *url)
                .collect();
            urls.len() != 1 || urls[0].starts_with('@') || urls[0].contains(['{', '[']) || options.iter().any(follows)
        }
        // Without a command among its words it reads a list of them.
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            let repeats = words.iter().any(|word| word.starts_with("-r"));
            words.is_empty() || repeats || words.iter().rev().take(2).any(|word| word.starts_with('-'))
        }
        _ => false,
    }
}

/// Returns true if curl is not to print the status that a server has answered.
pub(super) fn curl_hides_status(words: &[&str]) -> bool {
    let options = CURL.options(words);
    let has = |names: [&str; 2]| options.iter().any(|(name, _)| names.contains(name));
    has(["s", "silent"]) && !has(["S", "show-error"])
}

impl Client {
    /// Returns what follows each mention of the client's name in a word: nothing, or the rest of a script.
    fn calls<'w>(&self, word: &'w str) -> impl Iterator<Item = &'w str> {
        let lower = word.to_ascii_lowercase();
        let mentions: Vec<usize> = lower.match_indices(self.name).map(|(at, _)| at).collect();
        let rests = mentions.into_iter().map(|at| &word[at + self.name.len()..]);
        // `curl-8.5`, `"$BIN/curl"`, `${CURL}`
        let rests = rests.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-.\"'}".contains(c)));
        // `curl>out`, or a line that goes on
        let is_name = |rest: &&str| {
            rest.chars()
                .next()
                .is_none_or(|c| c.is_whitespace() || "<>\\".contains(c))
        };
        rests.filter(is_name)
    }

    /// Returns each option without dashes, with the value that it would have, and each operand with an empty name.
    fn options<'w>(&self, words: &[&'w str]) -> Vec<(&'w str, &'w str)> {
        let mut options = Vec::new();
        let mut is_value = false;
        for (at, word) in words.iter().enumerate() {
            let was_value = std::mem::take(&mut is_value);
            let next = words.get(at + 1).copied().unwrap_or_default();
            if let Some(long) = word.strip_prefix("--") {
                is_value = WITH_VALUE.contains(&long);
                options.push(long.split_once('=').unwrap_or((long, next)));
            } else if let Some(letters) = word.strip_prefix('-') {
                for (at, letter) in letters.char_indices() {
                    let (name, rest) = letters[at..].split_at(letter.len_utf8());
                    options.push((name, if rest.is_empty() { next } else { rest }));
                    if self.with_value.contains(letter) {
                        is_value = rest.is_empty();
                        break;
                    }
                }
            } else if !was_value {
                options.push(("", word));
            }
        }
        options
    }

    fn sent(&self, words: &[&str]) -> Option<Sent> {
        let options = self.options(words);
        let all = |names| options.iter().filter(move |(name, _)| is_any(name, names));
        let has = |is: fn(&str) -> bool| options.iter().any(|(name, _)| is(name));
        let has_method = all(self.method).next().is_some();
        let is_get = has(|name| ["G", "get"].contains(&name)) && !has(|name| name.starts_with("no-g"));
        let is_http = |url: &&&str| url.starts_with("http://") || url.starts_with("https://");
        let urls = || words.iter().filter(|word| word.contains("://"));
        let is_put = urls().next().is_some() && urls().all(|url| is_http(&url));
        let method = all(self.method).find(|(_, method)| !IDEMPOTENT.contains(method));
        let data = all(self.data).find(|_| !has_method && !is_get);
        let upload = all(self.upload).find(|_| !has_method && !is_put);
        let hidden = all(self.hidden).next();
        // A shell puts its arguments, or a list, in the place of this.
        let lists = words
            .iter()
            .any(|word| ["$@", "$*", "[@]}", "[*]}"].iter().any(|list| word.contains(list)));
        let option = match (method, data.or(upload).or(hidden)) {
            (Some((name, method)), _) => format!("{} {method}", dashed(name)),
            (None, Some((name, _))) => dashed(name),
            (None, None) if lists => "\"$@\"".to_owned(),
            (None, None) => return None,
        };
        // What follows --next has headers of its own.
        let is_next = all(&[":", "next"]).next().is_some();
        let is_hidden = method.or(data).or(upload).is_none();
        (is_next || !self.has_key(&options)).then_some(Sent {
            client: self.name,
            option,
            is_hidden,
        })
    }

    /// Returns true if the request has an Idempotency-Key header, the same in each attempt.
    fn has_key(&self, options: &[(&str, &str)]) -> bool {
        let headers = || {
            options
                .iter()
                .filter(|(name, _)| self.header.contains(name))
                .map(|(_, header)| header)
        };
        let is_key = |header: &&str| {
            let (name, value) = header.split_once(':').unwrap_or_default();
            let differs = ["$(", "`", "$RANDOM", "$$"].iter().any(|part| value.contains(part));
            name.eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty() && !differs
        };
        // An empty header of wget removes those before it.
        headers().any(is_key) && headers().all(|header| !header.trim().is_empty())
    }
}

/// Returns true if an option may be one of these. A long one may be cut short or go on, in any case.
fn is_any(option: &str, names: &[&str]) -> bool {
    if option.chars().count() == 1 {
        return names.contains(&option);
    }
    let option = option.to_ascii_lowercase();
    let option = option.strip_prefix("expand-").unwrap_or(&option);
    let is = |name: &&str| name.len() > 1 && (name.starts_with(option) || option.starts_with(name));
    !option.is_empty() && names.iter().any(is)
}

fn dashed(name: &str) -> String {
    let dashes = if name.chars().count() == 1 { "-" } else { "--" };
    format!("{dashes}{name}")
}

/// Returns the words of a script, without quotes, up to the `|`, `;`, `&&`, `)` or end of a line that ends its first
/// command. If a quotation or bracket has no end, every space separates words.
fn first_command(script: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut depth = 0_usize;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        let is_open = quote.is_some() || depth > 0;
        let ends = "|;)\n".contains(c) || c == '&' && chars.peek() == Some(&'&');
        let opens = quote.is_none() || quote == Some('"') && word.as_ref().is_some_and(|word| word.ends_with('$'));
        match c {
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(c) => word.get_or_insert_default().push(c),
            },
            _ if quote == Some(c) => quote = None,
            '\'' | '"' | '`' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default().extend((c == '`').then_some(c));
            }
            _ if ends && !is_open => break,
            _ if c.is_whitespace() && !is_open => words.extend(word.take()),
            _ => {
                match c {
                    '(' if opens => depth += 1,
                    ')' if quote != Some('\'') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                word.get_or_insert_default().push(c);
            }
        }
    }
    if quote.is_some() || depth > 0 {
        return script.split_whitespace().map(str::to_owned).collect();
    }
    words.extend(word);
    words
}
