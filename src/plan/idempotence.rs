//! Decides whether the command may run twice, from the words of HTTP clients in the command and in scripts among its
//! words. Knows only part of the clients' grammars, and errs towards "no".

use super::program::Command;
use crate::config::settings::Settings;
use crate::config::values::Parsed;

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// A client, and its options that may send something that must not be repeated.
struct Client {
    name: &'static str,
    /// Letters of options with a value, which may be in the same word.
    with_value: &'static str,
    /// Options that make the request a POST unless a method is given.
    data: &'static str,
    /// Options that read further options, commands or URLs from elsewhere.
    hidden: &'static str,
}

const CURL: Client = Client {
    name: "curl",
    with_value: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    data: "-d -F -T --data --form --json --upload-file",
    hidden: "-K -Q -: --config --quote --next",
};

const WGET: Client = Client {
    name: "wget",
    with_value: "eoaiBtOTwQPUlARDIXn",
    data: "--post --body",
    hidden: "-e -i --execute --input-file",
};

/// Long options with a value in the next word. After any other option, the next word may be a URL.
const WITH_VALUE: &str = "--cacert --cert --connect-timeout --data --form --header --json --key --max-time --output \
                          --request --user --write-out";

/// Returns the reason why the command must not run twice, and a remark for its first retry. The user's word overrides
/// the look at the words.
pub(super) fn why_not(settings: &Settings, words: &[&str], command: &Command<'_>) -> Parsed<[Option<String>; 2]> {
    let is_idempotent = settings.choice("idempotent", &[true, false])?;
    if let Some(said) = settings.said("idempotent") {
        return Ok([(!is_idempotent).then(|| said.to_string()), None]);
    }
    let (mut why_not, mut remark) = (None, None);
    for client in [CURL, WGET] {
        let name = client.name;
        match client.calls(words).iter().find_map(|words| client.sent(words)) {
            Some((option, _)) if command.is_judged(name) => {
                why_not.get_or_insert(format!("{name} {option} without an Idempotency-Key header"));
            }
            Some((option, false)) => {
                remark.get_or_insert(format!(
                    "{name} {option}: a retry sends the request again, even if it took effect; --for {name} or \
                     --idempotent no prevents that, --idempotent yes hides this remark"
                ));
            }
            _ => {}
        }
    }
    Ok([why_not, remark])
}

/// Returns true unless the command is a call of curl that may make several requests: the refusal of the last one proves
/// nothing about the others.
pub(super) fn is_single_request(command: &[&str]) -> bool {
    let ["curl", words @ ..] = command else {
        return true;
    };
    let options = CURL.options(words);
    let follows = "-L -T --location --follow --retry --upload-file";
    let repeats = |name: &str| is_any(name, follows) || is_any(name, CURL.hidden);
    let mut urls = options.iter().filter(|(name, _)| name.is_empty());
    let is_one = urls.next().is_some_and(|(_, url)| !url.contains(['{', '[', '@']));
    is_one && urls.next().is_none() && !options.iter().any(|(name, _)| repeats(name))
}

/// Returns true if the command is curl with options that suppress the HTTP status in its output.
pub(super) fn curl_hides_status(command: &[&str]) -> bool {
    let ["curl", words @ ..] = command else { return false };
    let options = CURL.options(words);
    let has = |names: [&str; 2]| options.iter().any(|(name, _)| names.contains(&&**name));
    has(["-s", "--silent"]) && !has(["-S", "--show-error"])
}

impl Client {
    /// Returns the words after each mention of the client: the rest of the command, or of a command in a script.
    fn calls(&self, command: &[&str]) -> Vec<Vec<String>> {
        let mut calls = Vec::new();
        for (at, word) in command.iter().enumerate() {
            for (start, name) in word.to_ascii_lowercase().match_indices(self.name) {
                // `curl-8.5`, `"$BIN/curl"`, `${CURL}`, `$(which curl)`
                let is_of_name = |c: char| c.is_ascii_digit() || "-.\"'})".contains(c);
                let rest = word[start + name.len()..].trim_start_matches(is_of_name);
                if rest.is_empty() {
                    calls.push(command[at + 1..].iter().map(ToString::to_string).collect());
                } else if rest.starts_with(|c: char| c.is_whitespace() || "<>\\".contains(c)) {
                    // `curl URL`, `curl>out`, or a continued line
                    calls.push(first_command(rest));
                }
            }
        }
        calls
    }

    /// Returns each option with its potential value, and each operand with an empty name.
    fn options<'w, W: AsRef<str>>(&self, words: &'w [W]) -> Vec<(String, &'w str)> {
        let mut options = Vec::new();
        let mut is_value = false;
        for (at, word) in words.iter().map(AsRef::as_ref).enumerate() {
            let was_value = std::mem::take(&mut is_value);
            let next = words.get(at + 1).map_or("", AsRef::as_ref);
            if word.starts_with("--") {
                let (name, value) = word.split_once('=').unwrap_or((word, next));
                let takes_value = name.starts_with("--data-") || WITH_VALUE.split(' ').any(|known| name == known);
                is_value = name == word && takes_value;
                options.push((name.to_owned(), value));
            } else if let Some(letters) = word.strip_prefix('-') {
                for (at, letter) in letters.char_indices() {
                    let rest = &letters[at + letter.len_utf8()..];
                    options.push((format!("-{letter}"), if rest.is_empty() { next } else { rest }));
                    if self.with_value.contains(letter) {
                        is_value = rest.is_empty();
                        break;
                    }
                }
            } else if !was_value {
                options.push((String::new(), word));
            }
        }
        options
    }

    /// Returns the first option of a call that is not idempotent, if no header marks the request as safe to repeat, and
    /// whether the call may also send nothing.
    fn sent(&self, words: &[String]) -> Option<(String, bool)> {
        let options = self.options(words);
        let all = |names| options.iter().filter(move |(name, _)| is_any(name, names));
        let methods = || all("-X --request --method");
        let has = |option: &str| options.iter().any(|(name, _)| name == option);
        let is_get = (has("-G") || has("--get")) && !has("--no-get") || methods().next().is_some();
        // An upload is a PUT over HTTP; over other protocols it may append.
        let mut urls = words.iter().filter(|word| word.contains("://")).peekable();
        let is_http = urls.peek().is_some() && urls.all(|url| url.starts_with("http"));
        let method = methods().find(|(_, method)| !IDEMPOTENT.contains(method));
        let data = all(self.data).find(|(name, _)| !(is_get || is_http && is_any(name, "-T --upload-file")));
        let hidden = all(self.hidden).next();
        // A shell expands these to its arguments or a list.
        let is_list = |word: &String| ["$@", "$*", "[@]}", "[*]}"].iter().any(|list| word.contains(list));
        let option = match (method, data.or(hidden)) {
            (Some((name, method)), _) => format!("{name} {method}"),
            (None, Some((name, _))) => name.clone(),
            (None, None) if words.iter().any(is_list) => "\"$@\"".to_owned(),
            (None, None) => return None,
        };
        let mut headers = all("-H --header").map(|(_, header)| *header);
        // An empty header of wget removes the earlier ones.
        let is_kept = headers.clone().all(|header| !header.trim().is_empty()) && headers.any(is_key);
        (hidden.is_some() || !is_kept).then(|| (option, method.or(data).is_none()))
    }
}

/// Returns true if a header is an Idempotency-Key with the same value in each attempt.
fn is_key(header: &str) -> bool {
    let (name, value) = header.split_once(':').unwrap_or_default();
    // Another variable may change with each attempt.
    let is_id = |part: &str| part.starts_with("BACKOFF_ROOT_ID") || part.starts_with("BACKOFF_RUN_ID");
    let is_fixed = !value.contains('`') && value.replace("${", "$").split('$').skip(1).all(is_id);
    name.eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty() && is_fixed
}

/// Returns true if an option may be one of `names`. A long option may be abbreviated or extended, in any case.
fn is_any(option: &str, names: &str) -> bool {
    let long = option.to_ascii_lowercase().replacen("--expand-", "--", 1);
    let is_like = |name: &str| name.len() > 2 && long.len() > 2 && (name.starts_with(&long) || long.starts_with(name));
    names.split(' ').any(|name| option == name || is_like(name))
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
            (None, '|' | ';' | ')' | '\n') | (None, '&') if !substitutes && (c != '&' || next == Some('&')) => break,
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
