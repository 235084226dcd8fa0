//! The modes (termios) of our terminal, that is the one on standard input. They are raw while typed input goes to the
//! command (`--pty`), restored on every way out, and reset to those before the first attempt after an attempt that was
//! killed, has failed or is followed by another one: a killed program leaves a terminal without echo.

use std::sync::Mutex;

use nix::libc;
use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices as Key, Termios, cfmakeraw, tcgetattr, tcsetattr,
};

use super::may_use;
use crate::policy::signal::Signal;
use crate::process::signals::is_ignored;
use crate::process::sys::fd::{inherited, is_piped};
use crate::process::sys::stdio;
use crate::process::sys::system::has_hung_up;
use crate::process::sys::tty::{has_foreground, has_terminal};

/// Our terminal's modes before raw mode, from [`make_raw`] to [`restore`]; None at other times.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);

pub(super) fn get() -> Option<Termios> {
    tcgetattr(inherited(stdio::IN)).ok()
}

/// Sets modes at once, without waiting for output to drain, which a stopped terminal (Ctrl-S) would delay. Keeps typed
/// input. Returns true if the modes were set.
fn set(modes: &Termios) -> bool {
    tcsetattr(inherited(stdio::IN), SetArg::TCSANOW, modes).is_ok()
}

/// Returns true if the terminal on standard input was closed or lost its line.
pub(super) fn terminal_is_gone() -> bool {
    has_hung_up(inherited(stdio::IN))
}

/// Returns the keys, with their signals, that a terminal in these modes turns into signals, except signals that backoff
/// ignores, and so could not forward: such a key goes to the command as a byte, and the command's terminal makes the
/// signal. None if the modes turn no key into a signal (no ISIG), as those of an editor.
pub(super) fn signal_keys(modes: &Termios) -> Option<Vec<(u8, Signal)>> {
    if !modes.local_flags.contains(LocalFlags::ISIG) {
        return None;
    }
    let keys = [
        (Key::VINTR, Signal::INT),
        (Key::VQUIT, Signal::QUIT),
        (Key::VSUSP, Signal::TSTP),
    ];
    let mut used = Vec::new();
    for (key, signal) in keys {
        let byte = modes.control_chars[key as usize];
        if byte != libc::_POSIX_VDISABLE && !is_ignored(signal) {
            used.push((byte, signal));
        }
    }
    Some(used)
}

/// Returns the signal keys of our terminal's modes before raw mode. None if it is not in raw mode, or if those modes
/// turn no key into a signal.
pub(super) fn signal_keys_before_raw() -> Option<Vec<(u8, Signal)>> {
    let saved = SAVED.lock().ok()?;
    signal_keys(saved.as_ref()?)
}

/// Puts the terminal on standard input into raw mode, and saves the modes from before for [`restore`]. Returns false if
/// it is not raw: another job has the terminal, or it has no modes or refuses these.
pub(super) fn make_raw() -> bool {
    let Ok(mut saved) = SAVED.lock() else {
        return false;
    };
    // After a STOP, which cannot be caught, the terminal may still be raw: then the modes from before are saved
    // already.
    let Some(modes) = saved.clone().or_else(get) else {
        return false;
    };
    if !may_use(stdio::IN) {
        return false;
    }
    let mut raw = modes.clone();
    *saved = Some(modes);
    cfmakeraw(&mut raw);
    set(&raw)
}

/// Restores the modes from before raw mode, unless another job has our terminal, and forgets them in any case. Does
/// nothing without [`make_raw`] before, so it may be called on every way out.
pub(crate) fn restore() {
    // A panic may come while the lock is held: then waiting for it would never end.
    let Ok(mut saved) = SAVED.try_lock() else {
        return;
    };
    // In the background, the foreground job has set the modes that it needs.
    if let Some(modes) = saved.take()
        && may_use(stdio::IN)
    {
        set(&modes);
    }
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
