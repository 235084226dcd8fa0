//! A tokenizer for shell text: words, operators, redirections, here-documents, comments, functions, arrays, `case`,
//! line continuations. Reads what sh and bash share; where they differ, what bash reads.
//!
//! The only use of the result is to find calls of curl and wget that send data. So nothing may be overlooked, while the
//! order of commands does not count. A text that this tokenizer cannot follow is marked (`ParsedText::may_be_misread`),
//! and its readers then count it as unknown code.
//!
//! Each symbol is read once, except for a bounded look ahead and for the nested quoting of backquotes.

mod arithmetic;
mod draft;
mod expansions;
mod here_documents;
mod quotes;
mod script;
mod word;

use std::rc::Rc;

use super::syntax::ParsedText;
use super::text::Symbol::{self, Known};
use super::text::shown;

/// Limit on nested substitutions, as each is read by a recursive call, and a hostile text must not overflow the stack.
const DEEPEST: usize = 40;
/// Limit on the symbols of `((...))` and `$[...]`, which are searched for their end before they are read.
const LONGEST_ARITHMETIC: usize = 300;

/// Words that end a group of commands.
pub(crate) const ENDS_OF_GROUPS: [&str; 4] = ["}", "done", "fi", "esac"];

/// Reserved words after which a command begins.
pub(crate) const OPENERS: [&str; 10] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time",
];

/// Words of zsh that may stand before a command, and change how it runs: `noglob curl`. Anywhere else, they are
/// ordinary words, as the `-` of `wget -O - URL`.
pub(crate) const MODIFIERS: [&str; 3] = ["noglob", "nocorrect", "-"];

/// Reads a whole text as a script. Never fails: what cannot be followed is marked in the result.
pub(crate) fn parse(text: &[Symbol]) -> ParsedText {
    parse_at(text, 0)
}

/// Reads a whole text as a script that stands inside of `depth` substitutions, which count towards [`DEEPEST`]. The
/// last script of the result is that of the text itself, those before it are the scripts of its substitutions.
fn parse_at(text: &[Symbol], depth: usize) -> ParsedText {
    let mut reader = ScriptReader::new(text, depth);
    let script = reader.read_script(ScriptEnd::OfText);
    reader.parsed.scripts.push(Rc::new(script));
    reader.parsed
}

/// The end of the script that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptEnd {
    /// The end of the text.
    OfText,
    /// The parenthesis that closes a substitution.
    Parenthesis,
}

/// A cursor in a text of a shell, and what was found before it.
struct ScriptReader<'t> {
    text: &'t [Symbol],
    /// Index in `text` of the next symbol; the length of the text at its end.
    position: usize,
    /// Number of substitutions, arrays, braces, here-documents and arithmetic around the cursor.
    depth: usize,
    /// Findings before the cursor, apart from the script that is being read.
    parsed: ParsedText,
}

impl<'t> ScriptReader<'t> {
    /// Returns a reader at the beginning of a text that stands inside of `depth` substitutions.
    fn new(text: &'t [Symbol], depth: usize) -> ScriptReader<'t> {
        ScriptReader {
            text,
            position: 0,
            depth,
            parsed: ParsedText::default(),
        }
    }

    /// Returns the character `offset` symbols after the cursor, which does not move. Returns None behind the end, and
    /// for an unknown symbol: no syntax is recognized in what is not known.
    fn peek_at(&self, offset: usize) -> Option<char> {
        match self.text.get(self.position + offset) {
            Some(Known(c)) => Some(*c),
            _ => None,
        }
    }

    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn is_at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    /// Returns true if this text comes next. The cursor does not move.
    fn starts_with(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(offset, c)| self.peek_at(offset) == Some(c))
    }

    /// Moves the cursor behind this text if it comes next. Returns true if it does; an empty text always comes next.
    fn skip_if_next(&mut self, text: &str) -> bool {
        let is_next = self.starts_with(text);
        if is_next {
            self.position += text.chars().count();
        }
        is_next
    }

    /// Gives up on the rest of the text, which cannot be followed: marks the text as misread, and moves the cursor to
    /// its end, so that all loops of the reader end.
    fn give_up(&mut self) {
        self.parsed.may_be_misread = true;
        self.position = self.text.len();
    }

    /// Returns the text from `start` to the cursor as it is written.
    fn source_since(&self, start: usize) -> Rc<str> {
        shown(&self.text[start..self.position]).into()
    }

    /// Moves the cursor over blanks and continued lines, but not over the end of a line, which ends a command.
    fn skip_blanks(&mut self) {
        while self.skip_if_next(" ") || self.skip_if_next("\t") || self.skip_if_next("\\\n") {}
    }

    fn is_process_substitution(&self) -> bool {
        self.starts_with("<(") || self.starts_with(">(")
    }

    /// Calls `read` with a reader of another text, one level deeper, and returns its result. The substitutions and
    /// assignments that it finds are added to `parsed`; the cursor of this reader does not move. At the limit on
    /// nesting, `read` finds its text at the end already, and the text is marked as misread.
    fn read_nested<T>(
        &mut self,
        text: &[Symbol],
        read: impl FnOnce(&mut ScriptReader<'_>) -> T,
    ) -> T {
        let mut nested = ScriptReader::new(text, self.depth + 1);
        if self.depth >= DEEPEST {
            nested.give_up();
        }
        let result = read(&mut nested);
        self.parsed.merge(nested.parsed);
        result
    }
}
