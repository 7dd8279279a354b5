//! What a plan is expected to take, before anything is measured: vector slots per product.
//!
//! The unit is one instruction on one register of the target. What each step takes is its
//! description's; they order plans, and measurement decides [Chiu25 §4].
//!
//! Every method says its own ([`Product::slots`](crate::Product::slots)).

use crate::domain::word_bits;
use crate::network::Cost;
use ringforge_targets::{Costs, Target, WordCosts};

/// How wide the words are that arithmetic modulo m takes, and what operations on them take.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Coefficients in a register.
    pub lanes: f64,
    /// What operations take.
    pub costs: WordCosts,
    /// Bits above a centred residue.
    pub room: f64,
}

/// The model: a machine's description, and what follows from it.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The machine.
    pub target: &'a Target,
    /// What its operations take.
    pub costs: Costs,
}

impl Words {
    /// Registers that hold so many coefficients.
    pub fn registers(self, coefficients: usize) -> f64 {
        (coefficients as f64 / self.lanes).ceil()
    }
}

impl Model<'_> {
    /// The words of residues modulo m.
    pub fn words(&self, modulus: u64) -> Words {
        let bits = ((modulus / 2).max(1) as f64).log2();
        let width = word_bits(modulus);
        Words {
            lanes: self.lanes(width) as f64,
            costs: self.costs.words(width),
            room: f64::from(width - 1) - bits,
        }
    }

    /// Words of so many bits in a register.
    pub fn lanes(&self, width: u8) -> usize {
        self.target.registers.lanes(width)
    }

    /// Operations on coefficients modulo q, with nothing else known.
    pub fn by_count(&self, cost: Cost, q: u64) -> f64 {
        let (Cost { scales, adds, products }, words) = (cost, self.words(q));
        let all = words.costs.scale * scales as f64 + adds as f64 + 2.0 * products as f64;
        all / words.lanes
    }
}

#[cfg(test)]
mod tests {
    use crate::Plan;
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
