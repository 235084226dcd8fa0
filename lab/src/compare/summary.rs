//! The short answer: one line a figure, one column a tool.

use super::table::{Table, or_dash};
use super::tools::Tool;

/// A figure that says most about a part, by title of tool.
pub struct Headline {
    what: &'static str,
    figures: Vec<(&'static str, String)>,
}

impl Headline {
    pub fn new(what: &'static str) -> Headline {
        Headline {
            what,
            figures: Vec::new(),
        }
    }

    pub fn set(&mut self, tool: &'static str, figure: String) {
        self.figures.push((tool, figure));
    }
}

pub fn table(tools: &[Tool], headlines: &[Headline]) -> Table {
    let titles = tools.iter().map(|tool| tool.title);
    let columns: Vec<&str> = std::iter::once("").chain(titles).collect();
    let mut table = Table::new(
        "summary",
        "Less is better. *-*: it cannot be told to do that.",
        &columns,
    );
    for headline in headlines {
        let mut row = vec![headline.what.to_owned()];
        for tool in tools {
            let figure = headline.figures.iter().find(|(title, _)| *title == tool.title);
            row.push(or_dash(figure.map(|(_, figure)| figure.clone())));
        }
        table.rows.push(row);
    }
    table
}
