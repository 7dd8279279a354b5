//! Products over the integers through several primes, from C to verdict: Garner's digits, right
//! and wrong.

use ringforge_prove::{Contract, Options, Quiet, Report, Verdict, prove};
use std::process::Command;
use std::time::Duration;

/// Products modulo P1, P2 and perhaps P3, digits of the mixed radix, their weighted sum modulo Q.
const SOURCE: &str = r#"
#include <stdint.h>
#define N 8
typedef int16_t i16;
typedef int32_t i32;
static inline i16 mont(i32 a, i16 p, i16 inverse) {
    i16 t = (i16)((uint32_t)a * (uint32_t)(i32)inverse);
    return (i16)((a - (i32)t * p) >> 16);
}
/* A residue of at most p in magnitude, centred. */
static inline i16 freeze(i16 a, i16 p) {
    a = (i16)(a + (p & ((a + (p - 1) / 2) >> 15)));
    return (i16)(a - (p & (i16)(((p - 1) / 2 - a) >> 15)));
}
#define RESIDUE(x, p) freeze(mont((i32)mont(x, p, INV_##p) * SQUARE_##p, p, INV_##p), p)
#define TIMES(x, c, p) freeze(mont((i32)(x) * (c), p, INV_##p), p)
void mul(i16 c[N], const i16 a[N], const i16 b[N]) {
    i16 s[2 * N - 1];
    for (int k = 0; k < 2 * N - 1; k++) {
        i32 sum = 0;
        for (int i = 0; i < N; i++)
            if (k - i >= 0 && k - i < N) sum += (i32)a[i] * b[k - i];
#ifdef UNREDUCED
        i16 u1 = 0;
        for (int i = 0; i < N; i++)
            if (k - i >= 0 && k - i < N) u1 = (i16)(u1 + RESIDUE(a[i], P1) * b[k - i]);
#else
        i16 u1 = RESIDUE(sum, P1);
#endif
        i16 u2 = TIMES((i16)(RESIDUE(sum, P2) - u1), INVERSE_12, P2);
#ifdef HALF
        /* From 0 to P2 - 1 instead. */
        u2 = (i16)(u2 + HALF);
        u2 = (i16)(u2 + (P2 & (u2 >> 15)));
#endif
#ifdef P3
        i16 u3 = TIMES((i16)(RESIDUE(sum, P3) - u1), INVERSE_13, P3);
        u3 = TIMES((i16)(u3 - u2), INVERSE_23, P3);
#endif
#ifdef SWAPPED
        i16 t = u1; u1 = u2; u2 = t;
#endif
#ifdef WRAPPING
        s[k] = (i16)(u1 + WEIGHT_2 * u2 + WEIGHT_3 * u3);
#else
        s[k] = (i16)(u1 + mont((i32)u2 * WEIGHT_2, Q, INV_Q));
#ifdef HALF
        s[k] = (i16)(s[k] - OFFSET);
#endif
#ifdef P3
        s[k] = (i16)(s[k] + mont((i32)u3 * WEIGHT_3, Q, INV_Q));
#endif
#endif
    }
    for (int i = 0; i < N; i++) {
        i16 x = (i16)(s[i] + (i < N - 1 ? s[i + N] : 0) + (i > 0 ? s[i + N - 1] : 0));
#ifdef WRAPPING
        c[i] = (i16)((i16)(x << 5) >> 5);
#else
        i16 t = (i16)(((i32)x * BARRETT + (1 << 25)) >> 26);
        c[i] = freeze((i16)(x - t * Q), Q);
#endif
    }
}
"#;

/// What a source is made with.
#[derive(Clone, Debug)]
struct Product {
    q: i64,
    primes: Vec<i64>,
    a: i64,
    b: i64,
    wrong: &'static str,
    /// Whether the first digit is a sum of products of residues, as it comes.
    unreduced: bool,
    /// What is added to the second digit before it is made not negative.
    half: Option<i64>,
    flags: &'static [&'static str],
}

fn power(base: i64, exponent: i64, m: i64) -> i64 {
    (0..exponent).fold(1, |x, _| x * base % m)
}

fn inverse(x: i64, m: i64) -> i64 {
    (1..m).find(|y| x.rem_euclid(m) * y % m == 1).unwrap()
}

fn centred(x: i64, m: i64) -> i64 {
    let x = x.rem_euclid(m);
    if 2 * x > m { x - m } else { x }
}

impl Product {
    fn defines(&self) -> Vec<String> {
        let mut all: Vec<(String, i64)> = Vec::new();
        let mut define = |name: String, value: i64| all.push((name, value));
        let word = |p: i64| centred(inverse(p, 1 << 16), 1 << 16);
        let (q, r) = (self.q, |m: i64| power(2, 16, m));
        define("Q".into(), q);
        if q % 2 == 1 {
            define("INV_Q".into(), word(q));
            define("BARRETT".into(), ((1 << 26) + q / 2) / q);
        } else {
            define("WRAPPING".into(), 1);
        }
        let mut weight = 1;
        for (k, &p) in self.primes.iter().enumerate() {
            let name = format!("P{}", k + 1);
            define(name.clone(), p);
            define(format!("INV_{name}"), word(p));
            define(format!("SQUARE_{name}"), centred(r(p) * r(p), p));
            for (j, &other) in self.primes[..k].iter().enumerate() {
                let off = i64::from(self.wrong == "inverse" && (j, k) == (0, 1));
                let value = (inverse(other, p) + off) * r(p);
                define(format!("INVERSE_{}{}", j + 1, k + 1), centred(value, p));
            }
            let off = i64::from(self.wrong == "weight" && k == 1);
            let scale = if q % 2 == 1 { r(q) } else { 1 };
            define(format!("WEIGHT_{}", k + 1), centred((weight + off) * scale, q));
            weight = weight * p % q;
        }
        if let Some(half) = self.half {
            let [p, ..] = self.primes[..] else { panic!("no primes") };
            define("HALF".into(), half);
            define("OFFSET".into(), centred(half * p + i64::from(self.wrong == "offset"), q));
        }
        if self.unreduced {
            define("UNREDUCED".into(), 1);
        }
        if self.wrong == "swapped" {
            define("SWAPPED".into(), 1);
        }
        all.into_iter().map(|(name, value)| format!("-D{name}=({value})")).collect()
    }

    fn report(&self) -> Report {
        let dir = tempfile::tempdir().unwrap();
        let (c, o) = (dir.path().join("x.c"), dir.path().join("x.o"));
        std::fs::write(&c, SOURCE).unwrap();
        let mut command = Command::new(ringforge_testing::cc());
        command.args(self.flags).args(self.defines()).arg("-c").arg(&c).arg("-o").arg(&o);
        assert!(command.status().unwrap().success());
        let object = std::fs::read(o).unwrap();
        let (q, a, b) = (self.q, self.a, self.b);
        let argument = |name: &str, role: &str, lo: i64, hi: i64| {
            format!(
                "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = 8\nrange = [{lo}, {hi}]\n"
            )
        };
        let text = format!(
            "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z{q}[x]/(x^8 - x - 1)\"\ncomputes = \"product\"\n{}{}{}",
            argument("c", "output", -(q / 2), (q - 1) / 2),
            argument("a", "input", -a, a),
            argument("b", "input", -b, b),
        );
        let contract = Contract::parse(&text).unwrap();
        let options =
            Options { search: Duration::from_millis(300), certificate: true, ..Options::default() };
        prove(&object, &contract, &options, &mut Quiet)
    }
}

fn verdict(product: &Product) -> Verdict {
    product.report().verdict
}

/// 191·193 is more than twice 8·2303.
fn two() -> Product {
    Product {
        q: 4591,
        primes: vec![191, 193],
        a: 2303,
        b: 1,
        wrong: "",
        unreduced: false,
        half: None,
        flags: &["-O2"],
    }
}

/// 443·449·457 is more than twice 8·2295².
fn three() -> Product {
    let primes = vec![443, 449, 457];
    Product { primes, a: 2295, b: 2295, ..two() }
}

#[test]
fn products_through_primes_are_proved() {
    for flags in [&["-O1"][..], &["-O2"], &["-O3", "-mavx2"]] {
        let swapped = Product { primes: vec![193, 191], ..two() };
        for product in [two(), swapped, three()] {
            let report = Product { flags, ..product }.report();
            assert_eq!(report.verdict, Verdict::Proved, "{flags:?}: {:?}", report.reasons);
            assert!(report.certificate.replayed.nodes > 0);
        }
    }
}

#[test]
fn composite_moduli_are_proved() {
    // 4590 = 2·3³·5·17, 4593 = 3·1531.
    for q in [4593, 4095] {
        let report = Product { q, ..three() }.report();
        assert_eq!(report.verdict, Verdict::Proved, "{q}: {:?}", report.reasons);
    }
}

#[test]
fn powers_of_two_are_proved() {
    let report = Product { q: 2048, a: 1024, b: 1024, ..three() }.report();
    assert_eq!(report.verdict, Verdict::Proved, "{:?}", report.reasons);
    for wrong in ["weight", "inverse", "swapped"] {
        let product = Product { q: 2048, a: 1024, b: 1024, wrong, ..three() };
        assert_ne!(verdict(&product), Verdict::Proved, "{wrong}");
    }
}

/// With residues of a up to 95 and |b| up to 1, the first digit is at most 8·95 unreduced, and both
/// digits reach 8·95 + 191·96 = 19096; with 8·2100 that is less than 191·193.
fn unreduced() -> Product {
    Product { a: 2100, unreduced: true, ..two() }
}

#[test]
fn sums_of_products_of_residues_are_digits() {
    for flags in [&["-O1"][..], &["-O2"], &["-O3", "-mavx2"]] {
        let report = Product { flags, ..unreduced() }.report();
        assert_eq!(report.verdict, Verdict::Proved, "{flags:?}: {:?}", report.reasons);
    }
    for wrong in ["inverse", "weight", "swapped"] {
        assert_ne!(verdict(&Product { wrong, ..unreduced() }), Verdict::Proved, "{wrong}");
    }
    // The integers have no room for a digit that is not reduced.
    assert_ne!(verdict(&Product { a: 2303, ..unreduced() }), Verdict::Proved);
    // Nor does the sum fit 16 bits with a wider operand.
    assert_ne!(verdict(&Product { b: 60, a: 30, ..unreduced() }), Verdict::Proved);
}

/// The second digit from 0 on stands for an integer that is less by 96·191.
fn from_zero() -> Product {
    Product { half: Some(96), ..two() }
}

#[test]
fn digits_that_stand_for_more_are_proved() {
    for flags in [&["-O1"][..], &["-O2"], &["-O3", "-mavx2"]] {
        let report = Product { flags, ..from_zero() }.report();
        assert_eq!(report.verdict, Verdict::Proved, "{flags:?}: {:?}", report.reasons);
    }
    for wrong in ["offset", "inverse", "weight"] {
        assert_ne!(verdict(&Product { wrong, ..from_zero() }), Verdict::Proved, "{wrong}");
    }
    // With less than half of the modulus the digit goes round for some inputs, with more it never does.
    for (half, right) in [(95, false), (100, true)] {
        let product = Product { half: Some(half), ..from_zero() };
        assert_eq!(verdict(&product) == Verdict::Proved, right, "{half}");
    }
}

#[test]
fn wrong_digits_are_refused() {
    for product in [two(), three()] {
        for wrong in ["inverse", "weight", "swapped"] {
            let product = Product { wrong, ..product.clone() };
            assert_ne!(verdict(&product), Verdict::Proved, "{wrong} {:?}", product.primes);
        }
    }
}

#[test]
fn integers_that_primes_do_not_cover_are_refused() {
    // 2·8·2304 is 191·193 + 1.
    assert_ne!(verdict(&Product { a: 2304, ..two() }), Verdict::Proved);
    assert_ne!(verdict(&Product { b: 2, ..two() }), Verdict::Proved);
    // 181·199 is less than twice 8·2303, 191·193 = 36863 is more.
    assert_ne!(verdict(&Product { primes: vec![181, 199], ..two() }), Verdict::Proved);
    assert_ne!(verdict(&Product { primes: vec![431, 433, 443], ..three() }), Verdict::Proved);
}

/// The kernel's tests damage this certificate: it must be one that is written.
#[test]
fn the_kernel_is_tested_by_what_is_written() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernel/tests/several_primes");
    let contract = std::fs::read_to_string(format!("{dir}/contract.toml")).unwrap();
    let object = std::fs::read(format!("{dir}/small.o")).unwrap();
    let options = Options { certificate: true, ..Options::default() };
    let report = prove(&object, &Contract::parse(&contract).unwrap(), &options, &mut Quiet);
    assert_eq!(report.verdict, Verdict::Proved, "{:?}", report.reasons);
    let file = format!("{dir}/certificate.txt");
    if std::env::var_os("RINGFORGE_BLESS").is_some() {
        std::fs::write(&file, &report.certificate.text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap();
    assert!(found == report.certificate.text, "{file} is stale: RINGFORGE_BLESS=1 rewrites it");
}
