//! Our reading of words beside LLVM's: every word of 16 bits, many of 32.

use super::{Refused, decode, narrow, wide};
use crate::thumb::conditions;
use ringforge_testing::{needs, program};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

fn bytes(word: u32, wide: bool) -> Vec<u8> {
    let half = |h: u32| (h as u16).to_le_bytes();
    if wide { [half(word >> 16), half(word)].concat() } else { half(word).to_vec() }
}

/// What LLVM reads, a line for each word, and whether it complained.
fn read_by_llvm(words: &[u32], wide: bool) -> (Vec<String>, String) {
    let mut input = String::new();
    for &word in words {
        let text: Vec<String> = bytes(word, wide).iter().map(|b| format!("{b:#04x}")).collect();
        input.push_str(&text.join(" "));
        input.push('\n');
    }
    let mut child = Command::new(program("llvm-mc").expect("the test asks whether it is here"))
        .args(["--disassemble", "--triple=thumbv7em-none-eabi", "-mcpu=cortex-m4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let done = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it takes all input");
    let text = String::from_utf8(done.stdout).expect("text");
    let lines = text.lines().filter(|l| l.starts_with('\t') && !l.starts_with("\t.")).map(plain);
    (lines.collect(), String::from_utf8(done.stderr).expect("text"))
}

/// One space between, no remark, no suffix that only says how long the word is.
fn plain(line: &str) -> String {
    let line = line.split('@').next().expect("a first part");
    let line: Vec<&str> = line.split_whitespace().collect();
    line.join(" ").replacen(".w ", " ", 1)
}

/// LDRD and STRD that move the stack pointer first. LLVM says of them alone that they may be undefined; the
/// manual [ARMv7M §A7.7.50] does not, and gcc begins functions so.
fn on_stack(word: u32) -> bool {
    word & 0xff6f_0000 == 0xe96d_0000
}

/// Reads the words as both do and says where they differ.
fn compare(words: impl Iterator<Item = u32>, wide: bool) -> (BTreeMap<String, usize>, usize) {
    let (mut ours, mut accepted) = (Vec::new(), Vec::new());
    let (mut names, mut refused) = (BTreeMap::new(), 0);
    for word in words {
        match decode(&bytes(word, wide)) {
            Ok(ins) => {
                assert_eq!(ins.length, if wide { 4 } else { 2 }, "{word:#x}");
                *names.entry(ins.mnemonic()).or_default() += 1;
                ours.push(plain(&ins.text()));
                accepted.push(word);
            }
            Err(Refused::CutOff) => panic!("{word:#x} is whole"),
            Err(_) => refused += 1,
        }
    }
    let (theirs, complaints) = read_by_llvm(&accepted, wide);
    let differ: Vec<String> = accepted
        .iter()
        .zip(&ours)
        .zip(&theirs)
        .filter(|((_, a), b)| a != b)
        .map(|((word, a), b)| format!("{word:08x} is `{a}` here and `{b}` for LLVM"))
        .collect();
    let first = |list: &[String]| list.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    let line = |text: &str| text.split(':').nth(1)?.parse::<usize>().ok();
    let lines: Vec<String> = complaints
        .lines()
        .filter(|text| text.contains("warning") || text.contains("error"))
        .map(|text| (text, line(text).expect("a line's number") - 1))
        .filter(|&(text, at)| !text.contains("potentially undefined") || !on_stack(accepted[at]))
        .map(|(text, at)| format!("{text}: {:08x} `{}`", accepted[at], ours[at]))
        .collect();
    assert!(lines.is_empty(), "LLVM refuses {}:\n{}", lines.len(), first(&lines));
    assert!(differ.is_empty(), "{} words:\n{}", differ.len(), first(&differ));
    assert_eq!(ours.len(), theirs.len());
    (names, refused)
}

#[test]
fn every_narrow_word_is_read_alike() {
    needs!("llvm-mc");
    // IT changes how LLVM prints what follows, so those words are read one by one.
    let (it, other): (Vec<u32>, Vec<u32>) =
        (0..0xe800u32).partition(|w| w >> 8 == 0xbf && w & 15 != 0);
    let (names, refused) = compare(other.into_iter(), false);
    let blocks: Vec<_> = it.iter().filter_map(|&w| decode(&bytes(w, false)).ok()).collect();
    let follow = |word| std::iter::once(word).chain(std::iter::repeat_n(0xbf00, 4));
    let words: Vec<u32> = blocks.iter().flat_map(|ins| follow(ins.word)).collect();
    let (theirs, complaints) = read_by_llvm(&words, false);
    assert!(complaints.is_empty(), "{complaints}");
    assert_eq!(theirs.len(), words.len());
    for (ins, theirs) in blocks.iter().zip(theirs.chunks(5)) {
        assert_eq!(ins.text(), theirs[0]);
        // The conditions that the semantics will see are those that LLVM prints.
        let mut state = ins.condition << 4 | ins.immediate as u8;
        for nop in &theirs[1..] {
            let suffix = nop.strip_prefix("nop").expect("a no-operation");
            let suffix = if suffix.is_empty() { "al" } else { suffix };
            let ours = match conditions::current(state) {
                15 => "al",
                code => super::print::CONDITIONS[usize::from(code)],
            };
            assert_eq!(ours, suffix, "{}", ins.text());
            state = conditions::advance(state);
        }
    }
    let blocks = blocks.len();
    println!("{} names, {blocks} IT blocks, {refused} words refused: {names:?}", names.len());
    assert!(names.len() >= 55 && blocks > 200);
}

/// Words of every row, its fields at random, and as many words at random: a million.
fn wide_words() -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    };
    let mut words = Vec::new();
    let rows = wide::rows();
    let each = 500_000 / rows.len();
    for row in &rows {
        let parsed = super::row::Parsed::of(row);
        for _ in 0..each {
            words.push(random() & !parsed.mask | parsed.value);
        }
    }
    for _ in 0..500_000 {
        let top = [0xe800_0000, 0xf000_0000, 0xf800_0000][(random() % 3) as usize];
        words.push(random() >> 5 | top);
    }
    words
}

#[test]
fn a_million_wide_words_are_read_alike() {
    needs!("llvm-mc");
    let words = wide_words();
    let count = words.len();
    let (names, refused) = compare(words.into_iter(), true);
    println!("{} names, {count} words, {refused} refused: {names:?}", names.len());
    assert!(names.len() >= 120 && refused < count * 3 / 4);
}

/// Rows that stand behind a more general one would never be met.
#[test]
fn every_row_is_met() {
    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed ^ seed >> 15
    };
    for (is_wide, rows) in [(false, narrow::ROWS.to_vec()), (true, wide::rows())] {
        for (at, row) in rows.iter().enumerate() {
            let parsed = super::row::Parsed::of(row);
            let met = (0..20_000).any(|_| {
                let word = random() & !parsed.mask | parsed.value;
                let word = if is_wide { word } else { word & 0xffff };
                decode(&bytes(word, is_wide)).is_ok_and(|ins| usize::from(ins.row) == at)
            });
            assert!(met, "{}: {}", row.text, row.bits);
        }
    }
}
