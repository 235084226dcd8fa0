//! Judges a call of curl or wget by its words: may it send something that is not idempotent? A retry would send such a
//! request twice, and order or pay twice.
//!
//! A word may be unknown in part, or it may not be certain that it is an option. Such a word can make a call unsafe to
//! repeat, but never safe, except for a key that is the ID of the run, the same in each attempt. In this module,
//! `items` are the options and operands of one call.

mod items;
pub(crate) mod options;
pub(crate) mod tables;

use std::collections::BTreeSet;

use self::items::{Item, has_certain_option, has_option, options, read_items};
use self::options::{Client, OptionRole};
use self::tables::CURL;
use super::text::{Doubt, Symbol, exact, shown};
use super::word::Word;

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// Facts about the request of a call, as far as its words show them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestFacts {
    /// The option that makes the request not idempotent: a method, or else data.
    pub(crate) sends: Option<String>,
    /// A word that may be or hide such an option.
    pub(crate) may_send: Option<Suspicion>,
    /// The value of an Idempotency-Key header that is the same in each attempt. It makes the call safe to repeat.
    pub(crate) key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// An option that reads options, commands or URLs from elsewhere, or begins another request: `-K`, `--next`.
    Hides(String),
    /// A word that may be any option, alone or with others: `"$@"`, `--$X`, `-s$X`.
    MayBeOption(String),
}

impl Client {
    /// Returns what the words after the client's name show about the request: an option that sends, a word that may be
    /// one, and a fixed Idempotency-Key. A key drops neither of the others: the caller weighs them.
    pub(crate) fn request_facts(&self, words: &[Word]) -> RequestFacts {
        let items = read_items(self, words);
        let hides = options(&items).find(|option| option.role == OptionRole::Hides);
        let doubtful = items.iter().find_map(|item| match item {
            Item::MayBeOption(word) => Some(word.clone()),
            Item::Option(_) | Item::Operand { .. } => None,
        });
        let may_send = match (hides, doubtful) {
            (Some(option), _) => Some(Suspicion::Hides(option.name.clone())),
            (None, word) => word.map(Suspicion::MayBeOption),
        };
        RequestFacts {
            sends: sending_option(&items),
            may_send,
            key: fixed_key(&items),
        }
    }
}

/// Returns the option by which a call sends something that is not idempotent, for messages; None if no option does. Any
/// method counts that is not known to be idempotent, even if a later one replaces it. Without a method, data or a form
/// does, as it makes the request a POST. An upload does unless it goes to HTTP, by its URLs or as a method shows: over
/// other protocols it may append to a file, or send a mail.
fn sending_option(items: &[Item]) -> Option<String> {
    for option in options(items).filter(|option| option.role == OptionRole::Method) {
        // Empty without a value, or if that may be several words: no idempotent method either.
        let method = option.value.as_deref().unwrap_or_default();
        let is_idempotent = exact(method).is_some_and(|method| IDEMPOTENT.contains(&&*method));
        if !is_idempotent {
            let shown = format!("{} {}", option.name, shown(method));
            return Some(shown.trim_end().to_owned());
        }
    }
    // An idempotent method replaces the POST that data implies.
    let has_method = has_certain_option(items, OptionRole::Method);
    // `-G`, by which data becomes a part of the URL; but a `--no-get`, certain or not, may take it back.
    let is_get =
        has_certain_option(items, OptionRole::Get) && !has_option(items, OptionRole::NoGet);
    let sending = options(items).find(|option| match option.role {
        OptionRole::Data => !has_method && !is_get,
        OptionRole::Form => !has_method,
        OptionRole::Upload => match upload_protocol(items) {
            // A PUT, which is idempotent.
            UploadProtocol::Http => false,
            UploadProtocol::Other => true,
            // The user who gives a method or `-G` means HTTP.
            UploadProtocol::Unknown => !has_method && !is_get,
        },
        _ => false,
    });
    sending.map(|option| option.name.clone())
}

/// The protocol of a URL, or of all URLs of an upload. Any other than HTTP heeds neither `-X` nor `-G`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UploadProtocol {
    /// It is certainly HTTP, for all URLs.
    Http,
    /// It is another one for some URL, or probably is.
    Other,
    Unknown,
}

/// Returns the protocol to which an upload goes: HTTP only if there are URLs, and all of them surely have its scheme.
/// Without a scheme, curl guesses the protocol by the name of the host (`ftp.example.com`). `-a` and options for mail
/// show that it may be another one.
fn upload_protocol(items: &[Item]) -> UploadProtocol {
    let mut protocols = Vec::new();
    for item in items {
        match item {
            Item::Operand { text, is_certain } => {
                let protocol = protocol_of_url(text);
                protocols.push(if *is_certain || protocol == UploadProtocol::Other {
                    protocol
                } else {
                    UploadProtocol::Unknown
                });
            }
            Item::Option(option) if option.name == "--url" => {
                protocols.push(protocol_of_url(option.value.as_deref().unwrap_or_default()));
            }
            Item::Option(_) | Item::MayBeOption(_) => {}
        }
    }
    let is_all_http = protocols
        .iter()
        .all(|protocol| *protocol == UploadProtocol::Http);
    let is_other = protocols.contains(&UploadProtocol::Other);
    if is_all_http && !protocols.is_empty() {
        UploadProtocol::Http
    } else if is_other || has_option(items, OptionRole::NotHttp) {
        UploadProtocol::Other
    } else {
        UploadProtocol::Unknown
    }
}

/// Returns the protocol of a URL. Without a scheme it is never certain to be HTTP: `--proto-default` may name another,
/// or an unknown part may hold the scheme.
fn protocol_of_url(url: &[Symbol]) -> UploadProtocol {
    let url = shown(url).to_ascii_lowercase();
    let guessed = ["ftp.", "smtp.", "imap.", "pop3.", "dict.", "ldap."];
    match url.split_once("://") {
        Some(("http" | "https", _)) => UploadProtocol::Http,
        // `$SCHEME://`: `...` stands for an unknown part.
        Some((scheme, _)) if scheme.contains("...") => UploadProtocol::Unknown,
        Some(_) => UploadProtocol::Other,
        None if guessed.iter().any(|host| url.starts_with(host)) => UploadProtocol::Other,
        None => UploadProtocol::Unknown,
    }
}

/// Returns the value of the Idempotency-Key header if it is the same in each attempt: by it, a server knows the second
/// request as the first. Returns None if there is none, if it may not belong to all requests of the call, or if any
/// header is empty; and for several such headers, unless all have the same value: wget sends only the last one, curl
/// sends all, and it is up to the server which of them counts. A header that may be the value of another option counts
/// only against the key.
fn fixed_key(items: &[Item]) -> Option<String> {
    // Such an option (`--next`, `-K`) may begin another request, without the header. Unknown words are trusted not to.
    if has_option(items, OptionRole::Hides) {
        return None;
    }
    let mut keys = BTreeSet::new();
    let mut is_certain = false;
    for option in options(items).filter(|option| option.role == OptionRole::Header) {
        let header = option.value.as_deref().unwrap_or_default();
        if header.is_empty() {
            // An empty header of wget removes the earlier ones. One that is missing or may be several words is unknown.
            return None;
        }
        match key_of_header(header) {
            HeaderKey::None => {}
            HeaderKey::Fixed(key) => {
                is_certain |= option.is_certain;
                keys.insert(key);
            }
            HeaderKey::MayDiffer => return None,
        }
    }
    let key = keys.pop_first()?;
    (is_certain && keys.is_empty()).then_some(key)
}

/// The key in a header.
enum HeaderKey {
    /// Another header, or one whose name is not known.
    None,
    /// Each attempt sends this key: a text, or the ID of the run, shown as `...`.
    Fixed(String),
    /// The key is empty, or has a part that is not known and may differ between attempts.
    MayDiffer,
}

/// Returns the key that a header such as `Idempotency-Key: KEY` sends in each attempt, if it is such a header.
fn key_of_header(header: &[Symbol]) -> HeaderKey {
    // curl sends `name;` as an empty header.
    let ends_name = |symbol: &Symbol| matches!(symbol, Symbol::Known(':' | ';'));
    let Some(end) = header.iter().position(ends_name) else {
        return HeaderKey::None;
    };
    let name = exact(&header[..end]).unwrap_or_default();
    if !name.eq_ignore_ascii_case("Idempotency-Key") {
        return HeaderKey::None;
    }
    let value = &header[end + 1..];
    let has_colon = header[end] == Symbol::Known(':');
    let is_fixed = value.iter().all(|symbol| match symbol {
        // `{{name}}` is a variable of curl.
        Symbol::Known(c) => *c != '{',
        Symbol::Unknown(doubt) => *doubt == Doubt::RunId,
    });
    let shown = shown(value).trim().to_owned();
    if has_colon && is_fixed && !shown.is_empty() {
        HeaderKey::Fixed(shown)
    } else {
        HeaderKey::MayDiffer
    }
}

/// Returns true if the refusal of a request (a closed port, say) proves that no request of this command had an effect.
/// False for a call of curl that may make several requests, or has no URL: with several, the refusal of one proves
/// nothing about the others. A wrong false is harmless: a retry is lost. Returns true for all other programs
/// (`command[0]` is the name without its directory): their presets take a failure for a refusal only where requests
/// before it, if any, had no effect. `command` is the program that the caller's preset is for, with its arguments, and
/// without wrappers such as `sudo`.
pub(crate) fn refusal_covers_all_requests(command: &[&str]) -> bool {
    let ["curl", words @ ..] = command else {
        return true;
    };
    let items = read_items(&CURL, &exact_words(words));
    let mut urls = Vec::new();
    for item in &items {
        // Without a value, `"$URL"` becomes an empty operand, for which curl makes no request.
        if let Item::Operand { text, .. } = item
            && !text.is_empty()
        {
            urls.push(shown(text));
        }
    }
    // They may make further requests (a redirect, `--retry`, `-T '{a,b}'`), or give further URLs.
    let repeats = options(&items).any(|option| {
        matches!(
            option.role,
            OptionRole::Repeats | OptionRole::Hides | OptionRole::Upload
        ) || option.name.starts_with("--retry")
            || option.name == "--url"
    });
    // `{a,b}` and `[1-9]` are several URLs, `@FILE` is a list of them.
    !repeats && urls.len() == 1 && !urls[0].contains(['{', '[', '@'])
}

/// Returns true if a call of curl hides its error messages (`-s` without `-S`), for a remark to the user: the preset
/// finds the HTTP status in them, by which it decides about a retry. `words` are those after the name.
pub(crate) fn hides_errors(words: &[&str]) -> bool {
    let items = read_items(&CURL, &exact_words(words));
    has_option(&items, OptionRole::Silent) && !has_option(&items, OptionRole::ShowsErrors)
}

fn exact_words(words: &[&str]) -> Vec<Word> {
    words.iter().map(|word| Word::exact(word)).collect()
}
