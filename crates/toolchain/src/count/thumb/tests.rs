//! Short sequences, their cycles worked out by hand from the Cortex-M4 Technical Reference Manual, table 3-1 and section 3.3.3.

use ringforge_targets::{ARMV7E_M, InOrder, Model};

use super::*;

fn times() -> InOrder {
    match ARMV7E_M.core.map(|core| core.model) {
        Some(Model::InOrder(times)) => times,
        _ => panic!("the core executes in order"),
    }
}

/// Cycles of instructions that lie one after the other from address 0x100 on, each executed once, after a plain one.
fn straight(words: &[u32]) -> u64 {
    let (mut at, mut before, mut text) = (0x100u64, (0xbf00u32, 0xfeu64), String::new());
    for &word in words {
        text += &format!("{word:08x} 1 {at:x} {:08x} {:x}\n", before.0, before.1);
        before = (word, at);
        at += if is_long(word) { 4 } else { 2 };
    }
    let counts = sum(&text, &times());
    assert_eq!(counts.executed, words.len() as u64);
    counts.in_order.unwrap_or(0)
}

// As GNU as 2.40 encodes them, the first half in the low bits.
const ADD: u32 = 0x1840; // adds r0, r0, r1
const MUL: u32 = 0xf102_fb01; // mul r1, r1, r2
const SMULL: u32 = 0x0103_fb82; // smull r0, r1, r2, r3
const SMLAL: u32 = 0x0103_fbc2; // smlal r0, r1, r2, r3
const UADD16: u32 = 0xf041_fa90; // uadd16 r0, r0, r1
const SMLAD: u32 = 0x3001_fb20; // smlad r0, r0, r1, r3
const LDR: u32 = 0x6820; // ldr r0, [r4]
const LDR_NEXT: u32 = 0x6861; // ldr r1, [r4, #4]
const LDR_FROM: u32 = 0x6802; // ldr r2, [r0]
const LDRSH_LONG: u32 = 0x1000_f9b4; // ldrsh.w r1, [r4]
const STR: u32 = 0x60a1; // str r1, [r4, #8]
const ADD_BASE: u32 = 0x3404; // adds r4, #4
const LDM: u32 = 0xcc07; // ldmia r4!, {r0, r1, r2}
const PUSH: u32 = 0xb5f0; // push {r4, r5, r6, r7, lr}
const LDRD: u32 = 0x0100_e9d4; // ldrd r0, r1, [r4]
const STRD: u32 = 0x0100_e9c4; // strd r0, r1, [r4]
const UDIV: u32 = 0xf1f2_fbb1; // udiv r1, r1, r2
const BNE: u32 = 0xd1fa; // bne
const LDR_INDEX: u32 = 0x5860; // ldr r0, [r4, r1]

#[test]
fn operations_on_registers_take_a_cycle() {
    assert_eq!(straight(&[ADD, MUL, SMULL, SMLAL, UADD16, SMLAD]), 6);
    // At most twelve: code whose time depends on its operands has no one time.
    assert_eq!(straight(&[UDIV]), 12);
}

#[test]
fn loads_follow_each_other_in_a_cycle() {
    assert_eq!(straight(&[LDR]), 2);
    assert_eq!(straight(&[LDR, LDR_NEXT]), 2 + 1);
    assert_eq!(straight(&[LDR, LDRSH_LONG, LDR_NEXT]), 2 + 1 + 1);
    // The address is what was loaded; something lies between; a store does.
    assert_eq!(straight(&[LDR, LDR_FROM]), 2 + 2);
    assert_eq!(straight(&[LDR, ADD, LDR_NEXT]), 2 + 1 + 2);
    assert_eq!(straight(&[STR, LDR]), 1 + 2);
    assert_eq!(straight(&[LDR, STR, STR]), 2 + 1 + 1);
}

#[test]
fn an_address_that_was_just_computed_waits() {
    assert_eq!(straight(&[ADD_BASE, LDR]), 1 + 3);
    assert_eq!(straight(&[ADD_BASE, STR]), 1 + 2);
    assert_eq!(straight(&[MUL, LDR_INDEX]), 1 + 3);
    assert_eq!(straight(&[ADD_BASE, ADD, LDR]), 1 + 1 + 2);
}

#[test]
fn several_registers_take_a_cycle_each_and_one() {
    assert_eq!(straight(&[LDM]), 1 + 3);
    assert_eq!(straight(&[PUSH]), 1 + 5);
    assert_eq!(straight(&[LDRD]), 1 + 2);
    assert_eq!(straight(&[STRD]), 1 + 2);
    // They do not join the loads around them.
    assert_eq!(straight(&[LDM, LDR]), 4 + 2);
}

#[test]
fn branches_and_accesses_beside_a_boundary() {
    let after = |line: &str| sum(line, &times()).in_order;
    // Not taken; taken to a whole word; taken to half of one.
    assert_eq!(straight(&[BNE]), 1);
    assert_eq!(after("00001840 10 100 0000d1fa 10a\n"), Some(10 * 3));
    assert_eq!(after("00001840 10 102 0000d1fa 10c\n"), Some(10 * 4));
    assert_eq!(after("00006820 5 10c 0000d1fa 10a\nunaligned 5\n"), Some(5 * 2 + 5));
}
