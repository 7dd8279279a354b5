//! Operands transformed together: the same products, and the operations of two transforms.

use ringforge_interpret::count::count;
use ringforge_interpret::range::ranges;
use ringforge_interpret::run::{run, run_in_place};
use ringforge_plan::Plan;
use ringforge_program::ir::{Program, Role};
use ringforge_program::lower::lower;
use ringforge_program::schedule::{Operands, Schedule};
use ringforge_targets::{AVX2, AVX512, C, Target};

mod common;

fn product(name: &str, target: &Target, operands: Operands) -> Program {
    let schedule = Schedule { operands, ..Schedule::of(target) };
    lower(&Plan::find(name).unwrap(), &schedule, target, "x").unwrap().program
}

/// Straight-line transforms, and loops with tables.
#[test]
fn products_are_those_of_operands_apart() {
    for (name, target) in
        [("mlkem", &AVX2), ("mlkem", &AVX512), ("newhope1024", &AVX2), ("mldsa", &C)]
    {
        let apart = product(name, target, Operands::Apart);
        let both = product(name, target, Operands::Together);
        assert_ne!(apart.procedures, both.procedures, "{name} {target}");
        let [old, new] = [&apart, &both].map(|p| ranges(p).unwrap());
        assert_eq!(old.outputs, new.outputs, "{name} {target}");
        // Nothing is computed twice, and nothing is left out.
        let [old, new] = [&apart, &both].map(|p| count(p).unwrap().total);
        assert_eq!(
            (old.stores, old.arithmetic()),
            (new.stores, new.arithmetic()),
            "{name} {target}"
        );
        assert_eq!(old.modular_products, new.modular_products, "{name} {target}");
        let mul = apart.procedures.last().unwrap();
        let inputs = mul.buffers.iter().filter(|b| b.role == Role::Input);
        let inputs: Vec<_> = inputs.map(|b| (b.words, b.range.unwrap())).collect();
        for [a, b] in common::operands(inputs[0].0, [inputs[0].1, inputs[1].1]) {
            let want = run(&apart.expand(), &[&a, &b]).unwrap();
            assert_eq!(run(&both.expand(), &[&a, &b]).unwrap(), want, "{name} {target}");
            assert_eq!(
                run_in_place(&both.expand(), &[&a, &b], 1).unwrap(),
                want,
                "{name} {target}"
            );
        }
    }
}
