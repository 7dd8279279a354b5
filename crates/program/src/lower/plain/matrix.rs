//! The remainder by f of H·x^n + L as L + Σ_k H_k·(x^(n+k) mod f): dot products of H with the rows of a table.

use super::product::FEWEST;
use super::*;
use crate::build::{repeat, zeros};
use crate::lower::general::powers;
use ringforge_plan::ReduceMod;
use ringforge_ring::Ring;
use ringforge_targets::ALIGNMENT;

/// Bits of the lower part of a constant.
pub(super) const BYTE_BITS: u8 = 8;

/// What is multiplied with the upper half, in words of 16 bits.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    q: u64,
    /// Terms of a row, those with zeros for constants included.
    terms: usize,
    /// The constants. Where no sum of their products has 32 bits, their lower bytes and then the rest are multiplied apart.
    tables: Vec<Vec<i32>>,
}

impl Matrix {
    /// That of a ring's f.
    pub fn of(ring: &Ring) -> Matrix {
        let (n, q) = (ring.degree(), ring.q());
        let lanes = REGISTERS.lanes(DOT_BITS);
        let terms = (n - 1).next_multiple_of(lanes).max(FEWEST);
        let rows = ReduceMod { ring: ring.clone(), length: 2 * n - 1, factor: 1 }.rows();
        let whole = powers(&rows, (n, q), n * terms, &|i, k| i * terms + k);
        let matrix = Matrix { q, terms, tables: vec![whole] };
        if matrix.reach(0) <= i64::from(i32::MAX) {
            return matrix;
        }
        let high = |c: i32| (c + (1 << (BYTE_BITS - 1))) >> BYTE_BITS;
        let whole = matrix.tables[0].iter();
        let low = whole.clone().map(|&c| c - (high(c) << BYTE_BITS)).collect();
        let tables = vec![low, whole.map(|&c| high(c)).collect()];
        Matrix { tables, ..matrix }
    }

    /// The largest sum of products by the rows of a table.
    fn reach(&self, table: usize) -> i64 {
        let row = |row: &[i32]| row.iter().map(|&c| i64::from(c.abs())).sum::<i64>();
        self.tables[table].chunks(self.terms).map(row).max().unwrap_or(0) * (self.q / 2) as i64
    }

    /// The largest words that each table's sums add.
    pub fn most(&self) -> Vec<i64> {
        (0..self.tables.len()).map(|table| self.reach(table) << (table as u8 * BYTE_BITS)).collect()
    }
}

impl Writing<'_> {
    /// The exported procedure that takes the remainder by a matrix.
    pub(super) fn by_matrix(&mut self, matrix: &Matrix) -> Procedure {
        let n = self.n;
        let [most, own] = [self.most(), self.sum(self.ranges)].map(|most| most as i64);
        let product = self.product("product", self.ranges, 0..2 * n - 1);
        let dots = self.dots_of_rows(matrix);
        let (mut builder, [c, a, b]) = self.exported();
        let t = builder.local("t", self.words);
        let upper = matrix.terms.max(n).next_multiple_of(REGISTERS.lanes(SHORT));
        let h = builder.kept("h", Role::Local, upper, self.memory);
        builder.stage("a·b", "", vec![call(product, [t, a, b])]);
        let zeros = zeros(&mut builder, (h, 0), upper, REGISTERS.lanes(self.sums));
        let mut body: Vec<Stmt> = zeros.into_iter().collect();
        body.extend(self.residues(&mut builder, h, (t, n), own));
        builder.stage("the upper half of the product modulo q", "", body);
        let names = ["d1", "d2"].into_iter().zip([Times::One, Times::Byte]);
        let padded = n.next_multiple_of(REGISTERS.lanes(DOT_BITS));
        let beside: Vec<(BufferId, Beside)> = (0..matrix.tables.len())
            .zip(names)
            .map(|(table, (name, times))| {
                let most = matrix.reach(table);
                (
                    builder.kept(name, Role::Local, padded, DOT_BITS),
                    Beside { name, bits: DOT_BITS, most, times },
                )
            })
            .collect();
        let sums = beside.iter().map(|&(buffer, _)| buffer);
        let title = "the upper half times powers of x mod f";
        builder.stage(title, "", vec![call(dots, sums.chain([h]))]);
        self.end(&mut builder, c, (t, &beside), most);
        builder.finish()
    }

    /// The procedure (sums for each table …, upper) of dot products with rows, in sums of 32 bits.
    fn dots_of_rows(&mut self, matrix: &Matrix) -> ProcedureId {
        let (n, terms, lanes) = (self.n, matrix.terms, REGISTERS.lanes(DOT_BITS));
        let mut builder = Builder::new("dots", None, self.modulus(DOT_BITS));
        let padded = n.next_multiple_of(lanes);
        let sums: Vec<BufferId> = (["d1", "d2"].into_iter().take(matrix.tables.len()))
            .map(|name| builder.buffer(name, Role::Scratch, padded, ALIGNMENT))
            .collect();
        let upper = builder.parameter("upper", Role::Input, (terms, SHORT), Some(self.any));
        let none = sums.iter().flat_map(|&sum| zeros(&mut builder, (sum, 0), padded, lanes));
        let body = none.collect();
        builder.stage("sums of zero", "", body);
        let [row, register] = [0; 2].map(|_| builder.counter());
        let sum = looped(register, terms / lanes, |block| {
            let y = block.load(upper, Index::strided(0, register, lanes));
            for (k, (table, &sum)) in matrix.tables.iter().zip(&sums).enumerate() {
                let name = format!("powers{}", k + 1);
                let table = builder.kept(&name, Role::Table(table.clone()), n * terms, SHORT);
                let at = vec![(row, terms as i64), (register, lanes as i64)];
                let x = block.load(table, Index { base: 0, terms: at });
                let a = block.push(Op::MulLo(x, y));
                block.push(Op::AddSum { buffer: sum, at: Index::strided(0, row, 1), a });
            }
        });
        let what = if sums.len() > 1 { ", by their bytes" } else { "" };
        let title = format!("the upper half times powers of x mod f{what}, in sums of 32 bits");
        builder.stage(&title, "", vec![repeat(row, n, vec![sum])]);
        builder.finish_behind(&mut self.written.procedures)
    }
}
