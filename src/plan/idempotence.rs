//! Whether the command may be carried out twice, and which rows of presets prove that nothing was done.

use std::ffi::OsString;

use super::request;
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

impl Idempotence {
    /// Takes what the user says, or else what the words of the command tell. `program` are the words of the program that
    /// it comes to.
    pub(super) fn of(settings: &Settings, command: &[OsString], program: &[&str]) -> Idempotence {
        let presets = settings.presets.as_ref().map_or(&[][..], |said| &said.value);
        let are_for = |client: &str| presets.iter().any(|preset| preset.is_for(client));
        let why_not = match &settings.idempotent {
            Some(said) => (!said.value).then(|| said.to_string()),
            None => request::sent_by(command, are_for).map(|request::Sent { client, option, .. }| {
                format!("{client} {option} without an Idempotency-Key header")
            }),
        };
        let (name, arguments) = program.split_first().unwrap_or((&"", &[]));
        let makes_one = !presets.is_empty() && !request::makes_several(name, arguments);
        let trusted = presets.iter().filter(|preset| makes_one && preset.is_for(name));
        Idempotence {
            why_not,
            trusted: trusted.copied().collect(),
        }
    }

    /// Returns true if a failure that matches such a row of this preset has done nothing. Of another program nothing is
    /// known, and of several requests one before the last may have been carried out.
    pub(super) fn trusts(&self, preset: PresetName) -> bool {
        self.trusted.contains(&preset)
    }
}
