//! Reductions of single words.

use super::{At, Image, Largest, Modulus, MulMethod, Range, Visitor, mul_constants, round_div};
use serde::{Deserialize, Serialize};

/// Residue kept, range shrunk; all but [`ReduceMethod::RoundedShift`] and [`ReduceMethod::BarrettShifts`] accept every
/// signed word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReduceMethod {
    /// `a - mullo(mulhrs(a, round(2^(w-1)/q)), q)` [Barrett86; Chiu25 §2.2.1]. Three operations.
    Barrett,
    /// `a - mullo(sar(a, k) - (a < 0), q)`, `k = floor(log2 q)` [Chiu25 §3.4.2, Algorithm 2]:
    /// truncation instead of a multiplication. Five operations, one of them a product.
    Crude,
    /// Barrett without a rounding product (baseline x86-64 has none):
    /// `a - mullo(sar(mulhi(a, v) + 2^(s-1), s), q)` with `v = round(2^(w+s)/q)`, `s` the
    /// largest that keeps `v` a signed word. Five operations.
    BarrettHigh,
    /// The same for words of 32 bits on machines that multiply even words to wide elements. Nine
    /// operations.
    BarrettWide,
    /// Barrett with low products alone, for words of 32 bits that lie within a bound and q of at most 2^16
    /// ([`ReduceMethod::low`]): `a - mullo(sar(mullo(sar(a, s), v) + 2^(r-1), r), q)` with
    /// `v = round(2^(s+r)/q)`. Six operations, no high product, which baseline x86-64 and AVX2 lack.
    BarrettLow {
        /// s, below 20: low bits that the quotient does not see.
        shift: u8,
        /// r, at least 1: bits after the point of the quotient.
        scale: u8,
    },
    /// Barrett into the canonical residue, for words within a bound that leaves no error in the
    /// quotient ([`ReduceMethod::exact`]). It computes `a - mullo(sar(mullo(a, v) + h, r), q)` with
    /// `v = round(2^r/q)` and `h = 2^(r-1)`. For an even q it takes `h = 2^(r-1) + v/2`, so that
    /// q/2 becomes -q/2. Five operations.
    BarrettExact {
        /// r, at least 1: bits after the point of the quotient.
        scale: u8,
    },
    /// General reduction [Seiler18 §3.3, Algorithm 5]: `a - mullo(sar(mulhi(a, v), k), q)` with
    /// `k = floor(log2 q) - 1`, `v = floor(2^(w+k)/q)`. Four operations. The paper's Lemma 4 puts
    /// the result in [0, q]. That holds for 12289, but 3329 and 7681 also give -1 and q + 1
    /// (enumerated). The lemma's proof puts `2^floor(log2 q)` for `2^k`.
    Floor,
    /// The other direction of the same, into [-q, 0] or one more at each end [Seiler18 §3.3]:
    /// `a + mullo(sar(mulhi(a, -v), k), q)`. Four operations.
    Ceiling,
    /// For `q = 2^k - 2^j + 1`, without a product [Seiler18 §3.2, Algorithm 4]: with
    /// `t = sar(a, k)`, `(a mod 2^k) - t + (t << j)`. Five operations.
    Folded,
    /// `a - mullo(sar(a + 2^(k-1), k), q)` with 2^k the power of two next to q: good where that
    /// is near. Four operations; wants `a < 2^(w-1) - 2^(k-1)`.
    RoundedShift,
    /// Barrett with the constant nearest to 1/q among 2^-s and 2^-s(1 ± 2^-d), so that the quotient
    /// takes shifts and no product: `a - mullo(sar(y + 2^(s-1), s), q)` with `y = a ± sar(a, d)`.
    /// It takes six operations, one of them a multiplication, for machines that multiply more
    /// slowly than they shift. It needs `y + 2^(s-1)` to be a word; for `2^-s(1 - 2^-d)` and
    /// s + d < w this holds for all words.
    BarrettShifts,
    /// [`MulMethod::Montgomery`] by one, the tightest range. Four operations; for words of 32
    /// bits only where there is a high product.
    Montgomery,
    /// [`MulMethod::MontgomeryWide`] by one, for words of 32 bits. Eleven operations.
    MontgomeryWide,
    /// [`MulMethod::Plantard`] by one, into [-(q+1)/2, (q-1)/2]. Five operations.
    Plantard,
}

/// Bits of half a word of 16. Shifts by one or two of so many bits are read as halves of products of such words.
const BYTE: u8 = 8;

impl ReduceMethod {
    /// What the method lacks with this modulus, as a sentence; nothing where it works.
    pub fn missing(self, m: impl Into<Modulus>) -> Option<String> {
        let m = m.into();
        if self == ReduceMethod::Plantard {
            return MulMethod::Plantard.missing(m);
        }
        let shaped = self != ReduceMethod::Folded || folded_shifts(m.q).is_some();
        (!shaped)
            .then(|| format!("the folded reduction needs q = 2^k - 2^j + 1, which {} is not", m.q))
    }

    /// The words that it accepts.
    pub fn domain(self, m: impl Into<Modulus>) -> Range {
        let m = m.into();
        let (first, last) = m.words();
        match self {
            ReduceMethod::RoundedShift => (first, last - (1 << (rounding_shift(m.q) - 1))),
            ReduceMethod::BarrettShifts => Shifts::of(m).domain(m),
            ReduceMethod::BarrettLow { shift, scale } => {
                // |t|·v + 2^(r-1) has to be a word.
                let most = (last - (1i64 << (scale - 1))) / low_constant(m, shift, scale).max(1);
                let ends = [-i128::from(most) << shift, (i128::from(most + 1) << shift) - 1];
                ends.map(|end| end.clamp(first.into(), last.into()) as i64).into()
            }
            ReduceMethod::BarrettExact { scale } => {
                let (v, half) = exact_constants(m, scale);
                let most = (last - half) / v.max(1);
                (-most, most)
            }
            _ => (first, last),
        }
    }

    /// The result for one word.
    pub fn apply(self, a: i64, m: impl Into<Modulus>) -> i64 {
        self.visit(m, At(a))
    }

    /// The largest magnitudes that it gives of words of 16 bits within 0, 1, ….
    pub(crate) fn largest(self, m: Modulus) -> Vec<i64> {
        self.visit(m, Largest)
    }

    /// Shows the visitor the function of one word, its constants computed.
    pub(super) fn visit<V: Visitor>(self, m: impl Into<Modulus>, visitor: V) -> V::Out {
        match m.into() {
            Modulus { q, bits: 16 } => self.visit_sized(Modulus { q, bits: 16 }, visitor),
            Modulus { q, bits: 32 } => self.visit_sized(Modulus { q, bits: 32 }, visitor),
            Modulus { q, .. } => self.visit_sized(Modulus { q, bits: 64 }, visitor),
        }
    }

    /// The same; inlined, so that the size of words is a constant of each loop.
    #[inline(always)]
    fn visit_sized<V: Visitor>(self, m: Modulus, visitor: V) -> V::Out {
        let q = m.signed();
        let rest = |a: i64, t: i64| m.word(a.wrapping_sub(m.mul_lo(t, q)));
        match self {
            ReduceMethod::Barrett => {
                let v = round_div(1 << (m.bits - 1), q);
                visitor.visit(|a| rest(a, m.mul_hrs(a, v)))
            }
            ReduceMethod::Crude => {
                let k = m.q.ilog2();
                visitor.visit(|a| rest(a, (a >> k) + i64::from(a < 0)))
            }
            ReduceMethod::BarrettHigh | ReduceMethod::BarrettWide => {
                let (v, s) = high_constants(m);
                visitor.visit(|a| rest(a, m.word(m.mul_hi(a, v) + (1 << (s - 1))) >> s))
            }
            ReduceMethod::BarrettLow { shift, scale } => {
                let v = low_constant(m, shift, scale);
                let half = 1i64 << (scale - 1);
                visitor
                    .visit(|a| rest(a, m.word(m.mul_lo(a >> shift, v).wrapping_add(half)) >> scale))
            }
            ReduceMethod::BarrettExact { scale } => {
                let (v, half) = exact_constants(m, scale);
                visitor.visit(|a| rest(a, m.word(m.mul_lo(a, v).wrapping_add(half)) >> scale))
            }
            ReduceMethod::Floor => {
                let (v, k) = floor_constants(m);
                visitor.visit(|a| rest(a, m.mul_hi(a, v) >> k))
            }
            ReduceMethod::Ceiling => {
                let (v, k) = floor_constants(m);
                visitor.visit(|a| rest(a, -(m.mul_hi(a, -v) >> k)))
            }
            ReduceMethod::Folded => match folded_shifts(m.q) {
                Some((k, j)) => visitor.visit(|a| {
                    let t = a >> k;
                    m.word((a & ((1 << k) - 1)) - t + (t << j))
                }),
                None => visitor.visit(|a| a),
            },
            ReduceMethod::RoundedShift => {
                let k = rounding_shift(m.q);
                visitor.visit(|a| rest(a, m.word(a + (1 << (k - 1))) >> k))
            }
            ReduceMethod::BarrettShifts => {
                let shifts = Shifts::of(m);
                visitor.visit(|a| {
                    rest(a, m.word(shifts.scaled(a).wrapping_add(shifts.half())) >> shifts.down)
                })
            }
            ReduceMethod::Montgomery | ReduceMethod::MontgomeryWide => {
                let (b, b2) = mul_constants(MulMethod::Montgomery, 1, m);
                let (b, b2) = (i64::from(b), i64::from(b2));
                visitor.visit(|a| MulMethod::Montgomery.with_constants(a, b, b2, m))
            }
            ReduceMethod::Plantard => {
                let (b, b2) = mul_constants(MulMethod::Plantard, 1, m);
                let (b, b2) = (i64::from(b), i64::from(b2));
                visitor.visit(|a| MulMethod::Plantard.with_constants(a, b, b2, m))
            }
        }
    }

    /// The [`ReduceMethod::BarrettLow`] that brings words of 32 bits within `bound` nearest to q/2,
    /// and how near; q is at most 2^16.
    ///
    /// If `coarse`, the quotient is a function of the word where the word is below 2^19. Larger
    /// words enter by their upper bits, above those where Montgomery's reduction takes its half.
    /// What the prover cannot follow in one of these ways, it often can in the other.
    ///
    /// If not `coarse`, no quotient is a single division by 2^16 or less, or begins with a division
    /// by 2^8. In a sum of products, the prover would take such a quotient for the upper half of
    /// Montgomery's reduction.
    ///
    /// ```
    /// use ringforge_program::method::ReduceMethod;
    /// let (_, near) = ReduceMethod::low(3329, 1 << 20, false);
    /// assert!((1664..=1664 + 64).contains(&near));
    /// assert!(ReduceMethod::low(65535, i64::from(i32::MAX), false).1 < 1 << 17);
    /// assert!(ReduceMethod::low(65535, i64::from(i32::MAX), true).1 < 1 << 18);
    /// ```
    pub fn low(q: u64, bound: i64, coarse: bool) -> (ReduceMethod, i64) {
        let m = Modulus { q, bits: 32 };
        let half = |shift, scale| match shift {
            0 => scale <= 2 * BYTE,
            _ => shift == BYTE,
        };
        let nearest = |shifts: std::ops::Range<u8>| {
            let choices = shifts.flat_map(|shift| (1..31).map(move |scale| (shift, scale)));
            let choices = choices.filter(|&(shift, scale)| coarse || !half(shift, scale));
            ReduceMethod::nearest(m, bound, choices)
        };
        let found = match coarse {
            _ if bound < 1 << 19 => nearest(0..1),
            true => nearest(17..20),
            false => None,
        };
        found.or_else(|| nearest(0..16)).unwrap_or((ReduceMethod::BarrettHigh, bound))
    }

    /// The [`ReduceMethod::BarrettLow`] that leaves least of a sum within `bound` in words of 64 bits, and what it
    /// leaves at most; nothing where none accepts all such sums. By 16 it does not shift, either.
    pub fn of_sums(q: u64, bound: i64) -> Option<(ReduceMethod, i64)> {
        let shifts = (0..20).filter(|shift| *shift != 2 * BYTE);
        let choices = shifts.flat_map(|shift| (1..32).map(move |scale| (shift, scale)));
        ReduceMethod::nearest(Modulus { q, bits: 64 }, bound, choices)
    }

    /// The [`ReduceMethod::BarrettLow`] whose quotient sees the whole word, and that leaves least of words of `bits` bits
    /// within `bound`; nothing where none accepts all such words.
    ///
    /// ```
    /// use ringforge_program::method::ReduceMethod;
    /// let (_, far) = ReduceMethod::alone(60847, 64, 1 << 37).unwrap();
    /// let (_, near) = ReduceMethod::alone(60847, 32, far).unwrap();
    /// assert!(far > 60847 && near < 60847);
    /// ```
    pub fn alone(q: u64, bits: u8, bound: i64) -> Option<(ReduceMethod, i64)> {
        let choices = (1..32).map(|scale| (0, scale));
        ReduceMethod::nearest(Modulus { q, bits }, bound, choices)
    }

    /// The [`ReduceMethod::BarrettExact`] of the least scale from 17 to 31 that leaves the
    /// canonical residue of all words of `bits` bits within `bound`. `None` if no scale does. For
    /// 64 bits, one does if q times the bound is below 2^30.
    ///
    /// ```
    /// use ringforge_program::method::{Modulus, ReduceMethod};
    /// let method = ReduceMethod::exact(212, 64, 1 << 22).unwrap();
    /// let m = Modulus { q: 212, bits: 64 };
    /// assert_eq!(method.range((-(1 << 22), 1 << 22), m), (-106, 105));
    /// assert_eq!(ReduceMethod::exact(60847, 64, 1 << 37), None);
    /// ```
    pub fn exact(q: u64, bits: u8, bound: i64) -> Option<ReduceMethod> {
        let m = Modulus { q, bits };
        // The prover takes quotients by 2^16 for upper halves of products, and those by less are not known modulo 2^16 once
        // a compiler shifts words of 32 bits without sign. Constants of a program have 32 bits.
        (17..bits.min(32)).map(|scale| ReduceMethod::BarrettExact { scale }).find(|method| {
            let (lo, hi) = method.range((-bound, bound), m);
            -(q as i64 / 2) <= lo && hi <= (q as i64 - 1) / 2
        })
    }

    /// Of the low reductions with these shifts and scales the one that leaves least of words within `bound`.
    fn nearest(
        m: Modulus,
        bound: i64,
        choices: impl Iterator<Item = (u8, u8)>,
    ) -> Option<(ReduceMethod, i64)> {
        let bounds = choices.filter_map(|(shift, scale)| {
            // Constants of a program have 32 bits, the half that rounds as well.
            i32::try_from(low_constant(m, shift, scale)).ok()?;
            let method = ReduceMethod::BarrettLow { shift, scale };
            let (lo, hi) = method.domain(m);
            if bound > hi || -bound < lo {
                return None;
            }
            let (lo, hi) = low_range(m, shift, scale, (-bound, bound));
            Some((method, hi.max(-lo)))
        });
        bounds.min_by_key(|choice| choice.1)
    }

    /// The exact range of the result over an interval of words (for the Montgomery methods on
    /// words of 32 bits, bounds).
    pub fn range(self, a: Range, m: impl Into<Modulus>) -> Range {
        let m = m.into();
        match self {
            _ if m.bits == 16 => self.visit(m, Image(a, m)),
            ReduceMethod::BarrettLow { shift, scale } => {
                let domain = self.domain(m);
                match domain.0 <= a.0 && a.1 <= domain.1 {
                    true => low_range(m, shift, scale, a),
                    false => m.words(),
                }
            }
            ReduceMethod::BarrettExact { scale } => {
                let domain = self.domain(m);
                match domain.0 <= a.0 && a.1 <= domain.1 {
                    true => exact_range(m, scale, a),
                    false => m.words(),
                }
            }
            ReduceMethod::Montgomery | ReduceMethod::MontgomeryWide => {
                MulMethod::Montgomery.range(a, 1, m)
            }
            _ => self.visit(m, Steps(a)),
        }
    }
}

/// The image of an interval for a function `a - t·q` (or one that is congruent and as steep)
/// whose quotient t never falls as a grows: extremes lie where t changes.
struct Steps(Range);

impl Visitor for Steps {
    type Out = Range;
    fn visit(self, f: impl Fn(i64) -> i64 + Sync) -> Range {
        let Steps((mut x, last)) = self;
        let mut found = (i64::MAX, i64::MIN);
        while x <= last {
            let y = f(x);
            let same = |d: i64| x + d <= last && f(x + d) - y == d;
            let (mut inside, mut step) = (0, 1);
            while same(inside + step) {
                inside += step;
                step *= 2;
            }
            while step > 1 {
                step /= 2;
                inside += if same(inside + step) { step } else { 0 };
            }
            found = (found.0.min(y), found.1.max(y + inside));
            x += inside + 1;
        }
        found
    }
}

/// Multiplier and shift of [`ReduceMethod::BarrettHigh`].
pub(crate) fn high_constants(m: Modulus) -> (i64, u8) {
    let multiplier = |s: u8| round_div(1i128 << (m.bits + s), m.signed());
    let mut s = 1;
    while s < m.bits - 1 && multiplier(s + 1) < m.radix() / 2 {
        s += 1;
    }
    (multiplier(s), s)
}

/// Multiplier of [`ReduceMethod::BarrettLow`].
pub(crate) fn low_constant(m: Modulus, shift: u8, scale: u8) -> i64 {
    round_div(1i128 << (shift + scale), m.signed())
}

/// Bounds of what [`ReduceMethod::BarrettLow`] leaves of words in its domain: with a = 2^s·t + e and
/// what rounding takes, 0 ≤ ρ < 2^r, 2^r times it is t·(2^(s+r) − q·v) + 2^r·e − q·2^(r−1) + q·ρ.
fn low_range(m: Modulus, shift: u8, scale: u8, a: Range) -> Range {
    let (q, unit) = (i128::from(m.q), 1i128 << scale);
    let slope = (unit << shift) - q * i128::from(low_constant(m, shift, scale));
    let ends = [a.0, a.1].map(|a| i128::from(a >> shift) * slope);
    let lo = ends[0].min(ends[1]) - q * (unit / 2);
    let hi = ends[0].max(ends[1]) + unit * ((1 << shift) - 1) + q * (unit / 2 - 1);
    ((-(-lo).div_euclid(unit)) as i64, hi.div_euclid(unit) as i64)
}

/// Multiplier v of [`ReduceMethod::BarrettExact`], and h.
pub(crate) fn exact_constants(m: Modulus, scale: u8) -> (i64, i64) {
    let v = low_constant(m, 0, scale);
    (v, (1i64 << (scale - 1)) + if m.q.is_multiple_of(2) { v / 2 } else { 0 })
}

/// Bounds of what [`ReduceMethod::BarrettExact`] leaves of words in its domain: with what rounding takes, 0 ≤ ρ < 2^r,
/// 2^r times it is a·(2^r − q·v) − q·h + q·ρ.
fn exact_range(m: Modulus, scale: u8, a: Range) -> Range {
    let (q, unit) = (i128::from(m.q), 1i128 << scale);
    let (v, half) = exact_constants(m, scale);
    let slope = unit - q * i128::from(v);
    let ends = [a.0, a.1].map(|a| i128::from(a) * slope - q * i128::from(half));
    let (lo, hi) = (ends[0].min(ends[1]), ends[0].max(ends[1]) + q * (unit - 1));
    ((-(-lo).div_euclid(unit)) as i64, hi.div_euclid(unit) as i64)
}

/// Multiplier and shift of [`ReduceMethod::Floor`].
pub(crate) fn floor_constants(m: Modulus) -> (i64, u8) {
    let k = m.q.ilog2() as u8 - 1;
    ((1i128 << (m.bits + k)).div_euclid(m.q.into()) as i64, k)
}

/// k and j with `q = 2^k - 2^j + 1`, `k > j > 0`, if there are such.
pub(crate) fn folded_shifts(q: u64) -> Option<(u8, u8)> {
    let j = (q - 1).trailing_zeros();
    let ones = ((q - 1) >> j) + 1;
    (q > 2 && ones.is_power_of_two()).then(|| ((j + ones.ilog2()) as u8, j as u8))
}

/// The constant of [`ReduceMethod::BarrettShifts`]: 2^-down, or 2^-down(1 ± 2^-by).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shifts {
    /// At least 1.
    pub down: u8,
    /// By how much the second term is less, and whether it is taken away.
    pub second: Option<(u8, bool)>,
}

impl Shifts {
    /// The one next to 1/q; of two that are as near, the one with fewer terms.
    pub fn of(m: Modulus) -> Shifts {
        let k = m.q.ilog2() as u8;
        let signs = |down: u8| (1..8).flat_map(move |by| [(down, by, true), (down, by, false)]);
        let two = [k, k + 1].into_iter().flat_map(signs);
        let two = two.map(|(down, by, minus)| Shifts { down, second: Some((by, minus)) });
        let all = [k, k + 1].into_iter().map(|down| Shifts { down, second: None }).chain(two);
        let usable = all.filter(|shifts| (1..m.bits - 1).contains(&shifts.down));
        // |1 - q·2^-down(1 ± 2^-by)| in parts of 2^-(down + 8), down at most 63.
        let far = |shifts: &Shifts| {
            let one = i128::from(m.q) << 8;
            let second =
                shifts.second.map_or(0, |(by, minus)| if minus { -(one >> by) } else { one >> by });
            ((one + second - (256i128 << shifts.down)).abs() << 64) >> shifts.down
        };
        usable.min_by_key(far).unwrap_or(Shifts { down: 1, second: None })
    }

    /// The word times 1 ± 2^-by.
    pub fn scaled(self, a: i64) -> i64 {
        match self.second {
            None => a,
            Some((by, true)) => a.wrapping_sub(a >> by),
            Some((by, false)) => a.wrapping_add(a >> by),
        }
    }

    /// What rounds.
    pub fn half(self) -> i64 {
        1 << (self.down - 1)
    }

    /// The words whose scaled ones have room for what rounds.
    fn domain(self, m: Modulus) -> Range {
        let (first, last) = m.words();
        let scaled = |a: i64| {
            let part = self.second.map_or(0, |(by, minus)| {
                if minus { -i128::from(a >> by) } else { i128::from(a >> by) }
            });
            i128::from(a) + part
        };
        // Scaling keeps the order of words.
        let farthest = |end: i64, fits: &dyn Fn(i64) -> bool| {
            let (mut good, mut bad) = (0i64, end);
            if fits(end) {
                return end;
            }
            while (bad - good).abs() > 1 {
                let middle = good + (bad - good) / 2;
                *(if fits(middle) { &mut good } else { &mut bad }) = middle;
            }
            good
        };
        let above = i128::from(last) - i128::from(self.half());
        (
            farthest(first, &|a| scaled(a) >= i128::from(first)),
            farthest(last, &|a| scaled(a) <= above),
        )
    }
}

/// k with 2^k next to q.
pub(crate) fn rounding_shift(q: u64) -> u8 {
    let k = q.ilog2() as u8;
    if (2 << k) - q < q - (1 << k) { k + 1 } else { k }
}
