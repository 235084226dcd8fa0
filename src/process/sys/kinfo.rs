//! The record by which macOS describes a process: `struct kinfo_proc` of its `sys/sysctl.h`, in 64-bit programs. Read
//! from bytes by offsets, as `libc` does not declare it.

use nix::libc;

use crate::process::sys::processes::Process;

/// Size of a record.
pub(crate) const SIZE: usize = 648;

// Offsets of fields. The first is the start time: seconds as 64 bits, then microseconds as 32.
const START_SECONDS: usize = 0;
const START_MICROSECONDS: usize = 8;
const STATE: usize = 36;
const PID: usize = 40;
const NAME: usize = 243;
const NAME_SIZE: usize = 16;
const PARENT: usize = 560;
const GROUP: usize = 564;
const TERMINAL: usize = 572;

// States.
const STOPPED: u8 = 4;
const ZOMBIE: u8 = 5;

/// The terminal of a process without one (NODEV).
const NO_DEVICE: i32 = -1;

/// A process, and what else the record tells about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) process: Process,
    /// The program's name, without its directory and of at most 16 bytes.
    pub(crate) name: String,
    /// The device of the controlling terminal; None without one.
    pub(crate) terminal: Option<i32>,
}

/// Reads a record from its bytes, in the machine's byte order. Returns None if there are too few, as for a process that
/// is gone.
pub(crate) fn parse(bytes: &[u8]) -> Option<Record> {
    let name = bytes.get(NAME..NAME + NAME_SIZE)?;
    // A NUL ends it, unless it fills the field.
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let seconds = u64::from_ne_bytes(field(bytes, START_SECONDS)?);
    let microseconds = u32::from_ne_bytes(field(bytes, START_MICROSECONDS)?);
    let state = *bytes.get(STATE)?;
    let terminal = match i32::from_ne_bytes(field(bytes, TERMINAL)?) {
        NO_DEVICE => None,
        device => Some(device),
    };
    Some(Record {
        process: Process {
            pid: libc::pid_t::from_ne_bytes(field(bytes, PID)?),
            parent: libc::pid_t::from_ne_bytes(field(bytes, PARENT)?),
            group: libc::pid_t::from_ne_bytes(field(bytes, GROUP)?),
            // In microseconds. Only compared, so an overflow is harmless.
            started: seconds
                .wrapping_mul(1_000_000)
                .wrapping_add(microseconds.into()),
            is_zombie: state == ZOMBIE,
            is_stopped: state == STOPPED,
        },
        name: String::from_utf8_lossy(name).into_owned(),
        terminal,
    })
}

/// Reads all records of a list. An incomplete one at its end is left out.
pub(crate) fn parse_all(bytes: &[u8]) -> Vec<Process> {
    let records = bytes.chunks_exact(SIZE).filter_map(parse);
    records.map(|record| record.process).collect()
}

fn field<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..offset + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    /// The C structures, written down from the system's headers in Rust's types: an independent source of the offsets.
    mod c {
        use std::ffi::{c_char, c_int, c_short, c_uint, c_ushort, c_void};

        type Pointer = *const c_void;

        #[repr(C)]
        pub(super) struct Time {
            pub(super) seconds: i64,
            pub(super) microseconds: i32,
        }

        #[repr(C)]
        pub(super) struct ExternProc {
            pub(super) p_starttime: Time,
            p_vmspace: Pointer,
            p_sigacts: Pointer,
            p_flag: c_int,
            pub(super) p_stat: c_char,
            pub(super) p_pid: c_int,
            p_oppid: c_int,
            p_dupfd: c_int,
            user_stack: Pointer,
            exit_thread: Pointer,
            p_debugger: c_int,
            sigwait: c_int,
            p_estcpu: c_uint,
            p_cpticks: c_int,
            p_pctcpu: u32,
            p_wchan: Pointer,
            p_wmesg: Pointer,
            p_swtime: c_uint,
            p_slptime: c_uint,
            p_realtimer: [Time; 2],
            p_rtime: Time,
            p_uticks: u64,
            p_sticks: u64,
            p_iticks: u64,
            p_traceflag: c_int,
            p_tracep: Pointer,
            p_siglist: c_int,
            p_textvp: Pointer,
            p_holdcnt: c_int,
            p_sigmask: u32,
            p_sigignore: u32,
            p_sigcatch: u32,
            p_priority: u8,
            p_usrpri: u8,
            p_nice: c_char,
            pub(super) p_comm: [c_char; 17],
            p_pgrp: Pointer,
            p_addr: Pointer,
            p_xstat: c_ushort,
            p_acflag: c_ushort,
            p_ru: Pointer,
        }

        #[repr(C)]
        struct Pcred {
            pc_lock: [c_char; 72],
            pc_ucred: Pointer,
            ids: [u32; 4],
            p_refcnt: c_int,
        }

        #[repr(C)]
        struct Ucred {
            cr_ref: i32,
            cr_uid: u32,
            cr_ngroups: c_short,
            cr_groups: [u32; 16],
        }

        #[repr(C)]
        struct Vmspace {
            dummy: i32,
            dummy2: Pointer,
            dummy3: [i32; 5],
            dummy4: [Pointer; 3],
        }

        #[repr(C)]
        pub(super) struct KinfoProc {
            pub(super) kp_proc: ExternProc,
            e_paddr: Pointer,
            e_sess: Pointer,
            e_pcred: Pcred,
            e_ucred: Ucred,
            e_vm: Vmspace,
            pub(super) e_ppid: c_int,
            pub(super) e_pgid: c_int,
            e_jobc: c_short,
            pub(super) e_tdev: i32,
            e_tpgid: c_int,
            e_tsess: Pointer,
            e_wmesg: [c_char; 8],
            e_xsize: i32,
            e_xrssize: c_short,
            e_xccount: c_short,
            e_xswrss: c_short,
            e_flag: i32,
            e_login: [c_char; 12],
            e_spare: [i32; 4],
        }
    }

    #[test]
    fn offsets_are_those_of_the_c_structure() {
        use c::{ExternProc, KinfoProc, Time};
        assert_eq!(size_of::<KinfoProc>(), SIZE);
        assert_eq!(offset_of!(ExternProc, p_starttime), START_SECONDS);
        let microseconds = offset_of!(Time, microseconds);
        assert_eq!(
            (microseconds, offset_of!(Time, seconds)),
            (START_MICROSECONDS, 0)
        );
        assert_eq!(offset_of!(KinfoProc, kp_proc), 0);
        assert_eq!(offset_of!(ExternProc, p_stat), STATE);
        assert_eq!(offset_of!(ExternProc, p_pid), PID);
        assert_eq!(offset_of!(ExternProc, p_comm), NAME);
        assert_eq!(offset_of!(KinfoProc, e_ppid), PARENT);
        assert_eq!(offset_of!(KinfoProc, e_pgid), GROUP);
        assert_eq!(offset_of!(KinfoProc, e_tdev), TERMINAL);
    }

    fn record(state: u8) -> Vec<u8> {
        let mut bytes = vec![0xee; SIZE];
        let mut put = |offset: usize, value: &[u8]| {
            bytes[offset..offset + value.len()].copy_from_slice(value);
        };
        put(START_SECONDS, &1_700_000_000_u64.to_ne_bytes());
        put(START_MICROSECONDS, &123_456_u32.to_ne_bytes());
        put(STATE, &[state]);
        put(PID, &4711_i32.to_ne_bytes());
        put(NAME, b"sleep\0garbage");
        put(PARENT, &42_i32.to_ne_bytes());
        put(GROUP, &43_i32.to_ne_bytes());
        put(TERMINAL, &(-1_i32).to_ne_bytes());
        bytes
    }

    #[test]
    fn a_record_is_read() {
        let running = Process {
            pid: 4711,
            parent: 42,
            group: 43,
            started: 1_700_000_000_123_456,
            is_zombie: false,
            is_stopped: false,
        };
        let expected = Record {
            process: running,
            name: "sleep".to_owned(),
            terminal: None,
        };
        assert_eq!(parse(&record(2)), Some(expected));
        let stopped = parse(&record(STOPPED)).unwrap().process;
        assert!(stopped.is_stopped && !stopped.is_zombie && stopped.is_same(&running));
        let zombie = parse(&record(ZOMBIE)).unwrap().process;
        assert!(zombie.is_zombie && !zombie.is_stopped);
        let mut with_terminal = record(2);
        with_terminal[TERMINAL..TERMINAL + 4].copy_from_slice(&0x1000_0003_i32.to_ne_bytes());
        assert_eq!(parse(&with_terminal).unwrap().terminal, Some(0x1000_0003));
    }

    #[test]
    fn a_list_is_read_and_a_cut_record_is_left_out() {
        let list = [record(2), record(3), record(5)[..SIZE - 1].to_vec()].concat();
        assert_eq!(parse_all(&list).len(), 2);
        assert_eq!(parse(&[0; 100]), None);
        assert_eq!(parse(&[]), None);
    }
}
