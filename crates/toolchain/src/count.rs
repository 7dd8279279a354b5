//! Executed instructions of a call, counted in an emulator, and the estimated cycles of a core for them.
//!
//! Counts do not depend on the machine that they are made on, and nothing of them is measured time.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use ringforge_targets::{Core, Model};
use serde::Serialize;

use crate::{CallError, Callee, Compiler, Guard, Scratch};

mod thumb;

/// The plugin that counts.
const PLUGIN: &str = include_str!("driver/count.c");

/// Instructions of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub executed: u64,
    /// Vector products whose results have the factors' width, of 128 bits.
    pub full: u64,
    /// Vector products to twice the width, and those of 64 bits.
    pub long: u64,
    /// Other vector operations on registers alone.
    pub other: u64,
    /// Vector loads and stores.
    pub memory: u64,
    /// Vector registers that they load and store, a part of one counted as one.
    pub moved: u64,
    /// Cycles, where the core executes in order and has a time for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_order: Option<u64>,
}

/// What kind of instruction an encoding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Full,
    Long,
    Other,
    Memory(u64),
    Scalar,
}

/// Why there is no count.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    /// The program does not run in an emulator that takes plugins.
    #[error("only an emulator counts instructions")]
    NoEmulator,
    /// The plugin could not be made.
    #[error("the plugin that counts cannot be made: {0}")]
    Plugin(String),
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The emulator left no counts.
    #[error("the emulator leaves no counts: {0}")]
    Silent(String),
}

impl Counts {
    /// Slots of the multiplier: two for a full product, one for a long one.
    pub fn slots(&self) -> u64 {
        2 * self.full + self.long
    }

    /// The estimated cycles of a core.
    pub fn cycles(&self, core: &Core) -> f64 {
        match core.model {
            Model::Slots { multiply, other, moved } => {
                multiply * self.slots() as f64
                    + other * self.other as f64
                    + moved * self.moved as f64
            }
            Model::InOrder(_) => self.in_order.unwrap_or(0) as f64,
        }
    }
}

/// Counts the instructions of one call on `inputs`, made by `compiler`, whose runner is an emulator; the
/// machine's own compiler makes the plugin.
///
/// # Errors
/// There is no emulator, no compiler of the machine's own, or the call fails.
pub fn count(
    compiler: &Compiler,
    callee: &Callee,
    inputs: &[&[i64]],
) -> Result<Counts, CountError> {
    if !compiler.runner.is_emulator() {
        return Err(CountError::NoEmulator);
    }
    let counter = Counter::new()?;
    let mut command = callee.command();
    counter.watch(&mut command);
    callee.run(
        command,
        callee.signature().record(inputs),
        Guard::Behind,
        Duration::from_secs(60),
    )?;
    counter.counts(compiler.architecture.and_then(|a| a.core).map(|core| core.model))
}

/// The plugin, compiled, and where it leaves its counts.
pub struct Counter {
    dir: Scratch,
}

impl Counter {
    /// Made by the machine's own compiler.
    ///
    /// # Errors
    /// There is none, or it fails.
    pub fn new() -> Result<Counter, CountError> {
        let plugin = |e: &dyn std::fmt::Display| CountError::Plugin(e.to_string());
        let own = Compiler::any().map_err(|e| plugin(&e))?;
        let counter = Counter { dir: Scratch::new().map_err(|e| plugin(&e))? };
        let source = counter.file("count.c");
        std::fs::write(&source, PLUGIN).map_err(|e| plugin(&e))?;
        let flags = ["-O2", "-w", "-shared", "-fPIC", "-fvisibility=hidden", "-o"].map(Into::into);
        let args = [&flags[..], &[counter.file("count.so").into(), source.into()]].concat();
        own.run(&args).map_err(|e| plugin(&e))?;
        Ok(counter)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Lets a command that starts an emulator count what stands between a program's marks.
    pub fn watch(&self, command: &mut Command) {
        let (object, out) = (self.file("count.so"), self.file("counts"));
        command.env("QEMU_PLUGIN", format!("file={},out={}", object.display(), out.display()));
    }

    /// What the last command counted that was watched and has ended, by a core's model.
    ///
    /// # Errors
    /// The emulator left no counts.
    pub fn counts(&self, model: Option<Model>) -> Result<Counts, CountError> {
        let text = std::fs::read_to_string(self.file("counts"))
            .map_err(|e| CountError::Silent(e.to_string()))?;
        let counts = match model {
            Some(Model::InOrder(times)) => thumb::sum(&text, &times),
            _ => sum(&text),
        };
        if counts.executed == 0 { Err(CountError::Silent(text)) } else { Ok(counts) }
    }
}

/// Sums lines of an instruction word in hexadecimal digits and a count.
fn sum(text: &str) -> Counts {
    let mut all = Counts::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        let word = words.next().and_then(|word| u32::from_str_radix(word, 16).ok());
        let (Some(word), Some(n)) = (word, words.next().and_then(|n| n.parse::<u64>().ok())) else {
            continue;
        };
        all.executed += n;
        match kind(word) {
            Kind::Full => all.full += n,
            Kind::Long => all.long += n,
            Kind::Other => all.other += n,
            Kind::Memory(registers) => {
                all.memory += n;
                all.moved += registers * n;
            }
            Kind::Scalar => {}
        }
    }
    all
}

/// Bits `high..=low` of a word.
fn bits(word: u32, high: u32, low: u32) -> u32 {
    word >> low & ((1 << (high - low + 1)) - 1)
}

/// The kind of an A64 instruction, by its encoding (Arm Architecture Reference Manual, C4.1).
fn kind(word: u32) -> Kind {
    let bit = |at: u32| word >> at & 1 == 1;
    // Loads and stores of vector registers.
    if bit(27) && !bit(25) {
        return match bit(26) {
            true => Kind::Memory(registers(word)),
            false => Kind::Scalar,
        };
    }
    if bits(word, 27, 25) != 0b111 {
        return Kind::Scalar;
    }
    let full = if bit(30) { Kind::Full } else { Kind::Long };
    let (group, code) = (bits(word, 28, 24), bits(word, 15, 12));
    if bit(31) {
        return Kind::Other;
    }
    match group {
        0b01110 if bit(21) && bit(10) => match bits(word, 15, 11) {
            // mla, mls; mul; sqdmulh, sqrdmulh.
            0b10010 | 0b10011 | 0b10110 => full,
            _ => Kind::Other,
        },
        // sqrdmlah, sqrdmlsh.
        0b01110 if !bit(21) && bit(10) && matches!(bits(word, 15, 11), 0b10000 | 0b10001) => full,
        // smlal, sqdmlal, smlsl, sqdmlsl, smull, sqdmull, pmull.
        0b01110 if bit(21) && bits(word, 11, 10) == 0 && (0b1000..=0b1110).contains(&code) => {
            Kind::Long
        }
        0b01111 if !bit(10) => match (code, bit(29)) {
            (0b0000 | 0b0100, true) | (0b1000, false) | (0b1100, false) | (0b1101, _) => full,
            (0b1111, true) => full,
            (0b0010 | 0b0110 | 0b1010, _) | (0b0011 | 0b0111 | 0b1011, false) => Kind::Long,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

/// Vector registers that a load or store moves.
fn registers(word: u32) -> u64 {
    match bits(word, 29, 24) {
        // Whole structures.
        0b001100 => match bits(word, 15, 12) {
            0b0000 | 0b0010 => 4,
            0b0100 | 0b0110 => 3,
            0b1000 | 0b1010 => 2,
            _ => 1,
        },
        // A lane of each, or all lanes.
        0b001101 => u64::from(2 * bits(word, 13, 13) + bits(word, 21, 21) + 1),
        _ if bits(word, 29, 27) == 0b101 => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_their_kinds() {
        // As GNU as 2.40 encodes them.
        for (word, want) in [
            (0x4e62_9c20, Kind::Full),      // mul v0.8h, v1.8h, v2.8h
            (0x0e62_9c20, Kind::Long),      // mul v0.4h, v1.4h, v2.4h
            (0x6e62_9420, Kind::Full),      // mls v0.8h, v1.8h, v2.8h
            (0x6e62_b420, Kind::Full),      // sqrdmulh v0.8h, v1.8h, v2.8h
            (0x4f52_8020, Kind::Full),      // mul v0.8h, v1.8h, v2.h[1]
            (0x4f52_d020, Kind::Full),      // sqrdmulh v0.8h, v1.8h, v2.h[1]
            (0x0e62_c020, Kind::Long),      // smull v0.4s, v1.4h, v2.4h
            (0x4e62_8020, Kind::Long),      // smlal2 v0.4s, v1.8h, v2.8h
            (0x0f52_a020, Kind::Long),      // smull v0.4s, v1.4h, v2.h[1]
            (0x4e62_8420, Kind::Other),     // add v0.8h, v1.8h, v2.8h
            (0x4ea2_bc20, Kind::Other),     // addp v0.4s, v1.4s, v2.4s
            (0x4e42_5820, Kind::Other),     // uzp2 v0.8h, v1.8h, v2.8h
            (0x0f10_8420, Kind::Other),     // shrn v0.4h, v1.4s, #16
            (0x4e02_0c20, Kind::Other),     // dup v0.8h, w1
            (0x3dc0_0020, Kind::Memory(1)), // ldr q0, [x1]
            (0xad00_0440, Kind::Memory(2)), // stp q0, q1, [x2]
            (0x4c40_2020, Kind::Memory(4)), // ld1 {v0.16b-v3.16b}, [x1]
            (0x4d40_c420, Kind::Memory(1)), // ld1r {v0.8h}, [x1]
            (0xf940_0020, Kind::Scalar),    // ldr x0, [x1]
            (0x8b02_0020, Kind::Scalar),    // add x0, x1, x2
            (0xd65f_03c0, Kind::Scalar),    // ret
        ] {
            assert_eq!(kind(word), want, "{word:08x}");
        }
    }

    #[test]
    fn counts_are_summed_and_modelled() {
        let counts = sum("4e629c20 10\n0e62c020 5\nad000440 3\nd65f03c0 1\n");
        let want = Counts {
            executed: 19,
            full: 10,
            long: 5,
            other: 0,
            memory: 3,
            moved: 6,
            in_order: None,
        };
        assert_eq!(counts, want);
        let core = ringforge_targets::AARCH64.core.unwrap();
        assert!((counts.cycles(&core) - (1.12 * 25.0 + 0.86 * 6.0)).abs() < 1e-9);
    }
}
