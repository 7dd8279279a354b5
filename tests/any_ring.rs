//! Rings that nobody prepared: drawn from fixed seeds, forged without a plan, run against the schoolbook product on
//! random and on worst-case inputs, and proved.
//!
//! Each ring is printed when it is done: `ringforge forge 'RING' --target c --no-bench` does it again. Every day six in
//! portable C and one for AVX2; left to `RINGFORGE_LONG=1`: all 18, four for AVX2, and five of
//! two hundred at default settings with gcc and clang.

mod common;

use common::{Sandbox, compilers, in_parallel, share};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Mutex;

/// What the modulus is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modulus {
    Prime,
    /// Of an odd prime.
    Power,
    Composite,
    PowerOfTwo,
    Two,
}

/// A ring with its operands.
#[derive(Clone, Debug)]
struct Case {
    ring: String,
    rhs: &'static str,
    modulus: Modulus,
}

const RINGS: usize = 18;
/// Those of every day: each kind of modulus twice, the least degree, and one dense f.
const DAILY: [usize; 6] = [0, 1, 5, 6, 7, 8];

fn is_prime(n: u64) -> bool {
    n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d))
}

fn modulus(rng: &mut StdRng, kind: Modulus) -> u64 {
    match kind {
        Modulus::PowerOfTwo => 1 << rng.random_range(1..=16),
        Modulus::Two => 2,
        Modulus::Power => loop {
            let (p, k) = (rng.random_range(3u64..=255), rng.random_range(2..=6));
            if is_prime(p) && p.pow(k) <= 1 << 16 {
                return p.pow(k);
            }
        },
        kind => loop {
            let bits = rng.random_range(2..=16);
            let q = rng.random_range(1 << (bits - 1)..1u64 << bits).max(2);
            if is_prime(q) == (kind == Modulus::Prime) && !q.is_power_of_two() {
                return q;
            }
        },
    }
}

/// What f is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terms {
    /// All coefficients random.
    Dense,
    /// A few of ±1 at low positions.
    Few,
    /// Two to six below x^n, of any size at any position; the constant one may be zero.
    Any,
}

/// A monic f of degree n.
fn polynomial(rng: &mut StdRng, n: usize, q: u64, terms: Terms) -> String {
    let mut f = vec![0u64; n];
    match terms {
        Terms::Dense => {
            f.iter_mut().for_each(|c| *c = rng.random_range(0..q));
            f[0] = f[0].max(1);
        }
        Terms::Few => {
            f[0] = if rng.random() { 1 } else { q - 1 };
            for _ in 0..rng.random_range(0..3) {
                let (at, sign) = (rng.random_range(0..n / 2), rng.random());
                f[at] = if sign { 1 } else { q - 1 };
            }
            f[0] = f[0].max(1);
        }
        Terms::Any => {
            for _ in 0..rng.random_range(2..=6) {
                f[rng.random_range(0..n)] = rng.random_range(1..q);
            }
            if rng.random() {
                f[0] = rng.random_range(0..q);
            }
        }
    }
    let term = |(i, c): (usize, &u64)| match (i, *c) {
        (_, 0) => String::new(),
        (0, c) => format!(" + {c}"),
        (i, c) => format!(" + {c}x^{i}"),
    };
    let rest: Vec<String> = f.iter().enumerate().rev().map(term).collect();
    format!("x^{n}{}", rest.concat())
}

/// The rings: every kind of modulus, degrees from 16 to 1024, every fourth f dense.
fn cases() -> Vec<Case> {
    let mut rng = StdRng::seed_from_u64(0x7269_6e67);
    let kinds = [Modulus::Prime, Modulus::Composite, Modulus::PowerOfTwo];
    let mut all = Vec::new();
    for i in 0..RINGS {
        let kind = kinds[i % kinds.len()];
        let q = modulus(&mut rng, kind);
        let exact = rng.random_bool(0.2);
        // Small degrees are tried more often than large ones: a test must end.
        let log: f64 = 4.0 + 6.0 * f64::powi(rng.random_range(0.0..=1.0), 4);
        let n = if exact { 1 << f64::floor(log) as u32 } else { f64::exp2(log) as usize };
        // Both ends are there, the long one with a sparse f.
        let n = match i {
            0 => 16,
            2 => 1024,
            _ => n,
        };
        let terms = if i % 4 == 3 { Terms::Dense } else { Terms::Few };
        let f = polynomial(&mut rng, n, q, terms);
        let small = q > 3 && rng.random_bool(0.25);
        let rhs = if small { "small" } else { "big" };
        all.push(Case { ring: format!("Z{q}[x]/({f})"), rhs, modulus: kind });
    }
    all
}

/// Rings at default settings.
const DEFAULT: usize = 200;
/// The kinds of f in turn, half of them with any terms.
const TERMS: [Terms; 4] = [Terms::Any, Terms::Few, Terms::Any, Terms::Dense];

/// Rings with a target and the number of a compiler: every class of moduli with each of the four, degrees from 16 to
/// 400 and every tenth up to 2048, f of every kind.
fn default_cases() -> Vec<(Case, &'static str, usize)> {
    let mut rng = StdRng::seed_from_u64(0x616e_7900);
    let kinds =
        [Modulus::Prime, Modulus::Power, Modulus::Composite, Modulus::PowerOfTwo, Modulus::Two];
    let mut all = Vec::new();
    for i in 0..DEFAULT {
        let kind = kinds[i % kinds.len()];
        let q = modulus(&mut rng, kind);
        let log: f64 = 4.0 + 4.65 * f64::powi(rng.random_range(0.0..=1.0), 2);
        // Long ones have few terms.
        let long = i % 20 == 12;
        let n = if long { rng.random_range(512..=2048) } else { f64::exp2(log) as usize };
        let f = polynomial(&mut rng, n, q, TERMS[(i / 4) % TERMS.len()]);
        let rhs = if q > 3 && rng.random_bool(0.3) { "small" } else { "big" };
        let target = if i % 4 < 2 { "avx2" } else { "c" };
        all.push((Case { ring: format!("Z{q}[x]/({f})"), rhs, modulus: kind }, target, i % 2));
    }
    all
}

/// What became of a ring.
enum Outcome {
    /// Forged, proved, and right on all inputs that it was run on.
    Proved,
    /// The same, and slower than plain C, which it says.
    Slow,
    /// No candidate is proved, and so nothing was made; why not.
    Open(String),
    /// Anything else, which must not be.
    Wrong(String),
}

/// Forges one; with a compiler at default settings, without any with no more than what a proof needs.
fn forge(case: &Case, target: &str, compiler: Option<&str>) -> Outcome {
    tried(case, target, compiler).unwrap_or_else(Outcome::Wrong)
}

fn tried(case: &Case, target: &str, compiler: Option<&str>) -> Result<Outcome, String> {
    let dir = Sandbox::new();
    let (ring, rhs) = (case.ring.as_str(), format!("--rhs={}", case.rhs));
    let target = format!("--target={target}");
    let args = ["--json", "forge", ring, &rhs, &target, "--pairs=200", "--out=p", "--name=any"];
    let cc = compiler.map(|name| format!("--cc={name}"));
    let more = match &cc {
        Some(cc) => vec![cc.as_str()],
        None => vec!["--no-bench", "--try=2", "--patience=180"],
    };
    let run = dir.ringforge(&[&args[..], &more].concat());
    let package: serde_json::Value =
        serde_json::from_str(&run.stdout).map_err(|e| format!("{e}: {run:?}"))?;
    let error = package["error"].as_str().unwrap_or_default();
    // A candidate that is refuted is a wrong program, whoever was taken.
    if error.contains("refuted") || package["choices"].to_string().contains("refuted") {
        return Err(format!("refuted: {package}"));
    }
    if run.status == 1 && error.starts_with("no candidate for target") {
        assert_eq!(dir.names().len(), 0, "nothing is made");
        return Ok(Outcome::Open(error.to_owned()));
    }
    if run.status != 0 {
        return Err(format!("status {}: {error}", run.status));
    }
    let [one] = package["targets"].as_array().map_or(&[][..], Vec::as_slice) else {
        return Err(format!("not one target: {package}"));
    };
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    match () {
        () if package["verdict"] != "proved" || one["proof"]["verdict"] != "proved" => {
            Err(format!("{}: {}", package["verdict"], one["proof"]["reasons"]))
        }
        () if number(&one["proof"]["counts"]["equations"]) == 0 => Err("nothing verified".into()),
        () if number(&one["executed"]["worst_cases"]) < 100
            || number(&one["executed"]["products"]) < 300 =>
        {
            Err(format!("not run: {}", one["executed"]))
        }
        () if compiler.is_some() => {
            // It was timed beside plain C. Tests do not time: what is said is shown, and read.
            let [plain] = package["schoolbook"].as_array().map_or(&[][..], Vec::as_slice) else {
                return Err(format!("not beside plain C: {}", package["schoolbook"]));
            };
            let slower = plain["slower"].as_bool().ok_or("plain C without a word")?;
            assert_eq!(slower, run.stderr.contains("and plain schoolbook C by the same compiler"));
            Ok(if slower { Outcome::Slow } else { Outcome::Proved })
        }
        () => Ok(Outcome::Proved),
    }
}

/// Moduli above 2^16, for transforms and through several primes: proved, or refused at once with the limit.
#[test]
fn great_moduli_are_proved_or_refused_with_the_limit() {
    let dir = Sandbox::new();
    let forge = |ring: &str, more: &[&str]| {
        let args = ["--json", "forge", ring, "--target=c", "--no-bench", "--pairs=50", "--name=g"];
        dir.ringforge(&[&args[..], more].concat())
    };
    for ring in ["Z786433[x]/(x^32 + 1)", "Z8380417[x]/(x^32 + 1)"] {
        let run = forge(ring, &["--out=p"]);
        assert_eq!(run.status, 0, "{ring}: {run:?}");
        assert_eq!(run.json()["verdict"], "proved", "{ring}");
    }
    // By gcc, which takes upper halves of products without sign and corrects them beside those with sign.
    let ring = "Z65537[x]/(x^32 + 1)";
    let run = forge(ring, &["--out=c", "--cc=gcc"]);
    assert_eq!(run.status, 0, "{ring}: {run:?}");
    assert_eq!(run.json()["verdict"], "proved", "{ring}");
    // Plain C, where nothing better is known.
    for ring in ["Z65537[x]/(x^64 - 3)", "Z65538[x]/(x^32 - x - 1)", "Z1000003[x]/(x^64 + 1)"] {
        let run = forge(ring, &["--out=l"]);
        assert_eq!(run.status, 0, "{ring}: {run:?}");
        assert_eq!(run.json()["verdict"], "proved", "{ring}");
        assert!(run.json()["plan"].to_string().contains("(plain"), "{ring}");
    }
    let beyond = [
        (
            "Z2147483647[x]/(x^32 + 1)",
            "sums of 32 products modulo 2147483647 need more than 64 bits",
        ),
        ("Z2013265921[x]/(x^32 + 1)", "hold no sum of such products; take a smaller"),
    ];
    for (ring, limit) in beyond {
        let run = forge(ring, &["--out=q"]);
        assert_eq!(run.status, 2, "{ring}: {run:?}");
        let error = run.json()["error"].to_string();
        assert!(error.contains(limit), "{error}");
    }
    // A plan of the user's own, through primes that do not cover the product.
    let plan = "(plan g (ring \"Z1000003[x]/(x^16 + 1)\") (operands big small) \
                (lift 31 (change-modulus (prime 3329 (schoolbook)) (prime 257 (schoolbook)))))";
    std::fs::write(dir.path().join("short.plan"), plan).expect("written");
    let run = forge("Z1000003[x]/(x^16 + 1)", &["--rhs=small", "--plan=short.plan", "--out=s"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.json()["error"].to_string().contains("covers only"), "{run:?}");
}

/// The last resort in portable C by itself: sums folded by f and reduced once, exactly, for an odd and for an even q;
/// those that are reduced twice and frozen; and remainders by f of many coefficients, of every kind of sums. For AVX2
/// moduli by which 2^16 divided is nearly an integer, so that a quotient by 2^16 would do.
#[test]
fn the_definition_is_proved_with_each_compiler() {
    let dense = |q: u64, n: usize| {
        let f = polynomial(&mut StdRng::seed_from_u64(n as u64), n, q, Terms::Dense);
        (format!("Z{q}[x]/({f})"), n)
    };
    let sparse = [
        ("Z17[x]/(x^24 - x - 1)", 24),
        ("Z12[x]/(x^18 + x^7 - 1)", 18),
        ("Z17[x]/(x^16 - x - 1)", 16),
        ("Z7[x]/(x^57 - x - 1)", 57),
        ("Z60[x]/(x^40 - x^4 + 1)", 40),
        ("Z10[x]/(x^45 + x^40 + x^23 + 1)", 45),
        ("Z3329[x]/(x^30 + x^2 - 1)", 30),
        ("Z51529[x]/(x^16 - x - 1)", 16),
    ];
    let mut rings = sparse.map(|(ring, n)| (ring.to_owned(), n, "c")).to_vec();
    rings.extend([(17, 20), (32, 24), (24649, 18), (122, 16), (3329, 40)].map(|(q, n)| {
        let (ring, n) = dense(q, n);
        (ring, n, "c")
    }));
    let even = [("Z66[x]/(x^60 - 1)", 60), ("Z62[x]/(x^50 - 1)", 50), ("Z58[x]/(x^150 - 1)", 150)];
    rings.extend(even.map(|(ring, n)| (ring.to_owned(), n, "avx2")));
    // The remainder by two more products, of sums of 32 bits; the constant of the quotient is a prime.
    let (ring, n) = dense(499, 190);
    rings.push((ring, n, "avx2"));
    let mut open = Vec::new();
    // One compiler each, the next for the next.
    let compilers = compilers();
    let cases = rings.iter().zip(compilers.iter().cycle()).collect::<Vec<_>>();
    for ((ring, n, target), compiler) in share(&cases, &[0, 8, 13]) {
        let dir = Sandbox::new();
        let text = format!("(plan own (ring \"{ring}\") (lift {} (schoolbook)))", 2 * n - 1);
        std::fs::write(dir.path().join("own.plan"), text).expect("written");
        let cc = format!("--cc={compiler}");
        let target = format!("--target={target}");
        let args = ["--json", "forge", ring, "--plan=own.plan", &target, "--no-bench"];
        let run = dir.ringforge(&[&args[..], &[&cc, "--pairs=50", "--out=p"]].concat());
        if run.status != 0 || run.json()["verdict"] != "proved" {
            let reasons = run.json()["targets"][0]["proof"]["reasons"].to_string();
            open.push(format!("{ring} {target} by {compiler}, {}: {reasons}", run.status));
        }
    }
    assert!(open.is_empty(), "not proved:\n{}", open.join("\n"));
}

/// Where f has few coefficients the cheapest transforms are proved themselves: sums of digits that words share,
/// through one prime and through several, and sums that are shifted twice.
#[test]
fn the_cheapest_transforms_of_sparse_f_are_proved() {
    let rings = ["Z65521[x]/(x^64 + x^3 + 7)", "Z2[x]/(x^256 + x + 1)"];
    let all = rings.iter().flat_map(|r| compilers().into_iter().map(move |c| (r, c)));
    let all: Vec<_> = all.collect();
    let last = all.len() - 1;
    in_parallel(share(&all, &[last / 2, last]), |(ring, compiler)| {
        let dir = Sandbox::new();
        let cc = format!("--cc={compiler}");
        let args = ["--json", "forge", ring, "--target=avx2", "--no-bench", "--try=1"];
        let run = dir.ringforge(&[&args[..], &[&cc, "--pairs=50", "--out=p"]].concat());
        assert_eq!(run.status, 0, "{ring}, {compiler}: {run:?}");
        let package = run.json();
        let first = &package["choices"][0]["trials"][0];
        assert_eq!(first["taken"], true, "{ring}, {compiler}: {first}");
    });
}

/// Forges all for one target; all must be proved, and nothing may be wrong.
fn all(cases: &[Case], target: &'static str) {
    let cases: Vec<_> = cases.iter().map(|case| (case.clone(), target, None)).collect();
    each(&cases, 0);
}

/// Forges all, on all processors; all must be proved, and nothing may be wrong. They are numbered from `first` on.
fn each(cases: &[(Case, &'static str, Option<&'static str>)], first: usize) {
    let found = Mutex::new((Vec::new(), Vec::new()));
    in_parallel(cases.iter().enumerate(), |(i, (case, target, compiler))| {
        let Case { ring, rhs, modulus } = case;
        let shown: String = ring.chars().take(100).collect();
        let started = std::time::Instant::now();
        let done = forge(case, target, *compiler);
        let seconds = started.elapsed().as_secs_f64();
        let (what, why) = match done {
            Outcome::Proved => ("proved", None),
            Outcome::Slow => ("proved, slower than plain C", None),
            Outcome::Open(why) => ("open", Some((false, why))),
            Outcome::Wrong(why) => ("WRONG", Some((true, why))),
        };
        let number = first + i;
        println!(
            "{number:2} {target} {} {modulus:?} {shown} big × {rhs}: {what}, {seconds:.1} s",
            compiler.unwrap_or_default()
        );
        let mut found = found.lock().expect("nobody panics");
        if let Some((wrong, why)) = why {
            let list = if wrong { &mut found.1 } else { &mut found.0 };
            list.push(format!("{ring}, big × {rhs}: {why}"));
        }
    });
    let (open, wrong) = found.into_inner().expect("nobody panics");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let proved = cases.len() - open.len();
    assert!(open.is_empty(), "{proved} of {} are proved; not:\n{}", cases.len(), open.join("\n"));
}

#[test]
fn there_are_rings_of_every_kind() {
    let all = cases();
    assert_eq!(all.len(), RINGS);
    for kind in [Modulus::Prime, Modulus::Composite, Modulus::PowerOfTwo] {
        assert!(all.iter().filter(|case| case.modulus == kind).count() == RINGS / 3, "{kind:?}");
    }
    let rings: std::collections::BTreeSet<&str> = all.iter().map(|c| c.ring.as_str()).collect();
    assert_eq!(rings.len(), RINGS, "no ring twice");
    assert!(all.iter().any(|case| case.rhs == "small"));
    for kind in [Modulus::Prime, Modulus::Composite, Modulus::PowerOfTwo] {
        assert_eq!(DAILY.iter().filter(|&&i| all[i].modulus == kind).count(), 2, "{kind:?}");
    }
}

#[test]
fn all_rings_in_portable_c_are_right_and_proved() {
    all(&share(&cases(), &DAILY), "c");
}

#[test]
fn rings_for_avx2_are_right_and_proved() {
    let some: Vec<Case> = cases().into_iter().skip(2).step_by(4).collect();
    assert_eq!(some.len(), 4);
    all(&share(&some, &[1]), "avx2");
}

/// A few of the two hundred; with `RINGFORGE_RINGS=200` all of them, which takes hours, with `RINGFORGE_RINGS=40..80`
/// those in between.
#[test]
#[ignore = "in the long run"]
fn any_ring_ends_proved_at_default_settings() {
    let compilers = compilers();
    let with = |(case, target, i): (Case, &'static str, usize)| {
        (case, target, Some(compilers[i % compilers.len()]))
    };
    let number = |text: &str| text.parse().expect("a number");
    let (from, to) = match std::env::var("RINGFORGE_RINGS") {
        Ok(text) => match text.split_once("..") {
            Some((from, to)) => (number(from), number(to)),
            None => (0, number(&text)),
        },
        Err(_) => (0, 5),
    };
    let all: Vec<_> = default_cases().into_iter().map(with).collect();
    assert_eq!(all.len(), DEFAULT);
    assert!(from < to && to <= DEFAULT, "there are {DEFAULT} rings");
    each(&all[from..to], from);
}

ringforge_testing::rest!(
    the_definition_is_proved_with_each_compiler,
    the_cheapest_transforms_of_sparse_f_are_proved,
    all_rings_in_portable_c_are_right_and_proved,
    rings_for_avx2_are_right_and_proved,
);
