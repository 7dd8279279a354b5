//! Operands transformed together: right products, and the operations of two transforms.

use ringforge_interpret::count::count;
use ringforge_interpret::range::ranges;
use ringforge_plan::Plan;
use ringforge_program::ir::Program;
use ringforge_program::lower::lower;
use ringforge_program::schedule::{Operands, Schedule};
use ringforge_targets::{AVX2, AVX512, C, Target};

mod common;

fn product(plan: &Plan, target: &Target, operands: Operands) -> (Schedule, Program) {
    let schedule = Schedule { operands, ..Schedule::of(target) };
    let program = lower(plan, &schedule, target, "x").unwrap().program;
    (schedule, program)
}

/// Straight-line transforms, and loops with tables.
#[test]
fn products_are_right_and_cost_what_they_did() {
    for (name, target) in
        [("mlkem", &AVX2), ("mlkem", &AVX512), ("newhope1024", &AVX2), ("mldsa", &C)]
    {
        let plan = Plan::find(name).unwrap();
        let (_, apart) = product(&plan, target, Operands::Apart);
        let (schedule, both) = product(&plan, target, Operands::Together);
        assert_ne!(apart.procedures, both.procedures, "{name} {target}");
        let [old, new] = [&apart, &both].map(|p| ranges(p).unwrap());
        assert_eq!(old.outputs, new.outputs, "{name} {target}");
        // Nothing is computed twice, and nothing is left out.
        let [old, new] = [&apart, &both].map(|p| count(p).unwrap().total);
        let of =
            |c: &ringforge_interpret::count::Counts| (c.stores, c.arithmetic(), c.modular_products);
        assert_eq!(of(&old), of(&new), "{name} {target}");
        // The schoolbook product, on random and worst-case operands.
        match target == &AVX2 {
            true => common::check(&plan, &schedule, 10).unwrap(),
            false => common::check_on(target, &plan, &schedule, 10).unwrap(),
        };
    }
}
