//! Products modulo powers of two in rings of any f, as compilers make them, and their mutants: an unreduced
//! product, and its remainder term by term or by the reciprocal of f.

mod common;

use common::{check_witness, compile_by, told};
use ringforge_prove::{Contract, Options, Quiet, Report, Verdict, prove};
use ringforge_testing::{cc, program};
use std::time::Duration;

const N: usize = 16;
const BITS: u32 = 13;
/// f without x^16: every coefficient is there.
const F: [i64; N] = [5, -1, 4095, -4096, 17, 2, 3000, -2, 1, 1, -77, 1024, 6, -2047, 3, 4001];

const SOURCE: &str = r"
#include <stdint.h>
#define N 16
typedef uint16_t word;
static const int16_t f[N] = { F_TABLE };
static const int16_t mu[N - 1] = { MU_TABLE };
void mul(int16_t *restrict c, const int16_t *restrict a, const int16_t *restrict b) {
  word p[2 * N], q[N];
  for (int i = 0; i < 2 * N; i++) p[i] = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) p[i + j] += (unsigned)(word)a[i] * (word)b[j];
  QUOTIENT
  for (int i = 0; i < N; i++) {
    word r = p[i];
    for (int j = 0; j <= i && j < N - 1; j++) r -= (unsigned)(word)f[i - j] * q[j];
    c[i] = (int16_t)(r << 3) >> 3;
  }
}
";

const IN_STEPS: &str = "for (int i = N - 2; i >= 0; i--) {
    q[i] = p[N + i];
    for (int d = 1; d < N - 1 - i; d++) q[i] -= (unsigned)(word)f[N - d] * q[i + d];
  }";

const BY_RECIPROCAL: &str = "for (int i = 0; i < N - 1; i++) {
    q[i] = 0;
    for (int d = 0; d < N - 1 - i; d++) q[i] += (unsigned)(word)mu[d] * p[N + i + d];
  }";

/// The coefficients of ⌊x^(2n−2)/f⌋ from the top, modulo 2^13 and centred.
fn reciprocal() -> Vec<i64> {
    let mut mu = vec![1i64];
    for d in 1..N - 1 {
        let next: i64 = (1..=d).map(|e| -F[N - e] * mu[d - e]).sum();
        mu.push((next + 4096).rem_euclid(8192) - 4096);
    }
    mu
}

fn source(quotient: &str) -> String {
    let table = |all: &[i64]| all.iter().map(|c| format!("{c},")).collect::<String>();
    SOURCE
        .replace("F_TABLE", &table(&F))
        .replace("MU_TABLE", &table(&reciprocal()))
        .replace("QUOTIENT", quotient)
}

fn contract(f: &[i64]) -> Contract {
    let terms: String =
        (0..N).rev().map(|i| format!(" + {}x^{i}", f[i].rem_euclid(8192))).collect();
    let mut text = format!(
        "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z8192[x]/(x^16{terms})\"\n\
         computes = \"product\"\nalias = []\n"
    );
    for (name, role) in [("c", "output"), ("a", "input"), ("b", "input")] {
        text += &format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {N}\n\
             align = 2\nrange = [-4096, 4095]\n"
        );
    }
    Contract::parse(&text).unwrap_or_else(|e| panic!("{e:?}"))
}

fn proof(compiler: &str, flags: &[&str], source: &str, contract: &Contract) -> Report {
    let object = compile_by(compiler, source, flags).expect("the compiler is needed by this test");
    let options = Options { search: Duration::from_secs(1), ..Options::default() };
    prove(&object, contract, &options, &mut Quiet)
}

#[test]
fn any_f_is_reduced_by() {
    assert_eq!(1 << BITS, 8192);
    for quotient in [IN_STEPS, BY_RECIPROCAL] {
        for (compiler, flags) in
            [("gcc", &["-O1"][..]), ("gcc", &["-O3", "-mavx2"]), ("clang", &["-O3"])]
        {
            let Some(compiler) = program(compiler) else { continue };
            let r = proof(compiler, flags, &source(quotient), &contract(&F));
            assert!(r.is_proved(), "{compiler} {flags:?}: {}", told(&r));
            assert_eq!(r.counts.equations, 17 * 17 * 16);
        }
    }
}

#[test]
fn another_f_is_refuted() {
    for at in [0, 7, 15] {
        let mut f = F;
        // The lightest difference: the top bit of one coefficient.
        f[at] += 4096;
        let contract = contract(&f);
        for quotient in [IN_STEPS, BY_RECIPROCAL] {
            let r = proof(cc(), &["-O2"], &source(quotient), &contract);
            assert_eq!(r.verdict, Verdict::Refuted, "{at}: {}", told(&r));
            check_witness(&contract, &r);
        }
    }
}

#[test]
fn mutants_are_refused() {
    let contract = contract(&F);
    let mut refuted = 0;
    let steps = [
        ("f[N - d]", "f[N - 1]"),
        ("d < N - 1 - i", "d < N - 2 - i"),
        ("q[i] -=", "q[i] +="),
        ("i = N - 2; i >= 0", "i = N - 2; i >= 1"),
        ("q[i] = p[N + i]", "q[i] = p[N + i] + 4096"),
        ("r -= ", "r += "),
        ("j <= i &&", "j < i &&"),
        ("f[i - j]", "f[i]"),
        ("word r = p[i]", "word r = p[i + 1]"),
    ];
    let reciprocal = [("mu[d]", "mu[0]"), ("q[i] = 0", "q[i] = 1"), ("d = 0;", "d = 1;")];
    let all = steps.iter().map(|change| (IN_STEPS, change));
    for (quotient, (from, to)) in all.chain(reciprocal.iter().map(|c| (BY_RECIPROCAL, c))) {
        // What was initialised before is not missed.
        let whole = source(quotient).replace("q[N];", "q[N] = { 0 };");
        assert!(whole.contains(from), "{from}");
        let r = proof(cc(), &["-O2"], &whole.replacen(from, to, 1), &contract);
        assert_ne!(r.verdict, Verdict::Proved, "{from} -> {to}");
        if r.verdict == Verdict::Refuted {
            check_witness(&contract, &r);
            refuted += 1;
        } else {
            // Half a pointer above a word, further down in a sum than terms are cut.
            assert!(r.reasons[0].text.contains("depends on an address"), "{}", told(&r));
        }
    }
    assert!(refuted >= 8, "{refuted}");
}
