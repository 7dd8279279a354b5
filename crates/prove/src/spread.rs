//! Lower bounds on how many values sums take, from a few points of each variable.
//!
//! The search reads a sum in many equal forms, and keeps the narrowest. Most of them are far wider
//! than any word. Two points show that, while the exact interval takes all points of a variable.

use crate::cut::Cutter;
use crate::enumeration::{POINTS, points};
use crate::values::{Atom, AtomId, Base, Form};

/// What is seen of an atom.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    /// Its values at some points of its variable.
    At(Base, [i64; POINTS]),
    /// It depends on several variables, and counts by itself: how wide its interval is.
    Apart(i128),
}

impl Cutter {
    /// Whether a form surely has no reading as narrow as `hi - lo < most`.
    pub(crate) fn spreads(&mut self, form: &Form, most: i128) -> bool {
        !self.world.has_floor(form) && self.spread(form, most) >= most
    }

    /// A lower bound for the width of a form's reading, as far as a few points show; `most` or
    /// more, once that is reached.
    ///
    /// The interval of a reading is the sum of the intervals of its parts. A part that is a
    /// function of one variable has at least the values that it takes at some points. Quotients,
    /// which are read in other ways, and low halves count as if they took one value.
    fn spread(&mut self, form: &Form, most: i128) -> i128 {
        let mut spread = 0i128;
        let mut terms: Vec<(Base, AtomId, i64)> = Vec::with_capacity(form.t.len());
        for &(a, c) in &form.t {
            match self.world.atoms[a as usize] {
                Atom::Var(v) => terms.push((Base::Var(v), a, c)),
                Atom::Fun(base @ Base::Var(_), _) => terms.push((base, a, c)),
                _ => {
                    if let Some(Seen::Apart(width)) = self.seen(a) {
                        spread = spread.saturating_add(width.saturating_mul(i128::from(c).abs()));
                    }
                }
            }
        }
        terms.sort_unstable();
        for group in terms.chunk_by(|a, b| a.0 == b.0) {
            if spread >= most {
                break;
            }
            let mut values = [0i128; POINTS];
            for &(_, a, c) in group {
                let Some(Seen::At(_, at)) = self.seen(a) else { continue };
                for (value, x) in values.iter_mut().zip(at) {
                    *value = value.saturating_add(i128::from(x) * i128::from(c));
                }
            }
            spread = spread.saturating_add(width(&values));
        }
        spread
    }

    /// What is seen of an atom; [`None`] of quotients, of low halves and of what is not understood.
    pub(crate) fn seen(&mut self, a: AtomId) -> Option<Seen> {
        match self.world.atoms[a as usize] {
            Atom::Var(v) => {
                let (lo, hi) = self.world.domain(Base::Var(v));
                Some(Seen::At(Base::Var(v), points(lo, hi)))
            }
            Atom::Fun(base @ Base::Var(_), f) => {
                let (lo, hi) = self.world.domain(base);
                Some(Seen::At(base, self.enumeration.at(&mut self.world.funs, f, lo, hi)))
            }
            Atom::Prod(x, y) => {
                let (lo, hi) = self.product_interval(x, y);
                Some(Seen::Apart(hi - lo))
            }
            _ => None,
        }
    }
}

/// The difference of the greatest and the least value.
pub(crate) fn width(values: &[i128; POINTS]) -> i128 {
    let (least, greatest) =
        values.iter().fold((i128::MAX, i128::MIN), |(l, h), &v| (l.min(v), h.max(v)));
    greatest.saturating_sub(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::funs::Op;
    use crate::uses::Use;

    const Q: i64 = 4591;

    fn input(cut: &mut Cutter, index: u32, most: i64) -> AtomId {
        let v = cut.test_input(index, most);
        cut.world.var(v).atom
    }

    /// round(b·x/Q) by a product with half of 2^16·b/Q, as `sqrdmulh` has it.
    fn quotient(cut: &mut Cutter, x: AtomId, b: i64) -> AtomId {
        let half = ((b << 16) / Q + 1) >> 1;
        let wide = cut.world.funs.lin(32, 1 << 15, 2 * half, &[]);
        let f = cut.op(16, Op::Slice { lo: 16 }, &[wide]);
        let base = cut.base(x).expect("a variable");
        cut.world.atom(Atom::Fun(base, f))
    }

    fn sum(terms: &[(AtomId, i64)]) -> Form {
        let add =
            |sum: Form, &(a, c): &(AtomId, i64)| Form::combine(&sum, 1, &Form::atom(a), c, 64);
        terms.iter().fold(Form::default(), add)
    }

    #[test]
    fn no_interval_is_wider_than_it_is() {
        let mut cut = Cutter::new(Q as u32);
        let inputs: Vec<AtomId> =
            [2295, 1, 32767].iter().zip(0..).map(|(&most, i)| input(&mut cut, i, most)).collect();
        let mut atoms = inputs.clone();
        for &x in &inputs {
            atoms.extend([3, 1234, -2001].map(|b| quotient(&mut cut, x, b)));
            let (base, f) = (cut.base(x).expect("a variable"), cut.world.funs.lin(32, 7, 1, &[]));
            let square = cut.op(32, Op::Mul, &[f, f]);
            atoms.push(cut.world.atom(Atom::Fun(base, square)));
        }
        let [Some(Base::Var(x)), Some(Base::Var(y))] = [0, 1].map(|i| cut.base(inputs[i])) else {
            panic!("no variables")
        };
        atoms.extend([cut.world.product(x, y), cut.world.product(x, x)]);
        let mut state = 1u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let (mut wide, mut told) = (0, 0);
        for _ in 0..300 {
            let mut terms = Vec::new();
            for _ in 0..=draw(5) {
                let most = [2, 5000, 65536][draw(3) as usize];
                let c = draw(2 * most + 1) as i64 - most as i64;
                terms.push((atoms[draw(atoms.len() as u64) as usize], c));
            }
            let form = sum(&terms);
            let r = cut.read(&form).expect("a reading");
            assert!(!cut.spreads(&form, r.hi - r.lo + 1), "{form:?}");
            // Variables alone, and their products, are as wide as they are.
            let plain =
                form.t.iter().all(|t| !matches!(cut.world.atoms[t.0 as usize], Atom::Fun(..)));
            assert!(!plain || cut.spreads(&form, r.hi - r.lo), "{form:?}");
            if r.hi - r.lo >= 1 << 16 {
                wide += 1;
                told += usize::from(cut.spreads(&form, 1 << 16));
            }
        }
        assert!(wide > 150 && told * 10 > wide * 9, "{told} of {wide}");
    }

    /// Eight products by constants, each reduced: one table each, whatever multiple of the sum is looked at.
    #[test]
    fn multiples_of_a_sum_are_not_enumerated() {
        let mut cut = Cutter::new(Q as u32);
        let constants: Vec<i64> = (0..8).map(|i| 2 * (i * 97 + 5) + 1).collect();
        let mut terms = Vec::new();
        for (&b, i) in constants.iter().zip(0..) {
            let x = input(&mut cut, i, 20000);
            terms.extend([(x, b), (quotient(&mut cut, x, b), -Q)]);
        }
        let form = sum(&terms).scaled(1, 16);
        let Use::One(Base::Var(v), _) = cut.use_form(&form, 16) else { panic!("no variable") };
        let var = cut.world.var(v);
        assert!(var.hi - var.lo < 1 << 16 && var.residue.m == Q as u32, "{var:?}");
        // Points times operations: the line, the product, its upper half, the whole.
        let once = 8 * 40001 * 4;
        assert!(
            cut.enumeration.work <= 2 * once,
            "{} evaluations, {once} once",
            cut.enumeration.work
        );
    }
}
