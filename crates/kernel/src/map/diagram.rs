//! Functions of one or two words, by decision diagrams of their bits.
//!
//! Of two words: whether it is their minimum, their maximum, one of them, or constant. Of one word: whether the function says
//! that the word is some number.
//!
//! A reduced ordered decision diagram is one node for one Boolean function [Bryant86 §3]. The bits of both words are
//! interleaved, so that sums, comparisons and selections stay small.

use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;

/// Nodes of the diagrams of one function.
const NODES: usize = 1 << 16;

/// A diagram: [`NO`], [`YES`], or a node.
type Diagram = u32;
const NO: Diagram = 0;
const YES: Diagram = 1;

/// A function of two words w and v, but for an exclusive or with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// w or v: 0 or 1.
    Word(usize),
    /// The lesser one.
    Least,
    /// The greater one.
    Greatest,
    /// Zero.
    Zero,
}

/// Diagrams over the bits of two words.
#[derive(Default)]
struct Diagrams {
    /// The variable, and the diagrams where it is 0 and 1. The first two are never looked at.
    nodes: Vec<(u8, Diagram, Diagram)>,
    known: FxHashMap<(u8, Diagram, Diagram), Diagram>,
    chosen: FxHashMap<[Diagram; 3], Diagram>,
}

/// Too many nodes.
struct Full;

impl Diagrams {
    fn new() -> Diagrams {
        Diagrams { nodes: vec![(u8::MAX, NO, NO), (u8::MAX, YES, YES)], ..Diagrams::default() }
    }

    fn node(&mut self, variable: u8, no: Diagram, yes: Diagram) -> Result<Diagram, Full> {
        if no == yes {
            return Ok(no);
        }
        if let Some(&found) = self.known.get(&(variable, no, yes)) {
            return Ok(found);
        }
        if self.nodes.len() >= NODES {
            return Err(Full);
        }
        let made = self.nodes.len() as Diagram;
        self.nodes.push((variable, no, yes));
        self.known.insert((variable, no, yes), made);
        Ok(made)
    }

    /// if c then t else e
    fn choose(&mut self, c: Diagram, t: Diagram, e: Diagram) -> Result<Diagram, Full> {
        match (c, t, e) {
            (YES, ..) => return Ok(t),
            (NO, ..) => return Ok(e),
            (_, YES, NO) => return Ok(c),
            _ if t == e => return Ok(t),
            _ => {}
        }
        if let Some(&found) = self.chosen.get(&[c, t, e]) {
            return Ok(found);
        }
        let all = [c, t, e];
        let variable = all.iter().map(|&d| self.nodes[d as usize].0).min().unwrap_or(u8::MAX);
        let half = |this: &Self, d: Diagram, yes: bool| match this.nodes[d as usize] {
            (v, no, is) if v == variable => [no, is][usize::from(yes)],
            _ => d,
        };
        let [c0, t0, e0] = all.map(|d| half(self, d, false));
        let [c1, t1, e1] = all.map(|d| half(self, d, true));
        let no = self.choose(c0, t0, e0)?;
        let yes = self.choose(c1, t1, e1)?;
        let made = self.node(variable, no, yes)?;
        self.chosen.insert(all, made);
        Ok(made)
    }

    fn not(&mut self, a: Diagram) -> Result<Diagram, Full> {
        self.choose(a, NO, YES)
    }

    fn xor(&mut self, a: Diagram, b: Diagram) -> Result<Diagram, Full> {
        let not = self.not(b)?;
        self.choose(a, not, b)
    }

    /// The sum of two words and a carry, and what is carried out.
    fn sum(
        &mut self,
        a: &[Diagram],
        b: &[Diagram],
        carry: Diagram,
    ) -> Result<(Vec<Diagram>, Diagram), Full> {
        let (mut sum, mut carry) = (Vec::with_capacity(a.len()), carry);
        for (&a, &b) in a.iter().zip(b) {
            let half = self.xor(a, b)?;
            sum.push(self.xor(half, carry)?);
            carry = self.choose(half, carry, a)?;
        }
        Ok((sum, carry))
    }

    /// a - b, and whether a < b as unsigned words.
    fn difference(
        &mut self,
        a: &[Diagram],
        b: &[Diagram],
    ) -> Result<(Vec<Diagram>, Diagram), Full> {
        let not = b.iter().map(|&b| self.not(b)).collect::<Result<Vec<_>, _>>()?;
        let (difference, carry) = self.sum(a, &not, YES)?;
        Ok((difference, self.not(carry)?))
    }

    /// Whether a < b as signed words.
    fn less(&mut self, a: &[Diagram], b: &[Diagram]) -> Result<Diagram, Full> {
        let flipped = |this: &mut Self, x: &[Diagram]| -> Result<Vec<Diagram>, Full> {
            let mut x = x.to_vec();
            if let Some(top) = x.last_mut() {
                *top = this.not(*top)?;
            }
            Ok(x)
        };
        let (a, b) = (flipped(self, a)?, flipped(self, b)?);
        Ok(self.difference(&a, &b)?.1)
    }

    /// Whether a word is that number.
    fn is(&mut self, a: &[Diagram], number: u64) -> Result<Diagram, Full> {
        let mut all = YES;
        for (i, &bit) in a.iter().enumerate() {
            all = if number >> i & 1 == 1 {
                self.choose(bit, all, NO)?
            } else {
                self.choose(bit, NO, all)?
            };
        }
        Ok(all)
    }

    fn select(&mut self, c: Diagram, a: &[Diagram], b: &[Diagram]) -> Result<Vec<Diagram>, Full> {
        a.iter().zip(b).map(|(&a, &b)| self.choose(c, a, b)).collect()
    }
}

/// What function of its inputs (0, 0) and (1, 0), of `bits` bits each, the node is: a kind and the constant m of
/// node = kind ^ m. [`None`] if it is none of them, or too large to be decided.
pub(super) fn kind(graph: &Graph, root: NodeId, bits: u8, signed: bool) -> Option<(Kind, u64)> {
    let mut diagrams = Diagrams::new();
    found(&mut diagrams, graph, root, bits, signed).ok().flatten()
}

fn found(
    d: &mut Diagrams,
    graph: &Graph,
    root: NodeId,
    bits: u8,
    signed: bool,
) -> Result<Option<(Kind, u64)>, Full> {
    // The highest bits come first.
    let word = |d: &mut Diagrams, k: u8| -> Result<Vec<Diagram>, Full> {
        (0..bits).map(|i| d.node(2 * (bits - 1 - i) + k, NO, YES)).collect()
    };
    let (w, v) = (word(d, 0)?, word(d, 1)?);
    let Some(is) = value(d, graph, root, [&w, &v])? else { return Ok(None) };
    let less = if signed { d.less(&w, &v)? } else { d.difference(&w, &v)?.1 };
    let candidates = [
        (Kind::Word(0), w.clone()),
        (Kind::Word(1), v.clone()),
        (Kind::Least, d.select(less, &w, &v)?),
        (Kind::Greatest, d.select(less, &v, &w)?),
        (Kind::Zero, vec![NO; usize::from(bits)]),
    ];
    // All of them are 0 where both words are.
    let at_zero = |d: &Diagrams, mut x: Diagram| {
        while x > YES {
            x = d.nodes[x as usize].1;
        }
        x
    };
    let mask: Vec<Diagram> = is.iter().map(|&x| at_zero(d, x)).collect();
    let plain: Vec<Diagram> =
        is.iter().zip(&mask).map(|(&x, &m)| d.xor(x, m)).collect::<Result<_, _>>()?;
    let number = mask.iter().enumerate().fold(0, |n, (i, &m)| n | u64::from(m) << i);
    Ok(candidates.iter().find(|c| c.1 == plain).map(|c| (c.0, number)))
}

/// Whether the node, a function of its input (0, 0) of `bits` bits, is `equal` where that is `at`, and `different` elsewhere.
/// If there is no `different`, it is any other number. Also how many nodes show it. [`None`] if it is not decided.
pub(super) fn tells(
    graph: &Graph,
    root: NodeId,
    bits: u8,
    at: u64,
    equal: u64,
    different: Option<u64>,
) -> Option<(bool, u64)> {
    let mut d = Diagrams::new();
    told(&mut d, graph, root, bits, at, [Some(equal), different])
        .ok()
        .flatten()
        .map(|right| (right, d.nodes.len() as u64))
}

fn told(
    d: &mut Diagrams,
    graph: &Graph,
    root: NodeId,
    bits: u8,
    at: u64,
    numbers: [Option<u64>; 2],
) -> Result<Option<bool>, Full> {
    let word: Vec<Diagram> =
        (0..bits).map(|i| d.node(bits - 1 - i, NO, YES)).collect::<Result<_, _>>()?;
    let Some(is) = value(d, graph, root, [&word, &word])? else { return Ok(None) };
    let there = d.is(&word, at)?;
    for (number, want) in numbers.into_iter().zip([there, d.not(there)?]) {
        if let Some(number) = number
            && d.is(&is, number)? != want
        {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// The bits of a node, the lowest first; [`None`] where an operation is none of those below.
fn value(
    d: &mut Diagrams,
    graph: &Graph,
    root: NodeId,
    inputs: [&Vec<Diagram>; 2],
) -> Result<Option<Vec<Diagram>>, Full> {
    let mut cone = vec![root];
    let mut next = 0;
    while next < cone.len() {
        cone.extend(graph.node(cone[next]).args.iter());
        next += 1;
        if cone.len() > NODES {
            return Ok(None);
        }
    }
    cone.sort_unstable();
    cone.dedup();
    let mut bits: FxHashMap<NodeId, Vec<Diagram>> = FxHashMap::default();
    for id in cone {
        let node = graph.node(id);
        let width = usize::from(node.width);
        let arg = |i: usize| &bits[&node.args[i]];
        let padded = |from: &[Diagram], with: Diagram| {
            let mut all = from.to_vec();
            all.resize(width, with);
            all
        };
        let top = |from: &[Diagram]| from.last().copied().unwrap_or(NO);
        let made = match node.op {
            Op::Const(c) => (0..width).map(|i| Diagram::from(c >> i & 1 == 1)).collect(),
            Op::Input { operand, index: 0 } if operand < 2 => inputs[usize::from(operand)].clone(),
            Op::Slice { lo } => arg(0)[usize::from(lo)..][..width].to_vec(),
            Op::Concat => (0..node.args.len()).flat_map(|i| arg(i).clone()).collect(),
            Op::Zext => padded(arg(0), NO),
            Op::Sext => padded(arg(0), top(arg(0))),
            Op::Lshr(c) => padded(&arg(0)[usize::from(c)..], NO),
            Op::Ashr(c) => padded(&arg(0)[usize::from(c)..], top(arg(0))),
            Op::Shl(c) => {
                let mut all = vec![NO; usize::from(c)];
                all.extend(&arg(0)[..width - usize::from(c)]);
                all
            }
            Op::Add => d.sum(arg(0), arg(1), NO)?.0,
            Op::Sub => d.difference(arg(0), arg(1))?.0,
            Op::And => d.each(arg(0), arg(1), |d, a, b| d.choose(a, b, NO))?,
            Op::Or => d.each(arg(0), arg(1), |d, a, b| d.choose(a, YES, b))?,
            Op::Xor => d.each(arg(0), arg(1), Diagrams::xor)?,
            Op::Eq => {
                let mut same = YES;
                for (&a, &b) in arg(0).iter().zip(arg(1)) {
                    let differ = d.xor(a, b)?;
                    same = d.choose(differ, NO, same)?;
                }
                vec![same]
            }
            Op::Ult => vec![d.difference(arg(0), arg(1))?.1],
            Op::Slt => vec![d.less(arg(0), arg(1))?],
            Op::Select => d.select(top(arg(0)), arg(1), arg(2))?,
            Op::SatS | Op::SatU => {
                let (from, sign) = (arg(0).clone(), top(arg(0)));
                let signed = node.op == Op::SatS;
                // The bits above are copies of the sign if the word holds the integer, and zero if it is unsigned.
                let (first, like) = if signed { (width - 1, sign) } else { (width, NO) };
                let mut beyond = NO;
                for &bit in &from[first.min(from.len())..] {
                    let other = d.xor(bit, like)?;
                    beyond = d.choose(other, YES, beyond)?;
                }
                let end = d.not(sign)?;
                let mut all = (from[..width.min(from.len())].iter())
                    .map(|&bit| d.choose(beyond, end, bit))
                    .collect::<Result<Vec<_>, _>>()?;
                if signed {
                    all[width - 1] = sign;
                }
                all
            }
            Op::Input { .. } | Op::Address { .. } | Op::Mul => return Ok(None),
        };
        debug_assert_eq!(made.len(), width, "{node:?}");
        bits.insert(id, made);
    }
    Ok(bits.remove(&root))
}

impl Diagrams {
    fn each(
        &mut self,
        a: &[Diagram],
        b: &[Diagram],
        of: impl Fn(&mut Self, Diagram, Diagram) -> Result<Diagram, Full>,
    ) -> Result<Vec<Diagram>, Full> {
        a.iter().zip(b).map(|(&a, &b)| of(self, a, b)).collect()
    }
}
