//! Tests that need a program the machine may lack, and tests that load the machine. These tests have their own harness,
//! because it looks for programs when it lists the tests.
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

/// Lists tests, each with the programs that it needs.
macro_rules! tests {
    ($($test:ident $programs:tt)*) => {
        pub const TESTS: &[crate::common::tools::Test] = &[$((stringify!($test), &$programs, $test)),*];
    };
}

mod action;
mod cases;
mod completions;
mod documents;
mod faults;
mod fuse_root;
mod install;
mod presets;
mod readme;
#[cfg(feature = "redis")]
mod redis;
mod sequences;
mod server;
mod storm;
mod unending;
mod with_tools;

fn main() {
    let modules = [
        ("with_tools", with_tools::TESTS),
        ("completions", completions::TESTS),
        ("documents", documents::TESTS),
        ("action", action::TESTS),
        ("install", install::TESTS),
        ("readme", readme::TESTS),
        ("faults", faults::TESTS),
        ("unending", unending::TESTS),
        ("unending_root", unending::root::TESTS),
        ("sequences", sequences::TESTS),
        ("fuse_root", fuse_root::TESTS),
        ("presets", presets::TESTS),
        #[cfg(feature = "redis")]
        ("redis", redis::TESTS),
        #[cfg(feature = "redis")]
        ("redis_root", redis::root::TESTS),
        // Last, because a thousand parallel runs leave no resources for other tests.
        ("storm", storm::TESTS),
        #[cfg(feature = "redis")]
        ("storm", storm::servers::TESTS),
    ];
    common::tools::main(&modules, cases::tests());
}
