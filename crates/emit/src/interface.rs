//! What a file offers: which procedures are entry points, what each computes, and in which ranges.

use ringforge_program::ir::*;
use std::collections::HashSet;

/// Indices of the entry points that other procedures call. Their body is in a function of the
/// file's own. So a call neither leaves the file nor meets another symbol of that name.
pub(crate) fn called_entries(program: &Program) -> HashSet<usize> {
    fn calls(body: &[Stmt], found: &mut HashSet<usize>) {
        for stmt in body {
            match stmt {
                Stmt::Stage { body, .. } | Stmt::Loop { body, .. } => calls(body, found),
                Stmt::Call { procedure, .. } => {
                    found.insert(procedure.0 as usize);
                }
                Stmt::Block(_) => {}
            }
        }
    }
    let mut found = HashSet::new();
    program.procedures.iter().for_each(|p| calls(&p.body, &mut found));
    found.retain(|&i| program.procedures[i].exported);
    found
}

/// The comment above an entry point: what it computes, and its parameters' ranges.
pub(crate) fn comment(procedure: &Procedure) -> String {
    let mut text = String::from("/*\n");
    if let Some(computes) = procedure.computes {
        text += &format!(" * {}\n", sentence(computes));
        if procedure.copies > 1 {
            text += &format!(
                " * Arrays hold {} elements of the ring, one after the other; so it is for each.\n",
                procedure.copies
            );
        }
    }
    for buffer in procedure.buffers.iter().filter(|b| b.role.is_parameter()) {
        let when = match buffer.role {
            Role::Output => " at exit",
            Role::InOut => " at entry and at exit",
            _ => "",
        };
        match buffer.range {
            Some((lo, hi)) => text += &format!(" * {} in [{lo}, {hi}]{when}.\n", buffer.name),
            None => text += &format!(" * {}: any words{when}.\n", buffer.name),
        }
    }
    text + " */\n"
}

fn sentence(computes: Computes) -> String {
    let times = |scale: u64| if scale == 1 { String::new() } else { format!("{scale} * ") };
    match computes {
        Computes::Product => "c = a * b in the ring, modulo q.".into(),
        Computes::Forward { scale } => {
            format!("c = {}T(a) modulo q, T being the transform.", times(scale))
        }
        Computes::Inverse { scale } => {
            format!("c = {}(a transformed back) modulo q.", times(scale))
        }
        Computes::BaseProduct { scale } => {
            format!("c = {}(a o b) modulo q, the products of transforms.", times(scale))
        }
        Computes::InnerProduct { scale, pairs } => format!(
            "c = {}(a1 o b1 + ... + a{pairs} o b{pairs}) modulo q, of transforms one after the other.",
            times(scale)
        ),
        Computes::Accumulate { scale } => {
            format!("c = c + {}(a o b) modulo q, of transforms.", times(scale))
        }
        Computes::ToStandard => "c = a, a transform, in the standard order.".into(),
        Computes::FromStandard => "c = a, a transform in the standard order, in this one.".into(),
    }
}
