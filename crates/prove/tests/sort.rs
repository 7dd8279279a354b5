//! Functions that sort an array in constant time, from C to verdict: right networks are proved, and what has a mistake
//! is refuted by an array that shows it.

mod common;

use common::{compile, told};
use ringforge_prove::map::{MapContract, prove};
use ringforge_prove::{Options, Quiet, Report, Verdict};
use std::time::Duration;

fn contract(element: &str, n: usize, range: &str) -> MapContract {
    let text = format!(
        "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\ncomputes = \"sort\"\n[[argument]]\n\
         name = \"x\"\nrole = \"inout\"\nelement = \"{element}\"\nlength = {n}\nrange = {range}\n\
         [[argument]]\nname = \"n\"\nrole = \"number\"\nvalue = {n}\n"
    );
    MapContract::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn run(source: &str, flags: &[&str], contract: &MapContract) -> Report {
    let source = format!("#include <stdint.h>\n#include <stddef.h>\n{source}");
    let options = Options { search: Duration::from_secs(2), ..Options::default() };
    prove(&compile(&source, flags), contract, &options, &mut Quiet)
}

const LEVELS: [&[&str]; 3] = [&["-O1"], &["-O2"], &["-O3", "-msse4.1"]];

#[track_caller]
fn proved(source: &str, contract: &MapContract) {
    for flags in LEVELS {
        let r = run(source, flags, contract);
        assert!(r.is_proved(), "{flags:?}: {}", told(&r));
    }
}

/// The contract is broken, and the witness shows it.
#[track_caller]
fn refuted(source: &str, contract: &MapContract) {
    for flags in LEVELS {
        let r = run(source, flags, contract);
        assert_eq!(r.verdict, Verdict::Refuted, "{flags:?}: {}", told(&r));
        let w = r.witness.as_ref().unwrap_or_else(|| panic!("a witness: {}", told(&r)));
        let mut sorted = w.inputs[0].1.clone();
        sorted.sort_unstable();
        assert_eq!(w.expected, sorted);
        assert_ne!(w.found[w.element], w.expected[w.element]);
    }
}

/// Batcher's merge exchange, over words of a type.
const MERGE_EXCHANGE: &str = "static inline void two(WORD *x, WORD *y) { WORD a = *x, b = *y; TWO }
void f(WORD *x, size_t n) {
    size_t top = 1;
    while (2 * top < n) top *= 2;
    for (size_t p = top; p > 0; p /= 2) {
        for (size_t i = 0; i + p < n; i++) if (!(i & p)) two(x + i, x + i + p);
        for (size_t q = top; q > p; q /= 2)
            for (size_t i = p; i + q - p < n; i++) if (i & p) two(x + i, x + i + q - p);
    }
}";
const BORROW: &str = "WORD d = (a ^ b) & (WORD)(((uint64_t)b - a) >> 32); *x = a ^ d; *y = b ^ d;";

fn merge_exchange(word: &str, two: &str) -> String {
    MERGE_EXCHANGE.replace("TWO", two).replace("WORD", word)
}

#[test]
fn networks_that_sort_are_proved() {
    let words = "[0, 4294967295]";
    proved(&merge_exchange("uint32_t", BORROW), &contract("u32", 100, words));
    let least = "*x = a < b ? a : b; *y = a < b ? b : a;";
    proved(&merge_exchange("int16_t", least), &contract("i16", 61, "[-32768, 32767]"));
    proved(&merge_exchange("uint8_t", least), &contract("u8", 33, "[0, 7]"));
    // Signed words by their differences, where these do not overflow or are looked at [djbsort's minmax].
    let difference = "int32_t c = (int32_t)((uint32_t)b - (uint32_t)a), d = a ^ b;
        c ^= d & (c ^ b); c >>= 31; d &= c; *x = a ^ d; *y = b ^ d;";
    proved(
        &merge_exchange("int32_t", difference),
        &contract("i32", 40, "[-2147483648, 2147483647]"),
    );
    // Insertion, each word to its place among those before.
    let insertion = "void f(uint32_t *x, size_t n) {
        for (size_t k = 1; k < n; k++) for (size_t i = k; i > 0; i--) {
            uint32_t a = x[i - 1], b = x[i]; x[i - 1] = a < b ? a : b; x[i] = a < b ? b : a; } }";
    proved(insertion, &contract("u32", 24, words));
    // Unsigned words by signed comparisons, from halves that descend.
    let flipped = "static void two(int32_t *x, int32_t *y) { int32_t a = *x, b = *y;
            *x = a < b ? a : b; *y = a < b ? b : a; }
        void f(uint32_t *u, size_t n) { int32_t *x = (int32_t *)u;
        for (size_t i = 0; i < n; i++) u[i] ^= 0x80000000u;
        for (size_t k = 2; k <= n; k *= 2) for (size_t j = k / 2; j > 0; j /= 2)
            for (size_t i = 0; i < n; i++) if ((i ^ j) > i) {
                if (i & k) two(x + (i ^ j), x + i); else two(x + i, x + (i ^ j)); }
        for (size_t i = 0; i < n; i++) u[i] ^= 0x80000000u; }";
    proved(flipped, &contract("u32", 64, words));
}

#[test]
fn mistakes_are_refuted() {
    let whole = contract("u32", 100, "[0, 4294967295]");
    let right = merge_exchange("uint32_t", BORROW);
    for (from, to) in [
        // The last word is left as it was; a stage stops early, starts late, or is left out.
        ("size_t top = 1;", "size_t top = 1; n--;"),
        ("i + p < n", "i + p + 1 < n"),
        ("q > p; q", "q > 2 * p; q"),
        ("2 * top < n", "4 * top < n"),
        ("i + q - p < n", "i + q < n"),
        // The greater word first, the lesser one twice, a carry for a borrow, words as signed ones.
        ("*x = a ^ d; *y = b ^ d;", "*x = b ^ d; *y = a ^ d;"),
        ("*y = b ^ d;", "*y = a ^ d;"),
        ("(uint64_t)b - a", "(uint64_t)b + a"),
        ("((uint64_t)b - a) >> 32", "((int64_t)(int32_t)b - (int32_t)a) >> 32"),
        // A difference that overflows, and equal words that become another.
        ("((uint64_t)b - a) >> 32", "(int32_t)(b - a) >> 31"),
        ("*y = b ^ d;", "*y = b ^ d; *y += a == b && a == 7;"),
    ] {
        let wrong = right.replace(from, to);
        assert_ne!(wrong, right, "{from}");
        let r = run(&wrong, &["-O2"], &whole);
        assert!(!r.is_proved(), "{to}: {}", told(&r));
        // Few arrays show the last one.
        assert!(r.verdict == Verdict::Refuted || to.contains("== 7"), "{to}: {}", told(&r));
    }
    refuted(&right.replace("*x = a ^ d; *y = b ^ d;", "*x = b ^ d; *y = a ^ d;"), &whole);
    refuted(&right.replace("size_t top = 1;", "size_t top = 1; n--;"), &whole);
    // In range, the difference does not overflow: but the proof is one for all words.
    let short = contract("u32", 100, "[0, 7]");
    let r =
        run(&right.replace("((uint64_t)b - a) >> 32", "(int32_t)(b - a) >> 31"), &["-O2"], &short);
    assert_eq!(r.verdict, Verdict::Unknown, "{}", told(&r));
    // What depends on the words in its branches is no constant time.
    let branch = "void f(uint32_t *x, size_t n) { for (size_t k = 1; k < n; k++)
        for (size_t i = k; i > 0 && x[i - 1] > x[i]; i--) {
            uint32_t a = x[i]; x[i] = x[i - 1]; x[i - 1] = a; } }";
    let r = run(branch, &["-O1"], &whole);
    assert!(!r.is_proved() && r.witness.is_none(), "{}", told(&r));
}

#[test]
fn contracts_say_what_a_sort_has() {
    let good = "contract = 1\nsymbol = \"f\"\nabi = \"sysv-x86-64\"\ncomputes = \"sort\"\n[[argument]]\n\
                name = \"x\"\nrole = \"inout\"\nelement = \"u32\"\nlength = 9\nrange = [0, 9]\n";
    assert!(MapContract::parse(good).is_ok());
    let packed = good.replace("length = 9", "length = 16").replace("\"u32\"", "\"u8\"\nbits = 4");
    let e = MapContract::parse(&packed).expect_err("fields of 4 bits");
    assert!(e.message.contains("not packed"), "{e}");
    for (from, to, said) in [
        ("\"inout\"", "\"output\"", "one array"),
        ("\"inout\"", "\"input\"", "one array"),
        ("length = 9", "length = 1", "at least two"),
        ("range = [0, 9]", "range = [0, 9]\nexit = [0, 9]", "no `exit` in a sort"),
        ("range = [0, 9]", "range = [0, 9]\nformula = \"x\"", "no `formula` in a sort"),
        (
            "range = [0, 9]\n",
            "range = [0, 9]\n[[argument]]\nname = \"n\"\nrole = \"number\"\nrange = [1, 9]\n",
            "a `value`",
        ),
        (
            "range = [0, 9]\n",
            "range = [0, 9]\n[[argument]]\nname = \"y\"\nrole = \"input\"\nelement = \"u8\"\nlength = 9\nrange = [0, 9]\n",
            "one array",
        ),
        (
            "\"sort\"",
            "\"sort\"\nreturns = { element = \"u32\", equal = 0 }",
            "a sort has no `returns`",
        ),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let e = MapContract::parse(&text).expect_err(&text);
        assert!(e.message.contains(said), "{to}: {e}");
    }
}
