//! One operation as one intrinsic, or a few.

use crate::x86::{
    EVEN_THEN_ODD, Place, add_sum, address, byte_pattern, extract, immediate, list, low_words,
    packed, part,
};
use ringforge_program::ir::*;
use std::fmt::Write;

/// The operations of a block as declarations and stores.
pub(super) fn block(out: &mut String, place: &Place, block: &Block, depth: usize) {
    let indent = "    ".repeat(depth);
    if block.ops.iter().any(|op| accumulates(block, op)) {
        let _ = writeln!(out, "{indent}FENCE;");
    }
    for (i, op) in block.ops.iter().enumerate() {
        out.push_str(&indent);
        let stored = statement(place, op);
        let _ = match stored {
            Some(text) => writeln!(out, "{text}"),
            None if place.keeps && matches!(op, Op::LoadParts { .. }) => {
                writeln!(out, "{}", joined(place, i, op))
            }
            None if accumulates(block, op) => {
                writeln!(out, "__m256i v{i} = {}; KEEP(v{i});", expression(place, op))
            }
            None => match op {
                Op::Splat(word) if *word != 0 => writeln!(out, "{}", repeat(place, i, op, *word)),
                _ => writeln!(out, "const __m256i v{i} = {};", expression(place, op)),
            },
        };
    }
}

/// Whether a product is added to a sum.
pub(super) fn accumulates(block: &Block, op: &Op) -> bool {
    let product = |v: Value| matches!(block.ops[v.0 as usize], Op::MulLo(..));
    matches!(*op, Op::Add(a, b) if product(b) && !product(a))
}

/// Value i, a [`Op::LoadParts`], as a load that repeats a part and a blend: both have pipes to spare, where
/// insertions share those of the shuffles. Compilers would make it an insertion.
fn joined(place: &Place, i: usize, op: &Op) -> String {
    let Op::LoadParts { buffer, at } = op else { return String::new() };
    let [low, high] = [0, 1].map(|k| part(place, *buffer, &at[k], 128 / usize::from(place.bits)));
    format!(
        "__m256i v{i} = _mm256_broadcastsi128_si256({high}); KEEP(v{i}); \
         v{i} = _mm256_blend_epi32(_mm256_castsi128_si256({low}), v{i}, 0xf0);"
    )
}

/// Value i, a word in all places.
fn repeat(place: &Place, i: usize, op: &Op, word: i32) -> String {
    let value = expression(place, op);
    match place.repeat(word) {
        Some(from) => format!("REPEAT(v{i}, {from}, {value});"),
        None => format!("const __m256i v{i} = {value};"),
    }
}

fn statement(place: &Place, op: &Op) -> Option<String> {
    let at = |id: &BufferId, at: &Index| address(place.procedure, *id, at);
    let full = 128 / usize::from(place.bits);
    let half = |v: &Value, i: usize| match i {
        0 => format!("_mm256_castsi256_si128(v{})", v.0),
        _ => format!("_mm256_extracti128_si256(v{}, 1)", v.0),
    };
    let whole = |id: &BufferId, index: &Index, v: &Value, i: usize| match place.kept(*id) {
        bits if bits == place.bits => {
            format!("_mm_storeu_si128((__m128i *)({}), {});", at(id, index), half(v, i))
        }
        _ => {
            let low = low_words(&half(v, i));
            format!("_mm_storel_epi64((__m128i *)({}), {low});", at(id, index))
        }
    };
    let word = |id: &BufferId, index: &Index, v: &Value, i: usize| match place.bits {
        16 => format!("*({}) = (int16_t)_mm256_extract_epi16(v{}, {i});", at(id, index), v.0),
        bits => {
            let cast = if place.kept(*id) == bits { "" } else { "(int16_t)" };
            let word = extract(&half(v, i / full), i % full, bits);
            format!("*({}) = {cast}{word};", at(id, index))
        }
    };
    let all: Vec<String> = match op {
        Op::Store { buffer, at: index, a } if place.kept(*buffer) != place.bits => {
            let [low, high] = [0, 1].map(|i| low_words(&half(a, i)));
            let both = format!("_mm_unpacklo_epi64({low}, {high})");
            vec![format!("_mm_storeu_si128((__m128i *)({}), {both});", at(buffer, index))]
        }
        Op::Store { buffer, at: index, a } => {
            vec![format!("_mm256_storeu_si256((__m256i *)({}), v{});", at(buffer, index), a.0)]
        }
        Op::StoreParts { buffer, at: all, a } => {
            all.iter().enumerate().map(|(i, index)| whole(buffer, index, a, i)).collect()
        }
        Op::StorePartial { buffer, at: index, count, a } => {
            let count = *count as usize;
            let done = count / full * full;
            let first = (done > 0).then(|| whole(buffer, index, a, 0));
            let rest = (done..count).map(|i| word(buffer, &index.plus(i), a, i));
            first.into_iter().chain(rest).collect()
        }
        Op::StoreStrided { buffer, at: index, stride, a } => {
            (0..2 * full).map(|i| word(buffer, &index.plus(i * *stride as usize), a, i)).collect()
        }
        Op::AddSum { buffer, at: index, a } => {
            let words = (0..2 * full).map(|i| extract(&half(a, i / full), i % full, place.bits));
            vec![add_sum(&at(buffer, index), words, place.kept(*buffer))]
        }
        _ => return None,
    };
    Some(all.join(" "))
}

fn expression(place: &Place, op: &Op) -> String {
    let bits = place.bits;
    let (wide, full) = (2 * bits, 128 / usize::from(bits));
    let at = |id: &BufferId, at: &Index| address(place.procedure, *id, at);
    let two = |name: &str, a: &Value, b: &Value| format!("_mm256_{name}(v{}, v{})", a.0, b.0);
    let words = |name: &str, a: &Value, b: &Value| two(&format!("{name}{bits}"), a, b);
    let shift =
        |name: &str, a: &Value, bits: u8, k: u8| format!("_mm256_{name}_epi{bits}(v{}, {k})", a.0);
    let narrow = |id: &BufferId| place.kept(*id) != bits;
    match op {
        Op::Load { buffer, at: index } if narrow(buffer) => {
            format!("_mm256_cvtepi16_epi32({})", packed(place, *buffer, index, 8))
        }
        Op::LoadPartial { buffer, at: index, count } if narrow(buffer) => {
            format!("_mm256_cvtepi16_epi32({})", packed(place, *buffer, index, *count as usize))
        }
        Op::Load { buffer, at: index } => {
            format!("_mm256_loadu_si256((const __m256i *)({}))", at(buffer, index))
        }
        Op::LoadPartial { buffer, at: index, count } => {
            let count = *count as usize;
            let low = part(place, *buffer, index, count.min(full));
            match count > full {
                false => format!("_mm256_zextsi128_si256({low})"),
                true => {
                    let high = part(place, *buffer, &index.plus(full), count - full);
                    format!("_mm256_set_m128i({high}, {low})")
                }
            }
        }
        Op::LoadParts { buffer, at: all } => {
            let [low, high] = [0, 1].map(|i| part(place, *buffer, &all[i], full));
            format!("_mm256_set_m128i({high}, {low})")
        }
        Op::BroadcastPair { buffer, at: index } if bits == 16 => {
            format!("_mm256_set1_epi32(*(const pair *)({}))", at(buffer, index))
        }
        Op::BroadcastPair { buffer, at: index } => {
            let both = match narrow(buffer) {
                true => part(place, *buffer, index, 2),
                false => format!("_mm_loadl_epi64((const __m128i *)({}))", at(buffer, index)),
            };
            format!("_mm256_broadcastq_epi64({both})")
        }
        Op::Broadcast { buffer, at: index } => {
            format!("_mm256_set1_epi{bits}(*({}))", at(buffer, index))
        }
        Op::Splat(0) => "_mm256_setzero_si256()".to_string(),
        Op::Splat(word) => format!("_mm256_set1_epi{bits}({word})"),
        Op::Lanes(words) => format!("_mm256_setr_epi{bits}({})", list(words)),
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
        Op::And(a, b) => two("and_si256", a, b),
        Op::Or(a, b) => two("or_si256", a, b),
        Op::Xor(a, b) => two("xor_si256", a, b),
        Op::PairDot(a, b) => two("madd_epi16", a, b),
        Op::PairDotAdd { acc, a, b } => {
            format!("_mm256_dpwssd_avx_epi32(v{}, v{}, v{})", acc.0, a.0, b.0)
        }
        Op::MulEven(a, b) => two("mul_epi32", a, b),
        Op::AddWide(a, b) => two(&format!("add_epi{wide}"), a, b),
        Op::SubWide(a, b) => two(&format!("sub_epi{wide}"), a, b),
        Op::MulLoWide(a, b) => two("mullo_epi32", a, b),
        Op::ShlWide(a, k) => shift("slli", a, wide, *k),
        Op::SarWide(a, k) => shift("srai", a, wide, *k),
        Op::ShrWide(a, k) => shift("srli", a, wide, *k),
        Op::Blend { a, b, mask } => format!("_mm256_blend_epi{bits}(v{}, v{}, {mask})", a.0, b.0),
        Op::SwapPairs(a) if bits == 16 => permuted(*a, &[1, 0, 3, 2, 5, 4, 7, 6]),
        Op::SwapPairs(a) => permuted(*a, &[1, 0, 3, 2]),
        Op::OddToEven(a) if bits == 16 => permuted(*a, &[1, 1, 3, 3, 5, 5, 7, 7]),
        Op::OddToEven(a) => permuted(*a, &[1, 1, 3, 3]),
        Op::PermuteParts { a, pattern } => permuted(*a, pattern),
        Op::Parts { a, b, pick } => parts(*a, *b, [pick[0], pick[1]]),
        Op::Interleave { a, b, unit, half } => {
            let half = if *half == Half::High { "hi" } else { "lo" };
            two(&format!("unpack{half}_epi{unit}"), a, b)
        }
        Op::Deinterleave { a, b, unit, half } => {
            let odd = *half == Parity::Odd;
            let halves = if odd { "hi" } else { "lo" };
            match unit {
                // Both results of two registers share what is shuffled.
                16 => {
                    let [a, b] = [a, b].map(|v| permuted(*v, &EVEN_THEN_ODD));
                    format!("_mm256_unpack{halves}_epi64({a}, {b})")
                }
                32 => {
                    let [a, b] = [a, b].map(|v| format!("_mm256_castsi256_ps(v{})", v.0));
                    let choice = if odd { "0xdd" } else { "0x88" };
                    format!("_mm256_castps_si256(_mm256_shuffle_ps({a}, {b}, {choice}))")
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

/// The words of each part in another order.
fn permuted(a: Value, pattern: &[u8]) -> String {
    match immediate(pattern) {
        Some((shuffle, by)) => format!("_mm256_{shuffle}(v{}, {by})", a.0),
        None => {
            let bytes = list(&byte_pattern(pattern).repeat(2));
            format!("_mm256_shuffle_epi8(v{}, _mm256_setr_epi16({bytes}))", a.0)
        }
    }
}

/// Two of the four parts of `a` and `b`: a blend where both stay in their places, since blends
/// have four pipes and moves between parts two.
fn parts(a: Value, b: Value, pick: [u8; 2]) -> String {
    let of = |part: u8| if part < 2 { a } else { b };
    match pick {
        [low @ (0 | 2), high @ (1 | 3)] if of(low) == of(high) => format!("v{}", of(low).0),
        [low @ (0 | 2), high @ (1 | 3)] => {
            format!("_mm256_blend_epi32(v{}, v{}, 0xf0)", of(low).0, of(high).0)
        }
        [low, high] => {
            format!("_mm256_permute2x128_si256(v{}, v{}, {:#x})", a.0, b.0, low | high << 4)
        }
    }
}
