//! The system's error texts, for messages: "Permission denied" without a number.

use nix::errno::Errno;

pub(crate) fn describe(errno: Errno) -> String {
    describe_error(&std::io::Error::from_raw_os_error(errno as i32))
}

/// Returns the system's text for an error, without the `(os error 13)` that std appends and anything after it. The text
/// of any other error is returned as it is.
pub(crate) fn describe_error(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}
