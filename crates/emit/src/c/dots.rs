//! A block of dot products as a loop over elements of 32 bits. The machine adds the products of
//! both halves of two words.
//!
//! Two elements are computed together: they are four words, which share most of what they load. A
//! pair at an odd place is put together from its neighbours if these are loaded anyway.

use super::Writer;
use super::block::{Bases, memory};
use super::fused::{All, Fused, Kind};
use super::packed::{both, plantard};
use super::toeplitz::Toeplitz;
use ringforge_program::ir::*;
use std::collections::{HashMap, HashSet};

/// What dot products need in a file besides [`super::packed::PAIRS`].
pub const DOTS: &str = "
/* The low half of one pair and the high half of another. */
HALVES(halves, \"pkhbt %0, %1, %2\")
";

/// What Montgomery's reductions of elements need besides [`super::packed::PAIRS`].
pub const NARROW: &str = "
/* High halves of x - t * q where t = x / q and nothing is left of the low ones; minus is -q. */
static inline uint32_t narrow2(uint32_t even, uint32_t odd, uint32_t inverse, uint32_t minus)
{
    return high_pair(bottoms_plus(bottoms(even, inverse), minus, even),
                     bottoms_plus(bottoms(odd, inverse), minus, odd));
}
";

/// Elements that go side by side.
const ELEMENTS: i64 = 2;

/// A value for one element.
#[derive(Clone)]
enum Word {
    /// A pair of words, or their element.
    Plain(String),
    /// A pair, the second word in the low half.
    Crossed(String),
    /// An element shifted up: its high half is the low half of the one named.
    Up(String),
    /// What a store leaves.
    Nothing,
}

impl Word {
    fn plain(&self) -> Option<&str> {
        match self {
            Word::Plain(name) => Some(name),
            _ => None,
        }
    }

    /// A factor of a dot product, and whether its words are exchanged.
    fn pair(&self) -> Option<(&str, bool)> {
        match self {
            Word::Plain(name) => Some((name, false)),
            Word::Crossed(name) => Some((name, true)),
            Word::Up(_) | Word::Nothing => None,
        }
    }
}

/// Where a pair is.
type Place = (BufferId, Index);

/// The pairs of a loop's body.
#[derive(Default)]
struct Pairs {
    bases: Bases,
    /// Pairs that the block loads at even places.
    even: HashSet<Place>,
    /// What is loaded already.
    known: HashMap<Place, Word>,
    lines: Vec<String>,
}

fn moved(at: &Index, words: i64) -> Index {
    Index { base: at.base + words, terms: at.terms.clone() }
}

fn is_even(at: &Index) -> bool {
    at.base % 2 == 0 && at.terms.iter().all(|term| term.1 % 2 == 0)
}

impl Pairs {
    fn line(&mut self, name: &str, value: &str) {
        self.lines.push(format!("const uint32_t {name} = {value};"));
    }

    /// A pair of each element (`lane` as for [`Bases::access`]).
    fn load(&mut self, writer: &Writer, buffer: BufferId, at: &Index, lane: Option<i64>) -> Word {
        let place = (buffer, at.clone());
        if let Some(known) = self.known.get(&place) {
            return known.clone();
        }
        let name = format!("w{}", self.known.len());
        // So that no other one takes the name.
        self.known.insert(place.clone(), Word::Plain(name.clone()));
        let neighbours = [1, -1].map(|by| moved(at, by));
        let beside = |at: &Index| self.even.contains(&(buffer, at.clone()));
        let word = if !is_even(at) && neighbours.iter().all(beside) {
            let [next, last] = neighbours.map(|at| self.load(writer, buffer, &at, lane));
            let [Some(next), Some(last)] = [next.plain(), last.plain()] else {
                return Word::Nothing;
            };
            self.line(&name, &format!("halves({next}, {last})"));
            Word::Crossed(name)
        } else {
            let word = self.bases.access(writer, buffer, at, lane);
            self.line(&name, &format!("*(const lanes2 *)&{word}"));
            Word::Plain(name)
        };
        self.known.insert(place, word.clone());
        word
    }
}

/// A sequence of operations for one element.
fn whole(
    (i, fused): (usize, &Fused),
    block: &Block,
    element: i64,
    values: &[Vec<Word>],
    pairs: &mut Pairs,
) -> Option<Word> {
    let get = |v: &Value| values[v.0 as usize][element as usize].plain();
    let splat = |v: &Value| match block.ops[v.0 as usize] {
        Op::Splat(word) => Some(word),
        _ => None,
    };
    let value = match &fused.kind {
        Kind::Narrow { even, odd, inverse } => {
            let (inverse, minus) = (*inverse as u16, -fused.q as u16);
            format!("narrow2({}, {}, {inverse}u, {minus}u)", get(even)?, get(odd)?)
        }
        Kind::Plantard { a, low, high, rounds } => {
            let factor = (splat(high)? << 16).wrapping_add(splat(low)?);
            plantard(get(a)?, &format!("{factor:#x}u"), *rounds, fused.q)
        }
        Kind::Montgomery { a, b, over_q } => {
            let [b, over_q, minus] = [splat(b)?, splat(over_q)?, -fused.q].map(both);
            format!("montgomery2({}, {b}, {over_q}, {minus})", get(a)?)
        }
    };
    let name = format!("v{i}_{element}");
    pairs.line(&name, &value);
    Some(Word::Plain(name))
}

impl Writer<'_> {
    /// Renders a block with dot products as a loop over elements, and says whether it did.
    pub fn dots(&mut self, block: &Block, lanes: usize) -> bool {
        let dot = |op: &Op| matches!(op, Op::PairDot(..) | Op::PairDotAdd { .. });
        let step = 2 * ELEMENTS;
        if self.procedure.bits != 16
            || !lanes.is_multiple_of(step as usize)
            || !block.ops.iter().any(dot)
            || self.rereads(block)
        {
            return false;
        }
        let fused = All::of(block, &self.procedure.buffers, lanes, self.procedure.bits);
        if let Some(product) = Toeplitz::of(block, &fused, lanes) {
            self.toeplitz(&product);
            return true;
        }
        let mut pairs = Pairs::default();
        for op in &block.ops {
            if let Op::Load { buffer, at } = op {
                let all = (0..ELEMENTS).map(|element| moved(at, 2 * element));
                pairs.even.extend(all.filter(is_even).map(|at| (*buffer, at)));
            }
        }
        let mut values: Vec<Vec<Word>> = Vec::new();
        for (i, op) in block.ops.iter().enumerate() {
            let each: Option<Vec<Word>> = (0..ELEMENTS)
                .map(|element| match &fused.last[i] {
                    _ if fused.steps.contains(&Value(i as u32)) => Some(Word::Nothing),
                    Some(last) => whole((i, last), block, element, &values, &mut pairs),
                    None => self.element((i, op), element, &values, &mut pairs),
                })
                .collect();
            let Some(each) = each else { return false };
            values.push(each);
        }
        self.line("{");
        self.depth += 1;
        pairs.bases.lines().iter().for_each(|line| self.line(line));
        self.line(&format!("for (int l = 0; l < {lanes}; l += {step}) {{"));
        pairs.lines.iter().for_each(|line| self.line(&format!("    {line}")));
        self.line("}");
        self.depth -= 1;
        self.line("}");
        true
    }

    /// Whether a block reads an array that it writes, or words that are not pairs.
    fn rereads(&self, block: &Block) -> bool {
        let all: Vec<_> = block.ops.iter().map(|op| (op, memory(op))).collect();
        let touched = |store: bool| {
            all.iter().filter_map(move |(op, memory)| {
                let written = matches!(op, Op::Store { .. });
                memory.as_ref().filter(|_| written == store).map(|memory| memory.buffer)
            })
        };
        let short = |buffer: BufferId| self.procedure.buffers[buffer.0 as usize].bits == 16;
        let (read, written): (Vec<_>, Vec<_>) = (touched(false).collect(), touched(true).collect());
        !read.iter().chain(&written).all(|buffer| short(*buffer))
            || read.iter().any(|r| written.iter().any(|w| self.same(*r, *w)))
    }

    /// An operation for one element, the first of the loop's body being number 0; none where it is not one for
    /// elements.
    fn element(
        &self,
        (i, op): (usize, &Op),
        element: i64,
        values: &[Vec<Word>],
        pairs: &mut Pairs,
    ) -> Option<Word> {
        let get = |v: &Value| &values[v.0 as usize][element as usize];
        let name = format!("v{i}_{element}");
        let value = match op {
            Op::BroadcastPair { buffer, at } => {
                return Some(pairs.load(self, *buffer, at, None));
            }
            Op::Load { buffer, at } => {
                return Some(pairs.load(self, *buffer, &moved(at, 2 * element), Some(1)));
            }
            Op::SwapPairs(a) => {
                return match get(a) {
                    Word::Plain(name) => Some(Word::Crossed(name.clone())),
                    Word::Crossed(name) => Some(Word::Plain(name.clone())),
                    Word::Up(_) | Word::Nothing => None,
                };
            }
            Op::Splat(_) => return Some(Word::Nothing),
            Op::ShlWide(a, 16) => return Some(Word::Up(get(a).plain()?.into())),
            Op::PairDot(a, b) => {
                let ((a, over), (b, under)) = (get(a).pair()?, get(b).pair()?);
                let x = if over == under { "" } else { "x" };
                format!("(uint32_t)__smuad{x}((int32_t){a}, (int32_t){b})")
            }
            Op::PairDotAdd { acc, a, b } => {
                let ((a, over), (b, under)) = (get(a).pair()?, get(b).pair()?);
                let x = if over == under { "" } else { "x" };
                let acc = get(acc).plain()?;
                format!("(uint32_t)__smlad{x}((int32_t){a}, (int32_t){b}, (int32_t){acc})")
            }
            Op::AddWide(a, b) => format!("{} + {}", get(a).plain()?, get(b).plain()?),
            Op::Blend { a, b, mask: 0xaa } => match get(b) {
                Word::Up(high) => format!("low_pair({}, {high})", get(a).plain()?),
                _ => return None,
            },
            Op::Store { buffer, at, a } => {
                let at = moved(at, 2 * element);
                let word = pairs.bases.access(self, *buffer, &at, Some(1));
                pairs.lines.push(format!("*(lanes2 *)&{word} = {};", get(a).plain()?));
                return Some(Word::Nothing);
            }
            _ => return None,
        };
        pairs.line(&name, &value);
        Some(Word::Plain(name))
    }
}
