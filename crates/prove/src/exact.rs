//! Bounds sums that depend on one value alone exactly, by enumerating them in pieces. Quotients are
//! otherwise bounded one by one, which leaves more than the sum takes.
//!
//! In `x - q·floor((x + 2^22) / 2^23)` for a word x, the error of the quotient is bounded as if it
//! did not depend on x. If the interval of x does not end at a whole step of the quotient, that
//! bound is too wide. As a function of x the sum has few pieces. Its extremes are values that it
//! takes, so each comes with an x.

use crate::cut::Cutter;
use crate::enumeration::pieces;
use crate::funs::FunId;
use crate::uses::Use;
use crate::values::{Atom, AtomId, Base, Form, Source, VarId};
use crate::walk::{Output, Walk};
use ringforge_kernel::certificate::Line;
use ringforge_kernel::claim::Witness;
use ringforge_kernel::pieces::Piece;
use ringforge_machine::graph::NodeId;

/// Evaluations that a search for extremes may take.
const WORK: u64 = 1 << 24;

/// A sum of one value as a function of it.
struct Single {
    base: Base,
    function: FunId,
    /// Quotients, the functions that replace them, and their coefficients.
    quotients: Vec<(AtomId, AtomId, i64)>,
}

impl Cutter {
    /// A form whose terms all depend on one value, exactly in 64 bits.
    fn single(&mut self, form: &Form) -> Option<Single> {
        let mut base = None;
        let (mut plain, mut quotients) = (Form::constant(form.k, 64), Vec::new());
        for &(a, c) in &form.t {
            let (of, atom) = match self.world.atoms[a as usize] {
                Atom::Floor(f) => {
                    let (of, function) = self.quotient_as_function(f)?;
                    quotients.push((a, function, c));
                    (of, function)
                }
                _ => (self.base(a)?, a),
            };
            if *base.get_or_insert(of) != of {
                return None;
            }
            plain = Form::combine(&plain, 1, &Form::atom(atom), c, 64);
        }
        let base = base?;
        self.evaluable(base, &plain.t).then_some(())?;
        Some(Single { base, function: self.as_fun(&plain, 64), quotients })
    }

    /// Narrows a variable to the values of its sum, if that depends on one value, and records why.
    /// [`None`] if that is no narrower than what is known.
    fn narrow_exactly(&mut self, v: VarId) -> Option<()> {
        let Source::Cut { form, bits: 64 } = self.world.var(v).source.clone() else { return None };
        let single = self.single(&form)?;
        let (lo, hi) = self.world.domain(single.base);
        let exact = self.enumeration.summary(&mut self.world.funs, single.function, lo, hi).ok()?;
        let var = self.world.var(v);
        let (lo, hi, atom) = (exact.min.max(var.lo), exact.max.min(var.hi), var.atom);
        if (lo, hi) == (var.lo, var.hi) {
            return None;
        }
        let id = self.made(atom)?;
        let mut zeros = Vec::new();
        for (quotient, function, c) in single.quotients {
            zeros.push((self.is_function(quotient, function)?, -i128::from(c)));
        }
        let by = Witness { scale: 1, zeros };
        self.record.lines.push(Line::Bound { atom: id, lo: lo.into(), hi: hi.into(), by });
        let var = &mut self.world.vars[v.0 as usize];
        (var.lo, var.hi) = (lo, hi);
        Some(())
    }

    /// Where a function takes its least and its greatest value on an interval.
    fn extremes(&mut self, f: FunId, lo: i64, hi: i64) -> Option<[i64; 2]> {
        let mut best: Option<[(i64, i64); 2]> = None;
        let mut take = |x: i64, value: i64| {
            let [least, greatest] = best.get_or_insert([(value, x); 2]);
            *least = (*least).min((value, x));
            *greatest = (*greatest).max((value, x));
        };
        for piece in pieces(&mut self.world.funs, f, lo, hi, &mut { WORK })? {
            match piece {
                Piece::Affine { lo, hi, k, c } => {
                    for x in [lo, hi] {
                        take(x, (k + c * i128::from(x)) as i64);
                    }
                }
                Piece::Values { lo, values } => (lo..).zip(values).for_each(|(x, v)| take(x, v)),
            }
        }
        best.map(|ends| ends.map(|end| end.1))
    }
}

impl Walk<'_> {
    /// Reads an output again, after its variable was narrowed to the values of its sum.
    pub(crate) fn narrowed(&mut self, node: NodeId, bits: u8, signed: bool) -> Option<Output> {
        let form = self.get(node);
        let Use::One(Base::Var(v), _) = self.cut.use_form(&form, bits) else { return None };
        self.cut.narrow_exactly(v)?;
        self.cut.record.output_again();
        self.output(node, bits, signed).ok()
    }

    /// Values of one input element at which an output that depends on it alone is least and greatest: operand, index
    /// and value.
    pub(crate) fn extreme_inputs(
        &mut self,
        node: NodeId,
        bits: u8,
        signed: bool,
    ) -> Vec<(u16, u32, i64)> {
        let form = self.get(node);
        let Use::One(Base::Var(v), used) = self.cut.use_form(&form, bits) else {
            return Vec::new();
        };
        let (base, function) = match self.cut.world.var(v).source.clone() {
            Source::Input { .. } => (Base::Var(v), self.cut.extend(used, 64, signed)),
            Source::Cut { form, bits: 64 } => match self.cut.single(&form) {
                Some(single) => (single.base, single.function),
                None => return Vec::new(),
            },
            Source::Cut { .. } => return Vec::new(),
        };
        let Base::Var(input) = base else { return Vec::new() };
        let Source::Input { operand, index } = self.cut.world.var(input).source else {
            return Vec::new();
        };
        let (lo, hi) = self.cut.world.domain(base);
        let found = self.cut.extremes(function, lo, hi);
        found.into_iter().flatten().map(|x| (operand, index, x)).collect()
    }
}
