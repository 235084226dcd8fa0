//! Texts of which parts may be unknown, such as `--data=$BODY` with an unknown `$BODY`.
//!
//! An unknown part carries a [`Doubt`]: the most that it may be. All that judges a text must count it as that, so that
//! no request that sends data is overlooked.

/// A character of a text, or an unknown part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Symbol {
    Known(char),
    Unknown(Doubt),
}

impl Symbol {
    /// Returns true if the symbol is this letter, capital or small.
    fn is_letter(self, letter: char) -> bool {
        matches!(self, Symbol::Known(known) if known.eq_ignore_ascii_case(&letter))
    }
}

/// The possible content of an unknown part of a text; each variant allows more than the one before it, and compares as
/// greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// The ID of the run: one word, the same in each attempt.
    RunId,
    /// A part of one word that begins no option and holds no sign of a shell: a number, the name of a system. It may be
    /// empty.
    HarmlessPart,
    /// A part of one word that is trusted to begin no option: a quoted plain expansion (`"$URL"`).
    TrustedPart,
    /// A part of one word, which may begin an option: `"$(command)"`.
    AnyPart,
    /// Any number of words, options among them. In quotes `AnyWords` becomes a `TrustedPart`: where an option is
    /// suspected, use `AnyPart`.
    AnyWords,
}

impl Doubt {
    /// Returns true if the part may hold blanks, quotes or operators, so that a shell that reads the text may find
    /// code.
    pub(crate) fn may_hold_code(self) -> bool {
        self > Doubt::HarmlessPart
    }
}

/// A text of which parts may be unknown.
pub(crate) type Symbols = Vec<Symbol>;

pub(crate) fn known(text: &str) -> Symbols {
    text.chars().map(Symbol::Known).collect()
}

pub(crate) fn unknown(doubt: Doubt) -> Symbols {
    vec![Symbol::Unknown(doubt)]
}

/// Returns the text that stands for words of which none is known: any words. If one of them may be an option, an
/// `AnyPart` stands before it, as `AnyWords` alone would be trusted in the quotes of a later `"$name"`.
pub(crate) fn unknown_words(may_hold_option: bool) -> Symbols {
    if may_hold_option {
        return [unknown(Doubt::AnyPart), unknown(Doubt::AnyWords)].concat();
    }
    unknown(Doubt::AnyWords)
}

/// Returns the text if all of it is known, and None if any part is not.
pub(crate) fn exact(text: &[Symbol]) -> Option<String> {
    text.iter()
        .map(|symbol| match symbol {
            Symbol::Known(c) => Some(*c),
            Symbol::Unknown(_) => None,
        })
        .collect()
}

/// Returns the text for a message, with `...` for each unknown part.
pub(crate) fn shown(text: &[Symbol]) -> String {
    let mut shown = String::new();
    for symbol in text {
        match symbol {
            Symbol::Known(c) => shown.push(*c),
            Symbol::Unknown(_) => shown.push_str("..."),
        }
    }
    shown
}

/// Returns true if the known text contains `part`, which is not empty, in capital or small letters, at any place:
/// `/opt/CURL8` mentions `curl`. An unknown part of the text mentions nothing, unlike elsewhere here, as every command
/// would mention a client otherwise; unknown code is noted apart.
pub(crate) fn mentions(text: &[Symbol], part: &str) -> bool {
    let letters: Vec<char> = part.chars().collect();
    text.windows(letters.len()).any(|window| {
        let mut pairs = window.iter().zip(&letters);
        pairs.all(|(symbol, letter)| symbol.is_letter(*letter))
    })
}

/// Returns true if a text begins with a known `-`.
pub(crate) fn begins_option(text: &[Symbol]) -> bool {
    text.first() == Some(&Symbol::Known('-'))
}

/// A text that is split at its first `=`.
pub(crate) struct NameAndValue<'t> {
    pub(crate) name: &'t [Symbol],
    /// None if the text has no `=`.
    pub(crate) value: Option<&'t [Symbol]>,
}

/// Splits a text at its first known `=`. Without one, the whole text is the name.
pub(crate) fn name_and_value(text: &[Symbol]) -> NameAndValue<'_> {
    match text.iter().position(|symbol| *symbol == Symbol::Known('=')) {
        Some(sign) => NameAndValue {
            name: &text[..sign],
            value: Some(&text[sign + 1..]),
        },
        None => NameAndValue {
            name: text,
            value: None,
        },
    }
}

/// Returns true if an unknown part of the text may be any number of words.
pub(crate) fn may_be_several_words(text: &[Symbol]) -> bool {
    text.contains(&Symbol::Unknown(Doubt::AnyWords))
}

/// Returns true if an unknown part of the text may hold code of a shell.
pub(crate) fn may_hold_code(text: &[Symbol]) -> bool {
    text.iter()
        .any(|symbol| matches!(symbol, Symbol::Unknown(doubt) if doubt.may_hold_code()))
}
