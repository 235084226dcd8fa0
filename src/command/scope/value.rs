//! One value that a variable of a shell may have.

use crate::command::text::{Doubt, Symbol, Symbols, Word, may_be_several_words, unknown};

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Symbols),
    /// An array, or the arguments of a script.
    List(Vec<Symbols>),
}

impl Value {
    /// Returns true for one word that begins no option and holds nothing that a shell acts on.
    fn is_plain_word(&self) -> bool {
        match self {
            Value::Text(text) => is_plain_word(text),
            Value::List(_) => false,
        }
    }
}

pub(super) fn add_new(values: &mut Vec<Value>, value: Value) {
    if !values.contains(&value) {
        values.push(value);
    }
}

/// Returns one unknown text that stands for many values.
pub(crate) fn summary(values: &[Value]) -> Symbols {
    if values.iter().all(Value::is_plain_word) {
        unknown(Doubt::PlainPart)
    } else {
        unknown(Doubt::AnyWords)
    }
}

/// Returns true if a text is one word, no option, and holds nothing that a shell acts on.
pub(crate) fn is_plain_word(text: &[Symbol]) -> bool {
    let is_plain = |symbol: &Symbol| match symbol {
        Symbol::Known(c) => c.is_alphanumeric() || "-_./:@%+,=".contains(*c),
        Symbol::Unknown(doubt) => !doubt.may_hold_code(),
    };
    let begins_known = matches!(text.first(), Some(Symbol::Known(_)));
    begins_known && !begins_option(text) && text.iter().all(is_plain)
}

pub(super) fn begins_option(text: &[Symbol]) -> bool {
    text.first() == Some(&Symbol::Known('-'))
}

/// Returns the elements of a value as `"${name[@]}"` gives them.
pub(crate) fn elements(value: &Value) -> Vec<Symbols> {
    match value {
        Value::Text(text) if text.is_empty() => Vec::new(),
        Value::Text(text) => vec![text.clone()],
        Value::List(texts) => texts.clone(),
    }
}

/// Returns the element of a value at an index as it is written: `${name[index]}`, or `$name` without one.
pub(crate) fn element(value: &Value, index: Option<&str>) -> Symbols {
    // None for an index that is not a number.
    let number: Option<usize> = match index {
        None => Some(0),
        Some(index) => index.parse().ok(),
    };
    match (value, number) {
        (Value::Text(text), Some(0)) => text.clone(),
        (Value::Text(text), _) if may_be_several_words(text) => text.clone(),
        (Value::Text(_), Some(_)) => Symbols::new(),
        (Value::List(texts), Some(index)) => texts.get(index).cloned().unwrap_or_default(),
        (Value::List(texts), None) if texts.iter().any(|text| begins_option(text)) => {
            unknown(Doubt::AnyPart)
        }
        (Value::Text(_) | Value::List(_), None) => unknown(Doubt::AnyWords),
    }
}

/// Returns the value of an array of these words, which is unknown unless each is exactly one word.
pub(crate) fn array_value(words: Vec<Word>) -> Value {
    if words.iter().any(|word| may_be_several_words(&word.text)) {
        return Value::Text(unknown(Doubt::AnyWords));
    }
    Value::List(words.into_iter().map(|word| word.text).collect())
}

/// Returns true if the text has no known part.
pub(crate) fn is_all_unknown(text: &[Symbol]) -> bool {
    let is_unknown = |symbol: &Symbol| matches!(symbol, Symbol::Unknown(_));
    !text.is_empty() && text.iter().all(is_unknown)
}
