//! Decides who sent a signal: the terminal, the kernel for another reason, or a process. The terminal sends to a whole
//! group, so that the command has got the signal, too, and must not get it a second time from backoff. Pure functions;
//! `tty.rs` collects the facts.

use crate::policy::signal::Signal;

/// How much a system tells about the sender of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "each system uses one")]
pub(crate) enum Senders {
    /// `si_code` or `si_pid` mark each signal that the kernel sends by itself.
    Marked,
    /// They mark none. On macOS `si_code` is 0, and `si_pid` is the process in whose context the kernel posted the
    /// signal: for Ctrl-C the terminal emulator. The process has one such field: of several pending signals only the
    /// first has a sender, and a signal that was blocked when it came has none.
    Unmarked,
}

/// The place of this process in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    NoTerminal,
    Foreground,
    Background,
    /// The controlling terminal was closed or lost its line.
    LostTerminal,
}

/// The facts that a system reports about a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub(crate) signal: Signal,
    /// The kernel sent it by itself, as far as the system marks that.
    pub(crate) from_kernel: bool,
    /// The sender is the leader of this process's session.
    pub(crate) by_leader: bool,
    /// The signal is the one of Ctrl-T, which only some systems have.
    pub(crate) is_of_status_key: bool,
}

/// The sender of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The terminal, to every process of a group.
    Terminal,
    /// The kernel by itself, for another reason: a timer.
    Kernel,
    Process,
}

/// Decides who sent a signal, by how much the system tells (`senders`) and by the facts. Calls `find_place` only if the
/// place of this process matters, as that costs system calls.
pub(crate) fn origin(
    senders: Senders,
    evidence: Evidence,
    find_place: impl FnOnce() -> Place,
) -> Origin {
    if is_by_terminal(senders, evidence, find_place) {
        Origin::Terminal
    } else if evidence.from_kernel {
        Origin::Kernel
    } else {
        Origin::Process
    }
}

/// Returns true if the terminal sent the signal to a whole group. If the system does not mark such signals, that is
/// concluded from the place of this process: the terminal sends the signals of keys to its foreground group only. There
/// an INT, for example, that a process sent to a backoff in the foreground counts as the terminal's, and is not
/// forwarded to a command in backoff's group: nothing tells them apart.
fn is_by_terminal(
    senders: Senders,
    evidence: Evidence,
    find_place: impl FnOnce() -> Place,
) -> bool {
    let signal = evidence.signal;
    match senders {
        Senders::Marked => {
            evidence.from_kernel && (is_of_terminal(signal) || evidence.is_of_status_key)
        }
        Senders::Unmarked if evidence.is_of_status_key => find_place() == Place::Foreground,
        Senders::Unmarked => match signal {
            Signal::INT | Signal::QUIT | Signal::TSTP | Signal::WINCH => {
                find_place() == Place::Foreground
            }
            // The terminal sends them to a group that reads or writes in the background.
            Signal::TTIN | Signal::TTOU => find_place() == Place::Background,
            // If the session's leader (a shell) dies, the foreground group gets HUP in the leader's name, before the
            // terminal is taken away.
            Signal::HUP => match find_place() {
                Place::LostTerminal => true,
                Place::Foreground => evidence.by_leader,
                Place::Background | Place::NoTerminal => false,
            },
            // No terminal sends the others; only for a lost line CONT follows HUP, and nothing tells it from a
            // process's.
            _ => false,
        },
    }
}

/// Returns true for signals that a terminal sends: those of keys, of a use in the background, of a changed size, and
/// HUP for a lost line, with which the kernel also sends CONT.
fn is_of_terminal(signal: Signal) -> bool {
    let without_stops = [
        Signal::INT,
        Signal::QUIT,
        Signal::HUP,
        Signal::CONT,
        Signal::WINCH,
    ];
    signal.stops_a_job() || without_stops.contains(&signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [Signal; 4] = [Signal::INT, Signal::QUIT, Signal::TSTP, Signal::WINCH];
    const PLACES: [Place; 4] = [
        Place::NoTerminal,
        Place::Foreground,
        Place::Background,
        Place::LostTerminal,
    ];

    fn evidence(signal: Signal) -> Evidence {
        Evidence {
            signal,
            from_kernel: false,
            by_leader: false,
            is_of_status_key: false,
        }
    }

    #[track_caller]
    fn expect(senders: Senders, evidence: Evidence, places: &[Place]) {
        for place in PLACES {
            let origin = origin(senders, evidence, || place);
            assert_eq!(
                origin == Origin::Terminal,
                places.contains(&place),
                "{evidence:?} {place:?}"
            );
        }
    }

    #[test]
    fn a_marked_signal_of_the_kernel_is_the_terminals_wherever_backoff_stands() {
        let of_terminal = [
            &KEYS[..],
            &[Signal::TTIN, Signal::TTOU, Signal::HUP, Signal::CONT],
        ];
        for signal in of_terminal.concat() {
            let by_process = evidence(signal);
            let by_kernel = Evidence {
                from_kernel: true,
                ..by_process
            };
            expect(Senders::Marked, by_process, &[]);
            expect(Senders::Marked, by_kernel, &PLACES);
        }
        for signal in [Signal::TERM, Signal::ALRM, Signal::CHLD, Signal::PIPE] {
            let by_kernel = Evidence {
                from_kernel: true,
                ..evidence(signal)
            };
            expect(Senders::Marked, by_kernel, &[]);
            let origin = origin(Senders::Marked, by_kernel, || Place::Foreground);
            assert_eq!(origin, Origin::Kernel);
        }
    }

    #[test]
    fn without_marks_the_foreground_group_gets_keys() {
        for signal in KEYS {
            // A sender, or none because the signal was blocked or came second: the same.
            for from_kernel in [false, true] {
                let evidence = Evidence {
                    from_kernel,
                    ..evidence(signal)
                };
                expect(Senders::Unmarked, evidence, &[Place::Foreground]);
            }
        }
        for signal in [Signal::TTIN, Signal::TTOU] {
            expect(Senders::Unmarked, evidence(signal), &[Place::Background]);
        }
        for signal in [Signal::TERM, Signal::USR1, Signal::CHLD, Signal::PIPE] {
            expect(Senders::Unmarked, evidence(signal), &[]);
        }
    }

    #[test]
    fn without_marks_a_hang_up_is_the_terminals_once_it_is_lost_or_its_session_ends() {
        let hang_up = evidence(Signal::HUP);
        expect(Senders::Unmarked, hang_up, &[Place::LostTerminal]);
        let by_leader = Evidence {
            by_leader: true,
            ..hang_up
        };
        let places = [Place::LostTerminal, Place::Foreground];
        expect(Senders::Unmarked, by_leader, &places);
    }

    #[test]
    fn the_status_key_is_the_terminals() {
        let pressed = Evidence {
            is_of_status_key: true,
            ..evidence(Signal::USR1)
        };
        expect(Senders::Unmarked, pressed, &[Place::Foreground]);
        let marked = Evidence {
            from_kernel: true,
            ..pressed
        };
        expect(Senders::Marked, marked, &PLACES);
    }
}
