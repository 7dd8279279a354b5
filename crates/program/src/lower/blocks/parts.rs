//! What a node asks for, whatever its method: blocks of some width, phases of a transform of them,
//! and a weight for each product.

use super::super::network::Phase;
use super::super::phases::{forward_phases, inverse_phases, scale};
use ringforge_plan::{
    Arith, Blocks, Domain, Group, Halves, Modulus, Network, ProductRef, Stages, Step, Unit,
};

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
    Blocks(Box<Blocks>),
    Halves(Halves<'a>),
    Single(u64),
}

impl<'a> Parts<'a> {
    /// The parts of a node, in registers of `lanes` words; nothing where it is no such product.
    pub fn of(node: &'a ProductRef, lanes: usize) -> Option<Parts<'a>> {
        match node.stages() {
            Stages::Blocks(part) => Some(Parts::of_blocks(Box::new(part.clone()))),
            // Blocks that do not fill a register would waste its words.
            Stages::Levels(levels) => levels.halves(lanes).map(Parts::of_halves),
            Stages::Direct => Parts::direct(node.domain()),
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

    fn of_blocks(part: Box<Blocks>) -> Parts<'a> {
        Parts {
            k: part.k,
            operand: part.domain.operand,
            wanted: part.domain.wanted,
            weights: part.weights_by_cell(),
            forward: forward_phases("main", &part),
            scale: part.scale,
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

    fn of_halves(halves: Halves<'a>) -> Parts<'a> {
        Parts {
            k: halves.k(),
            operand: halves.domain().operand,
            wanted: halves.domain().wanted,
            weights: halves.weights(),
            forward: halves.forward_steps().into_iter().map(main).collect(),
            scale: halves.scale(),
            note: halves.note(),
            node: Kind::Halves(halves),
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
            Kind::Halves(halves) => {
                let mut steps = halves.inverse_steps();
                let wanted = self.wanted.div_ceil(self.k);
                if let Some(last) = steps.last_mut() {
                    scale(Some(&mut last.groups), factor);
                    let kept = |group: Group| group.keep(|to| to < wanted);
                    last.groups = std::mem::take(&mut last.groups).into_iter().map(kept).collect();
                }
                steps.into_iter().map(main).collect()
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

/// A step of the main part, which says its title and its direction itself.
fn main(step: Step) -> Phase {
    let Step { title, cite, name, groups } = step;
    Phase { title, cite, stage: format!("main.{name}"), groups }
}
