//! The coefficients that a contract asks for.

use super::{Layout, Mismatch, Side};
use ringforge_contract::terms::{Terms, factors};
use ringforge_contract::{Computes, Contract};
use ringforge_ring::Ring;
use rustc_hash::FxHashMap;

/// Outputs with their coefficients in `[1, q)`.
type Outputs = Vec<(u32, u32)>;

/// What the coefficient of left element i times right element j should be, in every output.
pub(super) enum Asked {
    /// By element of the ring, of n each: x^(i + j) modulo f, for elements that are not the constant.
    Powers(usize, Vec<Vec<Outputs>>),
    /// By i and j.
    Table(FxHashMap<(usize, usize), Outputs>),
}

impl Asked {
    /// Zero everywhere.
    pub fn nothing() -> Asked {
        Asked::Table(FxHashMap::default())
    }

    /// What `contract` asks for.
    ///
    /// # Errors
    /// If it is not bi-affine in the sides.
    pub fn new(
        contract: &Contract,
        tie: Option<usize>,
        layout: &Layout,
    ) -> Result<Asked, Mismatch> {
        if contract.computes == Computes::Product {
            let (n, powers) = (contract.ring.degree(), powers(&contract.ring));
            let moved = |o: &Outputs, by| o.iter().map(|&(k, c)| (k + by, c)).collect();
            let of = |k| powers.iter().map(|o| moved(o, (k * n) as u32)).collect();
            return Ok(Asked::Powers(n, (0..contract.batch).map(of).collect()));
        }
        let terms = Terms::new(contract, tie).ok_or(Mismatch::Outputs(0, layout.n))?;
        let mut table: FxHashMap<(usize, usize), Outputs> = FxHashMap::default();
        for k in 0..contract.outputs() {
            for (monomial, c) in terms.output(k) {
                let (mut i, mut j) = (0, 0);
                for (operand, index) in factors(monomial) {
                    match layout.element(operand, index) {
                        Some((Side::Left, x)) if i == 0 => i = x,
                        Some((Side::Right, x)) if j == 0 => j = x,
                        _ => return Err(Mismatch::Unknown(index as u32, operand as u32)),
                    }
                }
                table.entry((i, j)).or_default().push((k as u32, c));
            }
        }
        Ok(Asked::Table(table))
    }

    /// The outputs in which the coefficient is not zero, in their order.
    pub fn at(&self, i: usize, j: usize) -> &[(u32, u32)] {
        match self {
            Asked::Powers(n, powers) if i > 0 && j > 0 && (i - 1) / n == (j - 1) / n => {
                &powers[(i - 1) / n][(i - 1) % n + (j - 1) % n]
            }
            Asked::Powers(..) => &[],
            Asked::Table(table) => table.get(&(i, j)).map_or(&[], |o| &o[..]),
        }
    }
}

/// x^e mod f for e from 0 to 2n − 2.
fn powers(ring: &Ring) -> Vec<Outputs> {
    let q = ring.q() as i64;
    let mut row = vec![1];
    let mut powers = Vec::with_capacity(2 * ring.degree());
    for _ in 0..2 * ring.degree() - 1 {
        row = ring.reduce(&row);
        let sparse = row.iter().enumerate().filter(|x| *x.1 != 0);
        powers.push(sparse.map(|(k, c)| (k as u32, c.rem_euclid(q) as u32)).collect());
        row.insert(0, 0);
    }
    powers
}
