//! The texts that a command may run or read: its words, the script files that it or a script names, and the values of
//! variables that any of these mention. Files come in through [`Surroundings`], each once.

use std::collections::BTreeSet;

use super::clients::SENDING_METHODS;
use super::program::{Inner, file_name, inner_command, variable_name};

/// Limit on files that are read.
const MOST_FILES: usize = 16;
/// Limit on paths that are tried.
const MOST_TRIED: usize = 200;
/// Limit on the depth of files that name files.
const MOST_DEPTH: usize = 3;

/// The variables and files that the command will find when it runs.
pub(crate) trait Surroundings {
    /// Returns the value of a variable in backoff's environment, which the command inherits. None if it is not set.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns the text of a regular file of at most 64 KiB, None for anything else. A relative path begins at
    /// backoff's working directory.
    fn text_file(&self, path: &str) -> Option<String>;
}

/// Returns true if a text mentions curl or wget anywhere.
pub(super) fn mentions_client(text: &str) -> bool {
    text.contains("curl") || text.contains("wget")
}

/// A text that the command may run.
pub(super) struct Text {
    pub(super) content: String,
    /// The path of a file, None for words of the command and for variables.
    pub(super) file: Option<String>,
}

#[derive(Default)]
pub(super) struct Texts {
    pub(super) all: Vec<Text>,
    /// Functions that they define.
    pub(super) functions: BTreeSet<String>,
    /// Directories that they change to, each with a trailing slash.
    directories: BTreeSet<String>,
    /// Number of paths tried.
    tried: usize,
}

impl Texts {
    /// Collects the words of a command, the files that it names, and the variables that any of these mention.
    /// `innermost` are its words after wrappers.
    pub(super) fn collect(
        command: &[&str],
        innermost: &[&str],
        surroundings: &dyn Surroundings,
    ) -> Texts {
        let mut texts = Texts::default();
        texts.add_words(command, surroundings);
        let arguments = match inner_command(innermost) {
            Inner::Script { arguments, .. } => arguments,
            _ => innermost.get(1..).unwrap_or_default().to_vec(),
        };
        // A program's path may be that of a script, and any operand its file.
        let program = innermost.iter().take(1).filter(|word| word.contains('/'));
        let operands = innermost
            .iter()
            .skip(1)
            .filter(|word| !word.starts_with('-'));
        for path in program.chain(operands) {
            texts.add_file(path, 0, surroundings);
        }
        if texts.all.iter().any(|text| has_arguments(&text.content)) {
            texts.add_settings(&arguments);
        }
        texts.add_variables(surroundings);
        texts
    }

    /// Adds the words of a command, and the files that they name. Words with a space are texts, the others form one
    /// text.
    fn add_words(&mut self, command: &[&str], surroundings: &dyn Surroundings) {
        let mut joined = String::new();
        for word in command {
            if word.contains(char::is_whitespace) {
                self.add_files_of(word, "", 0, surroundings);
                self.add((*word).to_owned(), None);
                joined += "Q ";
            } else {
                joined += &format!("{word} ");
            }
        }
        self.add_files_of(&joined, "", 0, surroundings);
        self.add(joined, None);
    }

    /// Adds words that a call may get: those of the command after a script (`"$@"`, `$1`), or of a variable.
    fn add_settings(&mut self, words: &[&str]) {
        let lines: Vec<String> = words.iter().map(|word| format!("set -- {word}")).collect();
        self.add(lines.join("\n"), None);
    }

    /// Adds the values of the variables that the texts mention. A value that mentions a client is a text itself.
    fn add_variables(&mut self, surroundings: &dyn Surroundings) {
        let names: BTreeSet<String> = self
            .all
            .iter()
            .flat_map(|text| variables(&text.content))
            .map(str::to_owned)
            .collect();
        for value in names.iter().filter_map(|name| surroundings.variable(name)) {
            if mentions_client(&value) {
                self.add(value, None);
            } else {
                // A token may contain a dash anywhere.
                let is_option =
                    |word: &&str| word.starts_with('-') || SENDING_METHODS.contains(word);
                let words: Vec<&str> = value.split_whitespace().filter(is_option).collect();
                self.add_settings(&words);
            }
        }
    }

    fn add(&mut self, content: String, file: Option<String>) {
        self.functions.extend(functions(&content));
        self.directories.extend(directories(&content));
        self.all.push(Text { content, file });
    }

    /// Adds the script files that a text names. `directory` is that of the text, with a trailing slash.
    fn add_files_of(
        &mut self,
        text: &str,
        directory: &str,
        depth: usize,
        surroundings: &dyn Surroundings,
    ) {
        if depth >= MOST_DEPTH {
            return;
        }
        // The text may have changed to a directory above its own, or to another one.
        let above = directory
            .rmatch_indices('/')
            .map(|(end, _)| &directory[..=end]);
        let mut places: Vec<String> = above.take(3).map(str::to_owned).collect();
        places.extend(directories(text));
        places.extend(self.directories.iter().cloned());
        places.push(String::new());
        for path in script_files(text) {
            let path = path.trim_start_matches("./");
            let mut paths = places.iter().map(|place| format!("{place}{path}"));
            paths.any(|path| self.add_file(&path, depth, surroundings));
        }
    }

    /// Adds a file once, and those that it names. Returns false if there is no such text.
    fn add_file(&mut self, path: &str, depth: usize, surroundings: &dyn Surroundings) -> bool {
        let files = self.all.iter().filter_map(|text| text.file.as_deref());
        if files.clone().any(|known| known == path) {
            return true;
        }
        if files.count() >= MOST_FILES || self.tried >= MOST_TRIED {
            return false;
        }
        self.tried += 1;
        let Some(content) = surroundings.text_file(path) else {
            return false;
        };
        let directory = &path[..path.len() - file_name(path).len()];
        self.add(content.clone(), Some(path.to_owned()));
        self.add_files_of(&content, directory, depth + 1, surroundings);
        true
    }
}

/// Returns the names of the variables that a text mentions.
fn variables(text: &str) -> Vec<&str> {
    let parts = text.split('$').skip(1);
    let names = parts.map(variable_name);
    names.filter(|name| !name.is_empty()).collect()
}

/// Returns true if a text takes arguments: `$1`, `"$@"`.
fn has_arguments(text: &str) -> bool {
    let mut parts = text.split('$').skip(1);
    parts.any(|part| {
        let part = part.strip_prefix('{').unwrap_or(part);
        part.starts_with(|c: char| "@*".contains(c) || c.is_ascii_digit())
    })
}

/// Returns the functions that a text defines: `name() {`, `function name {`.
fn functions(text: &str) -> Vec<String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let mut names = Vec::new();
    for (index, _) in text.match_indices("()") {
        let before = text[..index].trim_end();
        let start = before.trim_end_matches(is_of_name).len();
        names.push(before[start..].to_owned());
    }
    for (index, keyword) in text.match_indices("function ") {
        let name = text[index + keyword.len()..].trim_start();
        let end = name.find(|c| !is_of_name(c)).unwrap_or(name.len());
        names.push(name[..end].to_owned());
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the directories that a text changes to: `cd ci`, `env -C ci`, `sudo -D ci`.
fn directories(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut previous = "";
    for word in text.split_whitespace() {
        let word = word.trim_matches(['"', '\'', ';', ')', '(']);
        let named = match word.strip_prefix("--chdir=") {
            Some(named) => named,
            None if ["cd", "pushd", "-C", "-D", "--chdir"].contains(&previous) => word,
            None => "",
        };
        let known = known_end(named).trim_end_matches('/');
        if !known.is_empty() && !known.starts_with('-') {
            found.push(format!("{known}/"));
        }
        previous = word;
    }
    found
}

/// Returns the paths of script files that a text may name: a word with a script's extension, a word after a shell, `.`
/// or `source`, and a path that is the first word of a line. Of `$DIR/lib.sh`, only the part after the variable is
/// known.
fn script_files(text: &str) -> Vec<String> {
    const ENDINGS: [&str; 4] = [".sh", ".bash", ".zsh", ".ksh"];
    const RUN_FILES: [&str; 7] = [".", "source", "sh", "bash", "dash", "zsh", "ksh"];
    let mut paths = Vec::new();
    for line in text.split(['\n', ';', '|', '&', '`', '(']) {
        let mut previous = "";
        for (index, word) in line.split_whitespace().enumerate() {
            let word = word.trim_matches(['"', '\'', ')', '<']);
            let is_named = ENDINGS.iter().any(|ending| word.ends_with(ending))
                || RUN_FILES.contains(&previous)
                || index == 0 && word.contains('/');
            if is_named && !word.contains("://") {
                paths.push(known_end(word).to_owned());
            }
            // After an option, a shell may still name its file: `bash -e post.sh`.
            if !word.starts_with('-') {
                previous = word;
            }
        }
    }
    paths.retain(|path| !path.is_empty());
    paths
}

/// Returns what follows the last variable or substitution in a path: `lib/post.sh` for `$DIR/lib/post.sh`.
fn known_end(path: &str) -> &str {
    let unknown = path.rfind(['$', '}', ')', '"', '`']);
    match unknown {
        Some(at) => path[at..].split_once('/').map_or("", |(_, end)| end),
        None => path,
    }
}
