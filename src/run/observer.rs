//! Who is told what happens in a run. Observers change nothing about it.

use std::time::Duration;

use super::event::{Event, Moment, Wait};

pub(crate) trait Observer {
    /// What to print about this event, line feeds included; None is nothing.
    fn line(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String>;
    /// What to show on a terminal at this moment, while this is left of a wait; one line of so many columns.
    fn countdown(&self, moment: &Moment, wait: Wait<'_>, left: Duration, columns: usize) -> String;
}
