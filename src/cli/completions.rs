//! Shell completions. A script knows the options and what may be their values; from the command on, which it finds as the
//! parser does, it leaves all to the shell.

use super::table::{Kind, OPTIONS, Opt, SECTIONS, Takes};

/// What a shell may offer as the value of an option.
enum Values {
    Words(Vec<&'static str>),
    /// The same, with commas between them.
    List(Vec<&'static str>),
    /// Those of the user's file are known to the binary alone.
    Policies,
    Files,
    Nothing,
}

/// What every system has.
const SIGNALS: [&str; 29] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "SYS",
];

/// Options of the parser itself, which take nothing.
const OF_THE_PARSER: [(char, &str, &str); 2] = [('h', "help", "Print help"), ('V', "version", "Print the version")];

/// What `--help` may be followed by.
fn sections() -> String {
    SECTIONS.map(|(name, _)| name).join(" ")
}

impl Opt {
    fn values(&self, presets: &[&'static str]) -> Values {
        match (self.kind, self.takes) {
            (Kind::Policy, _) => Values::Policies,
            (_, Takes::Word(_, words)) => Values::Words(words.to_vec()),
            (Kind::Presets, _) => Values::List([&["auto"], presets].concat()),
            (Kind::Signal, _) => Values::Words(SIGNALS.to_vec()),
            (Kind::Codes | Kind::SuccessCodes, _) => Values::List([&["timeout"], &SIGNALS[..]].concat()),
            // A command for the shell often begins with one.
            (Kind::Path | Kind::Config | Kind::Store | Kind::Predicate | Kind::Shell, _) => Values::Files,
            (Kind::CoolOff, _) => Values::Words(vec!["skip"]),
            _ => Values::Nothing,
        }
    }

    /// Whether the next word is its value.
    fn takes_next(&self) -> bool {
        matches!(self.takes, Takes::Value(_) | Takes::Values(_) | Takes::Word(..))
    }

    /// Whether a value, if there is one, is in the same word.
    fn may_take(&self) -> bool {
        matches!(self.takes, Takes::Optional(_))
    }
}

/// A script, with what finds the command put in.
fn script(template: &str, options: &str, presets: &[&'static str]) -> String {
    let long = |which: fn(&Opt) -> bool| {
        let names = OPTIONS.iter().filter(|opt| which(opt)).map(|opt| opt.long);
        names.collect::<Vec<_>>().join("|")
    };
    let letters = |takes_next: bool| -> String {
        let options = OPTIONS.iter().filter(|opt| opt.takes_next() == takes_next);
        options.filter_map(|opt| opt.short).collect()
    };
    let switches = OF_THE_PARSER.map(|(short, ..)| short);
    template
        .replace("@LONG@", &(long(Opt::takes_next) + "|help"))
        .replace("@OPTIONAL@", &long(Opt::may_take))
        .replace("@SWITCHES@", &(letters(false) + &String::from_iter(switches)))
        .replace("@SHORT@", &letters(true))
        .replace("@OPTIONS@", options)
        .replace("@PRESETS@", &presets.join(" "))
}

pub(super) fn bash(presets: &[&'static str]) -> String {
    let mut values = String::new();
    for opt in OPTIONS {
        let offers = match opt.values(presets) {
            Values::Words(words) => format!("words='{}'", words.join(" ")),
            Values::List(words) => format!("words='{}' list=1", words.join(" ")),
            Values::Policies => "words=$(backoff --list-policies 2>/dev/null | sed 's/ .*//')".to_owned(),
            Values::Files => "compopt -o default 2>/dev/null".to_owned(),
            Values::Nothing => continue,
        };
        let short = opt.short.map_or_else(String::new, |short| format!(" | -{short}"));
        values.push_str(&format!("    --{}{short}) {offers} ;;\n", opt.long));
    }
    values.push_str(&format!("    --help) words='{}' ;;\n", sections()));
    let names = OPTIONS.iter().map(|opt| (opt.short, opt.long));
    let names = names.chain(OF_THE_PARSER.map(|(short, long, _)| (Some(short), long)));
    let words = names.flat_map(|(short, long)| {
        let short = short.map(|short| format!("-{short}"));
        [Some(format!("--{long}")), short].into_iter().flatten()
    });
    script(
        include_str!("completions/bash.in"),
        &words.collect::<Vec<_>>().join(" "),
        presets,
    )
    .replace("@VALUES@\n", &values)
}

pub(super) fn zsh(presets: &[&'static str]) -> String {
    let mut options = String::new();
    let mut add = |repeats: &str, name: &str, help: &str, value: &str| {
        let help = quoted(help, &['[', ']', ':']);
        options.push_str(&format!("        '{repeats}{name}[{help}]{value}' \\\n"));
    };
    for opt in OPTIONS {
        let action = match opt.values(presets) {
            Values::Words(words) => format!("({})", words.join(" ")),
            Values::List(words) => format!("_sequence compadd - {}", words.join(" ")),
            Values::Policies => "_backoff_policies".to_owned(),
            Values::Files => "_files".to_owned(),
            Values::Nothing => " ".to_owned(),
        };
        let repeats = if matches!(opt.takes, Takes::Values(_) | Takes::Count) {
            "*"
        } else {
            ""
        };
        let (after_short, after_long, value) = match opt.takes {
            Takes::Value(name) | Takes::Values(name) | Takes::Word(name, _) => ("+", "=", format!(":{name}:{action}")),
            Takes::Optional(name) => ("", "=-", format!("::{name}:{action}")),
            Takes::Nothing | Takes::Count => ("", "", String::new()),
        };
        if let Some(short) = opt.short {
            add(repeats, &format!("-{short}{after_short}"), &opt.help(), &value);
        }
        add(repeats, &format!("--{}{after_long}", opt.long), &opt.help(), &value);
    }
    for (short, long, help) in OF_THE_PARSER {
        let section = match long {
            "help" => format!(":SECTION:({})", sections()),
            _ => String::new(),
        };
        add("", &format!("-{short}"), help, "");
        add("", &format!("--{long}"), help, &section);
    }
    script(include_str!("completions/zsh.in"), options.trim_end(), presets)
}

pub(super) fn fish(presets: &[&'static str]) -> String {
    let mut options = String::new();
    let mut add = |names: &str, help: &str, takes: &str, values: &str| {
        let help = help.replace('\\', "\\\\").replace('\'', "\\'");
        let line = format!("complete -c backoff -n 'not __backoff_command >/dev/null' {names}{takes}");
        // In a line of their own, as each would have the description of the option beside it. The last one names the option.
        if !values.is_empty() {
            options.push_str(&format!("{line} -a '{values}'\n"));
        }
        options.push_str(&format!("{line} -d '{help}'\n"));
    };
    for opt in OPTIONS {
        let takes = if opt.takes_next() { " -x" } else { "" };
        let (takes, values) = match opt.values(presets) {
            Values::Words(words) => (takes, words.join(" ")),
            Values::List(words) => (takes, format!("(__backoff_list {})", words.join(" "))),
            Values::Policies => (
                takes,
                "(backoff --list-policies 2>/dev/null | string match -r \"^[^ ]+\")".to_owned(),
            ),
            Values::Files => (" -r -F", String::new()),
            Values::Nothing => (takes, String::new()),
        };
        let short = opt.short.map_or_else(String::new, |short| format!("-s {short} "));
        add(&format!("{short}-l {}", opt.long), &opt.help(), takes, &values);
    }
    for (short, long, help) in OF_THE_PARSER {
        let (takes, values) = match long {
            "help" => (" -x", sections()),
            _ => ("", String::new()),
        };
        add(&format!("-s {short}"), help, "", "");
        add(&format!("-l {long}"), help, takes, &values);
    }
    script(include_str!("completions/fish.in"), options.trim_end(), presets)
}

/// Inside of single quotes, with a backslash before what the shell's function acts on.
fn quoted(text: &str, special: &[char]) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        match c {
            '\'' => quoted.push_str(r"'\''"),
            _ if special.contains(&c) => quoted.extend(['\\', c]),
            _ => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::signal::Signal;

    #[test]
    fn signals_are_known() {
        assert!(SIGNALS.iter().all(|name| name.parse::<Signal>().is_ok()));
    }
}
