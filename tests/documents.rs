//! Checks every block of every document with the checker of its language, and also the workflows and the action of this
//! repository. `.ci/checkers` installs the checkers that no distribution has.
//!
//! A block that is a part of a file is completed first. The checkers ignore only what examples may leave out.

use std::collections::HashMap;
use std::fs::{copy, create_dir_all, write};
use std::path::Path;

use tempfile::TempDir;

use crate::util::documents::{Block, ROOT, blocks, blocks_of, documents};
use crate::util::{BIN, Ends, backoff, clean, path_with_backoff, within};

// `blocks_of_LANGUAGE` checks the blocks of LANGUAGE.
tests! {
    every_block_has_a_checker []
    blocks_of_sh ["shellcheck"]
    blocks_of_yaml ["check-jsonschema", "jactionlint", "kubernetes-validate", "shellcheck"]
    blocks_of_dockerfile ["hadolint"]
    blocks_of_crontab ["crontab -n"]
    blocks_of_ini ["systemd-analyze"]
    blocks_of_makefile ["make"]
    blocks_of_toml []
    blocks_of_groovy ["python-of-checkers"]
    workflows_and_the_action ["check-jsonschema", "jactionlint", "shellcheck"]
}

/// Prose, and console blocks, which `tests/cases.rs` and `tests/readme.rs` run.
const NOT_CHECKED_HERE: &[&str] = &["text", "console"];

fn every_block_has_a_checker() {
    for block in documents().iter().flat_map(blocks) {
        let checker = format!("blocks_of_{}", block.language);
        let is_known = NOT_CHECKED_HERE.contains(&block.language)
            || TESTS.iter().any(|(name, ..)| *name == checker);
        assert!(is_known, "{}: no {checker}", block.file_name());
    }
}

/// Writes each block to a file, and returns the paths.
fn as_files(dir: &TempDir, blocks: &[Block]) -> Vec<String> {
    let files = blocks.iter().map(|block| {
        let file = within(dir, &block.file_name());
        write(&file, block.text()).unwrap();
        file
    });
    files.collect()
}

fn blocks_of_sh() {
    let dir = tempfile::tempdir().unwrap();
    // SC2016: the command's shell expands the variables of an attempt, not the calling shell. SC2164: the user sees a
    // failed `cd`.
    let options = ["--shell=sh", "--exclude=SC2016,SC2164", "--format=gcc"];
    clean("shellcheck")
        .args(options)
        .args(as_files(&dir, &blocks_of("sh")))
        .code(0);
}

// --- YAML ---

/// The text above a list of steps.
const BEFORE_STEPS: &str = "on: push
jobs:
  job:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
";

/// Returns a repository with a copy of this repository's action, which the blocks use.
fn project() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for path in [".git", ".github/workflows"] {
        create_dir_all(dir.path().join(path)).unwrap();
    }
    copy(
        Path::new(ROOT).join("action.yml"),
        dir.path().join("action.yml"),
    )
    .unwrap();
    dir
}

/// Returns the workflow of a block, which is a workflow or a list of steps.
fn workflow(block: &Block) -> String {
    let mut text = block.text();
    if text.starts_with("- ") {
        let steps: Vec<String> = block
            .lines
            .iter()
            .map(|line| format!("      {line}\n"))
            .collect();
        text = BEFORE_STEPS.to_owned() + &steps.concat();
    }
    // `tests/generated.rs` checks the owner and the version.
    let version = concat!("/backoff@v", env!("CARGO_PKG_VERSION"));
    let ours = text.split_whitespace().find(|word| word.ends_with(version));
    match ours {
        Some(action) => text.replace(action, "./"),
        None => text,
    }
}

fn blocks_of_yaml() {
    let dir = project();
    let mut files: HashMap<&str, Vec<String>> = HashMap::new();
    for block in blocks_of("yaml") {
        let name = block.file_name();
        let kind = match block.lines[0] {
            "# .gitlab-ci.yml" => "gitlab-ci",
            "# .circleci/config.yml" => "circle-ci",
            first if first.starts_with("# .github/workflows/") || first.starts_with("- ") => {
                "github-workflows"
            }
            first if first.starts_with("apiVersion: ") => "kubernetes",
            _ => panic!("{name}: its first line tells which file it is, as `# .gitlab-ci.yml`"),
        };
        let is_workflow = kind == "github-workflows";
        let text = if is_workflow {
            workflow(&block)
        } else {
            block.text()
        };
        let file = within(&dir, &format!(".github/workflows/{name}.yml"));
        write(&file, text).unwrap();
        files.entry(kind).or_default().push(file);
    }
    for schema in ["github-workflows", "gitlab-ci", "circle-ci"] {
        expect_schema(schema, &files[schema]);
    }
    // Examples are short, and ignore policies such as pinned actions.
    expect_good_workflows(dir.path(), "correctness", &files["github-workflows"]);
    let mut validator = clean("kubernetes-validate");
    validator
        .args(["--strict", "--quiet"])
        .args(&files["kubernetes"])
        .code(0);
}

#[track_caller]
fn expect_schema(name: &str, files: &[String]) {
    let schema = format!("vendor.{name}");
    let mut validator = clean("check-jsonschema");
    validator
        .args(["--builtin-schema", &schema])
        .args(files)
        .code(0)
        .stdout("...");
}

#[track_caller]
fn expect_good_workflows(repository: &Path, profile: &str, files: &[String]) {
    let mut linter = clean("jactionlint");
    linter.args([
        "--no-hints",
        "--no-online",
        "--strict-exit",
        "--profile",
        profile,
    ]);
    linter.current_dir(repository).args(files).code(0);
}

fn workflows_and_the_action() {
    let action = format!("{ROOT}/action.yml");
    expect_schema("github-actions", std::slice::from_ref(&action));
    let mut files = vec![action];
    let entries = std::fs::read_dir(format!("{ROOT}/.github/workflows")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path().to_str().unwrap().to_owned());
    files.extend(paths.filter(|path| path.ends_with(".yml") || path.ends_with(".yaml")));
    expect_schema("github-workflows", &files[1..]);
    // Exceptions and their reasons belong in `.github/jactionlint.yaml`.
    expect_good_workflows(Path::new(ROOT), "default", &files);
}

// --- other languages ---

fn blocks_of_dockerfile() {
    let dir = tempfile::tempdir().unwrap();
    for block in blocks_of("dockerfile") {
        let has_base = block.lines.iter().any(|line| line.starts_with("FROM "));
        let base = if has_base { "" } else { "FROM scratch\n" };
        let file = within(&dir, &block.file_name());
        write(&file, base.to_owned() + &block.text()).unwrap();
        // The author of an image chooses the versions of its packages.
        clean("hadolint")
            .args(["--no-color", "--ignore=DL3008", &file])
            .code(0);
    }
}

fn blocks_of_crontab() {
    let dir = tempfile::tempdir().unwrap();
    for file in as_files(&dir, &blocks_of("crontab")) {
        // crontab prints that it has checked the file.
        drop(clean("crontab").args(["-n", &file]).code(0).texts());
    }
}

/// Checks units of systemd.
fn blocks_of_ini() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(*BIN, dir.path().join("backoff")).unwrap();
    for block in blocks_of("ini") {
        let file = within(
            &dir,
            &format!("{}.service", block.file_name().replace(':', "-")),
        );
        // The program that the document starts must exist.
        let text = block.text().replace("/usr/local/bin/", &within(&dir, ""));
        write(&file, text).unwrap();
        clean("systemd-analyze")
            .args(["verify", "--man=no", &file])
            .code(0);
    }
}

fn blocks_of_makefile() {
    for block in blocks_of("makefile") {
        let dir = tempfile::tempdir().unwrap();
        write(within(&dir, "Makefile"), block.text()).unwrap();
        let mut make = clean("make");
        make.args(["--dry-run", "--warn-undefined-variables"])
            .current_dir(&dir);
        for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
            make.env_remove(name);
        }
        make.env("PATH", path_with_backoff()).code(0).out();
    }
}

/// Checks configuration files: `--list-policies` reads all policies of a file.
fn blocks_of_toml() {
    let dir = tempfile::tempdir().unwrap();
    for file in as_files(&dir, &blocks_of("toml")) {
        backoff(format!("--config {file} --list-policies"))
            .code(0)
            .out();
    }
}

/// Checks the syntax of Groovy. Only Jenkins could check the rest.
fn blocks_of_groovy() {
    const HAS_ERROR: &str = "import sys, tree_sitter, tree_sitter_groovy
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_groovy.language()))
tree = parser.parse(open(sys.argv[1], 'rb').read())
sys.exit(tree.root_node.has_error and sys.argv[1] + ': is not Groovy')";
    let dir = tempfile::tempdir().unwrap();
    for file in as_files(&dir, &blocks_of("groovy")) {
        clean("python-of-checkers")
            .args(["-c", HAS_ERROR, &file])
            .code(0);
    }
}
