//! Programs that add words to the command that they run, such as a call of curl: `xargs` and `parallel`. The words come
//! from their input, so that they are not known, and each may be an option that sends data.

use crate::command::text::{
    Doubt, Symbol, Symbols, Word, exact, known, may_be_several_words, shown, unknown,
};

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

/// Returns the words after an index, with those that `xargs` or `parallel` before it adds at the end or puts in the
/// place of a mark such as `{}`. Such words are unknown.
fn with_added_words(words: &[Word], name_index: usize) -> Vec<Word> {
    let mut arguments = words[name_index + 1..].to_vec();
    let before = &words[..name_index];
    let Some(adder) = before.iter().position(|word| adds_words(&word.text)) else {
        return arguments;
    };
    if let Some(mark) = replaced_mark(&words[adder..name_index]) {
        let replaced: Vec<Word> = arguments
            .iter()
            .map(|word| replace_mark(word, &mark))
            .collect();
        if replaced != arguments {
            return replaced;
        }
        // With a mark, xargs adds no words at the end. parallel does if the mark is missing.
        if exact(&words[adder].text).is_some_and(|name| name.ends_with("xargs")) {
            return arguments;
        }
    }
    arguments.push(Word {
        text: unknown(Doubt::AnyWords),
        origin: format!("the words that {} adds", shown(&words[adder].text)),
    });
    arguments
}

/// Returns the mark that `xargs -I MARK` or `parallel` replaces in the words of its command. Returns None if xargs has
/// no such option, or if its mark is not known or empty, which no word can hold. `words` are those from its own name up
/// to the client's.
fn replaced_mark(words: &[Word]) -> Option<String> {
    // A word that is not known is no option, and no mark.
    let texts: Vec<String> = words
        .iter()
        .map(|word| exact(&word.text).unwrap_or_default())
        .collect();
    let is_parallel = texts[0].ends_with("parallel");
    let default_mark = is_parallel.then(|| "{}".to_owned());
    let mark = typed_mark(&texts).or(default_mark)?;
    (!mark.is_empty()).then_some(mark)
}

/// Returns the mark of the first option that names one: of `-I`, or `{}` by the options that may leave it out.
fn typed_mark(texts: &[String]) -> Option<String> {
    for (index, text) in texts.iter().enumerate().skip(1) {
        match text.as_str() {
            "-I" => return texts.get(index + 1).cloned(),
            "-i" | "--replace" => return Some("{}".to_owned()),
            _ => {}
        }
        for prefix in ["-I", "-i", "--replace="] {
            if let Some(mark) = text.strip_prefix(prefix) {
                return Some(mark.to_owned());
            }
        }
    }
    None
}

/// Returns a word with an unknown part in the place of each mark, as what is put there comes from the input of xargs.
/// The part stays in one word, but may begin an option. `mark` is not empty.
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
        origin: word.origin.clone(),
    }
}

/// Returns true for the name of a program that adds words to the command behind it, so that these are not all there is.
pub(super) fn adds_words(text: &[Symbol]) -> bool {
    exact(text).is_some_and(|text| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name == "xargs" || name == "gxargs" || name == "parallel"
    })
}
