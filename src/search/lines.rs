//! Cleans a stream and cuts it into lines of limited length, for a reader that looks at one line at a time, such as the
//! one that looks for a `Retry-After`. A line without an end must not fill the memory: a long one is shown in parts,
//! which overlap, so that the reader sees some text twice.

use super::clean::Cleaner;

/// Limit on the bytes of a line that are shown at once. A longer line is shown in parts.
const LONGEST: usize = 8 * 1024;
/// Bytes that two parts share, so that a text up to this length is complete in one of them.
const OVERLAP: usize = LONGEST / 8;

/// The state of one stream: its cleaner, and its unfinished last line so far.
#[derive(Debug, Default)]
pub struct Lines {
    cleaner: Cleaner,
    unfinished: Vec<u8>,
}

impl Lines {
    /// Takes a piece of the stream, which may end anywhere, and shows the lines that it completes, cleaned, each with
    /// its `\n`. Parts of a long line, except the last, have none.
    pub fn push(&mut self, piece: &[u8], show: &mut impl FnMut(&[u8])) {
        // Taken out for the call, as the cleaned bytes may lie in it.
        let mut cleaner = std::mem::take(&mut self.cleaner);
        self.push_clean(cleaner.clean(piece), show);
        self.cleaner = cleaner;
    }

    /// Ends the stream, and shows a last line without an end as if it had one. Without such a line, shows an empty one,
    /// in which no reader finds anything. The next push begins a new stream.
    pub fn finish(&mut self, show: &mut impl FnMut(&[u8])) {
        let mut cleaner = std::mem::take(&mut self.cleaner);
        self.push_clean(cleaner.finish(), show);
        self.push_clean(b"\n", show);
    }

    /// Calls `show` for each line that a cleaned piece completes, and for each full part of a long one. Keeps the
    /// unfinished line, or of a long one the end of the last part, with which the next part begins.
    fn push_clean(&mut self, piece: &[u8], show: &mut impl FnMut(&[u8])) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.unfinished.extend_from_slice(part);
            while self.unfinished.len() > LONGEST {
                show(&self.unfinished[..LONGEST]);
                self.unfinished.drain(..LONGEST - OVERLAP);
            }
            if part.ends_with(b"\n") {
                show(&self.unfinished);
                self.unfinished.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_they_come() {
        let text = b"one\n\ntwo\r\nthree";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut seen: Vec<Vec<u8>> = Vec::new();
            for piece in text.chunks(size) {
                lines.push(piece, &mut |line| seen.push(line.to_vec()));
            }
            lines.finish(&mut |line| seen.push(line.to_vec()));
            assert_eq!(seen, [&b"one\n"[..], b"\n", b"two\n", b"three\n"]);
        }
    }

    #[test]
    fn a_long_line_is_shown_in_parts_that_overlap() {
        let line: Vec<u8> = (0..5000)
            .flat_map(|n| format!(" {n}").into_bytes())
            .collect();
        for size in [1, 1000, line.len()] {
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            let mut show = |part: &[u8]| {
                assert!(part.len() <= LONGEST + 1);
                let new = if seen.is_empty() { 0 } else { OVERLAP };
                assert!(seen.ends_with(&part[..new]));
                seen.extend_from_slice(&part[new..]);
            };
            for piece in line.chunks(size) {
                lines.push(piece, &mut show);
            }
            lines.finish(&mut show);
            assert!(seen == [&line[..], b"\n"].concat());
        }
    }
}
