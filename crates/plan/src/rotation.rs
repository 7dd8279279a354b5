//! A transform of length p·q without twiddles between the levels: Good's trick with a rotation
//! [LinHung21 §2.5].
//!
//! Map: p-point transforms split t^{pq} − 1 into the factors t^q − c^q, c = ω^{j_1}. These are not
//! twisted into s^q − 1. Instead, a transform of length q takes values at their roots c·ω^{p·j_2},
//! on *rotated* inputs: the transform of x^m − c^m is that of y^m − 1, x = c·y, on a_i·c^i. If that
//! transform is itself a rotation, it rotates by c^{q'} level by level. So whole columns share a
//! constant, which they do not with twiddles.
//!
//! Inverse: by reflection. Scale: the product of both. Condition: both lengths have their roots.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::sexpr::Form;
use crate::steps::{Group, Step};
use crate::transform::{Transform, TransformRef};
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "rotated",
    usage: "(rotated P Q TRANSFORM-P TRANSFORM-Q)",
    summary: "A transform of length P·Q as Q transforms of length P and, without twiddles between, P \
              of length Q at the roots of t^Q - c^Q, each on inputs rotated by powers of c.",
    citation: "[LinHung21 §2.5]",
    build: Build::Transform(build),
};

/// The transform without twiddles.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// What is computed, on which root.
    pub spec: DftSpec,
    /// The first level, length p.
    pub first: TransformRef,
    /// The second level, length q.
    pub second: TransformRef,
}

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    let p = arguments.number("the length P")?;
    let q = arguments.number("the length Q")?;
    if p * q != spec.len {
        let message =
            format!("{p} × {q} = {}, but a transform of length {} is needed here", p * q, spec.len);
        return Err(Refusal::new(arguments.last_at(), message)
            .instead(format!("two lengths whose product is {}", spec.len)));
    }
    let first = arguments.transform(&spec.part(p))?;
    let second = arguments.transform(&spec.part(q))?;
    Ok(Arc::new(Rotation { spec: *spec, first, second }))
}

/// The values at r·ω^j, ω being the transform's root: Σ_i (r·ω^j)^i f_i, times its scale.
fn rotated(transform: &dyn Transform, arith: &mut dyn Arith, f: &[Val], r: u64) -> Vec<Val> {
    match transform.as_method::<Rotation>() {
        Some(both) => both.values(arith, f, r),
        None => {
            let turned = turned(arith, f, r, transform.q());
            transform.forward(arith, &turned)
        }
    }
}

/// a_i·c^i.
fn turned(arith: &mut dyn Arith, f: &[Val], c: u64, q: u64) -> Vec<Val> {
    f.iter().enumerate().map(|(i, &v)| arith.scale(v, zq::pow(c, i as u64, q))).collect()
}

impl Rotation {
    fn lengths(&self) -> (usize, usize) {
        (self.first.len(), self.second.len())
    }

    fn values(&self, arith: &mut dyn Arith, f: &[Val], r: u64) -> Vec<Val> {
        let ((p, q), modulus) = (self.lengths(), self.spec.q);
        let c = zq::pow(r, q as u64, modulus);
        let columns: Vec<Vec<Val>> = (0..q)
            .map(|i2| {
                let column: Vec<Val> = (0..p).map(|i1| f[q * i1 + i2]).collect();
                rotated(self.first.as_ref(), arith, &column, c)
            })
            .collect();
        let mut output = f.to_vec();
        for j1 in 0..p {
            let row: Vec<Val> = columns.iter().map(|column| column[j1]).collect();
            let c = zq::mul(r, self.spec.power(j1), modulus);
            for (j2, v) in rotated(self.second.as_ref(), arith, &row, c).into_iter().enumerate() {
                output[j1 + p * j2] = v;
            }
        }
        output
    }

    /// Both levels. Input i is at `from[i]` and is zero unless `present[i]`; outputs go to `to`.
    /// Between the levels, values lie at `cells`, row by row.
    fn levels(
        &self,
        from: &[usize],
        present: &[bool],
        cells: &[usize],
        (to, wanted): (&[usize], &[bool]),
    ) -> [Vec<Group>; 2] {
        let ((p, q), modulus) = (self.lengths(), self.spec.q);
        let first = (0..q).map(|i2| {
            let inputs: Vec<usize> = (0..p).map(|i1| q * i1 + i2).collect();
            let here: Vec<bool> = inputs.iter().map(|&i| present[i]).collect();
            let from = inputs.iter().map(|&i| from[i]).collect();
            let to = (0..p).map(|j1| cells[j1 * q + i2]).collect();
            Group::record(modulus, from, &here, to, |arith, f| self.first.forward(arith, f))
        });
        let second = (0..p).map(|j1| {
            let outputs: Vec<usize> = (0..q).map(|j2| j1 + p * j2).collect();
            let from = (0..q).map(|i2| cells[j1 * q + i2]).collect();
            let all = vec![true; q];
            let mut group = Group::record(modulus, from, &all, outputs, |arith, f| {
                rotated(self.second.as_ref(), arith, f, self.spec.power(j1))
            })
            .keep(|j| wanted[j]);
            group.to.iter_mut().for_each(|j| *j = to[*j]);
            group
        });
        [first.collect(), second.collect()]
    }

    fn step(&self, title: String, name: &'static str, groups: Vec<Group>) -> Step {
        Step { title, cite: METHOD.citation, name: name.into(), groups }
    }
}

impl Transform for Rotation {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.spec
    }
    fn scale(&self) -> u64 {
        zq::mul(self.first.scale(), self.second.scale(), self.spec.q)
    }
    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        self.values(arith, f, 1)
    }

    fn forward_steps(&self, present: &[bool]) -> Vec<Step> {
        let ((p, q), n) = (self.lengths(), self.spec.len);
        let all: Vec<usize> = (0..n).collect();
        let to = (&self.cells()[..], &vec![true; n][..]);
        let [first, second] = self.levels(&all, present, &all, to);
        let columns = format!("{q} of {p}-point transforms, zeros skipped");
        vec![
            self.step(columns, "columns", first),
            self.step(format!("{p} of {q}-point transforms, rotated"), "rows", second),
        ]
    }

    /// By reflection [Chiu25 §2.4]: input i of a forward transform is F_(n−i).
    fn inverse_steps(&self, wanted: &[bool]) -> Vec<Step> {
        let ((p, q), n) = (self.lengths(), self.spec.len);
        let cell = self.cells();
        let from: Vec<usize> = (0..n).map(|i| cell[(n - i) % n]).collect();
        let all: Vec<usize> = (0..n).collect();
        // What a group of the first level reads, it leaves at the same cells.
        let [first, second] = self.levels(&from, &vec![true; n], &from, (&all, wanted));
        vec![
            self.step(format!("{q} of inverse {p}-point transforms"), "rows", first),
            self.step(format!("{p} of inverse {q}-point transforms, rotated"), "columns", second),
        ]
    }

    fn cells(&self) -> Vec<usize> {
        let (p, q) = self.lengths();
        (0..self.spec.len).map(|j| j % p * q + j / p).collect()
    }

    fn children(&self) -> Vec<&dyn Transform> {
        vec![self.first.as_ref(), self.second.as_ref()]
    }
    fn to_form(&self) -> Form {
        let lengths = [Form::word(self.first.len()), Form::word(self.second.len())];
        let parts = [self.first.to_form(), self.second.to_form()];
        Form::list(METHOD.name, lengths.into_iter().chain(parts))
    }
    fn title(&self) -> String {
        format!("Rotated {} × {}", self.first.len(), self.second.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{NetOp, Network};
    use crate::testing::{check, transform};

    const SIX: &str = "(good-thomas 2 3 (butterfly) (rader 3 unscaled))";

    #[test]
    fn agrees_with_the_definition() {
        check(7681, 6, "(rotated 2 3 (butterfly) (rader 3))");
        check(7681, 6, "(rotated 3 2 (rader 3 unscaled) (butterfly))");
        check(12289, 12, &format!("(rotated 2 6 (butterfly) {SIX})"));
        check(12902401, 36, &format!("(rotated 6 6 {SIX} {SIX})"));
        let eight = "(rotated 2 4 (butterfly) (rotated 2 2 (butterfly) (butterfly)))";
        check(7681, 8, eight);
        // Levels rotate through the levels above.
        check(12902401, 72, &format!("(rotated 2 36 (butterfly) (rotated 6 6 {SIX} {SIX}))"));
        check(12902401, 72, &format!("(rotated 2 36 (butterfly) (cooley-tukey 6 6 {SIX} {SIX}))"));
    }

    /// x^6 − c^6: five products, by c to c^5, before a 6-point transform [LinHung21 §2.5].
    #[test]
    fn rotates_by_powers() {
        let q = 12902401;
        let spec = DftSpec::new(q, 12).expect("root");
        let twelve = transform(q, 12, &format!("(rotated 2 6 (butterfly) {SIX})"));
        let steps = twelve.forward_steps(&[true; 12]);
        let constants = |group: &Group| -> Vec<u64> {
            let net: &Network = &group.net;
            let live = net.live(&group.outputs).into_iter();
            live.filter_map(|v| match net.op(v) {
                NetOp::Scale(a, c) if matches!(net.op(a), NetOp::Input(_)) => Some(c),
                _ => None,
            })
            .collect()
        };
        // The first level has no constants, nor has the half with c = 1.
        assert!(steps[0].groups.iter().all(|group| constants(group).is_empty()));
        assert!(constants(&steps[1].groups[0]).is_empty());
        let powers: Vec<u64> = (1..6).map(|i| spec.power(i)).collect();
        assert_eq!(constants(&steps[1].groups[1]), powers);
    }
}
