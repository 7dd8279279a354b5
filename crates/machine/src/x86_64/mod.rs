//! x86-64: legacy SSE to AVX2, AVX-VNNI, AVX-512 on integers, and the scalar code that compilers emit.
//!
//! Instructions are a whitelist: each arm names the mnemonics it means, and every operand form that
//! an arm does not expect is refused. Encodings other than legacy and VEX are refused, except those
//! on the list of `evex`.
//!
//! *Undefined* data: each instruction computes lane by lane (scalar instructions: the operand is
//! the lane). A lane with an undefined byte that the result depends on gives an undefined result
//! lane, and flags of it are undefined. Bitwise operations and shifts work on bytes first, so
//! bytes that are masked or shifted out do not matter. Undefined values become a
//! [`Violation::Undefined`](crate::error::Violation::Undefined) where they matter: as address,
//! branch condition, count or divisor here, and in an output when it is read.

mod aes;
mod arith;
mod avx512;
mod control;
mod decode;
mod evex;
mod flags;
mod integer;
mod lanes;
mod links;
mod logic;
mod masks;
mod moves;
mod multiply;
mod operand;
mod permute;
mod prefixes;
mod scalar_bits;
mod shifts;
mod shuffle;
mod strings;
mod ternary;

use crate::byte::Byte;
use crate::core::flags::Flag;
use crate::core::{Convention, Decoded, Entry, Fallible, InstructionSet, Trap, Value};
use crate::object::Object;
use crate::object::x86_64::R_64;
pub(crate) use decode::disassemble;
use flags::Flags;
use iced_x86::{EncodingKind, Instruction, Register};
use links::Links;
use masks::Mask;

/// Bytes of a vector register.
pub(crate) const WIDE: usize = 64;
/// A vector register's bytes.
pub(crate) type Wide = [Byte; WIDE];

const UNDEFINED: Wide = [Byte::Undefined; WIDE];
const ZEROS: Wide = [Byte::Const(0); WIDE];

/// Number of a general register in `gpr`.
pub(crate) const RAX: usize = 0;
pub(crate) const RCX: usize = 1;
pub(crate) const RDX: usize = 2;
pub(crate) const RSP: usize = 4;
pub(crate) const RSI: usize = 6;
pub(crate) const RDI: usize = 7;

/// General registers by their numbers.
const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];

/// System V's convention [SysV §3.2].
static SYSTEM_V: Convention = Convention {
    arguments: &[RDI, RSI, RDX, RCX, 8, 9],
    result: RAX,
    saved: &[("rbx", 3), ("rbp", 5), ("r12", 12), ("r13", 13), ("r14", 14), ("r15", 15)],
    stack_align: 16,
    red_zone: 128,
    return_slot: 8,
    vectors: &[],
    home: 0,
    page: None,
};

/// The convention of Windows [Win64 calling convention].
static WINDOWS: Convention = Convention {
    arguments: &[RCX, RDX, 8, 9],
    result: RAX,
    saved: &[
        ("rbx", 3),
        ("rbp", 5),
        ("rsi", RSI),
        ("rdi", RDI),
        ("r12", 12),
        ("r13", 13),
        ("r14", 14),
        ("r15", 15),
    ],
    stack_align: 16,
    red_zone: 0,
    return_slot: 8,
    vectors: &[6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    home: 32,
    page: Some(4096),
};

/// What the caller has in the lowest 16 bytes of a vector register that must be restored.
fn vector_of_caller(register: usize) -> [Byte; 16] {
    Byte::of_caller(NAMES.len() / 2 + register)
}

/// Registers that a called function may change.
fn clobbered(convention: &Convention) -> impl Iterator<Item = usize> {
    (0..NAMES.len()).filter(|&r| r != RSP && convention.saved.iter().all(|s| s.1 != r))
}

/// A decoded instruction with what its relocations say.
#[derive(Clone, Copy, Default)]
pub(crate) struct Linked {
    pub ins: Instruction,
    pub links: Links,
}

/// Registers and flags.
pub(crate) struct X86_64 {
    pub gpr: [[Byte; 8]; 16],
    /// Of them 16 to 31 are in EVEX encodings alone.
    pub vec: [Wide; 32],
    pub masks: [Mask; 8],
    pub flags: Flags,
}

/// The processor and its memory.
pub(crate) type Machine<'a> = crate::core::Machine<'a, X86_64>;

impl InstructionSet for X86_64 {
    type Instruction = Linked;
    const WORD: usize = 8;
    const STACK_POINTER: &'static str = "rsp";
    const ADDRESS: u32 = R_64;
    const LANDINGS: &'static [u32] = &[control::ENDBR64];

    fn convention(object: &Object) -> &'static Convention {
        if object.is_coff() { &WINDOWS } else { &SYSTEM_V }
    }

    fn at_entry(entry: &Entry) -> X86_64 {
        let mut gpr: [[Byte; 8]; 16] = std::array::from_fn(Byte::of_caller);
        gpr[RSP] = entry.stack_pointer;
        let mut vec = [UNDEFINED; 32];
        for &r in entry.convention.vectors {
            vec[r][..16].copy_from_slice(&vector_of_caller(r));
        }
        X86_64 { gpr, vec, masks: [[None; 64]; 8], flags: Flags::default() }
    }

    fn stack_pointer(&self) -> &[Byte] {
        &self.gpr[RSP]
    }

    fn word(&mut self, register: usize) -> &mut [Byte] {
        &mut self.gpr[register]
    }

    fn changed(&self, convention: &Convention) -> Option<String> {
        let changed = |&&r: &&usize| self.vec[r][..16] != vector_of_caller(r);
        convention.vectors.iter().find(changed).map(|r| format!("xmm{r}"))
    }

    fn after_call(&mut self, convention: &Convention) {
        for r in clobbered(convention) {
            self.gpr[r] = [Byte::Undefined; 8];
        }
        for (r, wide) in self.vec.iter_mut().enumerate() {
            let kept = if convention.vectors.contains(&r) { 16 } else { 0 };
            wide[kept..].fill(Byte::Undefined);
        }
        self.masks = [[None; 64]; 8];
        self.flags = Flags::default();
    }

    fn scratch(m: &Machine<'_>) -> Option<Vec<(String, Vec<Byte>)>> {
        let general = clobbered(m.convention).filter(|&r| r != RAX);
        let mut all: Vec<(String, Vec<Byte>)> =
            general.map(|r| (NAMES[r].to_string(), m.cpu.gpr[r].to_vec())).collect();
        // Legacy instructions leave the upper halves as the caller had them, and none but on zmm put data above those.
        let has = |kind| m.code.iter().any(|c| c.instruction.ins.code().encoding() == kind);
        let names = |is: fn(Register) -> bool| {
            let operands = |ins: &Instruction| (0..ins.op_count()).any(|i| is(ins.op_register(i)));
            m.code.iter().any(|c| operands(&c.instruction.ins))
        };
        let evex = has(EncodingKind::EVEX);
        let (name, bytes) = match () {
            () if names(Register::is_zmm) => ("zmm", 64),
            () if evex || has(EncodingKind::VEX) => ("ymm", 32),
            () => ("ymm", 16),
        };
        // And others than EVEX do not reach the upper sixteen.
        let count = if evex { 32 } else { 16 };
        let vectors = m.cpu.vec[..count].iter().enumerate();
        all.extend(vectors.map(|(i, v)| (format!("{name}{i}"), v[..bytes].to_vec())));
        if names(Register::is_k) {
            let byte = |bit: &Value| match bit {
                Some(id) => m.g.value(*id).map_or(Byte::Node(*id, 0), |v| Byte::Const(v as u8)),
                None => Byte::Undefined,
            };
            let masks = m.cpu.masks.iter().enumerate();
            all.extend(
                masks.map(|(i, bits)| {
                    (format!("k{i}, a bit each"), bits.iter().map(byte).collect())
                }),
            );
        }
        Some(all)
    }

    fn decode(m: &mut Machine<'_>) -> Fallible<Decoded<X86_64>> {
        let Some((ins, constants)) = decode::decode(m.object, m.at.0, m.at.1) else {
            return Err(m.unsupported("bytes that are no instruction"));
        };
        m.now.ins = ins;
        m.check_prefixes(&ins)?;
        m.now.links = m.links(&ins, &constants)?;
        Ok(Decoded {
            instruction: m.now,
            class: lanes::classify(&ins),
            mnemonic: format!("{:?}", ins.mnemonic()).to_ascii_lowercase(),
            executed: 0,
        })
    }

    fn length(instruction: &Linked) -> usize {
        instruction.ins.len()
    }

    fn overflow(&self) -> Flag {
        self.flags.overflow
    }

    /// `ud2` and `ud1`; sanitizers write `ud1` of eax with a prefix before it. Behind some text, `ud2` calls a hypervisor.
    fn trap(code: &[u8]) -> Option<Trap> {
        match code {
            [0x0f, 0x0b, b'x', b'e', b'n', ..] | [0x0f, 0x0b, b'k', b'v', b'm', ..] => None,
            [0x0f, 0x0b | 0xb9, ..] => Some(Trap::Plain),
            [0x67, 0x0f, 0xb9, 0x00 | 0x40 | 0x80, ..] => Some(Trap::Sanitizer),
            _ => None,
        }
    }

    fn step(m: &mut Machine<'_>) -> Fallible<()> {
        m.step()
    }
}

impl Machine<'_> {
    /// Executes `self.now.ins`.
    fn step(&mut self) -> Fallible<()> {
        let ins = self.now.ins;
        let refusal = match ins.code().encoding() {
            EncodingKind::Legacy | EncodingKind::VEX => None,
            _ => evex::refusal(&ins),
        };
        if let Some(why) = refusal {
            return Err(self.unsupported(why));
        }
        let done = self.control(ins)?
            || self.integer(ins)?
            || self.scalar_bits(ins)?
            || self.strings(ins)?
            || self.vector(ins)?;
        if done {
            Ok(())
        } else {
            Err(self.unsupported("this instruction is not on the whitelist"))
        }
    }

    /// Vector instructions; operands besides vector registers, masks, general registers, memory and
    /// immediates (MMX, tiles) are refused.
    fn vector(&mut self, ins: Instruction) -> Fallible<bool> {
        for i in 0..ins.op_count() {
            let r = ins.op_register(i);
            if r != Register::None && !(r.is_vector_register() || r.is_k() || r.is_gpr()) {
                return Ok(false);
            }
        }
        self.check_memory_mask()?;
        Ok(self.masks(ins)?
            || self.moves(ins)?
            || self.arith(ins)?
            || self.logic(ins)?
            || self.shifts(ins)?
            || self.shuffle(ins)?
            || self.permute(ins)?
            || self.aes(ins)?
            || self.ternary(ins)?
            || self.avx512(ins)?)
    }

    /// Whether the encoding is VEX or EVEX: they clear the upper half of the destination, legacy keeps it.
    pub fn is_vex(&self) -> bool {
        self.now.ins.code().encoding() != EncodingKind::Legacy
    }
}
