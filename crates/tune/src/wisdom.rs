//! What was measured once need not be measured again: the plans that `ringforge forge` chose, in a
//! TOML file.
//!
//! An entry is for one ring, operands, target, compiler with its flags, processor, length of search and number of plans.
//! It is *stale* if another version of ringforge wrote it, or if its plan now produces different code ([`Entry::code`]).
//! Stale entries are measured again and replaced. A file of an older format counts as empty and is replaced. Any other
//! file that cannot be read as wisdom is refused with the wrong line, and never overwritten.

use std::io;
use std::path::{Path, PathBuf};

use ringforge_plan::{Operand, Plan};
use ringforge_toolchain::{OutputError, replace_file};
use serde::Deserialize;
use toml::Spanned;

/// The format that this module reads and writes.
const FORMAT: u32 = 2;

const OPENING: &str = "\
# Plans that `ringforge forge` measured and proved on this machine, the fastest for each key. It may be
# edited or deleted; `forge --fresh` measures again.
";

/// What an entry answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The ring as it prints itself.
    pub ring: String,
    /// What the operands are.
    pub operands: [Operand; 2],
    /// The target's name.
    pub target: String,
    /// The first line of the compiler's `--version`.
    pub compiler: String,
    /// Its flags, joined by spaces.
    pub flags: String,
    /// The processor by name and model.
    pub processor: String,
    /// How many candidates were made (`--try`).
    pub tries: u16,
    /// Seconds after which a proof was given up (`--patience`).
    pub patience: u32,
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// To what.
    pub key: Key,
    /// The version of ringforge that measured it.
    pub tool: String,
    /// SHA-256 of the C code that was measured, hexadecimal.
    pub code: String,
    /// Core cycles of one product, the median.
    pub cycles: f64,
    /// The plan's text.
    pub plan: String,
}

/// What is known under a key.
#[derive(Debug)]
pub enum Known {
    /// A plan, checked, and the entry it is from.
    Plan(Box<Plan>, Box<Entry>),
    /// Nothing of use, and why.
    Stale(String),
    /// Nothing.
    Nothing,
}

/// The content of a wisdom file.
#[derive(Clone, Debug, Default)]
pub struct Wisdom {
    entries: Vec<(Entry, usize)>,
}

/// A wisdom file that is none, or cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum WisdomError {
    /// It cannot be read.
    #[error("cannot read the wisdom file {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It makes no sense.
    #[error("{}:{line}: this is no wisdom of ringforge: {message}; mend or delete the file, or set RINGFORGE_WISDOM to another", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
}

/// An entry as it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    ring: String,
    operands: [Operand; 2],
    target: String,
    compiler: String,
    flags: String,
    processor: String,
    #[serde(rename = "try")]
    tries: u16,
    patience: u32,
    tool: String,
    code: String,
    cycles: f64,
    plan: Spanned<String>,
}

/// The one word of a file that all formats have.
#[derive(Deserialize)]
struct RawFormat {
    wisdom: u32,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    wisdom: Spanned<u32>,
    #[serde(default)]
    entry: Vec<Raw>,
}

/// The wisdom file of this user: `$RINGFORGE_WISDOM`; else `ringforge/wisdom.toml` in
/// `$XDG_DATA_HOME` or `~/.local/share`. Nothing where the first is empty, or there is no home.
pub fn path() -> Option<PathBuf> {
    let get = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if std::env::var_os("RINGFORGE_WISDOM").is_some() {
        return get("RINGFORGE_WISDOM").map(PathBuf::from);
    }
    // The XDG specification: relative paths are to be ignored.
    let data = get("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = data.or_else(|| get("HOME").map(|home| Path::new(&home).join(".local/share")))?;
    Some(data.join("ringforge/wisdom.toml"))
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|b| *b == b'\n').count() + 1
}

impl Wisdom {
    /// Reads a file; one that does not exist knows nothing.
    ///
    /// # Errors
    /// It cannot be read, or is no wisdom file.
    pub fn read(path: &Path) -> Result<Wisdom, WisdomError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Wisdom::parse(path, &text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Wisdom::default()),
            Err(error) => Err(WisdomError::Read { path: path.to_owned(), error }),
        }
    }

    /// Reads a text; `path` is for messages.
    ///
    /// # Errors
    /// It is no wisdom file.
    pub fn parse(path: &Path, text: &str) -> Result<Wisdom, WisdomError> {
        let refuse = |at: usize, message: String| {
            let (path, line) = (path.to_owned(), line_at(text, at));
            WisdomError::Text { path, line, message }
        };
        let broken = |e: toml::de::Error| {
            refuse(e.span().map_or(0, |span| span.start), e.message().trim().to_owned())
        };
        if toml::from_str::<RawFormat>(text).is_ok_and(|raw| (1..FORMAT).contains(&raw.wisdom)) {
            return Ok(Wisdom::default());
        }
        let raw: RawFile = toml::from_str(text).map_err(broken)?;
        if *raw.wisdom.get_ref() != FORMAT {
            let message = format!("format {} is not {FORMAT}", raw.wisdom.get_ref());
            return Err(refuse(raw.wisdom.span().start, message));
        }
        let entry = |raw: Raw| {
            let line = line_at(text, raw.plan.span().start);
            let Raw { ring, operands, target, compiler, flags, processor, tries, patience, .. } =
                raw;
            let key = Key { ring, operands, target, compiler, flags, processor, tries, patience };
            let plan = raw.plan.into_inner();
            (Entry { key, tool: raw.tool, code: raw.code, cycles: raw.cycles, plan }, line)
        };
        Ok(Wisdom { entries: raw.entry.into_iter().map(entry).collect() })
    }

    /// What is known under `key` to this version of ringforge; `path` is for messages.
    ///
    /// # Errors
    /// The entry's plan is refused, or for another ring: somebody damaged it.
    pub fn find(&self, path: &Path, key: &Key, tool: &str) -> Result<Known, WisdomError> {
        let Some((entry, line)) = self.entries.iter().find(|(e, _)| e.key == *key) else {
            return Ok(Known::Nothing);
        };
        if entry.tool != tool {
            return Ok(Known::Stale(format!("ringforge {} measured it", entry.tool)));
        }
        let refuse = |message: String| {
            Err(WisdomError::Text { path: path.to_owned(), line: *line, message })
        };
        match Plan::parse(&entry.plan) {
            Ok(plan) if plan.ring.to_string() == key.ring => {
                Ok(Known::Plan(Box::new(plan), Box::new(entry.clone())))
            }
            Ok(plan) => {
                refuse(format!("the plan is for {}, the entry for {}", plan.ring, key.ring))
            }
            Err(e) => refuse(format!("the plan is refused: {}", e.message)),
        }
    }

    /// Takes an answer in the place of an earlier one.
    pub fn learn(&mut self, entry: Entry) {
        self.entries.retain(|(e, _)| e.key != entry.key);
        self.entries.push((entry, 0));
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let quote = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mut out = format!("{OPENING}wisdom = {FORMAT}\n");
        for (Entry { key, tool, code, cycles, plan }, _) in &self.entries {
            let operands = key.operands.map(|o| quote(&o.to_string())).join(", ");
            out += &format!(
                "\n[[entry]]\nring = {}\noperands = [{operands}]\ntarget = {}\ncompiler = {}\nflags = {}\n\
                 processor = {}\ntry = {}\npatience = {}\ntool = {}\ncode = {}\ncycles = {cycles:?}\nplan = {}\n",
                quote(&key.ring),
                quote(&key.target),
                quote(&key.compiler),
                quote(&key.flags),
                quote(&key.processor),
                key.tries,
                key.patience,
                quote(tool),
                quote(code),
                quote(plan),
            );
        }
        out
    }

    /// Writes the file, whole or not at all; directories are made.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn write(&self, path: &Path) -> Result<(), WisdomError> {
        Ok(replace_file(path, self.to_text())?)
    }
}

/// Reads the file, takes an answer and writes it again, so that what others learned meanwhile stays.
///
/// # Errors
/// The file is none, or cannot be read or written.
pub fn remember(path: &Path, entry: Entry) -> Result<(), WisdomError> {
    let mut wisdom = Wisdom::read(path)?;
    wisdom.learn(entry);
    wisdom.write(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "(plan p\n  (ring \"Z17[x]/(x^16 + 1)\")\n  (schoolbook))\n";

    fn key(target: &str) -> Key {
        Key {
            ring: "Z17[x]/(x^16 + 1)".into(),
            operands: [Operand::Big, Operand::Small],
            target: target.into(),
            compiler: "gcc \"12\" \\ é".into(),
            flags: "-O3".into(),
            processor: "some '''processor'''".into(),
            tries: 4,
            patience: 300,
        }
    }

    fn entry(target: &str, cycles: f64) -> Entry {
        let (tool, code) = ("0.1.0".into(), "00ff".into());
        Entry { key: key(target), tool, code, cycles, plan: PLAN.into() }
    }

    #[test]
    fn what_is_learned_is_known_and_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/er/wisdom.toml");
        assert!(Wisdom::read(&file).unwrap().is_empty());
        remember(&file, entry("c", 7.25)).unwrap();
        remember(&file, entry("avx2", 1.0)).unwrap();
        remember(&file, entry("c", 8.0)).unwrap();
        let wisdom = Wisdom::read(&file).unwrap();
        assert_eq!(wisdom.len(), 2, "{}", wisdom.to_text());
        let Known::Plan(plan, found) = wisdom.find(&file, &key("c"), "0.1.0").unwrap() else {
            panic!("not known: {}", wisdom.to_text());
        };
        assert_eq!((*found, plan.name.as_str()), (entry("c", 8.0), "p"));
        assert!(matches!(wisdom.find(&file, &key("sse41"), "0.1.0"), Ok(Known::Nothing)));
        let left = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "nothing but the file");
    }

    #[test]
    fn every_part_of_the_key_counts() {
        let mut wisdom = Wisdom::default();
        wisdom.learn(entry("c", 1.0));
        let base = key("c");
        let others = [
            Key { ring: "Z17[x]/(x^16 - 1)".into(), ..base.clone() },
            Key { operands: [Operand::Big; 2], ..base.clone() },
            Key { target: "avx2".into(), ..base.clone() },
            Key { compiler: "clang".into(), ..base.clone() },
            Key { flags: "-O2".into(), ..base.clone() },
            Key { processor: "another".into(), ..base.clone() },
            Key { tries: 2, ..base.clone() },
            Key { patience: 10, ..base.clone() },
        ];
        for other in others {
            let found = wisdom.find(Path::new("w"), &other, "0.1.0");
            assert!(matches!(found, Ok(Known::Nothing)), "{other:?}");
        }
        assert!(matches!(wisdom.find(Path::new("w"), &base, "0.1.0"), Ok(Known::Plan(..))));
    }

    #[test]
    fn another_version_is_stale_even_if_its_plans_mean_nothing_today() {
        let mut wisdom = Wisdom::default();
        wisdom.learn(Entry { plan: "(plan of tomorrow)".into(), ..entry("c", 1.0) });
        match wisdom.find(Path::new("w"), &key("c"), "0.2.0") {
            Ok(Known::Stale(why)) => assert_eq!(why, "ringforge 0.1.0 measured it"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bad_file_is_refused_with_its_line_and_kept() {
        let text_of = |entry: Entry| {
            let mut wisdom = Wisdom::default();
            wisdom.learn(entry);
            wisdom.to_text()
        };
        let good = text_of(entry("c", 1.0));
        let line_of = |text: &str, word: &str| {
            text.lines().position(|l| l.starts_with(word)).map_or(0, |line| line + 1)
        };
        let broken = [
            (good.replace("cycles = 1.0", "cycles = fast"), "cycles"),
            (good.replace("cycles = 1.0", "speed = 1.0"), "speed"),
            (good.replace("wisdom = 2", "wisdom = 9"), "wisdom = "),
            (good.replace("[\"big\", \"small\"]", "[\"big\", \"tiny\"]"), "operands"),
        ];
        for (text, word) in broken {
            assert_ne!(text, good, "{word}");
            let error = Wisdom::parse(Path::new("w.toml"), &text).unwrap_err().to_string();
            let place = format!("w.toml:{}: ", line_of(&text, word));
            assert!(error.starts_with(&place), "{error}, not at {place} in\n{text}");
        }
        // A plan that is refused, or of another ring, under the same version: its own line.
        for plan in [PLAN.replace("schoolbook", "scoolbook"), PLAN.replace("+ 1", "- 1")] {
            let text = text_of(Entry { plan, ..entry("c", 1.0) });
            let wisdom = Wisdom::parse(Path::new("w.toml"), &text).unwrap();
            let error = wisdom.find(Path::new("w.toml"), &key("c"), "0.1.0").unwrap_err();
            let place = format!("w.toml:{}: ", line_of(&text, "plan = "));
            assert!(error.to_string().starts_with(&place), "{error}");
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("w.toml");
        std::fs::write(&file, good.replace("wisdom = 2", "wisdom = 1")).unwrap();
        assert!(Wisdom::read(&file).unwrap().is_empty(), "an older file knows nothing");
        remember(&file, entry("avx2", 1.0)).unwrap();
        assert_eq!(Wisdom::read(&file).unwrap().len(), 1, "and is replaced");
        std::fs::write(&file, "no wisdom").unwrap();
        assert!(remember(&file, entry("c", 1.0)).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "no wisdom");
    }
}
