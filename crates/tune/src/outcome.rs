//! What a search returns, as data and for people.

use crate::arith::{Arithmetic, Interval, Ranges, Reduction};
use crate::check::Site;
use crate::space::Weights;
use crate::{Algorithm, Granularity, Objective, Problem, Scope};
use ringforge_program::unsigned::{self, Placement, Scheme};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// That no placement of the stated space is cheaper.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// The space: what a placement may choose and what it has to keep.
    pub space: String,
    /// No placement costs less; in units of the objective for single words.
    pub bound: u64,
    /// What the placement found costs.
    pub found: u64,
    /// Subproblems solved.
    pub states: u64,
    /// Choices tried.
    pub choices: u64,
    /// Subproblems without a placement, since a word might overflow.
    pub overflow: u64,
    /// Choices dropped because another dominates.
    pub dominated: u64,
    /// Subproblems and choices settled by bounds.
    pub bounded: u64,
    /// Wall-clock time.
    pub milliseconds: u64,
}

/// One transform of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which.
    pub algorithm: Algorithm,
    /// The interval of its inputs.
    pub input: Interval,
    /// The smallest interval around all outputs, from the checker.
    pub output: Interval,
    /// Reductions, coefficient by coefficient, sorted.
    pub sites: Vec<Site>,
    /// For each layer the multiple of q that each butterfly adds before it subtracts, by the
    /// first position of the butterfly.
    pub multiples: Vec<Vec<u8>>,
    /// Why there is nothing cheaper.
    pub certificate: Certificate,
}

/// The answer to a [`Problem`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The question.
    pub problem: Problem,
    /// The transforms: of a product, the forward one (which it does twice) and the inverse.
    pub parts: Vec<Part>,
}

impl Part {
    /// Reductions of single words, by layers done before them.
    pub fn by_layer(&self) -> BTreeMap<u32, BTreeMap<Reduction, usize>> {
        let mut all: BTreeMap<u32, BTreeMap<Reduction, usize>> = BTreeMap::new();
        for site in &self.sites {
            *all.entry(site.after).or_default().entry(site.kind).or_default() += 1;
        }
        all
    }

    /// The placement for [`Scheme`]; nothing for signed words.
    pub fn placement(&self, csub_products: bool) -> Option<Placement> {
        let site = |s: &Site| match s.kind {
            Reduction::Unsigned(kind) => {
                Some(unsigned::Site { after: s.after, position: s.position, kind })
            }
            Reduction::Signed(_) => None,
        };
        let sites: Option<Vec<unsigned::Site>> = self.sites.iter().map(site).collect();
        let multiples = self.multiples.iter().map(|all| match all.iter().max() {
            Some(&k) if all.iter().all(|&other| other == k) => vec![k],
            _ => all.clone(),
        });
        Some(Placement { csub_products, sites: sites?, multiples: multiples.collect() })
    }
}

impl Outcome {
    /// Reductions of single words in all transforms.
    pub fn reductions(&self) -> u64 {
        self.times().map(|(part, times)| part.sites.len() as u64 * times).sum()
    }

    /// The objective's value, in single words.
    pub fn cost(&self) -> u64 {
        self.times().map(|(part, times)| part.certificate.found * times).sum()
    }

    /// Vector operations of all reductions, those that end products included
    /// ([`Reduction::operations`]), in single words.
    pub fn operations(&self) -> u64 {
        let Problem { n, layers, arithmetic, scope, .. } = self.problem;
        let (n, layers) = (n as u64, layers as u64);
        let sites = self.times().map(|(part, times)| {
            let one: u64 = part.sites.iter().map(|s| u64::from(s.kind.operations())).sum();
            one * times
        });
        let products = self.times().map(|(part, times)| {
            let last = match part.algorithm {
                Algorithm::Forward => 0,
                Algorithm::InverseGentlemanSande => n / 2,
                Algorithm::InverseCooleyTukey => n,
            };
            times * (n / 2 * layers + last)
        });
        let values = if matches!(scope, Scope::Product { .. }) { 2 * n } else { 0 };
        let csub = u64::from(Reduction::Unsigned(unsigned::Kind::Csub).operations());
        let ends = match arithmetic {
            Arithmetic::Unsigned { csub_products: true } => csub * (products.sum::<u64>() + values),
            _ => 0,
        };
        sites.sum::<u64>() + ends
    }

    fn times(&self) -> impl Iterator<Item = (&Part, u64)> {
        let product = matches!(self.problem.scope, Scope::Product { .. });
        let times =
            move |p: &Part| if product && p.algorithm == Algorithm::Forward { 2 } else { 1 };
        self.parts.iter().map(move |p| (p, times(p)))
    }

    /// In units of n/2 reductions, as [TokudaKameyama23 Table 3] counts.
    pub fn units(&self) -> f64 {
        self.reductions() as f64 / (self.problem.n as f64 / 2.0)
    }

    /// The unsigned program with this placement; nothing for single transforms and signed words.
    pub fn scheme(&self) -> Option<Scheme> {
        let Arithmetic::Unsigned { csub_products } = self.problem.arithmetic else { return None };
        let [forward, inverse] = self.parts.as_slice() else { return None };
        let (q, n) = (self.problem.q, self.problem.n);
        Scheme::new(
            q,
            n,
            forward.placement(csub_products)?,
            inverse.algorithm,
            inverse.placement(csub_products)?,
        )
    }
}

/// The stated space, in words.
pub(crate) fn space(
    problem: &Problem,
    algorithm: Algorithm,
    ranges: &Ranges,
    weights: &Weights,
    input: Interval,
) -> String {
    let who = match problem.granularity {
        Granularity::Layer => "all sums of a layer alike, and all differences alike".to_string(),
        Granularity::Register { lanes } => {
            format!(
                "each register of {lanes} consecutive coefficients (inside registers, the half that is \
                 not multiplied)"
            )
        }
        Granularity::Coefficient => "each coefficient".to_string(),
    };
    let kinds: Vec<String> = weights
        .iter()
        .map(|(k, w)| match problem.objective {
            Objective::Reductions => k.name(),
            Objective::Operations => format!("{} ({w})", k.name()),
        })
        .collect();
    let word = ranges.word();
    let products = match problem.arithmetic {
        Arithmetic::Unsigned { csub_products: true } => {
            "Montgomery products by 2^18 end in csub; the least multiple of q that avoids a borrow \
             whatever the minuend is added before a subtraction"
        }
        Arithmetic::Unsigned { csub_products: false } => {
            "Montgomery products by 2^18; the least multiple of q that avoids a borrow \
             whatever the minuend is added before a subtraction"
        }
        Arithmetic::Signed { .. } => "signed products by constants",
    };
    let operand = problem.operand.filter(|_| algorithm.is_cooley_tukey()).unwrap_or(word);
    let output = problem.output.filter(|_| algorithm.is_cooley_tukey()).unwrap_or(word);
    format!(
        "{} layers of {}, inputs in [{}, {}]; before the first layer and after every layer {who} is left \
         alone or reduced by one of {}; every sum and difference lies in [{}, {}], outputs in [{}, {}]; \
         {products}; a product has the exact range of {} for operands in [{}, {}]",
        problem.layers,
        name(algorithm),
        input.0,
        input.1,
        kinds.join(", "),
        word.0,
        word.1,
        output.0,
        output.1,
        match (algorithm.is_cooley_tukey(), problem.granularity) {
            (true, Granularity::Coefficient) => "its twiddle",
            (true, Granularity::Register { .. }) => "its register's twiddles",
            _ => "its layer's twiddles",
        },
        operand.0,
        operand.1,
    )
}

fn name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Forward => "the forward Cooley–Tukey transform",
        Algorithm::InverseGentlemanSande => "the inverse Gentleman–Sande transform",
        Algorithm::InverseCooleyTukey => "the inverse Cooley–Tukey transform",
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { q, n, objective, .. } = self.problem;
        let what = match self.problem.scope {
            Scope::Transform(algorithm) => name(algorithm),
            Scope::Product { .. } => "the product",
        };
        writeln!(
            f,
            "Z{q}[x]/(x^{n} + 1), {what}: {} reductions of single words",
            self.reductions()
        )?;
        write!(f, "  = {:.3} · n/2", self.units())?;
        if let Granularity::Register { lanes } = self.problem.granularity {
            write!(f, " = {} registers", self.reductions() / lanes as u64)?;
        }
        if objective == Objective::Operations {
            write!(f, ", {} operations", self.cost())?;
        }
        writeln!(f)?;
        for (part, times) in self.times() {
            let often = if times == 2 { ", twice" } else { "" };
            writeln!(f, "\n{}{often}: {} reductions", name(part.algorithm), part.sites.len())?;
            for (after, kinds) in part.by_layer() {
                let kinds: Vec<String> =
                    kinds.iter().map(|(k, count)| format!("{count} × {}", k.name())).collect();
                writeln!(f, "  after {after} layers: {}", kinds.join(", "))?;
            }
            let (a, b) = (part.input, part.output);
            writeln!(f, "  inputs in [{}, {}], outputs in [{}, {}]", a.0, a.1, b.0, b.1)?;
            let c = &part.certificate;
            writeln!(f, "  space: {}", c.space)?;
            writeln!(
                f,
                "  none is cheaper: lower bound {} = found {}; {} subproblems, {} choices, {} \
                 overflow, {} dominated, {} settled by bounds, {} ms",
                c.bound,
                c.found,
                c.states,
                c.choices,
                c.overflow,
                c.dominated,
                c.bounded,
                c.milliseconds
            )?;
        }
        Ok(())
    }
}
