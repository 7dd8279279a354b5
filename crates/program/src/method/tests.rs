//! Methods on all words, or on samples where there are too many.

use super::*;
const Q: u64 = 4591;

#[test]
fn seed_ranges_of_reductions() {
    let all = (-32768, 32767);
    assert_eq!(ReduceMethod::Barrett.range(all, Q), (-2881, 2881));
    assert_eq!(ReduceMethod::Crude.range(all, Q), (-4096, 4095));
    assert_eq!(inverse_word(Q) * 4591 % 65536, 1 - 65536 * i64::from(inverse_word(Q) < 0));
}

#[test]
fn every_method_keeps_residues() {
    for a in i16::MIN..=i16::MAX {
        for m in [
            ReduceMethod::Barrett,
            ReduceMethod::Crude,
            ReduceMethod::BarrettHigh,
            ReduceMethod::Montgomery,
        ] {
            assert_eq!((m.apply(a.into(), Q) - a as i64).rem_euclid(Q as i64), 0, "{m:?} {a}");
        }
        for m in [MulMethod::Montgomery, MulMethod::Barrett] {
            for c in [1, 2, 4, 1234, 2295, 2296, 4590] {
                let off = m.apply(a.into(), c, Q) - a as i64 * c as i64;
                assert_eq!(off.rem_euclid(Q as i64), 0, "{m:?} {a}·{c}");
            }
        }
    }
}

/// As near as Barrett's product, but for one, where two terms are its constant; residues on the whole domain, and no word beyond it
/// whose sum fits.
#[test]
fn quotients_by_shifts() {
    let method = ReduceMethod::BarrettShifts;
    assert_eq!(
        (method.range((-32768, 32767), Q), method.domain(Q)),
        ((-2882, 2880), (-32768, 32767))
    );
    for q in [3, 5, 257, 3329, Q, 7681, 12289, 32_749] {
        let (first, last) = method.domain(q);
        assert!(first <= -16_384 && last >= 16_383, "{q}: [{first}, {last}]");
        let mut most = 0;
        for a in first..=last {
            let y = method.apply(a, q);
            assert_eq!((y - a).rem_euclid(q as i64), 0, "{a} mod {q} is {y}");
            most = most.max(y.abs());
        }
        assert_eq!(method.range((first, last), q), {
            let all = (first..=last).map(|a| method.apply(a, q));
            all.fold((i64::MAX, i64::MIN), |r, y| (r.0.min(y), r.1.max(y)))
        });
        let shifts = Shifts::of(q.into());
        assert!(last == 32_767 || shifts.scaled(last + 1) + shifts.half() > 32_767, "{q}");
        assert!(first == -32_768 || shifts.scaled(first - 1) < -32_768, "{q}");
        // 2^-s(1 ± 2^-d) is off by less than a seventh of 1/q.
        assert!(most <= q as i64 / 2 + 32_768 / 7 + 1, "{q}: {most}");
    }
}

/// The largest odd modulus and others, constants at the ends: every word to a residue within q/2, or one beyond it.
#[test]
fn plantard_products_are_residues_of_every_word() {
    for q in [3, 3329, 4591, 12289, 26_213] {
        let half = (q as i64 - 1) / 2;
        for c in [0, 1, 2, q / 2, q / 2 + 1, q - 1].map(|c| c % q) {
            for a in i16::MIN..=i16::MAX {
                let y = MulMethod::Plantard.apply(a.into(), c, q);
                assert_eq!((y - a as i64 * c as i64).rem_euclid(q as i64), 0, "{a}·{c} mod {q}");
                assert!((-half - 1..=half).contains(&y), "{a}·{c} mod {q}: {y}");
                if c == 1 {
                    assert_eq!(y, ReduceMethod::Plantard.apply(a.into(), q));
                    let frozen = FreezeMethod::Plantard.apply(a.into(), q);
                    assert_eq!(frozen, zq::centered((a as i64).rem_euclid(q as i64) as u64, q));
                }
            }
        }
    }
    for q in [26_215, 3328, 32_749] {
        let missing = MulMethod::Plantard.missing(q).unwrap();
        assert!(missing.contains("odd q up to 26214"), "{missing}");
        assert_eq!(ReduceMethod::Plantard.missing(q), Some(missing.clone()));
        assert_eq!(FreezeMethod::Plantard.missing(q), Some(missing));
    }
    assert!(MulMethod::Plantard.missing(Modulus { q: 3329, bits: 32 }).is_some());
    assert_eq!(MulMethod::Montgomery.missing(3328), None);
}

#[test]
fn product_of_words_is_congruent_and_within_its_bounds() {
    let corners = [-32768i16, -32767, -4591, -2881, -1, 0, 1, 2295, 2881, 9182, 32767];
    for a in corners {
        for b in i16::MIN..=i16::MAX {
            let y = ProductMethod::Montgomery.apply(a.into(), b.into(), Q);
            let off = y * 65536 - a as i64 * b as i64;
            assert_eq!(off.rem_euclid(Q as i64), 0, "{a}·{b}");
            let point = |x: i16| (x as i64, x as i64);
            let (lo, hi) = ProductMethod::Montgomery.range(point(a), point(b), Q).unwrap();
            assert!(lo <= y && y <= hi, "{a}·{b} = {y} outside [{lo}, {hi}]");
        }
    }
}

#[test]
fn freezing_is_canonical_on_its_whole_domain() {
    for q in [Q, 3329, 7681, 12289] {
        for m in [
            FreezeMethod::Minimum,
            FreezeMethod::Montgomery,
            FreezeMethod::MontgomeryBiased { k: 2 },
        ] {
            let (lo, hi) = m.domain(q);
            for a in lo.max(-32768)..=hi.min(32767) {
                let want = zq::centered(
                    zq::mul(a.rem_euclid(q as i64) as u64, m.scale(q).unwrap().value(), q),
                    q,
                );
                assert_eq!(m.apply(a, q), want, "{m:?} {a} mod {q}");
            }
        }
    }
}

#[test]
fn ranges_of_products_of_short_words_are_exact() {
    use MulMethod::*;
    let moduli = [
        (Montgomery, 3),
        (Montgomery, 32_749),
        (Plantard, 26_213),
        (Barrett, 65_535),
        (Barrett, 4591),
    ];
    for (method, q) in moduli {
        for c in [0, 1, 2, q / 2, q / 2 + 1, q - 1].map(|c| c % q) {
            let all: Vec<i64> = (-32_768..=32_767).map(|a| method.apply(a, c, q)).collect();
            for (first, last) in [(-32_768, 32_767), (-32_767, 1), (0, 4095), (-9, 9), (7, 7)] {
                let image = &all[(first + 32_768) as usize..=(last + 32_768) as usize];
                let ends = (*image.iter().min().unwrap(), *image.iter().max().unwrap());
                assert_eq!(method.range((first, last), c, q), ends, "{method:?} {c} mod {q}");
            }
        }
    }
}

/// Densely at the ends and in the middle of intervals, and scattered between.
fn samples((lo, hi): Range) -> impl Iterator<Item = i64> {
    let near = |x: i64| (x - 2000).max(lo)..=(x + 2000).min(hi);
    let step = ((hi - lo) / 20_011).max(1);
    near(lo).chain(near(0)).chain(near(hi)).chain((0..20_011).map(move |i| lo + i * step))
}

#[test]
fn bounds_on_words_of_32_bits_hold_for_samples() {
    let m = Modulus { q: 8380417, bits: 32 };
    let q = 8380417;
    for half in [q / 2, q, 9 * q, 256 * q, i64::from(i32::MAX)] {
        let interval = (-half - i64::from(half > 256 * q), half);
        for method in [MulMethod::MontgomeryLow, MulMethod::Barrett] {
            for c in [0, 1, 2, 1753, 4190208, 4190209, 8380416] {
                let (lo, hi) = method.range(interval, c, m);
                let mut found = (i64::MAX, i64::MIN);
                for a in samples(interval).filter(|a| interval.0 <= *a && *a <= interval.1) {
                    let y = method.apply(a, c, m);
                    let off = i128::from(y) - i128::from(a) * i128::from(c);
                    assert_eq!(off.rem_euclid(q.into()), 0, "{method:?} {a}·{c}");
                    assert!(lo <= y && y <= hi, "{method:?} {a}·{c} = {y}, [{lo}, {hi}]");
                    found = (found.0.min(y), found.1.max(y));
                }
                assert!(found.0 - lo <= q && hi - found.1 <= q, "{method:?} {c}");
            }
        }
        for method in [
            ReduceMethod::RoundedShift,
            ReduceMethod::BarrettShifts,
            ReduceMethod::Folded,
            ReduceMethod::Floor,
        ] {
            let domain = method.domain(m);
            let interval = (interval.0.max(domain.0), interval.1.min(domain.1));
            let (lo, hi) = method.range(interval, m);
            for a in samples(interval).filter(|a| interval.0 <= *a && *a <= interval.1) {
                let y = method.apply(a, m);
                assert_eq!((y - a).rem_euclid(q), 0, "{method:?} {a}");
                assert!(lo <= y && y <= hi, "{method:?} {a} = {y}, [{lo}, {hi}]");
            }
        }
    }
    // What implementations of FIPS 204 rely on: 6,283,008 for words below 2^31 - 2^22.
    let all = ReduceMethod::RoundedShift.domain(m);
    assert_eq!(all, (-(1 << 31), (1 << 31) - (1 << 22) - 1));
    assert_eq!(ReduceMethod::RoundedShift.range(all, m), (-6283009, 6283008));
}

#[test]
fn barrett_by_low_products_holds_for_samples_of_its_domain() {
    for q in [3, 41, 186, 839, 3329, 15016, 32769, 52810, 65521, 65535] {
        let m = Modulus { q, bits: 32 };
        let bounds = [100, 50_000, 1 << 20, (1 << 24) + 5, 1 << 28, i64::from(i32::MAX)];
        for (bound, coarse) in bounds.into_iter().flat_map(|b| [(b, false), (b, true)]) {
            let (method, near) = ReduceMethod::low(q, bound, coarse);
            let (lo, hi) = method.range((-bound, bound), m);
            assert!(-near <= lo && hi <= near, "{method:?}");
            // One of 2^32 words comes next to q/2 and 2^17, one of 2^21 to a few.
            let slack = match coarse {
                _ if bound < 1 << 19 => 128,
                false => 1 << 17,
                true => (1 << 17) + (1 << 14),
            };
            assert!(near <= (q as i64 / 2 + slack).max(bound), "{q} {bound}: {near}");
            for a in samples((-bound, bound)).filter(|a| a.abs() <= bound) {
                let y = method.apply(a, m);
                assert_eq!((y - a).rem_euclid(q as i64), 0, "{method:?} {a} mod {q}");
                assert!(lo <= y && y <= hi, "{method:?} {a} = {y}, [{lo}, {hi}] mod {q}");
            }
        }
    }
    // Beyond its domain a product wraps: no range is promised.
    let method = ReduceMethod::BarrettLow { shift: 0, scale: 20 };
    let m = Modulus { q: 3329, bits: 32 };
    let (lo, hi) = method.domain(m);
    assert!(hi < i64::from(i32::MAX) && method.range((lo, hi), m).1 < 3329);
    assert_eq!(method.range((lo, hi + 1), m), m.words());
}

/// Of a sum's quotient by 2^8 to 2^16, or of one that begins with 8 bits, the prover knows no interval.
#[test]
fn no_quotient_is_taken_as_the_upper_half_of_a_product() {
    for q in [3, 15, 33, 58, 62, 66, 85, 86, 500, 1000, 4700, 21845, 32041, 65535] {
        for bits in 7..=31 {
            let bound = (1i64 << bits) - 1;
            let (method, near) = ReduceMethod::low(q, bound, false);
            let whole = match method {
                ReduceMethod::BarrettLow { shift: 0, scale } => scale > 16,
                ReduceMethod::BarrettLow { shift, .. } => shift != 8,
                _ => false,
            };
            assert!(whole, "{method:?} for {bound} mod {q}");
            let slack = if bits < 20 { 128 } else { 1 << 17 };
            assert!(near <= q as i64 / 2 + slack, "{method:?} for {bound} mod {q}: {near}");
        }
    }
    // Nothing is lost where a quotient by 2^16 would have done.
    let m = Modulus { q: 66, bits: 32 };
    let bound = 2 * 228 * 33 * 33;
    let half = ReduceMethod::BarrettLow { shift: 0, scale: 16 }.range((-bound, bound), m);
    assert_eq!(ReduceMethod::low(66, bound, false).1, half.1.max(-half.0));
}

#[test]
fn exact_barrett_leaves_the_canonical_residue() {
    for q in [3, 6, 7, 10, 17, 212, 1023, 3329, 4700, 15016, 32905, 60846, 65535] {
        let m = Modulus { q, bits: 64 };
        let centred = (-(q as i64 / 2), (q as i64 - 1) / 2);
        let most = ((1 << 30) - 1) / q as i64;
        for bound in [3 * q as i64 / 2, 3072, 1 << 16, 5 << 20, most] {
            if bound > most {
                continue;
            }
            let method = ReduceMethod::exact(q, 64, bound).expect("so far there is one");
            let check = |a: i64| {
                let y = method.apply(a, m);
                let canonical = centred.0 <= y && y <= centred.1;
                assert!(canonical && (y - a) % q as i64 == 0, "{method:?} {a} = {y} mod {q}");
            };
            // Whole where that is quick, else the ends, and around odd and even multiples of q/2, where quotients change.
            if bound <= 1 << 16 {
                (-bound..=bound).for_each(check);
            }
            let last = 2 * bound / q as i64;
            let some = (0..200).chain(last / 2..last / 2 + 200).chain(last - 200..=last);
            let ties = some.flat_map(|k| [k, -k]).map(|k| k * q as i64 / 2);
            let near = ties.flat_map(|x| [x - 1, x, x + 1]).chain([-bound, bound]);
            near.filter(|a| a.abs() <= bound).for_each(check);
            // What one less bit after the point may leave is no canonical residue, or nobody would take this one.
            let ReduceMethod::BarrettExact { scale } = method else { panic!("{method:?}") };
            let coarser = ReduceMethod::BarrettExact { scale: scale - 1 };
            let (lo, hi) = coarser.range((-bound, bound), m);
            assert!(
                scale == 17 || lo < centred.0 || hi > centred.1,
                "{method:?} for {bound} mod {q}"
            );
        }
    }
    // In words of 32 bits there is less room, and of the largest sums the quotient has an error.
    assert_eq!(ReduceMethod::exact(60847, 32, 1 << 20), None);
    assert_eq!(ReduceMethod::exact(724, 64, 1 << 24), None);
    // Beyond its domain a product wraps: no range is promised.
    let (m, method) = (Modulus { q: 17, bits: 32 }, ReduceMethod::BarrettExact { scale: 16 });
    let (lo, hi) = method.domain(m);
    assert_eq!(method.range((lo, hi + 1), m), m.words());
}

#[test]
fn products_and_narrowings_on_words_of_32_bits_hold_for_samples() {
    let m = Modulus { q: 8380417, bits: 32 };
    let wide = 8380417i64 << 31;
    for x in samples((-wide, wide - 1)) {
        let y = NarrowMethod::Montgomery.apply(x, m);
        assert_eq!((i128::from(y) * (1 << 32) - i128::from(x)).rem_euclid(8380417), 0, "{x}");
        assert!(y.abs() < 8380417, "{x} to {y} [Seiler18 §3.1, Lemma 1]");
    }
    let most = 8380417 * 16;
    let (lo, hi) = ProductMethod::Montgomery.range((-most, most), (-most, most), m).unwrap();
    for a in samples((-most, most)).step_by(37) {
        for b in [-most, -1, 0, 1, 12345678, most] {
            let y = ProductMethod::MontgomeryWide.apply(a, b, m);
            assert_eq!((i128::from(y) * (1 << 32) - i128::from(a * b)).rem_euclid(8380417), 0);
            assert!(lo <= y && y <= hi, "{a}·{b} = {y}, [{lo}, {hi}]");
        }
    }
    assert_eq!(NarrowMethod::Montgomery.range((i64::MIN, 0), m), None);
}
