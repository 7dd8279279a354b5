//! Sequences of operations on words that take few instructions if both halves of a word are
//! multiplied separately. The result is the same word for word.

use super::block::uses;
use ringforge_program::ir::*;
use ringforge_ring::zq;
use std::collections::{HashMap, HashSet};

/// What a sequence comes to.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A Montgomery product: `mulhi(a, b) - mulhi(t, q)` with `t = mullo(a, over_q)`. The low
    /// halves of `a·b` and `t·q` are equal, so the difference of the high halves is the high half
    /// of the difference. The sequence is taken only if `over_q·q` is seen to be b mod 2^16.
    Montgomery {
        /// The factors.
        a: Value,
        b: Value,
        over_q: Value,
    },
    /// Plantard's product. With `t = mullo(a, high) + mulhi(a, low)`, the upper half of a times a
    /// word of 32 bits, it is `mulhi(t + 2, q)` or `mulhi(t, q) - sar(mullo(t, q), 15)`. The second
    /// form is the high half of `t·q + 2^15`.
    Plantard {
        /// The factor, and the halves of the word.
        a: Value,
        low: Value,
        high: Value,
        /// Whether it is the second form.
        rounds: bool,
    },
    /// Montgomery's reduction of elements of 32 bits: the high halves of `x - t·q` with
    /// `t = x·inverse mod 2^16`. The low halves are zero.
    Narrow {
        /// The elements that become even words and odd ones.
        even: Value,
        odd: Value,
        inverse: i32,
    },
}

/// A sequence whose steps nothing else reads.
#[derive(Clone)]
pub struct Fused {
    pub kind: Kind,
    pub q: i32,
    /// Its steps before the last one.
    steps: Vec<Value>,
}

/// The sequences of a block by their last operation, and their steps before that.
pub struct All {
    pub last: Vec<Option<Fused>>,
    pub steps: HashSet<Value>,
}

/// Whether two words of `bits` bits are equal.
fn equal(x: i32, y: i32, bits: u8) -> bool {
    (x ^ y) << (32 - bits) == 0
}

impl All {
    /// The sequences of a block over `lanes` lanes.
    pub fn of(block: &Block, buffers: &[Buffer], lanes: usize, bits: u8) -> All {
        let ops = &block.ops;
        let uses = uses(block);
        let found = |op: &Op| {
            let fused = montgomery(op, ops, buffers, (lanes, bits))
                .or_else(|| plantard(op, ops, buffers, lanes));
            let fused = fused.or_else(|| narrow(op, ops))?;
            // The quotient of Plantard's is read twice, by its own steps.
            let within = |v: &Value| {
                let by = fused.steps.iter().map(|s| &ops[s.0 as usize]).chain([op]);
                by.flat_map(Op::operands).filter(|read| read == v).count() as u32
            };
            fused.steps.iter().all(|v| within(v) == uses[v.0 as usize]).then_some(fused)
        };
        let last: Vec<_> = ops.iter().map(found).collect();
        let steps = last.iter().flatten().flat_map(|fused| fused.steps.iter().copied()).collect();
        All { last, steps }
    }

    /// The words of Plantard's products that nothing else reads.
    pub fn constants(&self, block: &Block) -> HashSet<Value> {
        let read = self.last.iter().flatten().flat_map(|fused| match fused.kind {
            Kind::Plantard { low, high, .. } => vec![low, high],
            _ => Vec::new(),
        });
        let mut all: HashMap<Value, u32> = HashMap::new();
        read.for_each(|v| *all.entry(v).or_default() += 1);
        let uses = uses(block);
        all.into_iter().filter(|(v, read)| uses[v.0 as usize] == *read).map(|(v, _)| v).collect()
    }
}

fn splat(v: Value, ops: &[Op]) -> Option<i32> {
    match ops[v.0 as usize] {
        Op::Splat(word) => Some(word),
        _ => None,
    }
}

fn montgomery(
    op: &Op,
    ops: &[Op],
    buffers: &[Buffer],
    (lanes, bits): (usize, u8),
) -> Option<Fused> {
    let of = |v: Value| &ops[v.0 as usize];
    let equal = |x, y| equal(x, y, bits);
    let &Op::Sub(high, m) = op else { return None };
    let (&Op::MulHi(a, b), &Op::MulHi(t, q)) = (of(high), of(m)) else { return None };
    let (&Op::MulLo(same, over_q), &Op::Splat(q)) = (of(t), of(q)) else { return None };
    let over = match (of(over_q), of(b)) {
        (Op::Splat(x), Op::Splat(b)) => equal(x.wrapping_mul(q), *b),
        (Op::MulLo(x, inverse), _) if *x == b => match of(*inverse) {
            Op::Splat(inverse) => equal(inverse.wrapping_mul(q), 1),
            _ => false,
        },
        (over_q, b) => constants(over_q, buffers, lanes)
            .zip(constants(b, buffers, lanes))
            .is_some_and(|(x, b)| x.beside(&b, |x, b| equal(x.wrapping_mul(q), b))),
    };
    let kind = Kind::Montgomery { a, b, over_q };
    (over && same == a && q > 0).then_some(Fused { kind, q, steps: vec![high, m, t] })
}

fn plantard(op: &Op, ops: &[Op], buffers: &[Buffer], lanes: usize) -> Option<Fused> {
    let of = |v: Value| &ops[v.0 as usize];
    let (t, q, mut steps) = match *op {
        Op::MulHi(sum, q) => {
            let &Op::Add(t, two) = of(sum) else { return None };
            (t, q, splat(two, ops).filter(|two| *two == 2).map(|_| vec![sum, t])?)
        }
        Op::Sub(m, carry) => {
            let (&Op::MulHi(t, q), &Op::Sar(rest, 15)) = (of(m), of(carry)) else { return None };
            let &Op::MulLo(same, also) = of(rest) else { return None };
            (t, q, (same == t && also == q).then(|| vec![m, carry, rest, t])?)
        }
        _ => return None,
    };
    let &Op::Add(lower, upper) = of(t) else { return None };
    let (&Op::MulLo(a, high), &Op::MulHi(factor, low)) = (of(lower), of(upper)) else {
        return None;
    };
    steps.extend([lower, upper]);
    let one_word = |v: Value| {
        constants(of(v), buffers, lanes).is_some_and(|constants| constants.is_one_word())
    };
    let splats = splat(high, ops).is_some() && splat(low, ops).is_some();
    let right = factor == a && (splats || one_word(high) && one_word(low));
    let q = splat(q, ops).filter(|q| right && *q > 0)?;
    let rounds = matches!(op, Op::Sub(..));
    Some(Fused { kind: Kind::Plantard { a, low, high, rounds }, q, steps })
}

fn narrow(op: &Op, ops: &[Op]) -> Option<Fused> {
    let of = |v: Value| &ops[v.0 as usize];
    let &Op::Sub(hi, m) = op else { return None };
    let (&Op::Blend { a: down, b: odd, mask: 0xaa }, &Op::MulHi(t, q)) = (of(hi), of(m)) else {
        return None;
    };
    let (&Op::ShrWide(even, 16), &Op::MulLo(lo, inverse)) = (of(down), of(t)) else { return None };
    let &Op::Blend { a: low, b: up, mask: 0xaa } = of(lo) else { return None };
    let &Op::ShlWide(shifted, 16) = of(up) else { return None };
    let (q, inverse) = (splat(q, ops)?, splat(inverse, ops)?);
    let right = low == even && shifted == odd && equal(inverse.wrapping_mul(q), 1, 16) && q > 0;
    let steps = vec![hi, m, down, t, lo, up];
    right.then_some(Fused { kind: Kind::Narrow { even, odd, inverse }, q, steps })
}

/// Words of a table that a block reads.
struct Constants<'a> {
    words: &'a [i32],
    at: &'a Index,
    /// Words one after the other: a block's lanes, or 1 for all of them.
    count: i64,
}

/// What an operation reads, if that is constant.
fn constants<'a>(op: &'a Op, buffers: &'a [Buffer], lanes: usize) -> Option<Constants<'a>> {
    let (buffer, at, count) = match op {
        Op::Load { buffer, at } => (buffer, at, lanes as i64),
        Op::Broadcast { buffer, at } => (buffer, at, 1),
        _ => return None,
    };
    match &buffers[buffer.0 as usize].role {
        Role::Table(words) => Some(Constants { words, at, count }),
        _ => None,
    }
}

impl Constants<'_> {
    /// Whether the words that are read together are one word, in whatever turn.
    fn is_one_word(&self) -> bool {
        let step = self.step();
        // One turn reads from the base alone.
        let apart = if step == 0 { i64::MAX } else { step };
        let first = if step == 0 { self.at.base } else { self.at.base.rem_euclid(step) };
        let mut starts = (first..self.words.len() as i64).step_by(apart as usize);
        starts.all(|start| {
            let read = usize::try_from(start).ok().map(|start| start..start + self.count as usize);
            // Behind the table nothing is read.
            let read = read.and_then(|read| self.words.get(read));
            read.is_none_or(|words| words.iter().all(|word| *word == words[0]))
        })
    }

    /// The distance between the words that are read first in each turn, or a divisor of it; 0 for
    /// one turn.
    fn step(&self) -> i64 {
        self.at.terms.iter().fold(0, |step, term| zq::gcd(step, term.1.unsigned_abs())) as i64
    }

    /// Whether `holds` is true of every two words that are read in the same turn of the loops. Only
    /// the loops' strides count, not their bounds. So it may be asked about a word that no turn
    /// reads, but never misses one.
    fn beside(&self, other: &Constants, holds: impl Fn(i32, i32) -> bool) -> bool {
        if self.at.terms != other.at.terms || self.count != other.count {
            return false;
        }
        let step = self.step();
        let read = |at: i64| match step {
            0 => (0..self.count).contains(&at),
            _ => at.rem_euclid(step) < self.count,
        };
        self.words.iter().zip(0..).filter(|(_, at)| read(at - self.at.base)).all(|(word, at)| {
            let beside = usize::try_from(at - self.at.base + other.at.base).ok();
            let beside = beside.and_then(|at| other.words.get(at));
            beside.is_none_or(|beside| holds(*word, *beside))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of pairs of words, the second three times the first but for one of them.
    #[test]
    fn every_word_that_may_be_read_is_compared() {
        let words = [1, 3, 2, 6, 5, 16];
        let at = |base, step| Index { base, terms: vec![(LoopVar(0), step)] };
        let (first, second, off) = (at(0, 4), at(1, 4), at(1, 2));
        let read = |words, at, count| Constants { words, at, count };
        let thrice = |a: i32, b: i32| 3 * a == b;
        let even = at(0, 2);
        let (wrong, right) = (&words[..], &words[..4]);
        assert!(read(right, &even, 1).beside(&read(right, &off, 1), thrice));
        assert!(!read(wrong, &even, 1).beside(&read(wrong, &off, 1), thrice), "5 and 16");
        assert!(!read(right, &first, 2).beside(&read(right, &second, 2), thrice), "3 and 2");
        assert!(!read(right, &even, 1).beside(&read(right, &second, 1), thrice), "other strides");
    }
    /// Words that are the same in each turn of a loop, and tables where they are so in some turns.
    #[test]
    fn one_word_is_one_in_every_turn() {
        let words = [7, 7, 3, 3, 5, 5, 6, 8];
        let one = |base, step, count, length| {
            let terms = if step == 0 { vec![] } else { vec![(LoopVar(0), step)] };
            let at = Index { base, terms };
            Constants { words: &words[..length], at: &at, count }.is_one_word()
        };
        assert!(one(0, 2, 2, 6) && !one(0, 2, 2, 8) && !one(1, 2, 2, 6) && one(0, 2, 1, 8));
        assert!(one(2, 0, 2, 8) && !one(2, 0, 3, 8) && one(0, 8, 2, 8) && !one(6, 0, 2, 8));
    }
}
