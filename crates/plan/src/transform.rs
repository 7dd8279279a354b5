//! What every discrete Fourier transform of a plan has in common.

use crate::arith::{Arith, Exact, Val};
use crate::grid::Grid;
use crate::method::{DftSpec, Method};
use crate::network::{Cost, Network};
use crate::sexpr::Form;
use crate::steps::{self, Step};
use crate::unit::Unit;
use ringforge_ring::zq;
use std::any::Any;
use std::sync::Arc;

/// A shared transform.
pub type TransformRef = Arc<dyn Transform>;

/// A discrete Fourier transform of length n over Z_q on coefficient blocks, or the values at n
/// [other points](Transform::points).
///
/// With ω = [`root`](Transform::root), a principal n-th root of unity, and
/// s = [`scale`](Transform::scale):
/// - `forward`: f_0 … f_{n−1} in natural order → F_j = s·Σ_i ω^{ij} f_i at index j;
/// - `inverse`: F_j = Σ_i ω^{ij} f_i at index j → n·s·f_i at index i.
///
/// Padding that is a structural zero ([`Arith::is_zero`]) is skipped by the recorder.
pub trait Transform: Any + std::fmt::Debug + Send + Sync {
    /// The method's entry in the registry.
    fn method(&self) -> &'static Method;
    /// What it was built for.
    fn spec(&self) -> DftSpec;
    /// The word that opens this method in a plan text, `good-thomas`.
    fn name(&self) -> &'static str {
        self.method().name
    }
    /// n, the number of blocks in and out.
    fn len(&self) -> usize {
        self.spec().len
    }
    /// The modulus of the coefficients.
    fn q(&self) -> u64 {
        self.spec().q
    }
    /// ω, the principal n-th root of unity that this transform uses.
    fn root(&self) -> u64 {
        self.spec().root
    }
    /// s, in `[1, q)`: the forward transform leaves s·F_j.
    fn scale(&self) -> u64;
    /// The forward transform, of exactly `len()` blocks.
    fn forward(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val>;

    /// The inverse transform, by reflection unless a method knows better: the forward transform of
    /// F_0, F_{n−1}, …, F_1 is n·s·f [Chiu25 §2.4].
    fn inverse(&self, arith: &mut dyn Arith, input: &[Val]) -> Vec<Val> {
        let n = self.len();
        let reflected: Vec<Val> = (0..n).map(|i| input[(n - i) % n]).collect();
        self.forward(arith, &reflected)
    }

    /// The inverse where only the outputs marked in `wanted` (length `len()`) are read. The others
    /// may hold anything; a method may arrange its work so that dropping them saves most.
    fn inverse_wanted(&self, arith: &mut dyn Arith, input: &[Val], _wanted: &[bool]) -> Vec<Val> {
        self.inverse(arith, input)
    }

    /// What a product through both forward transforms and the inverse leaves.
    ///
    /// # Errors
    /// It has no inverse, so that nothing could take it out; the message says so.
    fn product_scale(&self) -> Result<Unit, String> {
        let q = self.q();
        let scale = zq::mul(zq::mul(self.scale(), self.scale(), q), self.inverse_scale(), q);
        Unit::new(scale, q).ok_or_else(|| {
            format!("({} …) leaves the scale {scale}, which has no inverse mod {q}", self.name())
        })
    }

    /// What the inverse leaves: `n·s mod q`.
    fn inverse_scale(&self) -> u64 {
        zq::mul(self.len() as u64, self.scale(), self.q())
    }

    /// The points t_j: F_j is s times the value Σ_i t_j^i f_i, and products are taken modulo
    /// ∏ (t − t_j). The powers of ω, unless a method says otherwise; one that does overrides the
    /// inverse too, for which reflection is no help.
    fn points(&self) -> Vec<u64> {
        (0..self.len() as u64).map(|j| zq::pow(self.root(), j, self.q())).collect()
    }

    /// The polynomial ∏ (t − t_j), for people.
    fn modulus(&self) -> String {
        format!("t^{} - 1", self.len())
    }

    /// What is left of that, for people.
    fn values(&self) -> String {
        format!("the {} products over t = {}^i", self.len(), self.root())
    }

    /// The forward transform in steps, where only the inputs marked in `present` can be nonzero: F_j
    /// is left at [`cells`](Transform::cells)`[j]`.
    fn forward_steps(&self, present: &[bool]) -> Vec<Step> {
        match self.axes() {
            Some(axes) => steps::forward_axes(self.q(), &axes, present),
            None => steps::forward_whole(self, present),
        }
    }

    /// The inverse in steps, from the cells of the forward transform to blocks in their order. Only
    /// the outputs marked in `wanted` are read.
    fn inverse_steps(&self, wanted: &[bool]) -> Vec<Step> {
        match self.axes() {
            Some(axes) => steps::inverse_axes(self.q(), &axes, wanted),
            None => steps::inverse_whole(self, wanted),
        }
    }

    /// Whether the steps are kept apart where this transform is the second axis of another.
    fn stepwise(&self) -> bool {
        false
    }

    /// The same transform with its second axis in steps of its own, if that axis is longer than
    /// `most` and has such steps. Blocks then lie in other cells between the steps, and at their
    /// end.
    fn by_steps(&self, _most: usize) -> Option<TransformRef> {
        None
    }

    /// The cell where the steps leave each F_j, in the order of j.
    fn cells(&self) -> Vec<usize> {
        match self.axes() {
            Some(axes) => steps::cells_of_axes(&axes),
            None => (0..self.len()).collect(),
        }
    }

    /// The transforms this one is made of, in the order of the plan text.
    fn children(&self) -> Vec<&dyn Transform> {
        Vec::new()
    }

    /// The two independent axes, where the method has them, for lowering in two phases.
    fn axes(&self) -> Option<Axes> {
        None
    }

    /// The two levels on a grid of blocks in order, if the method has them. Lowering uses it to put
    /// several blocks in a register.
    fn grid(&self) -> Option<Grid> {
        None
    }

    /// This node as plan text.
    fn to_form(&self) -> Form;
    /// One line for people: `Good–Thomas 10 × 9`.
    fn title(&self) -> String;
    /// Where the method is from: `[Chiu25 §2.3.1]`.
    fn citation(&self) -> &'static str {
        self.method().citation
    }

    /// Whether n = 0, which no transform is.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl dyn Transform {
    /// This transform as the concrete method `T`, if it is one.
    pub fn as_method<T: Transform>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The forward transform of exact blocks, all of one width.
    pub fn forward_exact(&self, input: &[Vec<u64>]) -> Vec<Vec<u64>> {
        run(self.q(), input, |arith, values| self.forward(arith, values))
    }

    /// The inverse transform of exact blocks, all of one width.
    pub fn inverse_exact(&self, input: &[Vec<u64>]) -> Vec<Vec<u64>> {
        run(self.q(), input, |arith, values| self.inverse(arith, values))
    }

    /// The operations (on blocks) of the forward transform when only the inputs marked in `present`
    /// can be nonzero.
    pub fn forward_cost(&self, present: &[bool]) -> Cost {
        let mut net = Network::new(self.q());
        let input = net.inputs(present);
        let output = self.forward(&mut net, &input);
        net.cost(&output)
    }

    /// The operations (on blocks) of the inverse transform when only the outputs marked in `wanted`
    /// are read.
    pub fn inverse_cost(&self, wanted: &[bool]) -> Cost {
        let mut net = Network::new(self.q());
        let input = net.inputs(&vec![true; self.len()]);
        let output = self.inverse_wanted(&mut net, &input, wanted);
        let read: Vec<Val> =
            output.iter().zip(wanted).filter(|&(_, &w)| w).map(|(&v, _)| v).collect();
        net.cost(&read)
    }
}

fn run(
    q: u64,
    input: &[Vec<u64>],
    transform: impl FnOnce(&mut dyn Arith, &[Val]) -> Vec<Val>,
) -> Vec<Vec<u64>> {
    let width = input.iter().map(Vec::len).max().unwrap_or(0);
    let mut exact = Exact::new(q, width);
    let values: Vec<Val> = input.iter().map(|block| exact.input(block)).collect();
    let output = transform(&mut exact, &values);
    output.iter().map(|&v| exact.get(v).to_vec()).collect()
}

/// A transform that is a rectangle of two independent transforms. Block i goes in at cell
/// `input[i]` and F_j comes out at cell `output[j]`; cells are (row, column).
///
/// Forward: transform every column by `rows` (length R, the first argument), then every row by
/// `columns` (length C). Inverse: rows first, then columns.
#[derive(Clone, Debug)]
pub struct Axes {
    /// The transform of length R that runs down each of the C columns; the first one forward.
    pub rows: TransformRef,
    /// The transform of length C that runs along each of the R rows; the first one backward.
    pub columns: TransformRef,
    /// For each input index its (row, column).
    pub input: Vec<(usize, usize)>,
    /// For each output index its (row, column).
    pub output: Vec<(usize, usize)>,
}
