//! `docs/options.md` has the text of the man page, with a heading for each option to link to. `BLESS=1 cargo test`
//! rewrites it.

use std::iter::Peekable;
use std::str::Lines;

use crate::generated::has_not_drifted;
use crate::util::options::OPTIONS;
use crate::util::{Ends, backoff};

tests! {
    the_options_page_is_of_the_man_page
}

const INTRODUCTION: &str = "\
<!-- Made from the man page: BLESS=1 cargo test generated -->
# Options

The text of the man page. Sections named in capitals, such as WAITS AND JITTER, are below:
";

/// The sections of the man page that follow the options, in this order. Other pages have the rest.
const DETAILS: [(&str, &str); 10] = [
    ("VALUES", "Values"),
    ("WAITS AND JITTER", "Waits and jitter"),
    ("LOOPS", "Loops"),
    ("IDEMPOTENCY", "Idempotency"),
    ("PLAN", "Plan"),
    ("DETAILED OPERATION", "Detailed operation"),
    ("SIGNALS", "Signals"),
    ("ENVIRONMENT", "Environment"),
    ("FILES", "Files"),
    ("REDIS", "Redis"),
];

fn the_options_page_is_of_the_man_page() {
    let page = options_page(&backoff("--generate man").code(0).out());
    has_not_drifted("docs/options.md", &page);
    for opt in OPTIONS.iter() {
        let heading = format!("\n### --{}\n", opt.long);
        assert!(page.contains(&heading), "{heading}");
    }
}

fn options_page(manual: &str) -> String {
    let links = DETAILS.map(|(_, heading)| {
        let anchor = heading.to_lowercase().replace(' ', "-");
        format!("[{heading}](#{anchor})")
    });
    let details =
        DETAILS.map(|(name, heading)| format!("\n## {heading}\n{}", section(manual, name)));
    format!(
        "{INTRODUCTION}{}.\nThe [README](../README.md#exit-status) lists exit statuses, and \
         [configuration.md](configuration.md) explains the config file.\n{}{}",
        links.join(",\n"),
        section(manual, "OPTIONS"),
        details.concat()
    )
}

/// Returns a section of the manual in Markdown, with one paragraph per line.
fn section(manual: &str, name: &str) -> String {
    let is_start =
        |line: &str| line.strip_prefix(".SH ").map(|rest| rest.trim_matches('"')) == Some(name);
    let mut lines = manual.lines().peekable();
    lines.find(|line| is_start(line)).expect(name);
    let mut page = String::from("\n");
    while let Some(line) = lines.next_if(|line| !line.starts_with(".SH ")) {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        match request {
            ".SS" => page += &format!("\n\n## {}\n\n", rest.trim_matches('"')),
            ".PP" => page += "\n\n",
            ".TP" => page += &term(&mut lines),
            ".IP" => page += &format!("\n\n{} ", arguments(rest)[0]),
            // These define the apostrophe.
            ".ie" | ".el" => {}
            _ => page += &format!("{}\n", text(line)),
        }
    }
    tidy(&page)
}

/// Returns a heading for an option, and a list item for any other term.
fn term(lines: &mut Peekable<Lines<'_>>) -> String {
    let line = lines.next().expect(".TP has a term");
    match line.split_once("\\fB\\-\\-") {
        Some((_, names)) if line.starts_with("\\fB") => {
            let (long, _) = names.split_once("\\fR").unwrap();
            let (long, usage) = (without_fonts(long), without_fonts(line));
            format!("\n\n### --{long}\n\n`{usage}`\n\n")
        }
        _ => format!("\n\n- {}: ", text(line)),
    }
}

/// Converts a line of plain text, or of a font request such as `.BR`.
fn text(line: &str) -> String {
    let Some((request, rest)) = line.strip_prefix('.').and_then(|line| line.split_once(' ')) else {
        return escaped(&without_fonts(line));
    };
    let parts = arguments(rest);
    if let "B" | "I" = request {
        return in_font(request, &parts.join(" "));
    }
    assert!(["BR", "RB", "BI", "IR", "RI"].contains(&request), "{line}");
    let (even, odd) = request.split_at(1);
    let texts = parts.iter().enumerate().map(|(at, part)| {
        let font = if at % 2 == 0 { even } else { odd };
        let (part, rest) = part.split_once("\\fR").unwrap_or((part, ""));
        in_font(font, part) + &escaped(rest)
    });
    texts.collect()
}

/// Splits the arguments of a request, which may be quoted.
fn arguments(rest: &str) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), rest);
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let (part, after) = quoted.or(rest.split_once(' ')).unwrap_or((rest, ""));
        parts.push(part.to_owned());
        rest = after.trim_start();
    }
    parts
}

/// Converts bold, which marks what to type, to code. Keeps italics.
fn in_font(font: &str, text: &str) -> String {
    let plain = without_fonts(text);
    match font {
        "B" => format!("`{plain}`"),
        "I" => format!("*{}*", escaped(&plain)),
        _ => escaped(&plain),
    }
}

/// Removes font changes and resolves character escapes.
fn without_fonts(text: &str) -> String {
    let text = text
        .replace("\\fB", "")
        .replace("\\fI", "")
        .replace("\\fR", "");
    text.replace("\\-", "-")
        .replace("\\(aq", "'")
        .replace("\\*(Aq", "'")
        .replace("\\(dq", "\"")
        .replace("\\(ha", "^")
        .replace("\\e", "\\")
}

/// Escapes the characters that are special in Markdown.
fn escaped(text: &str) -> String {
    let special = ['\\', '`', '*', '<', '~'];
    let mut escaped = String::new();
    for c in text.chars() {
        if special.contains(&c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Puts each paragraph on one line, with an empty line between paragraphs.
fn tidy(page: &str) -> String {
    let paragraphs = page
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let paragraphs: Vec<String> = paragraphs
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    format!("\n{}\n", paragraphs.join("\n\n"))
}
