//! Terms and formulas that depend on one sum of inputs alone.
//!
//! **Statement.** Let s be a sum of inputs, in `[lo, hi]`. A word that is congruent to `k + c·s` modulo 2^width is a
//! function of s, and so is what is made of such words. If the formula is made of sums `k + c·s` too, and term and
//! formula agree at every s in `[lo, hi]`, they agree at all inputs.
//!
//! A word is congruent to a sum by the rules of arithmetic modulo 2^width; a word that is extended must hold the sum.

use super::STOPPED;
use super::lines::Lines;
use crate::claim::gcd;
use crate::fun::{FunId, Funs, LONGEST};
use crate::pieces::{Piece, each_piece};
use ringforge_contract::map::formula::{Binary, Expr, Linear};
use ringforge_contract::map::{MapArgument, MapContract};
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;

/// Values of the sum that are looked at one by one.
const POINTS: i64 = 1 << 26;
/// Coefficients and constants of sums lie below this.
const LARGE: i128 = 1 << 62;
/// Values of an input that are tried, to show inputs for a sum.
const TRIED: i64 = 1 << 17;
/// Pieces after which the caller is asked whether to go on.
const LOOK: u64 = 256;
/// Pieces of a term.
const PIECES: usize = 1 << 22;

/// Decides terms of one sum.
pub(super) struct Along<'a> {
    pub contract: &'a MapContract,
    pub graph: &'a Graph,
    pub funs: &'a mut Funs,
    pub budget: &'a mut u64,
    /// Whether to go on.
    pub go: &'a (dyn Fn() -> bool + Sync),
}

/// Points looked at, and the inputs at which a term is wrong.
type Found = Result<(u64, Option<Vec<(usize, i64)>>), String>;

impl Along<'_> {
    /// Decides a term over these arguments; [`None`] if it is not a function of one sum.
    pub fn decide(
        mut self,
        root: NodeId,
        a: &MapArgument,
        formula: &Expr,
        arguments: &[usize],
    ) -> Option<Found> {
        let direction = match arguments {
            [one] => vec![(*one, 1)],
            _ => direction(formula)?,
        };
        let formula = along(formula, &direction)?;
        let (mut lo, mut hi) = (0i128, 0i128);
        for &(argument, c) in &direction {
            let (l, h) = self.contract.arguments[argument].memory.range;
            let ends = [c * i128::from(l), c * i128::from(h)];
            lo += ends[0].min(ends[1]);
            hi += ends[0].max(ends[1]);
        }
        let (lo, hi) = (i64::try_from(lo).ok()?, i64::try_from(hi).ok()?);
        let mut terms = Terms {
            contract: self.contract,
            graph: self.graph,
            direction: &direction,
            sums: FxHashMap::default(),
        };
        let f = terms.function(self.funs, root)?;
        let extension = if a.signed() { Op::Sext } else { Op::Zext };
        let f = self.funs.word(64, &extension, &[f])?;
        if self.funs.cost(f) > LONGEST {
            return Some(Err(format!("a term of more than {LONGEST} arguments of operations")));
        }
        let wrong = if hi - lo < POINTS {
            let cost = ((hi - lo) as u64 + 1).saturating_mul(self.funs.cost(f) as u64);
            let Some(left) = self.budget.checked_sub(cost) else {
                return Some(Err("more work than is allowed for".into()));
            };
            *self.budget = left;
            let (mut wrong, mut stopped) = (None, false);
            self.funs.enumerate(f, lo, hi, |x, values| {
                stopped = !(self.go)();
                let found = (x..).zip(values).find(|&(x, v)| {
                    let value = formula.value(&|_| x.into());
                    !value.is_some_and(|value| a.fulfilled((*v).into(), value))
                });
                wrong = found.map(|w| w.0);
                wrong.is_none() && !stopped
            });
            match (wrong, stopped) {
                (None, true) => Err(STOPPED.into()),
                _ => Ok(((hi - lo) as u64 + 1, wrong)),
            }
        } else {
            self.on_pieces(f, (lo, hi), a, &formula)
        };
        Some(wrong.and_then(|(points, wrong)| match wrong {
            None => Ok((points, None)),
            Some(s) => match inputs_of(self.contract, &direction, s) {
                Some(at) => Ok((points, Some(at))),
                None => Err(format!("at a sum of {s}, which no inputs may have, it is wrong")),
            },
        }))
    }

    /// On the pieces of the term that are affine, and of the formula inside.
    fn on_pieces(
        &mut self,
        f: FunId,
        ends: (i64, i64),
        a: &MapArgument,
        formula: &Expr,
    ) -> Result<(u64, Option<i64>), String> {
        let mut lines = Lines::new(formula, a, PIECES);
        let mut failed = None;
        let mut pieces = 0u64;
        let told = each_piece(self.funs, f, ends, PIECES, self.budget, &mut |piece| {
            pieces += 1;
            if pieces.is_multiple_of(LOOK) && !(self.go)() {
                failed = Some(Err(STOPPED.into()));
                return false;
            }
            let piece = match piece {
                Piece::Affine { lo, hi, k, c } => lines.agrees(lo, hi, k, c),
                Piece::Values { lo, values } => lines.at_points(lo, &values),
            };
            match piece {
                Ok(None) => true,
                other => {
                    failed = Some(other);
                    false
                }
            }
        });
        match (failed, told) {
            (Some(wrong), _) => Ok((lines.seen, wrong?)),
            (None, Some(())) => Ok((lines.seen, None)),
            (None, None) => Err("a function of too many pieces".into()),
        }
    }
}

/// The sum that a formula is made of: the first that it has, without its constant, divided by what its coefficients have
/// in common.
fn direction(formula: &Expr) -> Option<Vec<(usize, i128)>> {
    if let Some(linear) = formula.linear() {
        let common = linear.t.iter().fold(0, |g, t| gcd(g, t.1.unsigned_abs()));
        let common = i128::try_from(common).ok().filter(|g| *g > 0)?;
        return Some(linear.t.iter().map(|&(a, c)| (a, c / common)).collect());
    }
    match formula {
        Expr::Const(_) | Expr::Element(_) => None,
        Expr::Unary(_, x, _) => direction(x),
        Expr::Binary(_, x, y) => direction(x).or_else(|| direction(y)),
        Expr::Select(c, x, y) => direction(c).or_else(|| direction(x)).or_else(|| direction(y)),
    }
}

/// c, if these are c times the direction.
fn multiple(t: &[(usize, i128)], direction: &[(usize, i128)]) -> Option<i128> {
    let (first, d) = match (t, direction) {
        ([], _) => return Some(0),
        ([first, ..], [d, ..]) => (first, d),
        _ => return None,
    };
    let c = first.1 / d.1;
    let all = t.len() == direction.len()
        && t.iter().zip(direction).all(|(x, d)| x.0 == d.0 && d.1.checked_mul(c) == Some(x.1));
    all.then_some(c)
}

/// The formula with its sums as functions of element 0, the sum.
fn along(formula: &Expr, direction: &[(usize, i128)]) -> Option<Expr> {
    if let Some(linear) = formula.linear() {
        let c = multiple(&linear.t, direction)?;
        let product = Expr::Binary(Binary::Mul, Expr::Const(c).into(), Expr::Element(0).into());
        return Some(Expr::Binary(Binary::Add, Expr::Const(linear.k).into(), product.into()));
    }
    let of = |e: &Expr| along(e, direction).map(Box::new);
    Some(match formula {
        Expr::Const(_) | Expr::Element(_) => return None,
        Expr::Unary(op, x, m) => Expr::Unary(*op, of(x)?, *m),
        Expr::Binary(op, x, y) => Expr::Binary(*op, of(x)?, of(y)?),
        Expr::Select(c, x, y) => Expr::Select(of(c)?, of(x)?, of(y)?),
    })
}

/// Inputs in their ranges that have a sum.
fn inputs_of(
    contract: &MapContract,
    direction: &[(usize, i128)],
    s: i64,
) -> Option<Vec<(usize, i64)>> {
    let range = |argument: usize| contract.arguments[argument].memory.range;
    match direction {
        [] => Some(Vec::new()),
        [(x, c)] => {
            let value = (i128::from(s) % c == 0).then(|| i128::from(s) / c)?;
            let (lo, hi) = range(*x);
            let value = i64::try_from(value).ok().filter(|v| (lo..=hi).contains(v))?;
            Some(vec![(*x, value)])
        }
        [(x, c), rest @ ..] => {
            let (lo, hi) = range(*x);
            // From either end, since sums at the ends are what is looked for most.
            let end = TRIED.min(hi - lo + 1);
            (0..end).flat_map(|k| [lo + k, hi - k]).find_map(|value| {
                let left = i64::try_from(i128::from(s) - c * i128::from(value)).ok()?;
                // More than two would take too long.
                let mut found =
                    if rest.len() == 1 { inputs_of(contract, rest, left)? } else { return None };
                found.push((*x, value));
                Some(found)
            })
        }
    }
}

/// Terms as functions of a sum.
struct Terms<'a> {
    contract: &'a MapContract,
    graph: &'a Graph,
    direction: &'a [(usize, i128)],
    /// By node, the sum that it is congruent to modulo 2^width.
    sums: FxHashMap<NodeId, Option<Linear>>,
}

impl Terms<'_> {
    /// The function that a term is.
    fn function(&mut self, funs: &mut Funs, root: NodeId) -> Option<FunId> {
        let mut made: FxHashMap<NodeId, FunId> = FxHashMap::default();
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if made.contains_key(&id) {
                continue;
            }
            let node = self.graph.node(id);
            let w = node.width;
            if let Some(sum) = self.sum(id)
                && let Some(c) = multiple(&sum.t, self.direction)
            {
                made.insert(
                    id,
                    funs.lin(w, i64::try_from(sum.k).ok()?, i64::try_from(c).ok()?, &[]),
                );
                continue;
            }
            if !ready {
                stack.push((id, true));
                stack.extend(node.args.iter().map(|a| (*a, false)));
                continue;
            }
            let args: Vec<FunId> = node.args.iter().map(|a| made[a]).collect();
            // Inputs and constants are sums, or are none of this one.
            let f = funs.word(w, &node.op, &args)?;
            made.insert(id, f);
        }
        made.get(&root).copied()
    }

    /// The sum of inputs that a word is congruent to.
    fn sum(&mut self, id: NodeId) -> Option<Linear> {
        if let Some(found) = self.sums.get(&id) {
            return found.clone();
        }
        let found = self.find(id);
        self.sums.insert(id, found.clone());
        found
    }

    fn find(&mut self, id: NodeId) -> Option<Linear> {
        let node = self.graph.node(id);
        let w = node.width;
        let small = |l: Linear| {
            let fits = |x: i128| x.abs() < LARGE;
            (fits(l.k) && l.t.iter().all(|t| fits(t.1))).then_some(l)
        };
        match node.op {
            Op::Const(c) => {
                let unused = 64 - u32::from(w);
                small(Linear { k: i128::from(((c << unused) as i64) >> unused), t: Vec::new() })
            }
            // The field as an integer; a field of another number has another index, and there is none here.
            Op::Input { operand, index: 0 } => Some(Linear { k: 0, t: vec![(operand.into(), 1)] }),
            Op::Slice { lo: 0 } => self.sum(node.args[0]),
            Op::Add | Op::Sub => {
                let (x, y) = (self.sum(node.args[0])?, self.sum(node.args[1])?);
                small(plus(&x, &y, if matches!(node.op, Op::Add) { 1 } else { -1 }))
            }
            Op::Shl(c) => {
                small(plus(&Linear { k: 0, t: Vec::new() }, &self.sum(node.args[0])?, 1 << c))
            }
            Op::Mul => {
                let (x, y) = (self.sum(node.args[0])?, self.sum(node.args[1])?);
                let (x, c) = if y.t.is_empty() { (x, y.k) } else { (y, x.k) };
                let one = [&node.args[0], &node.args[1]]
                    .iter()
                    .any(|a| self.sums[*a].as_ref().is_some_and(|s| s.t.is_empty()));
                let size = |l: &Linear| l.t.iter().map(|t| t.1.abs()).fold(l.k.abs(), i128::max);
                let fits = size(&x).checked_mul(c.abs()).is_some();
                if one && fits { small(plus(&Linear { k: 0, t: Vec::new() }, &x, c)) } else { None }
            }
            Op::Sext | Op::Zext => {
                let (sum, have) = (self.sum(node.args[0])?, self.graph.width(node.args[0]));
                let (mut lo, mut hi) = (sum.k, sum.k);
                for &(argument, c) in &sum.t {
                    let (l, h) = self.contract.arguments[argument].memory.range;
                    let ends = [c.checked_mul(l.into())?, c.checked_mul(h.into())?];
                    lo += ends[0].min(ends[1]);
                    hi += ends[0].max(ends[1]);
                }
                let (least, most) = match node.op {
                    Op::Sext => (-(1i128 << (have - 1)), (1i128 << (have - 1)) - 1),
                    _ => (0, (1i128 << have) - 1),
                };
                (least <= lo && hi <= most).then_some(sum)
            }
            _ => None,
        }
    }
}

/// `x + c·y`.
fn plus(x: &Linear, y: &Linear, c: i128) -> Linear {
    let mut t: Vec<(usize, i128)> = x.t.clone();
    for &(a, d) in &y.t {
        match t.iter_mut().find(|t| t.0 == a) {
            Some(t) => t.1 += c * d,
            None => t.push((a, c * d)),
        }
    }
    t.retain(|t| t.1 != 0);
    t.sort_unstable();
    Linear { k: x.k + c * y.k, t }
}
