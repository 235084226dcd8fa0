//! Tests that need a program the machine may lack, and those that load the machine. What is missing is seen when the
//! tests are listed, so that they have a harness of their own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "these are tests"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod completions;
mod documents;
mod faults;
mod idempotent;
mod picture;
mod real_tools;
#[cfg(feature = "redis")]
mod redis;
mod root;
mod storm;
mod with_tools;

fn main() {
    common::tools::main(&[
        ("with_tools", with_tools::TESTS),
        ("completions", completions::TESTS),
        ("documents", documents::TESTS),
        ("real_tools", real_tools::TESTS),
        ("idempotent", idempotent::TESTS),
        ("picture", picture::TESTS),
        ("faults", faults::TESTS),
        ("root", root::TESTS),
        #[cfg(feature = "redis")]
        ("redis", redis::TESTS),
        // In the end, because a thousand runs at once leave nothing to others.
        ("storm", storm::TESTS),
    ]);
}
