//! Compares `docs/messages.md`, which shows every message, with the output of the binary in each situation.
//! `BLESS=1 cargo test` rewrites the document.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use regex::{Captures, Regex};

use crate::common::calm::when_calm;
use crate::common::{Ends, shell, side_by_side};

const SITUATIONS: &str = include_str!("messages.situations");

/// The text around the sections, and the messages that no test can cause.
const FRAME: &str = include_str!("messages.md.in");

/// Messages with one meaning, and the scripts that cause them.
#[derive(Debug, Default)]
struct Entry {
    heading: &'static str,
    meaning: &'static str,
    to_do: &'static str,
    scripts: Vec<&'static str>,
}

#[derive(Debug)]
struct Section {
    heading: &'static str,
    note: String,
    /// The lines of backoff to show: `all`, `last`, or the first.
    shows: &'static str,
    entries: Vec<Entry>,
    /// Scripts whose messages explain themselves.
    mistakes: Vec<&'static str>,
}

fn sections() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in SITUATIONS.lines().filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix("# ") {
            sections.push(Section {
                heading,
                note: String::new(),
                shows: "",
                entries: Vec::new(),
                mistakes: Vec::new(),
            });
        } else {
            let section = sections.last_mut().expect("a heading comes first");
            add_line(section, line);
        }
    }
    sections
}

fn add_line(section: &mut Section, line: &'static str) {
    if let Some(shows) = line.strip_prefix("shows: ") {
        section.shows = shows;
    } else if let Some(note) = line.strip_prefix("> ") {
        writeln!(section.note, "{note}\n").unwrap();
    } else if let Some(heading) = line.strip_prefix("## ") {
        let entry = Entry {
            heading,
            ..Entry::default()
        };
        section.entries.push(entry);
    } else if let Some(script) = line.strip_prefix("    ") {
        match section.entries.last_mut() {
            Some(entry) => entry.scripts.push(script),
            None => section.mistakes.push(script),
        }
    } else {
        let entry = section.entries.last_mut();
        let entry = entry.unwrap_or_else(|| panic!("a message has a heading (`## `): {line}"));
        match line.strip_prefix("do: ") {
            Some(to_do) => entry.to_do = to_do,
            None => entry.meaning = line,
        }
    }
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
        .filter(|line| line.starts_with("backoff: ") || line.starts_with("::"))
        .map(|line| steady(&line.replace(place, ".")))
        .collect()
}

fn steady(line: &str) -> String {
    const SPAN: &str = r"(\d[\d.]*(?:us|ms|s))";
    let measured = format!(
        r"(attempts? in | after |waiting |another |a wait of ){SPAN}(:|;|,| \(| before| \(| would|$)"
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

/// Returns the lines of the output that the document shows.
fn shown(shows: &str, script: &str) -> Vec<String> {
    let all = lines(script);
    let part = match shows {
        "all" => &all[..],
        "last" => &all[all.len().saturating_sub(1)..],
        _ => &all[..all.len().min(1)],
    };
    assert!(!part.is_empty(), "nothing is said: {script}");
    part.to_vec()
}

/// Returns the document, with the output of the binary.
fn generated() -> String {
    let sections = sections();
    let scripts = sections.iter().flat_map(|section| {
        let of_entries = section.entries.iter().flat_map(|entry| &entry.scripts);
        let scripts = of_entries.chain(&section.mistakes);
        scripts.map(|script| (section.shows, *script))
    });
    let scripts: Vec<(&str, &str)> = scripts.collect();
    let mut shown = side_by_side(&scripts, |(shows, script)| shown(shows, script)).into_iter();
    let mut text = String::new();
    for section in &sections {
        text.truncate(text.trim_end().len());
        write!(text, "\n\n## {}\n\n{}", section.heading, section.note).unwrap();
        for entry in &section.entries {
            let printed: Vec<_> = shown.by_ref().take(entry.scripts.len()).collect();
            text += &of_entry(entry, &printed.concat());
        }
        if !section.mistakes.is_empty() {
            let printed: Vec<_> = shown.by_ref().take(section.mistakes.len()).collect();
            text += &of_mistakes(&section.mistakes, &printed);
        }
    }
    FRAME.replace("@MESSAGES@", text.trim())
}

fn of_entry(entry: &Entry, printed: &[String]) -> String {
    let Entry {
        heading,
        meaning,
        to_do,
        ..
    } = entry;
    assert!(
        !meaning.is_empty() && !to_do.is_empty(),
        "{heading}: its meaning and what to do"
    );
    let lines = printed.join("\n");
    format!("### {heading}\n\n```text\n{lines}\n```\n\n{meaning}\n\n**What to do**: {to_do}.\n\n")
}

/// Returns a block with command lines and what they print.
fn of_mistakes(scripts: &[&str], printed: &[Vec<String>]) -> String {
    let parts: Vec<String> = scripts
        .iter()
        .zip(printed)
        .map(|(script, lines)| format!("$ {script}\n{}\n", lines.join("\n")))
        .collect();
    format!("```text\n{}```\n", parts.join("\n"))
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
    let checked = when_calm(3, || differs(generated()).map_or(Ok(()), Err));
    assert_eq!(
        checked,
        Ok(()),
        "docs/messages.md has drifted: run BLESS=1 cargo test"
    );
}
