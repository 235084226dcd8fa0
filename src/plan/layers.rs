//! The layers of settings that a plan is made of.

use std::rc::Rc;

use super::spelled_out::spelled_out;
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
    pub(super) defaults: &'a Settings,
}

impl Layers<'_> {
    pub(super) fn merged(&self) -> Result<Settings, UsageError> {
        spelled_out(self.with_weaker(self.explicit.clone()))
    }

    /// What holds for the failures of a rule.
    pub(super) fn of_rule(&self, rule: &PolicyRule) -> Result<Settings, UsageError> {
        spelled_out(self.with_weaker(self.explicit.clone().or(&rule.settings)))
    }

    pub(super) fn rules(&self) -> &[PolicyRule] {
        self.policy.as_ref().map_or(&[], |policy| &policy.rules)
    }

    fn with_weaker(&self, settings: Settings) -> Settings {
        let settings = match &self.policy {
            Some(policy) => settings.or(&policy.layer.settings),
            None => settings,
        };
        settings.or(self.defaults)
    }
}
