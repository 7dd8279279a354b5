//! What a node asks for, whatever its method: blocks of some width, the steps of a transform of them,
//! and a weight for each product.

use super::super::steps::{forward_steps, scale, unscaled_steps};
use ringforge_plan::{
    Blocks, Domain, Group, Halves, Modulus, Network, ProductRef, Stages, Step, Unit,
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
    pub forward: Vec<Step>,
    /// What the transforms leave the product multiplied with.
    pub scale: Unit,
    /// Where the plan is computed in another way.
    pub note: Option<String>,
    /// From cells to blocks of the product, and which of these every value passes once, to be multiplied there.
    back: Vec<Step>,
    scaled: usize,
    /// The blocks as the plan has them, if it has such.
    blocks: Option<&'a Blocks>,
}

impl<'a> Parts<'a> {
    /// The parts of a node, or of what is below a lift, in registers of `lanes` words; nothing where it is no such product.
    pub fn of(node: &'a ProductRef, lanes: usize) -> Option<Parts<'a>> {
        match node.stages() {
            Stages::Blocks(part) => Some(Parts { blocks: Some(part), ..Parts::of_blocks(part) }),
            // Blocks that do not fill a register would waste its words.
            Stages::Levels(levels) => levels.halves(lanes).map(Parts::of_halves),
            Stages::Direct => Parts::direct(node.domain()),
            Stages::Remainder(lift) => Parts::of(&lift.inner, lanes),
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
            forward: vec![single(domain.q, "the only block")],
            scale: Unit::one(domain.q),
            note: None,
            back: vec![single(domain.q, "the scale")],
            scaled: 0,
            blocks: None,
        })
    }

    fn of_blocks(part: &Blocks) -> Parts<'a> {
        Parts {
            k: part.k,
            operand: part.domain.operand,
            wanted: part.domain.wanted,
            weights: part.weights_by_cell(),
            forward: forward_steps("main", part),
            scale: part.scale,
            note: None,
            back: unscaled_steps("main", part),
            scaled: 0,
            blocks: None,
        }
    }

    /// These with axes of more than `most` blocks in steps of their own; 0 for as they are.
    pub fn by_steps(self, most: usize) -> Parts<'a> {
        let Some(part) = self.blocks.filter(|_| most > 0) else { return self };
        match part.transform.by_steps(most) {
            Some(transform) => Parts::of_blocks(&Blocks { transform, ..part.clone() }),
            None => self,
        }
    }

    fn of_halves(halves: Halves) -> Parts<'a> {
        let mut back: Vec<Step> = halves.inverse_steps().into_iter().map(main).collect();
        let wanted = halves.domain().wanted.div_ceil(halves.k());
        if let Some(last) = back.last_mut() {
            let kept = |group: Group| group.keep(|to| to < wanted);
            last.groups = std::mem::take(&mut last.groups).into_iter().map(kept).collect();
        }
        Parts {
            k: halves.k(),
            operand: halves.domain().operand,
            wanted: halves.domain().wanted,
            weights: halves.weights(),
            forward: halves.forward_steps().into_iter().map(main).collect(),
            scale: halves.scale(),
            note: halves.note(),
            scaled: back.len().saturating_sub(1),
            back,
            blocks: None,
        }
    }

    /// Words of so many coefficients, the last block in whole registers.
    pub fn words(&self, coefficients: usize, lanes: usize) -> usize {
        let blocks = coefficients.div_ceil(self.k).max(1);
        (blocks - 1) * self.k + self.k.next_multiple_of(lanes)
    }

    /// The number of blocks.
    pub fn cells(&self) -> usize {
        self.weights.len()
    }

    /// From cells to blocks of the product, times `factor`.
    pub fn inverse(&self, factor: u64) -> Vec<Step> {
        let mut steps = self.back.clone();
        scale(steps.get_mut(self.scaled), factor);
        steps
    }
}

/// One block as it is.
fn single(q: u64, title: &str) -> Step {
    let mut net = Network::new(q);
    let outputs = vec![net.input(0)];
    let group = Group { net, outputs, from: vec![0], to: vec![0] };
    Step { title: title.into(), cite: "", name: format!("main.{title}"), groups: vec![group] }
}

/// A step of the main part, which says its title and its direction itself.
fn main(step: Step) -> Step {
    Step { name: format!("main.{}", step.name), ..step }
}
