//! The processes of this machine, from `/proc`, or `libproc` on macOS. Other systems have no list.

use nix::libc;

/// A process, as listed by the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: libc::pid_t,
    pub(crate) parent: libc::pid_t,
    pub(crate) group: libc::pid_t,
    /// Start time in the system's unit. With the number it identifies a process.
    started: u64,
    pub(crate) is_zombie: bool,
    pub(crate) is_stopped: bool,
}

impl Process {
    /// Returns true if both are the same process, and not a reused number.
    pub(crate) fn is_same(&self, other: &Process) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }
}

/// Makes this process the parent of orphans among its descendants, until dropped: it can see then which have ended. The
/// parent of orphans may take its time to reap them. Linux only.
#[derive(Debug)]
pub(crate) struct Adoption {
    #[cfg(not(portable))]
    was_set: bool,
}

impl Adoption {
    #[cfg(not(portable))]
    pub(crate) fn begin() -> Adoption {
        use nix::sys::prctl::{get_child_subreaper, set_child_subreaper};
        let was_set = get_child_subreaper().unwrap_or(true);
        let _ = set_child_subreaper(true);
        Adoption { was_set }
    }

    #[cfg(portable)]
    pub(crate) fn begin() -> Adoption {
        Adoption {}
    }
}

#[cfg(not(portable))]
impl Drop for Adoption {
    fn drop(&mut self) {
        let _ = nix::sys::prctl::set_child_subreaper(self.was_set);
    }
}

/// Returns all readable processes; None if the list does not show this process, and so is useless.
pub(crate) fn processes() -> Option<Vec<Process>> {
    let all: Vec<Process> = numbers()?.into_iter().filter_map(read_process).collect();
    let own = std::process::id().cast_signed();
    all.iter().any(|process| process.pid == own).then_some(all)
}

#[cfg(not(target_os = "macos"))]
fn numbers() -> Option<Vec<libc::pid_t>> {
    // A PID namespace without its own /proc shows the numbers of another namespace.
    let shown = std::fs::read_link("/proc/self").ok()?;
    if shown.as_os_str() != &*std::process::id().to_string() {
        return None;
    }
    let entries = std::fs::read_dir("/proc").ok()?;
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    Some(entries.flatten().filter_map(number).collect())
}

/// Reads a process from `/proc/PID/stat`; None if it is gone.
#[cfg(not(target_os = "macos"))]
pub(crate) fn read_process(pid: libc::pid_t) -> Option<Process> {
    parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the name of the program that a process runs.
#[cfg(not(target_os = "macos"))]
pub(crate) fn program_name(pid: libc::pid_t) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(name.trim_ascii_end()).into_owned())
}

/// Parses proc_pid_stat(5). The name in parentheses may contain anything, so fields are counted from the last
/// parenthesis.
#[cfg(not(target_os = "macos"))]
fn parse(pid: libc::pid_t, stat: &[u8]) -> Option<Process> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(&stat[after_name..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    // The manual's numbers: `fields` begins with field 3.
    let field = |number: usize| fields.get(number - 3).copied();
    let state = field(3)?;
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        // A process whose main thread has ended has the state of a zombie, while other threads go on.
        is_zombie: matches!(state, "Z" | "X") && field(20)?.parse::<u32>().ok()? <= 1,
        is_stopped: state == "T",
    })
}

/// Returns true if the process runs or waits for a CPU, and for nothing else.
pub(crate) fn is_runnable(pid: libc::pid_t) -> bool {
    // As in `parse`; other systems than Linux have no such file.
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.iter().rposition(|byte| *byte == b')');
    after_name.is_some_and(|at| stat[at..].starts_with(b") R"))
}

#[cfg(target_os = "macos")]
fn numbers() -> Option<Vec<libc::pid_t>> {
    // Room for more processes than the system allows. The call takes bytes, and returns a number of processes.
    let mut numbers = vec![0; 1 << 17];
    // SAFETY: the buffer has the given size.
    let count = unsafe {
        libc::proc_listallpids(numbers.as_mut_ptr().cast(), size_of_val(&*numbers) as i32)
    };
    numbers.truncate(usize::try_from(count).ok()?);
    Some(numbers)
}

/// Returns the name of the program that a process runs.
#[cfg(target_os = "macos")]
pub(crate) fn program_name(pid: libc::pid_t) -> Option<String> {
    let mut name = [0_u8; 64];
    // SAFETY: the buffer has the given size.
    let count = unsafe { libc::proc_name(pid, name.as_mut_ptr().cast(), name.len() as u32) };
    let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
    Some(String::from_utf8_lossy(&name[..count]).into_owned())
}

#[cfg(target_os = "macos")]
pub(crate) fn read_process(pid: libc::pid_t) -> Option<Process> {
    let size = size_of::<libc::proc_bsdinfo>() as i32;
    // SAFETY: the record is plain data of the given size, for which zeroes are valid.
    let (count, info) = unsafe {
        let mut info: libc::proc_bsdinfo = std::mem::zeroed();
        let record = (&raw mut info).cast();
        (
            libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, record, size),
            info,
        )
    };
    (count == size).then(|| Process {
        pid,
        parent: info.pbi_ppid.cast_signed(),
        group: info.pbi_pgid.cast_signed(),
        started: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
        is_zombie: info.pbi_status == libc::SZOMB,
        is_stopped: info.pbi_status == libc::SSTOP,
    })
}

#[cfg(test)]
mod tests;
