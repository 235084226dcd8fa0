//! Decides whether the command may run twice. A request of curl or wget that is not idempotent may order or pay twice.
//! A command that is curl or wget itself is read exactly (`clients.rs`). Any other that mentions one is scanned, not
//! interpreted: its words, the scripts and script files among them, and the variables that these mention. It only
//! guards against accidents. `--idempotent` has the last word.
//!
//! A text is cut into pieces at `;`, `|`, `&`, newlines, braces and parentheses. Words count after the name of curl or
//! wget in a piece, in a piece whose first word is a function of the text or contains `$`, and in assignments, arrays,
//! `set --`, `for` and the like. There is no list of other programs, so `if [ ! -d dir ]` sends nothing.

use std::collections::BTreeSet;
use std::ops::Range;

use super::clients::{Call, Client, looks_like_sending};
use super::program::{
    DEEPEST, Inner, file_name, inner_command, lists, name_for_presets, remote_command,
};
use super::scripts::{Surroundings, Texts, mentions_client};

/// Limit on the depth of quoted texts, and of substitutions.
const MOST_DEPTH: usize = 3;

/// Shell words before a command.
const BEFORE_COMMANDS: &str = "if elif while until then do else ! time exec command";

/// Shell operators after which a variable has another value: `${OPTS:--d x}`.
const OTHER_VALUES: [&str; 3] = [":-", ":+", ":="];

/// Shell commands whose words may be those of a later call.
const SETTING: &str = "declare local export typeset readonly set read for eval alias env";

/// Returns what a command sends that is not idempotent, or seems to be, for messages: `curl -d`, or `-d in post.sh`.
/// None if the command may run twice.
pub(crate) fn not_idempotent(command: &[&str], surroundings: &dyn Surroundings) -> Option<String> {
    let mut words = command.to_vec();
    for _ in 0..DEEPEST {
        let Some(program) = words.first() else {
            break;
        };
        if let Some(client) = Client::named(name_for_presets(program)) {
            // Without a shell, no variable has a value.
            let option = Call::read(client, &words[1..]).sends(false)?;
            return Some(format!("{} {option}", client.name()));
        }
        words = match (inner_command(&words), remote_command(&words)) {
            (Inner::Command(inner), _) | (_, Some(inner)) => inner,
            _ => break,
        };
    }
    let texts = Texts::collect(command, &words, surroundings);
    let is_mentioned = texts.all.iter().any(|text| mentions_client(&text.content));
    if !is_mentioned {
        return None;
    }
    let look = Look {
        functions: &texts.functions,
        knows_run_id: !drops_variables(command),
    };
    texts.all.iter().find_map(|text| {
        let word = look.sending_word(&text.content, 0)?;
        Some(match &text.file {
            Some(file) => format!("{word} in {file}"),
            None => word,
        })
    })
}

/// Returns true if a command does not pass its variables on to the program that it runs.
fn drops_variables(command: &[&str]) -> bool {
    const DROP: &str = "sudo doas su ssh docker podman nerdctl kubectl";
    command.iter().any(|word| lists(DROP, file_name(word)))
        || command.first() == Some(&"env") && command.contains(&"-i")
}

/// How to scan texts.
struct Look<'t> {
    /// Functions that may be called.
    functions: &'t BTreeSet<String>,
    /// Calls get backoff's variables.
    knows_run_id: bool,
}

impl Look<'_> {
    /// Returns a word of a text with which a call of curl or wget seems to send something.
    fn sending_word(&self, text: &str, depth: usize) -> Option<String> {
        if depth > MOST_DEPTH {
            return None;
        }
        let (text, inner) = without_substitutions(&text.replace("\\\n", " "));
        let scanned = scan(&text);
        let mut texts = inner.iter().chain(&scanned.quoted);
        let in_texts = texts.find_map(|quoted| self.sending_word(quoted, depth + 1));
        in_texts.or_else(|| {
            let mut pieces = scanned.pieces.iter();
            pieces.find_map(|piece| self.sending_word_of_piece(piece))
        })
    }

    /// Returns the word with which a piece seems to send something.
    fn sending_word_of_piece(&self, piece: &str) -> Option<String> {
        // Unpaired quotes are dropped.
        let words = shlex::split(piece).unwrap_or_else(|| {
            let plain = piece.replace(['"', '\'', '\\'], "");
            plain.split_whitespace().map(str::to_owned).collect()
        });
        let begin = words.iter().take_while(|word| lists(BEFORE_COMMANDS, word));
        let words = &words[begin.count()..];
        let mut numbered = words.iter().enumerate();
        let found = numbered.find_map(|(at, word)| Some((at, client_in(word, at)?)));
        let Some((at, client)) = found else {
            return word_that_sends(&words[self.counted(words)], None);
        };
        // It is unknown which value counts.
        if OTHER_VALUES.iter().any(|operator| piece.contains(operator)) {
            return word_that_sends(&words[at..], Some(client));
        }
        let behind: Vec<&str> = words[at + 1..].iter().map(String::as_str).collect();
        let option = Call::read(client, &behind).sends(self.knows_run_id)?;
        Some(format!("{} {option}", client.name()))
    }

    /// Returns which words of a piece without a client count, because they may be those of a call: words after a
    /// setting, a function or a variable, or else assignments before the command.
    fn counted(&self, words: &[String]) -> Range<usize> {
        let assignments = words.iter().take_while(|word| is_assigning(word)).count();
        let Some(first) = words.get(assignments) else {
            return 0..words.len();
        };
        if lists(SETTING, first) {
            // Its own options: `read -r -d ''`.
            let behind = words[assignments + 1..].iter();
            let own = behind.take_while(|word| word.starts_with('-') && *word != "--");
            return assignments + 1 + own.count()..words.len();
        }
        // `$SUDO systemctl`
        let is_sudo = first
            .to_ascii_uppercase()
            .trim_end_matches('}')
            .ends_with("SUDO");
        let is_unknown = first.contains('$') && !is_sudo;
        if is_unknown || self.functions.contains(file_name(first)) {
            return assignments + 1..words.len();
        }
        0..assignments
    }
}

/// Takes command substitutions out of a text, the innermost first, and leaves a variable for each. Returns the rest and
/// what was taken out.
fn without_substitutions(text: &str) -> (String, Vec<String>) {
    let mut text = text.to_owned();
    let mut inner = Vec::new();
    for _ in 0..=MOST_DEPTH {
        let mut rest = String::new();
        let mut unread = text.as_str();
        while let Some(start) = unread.find("$(") {
            let behind = &unread[start + 2..];
            let end = behind.find(['(', ')']);
            match end {
                Some(end) if behind[end..].starts_with(')') => {
                    rest += &unread[..start];
                    rest += "$Q";
                    inner.push(behind[..end].to_owned());
                    unread = &behind[end + 1..];
                }
                // Another one is inside it.
                _ => {
                    rest += &unread[..start + 2];
                    unread = behind;
                }
            }
        }
        rest += unread;
        if rest == text {
            break;
        }
        text = rest;
    }
    let mut parts = text.split('`');
    let mut rest = parts.next().unwrap_or_default().to_owned();
    while let (Some(quoted), Some(behind)) = (parts.next(), parts.next()) {
        inner.push(quoted.to_owned());
        rest += "$Q";
        rest += behind;
    }
    (rest, inner)
}

/// A text cut into parts.
#[derive(Default)]
struct Scanned {
    pieces: Vec<String>,
    /// Quoted texts that may be scripts: with a space, and a client or a variable.
    quoted: Vec<String>,
    /// The piece being read, and the quoted texts in it.
    piece: String,
    quoted_in_piece: Vec<String>,
    /// The piece is part of an array: `args=(-d x)`.
    is_in_array: bool,
}

impl Scanned {
    /// Ends a piece at a separator, or at the end of the text. What is printed is a message, unless it goes to a pipe.
    fn end_piece(&mut self, is_piped: bool) {
        let piece = std::mem::take(&mut self.piece);
        let quoted = std::mem::take(&mut self.quoted_in_piece);
        let mut words = piece
            .split_whitespace()
            .skip_while(|word| lists(BEFORE_COMMANDS, word));
        let is_message = ["echo", "printf"].contains(&words.next().unwrap_or_default());
        if is_piped || !is_message {
            self.quoted.extend(quoted);
            let setting = if self.is_in_array { "set -- " } else { "" };
            self.pieces.push(format!("{setting}{piece}"));
        }
    }

    /// Adds a text in quotes of this kind. A script is scanned by itself, and leaves a `Q`.
    fn add_quoted(&mut self, content: &str, quote: char) {
        let has_blank = content.contains(char::is_whitespace);
        let is_script = has_blank && mentions_client(content) && !is_header(content);
        if is_script {
            self.quoted_in_piece.push(if quote == '"' {
                unescaped(content)
            } else {
                content.to_owned()
            });
            self.piece.push('Q');
            return;
        }
        if has_blank && content.contains('$') && !is_header(content) {
            self.quoted_in_piece.push(content.to_owned());
        }
        self.piece += &format!("{quote}{content}{quote}");
    }
}

/// Cuts a text into pieces, at separators outside quotes. If quotes do not pair, as in a here-document with an
/// apostrophe, separators count anywhere from there on.
fn scan(text: &str) -> Scanned {
    let mut scanned = Scanned::default();
    let mut unread = text;
    while let Some(c) = unread.chars().next() {
        let mut behind = &unread[c.len_utf8()..];
        match c {
            '\\' => {
                let escaped = behind.chars().next().map_or(0, char::len_utf8);
                scanned.piece += &unread[..1 + escaped];
                behind = &behind[escaped..];
            }
            '"' | '\'' => {
                let Some(end) = end_of_quotes(behind, c) else {
                    scanned.pieces.extend(cut_anywhere(unread));
                    break;
                };
                scanned.add_quoted(&behind[..end], c);
                behind = &behind[end + 1..];
            }
            // A comment.
            '#' if is_blank(scanned.piece.chars().next_back()) => {
                behind = &unread[unread.find('\n').unwrap_or(unread.len())..];
            }
            _ if is_separator(c, &scanned.piece, behind) => {
                let begins_array = c == '(' && scanned.piece.ends_with('=');
                scanned.end_piece(c == '|' && !behind.starts_with('|'));
                scanned.is_in_array = begins_array || scanned.is_in_array && c != ')';
            }
            _ => scanned.piece.push(c),
        }
        unread = behind;
    }
    scanned.end_piece(false);
    scanned
}

/// Returns what a shell makes of a text in double quotes, except for its variables.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut unread = text.chars().peekable();
    while let Some(c) = unread.next() {
        let is_escape = c == '\\' && unread.peek().is_some_and(|next| "\"$`\\".contains(*next));
        plain.push(if is_escape {
            unread.next().unwrap_or(c)
        } else {
            c
        });
    }
    plain
}

/// Returns where quotes of this kind end.
fn end_of_quotes(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (index, c) in text.char_indices() {
        if c == quote && !is_escaped {
            return Some(index);
        }
        is_escaped = quote == '"' && c == '\\' && !is_escaped;
    }
    None
}

/// Returns true for `Name: value`.
fn is_header(text: &str) -> bool {
    text.split_once(':').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    })
}

fn is_blank(c: Option<char>) -> bool {
    c.is_none_or(char::is_whitespace)
}

fn is_separator(c: char, piece: &str, behind: &str) -> bool {
    match c {
        ';' | '|' | '\n' | '(' | ')' => true,
        // Not in `2>&1` and `&>file`.
        '&' => !piece.ends_with('>') && !behind.starts_with('>'),
        // Only as a word, not in `${x}` and `%{x}`.
        '{' | '}' => {
            let next = behind.chars().next();
            is_blank(piece.chars().next_back()) && (is_blank(next) || next == Some(';'))
        }
        _ => false,
    }
}

fn cut_anywhere(text: &str) -> Vec<String> {
    text.split([';', '|', '&', '\n', '(', ')'])
        .map(str::to_owned)
        .collect()
}

fn word_that_sends(words: &[String], client: Option<Client>) -> Option<String> {
    let options: Vec<String> = words
        .iter()
        .flat_map(|word| parts_that_may_send(word))
        .collect();
    looks_like_sending(&options, client)
}

/// Returns the client that a word names: `curl`, `/usr/bin/wget`, `CURL=curl`, but not `curl-7.1.tar.gz`. The first
/// word may also be `@curl`, as in a makefile.
fn client_in(word: &str, at: usize) -> Option<Client> {
    let name = word.rsplit(['/', '=']).next().unwrap_or_default();
    let name = if at == 0 {
        name.trim_start_matches(['@', '-', '+'])
    } else {
        name
    };
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(name.len());
    Client::named(&name[..end])
}

/// Returns true for `name=value`, `name+=value`, `name[0]=value` and `[key]=value`.
fn is_assigning(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.trim_end_matches('+');
        let name = name.split('[').next().unwrap_or_default();
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Returns the parts of a word that may be options or a method: `-d` in `OPTS=-d`. In a path, a URL or a sentence, only
/// what begins with a dash counts, unless the word has an option for the method.
fn parts_that_may_send(word: &str) -> Vec<String> {
    let sets_method = ["-X", "--request", "--method"]
        .iter()
        .any(|option| word.contains(option));
    let is_plain = !word.contains(char::is_whitespace) && !word.contains('/');
    let may_be_method = sets_method || is_plain;
    let mut plain = word.to_owned();
    for operator in OTHER_VALUES {
        plain = plain.replace(operator, " ");
    }
    let parts = plain.split(|c: char| !c.is_ascii_alphanumeric() && !"_-#".contains(c));
    parts
        .filter(|part| may_be_method || part.starts_with('-'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
#[path = "tests/requests.rs"]
mod tests;
