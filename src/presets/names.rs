//! Names of presets, in the list of `--for` and after `--list-presets`.

use std::ffi::OsStr;

use super::{Preset, all, find, for_program};
use crate::text::tip;

/// Returns the preset that `--list-presets NAME` shows, or what is wrong with the name.
pub(super) fn named(name: &OsStr) -> Result<Preset, String> {
    let name = name.to_string_lossy();
    find(&name).ok_or_else(|| {
        let tip = tip(&name, names_and_programs());
        format!("--list-presets: {name:?} is not a preset{tip}")
    })
}

fn names_and_programs() -> impl Iterator<Item = &'static str> + Clone {
    all()
        .iter()
        .flat_map(|preset| std::iter::once(preset.name).chain(preset.programs()))
}

/// A name in the list of `--for`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PresetName {
    /// The preset of the command's program, if any.
    Auto,
    Named(Preset),
}

impl PresetName {
    /// Returns the presets of a list such as `curl,ssh` or `auto`. An error completes a sentence that begins with the
    /// list.
    pub(crate) fn of_list(list: &str) -> Result<Vec<PresetName>, String> {
        let names = list.split(',').map(str::trim);
        names.map(|name| PresetName::parse(name, list)).collect()
    }

    fn parse(name: &str, list: &str) -> Result<PresetName, String> {
        if name == "auto" {
            return Ok(PresetName::Auto);
        }
        match find(name) {
            Some(preset) => Ok(PresetName::Named(preset)),
            None => Err(unknown(name, list)),
        }
    }

    /// Returns true if the name selects a preset that is for the program with this file name. A named preset may also
    /// be selected for another program (`--for curl ./script`), for which this is false.
    pub(crate) fn is_for(self, program: &str) -> bool {
        match self {
            PresetName::Auto => for_program(program).is_some(),
            PresetName::Named(preset) => preset.is_for(program),
        }
    }

    /// Returns the preset that the name selects. A named preset applies to any program. `auto` gives None if no preset
    /// is for it. `program` is its file name, None if there is no command, as when the config file is checked.
    fn preset(self, program: Option<&str>) -> Option<Preset> {
        match self {
            PresetName::Auto => program.and_then(for_program),
            PresetName::Named(preset) => Some(preset),
        }
    }
}

/// Returns the problem with a name that is not a preset, to complete a sentence that begins with the whole list.
fn unknown(name: &str, list: &str) -> String {
    let which = if name == list {
        String::new()
    } else {
        format!("holds {name:?}, which ")
    };
    // `help` is one typo away from the preset `helm`, but asks for the list of presets.
    let known = names_and_programs()
        .chain(["auto"])
        .filter(|_| name != "help");
    let tip = tip(name, known);
    format!("{which}is not a preset of --list-presets{tip}")
}

/// Returns the presets that `--for` selects for a command with this file name, each once, because `auto` may select a
/// named one. The rules of a preset that two of them include appear twice, which does no harm. `program` is None if
/// there is no command.
pub(crate) fn chosen(names: &[PresetName], program: Option<&str>) -> Vec<Preset> {
    let mut chosen = Vec::new();
    for name in names {
        if let Some(preset) = name.preset(program)
            && !chosen.contains(&preset)
        {
            chosen.push(preset);
        }
    }
    chosen
}
