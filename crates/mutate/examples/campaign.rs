//! `cargo run --release -p ringforge-mutate --example campaign -- PLAN NAME CC FLAGS COUNT [CLASS…]`:
//! the mutants of one AVX2 multiplier; JSON to `mutants.json`. The `ringforge mutate` command is
//! the polished form.

use ringforge_emit::{Preamble, avx2};
use ringforge_mutate::{Choice, Product, Prover, Settings, Subject, run};
use ringforge_plan::Plan;
use ringforge_program::ir::Program;
use ringforge_program::{lower::lower, schedule::Schedule};
use ringforge_prove::{Contract, Options};
use ringforge_targets::AVX2;
use ringforge_toolchain::Compiler;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [plan, name, cc, flags, count, classes @ ..] = &args[..] else {
        return Err("PLAN NAME CC FLAGS COUNT [CLASS…]".into());
    };
    let plan = Plan::parse(&std::fs::read_to_string(plan)?).map_err(|e| e.to_string())?;
    let lowered = lower(&plan, &Schedule::default(), &AVX2, name)?;
    let emit = |p: &Program| avx2::avx2(p, &Preamble::default()).ok();
    let source = emit(&lowered.program).ok_or("not emitted")?;
    let compiler = Compiler::find(cc)?;
    let flags: Vec<String> = flags.split_whitespace().map(Into::into).collect();
    let dir = tempfile::tempdir()?;
    let (from, to) = (dir.path().join("o.c"), dir.path().join("o.o"));
    std::fs::write(&from, &source)?;
    compiler.compile(&from, &flags, &to)?;
    let n = plan.ring.degree();
    let h = (plan.ring.q() as i64 - 1) / 2;
    let symbol = format!("{name}_mul_avx2");
    let argument = |a: &str, role: &str| {
        format!(
            "[[argument]]\nname = \"{a}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {n}\n\
             align = 2\nrange = [-{h}, {h}]\n"
        )
    };
    let contract = Contract::parse(&format!(
        "contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\nring = \"{}\"\n\
         computes = \"product\"\nalias = [[\"c\", \"a\"], [\"c\", \"b\"]]\n{}{}{}",
        plan.ring,
        argument("c", "output"),
        argument("a", "input"),
        argument("b", "input")
    ))?;
    let subject = Subject {
        product: Product {
            symbol,
            ring: plan.ring.clone(),
            element: ringforge_toolchain::Element::I16,
            inputs: [(-h, h); 2],
            output: (-h, h),
        },
        object: std::fs::read(to)?,
        source: Some(source),
        program: Some((&lowered.program, &emit)),
        compiler: &compiler,
        flags,
    };
    let search = std::time::Duration::from_secs(
        std::env::var("SEARCH").ok().and_then(|s| s.parse().ok()).unwrap_or(10),
    );
    let judge = Prover {
        contract,
        options: Options { search, ..Options::default() },
        still: Arc::new(|| true),
    };
    let all = ringforge_mutate::all_mutants(&subject)?;
    let mut counts = std::collections::BTreeMap::<_, usize>::new();
    for m in &all.made {
        *counts.entry(m.class).or_default() += 1;
    }
    println!("{} mutants exist: {counts:?}", all.made.len());
    let wanted = |c: &ringforge_mutate::Class| classes.contains(&c.to_string().replace(' ', "-"));
    let choice = Choice {
        count: count.parse().ok(),
        seed: 1,
        classes: counts.keys().copied().filter(wanted).collect(),
        only: Vec::new(),
    };
    let started = std::time::Instant::now();
    let summary = run(&subject, &judge, &choice, Settings::default(), &|done, of, trial| {
        println!(
            "{done}/{of} {:.1} s {}: {}: {:?} {:?}",
            trial.seconds, trial.class, trial.what, trial.outcome, trial.random_products_right
        );
    })?;
    println!("{summary}\n{:.0} s", started.elapsed().as_secs_f64());
    std::fs::write("/tmp/mutants.json", serde_json::to_string_pretty(&summary)?)?;
    if !summary.passed() {
        std::process::exit(1);
    }
    Ok(())
}
