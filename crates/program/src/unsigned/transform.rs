//! The transforms and the product of the unsigned scheme over any [`Language`].

use super::primitive::MONTGOMERY_BITS;
use super::{Array, Constants, Kind, Language, Placement, Table};
use ringforge_ring::zq;
use serde::{Deserialize, Serialize};

/// A transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Cooley–Tukey butterflies from distance n/2 down, natural order to bit-reversed
    /// [TokudaKameyama23 Algorithm 5].
    Forward,
    /// Gentleman–Sande butterflies from distance 1 up, bit-reversed order to natural; the last
    /// layer also divides by n [TokudaKameyama23 Algorithm 6].
    InverseGentlemanSande,
    /// Cooley–Tukey butterflies from distance 1 up, bit-reversed order to natural
    /// [TokudaKameyama23 Algorithm 1], then a product with n^-1·ψ^-i for each coefficient.
    InverseCooleyTukey,
}

impl Algorithm {
    /// Whether butterflies multiply before they add.
    pub fn is_cooley_tukey(self) -> bool {
        self != Algorithm::InverseGentlemanSande
    }

    /// The distance between the two positions of a butterfly in layer `layer` (from 0).
    pub fn distance(self, n: usize, layer: usize) -> usize {
        match self {
            Algorithm::Forward => n >> (layer + 1),
            _ => 1 << layer,
        }
    }
}

/// What a program is made of: ring, algorithms, placements and tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The reductions' numbers.
    pub constants: Constants,
    /// Degree of x^n + 1, a power of two with 2n dividing q − 1.
    pub n: usize,
    /// The forward transform's choices.
    pub forward: Placement,
    /// One of the two inverse transforms.
    pub inverse_by: Algorithm,
    /// The inverse transform's choices.
    pub inverse: Placement,
    /// Constants: twiddles forward, twiddles inverse, final factors, offsets of each layer.
    pub tables: Vec<Table>,
    root: u64,
}

const PSI: u8 = 0;
const PSI_INVERSE: u8 = 1;
const SCALE: u8 = 2;
const OFFSETS: u8 = 3;

/// The number whose `bits` bits are those of `i` reversed.
pub fn bit_reverse(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

impl Scheme {
    /// A scheme for Z_q\[x\]/(x^n + 1). `None` if q or n does not fit, or if a placement lacks
    /// multiples for a layer: one, or for Gentleman and Sande one for each butterfly.
    pub fn new(
        q: u64,
        n: usize,
        forward: Placement,
        inverse_by: Algorithm,
        inverse: Placement,
    ) -> Option<Scheme> {
        let constants = Constants::new(q)?;
        let layers = n.checked_ilog2().filter(|&l| l > 0 && n.is_power_of_two())? as usize;
        let cooley_tukey = inverse_by.is_cooley_tukey();
        for (placement, by_layer) in [(&forward, true), (&inverse, cooley_tukey)] {
            let entries = |all: &Vec<u8>| all.len() == 1 || !by_layer && all.len() == n / 2;
            if placement.multiples.len() != layers || !placement.multiples.iter().all(entries) {
                return None;
            }
        }
        let psi = least_root(2 * n as u64, q)?;
        let back = zq::inv(psi, q)?;
        let r = zq::pow(2, u64::from(MONTGOMERY_BITS), q);
        let word = |x: u64| zq::mul(x, r, q) as u16;
        let power = |base: u64, e: usize| zq::pow(base, e as u64, q);
        let bits = layers as u32;
        let reversed = |base| (0..n).map(|i| word(power(base, bit_reverse(i, bits)))).collect();
        let over_n = zq::inv(n as u64, q)?;
        let (inverse_words, scale_words): (Vec<u16>, Vec<u16>) = match inverse_by {
            // ω^-i with ω = ψ², and n^-1·ψ^-i
            Algorithm::InverseCooleyTukey => (
                (0..n / 2).map(|i| word(power(back, 2 * i))).collect(),
                (0..n).map(|i| word(zq::mul(over_n, power(back, i), q))).collect(),
            ),
            _ => {
                let last = zq::mul(over_n, power(back, bit_reverse(1, bits)), q);
                (reversed(back), vec![word(over_n), word(last)])
            }
        };
        let table =
            |name: &str, what: &str, words| Table { name: name.into(), what: what.into(), words };
        let mut tables = vec![
            table("psi", "2^18·ψ^brv(i) mod q", reversed(psi)),
            table("psi_inverse", "2^18 times the inverse transform's twiddles", inverse_words),
            table("scale", "2^18 times the last factors", scale_words),
        ];
        for (layer, all) in inverse.multiples.iter().enumerate() {
            let words = if all.len() == 1 {
                Vec::new()
            } else {
                all.iter().map(|&k| (u64::from(k) * q) as u16).collect()
            };
            let name = format!("offset_{layer}");
            tables.push(Table { name, what: "multiples of q, by butterfly".into(), words });
        }
        Some(Scheme { constants, n, forward, inverse_by, inverse, tables, root: psi })
    }

    /// ψ, the least primitive 2n-th root of unity.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// 2^36 mod q, which a product by words brings to 2^18·b.
    pub fn square_of_r(&self) -> u16 {
        zq::pow(2, 2 * u64::from(MONTGOMERY_BITS), u64::from(self.constants.q)) as u16
    }

    /// Layers of a transform.
    pub fn layers(&self) -> usize {
        self.n.ilog2() as usize
    }

    /// The forward transform of an array, in place.
    pub fn forward<L: Language>(&self, l: &mut L, x: Array) -> Result<(), L::Error> {
        l.stage("forward: butterflies multiply, then add [TokudaKameyama23 Algorithm 5]");
        self.cooley_tukey(l, x, Algorithm::Forward)
    }

    /// The inverse transform of an array, in place.
    pub fn inverse<L: Language>(&self, l: &mut L, x: Array) -> Result<(), L::Error> {
        if self.inverse_by == Algorithm::InverseCooleyTukey {
            l.stage("inverse: butterflies multiply, then add [TokudaKameyama23 Algorithm 1]");
            self.cooley_tukey(l, x, Algorithm::InverseCooleyTukey)?;
            l.stage("inverse: factors n^-1·ψ^-i");
            return l.for_(self.n, &mut |l, i| {
                let (v, w) = (l.get(x, i)?, l.get(Array::Table(SCALE), i)?);
                let v = self.product(l, &v, &w, &self.inverse)?;
                l.set(x, i, &v)
            });
        }
        l.stage("inverse: butterflies add, then multiply [TokudaKameyama23 Algorithm 6]");
        self.gentleman_sande(l, x)
    }

    /// `c = a·b` in Z_q\[x\]/(x^n + 1); a and b are overwritten by their transforms.
    pub fn product_program<L: Language>(&self, l: &mut L) -> Result<(), L::Error> {
        let (c, a, b) = (Array::Data(0), Array::Data(1), Array::Data(2));
        self.forward(l, a)?;
        self.forward(l, b)?;
        l.stage("products of values");
        l.for_(self.n, &mut |l, i| {
            let (x, y) = (l.get(a, i)?, l.get(b, i)?);
            let r = l.constant(self.square_of_r())?;
            let y = self.product(l, &y, &r, &self.forward)?;
            let z = self.product(l, &x, &y, &self.forward)?;
            l.set(c, i, &z)
        })?;
        self.inverse(l, c)?;
        l.stage("canonical residues");
        l.for_(self.n, &mut |l, i| {
            let v = l.get(c, i)?;
            let v = if self.inverse.csub_products { v } else { l.reduce(&v, Kind::Csub)? };
            l.set(c, i, &v)
        })
    }

    /// A modular product, with the conditional subtraction that the placement asks for.
    fn product<L: Language>(
        &self,
        l: &mut L,
        a: &L::Value,
        b: &L::Value,
        placement: &Placement,
    ) -> Result<L::Value, L::Error> {
        let p = l.mul(a, b)?;
        if placement.csub_products { l.reduce(&p, Kind::Csub) } else { Ok(p) }
    }

    fn reductions<L: Language>(
        &self,
        l: &mut L,
        x: Array,
        placement: &Placement,
        after: usize,
    ) -> Result<(), L::Error> {
        for kind in [Kind::Csub, Kind::Barrett] {
            for run in placement.runs(after, kind) {
                l.for_(run.outer.0, &mut |l, i| {
                    let row = l.times(i, run.outer.1);
                    l.for_(run.inner.0, &mut |l, j| {
                        let (start, column) = (l.number(run.start), l.times(j, run.inner.1));
                        let at = l.plus(&start, &row);
                        let at = l.plus(&at, &column);
                        let v = l.get(x, &at)?;
                        let v = l.reduce(&v, kind)?;
                        l.set(x, &at, &v)
                    })
                })?;
            }
        }
        Ok(())
    }

    fn cooley_tukey<L: Language>(
        &self,
        l: &mut L,
        x: Array,
        by: Algorithm,
    ) -> Result<(), L::Error> {
        let placement = if by == Algorithm::Forward { &self.forward } else { &self.inverse };
        self.reductions(l, x, placement, 0)?;
        for layer in 0..self.layers() {
            let o = by.distance(self.n, layer);
            let blocks = self.n / (2 * o);
            let multiple = placement.multiple(layer, 0);
            l.for_(blocks, &mut |l, k| {
                let base = l.times(k, 2 * o);
                l.for_(o, &mut |l, j| {
                    let w = match by {
                        Algorithm::Forward => {
                            let first = l.number(blocks);
                            let at = l.plus(&first, k);
                            l.get(Array::Table(PSI), &at)?
                        }
                        _ => {
                            let at = l.times(j, blocks);
                            l.get(Array::Table(PSI_INVERSE), &at)?
                        }
                    };
                    let low = l.plus(&base, j);
                    let distance = l.number(o);
                    let high = l.plus(&low, &distance);
                    let (u, t) = (l.get(x, &low)?, l.get(x, &high)?);
                    let t = self.product(l, &t, &w, placement)?;
                    let sum = l.add(&u, &t)?;
                    let offset = l.multiple(multiple)?;
                    let difference = l.sub(&u, &offset, &t)?;
                    l.set(x, &low, &sum)?;
                    l.set(x, &high, &difference)
                })
            })?;
            self.reductions(l, x, placement, layer + 1)?;
        }
        Ok(())
    }

    fn gentleman_sande<L: Language>(&self, l: &mut L, x: Array) -> Result<(), L::Error> {
        let placement = &self.inverse;
        self.reductions(l, x, placement, 0)?;
        for layer in 0..self.layers() {
            let o = Algorithm::InverseGentlemanSande.distance(self.n, layer);
            let blocks = self.n / (2 * o);
            let last = layer + 1 == self.layers();
            l.for_(blocks, &mut |l, k| {
                let base = l.times(k, 2 * o);
                l.for_(o, &mut |l, j| {
                    let low = l.plus(&base, j);
                    let distance = l.number(o);
                    let high = l.plus(&low, &distance);
                    let (u, t) = (l.get(x, &low)?, l.get(x, &high)?);
                    let mut sum = l.add(&u, &t)?;
                    let offset = if placement.multiples[layer].len() == 1 {
                        l.multiple(placement.multiples[layer][0])?
                    } else {
                        let row = l.times(k, o);
                        let at = l.plus(&row, j);
                        l.get(Array::Table(OFFSETS + layer as u8), &at)?
                    };
                    let difference = l.sub(&u, &offset, &t)?;
                    let w = if last {
                        let (zero, one) = (l.number(0), l.number(1));
                        let s = l.get(Array::Table(SCALE), &zero)?;
                        sum = self.product(l, &sum, &s, placement)?;
                        l.get(Array::Table(SCALE), &one)?
                    } else {
                        let first = l.number(blocks);
                        let at = l.plus(&first, k);
                        l.get(Array::Table(PSI_INVERSE), &at)?
                    };
                    let difference = self.product(l, &difference, &w, placement)?;
                    l.set(x, &low, &sum)?;
                    l.set(x, &high, &difference)
                })
            })?;
            self.reductions(l, x, placement, layer + 1)?;
        }
        Ok(())
    }
}

/// The least primitive root of unity of an order that is a power of two, modulo a prime.
pub fn least_root(order: u64, q: u64) -> Option<u64> {
    if order < 2 || !zq::is_prime(q) || !(q - 1).is_multiple_of(order) {
        return None;
    }
    (2..q).find(|&x| zq::pow(x, order / 2, q) == q - 1)
}
