//! Lowered plans mean the product in their ring, whatever the schedule chooses.

use ringforge_interpret::run::{run, run_in_place};
use ringforge_plan::Plan;
use ringforge_program::lower::{LowerError, Lowered, lower};
use ringforge_program::method::{FreezeMethod, MulMethod, ReduceMethod};
use ringforge_program::schedule::{ScalePlace, Schedule};
use ringforge_targets::{AVX2, C, M4, TARGETS};
use std::path::Path;

fn plan(name: &str) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plans").join(name);
    Plan::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Pairs of operands with the largest sums: constant signs, blocks of signs, and some disorder.
fn operands(n: usize) -> Vec<[Vec<i64>; 2]> {
    let signs = |f: &dyn Fn(usize) -> bool| -> Vec<i64> {
        (0..n).map(|i| if f(i) { 2295 } else { -2295 }).collect()
    };
    let mut x = 1u64;
    let mut disorder = || {
        let next = |_| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) as i64 % 4591 - 2295
        };
        (0..n).map(next).collect::<Vec<i64>>()
    };
    vec![
        [signs(&|_| true), signs(&|_| true)],
        [signs(&|_| true), signs(&|_| false)],
        [signs(&|i| i / 16 % 9 < 5), signs(&|i| i / 16 % 10 < 5)],
        [signs(&|i| i % 2 == 0), signs(&|i| i % 3 == 0)],
        [disorder(), disorder()],
    ]
}

fn check(plan: &Plan, lowered: &Lowered, pairs: &[[Vec<i64>; 2]]) {
    let program = lowered.program.expand();
    for [a, b] in pairs {
        let want = plan.ring.mul(a, b);
        assert!(run(&program, &[a, b]).unwrap() == want, "{}", lowered.program.schedule);
        assert!(run_in_place(&program, &[a, b], 0).unwrap() == want, "in place of a");
        assert!(run_in_place(&program, &[a, b], 1).unwrap() == want, "in place of b");
    }
}

#[test]
fn both_plans_multiply() {
    for name in ["sntrup761.plan", "sntrup761-chiu.plan"] {
        let plan = plan(name);
        let lowered = lower(&plan, &Schedule::default(), &AVX2, "x").unwrap();
        check(&plan, &lowered, &operands(761));
    }
}

/// The plans for n = 761 whose products of blocks are by lanes, and those at other points than roots of
/// unity, as they are scheduled for portable C and for AVX2.
#[test]
fn plans_of_the_seeds_multiply() {
    for name in [
        "sntrup761-truncated-rader",
        "sntrup761-binomial",
        "sntrup761-good-rader-bruun",
        "sntrup761-good-schoenhage-bruun",
        "sntrup761-good-schoenhage-nussbaumer",
    ] {
        let plan = plan(&format!("{name}.plan"));
        let saved = Schedule::saved(name, "avx2").unwrap().expect(name);
        // Sums that are reduced once, and steps that run as one.
        let (multiply, reduce) = (MulMethod::Barrett, ReduceMethod::Barrett);
        let wide = Schedule { wide_sums: true, fuse: 24, multiply, reduce, ..Schedule::default() };
        // The same with rotations and quotients in registers.
        let reduce = ReduceMethod::BarrettShifts;
        let shifts = Schedule { rotate_registers: true, reduce, ..wide.clone() };
        for schedule in [Schedule::portable(), saved, wide, shifts] {
            let schedule = Schedule { rounds: 20, ..schedule };
            let lowered =
                lower(&plan, &schedule, &AVX2, "x").unwrap_or_else(|e| panic!("{name}: {e}"));
            check(&plan, &lowered, &operands(761)[1..]);
        }
    }
}

#[test]
fn every_choice_of_the_schedule_multiplies() {
    let plan = plan("sntrup761.plan");
    let choices: [fn(&mut Schedule); 9] = [
        |s| s.multiply = MulMethod::Barrett,
        |s| s.reduce = ReduceMethod::Crude,
        |s| s.reduce = ReduceMethod::BarrettHigh,
        |s| s.reduce = ReduceMethod::Montgomery,
        |s| s.scale = ScalePlace::Last,
        |s| (s.scale, s.freeze) = (ScalePlace::Last, Some(FreezeMethod::Minimum)),
        |s| (s.fused_dot, s.unroll) = (true, 3),
        |s| (s.multiply, s.freeze) = (MulMethod::Plantard, Some(FreezeMethod::Plantard)),
        |s| (s.rows, s.reduce) = (true, ReduceMethod::Plantard),
    ];
    for choose in choices {
        let mut schedule = Schedule { rounds: 20, ..Schedule::default() };
        choose(&mut schedule);
        let lowered = lower(&plan, &schedule, &AVX2, "x").unwrap();
        check(&plan, &lowered, &operands(761)[2..]);
    }
}

/// Registers as wide as the schedule says, where they are loops: blocks of five words of 32 bits leave none empty.
#[test]
fn registers_are_as_wide_as_the_schedule_says() {
    let plan = plan("ntruhps2048677-1440-seed.plan");
    let big: Vec<i64> = (0..677).map(|i| if i % 5 < 3 { -1024 } else { 1023 }).collect();
    let small: Vec<i64> = (0..677).map(|i| 1 - i % 3).collect();
    let pairs = [[vec![-1024; 677], vec![-1; 677]], [big, small]];
    for target in [&M4, &C] {
        let words = [None, Some(10)].map(|lanes| {
            let schedule = Schedule { rounds: 20, lanes, ..Schedule::of(target) };
            let lowered = lower(&plan, &schedule, target, "x").unwrap_or_else(|e| panic!("{e}"));
            check(&plan, &lowered, &pairs);
            let buffers = lowered.program.procedures.iter().flat_map(|p| &p.buffers);
            buffers.map(|b| b.words).sum::<usize>()
        });
        assert!(words[1] < words[0], "{words:?}");
    }
    let schedule = Schedule { lanes: Some(10), ..Schedule::default() };
    let error = lower(&plan, &schedule, &AVX2, "x").unwrap_err().to_string();
    assert!(error.contains("`lanes`") && error.contains("lanes = 16"), "{error}");
    for lanes in ["0", "3", "52"] {
        let error = Schedule::parse(&format!("lanes = {lanes}")).unwrap_err().to_string();
        assert!(error.contains("even number"), "{error}");
    }
}

#[test]
fn a_dropped_reduction_is_gone_and_an_added_one_is_there() {
    let plan = plan("sntrup761.plan");
    let schedule = Schedule { rounds: 4, ..Schedule::default() };
    let before = lower(&plan, &schedule, &AVX2, "x").unwrap();
    let site = before.sites[before.sites.len() / 2].clone();
    let count =
        |lowered: &Lowered| format!("{:?}", lowered.program.procedures).matches("Reduce {").count();
    let dropped = Schedule { drop: vec![site.clone()], ..schedule.clone() };
    assert_eq!(count(&lower(&plan, &dropped, &AVX2, "x").unwrap()), count(&before) - 1);
    let both = Schedule { add: vec![site.clone()], ..schedule.clone() };
    assert_eq!(
        count(&lower(&plan, &both, &AVX2, "x").unwrap()),
        count(&before),
        "it is there already"
    );
    let error = |site: &str| {
        let dropped = Schedule { drop: vec![site.into()], ..schedule.clone() };
        lower(&plan, &dropped, &AVX2, "x").unwrap_err()
    };
    let unknown = error("main.forward:v0.5");
    assert!(matches!(unknown, LowerError::NoSuchSite { .. }), "{unknown}");
    // The first sum of the forward transform is of two operands as they came in.
    let idle = "main.forward.columns.0:v1".to_owned();
    assert!(!before.sites.contains(&idle));
    assert_eq!(error(&idle), LowerError::NothingToDrop(idle));
}

#[test]
fn what_cannot_be_lowered_is_named() {
    let plan = plan("sntrup761.plan");
    let mut tight = Schedule { rounds: 4, ..Schedule::default() };
    tight.limits.full = 3000;
    let error = lower(&plan, &tight, &AVX2, "x").unwrap_err();
    assert!(matches!(error, LowerError::Ranges { .. }), "{error}");

    // Plantard's products want an odd modulus of 15 bits, and transforms modulo q itself.
    let plantard = Schedule { multiply: MulMethod::Plantard, ..Schedule::default() };
    let refused = |text: &str| {
        let plan = Plan::parse(text).unwrap_or_else(|e| panic!("{e}"));
        lower(&plan, &plantard, &AVX2, "x").unwrap_err().to_string()
    };
    let said = refused(
        "(plan s (ring \"Z8380417[x]/(x^256 + 1)\") (ntt 8 (forward cooley-tukey) \
         (inverse gentleman-sande) (weighted-convolution (toeplitz))))",
    );
    assert!(said.contains("odd q up to 26214") && said.contains("montgomery"), "{said}");
    let said = refused("(plan s (ring \"Z4591[x]/(x^32 - x - 1)\") (schoolbook))");
    assert!(said.contains("transforms modulo q itself"), "{said}");

    // A product by its definition is what `(schoolbook)` says; how it is executed is told.
    let schoolbook = "(plan s (ring \"Z4591[x]/(x^32 - x - 1)\") (schoolbook))";
    let lowered =
        lower(&Plan::parse(schoolbook).unwrap(), &Schedule::default(), &AVX2, "x").unwrap();
    assert!(
        lowered
            .notes
            .iter()
            .any(|n| n.contains("(schoolbook) is executed as (lift 63 (schoolbook))"))
    );
}

/// A plan's methods for small products are what is computed, whatever the schedule's instruction; a level that
/// the schedule adds is told by a note.
#[test]
fn small_products_are_the_plans_or_noted() {
    let (ours, chiu) = (plan("sntrup761.plan"), plan("sntrup761-chiu.plan"));
    let lanes = Schedule { rounds: 20, ..Schedule::portable() };
    let dots = Schedule { rounds: 20, ..Schedule::default() };
    let never = Schedule { karatsuba_from: 0, ..lanes.clone() };
    let says = |lowered: &Lowered, title: &str| {
        format!("{:?}", lowered.program.procedures).contains(&format!("of size 16, {title}\""))
    };
    let lowered = |plan: &Plan, schedule: &Schedule| lower(plan, schedule, &AVX2, "x").unwrap();

    let seed = lowered(&chiu, &lanes);
    assert!(says(&seed, "2-NTT and Toeplitz") && says(&seed, "Karatsuba and Toeplitz"));
    assert_eq!(seed.notes, [""; 0]);
    check(&chiu, &seed, &operands(761));

    let direct = lowered(&ours, &never);
    assert!(says(&direct, "Toeplitz") && direct.notes.is_empty());
    check(&ours, &direct, &operands(761)[2..]);

    let halved = lowered(&ours, &lanes);
    assert!(says(&halved, "Karatsuba and Toeplitz") && !says(&halved, "Toeplitz"));
    assert!(halved.notes.len() == 1 && halved.notes[0].contains("one level of Karatsuba"));

    assert_eq!(lowered(&ours, &dots).notes, [""; 0]);
    // Dot products are the definition; other methods are executed as they are written beside them too.
    let seed = lowered(&chiu, &dots);
    assert!(says(&seed, "2-NTT and Toeplitz") && says(&seed, "Karatsuba and Toeplitz"));
    assert_eq!(seed.notes, [""; 0]);
    check(&chiu, &seed, &operands(761));
}

#[test]
fn small_methods_nest_by_lanes() {
    let text = plan("sntrup761.plan").to_string();
    for (small, title) in [
        ("(karatsuba (karatsuba (toeplitz)))", "Karatsuba and Karatsuba and Toeplitz"),
        (
            "(if-square-root (two-ntt (if-square-root (two-ntt (toeplitz)) (karatsuba (toeplitz))))
               (toeplitz))",
            "2-NTT",
        ),
        (
            "(if-square-root (two-ntt (karatsuba (toeplitz))) (bruun (trinomial)))",
            "Bruun and products mod trinomials",
        ),
    ] {
        let nested = text.replace(
            "(weighted-convolution (toeplitz))",
            &format!("(weighted-convolution {small})"),
        );
        assert_ne!(nested, text);
        let plan = Plan::parse(&nested).unwrap();
        let mut schedule = Schedule { rounds: 20, karatsuba_from: 0, ..Schedule::portable() };
        // Two levels double factors twice.
        schedule.limits.forward = 3_600;
        let lowered = lower(&plan, &schedule, &AVX2, "x").unwrap();
        assert!(format!("{:?}", lowered.program.procedures).contains(title), "{title}");
        check(&plan, &lowered, &operands(761)[2..]);
    }
}

/// What no pipeline takes is refused before anything runs: the error names the method, the target, the reason
/// and what would work, and the definition never stands for it.
#[test]
fn what_no_lowering_takes_is_refused_by_name() {
    let trinomial = "Z4591[x]/(x^24 - x - 1)";
    for (ring, tree, parts) in [
        (
            "Z4591[x]/(x^32 - 1)",
            "(schoenhage 8 (rotations 4) (weighted-convolution (toeplitz)))",
            ["(schoenhage 8", "the plan starts with it", "(lift 63 …) above it"],
        ),
        (
            trinomial,
            "(lift 64 (schoenhage 8 (rotations 2 4) (weighted-convolution (toeplitz))))",
            ["(schoenhage 8", "do not fill a register", " …)"],
        ),
        (
            "Z4591[x]/(x^24 - 5x - 1)",
            "(lift 64 (schoenhage 8 (rotations 2 4) (weighted-convolution (toeplitz))))",
            ["(schoenhage 8", "coefficients ±1", "(substitute …)"],
        ),
        (
            trinomial,
            "(lift 47 (toeplitz-pair 24 (toeplitz)))",
            ["(toeplitz-pair 24", "2^16 is no multiple of 4591", "a transform for others"],
        ),
        (
            trinomial,
            "(lift 47 (change-modulus (prime 7681 (toeplitz-pair 24 (toeplitz))) (prime 40961 (schoolbook))))",
            ["(toeplitz-pair 24", "no transform of blocks", "below each prime"],
        ),
        (
            "Z4591[x]/(x^96 - 1)",
            "(substitute 48 (butterfly) (weighted-convolution (karatsuba (toeplitz))))",
            ["`(karatsuba (toeplitz))`", "blocks of 48", "`(toeplitz)` here, or blocks"],
        ),
        (
            "Z7681[x]/(x^256 + 1)",
            "(ntt 4 (forward cooley-tukey) (inverse cooley-tukey) \
             (weighted-convolution (karatsuba (toeplitz))))",
            ["`(karatsuba (toeplitz))`", "multiplied by their definition", "(toeplitz)"],
        ),
    ] {
        let plan = Plan::parse(&format!("(plan p (ring \"{ring}\") {tree})"));
        let plan = plan.unwrap_or_else(|e| panic!("{tree}: {e}"));
        for target in TARGETS {
            let error = lower(&plan, &Schedule::of(target), target, "x");
            let error = error.expect_err(tree).to_string();
            let on = format!("on {target}:");
            for part in parts.iter().chain(&[on.as_str()]) {
                assert!(error.contains(part), "`{part}` is not in {error}");
            }
        }
    }
}
