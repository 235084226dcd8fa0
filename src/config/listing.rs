//! Output of `--list-presets` and `--list-policies`, for people and as JSON.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use serde::Serialize;

use super::policies::Config;
use super::presets::{self, Evidence, Preset, Row, RowVerdict};
use super::setting::UsageError;
use super::toml_file::Policy;
use crate::report::json;
use crate::text::printable;

/// Lists presets by name, with descriptions and the further programs that `--for auto` picks them for, and a line on
/// how to see more.
pub(crate) fn presets() -> impl Iterator<Item = String> {
    let lines = presets::all().map(|preset| {
        let others: Vec<&str> = preset
            .programs()
            .filter(|program| *program != preset.name)
            .collect();
        let also = if others.is_empty() {
            String::new()
        } else {
            format!(" (also for {})", others.join(", "))
        };
        format!("{:<18}{}{also}\n", preset.name, preset.about)
    });
    lines.chain(["\n--list-presets NAME shows the rules of one.\n".to_owned()])
}

/// Returns a text for each name, about the preset with this name or, as for `podman`, for this program. An unknown name
/// is an error.
pub(crate) fn presets_named(names: &[OsString]) -> Result<Vec<String>, UsageError> {
    Ok(all_named(names)?.iter().map(listed_preset).collect())
}

fn all_named(names: &[OsString]) -> Result<Vec<Preset>, UsageError> {
    names.iter().map(|name| preset_named(name)).collect()
}

fn preset_named(name: &OsStr) -> Result<Preset, UsageError> {
    presets::named(&name.to_string_lossy())
        .map_err(|problem| UsageError(format!("--list-presets: {problem}")))
}

/// Lists the presets for these names (as [`presets_named`]), or all if there are no names, with their rules: a JSON
/// object on a line for each. An unknown name is an error.
pub(crate) fn presets_as_json(names: &[OsString]) -> Result<Vec<String>, UsageError> {
    let presets = if names.is_empty() {
        presets::all().collect()
    } else {
        all_named(names)?
    };
    Ok(presets
        .iter()
        .map(|preset| json::line(&Listed::new(preset)))
        .collect())
}

/// A preset as data.
#[derive(Serialize)]
struct Listed {
    preset: &'static str,
    about: &'static str,
    /// Programs for which `--for auto` picks it.
    programs: Vec<&'static str>,
    /// Presets whose rules stand after its own.
    includes: Vec<&'static str>,
    /// Tools with versions whose output judged the preset, or null for quoted texts.
    run_with: Option<&'static str>,
    /// The date of their output.
    run_on: Option<&'static str>,
    rules: Vec<ListedRule>,
}

/// A rule of a preset as data.
#[derive(Serialize)]
struct ListedRule {
    verdict: &'static str,
    /// Exit codes in the form of `--retry-exit`; null for any.
    exit: Option<String>,
    /// Expression for a line, ignoring case; null for any output.
    #[serde(rename = "match")]
    text: Option<String>,
    from: &'static str,
}

impl Listed {
    /// Returns a preset as data, with the rules of the presets that it includes.
    fn new(preset: &Preset) -> Listed {
        let mut run_with = None;
        let mut run_on = None;
        if let Evidence::Run { tools, date } = preset.evidence() {
            run_with = Some(tools);
            run_on = Some(date);
        }
        Listed {
            preset: preset.name,
            about: preset.about,
            programs: preset.programs().collect(),
            includes: preset.included().collect(),
            run_with,
            run_on,
            rules: preset.rows().map(|row| ListedRule::new(&row)).collect(),
        }
    }
}

impl ListedRule {
    /// Returns a rule as data, with the lists in its expression written out.
    fn new(row: &Row) -> ListedRule {
        ListedRule {
            verdict: row.verdict.word(),
            exit: row.codes.map(|codes| codes.to_string()),
            text: row.expression().map(Cow::into_owned),
            from: row.source,
        }
    }
}

/// Returns the text about one preset: what it is for, how it was judged, its rules, and the lists that their
/// expressions name. Ends with an empty line, as the text of another preset may follow.
fn listed_preset(preset: &Preset) -> String {
    let mut text = format!("{}: {}\n", preset.name, preset.about);
    let programs = preset.programs().collect::<Vec<_>>().join(", ");
    if !programs.is_empty() {
        text += &format!("--for auto picks it for {programs}\n");
    }
    text += &match preset.evidence() {
        Evidence::Run { tools, date } => format!("judged by the output of {tools} ({date})\n"),
        Evidence::Quoted => "judged by quoted texts\n".to_owned(),
    };
    text += &format!("{}\n", RowVerdict::LEGEND);
    for row in preset.rows() {
        let conditions = row.conditions().into_iter();
        let mut lines: Vec<String> = conditions
            .map(|(name, value)| format!("{name:<6} {value}"))
            .collect();
        lines.push(format!("from   {}", row.source));
        text += &format!(
            "\n{:<10}{}\n",
            row.verdict.word(),
            lines.join("\n          ")
        );
    }
    for (name, lines) in presets::lists_of(preset) {
        text += &format!(
            "\n{{{name}}} is one of\n          {}\n",
            lines.join("\n          ")
        );
    }
    text + "\n"
}

/// Returns the output of `--list-policies`: a text for each policy. An error would be one of the built-in policies,
/// which tests exclude.
pub(crate) fn policies(config: &Config) -> Result<Vec<String>, UsageError> {
    Ok(config.all_policies()?.iter().map(listed_policy).collect())
}

/// Returns the lines about one policy: name and source, then an indented line for each option, without secrets.
fn listed_policy(policy: &Policy) -> String {
    let from = match (&policy.about, policy.position.rsplit_once(':')) {
        (Some(about), _) => format!("built in ({about})"),
        (None, Some((file_and_line, _column))) => file_and_line.to_owned(),
        // Not reached: each built-in policy has a text about it.
        (None, None) => String::new(),
    };
    let mut text = format!("{:<18} {from}\n", policy.name);
    for setting in &policy.settings {
        text += &format!("  {} = {}\n", setting.opt.long, printable(&setting.shown()));
    }
    text
}
