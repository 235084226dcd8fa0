//! Checks every link of every document: a path must lead to a file of the repository, and its `#` part to a heading of
//! that file. Only the form of a web address is checked.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::util::documents::{ROOT, document, documents};

tests! {
    every_link_leads_somewhere
    a_link_that_leads_nowhere_is_found
    headings_have_the_anchors_that_github_gives_them
}

/// Text in code is not a link.
static CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^```[^`]*\n(?s:.*?)^```$|`` .*? ``|`[^`]+`").unwrap());
static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\]\(([^()\s]*)\)").unwrap());
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^ *\[[^\]]*\]:").unwrap());
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bhttps?:[^\s)>\]|]*").unwrap());
static FORM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^https://([a-z0-9-]+\.)+[a-z]+(/[A-Za-z0-9._~/%+-]*)?(#[A-Za-z0-9_-]+)?$").unwrap()
});

fn without_code(text: &str) -> String {
    CODE.replace_all(text, "`code`").into_owned()
}

/// Returns the anchors that GitHub makes of the headings.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut in_block = false;
    let mut anchors = Vec::new();
    for line in text.lines() {
        in_block ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        let Some(heading) = heading
            .strip_prefix(' ')
            .filter(|_| line.starts_with('#') && !in_block)
        else {
            continue;
        };
        let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
        let slug: String = heading.trim().to_lowercase().chars().filter(kept).collect();
        let slug = slug.replace(' ', "-");
        let count = seen.entry(slug.clone()).or_default();
        anchors.push(if *count == 0 {
            slug
        } else {
            format!("{slug}-{count}")
        });
        *count += 1;
    }
    anchors
}

/// Returns an error unless the target of a document's link exists.
fn is_there(name: &str, target: &str) -> Result<(), &'static str> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let root = Path::new(ROOT).canonicalize().unwrap();
    let document_itself = root.join(name);
    let path = match path {
        "" => document_itself,
        path => document_itself.parent().unwrap().join(path),
    };
    let path = path.canonicalize().map_err(|_| "there is no such file")?;
    let path = path
        .strip_prefix(root)
        .map_err(|_| "it is outside of the repository")?;
    if target.contains('#')
        && !anchors(document(path.to_str().unwrap()).text)
            .iter()
            .any(|one| one == anchor)
    {
        return Err("there is no such heading");
    }
    Ok(())
}

/// Returns the broken links of a document's text.
fn mistakes(name: &str, text: &str) -> Vec<String> {
    let text = without_code(text);
    let addresses = ADDRESS.find_iter(&text).map(|found| found.as_str());
    let mut wrong: Vec<String> = addresses
        .map(|address| address.trim_end_matches(['.', ',', ':', ';']))
        .filter(|address| !FORM.is_match(address))
        .map(|address| format!("{name}: {address}: it has not the form of an address"))
        .collect();
    let targets: Vec<&str> = LINK
        .captures_iter(&text)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    if text.matches("](").count() != targets.len() || REFERENCE.is_match(&text) {
        wrong.push(format!(
            "{name}: only links of the form [text](target) are followed"
        ));
    }
    for target in targets.iter().filter(|target| !target.starts_with("http")) {
        if let Err(why) = is_there(name, target) {
            wrong.push(format!("{name}: {target}: {why}"));
        }
    }
    wrong
}

fn every_link_leads_somewhere() {
    let all = documents();
    let wrong: Vec<String> = all
        .iter()
        .flat_map(|document| mistakes(&document.name, document.text))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let links: usize = all
        .iter()
        .map(|document| LINK.find_iter(&without_code(document.text)).count())
        .sum();
    assert!(links > 60, "{links}");
}

fn a_link_that_leads_nowhere_is_found() {
    for text in [
        "[a](no-such-file.md)",
        "[a](README.md#no-such-heading)",
        "[a](#no-such-heading)",
        "[a](../..)",
        "[a\nb](docs/nothing.md)",
        "[a](README.md \"title\")",
        "text\n[a]: README.md",
        "http://example.com/",
        "[a](https://example/)",
        "<https://example.com/a b>c [a](https://example.com/{})",
    ] {
        assert_eq!(mistakes("README.md", text).len(), 1, "{text}");
    }
    for text in [
        "`[a](no-such-file.md)`",
        "```sh\n[a](no-such-file.md)\n```\n[b](docs/DESIGN.md#map)",
        "[a](docs), see https://example.com/a-b_c/, and so on",
        "[`a`](#install)",
    ] {
        assert_eq!(mistakes("README.md", text), [""; 0], "{text}");
    }
}

fn headings_have_the_anchors_that_github_gives_them() {
    let text = "# One, two & `three_4`\n## --a-b C\n```sh\n# no heading\n```\n### Again\n#also none\n### Again\n";
    assert_eq!(
        anchors(text),
        ["one-two--three_4", "--a-b-c", "again", "again-1"]
    );
}
