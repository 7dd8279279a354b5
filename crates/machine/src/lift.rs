//! Running one call in all its cases.

use crate::call::CallSpec;
use crate::error::LiftError;
use crate::graph::Graph;
use crate::lifted::{Case, FinalRegion, LiftStats, Lifted};
use crate::object::Object;
use crate::x86::{Machine, Stop};

/// Executes the call `call` of `object` symbolically; terms go to `graph`, which several lifts may
/// share. `progress` is told the number of instructions executed, every few thousand.
///
/// # Errors
/// See [`LiftError`]: violations refute the contract, everything else leaves it open.
pub fn lift(
    object: &Object,
    call: &CallSpec,
    graph: &mut Graph,
    progress: &mut dyn FnMut(u64),
) -> Result<Lifted, LiftError> {
    match run(object, call, graph, None, progress) {
        Ok((case, stats)) => Ok(Lifted { cases: vec![case], stats }),
        Err(Stop::Error(e)) => Err(e),
        Err(Stop::NeedStackResidue) => {
            // The caller's stack pointer is 8 modulo 16; what it is modulo 64 are four cases.
            let mut cases = Vec::new();
            let mut stats: Option<LiftStats> = None;
            for residue in [8, 24, 40, 56] {
                match run(object, call, graph, Some(residue), progress) {
                    Ok((case, counts)) => {
                        let deepest = counts.stack_bytes;
                        let kept = stats.get_or_insert(counts);
                        kept.stack_bytes = kept.stack_bytes.max(deepest);
                        cases.push(case);
                    }
                    Err(Stop::Error(e)) => return Err(e),
                    Err(Stop::NeedStackResidue) => {
                        return Err(LiftError::BadCall(
                            "the code aligns its stack to more than 64 bytes".into(),
                        ));
                    }
                }
            }
            Ok(Lifted { cases, stats: stats.unwrap_or_default() })
        }
    }
}

fn run(
    object: &Object,
    call: &CallSpec,
    graph: &mut Graph,
    residue: Option<u64>,
    progress: &mut dyn FnMut(u64),
) -> Result<(Case, LiftStats), Stop> {
    let mut machine = Machine::new(object, call, graph, residue).map_err(|e| *e)?;
    let ran = machine.run(call.max_steps, progress);
    machine.g.set_origin(None);
    ran.map_err(|e| *e)?;
    let condition = match residue {
        Some(r) => format!("rsp = {r} modulo 64 at entry"),
        None => String::new(),
    };
    let regions = machine.regions[..call.regions.len()]
        .iter()
        .map(|r| FinalRegion { name: r.name.clone(), bytes: r.data.clone() })
        .collect();
    let mut stats = LiftStats {
        instructions: machine.steps,
        bytes_loaded: machine.loaded,
        bytes_stored: machine.stored,
        stack_bytes: machine.deepest.unsigned_abs(),
        assumptions: machine.assumptions.clone(),
        ..LiftStats::default()
    };
    for d in &machine.code {
        *stats.by_class.entry(d.class).or_default() += d.executed;
        let name = format!("{:?}", d.ins.mnemonic()).to_ascii_lowercase();
        *stats.by_mnemonic.entry(name).or_default() += d.executed;
        stats.code_bytes += d.ins.len() as u64;
    }
    Ok((Case { condition, regions }, stats))
}
