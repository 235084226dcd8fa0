//! One figure a line, on a logarithmic scale, in an SVG file.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::table::digits;
use crate::{Result, plots};

pub struct Dots<'a> {
    pub title: &'a str,
    pub axis: &'a str,
    pub dots: &'a [(&'a str, f64)],
}

const ROW: u32 = 26;
/// Where the names are.
const LEFT: u32 = 250;

impl Dots<'_> {
    pub fn write(&self, path: &Path) -> Result<()> {
        let figures = self
            .dots
            .iter()
            .map(|(_, figure)| *figure)
            .filter(|figure| *figure > 0.0);
        let least = figures.clone().fold(f64::INFINITY, f64::min);
        let most = figures.fold(0.0, f64::max);
        if most <= 0.0 {
            return Ok(());
        }
        let count = u32::try_from(self.dots.len())?;
        let root = SVGBackend::new(path, (760, 90 + ROW * count)).into_drawing_area();
        // Not transparent: the page may be dark.
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(self.title, ("sans-serif", 16))
            .margin(12)
            .margin_right(60)
            .x_label_area_size(40)
            .y_label_area_size(LEFT)
            .build_cartesian_2d((least / 1.5..most * 1.5).log_scale(), f64::from(count)..0.0)?;
        chart
            .configure_mesh()
            .x_desc(self.axis)
            .disable_y_mesh()
            .y_labels(0)
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .x_label_formatter(&|value| plots::short(*value))
            .draw()?;
        let text = |side| {
            ("sans-serif", 13)
                .into_font()
                .color(&BLACK)
                .pos(Pos::new(side, VPos::Center))
        };
        for (i, (name, figure)) in (0..).zip(self.dots) {
            let own = if name.contains("backoff") {
                plots::VERMILLION
            } else {
                plots::BLUE
            };
            let middle = f64::from(i) + 0.5;
            // What is less than nothing by chance is at the edge.
            let shown = figure.max(least / 1.5);
            let at = chart.backend_coord(&(shown, middle));
            root.draw(&Circle::new(at, 5, own.filled()))?;
            root.draw(&Text::new(digits(*figure), (at.0 + 10, at.1), text(HPos::Left)))?;
            let left = i32::try_from(LEFT)? + 2;
            root.draw(&Text::new((*name).to_owned(), (left, at.1), text(HPos::Right)))?;
        }
        root.present()?;
        Ok(())
    }
}
