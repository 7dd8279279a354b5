//! What a blind graph keeps: constants, addresses, and which bytes of a value are neither.

use crate::byte::Byte;
use crate::graph::{Graph, NodeId, Op};

impl Graph {
    /// What an operation that has no terms makes of unknowns: another.
    pub(crate) fn mixed(&mut self, args: &[NodeId], width: u8) -> NodeId {
        debug_assert!(args.iter().any(|&a| self.is_vague(a)));
        self.unknown(width)
    }

    /// Whether nothing at all is known of any of the bytes (but that they are defined).
    pub(crate) fn knows_nothing(&self, bytes: &[Byte]) -> bool {
        // Most are of one node, which is looked at once.
        let mut last = None;
        let mut unknown = |id: NodeId| {
            let known = last == Some(id) || self.is_unknown(id);
            last = Some(id);
            known
        };
        self.is_blind() && bytes.iter().all(|b| matches!(b, Byte::Node(id, _) if unknown(*id)))
    }

    /// What becomes of a node of `op` and `args` in a blind graph, if it is not to be made.
    ///
    /// The parts of a concatenation stay, because compilers use the known half of a register whose
    /// other half is unknown. The known low end of sums and products stays too, because it depends
    /// only on the low ends of the operands. Everything else that uses an unknown is unknown.
    pub(super) fn forget(&mut self, width: u8, op: &Op, args: &[NodeId]) -> Option<NodeId> {
        if !matches!(op, Op::Input { .. }) && !args.iter().any(|&a| self.is_vague(a)) {
            return None;
        }
        match *op {
            Op::Concat | Op::Zext => return None,
            Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor => {
                let low = args.iter().map(|&a| self.known_low(a)).min().unwrap_or(0);
                if low > 0 {
                    let parts: Vec<NodeId> = args.iter().map(|&a| self.slice(a, 0, low)).collect();
                    let known = self.rebuild(low, op.clone(), &parts);
                    let rest = self.unknown(width - low);
                    return Some(self.concat(&[known, rest]));
                }
            }
            _ => {}
        }
        Some(self.unknown(width))
    }

    /// Low bits that depend on no unknown.
    fn known_low(&self, id: NodeId) -> u8 {
        let node = self.node(id);
        if !self.is_vague(id) {
            return node.width;
        }
        match node.op {
            Op::Concat => {
                let known = node.args.iter().take_while(|&&p| !self.is_vague(p));
                known.map(|&p| self.width(p)).sum()
            }
            _ => 0,
        }
    }
}
