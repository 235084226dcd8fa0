//! What is measured: one module for each part of the document.

mod memory;
mod retries;
mod startup;
mod throughput;
mod waits;

use super::options::Part;
use super::{Bench, Figures};
use crate::Result;

pub fn measure(part: Part, bench: &Bench) -> Result<Figures> {
    match part {
        Part::StartUp => startup::measure(bench),
        Part::Retries => retries::measure(bench),
        Part::Memory => memory::measure(bench),
        Part::Waits => waits::measure(bench),
        Part::Throughput => throughput::measure(bench),
    }
}
