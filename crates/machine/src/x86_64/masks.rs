//! Mask registers: merging and zeroing, memory under masks, and the instructions on masks alone.
//!
//! A mask is 64 bits, each a value of its own, so one condition selects a lane. A masked-off lane
//! is not computed with, and moves do not access it.
//!
//! If a mask is not constant, the memory that it leaves out depends on data. So an access of memory
//! under such a mask is refused: see [`Machine::check_memory_mask`].

use super::flags::Flags;
use super::{Fallible, Machine, UNDEFINED, Value, Wide, evex};
use crate::byte::Byte;
use crate::core::bits::fill_unknown;
use crate::core::flags::Flag;
use crate::error::Timing;
use crate::fold::{gather, scatter};
use crate::graph::{Graph, NodeId};
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

/// A mask register: bits from the lowest, each a node of width 1 or undefined.
pub(crate) type Mask = [Value; 64];

/// The conjunction of bits; of a zero it is one whatever the other is.
fn both(g: &mut Graph, a: Value, b: Value) -> Value {
    match (a, b) {
        (Some(a), Some(b)) => Some(g.and(a, b)),
        (Some(x), None) | (None, Some(x)) if g.value(x) == Some(0) => Some(x),
        _ => None,
    }
}

impl Machine<'_> {
    /// The mask that chooses lanes, or [`None`] if there is none.
    fn write_mask(&self) -> Option<Mask> {
        let r = self.now.ins.op_mask();
        (r != Register::None).then(|| self.cpu.masks[r.number()])
    }

    /// Lanes of `new` where the mask is set, elsewhere `old` or zeros.
    pub(super) fn merged(&mut self, old: &Wide, new: &Wide, size: usize) -> Wide {
        let zeroing = self.now.ins.zeroing_masking();
        let (Some(mask), Some(lane)) = (self.write_mask(), evex::masked(&self.now.ins)) else {
            return *new;
        };
        let rest = if zeroing { &super::ZEROS } else { old };
        self.chosen(&mask, rest, new, lane, size)
    }

    /// Lanes of `new` where `mask` is set, elsewhere of `old`.
    pub(super) fn chosen(
        &mut self,
        mask: &Mask,
        old: &Wide,
        new: &Wide,
        lane: usize,
        size: usize,
    ) -> Wide {
        let mut out = UNDEFINED;
        for (i, at) in (0..size).step_by(lane).enumerate() {
            let range = at..at + lane;
            let (x, y) = (&new[range.clone()], &old[range.clone()]);
            let to = &mut out[range.clone()];
            let Some(bit) = mask[i] else { continue };
            match self.g.value(bit) {
                Some(0) => to.copy_from_slice(y),
                Some(_) => to.copy_from_slice(x),
                None if self.g.knows_nothing(x) && self.g.knows_nothing(y) => {
                    fill_unknown(self.g, to)
                }
                None => {
                    if let (Some(x), Some(y)) = (gather(self.g, x), gather(self.g, y)) {
                        let r = self.g.select(bit, x, y);
                        scatter(self.g, r, to);
                    }
                }
            }
        }
        out
    }

    /// Which lanes of memory the mask selects: all if there is no mask. A mask must be constant.
    fn lanes_of_memory(&self, size: usize) -> Fallible<Vec<std::ops::Range<usize>>> {
        let (Some(mask), Some(lane)) = (self.write_mask(), evex::masked(&self.now.ins)) else {
            return Ok(std::iter::once(0..size).collect());
        };
        let mut lanes = Vec::new();
        for (i, at) in (0..size).step_by(lane).enumerate() {
            let Some(bit) = mask[i] else {
                return Err(self.undefined("a mask under which memory is accessed"));
            };
            match self.g.value(bit) {
                Some(0) => {}
                Some(_) => lanes.push(at..at + lane),
                None => return Err(self.not_concrete(Timing::Address, bit)),
            }
        }
        Ok(lanes)
    }

    /// Refuses an access of memory under a mask that is not constant.
    pub(super) fn check_memory_mask(&self) -> Fallible<()> {
        let ins = &self.now.ins;
        let memory = (0..ins.op_count()).any(|i| ins.op_kind(i) == OpKind::Memory);
        if !memory || ins.op_mask() == Register::None {
            return Ok(());
        }
        let size = match ins.op_kind(0) {
            OpKind::Memory => ins.memory_size().size(),
            _ => self.vector_size(u32::from(ins.op_register(0).is_k())),
        };
        self.lanes_of_memory(size).map(|_| ())
    }

    /// Loads the lanes of the memory operand that the mask selects; the others stay undefined.
    pub(super) fn load_masked(&mut self, out: &mut [Byte]) -> Fallible<()> {
        let lanes = self.lanes_of_memory(out.len())?;
        if let [all] = &lanes[..]
            && all.len() == out.len()
        {
            return self.load_operand(out);
        }
        for range in lanes {
            let (region, offset) = self.pointer()?;
            self.load((region, offset.wrapping_add(range.start as i64)), &mut out[range])?;
        }
        Ok(())
    }

    /// Stores the lanes that the mask leaves.
    pub(super) fn store_masked(&mut self, bytes: &[Byte]) -> Fallible<()> {
        for range in self.lanes_of_memory(bytes.len())? {
            let (region, offset) = self.pointer()?;
            self.store((region, offset.wrapping_add(range.start as i64)), &bytes[range])?;
        }
        Ok(())
    }

    /// Writes mask register operand 0: under a mask, zeros where that is zero; zeros above `bits`.
    pub(super) fn set_mask(&mut self, bits: &[Value]) -> Fallible<()> {
        let r = self.now.ins.op_register(0);
        if !r.is_k() {
            return Err(self.unsupported("operand form"));
        }
        let zero = Some(self.g.constant(1, 0));
        let mut out = [zero; 64];
        out[..bits.len()].copy_from_slice(bits);
        if let Some(mask) = self.write_mask() {
            for i in 0..bits.len() {
                out[i] = both(self.g, out[i], mask[i]);
            }
        }
        self.cpu.masks[r.number()] = out;
        Ok(())
    }

    /// The low `n` bits of mask register operand `i`.
    fn mask(&self, i: u32, n: usize) -> Fallible<Vec<Value>> {
        let r = self.now.ins.op_register(i);
        if self.now.ins.op_kind(i) != OpKind::Register || !r.is_k() {
            return Err(self.unsupported("operand form"));
        }
        Ok(self.cpu.masks[r.number()][..n].to_vec())
    }

    /// Bits as one value.
    fn as_value(&mut self, bits: &[Value]) -> Value {
        let bits: Option<Vec<NodeId>> = bits.iter().copied().collect();
        bits.map(|bits| self.g.concat(&bits))
    }

    /// A value's bits.
    fn as_bits(&mut self, value: Value, n: usize) -> Vec<Value> {
        (0..n).map(|i| value.map(|v| self.g.slice(v, i as u8, 1))).collect()
    }

    /// Instructions on masks alone, and those between masks and registers.
    pub(super) fn masks(&mut self, ins: Instruction) -> Fallible<bool> {
        let name = format!("{:?}", ins.mnemonic()).to_ascii_lowercase();
        let Some(stem) = name.strip_prefix('k') else { return self.mask_lanes(ins) };
        let n = match ins.mnemonic() {
            M::Kunpckbw => 8,
            M::Kunpckwd => 16,
            M::Kunpckdq => 32,
            _ => match name.as_bytes()[name.len() - 1] {
                b'b' => 8,
                b'w' => 16,
                b'd' => 32,
                _ => 64,
            },
        };
        let stem = if stem.starts_with("unpck") { "unpck" } else { &stem[..stem.len() - 1] };
        match stem {
            "mov" => self.move_mask(n)?,
            "and" => self.mask_by_bits(n, None, both)?,
            "andn" => self.mask_by_bits(n, Some(0), |g, a, b| {
                let a = a.map(|a| g.not(a));
                both(g, a, b)
            })?,
            "or" => self.mask_by_bits(n, None, |g, a, b| {
                let (a, b) = (a.map(|a| g.not(a)), b.map(|b| g.not(b)));
                both(g, a, b).map(|r| g.not(r))
            })?,
            "xor" => self.mask_by_bits(n, Some(0), |g, a, b| Some(g.xor(a?, b?)))?,
            "xnor" => self.mask_by_bits(n, Some(1), |g, a, b| {
                let r = g.xor(a?, b?);
                Some(g.not(r))
            })?,
            "not" => {
                let a = self.mask(1, n)?;
                let not: Vec<Value> = a.iter().map(|a| a.map(|a| self.g.not(a))).collect();
                self.set_mask(&not)?;
            }
            "add" => {
                let (a, b) = (self.mask(1, n)?, self.mask(2, n)?);
                let (a, b) = (self.as_value(&a), self.as_value(&b));
                let sum =
                    if let (Some(a), Some(b)) = (a, b) { Some(self.g.add(a, b)) } else { None };
                let bits = self.as_bits(sum, n);
                self.set_mask(&bits)?;
            }
            "shiftl" | "shiftr" => {
                let (a, by) = (self.mask(1, n)?, usize::from(self.imm8()?));
                let zero = Some(self.g.constant(1, 0));
                let from =
                    |i: usize| if stem == "shiftl" { i.checked_sub(by) } else { i.checked_add(by) };
                let bit = |i| from(i).and_then(|i| a.get(i).copied()).unwrap_or(zero);
                self.set_mask(&(0..n).map(bit).collect::<Vec<Value>>())?;
            }
            "unpck" => {
                let (high, mut bits) = (self.mask(1, n)?, self.mask(2, n)?);
                bits.extend(high);
                self.set_mask(&bits)?;
            }
            "ortest" | "test" => self.test_masks(n, stem == "test")?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Bit by bit; of one register with itself the result is `same` everywhere, if that is given.
    fn mask_by_bits(
        &mut self,
        n: usize,
        same: Option<u64>,
        f: impl Fn(&mut Graph, Value, Value) -> Value,
    ) -> Fallible<()> {
        let (a, b) = (self.mask(1, n)?, self.mask(2, n)?);
        let bits: Vec<Value> = match same.filter(|_| self.same_registers(1, 2)) {
            Some(bit) => vec![Some(self.g.constant(1, bit)); n],
            None => a.into_iter().zip(b).map(|(a, b)| f(self.g, a, b)).collect(),
        };
        self.set_mask(&bits)
    }

    /// `kmov` in all directions.
    fn move_mask(&mut self, n: usize) -> Fallible<()> {
        if self.now.ins.op_register(0).is_k() {
            let bits = if self.now.ins.op_register(1).is_k() {
                self.mask(1, n)?
            } else {
                let bytes = self.operand_bytes(1, n as u8)?;
                let whole = gather(self.g, &bytes[..n / 8]);
                let mut bits = self.as_bits(whole, n);
                if whole.is_none() {
                    bits.clear();
                    for byte in &bytes[..n / 8] {
                        let byte = gather(self.g, &[*byte]);
                        bits.extend(self.as_bits(byte, 8));
                    }
                }
                bits
            };
            return self.set_mask(&bits);
        }
        let bits = self.mask(1, n)?;
        let mut bytes = [Byte::Const(0); 8];
        match self.as_value(&bits) {
            Some(whole) => scatter(self.g, whole, &mut bytes[..n / 8]),
            None => {
                for (byte, bits) in bytes.iter_mut().zip(bits.chunks(8)) {
                    let value = self.as_value(bits);
                    *byte = value.map_or(Byte::Undefined, |v| crate::fold::byte_of(self.g, v, 0));
                }
            }
        }
        let to = usize::from(self.width_of(0) / 8);
        let to = if self.now.ins.op_kind(0) == OpKind::Memory { n / 8 } else { to };
        self.write_bytes(0, &bytes[..to])
    }

    /// `kortest`: zero flag for no bit in either, carry for all. `ktest`: for no bit in both, and for no bit of the
    /// second operand outside the first.
    fn test_masks(&mut self, n: usize, and: bool) -> Fallible<()> {
        let (a, b) = (self.mask(0, n)?, self.mask(1, n)?);
        let no = Flag::Bit(self.g.constant(1, 0));
        let (a, b) = (self.as_value(&a), self.as_value(&b));
        let (mut zero, mut carry) = (Flag::Undefined, Flag::Undefined);
        if let (Some(a), Some(b)) = (a, b) {
            let g = &mut *self.g;
            let (z, c) = if and {
                let outside = g.not(a);
                (g.and(a, b), g.and(outside, b))
            } else {
                let any = g.or(a, b);
                (any, g.not(any))
            };
            (zero, carry) = (Flag::Zero(z), Flag::Zero(c));
        }
        self.cpu.flags = Flags { carry, zero, parity: no, sign: no, overflow: no };
        Ok(())
    }

    /// Between masks and lanes of vector registers.
    fn mask_lanes(&mut self, ins: Instruction) -> Fallible<bool> {
        use Predicate::{Equal, Greater, Signed, Unsigned};
        match ins.mnemonic() {
            M::Vpcmpeqb if self.makes_mask() => self.compare(1, Equal)?,
            M::Vpcmpeqw if self.makes_mask() => self.compare(2, Equal)?,
            M::Vpcmpeqd if self.makes_mask() => self.compare(4, Equal)?,
            M::Vpcmpeqq if self.makes_mask() => self.compare(8, Equal)?,
            M::Vpcmpgtb if self.makes_mask() => self.compare(1, Greater)?,
            M::Vpcmpgtw if self.makes_mask() => self.compare(2, Greater)?,
            M::Vpcmpgtd if self.makes_mask() => self.compare(4, Greater)?,
            M::Vpcmpgtq if self.makes_mask() => self.compare(8, Greater)?,
            M::Vpcmpb => self.compare(1, Signed)?,
            M::Vpcmpw => self.compare(2, Signed)?,
            M::Vpcmpd => self.compare(4, Signed)?,
            M::Vpcmpq => self.compare(8, Signed)?,
            M::Vpcmpub => self.compare(1, Unsigned)?,
            M::Vpcmpuw => self.compare(2, Unsigned)?,
            M::Vpcmpud => self.compare(4, Unsigned)?,
            M::Vpcmpuq => self.compare(8, Unsigned)?,
            M::Vptestmb => self.compare(1, Predicate::Common)?,
            M::Vptestmw => self.compare(2, Predicate::Common)?,
            M::Vptestmd => self.compare(4, Predicate::Common)?,
            M::Vptestmq => self.compare(8, Predicate::Common)?,
            M::Vptestnmb => self.compare(1, Predicate::Disjoint)?,
            M::Vptestnmw => self.compare(2, Predicate::Disjoint)?,
            M::Vptestnmd => self.compare(4, Predicate::Disjoint)?,
            M::Vptestnmq => self.compare(8, Predicate::Disjoint)?,
            M::Vpmovb2m => self.signs(1)?,
            M::Vpmovw2m => self.signs(2)?,
            M::Vpmovd2m => self.signs(4)?,
            M::Vpmovq2m => self.signs(8)?,
            M::Vpmovm2b => self.spread_mask(1)?,
            M::Vpmovm2w => self.spread_mask(2)?,
            M::Vpmovm2d => self.spread_mask(4)?,
            M::Vpmovm2q => self.spread_mask(8)?,
            M::Vpbroadcastmb2q => self.broadcast_mask(8, 8)?,
            M::Vpbroadcastmw2d => self.broadcast_mask(16, 4)?,
            M::Vpblendmb => self.blend(1)?,
            M::Vpblendmw => self.blend(2)?,
            M::Vpblendmd | M::Vblendmps => self.blend(4)?,
            M::Vpblendmq | M::Vblendmpd => self.blend(8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether operand 0 is a mask.
    fn makes_mask(&self) -> bool {
        self.now.ins.op_register(0).is_k()
    }

    /// Compares the lanes of operands 1 and 2 into mask register operand 0.
    fn compare(&mut self, lane: usize, predicate: Predicate) -> Fallible<()> {
        let (code, unsigned) = match predicate {
            Predicate::Equal => (0, false),
            Predicate::Greater => (6, false),
            Predicate::Signed => (self.imm8()? & 7, false),
            Predicate::Unsigned => (self.imm8()? & 7, true),
            Predicate::Common | Predicate::Disjoint => (0, false),
        };
        let testing = matches!(predicate, Predicate::Common | Predicate::Disjoint);
        let s = self.sources()?;
        let (zero, one) = (self.g.constant(1, 0), self.g.constant(1, 1));
        let mut bits = Vec::new();
        for at in (0..s.size).step_by(lane) {
            if !testing && (s.same || code == 3 || code == 7) {
                // Equal, at most and their like hold of a lane and itself.
                let holds =
                    if code == 3 || code == 7 { code == 7 } else { matches!(code, 0 | 2 | 5) };
                bits.push(Some(if holds { one } else { zero }));
                continue;
            }
            let (x, y) = (gather(self.g, &s.a[at..at + lane]), gather(self.g, &s.b[at..at + lane]));
            let (Some(x), Some(y)) = (x, y) else {
                bits.push(None);
                continue;
            };
            let g = &mut *self.g;
            let bit = if testing {
                let (common, none) = (g.and(x, y), g.constant(8 * lane as u8, 0));
                let disjoint = g.eq(common, none);
                if matches!(predicate, Predicate::Common) { g.not(disjoint) } else { disjoint }
            } else {
                let less = if unsigned { Graph::ult } else { Graph::slt };
                let bit = match code & 3 {
                    0 => g.eq(x, y),
                    1 => less(g, x, y),
                    _ => {
                        let greater = less(g, y, x);
                        g.not(greater)
                    }
                };
                if code & 4 != 0 { g.not(bit) } else { bit }
            };
            bits.push(Some(bit));
        }
        self.set_mask(&bits)
    }

    /// Top bits of the lanes of operand 1.
    fn signs(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(1);
        let a = self.vector_operand(1, size)?;
        let tops = a[..size].iter().skip(lane - 1).step_by(lane);
        let bits: Vec<Value> =
            tops.map(|&top| gather(self.g, &[top]).map(|t| self.g.slice(t, 7, 1))).collect();
        self.set_mask(&bits)
    }

    /// Each bit of mask operand 1 over a whole lane.
    fn spread_mask(&mut self, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let mut out = UNDEFINED;
        for (bit, to) in self.mask(1, size / lane)?.into_iter().zip(out.chunks_mut(lane)) {
            if let Some(bit) = bit {
                let r = self.g.sext(bit, 8 * lane as u8);
                scatter(self.g, r, to);
            }
        }
        self.set_vector(0, &out, size)
    }

    /// The low `n` bits of mask operand 1 as a number in each lane.
    fn broadcast_mask(&mut self, n: usize, lane: usize) -> Fallible<()> {
        let size = self.vector_size(0);
        let bits = self.mask(1, n)?;
        let mut out = UNDEFINED;
        if let Some(value) = self.as_value(&bits) {
            let r = self.g.zext(value, 8 * lane as u8);
            out[..size].chunks_mut(lane).for_each(|to| scatter(self.g, r, to));
        }
        self.set_vector(0, &out, size)
    }

    /// Lanes of operand 2 where the mask is set, elsewhere of operand 1, or zeros.
    fn blend(&mut self, lane: usize) -> Fallible<()> {
        let s = self.sources()?;
        let mut out = s.b;
        if let Some(mask) = self.write_mask().filter(|_| !self.now.ins.zeroing_masking()) {
            out = self.chosen(&mask, &s.a, &s.b, lane, s.size);
            return self.put_vector(0, &out, s.size);
        }
        out = self.merged(&super::ZEROS, &out, s.size);
        self.put_vector(0, &out, s.size)
    }
}

/// What is asked of two lanes.
#[derive(Clone, Copy)]
enum Predicate {
    Equal,
    Greater,
    /// By the immediate.
    Signed,
    Unsigned,
    /// A common bit.
    Common,
    Disjoint,
}
