//! How many low bits of each node the outputs depend on, as far as words are followed.

use super::words::mask;
use ringforge_machine::graph::{Graph, NodeId, Op};

/// Demands of nodes below some roots.
pub(super) struct Demand {
    /// Low bits by node; 0 for nodes that are not followed.
    pub bits: Vec<u8>,
    /// How often a node is an argument of one that is followed.
    pub uses: Vec<u32>,
    /// Whether a node is a factor of a product of two words that vary.
    pub factor: Vec<bool>,
}

impl Demand {
    /// All bits of the roots are needed.
    pub fn new(graph: &Graph, roots: &[NodeId]) -> Demand {
        let size = roots.iter().map(|r| r.0 as usize + 1).max().unwrap_or(0);
        let (bits, uses, factor) = (vec![0; size], vec![0; size], vec![false; size]);
        let mut this = Demand { bits, uses, factor };
        for &root in roots {
            this.ask(root, graph.node(root).width);
        }
        for id in (0..size).rev() {
            if this.bits[id] > 0 {
                this.below(graph, id);
            }
        }
        this
    }

    /// At least one bit: the kernel visits everything, and needs the rules for all that it finds.
    fn ask(&mut self, id: NodeId, bits: u8) {
        let slot = &mut self.bits[id.0 as usize];
        *slot = bits.max(*slot).max(1);
        self.uses[id.0 as usize] += 1;
    }

    fn below(&mut self, graph: &Graph, id: usize) {
        let (node, need) = (graph.node(NodeId(id as u32)), self.bits[id]);
        let (w, args) = (node.width, &node.args[..]);
        let constant = |a: NodeId| match graph.node(a).op {
            Op::Const(c) => Some(c),
            _ => None,
        };
        let width = |a: NodeId| graph.node(a).width;
        match node.op {
            Op::Add | Op::Sub | Op::Or | Op::Xor => {
                args.iter().for_each(|&a| self.ask(a, need));
            }
            Op::Mul => {
                for (x, y) in [(args[0], args[1]), (args[1], args[0])] {
                    let twos = constant(y).map(|c| c.trailing_zeros().min(64) as u8);
                    self.ask(x, need.saturating_sub(twos.unwrap_or(0)));
                    self.factor[x.0 as usize] |= twos.is_none() && constant(x).is_none();
                }
            }
            Op::Shl(k) => self.ask(args[0], need.saturating_sub(k)),
            Op::Slice { lo } => self.ask(args[0], lo + need),
            // What is shifted in is of all bits.
            Op::Lshr(k) | Op::Ashr(k) => {
                self.ask(args[0], if need <= w - k { need + k } else { w })
            }
            Op::Sext | Op::Zext => self.ask(args[0], need.min(width(args[0]))),
            Op::Concat => {
                let low = width(args[0]);
                self.ask(args[0], need.min(low));
                if let (&[_, high], Some(_)) = (args, constant(args[0])) {
                    self.ask(high, need.saturating_sub(low));
                }
            }
            Op::And => {
                if let Some((x, from, ones)) = mask(graph, node) {
                    self.ask(x, need.min(from + ones));
                }
            }
            Op::SatS | Op::SatU => self.ask(args[0], width(args[0])),
            Op::Select => args[1..].iter().for_each(|&a| self.ask(a, need)),
            Op::Eq | Op::Ult | Op::Slt => {}
            Op::Const(_) | Op::Input { .. } | Op::Address { .. } => {}
        }
    }
}
