//! The marks in the place of which `xargs` and `parallel` put words of their input, such as `{}`, and which of their
//! options name them.

use std::rc::Rc;

use crate::command::text::{Doubt, Symbols, known, unknown};
use crate::command::word::Word;

/// The marks that the options of `xargs` or `parallel` leave.
#[derive(Default)]
pub(super) struct Marks {
    /// Their texts, none of them empty.
    pub(super) texts: Vec<String>,
    /// Another option may take the mark back, so that words are added at the end instead.
    pub(super) may_be_taken_back: bool,
}

/// Returns the marks of parallel: its own, which are `{}` and others such as `{1}` and `{.}`, and that of `-I`, which
/// takes the place of `{}`, even if it is unknown. `options` are the words between its name and its command, empty for
/// an unknown one.
pub(super) fn marks_of_parallel(options: &[String]) -> Marks {
    let mut texts = vec!["{#}".to_owned(), "{%}".to_owned()];
    let numbers = (1..10).map(|number| number.to_string());
    for number in numbers.chain([String::new()]) {
        for part in [".", "/", "//", "/."] {
            texts.push(format!("{{{number}{part}}}"));
        }
        if !number.is_empty() {
            texts.push(format!("{{{number}}}"));
        }
    }
    let mark = options.iter().enumerate().find_map(|(index, option)| {
        let behind = option.strip_prefix("-I")?;
        if behind.is_empty() {
            options.get(index + 1).cloned()
        } else {
            Some(behind.to_owned())
        }
    });
    texts.push(mark.unwrap_or_else(|| "{}".to_owned()));
    texts.retain(|mark| !mark.is_empty());
    Marks {
        texts,
        may_be_taken_back: false,
    }
}

/// Returns the mark that the options of xargs name, of several the last; none if there is none, and if it is empty, as
/// by `--replace=`, or by `-I "$X"`, whose mark is not known. Another option may take it back (`-n`, `-L`). `options`
/// are the words between its name and its command, empty for an unknown one, which may be such an option.
pub(super) fn mark_of_xargs(options: &[String]) -> Marks {
    let mut mark = None;
    let mut may_be_taken_back = false;
    let mut unread = options.iter();
    while let Some(word) = unread.next() {
        if let Some(mark_behind_sign) = word.strip_prefix("--replace=") {
            mark = Some(mark_behind_sign.to_owned());
            continue;
        }
        match word.as_str() {
            "--replace" => mark = Some("{}".to_owned()),
            "--" | "--null" | "--no-run-if-empty" | "--verbose" => {}
            // Any other long option, or an unknown word, may take the mark back.
            option if option.starts_with("--") || option.is_empty() => may_be_taken_back = true,
            option if option.starts_with('-') => match meaning_of_letters(&option[1..]) {
                Letters::Mark("") => mark = unread.next().cloned(),
                Letters::Mark(behind_letter) => mark = Some(behind_letter.to_owned()),
                Letters::DefaultMark => mark = Some("{}".to_owned()),
                Letters::TakesNextWord => {
                    unread.next();
                }
                Letters::MayTakeBack => may_be_taken_back = true,
                Letters::Other => {}
            },
            // The value of an option, such as the number of `-n 1`.
            _ => {}
        }
    }
    Marks {
        texts: mark.into_iter().filter(|mark| !mark.is_empty()).collect(),
        may_be_taken_back,
    }
}

/// The meaning of a word of option letters of xargs.
enum Letters<'w> {
    /// `-I`, with the mark if it stands in the same word; empty if the mark is the next word.
    Mark(&'w str),
    /// `-i` alone: the mark is `{}`.
    DefaultMark,
    /// Another option whose value is the next word.
    TakesNextWord,
    /// One that may take a mark back.
    MayTakeBack,
    Other,
}

/// Returns what the option letters of one word of xargs mean. `letters` come without the `-`. A letter that takes
/// a value takes all that follows it in the word, or else the next word; only `i` takes none then.
fn meaning_of_letters(letters: &str) -> Letters<'_> {
    for (index, letter) in letters.char_indices() {
        let behind = &letters[index + letter.len_utf8()..];
        match letter {
            '0' | 'r' | 't' | 'p' | 'x' | 'o' => {}
            'I' => return Letters::Mark(behind),
            'i' if behind.is_empty() => return Letters::DefaultMark,
            'i' => return Letters::Mark(behind),
            'P' | 'd' | 'a' | 'E' | 's' if behind.is_empty() => return Letters::TakesNextWord,
            'P' | 'd' | 'a' | 'E' | 's' => return Letters::Other,
            _ => return Letters::MayTakeBack,
        }
    }
    Letters::Other
}

/// Returns a word with an unknown part in the place of each mark, as what is put there comes from the input of xargs or
/// parallel. `doubt` is what it may be: never `AnyWords`, as it stays in one word. `mark` must not be empty, or the
/// loop has no end.
pub(super) fn replace_mark(word: &Word, mark: &str, doubt: Doubt) -> Word {
    let mark = known(mark);
    let mut text = Symbols::new();
    let mut index = 0;
    while index < word.text.len() {
        if word.text[index..].starts_with(&mark) {
            text.extend(unknown(doubt));
            index += mark.len();
        } else {
            text.push(word.text[index]);
            index += 1;
        }
    }
    Word {
        text,
        origin: Rc::clone(&word.origin),
        output_of: word.output_of.clone(),
    }
}
