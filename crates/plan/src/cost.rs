//! What a plan is expected to take, before anything is measured: vector slots per product.
//!
//! The unit is one instruction on a register of sixteen 16-bit words; words of 32 bits fill a
//! register with eight. The numbers are those of AVX2 (multiplications by constants by Montgomery's
//! method, dot products of pairs); they order plans, and measurement decides [Chiu25 §4].

use crate::base::Base;
use crate::change_modulus::ChangeModulus;
use crate::domain::Modulus;
use crate::karatsuba::Karatsuba;
use crate::lift::Lift;
use crate::monomial_crt::MonomialCrt;
use crate::network::Cost;
use crate::ntt::Ntt;
use crate::plan::Plan;
use crate::product::Product;
use crate::schoolbook::Schoolbook;
use crate::smooth::longest_phase;
use crate::substitute::Substitute;
use crate::toeplitz_matrix::ToeplitzMatrix;
use crate::toeplitz_pair::ToeplitzPair;
use crate::toom_cook::ToomCook;

/// Coefficients in a register of 16-bit words.
const LANES: f64 = 16.0;
/// A load or a store.
const MEMORY: f64 = 1.0;
/// A store that has no arithmetic to hide behind.
const STORE: f64 = 2.0;
/// A product of variables in lanes, which half of the pipes do, and its sum.
const LANE_PRODUCT: f64 = 2.7;
/// A register of one word from each of sixteen rows, or back.
const TRANSPOSE: f64 = 7.0;
/// A reduction of one register.
const REDUCE: f64 = 3.0;

/// How wide the words are that arithmetic modulo m takes, and what operations on them take.
#[derive(Clone, Copy)]
struct Words {
    /// Coefficients in a register.
    lanes: f64,
    /// Multiplication of a register by constants.
    scale: f64,
    /// One register's worth of products of variables in a dot product, sums included.
    product: f64,
    /// What turns one register's worth of such sums into words again, transposes included.
    narrow: f64,
    /// Bits above a centred residue.
    room: f64,
}

impl Words {
    fn of(modulus: u64) -> Words {
        let bits = ((modulus / 2).max(1) as f64).log2();
        match modulus < 1 << 15 {
            true => {
                Words { lanes: LANES, scale: 4.0, product: 2.0, narrow: 14.0, room: 15.0 - bits }
            }
            false => Words {
                lanes: LANES / 2.0,
                scale: 12.0,
                product: 5.0,
                narrow: 16.0,
                room: 31.0 - bits,
            },
        }
    }

    fn registers(self, coefficients: usize) -> f64 {
        (coefficients as f64 / self.lanes).ceil()
    }
}

impl Plan {
    /// The vector slots that one product is expected to take, by a model of AVX2 code.
    ///
    /// ```
    /// use ringforge_plan::Plan;
    /// let [one, two] = ["sntrup761", "sntrup761-two-prime"].map(|name| Plan::find(name).unwrap());
    /// assert!(one.slots() < two.slots());
    /// ```
    pub fn slots(&self) -> f64 {
        slots(self.root.as_ref())
    }
}

fn slots(node: &dyn Product) -> f64 {
    let words = Words::of(node.domain().q);
    if let Some(lift) = node.as_method::<Lift>() {
        return slots(lift.inner.as_ref()) + reduction(lift);
    }
    if let Some(crt) = node.as_method::<MonomialCrt>() {
        let join = 3.0 * words.registers(node.domain().wanted);
        return slots(crt.main.as_ref()) + slots(crt.low.as_ref()) + join;
    }
    if let Some(change) = node.as_method::<ChangeModulus>() {
        return change_modulus(change);
    }
    if let Some(part) = node.as_method::<Substitute>() {
        return substitute(part);
    }
    if let Some(ntt) = node.as_method::<Ntt>() {
        return transform(ntt);
    }
    if node.as_method::<Schoolbook>().is_some()
        && matches!(node.domain().modulus, Modulus::Free { .. })
        && node.domain().q <= 1 << 16
    {
        return definition(node);
    }
    match node.as_method::<ToeplitzMatrix>() {
        Some(matrix) if node.domain().q.is_power_of_two() => matrix_slots(matrix.inner.as_ref()),
        _ => by_count(node.cost(), words),
    }
}

/// An unreduced product by its definition, in sums of words of 32 bits that are reduced where they would
/// not fit: a broadcast, a load, a low product, which takes two slots, and a sum for each term of eight
/// coefficients, a quarter of them with zeros.
fn definition(node: &dyn Product) -> f64 {
    let domain = node.domain();
    let n = domain.operand as f64;
    let largest = domain.bounds.iter().map(|&bound| bound as f64).product::<f64>();
    let fits = (f64::from(i32::MAX) / largest).floor();
    let round = if fits >= n { 8.0 } else { fits.clamp(1.0, 8.0) };
    let reduced = if fits >= n { 0.0 } else { 8.0 };
    1.25 * n * n / (LANES / 2.0) * (5.0 + (reduced + 2.0 * MEMORY) / round)
}

/// Operations on coefficients, with no structure known.
fn by_count(cost: Cost, words: Words) -> f64 {
    let Cost { scales, adds, products } = cost;
    let all = words.scale * scales as f64 + adds as f64 + 2.0 * products as f64;
    all / words.lanes
}

/// A Toeplitz product modulo a power of two: levels along the coefficients until products fill the lanes best,
/// the others on whole registers.
fn matrix_slots(matrix: &dyn Base) -> f64 {
    let (mut best, mut before, mut count, mut at) = (f64::INFINITY, 0.0, 1.0, matrix);
    loop {
        let size = at.size();
        // Matrix, vector and result, in pieces of eight columns.
        let transposed = 4.0 * (size.next_multiple_of(8) as f64) * TRANSPOSE;
        let groups = (count / LANES).ceil();
        best = f64::min(best, before + groups * (transposed + lane_slots(at)));
        let Some(level) = Level::of(at) else { return best };
        let columns = ((size / level.parts) as f64 / LANES).ceil();
        before += count * columns * level.column();
        count *= level.points;
        at = level.inner;
    }
}

/// A Toeplitz product in every lane.
fn lane_slots(at: &dyn Base) -> f64 {
    match Level::of(at) {
        None => at.cost().products as f64 * LANE_PRODUCT,
        Some(level) => {
            // The last level is done where the products are.
            let last = Level::of(level.inner).is_none();
            let column = if last { level.operations } else { level.column() };
            (at.size() / level.parts) as f64 * column + level.points * lane_slots(level.inner)
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
    /// Stores, likewise.
    stores: f64,
}

impl Level<'_> {
    fn of(base: &dyn Base) -> Option<Level<'_>> {
        let (inner, parts, points, stores) =
            match (base.as_method::<Karatsuba>(), base.as_method::<ToomCook>()) {
                // Differences of the diagonals, sums of the vector, the result.
                (Some(half), _) => (half.inner.as_ref(), 2, 3, 5),
                (_, Some(toom)) => {
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
    fn column(&self) -> f64 {
        self.operations + STORE * self.stores
    }
}

fn substitute(part: &Substitute) -> f64 {
    let words = Words::of(part.domain.q);
    let (present, wanted) = (part.present(), part.wanted());
    let per_block = words.registers(part.k);
    let network = |cost: Cost| words.scale * cost.scales as f64 + cost.adds as f64;
    let n = part.blocks() as f64;
    let transforms = 2.0 * network(part.transform.forward_cost(&present))
        + network(part.transform.inverse_cost(&wanted));
    // Every phase loads and stores; what does not fit the registers does so again and again.
    let longest = longest_phase(part.transform.as_ref());
    let phases = if longest < part.blocks() { 2.0 } else { 1.0 };
    let spills = (longest as f64 / 16.0).log2().max(0.0);
    let memory = 3.0 * n * (phases + spills) * 2.0 * MEMORY;
    // Sums grow by a bit a level; a block is reduced when its word is full.
    let reductions = 3.0 * n * (n.log2() / words.room.max(0.5)).floor() * REDUCE;
    let products = part.convolution.total_cost();
    let small = products.products as f64 / words.lanes * words.product
        + (products.adds.saturating_sub(products.products)) as f64 / words.lanes
        + n * per_block * words.narrow;
    per_block * (transforms + memory + reductions) + small
}

fn transform(ntt: &Ntt) -> f64 {
    let words = Words::of(ntt.domain.q);
    let registers = words.registers(ntt.len());
    let levels = f64::from(ntt.levels);
    // Half a multiplication and an addition per coefficient; the last levels lie within registers.
    let within = (words.lanes / ntt.degree() as f64).log2().max(0.0);
    let butterflies = registers * (levels * (words.scale / 2.0 + 1.0) + 3.0 * within);
    let memory = registers * (levels / 3.0).ceil() * 2.0 * MEMORY;
    let reductions = registers * (levels / words.room.max(0.5)).floor() * REDUCE;
    let products = ntt.convolution.total_cost().products as f64 / words.lanes;
    3.0 * (butterflies + memory + reductions)
        + registers * words.scale
        + products * (words.product + 2.0)
        + registers * words.narrow
}

fn change_modulus(change: &ChangeModulus) -> f64 {
    let (operand, wanted) = (change.domain.operand, change.domain.wanted);
    let k = change.moduli.len() as f64;
    let inner: f64 = change.inner.iter().map(|part| slots(part.as_ref())).sum();
    let enter = change.moduli.iter().map(|&p| {
        let words = Words::of(p);
        let wide = change.domain.bounds.iter().filter(|&&bound| bound > p / 2).count() as f64;
        words.registers(operand) * (wide * REDUCE + 4.0 * MEMORY)
    });
    // Garner's digits, then their sum modulo q.
    let words = change
        .moduli
        .iter()
        .map(|&p| Words::of(p))
        .fold(Words::of(3), |a, b| if b.lanes < a.lanes { b } else { a });
    let digits = k * (k - 1.0) / 2.0 * (words.scale + 1.0) + k * (words.scale + 1.0 + MEMORY);
    inner + enter.sum::<f64>() + words.registers(wanted) * (digits + REDUCE)
}

/// The reduction mod f at the end, and that of the coefficients.
fn reduction(lift: &Lift) -> f64 {
    let words = Words::of(lift.domain.q);
    let n = words.registers(lift.domain.wanted);
    let pair = lift.inner.as_method::<ToeplitzPair>();
    let terms = lift.reduction(1).filter(|_| pair.is_some());
    let terms = terms.and_then(|reduction| ToeplitzPair::steps(&reduction.ring));
    let fold = match (lift.folds, terms) {
        // Each for the quotient and for the remainder.
        (_, Some(terms)) => 2.0 * terms.len() as f64 * n * (2.0 + MEMORY),
        (Some(folds), None) if pair.is_none() => folds as f64 / words.lanes * (1.0 + MEMORY),
        _ => lift.products_of_constants() as f64 * slots(lift.inner.as_ref()),
    };
    fold + n * (2.0 * REDUCE + 2.0 * MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(ring: &str, tree: &str) -> Plan {
        Plan::parse(&format!("(plan p (ring \"{ring}\") {tree})")).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn orders_what_is_known() {
        // A transform beats the definition, short words beat long ones, sparse f beats dense f.
        let ring = "Z4591[x]/(x^761 - x - 1)";
        let direct = plan(ring, "(lift 1521 (schoolbook))").slots();
        let ours = Plan::find("sntrup761").unwrap_or_else(|e| panic!("{e}")).slots();
        assert!(ours * 5.0 < direct, "{ours} {direct}");
        let tree = "(lift 15 (substitute 16 (direct) (weighted-convolution (toeplitz))))";
        let sparse = plan("Z17[x]/(x^8 + 1)", tree).slots();
        let dense = plan("Z17[x]/(x^8 + x^7 + x^6 + x^5 + 1)", tree).slots();
        assert!(sparse < dense);
        let prime = |p: u64| {
            plan("Z17[x]/(x^8 + 1)", &format!("(change-modulus (prime {p} (schoolbook)))")).slots()
        };
        assert!(prime(7681) < prime(8380417));
        // Lanes that are full, and few products.
        let toom = |size: usize, tree: &str| {
            plan("Z2048[x]/(x^677 - 1)", &format!("(toeplitz-matrix {size} {tree})")).slots()
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
