//! Draws line plots as SVG files.

use std::ops::Range;
use std::path::Path;

use plotters::chart::ChartContext;
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

enum Scale {
    Linear,
    Log,
}

pub struct Axis<'a> {
    name: &'a str,
    scale: Scale,
    range: Range<f64>,
}

impl<'a> Axis<'a> {
    pub fn linear(name: &'a str, range: Range<f64>) -> Axis<'a> {
        let scale = Scale::Linear;
        Axis { name, scale, range }
    }

    pub fn log(name: &'a str, range: Range<f64>) -> Axis<'a> {
        let scale = Scale::Log;
        Axis { name, scale, range }
    }
}

type Chart<'root, 'path, X, Y> = ChartContext<'root, SVGBackend<'path>, Cartesian2d<X, Y>>;

pub struct Plot<'a> {
    pub title: &'a str,
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    pub lines: &'a [Line],
    pub legend: SeriesLabelPosition,
}

impl Plot<'_> {
    pub fn write(&self, path: &Path) -> Result<()> {
        let x = self.x.range.clone();
        let y = self.y.range.clone();
        match (&self.x.scale, &self.y.scale) {
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
            .x_desc(self.x.name)
            .y_desc(self.y.name)
            .light_line_style(TRANSPARENT)
            .bold_line_style(BLACK.mix(0.12))
            .x_label_formatter(&|value| short(*value))
            .y_label_formatter(&|value| short(*value))
            .draw()?;
        self.draw_lines(&mut chart)?;
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.2))
            .draw()?;
        root.present()?;
        Ok(())
    }

    fn draw_lines<X, Y>(&self, chart: &mut Chart<'_, '_, X, Y>) -> Result<()>
    where
        X: Ranged<ValueType = f64>,
        Y: Ranged<ValueType = f64>,
    {
        for line in self.lines {
            let style = line.color.stroke_width(2);
            chart
                .draw_series(LineSeries::new(line.points.iter().copied(), style))?
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
        }
        Ok(())
    }
}

/// Formats as 0.5, 20, 3k or 1M.
pub fn short(value: f64) -> String {
    if value >= 1e6 {
        format!("{}M", value / 1e6)
    } else if value >= 1e3 {
        format!("{}k", value / 1e3)
    } else {
        // Rounds off the error of adding up steps of 0.1.
        format!("{}", (value * 100.0).round() / 100.0)
    }
}
