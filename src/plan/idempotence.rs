//! Whether the command may be carried out twice, and which rows of presets tell that nothing was done.

use super::request::{self, Request};
use crate::config::presets::PresetName;
use crate::config::settings::Settings;

/// What is known of the command.
#[derive(Debug, Default)]
pub(super) struct Idempotence {
    /// Why it must not be carried out twice, as a person reads it; None where it may.
    pub(super) why_not: Option<String>,
    /// The presets whose rows on refusals can be relied on.
    trusted: Vec<PresetName>,
}

fn behind_another(names: &[PresetName], words: &[&str]) -> Option<Request> {
    let tail = |at: usize| {
        let name = words[at].rsplit('/').next().unwrap_or_default();
        names
            .iter()
            .any(|preset| preset.is_for(name))
            .then(|| (name, &words[at + 1..]))
    };
    let (name, arguments) = (1..words.len()).find_map(tail)?;
    request::of(name, arguments)
}

impl Idempotence {
    /// `words` are those of the program in the end. What the user says counts; without it, what the arguments tell.
    pub(super) fn of(settings: &Settings, words: &[&str]) -> Idempotence {
        let names = settings.presets.as_ref().map_or(&[][..], |said| &said.value);
        let (program, arguments) = words.split_first().unwrap_or((&"", &[]));
        let mut trusted: Vec<PresetName> = names.iter().copied().filter(|name| name.is_for(program)).collect();
        let request = (!trusted.is_empty()).then(|| request::of(program, arguments)).flatten();
        if request.as_ref().is_some_and(|request| !request.is_alone) {
            trusted.clear();
        }
        // Of a client behind a program that is not known, its request at least.
        let request = request.or_else(|| behind_another(names, words));
        let why_not = match &settings.idempotent {
            Some(said) => (!said.value).then(|| said.to_string()),
            None => request.and_then(|request| request.not_idempotent),
        };
        Idempotence { why_not, trusted }
    }

    /// Whether a row of this preset that says so can be relied on: nothing was done. Of another program nothing is known,
    /// and where there are several requests, an earlier one may have been carried out.
    pub(super) fn trusts(&self, preset: PresetName) -> bool {
        self.trusted.contains(&preset)
    }
}
