//! The checker: a placement executed on exact intervals, coefficient by coefficient.
//!
//! It shares nothing with the search but the ranges of single operations. A product's range is
//! enumerated over the very interval of its operand and for its own twiddle.

use crate::arith::{Interval, Layers, Ranges, Reduction};
use serde::{Deserialize, Serialize};

/// One reduction of one coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// After so many layers of butterflies in the order of execution.
    pub after: u32,
    /// The coefficient's position.
    pub position: u32,
    /// How.
    pub kind: Reduction,
}

/// What a placement leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The interval of each output.
    pub outputs: Vec<Interval>,
    /// For each layer the multiple of q that each butterfly adds before it subtracts.
    pub multiples: Vec<Vec<u8>>,
}

/// Executes a transform with the given reductions on inputs in an interval; the error says which
/// butterfly's sum or difference may not fit a word. What is added before a Cooley–Tukey product is
/// subtracted is the multiple for operands in `operand`, as the search has it.
pub fn check(
    ranges: &mut Ranges,
    layers: &Layers,
    (input, operand): (Interval, Interval),
    sites: &[Site],
) -> Result<Checked, String> {
    let mut x = vec![input; layers.n];
    let mut multiples = Vec::new();
    for layer in 0..=layers.count {
        for site in sites.iter().filter(|s| s.after as usize == layer) {
            let v = &mut x[site.position as usize];
            *v = ranges.reduce(site.kind, *v);
        }
        if layer == layers.count {
            break;
        }
        let o = layers.distances[layer];
        let mut row = Vec::new();
        for low in (0..layers.n).filter(|p| p & o == 0) {
            let w = layers.twiddle(ranges.q, layer, low);
            let wrong = |what: &str, u: Interval, t: Interval| {
                format!(
                    "layer {layer}, butterfly ({low}, {}): the {what} of [{}, {}] and [{}, {}] may \
                     not fit a word",
                    low + o,
                    u.0,
                    u.1,
                    t.0,
                    t.1
                )
            };
            let (u, mut t) = (x[low], x[low + o]);
            let mut k = ranges.multiple(t);
            if layers.algorithm.is_cooley_tukey() {
                let most = ranges.product(w, operand).ok_or_else(|| wrong("product", t, t))?;
                k = ranges.multiple(most);
                t = ranges.product(w, t).ok_or_else(|| wrong("product", t, t))?;
            }
            let mut sum = ranges.add(u, t).ok_or_else(|| wrong("sum", u, t))?;
            let mut rest = ranges.sub(u, t, k).ok_or_else(|| wrong("difference", u, t))?;
            if !layers.algorithm.is_cooley_tukey() {
                rest = ranges.product(w, rest).ok_or_else(|| wrong("product", rest, rest))?;
            }
            if layers.scales_in(layer) {
                let c = layers.scale();
                sum = ranges.product(c, sum).ok_or_else(|| wrong("product", sum, sum))?;
            }
            (x[low], x[low + o]) = (sum, rest);
            row.push(k);
        }
        multiples.push(row);
    }
    Ok(Checked { outputs: x, multiples })
}
