//! The layers of settings that a plan is made of.

use std::rc::Rc;

use super::spelled_out::spell_out;
use crate::config::layer::Policy;
use crate::config::settings::Settings;
use crate::config::sourced::UsageError;

/// What is weaker than flags and variables, from the strongest to the weakest.
#[derive(Debug)]
pub(super) struct Layers<'a> {
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
}
