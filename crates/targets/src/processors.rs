//! Processors as far as simulated cycles depend on them: what runs where, how long it takes, how far
//! ahead it looks.
//!
//! Units and latencies were measured on the processor, with chains and with independent copies of one instruction.
//! The instruction ran alone, and together with others whose units are known. The sizes of queues are the vendor's.

mod redwood_cove;
mod zen4;

pub use redwood_cove::REDWOOD_COVE;
pub use zen4::ZEN4;

/// What an instruction of vector code does, as units of a processor tell instructions apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Sums, differences, logic, blends of words of 32 bits.
    Plain,
    /// Comparisons, minima, maxima.
    Compare,
    /// Blends of words of 16 bits.
    Blend,
    /// Shifts by a constant.
    Shift,
    /// Products of words of 16 bits, pairs of them, rounded ones; whole products of every other word of 32 bits.
    Multiply,
    /// Low halves of products of words of 32 bits.
    MultiplyLow,
    /// Words of a part moved by an immediate: unpack, shuffle.
    Shuffle,
    /// Bytes of a part moved by a register of numbers.
    Permute,
    /// Parts moved within a register.
    Cross,
    /// A part from memory put beside another.
    Insert,
    /// A part of a register put beside another.
    Join,
    /// Words extended to twice their width.
    Extend,
    /// The upper part of a register on its way to memory, beside the store.
    Extract,
    /// A load, alone.
    Load,
    /// A store.
    Store,
}

/// How many kinds there are.
const KINDS: usize = Kind::Store as usize + 1;

/// Where an instruction runs and how long its result takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// The arithmetic units that can execute it, one bit each. Loads and stores have none, because they have ports of
    /// their own, and so does everything that an adjacent load or store does.
    pub units: u8,
    /// Cycles until its result can be used.
    pub latency: u32,
    /// Micro-operations of that latency, one after the other; each takes a unit and enters by itself.
    pub times: u32,
}

/// One micro-operation.
const fn once(units: u8, latency: u32) -> Timing {
    Timing { units, latency, times: 1 }
}

/// The lines of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lines {
    /// Bytes of all.
    pub size: usize,
    /// How many may lie in one set.
    pub ways: usize,
    /// Bytes of one.
    pub line: usize,
}

/// A first-level cache for data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cache {
    /// What it holds.
    pub lines: Lines,
    /// Cycles that a line which is not there takes longer.
    pub latency: u32,
    /// Cycles in which the way to the next level is taken by a line that comes from there.
    pub fetch: f64,
    /// The same for one that was written and goes there.
    pub back: f64,
}

/// A first-level cache for code.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Code {
    /// What it holds.
    pub lines: Lines,
    /// Cycles that a line takes which is not there: no instruction of it enters before.
    pub fetch: f64,
}

/// How many of something are in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queues {
    /// Instructions: none enters before the one that many places earlier has left, in order.
    pub window: usize,
    /// Registers for results that have not left.
    pub results: usize,
    /// Stores that are not in the cache yet.
    pub stores: usize,
    /// Arithmetic that waits for operands or a unit.
    pub arithmetic: usize,
    /// Stores that wait for their data; one number with arithmetic where they wait together.
    pub data: usize,
}

/// A processor that executes out of order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Processor {
    /// Its name.
    pub name: &'static str,
    /// Who makes it, as the processor says.
    pub vendor: &'static str,
    /// Family and model of those that have this core, as they say.
    pub models: &'static [(u32, u32)],
    /// Instructions that enter it in a cycle, memory operands included.
    pub dispatch: u32,
    /// How far ahead it looks.
    pub queues: Queues,
    /// Whether an instruction gets its unit when it enters, that with the fewest waiting, or when it begins, any that is
    /// free.
    pub bound: bool,
    /// Whether arithmetic begins when a load that it waits for is usually there, and once more where the load was late.
    pub replays: bool,
    /// Loads of a register in a cycle.
    pub loads: u32,
    /// Loads across two lines in a cycle; each takes the place of two.
    pub splits: u32,
    /// Stores of a register in a cycle.
    pub stores: u32,
    /// Stores that come into the cache in a cycle where they are of one line; of different lines one does.
    pub commits: u32,
    /// Cycles from a load to the use of what it loaded.
    pub load_latency: u32,
    /// Cycles from a store's data to the use of a load of it.
    pub forward: u32,
    /// Cycles to the use of a load of words that no one store has, from when the last of theirs is in the cache.
    pub blocked: u32,
    /// The cache for data.
    pub cache: Cache,
    /// The cache for code.
    pub code: Code,
    /// Cycles that code may be fetched ahead.
    pub ahead: f64,
    /// Bytes of an instruction of vector code, about, without a memory operand and with one.
    pub instruction: [u64; 2],
    /// Instructions of a call: arguments, frame, return.
    pub call: u32,
    /// Instructions of a loop's end.
    pub iteration: u32,
    /// Registers that vector code has.
    pub registers: usize,
    /// What each [`Kind`] takes, in the order of that type.
    pub timings: [Timing; KINDS],
}

impl Processor {
    /// What a kind of instruction takes.
    pub fn timing(&self, kind: Kind) -> Timing {
        self.timings[kind as usize]
    }

    /// Whether a kind is an instruction of its own. If not, the adjacent load or store does it.
    pub fn has(&self, kind: Kind) -> bool {
        self.timing(kind).units != 0 || matches!(kind, Kind::Load | Kind::Store)
    }

    /// Its name as an option has it: in small letters, with a dash for a space.
    pub fn key(&self) -> String {
        self.name.to_lowercase().replace(' ', "-")
    }
}

/// The processor of `all` that a machine has, which calls itself `VENDOR family F model M …`, and whether the match is
/// exact. Without a match it is the first of that vendor, or the first of all. None if `all` is empty.
///
/// ```
/// use ringforge_targets::{AVX2, REDWOOD_COVE, ZEN4, nearest};
/// let of = |model: &str| nearest(AVX2.simulated, model);
/// assert_eq!(of("AuthenticAMD family 25 model 17 stepping 1"), Some((&ZEN4, true)));
/// assert_eq!(of("GenuineIntel family 6 model 173 stepping 1"), Some((&REDWOOD_COVE, true)));
/// assert_eq!(of("GenuineIntel family 6 model 94 stepping 3"), Some((&REDWOOD_COVE, false)));
/// assert_eq!(of("unknown"), Some((&ZEN4, false)));
/// ```
pub fn nearest(all: &[&'static Processor], model: &str) -> Option<(&'static Processor, bool)> {
    let words: Vec<&str> = model.split_whitespace().collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse::<u32>().ok()
    };
    let number = after("family").zip(after("model"));
    let vendor = |p: &&&'static Processor| words.first() == Some(&p.vendor);
    let exact =
        |p: &&&'static Processor| vendor(p) && number.is_some_and(|n| p.models.contains(&n));
    match all.iter().find(exact) {
        Some(found) => Some((found, true)),
        None => all.iter().find(vendor).or(all.first()).map(|p| (*p, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_done_somewhere() {
        for processor in [&ZEN4, &REDWOOD_COVE] {
            for (k, timing) in processor.timings.iter().enumerate() {
                assert!(timing.times > 0, "{}, kind {k}", processor.name);
            }
            for kind in [Kind::Plain, Kind::Multiply, Kind::Shuffle, Kind::Cross, Kind::Insert] {
                assert!(processor.has(kind) && processor.timing(kind).latency > 0, "{kind:?}");
            }
            assert!(processor.has(Kind::Load) && processor.timing(Kind::Load).units == 0);
        }
        assert!(ZEN4.has(Kind::Extract) && !REDWOOD_COVE.has(Kind::Extract));
        assert_eq!(REDWOOD_COVE.key(), "redwood-cove");
    }
}
