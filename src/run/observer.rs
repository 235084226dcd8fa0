//! Who is told what happens in a run. Observers change nothing about it.

use std::time::Duration;

use super::event::{Event, Moment};
use crate::policy::classifier::Verdict;
use crate::policy::outcome::Outcome;

pub(crate) trait Observer {
    /// What to print about this event, line feeds included; None is nothing.
    fn line(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String>;
    /// What to show on a terminal while this is left of the wait after an attempt; one line.
    fn countdown(&self, moment: &Moment, outcome: &Outcome, verdict: &Verdict, left: Duration) -> String;
}
