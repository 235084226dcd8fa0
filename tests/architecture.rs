//! No module of `src/` uses a module above it. docs/DESIGN.md has the map.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::util::documents::ROOT;

tests! {
    no_room_uses_one_above_it
}

/// The modules of `src/` from top to bottom.
const ROOMS: [&str; 11] = [
    "plan", "config", "cli", "presets", "process", "budget", "report", "run", "policy", "search",
    "text",
];

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn no_room_uses_one_above_it() {
    let uses = Regex::new(r"(?m)^[^/\n]*?\bcrate::(\w+)").unwrap();
    for (level, room) in ROOMS.iter().enumerate() {
        for file in files(&Path::new(ROOT).join("src").join(room)) {
            if file.to_str().unwrap().contains("test") {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            for used in uses.captures_iter(&text) {
                let used = ROOMS.iter().position(|other| *other == &used[1]);
                let is_above = used.is_some_and(|used| used < level);
                assert!(!is_above, "{} uses {}", file.display(), ROOMS[used.unwrap()]);
            }
        }
    }
}
