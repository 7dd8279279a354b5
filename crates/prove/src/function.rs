//! What outputs are, and why not what they should be.

use crate::values::{Atom, ModForm, World};
pub(crate) use ringforge_kernel::compare::Mismatch;

/// The operands that a variable depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    None,
    A,
    B,
    Both,
}

/// Calls `visit` with the variables of a form's terms.
pub(crate) fn each_variable(world: &World, form: &ModForm, mut visit: impl FnMut(usize)) {
    for &(a, _) in &form.t {
        match world.atoms[a as usize] {
            Atom::Var(v) => visit(v.0 as usize),
            Atom::Prod(x, y) => {
                visit(x.0 as usize);
                visit(y.0 as usize);
            }
            _ => {}
        }
    }
}
