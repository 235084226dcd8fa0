//! The language of the command's messages. Presets expect English.

use crate::presets::scripts::Surroundings;

/// Returns true if the locale asks for a language other than English, unless the words of the command set another
/// locale (`env LC_ALL=C.UTF-8 ...`).
pub(super) fn may_be_translated(words: &[&str], surroundings: &dyn Surroundings) -> bool {
    if words.iter().any(|word| word.contains("LC_ALL=")) {
        return false;
    }
    let nonempty = |name| {
        surroundings
            .variable(name)
            .filter(|value| !value.is_empty())
    };
    let Some(locale) = ["LC_ALL", "LC_MESSAGES", "LANG"]
        .into_iter()
        .find_map(nonempty)
    else {
        return false;
    };
    if matches!(locale.split('.').next(), Some("C" | "POSIX")) {
        return false;
    }
    // GNU programs prefer LANGUAGE, a list.
    let language = nonempty("LANGUAGE").unwrap_or(locale);
    !language.starts_with("en")
}
