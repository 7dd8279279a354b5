//! Where reductions stand in an unsigned transform, as data.

use serde::{Deserialize, Serialize};

/// A reduction of one unsigned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Conditional subtraction of q.
    Csub,
    /// `x − floor(x·floor(2^16/q)/2^16)·q`.
    Barrett,
}

/// One reduction of one coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site {
    /// After so many layers of butterflies in the order of execution.
    pub after: u32,
    /// The coefficient's position.
    pub position: u32,
    /// How.
    pub kind: Kind,
}

/// All choices that an unsigned transform leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Whether a conditional subtraction ends every product ([TokudaKameyama23 §3.2]).
    pub csub_products: bool,
    /// Reductions, sorted.
    pub sites: Vec<Site>,
    /// For each layer, the multiple of q that is added before a subtraction. It is one number for
    /// the whole layer, or one for each butterfly, counted in the order of its first position.
    pub multiples: Vec<Vec<u8>>,
}

impl Placement {
    /// No reduction anywhere; `k·q` is added in every layer.
    pub fn without(layers: usize, csub_products: bool, k: u8) -> Placement {
        Placement { csub_products, sites: Vec::new(), multiples: vec![vec![k]; layers] }
    }

    /// The multiple for a butterfly of a layer.
    pub fn multiple(&self, layer: usize, butterfly: usize) -> u8 {
        let all = &self.multiples[layer];
        if all.len() == 1 { all[0] } else { all[butterfly] }
    }

    /// The positions reduced by `kind` after `after` layers, as runs.
    pub fn runs(&self, after: usize, kind: Kind) -> Vec<Run> {
        let here = self.sites.iter().filter(|s| s.after as usize == after && s.kind == kind);
        let mut positions: Vec<usize> = here.map(|s| s.position as usize).collect();
        positions.sort_unstable();
        positions.dedup();
        runs(&positions)
    }
}

/// The numbers `start + i·outer.1 + j·inner.1` for `i < outer.0`, `j < inner.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The smallest.
    pub start: usize,
    /// Count and stride of the outer loop.
    pub outer: (usize, usize),
    /// Count and stride of the inner loop.
    pub inner: (usize, usize),
}

/// Ascending numbers as runs: progressions first, then progressions of equal progressions.
pub fn runs(numbers: &[usize]) -> Vec<Run> {
    let mut simple: Vec<(usize, usize, usize)> = Vec::new(); // start, count, stride
    let mut i = 0;
    while i < numbers.len() {
        let stride = numbers.get(i + 1).map_or(1, |next| next - numbers[i]);
        let mut count = 1;
        while numbers.get(i + count) == Some(&(numbers[i] + count * stride)) {
            count += 1;
        }
        simple.push((numbers[i], count, stride));
        i += count;
    }
    let mut all = Vec::new();
    let mut i = 0;
    while i < simple.len() {
        let (start, count, stride) = simple[i];
        let outer = simple.get(i + 1).map_or(1, |next| next.0 - start);
        let mut times = 1;
        while simple.get(i + times) == Some(&(start + times * outer, count, stride)) {
            times += 1;
        }
        all.push(Run { start, outer: (times, outer), inner: (count, stride) });
        i += times;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_name_every_number_once() {
        let sets: [Vec<usize>; 5] = [
            vec![],
            vec![7],
            (0..64).filter(|i| i % 8 < 3).collect(),
            vec![0, 1, 2, 5, 9, 10, 40],
            (0..256).filter(|i| i & 0b110 == 0).collect(),
        ];
        for set in sets {
            let mut back: Vec<usize> = Vec::new();
            for r in runs(&set) {
                for i in 0..r.outer.0 {
                    back.extend((0..r.inner.0).map(|j| r.start + i * r.outer.1 + j * r.inner.1));
                }
            }
            back.sort_unstable();
            assert_eq!(back, set);
        }
        assert_eq!(runs(&(0..64).filter(|i| i % 8 < 3).collect::<Vec<_>>()).len(), 1);
    }
}
