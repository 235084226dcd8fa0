//! What backoff is to reach, beside what was measured.

use crate::table::Table;

pub struct Goal {
    what: String,
    /// With its unit, or as a ratio.
    at_most: &'static str,
    measured: Option<String>,
}

impl Goal {
    /// Nothing was measured where a build or what it is compared with is missing.
    pub fn new(what: impl Into<String>, at_most: &'static str, measured: Option<impl ToString>) -> Goal {
        Goal {
            what: what.into(),
            at_most,
            measured: measured.map(|measured| measured.to_string()),
        }
    }
}

pub fn table(goals: &[Goal]) -> Table {
    let title = "Of the static build, where nothing else is said.";
    let mut table = Table::new("goals", title, &["what", "at most", "measured"]);
    for goal in goals {
        let measured = goal.measured.clone();
        table.row([
            goal.what.clone(),
            goal.at_most.to_owned(),
            measured.unwrap_or_else(|| "not measured".to_owned()),
        ]);
    }
    table
}
