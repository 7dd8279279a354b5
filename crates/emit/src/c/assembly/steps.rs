//! A block's operations as steps.

use super::super::block::{memory, uses};
use super::super::fused::{All, Fused, Kind};
use super::super::packed::{multiple, sums};
use super::*;

/// Several turns of a loop as one block. The loop's counter covers what is left, or is gone with
/// the `whole` loop.
pub fn repeated(block: &Block, counter: LoopVar, copies: u32, whole: bool) -> Block {
    let mut all = Block::default();
    for copy in 0..i64::from(copies) {
        let offset = all.ops.len() as u32;
        for op in &block.ops {
            let mut op = op.clone().map_operands(&mut |v| Value(v.0 + offset));
            if let Op::Load { at, .. } | Op::Broadcast { at, .. } | Op::Store { at, .. } = &mut op {
                let term = at.terms.iter_mut().find(|term| term.0 == counter);
                if let Some(term) = term {
                    at.base += term.1 * copy;
                    term.1 *= i64::from(copies);
                }
                at.terms.retain(|term| !whole || term.0 != counter);
            }
            all.push(op);
        }
    }
    all
}

/// What the steps are made from.
struct Maker<'a> {
    ops: &'a [Op],
    buffers: &'a [Buffer],
    bits: u8,
    /// Whether constants may differ from turn to turn.
    tables: bool,
    steps: Vec<Step>,
    /// By the turn that they are in.
    constants: HashMap<(usize, Constant), usize>,
    /// The turn.
    copy: usize,
    /// The step that makes a value.
    made: Vec<Option<usize>>,
    q: Option<i32>,
}

impl Maker<'_> {
    fn get(&self, v: Value) -> Option<usize> {
        self.made[v.0 as usize]
    }

    fn splat(&self, v: Value) -> Option<i32> {
        match self.ops[v.0 as usize] {
            Op::Splat(word) => Some(word),
            _ => None,
        }
    }

    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn constant(&mut self, constant: Constant) -> usize {
        let key = (self.copy, constant.clone());
        if let Some(known) = self.constants.get(&key) {
            return *known;
        }
        let step = self.push(Step::Constant(constant));
        self.constants.insert(key, step);
        step
    }

    /// Where a constant lies in a table.
    fn table(&self, v: Value) -> Option<Place> {
        let (Op::Load { buffer, at } | Op::Broadcast { buffer, at }) = &self.ops[v.0 as usize]
        else {
            return None;
        };
        let table = matches!(self.buffers[buffer.0 as usize].role, Role::Table(_));
        (self.tables && table).then(|| (*buffer, at.clone()))
    }

    /// One modulus for all.
    fn modulus(&mut self, q: i32) -> Option<()> {
        (*self.q.get_or_insert(q) == q).then_some(())
    }

    /// A sequence of operations.
    fn whole(&mut self, fused: &Fused, half: bool) -> Option<Step> {
        self.modulus(fused.q)?;
        match fused.kind {
            Kind::Plantard { a, low, high, rounds } if self.bits == 16 => {
                let constant = match (self.splat(low), self.splat(high)) {
                    (Some(low), Some(high)) => Constant::One((high << 16).wrapping_add(low) as u32),
                    _ => Constant::Halves { low: self.table(low)?, high: self.table(high)? },
                };
                let (a, constant) = (self.get(a)?, self.constant(constant));
                Some(match (rounds, half) {
                    // Apart from loops compilers do these.
                    (true, _) if half || !self.tables => return None,
                    (true, _) => Step::Frozen(a, constant, self.constant(Constant::One(1 << 15))),
                    (false, true) => Step::Weighted(a, constant),
                    (false, false) => Step::Product(a, constant),
                })
            }
            Kind::Narrow { even, odd, .. } if self.bits == 16 => {
                Some(Step::Narrow(self.get(even)?, self.get(odd)?))
            }
            Kind::Montgomery { a, b, .. } if self.bits == 32 && !half => {
                let b = match (self.splat(b), self.table(b)) {
                    (Some(word), _) => self.constant(Constant::One(word as u32)),
                    (_, Some(place)) => self.constant(Constant::Word(place)),
                    _ => self.get(b)?,
                };
                Some(Step::Product(self.get(a)?, b))
            }
            _ => None,
        }
    }

    /// A reduction by a rounded shift.
    fn rounded(&self, op: &Op, uses: &[u32]) -> Option<(usize, u8, i32)> {
        let of = |v: Value| &self.ops[v.0 as usize];
        let &Op::Sub(a, product) = op else { return None };
        let &Op::MulLo(t, q) = of(product) else { return None };
        let &Op::Sar(sum, k @ 1..=30) = of(t) else { return None };
        let &Op::Add(x, half) = of(sum) else { return None };
        let once = [product, t, sum].iter().all(|v| uses[v.0 as usize] == 1);
        let right = x == a && self.splat(half)? == 1 << (k - 1) && self.bits == 32 && once;
        right.then_some((self.get(a)?, k, self.splat(q)?))
    }

    /// The second factor of a dot product, and whether its words are exchanged.
    fn factor(&mut self, b: Value) -> Option<(usize, bool)> {
        match self.ops[b.0 as usize] {
            Op::SwapPairs(b) => Some((self.get(b)?, true)),
            _ => Some((self.get(b)?, false)),
        }
    }

    /// Another operation.
    fn single(&mut self, op: &Op) -> Option<Step> {
        let words = self.bits == 16;
        Some(match op {
            Op::Load { buffer, at } => Step::Load((*buffer, at.clone())),
            Op::Store { buffer, at, a } => Step::Store((*buffer, at.clone()), self.get(*a)?),
            Op::Add(a, b) => Step::Add(self.get(*a)?, self.get(*b)?),
            Op::Sub(a, b) if self.splat(*a) == Some(0) => Step::Minus(self.get(*b)?),
            Op::Sub(a, b) => Step::Sub(self.get(*a)?, self.get(*b)?),
            Op::PairDot(a, b) if words => {
                let (b, crossed) = self.factor(*b)?;
                Step::Dot(self.get(*a)?, b, crossed)
            }
            Op::PairDotAdd { acc, a, b } if words => {
                let (b, crossed) = self.factor(*b)?;
                Step::DotAdd(self.get(*a)?, b, crossed, self.get(*acc)?)
            }
            Op::AddWide(a, b) if words => Step::Sum(self.get(*a)?, self.get(*b)?),
            Op::Shl(a, k @ 1..=3) => {
                let mut last = self.get(*a)?;
                for _ in 1..*k {
                    last = self.push(Step::Add(last, last));
                }
                Step::Add(last, last)
            }
            Op::MulLo(..) => {
                let (a, word) = multiple(op, self.ops)?;
                let mut terms = vec![self.get(a)?];
                let (last, before) = sums(word)?.split_last()?;
                for (a, b) in before {
                    let sum = self.push(Step::Add(terms[*a], terms[*b]));
                    terms.push(sum);
                }
                Step::Add(terms[last.0], terms[last.1])
            }
            _ => return None,
        })
    }
}

/// Values that steps absorb from the operations that make them: constants, exchanged pairs, what
/// Montgomery's products prepare, and parts of longer sequences.
fn within(block: &Block, maker: &Maker, fused: &All, uses: &[u32]) -> Vec<bool> {
    let ops = &block.ops;
    let mut all: Vec<bool> = ops
        .iter()
        .enumerate()
        .map(|(i, op)| {
            let value = Value(i as u32);
            let inverse = |v: Value| maker.splat(v).is_some_and(|word| word % 2 != 0);
            fused.steps.contains(&value)
                || matches!(op, Op::Splat(_) | Op::SwapPairs(_))
                || maker.table(value).is_some()
                || matches!(op, Op::MulLo(_, b) if maker.bits == 32 && inverse(*b))
        })
        .collect();
    for op in ops {
        if let Some((product, _)) = half(op, fused, uses) {
            all[product.0 as usize] = true;
        }
        if let &Op::Sub(_, product) = op
            && let Op::MulLo(t, _) = ops[product.0 as usize]
            && let Op::Sar(sum, _) = ops[t.0 as usize]
            && maker.bits == 32
        {
            [product, t, sum].iter().for_each(|v| all[v.0 as usize] = true);
        }
    }
    all
}

/// A product that gives only the odd word of a pair: the even word is the factor's, and nothing
/// else reads the product.
fn half<'a>(op: &Op, fused: &'a All, uses: &[u32]) -> Option<(Value, &'a Fused)> {
    let &Op::Blend { a, b, mask: 0xaa } = op else { return None };
    let product = fused.last[b.0 as usize].as_ref()?;
    let of = match product.kind {
        Kind::Plantard { a, rounds: false, .. } => Some(a),
        _ => None,
    };
    (of == Some(a) && uses[b.0 as usize] == 1).then_some((b, product))
}

impl Assembly {
    /// The block as steps: `copies` turns of a loop, one after the other. Nothing if it has other
    /// operations, or is short.
    pub fn of(
        block: &Block,
        copies: usize,
        procedure: &Procedure,
        turns: Turns,
    ) -> Option<Assembly> {
        let bits = procedure.bits;
        let lanes_alone = turns.counter.is_none();
        let words = match (bits, lanes_alone) {
            (16, _) => 2,
            (32, false) => 1,
            _ => return None,
        };
        let lanes = if lanes_alone { words * turns.count } else { words };
        let fused = All::of(block, &procedure.buffers, lanes, bits);
        let uses = uses(block);
        let mut maker = Maker {
            ops: &block.ops,
            buffers: &procedure.buffers,
            bits,
            tables: turns.counter.is_some(),
            steps: Vec::new(),
            constants: HashMap::new(),
            copy: 0,
            made: Vec::new(),
            q: None,
        };
        let within = within(block, &maker, &fused, &uses);
        for (i, op) in block.ops.iter().enumerate() {
            maker.copy = i * copies / block.ops.len();
            if within[i] {
                maker.made.push(None);
                continue;
            }
            let step = if let Some((_, product)) = half(op, &fused, &uses) {
                maker.whole(product, true)?
            } else if let Some(whole) = &fused.last[i] {
                maker.whole(whole, false)?
            } else if let Some((a, k, q)) = maker.rounded(op, &uses) {
                maker.modulus(q)?;
                Step::Rounded(a, k)
            } else {
                maker.single(op)?
            };
            let made = maker.push(step);
            maker.made.push(Some(made));
        }
        let Maker { steps, q, .. } = maker;
        let mut pointers: Vec<Place> = Vec::new();
        for op in &block.ops {
            let other = memory(op).map(|m| m.buffer).filter(|buffer| {
                let buffer = &procedure.buffers[buffer.0 as usize];
                buffer.bits != bits
            });
            if other.is_some() {
                return None;
            }
        }
        for step in &steps {
            let (Step::Load(place) | Step::Store(place, _)) = step else { continue };
            let unit = words as i64;
            let whole = place.1.base % unit == 0 && place.1.terms.iter().all(|t| t.1 % unit == 0);
            if place.1.base < 0 || !whole || place.1.terms.iter().any(|term| term.1 < 0) {
                return None;
            }
            let pointer = pointer(place, bits);
            if !pointers.contains(&pointer) {
                pointers.push(pointer);
            }
        }
        let assembly = Assembly { steps, bits, q: q?, turns, pointers };
        let moves: Vec<i64> = assembly.pointers.iter().map(|p| assembly.stride(p)).collect();
        let moving = moves.iter().find(|by| **by != 0);
        let ends = moving.is_some_and(|by| by * turns.count as i64 <= REACH);
        let least = if lanes_alone { LEAST } else { 1 };
        let fits = assembly.pointers.len() <= POINTERS && assembly.steps.len() >= least;
        (fits && ends && moves.iter().all(|by| *by <= REACH)).then_some(assembly)
    }
}
