//! Batches: the plain entry points for each element of the ring, and nothing of one in another.

use common::Random;
use ringforge_interpret::count::{Counts, count};
use ringforge_interpret::range::ranges;
use ringforge_interpret::run::{run, run_in_place};
use ringforge_plan::Plan;
use ringforge_program::ir::{Buffer, Computes, Procedure, Role};
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, AVX512, C, M4, NEON, SSE41, Target};

#[allow(dead_code)]
mod common;

/// Straight-line code and loops, words of 16 and 32 bits, products of one transform, through several primes, modulo 2^k,
/// and by loops of a compiler.
const PLANS: [(&str, &Target, u32); 10] = [
    ("mlkem", &AVX2, 2),
    ("mlkem", &AVX512, 2),
    ("mlkem", &NEON, 4),
    ("mlkem", &M4, 2),
    ("newhope1024", &AVX2, 2),
    ("mldsa", &C, 3),
    ("mldsa", &AVX512, 2),
    ("sntrup761", &AVX2, 2),
    ("sntrup761-two-prime", &AVX2, 2),
    ("ntruhps2048509-toom", &SSE41, 2),
];

fn parameters(procedure: &Procedure) -> impl Iterator<Item = &Buffer> {
    procedure.buffers.iter().filter(|b| b.role.is_parameter())
}

#[test]
fn each_element_has_what_the_plain_entry_point_gives() {
    let mut random = Random(7);
    for (name, target, batch) in PLANS {
        let plan = Plan::find(name).unwrap();
        let usual = Schedule::saved(name, target.name).unwrap().unwrap_or(Schedule::of(target));
        let plain = lower(&plan, &usual, target, "x").unwrap().program;
        let lowered = lower(&plan, &usual.batching(batch), target, "x").unwrap();
        // What is printed makes the same program.
        let printed = Schedule::parse_for(&lowered.program.schedule, target).unwrap();
        assert_eq!(printed.batch, batch, "{name} {target}");
        assert_eq!(lower(&plan, &printed, target, "x").unwrap().program, lowered.program);
        let many = lowered.program;
        // The plain ones are what they were, and the product is the last.
        let (last, others) = plain.procedures.split_last().unwrap();
        assert_eq!(
            (&many.procedures[..others.len()], many.procedures.last()),
            (others, Some(last))
        );
        let exported = |p: &&Procedure| {
            p.exported && !matches!(p.computes, Some(Computes::InnerProduct { .. }))
        };
        for procedure in plain.procedures.iter().filter(exported) {
            let here = format!("{name} {target} {}", procedure.name);
            let one = plain.entry(&procedure.name).unwrap();
            let all = many.entry(&format!("{}_x{batch}", procedure.name)).unwrap();
            let (old, new) = (ranges(&one).unwrap(), ranges(&all).unwrap());
            assert_eq!(old.outputs, new.outputs, "{here}");
            // Nothing is computed twice, and nothing is left out.
            let of = |c: Counts| (c.stores, c.modular_products, c.reductions, c.additions);
            let (old, new) = (of(count(&one).unwrap().total), of(count(&all).unwrap().total));
            let times = u64::from(batch);
            let old = (old.0 * times, old.1 * times, old.2 * times, old.3 * times);
            assert_eq!(old, new, "{here}");
            let (one, all) = (one.expand(), all.expand());
            let read = |b: &&Buffer| matches!(b.role, Role::Input | Role::InOut);
            let inputs: Vec<Vec<Vec<i64>>> = (0..batch)
                .map(|_| {
                    let draw = |b: &Buffer| {
                        let range = b.range.unwrap_or((-8, 8));
                        (0..b.words).map(|_| random.within(range)).collect()
                    };
                    parameters(procedure).filter(read).map(draw).collect()
                })
                .collect();
            let joined: Vec<Vec<i64>> = (0..inputs[0].len())
                .map(|operand| inputs.iter().flat_map(|of| of[operand].clone()).collect())
                .collect();
            let joined: Vec<&[i64]> = joined.iter().map(Vec::as_slice).collect();
            let apart: Vec<i64> = inputs
                .iter()
                .flat_map(|of| {
                    run(&one, &of.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
                })
                .collect();
            assert_eq!(run(&all, &joined).unwrap(), apart, "{here}");
            if procedure.computes == Some(Computes::Product) {
                for alias in 0..2 {
                    assert_eq!(run_in_place(&all, &joined, alias).unwrap(), apart, "{here}");
                }
            }
        }
    }
}

#[test]
fn a_batch_of_one_is_none_and_sums_of_products_have_none() {
    let plan = Plan::find("mlkem").unwrap();
    let of = |text: &str| {
        let schedule = Schedule::parse_for(text, &AVX2).unwrap();
        let program = lower(&plan, &schedule, &AVX2, "x").unwrap().program;
        let names = program.procedures.iter().filter(|p| p.exported).map(|p| p.name.clone());
        names.collect::<Vec<String>>()
    };
    assert_eq!(of("batch = 1"), of(""));
    let names = of("batch = 2\ninner-products = [3]");
    assert!(names.contains(&"inner3".into()) && !names.contains(&"inner3_x2".into()), "{names:?}");
    assert!(names.contains(&"accumulate_x2".into()), "{names:?}");
}
