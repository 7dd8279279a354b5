//! `ringforge search`: the fewest reductions, with a certificate.

use std::path::Path;

use ringforge_program::method::MulMethod;
use ringforge_ring::Ring;
use ringforge_tune::{Algorithm, Arithmetic, Granularity, Objective, Problem, Scope};
use ringforge_tune::{registers, tables};

use crate::args::{Inverse, Search, SearchArithmetic, SearchGranularity, SearchObjective, Subject};
use crate::ui::{Failure, Ui};
use crate::{preset, target};

/// Runs the command.
///
/// # Errors
/// The ring is no Z_q\[x\]/(x^n + 1), the space holds no placement, or it was interrupted.
pub fn run(ui: &Ui, args: &Search) -> Result<u8, Failure> {
    if args.tables {
        return tables(ui);
    }
    let name = args.ring.as_deref().unwrap_or_default();
    if let Some(target) = &args.emitted {
        return emitted(ui, args, name, target);
    }
    let ring = preset::ring(name)?;
    let problem = problem(&ring, args)?;
    let bar = ui.bar("transforms settled", 1);
    let found = ringforge_tune::search(&problem, &mut |progress| {
        bar.set_length(progress.of as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(format!("{} subproblems", progress.states));
        true
    });
    bar.finish_and_clear();
    let found = found.map_err(Failure::input)?;
    ui.json(&found)?;
    ui.say(found.to_string());
    let text = serde_json::to_string_pretty(&found)
        .map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
    save(ui, args.out.as_deref(), &text)?;
    Ok(0)
}

/// The tables of reductions.
fn tables(ui: &Ui) -> Result<u8, Failure> {
    let mut problems = tables::unsigned();
    problems.extend(tables::signed());
    problems.extend(tables::cheapest());
    let bar = ui.bar("searches", problems.len() as u64);
    let mut rows = Vec::new();
    for n in [512, 1024] {
        rows.push(tables::earlier(n).map_err(Failure::failed)?);
    }
    let found = tables::rows(&problems, &mut |i, progress| {
        bar.set_position(i as u64);
        bar.set_message(format!("{}: {} subproblems", problems[i].0, progress.states));
        true
    });
    bar.finish_and_clear();
    rows.extend(found.map_err(Failure::failed)?);
    ui.json(&rows)?;
    ui.say(tables::markdown(&rows));
    Ok(0)
}

/// Fewer reductions for the program of a target.
fn emitted(ui: &Ui, args: &Search, ring: &str, target: &str) -> Result<u8, Failure> {
    let subject = Subject { ring: ring.into(), plan: None, lhs: None, rhs: None };
    let target = target::find(target)?;
    let job = preset::resolve(&subject, target)?;
    let Some(levels) = job.plan.negacyclic() else {
        let message = format!("the plan `{}` is not a transform of x^n + 1", job.plan.name);
        return Err(Failure::input(message));
    };
    let bar = ui.spinner("placements");
    let schedule = target.schedule();
    let found = registers::improve(
        &job.plan,
        &schedule,
        target.machine,
        &job.name,
        levels.splits().len(),
        &mut |progress| {
            bar.set_message(format!("{} placements tried", progress.states));
            true
        },
    );
    bar.finish_and_clear();
    let found = found.map_err(|e| Failure::input(e.to_string()))?;
    ui.json(&serde_json::json!({
        "ring": job.plan.ring.to_string(),
        "target": target.name,
        "before": found.before,
        "after": found.after,
        "asked": found.asked,
        "reductions": found.sites,
    }))?;
    ui.say(found.to_string().trim_end());
    let text = format!(
        "# Found by `ringforge search {ring} --emitted {} --out FILE`: {} reductions of registers, {} before.\nreductions = {:?}\n",
        target.name, found.after, found.before, found.sites
    );
    save(ui, args.out.as_deref(), &text)?;
    Ok(0)
}

fn problem(ring: &Ring, args: &Search) -> Result<Problem, Failure> {
    let (q, n) = (ring.q(), ring.degree());
    let f = ring.modulus();
    if f[0] != 1 || f[1..n].iter().any(|&c| c != 0) || !n.is_power_of_two() {
        return Err(Failure::input(format!(
            "the search handles radix-2 transforms of Z_q[x]/(x^n + 1), n a power of two, not {ring}"
        )));
    }
    let most = (0..=n.ilog2()).rev().find(|l| (q - 1).is_multiple_of(2 << l)).unwrap_or(0);
    let layers = args.layers.unwrap_or(most as usize);
    let inverse = match args.inverse {
        Inverse::GentlemanSande => Algorithm::InverseGentlemanSande,
        Inverse::CooleyTukey => Algorithm::InverseCooleyTukey,
    };
    let arithmetic = match args.arithmetic {
        SearchArithmetic::Unsigned => Arithmetic::Unsigned { csub_products: true },
        SearchArithmetic::UnsignedLazy => Arithmetic::Unsigned { csub_products: false },
        SearchArithmetic::Montgomery => Arithmetic::Signed { multiply: MulMethod::Montgomery },
        SearchArithmetic::Barrett => Arithmetic::Signed { multiply: MulMethod::Barrett },
    };
    let granularity = match args.granularity {
        SearchGranularity::Coefficient => Granularity::Coefficient,
        SearchGranularity::Register => Granularity::Register { lanes: args.lanes },
        SearchGranularity::Layer => Granularity::Layer,
    };
    let objective = match args.objective {
        SearchObjective::Reductions => Objective::Reductions,
        SearchObjective::Operations => Objective::Operations,
    };
    let scope = Scope::Product { inverse };
    Ok(Problem {
        layers,
        arithmetic,
        scope,
        granularity,
        objective,
        ..Problem::signed(q, n, layers)
    })
}

fn save(ui: &Ui, path: Option<&Path>, text: &str) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    // First beside it, so that a full disk leaves no half of a file.
    let unfinished = path.with_extension("unfinished");
    let written = std::fs::write(&unfinished, text.trim_end().to_owned() + "\n");
    written.and_then(|()| std::fs::rename(&unfinished, path)).map_err(|e| {
        let _ = std::fs::remove_file(&unfinished);
        Failure::input(format!("cannot write `{}`: {e}", path.display()))
    })?;
    ui.say(format!("saved: {}", path.display()));
    Ok(())
}
