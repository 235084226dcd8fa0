//! Runs the console blocks of the README with a stand-in for curl, and its first with real curl and a server that is
//! overloaded at first; and uses the configuration and the Makefile of the documents. `BLESS=1` rewrites the first block.

use std::fs;

use crate::cases::{check, console_blocks};
use crate::util::documents::{blocks, document};
use crate::util::readme::{README, first_block, without_times};
use crate::util::{Ends, clean, executable, path_with_backoff, server, shell, within};

tests! {
    the_readme_shows_a_real_run ["curl"]
    every_console_block_of_the_readme_does_what_it_shows
    times_are_all_the_same_word
    the_configuration_is_one
    the_makefile_works_and_its_sub_make_shares_the_jobs
}

/// Acts like curl with a server that is overloaded at first.
const OVERLOADED: &str = "#!/bin/sh
test \"$BACKOFF_ATTEMPT\" = 4 && exit
echo 'curl: (22) The requested URL returned error: 503' >&2
exit 22
";

fn every_console_block_of_the_readme_does_what_it_shows() {
    let dir = tempfile::tempdir().unwrap();
    executable(&within(&dir, "curl"), OVERLOADED);
    let path = format!("{}:{}", dir.path().display(), path_with_backoff());
    let variables = [("PATH", path), ("BACKOFF_BASE", "10ms".to_owned())];
    let blocks = console_blocks(&document("README.md"));
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        check(&block, &variables, without_times).unwrap();
    }
}

fn times_are_all_the_same_word() {
    let shown = "exit 1 after 913us; retrying in 0.13s\nin 1m30s: (--deadline 5m)";
    assert_eq!(
        without_times(shown),
        "exit 1 after TIME; retrying in TIME\nin TIME: (--deadline 5m)"
    );
}

fn the_configuration_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "config.toml");
    let blocks = blocks(&document("docs/configuration.md"));
    let block = blocks
        .iter()
        .find(|block| block.language == "toml")
        .unwrap();
    let script =
        format!("umask 022; echo \"$TEXT\" >{file}; backoff --config {file} -p deploy -vv -- true");
    let run = shell(&script).env("TEXT", block.lines.join("\n")).code(0);
    run.says("retry-exit = 7, 100-110 (policy deploy in ");
}

fn the_makefile_works_and_its_sub_make_shares_the_jobs() {
    let mut makefiles = blocks(&document("docs/ci.md"));
    // The other Makefile fetches over the network.
    makefiles.retain(|block| block.language == "makefile" && block.lines[0].contains("-b 100ms"));
    let [makefile] = &makefiles[..] else {
        panic!("one Makefile: {makefiles:#?}")
    };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("Makefile"),
        makefile.lines.join("\n") + "\n",
    )
    .unwrap();
    let mut make = clean("make");
    make.arg("-j2")
        .current_dir(dir.path())
        .env("PATH", path_with_backoff());
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        make.env_remove(name);
    }
    let (stdout, stderr) = make.code(0).texts();
    for line in ["fetched", "built one", "built two"] {
        assert!(stdout.lines().any(|printed| printed == line), "{stdout}");
    }
    assert!(!stderr.contains("jobserver"), "{stderr}");
    assert!(stderr.contains(": succeeded on attempt 2 of 4"), "{stderr}");
}

/// A seed of short waits that grow each time, as most waits do.
const SEED: &str = "3";

fn the_readme_shows_a_real_run() {
    let shown = played(first_block().lines().next().unwrap());
    if std::env::var_os("BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
        fs::write(path, README.replacen(first_block(), &shown, 1)).unwrap();
        return;
    }
    assert_eq!(
        without_times(first_block()),
        without_times(&shown),
        "the README has drifted: BLESS=1"
    );
}

/// Runs a command line of a console block, and returns it with what it prints.
fn played(line: &str) -> String {
    let command = line.strip_prefix("$ ").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let to_us = format!(
        "connect-to = \"example.com:80:{}\"\nnoproxy = \"*\"\n",
        server::start()
    );
    fs::write(dir.path().join(".curlrc"), to_us).unwrap();
    let mut shell = shell(&format!("exec 2>&1; {command}"));
    shell
        .current_dir(dir.path())
        .env("CURL_HOME", dir.path())
        .env("BACKOFF_SEED", SEED);
    let printed = String::from_utf8(shell.ends().stdout).unwrap();
    format!("{line}\n{printed}")
}
