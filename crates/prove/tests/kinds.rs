//! Transforms, base products, accumulations and reorderings, right and wrong, from C to verdict.

mod common;

use common::{check_witness, compile, list, reversed, run, told};
use ringforge_prove::{Contract, Options, Quiet, ReasonKind, Verdict, prove_many};
use ringforge_ring::zq;
use ringforge_testing::{has, needs};

const Q: u64 = 7681;
const N: usize = 16;
const D: usize = 2;
const M: usize = N / D;
/// The centred range.
const HALF: i64 = 3840;

/// x^16 + 1 modulo 7681 down to x^2 - w, with Montgomery and Barrett reductions.
const SOURCE: &str = r#"
#include <stdint.h>
#define Q 7681
#define QINV (-7679)
#define N 16
#define D 2
static const int16_t zetas[N / D] = {ZETAS};
static const int16_t weights[N / D] = {WEIGHTS};
static const uint8_t order[N] = {ORDER};
static inline int16_t mont(int32_t p) {
    int16_t t = (int16_t)((uint32_t)p * (uint32_t)QINV);
    return (int16_t)((p - (int32_t)t * Q) >> 16);
}
static inline int16_t mul(int16_t a, int16_t b) { return mont((int32_t)a * b); }
static inline int16_t bar(int16_t a) {
    int16_t t = (int16_t)(((int32_t)a * 8736 + (1 << 25)) >> 26);
    return (int16_t)(a - t * Q);
}
static inline int16_t freeze(int16_t a) {
    a = bar(a);
    a = (int16_t)(a + (Q & ((a + (Q - 1) / 2) >> 15)));
    return (int16_t)(a - (Q & (int16_t)(((Q - 1) / 2 - a) >> 15)));
}
void forward(int16_t c[N], const int16_t a[N]) {
    int16_t r[N];
    for (int i = 0; i < N; i++) r[i] = a[i];
    int k = 1;
    for (int len = N / 2; len >= D; len >>= 1)
        for (int start = 0; start < N; start += 2 * len) {
            int16_t zeta = zetas[k++];
            for (int j = start; j < start + len; j++) {
                int16_t t = mul(zeta, r[j + len]);
                r[j + len] = (int16_t)(r[j] - t);
                r[j] = (int16_t)(r[j] + t);
            }
        }
    for (int i = 0; i < N; i++) c[i] = freeze(r[order[i]]);
}
void inverse(int16_t c[N], const int16_t a[N]) {
    int16_t r[N];
    for (int i = 0; i < N; i++) r[order[i]] = a[i];
    int k = N / D - 1;
    for (int len = D; len < N; len <<= 1)
        for (int start = 0; start < N; start += 2 * len) {
            int16_t zeta = zetas[k--];
            for (int j = start; j < start + len; j++) {
                int16_t t = r[j];
                r[j] = bar((int16_t)(t + r[j + len]));
                r[j + len] = mul(zeta, (int16_t)(r[j + len] - t));
            }
        }
    for (int i = 0; i < N; i++) c[i] = freeze(mul(r[i], FINAL));
}
static inline void leaf(int16_t *c, int16_t a0, int16_t a1, int16_t b0, int16_t b1, int16_t w) {
    c[0] = (int16_t)(mul(mul(a1, b1), w) + mul(a0, b0));
    c[1] = (int16_t)(mul(a0, b1) + mul(a1, b0));
}
static inline void products(int16_t s[N], const int16_t a[N], const int16_t b[N]) {
    int16_t x[N], y[N], z[N];
    for (int i = 0; i < N; i++) { x[order[i]] = a[i]; y[order[i]] = b[i]; }
    for (int l = 0; l < N / D; l++)
        leaf(z + 2 * l, x[2 * l], x[2 * l + 1], y[2 * l], y[2 * l + 1], weights[l]);
    for (int i = 0; i < N; i++) s[i] = z[order[i]];
}
void base(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int16_t s[N];
    products(s, a, b);
    for (int i = 0; i < N; i++) c[i] = freeze(s[i]);
}
void accumulate(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int16_t s[N];
    products(s, a, b);
    for (int i = 0; i < N; i++) c[i] = freeze((int16_t)(c[i] + s[i]));
}
void product(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int16_t x[N], y[N], s[N];
    forward(x, a);
    forward(y, b);
    base(s, x, y);
    inverse(c, s);
}
void to_standard(int16_t c[N], const int16_t a[N]) {
    int16_t r[N];
    for (int i = 0; i < N; i++) r[order[i]] = a[i];
    for (int i = 0; i < N; i++) c[i] = r[i];
}
void from_standard(int16_t c[N], const int16_t a[N]) {
    int16_t r[N];
    for (int i = 0; i < N; i++) r[i] = a[order[i]];
    for (int i = 0; i < N; i++) c[i] = r[i];
}
"#;

/// Symbols and kinds.
const KINDS: [(&str, &str); 6] = [
    ("forward", "forward"),
    ("inverse", "inverse"),
    ("base", "base-product"),
    ("accumulate", "accumulate"),
    ("to_standard", "to-standard"),
    ("from_standard", "from-standard"),
];

fn zeta(e: u64) -> u64 {
    zq::pow(zq::root_of_unity(2 * M as u64, Q).unwrap(), e, Q)
}

fn weights() -> Vec<u64> {
    (0..M).map(|i| zeta(2 * reversed(i, 3) + 1)).collect()
}

/// Even coefficients of all leaves, then the odd ones.
fn order() -> Vec<usize> {
    (0..N).map(|p| p % M * D + p / M).collect()
}

fn source() -> String {
    let montgomery = |w: u64| zq::centered(w * (65536 % Q), Q);
    let zetas: Vec<i64> = (0..M).map(|i| montgomery(zeta(reversed(i, 3)))).collect();
    let weights: Vec<i64> = weights().into_iter().map(montgomery).collect();
    // The butterflies leave a factor M; the last product one of 2^-16.
    let last = montgomery(zq::mul(65536 % Q, zq::inv(M as u64, Q).unwrap(), Q));
    SOURCE
        .replace("ZETAS", &list(&zetas))
        .replace("WEIGHTS", &list(&weights))
        .replace("ORDER", &list(&order()))
        .replace("FINAL", &last.to_string())
}

fn scale(kind: &str) -> u64 {
    match kind {
        "inverse" => 65536 % Q,
        "base-product" | "accumulate" => zq::inv(65536 % Q, Q).unwrap(),
        _ => 1,
    }
}

struct Make<'a> {
    symbol: &'a str,
    kind: &'a str,
    scale: u64,
    weights: Vec<u64>,
    order: Vec<usize>,
    output: (i64, i64),
    input: (i64, i64),
    alias: &'a str,
}

fn make<'a>(symbol: &'a str, kind: &'a str) -> Make<'a> {
    Make {
        symbol,
        kind,
        scale: scale(kind),
        weights: weights(),
        order: order(),
        output: (-HALF, HALF),
        input: (-HALF, HALF),
        alias: "",
    }
}

impl Make<'_> {
    fn contract(&self) -> Contract {
        let Make { symbol, kind, alias, .. } = self;
        let scaled = !kind.ends_with("standard");
        let mut text = format!(
            "contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\nring = \"Z{Q}[x]/(x^{N} + 1)\"\ncomputes = \"{kind}\"\nalias = [{alias}]\n"
        );
        if scaled {
            text += &format!("scale = {}\n", self.scale);
        }
        text += &format!(
            "[transform]\ndegree = {D}\nweights = [{}]\norder = [{}]\n",
            list(&self.weights),
            list(&self.order)
        );
        let mut argument = |name: &str, role: &str, (lo, hi): (i64, i64)| {
            text += &format!(
                "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {N}\nrange = [{lo}, {hi}]\n"
            );
        };
        argument("c", if *kind == "accumulate" { "inout" } else { "output" }, self.output);
        argument("a", "input", self.input);
        if matches!(*kind, "accumulate" | "base-product") {
            argument("b", "input", self.input);
        }
        Contract::parse(&text).unwrap()
    }
}

#[test]
fn every_kind_is_proved() {
    let source = source();
    // What clang makes of the second stays open.
    let ways = [&["-O3"][..], &["-O3", "-mavx2"]];
    let objects: Vec<Vec<u8>> = ways[..if has(&["gcc"]) { 2 } else { 1 }]
        .iter()
        .map(|flags| compile(&source, flags))
        .collect();
    let objects: Vec<&[u8]> = objects.iter().map(|o| &o[..]).collect();
    for (symbol, kind) in KINDS {
        let alias = r#"["c", "a"], ["c", "b"]"#;
        let two = matches!(kind, "accumulate" | "base-product");
        let contract =
            Make { alias: if two { alias } else { r#"["c", "a"]"# }, ..make(symbol, kind) }
                .contract();
        for r in prove_many(&objects, &contract, &Options::default(), &mut Quiet) {
            assert!(r.is_proved(), "{symbol}: {}", told(&r));
            assert_eq!(r.ranges.output, Some((-HALF, HALF)), "{symbol}");
            assert_eq!(r.equivalent.len(), objects.len() - 1);
            assert!(
                r.counts.cases >= 2 && r.certificate.replayed.nodes > 0 && r.counts.equations > 0
            );
            let at_exit = if kind == "accumulate" { "c at exit = c at entry + " } else { "c " };
            assert!(r.claims[0].starts_with(at_exit), "{}", r.claims[0]);
        }
    }
}

#[test]
fn wrong_sources_are_refuted_with_inputs_that_show_it() {
    let source = source();
    let first = format!("zetas[N / D] = {{{}, ", zq::centered(65536, Q));
    let weight = zq::centered(weights()[3] * (65536 % Q), Q).to_string();
    let cases: &[(&str, &str, &[&str])] = &[
        // A twiddle, its sign, the order of butterflies, of outputs.
        (&first, "zetas[N / D] = {1, 1 + ", &["forward", "inverse"]),
        ("r[j] - t", "r[j] + t", &["forward"]),
        ("zetas[k++]", "zetas[k++ ^ 1]", &["forward"]),
        ("r[j + len] - t)", "t - r[j + len])", &["inverse"]),
        ("freeze(r[order[i]])", "freeze(r[i])", &["forward"]),
        ("freeze(r[order[i]])", "freeze(r[order[i ^ 1]])", &["forward"]),
        ("r[order[i]] = a[i];\n    int k", "r[i] = a[i];\n    int k", &["inverse"]),
        // A scale left out, another one.
        ("freeze(mul(r[i], ", "freeze((int16_t)(r[i] + 0 * ", &["inverse"]),
        ("mul(a0, b0)", "bar((int16_t)(a0 * b0))", &["base", "accumulate"]),
        // Leaves: a weight, a sign, a product, another leaf.
        (&weight, "1234", &["base", "accumulate"]),
        (" + mul(a0, b0)", " - mul(a0, b0)", &["base", "accumulate"]),
        ("mul(a0, b1)", "mul(a0, b0)", &["base", "accumulate"]),
        ("mul(a0, b1)", "mul(a0, a1)", &["base", "accumulate"]),
        ("y[2 * l + 1], w", "y[(2 * l + 3) % N], w", &["base", "accumulate"]),
        ("s[i] = z[order[i]]", "s[i] = z[i]", &["base", "accumulate"]),
        // The old value: forgotten, twice, negated, of another element, or the result added twice.
        ("c[i] + s[i]", "s[i]", &["accumulate"]),
        ("c[i] + s[i]", "2 * c[i] + s[i]", &["accumulate"]),
        ("c[i] + s[i]", "s[i] - c[i]", &["accumulate"]),
        ("c[i] + s[i]", "c[i ^ 1] + s[i]", &["accumulate"]),
        ("c[i] + s[i]", "c[i] + bar(2 * s[i])", &["accumulate"]),
        ("c[i] + s[i]", "c[i] + s[i] + 1", &["accumulate"]),
        (
            "for (int i = 0; i < N; i++) c[i] = freeze((int16_t)",
            "for (int i = 1; i < N; i++) c[i] = freeze((int16_t)",
            &["accumulate"],
        ),
        // The inverse order, no order, a constant.
        (
            "r[order[i]] = a[i];\n    for (int i = 0; i < N; i++) c",
            "r[i] = a[order[i]];\n    for (int i = 0; i < N; i++) c",
            &["to_standard"],
        ),
        ("r[i] = a[order[i]]", "r[order[i]] = a[i]", &["from_standard"]),
        ("r[i] = a[order[i]]", "r[i] = a[order[i] ^ (i == 7)]", &["from_standard"]),
        ("r[i] = a[order[i]]", "r[i] = (int16_t)(i == 3 ? 5 : a[order[i]])", &["from_standard"]),
        // Ranges: an output that is not reduced, a reduction that is needed.
        ("freeze(r[order[i]])", "bar(r[order[i]])", &["forward"]),
        ("freeze((int16_t)(c[i] + s[i]))", "(int16_t)(c[i] + bar(s[i]))", &["accumulate"]),
    ];
    for (from, to, symbols) in cases {
        let changed = source.replace(from, to);
        assert_ne!(changed, source, "{from}");
        for symbol in *symbols {
            let kind = KINDS.iter().find(|k| k.0 == *symbol).unwrap().1;
            let contract = make(symbol, kind).contract();
            let r = run(&changed, &contract);
            assert_eq!(r.verdict, Verdict::Refuted, "{symbol}, {from} -> {to}: {}", told(&r));
            check_witness(&contract, &r);
        }
    }
}

#[test]
fn wrong_contracts_are_refuted() {
    let source = source();
    for (symbol, kind) in KINDS {
        let good = || make(symbol, kind);
        let mut wrong: Vec<Contract> = Vec::new();
        // Two leaves, two positions exchanged; another root; another scale; a narrower range.
        let mut swapped = good();
        swapped.order.swap(2, 13);
        wrong.push(swapped.contract());
        if !kind.ends_with("standard") {
            if kind != "inverse" {
                let mut leaves = good();
                leaves.weights.swap(1, 4);
                wrong.push(leaves.contract());
            }
            let mut root = good();
            root.weights = root.weights.iter().map(|&w| zq::pow(w, 3, Q)).collect();
            wrong.push(root.contract());
            let mut scale = good();
            scale.scale = scale.scale % (Q - 1) + 1;
            wrong.push(scale.contract());
        }
        for output in [(-HALF, HALF - 1), (-HALF + 1, HALF)] {
            // What is accumulated is promised at entry, too, and every residue still occurs.
            wrong.push(Make { output, ..good() }.contract());
        }
        if kind == "forward" {
            wrong.push(Make { input: (-25000, 25000), ..good() }.contract());
        }
        for contract in wrong {
            check_witness(&contract, &run(&source, &contract));
        }
        let proved = run(&source, &good().contract());
        assert!(proved.is_proved(), "{symbol}: {}", told(&proved));
    }
    // One kind's code under another kind's contract.
    for (symbol, kind) in [
        ("forward", "inverse"),
        ("inverse", "forward"),
        ("to_standard", "from-standard"),
        ("from_standard", "to-standard"),
        ("forward", "from-standard"),
        ("accumulate", "base-product"),
        ("base", "accumulate"),
    ] {
        let contract = make(symbol, kind).contract();
        let r = run(&source, &contract);
        assert_eq!(r.verdict, Verdict::Refuted, "{symbol} as {kind}: {}", told(&r));
        if symbol != "accumulate" {
            check_witness(&contract, &r);
        }
    }
}

#[test]
fn calls_in_place_are_cases_of_their_own() {
    // Written before the last read: right when the buffers differ.
    let early = source().replace(
        "for (int i = 0; i < N; i++) c[i] = freeze((int16_t)(c[i] + s[i]));",
        "for (int i = 0; i < N; i++) { int16_t x = a[0]; c[i] = freeze((int16_t)(c[i] + s[i])); c[i] = freeze((int16_t)(c[i] + bar((int16_t)(a[0] - x)))); }",
    );
    let alias = r#"["c", "a"]"#;
    let alone = make("accumulate", "accumulate").contract();
    let r = run(&early, &alone);
    assert!(r.is_proved(), "{}", told(&r));
    let both = Make { alias, ..make("accumulate", "accumulate") }.contract();
    let r = run(&early, &both);
    assert_eq!(r.reasons[0].call.split(',').next(), Some("c = a"), "{}", told(&r));
    check_witness(&both, &r);
    let w = r.witness.unwrap();
    assert_eq!(w.inputs[0].1, w.inputs[1].1, "one array has one content");
    // One array keeps both promises: sums that overflow with two buffers fit.
    let promises = |alias| {
        let make = make("accumulate", "accumulate");
        Make { alias, input: (-32000, 32000), output: (-HALF, HALF), ..make }.contract()
    };
    let r = run(&source(), &promises(alias));
    assert!(r.reasons.iter().all(|r| r.call.starts_with("disjoint")), "{}", told(&r));
}

#[test]
fn products_through_transforms() {
    let source = source();
    let text = format!(
        "contract = 1\nsymbol = \"product\"\nabi = \"sysv-x86-64\"\nring = \"Z{Q}[x]/(x^{N} + 1)\"\ncomputes = \"product\"\n"
    );
    let argument = |name: &str, role: &str| {
        format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {N}\nrange = [-{HALF}, {HALF}]\n"
        )
    };
    let text = text + &argument("c", "output") + &argument("a", "input") + &argument("b", "input");
    let contract = Contract::parse(&text).unwrap();
    let r = run(&source, &contract);
    assert!(r.is_proved(), "{}", told(&r));
    let weight = zq::centered(weights()[3] * (65536 % Q), Q).to_string();
    for (from, to) in [
        ("r[j] - t", "r[j] + t"),
        (" + mul(a0, b0)", " - mul(a0, b0)"),
        ("r[j + len] - t)", "t - r[j + len])"),
        ("base(s, x, y)", "base(s, x, x)"),
        ("base(s, x, y)", "base(s, x, b)"),
        ("inverse(c, s)", "for (int i = 0; i < N; i++) c[i] = s[i]"),
        (&weight, "1234"),
    ] {
        let changed = source.replace(from, to);
        assert_ne!(changed, source, "{from}");
        check_witness(&contract, &run(&changed, &contract));
    }
}

#[test]
fn conduct_is_part_of_every_kind() {
    let source = source();
    for (symbol, kind, name) in
        [("accumulate", "accumulate", "c[3]"), ("forward", "forward", "a[3]")]
    {
        let branch = format!("if ({name} == 5) return; for");
        let start = source.find(&format!("void {symbol}(")).unwrap();
        let at = start + source[start..].find("for (").unwrap();
        let changed = format!("{}{branch}{}", &source[..at], &source[at + 3..]);
        let r = run(&changed, &make(symbol, kind).contract());
        assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
        assert_eq!(r.reasons[0].kind, ReasonKind::ConstantTime, "{}", told(&r));
        assert!(r.reasons[0].text.contains(name), "{}", told(&r));
    }
    // An input is written. Of clang's code another reason comes first.
    needs!("gcc");
    let written = source.replace(
        "c[i] = freeze((int16_t)(c[i] + s[i]))",
        "((int16_t *)b)[i] = c[i] = freeze((int16_t)(c[i] + s[i]))",
    );
    let r = run(&written, &make("accumulate", "accumulate").contract());
    assert_eq!((r.verdict, r.reasons[0].kind), (Verdict::Refuted, ReasonKind::Memory));
}
