//! Finds what the kernel can know of every word of a graph, and writes the lines that show it.
//!
//! Sums, products and left shifts of words that wrap are forms over atoms modulo 2^bits without any
//! bound. A right shift is a floor quotient of the word as an integer, which may need a `low` atom.
//! The kernel finds that the quotient is a polynomial in the inputs again, where it compares
//! outputs with the ring's. Sums that are used more than once, or multiplied, get a name.
//!
//! After any other operation on a word (comparison, selection, upper halves of products) the search
//! claims no known bit, which is always true.

use super::atoms::Atoms;
use super::demand::Demand;
use ringforge_contract::InputRange;
use ringforge_kernel::atom::Atom;
use ringforge_kernel::certificate::{Line, Rule};
use ringforge_kernel::claim::Witness;
use ringforge_kernel::form::{Form, Word};
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

/// The most terms of a sum without a name.
const TERMS: usize = 12;

/// The most terms of a product that the kernel multiplies out.
const PRODUCT: usize = 256;

/// Words of the nodes below some roots.
pub(super) struct Words<'g> {
    graph: &'g Graph,
    demand: Demand,
    pub atoms: Atoms<'g>,
    words: Vec<Word>,
    /// Rules of the node at hand.
    rules: Vec<Rule>,
    /// Nodes visited.
    pub visited: usize,
}

impl<'g> Words<'g> {
    /// Visits everything below `roots`; `inputs[o]` is the range of operand o's elements.
    pub fn new(graph: &'g Graph, inputs: &'g [InputRange], roots: &[NodeId]) -> Self {
        let demand = Demand::new(graph, roots);
        let size = demand.bits.len();
        let mut this = Words {
            graph,
            demand,
            atoms: Atoms::new(inputs),
            words: vec![Word::default(); size],
            rules: Vec::new(),
            visited: 0,
        };
        for id in 0..size as u32 {
            if this.demand.bits[id as usize] > 0 {
                this.visit(id);
            }
        }
        this
    }

    /// What is known of a node.
    pub fn get(&self, id: NodeId) -> &Word {
        &self.words[id.0 as usize]
    }

    /// The low bits of a word in which it is a polynomial in the inputs, as far as is expected.
    pub fn certain(&self, id: NodeId) -> u8 {
        self.atoms.certain_of(self.get(id))
    }

    /// The line of output k of `bits` bits, and its interval.
    pub fn output(&mut self, k: usize, node: NodeId, signed: bool) -> (i128, i128) {
        let word = self.get(node).clone();
        let bits = self.graph.node(node).width;
        let by = Witness::PLAIN;
        let (form, rules) = if word.t.is_empty() {
            let unsigned = i128::from(word.k as u64 & (u64::MAX >> (64 - bits)));
            (Form::constant(if signed { word.k.into() } else { unsigned }), Vec::new())
        } else {
            let form = self.atoms.read(&word, signed, node.0);
            (form.clone(), vec![Rule::Extend { form, by: by.clone() }])
        };
        let range = self.atoms.interval(&form).unwrap_or((i128::MIN, i128::MAX));
        self.atoms.lines.push(Line::Output { index: k as u32, rules, form, by });
        range
    }

    fn visit(&mut self, id: u32) {
        let graph = self.graph;
        self.visited += 1;
        let node = graph.node(NodeId(id));
        let mut word = self.word(id, node);
        // Of a quotient some upper bits may be unknown, which are the same wherever it is used.
        let divided = self.rules.iter().any(|r| matches!(r, Rule::Quotient { .. }));
        if divided && word.bits < self.demand.bits[id as usize] {
            let atom = self.atoms.value(id, node.width, word);
            self.rules.push(Rule::Value { atom });
            word = Word::atom(atom, node.width).low(node.width);
        }
        let rules = std::mem::take(&mut self.rules);
        let mut claim = None;
        let i = id as usize;
        let shared = self.demand.uses[i] > 1 || self.demand.factor[i];
        if word.t.len() > if shared { 1 } else { TERMS } {
            let low = word.low(self.demand.bits[i]);
            let plain = self.atoms.interval(&low.integer()).is_some();
            // What has an interval keeps it.
            if low.t.len() > 1 && (!plain || low.t.len() > TERMS || self.demand.factor[i]) {
                let name = self.atoms.make(Atom::Name(low.integer().into()), id);
                // Of one bit the coefficient is -1.
                word = Word::atom(name, low.bits).low(low.bits);
                claim = Some(word.clone());
            }
        }
        if !rules.is_empty() || claim.is_some() {
            self.atoms.lines.push(Line::Node { node: id, rules, claim });
        }
        self.words[i] = word;
    }

    fn word(&mut self, id: u32, node: &Node) -> Word {
        let (w, args) = (node.width, &node.args);
        let arg = |i: usize| self.get(args[i]).clone();
        let from = args.first().map_or(0, |&a| self.graph.node(a).width);
        match node.op {
            Op::Const(c) => Word::constant(c as i64, w),
            Op::Input { operand, index } => {
                let atom = self.atoms.make(Atom::Input { operand, index }, id);
                Word::atom(atom, w)
            }
            Op::Add => arg(0).plus(&arg(1), 1),
            Op::Sub => arg(0).plus(&arg(1), -1),
            Op::Mul => self.product(id, &arg(0), &arg(1), w),
            Op::Shl(k) => arg(0).times(1i64.wrapping_shl(k.into()), w),
            Op::Slice { lo } => self.slice(id, &arg(0), from, lo, w),
            Op::Ashr(k) | Op::Lshr(k) => {
                self.shift(id, &arg(0), w, k, matches!(node.op, Op::Ashr(_)))
            }
            Op::Sext | Op::Zext => {
                let needed = self.demand.bits[id as usize];
                self.extended(id, &arg(0), from, w, node.op == Op::Sext, needed)
            }
            Op::Concat => {
                let low = arg(0);
                match &args[..] {
                    &[_, high] if low.t.is_empty() && low.bits == from => {
                        let bits = low.k as u64 & (u64::MAX >> (64 - from));
                        let high = self.get(high).times(1i64.wrapping_shl(from.into()), w);
                        Word::constant(bits as i64, w).plus(&high, 1)
                    }
                    _ => low,
                }
            }
            Op::And => self.and(id, node),
            Op::Or | Op::Xor => self.or(node, &arg(0), &arg(1)),
            Op::SatS | Op::SatU => {
                let (word, signed) = (arg(0), node.op == Op::SatS);
                let form = word.integer();
                let fits = self.atoms.fits(&form, from, true) && self.atoms.fits(&form, w, signed);
                if word.bits != from || !fits {
                    return Word::default();
                }
                let word = Word::of(&form, w);
                self.rules.push(Rule::Extend { form, by: Witness::PLAIN });
                word
            }
            // What is chosen is nothing, or one word.
            Op::Select if arg(1) == arg(2) => arg(1),
            Op::Select | Op::Address { .. } | Op::Eq | Op::Ult | Op::Slt => Word::default(),
        }
    }

    fn product(&mut self, id: u32, x: &Word, y: &Word, w: u8) -> Word {
        for (x, y) in [(x, y), (y, x)] {
            if y.t.is_empty() && y.bits == w {
                return x.times(y.k, w);
            }
        }
        let bits = x.bits.min(y.bits).min(self.demand.bits[id as usize]);
        let (a, b) = (x.low(bits), y.low(bits));
        if bits == 0 || a.t.len() * b.t.len() > PRODUCT {
            return Word::default();
        }
        let mut out = Word::constant(a.k.wrapping_mul(b.k), bits);
        out = out.plus(&Word { k: 0, ..a.clone() }, b.k).plus(&Word { k: 0, ..b.clone() }, a.k);
        for &(x, c) in &a.t {
            for &(y, d) in &b.t {
                let atom = self.atoms.make(Atom::Product(x.min(y), x.max(y)), id);
                out = out.plus(&Word::atom(atom, bits), c.wrapping_mul(d));
            }
        }
        self.rules.push(Rule::Product { a, b });
        out
    }

    /// Whether quotients of a word by 2^k are worth while.
    fn divides(&self, x: &Word, k: u8) -> bool {
        !x.t.is_empty() && self.atoms.certain_of(x) > k
    }

    fn quotient_rule(&mut self, form: &Form) {
        let (zeros, by) = (Vec::new(), Witness::PLAIN);
        self.rules.push(Rule::Quotient { form: form.clone(), base: None, zeros, by });
    }

    /// Bits [lo, lo + width) of a word of `from` bits.
    fn slice(&mut self, id: u32, x: &Word, from: u8, lo: u8, width: u8) -> Word {
        if lo == 0 {
            return x.low(width);
        }
        if x.t.is_empty() && x.bits == from {
            let bits = x.k as u64 & (u64::MAX >> (64 - from));
            return Word::constant((bits >> lo) as i64, width);
        }
        if !self.divides(x, lo) {
            return Word::default();
        }
        let form = x.integer();
        self.quotient_rule(&form);
        self.atoms.quotient(&form, lo, width.min(x.bits - lo), id)
    }

    fn shift(&mut self, id: u32, x: &Word, w: u8, k: u8, signed: bool) -> Word {
        if k == 0 {
            return x.clone();
        }
        if x.t.is_empty() && x.bits == w {
            let bits = x.k as u64 & (u64::MAX >> (64 - w));
            return Word::constant(if signed { x.k >> k } else { (bits >> k) as i64 }, w);
        }
        if x.bits < w {
            return self.slice(id, x, w, k, w - k);
        }
        if !self.divides(x, k) {
            return Word::default();
        }
        let form = self.atoms.read(x, signed, id);
        self.quotient_rule(&form);
        self.atoms.quotient(&form, k, w, id)
    }

    /// An extension to w bits keeps what is known. If more bits are needed, it extends the integer.
    fn extended(&mut self, id: u32, x: &Word, from: u8, w: u8, signed: bool, needed: u8) -> Word {
        if x.t.is_empty() && x.bits == from {
            let bits = x.k as u64 & (u64::MAX >> (64 - from));
            return Word::constant(if signed { x.k } else { bits as i64 }, w);
        }
        if needed <= from || x.bits < from {
            return x.clone();
        }
        let form = self.atoms.read(x, signed, id);
        let word = Word::of(&form, w);
        self.rules.push(Rule::Extend { form, by: Witness::PLAIN });
        word
    }

    fn and(&mut self, id: u32, node: &Node) -> Word {
        let w = node.width;
        let Some((x, from, ones)) = mask(self.graph, node) else { return Word::default() };
        let x = self.get(x).clone();
        if ones == 0 {
            return Word::constant(0, w);
        }
        if ones == w {
            return x;
        }
        let mut part = self.slice(id, &x, w, from, ones);
        if from + ones < w {
            let needed = self.demand.bits[id as usize].saturating_sub(from);
            // What is not known needs no rule.
            part = self.extended(id, &part, ones, w - from, false, needed);
        }
        part.times(1i64.wrapping_shl(from.into()), w)
    }

    fn or(&mut self, node: &Node, x: &Word, y: &Word) -> Word {
        let (w, or) = (node.width, node.op == Op::Or);
        for (x, y) in [(x, y), (y, x)] {
            if !y.t.is_empty() || y.bits != w {
                continue;
            }
            if y.k == 0 {
                return x.clone();
            }
            if !or && y.k == -1 {
                return Word::constant(-1, w).plus(x, -1);
            }
            if !or && y.k == i64::MIN >> (64 - w) {
                return x.plus(y, 1);
            }
        }
        for (zeros, x, y) in [(0, x, y), (1, y, x)] {
            let twos = x.t.iter().map(|t| t.1.trailing_zeros()).chain([x.k.trailing_zeros()]).min();
            let twos = twos.unwrap_or(0).min(x.bits.into()).min(62) as u8;
            let other = self.graph.node(node.args[1 - usize::from(zeros)]);
            let short = other.op == Op::Zext && self.graph.node(other.args[0]).width <= twos;
            let form = (!short).then(|| y.integer());
            let below = form.as_ref().is_none_or(|form| {
                y.bits == w
                    && self.atoms.fits(form, w, false)
                    && self.atoms.interval(form).is_some_and(|(_, hi)| hi < 1 << twos)
            });
            if twos > 0 && below {
                let by = Witness::PLAIN;
                self.rules.extend(form.map(|form| Rule::Sign { of: 1 - zeros, form, by }));
                return x.plus(y, 1);
            }
        }
        Word::default()
    }
}

/// The node that a mask applies to, and the mask's run of ones: its first bit and its length.
pub(super) fn mask(graph: &Graph, node: &Node) -> Option<(NodeId, u8, u8)> {
    [(0, 1), (1, 0)].into_iter().find_map(|(x, m)| {
        let Op::Const(mask) = graph.node(node.args[m]).op else { return None };
        if mask == 0 {
            return Some((node.args[x], 0, 0));
        }
        let (from, ones) = (mask.trailing_zeros() as u8, mask.count_ones() as u8);
        (mask >> from == u64::MAX >> (64 - ones)).then_some((node.args[x], from, ones))
    })
}
