use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::cli::parse::{Parsed, parse};
use crate::cli::table::{OPTIONS, Opt};
use crate::command::ScriptFile;
use crate::config::listing;
use crate::config::setting::UsageError;

/// No variables and no files.
struct Nothing;

impl Surroundings for Nothing {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn script(&self, _: &str) -> ScriptFile {
        ScriptFile::NotThere
    }
}

/// Returns the plan of a command line, with its configuration.
pub(super) fn planned(
    args: &[OsString],
    variables: &[(OsString, OsString)],
) -> Result<(Config, Plan), UsageError> {
    let Ok(Parsed::Run(typed)) = parse(args) else {
        panic!("{args:?}")
    };
    let mut settings = Settings::of_command_line(&typed)?;
    settings.add_variables(variables)?;
    let config = Config::load(&settings)?;
    let (plan, _) = plan(&mut settings, &typed.command, variables, &config, &Nothing)?;
    Ok((config, plan))
}

/// Asserts that setting an option to its documented default changes nothing.
#[test]
fn documented_defaults_are_those_in_effect() {
    let plan = |words: &[&str], opt: Option<(&Opt, &str)>| {
        let mut all: Vec<OsString> = vec!["backoff".into(), "--config=none".into()];
        all.extend(words.iter().map(OsString::from));
        all.extend(opt.map(|(opt, value)| format!("--{}={value}", opt.long).into()));
        all.extend(["--".into(), "cmd".into()]);
        format!("{:?}", planned(&all, &[]).unwrap().1)
    };
    for opt in OPTIONS {
        let default = opt.default;
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
            "max-delay" => &[(&[], "30s")],
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
            "retry-after" | "cool-off" => &[(&[], "off")],
            "match-on" => &[(&["-r", "x"], default)],
            _ => &[(&[], default)],
        };
        for (words, value) in cases {
            assert!(default.contains(value), "--{} {value}", opt.long);
            assert_eq!(
                plan(words, Some((opt, value))),
                plan(words, None),
                "--{} {value}",
                opt.long
            );
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
        "[policy.sip]",
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
        "retry-exit = [5, \"100-110\", \"tempfail\"]",
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
