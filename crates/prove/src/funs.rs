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
        FunOp::Sext | FunOp::Zext | FunOp::Concat => {
            let inner = *node.args.first()?;
            let have = funs.get(inner).width;
            match have.cmp(&w) {
                std::cmp::Ordering::Equal => Some(inner),
                std::cmp::Ordering::Greater => truncated(funs, inner, w),
                std::cmp::Ordering::Less if node.op != FunOp::Concat => {
                    Some(funs.intern(Fun { width: w, op: node.op, args: node.args }))
                }
                std::cmp::Ordering::Less => None,
            }
        }
        _ => None,
    }
}
