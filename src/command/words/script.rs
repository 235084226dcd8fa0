//! Reads a script: its commands, operators, `case`, functions and redirections.
//!
//! Only the list of simple commands is kept, with the input of each, as an input may be a script of a shell. Control
//! flow is read so that no command is missed, and then forgotten: each command may run. A text that cannot be followed
//! is marked as misread (`may_be_misread`), so that it counts as unknown code, which may send data.

use super::draft::{Draft, Tabs};
use super::{ScriptEnd, ScriptReader};
use crate::command::syntax::{Piece, Script, is_name};

/// Limit on the symbols of `<1-9>`.
const LONGEST_RANGE: usize = 50;

impl ScriptReader<'_> {
    /// Reads commands up to the end of a script: the end of the text, or the parenthesis of a substitution, behind
    /// which the cursor then stands. Marks the text as misread if a parenthesis or the text of a here-document is
    /// missing.
    pub(super) fn read_script(&mut self, end: ScriptEnd) -> Script {
        let mut draft = Draft::new();
        loop {
            self.skip_blanks();
            if self.is_at_end() {
                self.parsed.may_be_misread |=
                    end == ScriptEnd::Parenthesis || draft.has_open_parenthesis();
                break;
            }
            if draft.awaits_pattern {
                self.read_patterns(&mut draft);
                continue;
            }
            match self.peek() {
                Some('#') => self.skip_comment(),
                Some('(' | ')' | '|') if self.skip_in_test(&mut draft) => {}
                Some('\n') => self.read_line_end(&mut draft),
                Some(')') => {
                    self.position += 1;
                    if self.end_at_parenthesis(&mut draft, end) {
                        return draft.script;
                    }
                }
                Some('(') => self.read_open_parenthesis(&mut draft),
                Some(';' | '&' | '|') => self.read_operator(&mut draft),
                Some('<' | '>') if !self.is_process_substitution() => {
                    self.parsed.may_be_misread |= self.is_range_of_zsh();
                    self.read_redirection(&mut draft, "");
                }
                _ => self.read_plain_word(&mut draft),
            }
        }
        draft.end_command();
        self.parsed.may_be_misread |= !draft.awaited.is_empty();
        draft.script
    }

    /// Reads the end of a line, which ends a command, and the here-documents that begin behind it. An open `[[` ends
    /// with the line, too, lest a word that only looks like one changes what parentheses mean below; but not while a
    /// parenthesis within it is open.
    fn read_line_end(&mut self, draft: &mut Draft) {
        self.position += 1;
        if draft.open_in_test == 0 {
            draft.end_test();
        }
        draft.end_command();
        self.read_here_documents(draft);
    }

    /// Moves the cursor to the end of the line, which is no part of the comment: it ends the command.
    pub(super) fn skip_comment(&mut self) {
        while !self.is_at_end() && self.peek() != Some('\n') {
            self.position += 1;
        }
    }

    /// Reads `esac`, or the patterns of a branch of `case` with their closing parenthesis: `a|b)` or `(a|b)`. Patterns
    /// are no words of a command, and their parenthesis closes nothing else. Ends the command before them, such as
    /// `case word in`. Gives up if neither stands here.
    fn read_patterns(&mut self, draft: &mut Draft) {
        draft.end_command();
        draft.awaits_pattern = false;
        self.skip_lines(draft);
        let has_parenthesis = self.skip_if_next("(");
        loop {
            self.skip_lines(draft);
            let start = self.position;
            let word = self.read_word();
            // In parentheses, `esac` is a pattern like any other.
            if !has_parenthesis && word.bare().as_deref() == Some("esac") {
                draft.add_word(word);
                return;
            }
            self.skip_lines(draft);
            if self.skip_if_next(")") {
                return;
            }
            let has_next = self.skip_if_next("|");
            let is_stuck = !has_next && self.position == start;
            if self.is_at_end() || is_stuck {
                return self.give_up();
            }
        }
    }

    /// Moves the cursor over blanks, comments and ends of lines, where these do not end a command, and reads the
    /// here-documents that begin behind such a line, as in `x) cat <<END ;;`. The last command must have ended before.
    fn skip_lines(&mut self, draft: &mut Draft) {
        loop {
            let start = self.position;
            self.skip_blanks();
            if self.skip_if_next("\n") {
                self.read_here_documents(draft);
            }
            if self.peek() == Some('#') {
                self.skip_comment();
            }
            if self.position == start {
                return;
            }
        }
    }

    /// Ends the command before a `)`, which the cursor has passed. Returns true if the script ends here, as the
    /// parenthesis closes the substitution around it; false if it closes a subshell, or nothing. Marks the text as
    /// misread if a here-document is awaited at the end of the script: in some shells its text may still follow.
    fn end_at_parenthesis(&mut self, draft: &mut Draft, end: ScriptEnd) -> bool {
        draft.end_command();
        if draft.close_parenthesis() {
            return false;
        }
        self.parsed.may_be_misread |= !draft.awaited.is_empty();
        if end == ScriptEnd::OfText {
            // A shell would not run a script with a parenthesis too many, so it was misread.
            self.parsed.may_be_misread = true;
        }
        end == ScriptEnd::Parenthesis
    }

    /// Moves the cursor over a parenthesis in `[[ ... ]]`, or a `|` inside of one: `[[ $x =~ ^(a|[0-9]+)$ ]]`. These
    /// are no operators, and what stands there is no command. Returns false at any other sign, and the cursor stays.
    fn skip_in_test(&mut self, draft: &mut Draft) -> bool {
        match self.peek() {
            Some('(') if draft.is_in_test => draft.open_in_test += 1,
            Some(')') if draft.open_in_test > 0 => draft.open_in_test -= 1,
            Some('|') if draft.open_in_test > 0 && !self.starts_with("||") => {}
            _ => return false,
        }
        self.position += 1;
        true
    }

    /// Reads a `(` between words: of arithmetic, which is kept as a word; of `name ()`, which defines a function; or of
    /// a subshell, whose commands follow like any others. The `name` of a function stays as a command, which does no
    /// harm: it counts as a call without arguments.
    fn read_open_parenthesis(&mut self, draft: &mut Draft) {
        if let Some(length) = self.arithmetic_length() {
            let start = self.position;
            self.position += 2;
            let word = self.read_arithmetic(start, length);
            draft.add_word(word);
            return;
        }
        self.position += 1;
        self.skip_blanks();
        // `name ()`: the body follows as a command of its own.
        if let Some(name) = draft.command.words.last().cloned()
            && self.skip_if_next(")")
        {
            // Empty for a name that is not known, which stands for any.
            let name = name.literal().unwrap_or_default();
            self.parsed.functions.push(name);
            draft.command.begins_function = true;
            draft.end_command();
            return;
        }
        // `for name (words)` and `curl *(.) -d x`, which only zsh has.
        self.parsed.may_be_misread |= !draft.may_precede_parenthesis();
        draft.end_command();
        draft.open_parenthesis();
    }

    /// Reads the operator at the cursor, which ends a command, or the redirection `&>`, which does not. Notes if the
    /// next command reads the output of this one (`|`), and if patterns of `case` follow (`;;`). The commands of a `[[`
    /// that `&&` and `||` separate are read as ones of their own, but a single `;` or `&` ends the `[[`.
    fn read_operator(&mut self, draft: &mut Draft) {
        if self.starts_with("&>") {
            self.position += 1;
            self.read_redirection(draft, "");
        } else if self.skip_if_next("||") || self.skip_if_next("&&") {
            draft.end_command();
        } else if self.skip_if_next("|&") || self.skip_if_next("|") {
            draft.end_command_before_pipe();
        } else if self.skip_if_next(";;&") || self.skip_if_next(";;") || self.skip_if_next(";&") {
            draft.end_command();
            draft.awaits_pattern = draft.is_in_case();
        } else {
            // `;` or `&`
            self.position += 1;
            draft.end_test();
            draft.end_command();
        }
    }

    /// Returns true at `<1-9>` or `<->`, which is a pattern of names in zsh. The cursor does not move.
    fn is_range_of_zsh(&self) -> bool {
        let inside = (1..LONGEST_RANGE).map_while(|offset| self.peek_at(offset));
        let inside: String = inside.take_while(|c| *c != '>').collect();
        let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let bounds = inside.split_once('-');
        self.starts_with(&format!("<{inside}>"))
            && bounds.is_some_and(|(first, last)| is_number(first) && is_number(last))
    }

    /// Reads a redirection with the word after it. The source of an input is kept, as it may be a script: the text of
    /// `<<<` and `<<`, or the file of `<`. There the `descriptor` before it, which is empty for none, does not count:
    /// `3<file` is input, too. For an output only counts if it may be the standard one (`redirects_output`). Gives up
    /// on the rest of the text at a here-document whose end is not known.
    fn read_redirection(&mut self, draft: &mut Draft, descriptor: &str) {
        if self.skip_if_next("<<<") {
            self.skip_blanks();
            let word = self.read_word();
            draft.command.input.push(word);
        } else if self.skip_if_next("<<-") {
            self.await_document(draft, Tabs::Stripped);
        } else if self.skip_if_next("<<") {
            self.await_document(draft, Tabs::Kept);
        } else {
            // `<&3` duplicates a descriptor.
            let is_input = self.starts_with("<") && !self.starts_with("<&");
            draft.command.redirects_output |= match descriptor {
                "" => !self.starts_with("<"),
                number => number.parse() == Ok(1),
            };
            // All signs of an operator such as `>>`, `>|` or `<>`.
            while self.skip_if_next("<")
                || self.skip_if_next(">")
                || self.skip_if_next("&")
                || self.skip_if_next("|")
            {}
            self.skip_blanks();
            let word = self.read_word();
            let mut pieces = word.pieces.iter();
            draft.command.expands_in_redirection |=
                pieces.any(|it| !matches!(it, Piece::Text(..) | Piece::Quotes));
            if is_input {
                draft.command.input_files.push(word);
            }
        }
    }

    /// Reads a word and adds it to the command, unless it is the descriptor of a redirection that follows (`2>log`),
    /// which the command does not get as a word. Notes the function that `function name` defines. Marks the text as
    /// misread if a here-document is awaited at an end of a line within an array: zsh reads its text there, and bash
    /// behind the array.
    fn read_plain_word(&mut self, draft: &mut Draft) {
        let word = self.read_word();
        let has_array = word.pieces.iter().any(|it| matches!(it, Piece::Array(_)));
        let may_hold_document = has_array && word.source.contains('\n');
        self.parsed.may_be_misread |= may_hold_document && !draft.awaited.is_empty();
        if matches!(self.peek(), Some('<' | '>')) {
            match descriptor(&word.source) {
                Some(Descriptor::InAllShells) => {
                    return self.read_redirection(draft, &word.source);
                }
                Some(Descriptor::InSomeShells) => {
                    // In the other shells, the word is the value of that option.
                    self.parsed.may_be_misread |= draft.command.ends_with_possible_option();
                    return self.read_redirection(draft, &word.source);
                }
                None => {}
            }
        }
        draft.add_word(word);
        if draft.command.names_function() {
            // Empty for a name that is not known, which stands for any.
            let name = draft.command.words[1].literal().unwrap_or_default();
            self.parsed.functions.push(name);
        }
    }
}

/// The text before a redirection that names its descriptor.
enum Descriptor {
    InAllShells,
    /// In some shells it is a word of the command.
    InSomeShells,
}

/// Tells if a word before a redirection, which follows without a blank, names its descriptor (the `2` of `2>log`), or
/// is nothing, as before a plain `>log`. None for a word of the command.
fn descriptor(word: &str) -> Option<Descriptor> {
    if word.chars().all(|c| c.is_ascii_digit()) {
        // dash takes only a single digit, and bash no number that is too large. Empty for no word.
        return Some(if word.len() < 2 {
            Descriptor::InAllShells
        } else {
            Descriptor::InSomeShells
        });
    }
    // `{fd}>log`, `{fds[0]}>log`
    let variable = word.strip_prefix('{')?.strip_suffix('}')?;
    let is_variable = match variable.strip_suffix(']') {
        Some(element) => element
            .split_once('[')
            .is_some_and(|(name, _)| is_name(name)),
        None => is_name(variable),
    };
    is_variable.then_some(Descriptor::InSomeShells)
}
