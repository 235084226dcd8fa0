//! The table of signals as its fuzz target sees it, by names and numbers.

use super::{Facts, Phase, on_signal};
use crate::policy::signal::Signal;
use crate::process::signals::received::Received;
use crate::process::spawn::place::Place;

/// A state of the table of signals. What else counts while the command runs is there in each.
#[derive(Debug, Clone, Copy)]
pub struct State {
    pub phase: usize,
    pub place: usize,
    pub is_beside: bool,
    pub by_key: bool,
    pub is_stopped: bool,
    pub was_continued: bool,
    pub leads_session: bool,
    pub copies_size: bool,
}

/// By their numbers in a [`State`].
pub const PHASES: [&str; 4] = ["BetweenAttempts", "Running", "EndingTree", "Draining"];
pub const PLACES: [&str; 4] = ["Shared", "Group", "Terminal", "Session"];

/// The class of the signal and what is done about it, by their names.
pub fn action(state: State, signal: Signal, from_kernel: bool) -> (String, String) {
    let facts = Facts {
        place: [Place::Shared, Place::Group, Place::Terminal, Place::Session][state.place],
        is_beside: state.is_beside,
        by_key: state.by_key,
        is_stopped: state.is_stopped,
        was_continued: state.was_continued,
        leads_session: state.leads_session,
        copies_size: state.copies_size,
    };
    let phase = match state.phase {
        0 => Phase::BetweenAttempts,
        1 => Phase::Running(facts),
        2 => Phase::EndingTree,
        _ => Phase::Draining,
    };
    let received = Received::new(signal, from_kernel);
    let action = on_signal(phase, received);
    (format!("{:?}", received.class), format!("{action:?}"))
}
