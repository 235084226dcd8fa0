//! Generates the man page and the completions for `--generate`. clap generates a part from the options' declarations,
//! and templates contain the rest.

use clap::builder::{PossibleValuesParser, Resettable};
use clap::{Arg, ArgAction, Command, CommandFactory, ValueHint};
use clap_complete::aot::{Bash, Fish, Generator, Zsh, generate};
use clap_mangen::Man;

use super::declared::{Takes, takes, takes_no_word};
use super::help::{TOPICS, described};
use super::options::{Document, Options};
use super::values::JITTERS;

/// Signals that all systems have.
const SIGNALS: &str = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT STOP TSTP TTIN TTOU \
                       URG XCPU XFSZ VTALRM PROF WINCH IO SYS";

/// Replacements in clap's scripts. clap cannot express lists, names that only backoff can list, and the end of the
/// options at the command. All rows apply to every script, in this order. `@POLICIES@` is last because longer texts
/// contain it.
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

/// Returns the man page or the completions for a shell, which offer the names of presets and `auto` for `--for`.
pub(crate) fn document(document: Document, presets: &str) -> String {
    match document {
        Document::Man => man_page(),
        Document::CompleteBash => script(include_str!("completions/bash.in"), Bash, presets),
        Document::CompleteZsh => script(include_str!("completions/zsh.in"), Zsh, presets),
        Document::CompleteFish => script(include_str!("completions/fish.in"), Fish, presets),
    }
}

/// Fills a template with clap's script and the names of options and presets. Markers such as `@SHORT@` show where they
/// go.
fn script(template: &str, shell: impl Generator, presets: &str) -> String {
    let command = Options::command();
    let options: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_positional())
        .collect();
    // Quoted, because `?` would match file names. The outer quotes are in the template.
    let specs: Vec<String> = options
        .iter()
        .filter_map(|arg| argparse_spec(arg))
        .collect();
    // The others have no value, or have it in the same word.
    let (taking_next, others): (Vec<&Arg>, Vec<&Arg>) =
        options.into_iter().partition(|arg| !takes_no_word(arg));
    let long: Vec<&str> = taking_next
        .iter()
        .filter_map(|arg| arg.get_long())
        .collect();
    template
        .replace("@COMPLETE@\n", &clap_script(shell))
        .replace("@SPECS@", &specs.join("' '"))
        .replace("@LONG@", &long.join("|"))
        .replace("@SHORT@", &letters(&taking_next))
        .replace("@SWITCHES@", &letters(&others))
        .replace("@CODES@", &format!("timeout {SIGNALS}"))
        .replace("@PRESETS@", presets)
}

/// Returns an option as fish's `argparse` expects it: `n/attempts=` if a value follows, `v/verbose` for a switch,
/// `retry-after=?` if a value must be in the same word. fish's completions use it to find where the command begins.
/// None for `-h`, which is in the template.
fn argparse_spec(arg: &Arg) -> Option<String> {
    let long = arg.get_long()?;
    let text_mark = match takes(arg) {
        Takes::Nothing | Takes::Count => "",
        Takes::Optional => "=?",
        _ => "=",
    };
    Some(match arg.get_short() {
        Some(short) => format!("{short}/{long}{text_mark}"),
        None => format!("{long}{text_mark}"),
    })
}

fn letters(options: &[&Arg]) -> String {
    options.iter().filter_map(|arg| arg.get_short()).collect()
}

/// Returns clap's completion script for a shell, with the replacements of [`CHANGES`] and with markers for words that
/// only backoff knows.
fn clap_script(shell: impl Generator) -> String {
    let mut text = Vec::new();
    let mut offered = described().mut_args(offered);
    generate(shell, &mut offered, "backoff", &mut text);
    let mut script = String::from_utf8_lossy(&text).into_owned();
    for (from, to) in CHANGES {
        script = script.replace(from, to);
    }
    script
}

/// Returns an option with the words that a shell offers as its value. Such a declaration need not parse.
fn offered(arg: Arg) -> Arg {
    // Otherwise clap would offer the default for an option without a value.
    let arg = arg
        .default_value(Resettable::Reset)
        .default_missing_value(Resettable::Reset);
    if arg.is_positional() || matches!(takes(&arg), Takes::Nothing | Takes::Count) {
        return arg;
    }
    if takes(&arg) == Takes::Optional {
        // Offered without its value, which would have to follow in the same word.
        let arg = arg.require_equals(false);
        return arg.num_args(0).action(ArgAction::SetTrue);
    }
    let words: Vec<&str> = match arg.get_id().as_str() {
        "signal" => SIGNALS.split(' ').collect(),
        "jitter" => JITTERS.iter().map(|(word, _)| *word).collect(),
        "help" => TOPICS.to_vec(),
        // Markers, which `CHANGES` and `script` replace.
        "policy" => vec!["@POLICIES@"],
        "for" => vec!["auto", "@PRESETS@"],
        "success_exit" | "retry_exit" | "stop_exit" => vec!["@CODES@"],
        "config" | "log_file" | "report" | "store" | "retry_if" | "success_if" | "on_retry"
        | "before_retry" | "on_give_up" => return arg.value_hint(ValueHint::FilePath),
        _ if !arg.get_possible_values().is_empty() => return arg,
        _ => return arg.value_hint(ValueHint::Other),
    };
    // Without `num_args(1)`, clap's zsh script would treat the topic of `--help` as optional.
    arg.num_args(1)
        .value_parser(PossibleValuesParser::new(words))
}

/// Returns the man page in roff. It is written by hand, except for the options, which clap generates with a
/// subsection for each heading.
fn man_page() -> String {
    let mut roff = Vec::new();
    let command = described();
    let headings = headings(&command);
    // Writing to memory cannot fail.
    let _ = Man::new(command).render_options_section(&mut roff);
    let mut options = String::from_utf8_lossy(&roff).replace(".SH ", ".SS ");
    // clap_mangen writes headings in uppercase, quoted if they have several words.
    for heading in headings {
        let upper = heading.to_uppercase();
        options = options.replace(&format!(".SS {upper}\n"), &format!(".SS {heading}\n"));
        options = options.replace(&format!(".SS \"{upper}\""), &format!(".SS \"{heading}\""));
    }
    // Each sentence begins a new line, as is usual in roff.
    include_str!("backoff.1.in")
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@OPTIONS@\n", &options.replace(". ", ".\n"))
}

fn headings(command: &Command) -> Vec<String> {
    let headings = command.get_arguments().filter_map(Arg::get_help_heading);
    let mut headings: Vec<String> = headings.map(str::to_owned).collect();
    headings.dedup();
    headings
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
