//! Names that resemble others: tips about typos in options, variables, words and presets.

/// Returns `; tip: try ...` with the known word that is one typo away; empty if there is none.
pub(crate) fn tip<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> String {
    match one_slip_away(word, known) {
        Some(similar) => format!("; tip: try {similar}"),
        None => String::new(),
    }
}

/// Returns the known name that is one typo away from `name`, or differs only in case and `_`; None if there is none.
pub(crate) fn one_slip_away<'n>(
    name: &str,
    mut known: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let name = normal(name);
    known.find(|known| is_one_slip_away(&name, &normal(known)))
}

/// Returns true if the names, both as [`normal`] returns them, are equal, or differ by one typo: a letter too many, too
/// few or wrong, or two swapped. Cuts off what both begin and end with, so that only the difference is left.
fn is_one_slip_away(name: &str, known: &str) -> bool {
    let bytes = name.bytes().zip(known.bytes());
    let same_begin = bytes.take_while(|(a, b)| a == b).count();
    let name_rest = &name.as_bytes()[same_begin..];
    let known_rest = &known.as_bytes()[same_begin..];
    let from_end = name_rest.iter().rev().zip(known_rest.iter().rev());
    let same_end = from_end.take_while(|(a, b)| a == b).count();
    let differing_name = &name_rest[..name_rest.len() - same_end];
    let differing_known = &known_rest[..known_rest.len() - same_end];
    match (differing_name, differing_known) {
        ([], []) => true,
        // Two letters swapped.
        ([a, b], [c, d]) => a == d && b == c,
        // A name of up to three letters resembles too many words.
        ([], [_]) | ([_], [] | [_]) => known.len() > 3,
        _ => false,
    }
}

/// Returns a name as options write it: `max-delay` for `MAX_DELAY`.
pub(crate) fn normal(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_letter() {
        let known = ["max-delay", "timeout", "for", "pty", "attempts"];
        let near = |name| one_slip_away(name, known.into_iter());
        for (slip, meant) in [
            ("MAX_DELY", "max-delay"),
            ("TIMEOUTS", "timeout"),
            ("ATTEMTPS", "attempts"),
            ("MAXDELAY", "max-delay"),
            ("Timeout", "timeout"),
            ("PYT", "pty"),
            ("FRO", "for"),
            ("For", "for"),
        ] {
            assert_eq!(near(slip), Some(meant));
        }
        for other in [
            "MIN_DELAY",
            "TIME",
            "FORT",
            "FOO",
            "OR",
            "TTY",
            "RETRIES",
            "",
        ] {
            assert_eq!(near(other), None, "{other}");
        }
    }
}
