//! Rings with all their entry points, x^n + 1 and x^n - x^(n/2) + 1: forged, run, proved, and ranges that cannot be wider.
//!
//! Every day one of the rings of each kind with one compiler, Saber's product, one of packed blocks, and the widening of some of one
//! ring's ranges; left to `RINGFORGE_LONG=1`: the other rings, each with one compiler in turn and the first with both, NTRU's
//! products, the standards' orders, packed blocks of other widths, and rings with longer or incomplete transforms. AVX2 and
//! portable C take turns there.

mod common;

use common::{LARGEST, Sandbox, compilers, in_parallel, long, share};
use serde_json::Value;

const RINGS: &[&str] = &["mlkem", "kyber1", "newhope512", "newhope1024", "mldsa"];
const TRINOMIALS: &[&str] = &["ntruplus576", "ntruplus768", "ntruplus864", "ntruplus1152", "nttru"];
const ENTRIES: &[&str] =
    &["forward", "inverse", "base", "accumulate", "to_standard", "from_standard", "mul"];

/// The rows of the matrices that a ring's schemes multiply.
fn inner_products(ring: &str) -> &'static [&'static str] {
    match ring {
        "mlkem" | "kyber1" => &["inner2", "inner3", "inner4"],
        "mldsa" => &["inner4", "inner5", "inner7"],
        _ => &[],
    }
}

/// The targets of the `i`-th of several rings: of the first both, and then one in turn.
fn targets(i: usize) -> &'static [&'static str] {
    let both: &[&str] = &["avx2", "c"];
    if i == 0 { both } else { &both[i % 2..=i % 2] }
}

/// Compiler and level: gcc -O3 and clang -O2.
fn builds() -> Vec<(&'static str, &'static str)> {
    let level = |cc| if cc == "gcc" { "-O3" } else { "-O2" };
    compilers().into_iter().map(|cc| (cc, level(cc))).collect()
}

/// A ring, compiler and level, and targets.
type Job = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// Every day the first ring with the `turn`-th compiler; in the long run that ring with the other, and the other rings with
/// one of them in turn.
fn jobs(rings: &[&'static str], turn: usize) -> Vec<Job> {
    let builds = builds();
    let mut jobs = Vec::new();
    for (i, ring) in rings.iter().enumerate() {
        let count = if i == 0 { builds.len() } else { 1 };
        jobs.extend((0..count).map(|k| {
            let (cc, opt) = builds[(turn + i + k) % builds.len()];
            (*ring, cc, opt, targets(i))
        }));
    }
    share(&jobs, &[0])
}

/// Everything of a package must be proved, for all entry points and these targets.
fn all_proved(package: &Value, names: &[&str]) {
    let targets = package["targets"].as_array().expect("targets");
    let name = package["name"].as_str().expect("name");
    let entries = [ENTRIES, inner_products(name)].concat();
    assert_eq!(targets.len(), names.len() * entries.len(), "{name}");
    for one in targets {
        let symbol = one["symbol"].as_str().expect("symbol");
        assert_eq!(one["proof"]["verdict"], "proved", "{symbol}: {}", one["proof"]["reasons"]);
        assert!(
            one["proof"]["counts"]["equations"].as_u64() > Some(0),
            "{symbol}: nothing verified"
        );
        assert!(one["executed"]["products"].as_u64() > Some(200), "{symbol}: not executed");
        let seconds = one["proof"]["times"]["total"].as_f64().expect("time");
        assert!(seconds < 60.0, "{symbol}: {seconds} s");
    }
    for entry in entries {
        for target in names {
            let symbol = format!("{name}_{entry}_{target}");
            assert!(targets.iter().any(|t| t["symbol"] == symbol.as_str()), "no {symbol}");
        }
    }
}

fn forge(dir: &Sandbox, ring: &str, more: &[&str]) -> Value {
    let mut args = vec!["--json", "forge", ring, "--out", "p", "--no-bench", "--pairs=200"];
    args.extend(more);
    dir.ringforge(&args).succeeds().json()
}

/// And where ranges are one wider, they are not.
#[test]
fn every_entry_point_of_every_ring_is_proved() {
    in_parallel(jobs(RINGS, 0), |(ring, cc, opt, targets)| {
        let dir = Sandbox::new();
        let target = format!("--target={}", targets.join(","));
        let package = forge(&dir, ring, &["--cc", cc, &format!("--opt={opt}"), &target]);
        all_proved(&package, targets);
        // In the long run of the first ring and of one with wider words: each range is one more proof.
        if ring == RINGS[0] || ring == "mldsa" {
            the_next_wider_range_fails(&dir, ring, targets);
        }
    });
}

/// The same of transforms in mixed radices.
#[test]
fn every_entry_point_of_every_trinomial_is_proved() {
    in_parallel(jobs(TRINOMIALS, 1), |(ring, cc, opt, targets)| {
        let target = format!("--target={}", targets.join(","));
        let more = ["--cc", cc, &format!("--opt={opt}"), &target];
        all_proved(&forge(&Sandbox::new(), ring, &more), targets);
    });
}

/// Toom-Cook and Karatsuba in words modulo 2^16: Saber, and in the long run NTRU as well.
#[test]
fn products_modulo_powers_of_two_are_proved() {
    let rings = ["saber", "ntruhps2048509", "ntruhps2048677", "ntruhps4096821", "ntruhrss701"];
    products_are_proved(jobs(&rings, 0));
}

#[test]
#[ignore = "minutes"]
fn by_hand_the_largest_products_of_ntru() {
    let by_each = |&ring| builds().into_iter().map(move |(cc, opt)| (ring, cc, opt, targets(0)));
    products_are_proved(LARGEST.iter().flat_map(by_each).collect());
}

fn products_are_proved(jobs: Vec<Job>) {
    in_parallel(jobs, |(ring, cc, opt, names)| {
        let plan = format!("--plan={ring}-toom");
        let target = format!("--target={}", names.join(","));
        let more = [&plan, "--cc", cc, &format!("--opt={opt}"), &target];
        let package = forge(&Sandbox::new(), ring, &more);
        let targets = package["targets"].as_array().expect("targets");
        assert_eq!(targets.len(), names.len(), "{ring}");
        for one in targets {
            let proof = &one["proof"];
            assert_eq!(proof["verdict"], "proved", "{ring} {cc} {opt}: {}", proof["reasons"]);
            assert!(proof["counts"]["equations"].as_u64() > Some(1 << 23), "{ring}: {proof}");
            // By the kernel, all of it.
            let certificate = &proof["certificate"];
            assert!(certificate["replayed"]["nodes"].as_u64() > Some(10_000), "{ring}");
        }
    });
}

/// Several blocks in a register: of two words, through 16 × 8 points; and in the long run of four, of eight where half of the
/// places have no row of their own, and of words of 32 bits.
#[test]
fn packed_blocks_are_proved() {
    let two = "(cooley-tukey 2 2 (butterfly) (butterfly))";
    let three = format!("(cooley-tukey 2 4 (butterfly) {two})");
    let four = format!("(cooley-tukey 4 4 {two} {two})");
    let own = |q: u64, k: usize, levels: &str, first: &str| {
        format!(
            "(plan own (ring \"Z{q}[x]/(x^256 + 1)\") (substitute {k} (twist (cooley-tukey {levels} \
             {first} {three})) (weighted-convolution (toeplitz))))"
        )
    };
    let plans = [
        ("kyber1", "avx2", None),
        ("kyber1", "sse41", None),
        ("kyber1", "avx2", Some(own(7681, 4, "8 8", &three))),
        ("kyber1", "avx2", Some(own(7681, 8, "4 8", two))),
        ("mldsa", "avx2", Some(own(8_380_417, 2, "16 8", &four))),
    ];
    let builds = builds();
    let jobs: Vec<_> = plans.iter().enumerate().collect();
    in_parallel(share(&jobs, &[0]), |(i, (ring, target, own))| {
        let dir = Sandbox::new();
        let plan = own.as_ref().map_or("kyber1-16x8".into(), |text| dir.file("own.plan", text));
        let (cc, opt) = builds[i % builds.len()];
        let more = ["--plan", &plan, "--target", target, "--cc", cc, &format!("--opt={opt}")];
        let package = forge(&dir, ring, &more);
        let targets = package["targets"].as_array().expect("targets");
        assert_eq!(targets.len(), 1, "{ring} {target}");
        let (proof, executed) = (&targets[0]["proof"], &targets[0]["executed"]);
        assert_eq!(proof["verdict"], "proved", "{ring} {target} {cc}: {}", proof["reasons"]);
        assert!(executed["products"].as_u64() > Some(200), "{ring} {target}: not executed");
    });
}

/// Registers of 512 bits: transforms of both word sizes, of a trinomial and of two-prime products, compiled by the compilers
/// in turn, proved, and run where the processor has them.
#[test]
fn registers_of_512_bits_are_proved() {
    let rings = ["mlkem", "mldsa", "newhope1024", "ntruplus768", "saber", "ntruhps2048677"];
    are_proved_in_512_bits(share(&by_compilers_in_turn(&rings), &[0]));
}

#[test]
#[ignore = "minutes"]
fn by_hand_other_rings_are_proved_in_registers_of_512_bits() {
    are_proved_in_512_bits(by_compilers_in_turn(&["kyber1", "newhope512", "nttru"]));
}

/// Blocks of 16 words do not fill registers of 512 bits: they lie in those of 256, which the source says, and by either compiler
/// the product is proved.
#[test]
fn blocks_that_fill_no_register_of_512_bits_are_proved_in_256() {
    in_parallel(compilers(), |cc| {
        let dir = Sandbox::new();
        let plan = ["--plan", "sntrup761", "--target", "avx512", "--cc", cc];
        let package = forge(&dir, "sntrup761", &plan);
        let target = &package["targets"][0];
        assert_eq!(target["proof"]["verdict"], "proved", "{cc}: {}", target["proof"]["reasons"]);
        let here = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni");
        let executed = target["executed"]["products"].as_u64();
        assert!(!here || executed > Some(200), "{cc}: not executed");
        let source = dir.read("p/sntrup761_avx512.c");
        assert!(source.contains(" lanes = 16\n"), "{source}");
        assert!(source.contains("_mm256_dpwssd_epi32") && !source.contains("__m512i"));
    });
}

fn by_compilers_in_turn<'a>(rings: &[&'a str]) -> Vec<(&'a str, &'static str)> {
    rings.iter().copied().zip(compilers().into_iter().cycle()).collect()
}

fn are_proved_in_512_bits(jobs: Vec<(&str, &str)>) {
    let here = is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni");
    in_parallel(jobs, |(ring, cc)| {
        let dir = Sandbox::new();
        let package = forge(&dir, ring, &["--target", "avx512", "--cc", cc, "--patience", "30"]);
        let targets = package["targets"].as_array().expect("targets");
        assert!(!targets.is_empty(), "{ring} {cc}");
        for target in targets {
            let (proof, executed) = (&target["proof"], &target["executed"]);
            assert_eq!(proof["verdict"], "proved", "{ring} {cc}: {}", proof["reasons"]);
            assert!(
                !here || executed["products"].as_u64() > Some(200),
                "{ring} {cc}: not executed"
            );
        }
    });
}

/// Entry points for two and four elements at once are proved beside the plain ones, and their certificates replayed. Under the
/// contract of a batch of another size they are not.
#[test]
fn batches_are_proved() {
    let all = [("mlkem", "avx2", "2"), ("mlkem", "c", "4"), ("saber", "avx2", "2")];
    in_parallel(share(&all, &[0]), |(ring, target, batch)| {
        let dir = Sandbox::new();
        let more = [&format!("--target={target}"), "--batch", batch, "--cc", compilers()[0]];
        let package = forge(&dir, ring, &more);
        let targets = package["targets"].as_array().expect("targets");
        let end = format!("_x{batch}_{target}");
        let batches = targets.iter().filter(|t| t["symbol"].as_str().unwrap().ends_with(&end));
        assert_eq!(batches.count(), if ring == "saber" { 1 } else { 7 }, "{ring} {target}");
        for target in targets {
            let (proof, executed) = (&target["proof"], &target["executed"]);
            assert_eq!(proof["verdict"], "proved", "{ring}: {}", proof["reasons"]);
            assert!(executed["products"].as_u64() > Some(200), "{ring}: not executed");
        }
        let bench =
            ["--json", "bench", ring, "--target", target, "--batch", batch, "--cc", compilers()[0]];
        let quick = ["--copies=1", "--samples=2"];
        let rows = dir.ringforge(&[&bench[..], &quick].concat()).succeeds().json();
        let mut rows = rows["rows"].as_array().expect("rows").iter();
        let name = format!("ringforge {target} mul_x{batch}");
        assert!(rows.any(|row| row["name"] == name.as_str()), "no {name}");
        let words = batch.parse::<usize>().unwrap() * 256;
        let header = dir.read(&format!("p/{ring}.h"));
        let prototype =
            format!("void {ring}_mul_x{batch}(int16_t c[{words}], const int16_t a[{words}]");
        assert!(header.contains(&prototype), "{header}");
        let (object, symbol) = (format!("p/{ring}.o"), format!("{ring}_mul{end}"));
        let contract = format!("p/{ring}_x{batch}.contract.toml");
        let certificate = format!("p/{symbol}.certificate.gz");
        let replay = |contract: &str| {
            dir.ringforge(&[
                "recheck",
                &object,
                "--contract",
                contract,
                "--certificate",
                &certificate,
            ])
        };
        replay(&contract).succeeds();
        let single = dir.read(&format!("p/{ring}.contract.toml"));
        let single = single.replace(&format!("{ring}_mul_{target}"), &symbol);
        assert_eq!(replay(&dir.file("single.toml", &single)).status, 1, "{ring}");
    });
}

/// The contract with the range of every input that has room wider by one at both ends; nothing
/// where none has room, or where inputs are canonical by choice and not by need.
fn wider(contract: &str) -> Option<String> {
    let mut out = String::new();
    let (mut input, mut bits, mut changed) = (false, 16, false);
    for line in contract.lines() {
        if let Some(role) = line.strip_prefix("role = ") {
            input = role == "\"input\"";
        }
        if let Some(element) = line.strip_prefix("element = \"i") {
            bits = element.trim_end_matches('"').parse().expect("bits");
        }
        let range = line.strip_prefix("range = [").and_then(|r| r.strip_suffix(']'));
        if let (true, Some(range)) = (input, range) {
            let ends: Vec<i64> = range.split(", ").map(|e| e.parse().expect("end")).collect();
            let word = 1i64 << (bits - 1);
            let wide = [(ends[0] - 1).max(-word), (ends[1] + 1).min(word - 1)];
            changed |= wide != [ends[0], ends[1]];
            out += &format!("range = [{}, {}]\n", wide[0], wide[1]);
        } else {
            out += line;
            out.push('\n');
        }
    }
    changed.then_some(out)
}

/// Entry points of a package that was proved, under contracts with wider ranges: every day of one, in the long run of three
/// for each of these targets.
fn the_next_wider_range_fails(dir: &Sandbox, ring: &str, targets: &[&str]) {
    let (entries, targets) = match long() {
        true => (&["forward", "inverse", "base"][..], targets),
        false => (&["forward"][..], &targets[..1]),
    };
    let entries = entries.iter().chain(inner_products(ring).last());
    let mut tried = 0;
    for (entry, target) in entries.flat_map(|e| targets.iter().map(move |t| (e, t))) {
        let symbol = format!("{ring}_{entry}_{target}");
        let Some(text) = wider(&dir.read(&format!("p/{symbol}.contract.toml"))) else {
            continue;
        };
        tried += 1;
        let (file, object) = (dir.file("wider.toml", &text), format!("p/{ring}.o"));
        let run = dir.ringforge(&["--json", "prove", &object, "--contract", &file]);
        assert_eq!(run.status, 1, "{symbol}: a wider range is proved");
        let proof = &run.json()["objects"][0];
        let shown = !proof["witness"].is_null();
        let said = proof["confirmation"].as_str().is_some_and(|c| c.contains("confirmed"));
        let unknown = proof["verdict"] == "unknown"
            && proof["reasons"].as_array().is_some_and(|r| !r.is_empty());
        assert!(shown || said || unknown, "{symbol}: neither counterexample nor word: {proof}");
    }
    assert!(tried > 0, "{ring}: no range has room");
}

#[test]
fn rings_that_nobody_listed_get_a_proved_multiplier() {
    // Complete, complete with the last root there is, and incomplete for want of roots.
    let rings = [("small", 7681, 128), ("last_root", 7681, 256), ("few_roots", 769, 1024)];
    in_parallel(share(&rings, &[0]), |(name, q, n)| {
        let dir = Sandbox::new();
        let file = dir.file(
            "mine.toml",
            &format!(
                "name = \"{name}\"\nring = \"Z{q}[x]/(x^{n} + 1)\"\noperands = [\"big\", \"big\"]\n"
            ),
        );
        all_proved(&forge(&dir, &file, &["--cc", compilers()[0]]), &["avx2", "c"]);
    });
}

/// The array `key = [...]` of a contract.
fn list(contract: &str, key: &str) -> Vec<u64> {
    let from = contract.find(&format!("{key} = [")).expect("key") + key.len() + 4;
    let text = &contract[from..from + contract[from..].find(']').expect("end")];
    text.split(',').filter_map(|x| x.trim().parse().ok()).collect()
}

#[test]
#[ignore = "in the long run"]
fn transforms_have_the_order_of_the_standards_where_asked() {
    let power = |b: u64, e: u64, q: u64| (0..e).fold(1, |p, _| p * b % q);
    let rings = [("mlkem", 17, 7, 3329), ("mldsa", 1753, 8, 8380417)];
    in_parallel(rings, |(ring, zeta, bits, q)| {
        let dir = Sandbox::new();
        let schedule = dir.file("standard.toml", "order = \"standard\"\n");
        let package = forge(&dir, ring, &["--target=avx2", "--schedule", &schedule]);
        assert_eq!(package["verdict"], "proved");
        let contract = dir.read(&format!("p/{ring}_forward_avx2.contract.toml"));
        let weights = list(&contract, "weights");
        let order = list(&contract, "order");
        assert_eq!(order, (0..256).collect::<Vec<u64>>(), "{ring}");
        // FIPS 203, section 4.3: f mod x^2 - ζ^(2·BitRev7(i)+1); FIPS 204, section 7.5, likewise
        // with f(ζ^(2·BitRev8(i)+1)).
        for (i, &w) in weights.iter().enumerate() {
            let reversed = (i as u64).reverse_bits() >> (64 - bits);
            assert_eq!(w, power(zeta, 2 * reversed + 1, q), "{ring}: remainder {i}");
        }
    });
}

ringforge_testing::rest!(
    every_entry_point_of_every_ring_is_proved,
    every_entry_point_of_every_trinomial_is_proved,
    products_modulo_powers_of_two_are_proved,
    packed_blocks_are_proved,
    registers_of_512_bits_are_proved,
    batches_are_proved,
    rings_that_nobody_listed_get_a_proved_multiplier,
);

/// The prover bounds this inverse transform less sharply than the analysis of the program does. The package then promises
/// what is proved.
#[test]
#[ignore = "in the long run"]
fn outputs_are_promised_as_wide_as_the_proof_needs() {
    let dir = Sandbox::new();
    for cc in compilers() {
        let ring = ["--json", "forge", "Z7681[x]/(x^384 - x^192 + 1)", "--fresh"];
        let run =
            dir.ringforge(&[&ring[..], &["--target", "avx2", "--no-bench", "--cc", cc]].concat());
        let package = run.succeeds().json();
        all_proved(&package, &["avx2"]);
    }
}
