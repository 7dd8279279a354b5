//! `ringforge explain --placement`: the unsigned product of a placement that a search saved, in all its
//! meanings [TokudaKameyama23 §2.3].

use std::path::Path;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_interpret::formula;
use ringforge_interpret::unsigned::{Part, count, forms, ranges, run, text};
use ringforge_plan::Plan;
use ringforge_program::schedule::Schedule;
use ringforge_program::unsigned::{Algorithm, Scheme, Unsigned};
use ringforge_ring::Ring;
use ringforge_tune::Outcome;

use crate::args::{Explain, View};
use crate::preset;
use crate::ui::{Failure, Ui};
use crate::views::{SHOWN, list};

/// Prints one view of the placement's product.
///
/// # Errors
/// The file is not a placement of unsigned words for the ring, or the view needs a plan.
pub fn explain(ui: &Ui, args: &Explain, path: &Path) -> Result<u8, Failure> {
    let ring = preset::ring(&args.subject.ring)?;
    let name = path.display().to_string();
    let found: Outcome = serde_json::from_str(&preset::read(&name)?).map_err(|e| {
        Failure::input(format!("`{name}` was not written by `ringforge search`: {e}"))
    })?;
    let scheme = found.scheme().ok_or_else(|| {
        Failure::input(format!(
            "`{name}` has no unsigned product; `ringforge search --arithmetic unsigned --out FILE` saves one"
        ))
    })?;
    let (q, n) = (u64::from(scheme.constants.q), scheme.n);
    if (q, n) != (ring.q(), ring.degree()) {
        return Err(Failure::input(format!("`{name}` is for Z{q}[x]/(x^{n} + 1), not for {ring}")));
    }
    match args.view {
        View::Run => sample(ui, &scheme, &ring)?,
        View::Ranges => bounds(ui, &scheme)?,
        View::Counts => counts(ui, &scheme)?,
        View::Formula => formulas(ui, &scheme, &ring)?,
        View::C => ui.say(text::product(&scheme, text::Syntax::C)),
        View::Ocaml => ui.say(text::product(&scheme, text::Syntax::OCaml)),
        View::All => {
            ui.say(found.to_string());
            bounds(ui, &scheme)?;
            counts(ui, &scheme)?;
        }
        View::Tree
        | View::Schedule
        | View::Svg
        | View::RangesSvg
        | View::CountsSvg
        | View::PortsSvg
        | View::ButterfliesSvg => {
            return Err(Failure::input(
                "a placement has no plan to draw: --as run, ranges, counts, formula, c or ocaml",
            ));
        }
    }
    Ok(0)
}

/// The schedule that an outcome of `ringforge search` describes; the rest is `usual`.
///
/// # Errors
/// The text is not an outcome, or its placement is not for unsigned words of 16 bits.
pub fn schedule(name: &str, text: &str, usual: Schedule) -> Result<Schedule, Failure> {
    let found: Outcome = serde_json::from_str(text).map_err(|e| {
        Failure::input(format!("`{name}` was not written by `ringforge search`: {e}"))
    })?;
    let works = "`ringforge search RING --arithmetic unsigned --out FILE` saves one";
    let Some(scheme) = found.scheme() else {
        let why = "has no product in unsigned arithmetic, which a schedule needs";
        return Err(Failure::input(format!("`{name}` {why}; {works}")));
    };
    if !scheme.forward.csub_products {
        let why = "counts on products by 2^18 that no conditional subtraction ends; words of 16 bits have \
                   products by 2^16, which are longer without it";
        return Err(Failure::input(format!("`{name}` {why}; {works}")));
    }
    let Scheme { forward, inverse_by, inverse, .. } = scheme;
    Ok(Schedule { unsigned: Some(Unsigned { forward, inverse_by, inverse }), ..usual })
}

/// The plan that a schedule in unsigned arithmetic executes; nothing for other schedules.
///
/// # Errors
/// The ring has no such transform.
pub fn plan(schedule: &Schedule, ring: &Ring) -> Result<Option<Plan>, Failure> {
    let Some(unsigned) = &schedule.unsigned else { return Ok(None) };
    let inverse = match unsigned.inverse_by {
        Algorithm::InverseCooleyTukey => "cooley-tukey",
        _ => "gentleman-sande",
    };
    let n = ring.degree();
    let text = format!(
        "(plan unsigned-{n} (cite TokudaKameyama23) (ring \"{ring}\") (ntt {} (forward cooley-tukey) \
         (inverse {inverse}) (weighted-convolution (toeplitz))))",
        n.max(1).ilog2()
    );
    let plan = Plan::parse(&text);
    let why =
        |e| format!("the schedule is for a complete transform of x^n + 1, not for {ring}: {e}");
    plan.map(Some).map_err(|e| Failure::input(why(e)))
}

/// Refuses a placement that does not fit a ring, or under which a word may overflow.
///
/// # Errors
/// Where that is, and what would work.
pub fn check(schedule: &Schedule, ring: &Ring) -> Result<(), Failure> {
    let Some(unsigned) = &schedule.unsigned else { return Ok(()) };
    let (q, n) = (ring.q(), ring.degree());
    let works = "`ringforge search` with this ring finds a placement that fits";
    let refuse =
        |why: String| Failure::input(format!("the schedule does not fit {ring}: {why}; {works}"));
    if let Some(misfit) = unsigned.misfit(q, n) {
        return Err(refuse(misfit));
    }
    let Unsigned { forward, inverse_by, inverse } = unsigned.clone();
    let Some(scheme) = Scheme::new(q, n, forward, inverse_by, inverse) else {
        return Err(refuse(format!("{q} has no root of unity of order {}", 2 * n)));
    };
    let found = ranges(&scheme, Part::Product, (0, q as i64 - 1));
    found.map(|_| ()).map_err(|fault| refuse(fault.to_string()))
}

fn faulty(e: impl std::fmt::Display) -> Failure {
    Failure::failed(e.to_string())
}

const PARTS: [(&str, Part); 3] =
    [("forward", Part::Forward), ("inverse", Part::Inverse), ("product", Part::Product)];

fn sample(ui: &Ui, scheme: &Scheme, ring: &Ring) -> Result<(), Failure> {
    let mut rng = StdRng::seed_from_u64(1);
    let mut draw = || -> Vec<u16> {
        (0..scheme.n).map(|_| rng.random_range(0..scheme.constants.q as u16)).collect()
    };
    let (a, b) = (draw(), draw());
    let c = run(scheme, Part::Product, &a, &b).map_err(faulty)?;
    ui.say(format!("a = {}\nb = {}\nc = {}", list(&a), list(&b), list(&c)));
    let signed = |words: &[u16]| -> Vec<i64> { words.iter().map(|&x| x.into()).collect() };
    let want = ring.mul(&signed(&a), &signed(&b));
    let q = ring.q() as i64;
    match c.iter().zip(&want).position(|(&x, w)| (i64::from(x) - w) % q != 0) {
        None => ui.say(format!("as it should be: c = a * b in {ring}")),
        Some(k) => {
            return Err(faulty(format!("element {k} is wrong; this is a fault of ringforge")));
        }
    }
    Ok(())
}

fn bounds(ui: &Ui, scheme: &Scheme) -> Result<(), Failure> {
    let q = scheme.constants.q as u16;
    for (name, part) in PARTS {
        let all = ranges(scheme, part, (0, (q - 1).into())).map_err(faulty)?;
        let low = all.iter().map(|r| r.0).min().unwrap_or(0);
        let high = all.iter().map(|r| r.1).max().unwrap_or(0);
        ui.say(format!("{name}: inputs in [0, {}] give [{low}, {high}]; no word overflows", q - 1));
    }
    Ok(())
}

fn counts(ui: &Ui, scheme: &Scheme) -> Result<(), Failure> {
    for (name, part) in PARTS {
        let c = count(scheme, part).map_err(faulty)?;
        ui.say(format!(
            "{name}: {} additions, {} subtractions, {} Montgomery products, {} Barrett reductions ({} times n/2), {} conditional subtractions",
            c.additions,
            c.subtractions,
            c.products,
            c.barretts,
            c.barretts as f64 / (scheme.n as f64 / 2.0),
            c.csubs
        ));
    }
    Ok(())
}

fn formulas(ui: &Ui, scheme: &Scheme, ring: &Ring) -> Result<(), Failure> {
    let started = Instant::now();
    let forms = forms(scheme, Part::Product).map_err(faulty)?;
    let agreement = forms.agrees_with(ring).map_err(faulty)?;
    let seconds = started.elapsed().as_secs_f64();
    ui.say(formula::text(&forms, SHOWN.0, SHOWN.1).trim_end());
    ui.say(format!(
        "All {} formulas are those of the product in {ring}, compared for all {} pairs of basis vectors: {seconds:.1} s.",
        agreement.outputs, agreement.pairs
    ));
    Ok(())
}
