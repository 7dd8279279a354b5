//! Operands: registers, immediates, memory; addresses.

use super::{Fallible, Machine, RSP, UNDEFINED, Value, Wide};
use crate::byte::Byte;
use crate::fold::{gather, is_run, scatter};
use crate::graph::Graph;
use iced_x86::{OpKind, Register};

/// Number of a general register, its first byte in the full one (`ah` is byte 1), its size.
fn general(r: Register) -> (usize, usize, usize) {
    let high = matches!(r, Register::AH | Register::BH | Register::CH | Register::DH);
    (r.full_register().number(), usize::from(high), r.size())
}

/// Leading bytes that are defined, rounded down to 0, 1, 2, 4 or 8.
fn defined(bytes: &[Byte; 8], width: u8) -> usize {
    let n = usize::from(width / 8);
    let k = bytes[..n].iter().position(Byte::is_undefined).unwrap_or(n);
    if k == 0 { 0 } else { 1 << k.ilog2() }
}

fn gather_some(g: &mut Graph, bytes: &[Byte]) -> Value {
    if bytes.is_empty() { None } else { gather(g, bytes) }
}

impl Machine<'_> {
    /// Width in bits of operand `i` (for immediates: of operand 0).
    pub(super) fn width_of(&self, i: u32) -> u8 {
        let bytes = match self.now.ins.op_kind(i) {
            OpKind::Register => self.now.ins.op_register(i).size(),
            OpKind::Memory => self.now.ins.memory_size().size(),
            _ => return self.width_of(0),
        };
        (8 * bytes.min(8)) as u8
    }

    /// Operand `i` as a value of `width` bits.
    pub(super) fn value(&mut self, i: u32, width: u8) -> Fallible<Value> {
        match self.now.ins.op_kind(i) {
            OpKind::Register => {
                let r = self.now.ins.op_register(i);
                if !r.is_gpr() {
                    return Err(self.unsupported("an operand that is no general register"));
                }
                Ok(self.register(r))
            }
            OpKind::Memory => {
                let mut bytes = [Byte::Undefined; 8];
                let bytes = &mut bytes[..usize::from(width / 8)];
                self.load_operand(bytes)?;
                Ok(gather(self.g, bytes))
            }
            _ => {
                if let Some(link) = self.now.links.immediate {
                    let node = self.linked(&link)?;
                    return Ok(Some(self.g.slice(node, 0, width)));
                }
                let v =
                    self.now.ins.try_immediate(i).map_err(|_| self.unsupported("operand form"))?;
                Ok(Some(self.g.constant(width, v)))
            }
        }
    }

    /// Operand `i` as bytes: `width / 8` of them count.
    pub(super) fn operand_bytes(&mut self, i: u32, width: u8) -> Fallible<[Byte; 8]> {
        let mut bytes = [Byte::Undefined; 8];
        let used = &mut bytes[..usize::from(width / 8)];
        match self.now.ins.op_kind(i) {
            OpKind::Register if self.now.ins.op_register(i).is_gpr() => {
                let (source, size) = self.register_bytes(self.now.ins.op_register(i));
                let n = size.min(used.len());
                used[..n].copy_from_slice(&source[..n]);
            }
            OpKind::Memory => self.load_operand(used)?,
            _ => {
                if let Some(node) = self.value(i, width)? {
                    scatter(self.g, node, used);
                }
            }
        }
        Ok(bytes)
    }

    /// Operands `i` and `j`, cut to the low bytes that are defined in both (1, 2, 4 or 8). That is
    /// enough if the low result bytes depend only on low operand bytes. Compilers do 32-bit
    /// arithmetic on registers after loading only 16 bits.
    pub(super) fn values(&mut self, i: u32, j: u32, width: u8) -> Fallible<(Value, Value)> {
        let (x, y) = (self.operand_bytes(i, width)?, self.operand_bytes(j, width)?);
        let k = defined(&x, width).min(defined(&y, width));
        Ok((gather_some(self.g, &x[..k]), gather_some(self.g, &y[..k])))
    }

    /// The same for one operand.
    pub(super) fn low_value(&mut self, i: u32, width: u8) -> Fallible<Value> {
        let x = self.operand_bytes(i, width)?;
        Ok(gather_some(self.g, &x[..defined(&x, width)]))
    }

    /// Value of a general register of any size.
    pub(super) fn register(&mut self, r: Register) -> Value {
        let (n, first, size) = general(r);
        gather(self.g, &self.cpu.gpr[n][first..first + size])
    }

    /// Its bytes.
    pub(super) fn register_bytes(&self, r: Register) -> ([Byte; 8], usize) {
        let (n, first, size) = general(r);
        let mut out = [Byte::Undefined; 8];
        out[..size].copy_from_slice(&self.cpu.gpr[n][first..first + size]);
        (out, size)
    }

    /// Writes a general register: 32 bits clear the upper half, 8 and 16 bits keep the rest.
    pub(super) fn set_register(&mut self, r: Register, bytes: &[Byte]) -> Fallible<()> {
        let (n, first, size) = general(r);
        debug_assert_eq!(size, bytes.len());
        if size == 4 {
            self.cpu.gpr[n][4..].fill(Byte::Const(0));
        }
        self.cpu.gpr[n][first..first + size].copy_from_slice(bytes);
        if n == RSP { self.stack_moved() } else { Ok(()) }
    }

    /// Writes operand `i`, a general register or memory. If the value is narrower, the rest is
    /// undefined.
    pub(super) fn write(&mut self, i: u32, width: u8, value: Value) -> Fallible<()> {
        let mut bytes = [Byte::Undefined; 8];
        if let Some(node) = value {
            let low = usize::from(self.g.width(node) / 8);
            scatter(self.g, node, &mut bytes[..low]);
        }
        self.write_bytes(i, &bytes[..usize::from(width / 8)])
    }

    /// The same from bytes.
    pub(super) fn write_bytes(&mut self, i: u32, bytes: &[Byte]) -> Fallible<()> {
        match self.now.ins.op_kind(i) {
            OpKind::Register if self.now.ins.op_register(i).is_gpr() => {
                self.set_register(self.now.ins.op_register(i), bytes)
            }
            OpKind::Memory => {
                let at = self.pointer()?;
                self.store(at, bytes)
            }
            _ => Err(self.unsupported("operand form")),
        }
    }

    /// The memory operand's address, or as many of its low bytes as are defined (none: `None`).
    pub(super) fn effective_address(&mut self) -> Fallible<Value> {
        let ins = self.now.ins;
        let (base, index) = (ins.memory_base(), ins.memory_index());
        if self.thread_local() {
            return Err(self.unsupported(
                "thread-local data is not modelled, besides reading the stack protector's canary",
            ));
        }
        if self.is_slot() {
            return Err(self.unsupported("the address of a global offset table slot"));
        }
        let mut sum = match self.now.links.displacement {
            Some(link) => self.linked(&link)?,
            None if ins.is_ip_rel_memory_operand() => {
                // Without a relocation the target lies in this very section.
                let here = self.object.sections[self.at.0].address;
                let offset = ins.ip_rel_memory_address().wrapping_sub(here) as i64;
                match self.section_address(self.at.0, offset, offset) {
                    Some(node) => node,
                    None => return Err(self.unsupported("an address in no entry of its section")),
                }
            }
            None => self.g.constant(64, ins.memory_displacement64()),
        };
        if ins.is_ip_rel_memory_operand() {
            return Ok(Some(sum));
        }
        if (base != Register::None && !base.is_gpr64())
            || (index != Register::None && !index.is_gpr64())
        {
            return Err(self.unsupported("32-bit addressing is not modelled"));
        }
        // The low bytes of the sum need the low bytes of the registers only: `lea` of registers
        // whose upper halves are undefined.
        let mut parts = [None, None];
        let mut low = 8;
        for (r, part) in [base, index].into_iter().zip(&mut parts) {
            if r != Register::None {
                let (bytes, _) = self.register_bytes(r);
                low = low.min(defined(&bytes, 64));
                *part = Some(bytes);
            }
        }
        if low == 0 {
            return Ok(None);
        }
        sum = self.g.slice(sum, 0, 8 * low as u8);
        if let Some(b) = parts[0].and_then(|b| gather(self.g, &b[..low])) {
            sum = self.g.add(b, sum);
        }
        if let Some(i) = parts[1].and_then(|i| gather(self.g, &i[..low])) {
            let scaled = match ins.memory_index_scale() {
                1 => i,
                s => self.g.shl(i, u64::from(s.trailing_zeros())),
            };
            sum = self.g.add(sum, scaled);
        }
        Ok(Some(sum))
    }

    /// The memory operand as region and offset. Its base register must hold an address, its index a
    /// number, and the linker must write nothing into it. The result is what
    /// [`Self::effective_address`] adds up, without nodes for the sums.
    fn plain_pointer(&self) -> Option<(u16, i64)> {
        let ins = &self.now.ins;
        let (base, index) = (ins.memory_base(), ins.memory_index());
        let general = base.is_gpr64() && (index == Register::None || index.is_gpr64());
        if !general || self.now.links.displacement.is_some() || self.thread_local() {
            return None;
        }
        let (node, first) = is_run(&self.cpu.gpr[base.number()])?;
        let (region, offset) = self.g.address_of(node).filter(|_| first == 0)?;
        let mut number = 0u64;
        if index != Register::None {
            for byte in self.cpu.gpr[index.number()].iter().rev() {
                let Byte::Const(byte) = byte else { return None };
                number = number << 8 | u64::from(*byte);
            }
            number = number.wrapping_mul(ins.memory_index_scale().into());
        }
        let number = number.wrapping_add(ins.memory_displacement64());
        Some((region, offset.wrapping_add(number as i64)))
    }

    /// The memory operand as region and offset.
    pub(super) fn pointer(&mut self) -> Fallible<(u16, i64)> {
        if let Some(found) = self.plain_pointer() {
            return Ok(found);
        }
        let address = self.effective_address()?;
        self.dereference(address, self.now.ins.memory_size().size() as u64)
    }

    fn thread_local(&self) -> bool {
        matches!(self.now.ins.memory_segment(), Register::FS | Register::GS)
    }

    /// Loads the memory operand. A slot of the global offset table holds the symbol's address.
    pub(super) fn load_operand(&mut self, out: &mut [Byte]) -> Fallible<()> {
        if self.now.ins.memory_segment() == Register::FS
            && !self.object.is_coff()
            && self.now.ins.memory_base() == Register::None
            && self.now.ins.memory_index() == Register::None
            && self.now.ins.memory_displacement64() == 0x28
            && self.now.links.displacement.is_none()
            && out.len() == 8
        {
            let node = self.canary();
            scatter(self.g, node, out);
            return Ok(());
        }
        if let Some(link) = self.now.links.displacement.filter(|_| self.is_slot()) {
            if out.len() != 8 {
                return Err(self.unsupported("a part of a global offset table slot"));
            }
            let node = self.linked(&link)?;
            scatter(self.g, node, out);
            return Ok(());
        }
        let at = self.pointer()?;
        self.load(at, out)
    }

    /// Loads `size` bytes of vector operand `i`: a vector register's low bytes or memory (16-byte
    /// operands of legacy instructions must be aligned).
    pub(super) fn vector_operand(&mut self, i: u32, size: usize) -> Fallible<Wide> {
        let mut out = UNDEFINED;
        match self.now.ins.op_kind(i) {
            OpKind::Register => {
                let r = self.now.ins.op_register(i);
                if !r.is_vector_register() {
                    return Err(self.unsupported("operand form"));
                }
                out[..size].copy_from_slice(&self.cpu.vec[r.number()][..size]);
            }
            OpKind::Memory => {
                if size == 16 && !self.is_vex() {
                    let at = self.pointer()?;
                    self.require_alignment(at, 16, 16)?;
                }
                let element = self.now.ins.memory_size().size();
                if self.now.ins.is_broadcast() {
                    self.load_operand(&mut out[..element])?;
                    (element..size).for_each(|i| out[i] = out[i - element]);
                } else {
                    self.load_operand(&mut out[..size])?;
                }
            }
            _ => return Err(self.unsupported("operand form")),
        }
        Ok(out)
    }

    /// Writes a vector register's low `size` bytes, but only the lanes that a mask selects. VEX and
    /// EVEX clear the rest; legacy keeps it.
    pub(super) fn set_vector(&mut self, i: u32, bytes: &Wide, size: usize) -> Fallible<()> {
        if self.now.ins.op_mask() == Register::None {
            return self.put_vector(i, bytes, size);
        }
        let old = self.vector_operand(i, size)?;
        let merged = self.merged(&old, bytes, size);
        self.put_vector(i, &merged, size)
    }

    /// The same whatever the mask.
    pub(super) fn put_vector(&mut self, i: u32, bytes: &Wide, size: usize) -> Fallible<()> {
        let r = self.now.ins.op_register(i);
        if !r.is_vector_register() {
            return Err(self.unsupported("operand form"));
        }
        let vex = self.is_vex();
        let target = &mut self.cpu.vec[r.number()];
        target[..size].copy_from_slice(&bytes[..size]);
        if vex {
            target[size..].fill(Byte::Const(0));
        }
        Ok(())
    }

    /// Size in bytes of vector register operand `i`.
    pub(super) fn vector_size(&self, i: u32) -> usize {
        self.now.ins.op_register(i).size().clamp(16, super::WIDE)
    }

    /// The instruction's immediate byte operand.
    pub(super) fn imm8(&self) -> Fallible<u8> {
        let last = self.now.ins.op_count() - 1;
        match self.now.ins.op_kind(last) {
            OpKind::Immediate8 => Ok(self.now.ins.immediate8()),
            _ => Err(self.unsupported("operand form")),
        }
    }
}
