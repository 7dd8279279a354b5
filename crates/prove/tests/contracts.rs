//! Contracts: what is accepted, and where errors point.

use ringforge_prove::Contract;

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
        ("Z17[", "Z16[", 4, 8, "odd primes below 65536"),
        ("Z17[", "Z15[", 4, 8, "odd primes below 65536"),
        ("Z17[", "Z65537[", 4, 8, "odd primes below 65536"),
        ("\"product\"", "\"sum\"", 5, 12, "only \"product\""),
        ("\"sysv-x86-64\"", "\"win64\"", 3, 7, "sysv-x86-64"),
        ("[\"c\", \"a\"]", "[\"c\", \"d\"]", 6, 10, "no argument is called `d`"),
        ("[\"c\", \"a\"]", "[\"b\", \"a\"]", 6, 10, "an output with an input"),
        ("role = \"output\"", "role = \"inout\"", 10, 8, "expected"),
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
