//! Hands the name of the target on, for `--version`: only build scripts are told.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this is how a build script speaks with cargo"
)]

fn main() {
    let target = std::env::var("TARGET").unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo:rustc-env=BACKOFF_TARGET={target}");
    println!("cargo:rerun-if-changed=build.rs");
}
