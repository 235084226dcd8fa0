//! `${name:-word}` and the like.

use super::atoms::{Atom, in_atoms, value_atoms};
use crate::command::scope::value::{Value, element, elements, is_all_unknown, is_plain_word};
use crate::command::scope::{Frame, LONGEST_VALUE, Scope};
use crate::command::syntax::{Parameter, Quoting};
use crate::command::text::{Doubt, Symbol, Symbols, exact, known, may_be_several_words, unknown};

/// Whether a value is an empty text.
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
    let mut lists = Vec::new();
    // Found once, as operands may be nested.
    let mut operands = None;
    for value in scope.values(&parameter.name, frame) {
        let expansion = expansion(parameter, &value);
        if expansion != Expansion::Own && operands.is_none() && is_alternative(parameter) {
            operands = Some(scope.expand.atoms(scope, &parameter.operand, frame));
        }
        let operands = operands.as_deref().unwrap_or_default();
        for atoms in expanded_value(scope, parameter, &value, expansion, operands, frame) {
            let atoms = if scope.has_odd_ifs {
                unsplit(atoms)
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

/// Allows for words that are split at other characters than blanks.
fn unsplit(atoms: Vec<Atom>) -> Vec<Atom> {
    let is_split = |atom: &Atom| match atom {
        Atom::Symbol(Symbol::Known(c), Quoting::Unquoted) => !c.is_ascii_digit(),
        _ => false,
    };
    if atoms.iter().any(is_split) {
        in_atoms(&unknown(Doubt::AnyWords), Quoting::Unquoted)
    } else {
        atoms
    }
}

/// Returns an expansion of which nothing is known.
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

/// What an expansion with an operator such as `:-` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expansion {
    Own,
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

fn expansion(parameter: &Parameter, value: &Value) -> Expansion {
    let is_empty = emptiness(parameter, value);
    match (parameter.operator.as_str(), is_empty) {
        (":-" | ":=", Emptiness::Empty) => Expansion::Operand,
        (":-" | ":=" | "-" | "=", Emptiness::NotEmpty) => Expansion::Own,
        // An empty value may be set or not.
        (":-" | ":=" | "-" | "=", _) => Expansion::OwnOrOperand,
        (":+" | "+", Emptiness::NotEmpty) => Expansion::Operand,
        (":+", Emptiness::Empty) => Expansion::Nothing,
        (":+" | "+", _) => Expansion::NothingOrOperand,
        _ => Expansion::Own,
    }
}

fn expanded_value(
    scope: &Scope<'_>,
    parameter: &Parameter,
    value: &Value,
    expansion: Expansion,
    operands: &[Vec<Atom>],
    frame: &Frame,
) -> Vec<Vec<Atom>> {
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

/// Returns `${@:2}` and the like.
fn sliced_list(parameter: &Parameter, value: &Value) -> Vec<Atom> {
    let offset = parameter
        .operand
        .literal()
        .and_then(|text| text.trim().parse::<usize>().ok());
    let texts = elements(value);
    if texts.iter().any(|text| may_be_several_words(text)) {
        return doubtful(parameter);
    }
    let is_argument = parameter.index.is_none();
    let skipped = match offset {
        Some(offset) if is_argument => offset.checked_sub(1),
        other => other,
    };
    match skipped {
        Some(skipped) if parameter.operator == ":" && parameter.quoting == Quoting::Quoted => {
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
        _ => doubtful(parameter),
    }
}

/// Returns a value without its beginning or end, with another part, or in other letters.
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
        let result = exact(&operand)
            .filter(|_| known_text.len() <= LONGEST_VALUE)
            .and_then(|operand| changed_text(&known_text, &parameter.operator, &operand));
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

/// Returns true if no part of either text begins an option or is split.
fn is_harmless(text: &Symbols, operand: &Symbols) -> bool {
    let without_dash = |text: &Symbols| {
        text.iter().all(|symbol| match symbol {
            Symbol::Known(c) => c.is_alphanumeric() || "_./:@%+,=".contains(*c),
            Symbol::Unknown(_) => false,
        })
    };
    is_plain_word(text) && without_dash(text) && without_dash(operand)
}

/// Computes the common cases.
fn changed_text(text: &str, operator: &str, operand: &str) -> Option<String> {
    let is_plain = !operand.contains(['*', '?', '[', '\\', '(']);
    let result = match operator {
        "#" | "##" if is_plain => text.strip_prefix(operand).unwrap_or(text).to_owned(),
        "%" | "%%" if is_plain => text.strip_suffix(operand).unwrap_or(text).to_owned(),
        "#" | "##" => match operand.strip_prefix('*') {
            Some(end) if !end.is_empty() && !end.contains(['*', '?', '[', '\\', '(']) => {
                let at = if operator == "#" {
                    text.find(end)
                } else {
                    text.rfind(end)
                };
                at.map_or(text, |at| &text[at + end.len()..]).to_owned()
            }
            _ => return None,
        },
        "%" | "%%" => match operand.strip_suffix('*') {
            Some(start) if !start.is_empty() && !start.contains(['*', '?', '[', '\\', '(']) => {
                let at = if operator == "%" {
                    text.rfind(start)
                } else {
                    text.find(start)
                };
                at.map_or(text, |at| &text[..at]).to_owned()
            }
            _ => return None,
        },
        "/" | "//" if is_plain => {
            let (pattern, new) = operand.split_once('/').unwrap_or((operand, ""));
            match operator {
                _ if pattern.is_empty() || new.contains('&') => return None,
                "/" => text.replacen(pattern, new, 1),
                _ => text.replace(pattern, new),
            }
        }
        ":" => return slice(text, operand),
        _ => return None,
    };
    Some(result)
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

/// Returns the atoms of a plain expansion with this value.
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
    for (at, text) in texts.iter().enumerate() {
        match (at, is_joined) {
            (0, _) => {}
            (_, true) => atoms.push(Atom::Symbol(Symbol::Known(' '), Quoting::Quoted)),
            (_, false) => atoms.push(Atom::Break),
        }
        if quoting == Quoting::Quoted {
            atoms.push(Atom::Quotes);
        }
        atoms.extend(value_atoms(text, quoting));
    }
    atoms
}
