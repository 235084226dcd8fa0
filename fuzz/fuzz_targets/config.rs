//! A configuration file, all the way to a plan: nothing panics, and what is wrong is said in one line that a
//! terminal may be shown and that names a place.
#![no_main]

use std::ffi::OsString;
use std::io::Write;

use backoff_cli::cli::parse::{self, CommandLine, Parsed};
use backoff_cli::config::listing;
use backoff_cli::config::load::Config;
use backoff_cli::config::settings::Settings;
use backoff_cli::plan::resolve::resolve;
use backoff_cli::report::plan_table;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static PATH: String = format!("/dev/shm/backoff-fuzz-{}.toml", std::process::id());
    /// What was typed. To parse it takes far longer than all that follows.
    static TYPED: [CommandLine; 2] = [&["--", "true"][..], &["--policy", "mine", "--plan"]].map(|words| {
        let args: Vec<_> = PATH.with(|path| [&["backoff", "--config", path], words].concat().iter().map(OsString::from).collect());
        match parse::parse(&args) {
            Parsed::Run(typed) => typed,
            _ => panic!("not a run: {words:?}"),
        }
    });
}

fuzz_target!(|file: &[u8]| {
    PATH.with(|path| {
        let mut written = std::fs::File::create(path).expect("room for a file");
        written.write_all(file).expect("room for a file");
        TYPED.with(|all| all.iter().for_each(|typed| check(typed, path)));
    });
});

fn check(typed: &CommandLine, path: &str) {
    let planned = Config::load(&Settings::new(typed, &[])).and_then(|config| {
        for line in listing::policies(&config).take(100) {
            assert!(!line.contains(|c: char| c.is_control() && c != '\n'), "{line:?}");
        }
        let plan = resolve(typed, &[], &config)?.plan;
        assert!(plan_table::waits(&plan).take(30).all(|line| !line.is_empty()));
        Ok(plan)
    });
    if let Err(usage) = planned {
        let line = usage.0;
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(line.contains(path) || line.contains("policy"), "{line:?}");
    }
}
