//! Typical mistakes. Each causes one line that says what is wrong, where, and what would be right. Nothing is started.

use crate::util::{Ends, shell, side_by_side};

tests! {
    each_mistake_is_explained_in_a_line
}

/// Shell lines, each followed by its message.
const MISTAKES: &str = include_str!("mistakes.txt");

fn each_mistake_is_explained_in_a_line() {
    let lines: Vec<&str> = MISTAKES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    assert!(
        lines.len() > 240 && lines.len().is_multiple_of(2),
        "{}",
        lines.len()
    );
    let mistakes: Vec<&[&str]> = lines.chunks(2).collect();
    side_by_side(&mistakes, |mistake| {
        is_explained(mistake[0], mistake[1].trim());
    });
}

#[track_caller]
fn is_explained(line: &str, message: &str) {
    let is_not_found = message.starts_with("cannot run");
    let status = if is_not_found { 127 } else { 125 };
    let dir = tempfile::tempdir().unwrap();
    let output = shell(line).current_dir(dir.path()).ends();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, format!("backoff: {message}\n"), "{line}");
    assert_eq!(output.status.code(), Some(status), "{line}");
    assert!(!dir.path().join("ran").exists(), "{line}");
}
