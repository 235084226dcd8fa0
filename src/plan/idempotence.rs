//! Decides whether the command may run twice, from the words of HTTP clients in the command and in scripts among its
//! words. Knows only part of the clients' grammars, and errs towards "no".

use super::program::Command;
use crate::config::settings::Settings;
use crate::config::values::Parsed;

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// Beginnings of options that name the method.
const METHOD: &str = "-X --req --meth";

/// A client, and its options.
struct Client {
    name: &'static str,
    /// Options with a value in the next word, besides `--data-...`. After any other option, the next word may be a URL.
    with_value: &'static str,
    /// Beginnings of options that make the request a POST unless a method is given.
    data: &'static str,
    /// Beginnings of options that read further options, commands or URLs from elsewhere.
    hidden: &'static str,
}

const CURL: Client = Client {
    name: "curl",
    with_value: "-A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --cacert --cert \
                 --connect-timeout --form --header --json --key --max-time --output --request --user --write-out",
    data: "-d -F -T --da --form --js --up",
    hidden: "-K -Q -: --conf --quo --next",
};

const WGET: Client = Client {
    name: "wget",
    with_value: "-a -A -B -D -e -i -I -l -n -o -O -P -Q -R -t -T -U -w -X",
    data: "--post --body",
    hidden: "-e -i --exe --inp",
};

/// Returns the reason why the command must not run twice, and a remark for its first retry. `--idempotent`
/// overrides what the words show.
pub(super) fn why_not(settings: &Settings, words: &[&str], command: &Command<'_>) -> Parsed<[Option<String>; 2]> {
    let is_idempotent = settings.choice("idempotent", &[true, false])?;
    if let Some(said) = settings.said("idempotent") {
        return Ok([(!is_idempotent).then(|| said.to_string()), None]);
    }
    let (mut why_not, mut remark) = (None, None);
    for client in [CURL, WGET] {
        let name = client.name;
        match client.calls(words).iter().find_map(|call| client.sent(call)) {
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
    let ["curl", words @ ..] = command else { return true };
    let call = CURL.call(words);
    let is_url = |pair: &&[String]| !pair[1].is_empty() && !pair[1].starts_with('-') && !CURL.takes_value(&pair[0]);
    let urls: Vec<_> = call.windows(2).filter(is_url).collect();
    let repeats = has(&call, CURL.hidden) || has(&call, "-L -T --location --follow --retry --up");
    !repeats && urls.len() == 1 && !urls[0][1].contains(['{', '[', '@'])
}

/// Returns a remark about `curl -s` without `-S`.
pub(super) fn hides_status(_: &Settings, command: &Command<'_>) -> Option<String> {
    let call = CURL.call(command.wrapped.strip_prefix(&["curl"])?);
    let hides = command.is_judged("curl") && has(&call, "-s --silent") && !has(&call, "-S --show-error");
    hides.then(|| "curl -s hides the HTTP status; use -sS so that 404 and similar are not retried".to_owned())
}

impl Client {
    /// Returns the calls of the client: each mention of its name, with the rest of the command or of a command in a
    /// script.
    fn calls(&self, command: &[&str]) -> Vec<Vec<String>> {
        let mut calls = Vec::new();
        for (at, word) in command.iter().enumerate() {
            for (start, name) in word.to_ascii_lowercase().match_indices(self.name) {
                // `curl-8.5`, `"$BIN/curl"`, `${CURL}`, `$(which curl)`
                let is_of_name = |c: char| c.is_ascii_digit() || "-.\"'})".contains(c);
                let rest = word[start + name.len()..].trim_start_matches(is_of_name);
                if rest.is_empty() {
                    calls.push(self.call(&command[at + 1..]));
                } else if rest.starts_with(|c: char| c.is_whitespace() || "<>\\".contains(c)) {
                    // `curl URL`, `curl>out`, or a continued line
                    calls.push(self.call(&first_command(rest)));
                }
            }
        }
        calls
    }

    fn takes_value(&self, option: &str) -> bool {
        self.with_value.split(' ').any(|known| known == option) || option.starts_with("--data")
    }

    /// Returns the words of a call with each option and each value as a word of its own, between empty words.
    fn call(&self, words: &[impl AsRef<str>]) -> Vec<String> {
        let mut call = vec![String::new()];
        for word in words.iter().map(AsRef::as_ref) {
            if word.starts_with("--") {
                call.extend(word.splitn(2, '=').map(str::to_owned));
            } else if let Some(word) = word.strip_prefix('-') {
                let last = word.find(|letter| self.takes_value(&format!("-{letter}")));
                let (letters, value) = word.split_at(last.map_or(word.len(), |at| at + 1));
                call.extend(letters.chars().map(|letter| format!("-{letter}")));
                call.extend(Some(value.to_owned()).filter(|value| !value.is_empty()));
            } else {
                call.push(word.to_owned());
            }
        }
        call.push(String::new());
        call
    }

    /// Returns the first option of a call that is not idempotent, if no header marks the request as safe to repeat, and
    /// whether the call may also send nothing.
    fn sent(&self, call: &[String]) -> Option<(String, bool)> {
        let is_get = has(call, "-G --get") && !has(call, "--no-get") || has(call, METHOD);
        // An upload is a PUT over HTTP; over other protocols it may append.
        let mut urls = call.iter().filter(|word| word.contains("://")).peekable();
        let is_put = urls.peek().is_some() && urls.all(|url| url.starts_with("http"));
        let method = all(call, METHOD).find(|(_, method)| !IDEMPOTENT.contains(method));
        let data = all(call, self.data).find(|(name, _)| !(is_get || is_put && is_any(name, "-T --up")));
        let hidden = all(call, self.hidden).next();
        // A shell expands these to its arguments or a list.
        let is_list = |word: &&String| ["$@", "$*", "[@]}", "[*]}"].iter().any(|list| word.contains(list));
        let list = call.iter().find(is_list).map(|_| ("\"$@\"", ""));
        let without_value = data.or(hidden).map(|(name, _)| (name, ""));
        let (name, value) = method.or(without_value).or(list)?;
        let headers: Vec<&str> = all(call, "-H --header").map(|(_, header)| header).collect();
        // An empty header of wget removes the earlier ones.
        let is_safe = hidden.is_none() && headers.iter().any(|header| is_key(header)) && !headers.contains(&"");
        let option = format!("{name} {value}").trim_end().to_owned();
        (!is_safe).then(|| (option, method.or(data).is_none()))
    }
}

/// Returns the options of a call that begin with one of `names`, each with the word after it.
fn all<'c>(call: &'c [String], names: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
    let pairs = call.windows(2).map(|pair| (&*pair[0], &*pair[1]));
    pairs.filter(move |(name, _)| is_any(name, names))
}

fn has(call: &[String], names: &str) -> bool {
    all(call, names).next().is_some()
}

/// Returns true if an option begins with one of `names`, a long one in any case.
fn is_any(option: &str, names: &str) -> bool {
    let long = option.to_ascii_lowercase().replacen("--expand-", "--", 1);
    let is_it = |name: &str| option.starts_with(name) || name.len() > 2 && long.starts_with(name);
    names.split(' ').any(is_it)
}

/// Returns true if a header is an Idempotency-Key with the same value in each attempt.
fn is_key(header: &str) -> bool {
    let (name, value) = header.split_once(':').unwrap_or_default();
    // Another variable may change with each attempt.
    let is_id = |part: &str| part.starts_with("BACKOFF_ROOT_ID") || part.starts_with("BACKOFF_RUN_ID");
    let is_fixed = !value.contains('`') && value.replace("${", "$").split('$').skip(1).all(is_id);
    name.eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty() && is_fixed
}

/// Returns the words of a script's first command: up to `|`, `;`, `&&`, `)` or the end of the line, if no quotation is
/// open there and no substitution came before.
fn first_command(script: &str) -> Vec<String> {
    let is_operator = |(at, sign): &(usize, &str)| *sign != "&" || script[*at..].starts_with("&&");
    let is_plain = |text: &&str| !text.contains("$(") && !text.contains('`');
    let operators = script.match_indices(['|', ';', '&', ')', '\n']).filter(is_operator);
    let commands = operators.map(|(at, _)| &script[..at]).take_while(is_plain);
    let words = commands.take(100).chain([script]).find_map(shlex::split);
    words.unwrap_or_else(|| script.split_whitespace().map(str::to_owned).collect())
}
