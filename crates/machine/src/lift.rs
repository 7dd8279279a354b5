//! Running one call in all its cases.
use crate::call::CallSpec;
use crate::error::LiftError;
use crate::graph::Graph;
use crate::lifted::Lifted;
use crate::object::Object;

/// Executes the call `call` of `object` symbolically; terms go to `graph`, which several lifts may
/// share. `progress` is told the number of instructions executed, every few thousand.
///
/// # Errors
/// See [`LiftError`]: violations refute the contract, everything else leaves it open.
pub fn lift(
    _object: &Object,
    _call: &CallSpec,
    _graph: &mut Graph,
    _progress: &mut dyn FnMut(u64),
) -> Result<Lifted, LiftError> {
    Err(LiftError::BadCall("under construction".into()))
}
