//! The system's text of errors, for messages: "Permission denied" without a number.

use nix::errno::Errno;

pub(crate) fn describe(errno: Errno) -> String {
    describe_error(&std::io::Error::from_raw_os_error(errno as i32))
}

/// Returns the system's text of an error, without the number that std appends, and all behind it: `(os error 13)`. The
/// text of any other error stays as it is.
pub(crate) fn describe_error(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}
