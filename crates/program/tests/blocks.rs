//! Products through blocks of any width: every kind of node, in words of 16 bits and of 32.

mod common;

use ringforge_plan::Plan;
use ringforge_program::lower::lower;
use ringforge_program::method::{MulMethod, ReduceMethod};
use ringforge_program::schedule::{Schedule, Weights};
use ringforge_targets::{AVX2, NEON};

/// The notes of both schedules.
fn check(ring: &str, operands: &str, tree: &str) -> Vec<String> {
    let text = format!("(plan p (ring \"{ring}\") {operands} {tree})");
    let plan = Plan::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut notes = Vec::new();
    // Blocks weighted by their own products, steps joined, Barrett's words where they can be.
    let within = Schedule {
        weights: Weights::Within,
        fuse: 24,
        multiply: MulMethod::Barrett,
        rounds: 2,
        ..Schedule::default()
    };
    common::check_on(&NEON, &plan, &within, 10).unwrap_or_else(|e| panic!("{e}"));
    for schedule in [Schedule::default(), Schedule::portable()] {
        let schedule = Schedule { rounds: 2, ..schedule };
        notes = common::check(&plan, &schedule, 10).unwrap_or_else(|e| panic!("{e}"));
    }
    notes
}

/// Words of 32 bits are multiplied by Barrett's method where the schedule says so and the machine rounds high halves.
#[test]
fn long_words_by_barrett_where_they_are_rounded() {
    let tree = "(lift 32 (change-modulus (prime 3494017 (substitute 8 (cooley-tukey 2 2 (butterfly) \
                (butterfly)) (weighted-convolution (toeplitz))))))";
    let text = format!("(plan p (ring \"Z4591[x]/(x^16 - x - 1)\") {SMALL} {tree})");
    let plan = Plan::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let methods = |multiply, reduce, target| {
        let schedule = Schedule { multiply, reduce, rounds: 2, ..Schedule::default() };
        let lowered = lower(&plan, &schedule, target, "x").unwrap_or_else(|e| panic!("{e}"));
        let text = format!("{:?}", lowered.program.procedures);
        ["Barrett }", "MontgomeryWide }"].map(|method| text.contains(method))
    };
    use ReduceMethod::{Barrett, Montgomery};
    assert_eq!(methods(MulMethod::Barrett, Barrett, &NEON), [true, false]);
    assert_eq!(methods(MulMethod::Barrett, Barrett, &AVX2), [false, true]);
    assert_eq!(methods(MulMethod::Montgomery, Montgomery, &NEON), [false, true]);
}

const SMALL: &str = "(operands big small)";

#[test]
fn primes_of_32_bits() {
    for (width, transform) in [
        (8, "(cooley-tukey 2 2 (butterfly) (butterfly))"),
        (4, "(cooley-tukey 2 4 (butterfly) (cooley-tukey 2 2 (butterfly) (butterfly)))"),
        (16, "(butterfly)"),
    ] {
        let tree = format!(
            "(lift 32 (change-modulus (prime 3494017 (substitute {width} {transform} \
             (weighted-convolution (toeplitz))))))"
        );
        check("Z4591[x]/(x^16 - x - 1)", SMALL, &tree);
        check("Z2048[x]/(x^16 - 1)", SMALL, &tree);
        check("Z40000[x]/(x^16 - 1)", SMALL, &tree);
    }
}
#[test]
fn by_definition() {
    check("Z2048[x]/(x^16 - 1)", SMALL, "(lift 32 (change-modulus (prime 3494017 (schoolbook))))");
    check("Z4591[x]/(x^19 - x - 1)", "", "(lift 37 (schoolbook))");
    check("Z4591[x]/(x^19 - x - 1)", "", "(schoolbook)");
    check("Z4591[x]/(x^19 - 1)", "", "(schoolbook)");
    check("Z4591[x]/(x^21 - 17)", "", "(schoolbook)");
}

/// Sums that fit a word and sums that do not, modulo odd and even numbers up to the largest, f of few
/// coefficients and of many, operands that fill no register.
#[test]
fn by_definition_over_any_modulus() {
    for q in [3, 41, 186, 3944, 15016, 24455, 40000, 52810, 65521, 65535] {
        check(&format!("Z{q}[x]/(x^16 + 1)"), "", "(lift 31 (schoolbook))");
        check(&format!("Z{q}[x]/(x^37 - x^3 - 2)"), "", "(lift 73 (schoolbook))");
    }
    check("Z24455[x]/(x^100 - x - 1)", SMALL, "(lift 199 (schoolbook))");
    let dense = "x^19 + x^18 + x^17 + 5x^16 + 7x^15 - x^14 + 3x^13 + x^12 + 2x^11 + x^10 + x^9 + 9x^8 \
                 + x^7 + x^6 + 4x^5 - 1";
    for q in [41, 186, 65534] {
        check(&format!("Z{q}[x]/({dense})"), "", "(lift 37 (schoolbook))");
    }
}

#[test]
fn blocks_of_any_width() {
    for (width, length, transform) in [
        (5, 40, "(cooley-tukey 2 4 (butterfly) (cooley-tukey 2 2 (butterfly) (butterfly)))"),
        (9, 36, "(cooley-tukey 2 2 (butterfly) (butterfly))"),
        (20, 40, "(butterfly)"),
        (33, 66, "(butterfly)"),
        (3, 36, "(good-thomas 4 3 (cooley-tukey 2 2 (butterfly) (butterfly)) (rader 3))"),
    ] {
        let part = format!("(substitute {width} {transform} (weighted-convolution (toeplitz)))");
        // Over the modulus itself, over a prime of 16 bits and over one of 32.
        check("Z7681[x]/(x^17 - x - 1)", "", &format!("(lift {length} {part})"));
        for prime in [12289, 12902401] {
            let tree = format!("(lift {length} (change-modulus (prime {prime} {part})))");
            check("Z512[x]/(x^17 - 1)", SMALL, &tree);
        }
    }
    check(
        "Z4591[x]/(x^96 - 1)",
        "",
        "(substitute 48 (butterfly) (weighted-convolution (toeplitz)))",
    );
}

#[test]
fn halves() {
    let ntt = |levels: usize| {
        format!(
            "(ntt {levels} (forward cooley-tukey) (inverse gentleman-sande) \
             (weighted-convolution (toeplitz)))"
        )
    };
    for (ring, levels) in [
        ("Z7681[x]/(x^32 + 1)", 5),
        ("Z7681[x]/(x^64 + 1)", 3),
        ("Z257[x]/(x^96 + 1)", 4),
        ("Z8380417[x]/(x^64 + 1)", 6),
        ("Z65537[x]/(x^24 + 1)", 3),
        ("Z40961[x]/(x^48 + 1)", 2),
    ] {
        check(ring, "", &ntt(levels));
    }
    for prime in [7681, 12289, 8380417] {
        let tree = format!("(change-modulus (prime {prime} {}))", ntt(5));
        check("Z64[x]/(x^64 + 1)", SMALL, &tree);
        let tree = format!("(lift 64 (change-modulus (prime {prime} {})))", ntt(6));
        check("Z64[x]/(x^29 - x - 1)", SMALL, &tree);
    }
}

#[test]
fn monomial_factors() {
    let main = |width: usize, blocks: &str| {
        format!("(main (substitute {width} {blocks} (weighted-convolution (toeplitz))))")
    };
    for (degrees, main, low) in [
        ("32 16", main(16, "(butterfly)"), "(schoolbook)"),
        ("32 7", main(16, "(butterfly)"), "(schoolbook)"),
        ("30 9", main(15, "(butterfly)"), "(border 8 (schoolbook))"),
        ("24 15", main(6, "(cooley-tukey 2 2 (butterfly) (butterfly))"), "(lift 31 (schoolbook))"),
    ] {
        let crt = format!("(monomial-crt {degrees} {main} (low {low}))");
        check("Z7681[x]/(x^19 - x - 1)", "", &format!("(lift 39 {crt})"));
        for prime in [12289, 12902401] {
            let tree = format!("(lift 39 (change-modulus (prime {prime} {crt})))");
            check("Z256[x]/(x^19 - 1)", SMALL, &tree);
        }
    }
}

#[test]
fn primes_of_several_sizes() {
    let part = "(substitute 8 (cooley-tukey 2 2 (butterfly) (butterfly)) \
                (weighted-convolution (toeplitz)))";
    for primes in [&[7681, 12902401][..], &[12902401, 7681], &[3494017, 12902401]] {
        let parts: Vec<String> = primes.iter().map(|p| format!("(prime {p} {part})")).collect();
        let tree = format!("(lift 32 (change-modulus {}))", parts.join(" "));
        for ring in ["Z2048[x]/(x^16 - 1)", "Z4591[x]/(x^16 - x - 1)", "Z40000[x]/(x^16 + 1)"] {
            check(ring, "", &tree);
        }
    }
    // A prime that leaves hardly any room.
    let tree = "(lift 32 (change-modulus (prime 2147483489 (schoolbook))))";
    check("Z4591[x]/(x^16 - x - 1)", "", tree);
}

/// Low parts of a register, of one word more and of one word alone; products that are as long as both parts
/// together, and shorter ones, whose last place holds no coefficient.
#[test]
fn low_parts_that_end_one_word_behind_a_register() {
    let main = "(main (substitute 16 (butterfly) (weighted-convolution (toeplitz))))";
    for (low, degrees) in [(1, [17, 16]), (16, [24, 23]), (17, [25, 24])] {
        for n in degrees {
            let length = 32 + low;
            let crt = format!("(monomial-crt 32 {low} {main} (low (schoolbook)))");
            check(&format!("Z7681[x]/(x^{n} - x - 1)"), "", &format!("(lift {length} {crt})"));
            for prime in [7681, 12289, 12902401] {
                let tree = format!("(lift {length} (change-modulus (prime {prime} {crt})))");
                check(&format!("Z64[x]/(x^{n} - x - 1)"), SMALL, &tree);
                check(&format!("Z64[x]/(x^{n} - 1)"), SMALL, &tree);
            }
        }
    }
}
