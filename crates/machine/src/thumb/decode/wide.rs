//! The encodings of 32 bits.

use super::Instruction;
use super::row::{Row, row};
use crate::core::bits::Shift;
use crate::thumb::operation::{Address, Data, Field, Keep, Lanes, Long, Op, Second};

const fn shifted(data: Data) -> Op {
    Op::Data(data, Second::Register)
}

const fn expanded(data: Data) -> Op {
    Op::Data(data, Second::Expanded)
}

const fn load(size: u8, signed: bool, at: Address) -> Op {
    Op::Load { size, signed, at }
}

const fn store(size: u8, at: Address) -> Op {
    Op::Store { size, at }
}

const fn extend(bits: u8, signed: bool, adds: bool) -> Op {
    Op::Extend { bits, signed, adds }
}

/// A base that is written back and no register that is moved.
fn base(i: &Instruction) -> bool {
    !i.back || i.n != i.t
}

/// The same of two; a load fills two different ones.
fn pair(i: &Instruction) -> bool {
    (!i.back || i.n != i.t && i.n != i.u) && i.n != 15 && (i.before || i.back)
}

fn pair_loaded(i: &Instruction) -> bool {
    pair(i) && i.t != i.u
}

/// A list of two and more, without its own base.
fn stored(i: &Instruction) -> bool {
    i.list.count_ones() >= 2 && i.n != 15 && !(i.back && i.list >> i.n & 1 == 1)
}

fn loaded(i: &Instruction) -> bool {
    stored(i) && i.list >> 14 != 3
}

/// Sums with the stack pointer: it may be both operand and destination.
fn sum(i: &Instruction) -> bool {
    i.d != 15 && i.n != 15 && (i.d != 13 || i.n == 13)
}

/// The same with a register, which goes into the stack pointer as it is, or moved by at most 3.
fn sum_of_registers(i: &Instruction) -> bool {
    use super::Moved;
    sum(i) && (i.d != 13 || matches!(i.moved, Moved::By(Shift::Left, 0..=3)))
}

/// Two different destinations.
fn two(i: &Instruction) -> bool {
    i.d != i.a
}

fn inserts(i: &Instruction) -> bool {
    i64::from(i.last) >= i.immediate && i.n != 13
}

fn extracts(i: &Instruction) -> bool {
    i.immediate + i64::from(i.last) <= 31
}

/// One register, named twice.
fn once(i: &Instruction) -> bool {
    i.n == i.m
}

use Address::{Literal, Offset, Register};
use Data::*;

macro_rules! lanes {
    ($bits:literal, $lanes:ident, $name:literal) => {
        [
            lane(
                concat!("11111010 1", $bits, "nnnn 1111dddd 0000mmmm"),
                Lanes::$lanes,
                true,
                Keep::Wraps,
                concat!("s", $name),
            ),
            lane(
                concat!("11111010 1", $bits, "nnnn 1111dddd 0001mmmm"),
                Lanes::$lanes,
                true,
                Keep::Saturates,
                concat!("q", $name),
            ),
            lane(
                concat!("11111010 1", $bits, "nnnn 1111dddd 0010mmmm"),
                Lanes::$lanes,
                true,
                Keep::Halves,
                concat!("sh", $name),
            ),
            lane(
                concat!("11111010 1", $bits, "nnnn 1111dddd 0100mmmm"),
                Lanes::$lanes,
                false,
                Keep::Wraps,
                concat!("u", $name),
            ),
            lane(
                concat!("11111010 1", $bits, "nnnn 1111dddd 0101mmmm"),
                Lanes::$lanes,
                false,
                Keep::Saturates,
                concat!("uq", $name),
            ),
            lane(
                concat!("11111010 1", $bits, "nnnn 1111dddd 0110mmmm"),
                Lanes::$lanes,
                false,
                Keep::Halves,
                concat!("uh", $name),
            ),
        ]
    };
}

const fn lane(
    bits: &'static str,
    lanes: Lanes,
    signed: bool,
    keep: Keep,
    text: &'static str,
) -> Row {
    row(bits, Op::Lanes { lanes, signed, keep }, text).plain("dnm")
}

/// All rows.
pub(super) fn rows() -> Vec<Row> {
    SCALAR.iter().chain(PARALLEL.iter().flatten()).copied().collect()
}

const PARALLEL: [[Row; 6]; 6] = [
    lanes!("001", Add16, "add16 {d}, {n}, {m}"),
    lanes!("101", Sub16, "sub16 {d}, {n}, {m}"),
    lanes!("000", Add8, "add8 {d}, {n}, {m}"),
    lanes!("100", Sub8, "sub8 {d}, {n}, {m}"),
    lanes!("010", Asx, "asx {d}, {n}, {m}"),
    lanes!("110", Sax, "sax {d}, {n}, {m}"),
];

#[rustfmt::skip] // one row a line
const SCALAR: &[Row] = &[
    // Data of registers.
    row("11101010 0001nnnn 0iii1111 iikkmmmm", shifted(Tst), "tst.w {n}, {m}{sh}").plain("nm").sets(),
    row("11101010 000snnnn 0iiidddd iikkmmmm", shifted(And), "and{s}.w {d}, {n}, {m}{sh}").plain("dnm"),
    row("11101010 001snnnn 0iiidddd iikkmmmm", shifted(Bic), "bic{s}.w {d}, {n}, {m}{sh}").plain("dnm"),
    row("11101010 01001111 0000dddd 0000mmmm", shifted(Mov), "mov.w {d}, {m}").only(moved),
    row("11101010 010s1111 0iiidddd iikkmmmm", shifted(Mov), "{move} {d}, {m}{amount}").plain("dm"),
    row("11101010 010snnnn 0iiidddd iikkmmmm", shifted(Orr), "orr{s}.w {d}, {n}, {m}{sh}").plain("dnm"),
    row("11101010 011s1111 0iiidddd iikkmmmm", shifted(Mvn), "mvn{s}.w {d}, {m}{sh}").plain("dm"),
    row("11101010 011snnnn 0iiidddd iikkmmmm", shifted(Orn), "orn{s} {d}, {n}, {m}{sh}").plain("dnm"),
    row("11101010 1001nnnn 0iii1111 iikkmmmm", shifted(Teq), "teq.w {n}, {m}{sh}").plain("nm").sets(),
    row("11101010 100snnnn 0iiidddd iikkmmmm", shifted(Eor), "eor{s}.w {d}, {n}, {m}{sh}").plain("dnm"),
    row("11101010 1100nnnn 0iiidddd ii00mmmm", Op::PackBottomTop, "pkhbt {d}, {n}, {m}{sh}").plain("dnm").kind(0),
    row("11101010 1100nnnn 0iiidddd ii10mmmm", Op::PackTopBottom, "pkhtb {d}, {n}, {m}{sh}").plain("dnm").kind(2),
    row("11101011 0001nnnn 0iii1111 iikkmmmm", shifted(Cmn), "cmn.w {n}, {m}{sh}").plain("m").sets().only(|i| i.n != 15),
    row("11101011 000snnnn 0iiidddd iikkmmmm", shifted(Add), "add{s}.w {d}, {n}, {m}{sh}").plain("m").only(sum_of_registers),
    row("11101011 010snnnn 0iiidddd iikkmmmm", shifted(Adc), "adc{s}.w {d}, {n}, {m}{sh}").plain("dnm"),
    row("11101011 011snnnn 0iiidddd iikkmmmm", shifted(Sbc), "sbc{s}.w {d}, {n}, {m}{sh}").plain("dnm"),
    row("11101011 1011nnnn 0iii1111 iikkmmmm", shifted(Cmp), "cmp.w {n}, {m}{sh}").plain("m").sets().only(|i| i.n != 15),
    row("11101011 101snnnn 0iiidddd iikkmmmm", shifted(Sub), "sub{s}.w {d}, {n}, {m}{sh}").plain("m").only(sum_of_registers),
    row("11101011 110snnnn 0iiidddd iikkmmmm", shifted(Rsb), "rsb{s}.w {d}, {n}, {m}{sh}").plain("dnm"),
    // Data with an immediate of 12 bits that is expanded.
    row("11110i00 0001nnnn 0iii1111 iiiiiiii", expanded(Tst), "tst.w {n}, #{i}").plain("n").sets(),
    row("11110i00 000snnnn 0iiidddd iiiiiiii", expanded(And), "and{s} {d}, {n}, #{i}").plain("dn"),
    row("11110i00 001snnnn 0iiidddd iiiiiiii", expanded(Bic), "bic{s} {d}, {n}, #{i}").plain("dn"),
    row("11110i00 010s1111 0iiidddd iiiiiiii", expanded(Mov), "mov{s}.w {d}, #{i}").plain("d"),
    row("11110i00 010snnnn 0iiidddd iiiiiiii", expanded(Orr), "orr{s} {d}, {n}, #{i}").plain("dn"),
    row("11110i00 011s1111 0iiidddd iiiiiiii", expanded(Mvn), "mvn{s} {d}, #{i}").plain("d"),
    row("11110i00 011snnnn 0iiidddd iiiiiiii", expanded(Orn), "orn{s} {d}, {n}, #{i}").plain("dn"),
    row("11110i00 1001nnnn 0iii1111 iiiiiiii", expanded(Teq), "teq.w {n}, #{i}").plain("n").sets(),
    row("11110i00 100snnnn 0iiidddd iiiiiiii", expanded(Eor), "eor{s} {d}, {n}, #{i}").plain("dn"),
    row("11110i01 0001nnnn 0iii1111 iiiiiiii", expanded(Cmn), "cmn.w {n}, #{i}").sets().only(|i| i.n != 15),
    row("11110i01 000snnnn 0iiidddd iiiiiiii", expanded(Add), "add{s}.w {d}, {n}, #{i}").only(sum),
    row("11110i01 010snnnn 0iiidddd iiiiiiii", expanded(Adc), "adc{s} {d}, {n}, #{i}").plain("dn"),
    row("11110i01 011snnnn 0iiidddd iiiiiiii", expanded(Sbc), "sbc{s} {d}, {n}, #{i}").plain("dn"),
    row("11110i01 1011nnnn 0iii1111 iiiiiiii", expanded(Cmp), "cmp.w {n}, #{i}").sets().only(|i| i.n != 15),
    row("11110i01 101snnnn 0iiidddd iiiiiiii", expanded(Sub), "sub{s}.w {d}, {n}, #{i}").only(sum),
    row("11110i01 110snnnn 0iiidddd iiiiiiii", expanded(Rsb), "rsb{s}.w {d}, {n}, #{i}").plain("dn"),
    // Data with a plain immediate.
    row("11110i10 00001111 0iiidddd iiiiiiii", Op::Adr, "adr.w {d}, #{i}").plain("d"),
    row("11110i10 10101111 0iiidddd iiiiiiii", Op::Adr, "adr.w {d}, #-{i}").plain("d").times(-1).only(|i| i.immediate != 0),
    row("11110i10 0000nnnn 0iiidddd iiiiiiii", Op::AddWide, "addw {d}, {n}, #{i}").only(sum),
    row("11110i10 1010nnnn 0iiidddd iiiiiiii", Op::SubWide, "subw {d}, {n}, #{i}").only(sum),
    row("11110i10 0100jjjj 0iiidddd iiiiiiii", Op::Wide, "movw {d}, #{i}").plain("d"),
    row("11110i10 1100jjjj 0iiidddd iiiiiiii", Op::Top, "movt {d}, #{i}").plain("d"),
    row("11110011 0010nnnn 0000dddd 0000qqqq", Op::SaturatePair { signed: true }, "ssat16 {d}, #{q+1}, {n}").plain("dn"),
    row("11110011 1010nnnn 0000dddd 0000qqqq", Op::SaturatePair { signed: false }, "usat16 {d}, #{q}, {n}").plain("dn"),
    row("11110011 0000nnnn 0iiidddd ii0qqqqq", Op::Saturate { signed: true }, "ssat {d}, #{q+1}, {n}{sh}").plain("dn").kind(0),
    row("11110011 0010nnnn 0iiidddd ii0qqqqq", Op::Saturate { signed: true }, "ssat {d}, #{q+1}, {n}{sh}").plain("dn").kind(2).only(|i| i.immediate != 0),
    row("11110011 1000nnnn 0iiidddd ii0qqqqq", Op::Saturate { signed: false }, "usat {d}, #{q}, {n}{sh}").plain("dn").kind(0),
    row("11110011 1010nnnn 0iiidddd ii0qqqqq", Op::Saturate { signed: false }, "usat {d}, #{q}, {n}{sh}").plain("dn").kind(2).only(|i| i.immediate != 0),
    row("11110011 0100nnnn 0iiidddd ii0qqqqq", Op::Field(Field::Signed), "sbfx {d}, {n}, #{i}, #{q+1}").plain("dn").only(extracts),
    row("11110011 1100nnnn 0iiidddd ii0qqqqq", Op::Field(Field::Unsigned), "ubfx {d}, {n}, #{i}, #{q+1}").plain("dn").only(extracts),
    row("11110011 01101111 0iiidddd ii0qqqqq", Op::Field(Field::Clear), "bfc {d}, #{i}, #{q-i}").plain("d").only(inserts),
    row("11110011 0110nnnn 0iiidddd ii0qqqqq", Op::Field(Field::Insert), "bfi {d}, {n}, #{i}, #{q-i}").plain("d").only(inserts),
    // Branches.
    row("11110011 10101111 10000000 00000000", Op::Nop, "nop.w"),
    row("11110hcc cciiiiii 10x0yjjj jjjjjjjj", Op::BranchIf, "b{c}.w {#i}").only(|i| i.condition < 14),
    row("11110hii iiiiiiii 10x1yjjj jjjjjjjj", Op::Branch, "b.w {#i}"),
    row("11110hii iiiiiiii 11x1yjjj jjjjjjjj", Op::Call, "bl {#i}"),
    // Floating-point registers, where code keeps what is more than fourteen.
    row("11101110 0000qqqq tttt1010 x0010000", Op::ToFloat { two: false }, "vmov s{q}, {t}").plain("t"),
    row("11101110 0001qqqq tttt1010 x0010000", Op::FromFloat { two: false }, "vmov {t}, s{q}").plain("t"),
    row("11101100 0100uuuu tttt1010 00x1qqqq", Op::ToFloat { two: true }, "vmov s{q}, s{q+1}, {t}, {u}").plain("tu").only(|i| i.last < 31),
    row("11101100 0101uuuu tttt1010 00x1qqqq", Op::FromFloat { two: true }, "vmov {t}, {u}, s{q}, s{q+1}").plain("tu").only(|i| i.last < 31 && i.t != i.u),
    row("11101100 0100uuuu tttt1011 0001qqqq", Op::ToFloat { two: true }, "vmov d{q/2}, {t}, {u}").plain("tu"),
    row("11101100 0101uuuu tttt1011 0001qqqq", Op::FromFloat { two: true }, "vmov {t}, {u}, d{q/2}").plain("tu").only(|i| i.t != i.u),
    row("11101110 1x110000 qqqq1010 01y0mmmm", Op::MoveFloat, "vmov.f32 s{q}, s{2m}"),
    row("11101101 vx011111 qqqq1010 iiiiiiii", Op::LoadFloat { words: 1, at: Literal }, "vldr s{q}, [pc{o}]").times(4),
    row("11101101 v0011111 qqqq1011 iiiiiiii", Op::LoadFloat { words: 2, at: Literal }, "vldr d{q/2}, [pc{o}]").times(4),
    row("11101101 vx01nnnn qqqq1010 iiiiiiii", Op::LoadFloat { words: 1, at: Offset }, "vldr s{q}, {mem}").times(4).before(),
    row("11101101 v001nnnn qqqq1011 iiiiiiii", Op::LoadFloat { words: 2, at: Offset }, "vldr d{q/2}, {mem}").times(4).before(),
    row("11101101 vx00nnnn qqqq1010 iiiiiiii", Op::StoreFloat { words: 1 }, "vstr s{q}, {mem}").times(4).before().only(|i| i.n != 15),
    row("11101101 v000nnnn qqqq1011 iiiiiiii", Op::StoreFloat { words: 2 }, "vstr d{q/2}, {mem}").times(4).before().only(|i| i.n != 15),
    row("11101100 1x111101 qqqq1010 iiiiiiii", Op::LoadFloats { down: false }, "vpop {sl}").base(13).back().only(singles),
    row("11101100 10111101 qqqq1011 iiiiiiii", Op::LoadFloats { down: false }, "vpop {dl}").base(13).back().only(doubles),
    row("11101101 0x101101 qqqq1010 iiiiiiii", Op::StoreFloats { down: true }, "vpush {sl}").base(13).back().only(singles),
    row("11101101 00101101 qqqq1011 iiiiiiii", Op::StoreFloats { down: true }, "vpush {dl}").base(13).back().only(doubles),
    row("11101100 1xw1nnnn qqqq1010 iiiiiiii", Op::LoadFloats { down: false }, "vldmia {n}{!}, {sl}").only(singles),
    row("11101100 10w1nnnn qqqq1011 iiiiiiii", Op::LoadFloats { down: false }, "vldmia {n}{!}, {dl}").only(doubles),
    row("11101100 1xw0nnnn qqqq1010 iiiiiiii", Op::StoreFloats { down: false }, "vstmia {n}{!}, {sl}").only(singles),
    row("11101100 10w0nnnn qqqq1011 iiiiiiii", Op::StoreFloats { down: false }, "vstmia {n}{!}, {dl}").only(doubles),
    row("11101101 0x11nnnn qqqq1010 iiiiiiii", Op::LoadFloats { down: true }, "vldmdb {n}{!}, {sl}").back().only(singles),
    row("11101101 0011nnnn qqqq1011 iiiiiiii", Op::LoadFloats { down: true }, "vldmdb {n}{!}, {dl}").back().only(doubles),
    row("11101101 0x10nnnn qqqq1010 iiiiiiii", Op::StoreFloats { down: true }, "vstmdb {n}{!}, {sl}").back().only(singles),
    row("11101101 0010nnnn qqqq1011 iiiiiiii", Op::StoreFloats { down: true }, "vstmdb {n}{!}, {dl}").back().only(doubles),
    // Many registers.
    row("11101000 10w0nnnn 0L0lllll llllllll", Op::StoreMany { down: false }, "stm.w {n}{!}, {l}").only(stored),
    row("11101000 10111101 PL0lllll llllllll", Op::LoadMany { down: false }, "pop.w {l}").base(13).back().only(loaded),
    row("11101000 10w1nnnn PL0lllll llllllll", Op::LoadMany { down: false }, "ldm.w {n}{!}, {l}").only(loaded),
    row("11101001 00101101 0L0lllll llllllll", Op::StoreMany { down: true }, "push.w {l}").base(13).back().only(stored),
    row("11101001 00w0nnnn 0L0lllll llllllll", Op::StoreMany { down: true }, "stmdb {n}{!}, {l}").only(stored),
    row("11101001 00w1nnnn PL0lllll llllllll", Op::LoadMany { down: true }, "ldmdb {n}{!}, {l}").only(loaded),
    // Two registers.
    row("1110100p v1w0nnnn ttttuuuu iiiiiiii", Op::StorePair, "strd {t}, {u}, {mem}").times(4).plain("tu").only(pair),
    row("1110100p v1w1nnnn ttttuuuu iiiiiiii", Op::LoadPair, "ldrd {t}, {u}, {mem}").times(4).plain("tu").only(pair_loaded),
    // Stores.
    row("11111000 1000nnnn ttttiiii iiiiiiii", store(1, Offset), "strb.w {t}, [{n}{o}]").plain("t").before().only(|i| i.n != 15),
    row("11111000 1010nnnn ttttiiii iiiiiiii", store(2, Offset), "strh.w {t}, [{n}{o}]").plain("t").before().only(|i| i.n != 15),
    row("11111000 1100nnnn ttttiiii iiiiiiii", store(4, Offset), "str.w {t}, [{n}{o}]").plain("t").before().only(|i| i.n != 15),
    row("11111000 0000nnnn tttt1pvw iiiiiiii", store(1, Offset), "strb {t}, {mem}").plain("t").only(single),
    row("11111000 0010nnnn tttt1pvw iiiiiiii", store(2, Offset), "strh {t}, {mem}").plain("t").only(single),
    row("11111000 0100nnnn tttt1pvw iiiiiiii", store(4, Offset), "str {t}, {mem}").plain("t").only(single),
    row("11111000 0000nnnn tttt0000 00iimmmm", store(1, Register), "strb.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0).only(|i| i.n != 15),
    row("11111000 0010nnnn tttt0000 00iimmmm", store(2, Register), "strh.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0).only(|i| i.n != 15),
    row("11111000 0100nnnn tttt0000 00iimmmm", store(4, Register), "str.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0).only(|i| i.n != 15),
    // Loads: literals first.
    row("11111000 v0011111 ttttiiii iiiiiiii", load(1, false, Literal), "ldrb.w {t}, [pc, {#i}]").plain("t"),
    row("11111000 v0111111 ttttiiii iiiiiiii", load(2, false, Literal), "ldrh.w {t}, [pc, {#i}]").plain("t"),
    row("11111000 v1011111 ttttiiii iiiiiiii", load(4, false, Literal), "ldr.w {t}, [pc, {#i}]").plain("t"),
    row("11111001 v0011111 ttttiiii iiiiiiii", load(1, true, Literal), "ldrsb.w {t}, [pc, {#i}]").plain("t"),
    row("11111001 v0111111 ttttiiii iiiiiiii", load(2, true, Literal), "ldrsh.w {t}, [pc, {#i}]").plain("t"),
    row("11111000 1001nnnn ttttiiii iiiiiiii", load(1, false, Offset), "ldrb.w {t}, [{n}{o}]").plain("t").before(),
    row("11111000 1011nnnn ttttiiii iiiiiiii", load(2, false, Offset), "ldrh.w {t}, [{n}{o}]").plain("t").before(),
    row("11111000 1101nnnn ttttiiii iiiiiiii", load(4, false, Offset), "ldr.w {t}, [{n}{o}]").plain("t").before(),
    row("11111001 1001nnnn ttttiiii iiiiiiii", load(1, true, Offset), "ldrsb.w {t}, [{n}{o}]").plain("t").before(),
    row("11111001 1011nnnn ttttiiii iiiiiiii", load(2, true, Offset), "ldrsh.w {t}, [{n}{o}]").plain("t").before(),
    row("11111000 0001nnnn tttt1pvw iiiiiiii", load(1, false, Offset), "ldrb {t}, {mem}").plain("t").only(single),
    row("11111000 0011nnnn tttt1pvw iiiiiiii", load(2, false, Offset), "ldrh {t}, {mem}").plain("t").only(single),
    // The program counter that comes off the stack by itself is a return.
    row("11111000 01011101 11111011 00000100", Op::LoadMany { down: false }, "ldr pc, [sp], #4").base(13).back(),
    row("11111000 0101nnnn tttt1pvw iiiiiiii", load(4, false, Offset), "ldr {t}, {mem}").plain("t").only(single),
    row("11111001 0001nnnn tttt1pvw iiiiiiii", load(1, true, Offset), "ldrsb {t}, {mem}").plain("t").only(single),
    row("11111001 0011nnnn tttt1pvw iiiiiiii", load(2, true, Offset), "ldrsh {t}, {mem}").plain("t").only(single),
    row("11111000 0001nnnn tttt0000 00iimmmm", load(1, false, Register), "ldrb.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0),
    row("11111000 0011nnnn tttt0000 00iimmmm", load(2, false, Register), "ldrh.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0),
    row("11111000 0101nnnn tttt0000 00iimmmm", load(4, false, Register), "ldr.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0),
    row("11111001 0001nnnn tttt0000 00iimmmm", load(1, true, Register), "ldrsb.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0),
    row("11111001 0011nnnn tttt0000 00iimmmm", load(2, true, Register), "ldrsh.w {t}, [{n}, {m}{sh}]").plain("tm").kind(0),
    // Shifts by a register.
    row("11111010 000snnnn 1111dddd 0000mmmm", Op::ShiftBy(Shift::Left), "lsl{s}.w {d}, {n}, {m}").plain("dnm"),
    row("11111010 001snnnn 1111dddd 0000mmmm", Op::ShiftBy(Shift::Logical), "lsr{s}.w {d}, {n}, {m}").plain("dnm"),
    row("11111010 010snnnn 1111dddd 0000mmmm", Op::ShiftBy(Shift::Arithmetic), "asr{s}.w {d}, {n}, {m}").plain("dnm"),
    row("11111010 011snnnn 1111dddd 0000mmmm", Op::RotateBy, "ror{s}.w {d}, {n}, {m}").plain("dnm"),
    // Extensions.
    row("11111010 00001111 1111dddd 10zzmmmm", extend(16, true, false), "sxth.w {d}, {m}{ror}").plain("dm"),
    row("11111010 00011111 1111dddd 10zzmmmm", extend(16, false, false), "uxth.w {d}, {m}{ror}").plain("dm"),
    row("11111010 00101111 1111dddd 10zzmmmm", Op::ExtendPair { signed: true, adds: false }, "sxtb16 {d}, {m}{ror}").plain("dm"),
    row("11111010 00111111 1111dddd 10zzmmmm", Op::ExtendPair { signed: false, adds: false }, "uxtb16 {d}, {m}{ror}").plain("dm"),
    row("11111010 01001111 1111dddd 10zzmmmm", extend(8, true, false), "sxtb.w {d}, {m}{ror}").plain("dm"),
    row("11111010 01011111 1111dddd 10zzmmmm", extend(8, false, false), "uxtb.w {d}, {m}{ror}").plain("dm"),
    row("11111010 0000nnnn 1111dddd 10zzmmmm", extend(16, true, true), "sxtah {d}, {n}, {m}{ror}").plain("dnm"),
    row("11111010 0001nnnn 1111dddd 10zzmmmm", extend(16, false, true), "uxtah {d}, {n}, {m}{ror}").plain("dnm"),
    row("11111010 0010nnnn 1111dddd 10zzmmmm", Op::ExtendPair { signed: true, adds: true }, "sxtab16 {d}, {n}, {m}{ror}").plain("dnm"),
    row("11111010 0011nnnn 1111dddd 10zzmmmm", Op::ExtendPair { signed: false, adds: true }, "uxtab16 {d}, {n}, {m}{ror}").plain("dnm"),
    row("11111010 0100nnnn 1111dddd 10zzmmmm", extend(8, true, true), "sxtab {d}, {n}, {m}{ror}").plain("dnm"),
    row("11111010 0101nnnn 1111dddd 10zzmmmm", extend(8, false, true), "uxtab {d}, {n}, {m}{ror}").plain("dnm"),
    // Saturated sums, reversals.
    row("11111010 1000nnnn 1111dddd 1000mmmm", Op::Saturating { minus: false, doubles: false }, "qadd {d}, {m}, {n}").plain("dnm"),
    row("11111010 1000nnnn 1111dddd 1001mmmm", Op::Saturating { minus: false, doubles: true }, "qdadd {d}, {m}, {n}").plain("dnm"),
    row("11111010 1000nnnn 1111dddd 1010mmmm", Op::Saturating { minus: true, doubles: false }, "qsub {d}, {m}, {n}").plain("dnm"),
    row("11111010 1000nnnn 1111dddd 1011mmmm", Op::Saturating { minus: true, doubles: true }, "qdsub {d}, {m}, {n}").plain("dnm"),
    row("11111010 1001nnnn 1111dddd 1000mmmm", Op::Reverse, "rev.w {d}, {m}").plain("dm").only(once),
    row("11111010 1001nnnn 1111dddd 1001mmmm", Op::ReverseHalves, "rev16.w {d}, {m}").plain("dm").only(once),
    row("11111010 1001nnnn 1111dddd 1010mmmm", Op::ReverseBits, "rbit {d}, {m}").plain("dm").only(once),
    row("11111010 1001nnnn 1111dddd 1011mmmm", Op::ReverseLow, "revsh.w {d}, {m}").plain("dm").only(once),
    row("11111010 1011nnnn 1111dddd 1000mmmm", Op::LeadingZeros, "clz {d}, {m}").plain("dm").only(once),
    // Products.
    row("11111011 0000nnnn 1111dddd 0000mmmm", Op::Mul, "mul {d}, {n}, {m}").plain("dnm"),
    row("11111011 0000nnnn aaaadddd 0000mmmm", Op::Mla, "mla {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 0000nnnn aaaadddd 0001mmmm", Op::Mls, "mls {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 0001nnnn 1111dddd 00xymmmm", Op::Halves { adds: false }, "smul{xy} {d}, {n}, {m}").plain("dnm"),
    row("11111011 0001nnnn aaaadddd 00xymmmm", Op::Halves { adds: true }, "smla{xy} {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 0011nnnn 1111dddd 000ymmmm", Op::WordHalf { adds: false }, "smulw{y} {d}, {n}, {m}").plain("dnm"),
    row("11111011 0011nnnn aaaadddd 000ymmmm", Op::WordHalf { adds: true }, "smlaw{y} {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 0010nnnn 1111dddd 000xmmmm", Op::Dual { minus: false, adds: false }, "smuad{x} {d}, {n}, {m}").plain("dnm"),
    row("11111011 0010nnnn aaaadddd 000xmmmm", Op::Dual { minus: false, adds: true }, "smlad{x} {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 0100nnnn 1111dddd 000xmmmm", Op::Dual { minus: true, adds: false }, "smusd{x} {d}, {n}, {m}").plain("dnm"),
    row("11111011 0100nnnn aaaadddd 000xmmmm", Op::Dual { minus: true, adds: true }, "smlsd{x} {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 0101nnnn 1111dddd 000xmmmm", Op::Upper { adds: false, minus: false }, "smmul{xr} {d}, {n}, {m}").plain("dnm"),
    row("11111011 0101nnnn aaaadddd 000xmmmm", Op::Upper { adds: true, minus: false }, "smmla{xr} {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 0110nnnn aaaadddd 000xmmmm", Op::Upper { adds: true, minus: true }, "smmls{xr} {d}, {n}, {m}, {a}").plain("dnma"),
    row("11111011 1000nnnn aaaadddd 0000mmmm", Op::Long(Long::Signed), "smull {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1010nnnn aaaadddd 0000mmmm", Op::Long(Long::Unsigned), "umull {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1100nnnn aaaadddd 0000mmmm", Op::Long(Long::SignedAdd), "smlal {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1110nnnn aaaadddd 0000mmmm", Op::Long(Long::UnsignedAdd), "umlal {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1110nnnn aaaadddd 0110mmmm", Op::Long(Long::UnsignedTwice), "umaal {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1100nnnn aaaadddd 10xymmmm", Op::LongHalves, "smlal{xy} {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1100nnnn aaaadddd 110xmmmm", Op::LongDual { minus: false }, "smlald{x} {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1101nnnn aaaadddd 110xmmmm", Op::LongDual { minus: true }, "smlsld{x} {a}, {d}, {n}, {m}").plain("dnma").only(two),
    row("11111011 1001nnnn 1111dddd 1111mmmm", Op::Divide { signed: true }, "sdiv {d}, {n}, {m}").plain("dnm"),
    row("11111011 1011nnnn 1111dddd 1111mmmm", Op::Divide { signed: false }, "udiv {d}, {n}, {m}").plain("dnm"),
];

/// A list of floating-point registers of 32 bits; there are 32.
fn singles(i: &Instruction) -> bool {
    let count = i.immediate;
    i.n != 15 && count >= 1 && i64::from(i.last) + count <= 32
}

/// A list of those of 64 bits; there are 16. An odd count is another instruction.
fn doubles(i: &Instruction) -> bool {
    singles(i) && i.immediate % 2 == 0
}

/// An access with an offset of 8 bits: one of the two, or downwards.
fn single(i: &Instruction) -> bool {
    i.n != 15 && base(i) && (i.back || i.before && i.minus)
}

/// A plain move: of the stack pointer, or to it.
fn moved(i: &Instruction) -> bool {
    i.d != 15 && i.m != 15 && (i.d != 13 || i.m != 13)
}
