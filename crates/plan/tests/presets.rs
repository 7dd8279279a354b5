//! Every preset plan multiplies right: random operands and those at both ends of what it promises
//! to serve, with equal, alternating and random signs.

use ringforge_plan::{ChangeModulus, Lift, Operand, Plan};

/// A small deterministic generator; tests need no more.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as i64).rem_euclid(bound)
    }
}

#[test]
fn multiply_right_in_the_worst_case() {
    let mut count = 0;
    for name in Plan::names() {
        let plan = Plan::find(name).unwrap_or_else(|e| panic!("{e}"));
        plan.check().unwrap_or_else(|e| panic!("{e}"));
        let (n, q) = (plan.ring.degree(), plan.ring.q());
        let mut random = Random(n as u64);
        let mut operand = |operand: Operand, round: usize| -> Vec<i64> {
            let (low, high) = operand.range(q);
            let end = |up: bool| if up { high } else { low };
            let coefficient = |i: usize| match round {
                0 => low + random.below(high - low + 1),
                1 => low,
                2 => end(i.is_multiple_of(2)),
                _ => end(random.below(2) == 0),
            };
            (0..n).map(coefficient).collect()
        };
        for (left, right) in [(0, 0), (1, 1), (2, 3)] {
            let (a, b) = (operand(plan.operands[0], left), operand(plan.operands[1], right));
            assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b), "{name}");
        }
        count += 1;
    }
    assert!(count >= 30, "{count}");
}

/// What the issue asks for: plans that rely on a small operand are refused for two big ones, with
/// the worst coefficient and the bound; three primes are enough.
#[test]
fn big_operands_need_more() {
    let big = [Operand::Big; 2];
    let refused = |name: &str| {
        let plan = Plan::find(name).unwrap_or_else(|e| panic!("{e}"));
        assert!(plan.covers([Operand::Big, Operand::Small]) && !plan.covers(big), "{name}");
        plan.with_operands(big).expect_err(name).message
    };
    let message = refused("ntruhps2048677-two-prime");
    assert!(message.contains("its coefficient 676 is a sum of 677 products of up to 1024·1024"));
    assert!(message.contains("991·1531 = 1517221 covers only ±758610"), "{message}");
    let message = refused("ntruhps2048677-1440");
    assert!(message.ends_with("can be ±709885952, but 12902401 covers only ±6451200"), "{message}");
    let message = refused("sntrup761-two-prime");
    assert!(message.contains("760 is a sum of 761 products of up to 2295·2295"), "{message}");
    for name in ["ntruhps2048677-three-prime", "sntrup761-three-prime"] {
        let plan = Plan::find(name).unwrap_or_else(|e| panic!("{e}"));
        assert!(plan.covers(big), "{name}");
    }
}

/// The change of modulus of a lifted plan.
fn change(plan: &Plan) -> &ChangeModulus {
    let lift = plan.root.as_method::<Lift>().expect("a lift");
    lift.inner.as_method::<ChangeModulus>().expect("a change of modulus")
}

/// The prime and root of the NTRU-HPS2048677 paper, and the least prime for the transform of [Hwang24].
#[test]
fn primes_of_the_seeds() {
    use ringforge_ring::zq;
    let seed = Plan::find("ntruhps2048677-1440-seed").unwrap_or_else(|e| panic!("{e}"));
    let change_seed = change(&seed);
    assert_eq!(
        (change_seed.moduli.as_slice(), change_seed.bound),
        ([12902401].as_slice(), 677 << 10)
    );
    assert_eq!((zq::order(2577, 12902401), zq::is_prime(12902401)), (Some(1440), true));
    let good = Plan::find("sntrup761-good-thomas-seed").unwrap_or_else(|e| panic!("{e}"));
    let [p] = change(&good).moduli[..] else { panic!("one prime") };
    let bound = 2 * 761 * 2295;
    let smaller = (bound + 1..p).find(|&c| c % 384 == 1 && zq::is_prime(c));
    assert_eq!((p % 384, smaller), (1, None));
}

#[test]
fn plans_say_their_moduli_and_lengths() {
    let say = |name: &str| {
        let plan = Plan::find(name).expect("a preset");
        (plan.moduli(), plan.root.shape())
    };
    assert_eq!(say("sntrup761"), (vec![4591], "90 × 16 + x^81".into()));
    assert_eq!(say("sntrup761-two-prime"), (vec![2017, 2113], "96 × 16".into()));
    assert_eq!(say("mlkem"), (vec![3329], "128 × 2".into()));
    let (moduli, shape) = say("ntruhps2048677-toom");
    assert_eq!((moduli, shape.as_str()), (vec![2048], "Toeplitz matrix of 720"));
}
