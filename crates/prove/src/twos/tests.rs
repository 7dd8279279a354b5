//! What is known of words, tried on random graphs: each rule says the truth of every node.

use super::second::{congruent, forms, inside};
use super::word::Make;
use super::words::Words;
use crate::values::inverse;
use crate::witness::Random;
use ringforge_contract::InputRange;
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

/// The values of all forms as the nodes have them, quotients with remainders as well.
fn actual(
    words: &Words,
    input: &dyn Fn(u16, u32) -> i64,
    value: &dyn Fn(NodeId) -> u64,
) -> Vec<u16> {
    let mut own: Vec<u16> = Vec::new();
    for (id, form) in words.forms.iter().enumerate() {
        let at = |x: u32| own[x as usize];
        let v = match form.make {
            Make::One => 1,
            Make::Input { operand, index } => input(operand, index) as u16,
            Make::Sum { x, c, y, d } => c.wrapping_mul(at(x)).wrapping_add(d.wrapping_mul(at(y))),
            Make::Product { a, b } => at(a).wrapping_mul(at(b)),
            Make::Half { node, .. } => {
                let word = words.get(NodeId(node));
                let c = inverse(word.c.into()) as u16;
                let own = word.form == id as u32;
                if own { c.wrapping_mul((value(NodeId(node)) >> word.twos) as u16) } else { 0 }
            }
        };
        own.push(v);
    }
    own
}

#[test]
fn what_is_known_of_words_is_true() {
    let mut random = Random(5);
    let (mut told, mut halves, mut deep) = (0u64, 0u64, 0u64);
    for _ in 0..800 {
        let sample = Sample::new(&mut random, 40);
        let (graph, ranges) = (&sample.graph, &sample.ranges);
        let tape = Tape::new(graph, &sample.nodes).unwrap();
        let rounds: Vec<Vec<i64>> = (0..12).map(|r| sample.inputs(&mut random, r)).collect();
        let words = Words::new(graph, ranges, &sample.nodes);
        for inputs in &rounds {
            let input = |o: u16, i: u32| inputs[usize::from(o) * 3 + i as usize];
            let values = tape.values(1, &mut |o, i, out: &mut [u64]| out[0] = input(o, i) as u64);
            let value = |id: NodeId| values[tape.nodes().binary_search(&id).unwrap()];
            let (forms, own) = (forms(&words, &input), actual(&words, &input, &value));
            for &id in tape.nodes() {
                let (node, word) = (graph.node(id), words.get(id));
                let held = inside(&word, value(id), node.width)
                    .and_then(|()| {
                        congruent(&word, word.known, Some(own[word.form as usize]), value(id))
                    })
                    .and_then(|()| {
                        let form = forms[word.form as usize];
                        congruent(&word, words.certain(word), form, value(id))
                    });
                assert!(held.is_ok(), "{node:?} {word:?}: {held:?}");
                if forms[word.form as usize].is_some() {
                    let (known, form) = (words.certain(word), &words.forms[word.form as usize]);
                    told += u64::from(known > 0);
                    halves += u64::from(known > 0 && form.known < 16);
                    deep += u64::from(known >= 11 && word.c != 0);
                }
            }
        }
    }
    assert!(told > 200_000 && halves > 20_000 && deep > 80_000, "{told} {halves} {deep}");
}
