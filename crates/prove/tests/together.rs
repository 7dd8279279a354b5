//! Functions of all elements together, from C to verdict: weights, sums, and digits that are encoded as bytes. What is right
//! is proved, and what has a mistake is refuted by inputs that show it.

mod common;

use common::each::{contract, proved, refuted, run, text};
use common::told;
use ringforge_prove::Verdict;
use ringforge_prove::map::MapContract;

const LENGTH: &str = "61";

fn of(formula: &str, element: &str, range: &str) -> MapContract {
    let out = format!(
        "r: role = \"output\"; element = \"{element}\"; length = {LENGTH}; range = {range}; formula = \"{formula}\""
    );
    let x = format!("x: role = \"input\"; element = \"i16\"; length = {LENGTH}; range = [-1, 1]");
    contract("f", &[&out, &x])
}

/// An element if it has weight 20, else a fixed one, in constant time.
const WEIGHT: &str = "void f(int16_t *r, const int16_t *x) {
    int32_t weight = 0, i;
    for (i = 0; i < 61; i++) weight += x[i] & 1;
    weight -= 20;
    int32_t wrong = -(int32_t)((uint32_t)(weight | -weight) >> 31);
    for (i = 0; i < 20; i++) r[i] = ((x[i] ^ 1) & ~wrong) ^ 1;
    for (; i < 61; i++) r[i] = x[i] & ~wrong;
}";

#[test]
fn weights_are_proved() {
    let weight = of("sum(x mod 2) == 20 ? x : index < 20", "i16", "[-1, 1]");
    proved(WEIGHT, &weight);
    // By squares, by magnitudes, in bytes, and from behind.
    proved(&WEIGHT.replace("x[i] & 1;", "x[i] * x[i];"), &weight);
    proved(&WEIGHT.replace("x[i] & 1;", "x[60 - i] < 0 ? -x[60 - i] : x[60 - i];"), &weight);
    proved(&WEIGHT.replace("int32_t weight = 0, i", "int8_t weight = 0; int32_t i"), &weight);
    // A mask, a count, and a sum of numbers with signs.
    let mask = "void f(int32_t *r, const int16_t *x) {
        int32_t s = 0, i;
        for (i = 0; i < 61; i++) s += x[i] & 1;
        s = ((s ^ 20) - 1) >> 31;
        for (i = 0; i < 61; i++) r[i] = s; }";
    proved(mask, &of("-(sum(abs(x)) == 20)", "i32", "[-1, 0]"));
    let count = "void f(int8_t *r, const int16_t *x) {
        int s = 0, i;
        for (i = 0; i < 61; i++) s -= 3 * x[i];
        for (i = 0; i < 61; i++) r[i] = (s >> 4) - (i < 7); }";
    proved(count, &of("floor(-3 * sum(x) / 16) - (index < 7)", "i8", "[-13, 11]"));
}

#[test]
fn wrong_weights_are_refuted() {
    let weight = of("sum(x mod 2) == 20 ? x : index < 20", "i16", "[-1, 1]");
    for (from, to) in [
        // Another weight; an element that is forgotten, or counted twice; the last, the first, one of them.
        ("weight -= 20", "weight -= 21"),
        ("i = 0; i < 61; i++) weight", "i = 0; i < 60; i++) weight"),
        ("i = 0; i < 61; i++) weight", "i = 1; i < 61; i++) weight"),
        ("+= x[i] & 1", "+= x[i ^ (i == 30)] & 1"),
        // Twos count for ones, signs count, what is even counts.
        ("+= x[i] & 1", "+= x[i]"),
        ("+= x[i] & 1", "+= x[i] & 3"),
        ("+= x[i] & 1", "+= 1 - (x[i] & 1)"),
        ("+= x[i] & 1", "|= x[i] & 1"),
        // Sums that wrap, at least 20, and the mask the other way.
        ("weight -= 20;", "weight = (weight & 31) - 20;"),
        ("(weight | -weight)", "(weight)"),
        ("& ~wrong) ^ 1", "& wrong) ^ 1"),
        // Another fixed element.
        ("i < 20; i++) r", "i < 21; i++) r"),
    ] {
        let wrong = WEIGHT.replacen(from, to, 1);
        assert_ne!(wrong, WEIGHT, "{from}");
        refuted(&wrong, &weight);
    }
}

/// Digits as bytes, level by level, as the definition says it.
const ENCODE: &str = "void f(uint8_t *r, const int16_t *x) {
    uint32_t v[61], m[61]; int n = 61, i, j;
    for (i = 0; i < n; i++) { v[i] = x[i] + 700; m[i] = 1401; }
    while (n > 1) {
        for (i = j = 0; i + 1 < n; i += 2, j++) {
            uint32_t a = v[i] + m[i] * v[i + 1], k = m[i] * m[i + 1];
            while (k >= 16384) { *r++ = a; a >>= 8; k = (k + 255) >> 8; }
            v[j] = a; m[j] = k;
        }
        if (i < n) { v[j] = v[i]; m[j++] = m[i]; }
        n = j;
    }
    while (m[0] > 1) { *r++ = v[0]; v[0] >>= 8; m[0] = (m[0] + 255) >> 8; }
}";

fn encoding(radix: &str) -> MapContract {
    let out = format!("r: role = \"output\"; element = \"u8\"; {radix}; formula = \"x + 700\"");
    let x = "x: role = \"input\"; element = \"i16\"; length = 61; range = [-700, 700]";
    contract("f", &[&out, x])
}

#[test]
fn encodings_are_proved() {
    let one = encoding("radix = 1401; length = 61");
    proved(ENCODE, &one);
    // Of other radices: one of each digit.
    let list: Vec<String> = (0..61).map(|i| (1401 + 7 * i).to_string()).collect();
    let several = encoding(&format!("radix = [{}]", list.join(", ")));
    proved(&ENCODE.replace("m[i] = 1401", "m[i] = 1401 + 7 * i"), &several);
    // Bytes of a word at once.
    proved(&ENCODE.replace("*r++ = a; a >>= 8; k", "*r++ = a % 256; a = a / 256; k"), &one);
}

#[test]
fn wrong_encodings_are_refuted() {
    let one = encoding("radix = 1401; length = 61");
    for (from, to) in [
        // A radix that is off by one, digits that are not, pairs in other order.
        ("m[i] = 1401", "m[i] = 1402"),
        ("x[i] + 700", "x[i] + 699"),
        ("v[i] + m[i] * v[i + 1]", "v[i + 1] + m[i + 1] * v[i]"),
        ("v[i] + m[i] * v[i + 1]", "v[i] + m[i + 1] * v[i + 1]"),
        // A byte dropped, too many, in other order; a radix that is rounded down, or compared otherwise.
        ("*r++ = a; a >>= 8; k", "*r++ = a; a >>= 7; k"),
        ("k >= 16384", "k > 32768"),
        ("*r++ = a; a >>= 8; k", "*r++ = a >> 8; a >>= 8; k"),
        ("(k + 255) >> 8; }\n            v[j]", "k >> 8; }\n            v[j]"),
        // What is left over comes first, is lost, or is taken twice; the last number loses a bit.
        ("v[j] = v[i]; m", "v[j] = v[i - 1]; m"),
        ("v[j] = v[i]; m", "v[j] = 0; m"),
        ("*r++ = v[0]; v[0]", "*r++ = v[0] & 127; v[0]"),
        ("v[j] = a; m", "v[j] = (uint8_t)a; m"),
    ] {
        let wrong = ENCODE.replacen(from, to, 1);
        assert_ne!(wrong, ENCODE, "{from}");
        let r = run(&wrong, &["-O2"], &one);
        assert_eq!(r.verdict, Verdict::Refuted, "{to}: {}", told(&r));
        let Some(w) = &r.witness else {
            // As many bytes as there are is what memory is for.
            assert!(
                told(&r).contains("outside") || told(&r).contains("written"),
                "{to}: {}",
                told(&r)
            );
            continue;
        };
        assert_ne!(w.found[w.element], w.expected[w.element], "{to}");
    }
}

#[test]
fn contracts_of_sums_and_encodings_are_checked() {
    let good = |keys: &str, formula: &str, range: &str| {
        let out =
            format!("r: role = \"output\"; element = \"u8\"; {keys}; formula = \"{formula}\"");
        let x = format!("x: role = \"input\"; element = \"i32\"; length = 5; range = {range}");
        let y = "y: role = \"input\"; element = \"u8\"; length = 4; range = [0, 9]";
        let p = "p: role = \"input\"; element = \"u8\"; bits = 4; length = 4; range = [0, 9]";
        let n = "n: role = \"number\"; range = [0, 9]";
        MapContract::parse(&text("f", &[&out, &x, y, p, n])).map(|_| ()).map_err(|e| e.to_string())
    };
    let plain = "length = 5; range = [0, 255]";
    let encoded = "radix = 10; length = 5";
    good(plain, "sum(x + 1) + sum(y) + index", "[0, 9]").expect("sums of two arrays");
    good(encoded, "x", "[0, 9]").expect("digits");
    good("radix = [10, 11, 12, 13, 14]", "9 - x", "[0, 9]").expect("several radices");
    for (keys, formula, range, said) in [
        (plain, "sum(x + y)", "[0, 9]", "and not of two"),
        (plain, "sum(3)", "[0, 9]", "an array's name"),
        (plain, "sum(r)", "[0, 9]", "not read"),
        (plain, "sum(p)", "[0, 9]", "not packed"),
        (plain, "sum(x + n)", "[0, 9]", "not packed"),
        (plain, "sum(x + index)", "[0, 9]", "one of"),
        (plain, "sum(sum(x))", "[0, 9]", "one of"),
        (plain, "sum(x)", "[0, 65536]", "2^16 values"),
        (plain, "sum(x * 2^60)", "[0, 9]", "2^48"),
        (encoded, "x", "[0, 10]", "10, where x is 10, is no digit of radix 10"),
        (encoded, "x - 1", "[0, 9]", "no digit"),
        (encoded, "y", "[0, 9]", "`y` has 4 elements"),
        (encoded, "sum(x)", "[0, 1]", "one array"),
        ("radix = 10", "x", "[0, 9]", "a list of radices"),
        ("radix = 16384; length = 5", "x", "[0, 9]", "2^14 - 1"),
        ("radix = 1; length = 5", "x", "[0, 9]", "from 2"),
        ("radix = [10, 11]", "x", "[0, 9]", "`x` has 5 elements"),
        ("radix = 10; length = 5; range = [0, 9]", "x", "[0, 9]", "no `range`"),
        ("radix = 10; length = 5; bits = 4", "x", "[0, 9]", "no `bits`"),
        ("radix = 10; length = 5; modulo = 4", "x", "[0, 9]", "no `modulo`"),
    ] {
        let e = good(keys, formula, range).expect_err(formula);
        assert!(e.contains(said), "{formula}: {e}");
    }
}
