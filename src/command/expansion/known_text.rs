//! Operators on texts of which all is known: `${text#beginning}`, `${text/old/new}` and the like, computed as all
//! shells compute them. Results that may differ between shells, or take more than the common cases, are left
//! unknown.

use crate::command::scope::value::number;

/// Computes the result of an operator on a known text in the common cases. Returns None in any other, such as a pattern
/// with several signs or other letters (`^`, `,`): the result then counts as unknown. `operand` is expanded, so that it
/// no longer shows quotes: the caller sees to it that each `*` and `/` in it is a sign.
pub(super) fn changed_text(text: &str, operator: &str, operand: &str) -> Option<String> {
    match operator {
        "#" | "##" => without_beginning(text, operator, operand),
        "%" | "%%" => without_end(text, operator, operand),
        "/" | "//" => with_replacement(text, operator, operand),
        ":" => slice(text, operand),
        _ => None,
    }
}

/// Returns `${text#operand}` or `${text##operand}`: the text without the beginning that the operand matches, or the
/// whole text if it matches none. The operand is a text without signs of a pattern, or a `*` before such a text; None
/// for any other operand, for which nothing is computed.
fn without_beginning(text: &str, operator: &str, operand: &str) -> Option<String> {
    if is_literal(operand) {
        return Some(text.strip_prefix(operand).unwrap_or(text).to_owned());
    }
    let after_star = operand.strip_prefix('*')?;
    if after_star.is_empty() || !is_literal(after_star) {
        return None;
    }
    // `#` removes the shortest beginning, `##` the longest.
    let found = if operator == "#" {
        text.find(after_star)
    } else {
        text.rfind(after_star)
    };
    match found {
        Some(start) => Some(text[start + after_star.len()..].to_owned()),
        None => Some(text.to_owned()),
    }
}

/// Returns `${text%operand}` or `${text%%operand}`: the text without the end that the operand matches, or the whole
/// text if it matches none. The operand is a text without signs of a pattern, or a `*` behind such a text; None for any
/// other operand, for which nothing is computed.
fn without_end(text: &str, operator: &str, operand: &str) -> Option<String> {
    if is_literal(operand) {
        return Some(text.strip_suffix(operand).unwrap_or(text).to_owned());
    }
    let before_star = operand.strip_suffix('*')?;
    if before_star.is_empty() || !is_literal(before_star) {
        return None;
    }
    // `%` removes the shortest end, `%%` the longest.
    let found = if operator == "%" {
        text.rfind(before_star)
    } else {
        text.find(before_star)
    };
    match found {
        Some(start) => Some(text[..start].to_owned()),
        None => Some(text.to_owned()),
    }
}

/// Returns `${text/old/new}` or `${text//old/new}`, given `old/new` as the operand, in which the first `/` separates;
/// without one, `new` is empty. None if `old` is empty, if there is a sign of a pattern, even in `new`, or a `&` in
/// `new`, and if the text holds `old` in other capital or small letters as well. The forms with an anchor (`/#`, `/%`)
/// are other operators, which are not computed.
fn with_replacement(text: &str, operator: &str, operand: &str) -> Option<String> {
    let (old, new) = operand.split_once('/').unwrap_or((operand, ""));
    // In some shells `&` stands for what was found.
    if !is_literal(operand) || old.is_empty() || new.contains('&') || depends_on_case(text, old) {
        return None;
    }
    if operator == "/" {
        Some(text.replacen(old, new, 1))
    } else {
        Some(text.replace(old, new))
    }
}

/// Returns true if a part is found elsewhere in a text once capital and small letters are the same, as they are after
/// `shopt -s nocasematch`.
fn depends_on_case(text: &str, part: &str) -> bool {
    let text_in_small = text.to_lowercase();
    let part_in_small = part.to_lowercase();
    let found = text.match_indices(part).map(|(index, _)| index);
    let found_in_small = text_in_small.match_indices(&part_in_small);
    !found.eq(found_in_small.map(|(index, _)| index))
}

/// Returns true if a text holds no sign of a pattern, so that as a pattern it stands for itself.
fn is_literal(text: &str) -> bool {
    !text.contains(['*', '?', '[', '\\', '('])
}

/// Returns `${text:start:length}`, given `start:length` or `start` as the operand: without a length, all from `start`
/// on, and nothing with an empty one (`${text:start:}`). None if one of them is no plain number, as it may be negative
/// or arithmetic, which is not computed, and for a text with other letters than those of ASCII, of which some shells
/// and locales count the bytes.
fn slice(text: &str, operand: &str) -> Option<String> {
    if !text.is_ascii() {
        return None;
    }
    let (start, length) = match operand.split_once(':') {
        Some((start, length)) => (start, Some(length.trim())),
        None => (operand, None),
    };
    let start = number(start.trim())?;
    let from_start = text.get(start..).unwrap_or_default();
    let length = match length {
        None => from_start.len(),
        // As in arithmetic.
        Some("") => 0,
        Some(length) => number(length)?,
    };
    Some(from_start.get(..length).unwrap_or(from_start).to_owned())
}
