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
    pub(super) fn merged(&self) -> Result<Settings, UsageError> {
        self.filled_in(self.explicit.clone())
    }

    /// What holds for the failures of a rule.
    pub(super) fn of_rule(&self, rule: &PolicyRule) -> Result<Settings, UsageError> {
        let mut settings = self.explicit.clone();
        settings.fill_in(&rule.settings);
        self.filled_in(settings)
    }

    pub(super) fn rules(&self) -> &[PolicyRule] {
        self.policy.as_ref().map_or(&[], |policy| &policy.rules)
    }

    fn filled_in(&self, mut settings: Settings) -> Result<Settings, UsageError> {
        if let Some(policy) = &self.policy {
            settings.fill_in(&policy.layer.settings);
        }
        if let Some(defaults) = self.defaults {
            settings.fill_in(defaults);
        }
        spell_out(&mut settings)?;
        Ok(settings)
    }
}
