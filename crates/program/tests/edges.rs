//! Sizes that fill no register and moduli that no word of 16 bits holds: right, or refused with the reason.

mod common;

use ringforge_plan::Plan;
use ringforge_program::lower::{LowerError, lower};
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, SSE41};

/// What went wrong, and how much was tried.
#[derive(Default)]
struct Failures {
    all: Vec<String>,
    count: usize,
}

impl Failures {
    /// Checks a plan by both kinds of schedule: it is lowered as it says, and right.
    fn check(&mut self, ring: &str, operands: &str, tree: &str) {
        let plan = plan(ring, operands, tree);
        for schedule in [Schedule::default(), Schedule::portable()] {
            let schedule = Schedule { rounds: 1, ..schedule };
            self.count += 1;
            match common::check(&plan, &schedule, 3) {
                Ok(notes) if notes.iter().any(|note| note.contains("is executed as")) => {
                    self.all.push(format!("{:?}: {ring}, {tree}: {notes:?}", schedule.base));
                }
                Ok(_) => {}
                Err(e) => self.all.push(format!("{:?}: {e}", schedule.base)),
            }
        }
    }

    fn end(self) {
        let (count, found) = (self.count, self.all.len());
        assert!(self.all.is_empty(), "{found} of {count}:\n{}", self.all.join("\n"));
        assert!(count > 0);
    }
}

fn plan(ring: &str, operands: &str, tree: &str) -> Plan {
    let text = format!("(plan p (ring \"{ring}\") {operands} {tree})");
    Plan::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

const SMALL: &str = "(operands big small)";
const WEIGHTED: &str = "(weighted-convolution (toeplitz))";

/// Blocks of 16 by a transform of so many.
fn transform(blocks: usize) -> String {
    match blocks {
        1 => String::new(),
        2 => "(butterfly)".into(),
        _ => format!("(cooley-tukey 2 {} (butterfly) {})", blocks / 2, transform(blocks / 2)),
    }
}

/// A change of modulus through blocks of 16, by as many of the primes as a product of operands within
/// `bounds` takes.
fn through_primes(n: usize, bounds: [u64; 2], primes: &[u64]) -> String {
    let bound = 2 * n as u128 * u128::from(bounds[0]) * u128::from(bounds[1]);
    let blocks = (2 * n).div_ceil(16).next_power_of_two();
    let (mut covered, mut parts) = (1u128, String::new());
    for p in primes {
        if covered > bound {
            break;
        }
        parts += &format!("(prime {p} (substitute 16 {} {WEIGHTED}))", transform(blocks));
        covered *= u128::from(*p);
    }
    assert!(covered > bound, "{n}, {bounds:?}");
    format!("(lift {} (change-modulus {parts}))", blocks * 16)
}

const LONG: [u64; 3] = [12902401, 3494017, 8380417];

#[test]
fn change_of_modulus_above_words_of_16_bits() {
    let mut failures = Failures::default();
    for q in [65537u64, 131071, 131072, 1_000_003] {
        for (n, f) in [(16usize, "x^16 + 1"), (33, "x^33 - x - 1")] {
            let ring = format!("Z{q}[x]/({f})");
            for primes in [&LONG[..], &[7681, 12902401, 12289, 8380417]] {
                failures.check(&ring, SMALL, &through_primes(n, [q / 2, 1], primes));
                failures.check(&ring, "", &through_primes(n, [q / 2; 2], primes));
            }
        }
    }
    failures.end();
}

/// Beside dot products no word of 32 bits is multiplied modulo an even number: through several primes
/// such a q is refused; through one it needs no such product. Portable C has the method.
#[test]
fn even_moduli_above_words_of_16_bits() {
    for q in [65538u64, 98304] {
        let ring = format!("Z{q}[x]/(x^16 + 1)");
        let several = plan(&ring, "", &through_primes(16, [q / 2; 2], &LONG));
        let dots = Schedule { rounds: 1, ..Schedule::default() };
        for target in [AVX2, SSE41] {
            let error = lower(&several, &dots, &target, "x").expect_err("no method").to_string();
            for part in [target.name, "odd numbers only", &format!("modulo {q}"), "target c"] {
                assert!(error.contains(part), "`{part}` is not in {error}");
            }
        }
        let mut failures = Failures::default();
        failures.check(&ring, SMALL, &through_primes(16, [q / 2, 1], &LONG));
        failures.end();
        let portable = Schedule { rounds: 1, ..Schedule::portable() };
        common::check(&several, &portable, 3).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// A prime whose residues leave no room for a sum of their products.
#[test]
fn moduli_without_room_are_refused_by_their_limit() {
    let q = 2147483647u64;
    let tree = through_primes(16, [q / 2; 2], &[7681, 12902401, 12289, 2013265921]);
    let plan = plan(&format!("Z{q}[x]/(x^16 + 1)"), "", &tree);
    for schedule in [Schedule::default(), Schedule::portable()] {
        let error = lower(&plan, &schedule, &AVX2, "x").expect_err("no room");
        assert!(
            matches!(error, LowerError::Products { modulus: 2013265921, bits: 32, .. }),
            "{error}"
        );
    }
}

/// Low parts of whole registers, of a word more, of a word less and of any length; products as long as both
/// parts together and shorter ones.
#[test]
fn monomial_factors_of_every_length() {
    let mut failures = Failures::default();
    for (main, low) in [
        (32, 2),
        (32, 15),
        (32, 16),
        (32, 17),
        (32, 25),
        (32, 31),
        (32, 32),
        (64, 1),
        (64, 33),
        (64, 48),
        (64, 49),
        (64, 64),
    ] {
        let length: usize = main + low;
        let part = format!("(substitute 16 {} {WEIGHTED})", transform(main / 16));
        let crt = format!("(monomial-crt {main} {low} (main {part}) (low (schoolbook)))");
        for n in [length.div_ceil(2).min(main), (length * 3 / 8).max(16)] {
            failures.check(
                &format!("Z7681[x]/(x^{n} - x - 1)"),
                "",
                &format!("(lift {length} {crt})"),
            );
            for prime in [12289, 12902401] {
                let tree = format!("(lift {length} (change-modulus (prime {prime} {crt})))");
                failures.check(&format!("Z64[x]/(x^{n} - x - 1)"), SMALL, &tree);
            }
        }
    }
    failures.end();
}

/// Operands of any length, in products as long as they are and longer.
#[test]
fn operands_of_every_length() {
    let mut failures = Failures::default();
    for (n, blocks) in [(16, 2), (17, 4), (24, 4), (31, 4), (32, 4), (33, 8), (47, 8), (49, 8)] {
        let length = 16 * blocks;
        let part = format!("(substitute 16 {} {WEIGHTED})", transform(blocks));
        for f in ["- x - 1", "- 3x - 5"] {
            let ring = format!("Z7681[x]/(x^{n} {f})");
            failures.check(&ring, "", &format!("(lift {length} {part})"));
        }
        for prime in [12289, 12902401] {
            let tree = format!("(lift {length} (change-modulus (prime {prime} {part})))");
            failures.check(&format!("Z64[x]/(x^{n} - x - 1)"), SMALL, &tree);
        }
    }
    failures.end();
}
