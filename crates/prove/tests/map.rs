//! Functions that handle each element by itself, from C to verdict: what is right is proved, and what has a mistake is
//! refuted by inputs that show it.

mod common;

use common::each::{both, contract, proved, refuted, run, text};
use common::{compile, told};
use ringforge_prove::map::{MapContract, prove};
use ringforge_prove::{Options, Progress, Quiet, ReasonKind, Verdict};
use std::sync::atomic::{AtomicUsize, Ordering};

const COMPRESS: &str = "void f(int16_t *r, const int16_t *a) {
    for (int i = 0; i < 32; i++) {
        uint32_t t = a[i];
        r[i] = ((((uint64_t)t << 10) + HALF) * 1290167 >> 32) & 0x3ff;
    }
}";

fn compress(d: u32) -> MapContract {
    let formula = format!("formula = \"round(a * 2^{d} / 3329) mod 2^{d}\"");
    contract(
        "f",
        &[
            &format!(
                "r: role = \"output\"; element = \"i16\"; length = 32; range = [0, {}]; {formula}",
                (1 << d) - 1
            ),
            "a: role = \"input\"; element = \"i16\"; length = 32; range = [0, 3328]",
        ],
    )
}

#[test]
fn compression_is_rounded_as_the_formula_says() {
    proved(&COMPRESS.replace("HALF", "1665"), &compress(10));
    // What is rounded down instead of to the nearest is wrong at few inputs.
    refuted(&COMPRESS.replace("HALF", "1663"), &compress(10));
    // The mask that is forgotten shows at the largest inputs.
    refuted(&COMPRESS.replace("HALF", "1665").replace(" & 0x3ff", ""), &compress(10));
}

#[test]
fn reductions_are_canonical_or_not() {
    let reduce = "void f(int16_t *r) { for (int i = 0; i < 32; i++) {
        int16_t x = r[i], t = (int16_t)(((int32_t)20159 * x + (1 << 25)) >> 26);
        x = (int16_t)(x - t * 3329);
        r[i] = (int16_t)(x + CORRECTION);
    } }";
    let of = |exit: &str, formula: &str| {
        contract(
            "f",
            &[&format!(
                "r: role = \"inout\"; element = \"i16\"; length = 32; range = [-32768, 32767]; exit = {exit}; {formula}"
            )],
        )
    };
    let mod_q = of("[0, 3328]", "formula = \"r mod 3329\"");
    proved(&reduce.replace("CORRECTION", "((x >> 15) & 3329)"), &mod_q);
    refuted(&reduce.replace("CORRECTION", "0"), &mod_q);
    // What is congruent and lies outside of the range alone is said to be so.
    let centred = of("[-1663, 1664]", "formula = \"r\"; modulo = 3329");
    refuted(&reduce.replace("CORRECTION", "0"), &centred);
    both(&reduce.replace("CORRECTION", "0"), &centred, &|r| {
        let outside = r.witness.as_ref().and_then(|w| w.outside);
        assert_eq!(outside, Some((-1663, 1664)), "{}", told(r));
        assert!(r.reasons[0].text.ends_with(", outside [-1663, 1664]"), "{}", told(r));
    });
    both(&reduce.replace("CORRECTION", "1"), &centred, &|r| {
        assert_eq!(r.witness.as_ref().and_then(|w| w.outside), None, "{}", told(r));
    });
    proved(&reduce.replace("CORRECTION", "0"), &of("[-1664, 1664]", "formula = \"r cmod 3329\""));
    proved(
        &reduce.replace("CORRECTION", "0"),
        &of("[-1664, 1664]", "formula = \"r\"; modulo = 3329"),
    );
    // The range is promised, beside the congruence.
    refuted(
        &reduce.replace("CORRECTION", "0"),
        &of("[-1663, 1664]", "formula = \"r\"; modulo = 3329"),
    );
    refuted(
        &reduce.replace("CORRECTION", "0"),
        &of("[-1664, 1664]", "formula = \"r + 1\"; modulo = 3329"),
    );
}

/// `c = a OP b` of words.
fn two(op: &str) -> String {
    format!(
        "void f(int16_t *c, const int16_t *a, const int16_t *b) {{
        for (int i = 0; i < 32; i++) c[i] = (int16_t)({op});
    }}"
    )
}

fn sum(range: &str, exit: &str, formula: &str) -> MapContract {
    let input = |name: &str| {
        format!("{name}: role = \"input\"; element = \"i16\"; length = 32; range = {range}")
    };
    let c = format!(
        "c: role = \"output\"; element = \"i16\"; length = 32; range = {exit}; formula = \"{formula}\""
    );
    contract("f", &[&c, &input("a"), &input("b")])
}

#[test]
fn sums_of_two_are_exact() {
    let half = |formula: &str| sum("[-16384, 16383]", "[-32768, 32767]", formula);
    proved(&two("a[i] + b[i]"), &half("a + b"));
    proved(&two("a[i] - b[i]"), &half("a - b"));
    proved(
        &two("a[i] + 2 * a[i] - 3 * b[i]"),
        &sum("[-1000, 1000]", "[-6000, 6000]", "3 * (a - b)"),
    );
    refuted(&two("b[i] - a[i]"), &half("a - b"));
    refuted(&two("a[i] | b[i]"), &half("a + b"));
    // One pair of all overflows.
    refuted(&two("a[i] + b[i]"), &sum("[-16384, 16384]", "[-32768, 32767]", "a + b"));
    // One element is added to its neighbour's.
    refuted(&two("a[i] + b[i ^ 1]"), &half("a + b"));
    refuted(&two("a[i] + b[i < 31 ? i : 30]"), &half("a + b"));
}

#[test]
fn what_follows_a_sum_is_a_function_of_it() {
    let reduced = "(a[i] + b[i] - 3329) + ((((int16_t)(a[i] + b[i] - 3329)) >> 15) & 3329)";
    let formula = sum("[0, 3328]", "[0, 3328]", "(a + b) mod 3329");
    proved(&two(reduced), &formula);
    // Right but for the one sum that is the modulus.
    refuted(&two(&reduced.replace("- 3329)", "- 3330)").replace("& 3329", "& 3330")), &formula);
    // A comparison of the two, which is no function of their sum.
    proved(&two("a[i] < b[i] ? a[i] : b[i]"), &sum("[-200, 200]", "[-200, 200]", "min(a, b)"));
    refuted(&two("a[i] < b[i] ? a[i] : b[i]"), &sum("[-200, 200]", "[-200, 200]", "max(a, b)"));
    proved(&two("a[i] * b[i]"), &sum("[-180, 180]", "[-32400, 32400]", "a * b"));
    refuted(&two("a[i] * b[i]"), &sum("[-182, 182]", "[-32768, 32767]", "a * b"));
}

const WIDE: &str = "void f(int32_t *r) { for (int i = 0; i < 8; i++) {
    int32_t a = r[i], t = (a + (1 << 22)) >> 23;
    a -= t * 8380417;
    r[i] = a + ((a >> 31) & CORRECTION);
} }";

fn wide(range: &str, exit: &str, formula: &str) -> MapContract {
    contract(
        "f",
        &[&format!(
            "r: role = \"inout\"; element = \"i32\"; length = 8; range = {range}; exit = {exit}; {formula}"
        )],
    )
}

#[test]
fn words_of_32_bits_are_decided_on_pieces() {
    let range = "[-2143289344, 2143289343]";
    let congruent = "formula = \"r\"; modulo = 8380417";
    proved(&WIDE.replace("CORRECTION", "0"), &wide(range, "[-6283009, 6283008]", congruent));
    proved(
        &WIDE.replace("CORRECTION", "8380417"),
        &wide(range, "[0, 8380416]", "formula = \"r mod 8380417\""),
    );
    // The rounding overflows at the largest inputs.
    let more = "[-2143289344, 2147483647]";
    refuted(&WIDE.replace("CORRECTION", "0"), &wide(more, "[-6283009, 6283008]", congruent));
    refuted(
        &WIDE.replace("CORRECTION", "0"),
        &wide(range, "[0, 8380416]", "formula = \"r mod 8380417\""),
    );
    refuted(
        &WIDE.replace("CORRECTION", "8380416"),
        &wide(range, "[0, 8380416]", "formula = \"r mod 8380417\""),
    );
}

/// Decompose and Power2Round of FIPS 204.
#[test]
fn two_outputs_have_a_formula_each() {
    let source = "void f(int32_t *h, int32_t *l, const int32_t *a) { for (int i = 0; i < 8; i++) {
        int32_t a1 = (a[i] + (1 << 12) - 1) >> 13;
        l[i] = a[i] - (a1 << 13);
        h[i] = a1;
    } }";
    let of = |high: &str, low: &str| {
        contract(
            "f",
            &[
                &format!(
                    "h: role = \"output\"; element = \"i32\"; length = 8; range = [0, 1023]; formula = \"{high}\""
                ),
                &format!(
                    "l: role = \"output\"; element = \"i32\"; length = 8; range = [-4095, 4096]; formula = \"{low}\""
                ),
                "a: role = \"input\"; element = \"i32\"; length = 8; range = [0, 8380416]",
            ],
        )
    };
    proved(source, &of("floor((a - (a cmod 2^13)) / 2^13)", "a cmod 2^13"));
    refuted(source, &of("round(a / 2^13)", "a cmod 2^13"));
    refuted(source, &of("ceil((a - 2^12) / 2^13)", "a mod 2^13"));
    // The halves are exchanged.
    let exchanged =
        source.replace("l[i] =", "x[i] =").replace("h[i] =", "l[i] =").replace("x[i] =", "h[i] =");
    refuted(&exchanged, &of("ceil((a - 2^12) / 2^13)", "a cmod 2^13"));
}

const PACK: &str = "void f(uint8_t *r, const int16_t *a) { for (int i = 0; i < 16; i++) {
    uint16_t x = a[2 * i], y = a[2 * i + 1];
    r[3 * i] = (uint8_t)x; r[3 * i + 1] = (uint8_t)(x >> 8 | y << 4); r[3 * i + 2] = (uint8_t)(y >> 4);
} }";

#[test]
fn fields_are_packed_and_unpacked() {
    let pack = contract(
        "f",
        &[
            "r: role = \"output\"; element = \"u8\"; bits = 12; length = 32; range = [0, 3328]; formula = \"a\"",
            "a: role = \"input\"; element = \"i16\"; length = 32; range = [0, 3328]",
        ],
    );
    proved(PACK, &pack);
    refuted(&PACK.replace("y >> 4", "y >> 3"), &pack);
    refuted(&PACK.replace("y << 4", "y << 3"), &pack);
    // What is larger than a field leaks into the next one, or is cut off.
    let wider = contract(
        "f",
        &[
            "r: role = \"output\"; element = \"u8\"; bits = 12; length = 32; range = [0, 4095]; formula = \"a\"",
            "a: role = \"input\"; element = \"i16\"; length = 32; range = [0, 4096]",
        ],
    );
    refuted(PACK, &wider);
    let unpack = "void f(int16_t *r, const uint8_t *a) { for (int i = 0; i < 16; i++) {
        r[2 * i] = (a[3 * i] | a[3 * i + 1] << 8) & 0xfff;
        r[2 * i + 1] = (a[3 * i + 1] >> 4 | a[3 * i + 2] << 4) & 0xfff;
    } }";
    let of = |formula: &str| {
        contract(
            "f",
            &[
                &format!(
                    "r: role = \"output\"; element = \"i16\"; length = 32; range = [0, 4095]; formula = \"{formula}\""
                ),
                "a: role = \"input\"; element = \"u8\"; bits = 12; length = 32; range = [0, 4095]",
            ],
        )
    };
    proved(unpack, &of("a"));
    refuted(unpack, &of("a mod 4095"));
    refuted(&unpack.replace("3 * i + 1] << 8", "3 * i + 1] << 7"), &of("a"));
}

/// What lies beside a field may enter the computation, if it does not matter.
#[test]
fn neighbours_may_not_matter() {
    let source = "void f(uint8_t *r, const uint8_t *a) { for (int i = 0; i < 16; i++) {
        r[2 * i] = a[i] & 15;
        r[2 * i + 1] = (uint8_t)((a[i] * 3 + MORE) / 48);
    } }";
    let unpack = contract(
        "f",
        &[
            "r: role = \"output\"; element = \"u8\"; length = 32; range = [0, 15]; formula = \"a\"",
            "a: role = \"input\"; element = \"u8\"; bits = 4; length = 32; range = [0, 15]",
        ],
    );
    proved(&source.replace("MORE", "2"), &unpack);
    // With the largest neighbour, and only then.
    refuted(&source.replace("MORE", "3"), &unpack);
}

/// Bits of a neighbour beside a field are known if the neighbour's range leaves them one value.
#[test]
fn upper_bits_of_a_neighbour_may_be_known_by_its_range() {
    let source = "void f(uint8_t *r, const int32_t *a) { for (int i = 0; i < 16; i++) {
        uint32_t t = 2048 - a[2 * i], u = 2048 - a[2 * i + 1];
        r[3 * i] = (uint8_t)t;
        r[3 * i + 1] = (uint8_t)(t >> 8 | u << 4);
        r[3 * i + 2] = (uint8_t)(u >> 4);
    } }";
    let pack = |least: i32| {
        contract(
            "f",
            &[
                "r: role = \"output\"; element = \"u8\"; bits = 12; length = 32; range = [0, 4095]; formula = \"(2048 - a) mod 4096\"",
                &format!(
                    "a: role = \"input\"; element = \"i32\"; length = 32; range = [{least}, 2048]"
                ),
            ],
        )
    };
    proved(source, &pack(-2047));
    // One value more, and its thirteenth bit lies in the next field.
    refuted(source, &pack(-2048));
    refuted(&source.replace("t >> 8", "t >> 7"), &pack(-2047));
}

/// Sums of bits side by side in a word: no carry leaves a field.
#[test]
fn binomial_samples_are_sums_of_bits() {
    let source = "void f(int16_t *r, const uint8_t *a) { for (int i = 0; i < 4; i++) {
        uint32_t t = a[4 * i] | a[4 * i + 1] << 8 | a[4 * i + 2] << 16 | (uint32_t)a[4 * i + 3] << 24;
        uint32_t d = (t & 0x55555555) + ((t >> 1) & MASK);
        for (int j = 0; j < 8; j++)
            r[8 * i + j] = (int16_t)((d >> (4 * j) & 3) - (d >> (4 * j + 2) & 3));
    } }";
    let cbd = contract(
        "f",
        &[
            "r: role = \"output\"; element = \"i16\"; length = 32; range = [-2, 2]; formula = \"a mod 2 + floor(a / 2) mod 2 - floor(a / 4) mod 2 - floor(a / 8) mod 2\"",
            "a: role = \"input\"; element = \"u8\"; bits = 4; length = 32; range = [0, 15]",
        ],
    );
    proved(&source.replace("MASK", "0x55555555"), &cbd);
    refuted(&source.replace("MASK", "0x55555554"), &cbd);
    refuted(&source.replace("MASK", "0xffffffff"), &cbd);
}

const MOVE: &str = "void f(TYPE *r, const TYPE *a, int bit) {
    TYPE mask = (TYPE)-bit;
    for (int i = 0; i < N; i++) r[i] ^= (TYPE)(mask & (r[i] ^ a[i]));
}";

fn choose(element: &str, n: usize, range: &str, formula: &str) -> MapContract {
    contract(
        "f",
        &[
            &format!(
                "r: role = \"inout\"; element = \"{element}\"; length = {n}; range = {range}; formula = \"{formula}\""
            ),
            &format!("a: role = \"input\"; element = \"{element}\"; length = {n}; range = {range}"),
            "bit: role = \"number\"; range = [0, 1]",
        ],
    )
}

#[test]
fn a_conditional_move_takes_one_or_the_other() {
    for (ty, element, range) in [
        ("uint8_t", "u8", "[0, 255]"),
        ("int16_t", "i16", "[-32768, 32767]"),
        ("int32_t", "i32", "[-2147483648, 2147483647]"),
    ] {
        let of = |text: &str| text.replace("TYPE", ty).replace("N;", "40;");
        let moves = choose(element, 40, range, "bit ? a : r");
        proved(&of(MOVE), &moves);
        proved(&of(MOVE), &choose(element, 40, range, "bit == 0 ? r : a"));
        // The other way round, and a mask of one bit only.
        refuted(&of(MOVE), &choose(element, 40, range, "bit ? r : a"));
        refuted(&of(&MOVE.replace("(TYPE)-bit", "(TYPE)bit")), &moves);
        // The last element is forgotten.
        refuted(&of(&MOVE.replace("i < N", "i < N - 1").replace("N -", "40 -")), &moves);
    }
    // A branch that tells the bit.
    let branch =
        "void f(uint8_t *r, const uint8_t *a, int bit) { if (bit) __builtin_memcpy(r, a, 40); }";
    let r = run(branch, &["-O2"], &choose("u8", 40, "[0, 255]", "bit ? a : r"));
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    assert!(r.reasons.iter().any(|r| r.kind == ReasonKind::ConstantTime), "{}", told(&r));
}

#[test]
fn two_arrays_are_swapped_and_one_is_wiped() {
    let swap = "void f(uint16_t *a, uint16_t *b, int bit) { for (int i = 0; i < 24; i++) {
        uint16_t t = (uint16_t)(-bit & (a[i] ^ b[i]));
        a[i] ^= t; b[i] ^= SECOND;
    } }";
    let array = |name: &str, other: &str| {
        format!(
            "{name}: role = \"inout\"; element = \"u16\"; length = 24; range = [0, 65535]; formula = \"bit ? {other} : {name}\""
        )
    };
    let swaps = contract(
        "f",
        &[&array("a", "b"), &array("b", "a"), "bit: role = \"number\"; range = [0, 1]"],
    );
    proved(&swap.replace("SECOND", "t"), &swaps);
    refuted(&swap.replace("SECOND", "0"), &swaps);
    let wipe = "void f(uint8_t *a, size_t n) { volatile uint8_t *p = a; for (size_t i = 0; i < n; i++) p[i] = 0; }";
    let wipes = |n: u32| {
        contract(
            "f",
            &[
                "a: role = \"inout\"; element = \"u8\"; length = 40; range = [0, 255]; exit = [0, 0]; formula = \"0\"",
                &format!("n: role = \"number\"; value = {n}"),
            ],
        )
    };
    proved(wipe, &wipes(40));
    refuted(wipe, &wipes(39));
}

#[test]
fn what_no_output_depends_on_is_reported() {
    let source = "void f(int16_t *r, const int16_t *a, const int16_t *b) {
        for (int i = 0; i < 32; i++) r[i] = (int16_t)(a[i] & 0);
    }";
    let input = |name: &str| {
        format!("{name}: role = \"input\"; element = \"i16\"; length = 32; range = [0, 9]")
    };
    let zero = contract(
        "f",
        &[
            "r: role = \"output\"; element = \"i16\"; length = 32; range = [0, 0]; formula = \"0\"",
            &input("a"),
            &input("b"),
        ],
    );
    let r = run(source, &["-O2"], &zero);
    assert!(r.is_proved(), "{}", told(&r));
    assert_eq!(r.remarks, ["no output depends on a", "no output depends on b"]);
    let some = "void f(int16_t *r, const int16_t *a, const int16_t *b) {
        for (int i = 0; i < 32; i++) r[i] = (int16_t)(a[i] * 0 + b[i] - b[i]);
        r[0] = a[0];
    }";
    let r = run(
        some,
        &["-O2"],
        &contract(
            "f",
            &[
                "r: role = \"output\"; element = \"i16\"; length = 32; range = [0, 9]; formula = \"a\"",
                &input("a"),
                &input("b"),
            ],
        ),
    );
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
}

#[test]
fn calls_in_place_are_cases() {
    let source = "void f(int16_t *r, const int16_t *a) { for (int i = 0; i < 32; i++) r[i] = (int16_t)(2 * a[i]); }";
    let text = |alias: &str| {
        text("f", &[
            "r: role = \"output\"; element = \"i16\"; length = 32; range = [-8, 8]; formula = \"2 * a\"",
            "a: role = \"input\"; element = \"i16\"; length = 32; range = [-4, 4]",
        ]).replace("computes = \"map\"\n", &format!("computes = \"map\"\nalias = {alias}\n"))
    };
    let aliased = MapContract::parse(&text("[[\"r\", \"a\"]]")).expect("a contract");
    let r = run(source, &["-O2", "-fno-tree-vectorize"], &aliased);
    assert!(r.is_proved() && r.counts.cases == 2, "{}", told(&r));
    // Each element is written before the next one is read, but in place it is the one before.
    let shifted = "void f(int16_t *r, const int16_t *a) {
        int16_t first = a[0];
        for (int i = 0; i < 31; i++) { r[i + 1] = (int16_t)(2 * a[i + 1]); r[i] = (int16_t)(2 * (i ? a[i] : first)); }
    }";
    proved(shifted, &MapContract::parse(&text("[]")).expect("a contract"));
    let r = run(shifted, &["-O2", "-fno-tree-vectorize"], &aliased);
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    assert_eq!(r.witness.map(|w| w.call).as_deref(), Some("r = a"));
}

#[test]
fn contracts_that_make_no_sense_are_refused_where_they_do_not() {
    let good = text(
        "f",
        &[
            "r: role = \"output\"; element = \"u8\"; bits = 12; length = 32; range = [0, 3328]; formula = \"a\"",
            "a: role = \"input\"; element = \"i16\"; length = 32; range = [0, 3328]",
            "n: role = \"number\"; range = [0, 1]",
        ],
    );
    MapContract::parse(&good).expect("a contract");
    for (from, to, said) in [
        ("formula = \"a\"", "formula = \"a + b\"", "one of `r`, `a`, `n`"),
        ("formula = \"a\"", "formula = \"r\"", "`r` is not read"),
        ("formula = \"a\"\n", "", "missing `formula`"),
        ("bits = 12", "bits = 33", "from 1 to 32"),
        ("bits = 12", "bits = 8", "none for 8"),
        ("bits = 12", "bits = 11", "exceeds 11 bits"),
        ("element = \"u8\"\nbits", "element = \"u16\"\nbits", "lie in bytes"),
        (
            "length = 32\nrange = [0, 3328]\nformula",
            "length = 31\nrange = [0, 3328]\nformula",
            "whole number of bytes",
        ),
        (
            "length = 32\nrange = [0, 3328]\n[[",
            "length = 30\nrange = [0, 3328]\n[[",
            "has 30 elements",
        ),
        ("role = \"number\"\nrange = [0, 1]", "role = \"number\"", "a `value` or a `range`"),
        ("range = [0, 1]\n", "range = [0, 1]\nbits = 3\n", "has no `bits`"),
        ("role = \"output\"", "role = \"input\"", "has no `formula`"),
        ("formula = \"a\"", "formula = \"a\"\nmodulo = 1", "from 2"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let e = MapContract::parse(&text).expect_err(&text);
        assert!(e.message.contains(said), "{to}: {e}");
    }
    let e = MapContract::parse(&good.replace("formula = \"a\"", "formula = \"a + 2 mod\""))
        .unwrap_err();
    assert!(
        e.to_string().starts_with("contract, line 12, column 21: the formula: expected"),
        "{e}"
    );
}

#[test]
fn minima_and_maxima_of_any_words_are_decided() {
    let of = |element: &str, range: &str, formula: &str| {
        let array = |name: &str, role: &str, formula: &str| {
            format!(
                "{name}: role = \"{role}\"; element = \"{element}\"; length = 32; range = {range}{formula}"
            )
        };
        let r = array("r", "output", &format!("; formula = \"{formula}\""));
        contract("f", &[&r, &array("a", "input", ""), &array("b", "input", "")])
    };
    let code = |word: &str, condition: &str| {
        format!(
            "void f({word} *r, const {word} *a, const {word} *b) {{
                for (int i = 0; i < 32; i++) r[i] = a[i] {condition} b[i] ? a[i] : b[i];
            }}"
        )
    };
    let (words, signed) = ("[0, 65535]", "[-32768, 32767]");
    proved(&code("uint16_t", ">"), &of("u16", words, "max(a, b)"));
    proved(&code("uint16_t", "<"), &of("u16", words, "min(b, a)"));
    proved(&code("int16_t", ">="), &of("i16", signed, "max(a, b)"));
    proved(&code("int32_t", "<"), &of("i32", "[-2147483648, 2147483647]", "min(a, b)"));
    refuted(&code("uint16_t", "<"), &of("u16", words, "max(a, b)"));
    refuted(&code("int16_t", ">"), &of("i16", signed, "min(a, b)"));
    // Words are compared as if they had no sign.
    let unsigned = code("int16_t", ">").replace("a[i] > b[i]", "(uint16_t)a[i] > (uint16_t)b[i]");
    refuted(&unsigned, &of("i16", signed, "max(a, b)"));
    // One word is another.
    refuted(&code("uint16_t", ">").replace("? a[i]", "? a[i] ^ 1"), &of("u16", words, "max(a, b)"));
}

/// Says "stop" after some questions.
struct Patience(AtomicUsize);

impl Progress for Patience {
    fn update(&self, phase: &str, _: f64) -> bool {
        phase != "comparing" || self.0.fetch_add(1, Ordering::Relaxed) < 4
    }
}

#[test]
fn one_element_can_be_stopped() {
    let number = |name: &str, role: &str, element: &str, range: &str, formula: &str| {
        format!(
            "{name}: role = \"{role}\"; element = \"{element}\"; length = 1; range = {range}{formula}"
        )
    };
    let all = "[0, 4294967295]";
    let cases = [
        // At all points, along a sum, and on pieces.
        ("a[0] * b[0]", "a * b", "[0, 1023]"),
        ("(a[0] + b[0]) % 1000", "(a + b) mod 1000", "[0, 8388607]"),
        ("a[0] % 65521", "a mod 65521", all),
    ];
    for (code, formula, range) in cases {
        let r = number("r", "output", "u32", all, &format!("; formula = \"{formula}\""));
        let input = |name: &str| number(name, "input", "u32", range, "");
        let contract = contract("f", &[&r, &input("a"), &input("b")]);
        let source = format!(
            "#include <stdint.h>
            void f(uint32_t *r, const uint32_t *a, const uint32_t *b) {{ *r = {code}; }}"
        );
        let object = compile(&source, &["-O2"]);
        let mut patience = Patience(AtomicUsize::new(0));
        let r = prove(&object, &contract, &Options::default(), &mut patience);
        assert_eq!(r.verdict, Verdict::Unknown, "{code}: {}", told(&r));
        assert_eq!(r.reasons[0].kind, ReasonKind::Stopped, "{code}: {}", told(&r));
        if range != all {
            let r = prove(&object, &contract, &Options::default(), &mut Quiet);
            assert!(r.is_proved(), "{code}: {}", told(&r));
        }
    }
}

#[test]
fn packed_fields_are_said_bit_by_bit() {
    let packed = "bits = 10; length = 256; element = \"u8\"; range = [0, 1023]";
    let contract = contract(
        "f",
        &[
            &format!("r: role = \"output\"; {packed}; formula = \"a\""),
            &format!("a: role = \"input\"; {packed}"),
        ],
    );
    let copy =
        "void f(uint8_t *r, const uint8_t *a) { for (int i = 0; i < 320; i++) r[i] = a[i]; }";
    let r = run(copy, &["-O2"], &contract);
    assert!(r.is_proved(), "{}", told(&r));
    let bits = "a[0..256] lie in [0, 1023]; a[i] is bits 10 i to 10 i + 9 of its bytes";
    assert!(r.assumptions.iter().any(|a| a == bits), "{:?}", r.assumptions);
}
