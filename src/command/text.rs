//! Text of which parts may be unknown, such as `--data=$BODY` with an unknown `$BODY`.

/// A character of a text, or a part of it that may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Symbol {
    Known(char),
    MayBeAnything(Doubt),
}

/// How much an unknown part may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// The ID of the run: one word, the same in each attempt.
    RunId,
    /// A part of one word that does not begin with `-`: a number, the name of a system.
    Token,
    /// A quoted plain expansion (`"$URL"`): a part of one word. It is trusted not to begin with `-`.
    Value,
    /// A part of one word, which may begin with `-`: `"$(command)"`.
    Part,
    /// Any number of words.
    Words,
}

/// A text in symbols.
pub(crate) type Text = Vec<Symbol>;

pub(crate) fn known(text: &str) -> Text {
    text.chars().map(Symbol::Known).collect()
}

pub(crate) fn unknown(doubt: Doubt) -> Text {
    vec![Symbol::MayBeAnything(doubt)]
}

/// Returns the text if all of it is known.
pub(crate) fn exact(text: &[Symbol]) -> Option<String> {
    text.iter()
        .map(|symbol| match symbol {
            Symbol::Known(c) => Some(*c),
            Symbol::MayBeAnything(_) => None,
        })
        .collect()
}

/// Returns the text for a message, with `...` for each unknown part.
pub(crate) fn shown(text: &[Symbol]) -> String {
    let mut shown = String::new();
    for symbol in text {
        match symbol {
            Symbol::Known(c) => shown.push(*c),
            Symbol::MayBeAnything(_) => shown.push_str("..."),
        }
    }
    shown
}

/// Returns true if the text holds these ASCII characters in a row, in capital or small letters.
pub(crate) fn mentions(text: &[Symbol], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    text.windows(name.len()).any(|window| {
        window
            .iter()
            .zip(&name)
            .all(|(symbol, c)| matches!(symbol, Symbol::Known(it) if it.eq_ignore_ascii_case(c)))
    })
}

pub(crate) fn has_words(text: &[Symbol]) -> bool {
    text.contains(&Symbol::MayBeAnything(Doubt::Words))
}

/// A word of a command, after all expansions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word {
    pub(crate) text: Text,
    /// The word as it is written, for messages.
    pub(crate) origin: String,
}

impl Word {
    /// Returns a word that a program gets as it is.
    pub(crate) fn exact(text: &str) -> Word {
        Word {
            text: known(text),
            origin: text.to_owned(),
        }
    }
}
