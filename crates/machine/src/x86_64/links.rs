//! What the linker writes into instructions and data: the list of accepted relocations, each for the
//! exact field that it fills.
//!
//! A relocation is looked up once, when the instruction is decoded, and only as the tuple of type,
//! field and addend in [`Machine::links`]. The semantics then ask for the displacement's relocation
//! or the immediate's. A relocation is refused if it fills another field or a part of one, or
//! reaches into the instruction from a neighbour.

use super::{Fallible, Machine};
use crate::graph::NodeId;
use crate::object::x86_64::{
    R_32, R_32S, R_64, R_GOTPCREL, R_GOTPCRELX, R_PC32, R_PLT32, R_REX_GOTPCRELX,
};
use crate::object::{Place, Relocation};
use iced_x86::{Code, ConstantOffsets, Instruction, Mnemonic, OpKind};

/// What a linked field means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// The symbol's address plus addend: `after` is added, which is the distance from the field to
    /// the instruction's end for fields relative to that, else 0.
    Address { after: i64 },
    /// A slot of the global offset table that holds the symbol's address.
    Slot,
}

/// A relocation with its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub relocation: Relocation,
    pub meaning: Meaning,
}

/// The fields of one instruction that the linker writes.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Links {
    pub displacement: Option<Link>,
    /// The immediate, or a branch's displacement.
    pub immediate: Option<Link>,
}

/// Instructions with an immediate that may be an address, by the relocation's type.
fn takes_address(code: Code, kind: u32) -> bool {
    match kind {
        // Zero-extended to the whole register.
        R_32 => matches!(code, Code::Mov_r32_imm32 | Code::Mov_rm32_imm32),
        // Sign-extended.
        R_32S => matches!(
            code,
            Code::Mov_rm64_imm32
                | Code::Add_rm64_imm32
                | Code::Add_RAX_imm32
                | Code::Sub_rm64_imm32
                | Code::Sub_RAX_imm32
                | Code::Cmp_rm64_imm32
                | Code::Cmp_RAX_imm32
                | Code::Pushq_imm32
        ),
        R_64 => code == Code::Mov_r64_imm64,
        _ => false,
    }
}

/// Whether linkers may rewrite the instruction as they do for that relocation, and it then means the
/// same: `mov` to a 64-bit register, `call` and `jmp`, in their shortest encodings.
fn relaxes(code: Code, bytes: &[u8], kind: u32) -> bool {
    match bytes {
        [rex, 0x8b, modrm, ..] => {
            code == Code::Mov_r64_rm64
                && (0x48..=0x4f).contains(rex)
                && modrm & 0xc7 == 5
                && matches!(kind, R_GOTPCREL | R_REX_GOTPCRELX)
        }
        [0xff, 0x15 | 0x25, ..] => {
            matches!(code, Code::Call_rm64 | Code::Jmp_rm64)
                && matches!(kind, R_GOTPCREL | R_GOTPCRELX)
        }
        _ => false,
    }
}

impl Machine<'_> {
    /// The relocations of the instruction at `self.at`, each accepted or refused by name.
    pub(super) fn links(&self, ins: &Instruction, c: &ConstantOffsets) -> Fallible<Links> {
        let (section, here) = self.at;
        let end = here + ins.len() as u64;
        let mut links = Links::default();
        for r in self.object.touching(section, here, end) {
            let field = |has: bool, at: usize, size: usize| {
                has && here + at as u64 == r.offset && size as u64 == r.width
            };
            let displacement =
                field(c.has_displacement(), c.displacement_offset(), c.displacement_size());
            let immediate = field(c.has_immediate(), c.immediate_offset(), c.immediate_size())
                && !c.has_immediate2();
            let refuse = |why: &str| {
                self.unsupported(format!("relocation {}: {why}", self.object.tell(section, r)))
            };
            if displacement == immediate {
                return Err(refuse("it fills no field of this instruction"));
            }
            if r.span().0 < here || r.offset + r.width > end {
                return Err(refuse("linkers may rewrite code beyond this instruction"));
            }
            let after = (end - r.offset) as i64;
            let meaning = if immediate {
                self.immediate_meaning(ins, r, after)
            } else {
                self.displacement_meaning(ins, r, after)
            };
            let meaning = meaning.map_err(refuse)?;
            let link = Some(Link { relocation: *r, meaning });
            if immediate { links.immediate = link } else { links.displacement = link }
        }
        Ok(links)
    }

    fn immediate_meaning(
        &self,
        ins: &Instruction,
        r: &Relocation,
        after: i64,
    ) -> Result<Meaning, &'static str> {
        let near = ins.op_count() == 1 && ins.op_kind(0) == OpKind::NearBranch64;
        match r.kind {
            R_PC32 | R_PLT32 if near && r.width == 4 => {
                let symbol = self.object.symbol(r);
                let local = matches!(symbol.place, Place::Inside { local: true, .. });
                if r.addend != -after && !local {
                    return Err("a branch beside the start of a function that may lie elsewhere");
                }
                Ok(Meaning::Address { after })
            }
            R_PC32 | R_PLT32 => Err("a distance in a field that is no branch's"),
            R_32 | R_32S | R_64 if near => Err("an address in a branch's field"),
            R_32 | R_32S | R_64 if takes_address(ins.code(), r.kind) => {
                Ok(Meaning::Address { after: 0 })
            }
            R_32 | R_32S | R_64 => Err("an address in the immediate of this instruction"),
            _ => Err("this type is not on the list for immediates and branches"),
        }
    }

    fn displacement_meaning(
        &self,
        ins: &Instruction,
        r: &Relocation,
        after: i64,
    ) -> Result<Meaning, &'static str> {
        let relative = ins.is_ip_rel_memory_operand();
        let bytes = self.object.bytes_at(self.address(), ins.len());
        match r.kind {
            R_PC32 if relative => Ok(Meaning::Address { after }),
            R_32S if !relative && r.width == 4 => Ok(Meaning::Address { after: 0 }),
            R_PC32 => Err("a distance in an operand that is not relative to the instruction"),
            R_32S => Err("an address in an operand that is relative to the instruction"),
            R_GOTPCREL | R_GOTPCRELX | R_REX_GOTPCRELX => {
                if !relative || !relaxes(ins.code(), bytes, r.kind) {
                    return Err(
                        "a use of the global offset table by another instruction than mov to \
                                a 64-bit register, call or jmp, or one that the type is not for",
                    );
                }
                if r.addend != -4 || after != 4 {
                    return Err("a place beside the slot of the global offset table");
                }
                Ok(Meaning::Slot)
            }
            _ => Err("this type is not on the list for memory operands"),
        }
    }

    /// The address that a link means: of the place itself, or of what its slot holds.
    pub(super) fn linked(&mut self, link: &Link) -> Fallible<NodeId> {
        let r = link.relocation;
        let (addend, indirect) = match link.meaning {
            Meaning::Address { after } => (r.addend.wrapping_add(after), after != 0),
            Meaning::Slot => (0, true),
        };
        self.target(self.at.0, &r, addend, indirect)
    }

    /// Whether the operand is loaded from a slot of the global offset table by a plain `mov`.
    pub(super) fn is_slot(&self) -> bool {
        self.now.links.displacement.is_some_and(|l| l.meaning == Meaning::Slot)
    }

    /// Whether the instruction is one that control flow handles.
    pub(super) fn is_branch(ins: &Instruction) -> bool {
        matches!(ins.mnemonic(), Mnemonic::Jmp | Mnemonic::Call | Mnemonic::Ret)
            || ins.is_jcc_short_or_near()
            || matches!(ins.mnemonic(), Mnemonic::Jrcxz | Mnemonic::Jecxz)
    }
}
