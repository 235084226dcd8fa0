//! Memory from the system's allocator; where it has none, backoff ends as on any fault of its own.
//!
//! The standard library would abort: a death by ABRT, which says that the command was aborted. It has no stable way to
//! do anything else.

use std::alloc::{GlobalAlloc, Layout, System};

use super::leave;
use super::sys::stdio;

/// The allocator of the binary.
#[derive(Debug)]
pub struct Memory;

// SAFETY: what `System` promises, as everything is its; the caller's promises are handed on to it.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        there(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        there(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        there(unsafe { System.realloc(old, layout, size) })
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(old, layout) }
    }
}

/// Ends the process where there is none. Nothing here allocates.
#[inline]
fn there(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        none();
    }
    memory
}

#[cold]
fn none() -> ! {
    let _ = stdio::write_some(stdio::ERR, b"backoff: cannot allocate memory\n");
    leave::at_once(125)
}
