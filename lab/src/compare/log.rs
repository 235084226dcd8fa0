//! A log to look at, and what is looked for in it.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use crate::{Result, child};

/// What is looked for, and never found: as in a run that goes well.
pub struct Rule {
    pub name: &'static str,
    /// For grep, next to -c.
    flags: &'static str,
    pattern: &'static str,
    /// The same for backoff.
    regex: &'static str,
}

macro_rules! ten {
    () => {
        "alpha1|bravo2|charlie3|delta4|echo5|foxtrot6|golf7|hotel8|india9|juliet0"
    };
}

pub const RULES: [Rule; 3] = [
    Rule {
        name: "a literal",
        flags: "",
        pattern: "zebrafish",
        regex: "zebrafish",
    },
    Rule {
        name: "ten literals",
        flags: "E",
        pattern: ten!(),
        regex: ten!(),
    },
    Rule {
        name: "ten, any case",
        flags: "Ei",
        pattern: ten!(),
        regex: concat!("(?i)", ten!()),
    },
];

/// The yardstick: what passing it on costs at least.
pub fn cat(file: &str) -> String {
    format!("cat {file} | cat")
}

impl Rule {
    /// A pipeline in which grep looks for it.
    pub fn grep(&self, file: &str) -> String {
        format!("cat {file} | grep -c{} '{}'", self.flags, self.pattern)
    }

    /// A command in which this backoff passes the log on and looks for it.
    pub fn observe(&self, backoff: &str, file: &str) -> String {
        format!("{backoff} -r '{}' -- cat {file}", self.regex)
    }
}

/// How long a pipeline of bash takes, in seconds. Its output goes nowhere. In the locale in which grep is fastest.
pub fn time(pipeline: &str) -> Result<f64> {
    let mut bash = child::command("bash");
    child::time(bash.args(["-c", pipeline]).stderr(Stdio::inherit()))
}

/// Lines like a service's, 16 MiB of them over and over.
pub fn write(mut file: &File, megabytes: usize) -> Result<()> {
    const BLOCK: usize = 16;
    let mut block = Vec::with_capacity(BLOCK << 20);
    let mut state = 88_172_645_463_325_252_u64;
    while block.len() < BLOCK << 20 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        writeln!(
            block,
            "2026-03-01T{:02}:{:02}:{:02}.{:03}Z INFO [http.server] req_id={:08x} method=GET path=/api/v1/orders status=200 bytes={}",
            state % 24,
            state / 24 % 60,
            state / 1440 % 60,
            state % 1000,
            state >> 32,
            state % 90_000,
        )?;
    }
    for _ in 0..megabytes.div_ceil(BLOCK) {
        file.write_all(&block)?;
    }
    Ok(())
}
