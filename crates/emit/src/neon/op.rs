//! One operation as one intrinsic, or a few.

use super::select::{Form, Selection, select};
use crate::x86::{Place, address, factor, list};
use ringforge_program::ir::*;
use std::fmt::Write;

/// The operations of a block as declarations and stores.
pub(super) fn block(out: &mut String, place: &Place, block: &Block, depth: usize) {
    let indent = "    ".repeat(depth);
    let writer = Writer { place, block, chosen: select(block, place.bits) };
    for (i, op) in block.ops.iter().enumerate().filter(|(i, _)| writer.chosen.live[*i]) {
        for line in writer.lines(i, op) {
            let _ = writeln!(out, "{indent}{line}");
        }
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

/// The type of a register of words of `bits` bits.
fn vector(bits: u8) -> &'static str {
    match bits {
        16 => "int16x8_t",
        32 => "int32x4_t",
        _ => "int64x2_t",
    }
}

/// `text` of words of `from` bits as one of `to` bits.
fn cast(text: String, from: u8, to: u8) -> String {
    if from == to { text } else { format!("vreinterpretq_s{to}_s{from}({text})") }
}

/// The same of unsigned words.
fn unsigned(text: &str, bits: u8) -> String {
    format!("vreinterpretq_u{bits}_s{bits}({text})")
}

fn signed(text: &str, bits: u8) -> String {
    format!("vreinterpretq_s{bits}_u{bits}({text})")
}

struct Writer<'a> {
    place: &'a Place<'a>,
    block: &'a Block,
    chosen: Selection,
}

impl Writer<'_> {
    fn op(&self, v: Value) -> &Op {
        &self.block.ops[v.0 as usize]
    }

    /// Bits of the elements of the variable that holds a value.
    fn width(&self, v: Value) -> u8 {
        match (self.chosen.forms[v.0 as usize], self.op(v).shape()) {
            (Form::Own, Shape::Wide) | (Form::Products { .. }, _) => 2 * self.place.bits,
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

    fn lines(&self, i: usize, op: &Op) -> Vec<String> {
        if let Some(stores) = self.store(op) {
            return stores;
        }
        let v = Value(i as u32);
        let kind = vector(self.width(v));
        if let Form::Products { sum, a, b } = self.chosen.forms[i] {
            return self.products(i, sum, a, b);
        }
        if uniform(op) {
            let text = self.expression(i, op, 0);
            return vec![match factor(self.block, i) {
                true => format!("{kind} v{i} = {text}; OPAQUE(v{i});"),
                false => format!("const {kind} v{i} = {text};"),
            }];
        }
        let [low, high] = [0, 1].map(|half| self.expression(i, op, half));
        vec![format!("const {kind} v{i}l = {low}, v{i}h = {high};")]
    }

    /// Products in two registers a half, and where they are wanted the sums of neighbours.
    fn products(&self, i: usize, sum: Option<Value>, a: Value, b: Value) -> Vec<String> {
        let (bits, kind) = (self.place.bits, vector(2 * self.place.bits));
        let mut lines = Vec::new();
        for half in 0..2 {
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
        if self.chosen.summed[i] {
            let sum = |h: &str| format!("s{i}{h} = vpaddq_s{}(v{i}{h}0, v{i}{h}1)", 2 * bits);
            lines.push(format!("const {kind} {}, {};", sum("l"), sum("h")));
        }
        lines
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

    fn store(&self, op: &Op) -> Option<Vec<String>> {
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
                (0..2).map(|half| whole(buffer, &at.plus(full * half), *a, half)).collect()
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
            _ => return None,
        })
    }

    /// Whether a value is known to be no least word anywhere, so that a product with it cannot saturate.
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

    fn expression(&self, i: usize, op: &Op, half: usize) -> String {
        let bits = self.place.bits;
        let wide = 2 * bits;
        let full = 128 / usize::from(bits);
        let words = |v: &Value| self.words(*v, half);
        let elements = |v: &Value| self.get(*v, half, wide);
        let two = |name: &str, a: &Value, b: &Value| {
            format!("{name}q_s{bits}({}, {})", words(a), words(b))
        };
        let two_wide = |name: &str, a: &Value, b: &Value| {
            format!("{name}q_s{wide}({}, {})", elements(a), elements(b))
        };
        match self.chosen.forms[i] {
            Form::Fused { sum, a, b, minus } => {
                let name = if minus { "vmls" } else { "vmla" };
                let [sum, a, b] = [sum, a, b].map(|v| words(&v));
                return format!("{name}q_s{bits}({sum}, {a}, {b})");
            }
            Form::Transposed { a, b, odd } => {
                return two(if odd { "vtrn2" } else { "vtrn1" }, &a, &b);
            }
            Form::Own | Form::Products { .. } => {}
        }
        match op {
            Op::Load { buffer, at } => self.part(*buffer, &at.plus(full * half), full),
            Op::LoadPartial { buffer, at, count } => {
                let count = (*count as usize).saturating_sub(full * half);
                self.part(*buffer, &at.plus(full * half), count)
            }
            Op::LoadParts { buffer, at } => self.part(*buffer, &at[half], full),
            Op::BroadcastPair { buffer, at } => {
                let from = self.at(*buffer, at);
                match (bits, self.place.kept(*buffer)) {
                    (16, _) => {
                        format!("vreinterpretq_s16_s32(vdupq_n_s32(*(const pair *)({from})))")
                    }
                    (_, 32) => format!("vcombine_s32(vld1_s32({from}), vld1_s32({from}))"),
                    _ => format!(
                        "vmovl_s16(vreinterpret_s16_s32(vdup_n_s32(*(const pair *)({from}))))"
                    ),
                }
            }
            Op::Broadcast { buffer, at } => {
                let from = self.at(*buffer, at);
                match self.place.kept(*buffer) == bits {
                    true => format!("vld1q_dup_s{bits}({from})"),
                    false => format!("vdupq_n_s{bits}(*({from}))"),
                }
            }
            Op::Splat(word) => format!("vdupq_n_s{bits}({})", literal(*word)),
            Op::Lanes(all) => constant(&all[full * half..full * half + full], bits),
            Op::Add(a, b) => two("vadd", a, b),
            Op::Sub(a, b) => two("vsub", a, b),
            Op::MulLo(a, b) => two("vmul", a, b),
            Op::MulHi(a, b) => {
                let [low, high] = self.full(*a, *b, half).map(|p| cast(p, wide, bits));
                format!("vuzp2q_s{bits}({low}, {high})")
            }
            Op::MulHrs(a, b) if self.moderate(*a) || self.moderate(*b) => two("vqrdmulh", a, b),
            Op::MulHrs(a, b) => {
                // The instruction saturates where both are least, and this wraps.
                let [low, high] = self.full(*a, *b, half);
                let k = bits - 1;
                format!("vrshrn_high_n_s{wide}(vrshrn_n_s{wide}({low}, {k}), {high}, {k})")
            }
            Op::Shl(a, k) => format!("vshlq_n_s{bits}({}, {k})", words(a)),
            Op::Sar(a, 0) | Op::Shr(a, 0) => words(a),
            Op::Sar(a, k) => format!("vshrq_n_s{bits}({}, {k})", words(a)),
            Op::Shr(a, k) => {
                signed(&format!("vshrq_n_u{bits}({}, {k})", unsigned(&words(a), bits)), bits)
            }
            Op::Greater(a, b) => signed(&two("vcgt", a, b), bits),
            Op::MinU(a, b) => {
                let [a, b] = [a, b].map(|v| unsigned(&words(v), bits));
                signed(&format!("vminq_u{bits}({a}, {b})"), bits)
            }
            Op::Min(a, b) => two("vmin", a, b),
            Op::Max(a, b) => two("vmax", a, b),
            Op::And(a, b) => two("vand", a, b),
            Op::Or(a, b) => two("vorr", a, b),
            Op::Xor(a, b) => two("veor", a, b),
            Op::PairDotAdd { acc, a, b } => {
                let [low, high] = self.full(*a, *b, half);
                format!("vaddq_s{wide}({}, vpaddq_s{wide}({low}, {high}))", elements(acc))
            }
            Op::MulEven(a, b) => {
                format!("vmull_s{bits}({}, {})", self.even(*a, half), self.even(*b, half))
            }
            Op::AddWide(a, b) => two_wide("vadd", a, b),
            Op::SubWide(a, b) => two_wide("vsub", a, b),
            Op::MulLoWide(a, b) => two_wide("vmul", a, b),
            Op::ShlWide(a, k) => format!("vshlq_n_s{wide}({}, {k})", elements(a)),
            Op::SarWide(a, 0) | Op::ShrWide(a, 0) => elements(a),
            Op::SarWide(a, k) => format!("vshrq_n_s{wide}({}, {k})", elements(a)),
            Op::ShrWide(a, k) => {
                signed(&format!("vshrq_n_u{wide}({}, {k})", unsigned(&elements(a), wide)), wide)
            }
            Op::Blend { a, b, mask } => {
                // Eight bits for eight words of 16 bits, or for the words of 32 bits of both halves.
                let mask = if bits == 16 { *mask } else { mask >> (4 * half) & 15 };
                blended(&words(a), &words(b), mask, bits)
            }
            Op::SwapPairs(a) => format!("vrev{wide}q_s{bits}({})", words(a)),
            Op::OddToEven(a) => format!("vtrn2q_s{bits}({0}, {0})", words(a)),
            Op::PermuteParts { a, pattern } => permuted(&words(a), pattern, bits),
            Op::Parts { a, b, pick } => {
                let from = usize::from(pick[half]);
                self.words(if from < 2 { *a } else { *b }, from % 2)
            }
            Op::Interleave { a, b, unit, half: part } => {
                let name = if *part == Half::High { "vzip2" } else { "vzip1" };
                let [a, b] = [a, b].map(|v| self.get(*v, half, *unit));
                cast(format!("{name}q_s{unit}({a}, {b})"), *unit, bits)
            }
            Op::Deinterleave { a, b, unit, half: parity } => {
                let name = if *parity == Parity::Odd { "vuzp2" } else { "vuzp1" };
                let [a, b] = [a, b].map(|v| self.get(*v, half, *unit));
                cast(format!("{name}q_s{unit}({a}, {b})"), *unit, bits)
            }
            Op::PairDot(..)
            | Op::MulMod { .. }
            | Op::Reduce { .. }
            | Op::Narrow { .. }
            | Op::MulWords { .. }
            | Op::Freeze { .. }
            | Op::Store { .. }
            | Op::StorePartial { .. }
            | Op::StoreStrided { .. }
            | Op::StoreParts { .. } => unreachable!("expanded, products, or a statement"),
        }
    }
}

/// A word as C has it: -2^31 is no literal.
fn literal(word: i32) -> String {
    if word == i32::MIN { "INT32_MIN".into() } else { word.to_string() }
}

/// A register of constants.
fn constant(words: &[i32], bits: u8) -> String {
    match words.contains(&i32::MIN) {
        true => {
            let all: Vec<String> = words.iter().map(|&word| literal(word)).collect();
            format!("({}){{{}}}", vector(bits), all.join(", "))
        }
        false => format!("({}){{{}}}", vector(bits), list(words)),
    }
}

/// Words of `b` at the ones of a mask, of `a` elsewhere.
fn blended(a: &str, b: &str, mask: u8, bits: u8) -> String {
    let words = if bits == 16 { 8 } else { 4 };
    let all = (1u16 << words) - 1;
    let mask = u16::from(mask) & all;
    let high = all >> (words / 2) << (words / 2);
    let halves = |low: &str, high: &str| {
        format!("vcombine_s{bits}(vget_low_s{bits}({low}), vget_high_s{bits}({high}))")
    };
    match mask {
        0 => a.to_owned(),
        m if m == all => b.to_owned(),
        m if m == high => halves(a, b),
        m if m == all - high => halves(b, a),
        _ => {
            let ones: Vec<i32> = (0..words).map(|i| -i32::from(mask >> i & 1)).collect();
            format!("vbslq_s{bits}({}, {b}, {a})", unsigned(&constant(&ones, bits), bits))
        }
    }
}

/// The words of a half in another order.
fn permuted(register: &str, pattern: &[u8], bits: u8) -> String {
    let n = pattern.len() as u8;
    let is = |f: &dyn Fn(u8) -> u8| (0..n).all(|i| pattern[usize::from(i)] == f(i));
    let r = register;
    if is(&|i| i) {
        return r.to_owned();
    }
    if is(&|_| pattern[0]) {
        return format!("vdupq_laneq_s{bits}({r}, {})", pattern[0]);
    }
    if is(&|i| (i + pattern[0]) % n) {
        return format!("vextq_s{bits}({r}, {r}, {})", pattern[0]);
    }
    for span in [2, 4].into_iter().filter(|span| span * bits <= 64) {
        if is(&|i| i / span * span + span - 1 - i % span) {
            return format!("vrev{}q_s{bits}({r})", span * bits);
        }
    }
    for (name, from) in [
        ("zip1", (&|i: u8| i / 2) as &dyn Fn(u8) -> u8),
        ("zip2", &|i| n / 2 + i / 2),
        ("uzp1", &|i| 2 * i % n),
        ("uzp2", &|i| (2 * i + 1) % n),
        ("trn1", &|i| i / 2 * 2),
        ("trn2", &|i| i / 2 * 2 + 1),
    ] {
        if is(from) {
            return format!("v{name}q_s{bits}({r}, {r})");
        }
    }
    let size = bits / 8;
    let bytes = pattern.iter().flat_map(|&w| (0..size).map(move |k| size * w + k));
    let bytes: Vec<String> = bytes.map(|b| b.to_string()).collect();
    format!(
        "vreinterpretq_s{bits}_u8(vqtbl1q_u8(vreinterpretq_u8_s{bits}({r}), (uint8x16_t){{{}}}))",
        bytes.join(", ")
    )
}
