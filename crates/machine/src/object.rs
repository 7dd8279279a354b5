//! ELF objects.
use crate::error::ObjectError;

/// An ELF object: sections laid out, relocations applied, symbols.
pub struct Object {}

impl Object {
    /// Reads an x86-64 ELF file.
    ///
    /// # Errors
    /// If it is not one, or damaged.
    pub fn parse(_bytes: &[u8]) -> Result<Object, ObjectError> {
        Err(ObjectError::NotElf("under construction".into()))
    }
}
