//! Properties of every option.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{PipeReader, Write, pipe};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::util::documents::documents;
use crate::util::options::{OPTIONS, Opt, Takes};
use crate::util::{Ends, backoff, side_by_side, within, words};

tests! {
    each_option_has_one_heading_in_the_pages
    every_value_must_be_there_and_be_text
    a_bad_variable_is_named
    each_shell_offers_each_option
    an_option_has_its_effect_from_every_source ["linux"]
    no_variable_makes_a_success_of_a_command_that_was_not_run
    an_action_has_no_variable
    every_word_of_a_list_is_accepted
}

/// Asserts that backoff exits with 125, prints one line and starts nothing.
#[track_caller]
fn refused(command: &mut Command, why: &str) {
    command.code(125).stderr(&format!("backoff: {why}...\n"));
}

fn every_value_must_be_there_and_be_text() {
    for opt in OPTIONS.iter() {
        let flag = format!("--{}", opt.long);
        let with = |value: &str| backoff(format!("{flag}{value} -- echo started"));
        match &opt.takes {
            Takes::Value(_) | Takes::Word(_) => {
                let why = format!("{flag}: a value is required; ");
                refused(&mut backoff(&flag), &why);
                for next in ["--", "-n", "--attempts", "--attempts=3", "-h"] {
                    refused(&mut with(&format!(" {next}")), &why);
                }
                if matches!(&opt.takes, Takes::Value(name) if name.starts_with("PATH")) {
                    // A path may contain any bytes.
                    continue;
                }
                let mut command = backoff(&flag);
                command
                    .arg(OsStr::from_bytes(b"\xff\xfe"))
                    .args(["echo", "started"]);
                refused(&mut command, &format!("{flag}: \""));
            }
            Takes::Optional(_) => refused(&mut with("="), &format!("{flag}: \"\" is ")),
            Takes::Nothing => refused(
                &mut with("=3"),
                &format!("{flag}: \"3\" is not allowed; it takes no value"),
            ),
        }
    }
}

/// Returns an invalid value for the variable of an option, or None if every text is valid.
fn bad_value(opt: &Opt) -> Option<&'static str> {
    match &*opt.long {
        // Any text is a valid shell command or name.
        "retry-if" | "success-if" | "on-retry" | "before-retry" | "on-give-up" | "budget"
        | "log-file" | "report" => None,
        // Actions have no variable.
        long if ACTIONS.contains(&long) => None,
        "store" => Some("-bad-://"),
        "label" => Some("@bad\t@"),
        long if long.ends_with("-match") => Some("(@bad@"),
        _ => Some("@bad@"),
    }
}

/// Returns the part of the message that depends on the kind of value.
fn problem_of(opt: &Opt) -> &'static str {
    match &opt.takes {
        Takes::Word(_) => "is not one of ",
        Takes::Value(name) => match name.as_str() {
            "DURATION" | "DURATION,..." => "is not a duration ",
            "CODES" => "is not a list of exit codes ",
            "CODE" => "is not an exit code ",
            "N" | "N|unlimited" => "is not a whole number",
            "REGEX" => "is not a regular expression ",
            "PERCENT" => "is not a percentage ",
            "SIGNAL" => "is not a signal ",
            "SIZE" => "is not a size ",
            _ => "",
        },
        _ => "",
    }
}

fn a_bad_variable_is_named() {
    for opt in OPTIONS.iter() {
        let Some(bad) = bad_value(opt) else {
            continue;
        };
        let variable = opt.variable();
        // The message does not quote an address, which may contain a password.
        let quoted = match &*opt.long {
            "store" => String::new(),
            _ => format!("{bad:?} {}", problem_of(opt)),
        };
        let mut command = backoff("-- echo started");
        command.env(&variable, bad);
        refused(&mut command, &format!("{variable}: {quoted}"));
    }
    let mut command = backoff("-- echo");
    command.env("BACKOFF_BASE", OsStr::from_bytes(b"\xff"));
    refused(&mut command, "BACKOFF_BASE: ");
}

/// An option, a value, the rest of the command line, and text that appears in output or status only with the option.
const EFFECTS: &str = r#"
attempts | 2 | -- sh -c 'echo $BACKOFF_ATTEMPT_LIMIT' | 2
deadline | 0.1 | -qq --exhausted-exit 9 -- sleep 4 | 9]
stop-after | 3s | --plan --every 2s | --stop-after 3s ends the run after 1 retry
timeout | 0.1 | -qq -n 1 -- sleep 4 | 124]
idle-timeout | 0.1 | -qq -n 1 -- sleep 4 | 124]
signal | INT | -qq -n 1 -t 3 -- bash -c "trap 'echo caught; exit' INT; while :; do sleep 0.01; done" | caught
kill-after | 0.1 | -qq -n 1 -t 3 -- bash -c "trap '' TERM; while ((SECONDS < 6)); do sleep 0.01; done; echo survived" | [124]
nested | once | -n 2 -b 1ms -- false | leaves retries to the outer backoff
every | 7s | --plan -n 3 | 2 7s 14s
base | 3s | --plan -j none -n 2 | 3s
factor | 5 | --plan -j none -n 3 | 2.5s
max-delay | 600ms | --plan -j none -n 3 | 600ms
growth | linear | --plan -j none -n 4 | 3 1.5s 3s
delays | 3s,9s | --plan -j none -n 3 | 9s
jitter | none | --plan -n 2 | 1 500ms 500ms
stop-at-delay | 1s | --plan -j none | --stop-at-delay ends the run here
initial-delay | 3s | --plan | before the first attempt: 3s
splay | 3s | --plan | before the first attempt: 0s to 3s
reset-after | 1ms | -n 2 -b 300ms -j none -d 4 -- sh -c 'sleep 0.01; exit 1' | --deadline 4s
retry-after | 1 | -n 2 -b 1ms -d 9s -- sh -c 'echo Retry-After: 60; exit 1' | after --deadline 9s
seed | 1 | -n 2 -b 20ms --log-format json -- false | "delay_s":0.052464
policy | wait | --plan -n 5 | 4 1s 4s
until | never | -n 2 -b 1ms -- true | attempt limit reached
success-exit | 3=0 | -n 1 -- sh -c 'exit 3' | [0]
success-match | yes | -qq -n 1 -- echo no | no 1
fail-match | no | -n 1 -- echo no | matched "no" (exit 0; --fail-match;
consecutive | 2 | -qq -b 1ms -- sh -c 'echo $BACKOFF_ATTEMPT' | 1 2 0
retry-exit | 9 | -n 2 -b 1ms -- false | none of the retry rules matched
stop-exit | 1 | -n 2 -b 1ms -- false | permanent: --stop-exit
retry-match | x | -n 2 -b 1ms -- false | none of the retry rules matched
stop-match | bad | -n 2 -b 1ms -- sh -c 'echo bad; exit 1' | permanent: --stop-match
retry-if | exit 1 | -n 2 -b 1ms -- false | permanent: --retry-if
success-if | exit 1 | -n 1 -- true | --success-if says no (exit 0;
for | curl | -n 2 -b 1ms -- sh -c 'exit 3' | gave up after 1 attempt
match-on | stderr | -n 1 --stop-match bad -- sh -c 'echo bad; exit 1' | exit 1 (attempt limit reached)
idempotent | no | -n 2 -b 1ms -- false | is not idempotent
stdin | null | -- readlink /proc/self/fd/0 | /dev/null
stdin-limit | 3 | -n 2 -b 1ms -- sh -c 'cat; exit 1' | more was read than --stdin-limit allows
stdout | null | -n 1 -- sh -c 'test /dev/stdout -ef /dev/null && echo dropped >&2' | dropped
stderr | null | -qq -- readlink /proc/self/fd/2 | /dev/null
pty | 1 | -n 1 -- sh -c 'tty <&1' | /dev/pts/
budget | api | --store /proc/none -- true | own budget "api"
budget-ratio | 0% | -b 1ms --budget ratio --budget-min 0 -- false | exhausted: 0.0%
budget-min | 0 | -b 1ms --budget min --budget-ratio 0% -- false | exhausted: 0.0%
budget-window | 1ms | -n 2 -b 1ms --budget window --budget-min 1 --budget-ratio 0% -- sh -c 'sleep 0.1; exit 1' | gave up after 2
store | /proc/none | --budget api -- true | /proc/none
store-down | deny | -n 2 -b 1ms --budget api --store /proc/none -- false | cannot be used: --store-down deny
quiet | 1 | -n 2 -b 1ms -- false | [backoff: false: gave up
verbose | 2 | -- true argument | 'argument'
log-format | json | -n 1 -- false | "event":"gave_up"
log-file | /dev/stdout | -n 1 -- sh -c 'echo first >&2; exit 1' | limit reached) first 1]
label | job | -n 1 -- false | backoff: job: gave up
report | /dev/stdout | -- true | "result":"succeeded"
color | always | -n 1 -- false | [31mfalse: gave up
progress | never | -vv -- true | progress = never (
on-retry | echo hooked | -n 2 -b 1ms -- false | hooked
before-retry | echo hooked | -n 2 -b 1ms -- false | hooked
on-give-up | echo hooked | -n 1 -- false | hooked
hook-output | 1 | -n 1 --stdout null --on-give-up 'sed s/^/hooked-/' -- sh -c 'echo out; exit 1' | hooked-out
exhausted-exit | 75 | -qq -n 1 -- false | 75
flaky-exit | 9 | -qq -b 1ms -- sh -c 'test $BACKOFF_ATTEMPT = 2' | 9
config | /no/such/file | -- true | No such file or directory
"#;

fn each_shell_offers_each_option() {
    for shell in ["bash", "zsh", "fish"] {
        let script = seen(&mut backoff(format!("--generate complete-{shell}")));
        let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let words: BTreeSet<&str> = script.split(|c| !is_of_a_name(c)).collect();
        for opt in OPTIONS.iter() {
            let is_offered = words.contains(format!("--{}", opt.long).as_str())
                || script.contains(&format!(" -l {} ", opt.long));
            assert!(is_offered, "--{} in {shell}", opt.long);
        }
    }
}

/// A row of [`EFFECTS`].
struct Effect {
    value: &'static str,
    args: &'static str,
    expected: &'static str,
}

fn effect_of(opt: &Opt) -> Effect {
    let row = EFFECTS.lines().find_map(|row| {
        let columns = row.strip_prefix(&*opt.long)?.strip_prefix(" | ")?;
        Some(columns.split(" | ").collect::<Vec<_>>())
    });
    let row = row.unwrap_or_else(|| panic!("--{} has no row in EFFECTS (tests/options.rs)", opt.long));
    let [value, args, expected] = row[..] else {
        panic!("not four columns: {row:?}");
    };
    Effect {
        value,
        args,
        expected,
    }
}

/// Returns a command for each source that can set an option.
fn from_every_source(opt: &Opt, value: &str, file: &str) -> Vec<Command> {
    let flag = format!("--{}", opt.long);
    let (flags, in_file) = match &opt.takes {
        Takes::Nothing => (
            vec![flag; value.parse().unwrap()],
            value.replace('1', "true"),
        ),
        Takes::Optional(_) => (vec![flag], "true".to_owned()),
        _ => (vec![flag, value.to_owned()], format!("{value:?}")),
    };
    let mut by_variable = backoff("");
    by_variable.env(opt.variable(), value);
    let mut by_flag = backoff("");
    by_flag.args(flags);
    let mut commands = vec![by_variable, by_flag];
    // A config file cannot set `--config`.
    if opt.long != "config" {
        let name = opt.long.replace('-', "_");
        std::fs::write(file, format!("[defaults]\n{name} = {in_file}\n")).unwrap();
        commands.push(backoff(format!("--config {file}")));
    }
    commands
}

/// Asserts that each option has its effect as a flag, a variable and in the config file, but not if it is absent.
fn an_option_has_its_effect_from_every_source() {
    let dir = tempfile::tempdir().unwrap();
    let mut options: Vec<&Opt> = OPTIONS.iter().collect();
    options.retain(|opt| !ACTIONS.contains(&&*opt.long));
    side_by_side(&options, |opt| {
        let effect = effect_of(opt);
        let shown = |mut command: Command| {
            match &*opt.long {
                "nested" => command.env("BACKOFF_DEPTH", "1"),
                "stdin" | "stdin-limit" => command.stdin(pipe_of(b"some input")),
                _ => &mut command,
            };
            command.env("XDG_STATE_HOME", dir.path());
            seen(command.args(words(effect.args)))
        };
        let file = within(&dir, &format!("{}.toml", opt.long));
        for command in from_every_source(opt, effect.value, &file) {
            let source = format!("{command:?}");
            let shown = shown(command);
            assert!(shown.contains(effect.expected), "{source}: no {:?} in {shown:?}", effect.expected);
        }
        let without = shown(backoff(""));
        assert!(
            !without.contains(effect.expected),
            "{}: {without:?}",
            opt.long
        );
    });
}

fn pipe_of(bytes: &[u8]) -> PipeReader {
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(bytes).unwrap();
    reader
}

/// Returns the words of both outputs and the exit status, in brackets.
fn seen(command: &mut Command) -> String {
    let ended = command.ends();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = ended.status.code().unwrap_or(-1);
    let all = format!("{} {} {status}", text(&ended.stdout), text(&ended.stderr));
    format!("[{}]", all.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Options that act instead of running a command.
const ACTIONS: [&str; 4] = ["plan", "list-presets", "list-policies", "generate"];

/// Returns plausible values of a leftover variable.
fn plausible(opt: &Opt) -> Vec<&str> {
    let mut values = vec!["0", "1", "TERM"];
    if let Takes::Word(words) = &opt.takes {
        values.extend(words.iter().map(String::as_str));
    }
    values
}

/// Asserts that no leftover variable makes backoff succeed without running the command.
fn no_variable_makes_a_success_of_a_command_that_was_not_run() {
    let mut variables: Vec<(String, String)> = Vec::new();
    for opt in OPTIONS.iter() {
        let is_file = ["config", "log-file", "report"].contains(&&*opt.long);
        let values = if is_file {
            vec!["file"]
        } else {
            plausible(opt)
        };
        variables.extend(
            values
                .iter()
                .map(|value| (opt.variable(), value.to_string())),
        );
    }
    for name in ["HELP", "VERSION", "N", "H", "V", "DRY_RUN", "SKIP"] {
        variables.extend(["0", "1"].map(|value| (format!("BACKOFF_{name}"), value.to_owned())));
    }
    side_by_side(&variables, |(name, value)| {
        let dir = tempfile::tempdir().unwrap();
        let mut command = backoff("-- sh -c 'echo >ran'");
        // The deadline makes backoff refuse longer waits.
        command
            .env("BACKOFF_DEADLINE", "1s")
            .env("XDG_STATE_HOME", dir.path())
            .current_dir(&dir);
        let output = command.env(name, value).ends();
        let has_run = dir.path().join("ran").exists();
        assert!(
            has_run || !output.status.success(),
            "{name}={value}: {output:?}"
        );
    });
}

fn an_action_has_no_variable() {
    for action in ACTIONS {
        let name = format!("BACKOFF_{}", action.replace('-', "_").to_uppercase());
        let value = if action == "generate" { "man" } else { "1" };
        let warning =
            format!("unknown variable \"{name}\"; tip: give --{action} on the command line");
        let ended = backoff("-- echo ran").env(&name, value).code(0);
        ended
            .stdout("ran\n")
            .stderr(&format!("backoff: warning: {warning}\n"));
    }
}

fn every_word_of_a_list_is_accepted() {
    for opt in OPTIONS.iter() {
        if let Takes::Word(words) = &opt.takes {
            for word in words {
                // Some options have no effect alone.
                let rule = match opt.long.as_str() {
                    "match-on" => "-r x",
                    "store-down" => "--budget b",
                    _ => "",
                };
                backoff(format!("--plan --{}={word} {rule}", opt.long))
                    .code(0)
                    .stdout("...");
            }
        }
    }
}

/// `grep -rn '## --timeout' tests` finds where an option is tested.
fn each_option_has_one_heading_in_the_pages() {
    let pages = documents();
    let pages = pages.iter().filter(|page| page.name.starts_with("tests/cases/"));
    let lines: Vec<&str> = pages.flat_map(|page| page.text.lines()).collect();
    let mut names: Vec<&str> = OPTIONS.iter().map(|opt| &*opt.long).collect();
    names.extend(["help", "version"]);
    for name in names {
        let heading = format!("## --{name}");
        let count = lines.iter().filter(|line| **line == heading).count();
        assert_eq!(count, 1, "{heading}: write a section in the page of its section in tests/cases/, with a command that fails without the option");
    }
}
