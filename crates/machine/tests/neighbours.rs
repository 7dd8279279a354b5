//! Words that differ little from accepted ones: what the decoder takes of them LLVM reads alike, so no field is
//! overlooked. A hint with another op1, say, is no instruction, and the decoder takes it for `nop`.

mod common;
use common::elf::object_for;
use common::words::{decode, read_alike};
use ringforge_machine::graph::Graph;
use ringforge_machine::{CallSpec, LiftError, Object, lift};
use ringforge_testing::{needs, program};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

/// `e_machine` of AArch64.
const AARCH64: u16 = 183;
/// Words kept of each encoding that the decoder knows.
const SAMPLES: usize = 6;

/// Whether the instruction has a meaning here, whatever it does to registers of which nothing is known.
fn accepted(word: u32) -> bool {
    let code: Vec<u8> =
        [word, 0xd503_201f, 0xd65f_03c0].into_iter().flat_map(u32::to_le_bytes).collect();
    let object = Object::parse(&object_for(AARCH64, &code)).expect("a good object");
    let call = CallSpec { max_steps: 20, ..common::call("f", 32) };
    let done = lift(&object, &call, &mut Graph::new(), &mut |_| true);
    !matches!(done, Err(LiftError::Unsupported { .. }))
}

/// Words of every encoding that the decoder knows and the semantics accept.
fn seeds() -> Vec<Vec<u32>> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    };
    let mut found: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for top in 0..1u32 << 11 {
        for _ in 0..1 << 9 {
            let word = top << 21 | random() & 0x1f_ffff;
            let Some(ins) = decode(word) else { continue };
            let words = found.entry(format!("{:?} {:?}", ins.code(), ins.mnemonic())).or_default();
            if words.len() < SAMPLES && accepted(word) {
                words.push(word);
            }
        }
    }
    // Branches, of which few at random stay in their section, returns and hints.
    let control = [
        0x1400_0001,
        0x9400_0001,
        0x5400_0020,
        0x3400_0023,
        0xb500_0023,
        0x3628_0023,
        0xb768_0023,
        0xd61f_0060,
        0xd63f_0060,
        0xd65f_03c0,
        0xd65f_0060,
        0xd503_201f,
        0xd503_229f,
        0xd503_245f,
        0xd503_249f,
    ];
    for word in control {
        assert!(accepted(word), "{word:08x}");
    }
    found.into_values().chain(control.map(|w| vec![w])).filter(|w| !w.is_empty()).collect()
}

/// Which of the words LLVM takes for no instruction.
fn invalid(words: &[u32]) -> BTreeSet<u32> {
    let line = |w: &u32| w.to_le_bytes().map(|b| format!("{b:#04x}")).join(" ") + "\n";
    let input: String = words.iter().map(line).collect();
    let mut child = Command::new(program("llvm-mc").expect("it was asked for"))
        .args(["--disassemble", "--triple=aarch64-linux-gnu"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let done = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it takes all input");
    let complaints = String::from_utf8(done.stderr).expect("text");
    let lines = complaints.lines().filter(|l| l.contains("invalid instruction encoding"));
    let number = |l: &str| l.split(':').nth(1).and_then(|n| n.parse::<usize>().ok());
    lines.map(|l| words[number(l).expect("a line's number") - 1]).collect()
}

#[test]
fn neighbours_of_accepted_words_are_read_alike() {
    needs!("llvm-mc", "clang");
    let clang = program("clang").expect("it was asked for");
    let seeds = seeds();
    let mut near = BTreeSet::new();
    for words in &seeds {
        let (first, bits) = (words[0], 0..32);
        let pairs = bits.clone().flat_map(|i| (0..i).map(move |k| 1u32 << i | 1 << k));
        near.extend(pairs.map(|two| first ^ two));
        for word in words {
            near.insert(*word);
            near.extend(bits.clone().map(|i| word ^ 1 << i));
        }
    }
    let tried = near.len();
    near.retain(|&w| decode(w).is_some() && accepted(w));
    let all: Vec<u32> = near.iter().copied().collect();
    let none = invalid(&all);
    let listed: Vec<String> =
        none.iter().take(60).map(|&w| format!("{w:08x} {}", common::words::text(w))).collect();
    println!("{} encodings, {tried} neighbours, {} accepted", seeds.len(), all.len());
    near.retain(|w| !none.contains(w));
    let unlike = read_alike(clang, &near);
    assert!(
        none.is_empty() && unlike.is_empty(),
        "{} are no instructions for LLVM:\n{}\n{} are others:\n{}",
        none.len(),
        listed.join("\n"),
        unlike.len(),
        unlike[..unlike.len().min(60)].join("\n")
    );
    assert!(seeds.len() > 400 && all.len() > 40_000);
}
