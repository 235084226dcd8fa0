//! The documents of the repository, and their fenced blocks.

use std::path::{Path, PathBuf};

pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[derive(Debug)]
pub struct Document {
    /// Path in the repository.
    pub name: String,
    pub text: &'static str,
}

/// A fenced block.
#[derive(Debug)]
pub struct Block {
    pub document: String,
    /// Number of the first line, for messages.
    pub line: usize,
    pub language: &'static str,
    pub lines: Vec<&'static str>,
}

impl Block {
    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    /// Returns a name that tells where the block is.
    pub fn file_name(&self) -> String {
        format!("{}:{}", self.document.replace('/', "_"), self.line)
    }
}

/// Returns all Markdown files of the repository, except build output.
pub fn documents() -> Vec<Document> {
    let mut found = Vec::new();
    let mut directories = vec![PathBuf::from(ROOT)];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let is_ours = name == ".github" || name != "target" && !name.starts_with('.');
                directories.extend(is_ours.then_some(path));
            } else if name.ends_with(".md") {
                found.push(read(&path));
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

pub fn document(name: &str) -> Document {
    read(&Path::new(ROOT).join(name))
}

fn read(path: &Path) -> Document {
    Document {
        name: path
            .strip_prefix(ROOT)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned(),
        text: std::fs::read_to_string(path).unwrap().leak(),
    }
}

pub fn blocks(document: &Document) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in document.text.lines().enumerate() {
        let place = || format!("{}:{}", document.name, i + 1);
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block {
                    document: document.name.clone(),
                    line: i + 2,
                    language,
                    lines: Vec::new(),
                });
            }
            (Some(rest), Some(_)) => {
                assert_eq!(rest, "", "{}: a block opens inside a block", place());
                blocks.extend(open.take());
            }
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {
                let text = line.trim_start();
                let is_fence = text.starts_with("```") || text.starts_with("~~~");
                assert!(
                    !is_fence,
                    "{}: a fence is ``` at the beginning of a line",
                    place()
                );
            }
        }
    }
    assert!(
        open.is_none(),
        "{}: a block is not closed: {open:?}",
        document.name
    );
    blocks
}

/// Returns the inline code in sentences and tables.
pub fn code_spans(document: &Document) -> Vec<String> {
    let mut spans = Vec::new();
    let mut in_block = false;
    for paragraph in document.text.split("\n\n") {
        let mut text = String::new();
        for line in paragraph.lines() {
            in_block ^= line.starts_with("```");
            if !in_block && !line.starts_with("```") {
                text += line;
                text.push('\n');
            }
        }
        let parts = text.replace("\\|", "|").replace('\n', " ");
        spans.extend(parts.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    spans
}
