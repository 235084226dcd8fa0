//! Cleans a stream of bytes: what patterns see is what a person reads.
//!
//! - A line ends at LF or CR LF. A CR alone, a backspace and an escape sequence that moves the cursor or erases end it,
//!   too, if something is on it. Each end becomes an LF.
//! - Sequences without visible effect vanish: colors (SGR), `CSI K` and `CSI 0K` (erase the rest, where nothing is),
//!   modes, character sets, titles and links (OSC), other strings (DCS, SOS, PM, APC). A string ends at its terminator,
//!   or unfinished at another sequence, CAN, SUB or LF, or after 4 KiB.
//! - `CSI nC`, which moves the cursor over blanks, and each blank of Unicode become a space. U+200C and U+200D are no
//!   blanks: they join letters and emojis.
//! - All else stays, also bytes that are no text.
//!
//! Sources: ECMA-48 (the forms of sequences), xterm's "Control Sequences".
//!
//! Bytes come in pieces that may end anywhere, also inside of a sequence. So the cleaner is a machine with a state,
//! which takes special bytes one by one; plain text between them is copied at once.

pub(super) mod blanks;
mod plain_text;

use memchr::{memchr2, memchr3};

use self::blanks::{has_blank, is_blank_of_three, is_blank_of_two, may_become_blank};
use self::plain_text::{BACKSPACE, ESC, plain_length};

const BELL: u8 = 0x07;
/// These two cancel a sequence.
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;

/// Longest string of an OSC or DCS without its terminator, in bytes.
const LONGEST_STRING: usize = 4 * 1024;

/// Bytes of a color that are looked at ahead.
const LONGEST_COLOR: usize = 64;

/// The state of one stream.
#[derive(Debug, Clone, Default)]
pub struct Cleaner {
    state: State,
    /// The cleaned bytes of the last call.
    clean: Vec<u8>,
    /// Something is on the line. Without it, a motion of the cursor ends nothing: blank lines would come into being.
    has_text: bool,
    /// A CR has ended a line, and nothing has come out since, so that an LF is part of this end.
    after_cr: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// In a character of two or three bytes that may be a blank: the bytes that were held back, and how many of them
    /// are used.
    Blank([u8; 2], usize),
    /// After ESC.
    Escape,
    /// After ESC and a byte that announces one more, such as the `(` of a character set.
    Announced,
    /// After `ESC [`.
    Control(Parameters),
    /// In a string. Counts its bytes.
    String { ends_at_bell: bool, length: usize },
}

/// The knowledge about the parameters of a control sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameters {
    /// None, or zeros.
    Zero,
    Other,
    /// `CSI ? 25 h`, `CSI > 4 m`, or a sequence with intermediate bytes. None that ECMA-48 defines matters here.
    Private,
}

/// The use of a byte by a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Yes,
    /// Not taken: the byte ends what came before, and has to be handled as text.
    AsText,
}

/// Effect of a sequence on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    Blank,
    EndsLine,
}

impl Cleaner {
    /// Returns true if in the next bytes, which end with an LF, there is nothing to clean but the ends of lines, and
    /// they begin a line. The cleaner need not see them then.
    pub fn has_only_lines(&self, lines: &[u8]) -> bool {
        let begins_line = self.state == State::Text && !self.after_cr && !self.has_text;
        begins_line && memchr2(ESC, BACKSPACE, lines).is_none() && !has_blank_beyond_ascii(lines)
    }

    /// Cleans the next bytes of the stream, which may end anywhere: what is not complete is held back for the next
    /// call. Returns the bytes themselves, without a copy, if there is nothing to clean.
    pub fn clean<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [u8] {
        let is_untouched = self.state == State::Text && !self.after_cr;
        let may_have_blank = has_blank_beyond_ascii(bytes);
        if is_untouched && !may_have_blank && memchr3(ESC, b'\r', BACKSPACE, bytes).is_none() {
            // Nothing to clean.
            self.note_end_of(bytes);
            return bytes;
        }
        self.clean.clear();
        let mut unread = bytes;
        while !unread.is_empty() {
            if self.state == State::Text {
                let (plain, special) = unread.split_at(plain_length(unread, may_have_blank));
                self.put(plain);
                let taken = self.take_whole(special);
                unread = &special[taken..];
                if taken > 0 {
                    continue;
                }
            }
            if let Some((byte, after)) = unread.split_first() {
                match self.take(*byte) {
                    Taken::Yes => unread = after,
                    // The same byte once more, as text.
                    Taken::AsText => self.state = State::Text,
                }
            }
        }
        &self.clean
    }

    /// Ends the stream: returns the bytes of a character that were held back, and begins a new stream with the next
    /// call. A sequence without its end vanishes.
    pub fn finish(&mut self) -> &[u8] {
        self.clean.clear();
        self.put_held_bytes();
        // Keeps only the bytes to return.
        *self = Cleaner {
            clean: std::mem::take(&mut self.clean),
            ..Cleaner::default()
        };
        &self.clean
    }

    /// Adds text to the cleaned bytes. Leaves out an LF at its beginning if a CR stood before it: that has ended the
    /// line already. All that is copied goes through here.
    fn put(&mut self, text: &[u8]) {
        let Some((first, after_first)) = text.split_first() else {
            return;
        };
        let text = if self.after_cr && *first == b'\n' {
            after_first
        } else {
            text
        };
        self.after_cr = false;
        self.clean.extend_from_slice(text);
        self.note_end_of(text);
    }

    /// Notes if the line has text once these bytes have come out.
    fn note_end_of(&mut self, text: &[u8]) {
        self.has_text = text.last().map_or(self.has_text, |byte| *byte != b'\n');
    }

    /// Ends the line with an LF if something is on it, as after a motion of the cursor, where a person sees other text.
    fn end_line(&mut self) {
        if self.has_text {
            self.put(b"\n");
        }
    }

    /// Takes the CR of CR LF, a blank or a color at once, if `special` begins with one that is complete. Returns its
    /// length, or 0 if it has taken nothing. A shortcut for the most common cases: byte by byte the result is the same.
    fn take_whole(&mut self, special: &[u8]) -> usize {
        match *special {
            // The LF, which ends the line as it is, begins the next plain text.
            [b'\r', b'\n', ..] => 1,
            // A color vanishes.
            [ESC, b'[', ref parameters @ ..] => {
                length_of_color(parameters).map_or(0, |length| length + 2)
            }
            [first, second, ..] if is_blank_of_two(first, second) => {
                self.put(b" ");
                2
            }
            [first, second, third, ..] if is_blank_of_three(first, second, third) => {
                self.put(b" ");
                3
            }
            _ => 0,
        }
    }

    /// Takes the next byte, which is special or inside of something special, by the state. Returns [`Taken::AsText`] if
    /// the byte belongs to no sequence: the caller then ends the sequence and gives the byte once more.
    fn take(&mut self, byte: u8) -> Taken {
        match self.state {
            State::Text => self.take_in_text(byte),
            State::Blank(held, length) => self.take_in_blank(byte, held, length),
            State::Escape => self.take_after_escape(byte),
            // Any number of announcing bytes, and a last one.
            State::Announced => match byte {
                b' '..=b'/' => Taken::Yes,
                b'0'..=b'~' | CANCEL | SUBSTITUTE => self.take_end(Effect::Nothing),
                _ => Taken::AsText,
            },
            State::Control(parameters) => self.take_in_control(byte, parameters),
            State::String {
                ends_at_bell,
                length,
            } => self.take_in_string(byte, ends_at_bell, length),
        }
    }

    /// Takes a byte of text that is special, or begins something special: ESC, a backspace, a CR, or the first byte of
    /// a character that may be a blank. Any other byte does not come here.
    fn take_in_text(&mut self, byte: u8) -> Taken {
        match byte {
            ESC => self.state = State::Escape,
            BACKSPACE => self.end_line(),
            b'\r' => {
                // Of CR CR LF, the LF still belongs to the first end. A CR on an empty line ends nothing, and an LF
                // after it is a blank line.
                let ended_before = self.after_cr;
                let ends_now = self.has_text;
                self.end_line();
                self.after_cr = ends_now || ended_before;
            }
            _ => self.state = State::Blank([byte, 0], 1),
        }
        Taken::Yes
    }

    /// Takes the next byte of a character that may be a blank. `held` are its first bytes, `length` of which are there.
    /// A blank becomes a space; if it can be none any more, the held bytes are put out as they are.
    fn take_in_blank(&mut self, byte: u8, held: [u8; 2], length: usize) -> Taken {
        let [first, second] = held;
        let is_complete = match length {
            1 => is_blank_of_two(first, byte),
            _ => is_blank_of_three(first, second, byte),
        };
        if is_complete {
            self.put(b" ");
            self.state = State::Text;
        } else if length == 1 && may_become_blank(&[first, byte]) {
            self.state = State::Blank([first, byte], 2);
        } else {
            self.put_held_bytes();
            return Taken::AsText;
        }
        Taken::Yes
    }

    /// Adds the bytes of a character that were held back, as they are no blank. The caller changes the state.
    fn put_held_bytes(&mut self) {
        if let State::Blank(held, length) = self.state {
            self.put(&held[..length]);
        }
    }

    /// Takes the byte after ESC, which tells the kind of sequence: one that goes on, or a whole one that may move the
    /// cursor.
    fn take_after_escape(&mut self, byte: u8) -> Taken {
        match byte {
            ESC => {}
            b'[' => self.state = State::Control(Parameters::Zero),
            // OSC, DCS, SOS, PM, APC, and the title of screen. Only an OSC may end with BEL.
            b']' | b'P' | b'X' | b'^' | b'_' | b'k' => {
                self.state = State::String {
                    ends_at_bell: byte == b']',
                    length: 0,
                };
            }
            b' '..=b'/' => self.state = State::Announced,
            // Index, next line, reverse index, restore the cursor, reset.
            b'D' | b'E' | b'M' | b'8' | b'c' => return self.take_end(Effect::EndsLine),
            // All other sequences of two bytes, such as the terminator of a string, and a cancelled one.
            b'0'..=b'~' | CANCEL | SUBSTITUTE => return self.take_end(Effect::Nothing),
            // No sequence: only the ESC vanishes.
            _ => return Taken::AsText,
        }
        Taken::Yes
    }

    /// Takes a byte after `ESC [`: a parameter, which only changes what is known of all parameters, or the end of the
    /// sequence, which has its effect. An ESC cancels the sequence and begins another one; a byte that no sequence has,
    /// such as an LF, ends it and is text.
    fn take_in_control(&mut self, byte: u8, parameters: Parameters) -> Taken {
        let parameters = match (byte, parameters) {
            (ESC, _) => {
                self.state = State::Escape;
                return Taken::Yes;
            }
            (b'0' | b';' | b':', Parameters::Zero) => Parameters::Zero,
            (b'0'..=b';', Parameters::Zero | Parameters::Other) => Parameters::Other,
            // `?`, `>` and the like, intermediate bytes, and parameters that follow one of these.
            (b' '..=b'?', _) => Parameters::Private,
            (b'@'..=b'~', _) => return self.take_end(effect(byte, parameters)),
            (CANCEL | SUBSTITUTE, _) => return self.take_end(Effect::Nothing),
            _ => return Taken::AsText,
        };
        self.state = State::Control(parameters);
        Taken::Yes
    }

    /// Takes a byte of a string, such as a title, which vanishes. The string ends with its terminator (BEL only if
    /// `ends_at_bell`), or without one at another sequence, a cancellation, an LF or the limit: output that follows a
    /// broken sequence must not vanish with it.
    fn take_in_string(&mut self, byte: u8, ends_at_bell: bool, length: usize) -> Taken {
        self.state = match byte {
            // The terminator is `ESC \`, and any other sequence ends the string as well.
            ESC => State::Escape,
            BELL if ends_at_bell => State::Text,
            CANCEL | SUBSTITUTE => State::Text,
            b'\n' => return Taken::AsText,
            _ => {
                if length == LONGEST_STRING {
                    return Taken::AsText;
                }
                State::String {
                    ends_at_bell,
                    length: length + 1,
                }
            }
        };
        Taken::Yes
    }

    /// Takes the last byte of a sequence, which then has this effect on the line, and goes back to text. Returns
    /// [`Taken::Yes`], so that callers can return it.
    fn take_end(&mut self, effect: Effect) -> Taken {
        self.state = State::Text;
        match effect {
            Effect::Nothing => {}
            Effect::Blank => self.put(b" "),
            Effect::EndsLine => self.end_line(),
        }
        Taken::Yes
    }
}

/// Returns true if these bytes may have a blank of Unicode. Most texts are ASCII, which is seen faster.
fn has_blank_beyond_ascii(bytes: &[u8]) -> bool {
    !bytes.is_ascii() && has_blank(bytes)
}

/// Returns the effect of a control sequence that ends with this byte. Most that move the cursor or change text end the
/// line, as what follows does not stand behind what was printed. The groups are those of ECMA-48.
fn effect(end: u8, parameters: Parameters) -> Effect {
    match (end, parameters) {
        // Erases what follows the cursor, where nothing is.
        (b'K', Parameters::Zero) => Effect::Nothing,
        // Selective erasure.
        (b'J' | b'K', Parameters::Private) => Effect::EndsLine,
        // Modes of the terminal, such as a hidden cursor.
        (_, Parameters::Private) => Effect::Nothing,
        // Moves the cursor to the right, over what a person sees as blanks.
        (b'C', _) => Effect::Blank,
        // Lines, columns, tab stops, positions, a saved position.
        (b'A' | b'B' | b'D'..=b'I' | b'Z' | b'`' | b'a' | b'd'..=b'f' | b'j' | b'k' | b'u', _) => {
            Effect::EndsLine
        }
        // Inserts, deletes, erases and scrolls.
        (b'@' | b'J'..=b'M' | b'P' | b'S' | b'T' | b'X' | b'r', _) => Effect::EndsLine,
        _ => Effect::Nothing,
    }
}

/// Returns the length of a color (`31m`) behind its `ESC [`. Returns None if it is another sequence, not complete, or
/// longer than any color: these are taken byte by byte.
fn length_of_color(after_bracket: &[u8]) -> Option<usize> {
    let is_parameter = |byte: &&u8| matches!(byte, b'0'..=b';');
    let parameters = after_bracket
        .iter()
        .take(LONGEST_COLOR)
        .take_while(is_parameter);
    let length = parameters.count();
    if after_bracket.get(length) == Some(&b'm') {
        Some(length + 1)
    } else {
        None
    }
}

#[cfg(test)]
pub(crate) mod naive;
#[cfg(test)]
mod tests;
