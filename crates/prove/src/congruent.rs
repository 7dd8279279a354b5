//! States residues of names to the kernel: the lines for what a definition does not show.

use crate::cut::Cutter;
use crate::funs::Op;
use crate::record::{Record, plain};
use crate::values::{Atom, AtomId, Base, Form, Source, Var};
use ringforge_kernel::atom::Atom as Made;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::form::Form as Sum;

impl Record {
    /// The equation of a form that is zero modulo 2^bits, and less than that.
    pub(crate) fn near(&mut self, form: Sum, bits: u8, by: Witness) -> Zero {
        if let Some(&i) = self.near.get(&form) {
            return Zero::Fact(i);
        }
        let i = self.equations;
        self.equations += 1;
        self.lines.push(Line::Near { form: form.clone(), bits, by });
        self.near.insert(form, i);
        Zero::Fact(i)
    }
}

impl Cutter {
    /// Records the residue of a variable. One name may be several variables, each with its own
    /// modulus.
    pub(crate) fn by_residue(&mut self, atom: u32, form: &Form, var: &Var, by: Witness) {
        let by = self.scaled_witness(form).unwrap_or(by);
        // An integer form is one in every modulus, and its name shows it where no function is in it.
        let shown = var.integer.is_some() && self.linear(form);
        let more = if var.integer.is_some() { &self.record.moduli[..] } else { &[] };
        let all: Vec<u32> = std::iter::once(var.residue.m).chain(more.iter().copied()).collect();
        for m in all.into_iter().filter(|m| *m >= 2 && !shown) {
            if self.record.residues.insert((atom, m)) {
                self.record.lines.push(Line::Residue { atom, m, by: by.clone() });
            }
        }
    }

    /// Whether a form's definition shows its residue in every modulus.
    pub(crate) fn linear(&self, form: &Form) -> bool {
        let linear =
            |a: AtomId| matches!(self.world.atoms[a as usize], Atom::Var(_) | Atom::Prod(..));
        form.t.iter().all(|t| linear(t.0))
    }

    /// The equations of those quotients of a form that are read as functions of a variable. They
    /// replace the quotients by the functions.
    pub(crate) fn beside(&mut self, form: &Form) -> Option<Vec<(Zero, i128)>> {
        if !self.world.has_floor(form) {
            return Some(Vec::new());
        }
        let beside = self.parts(form).map(|p| p.beside).unwrap_or_default();
        let zero = |(quotient, function, c): (AtomId, AtomId, i64)| {
            Some((self.is_function(quotient, function)?, -i128::from(c)))
        };
        beside.into_iter().map(zero).collect()
    }

    /// The equation A - f(x) = 0 of a quotient A = floor(F / 2^b), for F over x and functions of
    /// it. Let r(x) be its remainder, so that F = 2^b·A + r(x). Then F - r(x) - 2^b·f(x) is 0 at
    /// every x.
    pub(crate) fn is_function(&mut self, quotient: AtomId, function: AtomId) -> Option<Zero> {
        let (Atom::Floor(f), Atom::Fun(base, _)) =
            (self.world.atoms[quotient as usize], self.world.atoms[function as usize])
        else {
            return None;
        };
        let floor = self.world.floors[f as usize].clone();
        let whole = self.as_fun(&floor.form, 64);
        let low = self.op(floor.bits, Op::Slice { lo: 0 }, &[whole]);
        let rest = self.extend(low, 64, false);
        let rest = self.world.atom(Atom::Fun(base, rest));
        let [quotient, function, rest] = [quotient, function, rest].map(|a| self.made(a));
        let quotient = quotient?;
        let divided = self.record.divide(quotient, Sum::atom(rest?));
        let form = Sum::atom(quotient).combine(1, &Sum::atom(function?), -1)?;
        let by = Witness { scale: 1i128 << floor.bits, zeros: vec![(divided, 1)] };
        Some(self.record.near(form, 0, by))
    }

    /// Records that the low half of a sum is congruent to the sum modulo m, a divisor of 2^16. The
    /// line is needed if functions in the sum are linear modulo m only together.
    pub(crate) fn by_low(&mut self, low: u32, m: u32) {
        let form = self.world.lows[low as usize].form.clone();
        if self.linear(&form) {
            return;
        }
        let (Some(sum), Some(half)) = (self.made_name(&form), self.made_base(Base::Low(low)))
        else {
            return;
        };
        if !self.record.residues.insert((half, m)) {
            return;
        }
        let whole = Sum::atom(sum);
        let floor = Made::Floor { form: whole.clone().into(), bits: 16 };
        let floor = self.record.make(floor).0;
        // sum = 2^16·floor + half.
        let zeros = vec![(self.record.divide(floor, Sum::atom(half)), -1)];
        let by = self.witness(&form).unwrap_or_else(plain);
        self.record.lines.push(Line::Residue { atom: sum, m, by });
        self.record.lines.push(Line::Modulo { atom: half, m, form: whole, zeros });
    }

    /// Records the residues of integer forms in these moduli too, also of forms still to come.
    pub(crate) fn by_moduli(&mut self, moduli: Vec<u32>) {
        self.record.moduli = moduli;
        let integers = self.world.vars.iter().filter(|v| v.integer.is_some());
        let integers: Vec<Var> = integers.cloned().collect();
        for var in &integers {
            let made = self.record.atoms.get(&var.atom).copied().flatten();
            if let (Some(id), Source::Cut { form, .. }) = (made, &var.source) {
                self.by_residue(id, form, var, plain());
            }
        }
    }
}
