//! The modes of our own terminal: raw while what is typed goes to the command, and restored on every way out; and those
//! from before the first attempt, put back after one that has failed.

use std::sync::Mutex;

use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};

use super::control::{has_foreground, is_ours};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// The modes that our terminal had before it was put into raw mode, while it is.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

fn get() -> Option<Termios> {
    tcgetattr(inherited(stdio::IN)).ok()
}

/// Sets modes at once: a terminal that is stopped (Ctrl-S) would delay it. What was typed is kept.
fn set(modes: &Termios) -> bool {
    tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, modes).is_ok()
}

/// Puts the terminal on standard input into raw mode. Returns false if another job has it.
pub(super) fn make_raw() -> bool {
    let Ok(mut saved) = SAVED.lock() else { return false };
    if !is_ours(stdio::IN) {
        return false;
    }
    // After a STOP that nobody could hear of, they are saved still.
    let Some(modes) = saved.take().or_else(get) else {
        return false;
    };
    let mut raw = modes.clone();
    cfmakeraw(&mut raw);
    *saved = Some(modes);
    set(&raw)
}

/// Gives our terminal back the modes it had before it was put into raw mode; does nothing if it is not.
pub(crate) fn restore() {
    let Ok(mut saved) = SAVED.try_lock() else { return };
    // In the background the terminal is another job's, which has set it as it needs it.
    if let Some(modes) = saved.take()
        && is_ours(stdio::IN)
    {
        set(&modes);
    }
}

/// The modes of the terminal on standard input before the first attempt that began in its foreground.
#[derive(Debug, Default)]
pub(crate) struct Before(Option<Termios>);

impl Before {
    /// Notes the modes, once.
    pub(crate) fn note(&mut self) {
        if self.0.is_none() && has_foreground(inherited(stdio::IN)) {
            self.0 = get();
        }
    }

    /// Puts the modes back after an attempt that has failed, if backoff is in the foreground. After an end of the command's own
    /// they stay if standard output is a pipe, as its reader may be a pager that has set them; not if a limit or a signal
    /// `cut` the attempt.
    pub(crate) fn put_back(&self, cut: bool) {
        if let Some(before) = &self.0
            && (cut || !stdio::output_is_piped())
            && has_foreground(inherited(stdio::IN))
            && get().is_some_and(|now| now != *before)
        {
            set(before);
        }
    }
}
