//! What was read of standard input and is kept for the next attempt, up to a limit.

use std::io;

use super::spool::Spool;

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) spool: Spool,
    limit: u64,
    /// It was more than the limit, or could not be kept: it cannot be given again.
    pub(super) is_lost: bool,
}

impl Kept {
    pub(super) fn new(limit: u64) -> Kept {
        Kept {
            spool: Spool::default(),
            limit,
            is_lost: false,
        }
    }

    pub(super) fn has_room_for(&self, count: usize) -> bool {
        self.spool.len() + count as u64 <= self.limit
    }

    /// Keeps this too, unless something is lost already.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() || self.is_lost {
            return Ok(());
        }
        if !self.has_room_for(bytes.len()) {
            self.lose();
            return Ok(());
        }
        self.spool.append(bytes).inspect_err(|_| self.lose())
    }

    /// Something is missing: the rest is of no use.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.spool.clear();
    }
}
