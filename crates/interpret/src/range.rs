//! Which values can occur: a word is an interval of integers.
//!
//! Sums use interval arithmetic. Every function of one 16-bit word (modular product by a constant, reduction,
//! freezing) is enumerated exactly, as in [TokudaKameyama23 §3.1]. Reductions of wide sums have exact bounds. A sum that
//! may leave its word is a [`Fault`] that names the place. At the modular level integers represent residues, and a
//! wrapped integer represents another residue.
//!
//! Meant for the modular level: the expansion's words wrap on purpose.

use crate::run::exported;
use crate::walk::*;
use ringforge_program::ir::{Buffer, Op, Procedure, Program, Role, Shape, UnsignedWord};
use ringforge_program::method::*;
use serde::Serialize;
use std::collections::HashMap;

/// The interval `[lo, hi]` of integers.
pub type Interval = (i64, i64);

/// The ranges that occur in one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageRange {
    /// Titles, outermost stage first; empty for what lies outside all stages.
    pub path: Vec<String>,
    /// Where the stage comes from.
    pub cite: String,
    /// What it leaves in memory.
    pub stored: Option<Interval>,
    /// Every intermediate word.
    pub words: Option<Interval>,
    /// Every intermediate wide element.
    pub elements: Option<Interval>,
    /// The largest size of a word by its distance to overflow: 1 fills the word.
    pub fill: f64,
}

/// The ranges that occur in a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranges {
    /// Bits of a word: the scale of the rest.
    pub word_bits: u8,
    /// Parameters that are read, with the interval assumed.
    pub inputs: Vec<(String, Interval)>,
    /// Parameters that are written, with the interval found.
    pub outputs: Vec<(String, Interval)>,
    /// In order of their first beginning.
    pub stages: Vec<StageRange>,
    /// How many functions of one word were enumerated, and how many words in all.
    pub enumerated: (usize, u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Unary {
    Mul(MulMethod, u64),
    Reduce(ReduceMethod),
    Freeze(FreezeMethod),
    Unsigned(UnsignedWord),
}

/// The domain of intervals.
pub struct Intervals {
    modulus: Modulus,
    known: HashMap<(Modulus, Unary, Interval), Interval>,
    enumerated: u64,
    stages: Vec<StageRange>,
    index: HashMap<Vec<String>, usize>,
    path: Vec<(String, String)>,
}

impl Intervals {
    fn new(modulus: Modulus) -> Intervals {
        let (known, index) = (HashMap::new(), HashMap::new());
        Intervals { modulus, known, enumerated: 0, stages: Vec::new(), index, path: Vec::new() }
    }

    fn enumerate(&mut self, f: Unary, a: Interval) -> Interval {
        if let Some(&known) = self.known.get(&(self.modulus, f, a)) {
            return known;
        }
        let image = match f {
            Unary::Mul(method, c) => method.range(a, c, self.modulus),
            Unary::Reduce(method) => method.range(a, self.modulus),
            Unary::Freeze(method) => method.range(a, self.modulus),
            Unary::Unsigned(op) => {
                let all = (a.0..=a.1).map(|x| op.apply(x, 0, self.modulus));
                all.fold((i64::MAX, i64::MIN), |r, y| (r.0.min(y), r.1.max(y)))
            }
        };
        if self.modulus.bits == 16 {
            self.enumerated += (a.1 - a.0 + 1) as u64;
        }
        self.known.insert((self.modulus, f, a), image);
        image
    }

    /// A sum or product as a word. Modulo 2^w words are residues as they are, and may wrap.
    fn word(&self, what: &str, x: Exact) -> Result<Interval, Refusal> {
        let found = within(what, x, self.modulus.bits);
        let wraps = Some(self.modulus.q) == 1u64.checked_shl(self.modulus.bits.into());
        if wraps { Ok(found.unwrap_or(self.modulus.words())) } else { found }
    }

    /// A sum or product as an element, which may wrap where words may.
    fn element(&self, what: &str, x: Exact) -> Result<Interval, Refusal> {
        let bits = 2 * self.modulus.bits;
        let found = within(what, x, bits);
        let wraps = self.modulus.q == self.modulus.radix() as u64;
        let most = (1i64 << (bits - 1)).wrapping_sub(1);
        if wraps { Ok(found.unwrap_or((-1 - most, most))) } else { found }
    }

    fn stage(&mut self) -> &mut StageRange {
        let path: Vec<String> = self.path.iter().map(|(title, _)| title.clone()).collect();
        let next = self.stages.len();
        let i = *self.index.entry(path.clone()).or_insert(next);
        if i == next {
            let cite = self.path.last().map(|(_, cite)| cite.clone()).unwrap_or_default();
            let (stored, words, elements) = (None, None, None);
            self.stages.push(StageRange { path, cite, stored, words, elements, fill: 0.0 });
        }
        &mut self.stages[i]
    }
}

fn join(a: Option<Interval>, b: Interval) -> Option<Interval> {
    Some(a.map_or(b, |a| (a.0.min(b.0), a.1.max(b.1))))
}

/// An interval before it is known to fit: 64-bit elements may leave 64 bits.
type Exact = (i128, i128);

fn exact(a: Interval) -> Exact {
    (a.0.into(), a.1.into())
}

fn within(what: &str, a: Exact, bits: u8) -> Result<Interval, Refusal> {
    let limit = 1i128 << (bits - 1);
    if -limit <= a.0 && a.1 < limit {
        return Ok((a.0 as i64, a.1 as i64));
    }
    Err(format!("{what} can be any of [{}, {}], which {bits} bits do not hold", a.0, a.1))
}

fn sum(a: Exact, b: Exact) -> Exact {
    (a.0 + b.0, a.1 + b.1)
}

fn difference(a: Exact, b: Exact) -> Exact {
    (a.0 - b.1, a.1 - b.0)
}

fn products(a: Interval, b: Interval) -> Exact {
    let (a, b) = (exact(a), exact(b));
    let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    let fold = |f: fn(i128, i128) -> i128| all.into_iter().reduce(f).unwrap_or(0);
    (fold(i128::min), fold(i128::max))
}

fn shifted(what: &str, op: Shift, a: Interval, bits: u8) -> Result<Interval, Refusal> {
    match op {
        Shift::Left(k) => within(what, products(a, (1 << k, 1 << k)), bits),
        Shift::Arithmetic(k) => Ok((a.0 >> k, a.1 >> k)),
        Shift::Logical(k) if a.0 >= 0 => Ok((a.0 >> k, a.1 >> k)),
        Shift::Logical(k) => within(what, (0, ((1i128 << bits) - 1) >> k), bits),
    }
}

/// The smallest interval `[-2^k, 2^k - 1]` or `[0, 2^k - 1]` around one of bitwise results.
fn bitwise(a: Interval, b: Interval) -> Interval {
    let top = a.1.max(b.1).max(-1 - a.0.min(0)).max(-1 - b.0.min(0));
    let mask = (1i64 << (64 - top.leading_zeros())) - 1;
    if a.0 < 0 || b.0 < 0 { (-mask - 1, mask) } else { (0, mask) }
}

impl Domain for Intervals {
    type Word = Interval;
    type Wide = Interval;

    fn constant(&mut self, word: i64) -> Interval {
        (word, word)
    }

    fn binary(&mut self, op: Binary, a: &Interval, b: &Interval) -> Result<Interval, Refusal> {
        let (a, b, bits) = (*a, *b, self.modulus.bits);
        Ok(match op {
            Binary::Add => self.word("the sum", sum(exact(a), exact(b)))?,
            Binary::Sub => self.word("the difference", difference(exact(a), exact(b)))?,
            Binary::MulLo => self.word("the product", products(a, b))?,
            Binary::MulHi => {
                let p = products(a, b);
                within("the high product", (p.0 >> bits, p.1 >> bits), bits)?
            }
            Binary::MulHiU if a.0 >= 0 && b.0 >= 0 => ((a.0 * b.0) >> bits, (a.1 * b.1) >> bits),
            Binary::MulHiU => self.modulus.words(),
            Binary::MulHrs => {
                let p = products(a, b);
                let round = |x: i128| (x + (1 << (bits - 2))) >> (bits - 1);
                within("the rounded product", (round(p.0), round(p.1)), bits)?
            }
            Binary::Greater if a.0 > b.1 => (-1, -1),
            Binary::Greater if a.1 <= b.0 => (0, 0),
            Binary::Greater => (-1, 0),
            Binary::Min => (a.0.min(b.0), a.1.min(b.1)),
            Binary::Max => (a.0.max(b.0), a.1.max(b.1)),
            Binary::MinU if a.0 >= 0 && b.0 >= 0 => (a.0.min(b.0), a.1.min(b.1)),
            // One of the operands: which, depends on signs.
            Binary::MinU => (a.0.min(b.0), a.1.max(b.1)),
            Binary::And if b == (-1, -1) => a,
            Binary::And if a == (-1, -1) => b,
            Binary::And if a.0 >= 0 || b.0 >= 0 => {
                let caps = [a, b].into_iter().filter(|x| x.0 >= 0).map(|x| x.1);
                (0, caps.min().unwrap_or(self.modulus.words().1))
            }
            Binary::And | Binary::Or | Binary::Xor => bitwise(a, b),
        })
    }

    fn shift(&mut self, op: Shift, a: &Interval) -> Result<Interval, Refusal> {
        if let Shift::Left(k) = op {
            return self.word("the shifted word", products(*a, (1 << k, 1 << k)));
        }
        shifted("the shifted word", op, *a, self.modulus.bits)
    }

    fn mul_mod(&mut self, a: &Interval, c: u64, method: MulMethod) -> Result<Interval, Refusal> {
        Ok(self.enumerate(Unary::Mul(method, c), *a))
    }

    fn reduce(&mut self, a: &Interval, method: ReduceMethod) -> Result<Interval, Refusal> {
        if let Some(missing) = method.missing(self.modulus) {
            return Err(missing);
        }
        let domain = method.domain(self.modulus);
        if a.0 < domain.0 || a.1 > domain.1 {
            return Err(format!(
                "reduces any of [{}, {}], but the method accepts only [{}, {}]",
                a.0, a.1, domain.0, domain.1
            ));
        }
        Ok(self.enumerate(Unary::Reduce(method), *a))
    }

    fn narrow(&mut self, x: &Interval, method: NarrowMethod) -> Result<Interval, Refusal> {
        method.range(*x, self.modulus).ok_or_else(|| {
            format!(
                "a sum in [{}, {}] has a reduction that {} bits do not hold",
                x.0, x.1, self.modulus.bits
            )
        })
    }

    fn mul_words(
        &mut self,
        a: &Interval,
        b: &Interval,
        method: ProductMethod,
    ) -> Result<Interval, Refusal> {
        method.range(*a, *b, self.modulus).ok_or_else(|| {
            format!(
                "the modular product of [{}, {}] and [{}, {}] does not fit {} bits",
                a.0, a.1, b.0, b.1, self.modulus.bits
            )
        })
    }

    fn freeze(&mut self, a: &Interval, method: FreezeMethod) -> Result<Interval, Refusal> {
        let domain = method.domain(self.modulus);
        if a.0 < domain.0 || a.1 > domain.1 {
            return Err(format!(
                "freezing is right on [{}, {}], but the word can be any of [{}, {}]",
                domain.0, domain.1, a.0, a.1
            ));
        }
        Ok(self.enumerate(Unary::Freeze(method), *a))
    }

    fn unsigned(
        &mut self,
        op: UnsignedWord,
        a: &Interval,
        b: &Interval,
    ) -> Result<Interval, Refusal> {
        let last = self.modulus.radix() - 1;
        let word = |what: &str, x: Interval| match x.0 >= 0 && x.1 <= last {
            true => Ok(x),
            false => Err(format!(
                "{what} can be any of [{}, {}], which is not within [0, {last}]",
                x.0, x.1
            )),
        };
        let (a, b) = (word("the operand", *a)?, word("the operand", *b)?);
        match op {
            UnsignedWord::Add => word("the sum", (a.0 + b.0, a.1 + b.1)),
            UnsignedWord::Sub(offset) => {
                let more = (a.0 + i64::from(offset), a.1 + i64::from(offset));
                word("the sum with the multiple of q", more)?;
                word("the difference", (more.0 - b.1, more.1 - b.0))
            }
            UnsignedWord::MulWords if b.1 >= self.modulus.q as i64 => {
                Err(format!("a factor can be {}, which is not below q = {}", b.1, self.modulus.q))
            }
            UnsignedWord::MulWords => Ok((0, self.modulus.q as i64 - 1)),
            UnsignedWord::Mul(_) | UnsignedWord::Reduce(_) => {
                Ok(self.enumerate(Unary::Unsigned(op), a))
            }
        }
    }

    fn pair_dot(&mut self, a: [&Interval; 2], b: [&Interval; 2]) -> Result<Interval, Refusal> {
        let (x, y) = (products(*a[0], *b[0]), products(*a[1], *b[1]));
        self.element("the sum of two products", sum(x, y))
    }

    fn wide_binary(
        &mut self,
        op: WideBinary,
        a: &Interval,
        b: &Interval,
    ) -> Result<Interval, Refusal> {
        let (x, y) = (exact(*a), exact(*b));
        match op {
            WideBinary::Add => self.element("the wide sum", sum(x, y)),
            WideBinary::Sub => self.element("the wide difference", difference(x, y)),
            WideBinary::MulLo => self.element("the wide product", products(*a, *b)),
        }
    }

    fn wide_shift(&mut self, op: Shift, a: &Interval) -> Result<Interval, Refusal> {
        shifted("the shifted element", op, *a, 2 * self.modulus.bits)
    }

    fn join(&mut self, low: &Interval, high: &Interval) -> Result<Interval, Refusal> {
        let bits = self.modulus.bits;
        let low = if low.0 >= 0 { *low } else { (0, self.modulus.radix() - 1) };
        Ok(((high.0 << bits) + low.0, (high.1 << bits) + low.1))
    }

    fn split(&mut self, x: &Interval) -> Result<(Interval, Interval), Refusal> {
        let (words, bits) = (self.modulus.words(), self.modulus.bits);
        let low = if x.0 >= words.0 && x.1 <= words.1 { *x } else { words };
        Ok((low, (x.0 >> bits, x.1 >> bits)))
    }

    fn modulus(&mut self, modulus: Modulus) -> Result<(), Refusal> {
        self.modulus = modulus;
        Ok(())
    }

    fn kept(&mut self, word: &Interval, bits: u8) -> Result<Interval, Refusal> {
        within("the stored word", exact(*word), bits)
    }

    fn enter(&mut self, title: &str, cite: &str) {
        self.path.push((title.to_string(), cite.to_string()));
        self.stage();
    }

    fn leave(&mut self) {
        self.path.pop();
    }

    fn defined(
        &mut self,
        op: &Op,
        result: &Register<Interval, Interval>,
        values: &[Register<Interval, Interval>],
    ) {
        let most = self.modulus.words().1;
        let hull = |all: &[Interval]| all.iter().fold(None, |r, &x| join(r, x));
        match (op, result) {
            (Op::Splat(_) | Op::Lanes(_), _) => {}
            (_, Register::Words(all)) => {
                if let Some(r) = hull(all) {
                    let stage = self.stage();
                    stage.words = join(stage.words, r);
                    stage.fill = stage.fill.max((r.1.max(-1 - r.0)) as f64 / most as f64);
                }
            }
            (_, Register::Wide(all)) => {
                if let Some(r) = hull(all) {
                    let stage = self.stage();
                    stage.elements = join(stage.elements, r);
                }
            }
            (_, Register::Nothing) if op.shape() == Shape::Nothing => {
                for v in op.operands() {
                    if let Register::Words(all) = &values[v.0 as usize]
                        && let Some(r) = hull(all)
                    {
                        let stage = self.stage();
                        stage.stored = join(stage.stored, r);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The ranges of a program whose inputs lie in the ranges of its parameters. A parameter without a range may be any
/// word. The error is the first place where a value may not fit, or an output may leave the range that it promises.
pub fn ranges(program: &Program) -> Result<Ranges, Fault> {
    analyse(program, None)
}

/// As [`ranges`], but the output lies in the same array as input number `alias`.
pub fn ranges_in_place(program: &Program, alias: usize) -> Result<Ranges, Fault> {
    analyse(program, Some(alias))
}

/// Every word that a buffer can hold.
fn all_words(procedure: &Procedure, buffer: &Buffer) -> Interval {
    Modulus { bits: buffer.bits, ..procedure.modulus() }.words()
}

fn analyse(program: &Program, alias: Option<usize>) -> Result<Ranges, Fault> {
    let id = exported(program)?;
    let procedure = &program.procedures[id.0 as usize];
    let mut machine = Machine::new(program, Intervals::new(program.modulus()));
    let (mut arguments, mut inputs, mut written) = (Vec::new(), Vec::new(), Vec::new());
    let mut read = Vec::new();
    for buffer in procedure.buffers.iter().filter(|b| b.role.is_parameter()) {
        let range = buffer.range.unwrap_or(all_words(procedure, buffer));
        let start = if buffer.role == Role::Output { None } else { Some(range) };
        let array = machine.array(vec![start; buffer.words]);
        if matches!(buffer.role, Role::Output | Role::InOut) {
            written.push((buffer, array));
        }
        if buffer.role != Role::Output {
            inputs.push((buffer.name.clone(), range));
            read.push(array);
        }
        arguments.push((array, 0));
    }
    if let Some(alias) = alias {
        let (Some(&array), Some((output, place))) = (read.get(alias), written.last_mut()) else {
            let place = Place { procedure: procedure.name.clone(), ..Place::default() };
            let reason = format!("there is no input {alias}, or no output");
            return Err(Fault { place: Box::new(place), reason });
        };
        let parameters = procedure.buffers.iter().filter(|b| b.role.is_parameter());
        let at = parameters.into_iter().position(|b| b.name == output.name);
        at.into_iter().for_each(|i| arguments[i].0 = array);
        *place = array;
    }
    machine.call(id, &arguments)?;
    let mut outputs = Vec::new();
    for (buffer, array) in written {
        let place = || Place { procedure: procedure.name.clone(), ..Place::default() };
        let words = machine.words(array);
        let mut found = None;
        for (i, word) in words.iter().enumerate() {
            let promised = buffer.range.unwrap_or(all_words(procedure, buffer));
            let reason = match word {
                None => format!("word {i} of {} is never written", buffer.name),
                Some(r) if r.0 < promised.0 || r.1 > promised.1 => format!(
                    "word {i} of {} can be any of [{}, {}], but [{}, {}] is promised",
                    buffer.name, r.0, r.1, promised.0, promised.1
                ),
                Some(r) => {
                    found = join(found, *r);
                    continue;
                }
            };
            return Err(Fault { place: Box::new(place()), reason });
        }
        outputs.push((buffer.name.clone(), found.unwrap_or((0, 0))));
    }
    let domain = machine.domain;
    let enumerated = (domain.known.len(), domain.enumerated);
    Ok(Ranges { word_bits: program.word_bits, inputs, outputs, stages: domain.stages, enumerated })
}
