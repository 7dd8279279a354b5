//! Every reduction primitive that a modulus has, with a proof by exhaustion.
//!
//! There is no lemma: a function of one word of w bits has 2^w cases, and all of them are taken. A
//! Montgomery reduction of a double word h·2^w + l is h plus a function of l alone, because h and l
//! are separate operands of its operations. So 2^w cases are all of its cases too.

use super::*;
use crate::ir::{Block, Factor, Op, Procedure, Program, Stmt, Value};
use ringforge_targets::Registers;

/// One way to reduce, or to multiply and reduce, modulo one number in words of one size.
#[derive(Clone, Debug)]
pub struct Primitive {
    /// What it is called in schedules, such as `barrett-high`.
    pub name: String,
    /// What it does, for people.
    pub what: &'static str,
    /// Where it comes from, keys of the bibliography.
    pub citation: &'static str,
    /// Word operations, without constants.
    pub operations: usize,
    /// The inputs that it accepts.
    pub domain: Range,
    /// The results for all of them.
    pub range: Range,
    /// The result is congruent to this residue times the input (times the constant, if it
    /// multiplies by one).
    pub factor: u64,
    modulus: Modulus,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Reduce(ReduceMethod),
    Freeze(FreezeMethod),
    Narrow(NarrowMethod),
    Multiply(MulMethod),
}

/// A primitive keeps what it promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Cases taken, all that there are.
    pub cases: u64,
    /// The smallest and largest result.
    pub range: Range,
}

/// A primitive does not keep what it promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {input} gives {result}, which {reason}")]
pub struct Refuted {
    /// The primitive.
    pub name: String,
    /// The first input that fails.
    pub input: i64,
    /// Its result.
    pub result: i64,
    /// Why that is wrong.
    pub reason: &'static str,
}

/// The primitives of a modulus in words of `bits` bits, those that it lacks the shape for left
/// out.
pub fn primitives(q: u64, bits: u8) -> Vec<Primitive> {
    let m = Modulus { q, bits };
    let mut all = Vec::new();
    use ReduceMethod::*;
    for (method, what, citation) in [
        (Barrett, "Barrett with a rounded product", "[Barrett86; Chiu25 §2.2.1]"),
        (BarrettHigh, "Barrett with a high product, rounded", "[Barrett86]"),
        (Floor, "general reduction, rounding down", "[Seiler18 §3.3, Algorithm 5]"),
        (Ceiling, "general reduction, rounding up", "[Seiler18 §3.3]"),
        (Folded, "specialised to 2^k - 2^j + 1", "[Seiler18 §3.2, Algorithm 4]"),
        (RoundedShift, "quotient by a rounded shift", "[Barrett86]"),
        (Crude, "quotient by truncation", "[Chiu25 §3.4.2, Algorithm 2]"),
        (Montgomery, "Montgomery product by one", "[Seiler18 §3.1]"),
    ] {
        if method.missing(m).is_none() {
            let domain = method.domain(m);
            let range = method.range(domain, m);
            all.push(primitive(Kind::Reduce(method), what, citation, domain, range, 1, m));
        }
    }
    let half = (m.signed() - 1) / 2;
    for (method, what) in [
        (FreezeMethod::Minimum, "canonical residue by two minima"),
        (FreezeMethod::Montgomery, "canonical residue by Montgomery"),
    ] {
        let citation = if method == FreezeMethod::Minimum { "" } else { "[Montgomery85, p. 519]" };
        let Ok(factor) = method.scale(m) else { continue };
        let (domain, factor) = (method.domain(m), factor.value());
        let domain = (domain.0.max(m.words().0), domain.1.min(m.words().1));
        all.push(primitive(Kind::Freeze(method), what, citation, domain, (-half, half), factor, m));
    }
    let wide = m.signed() * (m.radix() / 2);
    let (_, s) = barrett_constants(m);
    let narrowings = [
        (
            NarrowMethod::Montgomery,
            "Montgomery reduction of a double word",
            "[Seiler18 §3.1, Algorithm 3]",
            (-wide, wide - 1),
        ),
        (
            NarrowMethod::Barrett,
            "Barrett reduction of a double word",
            "[Barrett86]",
            (-(1 << (s + bits - 1)), (1 << (s + bits - 1)) - 1),
        ),
    ];
    for (method, what, citation, domain) in narrowings {
        let works = method == NarrowMethod::Montgomery || bits == 16;
        if let Some(range) = method.range(domain, m).filter(|_| works) {
            let Ok(factor) = method.scale(m) else { continue };
            let factor = factor.value();
            all.push(primitive(Kind::Narrow(method), what, citation, domain, range, factor, m));
        }
    }
    let (largest, barrett) = (m.signed() - 1, m.signed());
    for (method, what, citation, most) in [
        (MulMethod::Montgomery, "Montgomery product by a constant", "[Seiler18 §3.1]", largest),
        (MulMethod::Barrett, "Barrett product by a constant", "[Chiu25 §2.2.1]", barrett),
    ] {
        if bits == 16 {
            let kind = Kind::Multiply(method);
            all.push(primitive(kind, what, citation, m.words(), (-most, most), 1, m));
        }
    }
    all
}

fn primitive(
    kind: Kind,
    what: &'static str,
    citation: &'static str,
    domain: Range,
    range: Range,
    factor: u64,
    modulus: Modulus,
) -> Primitive {
    let a = Value(0);
    let (op, method) = match kind {
        Kind::Reduce(method) => (Op::Reduce { a, method }, format!("{method:?}")),
        Kind::Freeze(method) => (Op::Freeze { a, method }, format!("freeze {method:?}")),
        Kind::Narrow(method) => {
            (Op::Narrow { even: a, odd: a, method }, format!("narrow {method:?}"))
        }
        Kind::Multiply(method) => {
            // A factor whose two constants are no other constant's.
            (Op::MulMod { a, factor: Factor::Splat(5), method }, format!("multiply {method:?}"))
        }
    };
    let mut name = String::new();
    for (i, c) in method.char_indices() {
        if c.is_uppercase() && i > 0 && !name.ends_with(' ') {
            name.push('-');
        }
        name.extend(c.to_lowercase());
    }
    let operations = operations(op, modulus);
    Primitive { name, what, citation, operations, domain, range, factor, modulus, kind }
}

/// How many word operations the expansion of one operation has.
fn operations(op: Op, m: Modulus) -> usize {
    let block = Block { ops: vec![Op::Splat(0), op] };
    let program = Program {
        name: String::new(),
        ring: String::new(),
        q: m.q,
        word_bits: m.bits,
        // A count of operations is that of any register.
        registers: Registers { bits: usize::from(m.bits) * 2, part: usize::from(m.bits) * 2 },
        transform: None,
        plan: String::new(),
        schedule: String::new(),
        in_order: 0,
        loops: false,
        procedures: vec![Procedure {
            name: String::new(),
            exported: false,
            computes: None,
            copies: 1,
            q: m.q,
            bits: m.bits,
            buffers: Vec::new(),
            body: vec![Stmt::Block(block)],
        }],
    };
    let count = |stmt: &Stmt| match stmt {
        Stmt::Block(block) => block.ops.iter().filter(|op| !matches!(op, Op::Splat(_))).count(),
        _ => 0,
    };
    program.expand().procedures[0].body.iter().map(count).sum()
}

impl Primitive {
    /// Takes every case of the whole domain: each result is congruent to `factor` times the input
    /// and in `range`.
    ///
    /// # Errors
    /// The first case that is not so.
    pub fn verify(&self) -> Result<Verified, Refuted> {
        let m = self.modulus;
        match self.kind {
            Kind::Reduce(method) => method.visit(m, Every(self)),
            Kind::Freeze(method) => method.visit(m, Every(self)),
            Kind::Narrow(NarrowMethod::Montgomery) => self.verify_halves(),
            Kind::Narrow(method) => method.visit(m, Every(self)),
            Kind::Multiply(method) => {
                let mut all = Verified { cases: 0, range: (i64::MAX, i64::MIN) };
                for c in 0..m.q {
                    let (b, b2) = mul_constants(method, c, m);
                    let (b, b2) = (b.into(), b2.into());
                    let check = Check::new(self, c);
                    let one = check.every(self.domain, &|a| method.with_constants(a, b, b2, m))?;
                    all.cases += one.cases;
                    all.range = hull(all.range, one.range);
                }
                Ok(all)
            }
        }
    }

    /// Double words by their low halves: the high half is added as it is.
    fn verify_halves(&self) -> Result<Verified, Refuted> {
        let m = self.modulus;
        let (first, last) = (self.domain.0 >> m.bits, self.domain.1 >> m.bits);
        let inverse = inverse_word(m);
        let check = Check::new(self, 1);
        let found = check.parallel((0, m.radix() - 1), &|range: Range| {
            let mut found = (i64::MAX, i64::MIN);
            for low in range.0..=range.1 {
                let rest = m.mul_hi(m.mul_lo(m.word(low), inverse), m.signed());
                // Those in the domain with the least and the greatest high half.
                for high in [first, first + 1, last - 1, last] {
                    let x = (high << m.bits) + low;
                    if self.domain.0 <= x && x <= self.domain.1 {
                        check.one(x, high - rest)?;
                        found = hull(found, (high - rest, high - rest));
                    }
                }
            }
            Ok(found)
        })?;
        Ok(Verified { cases: m.radix() as u64, range: found })
    }
}

/// Verifies a primitive that is a function of one word or double word.
struct Every<'a>(&'a Primitive);

impl Visitor for Every<'_> {
    type Out = Result<Verified, Refuted>;
    fn visit(self, f: impl Fn(i64) -> i64 + Sync) -> Self::Out {
        Check::new(self.0, 1).every(self.0.domain, &f)
    }
}

fn hull(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// Whether `scale·y - constant·x` is a multiple of q, without a division.
struct Check<'a> {
    primitive: &'a Primitive,
    /// What y is multiplied by: 1, or 2^w where the factor is its inverse.
    scale: i64,
    constant: i64,
    /// 1/q mod 2^64.
    inverse: i64,
    /// The largest quotient of 64 bits.
    most: i64,
}

impl<'a> Check<'a> {
    fn new(primitive: &'a Primitive, constant: u64) -> Check<'a> {
        let m = primitive.modulus;
        let q = m.signed();
        let inverse = (0..7).fold(1i64, |x, _| x.wrapping_mul(2 - q.wrapping_mul(x)));
        let montgomery = primitive.factor != 1;
        let scale = if montgomery { m.radix() % q } else { 1 };
        Check { primitive, scale, constant: constant as i64, inverse, most: i64::MAX / q }
    }

    /// Whether the result is congruent.
    #[inline(always)]
    fn congruent(&self, x: i64, y: i64) -> bool {
        // Magnitudes stay below 2^63: |x| < 2^62 where the constant is 1, both < 2^31 elsewhere.
        let off = self.scale * y - self.constant * x;
        let quotient = off.wrapping_mul(self.inverse);
        quotient.wrapping_add(self.most) as u64 <= 2 * self.most as u64
    }

    fn one(&self, x: i64, y: i64) -> Result<(), Refuted> {
        let (lo, hi) = self.primitive.range;
        let reason = match self.congruent(x, y) {
            false => "is not congruent",
            true if y < lo || y > hi => "leaves the range",
            true => return Ok(()),
        };
        Err(Refuted { name: self.primitive.name.clone(), input: x, result: y, reason })
    }

    fn every(&self, domain: Range, f: &(impl Fn(i64) -> i64 + Sync)) -> Result<Verified, Refuted> {
        let one = |range: Range| {
            let (mut found, mut right) = ((i64::MAX, i64::MIN), true);
            for x in range.0..=range.1 {
                let y = f(x);
                right &= self.congruent(x, y);
                found = hull(found, (y, y));
            }
            let (lo, hi) = self.primitive.range;
            if !right || found.0 < lo || found.1 > hi {
                (range.0..=range.1).try_for_each(|x| self.one(x, f(x)))?;
            }
            Ok(found)
        };
        let cases = (domain.1 - domain.0 + 1) as u64;
        // Threads cost more than so few cases.
        let range = if cases <= 1 << 16 { one(domain)? } else { self.parallel(domain, &one)? };
        Ok(Verified { cases, range })
    }

    /// Does an interval in as many pieces as there are processors.
    fn parallel(
        &self,
        domain: Range,
        one: &(impl Fn(Range) -> Result<Range, Refuted> + Sync),
    ) -> Result<Range, Refuted> {
        let pieces = std::thread::available_parallelism().map_or(1, |n| n.get() as i64);
        let step = (domain.1 - domain.0) / pieces + 1;
        let found: Vec<Result<Range, Refuted>> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..pieces)
                .map(|i| {
                    let from = domain.0 + i * step;
                    let to = (from + step - 1).min(domain.1);
                    scope.spawn(move || one((from, to)))
                })
                .collect();
            all.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        assert_eq!(found.len() as i64, pieces, "every thread has come to its end");
        found.into_iter().try_fold((i64::MAX, i64::MIN), |r, found| Ok(hull(r, found?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(q: u64, bits: u8) {
        let found = primitives(q, bits);
        assert!(found.len() >= 9, "{}", found.len());
        for primitive in &found {
            // Hundreds of millions of cases: for the command, and for optimised tests of one q.
            let many = matches!(primitive.kind, Kind::Multiply(_))
                || matches!(primitive.kind, Kind::Narrow(NarrowMethod::Barrett));
            if many && (cfg!(debug_assertions) || q != 3329) {
                continue;
            }
            let verified = primitive.verify().unwrap_or_else(|e| panic!("mod {q}: {e}"));
            let montgomery = matches!(primitive.kind, Kind::Reduce(ReduceMethod::Montgomery));
            let bound = matches!(primitive.kind, Kind::Multiply(_)) || bits == 32 && montgomery;
            assert!(bound || verified.range == primitive.range, "{primitive:?}: {verified:?}");
        }
    }

    #[test]
    fn words_of_16_bits() {
        for q in [3329, 7681, 12289] {
            all(q, 16);
        }
        let lacks = |q| primitives(q, 16).iter().all(|p| p.name != "folded");
        assert!(lacks(3329) && !lacks(7681) && !lacks(12289));
    }

    #[test]
    #[ignore = "by hand: 2^32 cases for each of ten primitives take two minutes of processor time, optimised"]
    fn by_hand_words_of_32_bits() {
        all(8380417, 32);
    }

    #[test]
    fn a_wrong_promise_is_refuted_with_an_input() {
        let find = |name: &str| primitives(7681, 16).into_iter().find(|p| p.name == name).unwrap();
        // [Seiler18 §3.3, Lemma 4] promises [0, q]; for this q two words leave it by one.
        let mut floor = find("floor");
        assert_eq!((floor.range, floor.operations), ((-1, 7682), 4));
        floor.range = (0, 7681);
        let refuted = floor.verify().unwrap_err();
        assert_eq!((refuted.input, refuted.result), (-30725, -1));
        assert_eq!(refuted.reason, "leaves the range");
        assert_eq!(find("ceiling").range, (-7682, 1));
        let mut folded = find("folded");
        let bounds = (-(1 << 15) + 4 * 7681, (1 << 15) - 1 - 3 * 7681);
        assert_eq!((folded.range, folded.operations), (bounds, 5), "[Seiler18 §3.2, Lemma 3]");
        folded.factor = 2;
        folded.kind = Kind::Reduce(ReduceMethod::Floor);
        folded.range = (-40000, 40000);
        assert_eq!(folded.verify().unwrap_err().reason, "is not congruent");
    }
}
