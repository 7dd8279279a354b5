//! sntrup761's functions of single coefficients in `lib/src/prime`. They are static there: [`SOURCE`] makes them visible.

use super::{Function, argument, map};

/// The library's file, and a function for each of its own.
pub const SOURCE: &str = "#include <stdint.h>
#define EXPORT(name, to, from)                                                                     \\
    static void rf_prime761_##name(to *c, from *a);                                                \\
    void sntrup761_##name(to *c, from *a) { rf_prime761_##name(c, a); }
EXPORT(mod3, int16_t, const int16_t)
EXPORT(times3_mod3, int16_t, const int16_t)
EXPORT(rounded_residues, uint16_t, const int16_t)
EXPORT(rounded_words, int16_t, const uint16_t)
EXPORT(residues, uint16_t, const int16_t)
EXPORT(words, int16_t, const uint16_t)
EXPORT(of_weight, int16_t, const int16_t)
EXPORT(rq_encode, uint8_t, const int16_t)
EXPORT(rounded_encode, uint8_t, const int16_t)
#include \"src/prime/mixed.c\"
#include \"src/prime/prime761.c\"
";

/// The rows of the page.
pub fn functions() -> Vec<Function> {
    let row = |name: &str, symbol: &str, out: &str, a: &str| {
        let keys = |keys: &str| format!("length = 761; {keys}");
        let arguments = [argument("c", "output", &keys(out)), argument("a", "input", &keys(a))];
        (name.to_string(), format!("sntrup761_{symbol}"), map(&arguments))
    };
    let centred = "element = \"i16\"; range = [-2295, 2295]";
    let small = "element = \"i16\"; range = [-1, 1]";
    let residue = "element = \"u16\"; range = [0, 4590]";
    let third = "element = \"u16\"; range = [0, 1530]";
    let with = |keys: &str, formula: &str| format!("{keys}; formula = \"{formula}\"");
    vec![
        row("mod3: a cmod 3", "mod3", &with(small, "a cmod 3"), centred),
        row(
            "times3_mod3: (3 a cmod 4591) cmod 3",
            "times3_mod3",
            &with(small, "((3 * a) cmod 4591) cmod 3"),
            centred,
        ),
        row(
            "rounded_residues: Round, as residues of 1531",
            "rounded_residues",
            &with(third, "round(a / 3) + 765"),
            centred,
        ),
        row(
            "rounded_words: the rounded element of residues",
            "rounded_words",
            &with(centred, "3 * a - 2295"),
            third,
        ),
        (
            "sort_u32: 761 words in ascending order".into(),
            "sort_u32".into(),
            format!(
                "computes = \"sort\"\n{}{}",
                argument("x", "inout", "element = \"u32\"; length = 761; range = [0, 4294967295]"),
                argument("n", "number", "value = 761")
            ),
        ),
        row("residues: a as residues of 4591", "residues", &with(residue, "a + 2295"), centred),
        row(
            "of_weight: a, or if it has not 286 odd elements a fixed one",
            "of_weight",
            &with(small, "sum(a mod 2) == 286 ? a : index < 286"),
            small,
        ),
        row(
            "rq_encode: the bytes of a, as residues of 4591",
            "rq_encode",
            "element = \"u8\"; radix = 4591; formula = \"a + 2295\"",
            centred,
        ),
        row(
            "rounded_encode: the bytes of Round, as residues of 1531",
            "rounded_encode",
            "element = \"u8\"; radix = 1531; formula = \"round(a / 3) + 765\"",
            centred,
        ),
        row("words: the element of residues", "words", &with(centred, "a - 2295"), residue),
    ]
}
