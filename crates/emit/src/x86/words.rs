//! Words of a part of 128 bits: loads, extraction, permutations.

use crate::source::Place;
use crate::source::{address, list};
use ringforge_program::ir::*;

/// A part of 128 bits from memory: its words, or `count` words and zeros.
pub(crate) fn part(place: &Place, id: BufferId, at: &Index, count: usize) -> String {
    let (full, bits) = (128 / usize::from(place.bits), place.kept(id));
    let words = packed(place, id, at, count.min(full));
    if bits == place.bits { words } else { format!("_mm_cvtepi16_epi32({words})") }
}

/// `count` words as they lie in memory, at most 128 bits of them, and zeros.
pub(crate) fn packed(place: &Place, id: BufferId, at: &Index, count: usize) -> String {
    let word = |i: usize| address(place.procedure, id, &at.plus(i));
    let bits = place.kept(id);
    let full = 128 / usize::from(bits);
    if count >= full {
        return format!("_mm_loadu_si128((const __m128i *)({}))", word(0));
    }
    let (mut text, done) = match count >= full / 2 {
        true => (format!("_mm_loadl_epi64((const __m128i *)({}))", word(0)), full / 2),
        false => ("_mm_setzero_si128()".to_string(), 0),
    };
    for i in done..count {
        text = format!("_mm_insert_epi{bits}({text}, *({}), {i})", word(i));
    }
    text
}

/// A word of a part, given as an expression of type `__m128i`.
pub(crate) fn extract(register: &str, i: usize, bits: u8) -> String {
    match bits {
        16 => format!("(int16_t)_mm_extract_epi16({register}, {i})"),
        _ => format!("_mm_extract_epi32({register}, {i})"),
    }
}

/// A permutation of the words of each part: the intrinsic that takes it as an immediate, and that
/// immediate (`shuffle_epi32`, `shufflelo_epi16`, `shufflehi_epi16`). None if bytes have to be
/// shuffled by a register.
pub(crate) fn immediate(pattern: &[u8]) -> Option<(&'static str, u8)> {
    let two_bits = |all: &[u8]| all.iter().rev().fold(0, |sum, &i| sum << 2 | (i & 3));
    let still = |places: std::ops::Range<usize>| places.into_iter().all(|i| pattern[i] == i as u8);
    if pattern.len() == 4 {
        return Some(("shuffle_epi32", two_bits(pattern)));
    }
    let pairs = pattern.chunks(2);
    if pairs.clone().all(|p| p[0] % 2 == 0 && p[1] == p[0] + 1) {
        let halves: Vec<u8> = pairs.map(|p| p[0] / 2).collect();
        return Some(("shuffle_epi32", two_bits(&halves)));
    }
    if still(4..8) && pattern[..4].iter().all(|&i| i < 4) {
        return Some(("shufflelo_epi16", two_bits(&pattern[..4])));
    }
    if still(0..4) && pattern[4..].iter().all(|&i| i >= 4) {
        return Some(("shufflehi_epi16", two_bits(&pattern[4..])));
    }
    None
}

/// The bytes of a permutation of 16-bit words, as words.
pub(crate) fn byte_pattern(pattern: &[u8]) -> Vec<i32> {
    pattern.iter().map(|&i| i32::from(2 * i) | i32::from(2 * i + 1) << 8).collect()
}

/// The low halves of a part's words of 32 bits, one after the other.
pub(crate) fn low_words(register: &str) -> String {
    let bytes = list(&byte_pattern(&[0, 2, 4, 6, 0, 2, 4, 6]));
    format!("_mm_shuffle_epi8({register}, _mm_setr_epi16({bytes}))")
}

/// Words 0, 2, … of a part and then words 1, 3, ….
pub(crate) const EVEN_THEN_ODD: [u8; 8] = [0, 2, 4, 6, 1, 3, 5, 7];
