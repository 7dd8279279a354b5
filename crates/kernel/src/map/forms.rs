//! Words as sums over several elements: what formulas with sums, and encodings, are compared with.
//!
//! **Statement.** An *atom* is an integer: a function of one element, or the floor quotient of a form by a power of two. The
//! function is known by its values at all points of the element's range. A *form* is `k + Σ c·atom`. Each word of the graph that
//! depends on several elements gets a form that it is congruent to modulo 2^width, by these laws:
//!
//! - sums, differences, products with constants and left shifts are those of the forms;
//! - bits `[lo, lo + w)` of a word of at least `lo + w` bits that is congruent to F are ⌊F / 2^lo⌋ − 2^w ⌊F / 2^(lo + w)⌋;
//! - slices, right shifts, masks, extensions and words side by side are made of bits;
//! - an or of words that have no bit in common is their sum; a word in range is not saturated.
//!
//! The law of floor quotients is F = 2^k·q + r with 0 ≤ r < 2^k. So multiples of 2^k leave the quotient, low terms that stay
//! within one block of 2^j leave it with 2^j, and a quotient of a quotient is one. Equal forms are equal integers.

use super::project::{Projection, cone, ones};
use ringforge_contract::map::encoding::encoded;
use ringforge_contract::map::formula::Expr;
use ringforge_contract::map::{MapContract, Sum};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;

/// Values of an element.
const VALUES: i64 = 1 << 16;
/// Terms of all forms.
const TERMS: usize = 1 << 24;
/// Coefficients and constants lie below this.
const LARGE: i128 = 1 << 100;
/// Divisors are at most two to this.
const SHIFT: u32 = 96;
/// Points that are evaluated together.
const BATCH: usize = 256;

/// An integer that forms are made of.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    /// A function of a field of an argument.
    Of(u32, (usize, usize)),
    /// ⌊form / 2^k⌋.
    Quotient(Form, u32),
}

/// `k + Σ c·atom`; no c is 0, atoms ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Form {
    k: i128,
    t: Vec<(u32, i128)>,
}

impl Form {
    /// `self + c·other`; [`None`] beyond [`LARGE`].
    fn plus(&self, c: i128, other: &Form) -> Option<Form> {
        let small = |x: i128| (x.abs() < LARGE).then_some(x);
        let more = |x: i128, y: i128| small(x.checked_add(c.checked_mul(y)?)?);
        let mut t = Vec::with_capacity(self.t.len() + other.t.len());
        let (mut x, mut y) = (self.t.iter().peekable(), other.t.iter().peekable());
        loop {
            let (atom, sum) = match (x.peek(), y.peek()) {
                (None, None) => break,
                (Some(a), Some(b)) if a.0 == b.0 => (a.0, more(a.1, b.1)?),
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => (a.0, a.1),
                (_, Some(b)) => (b.0, more(0, b.1)?),
                (Some(a), None) => (a.0, a.1),
            };
            x.next_if(|a| a.0 == atom);
            y.next_if(|b| b.0 == atom);
            if sum != 0 {
                t.push((atom, sum));
            }
        }
        Some(Form { k: more(self.k, other.k)?, t })
    }

    fn constant(k: i128) -> Form {
        Form { k, t: Vec::new() }
    }

    /// Two to the power that divides it whatever the atoms are.
    fn zeros(&self) -> u32 {
        self.t.iter().fold(self.k.trailing_zeros(), |z, t| z.min(t.1.trailing_zeros()))
    }

    /// (c, d) if it is c times the other and d, and that is no constant.
    pub fn by(&self, other: &Form) -> Option<(i128, i128)> {
        let c = self.t.first()?.1.checked_div(other.t.first()?.1)?;
        let rest = self.plus(-c, other)?;
        rest.t.is_empty().then_some((c, rest.k))
    }
}

/// The elements that a node depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Support {
    None,
    /// Of an argument, of few values.
    One(usize, usize),
    Many,
}

/// Forms of the nodes of a graph.
pub(super) struct Forms<'p, 'a> {
    contract: &'a MapContract,
    graph: &'a Graph,
    projection: &'p mut Projection<'a>,
    support: Vec<Support>,
    atoms: FxHashMap<Atom, u32>,
    /// By number: the atom, and its least and greatest value.
    all: Vec<(Atom, (i128, i128))>,
    functions: FxHashMap<Vec<i128>, u32>,
    /// The least and the greatest value of each.
    ends: Vec<(i128, i128)>,
    /// Terms of one element that were enumerated: constant, coefficient and function.
    known: FxHashMap<NodeId, Option<(i128, i128, u32)>>,
    found: FxHashMap<NodeId, Option<Form>>,
    terms: usize,
    budget: u64,
    /// Points looked at.
    pub points: u64,
}

impl<'p, 'a> Forms<'p, 'a> {
    pub fn new(
        contract: &'a MapContract,
        graph: &'a Graph,
        projection: &'p mut Projection<'a>,
        budget: u64,
    ) -> Forms<'p, 'a> {
        let inputs = contract.inputs();
        let mut support: Vec<Support> = Vec::with_capacity(projection.maybe.len());
        for id in 0..projection.maybe.len() {
            let node = graph.node(NodeId(id as u32));
            let argument = |operand: u16| {
                let argument = *inputs.get(usize::from(operand))?;
                let a = contract.arguments.get(argument)?;
                let (lo, hi) = a.memory.range;
                (!a.packed() && !a.any_number() && hi.checked_sub(lo)? < VALUES).then_some(argument)
            };
            support.push(match node.op {
                Op::Input { operand, index } => argument(operand)
                    .map_or(Support::Many, |argument| Support::One(argument, index as usize)),
                Op::Address { .. } => Support::Many,
                _ => node.args.iter().fold(Support::None, |all, a| {
                    match (all, support[a.0 as usize]) {
                        (all, Support::None) => all,
                        (Support::None, one) => one,
                        (all, one) if all == one => all,
                        _ => Support::Many,
                    }
                }),
            });
        }
        Forms {
            contract,
            graph,
            projection,
            support,
            atoms: FxHashMap::default(),
            all: Vec::new(),
            functions: FxHashMap::default(),
            ends: Vec::new(),
            known: FxHashMap::default(),
            found: FxHashMap::default(),
            terms: 0,
            budget,
            points: 0,
        }
    }

    /// Of the nodes that these are made of, those that are c times a sum of the contract's and d: the sum, counted from
    /// `first`, c and d.
    pub fn sums(
        &mut self,
        nodes: &[NodeId],
        first: usize,
    ) -> FxHashMap<NodeId, (usize, i128, i128)> {
        let mut found = FxHashMap::default();
        let sums = &self.contract.sums;
        let sums: Vec<Option<Form>> = sums.iter().map(|sum| self.sum(sum)).collect();
        if sums.is_empty() {
            return found;
        }
        for id in cone(self.graph, nodes) {
            if self.support[id.0 as usize] != Support::Many {
                continue;
            }
            let Some(form) = self.form(id) else { continue };
            let by = |(i, sum): (usize, &Option<Form>)| {
                form.by(sum.as_ref()?).map(|(c, d)| (first + i, c, d))
            };
            if let Some(by) = sums.iter().enumerate().find_map(by) {
                found.insert(id, by);
            }
        }
        found
    }

    fn sum(&mut self, sum: &Sum) -> Option<Form> {
        let (mut form, function) = (Form::default(), self.formula(sum.array, &sum.of)?);
        for field in 0..self.contract.arguments[sum.array].length {
            form = form.plus(1, &self.of(function, (sum.array, field)))?;
        }
        Some(form)
    }

    /// Checks that bytes are the encoded digits of a formula, and tells the array that these are of.
    ///
    /// # Errors
    /// The first byte that is not, and why.
    pub fn encoding(
        &mut self,
        radices: &[u32],
        of: &Expr,
        bytes: &[NodeId],
    ) -> Result<usize, (usize, String)> {
        let none = |k: usize| (k, "its digits are beyond what is followed".to_string());
        let of = self.contract.given_numbers(of);
        let array = match of.arguments()[..] {
            [array] if self.contract.arguments[array].length == radices.len() => array,
            _ => return Err(none(0)),
        };
        let function = self.formula(array, &of).ok_or_else(|| none(0))?;
        let digits: Vec<Option<Form>> =
            (0..radices.len()).map(|field| Some(self.of(function, (array, field)))).collect();
        let expected = encoded(
            digits,
            radices,
            &mut |a, m, b| a.as_ref()?.plus(m.into(), b.as_ref()?),
            &mut |x| match x {
                Some(x) => (self.bits(x, 0, 8), self.quotient(x, 8)),
                None => (None, None),
            },
        );
        if expected.len() != bytes.len() {
            return Err((0, "there are more or fewer bytes".into()));
        }
        for (k, (expected, &node)) in expected.into_iter().zip(bytes).enumerate() {
            let expected = expected.ok_or_else(|| none(k))?;
            let found = self.form(node).and_then(|form| self.bits(&form, 0, 8));
            let found = found.ok_or_else(|| {
                (k, "it is made of several elements in a way that is not followed".into())
            })?;
            if found != expected {
                return Err((k, "it is another function of the digits".into()));
            }
        }
        Ok(array)
    }

    /// A formula of one element of an array as an enumerated function.
    fn formula(&mut self, array: usize, of: &Expr) -> Option<(i128, i128, u32)> {
        let (lo, hi) = self.contract.arguments[array].memory.range;
        self.pay((lo, hi), 1)?;
        let values: Option<Vec<i128>> = (lo..=hi).map(|x| of.value(&|_| x.into())).collect();
        self.function(values?)
    }

    /// For so many nodes at all points of a range.
    fn pay(&mut self, (lo, hi): (i64, i64), nodes: usize) -> Option<()> {
        let points = u64::try_from(hi.checked_sub(lo)?).ok()? + 1;
        self.budget = self.budget.checked_sub(points.checked_mul(nodes as u64)?)?;
        self.points += points;
        Some(())
    }

    /// Values of a range as d + c times others. These begin with 0, go on with a positive value, and have no common divisor.
    fn function(&mut self, values: Vec<i128>) -> Option<(i128, i128, u32)> {
        let d = *values.first()?;
        let mut c = 0i128;
        for v in &values {
            let difference = v.checked_sub(d)?;
            c = i128::try_from(crate::claim::gcd(c.unsigned_abs(), difference.unsigned_abs()))
                .ok()?;
        }
        if c == 0 {
            return Some((d, 0, 0));
        }
        if values.iter().find(|v| **v != d).is_some_and(|v| *v < d) {
            c = -c;
        }
        let values: Vec<i128> = values.iter().map(|v| (v - d) / c).collect();
        let ends = (*values.iter().min()?, *values.iter().max()?);
        let next = self.ends.len() as u32;
        let number = *self.functions.entry(values).or_insert(next);
        if number == next {
            self.ends.push(ends);
        }
        (d.abs() < LARGE && c.abs() < LARGE).then_some((d, c, number))
    }

    /// The form of an enumerated function of a field.
    fn of(&mut self, (d, c, function): (i128, i128, u32), field: (usize, usize)) -> Form {
        if c == 0 {
            return Form::constant(d);
        }
        let range = self.ends[function as usize];
        let atom = self.atom(Atom::Of(function, field), range);
        Form { k: d, t: vec![(atom, c)] }
    }

    fn atom(&mut self, atom: Atom, range: (i128, i128)) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.atoms.entry(atom.clone()).or_insert(next);
        if number == next {
            self.all.push((atom, range));
        }
        number
    }

    /// What a form's values lie in.
    fn interval(&self, form: &Form) -> Option<(i128, i128)> {
        let (mut lo, mut hi) = (form.k, form.k);
        for &(atom, c) in &form.t {
            let (l, h) = self.all[atom as usize].1;
            let ends = [c.checked_mul(l)?, c.checked_mul(h)?];
            lo = lo.checked_add(ends[0].min(ends[1]))?;
            hi = hi.checked_add(ends[0].max(ends[1]))?;
        }
        Some((lo, hi))
    }

    /// ⌊form / 2^k⌋.
    fn quotient(&mut self, form: &Form, k: u32) -> Option<Form> {
        if k == 0 {
            return Some(form.clone());
        }
        if k > SHIFT {
            return None;
        }
        let m = 1i128 << k;
        let mut whole = Form::constant(form.k.div_euclid(m));
        let mut rest = Form::constant(form.k.rem_euclid(m));
        for &(atom, c) in &form.t {
            // Others stay: a quotient of a quotient is to be the same in one step.
            match c < 0 && c % m == 0 {
                true => whole.t.push((atom, c / m)),
                false => rest.t.push((atom, c)),
            }
        }
        let mut k = k;
        for j in (1..=k).rev() {
            let of = |t: &&(u32, i128)| t.1.trailing_zeros() < j;
            let low: Vec<(u32, i128)> = rest.t.iter().filter(of).copied().collect();
            let low = Form { k: rest.k & ((1 << j) - 1), t: low };
            let (lo, hi) = self.interval(&low)?;
            if lo >> j == hi >> j {
                rest.k = (rest.k >> j) + (lo >> j);
                rest.t.retain(|t| t.1.trailing_zeros() >= j);
                rest.t.iter_mut().for_each(|t| t.1 >>= j);
                k -= j;
                break;
            }
        }
        if k == 0 || rest.t.is_empty() {
            return whole.plus(1, &Form { k: rest.k >> k, t: rest.t });
        }
        if let [(atom, 1)] = rest.t[..]
            && let Atom::Quotient(inner, b) = self.all[atom as usize].0.clone()
        {
            let inner = inner.plus(1 << b, &Form::constant(rest.k))?;
            let quotient = self.quotient(&inner, b + k)?;
            return whole.plus(1, &quotient);
        }
        let (lo, hi) = self.interval(&rest)?;
        let atom = self.atom(Atom::Quotient(rest, k), (lo >> k, hi >> k));
        whole.plus(1, &Form { k: 0, t: vec![(atom, 1)] })
    }

    /// Bits `[lo, lo + w)` of a word that is congruent to a form.
    fn bits(&mut self, form: &Form, lo: u32, w: u8) -> Option<Form> {
        let above = self.quotient(form, lo + u32::from(w))?;
        self.quotient(form, lo)?.plus(-(1i128 << w), &above)
    }

    /// What a word is as a signed integer, if it is congruent to a form.
    fn signed(&mut self, form: &Form, w: u8) -> Option<Form> {
        let half = Form::constant(1 << (w - 1));
        let moved = form.plus(1, &half)?;
        self.bits(&moved, 0, w)?.plus(-1, &half)
    }

    /// A form that a node is congruent to modulo 2^width.
    pub fn form(&mut self, root: NodeId) -> Option<Form> {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.found.contains_key(&id) {
                continue;
            }
            let node = self.graph.node(id);
            let inside = !ready && self.support[id.0 as usize] == Support::Many;
            if inside && !node.args.is_empty() {
                stack.push((id, true));
                stack.extend(node.args.iter().map(|a| (*a, false)));
                continue;
            }
            let form = match self.support[id.0 as usize] {
                Support::One(argument, field) => self.enumerated(id, argument, field),
                _ => self.made(id),
            };
            self.terms += form.as_ref().map_or(0, |f| f.t.len());
            let form = form.filter(|_| self.terms < TERMS);
            self.found.insert(id, form);
        }
        self.found[&root].clone()
    }

    /// The form of a node that depends on one field, by its values.
    fn enumerated(&mut self, id: NodeId, argument: usize, field: usize) -> Option<Form> {
        let w = self.graph.width(id);
        let root = self.projection.term(id, field).ok()?;
        let function = match self.known.get(&root) {
            Some(known) => *known,
            None => {
                let function = self.evaluated(root, argument, w);
                self.known.insert(root, function);
                function
            }
        };
        Some(self.of(function?, (argument, field)))
    }

    fn evaluated(&mut self, root: NodeId, argument: usize, w: u8) -> Option<(i128, i128, u32)> {
        let (lo, hi) = self.contract.arguments[argument].memory.range;
        let tape = Tape::new(&self.projection.out, &[root]).ok()?;
        self.pay((lo, hi), tape.nodes().len())?;
        let mut values = Vec::with_capacity((hi - lo) as usize + 1);
        for from in (lo..=hi).step_by(BATCH) {
            let count = ((hi - from) as u64 + 1).min(BATCH as u64) as usize;
            let found = tape.run_batch(count, &mut |_, _, out| {
                out.iter_mut().zip(from..).for_each(|(v, x)| *v = x as u64);
            });
            let unused = 64 - u32::from(w);
            values.extend(found[0].iter().map(|v| i128::from(((v << unused) as i64) >> unused)));
        }
        self.function(values)
    }

    /// The form of a node of several fields, or of none, by those of its arguments.
    fn made(&mut self, id: NodeId) -> Option<Form> {
        let graph = self.graph;
        let node = graph.node(id);
        let w = node.width;
        let width = |i: usize| graph.width(node.args[i]);
        let arg = |this: &Self, i: usize| this.found[&node.args[i]].clone();
        let zero = Form::default();
        match node.op {
            Op::Const(c) => {
                let unused = 64 - u32::from(w);
                Some(Form::constant(i128::from(((c << unused) as i64) >> unused)))
            }
            Op::Add => arg(self, 0)?.plus(1, &arg(self, 1)?),
            Op::Sub => arg(self, 0)?.plus(-1, &arg(self, 1)?),
            Op::Shl(c) => zero.plus(1 << c, &arg(self, 0)?),
            Op::Mul => match (arg(self, 0)?, arg(self, 1)?) {
                (x, y) if y.t.is_empty() => zero.plus(y.k, &x),
                (x, y) if x.t.is_empty() => zero.plus(x.k, &y),
                _ => None,
            },
            Op::Slice { lo: 0 } => arg(self, 0),
            Op::Slice { lo } => self.bits(&arg(self, 0)?, lo.into(), w),
            Op::Zext => self.bits(&arg(self, 0)?, 0, width(0)),
            Op::Sext => self.signed(&arg(self, 0)?, width(0)),
            Op::Lshr(c) => self.bits(&arg(self, 0)?, c.into(), w - c),
            Op::Ashr(c) => {
                let x = self.signed(&arg(self, 0)?, w)?;
                self.quotient(&x, c.into())
            }
            Op::Concat => {
                let (mut all, mut at) = (zero, 0);
                for i in 0..node.args.len() {
                    let part = self.bits(&arg(self, i)?, 0, width(i))?;
                    all = all.plus(1 << at, &part)?;
                    at += width(i);
                }
                Some(all)
            }
            Op::And => {
                let mask = |i: usize| match graph.node(node.args[i]).op {
                    Op::Const(c) => Some(c),
                    _ => None,
                };
                let (x, mask) = match (mask(0), mask(1)) {
                    (_, Some(c)) => (0, c),
                    (Some(c), _) => (1, c),
                    _ => return None,
                };
                let (lo, count) = (mask.trailing_zeros(), mask.count_ones() as u8);
                // One run of ones.
                if mask != 0 && mask >> lo == ones(count) {
                    let part = self.bits(&arg(self, x)?, lo, count)?;
                    return zero.plus(1 << lo, &part);
                }
                None
            }
            Op::Or | Op::Xor => {
                let both = [arg(self, 0)?, arg(self, 1)?];
                for (x, y) in [(0, 1), (1, 0)] {
                    let zeros = both[x].zeros().min(SHIFT);
                    let (lo, hi) = self.interval(&both[y])?;
                    if both[x] == zero || 0 <= lo && hi < 1 << zeros {
                        return both[0].plus(1, &both[1]);
                    }
                }
                None
            }
            Op::SatS | Op::SatU => {
                let x = self.signed(&arg(self, 0)?, width(0))?;
                let (lo, hi) = self.interval(&x)?;
                let (least, most) = match node.op {
                    Op::SatS => (-(1i128 << (w - 1)), (1i128 << (w - 1)) - 1),
                    _ => (0, (1i128 << w) - 1),
                };
                (least <= lo && hi <= most).then_some(x)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
impl Form {
    /// The constant, and the terms.
    pub fn parts(&self) -> (i128, &[(u32, i128)]) {
        (self.k, &self.t)
    }
}

#[cfg(test)]
impl Forms<'_, '_> {
    pub fn atom_of(&self, number: u32) -> &(Atom, (i128, i128)) {
        &self.all[number as usize]
    }

    /// The value of a function at a place of its range.
    pub fn value_of(&self, function: u32, place: usize) -> i128 {
        self.functions.iter().find(|f| *f.1 == function).map_or(0, |f| f.0[place])
    }
}
