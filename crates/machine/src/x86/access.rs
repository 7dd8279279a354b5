//! Memory as the machine sees it: permissions, the red zone, sections after relocation.

use super::{Fallible, Machine, RED_ZONE, RSP, Stop};
use crate::byte::Byte;
use crate::error::{LiftError, Violation};
use crate::graph::NodeId;
use crate::memory::{Fault, RegionKind};
use crate::object::{Kind, Target};

impl Machine<'_> {
    /// A fault of region `region` as an error.
    fn fault(&self, fault: Fault, region: u16, offset: i64, size: u64) -> Box<Stop> {
        match fault {
            Fault::Refused(why) => {
                let region = self.regions[usize::from(region)].name.clone();
                LiftError::from(Violation::Memory { at: self.place(), region, offset, size, why })
                    .into()
            }
            Fault::Unknown(why) => self.unsupported(why),
        }
    }

    /// Reads memory.
    pub fn load(&mut self, (region, offset): (u16, i64), out: &mut [Byte]) -> Fallible<()> {
        let size = out.len() as u64;
        if region == self.stack && offset < self.rsp()? - RED_ZONE {
            let why = "read below the stack pointer and its red zone".into();
            return Err(self.fault(Fault::Refused(why), region, offset, size));
        }
        if let RegionKind::Section(i, start) = self.regions[usize::from(region)].kind {
            if self.object.sections[i].writable {
                return Err(self.unsupported(format!(
                    "data is read from {}, a section that can be written: its content at entry \
                     is not known; make the table const, or the buffer automatic",
                    self.object.sections[i].name
                )));
            }
            self.fill(region, i, start);
        }
        self.loaded += size;
        match self.regions[usize::from(region)].load(offset, out) {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.fault(fault, region, offset, size)),
        }
    }

    /// The address of a place in a section. Where the linker merges entries, `anchor` says which
    /// entry is meant, even if the offset lies outside it.
    pub fn section_address(&mut self, section: usize, offset: i64, anchor: i64) -> NodeId {
        let s = &self.object.sections[section];
        let first = self.section_regions[section];
        match s.entry {
            Some(step) if (0..s.data.len() as i64).contains(&anchor) => {
                let entry = anchor / step as i64;
                self.g.address(first + entry as u16, offset - entry * step as i64)
            }
            _ => self.g.address(first, offset),
        }
    }

    /// The bytes of a section or of its entry at `start`, relocations applied.
    fn fill(&mut self, region: u16, section: usize, start: u64) {
        let s = &self.object.sections[section];
        let r = &self.regions[usize::from(region)];
        if !r.data.is_empty() {
            return;
        }
        let end = start + r.high as u64;
        let bytes = &s.data[start as usize..end as usize];
        let mut data: Vec<Byte> = bytes.iter().map(|b| Byte::Const(*b)).collect();
        let mut opaque = Vec::new();
        for (&offset, r) in s.relocations.range(start.saturating_sub(7)..end) {
            let (from, to) =
                (offset as i64 - start as i64, (offset + r.size()) as i64 - start as i64);
            let inside = from >= 0 && to <= data.len() as i64;
            match (&r.kind, &r.target) {
                (Kind::Absolute64, Target::Inside { .. }) if inside => {
                    let Ok(node) = self.linked(r, 0) else {
                        opaque.push((from, to, "data with an unusual relocation".into()));
                        continue;
                    };
                    for (k, b) in data[from as usize..to as usize].iter_mut().enumerate() {
                        *b = Byte::Node(node, k as u8);
                    }
                }
                _ => {
                    let why = match &r.target {
                        Target::Outside(name) => {
                            format!("data that refers to `{name}`, which another object defines")
                        }
                        _ => "data with a relocation that is not modelled (a jump table? compile \
                              with -fno-jump-tables)"
                            .into(),
                    };
                    opaque.push((from, to, why));
                }
            }
        }
        let region = &mut self.regions[usize::from(region)];
        (region.data, region.opaque) = (data, opaque);
    }

    /// Writes memory.
    pub fn store(&mut self, (region, offset): (u16, i64), bytes: &[Byte]) -> Fallible<()> {
        let size = bytes.len() as u64;
        if region == self.stack {
            if offset < self.rsp()? - RED_ZONE {
                let why = "write below the stack pointer and its red zone".into();
                return Err(self.fault(Fault::Refused(why), region, offset, size));
            }
            self.used = self.used.min(offset);
            self.deepest = self.deepest.min(offset);
        }
        self.stored += size;
        match self.regions[usize::from(region)].store(offset, bytes) {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.fault(fault, region, offset, size)),
        }
    }

    /// The stack pointer's offset in the stack.
    pub fn rsp(&mut self) -> Fallible<i64> {
        let node = crate::fold::gather(self.g, &self.gpr[RSP]);
        match node.and_then(|n| self.g.address_of(n)) {
            Some((region, offset)) if region == self.stack => Ok(offset),
            _ => Err(self.unsupported("the stack pointer does not point into the stack")),
        }
    }

    /// After a change of the stack pointer: what lies below its red zone is lost, because a signal
    /// handler may use it.
    pub fn stack_moved(&mut self) -> Fallible<()> {
        let rsp = self.rsp()?;
        self.deepest = self.deepest.min(rsp);
        self.forget_stack(rsp - RED_ZONE);
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
