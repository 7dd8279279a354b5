//! Another network for the same outputs: where a + b exists, a - c·b is (a + b) - (c + 1)·b.
//!
//! The sum is often reduced anyway, a is not: the radix-5 butterfly's f_0 - u/4 becomes
//! F_0 - 5u/4, with F_0 = f_0 + u, and one reduction serves both.

use ringforge_plan::{Arith, NetOp, Network, Val};
use ringforge_ring::zq;
use std::collections::HashMap;

/// The network with every such difference rewritten; `None` where there is none.
pub fn rebased(net: &Network, outputs: &[Val]) -> Option<(Network, Vec<Val>)> {
    let q = net.q();
    let live = net.live(outputs);
    let mut sums: HashMap<(Val, Val), Val> = HashMap::new();
    for &v in &live {
        if let NetOp::Add(a, b) = net.op(v) {
            sums.insert((a, b), v);
            sums.insert((b, a), v);
        }
    }
    let mut new = Network::new(q);
    let mut values: HashMap<Val, Val> = HashMap::new();
    let mut changed = false;
    for v in live {
        let value = match net.op(v) {
            NetOp::Zero => new.zero(),
            NetOp::Input(i) => new.input(i),
            NetOp::Scale(a, c) => new.scale(values[&a], c),
            NetOp::Rotate(a, k) => new.rotate(values[&a], k),
            NetOp::Add(a, b) => match difference(net, &sums, &values, a, b) {
                Some((sum, part, c)) => {
                    changed = true;
                    let product = new.scale(part, zq::sub(c, 1, q));
                    new.add(sum, product)
                }
                None => new.add(values[&a], values[&b]),
            },
            NetOp::Sub(a, b) => match difference(net, &sums, &values, a, b) {
                Some((sum, part, c)) => {
                    changed = true;
                    let product = new.scale(part, zq::add(c, 1, q));
                    new.sub(sum, product)
                }
                None => new.sub(values[&a], values[&b]),
            },
        };
        values.insert(v, value);
    }
    changed.then(|| (new, outputs.iter().map(|v| values[v]).collect()))
}

/// For a ± c·b with a + b made earlier: that sum, b, and c.
fn difference(
    net: &Network,
    sums: &HashMap<(Val, Val), Val>,
    values: &HashMap<Val, Val>,
    a: Val,
    product: Val,
) -> Option<(Val, Val, u64)> {
    let NetOp::Scale(b, c) = net.op(product) else { return None };
    let sum = values.get(sums.get(&(a, b))?)?;
    Some((*sum, *values.get(&b)?, c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_plan::Exact;

    #[test]
    fn rewrites_and_keeps_the_function() {
        let mut net = Network::new(4591);
        let (a, b) = (net.input(0), net.input(1));
        let sum = net.add(a, b);
        let part = net.scale(b, 1148);
        let outputs = [sum, net.sub(a, part), net.add(a, part)];
        let (new, values) = rebased(&net, &outputs).unwrap();
        assert!(new.live(&values).iter().all(|&v| new.op(v) != NetOp::Sub(a, part)));
        let mut exact = Exact::new(4591, 1);
        let inputs = [exact.input(&[99]), exact.input(&[1234])];
        let old = net.replay(&mut exact, &inputs, &outputs);
        for (old, new) in old.iter().zip(new.replay(&mut exact, &inputs, &values)) {
            assert_eq!(exact.get(*old), exact.get(new));
        }
        assert!(rebased(&new, &values).is_none());
    }
}
