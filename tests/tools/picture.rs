//! The picture in the README and the run above it, with real curl and a server that is overloaded at first.
//! `BLESS=1 cargo test --test tools picture` rewrites both.

use std::fs;

use crate::common::readme::{README, first_block, text_of, with_times_of, without_times};
use crate::common::{Ends, shell};
use crate::server;

tests! {
    the_readme_shows_a_real_run ["curl"]
}

const OF_A_MISSING_PAGE: &str =
    "backoff --for curl -t 30s -d 5m -- curl -fsSO http://example.com/missing.tar.gz";

/// A seed of short waits that grow each time, as most waits do.
const SEED: &str = "3";

fn the_readme_shows_a_real_run() {
    let command = first_block()
        .lines()
        .next()
        .unwrap()
        .strip_prefix("$ ")
        .unwrap();
    let scenes = play(&[command, OF_A_MISSING_PAGE]);
    let block = plain(&scenes[0]);
    let path = |file: &str| format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(path("README.md"), README.replacen(first_block(), &block, 1)).unwrap();
        fs::write(path("docs/terminal.svg"), draw(&scenes.concat())).unwrap();
        return;
    }
    assert_eq!(
        without_times(first_block()),
        without_times(&block),
        "the README has drifted: BLESS=1"
    );
    let committed = fs::read_to_string(path("docs/terminal.svg")).unwrap();
    let drawn = draw(&with_times_of(&text_of(&committed), &scenes.concat()));
    assert_eq!(committed, drawn, "docs/terminal.svg has drifted: BLESS=1");
}

/// Runs the commands. Returns each command after a prompt, with its output in color.
fn play(commands: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let to_us = format!(
        "connect-to = \"example.com:80:{}\"\nnoproxy = \"*\"\n",
        server::start()
    );
    fs::write(dir.path().join(".curlrc"), to_us).unwrap();
    let play = |command: &&str| {
        let mut shell = shell(&format!("exec 2>&1; {command}"));
        shell
            .current_dir(dir.path())
            .env("CURL_HOME", dir.path())
            .env("BACKOFF_COLOR", "always")
            .env("BACKOFF_SEED", SEED);
        format!(
            "$ {command}\n{}",
            String::from_utf8(shell.ends().stdout).unwrap()
        )
    };
    commands.iter().map(play).collect()
}

/// Returns the text of a scene without colors.
fn plain(scene: &str) -> String {
    let text = characters(scene).into_iter().map(|(c, _)| c);
    text.collect()
}

/// Returns each character with its class in the picture: the number of its color (SGR), or part of a command line.
fn characters(scene: &str) -> Vec<(char, &str)> {
    let mut characters = Vec::new();
    let mut rest = scene;
    let mut color = "";
    while let Some(c) = rest.chars().next() {
        if let Some(sequence) = rest.strip_prefix("\x1b[") {
            (color, rest) = sequence.split_once('m').expect("a color");
            continue;
        }
        characters.push((c, color));
        rest = &rest[c.len_utf8()..];
    }
    characters
}

const COLUMNS: usize = 88;
/// Width at 14 pixels of most monospaced fonts.
const COLUMN: f64 = 8.43;
const LINE: usize = 20;
const MARGIN: usize = 16;

/// The picture has its own background, and follows the reader's preference for light or dark.
const STYLE: &str = "<style>
rect { fill: #f6f8fa; stroke: #d1d9e0 }
text { fill: #1f2328; white-space: pre; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }
.command { font-weight: 600 }
.c31 { fill: #b31d28 }
.c32 { fill: #1a7f37 }
.c33 { fill: #8a5a00 }
@media (prefers-color-scheme: dark) {
rect { fill: #151b23; stroke: #3d444d }
text { fill: #f0f6fc }
.c31 { fill: #ff7b72 }
.c32 { fill: #56d364 }
.c33 { fill: #e3b341 }
}
</style>
";

fn draw(scene: &str) -> String {
    let rows: Vec<String> = scene.split_inclusive('\n').flat_map(rows).collect();
    let width = (COLUMNS as f64 * COLUMN) as usize + 2 * MARGIN;
    let height = rows.len() * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <!-- Made from a real run by tests/tools/picture.rs. -->\n\
         <title>Two runs of backoff in a terminal</title>\n{STYLE}\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n",
        width - 1,
        height - 1,
    );
    for (i, row) in rows.iter().enumerate() {
        // 15 of 20 pixels are above the base line.
        svg.push_str(&format!(
            "<text x=\"{MARGIN}\" y=\"{}\">{row}</text>\n",
            MARGIN + i * LINE + 15
        ));
    }
    svg + "</svg>\n"
}

/// Breaks a line between words, and adds the markup of its colors.
fn rows(line: &str) -> Vec<String> {
    let mut characters = characters(line.trim_end());
    if line.starts_with("$ ") {
        characters
            .iter_mut()
            .skip(2)
            .for_each(|(_, class)| *class = "command");
    }
    let mut rows = Vec::new();
    let mut rest = &characters[..];
    while rest.len() > COLUMNS {
        let space = rest[..=COLUMNS]
            .iter()
            .rposition(|(c, _)| *c == ' ')
            .expect("a space");
        rows.push(marked_up(&rest[..space]));
        rest = &rest[space + 1..];
    }
    rows.push(marked_up(rest));
    rows
}

fn marked_up(characters: &[(char, &str)]) -> String {
    let mut row = String::new();
    for part in characters.chunk_by(|one, other| one.1 == other.1) {
        let text: String = part.iter().map(|(c, _)| c).collect();
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('"', "&quot;");
        match part[0].1 {
            "" | "0" => row.push_str(&text),
            "command" => row.push_str(&format!("<tspan class=\"command\">{text}</tspan>")),
            color => row.push_str(&format!("<tspan class=\"c{color}\">{text}</tspan>")),
        }
    }
    row
}
