//! Runs that take turns, medians and quantiles.

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

pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let figures = sorted(figures);
    figures[figures.len() / 2]
}

/// The median of what one takes over the other in the same round.
pub fn ratio(own: &[f64], yardstick: &[f64]) -> f64 {
    median(own.iter().zip(yardstick).map(|(own, yardstick)| own / yardstick))
}

/// The median of what one takes more than the other in the same round.
pub fn over(own: &[f64], bare: &[f64]) -> f64 {
    median(own.iter().zip(bare).map(|(own, bare)| own - bare))
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
