//! One instruction between code that loads and stores the whole state, so that the processor and
//! the semantics run the very same function.

use iced_x86::code_asm::*;
use iced_x86::{Code, Encoder, Instruction, OpCodeOperandKind as K, OpKind, Register};

/// Words of the state: 32 zmm registers, 16 general registers, 8 masks, one of flag seeds.
pub const STATE: usize = MASKS_AT / 8 + 8 + 1;
/// Words of memory operand.
pub const MEMORY: usize = 16;
/// Words of the result: registers, then one byte for each flag.
pub const RESULT: usize = STATE;
/// Bytes at which the general registers, the masks and the flags begin.
const GENERAL_AT: usize = 32 * 64;
const MASKS_AT: usize = GENERAL_AT + 16 * 8;
const FLAGS_AT: usize = MASKS_AT + 8 * 8;
/// General registers that take part; rsp, rsi and rdi carry the harness.
pub const GENERAL: [usize; 13] = [0, 1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15];
/// Offset of the memory operand in its buffer.
const OPERAND: i32 = 64;

/// Which conditions are stored: carry, parity, zero, sign, overflow, and the combined
/// below-or-equal, less, less-or-equal.
pub type Flags = [bool; 8];

/// How operands are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Different registers, register forms.
    Registers,
    /// Different registers, memory where the form allows it.
    Memory,
    /// The same register everywhere.
    Same,
    /// `ah` to `bh` for byte registers.
    HighBytes,
}

/// The instruction of that form, or `None` if it has no such shape or an operand that the harness
/// does not know. Also: the vector and general registers of its last source.
pub fn build(code: Code, shape: Shape, immediate: u64) -> Option<Built> {
    let info = code.op_code();
    let mut ins = Instruction::new();
    ins.set_code(code);
    let mut built = Built { ins, has_immediate: false, constants: Vec::new() };
    let (mut memory, mut high) = (false, false);
    for i in 0..info.op_count() {
        let kind = info.op_kind(i);
        let g = |bits: u32| -> Register {
            let n = if shape == Shape::Same { 0 } else { i as usize };
            let table = match (bits, shape) {
                (8, Shape::HighBytes) => [Register::BH, Register::DH, Register::CH, Register::AH],
                (8, _) => [Register::BL, Register::R9L, Register::R12L, Register::BPL],
                (16, _) => [Register::BX, Register::R9W, Register::R12W, Register::BP],
                (32, _) => [Register::EBX, Register::R9D, Register::R12D, Register::EBP],
                _ => [Register::RBX, Register::R9, Register::R12, Register::RBP],
            };
            table[n.min(3)]
        };
        let v = |first: Register| -> Register {
            // The last is above 7, for the prefix bits.
            first + if shape == Shape::Same { 5 } else { [1, 2, 11, 4, 6][i as usize] }
        };
        let (xmm, ymm, zmm) = (v(Register::XMM0), v(Register::YMM0), v(Register::ZMM0));
        let k = Register::K0 + if shape == Shape::Same { 5 } else { [3, 2, 6, 4, 7][i as usize] };
        let choice = match kind {
            K::r8_or_mem => Err(g(8)),
            K::r16_or_mem => Err(g(16)),
            K::r32_or_mem => Err(g(32)),
            K::r64_or_mem => Err(g(64)),
            K::xmm_or_mem => Err(xmm),
            K::ymm_or_mem => Err(ymm),
            K::zmm_or_mem => Err(zmm),
            K::k_or_mem => Err(k),
            K::k_reg | K::k_rm | K::k_vvvv => Ok(k),
            K::zmm_reg | K::zmm_rm | K::zmm_vvvv => Ok(zmm),
            K::r8_reg | K::r8_opcode => Ok(g(8)),
            K::r16_reg | K::r16_rm | K::r16_opcode => Ok(g(16)),
            K::r32_reg | K::r32_rm | K::r32_opcode | K::r32_vvvv => Ok(g(32)),
            K::r64_reg | K::r64_rm | K::r64_opcode | K::r64_vvvv => Ok(g(64)),
            K::xmm_reg | K::xmm_rm | K::xmm_vvvv | K::xmm_is4 => Ok(xmm),
            K::ymm_reg | K::ymm_rm | K::ymm_vvvv | K::ymm_is4 => Ok(ymm),
            K::al => Ok(Register::AL),
            K::cl => Ok(Register::CL),
            K::ax => Ok(Register::AX),
            K::eax => Ok(Register::EAX),
            K::rax => Ok(Register::RAX),
            K::mem => {
                if shape != Shape::Memory {
                    return None;
                }
                Err(Register::None)
            }
            K::imm8
            | K::imm8_const_1
            | K::imm8sex16
            | K::imm8sex32
            | K::imm8sex64
            | K::imm16
            | K::imm32
            | K::imm32sex64
            | K::imm64 => {
                let (to, value) = match kind {
                    K::imm8 => (OpKind::Immediate8, immediate & 0xff),
                    K::imm8_const_1 => (OpKind::Immediate8, 1),
                    K::imm8sex16 => (OpKind::Immediate8to16, immediate as i8 as u64),
                    K::imm8sex32 => (OpKind::Immediate8to32, immediate as i8 as u64),
                    K::imm8sex64 => (OpKind::Immediate8to64, immediate as i8 as u64),
                    K::imm16 => (OpKind::Immediate16, immediate & 0xffff),
                    K::imm32 => (OpKind::Immediate32, immediate & 0xffff_ffff),
                    K::imm32sex64 => (OpKind::Immediate32to64, immediate as i32 as u64),
                    _ => (OpKind::Immediate64, immediate),
                };
                built.has_immediate |= kind != K::imm8_const_1;
                built.ins.set_op_kind(i, to);
                match to {
                    OpKind::Immediate8 => built.ins.set_immediate8(value as u8),
                    OpKind::Immediate16 => built.ins.set_immediate16(value as u16),
                    OpKind::Immediate32 => built.ins.set_immediate32(value as u32),
                    OpKind::Immediate64 => built.ins.set_immediate64(value),
                    OpKind::Immediate8to16 => built.ins.set_immediate8to16(value as i16),
                    OpKind::Immediate8to32 => built.ins.set_immediate8to32(value as i32),
                    OpKind::Immediate8to64 => built.ins.set_immediate8to64(value as i64),
                    _ => built.ins.set_immediate32to64(value as i64),
                }
                continue;
            }
            _ => return None,
        };
        match choice {
            Err(_) if shape == Shape::Memory => {
                memory = true;
                built.ins.set_op_kind(i, OpKind::Memory);
                let lea = code.mnemonic() == iced_x86::Mnemonic::Lea;
                if lea {
                    // Not a pointer but a number, so that the result is one.
                    built.ins.set_memory_index(Register::R12);
                    built.ins.set_memory_index_scale(4);
                }
                built.ins.set_memory_base(if lea { Register::R9 } else { Register::RSI });
                built.ins.set_memory_displacement64(OPERAND as u64);
                built.ins.set_memory_displ_size(1);
                built.constants.push(Register::RSI);
            }
            Ok(r) | Err(r) => {
                high |= matches!(r, Register::AH | Register::BH | Register::CH | Register::DH);
                built.ins.set_op_kind(i, OpKind::Register);
                built.ins.set_op_register(i, r);
                built.constants.push(r);
            }
        }
    }
    if (shape == Shape::Memory && !memory) || (shape == Shape::HighBytes && !high) {
        return None;
    }
    Some(built)
}

#[derive(Clone)]
pub struct Built {
    pub ins: Instruction,
    pub has_immediate: bool,
    /// Registers of the operands in order; RSI stands for memory.
    pub constants: Vec<Register>,
}

impl Built {
    /// Whether it can be encoded and decodes to the same form.
    pub fn encodes(&self) -> bool {
        let mut encoder = Encoder::new(64);
        if encoder.encode(&self.ins, 0).is_err() {
            return false;
        }
        let bytes = encoder.take_buffer();
        let mut decoder = iced_x86::Decoder::new(64, &bytes, 0);
        decoder.decode().code() == self.ins.code()
    }
}

/// Replaces the operand registers that the form leaves open by others; `pick(n)` is below n.
pub fn shuffle_registers(ins: &mut Instruction, mut pick: impl FnMut(usize) -> usize) {
    let info = ins.code().op_code();
    for i in 0..info.op_count() {
        let fixed = matches!(info.op_kind(i), K::al | K::cl | K::ax | K::eax | K::rax);
        if fixed || ins.op_kind(i) != OpKind::Register {
            continue;
        }
        let old = ins.op_register(i);
        let n = GENERAL[pick(GENERAL.len())] as u32;
        let new = match old.size() {
            _ if old.is_k() => Register::K0 + pick(8) as u32,
            1 => {
                let high = [Register::AH, Register::CH, Register::DH, Register::BH];
                let low = [Register::AL, Register::CL, Register::DL, Register::BL];
                match n {
                    0..=3 if pick(3) == 0 => high[n as usize],
                    0..=3 => low[n as usize],
                    5 => Register::BPL,
                    _ => Register::R8L + (n - 8),
                }
            }
            2 => Register::AX + n,
            4 => Register::EAX + n,
            8 => Register::RAX + n,
            16 => Register::XMM0 + pick(6) as u32,
            32 => Register::YMM0 + pick(6) as u32,
            _ => Register::ZMM0 + pick(6) as u32,
        };
        ins.set_op_register(i, new);
    }
    if ins.memory_base() == Register::RSI {
        ins.set_memory_displacement64(32 * pick(3) as u64);
        ins.set_memory_displ_size(4);
    }
}

/// Where a register's initial value comes from.
#[derive(Clone, Copy, Default)]
pub struct Constant {
    pub vectors: u32,
    pub general: u16,
    pub masks: u8,
    /// Of registers named here the low 16 bits (general) or the words of this mask (vectors) come
    /// from the state all the same.
    pub mixed: Option<u32>,
}

/// Whether the processor has registers of 512 bits and masks; else the halves of 16 registers that it has are compared.
pub fn wide() -> bool {
    use iced_x86::CpuidFeature::{AVX512BW, AVX512F};
    [AVX512F, AVX512BW].into_iter().all(super::native::available)
}

/// The function f(state, memory, result, constant state). Registers in `constant` are loaded from
/// the fourth argument. `flags` says which conditions are stored.
pub fn function(body: &[Instruction], constant: &Constant, flags: Flags) -> Vec<u8> {
    let mut a = CodeAssembler::new(64).expect("64 bit");
    let gpr = [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15];
    let ymm = [
        ymm0, ymm1, ymm2, ymm3, ymm4, ymm5, ymm6, ymm7, ymm8, ymm9, ymm10, ymm11, ymm12, ymm13,
        ymm14, ymm15,
    ];
    let zmm = [
        zmm0, zmm1, zmm2, zmm3, zmm4, zmm5, zmm6, zmm7, zmm8, zmm9, zmm10, zmm11, zmm12, zmm13,
        zmm14, zmm15, zmm16, zmm17, zmm18, zmm19, zmm20, zmm21, zmm22, zmm23, zmm24, zmm25, zmm26,
        zmm27, zmm28, zmm29, zmm30, zmm31,
    ];
    let masks = [k0, k1, k2, k3, k4, k5, k6, k7];
    (|| -> Result<(), iced_x86::IcedError> {
        for r in [rbx, rbp, r12, r13, r14, r15] {
            a.push(r)?;
        }
        a.push(rdx)?;
        // The flags from two bytes of the state: their sum sets all of them.
        let seeds = rdi + FLAGS_AT;
        a.mov(al, byte_ptr(seeds))?;
        a.add(al, byte_ptr(seeds + 1))?;
        let from = |constant: u32, n| if constant >> n & 1 == 1 { rcx } else { rdi };
        for (n, r) in ymm.into_iter().enumerate().filter(|_| !wide()) {
            a.vmovdqu(r, ymmword_ptr(from(constant.vectors, n) + 64 * n))?;
            if let (Some(mask), 1) = (constant.mixed, constant.vectors >> n & 1) {
                a.vpblendw(r, r, ymmword_ptr(rdi + 64 * n), mask)?;
            }
        }
        if wide() {
            if let Some(mask) = constant.mixed {
                a.push(rax)?;
                a.mov(eax, mask * 0x0101_0101)?;
                a.kmovd(k1, eax)?;
                a.pop(rax)?;
            }
            for (n, r) in zmm.into_iter().enumerate() {
                a.vmovdqu64(r, zmmword_ptr(from(constant.vectors, n) + 64 * n))?;
                if let (Some(_), 1) = (constant.mixed, constant.vectors >> n & 1) {
                    a.vmovdqu16(r.k1(), zmmword_ptr(rdi + 64 * n))?;
                }
            }
            for (n, r) in masks.into_iter().enumerate() {
                a.kmovq(r, qword_ptr(from(constant.masks.into(), n) + MASKS_AT + 8 * n))?;
            }
        }
        let mut order = GENERAL.to_vec();
        order.retain(|&n| n != 1);
        order.push(1); // rcx is a pointer until the end
        for n in order {
            a.mov(gpr[n], qword_ptr(from(constant.general.into(), n) + GENERAL_AT + 8 * n))?;
            if let (Some(_), 1) = (constant.mixed, constant.general >> n & 1) {
                let low =
                    [ax, cx, dx, bx, sp, bp, si, di, r8w, r9w, r10w, r11w, r12w, r13w, r14w, r15w];
                a.mov(low[n], word_ptr(rdi + GENERAL_AT + 8 * n))?;
            }
        }
        for ins in body {
            a.add_instruction(*ins)?;
        }
        a.mov(rdi, qword_ptr(rsp))?;
        for (i, wanted) in flags.into_iter().enumerate() {
            let to = byte_ptr(rdi + FLAGS_AT + i);
            match (wanted, i) {
                (false, _) => a.mov(to, 0)?,
                (_, 0) => a.setb(to)?,
                (_, 1) => a.setp(to)?,
                (_, 2) => a.sete(to)?,
                (_, 3) => a.sets(to)?,
                (_, 4) => a.seto(to)?,
                (_, 5) => a.setbe(to)?,
                (_, 6) => a.setl(to)?,
                _ => a.setle(to)?,
            }
        }
        for n in GENERAL {
            a.mov(qword_ptr(rdi + GENERAL_AT + 8 * n), gpr[n])?;
        }
        for n in [4, 6, 7] {
            a.mov(dword_ptr(rdi + GENERAL_AT + 8 * n), 0)?;
            a.mov(dword_ptr(rdi + GENERAL_AT + 4 + 8 * n), 0)?;
        }
        if wide() {
            for (n, r) in zmm.into_iter().enumerate() {
                a.vmovdqu64(zmmword_ptr(rdi + 64 * n), r)?;
            }
            for (n, r) in masks.into_iter().enumerate() {
                a.kmovq(qword_ptr(rdi + MASKS_AT + 8 * n), r)?;
            }
        } else {
            for (n, r) in ymm.into_iter().enumerate() {
                a.vmovdqu(ymmword_ptr(rdi + 64 * n), r)?;
            }
            a.vpxor(ymm0, ymm0, ymm0)?;
            for at in (0..32).map(|n| 64 * n + 32).chain((16..32).map(|n| 64 * n)) {
                a.vmovdqu(ymmword_ptr(rdi + at), ymm0)?;
            }
            a.vmovdqu(ymmword_ptr(rdi + MASKS_AT), ymm0)?;
            a.vmovdqu(ymmword_ptr(rdi + MASKS_AT + 32), ymm0)?;
        }
        a.pop(rdx)?;
        for r in [r15, r14, r13, r12, rbp, rbx] {
            a.pop(r)?;
        }
        a.ret()
    })()
    .expect("the harness encodes");
    a.assemble(0).expect("the harness assembles")
}

/// A small generator, the same on every run.
pub struct Random(pub u64);

impl Random {
    /// The next word.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Words that are random, or made of corner values of one lane width.
    pub fn word(&mut self, kind: u64) -> u64 {
        let pick = |r: &mut Self, list: &[u64]| list[(r.next() % list.len() as u64) as usize];
        let lanes = |r: &mut Self, bits: u32, list: &[u64]| {
            (0..64 / bits)
                .fold(0, |w, i| w | (pick(r, list) & (u64::MAX >> (64 - bits))) << (bits * i))
        };
        match kind % 6 {
            0 => lanes(self, 8, &[0, 1, 0x7f, 0x80, 0xff, 0x40, 15, 0x81]),
            1 => lanes(self, 16, &[0, 1, 0x7fff, 0x8000, 0xffff, 2295, 4591, 0x4000, 0x8001]),
            2 => lanes(self, 32, &[0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x8000, 0x10000]),
            3 => pick(self, &[0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 0xffff_ffff, 31, 32, 64]),
            4 => self.next() % 80,
            _ => self.next(),
        }
    }
    /// All registers' words.
    pub fn state(&mut self, kind: u64) -> Vec<u64> {
        (0..STATE)
            .map(|_| {
                let k = if kind % 7 == 6 { self.next() } else { kind };
                self.word(k)
            })
            .collect()
    }
    /// A memory operand's words.
    pub fn memory(&mut self, kind: u64) -> Vec<u64> {
        (0..MEMORY).map(|_| self.word(kind)).collect()
    }
}
