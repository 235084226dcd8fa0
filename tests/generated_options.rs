//! Asserts that `docs/options.md` has the texts of the man page, with a heading for each option, so that it can be
//! linked. `BLESS=1 cargo test` rewrites it.

use std::iter::Peekable;
use std::str::Lines;

use crate::generated::has_not_drifted;
use crate::util::options::OPTIONS;
use crate::util::{Ends, backoff};

tests! {
    the_options_page_is_of_the_man_page
}

/// The beginning of the page.
const INTRODUCTION: &str = "\
<!-- Made from the man page: BLESS=1 cargo test generated -->
# Options

The text is that of the manual (`man backoff`). Sections in capitals, such as WAITS AND JITTER, are below:
";

/// Sections of the man page that explain options in detail, in the order of the page. Other pages have the rest.
const DETAILS: [(&str, &str); 10] = [
    ("VALUES", "Values"),
    ("WAITS AND JITTER", "Waits and jitter"),
    ("LOOPS", "Loops"),
    ("IDEMPOTENCE", "Idempotence"),
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
        "{INTRODUCTION}{}.\nExit statuses are in the [README](../README.md#exit-status), the configuration file in \
         [configuration.md](configuration.md).\n{}{}",
        links.join(",\n"),
        section(manual, "OPTIONS"),
        details.concat()
    )
}

/// Returns a section of the manual in Markdown. A paragraph is one line.
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
            // The definition of an apostrophe.
            ".ie" | ".el" => {}
            _ => page += &format!("{}\n", text(line)),
        }
    }
    tidy(&page)
}

/// Returns the beginning of an explanation: a heading for an option, an entry of a list for anything else.
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

/// Returns a line of the manual: plain, or a request that alternates two fonts.
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

/// Returns the arguments of a request, which are words or quoted.
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

/// Returns a text in bold, which names something to type, in italics, or in neither.
fn in_font(font: &str, text: &str) -> String {
    let plain = without_fonts(text);
    match font {
        "B" => format!("`{plain}`"),
        "I" => format!("*{}*", escaped(&plain)),
        _ => escaped(&plain),
    }
}

/// Returns a text of the manual as a reader sees it, without its fonts.
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

/// Returns a text with the characters that mean something to Markdown escaped.
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

/// Returns a page with a paragraph on each line, and one empty line between two.
fn tidy(page: &str) -> String {
    let paragraphs = page
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let paragraphs: Vec<String> = paragraphs
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    format!("\n{}\n", paragraphs.join("\n\n"))
}
