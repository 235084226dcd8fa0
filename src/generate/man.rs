//! The man page.

use crate::cli;

pub(super) fn page() -> String {
    let mut page = Vec::new();
    let _ = clap_mangen::Man::new(cli::documented_parser()).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}
