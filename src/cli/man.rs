//! The man page: prose from `backoff.1.in`, options from the table.

use super::table::{OPTIONS, Opt, Takes, titled};

const PROSE: &str = include_str!("backoff.1.in");

/// mandoc asks for lines of at most 80 bytes.
const WIDTH: usize = 78;

pub(super) fn page() -> String {
    PROSE
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@OPTIONS@\n", &options())
}

fn options() -> String {
    let mut text = String::new();
    let mut heading = "";
    for opt in OPTIONS {
        if opt.heading != heading {
            heading = opt.heading;
            text.push_str(&format!(".SS {}\n", titled(heading)));
        }
        text.push_str(&format!(
            ".TP\n{}\n{}",
            names(opt),
            sentences(&format!("{}.", opt.help()))
        ));
        text.push_str(&sentences(opt.more));
    }
    text
}

/// `.BR \-n ", " \-\-attempts " \fIN\fR"`
fn names(opt: &Opt) -> String {
    let long = escape(&format!("--{}", opt.long));
    let value = match opt.takes {
        Takes::Value(name) | Takes::Values(name) => format!(" \" \\fI{}\\fR\"", escape(name)),
        Takes::Optional(name) => format!(" \"[=\\fI{}\\fR]\"", escape(name)),
        Takes::Word(name, _) => match opt.few_words() {
            Some(words) => format!(" \" {}\"", escape(&words)),
            None => format!(" \" \\fI{}\\fR\"", escape(name)),
        },
        Takes::Nothing | Takes::Count => String::new(),
    };
    match opt.short {
        Some(short) => format!(".BR \\-{short} \", \" {long}{value}"),
        None => format!(".BR {long}{value}"),
    }
}

/// Each sentence begins a line, as roff wants it, and lines are short.
fn sentences(text: &str) -> String {
    let mut lines = String::new();
    for sentence in text
        .split_inclusive(". ")
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
    {
        let mut width = 0;
        for word in sentence.split(' ').map(escape) {
            if width > 0 && width + 1 + word.len() > WIDTH {
                lines.push('\n');
                width = 0;
            } else if width > 0 {
                lines.push(' ');
                width += 1;
            }
            width += word.len();
            lines.push_str(&word);
        }
        lines.push('\n');
    }
    lines
}

/// A dash is a minus that can be copied; nothing else here is special to roff.
fn escape(text: &str) -> String {
    text.replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('^', "\\(ha")
        .replace('\'', "\\(aq")
}
