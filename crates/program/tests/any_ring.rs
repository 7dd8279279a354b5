//! Products in any ring, by way of the integers: every modulus, every f, both kinds of base
//! products, on the worst operands that there are.

use ringforge_interpret::range::ranges;
use ringforge_interpret::run::{run, run_in_place};
use ringforge_plan::Plan;
use ringforge_program::lower::{Lowered, lower};
use ringforge_program::method::ReduceMethod;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, C, M4, TARGETS};

/// A transform of 2^k blocks in two levels as balanced as can be.
fn transform(n: usize) -> String {
    if n == 2 {
        return "(butterfly)".into();
    }
    let k = n.trailing_zeros();
    let (a, b) = (1usize << k.div_ceil(2), 1usize << (k / 2));
    format!("(cooley-tukey {a} {b} {} {})", transform(a), transform(b))
}

const PRIMES: [u64; 4] = [7681, 10753, 12289, 11777];

/// A plan for the product in room for 2n − 1 coefficients, by as many primes as it takes.
fn plan(ring: &str, operands: &str, bounds: [u64; 2]) -> Plan {
    let degree: usize = ringforge_ring::Ring::parse(ring).unwrap().degree();
    let blocks = ((2 * degree - 1).div_ceil(16)).next_power_of_two().max(2);
    let bound = 2 * degree as u128 * u128::from(bounds[0]) * u128::from(bounds[1]);
    let mut covered = 1;
    let mut parts = String::new();
    for p in PRIMES {
        if covered <= bound {
            parts += &format!(
                "(prime {p} (substitute 16 {} (weighted-convolution (toeplitz))))",
                transform(blocks)
            );
            covered *= u128::from(p);
        }
    }
    let text = format!(
        "(plan any (ring \"{ring}\") {operands} (lift {} (change-modulus {parts})))",
        16 * blocks
    );
    Plan::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Random operands and the worst: everything at a bound, signs in all orders, single monomials.
fn operands(n: usize, [a, b]: [(i64, i64); 2]) -> Vec<[Vec<i64>; 2]> {
    let all = |f: &dyn Fn(usize) -> i64| (0..n).map(f).collect::<Vec<i64>>();
    let mut x = 88172645463325252u64;
    let mut random = |(lo, hi): (i64, i64)| {
        let next = |_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            lo + (x >> 20) as i64 % (hi - lo + 1)
        };
        (0..n).map(next).collect::<Vec<i64>>()
    };
    let monomial = |at: usize, c: i64| all(&|i| if i == at { c } else { 0 });
    vec![
        [random(a), random(b)],
        [all(&|_| a.0), all(&|_| b.0)],
        [all(&|_| a.1), all(&|_| b.0)],
        [all(&|_| a.1), all(&|_| b.1)],
        [all(&|i| if i % 2 == 0 { a.0 } else { a.1 }), all(&|_| b.0)],
        [
            all(&|i| if i % 2 == 0 { a.0 } else { a.1 }),
            all(&|i| if i % 3 == 0 { b.1 } else { b.0 }),
        ],
        [monomial(n - 1, a.0), monomial(n - 1, b.0)],
        [monomial(0, 1), random(b)],
        [random(a), monomial(n / 2, 1)],
    ]
}

fn check(plan: &Plan, lowered: &Lowered, some: bool) {
    let (n, q) = (plan.ring.degree(), plan.ring.q());
    let program = &lowered.program;
    if let Err(fault) = ranges(program) {
        panic!("{}: {fault}", program.plan);
    }
    let expanded = program.expand();
    let all = operands(n, plan.operands.map(|o| o.range(q)));
    for (case, [a, b]) in all.iter().enumerate().take(if some { 5 } else { all.len() }) {
        let want = plan.ring.mul(a, b);
        let found = run(&expanded, &[a, b]).unwrap_or_else(|e| panic!("{e}"));
        if found != want {
            let at = found.iter().zip(&want).position(|(x, y)| x != y).unwrap();
            panic!("{}: case {case}, c[{at}] = {}, not {}", plan.ring, found[at], want[at]);
        }
        if case == 0 {
            assert!(run_in_place(&expanded, &[a, b], 1).unwrap() == want, "in place of b");
        }
    }
}

fn both(plan: &Plan) {
    for schedule in [Schedule::default(), Schedule::portable()] {
        let schedule = Schedule { rounds: 3, ..schedule };
        let lowered =
            lower(plan, &schedule, &AVX2, "x").unwrap_or_else(|e| panic!("{}: {e}", plan.ring));
        check(plan, &lowered, plan.ring.degree() > 300);
    }
}

fn big(ring: &str) -> Plan {
    let q = ringforge_ring::Ring::parse(ring).unwrap().q();
    plan(ring, "", [q / 2; 2])
}

#[test]
fn powers_of_two() {
    for ring in ["Z2048[x]/(x^41 - 1)", "Z65536[x]/(x^32 + 1)", "Z4[x]/(x^17 - x - 1)"] {
        both(&big(ring));
    }
}

#[test]
fn odd_even_and_composite_moduli() {
    for ring in [
        "Z4591[x]/(x^53 - x - 1)",
        "Z9000[x]/(x^33 + x^2 - 1)",
        "Z16383[x]/(x^16 + 1)",
        "Z6[x]/(x^20 - 1)",
        "Z3[x]/(x^30 + x + 1)",
    ] {
        both(&big(ring));
    }
}

#[test]
fn moduli_beyond_words_of_16_bits() {
    for ring in
        ["Z40000[x]/(x^31 - x - 1)", "Z65521[x]/(x^47 + 1)", "Z65535[x]/(x^16 + 5x^3 - 2x - 1)"]
    {
        both(&big(ring));
    }
}

#[test]
fn any_coefficients_of_f() {
    for ring in ["Z4591[x]/(x^37 + 17x^5 - 1200x + 3)", "Z8192[x]/(x^40 + 3x^2 - 5)"] {
        both(&big(ring));
    }
    // Many: x^20 + 2x^19 + 3x^18 + …
    let dense: Vec<String> = (0..20).map(|i| format!("{}x^{}", 20 - i + 1, i)).collect();
    for q in [4591, 4096, 40000, 8400] {
        both(&big(&format!("Z{q}[x]/(x^20 + {})", dense.join(" + "))));
    }
}

#[test]
fn small_operands_take_fewer_primes() {
    let plan = plan("Z4591[x]/(x^61 - x - 1)", "(operands big small)", [2295, 1]);
    assert_eq!(plan.to_string().matches("(prime").count(), 2, "{plan}");
    both(&plan);
}

#[test]
fn large_rings() {
    let big_by_small = plan("Z4591[x]/(x^761 - x - 1)", "(operands big small)", [2295, 1]);
    let ntru = big("Z2048[x]/(x^677 - 1)");
    for (plan, schedule) in [(big_by_small, Schedule::default()), (ntru, Schedule::portable())] {
        let schedule = Schedule { rounds: 1, ..schedule };
        let lowered =
            lower(&plan, &schedule, &AVX2, "x").unwrap_or_else(|e| panic!("{}: {e}", plan.ring));
        check(&plan, &lowered, true);
    }
}

/// The definition: sums in the shortest words that hold them on portable C, reduced once; rounds of 32 bits elsewhere.
#[test]
fn definitions_sum_in_words_that_hold_them() {
    let rings = [
        // Words that wrap, sums of 32 bits, sums of 64 bits; odd, even, and as large as can be.
        ("Z65536[x]/(x^18 + x^7 - 1)", 16),
        ("Z2[x]/(x^16 - x - 1)", 16),
        ("Z10[x]/(x^45 + x^40 + x^23 + 1)", 32),
        ("Z4591[x]/(x^53 - x - 1)", 32),
        ("Z724[x]/(x^33 + x^7 - 1)", 32),
        ("Z60847[x]/(x^40 + x^3 - 1)", 64),
        ("Z32906[x]/(x^33 - x - 1)", 64),
        ("Z65535[x]/(x^16 + 5x^3 - 2x - 1)", 64),
        (
            "Z65521[x]/(x^20 + 17x^11 + 3x^9 - 1200x^8 + 2x^7 + 5x^6 - x^5 + 40x^4 + 7x^3 + x^2 + 9x - 30000)",
            64,
        ),
    ];
    for (ring, bits) in rings {
        let n = ringforge_ring::Ring::parse(ring).unwrap().degree();
        let text = format!("(plan any (ring \"{ring}\") (lift {} (schoolbook)))", 2 * n - 1);
        let plan = Plan::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        for target in TARGETS {
            let schedule = Schedule { rounds: 1, ..Schedule::of(target) };
            let lowered = lower(&plan, &schedule, target, "x").unwrap_or_else(|e| panic!("{e}"));
            let longest = lowered.program.procedures.iter().map(|p| p.bits).max();
            let wanted = if target.name == C.name { bits } else { bits.min(32) };
            assert!(longest >= Some(wanted) && longest <= Some(target.sums), "{ring} {target}");
            if target.name == C.name || target.name == AVX2.name {
                check(&plan, &lowered, false);
            }
        }
    }
}

/// Remainders by f of many coefficients are sums with powers of x, in words that wrap, of 32 bits and of 64; through
/// primes as well; and two more products where powers of x are too many.
#[test]
fn dense_moduli_take_powers_of_x() {
    let dense = |q: u64, n: usize| {
        let f = (1..n).map(|i| ((i * i * 7919 + i + 1) as u64 % q, i)).filter(|&(c, _)| c > 0);
        let f: Vec<String> = f.map(|(c, i)| format!("{c}x^{i}")).collect();
        format!("Z{q}[x]/(x^{n} + {} + 1)", f.join(" + "))
    };
    let named = |lowered: &Lowered, name: &str| {
        lowered.program.procedures.iter().any(|procedure| procedure.name == name)
    };
    let all = [(3u64, 19, "big"), (9, 16, "big"), (32, 50, "big"), (65536, 18, "small")];
    let all = all.into_iter().chain([(122, 22, "small"), (24649, 30, "big"), (65535, 33, "big")]);
    for (q, n, rhs) in all.chain([(58081, 18, "big"), (27, 40, "small"), (12289, 47, "big")]) {
        let (ring, length) = (dense(q, n), 2 * n - 1);
        let text = format!(
            "(plan any (ring \"{ring}\") (operands big {rhs}) (lift {length} (schoolbook)))"
        );
        let plan = Plan::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
        for target in TARGETS {
            let usual = Schedule { rounds: 1, ..Schedule::of(target) };
            let reduce = ReduceMethod::BarrettHigh;
            for schedule in [Schedule { reduce, ..usual.clone() }, usual] {
                let lowered =
                    lower(&plan, &schedule, target, "x").unwrap_or_else(|e| panic!("{ring}: {e}"));
                // In portable C the other schedule takes two more products.
                let other = target.name == C.name && schedule.reduce == reduce;
                let matrix = target.name != M4.name && !other;
                assert_eq!(named(&lowered, "remainder"), matrix, "{ring} {target}");
                assert_eq!(named(&lowered, "sum_quotient"), !matrix, "{ring} {target}");
                check(&plan, &lowered, false);
            }
        }
    }
    for ring in [dense(4591, 20), dense(4096, 20), dense(40000, 20)] {
        let plan = big(&ring);
        for (target, matrix) in [(&C, false), (&AVX2, true)] {
            let schedule = Schedule { rounds: 1, ..Schedule::of(target) };
            let lowered = lower(&plan, &schedule, target, "x");
            let lowered = lowered.unwrap_or_else(|e| panic!("{ring}: {e}"));
            assert_eq!(named(&lowered, "remainder"), matrix, "{ring} {target}");
            check(&plan, &lowered, false);
        }
    }
    let ring = dense(17, 200);
    let plan = Plan::parse(&format!("(plan any (ring \"{ring}\") (lift 399 (schoolbook)))"));
    let lowered = lower(&plan.unwrap(), &Schedule::of(&C), &C, "x").unwrap();
    assert!(named(&lowered, "sum_quotient") && !named(&lowered, "remainder"));
}

/// Sums are reduced to what is promised, by constants that a program's words of 32 bits hold.
#[test]
fn sums_are_reduced_within_their_bound() {
    use ringforge_program::method::Modulus;
    for q in [3u64, 10, 212, 3329, 32905, 32906, 60847, 65521, 65535] {
        for terms in [1i64, 16, 33, 400, 2048] {
            let most = terms * (q / 2) as i64 * (q / 2) as i64;
            let (method, bound) = ReduceMethod::of_sums(q, most).unwrap();
            let ReduceMethod::BarrettLow { scale, .. } = method else { panic!("{method:?}") };
            assert!(i32::try_from(1i64 << (scale - 1)).is_ok(), "{q} {terms}: the half is no word");
            assert!(bound <= q as i64 / 2 + q as i64 / 4 + 2, "{q} {terms}: {bound}");
            let step = (most / 5000).max(1) as usize;
            let near = (-most..=most).step_by(step).chain([most]);
            for x in near.flat_map(|x| [x - 1, x, x + 1]).filter(|x| x.abs() <= most) {
                let y = method.apply(x, Modulus { q, bits: 64 });
                assert!(y.abs() <= bound && (x - y) % q as i64 == 0, "{q} {terms}: {x} gives {y}");
            }
        }
    }
}
