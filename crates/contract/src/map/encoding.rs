//! Digits of several radices as bytes, as NTRU Prime defines it [NTRUPrime20 §3.1].
//!
//! Neighbours a of radix m and b of radix n become the one number a + m b of radix m n. While a radix is 2^14 or more, the
//! number gives its lowest byte, and the radix is divided by 256 and rounded up. What is left over at the end of a row stays
//! as it is. The new row is treated alike, until one number is left, which gives bytes until its radix is 1.

/// Radices are below this, and so are those of a new row.
pub const RADICES: u32 = 1 << 14;

/// The bytes of `digits`, of whatever kind these are. `join(a, m, b)` is a + m b, and `split(x)` the lowest byte of x and
/// the rest.
pub fn encoded<V: Clone>(
    digits: Vec<V>,
    radices: &[u32],
    join: &mut dyn FnMut(&V, u32, &V) -> V,
    split: &mut dyn FnMut(&V) -> (V, V),
) -> Vec<V> {
    let mut bytes = Vec::new();
    let mut give = |(mut x, mut radix): (V, u32), least: u32, bytes: &mut Vec<V>| {
        while radix >= least {
            let (byte, rest) = split(&x);
            bytes.push(byte);
            (x, radix) = (rest, radix.div_ceil(256));
        }
        (x, radix)
    };
    let mut row: Vec<(V, u32)> = digits.into_iter().zip(radices.iter().copied()).collect();
    while row.len() > 1 {
        let mut next = Vec::with_capacity(row.len().div_ceil(2));
        for pair in row.chunks(2) {
            next.push(match pair {
                [(a, m), (b, n)] => give((join(a, *m, b), m * n), RADICES, &mut bytes),
                alone => alone[0].clone(),
            });
        }
        row = next;
    }
    if let Some(last) = row.pop() {
        give(last, 2, &mut bytes);
    }
    bytes
}

/// How many bytes encode digits of these radices.
pub(super) fn length(radices: &[u32]) -> usize {
    encoded(vec![(); radices.len()], radices, &mut |_, _, _| (), &mut |_| ((), ())).len()
}

/// The bytes of digits.
pub(super) fn bytes(digits: &[i64], radices: &[u32]) -> Vec<i64> {
    let digits = digits.to_vec();
    encoded(digits, radices, &mut |a, m, b| a + i64::from(m) * b, &mut |x| (x & 255, x >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes are those of NTRU Prime's keys and ciphertexts [NTRUPrime20 §6], which its authors' programs count.
    #[test]
    fn sizes_are_the_published_ones() {
        for (p, q, key, rounded) in [
            (653, 4621, 994, 865),
            (761, 4591, 1158, 1007),
            (857, 5167, 1322, 1152),
            (953, 6343, 1505, 1317),
            (1013, 7177, 1623, 1423),
            (1277, 7879, 2067, 1815),
        ] {
            assert_eq!(length(&vec![q; p]), key, "{p}");
            assert_eq!(length(&vec![q.div_ceil(3); p]), rounded, "{p}");
        }
    }

    /// Small ones by hand.
    #[test]
    fn bytes_are_those_of_the_definition() {
        // 3 + 100 · 7 = 703 of radix 10,000 is no byte yet; at the end it gives two.
        assert_eq!(bytes(&[3, 7], &[100, 100]), [703 & 255, 703 >> 8]);
        // 5 + 1000 · 999 of radix 10^6 gives one, and 3,902 of radix 3,907 is joined with what was left over.
        let (x, y) = (5 + 1000 * 999, 4);
        let z = (x >> 8) + 3907 * y;
        assert_eq!(bytes(&[5, 999, y], &[1000, 1000, 7]), [x & 255, z & 255, z >> 8]);
        assert_eq!(bytes(&[0], &[1]), []);
        assert_eq!(bytes(&[200], &[256]), [200]);
        assert_eq!(bytes(&[256], &[257]), [0, 1]);
    }

    /// Different digits have different bytes, and each radix counts.
    #[test]
    fn encodings_are_one_to_one() {
        let radices = [3, 300, 2, 60, 5];
        let mut seen = std::collections::BTreeSet::new();
        for k in 0..radices.iter().product::<u32>() {
            let mut rest = k;
            let digits = radices.map(|m| {
                let digit = i64::from(rest % m);
                rest /= m;
                digit
            });
            assert!(seen.insert(bytes(&digits, &radices)));
        }
    }
}
