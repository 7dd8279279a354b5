//! What a node's word is, from those of its arguments: the linear rules, which need no line of the
//! certificate, and the rules that the certificate names.

use crate::atom::{Atom, Facts};
use crate::certificate::Rule;
use crate::claim::{Why, Witness};
use crate::form::{AtomId, Form, Word};
use crate::fun::FunId;
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

/// Terms of a product at most.
const TERMS: usize = 256;

/// Tells the nodes whose words a visit may read: the arguments, and what rules look through them at. What it does not tell
/// may be forgotten before, and then nothing is known of it.
pub(crate) fn read(graph: &Graph, id: NodeId, tell: &mut dyn FnMut(NodeId)) {
    let node = graph.node(id);
    for &a in &node.args {
        tell(a);
        // Parts side by side, and the sign of a word.
        if let (Op::Concat | Op::Sext, Node { op: Op::Slice { .. }, args, .. }) =
            (&node.op, graph.node(a))
        {
            tell(args[0]);
        }
    }
}

/// Evaluates one node.
pub(crate) struct Visit<'a> {
    pub facts: &'a mut Facts,
    pub graph: &'a Graph,
    /// The words of earlier nodes, by number.
    pub words: &'a [Word],
    /// Rules that are left.
    pub rules: std::slice::Iter<'a, Rule>,
}

impl Visit<'_> {
    fn word(&self, id: NodeId) -> &Word {
        &self.words[id.0 as usize]
    }

    /// The word of a node.
    ///
    /// # Errors
    /// The condition of a rule that fails, or a rule that does not fit.
    pub fn node(&mut self, id: NodeId) -> Result<Word, Why> {
        let graph = self.graph;
        let node = graph.node(id);
        let mut value = None;
        if let [rest @ .., Rule::Value { atom }] = self.rules.as_slice() {
            (self.rules, value) = (rest.iter(), Some(*atom));
        }
        let word = match self.rules.as_slice().first() {
            Some(Rule::Function { base, args }) if self.at_once(node, args) => {
                self.rules.next();
                let own = |&a: &NodeId| (self.word(a).clone(), graph.node(a).width);
                let own: Vec<(Word, u8)> = node.args.iter().map(own).collect();
                self.function(&node.op, node.width, &own, (*base, args))?
            }
            Some(Rule::Negative { form, base, upper }) => {
                self.rules.next();
                self.negative(node, form, *base, *upper)?
            }
            _ => self.steps(node)?,
        };
        self.done()?;
        let Some(atom) = value else { return Ok(word) };
        if *self.facts.get(atom)? != (Atom::Value { node: id.0, bits: node.width }) {
            return Err(format!("atom {atom} is not the node's value"));
        }
        self.facts.tell(atom, word)?;
        Ok(Word::atom(atom, node.width))
    }

    /// The extension of an output's word to 64 bits.
    ///
    /// # Errors
    /// As [`Visit::node`].
    pub fn output(&mut self, node: NodeId, bits: u8, signed: bool) -> Result<Word, Why> {
        if self.graph.node(node).width != bits {
            return Err(format!("the output has {} bits", self.graph.node(node).width));
        }
        let word = self.word(node).clone();
        let word = self.step(&word, bits, &extension(signed), 64)?;
        self.done()?;
        Ok(word)
    }

    fn done(&mut self) -> Result<(), Why> {
        let left = self.rules.next().map(name);
        left.map_or(Ok(()), |rule| Err(format!("no step is left for {rule}")))
    }

    /// Whether the first rule is for the whole operation, and not for the first of its parts.
    fn at_once(&self, node: &Node, args: &[Word]) -> bool {
        let shift = matches!(node.op, Op::Lshr(_) | Op::Ashr(_));
        let one = args.len() == node.args.len();
        // A slice is one step, for which its own bits are enough.
        let one = one && !matches!(node.op, Op::Concat | Op::Slice { .. });
        one && !(shift && self.rules.as_slice().len() > 1)
    }

    fn steps(&mut self, node: &Node) -> Result<Word, Why> {
        let (w, args) = (node.width, &node.args);
        let width = |a: &NodeId| self.graph.node(*a).width;
        let arg = |i: usize| self.word(args[i]).clone();
        match node.op {
            Op::Const(c) => Ok(Word::constant(c as i64, w)),
            Op::Input { operand, index } => {
                let atom = self.facts.known(&Atom::Input { operand, index });
                Ok(atom.map_or(Word::default(), |a| Word::atom(a, w)))
            }
            Op::Address { .. } => Ok(Word::default()),
            Op::Add => Ok(self.word(args[0]).plus(self.word(args[1]), 1)),
            Op::Sub => Ok(self.word(args[0]).plus(self.word(args[1]), -1)),
            Op::Shl(k) => Ok(self.word(args[0]).times(1i64.wrapping_shl(k.into()), w)),
            Op::Mul => self.product(&arg(0), &arg(1), w),
            Op::Slice { .. } | Op::Sext | Op::Zext | Op::SatS | Op::SatU => {
                self.step(&arg(0), width(&args[0]), &node.op, w)
            }
            Op::Lshr(k) | Op::Ashr(k) => {
                let signed = matches!(node.op, Op::Ashr(_));
                self.shift(&arg(0), w, k, signed)
            }
            Op::Concat => self.concat(node),
            Op::And => self.and(args, w),
            Op::Or | Op::Xor => {
                // A sum, less what both have, once or twice.
                let rules = self.rules.len();
                let both = self.and(args, w)?.times(if node.op == Op::Or { 1 } else { 2 }, w);
                let sum = self.word(args[0]).plus(self.word(args[1]), 1);
                let known = both.bits >= sum.bits || self.rules.len() < rules;
                Ok(if known { sum.plus(&both, -1) } else { Word::default() })
            }
            Op::Select => match (self.word(args[0]).number(1), arg(1), arg(2)) {
                (Some(0), _, y) => Ok(y),
                (Some(_), x, _) => Ok(x),
                (None, x, y) => Ok(if x == y { x } else { Word::default() }),
            },
            Op::Eq | Op::Ult | Op::Slt => Ok(Word::default()),
        }
    }

    /// A part of a word of `from` bits, its extension, or its saturation.
    fn step(&mut self, word: &Word, from: u8, op: &Op, width: u8) -> Result<Word, Why> {
        if let Op::Slice { lo: 0 } = op {
            return Ok(word.low(width));
        }
        let saturates = matches!(op, Op::SatS | Op::SatU);
        // A constant is one.
        if let Some(k) = word.number(from)
            && !saturates
        {
            let bits = k as u64 & (u64::MAX >> (64 - from));
            let value = match op {
                Op::Slice { lo } => (bits >> lo) as i64,
                Op::Sext => k,
                _ => bits as i64,
            };
            return Ok(Word::constant(value, width));
        }
        match (self.rules.next(), op) {
            // The low bits of an extension are those of the word.
            (None, _) if saturates || matches!(op, Op::Slice { .. }) => Ok(Word::default()),
            (None, _) => Ok(word.clone()),
            (Some(Rule::Function { base, args }), _) => {
                self.function(op, width, &[(word.clone(), from)], (*base, args))
            }
            (Some(Rule::Extend { form, by }), Op::Sext | Op::Zext | Op::SatS | Op::SatU) => {
                // An integer that both words hold is not changed.
                let own = ends(from, *op != Op::Zext);
                let result = ends(width, matches!(op, Op::Sext | Op::SatS));
                let both = (own.0.max(result.0), own.1.min(result.1));
                self.lies(word, form, by, from, both)?;
                Ok(Word::of(form, width))
            }
            (Some(Rule::Quotient { form, base, zeros, .. }), &Op::Slice { lo }) => {
                let same = self.facts.with(form, zeros)?;
                // What is above a part has no say in it.
                let word = word.low(lo + width);
                self.facts.same_word(&word, &Word::of(&same, word.bits))?;
                let bits = word.bits.saturating_sub(lo);
                self.quotient(form, lo, bits, *base)
            }
            (Some(rule), _) => Err(format!("{} is no rule for this step", name(rule))),
        }
    }

    /// A shift to the right. If the word is an integer in range, the shift is one step; otherwise a part of the
    /// word is extended. If not all bits of the word are known, the rule is for the part.
    fn shift(&mut self, word: &Word, w: u8, k: u8, signed: bool) -> Result<Word, Why> {
        if k == 0 {
            return Ok(word.clone());
        }
        if let Some(Rule::Quotient { form, base, zeros, by }) = self.rules.as_slice().first()
            && self.rules.as_slice().len() == 1
            && word.bits == w
        {
            self.rules.next();
            let same = self.facts.with(form, zeros)?;
            self.lies(word, &same, by, w, ends(w, signed))?;
            return self.quotient(form, k, w, *base);
        }
        let part = self.step(word, w, &Op::Slice { lo: k }, w - k)?;
        self.step(&part, w - k, &extension(signed), w)
    }

    /// Rule *no wrap*: a word of `bits` bits is congruent to an integer between these ends. If the ends are those of a
    /// reading, reading the word gives the integer.
    fn lies(
        &mut self,
        word: &Word,
        form: &Form,
        by: &Witness,
        bits: u8,
        ends: (i128, i128),
    ) -> Result<(), Why> {
        self.is(word, form, bits)?;
        within(self.facts.interval_by(form, by)?, ends)
    }

    /// All bits of a word are known, and those of an integer.
    fn is(&mut self, word: &Word, form: &Form, bits: u8) -> Result<(), Why> {
        if word.bits != bits {
            return Err(format!("{} of {bits} bits are known", word.bits));
        }
        self.facts.same_word(word, &Word::of(form, bits))
    }

    /// `floor(form / 2^lo)` modulo 2^bits: multiples of 2^lo are taken out, and what all else is a multiple of.
    fn quotient(
        &mut self,
        form: &Form,
        lo: u8,
        bits: u8,
        base: Option<AtomId>,
    ) -> Result<Word, Why> {
        let (whole, rest) = form.divided(lo);
        let whole = Word::of(&whole, bits);
        let Some((rest, lo)) = rest else { return Ok(whole) };
        if let Some(base) = base {
            if lo >= 64 {
                return Err("bits beyond the 64 of a function".into());
            }
            within(self.facts.interval(&rest)?, ends(64, true))?;
            let f = self.over(base, &Word::of(&rest, 64))?;
            let part = self.named(base, 64 - lo, &Op::Slice { lo }, &[f])?;
            return Ok(whole.plus(&Word { bits, ..part }, 1));
        }
        if let Ok((l, h)) = self.facts.interval(&rest)
            && l >> lo == h >> lo
        {
            return Ok(whole.plus(&Word::constant((l >> lo) as i64, bits), 1));
        }
        // A quotient of a quotient is one.
        let mut inner = (rest, lo);
        if let [(a, 1)] = inner.0.t[..]
            && let Atom::Floor { form, bits } = self.facts.get(a)?.clone()
            && bits + lo <= 64
        {
            let constant = Form::constant(inner.0.k << bits);
            let joined = form.combine(1, &constant, 1).ok_or("numbers beyond 128 bits")?;
            inner = (joined, bits + lo);
        }
        let (form, lo) = inner;
        let atom = self.facts.atom(Atom::Floor { form: form.into(), bits: lo })?;
        Ok(whole.plus(&Word::atom(atom, bits), 1))
    }

    /// The product of two words: by a constant, or multiplied out.
    fn product(&mut self, x: &Word, y: &Word, w: u8) -> Result<Word, Why> {
        let Some(rule) = self.rules.next() else {
            let by = |x: &Word, y: &Word| Some(x.times(y.number(w)?, w));
            return Ok(by(x, y).or_else(|| by(y, x)).unwrap_or_default());
        };
        let Rule::Product { a, b } = rule else {
            return Err(format!("{} is no rule for a product", name(rule)));
        };
        self.facts.same_word(&x.low(a.bits), a)?;
        self.facts.same_word(&y.low(b.bits), b)?;
        self.multiplied(a, b)
    }

    /// The product of two words, multiplied out: `(k + Σ c·x)·(l + Σ d·y)`.
    fn multiplied(&mut self, a: &Word, b: &Word) -> Result<Word, Why> {
        if a.t.len() * b.t.len() > TERMS {
            return Err("a product of too many terms".into());
        }
        let bits = a.bits.min(b.bits);
        let (a, b) = (a.low(bits), b.low(bits));
        let mut out = Word::constant(a.k.wrapping_mul(b.k), bits);
        out = out.plus(&Word { k: 0, ..a.clone() }, b.k).plus(&Word { k: 0, ..b.clone() }, a.k);
        for &(x, c) in &a.t {
            for &(y, d) in &b.t {
                let atom = self.facts.atom(Atom::Product(x.min(y), x.max(y)))?;
                out = out.plus(&Word::atom(atom, bits), c.wrapping_mul(d));
            }
        }
        Ok(out)
    }

    /// Rule *sign*: with F congruent to a word x of w bits, `-[x < 0]` is
    /// `floor(F / 2^w) - floor((F + 2^(w-1)) / 2^w)`. A node is that if it is a shift that leaves nothing but
    /// the sign, or the extension of one bit.
    fn negative(
        &mut self,
        node: &Node,
        form: &Form,
        base: Option<AtomId>,
        upper: u8,
    ) -> Result<Word, Why> {
        let arg = *node.args.first().ok_or("a node without arguments")?;
        let (mut w, mut word) = match (&node.op, self.graph.node(arg)) {
            (Op::Ashr(k), x) if k + 1 == x.width => (x.width, self.word(arg).clone()),
            (Op::Sext, Node { op: Op::Slice { lo }, width: 1, args }) => {
                (lo + 1, self.word(args[0]).low(lo + 1))
            }
            _ => return Err("a node that is no sign of a word".into()),
        };
        // The same bit is the sign of what is above the lowest bits.
        if upper >= w {
            return Err(format!("bits from {upper} on of {w}"));
        }
        word = self.step(&word, w, &Op::Slice { lo: upper }, w - upper)?;
        w -= upper;
        self.is(&word, form, w)?;
        let middle = Form::constant(1i128 << (w - 1));
        let shifted = form.combine(1, &middle, 1).ok_or("numbers beyond 128 bits")?;
        let plain = self.quotient(form, w, node.width, base)?;
        let signed = self.quotient(&shifted, w, node.width, base)?;
        Ok(plain.plus(&signed, -1))
    }

    /// The bits that both arguments have: none or a product, by a rule, or those of a run of ones.
    fn and(&mut self, args: &[NodeId], w: u8) -> Result<Word, Why> {
        let [x, y] = [args[0], args[1]].map(|a| self.word(a).clone());
        match self.rules.as_slice().first() {
            Some(Rule::Sign { of, form, by }) => {
                self.rules.next();
                let (word, other) = if *of == 0 { (x, y) } else { (y, x) };
                self.is(&word, form, w)?;
                let range = self.facts.interval_by(form, by)?;
                if within(range, (-1, 0)).is_ok() {
                    // All ones keep the other word, and are -1.
                    let sign = Word::constant(0, w).plus(&Word::of(form, w), -1);
                    return self.multiplied(&sign, &other);
                }
                // As far as the other is known it has none of these bits.
                within(range, ends(other.twos().min(w), false))?;
                return Ok(Word::constant(0, other.bits));
            }
            // A zero extension has few bits whatever is known of its value.
            None => {
                for (x, other) in [(&x, args[1]), (&y, args[0])] {
                    let Node { op, args, .. } = self.graph.node(other);
                    let short = |a: &NodeId| self.graph.node(*a).width <= x.twos();
                    if *op == Op::Zext && args.iter().all(short) {
                        return Ok(Word::constant(0, x.bits));
                    }
                }
            }
            _ => {}
        }
        for (x, mask) in [(&x, &y), (&y, &x)] {
            let Some(m) = mask.number(w) else { continue };
            let m = m as u64 & (u64::MAX >> (64 - w));
            let (from, ones) = (m.trailing_zeros() as u8, m.count_ones() as u8);
            if m == 0 {
                return Ok(Word::constant(0, w));
            }
            if ones == w {
                return Ok(x.clone());
            }
            if m >> from == u64::MAX >> (64 - ones) {
                // A run of ones: the bits [from, from + ones) in place.
                let mut part = self.step(x, w, &Op::Slice { lo: from }, ones)?;
                if from + ones < w {
                    part = self.step(&part, ones, &Op::Zext, w - from)?;
                }
                return Ok(part.times(1i64.wrapping_shl(from.into()), w));
            }
        }
        Ok(Word::default())
    }

    /// Parts side by side, from the top down.
    fn concat(&mut self, node: &Node) -> Result<Word, Why> {
        let (graph, args) = (self.graph, &node.args);
        let top = args[args.len() - 1];
        let (mut high, mut bits) = (self.word(top).clone(), graph.node(top).width);
        // The node that the upper part was taken from, from which bit on.
        let mut taken = match graph.node(top).op {
            Op::Slice { lo } => Some((graph.node(top).args[0], lo)),
            _ => None,
        };
        for &low in args[..args.len() - 1].iter().rev() {
            let (from, word) = (graph.node(low).width, self.word(low).clone());
            let width = bits + from;
            let first = self.rules.as_slice().first();
            high = match first {
                Some(Rule::Whole) => {
                    self.rules.next();
                    let source = taken.filter(|t| t.1 == from).ok_or("no parts of one word")?;
                    let whole = self.word(source.0).clone();
                    self.facts.same_word(&word, &whole.low(from))?;
                    whole.low(width)
                }
                Some(Rule::Function { base, args }) if args.len() == 2 => {
                    self.rules.next();
                    let own = [(word, from), (high, bits)];
                    self.function(&Op::Concat, width, &own, (*base, args))?
                }
                _ => {
                    let low = self.step(&word, from, &Op::Zext, width)?;
                    low.plus(&high.times(1i64.wrapping_shl(from.into()), width), 1)
                }
            };
            (bits, taken) = (width, None);
        }
        Ok(high)
    }

    /// Rule *enumerated function*: an operation on words, each of so many bits, that are functions of one atom.
    fn function(
        &mut self,
        op: &Op,
        width: u8,
        own: &[(Word, u8)],
        (base, args): (AtomId, &[Word]),
    ) -> Result<Word, Why> {
        self.facts.get(base)?;
        if args.len() != own.len() {
            return Err(format!("{} arguments are expected", own.len()));
        }
        // What acts on low bits alone may be known of low bits alone: all but the choice of a selection.
        let low = matches!(
            op,
            Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Shl(_) | Op::Select
        );
        let first = usize::from(*op == Op::Select);
        let known = args.iter().skip(first).fold(width, |bits, a| bits.min(a.bits));
        let bits = if low { known } else { width };
        let mut funs = Vec::with_capacity(args.len());
        for (i, (arg, (word, from))) in args.iter().zip(own).enumerate() {
            let wanted = match op {
                // Of what is above a part nothing is asked.
                Op::Slice { lo } => arg.bits.max(lo + width),
                _ if low && i >= first => bits,
                _ => *from,
            };
            if wanted == 0 || arg.bits < wanted {
                return Err("too few bits are known".into());
            }
            self.facts.same_word(&word.low(arg.bits), arg)?;
            funs.push(self.over(base, &arg.low(wanted))?);
        }
        self.named(base, bits, op, &funs)
    }

    /// An operation on functions of an atom, as a word.
    fn named(&mut self, base: AtomId, bits: u8, op: &Op, args: &[FunId]) -> Result<Word, Why> {
        let funs = &mut self.facts.enumerated.funs;
        let fun = funs.word(bits, op, args).ok_or("an operation without arguments")?;
        if let Some(k) = funs.number(fun) {
            return Ok(Word::constant(k, bits));
        }
        let atom = self.facts.atom(Atom::Function { of: base, fun })?;
        Ok(Word::atom(atom, bits))
    }

    /// A word as a function of an atom, through names of functions of it.
    fn over(&mut self, base: AtomId, word: &Word) -> Result<FunId, Why> {
        let mut terms: Vec<(FunId, i64)> = Vec::new();
        let mut x = 0i64;
        for &(a, c) in &word.t {
            let mut at = self.facts.base(a);
            let mut fun = match self.facts.get(a)? {
                Atom::Function { fun, .. } => Some(*fun),
                _ => None,
            };
            while at != base {
                let parent = self.facts.parent(at)?;
                let (parent, inner) =
                    parent.ok_or_else(|| format!("atom {a} is no function of atom {base}"))?;
                fun = Some(match fun {
                    Some(f) => self.facts.composed(f, inner)?,
                    None => inner,
                });
                at = parent;
            }
            match fun {
                Some(f) => terms.push((f, c)),
                None => x = x.wrapping_add(c),
            }
        }
        Ok(self.facts.enumerated.funs.lin(word.bits, word.k, x, &terms))
    }
}

/// An extension.
fn extension(signed: bool) -> Op {
    if signed { Op::Sext } else { Op::Zext }
}

/// The least and the greatest integer that words of `bits` bits hold.
pub(crate) fn ends(bits: u8, signed: bool) -> (i128, i128) {
    if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Whether one interval lies within another one.
pub(crate) fn within((lo, hi): (i128, i128), (least, most): (i128, i128)) -> Result<(), Why> {
    if lo < least || hi > most {
        return Err(format!("[{lo}, {hi}] is not within [{least}, {most}]"));
    }
    Ok(())
}

/// The word for a rule in certificates.
fn name(rule: &Rule) -> String {
    let all = format!("{rule:?}").to_lowercase();
    all.split(' ').next().unwrap_or_default().to_string()
}
