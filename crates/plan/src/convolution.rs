//! Convolutions of blocks with constants: the pieces of Rader's transform of a long prime length.
//!
//! A cyclic convolution of even length splits by x^2h − 1 = (x^h − 1)(x^h + 1), and the factors 1/2
//! are folded into the constants. What is left is a Toeplitz matrix of constants times a vector.
//! Karatsuba computes it by three products of half the size, or by six of a third of the size
//! [Winograd80] [Chiu25 §2.5].

use crate::arith::{Arith, Val};
use ringforge_ring::zq;

/// Σ_a c_{(b−a) mod m}·x_a + offset for every b, and Σ_a x_a. `c` and `x` have m elements; q is odd.
pub fn cyclic(arith: &mut dyn Arith, c: &[u64], x: &[Val], offset: Val) -> (Vec<Val>, Val) {
    let (m, q) = (x.len(), arith.q());
    if m % 2 == 1 {
        let t: Vec<u64> = (1..2 * m).map(|i| c[i % m]).collect();
        let products = toeplitz(arith, &t, x);
        let mut total = x[0];
        for &v in &x[1..] {
            total = arith.add(total, v);
        }
        return (products.into_iter().map(|v| arith.add(offset, v)).collect(), total);
    }
    let (h, half) = (m / 2, q.div_ceil(2));
    let folded = |add: fn(u64, u64, u64) -> u64| -> Vec<u64> {
        (0..h).map(|i| zq::mul(add(c[i], c[i + h], q), half, q)).collect()
    };
    let sums: Vec<Val> = (0..h).map(|i| arith.add(x[i], x[i + h])).collect();
    let differences: Vec<Val> = (0..h).map(|i| arith.sub(x[i], x[i + h])).collect();
    let (even, total) = cyclic(arith, &folded(zq::add), &sums, offset);
    let odd = negacyclic(arith, &folded(zq::sub), &differences);
    let pairs = || even.iter().zip(&odd);
    let mut output: Vec<Val> = pairs().map(|(&e, &o)| arith.add(e, o)).collect();
    output.extend(pairs().map(|(&e, &o)| arith.sub(e, o)));
    (output, total)
}

/// The product by the polynomial of coefficients `c` mod x^m + 1.
fn negacyclic(arith: &mut dyn Arith, c: &[u64], x: &[Val]) -> Vec<Val> {
    let q = arith.q();
    let wrapped = c[1..].iter().map(|&v| zq::sub(0, v, q));
    let t: Vec<u64> = wrapped.chain(c.iter().copied()).collect();
    toeplitz(arith, &t, x)
}

/// T·v with `T[i][j] = t[k − 1 + i − j]`, k = `v.len()`.
pub fn toeplitz(arith: &mut dyn Arith, t: &[u64], v: &[Val]) -> Vec<Val> {
    let (k, q) = (v.len(), arith.q());
    let parts = [2, 3].into_iter().find(|&parts| k % parts == 0);
    let Some(parts) = parts else {
        let mut output = Vec::new();
        for i in 0..k {
            let mut sum = arith.zero();
            for (j, &x) in v.iter().enumerate() {
                let term = arith.scale(x, t[k - 1 + i - j]);
                sum = arith.add(sum, term);
            }
            output.push(sum);
        }
        return output;
    };
    let h = k / parts;
    // The diagonals of the blocks, from the upper right corner to the lower left one.
    let block = |i: usize| &t[i * h..i * h + 2 * h - 1];
    let combined = |signs: &[(usize, bool)]| -> Vec<u64> {
        let mut sum = vec![0; 2 * h - 1];
        for &(i, plus) in signs {
            let combine = if plus { zq::add } else { zq::sub };
            sum.iter_mut().zip(block(i)).for_each(|(s, &c)| *s = combine(*s, c, q));
        }
        sum
    };
    let part = |i: usize| &v[i * h..(i + 1) * h];
    if parts == 2 {
        let both = zip(arith, part(0), part(1), false);
        let top = toeplitz(arith, &combined(&[(0, true), (1, false)]), part(1));
        let middle = toeplitz(arith, block(1), &both);
        let bottom = toeplitz(arith, &combined(&[(2, true), (1, false)]), part(0));
        return [zip(arith, &middle, &top, false), zip(arith, &middle, &bottom, false)].concat();
    }
    // Rows of blocks (2 1 0), (3 2 1), (4 3 2): a row's sum times one part of v, and three products
    // with differences of parts, each used twice.
    let row = |first: usize| combined(&[(first, true), (first + 1, true), (first + 2, true)]);
    let sums = [0, 1, 2].map(|i| toeplitz(arith, &row(i), part(2 - i)));
    let mut cross = |number: usize, i: usize, j: usize| {
        let difference = zip(arith, part(i), part(j), true);
        toeplitz(arith, block(number), &difference)
    };
    let (p12, p02, p01) = (cross(1, 1, 2), cross(2, 0, 2), cross(3, 0, 1));
    let rows = [
        (zip(arith, &sums[0], &p12, false), &p02, false),
        (zip(arith, &sums[1], &p01, false), &p12, true),
        (zip(arith, &sums[2], &p01, true), &p02, true),
    ];
    rows.iter().flat_map(|(sum, last, minus)| zip(arith, sum, last, *minus)).collect()
}

fn zip(arith: &mut dyn Arith, a: &[Val], b: &[Val], minus: bool) -> Vec<Val> {
    let pairs = a.iter().zip(b);
    pairs.map(|(&x, &y)| if minus { arith.sub(x, y) } else { arith.add(x, y) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::Exact;
    use crate::network::Network;
    use crate::testing::Random;

    #[test]
    fn toeplitz_products_are_the_definitions() {
        let (q, mut random) = (4591, Random(9));
        for k in 1..=24 {
            let (t, v) = (random.vector(2 * k - 1, q), random.vector(k, q));
            let mut exact = Exact::new(q, 1);
            let input: Vec<Val> = v.iter().map(|&x| exact.input(&[x])).collect();
            let output = toeplitz(&mut exact, &t, &input);
            for (i, &out) in output.iter().enumerate() {
                let expected =
                    (0..k).fold(0, |s, j| zq::add(s, zq::mul(t[k - 1 + i - j], v[j], q), q));
                assert_eq!(exact.get(out), [expected], "{k}, row {i}");
            }
        }
    }

    #[test]
    fn cyclic_products_are_the_definitions() {
        let (q, mut random) = (4591, Random(10));
        for m in 1..=24 {
            let (c, x, offset) = (random.vector(m, q), random.vector(m, q), random.below(q));
            let mut exact = Exact::new(q, 1);
            let input: Vec<Val> = x.iter().map(|&v| exact.input(&[v])).collect();
            let start = exact.input(&[offset]);
            let (output, total) = cyclic(&mut exact, &c, &input, start);
            assert_eq!(exact.get(total)[0], x.iter().sum::<u64>() % q);
            for (b, &out) in output.iter().enumerate() {
                let expected =
                    (0..m).fold(offset, |s, a| zq::add(s, zq::mul(c[(b + m - a) % m], x[a], q), q));
                assert_eq!(exact.get(out), [expected], "{m}, output {b}");
            }
        }
    }

    /// 14 multiplications for a cyclic convolution of length 8, 27 for a negacyclic one.
    #[test]
    fn multiplications() {
        let count = |run: &dyn Fn(&mut Network, &[Val]) -> Vec<Val>, k: usize| {
            let mut net = Network::new(4591);
            let input = net.inputs(&vec![true; k]);
            let output = run(&mut net, &input);
            net.cost(&output).scales
        };
        let c: Vec<u64> = (0..16).map(|i| 5 + i * i * i).collect();
        assert_eq!(count(&|net, x| toeplitz(net, &c[..15], x), 8), 27);
        assert_eq!(count(&|net, x| cyclic(net, &c[..8], x, Val(0)).0, 8), 14);
        assert_eq!(count(&|net, x| toeplitz(net, &c[..5], x), 3), 6);
    }
}
