//! What is known of every word of a graph: some of its low bits, as a form in the inputs.
//!
//! A word X of a node is `2^twos·c·V modulo 2^known` for all inputs in range, with an odd c and V the value
//! of a form. Sums, products and shifts to the left of words that wrap obey this without any bound. A shift
//! to the right by k drops bits: where 2^k does not divide what is known of the factors, what comes out
//! is a value of its own ([`Make::Half`]). That it is congruent to a polynomial in the inputs needs that 2^k
//! divides every coefficient of what was shifted: the columns ([`super::columns`]) find that, or the proof
//! fails. Then they agree in k bits less than before. What is not sure of such a value in its upper bits is
//! the same wherever it is used, so that sums may be sure of more.
//!
//! Everything else that may become of a word (comparison, selection, upper halves of products) leaves no
//! known bit, which is always true. Beside this every word has an interval, read as signed.

use super::word::{
    BITS, Form, FormId, Make, ONE, Word, all, constant, fitting, join, normal, opaque, truncated,
};
use crate::function::Side;
use ringforge_contract::InputRange;
use ringforge_machine::graph::{Graph, Node, NodeId, Op};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Values that a sum is not sure of, at most; beyond, it is one itself.
const MOST: usize = 16;

/// −1.
const MINUS: u16 = u16::MAX;

/// Words and forms of the nodes below some roots.
pub(super) struct Words<'g> {
    graph: &'g Graph,
    inputs: &'g [InputRange],
    pub forms: Vec<Form>,
    words: Vec<Option<Word>>,
    index: FxHashMap<Make, FormId>,
    /// Nodes visited.
    pub visited: usize,
}

impl<'g> Words<'g> {
    /// Visits everything below `roots`; `inputs[o]` is the range of operand o's elements.
    pub fn new(graph: &'g Graph, inputs: &'g [InputRange], roots: &[NodeId]) -> Self {
        let size = roots.iter().map(|r| r.0 as usize + 1).max().unwrap_or(0);
        let mut needed = vec![false; size];
        roots.iter().for_each(|r| needed[r.0 as usize] = true);
        for id in (0..size).rev() {
            if needed[id] {
                graph.node(NodeId(id as u32)).args.iter().for_each(|a| needed[a.0 as usize] = true);
            }
        }
        let (make, unsure) = (Make::One, SmallVec::new());
        let one = Form { make, side: Side::None, known: BITS, unsure, node: 0 };
        let mut this = Words {
            graph,
            inputs,
            forms: vec![one],
            words: vec![None; size],
            index: FxHashMap::default(),
            visited: 0,
        };
        for id in (0..size).filter(|&id| needed[id]) {
            let word = this.word(id as u32, graph.node(NodeId(id as u32)));
            debug_assert!(word.twos <= word.known && word.precision() <= BITS);
            this.words[id] = Some(word);
            this.visited += 1;
        }
        this
    }

    /// A constant and the bits above it.
    fn joined(&self, node: &Node) -> Option<(u64, u8, NodeId)> {
        let first = self.graph.node(node.args[0]);
        match (&first.op, &node.args[..]) {
            (&Op::Const(c), &[_, high]) => Some((c, first.width, high)),
            _ => None,
        }
    }

    /// What is known of a visited node.
    pub fn get(&self, id: NodeId) -> Word {
        self.words[id.0 as usize].expect("arguments precede their users")
    }

    /// Elements of inputs below the roots.
    pub fn inputs_used(&self) -> usize {
        self.forms.iter().filter(|f| matches!(f.make, Make::Input { .. })).count()
    }

    /// The low bits of a word in which it is its form's polynomial.
    pub fn certain(&self, word: Word) -> u8 {
        word.known.min(word.twos + self.forms[word.form as usize].known)
    }

    /// The form so made; of a product or quotient `known` bits are sure.
    fn form(&mut self, make: Make, node: u32, known: u8) -> FormId {
        if let Some(&id) = self.index.get(&make) {
            return id;
        }
        let id = self.forms.len() as FormId;
        let of = |x: FormId| &self.forms[x as usize];
        let mut unsure = SmallVec::new();
        let side = match make {
            Make::One => Side::None,
            Make::Input { operand: 0, .. } => Side::A,
            Make::Input { .. } => Side::B,
            Make::Sum { x, c, y, d } => {
                unsure = merged(of(x), c, of(y), d);
                join(of(x).side, of(y).side)
            }
            Make::Product { .. } => Side::Both,
            Make::Half { x, .. } => of(x).side,
        };
        let sure = |&(x, c): &(FormId, u16)| of(x).known + c.trailing_zeros() as u8;
        let known = unsure.iter().map(sure).min().unwrap_or(known).min(BITS);
        if known == BITS {
            unsure.clear();
        } else if unsure.is_empty() || unsure.len() > MOST {
            unsure = smallvec![(id, 1)];
        }
        self.forms.push(Form { make, side, known, unsure, node });
        self.index.insert(make, id);
        id
    }

    fn word(&mut self, id: u32, node: &Node) -> Word {
        let w = node.width;
        let arg = |i: usize| self.get(node.args[i]);
        let from = node.args.first().map_or(0, |&a| self.graph.node(a).width);
        match node.op {
            Op::Const(c) => constant(c, w),
            Op::Input { operand, index } => self.input(id, operand, index, w),
            Op::Add => match average(self.graph, node) {
                Some((x, y)) => {
                    // The sum has a bit more than the words, of which nothing is known.
                    let sum = self.sum(id, self.get(x), self.get(y), 1, w);
                    let (lo, hi) = all(w);
                    Word { lo, hi, ..self.right(id, sum, 1, w, w) }
                }
                None => self.sum(id, arg(0), arg(1), 1, w),
            },
            Op::Sub => self.sum(id, arg(0), arg(1), MINUS, w),
            Op::Mul => self.product(id, arg(0), arg(1), w),
            Op::Shl(k) => self.product(id, arg(0), constant(1 << k, 64), w),
            Op::Slice { lo: 0 } => truncated(arg(0), w),
            Op::Slice { lo } => {
                let x = arg(0);
                let (l, h) = fitting((x.lo >> lo).into(), (x.hi >> lo).into(), w);
                Word { lo: l, hi: h, ..self.right(id, x, lo, w, w) }
            }
            Op::Ashr(0) | Op::Lshr(0) => arg(0),
            Op::Ashr(k) | Op::Lshr(k) => {
                let x = arg(0);
                let (lo, hi) = match node.op {
                    Op::Lshr(_) if x.lo < 0 => (0, (u64::MAX >> (64 - w) >> k) as i64),
                    _ => (x.lo >> k, x.hi >> k),
                };
                Word { lo, hi, ..self.right(id, x, k, w - k, w) }
            }
            Op::Sext => self.extended(node.args[0], true, w),
            Op::Zext => match self.extended(node.args[0], false, w) {
                x if x.lo >= 0 => x,
                x => Word { lo: 0, hi: (u64::MAX >> (64 - from)) as i64, ..x },
            },
            Op::Concat => self.concat(id, node),
            Op::And => self.and(id, node),
            Op::Or | Op::Xor => self.or(id, node),
            Op::Select => {
                let (lo, hi) = (arg(1).lo.min(arg(2).lo), arg(1).hi.max(arg(2).hi));
                opaque((lo, hi))
            }
            Op::SatS | Op::SatU => {
                let (x, signed) = (arg(0), node.op == Op::SatS);
                let (least, greatest) = if signed { all(w) } else { (0, all(w + 1).1) };
                let fits = x.lo >= least && x.hi <= greatest;
                if fits { truncated(x, w) } else { opaque(all(w)) }
            }
            Op::Address { .. } | Op::Eq | Op::Ult | Op::Slt => opaque(all(w)),
        }
    }

    fn input(&mut self, id: u32, operand: u16, index: u32, w: u8) -> Word {
        let Some(range) = self.inputs.get(operand as usize) else { return opaque(all(w)) };
        let (lo, hi) = fitting(range.lo.into(), range.hi.into(), w);
        let form = self.form(Make::Input { operand, index }, id, BITS);
        Word { form, c: 1, twos: 0, known: w.min(BITS), lo, hi }
    }

    /// `x + d·y`, d = ±1, modulo 2^w.
    fn sum(&mut self, id: u32, x: Word, y: Word, d: u16, w: u8) -> Word {
        let wide = |lo: i64, hi: i64| (i128::from(lo), i128::from(hi));
        let ((a, b), (l, h)) = (wide(x.lo, x.hi), wide(y.lo, y.hi));
        let (lo, hi) =
            fitting(if d == 1 { a + l } else { a - h }, if d == 1 { b + h } else { b - l }, w);
        // Both are multiples of 2^twos; what is left of them is computed modulo 2^16.
        let twos = x.twos.min(y.twos);
        let known = x.known.min(y.known).min(w).min(twos + BITS);
        let part = |v: Word| v.c.checked_shl((v.twos - twos).into()).unwrap_or(0);
        let (c, d) = (part(x), part(y).wrapping_mul(d));
        let (form, c) = match (c, d) {
            (c, 0) => (x.form, c),
            (0, d) => (y.form, d),
            (c, d) if x.form == y.form => (x.form, c.wrapping_add(d)),
            (c, d) => (self.form(Make::Sum { x: x.form, c, y: y.form, d }, id, BITS), 1),
        };
        normal(Word { form, c, twos, known, lo, hi })
    }

    fn product(&mut self, id: u32, x: Word, y: Word, w: u8) -> Word {
        let corner = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let ends = [corner(x.lo, y.lo), corner(x.lo, y.hi), corner(x.hi, y.lo), corner(x.hi, y.hi)];
        let (lo, hi) = ends.iter().fold((ends[0], ends[0]), |e, &v| (e.0.min(v), e.1.max(v)));
        let (lo, hi) = fitting(lo, hi, w);
        let (twos, precision) = (x.twos + y.twos, x.precision().min(y.precision()));
        let side = |v: Word| self.forms[v.form as usize].side;
        let (form, precision) = match (side(x), side(y)) {
            (_, Side::None) => (x.form, precision),
            (Side::None, _) => (y.form, precision),
            (Side::A, Side::B) => (self.bilinear(id, x.form, y.form), precision),
            (Side::B, Side::A) => (self.bilinear(id, y.form, x.form), precision),
            // Not bilinear: the factors of two are all that is known.
            _ => (ONE, 0),
        };
        let known = (twos + precision).min(w);
        normal(Word { form, c: x.c.wrapping_mul(y.c), twos, known, lo, hi })
    }

    fn bilinear(&mut self, id: u32, a: FormId, b: FormId) -> FormId {
        let known = self.forms[a as usize].known.min(self.forms[b as usize].known);
        self.form(Make::Product { a, b }, id, known)
    }

    /// `floor(x/2^k)`, w bits of it that node `id` makes a word of `width` bits with; the interval is the
    /// caller's. To be called once for a node.
    fn right(&mut self, id: u32, x: Word, k: u8, w: u8, width: u8) -> Word {
        let certain = self.certain(x);
        if x.twos >= k && x.known > k {
            return normal(Word { twos: x.twos - k, known: (x.known - k).min(w), ..x });
        }
        // Constants are folded before they come here.
        if certain <= k || x.form == ONE {
            return opaque(all(w));
        }
        let make = Make::Half { x: x.form, bits: k - x.twos, node: id };
        let form = self.form(make, id, (certain - k).min(w));
        // The value is what the node has, with c taken out.
        Word { form, twos: 0, known: width.min(BITS), ..x }
    }

    /// An extension to w bits keeps what is known; an input it keeps whole.
    fn extended(&self, arg: NodeId, signed: bool, w: u8) -> Word {
        let (x, node) = (self.get(arg), self.graph.node(arg));
        let Op::Input { operand, .. } = node.op else { return x };
        let Some(r) = self.inputs.get(operand as usize) else { return x };
        let (least, greatest) = all(node.width);
        let as_signed = least <= r.lo && r.hi <= greatest;
        let as_unsigned = 0 <= r.lo && i128::from(r.hi) < 1 << node.width;
        let whole = if signed { as_signed } else { as_unsigned };
        if whole { Word { known: w.min(BITS), ..x } } else { x }
    }

    fn concat(&mut self, id: u32, node: &Node) -> Word {
        let (lo, hi) = all(node.width);
        let word = match self.joined(node) {
            Some((c, at, high)) => {
                let high = self.product(id, self.get(high), constant(1 << at, 64), node.width);
                self.sum(id, high, constant(c, node.width), 1, node.width)
            }
            None => self.get(node.args[0]),
        };
        Word { lo, hi, ..word }
    }

    fn and(&mut self, id: u32, node: &Node) -> Word {
        let w = node.width;
        for (x, m) in [(0, 1), (1, 0)] {
            let Op::Const(mask) = self.graph.node(node.args[m]).op else { continue };
            if mask == 0 {
                return constant(0, w);
            }
            let from = mask.trailing_zeros() as u8;
            let ones = (mask >> from).trailing_ones() as u8;
            // The first run of ones, in place.
            let bits = self.right(id, self.get(node.args[x]), from, ones, ones);
            let word = self.product(id, bits, constant(1 << from, 64), from + ones);
            let (lo, hi) = if mask >> (w - 1) == 0 { (0, mask as i64) } else { all(w) };
            return Word { lo, hi, ..word };
        }
        opaque(all(w))
    }

    fn or(&mut self, id: u32, node: &Node) -> Word {
        let w = node.width;
        for (x, y) in [(0, 1), (1, 0)] {
            let (x, y, c) = (node.args[x], node.args[y], &self.graph.node(node.args[y]).op);
            let (x, y) = (self.get(x), self.get(y));
            let ones = u64::MAX >> (64 - w);
            if node.op == Op::Xor && *c == Op::Const(ones) {
                return self.sum(id, y, x, MINUS, w);
            }
            // Bits of y below all bits of x: or, exclusive or and sum are one.
            if y.lo >= 0 && x.twos < 63 && y.hi < 1 << x.twos {
                // The interval must not rest on what is known of bits.
                let most = u64::MAX.checked_shr((x.hi | y.hi).leading_zeros()).unwrap_or(0);
                let (lo, hi) = if x.lo >= 0 { (0, most as i64) } else { all(w) };
                return Word { lo, hi, ..self.sum(id, x, y, 1, w) };
            }
        }
        opaque(all(w))
    }
}

/// What is not sure of `c·x + d·y`.
fn merged(x: &Form, c: u16, y: &Form, d: u16) -> SmallVec<[(FormId, u16); 2]> {
    let mut out: SmallVec<[(FormId, u16); 2]> = SmallVec::new();
    let x = x.unsure.iter().map(|t| (t.0, c.wrapping_mul(t.1)));
    for (atom, c) in x.chain(y.unsure.iter().map(|t| (t.0, d.wrapping_mul(t.1)))) {
        match out.iter_mut().find(|t| t.0 == atom) {
            Some(t) => t.1 = t.1.wrapping_add(c),
            None => out.push((atom, c)),
        }
    }
    out.retain(|t| t.1 != 0);
    out
}

/// x and y where a node is `floor((x + y)/2)`, both read without sign, in words that do not hold the sum: what
/// compilers make of a halved sum of wider words.
///
/// ```text
/// (x & y) + ((x ^ y) >> 1)   or   (x >> 1) + (y >> 1) + (x & y & 1)
/// ```
fn average(graph: &Graph, node: &Node) -> Option<(NodeId, NodeId)> {
    let pair = |id: NodeId, op: Op| {
        let node = graph.node(id);
        let args = || if node.args[0] < node.args[1] { (0, 1) } else { (1, 0) };
        (node.op == op).then(|| (node.args[args().0], node.args[args().1]))
    };
    let half = |id: NodeId| {
        let node = graph.node(id);
        (node.op == Op::Lshr(1)).then(|| node.args[0])
    };
    [(0, 1), (1, 0)].into_iter().find_map(|(p, q)| {
        let (p, q) = (node.args[p], node.args[q]);
        if let Some(common) = pair(p, Op::And)
            && half(q).and_then(|x| pair(x, Op::Xor)) == Some(common)
        {
            return Some(common);
        }
        let (x, y) = pair(p, Op::Add)?;
        let (x, y) = (half(x)?, half(y)?);
        let (both, one) = (graph.node(q).args.first()?, graph.node(q).args.get(1)?);
        let carry = graph.node(q).op == Op::And && graph.node(*one).op == Op::Const(1);
        let (x, y) = (x.min(y), x.max(y));
        (carry && pair(*both, Op::And) == Some((x, y))).then_some((x, y))
    })
}
