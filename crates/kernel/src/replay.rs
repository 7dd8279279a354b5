//! The walk: every line of a certificate and every node of the graph, once.

use crate::atom::{Atom, Facts};
use crate::certificate::{Line, Rule};
use crate::claim::{Why, Witness};
use crate::compare::Residue;
use crate::form::{AtomId, Form, Word};
use crate::fun::{Fun, FunId};
use crate::guard::guarded;
use crate::node::{Visit, read, within};
use ringforge_machine::graph::{Graph, NodeId, Op};

/// Coefficients of certificates lie below this, so that no sum leaves 128 bits unseen.
const COEFFICIENT: i128 = 1 << 110;

/// No node has that number.
const KEPT: u32 = u32::MAX;
/// Of a node that no output depends on.
const UNREAD: u32 = 0;

/// An array that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Least value of an element.
    pub lo: i64,
    /// Greatest value of an element.
    pub hi: i64,
    /// Bits of an element.
    pub bits: u8,
}

/// The output array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Bits of an element.
    pub bits: u8,
    /// Whether elements are read as signed.
    pub signed: bool,
    /// Least value allowed.
    pub lo: i64,
    /// Greatest value allowed.
    pub hi: i64,
}

/// One call of a function, lifted.
#[derive(Clone)]
pub struct Case<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The arrays that are read, by operand.
    pub operands: Vec<Operand>,
    /// The nodes of the output elements.
    pub outputs: &'a [NodeId],
    /// What is promised of them.
    pub target: Target,
    /// The ring's modulus.
    pub q: u32,
}

/// A line that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the certificate: {why}")]
pub struct Refused {
    /// Its number, from 1; one more than there are where something is missing.
    pub line: usize,
    /// The condition that fails.
    pub why: Why,
}

/// What was replayed: the numbers that a report may state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Replayed {
    /// Lines of the certificate.
    pub lines: usize,
    /// Nodes whose words were computed.
    pub nodes: usize,
    /// Names, each with its interval.
    pub names: usize,
    /// Facts found by enumerating a function.
    pub enumerated: usize,
}

/// A case with everything known of it, to compare its outputs with the ring's.
pub struct Walked {
    /// Facts about all atoms.
    pub facts: Facts,
    /// The outputs modulo q.
    pub outputs: Vec<Residue>,
    /// Counts.
    pub replayed: Replayed,
}

/// Walks over the graph by a certificate: every output lies in its range, and is known modulo q.
///
/// # Errors
/// The first line that is not accepted.
pub fn walk(
    case: &Case,
    lines: &[Line],
    budget: u64,
    tick: &(dyn Fn(f64) -> bool + Sync),
) -> Result<Walked, Refused> {
    let refused = |line: usize| move |why: Why| Refused { line, why };
    let mut this = Walk::new(case.clone(), budget).map_err(refused(1))?;
    for (number, line) in lines.iter().enumerate() {
        this.line(line, tick).map_err(refused(number + 1))?;
        let stop = || number % 4096 == 0 && !tick(number as f64 / lines.len() as f64);
        if guarded(stop).map_err(refused(number + 1))? {
            return Err(refused(number + 1)("stopped".into()));
        }
    }
    this.walked().map_err(refused(lines.len() + 1))
}

/// By node, the last one that reads its word, of those that the outputs depend on: [`KEPT`] of outputs.
fn readers(case: &Case) -> Vec<u32> {
    let size = case.outputs.iter().map(|o| o.0 as usize + 1).max().unwrap_or(0);
    let mut last = vec![UNREAD; size];
    case.outputs.iter().for_each(|o| last[o.0 as usize] = KEPT);
    for id in (0..size as u32).rev() {
        if last[id as usize] != UNREAD {
            read(case.graph, NodeId(id), &mut |a| {
                let slot = &mut last[a.0 as usize];
                *slot = id.max(*slot);
            });
        }
    }
    last
}

/// Called with the fraction done; returns false to stop.
type Tick<'a> = &'a (dyn Fn(f64) -> bool + Sync);

/// The walk, as far as the lines go that it took.
pub struct Walk<'a> {
    case: Case<'a>,
    facts: Facts,
    /// The certificate's functions by the kernel's numbers.
    funs: Vec<FunId>,
    /// By node, as [`readers`] says.
    last: Vec<u32>,
    /// Words of visited nodes. Of one that nothing reads any more nothing is known: sums of hundreds of terms would take
    /// the square of that.
    words: Vec<Word>,
    /// The next node to visit.
    next: usize,
    outputs: Vec<Option<Residue>>,
    replayed: Replayed,
    /// Why no more lines are taken.
    ended: Option<Why>,
}

impl<'a> Walk<'a> {
    /// Before the first line.
    ///
    /// # Errors
    /// If the case is none.
    pub fn new(case: Case<'a>, budget: u64) -> Result<Walk<'a>, Why> {
        guarded(|| {
            let ranges = case.operands.iter().map(|o| (o.lo, o.hi)).collect();
            let last = readers(&case);
            Walk {
                facts: Facts::new(ranges, budget),
                funs: Vec::new(),
                words: vec![Word::default(); last.len()],
                last,
                next: 0,
                outputs: vec![None; case.outputs.len()],
                case,
                replayed: Replayed::default(),
                ended: None,
            }
        })
    }

    /// Takes a line. One that is refused changes nothing but that atoms may be defined.
    ///
    /// # Errors
    /// The condition that fails.
    pub fn line(&mut self, line: &Line, tick: Tick) -> Result<(), Why> {
        if let Some(why) = &self.ended {
            return Err(why.clone());
        }
        let taken = guarded(|| self.accept(line, tick));
        // After a panic nothing may be read of what was computed.
        self.ended = taken.as_ref().err().cloned();
        self.facts.forget();
        self.replayed.lines += 1;
        taken.flatten()
    }

    /// What is known of the outputs.
    ///
    /// # Errors
    /// An output without a line, or a panic.
    pub fn walked(mut self) -> Result<Walked, Why> {
        if let Some(why) = self.ended {
            return Err(why);
        }
        if let Some(k) = self.outputs.iter().position(Option::is_none) {
            return Err(format!("nothing is said of output {k}"));
        }
        self.replayed.enumerated = self.facts.enumerated.facts;
        let outputs = self.outputs.into_iter().flatten().collect();
        Ok(Walked { facts: self.facts, outputs, replayed: self.replayed })
    }

    fn accept(&mut self, line: &Line, tick: Tick) -> Result<(), Why> {
        let (forms, words) = line.parts();
        forms.into_iter().try_for_each(|form| self.form(form))?;
        words.into_iter().try_for_each(|word| self.word(word))?;
        let facts = &mut self.facts;
        match line {
            Line::Fun(fun) => self.fun(fun),
            Line::Atom(atom) => {
                self.replayed.names += usize::from(matches!(atom, Atom::Name(_)));
                facts.define(match atom {
                    Atom::Function { of, fun } => {
                        let fun = self.funs.get(fun.0 as usize).ok_or("no such function yet")?;
                        Atom::Function { of: *of, fun: *fun }
                    }
                    Atom::Product(x, y) => Atom::Product(*x.min(y), *x.max(y)),
                    other => other.clone(),
                })?;
                Ok(())
            }
            Line::Bound { atom, lo, hi, by } => {
                let form = match facts.get(*atom)? {
                    Atom::Name(form) => (**form).clone(),
                    _ => Form::atom(*atom),
                };
                let (l, h) = facts.interval_by(&form, by)?;
                if l < *lo || h > *hi {
                    return Err(format!("[{l}, {h}] is found, [{lo}, {hi}] is claimed"));
                }
                facts.narrow(*atom, *lo, *hi);
                Ok(())
            }
            Line::Residue { atom, m, by } => {
                let Atom::Name(form) = facts.get(*atom)?.clone() else {
                    return Err("a residue of what is no name".into());
                };
                let is = facts.residue_by(&form, *m, by)?;
                facts.congruent(*atom, is)
            }
            Line::Modulo { atom, m, form, zeros } => facts.modulo(*atom, *m, form, zeros),
            Line::Chinese { moduli, left, right, names } => {
                facts.chinese(moduli, [left, right], names, self.case.q, tick)
            }
            Line::Divide { floor, rest } => facts.divide(*floor, rest),
            Line::Near { form, bits, by } => facts.near(form, *bits, by),
            Line::Node { node, rules, claim } => {
                let node = *node as usize;
                if node < self.next || node >= self.words.len() || self.last[node] == UNREAD {
                    return Err(format!("node {node} is visited already, or never"));
                }
                self.visit_below(node)?;
                self.visit(node, rules, claim.as_ref())?;
                self.next = node + 1;
                Ok(())
            }
            Line::Output { index, rules, form, by } => {
                self.visit_below(self.words.len())?;
                self.output(*index as usize, rules, form, by)
            }
        }
    }

    fn visit_below(&mut self, end: usize) -> Result<(), Why> {
        while self.next < end {
            if self.last[self.next] != UNREAD {
                self.visit(self.next, &[], None)?;
            }
            self.next += 1;
        }
        Ok(())
    }

    fn visit(&mut self, node: usize, rules: &[Rule], claim: Option<&Word>) -> Result<(), Why> {
        let (id, graph) = (NodeId(node as u32), self.case.graph);
        if let Op::Input { operand, .. } = graph.node(id).op {
            let bits = self.case.operands.get(usize::from(operand)).map(|o| o.bits);
            if bits != Some(graph.node(id).width) {
                return Err(format!("node {node} is an input of another width"));
            }
        }
        let (facts, words) = (&mut self.facts, &self.words[..]);
        let told = |why: Why| format!("node {node}, {:?}: {why}", graph.node(id).op);
        let mut visit = Visit { facts, graph, words, rules: rules.iter() };
        let mut word = visit.node(id).map_err(told)?;
        if let Some(claim) = claim {
            self.facts.same_word(&word.low(claim.bits), claim).map_err(told)?;
            word = claim.clone();
        }
        if !self.facts.defines(&word.t) {
            word = Word::default();
        }
        self.words[node] = word;
        let (last, words) = (&self.last, &mut self.words);
        read(graph, id, &mut |a| {
            if last[a.0 as usize] == id.0 {
                words[a.0 as usize] = Word::default();
            }
        });
        self.replayed.nodes += 1;
        Ok(())
    }

    fn output(&mut self, k: usize, rules: &[Rule], form: &Form, by: &Witness) -> Result<(), Why> {
        let (case, target) = (&self.case, self.case.target);
        let node = *case.outputs.get(k).ok_or("no such output")?;
        let (facts, words, graph) = (&mut self.facts, &self.words[..], case.graph);
        let mut visit = Visit { facts, graph, words, rules: rules.iter() };
        let word = visit.output(node, target.bits, target.signed)?;
        self.facts.same_word(&word, &Word::of(form, 64))?;
        // What is promised lies within 64 bits, and the extension of an element is no other integer there.
        let least = if target.signed { target.lo } else { target.lo.max(0) };
        within(self.facts.interval_by(form, by)?, (least.into(), target.hi.into()))
            .map_err(|why| format!("output {k}: {why}, which is promised"))?;
        self.outputs[k] = Some(self.facts.residue_by(form, case.q, by)?);
        Ok(())
    }

    fn fun(&mut self, fun: &Fun) -> Result<(), Why> {
        let arg = |f: &FunId| self.funs.get(f.0 as usize).copied();
        let args: Option<smallvec::SmallVec<[FunId; 4]>> = fun.args.iter().map(arg).collect();
        let args = args.ok_or("a function of functions that are not there yet")?;
        let id = self.facts.enumerated.funs.checked(Fun { args, ..fun.clone() })?;
        self.funs.push(id);
        Ok(())
    }

    fn form(&self, form: &Form) -> Result<(), Why> {
        self.there(&form.t)?;
        let small = |c: i128| -COEFFICIENT < c && c < COEFFICIENT;
        if !form.is_normal() || !small(form.k) || !form.t.iter().all(|t| small(t.1)) {
            return Err("a form out of order, with a zero, or a number beyond 110 bits".into());
        }
        Ok(())
    }

    fn word(&self, word: &Word) -> Result<(), Why> {
        self.there(&word.t)?;
        let sorted = word.t.windows(2).all(|w| w[0].0 < w[1].0);
        if word.bits > 64 || !sorted || *word != word.low(word.bits) {
            return Err("a word that is not in normal form".into());
        }
        Ok(())
    }

    /// Whether the atoms of all terms are there.
    fn there<C>(&self, terms: &[(AtomId, C)]) -> Result<(), Why> {
        terms.iter().try_for_each(|t| self.facts.get(t.0).map(|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_machine::graph::Node;

    /// A sum of fifty inputs, one after another: partial sums are forgotten, so that not the square of it is kept. What is
    /// looked through, as parts of a word side by side are, is kept until then.
    #[test]
    fn words_are_forgotten_after_their_last_reader() {
        let mut graph = Graph::new();
        let mut node = |width: u8, op: Op, args: &[NodeId]| {
            graph.intern(Node { width, op, args: args.iter().copied().collect() }, None)
        };
        let inputs: Vec<NodeId> =
            (0..50).map(|index| node(16, Op::Input { operand: 0, index }, &[])).collect();
        let mut sum = inputs[0];
        for &x in &inputs[1..] {
            sum = node(16, Op::Add, &[sum, x]);
        }
        let parts = [0, 8].map(|lo| node(8, Op::Slice { lo }, &[sum]));
        let more = node(16, Op::Add, &[sum, inputs[0]]);
        let last = sum.0;
        let sums = node(16, Op::Concat, &parts);
        let operands = vec![Operand { lo: -9, hi: 9, bits: 16 }];
        let target = Target { bits: 16, signed: true, lo: 0, hi: 0 };
        let outputs = [sums, more];
        let case = Case { graph: &graph, operands, outputs: &outputs, target, q: 17 };
        let mut walk = Walk::new(case, 1 << 20).expect("a case");
        for index in 0..50 {
            let input = Line::Atom(Atom::Input { operand: 0, index });
            walk.line(&input, &|_| true).expect("an input");
        }
        walk.visit_below(sums.0 as usize).expect("sums");
        let kept = |walk: &Walk| -> Vec<usize> { walk.words.iter().map(|w| w.t.len()).collect() };
        assert_eq!(kept(&walk)[last as usize], 50, "its parts are put side by side yet");
        assert!(kept(&walk)[..last as usize].iter().all(|&terms| terms == 0));
        walk.visit_below(walk.words.len()).expect("parts");
        assert_eq!(kept(&walk).iter().sum::<usize>(), 50 + walk.words[sums.0 as usize].t.len());
        assert_eq!(walk.words[more.0 as usize].t.len(), 50);
    }
}
