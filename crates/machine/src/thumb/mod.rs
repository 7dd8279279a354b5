//! Thumb-2 with the DSP extension (Armv7E-M), as in the processors Cortex-M4 and M7.
//!
//! Instructions are a whitelist: the decoder's tables list the known encodings, and this module
//! gives each operation there its meaning. Registers and addresses have 32 bits.
//!
//! *Undefined* data: as for x86-64. A scalar instruction has one lane, an instruction on halves
//! two.
//!
//! These points are easy to get wrong:
//!
//! - Inside an IT block narrow instructions do not set flags.
//! - A condition that depends on inputs is a selection (`select.rs`).
//! - A subtraction's carry is the inverted borrow.
//! - Shifts by a register take its low byte.
//! - Products of halves are added modulo 2^32. The flag Q records the overflow; no instruction on
//!   the list reads Q or the flags GE.
//! - Code addresses are odd.
//! - LDM, STM, LDRD and STRD fault on addresses that are not multiples of 4. Other accesses take
//!   such addresses if the system allows it, which is an assumption of the report.
//! - A linker may put a veneer between a relocated branch and its target, which changes r12.

mod bits;
pub(crate) mod conditions;
mod control;
mod data;
pub(crate) mod decode;
#[cfg(test)]
mod emulator_tests;
mod floats;
mod lanes;
mod links;
mod memory;
mod multiply;
pub(crate) mod operation;
mod select;

use crate::byte::Byte;
use crate::core::conditions::Flags;
use crate::core::flags::Flag;
use crate::core::{
    Convention, Decoded, Effect, Entry, Fallible, InstructionSet, Routine, Trap, Value,
};
use crate::fold::{gather, scatter};
use crate::lifted::Class;
use crate::object::Object;
use crate::object::arm::R_ABS32;
use decode::{Instruction, Refused, Sets};
use links::Link;
use operation::Op;
use std::collections::BTreeSet;

/// A register.
pub(crate) type Word = [Byte; 4];

/// The stack pointer, the link register and the program counter.
const SP: u8 = 13;
const LINK: u8 = 14;
const PC: u8 = 15;

/// Registers for floating point that belong to the caller.
const FLOATS_SAVED: std::ops::RangeInclusive<usize> = 16..=31;
/// Where their numbers begin in conventions.
const FLOATS: usize = 16;

/// The procedure call standard with arguments in general registers [AAPCS32 §6].
static AAPCS: Convention = Convention {
    arguments: &[0, 1, 2, 3],
    result: 0,
    saved: &[
        ("r4", 4),
        ("r5", 5),
        ("r6", 6),
        ("r7", 7),
        ("r8", 8),
        ("r9", 9),
        ("r10", 10),
        ("r11", 11),
        ("s16", FLOATS + 16),
        ("s17", FLOATS + 17),
        ("s18", FLOATS + 18),
        ("s19", FLOATS + 19),
        ("s20", FLOATS + 20),
        ("s21", FLOATS + 21),
        ("s22", FLOATS + 22),
        ("s23", FLOATS + 23),
        ("s24", FLOATS + 24),
        ("s25", FLOATS + 25),
        ("s26", FLOATS + 26),
        ("s27", FLOATS + 27),
        ("s28", FLOATS + 28),
        ("s29", FLOATS + 29),
        ("s30", FLOATS + 30),
        ("s31", FLOATS + 31),
    ],
    stack_align: 8,
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
pub(crate) struct Thumb {
    /// r0 to r14.
    pub general: [Word; 15],
    /// s0 to s31, of whose bits nothing is computed.
    pub floats: [Word; 32],
    pub flags: Flags,
    /// The state of an IT block, and whether the current instruction stands in one.
    pub block: u8,
    pub conditional: bool,
}

/// The processor and its memory.
pub(crate) type Machine<'a> = crate::core::Machine<'a, Thumb>;

/// The first bytes of what fills a register.
fn word(bytes: &[Byte]) -> Word {
    bytes[..4].try_into().expect("four bytes")
}

impl InstructionSet for Thumb {
    type Instruction = Linked;
    const WORD: usize = 4;
    const STACK_POINTER: &'static str = "sp";
    const ADDRESS: u32 = R_ABS32;
    const LANDINGS: &'static [u32] = &[];

    fn convention(_: &Object) -> &'static Convention {
        &AAPCS
    }

    fn at_entry(entry: &Entry) -> Thumb {
        let mut general: [[Byte; 4]; 15] = std::array::from_fn(Byte::of_caller);
        let floats = [[Byte::Undefined; 4]; 32];
        general[usize::from(SP)] = word(&entry.stack_pointer);
        general[usize::from(LINK)] = word(&entry.back);
        Thumb { general, floats, flags: Flags::default(), block: 0, conditional: false }
    }

    fn stack_pointer(&self) -> &[Byte] {
        &self.general[usize::from(SP)]
    }

    fn word(&mut self, register: usize) -> &mut [Byte] {
        match register.checked_sub(FLOATS) {
            None => &mut self.general[register],
            Some(float) => &mut self.floats[float],
        }
    }

    /// The C library's routines, and the helpers of Arm's run-time ABI [RTABI32 §4.3.4]. The helper
    /// that fills memory takes the length before the byte.
    fn routine(name: &str) -> Option<Routine> {
        let Some(name) = name.strip_prefix("__aeabi_") else { return Routine::of_c(name) };
        let (name, align) = match name.strip_suffix(['4', '8']) {
            Some(base) if name.ends_with('4') => (base, 4),
            Some(base) => (base, 8),
            None => (name, 1),
        };
        let (effect, length) = match name {
            "memcpy" => (Effect::Copy, 2),
            "memmove" => (Effect::Move, 2),
            "memset" => (Effect::Fill { with: 2 }, 1),
            "memclr" => (Effect::Clear, 1),
            _ => return None,
        };
        Some(Routine { effect, length, bound: None, align, returns: false })
    }

    fn after_call(&mut self, _: &Convention) {
        for r in [0, 1, 2, 3, 12, usize::from(LINK)] {
            self.general[r] = [Byte::Undefined; 4];
        }
        self.floats[..*FLOATS_SAVED.start()].fill([Byte::Undefined; 4]);
        self.flags = Flags::default();
    }

    /// The floating-point registers that the executed code writes; the others still hold the
    /// caller's values.
    fn scratch(m: &Machine<'_>) -> Option<Vec<(String, Vec<Byte>)>> {
        const NAMES: [(&str, u8); 5] = [("r1", 1), ("r2", 2), ("r3", 3), ("r12", 12), ("lr", LINK)];
        let one = |(name, r): (&str, u8)| (name.into(), m.cpu.general[usize::from(r)].to_vec());
        let written = m.code.iter().flat_map(|c| c.instruction.ins.floats_written());
        let floats: BTreeSet<usize> = written.filter(|r| !FLOATS_SAVED.contains(r)).collect();
        let floats = floats.iter().map(|&r| (format!("s{r}"), m.cpu.floats[r].to_vec()));
        Some(NAMES.map(one).into_iter().chain(floats).collect())
    }

    fn decode(m: &mut Machine<'_>) -> Fallible<Decoded<Thumb>> {
        let (section, offset) = m.at;
        if !m.object.is_code(section, offset) || !offset.is_multiple_of(2) {
            return Err(m.unsupported("bytes that no symbol $t marks as Thumb code"));
        }
        let data = &m.object.sections[section].data;
        let start = usize::try_from(offset).ok().filter(|&at| at <= data.len());
        let ins = match decode::decode(start.map_or(&[], |at| &data[at..])) {
            Ok(ins) => ins,
            Err(Refused::CutOff) => return Err(m.unsupported("an instruction that is cut off")),
            Err(Refused::Unlisted) => {
                return Err(m.unsupported("this encoding is not on the whitelist of Armv7E-M"));
            }
            Err(Refused::Condition(name)) => {
                return Err(m.unsupported(format!(
                    "what `{name}` does with these operands is left open by the architecture, or not on \
                     the whitelist"
                )));
            }
        };
        m.now.ins = ins;
        m.now.link = m.link(&ins)?;
        Ok(Decoded {
            instruction: m.now,
            class: classify(&ins),
            mnemonic: ins.mnemonic(),
            executed: 0,
        })
    }

    fn length(instruction: &Linked) -> usize {
        instruction.ins.length.into()
    }

    fn overflow(&self) -> Flag {
        self.flags.overflow
    }

    /// `udf` in 16 and in 32 bits.
    fn trap(code: &[u8]) -> Option<Trap> {
        let udf = matches!(code, [_, 0xde, ..] | [0xf0..=0xff, 0xf7, _, 0xa0..=0xaf, ..]);
        udf.then_some(Trap::Plain)
    }

    fn step(m: &mut Machine<'_>) -> Fallible<()> {
        let ins = m.now.ins;
        match conditions::current(m.cpu.block) {
            15 => m.execute(&ins),
            condition => m.in_block(&ins, condition),
        }
    }
}

/// The instruction at an offset of a section as text.
pub(crate) fn disassemble(object: &Object, section: usize, offset: u64) -> Option<(String, usize)> {
    let bytes = object.sections[section].data.get(usize::try_from(offset).ok()?..)?;
    decode::decode(bytes).ok().map(|ins| (ins.text(), ins.length.into()))
}

/// The class of an instruction, for counting.
fn classify(ins: &Instruction) -> Class {
    match ins.op {
        Op::Load { .. } | Op::LoadPair | Op::LoadMany { .. } => Class::ScalarLoad,
        Op::LoadFloat { .. } | Op::LoadFloats { .. } => Class::ScalarLoad,
        Op::Store { .. } | Op::StorePair | Op::StoreMany { .. } => Class::ScalarStore,
        Op::StoreFloat { .. } | Op::StoreFloats { .. } => Class::ScalarStore,
        Op::Branch | Op::BranchIf | Op::CompareBranch { .. } | Op::Call | Op::Exchange { .. } => {
            Class::Branch
        }
        Op::Nop | Op::IfThen => Class::Other,
        _ => Class::Scalar,
    }
}

impl Machine<'_> {
    /// The current instruction, whose condition holds.
    fn execute(&mut self, ins: &Instruction) -> Fallible<()> {
        let done = self.data(ins)?
            || self.bits(ins)?
            || self.multiply(ins)?
            || self.lanes(ins)?
            || self.memory(ins)?
            || self.floats(ins)?
            || self.control(ins)?;
        if done {
            Ok(())
        } else {
            Err(self.unsupported("this instruction is not on the whitelist"))
        }
    }

    /// Whether the instruction sets the flags where it stands.
    fn sets(&self, ins: &Instruction) -> bool {
        match ins.sets {
            Sets::Never => false,
            Sets::Always => true,
            Sets::OutsideIt => !self.cpu.conditional,
        }
    }

    /// A register's value; of the program counter there is none here.
    fn value(&mut self, r: u8) -> Fallible<Value> {
        if r == PC {
            return Err(self.unsupported("the program counter as an operand"));
        }
        Ok(gather(self.g, &self.cpu.general[usize::from(r)]))
    }

    /// Writes a register.
    fn set_bytes(&mut self, r: u8, bytes: Word) -> Fallible<()> {
        match r {
            PC => return Err(self.unsupported("the program counter as a destination")),
            9 => self.assume(
                "r9 is a register like others, as where no platform uses it as a static base or for \
                 threads"
                    .into(),
            ),
            _ => {}
        }
        self.cpu.general[usize::from(r)] = bytes;
        if r == SP {
            // Its two lowest bits do not exist.
            let top = self.stack_pointer()?;
            if self.regions[usize::from(self.stack)].aligned(top, 4) != Some(true) {
                return Err(self.unsupported("a stack pointer that is no multiple of 4"));
            }
            self.stack_moved()?;
        }
        Ok(())
    }

    /// Writes a register; [`None`] is undefined.
    fn put(&mut self, r: u8, value: Value) -> Fallible<()> {
        let mut bytes = [Byte::Undefined; 4];
        if let Some(node) = value {
            scatter(self.g, node, &mut bytes);
        }
        self.set_bytes(r, bytes)
    }
}
