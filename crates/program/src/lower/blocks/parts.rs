//! What a node asks for, whatever its method: blocks of some width, phases of a transform of them,
//! and a weight for each product.

use super::super::network::Phase;
use super::super::phases::{forward_phases, inverse_phases};
use crate::cut::scaled;
use ringforge_plan::{
    Arith, Butterflies, Domain, Group, Modulus, Network, Ntt, Product, ProductRef, Structure,
    Substitute, Unit, Val,
};

/// Most levels of halves in one phase: eight blocks.
const DEPTH: u32 = 3;

/// A product through a transform of blocks.
pub(crate) struct Parts<'a> {
    /// Coefficients of a block.
    pub k: usize,
    /// Coefficients of an operand, and of the result.
    pub operand: usize,
    pub wanted: usize,
    /// The weight of every cell's product.
    pub weights: Vec<u64>,
    /// From blocks of an operand to cells.
    pub forward: Vec<Phase>,
    /// What the transforms leave the product multiplied with.
    pub scale: Unit,
    /// Where the plan is computed in another way.
    pub note: Option<String>,
    node: Kind<'a>,
}

enum Kind<'a> {
    Blocks(Box<Substitute>),
    Halves(&'a Ntt, u32),
    Single(u64),
}

impl<'a> Parts<'a> {
    /// The parts of a node, in registers of `lanes` words; nothing where it is no such product.
    pub fn of(node: &'a ProductRef, lanes: usize) -> Option<Parts<'a>> {
        match node.structure() {
            Structure::Blocks(part) => Some(Parts::of_blocks(Box::new(part.clone()))),
            Structure::Halves(ntt) => Some(Parts::of_halves(ntt, lanes)),
            Structure::Definition => Parts::direct(node.domain()),
            _ => None,
        }
    }

    /// The schoolbook product: one block; nothing modulo an f of more than two terms.
    pub fn direct(domain: &Domain) -> Option<Parts<'a>> {
        let (k, weight) = match (&domain.modulus, domain.binomial()) {
            (Modulus::Free { .. }, _) => (domain.wanted.max(domain.operand), 0),
            (_, binomial) => binomial?,
        };
        Some(Parts {
            k,
            operand: domain.operand.min(k),
            wanted: domain.wanted.min(k),
            weights: vec![weight],
            forward: vec![single(domain.q, 1, "the only block")],
            scale: Unit::one(domain.q),
            note: None,
            node: Kind::Single(domain.q),
        })
    }

    fn of_blocks(part: Box<Substitute>) -> Parts<'a> {
        let mut weights = vec![1; part.blocks()];
        for (j, cell) in part.transform.cells().into_iter().enumerate() {
            weights[cell] = part.convolution.weights[j];
        }
        Parts {
            k: part.k,
            operand: part.domain.operand,
            wanted: part.domain.wanted,
            weights,
            forward: forward_phases("main", &part),
            scale: part.scale(),
            note: None,
            node: Kind::Blocks(part),
        }
    }

    /// These with axes of more than `most` blocks in steps of their own; 0 for as they are.
    pub fn by_steps(self, most: usize) -> Parts<'a> {
        let Kind::Blocks(part) = &self.node else { return self };
        match part.transform.by_steps(most).filter(|_| most > 0) {
            Some(transform) => {
                let mut part = part.clone();
                part.transform = transform;
                Parts::of_blocks(part)
            }
            None => self,
        }
    }

    fn of_halves(ntt: &'a Ntt, lanes: usize) -> Parts<'a> {
        // Blocks that do not fill a register would waste its words.
        let fills = |&levels: &u32| ntt.len() >> levels >= lanes;
        let levels = (0..=ntt.levels).rev().find(fills).unwrap_or(0);
        let count = 1usize << levels;
        let mut notes = Vec::new();
        if levels < ntt.levels {
            notes.push(format!(
                "halves: {levels} of {} levels, so that blocks of {} fill a register; products of \
                 blocks do the rest",
                ntt.levels,
                ntt.len() >> levels
            ));
        }
        if ntt.twist || ntt.inverse == Butterflies::CooleyTukey {
            notes.push("halves: split and joined in place, without twisting".to_string());
        }
        Parts {
            k: ntt.len() >> levels,
            operand: ntt.domain.operand,
            wanted: ntt.domain.wanted,
            weights: (0..count).map(|i| weight(ntt, levels, i)).collect(),
            forward: split_phases(ntt, levels),
            scale: ntt.halves(levels),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            node: Kind::Halves(ntt, levels),
        }
    }

    /// The number of blocks.
    pub fn cells(&self) -> usize {
        self.weights.len()
    }

    /// From cells to blocks of the product, times `factor`.
    pub fn inverse(&self, factor: u64) -> Vec<Phase> {
        match &self.node {
            Kind::Blocks(part) => inverse_phases("main", part, factor),
            Kind::Halves(ntt, levels) => {
                let wanted = ntt.domain.wanted.div_ceil(self.k);
                join_phases(ntt, *levels, wanted, factor)
            }
            Kind::Single(q) => vec![single(*q, factor, "the scale")],
        }
    }
}

/// One block, times a factor.
fn single(q: u64, factor: u64, title: &str) -> Phase {
    let mut net = Network::new(q);
    let input = net.input(0);
    let outputs = vec![net.scale(input, factor)];
    let group = Group { net, outputs, from: vec![0], to: vec![0] };
    Phase { title: title.into(), cite: "", stage: format!("main.{title}"), groups: vec![group] }
}

/// What block `i` of 2^levels is reduced by: x^k − weight.
fn weight(ntt: &Ntt, levels: u32, i: usize) -> u64 {
    let q = ntt.domain.q;
    match levels.checked_sub(1) {
        None => q - 1,
        Some(above) => {
            let root = ntt.split_factor(above, i / 2);
            if i.is_multiple_of(2) { root } else { root.negated() }.value()
        }
    }
}

/// The levels of each phase, from the top.
fn chunks(levels: u32) -> Vec<(u32, u32)> {
    let count = levels.div_ceil(DEPTH).max(1);
    let bounds: Vec<u32> = (0..=count).map(|c| levels * c / count).collect();
    bounds.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// A phase for every factor that `range` begins with: their blocks, some distance apart. `build` makes the network of the
/// blocks from an offset on in a factor.
fn phases_of(
    ntt: &Ntt,
    levels: u32,
    (first, last): (u32, u32),
    build: &dyn Fn(usize, usize) -> (Network, Vec<Val>),
    name: &str,
) -> Vec<Phase> {
    let count = 1usize << levels;
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
            Phase {
                title: format!(
                    "{name}: levels {first} to {last} of x^{} + 1, factor {block}",
                    ntt.len()
                ),
                cite: "[Seiler18 §2]",
                stage: format!("main.{name}.{first}.{block}"),
                groups,
            }
        })
        .collect()
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

fn split_phases(ntt: &Ntt, levels: u32) -> Vec<Phase> {
    let (q, k) = (ntt.domain.q, ntt.len() >> levels);
    let mut all = Vec::new();
    for (first, last) in chunks(levels) {
        let (apart, members) = (1usize << (levels - last), 1usize << (last - first));
        let build = |block: usize, offset: usize| {
            // Blocks behind the operand are zeros: groups differ.
            let present = |j: usize| first > 0 || (offset + j * apart) * k < ntt.domain.operand;
            let present: Vec<bool> = (0..members).map(present).collect();
            split(ntt, q, (first, last), block, &present)
        };
        let mut phases = phases_of(ntt, levels, (first, last), &build, "forward");
        if first == 0 {
            phases[0].title = format!("forward: levels 0 to {last} of x^{} + 1", ntt.len());
            phases[0].stage = "main.forward.0".into();
        }
        all.extend(phases);
    }
    all
}

fn split(
    ntt: &Ntt,
    q: u64,
    (first, last): (u32, u32),
    block: usize,
    present: &[bool],
) -> (Network, Vec<Val>) {
    let depth = last - first;
    let mut net = Network::new(q);
    let mut members = net.inputs(present);
    for level in 0..depth {
        let distance = 1usize << (depth - 1 - level);
        butterflies(&mut members, distance, &mut |j, a, b| {
            let number = (block << level) + (j >> (depth - level));
            let product = net.scale(b, ntt.split_factor(first + level, number).value());
            (net.add(a, product), net.sub(a, product))
        });
    }
    (net, members)
}

fn join_phases(ntt: &Ntt, levels: u32, wanted: usize, factor: u64) -> Vec<Phase> {
    let q = ntt.domain.q;
    let mut all = Vec::new();
    for (first, last) in chunks(levels).into_iter().rev() {
        let depth = last - first;
        let build = |block: usize, _| {
            let mut net = Network::new(q);
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
            if first == 0 { scaled(&net, &members, factor) } else { (net, members) }
        };
        let mut phases = phases_of(ntt, levels, (first, last), &build, "inverse");
        if first == 0 {
            for group in phases.iter_mut().flat_map(|phase| &mut phase.groups) {
                let kept = group.outputs.iter().copied().zip(group.to.iter().copied());
                let kept = kept.filter(|&(_, to)| to < wanted);
                (group.outputs, group.to) = kept.unzip();
            }
        }
        all.extend(phases);
    }
    all
}
