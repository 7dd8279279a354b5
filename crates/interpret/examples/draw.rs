//! `cargo run -p ringforge-interpret --example draw -- PLAN OUT-DIRECTORY`: all pictures of a plan
//! and of the program that its default schedule makes.

use ringforge_interpret::{count, draw, range, text};
use ringforge_plan::{Lift, MonomialCrt, Network, Plan, Substitute};
use ringforge_program::{lower::lower, schedule::Schedule};
use ringforge_target::AVX2;
use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let (file, out) = (&args[1], Path::new(&args[2]));
    let plan = Plan::parse(&fs::read_to_string(file)?).map_err(|e| format!("{e:?}"))?;
    let caption = format!("Plan {}: multiplication in {}", plan.name, plan.ring);
    fs::write(out.join("tree.svg"), draw::tree(&plan.tree(), &caption))?;
    for (name, schedule) in [("avx2", Schedule::default()), ("c", Schedule::portable())] {
        let program = lower(&plan, &schedule, &AVX2, &plan.name)?.program;
        let ranges = range::ranges(&program)?;
        let costs = count::count(&program)?;
        let caption = format!("{}, {name}: the range of every stage", plan.name);
        fs::write(out.join(format!("ranges-{name}.svg")), draw::ranges(&ranges, &caption))?;
        let caption = format!("{}, {name}: operations by stage", plan.name);
        fs::write(out.join(format!("counts-{name}.svg")), draw::counts(&costs, &caption))?;
        println!("{}\n{}", text::ranges(&ranges), text::counts(&costs));
    }
    let lift = plan.root.as_method::<Lift>().ok_or("no lift")?;
    let main = match lift.inner.as_method::<MonomialCrt>() {
        Some(crt) => &crt.main,
        None => &lift.inner,
    };
    let part = main.as_method::<Substitute>().ok_or("no transform")?;
    for (i, child) in part.transform.children().into_iter().enumerate() {
        let mut net = Network::new(plan.ring.q());
        let inputs = net.inputs(&vec![true; child.len()]);
        let outputs = child.forward(&mut net, &inputs);
        let caption = format!("{}, {} points", child.title(), child.len());
        fs::write(out.join(format!("network-{i}.svg")), draw::network(&net, &outputs, &caption))?;
    }
    Ok(())
}
