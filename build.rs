//! Sets the target's name for `--version`, `cfg(portable)` for systems other than Linux and `cfg(recorded)` if the output of
//! real tools is there, and links the unwinder.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a build script prints its instructions to cargo"
)]

use std::env::var;
use std::path::Path;
use std::process::Command;

fn main() {
    let target = var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    // `cargo run` exports this variable; a name that starts with BACKOFF_ would be taken for an option.
    println!("cargo:rustc-env=BUILD_TARGET={target}");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(portable)");
    // `--cfg backoff_portable` builds the portable code on Linux, for tests.
    if var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os != "linux")
        || var("CARGO_CFG_BACKOFF_PORTABLE").is_ok()
    {
        println!("cargo:rustc-cfg=portable");
    }
    println!("cargo:rustc-check-cfg=cfg(recorded)");
    // The crate comes without it.
    if Path::new("tests/presets/samples.tsv").exists() {
        println!("cargo:rustc-cfg=recorded");
    }
    let is_static = var("CARGO_CFG_TARGET_FEATURE")
        .is_ok_and(|features| features.split(',').any(|f| f == "crt-static"));
    let is_sanitized =
        var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("sanitizer"));
    if target.ends_with("-linux-gnu") && !is_static && !is_sanitized && has_unwinder() {
        // Panics abort in a release, so the unwinder never runs; loading it as a library is a fifth of the loader's work.
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Returns true if the linker has GCC's unwinder as a static library.
fn has_unwinder() -> bool {
    let linker = var("RUSTC_LINKER").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(linker)
        .arg("-print-file-name=libgcc_eh.a")
        .output();
    output.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout).into_owned();
        let path = Path::new(path.trim());
        path.is_absolute() && path.exists()
    })
}
