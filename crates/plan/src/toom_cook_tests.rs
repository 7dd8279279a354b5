use super::*;
use crate::testing::{Random, check_base, try_base};

#[test]
fn agrees_with_the_definition() {
    for (q, size, text) in [
        (1 << 15, 6, "(toom-cook 3 (toeplitz))"),
        (1 << 13, 8, "(toom-cook 4 (toeplitz))"),
        (2, 12, "(toom-cook 4 (toeplitz))"),
        (1 << 13, 10, "(toom-cook 5 (toeplitz))"),
        (2, 15, "(toom-cook 5 (toeplitz))"),
        (1 << 11, 60, "(toom-cook 5 (toom-cook 3 (karatsuba (karatsuba (toeplitz)))))"),
        (1 << 12, 24, "(toom-cook 4 (toom-cook 3 (toeplitz)))"),
        (1 << 12, 24, "(toom-cook 3 (toom-cook 4 (karatsuba (toeplitz))))"),
        (1 << 11, 48, "(karatsuba (toom-cook 4 (toom-cook 3 (karatsuba (toeplitz)))))"),
    ] {
        check_base(q, size, &[1, q - 1, 0], text);
    }
}

#[test]
fn the_last_bit_counts() {
    // All words at the bound, and alternating signs, where the divisions see every bit.
    for (q, size, text) in [
        (1u64 << 13, 16, "(toom-cook 4 (toeplitz))"),
        (1 << 13, 15, "(toom-cook 5 (toeplitz))"),
        (1 << 15, 9, "(toom-cook 3 (toeplitz))"),
    ] {
        let base = try_base(q, size, Shape::Toeplitz, text).unwrap_or_else(|e| panic!("{e}"));
        let worst = |i: usize| [q / 2, q - 1, q / 2 - 1, 1][i % 4];
        let (t, v): (Vec<u64>, Vec<u64>) =
            ((0..2 * size - 1).map(worst).collect(), (0..size).map(|i| worst(i / 2)).collect());
        let row = |i: usize| {
            (0..size).fold(0, |s, j| zq::add(s, zq::mul(t[size - 1 + i - j], v[j], q), q))
        };
        assert_eq!(base.toeplitz(&t, &v), (0..size).map(row).collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn one_bit_less_is_wrong() {
    // The same computation with inner products modulo 2^(k+2) only: some result differs.
    let size = 8;
    let inner =
        |q: u64| try_base(q, 2, Shape::Toeplitz, "(toeplitz)").unwrap_or_else(|e| panic!("{e}"));
    let (q, mut random, mut wrong) = (1 << 11, Random(7), 0);
    for _ in 0..20 {
        let (t, v) = (random.vector(2 * size - 1, q), random.vector(size, q));
        let run =
            |bits: u32| ToomCook { q, size, parts: 4, inner: inner(q << bits) }.toeplitz(&t, &v);
        assert_eq!(run(3), run(4));
        wrong += u32::from(run(3) != run(2));
    }
    assert!(wrong > 0);
}

#[test]
fn refuses_what_words_do_not_hold() {
    let refusal =
        |q: u64, size: usize, text: &str| try_base(q, size, Shape::Toeplitz, text).expect_err(text);
    let error = refusal(1 << 14, 8, "(toom-cook 4 (toeplitz))");
    assert_eq!(
        error.message,
        "dividing by 8 costs 3 bits: for products modulo 16384 those below are needed modulo \
         2^17, and words have 16 bits"
    );
    assert!(error.would_work.is_some_and(|hint| hint.contains("toom-cook 3")));
    let error = refusal(1 << 11, 16, "(toom-cook 4 (toom-cook 4 (toeplitz)))");
    assert_eq!(error.col, 14);
    assert!(error.message.contains("2^17"), "{}", error.message);
    assert!(refusal(4591, 8, "(toom-cook 4 (toeplitz))").message.contains("4591 is not"));
    assert!(refusal(2048, 9, "(toom-cook 4 (toeplitz))").message.contains("does not divide"));
    assert!(refusal(2048, 12, "(toom-cook 6 (toeplitz))").message.contains("3, 4 or 5 parts"));
}
