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

use std::io::Write;
use std::process::Command;
use std::time::Instant;

const BACKOFF: &str = env!("CARGO_BIN_EXE_backoff");
const ROUNDS: usize = 7;
const TEN: &str = "alpha1|bravo2|charlie3|delta4|echo5|foxtrot6|golf7|hotel8|india9|juliet0";

fn main() {
    let megabytes = std::env::var("MEGABYTES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(400);
    let log = tempfile::NamedTempFile::new().unwrap();
    write_log(log.as_file(), megabytes << 20);
    let (b, f) = (BACKOFF, log.path().display());
    let pipelines = [
        ("cat FILE | cat", format!("cat {f} | cat >/dev/null")),
        ("observe, a literal", format!("{b} -r zebrafish -- cat {f} >/dev/null")),
        ("cat FILE | grep -c, a literal", format!("cat {f} | grep -c zebrafish")),
        ("observe, ten literals", format!("{b} -r '{TEN}' -- cat {f} >/dev/null")),
        (
            "cat FILE | grep -cE, ten literals",
            format!("cat {f} | grep -cE '{TEN}'"),
        ),
        (
            "observe, ten, any case",
            format!("{b} -r '(?i){TEN}' -- cat {f} >/dev/null"),
        ),
        (
            "cat FILE | grep -cEi, ten, any case",
            format!("cat {f} | grep -cEi '{TEN}'"),
        ),
        ("observe, verdict settled", format!("{b} -r . -- cat {f} >/dev/null")),
        ("kept output", format!("{b} --stdout final -- cat {f} >/dev/null")),
        ("cat FILE | cat | cat", format!("cat {f} | cat | cat >/dev/null")),
        ("replayed input", format!("cat {f} | {b} -- cat >/dev/null")),
    ];
    let mut times = vec![Vec::new(); pipelines.len()];
    for round in 0..=ROUNDS {
        for (i, (_, pipeline)) in pipelines.iter().enumerate() {
            let began = Instant::now();
            Command::new("bash")
                .args(["-c", &format!("{pipeline} >/dev/null")])
                .status()
                .unwrap();
            // The first round fills caches.
            if round > 0 {
                times[i].push(began.elapsed().as_secs_f64());
            }
        }
    }
    println!("{megabytes} MiB of log lines, {ROUNDS} interleaved rounds, medians");
    for ((name, _), own) in pipelines.iter().zip(&times) {
        let ratio = median(own.iter().zip(&times[0]).map(|(own, yard)| own / yard));
        println!("  {name:36} {:7.3} s {ratio:6.2} x", median(own.iter().copied()));
    }
}

/// Lines like a service's, none of which the patterns match.
fn write_log(file: &std::fs::File, size: u64) {
    let mut file = std::io::BufWriter::with_capacity(1 << 20, file);
    let mut state = 88_172_645_463_325_252_u64;
    let mut written = 0;
    while written < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let line = format!(
            "2026-03-01T{:02}:{:02}:{:02}.{:03}Z INFO [http.server] req_id={:08x} method=GET path=/api/v1/orders status=200 bytes={}\n",
            state % 24,
            state / 24 % 60,
            state / 1440 % 60,
            state % 1000,
            state >> 32,
            state % 90_000,
        );
        file.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
    }
    file.flush().unwrap();
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
