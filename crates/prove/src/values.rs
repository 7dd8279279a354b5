//! What a word means: linear forms over exact integer atoms, and the tables of atoms.

use crate::funs::{FunId, Funs, centre};
use ringforge_kernel::form::paired;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Index of an interned atom.
pub type AtomId = u32;

/// The most terms that [`Form::added`] inserts into a sum in place. Each of them may move all later
/// terms.
const FEW: usize = 4;

/// Index of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VarId(pub u32);

/// What a function may depend on: one integer with a known interval.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Base {
    /// A variable.
    Var(VarId),
    /// The low 16 bits, read unsigned, of a linear form ([`Low`]).
    Low(u32),
}

/// An exact integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A variable.
    Var(VarId),
    /// A function of one base, its value read as signed.
    Fun(Base, FunId),
    /// The integer product of two variables, the smaller id first.
    Prod(VarId, VarId),
    /// `floor(P / 2^16)` of a wide form ([`Wide`]).
    High(u32),
    /// `floor(F / 2^k)` of a form, with no function of its low bits at hand ([`Floor`]).
    Floor(u32),
    /// A value that is not understood, each its own atom: two of them never cancel. The number is
    /// an index into [`World::opaques`].
    Opaque(u32),
}

/// `k + Σ c·atom` modulo 2^width, coefficients centred, terms sorted by atom, none zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Form {
    /// Constant.
    pub k: i64,
    /// Terms.
    pub t: Vec<(AtomId, i64)>,
}

impl Form {
    /// A constant.
    pub fn constant(k: i64, width: u8) -> Form {
        Form { k: centre(k, width), t: Vec::new() }
    }
    /// One atom.
    pub fn atom(a: AtomId) -> Form {
        Form { k: 0, t: vec![(a, 1)] }
    }
    /// The sum of terms modulo 2^64, in any order, an atom perhaps more than once.
    pub fn of(k: i64, mut terms: Vec<(AtomId, i64)>) -> Form {
        terms.sort_unstable_by_key(|t| t.0);
        let mut t: Vec<(AtomId, i64)> = Vec::with_capacity(terms.len());
        for (a, c) in terms {
            match t.last_mut() {
                Some(last) if last.0 == a => last.1 = last.1.wrapping_add(c),
                _ => t.push((a, c)),
            }
        }
        t.retain(|t| t.1 != 0);
        Form { k, t }
    }
    /// `ca·a + cb·b` modulo 2^width.
    pub fn combine(a: &Form, ca: i64, b: &Form, cb: i64, width: u8) -> Form {
        let sum =
            |x: i64, y: i64| centre(ca.wrapping_mul(x).wrapping_add(cb.wrapping_mul(y)), width);
        let mut t = Vec::with_capacity(a.t.len() + b.t.len());
        let terms = paired(&a.t, &b.t).map(|(atom, x, y)| (atom, sum(x, y)));
        t.extend(terms.filter(|t| t.1 != 0));
        Form { k: sum(a.k, b.k), t }
    }
    /// The same as `combine(self, 1, other, c, width)`, for a sum that the caller owns and whose
    /// coefficients are centred. If `other` has few terms, they are inserted in place. So building
    /// a sum of n terms one by one takes n steps, not n^2.
    pub fn added(mut self, other: &Form, c: i64, width: u8) -> Form {
        if other.t.len() > FEW.min(self.t.len() / 8) {
            return Form::combine(&self, 1, other, c, width);
        }
        for &(a, x) in &other.t {
            let x = centre(x.wrapping_mul(c), width);
            let at = match self.t.last() {
                Some(last) if last.0 >= a => self.t.binary_search_by_key(&a, |t| t.0),
                _ => Err(self.t.len()),
            };
            match at {
                Ok(at) => {
                    let sum = centre(self.t[at].1.wrapping_add(x), width);
                    if sum == 0 {
                        self.t.remove(at);
                    } else {
                        self.t[at].1 = sum;
                    }
                }
                Err(at) if x != 0 => self.t.insert(at, (a, x)),
                Err(_) => {}
            }
        }
        self.k = centre(self.k.wrapping_add(c.wrapping_mul(other.k)), width);
        self
    }
    /// `c·self` modulo 2^width.
    pub fn scaled(&self, c: i64, width: u8) -> Form {
        let t = self.t.iter().map(|&(a, x)| (a, centre(x.wrapping_mul(c), width)));
        Form { k: centre(self.k.wrapping_mul(c), width), t: t.filter(|t| t.1 != 0).collect() }
    }
    /// `self + k` modulo 2^width.
    pub fn plus(mut self, k: i64, width: u8) -> Form {
        self.k = centre(self.k.wrapping_add(k), width);
        self
    }
    /// A form over variables and products, read as integers, modulo m.
    pub fn modulo(&self, m: u32) -> ModForm {
        let of = |c: i64| residue(c.into(), m);
        let t = self.t.iter().map(|&(a, c)| (a, of(c))).filter(|t| t.1 != 0).collect();
        ModForm { m, k: of(self.k), t }
    }
    /// The coefficient of an atom.
    pub fn coefficient(&self, a: AtomId) -> i64 {
        self.t.binary_search_by_key(&a, |t| t.0).map_or(0, |i| self.t[i].1)
    }
}

/// A linear form modulo m over variables and products: `k + Σ c·atom`, residues below m.
///
/// The default, with m = 0, says nothing: the residue of an input, which is a leaf.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ModForm {
    /// The modulus.
    pub m: u32,
    /// Constant.
    pub k: u32,
    /// Terms: [`Atom::Var`] or [`Atom::Prod`] only, sorted, no zero.
    pub t: Vec<(AtomId, u32)>,
}

impl ModForm {
    /// Minus it.
    pub fn negated(&self) -> ModForm {
        let minus = |c: u32| (self.m - c) % self.m.max(1);
        let t = self.t.iter().map(|&(a, c)| (a, minus(c))).collect();
        ModForm { m: self.m, k: minus(self.k), t }
    }
}

/// What a variable is modulo some m, over earlier atoms.
#[derive(Clone, Copy, Debug)]
pub enum Expansion<'w> {
    /// An element of an operand.
    Input,
    /// This form over variables and products, an equation of integers.
    Exact(&'w Form),
    /// This form, whose modulus is a multiple of m.
    Residue(&'w ModForm),
    /// An integer that is known only by its interval.
    Leaf,
}

/// Where a variable comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Element `index` of input array `operand`.
    Input {
        /// Input array.
        operand: u16,
        /// Element.
        index: u32,
    },
    /// Equal to this form: as an integer if `bits` is 64, else modulo 2^bits.
    Cut {
        /// The form, without constant.
        form: Arc<Form>,
        /// Bits for which the equation holds.
        bits: u8,
    },
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Least value.
    pub lo: i64,
    /// Greatest value.
    pub hi: i64,
    /// Where it comes from.
    pub source: Source,
    /// What it is modulo some modulus, over earlier atoms (for an input: nothing). See
    /// [`Expansion`].
    pub residue: ModForm,
    /// The form over variables and products that it is as an integer, where it is one: true in
    /// every modulus.
    pub integer: Option<Arc<Form>>,
    /// If it is a function of one base: that base and function.
    pub parent: Option<(Base, FunId)>,
    /// Graph node at which it was introduced.
    pub node: u32,
    /// Its own atom.
    pub atom: AtomId,
}

/// The low half of sums: all multiples of one form modulo 2^16 share it.
#[derive(Clone, Debug)]
pub struct Low {
    /// The form modulo 2^16, no constant.
    pub form: Arc<Form>,
    /// Why no variable could be made of it, where that was tried.
    pub cause: Option<u32>,
}

/// A wide sum whose high half is used.
#[derive(Clone, Debug)]
pub struct Wide {
    /// The exact integer form, no constant.
    pub form: Arc<Form>,
    /// Its low base, and `m` such that `form = m·low` modulo 2^16.
    pub low: (u32, i64),
    /// Graph node whose high half was used first.
    pub node: u32,
}

/// A quotient by a power of two, of words too wide to enumerate.
///
/// The low bits are no atom: `F mod 2^k` is `F - 2^k·floor(F / 2^k)`, so that Montgomery's
/// difference is a multiple of 2^k term by term.
#[derive(Clone, Debug)]
pub struct Floor {
    /// The exact integer form F: coefficients in [-2^(k-1), 2^(k-1)), constant in [0, 2^k).
    pub form: Arc<Form>,
    /// k, from 1 to 62.
    pub bits: u8,
    /// Least value of the quotient.
    pub lo: i128,
    /// Greatest value of the quotient.
    pub hi: i128,
}

/// Why a value is not understood.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Graph node whose use failed.
    pub node: u32,
    /// What happened.
    pub kind: CauseKind,
    /// In words.
    pub text: String,
}

/// Kinds of failure.
#[derive(Clone, Debug, PartialEq)]
pub enum CauseKind {
    /// A sum that does not fit its word, with its interval; the form is what should have fitted.
    Range {
        /// Least value that the sum may take.
        lo: i128,
        /// Greatest value that it may take.
        hi: i128,
        /// Width of the word.
        width: u8,
        /// The sum.
        form: Form,
    },
    /// A function that is not linear modulo q.
    Nonlinear,
    /// Not modelled.
    Unmodelled,
}

/// All tables of one proof.
pub struct World {
    /// The contract's modulus, below 2^31.
    pub q: u32,
    /// Whether words of 32 bits are multiplied with each other, so that values are known by quotients
    /// rather than by enumeration. It decides how something is shown, never what.
    pub wide: bool,
    /// The moduli of residues: q, then those found by enumeration, in order of discovery.
    pub moduli: Vec<u32>,
    /// 2^-16 modulo q.
    pub r_inv: u32,
    /// Atoms.
    pub atoms: Vec<Atom>,
    index: FxHashMap<Atom, AtomId>,
    /// Variables.
    pub vars: Vec<Var>,
    /// Low bases.
    pub lows: Vec<Low>,
    low_index: FxHashMap<Arc<Form>, u32>,
    /// Wide forms.
    pub wides: Vec<Wide>,
    wide_index: FxHashMap<Arc<Form>, u32>,
    /// Quotients.
    pub floors: Vec<Floor>,
    floor_index: FxHashMap<(Arc<Form>, u8), u32>,
    /// Functions.
    pub funs: Funs,
    /// Reasons.
    pub causes: Vec<Cause>,
    /// Reason of each opaque atom (index into `causes`).
    pub opaques: Vec<u32>,
}

impl World {
    /// Empty tables for odd `q` below 2^31.
    pub fn new(q: u32) -> World {
        let inv = ringforge_ring::zq::inv(65536 % u64::from(q), u64::from(q));
        World {
            q,
            wide: q > 65535,
            moduli: vec![q],
            r_inv: inv.map_or(0, |r| r as u32),
            atoms: Vec::new(),
            index: FxHashMap::default(),
            vars: Vec::new(),
            lows: Vec::new(),
            low_index: FxHashMap::default(),
            wides: Vec::new(),
            wide_index: FxHashMap::default(),
            floors: Vec::new(),
            floor_index: FxHashMap::default(),
            funs: Funs::default(),
            causes: Vec::new(),
            opaques: Vec::new(),
        }
    }

    /// Interns an atom.
    pub fn atom(&mut self, atom: Atom) -> AtomId {
        if let Some(&id) = self.index.get(&atom) {
            return id;
        }
        let id = self.atoms.len() as AtomId;
        self.index.insert(atom, id);
        self.atoms.push(atom);
        id
    }

    /// The product atom of two variables.
    pub fn product(&mut self, x: VarId, y: VarId) -> AtomId {
        self.atom(if x <= y { Atom::Prod(x, y) } else { Atom::Prod(y, x) })
    }

    /// A new variable.
    pub fn new_var(&mut self, make: impl FnOnce(VarId, AtomId) -> Var) -> VarId {
        let id = VarId(self.vars.len() as u32);
        let atom = self.atom(Atom::Var(id));
        let var = make(id, atom);
        self.vars.push(var);
        id
    }

    /// The variable behind an id.
    pub fn var(&self, v: VarId) -> &Var {
        &self.vars[v.0 as usize]
    }

    /// What a variable is modulo m.
    pub fn expansion(&self, v: VarId, m: u32) -> Expansion<'_> {
        let var = self.var(v);
        if matches!(var.source, Source::Input { .. }) {
            return Expansion::Input;
        }
        if var.residue.m != 0 && var.residue.m.is_multiple_of(m) {
            return Expansion::Residue(&var.residue);
        }
        var.integer.as_deref().map_or(Expansion::Leaf, Expansion::Exact)
    }

    /// What a variable that is no input is modulo m as a form of that modulus, where it is known.
    pub fn known(&self, v: VarId, m: u32) -> Option<Cow<'_, ModForm>> {
        match self.expansion(v, m) {
            Expansion::Residue(r) if r.m == m => Some(Cow::Borrowed(r)),
            Expansion::Residue(r) => {
                let t = r.t.iter().map(|&(a, c)| (a, c % m)).filter(|t| t.1 != 0).collect();
                Some(Cow::Owned(ModForm { m, k: r.k % m, t }))
            }
            Expansion::Exact(form) => Some(Cow::Owned(form.modulo(m))),
            Expansion::Input | Expansion::Leaf => None,
        }
    }

    /// The interval of a base.
    pub fn domain(&self, b: Base) -> (i64, i64) {
        match b {
            Base::Var(v) => (self.var(v).lo, self.var(v).hi),
            Base::Low(_) => (0, 65535),
        }
    }

    /// The low base of `form` (its constant is ignored) and `m` with `form - k = m·low` mod 2^16.
    pub fn low(&mut self, form: &Form) -> (u32, i64) {
        let mut form = form.scaled(1, 16);
        form.k = 0;
        let twos = form.t.iter().map(|t| t.1.trailing_zeros()).min().unwrap_or(0);
        for t in &mut form.t {
            t.1 >>= twos;
        }
        let lead = form.t.iter().map(|t| t.1).find(|c| c & 1 == 1).unwrap_or(1);
        let form = Arc::new(form.scaled(inverse(lead), 16));
        let m = centre(lead << twos, 16);
        if let Some(&id) = self.low_index.get(&form) {
            return (id, m);
        }
        let id = self.lows.len() as u32;
        self.low_index.insert(form.clone(), id);
        self.lows.push(Low { form, cause: None });
        (id, m)
    }

    /// The wide of an exact integer form (its constant is ignored).
    pub fn wide(&mut self, form: &Form, node: u32) -> u32 {
        let mut form = form.clone();
        form.k = 0;
        if let Some(&id) = self.wide_index.get(&form) {
            return id;
        }
        let low = self.low(&form);
        let id = self.wides.len() as u32;
        let form = Arc::new(form);
        self.wide_index.insert(form.clone(), id);
        self.wides.push(Wide { form, low, node });
        id
    }

    /// The atom of `floor(form / 2^bits)`, form and interval as [`Floor`] says.
    pub fn floor(&mut self, form: Form, bits: u8, (lo, hi): (i128, i128)) -> AtomId {
        let key = (Arc::new(form), bits);
        let id = match self.floor_index.get(&key) {
            Some(&id) => id,
            None => {
                let id = self.floors.len() as u32;
                self.floors.push(Floor { form: key.0.clone(), bits, lo, hi });
                self.floor_index.insert(key, id);
                id
            }
        };
        self.atom(Atom::Floor(id))
    }

    /// Whether a form has a quotient among its atoms.
    pub fn has_floor(&self, form: &Form) -> bool {
        form.t.iter().any(|t| matches!(self.atoms[t.0 as usize], Atom::Floor(_)))
    }

    /// A new atom for a value that is not understood, for the reason `cause`.
    pub fn opaque(&mut self, cause: u32) -> AtomId {
        let id = self.opaques.len() as u32;
        self.opaques.push(cause);
        self.atom(Atom::Opaque(id))
    }

    /// The first opaque atom of a form.
    pub fn cause_in(&self, form: &Form) -> Option<u32> {
        form.t.iter().find_map(|t| match self.atoms[t.0 as usize] {
            Atom::Opaque(o) => Some(self.opaques[o as usize]),
            _ => None,
        })
    }
}

/// Inverse of an odd number modulo 2^64.
pub fn inverse(a: i64) -> i64 {
    let mut x = a; // right to 3 bits
    for _ in 0..5 {
        x = x.wrapping_mul(2i64.wrapping_sub(a.wrapping_mul(x)));
    }
    x
}

/// `a mod q`, not negative.
#[inline]
pub fn residue(a: i128, q: u32) -> u32 {
    a.rem_euclid(i128::from(q)) as u32
}
