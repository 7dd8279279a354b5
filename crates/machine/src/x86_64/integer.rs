//! Scalar moves and arithmetic.

use super::flags::Flags;
use super::{Fallible, Machine, Value};
use crate::byte::Byte;
use crate::core::bits::{Bitwise, bit_byte};
use crate::core::flags::Flag;
use crate::fold::{gather, scatter};
use iced_x86::{Instruction, Mnemonic as M, OpKind, Register};

impl Machine<'_> {
    pub(super) fn integer(&mut self, ins: Instruction) -> Fallible<bool> {
        match ins.mnemonic() {
            M::Mov | M::Movnti => self.mov(ins)?,
            M::Movzx => {
                let (to, from) = (self.width_of(0), self.width_of(1));
                let mut bytes = [Byte::Const(0); 8];
                if ins.op_kind(1) == OpKind::Memory {
                    self.load_operand(&mut bytes[..usize::from(from / 8)])?;
                } else {
                    let (source, size) = self.register_bytes(ins.op_register(1));
                    bytes[..size].copy_from_slice(&source[..size]);
                }
                self.write_bytes(0, &bytes[..usize::from(to / 8)])?;
            }
            M::Movsx | M::Movsxd => {
                let (to, from) = (self.width_of(0), self.width_of(1));
                let value = self.value(1, from)?;
                let value = value
                    .map(|v| if to < from { self.g.slice(v, 0, to) } else { self.g.sext(v, to) });
                self.write(0, to, value)?;
            }
            M::Lea => {
                let address = self.effective_address()?;
                let to = self.width_of(0);
                let value = address.map(|a| self.g.slice(a, 0, to.min(self.g.width(a))));
                self.write(0, to, value)?;
            }
            M::Push => {
                let bytes = match ins.op_kind(0) {
                    OpKind::Register | OpKind::Memory if self.width_of(0) != 64 => {
                        return Err(self.unsupported("a push of fewer than 64 bits"));
                    }
                    OpKind::Register => self.register_bytes(ins.op_register(0)).0,
                    OpKind::Memory => {
                        let mut bytes = [Byte::Undefined; 8];
                        self.load_operand(&mut bytes)?;
                        bytes
                    }
                    _ if ins.stack_pointer_increment() != -8 => {
                        return Err(self.unsupported("a push of fewer than 64 bits"));
                    }
                    _ => {
                        let value = self.value(0, 64)?;
                        let mut bytes = [Byte::Undefined; 8];
                        if let Some(v) = value {
                            scatter(self.g, v, &mut bytes);
                        }
                        bytes
                    }
                };
                self.push(&bytes)?;
            }
            M::Pop => {
                if ins.op_kind(0) != OpKind::Register || self.width_of(0) != 64 {
                    return Err(self.unsupported("operand form"));
                }
                let bytes = self.pop()?;
                self.set_register(ins.op_register(0), &bytes)?;
            }
            M::Leave => {
                let frame = self.register(Register::RBP);
                match frame.and_then(|f| self.g.address_of(f)) {
                    Some((r, offset)) if r == self.stack => self.set_rsp(offset)?,
                    _ => return Err(self.unsupported("a frame pointer that is not in the stack")),
                }
                let bytes = self.pop()?;
                self.set_register(Register::RBP, &bytes)?;
            }
            M::Xchg => {
                if ins.op_kind(0) != OpKind::Register || ins.op_kind(1) != OpKind::Register {
                    return Err(self.unsupported("an exchange with memory (it locks the bus)"));
                }
                let (a, size) = self.register_bytes(ins.op_register(0));
                let (b, _) = self.register_bytes(ins.op_register(1));
                self.set_register(ins.op_register(0), &b[..size])?;
                self.set_register(ins.op_register(1), &a[..size])?;
            }
            M::Bswap => {
                let (mut bytes, size) = self.register_bytes(ins.op_register(0));
                if size < 4 {
                    return Err(self.unsupported("a byte swap of 16 bits"));
                }
                bytes[..size].reverse();
                self.set_register(ins.op_register(0), &bytes[..size])?;
            }
            M::Add | M::Adc | M::Sub | M::Sbb | M::Cmp => self.sum(ins)?,
            M::And | M::Or | M::Xor | M::Test | M::Andn => self.bitwise(ins)?,
            M::Not => {
                let w = self.width_of(0);
                let a = self.low_value(0, w)?;
                let r = a.map(|a| self.g.not(a));
                self.write(0, w, r)?;
            }
            M::Neg => {
                let w = self.width_of(0);
                let a = self.low_value(0, w)?;
                let zero = a.map(|a| self.g.constant(self.g.width(a), 0));
                let r = self.difference(zero, a);
                self.settle(r, w);
                self.write(0, w, r)?;
            }
            M::Inc | M::Dec => {
                let w = self.width_of(0);
                let a = self.low_value(0, w)?;
                let one = a.map(|a| self.g.constant(self.g.width(a), 1));
                let carry = self.cpu.flags.carry;
                let r = if ins.mnemonic() == M::Inc {
                    self.addition(a, one)
                } else {
                    self.difference(a, one)
                };
                self.settle(r, w);
                self.cpu.flags.carry = carry;
                self.write(0, w, r)?;
            }
            M::Imul | M::Mul | M::Mulx => self.multiply(ins)?,
            M::Div | M::Idiv => self.divide(ins)?,
            M::Cbw | M::Cwde | M::Cdqe => {
                let (from, to) = match ins.mnemonic() {
                    M::Cbw => (Register::AL, Register::AX),
                    M::Cwde => (Register::AX, Register::EAX),
                    _ => (Register::EAX, Register::RAX),
                };
                let w = (8 * to.size()) as u8;
                let value = self.register(from).map(|v| self.g.sext(v, w));
                self.put(to, value)?;
            }
            M::Cwd | M::Cdq | M::Cqo => {
                let (from, to) = match ins.mnemonic() {
                    M::Cwd => (Register::AX, Register::DX),
                    M::Cdq => (Register::EAX, Register::EDX),
                    _ => (Register::RAX, Register::RDX),
                };
                let value = self.register(from).map(|v| self.g.ashr(v, 63));
                self.put(to, value)?;
            }
            _ if ins.is_jcc_short_or_near() => return Ok(false),
            M::Clc | M::Stc => {
                let bit = self.g.constant(1, u64::from(ins.mnemonic() == M::Stc));
                self.cpu.flags.carry = Flag::Bit(bit);
            }
            M::Cmc => {
                let carry = self.flag(self.cpu.flags.carry)?;
                self.cpu.flags.carry = Flag::Bit(self.g.not(carry));
            }
            m if is_setcc(m) => {
                let c = self.condition(ins.condition_code())?;
                let byte = self.g.zext(c, 8);
                self.write(0, 8, Some(byte))?;
            }
            m if is_cmovcc(m) => {
                let w = self.width_of(0);
                // Memory is read whatever the condition.
                let bytes = [self.operand_bytes(0, w)?, self.operand_bytes(1, w)?];
                let c = self.condition(ins.condition_code())?;
                match self.g.value(c) {
                    Some(v) => self.write_bytes(0, &bytes[v as usize][..usize::from(w / 8)])?,
                    None => {
                        let value = match self.values(0, 1, w)? {
                            (Some(old), Some(new)) => Some(self.g.select(c, new, old)),
                            _ => None,
                        };
                        self.write(0, w, value)?;
                    }
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mov(&mut self, ins: Instruction) -> Fallible<()> {
        match (ins.op_kind(0), ins.op_kind(1)) {
            (_, OpKind::Register) => {
                let r = ins.op_register(1);
                if !r.is_gpr() {
                    return Err(self.unsupported("a segment, control or debug register"));
                }
                let (bytes, size) = self.register_bytes(r);
                self.write_bytes(0, &bytes[..size])
            }
            (OpKind::Register, OpKind::Memory) => {
                let r = ins.op_register(0);
                if !r.is_gpr() {
                    return Err(self.unsupported("a segment, control or debug register"));
                }
                let mut bytes = [Byte::Undefined; 8];
                let bytes = &mut bytes[..r.size()];
                self.load_operand(bytes)?;
                self.set_register(r, bytes)
            }
            (OpKind::Register, _) => {
                let w = self.width_of(0);
                // A relocated 32-bit immediate is a whole address: the linker makes sure.
                if w == 32
                    && let Some(link) = self.now.links.immediate
                {
                    let node = self.linked(&link)?;
                    let full = ins.op_register(0).full_register();
                    return self.put(full, Some(node));
                }
                let value = self.value(1, w)?;
                self.write(0, w, value)
            }
            _ => {
                let w = self.width_of(0);
                let value = self.value(1, w)?;
                self.write(0, w, value)
            }
        }
    }

    /// Writes a named general register.
    pub(super) fn put(&mut self, r: Register, value: Value) -> Fallible<()> {
        let mut bytes = [Byte::Undefined; 8];
        let bytes = &mut bytes[..r.size()];
        if let Some(node) = value {
            scatter(self.g, node, bytes);
        }
        self.set_register(r, bytes)
    }

    /// Whether operands 0 and 1 are one register: `x - x` and `x ^ x` do not depend on it.
    pub(super) fn same_registers(&self, i: u32, j: u32) -> bool {
        self.now.ins.op_kind(i) == OpKind::Register
            && self.now.ins.op_kind(j) == OpKind::Register
            && self.now.ins.op_register(i) == self.now.ins.op_register(j)
    }

    fn sum(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let m = ins.mnemonic();
        if matches!(m, M::Sub | M::Sbb | M::Cmp) && self.same_registers(0, 1) {
            let zero = self.g.constant(w, 0);
            let r = if m == M::Sbb {
                self.with_borrow(Some(zero), Some(zero))?
            } else {
                self.difference(Some(zero), Some(zero))
            };
            return if m == M::Cmp { Ok(()) } else { self.write(0, w, r) };
        }
        let (a, b) = self.values(0, 1, w)?;
        let r = match m {
            M::Add => self.addition(a, b),
            M::Adc => self.with_carry(a, b)?,
            M::Sbb => self.with_borrow(a, b)?,
            _ => self.difference(a, b),
        };
        self.settle(r, w);
        if m == M::Cmp { Ok(()) } else { self.write(0, w, r) }
    }

    /// Makes the flags undefined if only the low bytes of the result are defined.
    fn settle(&mut self, r: Value, w: u8) {
        if r.is_some_and(|r| self.g.width(r) < w) {
            self.cpu.flags = Flags::default();
        }
    }

    /// a + b and its flags.
    fn addition(&mut self, a: Value, b: Value) -> Value {
        let (Some(a), Some(b)) = (a, b) else {
            self.cpu.flags = Flags::default();
            return None;
        };
        let r = self.g.add(a, b);
        self.cpu.flags = Flags::of(r, Flag::Below(r, a), Flag::AddOverflow { a, b, r });
        Some(r)
    }

    /// a - b and its flags.
    fn difference(&mut self, a: Value, b: Value) -> Value {
        let (Some(a), Some(b)) = (a, b) else {
            self.cpu.flags = Flags::default();
            return None;
        };
        let r = self.g.sub(a, b);
        self.cpu.flags = Flags::of(r, Flag::Below(a, b), Flag::SubOverflow { a, b, r });
        self.cpu.flags.zero = Flag::Equal(a, b);
        Some(r)
    }

    fn with_carry(&mut self, a: Value, b: Value) -> Fallible<Value> {
        let carry = self.flag(self.cpu.flags.carry)?;
        let (Some(a), Some(b)) = (a, b) else {
            self.cpu.flags = Flags::default();
            return Ok(None);
        };
        let carry = self.g.zext(carry, self.g.width(a));
        let sum = self.g.add(a, b);
        let r = self.g.add(sum, carry);
        self.cpu.flags = Flags::of(r, Flag::Carry { a, b, r }, Flag::AddOverflow { a, b, r });
        Ok(Some(r))
    }

    fn with_borrow(&mut self, a: Value, b: Value) -> Fallible<Value> {
        let borrow = self.flag(self.cpu.flags.carry)?;
        let (Some(a), Some(b)) = (a, b) else {
            self.cpu.flags = Flags::default();
            return Ok(None);
        };
        let w = self.g.width(a);
        let difference = self.g.sub(a, b);
        // 0 - borrow, spread over the word, is how compilers make masks.
        let minus = self.g.sext(borrow, w);
        let r = self.g.add(difference, minus);
        self.cpu.flags = Flags::of(r, Flag::Borrow { a, b, r }, Flag::BorrowOverflow { a, b, r });
        Ok(Some(r))
    }

    fn bitwise(&mut self, ins: Instruction) -> Fallible<()> {
        let w = self.width_of(0);
        let m = ins.mnemonic();
        let (x, y) = if m == M::Andn { (1, 2) } else { (0, 1) };
        let r = if m == M::Xor && self.same_registers(0, 1) {
            Some(self.g.constant(w, 0))
        } else {
            let (x, y) = (self.operand_bytes(x, w)?, self.operand_bytes(y, w)?);
            let n = usize::from(w / 8);
            match (gather(self.g, &x[..n]), gather(self.g, &y[..n])) {
                (Some(a), Some(b)) => Some(match m {
                    M::And | M::Test => self.bit_and(a, b)?,
                    M::Or => self.g.or(a, b),
                    M::Xor => self.g.xor(a, b),
                    _ => {
                        let a = self.g.not(a);
                        self.bit_and(a, b)?
                    }
                }),
                _ => {
                    // Byte by byte: masks decide some although the operand is undefined there.
                    let kind = match m {
                        M::And | M::Test => Bitwise::And,
                        M::Or => Bitwise::Or,
                        M::Xor => Bitwise::Xor,
                        _ => Bitwise::AndNot,
                    };
                    let mut bytes = [Byte::Undefined; 8];
                    for (k, byte) in bytes[..n].iter_mut().enumerate() {
                        *byte = bit_byte(self.g, kind, x[k], y[k]);
                    }
                    let r = gather(self.g, &bytes[..n]);
                    if r.is_none() {
                        self.cpu.flags = Flags::default();
                        let no = Flag::Bit(self.g.constant(1, 0));
                        (self.cpu.flags.carry, self.cpu.flags.overflow) = (no, no);
                        return if m == M::Test {
                            Ok(())
                        } else {
                            self.write_bytes(0, &bytes[..n])
                        };
                    }
                    r
                }
            }
        };
        let zero = Flag::Bit(self.g.constant(1, 0));
        self.cpu.flags = match r {
            Some(r) => Flags::of(r, zero, zero),
            None => Flags::default(),
        };
        if m == M::Andn {
            self.cpu.flags.parity = Flag::Undefined;
        }
        if m == M::Test { Ok(()) } else { self.write(0, w, r) }
    }
}

fn is_setcc(m: M) -> bool {
    use M::*;
    matches!(
        m,
        Seta | Setae
            | Setb
            | Setbe
            | Sete
            | Setg
            | Setge
            | Setl
            | Setle
            | Setne
            | Setno
            | Setnp
            | Setns
            | Seto
            | Setp
            | Sets
    )
}

fn is_cmovcc(m: M) -> bool {
    use M::*;
    matches!(
        m,
        Cmova
            | Cmovae
            | Cmovb
            | Cmovbe
            | Cmove
            | Cmovg
            | Cmovge
            | Cmovl
            | Cmovle
            | Cmovne
            | Cmovno
            | Cmovnp
            | Cmovns
            | Cmovo
            | Cmovp
            | Cmovs
    )
}
