//! Decides whether the command may run twice, from the words of HTTP clients in the command and in scripts among its
//! words. Knows only part of the clients' grammars, and errs towards "no".

use super::program::Command;
use crate::config::settings::Settings;
use crate::config::values::Parsed;

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// A client, and lists of its options, or of their beginnings, separated by spaces.
struct Client {
    name: &'static str,
    /// Options with a value in the next word, besides `--data-...`. After any other option, the next word may be a URL.
    with_value: &'static str,
    /// Beginnings of options that name the method.
    method: &'static str,
    /// Beginnings of options that make the request a POST unless a method is given.
    data: &'static str,
    /// Beginnings of options that read further options, commands or URLs from elsewhere, or begin another request.
    hiding: &'static str,
}

const CURL: Client = Client {
    name: "curl",
    with_value: "-A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --cacert --cert \
                 --connect-timeout --form --header --json --key --max-time --output --request --user --write-out",
    method: "-X --req",
    data: "-d -F -T --data --form --json --upload",
    hiding: "-K -Q -: --config --quote --next",
};

const WGET: Client = Client {
    name: "wget",
    with_value: "-a -A -B -D -e -i -I -l -n -o -O -P -Q -R -t -T -U -w -X",
    method: "--method",
    data: "--post --body",
    hiding: "-e -i --config --execute --input",
};

/// Returns the reason why the command must not run twice, and a remark for its first retry. `--idempotent`
/// overrides what the words show.
pub(super) fn why_not(
    settings: &Settings,
    words: &[&str],
    command: &Command<'_>,
) -> Parsed<[Option<String>; 2]> {
    let is_idempotent = settings.choice("idempotent", &[true, false])?;
    if let Some(setting) = settings.find("idempotent") {
        return Ok([(!is_idempotent).then(|| setting.to_string()), None]);
    }
    let [mut why_not, mut remark] = [None, None];
    for client in [CURL, WGET] {
        let name = client.name;
        for call in client
            .calls(words)
            .iter()
            .filter(|call| !client.has_fixed_key(call))
        {
            let sending = client.sending_option(call);
            if command.is_judged(name) {
                let option = sending.or_else(|| client.hiding_option(call));
                let why = option.map(|option| {
                    format!("{name} {option} without a fixed Idempotency-Key header")
                });
                why_not = why_not.or(why);
            } else if let Some(option) = sending {
                // Only the preset knows which failures had no effect. Without the preset, `no` would forbid nearly
                // every retry.
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
    let ["curl", words @ ..] = command else {
        return true;
    };
    let call = CURL.parse(words);
    let is_url =
        |word: &&Word| word.is_certain && !word.text.is_empty() && !word.text.starts_with('-');
    let urls: Vec<_> = call.iter().filter(is_url).collect();
    // A redirect, `--retry` and `-T '{a,b}'` make further requests.
    let repeats =
        has(&call, CURL.hiding) || has(&call, "-L -T --location --follow --retry --upload");
    // `{a,b}` and `[1-9]` are several URLs, `@FILE` is a list of them.
    !repeats && urls.len() == 1 && !urls[0].text.contains(['{', '[', '@'])
}

/// Returns a remark about `curl -s` without `-S`: the preset finds the HTTP status in curl's error message.
pub(super) fn hides_status(_: &Settings, command: &Command<'_>) -> Option<String> {
    let call = CURL.parse(command.wrapped.strip_prefix(&["curl"])?);
    let hides =
        command.is_judged("curl") && has(&call, "-s --silent") && !has(&call, "-S --show-error");
    hides.then(|| {
        "curl -s hides the HTTP status; use -sS so that 404 and similar are not retried".to_owned()
    })
}

/// A word of a call: an option, a value or a URL.
struct Word {
    text: String,
    /// False if the word is the value of an option, or may belong to another command of the script. Such a word can
    /// make the call unsafe to repeat, but never safe.
    is_certain: bool,
}

impl Client {
    /// Returns the words of each call of the client. Each mention of its name counts as a call.
    fn calls(&self, command: &[&str]) -> Vec<Vec<Word>> {
        let mut calls = Vec::new();
        for (at, word) in command.iter().enumerate() {
            for (start, name) in word.to_ascii_lowercase().match_indices(self.name) {
                // `curl-8.5`, `"$BIN/curl"`, `${CURL}`, `$(which curl)`, the container image `curl:8.5`
                let rest = word[start + name.len()..]
                    .trim_start_matches(|c| "0123456789-.:\"'`})".contains(c));
                if rest.is_empty() {
                    calls.push(self.parse(&command[at + 1..]));
                } else if rest.starts_with(|c: char| c.is_whitespace() || "<>\\$".contains(c)) {
                    // A script: `curl URL`, `curl>out`, a continued line, or `curl$OPTIONS`
                    // The lines of an array (`cmd=(curl ...`) are one call.
                    let is_array = word[..start]
                        .rsplit_once("=(")
                        .is_some_and(|(_, it)| !it.contains(')'));
                    calls.push(
                        self.parse_script(&rest.replace('\n', if is_array { " " } else { "\n" })),
                    );
                }
            }
        }
        calls
    }

    /// Parses the rest of a script after the client's name. The call ends at `|`, `;`, `&`, `)` or the end of the
    /// line, if no quotation is open there. A substitution before the end hides the end: all words of the script are
    /// then uncertain.
    fn parse_script(&self, script: &str) -> Vec<Word> {
        // The `&` of `&>log` or of a URL ends no command, nor does the operator of `2>&1`, `>& log` or `>| log`.
        let is_followed = |at: usize| script[at + 1..].starts_with([' ', '\n', '&']);
        let may_end = |(at, sign): &(usize, &str)| {
            !script[..*at].ends_with('>') && (*sign != "&" || is_followed(*at))
        };
        let operators = script
            .match_indices(['|', ';', '&', ')', '\n'])
            .filter(may_end);
        let ends = operators.map(|(at, _)| at).chain([script.len()]);
        // Limits the work on a long script.
        for command in ends.take(100).map(|end| &script[..end]) {
            let is_open = command
                .rsplit_once("${")
                .is_some_and(|(_, after)| !after.contains('}'));
            if is_open
                || ["$(", "`", "<(", ">(", "$'"]
                    .iter()
                    .any(|sign| command.contains(sign))
            {
                break;
            }
            // None if a quotation is open: the operator is part of a word.
            if let Some(words) = shlex::split(command) {
                return self.parse(&words);
            }
        }
        // `$'-d'` and `"--data"` become options.
        let unquoted = script.replace(['"', '\'', '\\'], "").replace("$-", "-");
        let mut call = self.parse(&unquoted.split_whitespace().collect::<Vec<_>>());
        call.iter_mut().for_each(|word| word.is_certain = false);
        call
    }

    /// Returns the words of a call with each option and each value as a word of its own.
    fn parse(&self, words: &[impl AsRef<str>]) -> Vec<Word> {
        let mut call: Vec<Word> = Vec::new();
        let next_is_value = |last: Option<&Word>| {
            last.is_some_and(|it| it.is_certain && self.takes_value(&it.text))
        };
        for word in words.iter().map(AsRef::as_ref) {
            // Also true for a value that looks like options (`-o -sXGET`): the parts of the value are uncertain words.
            let is_value = next_is_value(call.last());
            for (i, text) in self.parts(word).into_iter().enumerate() {
                // The text after the `=` of `--any=value` is a value, and so is the `1` of `-d1`.
                let is_certain =
                    !is_value && (i == 0 || !word.starts_with("--")) && !next_is_value(call.last());
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
                // The first letter that takes a value is the last option: the rest is its value.
                let last_option = letters.find(|letter| self.takes_value(&format!("-{letter}")));
                let (letters, value) =
                    letters.split_at(last_option.map_or(letters.len(), |at| at + 1));
                let options = letters.chars().map(|letter| format!("-{letter}"));
                options
                    .chain((!value.is_empty()).then(|| value.to_owned()))
                    .collect()
            }
            _ => vec![word.to_owned()],
        }
    }

    fn takes_value(&self, option: &str) -> bool {
        self.with_value.split(' ').any(|known| known == option) || option.starts_with("--data")
    }

    /// Returns the option by which a call sends something that is not idempotent: a method, or else data.
    fn sending_option(&self, call: &[Word]) -> Option<String> {
        if let Some((option, method)) =
            all(call, self.method).find(|(_, method)| !IDEMPOTENT.contains(method))
        {
            return Some(format!("{} {method}", option.text).trim_end().to_owned());
        }
        // An idempotent method replaces the POST that data implies.
        let has_method = all(call, self.method).any(|(option, _)| option.is_certain);
        // With -G, data is part of the URL, but a form is not.
        let is_get =
            all(call, "-G --get").any(|(option, _)| option.is_certain) && !has(call, "--no-get");
        // An upload is a PUT over HTTP; over other protocols it may append.
        let mut urls = call
            .iter()
            .filter(|word| word.text.contains("://"))
            .peekable();
        let is_put =
            urls.peek().is_some() && urls.all(|url| url.is_certain && url.text.starts_with("http"));
        let is_idempotent = |option| {
            has_method
                || is_get && !is_any(option, "-F --form")
                || is_put && is_any(option, "-T --upload")
        };
        let mut data = all(call, self.data).map(|(option, _)| &option.text);
        data.find(|option| !is_idempotent(option)).cloned()
    }

    /// Returns the option behind which another one may be hidden that sends something.
    fn hiding_option(&self, call: &[Word]) -> Option<String> {
        // A shell replaces a list by several words, each of which may be an option.
        let is_list = |word: &Word| {
            "$@ $* ${@ ${* [@] [*]"
                .split(' ')
                .any(|it| word.text.contains(it))
        };
        let hiding = all(call, self.hiding)
            .next()
            .map(|(option, _)| option.text.clone());
        hiding.or_else(|| call.iter().any(is_list).then(|| "\"$@\"".to_owned()))
    }

    /// Returns true if an Idempotency-Key header makes the call safe to repeat, and no option begins or reads another
    /// request. The words of a `"$@"` belong to the request with the key.
    fn has_fixed_key(&self, call: &[Word]) -> bool {
        let headers = all(call, "-H --header").filter(|(option, _)| option.is_certain);
        let headers: Vec<&str> = headers.map(|(_, header)| header).collect();
        // An empty header of wget removes the earlier ones.
        !headers.contains(&"")
            && headers.iter().any(|header| is_fixed_key(header))
            && !has(call, self.hiding)
    }
}

/// Returns the options of a call that begin with one of `names`, each with the word after it: its value, if it has one.
fn all<'c>(call: &'c [Word], names: &'c str) -> impl Iterator<Item = (&'c Word, &'c str)> {
    let nexts = call.iter().skip(1).map(|word| &*word.text).chain([""]);
    call.iter()
        .zip(nexts)
        .filter(move |(it, _)| is_any(&it.text, names))
}

fn has(call: &[Word], names: &str) -> bool {
    all(call, names).next().is_some()
}

/// Returns true if an option begins with one of `names`, or abbreviates a long one.
fn is_any(option: &str, names: &str) -> bool {
    // Old versions of curl ignore case; `--expand-data` is `--data` with variables.
    let long = option.to_ascii_lowercase().replacen("--expand-", "--", 1);
    // An abbreviation of one letter would be ambiguous.
    let is_short_for = |name: &str| long.len() > 3 && name.starts_with(&long);
    let is_long =
        |name: &str| name.starts_with("--") && (long.starts_with(name) || is_short_for(name));
    names
        .split(' ')
        .any(|name| option.starts_with(name) || is_long(name))
}

/// Returns true if a header is an Idempotency-Key with the same value in each attempt.
fn is_fixed_key(header: &str) -> bool {
    let (name, value) = header.split_once(':').unwrap_or_default();
    // Another variable (a shell's, or curl's `{{name}}`) or a `$(command)` may change with each attempt.
    let is_id =
        |after: &str| after.starts_with("BACKOFF_ROOT_ID") || after.starts_with("BACKOFF_RUN_ID");
    let is_fixed = value
        .replace("${", "$")
        .split(['$', '`', '{'])
        .skip(1)
        .all(is_id);
    name.eq_ignore_ascii_case("Idempotency-Key") && !value.trim().is_empty() && is_fixed
}
