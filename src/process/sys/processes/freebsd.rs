//! FreeBSD: `sysctl(3)`.

use nix::libc::{self, kinfo_proc};

use super::process::Process;

pub(super) fn numbers() -> Option<Vec<libc::pid_t>> {
    let records = records(libc::KERN_PROC_PROC, 0)?;
    Some(records.iter().map(|record| record.ki_pid).collect())
}

pub(crate) fn read(pid: libc::pid_t) -> Option<Process> {
    let records = records(libc::KERN_PROC_PID, pid)?;
    let record = records.first().filter(|record| record.ki_pid == pid)?;
    Some(Process {
        pid,
        parent: record.ki_ppid,
        group: record.ki_pgid,
        terminal: u64::from(record.ki_tdev_freebsd11),
        started: (record.ki_start.tv_sec * 1_000_000 + record.ki_start.tv_usec).cast_unsigned(),
        is_zombie: record.ki_stat == libc::SZOMB,
        is_stopped: record.ki_stat == libc::SSTOP,
    })
}

fn records(which: i32, argument: i32) -> Option<Vec<kinfo_proc>> {
    let name = [libc::CTL_KERN, libc::KERN_PROC, which, argument];
    let mut size = 0;
    ask(&name, std::ptr::null_mut(), &mut size)?;
    // Some may be started meanwhile.
    let room = size / size_of::<kinfo_proc>() * 2 + 1;
    let mut records: Vec<kinfo_proc> = Vec::with_capacity(room);
    size = room * size_of::<kinfo_proc>();
    ask(&name, records.as_mut_ptr().cast(), &mut size)?;
    // SAFETY: the kernel has filled so many, if it knows them by the same size.
    unsafe { records.set_len(size / size_of::<kinfo_proc>()) };
    let is_known = |record: &kinfo_proc| record.ki_structsize as usize == size_of::<kinfo_proc>();
    records.iter().all(is_known).then_some(records)
}

fn ask(name: &[i32], buffer: *mut libc::c_void, size: &mut usize) -> Option<()> {
    // SAFETY: a name as long as is told, and a buffer of the size that is told, or none.
    let result = unsafe { libc::sysctl(name.as_ptr(), name.len() as u32, buffer, size, std::ptr::null(), 0) };
    (result == 0).then_some(())
}
