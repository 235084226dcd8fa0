//! Settings that stand together: `[defaults]` or a policy.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::rc::Rc;

use super::built_in::Named;
use super::settings::Settings;
use super::sourced::{EntrySource, FilePosition, Rank, Source, UsageError};
use crate::cli::table::{OPTIONS, Opt};

/// A key and its value as it was written.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// An option's long name.
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

/// A named set of options.
#[derive(Debug)]
pub(crate) struct Policy {
    /// What `--policy` takes.
    pub(crate) name: Cow<'static, str>,
    pub(crate) origin: PolicyOrigin,
    pub(crate) layer: Layer,
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
        })
    }
}
