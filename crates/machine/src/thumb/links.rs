//! What the linker writes into instructions: the list of accepted relocations, each for the instruction
//! that it fills.

use super::Machine;
use super::decode::Instruction;
use super::operation::Op;
use crate::core::Fallible;
use crate::graph::NodeId;
use crate::object::arm::{R_THM_CALL, R_THM_JUMP24, R_THM_MOVT_ABS, R_THM_MOVW_ABS_NC};
use crate::object::{Place, Relocation};

/// A relocation of an instruction, its addend that of the place that is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link {
    pub relocation: Relocation,
}

impl Machine<'_> {
    /// The relocation of the instruction at `self.at`, accepted or refused by name.
    pub(super) fn link(&self, ins: &Instruction) -> Fallible<Option<Link>> {
        let (section, here) = self.at;
        let mut found = None;
        for r in self.object.touching(section, here, here + u64::from(ins.length)) {
            let refuse = |why: &str| {
                self.unsupported(format!("relocation {}: {why}", self.object.tell(section, r)))
            };
            if r.offset != here || found.is_some() {
                return Err(refuse("it does not fill this instruction alone"));
            }
            let mut relocation = *r;
            match (r.kind, ins.op, ins.length) {
                (R_THM_CALL, Op::Call, 4) | (R_THM_JUMP24, Op::Branch, 4) => {
                    // The distance counts from four bytes behind the branch.
                    relocation.addend += 4;
                    let symbol = &self.object.symbol(r).place;
                    let local = matches!(symbol, Place::Inside { local: true, .. });
                    if relocation.addend != 0 && !local {
                        return Err(refuse(
                            "a branch beside the start of a function that may lie elsewhere",
                        ));
                    }
                    if matches!(symbol, Place::Inside { mark: 0, .. }) {
                        return Err(refuse(
                            "a branch to a label that is not marked as a function in Thumb state",
                        ));
                    }
                }
                (R_THM_MOVW_ABS_NC, Op::Wide, 4) | (R_THM_MOVT_ABS, Op::Top, 4) => {}
                _ => return Err(refuse("it is not on the list for this instruction")),
            }
            found = Some(Link { relocation });
        }
        Ok(found)
    }

    /// The address of the place that a link means.
    pub(super) fn linked(&mut self, link: &Link) -> Fallible<NodeId> {
        let r = link.relocation;
        self.target(self.at.0, &r, r.addend, false)
    }
}
