//! Regions of memory: the caller's buffers, the stack, the object's sections.

use crate::byte::Byte;

/// What a region is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RegionKind {
    /// A buffer of the caller.
    Caller,
    /// The stack; offset 0 is the stack pointer at entry.
    Stack,
    /// A section of the object, by position; or one entry of it, and its first byte.
    Section(usize, u64),
    /// Represents a value that only the caller knows: the return address, a callee-saved register.
    /// It may be moved and nothing else.
    Token,
    /// What another file defines under the region's name: it may be moved and called.
    Outside,
}

/// Which rule an access breaks.
pub(crate) struct Fault(pub String);

/// Frames beyond this many bytes are refused.
const STACK_LIMIT: i64 = 8 << 20;

#[derive(Clone)]
pub(crate) struct Region {
    pub name: String,
    pub kind: RegionKind,
    pub read: bool,
    pub write: bool,
    /// The first byte's address is `residue` modulo `align`, a power of two.
    pub align: u64,
    pub residue: u64,
    /// Offsets that exist: `low..high`.
    pub low: i64,
    pub high: i64,
    /// Content of `base..high`; below it (a stack not yet used) everything is undefined.
    pub base: i64,
    pub data: Vec<Byte>,
    /// Which bytes of a caller's buffer were loaded.
    pub loaded: Vec<bool>,
}

impl Region {
    pub fn new(name: &str, kind: RegionKind, data: Vec<Byte>) -> Region {
        let loaded = if kind == RegionKind::Caller { vec![false; data.len()] } else { Vec::new() };
        Region {
            name: name.to_string(),
            kind,
            read: true,
            write: false,
            align: 1,
            residue: 0,
            low: 0,
            high: data.len() as i64,
            base: 0,
            data,
            loaded,
        }
    }

    /// Memory with one accessible word, at `offset`, which can only be read.
    pub fn one_word(name: &str, offset: i64, word: Vec<Byte>) -> Region {
        let mut region = Region::new(name, RegionKind::Caller, word);
        region.align = region.high as u64;
        (region.low, region.base, region.high) = (offset, offset, offset + region.high);
        region
    }

    /// A stack that holds `above` (return address, stack arguments) from offset 0 on. What lies above
    /// the return address's `slot` is a multiple of `align`.
    pub fn stack(above: Vec<Byte>, slot: i64, align: u64) -> Region {
        let mut region = Region::new("stack", RegionKind::Stack, above);
        region.write = true;
        region.low = -STACK_LIMIT;
        (region.align, region.residue) = (align, (-slot).rem_euclid(align as i64) as u64);
        region
    }

    pub fn check(&self, offset: i64, size: u64) -> Result<(), Fault> {
        let inside = offset >= self.low
            && offset.checked_add(size as i64).is_some_and(|end| end <= self.high);
        if !inside {
            let why = match self.kind {
                RegionKind::Stack if offset < self.low => {
                    format!("more than {} MiB of stack", STACK_LIMIT >> 20)
                }
                RegionKind::Stack => "access to the caller's frame".to_string(),
                RegionKind::Token => format!("{} is not a pointer to use", self.name),
                _ => format!("access outside its {} bytes", self.high),
            };
            return Err(Fault(why));
        }
        Ok(())
    }

    /// Whether address `offset` is a multiple of `align`, or `None` if that cannot be said.
    pub fn aligned(&self, offset: i64, align: u64) -> Option<bool> {
        self.low_bits(offset, align).map(|bits| bits == 0)
    }

    /// The address `offset` modulo `modulus` (a power of two), if the region's alignment decides.
    pub fn low_bits(&self, offset: i64, modulus: u64) -> Option<u64> {
        (modulus <= self.align).then(|| self.residue.wrapping_add(offset as u64) & (modulus - 1))
    }

    /// Makes `base` at most `offset`.
    fn grow(&mut self, offset: i64) {
        if offset < self.base {
            let more = (self.base - offset).max(self.data.len() as i64).max(4096);
            let more = more.min(self.base - self.low) as usize;
            let mut data = vec![Byte::Undefined; more];
            data.append(&mut self.data);
            self.data = data;
            self.base -= more as i64;
        }
    }

    pub fn load(&mut self, offset: i64, out: &mut [Byte]) -> Result<(), Fault> {
        self.check(offset, out.len() as u64)?;
        if !self.read {
            return Err(Fault("read of memory that may not be read".into()));
        }
        self.grow(offset);
        let at = (offset - self.base) as usize;
        out.copy_from_slice(&self.data[at..at + out.len()]);
        if let Some(loaded) = self.loaded.get_mut(at..at + out.len()) {
            loaded.fill(true);
        }
        Ok(())
    }

    pub fn store(&mut self, offset: i64, bytes: &[Byte]) -> Result<(), Fault> {
        self.check(offset, bytes.len() as u64)?;
        if !self.write {
            let why = match self.kind {
                RegionKind::Section(..) => "write to the object's own section".to_string(),
                _ => "write to memory that is not an output".to_string(),
            };
            return Err(Fault(why));
        }
        self.grow(offset);
        let at = (offset - self.base) as usize;
        self.data[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// Forgets everything below `offset`: stack memory that a signal handler may overwrite.
    pub fn forget_below(&mut self, from: i64, offset: i64) {
        let from = from.max(self.base);
        if from < offset {
            let (a, b) = ((from - self.base) as usize, (offset - self.base) as usize);
            self.data[a..b.min(self.high as usize + (-self.base) as usize)].fill(Byte::Undefined);
        }
    }
}
