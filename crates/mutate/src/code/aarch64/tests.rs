use super::*;
use crate::code::code_mutants;
use crate::object::Layout;
use ringforge_targets::AARCH64;
use ringforge_testing::needs;
use ringforge_toolchain::Compiler;

const SOURCE: &str = "
    .text
    .globl f
    .type f, %function
f:
    stp d8, d9, [sp, #-32]!
    str x19, [sp, #16]
    adrp x3, table
    ldr q4, [x3, :lo12:table]
    mov w5, #3
1:  ldr q0, [x1], #16
    ldr q1, [x2, #32]
    sqrdmulh v2.8h, v0.8h, v4.h[1]
    sqdmulh v3.8h, v0.8h, v1.8h
    mul v8.8h, v0.8h, v4.h[2]
    mls v8.8h, v2.8h, v4.h[0]
    smull v5.4s, v0.4h, v1.4h
    smlal2 v5.4s, v0.8h, v1.h[7]
    srshr v6.4s, v5.4s, #11
    sub v7.8h, v8.8h, v3.8h
    zip1 v9.8h, v7.8h, v8.8h
    ext v9.16b, v9.16b, v7.16b, #6
    cmgt v10.8h, v9.8h, v0.8h
    st1 {v9.8h}, [x0], #16
    subs w5, w5, #1
    b.ne 1b
    ldr x19, [sp, #16]
    ldp d8, d9, [sp], #32
    ret
    .size f, .-f
    .section .rodata
    .align 4
table: .short 4591, -1, 7, 0, 0, 0, 0, 0
";

/// The text assembled.
fn assembled(source: &str) -> Vec<u8> {
    let compiler = Compiler::of(None, Some(&AARCH64)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("f.s"), dir.path().join("f.o"));
    std::fs::write(&from, source).unwrap();
    compiler.compile(&from, &[], &to).unwrap();
    std::fs::read(to).unwrap()
}

/// The texts of all instructions of `f`.
fn texts(object: &[u8]) -> Vec<String> {
    let layout = Layout::parse(object).unwrap();
    let f = &layout.functions[0];
    object[f.file..f.file + f.length]
        .chunks(4)
        .zip(0u64..)
        .map(|(w, i)| text(&decode(u32::from_le_bytes(w.try_into().unwrap()), 4 * i).unwrap()))
        .collect()
}

#[test]
fn every_mutant_decodes_and_changes_one_instruction() {
    needs!("aarch64-linux-gnu-gcc");
    let object = assembled(SOURCE);
    let before = texts(&object);
    let all = code_mutants(&object, &Layout::parse(&object).unwrap());
    assert!(all.made.len() > 120, "{}", all.made.len());
    for mutant in &all.made {
        let patched = mutant.patched(&object).unwrap();
        assert_ne!(patched, object, "{}", mutant.what);
        let after = texts(&patched);
        let differ = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        // A relocation's addend moved: the code itself is as before.
        assert_eq!(differ, usize::from(!mutant.what.ends_with("bytes`")), "{}", mutant.what);
    }
}

/// One space where the formatter aligns.
fn spaced(text: &str) -> String {
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Neon's own traps among them.
#[test]
fn the_changes_that_were_asked_for_are_there() {
    needs!("aarch64-linux-gnu-gcc");
    let object = assembled(SOURCE);
    let all = code_mutants(&object, &Layout::parse(&object).unwrap());
    for (class, from, to) in [
        (Class::Rounding, "sqrdmulh v2.8h, v0.8h, v4.h[1]", "sqdmulh v2.8h, v0.8h, v4.h[1]"),
        (Class::Rounding, "sqdmulh v3.8h, v0.8h, v1.8h", "sqrdmulh v3.8h, v0.8h, v1.8h"),
        (Class::Rounding, "srshr v6.4s, v5.4s, #0xb", "sshr v6.4s, v5.4s, #0xb"),
        (Class::Signedness, "srshr v6.4s, v5.4s, #0xb", "urshr v6.4s, v5.4s, #0xb"),
        (Class::ShiftCount, "srshr v6.4s, v5.4s, #0xb", "srshr v6.4s, v5.4s, #0xa"),
        (Class::ElementIndex, "mls v8.8h, v2.8h, v4.h[0]", "mls v8.8h, v2.8h, v4.h[1]"),
        (Class::ElementIndex, "smlal2 v5.4s, v0.8h, v1.h[7]", "smlal2 v5.4s, v0.8h, v1.h[6]"),
        (Class::AddSubtract, "mls v8.8h, v2.8h, v4.h[0]", "mla v8.8h, v2.8h, v4.h[0]"),
        (Class::AddSubtract, "sub v7.8h, v8.8h, v3.8h", "add v7.8h, v8.8h, v3.8h"),
        (Class::MultiplyKind, "smull v5.4s, v0.4h, v1.4h", "umull v5.4s, v0.4h, v1.4h"),
        (Class::VectorLength, "smull v5.4s, v0.4h, v1.4h", "smull2 v5.4s, v0.8h, v1.8h"),
        (Class::OperandOrder, "sub v7.8h, v8.8h, v3.8h", "sub v7.8h, v3.8h, v8.8h"),
        (Class::SubtractionDropped, "sub v7.8h, v8.8h, v3.8h", "mov v7.16b, v8.16b"),
        (Class::SubtractionDropped, "mls v8.8h, v2.8h, v4.h[0]", "nop"),
        (Class::ElementWidth, "sub v7.8h, v8.8h, v3.8h", "sub v7.4s, v8.4s, v3.4s"),
        (Class::Shuffle, "zip1 v9.8h, v7.8h, v8.8h", "zip2 v9.8h, v7.8h, v8.8h"),
        (Class::Shuffle, "ext v9.16b, v9.16b, v7.16b, #0x6", "ext v9.16b, v9.16b, v7.16b, #0x7"),
        (Class::Comparison, "cmgt v10.8h, v9.8h, v0.8h", "cmge v10.8h, v9.8h, v0.8h"),
        (Class::StoreDropped, "st1 {v9.8h}, [x0], #0x10", "nop"),
        (Class::Restore, "ldp d8, d9, [sp], #0x20", "ldp d10, d9, [sp], #0x20"),
        (Class::Restore, "ldr x19, [sp, #0x10]", "ldr x20, [sp, #0x10]"),
        (Class::CalleeSaved, "ldp d8, d9, [sp], #0x20", "add sp, sp, #0x20"),
        (Class::CalleeSaved, "ldr x19, [sp, #0x10]", "nop"),
        (Class::Displacement, "ldr q1, [x2, #0x20]", "ldr q1, [x2, #0x30]"),
        (Class::Displacement, "ldr q4, [x3]", "ldr q4, [x3], +2 bytes"),
        (Class::LoopBound, "subs w5, w5, #0x1", "subs w5, w5, #0x2"),
        (Class::MultiplyOperand, "mul v8.8h, v0.8h, v4.h[2]", "mul v8.8h, v1.8h, v4.h[2]"),
    ] {
        let wanted = format!("`{from}` becomes `{to}`");
        assert!(
            all.made.iter().any(|m| m.class == class && spaced(&m.what).ends_with(&wanted)),
            "{class}: no {wanted} in {:#?}",
            all.made.iter().map(|m| &m.what).collect::<Vec<_>>()
        );
    }
}

#[test]
fn every_name_of_the_table_is_an_instruction() {
    for name in mistakes::names() {
        assert!(mistakes::is_known(name), "{name}");
    }
}
