//! Every operation of the language on every target that has it: the compiled function gives what
//! `run` gives, on corner and random words, at the modular level and after expansion. Every day as one compiler makes it,
//! and two moduli; left to `RINGFORGE_LONG=1`: AVX2, Neon and Cortex-M4 by the other compiler, and two moduli more.

mod assembly;
#[path = "../common/mod.rs"]
mod common;
mod dots;
mod neon_alone;

use common::*;
use ringforge_emit::{Preamble, avx2, avx512, c, m4, neon, sse41};
use ringforge_interpret::run::run;
use ringforge_plan::Plan;
use ringforge_program::ir::*;
use ringforge_program::lower::lower;
use ringforge_program::method::*;
use ringforge_program::schedule::Schedule;
use ringforge_program::unsigned::Kind;
use ringforge_targets::AVX2;

const C: BufferId = BufferId(0);
const A: BufferId = BufferId(1);
const B: BufferId = BufferId(2);
const FACTORS: BufferId = BufferId(3);
/// Makes an operation of two values of one operand and two of the other.
type Make<'a> = dyn Fn([Value; 4]) -> Op + 'a;
type Makes = Vec<Box<Make<'static>>>;

/// Registers in each of the two operands.
const REGISTERS: usize = 2;

/// A program that stores the results of `operations`, each given two values of one operand and two
/// of the other, one after the other.
fn each(q: u64, bits: u8, lanes: usize, operations: &[&Make<'_>]) -> Program {
    let mut block = Block::default();
    let mut load = |buffer, i| block.push(Op::Load { buffer, at: Index::at(i * lanes) });
    let values = [load(A, 0), load(A, 1), load(B, 0), load(B, 1)];
    for (i, operation) in operations.iter().enumerate() {
        let a = block.push(operation(values));
        block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
    }
    whole(q, bits, lanes, operations.len() * lanes, block)
}

fn whole(q: u64, bits: u8, lanes: usize, words: usize, block: Block) -> Program {
    let factors = (0..4 * lanes as u64).map(|i| (i * i * 12345 + i * 77 + 1) % q).collect();
    let buffers = vec![
        buffer("c", Role::Output, words),
        buffer("a", Role::Input, REGISTERS * lanes),
        buffer("b", Role::Input, REGISTERS * lanes),
        buffer("z", Role::Factors(factors), 4 * lanes),
    ];
    program(q, bits, lanes, vec![entry("f", buffers, vec![Stmt::Block(block)])])
}

fn cases(program: &Program) -> Vec<Vec<Vec<i64>>> {
    let count = REGISTERS * program.lanes();
    let words = |seed| words(program.word_bits, count, program.q, seed);
    (0..200).map(|i| vec![words(2 * i + 1), words(2 * i + 2)]).collect()
}

/// Compiles for the targets and compares with the interpretation.
fn check(program: &Program, targets: &[&str]) {
    check_cases(program, targets, &cases(program));
}

fn check_cases(program: &Program, targets: &[&str], cases: &[Vec<Vec<i64>>]) {
    check_by(program, targets, cases, true);
}

/// By the last compiler of each target every day, and by the others in the long run; by all of them in the long run where
/// the program is none of every day.
fn check_by(program: &Program, targets: &[&str], cases: &[Vec<Vec<i64>>], daily: bool) {
    let expanded = program.expand();
    let want: Vec<Vec<i64>> = cases
        .iter()
        .map(|case| {
            let inputs: Vec<&[i64]> = case.iter().map(Vec::as_slice).collect();
            let want = run(program, &inputs).unwrap();
            assert_eq!(run(&expanded, &inputs).unwrap(), want, "expanded");
            want
        })
        .collect();
    for target in targets {
        let preamble = Preamble::default();
        let source = match *target {
            "avx2" => avx2::avx2(program, &preamble).unwrap(),
            "avx512" => avx512::avx512(program, &preamble).unwrap(),
            "sse41" => sse41::sse41(program, &preamble).unwrap(),
            "neon" => neon::neon(program, &preamble).unwrap(),
            "m4" => m4::m4(program, &preamble).unwrap(),
            _ => c::c(program, &preamble).unwrap(),
        };
        let arm = matches!(*target, "neon" | "m4");
        let all = match *target {
            "neon" => arm_compilers(),
            "m4" => m4_compilers(),
            _ => compilers(),
        };
        let last = all.len().saturating_sub(1);
        let from = if arm || *target == "avx2" { 0 } else { last };
        let some = match (ringforge_testing::long(), daily) {
            (false, _) => &all[last..],
            (true, true) => &all[from..last],
            (true, false) => &all[from..],
        };
        for compiler in some {
            // Each program leaves some of its operands unused.
            let flags = ["-O2", "-Wall", "-Wno-unused", "-Werror"];
            let got = call(compiler, &flags, &source, program, target, cases, None);
            for (case, (got, want)) in got.iter().zip(&want).enumerate() {
                let wrong = got.iter().zip(want).position(|(x, y)| x != y);
                if let Some(k) = wrong {
                    let (op, lane) = (k / program.lanes(), k % program.lanes());
                    let words = program.word_bits;
                    panic!(
                        "{target}, {compiler}, {words} bits: result {op}, lane {lane} is {} instead of {} \
                         in case {case}: {:?}",
                        got[k], want[k], cases[case]
                    );
                }
            }
        }
    }
}

const VECTORS: [&str; 3] = ["avx2", "sse41", "neon"];
const ALL: [&str; 5] = ["avx2", "sse41", "neon", "m4", "c"];
const KINDS: [(u64, u8, usize); 4] =
    [(3329, 16, 16), (7681, 16, 16), (12289, 16, 16), (8380417, 32, 8)];

/// The registers of AVX-512 for a kind of 256 bits, if this processor has them: lanes, and the target.
fn long_registers(lanes: usize) -> Vec<(usize, [&'static str; 1])> {
    let here = is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni");
    let widths = [2 * lanes, lanes].into_iter().filter(|_| here);
    widths.map(|lanes| (lanes, ["avx512"])).collect()
}

#[test]
fn operations_on_single_words() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let top = bits - 1;
        let common: [&Make<'_>; 18] = [
            &|[a, b, ..]| Op::Add(a, b),
            &|[a, b, ..]| Op::Sub(a, b),
            &|[a, _, b, _]| Op::MulLo(a, b),
            &|[a, ..]| Op::Shl(a, 1),
            &|[a, ..]| Op::Shl(a, top),
            &|[a, ..]| Op::Sar(a, 3),
            &|[a, ..]| Op::Sar(a, top),
            &|[a, ..]| Op::Shr(a, 1),
            &|[a, ..]| Op::Shr(a, top),
            &|[a, _, b, _]| Op::Greater(a, b),
            &|[a, _, b, _]| Op::MinU(a, b),
            &|[a, _, b, _]| Op::Min(a, b),
            &|[a, _, b, _]| Op::Max(a, b),
            &|[a, _, b, _]| Op::And(a, b),
            &|[a, _, b, _]| Op::Or(a, b),
            &|[a, _, b, _]| Op::Xor(a, b),
            &|_| Op::Splat(-5),
            &|_| Op::Lanes((0..lanes as i32).map(|i| i * 1000 - 7000).collect()),
        ];
        check(&each(q, bits, lanes, &common), &ALL);
        let products: [&Make<'_>; 2] =
            [&|[a, _, b, _]| Op::MulHi(a, b), &|[a, _, b, _]| Op::MulHrs(a, b)];
        for (lanes, avx512) in long_registers(lanes) {
            let words = move |_| Op::Lanes((0..lanes as i32).map(|i| i * 1000 - 7000).collect());
            let mut longer = common.to_vec();
            *longer.last_mut().expect("there is the last") = &words;
            check(&each(q, bits, lanes, &longer), &avx512);
            if bits == 16 {
                check(&each(q, bits, lanes, &products), &avx512);
            }
        }
        check(
            &each(q, bits, lanes, &products),
            if bits == 16 { &ALL } else { &["neon", "m4", "c"] },
        );
    }
}

/// Words without sign on all words; neon has no such products, and says so.
#[test]
fn operations_on_words_without_sign() {
    let (q, bits, lanes) = KINDS[2];
    let mut block = Block::default();
    let a = block.push(Op::Load { buffer: A, at: Index::at(0) });
    let b = block.push(Op::Load { buffer: B, at: Index::at(0) });
    let mask = block.push(Op::Splat(0x1fff));
    let small = block.push(Op::And(b, mask));
    let kinds = |count: usize, kind: fn(usize) -> Option<Kind>| (0..count).map(kind).collect();
    let by = |i: usize| [None, Some(Kind::Csub), Some(Kind::Barrett)][i % 3];
    let offset = |count: u32| (0..count).map(|i| (i % 6) * q as u32).collect();
    let residue = |i: usize| (i as u64 * 1234 + 1) % q;
    let all = vec![
        Op::MulHiU(a, b),
        Op::Unsigned(Unsigned::Add(a, b)),
        Op::Unsigned(Unsigned::Sub { a, offset: vec![5 * q as u32], b }),
        Op::Unsigned(Unsigned::Sub { a, offset: offset(lanes as u32), b }),
        Op::Unsigned(Unsigned::Mul { a, factor: Factor::Splat(q - 1) }),
        Op::Unsigned(Unsigned::Mul { a, factor: Factor::Lanes((0..lanes).map(residue).collect()) }),
        Op::Unsigned(Unsigned::Mul {
            a,
            factor: Factor::Table { buffer: FACTORS, at: Index::at(3) },
        }),
        Op::Unsigned(Unsigned::Mul {
            a,
            factor: Factor::Repeated { buffer: FACTORS, at: Index::at(5) },
        }),
        Op::Unsigned(Unsigned::MulWords { a, b: small }),
        Op::Unsigned(Unsigned::Reduce { a, kinds: vec![Some(Kind::Csub)] }),
        Op::Unsigned(Unsigned::Reduce { a, kinds: vec![Some(Kind::Barrett)] }),
        Op::Unsigned(Unsigned::Reduce { a, kinds: kinds(lanes, by) }),
    ];
    let count = all.len();
    for (i, op) in all.into_iter().enumerate() {
        let a = block.push(op);
        block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
    }
    let program = whole(q, bits, lanes, count * lanes, block);
    let words = REGISTERS * lanes;
    // Every word is in a's first register once.
    let case = |i: usize| {
        let a = (0..words).map(|k| ((i * lanes + k % lanes) as i64) - 32768).collect();
        let b = (0..words).map(|k| ((i * 40503 + k * 9973) as u16 as i16).into()).collect();
        vec![a, b]
    };
    let cases: Vec<Vec<Vec<i64>>> = (0..65536 / lanes).map(case).collect();
    check_cases(&program, &["avx2", "sse41", "c"], &cases);
    let said = neon::neon(&program, &Preamble::default()).unwrap_err().to_string();
    assert!(said.contains("MulHiU") && said.contains("without `unsigned`"), "{said}");
}

#[test]
fn operations_on_wide_elements() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let common: [&Make<'_>; 6] = [
            &|[a, b, ..]| Op::AddWide(a, b),
            &|[a, b, ..]| Op::SubWide(a, b),
            &|[a, ..]| Op::ShlWide(a, 1),
            &|[a, ..]| Op::ShlWide(a, bits),
            &|[a, ..]| Op::ShrWide(a, bits),
            &|[a, ..]| Op::ShrWide(a, 2 * bits - 1),
        ];
        check(&each(q, bits, lanes, &common), &VECTORS);
        let short: [&Make<'_>; 3] =
            [&|[a, _, b, _]| Op::PairDot(a, b), &|[a, _, b, _]| Op::MulLoWide(a, b), &|[a, ..]| {
                Op::SarWide(a, 13)
            }];
        let long: [&Make<'_>; 1] = [&|[a, _, b, _]| Op::MulEven(a, b)];
        if bits == 16 {
            check(&each(q, bits, lanes, &short), &VECTORS);
            let fused: [&Make<'_>; 1] = [&|[a, acc, b, _]| Op::PairDotAdd { acc, a, b }];
            check(&each(q, bits, lanes, &fused), &["sse41", "neon"]);
            for (lanes, avx512) in long_registers(lanes) {
                let all = [&common[..], &short, &fused].concat();
                check(&each(q, bits, lanes, &all), &avx512);
            }
        } else {
            check(&each(q, bits, lanes, &long), &VECTORS);
            for (lanes, avx512) in long_registers(lanes) {
                check(&each(q, bits, lanes, &[&common[..], &long].concat()), &avx512);
            }
        }
        let others: [&Make<'_>; 3] =
            [&|[a, _, b, _]| Op::PairDot(a, b), &|[a, _, b, _]| Op::MulEven(a, b), &|[a, ..]| {
                Op::SarWide(a, 13)
            }];
        check(&each(q, bits, lanes, &others), &["neon"]);
    }
}

#[test]
fn moves() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let mut all: Makes = vec![
            Box::new(|[a, ..]| Op::SwapPairs(a)),
            Box::new(|[a, ..]| Op::OddToEven(a)),
            Box::new(|[a, _, b, _]| Op::Blend { a, b, mask: 0b1010_1010 }),
            Box::new(|[a, _, b, _]| Op::Blend { a, b, mask: 0b1100_0110 }),
        ];
        for unit in [16, 32, 64].into_iter().filter(|&u| u >= bits) {
            for half in [Half::Low, Half::High] {
                all.push(Box::new(move |[a, _, b, _]| Op::Interleave { a, b, unit, half }));
            }
            for half in [Parity::Even, Parity::Odd] {
                all.push(Box::new(move |[a, _, b, _]| Op::Deinterleave { a, b, unit, half }));
            }
        }
        let parts = |pick: Vec<u8>| -> Box<Make<'static>> {
            Box::new(move |[a, _, b, _]| Op::Parts { a, b, pick: pick.clone() })
        };
        let patterns: &[&[u8]] = match bits {
            16 => &[
                &[2, 3, 0, 1, 6, 7, 4, 5],
                &[3, 1, 0, 0, 4, 5, 6, 7],
                &[0, 1, 2, 3, 7, 6, 4, 4],
                &[7, 6, 5, 4, 3, 2, 1, 0],
                &[0, 4, 1, 5, 2, 6, 3, 7],
                &[4, 1, 2, 3, 4, 5, 6, 7],
                &[0, 1, 2, 3, 4, 5, 6, 7],
            ],
            _ => &[&[1, 0, 3, 2], &[3, 2, 1, 0], &[2, 2, 0, 1], &[0, 1, 2, 3]],
        };
        for pattern in patterns {
            all.push(Box::new(|[a, ..]| Op::PermuteParts { a, pattern: pattern.to_vec() }));
        }
        let two: Makes = (0..16).map(|i| parts(vec![i % 4, i / 4])).collect();
        let both = |more: &Makes, lanes: usize| {
            let all: Vec<&Make<'_>> = all.iter().chain(more).map(|b| &**b).collect();
            each(q, bits, lanes, &all)
        };
        check(&both(&two, lanes), &VECTORS);
        for (lanes, avx512) in long_registers(lanes).into_iter().skip(1) {
            check(&both(&two, lanes), &avx512);
        }
        if let Some(&(lanes, avx512)) = long_registers(lanes).first() {
            // All that stay in their places, and others of which two neighbours or none are of one register.
            let four: Makes = (0..16u8)
                .map(|i| (0..4).map(|k| k + 4 * (i >> k & 1)).collect())
                .chain(
                    (0..4096)
                        .step_by(37)
                        .map(|i: u16| (0..4).map(|k| (i >> (3 * k) & 7) as u8).collect()),
                )
                .map(parts)
                .collect();
            check(&both(&four, lanes), &avx512);
        }
    }
}

#[test]
fn memory() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        memory_of(q, bits, lanes, &VECTORS);
        for (lanes, avx512) in long_registers(lanes) {
            memory_of(q, bits, lanes, &avx512);
        }
    }
}

fn memory_of(q: u64, bits: u8, lanes: usize, targets: &[&str]) {
    let part = 128 / usize::from(bits);
    let parts = lanes / part;
    let at = Index::at;
    let mut block = Block::default();
    let mut stored = 0;
    for count in 1..lanes as u32 {
        let a = block.push(Op::LoadPartial { buffer: A, at: at(3), count });
        block.push(Op::Store { buffer: C, at: at(stored), a });
        stored += lanes;
    }
    let a = block.push(Op::LoadParts {
        buffer: A,
        at: (0..parts).map(|i| at((i * 5 + 3) % part + i * part / 2)).collect(),
    });
    block.push(Op::Store { buffer: C, at: at(stored), a });
    let a = block.push(Op::BroadcastPair { buffer: B, at: at(5) });
    block.push(Op::Store { buffer: C, at: at(stored + lanes), a });
    let a = block.push(Op::Broadcast { buffer: B, at: at(3) });
    block.push(Op::Store { buffer: C, at: at(stored + 2 * lanes), a });
    stored += 3 * lanes;
    let a = block.push(Op::Load { buffer: A, at: at(1) });
    for count in 1..lanes as u32 {
        block.push(Op::StorePartial { buffer: C, at: at(stored), count, a });
        stored += count as usize;
    }
    for i in 0..3 {
        block.push(Op::StoreStrided { buffer: C, at: at(stored + i), stride: 3, a });
    }
    stored += 3 * lanes;
    block.push(Op::StoreParts {
        buffer: C,
        at: (0..parts).rev().map(|i| at(stored + i * part)).collect(),
        a,
    });
    let whole = whole(q, bits, lanes, stored + lanes, block);
    check(&whole, targets);
}

#[test]
fn modular_operations() {
    for (i, (q, bits, lanes)) in KINDS.into_iter().enumerate() {
        let daily = i >= 2;
        if !daily && !ringforge_testing::long() {
            continue;
        }
        let factors = [
            Factor::Splat(1),
            Factor::Splat(q - 1),
            Factor::Splat(1234),
            Factor::Lanes((0..lanes as u64).map(|i| (i * 7919 + 5) * 31 % q).collect()),
            Factor::Table { buffer: FACTORS, at: Index::at(lanes) },
            Factor::Repeated { buffer: FACTORS, at: Index::at(3) },
        ];
        let multiply = |methods: &[MulMethod], factors: &[Factor]| {
            let mut all: Makes = Vec::new();
            for &method in methods {
                for factor in factors {
                    let factor = factor.clone();
                    let op =
                        move |[a, ..]: [Value; 4]| Op::MulMod { a, factor: factor.clone(), method };
                    all.push(Box::new(op));
                }
            }
            all
        };
        let reduce = |methods: &[ReduceMethod]| {
            let works = methods.iter().filter(|m| m.missing(Modulus { q, bits }).is_none());
            works
                .map(|&method| {
                    Box::new(move |[a, ..]: [Value; 4]| Op::Reduce { a, method })
                        as Box<Make<'static>>
                })
                .collect::<Vec<_>>()
        };
        let words = |methods: &[ProductMethod]| {
            methods
                .iter()
                .map(|&method| {
                    Box::new(move |[a, _, b, _]: [Value; 4]| Op::MulWords { a, b, method })
                        as Box<Make<'static>>
                })
                .collect::<Vec<_>>()
        };
        let freeze = |methods: &[FreezeMethod]| {
            methods
                .iter()
                .map(|&method| {
                    Box::new(move |[a, ..]: [Value; 4]| Op::Freeze { a, method })
                        as Box<Make<'static>>
                })
                .collect::<Vec<_>>()
        };
        let narrow = |methods: &[NarrowMethod]| {
            methods
                .iter()
                .map(|&method| {
                    Box::new(move |[even, odd, ..]: [Value; 4]| Op::Narrow { even, odd, method })
                        as Box<Make<'static>>
                })
                .collect::<Vec<_>>()
        };
        let all = |groups: Vec<Makes>, targets: &[&str]| {
            let flat: Vec<_> = groups.into_iter().flatten().collect();
            let flat: Vec<&Make<'_>> = flat.iter().map(|b| &**b).collect();
            let program = each(q, bits, lanes, &flat);
            check_by(&program, targets, &cases(&program), daily);
        };
        use FreezeMethod::Minimum;
        use ReduceMethod::*;
        let split = [MulMethod::Montgomery, MulMethod::Barrett];
        let plantard = |factors: &[Factor]| {
            let mut all = multiply(&[MulMethod::Plantard], factors);
            all.extend(reduce(&[ReduceMethod::Plantard]));
            all.extend(freeze(&[FreezeMethod::Plantard]));
            all
        };
        let biased = FreezeMethod::MontgomeryBiased { k: 1 };
        let high = vec![
            multiply(&split, &factors[..3]),
            reduce(&[
                Barrett,
                Crude,
                BarrettHigh,
                Floor,
                Ceiling,
                Folded,
                RoundedShift,
                BarrettShifts,
                Montgomery,
            ]),
            words(&[ProductMethod::Montgomery]),
            freeze(&[Minimum, FreezeMethod::Montgomery, biased]),
        ];
        all(high, if bits == 16 { &ALL } else { &["neon", "m4", "c"] });
        if bits == 16 {
            let narrowed = narrow(&[NarrowMethod::Montgomery, NarrowMethod::Barrett]);
            all(vec![multiply(&split, &factors)], &ALL);
            all(vec![plantard(&factors)], &ALL);
            // Pairs of lanes by one word, from a table too.
            let same = [&factors[..3], &factors[5..]].concat();
            all(vec![plantard(&same)], &["m4"]);
            all(vec![narrowed], &VECTORS);
            all(vec![narrow(&[NarrowMethod::Low])], &VECTORS);
        } else {
            let wide = vec![
                multiply(&[MulMethod::MontgomeryLow, MulMethod::MontgomeryWide], &factors),
                reduce(&[Crude, Folded, RoundedShift, BarrettShifts, MontgomeryWide]),
                words(&[ProductMethod::MontgomeryLow, ProductMethod::MontgomeryWide]),
                freeze(&[Minimum]),
                narrow(&[NarrowMethod::Montgomery]),
            ];
            all(wide, &VECTORS);
        }
    }
}

#[test]
fn what_no_instruction_does_is_refused_with_what_would_work() {
    let refused = |bits, lanes, op: &Make<'_>| {
        let program = each(if bits == 16 { 3329 } else { 8380417 }, bits, lanes, &[op]);
        avx2::avx2(&program, &Preamble::default()).unwrap_err().to_string()
    };
    let method = MulMethod::Montgomery;
    let said = refused(32, 8, &|[a, ..]| Op::MulMod { a, factor: Factor::Splat(5), method });
    assert!(said.contains("MulHi") && said.contains("montgomery-low"), "{said}");
    let said = refused(16, 16, &|[a, _, b, _]| Op::MulEven(a, b));
    assert!(said.contains("MulEven") && said.contains("16 bits"), "{said}");
    let said = refused(32, 16, &|[a, ..]| Op::Shl(a, 1));
    assert!(said.contains("256 bits, the program is one for 512"), "{said}");
}

/// Words of 32 bits in a program of 16-bit words, from and to arrays of either.
#[test]
fn words_of_two_sizes() {
    let at = Index::at;
    let [c, a, b, ta, tb] = [0, 1, 2, 3, 4].map(BufferId);
    // Copies first: callers may pass an input as output.
    let mut copies = Block::default();
    for (from, to) in [(a, ta), (b, tb)] {
        for k in 0..2 {
            let v = copies.push(Op::Load { buffer: from, at: at(8 * k) });
            copies.push(Op::Store { buffer: to, at: at(8 * k), a: v });
        }
    }
    let all = [
        Op::Load { buffer: ta, at: at(3) },
        Op::LoadPartial { buffer: ta, at: at(1), count: 5 },
        Op::LoadPartial { buffer: ta, at: at(2), count: 3 },
        Op::Broadcast { buffer: ta, at: at(7) },
        Op::Load { buffer: tb, at: at(5) },
        Op::LoadPartial { buffer: tb, at: at(4), count: 7 },
    ];
    let (mut next, mut body) = (0, vec![Stmt::Block(copies)]);
    for op in all {
        let mut block = Block::default();
        let x = block.push(op);
        let y = block.push(Op::Load { buffer: ta, at: at(4) });
        // A product of 32 bits, of which 16 are kept.
        let product = block.push(Op::MulLo(x, y));
        let high = block.push(Op::Sar(product, 16));
        let last = block.push(Op::Sar(high, 1));
        block.push(Op::Store { buffer: c, at: at(next), a: high });
        block.push(Op::StorePartial { buffer: c, at: at(next + 8), count: 5, a: last });
        next += 13;
        body.push(Stmt::Block(block));
    }
    let buffers = vec![
        buffer("c", Role::Output, next),
        buffer("a", Role::Input, 16),
        buffer("b", Role::Input, 16),
        buffer("ta", Role::Local, 16),
        buffer("tb", Role::Local, 16),
    ];
    let mut program = program(4591, 16, 16, vec![entry("f", buffers, body)]);
    let procedure = &mut program.procedures[0];
    procedure.bits = 32;
    procedure.buffers[2].bits = 32;
    procedure.buffers[4].bits = 32;
    let mixed = |seed| vec![words(16, 16, 4591, seed), words(32, 16, 4591, seed + 1)];
    let cases: Vec<Vec<Vec<i64>>> = (0..50).map(|i| mixed(2 * i)).collect();
    check_cases(&program, &ALL, &cases);
}

/// Callers' words of 32 bits, and primes of which residues would fit words of 16.
#[test]
fn short_primes_below_a_long_modulus() {
    let part = "(substitute 16 (butterfly) (weighted-convolution (toeplitz)))";
    let text = format!(
        "(plan p (ring \"Z100003[x]/(x^16 - 1)\") (operands big small) (lift 32 (change-modulus \
         (prime 7681 {part}) (prime 12289 {part}))))"
    );
    let plan = Plan::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    let cases: Vec<Vec<Vec<i64>>> = (0..40)
        .map(|seed| {
            let big = words(32, 16, 100_003, seed).into_iter().map(|x| x.clamp(-50_001, 50_001));
            let small = words(16, 16, 3, seed + 99).into_iter().map(|x| x.signum());
            vec![big.collect(), small.collect()]
        })
        .collect();
    for (schedule, targets) in
        [(Schedule::default(), &VECTORS[..]), (Schedule::portable(), &["c"][..])]
    {
        let program = lower(&plan, &schedule, &AVX2, "t").unwrap_or_else(|e| panic!("{e}")).program;
        check_cases(&program, targets, &cases);
        for case in &cases {
            let want = plan.ring.mul(&case[0], &case[1]);
            assert_eq!(run(&program, &[&case[0], &case[1]]).unwrap(), want);
        }
    }
}

ringforge_testing::rest!(
    operations_on_single_words,
    operations_on_words_without_sign,
    operations_on_wide_elements,
    moves,
    memory,
    modular_operations,
    words_of_two_sizes,
    short_primes_below_a_long_modulus,
);
