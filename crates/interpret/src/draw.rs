//! Pictures of plans and programs: SVG that stands by itself, in a README or a report.
//!
//! They contain no scripts and no external fonts. Colours and background follow the reader's light or dark scheme, so
//! a picture is also readable on a page of the other scheme. Text is real text that you can search and copy.

mod chart;
mod counts;
mod network;
mod ports;
mod ranges;
mod scatter;
mod tree;

pub use chart::Undrawn;
pub use counts::counts;
pub use network::butterflies;
pub use ports::ports_by_stage;
pub use ranges::ranges;
pub use scatter::{Point, scatter};
pub use tree::tree;

use std::fmt::Write;

const STYLE: &str = "
  text { font-family: ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', \
'DejaVu Sans', sans-serif; font-size: 12px; }
  .title { font-size: 17px; font-weight: 600; }
  .head { font-size: 13px; font-weight: 600; }
  .small { font-size: 11px; }
  .number { font-variant-numeric: tabular-nums; font-size: 11px; }
  path, line { fill: none; stroke-width: 1.2; }
  .limit { stroke-dasharray: 4 3; }
";

/// The colours of one scheme.
struct Scheme {
    paper: &'static str,
    ink: &'static str,
    note: &'static str,
    card: &'static str,
    line: &'static str,
    faint: &'static str,
    limit: &'static str,
    /// They differ in lightness too.
    colours: [&'static str; 6],
}

const LIGHT: Scheme = Scheme {
    paper: "#ffffff",
    ink: "#1b2330",
    note: "#5b6675",
    card: "#ffffff",
    line: "#b9c1cc",
    faint: "#e2e6ec",
    limit: "#c2362b",
    colours: ["#2f6fd0", "#0f9188", "#d08a16", "#8b5fc7", "#7d8896", "#bcc4ce"],
};
const DARK: Scheme = Scheme {
    paper: "#14181e",
    ink: "#e7ebf1",
    note: "#9aa6b5",
    card: "#1c232d",
    line: "#556172",
    faint: "#303a47",
    limit: "#ff8378",
    colours: ["#6ea4f5", "#45c4b6", "#efb24e", "#b995ee", "#8994a3", "#566070"],
};

impl Scheme {
    fn rules(&self) -> String {
        let Scheme { paper, ink, note, card, line, faint, limit, colours } = self;
        let mut text = format!(
            ".paper {{ fill: {paper}; }} text {{ fill: {ink}; }} .note {{ fill: {note}; }} .limit-text {{ fill: {limit}; }} \
             .card {{ fill: {card}; stroke: {line}; }} .line {{ stroke: {line}; }} \
             .faint {{ stroke: {faint}; }} .faint-fill {{ fill: {faint}; }} .limit {{ stroke: {limit}; }}"
        );
        for (i, colour) in colours.iter().enumerate() {
            let _ = write!(text, " .c{i} {{ fill: {colour}; }} .s{i} {{ stroke: {colour}; }}");
        }
        text
    }
}

/// An SVG in the making.
struct Sheet {
    body: String,
    /// The least width that its title leaves room for.
    titled: f64,
}

/// What is left free at the sides of a picture.
const SIDE: f64 = 20.0;

/// Where a text stands relative to its point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Start,
    Middle,
    End,
}

impl Sheet {
    fn new() -> Sheet {
        Sheet { body: String::new(), titled: 0.0 }
    }

    /// The sentence above the picture, which is never cut off: 17 px of heavy letters are as wide as 20 of light ones.
    fn title(&mut self, caption: &str) {
        let text = typeset(caption);
        self.titled = width(&text, 20.5) + 2.0 * SIDE;
        self.text(SIDE, 30.0, "title", Anchor::Start, &text);
    }

    fn text(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = writeln!(
            self.body,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\"{anchor}>{}</text>",
            escape(text)
        );
    }

    /// A text that is read from below.
    fn upward(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let _ = write!(self.body, "<g transform=\"rotate(-90 {x:.1} {y:.1})\">");
        self.text(x, y, class, anchor, text);
        let _ = writeln!(self.body, "</g>");
    }

    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str, round: f64) {
        let _ = writeln!(
            self.body,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
             rx=\"{round}\" class=\"{class}\"/>",
            width.max(0.0)
        );
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let _ = writeln!(
            self.body,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" class=\"{class}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    fn path(&mut self, d: &str, class: &str) {
        let _ = writeln!(self.body, "<path d=\"{d}\" class=\"{class}\"/>");
    }

    fn circle(&mut self, x: f64, y: f64, r: f64, class: &str, title: &str) {
        let title = match title {
            "" => String::new(),
            title => format!("<title>{}</title>", escape(title)),
        };
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" class=\"{class}\">{title}</circle>"
        );
    }

    /// The picture, `label` for readers that cannot see it.
    fn finish(self, width: f64, height: f64, label: &str) -> String {
        let width = width.max(self.titled);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">\n\
             <style>{STYLE}  {}\n  @media (prefers-color-scheme: dark) {{ {} }}\n</style>\n\
             <rect width=\"100%\" height=\"100%\" rx=\"8\" class=\"paper\"/>\n{}</svg>\n",
            escape(label),
            LIGHT.rules(),
            DARK.rules(),
            self.body
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Rings and polynomials as print sets them: `Z4591[x]/(x^761 - x - 1)` becomes
/// ℤ₄₅₉₁[x]/(x⁷⁶¹ − x − 1).
fn typeset(text: &str) -> String {
    let digit = |base: &str, c: char| {
        c.to_digit(10).and_then(|d| base.chars().nth(d as usize)).unwrap_or(c)
    };
    let mut out = String::new();
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '^' if characters.peek().is_some_and(char::is_ascii_digit) => {
                while let Some(d) = characters.next_if(char::is_ascii_digit) {
                    out.push(digit("⁰¹²³⁴⁵⁶⁷⁸⁹", d));
                }
            }
            '^' if characters.peek() == Some(&'i') => {
                characters.next();
                out.push('ⁱ');
            }
            'Z' if characters.peek().is_some_and(char::is_ascii_digit) => {
                out.push('ℤ');
                while let Some(d) = characters.next_if(char::is_ascii_digit) {
                    out.push(digit("₀₁₂₃₄₅₆₇₈₉", d));
                }
            }
            '-' if characters.peek() == Some(&' ')
                || characters.peek().is_some_and(char::is_ascii_digit)
                    && !before.is_alphanumeric() =>
            {
                out.push('−');
            }
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// A number with thin spaces between groups of three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(c);
    }
    out
}

/// A signed number as print sets it.
fn signed(n: i64) -> String {
    let sign = if n < 0 { "−" } else { "" };
    format!("{sign}{}", grouped(n.unsigned_abs()))
}

/// About how wide a text of this font size is, on the wide side.
fn width(text: &str, size: f64) -> f64 {
    let units: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | 't' | 'f' | 'r' | '(' | ')' | '[' | ']' | ',' | '.' | ':' | ' '
            | '/' => 0.36,
            'm' | 'w' | 'M' | 'W' | '−' | '=' => 0.86,
            c if "⁰¹²³⁴⁵⁶⁷⁸⁹ⁱ₀₁₂₃₄₅₆₇₈₉".contains(c) => 0.43,
            '\u{2009}' => 0.2,
            _ => 0.6,
        })
        .sum();
    units * size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture is at least as wide as the sentence above it, however little it shows.
    #[test]
    fn titles_are_not_cut_off() {
        let caption = "Plan mlkem: how a product in Z3329[x]/(x^256 + 1) is taken apart";
        let mut sheet = Sheet::new();
        sheet.title(caption);
        let svg = sheet.finish(80.0, 40.0, caption);
        let viewed = svg.split("viewBox=\"0 0 ").nth(1).and_then(|t| t.split(' ').next());
        let viewed: f64 = viewed.and_then(|t| t.parse().ok()).expect("a view box");
        // Heavy letters of DejaVu Sans, the widest of the fonts named, take 0.58 of their size.
        assert!(viewed > 2.0 * SIDE + 0.58 * 17.0 * caption.len() as f64, "{viewed}");
    }

    #[test]
    fn rings_are_typeset() {
        assert_eq!(typeset("Z4591[x]/(x^761 - x - 1)"), "ℤ₄₅₉₁[x]/(x⁷⁶¹ − x − 1)");
        assert_eq!(typeset("2-NTT, t = 3862^i"), "2-NTT, t = 3862ⁱ");
        assert_eq!(signed(-32768), "−32\u{2009}768");
        assert_eq!(grouped(999), "999");
    }
}
