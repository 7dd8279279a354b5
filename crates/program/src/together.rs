//! One procedure for several sets of buffers.
//!
//! The operations of each straight-line block alternate between the copies, so the processor works on one copy while
//! another waits for a result. Constants and tables are shared. With B_k the buffers of copy k, the new procedure leaves
//! in each B_k what the old one leaves there: no copy reads or writes the buffers of another.

use crate::ir::*;

/// `copies` runs of a procedure side by side, as a helper. Its parameters are those of the first copy, then those of the
/// second, and so on. The caller passes arrays that do not overlap, except inputs.
pub fn together(procedure: &Procedure, name: &str, copies: usize) -> Procedure {
    let parameters = procedure.buffers.iter().filter(|b| b.role.is_parameter()).count();
    let mut buffers = Vec::new();
    let mut places = vec![vec![BufferId(0); procedure.buffers.len()]; copies];
    for at in [0..parameters, parameters..procedure.buffers.len()] {
        for (k, place) in places.iter_mut().enumerate() {
            for i in at.clone() {
                let buffer = &procedure.buffers[i];
                place[i] = BufferId(buffers.len() as u32);
                if matches!(buffer.role, Role::Table(_) | Role::Factors(_)) && k > 0 {
                    continue;
                }
                let name =
                    if k == 0 { buffer.name.clone() } else { format!("{}_{k}", buffer.name) };
                buffers.push(Buffer { name, ..buffer.clone() });
            }
        }
    }
    for (i, buffer) in procedure.buffers.iter().enumerate() {
        if matches!(buffer.role, Role::Table(_) | Role::Factors(_)) {
            let shared = places[0][i];
            places.iter_mut().for_each(|place| place[i] = shared);
        }
    }
    let body = statements(&procedure.body, &places);
    let (name, exported, computes) = (name.into(), false, None);
    Procedure { name, exported, computes, buffers, body, ..*procedure }
}

fn statements(body: &[Stmt], places: &[Vec<BufferId>]) -> Vec<Stmt> {
    let each = |stmt: &Stmt| match stmt {
        Stmt::Stage { title, cite, body } => {
            let (title, cite) = (title.clone(), cite.clone());
            vec![Stmt::Stage { title, cite, body: statements(body, places) }]
        }
        Stmt::Loop { counter, count, body } => {
            vec![Stmt::Loop { counter: *counter, count: *count, body: statements(body, places) }]
        }
        Stmt::Block(block) => vec![Stmt::Block(alternating(block, places))],
        Stmt::Call { procedure, arguments } => {
            let moved = |place: &Vec<BufferId>| {
                let arguments = arguments.iter().map(|(b, at)| (place[b.0 as usize], at.clone()));
                Stmt::Call { procedure: *procedure, arguments: arguments.collect() }
            };
            places.iter().map(moved).collect()
        }
    };
    body.iter().flat_map(each).collect()
}

fn alternating(block: &Block, places: &[Vec<BufferId>]) -> Block {
    let mut new = Block::default();
    let mut values = vec![Vec::new(); places.len()];
    for op in &block.ops {
        let mut last = None;
        for (place, values) in places.iter().zip(&mut values) {
            let op = op.clone().map_operands(&mut |v| values[v.0 as usize]);
            let op = op.map_buffers(&mut |b| place[b.0 as usize]);
            // What reads constants alone is one operation for all copies.
            let value = match last {
                Some((ref before, value)) if *before == op => value,
                _ => new.push(op.clone()),
            };
            values.push(value);
            last = Some((op, value));
        }
    }
    new
}
