//! Cuts a stream into lines of limited length.

/// Limit on the bytes of a line that are shown; requests to wait stand at the beginning.
const LONGEST: usize = 8 * 1024;

/// The unfinished last line of the stream so far.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Takes a piece of the stream, and shows the lines that it completes.
    pub fn push(&mut self, piece: &[u8], show: &mut impl FnMut(&[u8])) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let free = LONGEST.saturating_sub(self.rest.len());
            self.rest.extend_from_slice(&text[..text.len().min(free)]);
            if text.len() < part.len() {
                show(&self.rest);
                self.rest.clear();
            }
        }
    }

    /// Shows a last line without an end.
    pub fn finish(&mut self, show: &mut impl FnMut(&[u8])) {
        if !self.rest.is_empty() {
            show(&self.rest);
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests;
