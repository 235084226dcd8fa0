//! Expands the words of a script: one list of words for each combination of the values that variables may have.

pub(crate) mod atoms;
mod braces;
mod fields;
mod operators;
mod printers;

use self::atoms::{Atom, in_atoms};
use super::scope::value::{Value, array_value, is_plain_word};
use super::scope::{Expand, Frame, LONGEST_VALUE, MOST_VALUES, Scope};
use super::syntax::{Piece, Quoting, RawWord};
use super::text::{Doubt, Symbol, Symbols, Word, known, mentions, unknown};

/// Limit on the combinations of values in one command.
const MOST_COMBINATIONS: usize = 16;

/// Expands words as bash does.
pub(super) struct Bash;

impl Expand for Bash {
    fn commands(&self, scope: &Scope<'_>, words: &[RawWord], frame: &Frame) -> Vec<Vec<Word>> {
        commands(scope, words, frame)
    }

    fn assigned(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value> {
        assigned(scope, word, frame)
    }

    fn atoms(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Atom>> {
        atoms(scope, word, frame)
    }

    fn texts(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Symbols> {
        texts(scope, word, frame)
    }
}

/// Returns the lists of words that a command may consist of.
pub(crate) fn commands(scope: &Scope<'_>, words: &[RawWord], frame: &Frame) -> Vec<Vec<Word>> {
    let mut lists = vec![Vec::new()];
    for word in words {
        let mut choices = fields_of(scope, word, frame);
        if lists.len() * choices.len() > MOST_COMBINATIONS {
            choices = vec![vec![summary(&choices, word)]];
        }
        if let [choice] = choices.as_slice() {
            for list in &mut lists {
                list.extend_from_slice(choice);
            }
            continue;
        }
        let combined = lists.iter().flat_map(|list| {
            choices
                .iter()
                .map(move |choice| [list.as_slice(), choice].concat())
        });
        lists = combined.collect();
    }
    lists
}

/// Returns one word for several that a word may become.
fn summary(choices: &[Vec<Word>], word: &RawWord) -> Word {
    let is_harmless = |choice: &Vec<Word>| match choice.as_slice() {
        [only] => {
            is_plain_word(&only.text)
                && !mentions(&only.text, "curl")
                && !mentions(&only.text, "wget")
        }
        _ => false,
    };
    let doubt = if choices.iter().all(is_harmless) {
        Doubt::PlainPart
    } else {
        Doubt::AnyWords
    };
    Word {
        text: unknown(doubt),
        origin: word.source.clone(),
    }
}

/// Returns the lists of words that a word may become.
fn fields_of(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Word>> {
    let Some(words) = braces::expand(word) else {
        return vec![vec![Word {
            text: unknown(Doubt::AnyWords),
            origin: word.source.clone(),
        }]];
    };
    let mut lists = vec![Vec::new()];
    for word in &words {
        let choices: Vec<Vec<Word>> = atoms(scope, word, frame)
            .iter()
            .map(|atoms| fields::split(atoms, &word.source))
            .collect();
        let combined = lists.iter().flat_map(|list: &Vec<Word>| {
            choices
                .iter()
                .map(move |choice| [list.as_slice(), choice].concat())
        });
        lists = combined.collect();
        if lists.len() > MOST_COMBINATIONS {
            return vec![vec![summary(&lists, word)]];
        }
    }
    lists
}

/// Returns the values that an assignment may give.
fn assigned(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value> {
    for piece in &word.pieces {
        if let Piece::Array(words) = piece {
            let lists = commands(scope, words, frame);
            return lists.into_iter().map(array_value).collect();
        }
    }
    texts(scope, word, frame)
        .into_iter()
        .map(Value::Text)
        .collect()
}

/// Returns the texts that a word may be if it is not split. Unknown parts may hold blanks.
pub(crate) fn texts(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Symbols> {
    let mut texts = Vec::new();
    for atoms in atoms(scope, word, frame) {
        let mut text = Symbols::new();
        for atom in atoms {
            match atom {
                Atom::Symbol(Symbol::Unknown(doubt), _) if doubt > Doubt::PlainPart => {
                    text.extend(unknown(Doubt::AnyWords));
                }
                Atom::Symbol(symbol, _) => text.push(symbol),
                Atom::Break => text.push(Symbol::Known(' ')),
                Atom::Quotes => {}
            }
        }
        if text.len() > LONGEST_VALUE * 16 {
            text = unknown(Doubt::AnyWords);
        }
        texts.push(text);
    }
    texts
}

/// Returns the lists of atoms that a word may become.
fn atoms(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Atom>> {
    let mut lists = vec![Vec::new()];
    for piece in &word.pieces {
        let choices = atoms_of_piece(scope, piece, frame);
        if let [choice] = choices.as_slice() {
            for list in &mut lists {
                list.extend_from_slice(choice);
            }
        } else {
            let combined = lists.iter().flat_map(|list| {
                choices
                    .iter()
                    .map(move |choice| [list.as_slice(), choice].concat())
            });
            lists = combined.collect();
        }
        let size: usize = lists.iter().map(Vec::len).sum();
        let is_literal = matches!(
            word.pieces.as_slice(),
            [Piece::Text(..)] | [Piece::Quotes, Piece::Text(..)]
        );
        if lists.len() > MOST_VALUES * 2 || !is_literal && size > LONGEST_VALUE * 16 {
            return vec![vec![Atom::Symbol(
                Symbol::Unknown(Doubt::AnyWords),
                Quoting::Unquoted,
            )]];
        }
    }
    lists
}

/// Returns the lists of atoms that one piece of a word may become.
fn atoms_of_piece(scope: &Scope<'_>, piece: &Piece, frame: &Frame) -> Vec<Vec<Atom>> {
    match piece {
        Piece::Text(text, quoting) => vec![in_atoms(text, *quoting)],
        Piece::Quotes => vec![vec![Atom::Quotes]],
        Piece::Number => vec![in_atoms(&unknown(Doubt::PlainPart), Quoting::Quoted)],
        Piece::Process => vec![in_atoms(&known("/dev/fd/63"), Quoting::Quoted)],
        Piece::Array(_) => vec![in_atoms(&unknown(Doubt::AnyWords), Quoting::Unquoted)],
        Piece::Command(script, quoting) => {
            let printed = printers::printed(scope, script, frame).unwrap_or_else(|| {
                vec![match quoting {
                    Quoting::Quoted => unknown(Doubt::AnyPart),
                    Quoting::Unquoted => unknown(Doubt::AnyWords),
                }]
            });
            printed
                .iter()
                .map(|text| in_atoms(text, *quoting))
                .collect()
        }
        Piece::Parameter(parameter) => operators::expanded(scope, parameter, frame),
    }
}
