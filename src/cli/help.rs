//! `-h`, `--help` and `--help SECTION`, from the table of options.

use super::suggest::closest;
use super::table::{OPTIONS, OTHER, Opt, SECTIONS, Takes, option, titled};
use super::wrap::wrap;

/// What help is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Topic {
    /// `-h`
    Summary,
    /// `--help`
    All,
    /// The section with this heading.
    Section(&'static str),
    /// `--help timeout`
    Option(&'static Opt),
}

impl Topic {
    /// Returns the section or the option of this name, or the error that there is none.
    pub(super) fn named(name: &str) -> Result<Topic, String> {
        let section = SECTIONS.iter().find(|(known, _)| *known == name);
        let option = || OPTIONS.iter().find(|opt| opt.long == name).map(Topic::Option);
        let topic = section.map(|(_, heading)| Topic::Section(heading)).or_else(option);
        topic.ok_or_else(|| {
            let names = SECTIONS.map(|(known, _)| known);
            let hint = closest(name, names.into_iter().chain(OPTIONS.iter().map(|opt| opt.long)));
            format!(
                "--help: {name:?} is neither an option nor one of {}; nothing was run, and --help alone shows all{hint}",
                names.join(", ")
            )
        })
    }
}

/// How it is to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// In columns.
    pub(crate) width: usize,
    pub(crate) colour: bool,
}

const ABOUT: &str =
    "Runs COMMAND; when it fails for a transient reason, waits (exponential backoff with jitter) and runs it again.";

const COMMAND_LINES: [&str; 3] = [
    "backoff [OPTION]... [--] COMMAND [ARG]...",
    "backoff [OPTION]... --plan",
    "backoff --generate KIND | --list-presets [NAME]... | --list-policies | --help [SECTION|OPTION] | --version",
];

pub(super) const NOTES: [&str; 4] = [
    "Every option --some-option can also be set by the variable BACKOFF_SOME_OPTION or as some-option in the configuration \
     file; the option wins over the variable, the variable over the file. What is done in place of running COMMAND (--plan, \
     --plot, --list-..., --generate) is asked for by the option alone.",
    "DURATION is 500ms, 2s, 1.5s, 1m30s, or a bare number of seconds.",
    "Exit status: COMMAND's own (dies by the same signal); 1 it exited 0 but was judged failed; 124 timed out; 125 backoff \
     itself failed; 126 COMMAND cannot be executed; 127 COMMAND not found.",
    "man backoff says all there is to say.",
];

/// For `-h`: lines to copy.
const EXAMPLES: [(&str, &str); 3] = [
    ("backoff -- git fetch", "five attempts, growing waits"),
    (
        "backoff --every 1s -d 1m -- pg_isready -q",
        "every second, for a minute",
    ),
    ("backoff --for auto -t 5m -- apt-get update", "only what may pass"),
];

/// For `-h`: the options that people use, in fewer words.
const USED_MOST: [(&str, &str); 12] = [
    ("attempts", "Attempts in all, the first included"),
    ("deadline", "Bound on the whole run"),
    ("timeout", "Bound on one attempt"),
    ("every", "A fixed wait instead of growing ones"),
    ("base", "The first wait's scale"),
    ("max-delay", "The longest wait"),
    ("retry-exit", "Retry only these exit codes"),
    ("retry-match", "Retry only if a line of output matches"),
    ("for", "Rules known for a tool; auto: for COMMAND"),
    ("quiet", "Say nothing but own errors and warnings"),
    ("verbose", "Say more; twice: all settings and rules"),
    ("plan", "Print the waits and run nothing"),
];

/// The text, which ends with a line's end.
pub(crate) fn help(topic: Topic, style: Style) -> String {
    match topic {
        Topic::Summary => style.summary(),
        Topic::All => style.all(),
        Topic::Section(heading) => style.section(heading),
        Topic::Option(opt) => style.option(opt),
    }
}

fn sections() -> String {
    SECTIONS.map(|(name, _)| name).join(", ")
}

impl Style {
    fn paragraph(self, text: &str) -> String {
        wrap(text, 0, 0, self.width)
    }

    fn coloured(self, text: &str, sgr: &str) -> String {
        match self.colour {
            true => format!("\x1b[{sgr}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    fn heading(self, text: &str) -> String {
        self.lines(&self.paragraph(text), "1")
    }

    fn names(self, text: &str) -> String {
        self.lines(text, "36")
    }

    /// Each line of its own, so that none begins with the colour of another.
    fn lines(self, text: &str, sgr: &str) -> String {
        let coloured = |line: &str| {
            let words = line.trim_start();
            format!("{}{}\n", &line[..line.len() - words.len()], self.coloured(words, sgr))
        };
        text.lines().map(coloured).collect()
    }

    fn usage(self, lines: &[&str]) -> String {
        const USAGE: &str = "Usage:";
        let indent = USAGE.len() + 1;
        let first = self.coloured(USAGE, "1") + " ";
        let before = std::iter::once(first).chain(std::iter::repeat(" ".repeat(indent)));
        before
            .zip(lines)
            .map(|(before, line)| before + &wrap(line, indent, indent + 4, self.width))
            .collect()
    }

    fn summary(self) -> String {
        let mut text = self.paragraph("Runs COMMAND; when it fails for a transient reason, waits and runs it again.");
        text.push('\n');
        text.push_str(&self.usage(&COMMAND_LINES[..1]));
        text.push('\n');
        for (line, why) in EXAMPLES {
            text.push_str(&match format!("  {line:<43} # {why}\n") {
                beside if beside.len() <= self.width => beside,
                _ => format!("  {}", wrap(line, 2, 6, self.width)),
            });
        }
        text.push('\n');
        let used = USED_MOST.map(|(long, about)| {
            let opt = option(long);
            // What holds with other options is for --help.
            let default = opt.default.map(default_alone);
            (names(opt), about.to_owned() + &default.unwrap_or_default())
        });
        let column = used.iter().map(|(names, _)| names.len()).max().unwrap_or(0) + 2;
        for (names, about) in used {
            text.push_str(&self.beside(&names, &about, column));
        }
        text.push('\n');
        text.push_str(&self.paragraph(&format!(
            "backoff --help tells all options, backoff --help SECTION those of one section: {}. man backoff has the rest.",
            sections()
        )));
        text
    }

    /// The name of an option and what it does in one line, if the lines are long enough for that.
    fn beside(self, names: &str, about: &str, column: usize) -> String {
        if self.width < column + 24 {
            return self.below(names, &[about]);
        }
        let coloured = self.names(names);
        let gap = " ".repeat(column - names.len());
        format!(
            "{}{gap}{}",
            coloured.trim_end(),
            wrap(about, column, column, self.width)
        )
    }

    /// The name of an option, and paragraphs below it.
    fn below(self, names: &str, paragraphs: &[&str]) -> String {
        let indent = if self.width < 60 { 4 } else { 8 };
        let before = names.len() - names.trim_start().len();
        let mut text = self.names(&format!(
            "{}{}",
            " ".repeat(before),
            wrap(names, before, indent, self.width)
        ));
        for paragraph in paragraphs.iter().filter(|paragraph| !paragraph.is_empty()) {
            text.push_str(&" ".repeat(indent));
            text.push_str(&wrap(paragraph, indent, indent, self.width));
        }
        text
    }

    fn section(self, heading: &str) -> String {
        let mut text = self.heading(&titled(heading));
        for opt in OPTIONS.iter().filter(|opt| opt.heading == heading) {
            text.push('\n');
            text.push_str(&self.option(opt));
        }
        if heading == OTHER {
            for (names, about) in [
                (
                    "  -h, --help [SECTION|OPTION]",
                    "Print help: -h a summary, --help all of it, one section or one option",
                ),
                (
                    "  -V, --version",
                    "Print the version, what it was built for, and its features",
                ),
            ] {
                text.push('\n');
                text.push_str(&self.below(names, &[about]));
            }
        }
        text
    }

    fn option(self, opt: &Opt) -> String {
        self.below(&names(opt), &[&opt.help(), opt.more])
    }

    fn all(self) -> String {
        let mut text = self.paragraph(ABOUT) + "\n" + &self.usage(&COMMAND_LINES) + "\n";
        let sections = format!("backoff --help SECTION tells one of these sections: {}.", sections());
        text.push_str(&self.paragraph(&sections));
        for (_, heading) in SECTIONS {
            text.push('\n');
            text.push_str(&self.section(heading));
        }
        for note in NOTES {
            text.push('\n');
            text.push_str(&self.paragraph(note));
        }
        text
    }
}

/// ` [default: 5]`, without what holds with other options.
fn default_alone(default: fn() -> String) -> String {
    let all = default();
    format!(" [default: {}]", all.split(';').next().unwrap_or_default())
}

/// `  -n, --attempts N|unlimited`
fn names(opt: &Opt) -> String {
    let short = opt
        .short
        .map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
    let value = match (opt.few_words(), opt.takes) {
        (Some(words), _) => format!(" {words}"),
        (None, Takes::Value(name) | Takes::Values(name) | Takes::Word(name, _)) => format!(" {name}"),
        (None, Takes::Optional(name)) => format!("[={name}]"),
        (None, Takes::Nothing | Takes::Count) => String::new(),
    };
    format!("  {short}--{}{value}", opt.long)
}
