//! Contracts: what is accepted, and where errors point.

use ringforge_prove::{Computes, Contract};

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
fn errors_name_line_column_and_remedy() {
    let cases = [
        ("contract = 1", "contract = 2", 1, 12, "contract = 1"),
        ("Z17[x]/(x^2 - x - 1)", "Z17[x]/(x^2 - x - ", 4, 27, "expected"),
        ("Z17[", "Z131072[", 4, 8, "powers of two up to 2^16"),
        ("Z17[", "Z2147483659[", 4, 8, "q below 2^31"),
        ("\"product\"", "\"sum\"", 5, 12, "known are \"product\", \"forward\""),
        ("\"sysv-x86-64\"", "\"win64\"", 3, 7, "sysv-x86-64"),
        ("[\"c\", \"a\"]", "[\"c\", \"d\"]", 6, 10, "no argument is called `d`"),
        ("[\"c\", \"a\"]", "[\"b\", \"a\"]", 6, 10, "an output with an input"),
        ("role = \"output\"", "role = \"inout\"", 8, 1, "only computes = \"accumulate\""),
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
        if !matches!(at, 1..=4) {
            text = text.replace("scale = 5\n", "");
        }
        if at != 4 {
            text = text.replace("inout", "output");
        }
        if matches!(at, 1 | 2 | 5 | 6) {
            text.truncate(text.find("[[argument]]\nname = \"b\"").unwrap());
        }
        if at == 0 {
            let (from, to) = (text.find("[transform]").unwrap(), text.find("[[arg").unwrap());
            text.replace_range(from..to, "");
        }
        let c = Contract::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(c.computes.name(), name);
        assert_eq!(c.computes.scale(), matches!(at, 1..=4).then_some(5));
        assert_eq!(c.transform.is_some(), at != 0);
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
        ("\"accumulate\"", "\"base-product\"", 14, 1, "a base product has an output"),
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
