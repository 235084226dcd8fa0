//! The arrays of strings that the C runtime hands to a process: its arguments, its environment.

use std::ffi::{CStr, c_char};

/// The strings of an array that ends with a null pointer.
///
/// # Safety
/// `array` is null, or an array of strings that ends with a null pointer. Nobody changes or frees any of that as long
/// as the process lives.
pub(crate) unsafe fn strings(array: *const *const c_char) -> impl Iterator<Item = &'static CStr> {
    let is_there = !array.is_null();
    let string = move |i| {
        // SAFETY: the caller's promise; `map_while` does not go past the null pointer.
        unsafe {
            let string = *array.add(i);
            (!string.is_null()).then(|| CStr::from_ptr(string))
        }
    };
    (0..).take_while(move |_| is_there).map_while(string)
}
