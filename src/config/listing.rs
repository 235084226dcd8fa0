//! What `--list-presets` and `--list-policies` print, line by line.

use super::built_in::BUILT_IN;
use super::layer::{Entry, Policy, PolicyOrigin};
use super::load::Config;
use super::presets;
use super::sourced::{UsageError, shown};
use crate::run::text::printable;

/// `--list-presets`: names, what they are for, and the programs that `auto` picks them for.
pub(crate) fn presets() -> impl Iterator<Item = String> {
    presets::all().map(|preset| {
        let programs: Vec<&str> = preset
            .programs
            .iter()
            .copied()
            .filter(|program| *program != preset.name)
            .collect();
        let also = if programs.is_empty() {
            String::new()
        } else {
            format!(" (also for {})", programs.join(", "))
        };
        format!("{:<18} {}{also}\n", preset.name, preset.about)
    })
}

/// `--list-policies`: a line with the name and where it comes from, and an indented one for each thing it sets.
pub(crate) fn policies(config: &Config) -> Result<Vec<String>, UsageError> {
    Ok(config.all_policies()?.iter().map(|policy| listed(policy)).collect())
}

fn listed(policy: &Policy) -> String {
    let from = match &policy.origin {
        PolicyOrigin::BuiltIn(source) => format!("built in ({source})"),
        PolicyOrigin::File(place) => {
            let is_in_place = BUILT_IN.iter().any(|named| named.name == policy.name);
            let note = if is_in_place {
                " (in place of the built-in one)"
            } else {
                ""
            };
            format!("{}:{}{note}", place.file, place.line)
        }
    };
    let mut text = format!("{:<18} {from}\n", policy.name);
    for entry in &policy.layer.entries {
        text.push_str(&format!("  {}\n", setting(entry)));
    }
    for (rule, number) in policy.rules.iter().zip(1..) {
        let says: Vec<String> = rule.entries.iter().map(setting).collect();
        text.push_str(&format!("  rule {number}: {}\n", says.join(", ")));
    }
    text
}

fn setting(entry: &Entry) -> String {
    format!("{} = {}", entry.key, printable(&shown(entry.key, &entry.text)))
}
