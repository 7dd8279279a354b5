//! Functions of one variable: interned expressions over a single integer X, evaluated by
//! enumeration.
//!
//! The structure does not name the variable, so that the same reduction applied in a thousand
//! lanes is one function; what differs is the interval.

use crate::form::centre;
pub use ringforge_machine::graph::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Index of an interned function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunId(pub u32);

/// What a function node computes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FunOp {
    /// `k + x·X + Σ c_i·arg_i` modulo 2^width, of arguments as signed integers of their width; `c` runs parallel to
    /// them.
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
    /// An operation on words, of those that need no other function.
    Word(Op),
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

impl Fun {
    /// What one evaluation costs: the parts of a concatenation are steps of their own.
    fn cost(&self) -> usize {
        if self.op == FunOp::Word(Op::Concat) { self.args.len() } else { 1 }
    }
}

/// The arena of functions.
#[derive(Default)]
pub struct Funs {
    nodes: Vec<Fun>,
    index: FxHashMap<Fun, FunId>,
    /// How each function is evaluated; made on demand.
    programs: FxHashMap<FunId, Arc<Program>>,
    /// Steps of all of these.
    steps: usize,
}

/// How a function is evaluated.
pub(crate) struct Program {
    /// The nodes below the function, itself included, in increasing order.
    order: Vec<FunId>,
    /// What one evaluation costs.
    size: usize,
    /// One after another; the last one's value is the function's.
    pub steps: Vec<Step>,
}

/// A step: all operations are made of few.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    /// Bits of the result, which is read as signed.
    pub width: u8,
    pub op: StepOp,
    /// Earlier steps.
    pub args: SmallVec<[usize; 4]>,
}

/// What a step computes, of integers, modulo 2^width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StepOp {
    /// `k + x·X + Σ c_i·arg_i`.
    Lin { k: i64, x: i64, c: SmallVec<[i64; 4]> },
    /// The quotient by a power of two, rounded down.
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

/// Operations of a function at most.
pub const OPERATIONS: usize = 4096;

/// Points per block of enumeration.
const BLOCK: usize = 512;
/// Values of a block at most, of all its steps together.
const VALUES: usize = 1 << 21;
/// Steps that are kept at most, of all functions together: some 100 MB.
const STEPS: usize = 1 << 20;

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

    /// Interns a node, sums in normal form.
    pub fn normal(&mut self, fun: Fun) -> FunId {
        match fun.op {
            FunOp::Lin { k, x, c } => {
                let terms: Vec<(FunId, i64)> = fun.args.into_iter().zip(c).collect();
                self.lin(fun.width, k, x, &terms)
            }
            FunOp::Const(value) => self.constant(fun.width, value),
            _ => self.intern(fun),
        }
    }

    /// Interns an operation on functions, if it has the arguments, widths and numbers that it must have.
    ///
    /// # Errors
    /// If it has not.
    pub fn checked(&mut self, fun: Fun) -> Result<FunId, String> {
        let w = fun.width;
        let args: SmallVec<[u8; 3]> = fun.args.iter().map(|&f| self.get(f).width).collect();
        let ok = match (&fun.op, &args[..]) {
            (FunOp::Lin { c, .. }, args) => c.len() == args.len(),
            (FunOp::Const(_), []) => true,
            (FunOp::Const(_), _) => false,
            (FunOp::Word(op), args) => match (op, args) {
                (Op::Slice { lo }, [a]) => u16::from(*lo) + u16::from(w) <= u16::from(*a),
                (Op::Concat, args) => args.iter().map(|&a| u32::from(a)).sum::<u32>() == w.into(),
                // Of its own width an extension would be read as what it is not.
                (Op::Sext | Op::Zext, [a]) => *a < w,
                (Op::SatS | Op::SatU, [a]) => *a >= w,
                (Op::Mul | Op::And | Op::Or | Op::Xor, [a, b]) => *a == w && *b == w,
                (Op::Eq | Op::Ult | Op::Slt, [a, b]) => w == 1 && a == b,
                (Op::Select, [c, a, b]) => *c == 1 && *a == w && *b == w,
                _ => false,
            },
        };
        if !(1..=64).contains(&w) || !ok {
            return Err(format!("a malformed function {fun:?}"));
        }
        Ok(self.normal(fun))
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
        let program = self.program(outer);
        let mut map: FxHashMap<FunId, FunId> = FxHashMap::default();
        for &id in &program.order {
            let node = self.get(id).clone();
            let mut fun = Fun { args: node.args.iter().map(|a| map[a]).collect(), ..node };
            if let FunOp::Lin { x, c, .. } = &mut fun.op {
                // The coefficient of X is that of what it is replaced by.
                fun.args.push(inner);
                c.push(std::mem::take(x));
            }
            let new = self.normal(fun);
            map.insert(id, new);
        }
        map[&outer]
    }

    /// How a function is evaluated.
    pub(crate) fn program(&mut self, root: FunId) -> Arc<Program> {
        if let Some(known) = self.programs.get(&root) {
            return known.clone();
        }
        let mut order = self.below(root, usize::MAX);
        order.sort_unstable();
        let (mut steps, mut places) = (Steps(Vec::new()), FxHashMap::default());
        for &f in &order {
            let node = self.get(f);
            let arg = |a: &FunId| (places[a], self.get(*a).width);
            steps.node(node, &node.args.iter().map(arg).collect::<SmallVec<[_; 3]>>());
            places.insert(f, steps.0.len() - 1);
        }
        let size = order.iter().map(|f| self.get(*f).cost()).sum();
        let program = Arc::new(Program { order, size, steps: steps.0 });
        // What is forgotten is made again. Long functions, which only a hostile certificate has, are not kept.
        if size <= OPERATIONS {
            self.steps += program.steps.len();
            if self.steps > STEPS {
                self.programs.clear();
                self.steps = program.steps.len();
            }
            self.programs.insert(root, program.clone());
        }
        program
    }

    /// The nodes below a function, itself first: all, or more than `most`.
    fn below(&self, root: FunId, most: usize) -> Vec<FunId> {
        let (mut all, mut seen) = (vec![root], rustc_hash::FxHashSet::from_iter([root]));
        let mut next = 0;
        while next < all.len().min(most) {
            all.extend(self.get(all[next]).args.iter().filter(|a| seen.insert(**a)));
            next += 1;
        }
        all
    }

    /// Operations of one evaluation, a concatenation counting as one for each part; one more than [`OPERATIONS`] if
    /// it is any number beyond.
    pub fn size(&self, root: FunId) -> usize {
        let size = match self.programs.get(&root) {
            Some(known) => known.size,
            None => self.below(root, OPERATIONS).iter().map(|f| self.get(*f).cost()).sum(),
        };
        size.min(OPERATIONS + 1)
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
        let program = self.program(root);
        let steps = &program.steps;
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
                apply(step, at, &|j| &before[step.args[j] * block..][..n], &mut rest[..n]);
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
    pub fn at(&mut self, root: FunId, x: i64) -> i64 {
        let mut value = 0;
        self.enumerate(root, x, x, |_, v| {
            value = v[0];
            false
        });
        value
    }
}

/// Steps so far.
struct Steps(Vec<Step>);

impl Steps {
    fn push(&mut self, width: u8, op: StepOp, args: &[usize]) -> usize {
        self.0.push(Step { width, op, args: args.iter().copied().collect() });
        self.0.len() - 1
    }

    fn lin(&mut self, width: u8, k: i64, x: i64, terms: &[(usize, i64)]) -> usize {
        let c = terms.iter().map(|t| t.1).collect();
        let args: SmallVec<[usize; 4]> = terms.iter().map(|t| t.0).collect();
        self.push(width, StepOp::Lin { k, x, c }, &args)
    }

    /// -1 where a is less than b, else 0, both of these bits; as unsigned words they are compared half a turn on.
    fn less(&mut self, a: usize, b: usize, unsigned: Option<u8>) -> usize {
        let mut turned = |a| match unsigned {
            Some(from) => self.lin(from, 1i64.wrapping_shl((from - 1).into()), 0, &[(a, 1)]),
            None => a,
        };
        let args = [turned(a), turned(b)];
        self.push(1, StepOp::Less, &args)
    }

    /// The less, or the greater, of a number and a constant that it may be as well.
    fn end(&mut self, a: usize, width: u8, c: i64, least: bool) -> usize {
        let c = self.lin(width, c, 0, &[]);
        let other = if least { self.less(a, c, None) } else { self.less(c, a, None) };
        self.push(width, StepOp::Select, &[other, c, a])
    }

    /// The steps of a node, whose arguments are these ones, of so many bits; its value is the last one's.
    fn node(&mut self, node: &Fun, args: &[(usize, u8)]) {
        let w = node.width;
        let a: SmallVec<[usize; 4]> = args.iter().map(|a| a.0).collect();
        match &node.op {
            FunOp::Lin { k, x, c } => {
                let terms: Vec<_> = a.iter().copied().zip(c.iter().copied()).collect();
                self.lin(w, *k, *x, &terms)
            }
            FunOp::Const(c) => self.lin(w, *c, 0, &[]),
            FunOp::Word(op) => self.word(w, op, args, &a),
        };
    }

    fn word(&mut self, w: u8, op: &Op, args: &[(usize, u8)], a: &[usize]) -> usize {
        match op {
            Op::Slice { lo } => self.push(w, StepOp::Floor(*lo), a),
            Op::Sext => self.lin(w, 0, 0, &[(a[0], 1)]),
            // x + 2^bits·[x < 0] each, and nothing beyond the highest bit.
            Op::Zext | Op::Concat => {
                let (mut terms, mut at) = (Vec::new(), 0u8);
                for &(arg, from) in args {
                    terms.push((arg, 1i64 << at));
                    at += from;
                    if at < w {
                        let sign = self.push(1, StepOp::Floor(from - 1), &[arg]);
                        terms.push((sign, (1i64 << at).wrapping_neg()));
                    }
                }
                self.lin(w, 0, 0, &terms)
            }
            Op::Mul => self.push(w, StepOp::Mul, a),
            Op::And => self.push(w, StepOp::And, a),
            // The sum without the bits that both have, once and twice.
            Op::Or | Op::Xor => {
                let both = self.push(w, StepOp::And, a);
                let c = if *op == Op::Or { -1 } else { -2 };
                self.lin(w, 0, 0, &[(a[0], 1), (a[1], 1), (both, c)])
            }
            // What is between them is less than 1.
            Op::Eq => {
                let between = self.lin(args[0].1, 0, 0, &[(a[0], 1), (a[1], -1)]);
                let one = self.lin(args[0].1, 1, 0, &[]);
                self.less(between, one, Some(args[0].1))
            }
            Op::Ult => self.less(a[0], a[1], Some(args[0].1)),
            Op::Slt => self.less(a[0], a[1], None),
            Op::Select => self.push(w, StepOp::Select, a),
            Op::SatS | Op::SatU => {
                let (have, signed) = (args[0].1, *op == Op::SatS);
                let (top, mut v) = (i64::MAX >> (64 - w), a[0]);
                if have > w || !signed {
                    v = self.end(v, have, if signed { -1 - top } else { 0 }, true);
                }
                if have > w {
                    v = self.end(v, have, if signed { top } else { 2 * top + 1 }, false);
                }
                self.lin(w, 0, 0, &[(v, 1)])
            }
            _ => unreachable!("a malformed function"),
        }
    }
}

/// One step over a block; all values are signed readings of their width.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn apply<'a>(step: &Step, at: i64, arg: &dyn Fn(usize) -> &'a [i64], out: &mut [i64]) {
    let shift = 64 - u32::from(step.width);
    let sign = |v: i64| (v << shift) >> shift;
    // A macro, not a closure: the compiler makes a loop of its own for every operation.
    macro_rules! two {
        (|$a:ident, $b:ident| $value:expr) => {
            for ((o, &$a), &$b) in out.iter_mut().zip(arg(0)).zip(arg(1)) {
                *o = $value;
            }
        };
    }
    match &step.op {
        StepOp::Lin { k, x, c } => {
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
        StepOp::Floor(lo) => {
            out.iter_mut().zip(arg(0)).for_each(|(o, a)| *o = sign(*a >> lo));
        }
        StepOp::Mul => two!(|a, b| sign(a.wrapping_mul(b))),
        StepOp::And => two!(|a, b| a & b),
        StepOp::Less => two!(|a, b| i64::from(a < b).wrapping_neg()),
        StepOp::Select => {
            for (i, o) in out.iter_mut().enumerate() {
                *o = if arg(0)[i] != 0 { arg(1)[i] } else { arg(2)[i] };
            }
        }
    }
}

#[cfg(test)]
#[path = "fun_tests.rs"]
mod tests;
