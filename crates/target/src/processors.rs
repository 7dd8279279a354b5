//! Processors as far as simulated cycles depend on them: what runs where, how long it takes, how far
//! ahead it looks.
//!
//! Units and latencies were measured on the processor by chains and by independent copies of one
//! instruction; the sizes of queues are the vendor's.

/// What an instruction of vector code does, as units of a processor tell instructions apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Sums, differences, logic, comparisons, minima, blends.
    Plain,
    /// Shifts by a constant.
    Shift,
    /// Products of words of 16 or 32 bits, pairs of them, rounded ones.
    Multiply,
    /// Words of a part moved by an immediate: unpack, shuffle.
    Shuffle,
    /// Bytes of a part moved by a register of numbers.
    Permute,
    /// Parts moved within a register.
    Cross,
    /// A part put beside another, from a register or from memory.
    Insert,
    /// Words extended to twice their width.
    Extend,
    /// A load, alone.
    Load,
    /// A store.
    Store,
}

/// Where an instruction runs and how long its result takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// The arithmetic units that can do it, one bit each; none for loads and stores, which have ports
    /// of their own.
    pub units: u8,
    /// Cycles until its result can be used.
    pub latency: u32,
}

/// A first-level cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cache {
    /// Bytes.
    pub size: usize,
    /// Lines that may lie in one set.
    pub ways: usize,
    /// Bytes of a line.
    pub line: usize,
    /// Cycles that a line which is not there takes longer.
    pub latency: u32,
    /// Cycles in which the way to the next level is taken by a line, there or back.
    pub transfer: u32,
}

/// A processor that executes out of order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Processor {
    /// Its name.
    pub name: &'static str,
    /// Instructions that enter it in a cycle, memory operands included.
    pub dispatch: u32,
    /// Instructions in flight: none enters before the one that many places earlier has left, in order.
    pub window: usize,
    /// Instructions that may wait for their operands.
    pub waiting: usize,
    /// Loads of a register in a cycle.
    pub loads: u32,
    /// Stores of a register in a cycle.
    pub stores: u32,
    /// Cycles from a load to the use of what it loaded.
    pub load_latency: u32,
    /// Cycles from a store's data to the use of a load of it.
    pub forward: u32,
    /// The cache for data.
    pub cache: Cache,
    /// The cache for code.
    pub code: Cache,
    /// Bytes of an instruction of vector code, about.
    pub instruction: u64,
    /// Instructions of a call: arguments, frame, return.
    pub call: u32,
    /// Instructions of a loop's end.
    pub iteration: u32,
    /// Registers that vector code has.
    pub registers: usize,
    /// What each [`Kind`] takes, in the order of that type.
    pub timings: [Timing; 10],
}

impl Processor {
    /// What a kind of instruction takes.
    pub fn timing(&self, kind: Kind) -> Timing {
        self.timings[kind as usize]
    }
}

/// AMD's Zen 4: four vector pipes, of which two multiply and two or three move.
pub const ZEN4: Processor = Processor {
    name: "Zen 4",
    dispatch: 6,
    window: 320,
    waiting: 128,
    loads: 2,
    stores: 1,
    load_latency: 7,
    forward: 8,
    cache: Cache { size: 32768, ways: 8, line: 64, latency: 14, transfer: 1 },
    code: Cache { size: 32768, ways: 8, line: 64, latency: 14, transfer: 2 },
    instruction: 6,
    call: 12,
    iteration: 2,
    registers: 16,
    timings: [
        Timing { units: 0b1111, latency: 1 },
        Timing { units: 0b0110, latency: 1 },
        Timing { units: 0b1001, latency: 3 },
        Timing { units: 0b1110, latency: 1 },
        Timing { units: 0b0110, latency: 2 },
        Timing { units: 0b0110, latency: 3 },
        Timing { units: 0b0110, latency: 1 },
        Timing { units: 0b0110, latency: 2 },
        Timing { units: 0, latency: 0 },
        Timing { units: 0, latency: 1 },
    ],
};
