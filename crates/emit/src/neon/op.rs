//! The operations of a block as lines of C.

mod expression;
mod used;

use super::apart::falls_apart;
use super::constants::{Constants, packed};
use super::reuse::{Register, Reuse, Source, reuse};
use super::select::{Form, Selection, select};
use super::words::{cast, constant, vector};
use crate::source::{Place, add_sum, address, factor};
use ringforge_program::ir::*;
use std::fmt::Write;
use used::all_used;

/// The operations of a block as declarations and stores.
pub(super) fn block(out: &mut String, place: &Place, block: &Block, depth: usize) {
    let indent = "    ".repeat(depth);
    let chosen = select(block, place.bits);
    let loads = reuse(place, block, &chosen);
    let mut loaded = vec![false; loads.registers.len()];
    let apart = falls_apart(place, block, &chosen.live, &loads);
    let passes: &[&[usize]] = if apart { &[&[0], &[1]] } else { &[&[0, 1]] };
    let constants = packed(block, &chosen, place.bits);
    let writer = Writer { place, block, chosen, loads, constants, apart };
    let mut written = vec![false; block.ops.len()];
    let mut lines = Vec::new();
    if !writer.constants.late {
        lines.extend((0..writer.constants.registers.len()).map(|k| writer.held(k, 0)));
    }
    let mut stored = false;
    for halves in passes {
        let mut held = vec![!writer.constants.late; writer.constants.registers.len()];
        for (i, op) in block.ops.iter().enumerate().filter(|(i, _)| writer.chosen.live[*i]) {
            if uniform(op) && std::mem::replace(&mut written[i], true) {
                continue;
            }
            // What comes after the stores stays there.
            stored |= op.shape() == Shape::Nothing;
            if stored && reads(op) {
                lines.push("FENCE;".to_owned());
                stored = false;
            }
            for register in writer.registers(i, op, halves) {
                if !std::mem::replace(&mut loaded[register], true) {
                    let (kind, bits) = (vector(place.bits), place.bits);
                    let words = match &writer.loads.registers[register] {
                        Register::Memory(buffer, at) => {
                            format!("vld1q_s{bits}({})", writer.at(*buffer, at))
                        }
                        Register::Stored(v, half) => writer.words(*v, *half),
                    };
                    lines.push(format!("const {kind} r{register} = {words};"));
                }
            }
            for (v, _) in writer.chosen.forms[i].sources(op) {
                if let Some(&(k, _)) = writer.constants.places.get(&v)
                    && !std::mem::replace(&mut held[k], true)
                {
                    lines.push(writer.held(k, halves[0]));
                }
            }
            lines.extend(writer.lines(i, op, halves));
        }
    }
    let mut since = 0;
    for line in all_used(lines) {
        if line.starts_with("const ") {
            if place.in_order > 0 && since == place.in_order {
                // Its own name in the function, whose text grows.
                let here = out.len();
                let _ = writeln!(out, "{indent}HERE(h{here});");
                since = 0;
            }
            since += 1;
        }
        let _ = writeln!(out, "{indent}{line}");
    }
}

/// Whether both halves of a result are equal, so that one variable holds them.
fn uniform(op: &Op) -> bool {
    match op {
        Op::Splat(_) | Op::Broadcast { .. } | Op::BroadcastPair { .. } => true,
        Op::Lanes(words) => words[..words.len() / 2] == words[words.len() / 2..],
        _ => false,
    }
}

/// Whether an operation reads memory.
fn reads(op: &Op) -> bool {
    matches!(
        op,
        Op::Load { .. }
            | Op::LoadPartial { .. }
            | Op::LoadParts { .. }
            | Op::Broadcast { .. }
            | Op::BroadcastPair { .. }
    )
}

struct Writer<'a> {
    place: &'a Place<'a>,
    block: &'a Block,
    chosen: Selection,
    loads: Reuse,
    constants: Constants,
    /// Whether one half is computed after the other.
    apart: bool,
}

impl Writer<'_> {
    /// The name of a register of constants. If the halves are computed one after the other, the
    /// second half loads a late constant again.
    fn constants_of(&self, k: usize, half: usize) -> String {
        let again = self.apart && self.constants.late && half == 1;
        if again { format!("k{k}h") } else { format!("k{k}") }
    }

    /// Its declaration.
    fn held(&self, k: usize, half: usize) -> String {
        let (kind, name) = (vector(self.place.bits), self.constants_of(k, half));
        let words = constant(&self.constants.registers[k], self.place.bits);
        format!("{kind} {name} = {words}; LANES({name});")
    }

    fn op(&self, v: Value) -> &Op {
        &self.block.ops[v.0 as usize]
    }

    /// Bits of the elements of the variable that holds a value.
    fn width(&self, v: Value) -> u8 {
        match (self.chosen.forms[v.0 as usize], self.op(v).shape()) {
            (Form::Own, Shape::Wide) | (Form::Products { .. } | Form::ByLane { .. }, _) => {
                2 * self.place.bits
            }
            _ => self.place.bits,
        }
    }

    /// One half of a value as elements of `bits` bits.
    fn get(&self, v: Value, half: usize, bits: u8) -> String {
        let i = v.0;
        let name = match (uniform(self.op(v)), self.chosen.forms[i as usize]) {
            (true, _) => format!("v{i}"),
            (_, Form::Products { .. }) => format!("s{i}{}", ["l", "h"][half]),
            _ => format!("v{i}{}", ["l", "h"][half]),
        };
        cast(name, self.width(v), bits)
    }

    /// One half as words.
    fn words(&self, v: Value, half: usize) -> String {
        self.get(v, half, self.place.bits)
    }

    /// Registers that halves of an operation are cut out of.
    fn registers(&self, i: usize, op: &Op, halves: &[usize]) -> Vec<usize> {
        if uniform(op) {
            return self.loads.pairs.get(&i).iter().map(|pair| pair.0).collect();
        }
        let sources = halves.iter().filter_map(|&half| self.loads.halves.get(&(i, half)));
        sources
            .flat_map(|source| match *source {
                Source::Whole(r) => vec![r],
                Source::Between(r, s, _) => vec![r, s],
            })
            .collect()
    }

    fn lines(&self, i: usize, op: &Op, halves: &[usize]) -> Vec<String> {
        if let Some(stores) = self.store(op, halves) {
            return stores;
        }
        let v = Value(i as u32);
        let kind = vector(self.width(v));
        if let Form::Products { sum, a, b } = self.chosen.forms[i] {
            return self.products(i, (sum, a, b), halves);
        }
        if let Form::ByLane { sum, window, pair, word } = self.chosen.forms[i] {
            return self.by_lane(i, sum, window, (pair, word), halves);
        }
        if let Form::Narrowed { sums, inverse, modulus } = self.chosen.forms[i] {
            return self.narrowed(i, sums, [inverse, modulus], halves);
        }
        // Its words are taken out of the registers that hold several.
        let pair = self.loads.pairs.contains_key(&i) && !self.chosen.whole[i];
        if pair || self.constants.places.contains_key(&v) {
            return Vec::new();
        }
        if uniform(op) {
            let text = self.expression(i, op, 0);
            return vec![match factor(self.block, i) {
                true => format!("{kind} v{i} = {text}; OPAQUE(v{i});"),
                false => format!("const {kind} v{i} = {text};"),
            }];
        }
        let one =
            |half: usize| format!("v{i}{} = {}", ["l", "h"][half], self.expression(i, op, half));
        let all: Vec<String> = halves.iter().map(|&half| one(half)).collect();
        vec![format!("const {kind} {};", all.join(", "))]
    }

    /// Products in two registers a half, and sums of neighbours if they are wanted.
    fn products(
        &self,
        i: usize,
        (sum, a, b): (Option<Value>, Value, Value),
        halves: &[usize],
    ) -> Vec<String> {
        let (bits, kind) = (self.place.bits, vector(2 * self.place.bits));
        let mut lines = Vec::new();
        for &half in halves {
            let h = ["l", "h"][half];
            let [x, y] = [a, b].map(|v| self.words(v, half));
            let low = |v: &str| format!("vget_low_s{bits}({v})");
            let (start, add) = match sum {
                Some(s) => ([format!("v{}{h}0, ", s.0), format!("v{}{h}1, ", s.0)], "vmlal"),
                None => ([String::new(), String::new()], "vmull"),
            };
            lines.push(format!(
                "const {kind} v{i}{h}0 = {add}_s{bits}({}{}, {}), v{i}{h}1 = {add}_high_s{bits}({}{x}, {y});",
                start[0],
                low(&x),
                low(&y),
                start[1]
            ));
        }
        if self.chosen.whole[i] {
            let sum = |h: &str| format!("s{i}{h} = vpaddq_s{}(v{i}{h}0, v{i}{h}1)", 2 * bits);
            let all: Vec<String> = halves.iter().map(|&half| sum(["l", "h"][half])).collect();
            lines.push(format!("const {kind} {};", all.join(", ")));
        }
        lines
    }

    /// Products of all words of a window with one word of a pair, in two registers a half.
    fn by_lane(
        &self,
        i: usize,
        sum: Option<Value>,
        window: Value,
        (pair, word): (Value, usize),
        halves: &[usize],
    ) -> Vec<String> {
        let (bits, kind) = (self.place.bits, vector(2 * self.place.bits));
        let (register, lane) = match self.loads.pairs.get(&(pair.0 as usize)) {
            Some(&(r, number)) => (format!("r{r}"), number * (32 / usize::from(bits)) + word),
            None => (self.words(pair, 0), word),
        };
        let line = |&half: &usize| {
            let (h, x) = (["l", "h"][half], self.words(window, half));
            let (low, high) = match sum {
                Some(s) => (format!("v{}{h}0, ", s.0), format!("v{}{h}1, ", s.0)),
                None => (String::new(), String::new()),
            };
            let name = if sum.is_some() { "vmlal" } else { "vmull" };
            format!(
                "const {kind} v{i}{h}0 = {name}_laneq_s{bits}({low}vget_low_s{bits}({x}), {register}, {lane}), \
                 v{i}{h}1 = {name}_high_laneq_s{bits}({high}{x}, {register}, {lane});"
            )
        };
        halves.iter().map(line).collect()
    }

    /// The high words of whole sums minus multiples of the modulus. Their low words are equal.
    fn narrowed(
        &self,
        i: usize,
        sums: Value,
        [inverse, modulus]: [Value; 2],
        halves: &[usize],
    ) -> Vec<String> {
        let (bits, wide) = (self.place.bits, 2 * self.place.bits);
        let (kind, s) = (vector(bits), sums.0);
        let line = |&half: &usize| {
            let h = ["l", "h"][half];
            let [over, q] = [inverse, modulus].map(|v| self.words(v, half));
            let all = [0, 1].map(|k| format!("v{s}{h}{k}"));
            let [low, high] = all.clone().map(|sum| cast(sum, wide, bits));
            let t = format!("t{i}{h}");
            let rest = [
                format!("vmlsl_s{bits}({}, vget_low_s{bits}({t}), vget_low_s{bits}({q}))", all[0]),
                format!("vmlsl_high_s{bits}({}, {t}, {q})", all[1]),
            ];
            let [first, second] = rest.map(|sum| cast(sum, wide, bits));
            [
                format!("const {kind} {t} = vmulq_s{bits}(vuzp1q_s{bits}({low}, {high}), {over});"),
                format!("const {kind} v{i}{h} = vuzp2q_s{bits}({first}, {second});"),
            ]
        };
        halves.iter().flat_map(line).collect()
    }

    /// A product of words as an intrinsic. A factor that shares a register is taken by lane.
    fn times(&self, name: &str, before: &str, [a, b]: [Value; 2], half: usize) -> String {
        let bits = self.place.bits;
        let place = |v: Value| self.constants.places.get(&v);
        let (a, b) = if place(a).is_some() { (b, a) } else { (a, b) };
        let x = self.words(a, half);
        match place(b) {
            Some(&(k, lane)) => {
                let constants = self.constants_of(k, half);
                format!("{name}q_laneq_s{bits}({before}{x}, {constants}, {lane})")
            }
            None => format!("{name}q_s{bits}({before}{x}, {})", self.words(b, half)),
        }
    }

    /// The address of a word, and words of a part.
    fn at(&self, id: BufferId, at: &Index) -> String {
        address(self.place.procedure, id, at)
    }

    /// `count` words of a half from memory, and zeros.
    fn part(&self, id: BufferId, at: &Index, count: usize) -> String {
        let (bits, kept) = (self.place.bits, self.place.kept(id));
        let full = 128 / usize::from(bits);
        if kept == bits {
            return self.packed(id, at, count.min(full));
        }
        match count >= full {
            true => format!("vmovl_s16(vld1_s16({}))", self.at(id, at)),
            false => {
                let words = self.packed(id, at, count);
                format!("vmovl_s16(vget_low_s16({words}))")
            }
        }
    }

    /// `count` words as they lie in memory, at most 128 bits of them, and zeros.
    fn packed(&self, id: BufferId, at: &Index, count: usize) -> String {
        let kept = self.place.kept(id);
        let full = 128 / usize::from(kept);
        let word = |i: usize| self.at(id, &at.plus(i));
        if count >= full {
            return format!("vld1q_s{kept}({})", word(0));
        }
        let zero = format!("vdup_n_s{kept}(0)");
        let (mut text, done) = match count >= full / 2 {
            true => (format!("vcombine_s{kept}(vld1_s{kept}({}), {zero})", word(0)), full / 2),
            false => (format!("vdupq_n_s{kept}(0)"), 0),
        };
        for i in done..count {
            text = format!("vld1q_lane_s{kept}({}, {text}, {i})", word(i));
        }
        text
    }

    fn store(&self, op: &Op, halves: &[usize]) -> Option<Vec<String>> {
        let bits = self.place.bits;
        let full = 128 / usize::from(bits);
        let whole = |id: &BufferId, at: &Index, v: Value, half: usize| {
            let (at, words) = (self.at(*id, at), self.words(v, half));
            match self.place.kept(*id) == bits {
                true => format!("vst1q_s{bits}({at}, {words});"),
                false => format!("vst1_s16({at}, vmovn_s32({words}));"),
            }
        };
        let word = |id: &BufferId, at: &Index, v: Value, i: usize| {
            let (at, words) = (self.at(*id, at), self.words(v, i / full));
            match self.place.kept(*id) == bits {
                true => format!("vst1q_lane_s{bits}({at}, {words}, {});", i % full),
                false => format!("*({at}) = (int16_t)vgetq_lane_s32({words}, {});", i % full),
            }
        };
        Some(match op {
            Op::Store { buffer, at, a } => {
                halves.iter().map(|&half| whole(buffer, &at.plus(full * half), *a, half)).collect()
            }
            Op::StoreParts { buffer, at, a } => {
                at.iter().enumerate().map(|(half, at)| whole(buffer, at, *a, half)).collect()
            }
            Op::StorePartial { buffer, at, count, a } => {
                let count = *count as usize;
                let mut done = count / full * full;
                let mut all: Vec<String> = (0..count / full)
                    .map(|half| whole(buffer, &at.plus(full * half), *a, half))
                    .collect();
                if count - done >= full / 2 && self.place.kept(*buffer) == bits {
                    let low = self.words(*a, done / full);
                    let to = self.at(*buffer, &at.plus(done));
                    all.push(format!("vst1_s{bits}({to}, vget_low_s{bits}({low}));"));
                    done += full / 2;
                }
                all.extend((done..count).map(|i| word(buffer, &at.plus(i), *a, i)));
                all
            }
            Op::StoreStrided { buffer, at, stride, a } => {
                (0..2 * full).map(|i| word(buffer, &at.plus(i * *stride as usize), *a, i)).collect()
            }
            Op::AddSum { buffer, at, a } => {
                let word = |i| {
                    let words = self.words(*a, i / full);
                    format!("vgetq_lane_s{bits}({words}, {})", i % full)
                };
                let words = (0..2 * full).map(word);
                vec![add_sum(&self.at(*buffer, at), words, self.place.kept(*buffer))]
            }
            _ => return None,
        })
    }

    /// Whether no word of a value can be the least word, so that a product with it cannot saturate.
    fn moderate(&self, v: Value) -> bool {
        let least = i32::MIN >> (32 - self.place.bits);
        let table = |id: &BufferId| match &self.place.procedure.buffers[id.0 as usize].role {
            Role::Table(words) => !words.contains(&least),
            _ => false,
        };
        match self.op(v) {
            Op::Splat(word) => *word != least,
            Op::Lanes(words) => !words.contains(&least),
            Op::Load { buffer, .. }
            | Op::LoadParts { buffer, .. }
            | Op::Broadcast { buffer, .. }
            | Op::BroadcastPair { buffer, .. } => table(buffer),
            _ => false,
        }
    }

    /// The full products of one half's low and high words.
    fn full(&self, a: Value, b: Value, half: usize) -> [String; 2] {
        let bits = self.place.bits;
        let [x, y] = [a, b].map(|v| self.words(v, half));
        let low = |v: &str| format!("vget_low_s{bits}({v})");
        [
            format!("vmull_s{bits}({}, {})", low(&x), low(&y)),
            format!("vmull_high_s{bits}({x}, {y})"),
        ]
    }

    /// The even words of a half, in half a register.
    fn even(&self, v: Value, half: usize) -> String {
        let (bits, wide) = (self.place.bits, 2 * self.place.bits);
        match *self.op(v) {
            Op::OddToEven(v) => format!("vshrn_n_s{wide}({}, {bits})", self.get(v, half, wide)),
            Op::Splat(_) => format!("vget_low_s{bits}({})", self.words(v, half)),
            _ => format!("vmovn_s{wide}({})", self.get(v, half, wide)),
        }
    }
}
