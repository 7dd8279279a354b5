//! Charts with axes, which `plotters` lays out, on a [`Sheet`]: in the classes of its style, so that one file has both
//! colour schemes and real text.

use std::convert::Infallible;

use plotters::drawing::DrawingAreaErrorKind;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{IntoFont, RGBColor, TextStyle};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use super::{Anchor, Sheet, width};

/// A chart has no layout, and why: a fault of ringforge.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw a chart: {0}")]
pub struct Undrawn(#[from] DrawingAreaErrorKind<Infallible>);

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// What lines and texts of a chart may look like: classes of a [`Sheet`], which stand for colours here.
const CLASSES: [&str; 3] = ["line", "faint", "number note"];
/// An axis.
pub(super) const AXIS: RGBColor = RGBColor(0, 0, 0);
/// A line of the grid.
pub(super) const GRID: RGBColor = RGBColor(1, 0, 0);
const TEXT: RGBColor = RGBColor(2, 0, 0);
const SIZE: f64 = 11.0;

/// The style of what stands at an axis.
pub(super) fn label() -> TextStyle<'static> {
    ("sans-serif", SIZE).into_font().color(&TEXT)
}

fn class(color: BackendColor) -> &'static str {
    CLASSES.get(usize::from(color.rgb.0)).copied().unwrap_or("line")
}

/// A sheet that `plotters` draws on, so many units wide and high.
pub(super) struct Canvas<'a> {
    pub(super) sheet: &'a mut Sheet,
    pub(super) size: (u32, u32),
}

fn point((x, y): BackendCoord) -> (f64, f64) {
    (f64::from(x), f64::from(y))
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    /// What has no shape of its own; nothing here is drawn by points.
    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Drawn {
        if color.alpha > 0.0 {
            let (x, y) = point(at);
            self.sheet.rect(x, y, 1.0, 1.0, "faint-fill", 0.0);
        }
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        if style.color().alpha > 0.0 {
            self.sheet.line(point(from), point(to), class(style.color()));
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let points: Vec<BackendCoord> = path.into_iter().collect();
        points.windows(2).try_for_each(|pair| self.draw_line(pair[0], pair[1], style))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Drawn {
        let (x, y) = point(at);
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        // Text stands on its base line here.
        let down = match style.anchor().v_pos {
            VPos::Top => 0.8 * SIZE,
            VPos::Center => 0.35 * SIZE,
            VPos::Bottom => -0.2 * SIZE,
        };
        let class = class(style.color());
        match style.transform() {
            FontTransform::None => self.sheet.text(x, y + down, class, anchor, text),
            _ => self.sheet.upward(x + down, y, class, anchor, text),
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((width(text, style.size()).ceil() as u32, style.size().ceil() as u32))
    }
}
