//! What is known of tools' failures: which exit codes and texts are transient, which are permanent.
//!
//! One data file per tool, `NAME.preset`: header lines (`program:` a file name that `--for auto` picks
//! it for, `about:` one line, `include:` another preset whose rows follow), `#` comments, and one row
//! per fact, its four fields separated by tabs: verdict (`retry`, `refused`, `stop`), codes (the
//! CODES grammar, `-` for any), text (a regex, looked for in each line whatever its case, `-` for none),
//! source. A row with codes and text needs both. A stop row wins over every other row. `refused` is a
//! `retry` of which more is known: the failure came before any work (no connection, no lock, turned away
//! with 429 or 503), so that even with `--idempotent no` it is retried. Where a tool makes several
//! requests in one run, that holds only if what it did before is harmless, as downloads are; of curl, wget
//! and redis-cli `plan/request.rs` tells from the arguments. One such row is enough, whatever `retry` rows
//! match with it. `behind` is a `stop`, as the same command will fail again; but a `retry` where
//! `--before-retry` does something about it first.

use std::fmt;

use super::values::{self, Parsed};
use crate::cli::suggest::closest;
use crate::policy::sets::CodeSet;

/// Name and text of each preset, sorted by name.
const FILES: &[(&str, &str)] = &[
    ("ansible-playbook", include_str!("ansible-playbook.preset")),
    ("apk", include_str!("apk.preset")),
    ("apt", include_str!("apt.preset")),
    ("aws", include_str!("aws.preset")),
    ("az", include_str!("az.preset")),
    ("borg", include_str!("borg.preset")),
    ("brew", include_str!("brew.preset")),
    ("bun", include_str!("bun.preset")),
    ("bundle", include_str!("bundle.preset")),
    ("cargo", include_str!("cargo.preset")),
    ("composer", include_str!("composer.preset")),
    ("conda", include_str!("conda.preset")),
    ("curl", include_str!("curl.preset")),
    ("dnf", include_str!("dnf.preset")),
    ("docker", include_str!("docker.preset")),
    ("dotnet", include_str!("dotnet.preset")),
    ("ffmpeg", include_str!("ffmpeg.preset")),
    ("flatpak", include_str!("flatpak.preset")),
    ("flock", include_str!("flock.preset")),
    ("ftp", include_str!("ftp.preset")),
    ("gcloud", include_str!("gcloud.preset")),
    ("gem", include_str!("gem.preset")),
    ("gh", include_str!("gh.preset")),
    ("git", include_str!("git.preset")),
    ("git-lfs", include_str!("git-lfs.preset")),
    ("go", include_str!("go.preset")),
    ("gradle", include_str!("gradle.preset")),
    ("helm", include_str!("helm.preset")),
    ("hg", include_str!("hg.preset")),
    ("kubectl", include_str!("kubectl.preset")),
    ("lftp", include_str!("lftp.preset")),
    ("mongosh", include_str!("mongosh.preset")),
    ("mvn", include_str!("mvn.preset")),
    ("mysql", include_str!("mysql.preset")),
    ("network", include_str!("network.preset")),
    ("nix", include_str!("nix.preset")),
    ("npm", include_str!("npm.preset")),
    ("packer", include_str!("packer.preset")),
    ("pacman", include_str!("pacman.preset")),
    ("pg_dump", include_str!("pg_dump.preset")),
    ("pg_isready", include_str!("pg_isready.preset")),
    ("pip", include_str!("pip.preset")),
    ("pnpm", include_str!("pnpm.preset")),
    ("poetry", include_str!("poetry.preset")),
    ("psql", include_str!("psql.preset")),
    ("pulumi", include_str!("pulumi.preset")),
    ("rclone", include_str!("rclone.preset")),
    ("redis-cli", include_str!("redis-cli.preset")),
    ("restic", include_str!("restic.preset")),
    ("rsync", include_str!("rsync.preset")),
    ("rustup", include_str!("rustup.preset")),
    ("scp", include_str!("scp.preset")),
    ("sftp", include_str!("sftp.preset")),
    ("skopeo", include_str!("skopeo.preset")),
    ("snap", include_str!("snap.preset")),
    ("sqlite3", include_str!("sqlite3.preset")),
    ("ssh", include_str!("ssh.preset")),
    ("svn", include_str!("svn.preset")),
    ("sysexits", include_str!("sysexits.preset")),
    ("terraform", include_str!("terraform.preset")),
    ("twine", include_str!("twine.preset")),
    ("uv", include_str!("uv.preset")),
    ("wget", include_str!("wget.preset")),
    ("yarn", include_str!("yarn.preset")),
    ("zypper", include_str!("zypper.preset")),
];

/// How deep presets may include one another.
const DEEPEST: usize = 4;

/// What is known of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preset {
    /// Its name, as `--for` takes it.
    pub(crate) name: &'static str,
    /// One line on what it goes by.
    pub(crate) about: &'static str,
    /// The file names of the programs it is for.
    pub(crate) programs: Vec<&'static str>,
    /// Its facts, then those of the presets it includes.
    pub(crate) rows: Vec<Row>,
}

/// One fact: a failure with these codes and this text is transient or permanent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// What such a failure is.
    pub(crate) verdict: RowVerdict,
    /// The exit codes it needs; None: any failure.
    pub(crate) codes: Option<CodeSet>,
    /// The regex some line must match, whatever the case; None: any output.
    pub(crate) text: Option<&'static str>,
    /// Where this is known from.
    pub(crate) source: &'static str,
}

/// What a row says of a failure it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowVerdict {
    /// It is transient.
    Retry,
    /// It is transient, and nothing was done.
    Refused,
    /// It is permanent, whatever other rows say.
    Stop,
    /// It is permanent, unless something is done before the next attempt.
    Behind,
}

impl RowVerdict {
    /// The word for it, and what it means.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            RowVerdict::Retry => ("retry", "the failure is transient"),
            RowVerdict::Refused => (
                "refused",
                "transient, and nothing was done: even --idempotent no retries it",
            ),
            RowVerdict::Stop => ("stop", "the failure is permanent, whatever other rules say"),
            RowVerdict::Behind => ("behind", "permanent as stop is, but transient with --before-retry"),
        }
    }
}

/// `exit 35,56, match curl: \((35|56)\)`
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = self.codes.map(|codes| format!("exit {codes}"));
        let text = self.text.map(|text| format!("match {text}"));
        let parts: Vec<String> = codes.into_iter().chain(text).collect();
        f.write_str(&parts.join(", "))
    }
}

/// A name that `--for` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PresetName {
    /// The one for the command, if there is one.
    Auto,
    /// The preset at this index.
    Named(usize),
}

impl PresetName {
    /// `curl,ssh`, `auto`
    pub(crate) fn parse_list(text: &str) -> Parsed<Vec<PresetName>> {
        let names = text.split(',').map(str::trim);
        names
            .map(|name| match name {
                "auto" => Ok(PresetName::Auto),
                name => index(name).map(PresetName::Named).ok_or_else(|| {
                    let which = if name == text {
                        String::new()
                    } else {
                        format!(" with {name:?}")
                    };
                    let hint = closest(name, names_and_programs().chain(["auto"]));
                    format!("names no preset{which}; --list-presets shows them, and auto goes by the command{hint}")
                }),
            })
            .collect()
    }

    /// Whether it is the one for the program with this file name.
    pub(crate) fn is_for(self, program: &str) -> bool {
        match self {
            PresetName::Auto => is_known(program),
            PresetName::Named(index) => index_for_program(program) == Some(index),
        }
    }

    /// The preset, for a command with this file name.
    pub(crate) fn preset(self, program: Option<&str>) -> Option<Preset> {
        match self {
            PresetName::Auto => program.and_then(for_program),
            PresetName::Named(index) => FILES.get(index).map(|file| parsed(*file)),
        }
    }
}

/// The preset that `--for` takes by this name, or what is wrong with it.
pub(crate) fn named(name: &str) -> Result<Preset, String> {
    let found = index(name).map(|index| parsed(FILES[index]));
    found.ok_or_else(|| {
        let hint = closest(name, names_and_programs());
        format!("{name:?} names no preset; --list-presets alone shows them{hint}")
    })
}

fn names_and_programs() -> impl Iterator<Item = &'static str> {
    let names = FILES.iter().map(|(name, _)| *name);
    names.chain(FILES.iter().flat_map(|(_, text)| values_of(text, "program")))
}

/// Where the preset of this name stands, or else the one for the program of this name.
fn index(name: &str) -> Option<usize> {
    let named = FILES.iter().position(|(known, _)| *known == name);
    named.or_else(|| index_for_program(name))
}

fn index_for_program(file_name: &str) -> Option<usize> {
    let is_for = |(_, text): &(&str, &'static str)| programs(text).any(|program| program == file_name);
    // Most have the name of their program, and need no look into the others.
    let named = FILES.iter().position(|(name, _)| *name == file_name);
    named
        .filter(|index| is_for(&FILES[*index]))
        .or_else(|| FILES.iter().position(is_for))
}

/// The preset for the program with this file name.
pub(crate) fn for_program(file_name: &str) -> Option<Preset> {
    index_for_program(file_name).map(|index| parsed(FILES[index]))
}

/// What `--for` takes, besides auto.
pub(crate) fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// Every preset, sorted by name.
pub(crate) fn all() -> impl Iterator<Item = Preset> {
    FILES.iter().copied().map(parsed)
}

fn parsed((name, text): (&'static str, &'static str)) -> Preset {
    let mut rows = Vec::new();
    add_rows(text, DEEPEST, &mut rows);
    Preset {
        name,
        about: values_of(text, "about").next().unwrap_or_default(),
        programs: programs(text).collect(),
        rows,
    }
}

fn add_rows(text: &'static str, deepest: usize, rows: &mut Vec<Row>) {
    rows.extend(text.lines().filter_map(row));
    if deepest == 0 {
        return;
    }
    for included in values_of(text, "include") {
        if let Some((_, text)) = FILES.iter().find(|(known, _)| *known == included) {
            add_rows(text, deepest - 1, rows);
        }
    }
}

/// Whether there is one for the program with this file name.
pub(crate) fn is_known(file_name: &str) -> bool {
    index_for_program(file_name).is_some()
}

/// The programs that a preset is for: the first lines.
fn programs(text: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (program, others) = rest.strip_prefix("program: ")?.split_once('\n')?;
        rest = others;
        Some(program)
    })
}

/// The values of the header lines with this key, which come before all rows.
fn values_of(text: &'static str, key: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .take_while(|line| !line.contains('\t'))
        .filter_map(move |line| line.strip_prefix(key)?.strip_prefix(": "))
}

/// The row a line holds. What cannot be read is left out here; a test finds it.
fn row(line: &'static str) -> Option<Row> {
    let mut fields = line.split('\t');
    let verdict = match fields.next()? {
        "retry" => RowVerdict::Retry,
        "refused" => RowVerdict::Refused,
        "stop" => RowVerdict::Stop,
        "behind" => RowVerdict::Behind,
        _ => return None,
    };
    let codes = match fields.next()? {
        "-" => None,
        codes => Some(values::codes(codes).ok()?),
    };
    let text = Some(fields.next()?).filter(|text| *text != "-");
    let source = fields.next()?;
    let says_something = (codes.is_some() || text.is_some()) && !source.is_empty();
    (fields.next().is_none() && says_something).then_some(Row {
        verdict,
        codes,
        text,
        source,
    })
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
