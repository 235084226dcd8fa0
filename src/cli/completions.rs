//! Shell completions. A script knows the options and what may be their values; from the command on, which it finds as the
//! parser does, it leaves all to the shell.

use super::table::{OPTIONS, Opt, Takes};

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

const LIST_PRESETS: &str = "list-presets";

impl Opt {
    fn values(&self, presets: &[&'static str]) -> Values {
        let name = match self.takes {
            _ if self.long == "policy" => return Values::Policies,
            _ if self.long == LIST_PRESETS => return Values::Words(presets.to_vec()),
            Takes::Word(_, words) => return Values::Words(words.to_vec()),
            Takes::Value(name) | Takes::Values(name) | Takes::Optional(name) => name,
            Takes::Nothing | Takes::Count => return Values::Nothing,
        };
        match name {
            "PRESET,..." => Values::List([&["auto"], presets].concat()),
            "SIGNAL" => Values::Words(SIGNALS.to_vec()),
            "SIGNALS" => Values::List(SIGNALS.to_vec()),
            // A command for the shell often begins with one.
            "PATH" | "URL" | "SHELL" => Values::Files,
            "skip" => Values::Words(vec!["skip"]),
            _ => Values::Nothing,
        }
    }

    /// Whether the next word is its value.
    fn takes_next(&self) -> bool {
        matches!(self.takes, Takes::Value(_) | Takes::Values(_) | Takes::Word(..)) || self.long == LIST_PRESETS
    }

    /// Whether a value, if there is one, is in the same word.
    fn may_take(&self) -> bool {
        matches!(self.takes, Takes::Optional(_)) && !self.takes_next()
    }
}

/// A script, with what finds the command put in.
fn script(template: &str, options: &str) -> String {
    let long = |which: fn(&Opt) -> bool| {
        let names: Vec<&str> = OPTIONS.iter().filter(|opt| which(opt)).map(|opt| opt.long).collect();
        names.join("|")
    };
    let letters = |takes_next: bool| -> String {
        let options = OPTIONS.iter().filter(|opt| opt.takes_next() == takes_next);
        options.filter_map(|opt| opt.short).collect()
    };
    let switches = OF_THE_PARSER.map(|(short, ..)| short);
    template
        .replace("@LONG@", &long(Opt::takes_next))
        .replace("@OPTIONAL@", &long(Opt::may_take))
        .replace("@SWITCHES@", &(letters(false) + &String::from_iter(switches)))
        .replace("@SHORT@", &letters(true))
        .replace("@OPTIONS@", options)
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
    let names = OPTIONS.iter().map(|opt| (opt.short, opt.long));
    let names = names.chain(OF_THE_PARSER.map(|(short, long, _)| (Some(short), long)));
    let words = names.flat_map(|(short, long)| {
        let short = short.map(|short| format!("-{short}"));
        [Some(format!("--{long}")), short].into_iter().flatten()
    });
    script(
        include_str!("completions/bash.in"),
        &words.collect::<Vec<_>>().join(" "),
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
            _ if opt.long == LIST_PRESETS => ("", "=", format!("::NAME:{action}")),
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
        add("", &format!("-{short}"), help, "");
        add("", &format!("--{long}"), help, "");
    }
    script(include_str!("completions/zsh.in"), options.trim_end())
}

pub(super) fn fish(presets: &[&'static str]) -> String {
    let mut options = String::new();
    let mut add = |short: Option<char>, long: &str, help: &str, value: &str| {
        let short = short.map_or_else(String::new, |short| format!(" -s {short}"));
        let help = help.replace('\\', "\\\\").replace('\'', "\\'");
        let line = "complete -c backoff -n 'not __backoff_command >/dev/null'";
        options.push_str(&format!("{line}{short} -l {long}{value} -d '{help}'\n"));
    };
    for opt in OPTIONS {
        let takes = if opt.takes_next() { " -x" } else { "" };
        let value = match opt.values(presets) {
            Values::Words(words) => format!("{takes} -a '{}'", words.join(" ")),
            Values::List(words) => format!("{takes} -a '(__backoff_list {})'", words.join(" ")),
            Values::Policies => {
                format!("{takes} -a '(backoff --list-policies 2>/dev/null | string match -r \"^[^ ]+\")'")
            }
            Values::Files => " -r -F".to_owned(),
            Values::Nothing => takes.to_owned(),
        };
        add(opt.short, opt.long, &opt.help(), &value);
    }
    for (short, long, help) in OF_THE_PARSER {
        add(Some(short), long, help, "");
    }
    script(include_str!("completions/fish.in"), options.trim_end())
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
