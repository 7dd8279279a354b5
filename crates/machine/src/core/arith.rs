//! Lane arithmetic that several instruction sets share, with roundings and saturations explicit.

use crate::graph::{Graph, NodeId};

/// Whole signed product at `width`, at least twice the operands' width.
pub(crate) fn product(g: &mut Graph, a: NodeId, b: NodeId, width: u8) -> NodeId {
    let (a, b) = (g.sext(a, width), g.sext(b, width));
    g.mul(a, b)
}

/// Whole unsigned product at `width`, at least twice the operands' width.
pub(crate) fn product_unsigned(g: &mut Graph, a: NodeId, b: NodeId, width: u8) -> NodeId {
    let (a, b) = (g.zext(a, width), g.zext(b, width));
    g.mul(a, b)
}

/// `a ± b` with saturation: exact at twice the width, then clamped.
pub(crate) fn saturating(g: &mut Graph, a: NodeId, b: NodeId, minus: bool, signed: bool) -> NodeId {
    let w = g.width(a);
    let wide = if signed { Graph::sext } else { Graph::zext };
    let (a, b) = (wide(g, a, 2 * w), wide(g, b, 2 * w));
    let r = if minus { g.sub(a, b) } else { g.add(a, b) };
    if signed { g.sat_s(r, w) } else { g.sat_u(r, w) }
}

/// (a + b + 1) >> 1 without overflow.
pub(crate) fn average(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let w = g.width(a);
    let (a, b) = (g.zext(a, 2 * w), g.zext(b, 2 * w));
    let sum = g.add(a, b);
    let one = g.constant(2 * w, 1);
    let sum = g.add(sum, one);
    g.slice(sum, 1, w)
}

/// The absolute value; of the least number it is that number.
pub(crate) fn absolute(g: &mut Graph, a: NodeId) -> NodeId {
    let zero = g.constant(g.width(a), 0);
    let negative = g.slt(a, zero);
    let minus = g.neg(a);
    g.select(negative, minus, a)
}

/// The lesser, or the greater of two.
pub(crate) fn minimum(g: &mut Graph, a: NodeId, b: NodeId, max: bool, signed: bool) -> NodeId {
    let less = if signed { g.slt(a, b) } else { g.ult(a, b) };
    if max { g.select(less, b, a) } else { g.select(less, a, b) }
}

/// High half of a whole 64-bit product.
pub(crate) fn high_product(g: &mut Graph, a: NodeId, b: NodeId, is_signed: bool) -> NodeId {
    if let (Some(x), Some(y)) = (g.value(a), g.value(b)) {
        let high = if is_signed {
            ((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64
        } else {
            ((u128::from(x) * u128::from(y)) >> 64) as u64
        };
        return g.constant(64, high);
    }
    let mut high = high_unsigned(g, a, b);
    if is_signed {
        for (x, y) in [(a, b), (b, a)] {
            let sign = g.ashr(x, 63);
            let part = g.and(sign, y);
            high = g.sub(high, part);
        }
    }
    high
}

/// The same of an unsigned product, from 32-bit halves.
fn high_unsigned(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let half = |g: &mut Graph, x: NodeId, lo: u8| {
        let s = g.slice(x, lo, 32);
        g.zext(s, 64)
    };
    let (a0, a1, b0, b1) = (half(g, a, 0), half(g, a, 32), half(g, b, 0), half(g, b, 32));
    let (p00, p01, p10, p11) = (g.mul(a0, b0), g.mul(a0, b1), g.mul(a1, b0), g.mul(a1, b1));
    // No sum below reaches 2^64.
    let carry = half(g, p00, 32);
    let middle = g.add(p10, carry);
    let (m0, m1) = (half(g, middle, 0), half(g, middle, 32));
    let low = g.add(p01, m0);
    let up = half(g, low, 32);
    let sum = g.add(p11, m1);
    g.add(sum, up)
}

/// How many bits above the highest one that is set; the width if none is.
pub(crate) fn leading_zeros(g: &mut Graph, a: NodeId) -> NodeId {
    let w = g.width(a);
    if let Some(v) = g.value(a) {
        return g.constant(w, u64::from(v.leading_zeros()) - (64 - u64::from(w)));
    }
    if g.is_vague(a) {
        return g.mixed(&[a], w);
    }
    // From the lowest bit up: a bit that is set overrides the count so far.
    let mut r = g.constant(w, w.into());
    for i in 0..w {
        let bit = g.slice(a, i, 1);
        let here = g.constant(w, u64::from(w - 1 - i));
        r = g.select(bit, here, r);
    }
    r
}

/// The bits in the other order.
pub(crate) fn reversed_bits(g: &mut Graph, a: NodeId) -> NodeId {
    let bits: Vec<NodeId> = (0..g.width(a)).rev().map(|i| g.slice(a, i, 1)).collect();
    g.concat(&bits)
}
