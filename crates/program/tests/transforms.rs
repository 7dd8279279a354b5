//! Every entry point of lowered transforms means what it says, in place too, on the corners of its
//! ranges and on disorder.

use ringforge_interpret::run::{run, run_in_place};
use ringforge_plan::{Levels, Plan, Stages};
use ringforge_program::ir::{Computes, Op, Procedure, Program, Role, Stmt};
use ringforge_program::lower::{LowerError, lower};
use ringforge_program::method::NarrowMethod;
use ringforge_program::schedule::{Order, Schedule};
use ringforge_ring::{Ring, zq};
use ringforge_targets::{AVX2, C};

fn automatic(q: u64, n: usize) -> Plan {
    let ring = Ring::parse(&format!("Z{q}[x]/(x^{n} + 1)")).unwrap();
    Plan::automatic(&ring, "auto").unwrap_or_else(|e| panic!("{e}"))
}

/// Operands within [-most, most]: constant signs, signs in blocks, disorder, and disorder at the
/// ends.
fn operands(n: usize, most: i64, seed: u64) -> Vec<Vec<i64>> {
    let mut x = seed;
    let mut next = move || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 20) as i64
    };
    vec![
        vec![most; n],
        (0..n).map(|i| if i / 16 % 3 == 0 { -most } else { most }).collect(),
        (0..n).map(|_| next().rem_euclid(2 * most + 1) - most).collect(),
        (0..n).map(|_| if next() & 1 == 0 { -most } else { most }).collect(),
    ]
}

/// What an entry point is to leave, mod q.
fn expected(
    ntt: &dyn Levels,
    program: &Program,
    computes: Computes,
    inputs: &[&[i64]],
) -> Vec<u64> {
    let q = program.q;
    let layout = program.transform.as_ref().unwrap();
    let enter = |a: &[i64]| a.iter().map(|&x| x.rem_euclid(q as i64) as u64).collect::<Vec<_>>();
    let standard = |a: &[u64]| {
        let mut out = vec![0; a.len()];
        layout.order.iter().zip(a).for_each(|(&i, &x)| out[i as usize] = x);
        out
    };
    let own = |a: &[u64]| layout.order.iter().map(|&i| a[i as usize]).collect::<Vec<u64>>();
    let scaled = |a: Vec<u64>, s: u64| a.iter().map(|&x| zq::mul(x, s, q)).collect::<Vec<_>>();
    let all: Vec<Vec<u64>> = inputs.iter().map(|a| enter(a)).collect();
    match computes {
        Computes::Product => {
            let ring = Ring::parse(&program.ring).unwrap();
            enter(&ring.mul(inputs[0], inputs[1]))
        }
        Computes::Forward { scale } => own(&scaled(ntt.forward(&all[0]), scale)),
        Computes::Inverse { scale } => {
            let back = zq::mul(scale, ntt.left().inverse(), q);
            scaled(ntt.inverse(&standard(&all[0])), back)
        }
        Computes::BaseProduct { scale } => {
            own(&scaled(ntt.base(&standard(&all[0]), &standard(&all[1])), scale))
        }
        Computes::InnerProduct { scale, pairs } => {
            let n = ntt.size();
            let mut sum = vec![0; n];
            for k in 0..pairs {
                let [a, b] = [0, 1].map(|i| standard(&all[i][k * n..(k + 1) * n]));
                let product = own(&scaled(ntt.base(&a, &b), scale));
                sum.iter_mut().zip(product).for_each(|(s, x)| *s = zq::add(*s, x, q));
            }
            sum
        }
        Computes::Accumulate { scale } => {
            let product = ntt.base(&standard(&all[1]), &standard(&all[2]));
            let product = own(&scaled(product, scale));
            product.iter().zip(&all[0]).map(|(&x, &y)| zq::add(x, y, q)).collect()
        }
        Computes::ToStandard => standard(&all[0]),
        Computes::FromStandard => own(&all[0]),
    }
}

fn magnitude(procedure: &Procedure, role: &Role) -> i64 {
    let buffer = procedure.buffers.iter().find(|b| b.role == *role).unwrap();
    let (lo, hi) = buffer.range.unwrap();
    assert_eq!(lo, -hi);
    hi
}

fn check(plan: &Plan, schedule: &Schedule) -> Program {
    let ntt: &dyn Levels = match plan.root.stages() {
        Stages::Levels(levels) => levels,
        _ => panic!("{}", plan.ring),
    };
    let lowered =
        lower(plan, schedule, &AVX2, "x").unwrap_or_else(|e| panic!("{}: {e}", plan.ring));
    let program = lowered.program;
    let q = program.q;
    for procedure in program.procedures.iter().filter(|p| p.exported) {
        let computes = procedure.computes.unwrap();
        let what = format!(
            "{} {} of {}, {:?}",
            plan.ring,
            procedure.name,
            plan.root.to_form(),
            schedule.order
        );
        let entry = program.entry(&procedure.name).unwrap().expand();
        // Chains fit: what the forward transform leaves is multiplied, and sums are transformed back.
        let leaves = |name: &str| {
            magnitude(program.procedures.iter().find(|p| p.name == name).unwrap(), &Role::Output)
        };
        if let Computes::InnerProduct { .. } = computes {
            assert!(leaves("forward") <= magnitude(procedure, &Role::Input), "{what}");
            let inverse = program.procedures.iter().find(|p| p.name == "inverse").unwrap();
            assert!(
                magnitude(procedure, &Role::Output) <= magnitude(inverse, &Role::Input),
                "{what}"
            );
        }
        let inputs: Vec<Vec<Vec<i64>>> = procedure
            .buffers
            .iter()
            .filter(|b| matches!(b.role, Role::Input | Role::InOut))
            .enumerate()
            .map(|(k, b)| operands(b.words, b.range.unwrap().1, 77 + k as u64))
            .collect();
        let out = match computes {
            Computes::Accumulate { .. } => magnitude(procedure, &Role::InOut),
            _ => magnitude(procedure, &Role::Output),
        };
        for k in 0..inputs[0].len() {
            let given: Vec<&[i64]> = inputs
                .iter()
                .enumerate()
                .map(|(i, all)| &all[(k + i * (k % 2)) % all.len()][..])
                .collect();
            let want = expected(ntt, &program, computes, &given);
            let got = run(&entry, &given).unwrap_or_else(|e| panic!("{what}: {e:?}"));
            let residues: Vec<u64> = got.iter().map(|&x| x.rem_euclid(q as i64) as u64).collect();
            assert!(residues == want, "{what}, operands {k}");
            let worst = got.iter().map(|x| x.abs()).max().unwrap();
            assert!(worst <= out, "{what}: {worst} beyond {out}");
            for alias in 0..given.len() {
                let apart =
                    matches!(computes, Computes::Accumulate { .. } | Computes::InnerProduct { .. });
                if !apart {
                    let again = run_in_place(&entry, &given, alias).unwrap();
                    assert!(again == got, "{what}: in place of {alias}");
                }
            }
        }
    }
    program
}

fn schedules() -> [Schedule; 4] {
    let standard = |s: Schedule| Schedule { order: Order::Standard, ..s };
    let sums = |s: Schedule| Schedule { inner_products: vec![2, 3, 4, 7], ..s };
    [
        sums(Schedule::default()),
        sums(Schedule::portable()),
        standard(Schedule::default()),
        standard(Schedule::portable()),
    ]
}

#[test]
fn the_presets() {
    for name in ["mlkem", "kyber1", "newhope1024", "newhope512", "mldsa"] {
        let plan = Plan::find(name).unwrap();
        schedules().iter().for_each(|schedule| {
            check(&plan, schedule);
        });
    }
}

#[test]
fn standard_order_is_that_of_the_standards() {
    let schedule = Schedule { order: Order::Standard, ..Schedule::default() };
    for name in ["mlkem", "mldsa"] {
        let program = lower(&Plan::find(name).unwrap(), &schedule, &AVX2, "x").unwrap().program;
        let order = program.transform.unwrap().order;
        assert!(order.iter().enumerate().all(|(p, &i)| p as u32 == i), "{name}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let error = lower(&automatic(2013265921, 256), &Schedule::default(), &AVX2, "x").unwrap_err();
    assert!(error.to_string().contains("2013265921 is too large for words of 32 bits"), "{error}");
}

/// The methods of all operations that narrow sums.
fn narrowed(program: &Program) -> Vec<NarrowMethod> {
    fn walk(body: &[Stmt], found: &mut Vec<NarrowMethod>) {
        for statement in body {
            match statement {
                Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => walk(body, found),
                Stmt::Call { .. } => {}
                Stmt::Block(block) => found.extend(block.ops.iter().filter_map(|op| match op {
                    Op::Narrow { method, .. } => Some(*method),
                    _ => None,
                })),
            }
        }
    }
    let mut found = Vec::new();
    program.procedures.iter().for_each(|procedure| walk(&procedure.body, &mut found));
    found
}

/// `narrow = "barrett"`: dot products are narrowed by it, without a scale. By lanes there is nothing to
/// narrow, of transforms and of other products.
#[test]
fn narrowing_by_barrett() {
    let barrett = |schedule: Schedule| Schedule { narrow: NarrowMethod::Barrett, ..schedule };
    let find = |name: &str| Plan::find(name).unwrap();
    let program = check(&find("mlkem"), &barrett(Schedule::default()));
    let found = narrowed(&program);
    assert!(!found.is_empty() && found.iter().all(|&m| m == NarrowMethod::Barrett));
    let base = program.procedures.iter().find(|p| p.name == "base").unwrap();
    assert_eq!(base.computes, Some(Computes::BaseProduct { scale: 1 }));
    // Sums below 2^27 want operands that the last level modulo 7681 does not leave.
    let refused = lower(&find("kyber1"), &barrett(Schedule::default()), &AVX2, "x").unwrap_err();
    assert!(refused.to_string().starts_with("stage `forward.6"), "{refused}");
    for name in ["mlkem", "nttru", "sntrup761", "sntrup761-chiu"] {
        let plan = find(name);
        let by = |schedule: &Schedule| lower(&plan, schedule, &C, "x").unwrap().program;
        let (one, other) = (by(&Schedule::portable()), by(&barrett(Schedule::portable())));
        assert!(narrowed(&other).is_empty(), "{name}");
        assert_eq!(one.procedures, other.procedures, "{name}");
    }
}

/// Rings whose transforms have no program as they are, n being below 128.
#[test]
fn others_take_another_way() {
    for (q, n) in [(998244353, 64), (97, 16), (12289, 64)] {
        let plan = automatic(q, n);
        let lowered =
            lower(&plan, &Schedule::default(), &AVX2, "x").unwrap_or_else(|e| panic!("{e}"));
        assert!(!lowered.notes.is_empty() && lowered.program.transform.is_none());
        let h = (q as i64 - 1) / 2;
        let a: Vec<i64> = (0..n as i64).map(|i| if i % 3 == 0 { -h } else { h - i }).collect();
        let product = run(&lowered.program.expand(), &[&a, &a]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(product, plan.ring.mul(&a, &a), "{q}, {n}");
    }
}

/// Complete and incomplete transforms of rings that nobody listed.
#[test]
fn other_rings() {
    for (q, n) in [
        (3329, 128),  // d = 1 allowed, d = 2 taken
        (3329, 512),  // d = 4
        (7681, 2048), // d = 8
        (3329, 2048), // d = 16
        (769, 1024),  // d = 8
        (8380417, 128),
        (8380417, 2048),
        (65537, 512),
        (998244353, 256),
        (40961, 1024), // 2^13·5 + 1
        (31489, 256),  // 2^8·3·41 + 1: next to 2^15, so in words of 32 bits
    ] {
        let plan = automatic(q, n);
        for schedule in &schedules()[..2] {
            check(&plan, schedule);
        }
    }
}

#[test]
fn kinds_and_levels() {
    for (levels, rest) in [
        (8, "(inverse gentleman-sande)"),
        (8, "(inverse cooley-tukey) (twist)"),
        (7, "(inverse gentleman-sande)"),
        (6, "(inverse cooley-tukey)"),
        (5, "(inverse gentleman-sande)"),
        (4, "(inverse cooley-tukey)"),
        (2, "(inverse gentleman-sande)"),
    ] {
        let text = format!(
            "(plan p (ring \"Z7681[x]/(x^256 + 1)\") (ntt {levels} (forward cooley-tukey) {rest} \
             (weighted-convolution (toeplitz))))"
        );
        let plan = Plan::parse(&text).unwrap();
        for schedule in schedules() {
            check(&plan, &schedule);
            check(&plan, &Schedule { straight: 0, ..schedule });
        }
    }
}

fn mixed(ring: &str, radices: &str) -> Plan {
    let form = format!("(mixed-radix {radices} (weighted-convolution (toeplitz)))");
    let plan = Plan::parse(&format!("(plan p (ring \"{ring}\") {form})"));
    plan.unwrap_or_else(|e| panic!("{e}"))
}

/// x^n ± x^(n/2) + 1 and x^n ± 1 by splits in two and in three: blocks of one register and of several, with
/// every coefficient of a factor in a register of its own or transposed, and with words of 32 bits.
#[test]
fn splits_in_two_and_three() {
    for name in ["nttru", "ntruplus576", "ntruplus768", "ntruplus864", "ntruplus1152"] {
        let plan = Plan::find(name).unwrap();
        schedules().iter().for_each(|schedule| {
            check(&plan, schedule);
        });
        for depth in [1, 2] {
            check(&plan, &Schedule { straight: 0, depth, ..Schedule::default() });
        }
    }
    for (ring, radices) in [
        ("Z3457[x]/(x^384 + x^192 + 1)", "2 3 2 2 2 2"), // x^4 - w
        ("Z3457[x]/(x^576 - x^288 + 1)", "2 3 3 2"),     // whole registers, x^16 - w
        ("Z7681[x]/(x^160 - x^80 + 1)", "2 2 2 2 2"),    // blocks of five registers, x^5 - w
        ("Z3457[x]/(x^384 + 1)", "3 2 2 2 2 2"),
        ("Z3457[x]/(x^768 - 1)", "3 2 2 2 2 2 2"),
        ("Z8380417[x]/(x^384 + 1)", "3 2 2 2 2 2 2 2"),
        ("Z8380417[x]/(x^768 + x^384 + 1)", "2 2 2 2 2 2 2 2"),
    ] {
        let plan = mixed(ring, radices);
        for schedule in &schedules()[..2] {
            check(&plan, schedule);
        }
    }
}

/// What has no passes is refused, and says what would have.
#[test]
fn splits_that_do_not_fit_registers_are_refused() {
    for (ring, radices, why, would_work) in [
        (
            "Z3457[x]/(x^576 - x^288 + 1)",
            "2 2 2 3 2",
            "a level in three within 9 registers of 16 words",
            "levels in three before those in two",
        ),
        (
            "Z12289[x]/(x^768 - x^384 + 1)",
            "2 2 2 2 2 2 2",
            "factors of degree 6 within 3 registers",
            "one more level in two",
        ),
        (
            "Z3457[x]/(x^144 - x^72 + 1)",
            "2 2 2 2",
            "n = 144 does not fill pairs of registers of 16 words",
            "n a multiple of 32",
        ),
    ] {
        let plan = mixed(ring, radices);
        let text = lower(&plan, &Schedule::default(), &AVX2, "x").unwrap_err().to_string();
        assert!(text.contains(why) && text.contains(would_work), "{ring}: {text}");
    }
}

#[test]
fn reductions_are_data() {
    let plan = Plan::find("newhope512").unwrap();
    let late = lower(&plan, &Schedule::default(), &AVX2, "x").unwrap();
    assert!(!late.sites.is_empty());
    let dropped = |site: &str| Schedule { drop: vec![site.to_owned()], ..Schedule::default() };
    let without = lower(&plan, &dropped(&late.sites[0]), &AVX2, "x");
    assert!(!matches!(without, Err(LowerError::NothingToDrop(_))));
    let idle = "forward.0.0.low";
    assert!(!late.sites.iter().any(|site| site == idle));
    let error = lower(&plan, &dropped(idle), &AVX2, "x").unwrap_err();
    assert_eq!(error, LowerError::NothingToDrop(idle.to_owned()));
    let given = Schedule { reductions: Some(late.sites.clone()), ..Schedule::default() };
    let again = lower(&plan, &given, &AVX2, "x").unwrap();
    assert_eq!(again.program.procedures, late.program.procedures);
    let none = Schedule { reductions: Some(Vec::new()), ..Schedule::default() };
    let error = lower(&plan, &none, &AVX2, "x").unwrap_err();
    assert!(matches!(error, LowerError::Word { .. }), "{error}");
    let other =
        Schedule { reductions: Some(vec!["forward.99.0.low".into()]), ..Schedule::default() };
    let error = lower(&plan, &other, &AVX2, "x").unwrap_err();
    assert!(matches!(error, LowerError::NoSuchSite { .. } | LowerError::Word { .. }), "{error}");
}
