//! Functions that compare two arrays, from C to verdict: what is right is proved, and what has a mistake is refuted by
//! arrays that show it.

mod common;

use common::each::{both, proved, refuted, run, text};
use common::told;
use ringforge_prove::map::MapContract;
use ringforge_prove::{ReasonKind, Verdict};

const EQUAL: &str = "RESULT f(const uint8_t *a, const uint8_t *b, size_t n) {
    uint8_t r = 0; uint32_t x;
    for (size_t i = FIRST; i < n; i++) r |= a[i] ^ b[i];
    x = r;
    return FINAL;
}";

/// Two arrays of 64 bytes, of which the function is given `n`.
fn equal(returns: &str, n: u32) -> MapContract {
    let input = |name: &str| {
        format!("{name}: role = \"input\"; element = \"u8\"; length = 64; range = [0, 255]")
    };
    let text =
        text("f", &[&input("a"), &input("b"), &format!("n: role = \"number\"; value = {n}")])
            .replace(
                "computes = \"map\"",
                &format!("computes = \"equal\"\nreturns = {{ {returns} }}"),
            );
    MapContract::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn a_comparison_reads_all_bytes_and_says_what_it_finds() {
    let of = |result: &str, last: &str| {
        EQUAL.replace("RESULT", result).replace("FIRST", "0").replace("FINAL", last)
    };
    let mask = of("uint32_t", "0u - ((x | (0u - x)) >> 31)");
    let ones = "element = \"u32\", equal = 0, different = 4294967295";
    proved(&mask, &equal(ones, 64));
    proved(
        &of("int", "(int)((0u - x) >> 31)"),
        &equal("element = \"i32\", equal = 0, different = 1", 64),
    );
    proved(
        &of("int", "(int)(1 & ((x - 1) >> 8))"),
        &equal("element = \"i32\", equal = 1, different = 0", 64),
    );
    // Any difference but none.
    proved(&of("int", "(int)x"), &equal("element = \"i32\", equal = 0", 64));
    proved(&of("uint8_t", "r"), &equal("element = \"u8\", equal = 0", 64));
    // The last 32 bytes are forgotten, the last one, the first one.
    refuted(&mask, &equal(ones, 32));
    refuted(&mask, &equal(ones, 63));
    refuted(
        &EQUAL.replace("RESULT", "uint32_t").replace("FIRST", "1").replace("FINAL", "x"),
        &equal("element = \"u32\", equal = 0", 64),
    );
    // Differences of some bits alone are seen.
    refuted(&of("uint32_t", "x & 127"), &equal("element = \"u32\", equal = 0", 64));
    refuted(
        &of("int", "(int)((0u - x) >> 31)"),
        &equal("element = \"i32\", equal = 0, different = -1", 64),
    );
    refuted(&of("int", "(int)x"), &equal("element = \"i32\", equal = 0, different = 1", 64));
    refuted(
        &of("int", "1 - (int)((0u - x) >> 31)"),
        &equal("element = \"i32\", equal = 0, different = 1", 64),
    );
    // Two differences cancel.
    refuted(&mask.replace("r |=", "r ^="), &equal(ones, 64));
    refuted(&mask.replace("r |=", "r +="), &equal(ones, 64));
    refuted(&mask.replace("a[i] ^ b[i]", "a[i] & ~b[i]"), &equal(ones, 64));
    // Each byte is compared with another's place.
    refuted(&mask.replace("b[i]", "b[i ^ 1]"), &equal(ones, 64));
    // A call in another place is another call, although nothing is written: each polarity of each condition.
    let whole = "for (int i = 0; i < 64; i++) r |= a[i] ^ b[i];";
    for condition in ["((uintptr_t)a & 31)", "!((uintptr_t)a & 31)"] {
        let short = format!(
            "int f(const uint8_t *a, const uint8_t *b, size_t n) {{ uint32_t r = 0;
            if ({condition}) {{ for (int i = 0; i < 63; i++) r |= a[i] ^ b[i]; }} else {{ {whole} }} return (int)r; }}"
        );
        refuted(&short, &equal("element = \"i32\", equal = 0", 64));
    }
    for (condition, result) in [("a < b", "0"), ("a > b", "0"), ("a == b", "1"), ("a != b", "0")] {
        let placed = format!(
            "int f(const uint8_t *a, const uint8_t *b, size_t n) {{ uint32_t r = 0;
            if ({condition}) return {result}; {whole} return (int)r; }}"
        );
        let r = run(&placed, &["-O2"], &equal("element = \"i32\", equal = 0", 64));
        assert!(!r.is_proved(), "{condition}: {}", told(&r));
    }
    // A result that tells early where they differ is no constant time.
    let early = "int f(const uint8_t *a, const uint8_t *b, size_t n) {
        for (size_t i = 0; i < n; i++) if (a[i] != b[i]) return 1;
        return 0;
    }";
    let r = run(early, &["-O2"], &equal("element = \"i32\", equal = 0, different = 1", 64));
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    assert!(r.reasons.iter().any(|r| r.kind == ReasonKind::ConstantTime), "{}", told(&r));
}

/// Two arrays of so many elements.
fn arrays(element: &str, n: u32, returns: &str) -> MapContract {
    let range = match element {
        "u8" => "[0, 255]",
        "u16" => "[0, 65535]",
        _ => "[-32768, 32767]",
    };
    let input = |name: &str| {
        format!("{name}: role = \"input\"; element = \"{element}\"; length = {n}; range = {range}")
    };
    let text = text("f", &[&input("a"), &input("b")])
        .replace("computes = \"map\"", &format!("computes = \"equal\"\nreturns = {{ {returns} }}"));
    MapContract::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

const YES: &str = "element = \"i32\", equal = 1, different = 0";
const NO: &str = "element = \"i32\", equal = 0, different = 1";

/// What is not proved, whether or not arrays show why.
#[track_caller]
fn open(source: &str, contract: &MapContract) {
    both(source, contract, &|r| assert!(!r.is_proved(), "{}", told(r)));
}

#[test]
fn words_of_any_width_say_whether_arrays_are_equal() {
    let of = |word: &str, last: &str| {
        format!(
            "#include <string.h>
            int f(const uint8_t *a, const uint8_t *b) {{
                {word} r = 0, x, y;
                for (int i = 0; i < 96; i += sizeof x) {{
                    memcpy(&x, a + i, sizeof x); memcpy(&y, b + i, sizeof y); r |= x ^ y;
                }}
                return {last};
            }}"
        )
    };
    let no = arrays("u8", 96, NO);
    proved(&of("uint64_t", "(int)((r | -r) >> 63)"), &no);
    proved(&of("uint32_t", "(int)((r | -r) >> 31)"), &no);
    proved(&of("uint16_t", "(int)((0u - r) >> 31)"), &no);
    proved(&of("uint64_t", "r != 0"), &no);
    // The highest bit alone, or all but the lowest one.
    open(&of("uint64_t", "(int)(r >> 63)"), &no);
    open(&of("uint64_t", "(int)(((r >> 1) | -(r >> 1)) >> 63)"), &no);
    open(&of("uint32_t", "(int)((r | -r) >> 30)"), &no);
    open(&of("uint64_t", "(uint32_t)r != 0"), &no);
    open(&of("uint64_t", "r == 0"), &no);
    open(&of("uint64_t", "r != 1"), &no);
}

#[test]
fn comparisons_of_elements_are_combined() {
    let of = |first: &str, each: &str, last: &str| {
        format!(
            "int f(const uint8_t *a, const uint8_t *b) {{
                int r = {first};
                for (int i = 0; i < 32; i++) {{ {each} }}
                return {last};
            }}"
        )
    };
    let (yes, no) = (arrays("u8", 32, YES), arrays("u8", 32, NO));
    proved(&of("1", "r &= a[i] == b[i];", "r"), &yes);
    proved(&of("1", "r &= a[i] == b[i];", "!r"), &no);
    proved(&of("0", "r |= a[i] != b[i];", "r"), &no);
    proved(&of("0", "r |= a[i] ^ b[i];", "r == 0"), &yes);
    proved(&of("0", "r += a[i] != b[i];", "r"), &arrays("u8", 32, "element = \"i32\", equal = 0"));
    proved(&of("0", "r += a[i] ^ b[i];", "r != 0"), &no);
    // One pair is enough, or all must differ.
    open(&of("0", "r |= a[i] == b[i];", "r"), &yes);
    open(&of("1", "r &= a[i] != b[i];", "!r"), &yes);
    open(&of("1", "r ^= a[i] == b[i];", "r"), &yes);
    open(&of("1", "r &= a[i] >= b[i];", "r"), &yes);
    open(&of("1", "r &= a[i] == (b[i] & 127);", "r"), &yes);
    open(&of("1", "r &= a[i] == b[i ^ 1];", "r"), &yes);
    open(&of("1", "if (i != 31) r &= a[i] == b[i];", "r"), &yes);
    // A sum that wraps is zero for some arrays that differ.
    open(&of("0", "r = (uint8_t)(r + (a[i] ^ b[i]));", "r != 0"), &no);
    open(&of("0", "r = (r + (a[i] != b[i])) & 31;", "r != 0"), &no);
    open(&of("0", "r += a[i] - b[i];", "r != 0"), &no);
}

#[test]
fn vectors_are_compared() {
    let of = |body: &str| {
        format!("#include <immintrin.h>\nint f(const uint8_t *a, const uint8_t *b) {{ {body} }}")
    };
    let each = "for (int i = 0; i < 4; i++) { __m256i x = _mm256_loadu_si256((void *)(a + 32 * i)),
        y = _mm256_loadu_si256((void *)(b + 32 * i)); STEP }";
    let tested = |first: &str, step: &str, last: &str| {
        of(&format!("__m256i h = {first}; {} return {last};", each.replace("STEP", step)))
    };
    let zero = "_mm256_setzero_si256()";
    let differ = "h = _mm256_or_si256(h, _mm256_xor_si256(x, y));";
    let equal = "h = _mm256_and_si256(h, _mm256_cmpeq_epi8(x, y));";
    let ones = "_mm256_set1_epi8(-1)";
    let avx2 = |source: &str| run(source, &["-O3", "-mavx2"], &arrays("u8", 128, NO));
    let right = [
        tested(zero, differ, "1 - _mm256_testz_si256(h, h)"),
        tested(zero, differ, "!_mm256_testz_si256(h, h)"),
        tested(ones, equal, "_mm256_movemask_epi8(h) != -1"),
        tested(ones, &equal.replace("epi8", "epi64"), "_mm256_movemask_epi8(h) != -1"),
    ];
    for source in right {
        let r = avx2(&source);
        assert!(r.is_proved(), "{}\n{source}", told(&r));
    }
    let low = "_mm256_set_epi64x(0, -1, -1, -1)";
    let wrong = [
        tested(zero, differ, "_mm256_testz_si256(h, h)"),
        tested(zero, differ, &format!("1 - _mm256_testz_si256(h, {low})")),
        tested(zero, differ, &format!("1 - _mm256_testc_si256(h, {low})")),
        tested(ones, equal, "_mm256_movemask_epi8(h) != 0"),
        tested(ones, equal, "(_mm256_movemask_epi8(h) & 0x7fffffff) != 0x7fffffff"),
        tested(ones, equal, "_mm256_movemask_ps((__m256)h) != 15"),
        tested(
            ones,
            &equal.replace("_mm256_and_si256", "_mm256_or_si256"),
            "_mm256_movemask_epi8(h) != -1",
        ),
        tested(ones, &equal.replace("cmpeq", "cmpgt"), "_mm256_movemask_epi8(h) != -1"),
        tested(zero, &differ.replace("_mm256_or", "_mm256_xor"), "1 - _mm256_testz_si256(h, h)"),
        tested(zero, &format!("if (i != 2) {{ {differ} }}"), "1 - _mm256_testz_si256(h, h)"),
    ];
    for source in wrong {
        let r = avx2(&source);
        assert!(!r.is_proved(), "{}\n{source}", told(&r));
    }
}
