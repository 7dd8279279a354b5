//! Chains with functions of single coefficients: what is known exactly, what modulo q, and what is refused.

use ringforge_contract::chain::{Callee, Chain};

const RING: &str = "Z17[x]/(x^4 + 1)";
const OTHER: &str = "Z3[x]/(x^4 + 1)";
const LAYOUT: &str = "transform = { degree = 2, weights = [4, 13], order = [0, 2, 1, 3] }";

/// A contract for each element: the output and the inputs, with keys that `;` separates.
fn map(symbol: &str, arguments: &[&str]) -> String {
    let mut text =
        format!("contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\ncomputes = \"map\"\n");
    for argument in arguments {
        text += &format!("[[argument]]\n{}\n", argument.replace("; ", "\n"));
    }
    text
}

/// An array of four words, or of packed fields.
fn array(name: &str, role: &str, range: &str, more: &str) -> String {
    let element = if more.contains("bits") { "u8" } else { "i16" };
    format!(
        "name = \"{name}\"; role = \"{role}\"; element = \"{element}\"; length = 4; range = {range}; {more}"
    )
}

fn product(symbol: &str, ring: &str, range: &str) -> String {
    let mut text = format!(
        "contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\nring = \"{ring}\"\ncomputes = \"product\"\n"
    );
    for (name, role) in [("c", "output"), ("a", "input"), ("b", "input")] {
        text += &format!("[[argument]]\n{}\n", array(name, role, range, "").replace("; ", "\n"));
    }
    text
}

fn read(file: &str) -> Result<Callee, String> {
    let one = |name: &str, of: &str, to: &str, formula: &str| {
        let out = array("out", "output", to, &format!("formula = \"{formula}\""));
        let text = map(name, &[&out, &array("a", "input", of, "")]);
        text.replacen("[[", "alias = [[\"out\", \"a\"]]\n[[", 1)
    };
    let text = match file {
        "mul" => product("mul", RING, "[-8, 8]"),
        "mul-canonical" => product("mul", RING, "[0, 16]"),
        "mul-wide" => product("mul", RING, "[-9, 9]"),
        "mul-cyclic" => product("mul", "Z17[x]/(x^4 - 1)", "[0, 16]"),
        "pointwise" => map(
            "pointwise",
            &[
                &array("out", "output", "[0, 8]", "formula = \"floor(a * b mod 17 mod 17 / 2)\""),
                &array("a", "input", "[0, 16]", ""),
                &array("b", "input", "[0, 16]", ""),
            ],
        ),
        "minus" => map(
            "minus",
            &[
                &array("r", "inout", "[0, 16]", "exit = [-16, 16]; formula = \"r - b\""),
                &array("b", "input", "[0, 16]", ""),
            ],
        ),
        "weight" => one("weight", "[-9, 9]", "[0, 4]", "sum(a mod 2)"),
        "place" => one("place", "[-9, 9]", "[-9, 12]", "a + index"),
        "digits" => {
            let out = "name = \"out\"; role = \"output\"; element = \"u8\"; radix = 9; length = 4; formula = \"a\"";
            map("digits", &[out, &array("a", "input", "[0, 8]", "")])
        }
        "square" => one("square", "[-9, 9]", "[-9, 9]", "a * a + a"),
        "add" => {
            let arguments = ["c inout [-8, 8]", "a input [-8, 0]", "b input [-8, 8]"].map(|a| {
                let [name, role, range] = *a.splitn(3, ' ').collect::<Vec<_>>() else { panic!() };
                format!("[[argument]]\n{}\n", array(name, role, range, "").replace("; ", "\n"))
            });
            format!(
                "contract = 1\nsymbol = \"add\"\nabi = \"sysv-x86-64\"\nring = \"{RING}\"\ncomputes = \"accumulate\"\nalias = [[\"c\", \"a\"]]\n{LAYOUT}\n{}",
                arguments.concat()
            )
        }
        "forward-plus" => {
            let argument = array("r", "inout", "[-8, 8]", "").replace("; ", "\n");
            format!(
                "contract = 1\nsymbol = \"plus\"\nabi = \"sysv-x86-64\"\nring = \"Z97[x]/(x^4 - 17x^2 + 52)\"\ncomputes = \"forward\"\n{LAYOUT}\n[[argument]]\n{argument}\n"
            )
        }
        "mul3" => product("mul3", OTHER, "[-1, 1]"),
        "round" => one("round", "[-9, 9]", "[0, 1]", "round((a mod 17) * 2 / 17) mod 2"),
        "half" => one("half", "[-9, 16]", "[-5, 8]", "floor(a / 2)"),
        "halve" => one("half", "[0, 16]", "[0, 8]", "floor(a / 2)"),
        "center" => one("center", "[-30, 30]", "[-8, 8]", "a cmod 17"),
        "small" => one("small", "[-8, 8]", "[-1, 1]", "a cmod 3"),
        "identity" => one("identity", "[-9, 9]", "[-9, 9]", "a"),
        "plus-one" => one("plus_one", "[-9, 9]", "[-8, 10]", "a + 1"),
        "reduce" => map(
            "reduce",
            &[&array("r", "inout", "[-100, 100]", "exit = [-9, 9]; formula = \"r\"; modulo = 17")],
        ),
        "reduce-by-34" => map(
            "reduce",
            &[&array(
                "r",
                "inout",
                "[-100, 100]",
                "exit = [-18, 18]; formula = \"r\"; modulo = 34",
            )],
        ),
        "reduce-by-5" => map(
            "reduce",
            &[&array("r", "inout", "[-100, 100]", "exit = [-9, 9]; formula = \"r\"; modulo = 5")],
        ),
        "sub" => map(
            "sub",
            &[
                &array("r", "inout", "[-30, 30]", "exit = [-60, 60]; formula = \"r - 3 * b\""),
                &array("b", "input", "[-10, 10]", ""),
            ],
        ),
        "both" => map(
            "both",
            &[
                &array("hi", "output", "[-8, 8]", "formula = \"floor(a / 4)\""),
                &array("lo", "output", "[0, 3]", "formula = \"a mod 4\""),
                &array("a", "input", "[-9, 9]", ""),
            ],
        ),
        "unpack" => map(
            "unpack",
            &[
                &array("out", "output", "[0, 3]", "formula = \"in\""),
                &array("in", "input", "[0, 3]", "bits = 2"),
                "name = \"d\"; role = \"number\"; value = 2",
            ],
        ),
        "any" => map(
            "any",
            &[
                &array("out", "output", "[-10, 10]", "formula = \"d ? a : 0\""),
                &array("a", "input", "[-8, 8]", ""),
                "name = \"d\"; role = \"number\"; range = [0, 1]",
            ],
        ),
        "long" => map(
            "long",
            &[
                &array("out", "output", "[-8, 8]", "formula = \"a\"").replace("= 4", "= 6"),
                &array("a", "input", "[-8, 8]", "").replace("= 4", "= 6"),
            ],
        ),
        "mul-batch" => product("mul", RING, "[-8, 8]")
            .replace("length = 4", "length = 8")
            .replacen("[[", "batch = 2\n[[", 1),
        "forward" => {
            let argument = array("r", "inout", "[-8, 8]", "exit = [-8, 8]").replace("; ", "\n");
            format!(
                "contract = 1\nsymbol = \"forward\"\nabi = \"sysv-x86-64\"\nring = \"{RING}\"\ncomputes = \"forward\"\n{LAYOUT}\n[[argument]]\n{argument}\n"
            )
        }
        _ => return Err(format!("no file {file}")),
    };
    Callee::parse(&text).map_err(|e| e.to_string())
}

/// `name: key; key` for inputs, definitions and outputs; `contract argument=array …` for steps.
fn text(inputs: &[&str], defined: &[&str], steps: &[&str], outputs: &[&str]) -> String {
    let mut text = "chain = 1\n".to_string();
    for (kind, lines) in [("input", inputs), ("define", defined), ("output", outputs)] {
        for line in lines {
            let (name, keys) = line.split_once(": ").expect("a name");
            text += &format!("[[{kind}]]\nname = \"{name}\"\n{}\n", keys.replace("; ", "\n"));
        }
    }
    for step in steps {
        let mut words = step.split(' ');
        let file = words.next().expect("a contract");
        let given: Vec<String> = words
            .map(|word| word.split_once('=').map(|(x, y)| format!("{x} = \"{y}\"")).expect("="))
            .collect();
        text +=
            &format!("[[step]]\ncontract = \"{file}\"\narguments = {{ {} }}\n", given.join(", "));
    }
    text
}

const AB: [&str; 2] =
    ["a: element = \"i16\"; range = [-8, 8]", "b: element = \"i16\"; range = [-8, 8]"];

fn fits(inputs: &[&str], defined: &[&str], steps: &[&str], outputs: &[&str]) -> Chain {
    Chain::parse(&text(inputs, defined, steps, outputs), read).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn wrong(defined: &[&str], steps: &[&str], outputs: &[&str], says: &str) {
    let error = Chain::parse(&text(&AB, defined, steps, outputs), read).expect_err(says);
    assert!(error.message.contains(says), "{error}");
}

const MUL: &str = "mul c=c a=a b=b";
const W: &str = "w: computes = \"a * b\"";

#[test]
fn a_product_that_is_rounded() {
    let steps = [MUL, "round a=c out=m"];
    let said = fits(
        &AB,
        &[W],
        &steps,
        &["m: each = \"round((w mod 17) * 2 / 17) mod 2\"; range = [0, 1]"],
    );
    assert!(said.claims.iter().any(|c| c == "where w = a * b"), "{:?}", said.claims);
    // The same function by another formula; equal residues are one.
    let other = "m: each = \"(w cmod 17 > 4) + (w cmod 17 < -4)\"; range = [0, 1]";
    fits(&AB, &[W], &steps, &[other]);
    fits(&AB, &["w: computes = \"18 * b * a\""], &steps, &[other]);
    fits(
        &AB,
        &["w: computes = \"2 * a * b\""],
        &steps,
        &[&other.replace("w cmod 17", "(9 * w) cmod 17")],
    );
    let third = other.replace("4)", "5)");
    wrong(&[W], &steps, &[&third], "((a * b) mod 17) = 5 it is 1, not 0");
    wrong(&["w: computes = \"a * a\""], &steps, &[other], "it is (floor(");
    wrong(&[W], &steps, &["m: each = \"w\"; range = [0, 1]"], "take its remainder");
    wrong(&[W], &steps, &["m: computes = \"a * b\"; range = [0, 1]"], "is ((floor(");
    wrong(&[W], &steps, &["m: each = \"0\"; range = [0, 0]"], "it is (floor(");
}

#[test]
fn what_is_exact_is_so_by_its_range() {
    // In [-8, 8], a residue is one integer; in [-9, 9] it may be either of two.
    let half = "c: each = \"floor((w cmod 17) / 2)\"; range = [-5, 8]";
    fits(&AB, &[W], &[MUL, "half a=c out=c"], &[half]);
    wrong(&[W], &["mul-wide c=c a=a b=b", "half a=c out=c"], &[half], "is not known well enough");
    wrong(
        &[W],
        &["mul-wide c=c a=a b=b"],
        &["c: each = \"w cmod 17\"; range = [-9, 9]"],
        "known modulo q alone",
    );
    fits(
        &AB,
        &[W],
        &["mul-wide c=c a=a b=b", "center a=c out=c"],
        &["c: each = \"w cmod 17\"; range = [-8, 8]"],
    );
    // A canonical product, and what is neither centred nor canonical.
    let inputs = AB.map(|i| i.replace("[-8, 8]", "[0, 16]"));
    let inputs = [inputs[0].as_str(), inputs[1].as_str()];
    let canonical = ["mul-canonical c=c a=a b=b", "half a=c out=c"];
    fits(&inputs, &[W], &canonical, &["c: each = \"floor((w mod 17) / 2)\"; range = [-5, 8]"]);
    let e =
        Chain::parse(&text(&inputs, &[W], &canonical, &[half]), read).expect_err("another half");
    assert!(e.message.contains("it is 4, not -4"), "{e}");
    let moved = [MUL, "plus-one a=c out=c"];
    fits(&AB, &[W], &moved, &["c: each = \"w cmod 17 + 1\"; range = [-8, 10]"]);
    wrong(
        &[W],
        &moved,
        &["c: each = \"(w + 1) cmod 17\"; range = [-8, 10]"],
        "it is ((((a * b) mod 17) cmod 17) + 1), not",
    );
    wrong(&[W], &moved, &["c: each = \"w cmod 17\"; range = [-8, 10]"], "not");
}

#[test]
fn congruences_are_sums_in_the_ring() {
    let reduced = [MUL, "sub r=a b=b", "reduce r=a"];
    fits(&AB, &[], &reduced, &["a: computes = \"a - 3 * b\"; range = [-9, 9]"]);
    fits(&AB, &[], &reduced[..2], &["a: each = \"a - 3 * b\"; range = [-60, 60]"]);
    wrong(&[], &reduced, &["a: computes = \"a - 2 * b\"; range = [-9, 9]"], "is a - 3 * b, not");
    wrong(&[], &reduced, &["a: each = \"a - 3 * b\"; range = [-9, 9]"], "known modulo q alone");
    fits(
        &AB,
        &[],
        &[MUL, "sub r=a b=b", "reduce-by-34 r=a"],
        &["a: computes = \"a - 3 * b\"; range = [-18, 18]"],
    );
    wrong(
        &[],
        &[MUL, "reduce-by-5 r=c"],
        &["c: computes = \"a\"; range = [-9, 9]"],
        "not known well enough",
    );
    // What is added to each coefficient is a polynomial of its own.
    let one = ["one: each = \"1\"", "w: computes = \"a * b + one\""];
    fits(&AB, &one, &[MUL, "plus-one a=c out=c"], &["c: computes = \"w\"; range = [-8, 10]"]);
    wrong(
        &[W],
        &[MUL, "plus-one a=c out=c"],
        &["c: computes = \"w\"; range = [-8, 10]"],
        "is (1) + a * b, not a * b",
    );
    // A product with what an earlier function made of an input.
    let digits = ["hi: each = \"floor(a / 4)\"", "lo: each = \"a mod 4\""];
    let steps = [MUL, "both a=a hi=h lo=l", "mul c=c a=h b=l"];
    fits(&AB, &digits, &steps, &["c: computes = \"hi * lo\"; range = [-8, 8]"]);
    fits(
        &AB,
        &[],
        &steps[..2],
        &["h: each = \"floor(a / 4)\"; range = [-8, 8]", "l: each = \"a mod 4\"; range = [0, 3]"],
    );
    wrong(
        &digits,
        &steps,
        &["c: computes = \"hi * hi\"; range = [-8, 8]"],
        "is hi * lo, not hi * hi",
    );
    wrong(
        &digits,
        &steps,
        &["c: computes = \"4 * hi * lo + lo * lo\"; range = [-8, 8]"],
        "is hi * lo",
    );
}

#[test]
fn rings_of_one_degree() {
    let steps = [MUL, "small a=c out=s", "mul3 c=t a=s b=b"];
    let inputs = [AB[0], "b: element = \"i16\"; range = [-1, 1]"];
    let defined = [
        &*format!("w: computes = \"a * b\"; ring = \"{RING}\""),
        "e: each = \"(w cmod 17) cmod 3\"",
    ];
    let output = format!("t: computes = \"e * b\"; ring = \"{OTHER}\"; range = [-1, 1]");
    fits(&inputs, &defined, &steps, &[&output]);
    let refuse = |from: &str, to: &str, says: &str| {
        let text = text(&inputs, &defined, &steps, &[&output]);
        assert!(text.contains(from), "{from}");
        let error = Chain::parse(&text.replace(from, to), read).expect_err(says);
        assert!(error.message.contains(says), "{error}");
    };
    // a b modulo 17 is no element modulo 3, and without its remainder e is another function.
    refuse("e * b", "w * b", "`w` is no element of Z3");
    refuse("e * b", "a * b * b", "not a * b * b");
    refuse("(w cmod 17) cmod 3", "(w mod 17) cmod 3", "not");
    refuse(&format!("ring = \"{OTHER}\""), "", "in which ring?");
    refuse(
        &format!("ring = \"{OTHER}\""),
        "ring = \"Z5[x]/(x^4 + 1)\"",
        "no step's contract has this ring",
    );
}

#[test]
fn packed_fields_and_numbers() {
    let inputs = ["p: element = \"u8\"; bits = 2; elements = 3; range = [0, 3]", AB[1]];
    let steps = ["unpack out=x in=p[2]", "mul c=c a=x b=b"];
    let said = fits(&inputs, &[], &steps, &["c: computes = \"p[2] * b\"; range = [-8, 8]"]);
    let packed = "its fields of 2 bits, side by side in bytes, lie in [0, 3]";
    assert!(said.assumptions.iter().any(|a| a.contains(packed)), "{:?}", said.assumptions);
    fits(&inputs, &[], &steps, &["x: each = \"p[2]\"; range = [0, 3]"]);
    wrong(
        &[],
        &[MUL, "unpack out=x in=a"],
        &["x: each = \"a\"; range = [0, 3]"],
        "packed fields of 2 bits",
    );
    let bits = |keys: &str, says: &str| {
        let inputs = [&*format!("p: {keys}"), AB[1]];
        let text = text(&inputs, &[], &steps, &["c: computes = \"p[2] * b\"; range = [-8, 8]"]);
        let error = Chain::parse(&text, read).expect_err(says);
        assert!(error.message.contains(says), "{error}");
    };
    bits(
        "element = \"i16\"; bits = 2; elements = 3; range = [0, 3]",
        "`element = \"u8\"` is expected",
    );
    bits("element = \"u8\"; bits = 2; elements = 3; range = [0, 4]", "exceeds 2 bits");
    bits("element = \"u8\"; bits = 8; elements = 3; range = [0, 3]", "none for 8");
    bits("element = \"u8\"; bits = 2; elements = 2; range = [0, 3]", "this would be number 2");
    wrong(
        &[],
        &["any out=x a=a"],
        &["x: each = \"a\"; range = [-10, 10]"],
        "takes any number as `d`",
    );
    for (function, says) in [
        ("weight", "`sum` or `index`"),
        ("place", "`sum` or `index`"),
        ("digits", "encodes digits"),
    ] {
        let step = format!("{function} out=x a=a");
        wrong(&[], &[&step], &["x: each = \"a\"; range = [-10, 10]"], says);
    }
    wrong(
        &[],
        &["mul-batch c=x a=a b=b"],
        &["x: each = \"a\"; range = [-10, 10]"],
        "several elements at once",
    );
    wrong(
        &[],
        &[MUL, "long out=x a=a"],
        &["x: each = \"a\"; range = [-8, 8]"],
        "`out` has 6 coefficients",
    );
}

#[test]
fn several_elements_and_definitions() {
    let inputs = ["a: element = \"i16\"; elements = 2; range = [-8, 8]", AB[1]];
    let steps =
        ["half a=a out=h", "half a=a[1] out=h[1]", "mul c=c a=h b=b", "mul c=c[1] a=h[1] b=b"];
    let defined = ["d: elements = 2; each = \"floor(a / 2)\""];
    fits(&inputs, &defined, &steps, &["h: elements = 2; each = \"floor(a / 2)\"; range = [-5, 8]"]);
    fits(
        &inputs,
        &defined,
        &steps,
        &[
            "c: computes = \"d * b\"; range = [-8, 8]",
            "c[1]: computes = \"d[1] * b\"; range = [-8, 8]",
        ],
    );
    fits(&inputs, &defined, &steps, &["h[1]: each = \"floor(a[1] / 2)\"; range = [-5, 8]"]);
    let refuse = |defined: &[&str], output: &str, says: &str| {
        let error = Chain::parse(&text(&inputs, defined, &steps, &[output]), read).expect_err(says);
        assert!(error.message.contains(says), "{error}");
    };
    refuse(&defined, "c: computes = \"d[1] * b\"; range = [-8, 8]", "is b * d, not b * d[1]");
    refuse(&defined, "c: computes = \"d[2] * b\"; range = [-8, 8]", "`d` has 2 elements: 0 to 1");
    refuse(&defined, "h[1]: each = \"floor(a / 2)\"; range = [-5, 8]", "not");
    refuse(
        &defined,
        "h[1]: elements = 2; each = \"floor(a[1] / 2)\"; range = [-5, 8]",
        "nothing was written to `h[2]`",
    );
    refuse(&["a: each = \"0\""], "h: each = \"0\"; range = [-5, 8]", "two things are called `a`");
    refuse(
        &["d: each = \"b\"; computes = \"b\""],
        "h: each = \"0\"; range = [-5, 8]",
        "two claims",
    );
    refuse(&["d: elements = 2"], "h: each = \"0\"; range = [-5, 8]", "missing `computes`");
    refuse(&[], "h: each = \"q\"; range = [-5, 8]", "one of `a[0]`");
    refuse(&[], "h: range = [-5, 8]", "missing `computes`");
}

/// What a transform holds is no integer of the element that it is of.
#[test]
fn transforms_are_no_coefficients() {
    let inputs = ["t: element = \"i16\"; range = [-8, 8]; transform = \"forward\"", AB[1]];
    let steps = ["forward r=b", "small a=t out=s"];
    let refuse = |inputs: &[&str], output: &str, says: &str| {
        let error = Chain::parse(&text(inputs, &[], &steps, &[output]), read).expect_err(says);
        assert!(error.message.contains(says), "{error}");
    };
    refuse(&inputs, "s: each = \"t cmod 3\"; range = [-1, 1]", "`t` is a transform");
    refuse(&inputs, "s: computes = \"t\"; range = [-1, 1]", "not t");
    let sum = ["forward r=b", "sub r=t b=b", "sub r=a b=b"];
    let both = [inputs[0], inputs[1], AB[0]];
    fits(
        &both,
        &[],
        &sum[..2],
        &["t: computes = \"t - 3 * b\"; range = [-60, 60]; transform = \"forward\""],
    );
    let text = text(&both, &[], &sum, &["a: computes = \"a - 3 * b\"; range = [-60, 60]"]);
    assert!(Chain::parse(&text, read).is_err(), "a sum of a transform and of none");
    let standard = [&*format!("{}; order = \"standard\"", inputs[0]), inputs[1]];
    refuse(
        &standard,
        "t: computes = \"t\"; range = [-8, 8]; transform = \"forward\"",
        "in another order",
    );
    let lone = ["t: element = \"i16\"; range = [-8, 8]; order = \"standard\"", AB[1]];
    refuse(&lone, "t: each = \"t\"; range = [-8, 8]", "`order` belongs to `transform`");
}

/// Polynomials that no text names may be spelled alike: these are halves of three different products.
#[test]
fn names_are_of_one_polynomial() {
    let inputs = AB.map(|i| i.replace("[-8, 8]", "[0, 16]"));
    let inputs = [inputs[0].as_str(), inputs[1].as_str()];
    let difference = |second: &[&str]| {
        let first = ["mul-canonical c=x a=a b=b", "halve a=x out=h"];
        let last = ["mul-canonical c=p a=h b=b", "mul-canonical c=q a=i b=b", "minus r=p b=q"];
        let steps = [&first, second, &last].concat();
        let zero = format!("p: computes = \"0 * a\"; ring = \"{RING}\"; range = [-16, 16]");
        Chain::parse(&text(&inputs, &[], &steps, &[&zero]), read).map_err(|e| e.message)
    };
    let same = ["mul-canonical c=y a=b b=a", "halve a=y out=i"];
    assert!(difference(&same).is_ok(), "{:?}", difference(&same));
    for second in [&["mul-cyclic c=y a=a b=b", "halve a=y out=i"][..], &["pointwise a=a b=b out=i"]]
    {
        let message = difference(second).expect_err("another half");
        assert!(message.contains("/ 2))[0] * b - (floor("), "{message}");
    }
}

/// A name without an index is that element which has the claim's number, in a ring as by coefficient.
#[test]
fn names_without_an_index() {
    let inputs = ["a: element = \"i16\"; elements = 2; range = [-8, 8]", AB[1]];
    let steps = ["mul c=c a=a b=b", "mul c=c[1] a=a[1] b=b"];
    let output = "c: elements = 2; computes = \"a * b\"; range = [-8, 8]";
    fits(&inputs, &[], &steps, &[output]);
    let defined = ["w: elements = 2; computes = \"a * b\""];
    fits(&inputs, &defined, &steps, &[&output.replace("a * b", "w")]);
    let refuse = |defined: &[&str], steps: &[&str], output: &str, says: &str| {
        let error = Chain::parse(&text(&inputs, defined, steps, &[output]), read).expect_err(says);
        assert!(error.message.contains(says), "{error}");
    };
    let first = ["mul c=c a=a b=b", "mul c=c[1] a=a b=b"];
    refuse(&[], &first, output, "is a * b, not a[1] * b");
    fits(&inputs, &[], &first, &[&output.replace("a *", "a[0] *")]);
    // Elements that are defined later count as well.
    let defined = ["d: each = \"a + 1\"", "e: elements = 2; each = \"d\"", "d[1]: each = \"a[1]\""];
    refuse(&defined, &steps, output, "expected a number");
    refuse(&["d: elements = 2; computes = \"d * b\""], &steps, output, "no input is called `d`");
}

/// T is the map of one ring, even if another has the same numbers.
#[test]
fn transforms_of_another_ring() {
    let output = "a: computes = \"a\"; ring = \"Z97[x]/(x^4 - 17x^2 + 52)\"; range = [-8, 8]";
    let steps = ["forward-plus r=a", "forward r=b"];
    fits(&AB, &[], &steps, &[&format!("{output}; transform = \"forward-plus\"")]);
    wrong(&[], &steps, &[&format!("{output}; transform = \"forward\"")], "in another ring");
}

/// What would take memory or time without end is refused, and errors in long strings are no accident.
#[test]
fn texts_without_measure() {
    let products: Vec<String> =
        (0..40).map(|i| format!("mul c=c{} a=c{i} b=c{i}", i + 1)).collect();
    let products: Vec<&str> =
        ["mul c=c0 a=a b=b"].into_iter().chain(products.iter().map(String::as_str)).collect();
    wrong(&[], &products, &["c1: computes = \"a\"; range = [-8, 8]"], "more than 64 factors");
    let squares = ["square a=a out=a"; 40];
    let of_c = "c: computes = \"a * b\"; range = [-8, 8]";
    wrong(&[], &[&[MUL], &squares[..]].concat(), &[of_c], "more parts than are followed");
    let define = |k: usize| format!("d{}: each = \"d{k} * d{k} - a\"", k + 1);
    let defined: Vec<String> = (0..40).map(define).collect();
    let defined: Vec<&str> =
        ["d0: each = \"a\""].into_iter().chain(defined.iter().map(String::as_str)).collect();
    wrong(&defined, &[MUL], &[of_c], "more parts than are followed");
    let long = "c: computes = \"\"\"\u{2003}!\"\"\"; range = [-8, 8]";
    wrong(&[], &[MUL], &[long], "expected an input");
}

/// Where an operand is what is added to, the proof takes the values that both may have.
#[test]
fn narrower_ranges_have_values_in_common() {
    let step = |ranges: &str| {
        let text = text(
            &AB,
            &[],
            &[MUL, "add c=x a=y b=c"],
            &["c: computes = \"a * b\"; range = [-8, 8]"],
        );
        let step = "[[step]]\ncontract = \"add\"\n";
        assert!(text.contains(step));
        Chain::parse(&text.replace(step, &format!("{step}ranges = {ranges}\n")), read)
            .expect_err("x")
            .message
    };
    assert!(step("{ b = [9, 9] }").contains("reads `x`"), "{}", step("{ b = [9, 9] }"));
    assert!(step("{ a = [9, 9] }").contains("no value in common"), "{}", step("{ a = [9, 9] }"));
}
