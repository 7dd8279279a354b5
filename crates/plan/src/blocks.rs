//! Products through transforms of blocks: what the methods for them have in common.
//!
//! An operand is cut into N blocks of k coefficients. A transform of length N leaves N blocks of
//! `width` coefficients, and the products of those are mod x^width − w. The inverse transform leaves
//! blocks of as many coefficients. Each begins k after the one before, so they overlap if they are
//! wider than k.

use crate::arith::{Arith, Exact, Val};
use crate::base::{Base, BaseSpec, Shape};
use crate::cost::Model;
use crate::domain::Domain;
use crate::error::Refusal;
use crate::method::Arguments;
use crate::network::{Cost, Network};
use crate::product::Product;
use crate::transform::{Transform, TransformRef};
use crate::tree::TreeNode;
use crate::unit::Unit;
use crate::weighted_convolution::WeightedConvolution;
use ringforge_ring::zq;

/// Blocks of operands through a transform, a product of each, the inverse transform.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// Where the product is taken: mod x^{kN} − 1 or what the transform's points are the roots of,
    /// or unreduced and short enough for it.
    pub domain: Domain,
    /// k, from one block to the next.
    pub k: usize,
    /// Coefficients of a transformed block: k, or more where blocks of the product overlap.
    pub width: usize,
    /// The transform of length N.
    pub transform: TransformRef,
    /// The N products mod x^width − w.
    pub convolution: WeightedConvolution,
    /// What both transforms and the inverse leave the product multiplied with.
    pub scale: Unit,
}

impl Blocks {
    /// Reads the products of blocks with these weights, the last argument of a method.
    pub(crate) fn read(
        arguments: &mut Arguments,
        domain: &Domain,
        (k, width): (usize, usize),
        transform: TransformRef,
        weights: Vec<u64>,
    ) -> Result<Blocks, Refusal> {
        let shape = Shape::Weighted(weights);
        let convolution = arguments.convolutions(&BaseSpec { q: domain.q, size: width, shape })?;
        let scale = transform.product_scale().map_err(|why| arguments.refuse(why))?;
        Ok(Blocks { domain: domain.clone(), k, width, transform, convolution, scale })
    }

    /// The number of blocks N.
    pub fn count(&self) -> usize {
        self.transform.len()
    }

    /// Whether blocks of the product overlap.
    pub fn overlap(&self) -> bool {
        self.width > self.k
    }

    /// Which of the N input blocks can be nonzero.
    pub fn present(&self) -> Vec<bool> {
        (0..self.count()).map(|i| i * self.k < self.domain.operand).collect()
    }

    /// Which of the N output blocks are read.
    pub fn wanted(&self) -> Vec<bool> {
        (0..self.count()).map(|i| self.overlap() || i * self.k < self.domain.wanted).collect()
    }

    /// The weight of the block in each cell.
    pub fn weights_by_cell(&self) -> Vec<u64> {
        let mut weights = vec![1; self.count()];
        for (cell, &weight) in self.transform.cells().into_iter().zip(&self.convolution.weights) {
            weights[cell] = weight;
        }
        weights
    }

    /// The forward transform of one operand as a network: what to compute for the padding this
    /// domain has. Input i is block i; F_j is output j.
    pub fn forward_network(&self) -> (Network, Vec<Val>) {
        let mut net = Network::new(self.domain.q);
        let input = net.inputs(&self.present());
        let output = self.transform.forward(&mut net, &input);
        (net, output)
    }

    /// The inverse transform as a network, unread outputs early-dropped: the outputs are the wanted
    /// blocks in order.
    pub fn inverse_network(&self) -> (Network, Vec<Val>) {
        let mut net = Network::new(self.domain.q);
        let input = net.inputs(&vec![true; self.count()]);
        let wanted = self.wanted();
        let output = self.transform.inverse_wanted(&mut net, &input, &wanted);
        let read = output.into_iter().zip(wanted).filter(|&(_, w)| w).map(|(v, _)| v).collect();
        (net, read)
    }

    fn transformed(&self, operand: &[u64]) -> Vec<Vec<u64>> {
        let mut exact = Exact::new(self.domain.q, self.width);
        let mut input = Vec::new();
        for (i, present) in self.present().into_iter().enumerate() {
            let end = operand.len().min((i + 1) * self.k);
            let block = operand.get(i * self.k..end).unwrap_or(&[]);
            input.push(if present { exact.input(block) } else { exact.zero() });
        }
        let output = self.transform.forward(&mut exact, &input);
        output.iter().map(|&v| exact.get(v).to_vec()).collect()
    }

    /// The scaled product, exactly.
    pub(crate) fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (q, length) = (self.domain.q, self.k * self.count());
        let (a, b) = (self.transformed(a), self.transformed(b));
        let mut exact = Exact::new(q, self.width);
        let mut products = Vec::new();
        for ((x, y), &weight) in a.iter().zip(&b).zip(&self.convolution.weights) {
            let product = self.convolution.method_for(weight).convolve(weight, x, y);
            products.push(exact.input(&product));
        }
        let blocks = self.transform.inverse_wanted(&mut exact, &products, &self.wanted());
        let mut sums = vec![0; length];
        for (i, &block) in blocks.iter().enumerate() {
            for (j, &c) in exact.get(block).iter().enumerate() {
                let at = (i * self.k + j) % length;
                sums[at] = zq::add(sums[at], c, q);
            }
        }
        sums.truncate(self.domain.wanted);
        sums
    }

    /// The operations on coefficients of one product.
    pub(crate) fn cost(&self) -> Cost {
        let (width, overlap) = (self.width as u64, (self.width - self.k) as u64);
        let forward = self.transform.forward_cost(&self.present()).times(2 * width);
        let inverse = self.transform.inverse_cost(&self.wanted()).times(width);
        let overlap = Cost { adds: overlap * self.count() as u64, ..Cost::default() };
        forward + inverse + self.convolution.total_cost() + overlap
    }

    /// The vector slots of one product, where blocks do not overlap.
    pub(crate) fn slots(&self, model: &Model) -> f64 {
        let (words, n) = (model.words(self.domain.q), self.count() as f64);
        let per_block = words.registers(self.k);
        let network = |cost: Cost| words.costs.scale * cost.scales as f64 + cost.adds as f64;
        let transforms = 2.0 * network(self.transform.forward_cost(&self.present()))
            + network(self.transform.inverse_cost(&self.wanted()));
        // Every phase loads and stores; what does not fit the registers does so again and again.
        let longest = longest_phase(self.transform.as_ref());
        let phases = if longest < self.count() { 2.0 } else { 1.0 };
        let spills = (longest as f64 / model.target.count as f64).log2().max(0.0);
        let memory = 3.0 * n * (phases + spills) * 2.0 * model.costs.memory;
        // Sums grow by a bit a level; a block is reduced when its word is full.
        let reductions = 3.0 * n * (n.log2() / words.room.max(0.5)).floor() * model.costs.reduce;
        let products = self.convolution.total_cost();
        let small = products.products as f64 / words.lanes * words.costs.product
            + (products.adds.saturating_sub(products.products)) as f64 / words.lanes
            + n * per_block * words.costs.narrow;
        per_block * (transforms + memory + reductions) + small
    }

    /// A method's node for people: its title, and the ring of the transformed blocks.
    pub(crate) fn tree(&self, node: &dyn Product, title: String, after: String) -> TreeNode {
        let mut transform = TreeNode::of_transform(self.transform.as_ref());
        transform.cost = self.transform.forward_cost(&self.present());
        transform.cost_of = "per forward transform of blocks, zeros skipped";
        TreeNode::of_product(node, (title, after), vec![transform, self.convolution.tree()])
    }
}

/// The length of the longer phase that a transform is lowered in: a split at the top makes two.
pub fn longest_phase(transform: &dyn Transform) -> usize {
    let children = transform.children().into_iter().map(|child| child.len());
    children.max().unwrap_or(transform.len())
}
