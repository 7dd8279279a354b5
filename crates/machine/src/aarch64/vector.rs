//! Lane-wise vector arithmetic, with every rounding and saturation explicit.

use super::Machine;
use super::words::{
    average_signed, distance, doubled_high, doubled_long, down, halved, rounded, spread, widened,
};
use crate::byte::Byte;
use crate::core::Fallible;
use crate::core::arith::{absolute, average, minimum, product, product_unsigned, saturating};
use crate::core::bits::{Shift, shift, shift_lane};
use crate::fold::{gather, scatter, signed};
use crate::graph::{Graph, NodeId};
use fARM64::{Instruction, Mnemonic as M, Operand};

impl Machine<'_> {
    pub(super) fn vector(&mut self, ins: &Instruction) -> Fallible<bool> {
        let m = ins.mnemonic();
        match m {
            M::Add => self.lanewise(Graph::add)?,
            M::Sub if self.is_same(1, 2) => self.lanewise_same(0)?,
            M::Sub => self.lanewise(Graph::sub)?,
            M::Mul => self.lanewise(Graph::mul)?,
            M::Mla => self.accumulating(|g, c, a, b| {
                let p = g.mul(a, b);
                g.add(c, p)
            })?,
            M::Mls => self.accumulating(|g, c, a, b| {
                let p = g.mul(a, b);
                g.sub(c, p)
            })?,
            M::Sqdmulh => self.lanewise(|g, a, b| doubled_high(g, a, b, false))?,
            M::Sqrdmulh => self.lanewise(|g, a, b| doubled_high(g, a, b, true))?,
            M::Neg => self.mapped(Graph::neg)?,
            M::Fneg => {
                // With it set, what is no number keeps its sign.
                self.assume("FPCR.AH is clear, as in every program at its start".into());
                self.mapped(|g, a| {
                    let sign = g.constant(g.width(a), 1 << (g.width(a) - 1));
                    g.xor(a, sign)
                })?;
            }
            M::Abs => self.mapped(absolute)?,
            M::Sabd => self.narrow_lanes(|g, a, b| distance(g, a, b, true))?,
            M::Uabd => self.narrow_lanes(|g, a, b| distance(g, a, b, false))?,
            M::Saba | M::Uaba => self.accumulating(|g, c, a, b| {
                let d = distance(g, a, b, m == M::Saba);
                g.add(c, d)
            })?,
            M::Shadd => self.narrow_lanes(|g, a, b| halved(g, a, b, false, true))?,
            M::Uhadd => self.narrow_lanes(|g, a, b| halved(g, a, b, false, false))?,
            M::Shsub => self.narrow_lanes(|g, a, b| halved(g, a, b, true, true))?,
            M::Uhsub => self.narrow_lanes(|g, a, b| halved(g, a, b, true, false))?,
            M::Srhadd => self.narrow_lanes(average_signed)?,
            M::Urhadd => self.narrow_lanes(average)?,
            M::Sqadd => self.narrow_lanes(|g, a, b| saturating(g, a, b, false, true))?,
            M::Uqadd => self.narrow_lanes(|g, a, b| saturating(g, a, b, false, false))?,
            M::Sqsub => self.narrow_lanes(|g, a, b| saturating(g, a, b, true, true))?,
            M::Uqsub => self.narrow_lanes(|g, a, b| saturating(g, a, b, true, false))?,
            M::Smin | M::Smax | M::Umin | M::Umax => {
                let (max, is_signed) = extreme(m);
                self.lanewise(|g, a, b| minimum(g, a, b, max, is_signed))?;
            }
            M::Sminp | M::Smaxp | M::Uminp | M::Umaxp => {
                let (max, is_signed) = extreme(m);
                self.pairs(|g, a, b| minimum(g, a, b, max, is_signed))?;
            }
            M::Sminv | M::Smaxv | M::Uminv | M::Umaxv => {
                let (max, is_signed) = extreme(m);
                self.across(None, |g, a, b| minimum(g, a, b, max, is_signed))?;
            }
            M::Addp => self.pairs(Graph::add)?,
            M::Addv => self.across(None, Graph::add)?,
            M::Saddlv => self.across(Some(true), Graph::add)?,
            M::Uaddlv => self.across(Some(false), Graph::add)?,
            M::Saddlp | M::Uaddlp | M::Sadalp | M::Uadalp => {
                self.long_pairs(
                    matches!(m, M::Saddlp | M::Sadalp),
                    matches!(m, M::Sadalp | M::Uadalp),
                )?;
            }
            M::Cmeq => self.lanewise(|g, a, b| spread(g, a, b, Graph::eq))?,
            M::Cmgt => self.lanewise(|g, a, b| spread(g, b, a, Graph::slt))?,
            M::Cmlt => self.lanewise(|g, a, b| spread(g, a, b, Graph::slt))?,
            M::Cmhi => self.lanewise(|g, a, b| spread(g, b, a, Graph::ult))?,
            M::Cmge => self.lanewise(|g, a, b| {
                spread(g, a, b, |g, a, b| {
                    let less = g.slt(a, b);
                    g.not(less)
                })
            })?,
            M::Cmle => self.lanewise(|g, a, b| {
                spread(g, b, a, |g, b, a| {
                    let less = g.slt(b, a);
                    g.not(less)
                })
            })?,
            M::Cmhs => self.lanewise(|g, a, b| {
                spread(g, a, b, |g, a, b| {
                    let less = g.ult(a, b);
                    g.not(less)
                })
            })?,
            M::Cmtst => self.lanewise(|g, a, b| {
                spread(g, a, b, |g, a, b| {
                    let both = g.and(a, b);
                    let zero = g.constant(g.width(a), 0);
                    let none = g.eq(both, zero);
                    g.not(none)
                })
            })?,
            M::And | M::Orr | M::Eor | M::Bic | M::Orn | M::Mvn => self.bitwise_vector(m)?,
            M::Bsl | M::Bit | M::Bif => self.choose(m)?,
            M::Sshr | M::Ushr | M::Srshr | M::Urshr => {
                let by = self.right(1)?;
                let is_signed = matches!(m, M::Sshr | M::Srshr);
                if matches!(m, M::Sshr | M::Ushr) {
                    self.shift_lanes(
                        if is_signed { Shift::Arithmetic } else { Shift::Logical },
                        by,
                    )?;
                } else {
                    self.mapped(|g, a| rounded(g, a, by, is_signed))?;
                }
            }
            M::Ssra | M::Usra | M::Srsra | M::Ursra => {
                let by = self.right(1)?;
                let (rounds, is_signed) =
                    (matches!(m, M::Srsra | M::Ursra), matches!(m, M::Ssra | M::Srsra));
                self.joined_with_old(|g, old, a| {
                    let r = down(g, a, by, rounds, is_signed);
                    g.add(old, r)
                })?;
            }
            M::Shl => {
                let by = self.left()?;
                self.shift_lanes(Shift::Left, by)?;
            }
            M::Sli => {
                let by = self.left()?;
                self.joined_with_old(|g, old, a| {
                    if by == 0 {
                        return a;
                    }
                    let (low, high) = (g.slice(old, 0, by), g.slice(a, 0, g.width(a) - by));
                    g.concat(&[low, high])
                })?;
            }
            M::Sri => {
                let by = self.right(1)?;
                self.joined_with_old(|g, old, a| {
                    let w = g.width(a);
                    if by == w {
                        return old;
                    }
                    let (low, high) = (g.slice(a, by, w - by), g.slice(old, w - by, by));
                    g.concat(&[low, high])
                })?;
            }
            M::Sshl | M::Ushl => self.shift_by_lanes(m == M::Sshl)?,
            M::Sxtl
            | M::Sxtl2
            | M::Uxtl
            | M::Uxtl2
            | M::Sshll
            | M::Sshll2
            | M::Ushll
            | M::Ushll2
            | M::Shll
            | M::Shll2 => self.extend_lanes(m)?,
            M::Xtn | M::Xtn2 => self.narrow(m == M::Xtn2, 1, |g, x| {
                let w = g.width(x[0]) / 2;
                g.slice(x[0], 0, w)
            })?,
            M::Sqxtn | M::Sqxtn2 => self.narrow(m == M::Sqxtn2, 1, |g, x| {
                let w = g.width(x[0]) / 2;
                g.sat_s(x[0], w)
            })?,
            M::Sqxtun | M::Sqxtun2 => self.narrow(m == M::Sqxtun2, 1, |g, x| {
                let w = g.width(x[0]) / 2;
                g.sat_u(x[0], w)
            })?,
            M::Uqxtn | M::Uqxtn2 => self.narrow(m == M::Uqxtn2, 1, |g, x| {
                let w = g.width(x[0]) / 2;
                let most = g.constant(2 * w, crate::fold::mask(w));
                let r = minimum(g, x[0], most, false, false);
                g.slice(r, 0, w)
            })?,
            M::Shrn | M::Shrn2 | M::Rshrn | M::Rshrn2 => {
                let by = self.right_narrow()?;
                let rounds = matches!(m, M::Rshrn | M::Rshrn2);
                self.narrow(matches!(m, M::Shrn2 | M::Rshrn2), 1, |g, x| {
                    let w = g.width(x[0]) / 2;
                    // What is rounded up beyond the wide lane is cut off here in any case.
                    let mut a = x[0];
                    if rounds {
                        let half = g.constant(2 * w, 1 << (by - 1));
                        a = g.add(a, half);
                    }
                    g.slice(a, by, w)
                })?;
            }
            M::Sqshrn
            | M::Sqshrn2
            | M::Sqrshrn
            | M::Sqrshrn2
            | M::Sqshrun
            | M::Sqshrun2
            | M::Sqrshrun
            | M::Sqrshrun2 => {
                let by = self.right_narrow()?;
                let rounds = matches!(m, M::Sqrshrn | M::Sqrshrn2 | M::Sqrshrun | M::Sqrshrun2);
                let unsigned = matches!(m, M::Sqshrun | M::Sqshrun2 | M::Sqrshrun | M::Sqrshrun2);
                let upper = matches!(m, M::Sqshrn2 | M::Sqrshrn2 | M::Sqshrun2 | M::Sqrshrun2);
                self.narrow(upper, 1, |g, x| {
                    let w = g.width(x[0]) / 2;
                    let r = down(g, x[0], by, rounds, true);
                    if unsigned { g.sat_u(r, w) } else { g.sat_s(r, w) }
                })?;
            }
            M::Addhn
            | M::Addhn2
            | M::Raddhn
            | M::Raddhn2
            | M::Subhn
            | M::Subhn2
            | M::Rsubhn
            | M::Rsubhn2 => {
                let rounds = matches!(m, M::Raddhn | M::Raddhn2 | M::Rsubhn | M::Rsubhn2);
                let minus = matches!(m, M::Subhn | M::Subhn2 | M::Rsubhn | M::Rsubhn2);
                let upper = matches!(m, M::Addhn2 | M::Raddhn2 | M::Subhn2 | M::Rsubhn2);
                self.narrow(upper, 2, |g, x| {
                    let w = g.width(x[0]) / 2;
                    let mut r = if minus { g.sub(x[0], x[1]) } else { g.add(x[0], x[1]) };
                    if rounds {
                        let half = g.constant(2 * w, 1 << (w - 1));
                        r = g.add(r, half);
                    }
                    g.slice(r, w, w)
                })?;
            }
            _ => return self.long_arithmetic(m),
        }
        Ok(true)
    }

    /// Results of twice the operands' width.
    fn long_arithmetic(&mut self, m: M) -> Fallible<bool> {
        let times = |g: &mut Graph, a, b| {
            let w = 2 * g.width(a);
            product(g, a, b, w)
        };
        let times_unsigned = |g: &mut Graph, a, b| {
            let w = 2 * g.width(a);
            product_unsigned(g, a, b, w)
        };
        let plus: Option<fn(&mut Graph, NodeId, NodeId) -> NodeId> = Some(Graph::add);
        let minus: Option<fn(&mut Graph, NodeId, NodeId) -> NodeId> = Some(Graph::sub);
        let upper = matches!(
            m,
            M::Smull2
                | M::Umull2
                | M::Sqdmull2
                | M::Smlal2
                | M::Umlal2
                | M::Smlsl2
                | M::Umlsl2
                | M::Saddl2
                | M::Uaddl2
                | M::Ssubl2
                | M::Usubl2
                | M::Saddw2
                | M::Uaddw2
                | M::Ssubw2
                | M::Usubw2
                | M::Sabdl2
                | M::Uabdl2
                | M::Sabal2
                | M::Uabal2
        );
        match m {
            M::Smull | M::Smull2 => self.long(upper, false, times, None)?,
            M::Umull | M::Umull2 => self.long(upper, false, times_unsigned, None)?,
            M::Sqdmull | M::Sqdmull2 => self.long(upper, false, doubled_long, None)?,
            M::Smlal | M::Smlal2 => self.long(upper, false, times, plus)?,
            M::Umlal | M::Umlal2 => self.long(upper, false, times_unsigned, plus)?,
            M::Smlsl | M::Smlsl2 => self.long(upper, false, times, minus)?,
            M::Umlsl | M::Umlsl2 => self.long(upper, false, times_unsigned, minus)?,
            M::Saddl
            | M::Saddl2
            | M::Uaddl
            | M::Uaddl2
            | M::Ssubl
            | M::Ssubl2
            | M::Usubl
            | M::Usubl2 => {
                let is_signed = matches!(m, M::Saddl | M::Saddl2 | M::Ssubl | M::Ssubl2);
                let subtracts = matches!(m, M::Ssubl | M::Ssubl2 | M::Usubl | M::Usubl2);
                self.long(
                    upper,
                    false,
                    |g, a, b| {
                        let (a, b) = widened(g, a, b, is_signed);
                        if subtracts { g.sub(a, b) } else { g.add(a, b) }
                    },
                    None,
                )?;
            }
            M::Saddw
            | M::Saddw2
            | M::Uaddw
            | M::Uaddw2
            | M::Ssubw
            | M::Ssubw2
            | M::Usubw
            | M::Usubw2 => {
                let is_signed = matches!(m, M::Saddw | M::Saddw2 | M::Ssubw | M::Ssubw2);
                let subtracts = matches!(m, M::Ssubw | M::Ssubw2 | M::Usubw | M::Usubw2);
                self.long(
                    upper,
                    true,
                    |g, a, b| {
                        let w = g.width(a);
                        let b = if is_signed { g.sext(b, w) } else { g.zext(b, w) };
                        if subtracts { g.sub(a, b) } else { g.add(a, b) }
                    },
                    None,
                )?;
            }
            M::Sabdl
            | M::Sabdl2
            | M::Uabdl
            | M::Uabdl2
            | M::Sabal
            | M::Sabal2
            | M::Uabal
            | M::Uabal2 => {
                let is_signed = matches!(m, M::Sabdl | M::Sabdl2 | M::Sabal | M::Sabal2);
                let joins = matches!(m, M::Sabal | M::Sabal2 | M::Uabal | M::Uabal2);
                self.long(
                    upper,
                    false,
                    |g, a, b| {
                        let (a, b) = widened(g, a, b, is_signed);
                        distance(g, a, b, true)
                    },
                    if joins { plus } else { None },
                )?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lane-wise on lanes of at most 32 bits: what is computed at twice the width.
    fn narrow_lanes(&mut self, f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId) -> Fallible<()> {
        if self.shape(0)?.1.lane == 8 {
            return Err(self.form());
        }
        self.lanewise(f)
    }

    /// Whether two operands are one register.
    pub(super) fn is_same(&self, i: usize, j: usize) -> bool {
        let (a, b) = (self.now.ins.op(i), self.now.ins.op(j));
        a == b && matches!(a, Operand::Reg { lane: None, .. })
    }

    /// The same byte everywhere, whatever the operands hold.
    fn lanewise_same(&mut self, byte: u8) -> Fallible<()> {
        let size = self.shape(0)?.1.size();
        self.set_vector(&vec![Byte::Const(byte); size])
    }

    /// The count of a shift to the right, operand `i` + 1: 1 to the width of operand `i`'s lanes.
    fn right(&self, i: usize) -> Fallible<u8> {
        let width = 8 * self.shape(i)?.1.lane as u64;
        let by = self.immediate(i + 1)?;
        if (1..=width).contains(&by) { Ok(by as u8) } else { Err(self.form()) }
    }

    /// The same, at most the width of the narrow lanes.
    fn right_narrow(&self) -> Fallible<u8> {
        let width = 8 * self.shape(0)?.1.lane as u64;
        let by = self.immediate(2)?;
        if (1..=width).contains(&by) { Ok(by as u8) } else { Err(self.form()) }
    }

    /// The count of a shift to the left, operand 2: less than the width.
    fn left(&self) -> Fallible<u8> {
        let width = 8 * self.shape(0)?.1.lane as u64;
        let by = self.immediate(2)?;
        if by < width { Ok(by as u8) } else { Err(self.form()) }
    }

    /// Shifts by a constant; bytes that are shifted out may be undefined.
    fn shift_lanes(&mut self, kind: Shift, by: u8) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let a = self.lanes(1, s.lane, s.count)?;
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            let x = a.get(k);
            if usize::from(by) < 8 * s.lane && self.g.knows_nothing(x) {
                crate::core::bits::fill_unknown(self.g, lane);
            } else if let Some(r) = shift_lane(self.g, kind, x, by.into()) {
                scatter(self.g, r, lane);
            }
        }
        self.set_vector(&out)
    }

    /// `f` on each lane of operands 0 and 1.
    fn joined_with_old(
        &mut self,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let (old, a) = (self.lanes(0, s.lane, s.count)?, self.lanes(1, s.lane, s.count)?);
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            self.apply(lane, &[old.get(k), a.get(k)], |g, x| f(g, x[0], x[1]));
        }
        self.set_vector(&out)
    }

    /// Shifts by the low byte of operand 2's lanes, to the right where it is negative. The counts must
    /// be numbers.
    fn shift_by_lanes(&mut self, is_signed: bool) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let (a, by) = (self.lanes(1, s.lane, s.count)?, self.lanes(2, s.lane, s.count)?);
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            let Some(count) = gather(self.g, &by.get(k)[..1]) else { continue };
            let Some(count) = self.g.value(count).map(|v| signed(v, 8)) else {
                if self.g.is_blind() {
                    crate::core::bits::fill_unknown(self.g, lane);
                    continue;
                }
                return Err(self.unsupported("a vector shift whose count is no constant"));
            };
            let kind = match (count < 0, is_signed) {
                (false, _) => Shift::Left,
                (true, true) => Shift::Arithmetic,
                (true, false) => Shift::Logical,
            };
            self.apply(lane, &[a.get(k)], |g, x| shift(g, kind, x[0], count.unsigned_abs()));
        }
        self.set_vector(&out)
    }

    /// Lanes extended to twice their width, and shifted.
    fn extend_lanes(&mut self, m: M) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let upper = matches!(m, M::Sxtl2 | M::Uxtl2 | M::Sshll2 | M::Ushll2 | M::Shll2);
        let is_signed = matches!(m, M::Sxtl | M::Sxtl2 | M::Sshll | M::Sshll2);
        let half = s.lane / 2;
        let by = if self.now.ins.op_count() > 2 { self.immediate(2)? } else { 0 };
        // SHLL alone shifts by the whole width of the narrow lanes.
        let most =
            if matches!(m, M::Shll | M::Shll2) { 8 * half as u64 } else { 8 * half as u64 - 1 };
        if by > most {
            return Err(self.form());
        }
        let a = self.half(1, half, s.count, upper)?;
        let mut out = vec![Byte::Undefined; s.size()];
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            self.apply(lane, &[a.get(k)], |g, x| {
                let w = 2 * g.width(x[0]);
                let wide = if is_signed { g.sext(x[0], w) } else { g.zext(x[0], w) };
                g.shl(wide, by)
            });
        }
        self.set_vector(&out)
    }

    /// All lanes of operand 1 joined into a scalar; `long`: at twice their width, signed or not.
    fn across(
        &mut self,
        long: Option<bool>,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let ((r, to), (from, s)) = (self.shape(0)?, self.shape(1)?);
        if to.count != 1 || to.lane != if long.is_some() { 2 * s.lane } else { s.lane } {
            return Err(self.form());
        }
        let mut sum = None;
        let mut out = vec![Byte::Undefined; to.lane];
        let source = self.cpu.vector[from];
        for lane in source[..s.size()].chunks(s.lane) {
            let Some(mut x) = gather(self.g, lane) else {
                self.set_wide(r, &out);
                return Ok(());
            };
            let w = 2 * self.g.width(x);
            x = match long {
                Some(true) => self.g.sext(x, w),
                Some(false) => self.g.zext(x, w),
                None => x,
            };
            sum = Some(match sum {
                Some(sum) => f(self.g, sum, x),
                None => x,
            });
        }
        if let Some(sum) = sum {
            scatter(self.g, sum, &mut out);
        }
        self.set_wide(r, &out);
        Ok(())
    }

    /// Sums of neighbours at twice their width.
    fn long_pairs(&mut self, is_signed: bool, adds: bool) -> Fallible<()> {
        let (_, s) = self.shape(0)?;
        let half = s.lane / 2;
        let (old, a) = (self.lanes(0, s.lane, s.count)?, self.lanes(1, half, 2 * s.count)?);
        let mut out = vec![Byte::Undefined; s.size()];
        let join = |g: &mut Graph, x, y| {
            let (x, y) = widened(g, x, y, is_signed);
            g.add(x, y)
        };
        for (k, lane) in out.chunks_mut(s.lane).enumerate() {
            let (x, y) = (a.get(2 * k), a.get(2 * k + 1));
            if adds {
                self.apply(lane, &[x, y, old.get(k)], |g, x| {
                    let sum = join(g, x[0], x[1]);
                    g.add(x[2], sum)
                });
            } else {
                self.apply(lane, &[x, y], |g, x| join(g, x[0], x[1]));
            }
        }
        self.set_vector(&out)
    }
}

/// Greatest or least, signed or not.
fn extreme(m: M) -> (bool, bool) {
    let max = matches!(m, M::Smax | M::Umax | M::Smaxp | M::Umaxp | M::Smaxv | M::Umaxv);
    let is_signed = matches!(m, M::Smin | M::Smax | M::Sminp | M::Smaxp | M::Sminv | M::Smaxv);
    (max, is_signed)
}
