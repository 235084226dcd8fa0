//! The marks in the place of which `xargs` and `parallel` put words of their input, such as `{}`, and which of their
//! options name them.

use std::rc::Rc;

use crate::command::text::{Doubt, Symbol, Symbols, exact, known, shown, unknown};
use crate::command::word::Word;
use crate::command::wrappers;

/// Letters of options of xargs that leave a mark as it is, beside those that name one. Any other may take it back.
const KEEP_MARK: &str = "0rtpxoPdaEs";

/// The marks that the options of `xargs` or `parallel` leave.
#[derive(Default)]
pub(super) struct Marks {
    /// Their texts, none of them empty.
    pub(super) texts: Vec<String>,
    /// There may be another mark, which is not known: any word may be or hold it.
    pub(super) may_be_others: bool,
    /// Another option may take the mark back, so that words are added at the end instead.
    pub(super) may_be_taken_back: bool,
}

impl Marks {
    /// Puts a mark in the place of the one that an earlier option of xargs named. `text` is None if it is not known; an
    /// empty one leaves no mark.
    fn set(&mut self, text: Option<String>) {
        self.may_be_others = text.is_none();
        self.texts = text.into_iter().filter(|text| !text.is_empty()).collect();
    }
}

/// Returns the marks of parallel: its own, which are `{}` and others such as `{1}` and `{.}`, and that of the first
/// `-I`, which takes the place of `{}`, even if its text is unknown. Then, and with another option that names a mark,
/// as these are not followed, there may be other marks. `options` are the words between its name and its command.
pub(super) fn marks_of_parallel(options: &[Word]) -> Marks {
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
        let behind = option.text.strip_prefix(known("-I").as_slice())?;
        if behind.is_empty() {
            options.get(index + 1).map(|word| exact(&word.text))
        } else {
            Some(exact(behind))
        }
    });
    let mark = mark.unwrap_or_else(|| Some("{}".to_owned()));
    // `--replace=`, `--seqreplace=` and the like, and `-iTEXT`.
    let names_others = |option: &Word| {
        let option = shown(&option.text);
        let is_named = option.starts_with("--") && option.contains("replace=");
        let is_of_letter = option.len() > 2 && option.starts_with("-i");
        is_named || is_of_letter || option.starts_with("--rpl") || option.starts_with("-U")
    };
    let may_be_others = mark.is_none() || options.iter().any(names_others);
    texts.extend(mark);
    texts.retain(|mark| !mark.is_empty());
    Marks {
        texts,
        may_be_others,
        may_be_taken_back: false,
    }
}

/// Returns the mark that the options of xargs name, of several the last; none if no option names one, or the last one
/// is empty (`--replace=`). Another option may take the mark back (`-n`, `-L`), and a word with an unknown beginning
/// may be such an option. `options` are the words between its name and its command.
pub(super) fn mark_of_xargs(options: &[Word]) -> Marks {
    let mut marks = Marks::default();
    let mut unread = options.iter();
    while let Some(word) = unread.next() {
        let replace = known("--replace=");
        if let Some(mark) = word.text.strip_prefix(replace.as_slice()) {
            marks.set(exact(mark));
            continue;
        }
        let begins_unknown = matches!(word.text.first(), Some(Symbol::Unknown(_)) | None);
        match shown(&word.text).as_str() {
            "--replace" => marks.set(Some("{}".to_owned())),
            "--" | "--null" | "--no-run-if-empty" | "--verbose" => {}
            // Any other long option may take the mark back, and a word that begins unknown or is empty may be one.
            option if option.starts_with("--") || begins_unknown => marks.may_be_taken_back = true,
            option if option.starts_with('-') => {
                let letters = Letters::new(&word.text[1..]);
                marks.may_be_taken_back |= letters.may_take_back;
                match letters.with_value {
                    Some('i') if letters.behind.is_empty() => marks.set(Some("{}".to_owned())),
                    Some('I') if letters.behind.is_empty() => {
                        if let Some(mark) = unread.next() {
                            marks.set(exact(&mark.text));
                        }
                    }
                    Some('I' | 'i') => marks.set(exact(letters.behind)),
                    // The next word is the value of another option, such as `-n`.
                    Some(_) if letters.behind.is_empty() => {
                        unread.next();
                    }
                    // The value stands in this word, or no letter takes one.
                    _ => {}
                }
            }
            // The value of a long option.
            _ => {}
        }
    }
    marks
}

/// The option letters in one word of xargs, which may be unknown in part.
struct Letters<'w> {
    /// The one that takes a value, which ends the letters; None if none does.
    with_value: Option<char>,
    /// The part of the word behind that letter. If it is empty, the value is the next word; only `i` then has none.
    behind: &'w [Symbol],
    /// A letter, or an unknown part among the letters, may take back the mark that an earlier option named.
    may_take_back: bool,
}

impl<'w> Letters<'w> {
    /// Reads the letters of a word up to the first that takes a value. `letters` are all of the word behind its `-`.
    fn new(letters: &'w [Symbol]) -> Letters<'w> {
        let mut may_take_back = false;
        for (index, symbol) in letters.iter().enumerate() {
            let Symbol::Known(letter) = symbol else {
                may_take_back = true;
                continue;
            };
            let names_mark = matches!(letter, 'I' | 'i');
            may_take_back |= !names_mark && !KEEP_MARK.contains(*letter);
            if names_mark || wrappers::takes_value_of_xargs(*letter) {
                return Letters {
                    with_value: Some(*letter),
                    behind: &letters[index + 1..],
                    may_take_back,
                };
            }
        }
        Letters {
            with_value: None,
            behind: &[],
            may_take_back,
        }
    }
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
