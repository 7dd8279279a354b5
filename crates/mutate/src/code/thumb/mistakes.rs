//! Words that are taken for others: bits that are changed in encodings of Thumb.

use crate::mutant::Class::{self, *};

/// A change of an encoding.
pub struct Mistake {
    pub class: Class,
    /// Which words it is made in: these bits have this value, and the four from `not` on are not all set.
    mask: u32,
    value: u32,
    not: Option<u32>,
    /// Bits that are inverted.
    flip: u32,
}

const fn mistake(class: Class, mask: u32, value: u32, flip: u32) -> Mistake {
    Mistake { class, mask, value, not: None, flip }
}

impl Mistake {
    /// Of words whose four bits from `shift` on are not all set, which is another instruction.
    const fn unless(self, shift: u32) -> Mistake {
        Mistake { not: Some(shift), ..self }
    }

    /// The word after it.
    pub fn of(&self, word: u32) -> Option<u32> {
        let other = self.not.is_none_or(|shift| word >> shift & 15 != 15);
        (word & self.mask == self.value && other).then_some(word ^ self.flip)
    }
}

/// No operation, narrow and wide.
pub const NOP: [u32; 2] = [0xbf00, 0xf3af_8000];

/// Those of 32 bits, the first half highest.
#[rustfmt::skip] // one a line
pub static WIDE: &[Mistake] = &[
    // smuad, smlad, smusd, smlsd: x, the sign, the sum.
    mistake(Shuffle, 0xffb0_00e0, 0xfb20_0000, 0x10),
    mistake(Shuffle, 0xfff0_00e0, 0xfb40_0000, 0x10),
    mistake(AddSubtract, 0xfff0_00e0, 0xfb20_0000, 0x0060_0000),
    mistake(AddSubtract, 0xfff0_00e0, 0xfb40_0000, 0x0060_0000),
    mistake(MultiplyKind, 0xfff0_00e0, 0xfb20_0000, 0x0030_0000),
    // smulXY, smlaXY: the halves.
    mistake(ElementIndex, 0xfff0_00c0, 0xfb10_0000, 0x20),
    mistake(ElementIndex, 0xfff0_00c0, 0xfb10_0000, 0x10),
    mistake(MultiplyKind, 0xfff0_00c0, 0xfb10_0000, 0x0030_0000),
    // smulwY, smlawY.
    mistake(ElementIndex, 0xfff0_00e0, 0xfb30_0000, 0x10),
    // smmul, smmla, smmls: rounding, the sign.
    mistake(Rounding, 0xfff0_00e0, 0xfb50_0000, 0x10),
    mistake(Rounding, 0xfff0_00e0, 0xfb60_0000, 0x10),
    mistake(AddSubtract, 0xfff0_00e0, 0xfb50_0000, 0x0030_0000).unless(12),
    mistake(AddSubtract, 0xfff0_00e0, 0xfb60_0000, 0x0030_0000),
    // smull, umull, smlal, umlal.
    mistake(Signedness, 0xff90_00f0, 0xfb80_0000, 0x0020_0000),
    mistake(MultiplyKind, 0xff90_00f0, 0xfb80_0000, 0x0040_0000),
    // mul, mla, mls.
    mistake(AddSubtract, 0xfff0_00e0, 0xfb00_0000, 0x10).unless(12),
    mistake(MultiplyKind, 0xfff0_f0f0, 0xfb00_f000, 0x0050_0000),
    // Sums of lanes: the sign, exchanged halves, bytes, saturation.
    mistake(AddSubtract, 0xffb0_f080, 0xfa90_f000, 0x0040_0000),
    mistake(Shuffle, 0xffb0_f080, 0xfa90_f000, 0x0030_0000),
    mistake(ElementWidth, 0xffb0_f080, 0xfa90_f000, 0x0010_0000),
    mistake(Signedness, 0xffb0_f0b0, 0xfa90_f000, 0x10),
    mistake(Rounding, 0xffb0_f0b0, 0xfa90_f000, 0x20),
    // pkhbt and pkhtb, by how much.
    mistake(Shuffle, 0xfff0_8010, 0xeac0_0000, 0x20),
    mistake(ShiftCount, 0xfff0_8010, 0xeac0_0000, 0x40),
    mistake(ShiftCount, 0xfff0_8010, 0xeac0_0000, 0x4000),
    // Fields and extensions.
    mistake(Signedness, 0xff70_8020, 0xf340_0000, 0x0080_0000),
    mistake(ShiftCount, 0xff70_8020, 0xf340_0000, 0x40),
    mistake(ElementWidth, 0xff70_8020, 0xf340_0000, 0x1),
    mistake(ShiftCount, 0xfff0_8020, 0xf360_0000, 0x40),
    mistake(Signedness, 0xffe0_f080, 0xfa00_f080, 0x0010_0000),
    mistake(ElementIndex, 0xffe0_f080, 0xfa00_f080, 0x20),
    // Words: sums, logic, shifts.
    mistake(AddSubtract, 0xffe0_8000, 0xeb00_0000, 0x00a0_0000),
    mistake(AddSubtract, 0xffe0_8000, 0xeba0_0000, 0x00a0_0000),
    mistake(OperandOrder, 0xffe0_8000, 0xeba0_0000, 0x0060_0000),
    mistake(Logic, 0xffe0_8000, 0xea00_0000, 0x0040_0000),
    mistake(Logic, 0xffe0_8000, 0xea40_0000, 0x00c0_0000).unless(16),
    mistake(Logic, 0xffe0_8000, 0xea80_0000, 0x0080_0000),
    mistake(Signedness, 0xfe00_8030, 0xea00_0010, 0x30),
    mistake(Signedness, 0xfe00_8030, 0xea00_0020, 0x30),
    mistake(ShiftCount, 0xffe0_8000, 0xeb00_0000, 0x40),
    mistake(ShiftCount, 0xffef_8000, 0xea4f_0000, 0x40),
    // Words with constants.
    mistake(AddSubtract, 0xfbe0_8000, 0xf100_0000, 0x00a0_0000),
    mistake(AddSubtract, 0xfbe0_8000, 0xf1a0_0000, 0x00a0_0000),
    mistake(ImmediateConstant, 0xfa00_8000, 0xf000_0000, 0x1),
    mistake(ImmediateConstant, 0xfb70_8000, 0xf240_0000, 0x1),
    mistake(ImmediateConstant, 0xfb70_8000, 0xf240_0000, 0x10),
    mistake(ImmediateConstant, 0xfb50_8000, 0xf200_0000, 0x4),
    // Loads and stores: the offset, the sign, the width.
    mistake(Displacement, 0xff70_0000, 0xf850_0000, 0x4).unless(16),
    mistake(Displacement, 0xff90_0000, 0xf890_0000, 0x2).unless(16),
    mistake(Displacement, 0xfff0_0000, 0xf8c0_0000, 0x4),
    mistake(Displacement, 0xfe50_0000, 0xe850_0000, 0x1).unless(16),
    mistake(Signedness, 0xfe70_0000, 0xf830_0000, 0x0100_0000).unless(16),
    mistake(ElementWidth, 0xfff0_0000, 0xf8d0_0000, 0x0060_0000).unless(16),
    mistake(ElementWidth, 0xfff0_0000, 0xf8c0_0000, 0x0060_0000),
    // Conditions of jumps; what the caller's registers are loaded from.
    mistake(Condition, 0xf800_d000, 0xf000_8000, 0x0040_0000).unless(22),
    mistake(Restore, 0xffff_0030, 0xe8bd_0010, 0x30),
    mistake(Restore, 0xffff_0300, 0xe8bd_0100, 0x300),
];

/// Those of 16 bits.
#[rustfmt::skip] // one a line
pub static NARROW: &[Mistake] = &[
    mistake(AddSubtract, 0xf800, 0x1800, 0x200),
    mistake(AddSubtract, 0xf000, 0x3000, 0x800),
    mistake(ImmediateConstant, 0xf800, 0x2000, 0x1),
    mistake(ImmediateConstant, 0xfc00, 0x1c00, 0x40),
    mistake(ImmediateConstant, 0xf000, 0x3000, 0x1),
    mistake(LoopBound, 0xf800, 0x2800, 0x1),
    mistake(ShiftCount, 0xf800, 0x0000, 0x40),
    mistake(ShiftCount, 0xf800, 0x0800, 0x40),
    mistake(ShiftCount, 0xf800, 0x1000, 0x40),
    mistake(Signedness, 0xf800, 0x0800, 0x1800),
    mistake(Signedness, 0xf800, 0x1000, 0x1800),
    mistake(Signedness, 0xff40, 0xb200, 0x80),
    mistake(ElementWidth, 0xff40, 0xb200, 0x40),
    mistake(Logic, 0xffc0, 0x4000, 0x300),
    mistake(Logic, 0xffc0, 0x4040, 0x340),
    mistake(Logic, 0xffc0, 0x4300, 0x300),
    mistake(Logic, 0xffc0, 0x4380, 0x380),
    mistake(MultiplyKind, 0xffc0, 0x4340, 0x100),
    mistake(Displacement, 0xe000, 0x6000, 0x40),
    mistake(Displacement, 0xf000, 0x8000, 0x40),
    mistake(Displacement, 0xf000, 0x9000, 0x1),
    mistake(Condition, 0xf000, 0xd000, 0x100),
    mistake(Restore, 0xfe30, 0xbc10, 0x30),
];

/// Stores of one register or two, narrow and wide: mask and value.
pub static STORES: [&[(u32, u32)]; 2] = [
    &[
        (0xf800, 0x6000),
        (0xf800, 0x7000),
        (0xf800, 0x8000),
        (0xf800, 0x9000),
        (0xfe00, 0x5000),
        (0xfe00, 0x5200),
    ],
    &[(0xff90_0000, 0xf880_0000), (0xff90_0000, 0xf800_0000), (0xff50_0000, 0xe940_0000)],
];

/// Sums of lanes, and products: their operands are registers from 16 and from 0 on, mask and value.
pub static OPERANDS: [(u32, u32); 2] = [(0xffb0_f080, 0xfa90_f000), (0xff80_0000, 0xfb00_0000)];
