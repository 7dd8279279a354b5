//! EVEX encodings on xmm and ymm registers: moves, exclusive or, turns and logic of three operands, which is what Keccak
//! takes. Masks, rounding and 512 bits are refused, and so is every form that is not on the list.

use super::{Fallible, Machine, Wide};
use crate::byte::Byte;
use crate::core::bits::{Bitwise, bitwise, fill_unknown, rotate_right};
use crate::fold::{gather, scatter};
use iced_x86::{Code, Instruction, Mnemonic as M, Register};

/// The forms.
const FORMS: [Code; 24] = [
    Code::EVEX_Vmovdqa64_xmm_k1z_xmmm128,
    Code::EVEX_Vmovdqa64_ymm_k1z_ymmm256,
    Code::EVEX_Vmovdqa64_xmmm128_k1z_xmm,
    Code::EVEX_Vmovdqa64_ymmm256_k1z_ymm,
    Code::EVEX_Vmovdqu64_xmm_k1z_xmmm128,
    Code::EVEX_Vmovdqu64_ymm_k1z_ymmm256,
    Code::EVEX_Vmovdqu64_xmmm128_k1z_xmm,
    Code::EVEX_Vmovdqu64_ymmm256_k1z_ymm,
    Code::EVEX_Vmovq_xmm_rm64,
    Code::EVEX_Vmovq_rm64_xmm,
    Code::EVEX_Vmovq_xmm_xmmm64,
    Code::EVEX_Vmovq_xmmm64_xmm,
    Code::EVEX_Vmovsd_xmm_k1z_m64,
    Code::EVEX_Vmovsd_m64_k1_xmm,
    Code::EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32,
    Code::EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
    Code::EVEX_Vpxorq_xmm_k1z_xmm_xmmm128b64,
    Code::EVEX_Vpxorq_ymm_k1z_ymm_ymmm256b64,
    Code::EVEX_Vprolq_xmm_k1z_xmmm128b64_imm8,
    Code::EVEX_Vprolq_ymm_k1z_ymmm256b64_imm8,
    Code::EVEX_Vprorq_xmm_k1z_xmmm128b64_imm8,
    Code::EVEX_Vprorq_ymm_k1z_ymmm256b64_imm8,
    Code::EVEX_Vpternlogq_xmm_k1z_xmm_xmmm128b64_imm8,
    Code::EVEX_Vpternlogq_ymm_k1z_ymm_ymmm256b64_imm8,
];

/// Whether the form is on the list, and uses none of what EVEX adds besides registers and broadcasts.
pub(super) fn accepted(ins: &Instruction) -> bool {
    FORMS.contains(&ins.code())
        && ins.op_mask() == Register::None
        && !ins.zeroing_masking()
        && !ins.suppress_all_exceptions()
        && ins.rounding_control() == iced_x86::RoundingControl::None
}

impl Machine<'_> {
    /// What has no VEX form.
    pub(super) fn evex(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Vprolq => self.turn_vector(true)?,
            M::Vprorq => self.turn_vector(false)?,
            M::Vpternlogq => self.ternary()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lanes of 64 bits turned by an immediate, of which six bits count.
    fn turn_vector(&mut self, left: bool) -> Fallible<()> {
        let (size, a) = self.source()?;
        let count = u64::from(self.imm8()? & 63);
        let right = if left { (64 - count) % 64 } else { count };
        let mut out = [Byte::Undefined; 32];
        for at in (0..size).step_by(8) {
            let lane = at..at + 8;
            if self.g.knows_nothing(&a[lane.clone()]) {
                fill_unknown(self.g, &mut out[lane]);
            } else if let Some(x) = gather(self.g, &a[lane.clone()]) {
                let r = rotate_right(self.g, x, right);
                scatter(self.g, r, &mut out[lane]);
            }
        }
        self.set_vector(0, &out, size)
    }

    /// Bit by bit, bit 4a + 2b + c of the immediate, of operands 0, 1 and 2: as the exclusive or of products of operands
    /// (Reed and Muller's form), so that what the result does not depend on is not looked at.
    fn ternary(&mut self) -> Fallible<()> {
        let size = self.vector_size(0);
        if !self.is_vector(0) || !self.is_vector(1) {
            return Err(self.unsupported("operand form"));
        }
        let operands: [Wide; 3] = [
            self.vector_operand(2, size)?,
            self.vector_operand(1, size)?,
            self.vector_operand(0, size)?,
        ];
        let mut out = [Byte::Const(0); 32];
        for (product, wanted) in products(self.imm8()?).into_iter().enumerate() {
            if !wanted {
                continue;
            }
            let mut term = [Byte::Const(0xff); 32];
            for (_, operand) in operands.iter().enumerate().filter(|(i, _)| product >> i & 1 == 1) {
                let so_far = term;
                bitwise(self.g, Bitwise::And, &so_far[..size], &operand[..size], &mut term[..size]);
            }
            let so_far = out;
            bitwise(self.g, Bitwise::Xor, &so_far[..size], &term[..size], &mut out[..size]);
        }
        self.set_vector(0, &out, size)
    }
}

/// Which products of variables a function of three bits is the exclusive or of, by the table of its values: product p
/// is of the variables that are bits of p.
fn products(table: u8) -> [bool; 8] {
    let mut form: [bool; 8] = std::array::from_fn(|i| table >> i & 1 == 1);
    for variable in [1, 2, 4] {
        for i in 0..8 {
            if i & variable != 0 {
                form[i] ^= form[i ^ variable];
            }
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::products;

    #[test]
    fn every_table_is_the_sum_of_its_products() {
        for table in 0..=255_u8 {
            let form = products(table);
            for x in 0..8 {
                let sum = (0..8).filter(|&p| form[p] && p & x == p).count() % 2;
                assert_eq!(sum == 1, table >> x & 1 == 1, "table {table:#04x} at {x}");
            }
        }
    }
}
