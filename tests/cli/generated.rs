//! Asserts that committed files are identical to the binary's output. `BLESS=1 cargo test` rewrites them.

use crate::common::options::OPTIONS;
use crate::common::{Ends, backoff};

const GENERATED: [(&str, &str); 4] = [
    ("man", "man/backoff.1"),
    ("complete-bash", "completions/backoff.bash"),
    ("complete-zsh", "completions/_backoff"),
    ("complete-fish", "completions/backoff.fish"),
];

fn generate(kind: &str) -> String {
    backoff(format!("--generate {kind}")).code(0).out()
}

#[test]
fn nothing_has_drifted() {
    for (kind, file) in GENERATED {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let generated = generate(kind);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap();
        assert!(
            committed == generated,
            "{file} has drifted: run BLESS=1 cargo test"
        );
    }
}

#[test]
fn every_option_is_in_each_of_them() {
    for (kind, _) in GENERATED {
        let text = generate(kind).replace("\\-", "-");
        for opt in OPTIONS.iter() {
            // fish writes names without the dashes.
            assert!(text.contains(&opt.long), "{kind} lacks --{}", opt.long);
        }
    }
}

#[test]
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
