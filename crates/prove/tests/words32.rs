//! Transforms modulo 8380417 on 32-bit words with 64-bit products, from C to verdict.

mod common;

use common::{check_witness, compile, compile_by, list, reversed, run, told};
use ringforge_prove::{Contract, Options, Quiet, Verdict, prove_many};
use ringforge_ring::zq;
use ringforge_testing::{cc, program};

const Q: u64 = 8380417;
const N: usize = 8;
const HALF: i64 = 4190208;

const SOURCE: &str = r#"
#include <stdint.h>
#define Q 8380417
#define QINV 58728449u
#define N 8
static const int32_t zetas[N] = {ZETAS};
static inline int32_t mont(int64_t p) {
    int32_t t = (int32_t)((uint32_t)p * QINV);
    return (int32_t)((p - (int64_t)t * Q) >> 32);
}
static inline int32_t mul(int32_t a, int32_t b) { return mont((int64_t)a * b); }
static inline int32_t bar(int32_t a) {
    int32_t t = (a + (1 << 22)) >> 23;
    return a - t * Q;
}
static inline int32_t freeze(int32_t a) {
    a = bar(a);
    a = a + (Q & ((a + (Q - 1) / 2) >> 31));
    return a - (Q & (((Q - 1) / 2 - a) >> 31));
}
void forward(int32_t c[N], const int32_t a[N]) {
    int32_t r[N];
    for (int i = 0; i < N; i++) r[i] = a[i];
    int k = 1;
    for (int len = N / 2; len >= 1; len >>= 1)
        for (int start = 0; start < N; start += 2 * len) {
            int32_t zeta = zetas[k++];
            for (int j = start; j < start + len; j++) {
                int32_t t = mul(zeta, r[j + len]);
                r[j + len] = r[j] - t;
                r[j] = r[j] + t;
            }
        }
    for (int i = 0; i < N; i++) c[i] = freeze(r[i]);
}
void inverse(int32_t c[N], const int32_t a[N]) {
    int32_t r[N];
    for (int i = 0; i < N; i++) r[i] = a[i];
    int k = N - 1;
    for (int len = 1; len < N; len <<= 1)
        for (int start = 0; start < N; start += 2 * len) {
            int32_t zeta = -zetas[k--];
            for (int j = start; j < start + len; j++) {
                int32_t t = r[j];
                r[j] = t + r[j + len];
                r[j + len] = mul(zeta, t - r[j + len]);
            }
        }
    for (int i = 0; i < N; i++) c[i] = freeze(mul(r[i], FINAL));
}
void base(int32_t c[N], const int32_t a[N], const int32_t b[N]) {
    int32_t s[N];
    for (int i = 0; i < N; i++) s[i] = mul(a[i], b[i]);
    for (int i = 0; i < N; i++) c[i] = freeze(s[i]);
}
void accumulate(int32_t c[N], const int32_t a[N], const int32_t b[N]) {
    int32_t s[N];
    for (int i = 0; i < N; i++) s[i] = mul(a[i], b[i]);
    for (int i = 0; i < N; i++) c[i] = freeze(c[i] + s[i]);
}
void product(int32_t c[N], const int32_t a[N], const int32_t b[N]) {
    int32_t x[N], y[N], s[N];
    forward(x, a);
    forward(y, b);
    base(s, x, y);
    inverse(c, s);
}
"#;

const KINDS: [(&str, &str); 5] = [
    ("forward", "forward"),
    ("inverse", "inverse"),
    ("base", "base-product"),
    ("accumulate", "accumulate"),
    ("product", "product"),
];

/// 2^32 modulo q.
fn r() -> u64 {
    (1 << 32) % Q
}

fn source() -> String {
    let montgomery = |w: u64| zq::centered(zq::mul(w, r(), Q), Q);
    let zeta = |i: usize| zq::pow(root(), reversed(i, 3), Q);
    let zetas: Vec<i64> = (0..N).map(|i| montgomery(zeta(i))).collect();
    let last = montgomery(zq::mul(r(), zq::inv(N as u64, Q).unwrap(), Q));
    SOURCE.replace("ZETAS", &list(&zetas)).replace("FINAL", &last.to_string())
}

fn root() -> u64 {
    zq::root_of_unity(2 * N as u64, Q).unwrap()
}

/// The contract of a symbol, all ranges centred but for those of inputs.
fn contract(symbol: &str, kind: &str, input: (i64, i64), output: (i64, i64)) -> Contract {
    let scale = match kind {
        "inverse" => r(),
        "base-product" | "accumulate" => zq::inv(r(), Q).unwrap(),
        _ => 1,
    };
    let mut text = format!(
        "contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\nring = \"Z{Q}[x]/(x^{N} + 1)\"\ncomputes = \"{kind}\"\nalias = [[\"c\", \"a\"]]\n"
    );
    if kind != "product" {
        let weights: Vec<u64> =
            (0..N).map(|i| zq::pow(root(), 2 * reversed(i, 3) + 1, Q)).collect();
        text +=
            &format!("scale = {scale}\n[transform]\ndegree = 1\nweights = [{}]\n", list(&weights));
    }
    let mut argument = |name: &str, role: &str, (lo, hi): (i64, i64)| {
        text += &format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i32\"\nlength = {N}\nrange = [{lo}, {hi}]\n"
        );
    };
    argument("c", if kind == "accumulate" { "inout" } else { "output" }, output);
    argument("a", "input", input);
    if matches!(kind, "accumulate" | "base-product" | "product") {
        argument("b", "input", input);
    }
    Contract::parse(&text).unwrap()
}

const CENTRED: (i64, i64) = (-HALF, HALF);

#[test]
fn every_kind_is_proved() {
    let source = source();
    let mut objects: Vec<Vec<u8>> = [&["-O2"][..], &["-O3"], &["-O3", "-mavx2"]]
        .into_iter()
        .map(|flags| compile(&source, flags))
        .collect();
    // SSE2 has no signed product: clang corrects unsigned ones.
    if let Some(clang) = program("clang").filter(|&clang| clang != cc()) {
        objects.extend(["-O2", "-O3"].into_iter().filter_map(|o| compile_by(clang, &source, &[o])));
    }
    let objects: Vec<&[u8]> = objects.iter().map(|o| &o[..]).collect();
    for (symbol, kind) in KINDS {
        let contract = contract(symbol, kind, CENTRED, CENTRED);
        let reports = prove_many(&objects, &contract, &Options::default(), &mut Quiet);
        for (i, r) in reports.iter().enumerate() {
            assert!(r.is_proved(), "{symbol}, object {i}: {}", told(r));
        }
        for r in reports {
            assert_eq!(r.ranges.output, Some(CENTRED), "{symbol}");
            assert!(r.equivalent.len() == objects.len() - 1 && r.certificate.replayed.nodes > 0);
        }
    }
}

#[test]
fn wrong_sources_are_refuted_with_inputs_that_show_it() {
    let source = source();
    let zeta = zq::centered(zq::mul(zq::pow(root(), reversed(1, 3), Q), r(), Q), Q).to_string();
    let cases: &[(&str, &str, &[&str])] = &[
        (&zeta, "1234567", &["forward", "inverse", "product"]),
        ("r[j] - t;", "r[j] + t;", &["forward"]),
        ("zetas[k++]", "zetas[k++ ^ 1]", &["forward"]),
        ("-zetas[k--]", "zetas[k--]", &["inverse", "product"]),
        ("freeze(mul(r[i], ", "freeze(r[i] + 0 * (", &["inverse"]),
        ("QINV 58728449u", "QINV 58728451u", &["forward", "base"]),
        (">> 32)", ">> 31)", &["base"]),
        ("= mul(a[i], b[i]);", "= mul(a[i], b[i ^ 1]);", &["base", "accumulate"]),
        ("= mul(a[i], b[i]);", "= mul(a[i], b[i]) + 1;", &["base", "accumulate"]),
        ("c[i] + s[i]", "s[i]", &["accumulate"]),
        ("c[i] + s[i]", "2 * c[i] + s[i]", &["accumulate"]),
        ("c[i] + s[i]", "c[i] - s[i]", &["accumulate"]),
        ("c[i] = freeze(c[i] + s[i]);", "c[i] = c[i] + bar(s[i]);", &["accumulate"]),
        ("c[i] = freeze(r[i]);", "c[i] = bar(r[i]);", &["forward"]),
        ("base(s, x, y)", "base(s, x, b)", &["product"]),
    ];
    for (from, to, symbols) in cases {
        let changed = source.replace(from, to);
        assert_ne!(changed, source, "{from}");
        for symbol in *symbols {
            let kind = KINDS.iter().find(|k| k.0 == *symbol).unwrap().1;
            let contract = contract(symbol, kind, CENTRED, CENTRED);
            let r = run(&changed, &contract);
            assert_eq!(r.verdict, Verdict::Refuted, "{symbol}, {from} -> {to}: {}", told(&r));
            check_witness(&contract, &r);
        }
    }
}

#[test]
fn ranges_decide() {
    let source = source();
    for (symbol, kind) in &KINDS[..4] {
        let narrow = contract(symbol, kind, CENTRED, (-HALF, HALF - 1));
        check_witness(&narrow, &run(&source, &narrow));
    }
    // Inputs so wide that a sum of the butterflies leaves its word.
    let word = (i32::MIN.into(), i32::MAX.into());
    for (symbol, kind) in &KINDS[..2] {
        let wide = contract(symbol, kind, word, CENTRED);
        check_witness(&wide, &run(&source, &wide));
    }
}

/// q is added where a word is negative: also of words that never are, always are, or are both.
#[test]
fn signs_of_words_on_either_side_of_zero() {
    let source = "
        #include <stdint.h>
        void caddq(int32_t r[8]) { for (int i = 0; i < 8; i++) r[i] += (r[i] >> 31) & ADDED; }";
    let q = Q as i64;
    // For a word that is never negative it does not matter what would be added.
    for (lo, hi, added, verdict) in [
        (0, q - 1, "8380417", Verdict::Proved),
        (0, q - 1, "8380416", Verdict::Proved),
        (-q, -1, "8380417", Verdict::Proved),
        (-q, q - 1, "8380417", Verdict::Proved),
        (-q, q - 1, "8380416", Verdict::Refuted),
        (-1, q - 1, "8380416", Verdict::Refuted),
    ] {
        let text = format!(
            "contract = 1\nsymbol = \"caddq\"\nabi = \"sysv-x86-64\"\nring = \"Z{Q}[x]/(x^8 + 1)\"\ncomputes = \"scale\"\n[[argument]]\nname = \"r\"\nrole = \"inout\"\nelement = \"i32\"\nlength = 8\nrange = [{lo}, {hi}]\nexit = [0, {}]\n",
            q - 1
        );
        let contract = Contract::parse(&text).expect("a contract");
        for flags in [&["-O2"][..], &["-O3", "-mavx2"], &["-O2", "-fno-tree-vectorize"]] {
            let object = compile(&source.replace("ADDED", added), flags);
            let report =
                ringforge_prove::prove(&object, &contract, &Options::default(), &mut Quiet);
            assert_eq!(report.verdict, verdict, "[{lo}, {hi}], {added}: {}", told(&report));
        }
    }
}
