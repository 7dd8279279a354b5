//! ML-KEM's functions of single coefficients in `lib/src/mlkem/poly.c`, and its comparison of ciphertexts.

use super::{Function, argument, map};

/// The rows of the page.
pub fn functions() -> Vec<Function> {
    let ring = "length = 256";
    let word = "element = \"i16\"";
    let any = "range = [-32768, 32767]";
    let mut all = vec![
        (
            "freeze: a mod 3329, any a".to_string(),
            "mlkem_freeze".to_string(),
            map(&[argument(
                "a",
                "inout",
                &format!("{word}; {ring}; {any}; exit = [0, 3328]; formula = \"a mod 3329\""),
            )]),
        ),
        (
            "center: a cmod 3329".into(),
            "mlkem_center".into(),
            map(&[argument(
                "a",
                "inout",
                &format!(
                    "{word}; {ring}; range = [0, 3328]; exit = [-1664, 1664]; formula = \"a cmod 3329\""
                ),
            )]),
        ),
        (
            "add: a + b".into(),
            "mlkem_add".into(),
            map(&[
                argument(
                    "a",
                    "inout",
                    &format!(
                        "{word}; {ring}; range = [-16384, 16383]; exit = [-32768, 32766]; formula = \"a + b\""
                    ),
                ),
                argument("b", "input", &format!("{word}; {ring}; range = [-16384, 16383]")),
            ]),
        ),
        (
            "sub: a - b".into(),
            "mlkem_sub".into(),
            map(&[
                argument(
                    "a",
                    "inout",
                    &format!(
                        "{word}; {ring}; range = [-16384, 16383]; exit = [-32767, 32767]; formula = \"a - b\""
                    ),
                ),
                argument("b", "input", &format!("{word}; {ring}; range = [-16384, 16383]")),
            ]),
        ),
        (
            "encode: ByteEncode of 12 bits".into(),
            "mlkem_encode".into(),
            map(&[
                argument(
                    "out",
                    "output",
                    &format!(
                        "element = \"u8\"; bits = 12; {ring}; range = [0, 3328]; formula = \"a\""
                    ),
                ),
                argument("a", "input", &format!("{word}; {ring}; range = [0, 3328]")),
            ]),
        ),
        (
            "decode: ByteDecode of 12 bits".into(),
            "mlkem_decode".into(),
            map(&[
                argument(
                    "a",
                    "output",
                    &format!("{word}; {ring}; range = [0, 4095]; formula = \"in\""),
                ),
                argument(
                    "in",
                    "input",
                    &format!("element = \"u8\"; bits = 12; {ring}; range = [0, 4095]"),
                ),
            ]),
        ),
    ];
    for d in [1, 4, 5, 10, 11] {
        let fields = format!("element = \"u8\"; bits = {d}; {ring}; range = [0, {}]", (1 << d) - 1);
        let number = argument("d", "number", &format!("value = {d}"));
        let formula = format!("formula = \"round((a mod 3329) * 2^{d} / 3329) mod 2^{d}\"");
        all.push((
            format!("compress, d = {d}: ByteEncode of Compress, any a"),
            "mlkem_compress".into(),
            map(&[
                argument("out", "output", &format!("{fields}; {formula}")),
                argument("a", "input", &format!("{word}; {ring}; {any}")),
                number.clone(),
            ]),
        ));
        all.push((
            format!("decompress, d = {d}: Decompress of ByteDecode"),
            "mlkem_decompress".into(),
            map(&[
                argument(
                    "a",
                    "output",
                    &format!(
                        "{word}; {ring}; range = [0, 3328]; formula = \"round(in * 3329 / 2^{d})\""
                    ),
                ),
                argument("in", "input", &fields),
                number,
            ]),
        ));
    }
    let bytes = "element = \"u8\"; length = 1088; range = [0, 255]";
    all.push(("comparison of 1088 bytes".into(), "compare".into(), format!(
        "computes = \"equal\"\nreturns = {{ element = \"u32\", equal = 0, different = 4294967295 }}\n{}{}{}",
        argument("a", "input", bytes), argument("b", "input", bytes), argument("n", "number", "value = 1088"))));
    all
}
