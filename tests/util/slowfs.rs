//! A file system whose operations hang or fail on demand (`tests/util/slowfs.c`).

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use super::documents::ROOT;
use super::{eventually, within};

/// The program, compiled on first use.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slowfs");
    let own = program.with_extension(std::process::id().to_string());
    let source = format!("{ROOT}/tests/util/slowfs.c");
    let built = Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-o"])
        .arg(&own)
        .arg(source)
        .status();
    assert!(built.unwrap().success(), "slowfs.c does not compile");
    // Other tests may be running the previous one.
    std::fs::rename(own, &program).unwrap();
    program
});

/// A mounted file system. Dropping it, or killing the test, unmounts it and ends all hung operations.
pub struct SlowFs {
    server: Child,
    place: tempfile::TempDir,
}

impl SlowFs {
    pub fn mount() -> SlowFs {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("mnt")).unwrap();
        let server = Command::new(&*PROGRAM)
            .args([within(&place, "mnt"), within(&place, "control")])
            .stdin(Stdio::piped())
            .stdout(std::fs::File::create(place.path().join("said")).unwrap())
            .spawn()
            .unwrap();
        let fs = SlowFs { server, place };
        eventually("it is mounted", || fs.has_said("mounted"));
        fs
    }

    fn has_said(&self, line: &str) -> bool {
        let said = std::fs::read_to_string(self.place.path().join("said")).unwrap();
        said.split_terminator('\n').any(|said| said == line)
    }

    /// Returns true if an operation of this process is waiting for an answer. Until the file system has received it, a
    /// signal that kills the process cancels it.
    pub fn holds(&self, pid: i32) -> bool {
        self.has_said(&format!("held {pid}"))
    }

    /// Returns the path of the mounted directory.
    pub fn dir(&self) -> String {
        within(&self.place, "mnt")
    }

    /// Sets the effects, in lines such as `flock hang` and `write ENOSPC name`. Without a line, all operations work.
    pub fn control(&self, effects: &str) {
        let new = within(&self.place, "new");
        std::fs::write(&new, effects).unwrap();
        std::fs::rename(new, within(&self.place, "control")).unwrap();
    }
}

impl Drop for SlowFs {
    fn drop(&mut self) {
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}
