//! Numbers and names of signals. `process` handles the signals.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use nix::libc;

/// A signal number, real-time signals included (which `nix::sys::signal::Signal` cannot name).
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
    /// Returns a signal by number, 1 to the platform's highest (64 on Linux); None for any other number.
    pub fn from_number(number: i32) -> Option<Signal> {
        if (1..=highest()).contains(&number) {
            Some(Signal(number as u8))
        } else {
            None
        }
    }

    pub fn all() -> impl Iterator<Item = Signal> {
        (1..=highest()).filter_map(Signal::from_number)
    }

    pub fn number(self) -> i32 {
        i32::from(self.0)
    }

    /// Returns the number that a shell shows in `$?` after a death by this signal: 128+N.
    pub fn shell_status(self) -> u8 {
        128 + self.0
    }

    /// Returns true for TSTP, TTIN and TTOU, by which the terminal's job control stops a job.
    pub fn stops_a_job(self) -> bool {
        matches!(self, Signal::TSTP | Signal::TTIN | Signal::TTOU)
    }
}

/// Returns the numbers of the real-time signals, if the platform has any: fixed ones, not those of this program's C
/// library.
fn real_time() -> Option<RangeInclusive<i32>> {
    real_time_of(std::env::consts::OS)
}

/// Returns the numbers of the real-time signals on a system (a value of `std::env::consts::OS`). On Linux RTMIN is the
/// number that bash and `kill(1)` use with glibc, whichever C library this program has: a user who types `RTMIN+1`
/// means theirs, and musl would begin one number later.
fn real_time_of(system: &str) -> Option<RangeInclusive<i32>> {
    match system {
        "linux" | "android" => Some(34..=64),
        "freebsd" => Some(65..=126),
        _ => None,
    }
}

/// Returns the highest signal number: 31 on systems with classic signals only.
fn highest() -> i32 {
    real_time().map_or(31, |range| *range.end())
}

/// Formats as `SIGTERM`, `SIGRTMIN+3`, or `signal 32` for a number without a name.
impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number();
        if let Ok(known) = nix::sys::signal::Signal::try_from(number) {
            return f.write_str(known.as_str());
        }
        match real_time() {
            Some(range) if range.contains(&number) => match number - range.start() {
                0 => f.write_str("SIGRTMIN"),
                n => write!(f, "SIGRTMIN+{n}"),
            },
            _ => write!(f, "signal {number}"),
        }
    }
}

impl FromStr for Signal {
    type Err = ();

    /// Parses `TERM`, `SIGTERM`, `term`, `15`, `RTMIN`, `RTMIN+1` or `RTMAX-2`. The error says nothing, as the option
    /// that takes the signal words the message.
    fn from_str(text: &str) -> Result<Signal, ()> {
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().ok().and_then(Signal::from_number).ok_or(());
        }
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        if let Some(signal) = real_time_by_name(name) {
            return Ok(signal);
        }
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

/// Reads `RTMIN`, `RTMIN+N`, `RTMAX` and `RTMAX-N`; None for any other name, and for a number out of the platform's
/// range.
fn real_time_by_name(name: &str) -> Option<Signal> {
    let range = real_time()?;
    let number = if let Some(offset) = name.strip_prefix("RTMIN") {
        range.start().checked_add(signed(offset)?)?
    } else {
        let offset = name.strip_prefix("RTMAX")?;
        range.end().checked_add(signed(offset)?)?
    };
    if !range.contains(&number) {
        return None;
    }
    Signal::from_number(number)
}

/// Reads `+N` or `-N`; an empty text is 0, anything else None.
fn signed(offset: &str) -> Option<i32> {
    match offset.as_bytes() {
        [] => Some(0),
        [b'+' | b'-', ..] => offset.parse().ok(),
        _ => None,
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
        let wrong = ",0,65,-1,+9,TERMM,RTMIN+99,RTMAX-99,RTMIN-1,RTMIN1,RTMAX+1,RTMIN+-1,SIG,１５,4294967311";
        for text in wrong.split(',') {
            assert_eq!(text.parse::<Signal>(), Err(()), "{text}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn real_time_signals_have_names() {
        // Also with musl, which reserves 34.
        assert_eq!("RTMIN+1".parse::<Signal>().map(Signal::number), Ok(35));
        assert_eq!("SIGRTMAX".parse::<Signal>().map(Signal::number), Ok(64));
        assert_eq!("RTMAX-2".parse::<Signal>().map(Signal::number), Ok(62));
        assert_eq!(
            "RTMIN+3".parse::<Signal>().unwrap().to_string(),
            "SIGRTMIN+3"
        );
        assert_eq!(
            "RTMAX".parse::<Signal>().unwrap().to_string(),
            "SIGRTMIN+30"
        );
    }

    #[test]
    fn some_systems_have_no_real_time_signals() {
        assert_eq!(real_time_of("freebsd"), Some(65..=126));
        assert_eq!(real_time_of("macos"), None);
    }

    #[test]
    fn every_signal_survives_its_name() {
        assert_eq!(Signal::all().map(Signal::number).max(), Some(highest()));
        for signal in Signal::all() {
            let shown = signal.to_string();
            if !shown.contains(' ') {
                assert_eq!(shown.parse(), Ok(signal), "{shown}");
            }
        }
    }
}
