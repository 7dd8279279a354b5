//! Shifts and bitwise operations, on values and on bytes that may be undefined.

use crate::byte::Byte;
use crate::fold::{gather, is_run, scatter};
use crate::graph::{Graph, NodeId, Op};

/// A kind of shift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shift {
    Left,
    Logical,
    Arithmetic,
}

/// Shift by a constant.
pub(crate) fn shift(g: &mut Graph, kind: Shift, a: NodeId, count: u64) -> NodeId {
    match kind {
        Shift::Left => g.shl(a, count),
        Shift::Logical => g.lshr(a, count),
        Shift::Arithmetic => g.ashr(a, count),
    }
}

/// Shift by a value of any size, bit by bit of the count; counts from the width on shift
/// everything out.
pub(crate) fn barrel(g: &mut Graph, kind: Shift, a: NodeId, count: NodeId) -> NodeId {
    if let Some(c) = g.value(count) {
        return shift(g, kind, a, c);
    }
    let mut r = a;
    for i in 0..g.width(count) {
        let bit = g.slice(count, i, 1);
        let by = if i < 7 { 1 << i } else { 64 };
        let moved = shift(g, kind, r, by);
        r = g.select(bit, moved, r);
    }
    r
}

pub(crate) fn rotate_right(g: &mut Graph, a: NodeId, by: u64) -> NodeId {
    if by == 0 {
        return a;
    }
    let (w, by) = (g.width(a), by as u8);
    let (high, low) = (g.slice(a, by, w - by), g.slice(a, 0, by));
    g.concat(&[high, low])
}

/// Shifts a lane; bytes that are shifted out may be undefined.
pub(crate) fn shift_lane(g: &mut Graph, kind: Shift, lane: &[Byte], count: u64) -> Option<NodeId> {
    let w = 8 * lane.len() as u8;
    if let Some(x) = gather(g, lane) {
        return Some(shift(g, kind, x, count));
    }
    if count >= u64::from(w) {
        return match kind {
            Shift::Arithmetic => {
                let top = gather(g, &lane[lane.len() - 1..])?;
                let sign = g.slice(top, 7, 1);
                Some(g.sext(sign, w))
            }
            _ => Some(g.constant(w, 0)),
        };
    }
    let (dropped, rest) = ((count / 8) as usize, count % 8);
    if kind == Shift::Left {
        let low = gather(g, &lane[..lane.len() - dropped])?;
        let low = g.shl(low, rest);
        let zeros = g.constant(8 * dropped.max(1) as u8, 0);
        return Some(if dropped == 0 { low } else { g.concat(&[zeros, low]) });
    }
    let high = gather(g, &lane[dropped..])?;
    let high = shift(g, kind, high, rest);
    Some(if kind == Shift::Logical { g.zext(high, w) } else { g.sext(high, w) })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bitwise {
    And,
    AndNot,
    Or,
    Xor,
}

/// What two bytes give without looking at the data, if anything.
fn decided(kind: Bitwise, x: Byte, y: Byte) -> Option<Byte> {
    use Byte::Const;
    Some(match (kind, x, y) {
        (Bitwise::And, Const(a), Const(b)) => Const(a & b),
        (Bitwise::AndNot, Const(a), Const(b)) => Const(!a & b),
        (Bitwise::Or, Const(a), Const(b)) => Const(a | b),
        (Bitwise::Xor, Const(a), Const(b)) => Const(a ^ b),
        (Bitwise::And, Const(0), _) | (Bitwise::And, _, Const(0)) => Const(0),
        (Bitwise::And, Const(255), z) | (Bitwise::And, z, Const(255)) => z,
        (Bitwise::AndNot, Const(255), _) | (Bitwise::AndNot, _, Const(0)) => Const(0),
        (Bitwise::AndNot, Const(0), z) => z,
        (Bitwise::Or, Const(255), _) | (Bitwise::Or, _, Const(255)) => Const(255),
        (Bitwise::Or, Const(0), z) | (Bitwise::Or, z, Const(0)) => z,
        (Bitwise::Xor, Const(0), z) | (Bitwise::Xor, z, Const(0)) => z,
        _ => return None,
    })
}

/// One byte of a bitwise operation.
pub(crate) fn bit_byte(g: &mut Graph, kind: Bitwise, x: Byte, y: Byte) -> Byte {
    if let Some(byte) = decided(kind, x, y) {
        return byte;
    }
    match (gather(g, &[x]), gather(g, &[y])) {
        (Some(x), Some(y)) => {
            let r = combine(g, kind, x, y);
            crate::fold::byte_of(g, r, 0)
        }
        _ => Byte::Undefined,
    }
}

fn combine(g: &mut Graph, kind: Bitwise, a: NodeId, b: NodeId) -> NodeId {
    match kind {
        Bitwise::And => g.and(a, b),
        Bitwise::AndNot => {
            let a = g.not(a);
            g.and(a, b)
        }
        Bitwise::Or => g.or(a, b),
        Bitwise::Xor => g.xor(a, b),
    }
}

/// Whether every bit of the node is one condition.
pub(crate) fn is_mask(g: &Graph, id: NodeId) -> bool {
    let node = g.node(id);
    match node.op {
        Op::Sext => g.width(node.args[0]) == 1,
        Op::Ashr(c) => c + 1 == node.width,
        _ => false,
    }
}

/// Whether a lane may end before byte `at` of `bytes`: no node runs across.
fn boundary(bytes: &[Byte], at: usize) -> bool {
    at >= bytes.len()
        || match (bytes[at - 1], bytes[at]) {
            (Byte::Node(x, i), Byte::Node(y, j)) => x != y || i + 1 != j,
            _ => true,
        }
}

/// A bitwise operation on bytes, a multiple of 8. Bits have no lanes, so the lanes are read off the
/// data: cut where nodes of both operands end. Bytes that a constant decides are moved, also beside
/// undefined ones.
pub(crate) fn bitwise(g: &mut Graph, kind: Bitwise, a: &[Byte], b: &[Byte], out: &mut [Byte]) {
    let mut at = 0;
    while at < out.len() {
        let whole = at..at + 8;
        if at.is_multiple_of(8)
            && g.knows_nothing(&a[whole.clone()])
            && g.knows_nothing(&b[whole.clone()])
        {
            fill_unknown(g, &mut out[whole]);
            at += 8;
            continue;
        }
        let n = bit_lane(g, &a[at..], &b[at..], at);
        let (x, y) = (&a[at..at + n], &b[at..at + n]);
        if n == 1
            && let Some(byte) = decided(kind, x[0], y[0])
        {
            out[at] = byte;
        } else if let (Some(x), Some(y)) = (gather(g, x), gather(g, y)) {
            let r = combine(g, kind, x, y);
            scatter(g, r, &mut out[at..at + n]);
        } else {
            // Whatever stood there is not the result.
            out[at..at + n].fill(Byte::Undefined);
        }
        at += n;
    }
}

/// Makes a lane (1 to 8 bytes) unknown: any operation on unknown lanes gives this.
pub(crate) fn fill_unknown(g: &mut Graph, lane: &mut [Byte]) {
    let node = g.unknown(8 * lane.len() as u8);
    for (k, byte) in lane.iter_mut().enumerate() {
        *byte = Byte::Node(node, k as u8);
    }
}

/// Length of the lane that starts here. If one operand is a mask, that is the mask's length.
/// Otherwise the lane reaches to where both operands' nodes end. It has at most 8 bytes and never
/// crosses a multiple of 8.
fn bit_lane(g: &Graph, a: &[Byte], b: &[Byte], at: usize) -> usize {
    let most = (8 - at % 8).min(a.len());
    for n in [2, 4, 8] {
        if n <= most && at.is_multiple_of(n) {
            for side in [a, b] {
                if let Some((id, 0)) = is_run(&side[..n])
                    && usize::from(g.width(id)) == 8 * n
                    && is_mask(g, id)
                {
                    return n;
                }
            }
        }
    }
    let undefined = |n: usize| a[n - 1].is_undefined() || b[n - 1].is_undefined();
    if undefined(1) {
        return 1;
    }
    for n in 1..most {
        let cut = boundary(a, n) && boundary(b, n);
        if undefined(n + 1) || cut {
            return n;
        }
    }
    most
}
