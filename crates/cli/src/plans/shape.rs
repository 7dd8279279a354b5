//! What the table says of a plan by its tree alone.

use ringforge_plan::{Levels, Plan, Product, Structure};

/// The moduli that a plan computes with: those that it changes to, or the ring's.
pub fn moduli(plan: &Plan) -> Vec<u64> {
    fn inside(node: &dyn Product) -> Option<Vec<u64>> {
        match node.structure() {
            Structure::Primes(change) => Some(change.moduli.clone()),
            Structure::Lifted(lift) => inside(lift.inner.as_ref()),
            Structure::Factors(crt) => inside(crt.main.as_ref()),
            _ => None,
        }
    }
    inside(plan.root.as_ref()).unwrap_or_else(|| vec![plan.ring.q()])
}

/// Lengths of transforms times sizes of base products, as far as the tree has them.
pub fn shape(node: &dyn Product) -> String {
    match node.structure() {
        Structure::Lifted(lift) => shape(lift.inner.as_ref()),
        Structure::Primes(change) => {
            let mut all: Vec<String> =
                change.inner.iter().map(|part| shape(part.as_ref())).collect();
            all.dedup();
            all.join(", ")
        }
        Structure::Factors(crt) => format!("{} + x^{}", shape(crt.main.as_ref()), crt.low_degree),
        Structure::Blocks(part) => format!("{} × {}", part.blocks(), part.k),
        Structure::Halves(ntt) => levels(ntt),
        Structure::Levels(transform) => levels(transform),
        Structure::Matrix(matrix) => format!("Toeplitz matrix of {}", matrix.size),
        _ => node.name().to_owned(),
    }
}

fn levels(transform: &dyn Levels) -> String {
    let degree = transform.degree();
    format!("{} × {degree}", transform.size() / degree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_say_their_moduli_and_lengths() {
        let say = |name: &str| {
            let plan = Plan::find(name).unwrap();
            (moduli(&plan), shape(plan.root.as_ref()))
        };
        assert_eq!(say("sntrup761"), (vec![4591], "90 × 16 + x^81".into()));
        assert_eq!(say("sntrup761-two-prime"), (vec![2017, 2113], "96 × 16".into()));
        assert_eq!(say("mlkem"), (vec![3329], "128 × 2".into()));
        let (moduli, shape) = say("ntruhps2048677-toom");
        assert_eq!((moduli, shape.as_str()), (vec![2048], "Toeplitz matrix of 720"));
    }
}
