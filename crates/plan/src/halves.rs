//! x^n + 1 split in halves as far as blocks are long enough: the first levels of a transform as
//! steps on blocks, split and joined in place. Products of blocks do the rest.

use crate::arith::{Arith, Val};
use crate::domain::Domain;
use crate::network::Network;
use crate::ntt::{Butterflies, Ntt};
use crate::steps::{Group, Step};
use crate::unit::Unit;

/// Most levels in one step: eight blocks.
const DEPTH: u32 = 3;

/// The first levels of a transform of x^n + 1.
#[derive(Clone, Copy, Debug)]
pub struct Halves<'a> {
    ntt: &'a Ntt,
    levels: u32,
}

impl<'a> Halves<'a> {
    /// As many levels as leave blocks of at least so many coefficients.
    pub(crate) fn of(ntt: &'a Ntt, least: usize) -> Halves<'a> {
        let fills = |&levels: &u32| ntt.len() >> levels >= least;
        Halves { ntt, levels: (0..=ntt.levels).rev().find(fills).unwrap_or(0) }
    }

    /// Where the product is taken.
    pub fn domain(&self) -> &'a Domain {
        &self.ntt.domain
    }

    /// Coefficients of a block.
    pub fn k(&self) -> usize {
        self.ntt.len() >> self.levels
    }

    /// What each block is reduced by: x^k − weight.
    pub fn weights(&self) -> Vec<u64> {
        (0..1usize << self.levels).map(|i| self.weight(i)).collect()
    }

    fn weight(&self, i: usize) -> u64 {
        match self.levels.checked_sub(1) {
            None => self.ntt.domain.q - 1,
            Some(above) => {
                let root = self.ntt.split_factor(above, i / 2);
                if i.is_multiple_of(2) { root } else { root.negated() }.value()
            }
        }
    }

    /// What both ways leave the product multiplied with.
    pub fn scale(&self) -> Unit {
        self.ntt.scale_of(self.levels)
    }

    /// Where this is another way than the plan's.
    pub fn note(&self) -> Option<String> {
        let (ntt, levels) = (self.ntt, self.levels);
        let fewer = (levels < ntt.levels).then(|| {
            format!(
                "radix-2 transform: it stops after {levels} of {} levels, so that blocks of {} fill a \
                 register; these are multiplied directly",
                ntt.levels,
                self.k()
            )
        });
        let twists = ntt.twist || ntt.inverse == Butterflies::CooleyTukey;
        let in_place = twists.then(|| "radix-2 transform: in place, without twisting".to_string());
        let notes: Vec<String> = fewer.into_iter().chain(in_place).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// The levels of each step, from the top.
    fn chunks(&self) -> Vec<(u32, u32)> {
        let count = self.levels.div_ceil(DEPTH).max(1);
        let bounds: Vec<u32> = (0..=count).map(|c| self.levels * c / count).collect();
        bounds.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// A step for every factor that a range of levels begins with: their blocks, some distance apart.
    /// `build` makes the network of the blocks from an offset on in a factor.
    fn steps(
        &self,
        (first, last): (u32, u32),
        build: &dyn Fn(usize, usize) -> (Network, Vec<Val>),
        direction: &str,
    ) -> Vec<Step> {
        let count = 1usize << self.levels;
        let (apart, members) = (count >> last, 1usize << (last - first));
        (0..1usize << first)
            .map(|block| {
                let groups = (0..apart)
                    .map(|offset| {
                        let start = block * (count >> first) + offset;
                        let all: Vec<usize> = (0..members).map(|j| start + j * apart).collect();
                        let (net, outputs) = build(block, offset);
                        Group { net, outputs, from: all.clone(), to: all }
                    })
                    .collect();
                let n = self.ntt.len();
                Step {
                    title: format!(
                        "{direction}: levels {first} to {last} of x^{n} + 1, factor {block}"
                    ),
                    cite: "[Seiler18 §2]",
                    name: format!("{direction}.{first}.{block}"),
                    groups,
                }
            })
            .collect()
    }

    /// From blocks of an operand to those of the factors.
    pub fn forward_steps(&self) -> Vec<Step> {
        let (ntt, k) = (self.ntt, self.k());
        let mut all = Vec::new();
        for (first, last) in self.chunks() {
            let (depth, apart) = (last - first, 1usize << (self.levels - last));
            let build = |block: usize, offset: usize| {
                // Blocks behind the operand are zeros: groups differ.
                let present = |j: usize| first > 0 || (offset + j * apart) * k < ntt.domain.operand;
                let present: Vec<bool> = (0..1 << depth).map(present).collect();
                let mut net = Network::new(ntt.domain.q);
                let mut members = net.inputs(&present);
                for level in 0..depth {
                    let distance = 1usize << (depth - 1 - level);
                    butterflies(&mut members, distance, &mut |j, a, b| {
                        let number = (block << level) + (j >> (depth - level));
                        let root = ntt.split_factor(first + level, number);
                        let product = net.scale(b, root.value());
                        (net.add(a, product), net.sub(a, product))
                    });
                }
                (net, members)
            };
            let mut steps = self.steps((first, last), &build, "forward");
            if first == 0 {
                steps[0].title = format!("forward: levels 0 to {last} of x^{} + 1", ntt.len());
                steps[0].name = "forward.0".into();
            }
            all.extend(steps);
        }
        all
    }

    /// From blocks of the factors to those of the product.
    pub fn inverse_steps(&self) -> Vec<Step> {
        let ntt = self.ntt;
        let mut all = Vec::new();
        for (first, last) in self.chunks().into_iter().rev() {
            let depth = last - first;
            let build = |block: usize, _| {
                let mut net = Network::new(ntt.domain.q);
                let mut members = net.inputs(&vec![true; 1 << depth]);
                for level in (0..depth).rev() {
                    let distance = 1usize << (depth - 1 - level);
                    butterflies(&mut members, distance, &mut |j, a, b| {
                        let number = (block << level) + (j >> (depth - level));
                        let root = ntt.split_factor(first + level, number);
                        let difference = net.sub(a, b);
                        (net.add(a, b), net.scale(difference, root.inverse()))
                    });
                }
                (net, members)
            };
            all.extend(self.steps((first, last), &build, "inverse"));
        }
        all
    }
}

/// Butterflies between members `distance` apart.
fn butterflies(
    members: &mut [Val],
    distance: usize,
    work: &mut dyn FnMut(usize, Val, Val) -> (Val, Val),
) {
    for j in (0..members.len()).filter(|j| (j / distance).is_multiple_of(2)) {
        (members[j], members[j + distance]) = work(j, members[j], members[j + distance]);
    }
}
