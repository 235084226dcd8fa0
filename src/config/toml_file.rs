//! The language of the configuration file, and of the built-in policies: TOML with a table `[defaults]` and tables
//! `[policy.NAME]`. A value becomes the text that a flag would take, so that both go through the same readers.

use toml::{Table, Value};

use super::setting::{Setting, Source, UsageError};
use crate::cli::suggest::tip_for_option;
use crate::options::opt::{Kind, Spec};
use crate::options::similar::tip;
use crate::options::{OPTIONS, POLICY};

/// Settings under a name.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// The name that `--policy` takes.
    pub(crate) name: String,
    /// The purpose of a built-in policy.
    pub(crate) about: Option<String>,
    /// The file's name; empty for a built-in policy.
    pub(crate) file: String,
    pub(crate) settings: Vec<Setting>,
}

/// The tables of a file.
pub(super) struct ParsedFile {
    /// Settings of `[defaults]`.
    pub(super) defaults: Vec<Setting>,
    /// Policies, by their names.
    pub(super) policies: Vec<Policy>,
}

/// A table of options in a file, for messages.
struct OptionTable<'f> {
    /// The file's name, escaped for display; empty for the built-in policies.
    file: &'f str,
    source: Source,
}

/// Parses a file, or the built-in policies, whose name `file` is empty. An error is one of the syntax, with the line, or
/// a key or type of a value that is not accepted, with its table. The texts are not read here.
pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<ParsedFile, UsageError> {
    let wrong = |problem: &str| UsageError(format!("{file}: {problem}"));
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("is not UTF-8"))?;
    let root: Table = text.parse().map_err(|error: toml::de::Error| {
        let offset = error.span().map_or(0, |span| span.start);
        let line = text[..offset].matches('\n').count() + 1;
        wrong(&format!("line {line} is not TOML: {}", error.message()))
    })?;
    let mut parsed = ParsedFile {
        defaults: Vec::new(),
        policies: Vec::new(),
    };
    for (key, value) in root {
        match (&*key, value) {
            ("defaults", Value::Table(table)) => {
                let source = Source::Defaults;
                parsed.defaults = OptionTable { file, source }.settings(table)?;
            }
            ("policy", Value::Table(policies)) => {
                for (name, value) in policies {
                    parsed.policies.push(policy(file, name, value)?);
                }
            }
            (name, _) => {
                // A known name with a value of the wrong type, such as `defaults = 1`, must not be its own tip.
                let known = ["defaults", "policy"]
                    .into_iter()
                    .filter(|known| *known != name);
                let tip = tip(name, known);
                return Err(wrong(&format!(
                    "{name:?} is neither a table [defaults] nor [policy.NAME]{tip}"
                )));
            }
        }
    }
    Ok(parsed)
}

/// Reads the table of one policy. Returns an error if the value is no table, or the name or an option in the table is
/// not accepted.
fn policy(file: &str, name: String, value: Value) -> Result<Policy, UsageError> {
    let Value::Table(mut table) = value else {
        return Err(UsageError(format!(
            "{file}: {name:?} is not a table [policy.NAME]"
        )));
    };
    // Names appear in messages and in the first column of a list.
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(is_of_name) {
        return Err(UsageError(format!(
            "{file}: {name:?} cannot be the name of a policy, which has letters, digits, -, _ and . only"
        )));
    }
    // Only a built-in policy has this key, which is no option.
    let about = if file.is_empty() {
        table.remove("about")
    } else {
        None
    };
    let source = Source::Policy(name.as_str().into());
    Ok(Policy {
        about: about.and_then(|about| about.as_str().map(str::to_owned)),
        file: file.to_owned(),
        settings: OptionTable { file, source }.settings(table)?,
        name,
    })
}

impl OptionTable<'_> {
    /// Returns the settings of a table. A key that is not accepted is an error.
    fn settings(&self, table: Table) -> Result<Vec<Setting>, UsageError> {
        let mut settings: Vec<Setting> = Vec::new();
        for (key, value) in table {
            let opt = self.option(&key)?;
            if settings.iter().any(|setting| setting.opt == opt) {
                return Err(self.wrong(&key, "is given twice, with - and with _"));
            }
            for text in self.texts(opt, &key, &value)? {
                let file = self.file.to_owned();
                settings.push(Setting::new(opt, text, self.source.clone(), file));
            }
        }
        Ok(settings)
    }

    fn wrong(&self, key: &str, problem: &str) -> UsageError {
        UsageError(format!(
            "{}: {} {key:?} {problem}",
            self.file,
            self.source.table()
        ))
    }

    /// Returns the option of a key, or an error if a file or a policy cannot set it. Accepts `max_delay` for
    /// `max-delay`. For a misspelled key, or one of another tool, the error suggests our option.
    fn option(&self, key: &str) -> Result<&'static Spec, UsageError> {
        let name = key.replace('_', "-");
        let Some(opt) = OPTIONS.iter().copied().find(|opt| opt.long == name) else {
            let settable = OPTIONS.iter().filter(|opt| opt.is_setting());
            let tip = tip_for_option(key, settable.map(|opt| opt.long));
            return Err(self.wrong(key, &format!("is not an option{tip}")));
        };
        if !opt.is_setting() {
            return Err(self.wrong(key, "cannot be set in a configuration file"));
        }
        if *opt == *POLICY && self.source != Source::Defaults {
            return Err(self.wrong(key, "cannot be set by a policy"));
        }
        Ok(opt)
    }

    /// Returns a value's texts. In an array, elements are texts of their own if the option may be repeated, and one text
    /// with commas if the option takes a list. A value that the option does not take is an error: an array for an option
    /// with one text, say, or an empty one, which would set nothing.
    fn texts(&self, opt: &Spec, key: &str, value: &Value) -> Result<Vec<String>, UsageError> {
        let values = match (value, opt.kind) {
            (Value::Array(array), Kind::Repeatable(_) | Kind::List(_)) if !array.is_empty() => {
                array.as_slice()
            }
            // `text_of_flag` rejects any other array.
            _ => std::slice::from_ref(value),
        };
        let mut texts = Vec::new();
        for value in values {
            let text = text_of_flag(value, opt).ok_or_else(|| {
                let expected = expected_form(opt);
                let given = value.type_str();
                self.wrong(key, &format!("takes {expected}, not a TOML {given}"))
            })?;
            texts.push(text);
        }
        if let Kind::List(_) = opt.kind {
            texts = vec![texts.join(",")];
        }
        Ok(texts)
    }
}

/// Returns the expected form of an option's value, for error messages.
fn expected_form(opt: &Spec) -> String {
    match opt.kind {
        Kind::Switch => "true or false".to_owned(),
        Kind::Count => "a number".to_owned(),
        kind => kind.placeholder(),
    }
}

/// Returns a value as the text that a flag or a variable would take (`true`, `30`, `1.5s`), or None if the option takes
/// no value of this type, such as a number for a switch.
fn text_of_flag(value: &Value, opt: &Spec) -> Option<String> {
    match (value, opt.kind) {
        (Value::Boolean(on), Kind::Switch | Kind::Count | Kind::Optional { .. }) => {
            Some(on.to_string())
        }
        // TOML users write true for yes.
        (Value::Boolean(on), Kind::Word(["yes", "no"])) => {
            Some(if *on { "yes" } else { "no" }.to_owned())
        }
        (_, Kind::Switch) => None,
        (Value::Integer(number), _) => Some(number.to_string()),
        (_, Kind::Count) => None,
        (Value::Float(number), _) => Some(number.to_string()),
        (Value::String(text), _) => Some(text.clone()),
        _ => None,
    }
}
