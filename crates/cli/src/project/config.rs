//! `ringforge.toml`: what a project proves.

use std::num::NonZeroU32;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::files;
use crate::args::Missing;
use crate::preset::read;
use crate::ui::{Excerpt, Failure, meant};

/// The file's usual name.
pub const NAME: &str = "ringforge.toml";

/// A project's file, with the paths that it names.
#[derive(Debug)]
pub struct Config {
    /// The file.
    pub path: PathBuf,
    /// Objects, archives and linked files, each once.
    pub objects: Vec<PathBuf>,
    /// Contracts, each once.
    pub contracts: Vec<PathBuf>,
    /// The command that makes the objects. It is shown, and never run.
    pub build: Option<String>,
    /// Seconds a function.
    pub time_limit: Option<u32>,
    /// Megabytes of the process.
    pub memory_limit: Option<u32>,
    /// Functions at the same time.
    pub jobs: Option<usize>,
    /// Whether refuted objects are run on their counterexamples.
    pub confirm: bool,
    /// The directory of the cache, if the file names one.
    pub cache: Option<PathBuf>,
    /// What becomes of contracts without an object.
    pub missing: Missing,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Text {
    objects: Spanned<Vec<Spanned<String>>>,
    contracts: Spanned<Vec<Spanned<String>>>,
    build: Option<String>,
    time_limit: Option<NonZeroU32>,
    memory_limit: Option<NonZeroU32>,
    jobs: Option<NonZeroU32>,
    confirm: Option<bool>,
    cache: Option<Spanned<String>>,
    missing: Option<Missing>,
}

/// The project's file in this directory, or in the nearest one above that has one.
///
/// # Errors
/// There is none.
pub fn find() -> Result<PathBuf, Failure> {
    // The shortest name is the one that messages are about.
    if Path::new(NAME).is_file() {
        return Ok(NAME.into());
    }
    let here = std::env::current_dir()
        .map_err(|e| Failure::failed(format!("cannot find the current directory: {e}")))?;
    let found = here.ancestors().map(|dir| dir.join(NAME)).find(|path| path.is_file());
    found.ok_or_else(|| {
        Failure::input(format!(
            "no `{NAME}` here or in a directory above; name another file with --config, or write one:\n  \
             objects = [\"build/*.o\"]\n  contracts = [\"contracts\"]"
        ))
    })
}

impl Config {
    /// Reads a project's file, and finds the files that it names.
    ///
    /// # Errors
    /// It makes no sense, or names files that are not there; the failure shows where.
    pub fn read(path: &Path) -> Result<Config, Failure> {
        let origin = path.display().to_string();
        let text = read(&origin)?;
        let refuse = |at: Range<usize>, label: String, help: Option<String>| {
            let name = origin.clone();
            let excerpt = Excerpt { name, text: text.clone(), at: at.start, label, help };
            Failure::at("this project file is refused", excerpt)
        };
        let parsed: Text = toml::from_str(&text).map_err(|error| {
            let (label, help) = explained(error.message());
            refuse(error.span().unwrap_or(0..0), label, help)
        })?;
        let base = path.parent().unwrap_or(Path::new(""));
        let all = |list: &Spanned<Vec<Spanned<String>>>, key: &str| {
            if list.as_ref().is_empty() {
                let help = format!("name at least one, such as {}", example(key));
                return Err(refuse(list.span(), "this names nothing to prove".into(), Some(help)));
            }
            let mut found: Vec<PathBuf> = Vec::new();
            for pattern in list.as_ref() {
                let matching = match key {
                    "objects" => files::objects(base, pattern.as_ref()),
                    _ => files::contracts(base, pattern.as_ref(), path),
                };
                let help = parsed.build.as_ref().filter(|_| key == "objects");
                let help = help.map(|build| format!("to build: `{build}`"));
                for file in matching.map_err(|label| refuse(pattern.span(), label, help))? {
                    if !found.contains(&file) {
                        found.push(file);
                    }
                }
            }
            Ok(found)
        };
        let objects = all(&parsed.objects, "objects")?;
        let contracts = all(&parsed.contracts, "contracts")?;
        let cache = match &parsed.cache {
            Some(dir) if dir.as_ref().is_empty() => {
                let help = "name a directory, or run with --no-cache".to_owned();
                return Err(refuse(dir.span(), "this is no directory".into(), Some(help)));
            }
            Some(dir) => Some(base.join(dir.as_ref())),
            None => None,
        };
        Ok(Config {
            path: path.to_owned(),
            objects,
            contracts,
            build: parsed.build,
            time_limit: parsed.time_limit.map(NonZeroU32::get),
            memory_limit: parsed.memory_limit.map(NonZeroU32::get),
            jobs: parsed.jobs.map(|jobs| jobs.get() as usize),
            confirm: parsed.confirm.unwrap_or(true),
            cache,
            missing: parsed.missing.unwrap_or_default(),
        })
    }
}

fn example(key: &str) -> &'static str {
    match key {
        "objects" => "`objects = [\"build/*.o\"]`",
        _ => "`contracts = [\"contracts\"]`",
    }
}

/// What the parser says of a mistake, and what would work.
fn explained(message: &str) -> (String, Option<String>) {
    // Its messages quote a name first, and then those that it knows.
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(word) if message.starts_with("unknown field") => {
            let known: Vec<&str> = quoted.collect();
            let label = format!("unknown key `{word}`{}", meant(word, known.iter().copied()));
            (label, Some(format!("the keys are {}", known.join(", "))))
        }
        Some(word) if message.starts_with("unknown variant") => {
            let known: Vec<&str> = quoted.collect();
            let label = format!("unknown value `{word}`{}", meant(word, known.iter().copied()));
            (label, Some(format!("would work: {}", known.join(", "))))
        }
        Some(key) if message.starts_with("missing field") => {
            (format!("the key `{key}` is missing"), Some(format!("such as {}", example(key))))
        }
        _ => (message.to_owned(), None),
    }
}
