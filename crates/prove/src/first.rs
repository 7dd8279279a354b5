//! Finds which bound failed first. That a double word need not hold a sum shows only at a later
//! word, in numbers that nobody recognises.

use crate::cut::Cutter;
use crate::reading::Reading;
use crate::uses::Use;
use crate::values::{Atom, AtomId, Base, Cause, CauseKind, Form, Source, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// If a sum takes at least 2 to this times as many values as a word, it is meant to wrap.
const MEANT: u8 = 2;

/// The most atoms that the search looks at.
const ATOMS: usize = 1 << 14;

/// Quotients for what passed a word, or the variable whose functions these are. With each comes the
/// reason why the sum is not known to fit.
#[derive(Default)]
pub(crate) struct Passed {
    of: FxHashMap<AtomId, u32>,
}

impl Cutter {
    /// Notes that a word of `width` bits is `form` less multiples of 2^width, because the form is
    /// not known to fit. The multiples are in `out`.
    pub(crate) fn passed(&mut self, form: &Form, width: u8, out: &Form) {
        let narrow = |r: Reading| r.hi - r.lo < 1i128 << (width + MEANT);
        if !self.read(form).is_ok_and(narrow) {
            return;
        }
        let Use::Opaque(cause) = self.use_form(form, width) else { return };
        for &(a, _) in &out.t {
            let a = match self.world.atoms[a as usize] {
                Atom::Floor(_) if form.coefficient(a) == 0 => a,
                // Of a function that is made of this one, its variable is what is left.
                Atom::Fun(Base::Var(v), _) => self.world.var(v).atom,
                _ => continue,
            };
            self.passed.of.entry(a).or_insert(cause);
        }
    }

    /// The first reason, in the order of the code, why something that a form depends on passes a word.
    pub(crate) fn first_passed(&self, form: &Form) -> Option<u32> {
        if self.passed.of.is_empty() {
            return None;
        }
        let mut open: Vec<AtomId> = form.t.iter().map(|t| t.0).collect();
        let (mut seen, mut first) = (FxHashSet::default(), None);
        while let Some(a) = open.pop() {
            if seen.len() == ATOMS || !seen.insert(a) {
                continue;
            }
            let cause = self.passed.of.get(&a).copied();
            first =
                first.into_iter().chain(cause).min_by_key(|&c| self.world.causes[c as usize].node);
            let mut of = |form: &Form| open.extend(form.t.iter().map(|t| t.0));
            let name = |v: VarId| match &self.world.var(v).source {
                Source::Cut { form, .. } => Some(form),
                Source::Input { .. } => None,
            };
            match self.world.atoms[a as usize] {
                Atom::Floor(f) => of(&self.world.floors[f as usize].form),
                Atom::Var(v) | Atom::Fun(Base::Var(v), _) => {
                    name(v).into_iter().for_each(|f| of(f))
                }
                Atom::Fun(Base::Low(l), _) => of(&self.world.lows[l as usize].form),
                Atom::Prod(x, y) => [x, y].into_iter().filter_map(name).for_each(|f| of(f)),
                Atom::High(w) => of(&self.world.wides[w as usize].form),
                Atom::Opaque(_) => {}
            }
        }
        first
    }

    /// Records that a sum need not fit a word. The sum had `terms` terms where the code added it.
    pub(crate) fn too_wide(&mut self, terms: usize, form: Form, r: &Reading, width: u8) -> u32 {
        let (lo, hi) = (r.lo, r.hi);
        let word = match lo {
            0.. => (0, (1i128 << width) - 1),
            _ => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        };
        let text = format!(
            "a sum of {terms} terms may lie anywhere in [{}, {}] and need not fit {width} bits ([{}, {}])",
            readable(lo),
            readable(hi),
            readable(word.0),
            readable(word.1)
        );
        let kind = CauseKind::Range { lo, hi, width, form };
        self.world.causes.push(Cause { node: self.node, kind, text });
        self.world.causes.len() as u32 - 1
    }
}

/// A number as people read it: of more than eleven digits three.
fn readable(n: i128) -> String {
    if n.unsigned_abs() < 100_000_000_000 { n.to_string() } else { format!("{:.2e}", n as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::Walk;
    use ringforge_contract::InputRange;
    use ringforge_machine::graph::Graph;

    #[test]
    fn numbers_are_short() {
        for (n, text) in [
            (-2690680832, "-2690680832"),
            (99_999_999_999, "99999999999"),
            (-10267961711964, "-1.03e13"),
            (100_000_000_000, "1.00e11"),
        ] {
            assert_eq!(readable(n), text);
        }
    }

    /// Eight products of words up to `most`, reduced as a double word, and the result as a word: where the first does not
    /// fit, that is the reason.
    #[test]
    fn the_double_word_is_blamed() {
        let mut g = Graph::new();
        let mut sum = g.constant(32, 0);
        for i in 0..8 {
            let [x, y] = [0, 1].map(|operand| g.input(16, operand, i));
            let [x, y] = [x, y].map(|x| g.sext(x, 32));
            let product = g.mul(x, y);
            sum = g.add(sum, product);
        }
        let (wide, c) = (g.sext(sum, 64), g.constant(64, (1u64 << 31) / 4591));
        let product = g.mul(wide, c);
        let quotient = g.slice(product, 31, 16);
        let low = g.slice(sum, 0, 16);
        let q = g.constant(16, 4591);
        let less = g.mul(quotient, q);
        let word = g.sub(low, less);
        let (long, three) = (g.sext(word, 32), g.constant(32, 3));
        let tripled = g.mul(long, three);
        let out = g.slice(tripled, 1, 16);
        for (most, fits) in [(16383, true), (16384, false), (20000, false)] {
            let range = InputRange { lo: -most, hi: most, signed: true };
            let mut walk = Walk::new(&g, 4591, vec![range; 2]);
            walk.run(&[out, word], &mut |_, _| true).expect("it is not stopped");
            let found = walk.output(word, 16, true);
            assert_eq!(found.is_ok(), fits, "{most}");
            let Err(cause) = found else { continue };
            let cause = &walk.cut.world.causes[cause as usize];
            assert_eq!(cause.node, wide.0, "{}", cause.text);
            let value = 8 * most * most;
            let text = format!(
                "a sum of 8 terms may lie anywhere in [-{value}, {value}] and need not fit 32 bits ([-2147483648, 2147483647])"
            );
            assert_eq!(cause.text, text);
        }
    }
}
