//! Sums that meet quotients of themselves, spelled out on one side and named on the other.

use crate::values::Atom;
use crate::walk::Walk;
use crate::wide_tests::Words;
use ringforge_contract::InputRange;
use ringforge_machine::graph::NodeId;

/// A prime that the contract, modulo 2048, does not name.
const P: i64 = 12902401;
const PINV: i64 = -1019535359; // 1/P modulo 2^32
/// round(2^54/P)
const RECIPROCAL: i64 = 1396205133;

/// The interval of a node that became one variable known modulo P, or of one that did not.
fn reduced(w: &Words, node: NodeId, top: NodeId) -> Option<(i64, i64)> {
    let inputs = [(-400_000_000, 400_000_000), (-10, 10)];
    let inputs = inputs.map(|(lo, hi)| InputRange { lo, hi, signed: true }).to_vec();
    let mut walk = Walk::new(&w.g, 2048, inputs);
    walk.keep = true;
    walk.run(&[top], &mut |_, _| true);
    let [(atom, 1 | -1)] = walk.form(node)?.t[..] else { return None };
    let Atom::Var(v) = walk.cut.world.atoms[atom as usize] else { return None };
    let var = walk.cut.world.var(v);
    (var.residue.m == P as u32).then_some((var.lo, var.hi))
}

#[test]
fn a_sum_spelled_out_meets_the_quotient_of_its_variable() {
    let build = |change: usize| {
        let mut w = Words::default();
        // Its quotients are nothing that a sum of variables is equal to.
        let (x, b) = (w.a(9), w.b(0));
        let (c, cp, p) = (w.k(5_407_426), w.k(5_407_426i64.wrapping_mul(PINV)), w.k(P));
        let (high, t) = (w.wide(x, c), w.mullo(x, cp));
        let multiple = w.wide(t, p);
        let (high, multiple) = (w.high(high), w.high(multiple));
        let mut sum = w.sub(high, multiple);
        for i in 0..5 {
            let a = w.a(i);
            sum = if i % 2 == 0 { w.add(sum, a) } else { w.sub(sum, a) };
        }
        let of = match change {
            1 => w.a(0),
            2 => {
                let a = w.a(4);
                w.sub(sum, a)
            }
            _ => sum,
        };
        let k = w.k(RECIPROCAL);
        let product = w.wide(of, k);
        let high = w.high(product);
        let half = w.k(1 << 21);
        let high = w.add(high, half);
        let quotient = w.g.ashr(high, 22);
        let p = w.k(if change == 3 { P + 2 } else { P });
        let multiple = w.mullo(quotient, p);
        let out = if change == 4 { w.add(sum, multiple) } else { w.sub(sum, multiple) };
        // Words are multiplied with each other.
        let top = w.wide(out, b);
        let top = w.high(top);
        reduced(&w, out, top)
    };
    let (lo, hi) = build(0).expect("a reduced sum is a variable");
    assert!(-P / 2 - 2 <= lo && hi <= P / 2 + 2, "{lo} {hi}");
    for change in 1..5 {
        let narrow = build(change).is_some_and(|(lo, hi)| hi - lo < 2 * P);
        assert!(!narrow, "mutant {change}");
    }
}
