//! Words that scripts add to a variable: `args+=(-H "$header")`, `OPTS="$OPTS -L"`. Many scripts collect options so.
//! An addition here is any assignment that makes the new value of the earlier one, a cut (`name=${name#word}`) or a
//! default (`name=${name:-word}`) as well.
//!
//! Which of the additions are made is not followed. So a variable may have the values by all of them, by each alone, by
//! all but one, and by none: an option that makes a request harmless may be missing, and so may one that takes the next
//! word as its value.

use std::collections::BTreeSet;

use super::value::{Value, add_new, elements, list_value};
use super::{AssignedWord, Assigning, Scope, Starts};
use crate::command::syntax::{Parameter, Piece, RawWord};
use crate::command::text::{Doubt, Symbol, unknown};

/// Limit on the additions to a variable, as the selections among them are many.
const MOST_ADDITIONS: usize = 6;
/// Limit on the cuts by a loop that are followed.
const MOST_CUTS: usize = 16;
/// Limit on the values of a variable with additions. As many as the combinations of one command.
const MOST_ADDED: usize = 16;

impl Scope<'_> {
    /// Returns true if scripts add words to this variable; cuts and defaults do not count. Then its values may lack
    /// words, as one may be added several times: to the caller, an element or a changed text may be an option.
    pub(crate) fn has_added_words(&self, name: &str) -> bool {
        let variable = self.variables.get(name);
        variable.is_some_and(|variable| {
            let mut words = variable.assigned.iter();
            words.any(|assigned| assigned.assigning.adds_words())
        })
    }

    /// Returns the values of a variable by these additions, and its values without any. Returns None if there are too
    /// many, or if a result cannot be told. A script that adds to a variable has mostly assigned it before: if one
    /// does, a value of the environment gets at most one addition. The variable has to be in the chain, by which a word
    /// that names it gets the value that it is to change.
    pub(super) fn values_with_additions(
        &self,
        name: &str,
        starts: &Starts,
        additions: &[&AssignedWord],
    ) -> Option<Vec<Value>> {
        if additions.len() > MOST_ADDITIONS {
            return None;
        }
        let mut values = Vec::new();
        for selection in selections(additions.len()) {
            let adds_to_inherited = selection.len() <= 1 || starts.assigned.is_empty();
            let inherited = starts.inherited.iter().filter(|_| adds_to_inherited);
            // Those of scripts first: messages name the first value that sends.
            for start in starts.assigned.iter().chain(inherited) {
                let mut results = vec![start.clone()];
                for index in &selection {
                    results = self.values_after(name, &results, additions[*index])?;
                }
                for result in results {
                    add_new(&mut values, result);
                }
                if values.len() > MOST_ADDED {
                    return None;
                }
            }
        }
        Some(values)
    }

    /// Returns the values that a variable has after an addition if it had one of these before. None if there are too
    /// many, or if one cannot be told.
    fn values_after(
        &self,
        name: &str,
        before: &[Value],
        addition: &AssignedWord,
    ) -> Option<Vec<Value>> {
        let AssignedWord { word, frame, .. } = addition;
        let mut after = Vec::new();
        for value in before {
            match addition.assigning {
                Assigning::Adds => {
                    for added in self.expand.assigned(self, word, frame) {
                        after.push(joined(value, &added)?);
                    }
                }
                Assigning::Cuts => after.extend(self.values_after_cuts(name, value, addition)?),
                // Repeats and defaults.
                _ => after.extend(self.values_made_of(name, value, addition)),
            }
            if after.len() > MOST_ADDED {
                return None;
            }
        }
        Some(after)
    }

    /// Returns the values that an addition gives whose word names the variable itself, which is this value meanwhile.
    fn values_made_of(&self, name: &str, value: &Value, addition: &AssignedWord) -> Vec<Value> {
        let AssignedWord { word, frame, .. } = addition;
        self.chain.borrow_mut().hold(name, value.clone());
        let results = self.expand.assigned(self, word, frame);
        self.chain.borrow_mut().let_go(name);
        results
    }

    /// Returns the values after a cut of this one. A loop may cut again and again: if that makes an option of a `-`
    /// within the value, one of the results is an `AnyPart`. None for an array.
    fn values_after_cuts(
        &self,
        name: &str,
        value: &Value,
        addition: &AssignedWord,
    ) -> Option<Vec<Value>> {
        if matches!(value, Value::List(_)) {
            return None;
        }
        let mut results = self.values_made_of(name, value, addition);
        let mut last = results.clone();
        for _ in 0..MOST_CUTS {
            let [only] = last.as_slice() else {
                break;
            };
            let next = self.values_made_of(name, only, addition);
            if next == last || !only.holds_dash() {
                break;
            }
            if next.iter().any(Value::may_hold_option) {
                results.push(Value::Text(unknown(Doubt::AnyPart)));
                break;
            }
            last = next;
        }
        Some(results)
    }
}

/// Returns the selections among this many additions: none, each alone, all but each, and all. Each holds indexes in
/// their order.
fn selections(count: usize) -> BTreeSet<Vec<usize>> {
    let mut selections = BTreeSet::from([Vec::new(), (0..count).collect()]);
    for index in 0..count {
        selections.insert(vec![index]);
        selections.insert((0..count).filter(|other| *other != index).collect());
    }
    selections
}

/// Returns the value after `name+=(...)` or `name+=" text"`. None if a text is added to an array, which changes its
/// first element.
fn joined(value: &Value, added: &Value) -> Option<Value> {
    match (value, added) {
        (Value::Text(text), Value::Text(added)) => {
            Some(Value::Text([text.as_slice(), added].concat()))
        }
        (_, Value::List(added)) => Some(list_value([elements(value).as_slice(), added].concat())),
        (Value::List(_), Value::Text(_)) => None,
    }
}

/// Returns true if the value of `name+=value` adds whole words: elements of an array, or a text behind a blank. Any
/// other text goes on with the last word, such as the `d` that makes `-d` of a `-`.
pub(super) fn adds_whole_words(value: &RawWord) -> bool {
    match filled_pieces(value).first() {
        Some(Piece::Array(_)) => true,
        Some(first) => begins_with_blank(first),
        None => false,
    }
}

/// Returns how the right side of `name=word` gives values to the variable of this name: it may hold `$name` itself,
/// with a default, a cut or further words. Any other use of `$name` counts as [`Assigning::Whole`], and is any words
/// when the word is expanded.
pub(super) fn assigning(word: &RawWord, name: &str) -> Assigning {
    let pieces = filled_pieces(word);
    if let [Piece::Parameter(parameter)] = pieces.as_slice()
        && is_whole(parameter, name)
    {
        if parameter.keeps_value() {
            return Assigning::Defaults;
        }
        if parameter.operator.starts_with(['#', '%', '/', ':']) {
            return Assigning::Cuts;
        }
    }
    if repeats_with_words(&pieces, name) {
        Assigning::Repeats
    } else {
        Assigning::Whole
    }
}

/// Returns true if a word adds whole words before or behind the variable of this name, which it names once: `"$name x"`
/// or `("${name[@]}" x)`. `"${name}x"` goes on with the last word, and is none. `pieces` are those that
/// [`filled_pieces`] returns for the word.
fn repeats_with_words(pieces: &[&Piece], name: &str) -> bool {
    if let [Piece::Array(elements)] = pieces {
        let mut named = elements.iter().filter(|element| mentions(element, name));
        return named
            .next()
            .is_some_and(|element| is_whole_list(element, name))
            && named.next().is_none();
    }
    let is_plain =
        |parameter: &Parameter| is_whole(parameter, name) && parameter.operator.is_empty();
    let Some(index) = pieces
        .iter()
        .position(|piece| matches!(piece, Piece::Parameter(parameter) if is_plain(parameter)))
    else {
        return false;
    };
    let before = &pieces[..index];
    let after = &pieces[index + 1..];
    before.last().is_none_or(|piece| ends_with_blank(piece))
        && after.first().is_none_or(|piece| begins_with_blank(piece))
        && !before
            .iter()
            .chain(after)
            .any(|piece| is_parameter(piece, name))
}

fn begins_with_blank(piece: &Piece) -> bool {
    matches!(piece, Piece::Text(text, _) if text.first().is_some_and(is_blank))
}

fn ends_with_blank(piece: &Piece) -> bool {
    matches!(piece, Piece::Text(text, _) if text.last().is_some_and(is_blank))
}

/// Returns the pieces of a word without quotes and empty texts, so that the first and the last are what the value
/// begins and ends with.
fn filled_pieces(word: &RawWord) -> Vec<&Piece> {
    let pieces = word.pieces_without_quotes();
    let filled = pieces.filter(|piece| match piece {
        Piece::Text(text, _) => !text.is_empty(),
        _ => true,
    });
    filled.collect()
}

fn is_blank(symbol: &Symbol) -> bool {
    matches!(symbol, Symbol::Known(' ' | '\t' | '\n'))
}

/// Returns true if an expansion of this variable stands in the word, outside of any other and of arrays.
fn mentions(word: &RawWord, name: &str) -> bool {
    word.pieces.iter().any(|piece| is_parameter(piece, name))
}

/// Returns true if a parameter is this variable without an index, whatever its operator is.
fn is_whole(parameter: &Parameter, name: &str) -> bool {
    parameter.name == name && parameter.index.is_none()
}

fn is_parameter(piece: &Piece, name: &str) -> bool {
    matches!(piece, Piece::Parameter(parameter) if parameter.name == name)
}

/// Returns true for the word `"${name[@]}"`, with or without quotes.
fn is_whole_list(word: &RawWord, name: &str) -> bool {
    let is_all = |parameter: &Parameter| {
        parameter.name == name
            && parameter.operator.is_empty()
            && parameter.index.as_deref() == Some("@")
    };
    matches!(filled_pieces(word).as_slice(), [Piece::Parameter(parameter)] if is_all(parameter))
}
