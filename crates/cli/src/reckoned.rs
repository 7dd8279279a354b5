//! Executed instructions of a call, counted in an emulator, and cycles that a core is reckoned to take.

use std::path::Path;

use ringforge_toolchain::count::{Counts, count};
use ringforge_toolchain::{Callee, Compiler, Signature};
use serde::Serialize;

use crate::ui::Failure;

/// Counts of one call and what they mean. No time was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Reckoned {
    /// The core.
    pub core: &'static str,
    /// Executed instructions.
    pub counts: Counts,
    /// Slots of the core's multiplier for vector products, a lower bound of its cycles by themselves.
    pub multiplier_slots: u64,
    /// Cycles by the core's model.
    pub model_cycles: f64,
}

impl Reckoned {
    /// Counts one call of a function, where the compiler's programs run in an emulator and there is a model.
    ///
    /// # Errors
    /// The call fails, or the emulator does not count.
    pub fn of(
        compiler: &Compiler,
        objects: &[&Path],
        signature: &Signature,
    ) -> Result<Option<Reckoned>, Failure> {
        let core = compiler.architecture.and_then(|a| a.core);
        let Some(core) = core.filter(|_| compiler.runner.is_emulator()) else { return Ok(None) };
        let failed =
            |e: &dyn std::fmt::Display| Failure::failed(format!("{}: {e}", signature.symbol));
        let callee = Callee::build(compiler, objects, signature, &[]).map_err(|e| failed(&e))?;
        // Constant time: any inputs execute the same instructions.
        let read = signature.arguments.iter().filter(|a| a.role.reads());
        let inputs: Vec<Vec<i64>> = read.map(|a| vec![a.range.1; a.length]).collect();
        let inputs: Vec<&[i64]> = inputs.iter().map(Vec::as_slice).collect();
        let counts = count(compiler, &callee, &inputs).map_err(|e| failed(&e))?;
        let model_cycles = counts.cycles(&core).round();
        Ok(Some(Reckoned {
            core: core.name,
            counts,
            multiplier_slots: counts.slots(),
            model_cycles,
        }))
    }

    /// In a few words.
    pub fn text(&self) -> String {
        let Reckoned { core, counts, multiplier_slots, model_cycles } = self;
        format!(
            "{model_cycles} model cycles ({core}); {} executed, F0 {multiplier_slots}, R16 {}",
            counts.executed, counts.moved
        )
    }
}
