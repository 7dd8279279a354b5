//! A truncated Good–Thomas transform: the values at the roots of (t^{PM} − 1)/(t^M − 1), which is
//! Φ_17(t^6) for P = 17 and M = 6 [HwangLimit24] [Chiu25 §3.1].
//!
//! Map: Good–Thomas P × M [Good58]. There are (P − 1)M blocks, so one of the P inputs is missing in
//! each of the M columns. The output F_0 is not wanted, because t^M = 1 there. Inverse: the rows'
//! inverses, then each column's inverse with zero for F_0. The result is right modulo t^{PM} − 1 up
//! to a multiple of (t^{PM} − 1)/(t^M − 1). In every column this multiple is one constant: the
//! value found for the missing input, which must be zero. Scale: the product of both transforms'
//! scales. Condition: P and M coprime, and Z_q has a principal root of unity of order PM.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method, PointsSpec};
use crate::sexpr::Form;
use crate::steps::{Group, Step};
use crate::transform::{Transform, TransformRef};
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "truncated",
    usage: "(truncated P M TRANSFORM-P TRANSFORM-M)",
    summary: "The roots of (t^(PM) - 1)/(t^M - 1), P and M coprime, by M transforms of length P with \
              one input and one output less and P - 1 of length M.",
    citation: "[HwangLimit24]",
    build: Build::Points(build),
};

/// The truncated Good–Thomas transform.
#[derive(Clone, Debug)]
pub struct Truncated {
    /// The root of unity of order PM.
    pub spec: DftSpec,
    /// The transform of length P.
    pub rows: TransformRef,
    /// The transform of length M.
    pub columns: TransformRef,
}

fn build(arguments: &mut Arguments, spec: &PointsSpec) -> Result<TransformRef, Refusal> {
    let p = arguments.number("the length P")?;
    let at = arguments.last_at();
    let m = arguments.number("the length M")?;
    let common = zq::gcd(p as u64, m as u64);
    if common != 1 || p < 2 {
        let message = format!("truncated needs coprime lengths, but {p} and {m} are not");
        return Err(Refusal::new(at, message).instead("coprime lengths such as 17 and 6"));
    }
    if (p - 1) * m != spec.len {
        let message =
            format!("{} × {m} = {} points, but {} are needed here", p - 1, (p - 1) * m, spec.len);
        return Err(Refusal::new(at, message).instead(format!("(P - 1)·M = {}", spec.len)));
    }
    if let Some(w) = spec.weight {
        let message = format!("the product is mod t^{} - {w}, and truncated has another", spec.len);
        return Err(arguments
            .refuse(message)
            .instead("an unreduced product of this length: (lift …)"));
    }
    let root = DftSpec::new(spec.q, p * m).map_err(|missing| {
        let orders: Vec<String> = missing.available.iter().map(u64::to_string).collect();
        Refusal::new(at, missing.to_string())
            .instead(format!("lengths whose product P·M is one of {}", orders.join(", ")))
    })?;
    let rows = arguments.transform(&root.part(p))?;
    let columns = arguments.transform(&root.part(m))?;
    Ok(Arc::new(Truncated { spec: root, rows, columns }))
}

impl Truncated {
    fn sizes(&self) -> (usize, usize) {
        (self.rows.len(), self.columns.len())
    }

    /// For every row of a column the block that is there; the missing one is none.
    fn column(&self, column: usize) -> Vec<Option<usize>> {
        let (p, m) = self.sizes();
        let mut blocks = vec![None; p];
        for i in (column..(p - 1) * m).step_by(m) {
            blocks[i % p] = Some(i);
        }
        blocks
    }

    /// F_1 … F_(P−1) of a column, whose inputs are the blocks of all rows, zero the missing one.
    fn down(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        self.rows.forward(arith, f)[1..].to_vec()
    }

    /// A column's blocks by row, without the missing one, from F_1 … F_(P−1).
    fn up(&self, arith: &mut dyn Arith, values: &[Val], column: usize) -> Vec<Val> {
        let blocks = self.column(column);
        let mut all = vec![arith.zero()];
        all.extend(values);
        let output = self.rows.inverse(arith, &all);
        let missing = blocks.iter().position(Option::is_none).unwrap_or(0);
        let present = (0..output.len()).filter(|&row| row != missing);
        present.map(|row| arith.sub(output[row], output[missing])).collect()
    }

    fn present_in(&self, column: usize) -> Vec<usize> {
        self.column(column).into_iter().flatten().collect()
    }
}

impl Transform for Truncated {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.spec
    }
    fn len(&self) -> usize {
        let (p, m) = self.sizes();
        (p - 1) * m
    }
    fn scale(&self) -> u64 {
        zq::mul(self.rows.scale(), self.columns.scale(), self.spec.q)
    }
    fn inverse_scale(&self) -> u64 {
        zq::mul(self.spec.len as u64, self.scale(), self.spec.q)
    }

    /// Row by row, as the steps leave them: ω^{Mr + Pc} for r ≥ 1.
    fn points(&self) -> Vec<u64> {
        let (p, m) = self.sizes();
        let cells = (1..p).flat_map(|r| (0..m).map(move |c| (m * r + p * c) % (p * m)));
        cells.map(|e| self.spec.power(e)).collect()
    }
    fn modulus(&self) -> String {
        let (p, m) = self.sizes();
        match zq::is_prime(p as u64) {
            true => format!("Φ_{p}(t^{m})"),
            false => format!("(t^{} - 1)/(t^{m} - 1)", p * m),
        }
    }
    fn values(&self) -> String {
        let (p, n) = (self.rows.len(), self.len());
        format!("the {n} products over t = {}^i, i no multiple of {p}", self.root())
    }

    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let (p, m) = self.sizes();
        let mut grid = vec![Vec::new(); p - 1];
        for column in 0..m {
            let mut input = Vec::new();
            for block in self.column(column) {
                input.push(block.map_or_else(|| arith.zero(), |i| f[i]));
            }
            let output = self.down(arith, &input);
            grid.iter_mut().zip(output).for_each(|(row, v)| row.push(v));
        }
        grid.iter().flat_map(|row| self.columns.forward(arith, row)).collect()
    }

    fn inverse(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        let m = self.columns.len();
        let mut rows = Vec::new();
        for row in input.chunks(m) {
            rows.push(self.columns.inverse(arith, row));
        }
        let mut output = input.to_vec();
        for column in 0..m {
            let values: Vec<Val> = rows.iter().map(|row| row[column]).collect();
            let blocks = self.up(arith, &values, column);
            for (i, v) in self.present_in(column).into_iter().zip(blocks) {
                output[i] = v;
            }
        }
        output
    }

    fn forward_steps(&self, present: &[bool]) -> Vec<Step> {
        let ((p, m), q) = (self.sizes(), self.spec.q);
        let first = (0..m).map(|column| {
            let blocks = self.column(column);
            let here: Vec<bool> = blocks.iter().map(|b| b.is_some_and(|i| present[i])).collect();
            let from = blocks.iter().map(|b| b.unwrap_or(0)).collect();
            let to = (0..p - 1).map(|row| row * m + column).collect();
            Group::record(q, from, &here, to, |arith, f| self.down(arith, f))
        });
        let second = (0..p - 1).map(|row| {
            let line: Vec<usize> = (row * m..(row + 1) * m).collect();
            let all = vec![true; m];
            Group::record(q, line.clone(), &all, line, |arith, f| self.columns.forward(arith, f))
        });
        vec![
            Step {
                title: format!("{m} columns of {p}-point transforms without F_0, zeros skipped"),
                cite: METHOD.citation,
                name: "columns".into(),
                groups: first.collect(),
            },
            Step {
                title: format!("{} rows of {m}-point transforms", p - 1),
                cite: METHOD.citation,
                name: "rows".into(),
                groups: second.collect(),
            },
        ]
    }

    fn inverse_steps(&self, wanted: &[bool]) -> Vec<Step> {
        let ((p, m), q) = (self.sizes(), self.spec.q);
        let first = (0..p - 1).map(|row| {
            let line: Vec<usize> = (row * m..(row + 1) * m).collect();
            let all = vec![true; m];
            Group::record(q, line.clone(), &all, line, |arith, f| self.columns.inverse(arith, f))
        });
        let second = (0..m).map(|column| {
            let from = (0..p - 1).map(|row| row * m + column).collect();
            let up = |arith: &mut dyn Arith, f: &[Val]| self.up(arith, f, column);
            Group::record(q, from, &vec![true; p - 1], self.present_in(column), up)
                .keep(|i| wanted[i])
        });
        vec![
            Step {
                title: format!("{} rows of inverse {m}-point transforms", p - 1),
                cite: METHOD.citation,
                name: "rows".into(),
                groups: first.collect(),
            },
            Step {
                title: format!("{m} columns of inverse {p}-point transforms without F_0"),
                cite: METHOD.citation,
                name: "columns".into(),
                groups: second.collect(),
            },
        ]
    }

    fn children(&self) -> Vec<&dyn Transform> {
        vec![self.rows.as_ref(), self.columns.as_ref()]
    }
    fn to_form(&self) -> Form {
        let (p, m) = self.sizes();
        let lengths = [Form::word(p), Form::word(m)];
        let parts = [self.rows.to_form(), self.columns.to_form()];
        Form::list(METHOD.name, lengths.into_iter().chain(parts))
    }
    fn title(&self) -> String {
        let (p, m) = self.sizes();
        format!("Truncated Good–Thomas ({p} - 1) × {m}")
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_points, try_points};

    #[test]
    fn agrees_with_the_definition() {
        check_points(4591, 4, None, "(truncated 3 2 (rader 3) (butterfly))");
        check_points(4591, 3, None, "(truncated 2 3 (butterfly) (rader 3 unscaled))");
        check_points(4591, 8, None, "(truncated 5 2 (rader 5) (butterfly))");
        check_points(4591, 10, None, "(truncated 3 5 (rader 3) (rader 5))");
        let six = "(good-thomas 2 3 (butterfly) (rader 3 unscaled))";
        let sixteen = check_points(4591, 96, None, &format!("(truncated 17 6 (rader 17) {six})"));
        assert_eq!((sixteen.scale(), sixteen.inverse_scale()), (1, 102));
        assert_eq!(sixteen.modulus(), "Φ_17(t^6)");
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let message =
            |n, weight, text: &str| try_points(4591, n, weight, text).unwrap_err().message;
        assert_eq!(
            message(96, None, "(truncated 3 48 (rader 3) (direct))"),
            "truncated needs coprime lengths, but 3 and 48 are not"
        );
        assert_eq!(
            message(95, None, "(truncated 17 6 (rader 17) (direct))"),
            "16 × 6 = 96 points, but 95 are needed here"
        );
        assert!(
            message(84, None, "(truncated 13 7 (rader 13) (rader 7))")
                .starts_with("no principal root of unity of order 91 modulo 4591")
        );
        assert!(
            message(96, Some(1), "(truncated 17 6 (rader 17) (direct))").contains("has another")
        );
    }
}
