//! The plan for a ring that nobody wrote one for.

use crate::ntt::most_levels;
use crate::plan::Plan;
use ringforge_ring::{Ring, zq};

/// No plan is known for a ring.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no plan is known for {ring}: {why}; {would_work}")]
pub struct NoPlan {
    /// The ring.
    pub ring: String,
    /// What is missing.
    pub why: String,
    /// What would work.
    pub would_work: String,
}

impl Plan {
    /// A plan for x^n + 1 over a prime field: the transform that q's roots allow, incomplete where
    /// they end or where products of pairs cost less than another level.
    ///
    /// ```
    /// use ringforge_plan::{Levels as _, Ntt, Plan};
    /// use ringforge_ring::Ring;
    /// let ring = Ring::parse("Z7681[x]/(x^1024 + 1)").unwrap();
    /// let plan = Plan::automatic(&ring, "mine").unwrap();
    /// assert_eq!(plan.root.as_method::<Ntt>().unwrap().degree(), 4); // 7680 = 2^9·15
    /// ```
    ///
    /// # Errors
    /// [`NoPlan`] for another f, a composite q, or a q that splits x^n + 1 nowhere.
    pub fn automatic(ring: &Ring, name: &str) -> Result<Plan, NoPlan> {
        let (n, q) = (ring.degree(), ring.q());
        let refuse = |why: String, would_work: &str| {
            Err(NoPlan { ring: ring.to_string(), why, would_work: would_work.into() })
        };
        let f = ring.modulus();
        if f[0] != 1 || f[1..n].iter().any(|&c| c != 0) {
            return refuse(
                "f is not x^n + 1".into(),
                "write a plan: docs/developers/add-a-ring.md",
            );
        }
        if !zq::is_prime(q) {
            let why = format!("q = {} is not prime", zq::factored(q));
            return refuse(why, "write a plan that lifts: docs/developers/add-a-ring.md");
        }
        let most = most_levels(n, q);
        if most == 0 {
            let why = format!(
                "x^{n} + 1 splits into halves nowhere mod {q} (n = {}, q - 1 = {})",
                zq::factored(n as u64),
                zq::factored(q - 1)
            );
            return refuse(why, "an even n and q with 4 dividing q - 1");
        }
        // Dot products of pairs of words cost less than the last level and its shuffles; words of
        // 32 bits have no such product.
        let complete = n >> most == 1;
        let levels =
            if complete && crate::domain::word_bits(q) == 16 && most > 1 { most - 1 } else { most };
        let text = format!(
            "(plan {name} (cite Seiler18) (ring \"{ring}\") (ntt {levels} (forward cooley-tukey) \
             (inverse cooley-tukey) (weighted-convolution (toeplitz))))"
        );
        Plan::parse(&text)
            .or_else(|e| refuse(e.message, "write a plan: docs/developers/add-a-ring.md"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplies_wherever_there_is_a_root() {
        for text in ["Z17[x]/(x^16 + 1)", "Z3329[x]/(x^32 + 1)", "Z13[x]/(x^12 + 1)"] {
            let ring = Ring::parse(text).expect("ring");
            let plan = Plan::automatic(&ring, "auto").unwrap_or_else(|e| panic!("{e}"));
            let n = ring.degree() as i64;
            let (a, b): (Vec<i64>, Vec<i64>) = (0..n).map(|i| (i * i + 3, 5 - 7 * i)).unzip();
            assert_eq!(plan.multiply(&a, &b), ring.mul(&a, &b), "{text}");
        }
    }

    #[test]
    fn says_what_is_missing() {
        let why = |text: &str| {
            let ring = Ring::parse(text).expect("ring");
            Plan::automatic(&ring, "auto").expect_err("refused").to_string()
        };
        assert!(why("Z4591[x]/(x^256 + 1)").contains("splits into halves nowhere mod 4591"));
        assert!(why("Z3329[x]/(x^256 - 1)").contains("f is not x^n + 1"));
        assert!(why("Z3328[x]/(x^256 + 1)").contains("is not prime"));
    }
}
