//! Operations on parts of words: concatenation and bitwise logic as linear forms where they are.

use crate::funs::centre;
use crate::uses::Use;
use crate::values::Form;
use crate::walk::Walk;
use ringforge_kernel::certificate::Rule;
use ringforge_kernel::claim::Witness;
use ringforge_machine::graph::{NodeId, Op};
use std::sync::Arc;

impl Walk<'_> {
    pub(crate) fn concat(&mut self, args: &[NodeId], w: u8) -> Arc<Form> {
        // From the top down, joining what are the halves of one value.
        let mut upper = self.get(args[args.len() - 1]);
        let mut bits = self.width(args[args.len() - 1]);
        let mut upper_node = Some(args[args.len() - 1]);
        for &low in args[..args.len() - 1].iter().rev() {
            let lw = self.width(low);
            let form = self.get(low);
            let whole = upper_node.and_then(|u| match self.graph.node(u).op {
                Op::Slice { lo } if lo == lw => Some(self.graph.node(u).args[0]),
                _ => None,
            });
            let joined = whole.and_then(|n| {
                let n = self.forms.get(&n)?.clone();
                (self.truncate(&n, lw) == *form).then(|| self.truncate(&n, lw + bits))
            });
            upper = match joined {
                Some(form) => {
                    self.cut.record.rules.push(Rule::Whole);
                    Arc::new(form)
                }
                None => self.join(&form, lw, &upper, bits),
            };
            bits += lw;
            upper_node = None;
        }
        debug_assert_eq!(bits, w);
        upper
    }

    fn join(&mut self, low: &Arc<Form>, lw: u8, high: &Arc<Form>, hw: u8) -> Arc<Form> {
        let w = lw + hw;
        let shifted = high.scaled(1i64 << lw, w);
        if low.t.is_empty() {
            let k = low.k & ((1i64 << lw) - 1);
            return Arc::new(shifted.plus(k, w));
        }
        if !high.t.is_empty() {
            let (a, b) = (self.cut.use_form(low, lw), self.cut.use_form(high, hw));
            if let (Use::One(x, f), Use::One(y, g)) = (a, b)
                && x == y
                && (!self.cut.world.wide || self.cut.enumerable(x))
            {
                self.cut.by_function(Some(x), &[(Some(x), f), (Some(x), g)]);
                let f = self.cut.op(w, Op::Concat, &[f, g]);
                return self.function(x, f);
            }
        }
        let low = self.extend(low, lw, w, false);
        Arc::new(Form::combine(&low, 1, &shifted, 1, w))
    }

    pub(crate) fn and(&mut self, a: NodeId, b: NodeId, w: u8) -> Arc<Form> {
        let (fa, fb) = (self.get(a), self.get(b));
        for (of, mask, y) in [(0, a, &fb), (1, b, &fa)] {
            if let Some(form) = self.under_sign(of, mask, y) {
                return Arc::new(form);
            }
        }
        for (of, (x, c)) in [(&fa, &fb), (&fb, &fa)].into_iter().enumerate() {
            if !c.t.is_empty() {
                continue;
            }
            let m = c.k as u64 & (u64::MAX >> (64 - w));
            if m == 0 {
                return Arc::new(Form::default());
            }
            if self.cut.world.has_floor(x)
                && self.cut.read(x).is_ok_and(|r| r.lo >= -1 && r.hi <= 0)
            {
                // All bits are the same.
                self.cut.by_sign(of as u8, x);
                return Arc::new(x.scaled(c.k.wrapping_neg(), w));
            }
            let (from, ones) = (m.trailing_zeros(), m.count_ones());
            if m >> from == (u64::MAX >> (64 - ones)) && ones < u32::from(w) {
                // A run of ones: the bits [from, from + ones) in place.
                let (from, ones) = (from as u8, ones as u8);
                let bits = if from == 0 {
                    Arc::new(self.truncate(x, ones))
                } else {
                    self.slice(x, w, from, ones)
                };
                let out = if from + ones == w { bits } else { self.extend(&bits, ones, w, false) };
                return Arc::new(out.scaled(1i64 << from, w));
            }
        }
        self.apply(Op::And, &[a, b], w)
    }

    pub(crate) fn or(&mut self, op: &Op, a: NodeId, b: NodeId, w: u8) -> Arc<Form> {
        let (fa, fb) = (self.get(a), self.get(b));
        let or = *op == Op::Or;
        for (x, y, node) in [(&fa, &fb, b), (&fb, &fa, a)] {
            if y.t.is_empty() && y.k == 0 {
                return x.clone();
            }
            if !or && y.t.is_empty() {
                if y.k == -1 {
                    return Arc::new(x.scaled(-1, w).plus(-1, w));
                }
                if y.k == centre(1i64 << (w - 1), w) {
                    return Arc::new((**x).clone().plus(y.k, w));
                }
            }
            // Disjoint bits add.
            let twos = x.t.iter().map(|t| t.1).chain([x.k]).map(|c| c.trailing_zeros()).min();
            let Some(twos) = twos.filter(|t| *t > 0) else { continue };
            // A zero extension has few bits whatever is known of its value.
            let y_node = self.graph.node(node);
            let short = y_node.op == Op::Zext && u32::from(self.width(y_node.args[0])) <= twos;
            let small = |r: crate::reading::Reading| r.lo >= 0 && r.hi < 1i128 << twos.min(62);
            if short || self.cut.read(y).is_ok_and(small) {
                if !short && let Some(form) = self.cut.made_sum(y) {
                    let of = u8::from(node == b);
                    self.cut.record.rules.push(Rule::Sign { of, form, by: Witness::PLAIN });
                }
                return Arc::new(Form::combine(x, 1, y, 1, w));
            }
        }
        self.apply(if or { Op::Or } else { Op::Xor }, &[a, b], w)
    }
}
