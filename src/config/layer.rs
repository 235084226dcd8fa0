//! Settings that stand together: `[defaults]`, a policy, a rule of one.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::rc::Rc;

use super::built_in::Named;
use super::settings::Settings;
use super::sourced::{EntrySource, FilePosition, Rank, Source, UsageError};
use super::values::{self, Parsed};
use crate::cli::table::{OPTIONS, Opt};
use crate::policy::sets::{CodeSet, SignalSet};
use crate::search::pattern::Pattern;

/// A key and its value as it was written.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// An option's long name, or a condition of a rule.
    pub(crate) key: &'static str,
    pub(crate) text: Cow<'static, str>,
    pub(crate) source: Rc<EntrySource>,
}

impl Entry {
    pub(crate) fn new(
        rank: Rank,
        table: &Rc<str>,
        key: &'static str,
        text: Cow<'static, str>,
        place: Option<FilePosition>,
    ) -> Entry {
        let source = EntrySource {
            rank,
            table: Rc::clone(table),
            key,
            place,
        };
        Entry {
            key,
            text,
            source: Rc::new(source),
        }
    }

    fn read<T>(&self, parse: impl Fn(&str) -> Parsed<T>) -> Result<T, UsageError> {
        parse(&self.text).map_err(|problem| self.source.wrong(&format!("{:?} {problem}", self.text)))
    }
}

/// `[defaults]`, or what a policy sets.
#[derive(Debug)]
pub(crate) struct Layer {
    /// As they were written, in order.
    pub(crate) entries: Vec<Entry>,
    pub(crate) settings: Settings,
}

impl Layer {
    pub(crate) fn read(entries: Vec<Entry>) -> Result<Layer, UsageError> {
        let mut settings = Settings::default();
        for entry in &entries {
            set(&mut settings, entry)?;
        }
        Ok(Layer { entries, settings })
    }
}

fn set(settings: &mut Settings, entry: &Entry) -> Result<(), UsageError> {
    let opt: Option<&'static Opt> = OPTIONS.iter().find(|opt| opt.long == entry.key);
    match opt {
        Some(opt) => settings.set(opt, OsStr::new(&*entry.text), Source::Entry(Rc::clone(&entry.source))),
        None => Err(entry.source.wrong("is no option")),
    }
}

/// A named set of options, with rules for classes of failures.
#[derive(Debug)]
pub(crate) struct Policy {
    /// What `--policy` takes.
    pub(crate) name: Cow<'static, str>,
    pub(crate) origin: PolicyOrigin,
    pub(crate) layer: Layer,
    /// In order. Each says which failures it is about and what holds for them.
    pub(crate) rules: Vec<PolicyRule>,
}

/// Where a policy comes from.
#[derive(Debug)]
pub(crate) enum PolicyOrigin {
    /// backoff itself, which has the numbers from here.
    BuiltIn(&'static str),
    /// The configuration file, where its name stands first.
    File(FilePosition),
}

impl Policy {
    pub(crate) fn built_in(named: &'static Named) -> Result<Policy, UsageError> {
        let table: Rc<str> = format!("policy {}", named.name).into();
        let entry = |(key, text): &(&'static str, &'static str)| {
            Entry::new(Rank::Policy, &table, key, Cow::Borrowed(text), None)
        };
        Ok(Policy {
            name: Cow::Borrowed(named.name),
            origin: PolicyOrigin::BuiltIn(named.source),
            layer: Layer::read(named.sets.iter().map(entry).collect())?,
            rules: Vec::new(),
        })
    }
}

/// Which failures are a class of their own, and what holds for them.
#[derive(Debug)]
pub(crate) struct PolicyRule {
    /// "rule 1 of policy slow"
    pub(crate) name: Rc<str>,
    /// As they were written, in order.
    pub(crate) entries: Vec<Entry>,
    pub(crate) exit: Option<CodeSet>,
    pub(crate) signals: Option<SignalSet>,
    /// Any of them will do.
    pub(crate) patterns: Vec<(Pattern, Rc<EntrySource>)>,
    pub(crate) timed_out: Option<bool>,
    /// Such a failure is permanent.
    pub(crate) stops: bool,
    /// The waits and the attempts of the class.
    pub(crate) settings: Settings,
}

const VERDICTS: &[(&str, bool)] = &[("transient", false), ("permanent", true)];

impl PolicyRule {
    pub(crate) fn read(name: Rc<str>, entries: Vec<Entry>) -> Result<PolicyRule, UsageError> {
        let mut rule = PolicyRule {
            name,
            entries: Vec::new(),
            exit: None,
            signals: None,
            patterns: Vec::new(),
            timed_out: None,
            stops: false,
            settings: Settings::default(),
        };
        let mut not_a_condition = None;
        for entry in &entries {
            match entry.key {
                "exit" => rule.exit = Some(entry.read(values::codes)?),
                "signal" => rule.signals = Some(entry.read(values::signals)?),
                "match" => rule
                    .patterns
                    .push((entry.read(values::regex)?, Rc::clone(&entry.source))),
                "timed-out" => rule.timed_out = Some(entry.read(values::switch)?),
                "verdict" => rule.stops = entry.read(|text| values::one_of(text, VERDICTS))?,
                _ => {
                    not_a_condition = not_a_condition.or(Some(entry));
                    set(&mut rule.settings, entry)?;
                }
            }
        }
        if let Some(entry) = not_a_condition.filter(|_| rule.stops) {
            let problem = format!("{:?} means nothing for a failure that is not tried again", entry.key);
            return Err(entry.source.wrong(&problem));
        }
        rule.entries = entries;
        Ok(rule)
    }
}
