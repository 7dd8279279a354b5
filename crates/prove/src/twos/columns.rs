//! Forms modulo 2^16 column by column: b = 0 and all b = e_j, as affine functions of a.
//!
//! With b fixed a form is a vector: its coefficients of a's elements and its constant, as words modulo
//! 2^16. Forms of a alone are evaluated once, forms of b alone are a number for each column, and the others
//! are evaluated for stretches of [`BLOCK`] elements. Since differences of columns are the
//! coefficients of a_i·b_j, a power of two divides all coefficients of a form exactly if it divides all entries
//! of all columns.

use super::words::{BITS, FormId, Make, Word, Words};
use crate::function::{Side, powers};
use rayon::prelude::*;
use ringforge_ring::Ring;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Entries that are evaluated together.
const BLOCK: usize = 128;

type Block = [u16; BLOCK];

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wrong {
    /// The coefficient of a_i·b_j (or of a_i, or of b_j, or the constant) in output k.
    Coefficient { i: Option<usize>, j: Option<usize>, k: usize, found: u16, expected: u16 },
    /// A word is shifted right and is no multiple of the power of two; the form is the quotient.
    NotMultiple { form: FormId },
    /// A form is needed with more bits than are known: an error of this tool.
    Unknown { form: FormId },
    /// Stopped by the caller.
    Cancelled,
}

/// Where a summand is.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Nowhere: it is 0.
    None,
    /// A slot of the block at hand.
    Slot(u32),
    /// A vector of a's.
    Row(u32),
    /// A number of b's: a constant.
    Number(u32),
    /// A vector times a number.
    Product(u32, u32),
}

/// `slot := (c·x + d·y)/2^bits`.
#[derive(Clone, Copy, Debug)]
struct Step {
    slot: u32,
    x: Source,
    c: u16,
    y: Source,
    d: u16,
    bits: u8,
    form: FormId,
}

/// Outputs prepared for evaluation.
pub(super) struct Columns {
    n: usize,
    mask: u16,
    /// Forms of b, in order.
    numbers: Vec<(Make, FormId)>,
    /// Where the number of a form of b is, by form; rows likewise.
    place: Vec<u32>,
    /// Vectors of a's forms, blocks by blocks.
    rows: Vec<Block>,
    zero_rows: Vec<bool>,
    /// Blocks of a vector.
    blocks: usize,
    steps: Vec<Step>,
    slots: usize,
    outputs: Vec<(Source, u16)>,
    /// Products of a form of a and one of b.
    pub products: usize,
    /// Sums.
    pub sums: usize,
}

/// A thread's memory.
struct Scratch {
    numbers: Vec<u16>,
    slots: Vec<Block>,
    zero: Vec<bool>,
    expected: Vec<Block>,
    /// The constant 1.
    unit: Block,
}

impl Columns {
    /// Prepares the low `bits` bits of `outputs`, forms in inputs of n elements each.
    ///
    /// # Errors
    /// If a form of a alone is no multiple, or more is asked for than is known.
    pub fn new(words: &Words, outputs: &[Word], bits: u8, n: usize) -> Result<Columns, Wrong> {
        let forms = &words.forms;
        let demand = demand(words, outputs, bits)?;
        let mut last_use: Vec<u32> = (0..forms.len() as u32).collect();
        let both = |x: FormId| forms[x as usize].side == Side::Both;
        // A product is evaluated where it is used.
        let product = |x: FormId| matches!(forms[x as usize].make, Make::Product { .. });
        for (id, form) in forms.iter().enumerate().filter(|f| demand[f.0] > 0) {
            match form.make {
                Make::Sum { x, y, .. } => {
                    last_use[x as usize] = id as u32;
                    last_use[y as usize] = id as u32;
                }
                Make::Half { x, .. } => last_use[x as usize] = id as u32,
                _ => {}
            }
        }
        outputs.iter().for_each(|o| last_use[o.form as usize] = u32::MAX);
        let blocks = (n + 1).div_ceil(BLOCK);
        let mut this = Columns {
            n,
            mask: (u32::from(u16::MAX) >> (BITS - bits)) as u16,
            numbers: Vec::new(),
            place: vec![u32::MAX; forms.len()],
            rows: Vec::new(),
            zero_rows: Vec::new(),
            blocks,
            steps: Vec::new(),
            slots: 0,
            outputs: Vec::new(),
            products: 0,
            sums: 0,
        };
        let mut free: Vec<u32> = Vec::new();
        for (id, form) in forms.iter().enumerate() {
            if demand[id] == 0 && id != 0 {
                continue;
            }
            match form.make {
                Make::Sum { .. } => this.sums += 1,
                Make::Product { .. } => this.products += 1,
                _ => {}
            }
            match form.side {
                Side::None | Side::B => {
                    this.place[id] = this.numbers.len() as u32;
                    this.numbers.push((form.make, id as FormId));
                }
                Side::A => this.push_row(form.make, id)?,
                Side::Both => {
                    let drop = |x: FormId, free: &mut Vec<u32>, place: &[u32]| {
                        if both(x) && !product(x) && last_use[x as usize] == id as u32 {
                            free.push(place[x as usize]);
                        }
                    };
                    let (x, c, y, d, bits) = match form.make {
                        Make::Sum { x, c, y, d } => {
                            (this.source(words, x), c, this.source(words, y), d, 0)
                        }
                        Make::Half { x, bits } => (this.source(words, x), 1, Source::None, 0, bits),
                        _ => continue,
                    };
                    match form.make {
                        Make::Sum { x, y, .. } => {
                            drop(x, &mut free, &this.place);
                            if y != x {
                                drop(y, &mut free, &this.place);
                            }
                        }
                        Make::Half { x, .. } => drop(x, &mut free, &this.place),
                        _ => {}
                    }
                    let slot = free.pop().unwrap_or_else(|| {
                        this.slots += 1;
                        this.slots as u32 - 1
                    });
                    this.place[id] = slot;
                    this.steps.push(Step { slot, x, c, y, d, bits, form: id as u32 });
                }
            }
        }
        for o in outputs {
            let c = o.c.checked_shl(o.twos.into()).unwrap_or(0);
            let source = if c & this.mask == 0 { Source::None } else { this.source(words, o.form) };
            this.outputs.push((source, c));
        }
        Ok(this)
    }

    fn source(&self, words: &Words, x: FormId) -> Source {
        let form = words.forms[x as usize];
        let place = self.place[x as usize];
        match (form.make, form.side) {
            (Make::Product { a, b }, _) => {
                Source::Product(self.place[a as usize], self.place[b as usize])
            }
            (_, Side::None | Side::B) => Source::Number(place),
            (_, Side::A) => Source::Row(place),
            (_, Side::Both) => Source::Slot(place),
        }
    }

    fn push_row(&mut self, make: Make, id: usize) -> Result<(), Wrong> {
        let start = self.rows.len();
        self.place[id] = (start / self.blocks) as u32;
        self.rows.resize(start + self.blocks, [0; BLOCK]);
        let (before, row) = self.rows.split_at_mut(start);
        let row = row.as_flattened_mut();
        // The constant 1 is a number.
        let at = |x: FormId| self.place[x as usize] as usize * self.blocks;
        let mut add = |x: FormId, c: u16| {
            if x == 0 {
                row[self.n] = row[self.n].wrapping_add(c);
            } else {
                let from = before[at(x)..][..self.blocks].as_flattened();
                row.iter_mut().zip(from).for_each(|(r, v)| *r = r.wrapping_add(c.wrapping_mul(*v)));
            }
        };
        match make {
            Make::Input { index, .. } => row[index as usize] = 1,
            Make::Sum { x, c, y, d } => {
                add(x, c);
                add(y, d);
            }
            Make::Half { x, bits } => {
                add(x, 1);
                let low = (1 << bits) - 1;
                if row.iter().any(|v| v & low != 0) {
                    return Err(Wrong::NotMultiple { form: id as FormId });
                }
                row.iter_mut().for_each(|v| *v >>= bits);
            }
            Make::One | Make::Product { .. } => {}
        }
        self.zero_rows.extend(self.rows[start..].iter().map(|b| *b == [0; BLOCK]));
        Ok(())
    }

    /// Compares the outputs with the product in `ring` for b = 0 and all b = e_j, in parallel.
    ///
    /// # Errors
    /// What is wrong in the first column that is.
    pub fn compare(
        &self,
        ring: &Ring,
        progress: &(dyn Fn(f64) -> bool + Sync),
    ) -> Result<(), Wrong> {
        let powers = powers(ring);
        let (done, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let wrong = (0..=self.n)
            .into_par_iter()
            .map_init(
                || Scratch::new(self),
                |scratch, column| {
                    if stop.load(Ordering::Relaxed) {
                        return Err(Wrong::Cancelled);
                    }
                    let result = self.column(scratch, &powers, column.checked_sub(1));
                    let d = done.fetch_add(1, Ordering::Relaxed);
                    if d.is_multiple_of(8) && !progress(d as f64 / (self.n + 1) as f64) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    result
                },
            )
            .find_map_first(Result::err);
        wrong.map_or(Ok(()), Err)
    }

    /// Compares one column, b = 0 or b = e_j.
    fn column(
        &self,
        s: &mut Scratch,
        powers: &[Vec<(u16, u32)>],
        j: Option<usize>,
    ) -> Result<(), Wrong> {
        for (i, &(make, form)) in self.numbers.iter().enumerate() {
            let at = |x: FormId| s.numbers[self.place[x as usize] as usize];
            s.numbers[i] = match make {
                Make::One => 1,
                Make::Input { index, .. } => u16::from(j == Some(index as usize)),
                Make::Sum { x, c, y, d } => {
                    c.wrapping_mul(at(x)).wrapping_add(d.wrapping_mul(at(y)))
                }
                Make::Half { x, bits } if at(x) & ((1 << bits) - 1) != 0 => {
                    return Err(Wrong::NotMultiple { form });
                }
                Make::Half { x, bits } => at(x) >> bits,
                Make::Product { .. } => 0,
            };
        }
        for block in 0..self.blocks {
            for step in &self.steps {
                self.step(s, step, block)?;
            }
            self.expect(s, powers, j, block);
            for (k, &(source, c)) in self.outputs.iter().enumerate() {
                let found = match self.value(s, source, block) {
                    Some((values, times)) => combined(values, times.wrapping_mul(c), &ZERO, 0),
                    None => ZERO,
                };
                if let Some(at) = differs(&found, &s.expected[k], self.mask) {
                    let i = block * BLOCK + at;
                    let i = (i < self.n).then_some(i);
                    let (found, expected) = (found[at] & self.mask, s.expected[k][at] & self.mask);
                    return Err(Wrong::Coefficient { i, j, k, found, expected });
                }
            }
        }
        Ok(())
    }

    /// A block of a source and by what it is to be multiplied; none where it is zero.
    fn value<'s>(
        &'s self,
        s: &'s Scratch,
        source: Source,
        block: usize,
    ) -> Option<(&'s Block, u16)> {
        let row = |x: u32| {
            let at = x as usize * self.blocks + block;
            (!self.zero_rows[at]).then(|| &self.rows[at])
        };
        let last = block == self.n / BLOCK;
        match source {
            Source::None => None,
            Source::Slot(x) => (!s.zero[x as usize]).then(|| (&s.slots[x as usize], 1)),
            Source::Row(x) => row(x).map(|r| (r, 1)),
            Source::Number(y) => match s.numbers[y as usize] {
                0 => None,
                c => last.then_some((&s.unit, c)),
            },
            Source::Product(x, y) => match s.numbers[y as usize] {
                0 => None,
                c => row(x).map(|r| (r, c)),
            },
        }
    }

    #[inline]
    fn step(&self, s: &mut Scratch, step: &Step, block: usize) -> Result<(), Wrong> {
        let x = self.value(s, step.x, block);
        let y = self.value(s, step.y, block);
        let mut out = match (x, y) {
            (None, None) => {
                s.zero[step.slot as usize] = true;
                return Ok(());
            }
            (Some((x, c)), None) => combined(x, c.wrapping_mul(step.c), &ZERO, 0),
            (None, Some((y, d))) => combined(y, d.wrapping_mul(step.d), &ZERO, 0),
            (Some((x, c)), Some((y, d))) => {
                combined(x, c.wrapping_mul(step.c), y, d.wrapping_mul(step.d))
            }
        };
        if step.bits > 0 && !halved(&mut out, step.bits) {
            return Err(Wrong::NotMultiple { form: step.form });
        }
        s.zero[step.slot as usize] = false;
        s.slots[step.slot as usize] = out;
        Ok(())
    }

    /// The product's coefficients: those of a_i in x^j·a.
    fn expect(&self, s: &mut Scratch, powers: &[Vec<(u16, u32)>], j: Option<usize>, block: usize) {
        s.expected.iter_mut().for_each(|e| *e = ZERO);
        let Some(j) = j else { return };
        for i in block * BLOCK..self.n.min((block + 1) * BLOCK) {
            for &(k, c) in &powers[i + j] {
                s.expected[usize::from(k)][i % BLOCK] = c as u16;
            }
        }
    }
}

impl Scratch {
    fn new(columns: &Columns) -> Scratch {
        let mut unit = ZERO;
        unit[columns.n % BLOCK] = 1;
        Scratch {
            numbers: vec![0; columns.numbers.len()],
            slots: vec![ZERO; columns.slots],
            zero: vec![true; columns.slots],
            expected: vec![ZERO; columns.outputs.len()],
            unit,
        }
    }
}

/// How many low bits of each form's coefficients the low `bits` bits of the outputs depend on; of
/// quotients that must leave no remainder one at least, so that they are evaluated.
fn demand(words: &Words, outputs: &[Word], bits: u8) -> Result<Vec<u8>, Wrong> {
    let mut demand = vec![0u8; words.forms.len()];
    let ask = |demand: &mut Vec<u8>, x: FormId, bits: u8| {
        let d = &mut demand[x as usize];
        *d = bits.max(*d);
    };
    for o in outputs {
        ask(&mut demand, o.form, bits.saturating_sub(o.twos));
    }
    words.obligations.iter().for_each(|&x| ask(&mut demand, x, 1));
    for id in (0..demand.len()).rev() {
        let (form, bits) = (words.forms[id], demand[id]);
        if bits == 0 {
            continue;
        }
        if bits > form.known {
            return Err(Wrong::Unknown { form: id as FormId });
        }
        match form.make {
            Make::Sum { x, c, y, d } => {
                ask(&mut demand, x, bits.saturating_sub(c.trailing_zeros() as u8));
                ask(&mut demand, y, bits.saturating_sub(d.trailing_zeros() as u8));
            }
            Make::Product { a, b } => {
                ask(&mut demand, a, bits);
                ask(&mut demand, b, bits);
            }
            Make::Half { x, bits: shift } => ask(&mut demand, x, bits + shift),
            Make::One | Make::Input { .. } => {}
        }
    }
    Ok(demand)
}

const ZERO: Block = [0; BLOCK];

/// `c·x + d·y` modulo 2^16.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn combined(x: &Block, c: u16, y: &Block, d: u16) -> Block {
    std::array::from_fn(|i| c.wrapping_mul(x[i]).wrapping_add(d.wrapping_mul(y[i])))
}

/// Divides by 2^bits; false if one is no multiple.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn halved(x: &mut Block, bits: u8) -> bool {
    let low = (1u16 << bits) - 1;
    let left = x.iter().fold(0, |all, v| all | v & low);
    x.iter_mut().for_each(|v| *v >>= bits);
    left == 0
}

/// The first place where x and y differ modulo a power of two.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn differs(x: &Block, y: &Block, mask: u16) -> Option<usize> {
    let all = x.iter().zip(y).fold(0, |all, (x, y)| all | (x ^ y) & mask);
    if all == 0 { None } else { x.iter().zip(y).position(|(x, y)| (x ^ y) & mask != 0) }
}
