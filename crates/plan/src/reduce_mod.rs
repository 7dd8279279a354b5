//! The final reduction: the unreduced product mod f, and the scale taken out
//! [Chiu25 §3.2.5].
//!
//! Map: c_0 … c_{L−1} ↦ factor·(c mod f). Seen from one output it is a short sum of inputs: for
//! f = x^761 − x − 1, `factor·(c_i + c_{i+761} + c_{i+760})`.

use crate::domain::{Domain, Modulus};
use ringforge_ring::{Ring, zq};

/// The reduction of `length` coefficients by f, times a factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReduceMod {
    /// The ring whose f it reduces by.
    pub ring: Ring,
    /// How many coefficients come in.
    pub length: usize,
    /// What every output is multiplied with: the inverse of the scale that the plan leaves.
    pub factor: u64,
}

impl ReduceMod {
    /// factor·(c mod f), in `[0, q)`.
    pub fn run(&self, c: &[u64]) -> Vec<u64> {
        let reduced = Domain::of_ring(&self.ring).reduce(c);
        reduced.iter().map(|&x| zq::mul(x, self.factor, self.ring.q())).collect()
    }

    /// For each output the inputs it sums, as (index, coefficient in `[1, q)`), before the factor.
    ///
    /// Computed by pushing x^i mod f through one step at a time, so sparse f give short rows.
    pub fn rows(&self) -> Vec<Vec<(usize, u64)>> {
        let (n, q) = (self.ring.degree(), self.ring.q());
        let minus_f: Vec<u64> =
            self.ring.modulus()[..n].iter().map(|&c| zq::unsigned(-c, q)).collect();
        let mut rows: Vec<Vec<(usize, u64)>> = (0..n).map(|i| vec![(i, 1)]).collect();
        rows.iter_mut().enumerate().filter(|&(i, _)| i >= self.length).for_each(|(_, r)| r.clear());
        // x^i mod f for i ≥ n
        let mut power = minus_f.clone();
        for i in n..self.length {
            for (row, &c) in rows.iter_mut().zip(&power) {
                if c != 0 {
                    row.push((i, c));
                }
            }
            let top = power[n - 1];
            power.rotate_right(1);
            power[0] = 0;
            for (p, &c) in power.iter_mut().zip(&minus_f) {
                *p = zq::add(*p, zq::mul(top, c, q), q);
            }
        }
        rows
    }

    /// The additions that the rows take, or `None` where a row has more than `most` terms.
    pub fn additions(&self, most: usize) -> Option<u64> {
        let (n, q) = (self.ring.degree(), self.ring.q());
        let minus_f: Vec<(usize, u64)> = (self.ring.modulus()[..n].iter().enumerate())
            .map(|(i, &c)| (i, zq::unsigned(-c, q)))
            .filter(|&(_, c)| c != 0)
            .collect();
        let mut terms = vec![1usize; n];
        let mut additions = 0;
        // x^i mod f as its terms, i ≥ n
        let mut power: std::collections::BTreeMap<usize, u64> = minus_f.iter().copied().collect();
        for _ in n..self.length {
            for &i in power.keys() {
                terms[i] += 1;
                additions += 1;
                if terms[i] > most {
                    return None;
                }
            }
            let top = power.remove(&(n - 1)).unwrap_or(0);
            power = power.into_iter().map(|(i, c)| (i + 1, c)).collect();
            for &(i, c) in minus_f.iter().filter(|_| top != 0) {
                let sum = zq::add(power.get(&i).copied().unwrap_or(0), zq::mul(top, c, q), q);
                if sum == 0 {
                    power.remove(&i)
                } else {
                    power.insert(i, sum)
                };
            }
        }
        Some(additions)
    }

    /// The domain that the result lives in.
    pub fn modulus(&self) -> Modulus {
        Modulus::Ring(self.ring.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn reduction(ring: &str, length: usize, factor: u64) -> ReduceMod {
        ReduceMod { ring: Ring::parse(ring).expect("ring"), length, factor }
    }

    /// The rows for x^761 − x − 1 are those of [Chiu25 §3.2.5].
    #[test]
    fn rows_of_the_seed() {
        let rows = reduction("Z4591[x]/(x^761 - x - 1)", 1521, 1).rows();
        assert_eq!(rows[0], [(0, 1), (761, 1)]);
        for (i, row) in rows.iter().enumerate().skip(1).take(759) {
            assert_eq!(row, &[(i, 1), (i + 760, 1), (i + 761, 1)]);
        }
        assert_eq!(rows[760], [(760, 1), (1520, 1)]);
    }

    /// Rows and remainder agree, for dense f too.
    #[test]
    fn rows_are_the_remainder() {
        let mut random = Random(5);
        for (ring, length) in [
            ("Z4591[x]/(x^7 - x - 1)", 13),
            ("Z4591[x]/(x^7 + 3x^6 - 2x^2 + 5)", 19),
            ("Z2048[x]/(x^5 - 1)", 9),
            ("Z17[x]/(x^4 + 1)", 3),
        ] {
            let reduction = reduction(ring, length, 3);
            let q = reduction.ring.q();
            let c = random.vector(length, q);
            let by_rows: Vec<u64> = (reduction.rows().iter())
                .map(|row| row.iter().fold(0, |s, &(i, w)| zq::add(s, zq::mul(w, c[i], q), q)))
                .map(|sum| zq::mul(sum, 3, q))
                .collect();
            assert_eq!(by_rows, reduction.run(&c), "{ring}");
            let rows = reduction.rows();
            let additions: usize = rows.iter().map(|row| row.len().saturating_sub(1)).sum();
            let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
            assert_eq!(reduction.additions(longest), Some(additions as u64), "{ring}");
            assert!(longest < 2 || reduction.additions(longest - 1).is_none(), "{ring}");
        }
    }
}
