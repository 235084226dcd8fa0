//! The end of a stream, in bounded memory.

/// The last bytes of a stream.
#[derive(Debug)]
pub struct Tail {
    limit: usize,
    bytes: Vec<u8>,
    /// Older bytes were dropped.
    is_cut: bool,
}

impl Tail {
    pub fn new(limit: usize) -> Tail {
        Tail {
            limit,
            bytes: Vec::new(),
            is_cut: false,
        }
    }

    /// Adds bytes. Drops the oldest at twice the limit, so that each byte is moved only once.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * self.limit {
            self.bytes.drain(..self.bytes.len() - self.limit);
            self.is_cut = true;
        }
    }

    /// Returns the last bytes, up to the limit. If older ones are missing, the tail begins with a whole line if one
    /// begins in its first half.
    pub fn bytes(&self) -> &[u8] {
        let excess = self.bytes.len().saturating_sub(self.limit);
        let tail = &self.bytes[excess..];
        if excess == 0 && !self.is_cut {
            return tail;
        }
        let first_half = &tail[..tail.len() / 2];
        match first_half.iter().position(|byte| *byte == b'\n') {
            Some(end) => &tail[end + 1..],
            None => tail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(limit: usize, pieces: &[&str]) -> String {
        let mut tail = Tail::new(limit);
        pieces.iter().for_each(|piece| tail.push(piece.as_bytes()));
        String::from_utf8_lossy(tail.bytes()).into_owned()
    }

    #[test]
    fn what_is_cut_begins_with_a_line_if_that_is_near() {
        assert_eq!(tail(8, &["ab\n", "cd\n"]), "ab\ncd\n");
        assert_eq!(tail(8, &["ab\n", "cd\n", "ef\n"]), "cd\nef\n");
        assert_eq!(tail(8, &["ab\n", "cdefghij\n"]), "defghij\n");
        assert_eq!(tail(8, &["one long line"]), "ong line");
        assert_eq!(tail(4, &["one\ntwo\nthree\nfo", "ur"]), "four");
    }
}
