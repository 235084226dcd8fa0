//! Uses the configuration and the Makefile of the documents.

use crate::util::documents::{blocks, document};
use crate::util::{Ends, clean, path_with_backoff, shell, within};

tests! {
    the_configuration_is_one
    the_makefile_works_and_its_sub_make_shares_the_jobs
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
