//! The lowest layer: what options imply about others that no source sets, or only a lower one.

use std::time::Duration;

use super::settings::Settings;
use crate::cli::values::duration;

/// The default of `--max-delay`.
const DEFAULT_CAP: Duration = Duration::from_secs(30);

/// Adds the settings that follow from others. A text that cannot be parsed implies nothing, and is an error later.
pub(super) fn add(settings: &mut Settings) {
    for limit in ["deadline", "stop-after"] {
        if !length(settings, limit).is_zero() {
            settings.imply("attempts", "unlimited", limit);
            drop_waits(settings, limit);
        }
    }
    if settings.text("until") == Some("never") {
        settings.imply_default("attempts", "unlimited", "until");
    }
    if settings.text("until") == Some("failure") {
        // Successes are repeated at once, because nothing has to recover.
        settings.imply_default("base", "0", "until");
        settings.imply_default("growth", "constant", "until");
        settings.imply_default("jitter", "none", "until");
    }
    settings.imply("jitter", "none", "delays");
    // Otherwise a growth that the user sets would have no effect.
    if grows_by_itself(settings.text("jitter")) {
        settings.imply("jitter", "full", "growth");
    }
    if settings.text("jitter") != Some("decorrelated") {
        settings.imply_default("factor", "2", "jitter");
    }
    let jitter = settings.text("jitter");
    if jitter.is_some_and(|text| text.starts_with("slotted")) {
        // It has its own ceiling.
        settings.imply_default("max-delay", "unlimited", "jitter");
    }
    raise_cap(settings);
}

/// Returns true for a jitter, or the default, that ignores `--growth`.
fn grows_by_itself(jitter: Option<&str>) -> bool {
    jitter.is_none_or(|text| text == "decorrelated" || text.starts_with("slotted"))
}

/// Drops a wait before the first attempt if a limit from a higher source leaves no time for it. If both waits together
/// are too long, drops the random one first.
fn drop_waits(settings: &mut Settings, limit: &str) {
    for wait in ["splay", "initial-delay"] {
        let waits = length(settings, "splay").saturating_add(length(settings, "initial-delay"));
        if settings.has(wait) && waits >= length(settings, limit) {
            settings.imply(wait, "0", limit);
        }
    }
}

/// Raises the cap to the longest wait that an option sets, if its source is higher than that of the cap. So `--base
/// 10m` waits ten minutes.
fn raise_cap(settings: &mut Settings) {
    let cap = match settings.text("max-delay") {
        Some(text) => duration(text).unwrap_or(Duration::MAX),
        None => DEFAULT_CAP,
    };
    let mut waits: Vec<(Duration, String, &str)> = Vec::new();
    for option in ["stop-at-delay", "delays", "base"] {
        for text in settings.text(option).unwrap_or_default().split(',') {
            if let Ok(wait) = duration(text)
                && wait > cap
            {
                waits.push((wait, text.to_owned(), option));
            }
        }
    }
    // Longest first: `imply` refuses once one has set the cap.
    waits.sort();
    for (_, text, option) in waits.iter().rev() {
        settings.imply("max-delay", text, option);
    }
}

/// Returns the length of time that an option sets, 0 if it sets none.
fn length(settings: &Settings, long: &str) -> Duration {
    let text = settings.text(long).unwrap_or("0");
    duration(text).unwrap_or_default()
}
