//! Who imports whom: the paths in a crate's sources, and what is wrong with them.
//!
//! A path is read as the compiler reads it, from tokens, so comments and strings are none. What a macro of another crate
//! makes of its input is not known here.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// A file below `src/`, the extension included.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: String,
    pub text: String,
}

/// A path in one file that leads to another.
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

type Path = Vec<String>;

/// All arrows between the files, in order.
pub fn arrows(sources: &[Source]) -> Vec<Arrow> {
    let trees: Vec<(&Source, Vec<TokenTree>)> = sources.iter().map(|source| (source, tokens(source))).collect();
    let mut modules = Modules::default();
    for (source, tokens) in &trees {
        let module = module_of(&source.path);
        modules.add(&module, &source.path);
        modules.declare(tokens, &module, &source.path);
    }
    let mut all = BTreeSet::new();
    for (source, tokens) in &trees {
        let mut reader = Reader {
            modules: &modules,
            file: &source.path,
            found: &mut all,
        };
        reader.module(tokens, &module_of(&source.path), &HashMap::new());
    }
    all.into_iter().collect()
}

fn tokens(Source { path, text }: &Source) -> Vec<TokenTree> {
    let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    stream.into_iter().collect()
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`.
fn module_of(path: &str) -> Path {
    let path = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
    let mut module: Path = path.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

/// Where each module stands: in a file of its own, in several (one for each platform), or within another's file.
#[derive(Default)]
struct Modules {
    files: HashMap<Path, Vec<String>>,
}

impl Modules {
    fn add(&mut self, module: &[String], file: &str) {
        self.files.entry(module.to_vec()).or_default().push(file.to_owned());
    }

    /// Inline modules, and those that `#[path]` takes from elsewhere.
    fn declare(&mut self, tokens: &[TokenTree], module: &[String], file: &str) {
        let mut path = None;
        for (i, token) in tokens.iter().enumerate() {
            path = path_attribute(tokens, i).or(path);
            if let Some((name, body)) = module_at(tokens, i) {
                let child = below(module, &name);
                match (body, path.take()) {
                    (Some(body), _) => {
                        self.add(&child, file);
                        self.declare(&inside(body), &child, file);
                    }
                    (None, Some(path)) => {
                        let (folder, _) = file.rsplit_once('/').unwrap_or_default();
                        self.add(&child, &format!("{folder}/{path}"));
                    }
                    (None, None) => {}
                }
            } else if let TokenTree::Group(group) = token {
                self.declare(&inside(group), module, file);
            }
        }
    }

    /// The files of the innermost module that the path goes through.
    fn of(&self, path: &[String]) -> &[String] {
        let innermost = (0..=path.len())
            .rev()
            .find_map(|length| self.files.get(&path[..length]));
        innermost.map_or(&[], Vec::as_slice)
    }

    fn is_module(&self, path: &[String]) -> bool {
        self.files.contains_key(path)
    }
}

struct Reader<'a> {
    modules: &'a Modules,
    file: &'a str,
    found: &'a mut BTreeSet<Arrow>,
}

/// The names in a scope that stand for a module of this crate.
type Names = HashMap<String, Path>;

impl Reader<'_> {
    fn module(&mut self, tokens: &[TokenTree], module: &[String], outer: &Names) {
        let mut names = outer.clone();
        self.child_modules(tokens, module, &mut names);
        self.imports(tokens, module, &mut names);
        self.paths(tokens, module, &names);
    }

    fn child_modules(&self, tokens: &[TokenTree], module: &[String], names: &mut Names) {
        for i in 0..tokens.len() {
            if let Some((name, _)) = module_at(tokens, i) {
                names.insert(name.clone(), below(module, &name));
            }
        }
    }

    /// Every `use`, also those within functions.
    fn imports(&mut self, tokens: &[TokenTree], module: &[String], names: &mut Names) {
        let mut i = 0;
        while i < tokens.len() {
            if is_word(tokens.get(i), "use") && !is_word(tokens.get(i + 1), "<") {
                let end = (i..tokens.len())
                    .find(|end| is_sign(tokens.get(*end), ';'))
                    .unwrap_or(tokens.len());
                self.import(&tokens[i + 1..end], &[], module, names);
                i = end;
            } else if module_at(tokens, i).is_some_and(|(_, body)| body.is_some()) {
                i += 3;
            } else {
                if let TokenTree::Group(group) = &tokens[i] {
                    self.imports(&inside(group), module, names);
                }
                i += 1;
            }
        }
    }

    /// One branch of a `use`, below `prefix`.
    fn import(&mut self, tree: &[TokenTree], prefix: &[Ident], module: &[String], names: &mut Names) {
        let mut words = prefix.to_vec();
        let mut alias = None;
        let mut rest = tree;
        while let Some(token) = rest.first() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    for branch in inside(group).split(|token| is_sign(Some(token), ',')) {
                        if !branch.is_empty() {
                            self.import(branch, &words, module, names);
                        }
                    }
                    return;
                }
                TokenTree::Ident(word) if word == "as" => {
                    alias = rest.get(1).map(ToString::to_string);
                    break;
                }
                // `a::{self}` is `a`.
                TokenTree::Ident(word) if word == "self" && !words.is_empty() => {}
                TokenTree::Ident(word) => words.push(word.clone()),
                // `*` and `::`
                _ => {}
            }
            rest = &rest[1..];
        }
        let line = tree.iter().rev().find_map(|token| match token {
            TokenTree::Ident(word) => Some(word.span().start().line),
            _ => None,
        });
        if let Some(path) = self.arrow(&words, line, module, names)
            && self.modules.is_module(&path)
            && let Some(name) = alias.or_else(|| path.last().cloned())
        {
            names.insert(name, path);
        }
    }

    /// Every path outside of a `use`.
    fn paths(&mut self, tokens: &[TokenTree], module: &[String], names: &Names) {
        let mut i = 0;
        while i < tokens.len() {
            if is_word(tokens.get(i), "use") {
                i = (i..tokens.len())
                    .find(|end| is_sign(tokens.get(*end), ';'))
                    .unwrap_or(tokens.len());
            } else if let Some((name, Some(body))) = module_at(tokens, i) {
                self.module(&inside(body), &below(module, &name), names);
                i += 3;
            } else if is_word(tokens.get(i), "pub") && matches!(tokens.get(i + 1), Some(TokenTree::Group(_))) {
                // `pub(in crate::a)`
                i += 2;
            } else if let TokenTree::Group(group) = &tokens[i] {
                self.paths(&inside(group), module, names);
                i += 1;
            } else if matches!(&tokens[i], TokenTree::Ident(_)) && !is_path_sign(tokens, i.wrapping_sub(2)) {
                let words = path_at(tokens, i);
                if words.len() > 1 {
                    self.arrow(&words, None, module, names);
                }
                i += 3 * words.len() - 2;
            } else {
                i += 1;
            }
        }
    }

    /// Notes where a path leads to; where that is, if it is in this crate.
    fn arrow(&mut self, words: &[Ident], line: Option<usize>, module: &[String], names: &Names) -> Option<Path> {
        let (first, rest) = words.split_first()?;
        let mut path = match first.to_string().as_str() {
            "crate" => Vec::new(),
            "self" => module.to_vec(),
            "super" => above(module),
            other => names.get(other)?.clone(),
        };
        for word in rest {
            match word.to_string().as_str() {
                "super" => path = above(&path),
                "self" => {}
                word => path.push(word.to_owned()),
            }
        }
        for to in self.modules.of(&path) {
            if to != self.file {
                self.found.insert(Arrow {
                    from: self.file.to_owned(),
                    line: line.unwrap_or_else(|| first.span().start().line),
                    to: to.clone(),
                });
            }
        }
        Some(path)
    }
}

/// `mod name;` and `mod name { ... }`
fn module_at(tokens: &[TokenTree], i: usize) -> Option<(String, Option<&Group>)> {
    let (true, Some(TokenTree::Ident(name))) = (is_word(tokens.get(i), "mod"), tokens.get(i + 1)) else {
        return None;
    };
    match tokens.get(i + 2) {
        Some(TokenTree::Group(body)) => Some((name.to_string(), Some(body))),
        end => is_sign(end, ';').then(|| (name.to_string(), None)),
    }
}

/// The file in `#[path = "..."]`.
fn path_attribute(tokens: &[TokenTree], i: usize) -> Option<String> {
    let (true, Some(TokenTree::Group(group))) = (is_sign(tokens.get(i), '#'), tokens.get(i + 1)) else {
        return None;
    };
    match inside(group).as_slice() {
        [TokenTree::Ident(path), _, TokenTree::Literal(file)] if path == "path" => {
            Some(file.to_string().trim_matches('"').to_owned())
        }
        _ => None,
    }
}

/// The words of the path that begins here.
fn path_at(tokens: &[TokenTree], mut i: usize) -> Vec<Ident> {
    let mut words = Vec::new();
    while let Some(TokenTree::Ident(word)) = tokens.get(i) {
        words.push(word.clone());
        if !is_path_sign(tokens, i + 1) {
            break;
        }
        i += 3;
    }
    words
}

fn is_path_sign(tokens: &[TokenTree], i: usize) -> bool {
    is_sign(tokens.get(i), ':') && is_sign(tokens.get(i.wrapping_add(1)), ':')
}

fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

fn inside(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn below(module: &[String], name: &str) -> Path {
    let mut path = module.to_vec();
    path.push(name.to_owned());
    path
}

fn above(module: &[String]) -> Path {
    module[..module.len().saturating_sub(1)].to_vec()
}

/// Arrows that go up: to a room that stands earlier in `order`. And rooms that import each other.
pub fn arrows_up(arrows: &[Arrow], order: &[&str], room: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let place = |room: &str| order.iter().position(|other| *other == room);
    let mut problems = Vec::new();
    let mut between: BTreeMap<(String, String), &Arrow> = BTreeMap::new();
    for arrow in arrows {
        let (Some(from), Some(to)) = (room(&arrow.from), room(&arrow.to)) else {
            continue;
        };
        match (place(&from), place(&to)) {
            (Some(lower), Some(upper)) if lower > upper => {
                problems.push(format!("{arrow}: {from} stands below {to}"));
            }
            (Some(_), Some(_)) => {}
            _ => problems.push(format!("{arrow}: {from} or {to} is no room of the list")),
        }
        if from != to {
            between.entry((from, to)).or_insert(arrow);
        }
    }
    for ((from, to), there) in &between {
        if from < to
            && let Some(back) = between.get(&(to.clone(), from.clone()))
        {
            problems.push(format!("{from} and {to} import each other: {there}, {back}"));
        }
    }
    problems
}

/// Files of one room that lead to each other, each circle with its arrows.
pub fn circles(arrows: &[Arrow], room: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeMap<&str, &Arrow>> = BTreeMap::new();
    for arrow in arrows {
        if room(&arrow.from) == room(&arrow.to) {
            next.entry(&arrow.from).or_default().entry(&arrow.to).or_insert(arrow);
        }
    }
    let reached = |from: &str| {
        let mut reached = HashSet::new();
        let mut open = vec![from];
        while let Some(file) = open.pop() {
            for to in next.get(file).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(*to) {
                    open.push(to);
                }
            }
        }
        reached
    };
    let reach: BTreeMap<&str, HashSet<&str>> = next.keys().map(|file| (*file, reached(file))).collect();
    let meets = |a: &str, b: &str| {
        let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|reached| reached.contains(to));
        reaches(a, b) && reaches(b, a)
    };
    let mut told = HashSet::new();
    let mut problems = Vec::new();
    for file in reach.keys() {
        let circle: Vec<&str> = reach.keys().filter(|other| meets(file, other)).copied().collect();
        if circle.is_empty() || !circle.iter().all(|file| told.insert(*file)) {
            continue;
        }
        let mut within: Vec<&Arrow> = circle.iter().flat_map(|file| next[file].values().copied()).collect();
        within.retain(|arrow| circle.contains(&arrow.to.as_str()));
        within.sort();
        let within: Vec<String> = within.into_iter().map(Arrow::to_string).collect();
        problems.push(format!("a circle: {}", within.join(", ")));
    }
    problems
}
