//! A block as a loop over lanes.

use super::Writer;
use ringforge_program::ir::*;

/// What an operation does to memory.
pub struct Memory<'a> {
    /// The buffer.
    pub buffer: BufferId,
    /// Index of the word for lane 0.
    at: &'a Index,
    /// Distance of the words for consecutive lanes; 0 where all lanes read one word.
    stride: i64,
    /// Lanes that take part, where not all do.
    count: Option<u32>,
    store: bool,
}

/// The memory access of an operation; `None` where it has none, or one that is not lane-wise.
pub fn memory(op: &Op) -> Option<Memory<'_>> {
    let access = |buffer: &BufferId, at, stride, count, store| {
        Some(Memory { buffer: *buffer, at, stride, count, store })
    };
    match op {
        Op::Load { buffer, at } => access(buffer, at, 1, None, false),
        Op::LoadPartial { buffer, at, count } => access(buffer, at, 1, Some(*count), false),
        Op::Broadcast { buffer, at } => access(buffer, at, 0, None, false),
        Op::Store { buffer, at, .. } => access(buffer, at, 1, None, true),
        Op::StorePartial { buffer, at, count, .. } => access(buffer, at, 1, Some(*count), true),
        Op::StoreStrided { buffer, at, stride, .. } => {
            access(buffer, at, i64::from(*stride), None, true)
        }
        _ => None,
    }
}

impl Memory<'_> {
    /// Whether lane by lane the two accesses may touch a word in another order than one after
    /// the other.
    fn conflicts(&self, other: &Memory, lanes: i64) -> bool {
        if self.buffer != other.buffer || !(self.store || other.store) {
            return false;
        }
        if self.at == other.at && self.stride == other.stride && self.stride != 0 {
            return false; // each lane its own word, in program order
        }
        if self.at.terms != other.at.terms {
            return true;
        }
        let (first, second) =
            if self.at.base <= other.at.base { (self, other) } else { (other, self) };
        let distance = second.at.base - first.at.base;
        let interleaved =
            first.stride == second.stride && first.stride > 0 && distance % first.stride != 0;
        let reach = first.stride * (first.count.map_or(lanes, i64::from) - 1);
        !interleaved && distance <= reach
    }
}

/// An index as C; `lane` is the stride of the loop over lanes, where the access is inside it.
pub fn index(at: &Index, lane: Option<i64>) -> String {
    let mut terms: Vec<String> = Vec::new();
    if at.base != 0 {
        terms.push(at.base.to_string());
    }
    let counters = at.terms.iter().map(|&(v, stride)| (format!("i{}", v.0), stride));
    for (name, stride) in counters.chain(lane.map(|stride| ("l".to_string(), stride))) {
        match stride {
            0 => {}
            1 => terms.push(name),
            _ => terms.push(format!("{stride} * {name}")),
        }
    }
    if terms.is_empty() { "0".into() } else { terms.join(" + ").replace("+ -", "- ") }
}

impl Writer<'_> {
    /// Renders a block, or says which operation is in the way.
    pub fn block(&mut self, block: &Block) -> Result<(), String> {
        self.check_order(block)?;
        let lanes = self.program.lanes;
        let uniform = uniform(block);
        // Scalars and the few words of partial loads first, then the lanes, then partial stores.
        let (mut before, mut inside, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let mut names: Vec<String> = Vec::new();
        for (i, op) in block.ops.iter().enumerate() {
            let operands: Vec<String> =
                op.operands().iter().map(|v| names[v.0 as usize].clone()).collect();
            let mut name = format!("v{i}");
            let place = if uniform[i] { &mut before } else { &mut inside };
            match op {
                Op::Splat(word) => name = word.to_string(),
                Op::Lanes(words) => {
                    let known = self.constants.iter().position(|k| k == words);
                    let k = known.unwrap_or_else(|| {
                        self.constants.push(words.clone());
                        self.constants.len() - 1
                    });
                    name = format!("k{k}[l]");
                }
                Op::Load { buffer, at } => {
                    let (buffer, at) = (self.buffer(*buffer), index(at, Some(1)));
                    place.push(format!("const int16_t {name} = {buffer}[{at}];"));
                }
                Op::Broadcast { buffer, at } => {
                    let (buffer, at) = (self.buffer(*buffer), index(at, None));
                    place.push(format!("const int16_t {name} = {buffer}[{at}];"));
                }
                Op::LoadPartial { buffer, at, count } => {
                    let (buffer, at) = (self.buffer(*buffer), index(at, Some(1)));
                    before.push(format!("int16_t w{i}[{lanes}] = {{ 0 }};"));
                    before.push(format!("for (int l = 0; l < {count}; l++) {{"));
                    before.push(format!("    w{i}[l] = {buffer}[{at}];"));
                    before.push("}".into());
                    name = format!("w{i}[l]");
                }
                Op::Store { buffer, at, .. } => {
                    let (buffer, at) = (self.buffer(*buffer), index(at, Some(1)));
                    inside.push(format!("{buffer}[{at}] = {};", operands[0]));
                }
                Op::StoreStrided { buffer, at, stride, .. } => {
                    let at = index(at, Some(i64::from(*stride)));
                    let buffer = self.buffer(*buffer);
                    inside.push(format!("{buffer}[{at}] = {};", operands[0]));
                }
                Op::StorePartial { buffer, at, count, .. } => {
                    let (buffer, at) = (self.buffer(*buffer), index(at, Some(1)));
                    before.push(format!("int16_t w{i}[{lanes}];"));
                    inside.push(format!("w{i}[l] = {};", operands[0]));
                    after.push(format!("for (int l = 0; l < {count}; l++) {{"));
                    after.push(format!("    {buffer}[{at}] = w{i}[l];"));
                    after.push("}".into());
                }
                _ => {
                    let value = self.helpers.expression(op, &operands).ok_or_else(|| {
                        let text = format!("{op:?}");
                        let name: String =
                            text.chars().take_while(|c| c.is_alphanumeric()).collect();
                        format!(
                            "{name} is no operation on single words; choose base products by \
                             lanes in the schedule"
                        )
                    })?;
                    place.push(format!("const int16_t {name} = {value};"));
                }
            }
            names.push(name);
        }
        let scoped = !before.is_empty();
        if scoped {
            self.line("{");
            self.depth += 1;
        }
        before.iter().for_each(|line| self.line(line));
        if !inside.is_empty() {
            self.line(&format!("for (int l = 0; l < {lanes}; l++) {{"));
            inside.iter().for_each(|line| self.line(&format!("    {line}")));
            self.line("}");
        }
        after.iter().for_each(|line| self.line(line));
        if scoped {
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    /// Whether doing the block lane by lane leaves its meaning.
    fn check_order(&self, block: &Block) -> Result<(), String> {
        let lanes = self.program.lanes as i64;
        let all: Vec<Memory> = block.ops.iter().filter_map(memory).collect();
        for (i, second) in all.iter().enumerate() {
            for first in &all[..i] {
                // Partial loads come before all stores, partial stores after all loads.
                let moved =
                    first.store && !second.store && (second.count.is_some() || second.stride == 0);
                let delayed = first.store && first.count.is_some() && first.buffer == second.buffer;
                let reordered = first.buffer == second.buffer && moved || delayed;
                if reordered || first.conflicts(second, lanes) {
                    return Err(format!(
                        "a block writes {} and touches it again across lanes; split the block",
                        self.buffer(first.buffer)
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Which values are the same in every lane.
fn uniform(block: &Block) -> Vec<bool> {
    let mut all: Vec<bool> = Vec::with_capacity(block.ops.len());
    for op in &block.ops {
        let operands = op.operands();
        all.push(match op {
            Op::Splat(_) | Op::Broadcast { .. } => true,
            _ if memory(op).is_some() || operands.is_empty() => false,
            _ => operands.iter().all(|v| all[v.0 as usize]),
        });
    }
    all
}
