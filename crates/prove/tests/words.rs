//! Whole products modulo 8380417 in C, as compilers make them of words of 32 bits, and their mutants.

use ringforge_prove::{Contract, Options, Quiet, Report, Verdict, prove};
use ringforge_testing::{cc, compilers};
use std::process::Command;
use std::time::Duration;

/// Z_8380417[x]/(x^16 + 1) by complete transforms, Montgomery's reduction by 2^32, no reduction
/// between the layers.
const SOURCE: &str = r"
#include <stdint.h>
#define N 16
#define Q 8380417
#define QINV 58728449
static const int32_t zetas[N] = {-4186625,25847,-2608894,-518909,237124,-777960,-876248,466468,1826347,2353451,-359251,-2091905,3119733,-2884855,3111497,2680103};
static inline int32_t mont(int64_t a) {
  int32_t t = (int32_t)((int64_t)(int32_t)a * QINV);
  return (int32_t)((a - (int64_t)t * Q) >> 32);
}
static inline int32_t reduce32(int32_t a) {
  int32_t t = (a + (1 << 22)) >> 23;
  return a - t * Q;
}
static inline int32_t caddq(int32_t a) { return a + ((a >> 31) & Q); }
static void ntt(int32_t *a) {
  unsigned len, start, j, k = 0;
  for (len = N / 2; len > 0; len >>= 1)
    for (start = 0; start < N; start = j + len) {
      int32_t z = zetas[++k];
      for (j = start; j < start + len; ++j) {
        int32_t t = mont((int64_t)z * a[j + len]);
        a[j + len] = a[j] - t;
        a[j] = a[j] + t;
      }
    }
}
static void invntt(int32_t *a) {
  unsigned start, len, j, k = N;
  for (len = 1; len < N; len <<= 1)
    for (start = 0; start < N; start = j + len) {
      int32_t z = -zetas[--k];
      for (j = start; j < start + len; ++j) {
        int32_t t = a[j];
        a[j] = t + a[j + len];
        a[j + len] = t - a[j + len];
        a[j + len] = mont((int64_t)z * a[j + len]);
      }
    }
  for (j = 0; j < N; ++j) a[j] = mont((int64_t)(671648) * a[j]);
}
void mul(int32_t *restrict c, const int32_t *restrict a, const int32_t *restrict b) {
  int32_t x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = a[i], y[i] = b[i];
  ntt(x); ntt(y);
  for (int i = 0; i < N; i++) x[i] = mont((int64_t)x[i] * y[i]);
  invntt(x);
  for (int i = 0; i < N; i++) c[i] = caddq(x[i]);
}
";

fn object(source: &str, compiler: &str, flags: &[&str]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (c, o) = (dir.path().join("x.c"), dir.path().join("x.o"));
    std::fs::write(&c, source).unwrap();
    let status = Command::new(compiler)
        .args(flags)
        .arg("-c")
        .arg(&c)
        .arg("-o")
        .arg(&o)
        .status()
        .unwrap_or_else(|e| panic!("{compiler} is needed by this test: {e}"));
    assert!(status.success());
    std::fs::read(o).unwrap()
}

fn proof(object: &[u8], input: i64) -> Report {
    let mut text = String::from(
        "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z8380417[x]/(x^16 + 1)\"\n\
         computes = \"product\"\nalias = []\n",
    );
    let arguments =
        [("c", "output", 0, 8380416), ("a", "input", -input, input), ("b", "input", -input, input)];
    for (name, role, lo, hi) in arguments {
        text += &format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i32\"\nlength = 16\n\
             align = 4\nrange = [{lo}, {hi}]\n"
        );
    }
    let options = Options { search: Duration::from_millis(200), ..Options::default() };
    prove(object, &Contract::parse(&text).unwrap(), &options, &mut Quiet)
}

#[test]
fn both_compilers_at_every_level() {
    for compiler in compilers() {
        for flags in
            [&["-O1"][..], &["-O2"], &["-O3"], &["-Os"], &["-O2", "-mavx2"], &["-O3", "-mavx2"]]
        {
            let r = proof(&object(SOURCE, compiler, flags), 8380416);
            let why = r.reasons.first().map_or("", |r| &r.text);
            assert_eq!(r.verdict, Verdict::Proved, "{compiler} {flags:?}: {why}");
        }
    }
}

#[test]
fn mutants_are_not_proved() {
    let changes = [
        ("QINV 58728449", "QINV 58728451"),
        (">> 32)", ">> 31)"),
        ("(int32_t)((int64_t)(int32_t)a * QINV)", "(int32_t)((int64_t)(int32_t)a * QINV + 1)"),
        ("int64_t)t * Q", "int64_t)t * (Q + 2)"),
        ("a[j] - t;", "a[j] + t;"),
        ("-zetas[--k]", "zetas[--k]"),
        ("return a + ((a >> 31) & Q)", "return a"),
        ("(a >> 31) & Q)", "(a >> 21) & Q)"),
        ("(int64_t)x[i] * y[i]", "(int64_t)x[i] * (uint32_t)y[i]"),
    ];
    for (from, to) in changes {
        assert!(SOURCE.contains(from), "{from}");
        for flags in [&["-O2"][..], &["-O3", "-mavx2"]] {
            let r = proof(&object(&SOURCE.replace(from, to), cc(), flags), 8380416);
            assert_ne!(r.verdict, Verdict::Proved, "{from} -> {to}");
        }
    }
    // Inputs so wide that the first sums wrap.
    assert_ne!(proof(&object(SOURCE, cc(), &["-O2"]), 2147483647).verdict, Verdict::Proved);
}
