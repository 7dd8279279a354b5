//! The kernel's functions, which the search uses as they are.

pub use ringforge_kernel::form::centre;
pub use ringforge_kernel::fun::*;
pub use ringforge_machine::graph::Op;

/// The low `w` bits of a wider function by its structure, where that removes something.
pub fn truncated(funs: &mut Funs, f: FunId, w: u8) -> Option<FunId> {
    let node = funs.get(f).clone();
    if node.width <= w {
        return None;
    }
    match extended(funs, f) {
        // What is extended, or a part of it.
        Some((inner, _)) => {
            if funs.get(inner).width > w {
                truncated(funs, inner, w)
            } else {
                resized(funs, &node, w)
            }
        }
        None => resized(funs, &node, w),
    }
}

/// A sum in another width.
fn resized(funs: &mut Funs, node: &Fun, w: u8) -> Option<FunId> {
    let FunOp::Lin { k, x, c } = &node.op else { return None };
    let terms: Vec<(FunId, i64)> = node.args.iter().copied().zip(c.iter().copied()).collect();
    Some(funs.lin(w, *k, *x, &terms))
}

/// What a function is an extension of, and whether it is a signed one.
pub fn extended(funs: &Funs, f: FunId) -> Option<(FunId, bool)> {
    let Fun { width, op: FunOp::Lin { k: 0, x: 0, c }, args } = funs.get(f) else { return None };
    let a = *args.first()?;
    if c[0] != 1 {
        return None;
    }
    let from = funs.get(a).width;
    match args[1..] {
        [] => (from < *width).then_some((a, true)),
        [b] if from < *width && is_sign(funs, a, b) => {
            (c[1] == centre((1i64 << from).wrapping_neg(), *width)).then_some((a, false))
        }
        _ => None,
    }
}

fn is_sign(funs: &Funs, a: FunId, b: FunId) -> bool {
    let (from, sign) = (funs.get(a).width, funs.get(b));
    sign.width == 1 && sign.op == FunOp::Floor(from - 1) && sign.args[..] == [a]
}

/// `k + x·X + Σ c·f`: k, x, and the terms.
pub type Sum = (i64, i64, Vec<(FunId, i64)>);

/// `k + x·X + Σ c·f`, if that is how a function is looked at. Extensions, words side by side and bitwise operations
/// are sums too, but of parts that nothing else has.
pub fn sum(funs: &Funs, f: FunId) -> Option<Sum> {
    let Fun { op: FunOp::Lin { k, x, c }, args, .. } = funs.get(f) else { return None };
    let terms: Vec<(FunId, i64)> = args.iter().copied().zip(c.iter().copied()).collect();
    let own = |&(b, c): &(FunId, i64)| match funs.get(b) {
        // Minus 2^bits times the sign of another term.
        Fun { op: FunOp::Floor(_), .. } => terms.iter().any(|&(a, d)| {
            let from = funs.get(a).width;
            is_sign(funs, a, b) && from < 64 && c == (d << from).wrapping_neg()
        }),
        Fun { op: FunOp::And, args: of, .. } => {
            matches!(c, -1 | -2) && of.iter().all(|a| terms.contains(&(*a, 1)))
        }
        _ => false,
    };
    let whole = extended(funs, f).is_some() || terms.iter().any(own);
    (!whole).then_some((*k, *x, terms))
}

/// Bits that hold every value as signed, by the function's structure.
pub fn bits(funs: &Funs, f: FunId) -> u8 {
    if let Some(k) = funs.number(f) {
        return 65 - (if k < 0 { !k } else { k }).leading_zeros() as u8;
    }
    match extended(funs, f) {
        Some((a, true)) => bits(funs, a),
        Some((a, false)) => (funs.get(a).width + 1).min(funs.get(f).width),
        None => funs.get(f).width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bits_hold_constants_and_extensions() {
        let mut funs = Funs::default();
        for (c, few) in [(0, 1), (-1, 1), (1, 2), (-2, 2), (2, 3), (127, 8), (-128, 8), (128, 9)] {
            let f = funs.constant(32, c);
            assert_eq!(bits(&funs, f), few, "{c}");
        }
        let eight = funs.lin(8, 0, 1, &[]);
        let mut extended = |op, width, f| {
            let id = funs.word(width, &op, &[f]).expect("a function");
            (id, bits(&funs, id))
        };
        let (wide, few) = extended(Op::Zext, 16, eight);
        assert_eq!(few, 9);
        assert_eq!(extended(Op::Zext, 9, eight).1, 9);
        assert_eq!(extended(Op::Sext, 16, eight).1, 8);
        assert_eq!(extended(Op::Sext, 32, wide).1, 9);
    }
}
