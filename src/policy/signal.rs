//! Numbers and names of signals. `process` handles the signals.

use std::fmt;
use std::str::FromStr;

use nix::libc;

/// A signal number, including real-time signals, which have no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(u8);

macro_rules! well_known {
    ($($name:ident = $number:ident),* $(,)?) => {
        impl Signal {
            $(pub const $name: Signal = Signal(libc::$number as u8);)*
        }
    };
}

well_known! {
    HUP = SIGHUP, INT = SIGINT, QUIT = SIGQUIT, KILL = SIGKILL, PIPE = SIGPIPE, TERM = SIGTERM,
    CHLD = SIGCHLD, CONT = SIGCONT, STOP = SIGSTOP, TSTP = SIGTSTP, TTIN = SIGTTIN, TTOU = SIGTTOU,
    WINCH = SIGWINCH, USR1 = SIGUSR1, ALRM = SIGALRM, XFSZ = SIGXFSZ,
}

impl Signal {
    /// Returns the signal with this number, from 1 to the platform's highest (64 on Linux). None for any other number.
    pub fn from_number(number: i32) -> Option<Signal> {
        if (1..=highest()).contains(&number) {
            Some(Signal(number as u8))
        } else {
            None
        }
    }

    pub fn number(self) -> i32 {
        i32::from(self.0)
    }

    /// Returns 128+N, which a shell shows in `$?` after a death by this signal.
    pub fn shell_status(self) -> u8 {
        128 + self.0
    }

    /// Returns true for a signal that ends, stops or continues a whole job. Any other is meant for one process.
    pub fn is_for_job(self) -> bool {
        let ends = matches!(
            self,
            Signal::TERM | Signal::INT | Signal::QUIT | Signal::KILL
        );
        ends || self.stops_a_job() || matches!(self, Signal::STOP | Signal::CONT)
    }

    /// Returns true for SIGTSTP, SIGTTIN and SIGTTOU, with which a terminal's job control stops a job.
    pub fn stops_a_job(self) -> bool {
        matches!(self, Signal::TSTP | Signal::TTIN | Signal::TTOU)
    }
}

/// Returns the names of all signals, with and without `SIG`.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let names = nix::sys::signal::Signal::iterator().map(nix::sys::signal::Signal::as_str);
    names.flat_map(|name| [name.trim_start_matches("SIG"), name])
}

/// Returns the highest signal number, which is a real-time signal on systems that have them.
fn highest() -> i32 {
    match std::env::consts::OS {
        "linux" | "android" => 64,
        "freebsd" => 126,
        _ => 31,
    }
}

/// Formats as `SIGTERM`, or as `signal 37` for a number without a name.
impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number();
        if let Ok(known) = nix::sys::signal::Signal::try_from(number) {
            return f.write_str(known.as_str());
        }
        write!(f, "signal {number}")
    }
}

impl FromStr for Signal {
    type Err = ();

    /// Parses `TERM`, `SIGTERM`, `term` or `15`. The error is empty, because the option that takes the signal words the
    /// message.
    fn from_str(text: &str) -> Result<Signal, ()> {
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().ok().and_then(Signal::from_number).ok_or(());
        }
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        // Synonyms in signal(7).
        let name = match name {
            "CLD" => "CHLD",
            "POLL" => "IO",
            "IOT" => "ABRT",
            other => other,
        };
        nix::sys::signal::Signal::from_str(&format!("SIG{name}"))
            .map(|known| Signal(known as u8))
            .map_err(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_read_as_kill_reads_them() {
        for text in ["TERM", "SIGTERM", "term", "sigterm", "15"] {
            assert_eq!(text.parse(), Ok(Signal::TERM), "{text}");
        }
        assert_eq!("CLD".parse(), Ok(Signal::CHLD));
        let wrong = ",0,127,-1,+9,TERMM,SIG,１５,4294967311";
        for text in wrong.split(',') {
            assert_eq!(text.parse::<Signal>(), Err(()), "{text}");
        }
    }

    #[test]
    fn every_signal_survives_its_name() {
        for number in 1..=highest() {
            let signal = Signal::from_number(number).unwrap();
            let shown = signal.to_string();
            if !shown.contains(' ') {
                assert_eq!(shown.parse(), Ok(signal), "{shown}");
            }
        }
    }
}
