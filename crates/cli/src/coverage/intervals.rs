//! Where values lie, by an accepted certificate: what its lines state about nodes, and interval
//! arithmetic in between.
//!
//! An interval [lo, hi] of a node says that the node's word is congruent to an integer that lies there.

use ringforge_certificate::stated::{About, Stated, only_names, stated};
use ringforge_contract::CallCase;
use ringforge_kernel::atom::{Atom, Facts};
use ringforge_kernel::certificate::{Line, Rule};
use ringforge_kernel::form::{Word, centre};
use ringforge_kernel::fun::{Fun, FunId};
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

type Interval = (i128, i128);

/// Point evaluations that looking may take.
const BUDGET: u64 = 1 << 34;

/// The interval of each needed node, where one is known.
pub fn read(
    graph: &Graph,
    needed: &[bool],
    case: &CallCase,
    ranges: Vec<(i64, i64)>,
    lines: &[Line],
) -> Vec<Option<Interval>> {
    let mut told = vec![None; graph.len()];
    let facts = Facts::new(ranges.clone(), BUDGET);
    let mut reading = Reading { graph, facts, funs: Vec::new(), told: &mut told };
    for line in lines {
        // What cannot be followed leaves intervals unknown and nothing wrong.
        if reading.line(line, case).is_none() {
            break;
        }
    }
    for id in (0..graph.len()).filter(|&id| needed[id]) {
        let node = graph.node(NodeId(id as u32));
        let own = computed(graph, node, &ranges, &told);
        told[id] = match (told[id], own) {
            (Some(a), Some(b)) => Some(if b.1 - b.0 < a.1 - a.0 { b } else { a }),
            (a, b) => a.or(b),
        };
    }
    told
}

/// A certificate's definitions and bounds, in the kernel's own store of facts.
struct Reading<'a> {
    graph: &'a Graph,
    facts: Facts,
    /// The certificate's functions by the store's numbers.
    funs: Vec<FunId>,
    told: &'a mut Vec<Option<Interval>>,
}

impl Reading<'_> {
    fn line(&mut self, line: &Line, case: &CallCase) -> Option<()> {
        match line {
            Line::Fun(fun) => {
                let fun = self.fun(fun)?;
                self.funs.push(fun);
            }
            Line::Atom(Atom::Function { of, fun }) => {
                let fun = *self.funs.get(fun.0 as usize)?;
                self.facts.define(Atom::Function { of: *of, fun }).ok()?;
            }
            Line::Atom(atom) => {
                self.facts.define(atom.clone()).ok()?;
            }
            Line::Bound { atom, lo, hi, .. } => self.facts.narrow(*atom, *lo, *hi),
            Line::Divide { floor, rest } => self.facts.divide(*floor, rest).ok()?,
            Line::Near { form, bits, by } => self.facts.near(form, *bits, by).ok()?,
            Line::Node { node, rules, claim } => {
                let id = NodeId(*node);
                let node = self.graph.node(id);
                if let Some(word) = claim {
                    self.word(id, node.width, word);
                }
                if let Some((rule, others)) = rules.split_first()
                    && others.iter().all(only_names)
                {
                    self.rule(id, node, rule);
                }
            }
            Line::Output { index, form, by, .. } => {
                let found = self.facts.interval_by(form, by).ok();
                self.tell(*case.outputs.get(*index as usize)?, found);
            }
            Line::Residue { .. } | Line::Modulo { .. } | Line::Chinese { .. } => {}
        }
        self.facts.forget();
        Some(())
    }

    /// What a node's only rule states about the node, and about its arguments.
    fn rule(&mut self, id: NodeId, node: &Node, rule: &Rule) {
        let extends = matches!(node.op, Op::Sext | Op::Zext | Op::SatS | Op::SatU);
        for (about, stated) in stated(rule, extends) {
            let id = match about {
                About::Node => Some(id),
                // Of several steps in one node only the first one's arguments are the node's.
                About::Argument(i) => node.args.get(i).copied(),
            };
            let Some(id) = id else { continue };
            let found = match stated {
                Stated::Word(word) => {
                    self.word(id, self.graph.node(id).width, word);
                    continue;
                }
                Stated::Integer(form, by) => self.facts.interval_by(form, by).ok(),
                Stated::Mask => Some((-1, 0)),
            };
            self.tell(id, found);
        }
    }

    /// A node is congruent to a word, if the word has all of the node's bits.
    fn word(&mut self, id: NodeId, width: u8, word: &Word) {
        if word.bits >= width && !word.t.is_empty() {
            let found = self.facts.interval(&word.integer()).ok();
            self.tell(id, found);
        }
    }

    fn tell(&mut self, id: NodeId, found: Option<Interval>) {
        let slot = &mut self.told[id.0 as usize];
        *slot = match (*slot, found) {
            (Some(a), Some(b)) => Some(if b.1 - b.0 < a.1 - a.0 { b } else { a }),
            (a, b) => a.or(b),
        };
    }

    fn fun(&mut self, fun: &Fun) -> Option<FunId> {
        let args = fun.args.iter().map(|f| self.funs.get(f.0 as usize).copied());
        let args = args.collect::<Option<_>>()?;
        self.facts.enumerated.funs.checked(Fun { args, ..fun.clone() }).ok()
    }
}

/// The interval of a node from those of its arguments.
fn computed(
    graph: &Graph,
    node: &Node,
    ranges: &[(i64, i64)],
    told: &[Option<Interval>],
) -> Option<Interval> {
    let of = |i: usize| told[node.args[i].0 as usize];
    let width = |i: usize| graph.node(node.args[i]).width;
    let signed = |i: usize| read_as(graph, node.args[i], of(i), true);
    let unsigned = |i: usize| read_as(graph, node.args[i], of(i), false);
    let w = node.width;
    Some(match node.op {
        Op::Const(c) => (centre(c as i64, w).into(), centre(c as i64, w).into()),
        Op::Input { operand, .. } => {
            let (lo, hi) = ranges.get(usize::from(operand))?;
            ((*lo).into(), (*hi).into())
        }
        Op::Add => (of(0)?.0 + of(1)?.0, of(0)?.1 + of(1)?.1),
        Op::Sub => (of(0)?.0 - of(1)?.1, of(0)?.1 - of(1)?.0),
        Op::Shl(k) => (of(0)?.0.checked_mul(1 << k)?, of(0)?.1.checked_mul(1 << k)?),
        Op::Mul => {
            let (x, y) = (of(0)?, of(1)?);
            let mut ends = [0; 4];
            for (end, (a, b)) in
                ends.iter_mut().zip([(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)])
            {
                *end = a.checked_mul(b)?;
            }
            (*ends.iter().min()?, *ends.iter().max()?)
        }
        Op::Slice { lo } => (of(0)?.0 >> lo, of(0)?.1 >> lo),
        Op::Sext => signed(0),
        Op::Zext => unsigned(0),
        Op::Ashr(k) => (signed(0).0 >> k, signed(0).1 >> k),
        Op::Lshr(k) => (unsigned(0).0 >> k, unsigned(0).1 >> k),
        Op::And => {
            let mask = |i: usize| match graph.node(node.args[i]).op {
                Op::Const(m) => Some((0, i128::from(m))),
                _ => None,
            };
            mask(0).or(mask(1))?
        }
        Op::Select => (of(1)?.0.min(of(2)?.0), of(1)?.1.max(of(2)?.1)),
        Op::SatS | Op::SatU => {
            let half = 1i128 << (w - 1);
            let (lo, hi) = if node.op == Op::SatS { (-half, half - 1) } else { (0, 2 * half - 1) };
            (signed(0).0.clamp(lo, hi), signed(0).1.clamp(lo, hi))
        }
        Op::Concat => {
            let top = node.args.len() - 1;
            let (mut low, mut high, mut at) = (0i128, 0i128, 0);
            for i in 0..top {
                let (l, h) = unsigned(i);
                (low, high) = (low + (l << at), high + (h << at));
                at += width(i);
            }
            let (l, h) = of(top).unwrap_or(signed(top));
            (low + l.checked_mul(1 << at)?, high + h.checked_mul(1 << at)?)
        }
        Op::Eq | Op::Ult | Op::Slt => (0, 1),
        Op::Or | Op::Xor | Op::Address { .. } => return None,
    })
    .filter(|(lo, hi)| lo.unsigned_abs().max(hi.unsigned_abs()) < 1 << 120)
}

/// The interval of a word's signed or unsigned reading. It is the whole range if nothing better is
/// known.
fn read_as(graph: &Graph, id: NodeId, known: Option<Interval>, signed: bool) -> Interval {
    let node = graph.node(id);
    let half = 1i128 << (node.width - 1);
    if let Op::Const(c) = node.op {
        let c = if signed { centre(c as i64, node.width).into() } else { i128::from(c) };
        return (c, c);
    }
    let all = if signed { (-half, half - 1) } else { (0, 2 * half - 1) };
    known.filter(|k| all.0 <= k.0 && k.1 <= all.1).unwrap_or(all)
}
