//! The encodings of 16 bits.

use super::Instruction;
use super::row::{Row, row};
use crate::core::bits::Shift;
use crate::thumb::operation::{Address, Data, Op, Second};

const fn data(data: Data, second: Second) -> Op {
    Op::Data(data, second)
}

const fn load(size: u8, signed: bool, at: Address) -> Op {
    Op::Load { size, signed, at }
}

const fn store(size: u8, at: Address) -> Op {
    Op::Store { size, at }
}

/// Neither the stack pointer in both places nor the program counter.
fn high(i: &Instruction) -> bool {
    i.d != 15 && i.m != 15 && (i.d != 13 || i.m != 13)
}

use Data::*;
use Second::{Immediate, Register};

#[rustfmt::skip] // one row a line
pub(super) const ROWS: &[Row] = &[
    row("0000000000mmmddd", data(Mov, Register), "movs {d}, {m}").sets(),
    row("00000iiiiimmmddd", data(Mov, Register), "lsl{s} {d}, {m}, #{r}").kind(0).outside(),
    row("00001iiiiimmmddd", data(Mov, Register), "lsr{s} {d}, {m}, #{r}").kind(1).outside(),
    row("00010iiiiimmmddd", data(Mov, Register), "asr{s} {d}, {m}, #{r}").kind(2).outside(),
    row("0001100mmmnnnddd", data(Add, Register), "add{s} {d}, {n}, {m}").outside(),
    row("0001101mmmnnnddd", data(Sub, Register), "sub{s} {d}, {n}, {m}").outside(),
    row("0001110iiinnnddd", data(Add, Immediate), "add{s} {d}, {n}, #{i}").outside(),
    row("0001111iiinnnddd", data(Sub, Immediate), "sub{s} {d}, {n}, #{i}").outside(),
    row("00100dddiiiiiiii", data(Mov, Immediate), "mov{s} {d}, #{i}").outside(),
    row("00101nnniiiiiiii", data(Cmp, Immediate), "cmp {n}, #{i}").sets(),
    row("00110nnniiiiiiii", data(Add, Immediate), "add{s} {n}, #{i}").outside().into_n(),
    row("00111nnniiiiiiii", data(Sub, Immediate), "sub{s} {n}, #{i}").outside().into_n(),
    row("0100000000mmmnnn", data(And, Register), "and{s} {n}, {m}").outside().into_n(),
    row("0100000001mmmnnn", data(Eor, Register), "eor{s} {n}, {m}").outside().into_n(),
    row("0100000010mmmnnn", Op::ShiftBy(Shift::Left), "lsl{s} {n}, {m}").outside().into_n(),
    row("0100000011mmmnnn", Op::ShiftBy(Shift::Logical), "lsr{s} {n}, {m}").outside().into_n(),
    row("0100000100mmmnnn", Op::ShiftBy(Shift::Arithmetic), "asr{s} {n}, {m}").outside().into_n(),
    row("0100000101mmmnnn", data(Adc, Register), "adc{s} {n}, {m}").outside().into_n(),
    row("0100000110mmmnnn", data(Sbc, Register), "sbc{s} {n}, {m}").outside().into_n(),
    row("0100000111mmmnnn", Op::RotateBy, "ror{s} {n}, {m}").outside().into_n(),
    row("0100001000mmmnnn", data(Tst, Register), "tst {n}, {m}").sets(),
    row("0100001001nnnddd", data(Rsb, Immediate), "rsb{s} {d}, {n}, #0").outside(),
    row("0100001010mmmnnn", data(Cmp, Register), "cmp {n}, {m}").sets(),
    row("0100001011mmmnnn", data(Cmn, Register), "cmn {n}, {m}").sets(),
    row("0100001100mmmnnn", data(Orr, Register), "orr{s} {n}, {m}").outside().into_n(),
    row("0100001101nnnddd", Op::Mul, "mul{s} {d}, {n}, {d}").outside().same_as_d('m'),
    row("0100001110mmmnnn", data(Bic, Register), "bic{s} {n}, {m}").outside().into_n(),
    row("0100001111mmmddd", data(Mvn, Register), "mvn{s} {d}, {m}").outside(),
    // Beside the stack pointer these are printed as forms of their own.
    row("01000100d1101ddd", data(Add, Register), "add {d}, sp, {d}").base(13).same_as_d('m').plain("d"),
    row("01000100dmmmmddd", data(Add, Register), "add {d}, {m}").same_as_d('n').only(high),
    row("01000101nmmmmnnn", data(Cmp, Register), "cmp {n}, {m}").sets().only(|i| (i.n >= 8 || i.m >= 8) && i.n != 15 && i.m != 15 && i.m != 13),
    row("01000110dmmmmddd", data(Mov, Register), "mov {d}, {m}").only(high),
    row("010001110mmmm000", Op::Exchange { call: false }, "bx {m}").plain("m"),
    row("010001111mmmm000", Op::Exchange { call: true }, "blx {m}").plain("m"),
    row("01001tttiiiiiiii", load(4, false, Address::Literal), "ldr {t}, [pc, #{i}]").times(4),
    row("0101000mmmnnnttt", store(4, Address::Register), "str {t}, [{n}, {m}]"),
    row("0101001mmmnnnttt", store(2, Address::Register), "strh {t}, [{n}, {m}]"),
    row("0101010mmmnnnttt", store(1, Address::Register), "strb {t}, [{n}, {m}]"),
    row("0101011mmmnnnttt", load(1, true, Address::Register), "ldrsb {t}, [{n}, {m}]"),
    row("0101100mmmnnnttt", load(4, false, Address::Register), "ldr {t}, [{n}, {m}]"),
    row("0101101mmmnnnttt", load(2, false, Address::Register), "ldrh {t}, [{n}, {m}]"),
    row("0101110mmmnnnttt", load(1, false, Address::Register), "ldrb {t}, [{n}, {m}]"),
    row("0101111mmmnnnttt", load(2, true, Address::Register), "ldrsh {t}, [{n}, {m}]"),
    row("01100iiiiinnnttt", store(4, Address::Offset), "str {t}, [{n}{o}]").times(4).before(),
    row("01101iiiiinnnttt", load(4, false, Address::Offset), "ldr {t}, [{n}{o}]").times(4).before(),
    row("01110iiiiinnnttt", store(1, Address::Offset), "strb {t}, [{n}{o}]").before(),
    row("01111iiiiinnnttt", load(1, false, Address::Offset), "ldrb {t}, [{n}{o}]").before(),
    row("10000iiiiinnnttt", store(2, Address::Offset), "strh {t}, [{n}{o}]").times(2).before(),
    row("10001iiiiinnnttt", load(2, false, Address::Offset), "ldrh {t}, [{n}{o}]").times(2).before(),
    row("10010tttiiiiiiii", store(4, Address::Offset), "str {t}, [sp{o}]").times(4).base(13).before(),
    row("10011tttiiiiiiii", load(4, false, Address::Offset), "ldr {t}, [sp{o}]").times(4).base(13).before(),
    row("10100dddiiiiiiii", Op::Adr, "adr {d}, #{i}").times(4),
    row("10101dddiiiiiiii", data(Add, Immediate), "add {d}, sp, #{i}").times(4).base(13),
    row("101100000iiiiiii", data(Add, Immediate), "add sp, #{i}").times(4).base(13).into_n(),
    row("101100001iiiiiii", data(Sub, Immediate), "sub sp, #{i}").times(4).base(13).into_n(),
    row("101100i1iiiiinnn", Op::CompareBranch { nonzero: false }, "cbz {n}, #{i}").times(2),
    row("101110i1iiiiinnn", Op::CompareBranch { nonzero: true }, "cbnz {n}, #{i}").times(2),
    row("1011001000mmmddd", Op::Extend { bits: 16, signed: true, adds: false }, "sxth {d}, {m}"),
    row("1011001001mmmddd", Op::Extend { bits: 8, signed: true, adds: false }, "sxtb {d}, {m}"),
    row("1011001010mmmddd", Op::Extend { bits: 16, signed: false, adds: false }, "uxth {d}, {m}"),
    row("1011001011mmmddd", Op::Extend { bits: 8, signed: false, adds: false }, "uxtb {d}, {m}"),
    row("1011010Lllllllll", Op::StoreMany { down: true }, "push {l}").base(13).back().only(|i| i.list != 0),
    row("1011110Pllllllll", Op::LoadMany { down: false }, "pop {l}").base(13).back().only(|i| i.list != 0),
    row("1011101000mmmddd", Op::Reverse, "rev {d}, {m}"),
    row("1011101001mmmddd", Op::ReverseHalves, "rev16 {d}, {m}"),
    row("1011101011mmmddd", Op::ReverseLow, "revsh {d}, {m}"),
    row("1011111100000000", Op::Nop, "nop"),
    // A mask of zeros is a hint; "always" has no opposite.
    row("10111111cccciiii", Op::IfThen, "it{it} {c}").only(|i| i.immediate != 0 && i.condition != 15 && (i.condition != 14 || i.immediate.count_ones() == 1)),
    row("11000nnnllllllll", Op::StoreMany { down: false }, "stm {n}!, {l}").back().only(|i| i.list != 0 && i.list >> i.n & 1 == 0),
    row("11001nnnllllllll", Op::LoadMany { down: false }, "ldm {n}{!}, {l}").only(|i| i.list != 0),
    row("1101cccciiiiiiii", Op::BranchIf, "b{c} {#i}").only(|i| i.condition < 14),
    row("11100iiiiiiiiiii", Op::Branch, "b {#i}"),
];
