//! Where a network's values must be reduced so that every word fits, and nowhere else.
//!
//! The search starts with everything reduced. It takes reductions away one by one, as long as all
//! sums fit a word and all outputs their limits. It tries many random orders and keeps the cheapest
//! result. (Range analysis that drives the placing of reductions: [TokudaKameyama23 §4].)

use crate::bounds::Bounds;
use ringforge_plan::{NetOp, Network, Val};

/// A network whose reductions are to be placed.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The network.
    pub net: &'a Network,
    /// Its outputs.
    pub outputs: &'a [Val],
    /// For each input index the largest magnitude.
    pub inputs: &'a [i64],
    /// For each output the largest magnitude allowed.
    pub limits: &'a [i64],
    /// Slots of a reduction and of a modular product.
    pub cost: (u32, u32),
}

/// What was decided, by node of the network.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Nodes whose value is reduced as soon as it is made.
    pub reduced: Vec<bool>,
    /// Scales by a small power of two that are done by shifting.
    pub shifted: Vec<bool>,
    /// Largest magnitude of each node, after its reduction.
    pub bounds: Vec<i64>,
    /// Slots of all operations.
    pub slots: u32,
}

/// A sum or an output does not fit even when everything is reduced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs |x| ≤ {most} and reaches {bound} with every value reduced")]
pub struct Impossible {
    /// The largest magnitude that fits.
    pub most: i64,
    /// The one that is reached.
    pub bound: i64,
}

/// How many rounds times squared operations placing takes at most.
const ROUNDS_TIMES_SQUARE: usize = 100_000_000;

/// How far a scale by `c` shifts, if it is a small power of two.
pub fn shift_of(c: u64) -> Option<u8> {
    (c.is_power_of_two() && c <= 8).then(|| c.trailing_zeros() as u8)
}

/// Places reductions; `rounds` random orders are tried.
pub fn place(task: Task, bounds: &mut Bounds, rounds: u32) -> Result<Placement, Impossible> {
    let live = task.net.live(task.outputs);
    let count = task.net.ops().len();
    let mut all = Placement {
        reduced: vec![false; count],
        shifted: vec![false; count],
        bounds: vec![0; count],
        slots: 0,
    };
    // Decisions: nodes whose reduction may go, and (by offset) scales that may become shifts.
    let mut decisions = Vec::new();
    for &v in &live {
        let i = v.0 as usize;
        match task.net.op(v) {
            NetOp::Zero => {}
            NetOp::Scale(_, c) if c != task.net_q() - 1 => {
                if shift_of(c).is_some() {
                    decisions.push(i + count);
                }
            }
            _ => {
                all.reduced[i] = true;
                decisions.push(i);
            }
        }
    }
    if task.evaluate(&live, &mut all, bounds).is_err() {
        // Where a modulus nearly fills its words, products are reduced too.
        for &v in &live {
            let product = matches!(task.net.op(v), NetOp::Scale(_, c) if c != task.net_q() - 1);
            if product {
                all.reduced[v.0 as usize] = true;
                decisions.push(v.0 as usize);
            }
        }
        task.evaluate(&live, &mut all, bounds)?;
    }
    // Long networks get fewer rounds: each takes time quadratic in their length.
    let rounds =
        rounds.min((ROUNDS_TIMES_SQUARE / live.len().pow(2).max(1)) as u32).max(rounds.min(2));
    let mut best: Option<(u32, i64, Placement)> = None;
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..rounds.max(1) {
        let mut order = decisions.clone();
        match round {
            0 => order.reverse(),
            1 => {}
            _ => shuffle(&mut order, &mut random),
        }
        let mut trial = all.clone();
        for &d in &order {
            flip(&mut trial, d, count);
            if task.evaluate(&live, &mut trial, bounds).is_err() {
                flip(&mut trial, d, count);
            }
        }
        if task.evaluate(&live, &mut trial, bounds).is_err() {
            continue;
        }
        let spread = task.outputs.iter().map(|v| trial.bounds[v.0 as usize]).sum();
        if best.as_ref().is_none_or(|(slots, sum, _)| (trial.slots, spread) < (*slots, *sum)) {
            let none = !trial.reduced.iter().any(|&reduced| reduced);
            best = Some((trial.slots, spread, trial));
            if none && round > 0 && bounds.modulus().bits == 32 {
                break; // nothing left to spare
            }
        }
    }
    // Everything reduced fits, and so does what is spared of it one by one.
    Ok(best.map_or(all, |(_, _, placement)| placement))
}

fn flip(trial: &mut Placement, decision: usize, count: usize) {
    if decision < count {
        trial.reduced[decision] ^= true;
    } else {
        trial.shifted[decision - count] ^= true;
    }
}

fn shuffle(order: &mut [usize], state: &mut u64) {
    for i in (1..order.len()).rev() {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        order.swap(i, (*state % (i as u64 + 1)) as usize);
    }
}

impl Task<'_> {
    fn net_q(&self) -> u64 {
        use ringforge_plan::Arith;
        self.net.q()
    }

    /// Fills bounds and slots.
    ///
    /// # Errors
    /// The first sum that does not fit, or an output that exceeds its limit.
    pub fn evaluate(
        &self,
        live: &[Val],
        p: &mut Placement,
        bounds: &mut Bounds,
    ) -> Result<(), Impossible> {
        let (reduction, product) = self.cost;
        let q = self.net_q();
        p.slots = 0;
        for &v in live {
            let i = v.0 as usize;
            let of = |v: Val| p.bounds[v.0 as usize];
            let (bound, slots) = match self.net.op(v) {
                NetOp::Zero => (0, 0),
                NetOp::Input(n) => (self.inputs[n], 0),
                NetOp::Add(a, b) | NetOp::Sub(a, b) => (of(a) + of(b), 1),
                // Rotations become loads before reductions are placed.
                NetOp::Rotate(a, _) => (of(a), 2),
                NetOp::Scale(a, c) if c == q - 1 => (of(a), 1),
                NetOp::Scale(a, c) if p.shifted[i] => (of(a) * c as i64, 1),
                NetOp::Scale(a, c) => (bounds.product(c, of(a)), product),
            };
            if bound > bounds.word() {
                return Err(Impossible { most: bounds.word(), bound });
            }
            p.slots += slots;
            p.bounds[i] = bound;
            if p.reduced[i] {
                p.bounds[i] = bounds.reduce(bound).min(bound);
                p.slots += reduction;
            }
        }
        let reached = self.outputs.iter().map(|v| p.bounds[v.0 as usize]).zip(self.limits);
        match reached.filter(|&(bound, &most)| bound > most).max() {
            Some((bound, &most)) => Err(Impossible { most, bound }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{MulMethod, ReduceMethod};
    use ringforge_plan::Plan;
    use ringforge_plan::Stages;

    const Q: u64 = 4591;

    fn nine_points() -> (Network, Vec<Val>) {
        let text = "(plan nine (ring \"Z4591[x]/(x^5 - x - 1)\") (lift 9 (substitute 1 \
                    (cooley-tukey 3 3 (rader 3 unscaled) (rader 3 unscaled)) \
                    (weighted-convolution (toeplitz)))))";
        let plan = Plan::parse(text).unwrap();
        let Stages::Remainder(lift) = plan.root.stages() else { panic!("a lift") };
        lift.inner.stages().blocks().expect("blocks").inverse_network()
    }

    #[test]
    fn no_reduction_can_be_spared() {
        let (net, outputs) = nine_points();
        let mut bounds = Bounds::new(Q, MulMethod::Montgomery, ReduceMethod::Barrett);
        let (inputs, limits) = (vec![9000; 9], vec![11_000; outputs.len()]);
        let task =
            Task { net: &net, outputs: &outputs, inputs: &inputs, limits: &limits, cost: (3, 4) };
        let placement = place(task, &mut bounds, 50).unwrap();
        let live = net.live(&outputs);
        let reduced: Vec<usize> =
            (0..placement.reduced.len()).filter(|&i| placement.reduced[i]).collect();
        assert!(!reduced.is_empty());
        for i in reduced {
            let mut spared = placement.clone();
            spared.reduced[i] = false;
            assert!(task.evaluate(&live, &mut spared, &mut bounds).is_err(), "node {i}");
        }
    }

    #[test]
    fn limits_below_what_reductions_give_are_impossible() {
        let (net, outputs) = nine_points();
        let mut bounds = Bounds::new(Q, MulMethod::Montgomery, ReduceMethod::Barrett);
        let (inputs, limits) = (vec![9000; 9], vec![2000; outputs.len()]);
        let task =
            Task { net: &net, outputs: &outputs, inputs: &inputs, limits: &limits, cost: (3, 4) };
        let error = place(task, &mut bounds, 5).unwrap_err();
        assert!(error.most == 2000 && error.bound > 2000, "{error}");
    }
}
