//! A second opinion: the tables that a proof rests on, tested against concrete evaluation.
//!
//! Given the inputs, every variable has the value that its definition states. The value must lie in
//! the variable's interval. It must be congruent to the variable's residue form, modulo that form's
//! modulus. A node's form must give the node's bits. A contradiction is an error of the search;
//! tests look for one.

use crate::values::{Atom, AtomId, Base, Form, ModForm, Source, World};

/// Values of all variables for one assignment of the inputs.
pub(crate) struct Audit {
    vars: Vec<i64>,
}

impl Audit {
    /// Evaluates all variables and checks each.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn new(world: &mut World, input: &dyn Fn(u16, u32) -> i64) -> Result<Audit, String> {
        let mut this = Audit { vars: Vec::with_capacity(world.vars.len()) };
        for v in 0..world.vars.len() {
            let source = world.vars[v].source.clone();
            let value = match source {
                Source::Input { operand, index } => input(operand, index),
                Source::Cut { form, .. } => this.form(world, &form) as i64,
            };
            let var = &world.vars[v];
            if value < var.lo || value > var.hi {
                return Err(format!("variable {v} is {value}, outside [{}, {}]", var.lo, var.hi));
            }
            this.vars.push(value);
            let var = &world.vars[v];
            if matches!(var.source, Source::Cut { .. }) {
                let residue = this.residue(world, &var.residue);
                let m = i128::from(var.residue.m.max(1));
                if (i128::from(value) - residue).rem_euclid(m) != 0 {
                    return Err(format!(
                        "variable {v} is {value}, but its residue form gives {residue}"
                    ));
                }
            }
        }
        Ok(this)
    }

    fn atom(&self, world: &mut World, a: AtomId) -> i128 {
        match world.atoms[a as usize] {
            Atom::Var(v) => self.vars[v.0 as usize].into(),
            Atom::Prod(x, y) => {
                i128::from(self.vars[x.0 as usize]) * i128::from(self.vars[y.0 as usize])
            }
            Atom::Fun(base, f) => {
                let x = match base {
                    Base::Var(v) => self.vars[v.0 as usize],
                    Base::Low(l) => {
                        let form = world.lows[l as usize].form.clone();
                        (self.form(world, &form) & 0xffff) as i64
                    }
                };
                world.funs.at(f, x).into()
            }
            Atom::High(w) => {
                let form = world.wides[w as usize].form.clone();
                self.form(world, &form) >> 16
            }
            Atom::Floor(f) => {
                let floor = world.floors[f as usize].clone();
                self.form(world, &floor.form) >> floor.bits
            }
            Atom::Opaque(_) => 0,
        }
    }

    /// The exact integer value of a form.
    pub fn form(&self, world: &mut World, form: &Form) -> i128 {
        let mut sum = i128::from(form.k);
        for &(a, c) in &form.t {
            sum += i128::from(c) * self.atom(world, a);
        }
        sum
    }

    /// The value of a form modulo its modulus.
    pub fn residue(&self, world: &World, form: &ModForm) -> i128 {
        let mut sum = i128::from(form.k);
        for &(a, c) in &form.t {
            let x = match world.atoms[a as usize] {
                Atom::Var(v) => self.vars[v.0 as usize].into(),
                Atom::Prod(x, y) => {
                    i128::from(self.vars[x.0 as usize]) * i128::from(self.vars[y.0 as usize])
                }
                _ => 0,
            };
            sum += i128::from(c) * x;
        }
        sum.rem_euclid(i128::from(form.m.max(1)))
    }
}
