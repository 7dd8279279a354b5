//! The intrinsics of x86 for each operation. A program's register is one of the machine's, or
//! several. If it is several, every operation is written once for each, or once if all are equal.

use super::words::{EVEN_THEN_ODD, byte_pattern, extract, immediate, low_words, packed, part};
use crate::source::{Place, add_sum, address, list};
use ringforge_program::ir::*;

/// The vector registers that a target's intrinsics name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// SSE: `__m128i`.
    Sse = 128,
    /// AVX2: `__m256i`.
    Avx = 256,
    /// AVX-512: `__m512i`, with masks.
    Avx512 = 512,
}

use Width::{Avx, Avx512, Sse};

impl Width {
    /// Bits of a register.
    pub fn bits(self) -> usize {
        self as usize
    }

    /// The C type of a register of integers.
    pub fn kind(self) -> &'static str {
        match self {
            Sse => "__m128i",
            Avx => "__m256i",
            Avx512 => "__m512i",
        }
    }

    /// The intrinsic for all bits of a register (`and_si` and the like) or for its words (`add_epi16`).
    fn name(self, name: &str) -> String {
        let start = match self {
            Sse => "_mm",
            Avx => "_mm256",
            Avx512 => "_mm512",
        };
        match name.ends_with("_si") {
            true => format!("{start}_{name}{}", self.bits()),
            false => format!("{start}_{name}"),
        }
    }
}

/// A block whose operations are written for registers of some width.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub width: Width,
    pub place: &'a Place<'a>,
    pub block: &'a Block,
}

impl Selection<'_> {
    /// Registers of the machine that one of the program takes.
    pub fn pieces(&self) -> usize {
        self.place.registers / self.width.bits()
    }

    /// Whether all pieces of a result are equal, so that one variable holds them.
    pub fn uniform(&self, op: &Op) -> bool {
        let pieces = self.pieces();
        pieces == 1
            || match op {
                Op::Splat(_) | Op::Broadcast { .. } | Op::BroadcastPair { .. } => true,
                Op::Lanes(words) => {
                    let first = &words[..words.len() / pieces];
                    words.chunks(first.len()).all(|piece| piece == first)
                }
                _ => false,
            }
    }

    /// The variable that holds one piece of a value.
    pub fn name(&self, v: Value, piece: usize) -> String {
        match self.uniform(&self.block.ops[v.0 as usize]) {
            true => format!("v{}", v.0),
            false => format!("v{}{}", v.0, ["l", "h"][piece]),
        }
    }

    /// Part `i` of a value, of 128 bits.
    fn part_of(&self, v: Value, i: usize) -> String {
        let parts = self.width.bits() / 128;
        let (name, i) = (self.name(v, i / parts), i % parts);
        match (self.width, i) {
            (Sse, _) => name,
            (Avx, 0) => format!("_mm256_castsi256_si128({name})"),
            (Avx, _) => format!("_mm256_extracti128_si256({name}, {i})"),
            (Avx512, 0) => format!("_mm512_castsi512_si128({name})"),
            (Avx512, _) => format!("_mm512_extracti32x4_epi32({name}, {i})"),
        }
    }

    /// An operation without a result, as statements.
    pub fn statement(&self, op: &Op) -> Option<String> {
        let (place, bits) = (self.place, self.place.bits);
        let at = |id: &BufferId, at: &Index| address(place.procedure, *id, at);
        let full = 128 / usize::from(bits);
        let parts = self.pieces() * self.width.bits() / 128;
        let narrow = |id: &BufferId| place.kept(*id) != bits;
        let whole = |id: &BufferId, index: &Index, v: Value, i: usize| match narrow(id) {
            false => {
                let text = self.part_of(v, i);
                format!("_mm_storeu_si128((__m128i *)({}), {text});", at(id, index))
            }
            true => {
                let low = low_words(&self.part_of(v, i));
                format!("_mm_storel_epi64((__m128i *)({}), {low});", at(id, index))
            }
        };
        let word = |id: &BufferId, index: &Index, v: Value, i: usize| {
            let cast = if narrow(id) { "(int16_t)" } else { "" };
            let word = match (self.width, bits) {
                (Avx, 16) => format!("(int16_t)_mm256_extract_epi16(v{}, {i})", v.0),
                _ => extract(&self.part_of(v, i / full), i % full, bits),
            };
            format!("*({}) = {cast}{word};", at(id, index))
        };
        let all: Vec<String> = match op {
            Op::Store { buffer, at: index, a } => match (self.width, narrow(buffer)) {
                (Sse, _) => {
                    (0..parts).map(|i| whole(buffer, &index.plus(full * i), *a, i)).collect()
                }
                (Avx, true) => {
                    let [low, high] = [0, 1].map(|i| low_words(&self.part_of(*a, i)));
                    let both = format!("_mm_unpacklo_epi64({low}, {high})");
                    vec![format!("_mm_storeu_si128((__m128i *)({}), {both});", at(buffer, index))]
                }
                (Avx, false) => vec![format!(
                    "_mm256_storeu_si256((__m256i *)({}), v{});",
                    at(buffer, index),
                    a.0
                )],
                (Avx512, true) => vec![format!(
                    "_mm256_storeu_si256((__m256i *)({}), _mm512_cvtepi32_epi16(v{}));",
                    at(buffer, index),
                    a.0
                )],
                (Avx512, false) => {
                    vec![format!("_mm512_storeu_si512({}, v{});", at(buffer, index), a.0)]
                }
            },
            Op::StoreParts { buffer, at: all, a } => {
                all.iter().enumerate().map(|(i, index)| whole(buffer, index, *a, i)).collect()
            }
            Op::StorePartial { buffer, at: index, count, a } if self.width == Avx512 => {
                let (to, mask) = (at(buffer, index), first(*count));
                vec![match narrow(buffer) {
                    true => format!("_mm512_mask_cvtepi32_storeu_epi16({to}, {mask}, v{});", a.0),
                    false => format!("_mm512_mask_storeu_epi{bits}({to}, {mask}, v{});", a.0),
                }]
            }
            Op::StorePartial { buffer, at: index, count, a } => {
                let count = *count as usize;
                let done = count / full * full;
                let wholes = (0..count / full).map(|i| whole(buffer, &index.plus(full * i), *a, i));
                wholes.chain((done..count).map(|i| word(buffer, &index.plus(i), *a, i))).collect()
            }
            Op::StoreStrided { buffer, at: index, stride, a } => (0..parts * full)
                .map(|i| word(buffer, &index.plus(i * *stride as usize), *a, i))
                .collect(),
            Op::AddSum { buffer, at: index, a } => {
                let word = |i| extract(&self.part_of(*a, i / full), i % full, bits);
                let words = (0..parts * full).map(word);
                vec![add_sum(&at(buffer, index), words, place.kept(*buffer))]
            }
            _ => return None,
        };
        Some(all.join(" "))
    }

    /// One piece of an operation's result.
    pub fn expression(&self, op: &Op, piece: usize) -> String {
        let (place, width, bits) = (self.place, self.width, self.place.bits);
        let (wide, lanes) = (2 * bits, width.bits() / usize::from(bits));
        let at = |id: &BufferId, at: &Index| address(place.procedure, *id, at);
        let of = |v: &Value| self.name(*v, piece);
        let two = |name: &str, a: &Value, b: &Value| {
            format!("{}({}, {})", width.name(name), of(a), of(b))
        };
        let words = |name: &str, a: &Value, b: &Value| two(&format!("{name}{bits}"), a, b);
        let shift = |name: &str, a: &Value, bits: u8, k: u8| {
            format!("{}({}, {k})", width.name(&format!("{name}_epi{bits}")), of(a))
        };
        match op {
            Op::Load { buffer, at } => self.load(*buffer, &at.plus(lanes * piece), lanes),
            Op::LoadPartial { buffer, at, count } => {
                let count = (*count as usize).saturating_sub(lanes * piece);
                self.load(*buffer, &at.plus(lanes * piece), count)
            }
            Op::LoadParts { buffer, at } => {
                let parts = width.bits() / 128;
                self.load_parts(*buffer, &at[parts * piece..parts * (piece + 1)])
            }
            Op::BroadcastPair { buffer, at: index } if bits == 16 => {
                let pair = format!("*(const pair *)({})", at(buffer, index));
                format!("{}({pair})", width.name("set1_epi32"))
            }
            Op::BroadcastPair { buffer, at: index } => {
                let both = match place.kept(*buffer) == bits {
                    true => format!("_mm_loadl_epi64((const __m128i *)({}))", at(buffer, index)),
                    false => part(place, *buffer, index, 2),
                };
                match width {
                    Sse => format!("_mm_shuffle_epi32({both}, 68)"),
                    Avx | Avx512 => format!("{}({both})", width.name("broadcastq_epi64")),
                }
            }
            Op::Broadcast { buffer, at: index } => {
                format!("{}(*({}))", width.name(&format!("set1_epi{bits}")), at(buffer, index))
            }
            Op::Splat(0) => format!("{}()", width.name("setzero_si")),
            Op::Splat(word) => format!("{}({word})", width.name(&format!("set1_epi{bits}"))),
            Op::Lanes(words) => set(width, bits, &words[lanes * piece..lanes * (piece + 1)]),
            Op::Add(a, b) => words("add_epi", a, b),
            Op::Sub(a, b) => words("sub_epi", a, b),
            Op::MulLo(a, b) => words("mullo_epi", a, b),
            Op::MulHi(a, b) => words("mulhi_epi", a, b),
            Op::MulHiU(a, b) => words("mulhi_epu", a, b),
            Op::MulHrs(a, b) => words("mulhrs_epi", a, b),
            Op::Shl(a, k) => shift("slli", a, bits, *k),
            Op::Sar(a, k) => shift("srai", a, bits, *k),
            Op::Shr(a, k) => shift("srli", a, bits, *k),
            Op::Greater(a, b) if width == Avx512 => {
                format!("_mm512_movm_epi{bits}(_mm512_cmpgt_epi{bits}_mask(v{}, v{}))", a.0, b.0)
            }
            Op::Greater(a, b) => words("cmpgt_epi", a, b),
            Op::MinU(a, b) => words("min_epu", a, b),
            Op::Min(a, b) => words("min_epi", a, b),
            Op::Max(a, b) => words("max_epi", a, b),
            Op::And(a, b) => two("and_si", a, b),
            Op::Or(a, b) => two("or_si", a, b),
            Op::Xor(a, b) => two("xor_si", a, b),
            Op::PairDot(a, b) => two("madd_epi16", a, b),
            Op::PairDotAdd { acc, a, b } => match width {
                Sse => format!("_mm_add_epi32({}, {})", of(acc), two("madd_epi16", a, b)),
                Avx | Avx512 => {
                    format!("{}({}, {}, {})", width.name("dpwssd_epi32"), of(acc), of(a), of(b))
                }
            },
            Op::MulEven(a, b) => two("mul_epi32", a, b),
            Op::AddWide(a, b) => two(&format!("add_epi{wide}"), a, b),
            Op::SubWide(a, b) => two(&format!("sub_epi{wide}"), a, b),
            Op::MulLoWide(a, b) => two("mullo_epi32", a, b),
            Op::ShlWide(a, k) => shift("slli", a, wide, *k),
            Op::SarWide(a, k) => shift("srai", a, wide, *k),
            Op::ShrWide(a, k) => shift("srli", a, wide, *k),
            Op::Blend { a, b, mask } => blend(width, bits, [&of(a), &of(b)], *mask, piece),
            Op::SwapPairs(a) if bits == 16 => permuted(width, &of(a), &[1, 0, 3, 2, 5, 4, 7, 6]),
            Op::SwapPairs(a) => permuted(width, &of(a), &[1, 0, 3, 2]),
            Op::OddToEven(a) if bits == 16 => permuted(width, &of(a), &[1, 1, 3, 3, 5, 5, 7, 7]),
            Op::OddToEven(a) => permuted(width, &of(a), &[1, 1, 3, 3]),
            Op::PermuteParts { a, pattern } => permuted(width, &of(a), pattern),
            Op::Parts { a, b, pick } => match width {
                Sse => {
                    let from = usize::from(pick[piece]);
                    let pieces = self.pieces();
                    self.name(if from < pieces { *a } else { *b }, from % pieces)
                }
                Avx => two_parts(*a, *b, [pick[0], pick[1]]),
                Avx512 => four_parts(*a, *b, pick),
            },
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
                        let [a, b] = [a, b].map(|v| permuted(width, &of(v), &EVEN_THEN_ODD));
                        format!("{}({a}, {b})", width.name(&format!("unpack{halves}_epi64")))
                    }
                    32 => {
                        let n = width.bits();
                        let [a, b] = [a, b].map(|v| {
                            format!("{}({})", width.name(&format!("castsi{n}_ps")), of(v))
                        });
                        let choice = if odd { "0xdd" } else { "0x88" };
                        let both = format!("{}({a}, {b}, {choice})", width.name("shuffle_ps"));
                        format!("{}({both})", width.name("castps_si"))
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

    /// A register's first `count` words from memory, and zeros.
    fn load(&self, buffer: BufferId, at: &Index, count: usize) -> String {
        let (place, bits) = (self.place, self.place.bits);
        let (full, lanes) = (128 / usize::from(bits), self.width.bits() / usize::from(bits));
        let from = address(place.procedure, buffer, at);
        let narrow = place.kept(buffer) != bits;
        let all = count >= lanes;
        match self.width {
            Sse => part(place, buffer, at, count),
            Avx if narrow => format!("_mm256_cvtepi16_epi32({})", packed(place, buffer, at, count)),
            Avx if all => format!("_mm256_loadu_si256((const __m256i *)({from}))"),
            Avx => {
                let low = part(place, buffer, at, count.min(full));
                match count > full {
                    false => format!("_mm256_zextsi128_si256({low})"),
                    true => {
                        let high = part(place, buffer, &at.plus(full), count - full);
                        format!("_mm256_set_m128i({high}, {low})")
                    }
                }
            }
            Avx512 => {
                let mask = first(count as u32);
                match (narrow, all) {
                    (false, true) => format!("_mm512_loadu_si512({from})"),
                    (false, false) => format!("_mm512_maskz_loadu_epi{bits}({mask}, {from})"),
                    (true, true) => format!(
                        "_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)({from})))"
                    ),
                    (true, false) => {
                        format!("_mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16({mask}, {from}))")
                    }
                }
            }
        }
    }

    /// A register of parts from memory.
    fn load_parts(&self, buffer: BufferId, at: &[Index]) -> String {
        let full = 128 / usize::from(self.place.bits);
        let one = |k: usize| part(self.place, buffer, &at[k], full);
        match self.width {
            Sse => one(0),
            Avx => format!("_mm256_set_m128i({}, {})", one(1), one(0)),
            Avx512 => unreachable!("statements: four_loaded"),
        }
    }

    /// Value i, a [`Op::LoadParts`] of four parts, as statements. Parts that lie together are
    /// loaded together, and other parts are inserted one after the other. Compilers would turn
    /// several loads into one that expands.
    pub fn four_loaded(&self, i: usize, buffer: BufferId, at: &[Index]) -> String {
        let place = self.place;
        let full = 128 / usize::from(place.bits);
        let follows = |k: usize| at[k + 1] == at[k].plus(full);
        if place.kept(buffer) == place.bits && follows(0) && follows(2) {
            let from = |k: usize| address(place.procedure, buffer, &at[k]);
            if follows(1) {
                return format!("const __m512i v{i} = _mm512_loadu_si512({});", from(0));
            }
            let half = |k: usize| format!("_mm256_loadu_si256((const __m256i *)({}))", from(k));
            return format!(
                "const __m512i v{i} = _mm512_inserti64x4(_mm512_castsi256_si512({}), {}, 1);",
                half(0),
                half(2)
            );
        }
        let parts: Vec<String> = at.iter().map(|at| part(place, buffer, at, full)).collect();
        let mut text = format!("__m512i v{i} = _mm512_castsi128_si512({});", parts[0]);
        for (k, part) in parts.iter().enumerate().skip(1) {
            text += &format!(" KEEP(v{i}); v{i} = _mm512_inserti32x4(v{i}, {part}, {k});");
        }
        text
    }
}

/// A mask of the first words.
fn first(count: u32) -> String {
    format!("{:#x}", (1u64 << count) - 1)
}

/// A register of known words.
fn set(width: Width, bits: u8, words: &[i32]) -> String {
    match (width, bits) {
        // It has no `setr` for words of 16 bits.
        (Avx512, 16) => {
            let reversed: Vec<i32> = words.iter().rev().copied().collect();
            format!("_mm512_set_epi16({})", list(&reversed))
        }
        _ => format!("{}({})", width.name(&format!("setr_epi{bits}")), list(words)),
    }
}

/// Words of `b` at ones of the mask, one bit for each of eight words, else of `a`.
fn blend(width: Width, bits: u8, [a, b]: [&str; 2], mask: u8, piece: usize) -> String {
    match (width, bits) {
        (Sse, 32) => {
            // Two bits for each word.
            let four = mask >> (4 * piece) & 15;
            let mask = (0..4).fold(0, |sum, i| sum | ((four >> i & 1) * 3) << (2 * i));
            format!("_mm_blend_epi16({a}, {b}, {mask})")
        }
        (Avx512, _) => {
            let repeated = format!("{mask:02x}").repeat(64 / usize::from(bits));
            format!("_mm512_mask_blend_epi{bits}(0x{repeated}, {a}, {b})")
        }
        _ => format!("{}({a}, {b}, {mask})", width.name(&format!("blend_epi{bits}"))),
    }
}

/// The words of each part in another order.
fn permuted(width: Width, register: &str, pattern: &[u8]) -> String {
    match immediate(pattern) {
        Some((shuffle, by)) => format!("{}({register}, {by})", width.name(shuffle)),
        None => {
            let bytes = set(width, 16, &byte_pattern(pattern).repeat(width.bits() / 128));
            format!("{}({register}, {bytes})", width.name("shuffle_epi8"))
        }
    }
}

/// Two of the four parts of `a` and `b`. If both stay in their places, this is a blend: blends have
/// four pipes, and moves between parts two.
fn two_parts(a: Value, b: Value, pick: [u8; 2]) -> String {
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

/// Four of the eight parts of `a` and `b`. If all stay in their places, this is nothing or a blend.
/// If the first two are of one register and the last two of one, it is one instruction with an
/// immediate. Otherwise it is a permutation by a register.
fn four_parts(a: Value, b: Value, pick: &[u8]) -> String {
    let of = |part: u8| if part < 4 { a.0 } else { b.0 };
    let still = pick.iter().enumerate().all(|(i, &p)| usize::from(p % 4) == i);
    if still {
        let from_b = pick.iter().enumerate().filter(|&(_, &p)| p >= 4);
        return match from_b.fold(0, |mask, (i, _)| mask | 3 << (2 * i)) {
            0 => format!("v{}", a.0),
            0xff => format!("v{}", b.0),
            mask => format!("_mm512_mask_blend_epi64({mask:#x}, v{}, v{})", a.0, b.0),
        };
    }
    let (low, high) = (of(pick[0]), of(pick[2]));
    if low == of(pick[1]) && high == of(pick[3]) {
        let choice = pick.iter().rev().fold(0u8, |sum, p| sum << 2 | (p & 3));
        return format!("_mm512_shuffle_i64x2(v{low}, v{high}, {choice:#x})");
    }
    let words: Vec<i32> =
        pick.iter().flat_map(|&p| [0, 1].map(|k| i32::from(p / 4 * 8 + p % 4 * 2 + k))).collect();
    format!("_mm512_permutex2var_epi64(v{}, _mm512_setr_epi64({}), v{})", a.0, list(&words), b.0)
}
