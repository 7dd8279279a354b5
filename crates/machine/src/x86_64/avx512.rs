//! Arithmetic of lanes that came with AVX-512: products of 52 bits, dot products of bytes, counts, conflicts,
//! narrowing moves, and linear maps of bytes (GFNI).

use super::{Fallible, Machine, UNDEFINED};
use crate::byte::Byte;
use crate::core::arith::{absolute, high_product, leading_zeros, minimum};
use crate::core::bits::fill_unknown;
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId, Op};
use iced_x86::{Instruction, Mnemonic as M, OpKind};

/// How a lane is narrowed.
#[derive(Clone, Copy)]
enum Narrow {
    Cut,
    Signed,
    Unsigned,
}

/// Bits below which an unsigned value surely lies.
fn significant(g: &Graph, a: NodeId) -> u8 {
    match (g.value(a), &g.node(a).op) {
        (Some(v), _) => (64 - v.leading_zeros()) as u8,
        (_, Op::Zext) => g.width(g.node(a).args[0]),
        _ => g.width(a),
    }
}

/// `c` plus bits 0 to 51, or 52 to 103, of the product of the low 52 bits of `a` and `b`.
fn madd52(g: &mut Graph, c: NodeId, a: NodeId, b: NodeId, high: bool) -> NodeId {
    let cut = |g: &mut Graph, x| {
        let low = g.slice(x, 0, 52);
        g.zext(low, 64)
    };
    let (a, b) = (cut(g, a), cut(g, b));
    let low = g.mul(a, b);
    let part = if !high {
        let low = g.slice(low, 0, 52);
        g.zext(low, 64)
    } else if significant(g, a) + significant(g, b) <= 64 {
        g.lshr(low, 52)
    } else {
        let upper = high_product(g, a, b, false);
        let (low, upper) = (g.slice(low, 52, 12), g.slice(upper, 0, 40));
        let part = g.concat(&[low, upper]);
        g.zext(part, 64)
    };
    g.add(c, part)
}

/// Sum of the four products of unsigned bytes of `a` and signed bytes of `b`.
fn dot_bytes(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let mut sum = g.constant(32, 0);
    for i in 0..4 {
        let (x, y) = (g.slice(a, 8 * i, 8), g.slice(b, 8 * i, 8));
        let (x, y) = (g.zext(x, 32), g.sext(y, 32));
        let product = g.mul(x, y);
        sum = g.add(sum, product);
    }
    sum
}

/// How many bits are set.
fn ones(g: &mut Graph, a: NodeId) -> NodeId {
    let w = g.width(a);
    let mut sum = g.constant(w, 0);
    for i in 0..w {
        let bit = g.slice(a, i, 1);
        let bit = g.zext(bit, w);
        sum = g.add(sum, bit);
    }
    sum
}

/// A byte of `x` times a matrix of bits (row 0 the highest byte of `rows`), plus a constant.
fn affine(g: &mut Graph, x: NodeId, rows: NodeId, plus: u8) -> NodeId {
    let bits: Vec<NodeId> = (0..8)
        .map(|i| {
            let row = g.slice(rows, 8 * (7 - i), 8);
            let products = g.and(row, x);
            let start = g.constant(1, u64::from(plus >> i & 1));
            (0..8).fold(start, |sum, k| {
                let bit = g.slice(products, k, 1);
                g.xor(sum, bit)
            })
        })
        .collect();
    g.concat(&bits)
}

/// The product of two bytes modulo x^8 + x^4 + x^3 + x + 1.
fn field_product(g: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    let (mut sum, mut power) = (g.constant(8, 0), a);
    let modulus = g.constant(8, 0x1b);
    for i in 0..8 {
        let bit = g.slice(b, i, 1);
        let mask = g.sext(bit, 8);
        let part = g.and(mask, power);
        sum = g.xor(sum, part);
        let carry = g.ashr(power, 7);
        let carry = g.and(carry, modulus);
        let doubled = g.shl(power, 1);
        power = g.xor(doubled, carry);
    }
    sum
}

impl Machine<'_> {
    /// What has no VEX form, lane by lane.
    pub(super) fn avx512(&mut self, ins: Instruction) -> Fallible<bool> {
        use Narrow::{Cut, Signed, Unsigned};
        match ins.mnemonic() {
            M::Vpminsq => self.lanewise(8, |g, a, b| minimum(g, a, b, false, true))?,
            M::Vpminuq => self.lanewise(8, |g, a, b| minimum(g, a, b, false, false))?,
            M::Vpmaxsq => self.lanewise(8, |g, a, b| minimum(g, a, b, true, true))?,
            M::Vpmaxuq => self.lanewise(8, |g, a, b| minimum(g, a, b, true, false))?,
            M::Vpabsq => self.mapped(8, absolute)?,
            M::Vpmullq => self.lanewise(8, Graph::mul)?,
            M::Vpmadd52luq => self.accumulate(8, |g, c, a, b| madd52(g, c, a, b, false))?,
            M::Vpmadd52huq => self.accumulate(8, |g, c, a, b| madd52(g, c, a, b, true))?,
            M::Vpdpbusd => self.accumulate(4, |g, c, a, b| {
                let sum = dot_bytes(g, a, b);
                g.add(c, sum)
            })?,
            M::Vpdpbusds => self.accumulate(4, |g, c, a, b| {
                let sum = dot_bytes(g, a, b);
                let (c, sum) = (g.sext(c, 64), g.sext(sum, 64));
                let sum = g.add(c, sum);
                g.sat_s(sum, 32)
            })?,
            M::Vpopcntb => self.mapped(1, ones)?,
            M::Vpopcntw => self.mapped(2, ones)?,
            M::Vpopcntd => self.mapped(4, ones)?,
            M::Vpopcntq => self.mapped(8, ones)?,
            M::Vplzcntd => self.mapped(4, leading_zeros)?,
            M::Vplzcntq => self.mapped(8, leading_zeros)?,
            M::Vpconflictd => self.conflicts(4)?,
            M::Vpconflictq => self.conflicts(8)?,
            M::Vpmultishiftqb => self.pick_bits()?,
            M::Gf2p8affineqb | M::Vgf2p8affineqb => {
                let plus = self.imm8()?;
                self.lanewise(8, |g, a, rows| {
                    let bytes: Vec<NodeId> = (0..8)
                        .map(|i| {
                            let x = g.slice(a, 8 * i, 8);
                            affine(g, x, rows, plus)
                        })
                        .collect();
                    g.concat(&bytes)
                })?;
            }
            M::Gf2p8mulb | M::Vgf2p8mulb => self.lanewise(1, field_product)?,
            M::Vpmovwb => self.narrow(2, 1, Cut)?,
            M::Vpmovdb => self.narrow(4, 1, Cut)?,
            M::Vpmovdw => self.narrow(4, 2, Cut)?,
            M::Vpmovqb => self.narrow(8, 1, Cut)?,
            M::Vpmovqw => self.narrow(8, 2, Cut)?,
            M::Vpmovqd => self.narrow(8, 4, Cut)?,
            M::Vpmovswb => self.narrow(2, 1, Signed)?,
            M::Vpmovsdb => self.narrow(4, 1, Signed)?,
            M::Vpmovsdw => self.narrow(4, 2, Signed)?,
            M::Vpmovsqb => self.narrow(8, 1, Signed)?,
            M::Vpmovsqw => self.narrow(8, 2, Signed)?,
            M::Vpmovsqd => self.narrow(8, 4, Signed)?,
            M::Vpmovuswb => self.narrow(2, 1, Unsigned)?,
            M::Vpmovusdb => self.narrow(4, 1, Unsigned)?,
            M::Vpmovusdw => self.narrow(4, 2, Unsigned)?,
            M::Vpmovusqb => self.narrow(8, 1, Unsigned)?,
            M::Vpmovusqw => self.narrow(8, 2, Unsigned)?,
            M::Vpmovusqd => self.narrow(8, 4, Unsigned)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lanes of operand 1 of `from` bytes to `to`, into a register or memory.
    fn narrow(&mut self, from: usize, to: usize, how: Narrow) -> Fallible<()> {
        let size = self.vector_size(1);
        let a = self.vector_operand(1, size)?;
        let mut out = super::ZEROS;
        for (lane, target) in a[..size].chunks(from).zip(out.chunks_mut(to)) {
            if let Narrow::Cut = how {
                target.copy_from_slice(&lane[..to]);
                continue;
            }
            let Some(x) = gather(self.g, lane) else {
                target.fill(Byte::Undefined);
                continue;
            };
            let (g, w) = (&mut *self.g, 8 * to as u8);
            let r = match how {
                Narrow::Signed => g.sat_s(x, w),
                _ => {
                    let most = g.constant(8 * from as u8, u64::MAX >> (64 - w));
                    let least = minimum(g, x, most, false, false);
                    g.slice(least, 0, w)
                }
            };
            scatter(self.g, r, target);
        }
        let size = size / from * to;
        if self.now.ins.op_kind(0) == OpKind::Memory {
            return self.store_masked(&out[..size]);
        }
        self.set_vector(0, &out, size)
    }

    /// In each lane a bit for each earlier lane that is equal.
    fn conflicts(&mut self, lane: usize) -> Fallible<()> {
        let (size, a) = self.source()?;
        let w = 8 * lane as u8;
        let lanes: Vec<_> = a[..size].chunks(lane).map(|x| gather(self.g, x)).collect();
        let mut out = UNDEFINED;
        for (i, target) in out[..size].chunks_mut(lane).enumerate() {
            let earlier: Option<Vec<NodeId>> = lanes[..=i].iter().copied().collect();
            let Some(earlier) = earlier else { continue };
            let bits: Vec<NodeId> =
                earlier[..i].iter().map(|&x| self.g.eq(x, earlier[i])).collect();
            let r = if bits.is_empty() { self.g.constant(w, 0) } else { self.g.concat(&bits) };
            let r = self.g.zext(r, w);
            scatter(self.g, r, target);
        }
        self.set_vector(0, &out, size)
    }

    /// Bytes of operand 2's lanes of 64 bits from the bit on that operand 1's byte says, around the end.
    fn pick_bits(&mut self) -> Fallible<()> {
        let s = self.sources()?;
        let mut out = UNDEFINED;
        for (k, target) in out[..s.size].iter_mut().enumerate() {
            let block = k / 8 * 8;
            let by = match s.a[k] {
                Byte::Const(c) => c & 63,
                Byte::Undefined | Byte::Caller(_) => continue,
                Byte::Node(..) => {
                    return Err(self.unsupported("bits picked by a control that is no constant"));
                }
            };
            let lane = &s.b[block..block + 8];
            if self.g.knows_nothing(lane) {
                fill_unknown(self.g, std::slice::from_mut(target));
            } else if let Some(x) = gather(self.g, lane) {
                let turned = crate::core::bits::rotate_right(self.g, x, by.into());
                let r = self.g.slice(turned, 0, 8);
                scatter(self.g, r, std::slice::from_mut(target));
            }
        }
        self.set_vector(0, &out, s.size)
    }
}
