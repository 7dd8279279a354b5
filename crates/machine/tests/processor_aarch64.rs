//! Every form of AArch64 on the whitelist against an emulated processor, on random and corner inputs.
//!
//! All combinations of the bits that tell instructions apart are tried; of each form that the decoder
//! knows some words are kept, and what [`lift`] accepts is run and compared bit by bit: vector and
//! general registers, memory, flags. Each runs with symbolic operands, with known ones, and with
//! some known (counts, indices, divisors).

mod common;
use common::elf::object_for;
use common::emulated::{self, Job};
use common::words::{decode, read_alike, text};
use fARM64::operand::MemIndexMode;
use fARM64::{Instruction, Mnemonic, Operand, Register};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::Graph;
use ringforge_machine::{ArgSpec, CallSpec, Initial, LiftError, Object, Violation, lift};
use ringforge_testing::{needs, program};
use std::collections::{BTreeMap, BTreeSet};

/// Forms that must at least have been compared; lower it only with a reason.
const AT_LEAST: usize = 2900;

/// Words: 32 vectors, 32 general registers, two that make the flags.
const STATE: usize = 98;
/// Words: vectors, general registers, eight conditions as bytes.
const RESULT: usize = 97;
const MEMORY: usize = 128;
/// Where in memory the base register points, and what the index register holds.
const MIDDLE: u32 = 512;
const INDEX: u32 = 8;
/// Base and index register.
const BASE: u8 = 1;
const STEP: u8 = 2;

/// Words kept of each form.
const SAMPLES: usize = 4;

/// A small generator, the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 3
    }
    fn pick(&mut self, list: &[u64]) -> u64 {
        list[(self.next() % list.len() as u64) as usize]
    }
    /// Words that are random, or made of corner values of one lane width.
    fn word(&mut self, kind: u64) -> u64 {
        let lanes = |r: &mut Self, bits: u32, list: &[u64]| {
            (0..64 / bits)
                .fold(0, |w, i| w | (r.pick(list) & (u64::MAX >> (64 - bits))) << (bits * i))
        };
        match kind % 6 {
            0 => lanes(self, 8, &[0, 1, 0x7f, 0x80, 0xff, 0x40, 15, 0x81]),
            1 => lanes(self, 16, &[0, 1, 0x7fff, 0x8000, 0xffff, 2295, 4591, 0x4000, 0x8001]),
            2 => lanes(self, 32, &[0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x8000, 0x10000]),
            3 => self.pick(&[0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 0xffff_ffff, 31, 32, 64]),
            4 => self.next() % 80,
            _ => self.next() ^ self.next() << 40,
        }
    }
    fn words(&mut self, kind: u64, count: usize) -> Vec<u64> {
        let mixed = kind % 7 == 6;
        (0..count)
            .map(|_| {
                let kind = if mixed { self.next() } else { kind };
                self.word(kind)
            })
            .collect()
    }
}

/// Control flow and addresses of code are tested on compiled functions.
const ELSEWHERE: [Mnemonic; 14] = [
    Mnemonic::B,
    Mnemonic::Bl,
    Mnemonic::Br,
    Mnemonic::Blr,
    Mnemonic::Ret,
    Mnemonic::Cbz,
    Mnemonic::Cbnz,
    Mnemonic::Tbz,
    Mnemonic::Tbnz,
    Mnemonic::Adr,
    Mnemonic::Adrp,
    Mnemonic::Udf,
    Mnemonic::Brk,
    Mnemonic::Svc,
];

/// What makes a form, or `None` where the word uses registers that the harness needs.
fn form(ins: &Instruction) -> Option<String> {
    let mut text = format!("{:?}", ins.code());
    if ELSEWHERE.contains(&ins.mnemonic()) {
        return None;
    }
    // Words with other bits are refused.
    let high = matches!(ins.mnemonic(), Mnemonic::Smulh | Mnemonic::Umulh);
    if high && ins.word() >> 10 & 0x1f != 0x1f {
        return None;
    }
    text.push_str(&format!(" {:?}", ins.mnemonic()));
    // Whether the last operand is what is added to the base.
    let post = (0..ins.op_count())
        .any(|i| matches!(ins.op(i), Operand::MemImm { mode: MemIndexMode::PostReg, .. }));
    let free = |r: Register| {
        r.is_simd()
            || matches!(r, Register::Xzr | Register::Wzr)
            || !(r.number() >= 30 || [18, BASE, STEP].contains(&r.number()))
    };
    for i in 0..ins.op_count() {
        match ins.op(i) {
            Operand::Reg { reg, arr, lane, shift, extend, pred: None } => {
                let step = post && i + 1 == ins.op_count();
                let fits = if step { reg.number() == STEP } else { free(reg) };
                if !fits || matches!(reg, Register::Sp | Register::Wsp) {
                    return None;
                }
                let zero = matches!(reg, Register::Xzr | Register::Wzr);
                text.push_str(&format!(
                    " r{}{:?}{}{:?}{:?}{}",
                    reg.width_bits(),
                    arr,
                    lane.is_some(),
                    shift.map(|s| s.0),
                    extend,
                    if zero { "z" } else { "" }
                ));
            }
            Operand::MemImm { base, mode, .. } => {
                if base.number() != BASE || base == Register::Sp {
                    return None;
                }
                text.push_str(&format!(" {mode:?}"));
                if mode == MemIndexMode::PreNoOffset {
                    return None;
                }
            }
            Operand::MemExt { base, index, extend, shift } => {
                if base.number() != BASE || index.number() != STEP {
                    return None;
                }
                text.push_str(&format!(" {extend:?}{}", shift & 0x7f));
            }
            Operand::MultiReg { count, arr, lane, .. } => {
                text.push_str(&format!(" {count}{arr:?}{}", lane.is_some()));
            }
            Operand::Cond(_) => text.push_str(" condition"),
            Operand::ImmShiftedMove { lsl, .. } => text.push_str(&format!(" immediate<<{lsl}")),
            Operand::ImmShiftedMsl { msl, .. } => text.push_str(&format!(" ones<<{msl}")),
            Operand::ImmUnsigned(_)
            | Operand::ImmSigned(_)
            | Operand::ImmLogical(_)
            | Operand::ShiftAmount(_) => text.push_str(" immediate"),
            _ => return None,
        }
    }
    Some(text)
}

/// Some words of every form.
fn samples(random: &mut Random) -> BTreeMap<String, Vec<u32>> {
    let mut found: BTreeMap<String, (usize, Vec<u32>)> = BTreeMap::new();
    for top in 0..1u32 << 11 {
        for middle in 0..1u32 << 11 {
            let mut word = top << 21 | (middle >> 6) << 16 | (middle & 63) << 10;
            word |= random.next() as u32 & 0x3ff;
            // Loads and stores: the base register, and often the index register and a small offset.
            if word >> 27 & 1 == 1 && word >> 25 & 1 == 0 {
                word = word & !0x3e0 | u32::from(BASE) << 5;
            }
            let Some(ins) = decode(word) else { continue };
            let Some(form) = form(&ins) else { continue };
            let (seen, words) = found.entry(form).or_default();
            *seen += 1;
            if words.len() < SAMPLES {
                words.push(word);
            } else {
                let at = random.next() as usize % *seen;
                if at < SAMPLES {
                    words[at] = word;
                }
            }
        }
    }
    found.into_iter().map(|(form, (_, words))| (form, words)).collect()
}

/// The function f(state, memory, result): all registers from the state, the words, all registers and
/// conditions to the result.
fn function(body: &[u32]) -> Vec<u8> {
    const SP: u32 = 31;
    const FRAME: u32 = 192;
    let mut code: Vec<u32> = Vec::new();
    let ldr = |rt: u32, rn: u32, at: u32| 0xf940_0000 | (at / 8) << 10 | rn << 5 | rt;
    let str = |rt: u32, rn: u32, at: u32| 0xf900_0000 | (at / 8) << 10 | rn << 5 | rt;
    let (ldr_d, str_d) = (0xfd40_0000, 0xfd00_0000);
    let (ldr_q, str_q) = (0x3dc0_0000, 0x3d80_0000);
    code.push(0xd100_0000 | FRAME << 10 | SP << 5 | SP);
    code.push(str(2, SP, 0));
    code.push(str(1, SP, 8));
    for r in 19..=30 {
        code.push(str(r, SP, 16 + 8 * (r - 19)));
    }
    for r in 8..16 {
        code.push(str_d | (112 / 8 + r - 8) << 10 | SP << 5 | r);
    }
    code.push(0x9100_0000 | MIDDLE << 10 | 1 << 5 | 1); // add x1, x1, #MIDDLE
    code.push(0xd280_0000 | INDEX << 5 | 2); // mov x2, #INDEX
    for r in 0..32 {
        code.push(ldr_q | r << 10 | r);
    }
    code.extend([ldr(9, 0, 768), ldr(10, 0, 776), 0x2b00_0000 | 10 << 16 | 9 << 5 | 31]); // cmn
    for r in (3..30).chain([0]).filter(|r| *r != 18) {
        code.push(ldr(r, 0, 512 + 8 * r));
    }
    code.extend(body);
    code.push(ldr(30, SP, 0));
    for r in 0..32 {
        code.push(str_q | r << 10 | 30 << 5 | r);
    }
    for r in (0..30).filter(|r| ![1, 18].contains(r)) {
        code.push(str(r, 30, 512 + 8 * r));
    }
    // How far the base register moved.
    code.extend([ldr(9, SP, 8), 0xcb00_0000 | 9 << 16 | 1 << 5 | 1, str(1, 30, 512 + 8)]);
    for r in [18, 30, 31] {
        code.push(str(31, 30, 512 + 8 * r));
    }
    for (i, condition) in [0u32, 2, 4, 6, 8, 10, 12, 13].into_iter().enumerate() {
        code.push(0x1a9f_07e0 | (condition ^ 1) << 12 | 9); // cset w9, condition
        code.push(0x3900_0000 | (768 + i as u32) << 10 | 30 << 5 | 9); // strb w9
    }
    for r in 8..16 {
        code.push(ldr_d | (112 / 8 + r - 8) << 10 | SP << 5 | r);
    }
    for r in 19..=30 {
        code.push(ldr(r, SP, 16 + 8 * (r - 19)));
    }
    code.push(0x9100_0000 | FRAME << 10 | SP << 5 | SP);
    code.push(0xd65f_03c0);
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

type Case = (Vec<u64>, Vec<u64>);

/// What is known of the operands: which bytes of the state, and whether memory is.
struct Known {
    state: Vec<bool>,
    memory: bool,
}

/// The semantics' results for `cases`, of which what is known is the same.
fn symbolic(code: &[u8], cases: &[Case], known: &Known) -> Result<Vec<Vec<u64>>, LiftError> {
    let object = Object::parse(&object_for(183, code)).expect("our own object");
    let mut graph = Graph::new();
    let state = bytes(&cases[0].0);
    let state = state.iter().zip(&known.state).map(|(b, k)| k.then_some(*b)).collect::<Vec<_>>();
    let state = if known.state.iter().any(|k| *k) {
        Initial::Partly { operand: 0, known: state }
    } else {
        Initial::Inputs { operand: 2, element_bits: 64 }
    };
    let memory = if known.memory {
        Initial::Bytes(bytes(&cases[0].1))
    } else {
        Initial::Inputs { operand: 1, element_bits: 64 }
    };
    let region = |name, words: usize, align, write, initial| {
        common::region(name, 8 * words as u64, align, write, initial)
    };
    let call = CallSpec {
        symbol: "f".into(),
        regions: vec![
            region("state", STATE, 16, false, state),
            region("memory", MEMORY, 64, true, memory),
            region("result", RESULT, 16, true, Initial::Undefined),
        ],
        args: (0..3).map(|r| ArgSpec::Pointer(r, 0)).collect(),
        data: Vec::new(),
        ranges: Vec::new(),
        given_sections: Vec::new(),
        coincide: Vec::new(),
        functions: Vec::new(),
        released_branches: 0,
        passes_checks: false,
        max_steps: 2000,
    };
    let lifted = lift(&object, &call, &mut graph, &mut |_| true)?;
    let regions = &lifted.cases[0].regions;
    let mut roots = Vec::new();
    for i in 0..RESULT {
        roots.push(regions[2].element(&mut graph, i, 64).expect("every word is stored"));
    }
    for i in 0..MEMORY {
        roots.push(regions[1].element(&mut graph, i, 64).expect("memory stays defined"));
    }
    let tape = Tape::new(&graph, &roots).expect("no addresses in data");
    let values = tape.run_batch(cases.len(), &mut |operand, index, out| {
        let index = index as usize;
        for (v, (state, memory)) in out.iter_mut().zip(cases) {
            *v = match operand {
                0 => state[index / 8] >> (8 * (index % 8)) & 0xff,
                1 => memory[index],
                _ => state[index],
            };
        }
    });
    Ok((0..cases.len()).map(|j| values.iter().map(|v| v[j]).collect()).collect())
}

/// One word with operands, of which some are known.
struct Try<'a> {
    form: &'a String,
    word: u32,
    cases: Vec<Case>,
    known: Known,
}

/// Each word three times: nothing known, all, and half of the registers.
fn tries<'a>(all: &'a BTreeMap<String, Vec<u32>>, random: &mut Random) -> Vec<Try<'a>> {
    let mut tries = Vec::new();
    for (form, words) in all {
        for &word in words {
            for mode in 0..3u64 {
                let count = if mode == 0 { 14 } else { 1 };
                let cases: Vec<Case> = (0..count)
                    .map(|k| {
                        let kind = if mode == 0 { k } else { random.next() };
                        (random.words(kind, STATE), random.words(kind, MEMORY))
                    })
                    .collect();
                let mut state = vec![mode == 1; 8 * STATE];
                if mode == 2 {
                    // Half of the registers; of a few of them half of the bytes.
                    for register in state.chunks_mut(16) {
                        let (which, part) = (random.next() % 8, random.next() % 2);
                        for (k, byte) in register.iter_mut().enumerate() {
                            *byte = which < 4 || which == 4 && k as u64 % 4 / 2 == part;
                        }
                    }
                }
                let known = Known { state, memory: mode == 1 };
                tries.push(Try { form, word, cases, known });
            }
        }
    }
    tries
}

/// The semantics' results for all of them, on two threads.
fn all_symbolic(tries: &[Try]) -> Vec<Result<Vec<Vec<u64>>, LiftError>> {
    std::thread::scope(|scope| {
        let workers: Vec<_> = tries
            .chunks(tries.len().div_ceil(2).max(1))
            .map(|part| {
                scope.spawn(move || -> Vec<_> {
                    part.iter()
                        .map(|one| symbolic(&function(&[one.word]), &one.cases, &one.known))
                        .collect()
                })
            })
            .collect();
        workers.into_iter().flat_map(|w| w.join().expect("no worker panics")).collect()
    })
}

/// One comparison that is to be made: the words, and what the semantics give.
struct Claim {
    form: String,
    word: u32,
    got: Vec<Vec<u64>>,
}

/// Compares all claims with the emulated processor.
fn compare(jobs: &[Job], claims: &[Claim]) -> Vec<String> {
    let mut mismatches = Vec::new();
    let results = emulated::run(jobs, [STATE, MEMORY, RESULT]);
    for (claim, want) in claims.iter().zip(results) {
        let wrong = claim.got.iter().zip(&want).find(|(got, want)| got != want);
        if let Some((got, want)) = wrong {
            let at = (0..want.len()).find(|&i| want[i] != got[i]).expect("they differ");
            mismatches.push(format!(
                "{} ({}): word {at} is {:#018x} on the processor and {:#018x} here",
                text(claim.word),
                claim.form,
                want[at],
                got[at]
            ));
        }
    }
    mismatches
}

#[test]
fn every_form_agrees_with_the_emulated_processor() {
    needs!("qemu-aarch64", "aarch64-linux-gnu-gcc");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let all = samples(&mut random);
    let tries = tries(&all, &mut random);
    let (mut jobs, mut claims, mut other) = (Vec::new(), Vec::new(), Vec::new());
    let mut refused: BTreeMap<&String, String> = BTreeMap::new();
    for (one, got) in tries.iter().zip(all_symbolic(&tries)) {
        match got {
            Ok(got) => {
                claims.push(Claim { form: one.form.clone(), word: one.word, got });
                jobs.push(Job { code: function(&[one.word]), cases: one.cases.clone() });
            }
            Err(LiftError::Unsupported { what, .. }) => {
                refused.entry(one.form).or_insert(what);
            }
            // An offset beyond the memory, or an operand that must be known.
            Err(LiftError::Violation(
                Violation::Memory { .. } | Violation::ConstantTime { .. },
            )) => {}
            Err(e) => other.push(format!("{}: {e}", text(one.word))),
        }
    }
    let mismatches = compare(&jobs, &claims);
    let checked: BTreeSet<&String> = claims.iter().map(|c| &c.form).collect();
    let words: BTreeSet<u32> = claims.iter().map(|c| c.word).collect();
    let mnemonics: BTreeSet<String> =
        words.iter().map(|&w| text(w).split(' ').next().expect("a mnemonic").into()).collect();
    let runs: usize = claims.iter().map(|c| c.got.len()).sum();
    println!(
        "{} forms of {} mnemonics agree in {runs} runs, of {} that are decoded",
        checked.len(),
        mnemonics.len(),
        all.len()
    );
    println!("{}", mnemonics.into_iter().collect::<Vec<_>>().join(" "));
    let unlike = program("clang").map_or_else(Vec::new, |clang| {
        let unlike = read_alike(clang, &words);
        println!("{} words are read as LLVM reads them", words.len() - unlike.len());
        unlike
    });
    let part: Vec<_> = refused
        .iter()
        .filter(|(form, what)| {
            !checked.contains(**form) && !what.contains("instruction is not on the")
        })
        .collect();
    println!("refused for their operands: {part:#?}");
    assert!(other.is_empty(), "{}", other.join("\n"));
    assert!(mismatches.is_empty(), "{} mismatches:\n{}", mismatches.len(), mismatches.join("\n"));
    assert!(unlike.is_empty(), "{} words:\n{}", unlike.len(), unlike.join("\n"));
    assert!(checked.len() >= AT_LEAST, "only {} forms were compared", checked.len());
}
