//! Options of curl and wget, and whether a call of one may send something that is not idempotent.

use super::text::{Doubt, Symbol, Text, Word, exact, has_words, shown};

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// What an option does to the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Names the method.
    Method,
    /// Makes the request a POST unless a method is given.
    Data,
    /// The same; `-G` does not change that.
    Form,
    /// Makes the request a PUT over HTTP. Over other protocols it may append.
    Upload,
    /// Puts data into the URL.
    Get,
    NoGet,
    Header,
    /// Reads further options, commands or URLs from elsewhere, or begins another request.
    Hides,
    /// Makes further requests.
    Repeats,
    Silent,
    ShowsErrors,
    Plain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Exact,
    /// Longer names count, too.
    Beginning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    /// The option is an abbreviation that may stand for several.
    MayBeValue,
}

#[derive(Debug)]
struct Opt {
    names: &'static [&'static str],
    spelling: Spelling,
    takes: Takes,
    role: Role,
}

const fn exactly(names: &'static [&'static str], takes: Takes, role: Role) -> Opt {
    Opt {
        names,
        spelling: Spelling::Exact,
        takes,
        role,
    }
}

const fn beginning(names: &'static [&'static str], role: Role) -> Opt {
    Opt {
        names,
        spelling: Spelling::Beginning,
        takes: Takes::Value,
        role,
    }
}

/// An HTTP client. Options that stand in no table take no value and do not change the request.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    options: &'static [Opt],
    /// Further options with a value in the next word.
    with_value: &'static [&'static str],
    letters_with_value: &'static str,
}

/// The clients whose calls are judged.
pub(crate) const CLIENTS: [&Client; 2] = [&CURL, &WGET];

/// curl 7 and 8.
static CURL: Client = Client {
    name: "curl",
    options: &[
        exactly(&["-X", "--request"], Takes::Value, Role::Method),
        exactly(&["-d", "--json"], Takes::Value, Role::Data),
        beginning(&["--data"], Role::Data),
        exactly(&["-F", "--form", "--form-string"], Takes::Value, Role::Form),
        exactly(&["-T", "--upload-file"], Takes::Value, Role::Upload),
        exactly(&["-K", "--config"], Takes::Value, Role::Hides),
        exactly(
            &["-Q", "--quote", "--prequote", "--postquote"],
            Takes::Value,
            Role::Hides,
        ),
        exactly(&["-:", "--next"], Takes::Nothing, Role::Hides),
        exactly(&["-H", "--header"], Takes::Value, Role::Header),
        exactly(&["-G", "--get"], Takes::Nothing, Role::Get),
        exactly(&["--no-get"], Takes::Nothing, Role::NoGet),
        exactly(
            &["-L", "--location", "--location-trusted", "--follow"],
            Takes::Nothing,
            Role::Repeats,
        ),
        exactly(&["--retry"], Takes::Value, Role::Repeats),
        exactly(&["-s", "--silent"], Takes::Nothing, Role::Silent),
        exactly(&["-S", "--show-error"], Takes::Nothing, Role::ShowsErrors),
        exactly(
            &["-I", "--head", "--form-escape"],
            Takes::Nothing,
            Role::Plain,
        ),
    ],
    with_value: &[
        "--abstract-unix-socket",
        "--alt-svc",
        "--aws-sigv4",
        "--cacert",
        "--capath",
        "--cert",
        "--cert-type",
        "--ciphers",
        "--connect-timeout",
        "--connect-to",
        "--continue-at",
        "--cookie",
        "--cookie-jar",
        "--create-file-mode",
        "--crlfile",
        "--curves",
        "--delegation",
        "--dns-interface",
        "--dns-ipv4-addr",
        "--dns-ipv6-addr",
        "--dns-servers",
        "--doh-url",
        "--dump-header",
        "--ech",
        "--egd-file",
        "--engine",
        "--etag-compare",
        "--etag-save",
        "--expect100-timeout",
        "--ftp-account",
        "--ftp-alternative-to-user",
        "--ftp-method",
        "--ftp-port",
        "--ftp-ssl-ccc-mode",
        "--happy-eyeballs-timeout-ms",
        "--haproxy-clientip",
        "--hostpubmd5",
        "--hostpubsha256",
        "--hsts",
        "--interface",
        "--ip-tos",
        "--ipfs-gateway",
        "--keepalive-cnt",
        "--keepalive-time",
        "--key",
        "--key-type",
        "--krb",
        "--libcurl",
        "--limit-rate",
        "--local-port",
        "--login-options",
        "--mail-auth",
        "--mail-from",
        "--mail-rcpt",
        "--max-filesize",
        "--max-redirs",
        "--max-time",
        "--netrc-file",
        "--noproxy",
        "--oauth2-bearer",
        "--output",
        "--output-dir",
        "--parallel-max",
        "--pass",
        "--pinnedpubkey",
        "--preproxy",
        "--proto",
        "--proto-default",
        "--proto-redir",
        "--proxy",
        "--proxy-cacert",
        "--proxy-capath",
        "--proxy-cert",
        "--proxy-cert-type",
        "--proxy-ciphers",
        "--proxy-crlfile",
        "--proxy-header",
        "--proxy-key",
        "--proxy-key-type",
        "--proxy-pass",
        "--proxy-pinnedpubkey",
        "--proxy-service-name",
        "--proxy-tls13-ciphers",
        "--proxy-tlsauthtype",
        "--proxy-tlspassword",
        "--proxy-tlsuser",
        "--proxy-user",
        "--proxy1.0",
        "--pubkey",
        "--random-file",
        "--range",
        "--rate",
        "--referer",
        "--request-target",
        "--resolve",
        "--retry-delay",
        "--retry-max-time",
        "--sasl-authzid",
        "--service-name",
        "--sigalgs",
        "--socks4",
        "--socks4a",
        "--socks5",
        "--socks5-gssapi-service",
        "--socks5-hostname",
        "--speed-limit",
        "--speed-time",
        "--stderr",
        "--telnet-option",
        "--tftp-blksize",
        "--time-cond",
        "--tls-max",
        "--tls13-ciphers",
        "--tlsauthtype",
        "--tlspassword",
        "--tlsuser",
        "--trace",
        "--trace-ascii",
        "--trace-config",
        "--unix-socket",
        "--upload-flags",
        "--url",
        "--url-query",
        "--user",
        "--user-agent",
        "--variable",
        "--vlan-priority",
        "--write-out",
    ],
    letters_with_value: "AbcCDeEhmoPrtuUwxyYz",
};

/// GNU Wget 1.
static WGET: Client = Client {
    name: "wget",
    options: &[
        exactly(&["--method"], Takes::Value, Role::Method),
        beginning(&["--post", "--body"], Role::Data),
        exactly(&["-e", "--execute"], Takes::Value, Role::Hides),
        exactly(&["-i"], Takes::Value, Role::Hides),
        beginning(&["--input", "--config"], Role::Hides),
        exactly(&["--header"], Takes::Value, Role::Header),
    ],
    with_value: &[
        "--accept",
        "--accept-regex",
        "--append-output",
        "--base",
        "--bind-address",
        "--bind-dns-address",
        "--ca-certificate",
        "--ca-directory",
        "--certificate",
        "--certificate-type",
        "--ciphers",
        "--compression",
        "--connect-timeout",
        "--crl-file",
        "--cut-dirs",
        "--default-page",
        "--directory-prefix",
        "--dns-servers",
        "--dns-timeout",
        "--domains",
        "--dot-style",
        "--egd-file",
        "--exclude-directories",
        "--exclude-domains",
        "--follow-tags",
        "--ftp-password",
        "--ftp-user",
        "--hsts-file",
        "--http-passwd",
        "--http-password",
        "--http-user",
        "--ignore-tags",
        "--include-directories",
        "--level",
        "--limit-rate",
        "--load-cookies",
        "--local-encoding",
        "--max-redirect",
        "--output-document",
        "--output-file",
        "--password",
        "--pinnedpubkey",
        "--prefer-family",
        "--preferred-location",
        "--private-key",
        "--private-key-type",
        "--progress",
        "--proxy-password",
        "--proxy-user",
        "--quota",
        "--random-file",
        "--read-timeout",
        "--referer",
        "--regex-type",
        "--reject",
        "--reject-regex",
        "--rejected-log",
        "--remote-encoding",
        "--report-speed",
        "--restrict-file-names",
        "--retry-on-http-error",
        "--save-cookies",
        "--secure-protocol",
        "--start-pos",
        "--timeout",
        "--tries",
        "--use-askpass",
        "--user",
        "--user-agent",
        "--wait",
        "--waitretry",
        "--warc-dedup",
        "--warc-file",
        "--warc-header",
        "--warc-max-size",
        "--warc-tempdir",
    ],
    // The letter after `-n` belongs to it: `-nv`.
    letters_with_value: "aABDIlnoOPQRtTUwX",
};

/// A word of a call.
enum Item {
    Option(Given),
    Operand {
        text: Text,
        is_certain: bool,
    },
    /// May be an option.
    Doubtful(String),
}

/// An option as it is given.
struct Given {
    name: String,
    role: Role,
    value: Option<Text>,
    /// False if the word may be the value of an option. Such an option can make the call unsafe to repeat, but never
    /// safe.
    is_certain: bool,
}

/// What the next word is.
enum Next {
    OptionOrOperand,
    ValueOf(usize),
    Either,
}

/// What the words of a call show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// The option by which it sends something that is not idempotent: a method, or else data.
    pub(crate) sends: Option<String>,
    /// A word that may be an option that does so, or an option behind which another may be hidden.
    pub(crate) may_send: Option<Suspicion>,
    /// The fixed Idempotency-Key header that makes the call safe to repeat.
    pub(crate) key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// `-K`
    Hides(String),
    /// `"$@"`
    MayBeOption(String),
}

impl Client {
    /// Returns what the words after the client's name show.
    pub(crate) fn request(&self, words: &[Word]) -> Request {
        let items = self.items(words);
        let hides = options(&items).find(|option| option.role == Role::Hides);
        let doubtful = items.iter().find_map(|item| match item {
            Item::Doubtful(word) => Some(word.clone()),
            Item::Option(_) | Item::Operand { .. } => None,
        });
        let may_send = match (hides, doubtful) {
            (Some(option), _) => Some(Suspicion::Hides(option.name.clone())),
            (None, word) => word.map(Suspicion::MayBeOption),
        };
        Request {
            sends: sending_option(&items),
            may_send,
            key: fixed_key(&items),
        }
    }

    fn items(&self, words: &[Word]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut next = Next::OptionOrOperand;
        for word in words {
            if has_words(&word.text) {
                items.push(Item::Doubtful(word.origin.clone()));
                next = Next::Either;
                continue;
            }
            if let Next::ValueOf(option) = next {
                if let Some(Item::Option(option)) = items.get_mut(option) {
                    option.value = Some(word.text.clone());
                }
                next = Next::OptionOrOperand;
                continue;
            }
            let is_certain = matches!(next, Next::OptionOrOperand);
            next = self.add(&mut items, word, is_certain);
        }
        items
    }

    /// Adds a word that is an option or an operand. Returns what the next word is.
    fn add(&self, items: &mut Vec<Item>, word: &Word, is_certain: bool) -> Next {
        let beginning = word.text.iter().find(|symbol| {
            !matches!(
                symbol,
                Symbol::MayBeAnything(Doubt::Value | Doubt::Token | Doubt::RunId)
            )
        });
        let begins_known = matches!(word.text.first(), Some(Symbol::Known(_)));
        match beginning {
            Some(Symbol::Known('-')) if begins_known && word.text.len() > 1 => {
                if word.text[1] == Symbol::Known('-') {
                    self.add_long(items, word, is_certain)
                } else {
                    self.add_letters(items, word, is_certain)
                }
            }
            // The part before the `-` may be empty, or nothing is known of the beginning.
            Some(Symbol::Known('-')) if !begins_known => {
                items.push(Item::Doubtful(word.origin.clone()));
                Next::OptionOrOperand
            }
            Some(Symbol::MayBeAnything(_)) if !begins_known => {
                items.push(Item::Doubtful(word.origin.clone()));
                Next::OptionOrOperand
            }
            _ => {
                items.push(Item::Operand {
                    text: word.text.clone(),
                    is_certain,
                });
                Next::OptionOrOperand
            }
        }
    }

    /// Adds `--data=1`.
    fn add_long(&self, items: &mut Vec<Item>, word: &Word, is_certain: bool) -> Next {
        let sign = word.text.iter().position(|it| *it == Symbol::Known('='));
        let name = &word.text[..sign.unwrap_or(word.text.len())];
        let Some(name) = exact(name) else {
            items.push(Item::Doubtful(word.origin.clone()));
            return Next::Either;
        };
        let (role, takes) = self.meaning(&name);
        items.push(Item::Option(Given {
            name,
            role,
            value: sign.map(|at| word.text[at + 1..].to_vec()),
            is_certain,
        }));
        match (takes, sign) {
            (_, Some(_)) | (Takes::Nothing, None) => Next::OptionOrOperand,
            (Takes::Value, None) => Next::ValueOf(items.len() - 1),
            (Takes::MayBeValue, None) => Next::Either,
        }
    }

    /// Adds `-fsd1`: `-f`, `-s` and `-d` with the value `1`.
    fn add_letters(&self, items: &mut Vec<Item>, word: &Word, is_certain: bool) -> Next {
        for (at, symbol) in word.text.iter().enumerate().skip(1) {
            let Symbol::Known(letter) = symbol else {
                items.push(Item::Doubtful(word.origin.clone()));
                return Next::Either;
            };
            let name = format!("-{letter}");
            let (role, takes) = self.meaning(&name);
            let value = &word.text[at + 1..];
            let has_value = takes == Takes::Value && !value.is_empty();
            items.push(Item::Option(Given {
                name,
                role,
                value: has_value.then(|| value.to_vec()),
                is_certain,
            }));
            if takes == Takes::Value {
                // The first letter that takes a value is the last option.
                return if has_value {
                    Next::OptionOrOperand
                } else {
                    Next::ValueOf(items.len() - 1)
                };
            }
        }
        Next::OptionOrOperand
    }

    /// Returns what an option does, and whether it takes a value.
    fn meaning(&self, option: &str) -> (Role, Takes) {
        match long_name(option) {
            Some(long) => self.meaning_of_long(&long),
            None => self.meaning_of_letter(option),
        }
    }

    fn meaning_of_letter(&self, option: &str) -> (Role, Takes) {
        if let Some(row) = self.options.iter().find(|row| row.names.contains(&option)) {
            return (row.role, row.takes);
        }
        match option.chars().nth(1) {
            Some(letter) if self.letters_with_value.contains(letter) => (Role::Plain, Takes::Value),
            _ => (Role::Plain, Takes::Nothing),
        }
    }

    fn meaning_of_long(&self, long: &str) -> (Role, Takes) {
        if let Some(row) = self.options.iter().find(|row| row.names.contains(&long)) {
            return (row.role, row.takes);
        }
        if self.with_value.contains(&long) {
            return (Role::Plain, Takes::Value);
        }
        let may_take_value = self
            .with_value
            .iter()
            .any(|name| is_abbreviation(long, name));
        match self.options.iter().find(|row| row.may_be(long)) {
            Some(row) if may_take_value || row.takes == Takes::Nothing => {
                (row.role, Takes::MayBeValue)
            }
            Some(row) => (row.role, row.takes),
            None if may_take_value => (Role::Plain, Takes::MayBeValue),
            None => (Role::Plain, Takes::Nothing),
        }
    }
}

impl Opt {
    /// Returns true if a long name may be short for this option, or begins like it.
    fn may_be(&self, long: &str) -> bool {
        for name in self.names {
            let is_longer = self.spelling == Spelling::Beginning && long.starts_with(name);
            if name.starts_with("--") && (is_longer || is_abbreviation(long, name)) {
                return true;
            }
        }
        false
    }
}

/// Returns the name of a long option. Old versions of curl ignore case; `--expand-data` is `--data` with variables.
fn long_name(option: &str) -> Option<String> {
    option.strip_prefix("--")?;
    Some(option.to_ascii_lowercase().replacen("--expand-", "--", 1))
}

/// Returns true if a name may be short for another. An abbreviation of one letter would be ambiguous.
fn is_abbreviation(option: &str, name: &str) -> bool {
    option.len() > 3 && name.starts_with(option)
}

fn options(items: &[Item]) -> impl Iterator<Item = &Given> {
    items.iter().filter_map(|item| match item {
        Item::Option(option) => Some(option),
        Item::Operand { .. } | Item::Doubtful(_) => None,
    })
}

fn has_certain(items: &[Item], role: Role) -> bool {
    options(items).any(|option| option.role == role && option.is_certain)
}

/// Returns the option by which a call sends something that is not idempotent.
fn sending_option(items: &[Item]) -> Option<String> {
    for option in options(items).filter(|option| option.role == Role::Method) {
        let method = option.value.as_deref().unwrap_or_default();
        let is_idempotent = exact(method).is_some_and(|method| IDEMPOTENT.contains(&&*method));
        if !is_idempotent {
            let shown = format!("{} {}", option.name, shown(method));
            return Some(shown.trim_end().to_owned());
        }
    }
    // An idempotent method replaces the POST that data implies.
    if has_certain(items, Role::Method) {
        return None;
    }
    let is_get =
        has_certain(items, Role::Get) && !options(items).any(|option| option.role == Role::NoGet);
    let sending = options(items).find(|option| match option.role {
        Role::Data => !is_get,
        Role::Form => true,
        Role::Upload => !is_get && !is_put(items),
        _ => false,
    });
    sending.map(|option| option.name.clone())
}

/// Returns true if all URLs are of HTTP.
fn is_put(items: &[Item]) -> bool {
    let mut has_url = false;
    for item in items {
        if let Item::Operand { text, is_certain } = item {
            let url = shown(text).to_ascii_lowercase();
            let is_http = url.starts_with("http://") || url.starts_with("https://");
            if !is_http || !is_certain {
                return false;
            }
            has_url = true;
        }
    }
    has_url
}

/// Returns the Idempotency-Key if it is the same in each attempt, and no option begins or reads another request. The
/// words of a `"$@"` belong to the request with the key.
fn fixed_key(items: &[Item]) -> Option<String> {
    if options(items).any(|option| option.role == Role::Hides) {
        return None;
    }
    let mut key = None;
    for option in options(items) {
        if option.role != Role::Header || !option.is_certain {
            continue;
        }
        let header = option.value.as_deref().unwrap_or_default();
        if header.is_empty() {
            // An empty header of wget removes the earlier ones.
            return None;
        }
        key = key.or_else(|| key_of(header));
    }
    key
}

/// Returns the value of an Idempotency-Key header if each attempt has the same.
fn key_of(header: &[Symbol]) -> Option<String> {
    let colon = header.iter().position(|it| *it == Symbol::Known(':'))?;
    let name = exact(&header[..colon])?;
    let value = &header[colon + 1..];
    let is_fixed = value.iter().all(|symbol| match symbol {
        // `{{name}}` is a variable of curl.
        Symbol::Known(c) => *c != '{',
        Symbol::MayBeAnything(doubt) => *doubt == Doubt::RunId,
    });
    let shown = shown(value).trim().to_owned();
    (name.eq_ignore_ascii_case("Idempotency-Key") && is_fixed && !shown.is_empty()).then_some(shown)
}

/// Returns true unless the command is a call of curl that may make several requests: the refusal of the last one proves
/// nothing about the others.
pub(crate) fn is_single_request(command: &[&str]) -> bool {
    let ["curl", words @ ..] = command else {
        return true;
    };
    let items = CURL.items(&exact_words(words));
    let mut urls = Vec::new();
    for item in &items {
        if let Item::Operand { text, .. } = item
            && !text.is_empty()
        {
            urls.push(shown(text));
        }
    }
    // A redirect, `--retry` and `-T '{a,b}'` make further requests.
    let repeats = options(&items).any(|option| {
        matches!(option.role, Role::Repeats | Role::Hides | Role::Upload)
            || option.name.starts_with("--retry")
            || option.name == "--url"
    });
    // `{a,b}` and `[1-9]` are several URLs, `@FILE` is a list of them.
    !repeats && urls.len() == 1 && !urls[0].contains(['{', '[', '@'])
}

/// Returns true if a call of curl hides error messages, in which the preset finds the HTTP status.
pub(crate) fn hides_errors(words: &[&str]) -> bool {
    let items = CURL.items(&exact_words(words));
    let has = |role| options(&items).any(|option| option.role == role);
    has(Role::Silent) && !has(Role::ShowsErrors)
}

fn exact_words(words: &[&str]) -> Vec<Word> {
    words.iter().map(|word| Word::exact(word)).collect()
}
