//! The transform of an odd prime length p through convolutions of length p − 1
//! [Rader68] [Chiu25 §2.3.2].
//!
//! Lengths 3 and 5 are worked out by hand. As in [Chiu25 §2.3.2] they leave the scales 2 and 4:
//!
//! - p = 3: 2F_0 = 2(f_0 + s), 2F_{1,2} = (2f_0 − s) ± (ω − ω²)(f_1 − f_2), with s = f_1 + f_2;
//! - p = 5: a cyclic convolution of length 2 split once more, and a negacyclic one, which
//!   needs √−1 to split, by Karatsuba.
//!
//! `unscaled` variants leave scale 1 with as many multiplications for p = 3 and one more for p = 5,
//! but none by 2 and 4:
//!
//! - p = 3: F_1 = (f_0 − f_2) + m, F_2 = (f_0 − f_1) − m, with m = ω(f_1 − f_2), as 1 + ω + ω² = 0;
//! - p = 5: F_{1,4} and F_{2,3} are f_0 − u/4 ± κv plus or minus their odd parts.
//!
//! Other primes (scale 1): F_{g^b} − f_0 = Σ_a f_{g^{−a}} ω^{g^{b−a}} is a cyclic convolution of
//! length p − 1, split into shorter cyclic and negacyclic ones: 41 multiplications for p = 17.

use crate::arith::{Arith, Val};
use crate::convolution::cyclic;
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::sexpr::Form;
use crate::transform::{Transform, TransformRef};
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "rader",
    usage: "(rader P [unscaled])",
    summary: "A transform of odd prime length P as convolutions of length P - 1; P = 3 leaves the \
              scale 2 and P = 5 the scale 4, unless unscaled.",
    citation: "[Chiu25 §2.3.2]",
    build: Build::Transform(build),
};

/// Rader's transform of odd prime length.
#[derive(Clone, Debug)]
pub struct Rader {
    /// What is computed, on which root.
    pub spec: DftSpec,
    /// Whether the scale 1 is asked for. Always so for lengths beyond 5.
    pub unscaled: bool,
    /// The least number whose powers are all residues modulo p but 0.
    generator: u64,
}

/// Where the radix-3 butterfly of scale 2 has its doublings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doubling {
    /// f_0, f_1, f_2 → 2F_0, 2F_1, 2F_2.
    AllOutputs,
    /// f_0, f_1, f_2 → F_0, 2F_1, 2F_2: one doubling less.
    NotFirstOutput,
    /// 2f_0, f_1, f_2 → 2F_0, 2F_1, 2F_2: one doubling less [Chiu25 Figure 3.8].
    FirstInput,
}

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    spec.of_numbers(arguments)?;
    let p = arguments.number("the length P")?;
    let at = arguments.last_at();
    let unscaled = arguments.option("unscaled");
    if p == 2 || !zq::is_prime(p as u64) {
        return Err(Refusal::new(
            at,
            format!("Rader's transform needs an odd prime length, not {p}"),
        )
        .instead("3, 5, 7, …; `(butterfly)` for 2; good-thomas or cooley-tukey otherwise"));
    }
    if p > 257 {
        return Err(Refusal::new(at, format!("length {p} is too long to convolve directly"))
            .instead("a length of at most 257"));
    }
    if p != spec.len {
        let message =
            format!("this transform has length {p}, but length {} is needed here", spec.len);
        return Err(Refusal::new(at, message));
    }
    if zq::inv(4, spec.q).is_none() {
        return Err(
            arguments.refuse(format!("Rader's transform halves: q = {} must be odd", spec.q))
        );
    }
    let generates = |g: &u64| zq::order(*g, p as u64) == Some(p as u64 - 1);
    let generator = (2..p as u64).find(generates).ok_or_else(|| {
        Refusal::new(at, format!("Rader's transform needs a generator modulo {p}, which has none"))
    })?;
    Ok(Arc::new(Rader { spec: *spec, unscaled, generator }))
}

impl Rader {
    /// Whether this is the hand-made radix-3 butterfly of scale 2.
    pub fn is_doubling_radix_3(&self) -> bool {
        self.spec.len == 3 && !self.unscaled
    }

    /// The radix-3 butterfly of scale 2, with its multiply-by-2 steps where `doubling` says
    /// [Chiu25 §3.4.1].
    pub fn radix_3(&self, arith: &mut dyn Arith, f: &[Val], doubling: Doubling) -> Vec<Val> {
        let sum = arith.add(f[1], f[2]);
        let difference = arith.sub(f[1], f[2]);
        let odd = arith.scale(difference, self.radix_3_constant());
        let (twice, first) = match doubling {
            Doubling::AllOutputs => {
                let (twice, first) = (arith.add(f[0], f[0]), arith.add(f[0], sum));
                (twice, arith.add(first, first))
            }
            Doubling::NotFirstOutput => (arith.add(f[0], f[0]), arith.add(f[0], sum)),
            Doubling::FirstInput => {
                let double_sum = arith.add(sum, sum);
                (f[0], arith.add(f[0], double_sum))
            }
        };
        let even = arith.sub(twice, sum);
        vec![first, arith.add(even, odd), arith.sub(even, odd)]
    }

    /// ω − ω².
    pub fn radix_3_constant(&self) -> u64 {
        zq::sub(self.spec.root, self.spec.power(2), self.spec.q)
    }

    /// The four constants of the radix-5 butterfly: ω + ω⁴ − ω³ − ω², 2(ω − ω⁴),
    /// 2(ω³ − ω²), 2(ω − ω⁴ + ω³ − ω²).
    pub fn radix_5_constants(&self) -> [u64; 4] {
        let q = self.spec.q;
        let w = |e| self.spec.power(e);
        let even = zq::sub(zq::add(w(1), w(4), q), zq::add(w(3), w(2), q), q);
        let c0 = zq::sub(w(1), w(4), q);
        let c_infinity = zq::sub(w(3), w(2), q);
        let double = |x| zq::add(x, x, q);
        [even, double(c0), double(c_infinity), double(zq::add(c0, c_infinity, q))]
    }

    /// 4F_j. In [Chiu25], `2c_∞ = (f_2 − f_2)·…` is a misprint for `(f_2 − f_3)·…`.
    fn radix_5(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let [even, k0, k_infinity, k1] = self.radix_5_constants();
        let (s, t) = (arith.add(f[1], f[4]), arith.add(f[2], f[3]));
        let (d, e) = (arith.sub(f[1], f[4]), arith.sub(f[2], f[3]));
        let (u, v) = (arith.add(s, t), arith.sub(s, t));
        let all = arith.add(f[0], u);
        let first = arith.scale(all, 4);
        let four = arith.scale(f[0], 4);
        let b0 = arith.sub(four, u);
        let b1 = arith.scale(v, even);
        let (a0, a1) = (arith.add(b0, b1), arith.sub(b0, b1)); // 4f_0 + 2(F̂_1 + F̂_4), …
        let c0 = arith.scale(d, k0);
        let c_infinity = arith.scale(e, k_infinity);
        let both = arith.add(d, e);
        let c1 = arith.scale(both, k1);
        let a2 = arith.sub(c0, c_infinity);
        let cross = arith.sub(c1, c0);
        let a3 = arith.sub(cross, c_infinity);
        let (f1, f4) = (arith.add(a0, a2), arith.sub(a0, a2));
        let (f3, f2) = (arith.add(a1, a3), arith.sub(a1, a3));
        vec![first, f1, f2, f3, f4]
    }

    fn radix_3_unscaled(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let difference = arith.sub(f[1], f[2]);
        let m = arith.scale(difference, self.spec.root);
        let sum = arith.add(f[1], f[2]);
        let first = arith.add(f[0], sum);
        let (x, y) = (arith.sub(f[0], f[2]), arith.sub(f[0], f[1]));
        vec![first, arith.add(x, m), arith.sub(y, m)]
    }

    fn radix_5_unscaled(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let q = self.spec.q;
        let half = q.div_ceil(2);
        let quarter = zq::mul(half, half, q);
        let [even, ..] = self.radix_5_constants();
        let part = |i: usize, j: usize| {
            zq::mul(zq::sub(self.spec.power(i), self.spec.power(j), q), half, q)
        };
        let (s1, s2) = (part(1, 4), part(2, 3));
        let (s, t) = (arith.add(f[1], f[4]), arith.add(f[2], f[3]));
        let (d, e) = (arith.sub(f[1], f[4]), arith.sub(f[2], f[3]));
        let (u, v) = (arith.add(s, t), arith.sub(s, t));
        let first = arith.add(f[0], u);
        let quarter_u = arith.scale(u, quarter);
        let center = arith.sub(f[0], quarter_u);
        let spread = arith.scale(v, zq::mul(even, quarter, q));
        let (a, b) = (arith.add(center, spread), arith.sub(center, spread));
        // The odd parts s1·d + s2·e and s2·d − s1·e with three multiplications.
        let both = arith.add(d, e);
        let shared = arith.scale(both, s1);
        let with_e = arith.scale(e, zq::sub(s2, s1, q));
        let with_d = arith.scale(d, zq::add(s1, s2, q));
        let (odd1, odd2) = (arith.add(shared, with_e), arith.sub(with_d, shared));
        let (f1, f4) = (arith.add(a, odd1), arith.sub(a, odd1));
        let (f2, f3) = (arith.add(b, odd2), arith.sub(b, odd2));
        vec![first, f1, f2, f3, f4]
    }

    /// Any odd prime: indices by powers of a generator g turn the transform into one cyclic
    /// convolution of length p − 1 with constants.
    fn general(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let p = self.spec.len;
        let power = |e: usize| zq::pow(self.generator, e as u64, p as u64) as usize;
        let constants: Vec<u64> = (0..p - 1).map(|e| self.spec.power(power(e))).collect();
        let input: Vec<Val> = (0..p - 1).map(|a| f[power(p - 1 - a)]).collect();
        let (products, total) = cyclic(arith, &constants, &input, f[0]);
        let mut output = vec![arith.add(f[0], total); p];
        for (b, v) in products.into_iter().enumerate() {
            output[power(b)] = v;
        }
        output
    }
}

impl Transform for Rader {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.spec
    }
    fn scale(&self) -> u64 {
        match (self.spec.len, self.unscaled) {
            (3, false) => 2,
            (5, false) => 4,
            _ => 1,
        }
    }
    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        match (self.spec.len, self.unscaled) {
            (3, false) => self.radix_3(arith, f, Doubling::AllOutputs),
            (3, true) => self.radix_3_unscaled(arith, f),
            (5, false) => self.radix_5(arith, f),
            (5, true) => self.radix_5_unscaled(arith, f),
            _ => self.general(arith, f),
        }
    }
    fn to_form(&self) -> Form {
        let length = Form::word(self.spec.len);
        let option = self.unscaled.then(|| Form::word("unscaled"));
        Form::list(METHOD.name, std::iter::once(length).chain(option))
    }
    fn title(&self) -> String {
        format!("Rader {}{}", self.spec.len, if self.unscaled { " unscaled" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, transform, try_transform};

    #[test]
    fn agrees_with_the_definition() {
        let odd = [(29, 7), (331, 11), (53, 13), (4591, 17), (191, 19), (7177, 23), (83, 41)];
        for (q, p) in odd.into_iter().chain([(4591, 3), (4591, 5), (7681, 3), (12289, 3)]) {
            assert_eq!(check(q, p, &format!("(rader {p} unscaled)")).scale(), 1);
            let scale = [(3, 2), (5, 4)].iter().find(|s| s.0 == p).map_or(1, |s| s.1);
            assert_eq!(check(q, p, &format!("(rader {p})")).scale(), scale);
        }
    }

    /// The multiplications that [Chiu25] counts, without those by 2 and 4: one for length 3 and
    /// four for length 5. Length 5 needs one less when f_1 and f_4 are zero (its Figure 3.3).
    #[test]
    fn costs() {
        let modular = |t: &TransformRef, present: &[bool]| t.forward_cost(present).scales;
        let three = transform(4591, 3, "(rader 3)");
        assert_eq!(modular(&three, &[true; 3]), 1);
        let five = transform(4591, 5, "(rader 5)");
        assert_eq!(modular(&five, &[true; 5]), 4 + 2);
        assert_eq!(modular(&five, &[true, false, true, true, false]), 3 + 2);
        assert_eq!(modular(&five, &[true, true, false, false, true]), 3 + 2);
        assert_eq!(modular(&transform(4591, 3, "(rader 3 unscaled)"), &[true; 3]), 1);
        assert_eq!(modular(&transform(4591, 5, "(rader 5 unscaled)"), &[true; 5]), 5);
        // 14 for the cyclic and 27 for the negacyclic convolution of length 8, and none for F_0.
        assert_eq!(modular(&transform(4591, 17, "(rader 17)"), &[true; 17]), 41);
        // Outputs 2 and 3 dropped: one multiplication less (Figure 3.5).
        let dropped = five.inverse_cost(&[true, true, false, false, true]);
        assert_eq!(dropped.scales, 3 + 2);
    }

    /// The constants of [Chiu25 §2.3.2], from the root itself.
    #[test]
    fn radix_5_constants_meet_their_equations() {
        let five = transform(4591, 5, "(rader 5)");
        let rader = five.as_method::<Rader>().expect("rader");
        let (q, w) = (4591, rader.spec.root);
        let [even, c0, c_infinity, c1] = rader.radix_5_constants();
        assert_eq!(zq::mul(even, even, q), 5); // (ω + ω⁴ − ω² − ω³)² = 5
        assert_eq!(zq::add(c0, c_infinity, q), c1);
        assert_eq!(c0, zq::mul(2, zq::sub(w, zq::pow(w, 4, q), q), q));
        assert_eq!(c_infinity, zq::mul(2, zq::sub(zq::pow(w, 3, q), zq::pow(w, 2, q), q), q));
        // ω = (even·4F̂ … ): 4ω = −1 + even + c0, the row f = (0, 1, 0, 0, 0) of 4F_1.
        assert_eq!(zq::mul(4, w, q), zq::add(q - 1, zq::add(even, c0, q), q));
    }

    #[test]
    fn refuses_even_and_composite_lengths() {
        let error = try_transform(4591, 9, "(rader 9)").unwrap_err();
        assert_eq!(
            error.to_string(),
            "1:8: Rader's transform needs an odd prime length, not 9\n  |\n1 | (rader 9)\n  |        ^\n  \
             = would work: 3, 5, 7, …; `(butterfly)` for 2; good-thomas or cooley-tukey otherwise"
        );
        let error = try_transform(4591, 5, "(rader 3)").unwrap_err();
        assert_eq!(error.message, "this transform has length 3, but length 5 is needed here");
    }
}
