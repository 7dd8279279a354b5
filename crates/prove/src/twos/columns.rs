//! Forms modulo 2^16 column by column: b = 0 and all b = e_j, as affine functions of a.
//!
//! With b fixed a form is a vector: its coefficients of a's elements and its constant, as words modulo
//! 2^16. Forms of a alone are evaluated once, forms of b alone are a number for each column, and the others
//! are evaluated for stretches of [`BLOCK`] elements. Since differences of columns are the
//! coefficients of a_i·b_j, a power of two divides all coefficients of a form exactly if it divides all entries
//! of all columns.

use super::blocks::{At, BLOCK, Block, Job, Step, ZERO, differs, run, scaled};
use super::demand::demand;
use super::word::{BITS, FormId, Make, ONE, Word};
use super::words::Words;
use crate::function::{Side, powers};
use rayon::prelude::*;
use ringforge_ring::Ring;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wrong {
    /// The coefficient of a_i·b_j (or of a_i, or of b_j, or the constant) in output k.
    Coefficient { i: Option<usize>, j: Option<usize>, k: usize, found: u16, expected: u16 },
    /// A word is shifted right and is no multiple of the power of two; the form is the quotient.
    NotMultiple { form: FormId },
    /// Stopped by the caller.
    Cancelled,
}

/// The place of what is not evaluated.
const UNUSED: u32 = u32::MAX;

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
    /// A vector times a number: products are evaluated where they are used.
    Product(u32, u32),
}

/// `slot := (c·x + d·y)/2^bits` in every column.
#[derive(Clone, Copy, Debug)]
struct Sum {
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
    /// Blocks of a vector.
    blocks: usize,
    steps: Vec<Sum>,
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
    /// Whether what a slot holds may be other than zero, in the column at hand.
    live: Vec<bool>,
    /// What there is to do in the column at hand.
    steps: Vec<Step>,
    outputs: Vec<(At, u16)>,
    slots: Vec<Block>,
    expected: Vec<Block>,
}

impl Columns {
    /// Prepares the low `bits` bits of `outputs`, forms in inputs of n elements each.
    ///
    /// # Errors
    /// If a form of a alone is no multiple.
    pub fn new(words: &Words, outputs: &[Word], bits: u8, n: usize) -> Result<Columns, Wrong> {
        let forms = &words.forms;
        let demand = demand(words, outputs, bits);
        let mut last_use: Vec<u32> = (0..forms.len() as u32).collect();
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
            place: vec![UNUSED; forms.len()],
            rows: Vec::new(),
            blocks,
            steps: Vec::new(),
            slots: 0,
            outputs: Vec::new(),
            products: 0,
            sums: 0,
        };
        let mut free: Vec<u32> = Vec::new();
        for (id, form) in forms.iter().enumerate() {
            if demand[id] == 0 && id != ONE as usize {
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
                    let (x, c, y, d, bits) = match form.make {
                        Make::Sum { x, c, y, d } => (x, c, y, d, 0),
                        Make::Half { x, bits, .. } => (x, 1, x, 0, bits),
                        _ => continue,
                    };
                    let sources = (this.source(words, x), this.source(words, y));
                    // Slots that are read for the last time here; a sum's summands differ.
                    let summands = if bits > 0 { &[x][..] } else { &[x, y] };
                    for &x in summands {
                        if last_use[x as usize] == id as u32
                            && let Source::Slot(slot) = this.source(words, x)
                        {
                            free.push(slot);
                        }
                    }
                    let (x, y) = sources;
                    let slot = free.pop().unwrap_or_else(|| {
                        this.slots += 1;
                        this.slots as u32 - 1
                    });
                    this.place[id] = slot;
                    this.steps.push(Sum { slot, x, c, y, d, bits, form: id as u32 });
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
        let form = &words.forms[x as usize];
        let place = |x: FormId| self.place[x as usize];
        match (form.make, form.side) {
            // Multiplied by a multiple of the modulus, and not evaluated.
            (Make::Product { a, b }, _) if place(a) == UNUSED || place(b) == UNUSED => Source::None,
            (Make::Product { a, b }, _) => Source::Product(place(a), place(b)),
            _ if place(x) == UNUSED => Source::None,
            (_, Side::None | Side::B) => Source::Number(place(x)),
            (_, Side::A) => Source::Row(place(x)),
            (_, Side::Both) => Source::Slot(place(x)),
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
            if x == ONE {
                row[self.n] = row[self.n].wrapping_add(c);
            } else if self.place[x as usize] != UNUSED {
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
            Make::Half { x, bits, .. } => {
                add(x, 1);
                let low = (1 << bits) - 1;
                if row.iter().any(|v| v & low != 0) {
                    return Err(Wrong::NotMultiple { form: id as FormId });
                }
                row.iter_mut().for_each(|v| *v >>= bits);
            }
            Make::One | Make::Product { .. } => {}
        }
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
        let scratch = || Scratch {
            numbers: vec![0; self.numbers.len()],
            live: vec![false; self.slots],
            steps: Vec::new(),
            outputs: Vec::new(),
            slots: vec![ZERO; self.slots],
            expected: vec![ZERO; self.outputs.len()],
        };
        let wrong = (0..=self.n)
            .into_par_iter()
            .map_init(scratch, |scratch, column| {
                if stop.load(Ordering::Relaxed) {
                    return Err(Wrong::Cancelled);
                }
                let result = self.column(scratch, &powers, column.checked_sub(1));
                let d = done.fetch_add(1, Ordering::Relaxed);
                if d.is_multiple_of(8) && !progress(d as f64 / (self.n + 1) as f64) {
                    stop.store(true, Ordering::Relaxed);
                }
                result
            })
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
        self.number(s, j)?;
        self.plan(s);
        for block in 0..self.blocks {
            // The constant is the last entry.
            let one = (block == self.n / BLOCK).then_some(self.n % BLOCK);
            let job = Job { steps: &s.steps, rows: &self.rows, blocks: self.blocks, block, one };
            run(&job, &mut s.slots).map_err(|form| Wrong::NotMultiple { form })?;
            self.expect(&mut s.expected, powers, j, block);
            for (k, &(at, c)) in s.outputs.iter().enumerate() {
                let found = scaled(&job, at, c, &s.slots);
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

    /// Evaluates the forms of b.
    fn number(&self, s: &mut Scratch, j: Option<usize>) -> Result<(), Wrong> {
        for (i, &(make, form)) in self.numbers.iter().enumerate() {
            let at = |x: FormId| match self.place[x as usize] {
                UNUSED => 0,
                place => s.numbers[place as usize],
            };
            s.numbers[i] = match make {
                Make::One => 1,
                Make::Input { index, .. } => u16::from(j == Some(index as usize)),
                Make::Sum { x, c, y, d } => {
                    c.wrapping_mul(at(x)).wrapping_add(d.wrapping_mul(at(y)))
                }
                Make::Half { x, bits, .. } if at(x) & ((1 << bits) - 1) != 0 => {
                    return Err(Wrong::NotMultiple { form });
                }
                Make::Half { x, bits, .. } => at(x) >> bits,
                Make::Product { .. } => 0,
            };
        }
        Ok(())
    }

    /// What is left to do in a column: most products there are with zero.
    fn plan(&self, s: &mut Scratch) {
        s.steps.clear();
        for step in &self.steps {
            let (x, c) = self.at(&s.numbers, &s.live, step.x, step.c);
            let (y, d) = self.at(&s.numbers, &s.live, step.y, step.d);
            s.live[step.slot as usize] = x != At::Nowhere || y != At::Nowhere;
            let ((x, c), (y, d)) =
                if x == At::Nowhere { ((y, d), (x, c)) } else { ((x, c), (y, d)) };
            // Nothing is added to what stands there.
            let same = y == At::Nowhere && x == At::Slot(step.slot) && c == 1 && step.bits == 0;
            if x != At::Nowhere && !same {
                let (slot, bits, form) = (step.slot, step.bits, step.form);
                s.steps.push(Step { slot, x, c, y, d, bits, form });
            }
        }
        s.outputs.clear();
        for &(source, c) in &self.outputs {
            s.outputs.push(self.at(&s.numbers, &s.live, source, c));
        }
    }

    /// Where a summand is found in the column with these numbers, and its coefficient.
    fn at(&self, numbers: &[u16], live: &[bool], source: Source, c: u16) -> (At, u16) {
        let (at, c) = match source {
            Source::None => (At::Nowhere, 0),
            Source::Slot(x) if live[x as usize] => (At::Slot(x), c),
            Source::Slot(_) => (At::Nowhere, 0),
            Source::Row(x) => (At::Row(x), c),
            Source::Number(y) => (At::Constant, c.wrapping_mul(numbers[y as usize])),
            Source::Product(x, y) => (At::Row(x), c.wrapping_mul(numbers[y as usize])),
        };
        if c == 0 { (At::Nowhere, 0) } else { (at, c) }
    }

    /// The product's coefficients: those of a_i in x^j·a.
    fn expect(
        &self,
        expected: &mut [Block],
        powers: &[Vec<(u16, u32)>],
        j: Option<usize>,
        block: usize,
    ) {
        expected.iter_mut().for_each(|e| *e = ZERO);
        let Some(j) = j else { return };
        for i in block * BLOCK..self.n.min((block + 1) * BLOCK) {
            for &(k, c) in &powers[i + j] {
                expected[usize::from(k)][i % BLOCK] = c as u16;
            }
        }
    }
}
