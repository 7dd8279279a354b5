//! Functions of one variable: interned expressions over a single integer X, evaluated by
//! enumeration.
//!
//! The structure does not name the variable, so that the same reduction applied in a thousand
//! lanes is one function; what differs is the interval.

use crate::form::centre;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Index of an interned function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunId(pub u32);

/// What a function node computes. Words as in [`ringforge_machine::graph::Op`]; the arguments of
/// [`FunOp::Lin`] count as signed integers of their width.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FunOp {
    /// `k + x·X + Σ c_i·arg_i` modulo 2^width; `c` runs parallel to the arguments.
    Lin {
        /// Constant.
        k: i64,
        /// Coefficient of X.
        x: i64,
        /// Coefficients of the arguments.
        c: SmallVec<[i64; 3]>,
    },
    /// A constant (signed reading).
    Const(i64),
    /// Bits from `lo`.
    Slice(u8),
    /// Side by side, lowest first.
    Concat,
    /// Sign extension.
    Sext,
    /// Zero extension.
    Zext,
    /// Product.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Equality, width 1.
    Eq,
    /// Unsigned less-than, width 1.
    Ult,
    /// Signed less-than, width 1.
    Slt,
    /// Choice by a bit.
    Select,
    /// Signed saturation.
    SatS,
    /// Unsigned saturation of a signed argument.
    SatU,
}

/// A function node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fun {
    /// Bits of the result, 1 to 64.
    pub width: u8,
    /// What is computed.
    pub op: FunOp,
    /// Arguments, with smaller ids.
    pub args: SmallVec<[FunId; 3]>,
}

/// The arena of functions.
#[derive(Default)]
pub struct Funs {
    nodes: Vec<Fun>,
    index: FxHashMap<Fun, FunId>,
    /// Nodes below each function, itself included, in increasing order; made on demand.
    orders: FxHashMap<FunId, std::sync::Arc<[FunId]>>,
}

/// Operations of a function at most.
pub const OPERATIONS: usize = 4096;

/// Points per block of enumeration.
const BLOCK: usize = 512;

impl Funs {
    /// Interns a node.
    pub fn intern(&mut self, fun: Fun) -> FunId {
        if let Some(&id) = self.index.get(&fun) {
            return id;
        }
        let id = FunId(self.nodes.len() as u32);
        self.index.insert(fun.clone(), id);
        self.nodes.push(fun);
        id
    }

    /// The node behind an id.
    pub fn get(&self, id: FunId) -> &Fun {
        &self.nodes[id.0 as usize]
    }

    /// Whether there is no function.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Number of distinct nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// `k + x·X + Σ c·f` modulo 2^width, terms in any order.
    pub fn lin(&mut self, width: u8, k: i64, x: i64, terms: &[(FunId, i64)]) -> FunId {
        let mut terms: SmallVec<[(FunId, i64); 8]> = terms.iter().copied().collect();
        terms.sort_unstable_by_key(|t| t.0);
        let mut merged: SmallVec<[(FunId, i64); 8]> = SmallVec::new();
        for (f, c) in terms {
            match merged.last_mut() {
                Some(last) if last.0 == f => last.1 = last.1.wrapping_add(c),
                _ => merged.push((f, c)),
            }
        }
        for t in &mut merged {
            t.1 = centre(t.1, width);
        }
        merged.retain(|t| t.1 != 0);
        let (k, x) = (centre(k, width), centre(x, width));
        if x == 0 && merged.is_empty() {
            return self.constant(width, k);
        }
        if let [(f, 1)] = merged[..]
            && k == 0
            && x == 0
            && self.get(f).width == width
        {
            return f;
        }
        let args = merged.iter().map(|t| t.0).collect();
        let c = merged.iter().map(|t| t.1).collect();
        self.intern(Fun { width, op: FunOp::Lin { k, x, c }, args })
    }

    /// A constant function.
    pub fn constant(&mut self, width: u8, value: i64) -> FunId {
        let op = FunOp::Const(centre(value, width));
        self.intern(Fun { width, op, args: SmallVec::new() })
    }

    /// `outer` with X replaced by the (signed) value of `inner`.
    pub fn compose(&mut self, outer: FunId, inner: FunId) -> FunId {
        let order = self.order(outer);
        let mut map: FxHashMap<FunId, FunId> = FxHashMap::default();
        for &id in order.iter() {
            let node = self.get(id).clone();
            let args: SmallVec<[FunId; 3]> = node.args.iter().map(|a| map[a]).collect();
            let new = match node.op {
                FunOp::Lin { k, x, c } => {
                    let mut terms: Vec<(FunId, i64)> = args.into_iter().zip(c).collect();
                    if x != 0 {
                        terms.push((inner, x));
                    }
                    self.lin(node.width, k, 0, &terms)
                }
                op => self.intern(Fun { width: node.width, op, args }),
            };
            map.insert(id, new);
        }
        map[&outer]
    }

    fn order(&mut self, root: FunId) -> std::sync::Arc<[FunId]> {
        if let Some(o) = self.orders.get(&root) {
            return o.clone();
        }
        let mut seen: Vec<FunId> = Vec::new();
        let mut stack = vec![root];
        let mut mark = rustc_hash::FxHashSet::default();
        while let Some(f) = stack.pop() {
            if mark.insert(f) {
                seen.push(f);
                stack.extend_from_slice(&self.get(f).args);
            }
        }
        seen.sort_unstable();
        let o: std::sync::Arc<[FunId]> = seen.into();
        // Chains of long functions, which only a hostile certificate has, are not kept.
        if o.len() <= OPERATIONS {
            self.orders.insert(root, o.clone());
        }
        o
    }

    /// Number of nodes that one evaluation visits; one more than [`OPERATIONS`] if it is any number beyond.
    pub fn size(&self, root: FunId) -> usize {
        if let Some(o) = self.orders.get(&root) {
            return o.len();
        }
        let mut seen = rustc_hash::FxHashSet::from_iter([root]);
        let mut stack = vec![root];
        while let Some(f) = stack.pop()
            && seen.len() <= OPERATIONS
        {
            stack.extend(self.get(f).args.iter().copied().filter(|a| seen.insert(*a)));
        }
        seen.len().min(OPERATIONS + 1)
    }

    /// The nodes below a function in order, itself last, with the positions of their arguments.
    pub fn listed(&mut self, root: FunId) -> Vec<(Fun, SmallVec<[usize; 4]>)> {
        let order = self.order(root);
        let slot: FxHashMap<FunId, usize> =
            order.iter().enumerate().map(|(i, f)| (*f, i)).collect();
        let of = |f: &FunId| {
            let node = self.get(*f).clone();
            let args = node.args.iter().map(|a| slot[a]).collect();
            (node, args)
        };
        order.iter().map(of).collect()
    }

    /// Calls `each(first x, signed values)` for consecutive blocks of `[lo, hi]` until it returns
    /// false.
    pub fn enumerate(
        &mut self,
        root: FunId,
        lo: i64,
        hi: i64,
        mut each: impl FnMut(i64, &[i64]) -> bool,
    ) {
        let order = self.order(root);
        let slot: FxHashMap<FunId, usize> =
            order.iter().enumerate().map(|(i, f)| (*f, i)).collect();
        let args: Vec<SmallVec<[usize; 4]>> =
            order.iter().map(|f| self.get(*f).args.iter().map(|a| slot[a]).collect()).collect();
        // Single points are asked for often: they take no more memory than they need.
        let block = (hi.wrapping_sub(lo) as u64).min(BLOCK as u64 - 1) as usize + 1;
        let mut buffer = vec![0i64; order.len() * block];
        let mut at = lo;
        loop {
            let left = hi.wrapping_sub(at) as u64;
            let n = left.min(block as u64 - 1) as usize + 1;
            for (i, f) in order.iter().enumerate() {
                let (before, rest) = buffer.split_at_mut(i * block);
                let node = self.get(*f);
                let arg = |j: usize| &before[args[i][j] * block..][..n];
                let width = |j: usize| self.get(node.args[j]).width;
                apply(node, at, &arg, &width, &mut rest[..n]);
            }
            if !each(at, &buffer[(order.len() - 1) * block..][..n]) {
                return;
            }
            if left < n as u64 {
                return;
            }
            at += n as i64;
        }
    }

    /// The value at one point.
    pub fn at(&mut self, root: FunId, x: i64) -> i64 {
        let mut value = 0;
        self.enumerate(root, x, x, |_, v| {
            value = v[0];
            false
        });
        value
    }
}

#[inline]
fn unsigned(v: i64, width: u8) -> u64 {
    v as u64 & (u64::MAX >> (64 - width))
}

/// One node over a block; all values are signed readings of their width.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn apply<'a>(
    node: &Fun,
    at: i64,
    arg: &dyn Fn(usize) -> &'a [i64],
    width: &dyn Fn(usize) -> u8,
    out: &mut [i64],
) {
    let w = node.width;
    let shift = 64 - u32::from(w);
    let sign = |v: i64| (v << shift) >> shift;
    // A macro, not a closure: the compiler makes a loop of its own for every operation.
    macro_rules! two {
        (|$a:ident, $b:ident| $value:expr) => {
            for ((o, &$a), &$b) in out.iter_mut().zip(arg(0)).zip(arg(1)) {
                *o = $value;
            }
        };
    }
    match &node.op {
        FunOp::Lin { k, x, c } => {
            let start = k.wrapping_add(x.wrapping_mul(at));
            for (i, o) in out.iter_mut().enumerate() {
                *o = start.wrapping_add(x.wrapping_mul(i as i64));
            }
            for (j, c) in c.iter().enumerate() {
                for (o, a) in out.iter_mut().zip(arg(j)) {
                    *o = o.wrapping_add(c.wrapping_mul(*a));
                }
            }
            out.iter_mut().for_each(|o| *o = sign(*o));
        }
        FunOp::Const(c) => out.fill(*c),
        FunOp::Slice(lo) => {
            let from = width(0);
            let m = u64::MAX >> (64 - from);
            for (o, a) in out.iter_mut().zip(arg(0)) {
                *o = sign(((*a as u64 & m) >> lo) as i64);
            }
        }
        FunOp::Concat => {
            out.fill(0);
            let mut shift = 0;
            for j in 0..node.args.len() {
                let from = width(j);
                for (o, a) in out.iter_mut().zip(arg(j)) {
                    *o |= (unsigned(*a, from) << shift) as i64;
                }
                shift += from;
            }
            out.iter_mut().for_each(|o| *o = sign(*o));
        }
        FunOp::Sext => out.copy_from_slice(arg(0)),
        FunOp::Zext => {
            let m = u64::MAX >> (64 - width(0));
            for (o, a) in out.iter_mut().zip(arg(0)) {
                *o = (*a as u64 & m) as i64;
            }
        }
        FunOp::Mul => two!(|a, b| sign(a.wrapping_mul(b))),
        FunOp::And => two!(|a, b| a & b),
        FunOp::Or => two!(|a, b| a | b),
        FunOp::Xor => two!(|a, b| a ^ b),
        FunOp::Eq => two!(|a, b| i64::from(a == b).wrapping_neg()),
        FunOp::Ult => {
            let from = width(0);
            two!(|a, b| i64::from(unsigned(a, from) < unsigned(b, from)).wrapping_neg())
        }
        FunOp::Slt => two!(|a, b| i64::from(a < b).wrapping_neg()),
        FunOp::Select => {
            for (i, o) in out.iter_mut().enumerate() {
                *o = if arg(0)[i] != 0 { arg(1)[i] } else { arg(2)[i] };
            }
        }
        FunOp::SatS => {
            let top = i64::MAX >> shift;
            for (o, a) in out.iter_mut().zip(arg(0)) {
                *o = (*a).clamp(-1 - top, top);
            }
        }
        FunOp::SatU => {
            let top = (u64::MAX >> shift) as i128;
            for (o, a) in out.iter_mut().zip(arg(0)) {
                *o = sign(i128::from(*a).clamp(0, top) as i64);
            }
        }
    }
}

#[cfg(test)]
#[path = "fun_tests.rs"]
mod tests;
