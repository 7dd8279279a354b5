//! A block as a loop over lanes.

use super::Writer;
use ringforge_program::ir::*;

/// A hint for loops that sum products. clang unrolls short loops before it looks for an instruction
/// that adds products of neighbours. Loops that it does not unroll fill only half a register.
pub fn sums(width: usize) -> String {
    format!(
        "
#if defined(__clang__) && defined(__SSE2__)
#define SUMS _Pragma(\"clang loop unroll(disable) vectorize_width({width})\")
#else
#define SUMS
#endif
"
    )
}

/// What an operation does to memory.
pub struct Memory<'a> {
    /// The buffer.
    pub buffer: BufferId,
    /// Index of the word for lane 0.
    pub at: &'a Index,
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
        Op::Broadcast { buffer, at } | Op::BroadcastPair { buffer, at } => {
            access(buffer, at, 0, None, false)
        }
        Op::Store { buffer, at, .. } => access(buffer, at, 1, None, true),
        Op::StorePartial { buffer, at, count, .. } => access(buffer, at, 1, Some(*count), true),
        // After all lanes, as partial stores.
        Op::AddSum { buffer, at, .. } => access(buffer, at, 1, Some(1), true),
        Op::StoreStrided { buffer, at, stride, .. } => {
            access(buffer, at, i64::from(*stride), None, true)
        }
        _ => None,
    }
}

impl Memory<'_> {
    /// Whether two accesses to one array may touch the same word.
    fn meets(&self, other: &Memory, lanes: usize) -> bool {
        let last =
            |m: &Memory| m.at.base + m.stride * (m.count.map_or(lanes as i64, i64::from) - 1);
        self.at.terms != other.at.terms
            || self.at.base <= last(other) && other.at.base <= last(self)
    }

    /// Whether the two accesses, lane by lane, may touch a word in another order than one after the
    /// other.
    fn conflicts(&self, other: &Memory, lanes: i64) -> bool {
        if !(self.store || other.store) {
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
    let counters = at.terms.iter().map(|&(v, stride)| (format!("i{}", v.0), stride));
    for (name, stride) in lane.map(|stride| ("l".to_string(), stride)).into_iter().chain(counters) {
        match stride {
            0 => {}
            1 => terms.push(name),
            _ => terms.push(format!("{stride} * {name}")),
        }
    }
    if at.base != 0 {
        terms.push(at.base.to_string());
    }
    if terms.is_empty() { "0".into() } else { terms.join(" + ").replace("+ -", "- ") }
}

/// Pointers to where the loops around a block are in a buffer. Through them an access is a constant
/// away from a common base, so gcc sees that strided stores interleave.
#[derive(Default)]
pub struct Bases {
    known: Vec<Base>,
    lines: Vec<String>,
}

struct Base {
    buffer: BufferId,
    loops: Vec<(LoopVar, i64)>,
    /// The word that it points to in the first round.
    start: i64,
}

impl Bases {
    /// An access to a buffer as C.
    pub fn access(
        &mut self,
        writer: &Writer,
        buffer: BufferId,
        at: &Index,
        lane: Option<i64>,
    ) -> String {
        let name = writer.buffer(buffer);
        if at.terms.is_empty() {
            return format!("{name}[{}]", index(at, lane));
        }
        let found = self.known.iter().position(|k| k.buffer == buffer && k.loops == at.terms);
        let i = found.unwrap_or_else(|| {
            let role = &writer.procedure.buffers[buffer.0 as usize].role;
            let fixed = matches!(role, Role::Input | Role::Table(_));
            // C has no pointers before an array's start, and gcc counts on that.
            let falling = at.terms.iter().any(|term| term.1 < 0);
            let base = if falling { at.base } else { 0 };
            let start = index(&Index { base, terms: at.terms.clone() }, None);
            let number = self.known.len();
            let qualifier = if fixed { "const " } else { "" };
            let bits = writer.procedure.buffers[buffer.0 as usize].bits;
            self.lines.push(format!("{qualifier}int{bits}_t *const p{number} = {name} + {start};"));
            self.known.push(Base { buffer, loops: at.terms.clone(), start: base });
            number
        });
        let from_there = Index { base: at.base - self.known[i].start, terms: Vec::new() };
        format!("p{i}[{}]", index(&from_there, lane))
    }

    /// The pointers' definitions.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl Writer<'_> {
    /// Renders a block as a loop over `lanes`, or says which operation is in the way.
    pub fn block(&mut self, block: &Block, lanes: usize) -> Result<(), String> {
        self.check_order(block, lanes)?;
        if self.form.pairs && (self.dots(block, lanes) || self.pairs(block, lanes)) {
            return Ok(());
        }
        let (uniform, staged) = (uniform(block), self.staged(block, lanes));
        let scalar =
            self.program.loops
                && self.procedure.bits == LONGEST_UNIT
                && block.ops.iter().zip(&uniform).all(|(op, &uniform)| {
                    uniform || matches!(op, Op::StorePartial { count: 1, .. })
                });
        let paired = self.paired(block);
        // Scalars and the few words of partial loads first, then the lanes, then partial stores.
        let (mut before, mut inside, mut after) = (Vec::new(), Vec::new(), Vec::new());
        let mut names: Vec<String> = Vec::new();
        let mut bases = Bases::default();
        let bits = self.procedure.bits;
        for (i, op) in block.ops.iter().enumerate() {
            let mut operands: Vec<String> =
                op.operands().iter().map(|v| names[v.0 as usize].clone()).collect();
            if let Op::MulLo(a, b) = op
                && lanes == self.lanes()
                && !uniform[i]
                && !self.form.pairs
            {
                // gcc would replace a product by a constant that it sees by four or five shifts
                // and sums; it loads one from a table.
                for (operand, v) in operands.iter_mut().zip([a, b]) {
                    if let Op::Splat(word) = block.ops[v.0 as usize] {
                        *operand = format!("k{}[l]", self.constant(vec![word; lanes]));
                    }
                }
            }
            let mut name = format!("v{i}");
            let place = if uniform[i] { &mut before } else { &mut inside };
            let fixed = if scalar { "" } else { "const " };
            match op {
                Op::Splat(word) => name = word.to_string(),
                Op::Lanes(words) => name = format!("k{}[l]", self.constant(words.clone())),
                Op::Load { buffer, at } => {
                    let word = bases.access(self, *buffer, at, Some(1));
                    place.push(format!("const int{bits}_t {name} = {word};"));
                }
                Op::Broadcast { buffer, at } => {
                    let word = bases.access(self, *buffer, at, None);
                    place.push(format!("{fixed}int{bits}_t {name} = {word};"));
                    if scalar {
                        place.push(format!("SCALAR({name});"));
                    }
                }
                Op::LoadPartial { buffer, at, count } => {
                    let word = bases.access(self, *buffer, at, Some(1));
                    before.push(format!("int{bits}_t w{i}[{lanes}] = {{ 0 }};"));
                    before.push(format!("for (int l = 0; l < {count}; l++) {{"));
                    before.push(format!("    w{i}[l] = {word};"));
                    before.push("}".into());
                    name = format!("w{i}[l]");
                }
                Op::Store { buffer, at, .. } | Op::StoreStrided { buffer, at, .. } => {
                    let stride = memory(op).map_or(1, |m| m.stride);
                    let word = bases.access(self, *buffer, at, Some(stride));
                    if staged && self.is_result(*buffer) {
                        before.push(format!("int{bits}_t w{i}[{lanes}];"));
                        inside.push(format!("w{i}[l] = {};", operands[0]));
                        after.push(format!("for (int l = 0; l < {lanes}; l++) {{"));
                        after.push(format!("    {word} = {}w{i}[l];", self.cast(*buffer)));
                        after.push("}".into());
                    } else {
                        inside.push(format!("{word} = {}{};", self.cast(*buffer), operands[0]));
                    }
                }
                Op::AddSum { buffer, at, .. } => {
                    let word = bases.access(self, *buffer, at, None);
                    before.push(format!("uint{bits}_t s{i} = 0;"));
                    inside.push(format!("s{i} += (uint{bits}_t){};", operands[0]));
                    let sum = format!("(int{bits}_t)((uint{bits}_t){word} + s{i})");
                    after.push(format!("{word} = {}{sum};", self.cast(*buffer)));
                }
                Op::StorePartial { buffer, at, count, a } => {
                    let word = bases.access(self, *buffer, at, Some(1));
                    // What is the same in every lane needs no loop over them.
                    let mut value = operands[0].clone();
                    if !op.operands().iter().all(|v| uniform[v.0 as usize]) {
                        before.push(format!("int{bits}_t w{i}[{lanes}];"));
                        inside.push(format!("w{i}[l] = {value};"));
                        value = format!("w{i}[l]");
                    }
                    if scalar && value == names[a.0 as usize] && value.starts_with('v') {
                        after.push(format!("SCALAR({value});"));
                    }
                    after.push(format!("for (int l = 0; l < {count}; l++) {{"));
                    after.push(format!("    {word} = {}{value};", self.cast(*buffer)));
                    after.push("}".into());
                }
                Op::MulLo(..) if paired[i] => {}
                Op::MulLo(..) if self.is_short_product(block, op) => {
                    // Compilers have no vectors of products of 64 bits, and find those of 16.
                    let product = short_product(&operands);
                    place.push(format!("const int{bits}_t {name} = {product};"));
                }
                Op::Add(a, b) if paired[a.0 as usize] && paired[b.0 as usize] => {
                    let both = [a, b].map(|v| {
                        let factors = block.ops[v.0 as usize].operands();
                        let factors = factors.iter().map(|v| names[v.0 as usize].clone());
                        short_product(&factors.collect::<Vec<_>>())
                    });
                    place.push(format!("const int{bits}_t {name} = {};", both.join(" + ")));
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
                    place.push(format!("{fixed}int{bits}_t {name} = {value};"));
                }
            }
            names.push(name);
        }
        let before = [bases.lines, before].concat();
        let scoped = !before.is_empty();
        if scoped {
            self.line("{");
            self.depth += 1;
        }
        before.iter().for_each(|line| self.line(line));
        if !inside.is_empty() {
            if block.ops.iter().any(|op| matches!(op, Op::AddSum { .. })) {
                self.line("SUMS");
            }
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

    /// A loop whose iterations continue each other's lanes, as one block on more lanes. One long
    /// loop is shorter code, and compilers that unroll short loops first do not vectorise them.
    pub fn joined(&self, counter: LoopVar, count: u32, body: &[Stmt]) -> Option<(Block, usize)> {
        let [Stmt::Block(block)] = body else { return None };
        let lanes = self.lanes();
        let mut joined = block.clone();
        for op in &mut joined.ops {
            let access = memory(op).map(|m| (m.stride, m.count));
            match op {
                Op::Load { at, .. } | Op::Store { at, .. } | Op::StoreStrided { at, .. } => {
                    let (stride, _) = access?;
                    let step = (counter, stride * lanes as i64);
                    let i = at.terms.iter().position(|&term| term == step)?;
                    at.terms.remove(i);
                }
                Op::Lanes(_) => return None,
                // The same word for all lanes, or the same pair, in every turn.
                Op::Broadcast { at, .. } | Op::BroadcastPair { at, .. } | Op::AddSum { at, .. }
                    if at.terms.iter().all(|term| term.0 != counter) => {}
                _ if access.is_some() => return None,
                _ => {}
            }
        }
        let lanes = lanes * count as usize;
        self.check_order(&joined, lanes).ok()?;
        Some((joined, lanes))
    }

    /// What is written before a word to be stored in a buffer.
    fn cast(&self, buffer: BufferId) -> String {
        let kept = self.procedure.buffers[buffer.0 as usize].bits;
        if kept == self.procedure.bits { String::new() } else { format!("(int{kept}_t)") }
    }

    /// Whether an operation of words of 64 bits is a product of words that have 16 in memory.
    fn is_short_product(&self, block: &Block, op: &Op) -> bool {
        let short = |v: &Value| self.loaded(block, *v).is_some_and(|buffer| buffer.bits <= 16);
        self.procedure.bits == 64 && matches!(op, Op::MulLo(a, b) if [a, b].into_iter().all(short))
    }

    /// Marks such products that are only added to another such product. One factor of each is more
    /// than the least word, so the sum of both fits 32 bits and is extended once.
    fn paired(&self, block: &Block) -> Vec<bool> {
        let mut paired = vec![false; block.ops.len()];
        let uses = uses(block);
        let above_least = |v: &Value| {
            // Nobody writes to an input.
            let input = self.loaded(block, *v).filter(|buffer| buffer.role == Role::Input);
            let range = input.and_then(|buffer| buffer.range);
            range.is_some_and(|(least, _)| least > i64::from(i16::MIN))
        };
        let one = |v: &Value| {
            let op = &block.ops[v.0 as usize];
            uses[v.0 as usize] == 1
                && self.is_short_product(block, op)
                && op.operands().iter().any(above_least)
        };
        for op in &block.ops {
            if let Op::Add(a, b) = op
                && one(a)
                && one(b)
            {
                [a, b].into_iter().for_each(|v| paired[v.0 as usize] = true);
            }
        }
        paired
    }

    /// The buffer that a value is loaded from.
    fn loaded(&self, block: &Block, value: Value) -> Option<&Buffer> {
        match &block.ops[value.0 as usize] {
            Op::Load { buffer, .. } | Op::Broadcast { buffer, .. } => {
                self.procedure.buffers.get(buffer.0 as usize)
            }
            _ => None,
        }
    }

    /// The number of a constant register.
    fn constant(&mut self, words: Vec<i32>) -> usize {
        self.constants.iter().position(|k| *k == words).unwrap_or_else(|| {
            self.constants.push(words);
            self.constants.len() - 1
        })
    }

    /// Whether two buffers may be one array: callers of entry points may pass an input as output.
    pub fn same(&self, a: BufferId, b: BufferId) -> bool {
        let role = |id: BufferId| &self.procedure.buffers[id.0 as usize].role;
        let passed = |id| matches!(role(id), Role::Output | Role::InOut | Role::Input);
        a == b || self.procedure.exported && passed(a) && passed(b)
    }

    /// Whether an entry point's caller sees what is written to a buffer.
    fn is_result(&self, id: BufferId) -> bool {
        let role = &self.procedure.buffers[id.0 as usize].role;
        self.procedure.exported && matches!(role, Role::Output | Role::InOut)
    }

    /// Whether a block's results must wait in local arrays until all lanes are done. Without them,
    /// compilers would check at run time whether arrays that it reads are those that it writes, or
    /// not vectorise at all.
    fn staged(&self, block: &Block, lanes: usize) -> bool {
        let all: Vec<Memory> = block.ops.iter().filter_map(memory).collect();
        let passed = |m: &&Memory| {
            let role = &self.procedure.buffers[m.buffer.0 as usize].role;
            matches!(role, Role::Input | Role::InOut)
        };
        let late = |i: usize, store: &Memory| {
            let reads = all[i + 1..].iter().filter(|m| !m.store);
            reads.into_iter().any(|m| self.same(store.buffer, m.buffer) && store.meets(m, lanes))
        };
        // Nobody makes vectors of pairs.
        !self.form.pairs
            && all.iter().any(|m| m.store && self.is_result(m.buffer))
            && all.iter().filter(passed).any(|m| !m.store)
            && !all
                .iter()
                .enumerate()
                .any(|(i, m)| m.store && self.is_result(m.buffer) && late(i, m))
    }

    /// Whether doing the block lane by lane leaves its meaning.
    fn check_order(&self, block: &Block, lanes: usize) -> Result<(), String> {
        let all: Vec<Memory> = block.ops.iter().filter_map(memory).collect();
        for (i, second) in all.iter().enumerate() {
            for first in &all[..i] {
                // Partial loads come before all stores, partial stores after all loads.
                if !self.same(first.buffer, second.buffer) {
                    continue;
                }
                let moved =
                    first.store && !second.store && (second.count.is_some() || second.stride == 0);
                let delayed = first.store && first.count.is_some();
                // Whatever is read is read before any of them.
                if !first.store && second.store && second.count.is_some() {
                    continue;
                }
                if moved || delayed || first.conflicts(second, lanes as i64) {
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

/// The product of two words of 16 bits, which 32 hold.
fn short_product(factors: &[String]) -> String {
    let factors: Vec<String> = factors.iter().map(|factor| format!("(int32_t){factor}")).collect();
    factors.join(" * ")
}

/// How often each value is read.
pub fn uses(block: &Block) -> Vec<u32> {
    let mut uses = vec![0; block.ops.len()];
    block.ops.iter().flat_map(Op::operands).for_each(|v| uses[v.0 as usize] += 1);
    uses
}

/// Which values are the same in every lane.
pub fn uniform(block: &Block) -> Vec<bool> {
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
