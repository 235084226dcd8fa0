//! Reads the words of a call of a client (curl or wget): options with their values, operands, and words that may be
//! either. By these, `http` decides if the call may be repeated: an option that may send data must not be missed.
//!
//! Behind several unknown words (`$OPTIONS`), an option with an unknown part in its name (`--$X`), or a short form of
//! several options (`--lo`), the next word may be a value: it is read as what it looks like, and marked as not certain.

use super::options::{Client, OptionRole, Takes};
use crate::command::text::{
    Doubt, NameAndValue, Symbol, Symbols, exact, may_be_several_words, name_and_value,
};
use crate::command::word::Word;

/// An option of a call, with its value, or an operand.
pub(super) enum Item {
    Option(GivenOption),
    Operand {
        text: Symbols,
        /// False if the word may be the value of an option.
        is_certain: bool,
    },
    /// A word that may be or hold any option, as it is written, for messages: `$OPTIONS`, `--$X`.
    MayBeOption(String),
}

/// An option in a call.
pub(super) struct GivenOption {
    pub(super) name: String,
    pub(super) role: OptionRole,
    /// None if the option has no value, or one that may be several words.
    pub(super) value: Option<Symbols>,
    /// False if the word may be the value of another option. This option can then make the call unsafe to repeat, but
    /// never safe.
    pub(super) is_certain: bool,
}

/// The role of the next word of a call.
enum NextWord {
    OptionOrOperand,
    /// The value of the option with this index.
    ValueOf(usize),
    /// The value of an option, or an option or operand.
    Unknown,
}

/// The look of a word: what it is unless it is the value of an option.
enum Look {
    /// `--data=1`, and with unknown parts behind the dashes: `--$X`.
    LongOption,
    /// `-fsd1`, `-$X`
    Letters,
    Operand,
    /// An unknown part decides if it is an option or an operand: `"$(command)"`.
    MayBeOption,
}

/// Reads the words after the client's name: `-sd1 --json x URL` is `-s`, `-d` with `1`, `--json` with `x`, and an
/// operand.
pub(super) fn read_items(client: &Client, words: &[Word]) -> Vec<Item> {
    let mut reader = ItemReader {
        client,
        items: Vec::new(),
        next: NextWord::OptionOrOperand,
    };
    for word in words {
        reader.read(word);
    }
    reader.items
}

struct ItemReader<'c> {
    client: &'c Client,
    items: Vec<Item>,
    next: NextWord,
}

impl ItemReader<'_> {
    /// Reads the next word, and notes in `next` what the word after it is. A word that may be several may be an option,
    /// even where a value is expected or behind a known beginning (`-d$X`), and leaves open if the next one is its
    /// value.
    fn read(&mut self, word: &Word) {
        if may_be_several_words(&word.text) {
            self.add_doubtful(word);
            self.next = NextWord::Unknown;
            return;
        }
        self.next = match self.next {
            NextWord::ValueOf(index) => self.read_value(index, word),
            NextWord::OptionOrOperand | NextWord::Unknown => match look_of(&word.text) {
                Look::LongOption => self.read_long(word),
                Look::Letters => self.read_letters(word),
                Look::Operand => self.read_operand(word),
                Look::MayBeOption => {
                    self.add_doubtful(word);
                    // A single unknown word is taken for one that has no value behind it, such as a URL.
                    NextWord::OptionOrOperand
                }
            },
        };
    }

    /// Adds a word that may be or hold any option: one that sends, too, so that the whole call may send.
    fn add_doubtful(&mut self, word: &Word) {
        self.items.push(Item::MayBeOption(word.shown_origin()));
    }

    /// Returns true if the word that is being read is certainly not the value of an option. Asks `next`, which `read`
    /// changes only when the word was read.
    fn is_certain(&self) -> bool {
        !matches!(self.next, NextWord::Unknown)
    }

    /// Gives the option at this index of the items the word as its value. Returns what the next word is: no value any
    /// more.
    fn read_value(&mut self, option_index: usize, word: &Word) -> NextWord {
        if let Some(Item::Option(option)) = self.items.get_mut(option_index) {
            option.value = Some(word.text.clone());
        }
        NextWord::OptionOrOperand
    }

    /// Adds an operand, such as a URL. Returns what the next word is.
    fn read_operand(&mut self, word: &Word) -> NextWord {
        self.items.push(Item::Operand {
            text: word.text.clone(),
            is_certain: self.is_certain(),
        });
        NextWord::OptionOrOperand
    }

    /// Reads `--data=1` or `--data`, and adds the option. Returns what the next word is: the value, if the option takes
    /// one and has none yet; not known, if the name has an unknown part, or is short for options with and without a
    /// value. An option that stands in no table takes none.
    fn read_long(&mut self, word: &Word) -> NextWord {
        let NameAndValue { name, value } = name_and_value(&word.text);
        let Some(name) = exact(name) else {
            self.add_doubtful(word);
            return NextWord::Unknown;
        };
        let meaning = self.client.meaning(&name);
        self.items.push(Item::Option(GivenOption {
            name,
            role: meaning.role,
            value: value.map(<[Symbol]>::to_vec),
            is_certain: self.is_certain(),
        }));
        match (meaning.takes, value) {
            (_, Some(_)) | (Takes::Nothing, None) => NextWord::OptionOrOperand,
            (Takes::Value, None) => NextWord::ValueOf(self.items.len() - 1),
            (Takes::MayBeValue, None) => NextWord::Unknown,
        }
    }

    /// Reads `-fsd1`, and adds the options `-f`, `-s` and `-d` with the value `1`: the first letter that takes a value
    /// takes the remaining letters, or else the next word. Returns what the next word is. An unknown part where a
    /// letter is expected (`-s$X`) may be any option, so that the next word may be its value.
    fn read_letters(&mut self, word: &Word) -> NextWord {
        for (index, symbol) in word.text.iter().enumerate().skip(1) {
            let Symbol::Known(letter) = symbol else {
                self.add_doubtful(word);
                return NextWord::Unknown;
            };
            let name = format!("-{letter}");
            let meaning = self.client.meaning(&name);
            let takes_value = meaning.takes == Takes::Value;
            let remaining = &word.text[index + 1..];
            let has_value = takes_value && !remaining.is_empty();
            self.items.push(Item::Option(GivenOption {
                name,
                role: meaning.role,
                value: if has_value {
                    Some(remaining.to_vec())
                } else {
                    None
                },
                is_certain: self.is_certain(),
            }));
            if has_value {
                return NextWord::OptionOrOperand;
            }
            if takes_value {
                return NextWord::ValueOf(self.items.len() - 1);
            }
        }
        NextWord::OptionOrOperand
    }
}

/// Returns what a word looks like by its beginning; the caller knows if it may be the value of an option all the same.
/// With an unknown part at the beginning, it may be an option, unless that part is trusted to begin none (`"$URL"`). As
/// a trusted part may be empty, the next symbol decides then in the same way: `"$URL"-d` may be `-d`.
fn look_of(text: &[Symbol]) -> Look {
    match text {
        [Symbol::Known('-'), Symbol::Known('-'), ..] => Look::LongOption,
        [Symbol::Known('-'), _, ..] => Look::Letters,
        // Any other known beginning, a `-` alone, or an empty word.
        [Symbol::Known(_), ..] | [] => Look::Operand,
        [Symbol::Unknown(_), ..] => {
            let deciding_symbol = text.iter().find(|symbol| !is_trusted(symbol));
            match deciding_symbol {
                Some(Symbol::Known('-') | Symbol::Unknown(_)) => Look::MayBeOption,
                Some(Symbol::Known(_)) | None => Look::Operand,
            }
        }
    }
}

/// Returns true for an unknown part that is trusted to begin no option, such as a quoted plain expansion (`"$URL"`).
/// False for a known symbol, even one that begins none.
fn is_trusted(symbol: &Symbol) -> bool {
    matches!(
        symbol,
        Symbol::Unknown(Doubt::TrustedPart | Doubt::HarmlessPart | Doubt::RunId)
    )
}

/// Returns the options among the words of a call.
pub(super) fn options(items: &[Item]) -> impl Iterator<Item = &GivenOption> {
    items.iter().filter_map(|item| match item {
        Item::Option(option) => Some(option),
        Item::Operand { .. } | Item::MayBeOption(_) => None,
    })
}

/// Returns true if an option with this role is given, even if the word may be the value of another option.
pub(super) fn has_option(items: &[Item], role: OptionRole) -> bool {
    options(items).any(|option| option.role == role)
}

/// Returns true if an option with this role is certainly given. Only such an option may make a call safe to repeat.
pub(super) fn has_certain_option(items: &[Item], role: OptionRole) -> bool {
    options(items).any(|option| option.role == role && option.is_certain)
}
