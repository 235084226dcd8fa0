//! Shell completions. `clap_complete` knows the options; each shell's own machinery completes the
//! wrapped command and its arguments, with a short tail where `clap_complete` has none.

use clap::{Arg, ArgAction};
use clap_complete::{Shell, generate};

use super::parse::documented_parser;
use super::table::{OPTIONS, Opt, Takes};

fn of_options(shell: Shell) -> String {
    let mut script = Vec::new();
    let mut parser = match shell {
        Shell::Zsh => documented_parser(),
        // To these a value is one in the next word.
        _ => with_optional_value().fold(documented_parser(), |parser, opt| {
            let switch = Arg::new(opt.long).long(opt.long).help(opt.help());
            parser.mut_arg(opt.long, |_| switch.action(ArgAction::SetTrue))
        }),
    };
    generate(shell, &mut parser, "backoff", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Options whose next word is their value.
fn with_value() -> impl Iterator<Item = &'static Opt> {
    OPTIONS
        .iter()
        .filter(|opt| matches!(opt.takes, Takes::Value(_) | Takes::Values(_) | Takes::Word(..)))
}

/// Options whose value, if there is one, is in the same word.
fn with_optional_value() -> impl Iterator<Item = &'static Opt> {
    OPTIONS.iter().filter(|opt| matches!(opt.takes, Takes::Optional(_)))
}

fn short_names(options: impl Iterator<Item = &'static Opt>) -> String {
    options.filter_map(|opt| opt.short).collect()
}

const BASH_TAIL: &str = r#"
# The wrapped command and its arguments are completed as if backoff were not there.
_backoff_or_command() {
    local word command=1
    while ((command < COMP_CWORD)); do
        word=${COMP_WORDS[command]}
        case $word in
        --) ((command++)); break ;;
        @LONG@ | -[@SHORT@] | -[@SWITCHES@][@SHORT@])
            [[ ${COMP_WORDS[command + 1]} == = ]] && ((command++))
            ((command += 2))
            ;;
        @OPTIONAL@)
            [[ ${COMP_WORDS[command + 1]} == = ]] && ((command += 2))
            ((command++))
            ;;
        -*) ((command++)) ;;
        *) break ;;
        esac
    done
    if ((command > COMP_CWORD)) || [[ $command == "$COMP_CWORD" && ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
        _backoff "$@"
    elif declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$command"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$command"
    elif ((command == COMP_CWORD)); then
        mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
    else
        COMPREPLY=()
    fi
}
complete -F _backoff_or_command -o bashdefault -o default backoff
"#;

pub(super) fn bash() -> String {
    let long = |options: &mut dyn Iterator<Item = &'static Opt>| {
        let names: Vec<String> = options.map(|opt| format!("--{}", opt.long)).collect();
        names.join(" | ")
    };
    let switches = OPTIONS
        .iter()
        .filter(|opt| matches!(opt.takes, Takes::Nothing | Takes::Count));
    let tail = BASH_TAIL
        .replace("@LONG@", &long(&mut with_value()))
        .replace("@OPTIONAL@", &long(&mut with_optional_value()))
        .replace("@SWITCHES@", &short_names(switches))
        .replace("@SHORT@", &short_names(with_value()));
    format!("{}{tail}", of_options(Shell::Bash))
}

pub(super) fn zsh() -> String {
    with_optional_value().fold(of_options(Shell::Zsh), |script, opt| {
        // The crate's form would also take the next word.
        script.replace(&format!("'--{}=[", opt.long), &format!("'--{}=-[", opt.long))
    })
}

pub(super) fn fish() -> String {
    let mut names = String::new();
    for opt in with_value() {
        names.extend(opt.short.map(|short| format!(" -{short}")));
        names.push_str(&format!(" --{}", opt.long));
    }
    let options = of_options(Shell::Fish);
    format!("{options}complete -c backoff -x -a '(__fish_complete_subcommand --{names})'\n")
}
