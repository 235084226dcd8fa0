//! Black-box tests of the binary. `cases/` has a page for each section of `--help`, with a heading for each option. The
//! modules here test what needs signals, a terminal or several processes. All tests run in parallel in one process, so
//! none may change its environment, directory, limits or signal actions.
//!
//! A test whose programs are missing is listed as ignored.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "these are tests"
)]

#[macro_use]
mod util;

/// Lists the tests of a module, each with the programs that it needs, if any.
macro_rules! tests {
    ($($(#[$attribute:meta])* $test:ident $([$($program:expr),*])?)*) => {
        pub const TESTS: &[crate::util::harness::Test] =
            &[$($(#[$attribute])* (stringify!($test), &[$($($program),*)?], $test)),*];
    };
}

/// Declares the modules and lists their tests.
macro_rules! modules {
    ($($(#[$attribute:meta])* $name:ident)*) => {
        $($(#[$attribute])* mod $name;)*
        const MODULES: &[(&str, &[crate::util::harness::Test])] = &[
            $($(#[$attribute])* (stringify!($name), $name::TESTS),)*
        ];
    };
}

modules! {
    action
    alarm
    architecture
    budget
    cases
    completions
    countdown
    documents
    faults
    generated
    generated_options
    held
    help
    hooks
    inherit
    input
    install
    lines
    links
    log
    mistakes
    modes
    options
    output
    presets
    pty
    reasons
    report
    #[cfg(target_os = "linux")]
    resources
    search
    signals
    stability
    terminal
    time
    unending
    unread
    waits
    with_tools
    #[cfg(feature = "redis")]
    redis
    interrupted
    sequences
    storm
}

const MORE: &[(&str, &[crate::util::harness::Test])] = &[
    ("unending::root", unending::root::TESTS),
    #[cfg(feature = "redis")]
    ("redis::root", redis::root::TESTS),
    #[cfg(feature = "redis")]
    ("storm::servers", storm::servers::TESTS),
];

fn main() {
    util::harness::main(&[MODULES, MORE].concat(), cases::pages());
}
