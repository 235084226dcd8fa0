//! The language of the config file and of the built-in policies: TOML with a table `[defaults]` and tables
//! `[policy.NAME]`. A value becomes the text that a flag would take.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::rc::Rc;

use serde::Deserialize;
use toml::{Table, Value};

use super::settings::{Settings, Source};
use crate::cli::declared::{Declared, Takes};
use crate::cli::tips::tip_for_name;
use crate::text::{normal, tip};

/// The tables of a file.
#[derive(Deserialize)]
struct Tables {
    #[serde(default)]
    defaults: Table,
    #[serde(default)]
    policy: BTreeMap<String, Table>,
    #[serde(flatten)]
    unknown: Table,
}

/// Settings under a name.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// The name that `--policy` takes.
    pub(crate) name: Rc<str>,
    /// The purpose of a built-in policy.
    pub(crate) about: Option<String>,
    /// The file's name, empty for a built-in policy.
    pub(crate) file: Rc<str>,
    pub(crate) settings: Settings,
}

/// What a file sets.
pub(super) struct ParsedFile {
    pub(super) defaults: Settings,
    pub(super) policies: Vec<Policy>,
}

/// Parses a file, or the built-in policies, whose name `file` is empty. An error is in the syntax (with the line), or a
/// key or type of value that is not accepted (with its table). The texts are not parsed here.
pub(super) fn parse(file: &str, bytes: &[u8], declared: &[Declared]) -> Result<ParsedFile, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| format!("{file}: is not UTF-8"))?;
    let tables: Tables = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let line = text[..offset].matches('\n').count() + 1;
        format!(
            "{file}: line {line}: {}",
            error.message().replace("a map", "a table")
        )
    })?;
    let file: Rc<str> = file.into();
    if let Some(key) = tables.unknown.keys().next() {
        let tip = tip(key, ["defaults", "policy"].into_iter());
        return Err(format!(
            "{file}: {key:?} is neither a table [defaults] nor [policy.NAME]{tip}"
        ));
    }
    let mut policies = Vec::new();
    for (name, table) in tables.policy {
        policies.push(policy(&file, name, table, declared)?);
    }
    let source = Source::Defaults(file);
    Ok(ParsedFile {
        defaults: OptionTable { source, declared }.settings(tables.defaults)?,
        policies,
    })
}

fn policy(
    file: &Rc<str>,
    name: String,
    mut table: Table,
    declared: &[Declared],
) -> Result<Policy, String> {
    check_name(file, &name)?;
    let name: Rc<str> = name.into();
    // Only a built-in policy has this key, which is not an option.
    let about = file.is_empty().then(|| table.remove("about")).flatten();
    let source = Source::Policy {
        name: Rc::clone(&name),
        file: Rc::clone(file),
    };
    Ok(Policy {
        name,
        about: about.and_then(|about| about.as_str().map(str::to_owned)),
        file: Rc::clone(file),
        settings: OptionTable { source, declared }.settings(table)?,
    })
}

/// Returns an error for a name that does not fit in messages and in the first column of a list.
fn check_name(file: &str, name: &str) -> Result<(), String> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if !name.is_empty() && name.chars().all(is_of_name) {
        return Ok(());
    }
    Err(format!(
        "{file}: {name:?} cannot be the name of a policy, which has letters, digits, -, _ and . only"
    ))
}

struct OptionTable<'d> {
    source: Source,
    declared: &'d [Declared],
}

impl OptionTable<'_> {
    /// Returns the settings of a table. A key that is not accepted is an error.
    fn settings(&self, table: Table) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for (key, value) in table {
            let option = self.option(&key)?;
            if settings.has(&option.long) {
                return Err(self.wrong(&key, "is given twice, with - and with _"));
            }
            let texts = self.texts(option, &key, value)?;
            settings.set(&option.long, texts, self.source.clone());
        }
        Ok(settings)
    }

    fn wrong(&self, key: &str, problem: &str) -> String {
        let (file, table) = match &self.source {
            Source::Policy { name, file } => (file, format!("[policy.{name}]")),
            Source::Defaults(file) => (file, "[defaults]".to_owned()),
            _ => return problem.to_owned(),
        };
        format!("{file}: {table} {key:?} {problem}")
    }

    /// Returns the option of a key, or an error if a file or a policy cannot set it. The error suggests our option for
    /// a misspelled key or one of another tool.
    fn option(&self, key: &str) -> Result<&Declared, String> {
        // In upper or lower case, and with `-` or `_`.
        let long = normal(key);
        let Some(option) = self.declared.iter().find(|option| option.long == long) else {
            let settable = self.declared.iter().filter(|option| option.is_setting());
            let tip = tip_for_name(key, settable.map(|option| &*option.long));
            return Err(self.wrong(key, &format!("is not an option{tip}")));
        };
        if !option.is_setting() {
            return Err(self.wrong(key, "cannot be set in a configuration file"));
        }
        if option.long == "policy" && !matches!(self.source, Source::Defaults(_)) {
            return Err(self.wrong(key, "cannot be set by a policy"));
        }
        Ok(option)
    }

    /// Returns a value's texts. The elements of an array are separate texts if the option may be repeated, and one text
    /// with commas if it takes a list.
    fn texts(&self, option: &Declared, key: &str, value: Value) -> Result<Vec<OsString>, String> {
        let given = match &value {
            Value::Array(values) if values.is_empty() => "array without elements",
            value => value.type_str(),
        };
        let values = match value {
            Value::Array(values) if matches!(option.takes, Takes::Several | Takes::List) => values,
            value => vec![value],
        };
        let texts = values.iter().map(|value| text_of_flag(value, option.takes));
        let Some(texts) = texts
            .collect::<Option<Vec<String>>>()
            .filter(|texts| !texts.is_empty())
        else {
            let expected = match option.takes {
                Takes::Nothing => "true or false",
                Takes::Count => "a number",
                _ => &option.placeholder,
            };
            return Err(self.wrong(key, &format!("takes {expected}, not a TOML {given}")));
        };
        match option.takes {
            Takes::List => Ok(vec![texts.join(",").into()]),
            _ => Ok(texts.into_iter().map(OsString::from).collect()),
        }
    }
}

/// Returns a value as the text that a flag or a variable would take (`true`, `30`, `1.5s`). None if the option takes no
/// value of this type, such as a number for a switch.
fn text_of_flag(value: &Value, takes: Takes) -> Option<String> {
    match (value, takes) {
        (Value::Boolean(on), Takes::Nothing | Takes::Count | Takes::Optional | Takes::One) => {
            Some(on.to_string())
        }
        (_, Takes::Nothing) => None,
        (Value::Integer(number), _) => Some(number.to_string()),
        (_, Takes::Count) => None,
        (Value::Float(number), _) => Some(number.to_string()),
        (Value::String(text), _) => Some(text.clone()),
        _ => None,
    }
}
