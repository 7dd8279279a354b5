//! Ranges of the arithmetic that the search moves in: exact, by enumeration of single words.

use ringforge_interpret::unsigned::execute::{Domain, Intervals};
use ringforge_program::method::{MulMethod, ReduceMethod};
use ringforge_program::unsigned::{Algorithm, Constants, Kind, primitive, transform};
use ringforge_ring::zq;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The interval `[lo, hi]`.
pub type Interval = (i64, i64);

/// How residues are represented and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "words")]
pub enum Arithmetic {
    /// Words in `[0, 65535]`, Montgomery with 2^18, subtraction by adding a multiple of q
    /// [TokudaKameyama23 §2.2]; with or without a conditional subtraction after every product.
    Unsigned {
        /// Whether products end in a conditional subtraction.
        csub_products: bool,
    },
    /// Words in `[-32768, 32767]` and one of the signed products by a constant [Seiler18 §3.1].
    Signed {
        /// The product.
        multiply: MulMethod,
    },
}

/// A reduction of one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// Of the unsigned scheme.
    Unsigned(Kind),
    /// Of a signed word, by its index in [`SIGNED`].
    Signed(u8),
}

/// The signed reductions that the search may use, with their operations.
pub const SIGNED: [(ReduceMethod, u32); 6] = [
    (ReduceMethod::Barrett, 3),
    (ReduceMethod::Floor, 4),
    (ReduceMethod::Ceiling, 4),
    (ReduceMethod::Montgomery, 4),
    (ReduceMethod::BarrettHigh, 5),
    (ReduceMethod::Folded, 5),
];

impl Reduction {
    /// Vector operations that it takes where registers hold 16-bit words.
    pub fn operations(self) -> u32 {
        match self {
            Reduction::Unsigned(Kind::Csub) => 2,
            Reduction::Unsigned(Kind::Barrett) => 3,
            Reduction::Signed(i) => SIGNED[usize::from(i)].1,
        }
    }

    /// Its name in texts.
    pub fn name(self) -> String {
        match self {
            Reduction::Unsigned(Kind::Csub) => "csub".into(),
            Reduction::Unsigned(Kind::Barrett) => "barrett_reduce".into(),
            Reduction::Signed(i) => format!("{:?}", SIGNED[usize::from(i)].0),
        }
    }
}

/// Exact ranges of one arithmetic, with everything enumerated kept.
pub struct Ranges {
    /// The modulus.
    pub q: u64,
    /// The arithmetic.
    pub arithmetic: Arithmetic,
    unsigned: Option<Intervals>,
    images: FxHashMap<(Reduction, Interval), Interval>,
    products: FxHashMap<(u64, Interval), Option<Interval>>,
}

impl Ranges {
    /// Ranges modulo q; the error is a sentence for people.
    pub fn new(q: u64, arithmetic: Arithmetic) -> Result<Ranges, String> {
        let unsigned = match arithmetic {
            Arithmetic::Unsigned { .. } => {
                let constants = Constants::new(q).ok_or_else(|| {
                    format!("the unsigned scheme needs an odd modulus below 2^14, not {q}")
                })?;
                Some(Intervals::of(constants))
            }
            Arithmetic::Signed { .. } if q % 2 == 1 && q < 1 << 15 => None,
            Arithmetic::Signed { .. } => {
                return Err(format!(
                    "signed words of 16 bits need an odd modulus below 2^15, not {q}"
                ));
            }
        };
        let (images, products) = Default::default();
        Ok(Ranges { q, arithmetic, unsigned, images, products })
    }

    /// All words.
    pub fn word(&self) -> Interval {
        if self.unsigned.is_some() { (0, 65535) } else { (-32768, 32767) }
    }

    /// What callers pass: canonical residues, centred where words are signed.
    pub fn canonical(&self) -> Interval {
        let q = self.q as i64;
        if self.unsigned.is_some() { (0, q - 1) } else { (-(q - 1) / 2, (q - 1) / 2) }
    }

    /// The reductions that exist.
    pub fn reductions(&self) -> Vec<Reduction> {
        if self.unsigned.is_some() {
            return vec![Reduction::Unsigned(Kind::Barrett), Reduction::Unsigned(Kind::Csub)];
        }
        let works = |&i: &usize| SIGNED[i].0.missing(self.q).is_none();
        (0..SIGNED.len()).filter(works).map(|i| Reduction::Signed(i as u8)).collect()
    }

    /// The exact image of an interval of words.
    pub fn reduce(&mut self, kind: Reduction, a: Interval) -> Interval {
        if let Some(&known) = self.images.get(&(kind, a)) {
            return known;
        }
        let image = match (kind, &mut self.unsigned) {
            (Reduction::Unsigned(kind), Some(domain)) => domain.reduce(&a, kind).unwrap_or(a),
            (Reduction::Signed(i), _) => SIGNED[usize::from(i)].0.range(a, self.q),
            _ => a,
        };
        self.images.insert((kind, a), image);
        image
    }

    /// The exact range of the product of words in an interval by a residue; `None` where the
    /// product may wrap.
    pub fn product(&mut self, c: u64, a: Interval) -> Option<Interval> {
        if let Some(&known) = self.products.get(&(c, a)) {
            return known;
        }
        let range = match (self.arithmetic, &mut self.unsigned) {
            (Arithmetic::Unsigned { csub_products }, Some(domain)) => {
                let r = zq::pow(2, u64::from(primitive::MONTGOMERY_BITS), self.q);
                let w = domain.constant(zq::mul(c, r, self.q) as u16);
                let product = domain.mul(&a, &w).ok();
                match csub_products {
                    true => product.and_then(|p| domain.reduce(&p, Kind::Csub).ok()),
                    false => product,
                }
            }
            (Arithmetic::Signed { multiply }, _) => Some(multiply.range(a, c, self.q)),
            _ => None,
        };
        self.products.insert((c, a), range);
        range
    }

    /// The sum, where it fits a word.
    pub fn add(&self, a: Interval, b: Interval) -> Option<Interval> {
        self.fits((a.0 + b.0, a.1 + b.1))
    }

    /// The multiple of q that is added before a value in `b` is subtracted: for unsigned words the
    /// least that avoids a borrow whatever it is subtracted from, else none. It must not depend on
    /// that: then a smaller interval leads to smaller ones.
    pub fn multiple(&self, b: Interval) -> u8 {
        let q = self.q as i64;
        if self.unsigned.is_some() { ((b.1 + q - 1) / q) as u8 } else { 0 }
    }

    /// `a + k·q − b`, where it and `a + k·q` fit a word.
    pub fn sub(&self, a: Interval, b: Interval, k: u8) -> Option<Interval> {
        let offset = i64::from(k) * self.q as i64;
        let raised = self.fits((a.0 + offset, a.1 + offset))?;
        self.fits((raised.0 - b.1, raised.1 - b.0))
    }

    fn fits(&self, a: Interval) -> Option<Interval> {
        let word = self.word();
        (word.0 <= a.0 && a.1 <= word.1).then_some(a)
    }
}

/// Whether `a` lies within `b`.
pub fn within(a: Interval, b: Interval) -> bool {
    b.0 <= a.0 && a.1 <= b.1
}

/// The smallest interval around two.
pub fn hull(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The butterflies of a transform with radix-2 layers of x^n + 1.
#[derive(Clone, Debug)]
pub struct Layers {
    /// The transform.
    pub algorithm: Algorithm,
    /// Degree of the ring.
    pub n: usize,
    /// Layers; log2 n for a complete transform.
    pub count: usize,
    /// Distance between the words of a butterfly, by layer.
    pub distances: Vec<usize>,
    /// Powers of the least primitive root of order 2^(count + 1), or of its inverse.
    powers: Vec<u64>,
    over_n: u64,
}

impl Layers {
    /// The layers of a transform; the error is a sentence for people.
    pub fn new(q: u64, n: usize, count: usize, algorithm: Algorithm) -> Result<Layers, String> {
        if !n.is_power_of_two() || count == 0 || count > n.ilog2() as usize {
            return Err(format!("there are no {count} radix-2 layers of x^{n} + 1"));
        }
        let order = 2u64 << count;
        let root = transform::least_root(order, q)
            .ok_or_else(|| format!("there is no root of unity of order {order} modulo {q}"))?;
        let base = if algorithm == Algorithm::Forward { Some(root) } else { zq::inv(root, q) };
        let base = base.unwrap_or(1);
        let powers = (0..order).map(|e| zq::pow(base, e, q)).collect();
        let remaining = n >> count;
        let distances = (0..count)
            .map(|l| if algorithm == Algorithm::Forward { n >> (l + 1) } else { remaining << l })
            .collect();
        let over_n = zq::inv(1 << count, q).unwrap_or(1);
        Ok(Layers { algorithm, n, count, distances, powers, over_n })
    }

    /// The residue by which the butterfly of a layer whose first word is at `low` multiplies; for
    /// the last layer of Gentleman and Sande that of the difference.
    pub fn twiddle(&self, q: u64, layer: usize, low: usize) -> u64 {
        let o = self.distances[layer];
        let bits = self.count as u32;
        match self.algorithm {
            Algorithm::InverseCooleyTukey => {
                let (j, blocks) =
                    (low % (2 * o) * self.count_of_leaves() / self.n, self.n / (2 * o));
                self.powers[(2 * j * blocks) % self.powers.len()]
            }
            _ => {
                let blocks = self.n / (2 * o);
                let w = self.powers[transform::bit_reverse(blocks + low / (2 * o), bits)];
                if self.scales_in(layer) { zq::mul(w, self.over_n, q) } else { w }
            }
        }
    }

    fn count_of_leaves(&self) -> usize {
        1 << self.count
    }

    /// Whether the layer also multiplies its sums: the last of Gentleman and Sande.
    pub fn scales_in(&self, layer: usize) -> bool {
        self.algorithm == Algorithm::InverseGentlemanSande && layer + 1 == self.count
    }

    /// The residue that sums of the last layer are multiplied by.
    pub fn scale(&self) -> u64 {
        self.over_n
    }

    /// All twiddles of a layer, each once.
    pub fn twiddles(&self, q: u64, layer: usize) -> Vec<u64> {
        let o = self.distances[layer];
        let lows = (0..self.n).filter(|p| p & o == 0);
        let mut all: Vec<u64> = lows.map(|p| self.twiddle(q, layer, p)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
