//! The list of processes of macOS, from `libproc`.

use nix::libc;

use crate::process::sys::processes::Process;

pub(crate) fn numbers() -> Option<Vec<libc::pid_t>> {
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
pub(crate) fn program_name(pid: libc::pid_t) -> Option<String> {
    let mut name = [0_u8; 64];
    // SAFETY: the buffer has the given size.
    let count = unsafe { libc::proc_name(pid, name.as_mut_ptr().cast(), name.len() as u32) };
    let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
    Some(String::from_utf8_lossy(&name[..count]).into_owned())
}

pub(crate) fn read_process(pid: libc::pid_t) -> Option<Process> {
    let size = size_of::<libc::proc_bsdinfo>() as i32;
    // SAFETY: the record is plain data, for which zeroes are valid.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let record = (&raw mut info).cast();
    // SAFETY: the record has the given size.
    let count = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, record, size) };
    (count == size).then(|| Process {
        pid,
        parent: info.pbi_ppid.cast_signed(),
        group: info.pbi_pgid.cast_signed(),
        started: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
        is_zombie: info.pbi_status == libc::SZOMB,
        is_stopped: info.pbi_status == libc::SSTOP,
    })
}

/// Returns false, as the system does not tell: backoff then waits no longer.
pub(crate) fn is_runnable(_pid: libc::pid_t) -> bool {
    false
}
