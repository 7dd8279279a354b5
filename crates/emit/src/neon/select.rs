//! Which of a block's operations become which instructions.

use ringforge_program::ir::*;

/// How a value is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By its own operation.
    Own,
    /// `sum + a·b`, or `sum - a·b`: low words (`mla`, `mls`).
    Fused { sum: Value, a: Value, b: Value, minus: bool },
    /// Products of all words, those of two neighbours still to be added: in each half the products of the
    /// low four words (two of 32 bits) and those of the high ones, two registers (`smlal`, `smlal2`).
    Products {
        /// Added to, of the same form.
        sum: Option<Value>,
        a: Value,
        b: Value,
    },
    /// Words 0, 0, 2, 2, … of `a` and `b` alternately, or words 1, 1, 3, 3, … (`trn1`, `trn2`).
    Transposed { a: Value, b: Value, odd: bool },
}

/// The forms of a block's values, and which of them anything needs.
pub(super) struct Selection {
    pub forms: Vec<Form>,
    pub live: Vec<bool>,
    /// Whether a value that is products is wanted as sums of neighbours too.
    pub summed: Vec<bool>,
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
                _ => Form::Own,
            },
            _ => Form::Own,
        };
        forms.push(form);
    }
    let mut live = vec![false; ops.len()];
    let mut summed = vec![false; ops.len()];
    for (i, op) in ops.iter().enumerate().rev() {
        live[i] |= op.shape() == Shape::Nothing;
        if !live[i] {
            continue;
        }
        let mut need = |v: Value, whole: bool| {
            live[v.0 as usize] = true;
            summed[v.0 as usize] |= whole;
        };
        match forms[i] {
            Form::Own => op.operands().into_iter().for_each(|v| need(v, true)),
            Form::Fused { sum, a, b, .. } => [sum, a, b].into_iter().for_each(|v| need(v, true)),
            Form::Products { sum, a, b } => {
                sum.into_iter().for_each(|v| need(v, false));
                [a, b].into_iter().for_each(|v| need(v, true));
            }
            Form::Transposed { a, b, .. } => [a, b].into_iter().for_each(|v| need(v, true)),
        }
    }
    Selection { forms, live, summed }
}
