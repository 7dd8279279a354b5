//! `cargo run --example emit -- PLAN NAME OUT.c [SCHEDULE.toml]`: lowers a plan and writes the
//! AVX2 source; prints what was decided. For trying schedules; the `ringforge` command does more.

use ringforge_emit::{Preamble, avx2, c};
use ringforge_plan::Plan;
use ringforge_program::ir::{Op, Program, Stmt};
use ringforge_program::lower::lower;
use ringforge_program::schedule::{BaseProducts, Schedule};
use ringforge_targets::AVX2;

fn slots(body: &[Stmt], program: &Program, depth: usize, print: bool) -> u64 {
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Stage { title, body, .. } => {
                let n = slots(body, program, depth + 1, print);
                if print {
                    println!("{:indent$}{n:6} {title}", "", indent = depth * 2);
                }
                n
            }
            Stmt::Loop { count, body, .. } => {
                u64::from(*count) * slots(body, program, depth, print)
            }
            Stmt::Call { procedure, .. } => {
                slots(&program.procedures[procedure.0 as usize].body, program, depth, false)
            }
            Stmt::Block(block) => block
                .ops
                .iter()
                .map(|op| match op {
                    Op::Load { .. }
                    | Op::Splat(_)
                    | Op::Lanes(_)
                    | Op::BroadcastPair { .. }
                    | Op::Broadcast { .. }
                    | Op::Store { .. } => 0,
                    _ => 1,
                })
                .sum(),
        })
        .sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let plan = Plan::parse(&std::fs::read_to_string(&args[1])?).map_err(|e| format!("{e:?}"))?;
    let schedule = match args.get(4) {
        Some(path) => Schedule::parse(&std::fs::read_to_string(path)?)?,
        None => Schedule::default(),
    };
    let lowered = lower(&plan, &schedule, &AVX2, &args[2])?;
    let preamble = Preamble {
        command: args[1..].join(" "),
        tool: "the example `emit`".into(),
        facts: lowered.borders.iter().map(|(s, b)| format!("{s}: within {b}")).collect(),
    };
    let portable = schedule.base == BaseProducts::Lanes;
    let source = match portable {
        true => c::c(&lowered.program, &preamble)?,
        false => avx2::avx2(&lowered.program, &preamble)?,
    };
    std::fs::write(&args[3], source)?;
    let expanded = lowered.program.expand();
    for procedure in &expanded.procedures {
        println!("{}", procedure.name);
        println!("{:6} in all", slots(&procedure.body, &expanded, 1, true));
    }
    println!("reductions: {}", lowered.sites.len());
    for (stage, bound) in &lowered.borders {
        println!("{bound:8} {stage}");
    }
    Ok(())
}
