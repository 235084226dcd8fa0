//! Generated files match the binary's output, and documents have the repository and version of Cargo.toml. `BLESS=1
//! cargo test` rewrites them.


use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::util::documents::{ROOT, documents};
use crate::util::options::OPTIONS;
use crate::util::{Ends, backoff};

tests! {
    nothing_has_drifted
    every_option_is_in_each_of_them
    the_man_page_has_its_sections
    documents_name_the_repository_and_the_version
    facts_are_found_wherever_they_stand
}

/// An address of the repository, the action or the image.
static OWNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(https://github\.com/|ghcr\.io/|uses: |--repo |oci://ghcr\.io/)([A-Za-z0-9-]+|\.\.\.)(/backoff)\b").unwrap()
});

/// A release's version in an address or a file name.
static VERSIONED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(\bbackoff(?:-cli|_cli)?(?:@v|[:_-])|/download/v)([0-9]+\.[0-9]+\.[0-9]+)\b")
        .unwrap()
});

const GENERATED: [(&str, &str); 4] = [
    ("man", "man/backoff.1"),
    ("complete-bash", "completions/backoff.bash"),
    ("complete-zsh", "completions/_backoff"),
    ("complete-fish", "completions/backoff.fish"),
];

fn generate(kind: &str) -> String {
    backoff(format!("--generate {kind}")).code(0).out()
}

fn nothing_has_drifted() {
    for (kind, file) in GENERATED {
        has_not_drifted(file, &generate(kind));
    }
}

/// Asserts that a committed file has this text. With BLESS, writes the file first.
pub fn has_not_drifted(file: &str, generated: &str) {
    let path = format!("{ROOT}/{file}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == generated,
        "{file} has drifted: run BLESS=1 cargo test generated"
    );
}

fn every_option_is_in_each_of_them() {
    for (kind, _) in GENERATED {
        let text = generate(kind).replace("\\-", "-");
        for opt in OPTIONS.iter() {
            // fish lists names without dashes.
            assert!(text.contains(&opt.long), "{kind} lacks --{}", opt.long);
        }
    }
}

fn the_man_page_has_its_sections() {
    let page = generate("man");
    for section in [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "\"DETAILED OPERATION\"",
        "\"EXIT STATUS\"",
        "SIGNALS",
        "ENVIRONMENT",
        "CONFIGURATION",
        "FILES",
        "EXAMPLES",
    ] {
        let heading = section.trim_matches('"');
        assert!(
            page.contains(&format!(".SH {section}\n"))
                || page.contains(&format!(".SH {heading}\n")),
            "{section}"
        );
    }
}

/// Returns a document's text with the owner and version of Cargo.toml. An owner in capitals is a placeholder, which
/// documents show as `...`.
fn with_facts(text: &str) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let owner = repository.split('/').nth(3).unwrap();
    let is_placeholder = owner.chars().all(char::is_uppercase);
    let text = OWNED.replace_all(text, |found: &Captures<'_>| {
        let owner = if is_placeholder {
            "...".to_owned()
        } else if found[1].contains("ghcr.io") {
            owner.to_lowercase()
        } else {
            owner.to_owned()
        };
        format!("{}{owner}{}", &found[1], &found[3])
    });
    let version = concat!("${1}", env!("CARGO_PKG_VERSION"));
    VERSIONED.replace_all(&text, version).into_owned()
}

fn documents_name_the_repository_and_the_version() {
    for document in documents() {
        if document.name == "CHANGELOG.md" {
            continue;
        }
        let expected = with_facts(document.text);
        if std::env::var_os("BLESS").is_some() && expected != document.text {
            std::fs::write(format!("{ROOT}/{}", document.name), &expected).unwrap();
        }
        let lines = document.text.lines().zip(expected.lines());
        let wrong: Vec<_> = lines.filter(|(is, should)| is != should).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", document.name);
    }
}

fn facts_are_found_wherever_they_stand() {
    let version = env!("CARGO_PKG_VERSION");
    for (text, is_fact) in [
        ("- uses: someone/backoff@v9.8.7", true),
        ("COPY --from=ghcr.io/someone/backoff:9.8.7 /backoff", true),
        (
            "https://github.com/someone/backoff/releases/download/v9.8.7/install.sh",
            true,
        ),
        ("backoff_9.8.7-0.1_amd64.deb", true),
        ("backoff-9.8.7-1.x86_64.rpm", true),
        ("gh attestation verify x --repo someone/backoff", true),
        ("backoff 9.8.7; loop in bash", false),
        ("- uses: actions/checkout@v6", false),
    ] {
        let shown = with_facts(text);
        assert_eq!(shown != text, is_fact, "{text}");
        assert!(!shown.contains("someone"), "{shown}");
        assert!(
            !is_fact || !text.contains("9.8.7") || shown.contains(version),
            "{shown}"
        );
    }
}
