//! Observers of events: they may speak of a run and change nothing about it.

pub mod text;

use crate::run::{Event, Moment};

/// Somebody who is told what happens.
pub trait Observer {
    /// What to print about this event, line feeds included; None is nothing.
    fn line(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String>;
}
