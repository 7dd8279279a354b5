//! `cargo run --example portable -- PLAN NAME OUT.c [SCHEDULE.toml]`: lowers a plan for portable
//! C, gives it every meaning, and writes the source. For trying schedules.

use ringforge_emit::{Preamble, c};
use ringforge_interpret::{count, formula, range, run};
use ringforge_plan::Plan;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::AVX2;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let plan = Plan::parse(&std::fs::read_to_string(&args[1])?).map_err(|e| format!("{e:?}"))?;
    let schedule = match args.get(4) {
        Some(path) => Schedule::parse(&std::fs::read_to_string(path)?)?,
        None => Schedule::portable(),
    };
    let lowered = lower(&plan, &schedule, &AVX2, &args[2])?;
    let program = &lowered.program;
    let preamble = Preamble {
        command: args[1..].join(" "),
        tool: "the example `portable`".into(),
        facts: lowered.borders.iter().map(|(s, b)| format!("{s}: within {b}")).collect(),
    };
    match c::c(program, &preamble) {
        Ok(source) => std::fs::write(&args[3], source)?,
        Err(error) => println!("{error}"),
    }

    let costs = count::count(program)?;
    println!("arithmetic {} of {:?}", costs.total.arithmetic(), costs.total);
    if std::env::var_os("QUICK").is_some() {
        return Ok(());
    }
    let time = Instant::now();
    let expanded = program.expand();
    let n = plan.ring.degree();
    for seed in 0..10u64 {
        let mut x = seed;
        let mut operand = || -> Vec<i64> {
            let next = |_| {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (x >> 33) as i64 % 4591 - 2295
            };
            (0..n).map(next).collect()
        };
        let (mut a, b) = (operand(), operand());
        if seed < 2 {
            a = vec![2295 * (2 * seed as i64 - 1); n];
        }
        let got = run::run(&expanded, &[&a, &b])?;
        let want = plan.ring.mul(&a, &b);
        println!("run {seed}: {}", if got == want { "right" } else { "WRONG" });
    }
    println!("run took {:?}", time.elapsed());
    let time = Instant::now();
    match range::ranges(program) {
        Ok(ranges) => {
            for s in &ranges.stages {
                println!(
                    "{:?} {:?} {:?} {:.2} {}",
                    s.words,
                    s.stored,
                    s.elements,
                    s.fill,
                    s.path.join(" › ")
                );
            }
            println!("{:?} {:?}", ranges.outputs, ranges.enumerated);
        }
        Err(fault) => println!("{fault}"),
    }
    println!("range took {:?}", time.elapsed());
    let time = Instant::now();
    let forms = formula::forms(program)?;
    println!("recorded {forms:?} in {:?}", time.elapsed());
    println!("{:?}", forms.agrees_with(&plan.ring));
    println!("formula took {:?}", time.elapsed());
    for s in &costs.stages {
        println!(
            "{:6} {:6} {}",
            s.counts.arithmetic(),
            s.counts.loads + s.counts.stores,
            s.path.join(" › ")
        );
    }
    Ok(())
}
