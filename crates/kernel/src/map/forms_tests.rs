//! Forms are what the nodes are: random graphs, evaluated.

use super::forms::{Atom, Form, Forms};
use super::project::{Projection, ones};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ringforge_contract::map::{MapCase, MapContract};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

const TEXT: &str = "
    contract = 1
    symbol = \"f\"
    abi = \"sysv-x86-64\"
    computes = \"map\"
    argument = [
        { name = \"c\", role = \"output\", element = \"u16\", length = 4, range = [0, 9], formula = \"a\" },
        { name = \"a\", role = \"input\", element = \"u16\", length = 4, range = [0, 77] },
        { name = \"b\", role = \"input\", element = \"i16\", length = 4, range = [-5, 9] },
        { name = \"w\", role = \"input\", element = \"u32\", length = 4, range = [0, 4294967295] },
    ]
";

const RANGES: [(i64, i64); 3] = [(0, 77), (-5, 9), (0, 4_294_967_295)];

/// The value of a form.
fn value(forms: &Forms, form: &Form, fields: &[Vec<i64>]) -> i128 {
    let of = |t: &(u32, i128)| {
        let (atom, range) = forms.atom_of(t.0);
        let value = match atom {
            Atom::Of(function, (argument, field)) => {
                let x = fields[argument - 1][*field] - RANGES[argument - 1].0;
                forms.value_of(*function, x as usize)
            }
            Atom::Quotient(form, k) => value(forms, form, fields) >> k,
        };
        assert!((range.0..=range.1).contains(&value), "{value} in {range:?}");
        t.1 * value
    };
    form.parts().1.iter().map(of).sum::<i128>() + form.parts().0
}

/// A node over earlier ones, of few bits for the most part: so carries and signs matter.
fn random(rng: &mut StdRng, graph: &mut Graph) -> NodeId {
    let mut any = |graph: &Graph| NodeId(rng.random_range(0..graph.len() as u32));
    let (x, other) = (any(graph), any(graph));
    let w = graph.width(x);
    let alike: Vec<NodeId> =
        (0..graph.len() as u32).map(NodeId).filter(|y| graph.width(*y) == w).collect();
    let y = alike[rng.random_range(0..alike.len())];
    let (c, more) = (rng.random_range(0..w), rng.random_range(1..9));
    let (wider, less) = ((w + more).min(64), rng.random_range(1..=w - c));
    let constant = |graph: &mut Graph, value: u64| {
        let node = Node { width: w, op: Op::Const(value & ones(w)), args: Vec::new().into() };
        graph.intern(node, None)
    };
    let one = |width, op| (width, op, vec![x]);
    let two = |width, op| (width, op, vec![x, y]);
    let (width, op, args) = match rng.random_range(0..20) {
        0 => one(less, Op::Slice { lo: c }),
        1 => one(less, Op::Slice { lo: 0 }),
        2 if w + graph.width(other) <= 64 => (w + graph.width(other), Op::Concat, vec![x, other]),
        3 | 4 if w < 64 => one(wider, Op::Sext),
        5 | 6 if w < 64 => one(wider, Op::Zext),
        7 => one(w, Op::Shl(c)),
        8 => one(w, Op::Lshr(c)),
        9 => one(w, Op::Ashr(c)),
        10 | 11 => two(w, Op::Add),
        12 => two(w, Op::Sub),
        13 => {
            let y = constant(graph, rng.random_range(0..70));
            (w, Op::Mul, if c % 2 == 0 { vec![x, y] } else { vec![y, x] })
        }
        14 => {
            let mask = [ones(c + 1), !ones(c), 6, 5][usize::from(more) % 4];
            let y = constant(graph, mask);
            (w, Op::And, if c % 2 == 0 { vec![x, y] } else { vec![y, x] })
        }
        15 => two(w, [Op::Or, Op::Xor, Op::And, Op::Mul][usize::from(more) % 4].clone()),
        16 => {
            // Words that have no bit in common, perhaps.
            let low = graph.slice(y, 0, c.max(1).min(w));
            let low = graph.zext(low, w);
            let high = Node { width: w, op: Op::Shl(c), args: vec![x].into() };
            let high = graph.intern(high, None);
            (w, Op::Or, if c % 2 == 0 { vec![high, low] } else { vec![low, high] })
        }
        17 if w > 1 => one(less.min(w - 1), Op::SatS),
        18 if w > 1 => one(less.min(w - 1), Op::SatU),
        _ => {
            let y = constant(graph, rng.random());
            (w, Op::Add, vec![x, y])
        }
    };
    graph.intern(Node { width, op, args: args.into() }, None)
}

#[test]
fn forms_are_what_the_nodes_are() {
    let contract = MapContract::parse(TEXT).unwrap_or_else(|e| panic!("{e}"));
    let mut rng = StdRng::seed_from_u64(5);
    let (mut several, mut none, mut quotients) = (0, 0, 0);
    for _ in 0..1500 {
        let mut graph = Graph::new();
        for index in 0..2 {
            for (operand, width) in [(0, 16), (1, 16)] {
                graph.input(width, operand, index);
            }
        }
        graph.input(32, 2, 0);
        for _ in 0..25 {
            random(&mut rng, &mut graph);
        }
        let all: Vec<NodeId> = (0..graph.len() as u32).map(NodeId).collect();
        let (name, outputs) = (String::new(), vec![all.clone()]);
        let case = MapCase { name, outputs, result: None, certain: true };
        let mut projection = Projection::new(&contract, &graph, &case);
        let mut forms = Forms::new(&contract, &graph, &mut projection, 1 << 30);
        let found: Vec<Option<Form>> = all.iter().map(|&id| forms.form(id)).collect();
        let tape = Tape::new(&graph, &all).expect("no address");
        for _ in 0..6 {
            let mut field = |(lo, hi)| [lo, hi, rng.random_range(lo..=hi)][rng.random_range(0..3)];
            let fields: Vec<Vec<i64>> =
                RANGES.map(|range| (0..4).map(|_| field(range)).collect()).into();
            let values =
                tape.run(|operand, index| fields[usize::from(operand)][index as usize] as u64);
            for (&id, form) in all.iter().zip(&found) {
                let Some(form) = form else {
                    none += 1;
                    continue;
                };
                let value = value(&forms, form, &fields);
                assert_eq!(
                    value as u64 & ones(graph.width(id)),
                    values[id.0 as usize],
                    "{:?}",
                    graph.node(id)
                );
                several += usize::from(form.parts().1.len() > 1);
                quotients += usize::from(
                    form.parts()
                        .1
                        .iter()
                        .any(|t| matches!(forms.atom_of(t.0).0, Atom::Quotient(..))),
                );
            }
        }
    }
    assert!(several > 20_000 && none > 20_000 && quotients > 5_000, "{several} {none} {quotients}");
}
