//! Runs the console blocks of the README with a stand-in for curl, and uses the configuration and the Makefile of the
//! documents.

use crate::cases::{check, console_blocks};
use crate::util::documents::{blocks, document};
use crate::util::readme::without_times;
use crate::util::{Ends, clean, executable, path_with_backoff, shell, within};

tests! {
    every_console_block_of_the_readme_does_what_it_shows
    times_are_all_the_same_word
    the_configuration_is_one
    the_makefile_works_and_its_sub_make_shares_the_jobs
}

/// Acts like curl with a server that is overloaded at first. `tests/readme_with_curl.rs` uses curl and such a server.
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
