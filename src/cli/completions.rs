//! Shell completions. `clap_complete` knows the options; each shell's own machinery completes the
//! wrapped command and its arguments, with a short tail where `clap_complete` has none.

use clap_complete::{Shell, generate};

use super::parse::documented_parser;
use super::table::{OPTIONS, Opt, Takes};

fn of_options(shell: Shell) -> String {
    let mut script = Vec::new();
    generate(shell, &mut documented_parser(), "backoff", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Options whose next word is their value.
fn with_value() -> impl Iterator<Item = &'static Opt> {
    OPTIONS
        .iter()
        .filter(|opt| matches!(opt.takes, Takes::Value(_) | Takes::Values(_) | Takes::Word(..)))
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
    let long: Vec<String> = with_value().map(|opt| format!("--{}", opt.long)).collect();
    let switches = OPTIONS
        .iter()
        .filter(|opt| matches!(opt.takes, Takes::Nothing | Takes::Count));
    let tail = BASH_TAIL
        .replace("@LONG@", &long.join(" | "))
        .replace("@SWITCHES@", &short_names(switches))
        .replace("@SHORT@", &short_names(with_value()));
    format!("{}{tail}", of_options(Shell::Bash))
}

pub(super) fn zsh() -> String {
    of_options(Shell::Zsh)
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
