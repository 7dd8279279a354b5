//! A transform of length p·q, p and q coprime, as a rectangle of independent transforms without
//! twiddles [Good58] [Chiu25 §2.3.1].
//!
//! Block i goes in at cell (i mod p, i mod q). F_j comes out at the cell (r, c) with j = q·r + p·c
//! mod pq (the Ruritanian map), because ω^{ij} = (ω^q)^{ir} · (ω^p)^{ic}. The p-axis is transformed
//! first forward and last backward.
//!
//! More dimensions are nested: 102 = 17·3·2 is `(good-thomas 17 6 … (good-thomas 2 3 …))`.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::sexpr::Form;
use crate::stepwise::Stepwise;
use crate::transform::{Axes, Transform, TransformRef};
use crate::unit::Unit;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "good-thomas",
    usage: "(good-thomas P Q TRANSFORM-P TRANSFORM-Q)",
    summary: "A transform of length P·Q, P and Q coprime, as Q transforms of length P and then P of \
              length Q, no twiddles between.",
    citation: "[Chiu25 §2.3.1]",
    build: Build::Transform(build),
};

/// The Good–Thomas transform.
#[derive(Clone, Debug)]
pub struct GoodThomas {
    /// What is computed, on which root.
    pub spec: DftSpec,
    /// The transform of the first axis, length p.
    pub rows: TransformRef,
    /// The transform of the second axis, length q.
    pub columns: TransformRef,
    /// 1/q mod p and 1/p mod q.
    turns: [u64; 2],
}

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    let p = arguments.number("the length P")?;
    let q = arguments.number("the length Q")?;
    let common = zq::gcd(p as u64, q as u64);
    let turns = Unit::new(q as u64, p as u64).zip(Unit::new(p as u64, q as u64));
    let Some(turns) = turns else {
        let message =
            format!("good-thomas needs coprime lengths, but {p} and {q} share the factor {common}");
        return Err(Refusal::new(arguments.last_at(), message)
            .instead("coprime lengths such as 10 and 9; `cooley-tukey` takes any two"));
    };
    if p * q != spec.len {
        let message =
            format!("{p} × {q} = {}, but a transform of length {} is needed here", p * q, spec.len);
        return Err(Refusal::new(arguments.last_at(), message)
            .instead(format!("two coprime lengths whose product is {}", spec.len)));
    }
    let rows = arguments.transform(&spec.part(p))?;
    let columns = arguments.transform(&spec.part(q))?;
    let turns = [turns.0, turns.1].map(Unit::inverse);
    Ok(Arc::new(GoodThomas { spec: *spec, rows, columns, turns }))
}

impl GoodThomas {
    /// The cell (row, column) that input block i goes to.
    pub fn input_cell(&self, i: usize) -> (usize, usize) {
        (i % self.rows.len(), i % self.columns.len())
    }

    /// The index of the output that comes out at a cell.
    pub fn output_index(&self, row: usize, column: usize) -> usize {
        (self.columns.len() * row + self.rows.len() * column) % self.spec.len
    }

    /// The cell (row, column) that F_j comes out at.
    pub fn output_cell(&self, j: usize) -> (usize, usize) {
        let (p, q) = (self.rows.len(), self.columns.len());
        // j = q·r mod p and j = p·c mod q
        let [by_q, by_p] = self.turns.map(|turn| turn as usize);
        (j * by_q % p, j * by_p % q)
    }
}

impl Transform for GoodThomas {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.spec
    }
    fn scale(&self) -> u64 {
        zq::mul(self.rows.scale(), self.columns.scale(), self.spec.q)
    }

    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let (p, q) = (self.rows.len(), self.columns.len());
        let mut grid = vec![vec![f[0]; q]; p];
        for (i, &block) in f.iter().enumerate() {
            let (row, column) = self.input_cell(i);
            grid[row][column] = block;
        }
        for column in 0..q {
            let input: Vec<Val> = grid.iter().map(|row| row[column]).collect();
            let output = self.rows.forward(arith, &input);
            grid.iter_mut().zip(output).for_each(|(row, v)| row[column] = v);
        }
        let mut output = f.to_vec();
        for (r, row) in grid.iter().enumerate() {
            for (c, v) in self.columns.forward(arith, row).into_iter().enumerate() {
                output[self.output_index(r, c)] = v;
            }
        }
        output
    }

    fn inverse(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        self.inverse_wanted(arith, input, &vec![true; self.spec.len])
    }

    fn inverse_wanted(&self, arith: &mut dyn Arith, input: &[Val], wanted: &[bool]) -> Vec<Val> {
        let (p, q) = (self.rows.len(), self.columns.len());
        let mut grid = Vec::new();
        for row in 0..p {
            let line: Vec<Val> = (0..q).map(|c| input[self.output_index(row, c)]).collect();
            grid.push(self.columns.inverse(arith, &line));
        }
        let mut output = input.to_vec();
        for column in 0..q {
            let line: Vec<Val> = grid.iter().map(|row| row[column]).collect();
            let mut wanted_here = vec![false; p];
            for i in (0..self.spec.len).filter(|i| i % q == column) {
                wanted_here[i % p] = wanted[i];
            }
            let values = self.rows.inverse_wanted(arith, &line, &wanted_here);
            for i in (0..self.spec.len).filter(|i| i % q == column) {
                output[i] = values[i % p];
            }
        }
        output
    }

    fn children(&self) -> Vec<&dyn Transform> {
        vec![self.rows.as_ref(), self.columns.as_ref()]
    }

    fn axes(&self) -> Option<Axes> {
        Some(Axes {
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            input: (0..self.spec.len).map(|i| self.input_cell(i)).collect(),
            output: (0..self.spec.len).map(|j| self.output_cell(j)).collect(),
        })
    }

    fn by_steps(&self, most: usize) -> Option<TransformRef> {
        let c = self.columns.len();
        let several = || self.columns.forward_steps(&vec![true; c]).len() > 1;
        if c <= most || self.columns.stepwise() || !several() {
            return None;
        }
        let columns: TransformRef = Arc::new(Stepwise(self.columns.clone()));
        Some(Arc::new(GoodThomas { columns, ..self.clone() }))
    }

    fn to_form(&self) -> Form {
        let lengths = [Form::word(self.rows.len()), Form::word(self.columns.len())];
        Form::list(
            METHOD.name,
            lengths.into_iter().chain([self.rows.to_form(), self.columns.to_form()]),
        )
    }
    fn title(&self) -> String {
        format!("Good–Thomas {} × {}", self.rows.len(), self.columns.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, transform, try_transform};

    #[test]
    fn agrees_with_the_definition() {
        check(4591, 6, "(good-thomas 2 3 (butterfly) (rader 3))");
        check(4591, 6, "(good-thomas 3 2 (rader 3 unscaled) (butterfly))");
        check(4591, 10, "(good-thomas 2 5 (butterfly) (rader 5))");
        check(4591, 10, "(good-thomas 5 2 (rader 5 unscaled) (butterfly))");
        check(4591, 15, "(good-thomas 5 3 (rader 5) (rader 3))");
        check(4591, 34, "(good-thomas 17 2 (rader 17) (butterfly))");
        check(
            4591,
            90,
            "(good-thomas 10 9 (good-thomas 5 2 (rader 5) (butterfly)) \
             (cooley-tukey 3 3 (rader 3) (rader 3)))",
        );
    }

    /// In steps: each leaves what the next one takes, and the last one F_j at its cell; back the same.
    #[test]
    fn steps_of_a_long_axis() {
        let text = "(good-thomas 3 16 (rader 3 unscaled) (cooley-tukey 4 4 \
                    (cooley-tukey 2 2 (butterfly) (butterfly)) \
                    (cooley-tukey 2 2 (butterfly) (butterfly))))";
        let (q, n) = (97, 48);
        let whole = transform(q, n, text);
        assert!(whole.by_steps(16).is_none(), "short enough");
        let stepped = whole.by_steps(8).expect("16 is more than 8");
        assert!(stepped.by_steps(8).is_none(), "it is so already");
        let steps = stepped.forward_steps(&vec![true; n]);
        assert_eq!((whole.forward_steps(&vec![true; n]).len(), steps.len()), (2, 3));
        let run = |steps: &[crate::steps::Step], start: &[u64]| {
            let mut cells = start.to_vec();
            for step in steps {
                let before = cells.clone();
                for group in &step.groups {
                    let mut exact = crate::arith::Exact::new(q, 1);
                    let inputs: Vec<Val> =
                        group.from.iter().map(|&i| exact.input(&[before[i]])).collect();
                    let values = group.net.replay(&mut exact, &inputs, &group.outputs);
                    for (v, &to) in values.iter().zip(&group.to) {
                        cells[to] = exact.get(*v)[0];
                    }
                }
            }
            cells
        };
        let input: Vec<u64> = (0..n as u64).map(|i| (i * i + 3 * i + 1) % q).collect();
        let blocks: Vec<Vec<u64>> = input.iter().map(|&x| vec![x]).collect();
        let left = run(&steps, &input);
        let found: Vec<Vec<u64>> = stepped.cells().iter().map(|&cell| vec![left[cell]]).collect();
        assert_eq!(found, whole.forward_exact(&blocks));
        let back = run(&stepped.inverse_steps(&vec![true; n]), &left);
        let want: Vec<u64> = whole.inverse_exact(&found).iter().map(|block| block[0]).collect();
        assert_eq!(back, want);
    }

    /// Figure 3.1 (a): f_81, f_1 start row 1; Figure 3.4 (a): F_6, F_1 is row 3.
    #[test]
    fn index_maps_of_the_seed() {
        let ten = "(good-thomas 5 2 (rader 5) (butterfly))";
        let text = format!("(good-thomas 10 9 {ten} (cooley-tukey 3 3 (rader 3) (rader 3)))");
        let t = transform(4591, 90, &text);
        let axes = t.axes().expect("two axes");
        assert_eq!((axes.input[81], axes.input[1], axes.input[45]), ((1, 0), (1, 1), (5, 0)));
        assert_eq!((axes.rows.len(), axes.columns.len()), (10, 9));
        let t = transform(4591, 10, ten);
        let grid = t.as_method::<GoodThomas>().expect("good-thomas");
        assert_eq!((grid.output_index(3, 0), grid.output_index(3, 1)), (6, 1));
        for j in 0..10 {
            let (row, column) = grid.output_cell(j);
            assert_eq!(grid.output_index(row, column), j);
        }
    }

    #[test]
    fn refuses_common_factors_and_wrong_products() {
        let error =
            try_transform(4591, 90, "(good-thomas 10 10 (butterfly) (butterfly))").unwrap_err();
        assert_eq!(error.col, 17);
        assert_eq!(
            error.message,
            "good-thomas needs coprime lengths, but 10 and 10 share the factor 10"
        );
        let error = try_transform(4591, 90, "(good-thomas 5 9 (rader 5) (rader 3))").unwrap_err();
        assert_eq!(error.message, "5 × 9 = 45, but a transform of length 90 is needed here");
    }
}
