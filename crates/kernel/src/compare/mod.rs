//! Rule *comparison with the ring*: outputs are expanded down to the inputs, and every coefficient is
//! compared with what the contract asks for.
//!
//! **Statement.** Let every value v be an integer with `v ≡ k + Σ c·term (mod m)`. A term is a value
//! with a smaller number, or a product of two. The outputs expand to polynomials in the inputs. If these
//! have, modulo m, the coefficients that the contract asks for, then every output is congruent to what
//! the contract asks for, for all inputs.
//!
//! **Side conditions.** All that an output depends on is an input element of the contract, or is known
//! modulo m by values before it. The operands are split in a left and a right one; an accumulation's c
//! goes with a. Every output is bi-affine: a product has one factor of each side. There are as many
//! outputs as elements.
//!
//! With the constant 1 as element 0 of both operands everything is bilinear, and one engine
//! (`tiles.rs`) serves all kinds of contract. Modulo powers of two, values may also be rounded
//! (`forms.rs`).

mod asked;
#[cfg(test)]
mod batch_tests;
#[cfg(test)]
mod differences_tests;
mod forms;
#[cfg(test)]
mod rounded_tests;
#[cfg(test)]
mod tests;
mod tiles;

use asked::Asked;
use forms::{Forms, MOST};
use ringforge_contract::Contract;
use tiles::differences;

/// What a linear form modulo m is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Term {
    /// The integer product of two values, the smaller number first.
    Product(u32, u32),
    /// The value of that number.
    Value(u32),
}

impl Term {
    /// The values that it is the product of.
    pub(crate) fn factors(self) -> impl Iterator<Item = u32> {
        let (x, y) = match self {
            Term::Value(x) => (x, None),
            Term::Product(x, y) => (x, Some(y)),
        };
        std::iter::once(x).chain(y)
    }
}

/// `k + Σ c·term` modulo m, residues below m; sorted by term, none zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residue {
    /// The modulus, from 2 to 2^31 where it is compared.
    pub m: u32,
    /// The constant.
    pub k: u32,
    /// Terms with their coefficients.
    pub t: Vec<(Term, u32)>,
}

impl Residue {
    /// A sum in which a term may occur several times: different lines may define one product.
    pub fn sum(m: u32, k: u32, mut terms: Vec<(Term, u32)>) -> Residue {
        terms.sort_unstable_by_key(|t| t.0);
        let mut t: Vec<(Term, u32)> = Vec::with_capacity(terms.len());
        for (term, c) in terms {
            match t.last_mut().filter(|last| last.0 == term) {
                Some(last) => last.1 = ((u64::from(last.1) + u64::from(c)) % u64::from(m)) as u32,
                None => t.push((term, c)),
            }
        }
        t.retain(|t| t.1 != 0);
        Residue { m, k, t }
    }

    /// The same modulo a divisor of the modulus.
    pub fn modulo(&self, m: u32) -> Residue {
        let t = self.t.iter().map(|&(t, c)| (t, c % m)).filter(|t| t.1 != 0).collect();
        Residue { m, k: self.k % m, t }
    }
}

/// How a value is made of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounded {
    /// It is congruent to the form modulo 2^bits.
    Low(u8),
    /// It is `floor(form / 2^bits)`.
    Floor(u8),
}

impl Rounded {
    /// Low bits of the form that the value does not have.
    fn lost(self) -> u8 {
        if let Rounded::Floor(bits) = self { bits } else { 0 }
    }

    /// The modulus of the form on which `need` low bits of the value depend, if it is not too great.
    pub fn of(self, need: u8) -> Option<u32> {
        need.checked_add(self.lost()).filter(|bits| *bits <= MOST).map(|bits| 1 << bits)
    }
}

/// Numbered values, each an input element or congruent to values before it.
pub trait Values {
    /// Operand and element, of a value that is an input.
    fn leaf(&self, v: u32) -> Option<(u16, u32)>;
    /// What any other value is congruent to modulo m, if that is known: values with smaller numbers.
    fn residue(&self, v: u32, m: u32) -> Option<Residue>;
    /// How a value is made of a form, if it is. With it a residue of the form, over values with smaller numbers: `need`
    /// low bits of the value depend on no more of the form ([`Rounded::of`]).
    fn rounded(&self, v: u32, need: u8) -> Option<(Rounded, Residue)>;
    /// How many values there are: numbers lie below.
    fn count(&self) -> usize;
}

/// Counts for a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Products of a left and a right value.
    pub products: usize,
    /// Terms of all forms that the outputs depend on.
    pub terms: usize,
    /// Coefficients compared, those that are zero included.
    pub equations: u64,
}

/// A coefficient that is not what was asked for: not zero, if nothing was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Number of the form.
    pub k: u32,
    /// Element of the left side, from 1 on; 0 is the constant 1.
    pub i: u32,
    /// Element of the right side, from 1 on; 0 is the constant 1.
    pub j: u32,
    /// The residue.
    pub c: u32,
}

/// Why outputs are not what they should be, as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A coefficient is wrong.
    #[error("output {k}: the coefficient of {at:?} (operand, element) is {found}, not {expected}")]
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
    /// A product of two values that do not belong to one operand each.
    #[error("{0:?} is no product of the two operands")]
    NotBilinear(Term),
    /// A value, or input element, that is not known modulo m by values before it.
    #[error("value {0} is not known modulo {1}")]
    Unknown(u32, u32),
    /// A quotient by a power of two of a polynomial whose coefficients are not all multiples.
    #[error("value {value} is a quotient by 2^{bits} of what need not be a multiple")]
    NotMultiple {
        /// The quotient.
        value: u32,
        /// The power.
        bits: u8,
    },
    /// An output that differs from a polynomial by less than the modulus.
    #[error("only {known} low bits of output {k} are known, {wanted} are wanted")]
    Bits {
        /// Output element.
        k: usize,
        /// Low bits in which value and polynomial agree.
        known: u8,
        /// Bits of the modulus.
        wanted: u8,
    },
    /// A form modulo another number than the others, or modulo one that is not handled.
    #[error("a form modulo {0}")]
    Modulus(u32),
    /// Too few or too many outputs.
    #[error("{0} outputs where the contract has {1}")]
    Outputs(usize, usize),
    /// More coefficients than were allowed for, or more elements than are handled.
    #[error("too many coefficients")]
    TooLarge,
    /// The caller stopped it.
    #[error("stopped by the caller")]
    Cancelled,
    /// A computation that panicked, in these words.
    #[error("{0}")]
    Panicked(String),
}

/// One of the two factors of products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Left,
    Right,
}

/// Where operands stand: their side, and the number of their first element there. Element 0 of both
/// sides is the constant 1.
struct Layout {
    n: usize,
    at: &'static [(Side, usize)],
    /// Elements of each side, the constant included.
    len: [usize; 2],
}

impl Layout {
    /// Sides of the operands, each with the number of arrays before it there.
    fn new(n: usize, at: &'static [(Side, usize)]) -> Result<Layout, Mismatch> {
        let arrays = |side| at.iter().filter(|o| o.0 == side).count();
        let layout = Layout { n, at, len: [Side::Left, Side::Right].map(|s| 1 + n * arrays(s)) };
        if n < 1 << 15 { Ok(layout) } else { Err(Mismatch::TooLarge) }
    }

    /// Whether both numbers are those of elements.
    fn has(&self, i: u32, j: u32) -> bool {
        (i as usize) < self.len[0] && (j as usize) < self.len[1]
    }

    /// Side and number of an operand's element.
    fn element(&self, operand: usize, index: usize) -> Option<(Side, usize)> {
        let &(side, before) = self.at.get(operand)?;
        (index < self.n).then_some((side, 1 + before * self.n + index))
    }

    /// Operand and element of a number on a side; [`None`] for the constant.
    fn operand(&self, side: Side, number: usize) -> Option<(usize, usize)> {
        let number = number.checked_sub(1)?;
        let operand = self.at.iter().position(|&o| o == (side, number / self.n))?;
        Some((operand, number % self.n))
    }
}

/// Compares `outputs`, forms modulo the ring's q, with what `contract` asks for. `tie`: the operand that
/// shares memory with what is accumulated, if one does. `tick` is called with the fraction done and
/// returns false to stop.
///
/// # Errors
/// A wrong coefficient, or the side condition that fails.
pub fn compare(
    contract: &Contract,
    tie: Option<usize>,
    values: &dyn Values,
    outputs: &[Residue],
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Stats, Mismatch> {
    let n = contract.outputs();
    if outputs.len() != n {
        return Err(Mismatch::Outputs(outputs.len(), n));
    }
    let at: &'static [(Side, usize)] =
        match (contract.computes.inputs(), contract.computes.accumulates()) {
            (1, _) => &[(Side::Left, 0)],
            (_, false) => &[(Side::Left, 0), (Side::Right, 0)],
            (_, true) => &[(Side::Left, 0), (Side::Left, 1), (Side::Right, 0)],
        };
    let layout = Layout::new(n * contract.pairs, at)?;
    let m = u32::try_from(contract.ring.q()).map_err(|_| Mismatch::TooLarge)?;
    let forms = Forms::new(values, &layout, m, outputs)?;
    let asked = Asked::new(contract, tie, &layout)?;
    if let Some(d) = differences(&forms, &layout, &asked, None, tick)?.first() {
        let left = layout.operand(Side::Left, d.i as usize);
        let at = left.into_iter().chain(layout.operand(Side::Right, d.j as usize)).collect();
        let wanted = asked.at(d.i as usize, d.j as usize).iter().find(|wanted| wanted.0 == d.k);
        let (k, found, expected) = (d.k as usize, d.c, wanted.map_or(0, |wanted| wanted.1));
        return Err(Mismatch::Coefficient { at, k, found, expected });
    }
    let equations = (layout.len[0] * layout.len[1]) as u64 * n as u64;
    let products = forms.products.iter().filter(|p| p.0 > 0 && p.1 > 0).count();
    Ok(Stats { products, terms: forms.terms, equations })
}

/// All nonzero coefficients of a_i·b_j modulo m in `forms`, sorted, for operands 0 and 1 of n elements each.
/// Those of a_i alone, of b_j alone and of the constant are included.
///
/// # Errors
/// If there are more than `most`, or the side condition that fails.
pub fn coefficients(
    values: &dyn Values,
    m: u32,
    n: usize,
    forms: &[Residue],
    most: usize,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Vec<Entry>, Mismatch> {
    let layout = Layout::new(n, &[(Side::Left, 0), (Side::Right, 0)])?;
    let forms = Forms::new(values, &layout, m, forms)?;
    let mut all = differences(&forms, &layout, &Asked::nothing(), Some(most), tick)?;
    all.sort_unstable();
    Ok(all)
}
