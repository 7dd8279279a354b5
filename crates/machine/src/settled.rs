//! Terms that depend on inputs and still are one number, since the inputs' ranges leave them no other.

use crate::eval::Tape;
use crate::graph::{Graph, NodeId, Op};

/// Evaluations of operations that one execution makes for this.
pub(crate) const EVALUATIONS: usize = 1 << 30;
/// Operations of a term that is looked at.
const OPERATIONS: usize = 256;
/// Points that are looked at.
const POINTS: u64 = 1 << 17;
/// Points that are evaluated together.
const BATCH: usize = 256;

/// The number that a term is at every point of its inputs' ranges, by operand. [`None`] if it is two numbers, or has too many
/// points to look at all. Elements without a range may be anything. `left` evaluations may be made.
pub(crate) fn settled(
    graph: &Graph,
    node: NodeId,
    ranges: &[Option<(i64, i64)>],
    left: &mut usize,
) -> Option<u64> {
    let mut inputs: Vec<(u16, u32, i64, u64)> = Vec::new();
    let (mut order, mut next, mut points) = (vec![node], 0, 1u64);
    while let Some(&id) = order.get(next) {
        next += 1;
        let n = graph.node(id);
        if graph.is_vague(id) || order.len() > OPERATIONS {
            return None;
        }
        if let Op::Input { operand, index } = n.op {
            let range = ranges.get(usize::from(operand)).copied().flatten();
            let whole = |width: u8| i64::try_from(u64::MAX >> (64 - width)).unwrap_or(i64::MAX);
            let (lo, hi) = range.unwrap_or_else(|| (0, whole(n.width)));
            let count = (hi.checked_sub(lo)? as u64).checked_add(1)?;
            points = points.checked_mul(count).filter(|p| *p <= POINTS)?;
            inputs.push((operand, index, lo, count));
        }
        for a in &n.args {
            if !order.contains(a) {
                order.push(*a);
            }
        }
    }
    let tape = Tape::new(graph, &[node]).ok()?;
    // Most values that differ do so near an end.
    let batches = points.div_ceil(BATCH as u64);
    let all = (0..batches).map(|b| if b % 2 == 0 { b / 2 } else { batches - 1 - b / 2 });
    let mut one = None;
    for batch in all {
        let start = batch * BATCH as u64;
        let count = (points - start).min(BATCH as u64) as usize;
        *left = left.checked_sub(count * order.len())?;
        let values = tape.run_batch(count, &mut |operand, index, out| {
            let mut below = 1;
            for &(o, i, lo, count) in &inputs {
                if (o, i) == (operand, index) {
                    for (j, v) in out.iter_mut().enumerate() {
                        let place = (start + j as u64) / below % count;
                        *v = lo.wrapping_add(place as i64) as u64;
                    }
                }
                below *= count;
            }
        });
        let value = *one.get_or_insert(values[0][0]);
        if values[0].iter().any(|v| *v != value) {
            return None;
        }
    }
    one
}
