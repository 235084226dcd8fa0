//! Programs that add words to the command that they run, such as a call of curl: `xargs` and `parallel`. The words come
//! from their input, so that they are not known, and each may be an option that sends data.

use std::rc::Rc;

use crate::command::text::{
    Doubt, Symbol, Symbols, exact, known, may_be_several_words, shown, unknown,
};
use crate::command::word::Word;
use crate::command::wrappers;

/// Limit on the words of a wrapper before its program: they are searched again for each word that may be that program.
pub(super) const MOST_WORDS_OF_WRAPPER: usize = 16;

/// Returns the words that a client gets as its arguments, if its name stands at this index of a command.
///
/// A name that may be several words, such as `$CURL`, is one of them: it may hold options.
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
    let mut arguments = words[name_index + 1..].to_vec();
    let Some(feeder) = Feeder::before(words, name_index) else {
        return arguments;
    };
    let replaced = feeder.replace_marks(&arguments);
    if replaced != arguments {
        return replaced;
    }
    // With a mark, xargs adds no words at the end. parallel does if the mark is missing.
    if feeder.kind == FeederKind::Parallel || feeder.marks.is_empty() {
        arguments.push(Word {
            text: unknown(Doubt::AnyWords),
            origin: format!("the words that {} adds", feeder.name).into(),
            output_of: None,
        });
    }
    arguments
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeederKind {
    Xargs,
    Parallel,
}

/// A program that adds words of its input to a command.
pub(super) struct Feeder {
    kind: FeederKind,
    /// For messages.
    pub(super) name: String,
    /// The texts that it replaces in the words of the command, none of them empty. No text for an xargs that adds words
    /// at the end, and if its options leave that open.
    marks: Vec<String>,
    /// The index of the first word behind its name, among the words of the command.
    first: usize,
}

impl Feeder {
    /// Returns the first such program among the words before an index, with its marks; None if there is none.
    pub(super) fn before(words: &[Word], index: usize) -> Option<Feeder> {
        let position = words[..index]
            .iter()
            .position(|word| adds_words(&word.text))?;
        // Empty for a word that is not known, which is no mark.
        let texts_behind: Vec<String> = words[position + 1..index]
            .iter()
            .map(|word| exact(&word.text).unwrap_or_default())
            .collect();
        let name = shown(&words[position].text);
        let kind = if name.ends_with("parallel") {
            FeederKind::Parallel
        } else {
            FeederKind::Xargs
        };
        let mut marks = match kind {
            FeederKind::Parallel => marks_of_parallel(&texts_behind),
            FeederKind::Xargs => mark_of_xargs(&texts_behind).into_iter().collect(),
        };
        marks.retain(|mark| !mark.is_empty());
        Some(Feeder {
            kind,
            name,
            marks,
            first: position + 1,
        })
    }

    /// Returns true if the command behind this program gets words at its end. parallel adds them unless a word has a
    /// mark; xargs, unless its options name a mark, used or not. `words` are all of the command.
    pub(super) fn adds_at_end(&self, words: &[Word]) -> bool {
        let command = &words[self.first..];
        match self.kind {
            FeederKind::Xargs => self.marks.is_empty(),
            FeederKind::Parallel => self.replace_marks(command) == command,
        }
    }

    /// Returns false if no word stands behind this program and its options: parallel then runs the lines of its input.
    /// True for any xargs, as one without a program only prints. `words` are all of the command.
    pub(super) fn has_program(&self, words: &[Word]) -> bool {
        let mut behind = words[self.first..].iter();
        self.kind == FeederKind::Xargs || behind.any(|word| may_be_program(&word.text))
    }

    /// Returns true if a word at this index is the program that a wrapper behind this program runs: between them stand
    /// only the wrapper's own options, as in `xargs env {}`. At the end of the words (`xargs env`), it is the first
    /// word that is added. `words` are all of the command.
    pub(super) fn is_program_of_wrapper(&self, words: &[Word], index: usize) -> bool {
        let first = self.first.max(index.saturating_sub(MOST_WORDS_OF_WRAPPER));
        // None if the index stands before this program.
        let before = words.get(first..index).unwrap_or_default();
        let texts: Vec<String> = before.iter().map(|word| shown(&word.text)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        (0..texts.len()).any(|wrapper_index| wrappers::lacks_command(&texts[wrapper_index..]))
    }

    /// Returns all words of a command, with an unknown part in the place of each mark behind this program, also within
    /// the script of `sh -c`.
    pub(super) fn with_unknown_marks(&self, words: &[Word]) -> Vec<Word> {
        let (before, behind) = words.split_at(self.first);
        [before.to_vec(), self.replace_marks(behind)].concat()
    }

    /// Returns these words with an unknown part in the place of each mark. Without any mark, they come back unchanged,
    /// by which callers see that there is none.
    fn replace_marks(&self, words: &[Word]) -> Vec<Word> {
        let mut replaced = words.to_vec();
        for word in &mut replaced {
            for mark in &self.marks {
                *word = replace_mark(word, mark);
            }
        }
        replaced
    }
}

/// Returns false for an option, and for a number, which is the value of one (`-j 4`). An unknown word may be a program.
fn may_be_program(text: &[Symbol]) -> bool {
    match exact(text) {
        Some(text) => !text.starts_with('-') && !text.chars().all(|c| c.is_ascii_digit()),
        None => true,
    }
}

/// Returns the marks of parallel: that of `-I`, or its own, which are `{}` and others such as `{1}` and `{.}`. `texts`
/// are all words behind its name.
fn marks_of_parallel(texts: &[String]) -> Vec<String> {
    if let Some(index) = texts.iter().position(|text| text == "-I") {
        return texts.get(index + 1).cloned().into_iter().collect();
    }
    let own = ["{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}"];
    let numbered = (1..10).map(|number| format!("{{{number}}}"));
    own.map(str::to_owned).into_iter().chain(numbered).collect()
}

/// Returns the mark that the options of xargs name, of several the last; None if there is none, or if another option
/// may take it back (`-n`, `-L`): the caller then expects words at the end. So it does if the mark is empty, as by
/// `--replace=`, or by `-I "$X"`, whose mark is not known. `texts` are all words behind its name, empty for an unknown
/// one, which may be such an option; the first that is no option is the program, behind which no option is looked for.
fn mark_of_xargs(texts: &[String]) -> Option<String> {
    let mut mark = None;
    let mut unread = texts.iter();
    while let Some(word) = unread.next() {
        if let Some(mark_behind_sign) = word.strip_prefix("--replace=") {
            mark = Some(mark_behind_sign.to_owned());
            continue;
        }
        match word.as_str() {
            "--replace" => mark = Some("{}".to_owned()),
            "--null" | "--no-run-if-empty" | "--verbose" => {}
            // Any other long option, or an unknown word, may take the mark back.
            option if option.starts_with("--") || option.is_empty() => return None,
            option if option.starts_with('-') => match meaning_of_letters(&option[1..])? {
                Letters::Mark("") => mark = unread.next().cloned(),
                Letters::Mark(behind_letter) => mark = Some(behind_letter.to_owned()),
                Letters::DefaultMark => mark = Some("{}".to_owned()),
                Letters::TakesNextWord => {
                    unread.next();
                }
                Letters::Other => {}
            },
            _ => break,
        }
    }
    mark
}

/// What a word of option letters of xargs says.
enum Letters<'w> {
    /// `-I`, with the mark if it stands in the same word; empty if the mark is the next word.
    Mark(&'w str),
    /// `-i`: the mark is `{}`.
    DefaultMark,
    /// The value of the last letter is the next word.
    TakesNextWord,
    /// Nothing that concerns the mark.
    Other,
}

/// Returns what the option letters of one word of xargs mean; None if one of them may take a mark back. `letters` come
/// without the `-`. What follows a letter that takes a value is that value.
fn meaning_of_letters(letters: &str) -> Option<Letters<'_>> {
    for (index, letter) in letters.char_indices() {
        let behind = &letters[index + letter.len_utf8()..];
        match letter {
            '0' | 'r' | 't' | 'p' | 'x' | 'o' => {}
            'I' => return Some(Letters::Mark(behind)),
            'i' if behind.is_empty() => return Some(Letters::DefaultMark),
            'i' => return Some(Letters::Mark(behind)),
            'P' | 'd' | 'a' | 'E' | 's' if behind.is_empty() => {
                return Some(Letters::TakesNextWord);
            }
            'P' | 'd' | 'a' | 'E' | 's' => return Some(Letters::Other),
            _ => return None,
        }
    }
    Some(Letters::Other)
}

/// Returns a word with an unknown part in the place of each mark, as what is put there comes from the input of xargs or
/// parallel. The part stays in one word, but may begin an option. `mark` must not be empty, or the loop has no end.
fn replace_mark(word: &Word, mark: &str) -> Word {
    let mark = known(mark);
    let mut text = Symbols::new();
    let mut index = 0;
    while index < word.text.len() {
        if word.text[index..].starts_with(&mark) {
            text.extend(unknown(Doubt::AnyPart));
            index += mark.len();
        } else {
            text.push(word.text[index]);
            index += 1;
        }
    }
    Word {
        text,
        origin: Rc::clone(&word.origin),
        output_of: None,
    }
}

/// Returns true for the name of a program that adds words to the command behind it, so that these are not all there is.
pub(super) fn adds_words(text: &[Symbol]) -> bool {
    exact(text).is_some_and(|text| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name == "xargs" || name == "gxargs" || name == "parallel"
    })
}
