//! Toom–Cook on Toeplitz products modulo powers of two: a matrix of size r·m times a vector as
//! 2r − 1 products of size m [Toom63] [Cook66], transposed [Winograd80 §IV].
//!
//! With blocks T_κ of the matrix (T_{I,J} = T_{I−J+r−1}) and w(y) = Σ v_{r−1−i}·y^i, block I of the
//! product is τ(y^I·w(y)), where τ sends y^κ to T_κ. The method interpolates in 2r − 1 points p.
//! Let L_p(y) = ∏ (y − p') over the other finite points, and N_p = L_p(p). Then c_I = Σ_p
//! p^I·τ(L_p)·w(p)/N_p, and the point at infinity adds τ(∏ (y − p))·w_{r−1} to c_{r−1}.
//!
//! Points: 0, ±1, 2, ∞ for r = 3; 0, ±1, ±2, 3, ∞ for r = 4; with ±1/2 for r = 5
//! ([`crate::toom_five`]). The common denominator is 6 = 2·3 or 24 = 2^3·3, apart from 5, which is
//! a unit. So everything is computed 6- or 24-fold and divided at the end. The unit 3 costs
//! nothing. The division by 2 or 8 is exact only if the products are known modulo 2^(k+1) or
//! 2^(k+3), so the inner products use a modulus that much larger.

use crate::arith::{Arith, Exact, Val};
use crate::base::{Base, BaseRef, BaseSpec, Shape};
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::{Cost, Network};
use crate::sexpr::Form;
use crate::stages::Inside;
use crate::toom_five;
use crate::tree::TreeNode;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "toom-cook",
    usage: "(toom-cook 3|4|5 SMALL)",
    summary: "A Toeplitz product modulo 2^k as five products of a third of the size modulo 2^(k+1), or \
              as seven of a quarter or nine of a fifth modulo 2^(k+3), which must not exceed 2^16.",
    citation: "[Toom63] [Cook66] [Winograd80 §IV]",
    build: Build::Base(build),
};

/// Words have this many bits: no product is computed modulo more than 2^16.
const WORD_BITS: u32 = 16;

/// Toom–Cook, one level.
#[derive(Clone, Debug)]
pub struct ToomCook {
    q: u64,
    size: usize,
    parts: usize,
    /// The products of a part's size, modulo [`ToomCook::lost`] bits more.
    pub inner: BaseRef,
}

fn build(arguments: &mut Arguments, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
    spec.no_trinomials(arguments)?;
    let (q, size) = (spec.q, spec.size);
    let parts = arguments.number("the number of parts, 3 to 5")?;
    let at = arguments.last_at();
    if !matches!(parts, 3..=5) {
        let message = format!("toom-cook splits in 3, 4 or 5 parts, not in {parts}");
        return Err(Refusal::new(at, message).instead("`karatsuba` for 2"));
    }
    if !q.is_power_of_two() {
        let message = format!("toom-cook needs a modulus that is a power of two, and {q} is not");
        return Err(arguments.refuse(message).instead("`karatsuba`, which works for any modulus"));
    }
    if !size.is_multiple_of(parts) {
        let message = format!("{parts} does not divide the size {size}");
        let better = size.next_multiple_of(parts);
        return Err(Refusal::new(at, message).instead(format!("a size such as {better}")));
    }
    let needed = q.trailing_zeros() + lost(parts);
    if needed > WORD_BITS {
        let message = format!(
            "dividing by {} costs {} bits: for products modulo {q} those below are needed modulo \
             2^{needed}, and words have {WORD_BITS} bits",
            1 << lost(parts),
            lost(parts)
        );
        let hint = match parts {
            4 | 5 if needed - 2 <= WORD_BITS => {
                "(toom-cook 3 …), which costs 1 bit, or `karatsuba`"
            }
            _ => "`karatsuba`, which costs none",
        };
        return Err(arguments.refuse(message).instead(hint));
    }
    let (q_inner, part) = (q << lost(parts), size / parts);
    let inner = arguments.base(&BaseSpec { q: q_inner, size: part, shape: Shape::Toeplitz })?;
    Ok(Arc::new(ToomCook { q, size, parts, inner }))
}

/// Bits that the division costs.
fn lost(parts: usize) -> u32 {
    if parts == 3 { 1 } else { 3 }
}

/// a + c·b for a small constant.
pub(crate) fn plus(arith: &mut dyn Arith, a: Val, c: u64, b: Val) -> Val {
    let b = if c == 1 { b } else { arith.scale(b, c) };
    arith.add(a, b)
}

/// 1/d modulo q, a power of two up to 2^64, for an odd d, which always has one there.
pub fn odd_inverse(d: u64, q: u64) -> u64 {
    debug_assert!(d % 2 == 1 && q.is_power_of_two());
    // Newton's iteration doubles the bits that are right; d itself is right in three.
    let inverse = (0..5).fold(d, |x, _| x.wrapping_mul(2u64.wrapping_sub(d.wrapping_mul(x))));
    inverse & (q - 1)
}

/// a − c·b for a small constant.
pub(crate) fn minus(arith: &mut dyn Arith, a: Val, c: u64, b: Val) -> Val {
    let b = if c == 1 { b } else { arith.scale(b, c) };
    arith.sub(a, b)
}

/// τ((y² − c)·y^k) for every k.
pub(crate) fn square(arith: &mut dyn Arith, t: &[Val], c: u64) -> Vec<Val> {
    t.windows(3).map(|t| minus(arith, t[2], c, t[0])).collect()
}

/// τ((y − c)·y^k) for every k.
pub(crate) fn linear(arith: &mut dyn Arith, t: &[Val], c: u64) -> Vec<Val> {
    t.windows(2).map(|t| minus(arith, t[1], c, t[0])).collect()
}

impl ToomCook {
    /// r: parts of the vector.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// 2r − 1: products.
    pub fn points(&self) -> usize {
        2 * self.parts - 1
    }

    /// Bits of the modulus that the division costs.
    pub fn lost(&self) -> u32 {
        lost(self.parts)
    }

    /// What [`ToomCook::combine`] leaves the product multiplied with: 6 or 24.
    pub fn divisor(&self) -> u64 {
        match self.parts {
            3 => 6,
            4 => 24,
            _ => toom_five::DIVISOR,
        }
    }

    /// The vectors of the products from the parts of the vector, constants included.
    pub fn vectors(&self, arith: &mut dyn Arith, parts: &[Val]) -> Vec<Val> {
        if self.parts == 5 {
            return toom_five::vectors(arith, parts);
        }
        let w: Vec<Val> = parts.iter().rev().copied().collect();
        let even = arith.add(w[0], w[2]);
        if self.parts == 3 {
            // Points 0, 1, −1, 2, ∞; constants 3, −3, −1, 1, 6.
            let one = arith.add(even, w[1]);
            let one = arith.scale(one, arith.q() - 3);
            let minus_one = arith.sub(w[1], even);
            let two = plus(arith, w[0], 2, w[1]);
            let two = plus(arith, two, 4, w[2]);
            return vec![arith.scale(w[0], 3), one, minus_one, two, arith.scale(w[2], 6)];
        }
        // Points 0, 1, −1, 2, −2, 3, ∞; constants 2, 2, 1, 1, 1/5, 1/5, 24.
        let fifth = odd_inverse(5, arith.q());
        let odd = arith.add(w[1], w[3]);
        let one = arith.add(even, odd);
        let one = arith.scale(one, 2);
        let minus_one = arith.sub(even, odd);
        let even = plus(arith, w[0], 4, w[2]);
        let odd = plus(arith, w[1], 4, w[3]);
        let odd = arith.scale(odd, 2);
        let two = arith.add(even, odd);
        let minus_two = arith.sub(even, odd);
        let three = plus(arith, w[2], 3, w[3]);
        let three = plus(arith, w[1], 3, three);
        let three = plus(arith, w[0], 3, three);
        vec![
            arith.scale(w[0], 2),
            one,
            minus_one,
            two,
            arith.scale(minus_two, fifth),
            arith.scale(three, fifth),
            arith.scale(w[3], 24),
        ]
    }

    /// The diagonals of the products' matrices, from those of the matrix. The input is 2r blocks of
    /// a part's size, whose last word is padding; the output is two blocks for each product.
    /// Consecutive blocks are the windows y^κ, so both halves of a window share what they can.
    pub fn diagonals(&self, arith: &mut dyn Arith, t: &[Val]) -> Vec<[Val; 2]> {
        if self.parts == 5 {
            return toom_five::diagonals(arith, t);
        }
        let u = square(arith, t, 1);
        if self.parts == 3 {
            let zero = linear(arith, &u, 2); // (y² − 1)(y − 2) y^k
            let z = linear(arith, &t[1..], 2); // y (y − 2) y^k
            let mut points = vec![[zero[0], zero[1]]; 5];
            points[3] = [u[1], u[2]];
            points[4] = [zero[1], zero[2]];
            for half in 0..2 {
                points[0][half] = zero[half];
                points[1][half] = arith.add(z[half + 1], z[half]);
                points[2][half] = arith.sub(z[half + 1], z[half]);
            }
            return points;
        }
        let v = square(arith, &t[1..7], 4); // y (y² − 4) y^k
        let y = square(arith, &u, 4); // (y² − 1)(y² − 4) y^k
        let full = linear(arith, &y, 3); // (y² − 1)(y² − 4)(y − 3) y^k
        let z = linear(arith, &v, 3); // y (y² − 4)(y − 3) y^k
        // y (y² − 1)(3 − y) y^k: minus the factor, as the constants of 2 and −2 want it.
        let x: Vec<Val> = u[1..5]
            .windows(2)
            .map(|u| {
                let three = arith.scale(u[0], 3);
                arith.sub(three, u[1])
            })
            .collect();
        let mut points = vec![[t[0]; 2]; 7];
        for half in 0..2 {
            // (y² − 1)(y² − 4)(3 − y).
            let three = arith.scale(y[half], 3);
            points[0][half] = arith.sub(three, y[half + 1]);
            points[1][half] = arith.add(z[half + 1], z[half]);
            points[2][half] = arith.sub(z[half + 1], z[half]);
            let twice = arith.scale(x[half], 2);
            points[3][half] = arith.add(x[half + 1], twice);
            points[4][half] = arith.sub(x[half + 1], twice);
            points[5][half] = y[half + 1];
            points[6][half] = full[half + 1];
        }
        points
    }

    /// The parts of the result, [`ToomCook::divisor`] times over, from the products.
    pub fn combine(&self, arith: &mut dyn Arith, products: &[Val]) -> Vec<Val> {
        if self.parts == 5 {
            return toom_five::combine(arith, products);
        }
        let p = products;
        let (sum, difference) = (arith.add(p[1], p[2]), arith.sub(p[1], p[2]));
        if self.parts == 3 {
            let c0 = arith.add(p[0], sum);
            let c0 = arith.add(c0, p[3]);
            let c1 = plus(arith, difference, 2, p[3]);
            let c2 = plus(arith, sum, 4, p[3]);
            return vec![c0, c1, arith.add(c2, p[4])];
        }
        let (sum2, difference2) = (arith.add(p[3], p[4]), arith.sub(p[3], p[4]));
        let c0 = arith.add(p[0], sum);
        let c0 = arith.add(c0, sum2);
        let c0 = arith.add(c0, p[5]);
        let c1 = plus(arith, difference, 2, difference2);
        let c1 = plus(arith, c1, 3, p[5]);
        let c2 = plus(arith, sum, 4, sum2);
        let c2 = plus(arith, c2, 9, p[5]);
        let c3 = plus(arith, difference, 8, difference2);
        let c3 = plus(arith, c3, 27, p[5]);
        vec![c0, c1, c2, arith.add(c3, p[6])]
    }

    /// The operations on blocks of the three maps.
    fn linear_cost(&self) -> [Cost; 3] {
        let recorded = |inputs: usize, map: &dyn Fn(&mut Network, &[Val]) -> Vec<Val>| {
            let mut net = Network::new(self.inner.q());
            let inputs = net.inputs(&vec![true; inputs]);
            let outputs = map(&mut net, &inputs);
            net.cost(&outputs)
        };
        [
            recorded(self.parts, &|net, v| self.vectors(net, v)),
            recorded(2 * self.parts, &|net, t| self.diagonals(net, t).concat()),
            recorded(self.points(), &|net, p| self.combine(net, p)),
        ]
    }
}

impl Base for ToomCook {
    fn name(&self) -> &'static str {
        METHOD.name
    }
    fn q(&self) -> u64 {
        self.q
    }
    fn size(&self) -> usize {
        self.size
    }

    fn toeplitz(&self, t: &[u64], v: &[u64]) -> Vec<u64> {
        let (q, m) = (self.inner.q(), self.size / self.parts);
        let mut exact = Exact::new(q, m);
        let blocks: Vec<Val> = t.chunks(m).map(|block| exact.input(block)).collect();
        let diagonals = self.diagonals(&mut exact, &blocks);
        let parts: Vec<Val> = v.chunks(m).map(|part| exact.input(part)).collect();
        let vectors = self.vectors(&mut exact, &parts);
        let products: Vec<Val> = diagonals
            .iter()
            .zip(vectors)
            .map(|(halves, vector)| {
                let t = halves.map(|half| exact.get(half)).concat();
                let product = self.inner.toeplitz(&t[..2 * m - 1], exact.get(vector));
                exact.input(&product)
            })
            .collect();
        let odd = odd_inverse(self.divisor() >> self.lost(), self.q);
        let divided = |x: u64| zq::mul(x >> self.lost(), odd, self.q);
        let combined = self.combine(&mut exact, &products);
        combined.iter().flat_map(|&c| exact.get(c).iter().map(|&x| divided(x))).collect()
    }

    fn inside(&self) -> Inside<'_> {
        Inside::ToomCook(self)
    }
    fn cost(&self) -> Cost {
        let [vectors, diagonals, combine] = self.linear_cost();
        let linear = (vectors + diagonals + combine).times((self.size / self.parts) as u64);
        let ends = Cost { scales: self.size as u64, ..Cost::default() };
        self.inner.cost().times(self.points() as u64) + linear + ends
    }
    fn tree(&self) -> TreeNode {
        let (m, r) = (self.size / self.parts, self.parts);
        let title = format!(
            "Toom–Cook {} = {} × {m}, divides by {}",
            self.size,
            2 * r - 1,
            1 << self.lost()
        );
        TreeNode::of_base(title, self, &[self.inner.as_ref()], METHOD.citation)
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [Form::word(self.parts), self.inner.to_form()])
    }
}

#[cfg(test)]
#[path = "toom_cook_tests.rs"]
mod tests;
