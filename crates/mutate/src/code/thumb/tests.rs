use super::*;
use crate::code::code_mutants;
use crate::object::Layout;
use ringforge_targets::ARMV7E_M;
use ringforge_testing::needs;
use ringforge_toolchain::Compiler;

/// Instructions, and what becomes of them.
const CHANGES: &[(Class, &str, &str)] = &[
    (Class::Shuffle, "smlad r8, r1, r2, r8", "smladx r8, r1, r2, r8"),
    (Class::Shuffle, "smuadx r8, r1, r2", "smuad r8, r1, r2"),
    (Class::AddSubtract, "smladx r8, r1, r2, r8", "smlsdx r8, r1, r2, r8"),
    (Class::MultiplyOperand, "smlad r8, r1, r2, r9", "smlad r8, r1, r3, r9"),
    (Class::ElementIndex, "smulbb r4, r5, r6", "smulbt r4, r5, r6"),
    (Class::ElementIndex, "smlabb r4, r5, r6, r7", "smlatb r4, r5, r6, r7"),
    (Class::Rounding, "smmulr r4, r5, r6", "smmul r4, r5, r6"),
    (Class::Rounding, "smmul r4, r5, r6", "smmulr r4, r5, r6"),
    (Class::AddSubtract, "smmla r4, r5, r6, r7", "smmls r4, r5, r6, r7"),
    (Class::Signedness, "smull r4, r5, r6, r7", "umull r4, r5, r6, r7"),
    (Class::MultiplyKind, "smlal r4, r5, r6, r7", "smull r4, r5, r6, r7"),
    (Class::AddSubtract, "mla r4, r5, r6, r7", "mls r4, r5, r6, r7"),
    (Class::AddSubtract, "uadd16 r4, r5, r6", "usub16 r4, r5, r6"),
    (Class::OperandOrder, "usub16 r4, r5, r6", "usub16 r4, r6, r5"),
    (Class::ElementWidth, "uadd16 r4, r5, r6", "uadd8 r4, r5, r6"),
    (Class::Shuffle, "pkhbt r4, r5, r6, lsl #16", "pkhtb r4, r5, r6, asr #16"),
    (Class::ShiftCount, "pkhbt r4, r5, r6, lsl #16", "pkhbt r4, r5, r6, lsl #17"),
    (Class::Signedness, "sbfx r4, r5, #3, #11", "ubfx r4, r5, #3, #11"),
    (Class::Signedness, "sxth.w r8, r9", "uxth.w r8, r9"),
    (Class::Signedness, "sxth r4, r5", "uxth r4, r5"),
    (Class::Signedness, "asrs r4, r5, #3", "lsrs r4, r5, #3"),
    (Class::ImmediateConstant, "movw r4, #4591", "movw r4, #4590"),
    (Class::ImmediateConstant, "movt r4, #1", "movt r4, #0"),
    (Class::Displacement, "ldr.w r8, [r1, #8]", "ldr.w r8, [r1, #12]"),
    (Class::Displacement, "ldr r4, [r1, #8]", "ldr r4, [r1, #12]"),
    (Class::StoreDropped, "str.w r8, [r1, #8]", "nop.w"),
    (Class::StoreDropped, "str r4, [r1, #8]", "nop"),
    (Class::LoopBound, "cmp r4, #9", "cmp r4, #8"),
    (Class::AddSubtract, "add.w r4, r5, r6, lsl #3", "sub.w r4, r5, r6, lsl #3"),
    (Class::Restore, "pop.w {r4, r8, lr}", "pop.w {r5, r8, lr}"),
];

/// A function of these lines, assembled.
fn assembled(lines: &[&str]) -> Vec<u8> {
    let compiler = Compiler::of(None, Some(&ARMV7E_M)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("f.c"), dir.path().join("f.o"));
    let text: String = lines.iter().map(|line| format!("\"{line}\\n\"\n")).collect();
    let head = "__attribute__((naked)) void f(void);\n__attribute__((naked)) void f(void)\n";
    std::fs::write(&from, format!("{head}{{ __asm__(\".syntax unified\\n\" {text}); }}\n"))
        .unwrap();
    compiler.compile(&from, &["-O2".into()], &to).unwrap();
    std::fs::read(to).unwrap()
}

/// The function's bytes.
fn code(object: &[u8]) -> Vec<u8> {
    let f = &Layout::parse(object).unwrap().functions[0];
    object[f.file..f.file + f.length].to_vec()
}

/// An assembler of another project says that the bits are those of the instruction that was meant.
#[test]
fn the_changes_that_were_asked_for_are_there() {
    let lines: Vec<&str> = CHANGES.iter().map(|change| change.1).collect();
    needs!("arm-none-eabi-gcc");
    let object = assembled(&lines);
    let all = code_mutants(&object, &Layout::parse(&object).unwrap());
    assert!(all.made.len() > 80, "{}", all.made.len());
    for (i, (class, from, to)) in CHANGES.iter().enumerate() {
        let mut lines = lines.clone();
        lines[i] = to;
        let want = code(&assembled(&lines));
        let found = all.made.iter().any(|mutant| {
            mutant.class == *class && code(&mutant.patched(&object).unwrap()) == want
        });
        assert!(found, "{class}: no `{from}` to `{to}` in {all:#?}");
    }
}

/// Conditions of blocks and jumps; literals between instructions stay.
#[test]
fn conditions_are_inverted_and_literals_are_none() {
    let lines =
        ["ite lt", "movlt r4, r5", "movge r4, r6", "ldr r0, =0xfb28f304", "bx lr", ".ltorg"];
    needs!("arm-none-eabi-gcc");
    let object = assembled(&lines);
    let before = code(&object);
    let want =
        code(&assembled(&["ite ge", "movge r4, r5", "movlt r4, r6", lines[3], lines[4], lines[5]]));
    let all = code_mutants(&object, &Layout::parse(&object).unwrap());
    let inverted: Vec<_> = all.made.iter().filter(|m| m.class == Class::Condition).collect();
    assert_eq!(inverted.len(), 1, "{all:#?}");
    assert_eq!(code(&inverted[0].patched(&object).unwrap()), want);
    for mutant in &all.made {
        let after = code(&mutant.patched(&object).unwrap());
        assert_eq!(after.len(), before.len());
        let literal = before.windows(4).position(|w| w == [0x04, 0xf3, 0x28, 0xfb]).unwrap();
        assert_eq!(after[literal..], before[literal..], "{}", mutant.what);
    }
}
