//! Output directories that appear whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tempfile::TempDir;

/// Directories and files that must not outlive the process, for [`remove_unfinished`].
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    // A list of paths is sound whatever the thread was doing that panicked.
    UNFINISHED.lock().unwrap_or_else(|e| e.into_inner())
}

/// Removes every unfinished output directory, every [`Scratch`] and every unfinished file, for a
/// handler of Ctrl-C, before it exits: whoever begins another one, or ends one, waits from now on.
pub fn remove_unfinished() {
    let mut all = unfinished();
    for path in std::mem::take(&mut *all) {
        // A path that is gone already is what we want. Threads that still write into a directory may make it
        // anew under the hands of who removes it.
        for _ in 0..ATTEMPTS {
            let done =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if done.is_ok() || !path.exists() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }
    std::mem::forget(all);
}

/// How often the removal of a path is tried, and how long after an attempt the next one comes.
const ATTEMPTS: usize = 50;
const PAUSE: Duration = Duration::from_millis(2);

/// Writes a file that appears whole or not at all, in the place of an earlier one; missing
/// directories are made.
///
/// # Errors
/// The file system refuses; the earlier file is then as it was.
pub fn replace_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), OutputError> {
    let path = std::path::absolute(path).map_err(io_error("find", path))?;
    let parent = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(io_error("create", parent))?;
    let mut all = unfinished();
    let temp = tempfile::Builder::new().prefix(".ringforge-").tempfile_in(parent);
    let temp = temp.map_err(io_error("write into", parent))?;
    let name = temp.path().to_owned();
    all.push(name.clone());
    drop(all);
    let done = fs::write(&name, content)
        .and_then(|()| temp.as_file().sync_all())
        .and_then(|()| temp.persist(&path).map(drop).map_err(|e| e.error));
    unfinished().retain(|p| *p != name);
    done.map_err(io_error("write", &path))
}

/// Why nothing was written, with the path concerned.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The operating system refused.
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// What was tried, as a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Its answer.
        error: io::Error,
    },
    /// The directory is there and is somebody else's.
    #[error("{} is in the way: it holds `{entry}`, which ringforge did not write; choose another --out", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// One entry that must not be lost.
        entry: String,
    },
    /// The path is there and no directory.
    #[error("{} is not a directory; choose another --out", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
}

fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OutputError {
    let path = path.to_owned();
    move |error| OutputError::Io { what, path, error }
}

/// A temporary directory that vanishes when dropped, and when the process is interrupted.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// A new, empty one.
    ///
    /// # Errors
    /// The place for temporary files cannot be written.
    pub fn new() -> io::Result<Scratch> {
        // Not made once everything is removed: see `remove_unfinished`.
        let mut all = unfinished();
        let temp = tempfile::Builder::new().prefix("ringforge-").tempdir()?;
        all.push(temp.path().to_owned());
        Ok(Scratch(temp))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Gone before it leaves the list: the process may end in between.
        let _ = fs::remove_dir_all(self.0.path());
        unfinished().retain(|p| p != self.0.path());
    }
}

/// A directory under construction beside its destination. Dropped without
/// [`commit`](OutputDir::commit), it vanishes.
#[derive(Debug)]
pub struct OutputDir {
    temp: TempDir,
    target: PathBuf,
}

impl OutputDir {
    /// Starts a directory that shall become `target`. An existing directory may be replaced
    /// only if `ours` holds for the name of everything in it.
    ///
    /// # Errors
    /// The place cannot be written, or something is in the way.
    pub fn create(target: &Path, ours: impl Fn(&str) -> bool) -> Result<OutputDir, OutputError> {
        let target = std::path::absolute(target).map_err(io_error("find", target))?;
        match fs::read_dir(&target) {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.map_err(io_error("read", &target))?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    if !ours(&name) || entry.path().is_dir() {
                        return Err(OutputError::Occupied { path: target, entry: name });
                    }
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                return Err(OutputError::NotADirectory { path: target });
            }
            Err(e) => return Err(io_error("read", &target)(e)),
        }
        OutputDir::replacing(&target)
    }

    /// Starts a directory that shall become `target`, whatever is there. The caller has checked it.
    ///
    /// # Errors
    /// The place cannot be written.
    pub fn replacing(target: &Path) -> Result<OutputDir, OutputError> {
        let target = std::path::absolute(target).map_err(io_error("find", target))?;
        // The deepest ancestor that exists is on the same file system as the target, and
        // missing parents are made only at the end.
        let beside = target.ancestors().skip(1).find(|p| p.exists()).unwrap_or(Path::new("/"));
        if !beside.is_dir() {
            return Err(OutputError::NotADirectory { path: beside.to_owned() });
        }
        let mut all = unfinished();
        let temp = tempfile::Builder::new()
            .prefix(".ringforge-")
            .tempdir_in(beside)
            .map_err(io_error("write into", beside))?;
        all.push(temp.path().to_owned());
        drop(all);
        Ok(OutputDir { temp, target })
    }

    /// Where files go for now.
    pub fn path(&self) -> &Path {
        self.temp.path()
    }

    /// Where they will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Writes one file; the directories of `name` are made.
    ///
    /// # Errors
    /// The file system refuses; the path in the error is the one under the target.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), OutputError> {
        let file = self.path().join(name);
        let parent = file.parent().unwrap_or(self.path());
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&file, content))
            .map_err(io_error("write", &self.target.join(name)))
    }

    /// Makes the directory appear at its destination.
    ///
    /// # Errors
    /// A rename fails; the previous state is put back.
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        let target = self.target.clone();
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(io_error("create", parent))?;
        }
        set_plain_mode(self.temp.path()).map_err(io_error("set the mode of", &target))?;
        let old = target.exists().then(|| sibling(self.temp.path(), ".old"));
        if let Some(old) = &old {
            fs::rename(&target, old).map_err(io_error("replace", &target))?;
        }
        if let Err(error) = fs::rename(self.temp.path(), &target) {
            if let Some(old) = &old {
                fs::rename(old, &target).map_err(io_error("restore", &target))?;
            }
            return Err(io_error("write", &target)(error));
        }
        if let Some(old) = &old {
            fs::remove_dir_all(old).map_err(io_error("remove", old))?;
        }
        Ok(target)
    }
}

impl Drop for OutputDir {
    fn drop(&mut self) {
        // As for `Scratch`; after `commit` there is nothing of that name.
        let _ = fs::remove_dir_all(self.temp.path());
        unfinished().retain(|p| p != self.temp.path());
    }
}

/// Temporary directories are private; a package is as readable as any other directory.
fn set_plain_mode(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(path)
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn appears_whole_and_replaces_only_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("deep/er/out");
        let out = OutputDir::create(&target, |_| false).unwrap();
        out.write("a.c", "1").unwrap();
        assert!(!target.exists(), "nothing visible before the end");
        out.commit().unwrap();
        assert_eq!(names(&target), ["a.c"]);
        assert_eq!(names(dir.path()), ["deep"]);

        let again = OutputDir::create(&target, |name| name == "a.c").unwrap();
        again.write("b.c", "2").unwrap();
        again.commit().unwrap();
        assert_eq!(names(&target), ["b.c"]);
        assert_eq!(names(target.parent().unwrap()), ["out"]);

        let refused = OutputDir::create(&target, |name| name == "a.c").unwrap_err();
        assert!(refused.to_string().contains("`b.c`"), "{refused}");
        assert_eq!(names(&target), ["b.c"]);
    }

    #[test]
    fn dropped_or_interrupted_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let out = OutputDir::create(&dir.path().join("x/y"), |_| true).unwrap();
        out.write("a.c", "1").unwrap();
        drop(out);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/file");
        replace_file(&path, "one").unwrap();
        replace_file(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(path.parent().unwrap()), ["file"]);
        fs::create_dir(dir.path().join("taken")).unwrap();
        let error = replace_file(&dir.path().join("taken"), "").unwrap_err().to_string();
        assert!(error.contains("taken"), "{error}");
        assert_eq!(names(dir.path()), ["deep", "taken"]);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        for target in [file.clone(), file.join("below")] {
            let error = OutputDir::create(&target, |_| true).unwrap_err().to_string();
            assert!(error.contains("not a directory") && error.contains("file"), "{error}");
        }
        assert!(OutputDir::create(Path::new("/proc/ringforge/out"), |_| true).is_err());
    }
}
