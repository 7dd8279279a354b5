//! Logic on whole registers, and choices bit by bit.

use super::Machine;
use crate::byte::Byte;
use crate::core::Fallible;
use crate::core::bits::{Bitwise, bitwise, is_mask};
use crate::fold::is_run;
use fARM64::{Mnemonic as M, Operand};

impl Machine<'_> {
    /// Bit by bit; with an immediate, of operand 0.
    pub(super) fn bitwise_vector(&mut self, m: M) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let size = s.size();
        if m == M::Mvn {
            let a = self.vector_bytes(1)?;
            return self.bits(Bitwise::Xor, &a, &vec![Byte::Const(0xff); size]);
        }
        if self.now.ins.op_count() == 2 {
            // The immediate, in each lane.
            let value = match self.now.ins.op(1) {
                Operand::ImmShiftedMove { imm, lsl } if s.lane <= 8 => u64::from(imm) << lsl,
                _ => return Err(self.form()),
            };
            let mask: Vec<Byte> = value.to_le_bytes()[..s.lane]
                .repeat(s.count)
                .into_iter()
                .map(|b| Byte::Const(if m == M::Bic { !b } else { b }))
                .collect();
            let a = self.vector_bytes(0)?;
            return match m {
                M::Orr => self.bits(Bitwise::Or, &a, &mask),
                M::Bic => self.bits(Bitwise::And, &a, &mask),
                _ => Err(self.form()),
            };
        }
        let (a, b) = (self.vector_bytes(1)?, self.vector_bytes(2)?);
        if a.len() != size || b.len() != size {
            return Err(self.form());
        }
        match m {
            M::Eor if self.is_same(1, 2) => self.set_vector(&vec![Byte::Const(0); size]),
            M::And | M::Orr if self.is_same(1, 2) => self.set_vector(&a),
            M::And => self.bits(Bitwise::And, &a, &b),
            M::Orr => self.bits(Bitwise::Or, &a, &b),
            M::Eor => self.bits(Bitwise::Xor, &a, &b),
            M::Bic => self.bits(Bitwise::AndNot, &b, &a),
            _ => {
                let mut other = vec![Byte::Undefined; size];
                bitwise(self.g, Bitwise::Xor, &b, &vec![Byte::Const(0xff); size], &mut other);
                self.bits(Bitwise::Or, &a, &other)
            }
        }
    }

    /// A bitwise operation into operand 0.
    pub(super) fn bits(&mut self, kind: Bitwise, a: &[Byte], b: &[Byte]) -> Fallible<()> {
        let mut out = vec![Byte::Undefined; a.len()];
        bitwise(self.g, kind, a, b, &mut out);
        self.set_vector(&out)
    }

    /// Bits of one of two operands, by those of a third: BSL by operand 0, BIT and BIF by operand 2 into
    /// operand 0.
    pub(super) fn choose(&mut self, m: M) -> Fallible<()> {
        let size = self.shape(0)?.1.size();
        let (old, a, b) = (self.vector_bytes(0)?, self.vector_bytes(1)?, self.vector_bytes(2)?);
        if a.len() != size || b.len() != size {
            return Err(self.form());
        }
        let (mask, yes, no) = match m {
            M::Bsl => (&old, &a, &b),
            M::Bit => (&b, &a, &old),
            _ => (&b, &old, &a),
        };
        let mut out = vec![Byte::Undefined; size];
        let mut at = 0;
        while at < size {
            // Where the mask is one condition over a lane, the lane is selected whole.
            let mut done = 0;
            for n in [8, 4, 2, 1] {
                if at.is_multiple_of(n)
                    && let Some((id, 0)) = is_run(&mask[at..at + n])
                    && usize::from(self.g.width(id)) == 8 * n
                    && is_mask(self.g, id)
                {
                    let top = self.g.slice(id, (8 * n - 1) as u8, 1);
                    self.apply(
                        &mut out[at..at + n],
                        &[&yes[at..at + n], &no[at..at + n]],
                        |g, x| g.select(top, x[0], x[1]),
                    );
                    done = n;
                    break;
                }
            }
            if done > 0 {
                at += done;
                continue;
            }
            // A part that ends where the next condition may begin.
            let n = 8 - at % 8;
            let n = match (1..n)
                .find(|&k| (at + k).is_multiple_of(2) && matches!(mask[at + k], Byte::Node(_, 0)))
            {
                Some(k) => k,
                None => n,
            };
            let range = at..at + n;
            self.choose_bits(
                &mask[range.clone()],
                &yes[range.clone()],
                &no[range.clone()],
                &mut out[range],
            );
            at += n;
        }
        self.set_vector(&out)
    }

    /// (mask & yes) | (!mask & no), of bytes.
    pub(super) fn choose_bits(
        &mut self,
        mask: &[Byte],
        yes: &[Byte],
        no: &[Byte],
        out: &mut [Byte],
    ) {
        let pad = |x: &[Byte]| -> [Byte; 8] {
            let mut whole = [Byte::Const(0); 8];
            whole[..x.len()].copy_from_slice(x);
            whole
        };
        let (mask, yes, no) = (pad(mask), pad(yes), pad(no));
        let (mut taken, mut left, mut r) =
            ([Byte::Undefined; 8], [Byte::Undefined; 8], [Byte::Undefined; 8]);
        bitwise(self.g, Bitwise::And, &mask, &yes, &mut taken);
        bitwise(self.g, Bitwise::AndNot, &mask, &no, &mut left);
        bitwise(self.g, Bitwise::Or, &taken, &left, &mut r);
        out.copy_from_slice(&r[..out.len()]);
    }
}
