//! Similar names, for tips about typos.

/// Returns `; tip: try ...` with the known word that was probably meant, or an empty text.
pub(crate) fn tip<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> String {
    match similar(word, known) {
        Some(meant) => format!("; tip: try {meant}"),
        None => String::new(),
    }
}

/// Returns the known name that is one typo away from `name`, or differs only in case or `_`. Names of up to three
/// letters resemble too many words, so they allow no typo.
pub(crate) fn similar<'n>(name: &str, mut known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = normal(name);
    known.find(|known| {
        let typos = strsim::osa_distance(&name, &normal(known));
        typos == 0 || typos == 1 && known.len() > 3
    })
}

/// Returns a name as options spell it: `max-delay` for `MAX_DELAY`.
pub(crate) fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_one_letter() {
        let known = ["max-delay", "timeout", "for", "pty", "attempts"];
        for (name, meant) in [
            ("MAX_DELY", Some("max-delay")),
            ("TIMEOUTS", Some("timeout")),
            ("ATTEMTPS", Some("attempts")),
            ("MAXDELAY", Some("max-delay")),
            ("For", Some("for")),
            ("MIN_DELAY", None),
            ("FOO", None),
            ("TTY", None),
            ("", None),
        ] {
            assert_eq!(similar(name, known.into_iter()), meant, "{name}");
        }
    }
}
