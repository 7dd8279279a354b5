//! What a call leaves behind: bytes below the stack pointer at entry, and registers of no one.
//!
//! For execution, stack below the stack pointer is undefined, because a signal handler may
//! overwrite it. What matters here is the opposite: perhaps nobody overwrites it. So the last byte
//! stored at each place stays.

use super::{InstructionSet, Machine};
use crate::byte::Byte;
use crate::lifted::{Left, Residue};

/// The stack below the stack pointer at entry, as it was written.
pub(crate) struct DeadStack {
    /// At position i what lies at offset -1 - i; [`None`] where this call has written nothing of its own.
    bytes: Vec<Option<Byte>>,
    /// Whether anything unknown was read: until then all that is stored is the caller's, or constant.
    pub began: bool,
}

impl DeadStack {
    /// Nothing is written; `began`: something unknown lies in a register already.
    pub fn new(began: bool) -> DeadStack {
        DeadStack { bytes: Vec::new(), began }
    }

    /// Bytes are stored from `offset` on.
    pub fn store(&mut self, offset: i64, bytes: &[Byte]) {
        for (at, byte) in (offset..0).zip(bytes) {
            let i = (-1 - at) as usize;
            if i >= self.bytes.len() {
                self.bytes.resize(i + 1, None);
            }
            self.bytes[i] = self.began.then_some(*byte);
        }
    }
}

impl<I: InstructionSet> Machine<'_, I> {
    /// What is left at return, of what is neither a constant nor an address nor the caller's own.
    pub fn residue(&self) -> Residue {
        let unclear = |byte: &Byte| match byte {
            Byte::Const(_) | Byte::Caller(_) => false,
            Byte::Undefined => true,
            // In a graph with terms nothing is vague, and a term of addresses alone is public.
            Byte::Node(id, _) => self.g.is_vague(*id) || self.g.has_input(*id),
        };
        let stack = self.dead.bytes.iter().enumerate().rev();
        let stack = stack.filter_map(|(i, byte)| {
            let byte = byte.filter(unclear)?;
            Some(Left { place: format!("stack{}", -1 - i as i64), byte })
        });
        let region = &self.regions[usize::from(self.stack)];
        let slot = self.convention.return_slot;
        let home = (slot..slot + self.convention.home).filter_map(|at| {
            let byte = *region.data.get((at - region.base) as usize)?;
            unclear(&byte).then(|| Left { place: format!("stack+{at}"), byte })
        });
        let registers = I::scratch(self).map(|registers| {
            let mut left = Vec::new();
            for (name, bytes) in registers {
                for (k, byte) in bytes.iter().enumerate().filter(|(_, b)| unclear(b)) {
                    left.push(Left { place: format!("byte {k} of {name}"), byte: *byte });
                }
            }
            left
        });
        Residue { stack: stack.chain(home).collect(), registers }
    }
}
