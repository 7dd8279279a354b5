//! Writes the lines that show the kernel which integers the reconstructions are
//! ([`crate::garner`]), and what outputs are in terms of these integers.
//!
//! A reconstruction is known modulo each of its moduli as a form over lower integers. These are
//! inputs and their products, or variables that are known modulo q. The search gives the
//! reconstruction a name. `modulo` lines state the residue of the name modulo each modulus, after
//! all digits of other moduli have cancelled. A `chinese` line then states that the name is an
//! integer form.
//!
//! Some outputs, and some variables that are lower integers of further reconstructions, were known
//! modulo q in terms of digits. They get new names, which are known in terms of the
//! reconstructions' names.

use crate::cut::Cutter;
use crate::garner::{Apart, Failure, Multiples, Parts, Reconstruction, Reconstructions};
use crate::record::plain;
use crate::values::{Form, ModForm, VarId};
use ringforge_kernel::atom::Atom as Made;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::form::Form as Sum;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Stages of reconstructions over reconstructions at most.
const STAGES: usize = 8;

/// An output or a variable whose form modulo q has digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Output(usize),
    Var(VarId),
}

/// What is known modulo q in terms of digits, and in terms of reconstructions.
struct Rooted {
    root: Root,
    apart: Apart,
    reconstructions: Multiples,
    /// The digits that were unfolded for that, with factors.
    spelled: BTreeMap<VarId, u32>,
}

struct Lift<'c> {
    reconstructions: Reconstructions<'c>,
    /// Elements of an operand.
    n: usize,
    /// In order of discovery, without those that are already recorded.
    roots: Vec<Rooted>,
    /// By reconstruction: the variables that its integer form is over; none if these are the inputs
    /// of two operands.
    lower: Vec<Vec<VarId>>,
    /// By reconstruction: the kernel's name of it.
    named: FxHashMap<usize, u32>,
    /// The kernel's name, in terms of reconstructions, of a root.
    renamed: FxHashMap<VarId, u32>,
}

/// Records what outputs with digits are in terms of the integers that the digits represent. Writes
/// no line if no output has digits. `n` is the number of elements of an operand.
///
/// # Errors
/// Says why the outputs are not understood.
pub(crate) fn lift(cut: &mut Cutter, outputs: &[ModForm], n: usize) -> Result<(), Failure> {
    let mut reconstructions = Reconstructions::new(cut);
    if !outputs.iter().any(|o| reconstructions.has_digits(o)) {
        return Ok(());
    }
    let mut lift = Lift {
        reconstructions,
        n,
        roots: Vec::new(),
        lower: Vec::new(),
        named: FxHashMap::default(),
        renamed: FxHashMap::default(),
    };
    lift.discover(outputs)?;
    let forms = lift.reconstructions.list.iter().flat_map(|t| &t.forms);
    let mut moduli: Vec<u32> = forms.map(|f| f.0.m).collect();
    moduli.sort_unstable();
    moduli.dedup();
    lift.reconstructions.cut.by_moduli(moduli);
    lift.record()
}

impl<'c> Lift<'c> {
    /// Finds all roots and reconstructions, from the outputs down.
    fn discover(&mut self, outputs: &[ModForm]) -> Result<(), Failure> {
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut open: Vec<(Root, ModForm)> =
            outputs.iter().enumerate().map(|(k, o)| (Root::Output(k), o.clone())).collect();
        for _ in 0..STAGES {
            let known = self.reconstructions.list.len();
            for (root, form) in std::mem::take(&mut open) {
                if self.reconstructions.has_digits(&form) {
                    let apart = self.reconstructions.apart(&form)?;
                    let (reconstructions, spelled) =
                        self.reconstructions.reconstructions(&apart)?;
                    self.roots.push(Rooted { root, apart, reconstructions, spelled });
                }
            }
            for number in known..self.reconstructions.list.len() {
                let lower = self.below(number);
                for &v in lower.iter().filter(|v| seen.insert(**v)) {
                    let world = &self.reconstructions.cut.world;
                    let form = world.known(v, world.q).map(|f| f.into_owned());
                    open.extend(form.map(|f| (Root::Var(v), f)));
                }
                self.lower.push(lower);
            }
            if open.is_empty() {
                return Ok(());
            }
        }
        Err("products of products of other moduli".into())
    }

    /// The variables, inputs among them, in which a reconstruction over lower integers is linear.
    fn below(&self, number: usize) -> Vec<VarId> {
        let reconstruction: &Reconstruction = &self.reconstructions.list[number];
        if !reconstruction.lower {
            return Vec::new();
        }
        let world = &self.reconstructions.cut.world;
        let mut all = Vec::new();
        for (form, _) in &reconstruction.forms {
            let mut seen: FxHashSet<usize> = FxHashSet::default();
            let mut open: Vec<usize> = Vec::new();
            crate::function::each_variable(world, form, |v| open.push(v));
            while let Some(v) = open.pop() {
                if !seen.insert(v) {
                    continue;
                }
                match world.known(VarId(v as u32), form.m) {
                    Some(form) => crate::function::each_variable(world, &form, |x| open.push(x)),
                    None => all.push(VarId(v as u32)),
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Records all reconstructions and roots, each after all that it depends on.
    fn record(&mut self) -> Result<(), Failure> {
        let mut open: Vec<usize> = (0..self.reconstructions.list.len()).collect();
        loop {
            let roots = std::mem::take(&mut self.roots);
            let told = |r: &Rooted| r.reconstructions.iter().all(|t| self.named.contains_key(&t.0));
            let (ready, left): (Vec<Rooted>, _) = roots.into_iter().partition(told);
            self.roots = left;
            for root in &ready {
                self.root(root)?;
            }
            let variable = |r: &Rooted| if let Root::Var(v) = r.root { Some(v) } else { None };
            let waiting: FxHashSet<VarId> = self.roots.iter().filter_map(variable).collect();
            let free = |&t: &usize| !self.lower[t].iter().any(|v| waiting.contains(v));
            let (next, left): (Vec<usize>, _) = open.into_iter().partition(free);
            open = left;
            if next.is_empty() && ready.is_empty() {
                let all = open.is_empty() && self.roots.is_empty();
                return if all { Ok(()) } else { Err("integers that depend on themselves".into()) };
            }
            // One line for all that have the same moduli.
            let mut batches: BTreeMap<(Vec<u32>, bool), Vec<usize>> = BTreeMap::new();
            for number in next {
                let reconstruction = &self.reconstructions.list[number];
                let mut moduli: Vec<u32> = reconstruction.forms.iter().map(|f| f.0.m).collect();
                moduli.sort_unstable();
                batches.entry((moduli, reconstruction.lower)).or_default().push(number);
            }
            for ((moduli, lower), batch) in batches {
                self.integers(moduli, lower, &batch)?;
            }
        }
    }

    /// Records that reconstructions of the same moduli are integer forms.
    fn integers(&mut self, moduli: Vec<u32>, lower: bool, batch: &[usize]) -> Result<(), Failure> {
        let [left, right] = if lower {
            let mut all: Vec<VarId> =
                batch.iter().flat_map(|&t| self.lower[t].iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            let of = |v: VarId| match self.renamed.get(&v) {
                Some(&name) => Ok(name),
                None => made(self.reconstructions.cut, v),
            };
            [all.into_iter().map(of).collect::<Result<_, _>>()?, Vec::new()]
        } else {
            // The kernel sees from the positions of elements which coefficients are alike.
            [0, 1].map(|operand| {
                let input = |index| Made::Input { operand, index };
                let record = &mut self.reconstructions.cut.record;
                (0..self.n as u32).map(|index| record.make(input(index)).0).collect()
            })
        };
        let mut names = Vec::with_capacity(batch.len());
        for &number in batch {
            let name = self.reconstruction(number)?;
            self.named.insert(number, name);
            names.push(name);
        }
        let record = &mut self.reconstructions.cut.record;
        record.lines.push(Line::Chinese { moduli, left, right, names });
        Ok(())
    }

    /// Names a reconstruction, and records its interval and its residue modulo each of its moduli.
    fn reconstruction(&mut self, number: usize) -> Result<u32, Failure> {
        let Reconstruction { digits, forms, .. } = self.reconstructions.list[number].clone();
        let cut = &mut *self.reconstructions.cut;
        let t = digits.iter().map(|&(v, c)| (cut.world.var(v).atom, c));
        let mut form = Form { k: 0, t: t.collect() };
        form.t.sort_unstable();
        let read = cut.read(&form).map_err(|_| "digits without intervals")?;
        let sum = cut.made_sum(&form).ok_or(UNTOLD)?;
        let all = forms.iter().map(|(f, split)| Ok((f.m, residue(cut, f)?, split)));
        let all = all.collect::<Result<Vec<_>, Failure>>()?;
        let atom = named(cut, sum);
        cut.record.lines.push(Line::Bound { atom, lo: read.lo, hi: read.hi, by: Witness::PLAIN });
        for (m, form, split) in all {
            let zeros = self.split(split, Reconstructions::parts)?;
            self.reconstructions.cut.record.lines.push(Line::Modulo { atom, m, form, zeros });
        }
        Ok(atom)
    }

    /// Records the equations of digits that were split, and returns them with factors. `into` finds
    /// the parts.
    fn split(
        &mut self,
        digits: &BTreeMap<VarId, u32>,
        into: fn(&mut Reconstructions<'c>, VarId) -> Parts,
    ) -> Result<Vec<(Zero, i128)>, Failure> {
        let mut zeros = Vec::new();
        for (&v, &c) in digits.iter().filter(|d| *d.1 != 0) {
            let parts = into(&mut self.reconstructions, v).ok_or(UNTOLD)?;
            let cut = &mut *self.reconstructions.cut;
            let mut sum = Sum::atom(made(cut, v)?);
            for &(part, factor) in parts.iter() {
                let part = Sum::atom(made(cut, part)?);
                sum = sum.combine(1, &part, -i128::from(factor)).ok_or(UNTOLD)?;
            }
            zeros.push((cut.record.near(sum, 62, plain()), c.into()));
        }
        Ok(zeros)
    }

    /// Names a root, and records its residue modulo q in terms of reconstructions.
    fn root(&mut self, rooted: &Rooted) -> Result<(), Failure> {
        let cut = &mut *self.reconstructions.cut;
        let (m, Apart { k, rest, .. }) = (cut.world.q, &rooted.apart);
        let t = rest.iter().filter(|t| *t.1 != 0).map(|(&a, &c)| (a, c)).collect();
        let mut form = residue(cut, &ModForm { m, k: *k, t })?;
        form.t.extend(rooted.reconstructions.iter().map(|&(t, c)| (self.named[&t], c.into())));
        form.t.retain(|t| t.1 != 0);
        form.t.sort_unstable();
        let sum = match rooted.root {
            Root::Var(v) => Sum::atom(made(cut, v)?),
            Root::Output(k) => cut.record.output(k).ok_or(UNTOLD)?.clone(),
        };
        let atom = named(cut, sum);
        let mut zeros = self.split(&rooted.apart.split, Reconstructions::parts)?;
        zeros.extend(self.split(&rooted.spelled, Reconstructions::spelled)?);
        let cut = &mut *self.reconstructions.cut;
        let lines = &mut cut.record.lines;
        // Of what it names as it stands, which may be a function.
        lines.push(Line::Residue { atom, m, by: Witness::PLAIN });
        lines.push(Line::Modulo { atom, m, form, zeros });
        match rooted.root {
            Root::Var(v) => {
                self.renamed.insert(v, atom);
            }
            Root::Output(k) => {
                *cut.record.output(k).ok_or(UNTOLD)? = Sum::atom(atom);
            }
        }
        Ok(())
    }
}

const UNTOLD: &str = "a value that the certificate does not define";

/// The kernel's atom of a variable.
fn made(cut: &mut Cutter, v: VarId) -> Result<u32, Failure> {
    let atom = cut.world.var(v).atom;
    cut.made(atom).ok_or_else(|| UNTOLD.into())
}

/// Makes a new name for a form. If the form has a name already, the new name is for that name.
fn named(cut: &mut Cutter, mut sum: Sum) -> u32 {
    loop {
        let (atom, new) = cut.record.make(Made::Name(sum.into()));
        if new {
            return atom;
        }
        sum = Sum::atom(atom);
    }
}

/// A form modulo something over the kernel's atoms.
fn residue(cut: &mut Cutter, form: &ModForm) -> Result<Sum, Failure> {
    let t = form.t.iter().map(|&(a, c)| Ok((cut.made(a).ok_or(UNTOLD)?, i128::from(c))));
    let mut t = t.collect::<Result<Vec<(u32, i128)>, Failure>>()?;
    t.sort_unstable();
    Ok(Sum { k: form.k.into(), t })
}
