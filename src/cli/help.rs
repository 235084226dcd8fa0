//! `-h`, `--help` and `--version`.

use std::ffi::OsStr;

use clap::builder::styling::{AnsiColor, Style, Styles};

use super::declare::described;
use super::suggest::closest;
use super::table::{OPTIONS, Opt, SECTIONS};
use crate::process::sys::{environment, stdio};

/// The text of `-h`.
pub(super) const SUMMARY: &str = "\
Run COMMAND; if it fails, wait and run it again. Waits grow and are random.
Every failure is retried, up to 5 attempts, unless rules say otherwise.

Usage: backoff [OPTION]... [--] COMMAND [ARG]...

  backoff -- git fetch                         # five attempts, growing waits
  backoff --every 1s -d 1m -- pg_isready -q    # every second, for a minute
  backoff --for auto -t 5m -- apt-get update   # only transient failures

  -n, --attempts <N|unlimited>   Maximum number of attempts [default: 5]
  -d, --deadline <DURATION>      Maximum time for the whole run
  -t, --timeout <DURATION,...>   Maximum time for one attempt
      --every <DURATION>         Fixed wait instead of growing ones
  -b, --base <DURATION>          Base delay: waits grow from it [default: 500ms]
  -m, --max-delay <DURATION>     Maximum wait [default: 30s]
  -e, --retry-exit <CODES>       Retry only these exit codes
  -r, --retry-match <REGEX>      Retry only if a line of output matches
      --for <PRESET,...>         Known rules for a tool; auto: for COMMAND
  -q, --quiet                    Print only errors and warnings
  -v, --verbose                  Print more; twice: all settings and rules
      --plan                     Print the waits and run nothing

backoff --help lists all options, backoff --help NAME explains one option or
section. man backoff has the details.
";

const ABOUT: &str = "\
Run COMMAND; if it fails for a transient reason, wait (exponential backoff with jitter) and run it again. Every failure is \
transient unless rules say otherwise, except a command that is not found (127), cannot be executed (126) or died of SIGPIPE.";

const USAGE: &str = "\
backoff [OPTION]... [--] COMMAND [ARG]...
       backoff [OPTION]... --plan
       backoff --generate KIND | --list-presets [NAME]... | --list-policies
       backoff --help [SECTION|OPTION] | --version";

const NOTES: &str = "\
Any option --some-option can also be set by the variable BACKOFF_SOME_OPTION, or as some-option in the configuration file. \
The command line overrides variables, variables override the policy, the policy overrides the defaults of the file. Actions \
(--plan, --list-..., --generate) work on the command line only.

DURATION is 500ms, 2s, 1.5s, 1m30s or a number of seconds; units are ns, us, ms, s, m, h, d and w.
CODES are 7, 1,2,75, 100-110, sysexits names (tempfail), signals (SIGKILL) and timeout.

Exit status: COMMAND's own (or death by the same signal); 1 if it exited with 0 but was judged failed; 124 timeout; 125 \
backoff itself failed; 126 COMMAND cannot be executed; 127 COMMAND not found.

backoff --help NAME explains a section (time, waits, rules, streams, budgets, output, other) or an option. man backoff has \
the details, docs/messages.md explains each message.";

impl Opt {
    /// Returns true if this word stands for the section.
    pub(super) fn is_in_section(&self, section: &str) -> bool {
        self.heading.to_lowercase().split(' ').any(|word| word == section)
    }
}

/// Returns the help on a section or an option, or on everything if the topic is empty.
pub(super) fn help(topic: &str, color: Option<&OsStr>) -> Result<String, String> {
    let is_named = OPTIONS.iter().any(|opt| opt.long == topic);
    let is_meant = |opt: &&Opt| match is_named {
        true => opt.long == topic,
        false => topic.is_empty() || opt.is_in_section(topic),
    };
    if !OPTIONS.iter().any(|opt| is_meant(&opt)) {
        let hint = closest(topic, SECTIONS.into_iter().chain(OPTIONS.iter().map(|opt| opt.long)));
        return Err(format!(
            "--help: {topic:?} is neither an option nor one of {}; nothing was run, and --help alone shows all{hint}",
            SECTIONS.join(", ")
        ));
    }
    let bold = Style::new().bold();
    let styles = Styles::plain()
        .header(bold)
        .usage(bold)
        .literal(AnsiColor::Cyan.on_default());
    let mut command = described(OPTIONS.iter().filter(is_meant))
        .styles(styles)
        .next_line_help(true)
        .max_term_width(80)
        .about(ABOUT)
        .override_usage(USAGE)
        .after_help(NOTES);
    let text = match topic {
        "" => command.render_help(),
        _ => command.help_template("{all-args}\n").render_long_help(),
    };
    let variables = environment::backoff_variables();
    let variable = variables.iter().find(|(name, _)| name == "BACKOFF_COLOR");
    let color = color.or(variable.map(|(_, when)| &**when));
    let is_coloured = match color.and_then(OsStr::to_str) {
        Some("always") => true,
        Some("never") => false,
        _ => stdio::takes_colour_on(stdio::OUT),
    };
    Ok(if is_coloured {
        text.ansi().to_string()
    } else {
        text.to_string()
    })
}

/// Returns the text of `--version`: a first line for programs, then details for reports of defects.
pub(super) fn version() -> String {
    let libc = match () {
        () if cfg!(target_env = "musl") => "musl",
        () if cfg!(target_env = "gnu") => "glibc",
        () => "the system's",
    };
    let linked = if cfg!(target_feature = "crt-static") {
        "static"
    } else {
        "dynamic"
    };
    let redis = if cfg!(feature = "redis") { "redis" } else { "none" };
    format!(
        "backoff {}\ntarget: {}\nlibc: {libc}, {linked}\nfeatures: {redis}\n",
        env!("CARGO_PKG_VERSION"),
        env!("BUILD_TARGET")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_agrees_with_the_table() {
        for line in SUMMARY
            .lines()
            .filter(|line| line.contains(" --") && !line.contains("backoff "))
        {
            let name = line.split("--").nth(1).and_then(|rest| rest.split(' ').next());
            let opt = OPTIONS.iter().find(|opt| Some(opt.long) == name).expect(line);
            assert!(
                opt.kind.is_switch() || line.contains(&format!(" <{}> ", opt.kind.placeholder())),
                "{line}"
            );
            let default = opt.default().and_then(|default| default.split(';').next());
            let shown = line
                .split_once("[default: ")
                .map(|(_, rest)| rest.trim_end_matches(']'));
            assert_eq!(shown, default, "{line}");
        }
    }
}
