//! Programs that add words to the command that they run, such as a call of curl: `xargs` and `parallel`. The words come
//! from their input, so that they are not known, and each may be an option that sends data, or name a script.
//!
//! A `Context` holds what a script gets from its caller (arguments and environment), and where it stands, for messages.
//! Unknown code is code that cannot be read: it counts as a call of curl or wget that may send data.

use super::client_name::base_name;
use super::expanded_command::ExpandedCommand;
use super::marks::{Marks, mark_of_xargs, marks_of_parallel, replace_mark};
use super::{Calls, Context};
use crate::command::shells;
use crate::command::text::{
    Doubt, Symbol, Symbols, exact, known, may_be_several_words, shown, unknown,
};
use crate::command::word::{Word, joined};
use crate::command::wrappers;

/// Limit on the words of a wrapper before its program: they are searched again for each word that may be that program.
pub(super) const MOST_WORDS_OF_WRAPPER: usize = 16;

impl Calls<'_> {
    /// Notes as unknown code what `xargs` or `parallel` runs, if its input may name it: by a mark in the program
    /// (`xargs -I{} ./{}`), by a mark that is not known (`xargs -I "$MARK"`), or by words added at the end, which name
    /// the script file for a shell and the program for a wrapper (`xargs env`); parallel without a program runs each
    /// line. The command of parallel is added as a script. `words` are those of `command` with each mark unknown.
    /// `context` is that of what runs: on another machine, a mark names no file of this one.
    pub(super) fn read_fed_command(
        &mut self,
        feeder: &Feeder,
        command: &ExpandedCommand<'_>,
        words: &[Word],
        context: &Context,
    ) {
        let adds_at_end = feeder.adds_at_end(command.words);
        let end = command.words.len();
        // At any place, as an unknown wrapper may run it.
        let runs_shell = words
            .iter()
            .any(|word| shells::is_shell(&base_name(&word.text)));
        let runs_added_words = runs_shell || feeder.is_program_of_wrapper(words, end);
        let is_named_by_mark = (0..end).any(|index| {
            words[index].text != command.words[index].text
                && feeder.may_run_file_of_mark(words, index)
        });
        let is_unknown = !feeder.has_program(words)
            || feeder.marks.may_be_others
            || adds_at_end && runs_added_words
            || is_named_by_mark && !context.is_elsewhere();
        if is_unknown {
            self.note_unknown_code(format!("what {} runs", feeder.name), context);
        }
        if feeder.kind == FeederKind::Parallel {
            let script = feeder.script(command.words, adds_at_end);
            self.add_script(&script, context.with_arguments(None));
        }
    }
}

/// Returns the words that a client gets as its arguments, if the word at this index of a command is its name or, if
/// unknown, may be. A word that may be several words, such as `$CURL`, is the first of them: it may hold options.
pub(super) fn words_of_call(words: &[Word], name_index: usize) -> Vec<Word> {
    let mut arguments = with_added_words(words, name_index);
    if may_be_several_words(&words[name_index].text) {
        arguments.insert(0, words[name_index].clone());
    }
    arguments
}

/// Returns the words after the name at this index, with those that `xargs` or `parallel` before it adds at the end or
/// puts in the place of a mark such as `{}`. Such words are unknown.
fn with_added_words(words: &[Word], name_index: usize) -> Vec<Word> {
    let arguments = &words[name_index + 1..];
    let Some(feeder) = Feeder::before(words, name_index) else {
        return arguments.to_vec();
    };
    let mut replaced = feeder.replace_marks(arguments, Doubt::AnyPart);
    let adds_at_end = match feeder.kind {
        FeederKind::Xargs => feeder.xargs_adds_at_end(),
        // No argument has a mark.
        FeederKind::Parallel => replaced == arguments,
    };
    if adds_at_end {
        replaced.push(Word {
            text: unknown(Doubt::AnyWords),
            origin: format!("the words that {} adds", feeder.name).into(),
            output_of: None,
        });
    }
    replaced
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeederKind {
    Xargs,
    Parallel,
}

/// An `xargs` or `parallel` among the words of a command, which adds words of its input to the command behind it.
pub(super) struct Feeder {
    kind: FeederKind,
    /// For messages.
    name: String,
    /// The marks that it replaces in the words behind it. Their list is empty for an xargs that surely adds words at
    /// the end.
    marks: Marks,
    /// The index of the first word behind its name and options, among all words: that of the command which it runs, if
    /// there is one.
    pub(super) first: usize,
}

impl Feeder {
    /// Returns the first `xargs` or `parallel` among the words before an index, with its marks; None if there is none.
    /// Only words before the index count as its options, so that `first` is at most the index.
    pub(super) fn before(words: &[Word], index: usize) -> Option<Feeder> {
        let position = words[..index]
            .iter()
            .position(|word| adds_words(&word.text))?;
        let behind = &words[position + 1..index];
        let name = base_name(&words[position].text);
        let texts: Vec<String> = behind
            .iter()
            .map(|word| text_of_option(&word.text))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let option_count = wrappers::option_count_of_feeder(&name, &texts);
        let options = &behind[..option_count];
        let (kind, marks) = if name == "parallel" {
            (FeederKind::Parallel, marks_of_parallel(options))
        } else {
            (FeederKind::Xargs, mark_of_xargs(options))
        };
        Some(Feeder {
            kind,
            name,
            marks,
            first: position + 1 + option_count,
        })
    }

    /// Returns true if the command that this program runs gets words at its end. parallel adds them unless a word of
    /// that command has a mark; xargs, unless its options surely name a mark, used or not. `words` are all of the
    /// command in which this program stands.
    fn adds_at_end(&self, words: &[Word]) -> bool {
        let command = self.command(words);
        match self.kind {
            FeederKind::Xargs => self.xargs_adds_at_end(),
            FeederKind::Parallel => self.replace_marks(command, Doubt::AnyPart) == command,
        }
    }

    /// Returns true if an xargs adds words at the end, or may do so, as another option may take its mark back.
    fn xargs_adds_at_end(&self) -> bool {
        self.marks.texts.is_empty() || self.marks.may_be_taken_back
    }

    /// Returns the command that this program runs: the words behind its options, up to the `:::` of parallel, behind
    /// which the values are. `words` are all of the command.
    fn command<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        let behind = words.get(self.first..).unwrap_or_default();
        let has_values = self.kind == FeederKind::Parallel;
        let values = behind
            .iter()
            .position(|word| has_values && begins_values(&word.text));
        &behind[..values.unwrap_or(behind.len())]
    }

    /// Returns false if no word stands behind this program and its options: parallel then runs the lines of its input.
    /// True for any xargs, as one without a program only prints. `words` are all of the command.
    fn has_program(&self, words: &[Word]) -> bool {
        self.kind == FeederKind::Xargs || !self.command(words).is_empty()
    }

    /// Returns the index of the program that runs in the end, behind known wrappers, among all words of the command.
    /// Without a program, it is the index of the `:::` of parallel, or the number of words.
    pub(super) fn program_index(&self, words: &[Word]) -> usize {
        let command = ExpandedCommand::new(self.command(words), None);
        self.first + command.program_index
    }

    /// Returns true if the word at this index, in which an unknown part stands for a mark, may name a file that runs.
    /// As the program, it is a path with a mark anywhere or begins with a mark; behind a wrapper that some unknown one
    /// runs, only the latter counts. In the program's name, xargs of BSD puts its input, while that of GNU leaves the
    /// mark there. A word with blanks is no path, but a script of parallel, which is read apart.
    fn may_run_file_of_mark(&self, words: &[Word], index: usize) -> bool {
        let text = &words[index].text;
        let begins_unknown = matches!(text.first(), Some(Symbol::Unknown(_)));
        let is_program = index == self.program_index(words);
        let is_path = text.contains(&Symbol::Known('/')) && !text.contains(&Symbol::Known(' '));
        is_program && is_path
            || begins_unknown && (is_program || self.is_program_of_wrapper(words, index))
    }

    /// Returns true if a word at this index is the program of a wrapper that stands somewhere behind xargs or parallel:
    /// between wrapper and word are only options and operands of the wrapper, as in `xargs env {}`. The index behind
    /// the last word (`xargs env`) is that of the first word that is added. `words` are all of the command.
    fn is_program_of_wrapper(&self, words: &[Word], index: usize) -> bool {
        let first = self.first.max(index.saturating_sub(MOST_WORDS_OF_WRAPPER));
        // No words if the index stands before `xargs` or `parallel`.
        let before = words.get(first..index).unwrap_or_default();
        let texts: Vec<String> = before.iter().map(|word| shown(&word.text)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        (0..texts.len()).any(|wrapper_index| wrappers::lacks_command(&texts[wrapper_index..]))
    }

    /// Returns all words of a command, with an unknown part in the place of each mark behind this program's options,
    /// also within the script of `sh -c`.
    pub(super) fn with_unknown_marks(&self, words: &[Word]) -> Vec<Word> {
        let (before, behind) = words.split_at(self.first);
        let behind = self.replace_marks(behind, Doubt::AnyPart);
        [before.to_vec(), behind].concat()
    }

    /// Returns the script that parallel gives to a shell, with an unknown part in the place of each mark. parallel
    /// quotes what it puts there, so that the part stays in one word, and counts as harmless: options of clients are
    /// looked for in the words of the command themselves. But in words that hold a script (`'cd x; {}'`), it may be a
    /// program, or code of `eval`, and counts as any part. Words that are added at the end are any words. `words` are
    /// all of the command, with their marks as they are written.
    fn script(&self, words: &[Word], adds_at_end: bool) -> Symbols {
        let words = self.command(words);
        let mut symbols = words.iter().flat_map(|word| &word.text);
        // A blank within a word counts, not those between the words.
        let holds_script = symbols.any(|symbol| match symbol {
            Symbol::Known(c) => c.is_whitespace() || ";|&(`".contains(*c),
            Symbol::Unknown(_) => false,
        });
        let doubt = if holds_script {
            Doubt::AnyPart
        } else {
            Doubt::HarmlessPart
        };
        let command = self.replace_marks(words, doubt);
        let mut script = joined(&command);
        if adds_at_end {
            script.extend(known(" "));
            script.extend(unknown(Doubt::AnyWords));
        }
        script
    }

    /// Returns these words with an unknown part in the place of each mark. Without any mark, they come back unchanged,
    /// by which callers see that there is none.
    fn replace_marks(&self, words: &[Word], doubt: Doubt) -> Vec<Word> {
        let mut replaced = words.to_vec();
        for word in &mut replaced {
            for mark in &self.marks.texts {
                *word = replace_mark(word, mark, doubt);
            }
        }
        replaced
    }
}

/// Returns the text of a word behind `xargs` or `parallel`, to find where their options end. If it begins with an
/// unknown part that may be an option, it counts as `-`, an option without a value, so that the command begins later.
fn text_of_option(text: &[Symbol]) -> String {
    match text.first() {
        Some(Symbol::Unknown(doubt)) if *doubt > Doubt::TrustedPart => "-".to_owned(),
        _ => shown(text),
    }
}

/// Returns true for a word behind which the values for parallel stand, in place of its input.
fn begins_values(text: &[Symbol]) -> bool {
    exact(text).is_some_and(|text| [":::", ":::+", "::::", "::::+"].contains(&text.as_str()))
}

/// Returns true for the name of a program that adds words to the command behind it, so that these are not all there is.
pub(super) fn adds_words(text: &[Symbol]) -> bool {
    exact(text).is_some_and(|text| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name == "xargs" || name == "gxargs" || name == "parallel"
    })
}
