//! Every form on the whitelist beside an emulated processor, on random and corner inputs.
//!
//! Of every row of the decoder's tables words are made with random fields. Each is run alone, and those that
//! may stand under a condition also in an IT block, by the semantics and by `qemu-arm`: registers, memory
//! and flags are compared, with symbolic operands, with known ones, and with some known. Branches, literals
//! and the stack pointer are tested on functions, in `tests/compiled_thumb.rs`.

use super::decode::{self, Instruction};
use super::operation::{Address, Op};
use crate::eval::Tape;
use crate::graph::Graph;
use crate::{
    ArgSpec, CallSpec, Initial, LiftError, Object, RegionSpec, Violation, lift,
    lifted::ElementError,
};
use ringforge_testing::{needs, program};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// Forms that must at least have been compared; lower it only with a reason.
const AT_LEAST: usize = 950;

/// Words: r0 to r14 in their places, two whose sum makes the flags at 13 and 15.
const STATE: usize = 16;
/// Words: registers, then eight conditions as bytes.
const RESULT: usize = 18;
const MEMORY: usize = 128;
/// Base and index register.
const BASE: u32 = 1;
const STEP: u32 = 2;
/// Words tried of each row.
const TRIES: usize = 160;
/// Words kept of each form.
const SAMPLES: usize = 3;
/// Registers that take part freely.
const FREE: [u32; 12] = [0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14];

const FLAGS: [&str; 2] = ["--target=thumbv7em-none-eabi", "-mcpu=cortex-m4"];

/// A small generator, the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
    fn pick(&mut self, list: &[u32]) -> u32 {
        list[(self.next() % list.len() as u64) as usize]
    }
    /// A word that is random, or made of corner values of one lane width.
    fn word(&mut self, kind: u64) -> u32 {
        let mut lanes = |bits: u32, list: &[u32]| {
            (0..32 / bits).fold(0, |w, i| w | self.pick(list) << (bits * i))
        };
        match kind % 5 {
            0 => lanes(8, &[0, 1, 0x7f, 0x80, 0xff, 0x40, 15, 0x81]),
            1 => lanes(16, &[0, 1, 0x7fff, 0x8000, 0xffff, 2295, 4591, 0x4000, 0x8001]),
            2 => self.pick(&[
                0,
                1,
                u32::MAX,
                1 << 31,
                i32::MAX as u32,
                0x8000,
                0xffff_8000,
                31,
                32,
                33,
            ]),
            3 => (self.next() % 80) as u32,
            _ => self.next() as u32,
        }
    }
    fn words(&mut self, kind: u64, count: usize) -> Vec<u32> {
        let mixed = kind % 6 == 5;
        let mut one = || {
            let kind = if mixed { self.next() } else { kind };
            self.word(kind)
        };
        (0..count).map(|_| one()).collect()
    }
}

/// What is run: some words, each with its bytes.
#[derive(Clone)]
struct Body {
    form: String,
    /// The mnemonic.
    name: String,
    words: Vec<Instruction>,
}

impl Body {
    fn text(&self) -> String {
        self.words.iter().map(Instruction::text).collect::<Vec<_>>().join("; ")
    }
}

fn bytes(word: u32, wide: bool) -> Vec<u8> {
    let half = |h: u32| (h as u16).to_le_bytes();
    if wide { [half(word >> 16), half(word)].concat() } else { half(word).to_vec() }
}

/// What makes a form: the text without its numbers and the names of registers.
fn form(ins: &Instruction) -> String {
    let text = ins.text();
    let mut out = String::new();
    let mut number = false;
    for c in text.replace("lr", "r14").chars() {
        let float = ins.op.is_of_floats() && out.ends_with(['s', 'd']);
        if c.is_ascii_digit() && (float || out.ends_with(['r', '#', '-'])) {
            number = true;
        }
        if !(number && c.is_ascii_digit()) {
            number = false;
            out.push(c);
        }
    }
    let special = match ins.op {
        Op::Data(..) => format!(" {:?}", ins.carry.is_some()),
        _ => String::new(),
    };
    let size = ins.length;
    format!("{out} {size}{special}")
}

/// Whether the harness can run it.
fn fits(ins: &Instruction) -> bool {
    const STACK: u8 = 13;
    if [ins.d, ins.n, ins.m, ins.a, ins.t, ins.u].contains(&STACK) {
        return false;
    }
    let list_free = ins.list & (1 << BASE | 1 << STEP | 1 << 13 | 1 << 15) == 0;
    match ins.op {
        Op::Branch
        | Op::BranchIf
        | Op::CompareBranch { .. }
        | Op::Call
        | Op::Exchange { .. }
        | Op::IfThen
        | Op::Adr
        | Op::LoadFloat { at: Address::Literal, .. }
        | Op::Load { at: Address::Literal, .. } => false,
        Op::LoadMany { .. } | Op::StoreMany { .. } => list_free,
        _ => true,
    }
}

/// An instruction on floating-point registers between others that fill all it may read from known places, and move
/// what it may have written to where it is looked at; the caller's registers are kept on the stack.
fn framed(ins: Instruction, random: &mut Random) -> Vec<Instruction> {
    let wide = |word: u32| decode::decode(&bytes(word, true)).expect("a move");
    let move_word = |f: usize, r: u32, back: u32| {
        let f = f as u32;
        wide(0xee00_0a10 | back << 20 | (f >> 1) << 16 | (f & 1) << 7 | r << 12)
    };
    let (push, pop) = (wide(0xed2d_8a10), wide(0xecbd_8a10));
    let mut words = vec![push];
    let reads = ins.floats().chain([ins.float_source()]);
    words.extend(reads.map(|f| move_word(f, random.pick(&FREE), 0)));
    words.push(ins);
    // Three of a list are looked at, the last one among them.
    let written: Vec<usize> = ins.floats_written().rev().collect();
    let seen = written.iter().step_by(written.len().div_ceil(3).max(1));
    words.extend(seen.zip([4, 8, 12]).map(|(&f, r)| move_word(f, r, 1)));
    words.push(pop);
    words
}

/// Words of every row, their registers such as the harness has.
fn bodies(random: &mut Random) -> Vec<Body> {
    let mut found: BTreeMap<String, Vec<Body>> = BTreeMap::new();
    for (row, parsed) in decode::all_rows() {
        let memory = matches!(
            row.op,
            Op::Load { .. }
                | Op::Store { .. }
                | Op::LoadPair
                | Op::StorePair
                | Op::LoadMany { .. }
                | Op::StoreMany { .. }
                | Op::LoadFloat { .. }
                | Op::StoreFloat { .. }
                | Op::LoadFloats { .. }
                | Op::StoreFloats { .. }
        );
        let is_wide = parsed.length() == 32;
        for k in 0..TRIES {
            let mut word = random.next() as u32 & !parsed.mask | parsed.value;
            if k % 4 == 0 {
                // Immediates and amounts of shifts are often zero or small.
                word = parsed.with('i', random.next() as u32 & 3, word);
            }
            for letter in ['d', 'n', 'm', 'a', 't', 'u'] {
                let most = 1u32 << parsed.width(letter);
                let one = FREE.into_iter().filter(|r| *r < most).collect::<Vec<_>>();
                if parsed.width(letter) > 0 {
                    word = parsed.with(letter, random.pick(&one), word);
                }
            }
            if memory {
                word = parsed.with('n', BASE, word);
                word = parsed.with('m', STEP, word);
                let small = random.next() as u32 & 31;
                word = parsed.with('i', small, word);
                word = parsed.with('L', 0, parsed.with('P', 0, word));
                word = parsed.with('l', parsed.field('l', word).unwrap_or(0) & !6, word);
            }
            if parsed.width('n') > 0 && row.names_twice() {
                word = parsed.with('n', parsed.field('m', word).unwrap_or(0), word);
            }
            if !is_wide {
                word &= 0xffff;
            }
            let Ok(ins) = decode::decode(&bytes(word, is_wide)) else { continue };
            if !fits(&ins) {
                continue;
            }
            let words = if ins.op.is_of_floats() { framed(ins, random) } else { vec![ins] };
            let (form, name) = (form(&ins), ins.mnemonic());
            let alone = Body { form, name: name.clone(), words };
            let it = 0xbf08 | (random.next() as u32 % 14) << 4;
            let it = decode::decode(&bytes(it, false)).expect("an IT block of one");
            let under = Body { form: format!("it {}", alone.form), name, words: vec![it, ins] };
            let single = memory || ins.op.is_of_floats();
            for body in if single { vec![alone] } else { vec![alone, under] } {
                let kept = found.entry(body.form.clone()).or_default();
                if kept.len() < SAMPLES {
                    kept.push(body);
                }
            }
        }
    }
    found.into_values().flatten().collect()
}

/// The functions f0, f1, ... (state, memory, result), in assembly.
fn source(bodies: &[Body]) -> String {
    let mut s = String::from(".syntax unified\n.text\n.thumb\n");
    for (i, body) in bodies.iter().enumerate() {
        write!(
            s,
            ".balign 4\n.globl f{i}\n.type f{i},%function\n.thumb_func\nf{i}:\n\
             push {{r4-r11, lr}}\nsub sp, sp, #12\nstr r2, [sp]\nstr r1, [sp, #4]\n\
             add.w r1, r1, #256\nmov.w r2, #8\nldr r3, [r0, #52]\nldr r4, [r0, #60]\ncmn r3, r4\n"
        )
        .expect("a string takes everything");
        for r in (3..=12).chain([14, 0]) {
            writeln!(s, "ldr r{r}, [r0, #{}]", 4 * r).expect("a string takes everything");
        }
        for ins in &body.words {
            let suffix = if ins.length == 4 { 'w' } else { 'n' };
            writeln!(s, ".inst.{suffix} {:#x}", ins.word).expect("a string takes everything");
        }
        s.push_str("str r0, [sp, #8]\nldr r0, [sp]\n");
        for r in (2..=12).chain([14]) {
            writeln!(s, "str r{r}, [r0, #{}]", 4 * r).expect("a string takes everything");
        }
        // How far the base register moved; r0; nothing for sp and pc.
        s.push_str("ldr r3, [sp, #4]\nsub.w r1, r1, r3\nstr r1, [r0, #4]\nldr r3, [sp, #8]\n");
        s.push_str("str r3, [r0]\nmov.w r3, #0\nstr r3, [r0, #52]\nstr r3, [r0, #60]\n");
        for (k, c) in ["eq", "cs", "mi", "vs", "hi", "ge", "gt", "al"].into_iter().enumerate() {
            match c {
                "al" => s.push_str("mov.w r3, #1\n"),
                _ => write!(s, "mov.w r3, #0\nit {c}\nmov{c} r3, #1\n").expect("it takes it"),
            }
            writeln!(s, "strb.w r3, [r0, #{}]", 64 + k).expect("a string takes everything");
        }
        s.push_str("add sp, sp, #12\npop {r4-r11, pc}\n");
    }
    s.push_str(".section .rodata\n.balign 4\n.globl table\n.type table,%object\ntable:\n");
    for i in 0..bodies.len() {
        writeln!(s, ".word f{i}").expect("a string takes everything");
    }
    s
}

const DRIVER: &str = r#"
typedef unsigned word;
typedef void function(const word *, word *, word *);
extern function *const table[];
static int call(int number, int a, const void *b, int c) {
    register int r7 __asm__("r7") = number;
    register int r0 __asm__("r0") = a;
    register const void *r1 __asm__("r1") = b;
    register int r2 __asm__("r2") = c;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
    return r0;
}
static void whole(int number, int file, char *at, int n) {
    while (n > 0) {
        int done = call(number, file, at, n);
        if (done <= 0) call(1, 3, 0, 0);
        at += done;
        n -= done;
    }
}
static word state[16], result[18];
static word memory[128] __attribute__((aligned(64)));
void _start(void) {
    word head[2];
    for (;;) {
        whole(3, 0, (char *)head, sizeof head);
        if (head[1] == 0) call(1, 0, 0, 0);
        for (word i = 0; i < head[1]; i++) {
            whole(3, 0, (char *)state, sizeof state);
            whole(3, 0, (char *)memory, sizeof memory);
            table[head[0]](state, memory, result);
            whole(4, 1, (char *)result, sizeof result);
            whole(4, 1, (char *)memory, sizeof memory);
        }
    }
}
"#;

type Case = (Vec<u32>, Vec<u32>);

/// One comparison: which function, on what, and what the semantics give.
struct Claim {
    body: usize,
    cases: Vec<Case>,
    got: Vec<Vec<u32>>,
}

fn run(command: &mut Command) {
    let done = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The results of all claims under the emulator, case by case: result and memory.
fn emulated(dir: &std::path::Path, claims: &[Claim]) -> Vec<Vec<Vec<u32>>> {
    let [driver, functions, program] = ["driver.c", "f.o", "program"].map(|n| dir.join(n));
    std::fs::write(&driver, DRIVER).expect("the directory is writable");
    let flags = ["-mcpu=cortex-m4", "-mthumb", "-O1", "-nostdlib", "-static", "-ffreestanding"];
    let flags = flags.iter().chain(&["-Wl,-Ttext=0x10000", "-Wl,--build-id=none"]);
    run(Command::new("arm-none-eabi-gcc")
        .args(flags)
        .args([&driver, &functions])
        .arg("-o")
        .arg(&program));
    // The emulator of programs for Linux takes no processor of the M profile.
    run(Command::new("arm-none-eabi-objcopy").args(["-R", ".ARM.attributes"]).arg(&program));
    let mut input: Vec<u8> = Vec::new();
    let mut push = |w: u32| input.extend(w.to_le_bytes());
    for claim in claims {
        push(claim.body as u32);
        push(claim.cases.len() as u32);
        claim.cases.iter().flat_map(|c| c.0.iter().chain(&c.1)).for_each(|w| push(*w));
    }
    push(0);
    push(0);
    let mut child = Command::new("qemu-arm")
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the emulator starts");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let mut output = Vec::new();
    child.stdout.take().expect("piped").read_to_end(&mut output).expect("its output is read");
    writer.join().expect("no panic").expect("it takes all input");
    assert!(child.wait().expect("it ends").success(), "the emulated program failed");
    let mut words =
        output.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")));
    let all = claims
        .iter()
        .map(|claim| {
            let one = || words.by_ref().take(RESULT + MEMORY).collect::<Vec<u32>>();
            std::iter::repeat_with(one).take(claim.cases.len()).collect()
        })
        .collect();
    assert_eq!(words.next(), None);
    all
}

/// What is known of the operands: which bytes of the state, and whether memory is.
struct Known {
    state: Vec<bool>,
    memory: bool,
}

fn flat(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Why there is no result of the semantics.
enum No {
    Lift(LiftError),
    Element(ElementError),
}

/// The semantics' results for `cases`, of which what is known is the same.
fn symbolic(
    object: &Object,
    body: usize,
    cases: &[Case],
    known: &Known,
) -> Result<Vec<Vec<u32>>, No> {
    let mut graph = Graph::new();
    let state = flat(&cases[0].0);
    let state = if known.state.iter().any(|k| *k) {
        let state = state.iter().zip(&known.state);
        let known = state.map(|(b, k)| k.then_some(*b)).collect();
        Initial::Partly { operand: 0, known }
    } else {
        Initial::Inputs { operand: 2, element_bits: 32 }
    };
    let memory = match known.memory {
        true => Initial::Bytes(flat(&cases[0].1)),
        false => Initial::Inputs { operand: 1, element_bits: 32 },
    };
    let region = |name: &str, words: usize, align, write, initial| RegionSpec {
        name: name.into(),
        bytes: 4 * words as u64,
        align,
        read: true,
        write,
        initial,
    };
    let call = CallSpec {
        symbol: format!("f{body}"),
        regions: vec![
            region("state", STATE, 4, false, state),
            region("memory", MEMORY, 64, true, memory),
            region("result", RESULT, 4, true, Initial::Undefined),
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
    let lifted = lift(object, &call, &mut graph, &mut |_| true).map_err(No::Lift)?;
    let regions = &lifted.cases[0].regions;
    let mut roots = Vec::new();
    for (region, words) in [(2, RESULT), (1, MEMORY)] {
        for i in 0..words {
            roots.push(regions[region].element(&mut graph, i, 32).map_err(No::Element)?);
        }
    }
    let tape = Tape::new(&graph, &roots).expect("no addresses in data");
    let values = tape.run_batch(cases.len(), &mut |operand, index, out| {
        let index = index as usize;
        for (v, (state, memory)) in out.iter_mut().zip(cases) {
            *v = u64::from(match operand {
                0 => state[index / 4] >> (8 * (index % 4)) & 0xff,
                1 => memory[index],
                _ => state[index],
            });
        }
    });
    Ok((0..cases.len()).map(|j| values.iter().map(|v| v[j] as u32).collect()).collect())
}

/// Which bytes of the state are known: none, all, or some registers, of one of them half.
fn known(mode: u64, random: &mut Random) -> Known {
    let mut state = vec![mode == 1; 4 * STATE];
    if mode == 2 {
        for register in state.chunks_mut(4) {
            let (which, part) = (random.next() % 8, random.next() as usize % 2);
            for (k, byte) in register.iter_mut().enumerate() {
                *byte = which < 4 || which == 4 && k / 2 == part;
            }
        }
    }
    Known { state, memory: mode == 1 }
}

#[test]
fn every_form_agrees_with_the_emulated_processor() {
    needs!("clang", "arm-none-eabi-gcc", "qemu-arm");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let bodies = bodies(&mut random);
    let dir = std::env::temp_dir().join(format!("ringforge-thumb-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
    std::fs::write(dir.join("f.s"), source(&bodies)).expect("it is writable");
    run(Command::new(program("clang").expect("it is here"))
        .args(FLAGS)
        .arg("-c")
        .arg(dir.join("f.s"))
        .arg("-o")
        .arg(dir.join("f.o")));
    let object = std::fs::read(dir.join("f.o")).expect("it was written");
    let object = Object::parse(&object).unwrap_or_else(|e| panic!("{e}"));
    let (mut claims, mut other) = (Vec::new(), Vec::new());
    let mut refused: BTreeMap<&String, String> = BTreeMap::new();
    for (i, body) in bodies.iter().enumerate() {
        for mode in 0..3u64 {
            let count = if mode == 0 { 14 } else { 2 };
            let mut cases: Vec<Case> = (0..count)
                .map(|k| {
                    let kind = if mode == 0 { k } else { random.next() };
                    (random.words(kind, STATE), random.words(kind, MEMORY))
                })
                .collect();
            if mode == 1 {
                cases.truncate(1);
            }
            let known = known(mode, &mut random);
            if mode == 2 {
                // What is known is the same in every case.
                let first = cases[0].0.clone();
                for (state, _) in &mut cases[1..] {
                    for (at, word) in state.iter_mut().enumerate() {
                        for k in (0..4).filter(|k| known.state[4 * at + k]) {
                            let mask = 0xff << (8 * k);
                            *word = *word & !mask | first[at] & mask;
                        }
                    }
                }
            }
            match symbolic(&object, i, &cases, &known) {
                Ok(got) => claims.push(Claim { body: i, cases, got }),
                Err(No::Lift(LiftError::Unsupported { what, .. })) => {
                    refused.entry(&body.form).or_insert(what);
                }
                // An offset beyond the memory, or an operand that must be known.
                Err(No::Lift(LiftError::Violation(
                    Violation::Memory { .. } | Violation::ConstantTime { .. },
                ))) => {}
                Err(No::Lift(e)) => other.push(format!("{}: {e}", body.text())),
                Err(No::Element(e)) => other.push(format!("{}: {e}", body.text())),
            }
        }
    }
    let results = emulated(&dir, &claims);
    let _ = std::fs::remove_dir_all(&dir);
    let mut mismatches = Vec::new();
    for (claim, want) in claims.iter().zip(results) {
        if let Some((got, want)) = claim.got.iter().zip(&want).find(|(got, want)| got != want) {
            let at = (0..want.len()).find(|&i| want[i] != got[i]).expect("they differ");
            mismatches.push(format!(
                "{}: word {at} is {:#010x} on the processor and {:#010x} here",
                bodies[claim.body].text(),
                want[at],
                got[at]
            ));
        }
    }
    let checked: BTreeSet<&String> = claims.iter().map(|c| &bodies[c.body].form).collect();
    let all: BTreeSet<&String> = bodies.iter().map(|b| &b.form).collect();
    let names: BTreeSet<&str> = claims.iter().map(|c| bodies[c.body].name.as_str()).collect();
    for name in ["vldmia", "vldmdb", "vstmia", "vstmdb", "vldr", "vstr", "vmov"] {
        assert!(names.contains(name), "{name} was not compared");
    }
    let runs: usize = claims.iter().map(|c| c.got.len()).sum();
    println!(
        "{} forms of {} mnemonics agree in {runs} runs, of {} that are decoded",
        checked.len(),
        names.len(),
        all.len()
    );
    println!("{}", names.into_iter().collect::<Vec<_>>().join(" "));
    let part: Vec<_> = refused.iter().filter(|(form, _)| !checked.contains(**form)).collect();
    println!("refused in full: {part:#?}");
    assert!(other.is_empty(), "{}:\n{}", other.len(), other.join("\n"));
    assert!(mismatches.is_empty(), "{} mismatches:\n{}", mismatches.len(), mismatches.join("\n"));
    assert!(checked.len() >= AT_LEAST, "only {} forms were compared", checked.len());
}
