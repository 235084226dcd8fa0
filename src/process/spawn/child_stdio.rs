//! The standard streams that a child is started with.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What the child gets in place of 0, 1 and 2; None is the caller's own. To be dropped once it has started: only then
/// can be seen that it has closed one.
#[derive(Debug, Default)]
pub(crate) struct ChildStdio {
    pub(crate) input: Option<OwnedFd>,
    pub(crate) outputs: [Option<OwnedFd>; 2],
}

impl ChildStdio {
    pub(super) fn borrow(&self) -> [Option<BorrowedFd<'_>>; 3] {
        let [output, error] = &self.outputs;
        [&self.input, output, error].map(|fd| fd.as_ref().map(AsFd::as_fd))
    }
}
