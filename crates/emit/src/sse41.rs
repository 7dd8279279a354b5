//! C with SSE4.1 intrinsics, for x86-64 processors without AVX2: a register of 256 bits is two of
//! 128.
//!
//! Everything that a program says of a register holds for each of its 128-bit parts, so each
//! operation is written twice, or once where both parts are equal.

use crate::Preamble;
use crate::x86::{
    EVEN_THEN_ODD, Machine, Place, add_sum, address, byte_pattern, check, extract, factor, file,
    head, immediate, lacking, list, low_words, part,
};
use ringforge_program::ir::*;
use std::fmt::Write;

pub use crate::x86::Unfit;

/// The suffix of this target's function and file names.
pub const SUFFIX: &str = "sse41";

/// The C source of a program; its exported functions are `NAME_<procedure>_sse41`.
///
/// # Errors
///
/// A program whose registers do not have 256 bits is refused, and so is one with an operation
/// that no instruction does.
pub fn sse41(program: &Program, preamble: &Preamble) -> Result<String, Unfit> {
    let program = program.expand();
    check(&program, &ringforge_target::SSE41, lacking)?;
    let machine = Machine {
        suffix: SUFFIX,
        what: "multiplication with SSE4.1",
        head,
        attribute: "sse4.1",
        keeps: false,
        repeats: false,
        in_order: 0,
        block,
    };
    Ok(file(&program, &machine, preamble))
}

/// The operations of a block as declarations and stores.
fn block(out: &mut String, place: &Place, block: &Block, depth: usize) {
    let indent = "    ".repeat(depth);
    for (i, op) in block.ops.iter().enumerate() {
        let _ = match (store(place, block, op), uniform(op)) {
            (Some(text), _) => writeln!(out, "{indent}{text}"),
            (None, true) => {
                let text = expression(place, block, op, 0);
                match factor(block, i) {
                    true => writeln!(out, "{indent}__m128i v{i} = {text}; OPAQUE(v{i});"),
                    false => writeln!(out, "{indent}const __m128i v{i} = {text};"),
                }
            }
            (None, false) => {
                let [low, high] = [0, 1].map(|half| expression(place, block, op, half));
                writeln!(out, "{indent}const __m128i v{i}l = {low}, v{i}h = {high};")
            }
        };
    }
}

/// Whether both parts of a result are equal, so that one variable holds them.
fn uniform(op: &Op) -> bool {
    match op {
        Op::Splat(_) | Op::Broadcast { .. } | Op::BroadcastPair { .. } => true,
        Op::Lanes(words) => words[..words.len() / 2] == words[words.len() / 2..],
        _ => false,
    }
}

/// The variable that holds one part of a value.
fn name(block: &Block, v: Value, half: usize) -> String {
    match uniform(&block.ops[v.0 as usize]) {
        true => format!("v{}", v.0),
        false => format!("v{}{}", v.0, ["l", "h"][half]),
    }
}

fn store(place: &Place, block: &Block, op: &Op) -> Option<String> {
    let (procedure, bits) = (place.procedure, place.bits);
    let full = 128 / usize::from(bits);
    let whole = |id: &BufferId, at: &Index, v: Value, half: usize| {
        let (at, v) = (address(procedure, *id, at), name(block, v, half));
        match place.kept(*id) {
            kept if kept == bits => format!("_mm_storeu_si128((__m128i *)({at}), {v});"),
            _ => format!("_mm_storel_epi64((__m128i *)({at}), {});", low_words(&v)),
        }
    };
    let word = |id: &BufferId, at: &Index, v: Value, i: usize| {
        let (at, v) = (address(procedure, *id, at), name(block, v, i / full));
        let cast = if place.kept(*id) == bits { "" } else { "(int16_t)" };
        format!("*({at}) = {cast}{};", extract(&v, i % full, bits))
    };
    let all: Vec<String> = match op {
        Op::Store { buffer, at, a } => {
            (0..2).map(|half| whole(buffer, &at.plus(full * half), *a, half)).collect()
        }
        Op::StoreParts { buffer, at, a } => {
            at.iter().enumerate().map(|(half, at)| whole(buffer, at, *a, half)).collect()
        }
        Op::StorePartial { buffer, at, count, a } => {
            let count = *count as usize;
            let done = count / full * full;
            let wholes =
                (0..count / full).map(|half| whole(buffer, &at.plus(full * half), *a, half));
            wholes.chain((done..count).map(|i| word(buffer, &at.plus(i), *a, i))).collect()
        }
        Op::StoreStrided { buffer, at, stride, a } => {
            (0..2 * full).map(|i| word(buffer, &at.plus(i * *stride as usize), *a, i)).collect()
        }
        Op::AddSum { buffer, at, a } => {
            let word = |i| extract(&name(block, *a, i / full), i % full, bits);
            let at = address(procedure, *buffer, at);
            vec![add_sum(&at, (0..2 * full).map(word), place.kept(*buffer))]
        }
        _ => return None,
    };
    Some(all.join(" "))
}

fn expression(place: &Place, block: &Block, op: &Op, half: usize) -> String {
    let bits = place.bits;
    let (wide, full) = (2 * bits, 128 / usize::from(bits));
    let at = |id: &BufferId, at: &Index| address(place.procedure, *id, at);
    let of = |v: &Value| name(block, *v, half);
    let two = |name: &str, a: &Value, b: &Value| format!("_mm_{name}({}, {})", of(a), of(b));
    let words = |name: &str, a: &Value, b: &Value| two(&format!("{name}{bits}"), a, b);
    let shift =
        |name: &str, a: &Value, bits: u8, k: u8| format!("_mm_{name}_epi{bits}({}, {k})", of(a));
    match op {
        Op::Load { buffer, at } => part(place, *buffer, &at.plus(full * half), full),
        Op::LoadPartial { buffer, at, count } => {
            let count = (*count as usize).saturating_sub(full * half);
            part(place, *buffer, &at.plus(full * half), count)
        }
        Op::LoadParts { buffer, at } => part(place, *buffer, &at[half], full),
        Op::BroadcastPair { buffer, at: index } if bits == 16 => {
            format!("_mm_set1_epi32(*(const pair *)({}))", at(buffer, index))
        }
        Op::BroadcastPair { buffer, at: index } => {
            let both = match place.kept(*buffer) == bits {
                true => format!("_mm_loadl_epi64((const __m128i *)({}))", at(buffer, index)),
                false => part(place, *buffer, index, 2),
            };
            format!("_mm_shuffle_epi32({both}, 68)")
        }
        Op::Broadcast { buffer, at: index } => {
            format!("_mm_set1_epi{bits}(*({}))", at(buffer, index))
        }
        Op::Splat(0) => "_mm_setzero_si128()".to_string(),
        Op::Splat(word) => format!("_mm_set1_epi{bits}({word})"),
        Op::Lanes(words) => {
            format!("_mm_setr_epi{bits}({})", list(&words[full * half..full * half + full]))
        }
        Op::Add(a, b) => words("add_epi", a, b),
        Op::Sub(a, b) => words("sub_epi", a, b),
        Op::MulLo(a, b) => words("mullo_epi", a, b),
        Op::MulHi(a, b) => words("mulhi_epi", a, b),
        Op::MulHiU(a, b) => words("mulhi_epu", a, b),
        Op::MulHrs(a, b) => words("mulhrs_epi", a, b),
        Op::Shl(a, k) => shift("slli", a, bits, *k),
        Op::Sar(a, k) => shift("srai", a, bits, *k),
        Op::Shr(a, k) => shift("srli", a, bits, *k),
        Op::Greater(a, b) => words("cmpgt_epi", a, b),
        Op::MinU(a, b) => words("min_epu", a, b),
        Op::Min(a, b) => words("min_epi", a, b),
        Op::Max(a, b) => words("max_epi", a, b),
        Op::And(a, b) => two("and_si128", a, b),
        Op::Or(a, b) => two("or_si128", a, b),
        Op::Xor(a, b) => two("xor_si128", a, b),
        Op::PairDot(a, b) => two("madd_epi16", a, b),
        Op::PairDotAdd { acc, a, b } => {
            format!("_mm_add_epi32({}, {})", of(acc), two("madd_epi16", a, b))
        }
        Op::MulEven(a, b) => two("mul_epi32", a, b),
        Op::AddWide(a, b) => two(&format!("add_epi{wide}"), a, b),
        Op::SubWide(a, b) => two(&format!("sub_epi{wide}"), a, b),
        Op::MulLoWide(a, b) => two("mullo_epi32", a, b),
        Op::ShlWide(a, k) => shift("slli", a, wide, *k),
        Op::SarWide(a, k) => shift("srai", a, wide, *k),
        Op::ShrWide(a, k) => shift("srli", a, wide, *k),
        Op::Blend { a, b, mask } if bits == 16 => {
            format!("_mm_blend_epi16({}, {}, {mask})", of(a), of(b))
        }
        Op::Blend { a, b, mask } => {
            // Two bits for each word.
            let four = mask >> (4 * half) & 15;
            let mask = (0..4).fold(0, |sum, i| sum | ((four >> i & 1) * 3) << (2 * i));
            format!("_mm_blend_epi16({}, {}, {mask})", of(a), of(b))
        }
        Op::SwapPairs(a) if bits == 16 => permuted(&of(a), &[1, 0, 3, 2, 5, 4, 7, 6]),
        Op::SwapPairs(a) => permuted(&of(a), &[1, 0, 3, 2]),
        Op::OddToEven(a) if bits == 16 => permuted(&of(a), &[1, 1, 3, 3, 5, 5, 7, 7]),
        Op::OddToEven(a) => permuted(&of(a), &[1, 1, 3, 3]),
        Op::PermuteParts { a, pattern } => permuted(&of(a), pattern),
        Op::Parts { a, b, pick } => {
            let from = usize::from(pick[half]);
            name(block, if from < 2 { *a } else { *b }, from % 2)
        }
        Op::Interleave { a, b, unit, half } => {
            let half = if *half == Half::High { "hi" } else { "lo" };
            two(&format!("unpack{half}_epi{unit}"), a, b)
        }
        Op::Deinterleave { a, b, unit, half } => {
            let odd = *half == Parity::Odd;
            let halves = if odd { "hi" } else { "lo" };
            match unit {
                16 => {
                    let [a, b] = [a, b].map(|v| permuted(&of(v), &EVEN_THEN_ODD));
                    format!("_mm_unpack{halves}_epi64({a}, {b})")
                }
                32 => {
                    let [a, b] = [a, b].map(|v| format!("_mm_castsi128_ps({})", of(v)));
                    let choice = if odd { "0xdd" } else { "0x88" };
                    format!("_mm_castps_si128(_mm_shuffle_ps({a}, {b}, {choice}))")
                }
                _ => two(&format!("unpack{halves}_epi64"), a, b),
            }
        }
        Op::MulMod { .. }
        | Op::Reduce { .. }
        | Op::Narrow { .. }
        | Op::MulWords { .. }
        | Op::Unsigned(_)
        | Op::Freeze { .. }
        | Op::Store { .. }
        | Op::StorePartial { .. }
        | Op::StoreStrided { .. }
        | Op::AddSum { .. }
        | Op::StoreParts { .. } => unreachable!("expanded, or a statement"),
    }
}

/// The words of a part in another order.
fn permuted(register: &str, pattern: &[u8]) -> String {
    match immediate(pattern) {
        Some((shuffle, by)) => format!("_mm_{shuffle}({register}, {by})"),
        None => {
            let bytes = list(&byte_pattern(pattern));
            format!("_mm_shuffle_epi8({register}, _mm_setr_epi16({bytes}))")
        }
    }
}
