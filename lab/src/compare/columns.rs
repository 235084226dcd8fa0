//! The table of tools: one line a tool, one column a figure.

use super::tools::Tool;
use crate::table::{Table, or_dash};

/// The line of what no tool can do better for long.
pub const FLOOR: &str = "*the machine itself*";
const GOAL: &str = "*static is to reach*";

pub struct Column {
    title: String,
    /// What the static build is to have at most.
    goal: String,
    /// By title of the line.
    cells: Vec<(&'static str, String)>,
}

impl Column {
    pub fn new(title: impl Into<String>, goal: impl Into<String>) -> Column {
        Column {
            title: title.into(),
            goal: goal.into(),
            cells: Vec::new(),
        }
    }

    pub fn set(&mut self, line: &'static str, cell: impl Into<String>) {
        self.cells.push((line, cell.into()));
    }
}

pub fn table(title: &str, tools: &[Tool], columns: &[Column]) -> Table {
    let titles = columns.iter().map(|column| column.title.as_str());
    let titles: Vec<&str> = ["tool"].into_iter().chain(titles).collect();
    let mut table = Table::new("tools", title, &titles);
    let lines = tools.iter().map(|tool| tool.title).chain([FLOOR]);
    for line in lines {
        let cell = |column: &Column| {
            let mut cells = column.cells.iter();
            or_dash(cells.find(|(title, _)| *title == line).map(|(_, cell)| cell.clone()))
        };
        table.row([line.to_owned()].into_iter().chain(columns.iter().map(cell)));
    }
    let goals = columns.iter().map(|column| column.goal.clone());
    table.row([GOAL.to_owned()].into_iter().chain(goals));
    table
}
