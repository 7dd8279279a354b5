//! What a plan is expected to take, before anything is measured: vector slots per product.
//!
//! The unit is one instruction on one register of the target. What each step takes is its
//! description's; they order plans, and measurement decides [Chiu25 §4].

use crate::base::Base;
use crate::change_modulus::ChangeModulus;
use crate::domain::{Modulus, word_bits};
use crate::levels::Levels;
use crate::lift::{LONG_BITS, Lift};
use crate::network::Cost;
use crate::plain::Plain;
use crate::plan::Plan;
use crate::product::Product;
use crate::smooth::longest_phase;
use crate::structure::{Inside, Structure};
use crate::substitute::Substitute;
use crate::toeplitz_pair::ToeplitzPair;
use ringforge_targets::{Costs, Target, WordCosts};

/// How wide the words are that arithmetic modulo m takes, and what operations on them take.
#[derive(Clone, Copy)]
struct Words {
    /// Coefficients in a register.
    lanes: f64,
    /// What operations take.
    costs: WordCosts,
    /// Bits above a centred residue.
    room: f64,
}

/// The model: a machine's description, and what follows from it.
struct Model<'a> {
    target: &'a Target,
    costs: Costs,
}

impl Words {
    fn registers(self, coefficients: usize) -> f64 {
        (coefficients as f64 / self.lanes).ceil()
    }
}

impl Plan {
    /// The vector slots that one product is expected to take on a target, by a model.
    ///
    /// ```
    /// use ringforge_plan::Plan;
    /// use ringforge_targets::AVX2;
    /// let [one, two] = ["sntrup761", "sntrup761-two-prime"].map(|name| Plan::find(name).unwrap());
    /// assert!(one.slots(&AVX2) < two.slots(&AVX2));
    /// ```
    pub fn slots(&self, target: &Target) -> f64 {
        Model { target, costs: target.costs }.slots(self.root.as_ref())
    }
}

impl Model<'_> {
    fn words(&self, modulus: u64) -> Words {
        let bits = ((modulus / 2).max(1) as f64).log2();
        let width = word_bits(modulus);
        Words {
            lanes: self.lanes(width),
            costs: self.costs.words(width),
            room: f64::from(width - 1) - bits,
        }
    }

    fn lanes(&self, width: u8) -> f64 {
        self.target.registers.lanes(width) as f64
    }

    fn slots(&self, node: &dyn Product) -> f64 {
        let words = self.words(node.domain().q);
        let domain = node.domain();
        match node.structure() {
            Structure::Lifted(lift) => self.slots(lift.inner.as_ref()) + self.reduction(lift),
            Structure::Factors(crt) => {
                let join = 3.0 * words.registers(domain.wanted);
                self.slots(crt.main.as_ref()) + self.slots(crt.low.as_ref()) + join
            }
            Structure::Primes(change) => self.change_modulus(change),
            Structure::Blocks(part) => self.substitute(part),
            Structure::Halves(ntt) => self.transform(ntt, ntt.domain.q),
            Structure::Levels(levels) => self.transform(levels, node.domain().q),
            Structure::Definition
                if matches!(domain.modulus, Modulus::Free { .. }) && domain.q <= 1 << 16 =>
            {
                self.definition(node)
            }
            Structure::Matrix(matrix) if domain.q.is_power_of_two() => {
                self.matrix_slots(matrix.inner.as_ref())
            }
            Structure::Plain(plain) => self.plain(plain),
            Structure::Matrix(_)
            | Structure::Matrices(_)
            | Structure::Definition
            | Structure::Bordered(_)
            | Structure::Rotations(_) => Self::by_count(node.cost(), words),
        }
    }

    /// An unreduced schoolbook product. Without 64-bit sums it adds in 32 bits and reduces sums
    /// that would not fit. Each term of a register of coefficients takes a broadcast, a load, a low
    /// product and an addition. Terms with padding zeros add a quarter.
    fn definition(&self, node: &dyn Product) -> f64 {
        let domain = node.domain();
        let n = domain.operand as f64;
        let largest = domain.bounds.iter().map(|&bound| bound as f64).product::<f64>();
        let fits = (f64::from(i32::MAX) / largest).floor();
        if self.target.sums == LONG_BITS {
            // Whole sums: pairs of words by one instruction, words that wrap, or each product extended twice.
            let loads = 2.0 * self.costs.memory;
            let each = match () {
                () if domain.q.is_power_of_two() => loads + self.costs.store + 2.0 * self.costs.add,
                () if fits >= n => loads + 2.0 * self.costs.add,
                () => loads + 12.0 * self.costs.add,
            };
            return 1.1 * n * n / self.lanes(16) * each;
        }
        let round = if fits >= n { 8.0 } else { fits.clamp(1.0, 8.0) };
        let reduced = if fits >= n { 0.0 } else { 8.0 };
        1.25 * n * n / (self.lanes(32))
            * (2.0 * self.costs.memory
                + self.costs.long_low
                + self.costs.add
                + (reduced + 2.0 * self.costs.memory) / round)
    }

    /// Loops that a compiler turns into vectors: two loads, a product of pairs and a sum; more where sums need words of
    /// 64 bits.
    fn plain(&self, plain: &Plain) -> f64 {
        let domain = &plain.domain;
        let largest = domain.bounds.iter().map(|&bound| bound as f64).product::<f64>();
        let short =
            domain.q.is_power_of_two() || largest * domain.operand as f64 <= f64::from(i32::MAX);
        let each = 2.0 * self.costs.memory + if short { 2.0 } else { 12.0 } * self.costs.add;
        1.2 * plain.cost().products as f64 / self.lanes(16) * each
    }

    /// Operations on coefficients, with no structure known.
    fn by_count(cost: Cost, words: Words) -> f64 {
        let Cost { scales, adds, products } = cost;
        let all = words.costs.scale * scales as f64 + adds as f64 + 2.0 * products as f64;
        all / words.lanes
    }

    /// A Toeplitz product modulo a power of two: levels along the coefficients until products fill the lanes best,
    /// the others on whole registers.
    fn matrix_slots(&self, matrix: &dyn Base) -> f64 {
        let (mut best, mut before, mut count, mut at) = (f64::INFINITY, 0.0, 1.0, matrix);
        loop {
            let size = at.size();
            // Matrix, vector and result, in pieces of as many columns as a part has words.
            let piece = self.target.registers.part_lanes(16);
            let transposed = 4.0 * (size.next_multiple_of(piece) as f64) * self.costs.transpose;
            let groups = (count / self.lanes(16)).ceil();
            best = f64::min(best, before + groups * (transposed + self.lane_slots(at)));
            let Some(level) = Level::of(at) else {
                // Rows of dot products, where they fill registers.
                let whole = size.is_multiple_of(self.lanes(16) as usize);
                let row = self.costs.row_product.filter(|_| whole).unwrap_or(f64::INFINITY);
                return best.min(before + count * (size * size) as f64 * row);
            };
            let columns = ((size / level.parts) as f64 / self.lanes(16)).ceil();
            before += count * columns * level.column(&self.costs);
            count *= level.points;
            at = level.inner;
        }
    }

    /// A Toeplitz product in every lane.
    fn lane_slots(&self, at: &dyn Base) -> f64 {
        match Level::of(at) {
            None => at.cost().products as f64 * self.costs.lane_product,
            Some(level) => {
                // The last level is done where the products are.
                let last = Level::of(level.inner).is_none();
                let column = if last { level.operations } else { level.column(&self.costs) };
                (at.size() / level.parts) as f64 * column
                    + level.points * self.lane_slots(level.inner)
            }
        }
    }

    fn substitute(&self, part: &Substitute) -> f64 {
        let words = self.words(part.domain.q);
        let (present, wanted) = (part.present(), part.wanted());
        let per_block = words.registers(part.k);
        let network = |cost: Cost| words.costs.scale * cost.scales as f64 + cost.adds as f64;
        let n = part.blocks() as f64;
        let transforms = 2.0 * network(part.transform.forward_cost(&present))
            + network(part.transform.inverse_cost(&wanted));
        // Every phase loads and stores; what does not fit the registers does so again and again.
        let longest = longest_phase(part.transform.as_ref());
        let phases = if longest < part.blocks() { 2.0 } else { 1.0 };
        let spills = (longest as f64 / self.target.count as f64).log2().max(0.0);
        let memory = 3.0 * n * (phases + spills) * 2.0 * self.costs.memory;
        // Sums grow by a bit a level; a block is reduced when its word is full.
        let reductions = 3.0 * n * (n.log2() / words.room.max(0.5)).floor() * self.costs.reduce;
        let products = part.convolution.total_cost();
        let small = products.products as f64 / words.lanes * words.costs.product
            + (products.adds.saturating_sub(products.products)) as f64 / words.lanes
            + n * per_block * words.costs.narrow;
        per_block * (transforms + memory + reductions) + small
    }

    fn transform(&self, ntt: &dyn Levels, q: u64) -> f64 {
        let words = self.words(q);
        let registers = words.registers(ntt.size());
        // A level in three is one and a half in two.
        let levels = ((ntt.size() / ntt.degree()) as f64).log2();
        // Half a multiplication and an addition per coefficient; the last levels lie within registers.
        let within = (words.lanes / ntt.degree() as f64).log2().max(0.0);
        let butterflies = registers
            * (levels * (words.costs.scale / 2.0 + self.costs.add) + words.costs.shuffle * within);
        let memory = registers * (levels / 3.0).ceil() * 2.0 * self.costs.memory;
        let reductions = registers * (levels / words.room.max(0.5)).floor() * self.costs.reduce;
        let products = ntt.products().total_cost().products as f64 / words.lanes;
        3.0 * (butterflies + memory + reductions)
            + registers * words.costs.scale
            + products * (words.costs.product + 2.0)
            + registers * words.costs.narrow
    }

    fn change_modulus(&self, change: &ChangeModulus) -> f64 {
        let (operand, wanted) = (change.domain.operand, change.domain.wanted);
        let k = change.moduli.len() as f64;
        let inner: f64 = change.inner.iter().map(|part| self.slots(part.as_ref())).sum();
        let enter = change.moduli.iter().map(|&p| {
            let words = self.words(p);
            let wide = change.domain.bounds.iter().filter(|&&bound| bound > p / 2).count() as f64;
            words.registers(operand) * (wide * self.costs.reduce + 4.0 * self.costs.memory)
        });
        // Garner's digits, then their sum modulo q.
        let words = change
            .moduli
            .iter()
            .map(|&p| self.words(p))
            .fold(self.words(3), |a, b| if b.lanes < a.lanes { b } else { a });
        let digits = k * (k - 1.0) / 2.0 * (words.costs.scale + 1.0)
            + k * (words.costs.scale + 1.0 + self.costs.memory);
        inner + enter.sum::<f64>() + words.registers(wanted) * (digits + self.costs.reduce)
    }

    /// The reduction mod f at the end, and that of the coefficients.
    fn reduction(&self, lift: &Lift) -> f64 {
        let words = self.words(lift.domain.q);
        let n = words.registers(lift.domain.wanted);
        let pair = matches!(lift.inner.structure(), Structure::Matrices(_));
        let terms = lift.reduction(1).filter(|_| pair);
        let terms = terms.and_then(|reduction| {
            ToeplitzPair::steps(&reduction.ring, self.target.registers.lanes(16))
        });
        let fold = match (lift.folds, terms) {
            // Each for the quotient and for the remainder.
            (_, Some(terms)) => 2.0 * terms.len() as f64 * n * (2.0 + self.costs.memory),
            (Some(folds), None) if !pair => folds as f64 / words.lanes * (1.0 + self.costs.memory),
            (None, None) if lift.has_matrix(self.target) => self.definition(lift.inner.as_ref()),
            _ => lift.products_of_constants() as f64 * self.slots(lift.inner.as_ref()),
        };
        fold + n * (2.0 * self.costs.reduce + 2.0 * self.costs.memory)
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
    use super::*;
    use ringforge_targets::AVX2;

    fn plan(ring: &str, tree: &str) -> Plan {
        Plan::parse(&format!("(plan p (ring \"{ring}\") {tree})")).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn orders_what_is_known() {
        // A transform beats the definition, short words beat long ones, sparse f beats dense f.
        let ring = "Z4591[x]/(x^761 - x - 1)";
        let direct = plan(ring, "(lift 1521 (schoolbook))").slots(&AVX2);
        let ours = Plan::find("sntrup761").unwrap_or_else(|e| panic!("{e}")).slots(&AVX2);
        assert!(ours * 5.0 < direct, "{ours} {direct}");
        let tree = "(lift 15 (substitute 16 (direct) (weighted-convolution (toeplitz))))";
        let sparse = plan("Z17[x]/(x^8 + 1)", tree).slots(&AVX2);
        let dense = plan("Z17[x]/(x^8 + x^7 + x^6 + x^5 + 1)", tree).slots(&AVX2);
        assert!(sparse < dense);
        let prime = |p: u64| {
            plan("Z17[x]/(x^8 + 1)", &format!("(change-modulus (prime {p} (schoolbook)))"))
                .slots(&AVX2)
        };
        assert!(prime(7681) < prime(8380417));
        // Lanes that are full, and few products.
        let toom = |size: usize, tree: &str| {
            plan("Z2048[x]/(x^677 - 1)", &format!("(toeplitz-matrix {size} {tree})")).slots(&AVX2)
        };
        let [k2, k3, k4] = [2, 3, 4].map(|levels| {
            (0..levels).fold("(toeplitz)".to_string(), |inner, _| format!("(karatsuba {inner})"))
        });
        let best = toom(720, &format!("(toom-cook 5 (toom-cook 3 {k3}))"));
        assert!(best < toom(720, &format!("(toom-cook 5 (toom-cook 3 {k2}))")));
        assert!(best < toom(704, &format!("(toom-cook 4 {k4})")));
        assert!(best < toom(720, &format!("(toom-cook 5 {k4})")));
    }
}
