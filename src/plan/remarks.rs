//! Nothing is wrong, but it may not be what was meant.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::request::{self, curl_hides_status};
use crate::cli::suggest;
use crate::cli::table::{self, OPTIONS};
use crate::config::presets::{self, PresetName};
use crate::config::settings::{Settings, variable};
use crate::config::sourced::Sourced;
use crate::run::variables::SET_BY_BACKOFF;
use crate::search::pattern::Pattern;

/// Of variables that have no meaning, those that are a slip away from one that has: what was asked for does not hold.
pub(super) fn misspelt(variables: &[(OsString, OsString)]) -> Vec<String> {
    let slips = without_meaning(variables).filter(|unknown| unknown.meant.is_some());
    slips.map(|unknown| unknown.line()).collect()
}

/// For `-v`: the others, which may be another program's.
pub(super) fn unknown(variables: &[(OsString, OsString)]) -> Vec<String> {
    let others = without_meaning(variables).filter(|unknown| unknown.meant.is_none());
    others.map(|unknown| unknown.line()).collect()
}

/// For when the first attempt has failed.
pub(super) fn on_failure(settings: &Settings, words: &[&str]) -> Vec<String> {
    let program = words.first().copied().unwrap_or_default();
    let names = settings.presets.as_ref().map_or(&[][..], |said| &said.value);
    let found = [
        number_as_pattern(settings),
        without_preset(names, program),
        hides_status(names, program, words.get(1..).unwrap_or_default()),
    ];
    found.into_iter().flatten().collect()
}

/// Explains `-r 3`, which other tools read as three retries.
fn number_as_pattern(settings: &Settings) -> Option<String> {
    let count = |said: &Sourced<Pattern>| said.value.as_str().parse::<u8>().ok().filter(|count| *count < 100);
    let (said, count) = settings
        .retry_match
        .iter()
        .find_map(|said| Some((said, count(said)?)))?;
    Some(format!(
        "{said} looks for an expression in the output; to retry {count} times, use -n {}",
        count + 1
    ))
}

/// Returns a remark for the first retry of a request that may have taken effect, if no preset judges its client.
pub(super) fn on_retry(settings: &Settings, command: &[OsString]) -> Option<String> {
    let presets = settings.presets.as_ref().map_or(&[][..], |said| &said.value);
    let is_not_judged = |client: &str| !presets.iter().any(|preset| preset.is_for(client));
    let sent = request::sent_by(command, is_not_judged).filter(|sent| settings.idempotent.is_none() && !sent.is_hidden);
    sent.map(|request::Sent { client, option, .. }| {
        format!(
            "{client} {option}: a retry sends the request again, even if it took effect; --for {client} or --idempotent no \
             prevents that, --idempotent yes hides this remark"
        )
    })
}

/// A variable that belongs to no option, and that no outer run has set.
struct Unknown<'v> {
    name: Cow<'v, str>,
    /// The option that is a slip away, or the action, which has no variable.
    meant: Option<&'static str>,
}

fn without_meaning(variables: &[(OsString, OsString)]) -> impl Iterator<Item = Unknown<'_>> {
    // Only then what an outer run sets is from one.
    let is_within = variable(variables, "BACKOFF_DEPTH").is_some();
    variables.iter().filter_map(move |(name, value)| {
        let opt = OPTIONS.iter().find(|opt| opt.has_variable(name.as_bytes()));
        let name = name.to_string_lossy();
        let key = name.strip_prefix("BACKOFF_")?;
        let is_set_by_outer = is_within && SET_BY_BACKOFF.contains(&&*name);
        if value.is_empty() || is_set_by_outer || opt.is_some_and(|opt| !opt.is_action()) {
            return None;
        }
        let meant = opt.map(|action| action.long);
        let meant = meant.or_else(|| suggest::one_slip_away(key, with_variable()));
        Some(Unknown { meant, name })
    })
}

fn with_variable() -> impl Iterator<Item = &'static str> + Clone {
    OPTIONS.iter().filter(|opt| !opt.is_action()).map(|opt| opt.long)
}

impl Unknown<'_> {
    fn line(&self) -> String {
        let hint = match self.meant {
            Some(long) if table::option(long).is_action() => format!("; --{long} is taken from the command line alone"),
            Some(long) => format!("; did you mean {}?", table::option(long).variable()),
            None => suggest::did_you_mean(self.name.trim_start_matches("BACKOFF_"), with_variable()),
        };
        format!("the variable {:?} has no meaning{hint}", self.name)
    }
}

/// Of `--for auto` that adds no rules.
fn without_preset(names: &[PresetName], program: &str) -> Option<String> {
    let is_empty = names.contains(&PresetName::Auto) && presets::for_program(program).is_none();
    is_empty.then(|| format!("--for auto knows no preset for {program:?}; --list-presets shows those there are"))
}

/// Of `curl -s` without `-S`, which does not say what an HTTP server has answered.
fn hides_status(names: &[PresetName], program: &str, arguments: &[&str]) -> Option<String> {
    let is_judged = program == "curl" && names.iter().any(|name| name.is_for(program));
    let hides = is_judged && curl_hides_status(arguments);
    hides.then(|| "curl -s says nothing of an HTTP status; with -sS, 404 and its like are not retried".to_owned())
}
