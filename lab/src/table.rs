//! A table in Markdown.

pub struct Table {
    /// Of its place in a document.
    pub name: &'static str,
    pub title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    /// How many columns at the left are words.
    pub words: usize,
}

impl Table {
    pub fn new(name: &'static str, title: &str, columns: &[&str]) -> Table {
        Table {
            name,
            title: title.to_owned(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            rows: Vec::new(),
            words: 1,
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let row: Vec<String> = cells.into_iter().collect();
        assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("{}\n\n{}|", self.title, line(&self.columns));
        for i in 0..self.columns.len() {
            text.push_str(if i < self.words { "---|" } else { "---:|" });
        }
        text.push('\n');
        for row in &self.rows {
            text.push_str(&line(row));
        }
        text
    }
}

/// Three significant digits, as nobody reads more: 0.0123, 1.23, 12.3, 1230.
pub fn digits(figure: f64) -> String {
    if figure == 0.0 {
        return "0".to_owned();
    }
    let places = 2 - figure.abs().log10().floor() as i32;
    let scale = 10_f64.powi(places);
    let rounded = (figure * scale).round() / scale;
    format!("{rounded:.*}", usize::try_from(places).unwrap_or(0))
}

/// What a tool cannot do, and what was not measured, has no figure.
pub fn or_dash(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| "-".to_owned())
}
