use super::*;
use crate::code::code_mutants;
use crate::mutant::Class;
use crate::object::Layout;
use std::process::Command;

const SOURCE: &str = "
    .intel_syntax noprefix
    .text
    .globl f
    .type f, @function
f:
    xor eax, eax
1:  vmovdqu ymm1, ymmword ptr [rsi + rax]
    vpmullw ymm2, ymm1, ymmword ptr table[rip]
    vpmulhw ymm3, ymm1, ymm9
    vpsubw ymm3, ymm3, ymm2
    vpsubw ymm12, ymm10, ymm9
    vpsraw ymm3, ymm3, 15
    vpblendw ymm3, ymm3, ymm2, 0xaa
    vmovdqu ymmword ptr [rdi + rax], ymm3
    add rax, 32
    cmp rax, 96
    jne 1b
    psubw xmm0, xmm1
    pop rbx
    ret
    .size f, .-f
    .section .rodata
    .align 32
table: .short 4591, -1, 7
";

fn assembled(source: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("f.s"), dir.path().join("f.o"));
    std::fs::write(&from, source).unwrap();
    // Binutils come with either compiler.
    assert!(Command::new("as").arg(&from).arg("-o").arg(&to).status().unwrap().success());
    std::fs::read(to).unwrap()
}

/// The texts of all instructions of `f` after the mutation.
fn texts(object: &[u8]) -> Vec<String> {
    let layout = Layout::parse(object).unwrap();
    decode(object, &layout.functions[0]).iter().map(text).collect()
}

#[test]
fn every_mutant_decodes_and_changes_one_instruction() {
    let object = assembled(SOURCE);
    let layout = Layout::parse(&object).unwrap();
    let before = texts(&object);
    let all = code_mutants(&object, &layout);
    assert!(all.made.len() > 60, "{}", all.made.len());
    for mutant in &all.made {
        let patched = mutant.patched(&object).unwrap();
        assert_ne!(patched, object, "{}", mutant.what);
        let after: Vec<String> = texts(&patched).into_iter().filter(|t| t != "nop").collect();
        assert!(!after.iter().any(|t| t.contains("(bad)")), "{}: {after:?}", mutant.what);
        if mutant.what.contains("bytes`") {
            // A relocation's addend moved: the code itself is as before.
            assert_eq!(after, before);
            continue;
        }
        let kept: Vec<&String> = before.iter().filter(|t| after.contains(t)).collect();
        assert!(kept.len() + 1 >= before.len(), "{}: {after:?}", mutant.what);
        let meant = mutant.what.split("becomes `").nth(1).unwrap().trim_end_matches('`');
        assert!(meant == "nop" || after.iter().any(|t| t == meant), "{}: {after:?}", mutant.what);
    }
}

#[test]
fn the_changes_that_were_asked_for_are_there() {
    let object = assembled(SOURCE);
    let all = code_mutants(&object, &Layout::parse(&object).unwrap());
    let has = |class: Class, what: &str| {
        assert!(
            all.made.iter().any(|m| m.class == class && m.what.ends_with(what)),
            "{class}: no {what} in {:#?}",
            all.made.iter().filter(|m| m.class == class).map(|m| &m.what).collect::<Vec<_>>()
        );
    };
    has(Class::ShiftCount, "`vpsraw ymm3,ymm3,0Fh` becomes `vpsraw ymm3,ymm3,0Eh`");
    has(Class::Signedness, "becomes `vpsrlw ymm3,ymm3,0Fh`");
    has(Class::AddSubtract, "becomes `vpaddw ymm3,ymm3,ymm2`");
    has(Class::OperandOrder, "becomes `vpsubw ymm3,ymm2,ymm3`");
    has(Class::OperandOrder, "becomes `vpblendw ymm3,ymm2,ymm3,0AAh`");
    has(Class::MultiplyKind, "becomes `vpmulhuw ymm3,ymm1,ymm9`");
    has(Class::MultiplyOperand, "becomes `vpmulhw ymm3,ymm1,ymm10`");
    has(Class::SubtractionDropped, "becomes `vmovdqa ymm3,ymm3`");
    has(Class::SubtractionDropped, "`psubw xmm0,xmm1` becomes `nop`");
    has(Class::StoreDropped, "becomes `nop`");
    has(Class::LoopBound, "becomes `cmp rax,40h`");
    has(Class::Alignment, "becomes `vmovdqa ymm1,[rsi+rax]`");
    has(Class::Condition, "becomes `je short 2`");
    has(Class::Restore, "`pop rbx` becomes `pop rbp`");
    has(Class::VectorLength, "becomes `vpsubw xmm3,xmm3,xmm2`");
    has(Class::Displacement, "+32 bytes`");
    // vpsubw with two high registers fits the short form only because the store form is used.
    has(Class::Register, "becomes `vpsubw ymm12,ymm10,ymm10`");
    // A displacement of [rsi+rax] needs a byte more.
    assert!(all.not_generated[&Class::Displacement] >= 4, "{:?}", all.not_generated);
}

#[test]
fn a_moved_relocation_reads_the_neighbouring_constant() {
    let object = assembled(SOURCE);
    let layout = Layout::parse(&object).unwrap();
    let all = code_mutants(&object, &layout);
    let moved = all.made.iter().find(|m| m.what.ends_with("+2 bytes`")).unwrap();
    let addends = |object: &[u8]| -> Vec<i64> {
        let layout = Layout::parse(object).unwrap();
        layout.functions[0].relocations.values().map(|&(_, addend)| addend).collect()
    };
    let (before, after) = (addends(&object), addends(&moved.patched(&object).unwrap()));
    assert_eq!(before.len(), 1);
    assert_eq!(after[0], before[0] + 2);
}

#[test]
fn tables_change_one_word_or_swap_two() {
    let object = assembled(SOURCE);
    let layout = Layout::parse(&object).unwrap();
    let all = crate::table::table_mutants(&object, &layout);
    // 4591, -1, 7: four single changes each and two swaps.
    assert_eq!(all.made.len(), 14, "{:#?}", all.made);
    for mutant in &all.made {
        let patched = mutant.patched(&object).unwrap();
        let differ = patched.iter().zip(&object).filter(|(a, b)| a != b).count();
        assert!((1..=4).contains(&differ), "{}", mutant.what);
    }
}

#[test]
fn objects_without_code_are_refused() {
    assert!(Layout::parse(b"no object").is_err());
    let empty = assembled(".section .rodata\n.short 1\n");
    assert!(Layout::parse(&empty).unwrap_err().to_string().contains("no code"));
}
