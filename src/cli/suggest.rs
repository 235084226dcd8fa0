//! What a mistyped name may have meant.

/// `; did you mean "max-delay"?`, where one of the known names is like this one. `shown` is how it is written there.
pub(crate) fn did_you_mean<'n>(
    key: &str,
    known: impl Iterator<Item = &'n str>,
    shown: impl Fn(&str) -> String,
) -> String {
    if means_attempts(key) {
        return format!(
            "; did you mean {}, which counts the first one as well?",
            shown("attempts")
        );
    }
    let key = key.replace('_', "-");
    let likeness = |name: &str| strsim::jaro(&key, name);
    let best = known.max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match best {
        Some(name) if likeness(name) > 0.75 => format!("; did you mean {}?", shown(name)),
        _ => String::new(),
    }
}

/// What other tools call the number of attempts.
pub(crate) fn means_attempts(name: &str) -> bool {
    let name = name.trim_start_matches('-').split('=').next().unwrap_or_default();
    matches!(
        name.replace('_', "-").as_str(),
        "retries" | "retry" | "max-retries" | "max-retry" | "tries" | "max-tries" | "times" | "count"
    )
}
