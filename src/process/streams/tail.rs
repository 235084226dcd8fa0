//! The end of what an attempt prints, for hooks (`--hook-output`).

/// At most so many bytes, the last ones.
pub(super) struct Tail {
    limit: usize,
    bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn new(limit: usize) -> Tail {
        Tail {
            limit,
            bytes: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Not before it is twice as much: each byte is moved once, whatever the size of the pieces.
        if self.bytes.len() > 2 * self.limit {
            // With the byte before, which may end a line.
            self.bytes.drain(..self.bytes.len() - self.limit - 1);
        }
    }

    /// The end. What is cut begins with a line, if that takes no more than half of it, and else with a character.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        let Some(cut) = self.bytes.len().checked_sub(self.limit).filter(|cut| *cut > 0) else {
            return self.bytes;
        };
        let half = &self.bytes[cut - 1..cut + self.limit / 2];
        let begin = match half.iter().position(|byte| *byte == b'\n') {
            Some(end_of_line) => cut + end_of_line,
            None => {
                let goes_on = |byte: &&u8| **byte & 0xc0 == 0x80;
                cut + self.bytes[cut..].iter().take(3).take_while(goes_on).count()
            }
        };
        self.bytes.drain(..begin);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tail(limit: usize, pieces: &[&str]) -> String {
        let mut tail = Tail::new(limit);
        pieces.iter().for_each(|piece| tail.push(piece.as_bytes()));
        String::from_utf8_lossy(&tail.into_bytes()).into_owned()
    }

    #[test]
    fn what_is_cut_begins_with_a_line_if_that_is_near() {
        assert_eq!(tail(8, &["ab\n", "cd\n"]), "ab\ncd\n");
        assert_eq!(tail(8, &["ab\n", "cd\n", "ef\n"]), "cd\nef\n");
        assert_eq!(tail(6, &["ab\n", "cd\n", "ef\n"]), "cd\nef\n");
        assert_eq!(tail(8, &["ab\n", "cdefghij\n"]), "defghij\n");
        assert_eq!(tail(8, &["one long line"]), "ong line");
        assert_eq!(tail(8, &["ab\u{20ac}cdefg"]), "\u{20ac}cdefg");
        assert_eq!(tail(7, &["ab\u{20ac}cdefg"]), "cdefg");
        assert_eq!(tail(1, &["ab\n"]), "\n");
        assert_eq!(tail(1, &["abc"]), "c");
    }

    proptest! {
        #[test]
        fn it_is_an_end_however_it_comes(
            pieces in prop::collection::vec(prop::collection::vec(prop::sample::select(b"ab\n\xe2\x82\xac".to_vec()), 0..20), 0..20),
            limit in 1..30_usize,
        ) {
            let mut bytewise = Tail::new(limit);
            let mut piecewise = Tail::new(limit);
            for piece in &pieces {
                piecewise.push(piece);
                piece.iter().for_each(|byte| bytewise.push(&[*byte]));
            }
            let all = pieces.concat();
            let end = piecewise.into_bytes();
            prop_assert!(all.ends_with(&end) && end.len() <= limit);
            let least = if all.len() > limit { limit - limit / 2 } else { all.len() + 3 };
            prop_assert!(end.len() + 3 >= least);
            prop_assert_eq!(end, bytewise.into_bytes());
        }
    }
}
