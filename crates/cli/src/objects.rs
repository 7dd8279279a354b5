//! The object files that a command is given: alone, or in an archive. From an archive the command
//! takes the member that defines what a contract is about.

use std::path::Path;

use ringforge_machine::object::archive;

use crate::ui::Failure;

/// A file that was named.
pub struct Input {
    name: String,
    bytes: Vec<u8>,
}

/// An object in it.
pub struct Found<'a> {
    /// For people: `object.o`, or `library.a(object.o)`.
    pub name: String,
    /// Its content.
    pub bytes: &'a [u8],
}

impl Input {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Input, Failure> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|e| Failure::input(format!("cannot read `{name}`: {e}")))?;
        Ok(Input { name, bytes })
    }

    /// Its content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it is an archive.
    pub fn is_archive(&self) -> bool {
        archive::is_archive(&self.bytes)
    }

    /// The member of an archive that defines `symbol`, if one does.
    ///
    /// # Errors
    /// If several do, or if the archive cannot be read.
    pub fn finding(&self, symbol: &str) -> Result<Option<Found<'_>>, Failure> {
        let member = archive::find(&self.bytes, symbol)
            .map_err(|e| Failure::input(format!("`{}`: {e}", self.name)))?;
        Ok(member.map(|m| Found { name: format!("{}({})", self.name, m.name), bytes: m.bytes }))
    }

    /// The file itself, or if it is an archive the member that defines `symbol`.
    ///
    /// # Errors
    /// If it is an archive and not exactly one member defines `symbol`.
    pub fn defining(&self, symbol: &str) -> Result<Found<'_>, Failure> {
        if !self.is_archive() {
            return Ok(Found { name: self.name.clone(), bytes: &self.bytes });
        }
        let member = archive::defining(&self.bytes, symbol)
            .map_err(|e| Failure::input(format!("`{}`: {e}", self.name)))?;
        Ok(Found { name: format!("{}({})", self.name, member.name), bytes: member.bytes })
    }
}

/// Whether a file is a shared object or an executable, which no driver is linked with.
pub fn is_linked(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    ringforge_machine::Object::parse(&bytes).is_ok_and(|object| object.is_linked())
}
