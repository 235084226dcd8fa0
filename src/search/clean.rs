//! Cleans a stream of bytes: what patterns see is what a person reads.
//!
//! - A line ends at LF, CR LF or CR. A backspace and an escape sequence that moves the cursor or erases end it, too, if
//!   something is on it. Each end becomes an LF.
//! - Sequences without visible effect vanish: colors (SGR), `CSI K` and `CSI 0K` (erase what follows, where nothing is),
//!   modes, character sets, titles and links (OSC), and other strings (DCS, SOS, PM, APC). A string ends at its terminator,
//!   or unfinished at LF or after 4 KiB.
//! - `CSI nC`, which moves the cursor over blanks, and each blank of Unicode become a space. U+200C and U+200D are no
//!   blanks: they join letters and emojis.
//! - All else stays, also bytes that are no text.
//!
//! Sources: ECMA-48 (the forms of sequences), xterm's "Control Sequences".

use memchr::{memchr, memchr3};

const ESC: u8 = 0x1b;
const BELL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;
/// These two cancel a sequence.
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;

/// Longest string of an OSC or DCS without its terminator, in bytes.
const LONGEST_STRING: usize = 4 * 1024;

/// Bytes that are examined at once, and those with the rest of a character that begins among them.
const GROUP: usize = 64;
const GROUP_AND_REST: usize = GROUP + 2;

/// The state of one stream.
#[derive(Debug, Clone, Default)]
pub struct Cleaner {
    state: State,
    /// The cleaned bytes of the last call.
    clean: Vec<u8>,
    /// Something is on the line.
    has_text: bool,
    /// A CR has just ended a line, so that an LF is part of this end.
    after_cr: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// In a character of two or three bytes that may be a blank; these are the first, and how many there are.
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
    /// The sequence is none of ECMA-48: `CSI ? 25 h`, `CSI > 4 m`.
    Private,
}

/// The handling of a byte.
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
    /// Cleans the next bytes of the stream.
    pub fn clean<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [u8] {
        let is_untouched = self.state == State::Text && !self.after_cr;
        let may_have_blank = !bytes.is_ascii() && has_blank(bytes);
        if is_untouched && !may_have_blank && memchr3(ESC, b'\r', BACKSPACE, bytes).is_none() {
            self.has_text = bytes.last().map_or(self.has_text, |byte| *byte != b'\n');
            return bytes;
        }
        self.clean.clear();
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.state == State::Text {
                let (plain, special) = rest.split_at(plain_length(rest, may_have_blank));
                self.put(plain);
                let taken = self.take_whole(special);
                rest = &special[taken..];
                if taken > 0 {
                    continue;
                }
            }
            if let Some((byte, after)) = rest.split_first() {
                match self.take(*byte) {
                    Taken::Yes => rest = after,
                    Taken::AsText => self.state = State::Text,
                }
            }
        }
        &self.clean
    }

    /// Ends the stream: returns the bytes that were held back.
    pub fn finish(&mut self) -> &[u8] {
        self.clean.clear();
        self.put_held_bytes();
        *self = Cleaner {
            clean: std::mem::take(&mut self.clean),
            ..Cleaner::default()
        };
        &self.clean
    }

    /// Adds text that has nothing to clean but, after a CR, its first LF.
    fn put(&mut self, text: &[u8]) {
        let Some((first, rest)) = text.split_first() else {
            return;
        };
        let text = if self.after_cr && *first == b'\n' {
            rest
        } else {
            text
        };
        self.after_cr = false;
        self.clean.extend_from_slice(text);
        self.has_text = text.last().map_or(self.has_text, |byte| *byte != b'\n');
    }

    /// Ends the line, if something is on it.
    fn end_line(&mut self) {
        if self.has_text {
            self.put(b"\n");
        }
    }

    /// Takes the CR of CR LF, a blank or a color at once, if it is complete. Returns its length, or 0. A shortcut for the most common
    /// cases: byte by byte the result is the same.
    fn take_whole(&mut self, special: &[u8]) -> usize {
        if self.after_cr {
            return 0;
        }
        match *special {
            // The LF, which ends the line as it is, begins the next plain text.
            [b'\r', b'\n', ..] => 1,
            [ESC, b'[', ref rest @ ..] => length_of_color(rest).map_or(0, |length| length + 2),
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

    /// Takes the next byte, which is special or inside of something special.
    fn take(&mut self, byte: u8) -> Taken {
        match self.state {
            State::Text => self.take_in_text(byte),
            State::Blank(begun, length) => self.take_in_blank(byte, begun, length),
            State::Escape => self.take_after_escape(byte),
            State::Announced => match byte {
                b' '..=b'/' => Taken::Yes,
                b'0'..=b'~' => self.take_end(Effect::Nothing),
                _ => Taken::AsText,
            },
            State::Control(parameters) => self.take_in_control(byte, parameters),
            State::String {
                ends_at_bell,
                length,
            } => self.take_in_string(byte, ends_at_bell, length),
        }
    }

    /// Takes a byte of text that begins something special.
    fn take_in_text(&mut self, byte: u8) -> Taken {
        match byte {
            ESC => self.state = State::Escape,
            BACKSPACE => self.end_line(),
            b'\r' => {
                let ended_before = self.after_cr;
                let ends = self.has_text;
                self.end_line();
                self.after_cr = ends || ended_before;
            }
            _ => self.state = State::Blank([byte, 0], 1),
        }
        Taken::Yes
    }

    /// Takes a byte of a character that may be a blank. `first` and `second` are its first bytes, `length` of which are there.
    fn take_in_blank(&mut self, byte: u8, [first, second]: [u8; 2], length: usize) -> Taken {
        let (character, is_incomplete) = match length {
            1 => (&[first, byte][..], may_become_blank(&[first, byte])),
            _ => (&[first, second, byte][..], false),
        };
        if is_blank(character) {
            self.put(b" ");
            self.state = State::Text;
        } else if is_incomplete {
            self.state = State::Blank([first, byte], 2);
        } else {
            self.put_held_bytes();
            return Taken::AsText;
        }
        Taken::Yes
    }

    /// Adds the bytes that were held back, as they are no blank.
    fn put_held_bytes(&mut self) {
        if let State::Blank(begun, length) = self.state {
            self.put(&begun[..length]);
        }
    }

    /// Takes the byte after ESC, which tells the kind of sequence.
    fn take_after_escape(&mut self, byte: u8) -> Taken {
        match byte {
            ESC => {}
            b'[' => self.state = State::Control(Parameters::Zero),
            b']' | b'P' | b'X' | b'^' | b'_' | b'k' => {
                self.state = State::String {
                    ends_at_bell: byte == b']',
                    length: 0,
                };
            }
            b' '..=b'/' => self.state = State::Announced,
            // Index, next line, reverse index, restore the cursor, reset.
            b'D' | b'E' | b'M' | b'8' | b'c' => return self.take_end(Effect::EndsLine),
            b'0'..=b'~' | CANCEL | SUBSTITUTE => return self.take_end(Effect::Nothing),
            _ => return Taken::AsText,
        }
        Taken::Yes
    }

    /// Takes a byte after `ESC [`: a parameter, or the end of the sequence.
    fn take_in_control(&mut self, byte: u8, parameters: Parameters) -> Taken {
        self.state = State::Control(match (byte, parameters) {
            (ESC, _) => {
                self.state = State::Escape;
                return Taken::Yes;
            }
            (b'0' | b';' | b':', Parameters::Zero) => Parameters::Zero,
            (b'0'..=b';', Parameters::Zero | Parameters::Other) => Parameters::Other,
            (b' '..=b'?', _) => Parameters::Private,
            (b'@'..=b'~', _) => return self.take_end(effect(byte, parameters)),
            (CANCEL | SUBSTITUTE, _) => return self.take_end(Effect::Nothing),
            _ => return Taken::AsText,
        });
        Taken::Yes
    }

    /// Takes a byte of a string, such as a title, up to its end or to the limit.
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

    /// Takes the last byte of a sequence.
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

/// Returns the effect of a control sequence that ends with this byte.
fn effect(end: u8, parameters: Parameters) -> Effect {
    match (end, parameters) {
        (b'K', Parameters::Zero) => Effect::Nothing,
        // Selective erasure.
        (b'J' | b'K', Parameters::Private) => Effect::EndsLine,
        (_, Parameters::Private) => Effect::Nothing,
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

/// The blanks of Unicode (`White_Space`) beyond ASCII.
pub(super) const BLANKS: [(char, char); 8] = [
    ('\u{85}', '\u{85}'),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

/// Replaces each blank of Unicode by a space, in a part of an expression.
pub(super) fn spaces_for_blanks(bytes: &[u8]) -> Vec<u8> {
    let mut spaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let length_of_blank = [2, 3]
            .into_iter()
            .find(|length| rest.get(..*length).is_some_and(is_blank));
        if let Some(length) = length_of_blank {
            spaced.push(b' ');
            rest = &rest[length..];
        } else {
            spaced.push(*first);
            rest = after;
        }
    }
    spaced
}

/// Returns true if this is one of [`BLANKS`] in UTF-8.
fn is_blank(character: &[u8]) -> bool {
    match *character {
        [first, second] => is_blank_of_two(first, second),
        [first, second, third] => is_blank_of_three(first, second, third),
        _ => false,
    }
}

/// Returns true for one of [`BLANKS`] of two bytes. Like the functions below, without a branch, so that many bytes are
/// examined at once.
fn is_blank_of_two(first: u8, second: u8) -> bool {
    (first == 0xc2) & ((second == 0x85) | (second == 0xa0))
}

/// Returns true for one of [`BLANKS`] of three bytes.
fn is_blank_of_three(first: u8, second: u8, third: u8) -> bool {
    let general = third.wrapping_sub(0x80) <= 0x0a;
    let general = general | (third & 0xfe == 0xa8) | (third == 0xaf);
    (first == 0xe2) & (second == 0x80) & general
        | (first == 0xe2) & (second == 0x81) & (third == 0x9f)
        | (first == 0xe1) & (second == 0x9a) & (third == 0x80)
        | (first == 0xe3) & (second == 0x80) & (third == 0x80)
}

fn is_special(byte: u8) -> bool {
    (byte == ESC) | (byte == b'\r') | (byte == BACKSPACE)
}

/// Returns true if a blank may begin with these bytes.
fn may_become_blank(begun: &[u8]) -> bool {
    match *begun {
        [first] => matches!(first, 0xc2 | 0xe1 | 0xe2 | 0xe3),
        [first, second] => matches!(
            (first, second),
            (0xe1, 0x9a) | (0xe2, 0x80 | 0x81) | (0xe3, 0x80)
        ),
        _ => false,
    }
}

/// Returns true if the bytes hold a blank of Unicode, or may end inside of one.
fn has_blank(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(group) = rest.first_chunk::<GROUP_AND_REST>() {
        if !group.is_ascii() && has_blank_in(group) {
            return true;
        }
        rest = &rest[GROUP..];
    }
    let is_at = |at: usize| {
        [2, 3]
            .iter()
            .any(|length| rest.get(at..at + length).is_some_and(is_blank))
    };
    let last = &bytes[bytes.len().saturating_sub(2)..];
    (0..rest.len()).any(is_at) || has_begun_blank(last)
}

/// Returns true if a blank begins in the group. A plain loop over an array, so that the compiler examines many bytes at
/// once.
fn has_blank_in(group: &[u8; GROUP_AND_REST]) -> bool {
    let mut any = 0;
    for at in 0..GROUP {
        let is_blank_at = is_blank_of_two(group[at], group[at + 1])
            | is_blank_of_three(group[at], group[at + 1], group[at + 2]);
        any |= u8::from(is_blank_at);
    }
    any != 0
}

/// Returns true if the last one or two bytes may begin a blank.
fn has_begun_blank(last: &[u8]) -> bool {
    may_become_blank(last) || may_become_blank(last.last_chunk::<1>().map_or(&[], |byte| byte))
}

/// Returns how many leading bytes are plain text.
fn plain_length(bytes: &[u8], may_have_blank: bool) -> usize {
    if !may_have_blank {
        return memchr3(ESC, b'\r', BACKSPACE, bytes).unwrap_or(bytes.len());
    }
    let mut at = 0;
    while let Some(group) = bytes[at..].first_chunk() {
        if let Some(end) = end_of_plain_text_in(group) {
            return at + end;
        }
        at += GROUP;
    }
    (at..bytes.len())
        .find(|at| ends_plain_text(&bytes[*at..]))
        .unwrap_or(bytes.len())
}

/// Returns the first place in a group where plain text ends. A plain loop that marks all of them comes first, so that
/// the compiler examines many bytes at once.
fn end_of_plain_text_in(group: &[u8; GROUP_AND_REST]) -> Option<usize> {
    let mut marks = [0; GROUP];
    for at in 0..GROUP {
        let is_end = is_special(group[at])
            | is_blank_of_two(group[at], group[at + 1])
            | is_blank_of_three(group[at], group[at + 1], group[at + 2]);
        marks[at] = u8::from(is_end);
    }
    memchr(1, &marks)
}

/// Returns the length of a color after `ESC [`, if it is complete and short.
fn length_of_color(rest: &[u8]) -> Option<usize> {
    let is_parameter = |byte: &&u8| matches!(byte, b'0'..=b';');
    let length = rest.iter().take(GROUP).take_while(is_parameter).count();
    (rest.get(length) == Some(&b'm')).then_some(length + 1)
}

/// Returns true if the first of these bytes is special, or begins a blank.
fn ends_plain_text(rest: &[u8]) -> bool {
    is_special(rest[0])
        || rest.get(..2).is_some_and(is_blank)
        || rest.get(..3).is_some_and(is_blank)
        || may_become_blank(rest)
}

#[cfg(test)]
pub(crate) mod naive;
#[cfg(test)]
mod tests;
