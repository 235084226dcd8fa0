//! Runs that take turns, medians and quantiles.

use std::fmt;

use crate::Result;

/// Figures by item, of so many rounds in which all take turns, so that a change of the machine's speed hits
/// all of them. The first rounds fill caches, and do not count.
pub fn in_turns<T, F: Clone>(
    items: &[T],
    warming: usize,
    rounds: usize,
    mut measure: impl FnMut(&T) -> Result<F>,
) -> Result<Vec<Vec<F>>> {
    let mut figures = vec![Vec::with_capacity(rounds); items.len()];
    for round in 0..warming + rounds {
        for turn in 0..items.len() {
            // Backwards every other round: nobody always follows the same neighbour.
            let i = if round % 2 == 0 { turn } else { items.len() - 1 - turn };
            let figure = measure(&items[i])?;
            if round >= warming {
                figures[i].push(figure);
            }
        }
    }
    Ok(figures)
}

/// The median of some figures, and what one and nine in ten of them are no more than.
#[derive(Clone, Copy)]
pub struct Spread {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Spread {
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Spread {
        let figures = sorted(figures);
        Spread {
            low: quantile(&figures, 0.1),
            median: figures[figures.len() / 2],
            high: quantile(&figures, 0.9),
        }
    }

    /// Of what one takes over the other in the same round.
    pub fn of_ratio(own: &[f64], yardstick: &[f64]) -> Spread {
        Spread::of(own.iter().zip(yardstick).map(|(own, yardstick)| own / yardstick))
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = if self.median < 10.0 { 2 } else { 0 };
        let Spread { low, median, high } = self;
        write!(f, "{median:.places$} ({low:.places$}-{high:.places$})")
    }
}

pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let figures = sorted(figures);
    figures[figures.len() / 2]
}

pub fn sorted(figures: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures
}

/// What this share of sorted figures is no more than.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}
