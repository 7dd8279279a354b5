//! What the outputs should be as polynomials in the inputs, of every kind but a product.

use crate::computes::{Computes, Transform};
use crate::contract::Contract;

/// A product of at most two inputs; 0 is the empty one. Each input is a nonzero number of 32 bits,
/// the greater one in the upper half.
pub type Monomial = u64;

/// A polynomial: monomials in increasing order with their coefficients in `[1, q)`.
pub type Polynomial = Vec<(Monomial, u32)>;

/// Element `index` of operand `operand`, alone.
pub fn linear(operand: usize, index: usize) -> Monomial {
    ((operand as u64) << 24 | (index as u64 + 1)) << 32
}

/// The product of two monomials; [`None`] if it has more than two factors.
pub fn times(x: Monomial, y: Monomial) -> Option<Monomial> {
    if x == 0 || y == 0 {
        return Some(x | y);
    }
    if (x | y) & 0xffff_ffff != 0 {
        return None;
    }
    let (x, y) = (x >> 32, y >> 32);
    Some(x.max(y) << 32 | x.min(y))
}

/// The monomial of elements `by` places further on.
fn moved(m: Monomial, by: usize) -> Monomial {
    let by = by as u64;
    m + (if m == 0 { 0 } else { by << 32 }) + if m & 0xffff_ffff == 0 { 0 } else { by }
}

/// The factors of a monomial as (operand, index), by operand.
pub fn factors(m: Monomial) -> Vec<(usize, usize)> {
    let one = |x: u64| (x != 0).then(|| ((x >> 24) as usize, (x & 0xff_ffff) as usize - 1));
    one(m & 0xffff_ffff).into_iter().chain(one(m >> 32)).collect()
}

/// The outputs that a contract asks for.
pub struct Terms<'c> {
    q: u64,
    n: usize,
    computes: Computes,
    transform: Option<&'c Transform>,
    pairs: usize,
    positions: Vec<usize>,
    lagrange: Vec<Vec<u64>>,
    /// The operand that holds the initial value of what is accumulated.
    old: usize,
}

impl<'c> Terms<'c> {
    /// Prepares; `tie` is the operand that shares memory with what is accumulated, if one does.
    /// [`None`] for products.
    pub fn new(contract: &'c Contract, tie: Option<usize>) -> Option<Self> {
        if contract.computes == Computes::Product {
            return None;
        }
        let transform = contract.transform.as_ref();
        let q = contract.ring.q();
        let lagrange = match contract.computes {
            Computes::Inverse { .. } => transform?.lagrange(q)?,
            _ => Vec::new(),
        };
        Some(Terms {
            q,
            n: contract.ring.degree(),
            computes: contract.computes,
            transform,
            pairs: contract.pairs,
            positions: transform.map(Transform::positions).unwrap_or_default(),
            lagrange,
            old: tie.unwrap_or(0),
        })
    }

    /// Output `k`.
    pub fn output(&self, k: usize) -> Polynomial {
        let place = k % self.n;
        let terms = self.element(place);
        terms.into_iter().map(|(m, c)| (moved(m, k - place), c)).collect()
    }

    /// Output `k` of the first element of the ring.
    fn element(&self, k: usize) -> Polynomial {
        let q = self.q;
        if let Computes::Scale { scale } = self.computes {
            return vec![(linear(0, k), scale as u32)];
        }
        let Some(transform) = self.transform else { return Polynomial::new() };
        let (d, order) = (transform.degree, &transform.order);
        let mut terms: Vec<(Monomial, u64)> = Vec::new();
        match self.computes {
            Computes::Product | Computes::Scale { .. } => {}
            Computes::Forward { scale } => {
                // a_(r + dt)·x^(r + dt) = a_(r + dt)·w^t·x^r
                let (w, r) = (transform.weights[order[k] / d], order[k] % d);
                let mut power = scale;
                for i in (r..order.len()).step_by(d) {
                    terms.push((linear(0, i), power));
                    power = power * w % q;
                }
            }
            Computes::Inverse { scale } => {
                let (t, r) = (k / d, k % d);
                for (l, row) in self.lagrange.iter().enumerate() {
                    terms.push((linear(0, self.positions[l * d + r]), row[t] * scale % q));
                }
            }
            Computes::BaseProduct { scale } => self.base(transform, k, scale, 0, &mut terms),
            Computes::Accumulate { scale } => {
                terms.push((linear(self.old, k), 1));
                self.base(transform, k, scale, 1, &mut terms);
            }
            Computes::ToStandard => terms.push((linear(0, self.positions[k]), 1)),
            Computes::FromStandard => terms.push((linear(0, order[k]), 1)),
        }
        terms.retain(|t| t.1 != 0);
        terms.sort_unstable_by_key(|t| t.0);
        terms.into_iter().map(|(m, c)| (m, c as u32)).collect()
    }

    /// The products x^i·x^j = x^r of output k's leaf, and those with x^i·x^j = w·x^r, of all pairs.
    fn base(
        &self,
        transform: &Transform,
        k: usize,
        scale: u64,
        first: usize,
        terms: &mut Vec<(Monomial, u64)>,
    ) {
        let (d, order) = (transform.degree, &transform.order);
        let (leaf, r) = (order[k] / d, order[k] % d);
        let wrapped = scale * transform.weights[leaf] % self.q;
        for pair in 0..self.pairs {
            let at = |i: usize| pair * order.len() + self.positions[leaf * d + i];
            for i in 0..d {
                let (j, c) = if i <= r { (r - i, scale) } else { (r + d - i, wrapped) };
                let (a, b) = (linear(first, at(i)), linear(first + 1, at(j)));
                terms.extend(times(a, b).map(|m| (m, c)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expected;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    const TEXT: &str = r#"contract = 1
symbol = "f"
abi = "sysv-x86-64"
ring = "RING"
computes = "KIND"
SCALE
[transform]
TRANSFORM
"#;

    fn contract(
        ring: &str,
        transform: &str,
        n: usize,
        (pairs, batch): (usize, usize),
        kind: &str,
    ) -> Contract {
        let mut text = TEXT.replace("RING", ring).replace("KIND", kind);
        let scaled = !kind.ends_with("standard");
        let n = n * batch;
        let sums = matches!(kind, "accumulate" | "base-product");
        let pairs = if sums { pairs } else { 1 };
        let keys = [
            (scaled, "scale = 5\n".into()),
            (sums, format!("pairs = {pairs}\n")),
            (batch > 1, format!("batch = {batch}\n")),
        ];
        let keys: String = keys.into_iter().filter(|k| k.0).map(|k| k.1).collect();
        text = text.replace("SCALE", &keys);
        text = match kind {
            "scale" => text.replace("[transform]\nTRANSFORM", ""),
            _ => text.replace("TRANSFORM", transform),
        };
        let mut argument = |name: &str, role: &str| {
            let n = if role == "input" { n * pairs } else { n };
            text += &format!(
                "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i32\"\nlength = {n}\nrange = [-99, 99]\n"
            );
        };
        argument("c", if kind == "accumulate" { "inout" } else { "output" });
        argument("a", "input");
        if matches!(kind, "accumulate" | "base-product") {
            argument("b", "input");
        }
        Contract::parse(&text).unwrap()
    }

    const LAYOUTS: [(&str, &str, usize); 5] = [
        ("Z17[x]/(x^4 + 1)", "degree = 1\nweights = [2, 15, 8, 9]\norder = [2, 0, 3, 1]", 4),
        ("Z17[x]/(x^4 + 1)", "degree = 2\nweights = [4, 13]\norder = [0, 2, 1, 3]", 4),
        ("Z17[x]/(x^4 + 1)", "degree = 4\nweights = [16]\norder = [3, 1, 2, 0]", 4),
        ("Z8380417[x]/(x^4 + 1)", "degree = 2\nweights = [4808194, 3572223]", 4),
        // A leaf x^2 - 0.
        ("Z17[x]/(x^6 - x^2)", "degree = 2\nweights = [1, 0, 16]\norder = [5, 1, 2, 4, 0, 3]", 6),
    ];

    fn random(n: usize, r: &mut StdRng) -> Vec<i64> {
        (0..n).map(|_| r.random_range(-99..=99)).collect()
    }

    #[test]
    fn terms_and_oracle_agree() {
        let mut r = StdRng::seed_from_u64(5);
        for (ring, layout, n) in LAYOUTS {
            let all = [(3, 1), (1, 2), (1, 3)];
            for (kind, held) in Computes::NAMES[1..].iter().flat_map(|k| all.map(|held| (k, held)))
            {
                let c = contract(ring, layout, n, held, kind);
                let inputs: Vec<Vec<i64>> =
                    c.lengths().into_iter().map(|n| random(n, &mut r)).collect();
                let out = expected(&c, &inputs);
                if let (1, batch) = held {
                    // Each element by itself.
                    let one = contract(ring, layout, n, (1, 1), kind);
                    let of = |k: usize| {
                        inputs.iter().map(move |v| v[k * n..][..n].to_vec()).collect::<Vec<_>>()
                    };
                    let apart: Vec<i64> = (0..batch).flat_map(|k| expected(&one, &of(k))).collect();
                    assert_eq!(out, apart, "{ring} {kind}");
                }
                let terms = Terms::new(&c, None).unwrap();
                let q = c.ring.q() as i64;
                for (k, &value) in out.iter().enumerate() {
                    let polynomial = terms.output(k);
                    assert!(polynomial.is_sorted_by(|x, y| x.0 < y.0));
                    let sum: i64 = polynomial
                        .iter()
                        .map(|&(m, c)| {
                            let product: i64 =
                                factors(m).iter().map(|&(o, i)| inputs[o][i]).product();
                            i64::from(c) * product % q
                        })
                        .sum();
                    assert_eq!((sum - value) % q, 0, "{ring} {kind} {k}");
                    assert!(value.abs() <= q / 2);
                }
            }
        }
    }

    #[test]
    fn the_oracle_multiplies_through_the_transform() {
        let mut r = StdRng::seed_from_u64(6);
        for (ring, layout, n) in LAYOUTS {
            let make = |kind: &str| contract(ring, layout, n, (1, 1), kind);
            let (forward, inverse) = (make("forward"), make("inverse"));
            let (base, accumulate) = (make("base-product"), make("accumulate"));
            let (a, b, c) = (random(n, &mut r), random(n, &mut r), random(n, &mut r));
            let t = |x: &Vec<i64>| expected(&forward, std::slice::from_ref(x));
            // Every scale is 5: T^-1(T(a) o T(b)) carries 5^4.
            let product = expected(&base, &[t(&a), t(&b)]);
            let found = expected(&inverse, std::slice::from_ref(&product));
            let plain: Vec<i64> = forward.ring.mul(&a, &b).iter().map(|x| x * 625).collect();
            assert_eq!(found, forward.ring.reduce(&plain));
            let sum: Vec<i64> = product.iter().zip(&c).map(|(x, y)| x + y).collect();
            let added = expected(&accumulate, &[c, t(&a), t(&b)]);
            assert_eq!(added, forward.ring.reduce(&sum));
            // The remainders by the leaves are those of the ground truth.
            let layout = forward.transform.as_ref().unwrap();
            let (d, q) = (layout.degree, forward.ring.q() as i64);
            for (p, x) in t(&a).into_iter().enumerate() {
                let mut modulus = vec![0; d + 1];
                (modulus[d], modulus[0]) = (1, -(layout.weights[layout.order[p] / d] as i64));
                let leaf = ringforge_ring::Ring::new(q as u64, &modulus).unwrap();
                assert_eq!((5 * leaf.reduce(&a)[layout.order[p] % d] - x) % q, 0);
            }
            let (to, from) = (make("to-standard"), make("from-standard"));
            assert_eq!(
                expected(&to, &[expected(&from, std::slice::from_ref(&b))]),
                forward.ring.reduce(&b)
            );
            let standard = expected(&to, &[(0..n as i64).collect()]);
            let at = |k: usize| forward.ring.reduce(&[layout.positions()[k] as i64])[0];
            assert_eq!(standard, (0..n).map(at).collect::<Vec<i64>>());
        }
    }

    #[test]
    fn monomials_have_at_most_two_factors() {
        let (a, b) = (linear(0, 7), linear(2, 0));
        assert_eq!(times(a, b), times(b, a));
        assert_eq!(factors(times(b, a).unwrap()), [(0, 7), (2, 0)]);
        assert_eq!((times(a, 0), times(0, 0)), (Some(a), Some(0)));
        assert_eq!(times(times(a, b).unwrap(), a), None);
        assert!(factors(0).is_empty());
    }
}
