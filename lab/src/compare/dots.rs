//! One figure a line with its spread, on a logarithmic scale, in an SVG file.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::measure::Spread;
use crate::{Result, plots};

pub struct Dots<'a> {
    pub title: &'a str,
    pub axis: &'a str,
    pub dots: &'a [Dot<'a>],
}

pub struct Dot<'a> {
    pub name: &'a str,
    pub figure: Spread,
}

const ROW: u32 = 26;
/// Where the names are.
const LEFT: u32 = 130;

impl Dots<'_> {
    pub fn write(&self, path: &Path) -> Result<()> {
        // What is less than nothing by chance has no place.
        let least = self.dots.iter().map(|dot| dot.figure.low).filter(|low| *low > 0.0);
        let least = least.fold(f64::INFINITY, f64::min) / 1.5;
        let most = self.dots.iter().map(|dot| dot.figure.high).fold(0.0, f64::max) * 1.5;
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
            .margin_right(130)
            .x_label_area_size(40)
            .y_label_area_size(LEFT)
            .build_cartesian_2d((least..most).log_scale(), f64::from(count)..0.0)?;
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
        for (i, Dot { name, figure }) in (0..).zip(self.dots) {
            let own = if name.contains("backoff") {
                plots::VERMILLION
            } else {
                plots::BLUE
            };
            let at = |figure: f64| chart.backend_coord(&(figure.max(least), f64::from(i) + 0.5));
            let (low, middle, high) = (at(figure.low), at(figure.median), at(figure.high));
            root.draw(&PathElement::new([low, high], own.mix(0.5).stroke_width(4)))?;
            root.draw(&Circle::new(middle, 5, own.filled()))?;
            root.draw(&Text::new(figure.to_string(), (high.0 + 10, high.1), text(HPos::Left)))?;
            let left = i32::try_from(LEFT)? + 2;
            root.draw(&Text::new((*name).to_owned(), (left, middle.1), text(HPos::Right)))?;
        }
        root.present()?;
        Ok(())
    }
}
