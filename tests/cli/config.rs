//! The configuration file: where it is found, who may write it, what it may say, and what wins.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use crate::common::options::{OPTIONS, Takes};
use crate::common::words::Words;
use crate::common::{Shown, backoff, run};

/// A home directory with a configuration file.
struct Home {
    dir: TempDir,
}

impl Home {
    fn empty() -> Home {
        Home {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn with(text: impl AsRef<[u8]>) -> Home {
        let home = Home::empty();
        home.write(".config/backoff/config.toml", text);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the path of the default file.
    fn file(&self) -> String {
        self.path(".config/backoff/config.toml").to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        set_mode(&path, 0o644);
        path
    }

    fn backoff(&self, args: impl Words) -> Command {
        let mut command = backoff(args);
        command
            .env_remove("BACKOFF_CONFIG")
            .env_remove("XDG_CONFIG_HOME")
            .env("HOME", self.dir.path())
            .current_dir(self.dir.path());
        command
    }

    #[track_caller]
    fn ran(&self, args: impl Words) -> Shown {
        run(&mut self.backoff(args))
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Prints the attempt limit, which stands for any setting.
const LIMIT: &str = "-- sh -c 'echo $BACKOFF_ATTEMPT_LIMIT'";

#[track_caller]
fn limit(command: &mut Command) -> String {
    run(command.args(LIMIT.words())).expect_code(0).stdout.trim().to_owned()
}

/// This file is refused, nothing is started, and one line says where and what.
#[track_caller]
fn refused(text: impl AsRef<[u8]>, place: &str, says: &[&str]) {
    let home = Home::with(text);
    let shown = home.ran("-- echo started").expect_code(125);
    assert_eq!(
        (shown.stdout.as_str(), shown.stderr.lines().count()),
        ("", 1),
        "{shown:?}"
    );
    let begin = format!("backoff: {}:{place}", home.file());
    assert!(shown.stderr.starts_with(&begin), "no {begin:?} in {shown:?}");
    for part in says {
        assert!(shown.stderr.contains(part), "no {part:?} in {shown:?}");
    }
}

// --- which file ----------------------------------------------------------------------------------

#[test]
fn the_file_is_where_xdg_says_or_below_home() {
    let home = Home::with("[defaults]\nattempts = 7\n");
    assert_eq!(limit(&mut home.backoff("")), "7");
    home.write("xdg/backoff/config.toml", "[defaults]\nattempts = 8\n");
    assert_eq!(limit(home.backoff("").env("XDG_CONFIG_HOME", home.path("xdg"))), "8");
    for counts_as_unset in ["xdg", "", "./xdg"] {
        let mut command = home.backoff("");
        assert_eq!(limit(command.env("XDG_CONFIG_HOME", counts_as_unset)), "7");
    }
    // Set, and nothing there: not a reason to look elsewhere.
    assert_eq!(limit(home.backoff("").env("XDG_CONFIG_HOME", "/no/such")), "5");
    assert_eq!(limit(home.backoff("").env_remove("HOME")), "5");
    assert_eq!(limit(home.backoff("").env("HOME", "relative")), "5");
}

#[test]
fn a_missing_default_file_is_no_error_and_a_missing_named_one_is() {
    let home = Home::empty();
    home.ran("-- true").expect_code(0).expect_silence();
    // A file in place of the directory means no configuration, either.
    home.write(".config", "");
    home.ran("-- true").expect_code(0).expect_silence();
    home.ran("--config none.toml -- true")
        .expect_code(125)
        .expect_stderr("backoff: --config: \"none.toml\" cannot be opened: No such file or directory\n");
    run(home.backoff("-- true").env("BACKOFF_CONFIG", "none.toml"))
        .expect_code(125)
        .expect_stderr("backoff: BACKOFF_CONFIG: \"none.toml\" cannot be opened");
}

#[test]
fn the_file_can_be_named_or_left_unread() {
    let home = Home::with("[defaults]\nattempts = 7\n");
    home.write("own.toml", "[defaults]\nattempts = 8\n");
    home.write("broken.toml", "what");
    assert_eq!(limit(&mut home.backoff("--config own.toml")), "8");
    assert_eq!(limit(home.backoff("").env("BACKOFF_CONFIG", "own.toml")), "8");
    assert_eq!(limit(&mut home.backoff("--config none")), "5");
    assert_eq!(limit(home.backoff("").env("BACKOFF_CONFIG", "none")), "5");
    home.write("none", "[defaults]\nattempts = 9\n");
    assert_eq!(limit(&mut home.backoff("--config ./none")), "9");
    assert_eq!(
        limit(home.backoff("--config own.toml").env("BACKOFF_CONFIG", "none")),
        "8"
    );
    assert_eq!(
        limit(home.backoff("--config none").env("BACKOFF_CONFIG", "broken.toml")),
        "5"
    );
}

#[test]
fn the_working_directory_is_never_searched() {
    let home = Home::empty();
    for name in [
        "config.toml",
        "backoff.toml",
        ".backoff.toml",
        "backoff/config.toml",
        ".config/config.toml",
    ] {
        home.write(name, "what");
    }
    let mut command = home.backoff("-- true");
    command.env("HOME", "/no/such").env("XDG_CONFIG_HOME", ".");
    run(&mut command).expect_code(0).expect_silence();
}

// --- whose file ----------------------------------------------------------------------------------

#[test]
fn a_file_that_others_can_write_is_refused() {
    let home = Home::with("[defaults]\nattempts = 7\n");
    let file = home.path(".config/backoff/config.toml");
    for (mode, shown) in [(0o664, "0664"), (0o646, "0646"), (0o666, "0666")] {
        set_mode(&file, mode);
        home.ran("-- echo started")
            .expect_code(125)
            .expect_stderr(&format!("can be written by others (mode {shown}); try chmod go-w\n"));
        home.ran(words!("--config {} -- true", home.file()))
            .expect_code(125)
            .expect_stderr("can be written by others");
    }
    for mode in [0o600, 0o400, 0o644, 0o755] {
        set_mode(&file, mode);
        assert_eq!(limit(&mut home.backoff("")), "7");
    }
}

#[test]
fn a_link_is_followed_and_its_target_judged() {
    let home = Home::empty();
    let target = home.write("dotfiles/backoff.toml", "[defaults]\nattempts = 7\n");
    let link = home.path(".config/backoff/config.toml");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&target, &link).unwrap();
    assert_eq!(limit(&mut home.backoff("")), "7");
    set_mode(&target, 0o666);
    home.ran("-- true")
        .expect_code(125)
        .expect_stderr("can be written by others");
    fs::remove_file(&target).unwrap();
    home.ran("-- true").expect_code(0).expect_silence();
}

#[test]
fn only_a_regular_file_of_some_size_is_read() {
    let home = Home::empty();
    mkfifo(&home.path("fifo"), Mode::from_bits_truncate(0o600)).unwrap();
    for name in ["fifo", ".", "/dev/null", "/dev/tty0"] {
        let shown = home.ran(words!("--config {} -- echo started", name)).expect_code(125);
        assert!(shown.stdout.is_empty(), "{shown:?}");
        if name != "/dev/tty0" {
            shown.expect_stderr("is not a regular file");
        }
    }
    let mut large = "#".repeat(1 << 20);
    home.write("large.toml", &large);
    home.ran("--config large.toml -- true").expect_code(0);
    large.push('#');
    home.write("large.toml", &large);
    home.ran("--config large.toml -- true")
        .expect_code(125)
        .expect_stderr("is larger than 1MiB");
    home.ran("--config /proc/self/mem -- true").expect_code(125);
}

// --- what it may say -----------------------------------------------------------------------------

#[test]
fn what_is_not_toml() {
    refused("[defaults]\nbase = \n", "2:8: is not TOML: ", &[]);
    refused("[defaults\nbase = 1\n", "1:10: is not TOML: ", &[]);
    refused(
        "[defaults]\nbase = 1\nbase = 2\n",
        "3:1: is not TOML: duplicate key",
        &[],
    );
    refused("[defaults]\n[defaults]\n", "2:", &["is not TOML"]);
    refused(b"[defaults]\nx = \"\xff\"\n", "2:6: ", &["not UTF-8"]);
    refused("\0", "1:2: is not TOML", &[]);
    refused(format!("x = {}", "[".repeat(100_000)), "1:", &["is not TOML"]);
    for good in [
        "",
        "# nothing\n",
        "\u{feff}[defaults]\r\nattempts = 5\r\n",
        "[policy]\n",
        "[defaults]",
    ] {
        Home::with(good).ran("-- true").expect_code(0).expect_silence();
    }
}

#[test]
fn unknown_keys_are_errors_wherever_they_stand() {
    refused(
        "[defaults]\nmaxdelay = 1\n",
        "2:1: ",
        &["\"maxdelay\"", "did you mean \"max-delay\"?"],
    );
    refused(
        "[policy.never-chosen]\nbase = 1\natempts = 1\n",
        "3:1: ",
        &["did you mean \"attempts\"?"],
    );
    refused("[[policy.x.rule]]\nmatch = 'x'\n", "1:12: ", &["\"rule\" is no option"]);
    refused("[default]\n", "1:2: ", &["did you mean \"defaults\"?"]);
    refused("[policies.x]\n", "1:2: ", &["[policy.NAME]"]);
    refused("attempts = 3\n", "1:1: ", &["put it under [defaults]"]);
    refused("[defaults]\nbase.x = 1\n", "2:", &["takes DURATION, not a table"]);
    refused("[defaults]\nbase = 1\nzzzzzzzz = 1\n", "3:1: ", &["is no option\n"]);
    refused("[defaults]\nmax_delay = 1\nmax-delay = 2\n", "3:1: ", &["line 2"]);
    refused("[defaults]\nhelp = true\n", "2:1: ", &["\"help\" cannot be set"]);
    // The first one is told.
    refused("[defaults]\nzz = 1\naa = 1\n", "2:1: ", &["\"zz\""]);
    // Columns count characters.
    refused("[policy.\"ä\"]\n\"ö\" = 1\n", "2:1: ", &["\"ö\""]);
    refused("[policy]\n\"ä\" = { \"öl\" = 1 }\n", "2:9: ", &["\"öl\""]);
}

#[test]
fn what_has_no_place_in_a_file() {
    for action in ["plan", "plot", "generate", "list-presets", "list-policies", "config"] {
        let problem = format!("{action:?} cannot be set in a configuration file");
        refused(format!("[defaults]\n{action} = true\n"), "2:1: ", &[&problem]);
        refused(format!("[policy.x]\n{action} = true\n"), "2:1: ", &[&problem]);
    }
    refused("[policy.x]\npolicy = 'sip'\n", "2:1: ", &["cannot be set by a policy"]);
    refused("policy = 'sip'\n", "1:1: ", &["[policy.NAME]", "under [defaults]"]);
    refused("defaults = 1\n", "1:1: ", &["[defaults]"]);
    refused("[policy]\nx = 1\n", "2:1: ", &["must be a table, [policy.x]"]);
    for name in ["a b", "", "\\u001b[31m", "a/b", "a\\nb"] {
        refused(format!("[policy.\"{name}\"]\n"), "1:9: ", &["not a name for a policy"]);
    }
    // As text: nothing of it acts on a terminal.
    refused("[policy]\n\"\\u001b[31m\" = 1\n", "2:1: ", &["[policy.\\u{1b}[31m]"]);
}

#[test]
fn values_of_the_wrong_type() {
    let of_defaults = |line: &str, column: usize, says: &str| {
        refused(
            format!("[defaults]\n{line}\n"),
            &format!("2:{column}: "),
            &[says, line.split(' ').next().unwrap()],
        );
    };
    of_defaults("base = true", 8, "takes DURATION, not true or false");
    of_defaults("base = [1, 2]", 8, "takes DURATION, not a list");
    of_defaults("base = {}", 8, "takes DURATION, not a table");
    of_defaults("base = 2026-01-01", 8, "takes DURATION, not a date or time");
    of_defaults("pty = 'yes'", 7, "takes true or false, not a string");
    of_defaults("pty = 1", 7, "takes true or false, not an integer");
    of_defaults("verbose = 1.5", 11, "takes a number, not a number with a fraction");
    of_defaults("retry-exit = []", 14, "takes CODES, not an empty list");
    of_defaults("retry-exit = [1, [2]]", 18, "takes CODES, not a list");
    of_defaults("retry-match = ['a', false]", 21, "takes REGEX, not true or false");
}

#[test]
fn values_that_the_option_refuses_too() {
    let of_policy = |line: &str, place: &str, says: &[&str]| {
        refused(format!("[policy.never-chosen]\n{line}\n"), place, says);
    };
    of_policy("base = 'abc'", "2:8: \"abc\" is not a duration", &["try 500ms"]);
    of_policy("base = -1", "2:8: \"-1\" is not a duration", &[]);
    of_policy("base = 1e3", "2:8: \"1e3\" is not a duration", &[]);
    of_policy("base = nan", "2:8: \"nan\" is not a duration", &[]);
    of_policy("attempts = 0", "2:12: \"0\" ", &["unlimited"]);
    of_policy(
        "attempts = 99999999999999999999",
        "2:12: \"99999999999999999999\" ",
        &[],
    );
    of_policy("factor = 0.5", "2:10: \"0.5\" ", &["try 2 or 1.5"]);
    of_policy("retry-exit = [1, 999]", "2:18: \"999\" ", &["100-110"]);
    of_policy("retry-match = ['a', '(']", "2:21: \"(\" ", &["unclosed group"]);
    of_policy("spread = 'abc'", "2:10: \"abc\" ", &[]);
    of_policy("jitter = 'slotted:99'", "2:10: \"slotted:99\" ", &["1 to 62"]);
    of_policy("for = 'nosuch'", "2:7: \"nosuch\" ", &["--list-presets"]);
    of_policy("jitter = 'some'", "2:10: \"some\" ", &["decorrelated"]);
    refused(
        "[defaults]\npolicy = 'mine'\n[policy.ours]\n",
        "2:10: \"mine\" is not one of ours, sip",
        &[],
    );
    let secret = Home::with("[defaults]\nstore = 'foo://user:hunter2@host'\n").ran("-- true");
    assert!(
        !secret.expect_code(125).stderr.contains("hunter2"),
        "a password is shown"
    );
}

#[test]
fn what_cannot_go_together_is_found_in_a_policy_that_nobody_chose() {
    let says = |text: &str, parts: &[&str]| {
        let shown = Home::with(text).ran("-- echo started").expect_code(125);
        assert!(shown.stdout.is_empty(), "{shown:?}");
        assert!(
            parts.iter().all(|part| shown.stderr.contains(part)),
            "no {parts:?} in {shown:?}"
        );
    };
    let (x, y) = ("policy x, ", "config.toml:");
    says(
        "[policy.x]\ngrowth = 'linear'\ndelays = [1, 2]\n",
        &[x, y, "2:10", "3:10", "cannot go with"],
    );
    says(
        "[policy.x]\nbase = '1m'\nmax-delay = 50\n",
        &[x, "2:8", "3:13", "is longer than"],
    );
    says(
        "[policy.x]\nstop-at-delay = '1m'\nmax-delay = 50\n",
        &[x, "can never be reached"],
    );
    says("[defaults]\nconsecutive = 6\n", &["2:15", "can never be reached"]);
    says("[policy.x]\nreset-after = 0\n", &[x, "2:15", "never end"]);
    says("[defaults]\nquiet = true\nverbose = true\n", &["cannot go with"]);
    // From two sources the stronger one wins.
    let home = Home::with("[defaults]\nquiet = true\ngrowth = 'linear'\n[policy.x]\nverbose = 1\ndelays = [3]\n");
    home.ran("-p x -- true").expect_code(0).expect_stderr("succeeded");
    assert!(home.ran("-p x --plan -j none").stdout.contains(" 3s"));
    // Not cut by a cap that nobody has set. One from the command line lowers it, as it does a built-in one's.
    let home = Home::with("[policy.x]\nbase = '1m'\n");
    assert!(home.ran("-p x --plan -j none").stdout.contains(" 1m"));
    let home = Home::with("[policy.x]\nbase = '10s'\n");
    home.ran("-p x -m 1s --plan").expect_code(0);
}

#[test]
fn every_way_to_write_a_value() {
    let plan = |line: &str| {
        Home::with(format!("[defaults]\njitter = 'none'\nattempts = 3\n{line}\n"))
            .ran("--plan")
            .expect_code(0)
            .stdout
            .split_whitespace()
            .skip(11)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let one_and_two = "1 1s 1s 1s 1s 1s 1s 2 2s 2s 2s 3s 3s 3s";
    for line in [
        "base = 1",
        "base = 1.0",
        "base = '1s'",
        "base = \"\"\"1000ms\"\"\"",
        "base = +1",
        "base = 0x1",
        "base = 0b1",
        "delays = [1, '2s']",
        "delays = '1,2s'",
        "delays = [1.0, 2]",
        "base = 1\nfactor = 2.0",
        "base = 1\nmax_delay = 1_0",
        "base = 1\ngrowth = 'linear'",
    ] {
        assert_eq!(plan(line), one_and_two, "{line}");
    }
    let home = Home::with(
        "[defaults]\nretry-exit = [7, '100-110', 'tempfail']\nretry-match = ['one', 'two']\nbase = 0.001\nquiet = true\n",
    );
    let attempts = |script: &str| {
        let script = format!("echo; {script}");
        home.ran(words!("-- sh -c {}", script)).stdout.matches('\n').count()
    };
    for (script, expected) in [
        ("exit 7", 5),
        ("exit 105", 5),
        ("exit 75", 5),
        ("exit 8", 1),
        ("printf one; exit 1", 5),
        ("printf two; exit 1", 5),
        ("printf three; exit 1", 1),
    ] {
        assert_eq!(attempts(script), expected, "{script}");
    }
    let home = Home::with("[defaults]\nc-locale = true\nquiet = false\nverbose = 2\npty = false\n");
    home.ran("-- sh -c 'echo $LC_ALL'").expect_stderr("'echo $LC_ALL'");
}

/// Every option that a file may set, by its own name, with a value that the option itself takes.
#[test]
fn every_option_can_be_set_in_a_file() {
    let not_in_a_file = ["plan", "plot", "generate", "list-presets", "list-policies", "config"];
    for opt in OPTIONS.iter().filter(|opt| !not_in_a_file.contains(&&*opt.long)) {
        let value = match &opt.takes {
            Takes::Nothing | Takes::Optional(_) => "true".to_owned(),
            Takes::Word(words) => format!("{:?}", words[0]),
            Takes::Value(name) => match &**name {
                "SIGNAL" => "'TERM'".to_owned(),
                "PRESET,..." => "'curl'".to_owned(),
                "NAME" if opt.long == "policy" => "'sip'".to_owned(),
                "URL" => "'/tmp/store'".to_owned(),
                "SHELL" | "NAME" | "PATH" | "REGEX" => "'true'".to_owned(),
                _ => "1".to_owned(),
            },
        };
        let home = Home::with(format!("[defaults]\n{} = {value}\n", opt.long));
        let shown = home.ran("--plan").expect_code(0);
        assert_ne!(shown.stdout, "", "{}", opt.long);
        let underscored = opt.long.replace('-', "_");
        Home::with(format!("[defaults]\n{underscored} = {value}\n"))
            .ran("--plan")
            .expect_code(0);
    }
}

// --- what wins -----------------------------------------------------------------------------------

#[test]
fn flag_variable_policy_defaults_built_in() {
    let home = Home::with("[defaults]\nattempts = 11\n[policy.mine]\nattempts = 12\n[policy.silent]\nbase = 1\n");
    assert_eq!(limit(&mut home.backoff("--config none")), "5");
    assert_eq!(limit(&mut home.backoff("")), "11");
    assert_eq!(limit(&mut home.backoff("-p silent")), "11");
    assert_eq!(limit(&mut home.backoff("-p mine")), "12");
    assert_eq!(limit(&mut home.backoff("-p aws")), "3");
    assert_eq!(limit(home.backoff("-p mine").env("BACKOFF_ATTEMPTS", "13")), "13");
    let mut all = home.backoff("-p mine -n 14");
    assert_eq!(limit(all.env("BACKOFF_ATTEMPTS", "13")), "14");
    assert_eq!(limit(home.backoff("").env("BACKOFF_POLICY", "mine")), "12");
    home.ran("-p mime -- true")
        .expect_code(125)
        .expect_stderr("--policy: \"mime\" is not one of mine, silent, sip, google");
    // Values that add up do so within one source.
    let home = Home::with("[defaults]\nretry-match = ['a', 'b']\nbase = 0\n[policy.c]\nretry-match = 'c'\n");
    let shown = |args: &str| {
        let shown = home.ran(words!("{..} -vv -- true", args)).expect_code(0).stderr;
        let line = shown.lines().find(|line| line.contains("retry-match = ")).unwrap();
        line.split(" (").next().unwrap().to_owned()
    };
    assert_eq!(shown(""), "backoff: retry-match = a, b");
    assert_eq!(shown("-p c"), "backoff: retry-match = c");
    assert_eq!(shown("-p c -r d -r e"), "backoff: retry-match = d, e");
}

#[test]
fn the_defaults_can_choose_a_policy() {
    let home = Home::with("[defaults]\npolicy = 'mine'\n[policy.mine]\nattempts = 12\n");
    assert_eq!(limit(&mut home.backoff("")), "12");
    assert_eq!(limit(&mut home.backoff("-p aws")), "3");
    // Settings that are valid together are accepted.
    let home = Home::with("[defaults]\npolicy = 'mine'\nconsecutive = 6\n[policy.mine]\nattempts = 12\n");
    assert_eq!(limit(&mut home.backoff("--consecutive 1")), "12");
    let home = Home::with("[defaults]\npolicy = 'aws'\n[policy.aws]\nattempts = 12\n");
    assert_eq!(limit(&mut home.backoff("")), "12");
}

// --- what is shown -------------------------------------------------------------------------------

#[test]
fn policies_are_listed() {
    let home = Home::with(
        "[policy.mine]\nbase = '2s'\nstore = 'redis://user:hunter2@host'\nretry-match = ['a', 'b']\n\n\
         [policy.sip]\nattempts = 9\n",
    );
    let list = home.ran("--list-policies").expect_code(0).expect_silence().stdout;
    let names: Vec<&str> = list
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(names, ["mine", "sip", "google", "ethernet", "aws", "clojure", "cron"]);
    for part in [
        &format!("mine               {}:1\n  base = 2s\n", home.file()),
        "  store = redis://***@host\n",
        "  retry-match = a\n  retry-match = b\n",
        &format!("{}:6 (in place of the built-in one)\n  attempts = 9\n", home.file()),
        "aws                built in (AWS SDKs",
        "  max-delay = 20s\n",
    ] {
        assert!(list.contains(part), "no {part:?} in {list}");
    }
    let built_in = Home::empty().ran("--list-policies").expect_code(0).stdout;
    assert!(built_in.lines().all(|line| line.len() <= 80), "{built_in}");
    // A line that does not begin a policy is indented.
    let names = built_in.lines().filter_map(|line| line.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    assert_eq!(names, ["sip", "google", "ethernet", "aws", "clojure", "cron"]);
    assert!(
        built_in.starts_with("sip                built in (RFC 3261"),
        "{built_in}"
    );
    Home::with("what").ran("--list-policies").expect_code(125);
}

#[test]
fn very_verbose_runs_say_every_setting_and_its_source() {
    let home = Home::with("[defaults]\nmax-delay = 20\n[policy.mine]\nbase = '2s'\nspread = '3s'\n");
    let shown = run(home
        .backoff("-vv -p mine --factor 4 -- true")
        .env("BACKOFF_JITTER", "full")
        .env("BACKOFF_STORE", "redis://user:hunter2@host"))
    .expect_code(0);
    let file = home.file();
    for line in [
        format!("config = {file} (default)"),
        "attempts = 5 (default; unlimited with --deadline, --stop-after or --until never)".to_owned(),
        format!("base = 2s (policy mine, {file}:4:8)"),
        "factor = 4 (--factor)".to_owned(),
        format!("max-delay = 20 ({file}:2:13)"),
        "growth = exponential (default; constant with --until failure)".to_owned(),
        "jitter = full (BACKOFF_JITTER)".to_owned(),
        format!("spread = 3s (policy mine, {file}:5:10)"),
        "policy = mine (--policy)".to_owned(),
        "store = redis://***@host (BACKOFF_STORE)".to_owned(),
        "kill-after = 5s (default)".to_owned(),
        "verbose = 2 (--verbose)".to_owned(),
    ] {
        assert!(
            shown.stderr.contains(&format!("backoff: {line}\n")),
            "no {line:?} in {shown:?}"
        );
    }
    assert!(!shown.stderr.contains("deadline = "), "{shown:?}");
    let first = shown.stderr.find("starting").unwrap();
    assert!(shown.stderr.find("kill-after").unwrap() < first, "{shown:?}");
    // The configuration if no file is read.
    Home::empty()
        .ran("-vv -- true")
        .expect_stderr("backoff: config = none (no /");
    home.ran("-vv --config none -- true")
        .expect_stderr("backoff: config = none (--config)\n");
    home.ran(words!("-vv --config {} -- true", file))
        .expect_stderr(&format!("backoff: config = {file} (--config)\n"));
    // A value that another option excludes.
    home.ran("-vv -p ethernet -g linear -- true")
        .expect_stderr("jitter = slotted:10 (policy ethernet; overridden)");
    let less = home.ran("-v -- true");
    assert!(!less.stderr.contains("default"), "{less:?}");
}
