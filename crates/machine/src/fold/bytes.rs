//! From nodes to bytes and back.

use crate::byte::Byte;
use crate::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;

/// Byte `k` of a node whose width is a whole number of bytes, followed down through byte moves.
pub fn byte_of(graph: &Graph, mut id: NodeId, mut k: u8) -> Byte {
    loop {
        let node = graph.node(id);
        match node.op {
            Op::Const(v) => return Byte::Const((v >> (8 * k)) as u8),
            Op::Slice { lo }
                if lo.is_multiple_of(8) && graph.width(node.args[0]).is_multiple_of(8) =>
            {
                k += lo / 8;
                id = node.args[0];
            }
            Op::Concat => {
                let mut at = 0;
                let mut inside = None;
                for &p in &node.args {
                    let w = graph.width(p);
                    if !w.is_multiple_of(8) {
                        break;
                    }
                    if k < at + w / 8 {
                        inside = Some((p, k - at));
                        break;
                    }
                    at += w / 8;
                }
                match inside {
                    Some((p, j)) => (id, k) = (p, j),
                    None => return Byte::Node(id, k),
                }
            }
            Op::Zext => {
                let x = node.args[0];
                let w = graph.width(x);
                if 8 * k >= w {
                    return Byte::Const(0);
                }
                if !w.is_multiple_of(8) {
                    return Byte::Node(id, k);
                }
                id = x;
            }
            // The low bytes of a sign extension are the value itself.
            Op::Sext => {
                let x = node.args[0];
                let w = graph.width(x);
                if w.is_multiple_of(8) && k < w / 8 {
                    id = x;
                } else {
                    return Byte::Node(id, k);
                }
            }
            _ => return Byte::Node(id, k),
        }
    }
}

/// Writes the bytes of a node, lowest first.
pub(crate) fn scatter(graph: &Graph, id: NodeId, out: &mut [Byte]) {
    debug_assert_eq!(usize::from(graph.width(id)), 8 * out.len());
    for (k, b) in out.iter_mut().enumerate() {
        *b = byte_of(graph, id, k as u8);
    }
}

/// Whether the bytes are consecutive ones of one node, and which node and first byte.
pub fn is_run(bytes: &[Byte]) -> Option<(NodeId, u8)> {
    let &Byte::Node(id, first) = bytes.first()? else { return None };
    for (j, b) in bytes.iter().enumerate() {
        if *b != Byte::Node(id, first + j as u8) {
            return None;
        }
    }
    Some((id, first))
}

/// The bytes (1 to 8, lowest first) as one node, or `None` if one of them is undefined.
pub fn gather(graph: &mut Graph, bytes: &[Byte]) -> Option<NodeId> {
    let width = 8 * bytes.len() as u8;
    if let Some((id, first)) = is_run(bytes) {
        return Some(graph.slice(id, 8 * first, width));
    }
    // The low bytes of an extension are its argument's, so a whole one is no run.
    if let Some(&Byte::Node(id, last)) = bytes.last()
        && usize::from(last) + 1 == bytes.len()
        && graph.width(id) == width
        && bytes.iter().enumerate().all(|(k, b)| *b == byte_of(graph, id, k as u8))
    {
        return Some(id);
    }
    let mut parts: SmallVec<[NodeId; 8]> = SmallVec::new();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            Byte::Undefined | Byte::Caller(_) => return None,
            Byte::Const(_) => {
                let mut value = 0u64;
                let start = i;
                while let Some(&Byte::Const(b)) = bytes.get(i) {
                    value |= u64::from(b) << (8 * (i - start));
                    i += 1;
                }
                parts.push(graph.constant(8 * (i - start) as u8, value));
            }
            Byte::Node(id, first) => {
                let start = i;
                while bytes.get(i) == Some(&Byte::Node(id, first + (i - start) as u8)) {
                    i += 1;
                }
                parts.push(graph.slice(id, 8 * first, 8 * (i - start) as u8));
            }
        }
    }
    Some(graph.concat(&parts))
}
