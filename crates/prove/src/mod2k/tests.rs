//! Certificates of random graphs: the kernel accepts each, and what it finds outputs to be is true.

use super::words::Words;
use crate::witness::Random;
use ringforge_contract::InputRange;
use ringforge_kernel::atom::Atom;
use ringforge_kernel::certificate::Line;
use ringforge_kernel::check::Expanded;
use ringforge_kernel::compare::{Entry, Mismatch, coefficients};
use ringforge_kernel::replay::{Case, Operand, Target, walk};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};

const WIDTHS: [u8; 6] = [8, 11, 16, 17, 32, 64];

/// A graph of random operations on words of several widths, and inputs with their ranges.
struct Sample {
    graph: Graph,
    nodes: Vec<NodeId>,
    ranges: Vec<InputRange>,
}

impl Sample {
    fn new(random: &mut Random, size: usize) -> Sample {
        let mut below = |n: usize| (random.next() % n as u64) as usize;
        let mut graph = Graph::new();
        // Words of 16 bits, bytes with sign, bytes without.
        let (width, range) = [
            (16, InputRange { lo: -1024, hi: 1023, signed: true }),
            (16, InputRange { lo: -32768, hi: 32767, signed: true }),
            (8, InputRange { lo: -1, hi: 1, signed: true }),
            (8, InputRange { lo: 0, hi: 255, signed: false }),
        ][below(4)];
        let mut nodes: Vec<NodeId> =
            (0..6).map(|i| graph.input(width, i % 2, u32::from(i / 2))).collect();
        while nodes.len() < size {
            let x = nodes[below(nodes.len())];
            let w = graph.node(x).width;
            let same: Vec<NodeId> =
                nodes.iter().copied().filter(|&n| graph.node(n).width == w).collect();
            let y = same[below(same.len())];
            let small = [0, 1, 2, 3, 5, 7, 8, 15, 16][below(9)];
            let k = small.min(w - 1);
            let number =
                [3, 43691, 1 << small, (1 << small) - 1, 0xfff8, 0x7fe, u64::MAX, 6][below(8)];
            let c = graph.constant(w, number);
            let wider = WIDTHS[below(6)].max(w);
            let part = (1 + below(usize::from(w))) as u8;
            let lo = below(usize::from(w - part) + 1) as u8;
            let node = match below(21) {
                0..3 => graph.add(x, y),
                3..5 => graph.sub(x, y),
                5 => graph.mul(x, y),
                6..8 => graph.mul(x, c),
                8 => graph.shl(x, k.into()),
                9 => graph.lshr(x, k.into()),
                10 => graph.ashr(x, k.into()),
                11 => graph.sext(x, wider),
                12 => graph.zext(x, wider),
                13 => graph.slice(x, lo, part),
                14 => graph.slice(x, 0, part),
                15 => graph.and(x, c),
                16 => graph.or(x, c),
                17 => graph.xor(x, [c, y][below(2)]),
                18 if 2 * w <= 64 => graph.concat(&[[x, c][below(2)], y]),
                19 if w > 8 && number % 2 == 0 => graph.sat_u(x, 8),
                19 if w > 8 => graph.sat_s(x, 8),
                20 if number % 2 == 1 => {
                    // Halves of sums, right and nearly right.
                    let (z, t) = ([x, y][below(2)], 1 + small / 8 % 2);
                    if below(2) == 0 {
                        let (and, xor) = (graph.and(x, z), graph.xor(x, y));
                        let half = graph.lshr(xor, t.into());
                        graph.add(and, half)
                    } else {
                        let (p, q) = (graph.lshr(x, 1), graph.lshr(y, t.into()));
                        let (sum, and) = (graph.add(p, q), graph.and(z, y));
                        let one = graph.constant(w, 1);
                        let carry = graph.and(and, one);
                        graph.add(sum, carry)
                    }
                }
                20 => {
                    let bit = graph.slice(y, 0, 1);
                    graph.select(bit, x, y)
                }
                _ => graph.add(x, c),
            };
            if !nodes.contains(&node) && !matches!(graph.node(node).op, Op::Const(_)) {
                nodes.push(node);
            }
        }
        Sample { graph, nodes, ranges: vec![range; 2] }
    }
}

impl Sample {
    /// Elements of both inputs.
    fn inputs(&self, random: &mut Random, round: usize) -> Vec<i64> {
        let (lo, hi) = (self.ranges[0].lo, self.ranges[0].hi);
        let mut one = || {
            let r = random.next();
            let any = lo + (r % (hi - lo + 1) as u64) as i64;
            match round {
                0 => [lo, hi][(r % 2) as usize],
                // Multiples, so that quotients are integers.
                1..6 => (any & -16).clamp(lo, hi),
                _ => any,
            }
        };
        (0..6).map(|_| one()).collect()
    }
}

/// What is known of one node, all of whose bits are said to be.
struct Found {
    lines: Vec<Line>,
    /// The low bits in which it is a polynomial, and the polynomial's coefficients modulo that power of two.
    polynomial: Option<(u8, Vec<Entry>)>,
}

impl Sample {
    /// The kernel's word on a node; [`None`] where not all of its bits are known.
    fn found(&self, output: NodeId) -> Option<Found> {
        let (width, outputs) = (self.graph.node(output).width, [output]);
        let mut words = Words::new(&self.graph, &self.ranges, &outputs);
        if words.get(output).bits < width {
            return None;
        }
        let (lo, hi) = words.output(0, output, true);
        let lines = std::mem::take(&mut words.atoms.lines);
        let range = self.ranges[0];
        let bits = self.graph.node(self.nodes[0]).width;
        let operand = Operand { lo: range.lo, hi: range.hi, bits };
        let target = Target { bits: width, signed: true, lo: lo as i64, hi: hi as i64 };
        let at = |known: u8| -> Result<Vec<Entry>, Mismatch> {
            let q = 1u32 << known;
            let case = Case {
                graph: &self.graph,
                operands: vec![operand; 2],
                outputs: &outputs,
                target,
                q,
            };
            let walked = walk(&case, &lines, 1 << 20, &|_| true);
            let walked = walked.unwrap_or_else(|e| {
                let line = lines.get(e.line - 1);
                panic!("{e}: {line:?} of {lines:?}")
            });
            let form = walked.outputs[0].clone();
            let inputs = Expanded { facts: &walked.facts, leaves: None };
            coefficients(&inputs, q, 3, &[form], 1 << 10, &|_| true)
        };
        // As many bits as there are.
        let polynomial = match at(16) {
            Ok(found) => Some((16, found)),
            Err(Mismatch::Bits { known: 0, .. }) => None,
            Err(Mismatch::Bits { known, .. }) => at(known).ok().map(|found| (known, found)),
            Err(_) => at(1).ok().map(|found| (1, found)),
        };
        Some(Found { lines, polynomial })
    }
}

/// A polynomial at elements of both inputs, three each.
fn value(polynomial: &[Entry], inputs: &[i64]) -> u64 {
    let at = |o: usize, i: u32| if i == 0 { 1 } else { inputs[3 * o + i as usize - 1] as u64 };
    polynomial.iter().fold(0, |sum, e| {
        sum.wrapping_add(u64::from(e.c).wrapping_mul(at(0, e.i)).wrapping_mul(at(1, e.j)))
    })
}

#[test]
fn what_the_kernel_finds_of_words_is_true() {
    let mut random = Random(5);
    let (mut told, mut deep, mut divided, mut values) = (0, 0, 0, 0);
    for _ in 0..1000 {
        let sample = Sample::new(&mut random, 40);
        let rounds: Vec<Vec<i64>> = (0..6).map(|r| sample.inputs(&mut random, r)).collect();
        for &id in &sample.nodes {
            let Some(found) = sample.found(id) else { continue };
            let Some((known, polynomial)) = found.polynomial else { continue };
            let floor = |l: &Line| matches!(l, Line::Atom(Atom::Floor { .. }));
            let own = |l: &Line| matches!(l, Line::Atom(Atom::Value { .. }));
            values += u32::from(found.lines.iter().any(own));
            told += 1;
            deep += u32::from(known >= 11);
            divided += u32::from(found.lines.iter().any(floor));
            let tape = Tape::new(&sample.graph, &[id]).unwrap();
            for inputs in &rounds {
                let input = |o: u16, i: u32| inputs[usize::from(o) * 3 + i as usize] as u64;
                let own = tape.run(input)[0];
                let said = value(&polynomial, inputs);
                let same = (own ^ said) << (64 - known.min(sample.graph.node(id).width)) == 0;
                assert!(same, "{own} is said to be {said} modulo 2^{known}: {:?}", found.lines);
            }
        }
    }
    println!("{told} {deep} {divided} {values}");
    assert!(told > 15_000 && deep > 10_000 && divided > 1_500 && values > 10);
}
