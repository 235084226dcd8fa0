//! Output of `--list-policies`.

use super::policies::Config;
use super::toml_file::Policy;
use crate::cli::declared::Declared;
use crate::text::printable;

pub(crate) fn policies(config: &Config, declared: &[Declared]) -> Result<String, String> {
    let policies = config.all_policies(declared)?;
    Ok(policies.iter().map(listed_policy).collect())
}

/// Returns the lines about one policy: name and source, then an indented line for each option, without secrets.
fn listed_policy(policy: &Policy) -> String {
    let from = match &policy.about {
        Some(about) => format!("built in ({about})"),
        None => policy.file.to_string(),
    };
    let mut text = format!("{:<18} {from}\n", policy.name);
    for (long, setting) in policy.settings.iter() {
        text += &format!("  {long} = {}\n", printable(&setting.shown()));
    }
    text
}
