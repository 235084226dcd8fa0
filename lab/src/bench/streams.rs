//! Passing output on while it is looked at, kept output and replayed input, against plain pipes in one run.
//!
//! The yardstick is `cat FILE | cat >/dev/null`. Runs alternate; ratios are medians of the ratios within a round.

use std::num::NonZeroUsize;

use clap::Args;

use super::Pace;
use crate::measure::{in_turns, median, ratio};
use crate::{Result, builds, log};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pace: Pace,
    /// The size of the log in MiB, 400 unless given; TMPDIR says where
    #[arg(long, value_name = "N")]
    megabytes: Option<NonZeroUsize>,
}

pub fn run(options: &Options) -> Result<()> {
    let backoff = builds::plain()?;
    let megabytes = options
        .megabytes
        .map_or(options.pace.full_or(400, 16), NonZeroUsize::get);
    let rounds = options.pace.full_or(7, 1);
    let file = tempfile::NamedTempFile::new()?;
    log::write(file.as_file(), megabytes)?;
    let path = file.path().to_str().ok_or("a temporary directory that is not UTF-8")?;
    let pipelines = pipelines(&backoff, path);
    let times = in_turns(&pipelines, 1, rounds, |(_, pipeline)| log::time(pipeline))?;
    println!("{megabytes} MiB of log lines, {rounds} interleaved rounds, medians");
    for ((name, _), own) in pipelines.iter().zip(&times) {
        println!(
            "  {name:36} {:7.3} s {:6.2} x",
            median(own.iter().copied()),
            ratio(own, &times[0])
        );
    }
    Ok(())
}

/// Names and pipelines; the first one is the yardstick.
fn pipelines(backoff: &str, file: &str) -> Vec<(String, String)> {
    let mut all = vec![("cat FILE | cat".to_owned(), log::cat(file))];
    for rule in &log::RULES {
        all.push((format!("observe, {}", rule.name), rule.observe(backoff, file)));
        all.push((rule.grep_name(), rule.grep(file)));
    }
    let more = [
        ("observe, verdict settled", format!("{backoff} -r . -- cat {file}")),
        ("kept output", format!("{backoff} --stdout final -- cat {file}")),
        ("cat FILE | cat | cat", format!("cat {file} | cat | cat")),
        ("replayed input", format!("cat {file} | {backoff} -- cat")),
    ];
    all.extend(more.map(|(name, pipeline)| (name.to_owned(), pipeline)));
    all
}
