//! Tables in a document, each between its marks:
//!
//! ```text
//! <!-- figures: NAME -->
//! <!-- end of figures -->
//! ```

use std::fs;
use std::path::Path;

use super::table::Table;
use crate::Result;

const END: &str = "<!-- end of figures -->";

/// Puts each table into its place; what is there already goes.
pub fn fill(document: &Path, tables: &[Table]) -> Result<()> {
    let mut text = fs::read_to_string(document)?;
    for table in tables {
        let begin = format!("<!-- figures: {} -->\n", table.name);
        let no_place = || format!("{} has no place for {}", document.display(), table.name);
        let start = text.find(&begin).ok_or_else(no_place)? + begin.len();
        let end = start + text[start..].find(END).ok_or_else(no_place)?;
        text.replace_range(start..end, &format!("\n{}\n", table.markdown()));
    }
    fs::write(document, text)?;
    Ok(())
}
