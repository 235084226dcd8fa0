//! Decides whether the command may run twice, from the words of HTTP clients in the command and in scripts among its
//! words. Knows only part of the clients' grammars, and errs towards "no".

use super::program::Command;
use crate::config::settings::Settings;
use crate::config::values::Parsed;

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// A client, and its options.
struct Client {
    name: &'static str,
    /// Options with a value in the next word, besides `--data-...`. After any other option, the next word may be a URL.
    with_value: &'static str,
    /// Beginnings of options that name the method.
    method: &'static str,
    /// Beginnings of options that make the request a POST unless a method is given.
    data: &'static str,
    /// Beginnings of options that read further options, commands or URLs from elsewhere.
    hidden: &'static str,
}

const CURL: Client = Client {
    name: "curl",
    with_value: "-A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --cacert --cert \
                 --connect-timeout --form --header --json --key --max-time --output --request --user --write-out",
    method: "-X --req",
    data: "-d -F -T --data --form --json --upload",
    hidden: "-K -Q -: --config --quote --next",
};

const WGET: Client = Client {
    name: "wget",
    with_value: "-a -A -B -D -e -i -I -l -n -o -O -P -Q -R -t -T -U -w -X",
    method: "--method",
    data: "--post --body",
    hidden: "-e -i --execute --input",
};

/// Returns the reason why the command must not run twice, and a remark for its first retry. `--idempotent`
/// overrides what the words show.
pub(super) fn why_not(settings: &Settings, words: &[&str], command: &Command<'_>) -> Parsed<[Option<String>; 2]> {
    let is_idempotent = settings.choice("idempotent", &[true, false])?;
    if let Some(setting) = settings.find("idempotent") {
        return Ok([(!is_idempotent).then(|| setting.to_string()), None]);
    }
    let [mut why_not, mut remark] = [None, None];
    for client in [CURL, WGET] {
        let name = client.name;
        for (option, is_certain) in client.calls(words).iter().filter_map(|call| client.unsafe_option(call)) {
            if command.is_judged(name) {
                why_not.get_or_insert(format!("{name} {option} without an Idempotency-Key header"));
            } else if is_certain {
                remark.get_or_insert(format!(
                    "{name} {option}: a retry sends the request again, even if it took effect; --for {name} or \
                     --idempotent no prevents that, --idempotent yes hides this remark"
                ));
            }
        }
    }
    Ok([why_not, remark])
}

/// Returns true unless the command is a call of curl that may make several requests: the refusal of the last one proves
/// nothing about the others.
pub(super) fn is_single_request(command: &[&str]) -> bool {
    let ["curl", words @ ..] = command else { return true };
    let call = CURL.call(words, true);
    let is_url = |word: &&Word| word.is_certain && !word.text.is_empty() && !word.text.starts_with('-');
    let urls: Vec<_> = call.iter().filter(is_url).collect();
    let repeats = has(&call, CURL.hidden) || has(&call, "-L -T --location --follow --retry --upload");
    !repeats && urls.len() == 1 && !urls[0].text.contains(['{', '[', '@'])
}

/// Returns a remark about `curl -s` without `-S`.
pub(super) fn hides_status(_: &Settings, command: &Command<'_>) -> Option<String> {
    let call = CURL.call(command.wrapped.strip_prefix(&["curl"])?, true);
    let hides = command.is_judged("curl") && has(&call, "-s --silent") && !has(&call, "-S --show-error");
    hides.then(|| "curl -s hides the HTTP status; use -sS so that 404 and similar are not retried".to_owned())
}

/// A word of a call: an option, a value or a URL.
struct Word {
    text: String,
    /// The word belongs to this call, and is not the value of an option. Only such words excuse an option.
    is_certain: bool,
}

impl Client {
    /// Returns the calls of the client: each mention of its name, with the rest of the command or of a command in a
    /// script.
    fn calls(&self, command: &[&str]) -> Vec<Vec<Word>> {
        let mut calls = Vec::new();
        for (at, word) in command.iter().enumerate() {
            for (start, name) in word.to_ascii_lowercase().match_indices(self.name) {
                // `curl-8.5`, `"$BIN/curl"`, `${CURL}`, `$(which curl)`
                let is_of_name = |c: char| c.is_ascii_digit() || "-.\"'`})".contains(c);
                let rest = word[start + name.len()..].trim_start_matches(is_of_name);
                if rest.is_empty() {
                    calls.push(self.call(&command[at + 1..], true));
                } else if rest.starts_with(|c: char| c.is_whitespace() || "<>\\$".contains(c)) {
                    // `curl URL`, `curl>out`, a continued line, or `curl$OPTIONS`
                    let (words, is_complete) = first_command(rest);
                    calls.push(self.call(&words, is_complete));
                }
            }
        }
        calls
    }

    fn takes_value(&self, option: &str) -> bool {
        self.with_value.split(' ').any(|known| known == option) || option.starts_with("--data")
    }

    /// Returns the words of a call with each option and each value as a word of its own.
    fn call(&self, words: &[impl AsRef<str>], is_complete: bool) -> Vec<Word> {
        let mut call: Vec<Word> = Vec::new();
        for word in words.iter().map(AsRef::as_ref) {
            for (i, text) in self.parts(word).into_iter().enumerate() {
                let wants_value = |last: &Word| last.is_certain && self.takes_value(&last.text);
                let is_value = i == 1 && word.starts_with("--") || call.last().is_some_and(wants_value);
                let is_certain = is_complete && !is_value;
                call.push(Word { text, is_certain });
            }
        }
        call
    }

    /// Splits `-fsd1` into `-f`, `-s`, `-d` and `1`, and `--data=1` into `--data` and `1`.
    fn parts(&self, word: &str) -> Vec<String> {
        match word.strip_prefix('-') {
            Some(long) if long.starts_with('-') => word.splitn(2, '=').map(str::to_owned).collect(),
            Some(letters) if !letters.is_empty() => {
                let last = letters.find(|letter| self.takes_value(&format!("-{letter}")));
                let (letters, value) = letters.split_at(last.map_or(letters.len(), |at| at + 1));
                let options = letters.chars().map(|letter| format!("-{letter}"));
                options.chain((!value.is_empty()).then(|| value.to_owned())).collect()
            }
            _ => vec![word.to_owned()],
        }
    }

    /// Returns an option by which a call is not idempotent (a method before data before a hidden one), and whether it
    /// certainly sends something; None if there is none, or if a header marks the request as safe to repeat.
    fn unsafe_option(&self, call: &[Word]) -> Option<(String, bool)> {
        let is_certain = |(word, _): &(&Word, &str)| word.is_certain;
        let has_certain = |names| all(call, names).any(|found| is_certain(&found));
        let has_method = has_certain(self.method);
        let is_get = has_certain("-G --get") && !has(call, "--no-get");
        // An upload is a PUT over HTTP; over other protocols it may append.
        let mut urls = call.iter().filter(|word| word.text.contains("://")).peekable();
        let is_put = urls.peek().is_some() && urls.all(|url| url.is_certain && url.text.starts_with("http"));
        // A method replaces the POST that data implies; it is checked by itself.
        let is_excused =
            |option| has_method || is_get && !is_any(option, "-F --form") || is_put && is_any(option, "-T --upload");
        let method = all(call, self.method).find(|(_, method)| !IDEMPOTENT.contains(method));
        let data = all(call, self.data).find(|(word, _)| !is_excused(&word.text));
        let hidden = all(call, self.hidden).next();
        let with_method = method.map(|(word, method)| format!("{} {method}", word.text).trim_end().to_owned());
        let named = with_method.or(data.or(hidden).map(|(word, _)| word.text.clone()));
        // Words that a shell expands to several, among which may be any option.
        let is_list = |word: &Word| ["$@", "$*", "[@]}", "[*]}"].iter().any(|list| word.text.contains(list));
        let option = named.or_else(|| call.iter().any(is_list).then(|| "\"$@\"".to_owned()))?;
        let headers = all(call, "-H --header").filter(is_certain);
        let headers: Vec<&str> = headers.map(|(_, header)| header).collect();
        // An empty header of wget removes the earlier ones.
        let is_safe = hidden.is_none() && headers.iter().any(|header| is_fixed_key(header)) && !headers.contains(&"");
        (!is_safe).then(|| (option, method.or(data).is_some()))
    }
}

/// Returns the words of a call that begin with one of `names`, each with the word after it.
fn all<'c>(call: &'c [Word], names: &'c str) -> impl Iterator<Item = (&'c Word, &'c str)> {
    let nexts = call.iter().skip(1).map(|word| &*word.text).chain([""]);
    call.iter()
        .zip(nexts)
        .filter(move |(word, _)| is_any(&word.text, names))
}

fn has(call: &[Word], names: &str) -> bool {
    all(call, names).next().is_some()
}

/// Returns true if an option begins with one of `names`. Long ones may be abbreviated.
fn is_any(option: &str, names: &str) -> bool {
    let long = option.to_ascii_lowercase().replacen("--expand-", "--", 1);
    let is_long = |name: &str| name.len() > 2 && (long.starts_with(name) || long.len() > 3 && name.starts_with(&long));
    let is_it = |name: &str| option.starts_with(name) || is_long(name);
    names.split(' ').any(is_it)
}

/// Returns true if a header is an Idempotency-Key with the same value in each attempt.
fn is_fixed_key(header: &str) -> bool {
    let (name, value) = header.split_once(':').unwrap_or_default();
    // Another variable may change with each attempt.
    let is_id = |part: &str| part.starts_with("BACKOFF_ROOT_ID") || part.starts_with("BACKOFF_RUN_ID");
    let is_fixed = !value.contains('`') && value.replace("${", "$").split('$').skip(1).all(is_id);
    name.eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty() && is_fixed
}

/// Returns the words of a script's first command: up to `|`, `;`, `&&`, `)` or the end of the line, if no quotation is
/// open there and no substitution came before; and true. Otherwise returns all words of the script, and false.
fn first_command(script: &str) -> (Vec<String>, bool) {
    // `&` alone may be of `2>&1`.
    let is_operator = |(at, sign): &(usize, &str)| *sign != "&" || script[*at..].starts_with("&&");
    let is_plain = |text: &&str| {
        let is_open = text.rsplit_once("${").is_some_and(|(_, after)| !after.contains('}'));
        !is_open && !["$(", "`", "<(", ">(", "$'"].iter().any(|sign| text.contains(sign))
    };
    let operators = script.match_indices(['|', ';', '&', ')', '\n']).filter(is_operator);
    // Limits the work on a long script.
    let ends = operators.map(|(at, _)| at).chain([script.len()]).take(100);
    match ends
        .map(|end| &script[..end])
        .take_while(is_plain)
        .find_map(shlex::split)
    {
        Some(words) => (words, true),
        None => (script.split_whitespace().map(str::to_owned).collect(), false),
    }
}
