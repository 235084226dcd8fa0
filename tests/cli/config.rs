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

    /// Where the default file is.
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
            .env_remove("BACKOFF_NO_CONFIG")
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

/// What the limit of attempts is, which stands for any setting.
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
    // What should be a directory is a file: there is no configuration either.
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
    assert_eq!(limit(&mut home.backoff("--no-config")), "5");
    assert_eq!(limit(home.backoff("").env("BACKOFF_NO_CONFIG", "1")), "5");
    assert_eq!(limit(home.backoff("").env("BACKOFF_NO_CONFIG", "0")), "7");
    // A flag beats the other's variable.
    assert_eq!(
        limit(home.backoff("--config own.toml").env("BACKOFF_NO_CONFIG", "1")),
        "8"
    );
    assert_eq!(
        limit(home.backoff("--no-config").env("BACKOFF_CONFIG", "broken.toml")),
        "5"
    );
    home.ran("--config own.toml --no-config -- true")
        .expect_code(125)
        .expect_stderr("--config own.toml cannot go with --no-config: ");
    run(home
        .backoff("-- true")
        .env("BACKOFF_CONFIG", "own.toml")
        .env("BACKOFF_NO_CONFIG", "1"))
    .expect_code(125)
    .expect_stderr("BACKOFF_CONFIG=own.toml cannot go with BACKOFF_NO_CONFIG=1: ");
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
    refused(
        "[[policy.never-chosen.rule]]\nmach = 'x'\n",
        "2:1: ",
        &["did you mean \"match\"?"],
    );
    refused(
        "[[policy.x.rules]]\nmatch = 'x'\n",
        "1:12: ",
        &["did you mean \"rule\"?"],
    );
    refused("[default]\n", "1:2: ", &["did you mean \"defaults\"?"]);
    refused("[policies.x]\n", "1:2: ", &["[policy.NAME]"]);
    refused("attempts = 3\n", "1:1: ", &["put it under [defaults]"]);
    refused("[defaults]\nbase.x = 1\n", "2:", &["takes DURATION, not a table"]);
    refused("[defaults]\nbase = 1\nzzzzzzzz = 1\n", "3:1: ", &["is no option\n"]);
    refused("[defaults]\nmax_delay = 1\nmax-delay = 2\n", "3:1: ", &["line 2"]);
    refused("[defaults]\nhelp = true\n", "2:1: ", &["\"help\" is no option"]);
    // The first one is told.
    refused("[defaults]\nzz = 1\naa = 1\n", "2:1: ", &["\"zz\""]);
    // Columns count characters.
    refused("[policy.\"ä\"]\n\"ö\" = 1\n", "2:1: ", &["\"ö\""]);
    refused("[policy]\n\"ä\" = { \"öl\" = 1 }\n", "2:9: ", &["\"öl\""]);
}

#[test]
fn what_has_no_place_in_a_file() {
    for action in [
        "plan",
        "plot",
        "generate",
        "list-presets",
        "list-policies",
        "config",
        "no-config",
    ] {
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
    of_policy("slot-ceiling = 99", "2:16: \"99\" ", &["1 to 62"]);
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
    assert!(home.ran("-p x --plan -j none").stdout.contains(" 1m00s"));
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
            .skip(9)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let one_and_two = "1 1s 1s 1s 1s 1s 2 2s 2s 2s 3s 3s";
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
    let not_in_a_file = [
        "plan",
        "plot",
        "generate",
        "list-presets",
        "list-policies",
        "config",
        "no-config",
    ];
    for opt in OPTIONS.iter().filter(|opt| !not_in_a_file.contains(&&*opt.long)) {
        let value = match &opt.takes {
            Takes::Nothing | Takes::Optional(_) => "true".to_owned(),
            Takes::Word(words) => format!("{:?}", words[0]),
            Takes::Value(name) => match &**name {
                "SIGNAL" | "SIGNALS" => "'TERM'".to_owned(),
                "PRESET,..." => "'curl'".to_owned(),
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
    assert_eq!(limit(&mut home.backoff("--no-config")), "5");
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
    // What is right together is right.
    let home = Home::with("[defaults]\npolicy = 'mine'\nconsecutive = 6\n[policy.mine]\nattempts = 12\n");
    assert_eq!(limit(&mut home.backoff("--consecutive 1")), "12");
    let home = Home::with("[defaults]\npolicy = 'aws'\n[policy.aws]\nattempts = 12\n");
    assert_eq!(limit(&mut home.backoff("")), "12");
}

// --- what is shown -------------------------------------------------------------------------------

#[test]
fn policies_are_listed() {
    let home = Home::with(
        "[policy.mine]\nbase = '2s'\nstore = 'redis://user:hunter2@host'\nretry-match = ['a', 'b']\n\n[[policy.mine.rule]]\n\
         exit = [7, 9]\nbase = 30\n\n[policy.sip]\nattempts = 9\n",
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
        "  rule 1: exit = 7,9, base = 30\n",
        &format!("{}:10 (in place of the built-in one)\n  attempts = 9\n", home.file()),
        "aws                built in (AWS SDKs",
        "  max-delay = 20s\n",
    ] {
        assert!(list.contains(part), "no {part:?} in {list}");
    }
    let built_in = Home::empty().ran("--list-policies").expect_code(0).stdout;
    assert!(built_in.lines().all(|line| line.len() <= 80), "{built_in}");
    // What does not begin a policy is indented.
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
        "attempts = 5 (default)".to_owned(),
        format!("base = 2s (policy mine, {file}:4:8)"),
        "factor = 4 (--factor)".to_owned(),
        format!("max-delay = 20s ({file}:2:13)"),
        "growth = exponential (default)".to_owned(),
        "jitter = full (BACKOFF_JITTER)".to_owned(),
        format!("spread = 3s (policy mine, {file}:5:10; without effect)"),
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
    assert!(!shown.stderr.contains("deadline"), "{shown:?}");
    let first = shown.stderr.find("starting").unwrap();
    assert!(shown.stderr.find("kill-after").unwrap() < first, "{shown:?}");
    // Where they come from when no file is read.
    Home::empty()
        .ran("-vv -- true")
        .expect_stderr("backoff: config = none (no /");
    home.ran("-vv --no-config -- true")
        .expect_stderr("backoff: config = none (--no-config)\n");
    home.ran(words!("-vv --config {} -- true", file))
        .expect_stderr(&format!("backoff: config = {file} (--config)\n"));
    // What became of a value that another one has changed.
    home.ran("-vv -p mine -m 1s -- true")
        .expect_stderr(&format!("base = 1s (policy mine, {file}:4:8 says 2s)"));
    home.ran("-vv -p ethernet -g linear -- true")
        .expect_stderr("jitter = full (policy ethernet says slotted)");
    let less = home.ran("-v -- true");
    assert!(!less.stderr.contains("default"), "{less:?}");
}

// --- rules by class of failure ---------------------------------------------------------------------

const CI: &str = "
[policy.ci]
attempts = 9
base = '10ms'
jitter = 'none'

[[policy.ci.rule]]     # throttled: long
match = ['429', 'queue capacity']
base = '120ms'

[[policy.ci.rule]]     # refused: short, and not for long
exit = 7
base = '1ms'
attempts = 2

[[policy.ci.rule]]     # locked: steady
match = 'database is locked'
base = '20ms'
growth = 'linear'

[[policy.ci.rule]]     # nothing will help
match = 'permission denied'
verdict = 'permanent'
";

/// The waits that a run names, with the rule that each is due to; the last line is how it ended.
#[track_caller]
fn story(shown: &Shown) -> Vec<String> {
    let lines = shown
        .stderr
        .lines()
        .filter(|line| line.starts_with("backoff: ") && !line.contains("starting"));
    lines
        .map(|line| {
            let rule = line
                .split_once("(rule ")
                .and_then(|(_, rest)| rest.split_once(')'))
                .map_or("-", |(rule, _)| rule);
            match line.split_once("retrying in ") {
                Some((_, wait)) => format!("{wait} {rule}"),
                None => line
                    .split_once("attempts in ")
                    .and_then(|(_, rest)| rest.split_once(": "))
                    .map_or(line, |(_, rest)| rest)
                    .to_owned(),
            }
        })
        .collect()
}

/// A command whose attempts do one after the other what the lines say.
fn in_turn(lines: &[&str]) -> String {
    let cases: String = lines
        .iter()
        .zip(1..)
        .map(|(line, attempt)| format!("{attempt}) {line};; "))
        .collect();
    format!("case $BACKOFF_ATTEMPT in {cases} esac")
}

#[test]
fn each_class_of_failures_has_its_waits_and_its_verdict() {
    let home = Home::with(CI);
    let script = in_turn(&[
        "echo 'HTTP 429' >&2; exit 22",
        "exit 7",
        "echo 'database is locked'; exit 1",
        "echo over queue capacity; exit 1",
        "echo 'database is locked'; exit 1",
        "exit 3",
        "exit 3",
        "echo 'permission denied'; exit 1",
    ]);
    let shown = home.ran(words!("-v -p ci -- sh -c {}", script)).expect_code(1);
    assert_eq!(
        story(&shown),
        [
            "0.12s 1 of policy ci",
            "1ms 2 of policy ci",
            "20ms 3 of policy ci",
            // Not disturbed by the failures in between.
            "0.24s 1 of policy ci",
            "40ms 3 of policy ci",
            // Of no rule: as without any.
            "10ms -",
            "20ms -",
            "matched \"permission denied\" (exit 1) (permanent: rule 4 of policy ci)",
        ],
        "{shown:?}"
    );
}

#[test]
fn a_rule_may_allow_fewer_attempts() {
    let home = Home::with(CI);
    let script = in_turn(&["exit 7", "exit 3", "exit 7", "echo never"]);
    let shown = home.ran(words!("-v -p ci --exhausted-exit 75 -- sh -c {}", script));
    let shown = shown.expect_code(75);
    assert_eq!(
        story(&shown),
        [
            "1ms 2 of policy ci",
            "10ms -",
            "exit 7 (no attempt is left for rule 2 of policy ci)",
        ],
        "{shown:?}"
    );
    // All attempts together are still bounded.
    let shown = home.ran("-p ci -n 2 -b 1ms -- sh -c 'echo 429; exit 1'");
    shown.expect_code(1).expect_stderr("gave up after 2 attempts");
    // --reset-after starts all counts again.
    let script = "test $(wc -l <runs) -ge 2 || sleep 1.2; echo >>runs; exit 7";
    home.write("runs", "");
    let shown = home.ran(words!("-p ci --reset-after 1s -- sh -c {}", script));
    shown.expect_stderr("gave up after 3 attempts");
}

#[test]
fn the_first_rule_that_applies_decides() {
    let home = Home::with(
        "[policy.x]\njitter = 'none'\nbase = '1ms'\nattempts = 2\n\
         [[policy.x.rule]]\nexit = [1, 2]\nmatch = 'both'\nbase = '31ms'\n\
         [[policy.x.rule]]\nexit = '1-3'\nbase = '32ms'\n\
         [[policy.x.rule]]\nmatch = 'both'\nbase = '33ms'\n\
         [[policy.x.rule]]\nsignal = ['HUP', 'USR1']\nbase = '34ms'\n\
         [[policy.x.rule]]\ntimed_out = true\nbase = '35ms'\n",
    );
    let wait = |args: &str, script: &str| {
        let shown = home.ran(words!("-p x {..} -- sh -c {}", args, script));
        let story = story(&shown);
        story[0].split(' ').next().unwrap().to_owned()
    };
    assert_eq!(wait("", "echo both; exit 1"), "31ms");
    assert_eq!(wait("", "echo one; exit 1"), "32ms");
    assert_eq!(wait("", "echo both; exit 3"), "32ms");
    assert_eq!(wait("", "echo both; exit 4"), "33ms");
    assert_eq!(wait("", "echo both; kill -HUP $$"), "33ms");
    assert_eq!(wait("", "kill -HUP $$"), "34ms");
    assert_eq!(wait("", "kill -TERM $$"), "1ms");
    assert_eq!(wait("-t 100ms", "sleep 9"), "35ms");
    assert_eq!(wait("-t 1s", "echo both; sleep 9"), "33ms");
    // Text in either stream, as the other rules have it.
    assert_eq!(wait("--match-on stderr", "echo both; exit 4"), "1ms");
    assert_eq!(wait("--match-on stderr", "echo both >&2; exit 4"), "33ms");
}

#[test]
fn stop_rules_beat_rules_and_rules_beat_the_rest() {
    let home = Home::with(
        "[policy.x]\njitter = 'none'\nbase = '1ms'\nattempts = 2\n\
         [[policy.x.rule]]\nexit = [7, 127]\nbase = '31ms'\n\
         [[policy.x.rule]]\ntimed_out = true\nbase = '32ms'\n\
         [[policy.x.rule]]\nexit = 9\nverdict = 'permanent'\n\
         [[policy.x.rule]]\nsignal = 'PIPE'\nbase = '33ms'\n",
    );
    let ran = |args: &str, script: &str| home.ran(words!("-p x {..} -- sh -c {}", args, script));
    ran("--stop-exit 7", "exit 7").expect_stderr("permanent: --stop-exit");
    ran("--stop-match bad", "echo bad; exit 7").expect_stderr("permanent: --stop-match");
    ran("-t 100ms --stop-on-timeout", "sleep 9").expect_stderr("permanent: --stop-on-timeout");
    ran("-t 100ms", "sleep 9").expect_stderr("retrying in 32ms");
    ran("-e 9", "exit 9").expect_stderr("permanent: rule 3 of policy x");
    ran("-e 3", "exit 7").expect_stderr("retrying in 31ms");
    ran("-e 3", "exit 4").expect_stderr("permanent: no retry rule matches");
    ran("-e 3", "exit 3").expect_stderr("retrying in 1ms");
    ran("--retry-if 'exit 1'", "exit 7").expect_stderr("retrying in 31ms");
    ran("--retry-if 'exit 1'", "exit 4").expect_stderr("permanent: --retry-if");
    ran("", "kill -PIPE $$").expect_stderr("retrying in 33ms");
    home.ran("-p x -- no-such-command").expect_stderr("retrying in 31ms");
    // A rule that does not name what cannot start leaves a typo final.
    let home = Home::with("[policy.x]\n[[policy.x.rule]]\nmatch = 'x'\ntimed_out = false\n");
    home.ran("-p x -- no-such-command").expect_code(127);
}

#[test]
fn a_rule_is_a_layer_between_its_policy_and_the_variables() {
    let rule = |lines: &str| {
        Home::with(format!(
            "[defaults]\nmax-delay = '40ms'\n[policy.x]\njitter = 'none'\nbase = '11ms'\nattempts = 3\nfactor = 3\n\
             [[policy.x.rule]]\nexit = 1\n{lines}\n"
        ))
    };
    let waits = |home: &Home, args: &str| {
        let story = story(&home.ran(words!("-p x {..} -- false", args)));
        let waits: Vec<&str> = story[..2].iter().map(|line| line.split(' ').next().unwrap()).collect();
        waits.join(" ")
    };
    assert_eq!(waits(&rule(""), ""), "11ms 33ms");
    assert_eq!(waits(&rule("base = '12ms'"), ""), "12ms 36ms");
    assert_eq!(waits(&rule("base = '20ms'"), ""), "20ms 40ms");
    assert_eq!(waits(&rule("base = '50ms'\nmax-delay = 1"), ""), "50ms 0.15s");
    assert_eq!(waits(&rule("factor = 2"), ""), "11ms 22ms");
    assert_eq!(waits(&rule("growth = 'constant'"), ""), "11ms 11ms");
    assert_eq!(waits(&rule("delays = ['5ms', '7ms']"), ""), "5ms 7ms");
    assert_eq!(waits(&rule("delays = ['5ms', '7ms']"), "-g constant"), "11ms 11ms");
    // Flags and variables win, as over everything in a policy.
    assert_eq!(waits(&rule("base = '12ms'"), "-b 1ms"), "1ms 3ms");
    assert_eq!(waits(&rule("base = '20ms'"), "-m 15ms"), "15ms 15ms");
    // A rule's jitter needs no growth of the policy's to go with it.
    rule("jitter = 'decorrelated'").ran("-p x --plan").expect_code(0);
    // A flag that means nothing for one of the rules may mean something for the others.
    let home = rule("jitter = 'additive'\nspread = 0");
    home.ran("-p x --plan").expect_code(0);
    // --plan shows the ordinary waits.
    let plan = rule("base = '12ms'").ran("-p x --plan").stdout;
    assert!(plan.contains(" 11ms ") && !plan.contains(" 12ms "), "{plan}");
}

#[test]
fn rules_that_are_wrong() {
    let of_rule = |lines: &str, place: &str, says: &[&str]| {
        refused(format!("[[policy.never-chosen.rule]]\n{lines}\n"), place, says);
    };
    of_rule(
        "base = 1",
        "1:1: ",
        &["does not say which failures", "exit, signal, match"],
    );
    of_rule("timed_out = false", "1:1: ", &["does not say which failures"]);
    of_rule("exit = 256", "2:8: \"256\" ", &["100-110"]);
    of_rule("exit = 'tea'", "2:8: \"tea\" ", &[]);
    of_rule("exit = true", "2:8: ", &["takes CODES, not true or false"]);
    of_rule("signal = 'SIGNOPE'", "2:10: \"SIGNOPE\" ", &["TERM"]);
    of_rule("match = '('", "2:9: \"(\" ", &["regular expression"]);
    of_rule("match = ['a', '(']", "2:15: \"(\" ", &["regular expression"]);
    of_rule("timed_out = 'yes'", "2:13: ", &["takes true or false, not a string"]);
    of_rule(
        "exit = 1\nverdict = 'stop'",
        "3:11: \"stop\" is not one of transient, permanent",
        &[],
    );
    of_rule("exit = 1\nbase = 'x'", "3:8: \"x\" is not a duration", &[]);
    of_rule("exit = 1\nattempts = 0", "3:12: \"0\" ", &["unlimited"]);
    of_rule(
        "exit = 1\nverdict = 'permanent'\nbase = 1",
        "4:8: \"base\" means nothing",
        &[],
    );
    of_rule("exit = 1\ndeadline = 1", "3:1: \"deadline\" ", &["rule"]);
    refused("[policy.x.rule]\nexit = 1\n", "1:11: ", &["[[policy.x.rule]]"]);
    refused("[policy.x]\nrule = [1]\n", "2:1: ", &["[[policy.x.rule]]"]);
    refused("[defaults]\nrule = 1\n", "2:1: ", &["\"rule\" is no option"]);
    // Inline, it is the same.
    Home::with("[policy.x]\nrule = [{ exit = 1, base = 1 }]\n")
        .ran("-p x -- true")
        .expect_code(0);
    let shown = Home::with("[[policy.x.rule]]\nexit = 1\nbase = '1m'\nmax-delay = 9\n").ran("-- true");
    shown.expect_code(125).expect_stderr("(rule 1 of policy x, ");
}

#[test]
fn a_spent_budget_and_a_long_wait_end_rules_too() {
    let home = Home::with(
        "[policy.x]\njitter = 'none'\nbase = '1ms'\n[[policy.x.rule]]\nexit = 7\nbase = '20s'\nmax-delay = '1m'\n",
    );
    home.ran("-p x -d 5s -- sh -c 'exit 7'")
        .expect_code(7)
        .expect_stderr("the next attempt would begin after --deadline");
    home.ran("-p x --stop-at-delay 10s -- sh -c 'exit 7'")
        .expect_code(7)
        .expect_stderr("the next wait would reach --stop-at-delay");
}
