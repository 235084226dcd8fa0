//! `--for` with the real tools: what each says of a dead port or a broken server is retried, what it
//! says of a mistake is not. Where a tool is missing, the test is listed as ignored with the tool's
//! name; with REQUIRE_TEST_TOOLS set (as in CI) that is a failure.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use tempfile::TempDir;

use crate::common::tools::{Test, is_there};
use crate::common::words::Words;
use crate::common::{Shown, backoff, clean, leftovers, run, wait_for, within};

pub const TESTS: &[Test] = &[
    ("curl", &["curl"], curl),
    ("wget", &["wget"], wget),
    ("ssh", &["ssh"], ssh),
    ("scp", &["scp"], scp),
    ("sftp", &["sftp"], sftp),
    ("rsync", &["rsync"], rsync),
    ("lftp", &["lftp"], lftp),
    ("ftp", &["tnftp"], ftp),
    ("git", &["git"], git),
    ("git_push_takes_in_what_others_pushed", &["git"], git_push),
    ("success_by_a_condition_on_json", &["jq"], jq),
    ("git_lfs", &["git", "git-lfs"], git_lfs),
    ("svn", &["svn"], svn),
    ("hg", &["hg"], hg),
    ("skopeo", &["skopeo"], skopeo),
    ("apt_get", &["apt-get"], apt_get),
    ("pip", &["pip3"], pip),
    ("npm", &["npm"], npm),
    ("cargo", &["cargo"], cargo),
    ("dnf", &["dnf"], dnf),
    ("gem", &["gem"], gem),
    ("bundle", &["bundle"], bundle),
    ("composer", &["composer"], composer),
    ("psql", &["psql"], psql),
    ("pg_isready", &["pg_isready"], pg_isready),
    ("redis_cli", &["redis-cli"], redis_cli),
    ("sqlite3", &["sqlite3"], sqlite3),
    ("rclone", &["rclone"], rclone),
    ("flock", &["flock"], flock),
];

// --- running a tool ---

/// Runs a tool twice at most, in an environment of its own: nothing of the machine's configuration.
#[track_caller]
fn tried(home: &TempDir, preset: &str, args: impl Words) -> Shown {
    let all = words!("-n 2 -b 1ms -j none --for {} -- {..}", preset, args);
    run(alone(&mut backoff(all), home))
}

fn alone<'a>(command: &'a mut std::process::Command, home: &TempDir) -> &'a mut std::process::Command {
    command.env_clear().envs([leftovers::mark()]);
    // Directories in which version managers of languages keep the programs behind their wrappers.
    for name in ["PATH", "PYENV_ROOT", "PYENV_VERSION", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    if let (None, Some(real)) = (std::env::var_os("RUSTUP_HOME"), std::env::var_os("HOME")) {
        command.env("RUSTUP_HOME", std::path::Path::new(&real).join(".rustup"));
    }
    command
        .current_dir(home.path())
        .env("HOME", home.path())
        .env("CARGO_HOME", home.path().join("cargo"))
        .env("LC_ALL", "C")
        .env("no_proxy", "*")
        .env("NO_PROXY", "*")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("PIP_CONFIG_FILE", "/dev/null")
}

#[track_caller]
fn is_retried(preset: &str, args: impl Words) {
    let home = tempfile::tempdir().unwrap();
    retried_in(&home, preset, args);
}

#[track_caller]
fn retried_in(home: &TempDir, preset: &str, args: impl Words) {
    let args = args.words();
    let shown = tried(home, preset, &args);
    assert!(!shown.status.success(), "{args:?}: {shown:#?}");
    shown
        .expect_stderr("attempt 1 of 2 failed")
        .expect_stderr("gave up after 2 attempts");
}

#[track_caller]
fn is_final(preset: &str, args: impl Words) {
    let home = tempfile::tempdir().unwrap();
    final_in(&home, preset, args);
}

#[track_caller]
fn final_in(home: &TempDir, preset: &str, args: impl Words) {
    let args = args.words();
    let shown = tried(home, preset, &args);
    assert!(!shown.status.success(), "{args:?}: {shown:#?}");
    assert!(!shown.stderr.contains("attempt 1 of 2 failed"), "{args:?}: {shown:#?}");
    shown.expect_stderr("gave up after 1 attempt");
}

// --- the other side ---

/// Nothing listens here: only the system itself could.
const DEAD: &str = "127.0.0.1:1";
const DEAD_PORT: &str = "1";

/// A server on the loopback that reads up to the end of a request and answers it; with nothing to
/// answer it closes at once.
fn serve(answer: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = answer.to_owned();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            if answer.is_empty() {
                continue;
            }
            let is_http = answer.starts_with("HTTP/");
            for line in BufReader::new(&connection).lines().map_while(Result::ok) {
                if line.is_empty() {
                    break;
                }
                if !is_http {
                    reply(&connection, &answer);
                }
            }
            if is_http {
                reply(&connection, &answer);
            }
        }
    });
    port
}

fn reply(mut connection: &TcpStream, answer: &str) {
    let _ = connection.write_all(answer.as_bytes());
}

/// An HTTP server that answers everything with this status.
fn status(line: &str) -> String {
    let port = serve(&format!(
        "HTTP/1.1 {line}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nbody\n"
    ));
    format!("127.0.0.1:{port}")
}

fn unavailable() -> String {
    status("503 Service Unavailable")
}

fn missing() -> String {
    status("404 Not Found")
}

/// A process that prints a line once it holds what it should, and lets go when it is dropped.
struct Holder(Child);

impl Holder {
    fn start(command: &mut std::process::Command, input: &str) -> Holder {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(input.as_bytes()).unwrap();
        let (mut line, process) = (String::new(), child.id());
        let mut stdout = BufReader::new(child.stdout.as_mut().unwrap());
        wait_for("held", process, || stdout.read_line(&mut line)).unwrap();
        assert_eq!(line, "held\n");
        Holder(child)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

// --- transfers ---

fn curl() {
    let get = |address: &str| vec!["curl".to_owned(), "-qsSf".to_owned(), format!("http://{address}/")];
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &unavailable(), &status("429 Too Many Requests"), &closes] {
        is_retried("curl", get(address).iter().map(String::as_str).collect::<Vec<_>>());
    }
    for address in [missing(), status("401 Unauthorized")] {
        is_final("curl", get(&address).iter().map(String::as_str).collect::<Vec<_>>());
    }
    is_final("curl", "curl -qsS nosuch://127.0.0.1/");
    is_final("auto", words!("curl -qsSf {}", format!("http://{}/", missing())));
    is_retried("auto", words!("curl -qsSf {}", format!("http://{DEAD}/")));
}

fn wget() {
    let options = "wget --no-config --tries=1 --timeout=10 -nv -O /dev/null";
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &unavailable(), &closes] {
        is_retried("wget", words!("{..} {}", options, format!("http://{address}/")));
    }
    is_final("wget", words!("{..} {}", options, format!("http://{}/", missing())));
    is_final("wget", words!("{..} --nosuch", options));
}

const SSH_OPTIONS: &str = "-F /dev/null -o BatchMode=yes -o ConnectTimeout=10 -o StrictHostKeyChecking=no";

fn ssh() {
    let options = words!("ssh {..}", SSH_OPTIONS);
    is_retried("ssh", words!("{..} -p {} 127.0.0.1 true", options, DEAD_PORT));
    is_retried(
        "ssh",
        words!("{..} -p {} 127.0.0.1 true", options, serve("").to_string()),
    );
    is_final("ssh", words!("{..} -o NoSuchOption=1 127.0.0.1 true", options));
}

fn scp() {
    let options = words!("scp {..}", SSH_OPTIONS);
    is_retried("scp", words!("{..} -P {} /dev/null 127.0.0.1:file", options, DEAD_PORT));
    is_final("scp", words!("{..} nosuch-file copy", options));
}

fn sftp() {
    let options = words!("sftp {..}", SSH_OPTIONS);
    is_retried("sftp", words!("{..} -P {} 127.0.0.1", options, DEAD_PORT));
    is_final("sftp", words!("{..} -b nosuch-file 127.0.0.1", options));
}

fn rsync() {
    is_retried("rsync", words!("rsync {} copy", format!("rsync://{DEAD}/module/")));
    is_retried(
        "rsync",
        words!("rsync {} copy", format!("rsync://127.0.0.1:{}/module/", serve(""))),
    );
    if is_there("ssh") {
        let shell = format!("ssh {SSH_OPTIONS} -p {DEAD_PORT}");
        is_retried("rsync", words!("rsync -e {} 127.0.0.1:file copy", shell));
    }
    is_final("rsync", "rsync nosuch-file copy");
    is_final("rsync", "rsync --nosuch");
}

fn rclone() {
    let options = "rclone --config '' --retries 1 --low-level-retries 1 copyurl";
    for address in [DEAD, &unavailable()] {
        is_retried(
            "rclone",
            words!("{..} {} copy", options, format!("http://{address}/file")),
        );
    }
    is_final(
        "rclone",
        words!("{..} {} copy", options, format!("http://{}/file", missing())),
    );
    is_final("rclone", "rclone --config '' ls /nosuch-directory");
    is_final("rclone", "rclone nosuch");
}

fn git() {
    is_retried("git", words!("git ls-remote {}", format!("http://{DEAD}/a.git")));
    is_retried("git", words!("git ls-remote {}", format!("git://{DEAD}/a.git")));
    is_retried(
        "git",
        words!("git ls-remote {}", format!("http://{}/a.git", unavailable())),
    );
    is_retried(
        "git",
        words!("git clone {} a", format!("http://127.0.0.1:{}/a.git", serve(""))),
    );
    is_final("git", words!("git ls-remote {}", format!("http://{}/a.git", missing())));
    is_final(
        "git",
        words!(
            "git ls-remote {}",
            format!("http://{}/a.git", status("401 Unauthorized"))
        ),
    );
    is_final("git", "git ls-remote nosuch-directory");
    is_final("git", "git nosuch");
}

fn lftp() {
    let get = |address: &str| format!("set net:max-retries 1; get http://{address}/file -o copy");
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &unavailable(), &closes] {
        is_retried("lftp", words!("lftp -c {}", get(address)));
    }
    is_final("lftp", words!("lftp -c {}", get(&missing())));
    is_final("lftp", "lftp -c nosuch");
}

fn ftp() {
    let closes = format!("ftp://127.0.0.1:{}/file", serve(""));
    for url in [
        &*format!("ftp://{DEAD}/file"),
        &*format!("http://{}/file", unavailable()),
        &closes,
    ] {
        is_retried("ftp", words!("tnftp -o copy {}", url));
    }
    is_final("ftp", words!("tnftp -o copy {}", format!("http://{}/file", missing())));
    is_final("ftp", "tnftp --nosuch");
}

/// Two clones push to one repository.
fn git_push() {
    let home = tempfile::tempdir().unwrap();
    let here = |script: &str| {
        let mut command = crate::common::shell(script);
        run(alone(&mut command, &home)
            .env("PATH", crate::common::path_with_backoff())
            .env("BACKOFF_MAX_DELAY", "1ms"))
    };
    let commit = |clone: &str, file: &str, text: &str| {
        here(&format!(
            "cd {clone} && echo {text} >{file} && git add . && git commit -qm '{text} by {clone}'"
        ))
        .expect_code(0);
    };
    here(
        "git config --global user.name a && git config --global user.email a@example.org && git config --global init.defaultBranch main \
         && git init -q --bare shared && git clone -q shared mine && git clone -q shared others",
    )
    .expect_code(0);
    let push = "backoff --for git --before-retry 'git pull --rebase' -- git push";
    let pushed = || here("git --git-dir shared log --format=%s main").stdout;
    let others_push = |text: &str| {
        here("cd others && git pull -q").expect_code(0);
        commit("others", "theirs", text);
        here("cd others && git push -q").expect_code(0);
    };
    commit("mine", "both", "first");
    here("cd mine && git push -q -u origin main; cd ../others && git pull -q origin main && git branch -q -u origin/main").expect_code(0);

    // Theirs is taken in.
    others_push("second");
    commit("mine", "ours", "third");
    let shown = here(&format!("cd mine && {push}")).expect_code(0);
    shown
        .expect_stderr("attempt 1 of 5 failed")
        .expect_stderr("succeeded on attempt 2 of 5");
    assert_eq!(pushed(), "third by mine\nsecond by others\nfirst by mine\n");

    // A conflict ends it, and nothing was pushed.
    others_push("fourth");
    commit("mine", "theirs", "fifth");
    let shown = here(&format!("cd mine && {push}")).expect_code(1);
    shown
        .expect_stderr("CONFLICT")
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr("permanent: --before-retry failed: exit 1)");
    assert_eq!(pushed().lines().next(), Some("fourth by others"));

    // Without it there is no use in trying again.
    here("cd mine && git rebase --abort").expect_code(0);
    let shown = here("cd mine && backoff --for git -- git push").expect_code(1);
    shown
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr("permanent: --for git)");
}

fn jq() {
    let home = tempfile::tempdir().unwrap();
    let api = "case $BACKOFF_ATTEMPT in 1) state=queued;; 2) state=null;; *) state=done;; esac; echo \"{\\\"state\\\": \\\"$state\\\"}\"";
    crate::common::executable(
        home.path().join("api").to_str().unwrap(),
        &format!("#!/bin/sh\n{api}\n"),
    );
    let line = r#"backoff --success-if 'jq -e ".state == \"done\""' -- api get job"#;
    let path = format!("{}:{}", home.path().display(), crate::common::path_with_backoff());
    let mut command = crate::common::shell(line);
    let shown = run(alone(&mut command, &home)
        .env("PATH", path)
        .env("BACKOFF_MAX_DELAY", "1ms"))
    .expect_code(0);
    assert_eq!(shown.stdout.lines().count(), 3, "{shown:?}");
    shown.expect_stderr("succeeded on attempt 3 of 5");
}

fn git_lfs() {
    let home = tempfile::tempdir().unwrap();
    let script = "git init -q . && echo '*.bin filter=lfs' >.gitattributes \
        && printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%064d\\nsize 5\\n' 1 >file.bin \
        && git add . && git -c user.name=a -c user.email=a@example.org commit -q -m a \
        && git remote add origin http://127.0.0.1:1/a && git config lfs.transfer.maxretries 1";
    run(alone(&mut clean("sh"), &home).args(["-c", script])).expect_code(0);
    let closes = format!("127.0.0.1:{}", serve(""));
    let on = |address: &str| format!("lfs.url=http://{address}/a");
    for address in [DEAD, &unavailable(), &status("429 Too Many Requests"), &closes] {
        for preset in ["git-lfs", "auto"] {
            retried_in(&home, preset, words!("git -c {} lfs fetch origin HEAD", on(address)));
        }
    }
    for address in [missing(), status("403 Forbidden")] {
        final_in(&home, "git", words!("git -c {} lfs fetch origin HEAD", on(&address)));
    }
    final_in(&home, "git-lfs", "git-lfs nosuch");
}

fn svn() {
    let list = "svn --non-interactive ls";
    let closes = format!("svn://127.0.0.1:{}/a", serve(""));
    for url in [
        &*format!("http://{DEAD}/a"),
        &*format!("svn://{DEAD}/a"),
        &*format!("http://{}/a", unavailable()),
        &closes,
    ] {
        is_retried("svn", words!("{..} {}", list, url));
    }
    is_final("svn", words!("{..} {}", list, format!("http://{}/a", missing())));
    is_final("svn", words!("{..} file:///nosuch-directory", list));
    is_final("svn", "svn nosuch");
}

fn hg() {
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &unavailable(), &closes] {
        is_retried("hg", words!("hg clone {} copy", format!("http://{address}/a")));
    }
    if is_there("ssh") {
        let ssh = format!("ui.ssh=ssh {SSH_OPTIONS}");
        is_retried(
            "hg",
            words!("hg clone --config {} {} copy", ssh, format!("ssh://{DEAD}/a")),
        );
    }
    is_final("hg", words!("hg clone {} copy", format!("http://{}/a", missing())));
    is_final("hg", "hg clone nosuch-directory");
    is_final("hg", "hg nosuch");
}

fn skopeo() {
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &closes] {
        is_retried(
            "skopeo",
            words!(
                "skopeo inspect --tls-verify=false {}",
                format!("docker://{address}/a:1")
            ),
        );
    }
    is_final("skopeo", "skopeo inspect dir:nosuch-directory");
    is_final("skopeo", "skopeo nosuch");
}

// --- packages ---

fn apt_get() {
    let home = tempfile::tempdir().unwrap();
    for dir in ["lists/partial", "cache/archives/partial", "parts"] {
        std::fs::create_dir_all(home.path().join(dir)).unwrap();
    }
    std::fs::write(home.path().join("status"), "").unwrap();
    let config = |name: &str| {
        format!(
            "Dir::State \"{0}\"; Dir::State::status \"{0}/status\"; Dir::State::lists \"{0}/lists\"; Dir::Cache \"{0}/cache\"; \
             Dir::Etc::sourcelist \"{0}/{name}.list\"; Dir::Etc::sourceparts \"{0}/parts\"; Dir::Etc::parts \"{0}/parts\"; \
             Acquire::Retries \"0\"; Acquire::http::Proxy \"DIRECT\"; APT::Update::Error-Mode \"any\"; APT::Sandbox::User \"root\";\n",
            home.path().display()
        )
    };
    let missing = missing();
    for (name, address) in [("dead", DEAD), ("unavailable", &unavailable()), ("missing", &missing)] {
        let source = format!("deb [trusted=yes] http://{address}/debian stable main\n");
        std::fs::write(within(&home, &format!("{name}.list")), source).unwrap();
        std::fs::write(within(&home, name), config(name)).unwrap();
    }
    for name in ["dead", "unavailable"] {
        retried_in(&home, "apt", words!("apt-get -c {} update", within(&home, name)));
    }
    let missing = within(&home, "missing");
    final_in(&home, "apt", words!("apt-get -c {} update", missing));
    final_in(&home, "apt", words!("apt-get -c {} install -s nosuch-package", missing));
}

fn pip() {
    let options = "pip3 --isolated --disable-pip-version-check --no-cache-dir --timeout 10 --retries 1 download";
    let package = |address: &str| format!("http://{address}/package-1.0-py3-none-any.whl");
    is_retried(
        "pip",
        words!("{..} --index-url {} package", options, format!("http://{DEAD}/simple")),
    );
    is_retried("pip", words!("{..} {}", options, package(DEAD)));
    is_retried("pip", words!("{..} {}", options, package(&unavailable())));
    is_final("pip", words!("{..} {}", options, package(&missing())));
    is_final("pip", words!("{..} --no-index nosuch-package", options));
    is_final("pip", words!("{..} --nosuch", options));
}

fn npm() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("package.json"), r#"{"name": "a", "version": "1.0.0"}"#).unwrap();
    let registry = |address: &str| format!("--registry=http://{address}/");
    let options = "npm --cache=cache --fetch-retries=0 --no-update-notifier --globalconfig=none";
    for address in [DEAD, &unavailable(), &format!("127.0.0.1:{}", serve(""))] {
        retried_in(&home, "npm", words!("{..} {} view package", options, registry(address)));
    }
    final_in(
        &home,
        "npm",
        words!("{..} {} view package", options, registry(&missing())),
    );
    final_in(&home, "npm", words!("{..} run nosuch", options));
}

fn cargo() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("src")).unwrap();
    std::fs::write(home.path().join("src/lib.rs"), "").unwrap();
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nb = \"1\"\n";
    std::fs::write(home.path().join("Cargo.toml"), manifest).unwrap();
    let source = |address: &str| format!("source.other.registry = 'sparse+http://{address}/'");
    for (address, passes) in [(DEAD, true), (&*unavailable(), true), (&*missing(), false)] {
        let source = source(address);
        let args = words!(
            "cargo fetch --config 'net.retry = 0' --config {} --config {}",
            "source.crates-io.replace-with = 'other'",
            source
        );
        if passes {
            retried_in(&home, "cargo", &args);
        } else {
            final_in(&home, "cargo", &args);
        }
    }
    final_in(&home, "cargo", "cargo fetch --manifest-path nosuch.toml");
}

fn dnf() {
    let home = tempfile::tempdir().unwrap();
    let dnf = |address: &str| {
        let config = format!(
            "[main]\nreposdir={0}/none\ncachedir={0}/cache\nlogdir={0}\nretries=1\n[a]\nname=a\nbaseurl=http://{address}/\n",
            home.path().display()
        );
        let name = format!("{}.conf", address.replace(':', "-"));
        std::fs::write(within(&home, &name), config).unwrap();
        words!("dnf --releasever=1 -c {} makecache", within(&home, &name))
    };
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &unavailable(), &closes] {
        retried_in(&home, "dnf", dnf(address));
    }
    final_in(&home, "dnf", dnf(&missing()));
    final_in(&home, "dnf", "dnf --releasever=1 nosuch");
}

fn gem() {
    let install = |address: &str| {
        let source = format!("http://{address}/");
        words!(
            "gem install --clear-sources --source {} --install-dir gems nosuch",
            source
        )
    };
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &unavailable(), &closes] {
        is_retried("gem", install(address));
    }
    is_final("gem", install(&missing()));
    is_final("gem", "gem nosuch");
}

fn bundle() {
    let home = tempfile::tempdir().unwrap();
    let source = |address: &str| {
        let gems = format!("source 'http://{address}/'\ngem 'nosuch'\n");
        std::fs::write(home.path().join("Gemfile"), gems).unwrap();
    };
    // Bundler takes 401 and 403 anywhere in a message, a port's number too, for the status.
    let server = |start: fn() -> String| {
        std::iter::repeat_with(start)
            .find(|address| !["401", "403"].iter().any(|status| address.contains(status)))
            .unwrap()
    };
    let closes = || format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &server(unavailable), &server(closes)] {
        source(address);
        retried_in(&home, "bundle", "bundle install --retry 0");
    }
    for address in [server(missing), status("401 Unauthorized")] {
        source(&address);
        final_in(&home, "bundle", "bundle install --retry 0");
    }
    final_in(&home, "bundle", "bundle exec false");
}

fn composer() {
    let home = tempfile::tempdir().unwrap();
    let source = |address: &str| {
        let json = format!(
            r#"{{"repositories": [{{"type": "composer", "url": "http://{address}/"}}, {{"packagist.org": false}}],
                "config": {{"secure-http": false}}, "require": {{"a/b": "1.0"}}}}"#
        );
        std::fs::write(home.path().join("composer.json"), json).unwrap();
    };
    let install = "composer --no-interaction --no-cache install";
    let closes = format!("127.0.0.1:{}", serve(""));
    for address in [DEAD, &unavailable(), &status("429 Too Many Requests"), &closes] {
        source(address);
        retried_in(&home, "composer", install);
    }
    for address in [missing(), status("403 Forbidden")] {
        source(&address);
        final_in(&home, "composer", install);
    }
    final_in(&home, "composer", "composer nosuch");
}

// --- data bases and locks ---

fn psql() {
    let options = "psql -X -w -h 127.0.0.1 -c 'select 1' -p";
    is_retried("psql", words!("{..} {}", options, DEAD_PORT));
    is_retried("psql", words!("{..} {}", options, serve("").to_string()));
    is_final("psql", "psql --nosuch");
    is_final("psql", "psql -X -w -h 127.0.0.1 -f nosuch-file nosuch=option");
}

fn pg_isready() {
    is_retried("pg_isready", words!("pg_isready -h 127.0.0.1 -p {}", DEAD_PORT));
    is_final("pg_isready", "pg_isready --nosuch");
}

fn redis_cli() {
    let on = |port: u16| port.to_string();
    let ping = "redis-cli -e -h 127.0.0.1 -p";
    is_retried("redis-cli", words!("{..} {} ping", ping, DEAD_PORT));
    is_retried("redis-cli", words!("{..} {} ping", ping, on(serve(""))));
    let loading = serve("-LOADING Redis is loading the dataset in memory\r\n");
    is_retried("redis-cli", words!("{..} {} ping", ping, on(loading)));
    let closed = serve("-NOAUTH Authentication required.\r\n");
    is_final("redis-cli", words!("{..} {} ping", ping, on(closed)));
    is_final("redis-cli", "redis-cli --nosuch");
}

fn sqlite3() {
    let home = tempfile::tempdir().unwrap();
    let file = within(&home, "data");
    run(alone(&mut clean("sqlite3"), &home).args([&file, "create table t (a)"])).expect_code(0);
    {
        let mut holder = clean("sqlite3");
        let _holder = Holder::start(
            alone(&mut holder, &home).arg(&file),
            "begin exclusive; select 'held';\n",
        );
        retried_in(&home, "sqlite3", words!("sqlite3 {} 'insert into t values (1)'", file));
    }
    final_in(&home, "sqlite3", words!("sqlite3 {} 'insert nonsense'", file));
    final_in(&home, "sqlite3", "sqlite3 /nosuch-directory/data 'select * from t'");
}

fn flock() {
    let home = tempfile::tempdir().unwrap();
    let mut holder = clean("flock");
    let _holder = Holder::start(
        alone(&mut holder, &home).args(["lock", "sh", "-c", "echo held; read line"]),
        "",
    );
    retried_in(&home, "flock", "flock -n -E 75 lock true");
    final_in(&home, "flock", "flock other false");
    final_in(&home, "flock", "flock /nosuch-directory/lock true");
}
