//! Decides whether the command may run twice, from the words of HTTP clients in the command and in scripts among its
//! words. Knows only part of the clients' grammars, and errs towards "no".

use super::program::Command;
use crate::config::said::UsageError;
use crate::config::settings::Settings;

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

// Long options by their beginning. Without a method, data makes a request a POST. A hidden part comes from elsewhere:
// options, commands, URLs.
const METHOD: [&str; 2] = ["request", "method"];
const DATA: [&str; 6] = ["data", "form", "json", "upload-file", "post", "body"];
const HIDDEN: [&str; 5] = ["config", "quote", "next", "execute", "input-file"];
/// Options with a value in the next word. After any other option, the next word may be a URL.
#[rustfmt::skip]
const WITH_VALUE: [&str; 14] = [
    "ca", "cert", "connect-timeout", "data", "dump-header", "form", "header", "json", "key", "max-time", "output",
    "request", "user", "write-out",
];

/// A client with its letters.
struct Client {
    name: &'static str,
    /// Options with a value, which may be in the same word.
    with_value: &'static str,
    data: &'static str,
    hidden: &'static str,
}

const CURL: Client = Client {
    name: "curl",
    with_value: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    data: "dFT",
    hidden: "KQ:",
};

const WGET: Client = Client {
    name: "wget",
    with_value: "eoaiBtOTwQPUlARDIXn",
    data: "",
    hidden: "ei",
};

/// Returns the reason why the command must not run twice, or None if it may. The user's word overrides the look at the
/// command.
pub(super) fn why_not(settings: &Settings, command: &Command<'_>) -> Result<Option<String>, UsageError> {
    let is_idempotent = settings.choice("idempotent", &[true, false])?;
    Ok(match settings.said("idempotent") {
        Some(said) => (!is_idempotent).then(|| said.to_string()),
        None => sent_by(command.words, |client| command.is_judged(client))
            .map(|Sent { client, option, .. }| format!("{client} {option} without an Idempotency-Key header")),
    })
}

/// An option that may send a request that must not be repeated.
pub(super) struct Sent {
    pub(super) client: &'static str,
    /// The option, such as `-d`.
    pub(super) option: String,
    /// The option may also send nothing.
    pub(super) is_hidden: bool,
}

/// Returns the first non-idempotent option of a client in the command, or in a script among its words.
pub(super) fn sent_by(words: &[&str], is_asked: impl Fn(&str) -> bool) -> Option<Sent> {
    let mut clients = [CURL, WGET].into_iter().filter(|client| is_asked(client.name));
    clients.find_map(|client| {
        let calls = words.iter().enumerate().flat_map(|(at, word)| {
            client.calls(word).into_iter().map(move |script| match script {
                "" => words[at + 1..].iter().map(ToString::to_string).collect(),
                script => first_command(script),
            })
        });
        calls.into_iter().find_map(|words: Vec<String>| client.sent(&words))
    })
}

/// Returns true if a program certainly makes one request, so that its refusal proves that nothing was done.
pub(super) fn is_single_request(command: &[&str]) -> bool {
    match command {
        ["curl", words @ ..] => {
            let options = CURL.options(words);
            let repeats =
                |(name, _): &(String, &str)| is_any(name, "LT", &["location", "follow", "retry", "upload-file"]);
            let urls: Vec<_> = options
                .iter()
                .filter(|(name, _)| name.is_empty())
                .map(|(_, url)| url)
                .collect();
            let is_one = urls.len() == 1 && !urls[0].contains(['{', '[', '@']);
            is_one
                && !options
                    .iter()
                    .any(|option| repeats(option) || is_any(&option.0, CURL.hidden, &HIDDEN))
        }
        // Without a command in its arguments, the client reads a list of commands.
        ["redis-cli" | "valkey-cli" | "keydb-cli", words @ ..] => {
            let repeats = words.iter().any(|word| word.starts_with("-r"));
            !words.is_empty() && !repeats && !words.iter().rev().take(2).any(|word| word.starts_with('-'))
        }
        _ => true,
    }
}

/// Returns true if curl's options suppress the HTTP status in its output.
pub(super) fn curl_hides_status(words: &[&str]) -> bool {
    let options = CURL.options(words);
    let has = |letter, long| options.iter().any(|(name, _)| name == letter || name == long);
    has("-s", "--silent") && !has("-S", "--show-error")
}

impl Client {
    /// Returns the text after each mention of the client's name in a word: nothing, or the rest of a script.
    fn calls<'w>(&self, word: &'w str) -> Vec<&'w str> {
        let lower = word.to_ascii_lowercase();
        let ends = lower.match_indices(self.name).map(|(at, name)| at + name.len());
        // `curl-8.5`, `"$BIN/curl"`, `${CURL}`
        let is_of_name = |c: char| c.is_ascii_digit() || "-.\"'}".contains(c);
        let rests = ends.map(|end| word[end..].trim_start_matches(is_of_name));
        // `curl>out`, or a continued line
        let is_call = |rest: &&str| {
            rest.chars()
                .next()
                .is_none_or(|c| c.is_whitespace() || "<>\\".contains(c))
        };
        rests.filter(is_call).collect()
    }

    /// Returns each option with its potential value, and each operand with an empty name.
    fn options<'w, W: AsRef<str>>(&self, words: &'w [W]) -> Vec<(String, &'w str)> {
        let mut options = Vec::new();
        let mut is_value = false;
        for (at, word) in words.iter().map(AsRef::as_ref).enumerate() {
            let was_value = std::mem::take(&mut is_value);
            let next = words.get(at + 1).map_or("", AsRef::as_ref);
            if let Some(long) = word.strip_prefix("--") {
                is_value = !word.contains('=') && WITH_VALUE.iter().any(|known| long.starts_with(known));
                let (name, value) = word.split_once('=').unwrap_or((word, next));
                options.push((name.to_owned(), value));
            } else if let Some(letters) = word.strip_prefix('-') {
                let end = letters.find(|letter| self.with_value.contains(letter));
                is_value = end.is_some_and(|end| end + 1 == letters.len());
                for (at, letter) in letters.char_indices() {
                    let rest = &letters[at + letter.len_utf8()..];
                    options.push((format!("-{letter}"), if rest.is_empty() { next } else { rest }));
                    if Some(at) == end {
                        break;
                    }
                }
            } else if !was_value {
                options.push((String::new(), word));
            }
        }
        options
    }

    fn sent(&self, words: &[String]) -> Option<Sent> {
        let options = self.options(words);
        let all = |letters, long| options.iter().filter(move |(name, _)| is_any(name, letters, long));
        let has = |option: &str| options.iter().any(|(name, _)| name == option);
        let mut methods = all("X", &METHOD).map(|(name, method)| (name, *method));
        let is_given = methods.clone().next().is_some() || (has("-G") || has("--get")) && !has("--no-get");
        // An upload is a PUT over HTTP; over other protocols it may append.
        let mut urls = words.iter().filter(|word| word.contains("://")).peekable();
        let is_put = urls.peek().is_some() && urls.all(|url| url.starts_with("http"));
        let is_safe = |name: &str| is_given || is_put && is_any(name, "T", &["upload-file"]);
        let method = methods.find(|(_, method)| !IDEMPOTENT.contains(method));
        let data = all(self.data, &DATA).find(|(name, _)| !is_safe(name));
        let hidden = all(self.hidden, &HIDDEN).next();
        // A shell expands these to its arguments or a list.
        let is_list = |word: &String| ["$@", "$*", "[@]}", "[*]}"].iter().any(|list| word.contains(list));
        let option = match (method, data.or(hidden)) {
            (Some((name, method)), _) => format!("{name} {method}"),
            (None, Some((name, _))) => name.clone(),
            (None, None) if words.iter().any(is_list) => "\"$@\"".to_owned(),
            (None, None) => return None,
        };
        let mut headers = all("H", &["header"]).map(|(_, header)| *header);
        // An empty header of wget removes the earlier ones.
        let is_kept = !headers.clone().any(|header| header.trim().is_empty()) && headers.any(is_key);
        (hidden.is_some() || !is_kept).then_some(Sent {
            client: self.name,
            option,
            is_hidden: method.is_none() && data.is_none(),
        })
    }
}

/// Returns true if a header is an Idempotency-Key with the same value in each attempt.
fn is_key(header: &str) -> bool {
    let (name, value) = header.split_once(':').unwrap_or_default();
    let differs = ["$(", "`", "$RANDOM", "$$"].iter().any(|part| value.contains(part));
    name.eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty() && !differs
}

/// Returns true if an option may be one of these. A long option may be abbreviated or extended, in any case.
fn is_any(option: &str, letters: &str, long: &[&str]) -> bool {
    let Some(name) = option.strip_prefix("--").filter(|name| !name.is_empty()) else {
        return option.strip_prefix('-').is_some_and(|letter| letters.contains(letter));
    };
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix("expand-").unwrap_or(&name);
    long.iter()
        .any(|known| known.starts_with(name) || name.starts_with(known))
}

/// Returns the words of a script's first command, without quotes, up to `|`, `;`, `&&`, `)` or the end of the line.
/// Ignores operators after a substitution or in an unterminated quotation.
fn first_command(script: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut substitutes) = (Vec::new(), String::new(), None, false);
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        substitutes |= c == '`' || (c, next) == ('$', Some('('));
        match (quote, c) {
            (Some('"') | None, '\\') => word.extend(chars.next().filter(|c| *c != '\n')),
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | ';' | ')' | '\n') if !substitutes => break,
            (None, '&') if next == Some('&') && !substitutes => break,
            (None, c) if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    match quote {
        Some(_) => script.split_whitespace().map(str::to_owned).collect(),
        None => words,
    }
}
