//! AArch64: the scalar code that compilers emit, and Neon on integers.
//!
//! Instructions are a whitelist: each arm names the mnemonics it means, and every operand form that
//! an arm does not expect is refused. So are words outside the base set of the architecture
//! (Armv8.0 with Advanced SIMD), except six that sign return addresses.
//!
//! *Undefined* data: as for x86-64, lane by lane; a scalar instruction has one lane. Bitwise
//! operations and moves work on bytes first.
//!
//! These differences from x86-64 are easy to get wrong:
//!
//! - A subtraction's carry is the inverted borrow.
//! - A result of 64 bits clears the upper half of a vector register. A result of 32 bits clears
//!   that of a general register.
//! - Shifts by a register take the count modulo the width.
//! - There is no red zone, and a stack pointer that is used as a base must be a multiple of 16.
//! - The caller owns only the low halves of d8 to d15.
//! - x18 may belong to the platform, so its use is an assumption of the report.
//! - Linkers may put a veneer between a relocated branch and its target, which changes x16 and x17.

mod bitwise;
mod control;
mod decode;
mod flags;
mod integer;
mod lanes;
mod links;
mod memory;
mod operand;
mod permute;
mod signing;
mod structures;
mod vector;
mod words;

use crate::byte::Byte;
use crate::core::flags::Flag;
use crate::core::{Decoded, Entry, Fallible, InstructionSet, Trap};
use crate::object::aarch64::R_ABS64;
pub(crate) use decode::disassemble;
use fARM64::Instruction;
use flags::Flags;
use links::Link;

/// A vector register.
pub(crate) type Wide = [Byte; 16];

/// The link register.
const LINK: usize = 30;

/// Registers that belong to the caller: x19 to x29, then the low halves of v8 to v15.
const GENERAL_SAVED: std::ops::RangeInclusive<usize> = 19..=29;
const VECTOR_SAVED: std::ops::RangeInclusive<usize> = 8..=15;

/// A decoded instruction with what its relocation says.
#[derive(Clone, Copy, Default)]
pub(crate) struct Linked {
    pub ins: Instruction,
    pub link: Option<Link>,
}

/// Registers and flags.
pub(crate) struct AArch64 {
    /// x0 to x30.
    pub general: [[Byte; 8]; 31],
    pub stack_pointer: [Byte; 8],
    pub vector: [Wide; 32],
    pub flags: Flags,
    /// Pages that code has taken the address of: the region that represents each, and a place in
    /// it.
    pub pages: Vec<(u16, (u16, i64))>,
    /// Pages of slots of the global offset table that code has taken the address of.
    pub slots: Vec<links::SlotPage>,
    /// Return addresses that were signed.
    pub signed: Vec<signing::Signed>,
}

/// The processor and its memory.
pub(crate) type Machine<'a> = crate::core::Machine<'a, AArch64>;

impl InstructionSet for AArch64 {
    type Instruction = Linked;
    const WORD: usize = 8;
    const STACK_ALIGN: u64 = 16;
    const RED_ZONE: i64 = 0;
    const RETURN_SLOT: i64 = 0;
    const ARGUMENTS: usize = 8;
    const STACK_POINTER: &'static str = "sp";
    const SAVED: &'static [&'static str] = &[
        "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "d8", "d9",
        "d10", "d11", "d12", "d13", "d14", "d15",
    ];
    const ADDRESS: u32 = R_ABS64;
    const LANDINGS: &'static [u32] = &control::CALLED;

    fn at_entry(entry: &Entry) -> AArch64 {
        let mut general: [[Byte; 8]; 31] = std::array::from_fn(Byte::of_caller);
        let mut vector = [[Byte::Undefined; 16]; 32];
        general.iter_mut().zip(&entry.arguments).for_each(|(r, value)| *r = *value);
        general[LINK] = entry.back;
        let (first, second) = entry.saved.split_at(GENERAL_SAVED.count());
        GENERAL_SAVED.zip(first).for_each(|(r, value)| general[r] = *value);
        VECTOR_SAVED.zip(second).for_each(|(r, value)| vector[r][..8].copy_from_slice(value));
        let flags = Flags::default();
        let (pages, slots, signed) = (Vec::new(), Vec::new(), Vec::new());
        AArch64 { general, stack_pointer: entry.stack_pointer, vector, flags, pages, slots, signed }
    }

    fn stack_pointer(&self) -> &[Byte] {
        &self.stack_pointer
    }

    fn argument(&self, i: usize) -> &[Byte] {
        &self.general[i]
    }

    fn saved(&self, i: usize) -> &[Byte] {
        let first = GENERAL_SAVED.count();
        if i < first {
            &self.general[GENERAL_SAVED.start() + i]
        } else {
            &self.vector[VECTOR_SAVED.start() + i - first][..8]
        }
    }

    fn after_call(&mut self, result: [Byte; 8]) {
        for r in (0..=18).chain([LINK]) {
            self.general[r] = [Byte::Undefined; 8];
        }
        self.general[0] = result;
        for (r, wide) in self.vector.iter_mut().enumerate() {
            let kept = if VECTOR_SAVED.contains(&r) { 8 } else { 0 };
            wide[kept..].fill(Byte::Undefined);
        }
        self.flags = Flags::default();
    }

    /// x18 too, though on some platforms nobody writes it: what runs there may.
    fn scratch(m: &Machine<'_>) -> Option<Vec<(String, Vec<Byte>)>> {
        let general = (1..=18).map(|r| (format!("x{r}"), m.cpu.general[r].to_vec()));
        let vectors = m.cpu.vector.iter().enumerate().map(|(r, wide)| {
            if VECTOR_SAVED.contains(&r) {
                (format!("the upper half of v{r}"), wide[8..].to_vec())
            } else {
                (format!("v{r}"), wide.to_vec())
            }
        });
        Some(general.chain(vectors).collect())
    }

    fn decode(m: &mut Machine<'_>) -> Fallible<Decoded<AArch64>> {
        let Some(ins) = decode::decode(m.object, m.at.0, m.at.1) else {
            return Err(m.unsupported("bytes that are no instruction of Armv8.0-A"));
        };
        m.now.ins = ins;
        m.now.link = m.link(&ins)?;
        Ok(Decoded {
            instruction: m.now,
            class: decode::classify(&ins),
            mnemonic: format!("{:?}", ins.mnemonic()).to_ascii_lowercase(),
            executed: 0,
        })
    }

    fn length(_: &Linked) -> usize {
        4
    }

    fn overflow(&self) -> Flag {
        self.flags.overflow
    }

    /// `brk` with the numbers that compilers give it; a debugger goes on behind others.
    fn trap(code: &[u8]) -> Option<Trap> {
        let word = u32::from_le_bytes(*code.first_chunk()?);
        match (word & 0xffe0_001f == 0xd420_0000, word >> 5 & 0xffff) {
            (true, 1 | 1000) => Some(Trap::Plain),
            (true, 0x5500..=0x55ff) => Some(Trap::Sanitizer),
            _ => None,
        }
    }

    fn step(m: &mut Machine<'_>) -> Fallible<()> {
        let ins = m.now.ins;
        let done = m.control(&ins)?
            || m.signing(&ins)?
            || m.memory(&ins)?
            || m.structures(&ins)?
            || if decode::is_vector(&ins) {
                m.vector(&ins)? || m.permute(&ins)?
            } else {
                m.integer(&ins)?
            };
        if done { Ok(()) } else { Err(m.unsupported("this instruction is not on the whitelist")) }
    }
}
