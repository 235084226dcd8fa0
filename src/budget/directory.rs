//! Shared files in a directory of this machine: one small file of fixed size for each name, changed under
//! a lock that the kernel releases when its holder dies.
//!
//! Nobody else may be able to write what decides about this user's runs: the directory and the files must
//! be this user's own and writable by nobody else, and neither may be a symbolic or a further hard link. What
//! does not hold a record is set aside under another name: never trusted, never deleted.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::Path;

use nix::unistd::geteuid;
use rustix::fs::{AtFlags, Mode, OFlags, linkat, open, openat, statat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use super::lock::Locked;
use super::record;
use crate::policy::budget::{Answer, Ledger};
use crate::run::host::BudgetAnswer;
use crate::run::text::describe_error;

/// How often a file may be replaced by others while it is opened.
const MOST_TRIES: u32 = 100;

/// Changes the ledger of `name` in one step that no other process sees the middle of.
pub(crate) fn update(
    directory: &Path,
    name: &str,
    change: impl FnOnce(&mut Ledger) -> Answer,
) -> Result<BudgetAnswer, String> {
    let home = open_directory(directory).map_err(|why| format!("{}: {why}", directory.display()))?;
    let file_name = file_name(name);
    let at = |why: String| format!("{}: {why}", directory.join(&file_name).display());
    let mut warning = None;
    for _ in 0..MOST_TRIES {
        let Some(file) = open_file(&home, &file_name).map_err(at)? else {
            continue;
        };
        let old = read(&file).map_err(|error| at(describe_error(&error)))?;
        let Some(mut ledger) = record::read(&old) else {
            let aside = set_aside(&home, &file_name).map_err(|errno| {
                at(format!(
                    "does not hold what backoff wrote, and cannot be set aside: {}",
                    describe_error(&errno.into())
                ))
            })?;
            warning = Some(at(format!(
                "does not hold what backoff wrote; set aside as {}",
                aside.to_string_lossy()
            )));
            continue;
        };
        let answer = change(&mut ledger);
        if let Err(error) = file.write_all_at(&record::write(&ledger), 0) {
            // Half a record would look like a damaged file. What took half of the new one takes that much of the old.
            let _ = if old.is_empty() {
                file.set_len(0)
            } else {
                file.write_all_at(&old, 0)
            };
            return Err(at(describe_error(&error)));
        }
        return Ok(BudgetAnswer {
            answer: Some(answer),
            warning,
        });
    }
    Err(at("is replaced all the time".into()))
}

fn open_directory(path: &Path) -> Result<File, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || retry_on_intr(|| open(path, flags, Mode::empty()));
    let opened = match open() {
        Err(Errno::NOENT) => {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|error| format!("cannot make this directory: {}", describe_error(&error)))?;
            open()
        }
        opened => opened,
    };
    let directory = match opened {
        Ok(fd) => File::from(fd),
        // Linux says ENOTDIR of a symbolic link where a directory is asked for.
        Err(Errno::LOOP | Errno::NOTDIR) => return Err("is not a directory (symbolic links are not followed)".into()),
        Err(errno) => return Err(format!("cannot open this directory: {}", describe_error(&errno.into()))),
    };
    private(&directory)?;
    Ok(directory)
}

/// The file of a name, locked; None if another one has taken its place meanwhile.
fn open_file(home: &File, name: &OsString) -> Result<Option<Locked>, String> {
    // Without O_NONBLOCK a named pipe would keep us.
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let file = match retry_on_intr(|| openat(home, name.as_os_str(), flags, mode)) {
        Ok(fd) => File::from(fd),
        Err(Errno::LOOP) => return Err("is a symbolic link".into()),
        Err(errno) => return Err(format!("cannot open this file: {}", describe_error(&errno.into()))),
    };
    let facts = private(&file)?;
    if !facts.is_file() {
        return Err("is not a regular file".into());
    }
    let locked = Locked::new(file).map_err(|error| format!("cannot lock this file: {}", describe_error(&error)))?;
    // Whoever had the lock before may have set the file aside.
    match statat(home, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) if (now.st_dev, now.st_ino) == (facts.dev() as _, facts.ino() as _) => {}
        _ => return Ok(None),
    }
    // Asked under the lock: setting aside has two names for a moment.
    let links = locked.metadata().map_err(|error| describe_error(&error))?.nlink();
    if links > 1 {
        return Err(format!("has {links} hard links"));
    }
    Ok(Some(locked))
}

/// That only this user can change it.
fn private(file: &File) -> Result<std::fs::Metadata, String> {
    let facts = file.metadata().map_err(|error| describe_error(&error))?;
    let own = geteuid().as_raw();
    if facts.uid() != own {
        return Err(format!("belongs to user {}, not to user {own}", facts.uid()));
    }
    if facts.mode() & 0o022 != 0 {
        return Err(format!(
            "can be written by others (mode {:04o}); try chmod go-w",
            facts.mode() & 0o7777
        ));
    }
    Ok(facts)
}

/// As much as tells whether it is backoff's.
fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(record::FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Gives the file a name that nothing has yet, and returns it.
fn set_aside(home: &File, name: &OsString) -> Result<OsString, Errno> {
    let mut n = 1_u32;
    loop {
        let mut aside = name.clone();
        aside.push(format!(".bad-{n}"));
        // A link, since renaming could replace what was set aside earlier.
        match linkat(home, name.as_os_str(), home, aside.as_os_str(), AtFlags::empty()) {
            Ok(()) => {
                unlinkat(home, name.as_os_str(), AtFlags::empty())?;
                return Ok(aside);
            }
            Err(Errno::EXIST) if n < u32::MAX => n += 1,
            Err(errno) => return Err(errno),
        }
    }
}

/// A file name for any name: letters, digits and a few signs stand for themselves, `%` and two hexadecimal
/// digits for every other byte. Of a name too long for a file name, the beginning and a hash.
fn file_name(name: &str) -> OsString {
    const LONGEST: usize = 180;
    let mut shown = String::new();
    for (i, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'+' | b',' | b'=' | b'@' => {
                shown.push(char::from(byte));
            }
            b'.' if i > 0 => shown.push('.'),
            _ => shown.push_str(&format!("%{byte:02X}")),
        }
    }
    if shown.len() > LONGEST {
        // FNV-1a, 128 bits.
        let hash = name
            .bytes()
            .fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash: u128, byte| {
                (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
            });
        shown.truncate(LONGEST);
        // "~" stands in no encoded name.
        shown.push_str(&format!("~{hash:032x}"));
    }
    shown.push_str(".budget");
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_names_stay_readable() {
        assert_eq!(file_name("api"), "api.budget");
        assert_eq!(file_name("api.example.org"), "api.example.org.budget");
        assert_eq!(file_name("../etc/passwd"), "%2E.%2Fetc%2Fpasswd.budget");
        assert_eq!(file_name("é"), "%C3%A9.budget");
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_directory(name in ".{1,300}") {
            let name = file_name(&name);
            let bytes = name.as_encoded_bytes();
            prop_assert!(bytes.len() < 255 - ".bad-4294967295".len());
            prop_assert!(bytes[0] != b'.' && !bytes.contains(&b'/') && bytes.is_ascii());
        }

        #[test]
        fn different_names_have_different_files(a in "[a./%~A]{1,4}|a{170,190}", b in "[a./%~A]{1,4}|a{170,190}") {
            prop_assert_eq!(a == b, file_name(&a) == file_name(&b));
        }
    }
}
