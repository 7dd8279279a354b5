//! Many programs by two measures: points, each with a number, and a list of what the numbers are.

use super::{Anchor, Sheet, grouped, typeset, width};

const SIDE: f64 = 20.0;
const TOP: f64 = 70.0;
const SPAN: f64 = 520.0;
const ROW: f64 = 18.0;

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

/// An axis with a logarithmic scale.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min).max(1.0);
        let high = values.fold(1.0, f64::max);
        Axis { low: low / 1.15, high: high.max(low) * 1.15 }
    }

    /// Where a value lies, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        (value.max(1.0) / self.low).ln() / (self.high / self.low).ln()
    }

    /// 1, 2 and 5 times the powers of ten between the ends.
    fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let tens = (0..12).map(|e| 10f64.powi(e));
        tens.flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten])
            .filter(|tick| (self.low..=self.high).contains(tick))
    }
}

/// A picture of points on logarithmic axes; `series` names the colours, `axes` what is across and up.
///
/// ```
/// use ringforge_interpret::draw::{Point, scatter};
/// let point = |x, y| Point { name: "plan".into(), series: 0, x, y };
/// let svg = scatter(&[point(100.0, 50.0), point(200.0, 120.0)], &["avx2"], ["operations", "cycles"], "Two");
/// assert!(svg.starts_with("<svg") && svg.matches("<circle").count() == 3); // and one in the key
/// ```
pub fn scatter(points: &[Point], series: &[&str], axes: [&str; 2], caption: &str) -> String {
    let mut order: Vec<&Point> = points.iter().collect();
    order.sort_by(|a, b| a.y.total_cmp(&b.y));
    let (across, up) = (Axis::of(order.iter().map(|p| p.x)), Axis::of(order.iter().map(|p| p.y)));
    let left = SIDE + 58.0;
    let height = (ROW * order.len() as f64).max(360.0);
    let bottom = TOP + height;
    let mut sheet = Sheet::new();
    sheet.text(SIDE, 30.0, "title", Anchor::Start, &typeset(caption));
    let mut key = left;
    for (i, name) in series.iter().enumerate() {
        sheet.circle(key, 50.0, 4.5, &format!("c{i}"), "");
        sheet.text(key + 10.0, 54.0, "small note", Anchor::Start, name);
        key += width(name, 11.0) + 40.0;
    }
    for tick in across.ticks() {
        let x = left + SPAN * across.place(tick);
        sheet.line((x, TOP), (x, bottom), "faint");
        sheet.text(x, bottom + 16.0, "number note", Anchor::Middle, &grouped(tick as u64));
    }
    for tick in up.ticks() {
        let y = bottom - height * up.place(tick);
        sheet.line((left, y), (left + SPAN, y), "faint");
        sheet.text(left - 8.0, y + 4.0, "number note", Anchor::End, &grouped(tick as u64));
    }
    sheet.text(left + SPAN, bottom + 34.0, "small note", Anchor::End, axes[0]);
    sheet.text(SIDE, TOP - 8.0, "small note", Anchor::Start, axes[1]);
    let list = left + SPAN + 30.0;
    let mut full = list;
    for (i, point) in order.iter().enumerate() {
        let number = (i + 1).to_string();
        let (x, y) = (left + SPAN * across.place(point.x), bottom - height * up.place(point.y));
        let colour = format!("c{}", point.series.min(5));
        sheet.circle(x, y, 4.5, &colour, &format!("{number}: {}", point.name));
        sheet.text(x + 7.0, y + 4.0, "small", Anchor::Start, &number);
        let row = TOP + ROW * i as f64 + 12.0;
        sheet.text(list + 14.0, row, "number note", Anchor::End, &number);
        sheet.text(list + 22.0, row, "small", Anchor::Start, &point.name);
        full = full.max(list + 22.0 + width(&point.name, 11.0));
    }
    sheet.finish(full.max(key) + SIDE, bottom + 50.0, caption)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_reach_beyond_their_values() {
        let axis = Axis::of([300.0, 4000.0].into_iter());
        assert!(axis.place(300.0) > 0.0 && axis.place(4000.0) < 1.0);
        assert_eq!(axis.ticks().collect::<Vec<_>>(), [500.0, 1000.0, 2000.0]);
    }

    #[test]
    fn every_point_is_there_once_the_lowest_first() {
        let point = |name: &str, y| Point { name: name.into(), series: 1, x: 7.0, y };
        let svg =
            scatter(&[point("slow & long", 9.0), point("fast", 8.0)], &["a", "b"], ["x", "y"], "c");
        let at = |text: &str| svg.find(text).expect(text);
        assert!(at("1: fast") < at("2: slow &amp; long"));
    }

    #[test]
    fn nothing_makes_an_empty_picture() {
        let svg = scatter(&[], &[], ["x", "y"], "none");
        assert!(svg.contains("none") && !svg.contains("NaN"));
    }
}
