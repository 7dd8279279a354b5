//! Verdicts of earlier runs: a file for each, by the digest of everything that a verdict depends on.
//!
//! A file's first line is the SHA-256 of the rest, which is JSON: the key, and all that was found. What does not fit its
//! digest or its key is as if it were not there. Whoever can write to the directory can write verdicts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ringforge_contract::sha256;
use ringforge_prove::{Options, ReasonKind};
use ringforge_toolchain::{OutputError, replace_file};
use serde::{Deserialize, Serialize};

use super::task::{Finding, Task};
use crate::package::VERSION;

/// The format of keys and files.
const FORMAT: u32 = 1;

/// Everything that a verdict depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    format: u32,
    /// Name and version of this program.
    tool: String,
    /// SHA-256 of the program's file: two builds of one version may differ.
    executable: String,
    /// SHA-256 of the objects.
    objects: Vec<String>,
    /// SHA-256 of the contract; of a chain, its contracts follow.
    contracts: Vec<String>,
    /// The function, since a contract may be about several.
    function: String,
    /// The limits, and whether counterexamples are run.
    options: String,
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: Key,
    found: Finding,
}

/// The digests of the objects, each once.
#[derive(Default)]
pub struct Digests(HashMap<(usize, usize), String>);

impl Digests {
    fn of(&mut self, bytes: &[u8]) -> String {
        // The objects stay in memory while there are tasks: a place and a length are one object's.
        let place = (bytes.as_ptr() as usize, bytes.len());
        self.0.entry(place).or_insert_with(|| sha256(bytes)).clone()
    }

    /// What the verdict on a task depends on; none if this program cannot read itself.
    pub fn key(&mut self, task: &Task, options: &Options, confirms: bool) -> Option<Key> {
        let Options { time_limit, memory_limit, max_steps, max_points, max_work, search, .. } =
            options;
        Some(Key {
            format: FORMAT,
            tool: VERSION.to_owned(),
            executable: executable()?.to_owned(),
            objects: task.parts.iter().map(|part| self.of(part.found.bytes)).collect(),
            contracts: task.texts.iter().map(|text| sha256(text.as_bytes())).collect(),
            function: task.label.function.clone(),
            options: format!(
                "time {time_limit:?}, memory {memory_limit}, steps {max_steps}, points {max_points}, work {max_work}, \
                 search {search:?}, confirm {confirms}"
            ),
        })
    }
}

/// SHA-256 of this program's file.
fn executable() -> Option<&'static str> {
    static DIGEST: OnceLock<Option<String>> = OnceLock::new();
    let digest = || Some(sha256(&std::fs::read(std::env::current_exe().ok()?).ok()?));
    DIGEST.get_or_init(digest).as_deref()
}

/// The directory of this user: `ringforge/proofs` in `$XDG_CACHE_HOME` or `~/.cache`. Nothing where
/// there is no home.
pub fn directory() -> Option<PathBuf> {
    let get = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    // The XDG specification: relative paths are to be ignored.
    let cache = get("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = cache.or_else(|| get("HOME").map(|home| Path::new(&home).join(".cache")))?;
    Some(cache.join("ringforge/proofs"))
}

fn file(directory: &Path, key: &Key) -> Option<PathBuf> {
    let name = sha256(&serde_json::to_vec(key).ok()?);
    Some(directory.join(format!("{name}.proof")))
}

/// What an earlier run found, if it is there whole.
pub fn find(directory: &Path, key: &Key) -> Option<Finding> {
    let text = std::fs::read_to_string(file(directory, key)?).ok()?;
    let (digest, rest) = text.split_once('\n')?;
    if sha256(rest.as_bytes()) != digest {
        return None;
    }
    let entry: Entry = serde_json::from_str(rest).ok()?;
    (entry.key == *key).then_some(entry.found)
}

/// Keeps what was found. What a limit ended is not kept: on a machine with less to do, the same
/// limits may suffice.
///
/// # Errors
/// The file system refuses.
pub fn keep(directory: &Path, key: &Key, found: &Finding) -> Result<(), OutputError> {
    if found.causes.iter().any(|cause| cause.kind == ReasonKind::Stopped) {
        return Ok(());
    }
    let entry = Entry { key: key.clone(), found: found.clone() };
    // Both have a form in JSON: the report is one, and keys are words.
    let (Some(file), Ok(rest)) = (file(directory, key), serde_json::to_string(&entry)) else {
        return Ok(());
    };
    replace_file(&file, format!("{}\n{rest}", sha256(rest.as_bytes())))
}
