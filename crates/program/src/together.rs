//! One procedure for several sets of buffers.
//!
//! The operations of each straight-line block alternate between the copies, so the processor works on one copy while
//! another waits for a result. Constants and tables are shared. With B_k the buffers of copy k, the new procedure leaves
//! in each B_k what the old one leaves there: no copy reads or writes the buffers of another.

use crate::ir::*;
use std::collections::HashMap;

/// Where a buffer of the old procedure lies in the new one: its array, and the words before it there.
type Place = (BufferId, usize);

/// Copies of procedures, which all stand in one program.
pub struct Together<'a> {
    /// The program's procedures, to which helpers are added.
    pub procedures: &'a mut Vec<Procedure>,
    /// How many copies.
    pub copies: usize,
    /// Helpers by what they are copies of.
    helpers: HashMap<ProcedureId, ProcedureId>,
}

/// For each entry point but sums of several products one more, whose arrays hold `copies` elements of the ring one after
/// the other. The last entry point stays the last.
pub fn batch(procedures: &mut Vec<Procedure>, copies: usize) {
    let entries: Vec<Procedure> = procedures
        .iter()
        .filter(|p| p.exported)
        .filter(|p| !matches!(p.computes, None | Some(Computes::InnerProduct { .. })))
        .cloned()
        .collect();
    let last = procedures.pop();
    let mut together = Together::new(procedures, copies);
    for entry in &entries {
        let joined = together.joined(entry);
        together.procedures.push(joined);
    }
    procedures.extend(last);
}

impl<'a> Together<'a> {
    /// Nothing is copied yet.
    pub fn new(procedures: &'a mut Vec<Procedure>, copies: usize) -> Together<'a> {
        Together { procedures, copies, helpers: HashMap::new() }
    }

    /// `copies` runs of a procedure side by side, as a helper. Its parameters are those of the first copy, then those of
    /// the second, and so on. The caller passes arrays that do not overlap, except inputs.
    pub fn helper(&mut self, of: ProcedureId, name: &str) -> ProcedureId {
        if let Some(&known) = self.helpers.get(&of) {
            return known;
        }
        let procedure = self.procedures[of.0 as usize].clone();
        let new = Procedure {
            name: name.into(),
            exported: false,
            computes: None,
            ..self.copied(&procedure, false)
        };
        self.procedures.push(new);
        let id = ProcedureId(self.procedures.len() as u32 - 1);
        self.helpers.insert(of, id);
        id
    }

    /// An entry point for arrays that hold one element of the ring after the other.
    fn joined(&mut self, procedure: &Procedure) -> Procedure {
        let name = format!("{}_x{}", procedure.name, self.copies);
        Procedure { name, ..self.copied(procedure, true) }
    }

    fn copied(&mut self, procedure: &Procedure, joined: bool) -> Procedure {
        let parameters = procedure.buffers.iter().filter(|b| b.role.is_parameter()).count();
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut places = vec![vec![(BufferId(0), 0); procedure.buffers.len()]; self.copies];
        for at in [0..parameters, parameters..procedure.buffers.len()] {
            for k in 0..self.copies {
                for i in at.clone() {
                    let buffer = &procedure.buffers[i];
                    let constant = matches!(buffer.role, Role::Table(_) | Role::Factors(_));
                    if k > 0 && (constant || joined && i < parameters) {
                        let (first, _) = places[0][i];
                        places[k][i] = (first, if constant { 0 } else { k * buffer.words });
                        continue;
                    }
                    places[k][i] = (BufferId(buffers.len() as u32), 0);
                    let name = match k {
                        0 => buffer.name.clone(),
                        _ => format!("{}_{k}", buffer.name),
                    };
                    let words =
                        if joined && i < parameters { self.copies } else { 1 } * buffer.words;
                    buffers.push(Buffer { name, words, ..buffer.clone() });
                }
            }
        }
        let body = self.statements(&procedure.body, &places);
        let (name, copies) = (procedure.name.clone(), self.copies * procedure.copies);
        Procedure { name, copies, buffers, body, ..*procedure }
    }

    fn statements(&mut self, body: &[Stmt], places: &[Vec<Place>]) -> Vec<Stmt> {
        let mut all = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::Stage { title, cite, body } => {
                    let (title, cite) = (title.clone(), cite.clone());
                    all.push(Stmt::Stage { title, cite, body: self.statements(body, places) });
                }
                Stmt::Loop { counter, count, body } => {
                    let body = self.statements(body, places);
                    all.push(Stmt::Loop { counter: *counter, count: *count, body });
                }
                Stmt::Block(block) => all.push(Stmt::Block(alternating(block, places))),
                Stmt::Call { procedure, arguments } => {
                    let called = &self.procedures[procedure.0 as usize];
                    let moved = |place: &Vec<Place>| -> Vec<(BufferId, Index)> {
                        let of = |(b, at): &(BufferId, Index)| {
                            let (buffer, words) = place[b.0 as usize];
                            (buffer, at.plus(words))
                        };
                        arguments.iter().map(of).collect()
                    };
                    let moved: Vec<_> = places.iter().map(moved).collect();
                    if called.copies > 1 {
                        // Its copies have the processor's registers to themselves.
                        let procedure = *procedure;
                        let call = |arguments| Stmt::Call { procedure, arguments };
                        all.extend(moved.into_iter().map(call));
                        continue;
                    }
                    let name = format!("{}_by_{}", called.name, self.copies);
                    let procedure = self.helper(*procedure, &name);
                    all.push(Stmt::Call { procedure, arguments: moved.concat() });
                }
            }
        }
        all
    }
}

fn alternating(block: &Block, places: &[Vec<Place>]) -> Block {
    let mut new = Block::default();
    let mut values = vec![Vec::new(); places.len()];
    for op in &block.ops {
        let mut last = None;
        for (place, values) in places.iter().zip(&mut values) {
            let op = op.clone().map_operands(&mut |v| values[v.0 as usize]);
            let op = op.moved(&|b| place[b.0 as usize]);
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
