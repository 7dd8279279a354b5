//! Memory as the machine sees it: permissions, the red zone, sections after relocation.

use super::memory::{Fault, RegionKind};
use super::{Fallible, InstructionSet, Machine, Stop, Value};
use crate::byte::Byte;
use crate::error::{LiftError, Timing, Violation};
use crate::graph::NodeId;

impl<I: InstructionSet> Machine<'_, I> {
    /// A fault of region `region` as an error.
    pub fn fault(&self, fault: Fault, region: u16, offset: i64, size: u64) -> Box<Stop> {
        let region = self.regions[usize::from(region)].name.clone();
        let Fault(why) = fault;
        LiftError::from(Violation::Memory { at: self.place(), region, offset, size, why }).into()
    }

    /// A pointer value, by which `size` bytes are accessed, as region and offset.
    pub fn dereference(&mut self, address: Value, size: u64) -> Fallible<(u16, i64)> {
        let Some(address) = address.filter(|&a| self.g.width(a) == self.g.address_width()) else {
            return Err(self.undefined("a memory address"));
        };
        if let Some(found) = self.g.address_of(address) {
            return Ok(found);
        }
        if let Some(found) = self.fixed_place(address) {
            return Ok(found);
        }
        if let Some(v) = self.g.value(address) {
            return Err(LiftError::from(Violation::Memory {
                at: self.place(),
                region: "no region".into(),
                offset: v as i64,
                size,
                why: "access through a number that is no pointer".into(),
            })
            .into());
        }
        Err(self.not_concrete(Timing::Address, address))
    }

    /// What a number names in a file that runs at its own addresses.
    pub fn fixed_place(&self, address: NodeId) -> Option<(u16, i64)> {
        let image = self.object.sections.first().filter(|_| self.object.fixed)?;
        let offset = self.g.value(address)?.checked_sub(image.address)?;
        (offset < image.size).then_some((self.section_regions[0], offset as i64))
    }

    /// Checks that an address, at which `size` bytes are accessed, is a multiple of `align`.
    pub fn require_alignment(&mut self, at: (u16, i64), size: u64, align: u64) -> Fallible<()> {
        self.inside(at.0)?;
        let region = &self.regions[usize::from(at.0)];
        match region.aligned(at.1, align) {
            Some(true) => Ok(()),
            None if at.0 == self.stack => Err(self.need_residue(at.0, align)),
            known => {
                let why = match known {
                    Some(_) => {
                        format!("the instruction needs an address that is a multiple of {align}")
                    }
                    None => format!(
                        "the instruction needs an address that is a multiple of {align}, and the \
                         caller guarantees {} only",
                        region.align
                    ),
                };
                let region = region.name.clone();
                let at_place = self.place();
                Err(LiftError::from(Violation::Memory {
                    at: at_place,
                    region,
                    offset: at.1,
                    size,
                    why,
                })
                .into())
            }
        }
    }

    /// Reads memory.
    pub fn load(&mut self, (region, offset): (u16, i64), out: &mut [Byte]) -> Fallible<()> {
        let size = out.len() as u64;
        if region == self.stack && offset < self.stack_pointer()? - self.convention.red_zone {
            let why = format!("read below the stack pointer{}", self.red_zone());
            return Err(self.fault(Fault(why), region, offset, size));
        }
        if region == self.stack {
            self.touch(offset, size)?;
        }
        if let RegionKind::Section(i, start) = self.regions[usize::from(region)].kind {
            self.loaded += size;
            return self.load_section((region, offset), i, start, out);
        }
        self.inside(region)?;
        self.loaded += size;
        match self.regions[usize::from(region)].load(offset, out) {
            Ok(()) => {
                // Of its own stack it reads back what it stored.
                self.dead.began |=
                    region != self.stack && !out.iter().all(|b| matches!(b, Byte::Const(_)));
                Ok(())
            }
            Err(fault) => Err(self.fault(fault, region, offset, size)),
        }
    }

    /// The address of a place in a section. Where the linker merges entries, `anchor` says which
    /// entry is meant, even if the offset lies outside it; [`None`] if it is in no entry.
    pub fn section_address(&mut self, section: usize, offset: i64, anchor: i64) -> Option<NodeId> {
        let s = &self.object.sections[section];
        let (entry, start) = s.entries.find(anchor, s.size)?;
        let region = u16::try_from(usize::from(self.section_regions[section]) + entry).ok()?;
        Some(self.g.address(region, offset - start as i64))
    }

    /// Reads bytes of section `i` as they are once linked. The region is the entry at `start`.
    fn load_section(
        &mut self,
        (region, offset): (u16, i64),
        i: usize,
        start: u64,
        out: &mut [Byte],
    ) -> Fallible<()> {
        let s = &self.object.sections[i];
        let given = s.only_written && self.given_sections.contains(&s.name);
        if let Some(why) = s.refused.as_ref().filter(|_| !given) {
            return Err(self.unsupported(format!("data is read from {}: {why}", s.name)));
        }
        let size = out.len() as u64;
        if let Err(fault) = self.regions[usize::from(region)].check(offset, size) {
            return Err(self.fault(fault, region, offset, size));
        }
        let from = start + offset as u64;
        if let Some((at, name, data)) = self.given_variable(from, size) {
            self.assume(format!("`{name}` holds what the contract says"));
            let loaded = self.regions[usize::from(data)].load(at, out);
            return loaded.map_err(|fault| self.fault(fault, data, at, size));
        }
        if let Some(why) = s.unreadable(from, from + size) {
            let at = s.address + from;
            return Err(self.unsupported(format!("data is read at {at:#x}: {why}")));
        }
        if s.is_protected(from, from + size) {
            self.assume(
                "a loader that is not part of the file relocates its data and protects them, in pages \
                 no larger than its segments' alignment"
                    .into(),
            );
        }
        if !self.object.is_data(i, from, from + size) {
            let why = if self.object.is_coff() {
                "linkers for Windows may put a jump where a function begins"
            } else {
                "no `$d` marks them as data, and linkers rewrite code that meets an erratum of some processors"
            };
            return Err(self.unsupported(format!("bytes of code are read from {}: {why}", s.name)));
        }
        let Some(data) = s.data.get(from as usize..(from + size) as usize) else {
            return Err(self.unsupported(format!("data past the end of {}", s.name)));
        };
        for (b, byte) in out.iter_mut().zip(data) {
            *b = Byte::Const(*byte);
        }
        let end = start + self.regions[usize::from(region)].high as u64;
        let links: Vec<_> = self.object.touching(i, from, from + size).copied().collect();
        for r in links {
            let node = self.linked_data(i, &r)?;
            if r.offset < start || r.offset + r.width > end {
                return Err(self.unsupported("an address that lies in two mergeable entries"));
            }
            for k in 0..r.width {
                let at = (r.offset + k).checked_sub(from);
                if let Some(b) = at.and_then(|at| out.get_mut(at as usize)) {
                    *b = Byte::Node(node, k as u8);
                }
            }
        }
        Ok(())
    }

    /// The variable of a linked file that bytes of its image lie in, if the contract says what it
    /// holds: the offset in it, its name and its region.
    fn given_variable(&self, from: u64, size: u64) -> Option<(i64, String, u16)> {
        self.data.iter().find_map(|(name, &region)| {
            let (first, length) = self.object.variable(name)?;
            // Of a longer variable the contract says the beginning.
            let given = length.min(self.regions[usize::from(region)].high as u64);
            let at = from.checked_sub(first).filter(|at| at + size <= given)?;
            Some((at as i64, name.clone(), region))
        })
    }

    /// Writes memory.
    pub fn store(&mut self, (region, offset): (u16, i64), bytes: &[Byte]) -> Fallible<()> {
        let size = bytes.len() as u64;
        if region == self.stack {
            if offset < self.stack_pointer()? - self.convention.red_zone {
                let why = format!("write below the stack pointer{}", self.red_zone());
                return Err(self.fault(Fault(why), region, offset, size));
            }
            if offset < self.convention.return_slot && offset.saturating_add(size as i64) > 0 {
                self.regions[usize::from(region)]
                    .check(offset, size)
                    .and(Err(Fault("write over the return address".into())))
                    .map_err(|fault| self.fault(fault, region, offset, size))?;
            }
            self.touch(offset, size)?;
            self.used = self.used.min(offset);
            self.deepest = self.deepest.min(offset);
            self.dead.store(offset, bytes);
        }
        self.inside(region)?;
        self.stored += size;
        match self.regions[usize::from(region)].store(offset, bytes) {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.fault(fault, region, offset, size)),
        }
    }

    /// Notes an access to the stack. Some systems give it memory page by page, as it is touched.
    pub fn touch(&mut self, offset: i64, size: u64) -> Fallible<()> {
        if self.convention.page.is_some_and(|page| offset < self.touched - page) {
            let why = "more than a page below what was accessed before: the system has no memory there until each page \
                       is touched in turn (as ___chkstk_ms does)";
            return Err(self.fault(Fault(why.into()), self.stack, offset, size));
        }
        self.touched = self.touched.min(offset);
        Ok(())
    }

    /// Refuses accesses to what another file defines.
    fn inside(&self, region: u16) -> Fallible<()> {
        let region = &self.regions[usize::from(region)];
        if region.kind != RegionKind::Outside {
            return Ok(());
        }
        Err(self.unsupported(format!(
            "`{}` is data of another file; declare it as `[[data]]`, or link it in",
            region.name
        )))
    }

    /// What else lies beyond the stack pointer, for messages.
    fn red_zone(&self) -> &'static str {
        if self.convention.red_zone > 0 { " and its red zone" } else { "" }
    }

    /// The stack pointer's offset in the stack.
    pub fn stack_pointer(&mut self) -> Fallible<i64> {
        let node = crate::fold::gather(self.g, self.cpu.stack_pointer());
        match node.and_then(|n| self.g.address_of(n)) {
            Some((region, offset)) if region == self.stack => Ok(offset),
            _ => Err(self.unsupported("the stack pointer does not point into the stack")),
        }
    }

    /// Handles a change of the stack pointer. What lies below its red zone is lost, because a
    /// signal handler may use it.
    pub fn stack_moved(&mut self) -> Fallible<()> {
        let top = self.stack_pointer()?;
        self.deepest = self.deepest.min(top);
        self.forget_stack(top - self.convention.red_zone);
        Ok(())
    }

    /// Forgets the stack below `limit`.
    pub fn forget_stack(&mut self, limit: i64) {
        if self.used < limit {
            let used = self.used;
            self.regions[usize::from(self.stack)].forget_below(used, limit);
            self.used = limit;
        }
    }
}
