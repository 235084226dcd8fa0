//! Generates the man page and the completions for `--generate`.

use clap::builder::{PossibleValuesParser, Resettable};
use clap::{Arg, ArgAction, ValueHint};
use clap_complete::aot::{Bash, Fish, Generator, Zsh, generate};
use clap_mangen::Man;

use super::declare::{described, parser};
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

/// Texts of clap's scripts with what replaces them: clap cannot express lists, names that only backoff can list, and
/// the end of the options at the command. Every script goes through all rows, in this order: `@POLICIES@` alone comes
/// last, as longer texts contain it.
#[rustfmt::skip]
const CHANGES: [(&str, &str); 11] = [
    // zsh
    ("(-s -S -C)", "(-s -S -C -A '-*')"),
    ("'*::COMMAND:_default'", "'(-)1:command:_backoff_program' '*::arguments: _backoff_command'"),
    ("(@POLICIES@)", "_backoff_policies"),
    ("(auto @PRESETS@)", "_sequence compadd - auto @PRESETS@"),
    ("(@CODES@)", "_sequence compadd - @CODES@"),
    // fish
    ("complete -c backoff -", "complete -c backoff -n 'not __backoff_words >/dev/null' -"),
    ("@POLICIES@\\t''", "(__backoff_policies)"),
    ("auto\\t''\n@PRESETS@\\t''", "(__backoff_list auto @PRESETS@)"),
    ("@CODES@\\t''", "(__backoff_list @CODES@)"),
    ("@STATUS@\\t''", "(string split ' ' -- '@STATUS@')"),
    // bash
    ("@POLICIES@", "$(backoff ${config:+--config \"$config\"} --list-policies 2>/dev/null | sed 's/ .*//')"),
];

/// Names that completions offer.
pub(crate) struct Names {
    /// Presets, for `--for`.
    pub(crate) presets: Vec<&'static str>,
    /// Exit codes of sysexits.h.
    pub(crate) sysexits: Vec<&'static str>,
}

/// Returns a generated document.
pub(crate) fn document(document: Document, names: &Names) -> String {
    let script = match document {
        Document::Man => return man_page(),
        Document::CompleteBash => {
            include_str!("completions/bash.in").replace("@COMPLETE@\n", &clap_script(Bash))
        }
        Document::CompleteZsh => {
            include_str!("completions/zsh.in").replace("@COMPLETE@\n", &clap_script(Zsh))
        }
        Document::CompleteFish => {
            include_str!("completions/fish.in").replace("@COMPLETE@\n", &clap_script(Fish))
        }
    };
    let script = CHANGES
        .iter()
        .fold(script, |script, (from, to)| script.replace(from, to));
    // The form that the scripts parse: `n/attempts=`, `v/verbose`, `cool-off=?`.
    let specs = OPTIONS.iter().map(|opt| {
        let short = opt
            .short
            .map(|short| format!("{short}/"))
            .unwrap_or_default();
        let takes = match opt.kind {
            Kind::Switch | Kind::Count => "",
            Kind::Optional(_) => "=?",
            _ => "=",
        };
        format!("{short}{}{takes}", opt.long)
    });
    let (with_text, without): (Vec<&Opt>, Vec<&Opt>) =
        OPTIONS.iter().partition(|opt| opt.kind.takes_next());
    let letters = |options: &[&Opt]| {
        options
            .iter()
            .filter_map(|opt| opt.short)
            .collect::<String>()
    };
    let long: Vec<&str> = with_text.iter().map(|opt| opt.long).collect();
    script
        .replace("@SPECS@", &specs.collect::<Vec<_>>().join("' '"))
        .replace("@LONG@", &long.join("|"))
        .replace("@SHORT@", &letters(&with_text))
        .replace("@SWITCHES@", &(letters(&without) + "h"))
        .replace(
            "@CODES@",
            &format!("timeout {} {SIGNALS}", names.sysexits.join(" ")),
        )
        .replace("@STATUS@", &names.sysexits.join(" "))
        .replace("@PRESETS@", &names.presets.join(" "))
}

/// Returns clap's completion script for a shell.
fn clap_script(shell: impl Generator) -> String {
    let mut text = Vec::new();
    generate(
        shell,
        &mut parser(OPTIONS.iter().map(offered)),
        "backoff",
        &mut text,
    );
    String::from_utf8_lossy(&text).into_owned()
}

/// Declares an option with the texts that completions offer.
fn offered(opt: &Opt) -> Arg {
    let arg = match opt.kind {
        // Offered without its text, which would have to follow in the same word.
        Kind::Optional(_) => Arg::new(opt.long).long(opt.long).action(ArgAction::SetTrue),
        // Without this, clap would offer the default for an option given without a text.
        _ => opt.arg().default_missing_value(Resettable::Reset),
    };
    let arg = arg.help(opt.about).value_name(opt.kind.placeholder());
    let words = match opt.kind {
        Kind::Switch | Kind::Count | Kind::Optional(_) => return arg,
        Kind::One("PATH" | "PATH|none" | "URL" | "SHELL") => {
            return arg.value_hint(ValueHint::FilePath);
        }
        Kind::One("SIGNAL") => SIGNALS.split(' ').collect(),
        // Placeholders, which [`document`] replaces.
        Kind::One("NAME") if opt.long == "policy" => vec!["@POLICIES@"],
        Kind::List("PRESET,...") => vec!["auto", "@PRESETS@"],
        Kind::One("CODE") => vec!["@STATUS@"],
        Kind::Repeatable("CODES") => vec!["@CODES@"],
        kind => kind.words().to_vec(),
    };
    match words.is_empty() {
        true => arg.value_hint(ValueHint::Other),
        // Without `num_args(1)`, clap's zsh script would take the topic of `--help` as optional.
        false => arg
            .num_args(1)
            .value_parser(PossibleValuesParser::new(words)),
    }
}

/// Returns the man page: hand-written, with a generated section on options.
fn man_page() -> String {
    let mut roff = Vec::new();
    // Writing to memory cannot fail.
    let _ = Man::new(described(OPTIONS.iter())).render_options_section(&mut roff);
    let mut options = String::from_utf8_lossy(&roff).replace(".SH ", ".SS ");
    // clap_mangen writes headings in uppercase, quoted if they have several words.
    for Opt { heading, .. } in OPTIONS {
        let upper = heading.to_uppercase();
        options = options.replace(&format!(".SS {upper}\n"), &format!(".SS {heading}\n"));
        options = options.replace(&format!(".SS \"{upper}\""), &format!(".SS \"{heading}\""));
    }
    // In the generated section, each sentence begins a line, as is usual in roff.
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
        assert!(
            SIGNALS
                .split(' ')
                .all(|name| name.parse::<Signal>().is_ok())
        );
    }
}
