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
        // SAFETY: nothing has written to these pages, so the file still says what is in them. A segment that can
        // be written to shares no page with them.
        unsafe { libc::madvise(begin as *mut c_void, end - begin, libc::MADV_DONTNEED) };
    }
    1
}
