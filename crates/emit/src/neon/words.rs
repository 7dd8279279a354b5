//! Words of one register: constants, casts, moves.

use crate::source::list;

/// The type of a register of words of `bits` bits.
pub(super) fn vector(bits: u8) -> &'static str {
    match bits {
        16 => "int16x8_t",
        32 => "int32x4_t",
        _ => "int64x2_t",
    }
}

/// `text` of words of `from` bits as one of `to` bits.
pub(super) fn cast(text: String, from: u8, to: u8) -> String {
    if from == to { text } else { format!("vreinterpretq_s{to}_s{from}({text})") }
}

/// The same of unsigned words.
pub(super) fn unsigned(text: &str, bits: u8) -> String {
    format!("vreinterpretq_u{bits}_s{bits}({text})")
}

pub(super) fn signed(text: &str, bits: u8) -> String {
    format!("vreinterpretq_s{bits}_u{bits}({text})")
}

/// A word in C: -2^31 is not a literal.
pub(super) fn literal(word: i32) -> String {
    if word == i32::MIN { "INT32_MIN".into() } else { word.to_string() }
}

/// A register of constants.
pub(super) fn constant(words: &[i32], bits: u8) -> String {
    match words.contains(&i32::MIN) {
        true => {
            let all: Vec<String> = words.iter().map(|&word| literal(word)).collect();
            format!("({}){{{}}}", vector(bits), all.join(", "))
        }
        false => format!("({}){{{}}}", vector(bits), list(words)),
    }
}

/// Words of `b` at the ones of a mask, of `a` elsewhere.
pub(super) fn blended(a: &str, b: &str, mask: u8, bits: u8) -> String {
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
pub(super) fn permuted(register: &str, pattern: &[u8], bits: u8) -> String {
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
