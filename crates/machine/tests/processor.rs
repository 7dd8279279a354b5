//! Every form on the whitelist against the real processor, on random and corner inputs.
//!
//! All instruction forms that the assembler library knows are tried; what [`lift`] accepts is run
//! natively and compared bit by bit: all vector and general registers, memory and every flag that
//! the semantics do not call undefined. Each form runs with symbolic operands, with all operands
//! constant, and with each single operand constant (shift counts, shuffle controls).
//!
//! Every day constants are drawn from one seed; with `RINGFORGE_LONG=1` from another, with more immediates.

mod common;
use common::harness::{
    Built, Constant, Flags, GENERAL, MEMORY, RESULT, Random, STATE, Shape, build, function,
    shuffle_registers, wide,
};
use common::native::{Page, available};
use iced_x86::{Code, EncodingKind, Mnemonic, Register};
use ringforge_machine::byte::Byte;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::Graph;
use ringforge_machine::{ArgSpec, CallSpec, Initial, LiftError, Object, Timing, Violation, lift};
use ringforge_testing::share;
use std::collections::{BTreeMap, BTreeSet};

/// Forms that must at least have been compared; lower it only with a reason.
const AT_LEAST: usize = 1080;
/// Of them in EVEX encodings, on a processor with AVX-512.
const EVEX_AT_LEAST: usize = 800;

const ALL: Flags = [true; 8];

/// Control flow and the stack are tested on compiled and assembled functions.
const ELSEWHERE: [Mnemonic; 7] = [
    Mnemonic::Push,
    Mnemonic::Pop,
    Mnemonic::Leave,
    Mnemonic::Ret,
    Mnemonic::Call,
    Mnemonic::Jmp,
    Mnemonic::Enter,
];

/// Encodings that may be on the whitelist.
fn encoding(code: Code) -> bool {
    matches!(code.encoding(), EncodingKind::Legacy | EncodingKind::VEX | EncodingKind::EVEX)
}

/// Aligned copy of a memory operand's buffer.
#[repr(align(64))]
struct Aligned([u64; MEMORY]);

struct Case {
    state: Vec<u64>,
    memory: Vec<u64>,
}

/// Result and memory after the processor ran `code`; `other` is the fourth argument.
fn native(page: &mut Page, code: &[u8], case: &Case, other: &[u64]) -> Vec<u64> {
    let mut memory = Aligned(case.memory.clone().try_into().expect("a whole buffer"));
    let mut out = vec![0; RESULT];
    page.call(code, &case.state, &mut memory.0, &mut out, other);
    out.extend_from_slice(&memory.0);
    out
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// The call of a harness; constants come from `case` if `memory_constant` or through the fourth
/// argument.
fn call(case: &Case, memory_constant: bool) -> CallSpec {
    let input = |operand| Initial::Inputs { operand, element_bits: 64 };
    let region = |name, words: usize, align, write, initial| {
        common::region(name, 8 * words as u64, align, write, initial)
    };
    let memory = if memory_constant { Initial::Bytes(bytes(&case.memory)) } else { input(1) };
    CallSpec {
        symbol: "f".into(),
        regions: vec![
            region("state", STATE, 8, false, input(0)),
            region("memory", MEMORY, 64, true, memory),
            region("result", RESULT, 8, true, Initial::Undefined),
            region("constants", STATE, 8, false, Initial::Bytes(bytes(&case.state))),
        ],
        args: (0..4).map(|r| ArgSpec::Pointer(r, 0)).collect(),
        data: Vec::new(),
        ranges: Vec::new(),
        given_sections: Vec::new(),
        coincide: Vec::new(),
        functions: Vec::new(),
        released_branches: 0,
        passes_checks: false,
        max_steps: 1000,
    }
}

/// The semantics' results for `cases`, or why there are none.
fn symbolic(
    code: &[u8],
    cases: &[Case],
    memory_constant: bool,
) -> Result<Vec<Vec<u64>>, LiftError> {
    let object = Object::parse(&common::elf::object(code)).expect("our own object");
    let mut graph = Graph::new();
    let lifted = lift(&object, &call(&cases[0], memory_constant), &mut graph, &mut |_| true)?;
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
        for (v, case) in out.iter_mut().zip(cases) {
            *v =
                if operand == 0 { case.state[index as usize] } else { case.memory[index as usize] };
        }
    });
    Ok((0..cases.len()).map(|j| values.iter().map(|v| v[j]).collect()).collect())
}

/// The bytes of result and memory that a blind graph knows, which must be right for every input.
fn known_bytes(code: &[u8], case: &Case) -> Vec<Option<u8>> {
    let object = Object::parse(&common::elf::object(code)).expect("our own object");
    let lifted = lift(&object, &call(case, false), &mut Graph::blind(), &mut |_| true)
        .expect("what lifts with terms lifts without");
    let regions = &lifted.cases[0].regions;
    let known = |b: &Byte| if let Byte::Const(c) = b { Some(*c) } else { None };
    regions[2].bytes.iter().chain(&regions[1].bytes).map(known).collect()
}

#[derive(Default)]
struct Report {
    checked: BTreeSet<Code>,
    /// EVEX forms with whether they were masked, zeroing, broadcast.
    evex: BTreeSet<(Code, (bool, bool, bool))>,
    comparisons: usize,
    refused: BTreeMap<Code, String>,
    unavailable: BTreeSet<Code>,
    mismatches: Vec<String>,
}

/// Which registers are constant: none, all, or one operand's.
fn constants(which: Option<Register>, all: bool) -> (Constant, bool) {
    if all {
        let all = Constant { vectors: u32::MAX, general: u16::MAX, masks: u8::MAX, mixed: None };
        return (all, true);
    }
    let mut c = Constant::default();
    match which {
        None => return (c, false),
        Some(Register::RSI) => return (c, true),
        Some(r) if r.is_vector_register() => c.vectors = 1 << r.number(),
        Some(r) if r.is_k() => c.masks = 1 << r.number(),
        Some(r) => c.general = 1 << r.full_register().number(),
    }
    (c, false)
}

/// How many immediates and constant operands forms of EVEX are tried with.
#[derive(Clone, Copy, PartialEq)]
enum Effort {
    Daily,
    Long,
    Whole,
}

fn check(page: &mut Page, random: &mut Random, code: Code, effort: Effort, report: &mut Report) {
    for shape in [Shape::Registers, Shape::Memory, Shape::Same, Shape::HighBytes] {
        const IMMEDIATES: [u64; 15] =
            [0, 1, 7, 8, 15, 16, 0x1b, 31, 33, 0x4e, 0x80, 0xb1, 0xd8, 0xff, 0x7fff_8001];
        // EVEX forms have up to six variants each: every day with one immediate, in the long run with four, which are others
        // for each form.
        let immediates: Vec<u64> = match (is_evex(code), effort) {
            (false, _) | (true, Effort::Whole) => IMMEDIATES.to_vec(),
            (true, Effort::Long) => {
                (0..4).map(|i| IMMEDIATES[(code as usize + 4 * i) % 15]).collect()
            }
            (true, Effort::Daily) => vec![IMMEDIATES[code as usize % 15]],
        };
        for (round, immediate) in immediates.into_iter().enumerate() {
            let Some(built) = build(code, shape, immediate) else { break };
            if !built.encodes() || (round > 0 && !built.has_immediate) {
                break;
            }
            for built in variants(built, random) {
                check_variant(page, random, &built, (round, effort), report);
            }
        }
    }
}

fn is_evex(code: Code) -> bool {
    code.op_code().encoding() == EncodingKind::EVEX
}

/// The instruction as it is and, in EVEX encodings, with a broadcast, merging, and zeroing.
fn variants(plain: Built, random: &mut Random) -> Vec<Built> {
    let info = plain.ins.code().op_code();
    let mut all = vec![plain];
    if !is_evex(info.code()) {
        return all;
    }
    let memory = all[0].ins.memory_base() != Register::None;
    if info.can_broadcast() && memory {
        let mut built = all[0].clone();
        built.ins.set_is_broadcast(true);
        all.push(built);
    }
    if info.can_use_op_mask_register() {
        for mut built in all.clone() {
            let mask = Register::K1 + (random.next() % 7) as u32;
            built.ins.set_op_mask(mask);
            // Under which memory is accessed by a mask that is constant alone.
            built.constants.extend([mask; 3]);
            all.push(built.clone());
            if info.can_use_zeroing_masking() {
                built.ins.set_zeroing_masking(true);
                all.push(built);
            }
        }
    }
    all.retain(Built::encodes);
    all
}

/// One instruction with its operands symbolic, all of them constant, and each alone constant.
fn check_variant(
    page: &mut Page,
    random: &mut Random,
    built: &Built,
    (round, effort): (usize, Effort),
    report: &mut Report,
) {
    let code = built.ins.code();
    let mut modes = vec![(None, false)];
    if round < 2 {
        modes.push((None, true));
        let mut alone = built.constants.clone();
        if is_evex(code) && effort == Effort::Daily && !alone.is_empty() {
            alone = vec![alone[random.next() as usize % alone.len()]];
        }
        modes.extend(alone.into_iter().map(|r| (Some(r), false)));
    }
    if code.op_code().op_count() == 2 && !built.ins.op_register(0).is_gpr() {
        modes.push((Some(Register::XMM0), false)); // the implicit mask of legacy blends
    }
    for (which, all) in modes {
        let kind = random.next() % 7;
        let (constant, memory_constant) = constants(which, all);
        // Symbolic operands: all inputs at once; constants: one state at a time.
        let one = which.is_some() || all;
        let cases: Vec<Case> = (0..if one { 1 } else { 21 })
            .map(|k| {
                let kind = if one { kind } else { k % 7 };
                Case { state: random.state(kind), memory: random.memory(kind) }
            })
            .collect();
        compare(page, &built.ins, &constant, memory_constant, &cases, report);
    }
}

fn compare(
    page: &mut Page,
    ins: &iced_x86::Instruction,
    constant: &Constant,
    memory_constant: bool,
    cases: &[Case],
    report: &mut Report,
) {
    let code = ins.code();
    // Flags that the semantics call undefined are left out one by one; what is refused without any flag is refused.
    let lifted = |flags| symbolic(&function(&[*ins], constant, flags), cases, memory_constant);
    let mut flags = ALL;
    let mut got = lifted(flags);
    if let Err(LiftError::Violation(Violation::Undefined { .. }) | LiftError::Unsupported { .. }) =
        got
    {
        let none = lifted([false; 8]);
        if none.is_ok() {
            for i in 0..8 {
                let mut only = [false; 8];
                only[i] = true;
                flags[i] = lifted(only).is_ok();
            }
            got = lifted(flags);
        } else {
            got = none;
        }
    }
    let got = match got {
        Ok(got) => got,
        Err(LiftError::Unsupported { what, .. }) => {
            report.refused.entry(code).or_insert(what);
            return;
        }
        // Divisors and masks that are not constant, as they must be.
        Err(LiftError::Violation(Violation::ConstantTime {
            kind: Timing::VariableTime, ..
        })) => {
            use Mnemonic::{Div, Idiv, Pdep, Pext};
            assert!(matches!(code.mnemonic(), Div | Idiv | Pdep | Pext), "{ins}");
            return;
        }
        // Memory under a mask that is no constant.
        Err(LiftError::Violation(Violation::ConstantTime { kind: Timing::Address, .. })) => {
            assert!(ins.op_mask() != Register::None, "{ins}");
            return;
        }
        Err(other) => {
            report.mismatches.push(format!("{ins}: {other}"));
            return;
        }
    };
    if !code.cpuid_features().iter().all(|&f| available(f)) {
        report.unavailable.insert(code);
        return;
    }
    let machine_code = function(&[*ins], constant, flags);
    for (case, got) in cases.iter().zip(got) {
        let want = native(page, &machine_code, case, &case.state);
        report.comparisons += 1;
        if want != got {
            let at = (0..want.len()).find(|&i| want[i] != got[i]).expect("they differ");
            report.mismatches.push(format!(
                "{ins} ({code:?}): word {at} is {:#018x} on the processor and {:#018x} here",
                want[at], got[at]
            ));
            return;
        }
    }
    report.checked.insert(code);
    if code.encoding() == EncodingKind::EVEX {
        let uses = (ins.op_mask() != Register::None, ins.zeroing_masking(), ins.is_broadcast());
        report.evex.insert((code, uses));
    }
}

/// Works on the first and the second half of the forms at once.
fn by_halves<T: Send>(codes: &[Code], work: impl Fn(&[Code], &mut Random) -> T + Sync) -> Vec<T> {
    let seed = 0x9e37_79b9_7f4a_7c15 ^ u64::from(ringforge_testing::long()) << 32;
    std::thread::scope(|s| {
        let workers: Vec<_> = codes
            .chunks(codes.len().div_ceil(2))
            .map(|part| s.spawn(|| work(part, &mut Random(seed ^ part.len() as u64))))
            .collect();
        workers.into_iter().map(|w| w.join().expect("no worker panics")).collect()
    })
}

#[test]
fn every_form_agrees_with_the_processor() {
    all_forms_agree(if ringforge_testing::long() { Effort::Long } else { Effort::Daily });
}

#[test]
#[ignore = "by hand: each form of EVEX with fifteen immediates, where the long run has four"]
fn by_hand_every_form_agrees_with_all_immediates() {
    all_forms_agree(Effort::Whole);
}

fn all_forms_agree(effort: Effort) {
    assert!(available(iced_x86::CpuidFeature::AVX2), "the harness itself needs AVX2");
    assert_eq!(GENERAL.len(), 13);
    let codes: Vec<Code> = Code::values()
        .filter(|&c| encoding(c))
        .filter(|c| !ELSEWHERE.contains(&c.mnemonic()) && c.op_code().mode64())
        .collect();
    let reports = by_halves(&codes, |part, random| {
        let (mut page, mut report) = (Page::new(), Report::default());
        for &code in part {
            check(&mut page, random, code, effort, &mut report);
        }
        report
    });
    let (mut checked, mut evex) = (BTreeSet::new(), BTreeSet::new());
    let (mut comparisons, mut mismatches, mut unavailable) = (0, Vec::new(), BTreeSet::new());
    let mut refused = BTreeMap::new();
    for r in reports {
        checked.extend(r.checked);
        evex.extend(r.evex);
        comparisons += r.comparisons;
        mismatches.extend(r.mismatches);
        unavailable.extend(r.unavailable);
        refused.extend(r.refused);
    }
    let mnemonics: BTreeSet<_> = checked.iter().map(|c| format!("{:?}", c.mnemonic())).collect();
    println!(
        "{} forms of {} mnemonics agree in {comparisons} runs; {} accepted forms are not on this processor",
        checked.len(),
        mnemonics.len(),
        unavailable.len()
    );
    let forms: BTreeSet<Code> = evex.iter().map(|(code, _)| *code).collect();
    let count =
        |is: fn(&(bool, bool, bool)) -> bool| evex.iter().filter(|(_, uses)| is(uses)).count();
    println!(
        "{} EVEX forms: {} under masks that merge, {} that zero, {} with broadcasts",
        forms.len(),
        count(|u| u.0 && !u.1),
        count(|u| u.1),
        count(|u| u.2)
    );
    println!("not on this processor: {unavailable:?}");
    let lost: Vec<_> = refused
        .iter()
        .filter(|(c, what)| {
            c.encoding() == EncodingKind::EVEX
                && !what.contains("list of EVEX")
                && !forms.contains(c)
        })
        .collect();
    assert!(lost.is_empty(), "on the list of EVEX and never executed: {lost:?}");
    if wide() {
        assert!(forms.len() >= EVEX_AT_LEAST, "only {} EVEX forms were compared", forms.len());
    }
    let part: Vec<_> = refused
        .iter()
        .filter(|(c, what)| !checked.contains(c) && !what.contains("whitelist"))
        .collect();
    println!("refused for their operands: {part:#?}");
    assert!(mismatches.is_empty(), "{} mismatches:\n{}", mismatches.len(), mismatches.join("\n"));
    assert!(checked.len() >= AT_LEAST, "only {} forms were compared", checked.len());
}

/// Registers 16 to 31 of every form of EVEX that is accepted.
#[test]
fn what_evex_adds_agrees_with_the_processor() {
    let (mut page, mut random) = (Page::new(), Random(0x5eed_0512));
    let cases: Vec<Case> =
        (0..14).map(|k| Case { state: random.state(k % 7), memory: random.memory(k) }).collect();
    let mut compared = BTreeSet::new();
    for code in Code::values().filter(|c| c.encoding() == EncodingKind::EVEX) {
        for shape in [Shape::Registers, Shape::Memory] {
            let Some(built) = build(code, shape, 0x96) else { continue };
            for mut built in variants(built, &mut random) {
                for i in 0..built.ins.op_count() {
                    let r = built.ins.op_register(i);
                    if r.is_vector_register() {
                        built.ins.set_op_register(i, r + 16);
                    }
                }
                if !built.encodes() {
                    continue;
                }
                let machine_code = function(&[built.ins], &Constant::default(), [false; 8]);
                let Ok(got) = symbolic(&machine_code, &cases, false) else { continue };
                if !wide() || !code.cpuid_features().iter().all(|&f| available(f)) {
                    continue;
                }
                for (case, got) in cases.iter().zip(got) {
                    let want = native(&mut page, &machine_code, case, &case.state);
                    assert_eq!(want, got, "{} ({code:?})", built.ins);
                }
                compared.insert(code);
            }
        }
    }
    println!("{} forms on registers 16 to 31", compared.len());
    if wide() {
        assert!(compared.len() >= 600, "{}", compared.len());
    }
}

/// Whether a form is one of those looked at here, and on this processor.
fn is_known(code: Code) -> bool {
    encoding(code)
        && code.op_code().mode64()
        && code.cpuid_features().iter().all(|&f| available(f))
        && !ELSEWHERE.contains(&code.mnemonic())
}

/// An operand's undefined parts, by byte of each eight; nothing for all of it.
const PARTS: [Option<u32>; 4] = [None, Some(0x55), Some(0xaa), Some(0x33)];

/// What the semantics call defined must not depend on what they call undefined: with one operand
/// undefined, wholly or in part (every day in one way a form), every byte that comes out defined agrees with the processor
/// whatever the operand really holds.
#[test]
fn undefined_operands_leave_the_rest_right() {
    let codes: Vec<Code> = Code::values().filter(|&code| is_known(code)).collect();
    let found = by_halves(&codes, |part, random| {
        let (mut page, mut forms, mut bytes) = (Page::new(), BTreeSet::new(), (0usize, 0usize));
        for &code in part {
            for (shape, immediate) in
                [(Shape::Registers, 16), (Shape::Same, 8), (Shape::Registers, 0x9c)]
            {
                let Some(built) = build(code, shape, immediate) else { break };
                if !built.encodes() {
                    break;
                }
                for &r in &built.constants {
                    for mixed in share(&PARTS, &[code as usize % PARTS.len()]) {
                        let constant = Constant { mixed, ..constants(Some(r), false).0 };
                        let found = undefined(&mut page, random, &built.ins, &constant);
                        if let Some((defined, not)) = found {
                            forms.insert(code);
                            bytes = (bytes.0 + defined, bytes.1 + not);
                        }
                    }
                }
            }
        }
        (forms.len(), bytes)
    });
    let forms: usize = found.iter().map(|part| part.0).sum();
    let defined: usize = found.iter().map(|part| part.1.0).sum();
    let undefined_bytes: usize = found.iter().map(|part| part.1.1).sum();
    println!("{forms} forms, {defined} defined bytes agree, {undefined_bytes} were undefined");
    assert!(forms > 900, "{forms}");
    assert!(undefined_bytes > 10_000);
}

/// Defined bytes compared, and undefined ones; `None` if the form is refused.
fn undefined(
    page: &mut Page,
    random: &mut Random,
    ins: &iced_x86::Instruction,
    constant: &Constant,
) -> Option<(usize, usize)> {
    let case = Case { state: random.state(6), memory: random.memory(1) };
    let mut call = call(&case, false);
    call.regions[3].initial = Initial::Undefined;
    let run = |flags| {
        let object = Object::parse(&common::elf::object(&function(&[*ins], constant, flags)))
            .expect("our own object");
        let mut graph = Graph::new();
        lift(&object, &call, &mut graph, &mut |_| true).ok().map(|lifted| (graph, lifted))
    };
    let mut flags = ALL;
    let mut found = run(flags);
    if found.is_none() {
        run([false; 8])?;
        for i in 0..8 {
            let mut only = [false; 8];
            only[i] = true;
            flags[i] = run(only).is_some();
        }
        found = run(flags);
    }
    let (mut graph, lifted) = found?;
    let regions = &lifted.cases[0].regions;
    let (mut places, mut roots, mut not) = (Vec::new(), Vec::new(), 0);
    for i in 0..8 * (RESULT + MEMORY) {
        let (region, at) = if i < 8 * RESULT { (2, i) } else { (1, i - 8 * RESULT) };
        match regions[region].element(&mut graph, at, 8) {
            Ok(node) => {
                places.push(i);
                roots.push(node);
            }
            Err(_) => not += 1,
        }
    }
    let tape = Tape::new(&graph, &roots).expect("no addresses in data");
    let got = tape.run(
        |operand, i| {
            if operand == 0 { case.state[i as usize] } else { case.memory[i as usize] }
        },
    );
    let machine_code = function(&[*ins], constant, flags);
    for _ in 0..3 {
        let other = random.state(5);
        let want = bytes(&native(page, &machine_code, &case, &other));
        for (&i, &got) in places.iter().zip(&got) {
            assert_eq!(
                u64::from(want[i]),
                got,
                "{ins} ({:?}), mixed {:?}: byte {i}",
                ins.code(),
                constant.mixed
            );
        }
    }
    Some((places.len(), not))
}

/// Random programs: what one instruction leaves (partial registers, lazy flags, lanes of other
/// widths, halves of products) is what the next one takes.
#[test]
fn random_programs_agree_with_the_processor() {
    let mut page = Page::new();
    let mut random = Random(0x0dd_ba11_5eed);
    let none = Constant::default();
    let lifts_with =
        |program: &[iced_x86::Instruction], constant: &Constant, flags, cases: &[Case]| {
            symbolic(&function(program, constant, flags), cases, false).is_ok()
        };
    let lifts = |program: &[iced_x86::Instruction], constant: &Constant, cases: &[Case]| {
        lifts_with(program, constant, [false; 8], cases)
    };
    let programs: u32 =
        std::env::var("MACHINE_PROGRAMS").map_or(500, |n| n.parse().expect("a number"));
    let cases: Vec<Case> =
        (0..12).map(|k| Case { state: random.state(k % 7), memory: random.memory(k) }).collect();
    // Forms that take symbolic operands.
    let mut forms = Vec::new();
    for code in Code::values().filter(|&code| is_known(code)) {
        for shape in [Shape::Registers, Shape::Memory] {
            if let Some(built) = build(code, shape, 3)
                && built.encodes()
                && lifts(&[built.ins], &none, &cases[..1])
            {
                forms.push((code, shape));
            }
        }
    }
    let (mut executed, mut compared, mut known_to_blind) = (0usize, 0usize, 0usize);
    for round in 0..programs {
        // In every second program some registers are constant: shuffle controls, masks, counts.
        let some = |r: &mut Random| if round % 2 == 0 { 0 } else { r.next() & r.next() };
        let constant = Constant {
            vectors: some(&mut random) as u32,
            general: some(&mut random) as u16,
            masks: some(&mut random) as u8,
            mixed: None,
        };
        let kind = random.next() % 7;
        let cases: Vec<Case> = (0..12)
            .map(|k| Case { state: random.state(k + kind), memory: random.memory(k) })
            .collect();
        let mut program = Vec::new();
        while program.len() < 20 {
            let (code, shape) = forms[(random.next() % forms.len() as u64) as usize];
            let immediate = random.next() >> (random.next() % 64);
            let Some(mut built) = build(code, shape, immediate) else { continue };
            shuffle_registers(&mut built.ins, |n| (random.next() % n as u64) as usize);
            if !built.encodes() {
                continue;
            }
            program.push(built.ins);
            // Undefined flags, counts that became data: leave that one out.
            if !lifts(&program, &constant, &cases[..1]) {
                program.pop();
            }
        }
        let mut flags = ALL;
        for i in 0..8 {
            let mut only = [false; 8];
            only[i] = true;
            flags[i] = lifts_with(&program, &constant, only, &cases[..1]);
        }
        let code = function(&program, &constant, flags);
        let got = symbolic(&code, &cases, false).expect("it lifted before");
        let known = known_bytes(&code, &cases[0]);
        known_to_blind += known.iter().flatten().count();
        for (case, got) in cases.iter().zip(got) {
            let want = native(&mut page, &code, case, &cases[0].state);
            let listing = || program.iter().map(|i| format!("{i}")).collect::<Vec<_>>().join("; ");
            assert_eq!(want, got, "{}", listing());
            for (at, (want, known)) in bytes(&want).iter().zip(&known).enumerate() {
                assert!(known.is_none_or(|k| k == *want), "blind at byte {at}: {}", listing());
            }
            compared += 1;
        }
        executed += program.len();
    }
    println!(
        "{executed} instructions of {} forms in {compared} runs; {known_to_blind} bytes known blindly",
        forms.len()
    );
    assert!(known_to_blind > 100 * programs as usize);
    assert!(compared >= 12 * programs as usize && forms.len() > 1500);
}

ringforge_testing::rest!(
    every_form_agrees_with_the_processor,
    undefined_operands_leave_the_rest_right
);
