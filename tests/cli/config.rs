//! Options in a configuration file. All else is in `tests/cases/config.md`.

use crate::common::options::{OPTIONS, Takes};
use crate::common::{Ends, backoff, within};

/// Every option that a file may set, by its own name, with a value that the option itself takes.
#[test]
fn every_option_can_be_set_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "config.toml");
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
        for name in [&opt.long, &opt.long.replace('-', "_")] {
            std::fs::write(&file, format!("[defaults]\n{name} = {value}\n")).unwrap();
            let planned = backoff("--plan").args(["--config", &file]).code(0).out();
            assert!(!planned.is_empty(), "{name}");
        }
    }
}
