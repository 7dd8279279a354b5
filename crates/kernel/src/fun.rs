//! Functions of one variable: interned expressions over a single integer X, evaluated by
//! enumeration.
//!
//! The structure does not name the variable, so that the same reduction applied in a thousand
//! lanes is one function; what differs is the interval.

use crate::form::centre;
use ringforge_machine::graph::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Index of an interned function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunId(pub u32);

/// What a function is, as an integer of the integers that its arguments are.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FunOp {
    /// `k + x·X + Σ c_i·arg_i`.
    Lin {
        /// Constant.
        k: i64,
        /// Coefficient of X.
        x: i64,
        /// Coefficients of the arguments, one for each.
        c: SmallVec<[i64; 4]>,
    },
    /// The quotient by a power of two below 2^64, rounded down.
    Floor(u8),
    /// Product.
    Mul,
    /// Bitwise and.
    And,
    /// -1 where the first is less, else 0.
    Less,
    /// The second where the first is not 0, else the third.
    Select,
}

/// A function: what its operation gives modulo 2^width, read as signed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fun {
    /// Bits of the result, 1 to 64.
    pub width: u8,
    /// What is computed.
    pub op: FunOp,
    /// Arguments, with smaller ids.
    pub args: SmallVec<[FunId; 4]>,
}

impl Fun {
    /// What one evaluation costs beyond that of the arguments.
    fn cost(&self) -> usize {
        self.args.len().max(1)
    }
}

/// The arena of functions.
#[derive(Default)]
pub struct Funs {
    nodes: Vec<Fun>,
    index: FxHashMap<Fun, FunId>,
    /// What one evaluation of them all costs.
    cost: usize,
}

/// What one evaluation of a function costs at most: an argument of an operation counts one, and an operation without
/// arguments as well.
pub const LONGEST: usize = 8192;

/// Points per block of enumeration.
const BLOCK: usize = 512;
/// Values of a block at most, of all its operations together.
const VALUES: usize = 1 << 21;

impl Funs {
    /// Interns a function, sums in normal form.
    pub fn intern(&mut self, fun: Fun) -> FunId {
        match fun.op {
            FunOp::Lin { k, x, c } => {
                let terms: Vec<(FunId, i64)> = fun.args.into_iter().zip(c).collect();
                self.lin(fun.width, k, x, &terms)
            }
            _ => self.node(fun),
        }
    }

    fn node(&mut self, fun: Fun) -> FunId {
        if let Some(&id) = self.index.get(&fun) {
            return id;
        }
        let id = FunId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 functions"));
        self.cost += fun.cost();
        self.index.insert(fun.clone(), id);
        self.nodes.push(fun);
        id
    }

    /// Interns a function over others, if it has the arguments and numbers that it must have.
    ///
    /// # Errors
    /// If it has not.
    pub fn checked(&mut self, fun: Fun) -> Result<FunId, String> {
        let ok = match &fun.op {
            FunOp::Lin { c, .. } => fun.args.len() == c.len(),
            FunOp::Floor(lo) => fun.args.len() == 1 && *lo < 64,
            FunOp::Mul | FunOp::And | FunOp::Less => fun.args.len() == 2,
            FunOp::Select => fun.args.len() == 3,
        };
        if !(1..=64).contains(&fun.width) || !ok {
            return Err(format!("a malformed function {fun:?}"));
        }
        Ok(self.intern(fun))
    }

    /// The node behind an id.
    pub fn get(&self, id: FunId) -> &Fun {
        &self.nodes[id.0 as usize]
    }

    /// Number of distinct nodes.
    pub fn count(&self) -> usize {
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
        // Of one bit, 1 is -1.
        if let [(f, c)] = merged[..]
            && c == centre(1, width)
            && k == 0
            && x == 0
            && self.get(f).width == width
        {
            return f;
        }
        let args = merged.iter().map(|t| t.0).collect();
        let c = merged.iter().map(|t| t.1).collect();
        self.node(Fun { width, op: FunOp::Lin { k, x, c }, args })
    }

    /// A constant function.
    pub fn constant(&mut self, width: u8, value: i64) -> FunId {
        self.lin(width, value, 0, &[])
    }

    /// The number that a function is by its structure.
    pub fn number(&self, f: FunId) -> Option<i64> {
        match self.get(f) {
            Fun { op: FunOp::Lin { k, x: 0, .. }, args, .. } if args.is_empty() => Some(*k),
            _ => None,
        }
    }

    /// An operation of the graph whose arguments, words of these functions' widths, are these functions. `None` of one
    /// without arguments.
    pub fn word(&mut self, w: u8, op: &Op, args: &[FunId]) -> Option<FunId> {
        let &a = args.first()?;
        let from = self.get(a).width;
        let node = |this: &mut Funs, width, op, args: &[FunId]| {
            this.node(Fun { width, op, args: args.iter().copied().collect() })
        };
        Some(match *op {
            Op::Const(_) | Op::Input { .. } | Op::Address { .. } => return None,
            Op::Add => self.lin(w, 0, 0, &[(a, 1), (args[1], 1)]),
            Op::Sub => self.lin(w, 0, 0, &[(a, 1), (args[1], -1)]),
            Op::Shl(k) => self.lin(w, 0, 0, &[(a, 1i64.wrapping_shl(k.into()))]),
            Op::Sext | Op::Slice { lo: 0 } => self.lin(w, 0, 0, &[(a, 1)]),
            Op::Slice { lo } => node(self, w, FunOp::Floor(lo), args),
            // A part, and its extension.
            Op::Lshr(k) | Op::Ashr(k) => {
                let part = self.word(w - k, &Op::Slice { lo: k }, args)?;
                let extension = if matches!(op, Op::Ashr(_)) { Op::Sext } else { Op::Zext };
                self.word(w, &extension, &[part])?
            }
            // x + 2^bits·[x < 0] each, and nothing beyond the highest bit.
            Op::Zext | Op::Concat => {
                let (mut terms, mut at) = (Vec::new(), 0);
                for &arg in args {
                    let from = self.get(arg).width;
                    terms.push((arg, 1i64 << at));
                    at += from;
                    if at < w {
                        let sign = node(self, 1, FunOp::Floor(from - 1), &[arg]);
                        terms.push((sign, (1i64 << at).wrapping_neg()));
                    }
                }
                self.lin(w, 0, 0, &terms)
            }
            Op::Mul => node(self, w, FunOp::Mul, args),
            Op::And => node(self, w, FunOp::And, args),
            // The sum without the bits that both have, once and twice.
            Op::Or | Op::Xor => {
                let both = node(self, w, FunOp::And, args);
                let c = if *op == Op::Or { -1 } else { -2 };
                self.lin(w, 0, 0, &[(a, 1), (args[1], 1), (both, c)])
            }
            // Neither is less than the other. Of one bit, -1 is 1.
            Op::Eq => {
                let less = [[a, args[1]], [args[1], a]].map(|x| node(self, 1, FunOp::Less, &x));
                self.lin(1, 1, 0, &less.map(|f| (f, 1)))
            }
            Op::Slt => node(self, 1, FunOp::Less, args),
            // Half a turn on, unsigned words are in the order of signed ones.
            Op::Ult => {
                let half = 1i64.wrapping_shl((from - 1).into());
                let turned = [a, args[1]].map(|x| self.lin(from, half, 0, &[(x, 1)]));
                node(self, 1, FunOp::Less, &turned)
            }
            Op::Select => node(self, w, FunOp::Select, args),
            // The least and the greatest integer that the word holds, and 64 bits do.
            Op::SatS | Op::SatU => {
                let top = i64::MAX >> (64 - w);
                let signed = (-1 - top, top);
                let unsigned = (0, top.saturating_mul(2).saturating_add(1));
                let (least, most) = if *op == Op::SatS { signed } else { unsigned };
                let [least, most] = [least, most].map(|end| self.constant(64, end));
                let below = node(self, 1, FunOp::Less, &[a, least]);
                let above = node(self, 1, FunOp::Less, &[most, a]);
                let a = node(self, 64, FunOp::Select, &[below, least, a]);
                let a = node(self, 64, FunOp::Select, &[above, most, a]);
                self.lin(w, 0, 0, &[(a, 1)])
            }
        })
    }

    /// `outer` with X replaced by the (signed) value of `inner`.
    pub fn compose(&mut self, outer: FunId, inner: FunId) -> FunId {
        let mut made: Vec<FunId> = Vec::new();
        for mut fun in self.program(outer) {
            fun.args.iter_mut().for_each(|a| *a = made[a.0 as usize]);
            if let FunOp::Lin { x, c, .. } = &mut fun.op {
                // The coefficient of X is that of what it is replaced by.
                fun.args.push(inner);
                c.push(std::mem::take(x));
            }
            made.push(self.intern(fun));
        }
        made[made.len() - 1]
    }

    /// The functions below one, itself first, and what one evaluation of them costs; some of them where that is more than
    /// `most`.
    fn below(&self, root: FunId, most: usize) -> (Vec<FunId>, usize) {
        let (mut all, mut seen) = (vec![root], FxHashSet::from_iter([root]));
        let (mut next, mut cost) = (0, 0);
        while next < all.len() {
            let fun = self.get(all[next]);
            cost += fun.cost();
            if cost > most {
                break;
            }
            all.extend(fun.args.iter().filter(|a| seen.insert(**a)));
            next += 1;
        }
        (all, cost)
    }

    /// What one evaluation costs; one more than [`LONGEST`] if it is any number beyond.
    pub fn cost(&self, root: FunId) -> usize {
        self.below(root, LONGEST).1.min(LONGEST + 1)
    }

    /// What one evaluation of all functions costs.
    pub fn cost_of_all(&self) -> usize {
        self.cost
    }

    /// The functions that an evaluation computes, each over earlier ones by their places here. The last one is `root`.
    pub(crate) fn program(&self, root: FunId) -> Vec<Fun> {
        let (mut order, _) = self.below(root, usize::MAX);
        order.sort_unstable();
        let place = |a: &FunId| FunId(order.partition_point(|f| f < a) as u32);
        let at = |f: &FunId| {
            let fun = self.get(*f).clone();
            Fun { args: fun.args.iter().map(place).collect(), ..fun }
        };
        order.iter().map(at).collect()
    }

    /// Calls `each(first x, signed values)` for consecutive blocks of `[lo, hi]` until it returns
    /// false.
    pub fn enumerate(
        &self,
        root: FunId,
        lo: i64,
        hi: i64,
        mut each: impl FnMut(i64, &[i64]) -> bool,
    ) {
        let steps = self.program(root);
        // Single points are asked for often: they take no more memory than they need.
        let most = (VALUES / steps.len()).clamp(1, BLOCK);
        let block = (hi.wrapping_sub(lo) as u64).min(most as u64 - 1) as usize + 1;
        let mut buffer = vec![0i64; steps.len() * block];
        let mut at = lo;
        loop {
            let left = hi.wrapping_sub(at) as u64;
            let n = left.min(block as u64 - 1) as usize + 1;
            for (i, step) in steps.iter().enumerate() {
                let (before, rest) = buffer.split_at_mut(i * block);
                let arg = |j: usize| &before[step.args[j].0 as usize * block..][..n];
                apply(step, at, &arg, &mut rest[..n]);
            }
            if !each(at, &buffer[(steps.len() - 1) * block..][..n]) {
                return;
            }
            if left < n as u64 {
                return;
            }
            at += n as i64;
        }
    }

    /// The value at one point.
    pub fn at(&self, root: FunId, x: i64) -> i64 {
        let mut value = 0;
        self.enumerate(root, x, x, |_, v| {
            value = v[0];
            false
        });
        value
    }
}

/// One operation over a block.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn apply<'a>(fun: &Fun, at: i64, arg: &dyn Fn(usize) -> &'a [i64], out: &mut [i64]) {
    let shift = 64 - u32::from(fun.width);
    let sign = |v: i64| (v << shift) >> shift;
    // A macro, not a closure: the compiler makes a loop of its own for every operation.
    macro_rules! two {
        (|$a:ident, $b:ident| $value:expr) => {
            for ((o, &$a), &$b) in out.iter_mut().zip(arg(0)).zip(arg(1)) {
                *o = sign($value);
            }
        };
    }
    match &fun.op {
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
        FunOp::Floor(lo) => {
            out.iter_mut().zip(arg(0)).for_each(|(o, a)| *o = sign(*a >> lo));
        }
        FunOp::Mul => two!(|a, b| a.wrapping_mul(b)),
        FunOp::And => two!(|a, b| a & b),
        FunOp::Less => two!(|a, b| i64::from(a < b).wrapping_neg()),
        FunOp::Select => {
            for (i, o) in out.iter_mut().enumerate() {
                *o = sign(if arg(0)[i] != 0 { arg(1)[i] } else { arg(2)[i] });
            }
        }
    }
}

#[cfg(test)]
#[path = "fun_tests.rs"]
mod tests;
