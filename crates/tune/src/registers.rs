//! Reductions of the programs that are emitted: a descent over sites, with the lowering as its
//! oracle (it refuses a placement under which a word may overflow).
//!
//! The lowering places reductions as late as ranges allow. Placed earlier, one reduction may serve
//! several later values. For each stage and layer, the descent offers all sites of that layer. It then removes sites,
//! latest layers first, as long as the lowering accepts, and keeps the cheapest result. The result is minimal: each
//! remaining site is needed. Another set may still be cheaper.

use crate::Progress;
use ringforge_plan::Plan;
use ringforge_program::ir::{Op, Program, Stmt};
use ringforge_program::lower::{LowerError, Lowered, lower};
use ringforge_program::schedule::Schedule;
use ringforge_targets::Target;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A placement for [`Schedule::reductions`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Improved {
    /// The sites, sorted: the value of the schedule's key `reductions`.
    pub sites: Vec<String>,
    /// Reductions of registers in all entry points together, as the lowering places them by itself.
    pub before: u64,
    /// The same with these sites.
    pub after: u64,
    /// Placements that the lowering was asked about.
    pub asked: u64,
}

impl fmt::Display for Improved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<String> = self.sites.iter().map(|s| format!("\"{s}\"")).collect();
        writeln!(
            f,
            "# {} reductions of registers in all entry points, {} before; each is needed ({} placements tried)",
            self.after, self.before, self.asked
        )?;
        writeln!(f, "reductions = [{}]", quoted.join(", "))
    }
}

/// Pairs of registers that a layer may have, and stages with their layers.
const PAIRS: usize = 64;
const STAGES: [&str; 3] = ["forward", "inverse", "mul.inverse"];

/// The descent for a plan whose root is a transform of `layers` layers. The callback ends it by
/// `false`; what is found by then is returned.
///
/// # Errors
/// The plan cannot be lowered with the schedule at all.
pub fn improve(
    plan: &Plan,
    schedule: &Schedule,
    target: &Target,
    name: &str,
    layers: usize,
    progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Improved, LowerError> {
    let own = lower(plan, &Schedule { reductions: None, ..schedule.clone() }, target, name)?;
    let before = reductions(&own.program);
    let mut oracle = Oracle { plan, schedule, target, name, asked: 1 };
    let mut best: BTreeSet<String> = own.sites.into_iter().collect();
    let Some(mut cost) = oracle.ask(&best).map(|l| reductions(&l.program)) else {
        return Ok(Improved { sites: best.into_iter().collect(), before, after: before, asked: 2 });
    };
    let of = STAGES.len() * layers;
    let mut on = true;
    for (number, (stage, layer)) in
        STAGES.iter().flat_map(|s| (0..layers).map(move |l| (*s, l))).enumerate()
    {
        if !on {
            break;
        }
        let mut trial = best.clone();
        for pair in 0..oracle.pairs(&best, stage, layer) {
            trial.extend(["low", "high"].map(|o| format!("{stage}.{layer}.{pair}.{o}")));
        }
        if trial != best && oracle.ask(&trial).is_some() {
            let own = |s: &String| s.starts_with(&format!("{stage}."));
            let mut order: Vec<String> = trial.iter().filter(|s| own(s)).cloned().collect();
            order.sort_by_key(|s| std::cmp::Reverse(key(s)));
            oracle.spare(&mut trial, &order);
            if let Some(l) = oracle.ask(&trial) {
                let found = reductions(&l.program);
                if found < cost {
                    (best, cost) = (trial, found);
                }
            }
        }
        on = progress(Progress { done: number + 1, of, states: oracle.asked });
    }
    let order: Vec<String> = best.iter().cloned().collect();
    oracle.spare(&mut best, &order);
    if let Some(l) = oracle.ask(&best) {
        cost = reductions(&l.program);
    }
    let asked = oracle.asked;
    Ok(Improved { sites: best.into_iter().collect(), before, after: cost, asked })
}

/// Latest layers first, and of a layer the multiplied registers first.
fn key(site: &str) -> (usize, bool, usize) {
    let parts: Vec<&str> = site.split('.').collect();
    let number = |back: usize| {
        parts.len().checked_sub(back).and_then(|i| parts[i].parse().ok()).unwrap_or(usize::MAX)
    };
    (number(3), site.ends_with("high"), number(2))
}

struct Oracle<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    target: &'a Target,
    name: &'a str,
    asked: u64,
}

impl Oracle<'_> {
    fn ask(&mut self, sites: &BTreeSet<String>) -> Option<Lowered> {
        self.asked += 1;
        let reductions = Some(sites.iter().cloned().collect());
        lower(self.plan, &Schedule { reductions, ..self.schedule.clone() }, self.target, self.name)
            .ok()
    }

    /// How many butterflies on registers a layer has: the lowering refuses names of sites that it
    /// does not have.
    fn pairs(&mut self, sites: &BTreeSet<String>, stage: &str, layer: usize) -> usize {
        let mut has = |pair: usize| {
            let mut more = sites.clone();
            more.insert(format!("{stage}.{layer}.{pair}.low"));
            self.ask(&more).is_some()
        };
        let (mut least, mut most) = (0, PAIRS);
        while least < most {
            let middle = (least + most) / 2;
            if has(middle) { least = middle + 1 } else { most = middle }
        }
        least
    }

    /// Takes away what is not needed, in the order given.
    fn spare(&mut self, sites: &mut BTreeSet<String>, order: &[String]) {
        for site in order {
            if sites.remove(site) && self.ask(sites).is_none() {
                sites.insert(site.clone());
            }
        }
    }
}

/// Reductions of registers in all exported procedures, as executed.
pub fn reductions(program: &Program) -> u64 {
    fn body(program: &Program, stmts: &[Stmt]) -> u64 {
        let one = |stmt: &Stmt| match stmt {
            Stmt::Stage { body: b, .. } => body(program, b),
            Stmt::Loop { count, body: b, .. } => u64::from(*count) * body(program, b),
            Stmt::Call { procedure, .. } => {
                program.procedures.get(procedure.0 as usize).map_or(0, |p| body(program, &p.body))
            }
            Stmt::Block(block) => {
                block.ops.iter().filter(|op| matches!(op, Op::Reduce { .. })).count() as u64
            }
        };
        stmts.iter().map(one).sum()
    }
    let exported = program.procedures.iter().filter(|p| p.exported);
    exported.map(|p| body(program, &p.body)).sum()
}
