//! Reads TOML into statements about options: the tables, the keys and the type of each value. A value becomes the text
//! that a flag would take.

use std::borrow::Cow;
use std::rc::Rc;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::said::{Place, Said, Source, UsageError};
use crate::cli::suggest::did_you_mean;
use crate::cli::table::{Kind, OPTIONS, Opt};
use crate::run::text::printable;

type Key<'a> = Spanned<Cow<'a, str>>;
type Value<'a> = Spanned<DeValue<'a>>;

#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// The name that `--policy` takes.
    pub(crate) name: String,
    /// The source of a built-in policy's numbers.
    pub(crate) about: Option<String>,
    /// `FILE:LINE:COLUMN` of the name; empty for a built-in policy.
    pub(crate) position: String,
    pub(crate) said: Vec<Said>,
}

/// A document, used to find positions in its text.
struct Document<'a> {
    /// The file's name, escaped for display; empty for a built-in document.
    file: &'a str,
    text: &'a str,
}

/// Returns the statements of `[defaults]`, and the policies in file order.
pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<(Vec<Said>, Vec<Policy>), UsageError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = error.valid_up_to();
        let text = std::str::from_utf8(&bytes[..good]).unwrap_or_default();
        Document { file, text }.wrong(good, "is not UTF-8")
    })?;
    let document = Document { file, text };
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        document.wrong(at, &format!("is not TOML: {}", error.message()))
    })?;
    let (mut defaults, mut policies) = (Vec::new(), Vec::new());
    for (key, value) in in_order(root.get_ref()) {
        let problem = match (key.get_ref().as_ref(), value.get_ref()) {
            ("defaults", DeValue::Table(table)) => {
                defaults = document.options(Source::Defaults, "", table)?;
                continue;
            }
            ("policy", DeValue::Table(table)) => {
                let all = in_order(table).into_iter();
                policies = all
                    .map(|(name, value)| document.policy(name, value))
                    .collect::<Result<_, _>>()?;
                continue;
            }
            ("defaults", _) => "must be a table, [defaults]".to_owned(),
            ("policy", _) => "must be tables, [policy.NAME]; the policy to use is set under [defaults]".to_owned(),
            (name, _) if find(name).is_some() => "stands outside of a table; put it under [defaults]".to_owned(),
            (name, _) => {
                let hint = did_you_mean(name, ["defaults", "policy"].into_iter());
                format!("is neither [defaults] nor [policy.NAME]{hint}")
            }
        };
        return Err(document.wrong_key(key, &problem));
    }
    Ok((defaults, policies))
}

/// Returns the entries in file order, so that errors are reported from the top; the parser sorts by name.
fn in_order<'a, 't>(table: &'t DeTable<'a>) -> Vec<(&'t Key<'a>, &'t Value<'a>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Returns the option of a key; `max_delay` is accepted for `max-delay`.
fn find(key: &str) -> Option<&'static Opt> {
    let long = key.replace('_', "-");
    OPTIONS.iter().find(|opt| opt.long == long)
}

/// Returns the option of a key, or an error message.
fn known(key: &str, source: Source) -> Result<&'static Opt, String> {
    let is_in_file = |opt: &Opt| !opt.is_action() && opt.long != "config";
    let may_be_set = |opt: &Opt| is_in_file(opt) && (source == Source::Defaults || opt.long != "policy");
    match find(key) {
        Some(opt) if may_be_set(opt) => Ok(opt),
        Some(opt) if is_in_file(opt) => Err("cannot be set by a policy".to_owned()),
        Some(_) => Err("cannot be set in a configuration file".to_owned()),
        None => {
            let known = OPTIONS.iter().filter(|opt| may_be_set(opt)).map(|opt| opt.long);
            Err(format!("is no option{}", did_you_mean(key, known)))
        }
    }
}

impl Document<'_> {
    /// Returns `FILE:LINE:COLUMN`. Line and column count from 1; columns are characters.
    fn position(&self, at: usize) -> String {
        if self.file.is_empty() {
            return String::new();
        }
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let begins_character = |byte: &&u8| **byte & 0xc0 != 0x80;
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let columns = before[line..].iter().filter(begins_character).count();
        format!("{}:{}:{}", self.file, lines + 1, columns + 1)
    }

    fn wrong(&self, at: usize, problem: &str) -> UsageError {
        UsageError(format!("{}: {problem}", self.position(at)))
    }

    fn wrong_key(&self, key: &Key<'_>, problem: &str) -> UsageError {
        self.wrong(key.span().start, &format!("{:?} {problem}", key.get_ref()))
    }

    fn policy(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Policy, UsageError> {
        let name = key.get_ref();
        let DeValue::Table(table) = value.get_ref() else {
            let problem = format!("must be a table, [policy.{}], or stand in one", printable(name));
            return Err(self.wrong_key(key, &problem));
        };
        // Names appear in messages and in the first column of a list.
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(self.wrong_key(key, "is not a name for a policy; try letters, digits, - and _"));
        }
        let about = table.get("about").and_then(|about| about.get_ref().as_str());
        Ok(Policy {
            name: name.clone().into_owned(),
            about: about.filter(|_| self.file.is_empty()).map(str::to_owned),
            position: self.position(key.span().start),
            said: self.options(Source::Policy, name, table)?,
        })
    }

    /// Returns the statements of a table.
    fn options(&self, source: Source, policy: &str, table: &DeTable<'_>) -> Result<Vec<Said>, UsageError> {
        let policy = policy.into();
        let mut layer: Vec<Said> = Vec::new();
        for (key, value) in in_order(table) {
            if key.get_ref() == "about" && self.file.is_empty() {
                continue;
            }
            let opt = known(key.get_ref(), source).map_err(|problem| self.wrong_key(key, &problem))?;
            if let Some(before) = layer.iter().find(|said| said.opt.long == opt.long) {
                let line = before.place.position.rsplit(':').nth(1).unwrap_or_default();
                return Err(self.wrong_key(key, &format!("is set in line {line} already")));
            }
            for (text, at) in self.texts(opt, value)? {
                let place = Place {
                    policy: Rc::clone(&policy),
                    position: self.position(at),
                };
                layer.push(Said::new(opt, text.into(), source, place));
            }
        }
        Ok(layer)
    }

    /// Returns a value's texts, each with its offset; only a repeatable option may have several.
    fn texts(&self, opt: &Opt, value: &Value<'_>) -> Result<Vec<(String, usize)>, UsageError> {
        let one = |value: &Value<'_>| {
            let at = value.span().start;
            let text = text(value.get_ref(), opt).ok_or_else(|| {
                let problem = format!("{:?} takes {}, not {}", opt.long, form(opt), type_of(value.get_ref()));
                self.wrong(at, &problem)
            });
            text.map(|text| (text, at))
        };
        let is_list = matches!(opt.kind, Kind::Durations | Kind::Presets);
        match value.get_ref() {
            DeValue::Array(array) if opt.kind.is_repeatable() && !array.is_empty() => array.iter().map(one).collect(),
            DeValue::Array(array) if is_list && !array.is_empty() => {
                let texts = array
                    .iter()
                    .map(|value| Ok(one(value)?.0))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(vec![(texts.join(","), value.span().start)])
            }
            _ => Ok(vec![one(value)?]),
        }
    }
}

/// Returns the expected form of an option's value, for error messages.
fn form(opt: &Opt) -> String {
    match opt.kind {
        Kind::Switch => "true or false".to_owned(),
        Kind::Count => "a number".to_owned(),
        kind => kind.placeholder(),
    }
}

fn text(value: &DeValue<'_>, opt: &Opt) -> Option<String> {
    match (value, opt.kind) {
        (DeValue::Boolean(on), kind) if kind.is_switch() || kind.is_optional() => Some(on.to_string()),
        // TOML users write true for yes.
        (DeValue::Boolean(on), Kind::Word(["yes", "no"])) => Some(if *on { "yes" } else { "no" }.to_owned()),
        (_, Kind::Switch) => None,
        (DeValue::Integer(number), _) => Some(decimal(number)),
        (_, Kind::Count) => None,
        (DeValue::Float(number), _) => Some(number.as_str().trim_start_matches('+').to_owned()),
        (DeValue::String(text), _) => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// Returns a number in decimal, as TOML also has 0x1F and 1_000. A number beyond i128 stays as written; the option's
/// parser rejects it.
fn decimal(number: &DeInteger<'_>) -> String {
    i128::from_str_radix(number.as_str(), number.radix())
        .map_or_else(|_| number.to_string(), |number| number.to_string())
}

fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(array) if array.is_empty() => "an empty list",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
