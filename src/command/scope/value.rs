//! One value that a variable of a shell may have: a text or a list of texts, with unknown parts in it.
//!
//! [`Doubt`] says what an unknown part may be: a `HarmlessPart` is no option, a `TrustedPart` (`"$URL"`) is
//! taken for none, an `AnyPart` may be one, and `AnyWords` may be several words, options among them. In quotes
//! `AnyWords` becomes a `TrustedPart`: where an option is suspected, use `AnyPart`.

use crate::command::http::tables::mentions_client;
use crate::command::text::{
    Doubt, Symbol, Symbols, begins_option, exact, may_be_several_words, unknown, unknown_words,
};
use crate::command::word::Word;

/// Limit on the values that a variable may have, as each multiplies the words to be judged.
pub(crate) const MOST_VALUES: usize = 8;

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Symbols),
    /// An array, or the arguments of a script.
    List(Vec<Symbols>),
}

impl Value {
    /// Returns true for one word that begins no option and holds nothing that a shell acts on.
    pub(super) fn is_plain_word(&self) -> bool {
        match self {
            Value::Text(text) => is_plain_word(text),
            Value::List(_) => false,
        }
    }

    /// Returns true if a client, curl or wget, is mentioned.
    pub(super) fn mentions_client(&self) -> bool {
        let mut texts = elements(self).into_iter();
        texts.any(|text| mentions_client(&text))
    }

    /// Returns true if the text or an element begins an option, or begins with an unknown part that is known to be one
    /// at times (`AnyPart`). An unknown value as such (`AnyWords`) does not count: in quotes it is trusted.
    pub(super) fn may_hold_option(&self) -> bool {
        match self {
            Value::Text(text) => begins_suspected_option(text),
            Value::List(texts) => texts.iter().any(|element| begins_suspected_option(element)),
        }
    }

    /// Returns true if an option may stand anywhere in the text or an element.
    pub(crate) fn holds_dash(&self) -> bool {
        elements(self).iter().any(|text| holds_dash(text))
    }

    /// Returns true if an option (or an `AnyPart`) begins the text or an element, or stands in one behind a blank, so
    /// that a word split off later may be one. By this, callers decide if an unknown part that stands for many values
    /// is trusted in quotes. `AnyWords` does not count, as in `may_hold_option`.
    pub(crate) fn may_split_into_option(&self) -> bool {
        let is_behind_blank = |pair: &[Symbol]| matches!(pair, [Symbol::Known(' ' | '\t' | '\n'), second] if begins_suspected_option(&[*second]));
        let texts = elements(self);
        self.may_hold_option()
            || texts
                .iter()
                .any(|text| text.windows(2).any(is_behind_blank))
    }
}

/// Adds a value unless it is there already: each further value means further combinations to be judged.
pub(super) fn add_new(values: &mut Vec<Value>, value: Value) {
    if !values.contains(&value) {
        values.push(value);
    }
}

/// Returns unknown texts that stand for many values, when there are too many to look at each: a harmless part if all of
/// them are plain words, and any words otherwise. Beside a harmless part stand those that mention a client, as a
/// command may call it by such a word; if these alone are too many, all count as unknown words, of which
/// one may be an option if one of the values may be.
pub(crate) fn summary(values: &[Value]) -> Vec<Value> {
    let harmless = Value::Text(unknown(Doubt::HarmlessPart));
    let is_harmless = |value: &Value| value.is_plain_word() || *value == harmless;
    let clients: Vec<Value> = values
        .iter()
        .filter(|value| value.mentions_client())
        .cloned()
        .collect();
    if values.iter().all(is_harmless) && clients.len() < MOST_VALUES {
        return [vec![harmless], clients].concat();
    }
    let may_hold_option = values.iter().any(Value::may_hold_option);
    vec![Value::Text(unknown_words(may_hold_option))]
}

/// Returns true if a text is one word, no option, and holds nothing that a shell acts on: only characters of names,
/// paths and URLs. Its beginning has to be known, as an unknown part may be empty, and a `-` may stand behind it. Many
/// such values can be looked at as one.
pub(crate) fn is_plain_word(text: &[Symbol]) -> bool {
    let is_plain = |symbol: &Symbol| match symbol {
        Symbol::Known(c) => c.is_alphanumeric() || "-_./:@%+,=".contains(*c),
        Symbol::Unknown(doubt) => !doubt.may_hold_code(),
    };
    let begins_known = matches!(text.first(), Some(Symbol::Known(_)));
    begins_known && !begins_option(text) && text.iter().all(is_plain)
}

/// Returns true if a text is one word that is trusted to be no option: like `"$URL"`, or like `https://$HOST` and
/// `"$DIR/file"` with such parts. Behind parts at the beginning, which may be empty, no sign may stand but that of a
/// path: a `-` may begin an option, and another one may be a mark (`{}`) that `xargs` replaces by an option.
pub(crate) fn is_trusted_word(text: &[Symbol]) -> bool {
    let is_trusted =
        |symbol: &&Symbol| matches!(symbol, Symbol::Unknown(doubt) if *doubt <= Doubt::TrustedPart);
    let begins_well = match text.iter().find(|symbol| !is_trusted(symbol)) {
        Some(Symbol::Known(c)) => c.is_alphanumeric() || "./".contains(*c),
        Some(Symbol::Unknown(_)) => false,
        None => true,
    };
    begins_well && !may_be_several_words(text)
}

/// Returns true if a text begins an option, or begins with a part of which it is known that it may be one. `AnyWords`
/// is no such part: nothing speaks for an option in it, and in quotes it is trusted.
pub(super) fn begins_suspected_option(text: &[Symbol]) -> bool {
    begins_option(text) || text.first() == Some(&Symbol::Unknown(Doubt::AnyPart))
}

/// Returns the elements of a value as `"${name[@]}"` gives them. A text is its only element; an empty one stands for an
/// unset variable, which has none. A text with an unknown part may stand for several elements: a caller that counts or
/// picks elements has to test `may_be_several_words` first.
pub(crate) fn elements(value: &Value) -> Vec<Symbols> {
    match value {
        Value::Text(text) if text.is_empty() => Vec::new(),
        Value::Text(text) => vec![text.clone()],
        Value::List(texts) => texts.clone(),
    }
}

/// Returns true if an operator that changes a text may make an option of it that cannot be told: an `AnyPart` stands in
/// it, at any place, as what stands before may be cut off; or a `-` begins it, and a part is unknown. False for a text
/// that is known, even `-d`: the caller can see what the operator makes of it. False for `AnyWords`, too, which is
/// trusted in quotes.
pub(crate) fn may_hide_option(text: &Symbols) -> bool {
    let any_part = Symbol::Unknown(Doubt::AnyPart);
    text.contains(&any_part) || begins_option(text) && exact(text).is_none()
}

/// Returns true if a text begins an option, or begins with an unknown part that may. Unlike in
/// [`begins_suspected_option`], `AnyWords` is one.
fn may_begin_option(text: &Symbols) -> bool {
    match text.first() {
        Some(Symbol::Unknown(doubt)) => *doubt >= Doubt::AnyPart,
        _ => begins_option(text),
    }
}

/// Returns the element of a value that `${name[index]}` gives, or `$name` if `index` is None: the first one. Returns an
/// empty text if there is no such element, and an unknown one if the index is not a plain number, or if zsh may give an
/// option where bash gives none. Not for the indexes `@` and `*`, for which there is [`elements`].
pub(crate) fn element(value: &Value, index: Option<&str>) -> Symbols {
    match value {
        Value::Text(text) => element_of_text(text, index),
        Value::List(texts) => element_of_list(texts, index),
    }
}

/// Returns the element of a text, which has only the first one: any other is empty. With an index that is no plain
/// number it is unknown: an `AnyPart` if the text may begin an option, as `AnyWords` would be trusted in quotes. It is
/// unknown, too, if zsh takes the index for that of a character, or for a part of the text. A text with an unknown part
/// that may be an option or several words stands for each of its elements, as it may be that of an array.
fn element_of_text(text: &Symbols, index: Option<&str>) -> Symbols {
    let Some(index) = index else {
        return text.clone();
    };
    // The variable may be an array of unknown words.
    let may_be_array = text
        .iter()
        .any(|symbol| matches!(symbol, Symbol::Unknown(doubt) if *doubt >= Doubt::AnyPart));
    match number(index) {
        Some(0) => text.clone(),
        Some(_) if may_be_array => text.clone(),
        Some(number) => text.get(number - 1).map_or_else(Symbols::new, in_zsh_only),
        None if begins_suspected_option(text) || may_cut_option(text, index) => {
            unknown(Doubt::AnyPart)
        }
        None if may_be_array => text.clone(),
        None => unknown(Doubt::AnyWords),
    }
}

/// Returns what stands for this character in zsh and for an empty text in other shells, as `${name[1]}` of a text is:
/// for a plain character a harmless part, which may be empty; for any other an `AnyPart`, as a `-` begins an option.
fn in_zsh_only(character: &Symbol) -> Symbols {
    if is_plain_word(&[*character]) {
        return unknown(Doubt::HarmlessPart);
    }
    unknown(Doubt::AnyPart)
}

/// Returns true if this index may cut an option out of a text, be it from its middle: `${name[3,4]}` and
/// `${name[(w)2]}` in zsh. Only an index that is written so does: with any other, zsh gives a single character.
fn may_cut_option(text: &[Symbol], index: &str) -> bool {
    index.contains([',', '(']) && holds_dash(text)
}

/// Returns true if an option may stand anywhere in a text: a `-`, or a part of which it is known that it may be one.
fn holds_dash(text: &[Symbol]) -> bool {
    let dashes = [Symbol::Known('-'), Symbol::Unknown(Doubt::AnyPart)];
    text.iter().any(|symbol| dashes.contains(symbol))
}

/// Returns the element of an array. It is unknown if the index is no plain number, or if zsh, which counts from 1, and
/// takes `$name` for all elements, gives another one that might be an option. An unknown one is an `AnyPart` if it
/// might be an option, as `AnyWords` would be trusted in quotes.
fn element_of_list(texts: &[Symbols], index: Option<&str>) -> Symbols {
    let Some(index) = index else {
        return element_by_shells(texts.first(), texts);
    };
    match number(index) {
        // No element has this index in zsh.
        Some(0) => element_by_shells(texts.first(), &[]),
        Some(number) => {
            let in_zsh = texts.get(number - 1..number).unwrap_or_default();
            element_by_shells(texts.get(number), in_zsh)
        }
        None if texts.iter().any(may_begin_option) => unknown(Doubt::AnyPart),
        None => unknown(Doubt::AnyWords),
    }
}

/// Returns the element that bash gives, or an empty text for None. If zsh gives another text (one of `in_zsh`) that may
/// be an option, the result is an unknown part that may be one.
fn element_by_shells(in_bash: Option<&Symbols>, in_zsh: &[Symbols]) -> Symbols {
    let element = in_bash.cloned().unwrap_or_default();
    let other_begins_option = in_zsh
        .iter()
        .any(|text| *text != element && may_begin_option(text));
    if other_begins_option {
        return unknown(Doubt::AnyPart);
    }
    element
}

/// Returns a plain number; None for arithmetic, such as `+1`, and for the numbers with a leading 0, which are octal in
/// some shells.
pub(crate) fn number(index: &str) -> Option<usize> {
    let is_plain = index.chars().all(|c| c.is_ascii_digit());
    let may_be_octal = index.len() > 1 && index.starts_with('0');
    if !is_plain || may_be_octal {
        return None;
    }
    index.parse().ok()
}

/// Returns the value of an array of these words.
pub(crate) fn array_value(words: Vec<Word>) -> Value {
    list_value(words.into_iter().map(|word| word.text).collect())
}

/// Returns the value of an array of these elements. They are unknown words if one may be several or none, as the index
/// of each later one is not known then.
pub(super) fn list_value(elements: Vec<Symbols>) -> Value {
    let has_unknown_places = elements.iter().any(|element| may_be_several_words(element));
    let list = Value::List(elements);
    if has_unknown_places {
        return Value::Text(unknown_words(list.may_split_into_option()));
    }
    list
}

/// Returns true if the text has no known part. An empty text is known to be empty.
pub(crate) fn is_all_unknown(text: &[Symbol]) -> bool {
    let is_unknown = |symbol: &Symbol| matches!(symbol, Symbol::Unknown(_));
    !text.is_empty() && text.iter().all(is_unknown)
}
