//! The modes (termios) of the terminal on standard input. After an attempt that was killed, failed or is followed by
//! another one, they are reset to those before the first attempt. A killed program leaves a terminal without echo.

use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};

use crate::process::sys::fd::{inherited, is_piped};
use crate::process::sys::stdio;
use crate::process::sys::tty::{has_foreground, has_terminal};

/// The terminal modes before the first attempt that began in the foreground.
#[derive(Debug, Default)]
pub(crate) struct Before(Option<Termios>);

impl Before {
    /// Saves the modes on the first call in the foreground. Later calls do nothing, as an earlier attempt may have
    /// changed the modes. In the background they are those of another job.
    pub(crate) fn save_once(&mut self) {
        if has_terminal() && self.0.is_none() && has_foreground(inherited(stdio::IN)) {
            self.0 = tcgetattr(inherited(stdio::IN)).ok();
        }
    }

    /// Restores the saved modes after an attempt that failed or is followed by another one, and that may have exited on
    /// its own. Keeps the modes if standard output is a pipe, as its reader may be a pager that has set them.
    pub(crate) fn restore_unless_piped(&self) {
        if self.0.is_some() && !is_piped(stdio::OUT) {
            self.restore();
        }
    }

    /// Restores the saved modes if backoff is in the foreground. Otherwise the foreground job has set its own.
    pub(crate) fn restore(&self) {
        if let Some(before) = &self.0
            && has_foreground(inherited(stdio::IN))
        {
            // Keeps typed input, and does not wait for output to drain, which a stopped terminal (Ctrl-S) would delay.
            let _ = tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, before);
        }
    }
}
