//! The table of signals, in any state, for any signals one after the other: what may never be done is not, and what asks
//! to end reaches the command once.
//!
//! The input is the state in two bytes, and a signal in two bytes, over and over.
#![no_main]

use backoff_cli::fuzzing::{PHASES, PLACES, State, action};
use backoff_cli::policy::signal::Signal;
use libfuzzer_sys::fuzz_target;

const NONE_FURTHER: [&str; 3] = ["EndRun", "NoFurtherAttempt", "PassOnAndNoFurtherAttempt"];

fuzz_target!(|input: &[u8]| {
    let mut is_over = false;
    for step in input.chunks_exact(4) {
        let state = state(step[0], step[1]);
        let Some(signal) = Signal::from_number(i32::from(step[2] % 65)) else {
            continue;
        };
        let from_kernel = step[3] % 2 == 1;
        let (class, action) = action(state, signal, from_kernel);
        let seen = format!("{state:?}, {signal}, from the kernel: {from_kernel}: {class}, {action}");
        check(state, signal, from_kernel, &class, &action, &seen);
        // Nothing takes it back: each of them is the end of the run, or of its attempts.
        is_over |= class == "End";
        assert_eq!(class == "End", NONE_FURTHER.contains(&&*action), "{seen}");
        if is_over && action == "EndRun" {
            return;
        }
    }
});

fn state(first: u8, second: u8) -> State {
    let is = |bit: u8| second >> bit & 1 == 1;
    State {
        phase: usize::from(first) % PHASES.len(),
        place: usize::from(first) / PHASES.len() % PLACES.len(),
        by_key: is(0),
        is_stopped: is(1),
        was_continued: is(2),
        leads_session: is(3),
        copies_size: is(4),
        is_beside: is(5),
    }
}

fn check(state: State, signal: Signal, from_kernel: bool, class: &str, action: &str, seen: &str) {
    let phase = PHASES[state.phase];
    let is_passed_on = action.starts_with("PassOn");
    // What is told of the child is not for the child.
    assert!(class != "Child" || !is_passed_on, "{seen}");
    if phase != "Running" {
        // There is nobody to pass it on to, or to stop.
        assert!(
            !is_passed_on && action != "StopCommand" && action != "CopySize",
            "{seen}"
        );
        assert!(
            action != "StopBackoff" || phase == "BetweenAttempts" && class == "StopJob",
            "{seen}"
        );
        return;
    }
    // backoff stops when the command has, and does not end before it.
    assert!(action != "StopBackoff" && action != "EndRun", "{seen}");
    assert!(action != "StopCommand" || class == "StopJob", "{seen}");
    if state.is_beside && class == "Inform" {
        // A hook does not know of it.
        assert!(!is_passed_on, "{seen}");
        return;
    }
    // The key reaches the command by its own terminal; what the terminal sends, by the group that it shares. Of a
    // terminal that is gone, only the leader of a session is told.
    let is_terminals = matches!(signal, Signal::INT | Signal::QUIT | Signal::HUP | Signal::WINCH);
    let told_alone = signal == Signal::HUP && state.leads_session;
    let by_group = PLACES[state.place] == "Shared" && from_kernel && is_terminals && !told_alone;
    let received = usize::from(state.by_key || by_group);
    match class {
        "End" => assert_eq!(received + usize::from(is_passed_on), 1, "{seen}"),
        "Inform" if action == "CopySize" => assert!(state.copies_size && signal == Signal::WINCH, "{seen}"),
        "Inform" => assert_eq!(received + usize::from(is_passed_on), 1, "{seen}"),
        _ => {}
    }
}
