//! The real multipliers, lowered for both targets, under every meaning; and mutants of them.

use ringforge_interpret::formula::Mismatch;
use ringforge_interpret::{formula, range, run};
use ringforge_plan::Plan;
use ringforge_program::ir::*;
use ringforge_program::lower::{Lowered, lower};
use ringforge_program::schedule::Schedule;
use ringforge_targets::AVX2;

fn plan() -> Plan {
    Plan::parse(include_str!("../../../plans/sntrup761.plan")).unwrap()
}

fn schedules() -> [(&'static str, Schedule); 2] {
    [("avx2", Schedule::default()), ("c", Schedule::portable())]
}

fn lowered(schedule: &Schedule) -> Lowered {
    lower(&plan(), schedule, &AVX2, "sntrup761").unwrap()
}

#[test]
fn runs_agree_with_the_ring() {
    let (ring, n) = (plan().ring, 761);
    let alternating: Vec<i64> = (0..n).map(|i| if i % 2 == 0 { 2295 } else { -2295 }).collect();
    let mixed: Vec<i64> = (0..n as i64).map(|i| (i * i * 77 + i * 13) % 4591 - 2295).collect();
    let mut last = vec![0; n];
    last[760] = -2295;
    let ternary: Vec<i64> = (0..n as i64).map(|i| (i * i + 5 * i) % 3 - 1).collect();
    let operands = [vec![2295; n], vec![-2295; n], alternating, mixed, last, ternary];
    for (name, schedule) in schedules() {
        let program = lowered(&schedule).program;
        let expanded = program.expand();
        for (i, a) in operands.iter().enumerate() {
            let b = &operands[(i * 5 + 3) % operands.len()];
            let want = ring.mul(a, b);
            assert_eq!(run::run(&program, &[a, b]).unwrap(), want, "{name}, operands {i}");
            assert_eq!(run::run(&expanded, &[a, b]).unwrap(), want, "{name} expanded, {i}");
            assert_eq!(run::run_in_place(&expanded, &[a, b], i % 2).unwrap(), want, "{name}");
        }
    }
}

#[test]
fn ranges_hold_and_the_output_is_canonical() {
    for (name, schedule) in schedules() {
        let ranges =
            range::ranges(&lowered(&schedule).program).unwrap_or_else(|f| panic!("{name}: {f}"));
        assert_eq!(ranges.outputs, [("c".to_string(), (-2295, 2295))], "{name}");
        assert!(ranges.stages.len() > 5, "{name}");
    }
}

#[test]
fn formulas_agree_for_all_pairs_of_basis_vectors() {
    for (name, schedule) in schedules() {
        let forms = formula::forms(&lowered(&schedule).program).unwrap();
        let agreement = forms.agrees_with(&plan().ring).unwrap_or_else(|m| panic!("{name}: {m}"));
        assert_eq!((agreement.pairs, agreement.outputs), (761 * 761, 761), "{name}");
    }
}

/// Reductions are placed so that none is idle: without any one of them something overflows.
#[test]
fn ranges_find_every_dropped_reduction() {
    for (name, schedule) in schedules() {
        let sites = lowered(&schedule).sites;
        assert!(sites.len() > 20, "{name}: {}", sites.len());
        for site in sites.iter().step_by(sites.len() / 3) {
            let schedule = Schedule { drop: vec![site.clone()], ..schedule.clone() };
            let fault = range::ranges(&lowered(&schedule).program);
            let fault = fault.expect_err(&format!("{name} without {site}"));
            assert!(fault.reason.contains("hold") || fault.reason.contains("fit"), "{fault}");
            assert!(!fault.place.stages.is_empty(), "{fault}");
        }
    }
}

/// The constants of all modular products by one residue.
fn factors<'a>(body: &'a mut [Stmt], all: &mut Vec<&'a mut u64>) {
    for stmt in body {
        match stmt {
            Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => factors(body, all),
            Stmt::Call { .. } => {}
            Stmt::Block(block) => all.extend(block.ops.iter_mut().filter_map(|op| match op {
                Op::MulMod { factor: Factor::Splat(c), .. } => Some(c),
                _ => None,
            })),
        }
    }
}

#[test]
fn formulas_find_changed_constants() {
    let original = lowered(&Schedule::portable()).program;
    for which in [0, 7, 40] {
        let mut program = original.clone();
        let mut all = Vec::new();
        program.procedures.iter_mut().for_each(|p| factors(&mut p.body, &mut all));
        *all[which] += 1;
        let mismatch = formula::forms(&program).unwrap().agrees_with(&plan().ring).unwrap_err();
        assert!(matches!(mismatch, Mismatch::Coefficient { .. }), "{which}: {mismatch}");
    }
}
