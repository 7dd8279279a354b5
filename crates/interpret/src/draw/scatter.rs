//! Many programs by two measures: points, each with a number, and a list of what the numbers are.

use plotters::prelude::{
    BindKeyPoints, ChartBuilder, IntoDrawingArea, IntoLogRange, LabelAreaPosition, LogCoord,
    TRANSPARENT,
};

use super::chart::{AXIS, Canvas, GRID, Undrawn, label};
use super::{Anchor, SIDE, Sheet, grouped, width};

const TOP: f64 = 70.0;
const SPAN: f64 = 520.0;
const ROW: f64 = 18.0;
/// Left of the points and below them, for what stands at the axes.
const LEFT: f64 = 68.0;
const BELOW: f64 = 38.0;

/// One point; both coordinates are more than 0.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its name in the list.
    pub name: String,
    /// Which series it belongs to, below 6.
    pub series: usize,
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
}

/// From where to where a logarithmic axis goes, so that all values lie within.
fn axis(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let low = values.clone().reduce(f64::min).unwrap_or(1.0).max(1.0);
    let high = values.fold(low, f64::max);
    low / 1.15..high * 1.15
}

/// 1, 2 and 5 times the powers of ten between the ends.
fn ticks(reach: &std::ops::Range<f64>) -> Vec<f64> {
    let tens = (0..12).map(|e| 10f64.powi(e));
    let all = tens.flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]);
    all.filter(|tick| reach.contains(tick)).collect()
}

/// A grid with its axes, and where points lie on the sheet.
fn grid(
    sheet: &mut Sheet,
    size: (f64, f64),
    points: &[&Point],
    axes: [&str; 2],
) -> Result<Vec<(f64, f64)>, Undrawn> {
    let scale = |reach: std::ops::Range<f64>| {
        let ticks = ticks(&reach);
        LogCoord::from(reach.log_scale()).with_key_points(ticks)
    };
    let (across, up) =
        (scale(axis(points.iter().map(|p| p.x))), scale(axis(points.iter().map(|p| p.y))));
    let canvas = Canvas { sheet, size: ((SIDE + size.0) as u32, (TOP + size.1) as u32) };
    let area = canvas.into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin_left(SIDE as i32)
        .margin_top(TOP as i32)
        .set_label_area_size(LabelAreaPosition::Left, LEFT as i32)
        .set_label_area_size(LabelAreaPosition::Bottom, BELOW as i32)
        .build_cartesian_2d(across, up)?;
    let number = |value: &f64| grouped(value.round() as u64);
    chart
        .configure_mesh()
        .axis_style(AXIS)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(label())
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .x_desc(axes[0])
        .y_desc(axes[1])
        .draw()?;
    let place = |p: &&Point| chart.plotting_area().map_coordinate(&(p.x, p.y));
    Ok(points.iter().map(place).map(|(x, y)| (f64::from(x), f64::from(y))).collect())
}

/// A picture of points on logarithmic axes; `series` names the colours, `axes` what is across and up.
///
/// # Errors
/// The chart has no layout: a fault of ringforge.
///
/// ```
/// use ringforge_interpret::draw::{Point, scatter};
/// let point = |x, y| Point { name: "plan".into(), series: 0, x, y };
/// let svg = scatter(&[point(100.0, 50.0), point(200.0, 120.0)], &["avx2"], ["operations", "cycles"], "Two")?;
/// assert!(svg.starts_with("<svg") && svg.matches("<circle").count() == 3); // and one in the key
/// # Ok::<(), ringforge_interpret::draw::Undrawn>(())
/// ```
pub fn scatter(
    points: &[Point],
    series: &[&str],
    axes: [&str; 2],
    caption: &str,
) -> Result<String, Undrawn> {
    let mut order: Vec<&Point> = points.iter().collect();
    order.sort_by(|a, b| a.y.total_cmp(&b.y));
    let height = (ROW * order.len() as f64).max(360.0);
    let mut sheet = Sheet::new();
    sheet.title(caption);
    let left = SIDE + LEFT;
    let mut key = left;
    for (i, name) in series.iter().enumerate() {
        sheet.circle(key, 50.0, 4.5, &format!("c{i}"), "");
        sheet.text(key + 10.0, 54.0, "small note", Anchor::Start, name);
        key += width(name, 11.0) + 40.0;
    }
    let places = grid(&mut sheet, (LEFT + SPAN, height + BELOW), &order, axes)?;
    let list = left + SPAN + 30.0;
    let mut full = list;
    for (i, (point, (x, y))) in order.iter().zip(places).enumerate() {
        let number = (i + 1).to_string();
        let colour = format!("c{}", point.series.min(5));
        sheet.circle(x, y, 4.5, &colour, &format!("{number}: {}", point.name));
        sheet.text(x + 7.0, y + 4.0, "small", Anchor::Start, &number);
        let row = TOP + ROW * i as f64 + 12.0;
        sheet.text(list + 14.0, row, "number note", Anchor::End, &number);
        sheet.text(list + 22.0, row, "small", Anchor::Start, &point.name);
        full = full.max(list + 22.0 + width(&point.name, 11.0));
    }
    Ok(sheet.finish(full.max(key) + SIDE, TOP + height + BELOW + 12.0, caption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_reach_beyond_their_values() {
        let reach = axis([300.0, 4000.0].into_iter());
        assert!(reach.start < 300.0 && 4000.0 < reach.end);
        assert_eq!(ticks(&reach), [500.0, 1000.0, 2000.0]);
    }

    #[test]
    fn every_point_is_there_once_the_lowest_first() {
        let point = |name: &str, y| Point { name: name.into(), series: 1, x: 7.0, y };
        let svg =
            scatter(&[point("slow & long", 9.0), point("fast", 8.0)], &["a", "b"], ["x", "y"], "c")
                .unwrap();
        let at = |text: &str| svg.find(text).expect(text);
        assert!(at("1: fast") < at("2: slow &amp; long"));
    }

    #[test]
    fn nothing_makes_an_empty_picture() {
        let svg = scatter(&[], &[], ["x", "y"], "none").unwrap();
        assert!(svg.contains("none") && !svg.contains("NaN"));
    }
}
