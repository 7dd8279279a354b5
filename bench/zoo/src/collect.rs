//! Objects out of what cargo built: members of archives, object files of a Rust library, sources of
//! a package assembled as they are, joined to one relocatable object by `ld -r`.

use crate::manifest::{Cross, Function};
use crate::{Failure, run};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What cargo says about the packages.
pub struct Packages {
    /// Output directories of build scripts.
    out: HashMap<String, PathBuf>,
    /// Rust libraries.
    libraries: HashMap<String, PathBuf>,
    /// Directories of sources.
    sources: HashMap<String, PathBuf>,
}

/// One line of cargo's messages.
#[derive(Deserialize)]
struct Message {
    reason: String,
    package_id: Option<String>,
    out_dir: Option<PathBuf>,
    filenames: Option<Vec<PathBuf>>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
}

impl Packages {
    /// Builds the packages that `bench/zoo` depends on and asks where things are.
    ///
    /// # Errors
    /// Cargo fails.
    pub fn build(bench: &Path) -> Result<Packages, Failure> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let manifest = bench.join("Cargo.toml");
        let mut build = Command::new(&cargo);
        build.args(["build", "--release", "--package", "zoo", "--message-format", "json"]);
        build.arg("--manifest-path").arg(&manifest);
        let text = run(&mut build)?;
        let (mut out, mut libraries) = (HashMap::new(), HashMap::new());
        for line in text.lines() {
            let message: Message =
                serde_json::from_str(line).map_err(|e| Failure(format!("cargo's message: {e}")))?;
            let Some(name) = message.package_id.as_deref().and_then(package_name) else { continue };
            if let (true, Some(dir)) = (message.reason == "build-script-executed", message.out_dir)
            {
                out.insert(name.to_string(), dir);
            } else if message.reason == "compiler-artifact" {
                let files = message.filenames.unwrap_or_default();
                let rlib = files.into_iter().find(|f| f.extension().is_some_and(|e| e == "rlib"));
                libraries.extend(rlib.map(|f| (name.to_string(), f)));
            }
        }
        let mut metadata = Command::new(&cargo);
        metadata.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(&manifest);
        let metadata: Metadata = serde_json::from_str(&run(&mut metadata)?)
            .map_err(|e| Failure(format!("cargo's metadata: {e}")))?;
        let directory = |p: Package| Some((p.name, p.manifest_path.parent()?.to_path_buf()));
        let sources = metadata.packages.into_iter().filter_map(directory).collect();
        Ok(Packages { out, libraries, sources })
    }

    /// Makes the relocatable object of a function at `object`; `shims` holds the shims.
    ///
    /// # Errors
    /// Something is not there, or the tools fail.
    pub fn object(&self, f: &Function, shims: &Path, object: &Path) -> Result<(), Failure> {
        let scratch = object.with_extension("parts");
        make_empty(&scratch)?;
        let missing = |what: &str| Failure(format!("{}: {} has no {what}", f.name, f.package));
        let mut parts = Vec::new();
        if let Some(archive) = &f.archive {
            let archive = self.out.get(&f.package).ok_or_else(|| missing("output"))?.join(archive);
            let all = unpack(&archive, &scratch)?;
            for member in &f.members {
                let end = format!("-{member}.o");
                let found = all.iter().find(|p| p.to_string_lossy().ends_with(&end));
                parts.push(found.ok_or_else(|| missing(&end))?.clone());
            }
        } else if f.sources.is_empty() && f.shim.is_none() {
            let library = self.libraries.get(&f.package).ok_or_else(|| missing("Rust library"))?;
            parts.extend(unpack(library, &scratch)?);
        } else {
            let home = self.sources.get(&f.package).ok_or_else(|| missing("sources"))?;
            for (i, source) in f.sources.iter().enumerate() {
                let part = scratch.join(format!("source{i}.o"));
                run(&mut compiler(f, home, &home.join(source), &part))?;
                parts.push(part);
            }
        }
        if let Some(shim) = &f.shim {
            let part = scratch.join("shim.o");
            let home = self.sources.get(&f.package).ok_or_else(|| missing("sources"))?;
            let mut cc = compiler(f, home, &shims.join(shim), &part);
            cc.args(f.define.iter().map(|(name, value)| format!("-D{name}={value}")));
            run(&mut cc)?;
            parts.push(part);
        }
        if let [one] = &parts[..] {
            std::fs::copy(one, object)
                .map_err(|e| Failure(format!("cannot copy {}: {e}", one.display())))?;
        } else {
            run(Command::new(tool(f, "ld"))
                .args(["-r", "-z", "noexecstack", "-o"])
                .arg(object)
                .args(&parts))?;
        }
        Ok(())
    }
}

/// A tool of the machine that `f` is for.
fn tool(f: &Function, name: &str) -> String {
    format!("{}{name}", f.machine.map_or("", Cross::prefix))
}

/// `cc -O2 -I… -c SOURCE -o PART`, with the package's directories of include files.
fn compiler(f: &Function, home: &Path, source: &Path, part: &Path) -> Command {
    let cc = match f.machine {
        None => std::env::var_os("CC").unwrap_or_else(|| "cc".into()),
        Some(_) => tool(f, "gcc").into(),
    };
    let mut cc = Command::new(cc);
    cc.args(["-O2", "-c"]);
    f.include.iter().for_each(|d| {
        cc.arg("-I").arg(home.join(d));
    });
    cc.arg(source).arg("-o").arg(part);
    cc
}

/// The name in `registry+https://…#NAME@VERSION`.
fn package_name(id: &str) -> Option<&str> {
    let (_, name) = id.rsplit_once('#')?;
    Some(name.split('@').next().unwrap_or(name))
}

fn make_empty(dir: &Path) -> Result<(), Failure> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).map_err(|e| Failure(format!("{}: {e}", dir.display())))?;
    }
    std::fs::create_dir_all(dir).map_err(|e| Failure(format!("{}: {e}", dir.display())))
}

/// The object files of an archive.
fn unpack(archive: &Path, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let archive = archive
        .canonicalize()
        .map_err(|e| Failure(format!("there is no archive {}: {e}", archive.display())))?;
    run(Command::new("ar").arg("x").arg(&archive).current_dir(dir))?;
    let entries = std::fs::read_dir(dir).map_err(|e| Failure(format!("{}: {e}", dir.display())))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "o"));
    files.sort();
    Ok(files)
}

/// The symbol of `contract` in an object: a Rust path stands for the mangled name with its digest.
///
/// # Errors
/// No symbol, or several, are called so.
pub fn symbol(path: &str, object: &Path) -> Result<String, Failure> {
    if !path.contains("::") {
        return Ok(path.to_string());
    }
    let start: String = path.split("::").map(|part| format!("{}{part}", part.len())).collect();
    let start = format!("_ZN{start}17h");
    let text =
        run(Command::new("nm").args(["--defined-only", "--format=just-symbols"]).arg(object))?;
    let mut found = text.lines().filter(|s| s.starts_with(&start));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one.to_string()),
        (None, _) => Err(Failure(format!("no symbol {start}… in {}", object.display()))),
        _ => Err(Failure(format!("several symbols {start}… in {}", object.display()))),
    }
}
