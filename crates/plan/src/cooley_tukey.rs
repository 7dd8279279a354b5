//! A transform of length p·q as q transforms of length p, twiddles, and p transforms of length q
//! [CooleyTukey65] [Chiu25 §3.4.1].
//!
//! With i = q·i_1 + i_2 and j = j_1 + p·j_2, ω^{ij} = (ω^q)^{i_1 j_1} · ω^{i_2 j_1} ·
//! (ω^p)^{i_2 j_2}. The option `twisted` takes i_2 and j_1 from a centred interval ({−1, 0, 1}
//! for 3) instead of {0, 1, 2}. The sub-transforms are the same, on rotated blocks, but 3 × 3 needs
//! only ω and ω^{−1} as twiddles, not ω, ω², ω⁴.
//!
//! A twisted transform of two doubling radix-3 butterflies leaves the scale 2, not 4 ([Chiu25],
//! Figure 3.9). Its second level finds 2f_0 already there and uses halved twiddles elsewhere.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::grid::Grid;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::rader::{Doubling, Rader};
use crate::sexpr::Form;
use crate::steps::{self, Group, Step};
use crate::transform::{Transform, TransformRef};
use crate::unit::Unit;
use ringforge_ring::zq;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "cooley-tukey",
    usage: "(cooley-tukey P Q [twisted] TRANSFORM-P TRANSFORM-Q)",
    summary: "A transform of length P·Q as Q transforms of length P, twiddles, and P of length Q; \
              twisted uses fewer distinct twiddles.",
    citation: "[Chiu25 §3.4.1]",
    build: Build::Transform(build),
};

/// The Cooley–Tukey transform.
#[derive(Clone, Debug)]
pub struct CooleyTukey {
    /// What is computed, on which root.
    pub spec: DftSpec,
    /// Whether indices between the levels are centred.
    pub twisted: bool,
    /// The first level, length p.
    pub first: TransformRef,
    /// The second level, length q.
    pub second: TransformRef,
}

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    spec.of_numbers(arguments)?;
    let p = arguments.number("the length P")?;
    let q = arguments.number("the length Q")?;
    if p * q != spec.len {
        let message =
            format!("{p} × {q} = {}, but a transform of length {} is needed here", p * q, spec.len);
        return Err(Refusal::new(arguments.last_at(), message)
            .instead(format!("two lengths whose product is {}", spec.len)));
    }
    let twisted = arguments.option("twisted");
    let first = arguments.transform(&spec.part(p))?;
    let second = arguments.transform(&spec.part(q))?;
    Ok(Arc::new(CooleyTukey { spec: *spec, twisted, first, second }))
}

impl CooleyTukey {
    /// The two doubling radix-3 butterflies, where the twisted variant can halve between them.
    pub fn halving(&self) -> Option<(&Rader, &Rader)> {
        let first = self.first.as_method::<Rader>()?;
        let second = self.second.as_method::<Rader>()?;
        let fits = self.twisted && first.is_doubling_radix_3() && second.is_doubling_radix_3();
        fits.then_some((first, second))
    }

    /// The representatives that i_2 (of `n` = q) or j_1 (of `n` = p) runs through.
    fn indices(&self, n: usize) -> Vec<i64> {
        let shift = if self.twisted { (n as i64 - 1) / 2 } else { 0 };
        (0..n as i64).map(|i| if i >= n as i64 - shift { i - n as i64 } else { i }).collect()
    }

    /// The twiddle ω^{i_2·j_1}, halved where the variant halves.
    fn twiddle(&self, i2: i64, j1: i64, halved: bool) -> u64 {
        let exponent = (i2 * j1).rem_euclid(self.spec.len as i64) as usize;
        let w = self.spec.power(exponent);
        if halved { zq::mul(w, self.spec.q.div_ceil(2), self.spec.q) } else { w }
    }

    /// The index of input (i_1, i_2).
    fn input(&self, i1: i64, i2: i64) -> usize {
        (self.second.len() as i64 * i1 + i2).rem_euclid(self.spec.len as i64) as usize
    }

    /// The index of output (j_1, j_2).
    fn output(&self, j1: i64, j2: usize) -> usize {
        (j1 + (self.first.len() * j2) as i64).rem_euclid(self.spec.len as i64) as usize
    }

    /// All (slot of j_1, i_2), row by row.
    fn grid(&self) -> Vec<(usize, i64)> {
        let outer = self.indices(self.second.len());
        (0..self.first.len()).flat_map(|j1| outer.iter().map(move |&i2| (j1, i2))).collect()
    }

    /// Both levels, without halving. Input i is at `from[i]` and is zero unless `present[i]`;
    /// outputs go to `to`. Between the levels, values lie at `cells`, row by row.
    fn levels(
        &self,
        from: &[usize],
        present: &[bool],
        cells: &[usize],
        (to, wanted): (&[usize], &[bool]),
    ) -> [Vec<Group>; 2] {
        let (p, q, modulus) = (self.first.len(), self.second.len(), self.spec.q);
        let (outer, inner) = (self.indices(q), self.indices(p));
        let first = outer.iter().enumerate().map(|(slot, &i2)| {
            let inputs: Vec<usize> = (0..p as i64).map(|i1| self.input(i1, i2)).collect();
            let here: Vec<bool> = inputs.iter().map(|&i| present[i]).collect();
            let from = inputs.iter().map(|&i| from[i]).collect();
            let to = (0..p).map(|j1| cells[j1 * q + slot]).collect();
            Group::record(modulus, from, &here, to, |arith, f| {
                let level = self.first.forward(arith, f);
                let twiddles = inner.iter().map(|&j1| self.twiddle(i2, j1, false));
                let scale = |(v, c)| if c == 1 { v } else { arith.scale(v, c) };
                level.into_iter().zip(twiddles).map(scale).collect()
            })
        });
        let second = inner.iter().enumerate().map(|(slot, &j1)| {
            let outputs: Vec<usize> = (0..q).map(|j2| self.output(j1, j2)).collect();
            let kept: Vec<bool> = outputs.iter().map(|&j| wanted[j]).collect();
            let from = (0..q).map(|i2| cells[slot * q + i2]).collect();
            let to = outputs.iter().map(|&j| to[j]).collect();
            let mut group = Group::record(modulus, from, &vec![true; q], to, |arith, f| {
                self.second.forward(arith, f)
            });
            let pairs = group.outputs.into_iter().zip(group.to).zip(kept);
            (group.outputs, group.to) = pairs.filter(|(_, kept)| *kept).map(|(p, _)| p).unzip();
            group
        });
        [first.collect(), second.collect()]
    }
}

impl Transform for CooleyTukey {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.spec
    }
    fn scale(&self) -> u64 {
        match self.halving() {
            Some(_) => 2,
            None => zq::mul(self.first.scale(), self.second.scale(), self.spec.q),
        }
    }

    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let (n, p, q) = (self.spec.len, self.first.len(), self.second.len());
        let halving = self.halving();
        let (outer, inner) = (self.indices(q), self.indices(p));
        let place = |i: i64| i.rem_euclid(n as i64) as usize;
        let mut level = vec![Vec::new(); p]; // level[j_1][i_2]
        for &i2 in &outer {
            let input: Vec<Val> = (0..p).map(|i1| f[place((q * i1) as i64 + i2)]).collect();
            let output = match halving {
                Some((first, _)) => {
                    let doubling =
                        if i2 == 0 { Doubling::AllOutputs } else { Doubling::NotFirstOutput };
                    first.radix_3(arith, &input, doubling)
                }
                None => self.first.forward(arith, &input),
            };
            for (slot, (&j1, v)) in inner.iter().zip(output).enumerate() {
                // Halving: 2F_1, 2F_2 of the rotated groups lose their 2; F_0 never got one.
                let halved = halving.is_some() && i2 != 0 && j1 != 0;
                let c = self.twiddle(i2, j1, halved);
                let twiddled = if c == 1 { v } else { arith.scale(v, c) };
                level[slot].push(twiddled);
            }
        }
        let mut output = f.to_vec();
        for (&j1, line) in inner.iter().zip(&level) {
            let values = match halving {
                Some((_, second)) => second.radix_3(arith, line, Doubling::FirstInput),
                None => self.second.forward(arith, line),
            };
            for (j2, v) in values.into_iter().enumerate() {
                output[place(j1 + (p * j2) as i64)] = v;
            }
        }
        output
    }

    fn forward_steps(&self, present: &[bool]) -> Vec<Step> {
        if self.halving().is_some() {
            return steps::forward_whole(self, present);
        }
        let (n, p, q) = (self.spec.len, self.first.len(), self.second.len());
        let all: Vec<usize> = (0..n).collect();
        let to = (&self.cells()[..], &vec![true; n][..]);
        let [first, second] = self.levels(&all, present, &all, to);
        vec![
            Step {
                title: format!("{q} of {p}-point transforms, zeros skipped, and twiddles"),
                cite: METHOD.citation,
                name: "columns".into(),
                groups: first,
            },
            Step {
                title: format!("{p} of {q}-point transforms"),
                cite: METHOD.citation,
                name: "rows".into(),
                groups: second,
            },
        ]
    }

    /// By reflection [Chiu25 §2.4]: input i of a forward transform is F_(n−i).
    fn inverse_steps(&self, wanted: &[bool]) -> Vec<Step> {
        if self.halving().is_some() {
            return steps::inverse_whole(self, wanted);
        }
        let (n, p, q) = (self.spec.len, self.first.len(), self.second.len());
        let cell = self.cells();
        let from: Vec<usize> = (0..n).map(|i| cell[(n - i) % n]).collect();
        // What a group of the first level reads, it leaves at the same cells.
        let mut cells = vec![0; n];
        for (slot, (j1, i2)) in self.grid().into_iter().enumerate() {
            cells[slot] = from[self.input(j1 as i64, i2)];
        }
        let all: Vec<usize> = (0..n).collect();
        let [first, second] = self.levels(&from, &vec![true; n], &cells, (&all, wanted));
        vec![
            Step {
                title: format!("{q} of inverse {p}-point transforms, and twiddles"),
                cite: "[Chiu25 §2.4]",
                name: "rows".into(),
                groups: first,
            },
            Step {
                title: format!("{p} of inverse {q}-point transforms"),
                cite: "[Chiu25 §2.4]",
                name: "columns".into(),
                groups: second,
            },
        ]
    }

    fn cells(&self) -> Vec<usize> {
        let mut cells: Vec<usize> = (0..self.spec.len).collect();
        if self.halving().is_none() {
            let (p, q) = (self.first.len(), self.second.len());
            for (slot, &j1) in self.indices(p).iter().enumerate() {
                (0..q).for_each(|j2| cells[self.output(j1, j2)] = slot * q + j2);
            }
        }
        cells
    }

    /// Indices from a centred interval begin in another row.
    fn grid(&self) -> Option<Grid> {
        let root = Unit::new(self.spec.root, self.spec.q).filter(|_| !self.twisted)?;
        let (first, second) = (self.first.clone(), self.second.clone());
        Some(Grid { root, twist: Unit::one(self.spec.q), first, second })
    }

    fn children(&self) -> Vec<&dyn Transform> {
        vec![self.first.as_ref(), self.second.as_ref()]
    }
    fn to_form(&self) -> Form {
        let lengths = [Form::word(self.first.len()), Form::word(self.second.len())];
        let option = self.twisted.then(|| Form::word("twisted"));
        let rest = [self.first.to_form(), self.second.to_form()];
        Form::list(METHOD.name, lengths.into_iter().chain(option).chain(rest))
    }
    fn title(&self) -> String {
        let twisted = if self.twisted { " twisted" } else { "" };
        format!("Cooley–Tukey {} × {}{twisted}", self.first.len(), self.second.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{NetOp, Network};
    use crate::testing::{check, transform};

    #[test]
    fn agrees_with_the_definition() {
        for option in ["", "twisted "] {
            check(4591, 9, &format!("(cooley-tukey 3 3 {option}(rader 3 unscaled) (rader 3))"));
            check(4591, 9, &format!("(cooley-tukey 3 3 {option}(rader 3) (rader 3))"));
            check(4591, 6, &format!("(cooley-tukey 2 3 {option}(butterfly) (rader 3))"));
            check(4591, 6, &format!("(cooley-tukey 3 2 {option}(rader 3) (butterfly))"));
            check(7681, 4, &format!("(cooley-tukey 2 2 {option}(butterfly) (butterfly))"));
            let nine = format!("(cooley-tukey 3 3 {option}(rader 3) (rader 3))");
            check(4591, 27, &format!("(cooley-tukey 9 3 {option}{nine} (rader 3))"));
        }
    }

    /// The distinct twiddles: ω, ω², ω⁴ as it is, ω and ω⁸ twisted, halved with scale 2.
    #[test]
    fn twiddles_and_scales_of_the_seed() {
        let q = 4591;
        let constants = |text: &str| {
            let t = transform(q, 9, text);
            let mut net = Network::new(q);
            let input = net.inputs(&[true; 9]);
            let output = t.forward(&mut net, &input);
            let mut all: Vec<u64> = (net.live(&output).into_iter())
                .filter_map(|v| if let NetOp::Scale(_, c) = net.op(v) { Some(c) } else { None })
                .collect();
            all.sort_unstable();
            all.dedup();
            (t.scale(), all)
        };
        let sorted = |mut all: Vec<u64>| {
            all.sort_unstable();
            all
        };
        let spec = DftSpec::new(q, 9).expect("root");
        let cube = spec.power(3);
        let odd = zq::sub(cube, zq::mul(cube, cube, q), q);
        let half = |e| zq::mul(spec.power(e), 2296, q);
        let plain = constants("(cooley-tukey 3 3 (rader 3) (rader 3))");
        assert_eq!(plain, (4, sorted(vec![odd, spec.power(1), spec.power(2), spec.power(4)])));
        let twisted = constants("(cooley-tukey 3 3 twisted (rader 3) (rader 3))");
        assert_eq!(twisted, (2, sorted(vec![odd, half(1), half(8)])));
        let unscaled =
            constants("(cooley-tukey 3 3 twisted (rader 3 unscaled) (rader 3 unscaled))");
        assert_eq!(unscaled, (1, sorted(vec![cube, spec.power(1), spec.power(8)])));
    }
}
