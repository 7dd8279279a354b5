//! Machines described as data: what a register holds, what operations cost, what code wants.
//!
//! The crates above the emitters ask a description. None of them contains a lane count, a register's width
//! or a processor's name. A new machine is a new description and an emitter.
//!
//! ```
//! use ringforge_targets::{AVX2, Target};
//! assert_eq!(Target::find("avx2"), Some(&AVX2));
//! assert_eq!((AVX2.registers.lanes(16), AVX2.registers.lanes(32)), (16, 8));
//! ```

mod architecture;
mod costs;
mod processors;
mod registers;

pub use architecture::{
    AARCH64, ARCHITECTURES, ARMV7E_M, Architecture, Core, InOrder, Model, X86_64,
};
pub use costs::{Costs, WordCosts};
pub use processors::{
    Cache, Code, Kind, Lines, Processor, Queues, REDWOOD_COVE, Timing, ZEN4, nearest,
};
pub use registers::Registers;

/// Bytes that arrays are aligned to where nothing else is asked: those that caches move together.
pub const ALIGNMENT: usize = 64;

/// Bytes that tables of constants are aligned to: those of the longest register that reads them.
pub const TABLE_ALIGNMENT: usize = 32;

/// How a machine's code multiplies two blocks of variable coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Products {
    /// An instruction adds the products of neighbouring words in sums of twice their width.
    Dots,
    /// Words times words alone: one product in a lane.
    Words,
}

/// A machine that code is made for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Target {
    /// Its name on the command line, in file names and symbols.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// What its objects are for; nothing where the compiler decides.
    pub architecture: Option<&'static Architecture>,
    /// The registers that a program for it counts on.
    pub registers: Registers,
    /// Narrower ones that it has too, with what an operation on one takes of the time of one on its own.
    pub narrower: &'static [(Registers, f64)],
    /// Registers of the machine that one of a program takes; 0 where the compiler decides.
    pub pieces: usize,
    /// How many of a program's registers the machine holds at a time.
    pub count: usize,
    /// From how many constant factors of a block on they are taken by lane out of registers that hold several;
    /// 0 where no product does that.
    pub by_lane: usize,
    /// How many registers of such constants a block keeps from its start on; where it has more, each is loaded before its
    /// first use, in order of use.
    pub kept_constants: usize,
    /// How blocks are multiplied.
    pub products: Products,
    /// Bits of the longest words that products of coefficients are summed in.
    pub sums: u8,
    /// Bits of the longest words of whose products it takes the high halves, rounded: Barrett's quotients.
    pub rounded: u8,
    /// Where its default schedule differs from that of other targets with such products, as a schedule's text.
    pub schedule: &'static str,
    /// Whether code of loops is wanted: no straight-line code that only a vector compiler undoes.
    pub loops: bool,
    /// Whether its emitter breaks straight-line code up, so that compilers do not order it for latency.
    pub orders: bool,
    /// What operations are expected to take.
    pub costs: Costs,
    /// The processors on which its programs are simulated, as far as some were measured; the first where nobody chooses.
    pub simulated: &'static [&'static Processor],
    /// Optimisation levels that measurements compare.
    pub levels: &'static [&'static str],
    /// Features of the processor that the code needs, under the compilers' names.
    pub features: &'static [&'static str],
    /// Whether `all` means it too; others are forged where they are named.
    pub usual: bool,
}

/// x86-64 with AVX2.
pub const AVX2: Target = Target {
    name: "avx2",
    what: "x86-64 with AVX2, C with intrinsics",
    architecture: Some(&X86_64),
    registers: Registers { bits: 256, part: 128 },
    narrower: &[],
    pieces: 1,
    count: 16,
    by_lane: 0,
    kept_constants: 0,
    products: Products::Dots,
    sums: 32,
    rounded: 16,
    schedule: "",
    loops: false,
    orders: false,
    costs: costs::X86,
    simulated: &[&ZEN4, &REDWOOD_COVE],
    levels: &["-O3"],
    features: &["avx2"],
    usual: true,
};

/// x86-64 with AVX-512: registers of 512 or 256 bits, twice as many, and dot products that are added to a sum. The features
/// are those of Ice Lake, Zen 4 and later. Some of these take two turns for 512 bits, the others have fewer pipes for them.
pub const AVX512: Target = Target {
    name: "avx512",
    what: "x86-64 with AVX-512 (BW, DQ, VL, VNNI), C with intrinsics",
    registers: Registers { bits: 512, part: 128 },
    narrower: &[(AVX2.registers, 0.6)],
    count: 32,
    features: &["avx512bw", "avx512dq", "avx512vl", "avx512vnni"],
    usual: false,
    simulated: &[],
    schedule: "fused-dot = true\noperands = \"together\"",
    ..AVX2
};

/// x86-64 with SSE4.1: programs as for AVX2, each of their registers in two of 128 bits.
pub const SSE41: Target = Target {
    name: "sse41",
    what: "x86-64 with SSE4.1, C with intrinsics",
    pieces: 2,
    count: 8,
    features: &["sse4.1"],
    usual: false,
    simulated: &[],
    ..AVX2
};

/// AArch64, whose processors all have Neon. Programs are those for AVX2. Each of their registers is two of the
/// machine's 32 registers of 128 bits.
pub const NEON: Target = Target {
    name: "neon",
    what: "AArch64 (Neon), C with intrinsics",
    architecture: Some(&AARCH64),
    pieces: 2,
    // Fewer have registers of their own, out of loops; of more some are loaded again and again.
    by_lane: 11,
    kept_constants: 4,
    rounded: 32,
    orders: true,
    // Barrett's are shorter by two multiplications of six slots; the prover understands these everywhere.
    // Windows over weighted blocks are cut out of registers.
    schedule: "reduce = \"montgomery\"\nweights = \"within\"",
    features: &[],
    simulated: &[],
    ..AVX2
};

/// Portable C99: a register is a loop of constant length, which compilers turn into vectors of what
/// the machine has.
pub const C: Target = Target {
    name: "c",
    what: "any machine, C99 without intrinsics",
    architecture: None,
    pieces: 0,
    products: Products::Words,
    sums: 64,
    rounded: 32,
    loops: true,
    levels: &["-O2", "-O3"],
    features: &[],
    usual: true,
    simulated: &[],
    ..AVX2
};

/// Cortex-M4: programs as for portable C, each of their registers a loop over words of 32 bits, one lane or two
/// packed ones at a time.
pub const M4: Target = Target {
    name: "m4",
    what: "Cortex-M4 (Armv7E-M), C with intrinsics",
    architecture: Some(&ARMV7E_M),
    pieces: 8,
    count: 12,
    sums: 32,
    schedule: "rows = true",
    costs: costs::CORTEX_M4,
    levels: &["-O3", "-O2", "-Os"],
    usual: false,
    ..C
};

/// All targets, the fastest first.
pub const TARGETS: [&Target; 6] = [&AVX512, &AVX2, &SSE41, &NEON, &M4, &C];

impl Target {
    /// Bits of the machine's only registers, where products of vectors go by such words.
    pub fn word(&self) -> Option<usize> {
        let words = self.products == Products::Words && self.pieces > 0;
        words.then(|| self.registers.bits / self.pieces)
    }

    /// This target with registers of so many bits: of any where they are loops, else of those that it has.
    pub fn with_registers(&self, bits: usize) -> Option<Target> {
        let registers = match self.products {
            Products::Words => Registers { bits, part: bits },
            Products::Dots => self.widths().find(|registers| registers.bits == bits)?,
        };
        Some(Target { registers, ..*self })
    }

    /// Whether programs for it may have registers of several widths, none of them loops.
    pub fn has_widths(&self) -> bool {
        !self.narrower.is_empty()
    }

    /// What an operation on one of its registers takes of the time of one on its own.
    pub fn share(&self, registers: Registers) -> f64 {
        let found = self.narrower.iter().find(|(narrower, _)| *narrower == registers);
        found.map_or(1.0, |(_, share)| *share)
    }

    /// The registers that it has, its own first.
    pub fn widths(&self) -> impl Iterator<Item = Registers> + use<> {
        let narrower = self.narrower.iter().map(|(registers, _)| *registers);
        std::iter::once(self.registers).chain(narrower)
    }

    /// The target called `name`.
    pub fn find(name: &str) -> Option<&'static Target> {
        TARGETS.into_iter().find(|target| target.name == name)
    }
}

impl std::fmt::Display for Target {
    /// Its name.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_whole_parts_and_names_differ() {
        for (i, target) in TARGETS.iter().enumerate() {
            let Registers { bits, part } = target.registers;
            assert!(bits.is_multiple_of(part) && part.is_multiple_of(64), "{target}");
            assert!(target.count > 0, "{target}");
            assert!(TARGETS[..i].iter().all(|other| other.name != target.name));
            assert_eq!(Target::find(target.name), Some(*target));
        }
        assert_eq!(Target::find("z80"), None);
    }

    #[test]
    fn narrower_registers_are_no_others_and_take_less() {
        for target in TARGETS {
            for registers in target.widths().skip(1) {
                assert_eq!(registers.part, target.registers.part, "{target}");
                assert!(registers.bits < target.registers.bits, "{target}");
                let narrowed = target.with_registers(registers.bits).expect("one that it has");
                assert_eq!(narrowed.registers, registers, "{target}");
                let fewer = target.registers.bits as f64 / registers.bits as f64;
                let share = target.share(registers);
                assert!(share * fewer >= 1.0 && share < 1.0, "{target}: {share}");
            }
            assert_eq!(target.share(target.registers), 1.0);
        }
        assert_eq!(AVX512.widths().map(|r| r.bits).collect::<Vec<_>>(), [512, 256]);
        assert_eq!((AVX2.with_registers(512), AVX512.with_registers(128)), (None, None));
        assert_eq!(C.with_registers(160).map(|c| c.registers.lanes(16)), Some(10));
    }

    #[test]
    fn longer_words_cost_more() {
        for target in TARGETS {
            let [short, long] = [16, 32].map(|bits| target.costs.words(bits));
            assert!(short.scale < long.scale && short.product < long.product, "{target}");
        }
    }
}
