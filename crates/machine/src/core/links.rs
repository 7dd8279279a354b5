//! What relocations stand for, once it is known which field they fill.

use super::memory::{Region, RegionKind};
use super::{Fallible, InstructionSet, Machine};
use crate::graph::NodeId;
use crate::object::{Place, Relocation};

/// The variable that holds the stack protector's canary, where that is not in a thread's own memory.
pub(super) const GUARD: &str = "__stack_chk_guard";

/// The assumption behind a symbol that another object may define instead.
pub(super) fn not_replaced(symbol: &str) -> String {
    format!("`{symbol}` is not replaced by another definition when linking")
}

impl<I: InstructionSet> Machine<'_, I> {
    /// The name of the other object's function that a branch goes to, if it does.
    pub fn outside_target(&self, r: &Relocation) -> Option<String> {
        let symbol = self.object.symbol(r);
        (symbol.place == Place::Outside).then(|| symbol.name.clone())
    }

    /// The address of the relocation's symbol plus `addend`. `indirect`: the field holds a distance, or
    /// that of a slot, so that its addend does not say which entry of a mergeable section is meant.
    pub fn target(
        &mut self,
        from: usize,
        r: &Relocation,
        addend: i64,
        indirect: bool,
    ) -> Fallible<NodeId> {
        let object = self.object;
        let refuse = |m: &Self, why: &str| {
            m.unsupported(format!("relocation {}: {why}", object.tell(from, r)))
        };
        let symbol = object.symbol(r);
        match &symbol.place {
            Place::Refused(why) => Err(refuse(self, why)),
            Place::Outside => {
                let region = match self.data.get(&symbol.name) {
                    Some(&region) => {
                        self.assume(format!("`{}` holds what the contract says", symbol.name));
                        region
                    }
                    None if symbol.name == GUARD => {
                        self.assume(format!(
                            "`{GUARD}` is a word that nothing changes during the call"
                        ));
                        self.canary_region(false)
                    }
                    None => {
                        return Err(self.unsupported(format!(
                            "`{}` is defined by another object; link it in (ld -r) or make it static",
                            symbol.name
                        )));
                    }
                };
                Ok(self.g.address(region, addend))
            }
            &Place::Inside { section, offset, mark, by_section, replaceable, .. } => {
                if replaceable {
                    self.assume(not_replaced(&symbol.name));
                }
                let to = (offset as i64).wrapping_add(addend) | i64::from(mark);
                let merged = object.sections[section].entries != crate::object::Entries::One;
                if by_section && indirect && merged {
                    let why = "a distance into a section that the linker may merge, and no symbol \
                               that says which entry is meant";
                    return Err(refuse(self, why));
                }
                let anchor = if by_section { to } else { offset as i64 };
                match self.section_address(section, to, anchor) {
                    Some(node) => Ok(node),
                    None => Err(refuse(self, "it is in no entry of its mergeable section")),
                }
            }
        }
    }

    /// The node that the linker's word at `r`, in data of section `from`, hold.
    pub fn linked_data(&mut self, from: usize, r: &Relocation) -> Fallible<NodeId> {
        if self.object.loads_address(r.kind) {
            return self.loaded_address(from, r);
        }
        if self.object.is_linked() || r.kind != I::ADDRESS {
            let place = self.object.tell(from, r);
            return Err(self.unsupported(format!(
                "data with relocation {place}, which is not on the list for data (a jump table? \
                 compile with -fno-jump-tables; or position-independent code? compile with -fno-pic)"
            )));
        }
        self.target(from, r, r.addend, false)
    }

    /// The address that the loader of a linked file writes at `r`.
    fn loaded_address(&mut self, from: usize, r: &Relocation) -> Fallible<NodeId> {
        let object = self.object;
        let symbol = object.symbol(r);
        if object.sections[from].is_slot(r.offset) {
            self.assume(format!(
                "the loader has bound `{}` before the call, and nothing else writes its slot of the global \
                 offset table",
                symbol.name
            ));
        }
        let known = self.data.contains_key(&symbol.name) || symbol.name == GUARD;
        if symbol.place != Place::Outside || known {
            return self.target(from, r, r.addend, false);
        }
        let name = &symbol.name;
        let same = |r: &Region| r.kind == RegionKind::Outside && r.name == *name;
        let region = match self.regions.iter().position(same) {
            Some(region) => region as u16,
            None => {
                let mut region = Region::new(name, RegionKind::Outside, Vec::new());
                region.read = false;
                self.add_region(region)?
            }
        };
        Ok(self.g.address(region, r.addend))
    }

    /// A new region; its number.
    pub fn add_region(&mut self, region: Region) -> Fallible<u16> {
        let Some(number) = u16::try_from(self.regions.len()).ok().filter(|&n| n < 65_000) else {
            return Err(self.unsupported("too many addresses are taken"));
        };
        self.regions.push(region);
        Ok(number)
    }
}
