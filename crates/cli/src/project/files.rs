//! The files that a project names: paths, and patterns with `*`, `?`, `**` and `[…]`.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

/// As shells match: `*` stays in its directory, and leaves out names that begin with a dot.
const AS_SHELLS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// What a path or pattern names, in the order of names.
///
/// # Errors
/// It names nothing, or cannot be read: why, as a label for the text that has it.
fn matching(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = base.join(pattern);
    // A name may have brackets of its own.
    if path.exists() {
        return Ok(vec![path]);
    }
    if !pattern.contains(['*', '?', '[']) {
        return Err(format!("there is no `{}`", path.display()));
    }
    let whole = match base.to_str() {
        _ if Path::new(pattern).is_absolute() => pattern.to_owned(),
        Some("") => pattern.to_owned(),
        Some(base) => format!("{}/{pattern}", Pattern::escape(base)),
        None => return Err(format!("`{}` is not UTF-8, as patterns are", base.display())),
    };
    let entries = glob::glob_with(&whole, AS_SHELLS)
        .map_err(|e| format!("this pattern has a mistake: {} (at {})", e.msg, e.pos))?;
    let mut found = Vec::new();
    for entry in entries {
        found.push(
            entry.map_err(|e| format!("cannot read `{}`: {}", e.path().display(), e.error()))?,
        );
    }
    found.sort();
    Ok(found)
}

/// The object files, archives and linked files that a pattern names; at least one.
///
/// # Errors
/// There is none.
pub fn objects(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = matching(base, pattern)?;
    if let [one] = &found[..]
        && one.is_dir()
    {
        return Err(format!("this is a directory; its objects are `{pattern}/*.o`"));
    }
    found.retain(|path| path.is_file());
    if found.is_empty() {
        return Err("this matches no file".into());
    }
    Ok(found)
}

/// The contracts that a pattern names, at least one. Of a directory they are all its files with
/// the ending `.toml`, apart from the project's own.
///
/// # Errors
/// There is none.
pub fn contracts(base: &Path, pattern: &str, project: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in matching(base, pattern)? {
        if path.is_dir() { found.extend(in_directory(&path)?) } else { found.push(path) }
    }
    let project = project.canonicalize().ok();
    found.retain(|path| project.is_none() || path.canonicalize().ok() != project);
    if found.is_empty() {
        return Err("this matches no contract".into());
    }
    Ok(found)
}

/// The contracts in a directory, by name; not those in directories below.
///
/// # Errors
/// It cannot be read.
pub fn in_directory(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e| format!("cannot read `{}`: {e}", directory.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        found.push(entry.map_err(failed)?.path());
    }
    found.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    found.sort();
    Ok(found)
}
