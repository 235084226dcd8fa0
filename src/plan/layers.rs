//! The layers of settings that a plan is made of.

use std::rc::Rc;

use super::spelled_out::spell_out;
use crate::config::layer::{Policy, PolicyRule};
use crate::config::settings::Settings;
use crate::config::sourced::UsageError;

/// From the strongest to the weakest; a rule of the policy stands between the first two.
#[derive(Debug)]
pub(super) struct Layers<'a> {
    /// Flags and variables.
    pub(super) explicit: &'a Settings,
    pub(super) policy: Option<Rc<Policy>>,
    /// `[defaults]`
    pub(super) defaults: Option<&'a Settings>,
}

impl Layers<'_> {
    /// Fills in what only the weaker ones say.
    pub(super) fn fill_in(&self, settings: &mut Settings) -> Result<(), UsageError> {
        if let Some(policy) = &self.policy {
            settings.fill_in(&policy.layer.settings);
        }
        if let Some(defaults) = self.defaults {
            settings.fill_in(defaults);
        }
        spell_out(settings)
    }

    /// What holds for the failures of a rule.
    pub(super) fn of_rule(&self, rule: &PolicyRule) -> Result<Settings, UsageError> {
        let mut settings = self.explicit.clone();
        settings.fill_in(&rule.settings);
        self.fill_in(&mut settings)?;
        Ok(settings)
    }

    pub(super) fn rules(&self) -> &[PolicyRule] {
        self.policy.as_ref().map_or(&[], |policy| &policy.rules)
    }
}
