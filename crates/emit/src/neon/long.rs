//! Sums of products of 32-bit words by one word each, narrowed by Montgomery's method: computed
//! whole, by lane.

use super::select::Form;
use ringforge_program::ir::*;

/// Replaces two sums of wide elements, e = Σ w·L and o = Σ w·M, with one sum Σ w·L at all places.
/// The words w are in every lane. e takes the even words of windows L. o takes those of M, the same
/// windows one word further. Both sums must be narrowed and used for nothing else.
///
/// Narrowing is `sums - t·q` with t = sums/q mod 2^32. Its result is the high words, so only these
/// are left to put in order.
pub(super) fn whole_sums(ops: &[Op], uses: &[u32], forms: &mut [Form]) {
    for i in 0..ops.len() {
        let Form::Transposed { a, b, odd: true } = forms[i] else { continue };
        let both = [a, b].map(|v| narrowed(ops, uses, v));
        let [Some((even, inverse, modulus)), Some((odd, again, q))] = both else { continue };
        if (inverse, modulus) != (again, q) {
            continue;
        }
        let both = [even, odd].map(|v| chain(ops, uses, v));
        let [Some(evens), Some(odds)] = both else { continue };
        let alike = evens.len() == odds.len()
            && evens.iter().zip(&odds).all(|(e, o)| e.1 == o.1 && further(ops, e.2, o.2));
        if !alike {
            continue;
        }
        let mut sum = None;
        for (v, pair, window) in evens {
            forms[v.0 as usize] = Form::ByLane { sum, window, pair, word: 0 };
            sum = Some(v);
        }
        if let Some(sums) = sum {
            forms[i] = Form::Narrowed { sums, inverse, modulus };
        }
    }
}

/// The sum that `v` narrows, with 1/q and q. `v` is `x - (x/q mod 2^32)·q`, and its parts are used
/// nowhere else. The constants are inverses, so the low words are equal and none borrows from a
/// high one.
fn narrowed(ops: &[Op], uses: &[u32], v: Value) -> Option<(Value, Value, Value)> {
    let op = |v: Value| &ops[v.0 as usize];
    let used = |v: Value| uses[v.0 as usize];
    let &Op::Sub(x, m) = op(v) else { return None };
    let &Op::MulEven(t, modulus) = op(m) else { return None };
    let &Op::MulEven(of, inverse) = op(t) else { return None };
    let (&Op::Splat(i), &Op::Splat(q)) = (op(inverse), op(modulus)) else { return None };
    let alone = (used(v), used(m), used(t), used(x)) == (1, 1, 1, 2);
    (of == x && alone && i.wrapping_mul(q) == 1).then_some((x, inverse, modulus))
}

/// A sum of products with the factors of each, the first one first: a word in every lane, and others.
fn chain(ops: &[Op], uses: &[u32], of: Value) -> Option<Vec<(Value, Value, Value)>> {
    let op = |v: Value| &ops[v.0 as usize];
    let product = |v: Value| match *op(v) {
        Op::MulEven(w, l) if matches!(op(w), Op::Broadcast { .. }) => Some((w, l)),
        _ => None,
    };
    let mut all = Vec::new();
    let mut next = of;
    loop {
        if let Some((w, l)) = product(next) {
            all.push((next, w, l));
            break;
        }
        let &Op::AddWide(sum, term) = op(next) else { return None };
        let (w, l) = product(term)?;
        if [sum, term].iter().any(|v| uses[v.0 as usize] != 1) {
            return None;
        }
        all.push((next, w, l));
        next = sum;
    }
    all.reverse();
    Some(all)
}

/// Whether the even words of `odd` are the odd ones of `even`. They are if they lie one place
/// further in memory and nothing was stored in between, or if they were moved there.
fn further(ops: &[Op], even: Value, odd: Value) -> bool {
    let [e, o] = [even, odd].map(|v| &ops[v.0 as usize]);
    match (e, o) {
        (_, Op::OddToEven(v)) => *v == even,
        (Op::Load { buffer: x, at: first }, Op::Load { buffer: y, at: second }) => {
            let span = even.0.min(odd.0) as usize..even.0.max(odd.0) as usize;
            x == y
                && first.plus(1) == *second
                && ops[span].iter().all(|op| op.shape() != Shape::Nothing)
        }
        _ => false,
    }
}
