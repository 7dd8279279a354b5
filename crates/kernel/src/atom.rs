//! Atoms: names for integers, with what is known of them.
//!
//! The line that makes an atom defines the integer that it denotes, for each choice of the inputs. So
//! making one proves nothing, and cannot be an error. Rules prove what is known of it
//! ([`crate::claim`]). A rule may need atoms that no line defines. They last until the line ends.

use crate::compare::{Residue, Term};
use crate::enumerate::Enumerated;
use crate::form::{AtomId, Form, Word};
use crate::fun::FunId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What an atom denotes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// Element `index` of input array `operand`, an integer in the contract's range.
    Input {
        /// Input array.
        operand: u16,
        /// Element.
        index: u32,
    },
    /// The value of a form.
    Name(Arc<Form>),
    /// The value, read as signed, of a function at the value of an earlier atom.
    Function {
        /// The atom.
        of: AtomId,
        /// The function.
        fun: FunId,
    },
    /// The product of two earlier atoms, the smaller number first.
    Product(AtomId, AtomId),
    /// `floor(form / 2^bits)`.
    Floor {
        /// The form.
        form: Arc<Form>,
        /// From 1 to 64.
        bits: u8,
    },
    /// The integer in `[0, 2^bits)` that is congruent to a word, all of whose bits are known.
    Low(Arc<Word>),
    /// The integer in `[0, 2^bits)` that is congruent to a node of the graph.
    Value {
        /// The node.
        node: u32,
        /// From 1 to 64.
        bits: u8,
    },
}

/// All atoms and all facts.
#[derive(Default)]
pub struct Facts {
    /// The atoms in the order of the certificate, then those of the line at hand.
    pub atoms: Vec<Atom>,
    /// How many of them lines define.
    defined: usize,
    /// Functions and what was enumerated of them.
    pub enumerated: Enumerated,
    /// Forms that are zero for all inputs.
    pub zero: Vec<Form>,
    /// Names that are integers by the Chinese remainder theorem: what they are modulo the ring's q, over earlier atoms.
    pub wholes: FxHashMap<AtomId, Residue>,
    /// What the walk found of nodes whose values are atoms.
    told: FxHashMap<AtomId, Word>,
    index: FxHashMap<Atom, AtomId>,
    bounds: Vec<Option<(i128, i128)>>,
    congruences: Vec<Vec<Residue>>,
    ranges: Vec<(i64, i64)>,
}

impl Facts {
    /// No atom yet. `ranges[o]` is the interval of operand o's elements, `budget` the point evaluations
    /// that enumeration may take.
    pub fn new(ranges: Vec<(i64, i64)>, budget: u64) -> Facts {
        Facts { enumerated: Enumerated::new(budget), ranges, ..Facts::default() }
    }

    /// The atom of a definition over earlier atoms and functions, in normal form: one number for each, however
    /// often it is asked for. One that no line defines is gone when the line ends.
    ///
    /// # Errors
    /// An operand or an atom that is not there, or a number of bits that no such atom has.
    pub fn atom(&mut self, atom: Atom) -> Result<AtomId, String> {
        self.known(&atom).map_or_else(|| self.push(atom), Ok)
    }

    /// The next atom, which a line defines.
    ///
    /// # Errors
    /// As [`Facts::atom`].
    pub fn define(&mut self, atom: Atom) -> Result<AtomId, String> {
        let id = self.push(atom)?;
        self.defined = self.atoms.len();
        Ok(id)
    }

    fn push(&mut self, atom: Atom) -> Result<AtomId, String> {
        match &atom {
            Atom::Input { operand, .. } => {
                self.ranges.get(usize::from(*operand)).ok_or("no such operand")?;
            }
            Atom::Function { of, .. } => _ = self.get(*of)?,
            Atom::Product(x, y) => _ = (self.get(*x)?, self.get(*y)?),
            Atom::Floor { bits, .. } | Atom::Value { bits, .. } if !(1..=64).contains(bits) => {
                return Err(format!("a quotient by 2^{bits}, or a value of {bits} bits"));
            }
            Atom::Low(word) if word.bits == 0 => return Err("a remainder modulo 2^0".into()),
            _ => {}
        }
        let bounds = self.plain_bounds(&atom);
        let id = self.atoms.len() as AtomId;
        self.atoms.push(atom.clone());
        self.index.entry(atom).or_insert(id);
        self.congruences.push(Vec::new());
        self.bounds.push(bounds);
        Ok(id)
    }

    /// Forgets the atoms that no line defines.
    pub fn forget(&mut self) {
        for atom in self.atoms.drain(self.defined..) {
            self.index.remove(&atom);
        }
        self.congruences.truncate(self.defined);
        self.bounds.truncate(self.defined);
    }

    /// Whether lines define all atoms of these terms.
    pub(crate) fn defines<C>(&self, terms: &[(AtomId, C)]) -> bool {
        terms.iter().all(|t| (t.0 as usize) < self.defined)
    }

    /// The atom of a definition, if there is one.
    pub(crate) fn known(&self, atom: &Atom) -> Option<AtomId> {
        self.index.get(atom).copied()
    }

    /// The atom with this number.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, a: AtomId) -> Result<&Atom, String> {
        self.atoms.get(a as usize).ok_or_else(|| format!("no atom {a} yet"))
    }

    /// What follows from a definition alone.
    fn plain_bounds(&mut self, atom: &Atom) -> Option<(i128, i128)> {
        match atom {
            Atom::Input { operand, .. } => {
                let (lo, hi) = *self.ranges.get(usize::from(*operand))?;
                Some((lo.into(), hi.into()))
            }
            Atom::Product(x, y) => product(*x == *y, self.bounds(*x)?, self.bounds(*y)?),
            Atom::Floor { form, bits } => {
                let (lo, hi) = self.interval(form).ok()?;
                Some((lo >> bits, hi >> bits))
            }
            Atom::Low(word) => Some((0, (1i128 << word.bits) - 1)),
            Atom::Value { bits, .. } => Some((0, (1i128 << bits) - 1)),
            Atom::Function { of, fun } => {
                let (lo, hi) = self.domain(*of).ok()?;
                let (lo, hi) = self.enumerated.range(*fun, lo, hi)?;
                Some((lo.into(), hi.into()))
            }
            Atom::Name(form) if form.t.len() == 1 => self.interval(form).ok(),
            Atom::Name(_) => None,
        }
    }

    /// The interval of an atom, if one is known.
    pub fn bounds(&self, a: AtomId) -> Option<(i128, i128)> {
        *self.bounds.get(a as usize)?
    }

    /// The same, of 64-bit integers.
    pub(crate) fn domain(&self, a: AtomId) -> Result<(i64, i64), String> {
        let ends = self.bounds(a).and_then(|(lo, hi)| lo.try_into().ok().zip(hi.try_into().ok()));
        ends.ok_or_else(|| format!("atom {a} has no interval of 64 bits"))
    }

    /// Records that an atom lies in an interval, beside what is known.
    pub fn narrow(&mut self, a: AtomId, lo: i128, hi: i128) {
        let slot = &mut self.bounds[a as usize];
        *slot = Some(slot.map_or((lo, hi), |(l, h)| (l.max(lo), h.min(hi))));
    }

    /// Records what an atom is modulo something.
    ///
    /// # Errors
    /// If it is over later atoms: expanding it would not end.
    pub fn congruent(&mut self, a: AtomId, is: Residue) -> Result<(), String> {
        before(a, &is)?;
        self.congruences[a as usize].push(is);
        Ok(())
    }

    /// What an atom other than an input is modulo m, over earlier atoms. A fact says it, or what defines the atom,
    /// if that is linear over inputs, names, remainders and products.
    pub fn congruence(&self, a: AtomId, m: u32) -> Option<Residue> {
        let known = self.congruences[a as usize].iter().rfind(|c| c.m.is_multiple_of(m));
        if let Some(known) = known {
            return Some(known.modulo(m));
        }
        if let Atom::Name(form) = &self.atoms[a as usize] {
            return self.linear(form, m).ok();
        }
        // A remainder modulo 2^bits is congruent to its word modulo every divisor of that.
        let word = self.low(a).filter(|w| (1u128 << w.bits).is_multiple_of(m.into()))?;
        self.linear(&word.integer(), m).ok()
    }

    /// The word to which a remainder, or the value of a node, is congruent.
    pub(crate) fn low(&self, a: AtomId) -> Option<&Word> {
        match &self.atoms[a as usize] {
            Atom::Low(word) => Some(word),
            Atom::Value { .. } => self.told.get(&a),
            _ => None,
        }
    }

    /// Records the word of the node whose value an atom is.
    ///
    /// # Errors
    /// If it is over later atoms: expanding it would not end.
    pub(crate) fn tell(&mut self, a: AtomId, word: Word) -> Result<(), String> {
        if word.t.last().is_some_and(|t| t.0 >= a) {
            return Err("a value over later atoms".into());
        }
        self.told.insert(a, word);
        Ok(())
    }

    /// A form modulo m over inputs, names, remainders and products. Modulo a power of two it may be over floor
    /// quotients too, which are divided in comparison with the ring.
    ///
    /// # Errors
    /// Which other atom is left.
    pub(crate) fn linear(&self, form: &Form, m: u32) -> Result<Residue, String> {
        let low = |c: i128| c.rem_euclid(m.into()) as u32;
        let mut t = Vec::with_capacity(form.t.len());
        for (a, c) in form.t.iter().map(|&(a, c)| (a, low(c))).filter(|t| t.1 != 0) {
            t.push(match self.atoms[a as usize] {
                Atom::Product(x, y) => (Term::Product(x, y), c),
                Atom::Floor { .. } if m.is_power_of_two() => (Term::Value(a), c),
                Atom::Floor { .. } | Atom::Function { .. } => {
                    return Err(format!(
                        "atom {a} is a quotient or a function, and does not vanish modulo {m}"
                    ));
                }
                _ => (Term::Value(a), c),
            });
        }
        Ok(Residue::sum(m, low(form.k), t))
    }
}

/// Whether a residue is over atoms before this one, so that expanding it ends.
pub(crate) fn before(a: AtomId, is: &Residue) -> Result<(), String> {
    let later = is.t.iter().flat_map(|t| t.0.factors()).any(|x| x >= a);
    if later { Err("a residue over later atoms".into()) } else { Ok(()) }
}

/// The interval of a product; of a square where `square`.
pub fn product(square: bool, x: (i128, i128), y: (i128, i128)) -> Option<(i128, i128)> {
    let mut all = [0; 4];
    for (slot, (p, q)) in all.iter_mut().zip([(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)]) {
        *slot = p.checked_mul(q)?;
    }
    let (lo, hi) = (*all.iter().min()?, *all.iter().max()?);
    Some(if square { (lo.max(0), hi) } else { (lo, hi) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x in [-9, 9], what is left of it modulo 2^8, its quotient by 2^3, and the value of a node.
    fn facts() -> (Facts, [AtomId; 4]) {
        let mut facts = Facts::new(vec![(-9, 9)], 1 << 20);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let word = Word { bits: 8, k: -7, t: vec![(x, 5)] };
        let form = Form { k: 7, t: vec![(x, -13)] };
        let low = facts.atom(Atom::Low(word.clone().into())).expect("a remainder");
        let floor = facts.atom(Atom::Floor { form: form.into(), bits: 3 }).expect("a quotient");
        let value = facts.atom(Atom::Value { node: 0, bits: 16 }).expect("a value");
        facts.tell(value, word).expect("earlier atoms");
        (facts, [x, low, floor, value])
    }

    fn is(m: u32, k: u32, t: &[(AtomId, u32)]) -> Option<Residue> {
        Some(Residue { m, k, t: t.iter().map(|&(a, c)| (Term::Value(a), c)).collect() })
    }

    #[test]
    fn what_is_known_modulo_a_number_is_known_modulo_its_divisors() {
        let (mut facts, [x, low, ..]) = facts();
        let name = Form { k: 17, t: vec![(x, 3), (low, -5)] };
        let name = facts.atom(Atom::Name(name.into())).expect("a name");
        let found = |facts: &Facts, m| facts.congruence(name, m);
        assert_eq!(found(&facts, 5), is(5, 2, &[(x, 3)]));
        let told = is(35, 33, &[(x, 21), (low, 34)]).expect("a residue");
        facts.congruent(name, told).expect("earlier atoms");
        assert_eq!(found(&facts, 35), is(35, 33, &[(x, 21), (low, 34)]));
        assert_eq!(found(&facts, 7), is(7, 5, &[(low, 6)]));
        assert_eq!(found(&facts, 5), is(5, 3, &[(x, 1), (low, 4)]));
        // Of others by its definition, and of those that are told the last one counts.
        assert_eq!(found(&facts, 2), is(2, 1, &[(x, 1), (low, 1)]));
        facts.congruent(name, Residue { m: 7, k: 1, t: vec![] }).expect("a constant");
        assert_eq!(found(&facts, 7), is(7, 1, &[]));
    }

    #[test]
    fn remainders_and_quotients_are_known_modulo_powers_of_two() {
        let (mut facts, [x, low, floor, value]) = facts();
        for a in [low, value] {
            let found = |m| facts.congruence(a, m);
            assert_eq!(found(256), is(256, 249, &[(x, 5)]));
            assert_eq!(found(4), is(4, 1, &[(x, 1)]));
            assert_eq!((found(512), found(3), found(24)), (None, None, None));
        }
        assert!(facts.congruence(floor, 4).is_none());
        // Names of quotients have residues modulo powers of two alone, names of functions none.
        let fun = facts.enumerated.funs.lin(16, 1, 1, &[]);
        let function = facts.atom(Atom::Function { of: x, fun }).expect("a function");
        for (part, of) in [(floor, [Some(2), None]), (function, [None, None])] {
            let form = Form { k: 2, t: vec![(x, 1), (part, 1)] };
            let name = facts.atom(Atom::Name(form.into())).expect("a name");
            let found = [4, 3].map(|m| facts.congruence(name, m).map(|c| c.k));
            assert_eq!(found, of);
        }
    }
}
