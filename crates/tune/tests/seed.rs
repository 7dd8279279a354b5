//! Table 3 of [TokudaKameyama23], recomputed, and what the search finds beyond it. Every day mostly for n = 512; left to
//! `RINGFORGE_LONG=1` and `--include-ignored`: n = 1024, the other combinations of arithmetic and objective, and the whole table.

use ringforge_interpret::unsigned::{Part as Of, count, forms, ranges};
use ringforge_ring::Ring;
use ringforge_testing::share;
use ringforge_tune::*;

fn found(n: usize, granularity: Granularity, inverse: Algorithm) -> Outcome {
    let problem =
        Problem { granularity, scope: Scope::Product { inverse }, ..Problem::unsigned(12289, n) };
    search(&problem, &mut |_| true).unwrap()
}

/// By whole layers nothing is better than the seed: 4, 5 and 13 times n/2 for n = 512, 4, 6 and
/// 14 for n = 1024 [TokudaKameyama23 Table 3].
#[test]
fn whole_layers_give_the_seed_s_numbers() {
    for (n, forward, inverse) in [(512, 4, 5), (1024, 4, 6)] {
        let outcome = found(n, Granularity::Layer, Algorithm::InverseGentlemanSande);
        let units = |i: usize| outcome.parts[i].sites.len() * 2 / n;
        assert_eq!((units(0), units(1)), (forward, inverse), "n = {n}");
        assert_eq!(outcome.units(), (2 * forward + inverse) as f64, "n = {n}");
    }
}

/// The placements found, as programs: in range by the exact walk, right for all coefficients, and
/// with as many reductions as the search says.
#[test]
fn placements_found_are_programs_that_are_right() {
    use Algorithm::*;
    let placements = [
        (512, InverseGentlemanSande, Granularity::Coefficient, 764),
        (1024, InverseGentlemanSande, Granularity::Coefficient, 1761),
        (512, InverseCooleyTukey, Granularity::Coefficient, 294),
        (1024, InverseCooleyTukey, Granularity::Coefficient, 690),
        (1024, InverseCooleyTukey, Granularity::Register { lanes: 16 }, 1584),
    ];
    for (n, inverse, granularity, words) in share(&placements, &[0, 2]) {
        let outcome = found(n, granularity, inverse);
        assert_eq!(outcome.reductions(), words, "n = {n}, {inverse:?}, {granularity:?}");
        let scheme = outcome.scheme().unwrap();
        let out = ranges(&scheme, Of::Product, (0, 12288)).unwrap();
        assert!(out.iter().all(|r| r.0 >= 0 && r.1 <= 12288), "canonical outputs");
        let counts = count(&scheme, Of::Product).unwrap();
        let products = counts.products; // each with its own csub
        assert_eq!(counts.barretts + counts.csubs - products, words);
        let ring = Ring::parse(&format!("Z12289[x]/(x^{n} + 1)")).unwrap();
        forms(&scheme, Of::Product).unwrap().agrees_with(&ring).unwrap();
        for part in &outcome.parts {
            assert_eq!(part.certificate.bound, part.certificate.found);
        }
    }
}

/// No reduction of a placement can be left out.
#[test]
fn every_reduction_is_needed() {
    let outcome = found(512, Granularity::Coefficient, Algorithm::InverseGentlemanSande);
    let mut ranges = Ranges::new(12289, outcome.problem.arithmetic).unwrap();
    for part in &outcome.parts {
        let layers = Layers::new(12289, 512, 9, part.algorithm).unwrap();
        for i in (0..part.sites.len()).step_by(7) {
            let mut sites = part.sites.clone();
            let dropped = sites.remove(i);
            assert!(
                check(&mut ranges, &layers, (part.input, (0, 65535)), &sites).is_err(),
                "{dropped:?}"
            );
        }
    }
}

/// Outcomes are data.
#[test]
fn outcomes_are_saved_and_read() {
    let outcome = found(64, Granularity::Coefficient, Algorithm::InverseGentlemanSande);
    let text = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
}

#[test]
fn what_does_not_fit_is_refused() {
    let wrong = |p: Problem| search(&p, &mut |_| true).unwrap_err();
    assert!(wrong(Problem::unsigned(12289, 1000)).contains("1000"));
    assert!(wrong(Problem::unsigned(12289, 8192)).contains("root of unity"));
    assert!(wrong(Problem::unsigned(8380417, 256)).contains("8380417"));
    let scope = Scope::Transform(Algorithm::Forward);
    let tight = Problem { scope, output: Some((0, 100)), ..Problem::unsigned(12289, 64) };
    assert!(wrong(tight).contains("no placement"));
}

/// Table 3 (D) and (F): the scheme before the paper's, checked to fit.
#[test]
fn the_earlier_scheme_has_the_seed_s_numbers() {
    for (n, forward, inverse) in [(512, 12, 8), (1024, 13, 9)] {
        let row = tables::earlier(n).unwrap();
        let half = n as u64 / 2;
        assert_eq!((row.forward / half, row.inverse / half), (forward, inverse));
        assert_eq!(row.product, (2 * forward + inverse) * half);
    }
}

#[test]
#[ignore = "in the long run"]
fn rows_are_tables() {
    let problems: Vec<_> = tables::unsigned().into_iter().filter(|(_, p)| p.n == 512).collect();
    let rows = tables::rows(&problems, &mut |_, _| true).unwrap();
    let words: Vec<u64> = rows.iter().map(|r| r.product).collect();
    assert_eq!((words[0], words[2], words[4]), (13 * 256, 764, 294));
    assert!(words.iter().skip(1).all(|&w| w < words[0]), "{words:?}");
    assert!(rows.iter().all(|r| r.least));
    assert_eq!(tables::markdown(&rows).lines().count(), 2 + rows.len());
}

/// Products without conditional subtraction, and operations as the objective: programs that fit
/// and are right, too.
#[test]
fn other_arithmetic_and_objectives_give_programs() {
    let ring = Ring::parse("Z12289[x]/(x^256 + 1)").unwrap();
    let inverses = [Algorithm::InverseGentlemanSande, Algorithm::InverseCooleyTukey];
    let mut all = Vec::new();
    for csub_products in [false, true] {
        for inverse in inverses {
            let objectives = [Objective::Reductions, Objective::Operations];
            all.extend(objectives.map(|objective| (csub_products, inverse, objective)));
        }
    }
    for (csub_products, inverse, objective) in share(&all, &[1, 6]) {
        let problem = Problem {
            arithmetic: Arithmetic::Unsigned { csub_products },
            scope: Scope::Product { inverse },
            objective,
            ..Problem::unsigned(12289, 256)
        };
        let outcome = search(&problem, &mut |_| true).unwrap();
        let scheme = outcome.scheme().unwrap();
        let out = ranges(&scheme, Of::Product, (0, 12288)).unwrap();
        assert!(out.iter().all(|r| r.0 >= 0 && r.1 <= 12288), "{problem:?}");
        forms(&scheme, Of::Product).unwrap().agrees_with(&ring).unwrap();
    }
}

ringforge_testing::rest!(
    placements_found_are_programs_that_are_right,
    other_arithmetic_and_objectives_give_programs,
);
