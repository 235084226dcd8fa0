//! The same commands by hyperfine, so that nobody has to believe this program alone.

use serde_json::Value;

use crate::child;

/// The best run of each command in seconds, as it does not let them take turns; None without hyperfine.
pub fn best(arguments: &[&str], commands: &[String]) -> Option<Vec<f64>> {
    let file = tempfile::NamedTempFile::new().ok()?;
    let done = child::command("hyperfine")
        .args(["--style", "none", "--ignore-failure", "--export-json"])
        .arg(file.path())
        .args(arguments)
        .args(commands)
        .status();
    if !done.ok()?.success() {
        return None;
    }
    let told: Value = serde_json::from_reader(file).ok()?;
    let results = told.get("results")?.as_array()?;
    results.iter().map(|result| result.get("min")?.as_f64()).collect()
}

/// As hyperfine without a shell takes words apart.
pub fn quoted(words: &[String]) -> String {
    let quoted: Vec<String> = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
        .collect();
    quoted.join(" ")
}
