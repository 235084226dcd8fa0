//! Programs that add words to the command that they run: `xargs` and `parallel`.

use crate::command::text::{
    Doubt, Symbol, Symbols, Word, exact, known, may_be_several_words, mentions, shown, unknown,
};

/// Returns the words of the call whose client stands at an index.
///
/// A name that may be several words, such as `$CURL`, is one of them: it may hold options.
pub(super) fn words_of_call(words: &[Word], at: usize) -> Vec<Word> {
    let mut rest = with_added_words(words, at);
    if may_be_several_words(&words[at].text) {
        rest.insert(0, words[at].clone());
    }
    rest
}

/// Returns the words after an index, with those that a program before it adds or replaces.
fn with_added_words(words: &[Word], at: usize) -> Vec<Word> {
    let rest = &words[at + 1..];
    let Some(adder) = words[..at].iter().position(|word| adds_words(&word.text)) else {
        return rest.to_vec();
    };
    let mark = replaced_mark(&words[adder..at]);
    if let Some(mark) = &mark {
        if rest.iter().any(|word| mentions(&word.text, mark)) {
            return rest.iter().map(|word| replace_mark(word, mark)).collect();
        }
        // With a mark, xargs adds no words at the end. parallel does if the mark is missing.
        if exact(&words[adder].text).is_some_and(|name| name.ends_with("xargs")) {
            return rest.to_vec();
        }
    }
    let mut rest = rest.to_vec();
    rest.push(Word {
        text: unknown(Doubt::AnyWords),
        origin: format!("the words that {} adds", shown(&words[adder].text)),
    });
    rest
}

/// Returns the text that `xargs -I TEXT` or `parallel` replaces. `words` begins with the program's name.
fn replaced_mark(words: &[Word]) -> Option<String> {
    let texts: Vec<String> = words.iter().map(|word| shown(&word.text)).collect();
    for (at, text) in texts.iter().enumerate().skip(1) {
        match text.as_str() {
            "-I" => return texts.get(at + 1).cloned(),
            "-i" | "--replace" => return Some("{}".to_owned()),
            _ => {}
        }
        for prefix in ["-I", "-i", "--replace="] {
            if let Some(mark) = text.strip_prefix(prefix) {
                return Some(mark.to_owned());
            }
        }
    }
    texts[0].ends_with("parallel").then(|| "{}".to_owned())
}

/// Replaces each mark in a word by an unknown part.
fn replace_mark(word: &Word, mark: &str) -> Word {
    let mark = known(mark);
    let mut text = Symbols::new();
    let mut at = 0;
    while at < word.text.len() {
        if word.text[at..].starts_with(&mark) {
            text.extend(unknown(Doubt::AnyPart));
            at += mark.len();
        } else {
            text.push(word.text[at]);
            at += 1;
        }
    }
    Word {
        text,
        origin: word.origin.clone(),
    }
}

/// Returns true for the name of a program that adds words to a command.
pub(super) fn adds_words(text: &[Symbol]) -> bool {
    exact(text).is_some_and(|text| {
        let name = text.rsplit('/').next().unwrap_or_default();
        name == "xargs" || name == "gxargs" || name == "parallel"
    })
}
