//! Plans that are refused: where, why, and what would work instead.

use ringforge_plan::{CatalogError, Operand, Plan, PlanError, RingFile};
use ringforge_targets::AVX2;

const MAIN: &str = "(substitute 16 (good-thomas 10 9 (good-thomas 5 2 (rader 5) (butterfly)) \
                    (cooley-tukey 3 3 (rader 3) (rader 3))) (weighted-convolution (toeplitz)))";

/// The refusal of a plan for sntrup761's ring with this tree.
fn refusal(tree: &str) -> PlanError {
    let text = format!("(plan p (ring \"Z4591[x]/(x^761 - x - 1)\")\n{tree})");
    Plan::parse(&text).expect_err(tree)
}

fn crt(n: usize, m: usize, main: &str) -> String {
    format!("(lift 1521 (monomial-crt {n} {m} (main {main}) (low (schoolbook))))")
}

/// The text that the refusal points at.
fn pointed(error: &PlanError) -> &str {
    let start = error.excerpt.char_indices().nth(error.col - 1).map_or(0, |(i, _)| i);
    error.excerpt[start..].split([' ', ')']).next().unwrap_or("")
}

#[test]
fn the_whole_message() {
    let error = refusal("(lift 1500 (schoolbook))");
    assert_eq!(
        error.to_string(),
        "2:7: a lift to 1500 is too short: the product of two operands of 761 coefficients has \
         degree 1520 and 1521 coefficients\n  |\n2 | (lift 1500 (schoolbook)))\n  |       ^\n  \
         = would work: (lift 1521 …) or more"
    );
    assert!(refusal("(lift 1520 (schoolbook))").message.starts_with("a lift to 1520 is too short"));
    assert!(Plan::parse("(plan p (ring \"Z17[x]/(x^2 + 1)\") (lift 3 (schoolbook)))").is_ok());
}

#[test]
fn conditions_on_degrees_and_roots() {
    let table: &[(String, &str, &str, Option<&str>)] = &[
        (
            crt(1440, 80, MAIN),
            "80",
            "the monomial factor x^80 is too small: (x^1440 - 1)·x^80 has degree 1520, but the \
             product has 1521 coefficients",
            Some("(monomial-crt 1440 81 …)"),
        ),
        (
            crt(1440, 81, MAIN).replace("9 (good", "10 (good"),
            "10",
            "good-thomas needs coprime lengths, but 10 and 10 share the factor 10",
            Some("coprime lengths such as 10 and 9; `cooley-tukey` takes any two"),
        ),
        (
            crt(1440, 81, MAIN).replace("10 9", "5 9"),
            "9",
            "5 × 9 = 45, but a transform of length 90 is needed here",
            Some("two coprime lengths whose product is 90"),
        ),
        (
            crt(1456, 65, MAIN),
            "(good-thomas",
            "x^1456 - 1 with x^16 = t needs a transform of length 91: no principal root of unity of \
             order 91 modulo 4591: 91 does not divide 4590 = 2 · 3^3 · 5 · 17; the nearest orders \
             that exist are 90 and 102",
            Some(
                "length 90, which is x^1440 - 1 with K = 16; length 102, which is x^1632 - 1 with K = 16",
            ),
        ),
        (
            crt(1440, 81, &MAIN.replace("substitute 16", "substitute 17")),
            "17",
            "x^17 = t does not fit x^1440 - 1: 17 does not divide 1440",
            Some(
                "K = 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 32, 36, 40, 45, 48, 60",
            ),
        ),
        (
            crt(1440, 81, &MAIN.replace("(toeplitz)", "(two-ntt (toeplitz))")),
            "(two-ntt",
            "the weight 3862 has no invertible square root mod 4591",
            Some("(if-square-root (two-ntt …) (karatsuba …)), or (karatsuba …)"),
        ),
        (
            MAIN.to_string(),
            "(substitute",
            "substitute needs a product mod x^n - 1, not one in Z4591[x]/(x^761 - x - 1)",
            Some("(lift 1521 (substitute …))"),
        ),
        (
            "(monomial-crt 1440 81 (main (schoolbook)) (low (schoolbook)))".to_string(),
            "(monomial-crt",
            "monomial-crt multiplies without reduction, but Z4591[x]/(x^761 - x - 1) reduces",
            Some("(lift 1521 (monomial-crt …))"),
        ),
        (
            "(lift 1521 (monomial-crt 740 781 (main (schoolbook)) (low (schoolbook))))".to_string(),
            "740",
            "the main degree 740 is below the degree 781 of the monomial",
            Some("N of at least M"),
        ),
        (
            "(lift 1521 (monomial-crt 760 761 (main (schoolbook)) (low (schoolbook))))".to_string(),
            "760",
            "the main degree 760 is below the degree 761 of the monomial",
            Some("N of at least M"),
        ),
        (
            crt(1440, 81, MAIN).replace("(low (schoolbook))", "(low (border 81 (schoolbook)))"),
            "81",
            "operands have 81 coefficients, none of them at or above x^81",
            Some("N below 81"),
        ),
        (
            "(lift 1521 (border 80 (schoolbook)))".to_string(),
            "(border",
            "border needs a truncated product, mod x^M, not Z4591[x], products of degree below 1521",
            None,
        ),
        (
            crt(
                1440,
                81,
                &MAIN.replace("(toeplitz)", "(karatsuba (if-square-root (toeplitz) (toeplitz)))"),
            ),
            "(if-square-root",
            "if-square-root chooses by weight, but a general Toeplitz product has none",
            Some("(toeplitz) or (karatsuba …)"),
        ),
    ];
    for (tree, at, message, would_work) in table {
        let error = refusal(tree);
        assert_eq!(error.message, *message, "{tree}");
        assert_eq!(error.would_work.as_deref(), *would_work, "{tree}");
        assert!(at.starts_with(pointed(&error)), "{tree}: at {}\n{error}", pointed(&error));
        assert_eq!(error.line, 2);
    }
}

#[test]
fn malformed_texts() {
    let table: &[(&str, (usize, usize), &str)] = &[
        ("", (1, 1), "the text ends where a form should start"),
        ("; only a comment", (1, 17), "the text ends where a form should start"),
        ("(plan p", (1, 1), "this `(` is never closed"),
        ("(plan p))", (1, 9), "there is more text after the end of the form"),
        (")", (1, 1), "this `)` closes nothing"),
        ("(plan p (ring \"Z4591", (1, 15), "this text has no closing `\"`"),
        ("(program p)", (1, 1), "a plan starts with `(plan NAME …`"),
        ("(plan)", (1, 1), "the plan has no name"),
        ("(plan p (schoolbook))", (1, 1), "the plan names no ring"),
        ("(plan p\n (ring \"Z17[x]/(x^2 + 1)\"))", (1, 1), "the plan has no product"),
        ("(plan p\n (ring 17) (schoolbook))", (2, 2), "`ring` takes one argument"),
        (
            "(plan p\n (ring \"Z17[x]/(x^2 + )\"))",
            (2, 23),
            "this is not a ring: expected a term such as `x^761`, `3x` or `1`",
        ),
        ("(plan p (ring \"Z17[x]/(x^2 + 1)\") 7)", (1, 35), "a list is expected here, not `7`"),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\")\n (schoolbook)\n (schoolbook))",
            (3, 2),
            "a plan has one product, and this is another",
        ),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\") (toomcook))",
            (1, 36),
            "there is no method `toomcook`",
        ),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\") (rader 3))",
            (1, 35),
            "`rader` is not a product of polynomials, which is what is needed here",
        ),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\") (schoolbook 3))",
            (1, 47),
            "`schoolbook` does not take `3` here",
        ),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\") (lift))",
            (1, 35),
            "`lift` lacks the length of the lifted product",
        ),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\") (lift many (schoolbook)))",
            (1, 41),
            "the length of the lifted product is expected here, not `many`",
        ),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\") (lift 3 schoolbook))",
            (1, 43),
            "a method is expected here, not `schoolbook`",
        ),
        (
            "(plan p (ring \"Z17[x]/(x^2 + 1)\") (lift 3 (monomial-crt 2 1 (schoolbook))))",
            (1, 61),
            "`(main …)` is expected here, not `(schoolbook …)`",
        ),
    ];
    for (text, position, message) in table {
        let error = Plan::parse(text).expect_err(text);
        assert_eq!(
            (error.message.as_str(), (error.line, error.col)),
            (*message, *position),
            "{text}"
        );
    }
    let deep = "(".repeat(200);
    assert_eq!(
        Plan::parse(&deep).expect_err("deep").message,
        "lists are nested more than 100 deep"
    );
}

/// With `auto`, what is wrong inside the transform is shown where it stands.
#[test]
fn auto_hides_no_mistake() {
    let good = include_str!("../../../plans/sntrup761.plan");
    assert!(Plan::parse(good).is_ok());
    for (from, to, pointed, message, would_work) in [
        ("(rader 5 ", "(raider 5 ", "raider", "there is no method `raider`", "rader, "),
        (
            "(good-thomas 10 9",
            "(good-thomas 32 3",
            "3\n",
            "32 × 3 = 96, but a transform of length 90 is needed",
            "two coprime",
        ),
        (
            "(cooley-tukey 3 3",
            "(cooley-tukey 3 2",
            "2 ",
            "3 × 2 = 6, but a transform of length 9 is needed",
            "",
        ),
    ] {
        let text = good.replacen(from, to, 1);
        let error = Plan::parse(&text).expect_err(to);
        let whole = "no block width serves here; with K = ";
        assert!(error.message.starts_with(whole) && error.message.contains(message), "{error}");
        assert!(text[error.at..].starts_with(pointed), "{error}");
        assert!(error.would_work.unwrap_or_default().starts_with(would_work), "{to}");
    }
}

#[test]
fn an_empty_list_is_no_part_of_a_plan() {
    // Found by libFuzzer.
    let text = "(plan p\n () (ring \"Z17[x]/(x^2 + 1)\") (lift 3 (schoolbook)))";
    let error = Plan::parse(text).expect_err("an empty list");
    assert_eq!((error.line, error.col, error.message.as_str()), (2, 2, "this list is empty"));
    let within = Plan::parse(&text.replace("()", "").replace("(schoolbook)", "()"));
    assert!(within.expect_err("an empty list").message.contains("the name of a method"));
}

/// Transforms over a modulus that is even or not prime: refused where there is no root, taken where
/// there is one.
#[test]
fn moduli_that_are_no_primes() {
    let plan = |q: &str, inner: &str| {
        Plan::parse(&format!("(plan p (ring \"Z{q}[x]/(x^2 - x - 1)\") (lift 3 {inner}))"))
    };
    let three = "(substitute 1 (rader 3 unscaled) (weighted-convolution (toeplitz)))";
    let error = plan("2048", three).expect_err("even");
    assert!(
        error.message.contains("2048 = 2^11 is not prime; its factor 2 stands in the way"),
        "{error}"
    );
    let two = "(substitute 2 (butterfly) (weighted-convolution (toeplitz)))";
    assert!(plan("2048", two).is_err());
    assert!(plan("15", three).is_err());
    let composite = plan("91", three).expect("7 and 13 both have cube roots of unity");
    assert_eq!(composite.multiply(&[5, 90], &[33, 45]), composite.ring.mul(&[5, 90], &[33, 45]));
    assert!(plan("4096", "(schoolbook)").is_ok());
}

#[test]
fn ring_files() {
    let good = "name = \"r\"\nring = \"Z17[x]/(x^2 + 1)\"\noperands = [\"big\", \"small\"]\nplan = \"p\"\n";
    assert!(RingFile::parse(good).is_ok());
    let own = RingFile::parse(&good.replace("plan = \"p\"\n", "")).expect("no plan is needed");
    assert_eq!(own.default_plan(&AVX2).expect("automatic").ring, own.ring);
    let table = [
        ("ring = \"Z17[x]/(x^2 + 1)\"\n", "", (1, 1), "missing field `ring`"),
        ("\"r\"", "\"1r\"", (1, 8), "`1r` is no C identifier"),
        ("+ 1", "+ ", (2, 23), "this is not a ring: expected a term such as `x^761`, `3x` or `1`"),
        ("big", "huge", (3, 13), "invalid operand `huge`; expected `big`, `small` or `within 5`"),
        (
            "\"small\"",
            "\"within 9\"",
            (3, 20),
            "coefficients in [-9, 9] are wider than [-8, 8], all that there is mod 17",
        ),
        (
            "plan =",
            "pan =",
            (4, 1),
            "unknown field `pan`, expected one of `name`, `ring`, `operands`, `plan`, `kem`",
        ),
    ];
    for (from, to, position, message) in table {
        let error = RingFile::parse(&good.replace(from, to)).expect_err(message);
        assert_eq!(
            (error.message.as_str(), (error.line, error.col)),
            (message, position),
            "{error}"
        );
    }
}

#[test]
fn names_that_are_not_there() {
    let error = Plan::find("sntrup999").expect_err("no such plan");
    assert!(matches!(error, CatalogError::Unknown { .. }));
    assert_eq!(error.to_string().split(';').next(), Some("there is no plan `sntrup999`"));
    assert!(matches!(Plan::find("./no/such.plan"), Err(CatalogError::Read { .. })));
    assert!(matches!(RingFile::find("kyber"), Err(CatalogError::Unknown { .. })));
}

/// Operands in the text of a plan.
#[test]
fn operands_of_plans() {
    let text = |operands: &str| {
        format!("(plan p (ring \"Z17[x]/(x^2 + 1)\") (operands {operands}) (schoolbook))")
    };
    for operands in ["big small", "small (within 5)", "(within 8) big"] {
        let plan = Plan::parse(&text(operands)).unwrap_or_else(|e| panic!("{e}"));
        assert!(plan.to_string().contains(&format!("(operands {operands})")), "{plan}");
        plan.check().unwrap_or_else(|e| panic!("{e}"));
        let [a, b] = plan.operands;
        assert!(plan.covers([a, Operand::Small]) && plan.covers([Operand::Small, b]));
        assert!(!plan.covers([Operand::Big; 2]) || operands.contains("within 8"));
    }
    let plain = Plan::parse(&text("big big")).unwrap_or_else(|e| panic!("{e}"));
    assert!(!plain.to_string().contains("operands"));
    let table = [
        ("big", "`operands` takes two arguments"),
        ("big huge", "invalid operand `huge`; expected `big`, `small` or `within 5`"),
        ("big (within 0)", "invalid operand `within 0`; expected `big`, `small` or `within 5`"),
        (
            "big (within 9)",
            "coefficients in [-9, 9] are wider than [-8, 8], all that there is mod 17",
        ),
    ];
    for (operands, message) in table {
        assert_eq!(Plan::parse(&text(operands)).expect_err(operands).message, message);
    }
}

/// Every preset is sound: it reads, its plan exists and is for its ring.
#[test]
fn presets_are_sound() {
    let mut count = 0;
    for name in RingFile::names() {
        let file = RingFile::find(name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(file.name, name);
        assert_eq!(file.default_plan(&AVX2).unwrap_or_else(|e| panic!("{e}")).ring, file.ring);
        count += 1;
    }
    for name in Plan::names() {
        assert_eq!(Plan::find(name).unwrap_or_else(|e| panic!("{e}")).name, name);
        count += 1;
    }
    assert!(count >= 3);
}

/// A plan that relies on small operands does not serve a ring file with big ones.
#[test]
fn plans_that_do_not_cover_the_operands() {
    let directory = std::env::temp_dir().join(format!("ringforge-plan-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("p.plan");
    let text = "(plan p (ring \"Z17[x]/(x^2 + 1)\") (operands big small) (schoolbook))";
    std::fs::write(&path, text).expect("a file");
    let file = |operands: &str| {
        let text = format!(
            "name = \"r\"\nring = \"Z17[x]/(x^2 + 1)\"\noperands = [{operands}]\nplan = {:?}\n",
            path.display().to_string()
        );
        RingFile::parse(&text).unwrap_or_else(|e| panic!("{e}"))
    };
    assert!(file("\"big\", \"small\"").default_plan(&AVX2).is_ok());
    let error = file("\"big\", \"within 2\"").default_plan(&AVX2).expect_err("wider");
    assert_eq!(
        error.to_string(),
        "the ring file `r` has big × within 2 operands, and its plan `p` is for big × small ones"
    );
    std::fs::remove_dir_all(&directory).expect("removed");
}
