//! Passing output on while it is looked at, kept output and replayed input, against plain pipes in one
//! run: `cargo bench --bench streams`.
//!
//! The yardstick is `cat FILE | cat >/dev/null`. Runs alternate; ratios are medians of the ratios within a
//! round. MEGABYTES sets the size of the log (default 400).
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

mod measure;

use measure::{in_turns, log, median, ratio};

const BACKOFF: &str = env!("CARGO_BIN_EXE_backoff");
const ROUNDS: usize = 7;

fn main() {
    let megabytes = std::env::var("MEGABYTES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(400);
    let file = tempfile::NamedTempFile::new().unwrap();
    log::write(file.as_file(), megabytes);
    let f = file.path().to_str().unwrap();
    let mut pipelines = vec![("cat FILE | cat".to_owned(), log::cat(f))];
    for rule in &log::RULES {
        pipelines.push((format!("observe, {}", rule.name), rule.observe(BACKOFF, f)));
        pipelines.push((rule.grep_name(), rule.grep(f)));
    }
    pipelines.extend(
        [
            ("observe, verdict settled", format!("{BACKOFF} -r . -- cat {f}")),
            ("kept output", format!("{BACKOFF} --stdout final -- cat {f}")),
            ("cat FILE | cat | cat", format!("cat {f} | cat | cat")),
            ("replayed input", format!("cat {f} | {BACKOFF} -- cat")),
        ]
        .map(|(name, pipeline)| (name.to_owned(), pipeline)),
    );
    let times = in_turns(&pipelines, 1, ROUNDS, |(_, pipeline)| log::time(pipeline));
    println!("{megabytes} MiB of log lines, {ROUNDS} interleaved rounds, medians");
    for ((name, _), own) in pipelines.iter().zip(&times) {
        println!(
            "  {name:36} {:7.3} s {:6.2} x",
            median(own.iter().copied()),
            ratio(own, &times[0])
        );
    }
}
