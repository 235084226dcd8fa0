//! Generates the man page and the completions for `--generate`, from the options' declarations: clap writes a part, and
//! templates hold the rest.

use clap::builder::{PossibleValuesParser, Resettable};
use clap::{Arg, ArgAction, ValueHint};
use clap_complete::aot::{Bash, Fish, Generator, Zsh, generate};
use clap_mangen::Man;

use super::declare::{arg, described, parser};
use crate::options::opt::{Completion, Heading, Kind, Spec};
use crate::options::{Document, OPTIONS};

/// Signals that all systems have.
const SIGNALS: &str = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU \
                       URG XCPU XFSZ VTALRM PROF WINCH IO SYS";

/// Texts of clap's scripts with what replaces them: clap cannot express lists, names that only backoff can list, and
/// the end of the options at the command. Every script goes through all rows, in this order: `@POLICIES@` alone comes
/// last, as longer texts contain it.
#[rustfmt::skip]
const CHANGES: [(&str, &str); 10] = [
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
    // bash
    ("@POLICIES@", "$(backoff ${config:+--config \"$config\"} --list-policies 2>/dev/null | sed 's/ .*//')"),
];

/// Returns a generated document: the man page, or the completions of a shell, which offer the names of presets, and
/// `auto`, for `--for`.
pub(crate) fn document(document: Document, presets: &str) -> String {
    match document {
        Document::Man => man_page(),
        Document::CompleteBash => script(include_str!("completions/bash.in"), Bash, presets),
        Document::CompleteZsh => script(include_str!("completions/zsh.in"), Zsh, presets),
        Document::CompleteFish => script(include_str!("completions/fish.in"), Fish, presets),
    }
}

/// Returns a shell's completions: a template, into which clap's script and the names of options and presets are put.
/// Markers such as `@SHORT@` stand where the template or clap's script needs them.
fn script(template: &str, shell: impl Generator, presets: &str) -> String {
    let script = template.replace("@COMPLETE@\n", &clap_script(shell));
    // Each is quoted, as `?` would match file names; the outer quotes stand in the template.
    let specs: Vec<String> = OPTIONS.iter().map(|opt| argparse_spec(opt)).collect();
    let options = OPTIONS.iter().copied();
    // The others have no text, or have it in the same word.
    let (taking_next, others): (Vec<&Spec>, Vec<&Spec>) =
        options.partition(|opt| opt.kind.takes_next());
    let long: Vec<&str> = taking_next.iter().map(|opt| opt.long).collect();
    script
        .replace("@SPECS@", &specs.join("' '"))
        .replace("@LONG@", &long.join("|"))
        .replace("@SHORT@", &letters(&taking_next))
        // `-h` is no option of the list.
        .replace("@SWITCHES@", &(letters(&others) + "h"))
        .replace("@CODES@", &format!("timeout {SIGNALS}"))
        .replace("@PRESETS@", presets)
}

/// Returns an option in the form of fish's `argparse`, by which its completions find where the command begins: letter,
/// if any, and name, with `=` if the next word is its text (or topic), and `=?` if a text has to stand in the same
/// word. `n/attempts=`, `v/verbose`, `retry-after=?`.
fn argparse_spec(opt: &Spec) -> String {
    let text_mark = if opt.kind.takes_next() {
        "="
    } else if opt.kind.is_switch() {
        ""
    } else {
        "=?"
    };
    match opt.short {
        Some(short) => format!("{short}/{}{text_mark}", opt.long),
        None => format!("{}{text_mark}", opt.long),
    }
}

fn letters(options: &[&Spec]) -> String {
    options.iter().filter_map(|opt| opt.short).collect()
}

/// Returns clap's completion script for a shell, changed by [`CHANGES`], with markers where only backoff knows the
/// words.
fn clap_script(shell: impl Generator) -> String {
    let mut text = Vec::new();
    let mut parser = parser(OPTIONS.iter().map(|opt| offered(opt)));
    generate(shell, &mut parser, "backoff", &mut text);
    let mut script = String::from_utf8_lossy(&text).into_owned();
    for (from, to) in CHANGES {
        script = script.replace(from, to);
    }
    script
}

/// Declares an option for completions only: with its line of help and the words that a shell offers as its text. Such a
/// declaration need not parse.
fn offered(opt: &Spec) -> Arg {
    let arg = match opt.kind {
        // Offered without its text, which would have to follow in the same word.
        Kind::Optional { .. } => Arg::new(opt.long).long(opt.long).action(ArgAction::SetTrue),
        // Without this, clap would offer the default for an option given without a text.
        _ => arg(opt).default_missing_value(Resettable::Reset),
    };
    let arg = arg.help(opt.about).value_name(opt.kind.placeholder());
    if !opt.kind.takes_next() {
        return arg;
    }
    let words = match opt.completion {
        Completion::Files => return arg.value_hint(ValueHint::FilePath),
        Completion::Signals => SIGNALS.split(' ').collect(),
        // Markers, which `CHANGES` and `script` replace.
        Completion::Policies => vec!["@POLICIES@"],
        Completion::Presets => vec!["auto", "@PRESETS@"],
        Completion::Codes => vec!["@CODES@"],
        Completion::Nothing => opt.kind.words().to_vec(),
    };
    if words.is_empty() {
        return arg.value_hint(ValueHint::Other);
    }
    // Without `num_args(1)`, clap's zsh script would take the topic of `--help` as optional.
    arg.num_args(1)
        .value_parser(PossibleValuesParser::new(words))
}

/// Returns the man page in roff: hand-written, with a section on options that clap generates, as one subsection for
/// each heading.
fn man_page() -> String {
    let mut roff = Vec::new();
    // Writing to memory cannot fail.
    let _ = Man::new(described(OPTIONS.iter().copied())).render_options_section(&mut roff);
    let mut options = String::from_utf8_lossy(&roff).replace(".SH ", ".SS ");
    // clap_mangen writes headings in uppercase, quoted if they have several words.
    for heading in Heading::ALL.map(Heading::title) {
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
