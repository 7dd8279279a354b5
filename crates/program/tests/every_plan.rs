//! Every plan that comes with the tool has a program, for vectors and in portable C, and it multiplies. Every day each
//! fourth; left to `RINGFORGE_LONG=1`: the others.

mod common;

use ringforge_plan::Plan;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, AVX512};

#[test]
fn every_plan_multiplies_in_vectors() {
    every_plan_multiplies(&Schedule::default());
}

#[test]
fn every_plan_multiplies_in_portable_c() {
    every_plan_multiplies(&Schedule::portable());
}

fn every_plan_multiplies(schedule: &Schedule) {
    let schedule = Schedule { rounds: 1, ..schedule.clone() };
    let mut failures = Vec::new();
    let mut count = 0;
    for (i, name) in Plan::names().enumerate() {
        if i.is_multiple_of(4) == ringforge_testing::long() {
            continue;
        }
        let plan = Plan::find(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        count += 1;
        if let Err(e) = common::check(&plan, &schedule, 2) {
            failures.push(format!("{name}: {e}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 0);
}

/// In the widest registers that their blocks fill; of those of 512 bits not every plan is: those that are not say so by name.
#[test]
fn plans_multiply_in_registers_of_512_bits_or_are_refused() {
    let usual = Schedule { rounds: 1, ..Schedule::of(&AVX512) };
    let refused = multiply_or_are_refused(&usual);
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    multiply_or_are_refused(&usual.with_lanes(AVX512.registers.lanes(16) as u32));
}

/// The plans that have no program.
fn multiply_or_are_refused(schedule: &Schedule) -> Vec<String> {
    let (mut failures, mut right, mut refused) = (Vec::new(), 0, Vec::new());
    for (i, name) in Plan::names().enumerate() {
        if i.is_multiple_of(4) == ringforge_testing::long() {
            continue;
        }
        let plan = Plan::find(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        match common::check_on(&AVX512, &plan, schedule, 6) {
            Ok(_) => right += 1,
            Err(why) if why.contains("no lowering for") && why.contains("on avx512:") => {
                refused.push(format!("{name}: {why}"));
            }
            Err(e) => failures.push(format!("{name}: {e}")),
        }
    }
    println!("{right} multiply; refused:\n{}", refused.join("\n"));
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(right > refused.len(), "{right} multiply; refused:\n{}", refused.join("\n"));
    refused
}

/// Where a target has several widths, the widest that blocks fill is settled and printed, and what a user wrote is kept.
#[test]
fn registers_are_settled_by_what_blocks_fill() {
    let whole = |name: &str| Plan::find(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    let own = |ring: &str, tree: &str| {
        let text = format!("(plan p (ring \"{ring}\") {tree})");
        Plan::parse(&text).unwrap_or_else(|e| panic!("{text}: {e}"))
    };
    let toeplitz = |n: usize| format!("(toeplitz-matrix {n} (karatsuba (toeplitz)))");
    let usual = Schedule { rounds: 1, ..Schedule::of(&AVX512) };
    for (plan, lanes) in [
        (whole("mlkem"), 32),
        (whole("sntrup761"), 16),
        (own("Z2048[x]/(x^48 - 1)", &toeplitz(48)), 16),
        (own("Z2048[x]/(x^48 - 1)", &toeplitz(64)), 32),
    ] {
        let program = lower(&plan, &usual, &AVX512, "x").unwrap_or_else(|e| panic!("{e}")).program;
        assert_eq!(program.registers.lanes(16), lanes, "{}", plan.name);
        let said = format!("lanes = {lanes}\n");
        assert!(program.schedule.contains(&said), "{}: {}", plan.name, program.schedule);
        // By the same width as if a user had written it.
        let stated = usual.with_lanes(lanes as u32);
        let same = lower(&plan, &stated, &AVX512, "x").unwrap_or_else(|e| panic!("{e}")).program;
        assert_eq!(same, program, "{}", plan.name);
        let narrow = lower(&plan, &usual.with_lanes(16), &AVX512, "x");
        assert_eq!(narrow.unwrap_or_else(|e| panic!("{e}")).program.registers, AVX2.registers);
        let refused = |target, lanes| {
            lower(&plan, &usual.with_lanes(lanes), target, "x").unwrap_err().to_string()
        };
        assert!(refused(&AVX512, 24).contains("lanes = 32 or lanes = 16"));
        assert!(refused(&AVX2, 32).contains("lanes = 16"));
    }
}

ringforge_testing::rest!(
    every_plan_multiplies_in_vectors,
    every_plan_multiplies_in_portable_c,
    plans_multiply_in_registers_of_512_bits_or_are_refused,
);
