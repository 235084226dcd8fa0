//! From TOML to entries: which tables and keys there may be, and what types.

use std::borrow::Cow;
use std::rc::Rc;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::layer::{Entry, Layer, Policy, PolicyOrigin};
use super::sourced::{FilePosition, Rank, UsageError};
use crate::cli::suggest::did_you_mean;
use crate::cli::table::{self, OPTIONS, Opt};
use crate::run::text::printable;

/// Besides actions.
const NOT_IN_A_FILE: &[&str] = &["config"];

/// How a value may be written in TOML.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// `true` or `false`.
    Switch,
    /// The same, or a number.
    Count,
    /// The same, or a value.
    Optional,
    /// One value.
    One,
    /// A list: text with commas, or an array.
    List,
    /// Values that add up: one, or an array.
    Several,
}

impl From<&Opt> for Kind {
    fn from(opt: &Opt) -> Kind {
        match opt.kind {
            table::Kind::Switch => Kind::Switch,
            table::Kind::Count => Kind::Count,
            table::Kind::Durations | table::Kind::Presets => Kind::List,
            kind if kind.is_repeatable() => Kind::Several,
            kind if kind.is_optional() => Kind::Optional,
            _ => Kind::One,
        }
    }
}

type Key<'a> = Spanned<Cow<'a, str>>;
type Value<'a> = Spanned<DeValue<'a>>;

/// A document, for finding places in it.
struct Document<'a> {
    file: &'a Rc<str>,
    text: &'a str,
}

/// `[defaults]` and the policies, in the order in which they stand.
pub(super) fn parse(file: &Rc<str>, bytes: &[u8]) -> Result<(Option<Box<Layer>>, Vec<Policy>), UsageError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            return Err(Document { file, text: good }.wrong(good.len(), "is not UTF-8"));
        }
    };
    let document = Document { file, text };
    let root = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        document.wrong(at, &format!("is not TOML: {}", error.message()))
    })?;
    let (mut defaults, mut policies) = (Vec::new(), Vec::new());
    let no_name: Rc<str> = "".into();
    for (key, value) in in_order(root.get_ref()) {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("defaults", DeValue::Table(table)) => defaults = document.options(Rank::Defaults, &no_name, table)?,
            ("policy", DeValue::Table(table)) => {
                for (name, value) in in_order(table) {
                    policies.push(document.policy(name, value)?);
                }
            }
            ("defaults", _) => return Err(document.wrong_key(key, "must be a table, [defaults]")),
            ("policy", _) => {
                let problem = "must be tables, [policy.NAME]; the policy to use is set under [defaults]";
                return Err(document.wrong_key(key, problem));
            }
            (name, _) if option(name).is_some() => {
                return Err(document.wrong_key(key, "stands outside of a table; put it under [defaults]"));
            }
            (name, _) => {
                let hint = did_you_mean(name, ["defaults", "policy"].into_iter());
                return Err(document.wrong_key(key, &format!("is neither [defaults] nor [policy.NAME]{hint}")));
            }
        }
    }
    // Only now what the values mean: a mistake of form may be why one cannot be read.
    let policies: Result<Vec<Policy>, UsageError> = policies.into_iter().map(Table::policy).collect();
    let defaults = if defaults.is_empty() {
        None
    } else {
        Some(Box::new(Layer::read(defaults)?))
    };
    Ok((defaults, policies?))
}

/// A policy as it is written.
struct Table {
    name: String,
    place: FilePosition,
    entries: Vec<Entry>,
}

impl Table {
    fn policy(self) -> Result<Policy, UsageError> {
        Ok(Policy {
            name: Cow::Owned(self.name),
            origin: PolicyOrigin::File(self.place),
            layer: Layer::read(self.entries)?,
        })
    }
}

/// The parser sorts by name; mistakes are better told from the top.
fn in_order<'a, 't>(table: &'t DeTable<'a>) -> Vec<(&'t Key<'a>, &'t Value<'a>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// `max_delay` may be written for `max-delay`.
fn option(key: &str) -> Option<&'static Opt> {
    let long = key.replace('_', "-");
    OPTIONS.iter().find(|opt| opt.long == long)
}

impl Document<'_> {
    fn place(&self, at: usize) -> FilePosition {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let begins_character = |byte: &&u8| **byte & 0xc0 != 0x80;
        FilePosition {
            file: Rc::clone(self.file),
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: before[line..].iter().filter(begins_character).count() + 1,
        }
    }

    fn wrong(&self, at: usize, problem: &str) -> UsageError {
        UsageError(format!("{}: {problem}", self.place(at)))
    }

    fn wrong_key(&self, key: &Key<'_>, problem: &str) -> UsageError {
        self.wrong(key.span().start, &format!("{:?} {problem}", key.get_ref()))
    }

    fn policy(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Table, UsageError> {
        let name = key.get_ref();
        let DeValue::Table(table) = value.get_ref() else {
            let problem = format!("must be a table, [policy.{}], or stand in one", printable(name));
            return Err(self.wrong_key(key, &problem));
        };
        // Names stand in messages and in the first column of a list.
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        {
            return Err(self.wrong_key(key, "is not a name for a policy; try letters, digits, - and _"));
        }
        let title: Rc<str> = format!("policy {name}").into();
        Ok(Table {
            name: name.clone().into_owned(),
            place: self.place(key.span().start),
            entries: self.options(Rank::Policy, &title, table)?,
        })
    }

    /// The entries of a table: options by name.
    fn options(&self, rank: Rank, title: &Rc<str>, table: &DeTable<'_>) -> Result<Vec<Entry>, UsageError> {
        let in_policy = rank == Rank::Policy;
        let may_not =
            |opt: &Opt| opt.is_action() || NOT_IN_A_FILE.contains(&opt.long) || in_policy && opt.long == "policy";
        let known = |name: &str| match option(name) {
            Some(opt) if !may_not(opt) => Ok(opt),
            Some(opt) if opt.long == "policy" => Err("cannot be set by a policy".to_owned()),
            Some(_) => Err("cannot be set in a configuration file".to_owned()),
            None => {
                let known = OPTIONS.iter().filter(|opt| !may_not(opt)).map(|opt| opt.long);
                Err(format!("is no option{}", did_you_mean(name, known)))
            }
        };
        let mut entries: Vec<Entry> = Vec::new();
        for (key, value) in in_order(table) {
            let opt = known(key.get_ref()).map_err(|problem| self.wrong_key(key, &problem))?;
            if let Some(before) = entries.iter().find(|entry| entry.key == opt.long) {
                let line = before.source.place.as_ref().map_or(0, |place| place.line);
                return Err(self.wrong_key(key, &format!("is set in line {line} already")));
            }
            for (text, at) in self.texts(opt, value)? {
                let place = Some(self.place(at));
                entries.push(Entry::new(rank, title, opt.long, Cow::Owned(text), place));
            }
        }
        Ok(entries)
    }

    /// A value as the text that a flag would have been given, with where it stands. Several texts only of what
    /// adds up.
    fn texts(&self, opt: &Opt, value: &Value<'_>) -> Result<Vec<(String, usize)>, UsageError> {
        let kind = Kind::from(opt);
        let at = value.span().start;
        let wrong = |value: &Value<'_>| {
            let what = match kind {
                Kind::Switch => "true or false".to_owned(),
                Kind::Count => "a number".to_owned(),
                _ => opt.kind.placeholder(),
            };
            let problem = format!("{:?} takes {what}, not {}", opt.long, type_of(value.get_ref()));
            self.wrong(value.span().start, &problem)
        };
        let one = |value: &Value<'_>| text(value.get_ref(), kind, opt).ok_or_else(|| wrong(value));
        match (value.get_ref(), kind) {
            (DeValue::Array(array), Kind::List | Kind::Several) if !array.is_empty() => {
                let texts = array.iter().map(|value| Ok((one(value)?, value.span().start)));
                let texts: Vec<(String, usize)> = texts.collect::<Result<_, UsageError>>()?;
                if matches!(kind, Kind::Several) {
                    return Ok(texts);
                }
                let texts: Vec<String> = texts.into_iter().map(|(text, _)| text).collect();
                Ok(vec![(texts.join(","), at)])
            }
            _ => Ok(vec![(one(value)?, at)]),
        }
    }
}

fn text(value: &DeValue<'_>, kind: Kind, opt: &Opt) -> Option<String> {
    match (value, kind) {
        (DeValue::Boolean(on), Kind::Switch | Kind::Count | Kind::Optional) => Some(on.to_string()),
        // What people write who know TOML.
        (DeValue::Boolean(on), _) if opt.long == "idempotent" => Some(if *on { "yes" } else { "no" }.to_owned()),
        (DeValue::String(_) | DeValue::Float(_), Kind::Switch | Kind::Count) => None,
        (DeValue::Integer(_), Kind::Switch) => None,
        (DeValue::Integer(number), _) => Some(decimal(number)),
        (DeValue::Float(number), _) => Some(number.as_str().trim_start_matches('+').to_owned()),
        (DeValue::String(text), _) => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// TOML also has 0x1F and 1_000.
fn decimal(number: &DeInteger<'_>) -> String {
    match i128::from_str_radix(number.as_str(), number.radix()) {
        Ok(number) => number.to_string(),
        // Far beyond what any option takes; its parser will say so.
        Err(_) => number.to_string(),
    }
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
