//! The expansion of a parameter: `$name`, `${name:-word}` and the like.
//!
//! A parameter may have several values (see `scope`), so each function returns all results that are possible. A result
//! that cannot be computed is an unknown part, which counts as one that may be an option that sends data. [`Doubt`]
//! says what an unknown part may be: a `HarmlessPart` is no option, a `TrustedPart` (`"$URL"`) is taken for none, an
//! `AnyPart` may be one, and `AnyWords` may be several words, options among them. In quotes `AnyWords` becomes a
//! `TrustedPart`: where an option is suspected, use `AnyPart`.
//!
//! The results are atoms: symbols that remember if they are quoted, before the word is split at blanks. `frame` holds
//! the arguments and the environment of the script in which the parameter stands.

use super::atoms::{Atom, in_atoms, value_atoms};
use super::fields::{allow_odd_splits, may_begin_option_after_split};
use super::known_text::changed_text;
use crate::command::scope::value::{
    Value, element, elements, is_all_unknown, may_hide_option, number,
};
use crate::command::scope::{Frame, Scope, Separators};
use crate::command::syntax::{IN_ZSH, Parameter, Piece, Quoting};
use crate::command::text::{
    Doubt, Symbol, Symbols, exact, known, may_be_several_words, unknown, unknown_words,
};

/// Limit on the bytes of a text that an operator changes. The result for a longer one is not worth the work.
const LONGEST_CHANGED: usize = 4096;

/// The emptiness of a value, on which operators such as `:-` depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emptiness {
    Empty,
    NotEmpty,
    Unknown,
}

/// Returns the lists of atoms that the expansion of a parameter may be: for each value that the parameter may have, and
/// each result that the operator may give. No list stands twice, as each is judged by itself later.
pub(super) fn expanded(scope: &Scope<'_>, parameter: &Parameter, frame: &Frame) -> Vec<Vec<Atom>> {
    match parameter.operator.as_str() {
        "length" => return vec![in_atoms(&unknown(Doubt::HarmlessPart), parameter.quoting)],
        // The variable that another one names is not looked up.
        "indirect" => return vec![doubtful(parameter)],
        // zsh takes what follows the name as a part of the expansion, other shells as text behind the value.
        IN_ZSH => return vec![doubtful(parameter)],
        _ => {}
    }
    let values = scope.values(&parameter.name, frame);
    // By an index, or any operator that changes a text or a list (`:`, `#`, `%`, `/`, `^` and the like): as a script
    // may add a word several times, an option may stand at any index, and be what the operator leaves.
    let changes_or_picks = !parameter.keeps_value() || picks_element(parameter);
    if changes_or_picks
        && scope.has_added_words(&parameter.name)
        && values.iter().any(Value::holds_dash)
    {
        return vec![doubtful(parameter)];
    }
    let values: Vec<(Value, Expansion)> = values
        .into_iter()
        .map(|value| {
            let result = result_for(parameter, &value);
            (value, result)
        })
        .collect();
    let needs_operand = values.iter().any(|(_, result)| *result != Expansion::Own);
    // Only if needed, and once for all values: with nested operands, the work would double at each level.
    let operands = if needs_operand {
        scope.expand.atoms(scope, &parameter.operand, frame)
    } else {
        Vec::new()
    };
    let mut lists = Vec::new();
    for (value, result) in values {
        for atoms in expanded_value(scope, parameter, &value, result, &operands, frame) {
            let atoms = allow_odd_splits(atoms, scope.separators);
            if !lists.contains(&atoms) {
                lists.push(atoms);
            }
        }
    }
    lists
}

/// Returns the atoms of an expansion of which nothing is known, and which is not trusted to begin no option. In quotes
/// it is a part of one word, except that a list (`"$@"`, and for caution `"$*"`) may be any words even there.
fn doubtful(parameter: &Parameter) -> Vec<Atom> {
    if parameter.is_list() {
        return in_atoms(&unknown_words(true), Quoting::Unquoted);
    }
    // Outside of quotes, the split into words makes any words of it.
    in_atoms(&unknown(Doubt::AnyPart), parameter.quoting)
}

/// The result of an expansion with an operator such as `:-` for one value of its parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expansion {
    /// The value of the parameter; changed, if the operator is one that changes it.
    Own,
    /// The word after the operator.
    Operand,
    Nothing,
    /// One or the other, as it is not known if the parameter is set or empty.
    OwnOrOperand,
    NothingOrOperand,
}

/// Returns true for `${name[1]}`.
fn picks_element(parameter: &Parameter) -> bool {
    parameter.index.is_some() && !parameter.is_list()
}

/// Decides which of value and operand the expansion gives, if its parameter has this value. It is [`Expansion::Own`]
/// for all operators that do not choose between the two: those that change the value (`#`), `?`, and none.
fn result_for(parameter: &Parameter, value: &Value) -> Expansion {
    let emptiness = emptiness(parameter, value);
    match (parameter.operator.as_str(), emptiness) {
        (":-" | ":=", Emptiness::Empty) => Expansion::Operand,
        (":-" | ":=" | "-" | "=", Emptiness::NotEmpty) => Expansion::Own,
        // The emptiness is unknown, or the value is empty, which does not tell if the parameter is set, as `-` and `+`
        // without a colon ask.
        (":-" | ":=" | "-" | "=", _) => Expansion::OwnOrOperand,
        (":+" | "+", Emptiness::NotEmpty) => Expansion::Operand,
        (":+", Emptiness::Empty) => Expansion::Nothing,
        (":+" | "+", _) => Expansion::NothingOrOperand,
        _ => Expansion::Own,
    }
}

/// Returns the lists of atoms of an expansion for one value of its parameter, given which of value and operand it is.
/// `operands` are all results of the word after the operator; empty unless the `result` of some value needs them.
fn expanded_value(
    scope: &Scope<'_>,
    parameter: &Parameter,
    value: &Value,
    result: Expansion,
    operands: &[Vec<Atom>],
    frame: &Frame,
) -> Vec<Vec<Atom>> {
    match result {
        Expansion::Own if parameter.keeps_value() => vec![plain(scope, parameter, value)],
        Expansion::Own if parameter.is_list() => vec![sliced_list(scope, parameter, value)],
        Expansion::Own => changed(scope, parameter, value, frame),
        Expansion::Operand => operands.to_vec(),
        Expansion::Nothing => vec![Vec::new()],
        Expansion::OwnOrOperand => [&[plain(scope, parameter, value)], operands].concat(),
        Expansion::NothingOrOperand => [&[Vec::new()], operands].concat(),
    }
}

/// Tells if the value is empty: its element that the parameter means, or all elements of a list together. A text of
/// unknown parts alone may be either, unless one of them is the ID of the run.
fn emptiness(parameter: &Parameter, value: &Value) -> Emptiness {
    let text = if parameter.is_list() {
        elements(value).concat()
    } else {
        element(value, parameter.index.as_deref())
    };
    let is_never_empty = |symbol: &Symbol| match symbol {
        Symbol::Known(_) => true,
        Symbol::Unknown(doubt) => *doubt == Doubt::RunId,
    };
    if text.is_empty() {
        Emptiness::Empty
    } else if text.iter().any(is_never_empty) {
        Emptiness::NotEmpty
    } else {
        Emptiness::Unknown
    }
}

/// Returns the atoms of a list with an operator that changes it. Only a quoted slice with a fixed offset is computed
/// (`"${@:2}"`, `"${name[@]:2}"`, or with `*`), by which scripts pass their arguments on. All else is unknown
/// ([`doubtful`]), and so is a slice of words whose places are not known.
fn sliced_list(scope: &Scope<'_>, parameter: &Parameter, value: &Value) -> Vec<Atom> {
    let texts = elements(value);
    // A text in place of a list may stand for elements that are not known, if an unknown part of it may be an option.
    let has_unknown_places = texts.iter().any(|text| may_be_several_words(text))
        || matches!(value, Value::Text(text) if may_hide_option(text));
    let is_quoted_slice = parameter.operator == ":" && parameter.quoting == Quoting::Quoted;
    if has_unknown_places || !is_quoted_slice {
        return doubtful(parameter);
    }
    let Some(skipped) = skipped_elements(parameter) else {
        return doubtful(parameter);
    };
    if joins_oddly(scope, parameter) {
        return doubtful(parameter);
    }
    listed(parameter, texts.get(skipped..).unwrap_or_default())
}

/// Returns how many elements of a list a slice with this parameter leaves out at the beginning. Returns None if the
/// offset is no fixed number, if a length follows it, or for the 0 of `${@:0}`, which adds `$0` instead.
fn skipped_elements(parameter: &Parameter) -> Option<usize> {
    let offset = number(parameter.operand.literal()?.trim())?;
    let is_array = parameter.index.is_some();
    if is_array {
        return Some(offset);
    }
    // `$@` counts from 1: `${@:1}` leaves out nothing.
    offset.checked_sub(1)
}

/// Returns the lists of atoms of a value that the operator changes: without its beginning or end, with another part, or
/// in other letters; one for each text that the operand may be. A result that cannot be computed is a harmless part if
/// value and operand can make no option, trusted like `"$URL"` if it is a beginning without one
/// ([`is_trusted_beginning`]), and may be an option otherwise. A value that is not known is trusted like `"$URL"`,
/// whatever the operand is, unless there is reason to expect an option in it.
fn changed(
    scope: &Scope<'_>,
    parameter: &Parameter,
    value: &Value,
    frame: &Frame,
) -> Vec<Vec<Atom>> {
    let text = element(value, parameter.index.as_deref());
    // zsh takes `$name` for all elements.
    let is_whole_list = parameter.index.is_none() && matches!(value, Value::List(_));
    if is_whole_list || may_hide_option(&text) {
        return vec![doubtful(parameter)];
    }
    let Some(known_text) = exact(&text) else {
        // In quotes, such as `"${URL%/}"`, it is trusted as `"$URL"` is.
        return vec![value_atoms(&unknown(Doubt::AnyWords), parameter.quoting)];
    };
    let mut lists = Vec::new();
    for operand in scope.expand.texts(scope, &parameter.operand, frame) {
        let operand_text = exact(&operand).filter(|operand| {
            known_text.len() <= LONGEST_CHANGED && has_clear_signs(parameter, operand)
        });
        let result = operand_text
            .and_then(|operand| changed_text(&known_text, &parameter.operator, &operand));
        lists.push(match result {
            Some(result) => value_atoms(&known(&result), parameter.quoting),
            // No cut or replacement makes an option or further words of them.
            None if is_safe_in_parts(&text) && is_safe_in_parts(&operand) => {
                in_atoms(&unknown(Doubt::HarmlessPart), parameter.quoting)
            }
            None if is_trusted_beginning(scope, parameter, &text) => {
                value_atoms(&unknown(Doubt::AnyWords), parameter.quoting)
            }
            None => doubtful(parameter),
        });
    }
    lists
}

/// Returns true if the operator leaves a beginning of this text (`%`) in which no option stands, wherever it ends: none
/// at its start or behind a blank. False if a script may split words at other signs than blanks (`IFS`), as an option
/// may then begin at any `-`.
fn is_trusted_beginning(scope: &Scope<'_>, parameter: &Parameter, text: &Symbols) -> bool {
    let may_hold_option = Value::Text(text.clone()).may_split_into_option();
    parameter.operator.starts_with('%') && !may_hold_option && scope.separators < Separators::Any
}

/// Returns true unless it is unclear which signs of the operand mean something: the first `/` of `old/new` separates in
/// a replacement, and `*` in `${name#*text}` and the like matches anything, but not one in quotes, after a backslash
/// or, in some shells, from a variable. `operand` is the expanded operand, in which these look like any other. Always
/// true for other operators.
fn has_clear_signs(parameter: &Parameter, operand: &str) -> bool {
    let sign = match parameter.operator.as_bytes() {
        [b'/', ..] => '/',
        [b'#' | b'%', ..] if operand.contains('*') => '*',
        _ => return true,
    };
    // The signs that may mean something: those written with no other quotes than the ones around the whole expansion.
    let mut clear_signs = 0;
    for piece in &parameter.operand.pieces {
        match piece {
            Piece::Quotes => return !operand.contains(sign),
            Piece::Text(text, quoting) if *quoting == parameter.quoting => {
                clear_signs += text.iter().filter(|c| **c == Symbol::Known(sign)).count();
            }
            _ => {}
        }
    }
    // A quote that is left in the text may quote in some shells.
    clear_signs == operand.matches(sign).count() && !operand.contains(['\'', '"'])
}

/// Returns true if no part of a text, wherever it is cut, begins an option or holds a sign of a shell. So a `-` counts
/// as unsafe at any place.
fn is_safe_in_parts(text: &[Symbol]) -> bool {
    text.iter().all(|symbol| match symbol {
        Symbol::Known(c) => c.is_alphanumeric() || "_./:@%+,=".contains(*c),
        Symbol::Unknown(_) => false,
    })
}

/// Returns the atoms of an expansion without an operator, or whose operator leaves the value as it is. A list gives its
/// elements as words of their own, but `"$*"` joins them to one word. If an element as a whole may be any words, the
/// list is any words, but `"$*"` a trusted part unless an option is suspected in it. If a script sets `IFS`, each other
/// `$*` is any words, even with known elements and in quotes.
fn plain(scope: &Scope<'_>, parameter: &Parameter, value: &Value) -> Vec<Atom> {
    let quoting = parameter.quoting;
    if !parameter.is_list() {
        return value_atoms(&element(value, parameter.index.as_deref()), quoting);
    }
    let texts = elements(value);
    let has_unknown_element = texts
        .iter()
        .any(|text| is_all_unknown(text) && may_be_several_words(text));
    let is_joined = parameter.is_joined() && quoting == Quoting::Quoted;
    if has_unknown_element && is_joined && !value.may_split_into_option() {
        // One word, and trusted to begin no option, as `"$URL"` is.
        return in_atoms(&unknown(Doubt::TrustedPart), Quoting::Quoted);
    }
    let atoms = listed(parameter, &texts);
    if joins_oddly(scope, parameter) {
        let text = unknown_words(may_begin_option_after_split(&atoms));
        return in_atoms(&text, Quoting::Unquoted);
    }
    if has_unknown_element {
        let text = unknown_words(value.may_split_into_option());
        return in_atoms(&text, Quoting::Unquoted);
    }
    atoms
}

/// Returns true for `$*` and `${name[*]}` if a script sets `IFS`: the elements are joined with its first character,
/// which may be any.
fn joins_oddly(scope: &Scope<'_>, parameter: &Parameter) -> bool {
    parameter.is_joined() && scope.separators != Separators::Blanks
}

/// Returns the atoms of these elements of a list: each is a word of its own, except `"$*"`, which joins them to one.
fn listed(parameter: &Parameter, texts: &[Symbols]) -> Vec<Atom> {
    let quoting = parameter.quoting;
    let is_joined = parameter.is_joined() && quoting == Quoting::Quoted;
    let separator = if is_joined {
        Atom::Symbol(Symbol::Known(' '), Quoting::Quoted)
    } else {
        Atom::Break
    };
    let mut atoms = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            atoms.push(separator);
        }
        if quoting == Quoting::Quoted {
            // An empty element is a word, too.
            atoms.push(Atom::Quotes);
        }
        atoms.extend(value_atoms(text, quoting));
    }
    atoms
}
