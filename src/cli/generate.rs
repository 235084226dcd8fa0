//! Generates the man page and the completions for `--generate`.

use clap::builder::{PossibleValuesParser, Resettable};
use clap::{Command, ValueHint};
use clap_complete::aot::{Bash, Fish, Generator, Zsh, generate};
use clap_mangen::Man;

use super::declare::described;
use super::table::{Kind, OPTIONS, Opt};

/// The document that `--generate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Document {
    Man,
    CompleteBash,
    CompleteZsh,
    CompleteFish,
}

/// Signals that all systems have.
const SIGNALS: &str = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU \
                       URG XCPU XFSZ VTALRM PROF WINCH IO SYS";

/// Placeholders for values that clap's generators cannot express: comma-separated lists, and names that only backoff
/// can list.
const PRESETS: &str = "@PRESETS@";
const CODES: &str = "@CODES@";
const POLICIES: &str = "@POLICIES@";

/// Returns a generated document. Completions offer `presets` for `--for`.
pub(crate) fn document(document: Document, presets: &[&str]) -> String {
    let presets = presets.join(" ");
    let text = match document {
        Document::Man => return man_page(),
        Document::CompleteBash => script(Bash) + include_str!("completions/bash.in"),
        Document::CompleteZsh => script(Zsh)
            .replacen("\n\n", concat!("\n\n", include_str!("completions/zsh.in"), "\n"), 1)
            .replace("(-s -S -C)", "(-s -S -C -A '-*')")
            .replace(
                "'*::COMMAND:_default'",
                "'(-)1:command:_backoff_program' '*::arguments: _backoff_command'",
            )
            .replace("(@POLICIES@)", "_backoff_policies")
            .replace("(@PRESETS@)", "_sequence compadd - @PRESETS@")
            .replace("(@CODES@)", "_sequence compadd - @CODES@"),
        Document::CompleteFish => include_str!("completions/fish.in")
            .replace("@COMPLETE@\n", &script(Fish))
            .replace(
                "complete -c backoff -",
                "complete -c backoff -n 'not __backoff_words >/dev/null' -",
            )
            .replace(
                "@POLICIES@\\t''",
                "(backoff --list-policies 2>/dev/null | string match -r '^[^ ]+')",
            )
            .replace("@PRESETS@\\t''", "(__backoff_list auto @PRESETS@)")
            .replace("@CODES@\\t''", "(__backoff_list @CODES@)"),
    };
    // The text of an optional value is in the same word.
    let text = OPTIONS
        .iter()
        .filter(|opt| opt.kind.is_optional())
        .fold(text, |text, opt| {
            let (zsh, fish) = (format!("'--{}=", opt.long), format!(" -d '{}'", opt.about));
            text.replace(&zsh, &(zsh.clone() + "-"))
                .replace(&(fish.clone() + " -r"), &fish)
        });
    let spec = |opt: &Opt| {
        let takes = if takes_next(opt) {
            "="
        } else if opt.kind.is_optional() {
            "=?"
        } else {
            ""
        };
        Some(opt.short.map_or_else(String::new, |short| format!("{short}/")) + opt.long + takes)
    };
    let long = |takes: fn(&Opt) -> bool| names(takes, |opt| Some(opt.long.to_owned()), "|");
    let letters = |takes: fn(&Opt) -> bool| names(takes, |opt| opt.short.map(String::from), "");
    text.replace("@SPECS@", &names(|_| true, spec, "' '"))
        .replace("@LONG@", &long(takes_next))
        .replace("@SHORT@", &letters(takes_next))
        .replace("@SWITCHES@", &(letters(|opt| !takes_next(opt)) + "h"))
        .replace(POLICIES, "$(backoff --list-policies 2>/dev/null | sed 's/ .*//')")
        .replace(CODES, &format!("timeout {SIGNALS}"))
        .replace(PRESETS, &presets)
}

/// Returns true if the next word is the text of the option.
fn takes_next(opt: &Opt) -> bool {
    !opt.kind.is_switch() && !opt.kind.is_optional()
}

fn names(is_meant: fn(&Opt) -> bool, name: fn(&Opt) -> Option<String>, separator: &str) -> String {
    let meant = OPTIONS.iter().filter(|opt| is_meant(opt));
    meant.filter_map(name).collect::<Vec<_>>().join(separator)
}

/// Returns clap's completion script for a shell.
fn script(shell: impl Generator) -> String {
    let mut text = Vec::new();
    let offer = |command: Command, opt: &Opt| {
        command.mut_arg(opt.long, |arg| {
            // clap would offer the text that an option has if none is given as a completion.
            let arg = arg.help(opt.about).default_missing_value(Resettable::Reset);
            let words = match opt.kind {
                Kind::Presets => vec![PRESETS],
                Kind::Codes | Kind::SuccessCodes => vec![CODES],
                Kind::Policy => vec![POLICIES],
                Kind::Signal => SIGNALS.split(' ').collect(),
                kind => kind.words().to_vec(),
            };
            match opt.kind {
                Kind::Switch | Kind::Count => arg,
                Kind::Topic => arg.num_args(1).value_parser(PossibleValuesParser::new(words)),
                _ if !words.is_empty() => arg.value_parser(PossibleValuesParser::new(words)),
                Kind::Path | Kind::Config | Kind::Store | Kind::Predicate | Kind::Shell => {
                    arg.value_hint(ValueHint::FilePath)
                }
                _ => arg.value_hint(ValueHint::Other),
            }
        })
    };
    generate(
        shell,
        &mut OPTIONS.iter().fold(described(OPTIONS.iter()), offer),
        "backoff",
        &mut text,
    );
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the man page: hand-written, with a generated section on options.
fn man_page() -> String {
    let mut roff = Vec::new();
    // Writing to memory cannot fail.
    let _ = Man::new(described(OPTIONS.iter())).render_options_section(&mut roff);
    let options = OPTIONS
        .iter()
        .fold(String::from_utf8_lossy(&roff).replace(".SH ", ".SS "), |text, opt| {
            let (upper, heading) = (opt.heading.to_uppercase(), opt.heading);
            text.replace(&format!(".SS {upper}\n"), &format!(".SS {heading}\n"))
                .replace(&format!(".SS \"{upper}\""), &format!(".SS \"{heading}\""))
        });
    // Each sentence begins a line.
    include_str!("backoff.1.in")
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@OPTIONS@\n", &options.replace(". ", ".\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::signal::Signal;

    #[test]
    fn signals_are_known() {
        assert!(SIGNALS.split(' ').all(|name| name.parse::<Signal>().is_ok()));
    }
}
