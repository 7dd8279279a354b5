//! What instructions do, as the decoder's tables name it.

use crate::core::bits::Shift;

/// Operations of two operands, and moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Data {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sub,
    Sbc,
    Rsb,
    Mov,
    Mvn,
    /// Flags alone: of and, exclusive or, difference, sum.
    Tst,
    Teq,
    Cmp,
    Cmn,
}

/// The second operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Second {
    /// The immediate as it stands.
    Immediate,
    /// The immediate, expanded from 12 bits; it may make a carry.
    Expanded,
    /// Register m, moved.
    Register,
}

/// Bit fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    Insert,
    Clear,
    Signed,
    Unsigned,
}

/// Whole products of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Long {
    Signed,
    Unsigned,
    SignedAdd,
    UnsignedAdd,
    /// Adds both words.
    UnsignedTwice,
}

/// Sums of lanes: how they are kept in the lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keep {
    /// Wrapped; sets the GE flags, which nothing here reads.
    Wraps,
    /// Saturated.
    Saturates,
    /// Halved.
    Halves,
}

/// Which lanes are added and subtracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lanes {
    Add16,
    Sub16,
    Add8,
    Sub8,
    /// Low difference, high sum, the second operand's halves exchanged.
    Asx,
    /// Low sum, high difference, the second operand's halves exchanged too.
    Sax,
}

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Address {
    /// Register n and the immediate.
    Offset,
    /// Register n and register m, moved.
    Register,
    /// The place of the instruction, aligned to 4, plus 4 and the immediate.
    Literal,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Op {
    #[default]
    Nop,
    Data(Data, Second),
    /// m shifted by the low byte of another: n by m.
    ShiftBy(Shift),
    RotateBy,
    /// Sum or difference with an immediate of 12 bits, no flags.
    AddWide,
    SubWide,
    /// The address of a place near the instruction.
    Adr,
    /// A low half; a high half, beside the register's low one.
    Wide,
    Top,
    Field(Field),
    /// From that many bits, with the sign or not, register n added or not.
    Extend {
        bits: u8,
        signed: bool,
        adds: bool,
    },
    /// Two bytes to two halves.
    ExtendPair {
        signed: bool,
        adds: bool,
    },
    /// Bytes reversed: all, in halves, in the low half with its sign.
    Reverse,
    ReverseHalves,
    ReverseLow,
    ReverseBits,
    LeadingZeros,
    /// High half of one, low half of the other.
    PackBottomTop,
    PackTopBottom,
    Mul,
    Mla,
    Mls,
    Long(Long),
    /// Products of halves: of two, of a word and a half (its upper 32 bits); added to a or not.
    Halves {
        adds: bool,
    },
    WordHalf {
        adds: bool,
    },
    /// Bits of one or two registers to as many floating-point registers (from the last field on), and back.
    ToFloat {
        two: bool,
    },
    FromFloat {
        two: bool,
    },
    /// A floating-point register's bits to another.
    MoveFloat,
    /// So many floating-point registers, or a list of as many as the immediate says.
    LoadFloat {
        words: u8,
        at: Address,
    },
    StoreFloat {
        words: u8,
    },
    LoadFloats {
        down: bool,
    },
    StoreFloats {
        down: bool,
    },
    /// Both products of halves, added or subtracted.
    Dual {
        minus: bool,
        adds: bool,
    },
    /// Upper word of a product: alone, added, subtracted.
    Upper {
        adds: bool,
        minus: bool,
    },
    /// The same added to 64 bits.
    LongHalves,
    LongDual {
        minus: bool,
    },
    Lanes {
        lanes: Lanes,
        signed: bool,
        keep: Keep,
    },
    /// Saturated sums: m and n, m and twice n.
    Saturating {
        minus: bool,
        doubles: bool,
    },
    Saturate {
        signed: bool,
    },
    SaturatePair {
        signed: bool,
    },
    Divide {
        signed: bool,
    },
    /// One register of that many bytes.
    Load {
        size: u8,
        signed: bool,
        at: Address,
    },
    Store {
        size: u8,
        at: Address,
    },
    LoadPair,
    StorePair,
    /// A list of registers, upwards from n or downwards from it.
    LoadMany {
        down: bool,
    },
    StoreMany {
        down: bool,
    },
    Branch,
    BranchIf,
    CompareBranch {
        nonzero: bool,
    },
    Call,
    /// To a register, with or without a return address.
    Exchange {
        call: bool,
    },
    /// The next one to four instructions are conditional.
    IfThen,
}

impl Op {
    /// Whether it names floating-point registers.
    pub fn is_of_floats(self) -> bool {
        matches!(
            self,
            Op::ToFloat { .. }
                | Op::FromFloat { .. }
                | Op::MoveFloat
                | Op::LoadFloat { .. }
                | Op::StoreFloat { .. }
                | Op::LoadFloats { .. }
                | Op::StoreFloats { .. }
        )
    }
}
