//! Cases of a contract against certificates: what [`crate::replay`] and [`crate::compare`] say together.

use crate::atom::{Atom, Facts};
use crate::certificate::Line;
use crate::compare::{self, Mismatch, Residue, Rounded, Stats, Values};
use crate::form::AtomId;
use crate::guard::guarded;
use crate::replay::{self, Case, Operand, Refused, Replayed, Target, Walked};
use ringforge_contract::{CallCase, CallLimits, Contract, Executed, NotLifted};
use ringforge_machine::graph::Graph;
use ringforge_machine::{Object, ObjectError};
use rustc_hash::FxHashMap;

/// What a check may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Point evaluations that enumeration may take, in one case.
    pub work: u64,
    /// Instructions of one call.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { work: 1 << 36, steps: 50_000_000 }
    }
}

/// What was accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Counts of the walk, of all calls.
    pub replayed: Replayed,
    /// Calls that the contract allows: disjoint and in-place, times alignment cases.
    pub calls: usize,
    /// Those that differ from the ones before.
    pub distinct: usize,
    /// Coefficients compared with what the contract asks for.
    pub equations: u64,
}

/// Why an object is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// It is none.
    #[error("{0}")]
    Object(#[from] ObjectError),
    /// Not each call that the contract allows could be executed.
    #[error(transparent)]
    Call(#[from] NotLifted),
    /// The certificate says nothing of a call.
    #[error("the certificate has no case `{0}`")]
    Missing(String),
    /// A line that is not accepted.
    #[error("case `{0}`: {1}")]
    Refused(String, Refused),
    /// The outputs are not the contract's, or not known.
    #[error("case `{0}`: {1}")]
    Outputs(String, Mismatch),
}

/// Replays the certificate of an object: executes every call that the contract allows, walks over each by
/// the certificate's lines, and compares its outputs with what the contract asks for. The search for a
/// proof has no part in it.
///
/// # Errors
/// What is not accepted.
pub fn recheck(
    contract: &Contract,
    object: &Object,
    certificate: &[(String, Vec<Line>)],
    limits: Limits,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Accepted, Rejected> {
    let mut graph = Graph::new();
    let (steps, mut executed) = (CallLimits { max_steps: limits.steps }, Executed::default());
    let calls =
        ringforge_contract::cases(contract, object, &mut graph, steps, &mut executed, &mut |f| {
            tick(f)
        })?;
    let mut accepted = Accepted { calls: calls.len(), ..Accepted::default() };
    let mut distinct: Vec<&CallCase> = Vec::new();
    for call in &calls {
        if distinct.iter().any(|d| d.tie == call.tie && d.outputs == call.outputs) {
            continue;
        }
        distinct.push(call);
        let name = || call.name.clone();
        let lines = certificate.iter().find(|c| c.0 == call.name);
        let (_, lines) = lines.ok_or_else(|| Rejected::Missing(name()))?;
        let walked = walked(contract, &graph, call, lines, limits, tick)
            .map_err(|e| Rejected::Refused(name(), e))?;
        let stats =
            compared(contract, call, &walked, tick).map_err(|e| Rejected::Outputs(name(), e))?;
        accepted.replayed += walked.replayed;
        accepted.equations += stats.equations;
    }
    accepted.distinct = distinct.len();
    Ok(accepted)
}

/// A case of a contract.
pub fn case<'a>(contract: &Contract, graph: &'a Graph, call: &'a CallCase) -> Case<'a> {
    let operand = |((lo, hi), i): ((i64, i64), usize)| Operand {
        lo,
        hi,
        bits: contract.arguments[i].element.bits(),
    };
    let operands = call.ranges(contract).into_iter().zip(contract.inputs()).map(operand).collect();
    let output = &contract.arguments[contract.output()];
    let target = Target {
        bits: output.element.bits(),
        signed: output.element.signed(),
        lo: output.exit.0,
        hi: output.exit.1,
    };
    Case { graph, operands, outputs: &call.outputs, target, q: contract.ring.q() as u32 }
}

/// Walks over one case of a contract: everything but what the outputs are in the ring.
///
/// # Errors
/// The line that is not accepted.
pub fn walked(
    contract: &Contract,
    graph: &Graph,
    call: &CallCase,
    lines: &[Line],
    limits: Limits,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Walked, Refused> {
    replay::walk(&case(contract, graph, call), lines, limits.work, tick)
}

/// Compares the outputs of a case that was walked over with what the contract asks for.
///
/// # Errors
/// What is wrong, or not known.
pub fn compared(
    contract: &Contract,
    call: &CallCase,
    walked: &Walked,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Stats, Mismatch> {
    let compared = guarded(|| {
        let inputs = Expanded { facts: &walked.facts, leaves: None };
        compare::compare(contract, call.tie, &inputs, &walked.outputs, tick)
    });
    compared.map_err(Mismatch::Panicked).flatten()
}

/// Atoms as polynomials in some of them.
pub struct Expanded<'a> {
    /// What is known of all.
    pub facts: &'a Facts,
    /// The variables, each with the number of its operand, and its own: without that, the inputs.
    pub leaves: Option<FxHashMap<AtomId, (u16, u32)>>,
}

impl Values for Expanded<'_> {
    fn leaf(&self, v: u32) -> Option<(u16, u32)> {
        match (&self.leaves, &self.facts.atoms[v as usize]) {
            (Some(leaves), _) => leaves.get(&v).copied(),
            (None, &Atom::Input { operand, index }) => Some((operand, index)),
            _ => None,
        }
    }

    fn residue(&self, v: u32, m: u32) -> Option<Residue> {
        let whole = self.facts.wholes.get(&v).filter(|w| w.m.is_multiple_of(m));
        whole.map_or_else(|| self.facts.congruence(v, m), |w| Some(w.modulo(m)))
    }

    fn rounded(&self, v: u32, need: u8) -> Option<(Rounded, Residue)> {
        let (how, form) = match (&self.facts.atoms[v as usize], self.facts.low(v)) {
            (Atom::Floor { form, bits }, _) => (Rounded::Floor(*bits), (**form).clone()),
            (_, word) => (Rounded::Low(word?.bits), word?.integer()),
        };
        Some((how, self.facts.linear(&form, how.of(need)?).ok()?))
    }

    fn count(&self) -> usize {
        self.facts.atoms.len()
    }
}

impl std::ops::AddAssign for Replayed {
    fn add_assign(&mut self, other: Replayed) {
        self.lines += other.lines;
        self.nodes += other.nodes;
        self.names += other.names;
        self.enumerated += other.enumerated;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Term;
    use crate::form::{Form, Word};

    #[test]
    fn values_are_rounded_as_their_atoms_say() {
        let mut facts = Facts::new(vec![(-9, 9)], 1 << 10);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let word = Word { bits: 8, k: -7, t: vec![(x, 5)] };
        let low = facts.atom(Atom::Low(word.clone().into())).expect("a remainder");
        let value = facts.atom(Atom::Value { node: 0, bits: 16 }).expect("a value");
        facts.tell(value, word).expect("earlier atoms");
        let form = Form { k: 7, t: vec![(low, -13)] };
        let floor = facts.atom(Atom::Floor { form: form.into(), bits: 3 }).expect("a quotient");
        let inputs = Expanded { facts: &facts, leaves: None };
        let is = |how, m, k, v, c| Some((how, Residue { m, k, t: vec![(Term::Value(v), c)] }));
        for v in [low, value] {
            // More bits of what they are of are those of the integer that the word is written as.
            for (need, k) in [(4, 9), (8, 249), (9, 505)] {
                let want = is(Rounded::Low(8), 1 << need, k, x, 5);
                assert_eq!(inputs.rounded(v, need), want);
            }
            assert!(inputs.rounded(v, 31).is_some() && inputs.rounded(v, 32).is_none());
        }
        assert_eq!(inputs.rounded(floor, 1), is(Rounded::Floor(3), 16, 7, low, 3));
        assert_eq!(inputs.rounded(floor, 28).map(|r| r.1.m), Some(1 << 31));
        assert!(inputs.rounded(floor, 29).is_none() && inputs.rounded(floor, 255).is_none());
        assert_eq!(inputs.rounded(x, 4), None);
    }

    /// What is known modulo 8 is known modulo 4 and 2, and not modulo 16 or 3.
    #[test]
    fn integers_are_known_modulo_divisors() {
        let mut facts = Facts::new(vec![(-9, 9)], 1 << 10);
        let x = facts.atom(Atom::Input { operand: 0, index: 0 }).expect("an input");
        let fun = facts.enumerated.funs.constant(8, 0);
        let f = facts.atom(Atom::Function { of: x, fun }).expect("a function");
        let form = Form { k: 0, t: vec![(x, 1), (f, 1)] };
        let name = facts.atom(Atom::Name(form.into())).expect("a name");
        let known = |facts: &Facts, m| Expanded { facts, leaves: None }.residue(name, m);
        assert_eq!(known(&facts, 8), None);
        let whole = |m, k, c| Residue { m, k, t: vec![(Term::Value(x), c)] };
        facts.wholes.insert(name, whole(8, 7, 5));
        assert_eq!(known(&facts, 8), Some(whole(8, 7, 5)));
        assert_eq!(known(&facts, 4), Some(whole(4, 3, 1)));
        assert_eq!(known(&facts, 2), Some(whole(2, 1, 1)));
        for m in [16, 3, 24] {
            assert_eq!(known(&facts, m), None);
        }
    }
}
