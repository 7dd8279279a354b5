//! The atoms of a certificate, each with what the search expects of it.

use crate::function::Side;
use ringforge_contract::InputRange;
use ringforge_kernel::atom::{Atom, product};
use ringforge_kernel::certificate::Line;
use ringforge_kernel::form::{AtomId, Form, Word};
use rustc_hash::FxHashMap;

/// The most low bits of an atom that count: quotients divide no more than these away.
pub(super) const BITS: u8 = 16;

/// What the search expects of an atom.
struct Known {
    /// The operands that it depends on.
    side: Side,
    /// In how many low bits it is a polynomial, affine in each operand, if all quotients are of multiples.
    certain: u8,
    /// An interval, as the kernel finds it.
    bounds: Option<(i128, i128)>,
    /// The node at which it was made.
    node: u32,
}

/// Atoms by number, and the lines that define them.
pub(super) struct Atoms<'g> {
    inputs: &'g [InputRange],
    pub lines: Vec<Line>,
    index: FxHashMap<Atom, AtomId>,
    known: Vec<Known>,
    forms: Vec<Option<(Form, u8)>>,
}

fn join(x: Side, y: Side) -> Side {
    match (x, y) {
        (Side::None, s) | (s, Side::None) => s,
        (x, y) if x == y => x,
        _ => Side::Both,
    }
}

impl<'g> Atoms<'g> {
    /// None yet. `inputs[o]` is the range of operand o's elements.
    pub fn new(inputs: &'g [InputRange]) -> Self {
        let (lines, known, forms) = (Vec::new(), Vec::new(), Vec::new());
        Atoms { inputs, lines, index: FxHashMap::default(), known, forms }
    }

    /// Elements of inputs among them.
    pub fn inputs_used(&self) -> usize {
        self.index.keys().filter(|a| matches!(a, Atom::Input { .. })).count()
    }

    /// The node at which an atom was made.
    pub fn node(&self, atom: &Atom) -> Option<u32> {
        Some(self.known[*self.index.get(atom)? as usize].node)
    }

    /// The number of an atom, with its line where it is new.
    pub fn make(&mut self, atom: Atom, node: u32) -> AtomId {
        if let Some(&id) = self.index.get(&atom) {
            return id;
        }
        let known = self.expected(&atom, node);
        let id = self.known.len() as AtomId;
        self.forms.push(match &atom {
            Atom::Floor { form, bits } => Some(((**form).clone(), *bits)),
            _ => None,
        });
        self.known.push(known);
        self.lines.push(Line::Atom(atom.clone()));
        self.index.insert(atom, id);
        id
    }

    /// The value of a node with a known word.
    pub fn value(&mut self, node: u32, bits: u8, word: Word) -> AtomId {
        let form = word.integer();
        let (side, certain) = (self.side(&form), self.certain(&form).min(word.bits));
        let atom = self.make(Atom::Value { node, bits }, node);
        let known = &mut self.known[atom as usize];
        (known.side, known.certain) = (side, certain.min(BITS));
        atom
    }

    fn expected(&self, atom: &Atom, node: u32) -> Known {
        let of = |a: AtomId| &self.known[a as usize];
        let (side, certain, bounds) = match atom {
            Atom::Input { operand, .. } => {
                let side = if *operand == 0 { Side::A } else { Side::B };
                let range = self.inputs.get(usize::from(*operand));
                (side, BITS, range.map(|r| (r.lo.into(), r.hi.into())))
            }
            Atom::Name(form) => {
                let bounds = if form.t.len() == 1 { self.interval(form) } else { None };
                (self.side(form), self.certain(form), bounds)
            }
            Atom::Product(x, y) => {
                let certain = match (of(*x).side, of(*y).side) {
                    (Side::A, Side::B) | (Side::B, Side::A) | (Side::None, _) | (_, Side::None) => {
                        of(*x).certain.min(of(*y).certain)
                    }
                    // Not bilinear.
                    _ => 0,
                };
                let bounds = of(*x).bounds.zip(of(*y).bounds);
                let bounds = bounds.and_then(|(l, r)| product(x == y, l, r));
                (join(of(*x).side, of(*y).side), certain, bounds)
            }
            Atom::Floor { form, bits } => {
                let bounds = self.interval(form).map(|(l, h)| (l >> bits, h >> bits));
                (self.side(form), self.certain(form).saturating_sub(*bits), bounds)
            }
            Atom::Low(word) => {
                let form = word.integer();
                let bounds = Some((0, (1i128 << word.bits) - 1));
                (self.side(&form), self.certain(&form).min(word.bits), bounds)
            }
            Atom::Value { bits, .. } => (Side::Both, 0, Some((0, (1i128 << bits) - 1))),
            Atom::Function { .. } => (Side::Both, 0, None),
        };
        Known { side, certain: certain.min(BITS), bounds, node }
    }

    fn side(&self, form: &Form) -> Side {
        form.t.iter().fold(Side::None, |s, t| join(s, self.known[t.0 as usize].side))
    }

    /// Low bits of a form that are a polynomial's; many, of a constant.
    fn certain(&self, form: &Form) -> u8 {
        let one = |&(a, c): &(AtomId, i128)| {
            (self.known[a as usize].certain as u32 + c.trailing_zeros()).min(255) as u8
        };
        form.t.iter().map(one).min().unwrap_or(u8::MAX)
    }

    /// Low bits of a word that are a polynomial's.
    pub fn certain_of(&self, word: &Word) -> u8 {
        self.certain(&word.integer()).min(word.bits)
    }

    /// The interval of a form, if all its atoms have one.
    pub fn interval(&self, form: &Form) -> Option<(i128, i128)> {
        form.t.iter().try_fold((form.k, form.k), |(lo, hi), &(a, c)| {
            let (l, h) = self.known[a as usize].bounds?;
            let (l, h) = (l.checked_mul(c)?, h.checked_mul(c)?);
            Some((lo.checked_add(l.min(h))?, hi.checked_add(l.max(h))?))
        })
    }

    /// Whether words of `bits` bits hold all values of a form.
    pub fn fits(&self, form: &Form, bits: u8, signed: bool) -> bool {
        let (least, greatest) = if signed {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        self.interval(form).is_some_and(|(lo, hi)| lo >= least && hi <= greatest)
    }

    /// The integer that a word is when it is read; all bits of the word must be known. If need be,
    /// that is the greatest word less a remainder. Such a remainder, with coefficient -1, is halved
    /// as one term, because the kernel takes coefficients of 1 modulo 2 for -1.
    pub fn read(&mut self, word: &Word, signed: bool, node: u32) -> Form {
        let plain = word.integer();
        if self.fits(&plain, word.bits, signed) {
            return plain;
        }
        let greatest = if signed { i64::MAX >> (64 - word.bits) } else { -1 };
        let below = Word::constant(greatest, word.bits).plus(word, -1);
        let low = self.make(Atom::Low(below.into()), node);
        let greatest = (1i128 << (word.bits - u8::from(signed))) - 1;
        Form { k: greatest, t: vec![(low, -1)] }
    }

    /// What the kernel makes of `floor(form / 2^lo)` modulo 2^bits.
    pub fn quotient(&mut self, form: &Form, lo: u8, bits: u8, node: u32) -> Word {
        let (whole, rest) = form.divided(lo);
        let whole = Word::of(&whole, bits);
        let Some((mut rest, mut lo)) = rest else { return whole };
        if let Some((l, h)) = self.interval(&rest)
            && l >> lo == h >> lo
        {
            return whole.plus(&Word::constant((l >> lo) as i64, bits), 1);
        }
        if let [(a, 1)] = rest.t[..]
            && let Some((inner, more)) = &self.forms[a as usize]
            && more + lo <= 64
            && let Some(joined) = inner.combine(1, &Form::constant(rest.k << more), 1)
        {
            (rest, lo) = (joined, more + lo);
        }
        let atom = self.make(Atom::Floor { form: rest.into(), bits: lo }, node);
        whole.plus(&Word::atom(atom, bits), 1)
    }
}
