//! Looking for patterns may take long: nothing else waits for it, and there are limits to what can be asked.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{backoff, clean, end_of, eventually, wait_for, within};

/// Longer than anything here takes, and shorter than it takes where a search is not left before its end.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_bound_is_kept_whatever_is_searched() {
    let began = Instant::now();
    let rules = "-r 'a{1,100}{1,10}b' --stdout null";
    run!("-n 1 -t 1s -k 1s {..} -- sh -c {}", rules, r"cat /dev/zero | tr '\0' a").expect_code(124);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

/// Nearly each byte of it makes the automaton a new state.
const SLOW: &str = "a[ab]{600}c";

/// The timeout ends it, and what is left in the pipe is soon passed on without a search.
#[test]
fn the_rest_of_a_hostile_output_is_not_searched_for_long() {
    let began = Instant::now();
    let bits = "tr -dc 01 </dev/urandom";
    run!("-n 1 -t 1s -r '[01]*1[01]{1000}x' --stdout null -- sh -c {}", bits).expect_code(124);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[test]
fn a_signal_is_passed_on_during_a_search() {
    let dir = tempfile::tempdir().unwrap();
    let told = within(&dir, "told");
    let script = r#"trap 'echo >"$1"; kill $!; exit 7' TERM; tr -dc ab </dev/urandom & wait"#;
    let mut command = backoff(words!("-q -n 1 -r {} -- bash -c {} bash {}", SLOW, script, &told));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    wait_for("the first output", child.id(), || {
        output.read_exact(&mut vec![0; 32 << 10]).unwrap();
    });
    let reader = std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    let began = Instant::now();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    eventually("it is passed on", || std::path::Path::new(&told).exists());
    assert!(began.elapsed() < SOON / 2, "{:?}", began.elapsed());
    assert_eq!(end_of("the end", &mut child).code(), Some(7));
    reader.join().unwrap().unwrap();
}

#[test]
fn silence_is_the_commands_and_not_that_of_a_search() {
    let dir = tempfile::tempdir().unwrap();
    let line = within(&dir, "line");
    let make = "head -c 20000 /dev/urandom | od -An -v -tx1 | tr -d ' \\n' | tr 0-9a-f abababababababab; echo c";
    let mut made = clean("sh");
    made.args(["-c", make]).stdout(File::create(&line).unwrap());
    assert!(end_of(make, &mut made.spawn().unwrap()).success());
    // All of it has been written when the search begins, and nothing more is read until it ends, often seconds later.
    run!(
        "-q -n 1 --idle-timeout 1s --stop-match a[ab]{700}c --stdout null -- sh -c {} sh {}",
        "cat \"$1\" && exit 3",
        &line
    )
    .expect_code(3);
}

#[test]
fn what_is_slow_is_searched_to_its_end() {
    let script = format!("printf '%s' {}x{}c", "ab".repeat(400), "ba".repeat(301));
    for end in ["", "; echo"] {
        run!(
            "-q -n 1 --fail-match {} --stdout null -- sh -c {}",
            SLOW,
            format!("{script}{end}")
        )
        .expect_code(1);
        run!(
            "-q -n 1 --fail-match {} --stdout null -- sh -c {}",
            "a[ab]{601}c",
            format!("{script}{end}")
        )
        .expect_code(0);
    }
}

#[test]
fn rules_that_are_too_large_together_are_one_error_before_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let started = within(&dir, "started");
    let many: Vec<String> = (100..600)
        .flat_map(|i| ["-r".to_owned(), format!("failure {i}")])
        .collect();
    let large = ["-r", r"\d{5000}", "--fail-match", "x"].map(str::to_owned);
    for (rules, option) in [
        (&many[..], "--retry-match: \"failure 554\""),
        (&large, "--retry-match: \"\\\\d{5000}\""),
    ] {
        let shown = run!("{..} -- touch {}", rules, &started)
            .expect_code(125)
            .expect_stderr("makes the patterns too large together (over 5000 characters and classes");
        assert!(shown.stderr.starts_with(&format!("backoff: {option}")), "{shown:?}");
        assert_eq!(shown.stderr.lines().count(), 1, "{shown:?}");
    }
    assert!(!std::path::Path::new(&started).exists());
}

#[test]
fn many_rules_work() {
    let rules: Vec<String> = (0..200)
        .flat_map(|i| ["-r".to_owned(), format!("(?i)failure \\d+ of host{i}\\b")])
        .collect();
    for (text, attempts) in [("Failure 7 of HOST199", "2\n"), ("Failure 7 of HOST200", "1\n")] {
        let script = format!("echo $BACKOFF_ATTEMPT >&2; echo {text}; exit 1");
        let shown = run!("-q -n 2 -b 1ms {..} -- sh -c {}", &rules, script).expect_code(1);
        assert!(shown.stderr.ends_with(attempts), "{shown:?}");
    }
}
