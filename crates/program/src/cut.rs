//! Multiplying a whole network by a constant where that costs least.
//!
//! Every path from an input to an output must cross the factor exactly once. Where it meets a
//! multiplication it is free; elsewhere it is one more. The cheapest place is a minimum cut.

use ringforge_plan::{Arith, NetOp, Network, Val};
use ringforge_ring::zq;
use std::collections::{HashMap, VecDeque};

/// A network whose outputs are `factor` times those of `net`, with as few more scales as can be.
pub fn scaled(net: &Network, outputs: &[Val], factor: u64) -> (Network, Vec<Val>) {
    let q = net.q();
    let mut new = Network::new(q);
    if factor == 1 {
        let inputs = inputs_of(net, &mut new);
        let values = net.replay(&mut new, &inputs, outputs);
        return (new, values);
    }
    let after = after_cut(net, outputs);
    let mut plain: HashMap<Val, Val> = HashMap::new();
    let mut times: HashMap<Val, Val> = HashMap::new();
    for v in net.live(outputs) {
        if !after[v.0 as usize] {
            let value = match net.op(v) {
                NetOp::Zero => new.zero(),
                NetOp::Input(i) => new.input(i),
                NetOp::Add(a, b) => new.add(plain[&a], plain[&b]),
                NetOp::Sub(a, b) => new.sub(plain[&a], plain[&b]),
                NetOp::Scale(a, c) => new.scale(plain[&a], c),
                NetOp::Rotate(a, k) => new.rotate(plain[&a], k),
            };
            plain.insert(v, value);
            continue;
        }
        let mut operand = |new: &mut Network, a: Val| {
            *times.entry(a).or_insert_with(|| new.scale(plain[&a], factor))
        };
        let value = match net.op(v) {
            NetOp::Zero => new.zero(),
            NetOp::Input(i) => {
                let input = new.input(i);
                new.scale(input, factor)
            }
            NetOp::Add(a, b) => {
                let (a, b) = (operand(&mut new, a), operand(&mut new, b));
                new.add(a, b)
            }
            NetOp::Sub(a, b) => {
                let (a, b) = (operand(&mut new, a), operand(&mut new, b));
                new.sub(a, b)
            }
            NetOp::Rotate(a, k) => {
                let a = operand(&mut new, a);
                new.rotate(a, k)
            }
            NetOp::Scale(a, c) => match times.get(&a) {
                Some(&a) => new.scale(a, c),
                None => new.scale(plain[&a], zq::mul(c, factor, q)),
            },
        };
        times.insert(v, value);
    }
    let values = outputs
        .iter()
        .map(|v| match times.get(v) {
            Some(&value) => value,
            None => new.scale(plain[v], factor),
        })
        .collect();
    (new, values)
}

fn inputs_of(net: &Network, new: &mut Network) -> Vec<Val> {
    let most = net.ops().iter().map(|op| if let NetOp::Input(i) = op { i + 1 } else { 0 }).max();
    (0..most.unwrap_or(0)).map(|i| new.input(i)).collect()
}

/// For each node whether it is computed with the factor already in it.
///
/// This is a minimum cut between the inputs (without the factor) and the read outputs (with it). An
/// edge v → v' of capacity 1 means scaling v. Unbounded edges v' → w mean that the sum w needs v
/// scaled. Unbounded edges w → v mean that whatever is computed from scaled values is scaled.
fn after_cut(net: &Network, outputs: &[Val]) -> Vec<bool> {
    let n = net.ops().len();
    let (source, sink) = (2 * n, 2 * n + 1);
    let mut flow = Flow::new(2 * n + 2);
    for v in net.live(outputs) {
        let i = v.0 as usize;
        let op = net.op(v);
        if let NetOp::Input(_) = op {
            flow.edge(source, i, UNBOUNDED);
        }
        if !matches!(op, NetOp::Zero) {
            flow.edge(i, n + i, 1);
        }
        for a in op.operands() {
            flow.edge(i, a.0 as usize, UNBOUNDED);
            if !matches!(op, NetOp::Scale(_, c) if c != net.q() - 1) {
                flow.edge(n + a.0 as usize, i, UNBOUNDED);
            }
        }
    }
    for v in outputs {
        flow.edge(n + v.0 as usize, sink, UNBOUNDED);
    }
    let without = flow.cut(source, sink);
    (0..n).map(|i| !without[i]).collect()
}

const UNBOUNDED: i64 = 1 << 30;

/// A flow network: edges in pairs, each with the capacity that is left.
struct Flow {
    out: Vec<Vec<usize>>,
    edges: Vec<(usize, i64)>,
}

impl Flow {
    fn new(nodes: usize) -> Flow {
        Flow { out: vec![Vec::new(); nodes], edges: Vec::new() }
    }

    fn edge(&mut self, from: usize, to: usize, capacity: i64) {
        self.out[from].push(self.edges.len());
        self.edges.push((to, capacity));
        self.out[to].push(self.edges.len());
        self.edges.push((from, 0));
    }

    /// The nodes on the source's side of a minimum cut.
    fn cut(&mut self, source: usize, sink: usize) -> Vec<bool> {
        loop {
            let mut by: Vec<Option<usize>> = vec![None; self.out.len()];
            let mut seen = vec![false; self.out.len()];
            seen[source] = true;
            let mut queue = VecDeque::from([source]);
            while let Some(node) = queue.pop_front() {
                for &e in &self.out[node] {
                    let (to, left) = self.edges[e];
                    if left > 0 && !seen[to] {
                        seen[to] = true;
                        by[to] = Some(e);
                        queue.push_back(to);
                    }
                }
            }
            if !seen[sink] {
                return seen;
            }
            let mut node = sink;
            while let Some(e) = by[node] {
                self.edges[e].1 -= 1;
                self.edges[e ^ 1].1 += 1;
                node = self.edges[e ^ 1].0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_plan::Exact;

    /// (x + 3y, x - 3y, 5(x + 3y)): the factor goes into 3 and onto x, nowhere else.
    #[test]
    fn the_factor_is_free_in_multiplications() {
        let mut net = Network::new(4591);
        let (x, y) = (net.input(0), net.input(1));
        let t = net.scale(y, 3);
        let (sum, difference) = (net.add(x, t), net.sub(x, t));
        let five = net.scale(sum, 5);
        let outputs = [sum, difference, five];
        let before = net.cost(&outputs).scales;
        let (new, values) = scaled(&net, &outputs, 1234);
        assert_eq!(new.cost(&values).scales, before + 1);
        let mut exact = Exact::new(4591, 1);
        let inputs = [exact.input(&[17]), exact.input(&[4000])];
        let old = net.replay(&mut exact, &inputs, &outputs);
        let all = new.replay(&mut exact, &inputs, &values);
        for (old, new) in old.iter().zip(all) {
            assert_eq!(exact.get(*old)[0] * 1234 % 4591, exact.get(new)[0]);
        }
    }
}
