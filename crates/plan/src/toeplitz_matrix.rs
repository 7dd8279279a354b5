//! A product mod x^n − w as one Toeplitz matrix–vector product [Winograd80 §IV]. Column j of the
//! matrix is b·x^j mod x^n − w, so the reduction mod f is not a separate step.
//!
//! The matrix is N × N with N ≥ n; its diagonals are `w·b_1, …, w·b_{n−1}, b_0, …, b_{n−1}` in the
//! middle and zeros beyond. Scale 1, no condition on q.

use crate::base::{Base, BaseRef, BaseSpec, Shape, weighted_diagonals};
use crate::cost::Model;
use crate::domain::Domain;
use crate::error::Refusal;
use crate::method::{Arguments, Build, Method};
use crate::network::Cost;
use crate::product::{Product, ProductRef};
use crate::sexpr::Form;
use crate::stages::{Inside, Stages};
use crate::tree::TreeNode;
use ringforge_targets::Costs;
use std::sync::Arc;

/// Registry entry.
pub const METHOD: Method = Method {
    name: "toeplitz-matrix",
    usage: "(toeplitz-matrix N SMALL)",
    summary: "A product mod x^n - w as one N × N Toeplitz matrix times a vector, N ≥ n.",
    citation: "[Winograd80 §IV]",
    build: Build::Product(build),
};

/// The whole product as one Toeplitz product.
#[derive(Clone, Debug)]
pub struct ToeplitzMatrix {
    domain: Domain,
    /// n, the degree of the modulus.
    pub degree: usize,
    /// w, in `[0, q)`.
    pub weight: u64,
    /// N, the size of the matrix.
    pub size: usize,
    /// The Toeplitz product.
    pub inner: BaseRef,
}

fn build(arguments: &mut Arguments, domain: &Domain) -> Result<ProductRef, Refusal> {
    let size = arguments.number("the size N of the matrix")?;
    let at = arguments.last_at();
    let Some((degree, weight)) = domain.binomial() else {
        let message = format!("toeplitz-matrix needs a modulus x^n - w, not {domain}");
        return Err(arguments.refuse(message).instead("`lift` to a longer product first"));
    };
    if size < degree {
        let message = format!("a matrix of size {size} is too small for {degree} coefficients");
        return Err(Refusal::new(at, message).instead(format!("{degree} or more")));
    }
    let inner = arguments.base(&BaseSpec { q: domain.q, size, shape: Shape::Toeplitz })?;
    Ok(Arc::new(ToeplitzMatrix { domain: domain.clone(), degree, weight, size, inner }))
}

impl Product for ToeplitzMatrix {
    fn method(&self) -> &'static Method {
        &METHOD
    }
    fn domain(&self) -> &Domain {
        &self.domain
    }
    fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (n, size, q) = (self.degree, self.size, self.domain.q);
        let padded = |v: &[u64], length: usize| {
            let mut v = v.to_vec();
            v.resize(length, 0);
            v
        };
        let mut t = vec![0; size - n];
        t.extend(weighted_diagonals(q, self.weight, &padded(b, n)));
        let c = self.inner.toeplitz(&padded(&t, 2 * size - 1), &padded(a, size));
        padded(&c[..n], self.domain.wanted)
    }
    fn stages(&self) -> Stages<'_> {
        Stages::Matrix(self)
    }
    fn shape(&self) -> String {
        format!("Toeplitz matrix of {}", self.size)
    }
    fn slots(&self, model: &Model) -> f64 {
        match self.domain.q.is_power_of_two() {
            true => matrix_slots(self.inner.as_ref(), model),
            false => model.by_count(self.cost(), self.domain.q),
        }
    }
    fn cost(&self) -> Cost {
        let weighted = if matches!(self.weight, 0 | 1) { 0 } else { self.degree as u64 - 1 };
        self.inner.cost() + Cost { scales: weighted, ..Cost::default() }
    }
    fn tree(&self) -> TreeNode {
        let title = format!("Toeplitz matrix {0} × {0} times vector", self.size);
        TreeNode::of_product(self, (title, ""), vec![self.inner.tree()])
    }
    fn to_form(&self) -> Form {
        Form::list(METHOD.name, [Form::word(self.size), self.inner.to_form()])
    }
}

/// A Toeplitz product modulo a power of two: levels along the coefficients until products fill the lanes best,
/// the others on whole registers.
fn matrix_slots(matrix: &dyn Base, model: &Model) -> f64 {
    let (registers, costs) = (model.target.registers, &model.costs);
    let lanes = model.lanes(16) as f64;
    let (mut best, mut before, mut count, mut at) = (f64::INFINITY, 0.0, 1.0, matrix);
    loop {
        let size = at.size();
        // Matrix, vector and result, in pieces of as many columns as a part has words.
        let piece = registers.part_lanes(16);
        let transposed = 4.0 * (size.next_multiple_of(piece) as f64) * costs.transpose;
        let groups = (count / lanes).ceil();
        best = f64::min(best, before + groups * (transposed + lane_slots(at, costs)));
        let Some(level) = Level::of(at) else {
            // Rows of dot products, where they fill registers.
            let whole = size.is_multiple_of(model.lanes(16));
            let row = costs.row_product.filter(|_| whole).unwrap_or(f64::INFINITY);
            return best.min(before + count * (size * size) as f64 * row);
        };
        let columns = ((size / level.parts) as f64 / lanes).ceil();
        before += count * columns * level.column(costs);
        count *= level.points;
        at = level.inner;
    }
}

/// A Toeplitz product in every lane.
fn lane_slots(at: &dyn Base, costs: &Costs) -> f64 {
    match Level::of(at) {
        None => at.cost().products as f64 * costs.lane_product,
        Some(level) => {
            // The last level is done where the products are.
            let last = Level::of(level.inner).is_none();
            let column = if last { level.operations } else { level.column(costs) };
            (at.size() / level.parts) as f64 * column
                + level.points * lane_slots(level.inner, costs)
        }
    }
}

/// A level of a Toeplitz product.
struct Level<'a> {
    inner: &'a dyn Base,
    /// Parts of a vector.
    parts: usize,
    /// Products.
    points: f64,
    /// Operations for one word of every block.
    operations: f64,
    /// Stores for one word of every block.
    stores: f64,
}

impl Level<'_> {
    fn of(base: &dyn Base) -> Option<Level<'_>> {
        let (inner, parts, points, stores) = match base.inside() {
            // Differences of the diagonals, sums of the vector, the result.
            Inside::Karatsuba(half) => (half.as_ref(), 2, 3, 5),
            Inside::ToomCook(toom) => {
                let (parts, points) = (toom.parts(), toom.points());
                (toom.inner.as_ref(), parts, points, 3 * points + parts)
            }
            _ => return None,
        };
        let (whole, part) = (base.cost(), inner.cost());
        let linear =
            (whole.adds + whole.scales).saturating_sub(points as u64 * (part.adds + part.scales));
        let operations = linear as f64 / (base.size() / parts) as f64;
        Some(Level { inner, parts, points: points as f64, operations, stores: stores as f64 })
    }

    /// Slots for one word of every block.
    fn column(&self, costs: &Costs) -> f64 {
        self.operations + costs.store * self.stores
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;

    fn check(ring: &str, tree: &str) -> Plan {
        let plan = Plan::parse(&format!("(plan p (ring \"{ring}\") {tree})"))
            .unwrap_or_else(|e| panic!("{e}"));
        plan.check().unwrap_or_else(|e| panic!("{e}"));
        let (n, q) = (plan.ring.degree() as i64, plan.ring.q() as i64);
        let worst = |_: i64| -q / 2;
        let mixed = |i: i64| (i * i * 37 + 11 * i) % q - q / 2;
        let one = |i: i64| i64::from(i == n - 1);
        let operands: [&dyn Fn(i64) -> i64; 3] = [&worst, &mixed, &one];
        for a in operands {
            for b in operands {
                let (a, b): (Vec<i64>, Vec<i64>) = (0..n).map(|i| (a(i), b(i))).unzip();
                assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b), "{ring} {tree}");
            }
        }
        plan
    }

    #[test]
    fn is_the_product_of_the_ring() {
        check("Z2048[x]/(x^13 - 1)", "(toeplitz-matrix 16 (toom-cook 4 (karatsuba (toeplitz))))");
        check("Z8192[x]/(x^16 + 1)", "(toeplitz-matrix 16 (toom-cook 4 (karatsuba (toeplitz))))");
        check("Z4591[x]/(x^8 - 5)", "(toeplitz-matrix 8 (karatsuba (toeplitz)))");
        check("Z6[x]/(x^5 + 1)", "(toeplitz-matrix 5 (toeplitz))");
    }

    #[test]
    fn refuses_other_moduli_and_small_matrices() {
        let refusal = |ring: &str, tree: &str| {
            Plan::parse(&format!("(plan p (ring \"{ring}\") {tree})")).expect_err(tree).message
        };
        let message = refusal("Z2048[x]/(x^5 - x - 1)", "(toeplitz-matrix 8 (toeplitz))");
        assert!(message.contains("needs a modulus x^n - w"), "{message}");
        let message = refusal("Z2048[x]/(x^13 - 1)", "(toeplitz-matrix 12 (toeplitz))");
        assert_eq!(message, "a matrix of size 12 is too small for 13 coefficients");
    }
}
