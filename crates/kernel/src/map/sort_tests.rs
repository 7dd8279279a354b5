//! Networks and functions of two words, against all values of few bits.

use super::diagram::{Kind, kind};
use super::sort::check;
use ringforge_contract::map::MapContract;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};

/// A generator of numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

fn contract(n: usize, element: &str) -> MapContract {
    let range = if element.starts_with('i') { "[-5, 9]" } else { "[0, 9]" };
    let text = format!(
        "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\ncomputes = \"sort\"\n[[argument]]\n\
         name = \"x\"\nrole = \"inout\"\nelement = \"{element}\"\nlength = {n}\nrange = {range}\n"
    );
    MapContract::parse(&text).unwrap_or_else(|e| panic!("{e}"))
}

/// The lesser and the greater of two words, in one of the ways in which code does it.
fn exchanged(graph: &mut Graph, way: usize, signed: bool, a: NodeId, b: NodeId) -> [NodeId; 2] {
    let width = graph.width(a);
    let less = if signed { graph.slt(b, a) } else { graph.ult(b, a) };
    match way {
        0 => [graph.select(less, b, a), graph.select(less, a, b)],
        1 => {
            let mask = graph.sext(less, width);
            let differ = graph.xor(a, b);
            let differ = graph.and(differ, mask);
            [graph.xor(a, differ), graph.xor(b, differ)]
        }
        // The borrow of a wider difference.
        2 => {
            let (x, y) = match signed {
                true => (graph.sext(a, 2 * width), graph.sext(b, 2 * width)),
                false => (graph.zext(a, 2 * width), graph.zext(b, 2 * width)),
            };
            let difference = graph.sub(y, x);
            let mask = graph.slice(difference, width, width);
            let differ = graph.xor(a, b);
            let differ = graph.and(differ, mask);
            [graph.xor(a, differ), graph.xor(b, differ)]
        }
        // Both complements, the other way round.
        _ => {
            let ones = graph.constant(width, u64::MAX >> (64 - width));
            let (x, y) = (graph.xor(a, ones), graph.xor(b, ones));
            let less = if signed { graph.slt(x, y) } else { graph.ult(x, y) };
            let (least, most) = (graph.select(less, y, x), graph.select(less, x, y));
            [graph.xor(least, ones), graph.xor(most, ones)]
        }
    }
}

/// A network of comparisons (i, j): the lesser word goes to i.
fn network(
    n: usize,
    element: &str,
    pairs: &[(usize, usize)],
    way: impl Fn(usize) -> usize,
) -> (Graph, Vec<NodeId>) {
    let (mut graph, bits) = (Graph::new(), element[1..].parse().expect("bits"));
    let mut x: Vec<NodeId> = (0..n as u32).map(|i| graph.input(bits, 0, i)).collect();
    for (k, &(i, j)) in pairs.iter().enumerate() {
        let signed = element.starts_with('i');
        [x[i], x[j]] = exchanged(&mut graph, way(k), signed, x[i], x[j]);
    }
    (graph, x)
}

fn sorts(n: usize, pairs: &[(usize, usize)]) -> bool {
    (0..1u32 << n).all(|word| {
        let mut x: Vec<u32> = (0..n).map(|i| word >> i & 1).collect();
        for &(i, j) in pairs {
            (x[i], x[j]) = (x[i].min(x[j]), x[i].max(x[j]));
        }
        x.is_sorted()
    })
}

fn accepted(n: usize, pairs: &[(usize, usize)], element: &str, way: usize) -> Result<u64, String> {
    // Complements among exclusive ors are folded together: these two ways do not mix.
    let ways: &[usize] = if way % 4 == 3 { &[0, 3] } else { &[0, 1, 2] };
    let (graph, left) = network(n, element, pairs, |k| ways[(way + k) % ways.len()]);
    check(&contract(n, element), &graph, &left, 1 << 40)
}

/// Batcher's merge exchange.
fn merge_exchange(n: usize) -> Vec<(usize, usize)> {
    let (mut pairs, top) = (Vec::new(), n.next_power_of_two() / 2);
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            pairs.extend((0..n.saturating_sub(d)).filter(|i| i & p == r).map(|i| (i, i + d)));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    pairs
}

/// Merges of runs whose upper halves descend.
fn bitonic(n: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for k in (1..).map(|e| 1 << e).take_while(|&k| k <= n) {
        for j in (0..).map(|e| k >> (e + 1)).take_while(|&j| j > 0) {
            for (i, with) in (0..n).map(|i| (i, i ^ j)).filter(|(i, with)| i < with) {
                pairs.push(if i & k == 0 { (i, with) } else { (with, i) });
            }
        }
    }
    pairs
}

#[test]
fn networks_that_sort_are_accepted() {
    for n in [2, 3, 7, 16, 33, 100, 257] {
        for (way, element) in ["u32", "i32", "u16", "i8"].into_iter().enumerate() {
            accepted(n, &merge_exchange(n), element, way).unwrap_or_else(|e| panic!("{n}: {e}"));
        }
    }
    accepted(64, &bitonic(64), "u32", 0).expect("bitonic merges");
    let insertion: Vec<_> = (1..40).flat_map(|k| (0..k).rev().map(|i| (i, i + 1))).collect();
    accepted(40, &insertion, "i16", 1).expect("insertions");
    let bricks: Vec<_> = (0..12).flat_map(|k| (k % 2..11).step_by(2).map(|i| (i, i + 1))).collect();
    accepted(12, &bricks, "u8", 2).expect("few words at once");
}

/// What is accepted sorts all zeros and ones; of the networks that do, many are accepted.
#[test]
fn networks_with_changes_are_accepted_only_if_they_sort() {
    let (mut right, mut wrong, mut refused) = (0, 0, 0);
    let mut random = Random(1);
    for k in 0..1500 {
        let n = 3 + k % 8;
        let mut pairs = match k % 3 {
            0 => merge_exchange(n),
            1 => bitonic(n.next_power_of_two()),
            _ => (1..n).flat_map(|k| (0..k).rev().map(|i| (i, i + 1))).collect(),
        };
        let n = if k % 3 == 1 { n.next_power_of_two() } else { n };
        for _ in 0..random.below(3) {
            let at = random.below(pairs.len());
            match random.below(3) {
                0 => drop(pairs.remove(at)),
                1 => pairs[at] = (pairs[at].1, pairs[at].0),
                _ => {
                    let other = random.below(pairs.len());
                    pairs.swap(at, other);
                }
            }
        }
        match (sorts(n, &pairs), accepted(n, &pairs, "u8", k).is_ok()) {
            (true, true) => right += 1,
            (true, false) => refused += 1,
            (false, true) => panic!("{n}: {pairs:?}"),
            (false, false) => wrong += 1,
        }
    }
    assert!(right > 400 && wrong > 400 && refused * 20 < right, "{right} {wrong} {refused}");
}

/// Each refusal, by something that meets it.
#[test]
fn what_is_no_sort_is_refused_with_the_reason() {
    let pairs = merge_exchange(4);
    let (mut graph, left) = network(4, "u32", &pairs, |_| 0);
    let of = |graph: &Graph, left: &[NodeId], budget: u64| {
        check(&contract(4, "u32"), graph, left, budget).expect_err("no sort")
    };
    let mut other = left.clone();
    other.swap(1, 2);
    assert!(of(&graph, &other, 1 << 30).contains("in another order"));
    let twice = [left[0], left[1], left[1], left[3]];
    assert!(of(&graph, &twice, 1 << 30).contains("one value"));
    let entry = graph.input(32, 0, 3);
    assert!(of(&graph, &[left[0], left[1], left[2], entry], 1 << 30).contains("depend on all"));
    let ones = graph.constant(32, u64::from(u32::MAX));
    let flipped = graph.xor(left[2], ones);
    let said = of(&graph, &[left[0], left[1], flipped, left[3]], 1 << 30);
    assert!(said.contains("word 2 is not made of"), "{said}");
    assert!(of(&graph, &left, 10).contains("more work"));
    let (graph, left) = network(3, "u32", &merge_exchange(3), |_| 0);
    assert!(of(&graph, &[left[0], left[1], left[2], left[2]], 1 << 30).contains("one value"));
    // Signed words in the order of unsigned ones.
    let (graph, left) = network(4, "u32", &pairs, |_| 0);
    assert!(check(&contract(4, "i32"), &graph, &left, 1 << 30).is_err());
    // Another array's words.
    let mut graph = Graph::new();
    let (a, b) = (graph.input(32, 0, 0), graph.input(32, 1, 1));
    let left = exchanged(&mut graph, 0, false, a, b);
    assert!(check(&contract(2, "u32"), &graph, &left, 1 << 30).is_err());
    // More combinations than are looked at: 40 words of which no lists are found.
    let bricks: Vec<_> = (0..40).flat_map(|k| (k % 2..39).step_by(2).map(|i| (i, i + 1))).collect();
    let said = accepted(40, &bricks, "u8", 0).expect_err("too many");
    assert!(said.contains("too many lists") || said.contains("share words"), "{said}");
}

/// A function of two words.
type Function<'a> = &'a dyn Fn(i64, i64) -> i64;

/// Random functions of two words of 3 bits: what is said of one holds of all 64 pairs, and minima are found.
#[test]
fn kinds_are_those_of_all_pairs() {
    let mut random = Random(7);
    let mut found = [0; 6];
    for k in 0..40_000 {
        let mut graph = Graph::new();
        let mut nodes = vec![graph.input(3, 0, 0), graph.input(3, 1, 0)];
        let constant = graph.constant(3, random.below(8) as u64);
        nodes.push(constant);
        for _ in 0..1 + random.below(7) {
            let mut any = || nodes[random.below(nodes.len())];
            let (a, b, c) = (any(), any(), any());
            let made = match random.below(16) {
                0 => graph.add(a, b),
                1 => graph.sub(a, b),
                2 => graph.and(a, b),
                3 => graph.or(a, b),
                4 => graph.xor(a, b),
                5 => exchanged(&mut graph, k % 4, false, a, b)[0],
                6 => exchanged(&mut graph, k % 4, true, a, b)[1],
                7 => {
                    let less = graph.slt(a, b);
                    graph.select(less, c, b)
                }
                8 => {
                    let less = graph.ult(a, b);
                    graph.sext(less, 3)
                }
                9 => {
                    let same = graph.eq(a, b);
                    graph.select(same, a, c)
                }
                10 => graph.shl(a, 1),
                11 => graph.ashr(a, 2),
                12 => graph.lshr(a, 1),
                13 => {
                    let wide = graph.concat(&[a, b]);
                    graph.rebuild(3, Op::SatS, &[wide])
                }
                14 => {
                    let wide = graph.concat(&[a, b]);
                    graph.rebuild(3, Op::SatU, &[wide])
                }
                _ => {
                    let wide = graph.concat(&[a, b]);
                    graph.slice(wide, 2, 3)
                }
            };
            nodes.push(made);
        }
        let root = nodes[nodes.len() - 1];
        let tape = Tape::new(&graph, &[root]).expect("a tape");
        let all: Vec<u64> =
            (0..64).map(|p| tape.run(|o, _| [p & 7, p >> 3][usize::from(o)])[0]).collect();
        for signed in [false, true] {
            let fits = |of: Function, flipped: u64| {
                (0..64).all(|p| {
                    let (w, v) = (p & 7, p >> 3);
                    let value = |x: i64| if signed && x > 3 { x - 8 } else { x };
                    all[p as usize] == (of(value(w), value(v)) as u64 & 7) ^ flipped
                })
            };
            let kinds: [(Kind, Function); 5] = [
                (Kind::Word(0), &|w, _| w),
                (Kind::Word(1), &|_, v| v),
                (Kind::Least, &|w, v| w.min(v)),
                (Kind::Greatest, &|w, v| w.max(v)),
                (Kind::Zero, &|_, _| 0),
            ];
            let is = kind(&graph, root, 3, signed);
            let should = kinds
                .iter()
                .enumerate()
                .find_map(|(i, (kind, of))| (0..8).find(|&m| fits(of, m)).map(|m| (i, (*kind, m))));
            assert_eq!(is, should.map(|s| s.1), "{:?}", graph.node(root));
            found[should.map_or(5, |s| s.0)] += 1;
        }
    }
    assert!(found.iter().all(|&n| n > 100), "{found:?}");
}

/// A greatest word behind the end stays there.
#[test]
fn greatest_words_fill_an_array_up() {
    let mut graph = Graph::new();
    let mut x: Vec<NodeId> = (0..5).map(|i| graph.input(32, 0, i)).collect();
    x.resize(8, graph.constant(32, u64::from(u32::MAX)));
    for (i, j) in merge_exchange(8) {
        [x[i], x[j]] = exchanged(&mut graph, (i + j) % 3, false, x[i], x[j]);
    }
    check(&contract(5, "u32"), &graph, &x[..5], 1 << 30).expect("five words of eight");
    // As signed words they are the least.
    assert!(check(&contract(5, "i32"), &graph, &x[..5], 1 << 30).is_err());
}

/// What no diagram is made of is of no kind.
#[test]
fn products_are_of_no_kind() {
    let mut graph = Graph::new();
    let (a, b) = (graph.input(8, 0, 0), graph.input(8, 1, 0));
    let product = graph.mul(a, b);
    assert_eq!(kind(&graph, product, 8, false), None);
    let other = graph.input(8, 0, 1);
    assert_eq!(kind(&graph, other, 8, false), None);
}
