//! Whatever ring comes: all plans that are offered for it have a program, for vectors and in portable C,
//! and it multiplies. The rings are random ones, the same in every run. Every day the longest has a degree of some 300; left
//! to `RINGFORGE_LONG=1`: one of some 1000, and more of the others.

mod common;

use common::Random;
use ringforge_plan::{Operand, candidates};
use ringforge_program::schedule::Schedule;
use ringforge_ring::{Ring, zq};
use ringforge_targets::AVX2;
use ringforge_testing::long;

/// A modulus: prime, composite or a power of two.
fn modulus(random: &mut Random) -> u64 {
    match random.within((0, 3)) {
        0 => 1 << random.within((1, 16)),
        1 => (random.within((3, 65000)) as u64..).find(|&q| zq::is_prime(q)).unwrap_or(3),
        _ => random.within((2, 65536)) as u64,
    }
}

/// x^n ± 1, x^n - x - 1, a few terms, or many.
fn ring(random: &mut Random, n: usize) -> Ring {
    let q = modulus(random);
    let terms = match random.within((0, 5)) {
        0 => "- 1".to_string(),
        1 => "+ 1".to_string(),
        2 => "- x - 1".to_string(),
        3 => format!("- {}x^{} + {}", q / 2 + 1, n / 2, q / 3 + 1),
        4 => format!("+ x^{} - x + 1", n - 1),
        _ => {
            let term = |i: usize| format!("{}x^{i}", random.within((1, q as i64 - 1).max((1, 1))));
            let all: Vec<String> = (0..n).map(term).collect();
            format!("+ {}", all.join(" + "))
        }
    };
    let text = format!("Z{q}[x]/(x^{n} {terms})");
    Ring::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Checks all candidates for `count` rings with degrees up to `most`, by each schedule; returns how many.
fn sample(schedules: &[Schedule], seed: u64, count: usize, (least, most): (i64, i64)) -> usize {
    let mut random = Random(seed);
    let (mut failures, mut checked) = (Vec::new(), 0);
    for _ in 0..count {
        let n = random.within((least, most)) as usize;
        // Half of the degrees have factors to go by.
        let n = if random.within((0, 1)) == 0 { n.next_multiple_of(16) } else { n };
        let ring = ring(&mut random, n);
        let small =
            if random.within((0, 1)) == 0 && ring.q() > 2 { Operand::Small } else { Operand::Big };
        let found = candidates(&ring, [Operand::Big, small], "any", &AVX2);
        for candidate in found.unwrap_or_else(|e| panic!("{ring}: {e}")) {
            for schedule in schedules {
                let schedule = Schedule { rounds: 1, ..schedule.clone() };
                checked += 1;
                if let Err(e) = common::check(&candidate.plan, &schedule, 3) {
                    failures.push(format!("{:?}: {e}", schedule.base));
                }
            }
        }
    }
    let all = failures.join("\n");
    assert!(failures.is_empty(), "{} of {checked} failed:\n{all}", failures.len());
    checked
}

fn both() -> [Schedule; 2] {
    [Schedule::default(), Schedule::portable()]
}

#[test]
fn short_rings() {
    let (seed, rings, least) = if long() { (88172645, 9, 40) } else { (2463534242, 5, 20) };
    assert!(sample(&both(), seed, rings, (16, 90)) > least);
}

#[test]
fn longer_rings() {
    let (rings, most) = if long() { (3, 400) } else { (2, 150) };
    assert!(sample(&both(), 88675123, rings, (100, most)) > 5);
}

fn a_long_ring(schedule: Schedule) {
    let degrees = if long() { (900, 1100) } else { (250, 350) };
    assert!(sample(&[schedule], 521288629, 1, degrees) > 0);
}

#[test]
fn a_long_ring_in_vectors() {
    a_long_ring(Schedule::default());
}

#[test]
fn a_long_ring_in_portable_c() {
    a_long_ring(Schedule::portable());
}

ringforge_testing::rest!(
    short_rings,
    longer_rings,
    a_long_ring_in_vectors,
    a_long_ring_in_portable_c,
);
