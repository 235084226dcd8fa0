//! The builds of backoff that are measured: those that BACKOFF and STATIC_BACKOFF name, or builds of their own.

use std::env;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use serde_json::Value;

use crate::Result;

const MUSL: &str = "x86_64-unknown-linux-musl";

/// The folder of the product.
pub fn root() -> &'static Path {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR"));
    lab.parent().unwrap_or(lab)
}

/// `cargo build --release`.
pub fn plain() -> Result<String> {
    match named("BACKOFF")? {
        Some(path) => Ok(path),
        None => built(&mut cargo(), &["--locked", "--release"], "backoff"),
    }
}

/// `packaging/static build --release`; none where it cannot be built.
pub fn static_one() -> Result<Option<String>> {
    if let Some(path) = named("STATIC_BACKOFF")? {
        return Ok(Some(path));
    }
    if !can_build_static() {
        return Ok(None);
    }
    let mut packaging = Command::new(root().join("packaging/static"));
    built(&mut packaging, &["--release"], "backoff").map(Some)
}

/// A copy of a program under this name, as `cargo install` and package managers make it.
pub fn installed(program: &str, name: &str) -> Result<String> {
    let dir = root().join("target/measured");
    fs::create_dir_all(&dir)?;
    let path = dir.join(name);
    // Nothing may be left of another one, which may be running.
    let _ = fs::remove_file(&path);
    fs::copy(program, &path)?;
    path.into_os_string()
        .into_string()
        .map_err(|path| format!("{path:?} is not UTF-8").into())
}

/// Has the system forget the pages of a program, so that its next run reads them from the disk, as the first one after a
/// restart does. Those of a file that was just written may be larger, and starts from them faster.
pub fn forget_pages(program: &str) -> Result<()> {
    let file = File::open(program)?;
    file.sync_all()?;
    Ok(posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?)
}

/// The child that tells when it was started (`examples/probe.rs`).
pub fn probe() -> Result<String> {
    let words = ["--locked", "--workspace", "--example", "probe"];
    built(&mut cargo(), &words, "probe")
}

/// What a variable names, which has to be there.
fn named(variable: &str) -> Result<Option<String>> {
    match env::var(variable) {
        Ok(path) if Path::new(&path).is_file() => Ok(Some(path)),
        Ok(path) => Err(format!("{variable}: there is no file {path:?}").into()),
        Err(_) => Ok(None),
    }
}

fn can_build_static() -> bool {
    let targets = output(Command::new("rustup").args(["target", "list", "--installed"]));
    let compiler = Command::new("musl-gcc").arg("--version").stdout(Stdio::null()).status();
    targets.lines().any(|target| target == MUSL) && compiler.is_ok()
}

fn cargo() -> Command {
    // The one that has started this program.
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The path of the program of this name, as cargo tells it.
fn built(cargo: &mut Command, words: &[&str], name: &str) -> Result<String> {
    // `cargo run` tells this program of its own package; build scripts would see that, and run again each time.
    for (variable, _) in env::vars_os() {
        let variable = variable.to_string_lossy();
        if variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&*variable);
        }
    }
    cargo.current_dir(root()).args(["build", "--quiet"]).args(words);
    cargo.arg("--message-format=json-render-diagnostics");
    let told = output(cargo.stderr(Stdio::inherit()));
    let artifacts = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs = artifacts.filter(|artifact| artifact["target"]["name"] == name);
    let path = programs.find_map(|artifact| artifact["executable"].as_str().map(str::to_owned));
    path.ok_or_else(|| format!("{name} could not be built").into())
}

/// What a program prints; nothing if it fails.
fn output(command: &mut Command) -> String {
    match command.output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => String::new(),
    }
}
