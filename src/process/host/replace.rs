//! Replacing a file as a whole.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};

use rustix::fs::{AtFlags, Mode, OFlags, RawMode, fchmod, openat, renameat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use crate::process::sys::leaf::Leaf;
use crate::process::sys::random;

/// Writes a file that is there with all its bytes or as it was before. `mode` is the one that it gets.
pub(crate) fn file(place: &Leaf, mode: RawMode, bytes: &[u8]) -> io::Result<()> {
    let (mut file, name) = new_file(&place.directory)?;
    let mut fill = || {
        file.write_all(bytes)?;
        if mode != 0o600 {
            fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        renameat(&place.directory, &*name, &place.directory, &place.name)?;
        Ok(())
    };
    fill().inspect_err(|_| {
        let _ = unlinkat(&place.directory, &*name, AtFlags::empty());
    })
}

/// A new file for this user only, and its name.
fn new_file(directory: &File) -> io::Result<(File, String)> {
    loop {
        let mut name = ".backoff-report-".to_owned();
        for byte in random::bytes::<8>() {
            let _ = write!(name, "{byte:02x}");
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match retry_on_intr(|| openat(directory, &*name, flags, Mode::RUSR | Mode::WUSR)) {
            Ok(fd) => return Ok((File::from(fd), name)),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
