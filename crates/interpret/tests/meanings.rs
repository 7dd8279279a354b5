//! All meanings of one small program, and what each of them refuses.

mod common;

use common::*;
use ringforge_interpret::{count, formula, range, run};

fn operands() -> Vec<Vec<i64>> {
    let mut all: Vec<Vec<i64>> =
        (0..8).map(|k| (0..8).map(|i| i64::from(i == k)).collect()).collect();
    all.push(vec![2295; 8]);
    all.push(vec![-2295; 8]);
    all.push((0..8).map(|i| if i % 2 == 0 { 2295 } else { -2295 }).collect());
    let mut x = 1u64;
    for _ in 0..20 {
        let next = |_| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) as i64 % 4591 - 2295
        };
        all.push((0..8).map(next).collect());
    }
    all
}

#[test]
fn run_agrees_with_the_ring_before_and_after_expansion_and_in_place() {
    let (ring, program) = (ring(), program(Mutation::default()));
    let expanded = program.expand();
    for a in operands() {
        for b in operands() {
            let (want, x, y) = (ring.mul(&a, &b), &a, &b);
            assert_eq!(run::run(&program, &[x, y]).unwrap(), want, "{a:?} · {b:?}");
            assert_eq!(run::run(&expanded, &[x, y]).unwrap(), want);
            assert_eq!(run::run_in_place(&expanded, &[x, y], 0).unwrap(), want);
            assert_eq!(run::run_in_place(&expanded, &[x, y], 1).unwrap(), want);
        }
    }
}

#[test]
fn range_bounds_every_run_and_names_stages() {
    let ranges = range::ranges(&program(Mutation::default())).unwrap();
    assert_eq!(ranges.outputs, [("c".to_string(), (-2295, 2295))]);
    let titles: Vec<&str> = ranges.stages.iter().map(|s| s.path[0].as_str()).collect();
    assert_eq!(titles, ["prepare", "multiply", "finish"]);
    // |a·b·2^-16| and the reduction's half q, four times.
    let each = (2295i64 * 2627) / 65536 + 2296;
    let (lo, hi) = ranges.stages[1].stored.unwrap();
    assert!(lo >= -4 * each - 4 && hi <= 4 * each + 4 && hi > 4 * 2295, "[{lo}, {hi}]");
    assert!(ranges.stages.iter().all(|s| s.fill <= 1.0));
}

#[test]
fn range_finds_a_dropped_reduction_with_its_place() {
    let fault = range::ranges(&program(Mutation { drop_reduction: true, ..Mutation::default() }));
    let fault = fault.unwrap_err();
    assert_eq!(fault.place.stages, ["finish"]);
    assert!(fault.place.text.starts_with("Add"), "{fault}");
    assert!(fault.reason.contains("which 16 bits do not hold"), "{fault}");
}

#[test]
fn formula_agrees_for_all_pairs_and_finds_a_changed_constant() {
    let agreement = formula::forms(&program(Mutation::default())).unwrap().agrees_with(&ring());
    assert_eq!(agreement.unwrap().pairs, 64);
    let wrong = formula::forms(&program(Mutation { other_weight: true, ..Mutation::default() }));
    let mismatch = wrong.unwrap().agrees_with(&ring()).unwrap_err();
    match mismatch {
        formula::Mismatch::Coefficient { output, i, j, found, expected } => {
            assert_eq!((i + j) % 8, output);
            assert!(i + j >= 8, "only wrapped products meet the weight");
            assert_eq!((found, expected), (W + 1, W));
        }
        other => panic!("{other}"),
    }
    let shifted = formula::forms(&program(Mutation { shifted: true, ..Mutation::default() }));
    assert!(shifted.unwrap().agrees_with(&ring()).is_err());
}

#[test]
fn formula_refuses_the_word_level_and_the_wrong_ring() {
    let program = program(Mutation::default());
    let fault = formula::forms(&program.expand()).unwrap_err();
    assert!(fault.reason.contains("modular level"), "{fault}");
    let other = ringforge_ring::Ring::parse("Z4591[x]/(x^9 - 1)").unwrap();
    let mismatch = formula::forms(&program).unwrap().agrees_with(&other).unwrap_err();
    assert!(matches!(mismatch, formula::Mismatch::Parameters(_)), "{mismatch}");
}

#[test]
fn undefined_words_and_wrong_lengths_are_faults() {
    let program = program(Mutation::default());
    let fault = run::run(&program, &[&[0; 8], &[0; 7]]).unwrap_err();
    assert!(fault.reason.contains("b needs 8 words"), "{fault}");
    let mut broken = program.clone();
    broken.procedures[0].body.remove(0);
    let fault = run::run(&broken, &[&[0; 8], &[0; 8]]).unwrap_err();
    assert!(fault.reason.contains("which nothing has written"), "{fault}");
    assert_eq!(fault.place.counters, [(0, 0)]);
}

#[test]
fn counts_are_those_of_the_loops() {
    let costs = count::count(&program(Mutation::default())).unwrap();
    let total = costs.total;
    assert_eq!(total.word_products, 8);
    assert_eq!((total.modular_products, total.reductions, total.freezes), (2, 1, 1));
    // 8 products of 4 multiplies, 2 of 3, one reduction of 2.
    assert_eq!(total.multiplies, 8 * 4 + 2 * 3 + 2);
    let multiply = costs.stages.iter().find(|s| s.path == ["multiply"]).unwrap().counts;
    assert_eq!((multiply.loads, multiply.stores), (16, 2));
    assert_eq!(costs.instructions(128), total.arithmetic());
    assert_eq!(costs.instructions(64), 2 * total.arithmetic());
}
