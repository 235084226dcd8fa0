//! The run at the top of the README, with real curl and a server that is overloaded at first.
//! `BLESS=1 cargo test readme` rewrites it.

use std::fs;

use crate::util::readme::{README, first_block, without_times};
use crate::util::{Ends, shell};
use crate::util::server;

tests! {
    the_readme_shows_a_real_run ["curl"]
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
