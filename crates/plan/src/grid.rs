//! Two levels of a transform on a grid of blocks in order, row by row. Lowering uses this form if a
//! register holds several blocks of a row.

use crate::arith::{Arith, Val};
use crate::transform::TransformRef;
use crate::unit::Unit;

/// A transform of length P·Q at the points r·ω^j, on a grid of P rows and Q columns. Block
/// Q·i_1 + i_2 lies in row i_1 and column i_2. F_j with j = j_1 + P·j_2 is left in row j_1 and
/// column j_2.
///
/// Forward: apply [down](Grid::down) to every column, multiply block (j_1, i_2) by its
/// [factor](Grid::factor), and apply [along](Grid::along) to every row. Inverse: apply
/// [back](Grid::back) to every row, multiply by the factor's inverse, and apply [up](Grid::up) to
/// every column. Forward leaves the product s of both scales; the inverse leaves P·Q·s.
#[derive(Clone, Debug)]
pub struct Grid {
    /// ω, a principal root of unity of order P·Q.
    pub root: Unit,
    /// r.
    pub twist: Unit,
    /// The first level, of length P at the powers of ω^Q.
    pub first: TransformRef,
    /// The second level, of length Q at the powers of ω^P.
    pub second: TransformRef,
}

impl Grid {
    /// P.
    pub fn rows(&self) -> usize {
        self.first.len()
    }

    /// Q.
    pub fn columns(&self) -> usize {
        self.second.len()
    }

    /// j of the output in row `j1` and column `j2`.
    pub fn output(&self, j1: usize, j2: usize) -> usize {
        j1 + self.rows() * j2
    }

    /// r^(i_2)·ω^(i_2·j_1): what depends on both levels.
    pub fn factor(&self, j1: usize, i2: usize) -> Unit {
        self.twist.pow(i2 as u64).times(self.root.pow((i2 * j1) as u64))
    }

    /// One column through the first level: row i_1 times r^(Q·i_1), then the transform.
    pub fn down(&self, arith: &mut dyn Arith, column: &[Val]) -> Vec<Val> {
        let twisted = self.twisted(arith, column, self.twist);
        self.first.forward(arith, &twisted)
    }

    /// One row through the second level.
    pub fn along(&self, arith: &mut dyn Arith, row: &[Val]) -> Vec<Val> {
        self.second.forward(arith, row)
    }

    /// The inverse of the second level.
    pub fn back(&self, arith: &mut dyn Arith, row: &[Val]) -> Vec<Val> {
        self.second.inverse(arith, row)
    }

    /// The inverse of the first level. Only the rows marked in `wanted` are read.
    pub fn up(&self, arith: &mut dyn Arith, column: &[Val], wanted: &[bool]) -> Vec<Val> {
        let plain = self.first.inverse_wanted(arith, column, wanted);
        self.twisted(arith, &plain, self.twist.inverted())
    }

    fn twisted(&self, arith: &mut dyn Arith, column: &[Val], twist: Unit) -> Vec<Val> {
        let row = twist.pow(self.columns() as u64);
        let scaled = |(i, &v): (usize, &Val)| arith.scale(v, row.pow(i as u64).value());
        column.iter().enumerate().map(scaled).collect()
    }
}
