//! Output of `--list-policies`.

use super::policies::Config;
use super::setting::UsageError;
use super::toml_file::Policy;
use crate::text::printable;

/// Returns the output of `--list-policies`: a text for each policy. An error would be one of the built-in policies,
/// which tests exclude.
pub(crate) fn policies(config: &Config) -> Result<Vec<String>, UsageError> {
    Ok(config.all_policies()?.iter().map(listed_policy).collect())
}

/// Returns the lines about one policy: name and source, then an indented line for each option, without secrets.
fn listed_policy(policy: &Policy) -> String {
    let from = match &policy.about {
        Some(about) => format!("built in ({about})"),
        None => policy.file.clone(),
    };
    let mut text = format!("{:<18} {from}\n", policy.name);
    for setting in &policy.settings {
        text += &format!("  {} = {}\n", setting.opt.long, printable(&setting.shown()));
    }
    text
}
