//! Tables in a document, each between its marks:
//!
//! ```text
//! <!-- figures: NAME -->
//! <!-- end of figures -->
//! ```

use crate::Result;
use crate::table::Table;

const END: &str = "<!-- end of figures -->";

/// The document with each table in its place; what is there already goes.
pub fn filled(document: &str, tables: &[Table]) -> Result<String> {
    let mut text = document.to_owned();
    for table in tables {
        let begin = format!("<!-- figures: {} -->\n", table.name);
        let no_place = || format!("the document has no place for {}", table.name);
        let start = text.find(&begin).ok_or_else(no_place)? + begin.len();
        let end = start + text[start..].find(END).ok_or_else(no_place)?;
        text.replace_range(start..end, &format!("\n{}\n", table.markdown()));
    }
    Ok(text)
}
