//! `packaging/install.sh`. `packaging/check` installs the real archive with it.

use std::fs::{read_to_string, write};

use tempfile::TempDir;

use crate::util::{Ends, clean, executable, within, words};

tests! {
    a_release_is_installed ["busybox"]
    a_wrong_checksum_keeps_the_installed_program []
    a_script_that_is_cut_off_does_nothing []
    failures_install_nothing []
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/install.sh");
const GOOD: &str = "#!/bin/sh\necho backoff 9.8.7\n";

/// Returns a directory with an archive of this program and its checksum, and the options that install it.
fn release(program: &str) -> (TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let name = format!(
        "backoff-9.8.7-{}-unknown-linux-musl",
        std::env::consts::ARCH
    );
    std::fs::create_dir(within(&dir, &name)).unwrap();
    executable(&within(&dir, &format!("{name}/backoff")), program);
    let pack = "tar -czf $0.tar.gz $0 && rm -r $0 && sha256sum $0.tar.gz >$0.tar.gz.sha256";
    let mut packed = clean("sh");
    packed.args(["-c", pack, &name]).current_dir(&dir).code(0);
    let base = format!("file://{}", dir.path().display());
    let to = within(&dir, "bin");
    let options = ["--version", "9.8.7", "--to", &to, "--base-url", &base];
    let options = options.map(str::to_owned).to_vec();
    (dir, options)
}

/// Asserts that this whole program is installed and nothing else, or nothing at all.
#[track_caller]
fn expect(dir: &TempDir, program: Option<&str>) {
    let entries = std::fs::read_dir(within(dir, "bin"));
    assert_eq!(
        entries.map_or(0, Iterator::count),
        usize::from(program.is_some())
    );
    assert_eq!(
        read_to_string(within(dir, "bin/backoff")).ok().as_deref(),
        program
    );
}

fn a_release_is_installed() {
    let (dir, options) = release(GOOD);
    let applets = within(&dir, "applets");
    let install = "mkdir $0 && busybox --install -s $0";
    clean("sh").args(["-c", install, &applets]).code(0);
    let mut busybox = clean("sh");
    let shell = r#"PATH=$0 exec "$(command -v busybox)" sh "$@""#;
    busybox.args(["-c", shell, &applets]);
    for mut shell in [clean("sh"), busybox] {
        let shown = shell.arg(SCRIPT).args(&options).code(0).out();
        assert!(
            shown.starts_with("backoff 9.8.7\ninstalled as /"),
            "{shown}"
        );
        expect(&dir, Some(GOOD));
    }
}

fn a_wrong_checksum_keeps_the_installed_program() {
    let (dir, options) = release(GOOD);
    let install =
        |sum: &[&str], code: i32| clean("sh").arg(SCRIPT).args(&options).args(sum).code(code);
    let wrong = ["--sha256", &"0".repeat(64)];
    install(&wrong, 1).says("install.sh: wrong checksum: ");
    expect(&dir, None);
    install(&[], 0).out();
    install(&wrong, 1).says("install.sh: wrong checksum: ");
    expect(&dir, Some(GOOD));
}

fn a_script_that_is_cut_off_does_nothing() {
    let (dir, options) = release(GOOD);
    let script = read_to_string(SCRIPT).unwrap();
    let cut = within(&dir, "cut.sh");
    for (end, _) in script.trim_end().match_indices('\n') {
        write(&cut, &script[..end]).unwrap();
        clean("sh").arg(&cut).args(&options).ends();
        expect(&dir, None);
    }
}

fn failures_install_nothing() {
    for (program, options, code, error) in [
        (GOOD, "--bogus 1", 2, "unknown option \"--bogus\""),
        (GOOD, "--to", 2, "--to needs a value"),
        (GOOD, "--version ../../x", 2, "which release?"),
        (GOOD, "--version 9.8.6", 1, "cannot download file:///"),
        (
            GOOD,
            "--base-url http://127.0.0.1:1",
            1,
            "cannot download http:",
        ),
        ("#!/nowhere/sh\n", "", 1, "the program does not run here"),
    ] {
        let (dir, all) = release(program);
        let mut shell = clean("sh");
        shell.arg(SCRIPT).args(&all).args(words(options));
        shell.code(code).says(&format!("install.sh: {error}"));
        expect(&dir, None);
    }
}
