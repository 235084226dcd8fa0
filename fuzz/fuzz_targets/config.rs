//! Plans a run with any configuration file: no file panics, and an error is one line without control characters that
//! names the file or the policy.
#![no_main]

use std::ffi::OsString;
use std::io::Write;

use backoff_cli::fuzzing::{CommandLine, Task, parse, printed};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static PATH: String = format!("/dev/shm/backoff-fuzz-{}.toml", std::process::id());
    /// The command lines, parsed once, as parsing takes far longer than the rest.
    static TYPED: [CommandLine; 2] = [&["--", "true"][..], &["--policy", "mine", "--plan"]].map(|words| {
        let args: Vec<_> = PATH.with(|path| [&["backoff", "--config", path], words].concat().iter().map(OsString::from).collect());
        match parse(&args) {
            Ok(Task::Run(typed)) => typed,
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
    match printed(typed) {
        Ok(lines) => {
            for line in lines.iter().take(100) {
                assert!(
                    !line.contains(|c: char| c.is_control() && c != '\n'),
                    "{line:?}"
                );
            }
        }
        Err(line) => {
            assert!(!line.contains(char::is_control), "{line:?}");
            assert!(line.contains(path) || line.contains("policy"), "{line:?}");
        }
    }
}
