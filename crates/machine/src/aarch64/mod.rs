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
use crate::core::{Convention, Decoded, Entry, Fallible, InstructionSet, Trap};
use crate::object::Object;
use crate::object::aarch64::R_ABS64;
pub(crate) use decode::disassemble;
use fARM64::Instruction;
use flags::Flags;
use links::Link;

/// A vector register.
pub(crate) type Wide = [Byte; 16];

/// The link register.
const LINK: usize = 30;

/// Vector registers whose low halves belong to the caller.
const VECTOR_SAVED: std::ops::RangeInclusive<usize> = 8..=15;
/// Where the vector registers' numbers begin in conventions.
const VECTORS: usize = 32;

/// The procedure call standard [AAPCS64 §6].
static AAPCS64: Convention = Convention {
    arguments: &[0, 1, 2, 3, 4, 5, 6, 7],
    result: 0,
    saved: &[
        ("x19", 19),
        ("x20", 20),
        ("x21", 21),
        ("x22", 22),
        ("x23", 23),
        ("x24", 24),
        ("x25", 25),
        ("x26", 26),
        ("x27", 27),
        ("x28", 28),
        ("x29", 29),
        ("d8", VECTORS + 8),
        ("d9", VECTORS + 9),
        ("d10", VECTORS + 10),
        ("d11", VECTORS + 11),
        ("d12", VECTORS + 12),
        ("d13", VECTORS + 13),
        ("d14", VECTORS + 14),
        ("d15", VECTORS + 15),
    ],
    stack_align: 16,
    red_zone: 0,
    return_slot: 0,
    vectors: &[],
    home: 0,
    page: None,
};

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
    const STACK_POINTER: &'static str = "sp";
    const ADDRESS: u32 = R_ABS64;
    const LANDINGS: &'static [u32] = &control::CALLED;

    fn convention(_: &Object) -> &'static Convention {
        &AAPCS64
    }

    fn at_entry(entry: &Entry) -> AArch64 {
        let mut general: [[Byte; 8]; 31] = std::array::from_fn(Byte::of_caller);
        let vector = [[Byte::Undefined; 16]; 32];
        general[LINK] = entry.back;
        let flags = Flags::default();
        let (pages, slots, signed) = (Vec::new(), Vec::new(), Vec::new());
        AArch64 { general, stack_pointer: entry.stack_pointer, vector, flags, pages, slots, signed }
    }

    fn stack_pointer(&self) -> &[Byte] {
        &self.stack_pointer
    }

    fn word(&mut self, register: usize) -> &mut [Byte] {
        match register.checked_sub(VECTORS) {
            None => &mut self.general[register],
            Some(vector) => &mut self.vector[vector][..8],
        }
    }

    fn after_call(&mut self, _: &Convention) {
        for r in (0..=18).chain([LINK]) {
            self.general[r] = [Byte::Undefined; 8];
        }
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
