//! Every plan that comes with the tool has a program, for vectors and in portable C, and it multiplies. Every day each
//! fourth; left to `RINGFORGE_LONG=1`: the others.

mod common;

use ringforge_plan::Plan;
use ringforge_program::schedule::Schedule;
use ringforge_targets::AVX512;

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

/// Of registers of 512 bits not every plan is: those that are not say so by name.
#[test]
fn plans_multiply_in_registers_of_512_bits_or_are_refused() {
    let schedule = Schedule { rounds: 1, ..Schedule::of(&AVX512) };
    let (mut failures, mut right, mut refused) = (Vec::new(), 0, Vec::new());
    for (i, name) in Plan::names().enumerate() {
        if i.is_multiple_of(4) == ringforge_testing::long() {
            continue;
        }
        let plan = Plan::find(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        match common::check_on(&AVX512, &plan, &schedule, 6) {
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
}

ringforge_testing::rest!(
    every_plan_multiplies_in_vectors,
    every_plan_multiplies_in_portable_c,
    plans_multiply_in_registers_of_512_bits_or_are_refused,
);
