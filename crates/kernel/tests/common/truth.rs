//! What lines say, by evaluating the graph and every definition: independent of the kernel's rules.

use super::{Bench, Q};
use ringforge_kernel::atom::{Atom, Facts};
use ringforge_kernel::certificate::Line;
use ringforge_kernel::compare::{Residue, Term};
use ringforge_kernel::form::{Form, Word};
use ringforge_kernel::fun::{Fun, FunOp};
use ringforge_kernel::replay::Walked;
use ringforge_machine::eval::Tape;
use std::collections::HashMap;

/// A function at an integer, which counts modulo 2^64: the value read as signed.
pub fn function(at: &dyn Fn(u32) -> Fun, f: u32, x: i64) -> i64 {
    let mut known: HashMap<u32, i64> = HashMap::new();
    value(at, f, x, &mut known)
}

fn value(at: &dyn Fn(u32) -> Fun, f: u32, x: i64, known: &mut HashMap<u32, i64>) -> i64 {
    if let Some(&v) = known.get(&f) {
        return v;
    }
    let fun = at(f);
    let args: Vec<i128> = fun.args.iter().map(|a| value(at, a.0, x, known).into()).collect();
    let modulus = 1i128 << fun.width;
    let signed = |i: usize| args[i];
    let exact: i128 = match &fun.op {
        FunOp::Lin { k, x: slope, c } => {
            let mut sum = i128::from(*k) + i128::from(slope.wrapping_mul(x));
            for (i, &c) in c.iter().enumerate() {
                sum += i128::from(c) * signed(i) % (1 << 64);
            }
            sum
        }
        FunOp::Floor(lo) => signed(0).div_euclid(1 << lo),
        FunOp::Mul => signed(0) * signed(1),
        FunOp::And => signed(0) & signed(1),
        FunOp::Less => -i128::from(signed(0) < signed(1)),
        FunOp::Select => signed(if signed(0) != 0 { 1 } else { 2 }),
    };
    let low = exact.rem_euclid(modulus);
    let read = if low >= modulus / 2 { low - modulus } else { low } as i64;
    known.insert(f, read);
    read
}

/// Integers of atoms; [`None`] beyond 128 bits.
pub struct Values(pub Vec<Option<i128>>);

impl Values {
    /// The atoms' integers in order.
    pub fn of<'a>(
        atoms: impl Iterator<Item = &'a Atom>,
        fun: &dyn Fn(u32) -> Fun,
        input: &dyn Fn(u16, u32) -> i64,
        node: &dyn Fn(u32) -> Option<i128>,
    ) -> Values {
        let mut all = Values(Vec::new());
        for atom in atoms {
            let value = match atom {
                Atom::Input { operand, index } => Some(input(*operand, *index).into()),
                Atom::Name(f) => all.form(f),
                Atom::Function { of, fun: f } => {
                    all.0[*of as usize].map(|x| function(fun, f.0, x as i64).into())
                }
                Atom::Product(x, y) => {
                    let (x, y) = (all.0[*x as usize], all.0[*y as usize]);
                    x.zip(y).and_then(|(x, y)| x.checked_mul(y))
                }
                Atom::Floor { form, bits } => all.form(form).map(|v| v >> bits),
                Atom::Low(w) => all.word(w).map(|v| v.rem_euclid(1 << w.bits)),
                Atom::Value { node: n, bits } => node(*n).map(|v| v.rem_euclid(1 << bits)),
            };
            all.0.push(value);
        }
        all
    }

    /// A form's integer.
    pub fn form(&self, f: &Form) -> Option<i128> {
        let mut sum = f.k;
        for &(a, c) in &f.t {
            sum = sum.checked_add(c.checked_mul(self.0[a as usize]?)?)?;
        }
        Some(sum)
    }

    /// What a form is modulo its modulus.
    pub fn residue(&self, r: &Residue) -> Option<i128> {
        let m = i128::from(r.m);
        let of = |x: u32| self.0[x as usize].map(|v| v.rem_euclid(m));
        r.t.iter().try_fold(i128::from(r.k), |sum, &(term, c)| {
            let term = match term {
                Term::Value(x) => of(x)?,
                Term::Product(x, y) => of(x)? * of(y)?,
            };
            Some((sum + term % m * i128::from(c)) % m)
        })
    }

    /// A word's integer, modulo 2^bits.
    pub fn word(&self, w: &Word) -> Option<i128> {
        let t = w.t.iter().map(|&(a, c)| (a, c.into())).collect();
        self.form(&Form { k: w.k.into(), t })
    }
}

/// Everything that accepted lines and the facts behind them say, for one choice of the inputs.
///
/// # Errors
/// What is false.
pub fn check(
    bench: &Bench,
    lines: &[Line],
    walked: &Walked,
    inputs: &[Vec<i64>],
) -> Result<(), String> {
    // Elements that the graph does not read are anything.
    let input = |o: u16, i: u32| inputs[usize::from(o)].get(i as usize).copied().unwrap_or(0);
    let funs: Vec<&Fun> =
        lines.iter().filter_map(|l| if let Line::Fun(f) = l { Some(f) } else { None }).collect();
    let atoms = lines.iter().filter_map(|l| if let Line::Atom(a) = l { Some(a) } else { None });
    let tape = Tape::new(&bench.graph, &bench.outputs).map_err(|e| e.to_string())?;
    let words = tape.values(1, &mut |o, i, out| out[0] = input(o, i) as u64);
    let word_of = |node: u32| {
        let slot = tape.nodes().iter().position(|n| n.0 == node);
        slot.map(|s| i128::from(words[s]))
    };
    let values = Values::of(atoms, &|f| funs[f as usize].clone(), &input, &word_of);
    for (number, line) in lines.iter().enumerate() {
        let ok = match line {
            Line::Bound { atom, lo, hi, .. } => {
                values.0[*atom as usize].is_none_or(|v| *lo <= v && v <= *hi)
            }
            Line::Near { form, .. } => values.form(form).is_none_or(|v| v == 0),
            Line::Node { node, claim: Some(claim), .. } => {
                let (is, claimed) = (word_of(*node), values.word(claim));
                is.zip(claimed).is_none_or(|(x, y)| (x - y).rem_euclid(1 << claim.bits) == 0)
            }
            Line::Output { index, form, .. } => {
                let is = output(bench, &word_of, *index as usize)?;
                values.form(form).is_none_or(|v| v == is)
            }
            _ => true,
        };
        if !ok {
            return Err(format!("line {} is false: {line:?}", number + 1));
        }
    }
    facts(&walked.facts, bench.q, lines, &input, &word_of)?;
    let of = |f: u32| walked.facts.enumerated.funs.get(ringforge_kernel::fun::FunId(f)).clone();
    let values = Values::of(walked.facts.atoms.iter(), &of, &input, &word_of);
    for (k, residue) in walked.outputs.iter().enumerate() {
        let is = output(bench, &word_of, k)?;
        if is < bench.target.lo.into() || is > bench.target.hi.into() {
            return Err(format!("output {k} is {is}, out of its range"));
        }
        let claimed = values.residue(residue);
        if claimed.is_some_and(|v| (v - is).rem_euclid(bench.q.into()) != 0) {
            return Err(format!("output {k} is {is}, not {claimed:?} modulo {}", bench.q));
        }
    }
    Ok(())
}

/// The output elements as their reader sees them, for one choice of the inputs.
pub fn outputs(bench: &Bench, inputs: &[Vec<i64>]) -> Vec<i64> {
    let tape = Tape::new(&bench.graph, &bench.outputs).expect("a graph that can be evaluated");
    let words = tape.values(1, &mut |o, i, out| out[0] = inputs[usize::from(o)][i as usize] as u64);
    let word_of = |node: u32| {
        let slot = tape.nodes().iter().position(|n| n.0 == node);
        slot.map(|s| i128::from(words[s]))
    };
    let one = |k| output(bench, &word_of, k).expect("an output that is evaluated") as i64;
    (0..bench.outputs.len()).map(one).collect()
}

/// An output element as its reader sees it.
fn output(bench: &Bench, word: &dyn Fn(u32) -> Option<i128>, k: usize) -> Result<i128, String> {
    let bits = word(bench.outputs[k].0).ok_or("an output that is not evaluated")?;
    let half = 1i128 << (bench.target.bits - 1);
    Ok(if bench.target.signed && bits >= half { bits - 2 * half } else { bits })
}

/// The kernel's own atoms: intervals, equations, and what they are modulo something.
fn facts(
    facts: &Facts,
    q: u32,
    lines: &[Line],
    input: &dyn Fn(u16, u32) -> i64,
    node: &dyn Fn(u32) -> Option<i128>,
) -> Result<(), String> {
    let of = |f: u32| facts.enumerated.funs.get(ringforge_kernel::fun::FunId(f)).clone();
    let values = Values::of(facts.atoms.iter(), &of, input, node);
    let mut moduli: Vec<u32> = lines
        .iter()
        .filter_map(|l| match l {
            Line::Residue { m, .. } | Line::Modulo { m, .. } => Some(*m),
            _ => None,
        })
        .collect();
    moduli.extend([q, Q, 2, 8, 2048]);
    for (a, value) in (0..).zip(&values.0) {
        let Some(value) = *value else { continue };
        if facts.bounds(a).is_some_and(|(lo, hi)| value < lo || value > hi) {
            return Err(format!("atom {a} is {value}, outside {:?}", facts.bounds(a)));
        }
        for &m in &moduli {
            let Some(c) = facts.congruence(a, m) else { continue };
            let claimed = values.residue(&c);
            if claimed.is_some_and(|v| (v - value).rem_euclid(m.into()) != 0) {
                return Err(format!("atom {a} is {value}, not {c:?}"));
            }
        }
    }
    for (&a, whole) in &facts.wholes {
        let is = values.0[a as usize].zip(values.residue(whole));
        if is.is_some_and(|(x, y)| (x - y).rem_euclid(whole.m.into()) != 0) {
            return Err(format!("atom {a} is {is:?}, by {whole:?}"));
        }
    }
    for zero in &facts.zero {
        if values.form(zero).is_some_and(|v| v != 0) {
            return Err(format!("{zero:?} is not zero"));
        }
    }
    Ok(())
}

/// Inputs: the corners, zero and its neighbours, and random ones.
pub fn samples(bench: &Bench, count: usize, random: &mut Random) -> Vec<Vec<Vec<i64>>> {
    let pick = |o: &ringforge_kernel::replay::Operand, random: &mut Random, kind: u64| {
        let width = i128::from(o.hi) - i128::from(o.lo) + 1;
        match kind {
            0 => o.lo,
            1 => o.hi,
            2 => 0.clamp(o.lo, o.hi),
            3 => (random.below(5) as i64 - 2).clamp(o.lo, o.hi),
            _ => (i128::from(o.lo) + i128::from(random.next()) % width) as i64,
        }
    };
    let mut one = |_| {
        let mut all = Vec::new();
        for o in &bench.operands {
            let kind = random.below(8);
            all.push((0..bench.length).map(|_| pick(o, random, kind)).collect());
        }
        all
    };
    (0..count).map(&mut one).collect()
}

/// A fixed sequence of numbers.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
