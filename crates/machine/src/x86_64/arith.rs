//! Lane-wise vector arithmetic, with every rounding and saturation explicit.

use super::lanes::Sources;
use super::{Fallible, Machine, UNDEFINED, Wide};
use crate::core::arith::{absolute, average, minimum, product, product_unsigned, saturating};
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId};
use iced_x86::{Instruction, Mnemonic as M};

/// Rounded high half: bits 15 to 30 of a·b + 2^14. Of -2^15 and -2^15 this is -2^15.
fn high_rounded(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let p = product(g, a, b, 32);
    let half = g.constant(32, 0x4000);
    let p = g.add(p, half);
    g.slice(p, 15, 16)
}

/// `a`, its negation or 0 by the sign of `b`.
fn with_sign(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let zero = g.constant(g.width(a), 0);
    let negative = g.slt(b, zero);
    let is_zero = g.eq(b, zero);
    let minus = g.neg(a);
    let rest = g.select(is_zero, zero, a);
    g.select(negative, minus, rest)
}

/// A comparison's bit over the whole lane.
fn spread(g: &mut Graph, bit: NodeId, w: u8) -> NodeId {
    g.sext(bit, w)
}

/// Low and high halves of a lane.
fn halves(g: &mut Graph, a: NodeId) -> (NodeId, NodeId) {
    let w = g.width(a) / 2;
    (g.slice(a, 0, w), g.slice(a, w, w))
}

/// Sum of the two products of 16-bit halves.
fn dot(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let ((a0, a1), (b0, b1)) = (halves(g, a), halves(g, b));
    let (p, q) = (product(g, a0, b0, 32), product(g, a1, b1, 32));
    g.add(p, q)
}

impl Machine<'_> {
    /// Converts floating-point numbers to words, only for powers of two: clang multiplies by them
    /// where it shifts lanes by known counts. 2^31 gives the word of that bit, as does every number
    /// that does not fit.
    fn powers_of_two(&mut self) -> Fallible<()> {
        let (size, a) = self.source()?;
        let mut out = UNDEFINED;
        for at in (0..size).step_by(4) {
            let bits = gather(self.g, &a[at..at + 4]).and_then(|x| self.g.value(x));
            // Sign and fraction are zero.
            let power =
                bits.filter(|b| b & 0x807f_ffff == 0).and_then(|b| (b >> 23).checked_sub(127));
            let Some(power) = power.filter(|p| *p <= 31) else {
                return Err(
                    self.unsupported("a conversion of what is not known to be a power of two")
                );
            };
            if power == 31 {
                self.assume("MXCSR masks exceptions, as in every program at its start".into());
            }
            let word = self.g.constant(32, 1 << power);
            scatter(self.g, word, &mut out[at..at + 4]);
        }
        self.set_vector(0, &out, size)
    }

    pub(super) fn arith(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Paddb | M::Vpaddb => self.lanewise(1, Graph::add)?,
            M::Paddw | M::Vpaddw => self.lanewise(2, Graph::add)?,
            M::Paddd | M::Vpaddd => self.lanewise(4, Graph::add)?,
            M::Paddq | M::Vpaddq => self.lanewise(8, Graph::add)?,
            M::Psubb | M::Vpsubb => self.cancelling(1, 0, Graph::sub)?,
            M::Psubw | M::Vpsubw => self.cancelling(2, 0, Graph::sub)?,
            M::Psubd | M::Vpsubd => self.cancelling(4, 0, Graph::sub)?,
            M::Psubq | M::Vpsubq => self.cancelling(8, 0, Graph::sub)?,
            M::Paddsb | M::Vpaddsb => {
                self.lanewise(1, |g, a, b| saturating(g, a, b, false, true))?
            }
            M::Paddsw | M::Vpaddsw => {
                self.lanewise(2, |g, a, b| saturating(g, a, b, false, true))?
            }
            M::Paddusb | M::Vpaddusb => {
                self.lanewise(1, |g, a, b| saturating(g, a, b, false, false))?;
            }
            M::Paddusw | M::Vpaddusw => {
                self.lanewise(2, |g, a, b| saturating(g, a, b, false, false))?;
            }
            M::Psubsb | M::Vpsubsb => {
                self.lanewise(1, |g, a, b| saturating(g, a, b, true, true))?
            }
            M::Psubsw | M::Vpsubsw => {
                self.lanewise(2, |g, a, b| saturating(g, a, b, true, true))?
            }
            M::Psubusb | M::Vpsubusb => {
                self.lanewise(1, |g, a, b| saturating(g, a, b, true, false))?;
            }
            M::Psubusw | M::Vpsubusw => {
                self.lanewise(2, |g, a, b| saturating(g, a, b, true, false))?;
            }
            M::Pmullw | M::Vpmullw => self.lanewise(2, |g, a, b| {
                // The low half of the node whose high half pmulhw takes.
                let p = product(g, a, b, 32);
                g.slice(p, 0, 16)
            })?,
            M::Pmulhw | M::Vpmulhw => self.lanewise(2, |g, a, b| {
                let p = product(g, a, b, 32);
                g.slice(p, 16, 16)
            })?,
            M::Pmulhuw | M::Vpmulhuw => self.lanewise(2, |g, a, b| {
                let p = product_unsigned(g, a, b, 32);
                g.slice(p, 16, 16)
            })?,
            M::Pmulhrsw | M::Vpmulhrsw => self.lanewise(2, high_rounded)?,
            M::Pmulld | M::Vpmulld => self.lanewise(4, Graph::mul)?,
            M::Pmuldq | M::Vpmuldq => self.even_products(product)?,
            M::Pmuludq | M::Vpmuludq => self.even_products(product_unsigned)?,
            M::Cvttps2dq | M::Vcvttps2dq => self.powers_of_two()?,
            M::Pmaddwd | M::Vpmaddwd => self.lanewise(4, dot)?,
            M::Pmaddubsw | M::Vpmaddubsw => self.lanewise(2, |g, a, b| {
                let ((a0, a1), (b0, b1)) = (halves(g, a), halves(g, b));
                let mixed = |g: &mut Graph, a, b| {
                    let (a, b) = (g.zext(a, 32), g.sext(b, 32));
                    g.mul(a, b)
                };
                let (p, q) = (mixed(g, a0, b0), mixed(g, a1, b1));
                let sum = g.add(p, q);
                g.sat_s(sum, 16)
            })?,
            M::Vpdpwssd => self.accumulate(4, |g, c, a, b| {
                let sum = dot(g, a, b);
                g.add(c, sum)
            })?,
            M::Vpdpwssds => self.accumulate(4, |g, c, a, b| {
                // Two products may reach 2^31 together, so the sum is exact at 64 bits only.
                let ((a0, a1), (b0, b1)) = (halves(g, a), halves(g, b));
                let (p, q) = (product(g, a0, b0, 64), product(g, a1, b1, 64));
                let sum = g.add(p, q);
                let c = g.sext(c, 64);
                let sum = g.add(c, sum);
                g.sat_s(sum, 32)
            })?,
            M::Pavgb | M::Vpavgb => self.lanewise(1, average)?,
            M::Pavgw | M::Vpavgw => self.lanewise(2, average)?,
            M::Pabsb | M::Vpabsb => self.mapped(1, absolute)?,
            M::Pabsw | M::Vpabsw => self.mapped(2, absolute)?,
            M::Pabsd | M::Vpabsd => self.mapped(4, absolute)?,
            M::Psignb | M::Vpsignb => self.lanewise(1, with_sign)?,
            M::Psignw | M::Vpsignw => self.lanewise(2, with_sign)?,
            M::Psignd | M::Vpsignd => self.lanewise(4, with_sign)?,
            M::Pminsb | M::Vpminsb => self.lanewise(1, |g, a, b| minimum(g, a, b, false, true))?,
            M::Pminsw | M::Vpminsw => self.lanewise(2, |g, a, b| minimum(g, a, b, false, true))?,
            M::Pminsd | M::Vpminsd => self.lanewise(4, |g, a, b| minimum(g, a, b, false, true))?,
            M::Pminub | M::Vpminub => self.lanewise(1, |g, a, b| minimum(g, a, b, false, false))?,
            M::Pminuw | M::Vpminuw => self.lanewise(2, |g, a, b| minimum(g, a, b, false, false))?,
            M::Pminud | M::Vpminud => self.lanewise(4, |g, a, b| minimum(g, a, b, false, false))?,
            M::Pmaxsb | M::Vpmaxsb => self.lanewise(1, |g, a, b| minimum(g, a, b, true, true))?,
            M::Pmaxsw | M::Vpmaxsw => self.lanewise(2, |g, a, b| minimum(g, a, b, true, true))?,
            M::Pmaxsd | M::Vpmaxsd => self.lanewise(4, |g, a, b| minimum(g, a, b, true, true))?,
            M::Pmaxub | M::Vpmaxub => self.lanewise(1, |g, a, b| minimum(g, a, b, true, false))?,
            M::Pmaxuw | M::Vpmaxuw => self.lanewise(2, |g, a, b| minimum(g, a, b, true, false))?,
            M::Pmaxud | M::Vpmaxud => self.lanewise(4, |g, a, b| minimum(g, a, b, true, false))?,
            M::Pcmpeqb | M::Vpcmpeqb => self.compare_equal(1)?,
            M::Pcmpeqw | M::Vpcmpeqw => self.compare_equal(2)?,
            M::Pcmpeqd | M::Vpcmpeqd => self.compare_equal(4)?,
            M::Pcmpeqq | M::Vpcmpeqq => self.compare_equal(8)?,
            M::Pcmpgtb | M::Vpcmpgtb => self.compare_greater(1)?,
            M::Pcmpgtw | M::Vpcmpgtw => self.compare_greater(2)?,
            M::Pcmpgtd | M::Vpcmpgtd => self.compare_greater(4)?,
            M::Pcmpgtq | M::Vpcmpgtq => self.compare_greater(8)?,
            M::Packsswb | M::Vpacksswb => self.pack(2, Graph::sat_s)?,
            M::Packssdw | M::Vpackssdw => self.pack(4, Graph::sat_s)?,
            M::Packuswb | M::Vpackuswb => self.pack(2, Graph::sat_u)?,
            M::Packusdw | M::Vpackusdw => self.pack(4, Graph::sat_u)?,
            M::Phaddw | M::Vphaddw => self.horizontal(2, Graph::add)?,
            M::Phaddd | M::Vphaddd => self.horizontal(4, Graph::add)?,
            M::Phsubw | M::Vphsubw => self.horizontal(2, Graph::sub)?,
            M::Phsubd | M::Vphsubd => self.horizontal(4, Graph::sub)?,
            M::Psadbw | M::Vpsadbw => self.lanewise(8, |g, a, b| {
                let mut sum = g.constant(64, 0);
                for k in 0..8 {
                    let (x, y) = (g.slice(a, 8 * k, 8), g.slice(b, 8 * k, 8));
                    let (x, y) = (g.zext(x, 64), g.zext(y, 64));
                    let difference = g.sub(x, y);
                    let difference = absolute(g, difference);
                    sum = g.add(sum, difference);
                }
                sum
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lane-wise; of one register with itself the result is `byte` everywhere, whatever it holds.
    fn cancelling(
        &mut self,
        lane: usize,
        byte: u8,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let s = self.sources()?;
        if s.same { self.set_all(byte, s.size) } else { self.lanewise_of(&s, lane, f) }
    }

    fn compare_equal(&mut self, lane: usize) -> Fallible<()> {
        self.cancelling(lane, 0xff, |g, a, b| {
            let w = g.width(a);
            let bit = g.eq(a, b);
            spread(g, bit, w)
        })
    }

    fn compare_greater(&mut self, lane: usize) -> Fallible<()> {
        self.cancelling(lane, 0, |g, a, b| {
            let w = g.width(a);
            let bit = g.slt(b, a);
            spread(g, bit, w)
        })
    }

    /// 64-bit products of the even 32-bit lanes; the odd ones do not matter.
    fn even_products(
        &mut self,
        f: impl Fn(&mut Graph, NodeId, NodeId, u8) -> NodeId,
    ) -> Fallible<()> {
        let s = self.sources()?;
        let mut out = UNDEFINED;
        for at in (0..s.size).step_by(8) {
            let (x, y) = (self.lane(&s.a[at..at + 4]), self.lane(&s.b[at..at + 4]));
            if let (Some(x), Some(y)) = (x, y) {
                let r = f(self.g, x, y, 64);
                scatter(self.g, r, &mut out[at..at + 8]);
            }
        }
        self.set_vector(0, &out, s.size)
    }

    /// `f(operand 0, operand 1, operand 2)` on lanes of `lane` bytes (VEX).
    pub(super) fn accumulate(
        &mut self,
        lane: usize,
        f: impl Fn(&mut Graph, NodeId, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let s: Sources = self.sources()?;
        let c: Wide = self.vector_operand(0, s.size)?;
        let mut out = UNDEFINED;
        for at in (0..s.size).step_by(lane) {
            let range = at..at + lane;
            let (x, y) = (gather(self.g, &s.a[range.clone()]), gather(self.g, &s.b[range.clone()]));
            let z = gather(self.g, &c[range.clone()]);
            if let (Some(x), Some(y), Some(z)) = (x, y, z) {
                let r = f(self.g, z, x, y);
                scatter(self.g, r, &mut out[range]);
            }
        }
        self.set_vector(0, &out, s.size)
    }

    /// Saturates lanes of `lane` bytes to half; in each 128 bits first those of a, then of b.
    fn pack(&mut self, lane: usize, f: impl Fn(&mut Graph, NodeId, u8) -> NodeId) -> Fallible<()> {
        let s = self.sources()?;
        let mut out = UNDEFINED;
        let half = lane / 2;
        for block in (0..s.size).step_by(16) {
            for i in 0..16 / lane {
                for (side, source) in [&s.a, &s.b].into_iter().enumerate() {
                    let from = block + i * lane;
                    let to = block + 8 * side + i * half;
                    if let Some(x) = gather(self.g, &source[from..from + lane]) {
                        let r = f(self.g, x, 8 * half as u8);
                        scatter(self.g, r, &mut out[to..to + half]);
                    }
                }
            }
        }
        self.set_vector(0, &out, s.size)
    }

    /// Adjacent lanes combined; in each 128 bits first those of a, then of b.
    fn horizontal(
        &mut self,
        lane: usize,
        f: impl Fn(&mut Graph, NodeId, NodeId) -> NodeId,
    ) -> Fallible<()> {
        let s = self.sources()?;
        let mut out = UNDEFINED;
        for block in (0..s.size).step_by(16) {
            for i in 0..8 / lane {
                for (side, source) in [&s.a, &s.b].into_iter().enumerate() {
                    let from = block + 2 * i * lane;
                    let to = block + 8 * side + i * lane;
                    let x = gather(self.g, &source[from..from + lane]);
                    let y = gather(self.g, &source[from + lane..from + 2 * lane]);
                    if let (Some(x), Some(y)) = (x, y) {
                        let r = f(self.g, x, y);
                        scatter(self.g, r, &mut out[to..to + lane]);
                    }
                }
            }
        }
        self.set_vector(0, &out, s.size)
    }
}
