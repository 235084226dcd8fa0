use std::ffi::OsString;
use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::cli::parse::{Task, parse};
use crate::config::listing;
use crate::config::setting::UsageError;
use crate::options::opt::{Kind, Spec};
use crate::options::{BASE, EVERY, OPTIONS};

/// No variables and no files.
struct Nothing;

impl Surroundings for Nothing {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn text_file(&self, _: &str) -> Option<String> {
        None
    }
}

/// Returns the plan of a command line, with its configuration.
pub(super) fn planned(
    args: &[OsString],
    variables: &[(OsString, OsString)],
) -> Result<(Config, Plan), UsageError> {
    let Ok(Task::Run(typed)) = parse(args) else {
        panic!("{args:?}")
    };
    let mut settings = Settings::of_command_line(&typed)?;
    settings.add_variables(variables)?;
    let config = Config::load(&settings)?;
    let planned = plan(&mut settings, &typed, variables, &config, &Nothing)?;
    Ok((config, planned.plan))
}

/// Asserts that setting an option to its documented default changes nothing.
#[test]
fn documented_defaults_are_those_in_effect() {
    let plan = |words: &[&str], opt: Option<(&Spec, &str)>| {
        let mut all: Vec<OsString> = vec!["backoff".into(), "--config=none".into()];
        all.extend(words.iter().map(OsString::from));
        all.extend(opt.map(|(opt, value)| format!("--{}={value}", opt.long).into()));
        all.extend(["--".into(), "cmd".into()]);
        format!("{:?}", planned(&all, &[]).unwrap().1)
    };
    for opt in OPTIONS {
        let default = opt.default;
        let all_defaults = opt.all_defaults();
        let cases: &[(&[&str], &str)] = match opt.long {
            _ if default.is_empty() => continue,
            // If given, `--kill-after` also limits the time after a forwarded signal.
            "kill-after" => continue,
            // If given, the command does not ignore the signal.
            "signal" => continue,
            // The default of `--flaky-exit` is the status of any success.
            "flaky-exit" => continue,
            "attempts" => &[
                (&[], "5"),
                (&["-d", "1m"], "unlimited"),
                (&["--until", "never"], "unlimited"),
            ],
            "base" => &[(&[], "500ms"), (&["--until", "failure"], "0")],
            "factor" => &[(&["-j", "full"], "2"), (&[], "3")],
            "jitter" => &[
                (&[], "decorrelated"),
                (&["-g", "linear"], "full"),
                (&["--delays", "1"], "none"),
                (&["--until", "failure"], "none"),
            ],
            "growth" => &[
                (&["-j", "full"], "exponential"),
                (&["--until", "failure"], "constant"),
            ],
            long if long.starts_with("budget") || long == "store-down" => {
                &[(&["--budget", "x"], default)]
            }
            "match-on" => &[(&["-r", "x"], default)],
            _ => &[(&[], default)],
        };
        for (words, value) in cases {
            assert!(all_defaults.contains(value), "--{} {value}", opt.long);
            assert_eq!(
                plan(words, Some((opt, value))),
                plan(words, None),
                "--{} {value}",
                opt.long
            );
        }
    }
}

/// Returns a text that the option accepts, and the same as a value of TOML.
fn sample(opt: &Spec) -> (&'static str, String) {
    let text = match (opt.kind, opt.kind.words(), opt.default) {
        (Kind::Switch, ..) => return ("1", "true".to_owned()),
        (Kind::Count, ..) => return ("1", "1".to_owned()),
        (_, [word, ..], _) => word,
        (_, [], "") => opt.example,
        (_, [], default) => default,
    };
    assert!(!text.is_empty(), "--{} has no example", opt.long);
    (text, format!("{text:?}"))
}

/// Returns the settings of words, a variable and a configuration file, after the plan has read them.
fn settings_of(words: &[String], variable: Option<(String, &str)>, file: &str) -> Settings {
    let mut document = tempfile::NamedTempFile::new().unwrap();
    document.write_all(file.as_bytes()).unwrap();
    let path = document.path().to_str().unwrap();
    let mut args: Vec<OsString> = vec!["backoff".into()];
    args.extend(words.iter().map(OsString::from));
    args.extend(["--".into(), "cmd".into()]);
    let mut variables: Vec<(OsString, OsString)> = vec![("BACKOFF_CONFIG".into(), path.into())];
    variables.extend(variable.map(|(name, value)| (name.into(), value.into())));
    let Ok(Task::Run(typed)) = parse(&args) else {
        panic!("{args:?}")
    };
    let mut settings = Settings::of_command_line(&typed).unwrap();
    settings.add_variables(&variables).unwrap();
    let config = Config::load(&settings).unwrap();
    let planned = plan(&mut settings, &typed, &variables, &config, &Nothing);
    // Some options change nothing without others.
    match planned {
        Ok(_) => settings,
        Err(UsageError(line)) if line.contains("has no effect without") => settings,
        Err(UsageError(line)) => panic!("{args:?}: {line}"),
    }
}

/// Asserts that each source sets each option, and that the plan reads its text.
#[test]
fn an_option_is_set_from_its_constant_alone() {
    for opt in OPTIONS.into_iter().filter(|opt| opt.is_setting()) {
        let (text, in_file) = sample(opt);
        let flag = match opt.kind {
            Kind::Switch | Kind::Count => format!("--{}", opt.long),
            _ => format!("--{}={text}", opt.long),
        };
        let (file, variable) = (
            format!("[defaults]\n{} = {in_file}\n", opt.long),
            opt.variable(),
        );
        for settings in [
            settings_of(&[flag], None, ""),
            settings_of(&[], Some((variable, text)), ""),
            settings_of(&[], None, &file),
        ] {
            // `--every` stands for three options.
            let opt = if *opt == *EVERY { &*BASE } else { opt };
            let shown = settings.shown(opt).expect(opt.long).text;
            // A switch is `true` in a file, and 1 elsewhere.
            assert!(shown == text || shown == in_file, "--{}: {shown}", opt.long);
        }
    }
}

/// Plans a command line and lists its policies. Returns the usage error, if any.
fn listed(args: &[OsString]) -> Result<(), UsageError> {
    let (config, _) = planned(args, &[])?;
    for line in listing::policies(&config)? {
        assert!(
            !line.contains(|c: char| c.is_control() && c != '\n'),
            "{line:?}"
        );
    }
    Ok(())
}

/// Asserts that a configuration file with this text, valid or not, leads to one printable line about an error, or to
/// none.
fn check(text: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    let path = file.path().to_str().unwrap();
    for words in [&["--", "true"][..], &["--policy", "mine", "--", "true"]] {
        let args = [&["backoff", "--config", path], words].concat();
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        if let Err(UsageError(line)) = listed(&args) {
            assert!(!line.contains(char::is_control), "{line:?}");
            assert!(line.contains(path) || line.contains("policy"), "{line:?}");
        }
    }
}

/// Generates files of lines, most of which are valid by themselves.
fn file() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "[defaults]",
        "[policy.mine]",
        "[policy.wait]",
        "[policy]",
        "attempts = 7",
        "attempts = \"unlimited\"",
        "max-delay = \"1m\"",
        "max_delay = 3",
        "base = 0.5",
        "base = -1",
        "factor = inf",
        "growth = \"linear\"",
        "jitter = \"slotted\"",
        "delays = [\"1s\", 5]",
        "retry-exit = [5, \"100-110\", \"TERM\"]",
        "retry-match = '(a|b'",
        "fail-match = [\"busy\", \"\"]",
        "policy = \"mine\"",
        "quiet = true",
        "verbose = 2",
        "for = []",
        "when = 1979-05-27T07:32:00Z",
        "jitter = \"\\u001b[31m\"",
    ]);
    let line = prop_oneof![9 => lines.prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn lines_in_any_order(text in file()) {
        check(text.as_bytes());
    }
}
