//! Plans for many rings multiply right, in the worst case too.

use super::*;
use crate::lift::Lift;
use crate::testing::Random;
use crate::{ChangeModulus, ProductRef, Substitute};
use ringforge_targets::AVX2;

/// Multiplies with the `most` cheapest candidates: random operands and both ends of the ranges.
fn check(ring: &str, operands: [Operand; 2], most: usize) -> Vec<Candidate> {
    let ring: Ring = ring.parse().unwrap_or_else(|e| panic!("{e}"));
    let found = candidates(&ring, operands, "any", &AVX2).unwrap_or_else(|e| panic!("{e}"));
    let (n, q) = (ring.degree(), ring.q());
    let mut random = Random(q + n as u64);
    let ranges = operands.map(|operand| operand.range(q));
    for candidate in found.iter().take(most) {
        assert!(candidate.plan.covers(operands), "{}", candidate.plan);
        candidate.plan.check().unwrap_or_else(|e| panic!("{e}"));
        for round in 0..3 {
            let mut operand = |(low, high): (i64, i64)| -> Vec<i64> {
                let width = (high - low + 1) as u64;
                let any = |_| match round {
                    0 => low + random.below(width) as i64,
                    1 => low,
                    _ => {
                        if random.below(2) == 0 {
                            low
                        } else {
                            high
                        }
                    }
                };
                (0..n).map(any).collect()
            };
            let (a, b) = (operand(ranges[0]), operand(ranges[1]));
            assert_eq!(candidate.plan.multiply(&a, &b), ring.mul(&a, &b), "{}", candidate.plan);
        }
    }
    found
}

const BIG: [Operand; 2] = [Operand::Big; 2];

#[test]
fn rings_of_every_kind() {
    for ring in [
        "Z2[x]/(x^16 + x + 1)",
        "Z3[x]/(x^17 - 1)",
        "Z17[x]/(x^16 + 1)",
        "Z4591[x]/(x^61 - x - 1)",
        "Z2048[x]/(x^67 - 1)",
        "Z8192[x]/(x^64 + 1)",
        "Z3600[x]/(x^40 + 3x^2 - 1)",
        "Z1001[x]/(x^96 - 1)",
        "Z65536[x]/(x^31 + 1)",
        "Z65521[x]/(x^45 - 7)",
        "Z7681[x]/(x^33 + x^32 + x^31 + 5x^20 - 7x^19 + x^18 + 3)",
    ] {
        assert!(check(ring, BIG, 20).len() > 3, "{ring}");
    }
}

#[test]
fn promised_operands_need_smaller_primes() {
    let covered = |operands| {
        let found = check("Z2048[x]/(x^67 - 1)", operands, 20);
        let change = |c: &Candidate| {
            let lift = c.plan.root.as_method::<Lift>()?;
            Some(lift.inner.as_method::<ChangeModulus>()?.covered())
        };
        found.iter().filter_map(change).min().expect("a change of modulus")
    };
    let (small, big) = (covered([Operand::Big, Operand::Small]), covered(BIG));
    assert!((2 * 67 * 1024..4 * 67 * 1024).contains(&small), "{small}");
    assert!(((2 * 67) << 20..(4 * 67) << 20).contains(&big), "{big}");
    // A dense f multiplies any residues, whatever was promised.
    let dense = check("Z2048[x]/(x^40 + x^39 + 1)", [Operand::Small; 2], 2);
    for candidate in dense.iter().filter(|candidate| !candidate.plan.is_plain()) {
        let lift = candidate.plan.root.as_method::<Lift>().expect("a lift");
        assert!(lift.is_dense() && lift.inner.domain().bounds == [1024, 1024]);
    }
}

/// One that every target can lower is always there: blocks of 16 over short primes.
#[test]
fn there_is_always_the_universal_plan() {
    let rings = [
        ("Z65536[x]/(x^1024 - x^1023 - 1)", BIG),
        ("Z65535[x]/(x^2047 - x - 1)", BIG),
        ("Z2[x]/(x^16 + x + 1)", BIG),
        ("Z4591[x]/(x^761 - x - 1)", [Operand::Big, Operand::Small]),
    ];
    let short = |part: &ProductRef| {
        part.as_method::<Substitute>()
            .is_some_and(|part| part.blocks.k == 16 && part.blocks.domain.q < 13_000)
    };
    for (ring, operands) in rings {
        let found =
            candidates(&ring.parse().expect("ring"), operands, "any", &AVX2).expect("plans");
        let universal = |c: &Candidate| -> Option<bool> {
            let lift = c.plan.root.as_method::<Lift>()?;
            Some(lift.inner.as_method::<ChangeModulus>()?.inner.iter().all(short))
        };
        assert!(found.iter().any(|c| universal(c) == Some(true)), "{ring}");
    }
}

/// The schoolbook product is always there too: it can be proved where other plans may not be.
#[test]
fn there_is_always_the_definition() {
    for ring in [
        "Z50414[x]/(x^16 + 1)",
        "Z65535[x]/(x^2047 - x - 1)",
        "Z3[x]/(x^19 + x^18 + 2)",
        "Z64[x]/(x^16 + 1)",
    ] {
        let found = candidates(&ring.parse().expect("ring"), BIG, "any", &AVX2).expect("plans");
        let definitions: Vec<_> = found.iter().filter(|c| c.is_definition()).collect();
        assert_eq!(definitions.len(), 1, "{ring}");
        // What takes longer than all others for long operands may be best for short ones.
        let long = definitions[0].plan.ring.degree() > 1000;
        assert!(!long || found.last().expect("plans").is_definition(), "{ring}");
    }
}

#[test]
fn what_is_refused() {
    let refused = |ring: &str, operands| {
        let ring: Ring = ring.parse().unwrap_or_else(|e| panic!("{e}"));
        candidates(&ring, operands, "any", &AVX2).expect_err("refused").to_string()
    };
    assert_eq!(
        refused("Z17[x]/(x^5 - x - 1)", BIG),
        "no plan is known for Z17[x]/(x^5 - x - 1): its degree 5 is not in 16 to 2048; q up to 65536 \
         and degrees from 16 to 2048, or a plan of your own"
    );
    // Above 2^16 plain C is what there is.
    let ring: Ring = "Z70000[x]/(x^20 - x - 1)".parse().expect("ring");
    let all = candidates(&ring, BIG, "any", &AVX2).expect("plain C");
    assert!(!all.is_empty() && all.iter().all(|c| c.plan.is_plain()));
    assert!(
        refused("Z17[x]/(x^20 + 1)", [Operand::Big, Operand::Within(9)]).contains("wider than")
    );
    // What a preset or a plan in halves serves is no matter of these ranges.
    let ring: Ring = "Z8380417[x]/(x^256 + 1)".parse().expect("ring");
    assert!(!candidates(&ring, BIG, "any", &AVX2).expect("a preset").is_empty());
}

/// Trinomials have plans by their roots, where there are such; a middle that is no half, or a missing root, none.
#[test]
fn trinomials_split_by_their_roots() {
    let splits = |ring: &str| {
        let ring: Ring = ring.parse().unwrap_or_else(|e| panic!("{e}"));
        let all =
            candidates(&ring, [Operand::Big; 2], "mine", &AVX2).unwrap_or_else(|e| panic!("{e}"));
        let form = |c: &Candidate| c.plan.root.to_form().to_string();
        all.iter().map(form).filter(|form| form.starts_with("(mixed-radix")).collect::<Vec<_>>()
    };
    let all = splits("Z3457[x]/(x^96 - x^48 + 1)");
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all.iter().any(|form| form.starts_with("(mixed-radix 2 3 2 2 2 2 (")), "{all:?}");
    assert_eq!(splits("Z7681[x]/(x^64 + x^32 + 1)").len(), 2);
    for ring in
        ["Z7687[x]/(x^96 - x^47 + 1)", "Z7691[x]/(x^96 - x^48 + 1)", "Z4700[x]/(x^184 - x^92 + 1)"]
    {
        assert_eq!(splits(ring), [""; 0], "{ring}");
    }
}
