//! A script that is being read: its commands so far, and what the reader is in the middle of.
//!
//! The state tells what a word or a parenthesis means. Above all, in a `case` each pattern ends with a `)` that closes
//! nothing: taken for the end of a substitution, it would hide the commands behind it.

use crate::command::syntax::{RawWord, Script, SimpleCommand};
use crate::command::words::{ENDS_OF_GROUPS, OPENERS};

/// Words that may end the head of a compound command, at any place, so that a command may begin behind them.
const ENDS_OF_HEADS: [&str; 2] = ["{", "]]"];
/// Limit on the commands within the words of another. More of these words are arguments.
const MOST_INNER: usize = 8;

/// A script of which a part has been read.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) script: Script,
    /// The command that is being read.
    pub(super) command: SimpleCommand,
    /// All words of `command` so far are reserved words after which a command begins, or `function name {`.
    is_at_start: bool,
    /// Here-documents of this line, whose text begins on the next one.
    pub(super) awaited: Vec<HereDocument>,
    /// Number of open `case` commands in each open parenthesis. The first entry counts those outside of all
    /// parentheses, and is always there.
    open_cases: Vec<usize>,
    /// Number of words since `case` while its `in` has not been read; None outside of `case word in`.
    words_since_case: Option<usize>,
    /// A `[[` is open, in which a parenthesis groups conditions or belongs to a pattern.
    pub(super) is_in_test: bool,
    /// Number of open parentheses in that `[[`.
    pub(super) open_in_test: usize,
    /// The patterns of a branch of `case` come next.
    pub(super) awaits_pattern: bool,
}

/// A here-document whose text has not been read.
pub(super) struct HereDocument {
    /// Index of the command that reads it.
    pub(super) command: usize,
    pub(super) delimiter: String,
    /// The delimiter is quoted, so that `$` in the text is an ordinary character.
    pub(super) is_literal: bool,
    pub(super) tabs: Tabs,
}

/// Tabs at the beginning of a line of a here-document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tabs {
    Kept,
    /// `<<-END`
    Stripped,
}

/// Returns the commands that begin within the words of another, behind a word that may end the head of a compound
/// command: `function f { ./x`, `coproc X { ./x`, `if [[ a ]] ./x`, `repeat 1 ./x`. The program of a command is looked
/// for at its beginning, where `./x` does not stand in the outer one. The outer one keeps all words, as they may be
/// arguments; an inner command is a copy of its end, with the same input, as it may be what reads it. In zsh, a `}` at
/// the end of a command closes a group (`{ sh <x }`): no copy has it, and one is the whole command without it.
fn inner_commands(command: &SimpleCommand) -> Vec<SimpleCommand> {
    let copy = |words: &[RawWord]| SimpleCommand {
        words: words.to_vec(),
        input: command.input.clone(),
        input_files: command.input_files.clone(),
        redirects_output: command.redirects_output,
        expands_in_redirection: command.expands_in_redirection,
        begins_function: false,
        reads_pipe: command.reads_pipe,
        reads_group: command.reads_group,
        is_copy: true,
    };
    let mut inner = Vec::new();
    let words = match command.words.as_slice() {
        [words @ .., last] if !words.is_empty() && closes_group(last) => {
            inner.push(copy(words));
            words
        }
        words => words,
    };
    for begin in 1..words.len() {
        if may_end_head(&words[..begin]) {
            inner.push(copy(&words[begin..]));
        }
        if inner.len() == MOST_INNER {
            break;
        }
    }
    inner
}

fn closes_group(word: &RawWord) -> bool {
    word.bare().as_deref() == Some("}")
}

/// Returns true if these words of a command, up to one of them, may be the head of a compound command.
fn may_end_head(words: &[RawWord]) -> bool {
    let is_repeat = |word: &RawWord| word.bare().as_deref() == Some("repeat");
    match words {
        // `repeat` and its number.
        [.., repeat, _] if is_repeat(repeat) => true,
        [.., last] => {
            let bare = last.bare().unwrap_or_default();
            last.is_arithmetic() || ENDS_OF_HEADS.contains(&&*bare)
        }
        [] => false,
    }
}

impl Draft {
    /// Returns an empty script, at the beginning of its first command.
    pub(super) fn new() -> Draft {
        Draft {
            is_at_start: true,
            open_cases: vec![0],
            ..Draft::default()
        }
    }

    /// Adds the command to the script, unless it is empty, and behind it those that begin within its words
    /// ([`inner_commands`]); begins another one, without words or input. A command without words is kept if it has an
    /// input: a shell before it may be what reads the input (`(sh) <<END`). An empty command leaves it to the next
    /// one to read the pipe, as an end of a line or a parenthesis may stand between a `|` and the command behind it.
    pub(super) fn end_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        let has_input = !command.input.is_empty() || !command.input_files.is_empty();
        // The text of a here-document comes later, and refers to the command by its index.
        let awaits_input = self
            .awaited
            .iter()
            .any(|document| document.command == self.script.commands.len());
        if command.words.is_empty()
            && command.redirects_output
            && let Some(last) = self.script.commands.last_mut()
        {
            // A redirection alone is that of the subshell before it: `(echo x) >&2`.
            last.redirects_output = true;
        }
        if !command.words.is_empty() || has_input || awaits_input {
            let inner = inner_commands(&command);
            self.script.commands.push(command);
            self.script.commands.extend(inner);
        } else {
            self.command.reads_pipe = command.reads_pipe;
            self.command.reads_group = command.reads_group;
        }
        self.is_at_start = true;
    }

    /// Adds an input to the command at this index, and to its copies behind it (`is_copy`), of which one may read it.
    pub(super) fn add_input(&mut self, index: usize, input: &RawWord) {
        let commands = self.script.commands.iter_mut().skip(index);
        for (distance, command) in commands.enumerate() {
            if distance > 0 && !command.is_copy {
                return;
            }
            command.input.push(input.clone());
        }
    }

    /// Ends the command, and begins one that reads its output, or that of the group of commands that ends here.
    pub(super) fn end_command_before_pipe(&mut self) {
        let ends_group = match self.command.words.as_slice() {
            // No words: a parenthesis has ended the last command of the group. A redirection alone (`<file |`) has none
            // either, and counts as the end of a group.
            [] => true,
            [first, ..] if ENDS_OF_GROUPS.contains(&&*first.bare().unwrap_or_default()) => true,
            // In zsh, `}` needs no `;` before it.
            [.., last] => closes_group(last),
        };
        self.end_command();
        self.command.reads_pipe = true;
        self.command.reads_group = ends_group;
    }

    /// Adds a word to the command, and notes what it means for the words after it: a reserved word such as `then`, or
    /// the `{` of `function name {`, is followed by the beginning of a command, where `case` and `esac` are reserved
    /// words.
    pub(super) fn add_word(&mut self, word: RawWord) {
        // Empty for a word with quotes or expansions, which is no reserved word.
        let reserved_word = word.bare().unwrap_or_default();
        self.follow_case(&reserved_word);
        match reserved_word.as_str() {
            "[[" if self.is_at_start => self.is_in_test = true,
            "]]" => self.end_test(),
            _ => {}
        }
        let opens_body = reserved_word == "{" && self.command.names_function();
        let is_opener = OPENERS.contains(&&*reserved_word);
        self.is_at_start = opens_body || self.is_at_start && is_opener;
        self.command.words.push(word);
    }

    /// Notes where a `case` begins and ends: `case word in`, `esac`. Behind its `in`, the reader has to expect
    /// patterns. `reserved_word` is the next word of the command, before it is added; empty if it cannot be a reserved
    /// word.
    fn follow_case(&mut self, reserved_word: &str) {
        match self.words_since_case {
            // The second word after `case`.
            Some(1) => {
                self.awaits_pattern = reserved_word == "in";
                self.words_since_case = None;
            }
            Some(count) => self.words_since_case = Some(count + 1),
            None => {}
        }
        let Some(cases) = self.open_cases.last_mut() else {
            return;
        };
        match reserved_word {
            "case" if self.is_at_start => {
                *cases += 1;
                self.words_since_case = Some(0);
            }
            "esac" if self.is_at_start => *cases = cases.saturating_sub(1),
            _ => {}
        }
    }

    /// Notes that no `[[` is open, be it that one lacks its end.
    pub(super) fn end_test(&mut self) {
        self.is_in_test = false;
        self.open_in_test = 0;
    }

    /// Returns true if a parenthesis behind the words of the command may open a subshell. In other places only zsh
    /// allows one: it is part of a pattern, and the command goes on behind it. The reader then takes it for a subshell
    /// in spite of that, and marks the text as misread.
    pub(super) fn may_precede_parenthesis(&self) -> bool {
        if self.is_at_start {
            return true;
        }
        let words: Vec<String> = self
            .command
            .words
            .iter()
            .map(|word| word.bare().unwrap_or_default())
            .skip_while(|word| OPENERS.contains(&word.as_str()))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let last = self.command.words.last();
        if self.command.begins_loop() {
            return words.last() == Some(&"do");
        }
        match words.as_slice() {
            ["coproc" | "function" | "repeat"] | ["coproc" | "function" | "repeat", _] => true,
            // Options of `time`.
            ["-p" | "--"] | ["-p", "--"] => true,
            [.., "]]"] => true,
            _ => last.is_some_and(RawWord::is_arithmetic),
        }
    }

    /// Notes that a parenthesis of a subshell opens, in which no `case` is open.
    pub(super) fn open_parenthesis(&mut self) {
        self.open_cases.push(0);
    }

    /// Notes that the innermost parenthesis closes, and forgets its `case` commands. Returns false if none is open in
    /// this script: then the `)` closes the substitution that the script is, or is one too many.
    pub(super) fn close_parenthesis(&mut self) -> bool {
        let is_open = self.has_open_parenthesis();
        if is_open {
            self.open_cases.pop();
        }
        is_open
    }

    pub(super) fn has_open_parenthesis(&self) -> bool {
        self.open_cases.len() > 1
    }

    /// Returns true inside a `case` that the innermost parenthesis holds, where `;;` is followed by patterns.
    pub(super) fn is_in_case(&self) -> bool {
        self.open_cases.last().is_some_and(|open| *open > 0)
    }
}
