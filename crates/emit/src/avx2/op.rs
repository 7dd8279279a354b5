//! One operation as one intrinsic, or a few.

use crate::x86::{address, eight, list};
use ringforge_program::ir::*;
use std::fmt::Write;

/// The operations of a block as declarations and stores.
pub(super) fn block(out: &mut String, procedure: &Procedure, block: &Block, depth: usize) {
    for (i, op) in block.ops.iter().enumerate() {
        for _ in 0..depth {
            out.push_str("    ");
        }
        let stored = statement(procedure, op);
        let _ = match stored {
            Some(text) => writeln!(out, "{text}"),
            None => writeln!(out, "const __m256i v{i} = {};", expression(procedure, op)),
        };
    }
}

fn statement(procedure: &Procedure, op: &Op) -> Option<String> {
    let at = |id: &BufferId, at: &Index| address(procedure, *id, at);
    Some(match op {
        Op::Store { buffer, at: index, a } => {
            format!("_mm256_storeu_si256((__m256i *)({}), v{});", at(buffer, index), a.0)
        }
        Op::StoreParts { buffer, at: all, a } => {
            let part = |i: usize| match i {
                0 => format!("_mm256_castsi256_si128(v{})", a.0),
                _ => format!("_mm256_extracti128_si256(v{}, 1)", a.0),
            };
            let each = all.iter().enumerate().map(|(i, index)| {
                format!("_mm_storeu_si128((__m128i *)({}), {});", at(buffer, index), part(i))
            });
            each.collect::<Vec<_>>().join(" ")
        }
        Op::StorePartial { buffer, at: index, count, a } => {
            let mut text = String::new();
            let (count, mut done) = (*count as usize, 0);
            if count >= 8 {
                let _ = write!(
                    text,
                    "_mm_storeu_si128((__m128i *)({}), _mm256_castsi256_si128(v{})); ",
                    at(buffer, index),
                    a.0
                );
                done = 8;
            }
            while done < count {
                let _ = write!(
                    text,
                    "*({}) = (int16_t)_mm256_extract_epi16(v{}, {done}); ",
                    at(buffer, &index.plus(done)),
                    a.0
                );
                done += 1;
            }
            text.trim_end().to_string()
        }
        Op::StoreStrided { buffer, at: index, stride, a } => {
            let each = (0..16).map(|i| {
                let to = at(buffer, &index.plus(i * *stride as usize));
                format!("*({to}) = (int16_t)_mm256_extract_epi16(v{}, {i});", a.0)
            });
            each.collect::<Vec<_>>().join(" ")
        }
        _ => return None,
    })
}

fn expression(procedure: &Procedure, op: &Op) -> String {
    let at = |id: &BufferId, at: &Index| address(procedure, *id, at);
    let two = |name: &str, a: &Value, b: &Value| format!("_mm256_{name}(v{}, v{})", a.0, b.0);
    let shift = |name: &str, a: &Value, k: u8| format!("_mm256_{name}(v{}, {k})", a.0);
    match op {
        Op::Load { buffer, at: index } => {
            format!("_mm256_loadu_si256((const __m256i *)({}))", at(buffer, index))
        }
        Op::LoadPartial { buffer, at: index, count } => {
            let count = *count as usize;
            let low = eight(procedure, *buffer, index, count.min(8));
            match count {
                0..=8 => format!("_mm256_zextsi128_si256({low})"),
                _ => {
                    let high = eight(procedure, *buffer, &index.plus(8), count - 8);
                    format!("_mm256_set_m128i({high}, {low})")
                }
            }
        }
        Op::LoadParts { buffer, at: all } => {
            let part = |index: &Index| eight(procedure, *buffer, index, 8);
            format!("_mm256_set_m128i({}, {})", part(&all[1]), part(&all[0]))
        }
        Op::BroadcastPair { buffer, at: index } => {
            format!("_mm256_set1_epi32(*(const pair *)({}))", at(buffer, index))
        }
        Op::Broadcast { buffer, at: index } => {
            format!("_mm256_set1_epi16(*({}))", at(buffer, index))
        }
        Op::Splat(0) => "_mm256_setzero_si256()".to_string(),
        Op::Splat(word) => format!("_mm256_set1_epi16({word})"),
        Op::Lanes(words) => format!("_mm256_setr_epi16({})", list(words)),
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
        Op::And(a, b) => two("and_si256", a, b),
        Op::Or(a, b) => two("or_si256", a, b),
        Op::Xor(a, b) => two("xor_si256", a, b),
        Op::PairDot(a, b) => two("madd_epi16", a, b),
        Op::PairDotAdd { acc, a, b } => {
            format!("_mm256_dpwssd_avx_epi32(v{}, v{}, v{})", acc.0, a.0, b.0)
        }
        Op::AddWide(a, b) => two("add_epi32", a, b),
        Op::SubWide(a, b) => two("sub_epi32", a, b),
        Op::MulLoWide(a, b) => two("mullo_epi32", a, b),
        Op::ShlWide(a, k) => shift("slli_epi32", a, *k),
        Op::SarWide(a, k) => shift("srai_epi32", a, *k),
        Op::ShrWide(a, k) => shift("srli_epi32", a, *k),
        Op::Blend { a, b, mask } => format!("_mm256_blend_epi16(v{}, v{}, {mask})", a.0, b.0),
        Op::SwapPairs(a) => {
            // Bytes 2 3 0 1 | 6 7 4 5 | … of each part, as words.
            let part = [770, 256, 1798, 1284, 2826, 2312, 3854, 3340];
            format!("_mm256_shuffle_epi8(v{}, _mm256_setr_epi16({}))", a.0, list(&part.repeat(2)))
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
