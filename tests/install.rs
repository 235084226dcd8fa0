//! `packaging/install.sh`, in the shells and with the programs that an image may have.

use std::fs::{read, read_to_string, write};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::util::{Ended, Ends, clean, executable, within, words};

tests! {
    a_release_is_installed ["busybox", "dash", "bash", "curl", "wget"]
    the_checksum_next_to_the_archive_is_the_last_resort ["busybox", "curl"]
    a_wrong_checksum_installs_nothing ["busybox", "curl"]
    a_wrong_checksum_keeps_the_installed_program []
    what_is_not_there_installs_nothing ["busybox", "curl"]
    a_program_that_does_not_run_is_not_installed []
    a_script_of_a_release_knows_its_checksum ["busybox"]
    a_clone_knows_its_version []
    a_script_that_is_cut_off_does_nothing []
    wrong_options_are_refused []
    without_a_client_it_says_so ["busybox"]
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/install.sh");

/// A place to install from and to. The release's program is a script, as the real one is large.
struct Place {
    dir: TempDir,
    sum: String,
}

fn archive_name() -> String {
    format!(
        "backoff-9.8.7-{}-unknown-linux-musl",
        std::env::consts::ARCH
    )
}

impl Place {
    fn new() -> Place {
        Place::with("#!/bin/sh\necho backoff 9.8.7\necho more\n")
    }

    fn with(program: &str) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let name = archive_name();
        std::fs::create_dir(dir.path().join(&name)).unwrap();
        executable(&within(&dir, &format!("{name}/backoff")), program);
        let pack = "tar -czf $0.tar.gz $0 && rm -r $0 && sha256sum $0.tar.gz >$0.tar.gz.sha256";
        let mut packed = clean("sh");
        packed.args(["-c", pack, &name]).current_dir(&dir).code(0);
        let sum = read_to_string(within(&dir, &format!("{name}.tar.gz.sha256"))).unwrap();
        let sum = sum[..64].to_owned();
        Place { dir, sum }
    }

    fn archive(&self) -> PathBuf {
        self.dir.path().join(archive_name() + ".tar.gz")
    }

    fn program(&self) -> PathBuf {
        self.dir.path().join("bin/backoff")
    }

    /// Returns options that install the release from this directory.
    fn options(&self) -> Vec<String> {
        let to = within(&self.dir, "bin");
        let base = format!("file://{}", self.dir.path().display());
        ["--version", "9.8.7", "--to", &to, "--base-url", &base]
            .map(str::to_owned)
            .to_vec()
    }

    /// Asserts that the script, run by `shell`, refuses the release with the checksum `sum`.
    fn expect_refused(&self, mut shell: Command, sum: &str, error: &str) {
        shell.arg(SCRIPT).args(self.options());
        shell.args(["--sha256", sum]).code(1).says(error);
    }

    /// Asserts that the directory of the program has nothing else, or is not there.
    fn expect_nothing(&self) {
        let entries = std::fs::read_dir(within(&self.dir, "bin"));
        assert_eq!(entries.map_or(0, Iterator::count), 0);
    }
}

/// Serves the files of a directory, and returns the address.
fn serve(dir: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let dir = dir.to_owned();
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let lines = BufReader::new(&connection).lines().map_while(Result::ok);
            let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let path = request.first().and_then(|line| line.split(' ').nth(1));
            let file = read(dir.join(path.unwrap_or("/").trim_start_matches('/')));
            let status = if file.is_ok() {
                "200 OK"
            } else {
                "404 Not Found"
            };
            let body = file.unwrap_or_default();
            let head = format!(
                "HTTP/1.0 {status}\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let _ = connection.write_all(&[head.as_bytes(), &body].concat());
        }
    });
    format!("http://{address}")
}

/// Returns busybox's shell, with its programs only.
fn busybox(dir: &TempDir) -> Command {
    let applets = within(dir, "applets");
    let install = "mkdir -p $0 && busybox --install -s $0";
    clean("sh").args(["-c", install, &applets]).code(0);
    let mut command = clean("sh");
    let shell = r#"PATH=$0 exec "$(command -v busybox)" sh "$@""#;
    command.args(["-c", shell, &applets]);
    command
}

/// Returns a shell whose PATH has these programs, and what the script needs besides.
fn with_programs(dir: &TempDir, shell: &str, programs: &[&str]) -> Command {
    let path = within(dir, &format!("programs-of-{shell}"));
    let link = r#"mkdir -p "$0" && for p; do ln -sf "$(command -v "$p")" "$0/$p"; done"#;
    let needed = [
        "cat",
        "chmod",
        "cp",
        "dirname",
        "gzip",
        "id",
        "mkdir",
        "mktemp",
        "mv",
        "rm",
        "sed",
        "sh",
        "sha256sum",
        "sleep",
        "tar",
        "tr",
        "uname",
    ];
    clean("sh")
        .args(["-c", link, &path, shell])
        .args(needed)
        .args(programs)
        .code(0);
    let mut command = clean(&format!("{path}/{shell}"));
    command.env("PATH", path);
    command
}

#[track_caller]
fn expect_installed(place: &Place, ended: Ended, whose: &str) {
    let (out, err) = ended.texts();
    let program = place.program();
    let shown = format!(
        "backoff 9.8.7\ninstalled as {0}/backoff (checked against the checksum {whose})\nPATH lacks {0}\n",
        program.parent().unwrap().display()
    );
    assert_eq!((out, err.as_str()), (shown, ""));
    let (out, _) = clean(program.to_str().unwrap()).code(0).texts();
    assert_eq!(out, "backoff 9.8.7\nmore\n");
    let entries = std::fs::read_dir(program.parent().unwrap()).unwrap();
    assert_eq!(entries.count(), 1, "it left a file");
}

fn a_release_is_installed() {
    let place = Place::new();
    let base = serve(place.dir.path());
    let shells = [
        busybox(&place.dir),
        with_programs(&place.dir, "dash", &["curl"]),
        with_programs(&place.dir, "bash", &["wget"]),
    ];
    for mut shell in shells {
        let to = within(&place.dir, "bin");
        let _ = std::fs::remove_dir_all(&to);
        // The variables say where temporary files go.
        shell.env("TMPDIR", place.dir.path());
        shell.args([
            SCRIPT,
            "--version=v9.8.7",
            "--to",
            &to,
            "--sha256",
            &place.sum.to_uppercase(),
        ]);
        let ended = shell.args(["--base-url", &format!("{base}/")]).code(0);
        expect_installed(&place, ended, "given with --sha256");
    }
    let left = std::fs::read_dir(place.dir.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        left.iter()
            .all(|name| !name.to_str().unwrap().starts_with("tmp")),
        "{left:?}"
    );
}

fn the_checksum_next_to_the_archive_is_the_last_resort() {
    let place = Place::new();
    let base = serve(place.dir.path());
    for mut shell in [
        busybox(&place.dir),
        with_programs(&place.dir, "sh", &["curl"]),
    ] {
        let ended = shell
            .arg(SCRIPT)
            .args(place.options())
            .args(["--base-url", &base])
            .code(0);
        expect_installed(
            &place,
            ended,
            "next to the archive, which only detects a broken download",
        );
    }
}

fn a_wrong_checksum_installs_nothing() {
    let place = Place::new();
    let wrong = "0".repeat(64);
    let refusal = format!(
        ".tar.gz has {}, not {wrong} (given with --sha256); nothing",
        place.sum
    );
    for shell in [
        busybox(&place.dir),
        with_programs(&place.dir, "sh", &["curl"]),
    ] {
        place.expect_refused(shell, &wrong, &refusal);
        place.expect_nothing();
    }
    for sum in ["x", &"g".repeat(64), &place.sum[1..]] {
        let refusal = "install.sh: no SHA-256 checksum (given with --sha256): it has 64 hex";
        place.expect_refused(clean("sh"), sum, refusal);
    }
    place.expect_nothing();
}

fn a_wrong_checksum_keeps_the_installed_program() {
    let place = Place::new();
    clean("sh").arg(SCRIPT).args(place.options()).code(0).out();
    write(place.archive(), "other bytes").unwrap();
    clean("sh")
        .arg(SCRIPT)
        .args(place.options())
        .code(1)
        .says("install.sh: wrong checksum: ");
    assert_eq!(
        clean(place.program().to_str().unwrap()).code(0).out(),
        "backoff 9.8.7\nmore\n"
    );
}

fn what_is_not_there_installs_nothing() {
    let place = Place::new();
    let base = serve(place.dir.path());
    for mut shell in [
        busybox(&place.dir),
        with_programs(&place.dir, "sh", &["curl"]),
    ] {
        shell
            .arg(SCRIPT)
            .args(place.options())
            .args(["--version", "9.8.6", "--base-url", &base]);
        shell.code(1).says(&format!(
            "install.sh: cannot download {base}/backoff-9.8.6-"
        ));
        place.expect_nothing();
    }
    // A page where the checksum should be.
    write(
        within(&place.dir, &format!("{}.tar.gz.sha256", archive_name())),
        "<html>\n",
    )
    .unwrap();
    clean("sh")
        .arg(SCRIPT)
        .args(place.options())
        .code(1)
        .says("no SHA-256 checksum (next to the archive, ");
    place.expect_nothing();
}

fn a_program_that_does_not_run_is_not_installed() {
    let place = Place::with("#!/nowhere/sh\n");
    clean("sh")
        .arg(SCRIPT)
        .args(place.options())
        .code(1)
        .says("the program does not run here; nothing");
    place.expect_nothing();
}

/// Returns the script as `packaging/assets` publishes it.
fn of_a_release(place: &Place, sum: &str) -> String {
    let script = read_to_string(SCRIPT).unwrap();
    let base = format!("file://{}", place.dir.path().display());
    let script = script
        .replace("\nversion=\n", "\nversion=9.8.7\n")
        .replace("\nrepository=\n", &format!("\nrepository={base}\n"))
        .replace("\nsum_x86_64=\n", &format!("\nsum_x86_64={sum}\n"))
        .replace("\nsum_aarch64=\n", &format!("\nsum_aarch64={sum}\n"));
    assert_eq!(script.matches(sum).count(), 2);
    script
}

fn a_script_of_a_release_knows_its_checksum() {
    let place = Place::new();
    let releases = place.dir.path().join("releases/download/v9.8.7");
    std::fs::create_dir_all(&releases).unwrap();
    let published = releases.join(place.archive().file_name().unwrap());
    std::fs::copy(place.archive(), &published).unwrap();
    // Read from a pipe, as `wget -O- .../install.sh | sh` does.
    let piped = |script: &str| {
        let mut shell = busybox(&place.dir);
        let file = within(&place.dir, "install.sh");
        write(&file, script).unwrap();
        shell.args(["-s", "--", "--to", &within(&place.dir, "bin")]);
        shell.stdin(std::fs::File::open(&file).unwrap());
        shell
    };
    let ended = piped(&of_a_release(&place, &place.sum)).code(0);
    expect_installed(&place, ended, "of the release");
    std::fs::remove_dir_all(within(&place.dir, "bin")).unwrap();
    // A checksum next to a replaced archive does not help it.
    piped(&of_a_release(&place, &"0".repeat(64)))
        .code(1)
        .says("(of the release); nothing is installed");
    place.expect_nothing();
}

fn a_clone_knows_its_version() {
    let mut shell = clean("sh");
    shell.args([SCRIPT, "--base-url", "file:///nowhere", "--to", "/nowhere"]);
    let version = env!("CARGO_PKG_VERSION");
    shell.code(1).says(&format!(
        "cannot download file:///nowhere/backoff-{version}-"
    ));
    // Elsewhere, a program with the name of its helper is not run.
    let dir = tempfile::tempdir().unwrap();
    executable(&within(&dir, "about"), "#!/bin/sh\necho 1.2.3; touch ran\n");
    let mut shell = clean("sh");
    shell
        .current_dir(&dir)
        .stdin(std::fs::File::open(SCRIPT).unwrap());
    shell
        .code(2)
        .stderr("install.sh: which release? give its --version\n");
    assert!(!dir.path().join("ran").exists());
}

fn a_script_that_is_cut_off_does_nothing() {
    let place = Place::new();
    let script = of_a_release(&place, &place.sum);
    let file = within(&place.dir, "cut.sh");
    let ends: Vec<usize> = script.match_indices('\n').map(|(at, _)| at).collect();
    let (_, but_the_last) = ends.split_last().unwrap();
    for end in but_the_last {
        write(&file, &script[..*end]).unwrap();
        let mut shell = clean("sh");
        shell.arg(&file).args(place.options()).ends();
        place.expect_nothing();
    }
}

/// Options, and the beginning of the error.
const WRONG_OPTIONS: &str = r#"
--bogus | unknown option "--bogus"; usage: install.sh
--bogus=1 | unknown option "--bogus"; usage: install.sh
9.8.7 | unknown option "9.8.7"; usage: install.sh
--to | --to needs a value
--to '' | --to: the value is empty
--version ../../x | --version: "../../x" is not like 1.2.3
--version 1.2.3/../x | --version: "1.2.3/../x" is not like 1.2.3
--version 1..2.3 | --version: "1..2.3" is not like 1.2.3
--version latest | --version: "latest" is not like 1.2.3
--base-url /tmp | --base-url: "/tmp" begins with neither https://
--base-url ftp://x | --base-url: "ftp://x" begins with neither
"#;

fn wrong_options_are_refused() {
    let place = Place::new();
    for row in WRONG_OPTIONS.trim().lines() {
        let (options, error) = row.split_once(" | ").unwrap();
        let mut shell = clean("sh");
        shell.arg(SCRIPT).args(place.options()).args(words(options));
        shell.code(2).says(&format!("install.sh: {error}"));
        place.expect_nothing();
    }
    let usage = clean("sh").args([SCRIPT, "--help"]).code(0).out();
    assert!(
        usage.starts_with("usage: install.sh [--to DIR] "),
        "{usage}"
    );
}

fn without_a_client_it_says_so() {
    let place = Place::new();
    let mut shell = with_programs(&place.dir, "sh", &[]);
    shell
        .arg(SCRIPT)
        .args(place.options())
        .args(["--base-url", "https://example.com"]);
    shell
        .code(1)
        .stderr("install.sh: neither curl nor wget is here\n");
    place.expect_nothing();
    // It needs none for a directory.
    let mut shell = with_programs(&place.dir, "sh", &[]);
    let ended = shell
        .arg(SCRIPT)
        .args(place.options())
        .args(["--sha256", &place.sum])
        .code(0);
    expect_installed(&place, ended, "given with --sha256");
}
