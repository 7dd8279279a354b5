//! Thumb-2 with the DSP extension.

pub(crate) mod conditions;
pub(crate) mod decode;
pub(crate) mod operation;
