//! A call of curl or wget, read exactly: may it send something that is not idempotent, and does it make only one
//! request? From the manuals of curl 8 and GNU Wget 1. Abbreviated long options (`--dat`) are not recognized.

use super::program::{lists, variable_name};

/// Methods that send, in a text that is only scanned. In a call that is read exactly, any unknown method does.
pub(super) const SENDING_METHODS: [&str; 2] = ["POST", "PATCH"];

/// Idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// curl's long options with a value that do not change the request.
const VALUES_OF_CURL: &str = "abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers connect-timeout \
    connect-to continue-at cookie cookie-jar create-file-mode crlfile curves delegation dns-interface dns-ipv4-addr \
    dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save expect100-timeout \
    ftp-account ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms \
    haproxy-clientip hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway keepalive-cnt keepalive-time key \
    key-type krb libcurl limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs \
    max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max pass pinnedpubkey preproxy proto \
    proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile \
    proxy-header proxy-key proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers \
    proxy-tlsauthtype proxy-tlspassword proxy-tlsuser proxy-user proxy1.0 pubkey random-file range rate referer \
    request-target resolve retry retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5 \
    socks5-gssapi-service socks5-hostname speed-limit speed-time stderr telnet-option tftp-blksize time-cond tls-max \
    tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket upload-flags url-query \
    user user-agent variable vlan-priority write-out";

/// wget's long options with a value that do not change the request.
const VALUES_OF_WGET: &str = "accept accept-regex append-output base bind-address bind-dns-address ca-certificate \
    ca-directory certificate certificate-type ciphers compression connect-timeout crl-file cut-dirs default-page \
    directory-prefix dns-servers dns-timeout domains dot-style egd-file exclude-directories exclude-domains \
    follow-tags ftp-password ftp-user hsts-file http-passwd http-password http-user ignore-tags include-directories \
    level limit-rate load-cookies local-encoding max-redirect output-document output-file password pinnedpubkey \
    prefer-family preferred-location private-key private-key-type progress proxy-password proxy-user quota \
    random-file read-timeout referer regex-type reject reject-regex rejected-log remote-encoding report-speed \
    restrict-file-names retry-on-http-error save-cookies secure-protocol start-pos timeout tries use-askpass user \
    user-agent wait waitretry warc-dedup warc-file warc-header warc-max-size warc-tempdir";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Curl,
    Wget,
}

/// What an option means for the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Method,
    /// Makes the request a POST or, with `-G`, is part of the URL.
    Data,
    Form,
    Upload,
    Get,
    Header,
    /// Reads options, commands or URLs from elsewhere, or begins another request.
    Hides,
    /// May lead to further requests.
    Repeats,
    Url,
    Silent,
    ShowsErrors,
    Plain,
}

/// An option of a call, or a URL, as given: `-d` with its value.
struct Given<'w> {
    name: String,
    role: Role,
    value: Option<&'w str>,
}

/// The words of a call after its name.
pub(super) struct Call<'w> {
    given: Vec<Given<'w>>,
}

impl Client {
    /// Returns the client with this file name: `curl` or `curl.exe`.
    pub(super) fn named(name: &str) -> Option<Client> {
        match name {
            "curl" | "curl.exe" => Some(Client::Curl),
            "wget" | "wget.exe" => Some(Client::Wget),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Client::Curl => "curl",
            Client::Wget => "wget",
        }
    }

    /// Returns the role of a long option, given without its dashes.
    fn long_role(self, name: &str) -> Role {
        match (self, name) {
            (Client::Curl, "request") | (Client::Wget, "method") => Role::Method,
            (Client::Curl, "json") => Role::Data,
            (Client::Curl, _) if name.starts_with("data") => Role::Data,
            (Client::Wget, _) if name.starts_with("post-") || name.starts_with("body-") => {
                Role::Data
            }
            (Client::Curl, "form" | "form-string") => Role::Form,
            (Client::Curl, "upload-file") => Role::Upload,
            (Client::Curl, "get") => Role::Get,
            (_, "header") => Role::Header,
            (Client::Curl, "config" | "quote" | "prequote" | "postquote" | "next")
            | (Client::Wget, "config" | "execute" | "input-file") => Role::Hides,
            (Client::Curl, "location" | "location-trusted" | "follow") => Role::Repeats,
            (Client::Curl, _) if name.starts_with("retry") => Role::Repeats,
            (Client::Curl, "url") => Role::Url,
            (Client::Curl, "silent") => Role::Silent,
            (Client::Curl, "show-error") => Role::ShowsErrors,
            _ => Role::Plain,
        }
    }

    fn letter_role(self, letter: char) -> Role {
        match (self, letter) {
            (Client::Curl, 'X') => Role::Method,
            (Client::Curl, 'd') => Role::Data,
            (Client::Curl, 'F') => Role::Form,
            (Client::Curl, 'T') => Role::Upload,
            (Client::Curl, 'G') => Role::Get,
            (Client::Curl, 'H') => Role::Header,
            (Client::Curl, 'K' | 'Q' | ':') | (Client::Wget, 'e' | 'i') => Role::Hides,
            (Client::Curl, 'L') => Role::Repeats,
            (Client::Curl, 's') => Role::Silent,
            (Client::Curl, 'S') => Role::ShowsErrors,
            _ => Role::Plain,
        }
    }

    fn takes_value(self, name: &str) -> bool {
        let plain = match self {
            Client::Curl => VALUES_OF_CURL,
            Client::Wget => VALUES_OF_WGET,
        };
        match self.long_role(name) {
            Role::Get | Role::Silent | Role::ShowsErrors => false,
            Role::Hides => name != "next",
            Role::Repeats | Role::Plain => lists(plain, name),
            _ => true,
        }
    }

    /// Returns true if a letter takes the rest of its word, or the next word, as its value. The letter after wget's
    /// `-n` belongs to it: `-nv`.
    fn letter_takes_value(self, letter: char) -> bool {
        let letters = match self {
            Client::Curl => "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
            Client::Wget => "aABDeiIlnoOPQRtTUwX",
        };
        letters.contains(letter)
    }
}

impl Given<'_> {
    /// Returns true if the option may bring in another that sends. A wget command (`-e robots=off`) may if it sets
    /// data, a method or a list of URLs.
    fn may_hide_data(&self) -> bool {
        if self.role != Role::Hides || !["-e", "--execute"].contains(&&*self.name) {
            return self.role == Role::Hides;
        }
        let command = self.value.unwrap_or_default().to_ascii_lowercase();
        ["post", "body", "method", "input"]
            .iter()
            .any(|part| command.contains(part))
    }
}

impl<'w> Call<'w> {
    /// Reads the words after the client's name.
    pub(super) fn read(client: Client, words: &'w [&'w str]) -> Call<'w> {
        let mut call = Call { given: Vec::new() };
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                // `--expand-data` is `--data` with variables. Old versions of curl ignore case.
                let key = name.to_ascii_lowercase().replacen("expand-", "", 1);
                let value = match value {
                    None if client.takes_value(&key) => rest.next(),
                    value => value,
                };
                call.add(format!("--{name}"), client.long_role(&key), value);
            } else if word.len() > 1 && word.starts_with('-') {
                call.read_letters(client, word, &mut rest);
            } else {
                call.add(String::new(), Role::Url, Some(word));
            }
        }
        call
    }

    /// Reads a group of letters, the last of which may have a value: `-fsSd x`.
    fn read_letters(
        &mut self,
        client: Client,
        word: &'w str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) {
        for (index, letter) in word.char_indices().skip(1) {
            let takes_value = client.letter_takes_value(letter);
            let behind = &word[index + letter.len_utf8()..];
            let value = if !takes_value {
                None
            } else if behind.is_empty() {
                rest.next()
            } else {
                Some(behind)
            };
            self.add(format!("-{letter}"), client.letter_role(letter), value);
            if takes_value {
                return;
            }
        }
    }

    fn add(&mut self, name: String, role: Role, value: Option<&'w str>) {
        self.given.push(Given { name, role, value });
    }

    fn find(&self, role: Role) -> Option<&Given<'w>> {
        self.given.iter().find(|given| given.role == role)
    }

    fn has(&self, role: Role) -> bool {
        self.find(role).is_some()
    }

    /// Returns the option that sends something that is not idempotent, or that may hide such an option, for messages.
    /// None if the call may be repeated. A method counts unless it is known to be idempotent. An idempotent method
    /// replaces the POST that data implies. An upload to HTTP is a PUT, but others may append to a file or send mail.
    /// `knows_run_id` is true if the call gets backoff's variables.
    pub(super) fn sends(&self, knows_run_id: bool) -> Option<String> {
        if let Some(hides) = self.given.iter().find(|given| given.may_hide_data()) {
            return Some(hides.name.clone());
        }
        if self.has_fixed_key(knows_run_id) {
            return None;
        }
        let mut methods = self
            .given
            .iter()
            .filter(|given| given.role == Role::Method)
            .peekable();
        let has_method = methods.peek().is_some();
        for method in methods {
            let value = method.value.unwrap_or_default();
            if !IDEMPOTENT.contains(&value) {
                return Some(format!("{} {value}", method.name).trim_end().to_owned());
            }
        }
        let is_get = has_method || self.has(Role::Get);
        let sending = self.given.iter().find(|given| match given.role {
            Role::Data => !is_get,
            Role::Form => !has_method,
            Role::Upload => !is_get && !self.goes_to_http(),
            _ => false,
        });
        sending.map(|given| given.name.clone())
    }

    /// Returns true if there are URLs, and all are HTTP or HTTPS.
    fn goes_to_http(&self) -> bool {
        let is_http = |url: &&str| url.starts_with("http://") || url.starts_with("https://");
        let urls = self.urls();
        !urls.is_empty() && urls.iter().all(is_http)
    }

    fn urls(&self) -> Vec<&'w str> {
        let urls = self.given.iter().filter(|given| given.role == Role::Url);
        urls.filter_map(|given| given.value)
            .filter(|url| !url.is_empty())
            .collect()
    }

    /// Returns true if the call has one Idempotency-Key header, whose value is the same in each attempt. With it, a
    /// server recognizes the second request as the first.
    fn has_fixed_key(&self, knows_run_id: bool) -> bool {
        let mut keys = Vec::new();
        for header in self.given.iter().filter(|given| given.role == Role::Header) {
            let text = header.value.unwrap_or_default();
            if let Some((name, value)) = text.split_once(':')
                && name.eq_ignore_ascii_case("Idempotency-Key")
            {
                keys.push(value.trim());
            }
        }
        let [key] = keys[..] else {
            return false;
        };
        // Of the variables in a script, only backoff's own are known.
        let mut variables = key.split('$').skip(1);
        let is_known = |part: &str| {
            knows_run_id && lists("BACKOFF_ROOT_ID BACKOFF_RUN_ID", variable_name(part))
        };
        let has_other = key.contains('`') || key.starts_with('{');
        !key.is_empty() && !has_other && variables.all(is_known)
    }

    /// Returns true if the call makes only one request. A redirect, `--retry`, several URLs or a pattern (`{a,b}`,
    /// `[1-9]`, `@FILE`) may make more.
    fn makes_one_request(&self) -> bool {
        let may_repeat = [Role::Repeats, Role::Hides, Role::Upload];
        let urls = self.urls();
        let has_option = self.given.iter().any(|given| {
            may_repeat.contains(&given.role) || given.role == Role::Url && given.name == "--url"
        });
        !has_option && urls.len() == 1 && !urls[0].contains(['{', '[', '@'])
    }
}

/// Returns true if a refused request (by a closed port, for example) proves that no request of this command had an
/// effect. Presets of programs other than curl know that themselves. `command[0]` is the name without its directory.
pub(crate) fn makes_one_request(command: &[&str]) -> bool {
    match command {
        ["curl", words @ ..] => Call::read(Client::Curl, words).makes_one_request(),
        _ => true,
    }
}

/// Returns true for `curl -s` without `-S`, which prints no error message. The preset needs the HTTP status in that
/// message to decide about a retry.
pub(crate) fn hides_errors(command: &[&str]) -> bool {
    match command {
        ["curl", words @ ..] => {
            let call = Call::read(Client::Curl, words);
            call.has(Role::Silent) && !call.has(Role::ShowsErrors)
        }
        _ => false,
    }
}

/// Returns the first word that may be an option with which something seems to be sent: `-d`, `-fsSd`, `-XPOST`,
/// `--data-binary`, `POST`. Only the part that decides, because a value may be a secret. Letters are curl's, because
/// wget's send nothing. Options that read others from a file only count after a client.
pub(super) fn looks_like_sending(words: &[String], client: Option<Client>) -> Option<String> {
    const LONG: &str =
        "data json form form-string upload-file post-data post-file body-data body-file";
    words.iter().find_map(|word| {
        if let Some(long) = word.strip_prefix("--") {
            let hides = client.is_some() && lists("config input-file", long);
            let sends = lists(LONG, long) || long.starts_with("data-");
            return (hides || sends).then(|| word.clone());
        }
        if let Some(letters) = word.strip_prefix('-')
            && client != Some(Client::Wget)
        {
            let end = end_of_sending_letters(letters)?;
            return Some(format!("-{}", &letters[..end]));
        }
        SENDING_METHODS.contains(&&**word).then(|| word.clone())
    })
}

/// Returns where a group of curl's letters sends something, before the first letter that takes another value.
fn end_of_sending_letters(letters: &str) -> Option<usize> {
    for (index, letter) in letters.char_indices() {
        if "dFTK".contains(letter) {
            return Some(index + 1);
        }
        if letter == 'X' {
            let method = letters[index + 1..].to_ascii_uppercase();
            return SENDING_METHODS.contains(&&*method).then_some(letters.len());
        }
        let is_option = letter.is_ascii_alphanumeric() || letter == '#';
        if !is_option || Client::Curl.letter_takes_value(letter) {
            return None;
        }
    }
    None
}
