//! Low halves of products that instructions for words of 32 bits make of words of 16.

use crate::audit::Audit;
use crate::walk::{Output, Walk};
use ringforge_contract::InputRange;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};

const Q: i64 = 4591;
const QINV: i64 = 15631; // 1/q modulo 2^16
const CENTRED: (i64, i64) = (-2295, 2295);

fn walked(g: &Graph, out: NodeId) -> Walk<'_> {
    let inputs =
        [CENTRED; 2].map(|(lo, hi)| InputRange { lo, hi, signed: true }).into_iter().collect();
    let mut walk = Walk::new(g, Q as u32, inputs);
    walk.run(&[out], &mut |_, _| true);
    walk
}

/// A word of 16 bits in one of 64, as `pmovsxwd` and `pmuludq` read it.
fn unsigned(g: &mut Graph, x: NodeId) -> NodeId {
    let x = g.sext(x, 32);
    g.zext(x, 64)
}

/// `(x·y - q·t)/2^16` with t the low word of `x·(y/q)`, made by a product without sign.
fn montgomery(change: usize) -> (Graph, NodeId) {
    let mut g = Graph::new();
    let (x, y) = (g.input(16, 0, 0), g.input(16, 1, 0));
    let inverse = g.constant(16, if change == 1 { QINV + 2 } else { QINV } as u64);
    let prepared = g.mul(y, inverse);
    let (ux, up) = (unsigned(&mut g, x), unsigned(&mut g, prepared));
    let product = g.mul(ux, up);
    let t = g.slice(product, [0, 0, 1, 16, 32][change], 16);
    let q = g.constant(16, Q as u64);
    let mut high = |x: NodeId, y: NodeId| {
        let (x, y) = (g.sext(x, 32), g.sext(y, 32));
        let p = g.mul(x, y);
        g.slice(p, 16, 16)
    };
    let (h, m) = (high(x, y), high(t, q));
    let out = g.sub(h, m);
    (g, out)
}

#[test]
fn a_prepared_factor_multiplied_without_sign() {
    let (g, out) = montgomery(0);
    let mut walk = walked(&g, out);
    let Output { lo, hi, residue } = walk.output(out, 16, true).expect("Montgomery's product");
    assert!(!walk.cut.world.wide, "nothing but the low half of the long product is used");
    assert!(-Q / 2 - 90 <= lo && hi <= Q / 2 + 90, "{lo} {hi}");
    let tape = Tape::new(&g, &[out]).unwrap();
    for (x, y) in [(2295, -2295), (-2295, -2295), (1, -1), (777, 2001), (0, 5)] {
        let word = i64::from(tape.run(|o, _| [x, y][o as usize] as u64)[0] as i16);
        assert!(lo <= word && word <= hi);
        assert_eq!(((word << 16) - x * y).rem_euclid(Q), 0);
        let audit = Audit::new(&mut walk.cut.world, &|o, _| [x, y][o as usize]).unwrap();
        let form = audit.residue(&walk.cut.world, &residue);
        assert_eq!((i128::from(word) - form).rem_euclid(Q.into()), 0, "a false residue");
    }
}

#[test]
fn other_bits_of_the_long_product_are_not_understood() {
    for change in 1..5 {
        let (g, out) = montgomery(change);
        let mut walk = walked(&g, out);
        assert!(walk.output(out, 16, true).is_err(), "mutant {change}");
        assert_eq!(walk.cut.world.wide, change == 4, "the upper half of a product of long words");
    }
}
