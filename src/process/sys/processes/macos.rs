//! macOS: `libproc`, which shows this user's processes, and no zombies.

use nix::libc;

use super::process::Process;

pub(super) fn numbers() -> Option<Vec<libc::pid_t>> {
    // SAFETY: without a buffer the call only counts.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    // Some may be started meanwhile.
    let mut numbers = vec![0; usize::try_from(count).ok()? * 2];
    let size = i32::try_from(size_of_val(&*numbers)).ok()?;
    // SAFETY: a buffer of the size that is told.
    let count = unsafe { libc::proc_listallpids(numbers.as_mut_ptr().cast(), size) };
    numbers.truncate(usize::try_from(count).ok()?);
    (!numbers.is_empty()).then_some(numbers)
}

pub(crate) fn read(pid: libc::pid_t) -> Option<Process> {
    let size = size_of::<libc::proc_bsdinfo>() as i32;
    // SAFETY: a record of plain data, for which zeroes are valid, of the size that is told.
    let (count, info) = unsafe {
        let mut info: libc::proc_bsdinfo = std::mem::zeroed();
        let record = (&raw mut info).cast();
        (libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, record, size), info)
    };
    (count == size).then(|| Process {
        pid,
        parent: info.pbi_ppid.cast_signed(),
        group: info.pbi_pgid.cast_signed(),
        terminal: u64::from(info.e_tdev),
        started: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
        is_zombie: info.pbi_status == libc::SZOMB,
        is_stopped: info.pbi_status == libc::SSTOP,
    })
}
