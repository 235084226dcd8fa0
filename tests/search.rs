//! A slow pattern search delays no signal. Other tests are in `tests/cases/streams.md`.


use nix::sys::signal::Signal;

use crate::util::{Ends, backoff, eventually, within};

tests! {
    a_signal_is_forwarded_during_a_search
}

fn a_signal_is_forwarded_during_a_search() {
    let dir = tempfile::tempdir().unwrap();
    let told = within(&dir, "told");
    // The output exceeds the capacity of a pipe, so the search has begun when the command is ready.
    let script = r#"trap 'echo >"$0"; kill $! 2>&-; exit 7' TERM; tr -dc ab </dev/urandom | head -c 200000; echo ready >&2
                    tr -dc ab </dev/urandom & wait"#;
    // Nearly every byte adds a state to the automaton.
    let mut command = backoff("-qq -n 1 -r a[ab]{600}c --stdout null -- bash -c");
    let mut live = command.args([script, &told]).live();
    assert_eq!(live.line_of_stderr(), "ready");
    live.signal(Signal::SIGTERM);
    eventually("it is forwarded", || std::path::Path::new(&told).exists());
    live.code(7);
}
