//! Which of a block's operations become which instructions.

use super::long;
use ringforge_program::ir::*;
use std::collections::HashMap;

/// How a value is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By its own operation.
    Own,
    /// `sum + a·b`, or `sum - a·b`: low words (`mla`, `mls`).
    Fused { sum: Value, a: Value, b: Value, minus: bool },
    /// Products of all words; those of two neighbours are still to be added. Each half has two
    /// registers: the products of its low four words (two of 32 bits), and those of its high ones
    /// (`smlal`, `smlal2`).
    Products {
        /// Added to, of the same form.
        sum: Option<Value>,
        a: Value,
        b: Value,
    },
    /// Words 0, 0, 2, 2, … of `a` and `b` alternately, or words 1, 1, 3, 3, … (`trn1`, `trn2`).
    Transposed { a: Value, b: Value, odd: bool },
    /// `a + 2^(down - 1)` shifted right with its sign, where that sum is a word (`srshr`).
    Rounded { a: Value, down: u8 },
    /// Words `from..` of `a` and then those of `b`, in each half (`ext`).
    Between { a: Value, b: Value, from: usize },
    /// `sum` plus the products of all words of a window with one word of a pair (`smlal` by lane).
    /// Each half has two registers, as in [`Form::Products`]. But each sum is whole, and all are in
    /// order (`by_lane`).
    ByLane {
        /// Added to, of the same form.
        sum: Option<Value>,
        window: Value,
        pair: Value,
        /// The word of the pair.
        word: usize,
    },
    /// Low or high words of whole sums, all in their order (`uzp1`, `uzp2`).
    Unzipped { sums: Value, odd: bool },
    /// The high words of `sums - t·modulus`, all in order, where t has the low words of
    /// `sums·inverse`. The sums are whole and have 64 bits; the subtraction makes their low words
    /// zero (`mul`, `smlsl`, `uzp2`).
    Narrowed { sums: Value, inverse: Value, modulus: Value },
}

impl Form {
    /// The values that it is made of, each with whether it is wanted whole: no products, no word of a pair.
    pub fn sources(self, op: &Op) -> Vec<(Value, bool)> {
        match self {
            Form::Own => op.operands().into_iter().map(|v| (v, true)).collect(),
            Form::Fused { sum, a, b, .. } => vec![(sum, true), (a, true), (b, true)],
            Form::Products { sum, a, b } => {
                let sum = sum.map(|v| (v, false));
                sum.into_iter().chain([(a, true), (b, true)]).collect()
            }
            Form::Rounded { a, .. } => vec![(a, true)],
            Form::Transposed { a, b, .. } | Form::Between { a, b, .. } => {
                vec![(a, true), (b, true)]
            }
            Form::ByLane { sum, window, pair, .. } => {
                let sum = sum.map(|v| (v, false));
                sum.into_iter().chain([(window, true), (pair, false)]).collect()
            }
            Form::Unzipped { sums, .. } => vec![(sums, false)],
            Form::Narrowed { sums, inverse, modulus } => {
                vec![(sums, false), (inverse, true), (modulus, true)]
            }
        }
    }
}

/// The forms of a block's values, and which of them anything needs.
pub(super) struct Selection {
    pub forms: Vec<Form>,
    pub live: Vec<bool>,
    /// Whether a value is wanted whole: products as sums of neighbours, a pair repeated.
    pub whole: Vec<bool>,
}

/// Chooses; `bits` are those of a word.
pub(super) fn select(block: &Block, bits: u8) -> Selection {
    let ops = &block.ops;
    let mut uses = vec![0u32; ops.len()];
    for op in ops {
        op.operands().iter().for_each(|v| uses[v.0 as usize] += 1);
    }
    let once = |v: Value| uses[v.0 as usize] == 1;
    let mut forms: Vec<Form> = Vec::with_capacity(ops.len());
    for op in ops {
        let of = |v: Value| &ops[v.0 as usize];
        let products = |v: Value| matches!(forms[v.0 as usize], Form::Products { .. });
        let single = |v: Value| match forms[v.0 as usize] {
            Form::Products { sum: None, a, b } if once(v) => Some((a, b)),
            _ => None,
        };
        let low = |v: Value| match *of(v) {
            Op::MulLo(a, b) if once(v) => Some((a, b)),
            _ => None,
        };
        let form = match *op {
            Op::Add(x, y) => match (low(y), low(x)) {
                (Some((a, b)), _) => Form::Fused { sum: x, a, b, minus: false },
                (_, Some((a, b))) => Form::Fused { sum: y, a, b, minus: false },
                _ => Form::Own,
            },
            Op::Sub(x, y) => match low(y) {
                Some((a, b)) => Form::Fused { sum: x, a, b, minus: true },
                None => Form::Own,
            },
            Op::Sar(sum, down) => match rounded(ops, sum, down, bits) {
                Some(a) => Form::Rounded { a, down },
                None => Form::Own,
            },
            Op::PairDot(a, b) => Form::Products { sum: None, a, b },
            Op::PairDotAdd { acc, a, b } if products(acc) && once(acc) => {
                Form::Products { sum: Some(acc), a, b }
            }
            Op::AddWide(x, y) if once(x) && once(y) && products(x) && products(y) => {
                match (single(y), single(x)) {
                    (Some((a, b)), _) => Form::Products { sum: Some(x), a, b },
                    (_, Some((a, b))) => Form::Products { sum: Some(y), a, b },
                    _ => Form::Own,
                }
            }
            Op::Blend { a, b, mask: 0xaa } => match (of(a), of(b)) {
                (_, &Op::ShlWide(b, k)) if k == bits => Form::Transposed { a, b, odd: false },
                (&Op::ShrWide(a, k) | &Op::SarWide(a, k), _) if k == bits => {
                    Form::Transposed { a, b, odd: true }
                }
                (&Op::OddToEven(a), _) => Form::Transposed { a, b, odd: true },
                (_, &Op::SwapPairs(b)) => Form::Transposed { a, b, odd: false },
                (&Op::SwapPairs(a), _) => Form::Transposed { a, b, odd: true },
                _ => Form::Own,
            },
            Op::Blend { a, b, mask } if bits == 16 => match between(of(a), of(b), mask) {
                Some((a, b, from)) => Form::Between { a, b, from },
                None => Form::Own,
            },
            _ => Form::Own,
        };
        forms.push(form);
    }
    match bits {
        16 => whole_sums(ops, &mut forms),
        _ => long::whole_sums(ops, &uses, &mut forms),
    }
    let mut live = vec![false; ops.len()];
    let mut whole = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate().rev() {
        live[i] |= op.shape() == Shape::Nothing;
        if !live[i] {
            continue;
        }
        for (v, all) in forms[i].sources(op) {
            live[v.0 as usize] = true;
            whole[v.0 as usize] |= all;
        }
    }
    Selection { forms, live, whole }
}

/// `y` in a sum `y + 2^(down - 1)` that is a word whatever x is. Here `y = x - sar(x, by)`, which
/// is at most 2^(bits - 1) - 2^(bits - 1 - by).
fn rounded(ops: &[Op], sum: Value, down: u8, bits: u8) -> Option<Value> {
    let op = |v: Value| &ops[v.0 as usize];
    let &Op::Add(y, half) = op(sum) else { return None };
    let (&Op::Splat(half), &Op::Sub(x, part)) = (op(half), op(y)) else { return None };
    let &Op::Sar(same, by) = op(part) else { return None };
    let rounds = down > 0 && i64::from(half) == 1 << (down - 1);
    // by = 0 leaves nothing.
    let fits = by > 0 && down + by < bits;
    (same == x && rounds && fits).then_some(y)
}

/// The two parts of a blend of parts turned alike, and a word. The blend has the words of the first
/// part from there on, and then those of the second. Eight words each.
fn between(a: &Op, b: &Op, mask: u8) -> Option<(Value, Value, usize)> {
    let (Op::PermuteParts { a, pattern }, Op::PermuteParts { a: b, pattern: same }) = (a, b) else {
        return None;
    };
    let from = usize::from(*pattern.first()?);
    let turned = pattern.iter().enumerate().all(|(i, &word)| usize::from(word) == (i + from) % 8);
    let fits = pattern == same && turned && pattern.len() == 8 && mask == (0xff00 >> from) as u8;
    fits.then_some((*a, *b, from))
}

/// Computes sums of products of neighbours as whole sums where that gives the same words.
///
/// Two sums e and o may have the same terms, but at even and at odd places: see [`windows`] and
/// [`pairs`]. Then they are the even and odd places of one sum at all places. If only their low and
/// high words are wanted, alternately, nothing is left to add up or to put in order.
fn whole_sums(ops: &[Op], forms: &mut [Form]) {
    let mut users: HashMap<Value, Vec<usize>> = HashMap::new();
    for (i, op) in ops.iter().enumerate() {
        forms[i].sources(op).into_iter().for_each(|(v, _)| users.entry(v).or_default().push(i));
    }
    // What nothing needs uses nothing: shifts and sums that other forms have taken the place of.
    let mut wanted = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate().rev() {
        wanted[i] |= op.shape() == Shape::Nothing;
        if wanted[i] {
            forms[i].sources(op).iter().for_each(|(v, _)| wanted[v.0 as usize] = true);
        }
    }
    users.values_mut().for_each(|all| all.retain(|&i| wanted[i]));
    for i in (0..ops.len()).filter(|&i| wanted[i]) {
        let Form::Transposed { a: even, b: odd, .. } = forms[i] else { continue };
        let both = [even, odd].map(|v| chain(forms, v));
        let [Some(evens), Some(odds)] = both else { continue };
        let reads =
            |j: &usize| matches!(forms[*j], Form::Transposed { a, b, .. } if (a, b) == (even, odd));
        let alone = even != odd && [even, odd].iter().all(|v| users[v].iter().all(reads));
        if !alone || evens.len() != odds.len() {
            continue;
        }
        let terms = windows(ops, &evens, &odds).or_else(|| pairs(ops, forms, &evens, &odds));
        let Some(mut terms) = terms else { continue };
        terms.sort_by_key(|term| term.0.0);
        let mut last = None;
        for (v, mut form) in terms {
            if let Form::ByLane { sum, .. } | Form::Products { sum, .. } = &mut form {
                *sum = last;
            }
            forms[v.0 as usize] = form;
            last = Some(v);
        }
        for &j in &users[&even] {
            if let (Form::Transposed { odd, .. }, Some(sums)) = (forms[j], last) {
                forms[j] = Form::Unzipped { sums, odd };
            }
        }
    }
}

/// A term of a sum of products of neighbours: where it is added, and its factors.
type Term = (Value, Value, Value);

/// Rewrites e = Σ p·L and o = Σ p·M as terms by lane of Σ p₀·L + p₁·M, so that pairs need no
/// registers of their own. Both sums have the same pairs p = (p₀, p₁). L are words in memory, and M
/// the words one place further.
fn windows(ops: &[Op], evens: &[Term], odds: &[Term]) -> Option<Vec<(Value, Form)>> {
    let alike = evens.iter().zip(odds).all(|(e, o)| e.1 == o.1 && neighbours(ops, e.1, e.2, o.2));
    let term =
        |&(v, pair, window): &Term, word| (v, Form::ByLane { sum: None, window, pair, word });
    let all = evens.iter().map(|e| term(e, 0)).chain(odds.iter().map(|o| term(o, 1)));
    alike.then(|| all.collect())
}

/// Rewrites e = Σ (a, b)₀·(c, d)₀ and o = Σ (a, b)₁·(c, d)₁ as terms of Σ a·c + b·d. Here (x, y)₀
/// are the even words of x and y alternately, and (x, y)₁ the odd ones.
fn pairs(ops: &[Op], forms: &[Form], evens: &[Term], odds: &[Term]) -> Option<Vec<(Value, Form)>> {
    let two = |even: Value, odd: Value| match [even, odd].map(|v| forms[v.0 as usize]) {
        [Form::Transposed { a, b, odd: false }, Form::Transposed { a: c, b: d, odd: true }]
            if (a, b) == (c, d) =>
        {
            Some([a, b])
        }
        _ => None,
    };
    let zero = |v: Value| ops[v.0 as usize] == Op::Splat(0);
    let mut all = Vec::new();
    for (e, o) in evens.iter().zip(odds) {
        let ([a, b], [c, d]) = (two(e.1, o.1)?, two(e.2, o.2)?);
        all.push((e.0, Form::Products { sum: None, a, b: c }));
        if !zero(b) && !zero(d) {
            all.push((o.0, Form::Products { sum: None, a: b, b: d }));
        }
    }
    Some(all)
}

/// A sum of products with the factors of each, the first one first.
fn chain(forms: &[Form], of: Value) -> Option<Vec<Term>> {
    let mut all = Vec::new();
    let mut next = Some(of);
    while let Some(v) = next {
        let Form::Products { sum, a, b } = forms[v.0 as usize] else { return None };
        all.push((v, a, b));
        next = sum;
    }
    all.reverse();
    Some(all)
}

/// Whether `pair` is a broadcast pair, and the words of `odd` are those of `even` one place further
/// in memory, with no store in between.
fn neighbours(ops: &[Op], pair: Value, even: Value, odd: Value) -> bool {
    let [p, e, o] = [pair, even, odd].map(|v| &ops[v.0 as usize]);
    let (Op::Load { buffer: x, at: first }, Op::Load { buffer: y, at: second }) = (e, o) else {
        return false;
    };
    let span = even.0.min(odd.0) as usize..even.0.max(odd.0) as usize;
    matches!(p, Op::BroadcastPair { .. })
        && x == y
        && first.plus(1) == *second
        && ops[span].iter().all(|op| op.shape() != Shape::Nothing)
}
