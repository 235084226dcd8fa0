//! Calls of functions in scripts, and the arguments that functions get: `$1` in a function has these values.
//!
//! Most scripts have functions that only print their arguments (`log "$(date)"`). No client, curl or wget,
//! gets these arguments, so that calls of such functions do not count.

use std::rc::Rc;

use super::frame::Frame;
use crate::command::http::tables::mentions_client;
use crate::command::syntax::{ParsedText, Piece, RawWord, Script, SimpleCommand};
use crate::command::text::{Doubt, Symbol, Symbols, known};

/// Programs that are parts of the shell, and print their arguments or do nothing with them.
pub(super) const PRINTING: [&str; 6] = ["echo", "printf", "exit", "return", "true", ":"];

/// The arguments of one call, first `$0`, which is left empty.
type Arguments = Vec<Symbols>;

/// A command that may call a function, or a `set` that sets the arguments.
#[derive(Debug)]
pub(super) struct FunctionCall {
    /// The words after the function's name, or those that `set` passes.
    pub(super) arguments: Vec<RawWord>,
    /// The frame of the script with the call, in which the words are expanded.
    pub(super) frame: Rc<Frame>,
}

/// The arguments that functions may get.
#[derive(Debug, Clone, Default)]
pub(super) enum FunctionArguments {
    #[default]
    NotSearched,
    /// Too many, or one of them may be several words, or they are being searched for now. The doubt is what one of them
    /// may be.
    Unknown(Doubt),
    /// Each list of arguments that some call may pass, once; an argument may have unknown parts. Empty if no function
    /// is called.
    Known(Vec<Arguments>),
}

/// Returns the names of the functions that a text defines, each as often as it does, without those definitions of which
/// it is known that they only print their arguments.
pub(super) fn using_functions(parsed: &ParsedText) -> Vec<String> {
    let mut names = parsed.functions.clone();
    for printing in parsed
        .scripts
        .iter()
        .flat_map(|script| printing_functions(script))
    {
        if let Some(index) = names.iter().position(|name| *name == printing) {
            names.swap_remove(index);
        }
    }
    names
}

/// Returns the names of the functions that a script defines, each as often as it does so with a body in braces that
/// only prints.
fn printing_functions(script: &Script) -> Vec<String> {
    let mut names = Vec::new();
    for (index, command) in script.commands.iter().enumerate() {
        if command.begins_function && only_prints(&script.commands[index + 1..]) {
            let name = command.words.last().and_then(RawWord::literal);
            names.extend(name.filter(|name| !name.is_empty()));
        }
    }
    names
}

/// Returns true if these commands begin with the body of a function, in braces, in which each command only prints. Only
/// a `}` that is a command of its own ends it.
fn only_prints(commands: &[SimpleCommand]) -> bool {
    let is_brace =
        |word: Option<&RawWord>, brace| word.and_then(RawWord::bare).as_deref() == Some(brace);
    let mut commands = commands.iter().filter(|command| !command.is_copy);
    let Some(first) = commands.next() else {
        return false;
    };
    if !is_brace(first.words.first(), "{") || !prints(first, &first.words[1..]) {
        return false;
    }
    for command in commands {
        if is_brace(command.words.first(), "}") {
            return command.words.len() == 1 && !command.expands_in_redirection;
        }
        if !prints(command, &command.words) {
            return false;
        }
    }
    false
}

/// Returns true for a command with these words that only prints, or that has no words.
fn prints(command: &SimpleCommand, words: &[RawWord]) -> bool {
    let is_known = match words {
        [] => true,
        // `printf -v name` sets a variable.
        [program, rest @ ..] => match program.bare().as_deref() {
            Some("printf") => rest.first().is_some_and(begins_with_text),
            Some(name) => PRINTING.contains(&name),
            None => false,
        },
    };
    let is_alone = !command.has_input() && !command.expands_in_redirection;
    is_known && is_alone && words.iter().all(is_only_printed)
}

/// Returns true if a word begins with a known character that begins no option.
fn begins_with_text(word: &RawWord) -> bool {
    let Some(Piece::Text(text, _)) = word.pieces_without_quotes().next() else {
        return false;
    };
    matches!(text.first(), Some(Symbol::Known(c)) if *c != '-')
}

/// Returns true for a word that sets no variable, gives no command an argument of the function, and mentions no client,
/// as a shell may run what is printed.
fn is_only_printed(word: &RawWord) -> bool {
    let is_plain = |piece: &Piece| match piece {
        Piece::Text(..) | Piece::Quotes => true,
        Piece::Parameter(parameter) => {
            // An index may hold anything, and `${name:=word}` sets a variable.
            let has_plain_index = parameter.index.is_none() || parameter.is_list();
            has_plain_index
                && !parameter.operator.ends_with('=')
                && is_only_printed(&parameter.operand)
        }
        Piece::Command(script, _) => {
            let mut words = script.commands.iter().flat_map(|command| &command.words);
            words.all(|word| word.literal().is_some())
        }
        Piece::Process(_) | Piece::Number | Piece::Array(_) => false,
    };
    let source = known(&word.source);
    word.pieces.iter().all(is_plain) && !mentions_client(&source)
}
