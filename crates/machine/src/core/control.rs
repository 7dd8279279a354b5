//! Where jumps, calls and returns go.

use super::memory::RegionKind;
use super::{Fallible, InstructionSet, Machine};
use crate::error::Timing;
use crate::graph::NodeId;

/// Where a jump goes.
pub(crate) enum Destination {
    /// Section and offset.
    Code(usize, u64),
    /// The caller.
    Return,
    /// A function of another object.
    Outside(String),
}

impl<I: InstructionSet> Machine<'_, I> {
    /// The destination of a jump or call, or the function that stands in for what is there.
    pub fn stood_in(&self, to: Destination) -> Destination {
        match to {
            Destination::Code(section, offset) => match self.stand_ins.get(&(section, offset)) {
                Some(name) => Destination::Outside(name.clone()),
                None => to,
            },
            _ => to,
        }
    }

    /// Checks the target of an indirect jump or call, or of an entry, if the object promises
    /// landing instructions. Then the instruction at the target must be one of `words`.
    pub fn lands(&self, to: &Destination, words: &[u32], how: &str) -> Fallible<()> {
        let &Destination::Code(section, offset) = to else { return Ok(()) };
        if !self.object.promises.landing || words.contains(&self.object.word(section, offset)) {
            return Ok(());
        }
        let place = self.object.describe(self.object.sections[section].address + offset);
        Err(self.unsupported(format!(
            "the object's property note says that {how} lands on an instruction for it, and {place} is none: the \
             processor stops there"
        )))
    }

    /// The destination that a value names.
    pub fn indirect(&mut self, target: Option<NodeId>) -> Fallible<Destination> {
        match target {
            Some(node) => self.code_at(node),
            None => Err(self.undefined("the target of a jump")),
        }
    }

    /// The destination at an address.
    pub fn code_at(&mut self, target: NodeId) -> Fallible<Destination> {
        let place = self.g.address_of(target).or_else(|| self.fixed_place(target));
        let Some((region, offset)) = place else {
            return Err(match self.g.value(target) {
                Some(_) => self.unsupported("a jump to a number that is no code address"),
                None => self.not_concrete(Timing::Branch, target),
            });
        };
        if region == self.stack + 1 && offset == 0 {
            return Ok(Destination::Return);
        }
        match self.regions[usize::from(region)].kind {
            RegionKind::Section(section, start)
                if self.object.sections[section].executable
                    && (0..=self.object.sections[section].size as i64).contains(&offset) =>
            {
                Ok(Destination::Code(section, start + offset as u64))
            }
            RegionKind::Outside if offset == 0 => {
                Ok(Destination::Outside(self.regions[usize::from(region)].name.clone()))
            }
            _ => Err(self.unsupported("a jump into memory that is no code")),
        }
    }
}
