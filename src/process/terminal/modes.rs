//! The modes of our own terminal: raw while what is typed goes to the command, and restored on every way out; and those
//! from before the first attempt, put back after one that has failed.

use std::sync::Mutex;

use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};

use super::foreground::{has_foreground, is_ours};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// The modes that our terminal had before it was put into raw mode, while it is.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

/// What became of an attempt to put our terminal into raw mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raw {
    Done,
    /// Not now: another job has the terminal.
    NotNow,
    /// It has no settings.
    Never,
}

/// Puts the terminal on standard input into raw mode.
pub(super) fn make_raw() -> Raw {
    let Ok(mut saved) = SAVED.lock() else {
        return Raw::NotNow;
    };
    if !is_ours(stdio::IN) {
        return Raw::NotNow;
    }
    // After a STOP that nobody could hear of, they are saved still.
    let Some(settings) = saved.take().or_else(|| tcgetattr(inherited(stdio::IN)).ok()) else {
        return Raw::Never;
    };
    let mut raw = settings.clone();
    cfmakeraw(&mut raw);
    let is_raw = tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, &raw).is_ok();
    *saved = Some(settings);
    if is_raw { Raw::Done } else { Raw::NotNow }
}

/// Gives our terminal back the modes it had before it was put into raw mode; does nothing if it is not.
pub(crate) fn restore() {
    let Ok(mut saved) = SAVED.try_lock() else { return };
    // In the background the terminal is somebody else's, who has set it as they need it.
    if let Some(settings) = saved.take()
        && is_ours(stdio::IN)
    {
        let _ = tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, &settings);
    }
}

/// The modes of the terminal on standard input before the first attempt that began in its foreground.
#[derive(Debug, Default)]
pub(crate) struct Before(Option<Termios>);

impl Before {
    /// Notes the modes, once.
    pub(crate) fn note(&mut self) {
        if self.0.is_none() && has_foreground(stdio::IN) {
            self.0 = tcgetattr(inherited(stdio::IN)).ok();
        }
    }

    /// Puts the modes back after an attempt that has failed, if backoff is in the foreground. `was_ended`: by a limit or a
    /// signal. After any other end they stay if standard output is a pipe: its reader may be a pager that has set them.
    pub(crate) fn put_back(&self, was_ended: bool) {
        if let Some(before) = &self.0
            && (was_ended || !stdio::output_is_piped())
            && has_foreground(stdio::IN)
            && tcgetattr(inherited(stdio::IN)).is_ok_and(|now| now != *before)
        {
            // At once: a terminal that is stopped (Ctrl-S) would delay it. What was typed is kept.
            let _ = tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, before);
        }
    }
}
