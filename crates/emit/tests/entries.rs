//! Several entry points in one file, entry points that call entry points, operands that are read
//! and written, and calls in place.

mod common;

use common::*;
use ringforge_emit::{Preamble, avx2, c, sse41};
use ringforge_interpret::range::{ranges, ranges_in_place};
use ringforge_interpret::run::{run, run_in_place};
use ringforge_program::ir::*;

const WORDS: usize = 64;

fn ranged(name: &str, role: Role, most: i64) -> Buffer {
    Buffer { range: Some((-most, most)), ..buffer(name, role, WORDS) }
}

/// A loop over the registers of `c` (buffer 0) and `a` (buffer 1).
fn each(lanes: usize, make: impl Fn(&mut Block, &Index) -> Value) -> Vec<Stmt> {
    let counter = LoopVar(0);
    let at = Index::strided(0, counter, lanes);
    let mut block = Block::default();
    let a = make(&mut block, &at);
    block.push(Op::Store { buffer: BufferId(0), at, a });
    let count = (WORDS / lanes) as u32;
    vec![Stmt::Loop { counter, count, body: vec![Stmt::Block(block)] }]
}

/// `double`: c = 2a; `accumulate`: c += a; `mul`: c = 4a + b by calls, in place too.
fn three(bits: u8, lanes: usize) -> Program {
    let load = |block: &mut Block, buffer, at: &Index| {
        block.push(Op::Load { buffer: BufferId(buffer), at: at.clone() })
    };
    let double = each(lanes, |block, at| {
        let a = load(block, 1, at);
        block.push(Op::Add(a, a))
    });
    let accumulate = each(lanes, |block, at| {
        let (c, a) = (load(block, 0, at), load(block, 1, at));
        block.push(Op::Add(c, a))
    });
    let call = |procedure, to: u32, from: u32| Stmt::Call {
        procedure: ProcedureId(procedure),
        arguments: vec![(BufferId(to), Index::at(0)), (BufferId(from), Index::at(0))],
    };
    let mul = vec![call(0, 3, 1), call(0, 3, 3), call(1, 3, 2), each_copy(lanes)];
    let mut procedures = vec![
        entry(
            "double",
            vec![ranged("c", Role::Output, 8000), ranged("a", Role::Input, 4000)],
            double,
        ),
        entry(
            "accumulate",
            vec![ranged("c", Role::InOut, 12000), ranged("a", Role::Input, 0)],
            accumulate,
        ),
        entry(
            "mul",
            vec![
                ranged("c", Role::Output, 12000),
                ranged("a", Role::Input, 2000),
                ranged("b", Role::Input, 4000),
                buffer("t", Role::Local, WORDS),
            ],
            mul,
        ),
    ];
    procedures[0].computes = Some(Computes::Forward { scale: 2 });
    procedures[1].computes = Some(Computes::Accumulate { scale: 1 });
    procedures[2].computes = Some(Computes::Product);
    program(if bits == 16 { 3329 } else { 8380417 }, bits, lanes, procedures)
}

/// c = t.
fn each_copy(lanes: usize) -> Stmt {
    let counter = LoopVar(0);
    let at = Index::strided(0, counter, lanes);
    let mut block = Block::default();
    let a = block.push(Op::Load { buffer: BufferId(3), at: at.clone() });
    block.push(Op::Store { buffer: BufferId(0), at, a });
    Stmt::Loop { counter, count: (WORDS / lanes) as u32, body: vec![Stmt::Block(block)] }
}

fn sources(program: &Program) -> [(&'static str, String); 3] {
    let preamble = Preamble::default();
    [
        ("avx2", avx2::avx2(program, &preamble).unwrap()),
        ("sse41", sse41::sse41(program, &preamble).unwrap()),
        ("c", c::c(program, &preamble).unwrap()),
    ]
}

#[test]
fn entry_points_call_entry_points_on_16_bits() {
    entry_points_call_entry_points(16, 16);
}

#[test]
fn entry_points_call_entry_points_on_32_bits() {
    entry_points_call_entry_points(32, 8);
}

fn entry_points_call_entry_points(bits: u8, lanes: usize) {
    let program = three(bits, lanes);
    let operand =
        |seed| -> Vec<i64> { words(bits, WORDS, 1, seed).into_iter().map(|x| x % 2000).collect() };
    for name in ["double", "accumulate", "mul"] {
        let entry = program.entry(name).unwrap();
        let inputs = if name == "double" { 1 } else { 2 };
        let cases: Vec<Vec<Vec<i64>>> =
            (0..20).map(|i| (0..inputs).map(|k| operand(2 * i + k)).collect()).collect();
        for (target, source) in sources(&program) {
            for alias in [None, Some(0), Some(1)] {
                // The accumulator is the first input itself.
                if alias.is_some_and(|i| i >= inputs as usize || name == "accumulate") {
                    continue;
                }
                let want: Vec<Vec<i64>> = cases
                    .iter()
                    .map(|case| {
                        let case: Vec<&[i64]> = case.iter().map(Vec::as_slice).collect();
                        match alias {
                            None => run(&entry, &case).unwrap(),
                            Some(i) => run_in_place(&entry, &case, i).unwrap(),
                        }
                    })
                    .collect();
                for compiler in &compilers()[..1] {
                    let flags = ["-O3", "-Wall", "-Wextra", "-Wno-unused-variable", "-Werror"];
                    let got = call(compiler, &flags, &source, &entry, target, &cases, alias);
                    assert!(got == want, "{name}, {target}, {compiler}, {alias:?}");
                }
                for (case, want) in cases.iter().zip(&want) {
                    let at = |i: usize, k: usize| case[k][i];
                    let formula = |i| match name {
                        "double" => 2 * at(i, 0),
                        "accumulate" => at(i, 0) + at(i, 1),
                        _ => 4 * at(i, 0) + at(i, 1),
                    };
                    assert_eq!(*want, (0..WORDS).map(formula).collect::<Vec<_>>(), "{name}");
                }
            }
        }
    }
}

#[test]
fn ranges_of_entry_points_hold_in_place_too() {
    let program = three(16, 16);
    for name in ["double", "accumulate", "mul"] {
        let entry = program.entry(name).unwrap();
        let found = ranges(&entry).unwrap();
        let most = if name == "double" { 8000 } else { 12000 };
        assert_eq!(found.outputs, [("c".to_string(), (-most, most))], "{name}");
        assert_eq!(ranges_in_place(&entry, 0).unwrap().outputs, found.outputs, "{name}");
    }
    assert_eq!(ranges(&program.entry("accumulate").unwrap()).unwrap().inputs.len(), 2);
    // A word that is written before it is read.
    let mut late = three(16, 16);
    let shift = |stmt: &mut Stmt| {
        if let Stmt::Loop { body, .. } = stmt
            && let Stmt::Block(block) = &mut body[0]
            && let Some(Op::Store { at, .. }) = block.ops.last_mut()
        {
            at.terms[0].1 = -16;
            at.base = 48;
        }
    };
    late.procedures[0].body.iter_mut().for_each(shift);
    let late = late.entry("double").unwrap();
    ranges(&late).unwrap();
    let fault = ranges_in_place(&late, 0).unwrap_err();
    assert!(fault.reason.contains("[-16000, 16000]"), "{fault}");
}

#[test]
fn helpers_never_share_words() {
    let mut program = three(16, 16);
    program.procedures[0].exported = false;
    program.procedures[0].computes = None;
    let words = [0i64; WORDS];
    let fault = run(&program, &[&words, &words]).unwrap_err();
    assert!(fault.reason.contains("double is called with c and a sharing words"), "{fault}");
}

#[test]
fn every_entry_point_is_declared_with_its_ranges() {
    for (target, source) in sources(&three(16, 16)) {
        for (name, parameters, says) in [
            ("double", "int16_t c[64], const int16_t a[64]", "c = 2 * T(a)"),
            (
                "accumulate",
                "int16_t c[64], const int16_t a[64]",
                "c in [-12000, 12000] at entry and",
            ),
            ("mul", "int16_t c[64], const int16_t a[64], const int16_t b[64]", "c = a * b in"),
        ] {
            let prototype = format!("void t_{name}_{target}({parameters});\n");
            assert_eq!(source.matches(&prototype).count(), 1, "{target} {name}\n{source}");
            assert!(source.contains(says), "{target} {name}");
        }
        assert!(!source.contains("static void mul"), "nobody calls it");
    }
}

/// Lane by lane, a store may come before another lane's load of the same array.
#[test]
fn portable_entry_points_refuse_what_would_be_wrong_in_place() {
    let shifted = |base| {
        let mut block = Block::default();
        let a = block.push(Op::Load { buffer: BufferId(1), at: Index::at(0) });
        block.push(Op::Store { buffer: BufferId(0), at: Index::at(base), a });
        let buffers = vec![buffer("c", Role::Output, 64), buffer("a", Role::Input, 64)];
        let one = vec![entry("f", buffers, vec![Stmt::Block(block)])];
        c::c(&program(3329, 16, 16, one), &Preamble::default())
    };
    let source = shifted(0).unwrap();
    assert!(source.contains("w1[l] = v0;") && source.contains("c[l] = w1[l];"), "{source}");
    assert!(shifted(16).is_ok());
    assert!(shifted(1).unwrap_err().to_string().contains("split the block"));
}
