//! What a waiting backoff keeps in memory.

use std::ffi::{c_int, c_void};
use std::ptr;

use nix::libc;

/// Lets go of the program's own code and constants that have been mapped in so far. Most of it was for the
/// start and is never needed again; the rest comes back from the page cache when it is.
pub(super) fn let_go_of_code() {
    // SAFETY: a callback of the right type, which uses no data of ours.
    unsafe { libc::dl_iterate_phdr(Some(let_go_of), ptr::null_mut()) };
}

/// Lets go of the read-only segments of an object, and asks for no other: the first is the program itself.
unsafe extern "C" fn let_go_of(object: *mut libc::dl_phdr_info, _: libc::size_t, _: *mut c_void) -> c_int {
    let Ok(mappings) = std::fs::read_to_string("/proc/self/maps") else {
        return 1;
    };
    // SAFETY: only asks.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    // SAFETY: the C library hands over a valid object, with a pointer to as many headers as it says.
    let (base, headers) = unsafe {
        let object = &*object;
        (
            object.dlpi_addr as usize,
            std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)),
        )
    };
    for segment in headers {
        if segment.p_type != libc::PT_LOAD || segment.p_flags & libc::PF_W != 0 {
            continue;
        }
        let begin = (base + segment.p_vaddr as usize) & !(page - 1);
        let end = (base + segment.p_vaddr as usize + segment.p_memsz as usize).next_multiple_of(page);
        if !is_of_a_file(&mappings, begin) {
            continue;
        }
        // SAFETY: the file still says what is in these pages, as nothing that runs here writes to them. A segment that
        // can be written to shares no page with them.
        unsafe { libc::madvise(begin as *mut c_void, end - begin, libc::MADV_DONTNEED) };
    }
    1
}

/// Whether what is mapped at this address comes from a file. A program that was packed has unpacked itself
/// into memory, and has it nowhere else.
fn is_of_a_file(mappings: &str, address: usize) -> bool {
    let number = |text| usize::from_str_radix(text, 16).ok();
    mappings.lines().any(|line| {
        // proc_pid_maps(5): addresses, permissions, offset, device, inode.
        let mut fields = line.split_ascii_whitespace();
        let range = fields.next().and_then(|range| range.split_once('-'));
        let is_it = range.is_some_and(|(begin, end)| {
            number(begin).is_some_and(|begin| begin <= address) && number(end).is_some_and(|end| address < end)
        });
        is_it && fields.nth(3).is_some_and(|inode| inode != "0")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_from_a_file() {
        let mappings = "00400000-0040b000 r-xp 00000000 fe:00 10010711 /usr/bin/backoff\n\
                        0040b000-00500000 r-xp 00000000 00:00 0 \n\
                        7ffe0000-7fff0000 rw-p 00000000 00:00 0 [stack]\n";
        assert!(is_of_a_file(mappings, 0x40_0000));
        assert!(is_of_a_file(mappings, 0x40_afff));
        assert!(!is_of_a_file(mappings, 0x40_b000));
        assert!(!is_of_a_file(mappings, 0x7ffe_1000));
        assert!(!is_of_a_file(mappings, 0x10));
    }
}
