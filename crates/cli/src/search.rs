//! `ringforge search`: the fewest reductions, with a certificate.

use std::path::Path;

use ringforge_program::method::MulMethod;
use ringforge_ring::Ring;
use ringforge_tune::{Algorithm, Arithmetic, Granularity, Objective, Outcome, Problem, Scope};

use crate::args::{Inverse, Search, SearchArithmetic, SearchGranularity, SearchObjective};
use crate::preset;
use crate::ui::{Failure, Ui};

/// Runs the command.
///
/// # Errors
/// The ring is no Z_q\[x\]/(x^n + 1), the space holds no placement, or it was interrupted.
pub fn run(ui: &Ui, args: &Search) -> Result<u8, Failure> {
    let ring = preset::ring(&args.ring)?;
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
    if let Some(path) = &args.out {
        save(path, &found)?;
        ui.say(format!("saved: {}", path.display()));
    }
    Ok(0)
}

fn problem(ring: &Ring, args: &Search) -> Result<Problem, Failure> {
    let (q, n) = (ring.q(), ring.degree());
    let f = ring.modulus();
    if f[0] != 1 || f[1..n].iter().any(|&c| c != 0) || !n.is_power_of_two() {
        return Err(Failure::input(format!(
            "the search knows radix-2 transforms of Z_q[x]/(x^n + 1), n a power of two, not {ring}"
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

fn save(path: &Path, found: &Outcome) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(found)
        .map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))?;
    // First beside it, so that a full disk leaves no half of a file.
    let unfinished = path.with_extension("unfinished");
    std::fs::write(&unfinished, text + "\n")
        .and_then(|()| std::fs::rename(&unfinished, path))
        .map_err(|e| {
            let _ = std::fs::remove_file(&unfinished);
            Failure::input(format!("cannot write `{}`: {e}", path.display()))
        })
}
