//! The kernel's functions, which the search uses as they are.

pub use ringforge_kernel::form::centre;
pub use ringforge_kernel::fun::*;

/// The low `w` bits of a wider function by its structure, where that removes something.
pub fn truncated(funs: &mut Funs, f: FunId, w: u8) -> Option<FunId> {
    let node = funs.get(f).clone();
    if node.width <= w {
        return None;
    }
    match node.op {
        FunOp::Lin { k, x, c } => {
            let terms: Vec<(FunId, i64)> = node.args.into_iter().zip(c).collect();
            Some(funs.lin(w, k, x, &terms))
        }
        FunOp::Word(Op::Sext) | FunOp::Word(Op::Zext) | FunOp::Word(Op::Concat) => {
            let inner = *node.args.first()?;
            let have = funs.get(inner).width;
            match have.cmp(&w) {
                std::cmp::Ordering::Equal => Some(inner),
                std::cmp::Ordering::Greater => truncated(funs, inner, w),
                std::cmp::Ordering::Less if node.op != FunOp::Word(Op::Concat) => {
                    Some(funs.intern(Fun { width: w, op: node.op, args: node.args }))
                }
                std::cmp::Ordering::Less => None,
            }
        }
        _ => None,
    }
}

/// Bits that hold every value as signed, by the function's structure.
pub fn bits(funs: &Funs, f: FunId) -> u8 {
    let node = funs.get(f);
    match (&node.op, node.args.first()) {
        (FunOp::Word(Op::Sext), Some(a)) => bits(funs, *a),
        (FunOp::Word(Op::Zext), Some(a)) => (funs.get(*a).width + 1).min(node.width),
        (FunOp::Const(c), _) => 65 - (if *c < 0 { !*c } else { *c }).leading_zeros() as u8,
        _ => node.width,
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
            let id = funs.intern(Fun { width, op, args: [f].into_iter().collect() });
            (id, bits(&funs, id))
        };
        let (wide, few) = extended(FunOp::Word(Op::Zext), 16, eight);
        assert_eq!(few, 9);
        assert_eq!(extended(FunOp::Word(Op::Zext), 9, eight).1, 9);
        assert_eq!(extended(FunOp::Word(Op::Sext), 16, eight).1, 8);
        assert_eq!(extended(FunOp::Word(Op::Sext), 32, wide).1, 9);
    }
}
