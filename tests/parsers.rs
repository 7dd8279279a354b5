//! Every parser of the tool on damaged input: rings, ring files, plans, schedules, contracts, certificates, objects,
//! wisdom. The repository's own files are cut, doubled, spliced, renumbered and nested. A parser answers or refuses, soon,
//! and without a panic; what it accepts and prints, it reads again as the same.
//!
//! The seed is fixed. Every day 2,000 cases a parser; left to the long run: `RINGFORGE_FUZZ` cases, 10,000 where it is not set.

mod common;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ringforge_plan::Plan;
use ringforge_tune::wisdom::Wisdom;

// What must hold of each is said once, for libFuzzer too.
#[path = "../bench/fuzz/src/parsers.rs"]
mod parsers;

/// Longer takes no parser, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(30);

fn cases() -> usize {
    if !common::long() {
        return 2_000;
    }
    let asked = std::env::var("RINGFORGE_FUZZ").ok();
    asked.map_or(10_000, |n| n.parse().expect("RINGFORGE_FUZZ is a number of cases"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The contents of the files of a directory whose names end so.
fn files(dir: &str, end: &str) -> Vec<Vec<u8>> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(root().join(dir))
        .unwrap_or_else(|e| panic!("{dir}: {e}"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with(end))
        .collect();
    names.sort();
    let read = |path: &PathBuf| std::fs::read(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let all: Vec<Vec<u8>> = names.iter().map(read).collect();
    assert!(!all.is_empty(), "{dir} has no *{end}");
    all
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "127",
    "255",
    "256",
    "32767",
    "65535",
    "65537",
    "1048576",
    "1048577",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "4294967297",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e9",
    "0x10",
    "1.5",
    "-0",
];
const PIECES: &[&str] = &[
    "(", ")", "[", "]", "{", "}", "\"", "'", "\\", ";", "#", "=", ",", ".", "\n", "\0", "ℤ", "−",
    "é", "^", "x", "*", "/", "+", "-", "(plan", "(ring", "[[", "]]", "\"\"\"", "1/3", "mod",
    "case ",
];

/// One damage.
fn damage(rng: &mut StdRng, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let len = bytes.len();
    let at = rng.random_range(0..=len);
    let span = rng.random_range(0..=16.min(len - at));
    match rng.random_range(0..12) {
        0 => drop(bytes.drain(at..at + span)),
        1 => bytes.truncate(at),
        2 => {
            let copy = bytes[at..at + span].to_vec();
            bytes.splice(at..at, copy);
        }
        3 => {
            let other = &seeds[rng.random_range(0..seeds.len())];
            let from = rng.random_range(0..=other.len());
            let most = (other.len() - from).min(200);
            let piece = other[from..from + rng.random_range(0..=most)].to_vec();
            bytes.splice(at..at + span, piece);
        }
        4 => {
            let end = (at + span).min(len);
            bytes.splice(at..end, (0..span).map(|_| rng.random::<u8>()).collect::<Vec<u8>>());
        }
        5 if at < len => bytes[at] ^= 1 << rng.random_range(0..8),
        6 => {
            let piece = PIECES[rng.random_range(0..PIECES.len())].as_bytes();
            bytes.splice(at..at, piece.iter().copied());
        }
        7 if rng.random_range(0..20) == 0 => {
            // deep or long
            let piece = PIECES[rng.random_range(0..PIECES.len())];
            bytes.splice(at..at, piece.repeat(50_000).into_bytes());
        }
        8 => {
            // a word that a binary format holds
            let word = NUMBERS[rng.random_range(0..NUMBERS.len())].parse::<i128>().unwrap_or(7);
            for (k, byte) in word.to_le_bytes().into_iter().take(8).enumerate() {
                if let Some(b) = bytes.get_mut(at + k) {
                    *b = byte;
                }
            }
        }
        _ => {
            // another number in the place of one
            let digit = |b: &u8| b.is_ascii_digit();
            let starts: Vec<usize> = (0..len)
                .filter(|&i| digit(&bytes[i]) && (i == 0 || !digit(&bytes[i - 1])))
                .collect();
            if !starts.is_empty() {
                let start = starts[rng.random_range(0..starts.len())];
                let end = (start..len).find(|&i| !digit(&bytes[i])).unwrap_or(len);
                let number = NUMBERS[rng.random_range(0..NUMBERS.len())].bytes();
                bytes.splice(start..end, number);
            }
        }
    }
}

/// Gives damaged seeds to a parser, which says whether it accepted; it must accept each seed as it is.
fn fuzz(name: &str, seeds: &[Vec<u8>]) {
    let parser = parsers::PARSERS.iter().find(|p| p.0 == name);
    let parse = parser.unwrap_or_else(|| panic!("no parser of {name}")).1;
    for seed in seeds {
        assert!(parse(seed), "{name}: refused:\n{}", String::from_utf8_lossy(seed));
    }
    let mut rng = StdRng::seed_from_u64(name.bytes().map(u64::from).sum());
    let (mut accepted, cases) = (0, cases());
    for case in 0..cases {
        let mut bytes = seeds[rng.random_range(0..seeds.len())].clone();
        for _ in 0..rng.random_range(1..5) {
            damage(&mut rng, &mut bytes, seeds);
        }
        let started = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| parse(&bytes)));
        let shown = || {
            let text = String::from_utf8_lossy(&bytes).chars().take(3000).collect::<String>();
            format!("{name}, case {case}:\n{text}")
        };
        accepted += usize::from(ended.unwrap_or_else(|_| panic!("a panic: {}", shown())));
        assert!(started.elapsed() < PATIENCE, "{:?}: {}", started.elapsed(), shown());
    }
    // Neither all is refused at once, nor is everything let through.
    eprintln!("{name}: {} seeds, {accepted} of {cases} damaged ones accepted", seeds.len());
    assert!(accepted > 0 && accepted < cases, "{name}: {accepted} of {cases} are accepted");
}

fn plans() -> Vec<Vec<u8>> {
    files("plans", ".plan")
}

#[test]
fn rings() {
    let ring = |bytes: &Vec<u8>| Plan::parse(std::str::from_utf8(bytes).unwrap()).unwrap().ring;
    let seeds: Vec<Vec<u8>> = plans().iter().map(|p| ring(p).to_string().into_bytes()).collect();
    fuzz("rings", &seeds);
}

#[test]
fn ring_files() {
    fuzz("ring files", &files("rings", ".toml"));
}

#[test]
fn plan_texts() {
    fuzz("plans", &plans());
}

#[test]
fn schedules() {
    fuzz("schedules", &files("schedules", ".toml"));
}

#[test]
fn contracts() {
    let mut zoo = files("contracts/zoo", ".toml");
    zoo.retain(|seed| String::from_utf8_lossy(seed).contains("contract = 1")); // not the list of objects
    let ring = |seed: &Vec<u8>| String::from_utf8_lossy(seed).contains("\nring = ");
    let (rings, elements): (Vec<_>, Vec<_>) = zoo.into_iter().partition(ring);
    fuzz("contracts", &rings);
    fuzz("contracts of elements", &elements);
    fuzz("contracts of constant time", &files("lib/contracts", ".toml"));
}

#[test]
fn certificates() {
    fuzz("certificates", &files("crates/kernel/tests/several_primes", "certificate.txt"));
}

#[test]
fn objects() {
    let dir = tempfile::tempdir().unwrap();
    let mut seeds = Vec::new();
    for (source, options) in
        [("common/sort", "-O2"), ("prime/mixed", "-O1 -g"), ("common/table", "-O1 -fPIC")]
    {
        let object = dir.path().join("seed.o");
        let mut cc = Command::new(ringforge_testing::cc());
        cc.args(options.split(' ')).args(["-c", "-o"]).arg(&object);
        common::run(cc.arg(root().join(format!("lib/src/{source}.c"))));
        seeds.push(std::fs::read(&object).unwrap());
    }
    fuzz("objects", &seeds);
}

#[test]
fn wisdom() {
    let plan = String::from_utf8(plans().swap_remove(0)).unwrap();
    let entry = |target: &str| {
        format!(
            "[[entry]]\nring = \"Z7681[x]/(x^256 + 1)\"\noperands = [\"big\", \"small\"]\ntarget = \"{target}\"\n\
             compiler = \"gcc 12\"\nflags = \"-O3\"\nprocessor = \"some\"\ntry = 4\npatience = 300\ntool = \"0.1.0\"\n\
             code = \"00ff\"\ncycles = 123.5\nplan = '''\n{plan}'''\n"
        )
    };
    let format = Wisdom::default().to_text();
    let seeds = ["avx2", "c"].map(|target| (format.clone() + "\n" + &entry(target)).into_bytes());
    fuzz("wisdom", &seeds);
}

ringforge_testing::rest!(
    rings,
    ring_files,
    plan_texts,
    schedules,
    contracts,
    certificates,
    objects,
    wisdom,
);
