//! What the outputs are, compared with what the contract asks for at *all* basis vectors.
//!
//! Products: every output is bi-affine in the two operands modulo q (checked first), and either
//! all values that are multiplied have geometric rows, so that the coefficients of a_i·b_j depend
//! on few sums of indices ([`crate::hankel`]), or the outputs are compared for b = 0 and for
//! b = e_j, all j, as affine functions of a ([`crate::columns`]). All other kinds have few terms
//! and are compared as polynomials ([`crate::polynomials`]).

use crate::columns::Check;
use crate::hankel;
use crate::polynomials;
use crate::values::{Atom, AtomId, ModForm, Source, VarId, World};
use ringforge_contract::computes::Computes;
use ringforge_contract::contract::Contract;
use ringforge_contract::terms::Terms;
use ringforge_ring::Ring;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Why the outputs are not what they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The coefficient of a product of inputs in output k is congruent to `found`, not `expected`.
    Coefficient {
        /// The inputs as (operand, element): none for the constant, at most two.
        at: Vec<(usize, usize)>,
        /// Output element.
        k: usize,
        /// Residue found.
        found: u32,
        /// Residue expected.
        expected: u32,
    },
    /// A product of values that depend on one operand where only products of two operands can be
    /// right, or a product of more than two inputs.
    NotBilinear {
        /// The product's atom.
        product: AtomId,
    },
    /// An output depends on a value that is not known modulo q.
    Unknown,
    /// More terms than memory should hold.
    TooLarge,
    /// Stopped.
    Cancelled,
}

/// The operands that a variable depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    None,
    A,
    B,
    Both,
}

/// Counts for the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckStats {
    /// Multiplications of an element of one operand with one of another, after the tool's own
    /// grouping.
    pub products: usize,
    /// Linear terms.
    pub terms: usize,
    /// Coefficients compared, those that are zero included.
    pub equations: u64,
}

/// Compares the outputs with what the contract asks for. `tie`: the operand that shares memory
/// with what is accumulated, if one does.
pub(crate) fn compare(
    contract: &Contract,
    tie: Option<usize>,
    world: &World,
    outputs: &[ModForm],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> (CheckStats, Result<(), Mismatch>) {
    let stats = counts(contract, world, outputs);
    let result = match (contract.computes, Terms::new(contract, tie)) {
        (Computes::Product, _) | (_, None) => product(world, &contract.ring, outputs, progress),
        (_, Some(terms)) => polynomials::compare(world, &terms, outputs, progress),
    };
    (stats, result)
}

fn product(
    world: &World,
    ring: &Ring,
    outputs: &[ModForm],
    progress: &(dyn Fn(f64) -> bool + Sync),
) -> Result<(), Mismatch> {
    let split = Split::new(world, world.q, ring.degree(), outputs)?;
    if let Some(result) = hankel::product(&split, ring, outputs, progress) {
        return result;
    }
    if world.q < 1 << 16 {
        Check::<i16>::new(&split, outputs)?.product(ring, progress)
    } else {
        Check::<i32>::new(&split, outputs)?.product(ring, progress)
    }
}

/// Calls `visit` with the variables of a form's terms.
pub(crate) fn each_variable(world: &World, form: &ModForm, mut visit: impl FnMut(usize)) {
    for &(a, _) in &form.t {
        match world.atoms[a as usize] {
            Atom::Var(v) => visit(v.0 as usize),
            Atom::Prod(x, y) => {
                visit(x.0 as usize);
                visit(y.0 as usize);
            }
            _ => {}
        }
    }
}

/// Which variables the outputs depend on.
pub(crate) fn needed(world: &World, outputs: &[ModForm]) -> Vec<bool> {
    let mut needed = vec![false; world.vars.len()];
    for o in outputs {
        each_variable(world, o, |v| needed[v] = true);
    }
    for v in (0..needed.len()).rev().filter(|v| *v < world.vars.len()) {
        if needed[v]
            && let Some(form) = world.known(VarId(v as u32), world.q)
        {
            each_variable(world, &form, |x| needed[x] = true);
        }
    }
    needed
}

/// What there is to compare.
pub(crate) fn counts(contract: &Contract, world: &World, outputs: &[ModForm]) -> CheckStats {
    let n = contract.ring.degree() as u64;
    let mut stats = CheckStats::default();
    let pairs = contract.pairs as u64;
    let monomials = (n * pairs + 1).pow(contract.computes.inputs() as u32);
    let old = if contract.computes.accumulates() { n } else { 0 };
    stats.equations = (monomials + old) * outputs.len() as u64;
    let mut products = rustc_hash::FxHashSet::default();
    let needed = needed(world, outputs);
    let below = (0..needed.len()).filter(|&v| needed[v]);
    let below = below.filter_map(|v| world.known(VarId(v as u32), world.q));
    for form in below.chain(outputs.iter().map(Cow::Borrowed)) {
        stats.terms += form.t.len();
        let all = form.t.iter().map(|t| t.0);
        products.extend(all.filter(|&a| matches!(world.atoms[a as usize], Atom::Prod(..))));
    }
    stats.products = products.len();
    stats
}

/// The variables below some forms, all modulo one number, by operand.
pub(crate) struct Split<'w> {
    pub world: &'w World,
    /// The modulus.
    pub q: u32,
    /// Elements of an operand.
    pub n: usize,
    pub needed: Vec<bool>,
    pub side: Vec<Side>,
    /// Forms that no variable holds as they are needed.
    own: FxHashMap<u32, ModForm>,
    /// What is an element of one single operand, where it is not the inputs.
    leaves: Option<&'w FxHashMap<VarId, u32>>,
}

impl<'w> Split<'w> {
    /// Splits what is below forms modulo q; operands are the inputs and have n elements.
    ///
    /// # Errors
    /// If a form is not bi-affine in the two operands, or depends on what is not known modulo q.
    pub fn new(
        world: &'w World,
        q: u32,
        n: usize,
        forms: &[ModForm],
    ) -> Result<Split<'w>, Mismatch> {
        Split::over(world, q, n, None, forms)
    }

    /// The same for forms that are linear in the variables of `leaves`, which has their numbers.
    ///
    /// # Errors
    /// If a form is not linear in them.
    pub fn linear(
        world: &'w World,
        q: u32,
        leaves: &'w FxHashMap<VarId, u32>,
        forms: &[ModForm],
    ) -> Result<Split<'w>, Mismatch> {
        Split::over(world, q, leaves.len(), Some(leaves), forms)
    }

    fn over(
        world: &'w World,
        q: u32,
        n: usize,
        leaves: Option<&'w FxHashMap<VarId, u32>>,
        forms: &[ModForm],
    ) -> Result<Split<'w>, Mismatch> {
        let count = world.vars.len();
        let mut this = Split {
            world,
            q,
            n,
            needed: vec![false; count],
            side: vec![Side::None; count],
            own: FxHashMap::default(),
            leaves,
        };
        if forms.iter().any(|f| f.m != q) {
            return Err(Mismatch::Unknown);
        }
        for f in forms {
            each_variable(world, f, |v| this.needed[v] = true);
        }
        for v in (0..count).rev() {
            if !this.needed[v] || this.leaf(v).is_some() {
                continue;
            }
            let form = world.known(VarId(v as u32), q).ok_or(Mismatch::Unknown)?;
            each_variable(world, &form, |x| this.needed[x] = true);
            if let Cow::Owned(form) = form {
                this.own.insert(v as u32, form);
            }
        }
        for v in (0..count).filter(|&v| this.needed[v]) {
            this.side[v] = match this.leaf(v) {
                Some((side, _)) => side,
                None => side_of(world, this.form(v), &this.side)?,
            };
        }
        for f in forms {
            side_of(world, f, &this.side)?;
        }
        Ok(this)
    }

    /// Operand and element, of a variable that is one.
    pub fn leaf(&self, v: usize) -> Option<(Side, u32)> {
        if let Some(leaves) = self.leaves {
            return leaves.get(&VarId(v as u32)).map(|&index| (Side::A, index));
        }
        match self.world.vars[v].source {
            Source::Input { operand: 0, index } => Some((Side::A, index)),
            Source::Input { index, .. } => Some((Side::B, index)),
            Source::Cut { .. } => None,
        }
    }

    /// What a needed variable that is no element is modulo q.
    pub fn form(&self, v: usize) -> &ModForm {
        self.own.get(&(v as u32)).unwrap_or(&self.world.vars[v].residue)
    }
}

fn side_of(world: &World, form: &ModForm, side: &[Side]) -> Result<Side, Mismatch> {
    let mut s = Side::None;
    for &(a, _) in &form.t {
        let t = match world.atoms[a as usize] {
            Atom::Var(v) => side[v.0 as usize],
            Atom::Prod(x, y) => match (side[x.0 as usize], side[y.0 as usize]) {
                (Side::None, t) | (t, Side::None) => t,
                (Side::A, Side::B) | (Side::B, Side::A) => Side::Both,
                _ => return Err(Mismatch::NotBilinear { product: a }),
            },
            _ => Side::None,
        };
        s = match (s, t) {
            (Side::None, x) | (x, Side::None) => x,
            (x, y) if x == y => x,
            _ => Side::Both,
        };
    }
    Ok(s)
}

/// x^m mod f for m from 0 to 2n − 2: (exponent, residue), residues in `[1, q)`.
pub(crate) fn powers(ring: &Ring) -> Vec<Vec<(u16, u32)>> {
    let (n, f, q) = (ring.degree(), ring.modulus(), ring.q() as i64);
    let mut row = vec![0i64; n];
    row[0] = 1;
    let mut powers = Vec::with_capacity(2 * n);
    for _ in 0..2 * n - 1 {
        let sparse = row.iter().enumerate().filter(|x| *x.1 != 0);
        powers.push(sparse.map(|(k, &c)| (k as u16, c as u32)).collect());
        let top = row[n - 1];
        row.rotate_right(1);
        row[0] = 0;
        if top != 0 {
            for (x, c) in row.iter_mut().zip(f) {
                *x = (*x - top * c).rem_euclid(q);
            }
        }
    }
    powers
}
