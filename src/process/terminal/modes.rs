//! The modes (termios) of our terminal, that is the one on standard input. They are reset to those before the first
//! attempt after an attempt that was killed, has failed or is followed by another one: a killed program leaves a terminal
//! without echo.

use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};

use crate::process::sys::fd::{inherited, is_piped};
use crate::process::sys::stdio;
use crate::process::sys::tty::{has_foreground, has_terminal};

fn get() -> Option<Termios> {
    tcgetattr(inherited(stdio::IN)).ok()
}

/// Sets modes at once, without waiting for output to drain, which a stopped terminal (Ctrl-S) would delay. Keeps typed
/// input.
fn set(modes: &Termios) {
    let _ = tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, modes);
}

/// The modes of the terminal on standard input before the first attempt that began in its foreground.
#[derive(Debug, Default)]
pub(crate) struct Before(Option<Termios>);

impl Before {
    /// Saves the modes on the first call in the foreground. Later calls do nothing: an earlier attempt may have changed
    /// the modes. In the background they are those of another job.
    pub(crate) fn save_once(&mut self) {
        if has_terminal() && self.0.is_none() && has_foreground(inherited(stdio::IN)) {
            self.0 = get();
        }
    }

    /// Restores the saved modes after an attempt that has failed or that another one follows, whose command may have
    /// ended by itself. If standard output is a pipe, the modes stay, as the pipe's reader may be a pager that has set
    /// them.
    pub(crate) fn restore_unless_piped(&self) {
        if self.0.is_some() && !is_piped(stdio::OUT) {
            self.restore();
        }
    }

    /// Restores the saved modes if backoff is in the foreground: in the background, the foreground job has set its own.
    pub(crate) fn restore(&self) {
        if let Some(before) = &self.0
            && has_foreground(inherited(stdio::IN))
        {
            set(before);
        }
    }
}
