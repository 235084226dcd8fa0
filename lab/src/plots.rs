//! Draws line plots as SVG files.

use std::ops::Range;
use std::path::Path;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::Result;

/// Colors that most people can tell apart (Okabe and Ito, 2008).
pub const VERMILLION: RGBColor = RGBColor(213, 94, 0);
pub const BLUE: RGBColor = RGBColor(0, 114, 178);
pub const GREEN: RGBColor = RGBColor(0, 158, 115);
pub const PURPLE: RGBColor = RGBColor(204, 121, 167);
pub const GREY: RGBColor = RGBColor(150, 150, 150);

/// A line and its legend.
pub struct Line {
    pub name: String,
    pub color: RGBColor,
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Copy)]
pub enum Scale {
    Linear,
    Log,
}

/// A plot; an axis is its name, its scale and its range.
pub struct Plot<'a> {
    pub title: &'a str,
    pub x: (&'a str, Scale, Range<f64>),
    pub y: (&'a str, Scale, Range<f64>),
    pub lines: &'a [Line],
    pub legend: SeriesLabelPosition,
}

impl Plot<'_> {
    pub fn write(&self, path: &Path) -> Result<()> {
        let (x, y) = (self.x.2.clone(), self.y.2.clone());
        match (self.x.1, self.y.1) {
            (Scale::Linear, Scale::Linear) => self.draw(path, x, y),
            (Scale::Linear, Scale::Log) => self.draw(path, x, y.log_scale()),
            (Scale::Log, Scale::Linear) => self.draw(path, x.log_scale(), y),
            (Scale::Log, Scale::Log) => self.draw(path, x.log_scale(), y.log_scale()),
        }
    }

    fn draw<X, Y>(&self, path: &Path, x: X, y: Y) -> Result<()>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let root = SVGBackend::new(path, (760, 420)).into_drawing_area();
        // Not transparent, as the page may be dark.
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(self.title, ("sans-serif", 16))
            .margin(12)
            .margin_right(28)
            .x_label_area_size(40)
            .y_label_area_size(64)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(self.x.0)
            .y_desc(self.y.0)
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .x_label_formatter(&|value| short(*value))
            .y_label_formatter(&|value| short(*value))
            .draw()?;
        for line in self.lines {
            let style = line.color.stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.2))
            .draw()?;
        root.present()?;
        Ok(())
    }
}

/// Formats as 0.5, 20, 3k or 1M.
pub fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        // Rounds off the error of adding up steps of 0.1.
        v => format!("{}", (v * 100.0).round() / 100.0),
    }
}
