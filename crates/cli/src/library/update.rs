//! A package made again in its place: files as ringforge left them are replaced, all others are kept.
//!
//! Each package has a list of its files with their digests, as `sha256sum -c` reads it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ringforge_toolchain::OutputDir;
use sha2::{Digest, Sha256};

use crate::make::unwritable;
use crate::ui::Failure;

/// The list's name in a package.
const LIST: &str = "files.sha256";

/// What stands in the package's place, and is not ringforge's.
#[derive(Default)]
pub struct Kept {
    files: Vec<String>,
    /// Those of them that ringforge wrote, and somebody changed, with the digests of what it wrote.
    changed: BTreeMap<String, String>,
}

/// A file that somebody changed and that stayed.
pub struct Differing {
    /// Its name.
    pub name: String,
    /// Whether it stands in the place of a file of ringforge's; else this package has none of that name.
    replaces: bool,
}

impl Differing {
    /// What follows for the package, and what to do.
    pub fn why(&self) -> &'static str {
        match self.replaces {
            true => "the proofs do not cover it. Delete it and rerun to update",
            false => "this package no longer has it. Delete it unless you need it",
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::failed(format!("cannot read `{}`: {e}", path.display())))
}

/// The files below `place`, by their names from there.
fn files(place: &Path) -> Result<Vec<String>, Failure> {
    let failed = |path: &Path, e| Failure::failed(format!("cannot read `{}`: {e}", path.display()));
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        let here = place.join(&folder);
        for entry in fs::read_dir(&here).map_err(|e| failed(&here, e))? {
            let entry = entry.map_err(|e| failed(&here, e))?;
            let name = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(|e| failed(&entry.path(), e))?;
            match name.to_str() {
                Some(text) if kind.is_file() => found.push(text.to_owned()),
                Some(_) if kind.is_dir() => folders.push(name),
                _ => {
                    let m = format!(
                        "`{}` is in the way: it is not a plain file",
                        entry.path().display()
                    );
                    return Err(Failure::input(m));
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Starts a package at `place`: a new or empty directory, or an earlier package.
///
/// # Errors
/// Something is in the way, or the place cannot be read or written.
pub fn start(place: &Path) -> Result<(OutputDir, Kept), Failure> {
    if !place.join(LIST).is_file() {
        return Ok((OutputDir::create(place, |_| false).map_err(unwritable)?, Kept::default()));
    }
    let text = String::from_utf8_lossy(&read(&place.join(LIST))?).into_owned();
    let ours: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|l| l.split_once("  ").map(|(digest, name)| (name, digest)))
        .collect();
    let mut kept = Kept::default();
    for name in files(place)?.into_iter().filter(|name| name != LIST) {
        match ours.get(name.as_str()) {
            Some(was) if *was == digest(&read(&place.join(&name))?) => continue,
            Some(was) => drop(kept.changed.insert(name.clone(), was.to_string())),
            None => (),
        }
        kept.files.push(name);
    }
    Ok((OutputDir::replacing(place).map_err(unwritable)?, kept))
}

impl Kept {
    /// Writes the list of what is in `out`, and puts what is kept next to it or in its place. Returns the files that
    /// make the package differ from what ringforge writes.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn finish(self, out: &OutputDir) -> Result<Vec<Differing>, Failure> {
        let written = files(out.path())?;
        let mut list = String::new();
        for name in &written {
            list += &format!("{}  {name}\n", digest(&read(&out.path().join(name))?));
        }
        // With its digest, the next run knows it as changed too.
        for (name, was) in self.changed.iter().filter(|(name, _)| !written.contains(name)) {
            list += &format!("{was}  {name}\n");
        }
        out.write(LIST, list).map_err(unwritable)?;
        for name in &self.files {
            let from = out.target().join(name);
            out.write(name, read(&from)?).map_err(unwritable)?;
            // What is older than a source must stay so, for make.
            let time = fs::metadata(&from).and_then(|data| data.modified());
            let to = fs::File::options().append(true).open(out.path().join(name));
            time.and_then(|time| to?.set_modified(time))
                .map_err(|e| Failure::failed(format!("cannot write `{name}`: {e}")))?;
        }
        let differing = self.files.into_iter().filter_map(|name| {
            let replaces = written.contains(&name);
            (replaces || self.changed.contains_key(&name)).then_some(Differing { name, replaces })
        });
        Ok(differing.collect())
    }
}
