//! The functions of `macos.rs` for all other systems except Linux: the BSDs.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use nix::libc;

pub(crate) use proc_files::{list, program_name, read_process};

mod proc_files;

pub(crate) fn room(_fd: BorrowedFd<'_>) -> usize {
    libc::PIPE_BUF
}

pub(crate) fn terminal_path() -> PathBuf {
    "/dev/tty".into()
}
