//! Contracts: what is accepted, and where errors point.

use ringforge_contract::{Computes, Contract};

const GOOD: &str = r#"contract = 1
symbol = "mul"
abi = "sysv-x86-64"
ring = "Z17[x]/(x^2 - x - 1)"
computes = "product"
alias = [["c", "a"]]

[[argument]]
name = "c"
role = "output"
element = "i16"
length = 2
range = [-8, 8]

[[argument]]
name = "a"
role = "input"
element = "i16"
length = 2
align = 32
range = [-8, 8]

[[argument]]
name = "b"
role = "input"
element = "u16"
length = 2
range = [0, 16]
"#;

#[test]
fn a_contract_is_read_whole() {
    let c = Contract::parse(GOOD).unwrap();
    assert_eq!((c.symbol.as_str(), c.ring.q(), c.ring.degree()), ("mul", 17, 2));
    assert_eq!((c.alias.clone(), c.output(), c.inputs()), (vec![(0, 1)], 0, vec![1, 2]));
    assert_eq!(c.arguments[1].align, 32);
    assert_eq!(c.arguments[2].align, 2);
    assert_eq!(c.arguments[2].range, (0, 16));
}

#[test]
fn a_batch_is_read_and_claimed() {
    let batch = |text: &str, n| {
        text.replace("alias", &format!("batch = {n}\nalias")).replace("length = 2", "length = 6")
    };
    let c = Contract::parse(&batch(GOOD, 3)).unwrap();
    assert_eq!((c.batch, c.outputs(), c.lengths()), (3, 6, vec![6, 6]));
    let claims = ringforge_contract::claims::claims(&c);
    let claimed =
        "for each of 3 elements of the ring by itself, which begin 2 apart in every array";
    assert!(claims[0].contains(claimed), "{claims:?}");
    // Three products in a row; the second is that of the second elements.
    let product =
        ringforge_contract::expected(&c, &[vec![1, 0, 0, 1, 5, 5], vec![0, 0, 0, 1, 1, 0]]);
    assert_eq!(product, [0, 0, 1, 1, 5, 5]);
    for (text, what) in [
        (batch(GOOD, 0), "from 1 to 64"),
        (batch(GOOD, 65), "from 1 to 64"),
        (batch(GOOD, 2), "and there are 2 of them"),
        (batch(GOOD, 1), "the ring's elements have 2"),
        (GIVEN.replace("pairs = 3", "pairs = 3\nbatch = 2"), "keep one of them"),
    ] {
        let e = Contract::parse(&text).unwrap_err();
        assert!(e.message.contains(what), "{e}");
    }
    let long = GOOD.replace("(x^2 - x - 1)", "(x^1024 + 1)").replace("alias", "batch = 33\nalias");
    assert!(Contract::parse(&long).unwrap_err().message.contains("proofs go up to 32768"));
}

#[test]
fn errors_name_line_column_and_remedy() {
    let cases = [
        ("contract = 1", "contract = 2", 1, 12, "contract = 1"),
        ("Z17[x]/(x^2 - x - 1)", "Z17[x]/(x^2 - x - ", 4, 27, "expected"),
        ("Z17[", "Z131072[", 4, 8, "powers of two up to 2^16"),
        ("Z17[", "Z2147483659[", 4, 8, "q below 2^31"),
        ("\"product\"", "\"sum\"", 5, 12, "known are \"product\", \"forward\""),
        ("\"product\"", "\"equals\"\nreturns = 1", 5, 12, "known are \"product\", \"forward\""),
        ("\"product\"", "\"equal\"\nreturns = 1", 5, 12, "has no ring, and `prove` alone reads"),
        ("\"sysv-x86-64\"", "\"vectorcall\"", 3, 7, "sysv-x86-64"),
        ("[\"c\", \"a\"]", "[\"c\", \"d\"]", 6, 10, "no argument is called `d`"),
        ("[\"c\", \"a\"]", "[\"b\", \"a\"]", 6, 10, "an output with an input"),
        (
            "role = \"output\"",
            "role = \"inout\"",
            8,
            1,
            "no output and one input; this contract has 0 and 2",
        ),
        ("element = \"u16\"", "element = \"u17\"", 26, 11, "u16"),
        ("align = 32", "align = 3", 20, 9, "power of two"),
        ("align = 32", "aligned = 32", 20, 1, "expected one of"),
        ("range = [0, 16]", "range = [16, 0]", 28, 9, "is empty"),
        ("range = [0, 16]", "range = [-1, 16]", 28, 9, "exceeds"),
        ("length = 2\nrange = [0", "length = 3\nrange = [0", 27, 10, "the ring's elements have 2"),
        ("name = \"b\"", "name = \"a\"", 24, 8, "two arguments"),
        ("role = \"output\"", "role = \"input\"", 8, 1, "one output and two inputs"),
    ];
    for (from, to, line, col, what) in cases {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        let e = Contract::parse(&text).unwrap_err();
        assert!(e.message.contains(what), "{to}: {e}");
        assert_eq!((e.line, e.col), (line, col), "{to}: {e}");
    }
}

const LEAVES: &str = r#"contract = 1
symbol = "acc"
abi = "sysv-x86-64"
ring = "Z8380417[x]/(x^4 + 1)"
computes = "accumulate"
scale = 5
alias = [["c", "a"]]

[transform]
degree = 2
weights = [4808194, 3572223]
order = [0, 2, 1, 3]

[[argument]]
name = "c"
role = "inout"
element = "i32"
length = 4
range = [-9, 8]

[[argument]]
name = "a"
role = "input"
element = "i32"
length = 4
range = [-8, 8]

[[argument]]
name = "b"
role = "input"
element = "i32"
length = 4
range = [-8, 8]
"#;

#[test]
fn a_transform_is_read_whole() {
    let c = Contract::parse(LEAVES).unwrap();
    assert_eq!(c.computes, Computes::Accumulate { scale: 5 });
    assert_eq!((c.output(), c.inputs()), (0, vec![0, 1, 2]));
    let t = c.transform.unwrap();
    assert_eq!((t.degree, t.weights, t.order), (2, vec![4808194, 3572223], vec![0, 2, 1, 3]));
    // Scale and order may be left out.
    let text = LEAVES.replace("scale = 5\n", "").replace("order = [0, 2, 1, 3]\n", "");
    let c = Contract::parse(&text).unwrap();
    assert_eq!(c.computes, Computes::Accumulate { scale: 1 });
    assert_eq!(c.transform.unwrap().order, [0, 1, 2, 3]);
}

#[test]
fn every_kind_is_read() {
    for (at, name) in Computes::NAMES.into_iter().enumerate() {
        let mut text = LEAVES.replace("accumulate", name);
        if !matches!(at, 1..=4 | 7) {
            text = text.replace("scale = 5\n", "");
        }
        if at != 4 {
            text = text.replace("inout", "output");
        }
        if matches!(at, 1 | 2 | 5..=7) {
            text.truncate(text.find("[[argument]]\nname = \"b\"").unwrap());
        }
        if matches!(at, 0 | 7) {
            let (from, to) = (text.find("[transform]").unwrap(), text.find("[[arg").unwrap());
            text.replace_range(from..to, "");
        }
        let c = Contract::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(c.computes.name(), name);
        assert_eq!(c.computes.scale(), matches!(at, 1..=4 | 7).then_some(5));
        assert_eq!(c.transform.is_some(), !matches!(at, 0 | 7));
    }
}

#[test]
fn errors_of_transforms_name_line_column_and_remedy() {
    let cases = [
        ("scale = 5", "scale = 0", 6, 9, "from 1 to 8380416"),
        ("scale = 5", "scale = 8380417", 6, 9, "from 1 to 8380416"),
        ("scale = 5", "scale = -1", 6, 9, "from 1 to 8380416"),
        ("\"accumulate\"", "\"to-standard\"", 6, 9, "has no `scale`"),
        ("\"accumulate\"\nscale = 5", "\"product\"", 8, 1, "takes no [transform]"),
        ("degree = 2", "degree = 3", 10, 10, "a divisor of the ring's degree 4"),
        ("degree = 2", "degree = 0", 10, 10, "a divisor of the ring's degree 4"),
        ("degree = 2", "degree = 4", 11, 11, "has 1 leaves of degree 4"),
        ("degree = 2\n", "", 9, 1, "missing field `degree`"),
        ("4808194", "4808195", 11, 11, "its coefficient of x^0 is"),
        ("4808194", "3572223", 11, 11, "stands there twice"),
        ("4808194", "-3572223", 11, 12, "the weight -3572223"),
        ("4808194", "8380417", 11, 12, "from 0 to 8380416"),
        ("[0, 2, 1, 3]", "[0, 2, 1]", 12, 9, "4 are expected"),
        ("[0, 2, 1, 3]", "[0, 2, 2, 3]", 12, 16, "holds 2 twice"),
        ("[0, 2, 1, 3]", "[0, 2, 1, 4]", 12, 19, "from 0 to 3"),
        ("order =", "ordre =", 12, 1, "expected"),
        ("role = \"inout\"", "role = \"output\"", 14, 1, "one argument of role \"inout\""),
        ("role = \"input\"", "role = \"inout\"", 14, 1, "has 2 and 1"),
        ("\"accumulate\"", "\"base-product\"", 14, 1, "a base product in place has one argument"),
        ("range = [-8, 8]", "range = [9, 10]", 7, 10, "no value in common"),
        ("length = 4", "length = 8", 18, 10, "the ring's elements have 4"),
    ];
    for (from, to, line, col, what) in cases {
        let text = LEAVES.replacen(from, to, 1);
        assert_ne!(text, LEAVES, "{from}");
        let e = Contract::parse(&text).unwrap_err();
        assert!(e.message.contains(what), "{to}: {e}");
        assert_eq!((e.line, e.col), (line, col), "{to}: {e}");
    }
    let kinds = [
        ("forward", "\"forward\" has one output and one input; this contract has 1 and 2"),
        ("inverse", "\"inverse\" has one output and one input; this contract has 1 and 2"),
    ];
    for (kind, what) in kinds {
        let text = LEAVES.replace("accumulate", kind).replace("inout", "output");
        let e = Contract::parse(&text).unwrap_err();
        assert_eq!((e.line, e.col, e.message.as_str()), (14, 1, what));
    }
    // The argument of role inout comes first.
    let text = LEAVES.replacen("\"inout\"", "\"input\"", 1);
    let at = text.rfind("\"input\"").unwrap();
    let e = Contract::parse(&format!("{}\"inout\"{}", &text[..at], &text[at + 7..])).unwrap_err();
    assert_eq!((e.line, e.message.contains("comes first")), (28, true), "{e}");
    // Without the table.
    let (from, to) = (LEAVES.find("[transform]").unwrap(), LEAVES.find("[[arg").unwrap());
    let e = Contract::parse(&format!("{}{}", &LEAVES[..from], &LEAVES[to..])).unwrap_err();
    assert_eq!((e.line, e.col, e.message.contains("needs a table [transform]")), (5, 12, true));
}

/// An inner product with a table, a number and another object's data.
const GIVEN: &str = r#"contract = 1
symbol = "acc"
abi = "sysv-x86-64"
ring = "Z17[x]/(x^2 + 1)"
computes = "base-product"
pairs = 3

[transform]
degree = 1
weights = [4, 13]

[[argument]]
name = "c"
role = "output"
element = "i16"
length = 2
range = [-8, 8]

[[argument]]
name = "a"
role = "input"
element = "i16"
length = 6
range = [-8, 8]

[[argument]]
name = "b"
role = "input"
element = "i8"
length = 6
range = [-1, 1]

[[argument]]
name = "t"
role = "table"
element = "i16"
align = 32
values = [5, -3]

[[argument]]
name = "n"
role = "number"
value = -2

[[given]]
symbol = "other"
element = "u16"
values = [258, 7]
"#;

#[test]
fn tables_numbers_and_given_data_are_read() {
    let c = Contract::parse(GIVEN).unwrap();
    assert_eq!((c.pairs, c.output(), c.inputs(), c.lengths()), (3, 0, vec![1, 2], vec![6, 6]));
    assert_eq!((c.arguments[3].length, c.arguments[3].range), (2, (-3, 5)));
    assert_eq!(c.arguments[3].table_bytes(), [5, 0, 0xfd, 0xff]);
    assert_eq!(c.arguments[4].values, [-2]);
    assert_eq!(c.given[0].bytes(), [2, 1, 7, 0]);
    assert_eq!((c.given[0].symbol.as_str(), c.given[0].align), ("other", 2));
    let said = ringforge_contract::claims::assumptions(&c);
    for what in [
        "t points to [5, -3], aligned to 32 bytes",
        "n is -2 in all 64 bits",
        "`other` of another object holds [258, 7], 16 bits each, aligned to 2 bytes",
        "no two of c, a, b, t and `other` overlap",
    ] {
        assert!(said.iter().any(|s| s == what), "{what}: {said:?}");
    }
    let claims = ringforge_contract::claims::claims(&c);
    assert!(claims[0].contains("the sum of T(T^-1(a_i) * T^-1(b_i)) over i < 3"), "{claims:?}");
}

#[test]
fn errors_of_tables_numbers_and_pairs_name_line_column_and_remedy() {
    let cases = [
        ("pairs = 3", "pairs = 0", 6, 9, "from 1 to 64"),
        ("pairs = 3", "pairs = 65", 6, 9, "from 1 to 64"),
        ("pairs = 3", "pairs = 2", 23, 10, "and there are 2 of them"),
        ("pairs = 3\n", "", 22, 10, "the ring's elements have 2"),
        ("length = 2", "length = 6", 16, 10, "the ring's elements have 2"),
        ("[5, -3]", "[]", 38, 10, "at least one value"),
        ("[5, -3]", "[5, 32768]", 38, 14, "exceeds the element's"),
        ("values = [5, -3]\n", "", 33, 1, "missing `values`"),
        ("align = 32", "length = 3", 37, 10, "lists 2 values"),
        ("align = 32", "range = [0, 1]", 37, 9, "\"table\" has no `range`"),
        ("value = -2\n", "", 40, 1, "missing `value`"),
        ("value = -2", "value = -2\nlength = 1", 44, 10, "\"number\" has no `length`"),
        ("value = -2", "value = -2\nvalues = [1]", 44, 10, "\"number\" has no `values`"),
        ("range = [-1, 1]", "range = [-1, 1]\nexit = [0, 0]", 32, 8, "\"input\" has no `exit`"),
        ("range = [-1, 1]", "", 26, 1, "`b`: missing `range`"),
        ("element = \"i8\"\n", "", 26, 1, "`b`: missing `element`"),
        ("\"other\"", "\"\"", 46, 10, "the symbol is empty"),
        ("[258, 7]", "[65536]", 48, 11, "exceeds the element's"),
    ];
    for (from, to, line, col, what) in cases {
        let text = GIVEN.replacen(from, to, 1);
        assert_ne!(text, GIVEN, "{from}");
        let e = Contract::parse(&text).unwrap_err();
        assert!(e.message.contains(what), "{to}: {e}");
        assert_eq!((e.line, e.col), (line, col), "{to}: {e}");
    }
    let section = |keys: &str| Contract::parse(&format!("{GIVEN}\n[[given]]\n{keys}"));
    let c = section("section = \".data\"").unwrap();
    assert_eq!((c.given_sections, c.given.len()), (vec![".data".to_string()], 1));
    for (keys, what) in [
        ("section = \"\"", "the section is empty"),
        ("section = \".data\"\nsymbol = \"x\"", "leave the other keys out"),
        ("section = \".data\"\n[[given]]\nsection = \".data\"", "given twice"),
        ("element = \"i8\"\nvalues = [1]", "missing `symbol`"),
        ("symbol = \"x\"\nvalues = [1]", "missing `element`"),
        ("symbol = \"x\"\nelement = \"i8\"", "missing `values`"),
    ] {
        let e = section(keys).unwrap_err();
        assert!(e.message.contains(what), "{keys}: {e}");
    }
    let twice = format!("{GIVEN}\n[[given]]\nsymbol = \"other\"\nelement = \"u8\"\nvalues = [1]\n");
    assert!(Contract::parse(&twice).unwrap_err().message.contains("given twice"));
    let text = LEAVES.replace("accumulate", "forward").replace("scale = 5", "pairs = 1");
    assert!(Contract::parse(&text).unwrap_err().message.contains("has no `pairs`"));
}

#[test]
fn what_works_in_place_has_one_argument_for_operand_and_result() {
    let text = r#"contract = 1
symbol = "reduce"
abi = "sysv-x86-64"
ring = "Z17[x]/(x^2 + 1)"
computes = "scale"
scale = 4

[[argument]]
name = "r"
role = "inout"
element = "i16"
length = 2
range = [-99, 99]
exit = [-8, 8]
"#;
    let c = Contract::parse(text).unwrap();
    assert_eq!((c.output(), c.inputs()), (0, vec![0]));
    assert_eq!((c.arguments[0].range, c.arguments[0].exit), ((-99, 99), (-8, 8)));
    let claims = ringforge_contract::claims::claims(&c);
    assert_eq!(
        claims[..2],
        [
            "r at exit = 4 * (r at entry) modulo 17, element by element, for all inputs in range",
            "every element of r lies in [-8, 8] at exit"
        ]
    );
    let said = ringforge_contract::claims::assumptions(&c);
    assert_eq!(said, ["r[0..2] lie in [-99, 99] at entry, aligned to 2 bytes"]);
    // Without `exit` the interval is promised at both ends.
    let both = Contract::parse(&text.replace("exit = [-8, 8]\n", "")).unwrap();
    assert_eq!(both.arguments[0].exit, (-99, 99));
    // A second operand cannot be the first.
    let text = GOOD.replace("role = \"output\"", "role = \"inout\"").replacen(
        &GOOD[GOOD.find("[[argument]]\nname = \"a\"").unwrap()
            ..GOOD.find("[[argument]]\nname = \"b\"").unwrap()],
        "",
        1,
    );
    let e = Contract::parse(&text.replace("[\"c\", \"a\"]", "[\"c\", \"b\"]")).unwrap_err();
    assert!(e.message.contains("has its result in its operand"), "{e}");
    let c = Contract::parse(&text.replace("[\"c\", \"a\"]", "")).unwrap();
    assert_eq!(c.inputs(), [0, 1]);
}
