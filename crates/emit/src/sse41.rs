//! C with SSE4.1 intrinsics, for x86-64 processors without AVX2: a register of 16 words is two of
//! 128 bits.
//!
//! Everything that a program says of a register holds for each of its 128-bit parts, so each
//! operation is written twice, or once where both parts are equal.

use crate::Preamble;
use crate::x86::{Machine, address, eight, file, list};
use ringforge_program::ir::*;
use std::fmt::Write;

pub use crate::x86::Unfit;

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "sse41";

/// The C source of a program; its exported function is `NAME_mul_sse41`.
///
/// # Errors
///
/// A program whose registers do not have 16 words is refused.
pub fn sse41(program: &Program, preamble: &Preamble) -> Result<String, Unfit> {
    if program.lanes != 16 {
        return Err(Unfit { lanes: program.lanes });
    }
    let machine =
        Machine { suffix: SUFFIX, what: "multiplication with SSE4.1", attribute: "sse4.1", block };
    Ok(file(&program.expand(), &machine, preamble))
}

/// The operations of a block as declarations and stores.
fn block(out: &mut String, procedure: &Procedure, block: &Block, depth: usize) {
    let indent = "    ".repeat(depth);
    for (i, op) in block.ops.iter().enumerate() {
        let _ = match (store(procedure, block, op), uniform(op)) {
            (Some(text), _) => writeln!(out, "{indent}{text}"),
            (None, true) => {
                let text = expression(procedure, block, op, 0);
                writeln!(out, "{indent}const __m128i v{i} = {text};")
            }
            (None, false) => {
                let [low, high] = [0, 1].map(|part| expression(procedure, block, op, part));
                writeln!(out, "{indent}const __m128i v{i}l = {low}, v{i}h = {high};")
            }
        };
    }
}

/// Whether both parts of a result are equal, so that one variable holds them.
fn uniform(op: &Op) -> bool {
    match op {
        Op::Splat(_) | Op::Broadcast { .. } | Op::BroadcastPair { .. } => true,
        Op::Lanes(words) => words[..8] == words[8..],
        _ => false,
    }
}

/// The variable that holds one part of a value.
fn name(block: &Block, v: Value, part: usize) -> String {
    match uniform(&block.ops[v.0 as usize]) {
        true => format!("v{}", v.0),
        false => format!("v{}{}", v.0, ["l", "h"][part]),
    }
}

fn store(procedure: &Procedure, block: &Block, op: &Op) -> Option<String> {
    let whole = |id: &BufferId, at: &Index, v: Value, part: usize| {
        let (at, v) = (address(procedure, *id, at), name(block, v, part));
        format!("_mm_storeu_si128((__m128i *)({at}), {v});")
    };
    let word = |id: &BufferId, at: &Index, v: Value, i: usize| {
        let (at, v) = (address(procedure, *id, at), name(block, v, i / 8));
        format!("*({at}) = (int16_t)_mm_extract_epi16({v}, {});", i % 8)
    };
    let all: Vec<String> = match op {
        Op::Store { buffer, at, a } => {
            (0..2).map(|part| whole(buffer, &at.plus(8 * part), *a, part)).collect()
        }
        Op::StoreParts { buffer, at, a } => {
            at.iter().enumerate().map(|(part, at)| whole(buffer, at, *a, part)).collect()
        }
        Op::StorePartial { buffer, at, count, a } => {
            let count = *count as usize;
            let done = count / 8 * 8;
            let parts = (0..count / 8).map(|part| whole(buffer, &at.plus(8 * part), *a, part));
            parts.chain((done..count).map(|i| word(buffer, &at.plus(i), *a, i))).collect()
        }
        Op::StoreStrided { buffer, at, stride, a } => {
            (0..16).map(|i| word(buffer, &at.plus(i * *stride as usize), *a, i)).collect()
        }
        _ => return None,
    };
    Some(all.join(" "))
}

fn expression(procedure: &Procedure, block: &Block, op: &Op, part: usize) -> String {
    let at = |id: &BufferId, at: &Index| address(procedure, *id, at);
    let of = |v: &Value| name(block, *v, part);
    let two = |name: &str, a: &Value, b: &Value| format!("_mm_{name}({}, {})", of(a), of(b));
    let shift = |name: &str, a: &Value, k: u8| format!("_mm_{name}({}, {k})", of(a));
    match op {
        Op::Load { buffer, at } => eight(procedure, *buffer, &at.plus(8 * part), 8),
        Op::LoadPartial { buffer, at, count } => {
            let count = (*count as usize).saturating_sub(8 * part);
            eight(procedure, *buffer, &at.plus(8 * part), count)
        }
        Op::LoadParts { buffer, at } => eight(procedure, *buffer, &at[part], 8),
        Op::BroadcastPair { buffer, at: index } => {
            format!("_mm_set1_epi32(*(const pair *)({}))", at(buffer, index))
        }
        Op::Broadcast { buffer, at: index } => format!("_mm_set1_epi16(*({}))", at(buffer, index)),
        Op::Splat(0) => "_mm_setzero_si128()".to_string(),
        Op::Splat(word) => format!("_mm_set1_epi16({word})"),
        Op::Lanes(words) => format!("_mm_setr_epi16({})", list(&words[8 * part..8 * part + 8])),
        Op::Add(a, b) => two("add_epi16", a, b),
        Op::Sub(a, b) => two("sub_epi16", a, b),
        Op::MulLo(a, b) => two("mullo_epi16", a, b),
        Op::MulHi(a, b) => two("mulhi_epi16", a, b),
        Op::MulHrs(a, b) => two("mulhrs_epi16", a, b),
        Op::Shl(a, k) => shift("slli_epi16", a, *k),
        Op::Sar(a, k) => shift("srai_epi16", a, *k),
        Op::Shr(a, k) => shift("srli_epi16", a, *k),
        Op::Greater(a, b) => two("cmpgt_epi16", a, b),
        Op::MinU(a, b) => two("min_epu16", a, b),
        Op::Min(a, b) => two("min_epi16", a, b),
        Op::Max(a, b) => two("max_epi16", a, b),
        Op::And(a, b) => two("and_si128", a, b),
        Op::Or(a, b) => two("or_si128", a, b),
        Op::Xor(a, b) => two("xor_si128", a, b),
        Op::PairDot(a, b) => two("madd_epi16", a, b),
        Op::PairDotAdd { acc, a, b } => {
            format!("_mm_add_epi32({}, {})", of(acc), two("madd_epi16", a, b))
        }
        Op::AddWide(a, b) => two("add_epi32", a, b),
        Op::SubWide(a, b) => two("sub_epi32", a, b),
        Op::MulLoWide(a, b) => two("mullo_epi32", a, b),
        Op::ShlWide(a, k) => shift("slli_epi32", a, *k),
        Op::SarWide(a, k) => shift("srai_epi32", a, *k),
        Op::ShrWide(a, k) => shift("srli_epi32", a, *k),
        Op::Blend { a, b, mask } => format!("_mm_blend_epi16({}, {}, {mask})", of(a), of(b)),
        Op::SwapPairs(a) => {
            // Bytes 2 3 0 1 | 6 7 4 5 | …, as words.
            let bytes = [770, 256, 1798, 1284, 2826, 2312, 3854, 3340];
            format!("_mm_shuffle_epi8({}, _mm_setr_epi16({}))", of(a), list(&bytes))
        }
        Op::Interleave { a, b, unit, half } => {
            let half = if *half == Half::High { "hi" } else { "lo" };
            two(&format!("unpack{half}_epi{unit}"), a, b)
        }
        Op::MulMod { .. }
        | Op::Reduce { .. }
        | Op::Narrow { .. }
        | Op::MulWords { .. }
        | Op::Freeze { .. }
        | Op::Store { .. }
        | Op::StorePartial { .. }
        | Op::StoreStrided { .. }
        | Op::StoreParts { .. } => unreachable!("expanded, or a statement"),
    }
}
