//! Imports: the paths in the sources of a crate, and the paths that break the rules.
//!
//! The sources are read as tokens. An imported name stands for the same module in the whole file. The output of another
//! crate's macros is unknown.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A file below `src/`.
pub struct Source {
    pub path: String,
    /// The text without comments, literals and visibilities; each line keeps its number.
    pub code: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        static IGNORED: LazyLock<Regex> = LazyLock::new(|| {
            let literal = r##"b?r#".*?"#|b?r"[^"]*"|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^\\'\n])'"##;
            Regex::new(&format!(
                r"(?s)//[^\n]*|/\*.*?\*/|\bpub\s*\([^)]*\)|{literal}"
            ))
            .unwrap()
        });
        let lines =
            |found: &Captures<'_>| " ".to_owned() + &"\n".repeat(found[0].matches('\n').count());
        let (path, code) = (
            path.to_owned(),
            IGNORED.replace_all(text, lines).into_owned(),
        );
        Source { path, code }
    }

    /// Returns the path of the module: `a::b` for `src/a/b.rs` and `src/a/b/mod.rs`.
    fn module(&self) -> Path {
        let path = self
            .path
            .strip_prefix("src/")
            .unwrap_or(&self.path)
            .trim_end_matches(".rs");
        let mut module: Path = path.split('/').map(str::to_owned).collect();
        module.pop_if(|last| ["mod", "lib"].contains(&last.as_str()));
        module
    }
}

type Path = Vec<String>;

/// A path in one file that leads to another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: String,
    pub line: usize,
    pub to: String,
}

impl fmt::Display for Arrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} -> {}", self.from, self.line, self.to)
    }
}

/// A path as it is written in a module.
struct Mention {
    module: Path,
    line: usize,
    words: Path,
    is_import: bool,
    /// The name that an import gives the path.
    name: Option<String>,
}

/// Replaces `a::{b, c}` by `a::b, a::c`, and keeps the line ends.
fn expanded(code: &str) -> String {
    static BRANCHES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"((?:\w+::)+)\{([^{}]*)\}").unwrap());
    let branch = |prefix: &str, item: &str| match item.trim_start() {
        "" => item.to_owned(),
        path => item.replace(path, "") + prefix + path,
    };
    let expand = |found: &Captures<'_>| -> String {
        let branches = found[2].split(',').map(|item| branch(&found[1], item));
        branches.collect::<Vec<_>>().join(",")
    };
    let next = BRANCHES.replace_all(code, expand);
    if next == code {
        next.into_owned()
    } else {
        expanded(&next)
    }
}

/// The contents of a file.
struct Contents {
    inline_modules: Vec<Path>,
    /// The paths of `use` come first.
    mentions: Vec<Mention>,
}

fn read(source: &Source) -> Contents {
    static TOKEN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bmod\s+(\w+)\s*\{|[{};]|(?:\w+::)*(?:\w+|\*)").unwrap());
    let mut reader = Reader::new(source.module());
    for (i, line) in expanded(&source.code).lines().enumerate() {
        for found in TOKEN.captures_iter(line) {
            match found.get(1) {
                Some(name) => reader.enter_module(name.as_str()),
                None => reader.read(&found[0], i + 1),
            }
        }
    }
    let mut contents = reader.contents;
    contents.mentions.sort_by_key(|mention| !mention.is_import);
    contents
}

/// Reads the tokens of a file one after the other.
struct Reader {
    contents: Contents,
    /// The module of each open brace, the file's own module first.
    scopes: Vec<Path>,
    /// True from `use` to its semicolon.
    is_import: bool,
    /// True if the next token is the new name of an import.
    is_renamed: bool,
}

impl Reader {
    fn new(module: Path) -> Reader {
        Reader {
            contents: Contents {
                inline_modules: Vec::new(),
                mentions: Vec::new(),
            },
            scopes: vec![module],
            is_import: false,
            is_renamed: false,
        }
    }

    fn module(&self) -> Path {
        self.scopes.last().cloned().unwrap_or_default()
    }

    fn enter_module(&mut self, name: &str) {
        let module = below(&self.module(), name);
        self.contents.inline_modules.push(module.clone());
        self.scopes.push(module);
    }

    fn read(&mut self, token: &str, line: usize) {
        match token {
            "{" => self.scopes.push(self.module()),
            "}" => drop(self.scopes.pop()),
            "use" => self.is_import = true,
            ";" => self.is_import = false,
            "as" => self.is_renamed = self.is_import,
            name if self.is_renamed => self.rename_last(name),
            path => self.mention(path, line),
        }
    }

    fn rename_last(&mut self, name: &str) {
        self.is_renamed = false;
        let last = self.contents.mentions.last_mut().unwrap();
        last.name = Some(name.to_owned());
    }

    fn mention(&mut self, path: &str, line: usize) {
        // `a::{self}` is `a`.
        let path = path.trim_end_matches("::self");
        let words: Path = path.split("::").map(str::to_owned).collect();
        let name = if self.is_import {
            words.last().cloned()
        } else {
            None
        };
        self.contents.mentions.push(Mention {
            module: self.module(),
            line,
            words,
            is_import: self.is_import,
            name,
        });
    }
}

fn below(module: &Path, name: &str) -> Path {
    [module.as_slice(), &[name.to_owned()]].concat()
}

/// Returns all arrows between the files, in order.
pub fn arrows(sources: &[Source]) -> Vec<Arrow> {
    let mut files: HashMap<Path, &String> = sources
        .iter()
        .map(|source| (source.module(), &source.path))
        .collect();
    let mut mentions = Vec::new();
    for source in sources {
        let contents = read(source);
        for module in contents.inline_modules {
            files.insert(module, &source.path);
        }
        mentions.push((&source.path, contents.mentions));
    }
    let mut all = BTreeSet::new();
    for (from, of_file) in mentions {
        let mut names = HashMap::new();
        for mention in of_file
            .iter()
            .filter(|mention| mention.is_import || mention.words.len() > 1)
        {
            let Some(path) = resolved(mention, &names, &files) else {
                continue;
            };
            // The innermost module that the path goes through.
            let to = (0..=path.len())
                .rev()
                .find_map(|length| files.get(&path[..length]));
            if let Some(&to) = to.filter(|to| **to != from) {
                let (from, line, to) = (from.clone(), mention.line, to.clone());
                all.insert(Arrow { from, line, to });
            }
            if let Some(name) = mention.name.clone().filter(|_| files.contains_key(&path)) {
                names.insert(name, path);
            }
        }
    }
    all.into_iter().collect()
}

/// Returns the full path, in this crate, of a mention.
fn resolved(
    mention: &Mention,
    names: &HashMap<String, Path>,
    files: &HashMap<Path, &String>,
) -> Option<Path> {
    let Mention { module, words, .. } = mention;
    let child = below(module, &words[0]);
    let mut path = match words[0].as_str() {
        "crate" => Path::new(),
        "self" => module.clone(),
        "super" => module[..module.len().saturating_sub(1)].to_vec(),
        _ if files.contains_key(&child) => child,
        name => names.get(name)?.clone(),
    };
    for word in &words[1..] {
        match word.as_str() {
            "super" => drop(path.pop()),
            word => path.push(word.to_owned()),
        }
    }
    Some(path)
}

/// Returns the arrows to a module earlier in `order`. If two modules import each other, one of the two arrows is such
/// an arrow.
pub fn arrows_up(
    arrows: &[Arrow],
    order: &[&str],
    room: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let place = |room: &str| order.iter().position(|other| *other == room).expect(room);
    let mut problems = Vec::new();
    for arrow in arrows {
        if let (Some(from), Some(to)) = (room(&arrow.from), room(&arrow.to))
            && place(&from) > place(&to)
        {
            problems.push(format!("{arrow}: {from} stands below {to}"));
        }
    }
    problems
}

/// Returns the arrows between files of one module that lead to each other.
pub fn circles(arrows: &[Arrow], room: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_within = |arrow: &&Arrow| room(&arrow.from) == room(&arrow.to);
    let mut left: Vec<&Arrow> = arrows.iter().filter(is_within).collect();
    let mut count = usize::MAX;
    // An arrow of a circle begins where another arrow ends, and ends where another arrow begins.
    while left.len() < count {
        count = left.len();
        let (from, to): (HashSet<_>, HashSet<_>) =
            left.iter().map(|arrow| (&arrow.from, &arrow.to)).unzip();
        left.retain(|arrow| to.contains(&arrow.from) && from.contains(&arrow.to));
    }
    let shown: Vec<String> = left.into_iter().map(Arrow::to_string).collect();
    (!shown.is_empty()).then(|| format!("a circle: {}", shown.join(", ")))
}
