//! What ranges the proof found, in order of execution.

use crate::report::{Ranges, Stage};
use crate::values::{Atom, Source};
use crate::walk::Walk;
use ringforge_machine::Object;
use ringforge_machine::graph::{Graph, NodeId};

/// Stages that a summary has at most.
const STAGES: usize = 12;

/// Fills stages and the widest values from the variables of a walk.
pub(crate) fn summarise(out: &mut Ranges, graph: &Graph, walk: &mut Walk, object: &Object) {
    widest_sum(out, graph, walk, object);
    let world = &walk.cut.world;
    let mut late = vec![false; world.vars.len()];
    // A variable, and the instruction that makes it; what is made at return stands with the last one.
    let mut cut: Vec<(usize, u64)> = Vec::new();
    let mut last = 0;
    for (v, var) in world.vars.iter().enumerate() {
        if matches!(var.source, Source::Input { .. }) {
            continue;
        }
        late[v] = var.residue.t.iter().any(|&(a, _)| match world.atoms[a as usize] {
            Atom::Prod(..) => true,
            Atom::Var(x) => late[x.0 as usize],
            _ => false,
        });
        last = graph.origin(NodeId(var.node)).unwrap_or(last);
        cut.push((v, last));
    }
    let size = (cut.len() / STAGES).max(16);
    let mut stages: Vec<Stage> = Vec::new();
    for &(v, at) in &cut {
        let var = &world.vars[v];
        match stages.last_mut() {
            Some(s) if s.after_products == late[v] && s.variables < size => {
                s.variables += 1;
                s.min = s.min.min(var.lo);
                s.max = s.max.max(var.hi);
                s.addresses.1 = at;
            }
            _ => stages.push(Stage {
                addresses: (at, at),
                variables: 1,
                min: var.lo,
                max: var.hi,
                after_products: late[v],
            }),
        }
    }
    out.stages = stages;
    let mut widest: Vec<(i64, usize, u64)> = cut
        .iter()
        .filter(|c| world.vars[c.0].hi - world.vars[c.0].lo < 1 << 16)
        .map(|&(v, at)| (world.vars[v].lo.abs().max(world.vars[v].hi), v, at))
        .collect();
    widest.sort_unstable_by_key(|w| std::cmp::Reverse(w.0));
    widest.dedup_by_key(|w| w.2);
    out.widest = widest
        .iter()
        .take(5)
        .map(|&(_, v, at)| {
            let var = &world.vars[v];
            (at, object.disassemble(at).unwrap_or_default(), var.lo, var.hi)
        })
        .collect();
}

/// Finds the widest sum of products whose high half is used.
fn widest_sum(out: &mut Ranges, graph: &Graph, walk: &mut Walk, object: &Object) {
    let mut widest: Option<(i128, i128, u32)> = None;
    for w in 0..walk.cut.world.wides.len() {
        let (form, node) = (walk.cut.world.wides[w].form.clone(), walk.cut.world.wides[w].node);
        if let Ok(r) = walk.cut.read(&form)
            && widest.is_none_or(|(lo, hi, _)| r.hi - r.lo > hi - lo)
        {
            widest = Some((r.lo, r.hi, node));
        }
    }
    out.widest_products = widest.and_then(|(lo, hi, node)| {
        let at = graph.origin(NodeId(node))?;
        let instruction = object.disassemble(at).unwrap_or_default();
        Some((at, instruction, lo.to_string(), hi.to_string()))
    });
}
