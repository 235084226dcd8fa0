//! Decides whether the command may run twice, from the words of HTTP clients in the command and in scripts among its
//! words. Knows only part of the clients' grammars, and errs towards "no".

use std::ffi::OsString;

use crate::config::presets::PresetName;
use crate::config::said::UsageError;
use crate::config::settings::Settings;

/// Returns the reason why the command must not run twice, or None if it may. The user's word overrides the look at the
/// command.
pub(super) fn why_not(
    settings: &Settings,
    presets: &[PresetName],
    command: &[OsString],
) -> Result<Option<String>, UsageError> {
    let is_judged = |client: &str| presets.iter().any(|preset| preset.is_for(client));
    let seen = |Sent { client, option, .. }| format!("{client} {option} without an Idempotency-Key header");
    Ok(
        match (
            settings.choice("idempotent", &[true, false])?,
            settings.said("idempotent"),
        ) {
            (true, Some(_)) => None,
            (false, Some(said)) => Some(said.to_string()),
            (_, None) => sent_by(command, is_judged).map(seen),
        },
    )
}

/// Returns the presets whose refusal rows prove that the request had no effect. Excludes presets of other programs, and
/// all if the command makes several requests, as an earlier one may have taken effect.
pub(super) fn trusted(presets: &[PresetName], program: &[&str]) -> Vec<PresetName> {
    let Some((name, arguments)) = program.split_first() else {
        return Vec::new();
    };
    let mut trusted = presets.to_vec();
    trusted.retain(|preset| preset.is_for(name) && !makes_several(name, arguments));
    trusted
}

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// Long options with a value in the next word. After any other option, the next word may be a URL.
#[rustfmt::skip]
const WITH_VALUE: [&str; 18] = [
    "cacert", "cert", "connect-timeout", "data", "data-binary", "data-raw", "data-urlencode", "dump-header", "form",
    "header", "json", "key", "max-time", "output", "request", "user", "user-agent", "write-out",
];

const METHOD: [&str; 3] = ["X", "request", "method"];
const HEADER: [&str; 2] = ["H", "header"];
/// Uploads: PUT over HTTP; over other protocols they may append.
const UPLOAD: [&str; 2] = ["T", "upload-file"];

/// Options of a client: those that make its request a POST unless a method is given (`data`), and those that read
/// further options, commands or URLs from elsewhere (`hidden`).
struct Client {
    name: &'static str,
    /// Letters of options with a value, which may be in the same word.
    with_value: &'static str,
    data: &'static [&'static str],
    hidden: &'static [&'static str],
}

const CURL: Client = Client {
    name: "curl",
    with_value: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    data: &["d", "F", "T", "data", "form", "json", "upload-file"],
    hidden: &["K", "Q", ":", "config", "quote", "next"],
};

const WGET: Client = Client {
    name: "wget",
    with_value: "eoaiBtOTwQPUlARDIXn",
    data: &["post", "body"],
    hidden: &["e", "i", "execute", "input-file"],
};

/// An option that may send a request that must not be repeated.
pub(super) struct Sent {
    pub(super) client: &'static str,
    /// The option as typed, such as `-d`.
    pub(super) option: String,
    /// The option may also send nothing.
    pub(super) is_hidden: bool,
}

/// Returns the first non-idempotent option of a judged client in the command, or in a script among its words.
pub(super) fn sent_by(command: &[OsString], is_judged: impl Fn(&str) -> bool) -> Option<Sent> {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(|word| &**word).collect();
    let mut clients = [CURL, WGET].into_iter().filter(|client| is_judged(client.name));
    clients.find_map(|client| {
        (0..words.len()).find_map(|at| {
            client.calls(words[at]).find_map(|rest| match rest {
                "" => client.sent(&words[at + 1..]),
                script => {
                    let words = first_command(script);
                    client.sent(&words.iter().map(String::as_str).collect::<Vec<_>>())
                }
            })
        })
    })
}

/// Returns true if a program with these arguments may make several requests, so that a refusal of the last one proves
/// nothing about the earlier ones.
fn makes_several(program: &str, words: &[&str]) -> bool {
    match program {
        "curl" => {
            let options = CURL.options(words);
            let follows = ["L", "location", "follow", "retry"];
            let has = |names: &[&str]| options.iter().any(|(name, _)| is_any(name, names));
            let mut urls = options.iter().filter(|(name, _)| name.is_empty()).map(|(_, url)| url);
            let is_one = |url: &str| !url.starts_with('@') && !url.contains(['{', '[']);
            !urls.next().is_some_and(|url| is_one(url))
                || urls.next().is_some()
                || has(&follows)
                || has(&UPLOAD)
                || has(CURL.hidden)
        }
        // Without a command in its arguments, the client reads a list of commands.
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            let repeats = words.iter().any(|word| word.starts_with("-r"));
            words.is_empty() || repeats || words.iter().rev().take(2).any(|word| word.starts_with('-'))
        }
        _ => false,
    }
}

/// Returns true if curl's options suppress the HTTP status in its output.
pub(super) fn curl_hides_status(words: &[&str]) -> bool {
    let options = CURL.options(words);
    let has = |names: [&str; 2]| options.iter().any(|(name, _)| names.contains(name));
    has(["s", "silent"]) && !has(["S", "show-error"])
}

impl Client {
    /// Returns the text after each mention of the client's name in a word: nothing, or the rest of a script.
    fn calls<'w>(&self, word: &'w str) -> impl Iterator<Item = &'w str> {
        let lower = word.to_ascii_lowercase();
        let mentions: Vec<usize> = lower
            .match_indices(self.name)
            .map(|(at, name)| at + name.len())
            .collect();
        // `curl-8.5`, `"$BIN/curl"`, `${CURL}`
        let is_of_name = |c: char| c.is_ascii_digit() || "-.\"'}".contains(c);
        let rests = mentions
            .into_iter()
            .map(move |end| word[end..].trim_start_matches(is_of_name));
        // `curl>out`, or a continued line
        rests.filter(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || "<>\\".contains(c)))
    }

    /// Returns each option without dashes, with its potential value, and each operand with an empty name.
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
                let end = letters.find(|letter| self.with_value.contains(letter));
                is_value = end.is_some_and(|end| end + 1 == letters.len());
                for (at, letter) in letters
                    .char_indices()
                    .take_while(|(at, _)| end.is_none_or(|end| *at <= end))
                {
                    let (name, rest) = letters[at..].split_at(letter.len_utf8());
                    options.push((name, if rest.is_empty() { next } else { rest }));
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
        let has = |names: &[&str]| options.iter().any(|(name, _)| names.contains(name));
        let urls = || words.iter().filter(|word| word.contains("://"));
        let is_http = urls().next().is_some() && urls().all(|url| url.starts_with("http"));
        let is_put = |name: &str| is_http && is_any(name, &UPLOAD);
        let is_get = has(&["G", "get"]) && !has(&["no-get"]) || all(&METHOD).next().is_some();
        let method = all(&METHOD).find(|(_, method)| !IDEMPOTENT.contains(method));
        let data = all(self.data).find(|(name, _)| !is_get && !is_put(name));
        let hidden = all(self.hidden).next();
        // A shell expands these to its arguments or a list.
        let lists = ["$@", "$*", "[@]}", "[*]}"];
        let has_list = words.iter().any(|word| lists.iter().any(|list| word.contains(list)));
        let option = match (method, data.or(hidden)) {
            (Some((name, method)), _) => format!("{} {method}", dashed(name)),
            (None, Some((name, _))) => dashed(name),
            (None, None) if has_list => "\"$@\"".to_owned(),
            (None, None) => return None,
        };
        // Options after --next have their own headers.
        let is_kept = !has(&[":", "next"]) && has_key(all(&HEADER).map(|(_, header)| *header));
        (!is_kept).then_some(Sent {
            client: self.name,
            option,
            is_hidden: method.or(data).is_none(),
        })
    }
}

/// Returns true if a header is an Idempotency-Key with the same value in each attempt.
fn has_key<'w>(mut headers: impl Iterator<Item = &'w str> + Clone) -> bool {
    let is_key = |header: &str| {
        let (name, value) = header.split_once(':').unwrap_or_default();
        let differs = ["$(", "`", "$RANDOM", "$$"].iter().any(|part| value.contains(part));
        name.eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty() && !differs
    };
    // An empty header of wget removes the earlier ones.
    headers.clone().all(|header| !header.trim().is_empty()) && headers.any(is_key)
}

/// Returns true if an option may be one of `names`. A long option may be abbreviated or extended, in any case.
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

/// Returns the words of a script's first command, without quotes, up to `|`, `;`, `&&`, `)` or the end of the line.
/// Ignores operators after a substitution or in an unterminated quotation.
fn first_command(script: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut chars = script.char_indices();
    while let Some((at, c)) = chars.next() {
        let mut push = |c| words.last_mut().map(|word| word.push(c));
        let substitutes = || script[..at].contains('`') || script[..at].contains("$(");
        match (quote, c) {
            (Some('"') | None, '\\') => match chars.next() {
                Some((_, '\n')) | None => {}
                Some((_, c)) => drop(push(c)),
            },
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | ';' | ')' | '\n') if !substitutes() => return words,
            (None, '&') if script[at..].starts_with("&&") && !substitutes() => return words,
            (None, c) if c.is_whitespace() => words.push(String::new()),
            _ => drop(push(c)),
        }
    }
    match quote {
        Some(_) => script.split_whitespace().map(str::to_owned).collect(),
        None => words,
    }
}
