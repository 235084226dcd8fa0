//! Expands the words of a script: one list of words for each combination of the values that variables may have.
//!
//! A request that sends data must not be repeated. So each step returns all results that are possible, lest a call of a
//! client (curl or wget) that sends is missed. If there would be too many, one unknown part stands for all of them.
//! In all functions `frame` holds the arguments and the environment of the script in which the words stand. Atoms are
//! the symbols of a word before it is split into words, with their quoting.
//!
//! [`Doubt`] says what an unknown part may be: a `HarmlessPart` is no option, a `TrustedPart` (`"$URL"`) is
//! taken for none, an `AnyPart` may be one, and `AnyWords` may be several words, options among them. In quotes
//! `AnyWords` becomes a `TrustedPart`: where an option is suspected, use `AnyPart`.

pub(crate) mod atoms;
mod braces;
mod fields;
mod known_text;
mod operators;
mod printers;

use std::rc::Rc;

use self::atoms::{Atom, in_atoms};
use super::http::tables::mentions_client;
use super::scope::value::{
    Value, array_value, is_plain_word, is_trusted_word, summary as summary_of_values,
};
use super::scope::{Expand, Frame, LONGEST_TEXT, MOST_VALUES, Scope};
use super::syntax::{Piece, Quoting, RawWord};
use super::text::{Doubt, Symbol, Symbols, known, unknown, unknown_words};
use super::word::Word;

/// Limit on the combinations of values in one command, each of which is judged by itself.
const MOST_COMBINATIONS: usize = 16;

/// Limit on the lists of atoms that one word may become: two expansions with many values each are beyond it.
const MOST_LISTS: usize = 2 * MOST_VALUES;

/// Expands words as bash does. A type only because [`Scope`], which this module uses, needs to call back.
pub(super) struct Bash;

impl Expand for Bash {
    fn commands(&self, scope: &Scope<'_>, words: &[RawWord], frame: &Frame) -> Vec<Vec<Word>> {
        commands(scope, words, frame)
    }

    fn assigned(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value> {
        assigned(scope, word, frame)
    }

    fn loop_values(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value> {
        loop_values(scope, word, frame)
    }

    fn atoms(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Atom>> {
        atoms(scope, word, frame)
    }

    fn texts(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Symbols> {
        texts(scope, word, frame)
    }
}

/// Returns the lists of words that a command may consist of. A word that would make too many combinations becomes one
/// unknown word in all of them.
pub(crate) fn commands(scope: &Scope<'_>, words: &[RawWord], frame: &Frame) -> Vec<Vec<Word>> {
    let mut lists = vec![Vec::new()];
    for word in words {
        let mut choices = fields_of(scope, word, frame);
        if lists.len() * choices.len() > MOST_COMBINATIONS {
            choices = vec![vec![summary(&choices, word)]];
        }
        append_choices(&mut lists, &choices);
    }
    lists
}

/// Replaces each list by one for each choice, the list with the choice behind it, so that in the end each combination
/// has a list. Without any choice, no list is left.
fn append_choices<T: Clone>(lists: &mut Vec<Vec<T>>, choices: &[Vec<T>]) {
    if let [choice] = choices {
        // Nearly always: no list has to be copied.
        for list in lists {
            list.extend_from_slice(choice);
        }
        return;
    }
    let mut combined = Vec::new();
    for list in lists.iter() {
        for choice in choices {
            combined.push([list.as_slice(), choice].concat());
        }
    }
    *lists = combined;
}

/// Returns one unknown word for the lists of words (`choices`) that `word` may become, as there are too many to judge
/// each. It counts as harmless only if each list is one plain word, such as `eu-1`, and as trusted to begin no option
/// if each is one word that is, such as the URL in `"$URL"`; neither if one mentions a client, which the command may
/// call by it. Otherwise it may be any words.
fn summary(choices: &[Vec<Word>], word: &RawWord) -> Word {
    let words: Vec<&Word> = choices.iter().flatten().collect();
    let is_one_word = choices.iter().all(|choice| choice.len() == 1);
    let may_name_client = words.iter().any(|word| mentions_client(&word.text));
    let doubt = if !is_one_word || may_name_client {
        Doubt::AnyWords
    } else if words.iter().all(|word| is_plain_word(&word.text)) {
        Doubt::HarmlessPart
    } else if words.iter().all(|word| is_trusted_word(&word.text)) {
        Doubt::TrustedPart
    } else {
        Doubt::AnyWords
    };
    Word {
        text: unknown(doubt),
        origin: Rc::clone(&word.source),
        output_of: None,
    }
}

/// Returns the lists of words that one word of a script may become: an unquoted expansion may be several words or none.
/// If there would be too many, one unknown word stands for those of its beginning.
fn fields_of(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Word>> {
    // A shell expands braces first, then variables, and splits the result at last.
    let Some(words) = braces::expand(word) else {
        return vec![vec![Word {
            text: unknown(Doubt::AnyWords),
            origin: Rc::clone(&word.source),
            output_of: None,
        }]];
    };
    let mut lists = vec![Vec::new()];
    for word in &words {
        // One choice for each combination of the values of its variables.
        let choices: Vec<Vec<Word>> = atoms(scope, word, frame)
            .iter()
            .map(|atoms| fields::split(atoms, word))
            .collect();
        append_choices(&mut lists, &choices);
        if lists.len() > MOST_COMBINATIONS {
            // It stands for the words so far. More may follow, as braces make several of one.
            lists = vec![vec![summary(&lists, word)]];
        }
    }
    lists
}

/// Returns the values that an assignment with this right side may give. Unlike words of a command, it is not split, but
/// `name=(...)` makes an array, whose words are.
fn assigned(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value> {
    for piece in &word.pieces {
        if let Piece::Array(words) = piece {
            // `name=([key]=value)`
            let has_keys = words.iter().any(|word| word.value_of_element().is_some());
            let words: Vec<RawWord> = words
                .iter()
                .map(|word| word.value_of_element().unwrap_or_else(|| word.clone()))
                .collect();
            let lists = commands(scope, &words, frame);
            let values: Vec<Value> = lists.into_iter().map(array_value).collect();
            // Which element has which key is not followed.
            return if has_keys {
                summary_of_values(&values)
            } else {
                values
            };
        }
    }
    texts(scope, word, frame)
        .into_iter()
        .map(Value::Text)
        .collect()
}

/// Returns the values that `for name in word` may give: one for each word that the word becomes, none if it becomes
/// none. A pattern of file names stays as it is written, so that in a later `"$name"` no file's name counts as an
/// option, unless the pattern does.
fn loop_values(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value> {
    let Some(words) = braces::expand(word) else {
        // One of so many words may be an option.
        return vec![Value::Text(unknown(Doubt::AnyPart))];
    };
    let mut values = Vec::new();
    for word in &words {
        for atoms in atoms(scope, word, frame) {
            values.extend(fields::parts(&atoms).map(|part| Value::Text(text_of(part))));
        }
    }
    if values.len() > MOST_VALUES {
        return summary_of_values(&values);
    }
    values
}

/// Returns the texts that a word may be where a shell does not split it: on the right of an assignment, behind an
/// operator such as `#`, or as an input (a here-document or the word of `<<<`). Braces stay as they are there.
pub(crate) fn texts(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Symbols> {
    atoms(scope, word, frame)
        .iter()
        .map(|atoms| text_of(atoms))
        .collect()
}

/// Returns the text that a variable or an input holds. As nothing is split, an unknown part keeps its blanks, so that
/// it counts as any number of words where the text is used later, unless it is harmless, or may be an option already. A
/// text that is too long to be examined counts as unknown words.
fn text_of(atoms: &[Atom]) -> Symbols {
    let mut text = Symbols::new();
    for atom in atoms {
        match atom {
            // Stays: as `AnyWords`, like the parts below, it would be trusted in the quotes of a later `"$name"`.
            Atom::Symbol(Symbol::Unknown(Doubt::AnyPart), _) => {
                text.extend(unknown(Doubt::AnyPart));
            }
            Atom::Symbol(Symbol::Unknown(doubt), _) if *doubt > Doubt::HarmlessPart => {
                text.extend(unknown(Doubt::AnyWords));
            }
            // Once it is the value of a variable, it is trusted in quotes as any value: `URL="$(cmd)"; curl "$URL"`.
            Atom::Output => text.extend(unknown(Doubt::AnyWords)),
            Atom::Symbol(symbol, _) => text.push(*symbol),
            // The elements of `"$@"` are joined.
            Atom::Break => text.push(Symbol::Known(' ')),
            Atom::Quotes => {}
        }
    }
    if text.len() <= LONGEST_TEXT {
        return text;
    }
    unknown_words(Value::Text(text).may_split_into_option())
}

/// Returns the lists of atoms that a word may become: one for each combination of the values of its expansions. If they
/// get too many or too long, others stand for them ([`summary_of_lists`]).
fn atoms(scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Atom>> {
    let mut lists = vec![Vec::new()];
    for piece in &word.pieces {
        append_choices(&mut lists, &atoms_of_piece(scope, piece, frame));
        let size: usize = lists.iter().map(Vec::len).sum();
        // A long text without expansions, such as the script of `sh -c`, has to be read, and stands only once.
        let is_single_text = matches!(
            word.pieces.as_slice(),
            [Piece::Text(..)] | [Piece::Quotes, Piece::Text(..)]
        );
        if lists.len() > MOST_LISTS || !is_single_text && size > LONGEST_TEXT {
            lists = summary_of_lists(&lists);
        }
    }
    lists
}

/// Returns one or two lists that stand for many, all of them beginnings of the same word: unknown words, of which one
/// may be an option if one of the lists may hold one; and an empty list if one of them is empty, as the rest of the
/// word may then be an option.
fn summary_of_lists(lists: &[Vec<Atom>]) -> Vec<Vec<Atom>> {
    let values = lists.iter().map(|atoms| Value::Text(text_of(atoms)));
    let values: Vec<Value> = values.collect();
    let words = unknown_words(values.iter().any(Value::may_split_into_option));
    let mut summary = vec![in_atoms(&words, Quoting::Unquoted)];
    if values.contains(&Value::Text(Symbols::new())) {
        summary.push(Vec::new());
    }
    summary
}

/// Returns the lists of atoms that one piece of a word may become: a single list for a piece without variables, or one
/// for each value. A substitution whose output is not known is any part of a word in quotes, and any words outside of
/// them.
fn atoms_of_piece(scope: &Scope<'_>, piece: &Piece, frame: &Frame) -> Vec<Vec<Atom>> {
    match piece {
        Piece::Text(text, quoting) => vec![in_atoms(text, *quoting)],
        Piece::Quotes => vec![vec![Atom::Quotes]],
        Piece::Number => vec![in_atoms(&unknown(Doubt::HarmlessPart), Quoting::Quoted)],
        // The name that bash gives to the pipe, or one like it.
        Piece::Process(_) => vec![in_atoms(&known("/dev/fd/63"), Quoting::Quoted)],
        // Elsewhere than in an assignment, an array is not expected.
        Piece::Array(_) => vec![in_atoms(&unknown(Doubt::AnyWords), Quoting::Unquoted)],
        Piece::Command(script, quoting) => {
            match (printers::printed(scope, script, frame), quoting) {
                (Some(printed), _) => printed
                    .iter()
                    .map(|text| {
                        fields::allow_odd_splits(in_atoms(text, *quoting), scope.separators)
                    })
                    .collect(),
                (None, Quoting::Quoted) => vec![vec![Atom::Output]],
                (None, Quoting::Unquoted) => {
                    vec![in_atoms(&unknown(Doubt::AnyWords), Quoting::Unquoted)]
                }
            }
        }
        Piece::Parameter(parameter) => operators::expanded(scope, parameter, frame),
    }
}
