//! Compiled products, right and wrong, from C to verdict.

use ringforge_prove::{Contract, Options, Quiet, ReasonKind, Report, Verdict, prove, prove_many};
use std::process::Command;
use std::time::Duration;

const N: usize = 8;

/// A schoolbook product in Z_4591[x]/(x^8 - x - 1) with Montgomery and Barrett reductions.
const SOURCE: &str = r#"
#include <stdint.h>
#define Q 4591
#define QINV 15631
#define R2 (-433)
#define N 8
static inline int16_t mont(int32_t p) {
    int16_t t = (int16_t)((uint32_t)p * (uint32_t)QINV);
    return (int16_t)((p - (int32_t)t * Q) >> 16);
}
static inline int16_t bar(int16_t a) {
    int16_t t = (int16_t)(((int32_t)a * 14617 + (1 << 25)) >> 26);
    return (int16_t)(a - t * Q);
}
static inline int16_t freeze(int16_t a) {
    a = bar(a);
    a = (int16_t)(a + (Q & ((a + (Q - 1) / 2) >> 15)));
    return (int16_t)(a - (Q & (int16_t)(((Q - 1) / 2 - a) >> 15)));
}
void mul(int16_t c[N], const int16_t a[N], const int16_t b[N]) {
    int32_t r[2 * N - 1];
    int16_t s[2 * N - 1];
    for (int i = 0; i < 2 * N - 1; i++) r[i] = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) r[i + j] += (int32_t)a[i] * b[j];
    for (int i = 0; i < 2 * N - 1; i++) s[i] = mont((int32_t)mont(r[i]) * R2);
    for (int i = 2 * N - 2; i >= N; i--) {
        s[i - N] = bar(s[i - N] + s[i]);
        s[i - N + 1] = bar(s[i - N + 1] + s[i]);
    }
    for (int i = 0; i < N; i++) c[i] = freeze(s[i]);
}
"#;

fn compile(source: &str, flags: &[&str]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (c, o) = (dir.path().join("x.c"), dir.path().join("x.o"));
    std::fs::write(&c, source).unwrap();
    let status = Command::new(ringforge_testing::cc())
        .args(flags)
        .arg("-c")
        .arg(&c)
        .arg("-o")
        .arg(&o)
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::read(o).unwrap()
}

fn contract(input: (i64, i64), output: (i64, i64), alias: &str) -> Contract {
    let argument = |name: &str, role: &str, (lo, hi): (i64, i64)| {
        format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {N}\nrange = [{lo}, {hi}]\n"
        )
    };
    let text = format!(
        "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z4591[x]/(x^8 - x - 1)\"\ncomputes = \"product\"\nalias = [{alias}]\n{}{}{}",
        argument("c", "output", output),
        argument("a", "input", input),
        argument("b", "input", input),
    );
    Contract::parse(&text).unwrap()
}

const BIG: (i64, i64) = (-2295, 2295);

fn run(source: &str, flags: &[&str], contract: &Contract) -> Report {
    let options = Options { search: Duration::from_secs(1), ..Options::default() };
    prove(&compile(source, flags), contract, &options, &mut Quiet)
}

fn told(r: &Report) -> String {
    format!("{}: {:?}", r.verdict, r.reasons.iter().map(|r| &r.text).collect::<Vec<_>>())
}

#[test]
fn every_level_of_gcc_is_proved_and_thereby_equivalent() {
    let contract = contract(BIG, BIG, r#"["c", "a"], ["c", "b"]"#);
    let objects: Vec<Vec<u8>> =
        [&["-O1"][..], &["-O2"], &["-O3"], &["-O2", "-mavx2"], &["-O3", "-mavx2"]]
            .into_iter()
            .map(|flags| compile(SOURCE, flags))
            .collect();
    let objects: Vec<&[u8]> = objects.iter().map(|o| &o[..]).collect();
    let reports = prove_many(&objects, &contract, &Options::default(), &mut Quiet);
    for r in &reports {
        assert!(r.is_proved(), "{}", told(r));
        assert_eq!(r.ranges.output, Some(BIG));
        assert!(
            r.counts.products == N * N && r.counts.cases >= 3 && r.certificate.replayed.nodes > 0
        );
        assert_eq!(r.equivalent.len(), objects.len() - 1);
    }
}

#[test]
fn wrong_sources_are_refuted_with_inputs_that_show_it() {
    let contract = contract(BIG, BIG, "");
    let changes = [
        ("QINV 15631", "QINV 15633"),
        ("R2 (-433)", "R2 (-432)"),
        ("#define Q 4591", "#define Q 4593"),
        ("(int32_t)a[i] * b[j]", "(int32_t)a[i] * b[N - 1 - j]"),
        ("p - (int32_t)t * Q", "p + (int32_t)t * Q"),
        (">> 16", ">> 15"),
        ("s[i - N + 1] + s[i]", "s[i - N + 1] - s[i]"),
    ];
    for (from, to) in changes {
        let source = SOURCE.replace(from, to);
        assert_ne!(source, SOURCE, "{from}");
        let r = run(&source, &["-O2"], &contract);
        assert_eq!(r.verdict, Verdict::Refuted, "{from} -> {to}: {}", told(&r));
        let w = r.witness.expect("a witness");
        assert!(!w.confirmed && w.inputs.len() == 2);
        let (found, expected) = (w.found[w.element], w.expected[w.element]);
        assert!((found - expected) % 4591 != 0 || found.abs() > 2295);
    }
}

#[test]
fn a_harmless_change_is_proved_harmless() {
    // All values that freeze() meets were reduced before, and of values so small the rounded
    // quotient is exact.
    let (reduction, correction) = ("a = bar(a);", "a + (Q & ((a + (Q - 1) / 2) >> 15))");
    let contract = contract(BIG, BIG, "");
    for source in [SOURCE.replace(reduction, ""), SOURCE.replace(correction, "a")] {
        assert_ne!(source, SOURCE);
        let r = run(&source, &["-O2"], &contract);
        assert!(r.is_proved(), "{}", told(&r));
    }
}

#[test]
fn ranges_are_exact_at_their_edge() {
    // The reduction of the accumulator fits its word while 8·x² + q·2^15 < 2^31.
    let fits = contract((-15799, 15799), BIG, "");
    let r = run(SOURCE, &["-O2"], &fits);
    assert!(r.is_proved(), "{}", told(&r));
    let wide = contract((-15800, 15800), BIG, "");
    let r = run(SOURCE, &["-O2"], &wide);
    assert!(!r.is_proved());
    assert_eq!(r.reasons[0].kind, ReasonKind::Range, "{}", told(&r));
    // An output range that is one too narrow is refuted.
    let narrow = contract(BIG, (-2295, 2294), "");
    let r = run(SOURCE, &["-O2"], &narrow);
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    assert_eq!(r.reasons[0].kind, ReasonKind::Range);
}

#[test]
fn conduct_is_part_of_the_contract() {
    let contract = contract(BIG, BIG, r#"["c", "a"]"#);
    let cases = [
        // A branch on a coefficient.
        (
            SOURCE.replace("c[i] = freeze(s[i])", "{ if (a[i] == 7) break; c[i] = freeze(s[i]); }"),
            ReasonKind::ConstantTime,
        ),
        // A table look-up.
        (
            SOURCE.replace(
                "c[i] = freeze(s[i])",
                "{ extern const int16_t t[]; c[i] = freeze((int16_t)(s[i] + t[a[i] & 3])); }",
            ) + "const int16_t t[4] = {0};\n",
            ReasonKind::ConstantTime,
        ),
        // One element too far.
        (SOURCE.replace("i < N; i++) c[i]", "i <= N; i++) c[i]"), ReasonKind::Memory),
        // Written input.
        (SOURCE.replace("c[i] = freeze", "((int16_t *)b)[i] = c[i] = freeze"), ReasonKind::Memory),
        // An output left out.
        (SOURCE.replace("i < N; i++) c[i]", "i < N - 1; i++) c[i]"), ReasonKind::Undefined),
    ];
    for (source, kind) in cases {
        assert_ne!(source, SOURCE);
        let r = run(&source, &["-O1"], &contract);
        assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
        assert_eq!(r.reasons[0].kind, kind, "{}", told(&r));
    }
    // In place: c is written before the last read of a.
    let early = SOURCE.replace(
        "int32_t r[2 * N - 1];",
        "int32_t r[2 * N - 1]; int16_t z = (int16_t)(b[0] - b[0]); for (int i = 0; i < N; i++) c[i] = z;",
    );
    let r = run(&early, &["-O0"], &contract);
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    assert_eq!(r.reasons[0].call.split(',').next(), Some("c = a"), "{}", told(&r));
    let alone = run(&early, &["-O0"], &self::contract(BIG, BIG, ""));
    assert!(alone.is_proved(), "{}", told(&alone));
}

#[test]
fn what_cannot_be_decided_stays_unknown() {
    let contract = contract(BIG, BIG, "");
    let r = prove(b"no object", &contract, &Options::default(), &mut Quiet);
    assert_eq!(r.verdict, Verdict::Unknown);
    let options = Options { time_limit: Some(Duration::ZERO), ..Options::default() };
    let r = prove(&compile(SOURCE, &["-O2"]), &contract, &options, &mut Quiet);
    assert_eq!((r.verdict, r.reasons[0].kind), (Verdict::Unknown, ReasonKind::Stopped));
    let options = Options { max_steps: 10, ..Options::default() };
    let r = prove(&compile(SOURCE, &["-O2"]), &contract, &options, &mut Quiet);
    assert_eq!(r.verdict, Verdict::Unknown);
}
