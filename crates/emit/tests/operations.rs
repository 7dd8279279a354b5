//! Every operation of the language on every target that has it: the compiled function gives what
//! `run` gives, on corner and random words, at the modular level and after expansion. Every day as one compiler makes it;
//! left to `RINGFORGE_LONG=1`: AVX2 by gcc as well.

mod common;
#[path = "../../../tests/common/long.rs"]
mod long;

use common::*;
use ringforge_emit::{Preamble, avx2, c, m4, neon, sse41};
use ringforge_interpret::run::run;
use ringforge_plan::Plan;
use ringforge_program::ir::*;
use ringforge_program::lower::lower;
use ringforge_program::method::*;
use ringforge_program::schedule::Schedule;
use ringforge_program::unsigned::Kind;
use ringforge_target::AVX2;

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

/// Neon takes pairs and constants by lane, and words out of registers that were just stored.
#[test]
fn operations_that_neon_takes_by_lane() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let mut block = Block::default();
        let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: Index::at(0) }));
        for (i, a) in [a, b].into_iter().enumerate() {
            block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
        }
        let mut results = Vec::new();
        // Windows one word apart, as words alone; four pairs and three; words too far apart; a sum that is
        // wanted by itself too.
        for (terms, apart, sums) in [(4, 1, false), (3, 1, false), (4, 2, false), (4, 1, true)] {
            let mut both: [Option<Value>; 2] = [None; 2];
            for i in 0..terms {
                let pair = block.push(Op::BroadcastPair { buffer: B, at: Index::at(2 * i) });
                for (k, sum) in both.iter_mut().enumerate() {
                    let at = Index::at(lanes - 2 * i - 2 + k * apart);
                    let window = block.push(Op::Load { buffer: C, at });
                    let dot = block.push(Op::PairDot(pair, window));
                    *sum = Some(sum.map_or(dot, |sum| block.push(Op::AddWide(sum, dot))));
                }
            }
            let [Some(even), Some(odd)] = both else { unreachable!("terms") };
            let up = block.push(Op::ShlWide(odd, bits));
            let down = block.push(Op::ShrWide(even, bits));
            results.push(block.push(Op::Blend { a: even, b: up, mask: 0xaa }));
            results.push(block.push(Op::Blend { a: down, b: odd, mask: 0xaa }));
            if sums {
                results.push(block.push(Op::ShrWide(odd, 3)));
            }
        }
        // More constants than there are registers for; one of them is no factor, too.
        for k in 0..14 {
            let word = block.push(Op::Splat(37 * k - 200));
            let low = block.push(Op::MulLo(word, a));
            results.push(block.push(Op::MulHrs(b, word)));
            results.push(block.push(Op::Sub(b, low)));
            let low = block.push(Op::MulLo(b, word));
            results.extend([low, block.push(Op::Add(low, a))]);
            if k == 3 {
                results.push(block.push(Op::Add(word, a)));
            }
        }
        let words = (results.len() + 2) * lanes;
        for (i, a) in results.into_iter().enumerate() {
            block.push(Op::Store { buffer: C, at: Index::at((i + 2) * lanes), a });
        }
        check(&whole(q, bits, lanes, words, block), &["neon"]);
    }
}

/// Compiles for the targets and compares with the interpretation.
fn check(program: &Program, targets: &[&str]) {
    check_cases(program, targets, &cases(program));
}

fn check_cases(program: &Program, targets: &[&str], cases: &[Vec<Vec<i64>>]) {
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
        let both = arm || *target == "avx2" && long::long();
        let some = if both { &all[..] } else { &all[all.len() - 1..] };
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
        } else {
            check(&each(q, bits, lanes, &long), &VECTORS);
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
        for x in 0..4 {
            for y in 0..4 {
                all.push(Box::new(move |[a, _, b, _]| Op::Parts { a, b, pick: vec![x, y] }));
            }
        }
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
        let all: Vec<&Make<'_>> = all.iter().map(|b| &**b).collect();
        check(&each(q, bits, lanes, &all), &VECTORS);
    }
}

#[test]
fn memory() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let part = lanes / 2;
        let at = Index::at;
        let mut block = Block::default();
        let mut stored = 0;
        for count in 1..lanes as u32 {
            let a = block.push(Op::LoadPartial { buffer: A, at: at(3), count });
            block.push(Op::Store { buffer: C, at: at(stored), a });
            stored += lanes;
        }
        let a = block.push(Op::LoadParts { buffer: A, at: vec![at(part + 1), at(2)] });
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
        block.push(Op::StoreParts { buffer: C, at: vec![at(stored + part), at(stored)], a });
        let whole = whole(q, bits, lanes, stored + lanes, block);
        check(&whole, &VECTORS);
    }
}

/// Sums over a register, and over all registers of a loop, which portable C makes one loop.
#[test]
fn sums_of_words() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        // Callers may pass an input as the output, which is not to be written between.
        let (counter, t) = (LoopVar(0), BufferId(4));
        let mut start = Block::default();
        let a = start.push(Op::Load { buffer: A, at: Index::at(0) });
        start.push(Op::Store { buffer: t, at: Index::at(0), a });
        let sums = |at: Index, to: usize| {
            let mut block = Block::default();
            let [a, b] = [A, B].map(|buffer| block.push(Op::Load { buffer, at: at.clone() }));
            let product = block.push(Op::MulLo(a, b));
            block.push(Op::AddSum { buffer: t, at: Index::at(to), a: product });
            Stmt::Block(block)
        };
        let all = sums(Index::strided(0, counter, lanes), 1);
        let mut end = Block::default();
        let a = end.push(Op::Load { buffer: t, at: Index::at(0) });
        end.push(Op::Store { buffer: C, at: Index::at(0), a });
        let body = vec![
            Stmt::Block(start),
            sums(Index::at(lanes), 3),
            Stmt::Loop { counter, count: REGISTERS as u32, body: vec![all] },
            Stmt::Block(end),
        ];
        let mut program = whole(q, bits, lanes, lanes, Block::default());
        program.procedures[0].buffers.push(buffer("t", Role::Local, lanes));
        program.procedures[0].body = body;
        check(&program, &ALL);
    }
}

#[test]
fn modular_operations() {
    for (q, bits, lanes) in KINDS {
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
            check(&each(q, bits, lanes, &flat), targets);
        };
        use FreezeMethod::Minimum;
        use ReduceMethod::*;
        let split = [MulMethod::Montgomery, MulMethod::Barrett];
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
                Montgomery,
            ]),
            words(&[ProductMethod::Montgomery]),
            freeze(&[Minimum, FreezeMethod::Montgomery, biased]),
        ];
        all(high, if bits == 16 { &ALL } else { &["neon", "m4", "c"] });
        if bits == 16 {
            let narrowed = narrow(&[NarrowMethod::Montgomery, NarrowMethod::Barrett]);
            all(vec![multiply(&split, &factors)], &ALL);
            all(vec![narrowed], &VECTORS);
            all(vec![narrow(&[NarrowMethod::Low])], &VECTORS);
        } else {
            let wide = vec![
                multiply(&[MulMethod::MontgomeryLow, MulMethod::MontgomeryWide], &factors),
                reduce(&[Crude, Folded, RoundedShift, MontgomeryWide]),
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

/// Dot products of broadcast pairs with loads at even and odd places, straight and in a loop: Cortex-M4 has them
/// as operations on two halves, either way round.
#[test]
fn dot_products_of_broadcast_pairs() {
    const SUMS: BufferId = BufferId(4);
    let (_, bits, lanes) = KINDS[0];
    let some = [(0, 7), (2, 5), (3, 3), (6, 0)];
    let sums = |terms: &[(usize, usize)], at: &dyn Fn(usize) -> Index| {
        let mut block = Block::default();
        let mut sums = [None; 2];
        for &(column, first) in terms {
            let pair = block.push(Op::BroadcastPair { buffer: A, at: Index::at(column) });
            let swapped = block.push(Op::SwapPairs(pair));
            for (parity, sum) in sums.iter_mut().enumerate() {
                let b = block.push(Op::Load { buffer: B, at: at(first + parity) });
                let a = if (column, first) == (2, 5) { pair } else { swapped };
                let op = match *sum {
                    None => Op::PairDot(a, b),
                    Some(acc) if column == 3 => Op::AddWide(acc, block.push(Op::PairDot(b, a))),
                    Some(acc) => Op::PairDotAdd { acc, a, b },
                };
                *sum = Some(block.push(op));
            }
        }
        let [Some(even), Some(odd)] = sums else { unreachable!() };
        let a = block.push(Op::Narrow { even, odd, method: NarrowMethod::Low });
        block.push(Op::Store { buffer: SUMS, at: at(0), a });
        block
    };
    // An entry point's output may be an input of it, so that sums wait in an array of their own.
    let waiting = |words: usize, sums: Vec<Stmt>| {
        let mut copies = Block::default();
        let a = copies.push(Op::Load { buffer: SUMS, at: Index::at(0) });
        copies.push(Op::Store { buffer: C, at: Index::at(0), a });
        let mut body = vec![Stmt::Block(copies)];
        if words > lanes {
            let (at, count) = (Index::at(lanes), (words - lanes) as u32);
            let mut rest = Block::default();
            let a = rest.push(Op::LoadPartial { buffer: SUMS, at: at.clone(), count });
            rest.push(Op::StorePartial { buffer: C, at, count, a });
            body.push(Stmt::Block(rest));
        }
        let mut program = whole(1 << bits, bits, lanes, words, Block::default());
        program.procedures[0].buffers.push(buffer("sums", Role::Local, words));
        program.procedures[0].body = [sums, body].concat();
        program
    };
    let targets = ["sse41", "neon", "m4"];
    check(&waiting(lanes, vec![Stmt::Block(sums(&some, &Index::at))]), &targets);
    // Two turns, and words to read in the second one.
    let counter = LoopVar(0);
    let body = vec![Stmt::Block(sums(&some, &|base| Index::strided(base, counter, 8)))];
    let twice = vec![Stmt::Loop { counter, count: 2, body }];
    let program = waiting(lanes + 8, twice);
    check(&program, &targets);
    let said = m4::m4(&program, &Preamble::default()).unwrap();
    assert!(said.contains("__smladx("), "{said}");
    // A Toeplitz matrix is written in instructions; one pair elsewhere, and it is none.
    let toeplitz = |moved: usize| {
        let columns = (0..lanes).step_by(2).map(|column| (column, lanes - 1 - column));
        let mut terms: Vec<_> = columns.collect();
        terms[3].1 += moved;
        waiting(lanes, vec![Stmt::Block(sums(&terms, &Index::at))])
    };
    for moved in [0, 2] {
        check(&toeplitz(moved), &targets);
        let said = m4::m4(&toeplitz(moved), &Preamble::default()).unwrap();
        assert_eq!(said.contains("\"smladx r"), moved == 0, "{said}");
    }
    // What reads what it writes is no loop over elements.
    let mut block = sums(&some, &Index::at);
    for op in &mut block.ops {
        if let Op::Store { buffer, .. } = op {
            *buffer = B;
        }
    }
    let program = waiting(lanes, vec![Stmt::Block(block)]);
    let said = m4::m4(&program, &Preamble::default()).unwrap_err().to_string();
    assert!(said.contains("touches it again across lanes"), "{said}");
}

/// Neon adds sums of products without adding neighbours, and products to words, in one operation.
#[test]
fn operations_that_neon_does_together() {
    for (q, bits, lanes) in [KINDS[0], KINDS[3]] {
        let mut block = Block::default();
        let mut load = |buffer, i| block.push(Op::Load { buffer, at: Index::at(i * lanes) });
        let [a0, a1, b0, b1] = [load(A, 0), load(A, 1), load(B, 0), load(B, 1)];
        let mut results = Vec::new();
        // A chain, with a sum in the middle that is wanted too.
        let dots = [(a0, b0), (a1, b0), (a1, b1)].map(|(a, b)| block.push(Op::PairDot(a, b)));
        let two = block.push(Op::AddWide(dots[0], dots[1]));
        let three = block.push(Op::AddWide(dots[2], two));
        let fused = block.push(Op::PairDotAdd { acc: three, a: a0, b: b1 });
        results.extend([fused, block.push(Op::ShrWide(fused, 3))]);
        // Two chains; and a product that is wanted twice.
        let [x, y, z] = [(a0, b0), (a1, b1), (a0, b1)].map(|(a, b)| block.push(Op::PairDot(a, b)));
        let twice = block.push(Op::AddWide(x, x));
        let both = block.push(Op::AddWide(y, z));
        let more = block.push(Op::PairDotAdd { acc: twice, a: a1, b: b0 });
        results.extend([block.push(Op::AddWide(both, more)), block.push(Op::SubWide(x, twice))]);
        // Low products added and subtracted, on either side.
        let low = |block: &mut Block, a, b| block.push(Op::MulLo(a, b));
        let p = [low(&mut block, a0, b0), low(&mut block, a1, b0), low(&mut block, a1, b1)];
        results.push(block.push(Op::Add(p[0], a1)));
        results.push(block.push(Op::Sub(a0, p[1])));
        results.push(block.push(Op::Sub(p[2], b0)));
        let p = low(&mut block, a0, b1);
        results.extend([block.push(Op::Add(p, p)), block.push(Op::Sub(p, b1))]);
        // Halves of elements brought together.
        let up = block.push(Op::ShlWide(b0, bits));
        let down = block.push(Op::ShrWide(a0, bits));
        let odd = block.push(Op::OddToEven(a1));
        for (a, b) in [(a0, up), (down, b0), (odd, b1), (odd, up)] {
            results.push(block.push(Op::Blend { a, b, mask: 0xaa }));
        }
        for mask in [0, 0x0f, 0xf0, 0xff, 0x55, 0x3c] {
            results.push(block.push(Op::Blend { a: a0, b: b1, mask }));
        }
        // Least words: the rounding product saturates there, and no constant does.
        let least = block.push(Op::Splat(i32::MIN >> (32 - bits)));
        let most = block.push(Op::Splat(i32::MAX >> (32 - bits)));
        results.extend([least, most].map(|v| block.push(Op::MulHrs(a0, v))));
        let words = results.len() * lanes;
        for (i, a) in results.into_iter().enumerate() {
            block.push(Op::Store { buffer: C, at: Index::at(i * lanes), a });
        }
        check(&whole(q, bits, lanes, words, block), &["neon"]);
    }
}
