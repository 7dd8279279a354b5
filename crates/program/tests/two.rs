//! Products modulo powers of two mean the product in their ring, on all schedules, whatever the
//! levels and sizes; and `range` sees words that wrap, and results that are canonical.

use ringforge_interpret::count::count;
use ringforge_interpret::range::ranges;
use ringforge_interpret::run::{run, run_in_place};
use ringforge_plan::Plan;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, AVX512};

fn plan(ring: &str, tree: &str) -> Plan {
    Plan::parse(&format!("(plan p (ring \"{ring}\") {tree})")).unwrap_or_else(|e| panic!("{e}"))
}

/// Worst cases, monomials at both ends and some disorder.
fn operands(n: usize, q: i64) -> Vec<[Vec<i64>; 2]> {
    let (low, high) = (-(q / 2), (q - 1) / 2);
    let of = |f: &dyn Fn(usize) -> i64| (0..n).map(f).collect::<Vec<i64>>();
    let mut x = 1u64;
    let mut disorder = || {
        let next = |_| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) as i64 % q + low
        };
        (0..n).map(next).collect::<Vec<i64>>()
    };
    let one = |at: usize| of(&|i| if i == at { low } else { 0 });
    vec![
        [of(&|_| low), of(&|_| low)],
        [of(&|_| high), of(&|_| low)],
        [
            of(&|i| if i % 2 == 0 { low } else { high }),
            of(&|i| if i % 3 == 0 { high } else { low }),
        ],
        [one(0), disorder()],
        [one(n - 1), one(n - 1)],
        [disorder(), one(n / 2)],
        [disorder(), disorder()],
    ]
}

fn check(plan: &Plan) {
    let (n, q) = (plan.ring.degree(), plan.ring.q() as i64);
    let rows = Schedule { rows: true, ..Schedule::portable() };
    for schedule in [Schedule::default(), Schedule::portable(), rows] {
        let lowered = lower(plan, &schedule, &AVX2, "x").unwrap_or_else(|e| panic!("{plan}: {e}"));
        let program = lowered.program.expand();
        for (number, [a, b]) in operands(n, q).iter().enumerate() {
            let want = plan.ring.mul(a, b);
            assert!(run(&program, &[a, b]).unwrap() == want, "{plan}, operands {number}");
            if number == 6 {
                assert!(run_in_place(&program, &[a, b], 0).unwrap() == want, "in place of a");
                assert!(run_in_place(&program, &[a, b], 1).unwrap() == want, "in place of b");
            }
        }
        let ranges = ranges(&lowered.program).unwrap_or_else(|e| panic!("{plan}: {e}"));
        assert_eq!(ranges.outputs, [("c".to_string(), (-(q / 2), (q - 1) / 2))]);
        assert!(count(&lowered.program).unwrap().total.arithmetic() > 0);
    }
}

#[test]
fn every_shape_multiplies() {
    let k4 = "(karatsuba (karatsuba (karatsuba (karatsuba (toeplitz)))))";
    for (ring, tree) in [
        // Leaves of every size, tails of rows and columns, straight and looped.
        ("Z2048[x]/(x^37 - 1)", "(toeplitz-matrix 48 (toeplitz))".to_string()),
        ("Z65536[x]/(x^48 + 1)", "(toeplitz-matrix 48 (karatsuba (toeplitz)))".to_string()),
        ("Z4[x]/(x^90 - 1)", "(toeplitz-matrix 96 (karatsuba (karatsuba (toeplitz))))".to_string()),
        ("Z2[x]/(x^250 - 1)", format!("(toeplitz-matrix 256 {k4})")),
        // Divisions, one and several, up to the last bit.
        ("Z8192[x]/(x^176 + 1)", "(toeplitz-matrix 176 (toom-cook 4 (toeplitz)))".to_string()),
        (
            "Z32768[x]/(x^100 - 3)",
            "(toeplitz-matrix 144 (toom-cook 3 (karatsuba (toeplitz))))".into(),
        ),
        (
            "Z4096[x]/(x^500 - 1)",
            "(toeplitz-matrix 576 (toom-cook 4 (toom-cook 3 (karatsuba (toeplitz)))))".into(),
        ),
        (
            "Z4096[x]/(x^500 - 1)",
            "(toeplitz-matrix 576 (toom-cook 3 (karatsuba (toom-cook 4 (toeplitz)))))".into(),
        ),
        (
            "Z4096[x]/(x^380 - 1)",
            "(toeplitz-matrix 384 (karatsuba (karatsuba (toom-cook 3 (toom-cook 4 (toeplitz))))))"
                .into(),
        ),
        ("Z2048[x]/(x^300)", format!("(toeplitz-matrix 352 (karatsuba {k4}))")),
    ] {
        check(&plan(ring, &tree));
    }
}

/// Unreduced products and every way to take the remainder: in steps of few and of overlapping terms, at
/// both ends of f, and by the quotient's matrix.
#[test]
fn every_f_has_its_remainder() {
    let dense = |n: usize, q: usize| {
        let term = |i: usize| format!(" + {}x^{i}", (i * i * 7 + 3 * i + 1) % q);
        format!("Z{q}[x]/(x^{n}{})", (0..n).rev().map(term).collect::<String>())
    };
    let k2 = "(karatsuba (karatsuba (toeplitz)))";
    for (ring, length, tree) in [
        ("Z2[x]/(x^16 + 1)".to_string(), 31, "(toeplitz-pair 16 (toeplitz))".to_string()),
        ("Z65536[x]/(x^33 + x^17 - 3x^16 - 1)".into(), 65, "(toeplitz-pair 48 (toeplitz))".into()),
        (
            "Z2048[x]/(x^95 - x^79 + 5x^78 + x^2 - x)".into(),
            189,
            "(toeplitz-pair 96 (toeplitz))".into(),
        ),
        ("Z8[x]/(x^64)".into(), 127, "(toeplitz-pair 80 (toeplitz))".into()),
        (dense(16, 64), 31, "(toeplitz-pair 16 (toeplitz))".into()),
        (dense(77, 65536), 153, "(toeplitz-pair 80 (toeplitz))".into()),
        ("Z32[x]/(x^100 + x^99 + 1)".into(), 199, format!("(toeplitz-pair 112 {k2})")),
        (dense(130, 65536), 259, format!("(toeplitz-pair 144 {k2})")),
        (
            "Z8192[x]/(x^403 + x^387 - 1)".into(),
            805,
            format!("(toeplitz-pair 448 (toom-cook 4 {k2}))"),
        ),
        (
            "Z32768[x]/(x^150 - x + 1)".into(),
            299,
            format!("(toeplitz-pair 192 (toom-cook 3 {k2}))"),
        ),
        (dense(140, 8192), 279, "(toeplitz-pair 144 (toom-cook 3 (karatsuba (toeplitz))))".into()),
        (dense(500, 128), 999, format!("(toeplitz-pair 512 (toom-cook 4 {k2}))")),
    ] {
        check(&plan(&ring, &format!("(lift {length} {tree})")));
    }
}

/// Rows by dot products where the last ones fill registers, and nothing is put in lanes; else as without.
#[test]
fn rows_stay_rows_where_they_fill_registers() {
    let rows = Schedule { rows: true, ..Schedule::portable() };
    for (tree, stays) in [
        ("(toeplitz-matrix 144 (toom-cook 3 (toeplitz)))", true),
        ("(toeplitz-matrix 144 (toom-cook 3 (karatsuba (toeplitz))))", false),
    ] {
        let plan = plan("Z2048[x]/(x^140 - 1)", tree);
        let program = lower(&plan, &rows, &AVX2, "x").unwrap().program;
        let without = lower(&plan, &Schedule::portable(), &AVX2, "x").unwrap().program;
        assert_eq!(program.procedures == without.procedures, !stays, "{tree}");
        let counts = |program| count(program).unwrap().total;
        assert_eq!(counts(&program).narrowings, if stays { 5 * 3 } else { 0 }, "{tree}");
    }
}

/// What the divisions cost is asked for three times where constants are multiplied.
#[test]
fn divisions_must_leave_enough_bits() {
    let tree = "(lift 199 (toeplitz-pair 144 (toom-cook 3 (karatsuba (toeplitz)))))";
    let plan = plan("Z16384[x]/(x^100 + x^99 + 1)", tree);
    let error = lower(&plan, &Schedule::default(), &AVX2, "x").unwrap_err().to_string();
    for part in ["(toeplitz-pair 144", "on avx2", "words of 17 bits", "karatsuba"] {
        assert!(error.contains(part), "`{part}` is not in {error}");
    }
}

#[test]
fn what_has_no_levels_is_refused_with_the_reason() {
    for (ring, tree, target, why) in [
        ("Z4591[x]/(x^48 - 1)", "(toeplitz-matrix 48 (toeplitz))", &AVX2, "modulo 2^16"),
        ("Z2048[x]/(x^12 - 1)", "(toeplitz-matrix 12 (toeplitz))", &AVX2, "cannot be put in lanes"),
        ("Z2048[x]/(x^40 - 1)", "(toeplitz-matrix 40 (toeplitz))", &AVX512, "a multiple of 32"),
    ] {
        let plan = plan(ring, tree);
        let error = lower(&plan, &Schedule::default(), target, "x").unwrap_err().to_string();
        for part in [tree, target.name, why] {
            assert!(error.contains(part), "`{part}` is not in {error}");
        }
        // The definition is a choice of its own, right where the method is refused.
        let definition = self::plan(ring, "(schoolbook)");
        let program = lower(&definition, &Schedule::default(), target, "x").unwrap().program;
        let program = program.expand();
        for [a, b] in operands(plan.ring.degree(), plan.ring.q() as i64) {
            assert_eq!(run(&program, &[&a, &b]).unwrap(), plan.ring.mul(&a, &b));
        }
    }
}
