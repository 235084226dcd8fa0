//! The settings of our own terminal: raw while what is typed goes to the command, and back on every way out; and those
//! from before an attempt, where that has left others behind.

use std::fs::File;
use std::sync::Mutex;

use nix::sys::termios::{LocalFlags, SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};

use super::company::is_alone;
use super::foreground::{is_ours, terminal_in_foreground};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// The settings that our terminal had before it was put into raw mode, while it is.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

/// What a question for a password switches off.
const ECHOES: LocalFlags = LocalFlags::ECHO
    .union(LocalFlags::ECHOE)
    .union(LocalFlags::ECHOK)
    .union(LocalFlags::ECHONL);

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

/// Gives our terminal back the settings it had before it was put into raw mode; does nothing if it is not.
pub(crate) fn restore() {
    let Ok(mut saved) = SAVED.try_lock() else { return };
    // In the background the terminal is somebody else's, who has set it as they need it.
    if let Some(settings) = saved.take()
        && is_ours(stdio::IN)
    {
        let _ = tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, &settings);
    }
}

/// What the controlling terminal was set to before an attempt.
#[derive(Debug, Default)]
pub(crate) struct Before(Option<Termios>);

impl Before {
    /// An attempt begins on this terminal, which is backoff's for now.
    pub(crate) fn note(&mut self, terminal: &File) {
        // Where keys make no lines or no signals it is another's for as long as that needs it, in the same pipeline.
        let usual = LocalFlags::ICANON | LocalFlags::ISIG;
        if let Ok(settings) = tcgetattr(terminal)
            && settings.local_flags.contains(usual)
        {
            self.0 = Some(settings);
        }
    }

    /// Puts it back, unless another job has the terminal, or another program of this one may have set it.
    pub(crate) fn put_back(&self) {
        let Some(before) = &self.0 else { return };
        let Some(terminal) = terminal_in_foreground() else {
            return;
        };
        let Ok(now) = tcgetattr(&terminal) else { return };
        let mut before = before.clone();
        if !before.local_flags.contains(LocalFlags::ECHO) {
            // Somebody may have asked for a password, and be done: what is typed is never hidden again.
            before.local_flags |= now.local_flags & ECHOES;
        }
        if now != before && is_alone() {
            // At once: where output is stopped (Ctrl-S) a wait for it would be deaf. What was typed is kept.
            let _ = tcsetattr(&terminal, SetArg::TCSANOW, &before);
        }
    }
}
