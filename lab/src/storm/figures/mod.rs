//! Tables, CSV files and plots: one module for each experiment.

mod caps;
mod contention;
mod load;
mod storm;
mod storm_row;

pub use caps::caps;
pub use contention::contention;
pub use load::load;
pub use storm::storm;

use plotters::prelude::{BLACK, RGBColor};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::plots::{self, Line};

/// The seed of the first run; each further run uses the next number.
const SEED: u64 = 1;

/// The jitters shown in plots of storms; each of the other three is close to one of these four.
const PLOTTED: [&str; 4] = ["none", "equal", "full", "decorrelated"];

fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Returns a plot's line; each strategy has the same color in every plot.
fn line(name: &str, points: Vec<(f64, f64)>) -> Line {
    let colors: [(&str, RGBColor); 6] = [
        ("equal", plots::VERMILLION),
        ("full", plots::BLUE),
        ("decorrelated", plots::GREEN),
        ("capped before", plots::GREEN),
        ("exponential", plots::PURPLE),
        ("capacity", plots::GREY),
    ];
    let known = colors.iter().find(|(start, _)| name.starts_with(start));
    Line {
        name: name.to_owned(),
        color: known.map_or(BLACK, |(_, color)| *color),
        points,
    }
}
