//! Budgets in a local directory: one small file per name, changed by a single write under a lock, which the kernel
//! releases if its holder dies. The directory and its files decide about this user's runs, so they must belong to this
//! user, be writable by no other, and not be symbolic links.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc;
use nix::unistd::geteuid;

use crate::policy::budget::{Answer, Counts};
use crate::run::host::BudgetAnswer;
use crate::text::describe_error;

/// Limit on the bytes that are read. A record is shorter.
const MOST_BYTES: u64 = 4096;

/// Changes the counts of the budget `name` under a lock, and returns the answer of `change` once they are written.
/// Creates the directory and the file if missing. Blocks while other runs hold the lock. A damaged file causes a
/// warning, and the budget starts over. An error names the directory or the file.
pub(super) fn update(
    directory: &Path,
    name: &str,
    change: impl FnOnce(&mut Counts) -> Answer,
) -> Result<BudgetAnswer, String> {
    let path = directory.join(file_name(name));
    prepare_directory(directory).map_err(|error| problem(directory, &error))?;
    update_file(&path, change).map_err(|error| problem(&path, &error))
}

fn problem(path: &Path, error: &io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::ELOOP) => "is a symbolic link".to_owned(),
        _ => describe_error(error),
    };
    format!("{}: {why}", path.display())
}

/// Creates the directory and its parents with mode 0700, if missing. Returns an error unless it is private.
fn prepare_directory(path: &Path) -> io::Result<()> {
    // An error matters only if the directory is then missing.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return Err(made.err().unwrap_or(error)),
    };
    if !metadata.is_dir() {
        return Err(io::Error::other(
            "is not a directory (symbolic links are not followed)",
        ));
    }
    check_private(&metadata)
}

fn update_file(
    path: &Path,
    change: impl FnOnce(&mut Counts) -> Answer,
) -> io::Result<BudgetAnswer> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .mode(0o600)
        // A named pipe must not block.
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    check_private(&metadata)?;
    file.lock()?;
    let mut old = Vec::new();
    (&file).take(MOST_BYTES).read_to_end(&mut old)?;
    let kept = parse(&String::from_utf8_lossy(&old));
    let mut counts = kept.unwrap_or_default();
    let answer = change(&mut counts);
    let record = record(&counts);
    file.write_all_at(record.as_bytes(), 0)?;
    if old.len() != record.len() {
        file.set_len(record.len() as u64)?;
    }
    // Closing the file does not release the lock while a child that is being started has a copy of the descriptor.
    file.unlock()?;
    let warning = match kept {
        Some(_) => None,
        None => Some(format!(
            "{}: is damaged or foreign; the budget starts over",
            path.display()
        )),
    };
    Ok(BudgetAnswer {
        answer: Some(answer),
        warning,
    })
}

/// Returns an error unless owner and mode allow only this user to change the file or directory.
fn check_private(metadata: &Metadata) -> io::Result<()> {
    let (owner, own) = (metadata.uid(), geteuid().as_raw());
    if owner != own {
        let why = format!("belongs to user {owner}, not to user {own}");
        return Err(io::Error::other(why));
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o022 != 0 {
        let why = format!("can be written by others (mode {mode:04o}; chmod go-w)");
        return Err(io::Error::other(why));
    }
    Ok(())
}

/// Returns the content of a file: the time of the last change (milliseconds since the UNIX epoch), attempts and
/// retries. The length is fixed, so one write replaces it all.
fn record(counts: &Counts) -> String {
    let Counts {
        at,
        attempts,
        retries,
    } = counts;
    // No number is longer than 24 characters.
    format!("{at:<24e} {attempts:<24e} {retries:<24e}\n")
}

/// Parses a record. An empty file is an unused budget. None if the file is damaged or foreign.
fn parse(text: &str) -> Option<Counts> {
    if text.is_empty() {
        return Some(Counts::default());
    }
    let words = text.split_whitespace();
    let numbers: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    let is_sound = numbers
        .iter()
        .all(|number| number.is_finite() && *number >= 0.0);
    match numbers[..] {
        [at, attempts, retries] if is_sound && retries <= attempts => Some(Counts {
            at,
            attempts,
            retries,
        }),
        _ => None,
    }
}

/// Returns the file name for a budget. ASCII characters that may be special to a shell or a file system, such as the
/// slash, are percent-encoded. Different names get different files, unless the file system is case-insensitive. A
/// budget's name has at most 80 bytes, so that the file name fits in 255.
fn file_name(name: &str) -> String {
    let mut encoded = String::new();
    for c in name.chars() {
        // A leading dot would hide the file.
        let is_plain = match c {
            '.' => !encoded.is_empty(),
            '-' | '_' | '+' | ',' | '=' | '@' => true,
            _ => c.is_ascii_alphanumeric() || !c.is_ascii(),
        };
        if is_plain {
            encoded.push(c);
        } else {
            encoded += &format!("%{:02X}", u32::from(c));
        }
    }
    encoded + ".budget"
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
        assert_eq!(file_name("caf\u{e9}"), "caf\u{e9}.budget");
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_directory(name in ".{1,100}") {
            let name = file_name(&name);
            prop_assert!(!name.starts_with('.') && !name.contains(['/', '\0', '\n']));
        }

        #[test]
        fn different_names_have_different_files(a in "[a./%~A]{1,4}", b in "[a./%~A]{1,4}") {
            prop_assert_eq!(a == b, file_name(&a) == file_name(&b));
        }

        /// Asserts that counts are read as they were written, from records of one length.
        #[test]
        fn a_record_is_read_as_it_was_written(at in 0.0..1e300_f64, attempts in 0.0..1e300_f64, share in 0.0..=1.0_f64) {
            let counts = Counts { at, attempts, retries: share * attempts };
            let text = record(&counts);
            prop_assert_eq!(text.len(), 75);
            prop_assert_eq!(parse(&text), Some(counts));
        }

        #[test]
        fn any_text_is_read_or_damaged(text in any::<String>()) {
            if let Some(Counts { at, attempts, retries }) = parse(&text) {
                prop_assert!(at >= 0.0 && attempts >= 0.0 && retries >= 0.0);
            }
        }
    }
}
