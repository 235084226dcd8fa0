use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use regex::bytes::{Regex, RegexBuilder};

use crate::config::presets::{self, Preset, Row, RowVerdict};

fn find(name: &str) -> Option<Preset> {
    presets::index(name).map(|index| presets::parsed(presets::FILES[index]))
}

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/presets")
}

/// Name and text of each data file.
fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "preset") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read_to_string(path).unwrap());
        }
    }
    files
}

fn values_of<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines()
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
        .collect()
}

fn is_row(line: &str) -> bool {
    ["retry\t", "refused\t", "stop\t"]
        .iter()
        .any(|verdict| line.starts_with(verdict))
}

fn rows_in(text: &str) -> usize {
    text.lines()
        .filter(|line| is_row(line))
        .count()
}

/// Compiled once: there are many, and debug builds are slow at it.
fn regex(text: &'static str) -> Regex {
    static COMPILED: Mutex<BTreeMap<&str, Regex>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap();
    let compile = || RegexBuilder::new(text).case_insensitive(true).build().unwrap();
    compiled.entry(text).or_insert_with(compile).clone()
}

// --- the files ---

#[test]
fn every_file_is_a_preset() {
    let on_disk: Vec<String> = files().into_keys().collect();
    let embedded: Vec<&str> = presets::all().map(|preset| preset.name).collect();
    assert_eq!(embedded, on_disk);
    for preset in presets::all() {
        assert_eq!(find(preset.name), Some(preset));
    }
}

#[test]
fn no_line_is_skipped() {
    let files = files();
    for (name, text) in &files {
        for line in text.lines() {
            let header = ["program: ", "about: ", "include: "]
                .iter()
                .any(|key| line.starts_with(key));
            assert!(header || is_row(line) || line.starts_with("# "), "{name}: {line:?}");
            assert_eq!(line, line.trim_end(), "{name}: space at the end");
        }
        assert_eq!(values_of(text, "about").len(), 1, "{name}: one line about it");
        // Includes are one deep, so this sum is right.
        let included: usize = values_of(text, "include")
            .iter()
            .map(|name| rows_in(&files[*name]))
            .sum();
        let preset = find(name).unwrap();
        assert_eq!(
            preset.rows.len(),
            rows_in(text) + included,
            "{name}: a row cannot be read"
        );
        assert_eq!(preset.programs, values_of(text, "program"), "{name}");
        assert_eq!(preset.about, values_of(text, "about")[0]);
    }
}

#[test]
fn includes_are_there_and_one_deep() {
    let files = files();
    for (name, text) in &files {
        for included in values_of(text, "include") {
            let inner = files
                .get(included)
                .unwrap_or_else(|| panic!("{name} includes {included}"));
            assert!(values_of(inner, "include").is_empty(), "{name} includes {included}");
            assert_ne!(included, name);
        }
    }
}

#[test]
fn the_own_rows_come_first() {
    let rows = find("terraform").unwrap().rows;
    let network = find("network").unwrap().rows;
    assert!(rows.ends_with(&network));
    assert!(rows.len() > network.len());
}

#[test]
fn every_row_says_what_it_goes_by_and_compiles() {
    for preset in presets::all() {
        assert!(
            !preset.about.is_empty() && !preset.about.contains('\t'),
            "{}",
            preset.name
        );
        assert!(
            preset.rows.iter().any(|row| row.verdict != RowVerdict::Stop),
            "{}",
            preset.name
        );
        for row in &preset.rows {
            assert!(row.source.len() >= 4, "{}: {row:?}", preset.name);
            assert!(row.codes.is_some() || row.text.is_some(), "{}: {row:?}", preset.name);
            let Some(text) = row.text else { continue };
            let regex = regex(text);
            assert!(!regex.is_match(b""), "{}: {text} matches nothing at all", preset.name);
            assert!(
                !regex.is_match(b"some line"),
                "{}: {text} matches anything",
                preset.name
            );
            for flag in ["(?i", "(?-i", "(?s", "(?m", "(?x", "(?u", "(?-u"] {
                assert!(!text.contains(flag), "{}: {text} sets flags", preset.name);
            }
        }
        // Exit code 0 is a success; a row that asks for it would never be looked at.
        assert!(
            !preset
                .rows
                .iter()
                .any(|row| row.codes.is_some_and(|codes| codes.contains(0)))
        );
    }
}

#[test]
fn a_program_has_one_preset() {
    let mut seen = BTreeSet::new();
    for preset in presets::all() {
        for program in &preset.programs {
            assert!(seen.insert(*program), "{program} is in two presets");
            assert_eq!(presets::for_program(program).map(|found| found.name), Some(preset.name));
            assert_eq!(find(program).map(|found| found.name), Some(preset.name));
        }
        assert!(
            preset.name == "network" || preset.name == "sysexits" || preset.programs.contains(&preset.name),
            "{}",
            preset.name
        );
    }
    for unknown in ["", "true", "sh", "CURL", "curl ", "network.preset", "about"] {
        assert_eq!(find(unknown), None, "{unknown:?}");
        assert_eq!(presets::for_program(unknown), None, "{unknown:?}");
    }
    assert_eq!(presets::for_program("network"), None);
}

#[test]
fn the_presets_that_were_promised() {
    for name in
        "curl wget ssh scp sftp rsync git apt-get apt apk dnf yum pip npm cargo go docker kubectl helm terraform \
                 aws gcloud gsutil az gh psql pg_dump pg_restore pg_isready mysql mariadb redis-cli sqlite3 mongosh \
                 mongodump rclone restic borg ansible-playbook ffmpeg flock sendmail sysexits network"
            .split_whitespace()
    {
        assert!(find(name).is_some(), "{name}");
    }
}

// --- a judge as simple as can be ---

fn says(row: &Row, code: u8, output: &str) -> bool {
    row.codes.is_none_or(|codes| codes.contains(code))
        && row
            .text
            .is_none_or(|text| output.split('\n').any(|line| regex(text).is_match(line.as_bytes())))
}

fn is_transient(preset: &Preset, code: u8, output: &str) -> bool {
    !any(preset, RowVerdict::Stop, code, output)
        && (any(preset, RowVerdict::Retry, code, output) || any(preset, RowVerdict::Refused, code, output))
}

fn is_refused(preset: &Preset, code: u8, output: &str) -> bool {
    is_transient(preset, code, output) && any(preset, RowVerdict::Refused, code, output)
}

fn any(preset: &Preset, verdict: RowVerdict, code: u8, output: &str) -> bool {
    preset
        .rows
        .iter()
        .any(|row| row.verdict == verdict && says(row, code, output))
}

/// Tool, exit code, what it printed.
type Sample = (&'static str, u8, &'static str);

#[track_caller]
fn judge(samples: &[Sample], expected: bool) {
    let wrong: Vec<_> = samples
        .iter()
        .filter(|(tool, code, output)| is_transient(&find(tool).unwrap(), *code, output) != expected)
        .collect();
    assert!(wrong.is_empty(), "not transient = {expected}: {wrong:#?}");
}

#[test]
fn every_preset_has_a_sample_of_each_kind() {
    for preset in presets::all() {
        for samples in [TRANSIENT, PERMANENT] {
            assert!(
                samples
                    .iter()
                    .any(|(tool, ..)| find(tool).is_some_and(|found| found.name == preset.name)),
                "no sample for {}",
                preset.name
            );
        }
    }
}

#[test]
fn real_transient_messages() {
    judge(TRANSIENT, true);
}

#[test]
fn real_permanent_messages() {
    judge(PERMANENT, false);
}

#[test]
fn what_a_log_says_in_passing_is_not_transient() {
    for preset in presets::all() {
        let output = INNOCENT.join("\n");
        for code in [1, 2, 3, 8, 22, 100, 101, 125, 128, 255] {
            let by_code = is_transient(&preset, code, "");
            assert_eq!(is_transient(&preset, code, &output), by_code, "{} {code}", preset.name);
        }
        for line in INNOCENT {
            for row in &preset.rows {
                assert!(
                    !row.text.is_some_and(|text| regex(text).is_match(line.as_bytes())),
                    "{}: {line:?} matches {:?}",
                    preset.name,
                    row.text
                );
            }
        }
    }
}

#[test]
fn a_text_alone_does_not_do_where_codes_are_given() {
    let refused = "ssh: connect to host 127.0.0.1 port 22: Connection refused";
    judge(
        &[("ssh", 255, refused), ("scp", 1, refused), ("rsync", 255, refused)],
        true,
    );
    judge(
        &[
            ("ssh", 1, refused),
            ("ssh", 7, refused),
            ("rsync", 23, refused),
            ("scp", 2, refused),
        ],
        false,
    );
    judge(&[("curl", 7, "")], true);
    judge(
        &[("curl", 22, ""), ("wget", 8, ""), ("ssh", 255, ""), ("git", 128, "")],
        false,
    );
}

#[test]
fn a_stop_row_wins_also_over_included_rows() {
    let refused = "dial tcp 127.0.0.1:1: connect: connection refused";
    judge(&[("terraform", 1, refused)], true);
    judge(
        &[
            ("terraform", 2, refused),
            (
                "terraform",
                1,
                &*format!("{refused}\nError: Unsupported argument").leak(),
            ),
            ("restic", 12, refused),
        ],
        false,
    );
}

#[test]
fn lines_may_end_in_carriage_returns_and_in_any_case() {
    judge(
        &[
            (
                "ssh",
                255,
                "ssh: connect to host 127.0.0.1 port 1: Connection refused\r",
            ),
            (
                "apk",
                1,
                "ERROR: https://mirror/main: temporary error (try again later)\r",
            ),
            ("npm", 1, "npm error code ECONNRESET\r"),
            ("curl", 22, "CURL: (22) THE REQUESTED URL RETURNED ERROR: 503"),
            ("network", 1, "tool: connect: Connection refused\r"),
        ],
        true,
    );
}

/// Seen by running the tool, or as its source words it.
#[rustfmt::skip]
const TRANSIENT: &[Sample] = &[
    ("curl", 5, "curl: (5) Could not resolve proxy: proxy.example"),
    ("curl", 6, "curl: (6) Could not resolve host: nosuch.invalid"),
    ("curl", 7, "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server"),
    ("curl", 18, "curl: (18) transfer closed with 996 bytes remaining to read"),
    ("curl", 22, "curl: (22) The requested URL returned error: 503"),
    ("curl", 22, "curl: (22) The requested URL returned error: 429"),
    ("curl", 28, "curl: (28) Operation timed out after 1001 milliseconds with 0 bytes received"),
    ("curl", 35, "curl: (35) OpenSSL SSL_connect: Connection reset by peer in connection to example.org:443 "),
    ("curl", 52, "curl: (52) Empty reply from server"),
    ("curl", 56, "curl: (56) Recv failure: Connection reset by peer"),
    ("curl", 92, "curl: (92) HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)"),
    ("wget", 4, "failed: Connection refused."),
    ("wget", 4, "wget: unable to resolve host address ‘nosuch.invalid’"),
    ("wget", 8, "http://127.0.0.1:9101/:\n2026-11-20 17:41:35 ERROR 503: Service Unavailable."),
    ("wget", 8, "2026-11-20 17:41:44 ERROR 429: Too Many Requests."),
    ("wget", 1, "wget: server returned error: HTTP/1.1 503 Service Unavailable"),
    ("wget", 1, "wget: can't connect to remote host (127.0.0.1): Connection refused"),
    ("wget", 1, "wget: bad address 'example.org'"),
    ("ssh", 255, "ssh: Could not resolve hostname nosuch.invalid: Name or service not known"),
    ("ssh", 255, "kex_exchange_identification: Connection closed by remote host\nConnection closed by 127.0.0.1 port 9105"),
    ("ssh", 255, "kex_exchange_identification: read: Connection reset by peer\nConnection reset by 127.0.0.1 port 9106"),
    ("ssh", 255, "Connection timed out during banner exchange\nConnection to 127.0.0.1 port 9101 timed out"),
    ("ssh", 255, "client_loop: send disconnect: Broken pipe"),
    ("ssh", 255, "Connection to example.org closed by remote host."),
    ("ssh", 255, "Timeout, server example.org not responding."),
    ("scp", 255, "ssh: connect to host 127.0.0.1 port 1: Connection refused\nscp: Connection closed"),
    ("scp", 1, "ssh: connect to host 127.0.0.1 port 1: Connection refused\nlost connection"),
    ("sftp", 255, "ssh: connect to host 127.0.0.1 port 1: Connection refused\nConnection closed\nConnection closed.  "),
    ("rsync", 10, "rsync: [Receiver] failed to connect to 127.0.0.1 (127.0.0.1): Connection refused (111)\nrsync error: error in socket IO (code 10) at clientserver.c(165) [Receiver=3.5.0]"),
    ("rsync", 12, "rsync: [Receiver] safe_read failed to read 1 bytes: Connection reset by peer (104)\nrsync error: error in rsync protocol data stream (code 12) at io.c(340) [Receiver=3.5.0]"),
    ("rsync", 30, "[Receiver] io timeout after 1 seconds -- exiting\nrsync error: timeout in data send/receive (code 30) at io.c(248) [Receiver=3.5.0]"),
    ("rsync", 255, "ssh: connect to host 127.0.0.1 port 1: Connection refused\nrsync: connection unexpectedly closed (0 bytes received so far) [Receiver]\nrsync error: unexplained error (code 255) at io.c(285) [Receiver=3.5.0]"),
    ("rsync", 5, "rsync: did not see server greeting\nrsync error: error starting client-server protocol (code 5) at main.c(1954) [Receiver=3.5.0]"),
    ("rsync", 5, "@ERROR: max connections (4) reached -- try again later"),
    ("git", 128, "fatal: unable to access 'http://127.0.0.1:1/a.git/': Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server"),
    ("git", 128, "fatal: unable to access 'https://nosuch.invalid/a.git/': Could not resolve host: nosuch.invalid"),
    ("git", 128, "fatal: unable to access 'http://127.0.0.1:9101/a.git/': The requested URL returned error: 503"),
    ("git", 128, "fatal: unable to access 'http://127.0.0.1:9106/a.git/': Recv failure: Connection reset by peer"),
    ("git", 128, "fatal: unable to access 'http://127.0.0.1:9105/a.git/': Empty reply from server"),
    ("git", 1, "fatal: unable to access 'https://example.org/a.git/': GnuTLS recv error (-110): The TLS connection was non-properly terminated."),
    ("git", 128, "fatal: unable to connect to 127.0.0.1:\n127.0.0.1[0: 127.0.0.1]: errno=Connection refused\n"),
    ("git", 128, "ssh: connect to host 127.0.0.1 port 1: Connection refused\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists."),
    ("git", 128, "error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)\nfetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output"),
    ("git", 128, "error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502\nfatal: the remote end hung up unexpectedly"),
    ("git", 128, "fatal: Unable to create '/srv/a/.git/index.lock': File exists."),
    ("git", 1, " ! [remote rejected] main -> main (failed to lock)"),
    ("apt-get", 100, "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 27094 (python3)\nE: Unable to lock directory /var/lib/apt/lists/"),
    ("apt-get", 100, "E: Could not get lock /var/lib/dpkg/lock-frontend - open (11: Resource temporarily unavailable)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?"),
    ("apt", 100, "E: Failed to fetch http://127.0.0.1:1/debian/dists/x/InRelease  Could not connect to 127.0.0.1:1 (127.0.0.1). - connect (111: Connection refused)\nE: Some index files failed to download. They have been ignored, or old ones used instead."),
    ("apt", 100, "E: Failed to fetch http://127.0.0.1:9101/debian/dists/x/InRelease  503  Service Unavailable [IP: 127.0.0.1 9101]"),
    ("apt", 100, "E: Failed to fetch http://127.0.0.1:9106/debian/dists/x/InRelease  Connection failed [IP: 127.0.0.1 9106]"),
    ("apt", 100, "E: Failed to fetch http://127.0.0.1:9107/debian/dists/x/InRelease  Error reading from server. Remote end closed connection [IP: 127.0.0.1 9107]"),
    ("apt", 100, "E: Failed to fetch http://deb.example/pool/a.deb  Temporary failure resolving 'deb.example'"),
    ("apt", 100, "E: Failed to fetch http://deb.example/dists/x/main/binary-amd64/Packages.gz  Hash Sum mismatch"),
    ("dpkg", 2, "dpkg: error: dpkg frontend lock was locked by another process with pid 4711"),
    ("apk", 2, "WARNING: updating and opening https://dl-cdn.alpinelinux.org/alpine/v3.21/main: temporary error (try again later)\n4 unavailable, 0 stale; 15 distinct packages available"),
    ("apk", 1, "ERROR: http://dl-cdn.alpinelinux.org/alpine/v3.12/main: temporary error (try again later)\nERROR: unsatisfiable constraints:\n  git (missing):\n    required by: world[git]"),
    ("apk", 99, "ERROR: Unable to lock database: temporary error (try again later)"),
    ("dnf", 1, "Errors during downloading metadata for repository 'base':\n  - Curl error (6): Couldn't resolve host name for https://mirror.example/repodata/repomd.xml [Could not resolve host: mirror.example]\nError: Failed to download metadata for repo 'base': Cannot download repomd.xml: All mirrors were tried"),
    ("dnf", 1, "  - Status code: 503 for https://mirror.example/repodata/repomd.xml (IP: 192.0.2.1)"),
    ("yum", 1, "http://mirror.example/repodata/repomd.xml: [Errno 14] curl#7 - \"Failed to connect to mirror.example\""),
    ("pip", 1, "Looking in indexes: http://127.0.0.1:1/simple\nWARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7f4311adfd90>: Failed to establish a new connection: [Errno 111] Connection refused')': /simple/nosuchpackage/\nERROR: Could not find a version that satisfies the requirement nosuchpackage (from versions: none)\nERROR: No matching distribution found for nosuchpackage"),
    ("pip", 2, "pip._vendor.requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=1): Max retries exceeded with url: /a-1.0-py3-none-any.whl (Caused by NewConnectionError('x: Failed to establish a new connection: [Errno 111] Connection refused'))"),
    ("pip3", 2, "pip._vendor.requests.exceptions.RetryError: HTTPConnectionPool(host='127.0.0.1', port=9101): Max retries exceeded with url: /a-1.0-py3-none-any.whl (Caused by ResponseError('too many 503 error responses'))"),
    ("pip", 1, "Collecting a==1.0\n  ERROR: HTTP error 429 while getting http://127.0.0.1:9103/a-1.0-py3-none-any.whl"),
    ("pip", 2, "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='files.pythonhosted.org', port=443): Read timed out."),
    ("npm", 1, "npm error code ECONNREFUSED\nnpm error syscall connect\nnpm error errno ECONNREFUSED"),
    ("npm", 1, "npm ERR! code ECONNRESET\nnpm ERR! network aborted"),
    ("npm", 1, "npm error code FETCH_ERROR\nnpm error errno FETCH_ERROR\nnpm error network timeout at: http://127.0.0.1:9120/left-pad"),
    ("npm", 1, "npm error code E503\nnpm error 503 Service Unavailable - GET http://127.0.0.1:9101/left-pad"),
    ("npm", 1, "npm error code E429\nnpm error 429 Too Many Requests - GET http://127.0.0.1:9103/left-pad"),
    ("npm", 1, "npm ERR! code EAI_AGAIN"),
    ("cargo", 101, "Caused by:\n  [7] Could not connect to server (Failed to connect to 127.0.0.1 port 1 after 0 ms: Could not connect to server)"),
    ("cargo", 101, "Caused by:\n  failed to get successful HTTP response from `http://127.0.0.1:9101/config.json` (127.0.0.1), got 503\n  body:\n  body"),
    ("cargo", 101, "Caused by:\n  failed to connect to 127.0.0.1: Connection refused; class=Os (2)"),
    ("cargo", 101, "Caused by:\n  failed to resolve address for nosuch.invalid: Name or service not known; class=Net (12)"),
    ("go", 1, "go: github.com/spf13/cobra@v1.8.0: Get \"https://proxy.golang.org/github.com/spf13/cobra/@v/v1.8.0.mod\": dial tcp: lookup proxy.golang.org on 127.0.0.1:53: read udp 127.0.0.1:33333->127.0.0.1:53: i/o timeout"),
    ("go", 1, "go: github.com/spf13/cobra@v1.8.0: reading https://proxy.golang.org/github.com/spf13/cobra/@v/v1.8.0.zip: 502 Bad Gateway"),
    ("go", 1, "main.go:4:2: github.com/spf13/cobra@v1.8.0: Get \"http://127.0.0.1:1/x.zip\": dial tcp 127.0.0.1:1: connect: connection refused"),
    ("docker", 1, "Using default tag: latest\nError response from daemon: Get \"https://registry-1.docker.io/v2/\": net/http: TLS handshake timeout"),
    ("docker", 125, "Unable to find image 'a:latest' locally\ndocker: Error response from daemon: Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host."),
    ("docker", 1, "Error response from daemon: toomanyrequests: You have reached your pull rate limit."),
    ("docker", 1, "error pulling image configuration: download failed after attempts=6: dial tcp 192.0.2.1:443: i/o timeout"),
    ("docker", 1, "Cannot connect to the Docker daemon at tcp://127.0.0.1:1. Is the docker daemon running?"),
    ("docker", 1, "received unexpected HTTP status: 503 Service Unavailable\nError response from daemon: received unexpected HTTP status: 503 Service Unavailable"),
    ("docker", 1, "ERROR: failed to solve: alpine: failed to do request: Head \"https://registry-1.docker.io/v2/library/alpine/manifests/latest\": dial tcp 192.0.2.1:443: connect: connection refused"),
    ("kubectl", 1, "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?"),
    ("kubectl", 1, "Error from server (ServiceUnavailable): the server is currently unable to handle the request"),
    ("kubectl", 1, "Error from server (TooManyRequests): the server has received too many requests and has asked us to try again later"),
    ("kubectl", 1, "Unable to connect to the server: net/http: TLS handshake timeout"),
    ("kubectl", 1, "Unable to connect to the server: dial tcp 192.0.2.1:6443: i/o timeout"),
    ("kubectl", 1, "Error from server: etcdserver: request timed out"),
    ("helm", 1, "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress"),
    ("helm", 1, "Error: Kubernetes cluster unreachable: Get \"http://127.0.0.1:1/version\": dial tcp 127.0.0.1:1: connect: connection refused"),
    ("terraform", 1, "│ Error: Error acquiring the state lock\n│ \n│ Error message: ConditionalCheckFailedException: The conditional request failed"),
    ("terraform", 1, "Could not retrieve the list of available versions for provider\n127.0.0.1:1/x/a: could not connect to 127.0.0.1:1: failed to request\ndiscovery document: Get \"https://127.0.0.1:1/.well-known/terraform.json\":\ndial tcp 127.0.0.1:1: connect: connection refused"),
    ("terraform", 1, "│ Error: creating EC2 Instance: operation error EC2: RunInstances, https response error StatusCode: 503, RequestID: a, api error RequestLimitExceeded: Request limit exceeded."),
    ("aws", 255, "\nCould not connect to the endpoint URL: \"http://127.0.0.1:1/\""),
    ("aws", 255, "\nAn error occurred (503) when calling the ListBuckets operation (reached max retries: 0): Service Unavailable"),
    ("aws", 254, "\nAn error occurred (ThrottlingException) when calling the DescribeStacks operation (reached max retries: 4): Rate exceeded"),
    ("aws", 1, "upload failed: ./a to s3://b/a An error occurred (SlowDown) when calling the PutObject operation (reached max retries: 4): Please reduce your request rate."),
    ("gcloud", 1, "ERROR: (gcloud.container.clusters.get-credentials) ResponseError: code=503, message=The service is currently unavailable."),
    ("gsutil", 1, "ServiceException: 503 Backend Error"),
    ("gcloud", 1, "ERROR: (gcloud.run.deploy) RESOURCE_EXHAUSTED: Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute'"),
    ("az", 1, "ERROR: (TooManyRequests) The request is being throttled."),
    ("az", 1, "ERROR: HTTPSConnectionPool(host='management.azure.com', port=443): Max retries exceeded with url: /x (Caused by NewConnectionError('x: Failed to establish a new connection: [Errno 111] Connection refused'))"),
    ("gh", 1, "HTTP 502: Bad Gateway (https://api.github.com/graphql)"),
    ("gh", 1, "gh: Server Error (HTTP 503)"),
    ("gh", 1, "HTTP 403: You have exceeded a secondary rate limit. (https://api.github.com/search)"),
    ("gh", 1, "error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com"),
    ("psql", 2, "psql: error: connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?"),
    ("psql", 2, "psql: error: connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  the database system is starting up"),
    ("psql", 3, "psql:a.sql:3: ERROR:  deadlock detected"),
    ("psql", 1, "ERROR:  could not serialize access due to concurrent update"),
    ("pg_dump", 1, "pg_dump: error: connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?"),
    ("pg_restore", 1, "pg_restore: error: connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  sorry, too many clients already"),
    ("pg_isready", 1, "/run/postgresql:5432 - rejecting connections"),
    ("pg_isready", 2, "127.0.0.1:1 - no response"),
    ("mysql", 1, "ERROR 2002 (HY000): Can't connect to server on '127.0.0.1' (115)"),
    ("mariadb", 1, "ERROR 2013 (HY000): Lost connection to server at 'handshake: reading initial communication packet', system error: 115"),
    ("mysql", 1, "ERROR 1205 (HY000) at line 1: Lock wait timeout exceeded; try restarting transaction"),
    ("mysqldump", 2, "mysqldump: Got error: 2002: \"Can't connect to server on '127.0.0.1' (115)\" when trying to connect"),
    ("redis-cli", 1, "Could not connect to Redis at 127.0.0.1:1: Connection refused"),
    ("redis-cli", 1, "LOADING Redis is loading the dataset in memory"),
    ("redis-cli", 1, "Error: Server closed the connection"),
    ("sqlite3", 5, "Error: in prepare, database is locked (5)"),
    ("sqlite3", 1, "Parse error near line 1: database is locked (5)"),
    ("mongosh", 1, "MongoNetworkError: connect ECONNREFUSED 127.0.0.1:27017"),
    ("mongodump", 1, "2026-01-01T00:00:00.000+0000\tFailed: can't create session: failed to connect to mongodb://localhost/: server selection error: server selection timeout, current topology: { Type: Single }"),
    ("rclone", 5, "2026/11/20 17:38:23 Failed to copyurl: Get \"http://127.0.0.1:1/x\": dial tcp 127.0.0.1:1: connect: connection refused"),
    ("rclone", 1, "2026/11/20 17:41:37 Failed to copyurl: CopyURL failed: 503 Service Unavailable"),
    ("rclone", 1, "2026/11/20 17:41:45 Failed to ls with 2 errors: last error was: error listing \"\": failed to readDir: HTTP Error: 429 Too Many Requests"),
    ("restic", 11, "Fatal: unable to create lock in backend: repository is already locked exclusively by PID 1"),
    ("restic", 1, "Fatal: unable to create lock in backend: repository is already locked by PID 1 on host by root (UID 0, GID 0)"),
    ("restic", 1, "Fatal: unable to open config file: client.Head: Head \"http://127.0.0.1:1/config\": dial tcp 127.0.0.1:1: connect: connection refused\nIs there a repository at the following location?\nrest:http://127.0.0.1:1/"),
    ("restic", 1, "Fatal: unable to open config file: unexpected HTTP response (503): 503 Service Unavailable\nIs there a repository at the following location?"),
    ("borg", 2, "Failed to create/acquire the lock /srv/repo/lock.exclusive (timeout)."),
    ("borg", 2, "Remote: ssh: connect to host 127.0.0.1 port 1: Connection refused\nConnection closed by remote host. Is borg working on the server?"),
    ("borg", 73, ""),
    ("ansible-playbook", 4, "fatal: [web1]: UNREACHABLE! => {\"changed\": false, \"msg\": \"Failed to connect to the host via ssh: ssh: connect to host web1 port 22: Connection refused\", \"unreachable\": true}\n\nPLAY RECAP\nweb1 : ok=0    changed=0    unreachable=1    failed=0"),
    ("ffmpeg", 1, "[tcp @ 0x55d0c8a3d2c0] Connection to tcp://127.0.0.1:1 failed: Connection refused\nhttp://127.0.0.1:1/a.mp4: Connection refused"),
    ("ffmpeg", 145, "[in#0 @ 0x5581] Error opening input: Connection refused\nError opening input file http://127.0.0.1:1/a.mp4."),
    ("ffmpeg", 1, "http://127.0.0.1:9101/a.mp4: Server returned 5XX Server Error reply"),
    ("flock", 75, ""),
    ("sendmail", 75, ""),
    ("network", 1, "rsync: [Receiver] failed to connect to 127.0.0.1 (127.0.0.1): Connection refused (111)"),
    ("network", 1, "tool: request failed: 503 Service Unavailable"),
    ("network", 1, "Error: connect ECONNREFUSED 127.0.0.1:1"),
    ("network", 1, "Error: getaddrinfo EAI_AGAIN nosuch.invalid"),
    ("network", 7, "x: Temporary failure in name resolution"),
    ("network", 1, "Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: i/o timeout"),
    ("network", 1, "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>"),
];

/// The same for failures that a second attempt cannot help.
#[rustfmt::skip]
const PERMANENT: &[Sample] = &[
    ("curl", 1, "curl: (1) Protocol \"ftpx\" not supported or disabled in libcurl"),
    ("curl", 3, "curl: (3) URL using bad/illegal format or missing URL"),
    ("curl", 22, "curl: (22) The requested URL returned error: 404"),
    ("curl", 22, "curl: (22) The requested URL returned error: 501"),
    ("curl", 35, "curl: (35) error:0A00010B:SSL routines::wrong version number"),
    ("curl", 56, "curl: (56) CONNECT tunnel failed, response 407"),
    ("curl", 60, "curl: (60) SSL certificate problem: self-signed certificate"),
    ("curl", 23, "curl: (23) Failure writing output to destination"),
    ("wget", 8, "2026-11-20 17:41:40 ERROR 404: Not Found."),
    ("wget", 6, "Username/Password Authentication Failed."),
    ("wget", 1, "wget: server returned error: HTTP/1.1 404 Not Found"),
    ("wget", 5, "ERROR: cannot verify example.org's certificate"),
    ("ssh", 255, "git@example.org: Permission denied (publickey)."),
    ("ssh", 255, "Host key verification failed."),
    ("ssh", 255, "command-line: line 0: Bad configuration option: nonsense"),
    ("ssh", 255, "Received disconnect from 192.0.2.1 port 22:2: Too many authentication failures\nDisconnected from 192.0.2.1 port 22"),
    ("ssh", 255, "Unable to negotiate with 192.0.2.1 port 22: no matching host key type found. Their offer: ssh-rsa"),
    ("ssh", 1, "curl: (7) Failed to connect"),
    ("scp", 1, "cp: cannot stat '/nonexistent': No such file or directory"),
    ("scp", 255, "user@example.org: Permission denied (publickey,password).\nscp: Connection closed"),
    ("sftp", 255, "user@example.org: Permission denied (publickey).\nConnection closed.  "),
    ("sftp", 1, "Couldn't stat remote file: No such file or directory"),
    ("rsync", 23, "rsync: [sender] link_stat \"/nonexistent\" failed: No such file or directory (2)\nrsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1394) [sender=3.5.0]"),
    ("rsync", 1, "rsync: --bogus: unknown option\nrsync error: syntax or usage error (code 1) at main.c(1911) [client=3.5.0]"),
    ("rsync", 12, "bash: line 1: rsync: command not found\nrsync: connection unexpectedly closed (0 bytes received so far) [sender]\nrsync error: error in rsync protocol data stream (code 12) at io.c(231) [sender=3.2.7]"),
    ("rsync", 5, "@ERROR: Unknown module 'nosuch'\nrsync error: error starting client-server protocol (code 5) at main.c(1863) [Receiver=3.2.7]"),
    ("rsync", 255, "user@example.org: Permission denied (publickey).\nrsync error: unexplained error (code 255) at io.c(231) [sender=3.2.7]"),
    ("git", 128, "fatal: repository 'http://127.0.0.1:9102/a.git/' not found"),
    ("git", 128, "fatal: could not read Username for 'http://127.0.0.1:9104': terminal prompts disabled"),
    ("git", 128, "fatal: unable to access 'http://127.0.0.1:9111/a.git/': The requested URL returned error: 403"),
    ("git", 128, "fatal: '/nonexistent' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists."),
    ("git", 128, "git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repository."),
    ("git", 128, "error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413\nfatal: the remote end hung up unexpectedly"),
    ("git", 128, "fatal: unable to access 'https://example.org/': SSL certificate problem: self-signed certificate"),
    ("git", 1, " ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs to 'example.org:a.git'"),
    ("git", 128, "fatal: not a git repository (or any of the parent directories): .git"),
    ("git", 1, "CONFLICT (content): Merge conflict in a.txt\nAutomatic merge failed; fix conflicts and then commit the result."),
    ("apt-get", 100, "E: Unable to locate package nosuchpkg-xyz"),
    ("apt-get", 100, "E: Failed to fetch http://127.0.0.1:9102/debian/dists/x/main/binary-amd64/Packages  404  Not Found [IP: 127.0.0.1 9102]\nE: Some index files failed to download. They have been ignored, or old ones used instead."),
    ("apt-get", 100, "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?"),
    ("apt", 100, "E: Invalid operation instal"),
    ("dpkg", 2, "dpkg: error: requested operation requires superuser privilege"),
    ("dpkg", 1, "dpkg: dependency problems prevent configuration of a:"),
    ("apk", 1, "ERROR: unable to select packages:\n  nosuch (no such package):\n    required by: world[nosuch]"),
    ("apk", 99, "ERROR: Unable to lock database: Permission denied\nERROR: Failed to open apk database: Permission denied"),
    ("dnf", 1, "No match for argument: nosuch\nError: Unable to find a match: nosuch"),
    ("dnf", 100, "bash.x86_64   5.2-1   updates"),
    ("pip", 1, "ERROR: Could not find a version that satisfies the requirement nosuchpackage (from versions: none)\nERROR: No matching distribution found for nosuchpackage"),
    ("pip", 1, "ERROR: a.whl is not a valid wheel filename."),
    ("pip", 1, "Collecting a==1.0\n  ERROR: HTTP error 404 while getting http://127.0.0.1:9102/a-1.0-py3-none-any.whl\nERROR: Could not install requirement a==1.0 from http://127.0.0.1:9102/a-1.0-py3-none-any.whl because of HTTP error 404 Client Error: Not Found for url: http://127.0.0.1:9102/a-1.0-py3-none-any.whl"),
    ("pip", 1, "ERROR: Cannot install a and b because these package versions have conflicting dependencies.\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/"),
    ("pip", 1, "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))': /simple/a/"),
    ("pip", 1, "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('x')': /simple/a/\nERROR: No matching distribution found for a==9"),
    ("pip", 2, "Usage:   \n  pip install [options] <requirement specifier> [package-index-options] ...\n\nno such option: --bogus"),
    ("npm", 1, "npm error code E404\nnpm error 404 Not Found - GET http://127.0.0.1:9102/left-pad"),
    ("npm", 1, "npm error code E401\nnpm error 401 Unauthorized - GET http://127.0.0.1:9104/left-pad"),
    ("npm", 1, "npm error Missing script: \"nosuch\""),
    ("npm", 1, "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree"),
    ("npm", 1, "  Error: connect ECONNREFUSED 127.0.0.1:5432\n  1 failing"),
    ("cargo", 101, "error[E0432]: unresolved import `a`\nerror: could not compile `x` (lib) due to 1 previous error"),
    ("cargo", 101, "warning: spurious network error (1 try remaining): [28] Timeout was reached\nerror: could not compile `x` (lib) due to 1 previous error"),
    ("cargo", 101, "test a ... FAILED\n  [7] Could not connect to server\ntest result: FAILED. 0 passed; 1 failed\nerror: test failed, to rerun pass `--lib`"),
    ("cargo", 101, "error: manifest path `c/none.toml` does not exist"),
    ("cargo", 101, "Caused by:\n  failed to get successful HTTP response from `http://127.0.0.1:9111/config.json` (127.0.0.1), got 403"),
    ("cargo", 101, "Caused by:\n  config.json not found in registry"),
    ("go", 1, "go: example.org/nosuch@v1.0.0: reading https://proxy.golang.org/example.org/nosuch/@v/v1.0.0.mod: 404 Not Found"),
    ("go", 1, "--- FAIL: TestDial (0.00s)\n    dial_test.go:12: Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused\nFAIL"),
    ("go", 1, "./main.go:5:2: undefined: x"),
    ("docker", 1, "Error response from daemon: manifest for alpine:nosuch not found: manifest unknown: manifest unknown"),
    ("docker", 1, "Error response from daemon: pull access denied for nosuch, repository does not exist or may require 'docker login': denied: requested access to the resource is denied"),
    ("docker", 1, "curl: (7) Failed to connect to 127.0.0.1 port 1: Connection refused\ndial tcp 127.0.0.1:1: connect: connection refused"),
    ("docker", 125, "docker: Error response from daemon: No such container: a."),
    ("docker", 1, "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.24/info\": dial unix /var/run/docker.sock: connect: permission denied"),
    ("kubectl", 1, "Error from server (NotFound): pods \"a\" not found"),
    ("kubectl", 1, "Error from server (Forbidden): pods is forbidden: User \"a\" cannot list resource \"pods\""),
    ("kubectl", 1, "Error: unknown flag: --bogus\nSee 'kubectl get --help' for usage."),
    ("kubectl", 1, "Unable to connect to the server: x509: certificate signed by unknown authority"),
    ("kubectl", 1, "dial tcp 127.0.0.1:1: connect: connection refused\ncommand terminated with exit code 1"),
    ("helm", 1, "Error: INSTALLATION FAILED: cannot re-use a name that is still in use"),
    ("helm", 1, "Error: unknown command \"instal\" for \"helm\""),
    ("helm", 1, "Error: UPGRADE FAILED: parse error at (a/templates/b.yaml:3): unclosed action"),
    ("terraform", 1, "Error: Argument definition required\n\n  on main.tf line 1, in terraform:"),
    ("terraform", 2, "Plan: 1 to add, 0 to change, 0 to destroy."),
    ("terraform", 1, "│ Error: Error acquiring the state lock\n│ \n│ Error message: AccessDenied: Access Denied"),
    ("aws", 255, "Unable to locate credentials. You can configure credentials by running \"aws configure\"."),
    ("aws", 252, "aws: error: argument subcommand: Invalid choice, valid choices are:"),
    ("aws", 255, "\nAn error occurred (404) when calling the ListBuckets operation: Not Found"),
    ("aws", 254, "\nAn error occurred (AccessDenied) when calling the GetObject operation: Access Denied"),
    ("aws", 2, "aws: error: argument subcommand: Invalid choice, valid choices are:"),
    ("gcloud", 1, "ERROR: (gcloud.storage.ls) You do not currently have an active account selected.\nPlease run:"),
    ("gcloud", 2, "ERROR: (gcloud.storage.ls) unrecognized arguments: --bogus"),
    ("gcloud", 1, "ERROR: (gcloud.compute.instances.create) Could not fetch resource:\n - Quota 'CPUS' exceeded.  Limit: 24.0 in region us-central1."),
    ("gsutil", 1, "ServiceException: 401 Anonymous caller does not have storage.objects.list access"),
    ("az", 3, "ERROR: (ResourceNotFound) The Resource 'a' was not found."),
    ("az", 1, "ERROR: Please run 'az login' to setup account."),
    ("az", 1, "ERROR: (AuthorizationFailed) The client does not have authorization"),
    ("gh", 4, "To get started with GitHub CLI, please run:  gh auth login"),
    ("gh", 1, "gh: Not Found (HTTP 404)"),
    ("gh", 1, "GraphQL: Could not resolve to a Repository with the name 'a/b'. (repository)"),
    ("psql", 1, "psql: hint: Try \"psql --help\" for more information."),
    ("psql", 2, "psql: error: connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  password authentication failed for user \"a\""),
    ("psql", 2, "psql: error: connection to server on socket \"/run/s\" failed: FATAL:  database \"nosuch\" does not exist"),
    ("psql", 3, "psql:a.sql:1: ERROR:  syntax error at or near \"selekt\""),
    ("pg_dump", 1, "pg_dump: error: connection to server on socket \"/run/s\" failed: FATAL:  database \"nosuch\" does not exist"),
    ("pg_dump", 1, "pg_dump: error: no matching tables were found"),
    ("pg_isready", 3, "pg_isready: hint: Try \"pg_isready --help\" for more information."),
    ("mysql", 1, "ERROR 1045 (28000): Access denied for user 'x'@'localhost' (using password: NO)"),
    ("mysql", 1, "ERROR 1064 (42000) at line 1: You have an error in your SQL syntax"),
    ("mysqladmin", 1, "mysqladmin: connect to server at 'localhost' failed\nerror: 'Access denied for user 'x'@'localhost''"),
    ("redis-cli", 1, "Unrecognized option or bad number of args for: '--bogus'"),
    ("redis-cli", 1, "NOAUTH Authentication required."),
    ("redis-cli", 1, "ERR unknown command"),
    ("sqlite3", 1, "Error: in prepare, near \"selekt\": syntax error"),
    ("sqlite3", 1, "Error: unable to open database \"/nonexistent/x\": unable to open database file"),
    ("mongosh", 1, "MongoServerError: Authentication failed."),
    ("mongodump", 1, "error parsing command line options: unknown option \"bogus\""),
    ("rclone", 3, "2026/11/20 17:38:23 Failed to ls with 2 errors: last error was: directory not found"),
    ("rclone", 1, "2026/11/20 17:41:41 Failed to copyurl: CopyURL failed: 404 Not Found"),
    ("rclone", 1, "2026/11/20 17:44:11 Fatal error: unknown command \"nosuchcommand\" for \"rclone\""),
    ("rclone", 7, "2026/11/20 17:44:11 Failed to copy: googleapi: Error 503"),
    ("restic", 12, "Fatal: wrong password or no key found"),
    ("restic", 10, "Fatal: repository does not exist"),
    ("restic", 1, "Fatal: unable to open config file: <config/> does not exist\nIs there a repository at the following location?"),
    ("restic", 1, "Resolving password failed: Fatal: /nonexistent does not exist"),
    ("borg", 2, "Repository /nonexistent does not exist."),
    ("borg", 2, "Remote: user@example.org: Permission denied (publickey).\nConnection closed by remote host. Is borg working on the server?"),
    ("borg", 1, "a: file changed while we backed it up"),
    ("ansible-playbook", 4, "ERROR! Syntax Error while loading YAML."),
    ("ansible-playbook", 2, "web1 : ok=1    changed=0    unreachable=0    failed=1"),
    ("ansible-playbook", 4, "fatal: [web1]: UNREACHABLE! => {\"changed\": false, \"msg\": \"Failed to connect to the host via ssh: a@web1: Permission denied (publickey).\", \"unreachable\": true}"),
    ("ffmpeg", 1, "a.mp4: No such file or directory"),
    ("ffmpeg", 1, "http://127.0.0.1:9102/a.mp4: Server returned 404 Not Found"),
    ("flock", 1, ""),
    ("flock", 66, "flock: cannot open lock file /nonexistent/a: No such file or directory"),
    ("sendmail", 67, ""),
    ("sysexits", 64, ""),
    ("network", 1, "error: 404 Not Found"),
    ("network", 1, "x: SSL certificate problem: self-signed certificate\nx: Connection refused"),
    ("network", 1, "write a: No space left on device\nx: Connection refused"),
];

/// Lines of builds and tests that only mention such failures.
const INNOCENT: &[&str] = &[
    "test timeout_handling ... ok",
    "test connection_refused_is_an_error ... ok",
    "checking whether connect() works... yes",
    "checking for ECONNREFUSED... yes",
    "checking for gethostbyname in -lnsl... no",
    "    Finished `test` profile in 0.28s",
    "ok 12 - handles connection refused gracefully",
    "ok 13 - retries after a timeout (503 ms)",
    "  ✓ reconnects when the connection was reset (52 ms)",
    "PASS src/timeout.test.js",
    "--- PASS: TestTimeout (0.01s)",
    "=== RUN   TestConnectionReset",
    "request timeout is set to 30s",
    "Timeout: 30",
    "set timeout=5",
    "lock acquired",
    "waiting for the lock",
    "unlocked 5 files",
    "note: rate limit is 5000 per hour",
    "downloaded 503 files",
    "200 OK",
    "HTTP/1.1 200 OK",
    "GET /status/503 200 12ms",
    "127.0.0.1 - - [20/Nov/2026:17:00:00 +0000] \"GET / HTTP/1.1\" 503 12",
    "port 7",
    "exit status 1",
    "exit 255",
    "killed",
    "Segmentation fault",
    "error: something else",
    "fatal: bad object",
    "remote: Counting objects: 100% (3/3), done.",
    "test result: ok. 52 passed; 0 failed",
    "502 tests passed",
    "line 429: warning: unused variable",
    "throttle = 5",
    "unexpected EOF is handled",
    "def test_read_timed_out(self):",
    "// connection reset by peer",
    "# Could not resolve host, so skip",
    "error 7 of 52",
    "code 28",
    "database locked_rows migrated",
    "Permission granted",
    "make: *** [Makefile:5: all] Error 2",
    "Connection to database established",
    "Connected to 127.0.0.1 port 80",
    "retrying is not needed",
    "temporary files removed",
];
