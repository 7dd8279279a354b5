//! A transform of length N = 2^s whose root is a power of x, over R = Z_q\[x\]/(x^W + 1): additions and
//! rotations with signs, no multiplications [Schoenhage77] [Hwang24 §3.6].
//!
//! Levels of radix 2 and 4 in place, with i = s·i_1 + i_2 and j = j_1 + r·j_2 on each:
//! x^{e·ij} = (x^{es})^{i_1 j_1} · x^{e·i_2 j_1} · (x^{er})^{i_2 j_2}. The root of a radix is −1 or
//! x^{±W/2}, which moves half a block; all other rotations are of the inputs of a level, so that
//! loads can do them. Scale 1. Condition: the root is a power of x of order N.

use crate::arith::{Arith, Val};
use crate::error::Refusal;
use crate::method::{Arguments, Build, DftSpec, Method};
use crate::sexpr::Form;
use crate::steps::{Group, Step};
use crate::transform::{Transform, TransformRef};
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "rotations",
    usage: "(rotations RADIX …)",
    summary: "A transform whose root is a power of x mod x^W + 1, as below schoenhage, in levels of \
              radix 2 and 4: additions and rotations.",
    citation: "[Hwang24 §3.6]",
    build: Build::Transform(build),
};

/// The transform by rotations.
#[derive(Clone, Debug)]
pub struct Rotations {
    /// What is computed; its root is x^e.
    pub spec: DftSpec,
    /// The radices, first level first.
    pub radices: Vec<usize>,
    exponent: usize,
}

/// One group of a level: where its inputs lie, by how much each is rotated, the root of its radix.
struct Butterfly {
    places: Vec<usize>,
    rotations: Vec<usize>,
    root: usize,
}

fn build(arguments: &mut Arguments, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    let mut radices = Vec::new();
    while arguments.more() {
        let radix = arguments.number("a radix")?;
        if radix != 2 && radix != 4 {
            let message = format!("rotations have radix 2 or 4, not {radix}");
            return Err(Refusal::new(arguments.last_at(), message).instead("2, 4"));
        }
        radices.push(radix);
    }
    let length: usize = radices.iter().product();
    if length != spec.len || radices.is_empty() {
        let message = format!(
            "these radices make {length}, but a transform of length {} is needed",
            spec.len
        );
        return Err(arguments
            .refuse(message)
            .instead("radices 2 and 4 whose product is the length"));
    }
    let Some(exponent) = spec.exponent() else {
        let message = "rotations need a root that is a power of x, and here it is none";
        return Err(arguments.refuse(message).instead("(butterfly), (rader P), (cooley-tukey …)"));
    };
    if !spec.width.is_multiple_of(2) && radices.contains(&4) {
        let message = format!("radix 4 moves half a block, but blocks have {} words", spec.width);
        return Err(arguments.refuse(message).instead("radix 2"));
    }
    Ok(Arc::new(Rotations { spec: *spec, radices, exponent }))
}

impl Rotations {
    /// The level's groups on blocks in place: those of block `start` of length `len` onwards come from
    /// one output of the level before.
    fn level(&self, level: usize) -> Vec<Butterfly> {
        let turn = 2 * self.spec.width;
        // Blocks of this level: start, length, root's exponent, exponent of the inputs' rotation.
        let mut blocks = vec![(0, self.spec.len, self.exponent, 0)];
        for &radix in &self.radices[..level] {
            let next = |&(start, len, e, _): &(usize, usize, usize, usize)| {
                let s = len / radix;
                (0..radix).map(move |j1| (start + s * j1, s, e * radix % turn, e * j1 % turn))
            };
            blocks = blocks.iter().flat_map(next).collect();
        }
        let radix = self.radices[level];
        let groups = blocks.into_iter().flat_map(|(start, len, e, twist)| {
            let s = len / radix;
            (0..s).map(move |i2| {
                let inner: Vec<usize> = (0..radix).map(|i1| s * i1 + i2).collect();
                Butterfly {
                    places: inner.iter().map(|i| start + i).collect(),
                    rotations: inner.iter().map(|i| twist * i % turn).collect(),
                    root: e * s % turn,
                }
            })
        });
        groups.collect()
    }

    /// The place of every output, in the order of j.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.spec.len];
        for (j, place) in places.iter_mut().enumerate() {
            let (mut rest, mut len) = (j, self.spec.len);
            for &radix in &self.radices {
                len /= radix;
                *place += len * (rest % radix);
                rest /= radix;
            }
        }
        places
    }

    fn butterfly(arith: &mut dyn Arith, group: &Butterfly, f: &[Val]) -> Vec<Val> {
        let mut turned = Vec::new();
        for (&v, &k) in f.iter().zip(&group.rotations) {
            turned.push(arith.rotate(v, k));
        }
        let (sum, difference) = (arith.add(turned[0], turned[turned.len() / 2]), {
            arith.sub(turned[0], turned[turned.len() / 2])
        });
        if turned.len() == 2 {
            return vec![sum, difference];
        }
        let (other, odd) = (arith.add(turned[1], turned[3]), arith.sub(turned[1], turned[3]));
        let odd = arith.rotate(odd, group.root);
        vec![
            arith.add(sum, other),
            arith.add(difference, odd),
            arith.sub(sum, other),
            arith.sub(difference, odd),
        ]
    }

    /// All levels as steps; the blocks in place are at `cells`, the first level's inputs present as
    /// marked, by place.
    fn steps(&self, cells: &[usize], present: &[bool], direction: &str) -> Vec<Step> {
        let q = self.spec.q;
        let names = ["level0", "level1", "level2", "level3", "level4", "level5", "level6", "more"];
        let step = |(level, &radix): (usize, &usize)| {
            let groups = self.level(level).into_iter().map(|group| {
                let line: Vec<usize> = group.places.iter().map(|&p| cells[p]).collect();
                let here: Vec<bool> =
                    group.places.iter().map(|&p| level > 0 || present[p]).collect();
                Group::record(q, line.clone(), &here, line, |arith, f| {
                    Rotations::butterfly(arith, &group, f)
                })
            });
            Step {
                title: format!("level {level}{direction}, radix {radix} with rotations"),
                cite: METHOD.citation,
                name: names[level.min(names.len() - 1)].into(),
                groups: groups.collect(),
            }
        };
        self.radices.iter().enumerate().map(step).collect()
    }
}

impl Transform for Rotations {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn spec(&self) -> DftSpec {
        self.spec
    }
    fn scale(&self) -> u64 {
        1
    }
    fn values(&self) -> String {
        format!("the {} products over t = x^({}i)", self.len(), self.exponent)
    }
    fn forward(&self, arith: &mut dyn Arith, f: &[Val]) -> Vec<Val> {
        let mut values = f.to_vec();
        for level in 0..self.radices.len() {
            for group in self.level(level) {
                let input: Vec<Val> = group.places.iter().map(|&p| values[p]).collect();
                let output = Rotations::butterfly(arith, &group, &input);
                group.places.iter().zip(output).for_each(|(&p, v)| values[p] = v);
            }
        }
        self.places().into_iter().map(|p| values[p]).collect()
    }
    fn stepwise(&self) -> bool {
        self.radices.len() > 1
    }
    fn forward_steps(&self, present: &[bool]) -> Vec<Step> {
        let all: Vec<usize> = (0..self.spec.len).collect();
        self.steps(&all, present, "")
    }
    /// By reflection [Chiu25 §2.4], in place.
    fn inverse_steps(&self, wanted: &[bool]) -> Vec<Step> {
        let n = self.spec.len;
        let places = self.places();
        let cells: Vec<usize> = (0..n).map(|i| places[(n - i) % n]).collect();
        let mut steps = self.steps(&cells, &vec![true; n], " back");
        // The last level stores blocks where they belong.
        let mut block_at = vec![0; n];
        places.iter().enumerate().for_each(|(j, &p)| block_at[cells[p]] = j);
        for group in steps.iter_mut().rev().take(1).flat_map(|step| &mut step.groups) {
            group.to.iter_mut().for_each(|cell| *cell = block_at[*cell]);
            *group = group.clone().keep(|i| wanted[i]);
        }
        steps
    }
    fn cells(&self) -> Vec<usize> {
        self.places()
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, self.radices.iter().map(Form::word))
    }
    fn title(&self) -> String {
        let radices: Vec<String> = self.radices.iter().map(usize::to_string).collect();
        format!("Rotations {}", radices.join(" × "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::Exact;
    use crate::registry::build_transform;
    use crate::testing::{Random, in_steps};

    fn spec(len: usize, x: usize, width: usize) -> DftSpec {
        DftSpec { q: 17, len, root: 1, x, width }
    }

    /// The schoolbook Σ_i x^{e·ij} f_i, forward and back, whole and in steps.
    #[test]
    fn agrees_with_the_definition() {
        for (len, x, width, text) in [
            (2, 4, 4, "(rotations 2)"),
            (4, 2, 4, "(rotations 4)"),
            (4, 6, 4, "(rotations 2 2)"),
            (8, 1, 4, "(rotations 2 4)"),
            (8, 5, 4, "(rotations 4 2)"),
            (32, 6, 32, "(rotations 4 2 4)"),
            (16, 12, 32, "(rotations 4 4)"),
        ] {
            let form = Form::parse(text).expect("text");
            let t = build_transform(&form, &spec(len, x, width)).expect(text);
            let mut random = Random(5);
            let f: Vec<Vec<u64>> = (0..len).map(|_| random.vector(width, 17)).collect();
            let mut exact = Exact::new(17, width);
            let input: Vec<Val> = f.iter().map(|block| exact.input(block)).collect();
            let mut expected = Vec::new();
            for j in 0..len {
                let mut sum = exact.zero();
                for (i, &v) in input.iter().enumerate() {
                    let term = exact.rotate(v, x * i * j);
                    sum = exact.add(sum, term);
                }
                expected.push(exact.get(sum).to_vec());
            }
            assert_eq!(t.forward_exact(&f), expected, "{text}");
            let all = vec![true; len];
            let cells = in_steps(&t.forward_steps(&all), &f, 17);
            let forward: Vec<Vec<u64>> = t.cells().iter().map(|&c| cells[c].clone()).collect();
            assert_eq!(forward, expected, "{text} in steps");
            let back: Vec<Vec<u64>> = f
                .iter()
                .map(|block| block.iter().map(|&c| c * len as u64 % 17).collect())
                .collect();
            assert_eq!(t.inverse_exact(&expected), back, "{text} back");
            let blocks = in_steps(&t.inverse_steps(&all), &cells, 17);
            assert_eq!(blocks, back, "{text} back in steps");
        }
    }

    #[test]
    fn refuses_other_roots() {
        let message = |text: &str, spec: DftSpec| {
            build_transform(&Form::parse(text).expect("text"), &spec).expect_err(text).message
        };
        assert_eq!(message("(rotations 3)", spec(3, 0, 4)), "rotations have radix 2 or 4, not 3");
        assert_eq!(
            message("(rotations 4)", spec(8, 1, 4)),
            "these radices make 4, but a transform of length 8 is needed"
        );
        let scalar = DftSpec::new(17, 4).expect("root");
        assert!(message("(rotations 4)", scalar).contains("a power of x"));
    }
}
