//! The certificate of a walk, written while it goes.
//!
//! Nothing here is believed: [`ringforge_kernel`] walks over the same graph by these lines and
//! accepts or refuses. Definitions are written where they are first used. Each node that is not
//! plainly linear gets the rules of its steps and the form that the walk continues with.

use crate::cut::Cutter;
use crate::funs::{self, FunId, Op};
use crate::quotient::View;
use crate::uses::Use;
use crate::values::{Atom, AtomId, Base, Form, Source, VarId};
use ringforge_kernel::atom::Atom as Made;
use ringforge_kernel::certificate::{Line, Rule};
use ringforge_kernel::claim::{Witness, Zero};
use ringforge_kernel::form::{Form as Sum, Word};
use ringforge_kernel::fun::Fun;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lines of a certificate so far, and the kernel's numbers of what they define.
#[derive(Default)]
pub struct Record {
    /// The lines.
    pub lines: Vec<Line>,
    /// The rules of the node that is being visited.
    pub rules: Vec<Rule>,
    /// The outputs' lines: they come last, perhaps in terms of names that no node has.
    outputs: Vec<Option<Line>>,
    count: u32,
    pub(crate) equations: u32,
    made: FxHashMap<Made, u32>,
    pub(crate) atoms: FxHashMap<AtomId, Option<u32>>,
    lows: FxHashMap<u32, Option<u32>>,
    funs: FxHashMap<FunId, u32>,
    divided: FxHashMap<(u32, Sum), u32>,
    /// Names and the moduli of their residues.
    pub(crate) residues: FxHashSet<(u32, u32)>,
    /// The moduli in which integer forms are stated, besides the modulus of their residue.
    pub(crate) moduli: Vec<u32>,
    pub(crate) near: FxHashMap<Sum, u32>,
}

impl Record {
    /// Forgets what was recorded of the last output, which is recorded again.
    pub(crate) fn output_again(&mut self) {
        self.outputs.pop();
    }

    /// All lines, which are no longer here then.
    pub(crate) fn finished(&mut self) -> Vec<Line> {
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend(std::mem::take(&mut self.outputs).into_iter().flatten());
        lines
    }

    /// The form that output k is stated to be.
    pub(crate) fn output(&mut self, k: usize) -> Option<&mut Sum> {
        match self.outputs.get_mut(k)? {
            Some(Line::Output { form, .. }) => Some(form),
            _ => None,
        }
    }

    /// The kernel's atom of this definition, and whether it is a new one.
    pub(crate) fn make(&mut self, atom: Made) -> (u32, bool) {
        if let Some(&id) = self.made.get(&atom) {
            return (id, false);
        }
        let id = self.count;
        self.count += 1;
        self.made.insert(atom.clone(), id);
        self.lines.push(Line::Atom(atom));
        (id, true)
    }

    /// The equation `F - 2^bits·floor - rest = 0` of a quotient.
    pub(crate) fn divide(&mut self, floor: u32, rest: Sum) -> Zero {
        let key = (floor, rest);
        if let Some(&i) = self.divided.get(&key) {
            return Zero::Fact(i);
        }
        let i = self.equations;
        self.equations += 1;
        self.lines.push(Line::Divide { floor, rest: key.1.clone() });
        self.divided.insert(key, i);
        Zero::Fact(i)
    }
}

/// The exponent of the power of two, below 2^16, that divides all coefficients of a sum whose high
/// half is taken.
fn common_twos(form: &Form) -> u8 {
    form.t.iter().map(|t| t.1.trailing_zeros()).min().unwrap_or(0).min(15) as u8
}

/// The ways in which quotients are looked at, the cheapest first.
const VIEWS: [View; 6] =
    [View::Plain, View::Spelled, View::Unfolded, View::Folded, View::Upper, View::Lower];

/// As it stands.
pub(crate) fn plain() -> Witness {
    Witness::PLAIN
}

/// By what a name is of.
fn unfolded(name: u32) -> Witness {
    Witness { scale: 1, zeros: vec![(Zero::Name(name), -1)] }
}

/// A sum of terms of the kernel's atoms.
fn sum(k: i128, mut t: Vec<(u32, i128)>) -> Sum {
    t.sort_unstable_by_key(|t| t.0);
    let mut out: Vec<(u32, i128)> = Vec::with_capacity(t.len());
    for (a, c) in t {
        match out.last_mut() {
            Some(last) if last.0 == a => last.1 += c,
            _ => out.push((a, c)),
        }
    }
    out.retain(|t| t.1 != 0);
    Sum { k, t: out }
}

impl Cutter {
    /// The kernel's function.
    pub(crate) fn made_fun(&mut self, f: FunId) -> FunId {
        if let Some(&id) = self.record.funs.get(&f) {
            return FunId(id);
        }
        let node = self.world.funs.get(f).clone();
        let args = node.args.iter().map(|&a| self.made_fun(a)).collect();
        let id = self.record.funs.len() as u32;
        self.record.lines.push(Line::Fun(Fun { args, ..node }));
        self.record.funs.insert(f, id);
        FunId(id)
    }

    /// The kernel's atom; [`None`] of what is not understood.
    pub(crate) fn made(&mut self, a: AtomId) -> Option<u32> {
        if let Some(&known) = self.record.atoms.get(&a) {
            return known;
        }
        let id = match self.world.atoms[a as usize] {
            Atom::Var(v) => self.made_var(v),
            Atom::Fun(base, f) => self.made_base(base).map(|of| {
                let fun = self.made_fun(f);
                self.record.make(Made::Function { of, fun }).0
            }),
            Atom::Prod(x, y) => {
                let (x, y) = (self.world.var(x).atom, self.world.var(y).atom);
                self.made(x)
                    .zip(self.made(y))
                    .map(|(x, y)| self.record.make(Made::Product(x.min(y), x.max(y))).0)
            }
            Atom::High(w) => {
                let form = self.world.wides[w as usize].form.clone();
                let twos = common_twos(&form);
                self.made_sum(&form).map(|mut form| {
                    form.t.iter_mut().for_each(|t| t.1 >>= twos);
                    self.record.make(Made::Floor { form: form.into(), bits: 16 - twos }).0
                })
            }
            Atom::Floor(f) => self.made_floor(f),
            Atom::Opaque(_) => None,
        };
        self.record.atoms.insert(a, id);
        id
    }

    fn made_floor(&mut self, f: u32) -> Option<u32> {
        let floor = self.world.floors[f as usize].clone();
        let form = self.made_sum(&floor.form)?;
        let (id, new) = self.record.make(Made::Floor { form: form.into(), bits: floor.bits });
        if new && self.world.has_floor(&floor.form) {
            // Its form's interval may be known by the quotients below it, each end in a way of its own.
            let low = self.low_of(&floor.form, floor.bits)?;
            let zero = self.record.divide(id, low);
            let mut known: Option<(i128, i128)> = None;
            for view in VIEWS {
                let Some((mut by, (l, h))) = self.rational_of(&floor.form, view) else { continue };
                let (lo, hi) = (l >> floor.bits, h >> floor.bits);
                if known.is_some_and(|(l, h)| lo <= l && h <= hi) {
                    continue;
                }
                known = Some(known.map_or((lo, hi), |(l, h)| (lo.max(l), hi.min(h))));
                by.zeros.push((zero, by.scale));
                by.scale <<= floor.bits;
                self.record.lines.push(Line::Bound { atom: id, lo, hi, by });
            }
        }
        Some(id)
    }

    /// The remainder of a form modulo 2^bits, as an atom.
    fn low_of(&mut self, form: &Form, bits: u8) -> Option<Sum> {
        let word = self.made_word(form, bits);
        if word.bits != bits {
            return None;
        }
        if word.t.is_empty() {
            return Some(Sum::constant(i128::from(word.k) & ((1 << bits) - 1)));
        }
        Some(Sum::atom(self.record.make(Made::Low(word.into())).0))
    }

    pub(crate) fn made_base(&mut self, base: Base) -> Option<u32> {
        match base {
            Base::Var(v) => {
                let a = self.world.var(v).atom;
                self.made(a)
            }
            Base::Low(l) => {
                if let Some(&known) = self.record.lows.get(&l) {
                    return known;
                }
                let form = self.world.lows[l as usize].form.clone();
                if !self.linear(&form) && self.world.q.is_power_of_two() {
                    // For what it may be modulo q: congruences are over earlier atoms.
                    self.made_name(&form);
                }
                let word = self.made_word(&form, 16);
                let id = (word.bits == 16).then(|| self.record.make(Made::Low(word.into())).0);
                self.record.lows.insert(l, id);
                id
            }
        }
    }

    fn made_var(&mut self, v: VarId) -> Option<u32> {
        let var = self.world.var(v).clone();
        let form = match &var.source {
            Source::Input { operand, index } => {
                let (operand, index) = (*operand, *index);
                return Some(self.record.make(Made::Input { operand, index }).0);
            }
            Source::Cut { form, .. } => form.clone(),
        };
        let named = self.made_sum(&form)?;
        let (id, new) = self.record.make(Made::Name(named.into()));
        let by = self.witness(&form).unwrap_or_else(plain);
        if !new {
            self.by_residue(id, &form, &var, by);
            return Some(id);
        }
        let (mut lo, mut hi) = (i128::from(var.lo), i128::from(var.hi));
        if self.world.has_floor(&form) {
            if let Ok(parts) = self.parts(&form) {
                let (l, h) = (parts.lo, parts.hi);
                self.record.lines.push(Line::Bound { atom: id, lo: l, hi: h, by: by.clone() });
            }
            for view in VIEWS {
                if let Some((by, (l, h))) = self.rational_of(&form, view) {
                    self.record.lines.push(Line::Bound { atom: id, lo: l, hi: h, by });
                }
            }
        } else {
            if let Ok(parts) = self.parts(&form) {
                (lo, hi) = (parts.lo, parts.hi);
            }
            let shown = self.sheared_witness(v);
            if shown.is_some() {
                (lo, hi) = (var.lo.into(), var.hi.into());
            }
            let by = shown.unwrap_or_else(|| by.clone());
            self.record.lines.push(Line::Bound { atom: id, lo, hi, by });
        }
        self.by_residue(id, &form, &var, by);
        Some(id)
    }

    /// A form of exact integers; [`None`] where something is not understood.
    pub(crate) fn made_sum(&mut self, form: &Form) -> Option<Sum> {
        let mut t = Vec::with_capacity(form.t.len());
        for &(a, c) in &form.t {
            t.push((self.made(a)?, i128::from(c)));
        }
        Some(sum(form.k.into(), t))
    }

    /// A form modulo 2^width: as many low bits of it as are understood.
    pub(crate) fn made_word(&mut self, form: &Form, width: u8) -> Word {
        let (mut bits, mut t) = (width, Vec::with_capacity(form.t.len()));
        for &(a, c) in &form.t {
            match self.made(a) {
                Some(a) => t.push((a, i128::from(c))),
                None => bits = bits.min(c.trailing_zeros() as u8),
            }
        }
        Word::of(&sum(form.k.into(), t), bits)
    }

    /// A used form as a word over its base.
    pub(crate) fn made_use(&mut self, used: (Option<Base>, FunId)) -> Option<Word> {
        let (base, f) = used;
        let width = self.world.funs.get(f).width;
        let Some(base) = base else {
            let value = self.world.funs.at(f, 0);
            return Some(Word::constant(value, width));
        };
        let of = self.made_base(base)?;
        let mut t: Vec<(u32, i128)> = Vec::new();
        let k = match funs::sum(&self.world.funs, f) {
            Some((k, x, terms)) => {
                t.push((of, i128::from(x)));
                for (g, c) in terms {
                    let fun = self.made_fun(g);
                    t.push((self.record.make(Made::Function { of, fun }).0, i128::from(c)));
                }
                k
            }
            None => {
                let fun = self.made_fun(f);
                t.push((self.record.make(Made::Function { of, fun }).0, 1));
                0
            }
        };
        let out = sum(k.into(), t);
        Some(Word::of(&out, width))
    }

    /// Records that a step is a function of one base.
    pub(crate) fn by_function(&mut self, base: Option<Base>, args: &[(Option<Base>, FunId)]) {
        // Constants are functions of anything.
        let base = base.unwrap_or(Base::Var(VarId(0)));
        let Some(base) = self.made_base(base) else { return };
        let words: Option<Vec<Word>> = args.iter().map(|&u| self.made_use(u)).collect();
        let Some(args) = words else { return };
        self.record.rules.push(Rule::Function { base, args });
    }

    /// The same for one argument.
    pub(crate) fn by_use(&mut self, used: Use, width: u8) {
        match used {
            Use::Const(c) => {
                let f = self.world.funs.constant(width, c);
                self.by_function(None, &[(None, f)]);
            }
            Use::One(b, f) => self.by_function(Some(b), &[(Some(b), f)]),
            Use::Opaque(_) => {}
        }
    }

    /// Records that a step is a function of a base, of a word spelled over it.
    pub(crate) fn by_word(&mut self, base: Base, form: &Form, width: u8) {
        let word = self.made_word(form, width);
        let Some(base) = self.made_base(base) else { return };
        self.record.rules.push(Rule::Function { base, args: vec![word] });
    }

    /// Records that a word is this integer, and is extended as such.
    pub(crate) fn by_integer(&mut self, form: &Form) {
        let Some(made) = self.made_sum(form) else { return };
        let by = self.best_witness(form);
        self.record.rules.push(Rule::Extend { form: made, by });
    }

    /// The same of an integer in which functions of a variable stand beside quotients of its sum.
    pub(crate) fn by_folded(&mut self, form: &Form) {
        match (self.made_sum(form), self.rational_of(form, View::Folded)) {
            (Some(made), Some((by, _))) => {
                self.record.rules.push(Rule::Extend { form: made, by });
            }
            _ => self.by_integer(form),
        }
    }

    /// Records that bits are taken from this integer.
    pub(crate) fn by_quotient(&mut self, form: &Form, base: Option<Base>) {
        let Some(made) = self.made_sum(form) else { return };
        let base = match base {
            Some(b) => Some(match self.made_base(b) {
                Some(b) => b,
                None => return,
            }),
            None => None,
        };
        let by = self.best_witness(form);
        self.record.rules.push(Rule::Quotient { form: made, base, zeros: Vec::new(), by });
    }

    /// The witness of the narrower of what is known of a form.
    pub(crate) fn best_witness(&mut self, form: &Form) -> Witness {
        let own = self.witness(form).unwrap_or_else(plain);
        if !self.world.has_floor(form) {
            return own;
        }
        if let Some(by) = self.joint_witness(form) {
            return by;
        }
        let parts = self.parts(form).map(|p| p.hi - p.lo).ok();
        let rational = VIEWS.into_iter().filter_map(|v| self.rational_of(form, v));
        let best = rational.min_by_key(|r| r.1.1 - r.1.0);
        match (best, parts) {
            (Some((by, (l, h))), Some(width)) if h - l < width => by,
            (Some((by, _)), None) => by,
            _ => own,
        }
    }

    /// By the name of a form whose ends linear programs found, each in a way of its own.
    fn joint_witness(&mut self, form: &Form) -> Option<Witness> {
        self.joint_bounds(form)?;
        let made = self.made_sum(form)?;
        let (id, new) = self.record.make(Made::Name(made.into()));
        if new {
            for view in VIEWS {
                if let Some((by, (lo, hi))) = self.rational_of(form, view) {
                    self.record.lines.push(Line::Bound { atom: id, lo, hi, by });
                }
            }
        }
        Some(Witness { scale: 1, zeros: vec![(Zero::Name(id), 1)] })
    }

    /// How a form with high halves is to be looked at: groups of one low half are named, and known by 2^16
    /// times them.
    pub(crate) fn witness(&mut self, form: &Form) -> Option<Witness> {
        let mut groups: Vec<(u32, Vec<(AtomId, i64)>)> = Vec::new();
        for &(a, c) in &form.t {
            let low = match self.world.atoms[a as usize] {
                Atom::High(w) => self.world.wides[w as usize].low.0,
                Atom::Fun(Base::Low(l), _) => l,
                _ => continue,
            };
            match groups.iter_mut().find(|g| g.0 == low) {
                Some(g) => g.1.push((a, c)),
                None => groups.push((low, vec![(a, c)])),
            }
        }
        let high = |t: &(AtomId, i64)| matches!(self.world.atoms[t.0 as usize], Atom::High(_));
        groups.retain(|g| g.1.iter().any(high));
        // An unpaired high half is known as it stands.
        groups.retain(|g| g.1.len() > 1);
        let mut zeros = self.beside(form)?;
        if groups.is_empty() {
            return Some(Witness { scale: 1, zeros });
        }
        let whole: usize = groups.iter().map(|g| g.1.len()).sum();
        if groups.len() == 1 && whole == form.t.len() {
            return self.scaled_witness(form);
        }
        for (_, t) in groups {
            zeros.push((Zero::Name(self.named_group(&Form { k: 0, t })?), 1));
        }
        Some(Witness { scale: 1, zeros })
    }

    /// The name of a group of one low half, with its interval and its residue.
    fn named_group(&mut self, group: &Form) -> Option<u32> {
        let made = self.made_sum(group)?;
        let (id, new) = self.record.make(Made::Name(made.into()));
        if new {
            let by = self.scaled_witness(group)?;
            let reading = self.read(group).ok()?;
            let (lo, hi) = (reading.lo, reading.hi);
            self.record.lines.push(Line::Bound { atom: id, lo, hi, by: by.clone() });
            if let Some(m) = reading.residue.map(|r| r.m).filter(|m| *m >= 2) {
                self.record.residues.insert((id, m));
                self.record.lines.push(Line::Residue { atom: id, m, by });
            }
        }
        Some(id)
    }

    /// Names a sum of one variable and its functions, and bounds the name. The kernel enumerates
    /// the sum if 64 bits hold its coefficients. Where these are greater, it only adds up the
    /// terms.
    fn named_slice(&mut self, group: &Form) -> Option<u32> {
        let made = self.made_sum(group)?;
        let (id, new) = self.record.make(Made::Name(made.into()));
        if new {
            let parts = self.parts(group).ok()?;
            self.record.lines.push(Line::Bound {
                atom: id,
                lo: parts.lo,
                hi: parts.hi,
                by: plain(),
            });
        }
        Some(id)
    }

    /// `2^16·form` with what high halves are of in their place.
    pub(crate) fn scaled_witness(&mut self, form: &Form) -> Option<Witness> {
        let mut zeros = Vec::new();
        for &(a, c) in &form.t {
            let Atom::High(w) = self.world.atoms[a as usize] else { continue };
            let (_, _, twos, zero) = self.high_half(a, w)?;
            zeros.push((zero, i128::from(c) << twos));
        }
        if zeros.is_empty() {
            return None;
        }
        Some(Witness { scale: 1 << 16, zeros })
    }

    /// A form with its quotients replaced by what they are of, in one of several ways, and its interval.
    fn rational_of(&mut self, form: &Form, view: View) -> Option<(Witness, (i128, i128))> {
        let steps = self.rational_steps(form, view)?;
        let mut zeros = Vec::new();
        for (a, factor) in steps.floors {
            let Atom::Floor(f) = self.world.atoms[a as usize] else { return None };
            let floor = self.world.floors[f as usize].clone();
            let id = self.made(a)?;
            let low = self.low_of(&floor.form, floor.bits)?;
            zeros.push((self.record.divide(id, low), factor));
        }
        for (v, factor) in steps.names {
            let a = self.world.var(v).atom;
            zeros.push((Zero::Name(self.made(a)?), -factor));
        }
        for group in steps.groups {
            zeros.push((Zero::Name(self.named_slice(&group)?), 1i128 << steps.scale));
        }
        Some((Witness { scale: 1i128 << steps.scale, zeros }, steps.bounds))
    }

    /// Ends the record of a node with its rules and the form that the walk continues with. A node
    /// without rules needs no line if that form is `linear`, the combination of its arguments'
    /// forms.
    pub(crate) fn record_node(&mut self, node: u32, form: &Form, width: u8, linear: Option<&Form>) {
        let mut rules = std::mem::take(&mut self.record.rules);
        if let [(a, 1)] = form.t[..]
            && form.k == 0
            && matches!(self.world.atoms[a as usize], Atom::Opaque(_))
            && linear.is_none()
            && self.record.atoms.get(&a).is_none_or(Option::is_none)
        {
            // What is not understood has a value all the same, and cancels against itself.
            let atom = self.record.make(Made::Value { node, bits: width }).0;
            self.record.atoms.insert(a, Some(atom));
            rules = vec![Rule::Value { atom }];
        }
        if rules.is_empty() && linear.is_some_and(|l| l == form) {
            return;
        }
        let word = self.made_word(form, width);
        let claim = (word.bits > 0).then_some(word);
        if rules.is_empty() && claim.is_none() {
            return;
        }
        self.record.lines.push(Line::Node { node, rules, claim });
    }

    /// Records that a node is the sign of a word, which is spelled as its quotients spell it.
    pub(crate) fn by_negative(
        &mut self,
        form: &Form,
        base: Option<Base>,
        upper: Option<(u8, Vec<Rule>)>,
    ) {
        let Some(form) = self.made_sum(form) else { return };
        let base = match base {
            Some(b) => match self.made_base(b) {
                Some(b) => Some(b),
                None => return,
            },
            None => None,
        };
        let (upper, rules) = upper.unwrap_or_default();
        self.record.rules.push(Rule::Negative { form, base, upper });
        self.record.rules.extend(rules);
    }

    /// The kernel's name of a form.
    pub(crate) fn made_name(&mut self, form: &Form) -> Option<u32> {
        let made = self.made_sum(form)?;
        Some(self.record.make(Made::Name(made.into())).0)
    }

    /// Defines an atom that is known only as `[x < 0]·y`; `sign` is `-[x < 0]`.
    pub(crate) fn made_masked(&mut self, atom: AtomId, sign: u32, y: &Form) {
        let Some(y) = self.made_sum(y) else { return };
        let mut t = vec![(sign, -y.k)];
        for (a, c) in y.t {
            t.push((self.record.make(Made::Product(a.min(sign), a.max(sign))).0, -c));
        }
        let name = self.record.make(Made::Name(sum(0, t).into())).0;
        self.record.atoms.insert(atom, Some(name));
    }

    /// Records that an argument is a sign of that name, and the other one under it.
    pub(crate) fn by_mask(&mut self, of: u8, sign: u32) {
        self.record.rules.push(Rule::Sign { of, form: Sum::atom(sign), by: unfolded(sign) });
    }

    /// Makes the product that was recorded last one of unsigned words, whose signs have these
    /// names.
    pub(crate) fn by_unsigned(&mut self, signs: (Option<u32>, Option<u32>), width: u8) {
        let (Some(x), Some(y)) = signs else { return };
        if let Some(Rule::Product { a, b }) = self.record.rules.last_mut() {
            for (word, sign) in [(a, x), (b, y)] {
                *word = word.plus(&Word::atom(sign, word.bits), (-1i64).wrapping_shl(width.into()));
            }
        }
    }

    /// Records that all bits of an argument are the same.
    pub(crate) fn by_sign(&mut self, of: u8, form: &Form) {
        let Some(made) = self.made_sum(form) else { return };
        let by = self.best_witness(form);
        self.record.rules.push(Rule::Sign { of, form: made, by });
    }

    /// Records the next output as an integer.
    pub(crate) fn by_output(&mut self, form: &Form) {
        let rules = std::mem::take(&mut self.record.rules);
        let index = self.record.outputs.len() as u32;
        let form = self.made_sum(form);
        let line = form.map(|form| Line::Output { index, rules, form, by: plain() });
        self.record.outputs.push(line);
    }

    /// Records what the last quotient was taken of.
    pub(crate) fn by_taken(&mut self) {
        let (form, base) = std::mem::take(&mut self.taken);
        self.by_quotient(&form, base);
    }

    /// Records the factors of a product modulo 2^w.
    pub(crate) fn by_product(&mut self, a: &Form, b: &Form, w: u8) {
        let (a, b) = (self.made_word(a, w), self.made_word(b, w));
        self.record.rules.push(Rule::Product { a, b });
    }

    /// A used form as a sum of exact integers.
    pub(crate) fn used_form(&mut self, base: Base, f: FunId) -> Form {
        let Some((k, x, terms)) = funs::sum(&self.world.funs, f) else {
            return Form::atom(self.world.atom(Atom::Fun(base, f)));
        };
        let mut out = Form { k, t: Vec::new() };
        if x != 0 {
            let own = match base {
                Base::Var(v) => self.world.var(v).atom,
                Base::Low(_) => {
                    let own = self.world.funs.lin(64, 0, 1, &[]);
                    self.world.atom(Atom::Fun(base, own))
                }
            };
            out = Form::combine(&out, 1, &Form::atom(own), x, 64);
        }
        for (g, c) in terms {
            let atom = self.world.atom(Atom::Fun(base, g));
            out = Form::combine(&out, 1, &Form::atom(atom), c, 64);
        }
        out
    }

    /// A high half: its atom, its remainder as a function of its low half, the exponent of the
    /// power of two taken out of both, and the equation between them.
    fn high_half(&mut self, a: AtomId, wide: u32) -> Option<(u32, u32, u8, Zero)> {
        let (low, m) = self.world.wides[wide as usize].low;
        let twos = common_twos(&self.world.wides[wide as usize].form);
        let l = self.world.funs.lin(16, 0, m, &[]);
        let l = if twos > 0 { self.op(16 - twos, Op::Slice { lo: twos }, &[l]) } else { l };
        let rest = self.extend(l, 64, false);
        let of = self.made_base(Base::Low(low))?;
        let fun = self.made_fun(rest);
        let remainder = self.record.make(Made::Function { of, fun }).0;
        let floor = self.made(a)?;
        let zero = self.record.divide(floor, Sum::atom(remainder));
        Some((floor, remainder, twos, zero))
    }

    /// Records that bits are taken from `multiples + form/2^up`. Here `form` is a sum P, which is
    /// `high`, plus functions of its low half. The line has `2^16·floor(P / 2^16)` and functions of
    /// the low half alone.
    pub(crate) fn by_carry(&mut self, multiples: &Form, form: &Form, high: &Form, up: u8) {
        let wide = self.world.wide(high, self.node);
        let floor = self.world.atom(Atom::High(wide));
        let low = self.world.wides[wide as usize].low.0;
        let Some((made, remainder, twos, zero)) = self.high_half(floor, wide) else { return };
        if twos < up {
            return;
        }
        let Some(of) = self.made_base(Base::Low(low)) else { return };
        // P = 2^16·floor + 2^twos·remainder; beside it the functions of the low half.
        let others = Form::combine(form, 1, high, -1, 64);
        let (Some(multiples), Some(mut others)) =
            (self.made_sum(multiples), self.made_sum(&others))
        else {
            return;
        };
        others.k >>= up;
        others.t.iter_mut().for_each(|t| t.1 >>= up);
        let whole = sum(0, vec![(made, 1 << (16 - up)), (remainder, 1 << (twos - up))]);
        let form = whole.combine(1, &others, 1).and_then(|f| f.combine(1, &multiples, 1));
        let Some(form) = form else { return };
        let zeros = vec![(zero, 1 << (twos - up))];
        self.record.rules.push(Rule::Quotient { form, base: Some(of), zeros, by: plain() });
    }
}
