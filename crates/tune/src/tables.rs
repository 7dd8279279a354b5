//! Tables of reductions: Masuda and Kameyama's scheme, that of TokudaKameyama23, and what the search finds.

use crate::{
    Algorithm, Arithmetic, Granularity, Layers, Outcome, Problem, Progress, Ranges, Reduction,
    Scope, Site, check, search,
};
use ringforge_program::unsigned::Kind;
use ringforge_targets::AVX2;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A row: reductions of single words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The modulus.
    pub q: u64,
    /// Degree of x^n + 1.
    pub n: usize,
    /// Radix-2 layers.
    pub layers: usize,
    /// Whose placement.
    pub who: String,
    /// Of one forward transform.
    pub forward: u64,
    /// Of the inverse transform.
    pub inverse: u64,
    /// Two forward transforms and one inverse.
    pub product: u64,
    /// Vector operations of all reductions in single words, those that end products included;
    /// modelled as [`Reduction::operations`].
    pub operations: u64,
    /// Whether nothing in the row's space is lower: the certificate's bound is what was found.
    pub least: bool,
}

impl Row {
    fn of(outcome: &Outcome, who: String) -> Row {
        let Problem { q, n, layers, .. } = outcome.problem;
        let count = |i: usize| outcome.parts.get(i).map_or(0, |p| p.sites.len() as u64);
        let least = outcome.parts.iter().all(|p| p.certificate.bound == p.certificate.found);
        let (forward, inverse) = (count(0), count(1));
        Row {
            q,
            n,
            layers,
            who,
            forward,
            inverse,
            product: outcome.reductions(),
            operations: outcome.operations(),
            least,
        }
    }
}

/// The earlier scheme, vectorised [TokudaKameyama23 §3.3, Table 3 (D), (F)]. Forward, it reduces all differences, and
/// after every third layer all sums. Inverse, it reduces all sums of all layers but the last. The function checks that it
/// fits with products below q. With products up to 5q/4, those of Montgomery's reduction alone, the third sum of the
/// forward transform does not fit.
///
/// # Errors
/// It does not fit.
pub fn earlier(n: usize) -> Result<Row, String> {
    let (q, layers) = (12289, n.max(1).ilog2() as usize);
    let mut ranges = Ranges::new(q, Arithmetic::Unsigned { csub_products: true })?;
    let mut counts = Vec::new();
    let input = ranges.canonical();
    for algorithm in [Algorithm::Forward, Algorithm::InverseGentlemanSande] {
        let shape = Layers::new(q, n, layers, algorithm)?;
        let forward = algorithm == Algorithm::Forward;
        let mut sites = Vec::new();
        for (layer, &o) in shape.distances.iter().enumerate() {
            let after = layer + 1;
            for position in 0..n {
                let reduced = match (forward, position & o == 0) {
                    (true, true) => after % 3 == 0,
                    (true, false) => true,
                    (false, sum) => sum && after < layers,
                };
                if reduced {
                    let kind = Reduction::Unsigned(Kind::Barrett);
                    sites.push(Site { after: after as u32, position: position as u32, kind });
                }
            }
        }
        let word = ranges.word();
        check(&mut ranges, &shape, (input, word), &sites)?;
        counts.push(sites.len() as u64);
    }
    let (forward, inverse) = (counts[0], counts[1]);
    let product = 2 * forward + inverse;
    let who = "Masuda and Kameyama".into();
    let (words, count) = (n as u64, layers as u64);
    let products = 3 * words / 2 * count + words / 2 + 2 * words;
    let operations = 3 * product + 2 * products;
    Ok(Row { q, n, layers, who, forward, inverse, product, operations, least: false })
}

/// What table 3 of [TokudaKameyama23 §3.3] asks for, n = 512 and 1024 under the same unsigned arithmetic, each
/// with a name.
pub fn unsigned() -> Vec<(String, Problem)> {
    let spaces = [
        ("Tokuda and Kameyama's space, whole layers", Granularity::Layer, true),
        ("registers of 16", Granularity::Register { lanes: AVX2.registers.lanes(16) }, true),
        ("single coefficients", Granularity::Coefficient, true),
        (
            "registers of 16, inverse by Cooley–Tukey",
            Granularity::Register { lanes: AVX2.registers.lanes(16) },
            false,
        ),
        ("single coefficients, inverse by Cooley–Tukey", Granularity::Coefficient, false),
    ];
    let mut all = Vec::new();
    for n in [512, 1024] {
        for (name, granularity, gentleman_sande) in spaces {
            let inverse = match gentleman_sande {
                true => Algorithm::InverseGentlemanSande,
                false => Algorithm::InverseCooleyTukey,
            };
            let scope = Scope::Product { inverse };
            all.push((name.into(), Problem { granularity, scope, ..Problem::unsigned(12289, n) }));
        }
    }
    all
}

/// Signed Montgomery products, single coefficients: 12289, 7681 and 3329, complete where there are
/// roots and one layer less.
pub fn signed() -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    for (q, n, layers) in
        [(12289, 512, 9), (12289, 1024, 10), (7681, 256, 8), (7681, 256, 7), (3329, 256, 7)]
    {
        for inverse in [Algorithm::InverseGentlemanSande, Algorithm::InverseCooleyTukey] {
            let scope = Scope::Product { inverse };
            let name = match inverse {
                Algorithm::InverseCooleyTukey => "signed, inverse by Cooley–Tukey",
                _ => "signed",
            };
            all.push((name.into(), Problem { scope, ..Problem::signed(q, n, layers) }));
        }
    }
    all
}

/// The cheapest by modelled operations, single coefficients, for n = 512 and 1024 and each arithmetic:
/// "lazy" is the unsigned scheme without the conditional subtraction that ends products.
pub fn cheapest() -> Vec<(String, Problem)> {
    let mut all = Vec::new();
    for (n, layers) in [(512, 9), (1024, 10)] {
        let lazy = Arithmetic::Unsigned { csub_products: false };
        for (name, base) in [
            ("unsigned, fewest operations", Problem::unsigned(12289, n)),
            (
                "unsigned lazy, fewest operations",
                Problem { arithmetic: lazy, ..Problem::unsigned(12289, n) },
            ),
            ("signed, fewest operations", Problem::signed(12289, n, layers)),
        ] {
            for inverse in [Algorithm::InverseGentlemanSande, Algorithm::InverseCooleyTukey] {
                let how = match inverse {
                    Algorithm::InverseCooleyTukey => ", inverse by Cooley–Tukey",
                    _ => "",
                };
                let (scope, objective) = (Scope::Product { inverse }, crate::Objective::Operations);
                all.push((format!("{name}{how}"), Problem { scope, objective, ..base }));
            }
        }
    }
    all
}

/// Searches each problem. The callback receives the problem's number and its progress.
///
/// # Errors
/// A problem has no answer.
pub fn rows(
    problems: &[(String, Problem)],
    progress: &mut dyn FnMut(usize, Progress) -> bool,
) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (i, (who, problem)) in problems.iter().enumerate() {
        let outcome = search(problem, &mut |p| progress(i, p))?;
        rows.push(Row::of(&outcome, who.clone()));
    }
    Ok(rows)
}

/// Rows as a Markdown table, in words and in units of n/2.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::from(
        "| ring | placement | forward | inverse | product | product in n/2 | operations | proved least |\n\
         |---|---|---:|---:|---:|---:|---:|---|\n",
    );
    for row in rows {
        let _ = writeln!(
            out,
            "| Z{}[x]/(x^{} + 1), {} layers | {} | {} | {} | {} | {:.2} | {} | {} |",
            row.q,
            row.n,
            row.layers,
            row.who,
            row.forward,
            row.inverse,
            row.product,
            row.product as f64 * 2.0 / row.n as f64,
            row.operations,
            if row.least { "yes" } else { "no" }
        );
    }
    out
}
