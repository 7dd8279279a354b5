//! Operations on one lane: what words of vector instructions become.

use crate::core::arith::{minimum, product};
use crate::core::bits::{Shift, shift};
use crate::graph::{Graph, NodeId};

/// Both at twice their width.
pub(super) fn widened(g: &mut Graph, a: NodeId, b: NodeId, is_signed: bool) -> (NodeId, NodeId) {
    let w = 2 * g.width(a);
    if is_signed { (g.sext(a, w), g.sext(b, w)) } else { (g.zext(a, w), g.zext(b, w)) }
}

/// The upper half of twice the product, rounded or not. Only twice the least number's square does
/// not fit: it saturates. If either factor is any other constant, every result fits.
pub(super) fn doubled_high(g: &mut Graph, a: NodeId, b: NodeId, rounds: bool) -> NodeId {
    let w = g.width(a);
    let mut p = product(g, a, b, 2 * w);
    if rounds {
        let half = g.constant(2 * w, 1 << (w - 2));
        p = g.add(p, half);
    }
    let least = 1 << (w - 1);
    if [a, b].into_iter().any(|x| g.value(x).is_some_and(|c| c != least)) {
        return g.slice(p, w - 1, w);
    }
    let high = g.ashr(p, u64::from(w) - 1);
    g.sat_s(high, w)
}

/// Twice the product, at twice the width, saturated where it alone does not fit, as in [`doubled_high`].
pub(super) fn doubled_long(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let w = g.width(a);
    let p = product(g, a, b, 2 * w);
    let twice = g.shl(p, 1);
    let least = 1 << (w - 1);
    if [a, b].into_iter().any(|x| g.value(x).is_some_and(|c| c != least)) {
        return twice;
    }
    let square = g.constant(2 * w, 1 << (2 * w - 2));
    let most = g.constant(2 * w, (1 << (2 * w - 1)) - 1);
    let saturates = g.eq(p, square);
    g.select(saturates, most, twice)
}

/// Half of the sum or difference, at the width of the operands.
pub(super) fn halved(g: &mut Graph, a: NodeId, b: NodeId, minus: bool, is_signed: bool) -> NodeId {
    let w = g.width(a);
    let (a, b) = widened(g, a, b, is_signed);
    let r = if minus { g.sub(a, b) } else { g.add(a, b) };
    g.slice(r, 1, w)
}

/// (a + b + 1) / 2 of signed numbers.
pub(super) fn average_signed(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let w = g.width(a);
    let (a, b) = widened(g, a, b, true);
    let sum = g.add(a, b);
    let one = g.constant(2 * w, 1);
    let sum = g.add(sum, one);
    g.slice(sum, 1, w)
}

/// a shifted right, rounded: the sum with half of the last place is not cut to the width.
pub(super) fn rounded(g: &mut Graph, a: NodeId, by: u8, is_signed: bool) -> NodeId {
    let w = g.width(a);
    if w < 64 {
        let wide = if is_signed { g.sext(a, 2 * w) } else { g.zext(a, 2 * w) };
        let half = g.constant(2 * w, 1 << (by - 1));
        let sum = g.add(wide, half);
        return g.slice(sum, by, w);
    }
    let bit = g.slice(a, by - 1, 1);
    let bit = g.zext(bit, w);
    let kind = if is_signed { Shift::Arithmetic } else { Shift::Logical };
    let floor = shift(g, kind, a, by.into());
    g.add(floor, bit)
}

/// a shifted right by 1 to its width, rounded or not.
pub(super) fn down(g: &mut Graph, a: NodeId, by: u8, rounds: bool, is_signed: bool) -> NodeId {
    if rounds {
        return rounded(g, a, by, is_signed);
    }
    shift(g, if is_signed { Shift::Arithmetic } else { Shift::Logical }, a, by.into())
}

/// |a - b|.
pub(super) fn distance(g: &mut Graph, a: NodeId, b: NodeId, is_signed: bool) -> NodeId {
    let most = minimum(g, a, b, true, is_signed);
    let least = minimum(g, a, b, false, is_signed);
    g.sub(most, least)
}

/// A comparison over the whole lane.
pub(super) fn spread(
    g: &mut Graph,
    a: NodeId,
    b: NodeId,
    test: fn(&mut Graph, NodeId, NodeId) -> NodeId,
) -> NodeId {
    let w = g.width(a);
    let bit = test(g, a, b);
    g.sext(bit, w)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_long_products_saturate_once() {
        for w in [16u8, 32] {
            let least = -(1i64 << (w - 1));
            let corners = [least, least + 1, -9133, -1, 0, 1, 2, 4591, -least - 2, -least - 1];
            for (a, b) in corners.iter().flat_map(|&a| corners.map(|b| (a, b))) {
                let most = (1i128 << (2 * w - 1)) - 1;
                let want = (2 * i128::from(a) * i128::from(b)).min(most) as u64;
                let mask = u64::MAX >> (64 - 2 * w);
                let mut g = Graph::default();
                let [x, y] = [a, b].map(|v| g.constant(w, v as u64));
                let r = doubled_long(&mut g, x, y);
                assert_eq!(g.value(r), Some(want & mask), "{a}, {b}");
            }
        }
    }

    #[test]
    fn doubled_high_products_saturate_once() {
        let corners = [-32768i64, -32767, -9133, -1, 0, 1, 2, 4591, 32766, 32767];
        for rounds in [false, true] {
            for (a, b) in corners.iter().flat_map(|&a| corners.map(|b| (a, b))) {
                let half = if rounds { 1 << 14 } else { 0 };
                let want = ((a * b + half) >> 15).clamp(-32768, 32767);
                let mut g = Graph::default();
                let [x, y] = [a, b].map(|v| g.constant(16, v as u64));
                let r = doubled_high(&mut g, x, y, rounds);
                assert_eq!(g.value(r), Some(want as u64 & 0xffff), "{a}, {b}, {rounds}");
            }
        }
    }
}
