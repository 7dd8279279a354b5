//! Primes for a change of modulus: with the roots of unity that a transform needs, and together
//! large enough for the integers that a product makes.

use ringforge_ring::zq;

/// The words that residues are kept in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// 16 bits: primes below 13000, so that sums of five residues fit.
    Short,
    /// 32 bits: primes below 2^31.
    Long,
}

/// Residues beyond leave too little room for sums in words of 16 bits.
const LARGEST_SHORT: u64 = 13_000;
/// Sums of eight centred residues of smaller primes fit a word of 16 bits.
const SPACIOUS: u64 = 1 << 13;

/// Sets of primes p ≡ 1 mod `order` whose product is more than 2·`bound`: as few as can be, and
/// where these leave little room in short words one more too. Within a set the largest
/// is as small as can be.
pub fn primes(order: u64, bound: u128, width: Width) -> Vec<Vec<u64>> {
    match width {
        Width::Short => {
            let all: Vec<u64> = progression(order, 0).take_while(|&p| p < LARGEST_SHORT).collect();
            let sets = (1..=4).filter_map(|count| least(&all, count, bound));
            let sets: Vec<Vec<u64>> = sets.take(2).collect();
            let crowded = sets.first().and_then(|set| set.last()).is_some_and(|&p| p > SPACIOUS);
            sets.into_iter().take(if crowded { 2 } else { 1 }).collect()
        }
        Width::Long => {
            let one = u64::try_from(2 * bound + 1).ok().filter(|&start| start < 1 << 31);
            if let Some(p) = one.and_then(|start| progression(order, start).next())
                && p < 1 << 31
            {
                return vec![vec![p]];
            }
            let root = ((2 * bound) as f64).sqrt() as u64 + 1;
            let pair: Vec<u64> = progression(order, root).take(2).collect();
            let fits = pair.iter().all(|&p| p < 1 << 31);
            if fits { vec![pair] } else { Vec::new() }
        }
    }
}

/// The primes p ≡ 1 mod `order` from `start` on, below 2^32.
fn progression(order: u64, start: u64) -> impl Iterator<Item = u64> {
    let first = (start.max(3).saturating_sub(1)).next_multiple_of(order) + 1;
    (first..1 << 32).step_by(order as usize).filter(|&p| p % 2 == 1 && zq::is_prime(p))
}

/// `count` of these primes (ascending) with a product above 2·`bound`: the largest is the least
/// possible, then the least one is.
fn least(all: &[u64], count: usize, bound: u128) -> Option<Vec<u64>> {
    let product = |set: &[u64]| set.iter().map(|&p| u128::from(p)).product::<u128>();
    let window = all.windows(count).find(|set| product(set) > 2 * bound)?;
    let rest = product(&window[1..]);
    let first = all.iter().find(|&&p| rest * u128::from(p) > 2 * bound)?;
    Some(std::iter::once(*first).chain(window[1..].iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_large_enough_and_small() {
        // Big times small for n = 761: the two smallest that do, and three.
        let bound = 761 * 2295;
        let sets = primes(96, bound, Width::Short);
        assert_eq!(sets[0], [2017, 2113]);
        assert_eq!((sets.len(), primes(8, 1 << 26, Width::Short)[1].len()), (1, 3));
        for set in &sets {
            assert!(set.iter().all(|&p| p % 96 == 1 && zq::is_prime(p)));
            assert!(set.iter().product::<u64>() as u128 > 2 * bound);
            assert!(set.windows(2).all(|pair| pair[0] < pair[1]));
        }
        // 2·677·2^20 is beyond two short primes, and within one long one.
        let bound = 677 << 20;
        assert_eq!(primes(90, bound, Width::Short)[0].len(), 3);
        let [p] = primes(90, bound, Width::Long)[0][..] else { panic!("one prime") };
        assert!(u128::from(p) > 2 * bound && p % 90 == 1);
        // The largest that there is: two primes of some 22 bits.
        let bound = 2048u128 << 30;
        assert_eq!(primes(256, bound, Width::Long)[0].len(), 2);
        assert!(!primes(256, bound, Width::Short).is_empty());
        assert_eq!(primes(1 << 20, 5, Width::Short), Vec::<Vec<u64>>::new());
    }
}
