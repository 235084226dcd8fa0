//! Replacing a file as a whole.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use tempfile::Builder;

/// As many links as Linux follows.
const MOST_LINKS: u32 = 40;

/// Writes a file that is there with all its bytes or as it was before. It keeps its mode, and a symbolic link
/// stays one, also where it leads to nothing yet; a new file is for this user only.
pub fn file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = end_of_links(path)?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mode = fs::metadata(&target).map_or(0o600, |facts| facts.permissions().mode() & 0o777);
    let mut file = Builder::new().prefix(".backoff-report-").tempfile_in(directory)?;
    file.write_all(bytes)?;
    if mode != 0o600 {
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// What `open(2)` would make or open.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..=MOST_LINKS {
        let Ok(next) = fs::read_link(&target) else {
            return Ok(target);
        };
        target.pop();
        target.push(next);
    }
    Err(Errno::ELOOP.into())
}
