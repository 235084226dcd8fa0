//! Values that `read` and its likes give to variables. They may be options if a here-document or here-string, from
//! which they are read, holds one. A file or a pipe is trusted to hold none.

use super::assignments::{Literals, separators};
use super::{OtherValue, Scope, Separators};
use crate::command::syntax::{ParsedText, Piece, RawWord, SimpleCommand};
use crate::command::text::Symbol;
use crate::command::words::ENDS_OF_GROUPS;

impl Scope<'_> {
    /// Adds the variables that `read` and the like set in a command, given the literal texts of the words after that
    /// name. Without an input of its own, it may read the one of a group: `shared_input` is what it may get of that.
    pub(super) fn add_read(
        &mut self,
        command: &SimpleCommand,
        literals: &Literals,
        shared_input: OtherValue,
    ) {
        let other = match command.input.iter().map(value_in).max() {
            Some(own) => own,
            None if command.has_input() => OtherValue::Trusted,
            None => shared_input,
        };
        let may_be_option = other == OtherValue::OptionBehindSign;
        let other = if may_be_option && splits_at_signs(command, literals) {
            OtherValue::Option
        } else {
            other
        };
        self.add_names(literals, other);
    }

    /// Returns a value that a `read` in a text may get from an input that is not its own: that of a loop or another
    /// group (`done <<END`), of a function, or of the whole shell (`exec <<END`).
    pub(super) fn value_of_shared_input(&self, parsed: &ParsedText) -> OtherValue {
        let commands = parsed.scripts.iter().flat_map(|script| &script.commands);
        let shared =
            commands.filter(|command| !command.input.is_empty() && self.is_shared(command));
        let inputs = shared.flat_map(|command| &command.input);
        inputs.map(value_in).max().unwrap_or(OtherValue::Trusted)
    }

    /// Returns true if other commands may read the input of this one. A command without words is the end of a subshell,
    /// `(read x) <<END`, whose commands read it.
    fn is_shared(&self, command: &SimpleCommand) -> bool {
        let shares = |word: &RawWord| {
            let name = word.literal().unwrap_or_default();
            name == "exec" || ENDS_OF_GROUPS.contains(&&*name) || self.may_be_function(&name)
        };
        command.words.is_empty() || command.words.iter().any(shares)
    }
}

/// Returns what a `read` with these words after its name may get of an input: an option if a literal `-` begins the
/// input or stands behind a literal blank; one if it splits at other signs, too, if the `-` stands behind such a sign.
/// Expansions are trusted to give no option.
fn value_in(input: &RawWord) -> OtherValue {
    let mut value = OtherValue::Trusted;
    let mut before = Some(Symbol::Known(' '));
    for piece in &input.pieces {
        match piece {
            Piece::Text(text, _) => {
                for symbol in text {
                    if *symbol == Symbol::Known('-') {
                        value = value.max(value_behind(before));
                    }
                    before = Some(*symbol);
                }
            }
            Piece::Quotes => {}
            _ => before = None,
        }
    }
    value
}

/// Returns what a word may be that begins with the `-` behind this symbol; None for an expansion.
fn value_behind(symbol: Option<Symbol>) -> OtherValue {
    match symbol {
        Some(Symbol::Known(c)) if c.is_whitespace() => OtherValue::Option,
        Some(Symbol::Known(c)) if !c.is_alphanumeric() => OtherValue::OptionBehindSign,
        _ => OtherValue::Trusted,
    }
}

/// Returns true if a `read` may split its input at other signs than blanks: by an `IFS` of its own, or by `-d`.
/// `literals` are the literal texts of the words after its name.
fn splits_at_signs(command: &SimpleCommand, literals: &Literals) -> bool {
    let has_delimiter = literals
        .iter()
        .flatten()
        .any(|word| word.starts_with('-') && word.contains('d'));
    has_delimiter
        || command.words.iter().any(|word| {
            let assignment = word.assignment();
            assignment
                .is_some_and(|it| it.name == "IFS" && separators(&it.value) == Separators::Any)
        })
}
