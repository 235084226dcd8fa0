//! Compares `docs/messages.md`, which shows every message, with the output of the binary in each situation.
//! `BLESS=1 cargo test` rewrites the document.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use regex::{Captures, Regex};

use crate::common::{Ends, shell, side_by_side};

const SITUATIONS: &str = include_str!("messages.situations");

/// The text around the tables, and the messages that no test can cause.
const FRAME: &str = include_str!("messages.md.in");

/// A row: the meaning of a message, and the scripts that cause it.
#[derive(Debug)]
struct Row {
    /// Empty if the script explains the message.
    meaning: &'static str,
    scripts: Vec<&'static str>,
}

#[derive(Debug)]
struct Table {
    heading: &'static str,
    note: String,
    /// The lines of backoff to show: `all`, `last`, or the first.
    shows: &'static str,
    rows: Vec<Row>,
}

fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for line in SITUATIONS.lines().filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix("# ") {
            tables.push(Table {
                heading,
                note: String::new(),
                shows: "",
                rows: Vec::new(),
            });
            continue;
        }
        let table = tables.last_mut().expect("a heading comes first");
        if let Some(shows) = line.strip_prefix("shows: ") {
            table.shows = shows;
        } else if let Some(note) = line.strip_prefix("> ") {
            writeln!(table.note, "{note}\n").unwrap();
        } else if let Some(script) = line.strip_prefix("    ") {
            match table.rows.last_mut() {
                Some(row) if !row.meaning.is_empty() => row.scripts.push(script),
                _ => table.rows.push(Row {
                    meaning: "",
                    scripts: vec![script],
                }),
            }
        } else {
            table.rows.push(Row {
                meaning: line,
                scripts: Vec::new(),
            });
        }
    }
    tables
}

/// Returns the lines of backoff's messages, with variable text replaced.
fn lines(script: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let redis = Regex::new(r"\{redis:(.*?)\}").unwrap();
    let script = redis.replace_all(script, |answer: &Captures<'_>| server(answer[1].to_owned()));
    let mut command = shell(&script);
    let output = command.env_remove("TMPDIR").current_dir(&dir).ends();
    let place = dir.path().to_str().unwrap();
    let said = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
    said.lines()
        .filter(|line| line.starts_with("backoff: "))
        .map(|line| steady(&line.replace(place, ".")))
        .collect()
}

fn steady(line: &str) -> String {
    const SPAN: &str = r"(\d[\d.]*(?:us|ms|s))";
    let measured = format!(
        r"(attempts? in | after |waiting |another |a wait of ){SPAN}(:|;| \(| before| \(| would|$)"
    );
    let line = Regex::new(&measured).unwrap().replace(line, "${1}1.2s$3");
    let line = Regex::new(r"127\.0\.0\.1:\d\d+")
        .unwrap()
        .replace(&line, "127.0.0.1:6379");
    let line = Regex::new(r"\.backoff-env-\w+")
        .unwrap()
        .replace(&line, ".backoff-env-a1B2c3");
    line.into_owned()
}

/// Starts a server that sends `answer` to each client, or closes the connection if `answer` is empty. Returns its
/// address.
fn server(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let answer_to = |mut stream: TcpStream| -> std::io::Result<()> {
            let mut asked = [0; 4096];
            if stream.read(&mut asked)? > 0 && !answer.is_empty() {
                stream.write_all(format!("{answer}\r\n").as_bytes())?;
            } else {
                stream.shutdown(Shutdown::Write)?;
            }
            // Unread data at close would reset the connection.
            while stream.read(&mut asked)? > 0 {}
            Ok(())
        };
        for stream in listener.incoming().flatten() {
            let _ = answer_to(stream);
        }
    });
    // The tests may leave this server without a CPU.
    format!("redis://127.0.0.1:{port}?timeout=20s")
}

/// Formats a text as a cell of a table.
fn cell(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{}{fence}", text.replace('|', "\\|"))
}

/// Returns the part of the output that a cell shows.
fn shown(shows: &str, script: &str) -> String {
    let all = lines(script);
    let part = match shows {
        "all" => &all[..],
        "last" => &all[all.len().saturating_sub(1)..],
        _ => &all[..all.len().min(1)],
    };
    assert!(!part.is_empty(), "nothing is said: {script}");
    let cells: Vec<String> = part.iter().map(|line| cell(line)).collect();
    cells.join("<br>")
}

/// Returns the document, with the output of the binary.
fn generated() -> String {
    let tables = tables();
    let scripts = tables.iter().flat_map(|table| {
        let scripts = table.rows.iter().flat_map(|row| &row.scripts);
        scripts.map(|script| (table.shows, *script))
    });
    let scripts: Vec<(&str, &str)> = scripts.collect();
    let mut shown = side_by_side(&scripts, |(shows, script)| shown(shows, script)).into_iter();
    let mut text = String::new();
    for table in &tables {
        let is_usage = table.rows.iter().all(|row| row.meaning.is_empty());
        let second = if is_usage { "after" } else { "what to do" };
        write!(
            text,
            "\n## {}\n\n{}| backoff says | {second} |\n|---|---|\n",
            table.heading, table.note
        )
        .unwrap();
        for row in &table.rows {
            let cells: Vec<String> = shown.by_ref().take(row.scripts.len()).collect();
            let second = if is_usage {
                cell(row.scripts[0])
            } else {
                row.meaning.replace('|', "\\|")
            };
            writeln!(text, "| {} | {second} |", cells.join("<br>")).unwrap();
        }
    }
    FRAME.replace("@TABLES@\n", &text)
}

#[test]
fn the_document_shows_what_is_said() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/messages.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, generated()).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap();
    let differs = |generated: String| {
        let differs = generated
            .lines()
            .zip(committed.lines())
            .find(|(new, old)| new != old)?;
        Some(format!("{differs:#?}"))
    };
    assert_eq!(
        differs(generated()),
        None,
        "docs/messages.md has drifted: run BLESS=1 cargo test"
    );
}
