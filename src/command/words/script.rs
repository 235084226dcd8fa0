//! Reads a script: its commands, operators, `case`, functions and redirections.

use super::draft::{Draft, Tabs};
use super::{ScriptEnd, ScriptReader};
use crate::command::syntax::Script;

impl ScriptReader<'_> {
    /// Reads commands up to the end of a script. A missing parenthesis makes the text incomplete.
    pub(super) fn read_script(&mut self, end: ScriptEnd) -> Script {
        let mut draft = Draft::new();
        loop {
            self.skip_blanks();
            if self.is_at_end() {
                self.parsed.is_incomplete |=
                    end == ScriptEnd::Parenthesis || draft.has_open_parenthesis();
                break;
            }
            if draft.awaits_pattern {
                self.read_patterns(&mut draft);
                continue;
            }
            match self.peek() {
                Some('#') => self.skip_comment(),
                Some('\n') => {
                    self.at += 1;
                    draft.end_command();
                    self.read_here_documents(&mut draft);
                }
                Some(')') => {
                    self.at += 1;
                    if self.end_at_parenthesis(&mut draft, end) {
                        return draft.script;
                    }
                }
                Some('(') => self.read_open_parenthesis(&mut draft),
                Some(';' | '&' | '|') => self.read_operator(&mut draft),
                Some('<' | '>') if !self.is_process_substitution() => {
                    self.read_redirection(&mut draft);
                }
                _ => self.read_plain_word(&mut draft),
            }
        }
        draft.end_command();
        self.parsed.is_incomplete |= !draft.awaited.is_empty();
        draft.script
    }

    pub(super) fn skip_comment(&mut self) {
        while !self.is_at_end() && self.peek() != Some('\n') {
            self.at += 1;
        }
    }

    /// Reads `esac`, or the patterns of a branch of `case` with their closing parenthesis: `a|b)` or `(a|b)`.
    fn read_patterns(&mut self, draft: &mut Draft) {
        draft.end_command();
        draft.awaits_pattern = false;
        self.skip_lines();
        let has_parenthesis = self.take("(");
        loop {
            self.skip_lines();
            let start = self.at;
            let word = self.read_word();
            if !has_parenthesis && word.bare().as_deref() == Some("esac") {
                draft.add_word(word);
                return;
            }
            self.skip_lines();
            if self.take(")") {
                return;
            }
            let has_next = self.take("|");
            let is_stuck = !has_next && self.at == start;
            if self.is_at_end() || is_stuck {
                return self.give_up();
            }
        }
    }

    /// Skips blanks, comments and ends of lines.
    fn skip_lines(&mut self) {
        loop {
            let start = self.at;
            self.skip_blanks();
            self.take("\n");
            if self.peek() == Some('#') {
                self.skip_comment();
            }
            if self.at == start {
                return;
            }
        }
    }

    /// Ends the command before a closing parenthesis. Returns true if the script ends here.
    fn end_at_parenthesis(&mut self, draft: &mut Draft, end: ScriptEnd) -> bool {
        draft.end_command();
        if draft.close_parenthesis() {
            return false;
        }
        if end == ScriptEnd::OfText {
            // A shell would not run a script with a parenthesis too many, so it was misread.
            self.parsed.is_incomplete = true;
        }
        end == ScriptEnd::Parenthesis
    }

    /// Reads `(`: a function, arithmetic or a subshell.
    fn read_open_parenthesis(&mut self, draft: &mut Draft) {
        if let Some(length) = self.arithmetic_length() {
            let start = self.at;
            self.at += 2;
            let word = self.read_arithmetic(start, length);
            draft.add_word(word);
            return;
        }
        self.at += 1;
        self.skip_blanks();
        // `name ()` begins the definition of a function.
        if let Some(name) = draft.command.words.last().cloned()
            && self.take(")")
        {
            self.parsed
                .functions
                .push(name.literal().unwrap_or_default());
            draft.end_command();
            return;
        }
        draft.end_command();
        draft.open_parenthesis();
    }

    /// Reads an operator between two commands, or `&>`.
    fn read_operator(&mut self, draft: &mut Draft) {
        if self.starts_with("&>") {
            self.at += 1;
            self.read_redirection(draft);
        } else if self.take("||") || self.take("&&") {
            draft.end_command();
        } else if self.take("|&") || self.take("|") {
            draft.end_command_before_pipe();
        } else if self.take(";;&") || self.take(";;") || self.take(";&") {
            draft.end_command();
            draft.awaits_pattern = draft.is_in_case();
        } else {
            self.at += 1;
            draft.end_command();
        }
    }

    /// Reads a redirection. Only input is kept, as it may be a script.
    fn read_redirection(&mut self, draft: &mut Draft) {
        if self.take("<<<") {
            self.skip_blanks();
            let word = self.read_word();
            draft.command.input.push(word);
        } else if self.take("<<-") {
            self.await_document(draft, Tabs::Stripped);
        } else if self.take("<<") {
            self.await_document(draft, Tabs::Kept);
        } else {
            // `<&3` duplicates a descriptor.
            let is_input = self.starts_with("<") && !self.starts_with("<&");
            while self.take("<") || self.take(">") || self.take("&") || self.take("|") {}
            self.skip_blanks();
            let word = self.read_word();
            if is_input {
                draft.command.input_files.push(word);
            }
        }
    }

    /// Reads a word, unless it is the number of a descriptor that belongs to a redirection: `2>log`.
    fn read_plain_word(&mut self, draft: &mut Draft) {
        let word = self.read_word();
        let is_number = word.source.chars().all(|c| c.is_ascii_digit());
        // `{fd}>log`
        let is_variable = word.source.starts_with('{') && word.source.ends_with('}');
        let redirects = matches!(self.peek(), Some('<' | '>'));
        if redirects && (is_number || is_variable) {
            return;
        }
        draft.add_word(word);
        if draft.command.names_function() {
            let name = draft.command.words[1].literal().unwrap_or_default();
            self.parsed.functions.push(name);
        }
    }
}
