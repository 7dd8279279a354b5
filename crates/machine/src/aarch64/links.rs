//! What the linker writes into instructions: the list of accepted relocations, each for the field that
//! it fills.
//!
//! Code takes an address in two steps: ADRP gives a page, and the low 12 bits are added, or are the
//! offset of an access. If the two name places that may lie in different pages, the sum is wrong.
//! So the page is a token here that only its partners can use, and only if both places surely lie
//! in one page. The same holds of slots of the global offset table, whose only use is to load what
//! they hold.

use super::Machine;
use crate::core::{Fallible, Region, RegionKind, Value};
use crate::graph::NodeId;
use crate::object::Relocation;
use crate::object::aarch64::{self as kinds, Field};
use fARM64::operand::MemIndexMode;
use fARM64::{Instruction, Mnemonic as M, Operand};

/// Bytes of the pages of ADRP.
const PAGE: u64 = 4096;

/// What a linked field means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// The place itself: of branches, literals, ADR.
    Place,
    /// The page of the place.
    Page,
    /// The place's low 12 bits, for an access of that many bytes (0: added).
    LowBits(u64),
    /// The page of the slot that holds the place.
    SlotPage,
    /// The low 12 bits of that slot.
    Slot,
}

/// The page of a slot, as an ADRP gives it.
pub(crate) struct SlotPage {
    /// The region that represents it.
    token: u16,
    /// What the slot names.
    symbol: usize,
    /// Where the ADRP stands.
    at: (usize, u64),
}

/// A relocation with its meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub relocation: Relocation,
    pub meaning: Meaning,
}

impl Machine<'_> {
    /// The relocation of the instruction at `self.at`, accepted or refused by name.
    pub(super) fn link(&self, ins: &Instruction) -> Fallible<Option<Link>> {
        let (section, here) = self.at;
        let mut found = None;
        for r in self.object.touching(section, here, here + 4) {
            let refuse = |why: &str| {
                self.unsupported(format!("relocation {}: {why}", self.object.tell(section, r)))
            };
            if r.offset != here || found.is_some() {
                return Err(refuse("it does not fill this instruction alone"));
            }
            let Some(field) = kinds::field(r.kind) else {
                return Err(refuse("this type is not on the list for instructions"));
            };
            // Some linkers add to what stands in the field, others replace it.
            if ins.word() & field.mask() != 0 {
                return Err(refuse("the field that it fills is not zero in the file"));
            }
            let meaning = match (field, ins.mnemonic()) {
                (Field::Branch26 { call }, M::B | M::Bl)
                    if call == (ins.mnemonic() == M::Bl)
                        && matches!(ins.op(0), Operand::Label(_)) =>
                {
                    Meaning::Place
                }
                (Field::Branch19, M::B) if matches!(ins.op(0), Operand::Cond(_)) => Meaning::Place,
                (Field::Branch19, M::Cbz | M::Cbnz) => Meaning::Place,
                (Field::Branch14, M::Tbz | M::Tbnz) => Meaning::Place,
                (Field::Literal, M::Ldr | M::Ldrsw) if matches!(ins.op(1), Operand::Label(_)) => {
                    Meaning::Place
                }
                (Field::Near, M::Adr) => Meaning::Place,
                (Field::Page, M::Adrp) => Meaning::Page,
                (Field::Added, M::Add)
                    if matches!(ins.op(2), Operand::ImmShiftedMove { lsl: 0, .. }) =>
                {
                    Meaning::LowBits(0)
                }
                // The access checks that it has that size.
                (
                    Field::Offset(size),
                    M::Ldr
                    | M::Str
                    | M::Ldrb
                    | M::Strb
                    | M::Ldrh
                    | M::Strh
                    | M::Ldrsb
                    | M::Ldrsh
                    | M::Ldrsw,
                ) if matches!(ins.op(1), Operand::MemImm { mode: MemIndexMode::Offset, .. }) => {
                    Meaning::LowBits(size)
                }
                (Field::SlotPage | Field::Slot, _) if r.addend != 0 => {
                    return Err(refuse("a place beside the slot of the global offset table"));
                }
                (Field::SlotPage, M::Adrp) => Meaning::SlotPage,
                (Field::Slot, M::Ldr)
                    if matches!(ins.op(0), Operand::Reg { reg, .. } if !reg.is_simd() && reg.width_bits() == 64)
                        && matches!(
                            ins.op(1),
                            Operand::MemImm { mode: MemIndexMode::Offset, .. }
                        ) =>
                {
                    Meaning::Slot
                }
                _ => return Err(refuse("it is not for the field of this instruction")),
            };
            if matches!(field, Field::Branch26 { .. } | Field::Branch19 | Field::Branch14)
                && r.addend != 0
                && !self.is_local(r)
            {
                return Err(refuse(
                    "a branch beside the start of a function that may lie elsewhere",
                ));
            }
            found = Some(Link { relocation: *r, meaning });
        }
        Ok(found)
    }

    fn is_local(&self, r: &Relocation) -> bool {
        matches!(self.object.symbol(r).place, crate::object::Place::Inside { local: true, .. })
    }

    /// The address of the place that a link means.
    pub(super) fn linked(&mut self, link: &Link) -> Fallible<NodeId> {
        let r = link.relocation;
        self.target(self.at.0, &r, r.addend, false)
    }

    /// The address that ADR, ADRP or a literal's label, operand `i`, means.
    pub(super) fn place_of(&mut self, i: usize, page: bool) -> Fallible<NodeId> {
        let Operand::Label(target) = self.now.ins.op(i) else { return Err(self.form()) };
        match self.now.link {
            Some(link) if link.meaning == Meaning::SlotPage => self.slot_page(&link),
            Some(link) => {
                let place = self.linked(&link)?;
                if self.now.ins.mnemonic() != M::Adr && !page {
                    self.counted(place, 4)?;
                }
                if page { self.page(place) } else { Ok(place) }
            }
            None if page && !self.object.is_linked() => Err(self.unsupported(
                "ADRP without a relocation: the page depends on where the code is placed",
            )),
            None => {
                // The target lies in this very section, which in linked files begins at a page.
                let here = self.object.sections[self.at.0].address;
                let offset = target.wrapping_sub(here) as i64;
                match self.section_address(self.at.0, offset, offset) {
                    Some(node) => Ok(node),
                    None => Err(self.unsupported("an address in no entry of its section")),
                }
            }
        }
    }

    /// Checks that a place that a field names in units of so many bytes surely is a multiple of
    /// them. Otherwise linkers refuse it, or drop its low bits.
    fn counted(&self, place: NodeId, unit: u64) -> Fallible<()> {
        let Some((region, offset)) = self.g.address_of(place) else { return Err(self.form()) };
        match self.regions[usize::from(region)].aligned(offset, unit) {
            Some(true) => Ok(()),
            _ => Err(self.unsupported(format!(
                "a field that counts in units of {unit} bytes, for a place that need not be a multiple of them"
            ))),
        }
    }

    /// The token that represents the page of a place.
    fn page(&mut self, place: NodeId) -> Fallible<NodeId> {
        let Some(at) = self.g.address_of(place) else { return Err(self.form()) };
        let known = self.cpu.pages.iter().find(|p| p.1 == at).map(|p| p.0);
        let region = match known {
            Some(region) => region,
            None => {
                let name = self.regions[usize::from(at.0)].name.clone();
                let number = self.token(&format!("the page of {name}"))?;
                self.cpu.pages.push((number, at));
                number
            }
        };
        Ok(self.g.address(region, 0))
    }

    /// A region that represents a value; only its partners know what the value is.
    pub(super) fn token(&mut self, name: &str) -> Fallible<u16> {
        let mut region = Region::new(name, RegionKind::Token, Vec::new());
        region.read = false;
        self.add_region(region)
    }

    /// The token that represents the page of a slot: a different one for each ADRP.
    fn slot_page(&mut self, link: &Link) -> Fallible<NodeId> {
        let (symbol, at) = (link.relocation.symbol, self.at);
        let known = self.cpu.slots.iter().find(|s| s.at == at).map(|s| s.token);
        let token = match known {
            Some(token) => token,
            None => {
                let of = &self.object.symbol(&link.relocation).name;
                let token = self.token(&format!("the page of the slot of {of}"))?;
                self.cpu.slots.push(SlotPage { token, symbol, at });
                token
            }
        };
        Ok(self.g.address(token, 0))
    }

    /// What the slot holds that the current instruction's relocation names, where `base` holds its page.
    pub(super) fn slot(&mut self, base: Value, link: &Link) -> Fallible<NodeId> {
        let page = base.and_then(|b| self.g.address_of(b)).filter(|b| b.1 == 0);
        let page = page.and_then(|b| self.cpu.slots.iter().find(|s| s.token == b.0));
        let Some(page) = page.filter(|page| page.symbol == link.relocation.symbol) else {
            return Err(self.unsupported(
                "the low bits of a slot's address are added to what is not the page of that slot",
            ));
        };
        // The linker may rewrite both words; then this one takes no other's page.
        let (section, here) = self.at;
        let paired = here.checked_sub(4).is_some_and(|before| {
            let mut around = self.object.touching(section, before, here);
            around.any(|r| r.kind == kinds::R_ADR_GOT_PAGE && r.offset == before)
        });
        if paired && page.at != (section, here - 4) {
            return Err(self.unsupported(
                "a load from the global offset table that is reached beside the ADRP before it",
            ));
        }
        self.target(section, &link.relocation, 0, true)
    }

    /// The place that the current instruction's relocation names, where `base` holds its page.
    pub(super) fn page_of(&mut self, base: Value, link: &Link) -> Fallible<NodeId> {
        let place = self.linked(link)?;
        let Meaning::LowBits(size) = link.meaning else { return Err(self.form()) };
        let page = base.and_then(|b| self.g.address_of(b)).filter(|b| b.1 == 0);
        let page = page.and_then(|b| self.cpu.pages.iter().find(|p| p.0 == b.0));
        let (Some(&(_, (region, offset))), Some(at)) = (page, self.g.address_of(place)) else {
            return Err(self.unsupported(
                "the low bits of an address are added to what is not the page of a place",
            ));
        };
        // A block of that alignment lies in one page.
        let r = &self.regions[usize::from(region)];
        let (align, residue) = (r.align.min(PAGE) as i64, r.residue as i64);
        let block = |offset: i64| (offset + residue).div_euclid(align);
        let one = (region, offset) == at || (region == at.0 && block(offset) == block(at.1));
        if !one {
            return Err(self.unsupported(format!(
                "the low bits of an address are added to the page of another place, {} bytes away, that \
                 may lie in another page",
                at.1.wrapping_sub(offset)
            )));
        }
        self.counted(place, size.max(1))?;
        Ok(place)
    }
}
