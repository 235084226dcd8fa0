//! What was typed after `benches/run`.

use std::path::PathBuf;

pub const USAGE: &str = "\
usage: benches/run [--quick] [--first] [--docs | --into DIRECTORY] [--megabytes N] [PART...]

Parts: start-up, retries, memory, waits, jitter, throughput; all unless named.
  --quick         few rounds: whether it works, not what is true
  --first         before whatever else runs (as root; not for throughput, nor where processors are kept busy)
  --into DIR      where tables (Markdown, CSV) and charts (SVG) go; target/performance unless given
  --docs          into docs/performance, and the tables into docs/performance.md
  --megabytes N   the size of the log that is looked at, 1024 unless given; TMPDIR says where
";

pub const PARTS: [&str; 6] = ["start-up", "retries", "memory", "waits", "jitter", "throughput"];

pub struct Options {
    pub quick: bool,
    /// So that what others do on this machine stays out of the figures.
    pub first: bool,
    pub into: PathBuf,
    pub document: Option<PathBuf>,
    pub megabytes: usize,
    pub parts: Vec<String>,
}

/// Of these words; None if they say something else.
pub fn parse(words: impl IntoIterator<Item = String>) -> Option<Options> {
    let mut options = Options {
        quick: false,
        first: false,
        into: "target/performance".into(),
        document: None,
        megabytes: 0,
        parts: Vec::new(),
    };
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            // By cargo.
            "--bench" => (),
            "--quick" => options.quick = true,
            "--first" => options.first = true,
            "--into" => options.into = words.next()?.into(),
            "--docs" => {
                options.into = "docs/performance".into();
                options.document = Some("docs/performance.md".into());
            }
            "--megabytes" => options.megabytes = words.next()?.parse().ok().filter(|n| *n > 0)?,
            part if PARTS.contains(&part) => options.parts.push(word),
            _ => return None,
        }
    }
    if options.megabytes == 0 {
        options.megabytes = if options.quick { 32 } else { 1024 };
    }
    if options.parts.is_empty() {
        options.parts = PARTS.map(str::to_owned).into();
    }
    Some(options)
}
