//! Portable C: compiled without a warning by every compiler found, right on random and worst-case
//! operands, in place too; and programs that lane by lane would mean something else are refused.

use ringforge_emit::{Preamble, c};
use ringforge_plan::Plan;
use ringforge_program::ir::*;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::{AVX2, C};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

const WARNINGS: [&str; 7] =
    ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];

/// Reads pairs of operands from its input, and prints the products; fails where a call in place
/// gives something else.
const DRIVER: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
void sntrup761_mul_c(int16_t c[761], const int16_t a[761], const int16_t b[761]);
int main(void)
{
    static int16_t a[761], b[761], c[761], d[761];
    while (fread(a, sizeof a, 1, stdin) == 1 && fread(b, sizeof b, 1, stdin) == 1) {
        sntrup761_mul_c(c, a, b);
        memcpy(d, a, sizeof d);
        sntrup761_mul_c(d, d, b);
        if (memcmp(c, d, sizeof c) != 0) return 2;
        memcpy(d, b, sizeof d);
        sntrup761_mul_c(d, a, d);
        if (memcmp(c, d, sizeof c) != 0) return 3;
        fwrite(c, sizeof c, 1, stdout);
    }
    return 0;
}
"#;

fn plan() -> Plan {
    Plan::parse(include_str!("../../../plans/sntrup761.plan")).unwrap()
}

fn source() -> String {
    let program = lower(&plan(), &Schedule::portable(), &C, "sntrup761").unwrap().program;
    let preamble = Preamble { command: "a test".into(), ..Preamble::default() };
    c::c(&program, &preamble).unwrap()
}

fn compile(compiler: &str, arguments: &[&str], at: &Path) {
    let output = Command::new(compiler).args(arguments).current_dir(at).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{compiler} {arguments:?}: {said}");
}

fn operands() -> Vec<(Vec<i64>, Vec<i64>)> {
    let n = 761usize;
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as i64
    };
    let mut all = Vec::new();
    for (x, y) in [(2295, 2295), (2295, -2295), (-2295, -2295)] {
        all.push((vec![x; n], vec![y; n]));
    }
    for k in [0, 1, 80, 81, 680, 759, 760] {
        let one = |at: usize| (0..n).map(|i| if i == at { -2295 } else { 0 }).collect::<Vec<i64>>();
        all.push((one(k), one(760 - k)));
        all.push((one(k), vec![2295; n]));
    }
    for _ in 0..40 {
        let mut random = || (0..n).map(|_| next() % 4591 - 2295).collect::<Vec<i64>>();
        all.push((random(), random()));
        let mut signs =
            || (0..n).map(|_| if next() & 1 == 0 { 2295 } else { -2295 }).collect::<Vec<i64>>();
        let (a, b) = (signs(), signs());
        all.push((a.clone(), b.iter().map(|s| s / 2295).collect()));
        all.push((a, b));
    }
    all
}

#[test]
fn compiles_without_warnings_and_multiplies() {
    let (ring, operands) = (plan().ring, operands());
    let (mut input, mut wanted) = (Vec::new(), Vec::new());
    for (a, b) in &operands {
        a.iter().chain(b).for_each(|&x| input.extend((x as i16).to_le_bytes()));
        ring.mul(a, b).iter().for_each(|&x| wanted.extend((x as i16).to_le_bytes()));
    }
    let directory = std::env::temp_dir().join(format!("ringforge-portable-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("mul.c"), source()).unwrap();
    std::fs::write(directory.join("main.c"), DRIVER).unwrap();
    for compiler in ringforge_testing::compilers() {
        for level in ["-O1", "-O2", "-O3"] {
            let arguments = [&WARNINGS[..], &[level, "mul.c", "main.c", "-o", "run"]].concat();
            compile(compiler, &arguments, &directory);
            let mut child = Command::new(directory.join("run"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut pipe = child.stdin.take().unwrap();
            let bytes = input.clone();
            let feed = std::thread::spawn(move || pipe.write_all(&bytes));
            let output = child.wait_with_output().unwrap();
            feed.join().unwrap().unwrap();
            assert!(output.status.success(), "{compiler} {level}: {}", output.status);
            assert!(output.stdout == wanted, "{compiler} {level} multiplies wrongly");
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Nothing is called but what the file defines, and loops have constant bounds.
#[test]
fn needs_no_library_and_no_vectors() {
    let text = source();
    for word in ["memcpy", "memset", "__m", "__int128", "immintrin", "__attribute__"] {
        assert!(!text.contains(word), "{word}");
    }
    for line in text.lines().filter(|l| l.trim_start().starts_with("for (")) {
        let bound = line.split(" < ").nth(1).and_then(|r| r.split(';').next()).unwrap();
        assert!(bound.parse::<u32>().is_ok(), "{line}");
    }
}

fn toy(ops: Vec<Op>) -> Program {
    let buffer = |name: &str, role| Buffer {
        name: name.into(),
        role,
        words: 64,
        bits: 16,
        align: 2,
        range: None,
    };
    let buffers =
        vec![buffer("c", Role::Output), buffer("a", Role::Input), buffer("t", Role::Local)];
    let body = vec![Stmt::Block(Block { ops })];
    Program {
        name: "toy".into(),
        ring: String::new(),
        q: 4591,
        word_bits: 16,
        registers: AVX2.registers,
        transform: None,
        plan: String::new(),
        schedule: String::new(),
        in_order: 0,
        loops: false,
        procedures: vec![Procedure {
            name: "mul".into(),
            exported: true,
            computes: Some(Computes::Product),
            copies: 1,
            q: 4591,
            bits: 16,
            buffers,
            body,
        }],
    }
}

#[test]
fn refuses_what_lanes_would_reorder() {
    let (c, a, t) = (BufferId(0), BufferId(1), BufferId(2));
    let load = |buffer, at| Op::Load { buffer, at: Index::at(at) };
    let store = |buffer, at, v| Op::Store { buffer, at: Index::at(at), a: Value(v) };
    let render = |ops| c::c(&toy(ops), &Preamble::default());
    assert!(render(vec![load(a, 0), store(t, 0, 0), load(t, 0), store(c, 0, 2)]).is_ok());
    assert!(render(vec![load(a, 0), store(t, 0, 0), load(t, 16), store(c, 0, 2)]).is_ok());
    let error = render(vec![load(a, 0), store(t, 0, 0), load(t, 1), store(c, 0, 2)]).unwrap_err();
    assert!(error.to_string().contains("writes t and touches it again"), "{error}");
    let strided = |at, v| Op::StoreStrided { buffer: t, at: Index::at(at), stride: 2, a: Value(v) };
    assert!(render(vec![load(a, 0), strided(0, 0), strided(1, 0)]).is_ok());
    assert!(render(vec![load(a, 0), strided(0, 0), strided(2, 0)]).is_err());
    let broadcast = Op::Broadcast { buffer: t, at: Index::at(3) };
    assert!(render(vec![load(a, 0), store(t, 0, 0), broadcast, store(c, 0, 2)]).is_err());
    let error = render(vec![load(a, 0), Op::PairDot(Value(0), Value(0))]).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("PairDot") && said.contains("by lanes in the schedule"), "{said}");
}

#[test]
fn refuses_names_that_it_gives_itself() {
    for name in ["p1", "v20", "l", "mulhi"] {
        let mut program = toy(vec![]);
        program.procedures[0].buffers[2].name = name.into();
        let error = c::c(&program, &Preamble::default()).unwrap_err();
        assert!(error.to_string().contains(&format!("the name {name}")), "{error}");
    }
}

#[test]
fn says_what_it_is_made_of() {
    let text = source();
    let mut opening = String::new();
    for line in text.lines().take_while(|l| !l.starts_with(" */")) {
        let _ = writeln!(opening, "{line}");
    }
    for what in ["do not edit", "a test", "x^761 - x - 1", "good-thomas", "base = \"lanes\""] {
        assert!(opening.contains(what), "{what}");
    }
}
