//! A block as a loop over pairs of lanes: two words of 16 bits in one of 32, where the machine adds such pairs lane
//! by lane and multiplies their halves.

use super::Writer;
use super::block::{Bases, memory, uniform};
use ringforge_program::ir::*;
use ringforge_ring::zq;
use std::collections::HashSet;

/// What pairs need of a file: the products of both lanes, each two products and one that brings them together.
pub const PAIRS: &str = "
/* Two lanes of 16 bits, read and written as one word whatever they were stored as. */
typedef uint32_t lanes2 __attribute__((may_alias, aligned(2)));

/* A product of halves, or a pair of halves: gcc 12 has no intrinsics for them, and clang multiplies whole words
 * where the low half of the product is all that counts. */
#define HALVES(name, instruction)                                                            \\
    __attribute__((unused)) static inline uint32_t name(uint32_t a, uint32_t b)              \\
    {                                                                                        \\
        uint32_t c;                                                                          \\
        __asm__(instruction : \"=r\"(c) : \"r\"(a), \"r\"(b));                                   \\
        return c;                                                                            \\
    }
HALVES(bottoms, \"smulbb %0, %1, %2\")
HALVES(tops, \"smultt %0, %1, %2\")
HALVES(low_pair, \"pkhbt %0, %1, %2, lsl #16\")
HALVES(high_pair, \"pkhtb %0, %2, %1, asr #16\")

/* Loops of a few instructions: gcc 12 unrolls those that are marked, but for size, and clang finds them itself. */
#ifdef __clang__
#define SHORT_LOOP
#else
#define SHORT_LOOP _Pragma(\"GCC unroll 4\")
#endif

/* A product of low halves, added. */
__attribute__((unused)) static inline uint32_t bottoms_plus(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d;
    __asm__(\"smlabb %0, %1, %2, %3\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));
    return d;
}

/* The low halves of both lanes' products. */
__attribute__((unused)) static inline uint32_t low2(uint32_t a, uint32_t b)
{
    return low_pair(bottoms(a, b), tops(a, b));
}

/* Their high halves. */
__attribute__((unused)) static inline uint32_t high2(uint32_t a, uint32_t b)
{
    return high_pair(bottoms(a, b), tops(a, b));
}

/* Both lanes shifted to the right, which copies their signs. */
__attribute__((unused)) static inline uint32_t right2(uint32_t a, int k)
{
    return low_pair((uint32_t)((int32_t)(a << 16) >> (16 + k)), (uint32_t)((int32_t)a >> (16 + k)));
}

/* High halves of a * b - t * q where t = a * (b / q) and nothing is left of the low ones; minus is -q. */
__attribute__((unused)) static inline uint32_t montgomery2(uint32_t a, uint32_t b, uint32_t over_q,
                                                           uint32_t minus)
{
    return high_pair(bottoms_plus(bottoms(a, over_q), minus, bottoms(a, b)),
                     bottoms_plus(tops(a, over_q), minus, tops(a, b)));
}
";

/// Shifts to the left by more places than this are done lane by lane.
const STEPS: u8 = 4;

/// Lines of a loop's body up to which it is short.
const SHORT: usize = 40;

/// Both lanes times a word as sums, the last one of which is the product, where there are no more of them than
/// a product takes instructions: each of two terms, number 0 being the factor.
fn sums(word: i32) -> Option<&'static [(usize, usize)]> {
    match word {
        3 => Some(&[(0, 0), (1, 0)]),
        5 => Some(&[(0, 0), (1, 1), (2, 0)]),
        6 => Some(&[(0, 0), (1, 0), (2, 2)]),
        _ => None,
    }
}

/// What is multiplied with one word, and that word.
fn multiple(op: &Op, ops: &[Op]) -> Option<(Value, i32)> {
    let &Op::MulLo(a, b) = op else { return None };
    let splat = |v: Value| match ops[v.0 as usize] {
        Op::Splat(word) => Some(word),
        _ => None,
    };
    splat(b).map(|word| (a, word)).or_else(|| splat(a).map(|word| (b, word)))
}

/// Instructions for two lanes of a block: as a pair, and one lane after the other; none where an operation knows no pairs.
fn costs(block: &Block, uniform: &[bool]) -> Option<(u32, u32)> {
    let (mut pair, mut lanes) = (0, 0);
    let product = |v: &Value| matches!(block.ops[v.0 as usize], Op::MulLo(..));
    for (op, _) in block.ops.iter().zip(uniform).filter(|(_, uniform)| !**uniform) {
        // A product and a sum are one instruction for words; a load takes two cycles as often as one.
        let (both, one) = match op {
            Op::Load { .. } => (2, 2),
            Op::Store { .. } => (1, 1),
            Op::StoreStrided { .. } => (3, 1),
            Op::Add(a, b) | Op::Sub(a, b) => (1, u32::from(!product(a) && !product(b))),
            Op::And(..) | Op::Or(..) | Op::Xor(..) => (1, 1),
            Op::MulLo(..) => {
                let few = multiple(op, &block.ops).and_then(|(_, word)| sums(word));
                (few.map_or(3, |few| few.len() as u32), 1)
            }
            Op::Sar(..) => (3, 1),
            Op::MulHi(..) => (3, 2),
            Op::Shl(_, k) if *k <= STEPS => (u32::from(*k), 1),
            _ => return None,
        };
        pair += both;
        lanes += 2 * one;
    }
    Some((pair, lanes))
}

/// A Montgomery product whose steps nothing else reads: `mulhi(a, b) - mulhi(mullo(a, over_q), q)`.
#[derive(Clone, Copy)]
struct Montgomery {
    a: Value,
    b: Value,
    over_q: Value,
    q: i32,
    /// Its steps before the difference.
    steps: [Value; 3],
}

/// The Montgomery products of a block by their last operation. Low halves of `a·b` and `t·q` are equal, so that the
/// difference of the high ones is the high half of the difference: only where `over_q·q` is seen to be b mod 2^16.
fn montgomery(block: &Block, buffers: &[Buffer], lanes: usize) -> Vec<Option<Montgomery>> {
    let ops = &block.ops;
    let mut uses = vec![0u32; ops.len()];
    ops.iter().flat_map(Op::operands).for_each(|v| uses[v.0 as usize] += 1);
    let once = |v: Value| uses[v.0 as usize] == 1;
    let of = |v: Value| &ops[v.0 as usize];
    let equal = |x: i32, y: i32| x as i16 == y as i16;
    let all = ops.iter().map(|op| {
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
        let steps = [high, m, t];
        let found = over && same == a && q > 0 && steps.into_iter().all(once);
        found.then_some(Montgomery { a, b, over_q, q, steps })
    });
    all.collect()
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
    /// Whether `holds` of every two words that are read in the same turn of the loops. Their bounds are not looked at,
    /// only their strides: a word that no turn reads may be asked for, never the other way round.
    fn beside(&self, other: &Constants, holds: impl Fn(i32, i32) -> bool) -> bool {
        if self.at.terms != other.at.terms || self.count != other.count {
            return false;
        }
        let step =
            self.at.terms.iter().fold(0, |step, term| zq::gcd(step, term.1.unsigned_abs())) as i64;
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

/// A word in both lanes.
fn both(word: i32) -> String {
    let half = u32::from(word as u16);
    format!("{:#x}u", half << 16 | half)
}

impl Writer<'_> {
    /// Renders a block as a loop over pairs of lanes where that is possible and shorter, and says whether it did.
    pub fn pairs(&mut self, block: &Block, lanes: usize) -> bool {
        let uniform = uniform(block);
        let known = |op: &Op, uniform: bool| match op {
            Op::Splat(_) | Op::Broadcast { .. } => true,
            _ => !uniform,
        };
        let short = |op: &Op| {
            memory(op).is_none_or(|m| self.procedure.buffers[m.buffer.0 as usize].bits == 16)
        };
        let shorter = |costs: (u32, u32)| costs.0 < costs.1;
        if self.procedure.bits != 16
            || !lanes.is_multiple_of(2)
            || !block.ops.iter().zip(&uniform).all(|(op, u)| known(op, *u) && short(op))
            || !costs(block, &uniform).is_some_and(shorter)
        {
            return false;
        }
        let fused = montgomery(block, &self.procedure.buffers, lanes);
        let steps: HashSet<Value> = fused.iter().flatten().flat_map(|m| m.steps).collect();
        let (mut before, mut inside) = (Vec::new(), Vec::new());
        let mut names: Vec<String> = Vec::new();
        let mut bases = Bases::default();
        for (i, op) in block.ops.iter().enumerate() {
            let operand = |v: &Value| names[v.0 as usize].clone();
            let mut name = format!("v{i}");
            if steps.contains(&Value(i as u32)) {
                names.push(name);
                continue;
            }
            let product = fused[i].map(|m| {
                let [a, b, over_q] = [m.a, m.b, m.over_q].map(|v| operand(&v));
                format!("montgomery2({a}, {b}, {over_q}, {})", both(-m.q))
            });
            let value = match op {
                _ if product.is_some() => product,
                Op::Splat(word) => {
                    name = both(*word);
                    None
                }
                Op::Broadcast { buffer, at } => {
                    let word = bases.access(self, *buffer, at, None);
                    before.push(format!("const uint32_t {name} = (uint16_t){word} * 0x10001u;"));
                    None
                }
                Op::Load { buffer, at } => {
                    let word = bases.access(self, *buffer, at, Some(1));
                    Some(format!("*(const lanes2 *)&{word}"))
                }
                Op::Store { buffer, at, a } => {
                    let word = bases.access(self, *buffer, at, Some(1));
                    inside.push(format!("*(lanes2 *)&{word} = {};", operand(a)));
                    None
                }
                Op::StoreStrided { buffer, at, stride, a } => {
                    let stride = i64::from(*stride);
                    for (lane, shift) in [(0, ""), (1, " >> 16")] {
                        let at = Index { base: at.base + lane * stride, terms: at.terms.clone() };
                        let word = bases.access(self, *buffer, &at, Some(stride));
                        inside.push(format!("{word} = (int16_t)({}{shift});", operand(a)));
                    }
                    None
                }
                Op::Add(a, b) => Some(format!("__uadd16({}, {})", operand(a), operand(b))),
                Op::Sub(a, b) => Some(format!("__usub16({}, {})", operand(a), operand(b))),
                Op::MulLo(a, b) => match multiple(op, &block.ops)
                    .and_then(|(a, word)| Some((operand(&a), sums(word)?)))
                {
                    Some((factor, sums)) => {
                        let term = |number: usize| match number {
                            0 => factor.clone(),
                            _ => format!("s{i}_{number}"),
                        };
                        for (number, (a, b)) in (1..).zip(sums) {
                            let (sum, a, b) = (term(number), term(*a), term(*b));
                            inside.push(format!("const uint32_t {sum} = __uadd16({a}, {b});"));
                        }
                        name = term(sums.len());
                        None
                    }
                    None => Some(format!("low2({}, {})", operand(a), operand(b))),
                },
                Op::Sar(a, k) => Some(format!("right2({}, {k})", operand(a))),
                Op::MulHi(a, b) => Some(format!("high2({}, {})", operand(a), operand(b))),
                Op::And(a, b) => Some(format!("{} & {}", operand(a), operand(b))),
                Op::Or(a, b) => Some(format!("{} | {}", operand(a), operand(b))),
                Op::Xor(a, b) => Some(format!("{} ^ {}", operand(a), operand(b))),
                // Twice a lane is the lane shifted by one place, without a mask.
                Op::Shl(a, k) => {
                    (0..*k).for_each(|step| {
                        let from = if step == 0 { operand(a) } else { format!("s{i}_{step}") };
                        let to = format!("s{i}_{}", step + 1);
                        inside.push(format!("const uint32_t {to} = __uadd16({from}, {from});"));
                    });
                    name = if *k == 0 { operand(a) } else { format!("s{i}_{k}") };
                    None
                }
                _ => return false,
            };
            if let Some(value) = value {
                inside.push(format!("const uint32_t {name} = {value};"));
            }
            names.push(name);
        }
        self.line("{");
        self.depth += 1;
        bases.lines().iter().chain(&before).for_each(|line| self.line(line));
        let short = if inside.len() <= SHORT { "SHORT_LOOP " } else { "" };
        self.line(&format!("{short}for (int l = 0; l < {lanes}; l += 2) {{"));
        inside.iter().for_each(|line| self.line(&format!("    {line}")));
        self.line("}");
        self.depth -= 1;
        self.line("}");
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each product by sums is the product.
    #[test]
    fn multiples_are_sums() {
        let mut seen = 0;
        for word in -20..=20 {
            let Some(sums) = sums(word) else { continue };
            let mut all = vec![1];
            sums.iter().for_each(|&(a, b)| all.push(all[a] + all[b]));
            assert_eq!((all.last(), sums.len() <= 3), (Some(&word), true));
            seen += 1;
        }
        assert_eq!(seen, 3);
    }

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
}
