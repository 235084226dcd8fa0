//! `${name:-word}` and the like.

use super::atoms::{Atom, in_atoms, value_atoms};
use crate::command::scope::value::{Value, element, elements, is_all_unknown};
use crate::command::scope::{Frame, LONGEST_VALUE, Scope};
use crate::command::syntax::{Parameter, Quoting};
use crate::command::text::{Doubt, Symbol, Symbols, exact, known, may_be_several_words, unknown};

/// Knowledge about a text: is it empty?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emptiness {
    Empty,
    NotEmpty,
    Unknown,
}

/// Returns the lists of atoms that the expansion of a parameter may be.
pub(super) fn expanded(scope: &Scope<'_>, parameter: &Parameter, frame: &Frame) -> Vec<Vec<Atom>> {
    match parameter.operator.as_str() {
        "length" => return vec![in_atoms(&unknown(Doubt::PlainPart), parameter.quoting)],
        "indirect" => return vec![doubtful(parameter)],
        _ => {}
    }
    let values: Vec<(Value, Expansion)> = scope
        .values(&parameter.name, frame)
        .into_iter()
        .map(|value| {
            let expansion = expansion(parameter, &value);
            (value, expansion)
        })
        .collect();
    let needs_operand = values
        .iter()
        .any(|(_, expansion)| *expansion != Expansion::Own);
    // Only if needed, and once for all values, as operands may be nested.
    let operands = if needs_operand && is_alternative(parameter) {
        scope.expand.atoms(scope, &parameter.operand, frame)
    } else {
        Vec::new()
    };
    let mut lists = Vec::new();
    for (value, expansion) in values {
        for atoms in expanded_value(scope, parameter, &value, expansion, &operands, frame) {
            let atoms = if scope.has_odd_ifs {
                allow_odd_splits(atoms)
            } else {
                atoms
            };
            if !lists.contains(&atoms) {
                lists.push(atoms);
            }
        }
    }
    lists
}

/// Returns any number of words for an expansion that a shell may split at other characters than blanks.
fn allow_odd_splits(atoms: Vec<Atom>) -> Vec<Atom> {
    // `IFS` hardly ever holds a digit.
    let may_be_split = |atom: &Atom| match atom {
        Atom::Symbol(Symbol::Known(c), Quoting::Unquoted) => !c.is_ascii_digit(),
        _ => false,
    };
    if atoms.iter().any(may_be_split) {
        in_atoms(&unknown(Doubt::AnyWords), Quoting::Unquoted)
    } else {
        atoms
    }
}

/// Returns the atoms of an expansion of which nothing is known.
fn doubtful(parameter: &Parameter) -> Vec<Atom> {
    match parameter.quoting {
        Quoting::Quoted if !parameter.is_list() => {
            in_atoms(&unknown(Doubt::AnyPart), Quoting::Quoted)
        }
        Quoting::Quoted | Quoting::Unquoted => {
            in_atoms(&unknown(Doubt::AnyWords), Quoting::Unquoted)
        }
    }
}

/// The result of an expansion with an operator such as `:-`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expansion {
    /// The value of the parameter, changed by the operator.
    Own,
    /// The word after the operator.
    Operand,
    Nothing,
    OwnOrOperand,
    NothingOrOperand,
}

/// Returns true if the operand stands for the value: `${name:-operand}`.
fn is_alternative(parameter: &Parameter) -> bool {
    matches!(
        parameter.operator.as_str(),
        ":-" | ":=" | "-" | "=" | ":+" | "+"
    )
}

/// Decides the result of an expansion for this value of its parameter.
fn expansion(parameter: &Parameter, value: &Value) -> Expansion {
    let emptiness = emptiness(parameter, value);
    match (parameter.operator.as_str(), emptiness) {
        (":-" | ":=", Emptiness::Empty) => Expansion::Operand,
        (":-" | ":=" | "-" | "=", Emptiness::NotEmpty) => Expansion::Own,
        // `-` and `+` ask if the parameter is set, as one with an empty value may be or not.
        (":-" | ":=" | "-" | "=", _) => Expansion::OwnOrOperand,
        (":+" | "+", Emptiness::NotEmpty) => Expansion::Operand,
        (":+", Emptiness::Empty) => Expansion::Nothing,
        (":+" | "+", _) => Expansion::NothingOrOperand,
        _ => Expansion::Own,
    }
}

/// Returns the lists of atoms of an expansion for one value of its parameter.
fn expanded_value(
    scope: &Scope<'_>,
    parameter: &Parameter,
    value: &Value,
    expansion: Expansion,
    operands: &[Vec<Atom>],
    frame: &Frame,
) -> Vec<Vec<Atom>> {
    // `?` only ends the script if the variable is unset.
    let is_plain = matches!(parameter.operator.as_str(), "" | "?" | ":?");
    match expansion {
        Expansion::Own if is_plain || is_alternative(parameter) => {
            vec![plain(scope, parameter, value)]
        }
        Expansion::Own if parameter.is_list() => vec![sliced_list(parameter, value)],
        Expansion::Own => changed(scope, parameter, value, frame),
        Expansion::Operand => operands.to_vec(),
        Expansion::Nothing => vec![Vec::new()],
        Expansion::OwnOrOperand => [&[plain(scope, parameter, value)], operands].concat(),
        Expansion::NothingOrOperand => [&[Vec::new()], operands].concat(),
    }
}

/// Returns the knowledge about the text of a value: is it empty?
fn emptiness(parameter: &Parameter, value: &Value) -> Emptiness {
    let text = if parameter.is_list() {
        elements(value).concat()
    } else {
        element(value, parameter.index.as_deref())
    };
    let is_certain = |symbol: &Symbol| match symbol {
        Symbol::Known(_) => true,
        Symbol::Unknown(doubt) => *doubt <= Doubt::PlainPart,
    };
    if text.is_empty() {
        Emptiness::Empty
    } else if text.iter().any(is_certain) {
        Emptiness::NotEmpty
    } else {
        Emptiness::Unknown
    }
}

/// Returns the elements of `"${@:2}"`, or an unknown expansion for any other operator on a list.
fn sliced_list(parameter: &Parameter, value: &Value) -> Vec<Atom> {
    let offset = parameter
        .operand
        .literal()
        .and_then(|text| text.trim().parse::<usize>().ok());
    let texts = elements(value);
    if texts.iter().any(|text| may_be_several_words(text)) {
        return doubtful(parameter);
    }
    let is_of_arguments = parameter.index.is_none();
    let skipped = match offset {
        // `$0` is no element of `$@`, so that offset 1 skips nothing.
        Some(offset) if is_of_arguments => offset.checked_sub(1),
        other => other,
    };
    let is_quoted_slice = parameter.operator == ":" && parameter.quoting == Quoting::Quoted;
    let (Some(skipped), true) = (skipped, is_quoted_slice) else {
        return doubtful(parameter);
    };
    let mut sliced = Vec::new();
    for (at, text) in texts.iter().skip(skipped).enumerate() {
        if at > 0 {
            sliced.push(Atom::Break);
        }
        sliced.push(Atom::Quotes);
        sliced.extend(value_atoms(text, Quoting::Quoted));
    }
    sliced
}

/// Returns the lists of atoms of a text that the operator changes: without its beginning or end, with another part, or
/// in other letters.
fn changed(
    scope: &Scope<'_>,
    parameter: &Parameter,
    value: &Value,
    frame: &Frame,
) -> Vec<Vec<Atom>> {
    let text = element(value, parameter.index.as_deref());
    let Some(known_text) = exact(&text) else {
        // A quoted expansion of a value that is not known, such as `"${URL%/}"`, is trusted as `"$URL"` is.
        return vec![value_atoms(&unknown(Doubt::AnyWords), parameter.quoting)];
    };
    let mut lists = Vec::new();
    for operand in scope.expand.texts(scope, &parameter.operand, frame) {
        let operand_text = exact(&operand);
        let result = match &operand_text {
            Some(operand) if known_text.len() <= LONGEST_VALUE => {
                changed_text(&known_text, &parameter.operator, operand)
            }
            _ => None,
        };
        lists.push(match result {
            Some(result) => value_atoms(&known(&result), parameter.quoting),
            None if is_harmless(&text, &operand) => {
                in_atoms(&unknown(Doubt::PlainPart), parameter.quoting)
            }
            None => doubtful(parameter),
        });
    }
    lists
}

/// Returns true if an operator that cuts the first text, or joins both, makes no option and no further words.
fn is_harmless(text: &Symbols, operand: &Symbols) -> bool {
    !text.is_empty() && is_safe_in_parts(text) && is_safe_in_parts(operand)
}

/// Returns true if no part of a text, wherever it is cut, begins an option or holds a sign of a shell.
fn is_safe_in_parts(text: &[Symbol]) -> bool {
    text.iter().all(|symbol| match symbol {
        Symbol::Known(c) => c.is_alphanumeric() || "_./:@%+,=".contains(*c),
        Symbol::Unknown(_) => false,
    })
}

/// Computes the result of an operator in the common cases; None for any other.
fn changed_text(text: &str, operator: &str, operand: &str) -> Option<String> {
    match operator {
        "#" | "##" => without_beginning(text, operator, operand),
        "%" | "%%" => without_end(text, operator, operand),
        "/" | "//" => with_replacement(text, operator, operand),
        ":" => slice(text, operand),
        _ => None,
    }
}

/// Returns `${text#operand}` or `${text##operand}`. The operand may begin with `*`, and hold no other sign of a pattern.
fn without_beginning(text: &str, operator: &str, operand: &str) -> Option<String> {
    if is_literal(operand) {
        return Some(text.strip_prefix(operand).unwrap_or(text).to_owned());
    }
    let end = operand.strip_prefix('*')?;
    if end.is_empty() || !is_literal(end) {
        return None;
    }
    // `#` removes the shortest beginning, `##` the longest.
    let found = if operator == "#" {
        text.find(end)
    } else {
        text.rfind(end)
    };
    match found {
        Some(at) => Some(text[at + end.len()..].to_owned()),
        None => Some(text.to_owned()),
    }
}

/// Returns `${text%operand}` or `${text%%operand}`. The operand may end with `*`, and hold no other sign of a pattern.
fn without_end(text: &str, operator: &str, operand: &str) -> Option<String> {
    if is_literal(operand) {
        return Some(text.strip_suffix(operand).unwrap_or(text).to_owned());
    }
    let start = operand.strip_suffix('*')?;
    if start.is_empty() || !is_literal(start) {
        return None;
    }
    // `%` removes the shortest end, `%%` the longest.
    let found = if operator == "%" {
        text.rfind(start)
    } else {
        text.find(start)
    };
    match found {
        Some(at) => Some(text[..at].to_owned()),
        None => Some(text.to_owned()),
    }
}

/// Returns `${text/old/new}` or `${text//old/new}` if `old` is no pattern.
fn with_replacement(text: &str, operator: &str, operand: &str) -> Option<String> {
    let (old, new) = operand.split_once('/').unwrap_or((operand, ""));
    // In some shells `&` stands for what was found.
    if !is_literal(operand) || old.is_empty() || new.contains('&') {
        return None;
    }
    if operator == "/" {
        Some(text.replacen(old, new, 1))
    } else {
        Some(text.replace(old, new))
    }
}

/// Returns true if a text holds no sign of a pattern.
fn is_literal(text: &str) -> bool {
    !text.contains(['*', '?', '[', '\\', '('])
}

/// Returns `${text:start:length}`.
fn slice(text: &str, operand: &str) -> Option<String> {
    let (start, length) = operand.split_once(':').unwrap_or((operand, ""));
    let start: usize = start.trim().parse().ok()?;
    let rest: Vec<char> = text.chars().skip(start).collect();
    let length = match length.trim() {
        "" => rest.len(),
        length => length.parse().ok()?,
    };
    Some(rest.into_iter().take(length).collect())
}

/// Returns the atoms of an expansion without an operator, or whose operator leaves the value as it is.
fn plain(scope: &Scope<'_>, parameter: &Parameter, value: &Value) -> Vec<Atom> {
    let quoting = parameter.quoting;
    if !parameter.is_list() {
        return value_atoms(&element(value, parameter.index.as_deref()), quoting);
    }
    let texts = elements(value);
    let is_unknown = texts
        .iter()
        .any(|text| is_all_unknown(text) && may_be_several_words(text));
    let is_joined = parameter.is_joined() && quoting == Quoting::Quoted;
    if is_unknown && is_joined {
        return in_atoms(&unknown(Doubt::TrustedPart), Quoting::Quoted);
    }
    if is_unknown || parameter.is_joined() && scope.has_odd_ifs {
        return in_atoms(&unknown(Doubt::AnyWords), Quoting::Unquoted);
    }
    let mut atoms = Vec::new();
    let separator = if is_joined {
        Atom::Symbol(Symbol::Known(' '), Quoting::Quoted)
    } else {
        Atom::Break
    };
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            atoms.push(separator);
        }
        if quoting == Quoting::Quoted {
            atoms.push(Atom::Quotes);
        }
        atoms.extend(value_atoms(text, quoting));
    }
    atoms
}
