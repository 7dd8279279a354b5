//! What names are modulo something, told to the kernel: lines for what a definition does not show.

use crate::cut::Cutter;
use crate::record::{Record, plain};
use crate::values::{Atom, AtomId, Base, Form, Source, Var};
use ringforge_kernel::atom::Atom as Made;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::form::Form as Sum;

impl Record {
    /// The equation of a form that is zero modulo 2^62, and less than that.
    pub(crate) fn near(&mut self, form: Sum) -> Zero {
        if let Some(&i) = self.near.get(&form) {
            return Zero::Fact(i);
        }
        let i = self.equations;
        self.equations += 1;
        self.lines.push(Line::Near { form: form.clone(), bits: 62, by: plain() });
        self.near.insert(form, i);
        Zero::Fact(i)
    }
}

impl Cutter {
    /// Records what a variable is modulo something: one name may be several variables, of one modulus each.
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

    /// Whether a form's definition shows what it is in every modulus.
    pub(crate) fn linear(&self, form: &Form) -> bool {
        let linear =
            |a: AtomId| matches!(self.world.atoms[a as usize], Atom::Var(_) | Atom::Prod(..));
        form.t.iter().all(|t| linear(t.0))
    }

    /// Records that the low half of a sum is the sum modulo m, a divisor of 2^16, where functions are in the
    /// sum that only together are linear modulo m.
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

    /// Records what integer forms are in these moduli as well, those to come included.
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
