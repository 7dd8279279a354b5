//! The search over where reductions stand and which kind, on exact ranges, without generating
//! code, as [TokudaKameyama23 §4.1] observed that one can; with a certificate.
//!
//! ```
//! use ringforge_tune::{Problem, search};
//! let problem = Problem::unsigned(12289, 16);
//! let found = search(&problem, &mut |_| true).unwrap();
//! assert_eq!(found.reductions(), 5);
//! println!("{found}");
//! ```
//!
//! Two structures make the search exact and fast. In a Cooley–Tukey transform a value's interval
//! is that of one ancestor plus products, and ancestors form a forest; in a
//! Gentleman–Sande transform sums gather values of the same history. Both give dynamic programs
//! over intervals, with dominance: of two placements of the same cost the one that leaves an interval
//! inside the other's can do whatever the other can. What they find is executed by [`mod@check`],
//! which shares with them only the ranges of single operations, and small cases are compared with
//! all placements there are (`tests/brute.rs`).

pub mod arith;
mod chain;
pub mod check;
mod gather;
mod outcome;
mod product;
pub mod registers;
mod space;
mod stages;
pub mod tables;
pub mod wisdom;

pub use arith::{Arithmetic, Interval, Layers, Ranges, Reduction};
pub use check::{Checked, Site, check};
pub use outcome::{Certificate, Outcome, Part};
pub use ringforge_program::unsigned::Algorithm;

use serde::{Deserialize, Serialize};
use space::{INFEASIBLE, Stats, Weights};
use std::time::Instant;

/// Which words share a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// All sums of a layer, and (Cooley–Tukey) all differences: the space of
    /// [TokudaKameyama23 §4.1].
    Layer,
    /// The words of a register, consecutive coefficients; where a layer's butterflies lie inside
    /// registers, the half of a register that the layer does not multiply.
    Register {
        /// Words in a register.
        lanes: usize,
    },
    /// Every coefficient has its own.
    Coefficient,
}

/// What is to be least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The number of reductions, of whatever kind.
    Reductions,
    /// Their vector operations ([`Reduction::operations`]).
    Operations,
}

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One transform.
    Transform(Algorithm),
    /// Two forward transforms, products of values, and an inverse transform.
    Product {
        /// The inverse transform.
        inverse: Algorithm,
    },
}

/// A question for the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Problem {
    /// The modulus.
    pub q: u64,
    /// Degree of x^n + 1, a power of two.
    pub n: usize,
    /// Radix-2 layers, log2 n for a complete transform.
    pub layers: usize,
    /// Words and products.
    pub arithmetic: Arithmetic,
    /// Which transforms.
    pub scope: Scope,
    /// Which words share a decision.
    pub granularity: Granularity,
    /// What is to be least.
    pub objective: Objective,
    /// The inputs' interval; canonical residues where it is not given.
    pub input: Option<Interval>,
    /// The interval that factors of products by twiddles lie in: the narrower, the narrower are products
    /// ([`Arithmetic::Signed`]), and the more has to be reduced. Any word where it is not given.
    /// Gentleman–Sande products take any word.
    pub operand: Option<Interval>,
    /// The interval that outputs of a Cooley–Tukey transform have to lie in; any word where it is not given.
    pub output: Option<Interval>,
}

impl Problem {
    /// The product of the paper TokudaKameyama23: unsigned words, products that end with a conditional subtraction, inverse by
    /// Gentleman and Sande. It has as few reductions of single coefficients as possible.
    pub fn unsigned(q: u64, n: usize) -> Problem {
        Problem {
            q,
            n,
            layers: n.max(1).ilog2() as usize,
            arithmetic: Arithmetic::Unsigned { csub_products: true },
            scope: Scope::Product { inverse: Algorithm::InverseGentlemanSande },
            granularity: Granularity::Coefficient,
            objective: Objective::Reductions,
            input: None,
            operand: None,
            output: None,
        }
    }

    /// The same with signed Montgomery products and so many layers.
    pub fn signed(q: u64, n: usize, layers: usize) -> Problem {
        let multiply = ringforge_program::method::MulMethod::Montgomery;
        Problem { layers, arithmetic: Arithmetic::Signed { multiply }, ..Problem::unsigned(q, n) }
    }
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Transforms settled.
    pub done: usize,
    /// Transforms that there are.
    pub of: usize,
    /// Subproblems solved so far.
    pub states: u64,
}

/// Searches. The callback receives the progress of the search, and ends it by returning `false`. The error is a sentence
/// for people: what does not fit, or that no placement exists.
pub fn search(
    problem: &Problem,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Outcome, String> {
    let mut ranges = Ranges::new(problem.q, problem.arithmetic)?;
    let parts = match problem.scope {
        Scope::Transform(algorithm) => {
            let part = transform(problem, &mut ranges, algorithm)?;
            let _ = progress(Progress { done: 1, of: 1, states: part.certificate.states });
            vec![part]
        }
        Scope::Product { inverse } => product::search(problem, &mut ranges, inverse, progress)?,
    };
    Ok(Outcome { problem: *problem, parts })
}

/// Settles one transform.
pub(crate) fn transform(
    problem: &Problem,
    ranges: &mut Ranges,
    algorithm: Algorithm,
) -> Result<Part, String> {
    let began = Instant::now();
    let layers = Layers::new(problem.q, problem.n, problem.layers, algorithm)?;
    let input = problem.input.unwrap_or(ranges.canonical());
    let lanes = match problem.granularity {
        Granularity::Layer => problem.n,
        Granularity::Register { lanes } if lanes.is_power_of_two() && lanes <= problem.n => lanes,
        Granularity::Register { lanes } => {
            return Err(format!("registers of {lanes} words do not divide {} words", problem.n));
        }
        Granularity::Coefficient => 1,
    };
    let weigh = |kind: Reduction| match problem.objective {
        Objective::Reductions => 1,
        Objective::Operations => u64::from(kind.operations()),
    };
    let weights: Weights = ranges.reductions().into_iter().map(|k| (k, weigh(k))).collect();
    let word = ranges.word();
    let limits = (problem.operand.unwrap_or(word), problem.output.unwrap_or(word));
    let whole = problem.granularity == Granularity::Layer;
    let (least, sites, stats) = match (algorithm.is_cooley_tukey(), whole) {
        (true, true) => {
            let mut stages = stages::Stages::new(ranges, &layers, &weights);
            (stages.least(input), stages.sites(), stages.stats)
        }
        (true, false) => {
            let mut chain = chain::Chain::new(ranges, &layers, lanes, &weights, limits);
            let least = chain.least(input);
            let sites = if least < INFEASIBLE { chain.sites(input) } else { Vec::new() };
            (least, sites, chain.stats)
        }
        (false, _) => {
            let mut gather = gather::Gather::new(ranges, &layers, lanes, &weights);
            let least = gather.least(input);
            let sites = if least < INFEASIBLE { gather.sites() } else { Vec::new() };
            (least, sites, gather.stats)
        }
    };
    if least >= INFEASIBLE {
        return Err(format!(
            "no placement keeps all words of {algorithm:?} within [{}, {}] for inputs in [{}, {}]",
            word.0, word.1, input.0, input.1
        ));
    }
    // By whole layers the forward search counts decisions.
    let unit = if whole && algorithm.is_cooley_tukey() { problem.n as u64 / 2 } else { 1 };
    let checked = check(ranges, &layers, (input, limits.0), &sites)?;
    let found: u64 = sites.iter().map(|s| weigh(s.kind)).sum();
    if found != least * unit {
        return Err(format!(
            "the search found {} but its placement costs {found}: this is an error in the search",
            least * unit
        ));
    }
    let Stats { states, choices, overflow, dominated, bounded } = stats;
    let certificate = Certificate {
        space: outcome::space(problem, algorithm, ranges, &weights, input),
        bound: least * unit,
        found,
        states,
        choices,
        overflow,
        dominated,
        bounded,
        milliseconds: began.elapsed().as_millis() as u64,
    };
    let output = checked.outputs.iter().copied().reduce(arith::hull).unwrap_or(input);
    Ok(Part { algorithm, input, output, sites, multiples: checked.multiples, certificate })
}
