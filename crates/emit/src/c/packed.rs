//! A block as a loop over pairs of lanes: two words of 16 bits in one of 32. The machine adds such
//! pairs lane by lane and multiplies their halves.

use super::Writer;
use super::assembly::{Assembly, Turns};
use super::block::{Bases, memory, uniform};
use super::fused::{All, Fused, Kind};
use ringforge_program::ir::*;

/// What pairs need in a file: the products of both lanes, as two products and an instruction that
/// joins them.
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

/// What Plantard's products need in a file besides [`PAIRS`].
pub const PLANTARD: &str = "
HALVES(bottom_word, \"smulwb %0, %1, %2\")
HALVES(top_word, \"smulwt %0, %1, %2\")

HALVES(bottom_top, \"smulbt %0, %1, %2\")

/* The same, added to a word. */
#define HALVES_PLUS(name, instruction)                                                       \\
    __attribute__((unused)) static inline uint32_t name(uint32_t a, uint32_t b, uint32_t c)  \\
    {                                                                                        \\
        uint32_t d;                                                                          \\
        __asm__(instruction : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));                         \\
        return d;                                                                            \\
    }
HALVES_PLUS(bottom_word_plus, \"smlawb %0, %1, %2, %3\")
HALVES_PLUS(top_word_plus, \"smlawt %0, %1, %2, %3\")

/* High halves of (t + 2) * q, t being the upper half of a * b; q stands above 2 in k. */
__attribute__((unused)) static inline uint32_t plantard2(uint32_t a, uint32_t b, uint32_t k)
{
    return high_pair(bottom_top(bottom_word_plus(b, a, k), k), bottom_top(top_word_plus(b, a, k), k));
}

/* High halves of t * q + 2^15. */
__attribute__((unused)) static inline uint32_t plantard2_rounded(uint32_t a, uint32_t b, uint32_t q)
{
    return high_pair(bottoms_plus(bottom_word(b, a), q, 0x8000u),
                     bottoms_plus(top_word(b, a), q, 0x8000u));
}
";

/// Shifts to the left by more places than this are done lane by lane.
const STEPS: u8 = 4;

/// Lines of a loop's body up to which it is short.
const SHORT: usize = 40;

/// Both lanes times a word, as a chain of sums whose last one is the product. Each sum has two
/// terms; number 0 is the factor, and number k the k-th sum. A chain has at most as many sums as a
/// product takes instructions.
pub fn sums(word: i32) -> Option<&'static [(usize, usize)]> {
    match word {
        3 => Some(&[(0, 0), (1, 0)]),
        5 => Some(&[(0, 0), (1, 1), (2, 0)]),
        6 => Some(&[(0, 0), (1, 0), (2, 2)]),
        _ => None,
    }
}

/// What is multiplied with one word, and that word.
pub fn multiple(op: &Op, ops: &[Op]) -> Option<(Value, i32)> {
    let &Op::MulLo(a, b) = op else { return None };
    let splat = |v: Value| match ops[v.0 as usize] {
        Op::Splat(word) => Some(word),
        _ => None,
    };
    splat(b).map(|word| (a, word)).or_else(|| splat(a).map(|word| (b, word)))
}

/// Instructions for two lanes of a block: as a pair, and one lane after the other. None if an
/// operation does not work on pairs.
fn costs(block: &Block, uniform: &[bool], fused: &All) -> Option<(u32, u32)> {
    let (mut pair, mut lanes) = (0, 0);
    let product = |v: &Value| matches!(block.ops[v.0 as usize], Op::MulLo(..));
    let ops = block.ops.iter().enumerate().zip(uniform).filter(|(_, uniform)| !**uniform);
    for ((i, op), _) in ops {
        if fused.steps.contains(&Value(i as u32)) {
            continue;
        }
        if let Some(fused) = &fused.last[i] {
            let (both, one) = match fused.kind {
                Kind::Montgomery { .. } => (7, 6),
                Kind::Plantard { .. } => (5, 9),
                Kind::Narrow { .. } => return None,
            };
            (pair, lanes) = (pair + both, lanes + 2 * one);
            continue;
        }
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

/// Plantard's product of a pair by a word as C.
pub fn plantard(a: &str, factor: &str, rounds: bool, q: i32) -> String {
    match rounds {
        true => format!("plantard2_rounded({a}, {factor}, {q}u)"),
        false => format!("plantard2({a}, {factor}, {:#x}u)", q << 16 | 2),
    }
}

/// A word in both lanes.
pub fn both(word: i32) -> String {
    let half = u32::from(word as u16);
    format!("{:#x}u", half << 16 | half)
}

impl Writer<'_> {
    /// Renders a block as a loop over pairs of lanes if that is possible and shorter, and says
    /// whether it did.
    pub fn pairs(&mut self, block: &Block, lanes: usize) -> bool {
        let uniform = uniform(block);
        let known = |op: &Op, uniform: bool| match op {
            Op::Splat(_) | Op::Broadcast { .. } => true,
            _ => !uniform,
        };
        let short = |op: &Op| {
            memory(op).is_none_or(|m| self.procedure.buffers[m.buffer.0 as usize].bits == 16)
        };
        let fused = All::of(block, &self.procedure.buffers, lanes, self.procedure.bits);
        let shorter = |costs: (u32, u32)| costs.0 < costs.1;
        let turns = Turns { counter: None, count: lanes / 2 };
        if let Some(assembly) = Assembly::of(block, 1, self.procedure, turns) {
            self.assembly(&assembly);
            return true;
        }
        if self.procedure.bits != 16
            || !lanes.is_multiple_of(2)
            || !block.ops.iter().zip(&uniform).all(|(op, u)| known(op, *u) && short(op))
            || !costs(block, &uniform, &fused).is_some_and(shorter)
        {
            return false;
        }
        let taken = fused.constants(block);
        let (mut before, mut inside) = (Vec::new(), Vec::new());
        let mut names: Vec<String> = Vec::new();
        let mut bases = Bases::default();
        for (i, op) in block.ops.iter().enumerate() {
            let operand = |v: &Value| names[v.0 as usize].clone();
            let mut name = format!("v{i}");
            if fused.steps.contains(&Value(i as u32)) || taken.contains(&Value(i as u32)) {
                names.push(name);
                continue;
            }
            let product = match &fused.last[i] {
                Some(Fused { kind: Kind::Montgomery { a, b, over_q }, q, .. }) => {
                    let [a, b, over_q] = [a, b, over_q].map(operand);
                    Some(format!("montgomery2({a}, {b}, {over_q}, {})", both(-q)))
                }
                Some(Fused { kind: Kind::Plantard { a, low, high, rounds }, q, .. }) => {
                    let [low, high] = [low, high].map(|v| &block.ops[v.0 as usize]);
                    let factor = match (low, high) {
                        (Op::Splat(low), Op::Splat(high)) => {
                            format!("{:#x}u", (high << 16).wrapping_add(*low) as u32)
                        }
                        (low, high) => {
                            let [low, high] = [low, high].map(|op| match memory(op) {
                                Some(m) => bases.access(self, m.buffer, m.at, None),
                                None => operand(&Value(i as u32)),
                            });
                            before.push(format!(
                                "const uint32_t k{i} = (uint32_t){high} * 65536u + (uint32_t){low};"
                            ));
                            format!("k{i}")
                        }
                    };
                    Some(plantard(&operand(a), &factor, *rounds, *q))
                }
                _ => None,
            };
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
}
