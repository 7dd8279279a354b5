//! Products over the integers through one prime that fits words of 32 bits, for a modulus of 16: from
//! C to verdict, right and wrong.

use ringforge_prove::{Contract, Options, Quiet, Report, Verdict, prove};
use std::process::Command;
use std::time::Duration;

/// A factor into Montgomery's domain modulo P, sums of 64 bits, centred digits, sums of these modulo Q.
const SOURCE: &str = r#"
#include <stdint.h>
#define N 8
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
static inline i32 mont(i64 a) {
    i32 t = (i32)((uint32_t)a * (uint32_t)INVERSE);
    return (i32)((a - (i64)t * P) >> 32);
}
void mul(i16 c[N], const i16 a[N], const i16 b[N]) {
    i32 x[N], s[2 * N - 1];
    for (int i = 0; i < N; i++) x[i] = mont((i64)a[i] * SQUARE);
    for (int k = 0; k < 2 * N - 1; k++) {
        i64 sum = 0;
        for (int i = 0; i < N; i++)
            if (k - i >= 0 && k - i < N) sum += (i64)x[i] * b[k - i];
        i32 r = mont(sum);
        i32 t = (i32)(((i64)r * QUOTIENT_P + ((i64)1 << 54)) >> 55);
        s[k] = (i32)((uint32_t)r - (uint32_t)t * P);
    }
    i32 high[N + 1] = { 0 };
    for (int k = N; k < 2 * N - 1; k++) high[k - N + 1] = s[k];
    for (int i = 0; i < N; i++) {
        i32 x = s[i] + high[i + 1] + high[i];
#ifdef WRAPPING
        c[i] = (i16)((i32)((uint32_t)x << 21) >> 21);
#else
        i32 t = (i32)(((i64)x * QUOTIENT_Q + ((i64)1 << 44)) >> 45);
        c[i] = (i16)(x - t * Q);
#endif
    }
}
"#;

/// More than twice 8·2295² = 84,272,400.
const PRIME: i128 = 100_000_007;
/// Less than that by seven: a product right modulo it may still be off by it.
const SHORT: i128 = 84_272_393;

/// What a source is made with.
struct Product {
    q: i128,
    p: i128,
    wrong: &'static str,
    flags: &'static [&'static str],
}

fn power(base: i128, exponent: i128, m: i128) -> i128 {
    (0..exponent).fold(1, |x, _| x * base % m)
}

impl Product {
    fn defines(&self) -> Vec<String> {
        let (p, q) = (self.p, self.q);
        // An odd number's inverse modulo 2^32 is its power of 2^31 - 1.
        let inverse = (0..31)
            .fold((1, p), |(x, square), _| (x * square % (1 << 32), square * square % (1 << 32)));
        let off = |what: &str| i128::from(self.wrong == what);
        let mut all = vec![
            ("P", p),
            ("Q", q),
            ("INVERSE", inverse.0 + 2 * off("inverse")),
            ("SQUARE", power(2, 64, p) + off("square")),
            ("QUOTIENT_P", (1 << 55) / p),
            ("QUOTIENT_Q", ((1 << 45) + q / 2) / q - (off("quotient") << 20)),
        ];
        if q % 2 == 0 {
            all.push(("WRAPPING", 1));
        }
        all.into_iter().map(|(name, value)| format!("-D{name}=({value}LL)")).collect()
    }

    fn report(&self) -> Report {
        let dir = tempfile::tempdir().unwrap();
        let (c, o) = (dir.path().join("x.c"), dir.path().join("x.o"));
        std::fs::write(&c, SOURCE).unwrap();
        let mut command = Command::new(ringforge_testing::cc());
        command.args(self.flags).args(self.defines()).arg("-c").arg(&c).arg("-o").arg(&o);
        assert!(command.status().unwrap().success());
        let q = self.q;
        let (lo, hi) = (-(q / 2), (q - 1) / 2);
        let argument = |name: &str, role: &str| {
            format!(
                "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = 8\nrange = [{lo}, {hi}]\n"
            )
        };
        let text = format!(
            "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z{q}[x]/(x^8 - x - 1)\"\ncomputes = \"product\"\n{}{}{}",
            argument("c", "output"),
            argument("a", "input"),
            argument("b", "input"),
        );
        let contract = Contract::parse(&text).unwrap();
        let options =
            Options { search: Duration::from_millis(300), certificate: true, ..Options::default() };
        prove(&std::fs::read(o).unwrap(), &contract, &options, &mut Quiet)
    }
}

#[test]
fn products_through_a_long_prime_are_proved() {
    for flags in [&["-O1"][..], &["-O2"], &["-O3", "-mavx2"]] {
        for q in [4591, 2048] {
            let report = Product { q, p: PRIME, wrong: "", flags }.report();
            assert_eq!(report.verdict, Verdict::Proved, "{q} {flags:?}: {:?}", report.reasons);
            assert!(report.certificate.replayed.nodes > 0);
        }
    }
}

#[test]
fn wrong_constants_are_refused() {
    for wrong in ["inverse", "square", "quotient"] {
        let product = Product { q: 4591, p: PRIME, wrong, flags: &["-O2"] };
        assert_ne!(product.report().verdict, Verdict::Proved, "{wrong}");
    }
    for wrong in ["inverse", "square"] {
        let product = Product { q: 2048, p: PRIME, wrong, flags: &["-O3", "-mavx2"] };
        assert_ne!(product.report().verdict, Verdict::Proved, "{wrong}");
    }
}

#[test]
fn integers_that_the_prime_does_not_cover_are_refused() {
    let product = Product { q: 4591, p: SHORT, wrong: "", flags: &["-O2"] };
    assert_ne!(product.report().verdict, Verdict::Proved);
}
