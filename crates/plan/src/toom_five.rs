//! The maps of Toom–Cook in five parts, on Toeplitz products ([`crate::toom_cook`]).
//!
//! Nine points, three each congruent to 0, 1 and ∞ modulo 2: 0, ±2; ±1, 3; ∞, ±1/2. With these the
//! products of differences contain at most 2^3, where nine integers would cost 2^4. A point x/z has
//! the form z·y − x, and w(x/z) is Σ w_i·x^i·z^(4−i). The common denominator taken is 72 = 2^3·9; 5
//! and 7 are units in the constants.

use crate::arith::{Arith, Val};
use crate::toom_cook::{linear, odd_inverse, plus, square};
use ringforge_ring::zq;

/// What [`combine`] leaves the product multiplied with.
pub(crate) const DIVISOR: u64 = 72;

/// The points in the order of the products, as (x, z).
#[cfg(test)]
const POINTS: [(i64, i64); 9] =
    [(0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2), (3, 1), (1, 0)];

/// [`DIVISOR`]/N_p for every point, as numerator and denominator.
const CONSTANTS: [(i64, u64); 9] =
    [(6, 1), (2, 1), (1, 1), (-1, 5), (-1, 25), (-1, 25), (-1, 35), (3, 175), (18, 1)];

/// a + b and a − b.
fn both(arith: &mut dyn Arith, a: Val, b: Val) -> [Val; 2] {
    [arith.add(a, b), arith.sub(a, b)]
}

/// τ((4y² − 1)·y^k) for every k.
fn halves(arith: &mut dyn Arith, t: &[Val]) -> Vec<Val> {
    let one = |t: &[Val]| {
        let four = arith.scale(t[2], 4);
        arith.sub(four, t[0])
    };
    t.windows(3).map(one).collect()
}

/// The vectors of the products from the five parts of the vector, constants included.
pub(crate) fn vectors(arith: &mut dyn Arith, parts: &[Val]) -> Vec<Val> {
    let w: Vec<Val> = parts.iter().rev().copied().collect();
    let even = arith.add(w[0], w[2]);
    let even = arith.add(even, w[4]);
    let odd = arith.add(w[1], w[3]);
    let ones = both(arith, even, odd);
    // Of w_1, w_3 and of w_0, w_2, w_4 in either order.
    let mut twos = |w: [Val; 5]| {
        let even = plus(arith, w[2], 4, w[4]);
        let even = plus(arith, w[0], 4, even);
        let odd = plus(arith, w[1], 4, w[3]);
        let odd = arith.scale(odd, 2);
        both(arith, even, odd)
    };
    let two = twos([w[0], w[1], w[2], w[3], w[4]]);
    let half = twos([w[4], w[3], w[2], w[1], w[0]]);
    let three = (0..4).rev().fold(w[4], |high, i| plus(arith, w[i], 3, high));
    let values = [[w[0], ones[0]], [ones[1], two[0]], [two[1], half[0]], [half[1], three]].concat();
    let q = arith.q();
    let constant =
        |(n, d): (i64, u64)| zq::mul(n.rem_euclid(q as i64) as u64, odd_inverse(d, q), q);
    let all = values.into_iter().chain([w[4]]).zip(CONSTANTS);
    all.map(|(value, c)| arith.scale(value, constant(c))).collect()
}

/// The diagonals of the products' matrices from the matrix's ten blocks, as two blocks each.
pub(crate) fn diagonals(arith: &mut dyn Arith, t: &[Val]) -> Vec<[Val; 2]> {
    // Products of forms times y^k, k = 0, … where nothing is said; in an order in which few live long.
    let b = square(arith, &t[1..9], 4); // y (y² − 4)
    let b = halves(arith, &b);
    let b = linear(arith, &b, 3); // y (y² − 4)(4y² − 1)(y − 3)
    let ones = [0, 1].map(|k| both(arith, b[k + 1], b[k]));
    let u = square(arith, t, 1); // y² − 1
    let c = halves(arith, &u[1..7]);
    let c = linear(arith, &c, 3); // y (y² − 1)(4y² − 1)(y − 3)
    let twos = [0, 1].map(|k| {
        let twice = arith.scale(c[k], 2);
        both(arith, c[k + 1], twice)
    });
    let a = square(arith, &u, 4); // (y² − 1)(y² − 4)
    let d = linear(arith, &a[1..5], 3); // y (y² − 1)(y² − 4)(y − 3)
    let halved = [0, 1].map(|k| {
        let twice = arith.scale(d[k + 1], 2);
        both(arith, twice, d[k])
    });
    let e = halves(arith, &a); // (y² − 1)(y² − 4)(4y² − 1)
    let full = linear(arith, &e, 3); // … (y − 3)
    let pairs =
        [ones, twos, halved].into_iter().flat_map(|p| [[p[0][0], p[1][0]], [p[0][1], p[1][1]]]);
    let mut points = vec![[full[0], full[1]]];
    points.extend(pairs);
    points.extend([[e[1], e[2]], [full[1], full[2]]]);
    points
}

/// The five parts of the result, [`DIVISOR`] times over, from the products.
pub(crate) fn combine(arith: &mut dyn Arith, p: &[Val]) -> Vec<Val> {
    let [[s, d], [s2, d2], [sh, dh]] =
        [1, 3, 5].map(|i| [arith.add(p[i], p[i + 1]), arith.sub(p[i], p[i + 1])]);
    let c0 = arith.add(p[0], s);
    let c0 = arith.add(c0, s2);
    let c0 = plus(arith, c0, 16, sh);
    let c0 = arith.add(c0, p[7]);
    let c1 = plus(arith, d2, 4, dh);
    let c1 = plus(arith, d, 2, c1);
    let c1 = plus(arith, c1, 3, p[7]);
    let c2 = arith.add(s2, sh);
    let c2 = plus(arith, s, 4, c2);
    let c2 = plus(arith, c2, 9, p[7]);
    let c3 = plus(arith, dh, 4, d2);
    let c3 = plus(arith, d, 2, c3);
    let c3 = plus(arith, c3, 27, p[7]);
    let c4 = plus(arith, s, 16, s2);
    let c4 = arith.add(c4, sh);
    let c4 = plus(arith, c4, 81, p[7]);
    vec![c0, c1, c2, c3, arith.add(c4, p[8])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_what_the_points_say() {
        for (i, &(x, z)) in POINTS.iter().enumerate() {
            let others = POINTS.iter().enumerate().filter(|&(j, _)| j != i);
            // The form of ∞ is z.
            let form = |&(a, b): &(i64, i64)| if b == 0 { z } else { b * x - a * z };
            let norm: i64 = others.map(|(_, other)| form(other)).product();
            let (n, d) = CONSTANTS[i];
            assert_eq!(norm * n, DIVISOR as i64 * d as i64, "point {x}/{z}");
            assert!(norm.trailing_zeros() <= 3 && d % 2 == 1);
        }
    }
}
