//! From graph nodes to forms: one visit per node, in topological order.

use crate::beside::Beside;
use crate::cut::Cutter;
use crate::funs::FunId;
use crate::uses::Use;
use crate::values::{Atom, AtomId, Base, Form, ModForm, Source, Var, residue};
use ringforge_contract::InputRange;
use ringforge_kernel::atom::Atom as Made;
use ringforge_machine::graph::{Graph, NodeId, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// An output read as an integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Least value.
    pub lo: i64,
    /// Greatest value.
    pub hi: i64,
    /// What it is modulo q.
    pub residue: ModForm,
}

/// Interprets a graph over inputs with known ranges.
pub struct Walk<'g> {
    pub(crate) graph: &'g Graph,
    /// Tables.
    pub cut: Cutter,
    inputs: Vec<InputRange>,
    pub(crate) forms: FxHashMap<NodeId, Arc<Form>>,
    /// How often each node's form is still to be read.
    pub(crate) uses: Vec<u32>,
    /// Whether a form may have a function or a quotient among its terms, by node.
    pub(crate) mixed: Vec<bool>,
    /// The word that a node is the sign or the zero extension of.
    pub(crate) words: FxHashMap<NodeId, Arc<Form>>,
    /// By the sign of an upper word: how that word is taken, for the certificate.
    pub(crate) uppers: FxHashMap<NodeId, Vec<ringforge_kernel::certificate::Rule>>,
    /// The words whose sign is a mask: a node and the bit at which the word begins.
    pub(crate) signs: FxHashSet<(NodeId, u8)>,
    /// `[x < 0]·y` of two words.
    pub(crate) masked: FxHashMap<(Form, Form), AtomId>,
    /// Whether forms stay after their last use.
    pub keep: bool,
    /// The kernel, where it is asked for each line.
    pub(crate) beside: Option<Beside<'g>>,
}

impl<'g> Walk<'g> {
    /// A walk with empty tables; `inputs[o]` is the range of operand o's elements.
    pub fn new(graph: &'g Graph, q: u32, inputs: Vec<InputRange>) -> Self {
        Walk {
            graph,
            cut: Cutter::new(q),
            inputs,
            forms: FxHashMap::default(),
            uses: Vec::new(),
            mixed: Vec::new(),
            words: FxHashMap::default(),
            signs: FxHashSet::default(),
            uppers: FxHashMap::default(),
            masked: FxHashMap::default(),
            keep: false,
            beside: None,
        }
    }

    /// The form of a node that was visited.
    pub fn form(&self, id: NodeId) -> Option<&Arc<Form>> {
        self.forms.get(&id)
    }

    /// Visits everything below the roots; `tick(done, total)` may stop it by returning false.
    /// Returns the number of nodes visited, or [`None`] if stopped.
    pub fn run(
        &mut self,
        roots: &[NodeId],
        tick: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Option<usize> {
        let size = roots.iter().map(|r| r.0 as usize + 1).max().unwrap_or(0);
        let mut uses = vec![0u32; size];
        let mut needed = vec![false; size];
        for r in roots {
            needed[r.0 as usize] = true;
            uses[r.0 as usize] += 1;
        }
        let mut total = 0;
        for id in (0..size).rev() {
            if needed[id] {
                total += 1;
                for a in &self.graph.node(NodeId(id as u32)).args {
                    needed[a.0 as usize] = true;
                    uses[a.0 as usize] += 1;
                    // Concatenations are looked through to the argument of their slices.
                    let n = self.graph.node(*a);
                    if self.graph.node(NodeId(id as u32)).op == Op::Concat
                        && matches!(n.op, Op::Slice { .. })
                    {
                        uses[n.args[0].0 as usize] += 1;
                        needed[n.args[0].0 as usize] = true;
                    }
                }
            }
        }
        self.uses = uses;
        self.mixed = vec![false; size];
        self.cut.world.wide |= self.multiplies_words(&needed);
        self.find_signs(&needed);
        let mut done = 0;
        for (id, &needed) in needed.iter().enumerate() {
            if !needed {
                continue;
            }
            let id = NodeId(id as u32);
            self.cut.node = id.0;
            self.remember(id);
            self.cut.record.rules.clear();
            match self.added(id) {
                // The kernel adds by itself.
                Some(form) => {
                    self.forms.insert(id, Arc::new(form));
                }
                None => {
                    let form = self.visit(id);
                    self.write(id, &form);
                    let form = self.accepted(id, form);
                    self.mixed[id.0 as usize] = form.t.iter().any(|t| self.functional(t.0));
                    self.forms.insert(id, form);
                }
            }
            // Forms of long sums are long: drop each after its last use.
            let drop = |w: &mut Self, a: NodeId| {
                let u = &mut w.uses[a.0 as usize];
                *u -= 1;
                if *u == 0 && !w.keep {
                    w.forms.remove(&a);
                }
            };
            let node = self.graph.node(id);
            for a in &node.args {
                let n = self.graph.node(*a);
                if node.op == Op::Concat && matches!(n.op, Op::Slice { .. }) {
                    drop(self, n.args[0]);
                }
                drop(self, *a);
            }
            done += 1;
            if done % 1024 == 0 && !tick(done, total) {
                return None;
            }
        }
        Some(done)
    }

    /// The integer reading of a visited node as an output of `bits` bits.
    ///
    /// # Errors
    /// Why there is none (index into the causes).
    pub fn output(&mut self, node: NodeId, bits: u8, signed: bool) -> Result<Output, u32> {
        self.cut.node = node.0;
        self.cut.record.rules.clear();
        let form = self.get(node);
        let used = self.cut.use_form(&form, bits);
        match used {
            Use::Const(c) => {
                let c = if signed { c } else { (c as u64 & (u64::MAX >> (64 - bits))) as i64 };
                if !form.t.is_empty() {
                    self.cut.by_use(used, bits);
                }
                self.cut.by_output(&Form { k: c, t: Vec::new() });
                let k = residue(c.into(), self.cut.world.q);
                Ok(Output {
                    lo: c,
                    hi: c,
                    residue: ModForm { m: self.cut.world.q, k, t: Vec::new() },
                })
            }
            Use::One(Base::Var(v), f) => {
                self.cut.by_use(used, bits);
                let f = self.cut.extend(f, 64, signed);
                let atom = self.cut.world.atom(Atom::Fun(Base::Var(v), f));
                self.cut.by_output(&Form::atom(atom));
                let (lo, hi) = self.cut.world.domain(Base::Var(v));
                let s = self.cut.enumeration.summary(&mut self.cut.world.funs, f, lo, hi);
                let q = self.cut.world.q;
                if let Ok(s) = s
                    && let Some((c, d)) = s.line.modulo(q)
                {
                    let t = if c == 0 { vec![] } else { vec![(self.cut.world.var(v).atom, c)] };
                    return Ok(Output { lo: s.min, hi: s.max, residue: ModForm { m: q, k: d, t } });
                }
                Err(self.cut.not_linear(v))
            }
            Use::One(Base::Low(l), f) => {
                if let Some(output) = self.wrapped(l, f, signed) {
                    self.cut.by_use(used, bits);
                    let f = self.cut.extend(f, 64, signed);
                    let atom = self.cut.world.atom(Atom::Fun(Base::Low(l), f));
                    self.cut.by_output(&Form::atom(atom));
                    return Ok(output);
                }
                let cause = self.cut.world.lows[l as usize].cause;
                Err(cause.unwrap_or_else(|| {
                    self.cut.unmodelled("an output is the low half of a sum of products")
                }))
            }
            Use::Opaque(cause) => Err(cause),
        }
    }

    /// A function of the low half of a sum as an output, q being a power of two: the half is
    /// congruent to the sum.
    fn wrapped(&mut self, low: u32, f: FunId, signed: bool) -> Option<Output> {
        let q = self.cut.world.q;
        if !q.is_power_of_two() || q > 1 << 16 {
            return None;
        }
        let f = self.cut.extend(f, 64, signed);
        let s = self.cut.enumeration.summary(&mut self.cut.world.funs, f, 0, 65535).ok()?;
        let (c, d) = s.line.modulo(q)?;
        let sum = self.cut.world.lows[low as usize].form.clone();
        let known = self.cut.read(&sum).ok()?.residue.filter(|r| r.m.is_multiple_of(q))?;
        let times = |x: u32| (u64::from(c) * u64::from(x) % u64::from(q)) as u32;
        let t = known.t.iter().map(|&(a, x)| (a, times(x))).filter(|t| t.1 != 0).collect();
        let residue = ModForm { m: q, k: (times(known.k) + d) % q, t };
        self.cut.by_low(low, q);
        Some(Output { lo: s.min, hi: s.max, residue })
    }

    pub(crate) fn get(&self, id: NodeId) -> Arc<Form> {
        self.forms[&id].clone()
    }

    pub(crate) fn width(&self, id: NodeId) -> u8 {
        self.graph.node(id).width
    }

    pub(crate) fn opaque(&mut self, cause: u32) -> Arc<Form> {
        let a = self.cut.world.opaque(cause);
        Arc::new(Form::atom(a))
    }

    fn visit(&mut self, id: NodeId) -> Arc<Form> {
        let graph = self.graph;
        let node = graph.node(id);
        let (w, args) = (node.width, &node.args);
        if let Some(form) = self.sign(id) {
            return Arc::new(form);
        }
        match node.op {
            Op::Const(c) => Arc::new(Form::constant(c as i64, w)),
            Op::Input { operand, index } => self.input(operand, index, w),
            Op::Address { .. } => {
                let c = self.cut.unmodelled("an address is used as data");
                self.opaque(c)
            }
            Op::Add => self.sum(&self.get(args[0]), &self.get(args[1]), 1, w),
            Op::Sub => self.sum(&self.get(args[0]), &self.get(args[1]), -1, w),
            Op::Shl(k) => {
                let c = 1i64.wrapping_shl(k.into());
                Arc::new(self.kept(&self.get(args[0]), c, w).scaled(c, w))
            }
            Op::Mul => match self.unsigned_product(args[0], args[1]) {
                Some(form) => form,
                None => self.mul(&self.get(args[0]), &self.get(args[1]), w),
            },
            Op::Slice { lo: 0 } => Arc::new(self.truncate(&self.get(args[0]), w)),
            Op::Slice { lo } => {
                let from = self.width(args[0]);
                self.slice(&self.get(args[0]), from, lo, w)
            }
            Op::Lshr(k) | Op::Ashr(k) => {
                let signed = matches!(node.op, Op::Ashr(_));
                if k == 0 {
                    return self.get(args[0]);
                }
                if let Some(form) = self.shift(&self.get(args[0]), w, k, signed) {
                    return Arc::new(form);
                }
                let top = self.slice(&self.get(args[0]), w, k, w - k);
                self.extend(&top, w - k, w, signed)
            }
            Op::Sext => self.extend(&self.get(args[0]), self.width(args[0]), w, true),
            Op::Zext => self.extend(&self.get(args[0]), self.width(args[0]), w, false),
            Op::Concat => self.concat(args, w),
            Op::And => self.and(args[0], args[1], w),
            Op::Or | Op::Xor => self.or(&node.op, args[0], args[1], w),
            Op::Eq => self.apply(Op::Eq, args, w),
            Op::Ult => self.apply(Op::Ult, args, w),
            Op::Slt => self.apply(Op::Slt, args, w),
            Op::Select => {
                let c = self.get(args[0]);
                if c.t.is_empty() {
                    return self.get(args[if c.k != 0 { 1 } else { 2 }]);
                }
                if self.get(args[1]) == self.get(args[2]) {
                    return self.get(args[1]);
                }
                let form = self.apply(Op::Select, args, w);
                if w > 16 && self.cut.world.cause_in(&form).is_some() {
                    return self.select_low(args, &form, w);
                }
                form
            }
            Op::SatS | Op::SatU => {
                let signed = matches!(node.op, Op::SatS);
                let form = self.get(args[0]);
                if let Ok(r) = self.cut.read(&form) {
                    let from = self.width(args[0]);
                    let inside = |bits: u8, signed: bool| {
                        let (lo, hi) = if signed {
                            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
                        } else {
                            (0, (1i128 << bits) - 1)
                        };
                        lo <= r.lo && r.hi <= hi
                    };
                    if inside(from, true) && inside(w, signed) {
                        self.cut.by_integer(&form);
                        return Arc::new(self.truncate(&form, w));
                    }
                }
                self.apply(if signed { Op::SatS } else { Op::SatU }, args, w)
            }
        }
    }

    fn input(&mut self, operand: u16, index: u32, w: u8) -> Arc<Form> {
        // The kernel knows an input by its line.
        self.cut.record.make(Made::Input { operand, index });
        let Some(&range) = self.inputs.get(operand as usize) else {
            let c = self.cut.unmodelled("an input that the contract does not name");
            return self.opaque(c);
        };
        if range.lo == range.hi {
            return Arc::new(Form::constant(range.lo, w));
        }
        let node = self.cut.node;
        // Hash-consing makes the node of an input element unique, so this runs once for each.
        let v = self.cut.world.new_var(|_, atom| Var {
            lo: range.lo,
            hi: range.hi,
            source: Source::Input { operand, index },
            residue: Default::default(),
            integer: None,
            parent: None,
            node,
            atom,
        });
        Arc::new(Form::atom(self.cut.world.var(v).atom))
    }

    pub(crate) fn sum(&mut self, a: &Form, b: &Form, sign: i64, w: u8) -> Arc<Form> {
        let mut form = Form::combine(a, 1, b, sign, w);
        if self.reduces(a, b, w) {
            // The quotient is of a sum that may be unfolded here.
            let met = self.cut.resolved(&form, w);
            return Arc::new(self.named(&met, w));
        }
        if let Some(digit) = self.digit(a, b, &form, w) {
            return Arc::new(digit);
        }
        if let Some(residue) = self.residue(a, b, &form, w) {
            return Arc::new(residue);
        }
        let functions = |f: &Form| f.t.iter().any(|t| self.functional(t.0));
        // A sum meets a function of the same sum (Barrett's subtraction); a constant meets nothing.
        let meet = !a.t.is_empty() && !b.t.is_empty();
        if meet && form.t.len() > 2 && functions(&form) && (!functions(a) || !functions(b)) {
            self.cut.resolve(&mut form, w);
        }
        Arc::new(form)
    }

    /// A form modulo a smaller power of two.
    pub(crate) fn truncate(&mut self, form: &Form, w: u8) -> Form {
        let mut out = form.scaled(1, w);
        let wide = |this: &Self, out: &Form| -> Vec<(u32, i64, Base, FunId)> {
            let of = |&(a, c): &(u32, i64)| match this.cut.world.atoms[a as usize] {
                Atom::Fun(b, f) if this.cut.world.funs.get(f).width > w => Some((a, c, b, f)),
                _ => None,
            };
            out.t.iter().filter_map(of).collect()
        };
        let mut funs = wide(self, &out);
        if funs.len() > 1 && out.t.len() > 2 {
            // A sum meets a quotient of it before functions in it are others.
            self.cut.resolve(&mut out, w);
            funs = wide(self, &out);
        }
        for (a, c, b, f) in funs {
            let Some(part) = self.low_bits(b, f, w) else { continue };
            out = Form::combine(&out, 1, &Form::atom(a), c.wrapping_neg(), w);
            out = Form::combine(&out, 1, &part, c, w);
        }
        out
    }

    /// A function modulo 2^w, w below its width, as a form where that is simpler.
    fn low_bits(&mut self, base: Base, f: FunId, w: u8) -> Option<Form> {
        let short = crate::funs::truncated(&mut self.cut.world.funs, f, w);
        if let Some(short) = short
            && let Some((k, x, terms)) = crate::funs::sum(&self.cut.world.funs, short)
        {
            let mut form = match (x, self.base_form(base, w)) {
                (0, _) => Form::default(),
                (_, Some(b)) => b.scaled(x, w),
                (_, None) => return None,
            };
            form.k = k;
            for (g, c) in terms {
                let atom = self.cut.world.atom(Atom::Fun(base, g));
                form = Form::combine(&form, 1, &Form::atom(atom), c, w);
            }
            return Some(self.truncate(&form, w));
        }
        let (lo, hi) = self.cut.world.domain(base);
        if hi - lo < 1 << 17
            && let Some((c, d)) =
                self.cut.enumeration.linear(&mut self.cut.world.funs, f, lo, hi, w)
            && let Some(b) = self.base_form(base, w)
        {
            return Some(b.scaled(c, w).plus(d, w));
        }
        // Else the same integer does, and stays the same atom; only 64 bits are worth shedding, and zeros: quotients
        // of words without sign have the lower half of those with sign.
        let funs = &self.cut.world.funs;
        let zeros = matches!(crate::funs::extended(funs, f), Some((_, false)));
        let shed = funs.get(f).width > 32 || zeros;
        short.filter(|_| shed).map(|s| Form::atom(self.cut.world.atom(Atom::Fun(base, s))))
    }

    /// A base as a form modulo 2^w, where it is one.
    pub(crate) fn base_form(&self, b: Base, w: u8) -> Option<Form> {
        match b {
            Base::Var(v) => {
                let var = self.cut.world.var(v);
                match &var.source {
                    // A wide sum is better known by its terms: its halves are split by them.
                    Source::Cut { form, .. }
                        if var.hi - var.lo > 65535
                            && !self.cut.world.wide
                            && !self.cut.world.has_floor(form) =>
                    {
                        Some(form.scaled(1, w))
                    }
                    // A quotient is better known by its form: the sum that it reduces is written
                    // so.
                    Source::Cut { form, .. } if self.cut.is_quotient(form) => {
                        Some(form.scaled(1, w))
                    }
                    _ => Some(Form::atom(var.atom)),
                }
            }
            Base::Low(l) if w <= 16 => Some(self.cut.world.lows[l as usize].form.scaled(1, w)),
            Base::Low(_) => None,
        }
    }

    /// A function of a base as a form modulo 2^w, linear where it can be.
    pub(crate) fn function(&mut self, base: Base, f: FunId) -> Arc<Form> {
        let w = self.cut.world.funs.get(f).width;
        let (lo, hi) = self.cut.world.domain(base);
        if let Some((c, d)) = self.cut.enumeration.linear(&mut self.cut.world.funs, f, lo, hi, w) {
            if c == 0 {
                return Arc::new(Form::constant(d, w));
            }
            if let Some(b) = self.base_form(base, w) {
                return Arc::new(b.scaled(c, w).plus(d, w));
            }
        }
        Arc::new(Form::atom(self.cut.world.atom(Atom::Fun(base, f))))
    }

    /// A nonlinear operation on values that all depend on one base.
    pub(crate) fn apply(&mut self, op: Op, args: &[NodeId], w: u8) -> Arc<Form> {
        let forms: Vec<(Arc<Form>, u8)> =
            args.iter().map(|a| (self.get(*a), self.width(*a))).collect();
        self.apply_forms(op, &forms, w)
    }

    /// A selection whose words are not understood. Their low halves may be, and often only these
    /// are used. `whole`, which is opaque, represents the bits above them.
    fn select_low(&mut self, args: &[NodeId], whole: &Form, w: u8) -> Arc<Form> {
        let mut all = vec![(self.get(args[0]), self.width(args[0]))];
        for &a in &args[1..] {
            let form = self.get(a);
            all.push((Arc::new(self.truncate(&form, 16)), 16));
        }
        let low = self.apply_forms(Op::Select, &all, 16);
        let top = whole.scaled(1 << 16, w);
        Arc::new(Form::combine(&low, 1, &top, 1, w))
    }

    fn apply_forms(&mut self, op: Op, args: &[(Arc<Form>, u8)], w: u8) -> Arc<Form> {
        let mut used: Vec<(Option<Base>, FunId)> = Vec::with_capacity(args.len());
        for (form, width) in args {
            match self.cut.use_form(form, *width) {
                Use::Const(c) => used.push((None, self.cut.world.funs.constant(*width, c))),
                Use::One(b, f) => used.push((Some(b), f)),
                Use::Opaque(c) => return self.opaque(c),
            }
        }
        let used_before = used.clone();
        let base = match self.unify(&mut used) {
            Ok(base) => base,
            Err(cause) => return self.opaque(cause),
        };
        self.cut.by_function(base, &used_before);
        let funs: Vec<FunId> = used.iter().map(|u| u.1).collect();
        let f = self.cut.op(w, op, &funs);
        match base {
            Some(base) => self.function(base, f),
            None => {
                let value = self.cut.world.funs.at(f, 0);
                Arc::new(Form::constant(value, w))
            }
        }
    }

    /// Brings values to one base, going back to the variable that a variable is a function of.
    fn unify(&mut self, used: &mut [(Option<Base>, FunId)]) -> Result<Option<Base>, u32> {
        loop {
            let mut bases: Vec<Base> = used.iter().filter_map(|u| u.0).collect();
            bases.sort_unstable();
            bases.dedup();
            if bases.len() < 2 {
                return Ok(bases.first().copied());
            }
            // The latest variable that has a parent.
            let step = bases.iter().rev().find_map(|b| match b {
                Base::Var(v) => self.cut.world.var(*v).parent.map(|p| (*b, p)),
                Base::Low(_) => None,
            });
            let Some((b, (parent, inner))) = step else {
                return Err(self.cut.unmodelled(
                    "an operation that is not linear combines values of several variables",
                ));
            };
            for u in used.iter_mut().filter(|u| u.0 == Some(b)) {
                *u = (Some(parent), self.cut.world.funs.compose(u.1, inner));
            }
        }
    }
}
