//! Chains: what fits, what does not, and where errors point.

use ringforge_contract::chain::{Callee, Chain};
use std::fmt::Write as _;

const RING: &str = "Z17[x]/(x^4 + 1)";
const LAYOUT: &str = "degree = 2, weights = [4, 13]";

/// A contract: arguments are `name role element elements range [exit]`.
fn contract(symbol: &str, computes: &str, more: &str, arguments: &[&str]) -> String {
    let mut text = format!(
        "contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\nring = \"{RING}\"\ncomputes = \"{computes}\"\n{more}\n"
    );
    for argument in arguments {
        let words: Vec<&str> = argument.split(' ').collect();
        let [name, role, element, elements, range, rest @ ..] = words.as_slice() else {
            panic!("{argument}")
        };
        let length = 4 * elements.parse::<usize>().unwrap();
        let _ = writeln!(
            text,
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"{element}\"\nlength = {length}\nrange = {range}"
        );
        for line in rest {
            let _ = writeln!(text, "{}", line.replace('=', " = "));
        }
    }
    text
}

/// The contracts of a small library.
fn read(file: &str) -> Result<Callee, String> {
    let t = format!("transform = {{ {LAYOUT} }}");
    let ordered = |order: &str| format!("transform = {{ {LAYOUT}, order = {order} }}");
    let text = match file {
        "forward" => contract("forward", "forward", &t, &["r inout i16 1 [-8,8] exit=[-50,50]"]),
        "forward-wide" => {
            contract("forward", "forward", &t, &["r inout i16 1 [-50,50] exit=[-90,90]"])
        }
        "forward-elsewhere" => contract(
            "forward",
            "forward",
            &ordered("[0, 2, 1, 3]"),
            &["r inout i16 1 [-8,8] exit=[-50,50]"],
        ),
        "base" => contract(
            "base",
            "base-product",
            &format!("scale = 3\nalias = [[\"c\", \"a\"]]\n{t}"),
            &["c output i16 1 [-20,20]", "a input i16 1 [-50,50]", "b input i16 1 [-50,50]"],
        ),
        "base-in-either" => contract(
            "base",
            "base-product",
            &format!("scale = 3\nalias = [[\"c\", \"a\"], [\"c\", \"b\"]]\n{t}"),
            &["c output i16 1 [-20,20]", "a input i16 1 [-50,50]", "b input i16 1 [-50,50]"],
        ),
        "dot" => contract(
            "dot",
            "base-product",
            &format!("pairs = 2\n{t}"),
            &[
                "c output i16 1 [-20,20] align=16",
                "a input i16 2 [-50,50]",
                "b input i16 2 [-50,50]",
            ],
        ),
        "add-product" => contract(
            "add_product",
            "accumulate",
            &format!("scale = 16\n{t}"),
            &[
                "c inout i16 1 [-20,20] exit=[-40,40]",
                "a input i16 1 [-50,50]",
                "b input i16 1 [-50,50]",
            ],
        ),
        "inverse" => contract(
            "inverse",
            "inverse",
            &format!("scale = 6\n{t}"),
            &["r inout i16 1 [-20,20] exit=[-8,8]"],
        ),
        "narrow-inverse" => {
            contract("inverse", "inverse", &t, &["r inout i16 1 [-19,20] exit=[-8,8]"])
        }
        "to-standard" => {
            contract("sorted", "to-standard", &ordered("[0, 2, 1, 3]"), &["r inout i16 1 [-50,50]"])
        }
        "from-standard" => contract(
            "mixed",
            "from-standard",
            &ordered("[0, 2, 1, 3]"),
            &["r inout i16 1 [-50,50]"],
        ),
        "bytes" => {
            contract("narrow", "scale", "", &["d output i8 1 [-8,8]", "s input i16 1 [-50,50]"])
        }
        "unsigned" => {
            contract("freeze", "scale", "", &["d output u16 1 [0,16]", "s input u16 1 [0,16]"])
        }
        "product" => contract(
            "mul",
            "product",
            "",
            &["c output i16 1 [-8,8]", "a input i16 1 [-8,8]", "b input i16 1 [-8,8]"],
        ),
        "table-one" | "table-two" => {
            let a = "a input i16 1 [-8,8]";
            let text =
                contract(&file.replace('-', "_"), "scale", "", &["c output i16 1 [-8,8]", a]);
            let last = if file == "table-one" { 3 } else { 4 };
            text + &format!(
                "[[given]]\nsymbol = \"zetas\"\nelement = \"i16\"\nvalues = [1, {last}]\n"
            )
        }
        "other-degree" => {
            let text = contract(
                "mul",
                "product",
                "",
                &["c output i16 1 [-8,8]", "a input i16 1 [-8,8]", "b input i16 1 [-8,8]"],
            );
            text.replace(RING, "Z17[x]/(x^2 - 2)").replace("length = 4", "length = 2")
        }
        "other-abi" => {
            let text = contract(
                "mul",
                "product",
                "",
                &["c output i16 1 [-8,8]", "a input i16 1 [-8,8]", "b input i16 1 [-8,8]"],
            );
            text.replace("sysv-x86-64", "aapcs64")
        }
        _ => return Err(format!("no file {file}")),
    };
    Callee::parse(&text).map_err(|e| e.to_string())
}

/// Inputs are `name element range [key=value]`, steps `contract argument=array …`, outputs `name range formula`.
fn text(inputs: &[&str], steps: &[&str], outputs: &[&str]) -> String {
    let mut text = "chain = 1\n".to_string();
    for input in inputs {
        let words: Vec<&str> = input.split(' ').collect();
        let _ = writeln!(
            text,
            "[[input]]\nname = \"{}\"\nelement = \"{}\"\nrange = {}",
            words[0], words[1], words[2]
        );
        for line in &words[3..] {
            let _ = writeln!(text, "{line}");
        }
    }
    for step in steps {
        let (file, arguments) = step.split_once(' ').unwrap();
        let given: Vec<String> = arguments
            .split(' ')
            .map(|a| a.split_once('=').map(|(x, y)| format!("{x} = \"{y}\"")).unwrap())
            .collect();
        let _ = writeln!(
            text,
            "[[step]]\ncontract = \"{file}\"\narguments = {{ {} }}",
            given.join(", ")
        );
    }
    for output in outputs {
        let words: Vec<&str> = output.splitn(3, ' ').collect();
        let (formula, transform) = words[2].split_once(" in ").unwrap_or((words[2], ""));
        let _ = writeln!(
            text,
            "[[output]]\nname = \"{}\"\nrange = {}\ncomputes = \"{formula}\"",
            words[0], words[1]
        );
        if !transform.is_empty() {
            let _ = writeln!(text, "transform = \"{transform}\"");
        }
    }
    text
}

fn fits(inputs: &[&str], steps: &[&str], outputs: &[&str]) -> Chain {
    Chain::parse(&text(inputs, steps, outputs), read).unwrap_or_else(|e| panic!("{e}"))
}

/// What is wrong, and the line of the text where it is.
fn wrong(inputs: &[&str], steps: &[&str], outputs: &[&str]) -> (String, String) {
    let text = text(inputs, steps, outputs);
    let error = Chain::parse(&text, read).expect_err("this chain does not fit");
    (error.message, text.lines().nth(error.line - 1).unwrap_or("").to_string())
}

/// Checks that the message has these words and the line of the text those.
#[track_caller]
fn says(what: (String, String), message: &str, line: &str) {
    assert!(what.0.contains(message), "{what:?}");
    assert!(what.1.contains(line), "{what:?}");
}

const AB: [&str; 2] = ["a i16 [-8,8]", "b i16 [-8,8]"];
const PRODUCT: [&str; 4] = ["forward r=a", "forward r=b", "base c=c a=a b=b", "inverse r=c"];

#[test]
fn a_product_by_transforms() {
    // 3·6 = 1 modulo 17.
    let chain = fits(&AB, &PRODUCT, &["c [-8,8] b * a"]);
    assert_eq!(
        chain.contracts.iter().map(|c| c.file.as_str()).collect::<Vec<_>>(),
        ["forward", "base", "inverse"]
    );
    assert!(
        chain.claims[0]
            .contains("forward(r = a), forward(r = b), base(a = a, b = b, c = c), inverse(r = c)")
    );
    assert!(
        chain.claims[1].starts_with("c at the end = b * a in Z17[x]/(x^4 + 1), in [-8, 8]"),
        "{:?}",
        chain.claims
    );
    for said in [
        "a is one element of Z17[x]/(x^4 + 1), and its words lie in [-8, 8] at the beginning",
        "c has room for one element of Z17[x]/(x^4 + 1)",
    ] {
        assert!(chain.assumptions.iter().any(|a| a == said), "{:?}", chain.assumptions);
    }
    // A wider range is a weaker claim; a square is a product; the result may replace an operand.
    fits(&AB, &PRODUCT, &["c [-9,100] a * b"]);
    fits(&AB, &["forward r=a", "base c=c a=a b=a", "inverse r=c"], &["c [-8,8] a * a"]);
    fits(
        &AB,
        &["forward r=a", "forward r=b", "base c=a a=a b=b", "inverse r=a"],
        &["a [-8,8] a * b"],
    );
}

#[test]
fn what_the_whole_computes() {
    for formula in ["a", "2 * a * b", "a * b + a", "a * a", "-a * b", "0 * a", "a * b * b"] {
        let output = format!("c [-8,8] {formula}");
        says(
            wrong(&AB, &PRODUCT, &[&output]),
            "`inverse` (step 4) left in `c` is a * b, not",
            "computes",
        );
    }
    // Coefficients count modulo q.
    fits(&AB, &PRODUCT, &["c [-8,8] 18 * a * b"]);
    fits(&AB, &PRODUCT, &["c [-8,8] a * b + a * a - a * a"]);
    let half = &PRODUCT[..3];
    says(
        wrong(&AB, half, &["c [-20,20] 3 * a * b"]),
        "is a transform: name the contract",
        "name = \"c\"",
    );
    fits(&AB, half, &["c [-20,20] 3 * a * b in base"]);
    fits(&AB, half, &["a [-50,50] a in forward"]);
    says(wrong(&AB, &PRODUCT, &["c [-8,8] a * b in base"]), "standard order: leave", "transform");
    says(
        wrong(&AB, &PRODUCT, &["c [-8,8] a * b in other"]),
        "no step has the contract `other`",
        "transform",
    );
    let mul = &["product c=c a=a b=b"];
    says(wrong(&AB, mul, &["c [-8,8] a * b in product"]), "has no [transform]", "transform");
    // The inputs are those of the beginning.
    fits(&AB, &["product c=c a=a b=b", "product c=a a=c b=b"], &["a [-8,8] a * b * b"]);
}

#[test]
fn ranges_that_do_not_meet() {
    let message = "the ranges do not match: what `base` (step 3) left in `c` lies in [-20, 20]; `inverse` (step 4) takes `r` in [-19, 20]";
    let steps = ["forward r=a", "forward r=b", "base c=c a=a b=b", "narrow-inverse r=c"];
    says(wrong(&AB, &steps, &["c [-8,8] 3 * a * b"]), message, "arguments = { r = \"c\" }");
    let wide = ["a i16 [-8,9]", "b i16 [-8,8]"];
    says(wrong(&wide, &PRODUCT, &["c [-8,8] a * b"]), "the input `a` lies in [-8, 9]", "r = \"a\"");
    says(wrong(&AB, &PRODUCT, &["c [-7,8] a * b"]), "lies in [-8, 8]", "range");
    says(wrong(&AB, &PRODUCT, &["c [-8,7] a * b"]), "lies in [-8, 8]", "range");
    // A signed word below zero is no unsigned one.
    says(
        wrong(&AB, &["unsigned d=c s=a"], &["c [0,16] a"]),
        "the ranges do not match",
        "s = \"a\"",
    );
    fits(&["a i16 [0,8]"], &["unsigned d=c s=a"], &["c [0,16] a"]);
}

#[test]
fn orders_that_do_not_meet() {
    says(
        wrong(&AB, &["forward r=a", "forward-wide r=a"], &["a [-90,90] a in forward"]),
        "is a transform with leaves of degree 2; `forward` (step 2) takes coefficients in the standard order",
        "r = \"a\"",
    );
    says(
        wrong(&AB, &["inverse r=a"], &["a [-8,8] a"]),
        "takes a transform with leaves of degree 2",
        "r = \"a\"",
    );
    let mixed = ["forward-elsewhere r=a", "forward r=b", "base c=c a=a b=b"];
    says(wrong(&AB, &mixed, &["c [-20,20] 3 * a * b in base"]), "in another order", "a = \"a\"");
    let sorted = ["forward-elsewhere r=a", "to-standard r=a", "forward r=b", "base c=c a=a b=b"];
    fits(&AB, &sorted, &["c [-20,20] 3 * a * b in base"]);
    says(
        wrong(&AB, &["forward r=a", "to-standard r=a"], &["a [-50,50] a in forward"]),
        "in another order",
        "r = \"a\"",
    );
    let back = ["forward r=a", "from-standard r=a"];
    fits(&AB, &back, &["a [-50,50] a in from-standard"]);
    says(wrong(&AB, &back, &["a [-50,50] a in forward"]), "in another order", "transform");
    // An input may be a transform from the beginning, and a conversion keeps the order.
    let given = ["a i16 [-8,8] transform=\"base\"", "b i16 [-8,8] transform=\"base\""];
    fits(&given, &["base c=c a=a b=b"], &["c [-20,20] 3 * a * b in base"]);
    fits(&given, &["bytes d=c s=a", "base c=e a=a b=b"], &["c [-8,8] a in base"]);
}

#[test]
fn sums_and_arrays_of_several_elements() {
    let two =
        ["a i16 [-8,8] elements=2 transform=\"dot\"", "b i16 [-8,8] elements=2 transform=\"dot\""];
    let chain = fits(&two, &["dot c=c a=a b=b"], &["c [-20,20] a[0] * b[0] + a[1] * b[1] in dot"]);
    assert!(
        chain.assumptions.iter().any(|a| a == "c is aligned to 16 bytes"),
        "{:?}",
        chain.assumptions
    );
    says(
        wrong(&two, &["dot c=c a=a b=b"], &["c [-20,20] a * b in dot"]),
        "is a[0] * b[0] + a[1] * b[1], not a * b",
        "computes",
    );
    says(wrong(&two, &["dot c=c a=a b=b"], &["c [-20,20] a[2] * b in dot"]), "0 to 1", "computes");
    // One function reads both, another each by itself; 16 = -1.
    let steps = ["dot c=c a=a b=b", "add-product c=c a=a[1] b=b[1]"];
    fits(&two, &steps, &["c [-40,40] a * b in dot"]);
    says(
        wrong(&two, &["dot c=c a=a[1] b=b"], &["c [-20,20] a in dot"]),
        "`a` has 2 elements, and this would be number 2",
        "a[1]",
    );
    // Nothing is written behind an input's end.
    says(
        wrong(&two, &["dot c=a[2] a=a b=b"], &["a[2] [-20,20] a * b in dot"]),
        "`a` has 2 elements, and this would be number 2",
        "a[2]",
    );
    // A sum that begins with an array of zeros; what may be 1 is no zero.
    let sum = ["add-product c=z a=a b=b"];
    let pair = two.map(|input| input.replace("\"dot\"", "\"add-product\""));
    let zero = [&*pair[0], &*pair[1], "z i16 [0,0] transform=\"add-product\""];
    fits(&zero, &sum, &["z [-40,40] -a * b in add-product"]);
    let one = [&*pair[0], &*pair[1], "z i16 [0,1] transform=\"add-product\""];
    says(wrong(&one, &sum, &["z [-40,40] -a * b in add-product"]), "-a * b + z, not", "computes");
    // 8 bytes into an array that is aligned to 16.
    says(
        wrong(&two, &["dot c=c[1] a=a b=b"], &["c[1] [-20,20] a in dot"]),
        "begins 8 bytes into `c`",
        "c[1]",
    );
    fits(&two, &["dot c=c[2] a=a b=b"], &["c[2] [-20,20] a * b + a[1] * b[1] in dot"]);
}

#[test]
fn calls_that_no_proof_executes() {
    // `base` allows c = a, but neither c = b nor all three to be one.
    let before = |last: &'static str| ["forward r=a", "forward r=b", last];
    says(
        wrong(&AB, &before("base c=b a=a b=b"), &["b [-20,20] a"]),
        "`c` and `b` may overlap",
        "b = \"b\"",
    );
    says(
        wrong(&AB, &before("base-in-either c=a a=a b=a"), &["a [-20,20] a"]),
        "while `c` and `a` are one",
        "b = \"a\"",
    );
    fits(&AB, &before("base-in-either c=b a=a b=b"), &["b [-20,20] 3 * a * b in forward"]);
    // Inputs that overlap in part, and an output in the middle of an input.
    let three = ["a i16 [-8,8] elements=3 transform=\"dot\""];
    says(
        wrong(&three, &["dot c=c a=a b=a[1]"], &["c [-20,20] a in dot"]),
        "`a` and `b` may overlap",
        "b = \"a[1]\"",
    );
    says(
        wrong(&three, &["dot c=a[2] a=a[1] b=a[1]"], &["c [-20,20] a in dot"]),
        "may overlap",
        "a = \"a[1]\"",
    );
    fits(&three, &["dot c=c a=a[1] b=a[1]"], &["c [-20,20] a[1] * a[1] + a[2] * a[2] in dot"]);
    fits(&three, &["dot c=a[2] a=a b=a"], &["a[2] [-20,20] a * a + a[1] * a[1] in dot"]);
}

#[test]
fn arguments_and_texts() {
    let out = &["c [-8,8] a * b"];
    says(wrong(&AB, &["product c=c a=a"], out), "which array is `b` of `mul`?", "[[step]]");
    says(wrong(&AB, &["product c=c a=a b=b d=a"], out), "no array called `d`", "d = \"a\"");
    says(wrong(&AB, &["product c=c a=x b=b"], out), "reads `x`, to which nothing was written", "x");
    says(wrong(&AB, &["product c=c a=a+b b=b"], out), "expected an array", "a+b");
    says(wrong(&AB, &["missing c=c a=a b=b"], out), "no file missing", "missing");
    says(
        wrong(&AB, &["product c=c a=a b=b", "other-degree c=d a=a b=b"], out),
        "rings of a chain have one degree",
        "other-degree",
    );
    let tables = ["table-one c=c a=a", "table-two c=d a=c"];
    says(wrong(&AB, &tables, &["d [-8,8] a"]), "`zetas` is given otherwise", "table-two");
    fits(&AB, &["table-one c=c a=a", "table-one c=d a=c"], &["d [-8,8] a"]);
    says(
        wrong(&AB, &["product c=c a=a b=b", "other-abi c=d a=a b=b"], out),
        "a chain has one",
        "other-abi",
    );
    says(
        wrong(&AB, &["bytes d=c s=a", "product c=c a=a b=b"], out),
        "words of 16 bits",
        "c = \"c\"",
    );
    says(
        wrong(&["a i8 [-8,8]", "b i16 [-8,8]"], &["product c=c a=a b=b"], out),
        "words of 16 bits",
        "a = \"a\"",
    );
    says(
        wrong(&["a i16 [-8,8]", "a i16 [-8,8]"], &["product c=c a=a b=a"], out),
        "two inputs",
        "name = \"a\"",
    );
    says(
        wrong(&["a i8 [-8,200]", "b i16 [-8,8]"], &["product c=c a=a b=b"], out),
        "exceeds",
        "range",
    );
    says(wrong(&["2a i16 [-8,8]"], &["product c=c a=a b=a"], out), "letters, digits", "2a");
    says(
        wrong(&["a i16 [-8,8] elements=0"], &["product c=c a=a b=a"], out),
        "1 to 1024",
        "elements",
    );
    says(
        wrong(&AB, &["product c=c a=a b=b"], &["d [-8,8] a * b"]),
        "nothing was written to `d`",
        "name = \"d\"",
    );
    says(wrong(&AB, &[], out), "missing field `step`", "");
    says(wrong(&AB, &["product c=c a=a b=b"], &[]), "missing field `output`", "");
    let good = text(&AB, &["product c=c a=a b=b"], out);
    assert!(Chain::parse(&good, read).is_ok());
    for (from, to) in
        [("chain = 1", "chain = 2"), ("[[input]]", "[[inputs]]"), ("computes", "compute")]
    {
        assert!(Chain::parse(&good.replace(from, to), read).is_err(), "{to}");
    }
}

#[test]
fn formulas_point_at_what_they_miss() {
    for (formula, column, message) in [
        ("a * ", 17, "expected an input"),
        ("a b", 15, "expected `*`"),
        ("a * d", 17, "no input is called `d`"),
        ("a[x]", 15, "number below"),
        ("a[0", 16, "expected `]`"),
        ("5", 14, "product with an input"),
        ("99999999999 * a", 13, "number below 2^31"),
        ("", 13, "expected an input"),
        ("a + + b", 17, "expected an input"),
    ] {
        let text = text(&AB, &["product c=c a=a b=b"], &[&format!("c [-8,8] {formula}")]);
        let error = Chain::parse(&text, read).expect_err(formula);
        assert!(error.message.contains(message), "{formula}: {error}");
        assert_eq!(error.col, column, "{formula}: {error}");
    }
}
